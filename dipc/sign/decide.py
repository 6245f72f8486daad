"""Decide f >= 0 on an interval of eps, with a proof or with all the eps where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.chart import Analysis, SignChart, analyze, chart_of, sign_of_form, simplest_in_gap
from dipc.sign.interval import Interval
from dipc.sign.polynomial import NormalForm, normal_form
from dipc.sign.roots import Root


@dataclass(frozen=True, slots=True)
class PointProof:
    """f at the only point of the interval is 0 or positive, as `sign` says."""

    form: NormalForm
    eps: Fraction
    sign: int


@dataclass(frozen=True, slots=True)
class Holds:
    """f >= 0 on the whole interval.

    The proof: None if f is the zero function; for an interval, the analysis: the product of its sign and of the signs
    of the factors of odd multiplicity, none of which has a root inside, is positive.
    """

    proof: Analysis | PointProof | None


@dataclass(frozen=True, slots=True)
class RegionEnd:
    """An end of a failure region: a rational end of the interval, an isolated root, or None for infinity."""

    value: Fraction | Root | None
    closed: bool


@dataclass(frozen=True, slots=True)
class FailureRegion:
    """f < 0 between the ends, except at the `punctures`, roots of even multiplicity where f = 0."""

    lower: RegionEnd
    upper: RegionEnd
    punctures: tuple[Root, ...]


@dataclass(frozen=True, slots=True)
class Fails:
    """f < 0 exactly on the union of `regions`, and at `witness`.

    The witness is the simplest rational in the regions, the one that the Stern-Brocot tree reaches first; or, where
    simpler ones are too near to a root to be judged, the simplest in the parts between the isolating intervals. The
    chart is that of the analysis, which is complete; None where the interval is a point.
    """

    witness: Fraction
    regions: tuple[FailureRegion, ...]
    chart: SignChart
    analysis: Analysis | None


Decision = Holds | Fails


def decide_nonnegative(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> Decision:
    """Whether f >= 0 at all eps of the interval. Never wrong; raises LimitReached where the limits do not suffice."""
    budget = Budget(limits or Limits())
    if f.is_zero():
        return Holds(None)
    form = normal_form(f, budget)
    if interval.is_point:
        return _decide_point(form, interval, budget)
    analysis = analyze(form, interval, budget, skip_even=True)
    if analysis.left > 0 and not any(root.multiplicity % 2 for root in analysis.roots()):
        return Holds(analysis)
    if None in analysis.signs:
        analysis = analyze(form, interval, budget, skip_even=False)
    chart = chart_of(analysis, budget)
    witness = _simplest_witness(form, chart, budget)
    assert witness in interval
    assert sign_of_form(form, witness, budget) < 0
    return Fails(witness, _regions(chart), chart, analysis)


def _decide_point(form: NormalForm, interval: Interval, budget: Budget) -> Decision:
    eps = interval.lower
    sign = sign_of_form(form, eps, budget)
    if sign >= 0:
        return Holds(PointProof(form, eps, sign))
    end = RegionEnd(eps, closed=True)
    return Fails(eps, (FailureRegion(end, end, ()),), SignChart(interval, (), (), sign, sign), None)


def _regions(chart: SignChart) -> tuple[FailureRegion, ...]:
    """The maximal intervals on which f < 0 but for punctures."""
    interval = chart.interval
    first = RegionEnd(interval.lower, closed=chart.lower_sign == -1)
    last = RegionEnd(interval.upper, closed=chart.upper_sign == -1)
    bounds = [first, *(RegionEnd(root, closed=False) for root in chart.roots), last]
    regions: list[FailureRegion] = []
    for gap, sign in enumerate(chart.signs):
        if sign >= 0:
            continue
        if gap and chart.signs[gap - 1] < 0:
            before = regions.pop()
            region = FailureRegion(before.lower, bounds[gap + 1], (*before.punctures, chart.roots[gap - 1]))
        else:
            region = FailureRegion(bounds[gap], bounds[gap + 1], ())
        regions.append(region)
    return tuple(regions)


def _simplest_witness(form: NormalForm, chart: SignChart, budget: Budget) -> Fraction:
    """A rational of the chart's interval at which f < 0, as simple as said at `Fails`."""
    bounds = [None, *chart.roots, None]
    candidates = [
        simplest_in_gap(
            chart.interval,
            bounds[gap],
            bounds[gap + 1],
            lambda eps, spent: sign_of_form(form, eps, spent) < 0,
            budget,
        )
        for gap, sign in enumerate(chart.signs)
        if sign < 0
    ]
    return min(candidates, key=lambda x: (x.denominator, x.numerator))
