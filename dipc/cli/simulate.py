"""`dipc simulate`: run a program many times, and compare with its exact probabilities."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from dipc.algebra.rationals import NotExact, parse_rational
from dipc.cli.arguments import (
    define_option,
    limit_option,
    output_option,
    parse_definitions,
    positive_option,
    program_argument,
)
from dipc.cli.exits import ExitCode
from dipc.cli.inputs import parse_input, parse_output
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write, write_diagnostics
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.source import Source, Span
from dipc.report.page import Look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dipc.algebra.limits import Limits
    from dipc.lang.core import Value
    from dipc.simulation.compare import ComparedTally
    from dipc.simulation.expected import Expected
    from dipc.simulation.runs import Tally

_EPILOG = """
\b
Examples:
  dipc simulate sparse.dip --input "q=(-1,0,1)" --eps 1/2
  dipc simulate noisy_max.dip --input "q=(1,0,1/2)" --eps 2 -n 1000000 --seed 7
  dipc simulate laplace.dip --input "q=(0,0)" --eps 1 --output "out=(0,0)" --gamma 1

\b
Exit codes: 0 match, 1 mismatch, 2 bad input, 3 some exact probability unknown,
70 internal error.
"""


@click.command(short_help="Run a program many times, and compare.", epilog=_EPILOG)
@program_argument
@click.option("--input", "inputs", metavar="NAME=VALUE,…", multiple=True, help="A value for every input.")
@click.option("--eps", "eps_text", metavar="VALUE", required=True, help="The eps to run it at.")
@click.option(
    "-n",
    "--runs",
    metavar="RUNS",
    type=click.IntRange(min=1),
    default=100_000,
    help="How many runs; 100000 by default.",
)
@click.option(
    "--seed", metavar="S", type=click.IntRange(min=0), default=0, help="Equal seeds give equal counts; 0 by default."
)
@define_option
@click.option(
    "--output",
    "outputs",
    metavar="NAME=VALUE,…",
    multiple=True,
    help="Compare how often these outputs come out, instead of all finite outputs; may be repeated.",
)
@click.option("--gamma", "gamma_text", metavar="VALUE", help="How far real outputs may be off --output; 0 by default.")
@click.option(
    "--confidence",
    "confidence_text",
    metavar="VALUE",
    help="That of all intervals together; 0.999999 by default.",
)
@click.option(
    "--loop-limit",
    type=click.IntRange(min=1),
    metavar="ROUNDS",
    help="Give up when a run goes through a `while` more often; 100000 by default.",
)
@limit_option("How far the exact engine goes, as for `dipc check`; may be repeated.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
def simulate(
    program_path: Path,
    inputs: tuple[str, ...],
    eps_text: str,
    runs: int,
    seed: int,
    definitions: tuple[str, ...],
    outputs: tuple[str, ...],
    gamma_text: str | None,
    confidence_text: str | None,
    loop_limit: int | None,
    limits: tuple[str, ...],
    form: str,
    target: Path | None,
) -> ExitCode:
    """Run a program many times at one input and one eps, and compare how often each output comes out with its exact
    probability.

    The interpreter shares nothing with the exact engine: it is a second opinion. Every exact probability has to lie in
    the Clopper-Pearson interval around its estimate, and what is impossible must not come out at all. If the exact
    probabilities are right, a mismatch has probability 1 - confidence at most.
    """
    check_target(target)
    check_distinct({"-o": target}, program_path)
    constants = parse_definitions(definitions)
    eps = positive_option("--eps", eps_text)
    gamma = _gamma(gamma_text, outputs)

    from dipc.lang.lower import lower
    from dipc.lang.parser import parse
    from dipc.simulation.compare import CONFIDENCE, judge
    from dipc.simulation.fault import LoopLimitReached
    from dipc.simulation.runs import LOOP_LIMIT, SimulationInterrupted, run

    confidence = CONFIDENCE if confidence_text is None else _confidence(confidence_text)
    source = read_source(program_path)
    core = lower(parse(source), source, constants, eps)
    values = parse_input(inputs, core)
    events = [parse_output([text], core) for text in outputs]
    try:
        # First, because it finds loops that never end and values out of range on paths that no run may take.
        with ProgressBar(f"computing the exact probabilities of {core.name}"):
            expected = _expected(source, constants, eps, parse_limits(limits), values, events, gamma)
    except KeyboardInterrupt:
        write(sys.stderr, "\ninterrupted before the first run, over the exact probabilities\n")
        return ExitCode.INTERRUPTED
    try:
        with ProgressBar(f"running {core.name}") as progress:
            tally = run(
                core,
                values,
                eps,
                runs,
                seed=seed,
                events=events,
                gamma=gamma,
                loop_limit=LOOP_LIMIT if loop_limit is None else loop_limit,
                progress=progress,
            )
    except LoopLimitReached as endless:
        write_diagnostics(endless.diagnostics)
        return ExitCode.UNDECIDED
    except SimulationInterrupted as stop:
        return _interrupted(stop.tally, stop.total, confidence)
    found = judge(tally, expected, confidence)
    _write(found, form, target)
    return _exit_code(found)


def _expected(
    source: Source,
    constants: Mapping[str, Fraction],
    eps: Fraction,
    limits: Limits,
    values: Mapping[str, Value],
    events: Sequence[Mapping[str, Value]],
    gamma: Fraction,
) -> Expected:
    """The exact probabilities, or why they are not known."""
    from dipc.exits.load import load_source
    from dipc.simulation.expected import expect, nothing, why_unknown

    try:
        program = load_source(source, constants, eps).with_limits(limits)
    except DiagnosticError as error:
        return nothing(why_unknown(error), events)
    return expect(program, values, events, gamma)


def _exit_code(found: ComparedTally) -> ExitCode:
    from dipc.simulation.compare import Agreement

    match found.agreement:
        case Agreement.MATCH:
            return ExitCode.ACCURATE
        case Agreement.MISMATCH:
            return ExitCode.INACCURATE
        case Agreement.UNDECIDED:
            return ExitCode.UNDECIDED


def _write(found: ComparedTally, form: str, target: Path | None) -> None:
    from dipc.report.simulation import render_json, render_text, verdict_line

    if form == "json":
        text = render_json(found)
    else:
        text = render_text(found, look_of(sys.stdout) if target is None else Look())
    write_text(target, text)
    if target is not None:
        write(sys.stderr, f"{verdict_line(found)} (written to {target})\n")


def _interrupted(tally: Tally, total: int, confidence: Fraction) -> ExitCode:
    """Say how far it got, and what came out until then."""
    from dipc.report.simulation import render_text
    from dipc.simulation.compare import estimates

    reason = f"interrupted after {tally.runs} of {total} runs"
    if tally.runs:
        write(sys.stderr, "\n" + render_text(estimates(tally, reason, confidence), look_of(sys.stderr)))
    else:
        write(sys.stderr, f"\n{reason}\n")
    return ExitCode.INTERRUPTED


# --- options ---------------------------------------------------------------------------------------


def _gamma(text: str | None, outputs: tuple[str, ...]) -> Fraction:
    if text is None:
        return Fraction(0)
    if not outputs:
        note = '`--output "out=0" --gamma 1` asks how often `out` is within 1 of 0'
        raise DiagnosticError(Diagnostic("E0801", "`--gamma` without `--output`", notes=(note,)))
    value = _rational("--gamma", text)
    return value if value >= 0 else _refused("--gamma", text, "is negative")


def _confidence(text: str) -> Fraction:
    value = _rational("--confidence", text)
    return value if 0 < value < 1 else _refused("--confidence", text, "does not lie between 0 and 1")


def _rational(option: str, text: str) -> Fraction:
    try:
        return parse_rational(text.strip())
    except NotExact as error:
        return _refused(option, text, error.reason)


def _refused(option: str, text: str, reason: str) -> NoReturn:
    place = Source(f"<{option}>", text).excerpt(Span(0, len(text)))
    shown = text.strip() if len(text) <= 40 else text[:37] + "..."
    note = "write an exact number such as 0.999, 1/3 or 1e-6"
    raise DiagnosticError(Diagnostic("E0805", f"`{shown}` {reason}", place, notes=(note,)))
