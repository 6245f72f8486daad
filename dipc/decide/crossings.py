"""Find the eps where a claim without closed forms fails: enclose the zeros of its slack, and decide between them.

The slack is Pr - 1 + beta. Its sign at one eps is the sign of an enclosure. Between two eps with different signs the
slack has a zero, which is narrowed to the requested digits. Between neighboring zeros, the claim must be proved to hold
throughout or to fail throughout. An eps at which the slack has the other sign is one more known sign, and the search
starts anew.

**Lemma.** Let f, the slack times beta's denominator, be analytic and at most M on the disk of radius R around c. By
Cauchy's estimate |f'(x) - f'(c)| <= M/R·((1 - q)^-2 - 1) for |x - c| <= q·R, q < 1. Where |f'(c)| is greater, f is
monotone: it has at most one zero, and the claim holds on one side of it and fails on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import dyadic, magnitude, round_down, to_fmpq
from dipc.decide.obligation import Decision, EpsSpan, Obligation, Verdict, eps_span
from dipc.decide.series import SeriesDecision
from dipc.frozen import frozen
from dipc.measure.measure import Bound, BoundMeasurer
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.sign.chart import EpsCut, ExactCut, cuts
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.normal import NormalBeta, NormalSum
from dipc.sign.optimum import order, root_cell
from dipc.sign.piecewise import BetaForm, FormCell, PiecewiseForm, proved_quotient
from dipc.sign.roots import Root, refine_within

#: Usual values of eps: powers of 2 and numbers between them.
USUAL = tuple([Fraction(2) ** (k // 4) * (4 + k % 4) / 4 for k in range(-60, 60)])

#: Values of eps whose signs are computed first; the most values that are added, and the number in a short interval.
GRID = (*USUAL, *[Fraction(2) ** k for k in range(-64, 65, 4) if abs(k) > 15])
_MORE_SAMPLES, _PARTS = 12, 8

#: The first and the greatest precision of a sign, in bits; the halvings before Newton's method, and its steps.
_BITS, _MOST_BITS, _HALVINGS, _STEPS = 64, 4096, 8, 12

#: The relative amount, in parts of beta, by which a claim must fail near 0 and near infinity.
_TINY = Fraction(1, 10**9)
_STRICT = tuple([1 + ExpPoly.term(_TINY, power) for power in range(3)])

#: The number of eps from which a failure is continued to an unbounded end.
_PLACES = 4

#: Digits of a zero: the first, to test whether it is rational, and the most.
_FEW, _MOST_DIGITS = 16, 640

#: The digits that are tried in turn to distinguish two ends.
_DISTINCT = (20, 80, 320)


@frozen(eq=False)
class EnclosedRoot:
    """An eps at which the slack Pr - 1 + beta of an obligation is 0, known as the only zero in [`lower`, `upper`].

    If `rises`, the slack changes from negative to positive at the zero, else from positive to negative. `signs`
    computes the sign of the slack at other eps. `exact` is the zero as a rational number, or None if it is not known to
    be rational.
    """

    lower: Fraction
    upper: Fraction
    rises: bool
    signs: _Signs
    exact: Fraction | None = None

    @property
    def place(self) -> Fraction | EnclosedRoot:
        """The zero as a rational number, or this object if the zero is not known to be rational."""
        return self if self.exact is None else self.exact

    def cell(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return two decimals around the zero: the zero cut off after `digits` digits, and the next decimal.

        The next one is greater by one unit of the last digit. Raises LimitReached.
        """
        while digits <= _MOST_DIGITS:
            zero = self.signs.zero(self.lower, self.upper, digits)
            unit = Fraction(10) ** (magnitude(zero) - digits + 1)
            edge = round_down(zero, digits)
            for low in (edge, edge - unit, edge + unit):
                below, above = self.signs.sign(low), self.signs.sign(low + unit)
                if below == -above == (-1 if self.rises else 1):
                    return low, low + unit
            digits *= 2
        raise LimitReached(None, f"it was not decided whether the claim holds at eps = {float(self.lower):.12g}")


#: A rational eps, an isolated root, an enclosed root, or None for infinity.
Place = Fraction | Root | EnclosedRoot | None


PlaceCut = EpsCut[Place]

#: The part of the line between two cuts.
Stretch = tuple[PlaceCut, PlaceCut]


def failing_stretches(obligation: Obligation, bounds: BoundMeasurer, limits: Limits) -> list[Stretch]:
    """Return the maximal parts of the intervals of `obligation` on which it fails, in the order of the intervals.

    It fails where bound < 1 - beta. Each part is a pair of cuts: its ends, each with the side on which it lies. At an
    end inside an interval, bound and 1 - beta are equal. `bounds` measures events, and `limits` bound the work. Raises
    Undecided if the ends are not found.
    """
    question = _Question(obligation, bounds, limits)
    return [stretch for interval in obligation.intervals for stretch in question.failing(interval)]


def fails_next_to_zero(obligation: Obligation, bounds: BoundMeasurer, limits: Limits) -> bool:
    """Return True only if `obligation` is proved to fail at every eps of its interval (0, r), and in the limit at 0.

    `bounds` measures events, and `limits` bound the work; past a limit the result is False.
    """
    (interval,) = obligation.intervals
    try:
        return _Question(obligation, bounds, limits).fails(interval, _STRICT[:1]).verdict is Verdict.ACCURATE
    except Undecided:
        return False


def compare_cuts(first: PlaceCut, second: PlaceCut, limits: Limits) -> int:
    """Return -1 if the cut `first` is before `second`, 0 if they are equal, and 1 if it is after `second`.

    A cut is right before or right after a number, or at infinity. Raises LimitReached if the numbers cannot be compared
    within `limits`.
    """
    return _compare_places(first.place, second.place, limits) or first.after - second.after


def _compare_places(first: Place, second: Place, limits: Limits) -> int:
    match first, second:
        case None, None:
            return 0
        case None, _:
            return 1
        case _, None:
            return -1
        case Fraction(), Fraction():
            return (first > second) - (first < second)
        case Root(), Fraction():
            return _difference_sign(first, second, limits)
        case Fraction(), Root():
            return -_difference_sign(second, first, limits)
        case Root(), Root():
            return order(first, second, DecisionBudget(limits))
    return 0 if first is second else _compare_crossings(first, second, limits)


def _compare_crossings(first: Place, second: Place, limits: Limits) -> int:
    """Return -1 if `first` < `second`, else 1, for two different numbers of which at least one is only enclosed.

    Raises LimitReached if the enclosures cannot be separated within `limits`.
    """
    near = Fraction(0)
    for digits in _DISTINCT:
        one, other = (_cell(end, digits, limits) for end in (first, second) if end is not None)
        if one[1] <= other[0] or other[1] <= one[0]:
            return -1 if one[1] <= other[0] else 1
        near = one[0]
    raise LimitReached(
        None,
        f"the claim holds on intervals with two ends near eps = {float(near):.12g}, and it was not decided "
        "which of them comes first",
    )


def _difference_sign(root: Root, value: Fraction, limits: Limits) -> int:
    """Return the sign of `root` - `value`; the enclosure of the root is refined within `limits`.

    A root that is not exact is irrational, so the difference is not 0.
    """
    budget = DecisionBudget(limits)
    while not root.is_exact and root.lower < value < root.upper:
        root = refine_within(root, root.width / 16, budget)
    if root.is_exact:
        return (root.lower > value) - (root.lower < value)
    return 1 if root.lower >= value else -1


def span_of(stretch: Stretch, digits: int, limits: Limits) -> EpsSpan:
    """Return `stretch` as an interval of eps with ends to `digits` digits, found within `limits`.

    Two different ends with equal digits get more digits. Raises LimitReached.
    """
    start, end = stretch
    span = eps_span(stretch, lambda root: _cell(root, digits, limits))
    if span.is_point and _compare_places(start.place, end.place, limits):
        return span_of(stretch, 2 * digits, limits)
    return span


def _cell(place: Fraction | Root | EnclosedRoot, digits: int, limits: Limits) -> tuple[Fraction, Fraction]:
    """Return two decimals around `place`, one unit of the last of `digits` digits apart, or an exact number twice.

    Raises LimitReached beyond `limits`.
    """
    match place:
        case Fraction():
            return place, place
        case Root():
            return root_cell(place, digits, limits)
        case EnclosedRoot():
            return place.cell(digits)


class _Signs:
    """The signs of the slack Pr - 1 + beta at individual values of eps, each computed once.

    All these values are in one interval `cell`, on which beta is a quotient of two exponential polynomials. `search`
    computes the Taylor series of the slack.
    """

    def __init__(self, search: SeriesDecision, cell: FormCell, exact: NormalSum | None) -> None:
        self.search = search
        self.cell = cell
        self._exact = exact
        self._known: dict[Fraction, int] = {}

    def series(self, eps: Fraction, length: int) -> Sequence[flint.arb]:
        return coefficients(self.search.slack_series(eps, self.cell), length)

    def sign(self, eps: Fraction) -> int:
        known = self._known.get(eps)
        if known is None:
            known = self._known[eps] = self._computed_sign(eps)
        return known

    def _computed_sign(self, eps: Fraction) -> int:
        bits = _BITS
        while bits <= _MOST_BITS:
            try:
                with precision(bits, 1):
                    (ball,) = self.series(eps, 1)
            except LimitReached:
                return 0
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            bits *= 4 if bits > _BITS else 8
        return 0

    def zero(self, lower: Fraction, upper: Fraction, digits: int) -> Fraction:
        """Return an approximate zero of the slack between `lower` and `upper`, usually to more than `digits` digits.

        The slack must have different signs at `lower` and `upper`. The error of the result is not proved to be so
        small.
        """
        for _ in range(_HALVINGS):
            middle = (lower + upper) / 2
            if self.sign(middle) == self.sign(lower):
                lower = middle
            else:
                upper = middle
        eps, bits = (lower + upper) / 2, 8 * digits + 128
        for _ in range(_STEPS):
            eps = Fraction(round(eps * 2**bits), 2**bits)
            with precision(bits, 2):
                value, slope = self.series(eps, 2)
                if not (slope > 0 or slope < 0):
                    break
                step = dyadic((-value / slope).mid())
            eps += step
            if not 2 * lower - upper < eps < 2 * upper - lower:
                return (lower + upper) / 2
            if abs(step) < lower / 10 ** (digits + 8):
                break
        return eps

    def is_zero(self, eps: Fraction) -> bool:
        return self._exact is not None and self._exact.is_zero_at(eps)

    def is_monotone(self, lower: Fraction, upper: Fraction) -> bool:
        """Return True only if the slack is proved to have at most one zero between `lower` and `upper`."""
        center, reach = (lower + upper) / 2, (upper - lower) / 2
        with precision(_BITS * 8, 2):
            slope = self.series(center, 2)[1]
            radius = DISK * center
            near = flint.arb(to_fmpq(reach / radius))
            most = self.search.majorant(center, self.cell) / flint.arb(to_fmpq(radius)) * ((1 - near) ** -2 - 1)
            return bool(abs(slope) > most)


class _Question:
    def __init__(self, obligation: Obligation, bounds: BoundMeasurer, limits: Limits) -> None:
        self._bound, self._beta = obligation.bound, obligation.beta
        self._bounds, self._limits = bounds, limits

    def _search(self, bound: Bound, beta: BetaForm, interval: Interval) -> SeriesDecision:
        return SeriesDecision(Obligation(bound, beta, (interval,)), self._bounds, self._limits)

    def failing(self, interval: Interval) -> list[Stretch]:
        """Return the maximal intervals within `interval` on which the obligation fails, as pairs of cuts.

        A cut is an end of an interval, with the side on which the interval lies. Raises Undecided.
        """
        search = self._search(self._bound, self._beta, interval)
        slack = search.normal_slack()
        if slack is not None and slack.is_zero:
            return []
        whole = cuts(interval)
        cells = search.plain_beta.cells(interval, self._limits)
        if len(cells) != 1:
            return self._in_pieces([(cell, cell.hull(interval)) for cell in cells])
        signs = _Signs(search, cells[0], slack)
        if search.is_number():
            sign = signs.sign(interval.inner_point)
            if not sign:
                raise OutsideFragment(
                    "the probability and 1 - beta do not depend on eps, and it was not decided which is greater"
                )
            return [whole] if sign < 0 else []
        samples = self._samples(interval)
        for _ in range(_MORE_SAMPLES):
            tried = self._by_signs(interval, signs, samples)
            if not isinstance(tried, Fraction):
                return tried
            if tried in samples:
                break
            samples = sorted({*samples, tried})
        raise OutsideFragment("the eps at which the claim begins to fail were not found")

    def _in_pieces(self, cells: Sequence[tuple[FormCell, Interval]]) -> list[Stretch]:
        """Return the failing intervals of all `cells` as pairs of cuts; on each cell beta is one closed form.

        `cells` has pairs (cell, an interval with rational ends that contains the cell).
        Two failing intervals that meet at the end of a cell are joined, since beta is continuous.
        """
        failing: list[Stretch] = []
        for cell, hull in cells:
            value = proved_quotient(cell.numerator, cell.denominator, [hull])
            if value is None:
                raise OutsideFragment("on one of its pieces beta has a divisor whose sign is not known")
            obligation = Obligation(self._bound, PiecewiseForm(value), (hull,))
            within = [
                (_at_cell_end(start, cell.lower, low=True), _at_cell_end(end, cell.upper, low=False))
                for start, end in _Question(obligation, self._bounds, self._limits).failing(hull)
            ]
            if (
                failing
                and within
                and failing[-1][1] == EpsCut(within[0][0].place, after=True)
                and not within[0][0].after
            ):
                within[0] = failing.pop()[0], within[0][1]
            failing += within
        return failing

    @staticmethod
    def _samples(interval: Interval) -> list[Fraction]:
        inside = {eps for eps in GRID if eps in interval}
        inside.update(end for end in (interval.lower, interval.upper) if end is not None and end in interval)
        if interval.upper is not None and len(inside) < _PARTS and not interval.is_point:
            width = interval.upper - interval.lower
            inside.update(interval.lower + width * step / _PARTS for step in range(1, _PARTS))
        return sorted(inside or {interval.inner_point})

    def _by_signs(self, interval: Interval, signs: _Signs, samples: Sequence[Fraction]) -> list[Stretch] | Fraction:
        """Return the failing intervals within `interval` as pairs of cuts, or one eps to add to `samples`.

        `signs` gives the signs of the slack at `samples`. Between neighboring samples with different signs, a zero of
        the slack is located. Between two zeros, a decision must confirm that the slack keeps its sign. If the decision
        finds an eps with the other sign, that eps is returned.
        """
        known = [(eps, sign) for eps in samples if (sign := signs.sign(eps))]
        if not known:
            raise OutsideFragment("the sign of Pr + beta - 1 was not found at any eps")
        runs: list[list[Fraction]] = [[known[0][0]]]
        crossings: list[EnclosedRoot] = []
        for (left, sign_before), (right, sign) in pairwise(known):
            if sign == sign_before:
                runs[-1].append(right)
                continue
            crossings.append(self._crossing(signs, left, right, rises=sign > 0))
            runs.append([right])
        whole = cuts(interval)
        failing: list[Stretch] = []
        for index, run in enumerate(runs):
            before = crossings[index - 1] if index else None
            after = crossings[index] if index < len(crossings) else None
            sign = signs.sign(run[0])
            low, closed = (interval.lower, interval.lower_closed) if before is None else (before.upper, True)
            high, high_closed = (interval.upper, interval.upper_closed) if after is None else (after.lower, True)
            for decision in self.confirm_sign(Interval(low, high, closed, high_closed), sign, run):
                if decision.counterexample is not None:
                    return decision.counterexample.eps
                if decision.verdict is not Verdict.ACCURATE:
                    raise OutsideFragment(
                        f"the claim is decided at individual values of eps, but not between them: {decision.reason}"
                    )
            if sign < 0:
                start = whole[0] if before is None else EpsCut(before.place, after=True)
                failing.append((start, whole[1] if after is None else EpsCut(after.place, after=False)))
        return failing

    @staticmethod
    def _crossing(signs: _Signs, left: Fraction, right: Fraction, *, rises: bool) -> EnclosedRoot:
        zero = signs.zero(left, right, _FEW)
        reach = zero / 10 ** (_FEW + 1)
        low, high = max(left, zero - reach), min(right, zero + reach)
        ends = signs.sign(low), signs.sign(high)
        if ends[0] != -ends[1] or not ends[0]:
            raise OutsideFragment(f"near eps = {float(zero):.6g} the sign of Pr + beta - 1 was not found")
        if not signs.is_monotone(low, high):
            raise OutsideFragment(f"near eps = {float(zero):.6g} Pr + beta - 1 may be 0 more than once")
        simplest = simplest_between(low, high)
        return EnclosedRoot(low, high, rises, signs, simplest if signs.is_zero(simplest) else None)

    def confirm_sign(self, interval: Interval, sign: int, known: Sequence[Fraction]) -> list[Decision]:
        """Return decisions that are all ACCURATE only if the slack Pr - 1 + beta has one sign on the whole `interval`.

        `sign` is this sign, 1 or -1. `known` lists eps at which the slack is known to have it.
        """
        if interval.is_point:
            return []
        if sign > 0:
            return [self._search(self._bound, self._beta, interval).decide()]
        if not interval.lower and interval.upper is None:
            whole, middle = self.fails(interval, [_STRICT[0]]), known[len(known) // 2]
            if whole.verdict is not Verdict.UNDECIDED:
                return [whole]
            return [
                *self.confirm_sign(Interval(interval.lower, middle, False, True), sign, known[: len(known) // 2 + 1]),
                *self.confirm_sign(Interval(middle, None, True, False), sign, known[len(known) // 2 :]),
            ]
        if interval.lower and interval.upper is not None:
            return [self.fails(interval, [ExpPoly.ONE])]
        # Near an unbounded end the claim must fail strictly, which is not possible near a zero.
        ends = known[:_PLACES] if interval.lower else known[: -1 - _PLACES : -1]
        far, near = Decision.undecided(""), interval
        for end in ends:
            halves = replace(interval, lower=end, lower_closed=True), replace(interval, upper=end, upper_closed=True)
            beyond, near = halves if interval.lower else halves[::-1]
            far = self.fails(beyond, _STRICT[:1] if interval.lower else _STRICT)
            if far.verdict is Verdict.ACCURATE:
                break
        return [far, self.fails(near, [ExpPoly.ONE])]

    def fails(self, interval: Interval, factors: Sequence[ExpPoly]) -> Decision:
        """Decide whether 1 - Pr >= factor·beta on the whole `interval`, for at least one factor in `factors`.

        The factors are 1, or functions of eps that exceed 1; they are tried in order. The result is the decision for
        the first one that is proved, or for the last one. If a factor that exceeds 1 is proved, then 1 - Pr > beta,
        also in the limit at an end of the interval.
        """
        decision = Decision.undecided("")
        for factor in factors:
            decision = self._search(self._bound.opposite, _opposite(self._beta, factor), interval).decide()
            if decision.verdict is Verdict.ACCURATE:
                break
        return decision


def _at_cell_end(cut: PlaceCut, end: ExactCut, *, low: bool) -> PlaceCut:
    """Return `cut`, moved to the irrational `end` of a cell if `cut` is at the rational used in place of `end`.

    Failing intervals are computed on an interval with rational ends that is slightly larger than the cell. `low` tells
    whether `end` is the lower end of the cell. If `end` is rational, `cut` is returned unchanged. Raises
    OutsideFragment for a cut that may be between the end of the cell and the rational number.
    """
    root = end.place
    if not isinstance(root, Root) or root.is_exact or cut.place is None:
        return cut
    if cut.place == (root.lower if low else root.upper):
        return EpsCut(root, after=not low)
    place = cut.place
    near = (place, place) if isinstance(place, Fraction) else (place.lower, place.upper)
    if not (near[0] > root.upper if low else near[1] < root.lower):
        raise OutsideFragment(
            "the claim begins to fail very close to an eps at which beta changes from one expression to another"
        )
    return cut


def _opposite(beta: BetaForm, factor: ExpPoly) -> BetaForm:
    """Return 1 - `factor`·`beta`.

    An obligation about the probability 1 - Pr with this beta says that 1 - Pr >= `factor`·`beta`. Raises
    OutsideFragment for a `beta` that is several closed forms on different intervals.
    """
    if isinstance(beta, NormalBeta):
        return NormalBeta(beta.sum.times(-factor) + NormalSum.collect(ExpPoly.ONE, ()))
    if beta.closed is None:
        raise OutsideFragment("beta has several pieces, and the probability has no closed form to compare them with")
    return PiecewiseForm(1 - beta.closed.value * factor)
