"""Systems of strict linear inequalities over the rationals, decided exactly by z3's simplex.

An inequality Σ a_i·x_i + b > 0 is a pair (a, b); variables are numbered. Only full-dimensional solution sets matter
here: a set that satisfies the closed inequalities but no open ones has measure 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.algebra.limits import LimitReached


@dataclass(frozen=True, slots=True)
class Halfspace:
    """Σ coefficient · x_variable + constant > 0; coefficients nonzero, variables increasing."""

    coefficients: tuple[tuple[int, Fraction], ...]
    constant: Fraction

    def coefficient(self, variable: int) -> Fraction:
        return next((c for v, c in self.coefficients if v == variable), Fraction(0))

    def opposite(self) -> Halfspace:
        """The complement, up to the boundary."""
        return Halfspace(tuple((v, -c) for v, c in self.coefficients), -self.constant)

    def solved_for(self, variable: int) -> tuple[dict[int, Fraction], Fraction]:
        """The bound for `variable` where the inequality is tight: slopes of the other variables, and a constant."""
        here = self.coefficient(variable)
        return {v: -c / here for v, c in self.coefficients if v != variable}, -self.constant / here

    def substituted(self, variable: int, slopes: dict[int, Fraction], constant: Fraction) -> Halfspace:
        """The inequality with variable := Σ slopes·x + constant."""
        here = self.coefficient(variable)
        if not here:
            return self
        total = {v: c for v, c in self.coefficients if v != variable}
        for v, slope in slopes.items():
            total[v] = total.get(v, Fraction(0)) + here * slope
        return Halfspace(tuple(sorted((v, c) for v, c in total.items() if c)), self.constant + here * constant)


class Feasibility:
    """Decides strict linear systems; one solver, asked many times. `asked` counts the questions."""

    def __init__(self, max_questions: int) -> None:
        import z3

        self._z3 = z3
        self._solver = z3.SolverFor("QF_LRA")
        self._reals: dict[int, Any] = {}
        self._expressions: dict[Halfspace, Any] = {}
        self._limit = max_questions
        self.asked = 0

    def has_interior(self, system: Sequence[Halfspace]) -> bool:
        """Whether some point satisfies all the inequalities strictly. Raises LimitReached past the limit."""
        self.asked += 1
        if self.asked > self._limit:
            raise LimitReached("cells", f"the constraints fall into more cells than {self._limit} questions tell apart")
        self._solver.push()
        try:
            self._solver.add(*(self._positive(h) for h in system))
            answer = self._solver.check()
        finally:
            self._solver.pop()
        if answer == self._z3.unknown:
            raise LimitReached(None, "the linear arithmetic solver gave up")
        return bool(answer == self._z3.sat)

    def facets(self, system: Sequence[Halfspace], variable: int) -> tuple[Halfspace, ...]:
        """A system with the same interior in which no inequality on `variable` is implied by the others."""
        kept = list(system)
        at = 0
        while at < len(kept):
            others = kept[:at] + kept[at + 1 :]
            if not kept[at].coefficient(variable) or self.has_interior([*others, kept[at].opposite()]):
                at += 1
            else:
                kept = others
        return tuple(kept)

    def _positive(self, h: Halfspace) -> Any:
        if h not in self._expressions:
            self._expressions[h] = self._expression(h) > 0
        return self._expressions[h]

    def _expression(self, h: Halfspace) -> Any:
        terms = [self._real(v) * self._z3.Q(c.numerator, c.denominator) for v, c in h.coefficients]
        return self._z3.Sum([*terms, self._z3.Q(h.constant.numerator, h.constant.denominator)])

    def _real(self, variable: int) -> Any:
        if variable not in self._reals:
            self._reals[variable] = self._z3.Real(f"x{variable}")
        return self._reals[variable]
