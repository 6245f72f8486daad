"""Intervals round a release: how far the exact answer may be from an output, with a confidence, for every eps asked
about.

An interval is the exact tolerance in other words: the exact answer is within g of what is released with probability
at least c if the program is accurate with gamma = g and beta = 1 - c. One that is bounded on one side alone is the
tolerance of outputs that count as wrong only above the answer (then it is at least the release less g), or only below.
All real and int outputs lie in their intervals at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Unpack

from dipc.chain.state import is_symbolic
from dipc.claims.claim import claim_expression
from dipc.claims.table import TableGiven
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.inverse.question import asked
from dipc.inverse.solution import GammaSolution, Status, Wanted
from dipc.inverse.solve import solved
from dipc.options import GivenInterval, Options, takes
from dipc.program.nearness import PRODUCTS_OF_SIDES, Nearness
from dipc.program.program import Program, ProgramGiven, one_sided, within
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: Significant digits of an interval unless more are asked for.
DIGITS = 10


class Side(StrEnum):
    """Which ends an interval has."""

    BOTH = "both"
    LOWER = "lower"
    UPPER = "upper"


#: Where an output may be wrong, for an interval with that end.
_WRONG = {Side.LOWER: "above", Side.UPPER: "below"}


@frozen
class Intervals:
    """By the ends that it has, how far an interval reaches from the outputs that are released: the least gamma of the
    solution. With probability at least `confidence` the exact answer is in it, and the finite outputs are right."""

    program: str
    confidence: Fraction
    outputs: tuple[str, ...]
    solutions: Mapping[Side, GammaSolution]

    @property
    def status(self) -> Status:
        """`undecided` where some interval is, `none` where there is none for some."""
        found = {solution.status for solution in self.solutions.values()}
        return next(status for status in (Status.UNDECIDED, Status.NONE, Status.SOLVED) if status in found)

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        first = next(iter(self.solutions.values()))
        return {
            "schema": "dipc.interval/1",
            "program": self.program,
            "confidence": str(self.confidence),
            "outputs": list(self.outputs),
            "eps": first.eps,
            "intervals": {
                str(side): {"status": str(solution.status), **solution.details(), "remark": solution.remark or None}
                for side, solution in self.solutions.items()
            },
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@takes(GivenInterval, {"digits": DIGITS})
def interval(program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenInterval]) -> Intervals:
    """How far from a release the exact answer is with probability at least `confidence`, such as "95%", for every eps
    and every input asked about: at most so far on either side, and, each by itself, below and above. `side` is one of
    "both", "lower" and "upper", for that one alone.

    The other parameters are those of `dipc.solve`. Raises DiagnosticError for programs without real or int outputs, and
    for bad claims; ValueError for a confidence that is not between 0 and 1.
    """
    options = Options(**given)
    return intervals(within(program, options.limits, options.eps), table, options)


def intervals(program: Program, table: TableGiven | None, options: Options, engine: Engine | None = None) -> Intervals:
    """`interval` of options in one object; the `engine` decides."""
    core = program.core
    outputs = tuple([core.slots[slot].name for slot in core.outputs if is_symbolic(core.slots[slot].type)])
    output = None if core.metric is None else core.metric.output
    if not outputs or not Nearness(core).plain or output in PRODUCTS_OF_SIDES:
        what = f"`{core.name}` releases no number" if not outputs else "its `metric` block has its own distance"
        notes = ("an interval is about real and int outputs, by their distance from the exact answer",)
        raise DiagnosticError(Diagnostic("E1030", f"{what}, so that there is no interval round one", notes=notes))
    sides = tuple(Side) if options.side is None else (Side(options.side),)
    confidence = options.confidence_value
    stated = claim_expression(core, "alpha", options.alpha)
    alpha = options.alpha if stated is not None else 0
    claimed = replace(options, alpha=alpha, beta=1 - confidence)
    found: dict[Side, GammaSolution] = {}
    for side in sides:
        about = program if side is Side.BOTH else one_sided(program, _WRONG[side])
        solution = solved(
            asked(about, table, claimed, engine), Wanted.GAMMA, options.digits or DIGITS, options.progress
        )
        assert isinstance(solution, GammaSolution)
        found[side] = solution
        if solution.interrupted:
            break
    return Intervals(program.name, confidence, outputs, found)
