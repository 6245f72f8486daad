"""`dipc privacy`: prove or refute differential privacy."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dipc.cli.arguments import (
    define_option,
    digits_option,
    inputs_option,
    limit_option,
    output_option,
    parse_definitions,
    positive_option,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode, privacy_exit_code
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

if TYPE_CHECKING:
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
@define_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@digits_option("Significant digits of numbers that are not exact; 20 by default.")
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
    definitions: tuple[str, ...],
    form: str,
    target: Path | None,
    digits: int | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
) -> ExitCode:
    """Prove or refute that a program is differentially private, for every eps.

    For all adjacent inputs u, u', in both orders, and every set S of outputs Pr[P(u) in S] is at most
    e^budget*Pr[P(u') in S] + delta: proved, or refuted by a pair, an output and an eps, or left undecided with the
    reason.
    """
    check_target(target)
    pairs_path = Path(adjacent) if adjacent.strip().endswith(".csv") else None
    check_distinct({"-o": target, "--cache": cache}, program_path, pairs_path)
    asked = {"--constant": constant, "--max-loss": max_loss, "--delta-of": delta_of is not None, "--renyi": bool(renyi)}
    mode = _only(asked, {"--budget": budget, "--delta": delta, "--at": at_text, "--eps": eps})
    constants = parse_definitions(definitions)
    at = None if at_text is None else positive_option("--at", at_text)

    from dipc.exits.load import load_source
    from dipc.obligations.open_engine import open_engine
    from dipc.privacy.check import PrivacyQuestion
    from dipc.privacy.claim import read_claim
    from dipc.privacy.loss import DIGITS
    from dipc.report.privacy import PrivacyStatement, privacy_line, render_privacy

    program = load_source(read_source(program_path), constants).with_limits(parse_limits(limits))
    stack = click.get_current_context().with_resource(ExitStack())
    engine = open_engine(stack, program.measurer, program.limits, jobs=jobs, cache=cache, dask=dask)
    question = PrivacyQuestion(program, adjacent, inputs or None, engine)
    said = tuple((name, str(value)) for name, value in program.core.constants.items())
    statement = PrivacyStatement(str(program_path), program.name, said, definitions)
    digits = DIGITS if digits is None else digits
    found: Found
    match mode:
        case "--constant":
            found = question.constant(eps)
        case "--max-loss":
            assert at is not None
            found = question.largest_loss(at, digits)
        case "--renyi":
            assert at is not None
            assert renyi is not None
            found = question.divergence(renyi, at, digits)
        case "--delta-of":
            found = question.least_delta(read_claim(program, delta_of, None, eps, "delta-of"), at, digits)
        case _:
            found = question.decide(read_claim(program, budget, delta, eps))
    look = look_of(sys.stdout) if target is None else Look()
    if form == "json":
        text = json.dumps(found.as_json(), indent=1) + "\n"
    elif quiet:
        text = privacy_line(found) + "\n"
    else:
        text = render_privacy(found, statement, look)
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{privacy_line(found)} (written to {target})\n")
    return _exit_code(found)


def _exit_code(found: Found) -> ExitCode:
    from dipc.privacy.constant import Constant
    from dipc.privacy.outcome import PrivacyReport

    match found:
        case PrivacyReport():
            return privacy_exit_code(found.verdict)
        case Constant() if not found.exact:
            return ExitCode.UNDECIDED
    return ExitCode.ACCURATE


def _only(asked: Mapping[str, bool], given: Mapping[str, str | None]) -> str | None:
    """What is asked for in place of a verdict. Raises DiagnosticError for two questions at once, and for options that
    the question does not take or lacks."""
    modes = [option for option, wanted in asked.items() if wanted]
    if len(modes) > 1:
        note = "ask one question at a time"
        raise DiagnosticError(Diagnostic("E1412", f"both `{modes[0]}` and `{modes[1]}` are asked for", notes=(note,)))
    mode = modes[0] if modes else None
    takes = {
        None: {"--budget", "--delta", "--eps"},
        "--constant": {"--eps"},
        "--max-loss": {"--at"},
        "--renyi": {"--at"},
        "--delta-of": {"--at", "--eps"},
    }[mode]
    for option, value in given.items():
        if value is not None and option not in takes:
            what = "a verdict" if mode is None else f"`{mode}`"
            note = "leave it out" if mode or option != "--at" else "add --max-loss, --renyi 2 or --delta-of K*eps"
            raise DiagnosticError(Diagnostic("E1412", f"`{option}` has no part in {what}", notes=(note,)))
    if mode in ("--max-loss", "--renyi") and given["--at"] is None:
        note = f"write for example {mode}{' 2' if mode == '--renyi' else ''} --at 1/10"
        raise DiagnosticError(
            Diagnostic("E1412", f"`{mode}` is asked for at an eps, and `--at` is missing", notes=(note,))
        )
    return mode
