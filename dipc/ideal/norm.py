"""The distances between inputs that a program may ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from fractions import Fraction

from dipc.chain.affine import Terms

_ZERO, _ONE = Fraction(0), Fraction(1)


class Norm(Enum):
    """d(u, u') from how far the coordinates are apart.

    Two numbers are |x - x'| apart; two truth values or two names of a domain 1, if they differ.
    """

    LINF = "linf"
    """The largest coordinate."""
    L1 = "l1"
    """The sum of the coordinates."""
    DISCRETE = "discrete"
    """0 for equal inputs, 1 for different ones."""

    def combined(self, coordinates: Iterable[Fraction]) -> Fraction:
        """The distance of two inputs whose coordinates (or groups of coordinates) are that far apart."""
        match self:
            case Norm.LINF:
                return max(coordinates, default=_ZERO)
            case Norm.L1:
                return sum(coordinates, _ZERO)
            case Norm.DISCRETE:
                return _ONE if any(coordinates) else _ZERO

    def steepness(self, terms: Terms) -> Fraction:
        """How much the linear function with these coefficients can grow over the distance 1: the dual norm."""
        sizes = [abs(coefficient) for _, coefficient in terms]
        return max(sizes) if self is Norm.L1 else sum(sizes, _ZERO)

    def towards(self, point: Mapping[int, Fraction], terms: Terms, distance: Fraction) -> dict[int, Fraction]:
        """A point at `distance`, where the linear function has grown as much as it can."""
        moved = dict(point)
        chosen = [max(terms, key=lambda term: abs(term[1]))] if self is Norm.L1 else terms
        for slot, coefficient in chosen:
            moved[slot] += distance if coefficient > 0 else -distance
        return moved
