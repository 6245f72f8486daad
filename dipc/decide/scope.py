"""The scope of a claim: the values of eps where it is not vacuous, because its beta is less than 1.

Elsewhere 1 - beta <= 0, so every probability satisfies the claim. The scope is the set where the bound 0 is less than
1 - beta, which is decided like every failure set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dipc.algebra.exppoly import ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.record import Record, json_value
from dipc.decide.obligation import (
    NORMAL_FUNCTIONS,
    EndPoint,
    EpsSpan,
    Obligation,
    failing_regions,
    failure_intervals,
    holds_in_cells,
)
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, BoundMeasurer
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.decide import crossings
else:
    crossings = LazyModule("dipc.decide.crossings")

_ZERO = Fraction(0)


@frozen
class ClaimScope(Record):
    """The values of the variable at which a claim says something, because beta < 1: the maximal intervals `where`.

    If they are not known, `where` is empty and `reason` says why; else `reason` is None.
    """

    where: tuple[EpsSpan, ...]
    reason: str | None = None

    @property
    def is_vacuous(self) -> bool:
        """True if it is proved that beta >= 1 everywhere, so that the claim is vacuous."""
        return not self.where and self.reason is None

    def as_json(self) -> list[dict[str, Any]] | None:
        """The intervals of the scope; None (null in JSON) if it is undecided."""
        return None if self.reason is not None else json_value(self.where)


def claim_scope(beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> ClaimScope:
    """Return where a claim with this `beta` is not vacuous: the parts of `intervals` with beta < 1.

    The scope is undecided past one of `limits`. If `intervals` is all eps > 0, the result for beta(c·eps) is computed
    from that for beta(eps), so that rows with different distances share one computation.
    """
    if beta.closed is None or intervals != (Interval.POSITIVE,):
        return _claim_scope(beta, intervals, limits)
    value = beta.closed.value
    scale = max([abs(q) for poly in fraction_of(value) for _, q, _ in poly.terms()], default=_ZERO)
    if scale in (0, 1):
        return _claim_scope(beta, intervals, limits)
    scope = _claim_scope(BetaForm(value.scaled(1 / scale)), intervals, limits)

    def rescaled(end: EndPoint) -> EndPoint:
        return EndPoint(end.low / scale, None if end.high is None else end.high / scale, end.included)

    where = [EpsSpan(rescaled(span.start), rescaled(span.end)) for span in scope.where]
    return replace(scope, where=tuple(where))


#: The bits of the lower end of an interval on which a claim is decided because beta < 1 there, and the digits of the
#: ends of the scope of a beta without closed forms.
_SCOPE_BITS, _DIGITS = 6, 30


@lru_cache(maxsize=4096)
def _claim_scope(beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> ClaimScope:
    try:
        if beta.has_cells:
            regions = failing_regions(ClosedForm(ExpPoly.ZERO), beta, intervals, limits)
            return ClaimScope(tuple(failure_intervals(regions, limits)))
        stretches = crossings.failing_stretches(Obligation(Bound(()), beta, intervals), BoundMeasurer(), limits)
        return ClaimScope(tuple(crossings.span_of(each, _DIGITS, limits) for each in stretches))
    except Undecided as undecided:
        reason = undecided.reason if beta.has_cells else f"where beta is less than 1, as it has {NORMAL_FUNCTIONS}"
        return ClaimScope((), reason)


def holds_in_scope(bound: ClosedForm, beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> bool:
    """Return True only if `bound` >= 1 - `beta` on `intervals`; the bound must be nowhere negative.

    The inequality then holds where beta >= 1, so that it is only decided where beta < 1, or on slightly more. This
    saves time: the sign of a long closed form takes longest near 0, where beta usually exceeds 1. Raises LimitReached
    if the work exceeds `limits`.
    """
    if not beta.has_cells:
        return False
    scope = claim_scope(beta, intervals, limits)
    if scope.reason is not None:
        return False
    parts = [[part for interval in intervals if (part := _around(span, interval))] for span in scope.where]
    assert all(parts), "the scope is in the intervals"
    return all(holds_in_cells(bound.value, beta, part, limits) for each in parts for part in each)


def _around(span: EpsSpan, interval: Interval) -> Interval | None:
    """Return a part of `interval` that contains all points of `span` in the interval, or None if there are none.

    Its lower end may be smaller than that of `span`: a number with fewer digits.
    """
    low, high = span.start.low, span.end.high
    if low > interval.lower:
        exponent = low.numerator.bit_length() - low.denominator.bit_length() - _SCOPE_BITS
        unit = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
        low = low // unit * unit
    low = max(low, interval.lower)
    if high is None or (interval.upper is not None and high > interval.upper):
        high = interval.upper
    if high is not None and (low > high or (low == high and low not in interval)):
        return None
    return interval.subinterval(low, high)


def join_scopes(all_of: Iterable[ClaimScope]) -> ClaimScope:
    """Return the union of the scopes in `all_of`. Ends are taken as equal if their enclosures overlap."""
    distinct = dict.fromkeys(all_of)
    reason = next((saying.reason for saying in distinct if saying.reason is not None), None)
    stretches = sorted(
        {interval for saying in distinct for interval in saying.where},
        key=lambda interval: (interval.start.low, interval.end.low),
    )
    merged: list[EpsSpan] = []
    for span in stretches:
        if merged and _meet(merged[-1].end, span.start):
            before = merged.pop()
            span = EpsSpan(_earlier_start(before.start, span.start), _later_end(before.end, span.end))
        merged.append(span)
    return ClaimScope(tuple(merged), reason)


def _meet(end: EndPoint, start: EndPoint) -> bool:
    """Return False only if there is a gap between an interval that ends at `end` and one that starts at `start`.

    The gap may be a single point: `end` and `start` are then the same number, and neither interval includes it.
    """
    if end.high is None or end.high > start.low:
        return True
    return end.high == start.low and not (end.exact and start.exact and not end.included and not start.included)


def _earlier_start(one: EndPoint, other: EndPoint) -> EndPoint:
    assert one.high is not None
    assert other.high is not None
    if one.high < other.low or one.low == other.low == one.high:
        return EndPoint(one.low, one.high, one.included or (other.exact and other.low == one.low and other.included))
    return EndPoint(one.low, min(one.high, other.high), one.included)


def _later_end(one: EndPoint, other: EndPoint) -> EndPoint:
    if one.high is None or other.high is None:
        return one if one.high is None else other
    if one.high < other.low:
        return other
    if other.high < one.low:
        return one
    return EndPoint(max(one.low, other.low), max(one.high, other.high), one.included or other.included)
