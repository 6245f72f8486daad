"""The goal for one convex class of inputs, with its distance, its beta and its values of eps, and the goal's proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import ceil, gcd, lcm

from dipc.algebra.exppoly import Closed, ClosedForm, Quotient
from dipc.algebra.limits import Undecided
from dipc.chain.event import GAMMA
from dipc.chain.state import Affine, Constraint, contradict
from dipc.decide.obligation import Bound, Obligation, Share
from dipc.frozen import frozen
from dipc.program.ideal import Ideal
from dipc.program.metric import Norm
from dipc.program.nearness import Nearness
from dipc.program.program import Program
from dipc.rules.centered_exits import CenteredExit, ExitFinder, united, with_weights
from dipc.rules.class_claim import ClassClaim, products
from dipc.rules.facets import FacetMetric
from dipc.rules.halfspaces import (
    Corner,
    SlackBound,
    best_bound,
    corner,
    greatest_alpha,
    has_gamma,
    point_at,
    single_bounds,
    slack,
    step_of,
)
from dipc.rules.input_classes import InputClass, NearAnswers, metric_excerpt
from dipc.rules.rule import BoundEvidence, Bounds, Derivation, Farkas, ProofStep, Requirement
from dipc.sign.interval import Interval
from dipc.text.diagnostic import bad_input

_ZERO, _ONE = Fraction(0), Fraction(1)


def requirement(claim: ClassClaim, input_class: InputClass, metric: FacetMetric) -> Requirement:
    """Return the statement that `claim` makes about all inputs of `input_class` at once.

    If the claim has alpha = dd(u), dd being the distance by `metric`, alpha is one number in three cases:

    - infinity where det has one answer only;
    - 0 (or 1 where all distances are integers) where the right answer itself changes with the input;
    - 1 for the discrete distance, unless some inputs are infinitely far apart.

    Otherwise alpha is left open. Raises DiagnosticError where beta has no exact meaning.
    """
    if not claim.at_distance:
        wanted = claim.requirement()
        if not input_class.integral:
            return wanted
        return replace(wanted, alpha_base=claim.least_integer())
    if input_class.alone:
        # If gamma grows with alpha, the claim at alpha = infinity does not replace the claim at every alpha.
        return claim.open() if claim.gamma_moves else claim.at_number(None)
    if metric.norm is Norm.DISCRETE and metric.apart is None:
        return claim.at_number(_ONE)
    if input_class.rivals_arbitrarily_near and metric.apart is None:
        return claim.at_number(_ZERO)
    if input_class.rivals_at_one and input_class.integral and metric.apart is None:
        return claim.at_number(_ONE)
    return claim.open()


def restatements(
    claim: ClassClaim, input_class: InputClass, metric: FacetMetric, required: Requirement
) -> Iterator[Requirement]:
    """Yield the requirement `required`, and then up to two other requirements that imply it.

    One is the requirement for dd = 0, by `metric`, if the right answer changes with the inputs of `input_class`. The
    other is the requirement of `claim` without the open distance, if beta does not depend on this distance.
    """
    yield required
    # In the discrete distance another answer is at 1 even where the answer moves.
    touching = input_class.moving and metric.apart is None and metric.norm is not Norm.DISCRETE
    if claim.at_distance and touching:
        yield claim.at_number(_ZERO)
    without = claim.whatever_distance()
    if without is not None:
        yield without


def is_certified(claim: ClassClaim, required: Requirement, restated: Requirement) -> bool:
    """Return True if a certificate can state that the requirement `restated` implies the requirement `required`.

    It can if both are equal, or if `restated` is about a single dd(u). A restatement about all distances at once can be
    certified only if alpha = dd(u) and the gamma of `claim` does not depend on the distance.
    """
    return (
        restated == required or restated.dd is not None or (claim.at_distance and not claim.gamma_depends_on_distance)
    )


@frozen
class ConvexClass:
    """A convex part of the class `inputs`: its inputs that satisfy `guards` and are behind the facets `side`.

    - `number` is its number among the convex classes of the question.
    - `guards` are the guards of the region, followed by those of this part. They do not depend on the distance
      from other answers.
    - `exits` are the exits to the right answer that these inputs can take.
    - The facets `side` keep a distance from other answers, and move as this distance grows.
    - `facets` are all half-spaces that contain the inputs; those of the region's guards are first.
    - `refused` is the reason if the class could not be computed, else None.
    """

    number: int
    inputs: InputClass = field(compare=False)
    guards: tuple[Constraint, ...]
    exits: tuple[CenteredExit, ...]
    side: tuple[Affine, ...]
    facets: tuple[Affine, ...]
    refused: str | None = None

    @property
    def own_facets(self) -> tuple[Affine, ...]:
        """The facets that belong to the guards of the region, one for each guard, in the same order."""
        return self.facets[: len(self.inputs.region.guards)]

    @property
    def has_static_facets(self) -> bool:
        """True if some facet of the region does not move inwards with the distance from other answers."""
        return has_static_facets(self.inputs, self.own_facets)


def has_static_facets(inputs: InputClass, own: Sequence[Affine]) -> bool:
    """Return True if a facet in `own` does not move inwards with the distance.

    `own` has one facet for each guard of the region of `inputs`.
    """
    return any(g.form.inputs and not step_of(facet) for g, facet in zip(inputs.region.guards, own, strict=True))


@frozen
class Setting:
    """The data that all classes of one question share.

    `program` and `claim` are those of the question, and `metric` is the distance of inputs. `near` decides which
    answers are near det's; it is None if gamma alone decides. `exits` finds the exits of the program, and `slots` are
    the inputs that are not of finite type.
    """

    program: Program
    claim: ClassClaim
    metric: FacetMetric
    near: NearAnswers | None
    exits: ExitFinder
    slots: Sequence[int]


def near_answers(ideal: Ideal, claim: ClassClaim) -> NearAnswers | None:
    """Return the answers that count as near det's, by the `metric` block of `ideal` and the gamma of `claim`, or None.

    None means that the block changes nothing: finite outputs must be equal, real and int ones within gamma. Raises
    DiagnosticError if the block defines a distance of real or int answers, or a distance with more than two values
    while gamma is not a number.
    """
    core = ideal.program.core
    if core.has_product_distance:
        return None
    Nearness(core).require_finite()
    if ideal.metric.core.output == "product":
        return NearAnswers(ideal, _ZERO)
    if claim.free_gamma or claim.gamma_moves:
        message = "`--inputs all` does not cover a gamma other than a number with this distance between answers"
        raise bad_input("E1206", message, "give gamma a number, such as --gamma 1", place=metric_excerpt(core))
    return NearAnswers(ideal, claim.requirement().gamma_base)


@frozen
class Rule:
    """A proof rule: its `name`, and the function `bounds` from a goal to lower bounds of the probability.

    `bounds` returns None if the rule does not apply, and raises Undecided past a limit. `of_others` says that the rule
    reads the exits to other answers.
    """

    name: str
    bounds: Callable[[Goal], Bounds | None]
    of_others: bool = False


#: A function that changes exits, but for no input the sum of weight·Pr[event] over those that the input can take.
Rewriting = Callable[[Sequence[CenteredExit]], Sequence[CenteredExit]]


class Goal:
    """The statement to prove about one convex class: Pr[right answer] >= 1 - beta for all its inputs.

    `setting` has the data that all classes share, `convex` is the class, and `required` has alpha, gamma and beta. The
    goal holds if, for some rule, all obligations of the rule's bounds hold. The bounds of each rule are computed once.

    Invariant: for each input u of the class, the probability of the answer is the sum of weight·Pr[event] over the
    `exits` whose guards hold at u.
    """

    def __init__(
        self,
        setting: Setting,
        convex: ConvexClass,
        required: Requirement,
        origin: Goal | None = None,
        rewriting: Rewriting = tuple,
    ) -> None:
        """Make the goal to prove `required` for the class `convex` of the question with the data `setting`.

        Its exits are those of `convex`, or, with an `origin`, those that `rewriting` makes of the exits of `origin`.
        """
        self.setting = setting
        self.convex = convex
        self.required = required
        self._origin = origin
        self._rewriting = rewriting
        self._known: dict[str, Bounds | None] = {}

    def __reduce__(self) -> tuple[type[Goal], tuple[Setting, ConvexClass, Requirement]]:
        # What is cached may refer to functions, and is found again. Proofs are of goals whose exits are not rewritten.
        return Goal, (self.setting, self.convex, self.required)

    def requiring(self, required: Requirement) -> Goal:
        """Return the goal for this class and these exits with the requirement `required`."""
        return Goal(self.setting, self.convex, required, self)

    @cached_property
    def united(self) -> Goal:
        """The goal after exits that differ in a single comparison are united."""
        intervals, limits = self.setting.claim.intervals, self.setting.program.limits
        return Goal(self.setting, self.convex, self.required, self, lambda exits: united(exits, intervals, limits))

    def weighted(self, values: Mapping[Closed, Fraction]) -> Goal:
        """Return the goal with each weight of an exit replaced by its number in `values`."""
        return Goal(self.setting, self.convex, self.required, self, lambda exits: with_weights(exits, values))

    @cached_property
    def exits(self) -> Sequence[CenteredExit]:
        """All exits to the right answer."""
        return self.convex.exits if self._origin is None else self._rewriting(self._origin.exits)

    @cached_property
    def other_exits(self) -> Sequence[CenteredExit] | None:
        """The exits to other answers whose guards some input of the class may satisfy, or None if they are not known.

        They are not known if an output is not of finite type, or if there are too many exits. Raises Undecided past a
        limit.
        """
        if self._origin is not None:
            return self._origin.other_exits and self._rewriting(self._origin.other_exits)
        every, guards = self._exits_to_others, self.convex.guards
        return every and [each for each in every if not contradict([*guards, *each.guards])]

    @cached_property
    def _exits_to_others(self) -> Sequence[CenteredExit] | None:
        inputs = self.convex.inputs
        return self.setting.exits.other_exits(inputs.finite, inputs.region)

    @cached_property
    def forms(self) -> Sequence[Affine]:
        """The slacks of all events of all exits, to the right answer and to others, before any exits were rewritten."""
        if self._origin is not None:
            return self._origin.forms
        parts = (part for centered in (*self.exits, *(self._exits_to_others or ())) for part in centered.parts)
        halves = (half for part in parts for half in part.halfspaces if half.inputs and not has_gamma(half))
        return list(dict.fromkeys(half.noiseless for half in halves))

    def slack_bound(self, half: Affine) -> SlackBound | None:
        """Return the best lower bound of the slack of `half` that the facets prove, or None if they prove none."""
        return slack_bound(half, self.convex.facets, self.required, self.convex.inputs.whole)

    def bounds(self, rule: Rule) -> Bounds | None:
        """Return the bounds that `rule` gives for the goal, or None if it does not apply."""
        if rule.name not in self._known:
            bounds = rule.bounds(self)
            if isinstance(bounds, Lower) and self.convex.inputs.incomplete:
                bounds = replace(bounds, lost=bounds.lost or "some paths to the answer are left out")
            self._known[rule.name] = bounds
        return self._known[rule.name]

    @property
    def lower(self) -> Lower:
        """The lower bound of the probability by the rule LEAST_SLACKS: every slack has its least value in the class.

        If all slacks are least at one input, this input is the bound's `corner`.
        """
        result = self.bounds(LEAST_SLACKS)
        assert isinstance(result, Lower)
        return result

    @cached_property
    def ceiling(self) -> SlackBound | None:
        """An upper bound of dd(u) over all inputs u of the class, with its proof; None if no bound is known."""
        return None if self.lower.corner is not None else greatest_alpha(self.convex.facets)

    @property
    def greatest(self) -> Fraction | None:
        """An upper bound of dd(u) over all inputs u of the class, or None if no bound is known."""
        return None if self.ceiling is None else -self.ceiling.base

    @property
    def empty(self) -> SlackBound | None:
        """A proof that the claim is about no input of the class, since all are too near to other answers; else None."""
        claim, alpha = self.setting.claim, self.required.alpha or _ZERO
        if not claim.at_distance and claim.is_near(alpha):
            ceiling = greatest_alpha(self.convex.facets)
            return ceiling if ceiling is not None and -ceiling.base <= alpha else None
        return self.ceiling if self.ceiling is not None and -self.ceiling.base < alpha else None

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals of eps, or of an open distance times eps, in which the obligations must hold."""
        intervals, distances = self.setting.claim.intervals, self.required
        if distances.gamma_rate and not distances.alpha_rate:
            return (products(intervals, None),)
        if distances.alpha_rate and self.greatest != 0:
            return (products(intervals, self.greatest),)
        return intervals

    @property
    def sample(self) -> Fraction:
        """The value of the open distance at which reports and plots show the class.

        It is 1, or the greatest distance if that is less than 1. It has no meaning if no distance is open.
        """
        return _ONE if self.greatest is None or self.greatest >= 1 else self.greatest

    @property
    def alpha(self) -> Fraction:
        """The value of alpha: if it depends on an open distance, its value at the distance `sample`."""
        return self.required.alpha_base + self.sample * self.required.alpha_rate

    def holds_corner(self, distance: Callable[[Mapping[int, Fraction]], Fraction | None]) -> bool:
        """Return True if the corner is an input of the class and at least alpha away from other answers.

        The corner is the input at which all slacks are least. `distance` returns dd at an input, or None for infinity.
        The corner may be on an edge that belongs to another class. If some facets do not move with alpha, its distance
        from other answers may be less than alpha.
        """
        convex, corner, alpha = self.convex, self.lower.corner, self.alpha
        assert corner is not None
        point = point_at(corner, alpha)
        if not all(guard.holds_at(point) for guard in convex.guards):
            return False
        dd = distance(point) if alpha and (convex.inputs.whole or convex.has_static_facets) else None
        if dd is not None and convex.inputs.whole and not self.required.alpha_rate:
            # Inputs a little farther away need not exist, so that the claim has to be about the corner itself.
            claim = self.setting.claim
            return dd >= alpha and (claim.at_distance or not claim.is_near(dd))
        return dd is None or dd >= alpha

    def is_met(self, distance: Callable[[Mapping[int, Fraction]], Fraction | None]) -> bool:
        """Return True if the claim fails wherever the bound of `lower` is less than 1 - beta.

        The corner is the input at which all slacks are least, and `distance` returns dd at an input, or None for
        infinity. If alpha = dd(u) is left open, the claim is about the corner only if dd is exactly alpha there. This
        is certain if all facets of the region move with alpha and the corner lies on a facet that moves. Otherwise dd
        is computed for one alpha, which is enough if the claim is about all eps > 0.
        """
        if not self.required.alpha_rate:
            return True
        convex, lower = self.convex, self.lower
        if not convex.has_static_facets and any(step_of(convex.facets[k]) for k in lower.tight):
            return True
        assert lower.corner is not None
        everything = self.setting.claim.intervals == (Interval.POSITIVE,)
        return everything and distance(point_at(lower.corner, self.alpha)) == self.alpha

    @property
    def is_about_integers(self) -> bool:
        """True if the class has int inputs and the requirement leaves a distance open."""
        return bool(self.convex.inputs.whole and self.required.is_open)


def stated_goal(setting: Setting, convex: ConvexClass) -> Goal:
    """Return the goal that the claim of `setting` states for the class `convex`.

    Raises DiagnosticError for a claim without an exact meaning, and Undecided for a class that could not be computed.
    """
    if convex.refused is not None:
        raise Undecided(convex.refused)
    goal = Goal(setting, convex, requirement(setting.claim, convex.inputs, setting.metric))
    if goal.empty is None and goal.greatest == 0 and goal.required.alpha_rate:
        return goal.requiring(setting.claim.at_number(_ZERO))
    return goal


# --- the bound of a goal with each slack at its least ----------------------------------------------


@frozen
class Lower(Bounds):
    """The bound with every slack at its least value, as a single function.

    - `evidence` has the bounds of the slacks, with their proofs.
    - `lost` is the reason why the bound may be less than the least probability. If it is None, the bound is the
      probability of the right answer itself, at the input `corner`, which is behind all facets.
    - `slacks` are the slacks that the bound depends on, as forms of the inputs.
    - `tight` has the indices of the facets that are equalities at the corner.
    """

    evidence: Farkas
    corner: Corner | None
    lost: str | None
    slacks: tuple[Affine, ...]
    tight: frozenset[int]

    @property
    def bound(self) -> Bound:
        return self.functions[0]

    @property
    def attained(self) -> bool:
        """Whether the bound is the probability of the right answer at the corner."""
        return self.lost is None


Bounding = Callable[[Affine, Sequence[Affine], Fraction | None], SlackBound | None]

#: By a half-space of noises or a point, the bound of its slack; None if it has none.
_Slacks = Mapping[Affine, SlackBound | None]


def least_slacks(goal: Goal, exits: Sequence[CenteredExit]) -> Lower:
    """Return the bound Σ weight·Pr over `exits` with each slack at its least behind the facets of `goal`.

    The exits are to the right answer.

    **Lemma.** Pr[A_1·N + s_1 >= 0, …, A_n·N + s_n >= 0] never decreases when a slack grows, as the event, a set of
    values of N, only grows. Exits exclude each other and their weights are not negative. Therefore Σ weight·Pr at lower
    bounds of all slacks, exit by exit, is at most the probability of the answer at every input. ∎

    Every slack is bounded below by weights on the facets (Farkas). If a distance is open, the slacks in the bound have
    to be multiples of it. A lower bound base + distance·slope with base > 0 is therefore lowered to distance·slope, and
    an exit with base < 0 is left out. Exits are also left out if their weight, or one of their integer noises, depends
    on eps alone.
    """
    facets, distances = goal.convex.facets, goal.required
    parts = [[half for component in centered.parts for half in component.halfspaces] for centered in exits]
    every = dict.fromkeys(form for centered, own in zip(exits, parts, strict=True) for form in (*centered.points, *own))
    noisy = dict.fromkeys(chain.from_iterable(parts))
    single = single_bounds(facets)
    slacks = _bounded(every, goal, lambda form, _, alpha: single(form, alpha))
    corner = _corner(noisy, slacks, goal)
    # If one input attains the bounds of all slacks, no slack has a better bound.
    if (corner is None or None in slacks.values()) and len(facets) > 1:
        slacks = _bounded(every, goal, best_bound)
        corner = _corner(noisy, slacks, goal)
    shares: list[Share] = []
    evidence: list[SlackBound] = []
    lost: list[str] = []
    for centered in exits:
        reason = _unusable(centered, slacks, distances)
        if reason is not None:
            lost.append(reason)
            continue
        if centered.in_balls and not distances.gamma_base and not distances.gamma_rate:
            continue  # continuous noise equals a number with probability 0
        bounds = [[_bound_of(half, slacks) for half in component.halfspaces] for component in centered.parts]
        events = [
            component.event(list(map(distances.level, own)))
            for component, own in zip(centered.parts, bounds, strict=True)
        ]
        shares.append(Share(centered.weight, tuple(events)))
        evidence += [_bound_of(point, slacks) for point in centered.points]
        evidence += chain.from_iterable(bounds)
    if distances.is_open and any(bound is not None and bound.base > 0 for bound in map(slacks.get, noisy)):
        lost.append("a slack does not shrink to 0 with the distance")
    if corner is None:
        lost.append("no single input makes every slack the least")
    return Lower(
        (Bound(tuple(shares)),),
        Farkas(Derivation.WAYS, tuple(evidence)),
        corner,
        lost[0] if lost else None,
        tuple(dict.fromkeys(form for form in map(slack, slacks) if form.inputs)),
        _tight(noisy, slacks),
    )


LEAST_SLACKS = Rule("each slack at its least", lambda goal: least_slacks(goal, goal.exits))


def _bounded(halves: Iterable[Affine], goal: Goal, bounding: Bounding) -> _Slacks:
    facets, distances, whole = goal.convex.facets, goal.required, goal.convex.inputs.whole
    return {half: slack_bound(half, facets, distances, whole, bounding=bounding) for half in halves}


def _bound_of(half: Affine, slacks: _Slacks) -> SlackBound:
    bound = slacks[half]
    assert bound is not None, "an exit with a slack that is not bounded is left out"
    return bound


def _unusable(centered: CenteredExit, slacks: _Slacks, distances: Requirement) -> str | None:
    """Return the reason why the exit `centered` cannot be used in the bound, or None if it can.

    `slacks` has the bounds of its slacks, and `distances` the claim's alpha and gamma.
    """
    for point in centered.points:
        bound = slacks[point]
        if bound is None or not distances.is_nonnegative(bound):
            return "an output without noise is not always within gamma of the right answer"
    if distances.is_open:
        if centered.weight is not None and not is_constant(centered.weight):
            return "the weight of a choice does not scale with the distance"
        if not all(component.continuous for component in centered.parts):
            return "noise on integers does not scale with the distance"
        if not all(component.scales for component in centered.parts):
            return "a noise is not proved to scale with eps"
    for component in centered.parts:
        for half in component.halfspaces:
            bound = slacks[half]
            if bound is None:
                return "a slack is not bounded below on the class"
            if distances.is_open and bound.base < 0:
                return "a slack is negative where the distance is small"
    return None


def _tight(noisy: Iterable[Affine], slacks: _Slacks) -> frozenset[int]:
    return frozenset([k for bound in map(slacks.get, noisy) if bound is not None for k in bound.tight])


def _corner(noisy: Iterable[Affine], slacks: _Slacks, goal: Goal) -> Corner | None:
    """Return an input of the class of `goal` at which each slack in `noisy` is equal to its bound, or None.

    `slacks` has the bounds. If alpha is open, the input is a function of alpha, and None is returned if an input is an
    int.
    """
    distances, whole = goal.required, goal.convex.inputs.whole
    found = corner(goal.convex.facets, _tight(noisy, slacks), goal.setting.slots, distances.alpha)
    if found is None or not whole:
        return found
    if distances.alpha is None:
        return None
    point = {**point_at(found, distances.alpha), GAMMA: distances.gamma_base}
    if any(point[slot].denominator != 1 for slot in whole):
        return None
    bounds = [(half, bound) for half in noisy if (bound := slacks[half]) is not None]
    return found if all(half.noiseless.evaluate(point) == bound.base for half, bound in bounds) else None


def slack_bound(
    half: Affine,
    facets: Sequence[Affine],
    distances: Requirement,
    whole: frozenset[int] = frozenset(),
    *,
    bounding: Bounding = best_bound,
) -> SlackBound | None:
    """Return the best lower bound of the slack of `half` that `facets` prove, or None if they prove none.

    `distances` has the claim's alpha and gamma. `bounding` returns the bound for gamma = 0, from the slack, the facets
    and the alpha at which the bound has to be greatest, or None. `whole` are the slots of the int inputs: if alpha is a
    number or distances are integers, the bound of a form of these inputs is rounded up to a value that the form can
    take.
    """
    form = slack(half)
    bound = bounding(form, facets, distances.sharpest)
    if bound is None:
        return None
    base, slope = bound.at_alpha(distances.alpha_base), bound.slope * distances.alpha_rate
    counted = distances.start is not None or not distances.alpha_rate
    if counted and form.inputs and all(slot in whole for slot, _ in form.inputs):
        base = _raised(form, base, slope)
    if not has_gamma(half):
        return SlackBound(form, bound.weights, base, slope)
    return SlackBound(form, bound.weights, base + distances.gamma_base, slope + distances.gamma_rate, 1)


def joint_evidence(goal: Goal, more: Iterable[Affine] = (), derivation: Derivation = Derivation.VERTICES) -> Farkas:
    """Return evidence with bounds from below and above for all slacks of `goal`, and for the forms in `more`.

    It is for a rule whose bounds follow from several slacks at once; `derivation` names the way in which they follow.
    All bounds are proved by the facets of the goal's class.
    """
    forms = dict.fromkeys(side for each in (*goal.forms, *more) for side in (each, -each))
    slacks = [goal.slack_bound(form) for form in forms]
    return Farkas(derivation, tuple([slack for slack in slacks if slack is not None]))


def _raised(form: Affine, bound: Fraction, slope: Fraction) -> Fraction:
    """Return the least value >= `bound` that `form` - `slope`·d can take at integer inputs and integer d.

    At integers, `form` - `slope`·d is the constant of the form plus a multiple of the greatest common divisor of
    `slope` and the form's coefficients.
    """
    numbers = [slope, *[c for _, c in form.inputs]]
    below = lcm(*[c.denominator for c in numbers])
    step = Fraction(gcd(*[int(c * below) for c in numbers]), below)
    return form.constant + step * ceil((bound - form.constant) / step)


def is_constant(weight: Closed) -> bool:
    """Return True if `weight` does not depend on eps."""
    if isinstance(weight, Quotient):
        return False
    return all(k == 0 and q == 0 for k, q, _ in weight.terms())


# --- proof ------------------------------------------------------------------------------------------


@frozen
class Proof:
    """A proof of `goal` by the rule with the name `rule`, complete once all of the `obligations` are decided to hold.

    - `rule` is None if no rule was needed, or several.
    - `evidence` justifies the bounds of the obligations, for a certificate. If there are no obligations, it proves that
      the claim is about no input of the class.
    - `unverified` names the part of the proof that the checker cannot verify from it, or is None.
    - `bound` is the lower bound of the probability that was compared with 1 - beta; None if there was none, or several.
    - `counted` has the bounds of slacks at the distance 2, for a class that was proved separately for each integer
      distance. The obligations are then about the distance 1. For any other class `counted` is empty.
    """

    goal: Goal
    rule: str | None
    obligations: tuple[Obligation, ...]
    evidence: BoundEvidence | SlackBound
    unverified: str | None = None
    bound: ClosedForm | None = None
    counted: tuple[SlackBound, ...] = ()

    @property
    def steps(self) -> tuple[ProofStep, ...]:
        """All obligations, as steps of the proof."""
        assert isinstance(self.evidence, BoundEvidence)
        return tuple([ProofStep(each, self.goal.required.variable, self.evidence) for each in self.obligations])
