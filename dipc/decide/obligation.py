"""Obligations, that a bound is at least what is required, and what was found: verdict, witness, failure set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.limits import Budget, LimitReached, Limits, Undecided
from dipc.algebra.numbers import exact_text, magnitude, outward
from dipc.frozen import frozen
from dipc.measure.measure import Bound, Share
from dipc.sign.chart import (
    Arrangement,
    Fails,
    FailureRegion,
    Holds,
    RegionEnd,
    arrange,
    decide_nonnegative,
    sign_at,
    simplest_in_gap,
)
from dipc.sign.chart import Decision as SignDecision
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, FormCell, PiecewiseForm
from dipc.sign.roots import Root, refine

# --- What was found about one obligation: the verdict, the counterexample, and the exact set of eps where it fails ----
#


class Verdict(StrEnum):
    """`accurate` comes with a proof, `inaccurate` with a counterexample, `undecided` with a reason."""

    ACCURATE = "accurate"
    INACCURATE = "inaccurate"
    UNDECIDED = "undecided"


@frozen
class EndPoint:
    """One end of an interval of eps, exact (`low == high`) or isolated: low <= end <= high. `high` None is infinity,
    with `low` meaningless then."""

    low: Fraction
    high: Fraction | None
    included: bool

    @property
    def infinite(self) -> bool:
        return self.high is None

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def as_json(self) -> dict[str, Any]:
        """`eps` is [low, high], twice the same for an exact end and `inf` for infinity."""
        return {"eps": ["inf", "inf"] if self.high is None else _pair(self.low, self.high), "included": self.included}


@frozen
class Worst:
    """Where on a failing interval the shortfall 1 - beta - Pr is largest, and how large it is there: enclosures
    (low, high), exact where both are equal.

    Unless `attained` the shortfall only approaches this as eps approaches that: an end that is not included, 0, or,
    where `eps` is None, infinity. `shortfall` None is infinity (a beta that is negative without bound).
    """

    eps: tuple[Fraction, Fraction] | None
    shortfall: tuple[Fraction, Fraction] | None
    attained: bool

    def as_json(self) -> dict[str, Any]:
        """The JSON object; `inf` stands for infinity."""
        return {
            "eps": ["inf", "inf"] if self.eps is None else _pair(*self.eps),
            "shortfall": ["inf", "inf"] if self.shortfall is None else _pair(*self.shortfall),
            "attained": self.attained,
        }


@frozen
class FailureInterval:
    """A maximal interval of eps on which the claim fails, inside the interval that was asked about. `worst` is given
    where so many digits were asked for."""

    start: EndPoint
    end: EndPoint
    worst: Worst | None = None
    #: The JSON object once it was made: thousands of rows may share one interval.
    _json: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        if not self._json:
            self._json.update(start=self.start.as_json(), end=self.end.as_json())
            if self.worst is not None:
                self._json["worst"] = self.worst.as_json()
        return self._json


def _pair(low: Fraction, high: Fraction) -> list[str]:
    """An enclosure as texts: a rational twice, else decimal numbers around it with little more digits than it has."""
    if low == high:
        return [str(low), str(low)]
    digits = magnitude(high) - magnitude(high - low) + 3
    return [exact_text(end) for end in outward(low, high, max(3, digits))]


@frozen
class Counterexample:
    """An eps at which the claim fails, with rigorous enclosures (lo, hi) of Pr and of the required 1 - beta.

    Guarantees probability[1] < required[0]: the enclosures are disjoint.
    """

    eps: Fraction
    probability: tuple[Fraction, Fraction]
    required: tuple[Fraction, Fraction]

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Enclosure of the shortfall, required - probability; both ends are positive."""
        return self.required[0] - self.probability[1], self.required[1] - self.probability[0]

    def as_json(self) -> dict[str, Any]:
        """The JSON object; every text is exactly the number, decimal where it is a decimal number."""
        return {
            "eps": str(self.eps),
            "probability": [exact_text(end) for end in self.probability],
            "required": [exact_text(end) for end in self.required],
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


# --- Obligations: that a bound is at least what is required, for all values of one variable in some intervals ---------
#
# Whatever a question is about (a row of a table, a class of inputs, every m), it comes to finitely many of these. They
# are plain values: equal ones are decided once, by whichever executor, and kept in one cache.

__all__ = ["Bound", "Obligation", "Share"]


@frozen
class Obligation:
    """`bound` >= 1 - `beta` for every value of the variable in `intervals`, of which there is at least one.

    The variable is eps, or t = distance·eps where a distance is left open: the mathematics is the same.
    """

    bound: Bound
    beta: BetaForm
    intervals: tuple[Interval, ...]

    def __post_init__(self) -> None:
        if not self.intervals:
            raise ValueError("an obligation is about some interval: about none of them it would hold of itself")


# --- The exact set of eps where a claim fails: where the slack bound - 1 + beta is negative ---------------------------
#

#: Isolated ends are known to this part of their size.
PRECISION = Fraction(1, 10**15)


def slack(bound: Closed, beta: PiecewiseForm, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
    """Numerator and denominator of a closed form of bound - 1 + beta that is valid at `eps` and on beta's cell there;
    the denominator is positive at `eps`."""
    if beta.closed is not None:
        return fraction_of(bound + beta.closed.value - 1)  # in lowest terms
    above, below = fraction_of(bound)
    numerator, denominator = beta.fraction_at(eps)
    return (above - below) * denominator + numerator * below, below * denominator


@frozen
class Stretch:
    """A part of a failing interval on which the slack is one quotient; `sample` is a rational inside."""

    lower: RegionEnd
    upper: RegionEnd
    numerator: ExpPoly
    denominator: ExpPoly
    sample: Fraction


@frozen
class Failure:
    """A maximal failing interval."""

    stretches: tuple[Stretch, ...]

    @property
    def region(self) -> FailureRegion:
        """The interval alone."""
        return FailureRegion(self.stretches[0].lower, self.stretches[-1].upper, ())


def failures(
    bound: Closed, beta: PiecewiseForm, arrangement: Arrangement, functions: Sequence[ExpPoly], limits: Limits
) -> list[Failure]:
    """Where the claim fails, increasing; the arrangement is that of the `functions`, which are the slacks of all cells
    of beta, but for those that are zero, and beta's conditions."""
    failures: list[Failure] = []
    for gap, sample in enumerate(arrangement.samples):
        numerator, denominator = slack(bound, beta, sample)
        if numerator.is_zero() or sign_at(numerator, sample, limits) >= 0:
            continue
        stretch = Stretch(*_gap_ends(arrangement, gap, numerator, limits), numerator, denominator, sample)
        left = arrangement.gap(gap)[0]
        joined = (
            failures
            and left is not None
            and failures[-1].stretches[-1].upper.value == left
            and not arrangement.vanishes(functions.index(numerator), gap - 1)
        )
        failures.append(_joined(failures.pop(), stretch) if joined else Failure((stretch,)))
    return failures


def _gap_ends(arrangement: Arrangement, gap: int, numerator: ExpPoly, limits: Limits) -> tuple[RegionEnd, RegionEnd]:
    interval = arrangement.interval
    left, right = arrangement.gap(gap)

    def outer(end: Fraction | None, closed: bool) -> RegionEnd:
        return RegionEnd(end, closed and end is not None and sign_at(numerator, end, limits) < 0)

    return (
        outer(interval.lower, interval.lower_closed) if left is None else RegionEnd(left, closed=False),
        outer(interval.upper, interval.upper_closed) if right is None else RegionEnd(right, closed=False),
    )


def _joined(failure: Failure, stretch: Stretch) -> Failure:
    """The interval with what follows after a point at which the claim fails as well."""
    *before, last = failure.stretches
    if (last.numerator, last.denominator) == (stretch.numerator, stretch.denominator):
        return Failure((*before, replace(last, upper=stretch.upper)))
    met = RegionEnd(last.upper.value, closed=True)
    return Failure((*before, replace(last, upper=met), replace(stretch, lower=met)))


def failure_intervals(regions: Iterable[FailureRegion], limits: Limits) -> list[FailureInterval]:
    """The maximal intervals of failure, increasing. Where the claim holds with equality at a single point between two
    of them, that point is an end of both and belongs to neither."""

    def enclose(root: Root) -> tuple[Fraction, Fraction]:
        with suppress(Undecided):  # the isolating interval that is known already is right, only wider
            root = refine(root, root.upper * PRECISION, limits)
        return root.lower, root.upper

    intervals = []
    for region in regions:
        # The claim holds at a root, with equality: as an end it does not belong to the interval.
        inner = [EndPoint(*enclose(root), False) for root in region.punctures]
        starts = [end_point(region.lower, enclose), *inner]
        ends = [*inner, end_point(region.upper, enclose)]
        intervals += [FailureInterval(start, end) for start, end in zip(starts, ends, strict=True)]
    return intervals


def end_point(end: RegionEnd, enclose: Callable[[Root], tuple[Fraction, Fraction]]) -> EndPoint:
    """The end of an interval of failure, a root as `enclose` encloses it."""
    match end.value:
        case None:
            return EndPoint(Fraction(0), None, False)
        case Fraction():
            return EndPoint(end.value, end.value, end.closed)
        case Root():
            return EndPoint(*enclose(end.value), end.closed)


# --- Pr >= 1 - beta for a beta in cells: one sign decision for each cell, and exact failure sets ----------------------
#


@frozen
class CellDecision:
    """On `cell`, Pr >= 1 - beta holds exactly where `obligation` >= 0.

    `decision` is about the whole hull of the cell: where it holds there, it holds on the cell.
    """

    cell: FormCell
    obligation: ExpPoly
    decision: SignDecision


@frozen
class HoldsInCells:
    """Pr >= 1 - beta on the whole interval: each cell's decision is Holds; where one is not, because the obligation
    is negative just outside the cell, the `arrangement` of the conditions of beta and of all obligations has no gap
    at whose sample Pr < 1 - beta."""

    interval: Interval
    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


@frozen
class FailsInCells:
    """Pr < 1 - beta at `witness`, the simplest rational that was found, and exactly on the union of the `regions`;
    these are None past a limit, and the `arrangement` also where there is one cell, whose decision says all."""

    interval: Interval
    witness: Fraction
    regions: tuple[FailureRegion, ...] | None
    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


DecisionInCells = HoldsInCells | FailsInCells


def decide_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> DecisionInCells:
    """Whether Pr >= 1 - beta at all eps of the interval. Never wrong; raises LimitReached.

    Theorem. Let beta be continuous on the interval, and P the functions on whose signs beta's cells depend together
    with the obligations of all cells. Between neighboring roots of P the claim holds everywhere or nowhere. If it
    fails at a root or at an end of the interval, then by continuity also next to it, so one sample between any two
    roots decides all.
    """
    cells = tuple([_decided(probability, beta, cell, limits) for cell in beta.cells(interval, limits)])
    if all(isinstance(decision.decision, Holds) for decision in cells):
        return HoldsInCells(interval, cells, None)
    if len(cells) == 1 and isinstance(only := cells[0].decision, Fails):
        return FailsInCells(interval, only.witness, only.regions, cells, None)
    functions = list(beta.conditions())
    functions += [decision.obligation for decision in cells if not decision.obligation.is_zero()]
    try:
        arrangement = arrange(functions, interval, limits)
    except LimitReached:
        witness = _witness(probability, beta, cells, limits)
        if witness is None:
            raise
        return FailsInCells(interval, witness, None, cells, None)
    fails = [_fails_at(probability, beta, sample, limits) for sample in arrangement.samples]
    if not any(fails):
        return HoldsInCells(interval, cells, arrangement)
    witness = _simplest_witness(probability, beta, arrangement, fails, limits)
    regions = [failure.region for failure in failures(probability, beta, arrangement, functions, limits)]
    return FailsInCells(interval, witness, tuple(regions), cells, arrangement)


def failing_regions(
    probability: ClosedForm, beta: PiecewiseForm, interval: Interval, limits: Limits
) -> tuple[FailureRegion, ...]:
    """Where Pr < 1 - beta on the interval. Raises LimitReached."""
    decision = decide_cells(probability.value, beta, interval, limits)
    if not isinstance(decision, FailsInCells):
        return ()
    if decision.regions is None:
        raise LimitReached(None, "the roots of too large functions were to be put in order")
    return decision.regions


def holds_in_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> bool:
    """Whether Pr >= 1 - beta at all eps of the interval: `decide_cells` for those who do not ask where it fails."""
    cells = beta.cells(interval, limits)
    for cell in cells:
        decision = _decided(probability, beta, cell, limits).decision
        if isinstance(decision, Fails):
            if len(cells) == 1 or _fails_at(probability, beta, decision.witness, limits):
                return False
            # Negative just outside the cell, as it seems: that needs a closer look.
            return isinstance(decide_cells(probability, beta, interval, limits), HoldsInCells)
    return True


def _decided(probability: Closed, beta: PiecewiseForm, cell: FormCell, limits: Limits) -> CellDecision:
    obligation, _ = slack(probability, beta, cell.sample)
    return CellDecision(cell, obligation, decide_nonnegative(obligation, cell.hull, limits))


def _fails_at(probability: Closed, beta: PiecewiseForm, eps: Fraction, limits: Limits) -> bool:
    return sign_at(slack(probability, beta, eps)[0], eps, limits) < 0


def _witness(
    probability: Closed, beta: PiecewiseForm, decisions: Sequence[CellDecision], limits: Limits
) -> Fraction | None:
    """An eps at which the claim fails, among those at which a cell's form fails on its hull."""
    result = [decision.witness for cell_decision in decisions if isinstance(decision := cell_decision.decision, Fails)]
    return next((eps for eps in result if _fails_at(probability, beta, eps, limits)), None)


def _simplest_witness(
    probability: Closed, beta: PiecewiseForm, arrangement: Arrangement, fails: Sequence[bool], limits: Limits
) -> Fraction:
    """A rational at which the claim fails, the simplest of those that are found in the gaps where it does."""
    if arrangement.interval.is_point:
        return arrangement.interval.lower

    def is_negative(eps: Fraction, budget: Budget) -> bool:
        return _fails_at(probability, beta, eps, budget.limits)

    result = [
        simplest_in_gap(arrangement.interval, *arrangement.gap(gap), is_negative, Budget(limits))
        for gap, there in enumerate(fails)
        if there
    ]
    return min(result, key=lambda eps: (eps.denominator, eps.numerator))


# --- What was found about one obligation ------------------------------------------------------------------------------
#


@frozen
class Decision:
    """ACCURATE: proved for every value in the intervals. INACCURATE: refuted by the counterexample. UNDECIDED: the
    reason. `bound` is the obligation's bound, measured; None where a limit was reached on the way to it, or it was
    decided without; `long` if it took more than a moment, or may have taken it. `proof` says how each of the intervals
    was decided, None for those that were not; it is kept where that was asked for.
    """

    verdict: Verdict
    bound: ClosedForm | None = None
    counterexample: Counterexample | None = None
    failing: tuple[FailureInterval, ...] = ()
    reason: str | None = None
    proof: tuple[DecisionInCells | None, ...] | None = field(default=None, compare=False, repr=False)
    long: bool = field(default=False, compare=False, repr=False)

    def __bool__(self) -> bool:
        raise TypeError("a decision has one of three verdicts: compare its `verdict`")

    @classmethod
    def undecided(cls, reason: str, bound: ClosedForm | None = None) -> Decision:
        """Nothing was found, and why."""
        return cls(Verdict.UNDECIDED, bound, reason=reason)


#: Why a bound that was only measured has no verdict.
MEASURED = "it was measured, and nothing was asked of it"
