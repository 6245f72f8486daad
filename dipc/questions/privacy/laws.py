"""The laws of outputs at pairs of adjacent inputs, one class for each kind of output, and the answers they give.

Each class answers the questions that it can decide exactly, and refuses all others with the reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import islice
from math import ceil
from typing import Generic, TypeVar

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import log_enclosure, outward
from dipc.algebra.record import Record
from dipc.decide.engine import Engine
from dipc.decide.obligation import Counterexample, EndPoint
from dipc.frozen import frozen
from dipc.measure.measure import EnclosedForm, Probability
from dipc.program.program import Program, Progress
from dipc.questions.privacy.adjacency import EveryPair, Pairs
from dipc.questions.privacy.constant import ConstantEnds, LossBounds, constant_of_candidates, of_table, refuted_up_to
from dipc.questions.privacy.loss import (
    IMPOSSIBLE,
    LawTable,
    Loss,
    Moment,
    Renyi,
    at_most,
    couples,
    sign_of,
)
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    OutputsAtPair,
    PrivacyAnswer,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
    Texts,
    counterexample_of,
    power,
)
from dipc.sign.interval import Interval
from dipc.text.diagnostic import DiagnosticError, bad_input

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The greatest budget that is tried, as a number, and the significant digits of a budget computed by bisection.
_MOST_BUDGET, _BISECTED = 2**30, 12


@frozen
class DeltaPiece(Record):
    """One closed form of the least delta, valid from `lower` to `upper`.

    `where` is a pair with a set of outputs that needs this delta; None if delta is 0.
    """

    FIELDS = "from=lower to=upper delta *where"

    lower: EndPoint
    upper: EndPoint
    delta: ClosedForm
    where: OutputsAtPair | None


@frozen
class LeastDelta(PrivacyAnswer):
    """The least delta for a budget, over the adjacent pairs of inputs that the answer covers.

    `budget` and the intervals `eps` are strings. `pieces` are the closed forms of the least delta in the order of eps;
    None if there are too many. `supremum` is an enclosure of its supremum over the intervals. The supremum is at
    `place`: an enclosed eps, or one of the words "0+", "inf" and "everywhere". `attained` is True if the least delta
    attains its supremum, False if it only approaches it, and None if this is not known.

    `where` is a pair of inputs with a set of outputs for which no delta below the supremum is enough; None for the
    supremum 0. If a single eps was given, `at` is (this eps, delta there, delta's closed form or None); otherwise `at`
    is None.
    """

    FIELDS = (
        f"{PrivacyAnswer.HEAD} budget eps pairs least_delta(pieces supremum:ends attained place where at=value_at?)"
    )

    budget: str
    eps: str
    pieces: tuple[DeltaPiece, ...] | None
    supremum: Ends
    attained: bool | None
    place: Ends | str
    where: OutputsAtPair | None
    at: tuple[Fraction, Ends, ClosedForm | None] | None

    @property
    def value_at(self) -> dict[str, object] | None:
        """The given eps with the least delta there, for JSON; None if no eps was given."""
        return None if self.at is None else dict(zip(("eps", "value", "delta"), self.at, strict=True))


@frozen
class Subject:
    """The `program` of a privacy question, with the `engine` that decides obligations.

    In a composition `program` is the first of the programs. `asked` has the first fields of each `PrivacyAnswer`: name
    of the program, adjacency, description of the inputs, number of pairs. `progress` is called with the number of
    inputs or pairs done so far, and their total number.
    """

    program: Program
    asked: tuple[str, str, str, int | None]
    engine: Engine
    progress: Progress | None = None


#: Pairs, with the inputs as strings, and the sum that gives the Rényi divergence of each; None if it is infinite.
Moments = Iterator[tuple[tuple[Texts, Texts], Moment | None]]


class Laws(ABC):
    """The laws of one kind of output at pairs of inputs, with methods that answer privacy questions about them.

    A kind of output has to decide claims. It answers each further question whose method it defines: the largest loss,
    the sums that give Rényi divergences (`moments`), the least delta at one eps (`delta_at`) and on intervals
    (`supremum`). Divergences, least deltas and least budgets are derived from these here. A method that a kind does not
    define raises the error that `refusal` returns.

    Every method raises Undecided if it cannot give an exact answer, and past a limit. It raises DiagnosticError if the
    question is about pairs that cannot be listed. Enclosures of numbers have `digits` significant digits.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def refusal(self, option: str) -> DiagnosticError | Undecided:  # noqa: ARG002
        """Return the error saying why the question of the option `option` has no answer for this kind of output."""
        return OutsideFragment(
            "the loss of real outputs has a density, so its distribution cannot be listed value by value"
        )

    @abstractmethod
    def decide(self, claim: PrivacyClaim) -> Answer:
        """Decide whether `claim` holds at all pairs.

        If another method may still decide the claim, Undecided is returned, not raised.
        """

    def loss(self, eps: Fraction, digits: int) -> Loss:  # noqa: ARG002
        """Return the largest loss log(p/p') over all pairs and outputs at one `eps`, enclosed to `digits` digits."""
        raise self.refusal("--max-loss")

    def moments(self, order: int, eps: Fraction, digits: int) -> Moments:  # noqa: ARG002
        """Yield each pair with the sum Σ p^`order` / p'^(`order`-1) over its outputs; None if it is infinite at `eps`.

        The sum is enclosed at `eps` to `digits` digits. Pairs whose laws are those of an earlier pair may be left out.
        """
        raise self.refusal("--renyi")

    def divergence(self, order: int, eps: Fraction, digits: int) -> Renyi:
        """Return the largest Rényi divergence of `order` >= 2 over all pairs at one `eps`, to `digits` digits.

        If the enclosures of several pairs overlap, the result has the inputs of the first of them.
        """
        worst: tuple[tuple[Texts, Texts], ClosedForm | None] | None = None
        least = highest = _ONE
        value: Ends | None = None
        for places, moment in self.moments(order, eps, digits):
            if moment is None:
                worst = places, None
                break
            form, (low, high) = moment
            if worst is None or low > least:
                worst, least = (places, form), low
            highest = max(highest, high)
        else:
            # The divergence is never negative.
            low, high = log_enclosure(max(least, _ONE), highest, digits)
            value = low / (order - 1), high / (order - 1)
        assert worst is not None, "there is at least one pair"
        places, form = worst
        form = None if form is None else form.restricted_to(self.subject.program.core.only_at)
        return Renyi(*self.subject.asked, order, eps, value, form, *places)

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:  # noqa: ARG002
        """Return the least delta for the budget of `claim` on its intervals, enclosed to `digits` digits."""
        raise self.refusal("--delta-of")

    def least_delta(self, claim: PrivacyClaim, point: Fraction | None, digits: int) -> LeastDelta:
        """Return the least delta for the budget of `claim` on its intervals, and at the eps `point` if it is given.

        If the supremum on the intervals is not known, the result is about `point` alone. Enclosures have `digits`
        digits.
        """
        at_point = () if point is None else (Interval.closed(point, point),)
        try:
            least = self.supremum(claim, digits)
        except OutsideFragment:
            if point is None or claim.intervals == at_point:
                raise
            return self.least_delta(replace(claim, intervals=at_point), point, digits)
        if point is None:
            return least
        if claim.intervals == at_point:
            return replace(least, at=(point, least.supremum, None))
        return replace(least, at=(point, outward(*self.delta_at(claim.budget, point, digits), digits), None))

    def _enclosed_delta(
        self, claim: PrivacyClaim, value: Ends, attained: bool | None, place: Ends | str, where: OutputsAtPair | None
    ) -> LeastDelta:
        about = *self.subject.asked, claim.budget_text, claim.eps_text
        return LeastDelta(*about, None, value, attained, place, where, None)

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:  # noqa: ARG002
        """Return an enclosure, about 10^-`digits` wide, of the least delta for the budget `budget`·eps at one `eps`."""
        raise self.refusal("--delta-of")

    def limit_of_delta(self, eps: Fraction, digits: int) -> Ends:  # noqa: ARG002
        """Enclose the limit of the least delta at `eps` as the budget grows, to `digits` digits.

        The limit is at least the probability, at some pair, of the outputs that are impossible at the adjacent input.
        If this probability is not known, the lower end is 0.
        """
        return _ZERO, _ONE

    def budget(self, delta: Fraction, eps: Fraction, digits: int) -> Ends | None:
        """Enclose the least number b such that the program is (b, `delta`)-private at `eps`; None is infinity.

        `delta` is positive. Budgets below the lower end need more than `delta`, and the budget at the upper end does
        not. Bisection finds each end to `digits` digits, at most 12, since the least delta falls as b grows.
        """
        digits = min(digits, _BISECTED)

        @cache
        def needed(budget: Fraction) -> Ends:
            return self.delta_at(budget / eps, eps, 2 * digits)

        if needed(_ZERO)[1] <= delta:
            return _ZERO, _ZERO
        if self.limit_of_delta(eps, 2 * digits)[0] > delta:
            return None
        most = _ONE
        while needed(most)[1] > delta:
            if most > _MOST_BUDGET:
                raise OutsideFragment(f"the least budget is more than {most}, or infinite")
            most *= 2
        ends: list[Fraction] = []
        for side in (0, 1):
            low, high = (_ZERO, _ZERO) if needed(_ZERO)[side] <= delta else (_ZERO, most)
            while (high - low) * 10**digits > high:
                middle = (low + high) / 2
                low, high = (low, middle) if needed(middle)[side] <= delta else (middle, high)
            ends.append(high if side else low)
        return ends[0], ends[1]

    def constant(self, intervals: tuple[Interval, ...], digits: int | None) -> ConstantEnds:  # noqa: ARG002
        """Return bounds of the least K such that the program is K·eps-private on `intervals`.

        If `digits` is given, the bounds agree to this many significant digits.
        """
        raise OutsideFragment(
            "the privacy constant is known only if the outputs can be listed, or if shifts of the noise bound it"
        )


_Value = TypeVar("_Value")


@frozen
class Excess(Generic[_Value]):
    """The excess Σ_S (p - e^budget·p') of the set S of `answers` at a `pair`, both given by indices.

    `value` is either the excess as a function of eps, or an enclosure of the excess at one eps. In the second case, no
    other set has a greater excess at that eps, and the excess is the delta that the pair needs. `answers` is empty for
    the excess 0.
    """

    value: _Value
    pair: tuple[int, int]
    answers: tuple[int, ...]


class TableLaws(Laws):
    """The laws of outputs that can be listed: a table of their probabilities at the inputs of `pairs`.

    Inputs of a pair and answers are given by their indices in the table.
    """

    def __init__(self, subject: Subject, table: LawTable, pairs: Pairs) -> None:
        super().__init__(subject)
        self.table = table
        self.pairs = pairs
        self._engine, self._limits = subject.engine, subject.engine.limits
        self._values: dict[tuple[int, Fraction, int], Ends] = {}

    @cached_property
    def different(self) -> list[tuple[int, int]]:
        """The pairs without those whose probabilities are the same as those of an earlier pair.

        The probabilities of a pair are couples (probability at the first input, probability at the second), one for
        each answer. Their order does not matter.
        """
        first: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        for pair in self.pairs.ordered:
            first.setdefault(tuple(sorted(self.table.at_pair(pair))), pair)
        return list(first.values())

    @abstractmethod
    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[Probability, Probability]:
        """Return both sides of the inequality of `claim` for the set `answers` at `pair`.

        The sides are the probability of the set at the first input, and the greatest probability that the claim allows.
        """

    @abstractmethod
    def needing(self, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        """Yield pairs, each with a set of answers, that need the greatest delta for the budget of `claim`."""

    @abstractmethod
    def _moment(self, pair: tuple[int, int], order: int, eps: Fraction, digits: int) -> Moment | None:
        """Return the sum Σ p^`order` / p'^(`order`-1) over the answers at `pair`; None if it is infinite at `eps`.

        Its value at `eps` is enclosed to `digits` digits. Raises Undecided if a probability is not known.
        """

    def moments(self, order: int, eps: Fraction, digits: int) -> Moments:
        for pair in self.different:
            yield self.pairs.texts(self.subject.program, pair), self._moment(pair, order, eps, digits)

    def outputs_at(self, pair: tuple[int, int], answers: Iterable[int]) -> OutputsAtPair:
        """Return the set `answers` at `pair`, with inputs and outputs as strings."""
        return OutputsAtPair(*self.pairs.texts(self.subject.program, pair), tuple(map(self.table.texts, answers)))

    def outputs_of(self, excess: Excess[_Value] | None) -> OutputsAtPair | None:
        """Return the set of outputs of `excess` with its pair; None for the excess 0."""
        return self.outputs_at(excess.pair, excess.answers) if excess is not None and excess.answers else None

    def _sides(self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim) -> OutputsAtPair:
        probability, allowed = self.sides(pair, answers, claim)
        return replace(self.outputs_at(pair, answers), probability=probability, allowed=allowed)

    def refuted(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim, failure: Counterexample
    ) -> PrivacyCounterexample:
        """Return the counterexample to `claim` that consists of the `pair` and the set `answers`.

        The set is too likely at the first input of the pair. `failure` is the counterexample to the obligation that the
        allowed probability is at least the probability of the set. So `failure.probability` is the allowed probability.
        """
        return counterexample_of(failure, self._sides(pair, answers, claim), claim)

    def _loss(self, eps: Fraction, value: Ends | None, pair: tuple[int, int], answer: int, text: str) -> Loss:
        where = self.outputs_at(pair, (answer,))
        return Loss(*self.subject.asked, eps, value, where.input, where.adjacent, where.outputs[0], text)

    def compared(self, claim: PrivacyClaim, most: int) -> list[OutputsAtPair]:
        """Return at most `most` sets of outputs at pairs whose probabilities decide `claim`.

        Each comes with its probability at the first input and the greatest probability that the claim allows.
        """
        needed = self.needing(claim)
        if claim.is_pure:
            needed = ((pair, (answer,)) for pair, answer in couples(self.table, self.pairs))
        return [self._sides(pair, answers, claim) for pair, answers in islice(needed, most)]

    def constant(self, intervals: tuple[Interval, ...], digits: int | None) -> ConstantEnds:
        for number in range(len(self.table.forms)):
            self.table.closed(number)  # Raises for a function that is not known, which would be left out.
        listed = list(of_table(self.subject.program, self.table, self.pairs))
        return constant_of_candidates(listed, intervals, self._engine, digits)

    # --- at one eps -----------------------------------------------------------------------------------

    def value(self, number: int, eps: Fraction, bits: int) -> Ends:
        """Return an enclosure, 2^-`bits` wide, of the probability with the index `number` at `eps`.

        Raises Undecided.
        """
        key = number, eps, bits
        if key not in self._values:
            form = self.table.forms[number]
            if isinstance(form, str):
                raise OutsideFragment(form)
            if isinstance(form, EnclosedForm):
                low, high = form.dyadic_enclosure(eps, bits)
                self._values[key] = max(low, _ZERO), min(high, _ONE)
            else:
                self._values[key] = form.enclosure(eps, ceil(bits / 3))
        return self._values[key]

    def needed(self, pair: tuple[int, int], budget: Fraction, eps: Fraction, bits: int) -> Excess[Ends]:
        """Return the excess of the worst set at `pair` for the budget `budget`·eps at `eps`.

        The excess is the delta that the pair needs. The probabilities are enclosed to 2^-`bits`.
        """
        factor = ClosedForm(power(budget)).enclosure(eps, ceil(bits / 3))
        low = high = _ZERO
        answers = []
        for answer, (ours, theirs) in enumerate(self.table.at_pair(pair)):
            (p, more), (q, most) = self.value(ours, eps, bits), self.value(theirs, eps, bits)
            least, greatest = p - factor[1] * most, more - factor[0] * q
            low, high = low + max(_ZERO, least), high + max(_ZERO, greatest)
            if greatest > 0 and (least > 0 or abs(least) < abs(greatest)):
                answers.append(answer)
        return Excess((low, high), pair, tuple(answers))

    def greatest(self, budget: Fraction, eps: Fraction, digits: int) -> Excess[Ends]:
        """Return the excess of the pair that needs the largest delta for the budget `budget`·eps at `eps`.

        The value of the excess encloses the largest delta of all pairs, to about `digits` digits.
        """
        needed = [self.needed(pair, budget, eps, 4 * digits) for pair in self.different]
        best = max(needed, key=lambda each: each.value[0])
        return replace(best, value=(best.value[0], max(each.value[1] for each in needed)))

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:
        return self.greatest(budget, eps, digits).value

    def limit_of_delta(self, eps: Fraction, digits: int) -> Ends:
        low = high = _ZERO
        for pair in self.different:
            numbers = [ours for ours, theirs in self.table.at_pair(pair) if theirs == IMPOSSIBLE]
            ends = [self.value(number, eps, 8 * digits) for number in numbers]
            low = max(low, sum((end for end, _ in ends), _ZERO))
            high = max(high, sum((end for _, end in ends), _ZERO))
        return low, high

    def budget(self, delta: Fraction, eps: Fraction, digits: int) -> Ends | None:
        """Return an enclosure, to `digits` digits, of the least budget for `delta` at `eps`; None is infinity.

        Sets of answers with the greatest ratios p/p' of probabilities give a lower bound. A slightly greater budget is
        an upper bound if it is proved to need no more than `delta`.
        """
        bits, best = 4 * digits + 16, _ZERO
        for pair in self.different:
            known = [
                (self.value(ours, eps, bits)[0], self.value(theirs, eps, bits)[1])
                for ours, theirs in self.table.at_pair(pair)
            ]
            # Infinite ratios come first.
            known.sort(
                key=lambda ends: (ends[0] > 0 and not ends[1], ends[0] / ends[1] if ends[1] else 0), reverse=True
            )
            above, below = _ZERO, _ZERO
            for p, q in known:
                above, below = above + p, below + q
                if above > delta:
                    if not below:
                        return None
                    best = max(best, log_enclosure(ratio := (above - delta) / below, ratio, digits + 4)[0])
        if not best and self.delta_at(_ZERO, eps, digits)[1] <= delta:
            return _ZERO, _ZERO
        for power_of_ten in range(digits, 0, -1):
            more = best + max(best, Fraction(1, 10**digits)) / 10**power_of_ten
            if self.delta_at(more / eps, eps, 2 * digits)[1] <= delta:
                return outward(best, more, digits)
        raise OutsideFragment(
            "delta is too close to the probability of the outputs that are impossible at the adjacent input"
        )


_WITHOUT_END = "the probability of the output at u' falls to 0 as this input moves further in the same direction"

#: The proof of a claim, as reports name it.
OF_SHIFTS = "shifts of the noise, for each exit and each extreme move of the inputs"

#: The advice if no pair is known to be the worst of all real inputs.
ASK_PAIRS = "give inputs that can be enumerated, or the pairs of a file"


class ShiftLaws(Laws):
    """Laws of which only bounds of the loss are known, by shifts of noises; `known` computes the bounds.

    If there are too many pairs to list, or infinitely many, questions that need a list of pairs are refused. `unknown`
    is then the reason why no pair is known to be the worst.
    """

    def __init__(
        self, subject: Subject, pairs: Pairs | EveryPair, known: Callable[[], LossBounds], unknown: str | None
    ) -> None:
        super().__init__(subject)
        self._pairs, self._known, self._unknown = pairs, known, unknown

    @cached_property
    def bounds(self) -> LossBounds:
        """The bounds of the loss, computed once. Raises Undecided."""
        return self._known()

    def decide(self, claim: PrivacyClaim) -> Answer:
        bounds = self.bounds
        if bounds.proved is not None and bounds.proved <= claim.budget:
            return Proved(OF_SHIFTS)
        for candidate in bounds.candidates:
            allowed = candidate.second * power(claim.budget) + claim.delta.value
            decision = self.subject.engine.decide(at_most(candidate.first, allowed, claim.intervals))
            if decision.counterexample is not None:
                places = candidate.input, candidate.adjacent, (candidate.output,)
                sides = OutputsAtPair(*places, ClosedForm(candidate.first), ClosedForm(allowed))
                return counterexample_of(decision.counterexample, sides, claim, candidate.balls)
        reason = bounds.reason
        if bounds.proved is not None:
            proved = replace(claim, budget=bounds.proved).budget_text
            if claim.is_pure:
                ends = refuted_up_to(bounds.proved, bounds.candidates, claim.intervals, self.subject.program.limits)
                low = "and no smaller budget is refuted"
                if ends.refuted_below:
                    low = f"every budget below {replace(claim, budget=ends.refuted_below).budget_text} is refuted"
                    low += f", and {claim.budget_text} is between them"
                reason = f"{proved} is proved, {low}"
            else:
                reason = f"{proved} is proved, and no smaller budget is refuted with this delta"
                if isinstance(self._pairs, EveryPair):
                    reason += f"; with a delta, claims are decided only at listed pairs: {ASK_PAIRS}"
        return Undecided(reason or "no upper bound of the loss is known")

    def constant(self, intervals: tuple[Interval, ...], digits: int | None) -> ConstantEnds:  # noqa: ARG002
        bounds = self.bounds
        ends = refuted_up_to(bounds.proved, bounds.candidates, intervals, self.subject.program.limits)
        if bounds.unbounded is not None and ends.refuted_below is not None:
            return ConstantEnds(None, None, bounds.unbounded, _WITHOUT_END)
        is_exact = bounds.proved == ends.refuted_below
        return replace(ends, proved=bounds.proved, reason=None if is_exact else bounds.reason)

    def loss(self, eps: Fraction, digits: int) -> Loss:  # noqa: ARG002
        """Return the largest loss at `eps`, if some candidate attains the upper bound by shifts of the noises.

        The value is exact, whatever the number of `digits`. Raises DiagnosticError or LimitReached if no candidate
        attains the upper bound.
        """
        with suppress(Undecided):
            proved = self.bounds.proved
            for each in self.bounds.candidates if proved is not None else ():
                excess = each.first - power(proved or Fraction(0)) * each.second
                if sign_of(excess, eps, self.subject.program.limits) >= 0:
                    value = (proved or Fraction(0)) * eps
                    output = {**each.output, **{name: f"{low} to {high}" for name, (low, high) in each.balls.items()}}
                    text = f"log(({ClosedForm(each.first)})/({ClosedForm(each.second)}))"
                    return Loss(*self.subject.asked, eps, (value, value), each.input, each.adjacent, output, text)
        raise self.refusal("--max-loss")

    def budget(self, delta: Fraction, eps: Fraction, digits: int) -> Ends | None:  # noqa: ARG002
        raise self.refusal("--budget-of")

    def refusal(self, option: str) -> DiagnosticError | LimitReached:
        """Return the error saying that the option `option` needs pairs that can be listed.

        The message says whether there are infinitely many pairs, or too many.
        """
        if isinstance(self._pairs, EveryPair) and self._pairs.too_many is not None:
            return self._pairs.too_many
        notes = (
            'give inputs that can be enumerated, such as --inputs "q = -1..1", or the pairs of a file',
            "`--constant` bounds the loss of all real inputs and outputs at once",
        )
        message = f"`{option}` needs a list of pairs, but there are infinitely many: {self._unknown}"
        return bad_input("E1410", message, *notes)
