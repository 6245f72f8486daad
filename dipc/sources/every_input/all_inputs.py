"""Every real input as a source of obligations, class by class (Theorem 3 of the paper where it applies).

For a class C of inputs with one answer let C(alpha) be its inputs with dd(u) >= alpha. Every slack of the answer's
events is bounded below over (a superset of) C(alpha) by linear programming, and so is the probability, by monotonicity.
If the bound meets the claim, the claim holds at every input of the class: u is in C(dd(u)). If one input attains all
the bounds, it decides the class by itself. Whatever refutes is an input of its own, decided like a row of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Quotient
from dipc.chain.affine import Affine
from dipc.claim.options import ClaimOptions
from dipc.diagnostics.diagnostic import Diagnostic
from dipc.exits.program import Program
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal
from dipc.ideal.norm import Norm
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine
from dipc.obligations.obligation import Bound, Obligation
from dipc.obligations.saying import saying
from dipc.obligations.verdict import Counterexample, Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.sources.every_input.class_result import ClassNote, ClassResult, Method
from dipc.sources.every_input.classes import InputClass, classes
from dipc.sources.every_input.convex_pieces import ConvexPiece, pieces
from dipc.sources.every_input.corner import Ceiling, greatest_alpha
from dipc.sources.every_input.describe import answer_texts, corner_texts, facet_texts, guard_texts, input_texts
from dipc.sources.every_input.evidence import ClassEvidence, Empty, Exact, Farkas, Proved, Refuted
from dipc.sources.every_input.exits import ExitFinder
from dipc.sources.every_input.facet_metric import facet_metric
from dipc.sources.every_input.facets import facets
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.every_input.lower import Lower, lower_bound
from dipc.sources.every_input.requirement import Requirement, at_zero, requirement
from dipc.sources.every_input.rivals import choices
from dipc.sources.every_input.scaling import ClassClaim, products
from dipc.sources.every_input.upper import complement_bound
from dipc.sources.every_input.witness import Witnesses, candidates
from dipc.sources.evidence import CaseEvidence
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report
from dipc.sources.source import Posed, Settling, Source

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class ConvexClass:
    """A piece of a class, of it what is behind the facets of `side`, and all facets that its inputs at a distance are
    behind; `refused` says why it could not be made out."""

    number: int
    of: InputClass
    piece: ConvexPiece
    side: tuple[Moving, ...]
    facets: tuple[Moving, ...]
    refused: str | None = None


class EveryInput(Source):
    """The claim about every real input of one program."""

    def __init__(self, program: Program, options: ClaimOptions) -> None:
        """Raises DiagnosticError for a program or a claim that is not of this kind."""
        self._program = program
        self.options = options
        self.ideal = Ideal(program)
        self.claim = ClassClaim(program, options.beta, options.alpha, options.gamma, options.eps)
        self.metric = facet_metric(self.ideal)
        self.exits = ExitFinder(program)
        self.witnesses = Witnesses(self.ideal, Distances(self.ideal), options)

    def asking(self, options: ClaimOptions) -> EveryInput:
        """The same question with another claim."""
        return EveryInput(self.program, options)

    @property
    def program(self) -> Program:
        return self._program

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return self.claim.intervals

    @property
    def about(self) -> str:
        return "all inputs"

    @property
    def stated(self) -> Mapping[str, str | None]:
        return self.claim.stated

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.claim.warnings

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = super().report(rows, engine, interrupted=interrupted)
        return report if interrupted else replace(report, evidence=CaseEvidence(self, report.rows))

    def cases(self) -> Iterator[ClassCase]:
        """The classes in order."""
        number = 0
        for found in classes(self.ideal):
            parts = list(self._parts(found))
            assert parts, "regions are not empty: a class without cases would hold of itself"
            for part in parts:
                number += 1
                yield ClassCase(self, replace(part, number=number))

    def _parts(self, found: InputClass) -> Iterator[ConvexClass]:
        moving = facets(found.region, found.others, self.metric)
        try:
            exits = self.exits.exits(found.finite, found.region)
            parts = pieces(found.region.guards, exits, self.ideal.program.limits.pieces)
        except Undecided as undecided:
            yield ConvexClass(0, found, ConvexPiece((), ()), (), moving, undecided.reason)
            return
        sides: Sequence[tuple[Moving, ...]] = ((),)
        if any(guard.form.inputs and not facet.step for guard, facet in zip(found.region.guards, moving, strict=True)):
            sides = choices(found.region, found.rivals, self.metric)
        for piece in parts:
            static = [Moving(guard.form, _ZERO) for guard in piece.guards]
            for side in sides:
                yield ConvexClass(0, found, piece, side, (*moving, *static, *side))


@dataclass(frozen=True, slots=True)
class _Bounded:
    """What is to be shown of a class and what is known: `intervals` are the values of the variable, `ceiling` says
    which is the greatest alpha of the class (None: none, or not known)."""

    required: Requirement
    lower: Lower
    intervals: tuple[Interval, ...]
    ceiling: Ceiling | None

    @property
    def greatest(self) -> Fraction | None:
        return None if self.ceiling is None else self.ceiling.alpha

    @property
    def sample(self) -> Fraction:
        """A value of the open distance at which the class is shown."""
        return _ONE if self.greatest is None or self.greatest >= 1 else self.greatest

    @property
    def alpha(self) -> Fraction:
        """alpha there."""
        return self.required.distances.alpha_base + self.sample * self.required.distances.alpha_rate


class ClassCase:
    """The claim about one convex class of inputs."""

    def __init__(self, source: EveryInput, of: ConvexClass) -> None:
        self._source = source
        self._core = source.program.core
        self.of = of

    @property
    def number(self) -> int:
        return self.of.number

    def posed(self) -> Sequence[Posed]:
        """The least probability of the class, or a lower bound of it, against beta; nothing where no input of the class
        is so far from other answers. Raises Undecided and DiagnosticError."""
        bounded = self._bounded
        if isinstance(bounded, Empty):
            return ()
        posed = self._posed(bounded)
        if posed is None:
            raise Undecided(bounded.required.reason or "beta is no function of the obligation's variable")
        return (posed,)

    def alternative(self) -> Posed | None:
        """Another bound of the same probabilities, from what other answers have at most; None where there is none."""
        bounded, part = self._bounded, self.of
        if isinstance(bounded, Empty) or bounded.lower.attained or bounded.required.beta is None:
            return None
        others = self._source.exits.others(part.of.finite, part.of.region)
        if others is None:
            return None
        guards = [*part.of.region.guards, *part.piece.guards]
        found = complement_bound(others, guards, part.facets, bounded.required.distances)
        if found is None:
            return None
        bound, why = found
        return Posed(Obligation(bound, bounded.required.beta, bounded.intervals), bounded.required.variable, why)

    def shown(self) -> ClassResult:
        """What the case is about, not decided."""
        with suppress(Undecided):
            bounded = self._bounded
            return self._row(Method.NONE, Verdict.UNDECIDED, None if isinstance(bounded, Empty) else bounded)
        return self._row(Method.NONE, Verdict.UNDECIDED)

    def settle(self) -> Settling:
        try:
            found = yield from self._settle()
        except Undecided as undecided:
            found = self._undecided(undecided.reason)
        assert isinstance(found, ClassResult)
        return self._said(found)

    def _said(self, found: ClassResult) -> ClassResult:
        """The result with where its claim says something, which may be nowhere: then it holds, decided or not."""
        assert found.note is not None
        nearness = self._greatest_dd()
        if found.note.method is Method.EMPTY or nearness is not None:
            found = _vacuous(found, Method.EMPTY)
            if found.evidence is None and nearness is not None:
                bound = Moving(Affine.number(nearness), Fraction(1))
                found = replace(found, evidence=ClassEvidence((bound,), Empty(Ceiling(nearness, ((0, Fraction(1)),)))))
            return found
        try:
            bounded = self._bounded
        except Undecided:
            return found
        if isinstance(bounded, Empty):
            return found
        required, beta = bounded.required, bounded.required.beta
        if beta is None:
            return found
        says = saying(beta, bounded.intervals, self._source.program.limits)
        found = replace(found, says=says)
        if not says.nothing:
            return found
        if found.evidence is None:
            # Whatever the probabilities are, they are not less than 0.
            why = Farkas(self.of.facets, required.distances, ())
            posed = Posed(Obligation(Bound(()), beta, bounded.intervals), required.variable, why)
            ceiling = bounded.ceiling if required.distances.alpha_rate else None
            found = self._evident(found, Proved(posed, required.dd, ceiling))
        return _vacuous(found, Method.NOTHING)

    def _greatest_dd(self) -> Fraction | None:
        """What dd is at most at all inputs of the class, if alpha is a greater number."""
        source, metric, of = self._source, self._source.metric, self.of.of
        if source.claim.at_distance or of.alone or metric.apart is not None:
            return None
        alpha = source.claim.alpha_number()
        if metric.norm is Norm.DISCRETE:
            return Fraction(1) if alpha > 1 else None
        return _ZERO if of.restless and alpha > 0 else None

    def _settle(self) -> Settling:
        bounded = self._bounded
        if isinstance(bounded, Empty):
            return self._evident(self._row(Method.EMPTY, Verdict.ACCURATE), bounded)
        posed = self._posed(bounded)
        if posed is None:
            measured = yield bounded.lower.bound
            decision = replace(measured, reason=None if measured.bound is not None else measured.reason)
        else:
            decision = yield posed.obligation
        if decision.bound is None:
            return self._undecided(decision.reason)
        if posed is not None and decision.verdict is Verdict.ACCURATE:
            return self._proved(bounded, posed, decision)
        other = self.alternative()
        if other is not None:
            found = yield other.obligation
            if found.verdict is Verdict.ACCURATE:
                return self._proved(bounded, other, found)
        return (yield from self._refuted(bounded, decision))

    # --- what is to be shown ----------------------------------------------------------------------------

    @cached_property
    def _bounded(self) -> _Bounded | Empty:
        """What is to be shown, unless the claim says nothing about the class. Raises Undecided, DiagnosticError."""
        if self.of.refused is not None:
            raise Undecided(self.of.refused)
        source = self._source
        wanted = requirement(source.claim, self.of.of, source.metric)
        found = self._bounds(wanted)
        if isinstance(found, _Bounded) and found.greatest == 0 and wanted.distances.alpha_rate:
            return self._bounds(at_zero(source.claim))
        return found

    def _bounds(self, wanted: Requirement) -> _Bounded | Empty:
        source, part, distances = self._source, self.of, wanted.distances
        lower = lower_bound(part.piece.exits, part.facets, source.ideal.symbolic_inputs, distances)
        ceiling = None if lower.corner is not None else greatest_alpha(part.facets)
        greatest = None if ceiling is None else ceiling.alpha
        if greatest is not None and ceiling is not None and greatest < (distances.alpha or _ZERO):
            return Empty(ceiling)
        intervals = source.claim.intervals
        if distances.gamma_rate and not distances.alpha_rate:
            intervals = (products(intervals, None),)
        elif distances.alpha_rate and greatest != 0:
            intervals = (products(intervals, greatest),)
        return _Bounded(wanted, lower, intervals, ceiling)

    def _posed(self, bounded: _Bounded) -> Posed | None:
        """None where beta is no function of the variable."""
        required = bounded.required
        if required.beta is None:
            return None
        obligation = Obligation(bounded.lower.bound, required.beta, bounded.intervals)
        return Posed(obligation, required.variable, self._why(bounded))

    def _why(self, bounded: _Bounded) -> Exact | Farkas:
        lower = bounded.lower
        if lower.attained and lower.corner is not None and self._holds_corner(bounded) and self._is_met(bounded):
            return Exact(lower.why, lower.corner)
        return lower.why

    def _holds_corner(self, bounded: _Bounded) -> bool:
        """Whether the corner is in the class, and as far from other answers as alpha: it may be on an edge that belongs
        to another class, and nearer to one than a facet that was left where it is can tell."""
        part, corner = self.of, bounded.lower.corner
        assert corner is not None
        alpha = bounded.alpha
        point = corner.at(alpha)
        if not all(guard.holds_at(point) for guard in (*part.of.region.guards, *part.piece.guards)):
            return False
        distance = self._distance(point) if alpha and self._has_static_facets() else None
        return distance is None or distance >= alpha

    def _is_met(self, bounded: _Bounded) -> bool:
        """Whether the claim at the corner, for each distance left open, is the one that was posed: where alpha = dd is
        left open, dd has to be alpha there. A facet that moves, and is met, is as far from another answer as alpha;
        else dd is computed at one alpha, which is enough where every product alpha·eps has an eps of the claim."""
        if not bounded.required.distances.alpha_rate:
            return True
        found = (slack for share in bounded.lower.why.shares for event in share.events for slack in event)
        tight = {place for slack in found for place in slack.tight}
        if not self._has_static_facets() and any(self.of.facets[place].step for place in tight):
            return True
        assert bounded.lower.corner is not None
        everything = self._source.claim.intervals == (Interval.positive(),)
        return everything and self._distance(bounded.lower.corner.at(bounded.alpha)) == bounded.alpha

    def _has_static_facets(self) -> bool:
        region = self.of.of.region
        return any(facet.form.inputs and not facet.step for facet in self.of.facets[: len(region.guards)])

    def _distance(self, point: Mapping[int, Fraction]) -> Fraction | None:
        return self._source.witnesses.distance({**self.of.of.finite, **point})

    # --- rows -------------------------------------------------------------------------------------------

    def _undecided(self, reason: str | None) -> ClassResult:
        return self._row(Method.NONE, Verdict.UNDECIDED, reason=reason)

    def _evident(self, row: ClassResult, found: Proved | Refuted | Empty) -> ClassResult:
        return replace(row, evidence=ClassEvidence(self.of.facets, found))

    def _proved(self, bounded: _Bounded, posed: Posed, decision: Decision) -> ClassResult:
        evidence = Proved(
            posed, bounded.required.dd, bounded.ceiling if bounded.required.distances.alpha_rate else None
        )
        if bounded.lower.attained and not self._holds_corner(bounded):
            bounded = replace(bounded, lower=replace(bounded.lower, attained=False, corner=None))
        method = Method.CORNER if bounded.lower.attained else Method.BOUND
        return self._evident(self._row(method, Verdict.ACCURATE, bounded, decision.bound), evidence)

    def _refuted(self, bounded: _Bounded, decision: Decision) -> Settling:
        """The class with an input that refutes the claim, undecided where none is found."""
        source, part, lower = self._source, self.of, bounded.lower
        distances = bounded.required.distances
        gamma = None
        alphas: Sequence[Fraction] = (distances.alpha or _ZERO,)
        if distances.is_open:
            scale = self._scale_of(bounded, decision.counterexample)
            if distances.alpha_rate:
                alphas = tuple(dict.fromkeys([scale, bounded.sample]))
            else:
                gamma = scale
        slots = source.ideal.symbolic_inputs
        proposed = candidates(part.of.region, part.facets, lower.slacks, slots, part.of.finite, lower.corner, alphas)
        moves = bool(distances.alpha_rate and distances.gamma_rate)
        found = yield from source.witnesses.first_refuting(proposed, gamma, finite=moves)
        if found is not None:
            note = self._note(Method.WITNESS, bounded, decision.bound)
            return self._evident(self._witnessed(found.row, note), found)
        reason = bounded.required.reason or decision.reason or _unproved(lower)
        return self._row(Method.NONE, Verdict.UNDECIDED, bounded, decision.bound, reason)

    def _scale_of(self, bounded: _Bounded, found: Counterexample | None) -> Fraction:
        """A value of the open distance for which the failing product t = distance·eps has an eps of the claim."""
        if found is None:
            return bounded.sample
        for interval in self._source.claim.intervals:
            # eps = t/distance, with a distance of 1 where that is possible.
            for distance in (_ONE, bounded.sample, found.eps / _inside(interval)):
                fits = bounded.greatest is None or distance <= bounded.greatest
                if fits and found.eps / distance in interval:
                    return distance
        return bounded.sample

    def _witnessed(self, witness: RowResult, note: ClassNote) -> ClassResult:
        return ClassResult(
            self.number,
            witness.input,
            witness.output,
            witness.alpha,
            witness.beta_form,
            witness.gamma,
            witness.verdict,
            closed_form=witness.closed_form,
            counterexample=witness.counterexample,
            failing=witness.failing,
            note=note,
        )

    def _row(
        self,
        method: Method,
        verdict: Verdict,
        bounded: _Bounded | None = None,
        bound: ClosedForm | None = None,
        reason: str | None = None,
    ) -> ClassResult:
        note = self._note(method, bounded, bound)
        return replace(self._shown(bounded, bound), verdict=verdict, reason=reason, note=note)

    def _shown(self, bounded: _Bounded | None, bound: ClosedForm | None) -> ClassResult:
        """The class at its corner for one value of the open distance, where it has a corner."""
        output = answer_texts(self._core, self.of.of.region)
        if bounded is None or bounded.required.beta is None:
            zero = PiecewiseForm(ExpPoly.zero())
            return ClassResult(self.number, {}, output, self._source.claim.alpha_text, zero, "", Verdict.UNDECIDED)
        distances, corner = bounded.required.distances, bounded.lower.corner
        gamma = distances.gamma_base + bounded.sample * distances.gamma_rate
        finite = self.of.of.finite
        return ClassResult(
            self.number,
            {} if corner is None else input_texts(self._core, {**finite, **corner.at(bounded.alpha)}),
            output,
            str(bounded.alpha),
            bounded.required.beta,
            str(gamma),
            Verdict.UNDECIDED,
            closed_form=_scaled(bound, bounded.sample, distances.is_open)
            if bounded.lower.attained and bound is not None
            else None,
        )

    def _note(self, method: Method, bounded: _Bounded | None, bound: ClosedForm | None) -> ClassNote:
        part = self.of
        guards = (*part.of.region.guards, *part.piece.guards)
        answer = answer_texts(self._core, part.of.region)
        where = (*guard_texts(self._core, guards, part.of.finite), *facet_texts(self._core, part.side))
        if bounded is None:
            return ClassNote(answer, where, method)
        corner, required = bounded.lower.corner, bounded.required
        return ClassNote(
            answer,
            where,
            method,
            required.variable,
            ", ".join(map(str, bounded.intervals)),
            {} if corner is None else corner_texts(self._core, corner, part.of.finite, "alpha"),
            None if bound is None else str(bound),
            None if required.beta is None else str(required.beta),
            bounded.lower.attained,
        )


def _vacuous(found: ClassResult, method: Method) -> ClassResult:
    """A class about which the claim says nothing. No input of it is the hardest; if it was not decided, it is now."""
    assert found.verdict is not Verdict.INACCURATE, "what says nothing cannot be refuted"
    assert found.note is not None
    note = replace(found.note, corner={}, method=method)
    if method is Method.EMPTY:
        note = replace(note, probability=None, beta=None)
    return replace(found, vacuous=True, note=note, verdict=Verdict.ACCURATE, reason=None)


def _scaled(form: ClosedForm, factor: Fraction, is_open: bool) -> ClosedForm:
    if not is_open or factor == 1 or isinstance(form.value, Quotient):
        return form
    return ClosedForm(form.value.scaled(factor))


def _inside(interval: Interval) -> Fraction:
    """A point of the interval."""
    if interval.upper is None:
        return interval.lower + 1
    return (interval.lower + interval.upper) / 2


def _unproved(lower: Lower) -> str:
    why = f" ({lower.lost})" if lower.lost else ""
    return f"the lower bound of the class's probabilities does not prove the claim{why}, and no input refutes it"
