"""The privacy question about a program: exact verdicts, losses, divergences and least deltas at adjacent inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Unpack, assert_never

from dipc.algebra.exppoly import ClosedForm, fraction_of
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import decimal, round_up
from dipc.algebra.reals import NotReal, Real
from dipc.claims.claim import GivenEps, GivenValue
from dipc.decide.engine import Engine
from dipc.frozen import LazyModule
from dipc.options import GivenWork, Options, takes
from dipc.program.clipped import Clipped, clipped
from dipc.program.inputs import InputSpec, with_selection
from dipc.program.program import Program, ProgramGiven, Progress, as_program, two_sided
from dipc.questions.privacy.adjacency import (
    Adjacency,
    EveryPair,
    Neighborhood,
    Pairs,
    every_input,
    no_pair,
    parse_adjacency,
    read_pairs,
)
from dipc.questions.privacy.closed import ClosedLaws
from dipc.questions.privacy.constant import (
    Constant,
    ConstantEnds,
    LossBounds,
    allowed_moves,
    bounds_at_pairs,
    bounds_by_shifts,
    bounds_for_every_pair,
    bounds_of_runs,
    few_pairs,
)
from dipc.questions.privacy.densities import RealOutputs, worst_pairs
from dipc.questions.privacy.laws import ASK_PAIRS, Laws, LeastDelta, ShiftLaws, Subject, TableLaws
from dipc.questions.privacy.loss import DIGITS, LawTable, Loss, Renyi, Rho, integer_table, law_table
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    IrrationalEps,
    OutputsAtPair,
    PrivacyClaim,
    PrivacyCounterexample,
    PrivacyReport,
    PrivacyVerdict,
    Proved,
    power,
    read_claim,
)
from dipc.questions.privacy.runs import composed, together
from dipc.sign.chart import is_nowhere_negative, isolate_roots
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import DiagnosticError, bad_input
from dipc.text.precondition import selection_unsupported

if TYPE_CHECKING:
    from dipc.questions.privacy import enclosed, gaussian, many_runs, noisy_vector, plain_law
else:
    enclosed = LazyModule("dipc.questions.privacy.enclosed")
    gaussian = LazyModule("dipc.questions.privacy.gaussian")
    many_runs = LazyModule("dipc.questions.privacy.many_runs")
    noisy_vector = LazyModule("dipc.questions.privacy.noisy_vector")
    plain_law = LazyModule("dipc.questions.privacy.plain_law")


class GivenPrivacy(GivenWork, total=False):
    """The keyword arguments of `dipc.check_privacy`."""

    inputs: InputSpec | None
    budget: GivenValue
    delta: GivenValue
    eps: GivenEps
    compose: int


@takes(GivenPrivacy)
def check_privacy(program: ProgramGiven, adjacent: str, **given: Unpack[GivenPrivacy]) -> PrivacyReport:
    """Decide whether `program` is (budget, delta)-private at all adjacent inputs, for every eps of the intervals.

    The claim is Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for all adjacent inputs u, u' and every set S of
    outputs.

    `adjacent` is linf:1, l1:1, hamming:1 or the path of a CSV file of pairs. All other options are keywords, `given`.
    `inputs` is as for `dipc.check`; None lets finite inputs range over their domains. `budget` is k*eps (eps by
    default), `delta` an expression in eps (0 by default). With `compose`, the claim is about all outputs of this many
    independent runs. The other options are those of `dipc.check`.

    Raises DiagnosticError for options that cannot be read or that do not fit the program.
    """
    options = Options(**given)
    program = as_program(program, options.limits, options.eps)
    with ExitStack() as stack:
        question = PrivacyQuestion(
            program, adjacent, options.inputs, options.engine(stack, program), runs=options.compose
        )
        return question.decide(read_claim(program, options.budget, options.delta, options.eps, enclosed=True))


#: The digits to which a constant at an irrational eps is refuted if it is not refuted to all of them.
_FEW_DIGITS = 4

#: From this many pairs on, shifts of the noises are tried for all pairs together first.
_MANY_PAIRS = 1_000

_SEVERAL = "several runs with real outputs are not covered: write one program that releases all of them"


class PrivacyQuestion:
    """A program with its adjacent inputs; the methods answer all questions about its privacy.

    The output laws of the program are computed when a method first needs them, and then kept for all methods.
    """

    def __init__(
        self,
        program: Program,
        adjacent: str,
        inputs: InputSpec | None,
        engine: Engine,
        progress: Progress | None = None,
        runs: int = 1,
        beside: Sequence[tuple[Program, int]] = (),
    ) -> None:
        """Read the adjacency `adjacent` and the `inputs`.

        The question is about all outputs of `runs` independent runs of `program`, together with those of each program
        of `beside`, which has its own number of runs. All runs have the same pair of inputs. `engine` decides
        obligations. `progress` is called with the number of inputs or pairs done so far, and their total number.

        Raises DiagnosticError for an adjacency or inputs that cannot be read or do not fit the program, ValueError for
        programs whose inputs have other names or types.
        """
        chosen, inputs = with_selection(program, inputs)
        selection = chosen.core.selection
        if chosen is not program and selection is not None:
            if beside:
                raise selection_unsupported("a composition of several programs")
            both = selection if program.core.requires is None else program.core.requires.conjunction(selection)
            program = Program(replace(chosen.core, requires=both), program.limits)
        plain = None if beside else plain_law.plain_release(two_sided(program))
        #: Whether `program` was replaced by a simpler program, whose output has the same law at every input.
        self.simplified = plain is not None
        self.program = plain or two_sided(program)
        self.parts = ((self.program, runs), *((two_sided(other), count) for other, count in beside))
        self.runs = sum(count for _, count in self.parts)
        self.engine = engine
        self.adjacency: Adjacency = parse_adjacency(adjacent, program.core)
        self.pairs = read_pairs(self.program, self.adjacency, inputs, program.limits, alike=not beside)
        requires = program.core.requires
        if isinstance(self.pairs, EveryPair) and self.pairs.too_many is None:
            moves = allowed_moves(self.program, self.pairs.adjacency)
            if moves is not None and moves.is_empty:
                raise no_pair(self.adjacency)
        _require_same_inputs([program for program, _ in self.parts])
        names = [one.name + (f" ({n} runs)" if beside and n > 1 else "") for one, n in self.parts]
        about, count = every_input(program.core), None
        if isinstance(self.pairs, Pairs):
            about, count = self.pairs.about, len(self.pairs)
        if requires is not None:
            about += f" that satisfy `{requires.shown}`"
        #: The first fields of each answer: program, adjacency, inputs, number of pairs.
        self.asked = ", ".join(names), str(self.adjacency), about, count
        self.subject = Subject(self.program, self.asked, engine, progress)
        self._given = adjacent, inputs
        self._table: TableLaws | None = None
        self._single: tuple[Pairs, list[tuple[LawTable, int]]] | None = None

    # --- the laws -------------------------------------------------------------------------------------

    @property
    def finite_outputs(self) -> bool:
        """True if no output is real or int."""
        return all(program.core.has_finite_outputs for program, _ in self.parts)

    @property
    def real_outputs(self) -> bool:
        """True if some output is real."""
        return any(program.core.has_real_outputs for program, _ in self.parts)

    def require_meaning(self, eps: Fraction | Sequence[Interval]) -> None:
        """Raise DiagnosticError if a program's text, as it was read, is not valid at `eps`, one number or intervals.

        For example, a text with constants that depend on eps is read for one eps, and is valid at this eps only.
        """
        for program, _ in self.parts:
            program.core.require_meaning(eps)

    def single(self) -> PrivacyQuestion:
        """Return the question about one run of the program at the same pairs."""
        return PrivacyQuestion(self.program, *self._given, self.engine, self.subject.progress)

    def laws(self) -> Laws:
        """Return the laws of the outputs at the pairs, an object of the class for the program's outputs and noise.

        Raises Undecided.
        """
        if self._normal is not None:
            return self._normal
        if isinstance(self._worst, Undecided):
            return self._shifts
        if self.real_outputs:
            return self._dense
        try:
            return self.table(self._worst)
        except LimitReached as reached:
            if reached.limit != "answers" or self.runs == 1:
                raise
            return many_runs.UnlistedRuns(self.subject, self._tables(self._worst), self._worst, reached)

    @cached_property
    def _normal(self) -> gaussian.GaussianLaws | None:
        """The laws of a program whose outputs are sums of inputs and normal noise; None for other programs.

        Raises Undecided.
        """
        if self.finite_outputs or self.runs > 1:
            return None
        return gaussian.GaussianLaws.at_pairs(self.subject, self.pairs, self._box)

    @cached_property
    def _box(self) -> Clipped | None:
        """The program with each input limited to the range to which it is clipped; None if inputs are not clipped.

        Also None if the question lists its pairs of inputs, or is about several programs.
        """
        return clipped(self.program) if isinstance(self.pairs, EveryPair) and len(self.parts) == 1 else None

    @cached_property
    def _dense(self) -> Laws:
        """The laws of real outputs at pairs that include the worst of all pairs.

        Raises Undecided if no such pairs are known, or if the question is about several runs.
        """
        if self.runs > 1:
            raise OutsideFragment(_SEVERAL)
        if isinstance(self._worst, OutsideFragment):
            raise OutsideFragment(f"{self._worst.reason}: {ASK_PAIRS}")
        if isinstance(self._worst, Undecided):
            raise self._worst
        subject = self.subject if self._box is None else replace(self.subject, program=self._box.program)
        return RealOutputs(subject, self._worst)

    def table(self, pairs: Pairs) -> TableLaws:
        """Return the laws of finite or int outputs at `pairs`.

        Raises Undecided past a limit, and for outputs that cannot be listed.
        """
        if self._table is None or self._table.pairs is not pairs:
            tables = [composed(table, runs, self.program.limits) for table, runs in self._tables(pairs)]
            table = together(tables, self.program.limits)
            kind = enclosed.EnclosedLaws if table.is_enclosed else ClosedLaws
            self._table = kind(self.subject, table, pairs)
        return self._table

    def _tables(self, pairs: Pairs) -> list[tuple[LawTable, int]]:
        if self._single is None or self._single[0] is not pairs:
            tables, inputs, progress = [], pairs.inputs, self.subject.progress
            for given, runs in self.parts:
                # At inputs outside of the box, the program without clamps has other laws.
                in_box = self._box is not None and all(map(self._box.contains, inputs))
                program = self._box.program if self._box is not None and in_box else given
                is_finite = program.core.has_finite_outputs
                table = (
                    law_table(program, inputs, self.engine, progress) if is_finite else integer_table(program, inputs)
                )
                tables.append((table, runs))
            self._single = pairs, tables
        return self._single[1]

    @cached_property
    def _worst(self) -> Pairs | Undecided:
        """Pairs among which one is the worst of all pairs, or the Undecided with the reason why none is known."""
        if isinstance(self.pairs, Pairs):
            return self.pairs
        if len(self.parts) > 1:
            return OutsideFragment("for several programs no pair of real inputs is known to be the worst: give pairs")
        try:
            return worst_pairs(self.program, self.pairs.adjacency, self._box)
        except Undecided as undecided:
            return undecided

    @cached_property
    def _shifts(self) -> ShiftLaws:
        """Bounds of the loss at all pairs: upper bounds by shifts of the noises, lower bounds by single outputs."""
        unknown = self._worst.reason if isinstance(self._worst, Undecided) else None
        return ShiftLaws(self.subject, self.pairs, self.bounds, unknown)

    @cached_property
    def _at_once(self) -> ShiftLaws | None:
        """Bounds by shifts of the noises for many pairs together, which is faster than deciding each pair.

        The result is None if the pairs are few or listed in a file, and if shifts give no bounds. It is also None if
        the program with its inputs left symbolic has more states than there are pairs.
        """
        pairs, within = self.pairs, self.adjacency
        if not isinstance(pairs, Pairs) or not isinstance(within, Neighborhood) or len(pairs.ordered) < _MANY_PAIRS:
            return None

        def bounds_of(program: Program) -> LossBounds:
            limits = replace(program.limits, states=min(program.limits.states, len(pairs.ordered)))
            return bounds_by_shifts(Program(program.core, limits), within, self.engine, pairs)

        with suppress(Undecided):
            bounds = self._together(bounds_of)
            return ShiftLaws(self.subject, pairs, lambda: bounds, None)
        return None

    def bounds(self) -> LossBounds:
        """Return upper bounds of the loss at all pairs by shifts, and lower bounds by single outputs."""
        match self.pairs:
            case EveryPair(adjacency):
                return self._together(lambda program: bounds_for_every_pair(program, adjacency, self.engine))
            case Pairs() as pairs:
                return self._together(lambda program: bounds_at_pairs(program, pairs))
        assert_never(self.pairs)

    def _together(self, of: Callable[[Program], LossBounds]) -> LossBounds:
        return bounds_of_runs([(of(program), runs) for program, runs in self.parts])

    # --- the questions --------------------------------------------------------------------------------

    def _with_irrational_ends(self, claim: PrivacyClaim, irrational: IrrationalEps) -> PrivacyReport:
        """Decide a `claim` with `irrational` ends of eps: prove it on larger intervals, or refute it on smaller ones.

        A claim about a single irrational eps is refuted only if one set of outputs refutes it throughout an interval
        around this eps.
        """
        report = replace(self.decide(replace(claim, irrational=None)), claim=claim)
        if report.verdict is PrivacyVerdict.PRIVATE:
            return report
        if irrational.outside is not None and self._has_forms:
            laws = self.laws()
            assert isinstance(laws, ClosedLaws)
            with suppress(Undecided):
                if laws.holds_except(claim, irrational.outside):
                    return replace(report, verdict=PrivacyVerdict.PRIVATE, counterexample=None, reason=None)
        if irrational.smaller is None:
            if claim.ratio != 1 and not self._has_forms:
                _, high = Real.from_rational(claim.ratio).log().enclosure()
                more = claim.budget + high / claim.intervals[0].lower
                stronger = self._decide(replace(claim.on_intervals(claim.intervals), budget=more, ratio=Fraction(1)))
                report = replace(stronger, claim=claim)
            if report.counterexample is not None and self._fails_throughout(report.counterexample, claim):
                return report
        else:
            within = self.decide(claim.on_intervals(irrational.smaller))
            if within.verdict is PrivacyVerdict.NOT_PRIVATE:
                return replace(within, claim=replace(within.claim, irrational=irrational))
        if report.verdict is PrivacyVerdict.UNDECIDED:
            return report
        return _undecided(
            report, "whether the claim fails depends on the direction in which the ends of eps are rounded"
        )

    def _fails_throughout(self, found: PrivacyCounterexample, claim: PrivacyClaim) -> bool:
        """Return True if the outputs of `found` are proved to refute `claim` at every eps of the claim's intervals."""
        ours, allowed = found.sides.probability, found.sides.allowed
        if not isinstance(ours, ClosedForm) or not isinstance(allowed, ClosedForm):
            return False
        with suppress(Undecided):
            excess, _ = fraction_of(ours.value - allowed.value)
            return (
                not excess.is_zero()
                and is_nowhere_negative(excess, claim.intervals)
                and not any(isolate_roots(excess, interval, self.program.limits) for interval in claim.intervals)
            )
        return False

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """Decide whether `claim` holds.

        Raises DiagnosticError if the program was read for eps other than those of the claim.
        """
        self.require_meaning(claim.intervals)
        if claim.irrational is not None:
            return self._with_irrational_ends(claim, claim.irrational)
        if claim.piecewise is not None:
            return self._piece_by_piece(claim, claim.piecewise)
        report = self._decide(claim)
        more = claim.with_more
        if more is None or report.verdict is PrivacyVerdict.PRIVATE:
            return report
        # The claim fails with a delta rounded down. It fails with its own delta, too, if it fails with one rounded up.
        above = self._decide(more)
        if above.verdict is PrivacyVerdict.PRIVATE:
            reason = f"the least delta is only enclosed, and could not be told apart from {claim.delta_text}"
            above = _undecided(above, reason)
        return replace(above, claim=claim, obligations=report.obligations + above.obligations)

    def _piece_by_piece(self, claim: PrivacyClaim, delta: PiecewiseForm) -> PrivacyReport:
        """Decide a `claim` whose `delta` has several closed forms, each form on its own intervals.

        The intervals of a form may also contain eps at which `delta` has another form. There a counterexample to the
        claim about this form refutes `claim` only if it is also one for `delta` itself.
        """
        result: PrivacyReport | None = None
        obligations = 0
        for piece in claim.pieces:
            report = self._decide(piece)
            obligations += report.obligations
            counterexample = report.counterexample
            if counterexample is not None:
                more = delta.enclosure(counterexample.eps, 60)[1] - piece.delta.enclosure(counterexample.eps, 60)[0]
                if counterexample.probability[0] > counterexample.allowed[1] + max(more, Fraction(0)):
                    result = report
                    break
                report = _undecided(
                    report, f"the claim is not decided near eps = {counterexample.eps}, where delta changes its form"
                )
            if result is None or result.verdict is PrivacyVerdict.PRIVATE:
                result = report
        assert result is not None, "a claim is about some eps"
        return replace(result, claim=claim, obligations=obligations)

    def _between_budgets(self, claim: PrivacyClaim) -> PrivacyReport:
        """Decide a `claim` whose budget contains log(r), by claims with a smaller and a greater multiple of eps.

        If g is the greatest eps of the claim, log(r) is at least (log(r)/g)·eps for all its eps. At a single eps e,
        log(r) is at most q·e, for a rational q slightly above log(r)/e.
        """
        greatest = claim.intervals[-1].upper
        low, high = Real.from_rational(claim.ratio).log().enclosure()
        less = Fraction(0) if greatest is None else low / greatest
        if claim.greatest is not None:
            less = _exact_multiple(claim.ratio, claim.greatest) or less
        report = self._decide(replace(claim, budget=claim.budget + less, ratio=Fraction(1), greatest=None))
        if report.verdict is PrivacyVerdict.PRIVATE:
            return replace(report, claim=claim)
        for eps in () if claim.greatest is not None else _some_points(claim.intervals):
            at_one = claim.on_intervals((Interval.closed(eps, eps),))
            above = self._decide(replace(at_one, budget=claim.budget + high / eps, ratio=Fraction(1)))
            if above.verdict is PrivacyVerdict.NOT_PRIVATE:
                return replace(above, claim=claim)
        reason = "a budget with a logarithm is decided for finitely many outputs or, up to a tie, at one eps"
        return replace(_undecided(report, reason), claim=claim)

    @property
    def _has_forms(self) -> bool:
        """True if claims are decided by closed forms of the probabilities of finitely many outputs at listed pairs."""
        at_once = self._table is None and self._at_once is not None
        listed = self._normal is None and not at_once and self._is_listed and self.finite_outputs
        return listed and isinstance(self.laws(), ClosedLaws)

    def _decide(self, claim: PrivacyClaim) -> PrivacyReport:
        if claim.ratio != 1 and not self._has_forms:
            return self._between_budgets(claim)
        begun = self.engine.spent.obligations
        answer: Answer = Undecided("")
        try:
            for answer in self._answers(claim):
                if not isinstance(answer, Undecided):
                    break
        except Undecided as undecided:
            answer = undecided
        obligations = self.engine.spent.obligations - begun
        report = PrivacyReport(*self.asked, claim, PrivacyVerdict.UNDECIDED, obligations=obligations)
        match answer:
            case Proved():
                return replace(report, verdict=PrivacyVerdict.PRIVATE, proof=answer.by)
            case PrivacyCounterexample():
                return replace(report, verdict=PrivacyVerdict.NOT_PRIVATE, counterexample=answer)
            case Undecided():
                return replace(report, reason=answer.reason)

    def _answers(self, claim: PrivacyClaim) -> Iterator[Answer]:
        """Yield the answers of the methods that may decide `claim`, the cheapest method first.

        If no method decides the claim, the last answer gives the reason. Raises Undecided.
        """
        if self._normal is not None:
            yield self._normal.decide(claim)
            return
        if self._table is None and self._at_once is not None:
            yield self._at_once.decide(claim)
        if self._is_listed and (self.finite_outputs or not claim.is_pure):
            yield self.laws().decide(claim)
            return
        if not claim.is_pure and self._noisy_values is not None:
            with suppress(Undecided):
                if isinstance(self._noisy_values.decide(claim), Proved):
                    yield Proved(noisy_vector.OF_NOISY_VALUES)
        yield self._shifts.decide(claim)
        if self.real_outputs and not claim.is_pure:
            with suppress(Undecided) if self._tried is not None else ExitStack():
                yield self._dense.decide(claim)
        elif self.real_outputs:
            # Outputs that are impossible at the adjacent input have no shift onto each other.
            with suppress(Undecided):
                answer = self._dense.decide(claim)
                if isinstance(answer, PrivacyCounterexample):
                    yield answer
        elif self._is_listed or (not claim.is_pure and isinstance(self._worst, Pairs)):
            # The values of an int output far from its center are one answer, so that all answers can be listed.
            with suppress(Undecided):
                yield self.laws().decide(claim)
        if self._tried is not None:
            with suppress(Undecided):
                at_tried = RealOutputs(self.subject, self._tried) if self.real_outputs else self.table(self._tried)
                answer = at_tried.decide(claim)
                if isinstance(answer, PrivacyCounterexample):
                    yield answer
        if self.real_outputs and not claim.is_pure and isinstance(self._worst, Undecided):
            # This raises Undecided with the reason to report: no pair is known to be the worst.
            self._dense.decide(claim)

    @cached_property
    def _noisy_values(self) -> Laws | None:
        """The laws of all values that are sums of inputs and Gaussian noise, as if they were the outputs.

        A claim that holds for these values also holds for the outputs. None if the outputs depend on the inputs in
        another way, if pairs are listed, or for several runs.
        """
        if not isinstance(self.pairs, EveryPair) or self.runs > 1:
            return None
        with suppress(Undecided):
            return noisy_vector.noisy_value_laws(self.subject, self.pairs)
        return None

    @cached_property
    def _tried(self) -> Pairs | None:
        """A few of infinitely many pairs, to look for a counterexample; None if a worst pair is known."""
        if not isinstance(self.pairs, EveryPair) or not isinstance(self._worst, Undecided) or self.runs > 1:
            return None
        return few_pairs(self.program, self.pairs.adjacency)

    @property
    def _is_listed(self) -> bool:
        """True if the program has no real outputs, and the question is decided by listed pairs of inputs."""
        pairs = self._worst if self.finite_outputs else self.pairs
        return isinstance(pairs, Pairs) and not self.real_outputs

    def compared(self, report: PrivacyReport, most: int) -> list[OutputsAtPair]:
        """Return at most `most` inequalities between two probabilities on which the verdict of `report` rests.

        For a refuted claim there is one inequality, that of its counterexample. For any other claim each inequality is
        that of a set of outputs at a pair. The list is empty if inputs or outputs cannot be listed, and past a limit.
        """
        if report.counterexample is not None:
            return [report.counterexample.sides]
        if isinstance(self.pairs, Pairs) and self.finite_outputs and report.claim.piecewise is None:
            with suppress(Undecided):
                return self.table(self.pairs).compared(report.claim, most)
        return []

    def constant(self, eps: GivenEps, digits: int | None = None) -> Constant:
        """Return the least K such that the program is K·eps-private for every `eps` of the intervals.

        The answer is exact, or a lower and an upper bound. If outputs are listed and `digits` is given, both bounds
        agree to this many significant digits.
        """
        claim = read_claim(self.program, None, None, eps, enclosed=True)
        intervals, irrational = claim.intervals, claim.irrational
        self.require_meaning(intervals)
        ends = self._constant_ends(intervals, digits)
        if irrational is not None:
            intervals = irrational.smaller or intervals
            refuted = self._at_irrational_eps(ends, intervals) if irrational.smaller is None else None
            within = refuted or self._constant_ends(intervals, digits)
            ends = replace(within, proved=ends.proved, reason=within.reason or ends.reason)
        places = ends.proved, ends.refuted_below, ends.at, ends.reason
        return Constant(*self.asked, claim.eps_text, *places, intervals=intervals)

    def _constant_ends(self, intervals: tuple[Interval, ...], digits: int | None) -> ConstantEnds:
        ends = ConstantEnds(None, Fraction(0), None)
        try:
            for ends in self._constants(intervals, digits):
                if ends.exact:
                    break
        except Undecided as undecided:
            ends = ConstantEnds(None, Fraction(0), None, undecided.reason)
        return ends

    def _at_irrational_eps(self, ends: ConstantEnds, intervals: tuple[Interval, ...]) -> ConstantEnds:
        """Return the bounds `ends` of the least K with a lower bound that is proved on all `intervals`.

        The intervals surround an irrational eps. The new lower bound is `ends.refuted_below`, if the probabilities of
        `ends.at` prove this bound at every eps of the intervals. Otherwise the new bound is a slightly smaller number
        that the probabilities prove, or 0.
        """
        if ends.at is not None and ends.refuted_below is not None:
            for less in (Fraction(0), Fraction(1, 10**DIGITS), Fraction(1, 10**_FEW_DIGITS)):
                constant = ends.refuted_below * (1 - less)
                excess, _ = fraction_of(ends.at.first - power(constant) * ends.at.second)
                with suppress(Undecided):
                    if is_nowhere_negative(excess, intervals, self.program.limits):
                        return replace(ends, refuted_below=constant)
        return replace(ends, refuted_below=Fraction(0), at=None)

    def _constants(self, intervals: tuple[Interval, ...], digits: int | None) -> Iterator[ConstantEnds]:
        """Yield bounds of the least K of K·eps-privacy on the `intervals`, those of the cheapest method first.

        If outputs are listed and `digits` is given, both bounds agree to this many significant digits. Raises
        Undecided.
        """
        if self._at_once is not None:
            yield self._at_once.constant(intervals, digits)
        if self._is_listed and self.finite_outputs:
            yield self.laws().constant(intervals, digits)
            return
        known = self._shifts.constant(intervals, digits)
        yield known
        if self._is_listed:
            with suppress(Undecided):
                ends = self.laws().constant(intervals, digits)
                yield replace(ends, reason=None if ends.exact else known.reason)
        elif self.real_outputs and not known.exact and known.proved is None:
            with suppress(Undecided):
                yield self._dense.constant(intervals, digits)

    def largest_loss(self, eps: Fraction, digits: int = DIGITS) -> Loss:
        """Return the largest privacy loss at `eps`, over all pairs and outputs, to `digits` significant digits.

        Raises DiagnosticError for real inputs that are not enumerated; Undecided past a limit, and for outputs whose
        largest loss is not known.
        """
        self.require_meaning(eps)
        return self.laws().loss(eps, digits)

    def divergence(self, order: int, eps: Fraction, digits: int = DIGITS) -> Renyi:
        """Return the largest Rényi divergence of `order` >= 2 at `eps`, over all pairs, to `digits` significant digits.

        Raises DiagnosticError for real inputs that are not enumerated, Undecided if the divergence is not known, and
        past a limit.
        """
        self.require_meaning(eps)
        if self.runs > 1 and len(self.parts) == 1 and not self.finite_outputs:
            # Divergences of independent runs add up, and the same pair is the worst for each run.
            one = self.single().divergence(order, eps, digits)
            value = None if one.value is None else (one.value[0] * self.runs, one.value[1] * self.runs)
            return replace(one, value=value, moment=None)
        return self.laws().divergence(order, eps, digits)

    def least_delta(self, claim: PrivacyClaim, point: Fraction | None = None, digits: int = DIGITS) -> LeastDelta:
        """Return the least delta for the budget of `claim` on its intervals, and at the eps `point` if it is given.

        Deltas without a closed form are enclosed to about `digits` digits. Raises DiagnosticError for real inputs that
        are not enumerated and for a `point` outside of the intervals; Undecided if the least delta is not known, and
        past a limit.
        """
        self.require_meaning(claim.intervals)
        if point is not None and not any(point in interval for interval in claim.intervals):
            raise bad_input("E1411", f"eps = {point} is outside of {claim.eps_text}", "change --at or --eps")
        try:
            return self.laws().least_delta(claim, point, digits)
        except DiagnosticError:
            enough = None if self._noisy_values is None else self._noisy_values.least_delta(claim, point, DIGITS)
            if enough is None:
                raise
            known = enough.supremum[1] if enough.at is None else enough.at[1][1]
            text = decimal(round_up(known, 10)) + ("" if enough.at is None else f" at eps = {point}")
            raise OutsideFragment(
                f"no pair of adjacent inputs is known to be the worst; a delta of {text} is enough, by post-processing "
                "of the noisy values"
            ) from None

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int = DIGITS) -> Ends:
        """Return an enclosure, about 10^-`digits` wide, of the least delta for the budget `budget`·eps at one `eps`.

        Raises DiagnosticError for real inputs that are not enumerated; Undecided if the least delta is not known, and
        past a limit.
        """
        self.require_meaning(eps)
        return self.laws().delta_at(budget, eps, digits)

    def rho(self, eps: GivenEps) -> Rho:
        """Return the least ρ such that the program is ρ-zCDP on the intervals that the option `eps` gives.

        Raises Undecided if the least ρ is not known.
        """
        if self.runs > 1:
            raise OutsideFragment(_SEVERAL)
        claim = read_claim(self.program, None, None, eps)
        if self._normal is None:
            raise Undecided("the least rho is known only for sums of inputs and Gaussian noise")
        return self._normal.rho(claim)


def _exact_multiple(ratio: Fraction, eps: Real) -> Fraction | None:
    """Return the rational q with log(`ratio`) = q·`eps`, or None if none is found."""
    low, high = (Real.from_rational(ratio).log() / eps).enclosure()
    candidate = simplest_between(low, high, lower_closed=True, upper_closed=True)
    with suppress(NotReal):
        if (eps * Real.from_rational(candidate)).exp().rational == ratio:
            return candidate
    return None


#: An eps at which most budgets that do not grow with eps are refuted.
_FAR = Fraction(10)


def _some_points(intervals: Sequence[Interval]) -> Iterator[Fraction]:
    """Yield some eps of `intervals`, at which a budget with a logarithm may be refuted."""
    for interval in reversed(intervals):
        ends = (interval.upper, interval.lower)
        yield from (end for end in ends if end and end in interval)
        yield from (point for point in (interval.inner_point,) if point not in ends)
        if interval.upper is None:
            yield max(interval.lower, _FAR) + 1


def _undecided(report: PrivacyReport, reason: str) -> PrivacyReport:
    return replace(report, verdict=PrivacyVerdict.UNDECIDED, counterexample=None, reason=reason, proof=None)


def _require_same_inputs(programs: Sequence[Program]) -> None:
    first, *others = programs
    wanted = [(slot.name, slot.type) for slot in first.core.input_slots]
    for other in others:
        if [(slot.name, slot.type) for slot in other.core.input_slots] != wanted:
            raise ValueError(
                f"`{other.name}` and `{first.name}` have different inputs: programs are composed at the same pair of "
                "inputs, so declare the same inputs in the same order"
            )
        if _required(other) != _required(first):
            raise ValueError(
                f"`{other.name}` and `{first.name}` have different `requires`: programs are composed at "
                "the same pair of inputs, so declare the same `requires`"
            )


def _required(program: Program) -> object:
    requires = program.core.requires
    if requires is None:
        return None
    names = set(re.findall(r"\w+", requires.text))
    return requires.text, {name: value for name, value in program.core.constants.items() if name in names}
