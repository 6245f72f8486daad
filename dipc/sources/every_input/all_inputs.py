"""Every real and int input as a source of obligations, class by class (Theorem 3 of the paper where it applies).

For a class C of inputs with one answer let C(alpha) be its inputs with dd(u) >= alpha. Every slack of the answer's
events is bounded below over (a superset of) C(alpha) by linear programming, and so is the probability, by monotonicity.
If the bound meets the claim, the claim holds at every input of the class: u is in C(dd(u)). If one input attains all
the bounds, it decides the class by itself. Whatever refutes is an input of its own, decided like a row of a table.
A bound over all reals behind the half-spaces is one over the integers there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import count, islice

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint, constraint
from dipc.chain.entailment import contradict
from dipc.claim.options import ClaimOptions
from dipc.claim.trend import trend
from dipc.diagnostics.diagnostic import Diagnostic
from dipc.exits.program import Program
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Answer, Ideal, Region
from dipc.ideal.norm import Norm
from dipc.lang.ast import CompareOp
from dipc.lang.core_program import CoreProgram
from dipc.linear.halfspace import Halfspace
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine
from dipc.obligations.obligation import Bound, Obligation
from dipc.obligations.saying import saying
from dipc.obligations.verdict import Counterexample, Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.sources.every_input.class_result import ClassNote, ClassResult, Method, ReportedRows
from dipc.sources.every_input.classes import InputClass, classes, finite_cases, same_answers
from dipc.sources.every_input.coins import ends, with_values
from dipc.sources.every_input.convex_pieces import ConvexPiece, pieces
from dipc.sources.every_input.corner import Ceiling, greatest_alpha
from dipc.sources.every_input.describe import answer_texts, corner_texts, facet_texts, guard_texts, input_texts
from dipc.sources.every_input.evidence import (
    ClaimedDistances,
    ClassEvidence,
    Empty,
    Exact,
    Farkas,
    Jointly,
    Proved,
    Refuted,
)
from dipc.sources.every_input.exits import CenteredExit, ExitFinder
from dipc.sources.every_input.facet_metric import facet_metric
from dipc.sources.every_input.facets import Metric as FacetMetric
from dipc.sources.every_input.facets import facets
from dipc.sources.every_input.far_away import MOST_SINGLE, FarAway
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.every_input.integers import near_integers
from dipc.sources.every_input.joint_tails import joint_bound
from dipc.sources.every_input.log_concave import corner_bounds
from dipc.sources.every_input.lower import Lower, known_slacks, lower_bound
from dipc.sources.every_input.near_answers import near_answers
from dipc.sources.every_input.requirement import (
    Requirement,
    at_zero,
    fixed_requirement,
    requirement,
    without_distance,
)
from dipc.sources.every_input.rivals import MOST_CHOICES, choices
from dipc.sources.every_input.scaling import ClassClaim, Fixed, products
from dipc.sources.every_input.search import Claimed, most_promising, proposals
from dipc.sources.every_input.united import united
from dipc.sources.every_input.upper import complement_bound
from dipc.sources.every_input.vertices import vertex_bounds
from dipc.sources.every_input.witness import Witnesses, candidates
from dipc.sources.evidence import CaseEvidence
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report
from dipc.sources.source import Case, Posed, Settling, Source, Variable, Why, results

_ZERO = Fraction(0)
_ONE = Fraction(1)

#: Distances at which inputs are looked for that refute a claim about all of them.
_SCALES = tuple(Fraction(4) ** power for power in (-3, -1, 0, 2, 5))

#: By how much a gamma is less than an integer.
_SHORT = Fraction(1, 4096)

#: Distances of int inputs at which inputs are looked for that refute a claim, and how many are decided before it is
#: asked whether one proof is enough for all that are left.
_INTEGERS = tuple(map(Fraction, (1, 2, 3, 5, 9, 20)))
_FIRST = 2

#: Inputs that are looked at of one class, and of each of its parts at least.
_MOST_POINTS, _LEAST_POINTS = 400, 30


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
    """The claim about every real and int input of one program."""

    #: Whether alpha and gamma may both be left open.
    together = False

    def __init__(self, program: Program, options: ClaimOptions, like: EveryInput | None = None) -> None:
        """The question; `like` is one about the same program, with another claim.

        Raises DiagnosticError for a program or a claim that is not of this kind.
        """
        self._program = program
        self.options = options
        self.ideal: Ideal = Ideal(program) if like is None else like.ideal
        self.claim = ClassClaim(
            program, options.beta, options.alpha, options.gamma, options.eps, together=self.together
        )
        self.metric: FacetMetric = facet_metric(self.ideal) if like is None else like.metric
        #: Which answers are as good as det's, where that depends on more than equality and gamma.
        self.near = near_answers(self.ideal, self.claim)
        self.exits: ExitFinder = (
            like.exits if like is not None and like.near == self.near else ExitFinder(program, self.near)
        )
        self.witnesses = Witnesses(self.ideal, Distances(self.ideal), options)

    def asking(self, options: ClaimOptions) -> EveryInput:
        """The same question with another claim."""
        return EveryInput(self.program, options, self)

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

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        rows = ReportedRows()
        return rows, map(rows.extend, results(self.cases(), engine))

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = super().report(rows, engine, interrupted=interrupted)
        return report if interrupted else replace(report, evidence=CaseEvidence(self, report.rows))

    def case(self, of: ConvexClass) -> Case:
        """The claim about one convex class."""
        return ClassCase(self, of)

    def cases(self) -> Iterator[Case]:
        """The classes in order; where a limit is reached before they are known, one case for all inputs."""
        number = 0
        sorted_out = classes(self.ideal)
        while True:
            try:
                found = next(sorted_out)
            except StopIteration:
                return
            except Undecided as undecided:
                yield Unsorted(self, number + 1, undecided.reason)
                return
            parts = list(self._parts(found))
            assert parts, "regions are not empty: a class without cases would hold of itself"
            for part in parts:
                number += 1
                yield self.case(replace(part, number=number))

    def _parts(self, found: InputClass) -> Iterator[ConvexClass]:
        try:
            alike = [((), found)] if self.near is None else same_answers(self.near, found, self._answers)
            exits = self.exits.exits(found.finite, found.region)
            whole = [(one, piece) for extra, one in alike for piece in self._pieces(one, extra, exits)]
        except Undecided as undecided:
            moving = tuple(Moving(guard.form, _ZERO) for guard in found.region.guards)
            yield ConvexClass(0, found, ConvexPiece((), ()), (), moving, undecided.reason)
            return
        known: dict[Region, tuple[tuple[Moving, ...], Sequence[tuple[Moving, ...]]]] = {}
        for one, piece in whole:
            inside = self._known(one, piece)
            if inside not in known:
                known[inside] = self._facets(one, inside)
            moving, sides = known[inside]
            static = [Moving(guard.form, _ZERO) for guard in piece.guards]
            for side in sides:
                yield ConvexClass(0, one, piece, side, (*moving, *_of_ints(one.region), *static, *side))

    def _facets(self, found: InputClass, inside: Region) -> tuple[tuple[Moving, ...], Sequence[tuple[Moving, ...]]]:
        """The facets of the class, of whose inputs only those inside are meant, and the choices of those of others."""
        # Beyond the other guards of what is inside det's answer is the same.
        moving = facets(inside, found.others, self.metric)[: len(found.region.guards)]
        if not self._moves(found, moving):
            return moving, ((),)
        return moving, choices(inside, found.rivals, self.metric, slanted=self.near is not None)

    def _known(self, found: InputClass, piece: ConvexPiece) -> Region:
        """The region of the class, where answers count as the same that of a piece: only there it is known which."""
        if self.near is None:
            return found.region
        return replace(found.region, guards=(*found.region.guards, *piece.guards))

    def _pieces(
        self, found: InputClass, extra: Sequence[Constraint], exits: Sequence[CenteredExit]
    ) -> Iterator[ConvexPiece]:
        for piece in pieces([*found.region.guards, *extra], exits, self.ideal.program.limits.pieces):
            yield replace(piece, guards=(*extra, *piece.guards))

    @cached_property
    def _answers(self) -> tuple[Sequence[Answer], ...]:
        """All answers that det gives."""
        regions = (region for finite in finite_cases(self.ideal) for region in self.ideal.regions(finite))
        return tuple(dict.fromkeys(region.answer for region in regions))

    def refined(self, of: ConvexClass) -> list[ConvexClass]:
        """Convex classes that cover this one: by all that its distance from other answers implies, and by whether
        outputs without noise are within gamma of det's. None but itself where that makes no difference.

        Raises Undecided past a limit.
        """
        found, piece = of.of, of.piece
        moving = of.facets[: len(found.region.guards)]
        gamma = requirement(self.claim, found, self.metric).distances.gamma_base
        guards = [*found.region.guards, *piece.guards]
        exits = [_within(e, gamma, found.whole) for e in piece.exits]
        parts = pieces(guards, exits, self.program.limits.pieces)
        known = self._known(found, piece)
        sides = choices(known, found.rivals, self.metric, slanted=True) if self._moves(found, moving) else ((),)
        if len(parts) * len(sides) > MOST_CHOICES:
            return [of]
        refined = []
        for part in parts:
            extra = (*piece.guards, *part.guards)
            static = [Moving(guard.form, _ZERO) for guard in extra]
            for side in sides:
                both = tuple(dict.fromkeys([*of.side, *side]))
                every = (*moving, *_of_ints(found.region), *static, *both)
                refined.append(ConvexClass(0, found, ConvexPiece(extra, part.exits), both, every))
        return refined

    def by_signs(self, of: ConvexClass, forms: Sequence[Affine]) -> list[ConvexClass]:
        """Convex classes that cover this one, on each of which none of the forms is both positive and negative; none if
        there would be too many."""
        found = [of.piece.guards]
        for form in forms:
            whole = all(slot in of.of.whole for slot, _ in form.inputs)
            sides = constraint(form, CompareOp.GE, whole), constraint(-form, CompareOp.GT, whole)
            both = [(*guards, side) for guards in found for side in sides]
            found = [guards for guards in both if not contradict([*of.of.region.guards, *guards])]
            if len(found) > MOST_CHOICES:
                return []
        moving = of.facets[: len(of.of.region.guards)]
        return [
            replace(
                of,
                piece=ConvexPiece(guards, of.piece.exits),
                facets=(
                    *moving,
                    *_of_ints(of.of.region),
                    *(Moving(guard.form, _ZERO) for guard in guards),
                    *of.side,
                ),
            )
            for guards in found
        ]

    @staticmethod
    def _moves(found: InputClass, moving: Sequence[Moving]) -> bool:
        """Whether the class has facets of which it is not known how they retreat as the distance grows."""
        return any(guard.form.inputs and not f.step for guard, f in zip(found.region.guards, moving, strict=True))


def _of_ints(region: Region) -> list[Moving]:
    """The guards of ints as half-spaces that stay where they are, which those that move do not imply near an edge."""
    return [Moving(guard.form, _ZERO) for guard in region.guards if guard.whole]


def _within(found: CenteredExit, gamma: Fraction, whole: frozenset[int]) -> CenteredExit:
    """The exit where its outputs without noise are within gamma of det's, which is a comparison of inputs; those of
    `whole` are ints."""
    radius = Affine.number(gamma)
    near = [
        constraint(radius - side, CompareOp.GE, all(slot in whole for slot, _ in form.inputs))
        for form in found.points
        for side in (form, -form)
        if form.inputs
    ]
    return replace(found, guards=(*found.guards, *near))


@dataclass(frozen=True, slots=True)
class Unsorted:
    """Inputs whose classes are not known, and why."""

    source: EveryInput
    number: int
    reason: str

    def posed(self) -> Sequence[Posed]:
        """Raises Undecided."""
        raise Undecided(self.reason)

    def shown(self) -> ClassResult:
        """A class without an answer, undecided."""
        alpha, nothing = self.source.claim.alpha_text, PiecewiseForm(ExpPoly.zero())
        note = ClassNote({}, (), Method.NONE)
        return ClassResult(self.number, {}, {}, alpha, nothing, "", Verdict.UNDECIDED, reason=self.reason, note=note)

    def settle(self) -> Settling:
        """It stays undecided."""
        yield from ()
        return self.shown()


@dataclass(frozen=True, slots=True)
class _Bounded:
    """What is to be shown of a class and what is known: `intervals` are the values of the variable, `ceiling` says
    which is the greatest alpha of the class (None: none, or not known)."""

    required: Requirement
    lower: Lower
    intervals: tuple[Interval, ...]
    ceiling: Ceiling | None

    def proved(self, posed: Posed) -> Proved:
        """The evidence that what was posed holds."""
        return Proved(posed, self.required.dd, self.ceiling if self.required.distances.alpha_rate else None)

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


#: Functions of which at each input of a class one is a lower bound, and why.
_Evident = tuple[Sequence[Bound], Why | None]


class ClassCase:
    """The claim about one convex class of inputs."""

    def __init__(self, source: EveryInput, of: ConvexClass) -> None:
        self._source = source
        self._core = source.program.core
        self.of = of
        #: Whether int inputs were looked at distance by distance, and those at which no bound proves the claim.
        self._counted = False
        self._failing: list[Fraction] = []

    @property
    def number(self) -> int:
        return self.of.number

    @property
    def claim(self) -> ClassClaim:
        return self._source.claim

    def posed(self) -> Sequence[Posed]:
        """The least probability of the class, or a lower bound of it, against beta; nothing where no input of the class
        is so far from other answers. Raises Undecided, as it does where integer distances are left open, and
        DiagnosticError."""
        if self._greatest_dd() is not None:
            return ()
        bounded = self._bounded
        if isinstance(bounded, Empty):
            return ()
        if self._counts(bounded) and self.of.of.integral:
            raise Undecided("distances of ints are integers, which only `check` decides one by one")
        # Of several answers that are near the others say more.
        posed = self._alternative(bounded) if self._source.near is not None else None
        posed = posed or self._posed(bounded)
        if posed is None:
            raise Undecided(bounded.required.reason or "beta is no function of the obligation's variable")
        return (posed,)

    def alternative(self) -> Posed | None:
        """Another bound of the same probabilities, from what other answers have at most; None where there is none."""
        return self._alternative(self._bounded)

    def _alternative(self, bounded: _Bounded | Empty) -> Posed | None:
        part = self.of
        if isinstance(bounded, Empty) or bounded.lower.attained or bounded.required.beta is None:
            return None
        others = self._source.exits.others(part.of.finite, part.of.region)
        if others is None:
            return None
        guards = [*part.of.region.guards, *part.piece.guards]
        found = complement_bound(others, guards, part.facets, bounded.required.distances, part.of.whole)
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
                empty = self._followed(Empty(Ceiling(nearness, ((0, Fraction(1)),))))
                found = replace(found, evidence=ClassEvidence((bound,), empty))
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
            found = self._evident(found, bounded.proved(posed))
        return _vacuous(found, Method.NOTHING)

    def _greatest_dd(self) -> Fraction | None:
        """What dd is at most at all inputs of the class, if alpha is a greater number."""
        source, metric, of = self._source, self._source.metric, self.of.of
        if source.claim.at_distance or of.alone or metric.apart is not None:
            return None
        alpha = source.claim.alpha_number()
        if metric.norm is Norm.DISCRETE:
            return _ONE if alpha > 1 else None
        if of.restless or of.moving:
            return _ZERO if alpha > 0 else None
        return _ONE if of.stepping and alpha > 1 else None

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
        if self._counts(bounded):
            row = yield from self._by_distances(bounded)
            if row is not None:
                return row
        return (yield from self._refuted(bounded, decision))

    def refuted(self) -> Settling:
        """The class with an input that refutes the claim, undecided where none is found, or is looked for because the
        claim is seen to hold. Raises Undecided, DiagnosticError."""
        bounded = self._bounded
        if isinstance(bounded, Empty):
            return self._undecided(None)
        posed = self._posed(bounded)
        decision = yield bounded.lower.bound if posed is None else posed.obligation
        if decision.bound is None or decision.verdict is Verdict.ACCURATE:
            return self._undecided(decision.reason)
        return (yield from self._refuted(bounded, replace(decision, reason=None), or_proved=False))

    # --- bounds that take more work ---------------------------------------------------------------------

    def proved(self) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class proved by any of the bounds, as a whole or in parts; None where they prove nothing. Raises
        Undecided, DiagnosticError."""
        found = yield from self._by_any_bound()
        if found is None:
            found = yield from self._in_other_ways()
        return None if found is None else self._said(found)

    def _in_other_ways(self) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class proved by bounds that take more work, as a whole or in parts; None where they prove nothing."""
        whole = yield from self._bounded_better()
        if whole is not None:
            return whole
        rows: list[ClassResult] = []
        for part in self._refined:
            row = yield from part._proved_alone()  # noqa: SLF001 - a case of the same kind
            found = [row] if row is not None else (yield from part._by_signs())  # noqa: SLF001
            if found is None:
                return None
            rows += found
        return replace(self._row(Method.BOUND, Verdict.ACCURATE), rows=tuple(rows))

    @cached_property
    def _refined(self) -> list[ClassCase]:
        """The class in parts, or as it is."""
        return [self._part(part) for part in self._source.refined(self.of)]

    def _part(self, of: ConvexClass) -> ClassCase:
        return ClassCase(self._source, replace(of, number=self.number))

    def _by_signs(self) -> Generator[Obligation | Bound, Decision, list[ClassResult] | None]:
        """The class proved in parts on each of which every slack has one sign."""
        rows = []
        for part in self._source.by_signs(self.of, self._slacks()):
            row = yield from self._part(part)._proved_alone()  # noqa: SLF001 - a case of the same kind
            if row is None:
                return None
            rows.append(row)
        return rows or None

    def _slacks(self) -> list[Affine]:
        """The slacks of all events that the bounds of the class are about."""
        part = self.of
        others = self._source.exits.others(part.of.finite, part.of.region) or ()
        halves = (half for found in (*part.piece.exits, *others) for each in found.parts for half in each.halfspaces)
        return list(dict.fromkeys(half.slack for half in halves if half.slack.inputs and not half.radius))

    def _proved_alone(self) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class proved as a whole by any of the bounds, with where its claim says something."""
        found = yield from self._by_any_bound()
        return None if found is None else self._said(found)

    def _by_any_bound(self) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        bounded = self._bounded
        if isinstance(bounded, Empty):
            return self._evident(self._row(Method.EMPTY, Verdict.ACCURATE), bounded)
        for posed in (self._posed(bounded), self.alternative()):
            if posed is not None:
                decision = yield posed.obligation
                if decision.verdict is Verdict.ACCURATE:
                    return self._proved(bounded, posed, decision)
        return (yield from self._bounded_better())

    def _bounded_better(self) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        bounded = self._bounded
        assert isinstance(bounded, _Bounded)
        if self._counts(bounded):
            found = yield from self._by_distances(bounded)
            if found is not None:
                return found
        return (yield from self._better(bounded))

    # --- int inputs -------------------------------------------------------------------------------------

    def _counts(self, bounded: _Bounded) -> bool:
        """Whether a distance is left open of a class with int inputs."""
        return bool(self.of.of.whole and bounded.required.distances.is_open)

    def _by_distances(self, bounded: _Bounded) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class of ints proved for one distance after the other, and for all that are left at once."""
        if self._counted:
            return None
        self._counted = True
        if not bounded.required.distances.alpha_rate:
            return (yield from self._by_rounded_gammas(bounded))
        if not self.of.of.integral:
            return (yield from self._by_rounded_distances(bounded))
        posed = yield from self._at_every_distance(bounded)
        return None if posed is None else self._counted_out(bounded, posed)

    def _counted_out(self, bounded: _Bounded, posed: Posed) -> ClassResult:
        evidence = replace(bounded.proved(posed), beyond="it was proved for one integer distance after the other")
        return self._evident(self._row(Method.BOUND, Verdict.ACCURATE, bounded), evidence)

    def _by_rounded_gammas(self, bounded: _Bounded) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class proved for every gamma: where k - 1 <= gamma < k, the probability is at least what it is at k - 1,
        and beta what it is at k, if it never grows."""
        claim, distances = self._source.claim, bounded.required.distances
        if not trend(claim.beta, "gamma", claim.names(), claim.intervals).falls:
            return None
        alpha = distances.alpha_base

        def wanted(number: Fraction) -> Requirement:
            return fixed_requirement(Fixed(alpha, number - 1, claim.at_gamma(number)))

        rounded = replace(distances, gamma_base=-_ONE, gamma_rate=_ONE)
        posed = yield from self._at_every_integer(wanted, self._far_away(rounded), None)
        return None if posed is None else self._counted_out(bounded, posed)

    def _by_rounded_distances(self, bounded: _Bounded) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        """The class of ints and reals proved for distances that are rounded up: where k - 1 < dd(u) <= k, facets of
        ints are as far as k and others as k - 1, and beta is at least what it is at k, if it never grows."""
        claim, required = self._source.claim, bounded.required
        if required.distances.gamma_rate or not trend(claim.beta, "alpha", claim.names(), claim.intervals).falls:
            return None
        near = self._bounds(at_zero(claim))
        if isinstance(near, Empty) or (yield from self._proved_at(near)) is None:
            return None
        rounded = ClassCase(self._source, replace(self.of, facets=tuple(self._rounded_facets())))
        found = rounded._bounds(required)
        if isinstance(found, Empty):
            return None
        posed = yield from rounded._at_every_distance(found)
        return None if posed is None else self._counted_out(bounded, posed)

    def _rounded_facets(self) -> Iterator[Moving]:
        """What is true at k of all inputs of the class with k - 1 < dd(u) <= k, for every integer k >= 1."""
        of = self.of.of
        for place, facet in enumerate(self.of.facets):
            whole = all(slot in of.whole for slot, _ in facet.form.inputs)
            # A facet of the region is passed after an integer distance; and what is an integer, and at least alpha, is
            # at least k.
            integers = [facet.form.constant, *(c for _, c in facet.form.inputs)]
            exact = place < len(of.region.guards) or (
                facet.step == 1 and all(number.denominator == 1 for number in integers)
            )
            yield facet if whole and exact else Moving(facet.form.shifted(facet.step), facet.step)

    def _at_every_distance(self, bounded: _Bounded) -> Generator[Obligation | Bound, Decision, Posed | None]:
        """What proves the claim at the least distance, if it is proved at each integer from 1 on."""
        claim = self._source.claim

        def wanted(distance: Fraction) -> Requirement:
            return fixed_requirement(claim.at_number(distance), str(distance))

        far = self._far_away(bounded.required.distances)
        return (yield from self._at_every_integer(wanted, far, bounded.greatest))

    def _at_every_integer(
        self, wanted: Callable[[Fraction], Requirement], far: FarAway, greatest: Fraction | None
    ) -> Generator[Obligation | Bound, Decision, Posed | None]:
        """What proves what is wanted at 1, if that is proved at each integer from 1 on, up to the greatest that inputs
        of the class have: nothing is wanted where they have none."""
        last: int | None = None
        posed: Posed | None = None
        for distance in count(1):
            if greatest is not None and distance > greatest:
                break
            if distance == _FIRST + 1 and (greatest is None or greatest > MOST_SINGLE):
                last = far.start()
                if last is None:
                    return None
            if last is not None and distance >= last:
                break
            found = self._bounds(wanted(Fraction(distance)))
            if isinstance(found, Empty):
                break
            proved = yield from self._proved_at(found)
            if proved is None:
                self._failing.append(Fraction(distance))
                return None
            posed = posed or proved
        if posed is None:
            least = wanted(_ONE)
            assert least.beta is not None, "at a number"
            obligation = Obligation(Bound(()), least.beta, self._source.claim.intervals)
            posed = Posed(obligation, least.variable, Farkas(self.of.facets, least.distances, ()))
        return posed

    def _uncounted(self, name: str) -> str:
        """Why a class of ints is not proved, for each value of what is left open."""
        if not self._failing:
            what = f"for all large values of the {name} at once"
        elif name == "gamma":
            what = f"for gamma just below {self._failing[-1]}"
        else:
            what = f"at the distance {self._failing[-1]}"
        return f"the lower bound of the class's probabilities does not prove the claim {what}, and no input refutes it"

    def _proved_at(self, found: _Bounded) -> Generator[Obligation | Bound, Decision, Posed | None]:
        """What proves the claim at one distance; None where nothing does."""
        for posed in (self._posed(found), self._alternative(found)):
            if posed is not None and (yield posed.obligation).verdict is Verdict.ACCURATE:
                return posed
        row = yield from self._better(found)
        proof = None if row is None or row.evidence is None else row.evidence.found
        return proof.posed if isinstance(proof, Proved) else None

    def _far_away(self, distances: ClaimedDistances) -> FarAway:
        source, part = self._source, self.of
        guards = [*part.of.region.guards, *part.piece.guards]
        ways, others = self._united()
        program = source.program
        return FarAway(
            source.claim,
            distances,
            ways,
            others,
            guards,
            part.facets,
            part.of.whole,
            program.measurer,
            program.core.only_at,
        )

    def _united(self) -> tuple[Sequence[CenteredExit], Sequence[CenteredExit] | None]:
        """The ways to the answer and to others (None: not known), put together where they differ in one comparison."""
        part, source = self.of, self._source
        intervals, limits = source.claim.intervals, source.program.limits
        others = source.exits.others(part.of.finite, part.of.region)
        if others is not None:
            guards = [*part.of.region.guards, *part.piece.guards]
            others = united([e for e in others if not contradict([*guards, *e.guards])], intervals, limits)
        return united(part.piece.exits, intervals, limits), others

    def _better(self, bounded: _Bounded) -> Generator[Obligation | Bound, Decision, ClassResult | None]:
        for found, every, why in self._better_bounds(bounded):
            decisions = []
            for obligation in every:
                decisions.append((yield obligation))
                if decisions[-1].verdict is not Verdict.ACCURATE:
                    break
            else:
                posed = Posed(every[0], found.required.variable, found.lower.why if why is None else why)
                evidence = replace(found.proved(posed), besides=tuple(every[1:]))
                if why is None:
                    evidence = replace(evidence, beyond="its bound is of a kind that the checker does not derive")
                shown = replace(found, lower=replace(found.lower, attained=False, corner=None))
                # Of several bounds none is one by itself.
                bound = decisions[0].bound if len(every) == 1 else None
                return self._evident(self._row(Method.BOUND, Verdict.ACCURATE, shown, bound), evidence)
        return None

    def _better_bounds(self, bounded: _Bounded) -> Iterator[tuple[_Bounded, list[Obligation], Why | None]]:
        """Obligations that prove the claim if all of a list hold: about ways to the answer, or to others, that are put
        together where they differ in one comparison; in eps alone where the claim does not depend on the distance that
        is left open; and with weights at either end of what they may be. With the evidence, where there is one."""
        part, source = self.of, self._source
        limits = source.program.limits
        exits, others = self._united()
        claim = source.claim
        # In the discrete distance another answer is at 1 even where the answer moves.
        touching = part.of.moving and source.metric.apart is None and source.metric.norm is not Norm.DISCRETE
        near = at_zero(claim) if claim.at_distance and touching else None
        for wanted in (bounded.required, near, without_distance(claim)):
            if wanted is None or wanted.beta is None:
                continue
            found = bounded if wanted is bounded.required else self._bounds(wanted)
            if not isinstance(found, _Bounded):
                continue
            assert found.required.beta is not None
            # What is said of all distances at once has to be said in a certificate, too.
            stated = wanted in (bounded.required, near) or (claim.at_distance and not claim.gamma_depends_on_distance)
            for ways, bounding in (
                (exits, self._from_ways),
                (others, self._from_others),
                (exits, self._from_vertices),
                (others, self._from_tails),
                (exits, self._from_corners),
            ):
                if ways is None:
                    continue
                weights = ends(ways, limits) if found.required.distances.is_open else None
                each = [ways] if weights is None else [with_values(ways, values) for values in weights]
                bounds = [bounding(one, found) for one in each]
                if all(some for some, _ in bounds):
                    every = dict.fromkeys(bound for some, _ in bounds for bound in some)
                    obligations = [Obligation(bound, found.required.beta, found.intervals) for bound in every]
                    why = bounds[0][1]
                    if weights is not None:
                        tails = bounding == self._from_tails
                        why = None if tails else self._jointly(self._slacks(), found.required.distances, tails=False)
                    yield found, obligations, why if stated else None

    # Each gives functions of which at every value of the variable one is a lower bound; none where none is known.

    def _from_ways(self, exits: Sequence[CenteredExit], found: _Bounded) -> _Evident:
        slots, distances = self._source.ideal.symbolic_inputs, found.required.distances
        lower = lower_bound(exits, self.of.facets, slots, distances, self.of.of.whole)
        return [lower.bound], lower.why

    def _from_others(self, others: Sequence[CenteredExit], found: _Bounded) -> _Evident:
        bound = complement_bound(others, (), self.of.facets, found.required.distances, self.of.of.whole)
        return ((), None) if bound is None else ([bound[0]], bound[1])

    def _from_vertices(self, exits: Sequence[CenteredExit], found: _Bounded) -> _Evident:
        distances = found.required.distances
        bounds = vertex_bounds(exits, self.of.facets, distances, self.of.of.whole)
        return ((), None) if bounds is None else (bounds, self._jointly(self._slacks(), distances, tails=False))

    def _from_tails(self, others: Sequence[CenteredExit], found: _Bounded) -> _Evident:
        distances = found.required.distances
        joint = joint_bound(others, self.of.facets, distances, self.of.of.whole)
        if joint is None:
            return (), None
        bound, totals = joint
        return [bound], self._jointly([*self._slacks(), *totals], distances, tails=True)

    def _from_corners(self, exits: Sequence[CenteredExit], found: _Bounded) -> _Evident:
        slots, distances = self._source.ideal.symbolic_inputs, found.required.distances
        return corner_bounds(exits, self.of.facets, slots, distances) or (), None

    def _jointly(self, forms: Iterable[Affine], distances: ClaimedDistances, *, tails: bool) -> Jointly:
        both = dict.fromkeys(side for form in forms for side in (form, -form))
        slacks = known_slacks(both, self.of.facets, distances, self.of.of.whole)
        return Jointly(tuple(self.of.facets), distances, tuple(slacks), tails)

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
        slots = source.ideal.symbolic_inputs
        lower = lower_bound(part.piece.exits, part.facets, slots, distances, part.of.whole)
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
        distance = self._distance(point) if alpha and (part.of.whole or self._has_static_facets()) else None
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
        return replace(row, evidence=ClassEvidence(self.of.facets, self._followed(found)))

    def _followed(self, found: Proved | Refuted | Empty) -> Proved | Refuted | Empty:
        """The evidence, with what the checker does not follow of it where the metric says which answers are near."""
        source = self._source
        if source.near is None or isinstance(found, Refuted):
            return found
        beyond = "its `metric` block says which answers are the same, or near, of which the checker derives no bound"
        if isinstance(found, Proved):
            return replace(found, beyond=found.beyond or beyond)
        nothing = Obligation(Bound(()), PiecewiseForm(ExpPoly.one()), source.intervals)
        why = Farkas(self.of.facets, ClaimedDistances(_ZERO, _ZERO, _ZERO, _ZERO), ())
        return Proved(Posed(nothing, Variable.EPS, why), None, None, beyond=beyond)

    def _proved(self, bounded: _Bounded, posed: Posed, decision: Decision) -> ClassResult:
        evidence = bounded.proved(posed)
        if bounded.lower.attained and not self._holds_corner(bounded):
            bounded = replace(bounded, lower=replace(bounded.lower, attained=False, corner=None))
        method = Method.CORNER if bounded.lower.attained else Method.BOUND
        return self._evident(self._row(method, Verdict.ACCURATE, bounded, decision.bound), evidence)

    def _refuted(self, bounded: _Bounded, decision: Decision, *, or_proved: bool = True) -> Settling:
        """The class with an input that refutes the claim, undecided where none is found; proved where bounds that take
        more work do so, if these are wanted."""
        source, part, lower = self._source, self.of, bounded.lower
        distances = bounded.required.distances
        gamma = None
        alphas: Sequence[Fraction] = (distances.alpha or _ZERO,)
        if distances.is_open:
            scale = self._scale_of(bounded, decision.counterexample)
            if distances.alpha_rate:
                alphas = () if part.of.integral else (scale, bounded.sample)
                integers = (*self._failing, *_INTEGERS) if self._counts(bounded) else ()
                alphas = tuple(dict.fromkeys([*alphas, *integers]))
            else:
                gamma = scale
                if self._counts(bounded):
                    # Just before the outputs within gamma are more.
                    gamma = (self._failing[-1] if self._failing else _ONE) - _SHORT
        slots = source.ideal.symbolic_inputs
        proposed = candidates(
            part.of.region, part.facets, lower.slacks, slots, part.of.finite, lower.corner, alphas, part.of.whole
        )
        moves = bool(distances.alpha_rate and distances.gamma_rate)
        found = yield from source.witnesses.first_refuting(proposed, gamma, finite=moves)
        if found is None:
            proved = (yield from self._in_other_ways()) if or_proved else None
            if proved is not None:
                return proved
            found = yield from self._searched(bounded, alphas, gamma)
        if found is not None:
            note = self._note(Method.WITNESS, bounded, decision.bound)
            return self._evident(self._witnessed(found.row, note), found)
        if self._counts(bounded) and part.of.integral:
            reason = self._uncounted("distance" if distances.alpha_rate else "gamma")
        else:
            reason = bounded.required.reason or decision.reason or _unproved(lower)
        return self._row(Method.NONE, Verdict.UNDECIDED, bounded, decision.bound, reason)

    def _searched(
        self, bounded: _Bounded, alphas: Sequence[Fraction], gamma: Fraction | None
    ) -> Generator[Obligation | Bound, Decision, Refuted | None]:
        """An input that refutes the claim, of those where floats guess that it fails; None where none does."""
        source, part, slots = self._source, self.of, self._source.ideal.symbolic_inputs
        distances = bounded.required.distances
        if distances.alpha_rate:
            scales = () if part.of.integral else _SCALES
            more = [alpha for alpha in scales if bounded.greatest is None or alpha < bounded.greatest]
            alphas = tuple(dict.fromkeys([*alphas, *more, *([bounded.greatest] if bounded.greatest else [])]))
        forms = bounded.lower.slacks or _inputs(part)
        systems = [each._system(alpha) for alpha in alphas for each in self._refined]  # noqa: SLF001 - of the same kind
        most = max(_LEAST_POINTS, _MOST_POINTS // len(systems))
        whole = part.of.whole
        points = [
            point
            for system in systems
            for point in islice(near_integers(proposals(system, forms, slots), whole, system), most)
        ]
        moves = bool(distances.alpha_rate and distances.gamma_rate)
        for own in (None,) if gamma is None else dict.fromkeys([gamma, *_SCALES]):
            worth = most_promising(
                points, part.piece.exits, source.claim.intervals, partial(self._claimed, bounded.required, own)
            )
            proposed = ({**part.of.finite, **point} for point in worth)
            found = yield from source.witnesses.first_refuting(proposed, own, finite=moves)
            if found is not None:
                return found
        return None

    def _system(self, alpha: Fraction) -> list[Halfspace]:
        """The class, without its edges where they belong to others, as far from other answers as alpha."""
        part = self.of
        guards = [guard.guard for guard in (*part.of.region.guards, *part.piece.guards)]
        return [*guards, *(facet.at(alpha) for facet in part.facets)]

    def _claimed(self, required: Requirement, gamma: Fraction | None, point: Mapping[int, Fraction]) -> Claimed | None:
        """The claim at an input of the class; `gamma` takes the place of one that is left open."""
        claim, dd = self._source.claim, self._distance(point)
        if gamma is not None:
            return Claimed(gamma, claim.at_gamma(gamma)) if dd is None or dd >= claim.alpha_number() else None
        if not claim.at_distance:
            fixed = claim.without_distance()
            return None if dd is not None and dd < claim.alpha_number() else Claimed(fixed.gamma, fixed.beta)
        if dd is None and claim.gamma_moves:
            return None
        distances = required.distances
        if dd and distances.alpha_rate and required.beta is not None:
            return Claimed(distances.gamma_base + dd * distances.gamma_rate, required.beta, dd)
        fixed = claim.at_number(dd)
        return Claimed(fixed.gamma, fixed.beta)

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
            closed_form=_scaled(bound, bounded.sample, distances.is_open).standing_for(self._core.only_at)
            if bounded.lower.attained and bound is not None
            else None,
        )

    def _note(self, method: Method, bounded: _Bounded | None, bound: ClosedForm | None) -> ClassNote:
        part = self.of
        known = described(self._core, part, method)
        if bounded is None:
            return known
        corner, required = bounded.lower.corner, bounded.required
        return ClassNote(
            known.answer,
            known.where,
            method,
            required.variable,
            ", ".join(map(str, bounded.intervals)),
            {} if corner is None else corner_texts(self._core, corner, part.of.finite, "alpha"),
            None
            if bound is None
            else str(bound.standing_for(self._core.only_at) if required.variable == "eps" else bound),
            None if required.beta is None else str(required.beta),
            bounded.lower.attained,
        )


def described(core: CoreProgram, part: ConvexClass, method: Method) -> ClassNote:
    """What a row about the class says of it, but for what was found."""
    guards = (*part.of.region.guards, *part.piece.guards)
    where = (*guard_texts(core, guards, part.of.finite), *facet_texts(core, part.side))
    return ClassNote(answer_texts(core, part.of.region), where, method)


def _inputs(part: ConvexClass) -> list[Affine]:
    """The forms of the class's own inequalities: where the probability depends on no input at all, these are left."""
    return [guard.form for guard in (*part.of.region.guards, *part.piece.guards)]


def _vacuous(found: ClassResult, method: Method) -> ClassResult:
    """A class about which the claim says nothing. No input of it is the hardest; if it was not decided, it is now."""
    assert found.verdict is not Verdict.INACCURATE, "what says nothing cannot be refuted"
    assert found.note is not None
    note = replace(found.note, corner={}, method=method)
    if method is Method.EMPTY:
        note = replace(note, probability=None, beta=None)
    return replace(found, vacuous=True, note=note, verdict=Verdict.ACCURATE, reason=None)


def _scaled(form: ClosedForm, factor: Fraction, is_open: bool) -> ClosedForm:
    if not is_open or factor == 1:
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
