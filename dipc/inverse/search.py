"""One search for all monotone questions: the decimals next to the least number with which a claim holds.

The number is an alpha, a gamma or a constant of the program. A claim about every input is decided for one number after
another, by verdicts that are proved.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from dipc.algebra.limits import LimitReached, Undecided
from dipc.algebra.numbers import magnitude
from dipc.decide.obligation import Verdict
from dipc.inverse.question import Claims, Status, all_hold, checked
from dipc.sign.optimum import Cell
from dipc.text.diagnostic import DiagnosticError

Property = Callable[[Fraction], bool]

#: No number below 10^n is tried, for this n.
_LEAST_POWER = -300


def neighboring_powers(holds: Property, greatest: int, name: str) -> tuple[Fraction, Fraction]:
    """Return 10^n and 10^(n+1) such that only the latter has the property `holds`.

    The property must hold for all numbers beyond some number. Raises LimitReached if there is no such n between -300
    and `greatest`; `name` is the name of the number in the message.
    """
    power = 0
    step = -1 if holds(Fraction(1)) else 1
    while _LEAST_POWER < power < greatest:
        power += step
        if holds(Fraction(10) ** power) == (step > 0):
            low = power if step < 0 else power - 1
            return Fraction(10) ** low, Fraction(10) ** (low + 1)
    side = "greater" if step > 0 else "less"
    raise LimitReached(None, f"the least {name}, if there is one, is {side} than 10^{power}")


def narrow(holds: Property, low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Two decimals, one unit of the last of `digits` digits apart, of which only the greater has the property `holds`.

    The property must hold for `high`, which is at most ten times `low`, and not for `low`, a power of ten.
    """
    unit = Fraction(10) ** (magnitude(low) + 1 - digits)
    below, above = bisect(lambda number: holds(number * unit), int(low / unit), int(high / unit))
    return below * unit, above * unit


def narrow_to_integers(holds: Property, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Two neighboring integers around the numbers from `low` to `high`, of which only the greater has `holds`.

    The property must hold for `high` and all greater numbers, and not for `low`.
    """
    below, above = bisect(lambda number: holds(Fraction(number)), floor(low), ceil(high))
    return Fraction(below), Fraction(above)


def bisect(holds: Callable[[int], bool], below: int, above: int) -> tuple[int, int]:
    """Two neighboring integers of which only the greater has the property `holds`.

    The property must not hold for `below`, and must hold for `above`.
    """
    while above - below > 1:
        middle = (above + below) // 2
        if holds(middle):
            above = middle
        else:
            below = middle
    return below, above


#: No number above 10^n is tried in a claim about every input, for this n: each takes a run over all classes.
GREATEST = 30


@dataclass(slots=True, eq=False)
class LeastNumber:
    """A search for the least number with which a claim holds; the number is its alpha or gamma, as `name` says.

    - `claims` gives the inequalities of the claim for a number. Once the claim holds, it must hold for all greater
      numbers.
    - `ints`: only integers are tried. `greatest`: no number above 10^`greatest` is tried.
    - `blamed` are the cases that failed last, and `refuted` is the greatest number refuted so far, or None.
    """

    name: str
    claims: Callable[[Fraction], Claims]
    blamed: tuple[int, ...]
    refuted: Fraction | None
    ints: bool = False
    greatest: int = GREATEST
    #: The last number that was tried.
    tried: Fraction = Fraction(0)

    def enclose(self, digits: int) -> tuple[Status, tuple[int, ...], str, Cell | None]:
        """Return (status, numbers of the cases that failed last, reason why no more is known, enclosure or None).

        If solved, the claim is refuted with the lower end of the enclosure and proved with the upper end. They differ
        by one unit of the last of `digits` digits; with `ints` both are the least integer.
        """
        try:
            low, high = neighboring_powers(self._holds, self.greatest, self.name)
            if self.ints:
                low, high = narrow_to_integers(self._holds, low, high)
            else:
                low, high = narrow(self._holds, low, high, digits)
        except Undecided as undecided:
            if self.refuted is not None and self.refuted == self.tried:
                return Status.UNDECIDED, self.blamed, undecided.reason, None
            fails = "" if self.refuted is None else f"; it fails with {self.name} = {self.refuted}"
            return Status.UNDECIDED, self.blamed, f"no {self.name} is proved to be enough{fails}", None
        if self.refuted == low:
            return Status.SOLVED, self.blamed, "", (high if self.ints else low, high)
        if self.refuted is None:
            reason = f"it holds with {self.name} = {high}, but no smaller value is refuted"
        else:
            fails = f"it fails with {self.name} = {self.refuted} and holds with {high}"
            reason = f"{fails}; between them the bounds decide nothing"
        return Status.UNDECIDED, self.blamed, reason, (self.refuted or Fraction(0), high)

    def _holds(self, number: Fraction) -> bool:
        # Integers at a distance of at most gamma are at a distance of at most gamma rounded down.
        number = Fraction(number // 1) if self.ints else number
        self.tried = number
        claims = self.claims(number)
        known, failing, _ = all_hold(claims)
        if known is Verdict.UNDECIDED:
            with suppress(Undecided, DiagnosticError):
                known = checked(claims.question).verdict
            if known is Verdict.INACCURATE and claims.question.around is not None:
                known = Verdict.UNDECIDED  # it fails at some eps around the irrational one
        if known is not Verdict.ACCURATE:
            self.blamed = failing
        if known is Verdict.INACCURATE:
            self.refuted = number if self.refuted is None else max(self.refuted, number)
        return known is Verdict.ACCURATE
