"""The certificate of a verdict about privacy (see FORMAT.md in this folder)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from typing import Any, Generic, TypeVar

from dipc.algebra.exppoly import Closed, ClosedForm, total
from dipc.algebra.limits import LimitReached, Undecided
from dipc.certificate.answers import with_answers
from dipc.certificate.data import FunctionData, Uncertified, headed, rational, require_known_laws, sealed
from dipc.certificate.obligations import ObligationWriter, closed_form, closed_value, shown_in_cells, stars_of
from dipc.decide.obligation import Counterexample, Decision, Verdict
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.shifts import least_shift
from dipc.questions.privacy.adjacency import Distance, MultisetPairs, Neighborhood, Pairs, texts
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.densities import OF_CELLS, RealOutputs
from dipc.questions.privacy.every_number import OF_TOTALS, EveryNumber
from dipc.questions.privacy.loss import LawTable, at_most, couples
from dipc.questions.privacy.noisy_vector import OF_NOISY_VALUES
from dipc.questions.privacy.outcome import (
    OutputsAtPair,
    PrivacyClaim,
    PrivacyCounterexample,
    PrivacyReport,
    PrivacyVerdict,
    power,
)
from dipc.verifier.claims import Beta
from dipc.verifier.document import check_text
from dipc.verifier.normal import Enclosed, Probability, complement, total_of
from dipc.verifier.obligations import slacks
from dipc.verifier.privacy import MOST_OPEN
from dipc.verifier.privacy import PrivacyClaim as Read
from dipc.verifier.probability import Theorem, program_of
from dipc.verifier.reading import DERIVATION_ENDS, Budget, Question, Rejected
from dipc.verifier.shifts import Alignment, Change, ShiftConditions

_HOLDS = Verdict.ACCURATE

#: The most moves of one exit, each of which has a shift.
_MOST_MOVES = 4_096


def certify_privacy(question: PrivacyQuestion | EveryNumber, report: PrivacyReport, tool: str = "dipc") -> str:
    """Return the text of the certificate of `report`, which `question.decide` has returned with its proofs kept.

    `tool` is named as the writer. If a claim for every m is refuted, the certificate refutes it for one m. Raises
    Uncertified if there is no certificate of such a report.
    """
    if report.verdict is PrivacyVerdict.UNDECIDED:
        raise Uncertified("the claim is undecided")
    if report.claim.ratio != 1:
        raise Uncertified("the checker only reads budgets that are multiples of eps, but this one has a logarithm")
    require_known_laws(question.program.core)
    if isinstance(question, EveryNumber):
        if report.proof == OF_TOTALS:
            raise Uncertified("the checker does not follow a proof for all values of the totals of the queries")
        if report.verdict is PrivacyVerdict.PRIVATE and question.program.core.requires is not None:
            raise Uncertified("the checker does not follow `requires` for every number of queries")
        if report.verdict is PrivacyVerdict.PRIVATE:
            return sealed(
                with_answers(
                    {
                        **headed(Question.ALL_PAIRS_EVERY_NUMBER, question.program, tool, report.verdict),
                        "claim": _claim_data(report.claim, FunctionData().data(report.claim.delta.value)),
                        "adjacent": report.adjacency,
                        "numbers": {"parameter": question.parameter, "least": str(question.least)},
                    }
                )
            )
        assert report.numbers is not None, "the question is about every number of queries"
        assert report.numbers.at is not None, "the claim is refuted at one number of queries"
        return certify_privacy(question.question_for(report.numbers.at), replace(report, numbers=None), tool)
    if question.runs > 1:
        raise Uncertified("the checker only follows a single run: write several runs as one program")
    claim, pairs = report.claim, question.pairs
    if claim.piecewise is not None:
        raise Uncertified("the checker does not read a delta with min, max or abs: ask about each of its pieces")
    if report.proof == OF_CELLS:
        raise Uncertified(
            "the checker does not follow a proof by cells of inputs: list pairs of inputs, one for every two cells"
        )
    if question.simplified:
        raise Uncertified(
            "the checker does not follow a mixture of Laplace noises: write the release with plain Laplace noise"
        )
    if report.proof == OF_NOISY_VALUES:
        raise Uncertified(
            "the checker does not follow a proof by post-processing: certify a program that releases the noisy values"
        )
    by_events = report.counterexample is not None and report.counterexample.balls
    if question.real_outputs and report.proof is None and not by_events:
        if report.verdict is PrivacyVerdict.NOT_PRIVATE:
            return sealed(_OfClosedForms(question, report).of_an_event(_as_event(question, report), tool))
        if not claim.is_pure:
            return _with_a_delta(question, report, tool)
    if not isinstance(pairs, Pairs) and report.verdict is PrivacyVerdict.PRIVATE:
        if not (question.finite_outputs or claim.is_pure) and report.proof is None:
            return _with_a_delta(question, report, tool)
        return sealed(_aligned(question, report, tool))
    if report.counterexample is not None and report.counterexample.balls:
        return sealed(_OfClosedForms(question, report).of_an_event(report.counterexample, tool))
    if not isinstance(pairs, Pairs):
        pairs = _refuting(question, report)
    if not question.finite_outputs or report.proof is not None:
        within = isinstance(question.adjacency, Neighborhood) and question.adjacency.distance is not Distance.HAMMING
        if question.program.core.has_real_inputs and report.verdict is PrivacyVerdict.PRIVATE and within:
            # A proof for all inputs covers listed inputs. Under hamming it would let inputs move without bound.
            return sealed(_aligned(question, report, tool))
    if not question.finite_outputs:
        raise Uncertified(
            "for listed pairs and outputs that are not finite, the checker follows only proofs about real inputs "
            "under linf or l1 adjacency"
        )
    if claim.with_more is not None and report.verdict is PrivacyVerdict.NOT_PRIVATE:
        # A delta that is only enclosed is refuted at its upper end, and proved at its lower end.
        report = replace(report, claim=claim.with_more)
    writer = _OfStars if question.table(pairs).table.is_enclosed else _OfClosedForms
    return sealed(writer(question, report).document(pairs, tool))


def _with_a_delta(question: PrivacyQuestion, report: PrivacyReport, tool: str) -> str:
    """Return a certificate that `report`, about real or int outputs and a delta, is right.

    The proof shifts one Laplace noise. The shift costs more than the budget of `question`, and delta covers the excess.
    `tool` is named as the writer. Raises Uncertified if the checker does not accept the certificate.
    """
    if isinstance(question.adjacency, Neighborhood):
        text = sealed(_aligned(question, report, tool))
        with suppress(Rejected):
            if check_text(text).complete:
                return text
    raise Uncertified(
        "the checker follows a delta for real or int outputs only if a single Laplace noise is shifted, and delta "
        "covers the excess"
    )


def _as_event(question: PrivacyQuestion, report: PrivacyReport) -> PrivacyCounterexample:
    """Return the counterexample of `report` with an interval of the one real output in place of the worst set.

    Raises Uncertified if no interval refutes the claim of `question`.
    """
    refused = Uncertified(
        "the checker follows a refutation by real outputs only if the program has a single output, and an interval of "
        "its values refutes the claim"
    )
    counterexample, claim = report.counterexample, report.claim
    assert counterexample is not None, "a refuted claim has a counterexample"
    places = counterexample.input, counterexample.adjacent
    pairs = _refuting(question, report)
    try:
        one, two = pairs.inputs
        outcomes = RealOutputs(question.subject, pairs).worst_set(one, two, claim.budget, counterexample.eps)
    except Undecided:
        raise refused from None
    for outputs in [outcome.outputs for outcome in outcomes if outcome.outputs is not None]:
        if len(outputs.box) != 1 or outputs.half is not None or len(question.program.outputs) > 1:
            continue
        ((low, high),) = outputs.box
        (name,) = question.program.outputs
        for far in map(Fraction, (1, 4, 16, 64)):
            start = low if low is not None else (high or 0) - 2 * far
            end = high if high is not None else start + 2 * far
            gamma = (end - start) / 2
            first, second = (
                question.program.closed_probability(u, {name: str(start + gamma)}, gamma).value for u in places
            )
            allowed = second * power(claim.budget) + claim.delta.value
            if first.enclosure(counterexample.eps)[0] > allowed.enclosure(counterexample.eps)[1]:
                sides = OutputsAtPair(*places, ({},), ClosedForm(first), ClosedForm(allowed))
                return replace(counterexample, sides=sides, balls={name: (start, end)})
    raise refused


def _aligned(question: PrivacyQuestion, report: PrivacyReport, tool: str) -> dict[str, Any]:
    head = headed(Question.ALL_PAIRS, question.program, tool, report.verdict)
    return {
        **head,
        "claim": _claim_data(report.claim, FunctionData().data(report.claim.delta.value)),
        "adjacent": str(question.adjacency),
        "shifts": shifts(head["program"], question.program.core.only_at, str(question.adjacency)),
    }


def shifts(program: dict[str, Any], only_at: Fraction | None, adjacency: str) -> dict[str, Any] | None:
    """Return, as JSON data, the cheapest shift of the noises for each exit and each extreme move of the inputs.

    `program` and `adjacency` are the certificate's fields, and `only_at` is the one eps of the program, or None. Return
    None if some move has no shift, or if there are too many moves.
    """
    distance, _, radius = adjacency.partition(":")
    constants = {name: Fraction(value) for name, value in program["constants"].items()}
    budget = Budget()
    try:
        tree, machine = program_of(program["text"], program["sha256"], program["name"], constants, only_at, budget)
        alignment = Alignment.from_program(tree, machine, constants, (distance, Fraction(radius)), budget)
        known = [list(islice(alignment.moves(own), _MOST_MOVES + 1)) for own in alignment.exits]
    except DERIVATION_ENDS:
        return None
    numbers: dict[tuple[tuple[int, Fraction], ...], int] = {}
    chosen: list[list[int]] = []
    for aligned, own in zip(alignment.exits, known, strict=True):
        chosen.append([])
        for move in own:
            if len(chosen[-1]) == _MOST_MOVES:
                return None
            shift = _cheapest(aligned, move)
            if shift is None:
                return None
            vector = tuple((noise, shift[i]) for noise, i in enumerate(aligned.rates) if shift.get(i))
            chosen[-1].append(numbers.setdefault(vector, len(numbers)))
    vectors = [[[noise, rational(t)] for noise, t in vector] for vector in numbers]
    return {"vectors": vectors, "exits": chosen}


def _cheapest(aligned: ShiftConditions, move: Mapping[int, Fraction]) -> Mapping[int, Fraction] | None:
    """Return the cheapest shifts of the noises, by index, that keep the outputs when the inputs change by `move`.

    `aligned` is one exit, with the conditions that the shifts must satisfy. The result is None if no shifts satisfy
    them.
    """

    def halfspace(change: Change) -> Halfspace:
        kept = {i: c for i, c in change.noises.items() if i in aligned.rates}
        return Halfspace(sorted_terms(kept), change.value({}, move))

    inequalities = [halfspace(change) for change in aligned.slacks]
    equations = [halfspace(change) for change in aligned.outputs]
    if any(not each.coefficients and each.constant < 0 for each in inequalities):
        return None
    if any(not each.coefficients and each.constant for each in equations):
        return None
    shift = least_shift(
        aligned.rates,
        [each for each in inequalities if each.coefficients],
        [each for each in equations if each.coefficients],
    )
    return None if shift is None else shift.shift


def _claim_data(claim: PrivacyClaim, delta: Any) -> dict[str, Any]:
    return {
        "budget": rational(claim.budget),
        "delta": delta,
        "eps": [str(interval) for interval in claim.intervals],
    }


def _refuting(question: PrivacyQuestion, report: PrivacyReport) -> Pairs:
    assert report.counterexample is not None
    one, two = (
        tuple([Fraction(cell or 0) for cell in inputs.values()])
        for inputs in (report.counterexample.input, report.counterexample.adjacent)
    )
    return Pairs((one, two), ((0, 1),), question.asked[2])


T = TypeVar("T")


class _PairWriter(Generic[T]):
    """A writer of certificates about pairs of inputs, with probabilities of the type T."""

    def __init__(self, question: PrivacyQuestion, report: PrivacyReport) -> None:
        self._question = question
        self._claim = report.claim
        self._report = report
        self._functions = FunctionData()
        self._obligations = ObligationWriter(self._functions, question.program.limits)

    def document(self, pairs: Pairs, tool: str) -> dict[str, Any]:
        report, table = self._report, self._question.table(pairs).table
        alike: dict[str, Any] = {}
        if isinstance(pairs, MultisetPairs) and report.counterexample is None and (groups := self._exchanged(pairs)):
            alike = {"alike": groups}
        elif isinstance(pairs, MultisetPairs):
            try:
                pairs, multisets = pairs.listed(self._question.program, self._question.program.limits)
            except LimitReached as reached:
                raise Uncertified(f"a certificate must list the pairs of inputs, but {reached.reason}") from None
            table = replace(table, rows=tuple([table.rows[number] for number in multisets]))
        inputs, answers = list(range(len(pairs.inputs))), list(range(len(table.answers)))
        ordered, refuted = [list(pair) for pair in pairs.ordered], None
        never_more: list[list[Any]] = []
        of_sets: dict[str, Any] = {}
        if report.counterexample is not None:
            counterexample = report.counterexample
            points = [texts(self._question.program, point) for point in pairs.inputs]
            inputs = [
                next(position for position, point in enumerate(points) if point == values)
                for values in (counterexample.input, counterexample.adjacent)
            ]
            named = [table.texts(answer) for answer in range(len(table.answers))]
            answers = [
                next(position for position, output in enumerate(named) if output == values)
                for values in counterexample.outputs
            ]
            one, two = ([self._value(table, table.rows[position][answer]) for answer in answers] for position in inputs)
            ordered = [[0, 1]]
            refuted = {"pair": 0, "outputs": list(range(len(answers))), "obligation": self._obligation(one, two)}
        elif self._claim.is_pure:
            for place in couples(table, pairs):
                first, second = (self._value(table, number) for number in table.couple(*place))
                never_more.append([[[self._law(first), self._law(second)]], self._obligation([first], [second])])
        else:
            never_more, excess, sets = self._with_delta(table, pairs)
            of_sets = {"excess": excess, "sets": sets}
        return self._document(
            tool,
            inputs=[list(texts(self._question.program, pairs.inputs[position]).values()) for position in inputs],
            outputs=[list(table.texts(answer).values()) for answer in answers],
            laws=[
                [self._law(self._value(table, table.rows[position][answer])) for answer in answers]
                for position in inputs
            ],
            pairs=ordered,
            couples=never_more,
            refuted=refuted,
            **of_sets,
            **alike,
        )

    def _exchanged(self, pairs: MultisetPairs) -> list[list[int]] | None:
        assert pairs.groups is not None
        groups = [list(group.places) for group in pairs.groups.groups if len(group.places) > 1]
        program = self._question.program
        data = headed(Question.PAIRS, program, "", self._report.verdict)["program"]
        given = {name: Fraction(value) for name, value in data["constants"].items()}
        at = program.core.only_at
        tree, _ = program_of(data["text"], data["sha256"], data["name"], given, at, Budget())
        theorem = Theorem.from_tree(replace(tree, metric=(), ideal=None), given, Budget())
        return groups if theorem.exchangeable(groups) is None else None

    def _document(self, tool: str, *, outputs: list[list[str | None]], **parts: Any) -> dict[str, Any]:
        if any(None in output for output in outputs):
            raise Uncertified("an output is never assigned on some path: give it an initial value")
        adjacency = self._question.adjacency
        return {
            **headed(Question.PAIRS, self._question.program, tool, self._report.verdict),
            "claim": _claim_data(self._claim, self._obligations.closed(self._claim.delta.value)),
            "adjacent": str(adjacency) if isinstance(adjacency, Neighborhood) else None,
            "outputs": outputs,
            "excess": [],
            "sets": [],
            **parts,
            **self._obligations.shared(),
        }

    def _with_delta(self, table: LawTable, pairs: Pairs) -> tuple[list[list[Any]], list[list[Any]], list[list[Any]]]:
        """Return (couples with excess <= 0, couples with excess >= 0, sets of outputs for which the delta is checked).

        `table` has the laws of the outputs, and `pairs` the adjacent inputs. A couple is the two probabilities of an
        output at adjacent inputs. Each set for a pair of inputs contains all outputs whose excess is never negative,
        and any number of those whose excess changes its sign over eps: all such sets are listed. Raises Uncertified if
        there are too many sets.
        """
        signs: dict[tuple[int, int], int] = {}
        never_more: list[list[Any]] = []
        excess: list[list[Any]] = []
        for place in couples(table, pairs):
            couple = table.couple(*place)
            first, second = (self._value(table, number) for number in couple)
            for sign, likely, allowed, listed in (
                (-1, first, self._scaled(second), never_more),
                (1, self._scaled(second), first, excess),
            ):
                if self._never_more(likely, allowed):
                    signs[couple] = sign
                    listed.append([[[self._law(first), self._law(second)]], self._at_most(likely, allowed)])
                    break
            else:
                signs[couple] = 0
        chosen_sets: dict[tuple[tuple[int, int], ...], int] = {}
        for i, j in pairs.ordered:
            counted = [
                couple for couple in zip(table.rows[i], table.rows[j], strict=True) if signs.get(couple, -1) >= 0
            ]
            either = [couple for couple in counted if not signs[couple]]
            if len(either) > MOST_OPEN:
                raise Uncertified(
                    f"at one pair the excess of {len(either)} outputs changes sign over eps, more than the "
                    f"{MOST_OPEN} that can be written out"
                )
            for size in range(len(either) + 1):
                for left_out in combinations(range(len(either)), size):
                    rest = Counter(either) - Counter(either[position] for position in left_out)
                    chosen = [couple for couple in counted if signs[couple]] + list(rest.elements())
                    chosen_sets.setdefault(tuple(sorted(chosen)), 0)
        chosen_sets.setdefault((), 0)  # no output at all: that delta is not negative
        sets: list[list[Any]] = []
        for chosen_couples in chosen_sets:
            laws = [[self._value(table, number) for number in couple] for couple in chosen_couples]
            numbers = sorted([self._law(first), self._law(second)] for first, second in laws)
            sets.append([numbers, self._obligation([first for first, _ in laws], [second for _, second in laws])])
        return never_more, excess, sets

    def _obligation(self, first: Sequence[T], second: Sequence[T]) -> int:
        return self._at_most(self._total(first), self._allowed(self._total(second)))

    # --- functions ------------------------------------------------------------------------------------

    def _value(self, table: LawTable, number: int) -> T:
        raise NotImplementedError

    def _law(self, value: T) -> int:
        raise NotImplementedError

    def _total(self, values: Sequence[T]) -> T:
        raise NotImplementedError

    def _scaled(self, value: T) -> T:
        raise NotImplementedError

    def _allowed(self, value: T) -> T:
        raise NotImplementedError

    def _never_more(self, likely: T, most: T) -> bool:
        raise NotImplementedError

    def _at_most(self, likely: T, most: T) -> int:
        raise NotImplementedError


class _OfClosedForms(_PairWriter[Closed]):
    def of_an_event(self, counterexample: PrivacyCounterexample, tool: str) -> dict[str, Any]:
        """Return the certificate of `counterexample`, a refutation by one event, still without its digest.

        `tool` is the writer that the certificate names. The event states an interval for each numeric output, and a
        value for each other one.
        """
        assert counterexample.balls, "an event is about intervals"
        sizes = {(high - low) / 2 for low, high in counterexample.balls.values()}
        if len(sizes) > 1:
            raise Uncertified("the refutation has output intervals of different lengths")
        if not isinstance(counterexample.sides.probability, ClosedForm) or not isinstance(
            counterexample.sides.allowed, ClosedForm
        ):
            raise Uncertified("the probabilities of the refutation have no closed form")
        first = counterexample.sides.probability.value
        second = (counterexample.sides.allowed.value - self._claim.delta.value) * power(-self._claim.budget)
        (output,) = counterexample.outputs
        centers = {name: str((low + high) / 2) for name, (low, high) in counterexample.balls.items()}
        refuted = {"pair": 0, "outputs": [0], "obligation": self._obligation([first], [second])}
        return self._document(
            tool,
            inputs=[list(counterexample.input.values()), list(counterexample.adjacent.values())],
            outputs=[[centers.get(name, output.get(name)) for name in self._question.program.outputs]],
            laws=[[self._law(first)], [self._law(second)]],
            pairs=[[0, 1]],
            couples=[],
            refuted={**refuted, "gamma": rational(sizes.pop())},
        )

    def _value(self, table: LawTable, number: int) -> Closed:
        return table.closed(number)

    def _law(self, value: Closed) -> int:
        return self._obligations.probability(ClosedForm(value))

    def _total(self, values: Sequence[Closed]) -> Closed:
        return values[0] if len(values) == 1 else total(values)

    def _scaled(self, value: Closed) -> Closed:
        return power(self._claim.budget) * value

    def _allowed(self, value: Closed) -> Closed:
        return self._scaled(value) + self._claim.delta.value

    def _never_more(self, likely: Closed, most: Closed) -> bool:
        return self._question.engine.decide(at_most(likely, most, self._claim.intervals)).verdict is _HOLDS

    def _at_most(self, likely: Closed, most: Closed) -> int:
        intervals = self._claim.intervals
        decision = self._question.engine.decide(at_most(likely, most, intervals))
        return self._obligations.obligation(ClosedForm(most), ClosedForm(1 - likely), intervals, decision)


class _OfStars(_PairWriter[Probability]):
    """The writer for probabilities over normal noises, which the checker reads as sums of products.

    Obligations that the checker cannot prove are written without a proof.
    """

    def _value(self, table: LawTable, number: int) -> Probability:
        bound = table.bounds.get(number)
        try:
            if bound is not None:
                return stars_of(bound, self._question.program.measurer)
            closed = closed_value(table.closed(number))
        except Undecided as undecided:
            raise Uncertified(undecided.reason) from None
        if closed is None:
            raise Uncertified("one probability has a denominator while others contain Gaussian noise")
        return closed

    def _law(self, value: Probability) -> int:
        return self._obligations.probability(value if isinstance(value, Enclosed) else closed_form(value))

    def _total(self, values: Sequence[Probability]) -> Probability:
        return total_of(values, Budget())

    def _scaled(self, value: Probability) -> Probability:
        return self._read.scaled(value, Budget())

    def _allowed(self, value: Probability) -> Probability:
        return self._read.allowed(value, Budget())

    @cached_property
    def _read(self) -> Read:
        delta = closed_value(self._claim.delta.value)
        if delta is None:
            raise Uncertified("the checker does not follow a delta with a denominator if the noise is Gaussian")
        return Read(self._claim.budget, delta)

    def _never_more(self, likely: Probability, most: Probability) -> bool:
        try:
            shown_in_cells(tuple(slacks(most, self._rest(likely), Budget()) or ()), self._claim.intervals)
        except Undecided:
            return False
        return True

    def _at_most(self, likely: Probability, most: Probability) -> int:
        failure = self._report.counterexample
        decision = Decision(Verdict.ACCURATE)
        if failure is not None:
            decision = Decision(
                Verdict.INACCURATE, counterexample=Counterexample(failure.eps, failure.allowed, failure.probability)
            )
        rest, intervals = self._rest(likely), self._claim.intervals
        stated = rest if isinstance(rest, Enclosed) else closed_form(rest[0][0])
        allowed = most if isinstance(most, Enclosed) else closed_form(most)
        return self._obligations.obligation(allowed, stated, intervals, decision, read=rest)

    def _rest(self, likely: Probability) -> Beta:
        rest = complement(likely, Budget())
        return rest if isinstance(rest, Enclosed) else ((rest,),)
