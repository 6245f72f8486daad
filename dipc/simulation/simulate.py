"""The second opinion on one program: run it, and compare the counts with its exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dipc.algebra.rationals import exact_rational
from dipc.exits.program import Program
from dipc.lang.core import Value
from dipc.simulation.compare import CONFIDENCE, ComparedTally, judge
from dipc.simulation.expected import expect
from dipc.simulation.runs import LOOP_LIMIT, Progress, run
from dipc.tables.assignment import input_cells, output_cells
from dipc.tables.cells import Cell, CellPool


def simulate(
    program: Program,
    input: Mapping[str, object],  # noqa: A002 - the contract's name
    eps: Fraction | int | str,
    *,
    runs: int = 100_000,
    seed: int = 0,
    outputs: Sequence[Mapping[str, object]] = (),
    gamma: Fraction | int | str = 0,
    confidence: Fraction | str = CONFIDENCE,
    loop_limit: int = LOOP_LIMIT,
    progress: Progress | None = None,
) -> ComparedTally:
    """Run `program` many times at one input and one eps, and compare the counts with its exact probabilities.

    The finite outputs are compared by value, reals left open; or, if `outputs` are given, each of them is one event,
    the real ones within `gamma`. Input, outputs and gamma are as for `Program.probability`. If the exact probabilities
    are right, the comparison is a mismatch with probability at most 1 - confidence. Equal seeds give equal counts.

    Raises DiagnosticError for what does not fit the program or goes wrong in some run, TypeError for floats.
    """
    point, radius = exact_rational(eps, "eps"), exact_rational(gamma, "gamma")
    level = exact_rational(confidence, "confidence")
    if point <= 0:
        raise ValueError(f"eps is positive, not {point}")
    if radius < 0:
        raise ValueError(f"gamma is at least 0, not {radius}")
    if not 0 < level < 1:
        raise ValueError(f"confidence lies between 0 and 1, and {level} does not")
    if runs < 1:
        raise ValueError(f"at least one run is needed, not {runs}")
    core, pool = program.core, CellPool()
    values = _by_name(program.inputs, input_cells(core, input, pool))
    events = [_by_name(program.outputs, output_cells(core, output, pool)) for output in outputs]
    # First, because it finds loops that never end and values out of range on paths that no run may take.
    expected = expect(program, values, events, radius)
    tally = run(
        core,
        values,
        point,
        runs,
        seed=seed,
        events=events,
        gamma=radius,
        loop_limit=loop_limit,
        progress=progress,
    )
    return judge(tally, expected, level)


def _by_name(names: Sequence[str], cells: Sequence[Cell | None]) -> dict[str, Value]:
    """The values that are given, by name."""
    return {
        name: cell.value for name, cell in zip(names, cells, strict=True) if cell is not None and cell.value is not None
    }
