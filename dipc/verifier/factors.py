"""The signs of the factors of an exponential polynomial between two ends, re-derived from what a certificate states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.verifier.budget import Budget
from dipc.verifier.curve import Curve
from dipc.verifier.ends import MOST_ORDER, prove_at_infinity, prove_near_zero
from dipc.verifier.expansion import MOST_BITS, prove_sign, shown
from dipc.verifier.reading import items, natural, rational, record, sign
from dipc.verifier.rejection import Rejected

#: Pieces between the ends for one factor.
MOST_PIECES = 200_000


@dataclass(frozen=True)
class Range:
    """The open interval of t between two ends; `upper` None is infinity."""

    lower: Fraction
    upper: Fraction | None

    def holds(self, t: Fraction) -> bool:
        """Whether t is strictly inside."""
        return self.lower < t and (self.upper is None or t < self.upper)


@dataclass(frozen=True)
class Signs:
    """The sign right after the lower end, and the roots inside, increasing, each in an interval (or known exactly) of
    its own at which the sign changes."""

    left: int
    roots: tuple[tuple[Fraction, Fraction], ...]


def factor_signs(curve: Curve, value: object, within: Range, budget: Budget, step: str) -> Signs:
    """All sign changes of the curve inside `within`; raises Rejected where the evidence does not show them.

    Evidence is {"zero", "pieces", "infinity"}; for a curve linear in t alone null, because its root says all.
    """
    if value is None:
        return _linear(curve, within, step)
    evidence = record(value, step, (), ("zero", "pieces", "infinity"))
    left: int | None = None
    current: int | None = None
    position = within.lower
    if evidence.get("zero") is not None:
        position, left = _near_zero(curve, evidence["zero"], within, budget, f"{step}, near 0")
        current = left
    elif not position:
        raise Rejected(step, "nothing is shown next to 0")
    roots: list[tuple[Fraction, Fraction]] = []
    for number, item in enumerate(items(evidence.get("pieces", []), f"{step}, pieces", MOST_PIECES), start=1):
        here = f"{step}, piece {number}"
        first, last, upper = _piece(curve, item, position, within, budget, here)
        if current is not None and first != current:
            raise Rejected(here, f"it begins with the sign {first}, where {current} was shown before")
        if first != last:
            roots.append((position, upper))
        left = first if left is None else left
        current, position = last, upper
    if evidence.get("infinity") is not None:
        here = f"{step}, towards infinity"
        bound, last = _at_infinity(curve, evidence["infinity"], budget, here)
        if bound > position:
            raise Rejected(here, "there is a gap below the bound")
        if current is not None and last != current:
            raise Rejected(here, f"the sign is {last}, where {current} was shown before")
        left = last if left is None else left
    elif within.upper is None or position < within.upper:
        raise Rejected(step, "the pieces do not reach the upper end")
    if left is None:
        raise Rejected(step, "nothing is shown")
    return Signs(left, tuple(roots))


def _linear(curve: Curve, within: Range, step: str) -> Signs:
    if any(j or k > 1 for j, k, _ in curve.terms):
        raise Rejected(step, "without evidence the sign is only known of a factor that is linear in t alone")
    coefficients = {k: c for _, k, c in curve.terms}
    slope, start = coefficients.get(1, 0), coefficients.get(0, 0)
    if not slope:
        return Signs(1 if start > 0 else -1, ())
    root, rising = Fraction(-start, slope), 1 if slope > 0 else -1
    if root <= within.lower:
        return Signs(rising, ())
    return Signs(-rising, ((root, root),) if within.holds(root) else ())


def _near_zero(curve: Curve, value: object, within: Range, budget: Budget, step: str) -> tuple[Fraction, int]:
    stated = record(value, step, ("order", "radius", "sign"))
    order, radius = natural(stated["order"], step, MOST_ORDER), rational(stated["radius"], step)
    if radius <= within.lower:
        raise Rejected(step, "the radius is not above the lower end")
    found = sign(stated["sign"], step)
    prove_near_zero(curve, order, radius, found, budget, step)
    return radius, found


def _at_infinity(curve: Curve, value: object, budget: Budget, step: str) -> tuple[Fraction, int]:
    stated = record(value, step, ("bound", "sign"))
    bound, found = rational(stated["bound"], step), sign(stated["sign"], step)
    if bound <= 0:
        raise Rejected(step, "the bound is not positive")
    prove_at_infinity(curve, bound, found, budget, step)
    return bound, found


def _piece(
    curve: Curve, value: object, position: Fraction, within: Range, budget: Budget, step: str
) -> tuple[int, int, Fraction]:
    """The signs at the two ends of a piece, and its upper end."""
    stated: Mapping[str, Any] = record(value, step, ("interval", "method", "bits"), ("sign", "slope"))
    ends = items(stated["interval"], step, 2)
    if len(ends) != 2:
        raise Rejected(step, "an interval has two ends")
    lower, upper = rational(ends[0], step), rational(ends[1], step)
    if lower != position:
        raise Rejected(step, "it does not begin where the one before ends")
    if not lower < upper or (within.upper is not None and upper > within.upper):
        raise Rejected(step, "it is empty or reaches beyond the interval")
    bits = natural(stated["bits"], step, MOST_BITS)
    method = stated["method"]
    if method == "value":
        if "slope" in stated:
            raise Rejected(step, "a slope is stated but not used")
        found = sign(stated.get("sign"), step)
        prove_sign(curve, lower, upper, found, bits, budget, step)
        return found, found, upper
    if method not in ("slope", "crossing"):
        raise Rejected(step, "the method is not `value`, `slope` or `crossing`")
    slope = sign(stated.get("slope"), step)
    if method == "slope":
        first = last = sign(stated.get("sign"), step)
    else:
        first, last = -slope, slope
        if "sign" in stated:
            raise Rejected(step, "a crossing has no one sign")
    prove_sign(curve.derivative, lower, upper, slope, bits, budget, f"{step}, slope")
    for end, wanted in ((lower, first), (upper, last)):
        if curve.sign_at(end, budget, step) != wanted:
            raise Rejected(step, f"at {shown(end)} the sign is not {wanted}")
    return first, last, upper
