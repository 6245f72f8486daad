"""The proof rules for a convex class of inputs, in the order of what they cost: every service tries this list.

A goal is proved by one rule for the class as it is, or by one for each part of it. What a rule gives are obligations,
all of which have to hold: `proofs` yields them, `established_as_a_whole` and `proved_in_parts` try them.

**Parts** of a class are proved by themselves: by what its distance from other answers implies, and by signs of slacks.
They cover the class, so that what is proved of each is true of all of its inputs.

**Weights of choices** depend on eps alone, in bounds about distance·eps. Where all such weights of a program are a +
b·g for one function g of eps, as those of one coin are, they lie on the segment between their values at the least and
the greatest g. A sum of weight·probability is linear in the weights, so that at every eps it is at least the lesser of
the sums at the two ends, whatever eps·distance is.
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
from dipc.frozen import Later, frozen
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
    fixed_requirement,
    is_certified,
    requirement,
    restatements,
    stated_goal,
)
from dipc.rules.halfspaces import Moving
from dipc.rules.input_classes import InputClass
from dipc.rules.joint_tails import JOINT_TAILS
from dipc.rules.least_slacks import LEAST_SLACKS, is_constant, jointly
from dipc.rules.log_concave import CORNERS
from dipc.rules.rule import Bounds, Empty, Instance, Jointly, Posed, Proved, Rule, SlackBound
from dipc.rules.vertices import VERTICES
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.ast import CompareOp

if TYPE_CHECKING:
    from dipc.rules import integer_distances
    from dipc.rules.integer_distances import Asking
else:
    integer_distances = Later("dipc.rules.integer_distances")

_ZERO = Fraction(0)


def by_distances(setting: Setting, convex: ConvexClass) -> list[ConvexClass]:
    """Convex classes that cover this one: by all that its distance from other answers implies, and by whether outputs
    without noise are within gamma of det's. None but itself where that makes no difference. Raises Undecided."""
    inputs, piece = convex.inputs, convex.piece
    gamma = requirement(setting.claim, inputs, setting.metric).distances.gamma_base
    exits = [_within(centered, gamma, inputs.whole) for centered in piece.exits]
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
    """Convex classes that cover this one, on each of which none of the forms is both positive and negative; none if
    there would be too many."""
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
    """All half-spaces that contain the inputs of a piece: those of its region's guards, of the guards of ints, which
    moving half-spaces do not imply near an edge, of the piece's own `guards`, and of one side of other regions."""
    ints = [guard for guard in inputs.region.guards if guard.whole]
    static = [Moving(guard.form, _ZERO) for guard in (*ints, *guards)]
    return (*own, *static, *side)


def known_region(setting: Setting, inputs: InputClass, piece: ConvexPiece) -> Region:
    """The region of the class, where answers count as the same that of a piece: only there it is known which."""
    if setting.near is None:
        return inputs.region
    return replace(inputs.region, guards=(*inputs.region.guards, *piece.guards))


def _within(centered: CenteredExit, gamma: Fraction, whole: frozenset[int]) -> CenteredExit:
    """The exit where its outputs without noise are within gamma of det's, which is a comparison of inputs; those of
    `whole` are ints."""
    radius = Affine.number(gamma)
    near = [
        constraint(radius + point, CompareOp.GE, all(slot in whole for slot, _ in point.inputs))
        for point in centered.points
        if point.inputs
    ]
    return replace(centered, guards=(*centered.guards, *near))


#: A weight to a number for it.
Values = Mapping[Closed, Fraction]


def with_extreme_weights(rule: Rule, instance: Instance, limits: Limits) -> Bounds | None:
    """What the rule gives, where a distance is open and weights depend on eps alone for both of their ends."""
    exits = instance.others if rule.of_others else instance.exits
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
    tails = any(bounds is not None and isinstance(bounds.why, Jointly) and bounds.why.tails for bounds in each)
    return Bounds(tuple(every), None if tails else jointly(instance))


def ends(exits: Iterable[CenteredExit], limits: Limits) -> tuple[Values, Values] | None:
    """Two points such that the weights of the exits are between them at every eps > 0: the weights that depend on eps,
    each with its number at the point. None where that is not known, or no weight depends on eps."""
    first, *others = dict.fromkeys(
        centered.weight for centered in exits if centered.weight is not None and not is_constant(centered.weight)
    ) or (None,)
    if first is None:
        return None
    start, end = _at_zero(first), _at_infinity(first)
    if start is None or end is None or start == end:
        return None
    low, high = min(start, end), max(start, end)
    if not (_is_positive(first - low, limits) and _is_positive(high - first, limits)):
        return None
    points: tuple[dict[Closed, Fraction], dict[Closed, Fraction]] = {first: start}, {first: end}
    for other in others:
        mine = _at_zero(other), _at_infinity(other)
        if mine[0] is None or mine[1] is None:
            return None
        slope = (mine[1] - mine[0]) / (end - start)
        if Quotient.of(other) != Quotient.of(first) * slope + (mine[0] - slope * start):
            return None
        points[0][other], points[1][other] = mine[0], mine[1]
    return points


def _is_positive(value: Closed, limits: Limits) -> bool:
    try:
        one = PiecewiseForm(ExpPoly.ONE)
        return decide(ClosedForm(value), one, (Interval.POSITIVE,), limits).verdict is Verdict.ACCURATE
    except Undecided:
        return False


def _at_zero(value: Closed) -> Fraction | None:
    """The limit as eps -> 0, where numerator and denominator have limits and the denominator's is not 0."""
    above, below = [sum((c for k, _, c in poly.terms() if k == 0), _ZERO) for poly in fraction_of(value)]
    return above / below if below else None


def _at_infinity(value: Closed) -> Fraction | None:
    """The limit as eps -> ∞; None where it is infinite."""
    above, below = [{(q, k): c for k, q, c in poly.terms()} for poly in fraction_of(value)]
    leading = max(below)
    if not above or max(above) < leading:
        return _ZERO
    return above[leading] / below[leading] if max(above) == leading else None


#: The rules for a class as it is. They cost no more than the linear programs of its slacks.
SIMPLE: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT)

#: The rules for exits that were put together, with weights of choices at their ends.
UNITED: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT, CLAMPS, VERTICES, JOINT_TAILS, CORNERS)

_NOT_DERIVED = "the checker does not derive this kind of bound"
_ONE_BY_ONE = "it was proved separately for each integer distance"


@frozen
class Established:
    """A goal that is known to hold, with what a certificate is written from: a proof whose obligations were decided, or
    that nothing is claimed. `rule` is None where there was none, or several; `bound` is the function that was decided,
    where it is one."""

    goal: Goal
    evidence: Proved | Empty
    rule: str | None = None
    bound: ClosedForm | None = None

    @property
    def is_simple(self) -> bool:
        """Whether a rule for the class as it is was enough."""
        return any(rule.name == self.rule for rule in SIMPLE)


def simple_proofs(goal: Goal) -> Iterator[Proof]:
    """What the rules for the class as it is give. Raises Undecided."""
    for rule in SIMPLE:
        # What is the probability itself cannot be bounded better.
        if rule is LEAST_SLACKS or not goal.lower.attained:
            bounds = goal.bounds(rule)
            if bounds is not None and goal.required.beta is not None:
                yield _proof(goal, rule.name, bounds, certified=True)


def united_proofs(goal: Goal) -> Iterator[Proof]:
    """What the rules give for exits that were put together, at the distances required and others that imply them.
    Raises Undecided."""
    setting = goal.setting
    claim, inputs = setting.claim, goal.convex.inputs
    for required in restatements(claim, inputs, setting.metric, goal.required):
        restated = goal if required is goal.required else goal.requiring(required)
        if required.beta is None or restated.empty is not None:
            continue
        united = goal.united if restated is goal else goal.united.at(required.distances)
        certified = is_certified(claim, goal.required, required)
        for rule in UNITED:
            bounds = with_extreme_weights(rule, united, setting.program.limits)
            if bounds is not None:
                yield _proof(restated, f"{rule.name}, of united ways", bounds, certified=certified)


def proofs(goal: Goal) -> Iterator[Proof]:
    """What all rules give for the class as a whole, in the order of what they cost. Raises Undecided."""
    yield from simple_proofs(goal)
    yield from united_proofs(goal)


def _proof(goal: Goal, name: str, bounds: Bounds, *, certified: bool) -> Proof:
    beta = goal.required.beta
    assert beta is not None
    obligations = tuple([Obligation(function, beta, goal.intervals) for function in bounds.functions])
    if bounds.why is None or not certified:
        return Proof(goal, name, obligations, goal.lower.why, _NOT_DERIVED)
    return Proof(goal, name, obligations, bounds.why)


def first_established(every: Iterable[Proof]) -> Asking[Established | None]:
    """By the first of the proofs whose obligations all hold; None where there is none."""
    for proof in every:
        decision = None
        for obligation in proof.obligations:
            decision = yield obligation
            if decision.verdict is not Verdict.ACCURATE:
                break
        else:
            assert decision is not None, "a proof has obligations"
            # Of several bounds none is one by itself.
            bound = decision.bound if len(proof.obligations) == 1 else None
            return Established(proof.goal, proof.evidence, proof.rule, bound)
    return None


def established_by_integers(goal: Goal, start: int = 1) -> Asking[tuple[Established | None, Fraction | None]]:
    """A goal about ints for one distance after the other, from `start` on where all distances are integers; else the
    first distance at which it is not proved."""

    def posed(each: Goal) -> Asking[Posed | None]:
        established = yield from first_established(proofs(each))
        return (
            established.evidence.posed if established is not None and isinstance(established.evidence, Proved) else None
        )

    integers = yield from integer_distances.at_every_integer(goal, posed, start)
    if integers.posed is None:
        return None, integers.failing
    distances = goal.required.distances
    ceiling = goal.ceiling if distances.alpha_rate else None
    counted = _slacks_beyond(goal) if distances.alpha_rate and goal.convex.inputs.integral else ()
    evidence = Proved(integers.posed, goal.required.dd, ceiling, beyond=_ONE_BY_ONE, counted=counted)
    return Established(goal, evidence), None


def _slacks_beyond(goal: Goal) -> tuple[SlackBound, ...]:
    """The bounds of the slacks at the distance 2: at the least one a facet that moves says no more than one that does
    not."""
    beyond = goal.requiring(fixed_requirement(goal.setting.claim.at_number(Fraction(2)), "2"))
    shares = () if beyond.empty is not None else beyond.lower.why.shares
    return tuple([slack for share in shares for event in share.events for slack in event])


def established_as_a_whole(goal: Goal) -> Asking[Established | None]:
    """The goal proved by any rule, for the class as a whole; None where no rule proves it. Raises Undecided."""
    if goal.empty is not None:
        return Established(goal, goal.empty)
    established = yield from first_established(simple_proofs(goal))
    if established is None and goal.is_about_integers:
        established, _ = yield from established_by_integers(goal)
    return established or (yield from first_established(united_proofs(goal)))


def proved_in_parts(goal: Goal) -> Asking[list[Established] | None]:
    """The goal proved part by part, each by any rule; None where no rule proves a part. Raises Undecided."""
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

#: How much of a constant a proof needs; None where none suffices, or that is not known. Raises Undecided.
Needed = Callable[[Proof], Fraction | None]


@frozen
class Choice:
    """Proofs that cover a class together, and the most that one of them needs of the constant; None for infinity."""

    needed: Fraction | None
    proofs: tuple[Proof, ...]

    def is_less(self, other: Choice) -> bool:
        """Whether it needs less than the other."""
        return self.needed is not None and (other.needed is None or self.needed < other.needed)

    @staticmethod
    def all_of(choices: Sequence[Choice]) -> Choice:
        """The choices for parts, for the whole."""
        every = [choice.needed for choice in choices]
        most = None if None in every else max((each for each in every if each is not None), default=_ZERO)
        return Choice(most, tuple(proof for choice in choices for proof in choice.proofs))


def least_needing(goal: Goal, needed: Needed, enough: Fraction) -> Choice:
    """The rules for the class, as a whole or part by part, that need the least; the search ends
    once that is at most `enough`. What reaches a limit needs infinitely much."""
    best = _least_of_whole(goal, needed, enough)
    if best.needed is None or best.needed > enough:
        with suppress(Undecided):
            by_parts = _least_of_parts(goal, needed, enough)
            if by_parts is not None and by_parts.is_less(best):
                return by_parts
    return best


def _least_of_whole(goal: Goal, needed: Needed, enough: Fraction) -> Choice:
    best = Choice(None, ())
    if goal.empty is not None:
        return Choice(_ZERO, ())
    with suppress(Undecided):
        for proof in proofs(goal):
            choice = Choice(None, (proof,))
            with suppress(Undecided):
                choice = Choice(needed(proof), (proof,))
            if choice.is_less(best) or not best.proofs:
                best = choice
            if best.needed is not None and best.needed <= enough:
                break
    return best


def _least_of_parts(goal: Goal, needed: Needed, enough: Fraction) -> Choice | None:
    """None where the class has no parts, or of one nothing is known."""
    setting, every = goal.setting, []
    for convex in by_distances(setting, goal.convex):
        of_part = stated_goal(setting, convex)
        whole = convex.facets == goal.convex.facets and convex.piece == goal.convex.piece
        best = Choice(None, ()) if whole else _least_of_whole(of_part, needed, enough)
        if best.needed is None or best.needed > enough:
            signed = [
                _least_of_whole(stated_goal(setting, each), needed, enough)
                for each in by_signs(convex, of_part.instance.forms)
            ]
            if signed and (choice := Choice.all_of(signed)).is_less(best):
                best = choice
        if best.needed is None:
            return None
        every.append(best)
    return Choice.all_of(every)
