"""Whether a program is private, exactly, and what else may be asked about its adjacent inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Unpack, assert_never

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.numbers import outward
from dipc.claims.claim import Given, GivenEps, intervals_text
from dipc.decide.engine import Engine
from dipc.frozen import Later, frozen
from dipc.options import GivenWork, Options, takes
from dipc.program.inputs import InputSpec
from dipc.program.program import Program, ProgramGiven, Progress, two_sided, within
from dipc.questions.privacy.adjacency import (
    Adjacency,
    EveryPair,
    Pairs,
    Within,
    every_input,
    parse_adjacency,
    read_pairs,
)
from dipc.questions.privacy.constant import (
    Constant,
    Ends,
    LossBounds,
    bounds_at_pairs,
    bounds_by_shifts,
    bounds_for_every_pair,
    bounds_of_runs,
    constant_of_candidates,
    of_table,
    refuted_up_to,
)
from dipc.questions.privacy.densities import RealOutputs, worst_pairs
from dipc.questions.privacy.loss import (
    DIGITS,
    LawTable,
    Loss,
    Refuted,
    Renyi,
    UnprovedLoss,
    at_most,
    composed,
    integer_table,
    largest_divergence,
    law_table,
    sign_of,
    together,
)
from dipc.questions.privacy.outcome import (
    PrivacyClaim,
    PrivacyCounterexample,
    PrivacyReport,
    PrivacyVerdict,
    Sides,
    counterexample_of,
    multiple_of_eps,
    power,
    read_claim,
)
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dipc.questions.privacy import closed, enclosed, gaussian
else:
    closed = Later("dipc.questions.privacy.closed")
    enclosed = Later("dipc.questions.privacy.enclosed")
    gaussian = Later("dipc.questions.privacy.gaussian")


class GivenPrivacy(GivenWork, total=False):
    """What `dipc.check_privacy` takes, as keyword arguments."""

    inputs: InputSpec | None
    budget: Given
    delta: Given
    eps: GivenEps
    compose: int


@takes(GivenPrivacy)
def check_privacy(program: ProgramGiven, adjacent: str, **given: Unpack[GivenPrivacy]) -> PrivacyReport:
    """Decide Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for all adjacent u, u', every set S of outputs and every
    eps of the intervals.

    `adjacent` is linf:1, l1:1, hamming:1 or the path of a CSV file of pairs; `inputs` is as for `check`, and None lets
    finite inputs range over their domains. `budget` is k*eps (eps by default), `delta` an expression in eps (0 by
    default). With `compose` it is about all outputs of this many independent runs. The other options are those of
    `check`.

    Raises DiagnosticError for what cannot be read or makes no sense.
    """
    options = Options(**given)
    program = within(program, options.limits, options.eps)
    with ExitStack() as stack:
        question = PrivacyQuestion(
            program, adjacent, options.inputs, options.engine(stack, program), runs=options.compose
        )
        return question.decide(read_claim(program, options.budget, options.delta, options.eps))


_WITHOUT_END = "the probability of the output at u' falls to 0 as this input moves further in the same direction"

#: What to do where no pair is known to be the worst of all real inputs.
_ASK_PAIRS = "give inputs that can be enumerated, or the pairs of a file"

#: Intervals of eps that are looked at one by one, how near to a supremum its bound is to come, and a delta that is not
#: told from 0.
_MOST_CELLS, _NEAR, _NOTHING = 64, 1 + Fraction(1, 10**3), Fraction(1, 10**6)

#: Pairs from which on it is looked first whether shifts of the noises answer for all of them at once.
_MANY_PAIRS = 1_000

#: How a program over real inputs is proved where these are compared without noise alone.
OF_CELLS = (
    "the comparisons cut the inputs into cells with one output distribution each, and all pairs of "
    "adjacent cells are compared"
)

_SEVERAL = "several runs with real outputs are not covered: write one program that releases all of them"


@frozen
class Proved:
    """A claim is proved, about all real inputs by this, in words; None about pairs that are listed."""

    by: str | None


#: What a way to decide a claim comes to.
Answer = Proved | PrivacyCounterexample | UnprovedLoss


class PrivacyQuestion:
    """A program with its adjacent inputs, about which several things may be asked; laws are found once."""

    def __init__(
        self,
        program: Program,
        adjacent: str,
        inputs: InputSpec | None,
        engine: Engine,
        progress: Progress | None = None,
        runs: int = 1,
    ) -> None:
        """With several `runs` it is about all outputs of this many independent ones. `progress` is called with how many
        inputs, or pairs, are done of all. Raises DiagnosticError for an adjacency or inputs that cannot be read or do
        not fit the program."""
        self.program = program = two_sided(program)
        self.engine = engine
        self.runs = runs
        self.adjacency: Adjacency = parse_adjacency(adjacent, program.core)
        self.pairs = read_pairs(program, self.adjacency, inputs, program.limits)
        self._table: LawTable | None = None
        self._real: RealOutputs | None = None
        self._progress = progress

    @property
    def finite_outputs(self) -> bool:
        """Whether no output is real or int."""
        return self.program.core.has_finite_outputs

    @property
    def real_outputs(self) -> bool:
        """Whether some output is real."""
        return self.program.core.has_real_outputs

    def require_meaning(self, eps: Fraction | Sequence[Interval]) -> None:
        """Raise DiagnosticError where a program has another meaning, or none, at the eps that is asked about."""
        self.program.core.require_meaning(eps)

    def single(self) -> PrivacyQuestion:
        """This question about a single run."""
        one = copy(self)
        one.__dict__.update(runs=1, _table=None)
        one.__dict__.pop("normal", None)
        return one

    def _densities(self) -> RealOutputs:
        """The laws of real outputs. Raises Undecided where these are of another kind."""
        if self.runs > 1:
            raise OutsideFragment(_SEVERAL)
        if self._real is None:
            self._real = RealOutputs(self.program)
        return self._real

    @cached_property
    def normal(self) -> gaussian.GaussianPrivacy | None:
        """What the program is as a Gaussian mechanism; None for others. Raises Undecided."""
        return None if self.finite_outputs or self.runs > 1 else gaussian.GaussianPrivacy.of(self.program, self.pairs)

    def rho(self, eps: GivenEps) -> gaussian.Rho:
        """The least ρ of zCDP on the intervals. Raises Undecided where it is not known."""
        if self.runs > 1:
            raise OutsideFragment(_SEVERAL)
        normal = self.normal
        if normal is None:
            raise Undecided("the least rho is known only for sums of inputs and Gaussian noise")
        claim = read_claim(self.program, None, None, eps)
        ends = [normal.worst(interval) for interval in claim.intervals]
        known = [normal.mechanism.rho(normal.square, end) for end in ends if end is not None]
        value = None if len(known) < len(ends) and normal.square else max(known, default=(Fraction(0), Fraction(0)))
        return gaussian.Rho(*self.asked, claim.eps_text, value, normal.input, normal.adjacent)

    def table(self, pairs: Pairs) -> LawTable:
        """The laws at the inputs of the pairs. Raises Undecided past a limit, and for outputs that cannot be listed."""
        if self._table is None:
            if self.finite_outputs:
                self._table = law_table(self.program, pairs.inputs, self.engine, self._progress)
            else:
                self._table = integer_table(self.program, pairs.inputs)
            if self.runs > 1:
                self._table = composed(self._table, self.runs, self.program.limits)
        return self._table

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """Whether the claim holds. Raises DiagnosticError for eps at which a program has no meaning."""
        self.require_meaning(claim.intervals)
        if claim.piecewise is not None:
            return self._piece_by_piece(claim, claim.piecewise)
        report = self._decide(claim)
        more = claim.with_more
        if more is None or report.verdict is PrivacyVerdict.PRIVATE:
            return report
        # It fails with a number below delta: so it does with delta, if it fails with one above.
        above = self._decide(more)
        if above.verdict is PrivacyVerdict.PRIVATE:
            reason = f"the least delta could not be told apart from {claim.delta_text}, as it is only enclosed"
            above = replace(above, verdict=PrivacyVerdict.UNDECIDED, reason=reason, proof=None)
        return replace(above, claim=claim, obligations=report.obligations + above.obligations)

    def _piece_by_piece(self, claim: PrivacyClaim, delta: PiecewiseForm) -> PrivacyReport:
        """The report where delta has several closed forms: each is decided on its own intervals, which may be greater
        than those on which it is delta; what refutes it there refutes the claim only if delta leaves as little."""
        result: PrivacyReport | None = None
        obligations = 0
        for piece in claim.pieces:
            report = self._decide(piece)
            obligations += report.obligations
            counterexample = report.counterexample
            if counterexample is not None:
                more = delta.at(counterexample.eps, 60)[1] - piece.delta.at(counterexample.eps, 60)[0]
                if counterexample.probability[0] > counterexample.allowed[1] + max(more, Fraction(0)):
                    result = report
                    break
                reason = f"two outputs tie next to eps = {counterexample.eps}, where delta changes its form"
                report = replace(report, verdict=PrivacyVerdict.UNDECIDED, counterexample=None, reason=reason)
            if result is None or result.verdict is PrivacyVerdict.PRIVATE:
                result = report
        assert result is not None, "a claim is about some eps"
        return replace(result, claim=claim, obligations=obligations)

    def _decide(self, claim: PrivacyClaim) -> PrivacyReport:
        begun = self.engine.spent.obligations
        answer: Answer = UnprovedLoss("")
        try:
            for answer in self._answers(claim):
                if not isinstance(answer, UnprovedLoss):
                    break
        except Undecided as undecided:
            answer = UnprovedLoss(undecided.reason)
        return PrivacyReport(
            *self.asked,
            claim,
            _verdict(answer),
            answer if isinstance(answer, PrivacyCounterexample) else None,
            answer.reason if isinstance(answer, UnprovedLoss) else None,
            self.engine.spent.obligations - begun,
            answer.by if isinstance(answer, Proved) else None,
        )

    def _answers(self, claim: PrivacyClaim) -> Iterator[Answer]:
        """The answer of each way to decide the claim, in the order of what they cost; where none decides it, the last
        says why. Raises Undecided."""
        if self.normal is not None:
            yield self.normal.decide(claim) or Proved(gaussian.OF_NORMAL_OUTPUTS)
            return
        if self._table is None and self._shifts is not None:
            yield self._by_bounds(self._shifts, claim)
        pairs = self._looked_at
        if isinstance(pairs, Pairs) and not self.real_outputs and (self.finite_outputs or not claim.is_pure):
            yield self._at_pairs(pairs, self._laws(self.table(pairs)), claim, None if pairs is self.pairs else OF_CELLS)
            return
        yield self._by_bounds(self.bounds(), claim)
        if self.real_outputs and not claim.is_pure:
            yield self._by_sets(claim)
        elif isinstance(self.pairs, Pairs) and not self.real_outputs:
            # Int outputs: those far out are one answer, and all of these can be listed.
            with suppress(Undecided):
                yield self._at_pairs(self.pairs, self._laws(self.table(self.pairs)), claim)

    @cached_property
    def _shifts(self) -> LossBounds | None:
        """What shifts of the noises say about many pairs at once, which is faster than looking at each; None where
        pairs are few, or listed in a file, or nothing is said."""
        pairs = self.pairs
        if not isinstance(pairs, Pairs) or not isinstance(self.adjacency, Within) or len(pairs) < _MANY_PAIRS:
            return None
        with suppress(Undecided):
            return self._of_all_runs(bounds_by_shifts(self.program, self.adjacency, self.engine, pairs))
        return None

    def compared(self, report: PrivacyReport, most: int) -> list[Sides]:
        """What the verdict rests upon, `most` of it: the sides of the counterexample, or of outputs at pairs; nothing
        where inputs or outputs are not enumerated, or past a limit."""
        counterexample = report.counterexample
        if counterexample is not None:
            return [counterexample.sides]
        if not isinstance(self.pairs, Pairs) or not self.finite_outputs or report.claim.piecewise is not None:
            return []
        try:
            laws = self._laws(self.table(self.pairs))
            needed = islice(laws.needed_most(self.pairs, report.claim), most)
            return [self._sides(laws, self.pairs, pair, answers, report.claim) for pair, answers in needed]
        except Undecided:
            return []

    def _sides(
        self, laws: closed.Laws, pairs: Pairs, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> Sides:
        """The probability of a set of answers at a pair, and what is allowed, by the answers' places. Raises Undecided
        where a probability is not known."""
        outputs = tuple([laws.table.texts(answer) for answer in answers])
        return Sides(*pairs.texts(self.program, pair), outputs, *laws.sides(pair, answers, claim))

    def largest_loss(self, eps: Fraction, digits: int = DIGITS) -> Loss:
        """The largest loss at an eps, over the pairs. Raises DiagnosticError for real inputs that are not enumerated,
        and for real or int outputs, Undecided past a limit."""
        self.require_meaning(eps)
        if self.normal is not None:
            return self._normal_loss(self.normal, eps)
        attained = self._attained(eps)
        if attained is not None:
            return attained
        pairs = self._enumerated("--max-loss")
        table, pairs = self._densities().losses(pairs) if self.real_outputs else (self.table(pairs), pairs)
        value, pair, answer, text = self._laws(table).loss(pairs, eps, digits)
        return Loss(*self.asked, eps, value, *pairs.texts(self.program, pair), table.texts(answer), text)

    def _attained(self, eps: Fraction) -> Loss | None:
        """The loss at an eps, over all adjacent real inputs, where no pair is known to be the worst, but some one loses
        as much as shifts of the noises allow; None where none is seen to."""
        if isinstance(self.pairs, Pairs):
            return None
        with suppress(Undecided):
            self._worst_pairs()
            return None
        with suppress(Undecided):
            bounds = self.bounds()
            for each in bounds.candidates if bounds.proved is not None else ():
                excess = each.first - power(bounds.proved or Fraction(0)) * each.second
                if sign_of(excess, eps, self.program.limits) >= 0:
                    value = (bounds.proved or Fraction(0)) * eps
                    intervals = {name: f"{low} to {high}" for name, (low, high) in each.balls.items()}
                    text = f"log(({ClosedForm(each.first)})/({ClosedForm(each.second)}))"
                    output = {**each.output, **intervals}
                    return Loss(*self.asked, eps, (value, value), each.input, each.adjacent, output, text)
        return None

    def divergence(self, order: int, eps: Fraction, digits: int = DIGITS) -> Renyi:
        """The largest Rényi divergence of an order >= 2 at an eps, over the pairs. Raises as `largest_loss` does."""
        self.require_meaning(eps)
        if self.normal is not None:
            return self._normal_divergence(self.normal, order, eps)
        pairs = self._enumerated("--renyi")
        if self.real_outputs:
            real = self._densities()
            moments = (((i, j), real.moment(pairs.inputs[i], pairs.inputs[j], order, eps)) for i, j in pairs.ordered)
            pair, moment, value = largest_divergence(moments, order, eps, digits)
        else:
            pair, moment, value = self._laws(self.table(pairs)).divergence(pairs, order, eps, digits)
        form = None if moment is None else moment.standing_for(self.program.core.only_at)
        return Renyi(*self.asked, order, eps, value, form, *pairs.texts(self.program, pair))

    def least_delta(
        self, claim: PrivacyClaim, point: Fraction | None = None, digits: int = DIGITS
    ) -> closed.LeastDelta:
        """The least delta for the claim's budget on its intervals, and at an eps. Raises as `largest_loss` does, and
        DiagnosticError for an eps that is in no interval."""
        self.require_meaning(claim.intervals)
        normal = self.normal
        if point is not None and not any(point in interval for interval in claim.intervals):
            note = "change --at or --eps"
            raise DiagnosticError(Diagnostic("E1411", f"eps = {point} is outside of {claim.eps_text}", notes=(note,)))
        if normal is not None:
            return self._normal_delta(normal, claim, point, digits)
        pairs = self._enumerated("--delta-of")
        try:
            table, pairs, left = self._excesses(pairs, claim)
        except OutsideFragment:
            if point is None and self.real_outputs and not all(each.is_point for each in claim.intervals):
                return self._delta_in_cells(pairs, claim, digits)
            if point is None or claim.intervals == (Interval(point, point, True, True),):
                raise
            # What is another set for each eps is known at one.
            return self.least_delta(replace(claim, intervals=(Interval(point, point, True, True),)), point, digits)
        laws = self._laws(table)

        def where(pair: tuple[int, int], answers: tuple[int, ...]) -> closed.Where | None:
            said = tuple([table.texts(answer) for answer in answers])
            return closed.Where(*pairs.texts(self.program, pair), said) if said else None

        there: tuple[Fraction, tuple[Fraction, Fraction], ClosedForm | None] | None = None
        place: tuple[Fraction, Fraction] | str
        if left:
            eps = claim.intervals[0].lower
            needed = self.enclosed(table).greatest(pairs, claim.budget, eps, 2 * digits)
            supremum = outward(needed.value[0], needed.value[1] + left, digits)
            pieces, attained, place, needs = None, True, (eps, eps), where(needed.pair, needed.answers)
            there = (eps, supremum, None) if point is not None else None
        else:
            pieces, supremum, attained, place, needs = laws.least_delta(pairs, claim, digits, where)
            if point is not None:
                value, form = laws.delta_at(pairs, claim, point, digits)
                there = point, outward(*value, digits), form
        budget, intervals = claim.budget_text, claim.eps_text
        return closed.LeastDelta(*self.asked, budget, intervals, pieces, supremum, attained, place, needs, there)

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
        """An enclosure of the least delta of the budget·eps at one eps, apart by some 10^-digits. Raises as
        `largest_loss` does."""
        self.require_meaning(eps)
        if self.normal is not None:
            return self.normal.mechanism.delta(self.normal.square, budget, eps)
        claim = PrivacyClaim(budget, ClosedForm.of(0), (Interval(eps, eps, True, True),))
        table, pairs, left = self._excesses(self._enumerated("--delta-of"), claim)
        low, high = self.enclosed(table).greatest(pairs, budget, eps, digits).value
        return low, high + left

    def enclosed(self, table: LawTable) -> enclosed.EnclosedLaws:
        """The laws of a table by enclosures, whether or not they have closed forms."""
        return enclosed.EnclosedLaws(table, self.engine.bounds, self.program.limits)

    def _excesses(self, pairs: Pairs, claim: PrivacyClaim) -> tuple[LawTable, Pairs, Fraction]:
        """Laws of which sets are the worst for the claim's budget, except for an excess of at most the number. Raises
        Undecided."""
        if self.real_outputs:
            return self._densities().excesses(pairs, claim)
        return self.table(pairs), pairs, Fraction(0)

    def listed(self) -> tuple[LawTable, Pairs]:
        """The laws of finite or int outputs, with the pairs. Raises as `largest_loss`, and Undecided for real
        outputs."""
        pairs = self._enumerated("--profile")
        if self.real_outputs:
            raise OutsideFragment(
                "the loss of real outputs has a density, so its distribution cannot be listed value by value"
            )
        return self.table(pairs), pairs

    def _normal_loss(self, normal: gaussian.GaussianPrivacy, eps: Fraction) -> Loss:
        """Infinite, unless nothing moves."""
        value, text = (None, "inf") if normal.square else ((Fraction(0), Fraction(0)), "0")
        output = dict.fromkeys(self.program.outputs, "far out" if normal.square else "any")
        places = normal.input, normal.adjacent, output
        return Loss(*self.asked, eps, value, *places, text)

    def _normal_divergence(self, normal: gaussian.GaussianPrivacy, order: int, eps: Fraction) -> Renyi:
        low, high = normal.mechanism.rho(normal.square, eps)
        return Renyi(*self.asked, order, eps, (order * low, order * high), None, normal.input, normal.adjacent)

    def _normal_delta(
        self, normal: gaussian.GaussianPrivacy, claim: PrivacyClaim, point: Fraction | None, digits: int
    ) -> closed.LeastDelta:
        value, end, attained = normal.supremum(claim)
        there = None
        if point is not None:
            there = point, outward(*normal.mechanism.delta(normal.square, claim.budget, point), digits), None
        return closed.LeastDelta(
            *self.asked,
            claim.budget_text,
            claim.eps_text,
            None,
            outward(*value, digits),
            attained,
            "inf" if end is None else (end, end),
            closed.Where(normal.input, normal.adjacent, ()),
            there,
        )

    def _laws(self, table: LawTable) -> closed.Laws:
        if table.is_enclosed:
            return self.enclosed(table)
        return closed.ClosedLaws(table, self.engine, self._progress)

    def constant(self, eps: GivenEps, digits: int | None = None) -> Constant:
        """The least K such that the program is K·eps-private for every eps of the intervals: exactly, or a lower and an
        upper end; where outputs are listed, equal to this many digits, if asked for."""
        intervals = read_claim(self.program, None, None, eps).intervals
        self.require_meaning(intervals)
        pairs, reason, without_end = self._looked_at, None, None
        try:
            at_once = None if self._shifts is None else self._ends(self._shifts, intervals)
            if at_once is not None and at_once.proved == at_once.refuted_below:
                ends = at_once
            elif isinstance(pairs, Pairs) and self.finite_outputs:
                table = self.table(pairs)
                for number in range(len(table.forms)):
                    table.closed(number)  # one that is not known would be left out
                listed = list(of_table(self.program, table, pairs))
                ends = constant_of_candidates(listed, intervals, self.engine, digits)
            else:
                bounds = self.bounds()
                ends, reason = self._ends(bounds, intervals), bounds.reason
                if isinstance(pairs, Pairs) and not self.real_outputs and ends.proved != ends.refuted_below:
                    with suppress(Undecided):
                        listed = list(of_table(self.program, self.table(pairs), pairs))
                        ends = constant_of_candidates(listed, intervals, self.engine, digits)
                if bounds.unbounded is not None and ends.refuted_below is not None:
                    ends, without_end = Ends(None, None, bounds.unbounded), _WITHOUT_END
        except Undecided as undecided:
            ends, reason = Ends(None, Fraction(0), None), undecided.reason
        return Constant(
            *self.asked,
            intervals_text(intervals),
            ends.proved,
            ends.refuted_below,
            ends.at,
            without_end if ends.proved == ends.refuted_below else reason,
        )

    def _ends(self, bounds: LossBounds, intervals: Sequence[Interval]) -> Ends:
        """The constant that is proved, and the one below which all are refuted."""
        return replace(
            refuted_up_to(bounds.proved, bounds.candidates, intervals, self.program.limits), proved=bounds.proved
        )

    @property
    def about(self) -> str:
        """The inputs asked about, in words."""
        return self.pairs.about if isinstance(self.pairs, Pairs) else every_input(self.program.core)

    @property
    def asked(self) -> tuple[str, str, str, int | None]:
        """What each answer is about."""
        count = len(self.pairs) if isinstance(self.pairs, Pairs) else None
        return self.program.name, str(self.adjacency), self.about, count

    def bounds(self) -> LossBounds:
        """What is known from above and from below where outputs or inputs are not listed."""
        match self.pairs:
            case EveryPair(adjacency):
                bounds = bounds_for_every_pair(self.program, adjacency, self.engine)
            case Pairs() as pairs:
                bounds = bounds_at_pairs(self.program, pairs)
            case _:
                assert_never(self.pairs)
        return self._of_all_runs(bounds)

    def _of_all_runs(self, bounds: LossBounds) -> LossBounds:
        return bounds if self.runs == 1 else bounds_of_runs(bounds, self.runs)

    def _enumerated(self, option: str) -> Pairs:
        """The pairs that are looked at one by one. Raises DiagnosticError where there are infinitely many, LimitReached
        where there are too many."""
        try:
            return self._worst_pairs()
        except Undecided as undecided:
            if isinstance(self.pairs, EveryPair) and self.pairs.too_many is not None:
                raise self.pairs.too_many from None
            notes = (
                'give inputs that can be enumerated, such as --inputs "q = -1..1", or the pairs of a file',
                "`--constant` bounds the loss of all real inputs and outputs at once",
            )
            message = f"`{option}` needs a list of pairs, but there are infinitely many: {undecided.reason}"
            raise DiagnosticError(Diagnostic("E1410", message, notes=notes)) from None

    @cached_property
    def _looked_at(self) -> Pairs | EveryPair:
        """The pairs; those of cells where the laws at all real inputs, whose outputs are finite, are finitely many."""
        if self.finite_outputs and not isinstance(self.pairs, Pairs):
            with suppress(Undecided):
                return self._worst_pairs()
        return self.pairs

    def _worst_pairs(self) -> Pairs:
        """Pairs of which one is the worst of all. Raises Undecided where none is known to be."""
        match self.pairs:
            case EveryPair(adjacency):
                return worst_pairs(self.program, adjacency)
            case Pairs():
                return self.pairs

    def _by_sets(self, claim: PrivacyClaim) -> Answer:
        """What the worst sets of real outputs show of a claim with a delta."""
        try:
            worst = self._worst_pairs()
        except OutsideFragment as outside:
            raise OutsideFragment(f"{outside.reason}: {_ASK_PAIRS}") from None
        with suppress(OutsideFragment):
            table, pairs, left = self._excesses(worst, claim)
            if not left:
                return self._at_pairs(pairs, self._laws(table), claim)
        return self._in_cells(worst, claim)

    def _in_cells(self, pairs: Pairs, claim: PrivacyClaim) -> Answer:
        """Whether a claim about real outputs holds whose worst sets are others for each eps: on short intervals of eps
        by sets that are a little greater, refuted at one eps. Raises Undecided."""
        waiting = list(claim.intervals)
        place = _middle(waiting[0])
        for _ in range(_MOST_CELLS):
            if not waiting:
                return Proved(None)
            cell = waiting.pop()
            place = _middle(cell)
            with suppress(OutsideFragment):
                table, own, _ = self._densities().excesses(pairs, replace(claim, intervals=(cell,)), above=True)
                laws = self.enclosed(table) if cell.lower and cell.upper else self._laws(table)
                findings = laws.decide(own, replace(claim, intervals=(cell,)))
                if findings is None:
                    continue
                if isinstance(findings, Refuted):
                    place = findings.counterexample.eps
            at_one = replace(claim, intervals=(Interval(place, place, True, True),))
            table, own, _ = self._densities().excesses(pairs, at_one)
            answer = self._at_pairs(own, self.enclosed(table), at_one)
            if isinstance(answer, PrivacyCounterexample):
                return answer
            if cell.is_point:
                break
            waiting += _halves(cell)
        return UnprovedLoss(f"the enclosure of the least delta near eps = {float(place):.3g} is too wide to decide")

    def _delta_in_cells(self, pairs: Pairs, claim: PrivacyClaim, digits: int) -> closed.LeastDelta:
        """The least delta where the worst sets of real outputs are others for each eps: an enclosure of its supremum,
        with an eps where it is about as large. Raises Undecided.

        Of all intervals of eps that with the greatest bound is halved, until it is hardly more than what is needed."""
        limits, low, place = self.program.limits, Fraction(0), _middle(claim.intervals[0])
        needs: closed.Where | None = None
        heap = [(-Fraction(1), number, cell) for number, cell in enumerate(claim.intervals)]
        number = len(heap)

        def needed_at(eps: Fraction) -> tuple[Fraction, Fraction, closed.Where | None]:
            there = self.least_delta(replace(claim, intervals=(Interval(eps, eps, True, True),)), digits=digits)
            return there.supremum[0], eps, there.where

        tried = [needed_at(end) for cell in claim.intervals for end in (cell.lower, cell.upper) if end and end in cell]
        low, place, needs = max(tried, key=lambda each: each[0], default=(low, place, needs))
        while number < 2 * _MOST_CELLS and -heap[0][0] > max(low * _NEAR, _NOTHING):
            _, _, cell = heappop(heap)
            there = needed_at(_middle(cell))
            if there[0] > low:
                low, place, needs = there
            for half in _halves(cell):
                own, bound = replace(claim, intervals=(half,)), Fraction(1)
                with suppress(Undecided):
                    table, ours, _ = self._densities().excesses(pairs, own, above=True)
                    if half.lower and half.upper:
                        most = enclosed.supremum(self.enclosed(table), ours, own, digits)[0]
                    else:
                        most = closed.supremum_of(
                            closed.greatest_excesses(table, ours, own, limits), own.intervals, digits, limits
                        )[0]
                    bound = min(bound, most[1])
                number += 1
                heappush(heap, (-bound, number, half))
        ends = outward(low, max(low, -heap[0][0]), digits)
        about = claim.budget_text, claim.eps_text
        return closed.LeastDelta(*self.asked, *about, None, ends, False, (place, place), needs, None)

    def _by_bounds(self, bounds: LossBounds, claim: PrivacyClaim) -> Answer:
        """What bounds of the loss show."""
        if bounds.proved is not None and bounds.proved <= claim.budget:
            return Proved(bounds.proof)
        scale = power(claim.budget)
        for candidate in bounds.candidates:
            allowed = candidate.second * scale + claim.delta.value
            decision = self.engine.decide(at_most(candidate.first, allowed, claim.intervals))
            if decision.counterexample is not None:
                places = candidate.input, candidate.adjacent, (candidate.output,)
                sides = Sides(*places, ClosedForm(candidate.first), ClosedForm(allowed))
                return counterexample_of(decision.counterexample, sides, claim, candidate.balls)
        reason = bounds.reason
        if bounds.proved is not None:
            reason = f"{ClosedForm(multiple_of_eps(bounds.proved))} is proved, but no smaller budget is refuted"
            if not claim.is_pure and not isinstance(self.pairs, Pairs):
                reason += f"; what a delta makes up for is decided only at pairs: {_ASK_PAIRS}"
        return UnprovedLoss(reason or "no upper bound of the loss is known")

    def _at_pairs(self, pairs: Pairs, laws: closed.Laws, claim: PrivacyClaim, by: str | None = None) -> Answer:
        findings = laws.decide(pairs, claim)
        if not isinstance(findings, Refuted):
            return findings or Proved(by)
        sides = self._sides(laws, pairs, findings.pair, findings.answers, claim)
        return counterexample_of(findings.counterexample, sides, claim)


class ComposedQuestion(PrivacyQuestion):
    """All outputs of independent runs of several programs with the same inputs, at the same pairs."""

    def __init__(self, questions: Sequence[PrivacyQuestion]) -> None:
        """The pairs are those of the first one. Raises ValueError for programs whose inputs have other names or
        types."""
        first = questions[0]
        self.__dict__.update(first.__dict__)
        self.parts = questions
        wanted = [(slot.name, slot.type) for slot in first.program.core.input_slots]
        for other in questions[1:]:
            if [(slot.name, slot.type) for slot in other.program.core.input_slots] != wanted:
                raise ValueError(
                    f"`{other.program.name}` has other inputs than `{first.program.name}`: programs are "
                    "composed at the same pair of inputs, so declare the same inputs in the same order"
                )
        self.runs = sum(question.runs for question in questions)
        self._table = None
        self.__dict__.pop("_looked_at", None)

    @cached_property
    def _shifts(self) -> None:
        """Nothing is said of several programs at once."""

    def require_meaning(self, eps: Fraction | Sequence[Interval]) -> None:
        for question in self.parts:
            question.require_meaning(eps)

    @property
    def finite_outputs(self) -> bool:
        return all(question.finite_outputs for question in self.parts)

    @property
    def real_outputs(self) -> bool:
        return any(question.real_outputs for question in self.parts)

    def _worst_pairs(self) -> Pairs:
        if not isinstance(self.pairs, Pairs):
            raise OutsideFragment("for several programs no pair of real inputs is known to be the worst: give pairs")
        return self.pairs

    def table(self, pairs: Pairs) -> LawTable:
        if self._table is None:
            self._table = together([question.table(pairs) for question in self.parts], self.program.limits)
        return self._table

    def bounds(self) -> LossBounds:
        """Losses add up; what refutes less is looked for where outputs are listed."""
        each = [question.bounds() for question in self.parts]
        known = [bound.proved for bound in each if bound.proved is not None]
        reason = next((bound.reason for bound in each if bound.reason is not None), None)
        return LossBounds(sum(known, Fraction(0)) if len(known) == len(each) else None, reason, ())

    @property
    def asked(self) -> tuple[str, str, str, int | None]:
        _, *others = super().asked
        names = [one.program.name + (f" ({one.runs} runs)" if one.runs > 1 else "") for one in self.parts]
        return ", ".join(names), *others  # type: ignore[return-value]


def _middle(cell: Interval) -> Fraction:
    """A point inside, to halve it: without an upper end twice the lower one, and 1 for all eps."""
    if cell.upper is None:
        return 2 * cell.lower or Fraction(1)
    return (cell.lower + cell.upper) / 2


def _halves(cell: Interval) -> tuple[Interval, Interval]:
    middle = _middle(cell)
    return replace(cell, upper=middle, upper_closed=True), replace(cell, lower=middle, lower_closed=True)


def _verdict(answer: Answer) -> PrivacyVerdict:
    match answer:
        case Proved():
            return PrivacyVerdict.PRIVATE
        case PrivacyCounterexample():
            return PrivacyVerdict.NOT_PRIVATE
        case UnprovedLoss():
            return PrivacyVerdict.UNDECIDED
