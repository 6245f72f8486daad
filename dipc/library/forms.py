"""Questions about closed forms, answered exactly: comparison, sign, supremum, division."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dipc.algebra.closed_form import ClosedForm, Supremum
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import fraction_of
from dipc.claims.claim import resolve_intervals, the_one_eps
from dipc.decide.decide import decide
from dipc.decide.obligation import Decision, EndPoint
from dipc.sign.chart import sign_chart
from dipc.sign.interval import Interval
from dipc.sign.optimum import Far, Ratio, ends_of, highest, number_cell, peaks, root_cell
from dipc.sign.piecewise import PiecewiseForm, over_positive
from dipc.sign.roots import Root
from dipc.text.diagnostic import Source
from dipc.text.parser import parse_interval


@dataclass(frozen=True, slots=True)
class SignPiece:
    """A maximal set of eps, between `start` and `end`, on which a function has one `sign`: -1, 0 or 1."""

    start: EndPoint
    end: EndPoint
    sign: int


def intervals_of(eps: str | None, only_at: Fraction | None = None) -> tuple[Interval, ...]:
    """The intervals that a text such as "(0, 1], (2, inf)" means, by default all eps, or the only one. Raises
    DiagnosticError, and ValueError for others than the only one."""
    if eps is None:
        return (Interval.positive() if only_at is None else Interval(only_at, only_at, True, True),)
    source = Source("<eps>", eps)
    intervals = resolve_intervals(source, parse_interval(source), {})
    if only_at is not None and the_one_eps(intervals) != only_at:
        raise ValueError(f"it holds at eps = {only_at} only, and {eps} is asked about")
    return intervals


def at_least(form: ClosedForm, other: ClosedForm, eps: str | None, limits: Limits | None) -> Decision:
    """Whether form >= other at every eps of the intervals."""
    required = PiecewiseForm((ClosedForm.of(1) - other).value)
    return decide(form, required, intervals_of(eps, form.shared_eps(other)), limits or Limits())


def signs(form: ClosedForm, eps: str | None, limits: Limits | None) -> tuple[SignPiece, ...]:
    """The sign on all the intervals, in pieces from left to right. Raises LimitReached."""
    numerator, _ = fraction_of(form.value)
    found: list[SignPiece] = []
    for interval in intervals_of(eps, form.only_at):
        first = EndPoint(interval.lower, interval.lower, interval.lower_closed)
        last = EndPoint(interval.upper or Fraction(0), interval.upper, interval.upper_closed)
        if numerator.is_zero():
            found.append(SignPiece(first, last, 0))
            continue
        chart = sign_chart(numerator, interval, limits)
        if interval.is_point:
            found.append(SignPiece(first, last, chart.lower_sign or 0))
            continue
        bounds = [None, *chart.roots, None]
        for (left, right), sign in zip(pairwise(bounds), chart.signs, strict=True):
            start = EndPoint(first.low, first.high, chart.lower_sign == sign) if left is None else _end(left)
            end = EndPoint(last.low, last.high, chart.upper_sign == sign) if right is None else _end(right)
            if left is None and chart.lower_sign == 0:
                found.append(SignPiece(first, first, 0))
            found.append(SignPiece(start, end, sign))
            if right is not None:
                root = EndPoint(right.lower, right.upper, included=True)
                found.append(SignPiece(root, root, 0))
            elif chart.upper_sign == 0:
                found.append(SignPiece(last, last, 0))
    return tuple(found)


def _end(root: Root) -> EndPoint:
    return EndPoint(root.lower, root.upper, included=False)


def supremum(form: ClosedForm, eps: str | None, digits: int, limits: Limits | None) -> Supremum:
    """The supremum on all the intervals together. Raises LimitReached."""
    numerator, denominator = fraction_of(form.value)
    ratio = Ratio.of(numerator, denominator)
    candidates = [
        peak for interval in intervals_of(eps, form.only_at) for peak in peaks(ratio, *ends_of(interval), limits)
    ]
    best = highest(candidates, digits)
    assert best is not None, "a closed form has a value everywhere"
    for number in best.numbers:
        number.recognize()
    peak = next((peak for peak in best.peaks if peak.attained), best.peaks[0])
    match peak.at:
        case Fraction():
            place: tuple[Fraction, Fraction] | None = peak.at, peak.at
        case Root():
            place = root_cell(peak.at, digits, limits)
        case Far.INFINITY:
            place = None
        case _:
            place = Fraction(0), Fraction(0)
    attained = any(each.attained for each in best.peaks) if best.proved or len(best.peaks) == 1 else None
    if best.is_infinite:
        return Supremum(None, None, place, attained)
    low, high = best.enclosure(digits)
    if low >= 0:
        low, high = number_cell(best.numbers[0], digits)
    return Supremum(low, high, place, attained)


def divided(form: ClosedForm, other: ClosedForm) -> ClosedForm:
    """form/other. Raises ZeroDivisionError unless `other` is proved to have one sign for every eps > 0."""
    above, below = fraction_of(form.value), fraction_of(other.value)
    if below[0].is_zero():
        raise ZeroDivisionError("the divisor is 0 for every eps")
    value = over_positive(above[0] * below[1], above[1] * below[0])
    if value is None:
        raise ZeroDivisionError(f"{other} is not proved to be other than 0 for every eps > 0")
    return ClosedForm(value, form.shared_eps(other))


def nearest_float(form: ClosedForm, eps: Fraction | int | str) -> float:
    """The float nearest to the value at `eps`; where two are equally near for all that can be told, one of them."""
    low, high = form.at(eps, 20)
    for digits in (40, 80, 160):
        if float(low) == float(high):
            break
        low, high = form.at(eps, digits)
    return float(low)
