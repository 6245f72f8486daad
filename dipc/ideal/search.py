"""The least distance to a set of inputs that is no convex set: constraints joined by `and` and `or`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.constraints import Constraint
from dipc.ideal.nearest import InputSet, Point
from dipc.ideal.norm import Norm
from dipc.metric.formula import Every, Formula, Some


class Search:
    """Branch and bound: one alternative of an `or` after the other, as long as it may be nearer than what was found.

    More constraints only make a set smaller and its distance larger. So a part is given up where already some of its
    constraints put it too far away, or contradict each other.
    """

    def __init__(self, norm: Norm, point: Point, whole_inputs: frozenset[int], limits: Limits) -> None:
        self._norm = norm
        self._point = point
        self._whole_inputs = whole_inputs
        self._parts = 0
        self._limits = limits

    def nearest(
        self, guards: Sequence[Constraint], formula: Formula, away: Fraction, below: Fraction | None
    ) -> Fraction | None:
        """inf { d(point, u') : u' satisfies `guards` and `formula` }, where the other inputs are `away`.

        None means that it is at least `below`, or that there is no such input. Raises Undecided past a limit.
        """
        if formula is False:
            return None
        self._parts += 1
        if self._parts > self._limits.parts:
            raise LimitReached("parts", f"more than {self._limits.parts} convex sets of inputs have another answer")
        parts = formula.parts if isinstance(formula, Every) else () if formula is True else (formula,)
        known = [*guards, *(part for part in parts if isinstance(part, Constraint))]
        least = InputSet(known, self._whole_inputs, self._limits.branches).distance(
            self._norm, self._point, away, below
        )
        choices = [part for part in parts if isinstance(part, Some | Every)]
        if least is None or not choices:
            return least
        first, *rest = choices
        alternatives = first.parts if isinstance(first, Some) else (first,)
        found: Fraction | None = None
        for alternative in sorted(alternatives, key=self._rank):
            both = Every((*(alternative.parts if isinstance(alternative, Every) else (alternative,)), *rest))
            nearer = self.nearest(known, both, away, below)
            if nearer is not None:
                found = below = nearer
                if found == least:
                    break
        return found

    def _rank(self, alternative: Formula) -> Fraction:
        """How far the point is from an alternative, roughly: what it satisfies already comes first."""
        match alternative:
            case Constraint():
                return max(-alternative.form.at(self._point), Fraction(0))
            case Every(parts):
                return max(map(self._rank, parts))
            case Some(parts):
                return min(map(self._rank, parts))
            case _:
                return Fraction(0)
