"""For which values a claim says anything: where beta < 1. Elsewhere 1 - beta <= 0, which every probability exceeds.

That is the question where the bound 0 fails to be at least 1 - beta: it is decided like every other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.obligations.decide import decide
from dipc.obligations.verdict import EndPoint, FailureInterval, Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import BetaForm


@dataclass(frozen=True, slots=True)
class Saying:
    """The values at which beta < 1, as maximal intervals; where that was not decided, none, and the `reason`."""

    where: tuple[FailureInterval, ...]
    reason: str | None = None

    @property
    def nothing(self) -> bool:
        """Whether beta >= 1 everywhere, proved: then the claim says nothing."""
        return not self.where and self.reason is None

    def as_json(self) -> list[dict[str, Any]] | None:
        """The intervals, null where they are not known."""
        return None if self.reason is not None else [part.as_json() for part in self.where]


@lru_cache(maxsize=4096)
def saying(beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> Saying:
    """Where in the intervals beta < 1."""
    try:
        found = decide(ClosedForm(ExpPoly.zero()), beta, intervals, limits)
    except Undecided as undecided:
        return Saying((), undecided.reason)
    match found.verdict:
        case Verdict.ACCURATE:
            return Saying(())
        case Verdict.INACCURATE if found.failing:
            return Saying(found.failing)
    return Saying((), found.reason or "where beta < 1 is past a limit")


def together(all_of: Iterable[Saying]) -> Saying:
    """Where at least one of them says something. Ends that their enclosures do not tell apart count as one."""
    distinct = dict.fromkeys(all_of)
    reason = next((found.reason for found in distinct if found.reason is not None), None)
    parts = sorted(
        {part for found in distinct for part in found.where}, key=lambda part: (part.start.low, part.end.low)
    )
    merged: list[FailureInterval] = []
    for part in parts:
        if merged and _meet(merged[-1].end, part.start):
            before = merged.pop()
            part = FailureInterval(_earlier(before.start, part.start), _later(before.end, part.end))
        merged.append(part)
    return Saying(tuple(merged), reason)


def _meet(end: EndPoint, start: EndPoint) -> bool:
    """Whether nothing lies between them, as far as their enclosures tell."""
    if end.high is None or end.high > start.low:
        return True
    return end.high == start.low and not (end.exact and start.exact and not end.included and not start.included)


def _earlier(one: EndPoint, other: EndPoint) -> EndPoint:
    """The lesser of two starts, of which the first is known not to begin after the second."""
    assert one.high is not None
    assert other.high is not None
    if one.high < other.low or one.low == other.low == one.high:
        return EndPoint(one.low, one.high, one.included or (other.exact and other.low == one.low and other.included))
    return EndPoint(one.low, min(one.high, other.high), one.included)


def _later(one: EndPoint, other: EndPoint) -> EndPoint:
    """The greater of two ends."""
    if one.high is None or other.high is None:
        return one if one.high is None else other
    if one.high < other.low:
        return other
    if other.high < one.low:
        return one
    return EndPoint(max(one.low, other.low), max(one.high, other.high), one.included or other.included)
