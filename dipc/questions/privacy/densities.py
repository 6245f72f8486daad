"""The densities of real outputs at pairs of inputs, and the losses, divergences and deltas that follow from them.

**Programs covered.** Wherever the program ends, every real output is a number (an atom), or k·N + c for a noise N of
its own. The density of N is made of pieces, an exponential on each. N may be compared with numbers only. A *cell* is a
box of intervals between neighboring ends of pieces and of supports; there are finitely many. In a cell, with the finite
outputs and atoms given, the joint density of the others is A(eps)·eps^k·e^{eps·(s·y)}, for a function A of eps and
slopes s. All other programs are refused with a reason.

**The loss** log(p/p') in a cell is log(A/A') + eps·(s - s')·y. It is greatest at a corner, or unbounded.

**The divergence** of an order is the sum over cells of ∫ p^order·p'^(1-order), which is a product of one exponential
integral for each output.

**The delta** of a budget K·eps is the excess of the worst set, where p > e^{K·eps}·p'.

1. In a cell with A = A'·e^{q·eps} the worst set is the half-space q + (s - s')·y > K, for every eps. Its probabilities
   are measures of half-spaces.
2. In any other cell where the densities have the same slopes, the worst set is, at each eps, the whole cell or empty.
3. Otherwise q(eps) = log(A/A')/eps varies with eps. At one eps it lies between rationals r and r + w. Then the
   half-space r + (s - s')·y > K is in the worst set. On the rest of the worst set p <= e^{K·eps + w·eps}·p', so the
   rest has an excess of at most w·eps times its probability.
4. On a short interval of eps the same numbers r and r + w serve for the whole interval, and the rest lies between two
   half-spaces. Adding w·eps times the probability between them gives a closed form that is at least the delta.

**All real or int inputs.** Let the program be one exit without comparisons whose outputs are c_i(u) + N_i with
log-concave noises, symmetric ones if several c_i move. An int c_i moves by integers; so do the thresholds of tests, at
which tests may toss a coin. Then a pair that moves every c_i as far as any pair does is the worst:

1. A pair matters only through the moves v_i of the c_i.
2. By log-concavity, likelihood ratios of N_i and N_i + v are monotone, so the best tests are thresholds. Their errors
   fall as |v| grows, so a greater move is the better experiment.
3. This remains so next to independent other experiments (Blackwell). So all divergences grow with each |v_i|.

For L1, several c_i may move a little each. Let all N_i have the same law, up to their scales if a scale may be any
number. Let each input be part of one c_i alone. Let w_i be |v_i| divided by the scale of N_i, and w their sum. Then a
pair in which one input moves alone, the one with the greatest w, is the worst. It suffices that telling N from N + w,
for one noise of the law, is the better experiment than telling all N_i from all N_i + w_i:

1. Move in two steps, w_1 and then w_2.
2. A test of size α that sees only the data of the first step has at most the power f_1(α). A test that sees the data of
   both steps has at most the power f_2(f_1(α)), whatever else is observed.
3. For a single noise, f_2(f_1(α)) is the power for w_1 + w_2, as the best tests of all shifts are the same thresholds.

If outputs depend on the inputs only through comparisons without noise, these cut the inputs into finitely many cells,
each with one law. One pair for any two cells with adjacent inputs then decides for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from itertools import product as combinations
from math import ceil, floor, lcm, prod
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, product, total
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import outward
from dipc.chain.chain import ExitState
from dipc.chain.event import components
from dipc.chain.state import Affine, NoiseVar, same_value
from dipc.claims.claim import the_one_eps
from dipc.frozen import LazyModule, frozen
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Infeasible, cells, solution
from dipc.measure.event import Event, Noise
from dipc.noise.law import Law
from dipc.program.clipped import Clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Input, Move, Neighborhood, Pairs, every_input
from dipc.questions.privacy.boxes import extreme_moves, placed
from dipc.questions.privacy.closed import ClosedLaws
from dipc.questions.privacy.constant import ConstantEnds
from dipc.questions.privacy.laws import Laws, LeastDelta, Moments, Subject
from dipc.questions.privacy.loss import (
    LawTable,
    Loss,
    Numbering,
    log_multiple,
    loss_enclosure,
    moment_of,
    ratio_power,
    reached_exits,
)
from dipc.questions.privacy.moves import AllowedMoves, convex_moves
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    OutputsAtPair,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
    counterexample_of,
    power,
)
from dipc.sign.chart import is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.text.ast import BaseType
from dipc.text.core import Slot, Value, show_value
from dipc.text.program import kinds

if TYPE_CHECKING:
    from dipc.questions.privacy import enclosed
else:
    enclosed = LazyModule("dipc.questions.privacy.enclosed")

_ZERO, _ONE = Fraction(0), Fraction(1)

#: An interval; an end is None if it is infinite.
_Span = tuple[Fraction | None, Fraction | None]

#: Digits of a half-space that is the worst set at one eps, and of half-spaces tried as counterexamples: few digits
#: first, which are easier to read.
_LEFT = 40
_DIGITS_OF_SETS = (6, 12, _LEFT)

#: For enclosures of an exponent on an interval with the end 0 or infinity: the factor between the other end and the
#: farthest sample, significant digits at samples, the number of times an enclosure is widened, and its grid.
_FAR, _FEW, _WIDENED, _FINE = 1024, 12, 4, Fraction(1, 64)

#: The proof for a program over real inputs that depends on them only through comparisons without noise.
OF_CELLS = (
    "the comparisons cut the inputs into cells with one output distribution each, and all pairs of "
    "adjacent cells are compared"
)

#: A placeholder, among values of outputs, for a real output with a density.
_DENSE = "a density"

#: The finite outputs and atoms of an exit, and which outputs have a density.
_Key = tuple[Value | None, ...]


@frozen
class _Axis:
    """A real output y = `factor`·N + `constant`, with one noise N, restricted to the interval `span`.

    The density of y is defined by intervals: `pieces` lists triples (interval, c, slope). On such an interval the
    density is eps·`height`·c·e^{eps·slope·(y - `center`)}; outside of all intervals it is 0. `center` is the value of y
    at the mean of N.
    """

    noise: Noise
    factor: Fraction
    constant: Fraction
    center: Fraction
    pieces: tuple[tuple[_Span, Fraction, Fraction], ...]
    span: _Span

    @property
    def is_whole(self) -> bool:
        return self.span == (None, None)

    @property
    def height(self) -> Closed:
        """The factor 1/Z of the density, where Z is the normalizer of the noise's law."""
        below = ExpPoly.from_terms(self.noise.law.normalizer(self.noise.rate))
        return ExpPoly.ONE if below == ExpPoly.ONE else Quotient(ExpPoly.ONE, below)

    def piece(self, cell: _Span) -> tuple[Fraction, Fraction] | None:
        """Return (c, slope) of the entry of `pieces` whose interval contains the interval `cell`.

        None if the density is 0 on `cell`.
        """
        low, high = cell
        if not (_at_least(low, self.span[0]) and _at_most(high, self.span[1])):
            return None
        for (start, end), c, slope in self.pieces:
            if _at_least(low, start) and _at_most(high, end):
                return c, slope
        return None


def _at_least(low: Fraction | None, bound: Fraction | None) -> bool:
    return bound is None or (low is not None and low >= bound)


def _at_most(high: Fraction | None, bound: Fraction | None) -> bool:
    return bound is None or (high is not None and high <= bound)


@frozen
class _Density:
    """One exit at one input: its real outputs with a density (`axes`), and a factor of this density, `weight`.

    The factor is the probability of the exit's choices and of its conditions on all other noises.
    """

    weight: Closed
    axes: tuple[_Axis, ...]

    def mass(self, program: Program, box: Sequence[_Span], half: Halfspace | None) -> tuple[Closed, Closed]:
        noises: list[Noise] = []
        halves: list[Halfspace] = []
        for position, (axis, span) in enumerate(zip(self.axes, box, strict=True)):
            noises.append(axis.noise)
            for sign, ends in ((1, (span[0], axis.span[0])), (-1, (span[1], axis.span[1]))):
                halves += [
                    Halfspace(((position, sign * axis.factor),), sign * (axis.constant - end))
                    for end in dict.fromkeys(ends)
                    if end is not None
                ]
        if half is not None:
            terms = tuple([(index, c * self.axes[index].factor) for index, c in half.coefficients])
            moved = sum((c * self.axes[index].constant for index, c in half.coefficients), half.constant)
            halves.append(Halfspace(terms, moved))
        return self.weight, program.measurer.measure(Event(tuple(noises), tuple(halves))) if halves else ExpPoly.ONE


@frozen
class _Cell:
    """A box of real outputs y on which the density is one exponential, at each of the two inputs of a pair.

    A density is A·eps^k·e^{eps·(s·y)}, where k is the number of outputs. `ours` is (slopes s, factor A) at the first
    input, where the density is not 0. `theirs` is the same at the second input, or None if the density is 0.
    """

    box: tuple[_Span, ...]
    ours: tuple[tuple[Fraction, ...], Closed]
    theirs: tuple[tuple[Fraction, ...], Closed] | None


@frozen
class OutputSet:
    """A set of outputs: those with the values in `key`, and with real outputs in a region.

    `key` has the values of the finite outputs and of the outputs without noise. Outputs with a density are numbered in
    their order; those with the indices `moving` lie in the `box`, and in the half-space `half` unless it is None. Other
    outputs with a density may have any value.
    """

    key: _Key
    moving: tuple[int, ...]
    box: tuple[_Span, ...]
    half: Halfspace | None

    def contains(self, values: Sequence[Value | None]) -> bool:
        """Return True if the output with these `values` is in the set."""
        dense = [value for value, known in zip(values, self.key, strict=True) if known is _DENSE]
        moving: list[Fraction] = [dense[position] for position in self.moving]  # type: ignore[misc]
        return (
            all(known is _DENSE or same_value(value, known) for value, known in zip(values, self.key, strict=True))
            and all(
                (low is None or value >= low) and (high is None or value <= high)
                for value, (low, high) in zip(moving, self.box, strict=True)
            )
            and (self.half is None or self.half.contains(dict(enumerate(moving))))
        )


@frozen
class AnswerAtPair:
    """An output or a set of outputs, with a function of eps at each input of a pair: `first` and `second`.

    `answer` describes the value of each output. For a set, `outputs`, the functions are its probabilities. For a single
    value of real outputs, the functions are its densities, and `outputs` is None.
    """

    answer: tuple[Value | None, ...]
    first: Closed
    second: Closed
    outputs: OutputSet | None = None


#: The greatest number of intervals of eps, the ratio of a bound to a supremum at which the search ends, and a delta
#: that counts as 0.
_MOST_CELLS, _NEAR, _NOTHING = 300, 1 + Fraction(1, 10**11), Fraction(1, 10**15)

#: The number of intervals, next to 0 or unbounded, without a bound of delta below 1, after which the search ends.
_MOST_UNBOUNDED = 24


class RealOutputs(Laws):
    """The laws of a program with real outputs at pairs of inputs.

    Each question is answered by a table of its own: the table lists the outputs with the greatest ratios of densities,
    or disjoint sets of outputs with their probabilities.
    """

    def __init__(self, subject: Subject, pairs: Pairs) -> None:
        super().__init__(subject)
        self._program, self._pairs = subject.program, pairs
        self._slots = self._program.core.output_slots
        if any(slot.type is BaseType.INT for slot in self._slots):
            raise OutsideFragment("some outputs are real and others int")
        self._known: dict[Input, Mapping[_Key, Sequence[_Density]]] = {}

    # --- what is asked ------------------------------------------------------------------------------------

    def decide(self, claim: PrivacyClaim) -> Answer:
        with suppress(OutsideFragment):
            laws, left = self._excesses(claim)
            if not left:
                return laws.decide(claim)
        return self._in_cells(claim)

    def loss(self, eps: Fraction, digits: int) -> Loss:
        return ClosedLaws(self.subject, *self._table(self._losses)).loss(eps, digits)

    def constant(self, intervals: tuple[Interval, ...], digits: int | None) -> ConstantEnds:
        return ClosedLaws(self.subject, *self._table(self._losses)).constant(intervals, digits)

    def moments(self, order: int, eps: Fraction, digits: int) -> Moments:
        points = self._pairs.inputs
        for i, j in self._pairs.ordered:
            cells = (cell for alike in self._alike(points[i], points[j]) for cell in alike.cells())
            moment = moment_of((_cell_moment(cell, order, eps) for cell in cells), eps, digits)
            yield self._pairs.texts(self._program, (i, j)), moment

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:
        laws, left = self._excesses(PrivacyClaim(budget, ClosedForm.convert(0), (Interval.closed(eps, eps),)))
        low, high = laws.delta_at(budget, eps, digits)
        return low, high + left

    def limit_of_delta(self, eps: Fraction, digits: int) -> Ends:
        low = high = _ZERO
        for i, j in self._pairs.ordered:
            products = [
                density.mass(self._program, cell.box, None)
                for alike in self._alike(self._pairs.inputs[i], self._pairs.inputs[j])
                for cell in alike.cells()
                if cell.theirs is None
                for density in alike.ours
            ]
            ends = _sum_of_products(products).enclosure(eps, 2 * digits)
            low, high = max(low, ends[0]), max(high, ends[1])
        return low, high

    def least_delta(self, claim: PrivacyClaim, point: Fraction | None, digits: int) -> LeastDelta:
        at_one = the_one_eps(claim.intervals)
        try:
            laws, left = self._excesses(claim)
        except OutsideFragment:
            if at_one is not None:
                raise
            if point is not None and not all(each.lower and each.upper for each in claim.intervals):
                # A worst set that changes with eps is known at a single eps.
                return self.least_delta(replace(claim, intervals=(Interval.closed(point, point),)), point, digits)
        else:
            with suppress(LimitReached):
                if not left:
                    return laws.least_delta(claim, point, digits)
            if at_one is not None:
                needed = laws.greatest(claim.budget, at_one, 2 * digits)
                value = outward(needed.value[0], needed.value[1] + left, digits)
                least = self._enclosed_delta(claim, value, True, (at_one, at_one), laws.outputs_of(needed))
                return least if point is None else replace(least, at=(point, value, None))
        return super().least_delta(claim, point, digits)

    def _excesses(
        self, claim: PrivacyClaim, *, above: bool = False, digits: int = _LEFT
    ) -> tuple[ClosedLaws, Fraction]:
        """Return (the laws of disjoint sets of outputs, the greatest excess that these sets leave out at any pair).

        The excess of a set is p - e^budget·p', for its probabilities p and p' at both inputs of a pair. At each eps of
        `claim`, some of the sets together have the greatest excess of all sets of outputs, up to outputs whose excess
        is at most the second entry. This entry is 0 unless the claim is about one eps; then `digits` is the precision
        of the sets.

        With `above`, the claim may be about an interval on which the set with the greatest excess changes with eps. The
        laws then have further answers, impossible at the second input, whose probability is at least the excess of all
        outputs that are left out. So the laws give an upper bound of the least delta. Raises Undecided.
        """
        left = [_ZERO]

        def sets(one: Input, two: Input) -> list[AnswerAtPair]:
            found, rest = self._sets(one, two, claim, above=above, digits=digits)
            left.append(rest)
            return found

        laws = ClosedLaws(self.subject, *self._table(sets))
        return laws, max(left)

    def _in_cells(self, claim: PrivacyClaim) -> Answer:
        """Decide `claim` on short intervals of eps.

        The claim is proved by supersets of the set of outputs that may violate it most, and refuted at one eps. Raises
        Undecided.
        """
        waiting = list(claim.intervals)
        place = _middle(waiting[0])
        for _ in range(_MOST_CELLS):
            if not waiting:
                return Proved(None)
            cell = waiting.pop()
            place = _middle(cell)
            with suppress(Undecided):
                own = replace(claim, intervals=(cell,))
                if not cell.is_point:
                    laws, _ = self._excesses(own, above=True)
                    if cell.lower and cell.upper:
                        if all(enclosed.most_on_cell(laws.table, pair, own) <= 0 for pair in laws.different):
                            continue
                    elif isinstance(answer := laws.decide(own), Proved):
                        continue
                    elif isinstance(answer, PrivacyCounterexample):
                        place = answer.eps
            at_one = replace(claim, intervals=(Interval.closed(place, place),))
            least = self.delta_at(claim.budget, place, _LEFT // 2)[1] if cell.is_point else _ONE
            if cell.is_point and least <= claim.delta.enclosure(place, _LEFT)[0]:
                continue
            for digits in _DIGITS_OF_SETS:
                laws, _ = self._excesses(at_one, digits=digits)
                for pair in laws.different:
                    failure = enclosed.failure_at(laws, pair, at_one, place)
                    if failure is not None:
                        # The sets are defined at this eps alone, so their probabilities are not functions of eps.
                        return counterexample_of(failure[1], laws.outputs_at(pair, failure[0]), at_one)
            if cell.is_point:
                break
            waiting += _halves(cell)
        return Undecided(f"the enclosure of the least delta near eps = {float(place):.3g} is too wide to decide")

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        """Return bounds of the least delta of a `claim`, and an eps at which it is almost as great as the upper bound.

        The intervals of eps are halved, always the one with the greatest upper bound. The halving stops when this bound
        is little more than the greatest delta found at an eps, or at a limit. Deltas at individual values of eps are
        bounded to `digits` digits. Raises Undecided.
        """
        low, place = _ZERO, _middle(claim.intervals[0])
        needs: OutputsAtPair | None = None
        heap = [(-_ONE, number, cell) for number, cell in enumerate(claim.intervals)]
        number = len(heap)

        def needed_at(eps: Fraction) -> tuple[Fraction, Fraction, OutputsAtPair | None]:
            there = self.least_delta(replace(claim, intervals=(Interval.closed(eps, eps),)), None, digits)
            return there.supremum[0], eps, there.where

        tried = [needed_at(end) for cell in claim.intervals for end in (cell.lower, cell.upper) if end and end in cell]
        low, place, needs = max(tried, key=lambda each: each[0], default=(low, place, needs))
        unbounded = 0
        while number < 2 * _MOST_CELLS and unbounded < _MOST_UNBOUNDED and -heap[0][0] > max(low * _NEAR, _NOTHING):
            _, _, cell = heappop(heap)
            found = needed_at(_middle(cell))
            if found[0] > low:
                low, place, needs = found
            for half in _halves(cell):
                own, bound = replace(claim, intervals=(half,)), _ONE
                with suppress(Undecided):
                    laws, _ = self._excesses(own, above=True)
                    if half.lower and half.upper:
                        pure = replace(own, delta=ClosedForm.convert(0))
                        most = max(
                            (enclosed.most_on_cell(laws.table, pair, pure) for pair in laws.different), default=_ZERO
                        )
                    else:
                        most = laws.supremum(own, digits).supremum[1]
                    bound = min(bound, most)
                number += 1
                unbounded += bound == _ONE and not (half.lower and half.upper)
                heappush(heap, (-bound, number, half))
        value = outward(low, max(low, -heap[0][0]), digits)
        return self._enclosed_delta(claim, value, None, (place, place), needs)

    def worst_set(self, one: Input, two: Input, budget: Fraction, eps: Fraction) -> list[AnswerAtPair]:
        """Return disjoint parts of the worst set of outputs for the budget `budget`·`eps`, up to a tiny error.

        The pair of inputs is `one` and `two`. Raises Undecided.
        """
        claim = PrivacyClaim(budget, ClosedForm.convert(0), (Interval.closed(eps, eps),))
        scale = power(budget).enclosure(eps)[1]
        outcomes, _ = self._sets(one, two, claim)
        return [each for each in outcomes if each.first.enclosure(eps)[0] > scale * each.second.enclosure(eps)[1]]

    # --- tables -------------------------------------------------------------------------------------------

    def _table(self, asked: Callable[[Input, Input], Iterable[AnswerAtPair]]) -> tuple[LawTable, Pairs]:
        """Return (a table of probabilities, the pairs of indices of its rows).

        `asked` is called with both inputs of a pair and yields sets of outputs with their probabilities at both. Each
        pair has two rows of the table, one for each input, which it shares with no other pair. Of several pairs with
        equal probabilities only the first is kept.
        """
        numbering = Numbering()
        answers: dict[tuple[tuple[Value | None, ...], int], int] = {}
        seen: set[tuple[tuple[int, int], ...]] = set()
        every: list[tuple[tuple[int, int], dict[int, tuple[int, int]]]] = []
        for i, j in self._pairs.ordered:
            own: dict[int, tuple[int, int]] = {}
            for outcome in asked(self._pairs.inputs[i], self._pairs.inputs[j]):
                nth = 0
                while answers.setdefault((outcome.answer, nth), len(answers)) in own:
                    nth += 1
                own[answers[outcome.answer, nth]] = (
                    numbering.closed_number(outcome.first),
                    numbering.closed_number(outcome.second),
                )
            key = tuple(sorted(own.values()))
            if key not in seen:
                seen.add(key)
                every.append(((i, j), own))
            if len(answers) > self._program.limits.answers:
                raise LimitReached(
                    "answers",
                    f"more than {self._program.limits.answers} sets of outputs have to be examined one by one",
                )
        rows = [
            tuple([own.get(position, (0, 0))[side] for position in range(len(answers))])
            for _, own in every
            for side in (0, 1)
        ]
        points = tuple(self._pairs.inputs[position] for pair, _ in every for position in pair)
        names = tuple(slot.name for slot in self._slots)
        table = LawTable(names, tuple([answer for answer, _ in answers]), tuple(numbering.forms), tuple(rows))
        return table, Pairs(points, tuple((2 * n, 2 * n + 1) for n in range(len(every))), self._pairs.about)

    # --- densities ----------------------------------------------------------------------------------------

    def _densities(self, point: Input) -> Mapping[_Key, Sequence[_Density]]:
        if point not in self._known:
            by_answer: dict[_Key, list[_Density]] = {}
            for reached in reached_exits(self._program, point):
                key, density = self._density(*reached)
                by_answer.setdefault(key, []).append(density)
            self._known[point] = by_answer
        return self._known[point]

    def _density(self, state: ExitState, weight: Closed | None, given: Mapping[int, Fraction]) -> tuple[_Key, _Density]:
        drawn = {noise.id: noise for noise in state.noises}
        key: list[Value | None] = []
        axes: dict[int, _Axis] = {}
        for slot in self._slots:
            value = state.outputs[slot.index]
            form = value.substituted(given) if isinstance(value, Affine) else None
            if form is not None and form.noises:
                noise = _own_noise(slot, form, axes)
                axes[noise] = _axis(drawn[noise], form, given)
                key.append(_DENSE)
            else:
                key.append(value if form is None else form.constant)  # type: ignore[arg-type]
        rest = []
        for item in state.constraints.items:
            form = item.form.substituted(given)
            own = [noise for noise, _ in form.noises if noise in axes]
            if not own:
                rest.append(item.form)
            elif len(form.noises) > 1:
                raise OutsideFragment("the noise of a real output is compared with other noise")
            else:
                axes[own[0]] = _cut(axes[own[0]], form)
        events = [component.event(given) for component in components(state.noises, rest)]
        measures = [self._program.measurer.measure(event) for event in events]
        return tuple(key), _Density(product([*([] if weight is None else [weight]), *measures]), tuple(axes.values()))

    def _alike(self, one: Input, two: Input) -> Iterator[_Alike]:
        """Yield the densities of real outputs at the inputs `one` and `two`, for each value of all other outputs.

        The other outputs are the finite ones and those without noise. Only values that are possible at `one` are
        yielded.
        """
        at_two = self._densities(two)
        for key, ours in self._densities(one).items():
            theirs = at_two.get(key, ())
            every = [density.axes for density in (*ours, *theirs)]
            moving = tuple(
                position
                for position, axes in enumerate(zip(*every, strict=True))
                if len(set(axes)) > 1 or not axes[0].is_whole
            )
            yield _Alike(key, moving, _only(ours, moving), _only(theirs, moving))

    # --- losses, and sets of outputs ----------------------------------------------------------------------

    def _losses(self, one: Input, two: Input) -> Iterator[AnswerAtPair]:
        for alike in self._alike(one, two):
            for cell in alike.cells():
                slopes, factor = cell.ours
                if cell.theirs is None:
                    yield AnswerAtPair(alike.named(list(map(_words, cell.box))), factor, ExpPoly.ZERO)
                    continue
                others, other = cell.theirs
                corner = [_end(span, s - t) for span, s, t in zip(cell.box, slopes, others, strict=True)]
                answer = alike.named([word for _, word in corner])
                if any(place is None for place, _ in corner):
                    yield AnswerAtPair(answer, factor, ExpPoly.ZERO)  # The ratio is unbounded.
                    continue
                places = [place for place, _ in corner if place is not None]
                yield AnswerAtPair(
                    answer, factor * _exponential_at(slopes, places), other * _exponential_at(others, places)
                )

    def _sets(
        self, one: Input, two: Input, claim: PrivacyClaim, *, above: bool = False, digits: int = _LEFT
    ) -> tuple[list[AnswerAtPair], Fraction]:
        """Return (disjoint sets of outputs for the inputs `one` and `two`, the greatest excess that they leave out).

        `claim`, `above`, `digits` and the result are those of `_excesses`.
        """
        result: list[AnswerAtPair] = []
        left = _ZERO
        for alike in self._alike(one, two):
            parts = [self._worst(cell, claim, above=above, digits=digits) for cell in alike.cells()]
            for box, inner, outer, width in [between for _, between in parts if between is not None]:
                if not above:
                    left = max(left, width * claim.intervals[0].lower)
                    continue
                share = ExpPoly.term(width, 1)
                factors = [
                    (sign * share * weight, measure)
                    for sign, half in ((1, outer), (-1, inner))
                    for weight, measure in (density.mass(self._program, box, half) for density in alike.ours)
                ]
                words = ["what is left out", *["any"] * (len(box) - 1)]
                result.append(AnswerAtPair(alike.named(words), _sum_of_products(factors), ExpPoly.ZERO))
            for box, cut, _ in _united([region for region, _ in parts if region is not None]):
                first, second = (
                    _sum_of_products([density.mass(self._program, box, cut) for density in every])
                    for every in (alike.ours, alike.theirs)
                )
                words = list(map(_words, box))
                if cut is not None and len(box) > 1:
                    words[-1] += f", where {_comparison(cut, alike.names(self._slots))}"
                outputs = OutputSet(alike.key, alike.moving, box, cut)
                result.append(AnswerAtPair(alike.named(words), first, second, outputs))
        return result, left

    def _worst(
        self, cell: _Cell, claim: PrivacyClaim, *, above: bool, digits: int
    ) -> tuple[_Region | None, _Between | None]:
        """Return the region of `cell` whose outputs may violate `claim`, and the part of the cell that is left open.

        The outputs in question have p > e^budget·p', for the densities p and p' at both inputs. At each eps, this holds
        on the whole region or nowhere in it. Either result is None if it is empty. `above` and `digits` are those of
        `_excesses`. Raises OutsideFragment if the outputs in question change with eps.
        """
        slopes, factor = cell.ours
        if cell.theirs is None:
            return (cell.box, None, True), None
        others, other = cell.theirs
        turned = [s - t for s, t in zip(slopes, others, strict=True)]
        terms = tuple([(index, c) for index, c in enumerate(turned) if c])
        more = log_multiple(factor, other)
        if more is not None:
            rest = more - claim.budget
            if not any(turned):
                return (cell.box, None, True) if rest > 0 else None, None
            return _region(cell.box, Halfspace(terms, rest)), None
        if not any(turned):
            return (cell.box, None, False), None
        scale = power(claim.budget)

        def is_never_negative(turn: int, sign: int) -> bool:
            """Return True if `sign`·(p - e^budget·p') >= 0 is proved for every eps at one corner of the box of outputs.

            It is the corner with the least ratio p/p' of the densities if `turn` is -1, with the greatest if `turn` is
            1.
            """
            corner = [_end(span, turn * c)[0] for span, c in zip(cell.box, turned, strict=True)]
            if any(place is None for place in corner):
                return False
            places = [place for place in corner if place is not None]
            excess = factor * _exponential_at(slopes, places) - scale * other * _exponential_at(others, places)
            return is_nowhere_negative(sign * excess, claim.intervals, self._program.limits)

        if is_never_negative(-1, 1):
            return (cell.box, None, False), None
        if is_never_negative(1, -1):
            return None, None
        ends = self._exponents(factor, other, claim.intervals, above=above, digits=digits)
        if ends is None:
            raise OutsideFragment(
                "the worst set of outputs changes with eps, because finite outputs use up some of the budget: "
                "ask at one eps"
            )
        inner, outer = (Halfspace(terms, end - claim.budget) for end in ends)
        return _region(cell.box, inner), (cell.box, inner, outer, ends[1] - ends[0])

    def _exponents(
        self, one: Closed, other: Closed, intervals: Sequence[Interval], *, above: bool, digits: int
    ) -> Ends | None:
        """Return a lower and an upper bound of log(`one`/`other`)/eps on `intervals`; None if none are known.

        `one` and `other` are functions of eps. At a single eps the bounds are always computed, to `digits` digits. On
        one interval with more than one eps, they are computed only with `above`; otherwise the result is None. It is
        also None for several intervals. Raises Undecided.
        """
        (interval, *more) = intervals
        if interval.is_point and not more:
            low, high = loss_enclosure(one, other, interval.lower, digits)
            return low / interval.lower, high / interval.lower
        if more or not above:
            return None
        if interval.lower and interval.upper is not None:
            return enclosed.exponents_on(one, other, (interval.lower, interval.upper))
        ends = (interval.lower, interval.upper)
        far = [
            end or (ends[1] or _ONE) / _FAR if not place else end or (ends[0] or _ONE) * _FAR
            for place, end in enumerate(ends)
        ]
        values = [loss_enclosure(one, other, eps, _FEW)[0] / eps for eps in (*far, sum(far, _ZERO) / 2)]
        low, high = min(values), max(values)
        for _ in range(_WIDENED):
            spread = max((high - low) / 8, _FINE)
            low, high = floor((low - spread) / _FINE) * _FINE, ceil((high + spread) / _FINE) * _FINE
            differences = (one - power(low) * other, power(high) * other - one)
            if all(is_nowhere_negative(difference, intervals, self._program.limits) for difference in differences):
                return low, high
        return None


#: A box of outputs, behind a half-space of them, and whether it is in the worst set for every eps.
_Region = tuple[tuple[_Span, ...], Halfspace | None, bool]

#: A box of outputs whose worst set lies between two half-spaces, and the w for which the excess between them is at most
#: w·eps times their probability.
_Between = tuple[tuple[_Span, ...], Halfspace, Halfspace, Fraction]


#: Degrees, in the unit of all exponents, beyond which quotients are not reduced to lowest terms.
_MOST_DEGREE = 10_000


def _sum_of_products(products: Sequence[tuple[Closed, Closed]]) -> Closed:
    """Return the sum of the `products`, each of two functions.

    The denominator of the result is positive for every eps > 0. If the exponents have a large common denominator, as in
    a worst set at one eps, the result is not reduced to lowest terms.
    """
    parts = [fraction_of(factor) for pair in products for factor in pair]
    unit = lcm(*(each.unit for part in parts for each in part))
    if all(denominator == ExpPoly.ONE for _, denominator in parts) or all(
        each.span * unit <= _MOST_DEGREE for part in parts for each in part
    ):
        return total([one * two for one, two in products])
    numerator, denominator = ExpPoly.ZERO, ExpPoly.ONE
    for one, two in products:
        (above, below), (more, under) = fraction_of(one), fraction_of(two)
        divisor = below * under
        if divisor == denominator:
            numerator = numerator + above * more
        else:
            numerator, denominator = numerator * divisor + above * more * denominator, denominator * divisor
    return Quotient.coprime(numerator, denominator)


def _region(box: tuple[_Span, ...], half: Halfspace) -> _Region | None:
    """Return the part of `box` in the half-space `half` as a region that may violate the claim at every eps.

    The result is None if the part is empty. If `half` is about one output, its edge becomes an end of that output's
    interval, so that the region is a box without a half-space.
    """
    (position, c), *others = half.coefficients
    if others:
        return box, half, True
    end = -half.constant / c
    span = _intersection(box[position], (end, None) if c > 0 else (None, end))
    return None if span is None else ((*box[:position], span, *box[position + 1 :]), None, True)


def _united(regions: Sequence[_Region]) -> Iterator[_Region]:
    """Yield the `regions`, with neighboring intervals of a single output united.

    Two intervals are united only if both may violate the claim at every eps, and neither is cut by a half-space.
    """
    last: _Region | None = None
    for box, half, certain in regions:
        if last is not None and half is None and last[1] is None and certain and last[2] and len(box) == 1:
            ((start, meeting),) = last[0]
            if meeting is not None and meeting == box[0][0]:
                last = ((start, box[0][1]),), None, True
                continue
        if last is not None:
            yield last
        last = box, half, certain
    if last is not None:
        yield last


@frozen
class _Alike:
    """The densities of real outputs at two inputs, for given values of all other outputs.

    `ours` has the densities in the exits at the first input, `theirs` those at the second. The other outputs are the
    finite ones and those without noise; `key` has their values. Among the outputs with a density, `moving` are the
    indices of those whose law differs between the inputs. All others have the same law at both inputs, and are
    independent of the `moving` ones.
    """

    key: _Key
    moving: tuple[int, ...]
    ours: tuple[_Density, ...]
    theirs: tuple[_Density, ...]

    def cells(self) -> Iterator[_Cell]:
        every = [density.axes for density in (*self.ours, *self.theirs)]
        for box in combinations(*[_spans(axes) for axes in zip(*every, strict=True)]):
            first = _exponential(self.ours, box)
            if first is not None:
                yield _Cell(box, first, _exponential(self.theirs, box))

    def named(self, words: Sequence[str]) -> tuple[Value | None, ...]:
        """Return the values of all outputs as an answer: for outputs with a density, words in place of a value.

        `words` has the words for the outputs whose law differs between the two inputs; the others are "any".
        """
        said = dict(zip(self.moving, words, strict=True))
        dense = iter(range(len(self.key)))
        return tuple([said.get(next(dense), "any") if value is _DENSE else value for value in self.key])

    def names(self, slots: Sequence[Slot]) -> list[str]:
        dense = [slot.name for slot, value in zip(slots, self.key, strict=True) if value is _DENSE]
        return [dense[position] for position in self.moving]


# --- outputs with a density -----------------------------------------------------------------------------------


def _own_noise(slot: Slot, form: Affine, axes: Mapping[int, _Axis]) -> int:
    (noise, _), *others = form.noises
    if others:
        raise OutsideFragment(f"`{slot.name}` is a sum of several noises")
    if noise in axes:
        raise OutsideFragment(f"`{slot.name}` shares its noise with another output")
    return noise


def _axis(drawn: NoiseVar, form: Affine, given: Mapping[int, Fraction]) -> _Axis:
    """Return the output `form` with its density: that of its only noise `drawn`, scaled and moved.

    `given` has the inputs by slot. Raises OutsideFragment for a law whose density is not one exponential on each of
    several intervals.
    """
    ((_, factor),) = form.noises
    mean = drawn.mean.evaluate(given)
    center = factor * mean + form.constant
    pieces = []
    for piece in drawn.law.pieces(drawn.rate):
        if len(piece.terms) != 1 or piece.terms[0][1]:
            raise OutsideFragment(f"the density of {drawn.law.name} noise is not an exponential on each of its pieces")
        ((c, _, slope),) = piece.terms
        ends = [None if end is None else factor * end + center for end in (piece.lower, piece.upper)]
        low, high = ends if factor > 0 else ends[::-1]
        pieces.append(((low, high), c / abs(factor), slope / factor))
    noise = Noise(drawn.law, drawn.rate, mean)
    return _Axis(noise, factor, form.constant, center, tuple(pieces), (None, None))


def _cut(axis: _Axis, form: Affine) -> _Axis:
    """Return the output `axis` restricted to the values at which `form` >= 0.

    `form` is a condition on the noise of this output alone.
    """
    ((_, c),) = form.noises
    end = axis.constant - axis.factor * form.constant / c
    span = _intersection(axis.span, (end, None) if c / axis.factor > 0 else (None, end))
    return replace(axis, span=(end, end) if span is None else span)


def _only(every: Sequence[_Density], kept: Sequence[int]) -> tuple[_Density, ...]:
    return tuple([replace(density, axes=tuple([density.axes[position] for position in kept])) for density in every])


def _intersection(span: _Span, other: _Span) -> _Span | None:
    lows = [end for end in (span[0], other[0]) if end is not None]
    highs = [end for end in (span[1], other[1]) if end is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low >= high else (low, high)


def _spans(axes: Iterable[_Axis]) -> list[_Span]:
    """Return intervals of one output on each of which every density of `axes` is one exponential.

    `axes` are densities of this output in several exits. The ends are those of their `pieces` and `span`.
    """
    spans = [span for axis in axes for span in (axis.span, *(span for span, _, _ in axis.pieces))]
    ends = {end for span in spans for end in span if end is not None}
    return list(pairwise([None, *sorted(ends), None]))


def _exponential(every: Sequence[_Density], box: Sequence[_Span]) -> tuple[tuple[Fraction, ...], Closed] | None:
    """Return (slopes s, factor A) such that the densities `every` add up to A·eps^k·e^{eps·(s·y)} for y in `box`.

    Here y has the values of the k real outputs. The result is None if the sum is 0. Raises OutsideFragment if the sum
    has different exponentials.
    """
    by_slopes: dict[tuple[Fraction, ...], list[Closed]] = {}
    for density in every:
        own = [axis.piece(span) for axis, span in zip(density.axes, box, strict=True)]
        pieces = [piece for piece in own if piece is not None]
        if len(pieces) < len(own) or not density.weight:
            continue
        known = tuple([slope for _, slope in pieces])
        height = product([ExpPoly.constant(prod(c for c, _ in pieces)), *(axis.height for axis in density.axes)])
        centered = -sum((s * axis.center for s, axis in zip(known, density.axes, strict=True)), _ZERO)
        by_slopes.setdefault(known, []).append(density.weight * height * ExpPoly.term(1, 0, centered))
    if len(by_slopes) > 1:
        raise OutsideFragment("a real output has a density that is a sum of several exponentials")
    for slopes, factors in by_slopes.items():
        return slopes, total(factors)
    return None


def _exponential_at(slopes: Sequence[Fraction], places: Sequence[Fraction]) -> ExpPoly:
    return ExpPoly.term(1, 0, sum((s * y for s, y in zip(slopes, places, strict=True)), _ZERO))


def _end(span: _Span, turned: Fraction) -> tuple[Fraction | None, str]:
    """Return the point y of the interval `span` at which `turned`·y is greatest, as (number, text of the number).

    If there is no greatest value, the number is None, and the text describes the interval. For `turned` 0, the number
    is an end of the interval, or None without an end, and the text describes the interval, too.
    """
    low, high = span
    if not turned:
        return (high if low is None else low), _words(span)
    end = high if turned > 0 else low
    return end, _words(span) if end is None else show_value(end)


def _words(span: _Span) -> str:
    low, high = span
    if low is None:
        return "any" if high is None else f"{high} or less"
    return f"{low} or more" if high is None else f"{low} to {high}"


def _comparison(half: Halfspace, names: Sequence[str]) -> str:
    (_, first), *_ = half.coefficients
    terms = [(c / first, names[position]) for position, c in half.coefficients]
    form = " + ".join(name if c == 1 else f"{c}*{name}" for c, name in terms).replace("+ -1*", "- ")
    return f"{form.replace('+ -', '- ')} {'>=' if first > 0 else '<='} {-half.constant / first}"


def _cell_moment(cell: _Cell, order: int, eps: Fraction) -> ClosedForm | None:
    """Return the integral of p^`order`·p'^(1-`order`) over `cell`, where p and p' are the densities at the two inputs.

    The result is None if the integral is infinite at `eps`. Raises OutsideFragment.
    """
    slopes, factor = cell.ours
    if cell.theirs is None:
        return None
    others, other = cell.theirs
    ratio = ratio_power(factor, other, order, eps)
    if ratio is None or (ratio.value.is_zero() and ratio.only_at is not None):
        return ratio
    factors: list[Closed] = [ratio.value]
    for (low, high), s, t in zip(cell.box, slopes, others, strict=True):
        slope = order * s - (order - 1) * t
        if (high is None and slope >= 0) or (low is None and slope <= 0):
            return None
        if not slope:
            assert low is not None and high is not None  # noqa: PT018 - one thing
            factors.append(ExpPoly.term(high - low, 1))
            continue
        upper = ExpPoly.ZERO if high is None else ExpPoly.term(1 / slope, 0, slope * high)
        lower = ExpPoly.ZERO if low is None else ExpPoly.term(1 / slope, 0, slope * low)
        factors.append(upper - lower)
    return ClosedForm(product(factors), ratio.only_at)


def _middle(cell: Interval) -> Fraction:
    """Return an eps that halves the interval `cell`; without an upper end, twice the lower end, or 1 if that is 0."""
    if cell.upper is None:
        return 2 * cell.lower or _ONE
    return (cell.lower + cell.upper) / 2


def _halves(cell: Interval) -> tuple[Interval, Interval]:
    middle = _middle(cell)
    return replace(cell, upper=middle, upper_closed=True), replace(cell, lower=middle, lower_closed=True)


# --- all real inputs --------------------------------------------------------------------------------------------


def worst_pairs(program: Program, within: Neighborhood, box: Clipped | None = None) -> Pairs:
    """Return pairs of real or int inputs of `program` adjacent by `within`, including the worst of all pairs.

    The largest loss, divergence and delta over all pairs are attained at these pairs. Each pair is returned in both
    orders. The inputs of a program that clips them are in a `box`. Raises OutsideFragment if no list of pairs is known
    to include the worst pair, and LimitReached past a limit.
    """
    program = program if box is None else box.program
    core = program.core
    refused = OutsideFragment(
        f"no pair of {kinds(core.input_slots).replace(' and ', ' or ')} inputs is known to be the worst"
    )
    if not core.inputs or not all(slot.is_symbolic for slot in core.input_slots):
        raise refused
    whole = frozenset(slot for slot in core.inputs if core.slots[slot].type is BaseType.INT)
    states = program.exits({}).states
    if box is None and not whole:
        noisy = [value for state in states for value in state.outputs.values() if isinstance(value, Affine)]
        noisy += [item.form for state in states for item in state.constraints.items]
        noisy += [noise.mean for state in states for noise in state.noises]
        if not any(form.inputs for form in noisy):
            return _pairs_of_cells(states, program, within)
    state = states[0]
    unbounded = within.distance is Distance.HAMMING and program.allowed is None and box is None
    if len(states) > 1 or state.guards.items or state.constraints.items or unbounded:
        raise refused
    drawn = {noise.id: noise for noise in state.noises}
    centers: list[Affine] = []
    laws: list[tuple[Law, Fraction]] = []
    used: set[int] = set()
    for slot in core.outputs:
        value = state.outputs[slot]
        if not isinstance(value, Affine):
            continue
        if len(value.noises) != 1 or value.noises[0][0] in used:
            raise refused
        ((noise, factor),) = value.noises
        used.add(noise)
        law = drawn[noise].law
        if not law.log_concave or (law.whole and abs(factor) != 1):
            raise refused
        centers.append(replace(value, noises=()) + drawn[noise].mean.scaled(factor))
        laws.append((law.times(abs(factor)), drawn[noise].rate / abs(factor)))
    moving = [law for center, (law, _) in zip(centers, laws, strict=True) if center.inputs]
    if len(moving) > 1 and not all(law.symmetric for law in moving):
        raise refused
    origin = (_ZERO,) * len(core.inputs)
    place = {slot: position for position, slot in enumerate(core.inputs)}
    forms = [{place[slot]: c for slot, c in center.inputs} for center in centers]
    pair: tuple[Input, Input] | None = None
    # All pairs that differ by the same move have the same laws, up to a translation of the outputs.
    if box is not None:
        move = _farthest(extreme_moves([], forms, box, within), forms)
        pair = None if move is None else placed(box.ranges, origin, [move[at] for at in range(len(origin))])
    elif program.allowed is not None:
        allowed = AllowedMoves(program, within)
        move = _farthest(allowed.extreme or (), forms)
        pair = None if move is None else allowed.exactly_making(move)
    elif move := _greatest_move(forms, laws, within, frozenset(place[slot] for slot in whole)):
        pair = origin, tuple([move.get(at, _ZERO) for at in range(len(origin))])
    if pair is None:
        raise refused
    return Pairs(pair, ((0, 1), (1, 0)), every_input(core))


def _farthest(moves: Sequence[Move], forms: Sequence[Mapping[int, Fraction]]) -> Move | None:
    """Return the first of the `moves` that changes every one of `forms` by as much as any move does.

    None if no single move is the greatest for all forms. The coefficients of forms are given by indices of inputs.
    """
    changes = [
        (move, [abs(sum((c * move[at] for at, c in form.items()), _ZERO)) for form in forms])
        for move in moves
        if any(move.values())
    ]
    farthest = [max(each) for each in zip(*(far for _, far in changes), strict=True)]
    return next((move for move, far in changes if far == farthest), None)


def _pairs_of_cells(states: Sequence[ExitState], program: Program, within: Neighborhood) -> Pairs:
    """Return pairs of inputs adjacent by `within`, including one for every two sets of inputs with different laws.

    The inputs of a set have the same results of all comparisons of inputs in the exits `states` of `program`. For every
    two sets there is one pair in both orders; two sets without adjacent inputs are left out. Raises LimitReached past a
    limit, and OutsideFragment if all laws are the same or moves are unbounded.
    """
    count, place = len(program.core.inputs), {slot: n for n, slot in enumerate(program.core.inputs)}
    guards = dict.fromkeys(item.guard for state in states for item in state.guards.items)

    def by_place(half: Halfspace) -> Halfspace:
        return replace(half, coefficients=tuple(sorted((place[slot], c) for slot, c in half.coefficients)))

    every = [cell for cell, _ in cells(list(map(by_place, guards)), program.limits.cells)]
    if program.allowed is not None:
        allowed = [[by_place(guard.guard) for guard in guards] for guards in program.allowed.sets({})]
        joined = [(*cell, *guards) for cell in every for guards in allowed]
        every = [cell for cell in joined if not isinstance(solution(cell), Infeasible)]
    moves = list(convex_moves(within, range(count, 2 * count)))
    ordered: dict[tuple[Input, Input], None] = {}
    for one, two in combinations(every, repeat=2):
        moved = [replace(h, coefficients=(*h.coefficients, *((n + count, c) for n, c in h.coefficients))) for h in two]
        for ball in moves:
            if one is two or isinstance(point := solution([*one, *moved, *ball], range(2 * count)), Infeasible):
                continue
            here = tuple([point[n] for n in range(count)])
            ordered[here, tuple([point[n] + point[n + count] for n in range(count)])] = None
            break
    if not ordered and program.allowed is not None:
        raise OutsideFragment(
            "no two adjacent inputs that satisfy `requires` give the outputs different laws, so no pair can be listed"
        )
    if not ordered:  # one cell: all laws are the same
        still, apart = (_ZERO,) * count, tuple([within.radius if not n else _ZERO for n in range(count)])
        return Pairs.from_inputs([(still, apart), (apart, still)], proof=OF_CELLS)
    return Pairs.from_inputs(ordered, proof=OF_CELLS)


def _greatest_move(
    centers: Sequence[Mapping[int, Fraction]],
    laws: Sequence[tuple[Law, Fraction]],
    within: Neighborhood,
    whole: Set[int],
) -> dict[int, Fraction] | None:
    """Return a move to an input adjacent by `within` that is the worst of all moves; None if none is known to be.

    Keys of the move and of `centers` are indices of inputs; `whole` has the indices of inputs that move by integers. No
    other move changes any of `centers` more. For L1 the move changes one center only, and no other move changes a
    center more in proportion to its noise. `laws` has the law and rate of the noise around each of `centers`.
    """
    moved = [center for center in centers if center]
    if within.distance is Distance.L1:
        if whole and within.radius.denominator != 1:
            return None
        apart = {
            slot: abs(c) * rate for center, (_, rate) in zip(centers, laws, strict=True) for slot, c in center.items()
        }
        moving = [pair for pair, center in zip(laws, centers, strict=True) if center]
        kinds = {law for law, _ in moving}
        one_law = len(set(moving)) == 1 or (len(kinds) == 1 and all(law.scales for law in kinds))
        alike = one_law and len(apart) == sum(map(len, moved))
        if len(moved) > 1 and not alike:
            return None
        return dict.fromkeys([max(apart, key=lambda slot: apart[slot])], within.radius) if apart else {}
    move: dict[int, Fraction] = {}
    for center in moved:
        own = {
            slot: (1 if c > 0 else -1) * (Fraction(floor(within.radius)) if slot in whole else within.radius)
            for slot, c in center.items()
        }
        agree = {move[slot] == own[slot] for slot in own if slot in move}
        if len(agree) > 1:
            return None
        move |= {slot: -end if agree == {False} else end for slot, end in own.items()}
    return move
