"""From a measured bound to a decision; where a claim says anything, and by how much it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.algebra.numbers import outward
from dipc.decide.obligation import (
    Counterexample,
    Decision,
    DecisionInCells,
    EndPoint,
    FailsInCells,
    Failure,
    FailureInterval,
    Verdict,
    Worst,
    decide_cells,
    end_point,
    failure_intervals,
    failures,
)
from dipc.frozen import frozen
from dipc.sign.chart import RegionEnd, arrange
from dipc.sign.interval import Interval
from dipc.sign.normal import NormalBeta
from dipc.sign.optimum import Far, Peak, Ratio, highest, number_cell, peaks, root_cell
from dipc.sign.piecewise import BetaForm
from dipc.sign.roots import Root

# --- Where a claim fails, to as many digits as asked for, and by how much at most: the shortfall is 1 - beta - Pr -----
#


def failing_intervals(
    bound: ClosedForm, beta: BetaForm, result: Iterable[DecisionInCells], digits: int, limits: Limits
) -> tuple[FailureInterval, ...]:
    """The exact set of eps with bound < 1 - beta, as its maximal intervals, increasing, for what was found on each
    interval; the regions are known.

    Ends that are no rational numbers are cut off after `digits` significant digits, `high` one unit of the last digit
    more; each interval has its worst eps and the shortfall there, in the same form. Raises LimitReached.
    """
    return tuple(
        FailureInterval(
            _end_point(failure.region.lower, digits, limits),
            _end_point(failure.region.upper, digits, limits),
            _worst(failure, digits, limits),
        )
        for part in result
        if isinstance(part, FailsInCells)
        for failure in _failures(bound, beta, part, limits)
    )


def _failures(bound: ClosedForm, beta: BetaForm, cells: FailsInCells, limits: Limits) -> list[Failure]:
    functions = [*beta.conditions(), *[cell.obligation for cell in cells.cells if not cell.obligation.is_zero()]]
    arrangement = cells.arrangement or arrange(functions, cells.interval, limits)
    return failures(bound.value, beta, arrangement, functions, limits)


def _worst(failure: Failure, digits: int, limits: Limits) -> Worst:
    samples: dict[int, Fraction] = {}
    candidates: list[Peak] = []
    for stretch in failure.stretches:
        ratio = Ratio.of(-stretch.numerator, stretch.denominator)
        for peak in peaks(ratio, stretch.lower, stretch.upper, limits):
            samples[id(peak)] = stretch.sample
            candidates.append(peak)
    best = highest(candidates, digits)
    assert best is not None, "where a claim fails there is a shortfall"
    chosen = next((peak for peak in best.peaks if peak.attained), best.peaks[0])
    shortfall = None if chosen.value is None else number_cell(chosen.value, digits)
    return Worst(_place(chosen, samples[id(chosen)], digits, limits), shortfall, chosen.attained)


def _place(peak: Peak, sample: Fraction, digits: int, limits: Limits) -> tuple[Fraction, Fraction] | None:
    match peak.at:
        case Fraction():
            return peak.at, peak.at
        case Root():
            at = peak.value.at if peak.value is not None else peak.at
            return root_cell(at, digits, limits) if isinstance(at, Root) else (at, at)
        case Far.ZERO:
            return Fraction(0), Fraction(0)
        case Far.INFINITY:
            return None
        case Far.EVERYWHERE:
            return sample, sample


def _end_point(end: RegionEnd, digits: int, limits: Limits) -> EndPoint:
    return end_point(end, lambda root: root_cell(root, digits, limits))


# --- From a measured bound to a decision: the sign of bound - 1 + beta on the intervals of eps ------------------------
#

_ZERO = Fraction(0)

#: Significant digits of the enclosures of a counterexample, more where they are needed to tell them apart.
DIGITS = 20

#: More digits than this are not written: the next power of two is past the 4300 that Python prints.
MOST_DIGITS = 2560

#: Nor are numbers beyond e to the power of this or its negative: an exact one would fill the memory.
MOST_MAGNITUDE = 200_000


def decide(
    bound: ClosedForm, beta: BetaForm, intervals: Sequence[Interval], limits: Limits, digits: int | None = None
) -> Decision:
    """Whether `bound` >= 1 - `beta` on the intervals, with the proof.

    ACCURATE only with that proved for every eps of the intervals, INACCURATE only with an eps of them at which it is
    refuted, else UNDECIDED with the reason. With `digits` the failing intervals are known to so many digits, each with
    its worst eps. Raises LimitReached where it fails, but the numbers that show it are too long to be written out.
    """
    if not intervals:
        raise ValueError("an obligation is about some interval: about none of them it would hold of itself")
    proof: list[DecisionInCells | None] = []
    failing: list[FailureInterval] = []
    reasons: list[str] = []
    for interval in intervals:
        try:
            found = decide_cells(bound.value, beta, interval, limits)
        except Undecided as undecided:
            reasons.append(undecided.reason)
            proof.append(None)
            continue
        proof.append(found)
        if isinstance(found, FailsInCells):
            if found.regions is None:
                reasons.append("where it fails is past a limit")
            else:
                failing += failure_intervals(found.regions, limits)
    witness = next((found.witness for found in proof if isinstance(found, FailsInCells)), None)
    if witness is None:
        verdict = Verdict.UNDECIDED if reasons else Verdict.ACCURATE
        return Decision(verdict, bound, reason=reasons[0] if reasons else None, proof=tuple(proof))
    shown = counterexample(bound.value, _required(beta, witness), witness)
    # With a part of the intervals undecided the failure set is not known exactly, and is not given.
    known = () if reasons else tuple(failing)
    if known and digits is not None:
        with suppress(Undecided):  # as it is past a limit
            known = failing_intervals(bound, beta, [found for found in proof if found is not None], digits, limits)
    return Decision(Verdict.INACCURATE, bound, shown, known, proof=tuple(proof))


def _required(beta: BetaForm, eps: Fraction) -> Closed | tuple[ExpPoly, ExpPoly]:
    """1 - beta around `eps`: a closed form, or numerator and denominator of one that is positive there."""
    if beta.closed is not None:
        return 1 - beta.closed.value
    above, below = beta.fraction_at(eps)
    return below - above, below


def counterexample(probability: Closed, required: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> Counterexample:
    """The evidence at `eps`, where Pr is less than what is required, a closed form or numerator and denominator of one,
    which is positive at `eps`; the enclosures are disjoint decimal numbers.

    Raises LimitReached where these would be too long to be written out.
    """
    actual, bound = _Evaluated(probability, eps), _Evaluated(required, eps)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        result = outward(*actual.enclosure(digits + 2), digits)
        wanted = outward(*bound.enclosure(digits + 2), digits)
        if result[1] < wanted[0]:
            return Counterexample(eps, result, wanted)
        digits *= 2
    raise _unwritable(eps)


class _Evaluated:
    """A closed form at one eps; raises LimitReached for a value too large or too small to be written out."""

    def __init__(self, value: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> None:
        self._eps = eps
        if isinstance(value, ExpPoly):
            self._parts = [value]
        else:
            # Both parts may be far too large where the quotient is not.
            above, below = (value.numerator, value.denominator) if isinstance(value, Quotient) else value
            shrink = ExpPoly.term(1, 0, -max(q for _, q, _ in below.terms()))
            self._parts = [above * shrink, below * shrink]
        if any(abs(_leading(poly, eps)) * eps > MOST_MAGNITUDE for poly in self._parts):
            raise _unwritable(eps)

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Rationals lo <= value <= hi, hi - lo at most 10^-digits times the larger of |lo|, |hi|."""
        (low, high), *rest = [poly.enclosure(self._eps, digits + 1) for poly in self._parts]
        corners = [low / over for below in rest for over in below] + [high / over for below in rest for over in below]
        return (min(corners), max(corners)) if corners else (low, high)


def _leading(poly: ExpPoly, eps: Fraction) -> Fraction:
    """The largest q with a term c(eps)·e^{q·eps} that is not 0 at `eps`; 0 if there is none."""
    coefficients: dict[Fraction, Fraction] = {}
    for k, q, c in poly.terms():
        coefficients[q] = coefficients.get(q, Fraction(0)) + c * eps**k
    return max((q for q, c in coefficients.items() if c), default=Fraction(0))


def _unwritable(eps: Fraction) -> LimitReached:
    return LimitReached(
        None, f"the claim fails at eps = {eps}, but the numbers that show it have too many digits to be written out"
    )


# --- For which values a claim says anything: where beta < 1. Elsewhere 1 - beta <= 0, which every probability exceeds -
#
# That is the question where the bound 0 fails to be at least 1 - beta: it is decided like every other.


@frozen
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
        return None if self.reason is not None else [failing.as_json() for failing in self.where]


def saying(beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> Saying:
    """Where in the intervals beta < 1.

    For all eps > 0 it is found out once for all betas that are one function of scale·eps, as those of a claim in
    alpha·eps are at the distances of its rows.
    """
    if beta.closed is None or intervals != (Interval.positive(),):
        return _saying(beta, intervals, limits)
    value = beta.closed.value
    scale = max([abs(q) for poly in fraction_of(value) for _, q, _ in poly.terms()], default=_ZERO)
    if scale in (0, 1):
        return _saying(beta, intervals, limits)
    saying = _saying(BetaForm(value.scaled(1 / scale)), intervals, limits)
    return replace(saying, where=tuple([_stretched(failing, scale) for failing in saying.where]))


def _stretched(failing: FailureInterval, scale: Fraction) -> FailureInterval:
    """An interval of scale·eps as one of eps."""
    start, end = (
        EndPoint(each.low / scale, None if each.high is None else each.high / scale, each.included)
        for each in (failing.start, failing.end)
    )
    return FailureInterval(start, end)


@lru_cache(maxsize=4096)
def _saying(beta: BetaForm, intervals: tuple[Interval, ...], limits: Limits) -> Saying:
    if isinstance(beta, NormalBeta):
        low, high = beta.at(intervals[0].inner_point)
        if beta.sum.is_number and low >= 1:
            return Saying(())
        if beta.sum.is_number and high < 1:
            ends = [
                (EndPoint(i.lower, i.lower, i.lower_closed), EndPoint(i.upper or i.lower, i.upper, i.upper_closed))
                for i in intervals
            ]
            return Saying(tuple([FailureInterval(*both) for both in ends]))
        return Saying((), "beta has functions of the normal distribution")
    try:
        decision = decide(ClosedForm(ExpPoly.zero()), beta, intervals, limits)
    except Undecided as undecided:
        return Saying((), undecided.reason)
    match decision.verdict:
        case Verdict.ACCURATE:
            return Saying(())
        case Verdict.INACCURATE if decision.failing:
            return Saying(decision.failing)
    return Saying((), decision.reason or "where beta < 1 is past a limit")


def together(all_of: Iterable[Saying]) -> Saying:
    """Where at least one of them says something. Ends that their enclosures do not tell apart count as one."""
    distinct = dict.fromkeys(all_of)
    reason = next((saying.reason for saying in distinct if saying.reason is not None), None)
    parts = sorted(
        {interval for saying in distinct for interval in saying.where},
        key=lambda interval: (interval.start.low, interval.end.low),
    )
    merged: list[FailureInterval] = []
    for failing in parts:
        if merged and _meet(merged[-1].end, failing.start):
            before = merged.pop()
            failing = FailureInterval(_earlier(before.start, failing.start), _later(before.end, failing.end))
        merged.append(failing)
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
