"""`dipc run`, `simulate`, `conform` and `audit`: outputs of runs, compared with the exact probabilities."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import click

from dipc.algebra.numbers import exact_grid
from dipc.cli.option_table import takes
from dipc.cli.options import (
    Work,
    gamma_of_outputs,
    opened,
    parse_definitions,
    parse_input,
    parse_output,
    positive_option,
    share_option,
)
from dipc.cli.output import check_distinct, check_target, later, write_result
from dipc.cli.terminal import ExitCode, ProgressBar, write, write_diagnostics
from dipc.program.program import source_at
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError, SourceText, Span, bad_input
from dipc.text.parser import parse
from dipc.text.statements import lower

_RUN_EPILOG = """
\b
Examples:
  dipc run sparse.dip --input "q=(-1,0,1)" --eps 1/2
  dipc run laplace.dip --input "q=(0,0)" --eps 1 --grid 2^-20
  dipc run sparse.dip --input "q=(-1,0,1)" --eps 1/2 -n 10000 --samples s.csv
  dipc conform sparse.dip --input "q=(-1,0,1)" --eps 1/2 --samples s.csv

\b
A real output is rounded down to the grid: that is post-processing, which keeps
privacy, and an answer within gamma is then within gamma + grid. Not covered:
how long a run takes and how many random bits it draws depend on the data.

\b
Exit codes: 0 done, 2 bad input, 3 a limit was reached, 70 internal error.
"""


@click.command(epilog=_RUN_EPILOG)
@takes("PROG --input --eps~run -n,--runs --grid --samples --seed -D --limit~run --format=text|json -o")
def run(**given: Any) -> ExitCode:
    """Run a program with exact noise: its outputs have exactly the law that the proofs describe.

    Random bits come from the operating system. Comparisons are decided on the ideal real numbers, whose digits are
    drawn on demand. Choices draw as many bits as they need. No floating-point number is involved.
    """
    (output, asked, work), samples = opened(given), given["samples"]
    if samples is not None:
        check_target(samples, "--samples")
        check_distinct({"-o": output.target, "--samples": samples}, asked.program_path)
    eps = positive_option("--eps", given["eps_text"])
    grid = _grid(given["grid_text"])
    program = work.program(eps=eps)
    later.execution.require_grid(program, grid)
    values = parse_input(given["input_texts"], program.core)
    how = {"grid": grid, "seed": given["seed"]}
    with ProgressBar(f"running {program.name}") as progress:
        executed = later.execution.Execution(program, values, eps, **how).runs(given["runs"], progress)
    if samples is not None:
        write_result(samples, executed.write_samples)
    return output.deliver(later.executions.runs(executed, samples))


_SIMULATE_EPILOG = """
\b
Examples:
  dipc simulate sparse.dip --input "q=(-1,0,1)" --eps 1/2
  dipc simulate noisy_max.dip --input "q=(1,0,1/2)" --eps 2 -n 1000000 --seed 7
  dipc simulate laplace.dip --input "q=(0,0)" --eps 1 --output "out=(0,0)" --gamma 1

\b
Exit codes: 0 match, 1 mismatch, 2 bad input, 3 some exact probability unknown,
70 internal error.
"""


@click.command(short_help="Run a program many times, and compare.", epilog=_SIMULATE_EPILOG)
@takes(
    "PROG --input --eps~run -n,--runs~many --seed~counts --output~share --gamma~output --confidence~all "
    "--loop-limit -D --limit~run --format=text|json -o --quiet,-q"
)
def simulate(**given: Any) -> ExitCode:
    """Run a program many times at one input and eps, and compare the outputs with their exact probabilities.

    The runs follow the checker's reading of the program, which shares no code with the exact engine: they are a second
    opinion. Every exact probability has to lie in the Clopper-Pearson interval around its estimate, and an impossible
    output must not occur. If the exact probabilities are right, a mismatch has probability at most 1 - confidence.
    """
    output, asked, work = opened(given)
    constants = parse_definitions(asked.definitions)
    eps = positive_option("--eps", given["eps_text"])
    gamma = gamma_of_outputs(given["gamma_text"], given["outputs"])
    compare, runs = later.compare, later.runs
    confidence = share_option("--confidence", given["confidence_text"])
    source = source_at(asked.program_path)
    core = lower(parse(source), source, constants, eps)
    values = parse_input(given["input_texts"], core)
    events = [parse_output([text], core) for text in given["outputs"]]
    try:
        # This comes first: it finds endless loops and values out of range, even on paths that no run takes.
        with ProgressBar(f"computing the exact probabilities of {core.name}", silent=output.quiet):
            expected = _expected(work, constants, eps, values, events, gamma)
    except KeyboardInterrupt:
        write(sys.stderr, "\ninterrupted before the first run, over the exact probabilities\n")
        return ExitCode.INTERRUPTED
    limit = given["loop_limit"]
    counted = {"seed": given["seed"], "events": events, "gamma": gamma}
    counted["loop_limit"] = runs.LOOP_LIMIT if limit is None else limit
    try:
        with ProgressBar(f"running {core.name}", silent=output.quiet) as progress:
            tally = runs.run(core, values, eps, given["runs"], **counted, progress=progress)
    except runs.GivenUp as why:
        write_diagnostics(why.diagnostics)
        return ExitCode.UNDECIDED
    except runs.SimulationInterrupted as stop:
        return output.deliver(later.experiments.interrupted(stop.tally, stop.total, confidence))
    return output.deliver(later.experiments.simulation(compare.judge(tally, expected, confidence)))


def _expected(
    work: Work,
    constants: Mapping[str, Fraction],
    eps: Fraction,
    values: Mapping[str, Value],
    events: Sequence[Mapping[str, Value]],
    gamma: Fraction,
) -> Any:
    compare = later.compare
    try:
        program = work.program(constants, eps)
    except DiagnosticError as error:
        return compare.nothing(compare.why_unknown(error), events)
    return compare.expect(program, values, events, gamma)


_CONFORM_EPILOG = """
\b
Examples:
  dipc conform response.dip --input x=1 --eps 1 --counts counts.csv
  dipc conform laplace.dip --input "q=0" --eps 1/2 --samples samples.csv

\b
counts.csv has a column for each output and one, count, for how often it was
observed; samples.csv has a line for each output, in the order in which they
came out. Real outputs need samples: the first tenth chooses the cells in
which the others are counted.

\b
Exit codes: 0 they conform, 1 they do not, 2 bad input, 3 some exact
probability unknown, 70 internal error.
"""


@click.command(epilog=_CONFORM_EPILOG)
@takes(
    "PROG --input --eps~run --counts --samples~observed --grid~observed -D --limit~run --format=text|json -o --quiet,-q"
)
def conform(**given: Any) -> ExitCode:
    """Compare observed outputs of a real implementation with the exact distribution of a program.

    Every exact probability has to lie in the Clopper-Pearson interval around the observed share, and an impossible
    output must not occur. If the implementation has this distribution, a deviation is reported with probability at most
    1e-6.
    """
    counts, samples = given["counts"], given["samples"]
    output, asked, work = opened(given, counts, samples)
    if (counts is None) == (samples is None):
        note = "counts.csv says how often each output came out; samples.csv has them one by one"
        raise bad_input("E0801", "give either `--counts` or `--samples`", note)
    constants = parse_definitions(asked.definitions)
    eps, grid = positive_option("--eps", given["eps_text"]), _grid(given["grid_text"])
    program = work.program(constants, eps)
    values = parse_input(given["input_texts"], program.core)
    observed = later.conform.read_observed(samples if counts is None else counts, program.core, counted=samples is None)
    with ProgressBar(f"computing the exact probabilities of {program.name}", silent=output.quiet):
        comparison = later.conform.judge(program, values, eps, observed, later.compare.CONFIDENCE, grid)
    return output.deliver(later.experiments.conformance(comparison))


_AUDIT_EPILOG = """
\b
Examples:
  dipc audit svt.dip --samples-at "q=(0,0)" a.csv --samples-at "q=(1,1)" b.csv
    --eps 1/2

\b
Each CSV file has a line for each output, in independent runs at that input.

\b
Exit codes: 0 the bound is within the loss of the program, 1 the
implementation loses more, with the given confidence, 2 bad input, 3 some
exact probability unknown, 70 internal error.
"""


@click.command(epilog=_AUDIT_EPILOG)
@takes("PROG --samples-at --eps~run --confidence~audit -D --limit~run --format=text|json -o --quiet,-q")
def audit(**given: Any) -> ExitCode:
    """Bound the privacy loss of a real implementation from below, using its observed outputs at two inputs.

    The exact law of the program shows which set of outputs has the greatest loss, so dipc need not search for one. The
    bound is a quotient of two Clopper-Pearson bounds for this set. dipc shows it next to the exact loss of the program.
    """
    samples = given["samples"]
    output, _, work = opened(given, *[path for _, path in samples])
    if len(samples) != 2:
        note = 'for example --samples-at "q=0" a.csv --samples-at "q=1" b.csv'
        raise bad_input("E0801", "an audit compares outputs at two inputs", note)
    eps = positive_option("--eps", given["eps_text"])
    confidence = share_option("--confidence", given["confidence_text"])
    program = work.program(eps=eps)
    values = [parse_input((text,), program.core) for text, _ in samples]
    observed = [later.conform.read_observed(path, program.core, counted=False) for _, path in samples]
    audited = later.audit.judge_loss(program, tuple(values), eps, tuple(observed), confidence)
    return output.deliver(later.experiments.audit(audited))


# --- options ---------------------------------------------------------------------------------------


def _grid(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        return exact_grid(text)
    except ValueError as error:
        place = SourceText("<--grid>", text).excerpt(Span(0, len(text)))
        note = "write an exact number such as 2^-20, 1/1024 or 0.001"
        raise bad_input("E0805", str(error), note, place=place) from None
