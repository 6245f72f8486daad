"""The proof rules for a convex class of inputs, cheapest first: every service tries this list.

A goal is proved by one rule for the whole class, or by one rule for each part of it. A rule gives obligations, all of
which have to hold: `proofs` yields them, `established_as_a_whole` and `proved_in_parts` try them.

**Parts** of a class are proved separately. A class is cut by what its distance from other answers implies, and by signs
of slacks. The parts cover the class, so that a statement proved of each part is true of all of its inputs.

**Weights of choices** depend on eps alone, in bounds that depend on distance·eps. Where all such weights of a program
are a + b·g for one function g of eps, as for one coin, they lie on the segment between their values at the least and
the greatest g. A sum of weight·probability is linear in the weights. At every eps it is therefore at least the lesser
of the sums at the two ends, whatever eps·distance is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import Limits, Undecided
from dipc.chain.state import Affine, Constraint, constraint, contradict
from dipc.decide.obligation import Obligation, Verdict, decide
from dipc.frozen import LazyModule, frozen
from dipc.program.ideal import Region
from dipc.rules.centered_exits import CenteredExit, ConvexPiece, pieces
from dipc.rules.clamps import CLAMPS
from dipc.rules.complement import COMPLEMENT
from dipc.rules.facets import MOST_CHOICES, choices
from dipc.rules.goal import (
    ConvexClass,
    Goal,
    Proof,
    Setting,
    is_certified,
    requirement,
    restatements,
    stated_goal,
)
from dipc.rules.halfspaces import Ceiling, Moving, SlackBound
from dipc.rules.input_classes import InputClass
from dipc.rules.joint_tails import JOINT_TAILS
from dipc.rules.least_slacks import LEAST_SLACKS, is_constant, joint_evidence
from dipc.rules.log_concave import CORNERS
from dipc.rules.rule import Bounds, Derivation, Farkas, Instance, ProofStep, ProvedClass, Rule
from dipc.rules.vertices import VERTICES
from dipc.sign.interval import Interval
from dipc.sign.optimum import Infinite, Limit, limit_at_infinity, limit_at_zero
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.ast import CompareOp

if TYPE_CHECKING:
    from dipc.rules import integer_distances
    from dipc.rules.integer_distances import Asking
else:
    integer_distances = LazyModule("dipc.rules.integer_distances")

_ZERO = Fraction(0)


def by_distances(setting: Setting, convex: ConvexClass) -> list[ConvexClass]:
    """Return convex classes that cover `convex`, or the class alone if it cannot be cut.

    It is cut by the half-spaces that the distance from other answers implies, and then by whether its outputs without
    noise are within gamma of det's. `setting` has the claim, which gives gamma, and the metric. Raises Undecided.
    """
    inputs, piece = convex.inputs, convex.piece
    gamma = requirement(setting.claim, inputs, setting.metric).gamma
    exits = [_with_near_outputs(centered, gamma, inputs.whole) for centered in piece.exits]
    finer = pieces(convex.guards, exits, setting.program.limits.pieces)
    known = known_region(setting, inputs, piece)
    moves = convex.has_static_facets
    sides = choices(known, inputs.rivals, setting.metric, slanted=True) if moves else ((),)
    if len(finer) * len(sides) > MOST_CHOICES:
        return [convex]
    convex_classes = []
    for each in finer:
        guards = (*piece.guards, *each.guards)
        for side in sides:
            both = tuple(dict.fromkeys([*convex.side, *side]))
            facets = all_facets(inputs, convex.own_facets, guards, both)
            convex_classes.append(ConvexClass(convex.number, inputs, ConvexPiece(guards, each.exits), both, facets))
    return convex_classes


def by_signs(convex: ConvexClass, forms: Sequence[Affine]) -> list[ConvexClass]:
    """Return convex classes that cover `convex`, on each of which every form in `forms` keeps its sign.

    The result is empty if there would be too many.
    """
    inputs = convex.inputs
    every = [convex.piece.guards]
    for form in forms:
        whole = all(slot in inputs.whole for slot, _ in form.inputs)
        sides = constraint(form, CompareOp.GE, whole), constraint(-form, CompareOp.GT, whole)
        both = [(*guards, side) for guards in every for side in sides]
        every = [guards for guards in both if not contradict([*inputs.region.guards, *guards])]
        if len(every) > MOST_CHOICES:
            return []
    return [
        replace(
            convex,
            piece=ConvexPiece(guards, convex.piece.exits),
            facets=all_facets(inputs, convex.own_facets, guards, convex.side),
        )
        for guards in every
    ]


def all_facets(
    inputs: InputClass, own: Sequence[Moving], guards: Sequence[Constraint], side: Sequence[Moving]
) -> tuple[Moving, ...]:
    """Return all half-spaces that contain the inputs of a convex class, a part of the class `inputs`.

    They are the facets `own` of the region's guards, the guards of int inputs, the `guards` of the piece, and the
    facets in `side`, one for each other region. The guards of ints are given because moving half-spaces do not
    imply them near an edge.
    """
    ints = [guard for guard in inputs.region.guards if guard.whole]
    static = [Moving(guard.form, _ZERO) for guard in (*ints, *guards)]
    return (*own, *static, *side)


def known_region(setting: Setting, inputs: InputClass, piece: ConvexPiece) -> Region:
    """Return the region of the class `inputs`; only its part in `piece` if different answers may count as the same.

    They may if `setting` has a distance of answers other than the product distance.
    """
    if setting.near is None:
        return inputs.region
    return replace(inputs.region, guards=(*inputs.region.guards, *piece.guards))


def _with_near_outputs(centered: CenteredExit, gamma: Fraction, whole: frozenset[int]) -> CenteredExit:
    """Return `centered` with guards under which its outputs without noise are within `gamma` of det's answer.

    `whole` are the slots of int inputs.
    """
    radius = Affine.number(gamma)
    near = [
        constraint(radius + point, CompareOp.GE, all(slot in whole for slot, _ in point.inputs))
        for point in centered.points
        if point.inputs
    ]
    return replace(centered, guards=(*centered.guards, *near))


#: A number for each weight.
Values = Mapping[Closed, Fraction]


def with_extreme_weights(rule: Rule, instance: Instance, limits: Limits) -> Bounds | None:
    """Return the bounds that `rule` gives for `instance`, or None if it gives none.

    If a distance is open and weights depend on eps, these are the bounds at both ends of the segment of weights,
    whose signs are decided within `limits`.
    """
    exits = instance.other_exits if rule.of_others else instance.exits
    if exits is None:
        return None
    points = ends(exits, limits) if instance.distances.is_open else None
    if points is None:
        return rule.bounds(instance)
    each = [rule.bounds(instance.weighted(values)) for values in points]
    functions = [bounds.functions for bounds in each if bounds is not None and bounds.functions]
    if len(functions) < len(points):
        return None
    every = dict.fromkeys(function for some in functions for function in some)
    evidence = [bounds.evidence for bounds in each if bounds is not None]
    tails = any(isinstance(one, Farkas) and one.derivation is Derivation.TAILS for one in evidence)
    return Bounds(tuple(every), None if tails else joint_evidence(instance))


def ends(exits: Iterable[CenteredExit], limits: Limits) -> tuple[Values, Values] | None:
    """Return two points such that, at every eps > 0, the weights of `exits` are on the segment between the points.

    A point maps each weight that depends on eps to a number. The result is None if no weight depends on eps, or if
    the segment is not proved, within `limits`, to contain the weights.
    """
    first, *others = dict.fromkeys(
        centered.weight for centered in exits if centered.weight is not None and not is_constant(centered.weight)
    ) or (None,)
    if first is None:
        return None
    start, end = _limits(first, limits)
    if isinstance(start, Infinite) or isinstance(end, Infinite) or start == end:
        return None
    if not (_is_positive(first - min(start, end), limits) and _is_positive(max(start, end) - first, limits)):
        return None
    points: tuple[dict[Closed, Fraction], dict[Closed, Fraction]] = {first: start}, {first: end}
    for other in others:
        low, high = _limits(other, limits)
        if isinstance(low, Infinite) or isinstance(high, Infinite):
            return None
        slope = (high - low) / (end - start)
        if Quotient.convert(other) != Quotient.convert(first) * slope + (low - slope * start):
            return None
        points[0][other], points[1][other] = low, high
    return points


def _is_positive(value: Closed, limits: Limits) -> bool:
    try:
        one = PiecewiseForm(ExpPoly.ONE)
        return decide(ClosedForm(value), one, (Interval.POSITIVE,), limits).verdict is Verdict.ACCURATE
    except Undecided:
        return False


def _limits(value: Closed, limits: Limits) -> tuple[Limit, Limit]:
    return limit_at_zero(*fraction_of(value), limits), limit_at_infinity(*fraction_of(value))


#: The rules for a class with its exits as they are. They cost no more than the linear programs of its slacks.
SIMPLE: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT)

#: The rules for united exits, with weights of choices at their ends.
UNITED: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT, CLAMPS, VERTICES, JOINT_TAILS, CORNERS)

_NOT_DERIVED = "the checker does not derive this kind of bound"
_ONE_BY_ONE = "it was proved separately for each integer distance"


@frozen
class Established:
    """A goal known to hold: `evidence` is the proved class, or the proof that the claim is about none of its inputs.

    `rule` is None if no rule was used, or several. `bound` is the function that was decided, if there was only one.
    """

    goal: Goal
    evidence: ProvedClass | Ceiling
    rule: str | None = None
    bound: ClosedForm | None = None

    @property
    def is_simple(self) -> bool:
        """Whether one rule proved the class without uniting its exits or cutting it."""
        return any(rule.name == self.rule for rule in SIMPLE)


def simple_proofs(goal: Goal) -> Iterator[Proof]:
    """Yield the proofs of `goal` by the rules for the class, without uniting its exits. Raises Undecided."""
    for rule in SIMPLE:
        # An attained bound is the probability itself, which no other rule improves.
        if rule is LEAST_SLACKS or not goal.lower.attained:
            bounds = goal.bounds(rule)
            if bounds is not None and goal.required.beta is not None:
                yield _proof(goal, rule.name, bounds, certified=True)


def united_proofs(goal: Goal) -> Iterator[Proof]:
    """Yield the proofs of `goal` by the rules for united exits. Raises Undecided.

    Besides the required distances, others are tried for which a proof implies the goal.
    """
    setting = goal.setting
    claim, inputs = setting.claim, goal.convex.inputs
    for required in restatements(claim, inputs, setting.metric, goal.required):
        restated = goal if required is goal.required else goal.requiring(required)
        if required.beta is None or restated.empty is not None:
            continue
        united = goal.united if restated is goal else goal.united.at_distances(required.distances)
        certified = is_certified(claim, goal.required, required)
        for rule in UNITED:
            bounds = with_extreme_weights(rule, united, setting.program.limits)
            if bounds is not None:
                yield _proof(restated, f"{rule.name}, of united ways", bounds, certified=certified)


def proofs(goal: Goal) -> Iterator[Proof]:
    """Yield the proofs of `goal` by all rules for the class as a whole, cheapest first. Raises Undecided."""
    yield from simple_proofs(goal)
    yield from united_proofs(goal)


def _proof(goal: Goal, name: str, bounds: Bounds, *, certified: bool) -> Proof:
    beta = goal.required.beta
    assert beta is not None
    obligations = tuple([Obligation(function, beta, goal.intervals) for function in bounds.functions])
    if bounds.evidence is None or not certified:
        return Proof(goal, name, obligations, goal.lower.evidence, _NOT_DERIVED)
    return Proof(goal, name, obligations, bounds.evidence)


def first_established(every: Iterable[Proof]) -> Asking[Established | None]:
    """Return the goal established by the first of the proofs `every` whose obligations all hold, or None."""
    for proof in every:
        decision = None
        for obligation in proof.obligations:
            decision = yield obligation
            if decision.verdict is not Verdict.ACCURATE:
                break
        else:
            assert decision is not None, "a proof has obligations"
            # One of several bounds alone does not bound the probability.
            bound = decision.bound if len(proof.obligations) == 1 else None
            return Established(proof.goal, proof.evidence, proof.rule, bound)
    return None


def established_by_integers(goal: Goal, start: int = 1) -> Asking[tuple[Established | None, Fraction | None]]:
    """Return (`goal` as proved at each integer distance, None), or (None, the first distance without a proof).

    The goal is about int inputs. If all distances are integers, only those from `start` on count.
    """

    def prove_distance(each: Goal) -> Asking[ProofStep | None]:
        established = yield from first_established(proofs(each))
        return (
            established.evidence.step
            if established is not None and isinstance(established.evidence, ProvedClass)
            else None
        )

    found = yield from integer_distances.at_every_integer(goal, prove_distance, start)
    if not isinstance(found, ProofStep):
        return None, found
    distances = goal.required.distances
    ceiling = goal.ceiling if distances.alpha_rate else None
    counted = _slacks_beyond(goal) if distances.alpha_rate and goal.convex.inputs.integral else ()
    evidence = ProvedClass(found, goal.required.dd, ceiling, unverified=_ONE_BY_ONE, counted=counted)
    return Established(goal, evidence), None


def _slacks_beyond(goal: Goal) -> tuple[SlackBound, ...]:
    """Return the bounds of the slacks of `goal` at the distance 2, as a further part of the evidence.

    The evidence needs them because a facet that moves implies no more than a fixed one at the least distance, 1.
    """
    beyond = goal.requiring(goal.setting.claim.at_number(Fraction(2)))
    return () if beyond.empty is not None else beyond.lower.evidence.slacks


def established_as_a_whole(goal: Goal) -> Asking[Established | None]:
    """Return `goal` as established by any rule for the class as a whole, or None if no rule proves it.

    Raises Undecided.
    """
    if goal.empty is not None:
        return Established(goal, goal.empty)
    established = yield from first_established(simple_proofs(goal))
    if established is None and goal.is_about_integers:
        established, _ = yield from established_by_integers(goal)
    return established or (yield from first_established(united_proofs(goal)))


def proved_in_parts(goal: Goal) -> Asking[list[Established] | None]:
    """Return the goals of parts that cover the class of `goal`, each proved by some rule, or None.

    The result is None if a part is not proved. Raises Undecided.
    """
    setting, every = goal.setting, []
    for convex in by_distances(setting, goal.convex):
        of_part = stated_goal(setting, convex)
        whole = convex.facets == goal.convex.facets and convex.piece == goal.convex.piece
        established = None if whole else (yield from established_as_a_whole(of_part))
        if established is not None:
            every.append(established)
            continue
        signed = by_signs(convex, of_part.instance.forms)
        for each in signed:
            established = yield from established_as_a_whole(stated_goal(setting, each))
            if established is None:
                return None
            every.append(established)
        if not signed:
            return None
    return every


# --- a constant of the claim that is left open --------------------------------------------------------

#: The value of a constant that a proof needs; None if no value suffices or none is known. Raises Undecided.
Needed = Callable[[Proof], Fraction | None]


@frozen
class CoveringProofs:
    """Proofs that together cover a class; `needed` is the largest value of the open constant that one of them needs.

    `needed` is None for infinity.
    """

    needed: Fraction | None
    proofs: tuple[Proof, ...]

    def is_less(self, other: CoveringProofs) -> bool:
        """Return True if these proofs need a smaller value than `other`."""
        return self.needed is not None and (other.needed is None or self.needed < other.needed)

    @staticmethod
    def all_of(choices: Sequence[CoveringProofs]) -> CoveringProofs:
        """Return the proofs for a class, put together from `choices` for its parts."""
        every = [choice.needed for choice in choices]
        most = None if None in every else max((each for each in every if each is not None), default=_ZERO)
        return CoveringProofs(most, tuple(proof for choice in choices for proof in choice.proofs))


def least_needing(goal: Goal, needed: Needed, enough: Fraction) -> CoveringProofs:
    """Return the proofs of `goal`, as a whole or part by part, that need the least value of the open constant.

    `needed` gives the value that a proof needs. The search ends once a value of at most `enough` is found. A proof
    that reaches a limit needs infinity.
    """
    best = _least_of_whole(goal, needed, enough)
    if best.needed is None or best.needed > enough:
        with suppress(Undecided):
            by_parts = _least_of_parts(goal, needed, enough)
            if by_parts is not None and by_parts.is_less(best):
                return by_parts
    return best


def _least_of_whole(goal: Goal, needed: Needed, enough: Fraction) -> CoveringProofs:
    best = CoveringProofs(None, ())
    if goal.empty is not None:
        return CoveringProofs(_ZERO, ())
    with suppress(Undecided):
        for proof in proofs(goal):
            choice = CoveringProofs(None, (proof,))
            with suppress(Undecided):
                choice = CoveringProofs(needed(proof), (proof,))
            if choice.is_less(best) or not best.proofs:
                best = choice
            if best.needed is not None and best.needed <= enough:
                break
    return best


def _least_of_parts(goal: Goal, needed: Needed, enough: Fraction) -> CoveringProofs | None:
    """Return proofs of parts that cover the class of `goal`, or None if it has no parts or some part has no proof.

    Each part has the proof that needs the least open constant, which `needed` finds; the search for it ends at a value
    of at most `enough`.
    """
    setting, every = goal.setting, []
    for convex in by_distances(setting, goal.convex):
        of_part = stated_goal(setting, convex)
        whole = convex.facets == goal.convex.facets and convex.piece == goal.convex.piece
        best = CoveringProofs(None, ()) if whole else _least_of_whole(of_part, needed, enough)
        if best.needed is None or best.needed > enough:
            signed = [
                _least_of_whole(stated_goal(setting, each), needed, enough)
                for each in by_signs(convex, of_part.instance.forms)
            ]
            if signed and (choice := CoveringProofs.all_of(signed)).is_less(best):
                best = choice
        if best.needed is None:
            return None
        every.append(best)
    return CoveringProofs.all_of(every)
