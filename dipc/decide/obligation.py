"""Obligations (a bound is at least its required value) and their decisions: verdict, witness, failure set."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, terms_at
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits, Undecided
from dipc.algebra.numbers import outward
from dipc.algebra.record import Record, json_object
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, Share
from dipc.sign.chart import (
    Arrangement,
    EpsCut,
    ExactStretch,
    SignDecision,
    arrange,
    decide_nonnegative,
    sign_at,
    simplest_in_gap,
)
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.piecewise import BetaForm, FormCell, PiecewiseForm
from dipc.sign.roots import Root, refine

if TYPE_CHECKING:
    from dipc.sign import normal as normals
    from dipc.sign import optimum
else:
    normals = LazyModule("dipc.sign.normal")
    optimum = LazyModule("dipc.sign.optimum")

# --- Results about one obligation: the verdict, the counterexample, and the exact set of eps where it fails -----------


class Verdict(StrEnum):
    """The verdict of a decision: `accurate` has a proof, `inaccurate` a counterexample, `undecided` a reason."""

    ACCURATE = "accurate"
    INACCURATE = "inaccurate"
    UNDECIDED = "undecided"


@frozen
class EndPoint(Record):
    """An end of an interval of eps, between the rationals `low` and `high`; they are equal if the end is exact.

    A `high` of None is infinity; then `low` has no meaning. `included` tells whether the end belongs to the interval.
    `text` is the end as the user typed it, if it is irrational.
    """

    FIELDS = "eps=enclosure:shortened included"

    low: Fraction
    high: Fraction | None
    included: bool
    text: str | None = field(default=None, compare=False)

    @property
    def infinite(self) -> bool:
        return self.high is None

    @property
    def exact(self) -> bool:
        return self.low == self.high

    @property
    def enclosure(self) -> tuple[Fraction, Fraction] | None:
        """The pair (low, high), or None for infinity."""
        return None if self.high is None else (self.low, self.high)


@frozen
class Worst(Record):
    """The eps of a failing interval where the shortfall 1 - beta - Pr is largest, and the shortfall at this eps.

    `eps` and `shortfall` are enclosures (low, high), exact if low and high are equal. An `eps` of None is infinity, and
    a `shortfall` of None is infinite, for a beta that is negative without bound. If `attained` is False, the shortfall
    only approaches the given value, as eps approaches 0, infinity, or an end that is not included.
    """

    FIELDS = "eps:shortened shortfall:shortened attained"

    eps: tuple[Fraction, Fraction] | None
    shortfall: tuple[Fraction, Fraction] | None
    attained: bool


@frozen
class EpsSpan(Record):
    """A maximal interval of eps from `start` to `end` on which a claim holds, fails, or is not vacuous.

    It is within an interval that the claim is about. `worst` is where the claim fails most; it is None for an interval
    on which the claim does not fail, and unless a number of digits was requested.
    """

    FIELDS = "start end worst?"

    start: EndPoint
    end: EndPoint
    worst: Worst | None = None
    #: The JSON object, made once: thousands of rows may share one interval.
    _json: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def is_point(self) -> bool:
        return self.start == self.end

    def as_json(self) -> dict[str, Any]:
        if not self._json:
            self._json.update(json_object(self, self.FIELDS))
        return self._json


#: Irrational ends of intervals, each as the two rationals around it and its text, by each of these rationals.
TypedEnds = Mapping[Fraction, tuple[Fraction, Fraction, str]]


def typed_end(point: EndPoint, ends: TypedEnds) -> EndPoint:
    """Return `point`, or the irrational end that the user typed if `point` is a rational used in its place.

    `ends` maps the rationals just below and above each irrational end to this end.
    """
    known = ends.get(point.low) if point.exact else None
    return point if known is None else EndPoint(known[0], known[1], point.included, known[2])


def with_typed_ends(intervals: Sequence[EpsSpan], ends: TypedEnds) -> tuple[EpsSpan, ...]:
    """Return `intervals` with the irrational `ends` that the user typed in place of the rationals next to them."""
    return tuple(EpsSpan(typed_end(each.start, ends), typed_end(each.end, ends), each.worst) for each in intervals)


@frozen
class Counterexample(Record):
    """An `eps` at which the claim fails, with enclosures (low, high) of Pr and of the required 1 - beta.

    `probability` encloses Pr, and `required` encloses 1 - beta. Guarantee: probability[1] < required[0], so that the
    enclosures alone prove Pr < 1 - beta.
    """

    FIELDS = "eps probability required"

    eps: Fraction
    probability: tuple[Fraction, Fraction]
    required: tuple[Fraction, Fraction]

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """An enclosure of the shortfall 1 - beta - Pr; both of its ends are positive."""
        return self.required[0] - self.probability[1], self.required[1] - self.probability[0]


# --- Obligations: a bound is at least its required value, for all values of one variable in some intervals ------------
#
# Every question, about a row of a table, a class of inputs or every m, leads to finitely many obligations. They are
# plain values: equal ones are decided once, by any executor, and kept in one cache.

__all__ = ["Bound", "Obligation", "Share"]


@frozen
class Obligation:
    """The inequality `bound` >= 1 - `beta` for every value of a variable in `intervals`, a nonempty list.

    The variable is eps, or distance·eps for a claim about every distance. An engine decides an obligation, and returns
    a `Decision`.
    """

    bound: Bound
    beta: BetaForm
    intervals: tuple[Interval, ...]

    def __post_init__(self) -> None:
        if not self.intervals:
            raise ValueError("an obligation needs an interval: without one it would hold trivially")


# --- The exact set of eps where a claim fails: where the slack bound - 1 + beta is negative ---------------------------

#: The relative precision of isolated ends.
PRECISION = Fraction(1, 10**15)


def slack(bound: Closed, beta: PiecewiseForm, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
    """Return the slack `bound` - 1 + `beta` as (numerator, denominator), in closed form.

    Beta may be several closed forms on different intervals. The result is valid at `eps` and on the whole interval
    around it on which beta is one closed form. The denominator is positive at `eps`.
    """
    if beta.closed is not None:
        return fraction_of(bound + beta.closed.value - 1)  # in lowest terms
    above, below = fraction_of(bound)
    numerator, denominator = beta.fraction_at(eps)
    return (above - below) * denominator + numerator * below, below * denominator


#: A maximal failing interval, as the adjacent cells that it consists of: on each, the slack bound - 1 + beta is one
#: closed form.
Failure = tuple[FormCell, ...]


def failures(
    bound: Closed, beta: PiecewiseForm, arrangement: Arrangement, functions: Sequence[ExpPoly], limits: Limits
) -> list[Failure]:
    """Return the maximal intervals on which `bound` < 1 - `beta`, in increasing order, each as a tuple of cells.

    Beta may have different closed forms b on different intervals. `functions` must be all slacks `bound` + b - 1 that
    are not 0 everywhere, and the functions at whose roots beta changes its closed form. `arrangement` has the roots of
    these functions, and a sample between any two of them. Raises LimitReached if the work exceeds `limits`.
    """
    failures: list[Failure] = []
    for gap, sample in enumerate(arrangement.samples):
        numerator, denominator = slack(bound, beta, sample)
        if numerator.is_zero() or sign_at(numerator, sample, limits) >= 0:
            continue
        cell = FormCell(*_gap_ends(arrangement, gap, numerator, limits), sample, numerator, denominator)
        left = arrangement.gap(gap)[0]
        joined = (
            failures
            and left is not None
            and failures[-1][-1].upper.place == left
            and not arrangement.vanishes(functions.index(numerator), gap - 1)
        )
        failures.append(_extended(failures.pop(), cell) if joined else (cell,))
    return failures


def _gap_ends(arrangement: Arrangement, gap: int, numerator: ExpPoly, limits: Limits) -> ExactStretch:
    interval = arrangement.interval
    left, right = arrangement.gap(gap)

    def fails(end: Fraction | None) -> bool:
        return end is not None and end in interval and sign_at(numerator, end, limits) < 0

    return (
        EpsCut(interval.lower, not fails(interval.lower)) if left is None else EpsCut(left, after=True),
        EpsCut(interval.upper, fails(interval.upper)) if right is None else EpsCut(right, after=False),
    )


def _extended(failure: Failure, cell: FormCell) -> Failure:
    """Return the failing interval `failure` together with `cell` as one failing interval.

    `cell` begins where `failure` ends, and the claim also fails at this point. If the last cell of `failure` has the
    same slack as `cell`, that cell is extended; otherwise `cell` is added.
    """
    *before, last = failure
    if (last.numerator, last.denominator) == (cell.numerator, cell.denominator):
        return (*before, replace(last, upper=cell.upper))
    met = last.upper.place
    return (*before, replace(last, upper=EpsCut(met, after=True)), replace(cell, lower=EpsCut(met, after=False)))


def failure_intervals(regions: Iterable[ExactStretch], limits: Limits) -> list[EpsSpan]:
    """Return the failing intervals `regions` in the same order, with their ends enclosed more closely.

    Ends are refined as far as `limits` allow.
    """

    def enclose(root: Root) -> tuple[Fraction, Fraction]:
        with suppress(Undecided):  # the known isolating interval is right, only wider
            root = refine(root, root.upper * PRECISION, limits)
        return root.lower, root.upper

    return [eps_span(region, enclose) for region in regions]


def eps_span(
    region: tuple[EpsCut[Any], EpsCut[Any]],
    enclose: Callable[[Any], tuple[Fraction, Fraction]],
    worst: Worst | None = None,
) -> EpsSpan:
    """Return the interval of eps between the two cuts of `region`; `worst` becomes a field of the result.

    `enclose` returns rationals around an end that is a root.
    """

    def end_point(place: Any, *, included: bool) -> EndPoint:
        if place is None:
            return EndPoint(Fraction(0), None, False)
        return EndPoint(*((place, place) if isinstance(place, Fraction) else enclose(place)), included)

    start, end = region
    return EpsSpan(end_point(start.place, included=not start.after), end_point(end.place, included=end.after), worst)


# --- Pr >= 1 - beta for a beta in cells: a sign decision for each cell, and exact failure sets ------------------------


@frozen
class DecisionInCells:
    """A proved decision of Pr >= 1 - beta on an interval.

    - `slacks` has the closed form of the slack on each cell of beta. On the cell, Pr >= 1 - beta if and only if its
      numerator is >= 0.
    - `signs`, in the same order, tell whether this numerator is >= 0 on a slightly larger interval with rational ends.
    - `witness`: None if the claim holds on the whole interval, else an eps with Pr < 1 - beta, as simple as possible.
    - `failures` are all maximal intervals with Pr < 1 - beta, or None past a limit.

    The sign on a cell may be negative although the claim holds on the interval: then it is negative only just outside
    the cell.
    """

    slacks: tuple[FormCell, ...]
    signs: tuple[SignDecision, ...]
    witness: Fraction | None
    failures: tuple[Failure, ...] | None = ()

    @property
    def regions(self) -> tuple[ExactStretch, ...] | None:
        """The failing intervals as pairs of cuts, or None if finding them all exceeded the limits of the work."""
        return None if self.failures is None else tuple([(cells[0].lower, cells[-1].upper) for cells in self.failures])


def decide_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> DecisionInCells:
    """Decide `probability` >= 1 - `beta` for all eps of `interval`; the result is proved.

    Raises LimitReached if the work exceeds `limits`.

    Theorem. Let beta be continuous on the interval, with one closed form on each of several cells. Let P be the
    functions on whose signs the cells depend, together with the slack `probability` - 1 + `beta` (its numerator) of
    each cell. Between neighboring roots of P the claim holds everywhere or nowhere. If it fails at a root or at an end
    of the interval, then by continuity it also fails next to it. So one sample between any two neighboring roots
    decides all.
    """
    slacks = _slacks(probability, beta, interval, limits)
    signs = tuple([decide_nonnegative(cell.numerator, cell.hull(interval), limits) for cell in slacks])
    outside = [sign.witness for sign in signs if sign.witness is not None]
    if not outside:
        return DecisionInCells(slacks, signs, None)
    if len(slacks) == 1:
        (cell,), (sign,) = slacks, signs
        # A point is its own simplest rational.
        inside = simplest_between(
            interval.lower, interval.upper, lower_closed=interval.is_point, upper_closed=interval.is_point
        )
        failing = [(replace(cell, lower=lower, upper=upper, sample=inside),) for lower, upper in sign.regions]
        return DecisionInCells(slacks, signs, sign.witness, tuple(failing))
    functions = [*beta.conditions(), *(cell.numerator for cell in slacks if not cell.numerator.is_zero())]
    try:
        arrangement = arrange(functions, interval, limits)
    except LimitReached:
        witness = next((eps for eps in outside if _fails_at(probability, beta, eps, limits)), None)
        if witness is None:
            raise
        return DecisionInCells(slacks, signs, witness, None)
    fails = [_fails_at(probability, beta, sample, limits) for sample in arrangement.samples]
    if not any(fails):
        return DecisionInCells(slacks, signs, None)
    witness = _simplest_witness(probability, beta, arrangement, fails, limits)
    every = failures(probability, beta, arrangement, functions, limits)
    return DecisionInCells(slacks, signs, witness, tuple(every))


def _slacks(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> tuple[FormCell, ...]:
    """Return the cells of `beta` in `interval`, each with the closed form of the slack `probability` - 1 + `beta`.

    Raises LimitReached if the work exceeds `limits`.
    """
    pairs = ((cell, *slack(probability, beta, cell.sample)) for cell in beta.cells(interval, limits))
    return tuple([replace(cell, numerator=above, denominator=below) for cell, above, below in pairs])


def failing_regions(
    probability: ClosedForm, beta: PiecewiseForm, intervals: Iterable[Interval], limits: Limits
) -> list[ExactStretch]:
    """Return the regions of each of `intervals` on which `probability` < 1 - `beta`.

    Raises LimitReached if the work exceeds `limits`.
    """
    result: list[ExactStretch] = []
    for interval in intervals:
        regions = decide_cells(probability.value, beta, interval, limits).regions
        if regions is None:
            raise LimitReached(None, "the functions whose roots have to be ordered are too large")
        result += regions
    return result


def holds_in_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> bool:
    """Return True if `probability` >= 1 - `beta` for all eps of `interval`, and False if not.

    Where it fails is not computed. Raises LimitReached if the work exceeds `limits`.
    """
    slacks = _slacks(probability, beta, interval, limits)
    for cell in slacks:
        witness = decide_nonnegative(cell.numerator, cell.hull(interval), limits).witness
        if witness is not None:
            if len(slacks) == 1 or _fails_at(probability, beta, witness, limits):
                return False
            # The slack may be negative just outside the cell only.
            return decide_cells(probability, beta, interval, limits).witness is None
    return True


def _fails_at(probability: Closed, beta: PiecewiseForm, eps: Fraction, limits: Limits) -> bool:
    return sign_at(slack(probability, beta, eps)[0], eps, limits) < 0


def _simplest_witness(
    probability: Closed, beta: PiecewiseForm, arrangement: Arrangement, fails: Sequence[bool], limits: Limits
) -> Fraction:
    if arrangement.interval.is_point:
        return arrangement.interval.lower

    def is_negative(eps: Fraction, budget: DecisionBudget) -> bool:
        return _fails_at(probability, beta, eps, budget.limits)

    result = [
        simplest_in_gap(arrangement.interval, *arrangement.gap(gap), is_negative, DecisionBudget(limits))
        for gap, there in enumerate(fails)
        if there
    ]
    return min(result, key=lambda eps: (eps.denominator, eps.numerator))


# --- The decision of one obligation -----------------------------------------------------------------------------------


@frozen
class Decision:
    """The result of deciding an obligation.

    - `verdict`: ACCURATE means that the inequality is proved on all intervals, INACCURATE that it fails at the
      `counterexample`, and UNDECIDED that neither is known, for a `reason`.
    - `failing`: all maximal intervals where the inequality fails; empty if they are not known.
    - `bound`: the obligation's bound in closed form; None if a limit was reached on the way, or the form was not
      needed.
    - `proof`: the decision on each interval, None for an undecided interval; proofs are only kept on request.
    - `long`: True if making the decision may have taken more than a moment.
    """

    verdict: Verdict
    bound: ClosedForm | None = None
    counterexample: Counterexample | None = None
    failing: tuple[EpsSpan, ...] = ()
    reason: str | None = None
    proof: tuple[DecisionInCells | None, ...] | None = field(default=None, compare=False, repr=False)
    long: bool = field(default=False, compare=False, repr=False)

    def __bool__(self) -> bool:
        raise TypeError("a decision has one of three verdicts and no truth value: compare its `verdict`")

    @classmethod
    def undecided(cls, reason: str, bound: ClosedForm | None = None) -> Decision:
        """Return an UNDECIDED decision with this `reason`.

        `bound` is the closed form of the obligation's bound, if it is known.
        """
        return cls(Verdict.UNDECIDED, bound, reason=reason)


#: What a beta without a closed form has.
NORMAL_FUNCTIONS = "functions of the normal distribution"

#: The reason for a bound that was only measured.
MEASURED = "it was only measured: no claim was made about it"


# --- Failing intervals to the requested digits, with the largest shortfall 1 - beta - Pr ------------------------------


R = TypeVar("R")

#: A generator that yields obligations, receives their decisions, and returns a result. A `Bound` that it yields is only
#: measured: its decision is UNDECIDED, with the bound in closed form.
Asking = Generator[Obligation | Bound, Decision, R]


def failing_intervals(result: Iterable[DecisionInCells], digits: int, limits: Limits) -> tuple[EpsSpan, ...]:
    """Return the exact set of eps where an obligation fails, as its maximal intervals, in increasing order.

    `result` has the decision on each interval of the obligation, whose failing intervals must be known. An irrational
    end is cut off after `digits` significant digits, which gives its `low`; its `high` is greater by one unit of the
    last digit. Each interval has its worst eps and the shortfall at this eps, enclosed to `digits` digits, too. Raises
    LimitReached if the work exceeds `limits`.
    """

    def enclose(root: Root) -> tuple[Fraction, Fraction]:
        return optimum.root_cell(root, digits, limits)

    return tuple(
        eps_span((failure[0].lower, failure[-1].upper), enclose, _worst(failure, digits, limits))
        for decision in result
        for failure in decision.failures or ()
    )


def _worst(failure: Failure, digits: int, limits: Limits) -> Worst:
    samples: dict[int, Fraction] = {}
    candidates: list[optimum.Peak] = []
    for cell in failure:
        ratio = optimum.ReducedQuotient.from_fraction(-cell.numerator, cell.denominator)
        for peak in optimum.peaks(ratio, cell.lower, cell.upper, limits):
            samples[id(peak)] = cell.sample
            candidates.append(peak)
    best = optimum.highest(candidates, digits)
    assert best is not None, "where a claim fails there is a shortfall"
    chosen = next((peak for peak in best.peaks if peak.attained), best.peaks[0])
    shortfall = None if chosen.value is None else optimum.number_cell(chosen.value, digits)
    eps = chosen.place_cell(digits, limits)
    if chosen.place is optimum.Far.EVERYWHERE:
        eps = samples[id(chosen)], samples[id(chosen)]
    return Worst(eps, shortfall, chosen.attained)


# --- From a measured bound to a decision: the sign of bound - 1 + beta on the intervals of eps ------------------------

_ZERO = Fraction(0)

#: Significant digits of the enclosures of a counterexample; more where the enclosures would not be disjoint.
DIGITS = 20

#: The most digits that are written: twice as many exceed the 4300 that Python prints.
MOST_DIGITS = 2560

#: Numbers above e^n or below e^-n, for this n, are not written out: an exact text would fill the memory.
MOST_MAGNITUDE = 200_000


def decide(
    bound: ClosedForm, beta: BetaForm, intervals: Sequence[Interval], limits: Limits, digits: int | None = None
) -> Decision:
    """Decide `bound` >= 1 - `beta` on `intervals`, with the proof.

    ACCURATE comes only with a proof for every eps of the intervals, INACCURATE only with an eps in them that refutes
    the inequality; otherwise, past one of `limits`, the decision is UNDECIDED with the reason. With `digits` the
    failing intervals are known to this many digits, each with its worst eps. Raises LimitReached if the claim fails,
    but the numbers that show it are too long to be written out.
    """
    if not intervals:
        raise ValueError("an obligation needs an interval: without one it would hold trivially")
    proof: list[DecisionInCells | None] = []
    failing: list[EpsSpan] = []
    reasons: list[str] = []
    for interval in intervals:
        try:
            result = decide_cells(bound.value, beta, interval, limits)
        except Undecided as undecided:
            reasons.append(undecided.reason)
            proof.append(None)
            continue
        proof.append(result)
        if result.regions is None:
            reasons.append("finding the eps where the claim fails goes past a limit")
        else:
            failing += failure_intervals(result.regions, limits)
    witness = next((result.witness for result in proof if result is not None and result.witness is not None), None)
    if witness is None:
        verdict = Verdict.UNDECIDED if reasons else Verdict.ACCURATE
        return Decision(verdict, bound, reason=reasons[0] if reasons else None, proof=tuple(proof))
    failure = counterexample(bound.value, _required(beta, witness), witness)
    # With a part of the intervals undecided the failure set is not known exactly, and is not given.
    known = () if reasons else tuple(failing)
    if known and digits is not None:
        with suppress(Undecided):  # past a limit the less precise intervals are kept
            known = failing_intervals([result for result in proof if result is not None], digits, limits)
    return Decision(Verdict.INACCURATE, bound, failure, known, proof=tuple(proof))


def _required(beta: BetaForm, eps: Fraction) -> Closed | tuple[ExpPoly, ExpPoly]:
    """Return 1 - `beta` around `eps`: its closed form or, if `beta` has none, a pair (numerator, denominator).

    The denominator is positive at `eps`.
    """
    if beta.closed is not None:
        return 1 - beta.closed.value
    above, below = beta.fraction_at(eps)
    return below - above, below


def counterexample(probability: Closed, required: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> Counterexample:
    """Return the counterexample at `eps`, where `probability` < `required`, with enclosures that do not overlap.

    `required` is a closed form, or (numerator, denominator) with a denominator that is positive at `eps`. The
    enclosures are decimals. Raises LimitReached if they would be too long to be written out.
    """
    actual, bound = _enclosures(probability, eps), _enclosures(required, eps)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        result = outward(*actual(digits + 2), digits)
        wanted = outward(*bound(digits + 2), digits)
        if result[1] < wanted[0]:
            return Counterexample(eps, result, wanted)
        digits *= 2
    raise _unwritable(eps)


def _enclosures(value: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> Callable[[int], tuple[Fraction, Fraction]]:
    """Return a function that encloses the value of `value` at `eps` to any number of digits.

    For d digits it returns rationals low <= value <= high, whose difference is at most 10^-d times the larger of |low|
    and |high|. Raises LimitReached if the value is too large or too small to be written out.
    """
    if isinstance(value, ExpPoly):
        parts = [value]
    else:
        # Numerator and denominator may be far too large although the quotient is not.
        above, below = (value.numerator, value.denominator) if isinstance(value, Quotient) else value
        shrink = ExpPoly.term(1, 0, -max(q for _, q, _ in below.terms()))
        parts = [above * shrink, below * shrink]
    for poly in parts:
        # The exponent of the largest e^{q·eps} whose coefficient, a polynomial in eps, is not 0 here.
        leading = max((q for _, q, _ in terms_at(poly.terms(), eps)), default=_ZERO)
        if abs(leading) * eps > MOST_MAGNITUDE:
            raise _unwritable(eps)

    def enclosure(digits: int) -> tuple[Fraction, Fraction]:
        (low, high), *rest = [poly.enclosure(eps, digits + 1) for poly in parts]
        corners = [low / over for below in rest for over in below] + [high / over for below in rest for over in below]
        return (min(corners), max(corners)) if corners else (low, high)

    return enclosure


def _unwritable(eps: Fraction) -> LimitReached:
    return LimitReached(
        None, f"the claim fails at eps = {eps}, but the numbers that show it have too many digits to write out"
    )
