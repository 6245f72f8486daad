"""Weights of choices that depend on eps alone, in bounds about distance·eps.

Where all such weights of a program are a + b·g for one function g of eps, as those of one coin are, they lie on the
segment between their values at the least and the greatest g. A sum of weight·probability is linear in the weights, so
that at every eps it is at least the lesser of the sums at the two ends, whatever eps·distance is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import Limits, Undecided
from dipc.decide.decide import decide
from dipc.decide.obligation import Verdict
from dipc.rules.centered_exits import CenteredExit
from dipc.rules.evidence import Jointly
from dipc.rules.least_slacks import is_constant, jointly
from dipc.rules.rule import Bounds, Instance, Rule
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm

_ZERO = Fraction(0)


#: A weight to a number for it.
Values = Mapping[Closed, Fraction]


def with_extreme_weights(rule: Rule, instance: Instance, limits: Limits) -> Bounds | None:
    """What the rule gives, where a distance is open and weights depend on eps alone for both of their ends."""
    ways = instance.others if rule.of_others else instance.ways
    if ways is None:
        return None
    points = ends(ways, limits) if instance.distances.is_open else None
    if points is None:
        return rule.bounds(instance)
    each = [rule.bounds(instance.weighted(values)) for values in points]
    functions = [bounds.functions for bounds in each if bounds is not None and bounds.functions]
    if len(functions) < len(points):
        return None
    every = dict.fromkeys(function for some in functions for function in some)
    tails = any(bounds is not None and isinstance(bounds.why, Jointly) and bounds.why.tails for bounds in each)
    return Bounds(tuple(every), None if tails else jointly(instance))


def ends(exits: Iterable[CenteredExit], limits: Limits) -> tuple[Values, Values] | None:
    """Two points such that the weights of the exits are between them at every eps > 0: the weights that depend on eps,
    each with its number at the point. None where that is not known, or no weight depends on eps."""
    first, *others = dict.fromkeys(
        centered.weight for centered in exits if centered.weight is not None and not is_constant(centered.weight)
    ) or (None,)
    if first is None:
        return None
    start, end = _at_zero(first), _at_infinity(first)
    if start is None or end is None or start == end:
        return None
    low, high = min(start, end), max(start, end)
    if not (_is_positive(first - low, limits) and _is_positive(high - first, limits)):
        return None
    points: tuple[dict[Closed, Fraction], dict[Closed, Fraction]] = {first: start}, {first: end}
    for other in others:
        mine = _at_zero(other), _at_infinity(other)
        if mine[0] is None or mine[1] is None:
            return None
        slope = (mine[1] - mine[0]) / (end - start)
        if Quotient.of(other) != Quotient.of(first) * slope + (mine[0] - slope * start):
            return None
        points[0][other], points[1][other] = mine[0], mine[1]
    return points


def _is_positive(value: Closed, limits: Limits) -> bool:
    try:
        one = PiecewiseForm(ExpPoly.one())
        return decide(ClosedForm(value), one, (Interval.positive(),), limits).verdict is Verdict.ACCURATE
    except Undecided:
        return False


def _at_zero(value: Closed) -> Fraction | None:
    """The limit as eps -> 0, where numerator and denominator have limits and the denominator's is not 0."""
    above, below = [sum((c for k, _, c in poly.terms() if k == 0), _ZERO) for poly in fraction_of(value)]
    return above / below if below else None


def _at_infinity(value: Closed) -> Fraction | None:
    """The limit as eps -> ∞; None where it is infinite."""
    above, below = [{(q, k): c for k, q, c in poly.terms()} for poly in fraction_of(value)]
    leading = max(below)
    if not above or max(above) < leading:
        return _ZERO
    return above[leading] / below[leading] if max(above) == leading else None
