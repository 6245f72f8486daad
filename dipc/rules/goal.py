"""The goal for one convex class of inputs, with its distance, its beta and its values of eps, and the goal's proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.exppoly import Closed, ClosedForm
from dipc.algebra.limits import Undecided
from dipc.chain.state import Affine, Constraint, contradict
from dipc.decide.obligation import Obligation
from dipc.frozen import frozen
from dipc.program.ideal import Ideal
from dipc.program.metric import Norm
from dipc.program.nearness import Nearness
from dipc.program.program import Program
from dipc.rules.centered_exits import CenteredExit, ExitFinder, united, with_weights
from dipc.rules.class_claim import ClassClaim, products
from dipc.rules.facets import FacetMetric
from dipc.rules.halfspaces import SlackBound, greatest_alpha, has_gamma, point_at, step_of
from dipc.rules.input_classes import InputClass, NearAnswers, metric_excerpt
from dipc.rules.least_slacks import LEAST_SLACKS, Lower, slack_bound
from dipc.rules.rule import (
    BoundEvidence,
    Bounds,
    ProofStep,
    Requirement,
    Rule,
)
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
        message = "`--inputs all` does not cover a gamma other than a number with this distance of answers"
        raise bad_input("E1206", message, "give gamma a number, such as --gamma 1", place=metric_excerpt(core))
    return NearAnswers(ideal, claim.requirement().gamma_base)


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
        """The value of the open distance at which reports and plots show the class."""
        return _ONE if self.greatest is None or self.greatest >= 1 else self.greatest

    @property
    def alpha(self) -> Fraction:
        """The value of alpha at the distance `sample`."""
        return self.required.alpha_base + self.sample * self.required.alpha_rate

    def holds_corner(self, distance: Callable[[Mapping[int, Fraction]], Fraction | None]) -> bool:
        """Return True if the corner is an input of the class and at least alpha away from other answers.

        The corner is the input at which all slacks are least. `distance` returns dd at an input, or None for infinity.
        The corner may be on an edge that belongs to another class. If some facets do not move with alpha, it may be
        nearer to other answers than alpha.
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
