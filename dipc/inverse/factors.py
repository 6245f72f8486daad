"""The factor that an obligation needs at each eps, (1 - Pr)/beta, and where it is largest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import fraction_of
from dipc.sign import Fails, Interval, RegionEnd, Root, arrange, decide_nonnegative, sign_at
from dipc.sign.optimum import Far, Peak, Ratio, Where, peaks, vanishes_at
from dipc.sign.piecewise import BetaForm, FormCell


class Factors:
    """Finds the peaks of (1 - Pr)/beta, infinite where no factor suffices.

    Quotients that are equal after a change of eps's scale are analyzed once. So rows that differ by a common factor of
    all distances share their peaks' values, as identical objects.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[tuple[object, ...], list[Peak]] = {}

    def needs(self, probability: ClosedForm, beta: BetaForm, intervals: Sequence[Interval]) -> Iterator[Peak]:
        """Peaks of the least f >= 0 with f·beta >= 1 - Pr, as a function of eps, so that the greatest of their values
        is the least factor for all eps of the intervals. None where Pr = 1 throughout, as f = 0 suffices; else an
        infinite one where beta is negative, as none does. Raises LimitReached."""
        above, below = fraction_of(probability.value)
        missing = below - above
        for interval in intervals:
            if _is_certain(missing, interval):
                continue
            negative = _negative_at(beta, interval, self._limits)
            if negative is not None:
                yield Peak(negative, True, None)
                continue
            met: Fraction | Root | None = None
            for cell in beta.cells(interval, self._limits):
                # A closed form for every eps is all of the interval; a cell need not be.
                sample = None if beta.closed is not None else cell.sample
                for need in self._needs(missing * cell.denominator, cell.numerator * below, cell, sample):
                    # Continuous, beta is at the joint what it was at the end of the cell before.
                    if need.at != met:
                        yield need
                met = self._joint(missing, cell)

    def forbids(self, probability: ClosedForm, beta: BetaForm, intervals: Sequence[Interval]) -> Fraction | None:
        """An eps at which every f > 0 fails although f = 0 suffices: Pr = 1 on its interval, and beta is negative
        there. None where there is none. Raises LimitReached."""
        above, below = fraction_of(probability.value)
        for interval in intervals:
            if _is_certain(below - above, interval):
                negative = _negative_at(beta, interval, self._limits)
                if negative is not None:
                    return negative
        return None

    def _joint(self, missing: ExpPoly, cell: FormCell) -> Fraction | Root | None:
        """The upper end of the cell, where the factor needed goes on continuously; else None."""
        end = cell.upper.value
        if end is None or all(vanishes_at(f, end, self._limits) for f in (cell.numerator, missing)):
            return None
        return end.lower if isinstance(end, Root) and end.is_exact else end

    def _needs(
        self, numerator: ExpPoly, denominator: ExpPoly, cell: FormCell, sample: Fraction | None
    ) -> Iterator[Peak]:
        """The peaks on the cell; `sample` is one of its rationals, None where it is all of the interval."""
        if denominator.is_zero():
            if sample is None:
                yield Peak(Far.EVERYWHERE, True, None)
            else:
                yield Peak(sample, not numerator.value_is_zero(sample), None)
            return
        ratio = Ratio.of(numerator, denominator)
        lower, upper = cell.lower, cell.upper
        exact = not isinstance(lower.value, Root) and not isinstance(upper.value, Root)
        rate = ratio.rate() if exact else Fraction(1)
        scaled = ratio.scaled(1 / rate)
        ends = _scaled_end(lower, rate), _scaled_end(upper, rate)
        key = (scaled, *ends)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = peaks(scaled, *ends, self._limits)
        for peak in found:
            at = _unscaled(peak.at, rate)
            if at is Far.EVERYWHERE and sample is not None:
                at = sample  # all of the cell, but not all of the interval
            yield Peak(at, peak.attained, peak.value)


def _is_certain(missing: ExpPoly, interval: Interval) -> bool:
    """Whether 1 - Pr is 0 on the interval."""
    return missing.is_zero() or (interval.is_point and missing.value_is_zero(interval.lower))


def _scaled_end(end: RegionEnd, rate: Fraction) -> RegionEnd:
    return RegionEnd(end.value * rate, end.closed) if isinstance(end.value, Fraction) else end


def _unscaled(at: Where, rate: Fraction) -> Where:
    match at:
        case Fraction():
            return at / rate
        case Root():
            return replace(at, lower=at.lower / rate, upper=at.upper / rate, scale=at.scale * rate)
        case Far():
            return at


def _negative_at(beta: BetaForm, interval: Interval, limits: Limits) -> Fraction | None:
    """A rational of the interval at which beta is negative; None where it is proved to be at least 0."""
    cells = beta.cells(interval, limits)
    if len(cells) == 1:
        decision = decide_nonnegative(cells[0].numerator, interval, limits)
        return decision.witness if isinstance(decision, Fails) else None
    numerators = [cell.numerator for cell in cells if not cell.numerator.is_zero()]
    # Continuous, it is negative in a whole gap if anywhere.
    for sample in arrange([*beta.conditions(), *numerators], interval, limits).samples:
        numerator = beta.fraction_at(sample)[0]
        if not numerator.is_zero() and sign_at(numerator, sample, limits) < 0:
            return sample
    return None
