"""The proof rules for a convex class of inputs, cheapest first: every kind of question tries this list.

A goal is proved by one rule for the whole class, or by one rule for each part of it. A rule gives obligations, all of
which have to hold: `proofs` yields them, `established_as_a_whole` and `proved_in_parts` try them.

**Parts** of a class are proved separately. A class is cut by what its distance from other answers implies, and by signs
of slacks. The parts cover the class, so that a statement proved of each part is true of all of its inputs.

**Weights of choices** depend on eps alone, even if a bound depends on distance·eps. Suppose that all such weights of a
program are a + b·g with numbers a and b, for one function g of eps; a program with one coin is an example. The weights
then lie on the segment between their values at the least and at the greatest g. A sum of weight·probability is linear
in the weights. At every eps it is therefore at least the lesser of the sums at the two ends, whatever distance·eps is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, Quotient, fraction_of
from dipc.algebra.limits import Limits, Undecided
from dipc.chain.event import GAMMA
from dipc.chain.state import Affine, Constraint, constraint, contradict
from dipc.decide.obligation import Asking, Obligation, Verdict
from dipc.frozen import LazyModule, frozen
from dipc.program.ideal import Region
from dipc.rules.centered_exits import CenteredExit, is_proved_nonnegative, pieces
from dipc.rules.clamps import CLAMPS
from dipc.rules.complement import COMPLEMENT
from dipc.rules.facets import MOST_CHOICES, choices
from dipc.rules.goal import (
    LEAST_SLACKS,
    ConvexClass,
    Goal,
    Proof,
    Rule,
    Setting,
    is_certified,
    is_constant,
    joint_evidence,
    requirement,
    restatements,
    stated_goal,
)
from dipc.rules.halfspaces import SlackBound
from dipc.rules.input_classes import InputClass
from dipc.rules.joint_tails import JOINT_TAILS
from dipc.rules.log_concave import CORNERS
from dipc.rules.rule import Bounds, Derivation, Farkas
from dipc.rules.vertices import VERTICES
from dipc.sign.interval import Interval
from dipc.sign.optimum import Limit, limit_at_infinity, limit_at_zero
from dipc.text.ast import CompareOp

if TYPE_CHECKING:
    from dipc.rules import integer_distances
else:
    integer_distances = LazyModule("dipc.rules.integer_distances")

_ZERO = Fraction(0)


def by_distances(setting: Setting, convex: ConvexClass) -> list[ConvexClass]:
    """Return smaller convex classes that together cover `convex`, or only `convex` if there would be too many of them.

    The class is cut by sets of facets if some facets of its region do not move with alpha. An input with dd(u) >= alpha
    is behind all facets of at least one set, and each set gives a class. The class is also cut so that an output
    without noise is within gamma of det's at all inputs of a part, or at none. `setting` has the claim, which gives
    gamma, and the distance of inputs. Raises Undecided past a limit.
    """
    inputs = convex.inputs
    gamma = requirement(setting.claim, inputs, setting.metric).gamma_base
    near = []
    for centered in convex.exits:
        points = [form for point in centered.points if (form := point.substituted({GAMMA: gamma})).inputs]
        within = [
            constraint(form, CompareOp.GE, all(slot in inputs.whole for slot, _ in form.inputs)) for form in points
        ]
        near.append(replace(centered, guards=(*centered.guards, *within)))
    finer = pieces(convex.guards, near, setting.program.limits.pieces)
    known = known_region(setting, inputs, convex.guards)
    moves = convex.has_static_facets
    sides = choices(known, inputs.rivals, setting.metric, slanted=True) if moves else ((),)
    if len(finer) * len(sides) > MOST_CHOICES:
        return [convex]
    convex_classes = []
    for more, exits in finer:
        guards = (*convex.guards, *more)
        for side in sides:
            both = tuple(dict.fromkeys([*convex.side, *side]))
            facets = all_facets(convex.own_facets, guards, both)
            convex_classes.append(ConvexClass(convex.number, inputs, guards, exits, both, facets))
    return convex_classes


def by_signs(convex: ConvexClass, forms: Sequence[Affine]) -> list[ConvexClass]:
    """Return convex classes that together cover `convex`, on each of which no form in `forms` changes its sign.

    The result is empty if there would be too many.
    """
    inputs = convex.inputs
    every = [convex.guards]
    for form in forms:
        whole = all(slot in inputs.whole for slot, _ in form.inputs)
        sides = constraint(form, CompareOp.GE, whole), constraint(-form, CompareOp.GT, whole)
        both = [(*guards, side) for guards in every for side in sides]
        every = [guards for guards in both if not contradict(guards)]
        if len(every) > MOST_CHOICES:
            return []
    own, side = convex.own_facets, convex.side
    return [replace(convex, guards=guards, facets=all_facets(own, guards, side)) for guards in every]


def all_facets(own: Sequence[Affine], guards: Sequence[Constraint], side: Sequence[Affine]) -> tuple[Affine, ...]:
    """Return all half-spaces that are known to contain the inputs of one convex part of a class.

    They are in this order:

    - the facets `own`, one for each guard of the region;
    - the guards of the region that are about ints, because their facets do not imply them if alpha is small;
    - the other `guards`;
    - the facets `side`, which keep a distance from regions with other answers.
    """
    static = [guard.form for number, guard in enumerate(guards) if guard.whole or number >= len(own)]
    return (*own, *static, *side)


def known_region(setting: Setting, inputs: InputClass, guards: tuple[Constraint, ...]) -> Region:
    """Return the region of the class `inputs`, or only its part with `guards` if a `metric` block compares answers.

    Which answers the block counts as the same may differ between parts of the region. `setting` says whether there is
    such a block.
    """
    return inputs.region if setting.near is None else replace(inputs.region, guards=guards)


#: A number for each weight.
Values = Mapping[Closed, Fraction]


def with_extreme_weights(rule: Rule, goal: Goal) -> Bounds | None:
    """Return the bounds that `rule` gives for `goal`, or None if it gives none.

    If a distance is open and weights depend on eps, the weights are on a segment (see `ends`). The rule is then applied
    to the weights at both ends of the segment, and all bounds are returned.
    """
    exits = goal.other_exits if rule.of_others else goal.exits
    if exits is None:
        return None
    points = ends(exits, goal.setting.program.limits) if goal.required.is_open else None
    if points is None:
        return rule.bounds(goal)
    each = [rule.bounds(goal.weighted(values)) for values in points]
    functions = [bounds.functions for bounds in each if bounds is not None and bounds.functions]
    if len(functions) < len(points):
        return None
    every = dict.fromkeys(function for some in functions for function in some)
    evidence = [bounds.evidence for bounds in each if bounds is not None]
    tails = any(isinstance(one, Farkas) and one.derivation is Derivation.TAILS for one in evidence)
    return Bounds(tuple(every), None if tails else joint_evidence(goal))


def ends(exits: Iterable[CenteredExit], limits: Limits) -> tuple[Values, Values] | None:
    """Return two points such that the weights of `exits` lie on the segment between the points at every eps > 0.

    A point maps each weight that depends on eps to a number. The result is None if no weight depends on eps, or if the
    weights are not proved, within `limits`, to lie on a segment.
    """
    first, *others = dict.fromkeys(
        centered.weight for centered in exits if centered.weight is not None and not is_constant(centered.weight)
    ) or (None,)
    if first is None:
        return None
    start, end = _limits(first, limits)
    if not isinstance(start, Fraction) or not isinstance(end, Fraction) or start == end:
        return None
    above, below = first - min(start, end), max(start, end) - first
    if not all(is_proved_nonnegative(each, (Interval.POSITIVE,), limits) for each in (above, below)):
        return None
    points: tuple[dict[Closed, Fraction], dict[Closed, Fraction]] = {first: start}, {first: end}
    for other in others:
        low, high = _limits(other, limits)
        if not isinstance(low, Fraction) or not isinstance(high, Fraction):
            return None
        slope = (high - low) / (end - start)
        if Quotient.convert(other) != Quotient.convert(first) * slope + (low - slope * start):
            return None
        points[0][other], points[1][other] = low, high
    return points


def _limits(value: Closed, limits: Limits) -> tuple[Limit, Limit]:
    return limit_at_zero(*fraction_of(value), limits), limit_at_infinity(*fraction_of(value))


#: The rules for a class with its exits as they are. They cost no more than the linear programs of its slacks.
SIMPLE: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT)

#: The rules for united exits, with weights of choices at their ends.
UNITED: tuple[Rule, ...] = (LEAST_SLACKS, COMPLEMENT, CLAMPS, VERTICES, JOINT_TAILS, CORNERS)

_NOT_DERIVED = "the checker does not derive this kind of bound"
_ONE_BY_ONE = "each integer distance was proved separately"


def is_simple(proof: Proof) -> bool:
    """Return True if a rule in SIMPLE gave `proof`: for the class as a whole, with its exits as they are."""
    return any(rule.name == proof.rule for rule in SIMPLE)


def simple_proofs(goal: Goal) -> Iterator[Proof]:
    """Yield the proofs of `goal` by the rules in SIMPLE, which take the exits as they are. Raises Undecided."""
    for rule in SIMPLE:
        # An attained bound is the probability itself, which no other rule improves.
        if rule is LEAST_SLACKS or not goal.lower.attained:
            bounds = goal.bounds(rule)
            if bounds is not None and goal.required.beta is not None:
                yield _proof(goal, rule.name, bounds, certified=True)


def united_proofs(goal: Goal) -> Iterator[Proof]:
    """Yield the proofs of `goal` by the rules in UNITED, after uniting exits.

    Exits that differ from each other in only one comparison are replaced by a single exit. Proofs of other statements
    that imply the goal are yielded, too: the claim at the distance 0, for instance. Raises Undecided past a limit.
    """
    setting = goal.setting
    claim, inputs = setting.claim, goal.convex.inputs
    for required in restatements(claim, inputs, setting.metric, goal.required):
        restated = goal if required is goal.required else goal.requiring(required)
        if required.beta is None or restated.empty is not None:
            continue
        united = goal.united if restated is goal else goal.united.requiring(required)
        certified = is_certified(claim, goal.required, required)
        for rule in UNITED:
            bounds = with_extreme_weights(rule, united)
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


def first_established(every: Iterable[Proof]) -> Asking[Proof | None]:
    """Return the first of the proofs in `every` whose obligations all hold, or None.

    If this proof has a single obligation, the result has the measured bound of this obligation as its bound. If it has
    several, the result has no bound.
    """
    for proof in every:
        decision = None
        for obligation in proof.obligations:
            decision = yield obligation
            if decision.verdict is not Verdict.ACCURATE:
                break
        else:
            assert decision is not None, "a proof has obligations"
            # One of several bounds alone does not bound the probability.
            return replace(proof, bound=decision.bound if len(proof.obligations) == 1 else None)
    return None


def established_by_integers(goal: Goal, start: int = 1) -> Asking[tuple[Proof | None, Fraction | None]]:
    """Prove `goal`, about a class with int inputs, separately for each integer distance d.

    Return (the proof, None), or (None, d) for the first d at which the proof failed. The result is (None, None) if no
    proof for all large distances is found. If all distances from other answers are integers, the proof is only about
    the distances d >= `start`.
    """
    found = yield from integer_distances.at_every_integer(goal, lambda each: first_established(proofs(each)), start)
    if not isinstance(found, Proof):
        return None, found
    counted: tuple[SlackBound, ...] = ()
    if goal.required.alpha_rate and goal.convex.inputs.integral:
        # The certificate needs bounds at the distance 2: those at 1 do not show which facets move with the distance.
        beyond = goal.requiring(goal.setting.claim.at_number(Fraction(2)))
        counted = () if beyond.empty is not None else beyond.lower.evidence.slacks
    return replace(found, goal=goal, rule=None, unverified=_ONE_BY_ONE, bound=None, counted=counted), None


def established_as_a_whole(goal: Goal) -> Asking[Proof | None]:
    """Return a proof of `goal` by any rule, without cutting its class; None if no rule proves it.

    Raises Undecided.
    """
    if goal.empty is not None:
        return Proof(goal, None, (), goal.empty)
    established = yield from first_established(simple_proofs(goal))
    if established is None and goal.is_about_integers:
        established, _ = yield from established_by_integers(goal)
    return established or (yield from first_established(united_proofs(goal)))


def proved_in_parts(goal: Goal) -> Asking[list[Proof] | None]:
    """Cut the class of `goal` into smaller convex classes, and return proofs that together cover all of them.

    The result is None if one of the classes is not proved. Raises Undecided.
    """
    setting, every = goal.setting, []
    for convex in by_distances(setting, goal.convex):
        of_part = stated_goal(setting, convex)
        established = None if convex == goal.convex else (yield from established_as_a_whole(of_part))
        if established is not None:
            every.append(established)
            continue
        signed = by_signs(convex, of_part.forms)
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
    """Proofs that together cover a class of inputs, for a claim with a constant left open.

    `needed` is the least value of the open constant for which all `proofs` hold; None is infinity.
    """

    needed: Fraction | None
    proofs: tuple[Proof, ...]

    def is_less(self, other: CoveringProofs) -> bool:
        """Return True if these proofs need a smaller value of the open constant than `other`."""
        return self.needed is not None and (other.needed is None or self.needed < other.needed)

    @staticmethod
    def all_of(choices: Sequence[CoveringProofs]) -> CoveringProofs:
        """Return the proofs for a class from `choices`, which has the proofs for each of its parts."""
        every = [choice.needed for choice in choices]
        most = None if None in every else max((each for each in every if each is not None), default=_ZERO)
        return CoveringProofs(most, tuple(proof for choice in choices for proof in choice.proofs))


def least_needing(goal: Goal, needed: Needed, enough: Fraction) -> CoveringProofs:
    """Return those proofs of `goal` that hold for the least value of a constant that the claim leaves open.

    They prove the goal for its whole class, or part by part. `needed` returns the least value for which a proof holds.
    If it raises Undecided for a proof, the least value is taken to be infinity. The search ends at the first proofs
    that need at most `enough`.
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
    """Return proofs that cover the class of `goal` part by part, or None if some part has no proof.

    For each part, `needed` returns the least value of the open constant for which a proof holds. The proof with the
    least value is taken, or the first one that needs at most `enough`.
    """
    setting, every = goal.setting, []
    for convex in by_distances(setting, goal.convex):
        of_part = stated_goal(setting, convex)
        best = CoveringProofs(None, ()) if convex == goal.convex else _least_of_whole(of_part, needed, enough)
        if best.needed is None or best.needed > enough:
            signed = [
                _least_of_whole(stated_goal(setting, each), needed, enough) for each in by_signs(convex, of_part.forms)
            ]
            if signed and (choice := CoveringProofs.all_of(signed)).is_less(best):
                best = choice
        if best.needed is None:
            return None
        every.append(best)
    return CoveringProofs.all_of(every)
