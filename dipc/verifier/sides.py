"""Half-spaces of inputs, whose edges count: what is known on a way through a deterministic program.

A half-space f > 0 is written as f >= δ for a δ that is less than every positive number. So sums of half-spaces say
whether they are open, and what `Constraints` sees of noises it sees of inputs. A form f of ints with coprime integer
coefficients is an integer: f + c > 0 is f + ceil(c) - 1 >= 0, and f + c >= 0 is f + floor(c) >= 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import ceil, floor, gcd, lcm

from dipc.verifier.constraints import Constraints, Form, NoiseHalfspace
from dipc.verifier.linear import Guard


@total_ordering
@dataclass(frozen=True, slots=True)
class Near:
    """value + small·δ, for a δ > 0 that is less than every positive number."""

    value: Fraction
    small: int

    def __add__(self, other: object) -> Near:
        if isinstance(other, Near):
            return Near(self.value + other.value, self.small + other.small)
        if isinstance(other, int | Fraction):
            return Near(self.value + other, self.small)
        return NotImplemented

    __radd__ = __add__

    def __lt__(self, other: object) -> bool:
        if isinstance(other, Near):
            return (self.value, self.small) < (other.value, other.small)
        if isinstance(other, int | Fraction):
            return (self.value, self.small) < (other, 0)
        return NotImplemented


@dataclass(frozen=True, slots=True)
class Side(NoiseHalfspace):
    """Σ form + constant >= 0 for inputs; the constant is infinitely near to a number, below it where the edge is
    left out."""

    constant: Near  # type: ignore[assignment]  # it is added and compared as a number is

    def opposite(self) -> Side:
        """What holds exactly where this does not."""
        negated: Form = tuple((i, -a) for i, a in self.form)
        if self.whole:
            return Side(negated, Near(-self.constant.value - 1, 0), True)
        return Side(negated, Near(-self.constant.value, -1 - self.constant.small), False)

    @staticmethod
    def of_guard(guard: Guard, *, whole: bool = False) -> Side:
        """The guard, which has a form, with coprime integers; of whole inputs with a whole constant."""
        unit = lcm(*(c.denominator for _, c in guard.form))
        common = gcd(*(c.numerator * (unit // c.denominator) for _, c in guard.form))
        scale = Fraction(unit, common)
        form = tuple(sorted((i, int(c * scale)) for i, c in guard.form))
        constant = guard.constant * scale
        if whole:
            return Side(form, Near(Fraction(ceil(constant) - 1 if guard.strict else floor(constant)), 0), True)
        return Side(form, Near(constant, -1 if guard.strict else 0), False)

    def guard(self) -> Guard:
        """The same as a guard."""
        form = tuple((i, Fraction(c)) for i, c in self.form)
        return Guard(form, self.constant.value, strict=self.constant.small < 0)


def region(guards: Iterable[Guard]) -> Constraints:
    """What guards say together."""
    found = Constraints({})
    for guard in guards:
        found = found & Side.of_guard(guard)
    return found


def tightened(guard: Guard, whole: Set[int]) -> Guard:
    """A guard that holds at the same inputs, those of `whole` being integers: with a whole constant and its edge if it
    is about these alone, else as it is."""
    if not guard.form or not all(i in whole for i, _ in guard.form):
        return guard
    return Side.of_guard(guard, whole=True).guard()
