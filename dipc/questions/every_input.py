"""Every real and int input as a source of obligations, class by class (Theorem 3 of the paper if it applies).

For a class C of inputs with one answer let C(alpha) be its inputs with dd(u) >= alpha. Linear programming bounds every
slack of the answer's events from below over a superset of C(alpha). By monotonicity, this bounds the probability. If
the bound satisfies the claim, the claim holds at every input of the class, as u is in C(dd(u)). If one input attains
all the bounds, it alone decides the class. A counterexample is always a single input, decided like a row of a table. A
bound over all real inputs behind the half-spaces is also one over the integers there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, ClassVar

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Undecided
from dipc.chain.event import GAMMA
from dipc.chain.state import Affine, Constraint, contradict
from dipc.claims.claim import FREE, ClaimOptions
from dipc.decide.engine import Engine
from dipc.decide.obligation import Asking, Bound, Decision, Obligation, Verdict
from dipc.decide.scope import claim_scope
from dipc.frozen import LazyModule, frozen
from dipc.program.ideal import Answer, Distances, Ideal, Region
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.report import (
    ClassNote,
    ClassResult,
    Evidence,
    Method,
    Refuted,
    Report,
    RowResult,
    answer_texts,
    input_texts,
)
from dipc.questions.source import Case, Source, reported
from dipc.rules.centered_exits import ExitFinder, pieces
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import (
    CoveringProofs,
    Needed,
    all_facets,
    by_distances,
    established_as_a_whole,
    established_by_integers,
    first_established,
    is_simple,
    known_region,
    least_needing,
    proved_in_parts,
    simple_proofs,
    united_proofs,
)
from dipc.rules.exchange import classes_up_to_exchange
from dipc.rules.facets import FacetMetric, choices, facet_metric, facets
from dipc.rules.goal import ConvexClass, Goal, Proof, Setting, has_static_facets, near_answers, stated_goal
from dipc.rules.halfspaces import SlackBound, at_alpha, inwards, point_at, step_of
from dipc.rules.input_classes import Conjunction, InputClass, classes, finite_cases, same_answers
from dipc.rules.renaming import Pattern, PatternFinder
from dipc.rules.rule import (
    BetaSummand,
    Derivation,
    Farkas,
    ProofStep,
    Requirement,
    Sharpness,
    Variable,
)
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.text.core import Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dipc.claims import conditions
    from dipc.questions import witnesses
    from dipc.rules import far_away, integer_distances
else:
    far_away = LazyModule("dipc.rules.far_away")
    conditions = LazyModule("dipc.claims.conditions")
    witnesses = LazyModule("dipc.questions.witnesses")
    integer_distances = LazyModule("dipc.rules.integer_distances")

_ZERO, _ONE = Fraction(0), Fraction(1)


#: Distances at which counterexamples to a claim about all distances are searched for.
_SCALES = tuple(Fraction(4) ** power for power in (-3, -1, 0, 2, 5))

#: The distances, as multiples of alpha, of inputs that are tried if the claim is not about the distance alpha itself.
_BEYOND = (1 + Fraction(1, 64), 1 + Fraction(1, 4096), 1 + Fraction(1, 2**64))

#: The number of classes above which the user is warned.
_MANY = 200

#: The number of inputs tried at each of these distances.
_A_FEW = 4

#: The distance from an integer at which a gamma just below it is tried.
_SHORT = Fraction(1, 4096)

#: Distances at which int counterexamples are searched for.
_INTEGERS = tuple(map(Fraction, (1, 2, 3, 5, 9, 20)))

#: Two integer distances between which the direction of a ray of inputs is found.
_FAR = (Fraction(64), Fraction(128))

#: The distance from an input of a class to which a proposed grid of int inputs reaches.
_AROUND = 3

#: The beginning of reasons for undecided classes.
_UNPROVED = "the lower bound of the class's probabilities does not prove the claim"

#: The most classes decided one by one although some may be alike, without and with a certificate.
_FEW, _FEW_PROVED = 64, 512

#: If these many classes are all different apart from names, later ones are not compared.
_FIRST_PATTERNS = 64

#: The greatest number of inputs tried in one class, and the least number in each of its parts.
_MOST_POINTS, _LEAST_POINTS = 400, 30


class EveryInput(Source):
    """The claim about every real and int input of one program.

    Its cases are convex classes of inputs. As `respects_requires` declares, these cover exactly the inputs that satisfy
    the precondition `requires`.
    """

    respects_requires: ClassVar[bool] = True

    def __init__(
        self,
        program: Program,
        claim: ClassClaim,
        like: EveryInput | None = None,
        *,
        scaled: bool = False,
        decided_by: type[ClassCase] | None = None,
    ) -> None:
        """Prepare the question of whether `claim` holds at every input of `program`.

        `like` is a question about the same program with another claim; its regions and exits are used again. If
        `scaled` is true, the question is prepared for multiples of beta, too. The cases are objects of the type
        `decided_by`, by default `ClassCase`. Raises DiagnosticError for a program whose inputs cannot be divided into
        classes.
        """
        super().__init__(program, claim.intervals, claim.texts)
        self.claim = claim
        self._decided_by = decided_by or ClassCase
        self.scaled: bool = scaled if like is None else like.scaled
        self.ideal: Ideal = Ideal(program) if like is None else like.ideal
        self.options = claim.options
        self.metric: FacetMetric = facet_metric(self.ideal) if like is None else like.metric
        #: The answers as good as det's, if that depends on more than equality and gamma.
        self.near = near_answers(self.ideal, self.claim)
        self.exits: ExitFinder = (
            like.exits if like is not None and like.near == self.near else ExitFinder(program, self.near)
        )
        self._known_sides: dict[tuple[Conjunction, ...], Sequence[tuple[Constraint, Affine]]] = {}
        self._patterns = PatternFinder(frozenset(self.ideal.whole_inputs))
        #: By the key of a pattern, a class that was proved.
        self._proved: dict[object, tuple[Pattern, ClassResult]] = {}
        #: Whether the result of a class was taken from one that differs in names only, without a proof of its own.
        self._renamed = False

    @cached_property
    def setting(self) -> Setting:
        """The program, claim, metric and exits, as proof rules read them."""
        slots = self.ideal.symbolic_inputs
        return Setting(self.program, self.claim, self.metric, self.near, self.exits, slots)

    @cached_property
    def witnesses(self) -> witnesses.Witnesses:
        """The search for inputs that refute the claim."""
        return witnesses.Witnesses(self.ideal, Distances(self.ideal), self.options)

    def asking(self, options: ClaimOptions) -> EveryInput:
        """Return the question about the same program with the claim of `options`."""
        return EveryInput(self.program, ClassClaim(self.program, options), self)

    @property
    def subject(self) -> str:
        return "all inputs"

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.claim.warnings

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = super().report(rows, engine, interrupted=interrupted)
        if interrupted or self._renamed:
            return report
        return replace(report, evidence=Evidence(self, report.rows, engine=engine))

    def size_warning(self) -> str | None:
        """Return a warning that the question will take a long time, if there are very many classes; else None.

        The result is also None if a limit is reached before the number of classes is known.
        """
        if self._may_exchange and classes_up_to_exchange(self.ideal, self.exits, _FEW) is not None:
            return None
        try:
            number = sum(len(self.ideal.regions(finite)) for finite in finite_cases(self.ideal))
        except Undecided:
            return None
        inputs = len(self.program.core.inputs)
        if number <= max(_MANY, 8 * inputs):
            return None
        return (
            f"{number} classes of inputs have to be decided, one for each outcome of the right answer's "
            f"comparisons; their number is exponential in the number of inputs, which is {inputs}"
        )

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        # The checker does not verify exchanges of inputs, and each class needs a proof.
        if engine.keep_proofs:
            return reported(self._cases(_FEW_PROVED), engine)
        return reported(self._cases(_FEW, renaming=True), engine)

    def cases(self) -> Iterator[Case]:
        """Yield a case for each class, in order.

        If a limit is reached before all classes are known, the last case is about all other inputs.
        """
        return self._cases(_FEW)

    def _cases(self, few: int, *, renaming: bool = False) -> Iterator[Case]:
        """Yield a case for each class, in order. If a limit is reached first, the last case is about all other inputs.

        If there are more than `few` classes, classes that an exchange of inputs maps to each other have one case
        together. With `renaming`, a class that differs only in names from one that was proved gets a case that needs no
        decision.
        """
        number = 0
        distinct = classes_up_to_exchange(self.ideal, self.exits, few) if self._may_exchange else None
        if distinct is None:
            distinct = classes(self.ideal, apart=self.near is not None or not self._is_about_every_input)
        while True:
            try:
                input_class = next(distinct)
            except StopIteration:
                return
            except Undecided as undecided:
                yield Unsorted(self, number + 1, undecided.reason)
                return
            if number == _FIRST_PATTERNS:
                renaming = renaming and self._renamed
            pattern = self._pattern(input_class) if renaming else None
            proved = None if pattern is None else self._proved.get(pattern.key)
            if pattern is not None and proved is not None:
                number += 1
                self._renamed = True
                yield RenamedClass(self, number, input_class, pattern, *proved)
                continue
            every = list(self.convex_classes(input_class))
            assert every or self.program.selected is not None, "a class needs a case, or would hold trivially"
            for convex in every:
                number += 1
                case = self._decided_by(self, replace(convex, number=number))
                if len(every) == 1:
                    case.pattern = pattern
                yield case

    def _pattern(self, inputs: InputClass) -> Pattern | None:
        """Return a description of the class `inputs` that is equal for classes that differ only in names.

        The result is None if the class is not compared with others: it has few regions that compete with it, or it is
        only a part of the inputs with its answer.
        """
        ideal = self.ideal
        if not self._may_exchange or inputs.sections or inputs.others or not ideal.metric.is_plain:
            return None
        if self._decided_by is not ClassCase:
            return None
        if len(inputs.rivals) < _FEW or self.exits.stays_apart(inputs.finite, inputs.region):
            return None
        states = self.exits.states(inputs.finite, inputs.region)
        return None if states is None else self._patterns.pattern(inputs.region, states)

    def remember(self, pattern: Pattern, result: ClassResult) -> None:
        """Keep the `result` of a class that is proved, so that it can be used for classes that differ only in names.

        `pattern` is the description of the class without names.
        """
        if result.verdict is Verdict.ACCURATE and not result.rows:
            self._proved[pattern.key] = pattern, replace(result, evidence=None)

    @property
    def _may_exchange(self) -> bool:
        """True if two classes may be compared after an exchange of inputs, such as q[1] and q[2].

        A precondition `requires`, selected inputs, or a metric that counts several answers as right rule this out.
        """
        return self.near is None and self.program.allowed is None and self.program.selected is None

    def convex_classes(self, inputs: InputClass) -> Iterator[ConvexClass]:
        """Yield convex classes that cover the class `inputs`.

        If a limit is reached, a single class is yielded. It carries the reason and cannot be decided.
        """
        selected = self.program.selected
        parts = ((),) if selected is None else selected.sets(inputs.finite)
        try:
            some = bool(inputs.sections) or self.exits.stays_apart(inputs.finite, inputs.region)
            exits = self.exits.bounded(inputs.region) if some else None
            if exits is None:
                exits = self.exits.exits(inputs.finite, inputs.region)
            else:
                inputs = replace(inputs, incomplete=True)
            alike = [((), inputs)] if self.near is None else same_answers(self.near, inputs, self._answers)
            every = [
                (one, (*guards, *more), taken)
                for extra, one in alike
                for part in parts
                if not contradict(guards := (*inputs.region.guards, *extra, *part))
                for more, taken in pieces(guards, exits, self.ideal.program.limits.pieces)
            ]
        except Undecided as undecided:
            still = tuple(guard.form for guard in inputs.region.guards)
            yield ConvexClass(0, inputs, inputs.region.guards, (), (), still, undecided.reason)
            return
        known: dict[Region, tuple[tuple[Affine, ...], Sequence[tuple[Affine, ...]]]] = {}
        for one, guards, taken in every:
            inside = known_region(self.setting, one, guards)
            if inside not in known:
                known[inside] = self._facets(one, inside)
            own, sides = known[inside]
            for side in sides:
                yield ConvexClass(0, one, guards, taken, side, all_facets(own, guards, side))

    def _facets(self, inputs: InputClass, inside: Region) -> tuple[tuple[Affine, ...], Sequence[tuple[Affine, ...]]]:
        if inputs.sections:
            by_guard = dict(chain.from_iterable(map(self._sides_of, inputs.sections)))
            own = tuple([by_guard[guard] for guard in inputs.region.guards])
        else:
            # Across the other guards of `inside`, det's answer is the same.
            fixed = self.near is None and not any(isinstance(value, Affine) for value in inputs.decisive.answer)
            own = facets(inside, inputs.others, self.metric, inputs.outside, fixed=fixed)[: len(inputs.region.guards)]
        if self._is_about_every_input or not has_static_facets(inputs, own) or self._is_static_at_edges(inputs, own):
            return own, ((),)
        return own, choices(inside, inputs.rivals, self.metric, slanted=self.near is not None)

    def _is_static_at_edges(self, inputs: InputClass, own: Sequence[Affine]) -> bool:
        """Return True if every facet in `own` that does not move with alpha comes from the precondition `requires`.

        `own` has the facet of each guard of the class `inputs`, in the order of the guards. No input lies beyond a
        facet that comes from `requires`.
        """
        allowed = self.program.allowed
        if allowed is None:
            return False
        edges = {guard.guard for guards in allowed.sets(inputs.finite) for guard in guards}
        pairs = zip(inputs.region.guards, own, strict=True)
        return all(step_of(facet) or guard.guard in edges for guard, facet in pairs)

    @cached_property
    def _is_about_every_input(self) -> bool:
        """True if alpha is 0, so that the claim is about inputs at any distance from other answers."""
        return not self.claim.at_distance and not self.claim.alpha_number()

    def _sides_of(self, section: tuple[Conjunction, ...]) -> Sequence[tuple[Constraint, Affine]]:
        if section not in self._known_sides:
            own, *instead = [Region(guards, ()) for guards in section]
            sides = facets(own, instead, self.metric)
            self._known_sides[section] = tuple(zip(own.guards, sides, strict=True))
        return self._known_sides[section]

    @cached_property
    def _answers(self) -> tuple[Sequence[Answer], ...]:
        regions = (region for finite in finite_cases(self.ideal) for region in self.ideal.regions(finite))
        return tuple(dict.fromkeys(region.answer for region in regions))


@frozen
class Unsorted:
    """The case with this `number` of `source`, for inputs whose classes could not be computed; `reason` says why."""

    source: EveryInput
    number: int
    reason: str

    def steps(self) -> Sequence[ProofStep]:
        raise Undecided(self.reason)

    def undecided_row(self) -> ClassResult:
        alpha, nothing = self.source.claim.alpha_text, PiecewiseForm(ExpPoly.ZERO)
        note = ClassNote(Method.NONE, self.source.program.core)
        return ClassResult(self.number, {}, {}, alpha, nothing, "", Verdict.UNDECIDED, reason=self.reason, note=note)

    def settle(self) -> Asking[RowResult]:
        yield from ()
        return self.undecided_row()


@frozen
class RenamedClass:
    """The claim about a class that differs only in names from a class that was proved, with the result `proved`.

    The case is the one with this `number` of `source`, and `inputs` is its class. `pattern` describes this class
    without names, and `other` describes the class that was proved. Both are explained in `dipc/rules/renaming.py`.
    """

    source: EveryInput
    number: int
    inputs: InputClass
    pattern: Pattern
    other: Pattern
    proved: ClassResult

    def steps(self) -> Sequence[ProofStep]:
        (convex,) = self.source.convex_classes(self.inputs)
        return ClassCase(self.source, convex).steps()

    def undecided_row(self) -> ClassResult:
        (convex,) = self.source.convex_classes(self.inputs)
        return ClassCase(self.source, replace(convex, number=self.number)).undecided_row()

    def settle(self) -> Asking[RowResult]:
        yield from ()
        core, region, finite = self.source.program.core, self.inputs.region, self.inputs.finite
        convex, result = ConvexClass(self.number, self.inputs, region.guards, (), (), ()), self.proved
        note = result.note
        corner = None if note.hardest is None else self.pattern.corner_of(self.other, note.hardest)
        note = replace(note, convex=convex, hardest=corner)
        shown: Mapping[str, str] = {}
        if corner is not None and result.input:
            shown = input_texts(core, {**finite, **point_at(corner, Fraction(result.alpha))})
        return replace(result, row=self.number, input=shown, output=answer_texts(core, region), note=note)


class ClassCase:
    """The claim about one convex class of inputs.

    The case is decided in this order: by the rules that cost little, by a few inputs that may refute the claim, by the
    other rules, and by more inputs. `BEYOND_CHECKER` is the reason why the checker cannot follow a proof of the class
    that divides the claim into several.
    """

    #: The reason why the checker does not follow a proof by the cases in `divided`.
    BEYOND_CHECKER: ClassVar[str] = ""

    def __init__(self, source: EveryInput, convex: ConvexClass) -> None:
        self.source = source
        self._core = source.program.core
        self.convex = convex
        #: The class without names, if others may differ from it in names only.
        self.pattern: Pattern | None = None

    @property
    def number(self) -> int:
        return self.convex.number

    @property
    def claim(self) -> ClassClaim:
        return self.source.claim

    @cached_property
    def goal(self) -> Goal:
        """The goal that the claim states for the class.

        Raises Undecided if the class is not known completely, and DiagnosticError for a claim that makes no sense.
        """
        return stated_goal(self.source.setting, self.convex)

    def steps(self) -> Sequence[ProofStep]:
        """Return the obligations by which the first rule that applies would prove the case.

        If the least probability of the class is known, the only obligation is about this probability. The result is
        empty if nothing is claimed. Raises Undecided if no rule applies, or if the claim is about every distance and
        all inputs are ints, so that distances are integers. Raises DiagnosticError for a claim that makes no sense.
        """
        if self._greatest_dd() is not None or self.goal.empty is not None:
            return ()
        if self.goal.is_about_integers and self.convex.inputs.integral:
            raise Undecided(
                "distances between int inputs are integers, and only `check` decides the claim at each of them"
            )
        every = [self._exactly(proof) for proof in simple_proofs(self.goal)]
        if every:
            # If several answers are near, the bound from the other answers is sharper.
            return (every[-1 if self.source.near is not None else 0],)
        other = next(united_proofs(self.goal), None)
        if other is not None:
            return other.steps
        return self._posed_by_implying(self.goal.required.reason or "beta does not depend on distance*eps alone")

    def implying(self) -> Iterator[Sequence[ClassCase]]:
        """Yield lists of cases about this class; if all cases of one list are proved, this case is proved.

        Each case has at most one open distance. Lists are needed if beta is not a function of the open distance times
        eps. Raises DiagnosticError for a claim that makes no sense.
        """
        # For integer distances beta need not be replaced by lesser functions.
        if not self.source.ideal.whole_inputs:
            for beta in self.claim.lesser():
                yield [self.claiming(replace(self.source.options, beta=beta), self.convex)]
        yield from self.divided()

    def divided(self) -> Iterator[Sequence[ClassCase]]:
        """Yield lists of cases, each with a part of beta; if all cases of one list are proved, this case is proved.

        There are none in this class; subclasses divide beta.
        """
        yield from ()

    def claiming(self, options: ClaimOptions, convex: ConvexClass) -> ClassCase:
        """Return the case about the claim of `options` on `convex`, which is this class or a subset."""
        return ClassCase(self.source.asking(options), convex)

    def _posed_by_implying(self, reason: str) -> Sequence[ProofStep]:
        """Return the obligations of other cases that together imply this one.

        There may be several lists of such cases. The first list whose cases all have obligations is used. If there is
        none, raises Undecided with the reason for the last list, or with `reason` if there are no lists.
        """
        for cases in self.implying():
            # A summand of beta alone can lack a limit.
            with suppress(DiagnosticError):
                try:
                    every = [
                        replace(one, evidence=self.summand, sharpness=Sharpness.BOUND)
                        for case in cases
                        for one in case.steps()
                    ]
                    return [*every, *(ProofStep(each, Variable.EPS, self.summand) for each in self._at_most_one())]
                except Undecided as undecided:
                    reason = undecided.reason
        raise Undecided(reason)

    @cached_property
    def summand(self) -> BetaSummand:
        """The evidence that the claim follows from a proof in which a lesser function takes the place of beta.

        The lesser function can be one of the summands of beta.
        """
        with suppress(DiagnosticError):
            return BetaSummand(self._least_beta())
        return BetaSummand(None)

    def _least_beta(self) -> BetaForm | None:
        """Return the limit of beta as alpha grows, or None if beta may grow with alpha.

        The limit is a function of eps that is at most beta. Raises DiagnosticError if beta has no limit.
        """
        claim = self.claim
        if not conditions.trend(claim.beta, "alpha", claim.names(), claim.intervals).falls:
            return None
        return claim.at_number(None).beta

    def least_needing(self, needed: Needed, enough: Fraction) -> CoveringProofs:
        """Return proofs of this case in which an open constant, such as a factor of beta, has the least value found.

        `needed` computes the value that one proof needs; the search ends at a value <= `enough`. Proofs of cases that
        imply this one are tried, too. Raises Undecided if no proof is found, and DiagnosticError for a claim that makes
        no sense.
        """
        return self._least_of_implying(least_needing(self.goal, needed, enough), needed, enough)

    def _least_of_implying(self, best: CoveringProofs, needed: Needed, enough: Fraction) -> CoveringProofs:
        if best.needed is not None and best.needed <= enough:
            return best
        for cases in self.implying():
            with suppress(Undecided, DiagnosticError):
                choice = CoveringProofs.all_of([case.least_needing(needed, enough) for case in cases])
                if self._at_most_one() and choice.needed is not None and choice.proofs:
                    first, *others = choice.proofs
                    whole = replace(first, obligations=(*first.obligations, *self._at_most_one()))
                    choice = CoveringProofs(max(choice.needed, _ONE), (whole, *others))
                if choice.is_less(best):
                    best = CoveringProofs(
                        choice.needed, tuple([replace(proof, evidence=self.summand) for proof in choice.proofs])
                    )
        return best

    def _at_most_one(self) -> tuple[Obligation, ...]:
        """Return the obligation that the factor by which beta is multiplied is at least 1, if it is needed; else ().

        The obligation is needed if two things are true. The question is about multiples of beta, and beta is min(1, b),
        where b is a sum whose summands are proved one by one. For a factor c < 1, c·min(1, b) can be less than c·b.
        """
        claim = self.claim
        if not self.source.scaled or conditions.below_one(claim.beta) == claim.beta:
            return ()
        return (Obligation(Bound(()), PiecewiseForm(ExpPoly.ONE), claim.intervals),)

    def is_comparable(self, posed: ProofStep) -> bool:
        """Return True if the amount by which the obligation of `posed` fails can be compared with that of other proofs.

        Obligations with different variables cannot be compared. Raises Undecided and DiagnosticError as `goal` does.
        """
        return posed.variable is self.goal.required.variable or not self.goal.lower.bound.shares

    @property
    def has_integer_distances(self) -> bool:
        """True if the claim is about every distance alpha = dd(u), and dd is an integer.

        Raises Undecided and DiagnosticError as `goal` does.
        """
        goal = self.goal
        return goal.is_about_integers and self.convex.inputs.integral and bool(goal.required.alpha_rate)

    def least_at_distance(self, distance: int, needed: Needed) -> tuple[Sequence[ProofStep], CoveringProofs]:
        """Return (obligations, proofs) for the claim at the given integer `distance`; one of the two is empty.

        If the least probability at this distance is known, there is one obligation, about this probability. Otherwise
        the proofs are those that need the least value of an open constant; `needed` computes the value that one proof
        needs. Raises Undecided if no proof is found.
        """
        goal = integer_distances.at_distance(self.goal, Fraction(distance))
        first = [self._exactly(proof) for proof in simple_proofs(goal)][:1]
        if first and first[0].exact and goal.empty is None and self._is_at_corner(goal, Fraction(distance)):
            return first, CoveringProofs(None, ())
        return (), least_needing(goal, needed, _ZERO)

    def _is_at_corner(self, goal: Goal, distance: Fraction) -> bool:
        corner = goal.lower.corner
        if corner is None or not goal.holds_corner(self._distance):
            return False
        return self._distance(point_at(corner, distance)) == distance

    def is_exact_at(self, distance: int) -> bool:
        """Return True if the least probability at the integer `distance` is known. Raises Undecided as `goal` does."""
        return bool(self.least_at_distance(distance, lambda _: None)[0])

    def proved_from(self, start: int, factor: Fraction, eps: str | None = None) -> Asking[bool]:
        """Return True if the claim, with beta times `factor`, is proved at every integer distance >= `start`.

        `eps` is a string that lists the intervals of eps, in place of those of the claim; None keeps those of the
        claim.
        """
        goal = self._scaled_case(factor, eps).goal
        established, _ = yield from established_by_integers(goal, start)
        return established is not None

    def is_proved(self, factor: Fraction) -> Asking[bool]:
        """Return True if the claim, with beta times `factor`, is proved or vacuous on this class."""
        case = self._scaled_case(factor)
        try:
            proved = yield from case.proved()
            return proved is not None or case._with_sayings(case.undecided_row(), case.convex).vacuous  # noqa: SLF001
        except Undecided:
            return False

    def _scaled_case(self, factor: Fraction, eps: str | None = None) -> ClassCase:
        options = self.source.options
        beta = f"({self.source.stated['beta']})*({factor})"
        return self.claiming(replace(options, beta=beta, eps=options.eps if eps is None else eps), self.convex)

    def steps_far_away(self) -> Iterator[ProofStep]:
        """Yield limits of the claim as the integer distance alpha grows and eps falls, with the same alpha·eps.

        Each limit is an obligation about alpha·eps, as explained in `dipc.rules.far_away`. Nothing is yielded if no
        limit is known. Raises Undecided and DiagnosticError as `goal` does.
        """
        claim = self.claim
        ray = self._ray() if self._beta_falls else None
        if ray is None:
            return
        probability = far_away.limit_of_probability(self.convex.exits, *ray)
        for beta in far_away.limits_of_beta(claim.beta.value(claim.names(), open_divisors=True), claim.intervals):
            obligation = Obligation(probability, beta, (Interval.POSITIVE,))
            yield ProofStep(obligation, Variable.ALPHA_EPS, None, Sharpness.FAR_LIMIT)

    def posed_however_far(self) -> ProofStep | None:
        """Return the limit of the claim at inputs of the class whose distance tends to infinity, at each eps.

        If this obligation fails, the claim is false whatever number alpha is. The result is None if no limit is known,
        or if beta may grow with alpha. Raises Undecided and DiagnosticError as `goal` does.
        """
        claim = self.claim
        if claim.both_open:
            return None
        distances = self.goal.required
        ray = None if distances.gamma_rate or claim.free_gamma or not self._beta_falls else self._ray()
        if ray is None:
            return None
        bound = far_away.probability_however_far(self.convex.exits, *ray)
        beta = claim.at_number(_ZERO).beta
        assert beta is not None, "at a number"
        return ProofStep(Obligation(bound, beta, claim.intervals), Variable.EPS, None, Sharpness.FAR_LIMIT)

    def _ray(self) -> tuple[Mapping[int, Fraction], Mapping[int, Fraction]] | None:
        """Return (an input of the class, a direction in which dd grows without limit), or None if none is found.

        Both map the slots of inputs to numbers; the key GAMMA has gamma, or its change. All inputs that follow the
        first one in this direction are in the class. At infinitely many of them, the int inputs have integers as
        values. At the first input plus k times the direction, dd is at least k - c, for a constant c.
        """
        ideal, norm, whole = self.source.ideal, self.source.metric.norm, self.convex.inputs.whole
        own = ideal.metric.decisive(self.convex.inputs.region.answer)
        moves = any(isinstance(value, Affine) and value.inputs for value in own)
        if self.source.near is not None or not ideal.metric.is_plain or norm is Norm.DISCRETE or moves:
            return None
        near, far = (integer_distances.at_distance(self.goal, distance).lower.corner for distance in _FAR)
        if self.convex.inputs.incomplete or near is None or far is None:
            return None
        base, rate = self.goal.required.gamma_base, self.goal.required.gamma_rate
        start = {**point_at(near, _FAR[0]), GAMMA: base + _FAR[0] * rate}
        end = {**point_at(far, _FAR[1]), GAMMA: base + _FAR[1] * rate}
        direction = {slot: (end[slot] - value) / (_FAR[1] - _FAR[0]) for slot, value in start.items()}
        stays = all(far_away.holds_onwards(guard, start, direction) for guard in self.convex.guards)
        if not stays or any(start[slot].denominator != 1 for slot in whole):
            return None
        others = [region for finite in finite_cases(ideal) for region in ideal.regions(finite)]
        rivals = [each.guards for each in others if ideal.metric.decisive(each.answer) != own]
        return (start, direction) if all(far_away.recedes(guards, direction, norm) for guards in rivals) else None

    @property
    def _beta_falls(self) -> bool:
        claim = self.claim
        return conditions.trend(claim.beta, "alpha", claim.names(), claim.intervals).falls

    def posed_at_inputs(
        self, product: Fraction | None, most: int, nearest: Fraction | None = None
    ) -> Iterator[ProofStep]:
        """Yield the obligations of the claim at some inputs of the class.

        If one of these obligations fails, the claim fails for the class. The inputs are extreme ones, at which slacks
        are least, and inputs between these and an inner input. `nearest` is a fraction of the way from an extreme input
        to the inner one. It is tried before the fractions 1, 1/2, 1/4, …; with None, only the latter are tried. At most
        `most` inputs are used of the class and of each of its subclasses. If a distance is open, `product` is the
        product of this distance and an eps at which the claim may fail. Raises Undecided and DiagnosticError as `goal`
        does.
        """
        if self.goal.empty is None:
            alphas, gamma = self._witness_distances(product, None)
            for inputs in self._inputs(alphas, most, nearest):
                if not self._moves or self.source.witnesses.distance(inputs) is not None:
                    yield from self.source.witnesses.steps(inputs, gamma)

    def posed_at_one(self, most: int) -> Iterator[ProofStep]:
        """Yield proof steps for the claim at inputs where the distance that it leaves open is 1.

        This distance is alpha or gamma, and the product distance·eps then equals eps. At most `most` inputs of the
        class and of each of its subclasses are used. Nothing is yielded if the claim is not about every eps > 0. Raises
        Undecided and DiagnosticError as `goal` does.
        """
        required = self.goal.required
        if not required.is_open:
            yield from self.posed_at_inputs(None, most)
        elif self.goal.empty is None and self.source.claim.intervals == (Interval.POSITIVE,):
            alpha_open = bool(required.alpha_rate)
            alphas, gamma = ((_ONE,), None) if alpha_open else ((required.alpha_base,), _ONE)
            for inputs in self._inputs(alphas, most):
                if not alpha_open or self.source.witnesses.distance(inputs) == 1:
                    for posed in self.source.witnesses.steps(inputs, gamma):
                        yield replace(posed, variable=required.variable)

    def _inputs(
        self, alphas: Sequence[Fraction], most: int, nearest: Fraction | None = None
    ) -> Iterator[Mapping[int, Value]]:
        """Yield candidates for the input with the least probability in the class, for each alpha in `alphas`.

        The candidates are extreme inputs, at which slacks are least, and points between these and an input inside the
        class. `nearest` is a fraction of the way from an extreme input to the inner one. It is tried before the
        fractions 1, 1/2, 1/4, …; with None, only the latter are tried. At most `most` inputs are yielded for the class,
        and for each subclass.
        """
        setting = self.source.setting
        subclasses = [convex for convex in by_distances(setting, self.convex) if convex.facets != self.convex.facets]
        for convex in (self.convex, *subclasses):
            goal = self.goal if convex is self.convex else stated_goal(setting, convex)
            if goal.empty is None:
                found = witnesses.candidates(convex, goal.lower, setting.slots, alphas, convex.guards, nearest)
                yield from islice(found, most)

    def undecided_row(self) -> ClassResult:
        with suppress(Undecided):
            return self._row(Method.NONE, Verdict.UNDECIDED, None if self.goal.empty is not None else self.goal)
        return self._row(Method.NONE, Verdict.UNDECIDED)

    # --- decisions --------------------------------------------------------------------------------------

    def settle(self) -> Asking[RowResult]:
        try:
            result = yield from self._decide()
        except Undecided as undecided:
            result = self._undecided(undecided.reason)
        result = self._with_sayings(result, self.convex)
        count = self.convex.inputs.count
        if count == 1:
            if self.pattern is not None:
                self.source.remember(self.pattern, result)
            return result
        return replace(result, count=count, rows=tuple([replace(row, count=count) for row in result.rows]))

    def _decide(self) -> Asking[ClassResult]:
        """Decide the case by cheap rules, by a few inputs that may refute it, by other rules, and by more inputs."""
        goal = self.goal
        if goal.empty is not None:
            return self._established(Proof(goal, None, (), goal.empty))
        first = yield from self._first_decision()
        if first.bound is None and first.verdict is Verdict.UNDECIDED:
            return self._undecided(first.reason)
        established = yield from first_established(simple_proofs(goal))
        failing: Fraction | None = None
        if established is None and goal.is_about_integers:
            established, failing = yield from established_by_integers(goal)
        if established is not None:
            return self._established(established)
        witness = yield from self._first_refuting(first, failing)
        if witness is None:
            established = yield from first_established(united_proofs(goal))
            if established is not None:
                return self._established(established)
            every = yield from proved_in_parts(goal)
            if every is not None:
                return self._proved_by_sections(every)
            by_parts_of_beta = yield from self._proved_by_parts_of_beta()
            if by_parts_of_beta is not None:
                return by_parts_of_beta
            if self.source.searching:
                witness = yield from self._searched(first, failing)
        return self._unproved_row(witness, first, failing)

    def _proved_by_parts_of_beta(self) -> Asking[ClassResult | None]:
        """Return the result that the class is proved, if it follows from proved claims with parts of beta; else None.

        Each list that `divided` yields has cases with parts of beta that together imply the claim. One list must be
        proved.
        """
        for cases in self.divided():
            rows = yield from _all_proved(cases)
            if rows is not None:
                return self._proved_by_cases(rows)
        return None

    def refuted(self) -> Asking[ClassResult]:
        """Return the result with an input that refutes the claim, or an undecided result if none is found.

        If the bound from the least slacks already proves the claim, no input is tried, and the result is undecided.
        Raises Undecided and DiagnosticError as `goal` does.
        """
        if self.goal.empty is not None:
            return self._undecided(None)
        first = yield from self._first_decision()
        unknown = first.bound is None and first.verdict is Verdict.UNDECIDED
        if unknown or first.verdict is Verdict.ACCURATE:
            return self._undecided(first.reason)
        first = replace(first, reason=None)
        witness = (yield from self._first_refuting(first, None)) or (yield from self._searched(first, None))
        return self._unproved_row(witness, first, None)

    def proved(self) -> Asking[ClassResult | None]:
        """Return the result for the class if a rule proves the claim, for the class or for each of its subclasses.

        The result is None if no rule does. Raises Undecided and DiagnosticError as `goal` does.
        """
        established = yield from established_as_a_whole(self.goal)
        if established is not None:
            return self._with_sayings(self._established(established), self.convex)
        every = yield from proved_in_parts(self.goal)
        return None if every is None else self._with_sayings(self._proved_by_sections(every), self.convex)

    def _first_decision(self) -> Asking[Decision]:
        """Decide whether the lower bound of the probability from the least slacks is at least 1 - beta.

        If beta is not a function of the goal's variable, nothing is decided: the result has the closed form of the
        lower bound, and its verdict has no meaning.
        """
        goal = self.goal
        if goal.required.beta is None:
            measured = yield goal.lower.bound
            return replace(measured, reason=None if measured.bound is not None else measured.reason)
        return (yield Obligation(goal.lower.bound, goal.required.beta, goal.intervals))

    # --- inputs that refute the claim -------------------------------------------------------------------

    def _witness_distances(
        self, product: Fraction | None, failing: Fraction | None
    ) -> tuple[Sequence[Fraction], Fraction | None]:
        """Return (values of alpha, gamma) for inputs that may refute the claim.

        Gamma is None unless the claim leaves it open. `product` is a value of distance·eps at which the bound of the
        class fails, or None. `failing` is an integer distance at which the bound fails, or None.
        """
        goal, distances = self.goal, self.goal.required
        alpha = distances.alpha or _ZERO
        near = not self.source.claim.at_distance and self.source.claim.is_near(alpha)
        # The claim is not about inputs at the distance alpha, so that inputs a little farther are tried.
        fixed = tuple([alpha * share for share in _BEYOND]) if near else (alpha,)
        if not distances.is_open:
            return fixed, None
        scale = self._scale_of(product)
        if distances.alpha_rate:
            alphas = () if self.convex.inputs.integral else (scale, goal.sample)
            integers = (*([] if failing is None else [failing]), *_INTEGERS) if goal.is_about_integers else ()
            return tuple(dict.fromkeys([*alphas, *integers])), None
        if goal.is_about_integers:
            # At the integer itself more outputs are within gamma; just below it fewer are.
            scale = (_ONE if failing is None else failing) - _SHORT
        return fixed, scale

    @property
    def _moves(self) -> bool:
        return bool(self.goal.required.alpha_rate and self.goal.required.gamma_rate)

    def _first_refuting(self, first: Decision, failing: Fraction | None) -> Asking[Refuted | None]:
        """Return an input at which slacks are least and which refutes the claim, or None if there is none.

        `first` is the decision about the bound from the least slacks. `failing` is an integer distance at which the
        bound fails, or None.
        """
        alphas, gamma = self._witness_distances(_failing_at(first), failing)
        proposed = chain.from_iterable(self._candidates(alphas))
        return (yield from self.source.witnesses.first_refuting(proposed, gamma, finite=self._moves))

    def _candidates(self, alphas: Sequence[Fraction]) -> Iterator[Iterable[Mapping[int, Value]]]:
        """Yield sequences of inputs at which the probability may be least.

        There is one sequence, for all `alphas`, if the claim's alpha is one of them or is left open. Otherwise there is
        one sequence of a few inputs for each of the `alphas`.
        """
        goal, slots = self.goal, self.source.ideal.symbolic_inputs
        base = goal.required.alpha_base
        if goal.required.alpha_rate or base in alphas:
            yield witnesses.candidates(self.convex, goal.lower, slots, alphas)
            return
        for alpha in alphas:
            beyond = replace(goal.required, alpha_base=alpha)
            yield islice(witnesses.candidates(self.convex, goal.requiring(beyond).lower, slots, (alpha,)), _A_FEW)

    def _searched(self, first: Decision, failing: Fraction | None) -> Asking[Refuted | None]:
        """Return an input that refutes the claim, or None if none is found.

        An input is tried only if floating-point estimates suggest that the claim fails there. `first` is the decision
        about the bound from the least slacks. `failing` is an integer distance at which the bound fails, or None.
        """
        source, goal, slots = self.source, self.goal, self.source.ideal.symbolic_inputs
        alphas, gamma = self._witness_distances(_failing_at(first), failing)
        if goal.required.alpha_rate:
            scales = () if self.convex.inputs.integral else _SCALES
            more = [alpha for alpha in scales if goal.greatest is None or alpha < goal.greatest]
            alphas = tuple(dict.fromkeys([*alphas, *more, *([goal.greatest] if goal.greatest else [])]))
        forms = goal.lower.slacks or [guard.form for guard in self.convex.guards]
        every = by_distances(source.setting, self.convex)
        # The inputs with dd at least alpha, without boundaries that belong to other classes.
        systems = [
            [*(guard.guard for guard in convex.guards), *(at_alpha(facet, alpha) for facet in convex.facets)]
            for alpha in alphas
            for convex in every
        ]
        most = max(_LEAST_POINTS, _MOST_POINTS // max(len(systems), 1))
        whole = self.convex.inputs.whole
        points = [
            point
            for system in systems
            for point in islice(witnesses.near_integers(witnesses.proposals(system, forms, slots), whole, system), most)
        ]
        for own in (None,) if gamma is None else dict.fromkeys([gamma, *_SCALES]):
            worth = witnesses.most_promising(
                points, self.convex.exits, source.claim.intervals, partial(self._claimed, own)
            )
            proposed = ({**self.convex.inputs.finite, **point} for point in worth)
            refuted = yield from source.witnesses.first_refuting(proposed, own, finite=self._moves)
            if refuted is not None:
                return refuted
        return None

    def _claimed(self, gamma: Fraction | None, point: Mapping[int, Fraction]) -> witnesses.PointClaim | None:
        """Return the claim at the input `point` of the class, or None if nothing is claimed about this input.

        `gamma` is the gamma to use if the claim leaves gamma open, else None.
        """
        claim, dd, required = self.source.claim, self._distance(point), self.goal.required
        if gamma is not None:
            return None if dd is not None and claim.is_near(dd) else witnesses.PointClaim(gamma, claim.at_gamma(gamma))
        if not claim.at_distance:
            fixed = claim.without_distance()
            return None if dd is not None and claim.is_near(dd) else _point_claim(fixed)
        if dd is None and claim.gamma_moves:
            return None
        if dd and required.alpha_rate and required.beta is not None:
            return witnesses.PointClaim(required.gamma_base + dd * required.gamma_rate, required.beta, dd)
        return _point_claim(claim.at_number(dd))

    def _scale_of(self, product: Fraction | None) -> Fraction:
        goal = self.goal
        if product is None:
            return goal.sample
        for interval in self.source.claim.intervals:
            # eps = t/distance, with a distance of 1 where that is possible.
            for distance in (_ONE, goal.sample, product / interval.inner_point):
                fits = goal.greatest is None or distance <= goal.greatest
                if fits and product / distance in interval:
                    return distance
        return goal.sample

    def _distance(self, point: Mapping[int, Fraction]) -> Fraction | None:
        return self.source.witnesses.distance({**self.convex.inputs.finite, **point})

    # --- the probability itself -------------------------------------------------------------------------

    def _exactly(self, proof: Proof) -> ProofStep:
        """Return the first step of `proof`, marked as exact if its bound is the least probability of the class."""
        goal, posed = proof.goal, proof.steps[0]
        lower = goal.lower
        if posed.evidence is lower.evidence and lower.attained and lower.corner is not None:
            at_corner = goal.holds_corner(self._distance) and goal.is_met(self._distance)
            if at_corner or _is_approached(goal):
                return replace(posed, sharpness=Sharpness.PROBABILITY)
        return posed

    # --- where the claim is vacuous ---------------------------------------------------------------------

    def _with_sayings(self, result: ClassResult, convex: ConvexClass) -> ClassResult:
        """Return `result` with the values of eps, or of another variable, at which the claim is not vacuous.

        If there are no such values, the result is accurate and marked as vacuous. `result` is about `convex`, which is
        this class or a subset.
        """
        nearness = self._greatest_dd()
        if result.note.method is Method.EMPTY or nearness is not None:
            result = _vacuous(result, Method.EMPTY)
            if result.evidence is None and nearness is not None:
                bound = SlackBound(inwards(Affine.number(_ZERO), _ONE), ((0, _ONE),), -nearness, _ZERO)
                facet = inwards(Affine.number(nearness), _ONE)
                note = replace(result.note, convex=replace(self.convex, facets=(facet,)))
                result = replace(result, note=note, evidence=self._certified(bound))
            return result
        try:
            goal = self.goal if convex is self.convex else stated_goal(self.source.setting, convex)
        except Undecided:
            return result
        beta = goal.required.beta
        if goal.empty is not None or beta is None:
            return result
        says = claim_scope(beta, goal.intervals, self.source.program.limits)
        result = replace(result, says=says)
        if not says.is_vacuous:
            return result
        if result.evidence is None:
            # The claim only requires probabilities to be at least 0.
            why = Farkas(Derivation.WAYS, ())
            proof = Proof(goal, None, (Obligation(Bound(()), beta, goal.intervals),), why)
            result = replace(result, evidence=self._certified(proof))
        return _vacuous(result, Method.NOTHING)

    def _greatest_dd(self) -> Fraction | None:
        """Return an upper bound of dd on the class if this bound shows that nothing is claimed, else None.

        Nothing is claimed about inputs whose dd is at most alpha.
        """
        claim = self.source.claim
        greatest = None if claim.at_distance else self.greatest_anywhere()
        return greatest if greatest is not None and claim.is_near(greatest) else None

    def greatest_anywhere(self) -> Fraction | None:
        """Return an upper bound of dd on the class that does not depend on its facets; None if none is known."""
        metric, inputs = self.source.metric, self.convex.inputs
        if inputs.alone or metric.apart is not None:
            return None
        if metric.norm is not Norm.DISCRETE and (inputs.rivals_arbitrarily_near or inputs.moving):
            return _ZERO
        return _ONE if metric.norm is Norm.DISCRETE or inputs.rivals_at_one else None

    # --- rows -------------------------------------------------------------------------------------------

    def _undecided(self, reason: str | None) -> ClassResult:
        return self._row(Method.NONE, Verdict.UNDECIDED, reason=reason)

    def _unproved_row(self, witness: Refuted | None, first: Decision, failing: Fraction | None) -> ClassResult:
        """Return the result that `witness` refutes the claim, or an undecided result if `witness` is None.

        `first` is the decision about the bound from the least slacks. `failing` is an integer distance at which the
        bound fails, or None.
        """
        goal = self.goal
        if witness is not None:
            note = self._note(Method.WITNESS, self.convex, goal, first.bound)
            return ClassResult.from_refuted(self.number, witness, note)
        if goal.is_about_integers and self.convex.inputs.integral:
            reason = _unproved_integers("distance" if goal.required.alpha_rate else "gamma", failing)
            reason += self._deciding_grid(failing)
        else:
            lost = f" ({goal.lower.lost})" if goal.lower.lost else ""
            unproved = f"{_UNPROVED}{lost}, and no input was found to refute it"
            reason = goal.required.reason or first.reason or unproved
        return self._row(Method.NONE, Verdict.UNDECIDED, goal, first.bound, reason=reason)

    def _deciding_grid(self, failing: Fraction | None) -> str:
        """Return advice to add to a reason: an option such as `--inputs "q = -3..3"` that decides nearby inputs.

        The inputs are those around an input of the class at the distance `failing`, or 1 if it is None. The text is
        empty if no input of the class is known.
        """
        point = next(iter(self._inputs((failing or _ONE,), 1)), None)
        if point is None:
            return ""
        ranges: dict[str, tuple[Fraction, Fraction]] = {}
        for slot in self.source.ideal.symbolic_inputs:
            value, name = point[slot], self._core.slots[slot].name.partition("[")[0]
            assert isinstance(value, Fraction), "inputs that are not finite are numbers"
            around = _AROUND if slot in self.convex.inputs.whole else 0
            low, high = ranges.get(name, (value, value))
            ranges[name] = min(low, value - around), max(high, value + around)
        spans = ranges.items()
        texts = [f"{name} = {low}..{high}" if low != high else f"{name} in {{{low}}}" for name, (low, high) in spans]
        return f'; `--inputs "{", ".join(texts)}"` decides these inputs, each as a row'

    def _certified(self, evidence: Proof | SlackBound) -> Proof | SlackBound | str:
        """Return `evidence`, or a mark that the checker cannot verify it.

        The checker cannot verify proofs for a `metric` block that treats different answers as the same.
        """
        source = self.source
        if source.near is None or source.near.ideal.metric.core.same is None:
            return evidence
        beyond = "the `metric` block treats different answers as the same, and the checker derives no bound for that"
        return replace(evidence, unverified=evidence.unverified or beyond) if isinstance(evidence, Proof) else beyond

    def _established(self, proof: Proof) -> ClassResult:
        """Return the result for a class with this `proof`, all of whose obligations hold."""
        goal = proof.goal
        if isinstance(proof.evidence, SlackBound):
            row = self._row(Method.EMPTY, Verdict.ACCURATE, of=goal.convex)
            return replace(row, evidence=self._certified(proof.evidence))
        simple, is_exact = is_simple(proof), goal.lower.attained
        at_corner = not (is_exact and simple and not goal.holds_corner(self._distance)) and (
            proof.rule is None or simple
        )
        method = Method.CORNER if is_exact and at_corner and simple else Method.BOUND
        row = self._row(method, Verdict.ACCURATE, goal, proof.bound, at_corner=at_corner, of=goal.convex)
        return replace(row, evidence=self._certified(proof))

    def _proved_by_cases(self, rows: Sequence[ClassResult]) -> ClassResult:
        """Return the result that this class is proved by the proofs of other cases, with the results `rows`.

        If there is one row, the values of eps where beta < 1 are those of this row. Otherwise they are those where the
        limit of beta as alpha grows is less than 1.
        """
        result = replace(self._row(Method.BOUND, Verdict.ACCURATE), evidence=self.BEYOND_CHECKER)
        note = result.note
        if len(rows) == 1:
            (row,) = rows
            note = replace(row.note, hardest=None)
            return replace(result, beta_form=row.beta_form, vacuous=row.vacuous, says=row.says, note=note)
        singly = tuple([single for row in rows for single in (row.rows or (row,))])
        least = self.summand.least
        says = None if least is None else claim_scope(least, self.claim.intervals, self.source.program.limits)
        result = replace(result, obligations=singly, says=says)
        if says is None or not says.is_vacuous:
            return result
        return replace(result, vacuous=True, note=replace(note, method=Method.NOTHING))

    def _proved_by_sections(self, every: Sequence[Proof]) -> ClassResult:
        rows = [self._with_sayings(self._established(proof), proof.goal.convex) for proof in every]
        return replace(self._row(Method.BOUND, Verdict.ACCURATE), rows=tuple(rows))

    def _row(
        self,
        method: Method,
        verdict: Verdict,
        goal: Goal | None = None,
        bound: ClosedForm | None = None,
        *,
        reason: str | None = None,
        at_corner: bool = True,
        of: ConvexClass | None = None,
    ) -> ClassResult:
        """Return the row of the report for the convex class `of`, by default this class.

        The row shows the given `method` and `verdict`. If `goal` is given, the row also shows alpha, beta, gamma, and
        `bound`, the closed form of a lower bound of the probability. In these, an open distance has the value
        `Goal.sample`. With `at_corner` the row shows the input of the goal's corner. `reason` is given for an undecided
        class.
        """
        convex = of or self.convex
        note = self._note(method, convex, goal, bound, at_corner=at_corner)
        output = answer_texts(self._core, convex.inputs.region)
        beta = None if goal is None else goal.required.beta
        if goal is None or beta is None:
            zero, alpha = PiecewiseForm(ExpPoly.ZERO), self.source.claim.alpha_text
            gamma = FREE if self.claim.both_open else ""
            return ClassResult(self.number, {}, output, alpha, zero, gamma, verdict, reason=reason, note=note)
        corner, distances = note.hardest, goal.required
        radius = distances.gamma_base + goal.sample * distances.gamma_rate
        return ClassResult(
            self.number,
            {} if corner is None else input_texts(self._core, {**convex.inputs.finite, **point_at(corner, goal.alpha)}),
            output,
            str(goal.alpha),
            beta,
            str(radius),
            verdict,
            reason=reason,
            closed_form=_scaled(bound, goal.sample, distances.is_open).restricted_to(self._core.only_at)
            if note.exact and bound is not None
            else None,
            note=note,
        )

    def _note(
        self,
        method: Method,
        convex: ConvexClass,
        goal: Goal | None = None,
        bound: ClosedForm | None = None,
        *,
        at_corner: bool = True,
    ) -> ClassNote:
        if goal is None:
            return ClassNote(method, self._core, convex)
        required = goal.required
        if bound is not None and required.variable == "eps":
            bound = bound.restricted_to(self._core.only_at)
        return ClassNote(
            method,
            self._core,
            convex,
            variable=required.variable,
            intervals=goal.intervals,
            hardest=goal.lower.corner if at_corner else None,
            closed_form=bound,
            beta_form=required.beta,
            exact=goal.lower.attained and at_corner,
        )


def _point_claim(fixed: Requirement) -> witnesses.PointClaim:
    assert fixed.beta is not None, "at a number"
    return witnesses.PointClaim(fixed.gamma_base, fixed.beta)


def _all_proved(cases: Sequence[ClassCase]) -> Asking[list[ClassResult] | None]:
    assert cases, "a proof by cases needs a case, or would hold trivially"
    rows: list[ClassResult] = []
    for case in cases:
        row = None
        # A summand of beta alone can lack a limit.
        with suppress(Undecided, DiagnosticError):
            row = yield from case.proved()
        if row is None:
            return None
        rows.append(row)
    return rows


def _is_approached(goal: Goal) -> bool:
    """Return True if probabilities at inputs of the class come arbitrarily close to the bound of `goal`.

    Three conditions are checked: alpha is 0, no input is an int, and all noises are continuous. The corner is then a
    limit of inputs of the class, which is convex and not empty. The claim is about all these inputs, and the
    probability is continuous in the inputs.
    """
    distances = goal.required
    joint = (component for centered in goal.convex.exits for component in centered.parts)
    return distances.alpha == 0 and not goal.convex.inputs.whole and all(component.continuous for component in joint)


def _failing_at(first: Decision) -> Fraction | None:
    return None if first.counterexample is None else first.counterexample.eps


def _vacuous(result: ClassResult, method: Method) -> ClassResult:
    assert result.verdict is not Verdict.INACCURATE, "a vacuous claim cannot be refuted"
    note = replace(result.note, hardest=None, method=method)
    if method is Method.EMPTY:
        note = replace(note, closed_form=None, beta_form=None)
    return replace(result, vacuous=True, note=note, verdict=Verdict.ACCURATE, reason=None)


def _scaled(form: ClosedForm, factor: Fraction, is_open: bool) -> ClosedForm:
    if not is_open or factor == 1:
        return form
    return ClosedForm(form.value.scaled(factor))


def _unproved_integers(name: str, failing: Fraction | None) -> str:
    """Return the reason why a class with integer distances is not proved for every value of the distance `name`.

    `failing` is the distance at which the proof fails, or None if it fails for large distances.
    """
    if failing is None:
        what = f"for all large values of the {name} at once"
    elif name == "gamma":
        what = f"for gamma just below {failing}"
    else:
        what = f"at the distance {failing}"
    return f"{_UNPROVED} {what}, and no input was found to refute it"
