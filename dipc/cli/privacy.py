"""`dipc privacy`: prove or refute differential privacy."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dipc.cli.arguments import (
    certificate_option,
    define_option,
    digits_option,
    for_all_option,
    html_option,
    inputs_option,
    limit_option,
    output_option,
    positive_option,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode, privacy_exit_code
from dipc.cli.families import member_text, members, parse_family
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_certificate, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.question import for_all_of
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.estimate.loss import LossEstimate
    from dipc.exits.program import Program
    from dipc.privacy.check import PrivacyQuestion
    from dipc.privacy.every_number import EveryNumber
    from dipc.privacy.loss import Loss
    from dipc.privacy.outcome import PrivacyReport
    from dipc.report.privacy import Found

_EPILOG = """
\b
Examples:
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1"
  dipc privacy svt.dip --adjacent linf:1 --inputs "q=-1..1" --budget eps/2 --delta 1/9
  dipc privacy response.dip --adjacent hamming:1
  dipc privacy svt.dip --adjacent PAIRS.csv --format json
  dipc privacy svt.dip --adjacent linf:1 --inputs all --constant
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --max-loss --at 1/10
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --max-loss --at 1/10
    --estimate -n 100000
  dipc privacy svt.dip --adjacent linf:1 --inputs all --constant -D m=2..5
  dipc privacy svt.dip --adjacent linf:1 --inputs all --for-all m --constant
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --delta-of eps/2

\b
Exit codes: 0 private, 1 not private, 2 bad input, 3 undecided, 70 internal
error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.option(
    "--adjacent",
    "adjacent",
    metavar="DISTANCE|PAIRS.csv",
    required=True,
    help="linf:1 (every input moves by at most 1), l1:1 (the sum of the moves is), hamming:1 (one input differs), or a "
    "CSV file of pairs with a column for each input and one for each input primed.",
)
@inputs_option
@click.option("--budget", metavar="K*eps", help="The privacy budget; eps by default.")
@click.option("--delta", metavar="EXPR", help="The delta, a number or an expression in eps; 0 by default.")
@click.option("--eps", "eps", metavar="INTERVALS", help='Which eps are meant, such as "(0, 1/2]"; all by default.')
@click.option("--constant", is_flag=True, help="Find the least K such that the program is K*eps-private.")
@click.option("--max-loss", is_flag=True, help="Find the largest log(p/p') --at an eps.")
@click.option("--delta-of", metavar="K*eps", help="Find the least delta for this budget, for every eps.")
@click.option("--renyi", metavar="A", type=click.IntRange(2, 64), help="Find the largest Renyi divergence --at an eps.")
@click.option("--at", "at_text", metavar="EPS", help="The eps of --max-loss and --renyi, or one more for --delta-of.")
@click.option("--estimate", is_flag=True, help="With --max-loss: estimate the loss at that pair from runs, too.")
@click.option("-n", "runs", metavar="N", type=click.IntRange(1), help="Runs of --estimate; 100000 by default.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="The seed of these runs; 0 by default.")
@for_all_option
@define_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@certificate_option
@digits_option("Significant digits of numbers that are not exact; 20 by default.")
@html_option
@click.option(
    "--plot", metavar="FILE.svg|png", type=Path, help="Draw what is allowed and what is probable (needs matplotlib)."
)
@limit_option()
@scale_options
@quiet_option
def privacy(
    program_path: Path,
    adjacent: str,
    inputs: tuple[str, ...],
    budget: str | None,
    delta: str | None,
    eps: str | None,
    constant: bool,
    max_loss: bool,
    delta_of: str | None,
    renyi: int | None,
    at_text: str | None,
    estimate: bool,
    runs: int | None,
    seed: int | None,
    for_all: str | None,
    definitions: tuple[str, ...],
    form: str,
    target: Path | None,
    proof: Path | None,
    digits: int | None,
    html: Path | None,
    plot: Path | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
) -> ExitCode:
    """Prove or refute that a program is differentially private, for every eps.

    For all adjacent inputs u, u', in both orders, and every set S of outputs Pr[P(u) in S] is at most
    e^budget*Pr[P(u') in S] + delta: proved, or refuted by a pair, an output and an eps, or left undecided with the
    reason. With ranges in -D, as m=2..5, --max-loss and --constant answer for each program of the family.
    """
    check_target(target)
    pairs_path = Path(adjacent) if adjacent.strip().endswith(".csv") else None
    check_target(html, "--html")
    check_target(proof, "--certificate")
    written = {"-o": target, "--certificate": proof, "--html": html, "--plot": plot, "--cache": cache}
    check_distinct(written, program_path, pairs_path)
    if plot is not None:
        from dipc.report.picture import check_picture

        check_target(plot, "--plot")
        check_picture(plot)
    asked = {"--constant": constant, "--max-loss": max_loss, "--delta-of": delta_of is not None, "--renyi": bool(renyi)}
    given = {
        "--budget": budget,
        "--delta": delta,
        "--at": at_text,
        "--eps": eps,
        "--plot": plot,
        "--certificate": proof,
    }
    mode = _only(asked, given)
    if estimate and mode != "--max-loss":
        raise _no_part("--estimate", mode, "add --max-loss --at 1/10")
    for option, number in (("-n", runs), ("--seed", seed)):
        if number is not None and not estimate:
            raise _no_part(option, mode, "add --max-loss --at 1/10 --estimate")
    definitions, for_all = for_all_of(definitions, for_all)
    _check_for_all(for_all, mode, inputs, {"--html": html, "--plot": plot, "--delta": delta})
    family = parse_family(definitions)
    ranged = any(len(values) > 1 for values in family.values())
    for option, path in (("--html", html), ("--certificate", proof)):
        if ranged and path is not None:
            raise _no_part(option, mode, "give one value for each constant")
    if ranged and mode not in ("--max-loss", "--constant"):
        raise _no_part("-D with a range", mode, "give one value, or ask for --max-loss or --constant")
    at = None if at_text is None else positive_option("--at", at_text)

    from dipc.exits.load import load_source
    from dipc.obligations.open_engine import open_engine
    from dipc.privacy.check import PrivacyQuestion
    from dipc.privacy.claim import read_claim
    from dipc.privacy.every_number import EveryNumber
    from dipc.privacy.loss import DIGITS
    from dipc.privacy.outcome import SCHEMA, PrivacyReport
    from dipc.report.privacy import PrivacyStatement, privacy_line, render_family, render_privacy
    from dipc.sources.question import open_constant

    stack = click.get_current_context().with_resource(ExitStack())
    progress = ProgressBar(f"reading {program_path}", silent=quiet)
    source, digits = read_source(program_path), DIGITS if digits is None else digits

    def ask(
        constants: Mapping[str, Fraction],
    ) -> tuple[PrivacyQuestion | EveryNumber, Found, LossEstimate | None]:
        program = load_source(source, constants, at if eps is None else eps).with_limits(parse_limits(limits))
        kept = proof is not None or html is not None
        engine = open_engine(
            stack, program.measurer, program.limits, jobs=jobs, cache=cache, dask=dask, keep_proofs=kept
        )
        progress.stage(f"looking at the pairs of {program.name}")
        if for_all is not None:
            every = EveryNumber(program, *open_constant(for_all), adjacent, engine, progress)
            if mode == "--constant":
                return every, every.constant(eps), None
            return every, every.decide(read_claim(program, budget, None, eps)), None
        question = PrivacyQuestion(program, adjacent, inputs or None, engine, progress)
        match mode:
            case "--constant":
                return question, question.constant(eps), None
            case "--max-loss":
                assert at is not None
                loss = question.largest_loss(at, digits)
                return question, loss, _estimated(program, loss, runs, seed) if estimate else None
            case "--renyi":
                assert at is not None
                assert renyi is not None
                return question, question.divergence(renyi, at, digits), None
            case "--delta-of":
                claim = read_claim(program, delta_of, None, eps, "delta-of")
                return question, question.least_delta(claim, at, digits), None
        return question, question.decide(read_claim(program, budget, delta, eps)), None

    look = look_of(sys.stdout) if target is None else Look()
    if ranged:
        with progress:
            answers = [(constants, *ask(constants)) for constants in members(family)]
        if form == "json":
            listed = [
                {"constants": {name: str(value) for name, value in constants.items()}, **_json(found, estimated)}
                for constants, _, found, estimated in answers
            ]
            text = json.dumps({"schema": SCHEMA, "members": listed}, indent=1) + "\n"
        else:
            text = render_family((member_text(named), found, known) for named, _, found, known in answers)
        write_text(target, text)
        return max((_exit_code(found) for _, _, found, _ in answers), key=int)
    with progress:
        question, found, estimated = ask(next(members(family)))
    program = question.program
    numbers = question.numbers if isinstance(question, EveryNumber) else None
    said = tuple(
        (name, str(value))
        for name, value in program.core.constants.items()
        if numbers is None or name != numbers.parameter
    )
    statement = PrivacyStatement(str(program_path), program.name, said, definitions, numbers)
    if html is not None:
        assert isinstance(question, PrivacyQuestion)
        chosen = {
            "budget": budget,
            "delta": delta,
            "eps": eps,
            "delta-of": delta_of,
            "at": at_text,
            "renyi": renyi,
            "seed": seed,
        }
        options = [("--inputs", text) for text in inputs] + [("-D", text) for text in definitions]
        options += [(f"--{name}", str(value)) for name, value in chosen.items() if value is not None]
        options += [] if runs is None else [("-n", str(runs))]
        flags: list[str] = [option for option in ("--constant", "--max-loss") if option == mode]
        flags += ["--estimate"] if estimate else []
        words = ["dipc", "privacy", str(program_path), "--adjacent", adjacent, *flags]
        command = (*words, *(word for option in options for word in option))
        _write_page(html, question, found, render_privacy(found, statement, Look(), estimated), command, quiet=quiet)
    if plot is not None:
        assert isinstance(found, PrivacyReport)
        assert isinstance(question, PrivacyQuestion)
        _write_plot(plot, question, found, quiet=quiet)
    if proof is not None:
        _write_certificate(proof, question, found, quiet=quiet)
    if form == "json":
        text = json.dumps(_json(found, estimated), indent=1) + "\n"
    elif quiet:
        text = privacy_line(found) + "\n"
    else:
        text = render_privacy(found, statement, look, estimated)
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{privacy_line(found)} (written to {target})\n")
    return _exit_code(found)


def _json(found: Found, estimated: LossEstimate | None) -> dict[str, Any]:
    return found.as_json() if estimated is None else {**found.as_json(), "estimate": estimated.as_json()}


def _estimated(program: Program, loss: Loss, runs: int | None, seed: int | None) -> LossEstimate:
    from dipc.estimate.loss import RUNS, estimate_loss

    if None in loss.output.values():
        note = "give the output an initial value"
        message = "an output that was never assigned is not counted in runs"
        raise DiagnosticError(Diagnostic("E1412", message, notes=(note,)))
    places = loss.input, loss.adjacent, loss.output
    return estimate_loss(program, *places, loss.eps, RUNS if runs is None else runs, seed=seed or 0)


def _write_page(
    path: Path,
    question: PrivacyQuestion,
    found: Found,
    text: str,
    command: Sequence[str],
    *,
    quiet: bool,
) -> None:
    import dipc
    from dipc.certificate.privacy import certify_privacy
    from dipc.certificate.uncertified import Uncertified
    from dipc.privacy.outcome import PrivacyReport
    from dipc.report.html.privacy_page import privacy_page

    tool, certificate = f"dipc {dipc.__version__}", None
    if isinstance(found, PrivacyReport):
        with suppress(Uncertified):
            certificate = certify_privacy(question, found, tool)
    write_text(path, privacy_page(question, found, text, command, tool, certificate))
    if not quiet:
        write(sys.stderr, f"page written to {path}\n")


def _write_plot(path: Path, question: PrivacyQuestion, found: PrivacyReport, *, quiet: bool) -> None:
    from dipc.report.curves import curves_of_privacy
    from dipc.report.curves_plot import MOST, draw

    draw(path, curves_of_privacy(question, found, MOST), f"{found.program}: {found.verdict}")
    if not quiet:
        write(sys.stderr, f"drawn to {path}\n")


def _write_certificate(path: Path, question: PrivacyQuestion | EveryNumber, found: Found, *, quiet: bool) -> None:
    import dipc
    from dipc.certificate.least import certify_constant
    from dipc.certificate.privacy import certify_privacy
    from dipc.privacy.constant import Constant
    from dipc.privacy.loss import Loss
    from dipc.privacy.outcome import PrivacyReport
    from dipc.report.privacy import privacy_line

    def text(tool: str) -> str:
        match found:
            case PrivacyReport():
                return certify_privacy(question, found, tool)
            case Constant() | Loss():
                return certify_constant(question, found, tool)
        raise AssertionError("other modes take no --certificate")

    write_certificate(path, lambda: text(f"dipc {dipc.__version__}"), privacy_line(found), quiet=quiet)


def _exit_code(found: Found) -> ExitCode:
    from dipc.privacy.constant import Constant
    from dipc.privacy.outcome import PrivacyReport

    match found:
        case PrivacyReport():
            return privacy_exit_code(found.verdict)
        case Constant() if not found.exact:
            return ExitCode.UNDECIDED
    return ExitCode.ACCURATE


def _only(asked: Mapping[str, bool], given: Mapping[str, str | Path | None]) -> str | None:
    """What is asked for in place of a verdict. Raises DiagnosticError for two questions at once, and for options that
    the question does not take or lacks."""
    modes = [option for option, wanted in asked.items() if wanted]
    if len(modes) > 1:
        note = "ask one question at a time"
        raise DiagnosticError(Diagnostic("E1412", f"both `{modes[0]}` and `{modes[1]}` are asked for", notes=(note,)))
    mode = modes[0] if modes else None
    takes = {
        None: {"--budget", "--delta", "--eps", "--plot", "--certificate"},
        "--constant": {"--eps", "--certificate"},
        "--max-loss": {"--at", "--certificate"},
        "--renyi": {"--at"},
        "--delta-of": {"--at", "--eps"},
    }[mode]
    for option, value in given.items():
        if value is not None and option not in takes:
            note = "leave it out" if mode or option != "--at" else "add --max-loss, --renyi 2 or --delta-of K*eps"
            raise _no_part(option, mode, note)
    if mode in ("--max-loss", "--renyi") and given["--at"] is None:
        note = f"write for example {mode}{' 2' if mode == '--renyi' else ''} --at 1/10"
        raise DiagnosticError(
            Diagnostic("E1412", f"`{mode}` is asked for at an eps, and `--at` is missing", notes=(note,))
        )
    return mode


def _check_for_all(
    for_all: str | None, mode: str | None, inputs: tuple[str, ...], others: Mapping[str, str | Path | None]
) -> None:
    """That what is asked for every value of a constant can be. Raises DiagnosticError."""
    if for_all is None:
        return
    if [text.strip() for text in inputs] != ["all"]:
        notes = ("add --inputs all, or give the constant a number",)
        raise DiagnosticError(Diagnostic("E1209", f"`{for_all}` is left open, but not the inputs", notes=notes))
    if mode not in (None, "--constant"):
        raise _no_part("--for-all", mode, "ask for a verdict, or for the --constant")
    for option, value in others.items():
        if value is not None:
            message = f"`{option}` is about a program, not about every value of a constant"
            raise DiagnosticError(Diagnostic("E1412", message, notes=("leave it out, or give the constant a number",)))


def _no_part(option: str, mode: str | None, note: str) -> DiagnosticError:
    what = "a verdict" if mode is None else f"`{mode}`"
    return DiagnosticError(Diagnostic("E1412", f"`{option}` has no part in {what}", notes=(note,)))
