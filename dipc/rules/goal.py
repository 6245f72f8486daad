"""What is to be shown of one convex class of inputs, and what a proof of it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dipc.algebra.limits import Undecided
from dipc.chain.constraints import Constraint
from dipc.decide.obligation import Obligation
from dipc.program.program import Program
from dipc.rules.centered_exits import ConvexPiece, ExitFinder
from dipc.rules.class_claim import ClassClaim, products
from dipc.rules.evidence import Empty, Proved
from dipc.rules.facets import Metric
from dipc.rules.halfspaces import Ceiling, Moving, greatest_alpha
from dipc.rules.input_classes import InputClass, NearAnswers
from dipc.rules.least_slacks import LEAST_SLACKS, Lower
from dipc.rules.posed import Posed, Why
from dipc.rules.requirement import Requirement, at_zero, requirement
from dipc.rules.rule import Bounds, Instance, Rule
from dipc.sign.interval import Interval

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class ConvexClass:
    """The inputs of a class that are in one convex piece of it and, at a distance from other answers, behind the facets
    of `side`; `facets` are all half-spaces that these are behind. `refused` says why it could not be made out."""

    number: int
    inputs: InputClass
    piece: ConvexPiece
    side: tuple[Moving, ...]
    facets: tuple[Moving, ...]
    refused: str | None = None

    @property
    def guards(self) -> tuple[Constraint, ...]:
        """What its inputs satisfy, whatever their distance."""
        return (*self.inputs.region.guards, *self.piece.guards)

    @property
    def own_facets(self) -> tuple[Moving, ...]:
        """The facets of its region's guards, in their order."""
        return self.facets[: len(self.inputs.region.guards)]


@dataclass(frozen=True, slots=True)
class Setting:
    """What all classes of one question share: `slots` are the inputs that are not finite."""

    program: Program
    claim: ClassClaim
    metric: Metric
    near: NearAnswers | None
    exits: ExitFinder
    slots: Sequence[int]


class Goal:
    """That Pr[answer] >= 1 - beta at all inputs of a convex class, at the distances that are required."""

    def __init__(self, setting: Setting, convex: ConvexClass, required: Requirement) -> None:
        self.setting = setting
        self.convex = convex
        self.required = required
        self._known: dict[str, Bounds | None] = {}

    def requiring(self, required: Requirement) -> Goal:
        """The same class at other distances."""
        return Goal(self.setting, self.convex, required)

    @cached_property
    def instance(self) -> Instance:
        """What rules are applied to."""
        convex, setting = self.convex, self.setting
        inputs = convex.inputs
        return Instance(
            convex.piece.exits,
            convex.facets,
            self.required.distances,
            setting.slots,
            inputs.whole,
            convex.guards,
            lambda: setting.exits.others(inputs.finite, inputs.region),
        )

    @cached_property
    def united(self) -> Instance:
        """The same with ways put together that differ in one comparison alone."""
        return self.instance.united(self.setting.claim.intervals, self.setting.program.limits)

    def bounds(self, rule: Rule) -> Bounds | None:
        """What the rule gives."""
        if rule.name not in self._known:
            self._known[rule.name] = rule.bounds(self.instance)
        return self._known[rule.name]

    @property
    def lower(self) -> Lower:
        """The bound at the least of every slack, with the input that attains it, if one does."""
        found = self.bounds(LEAST_SLACKS)
        assert isinstance(found, Lower)
        return found

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """Why alpha is at most some number in the class; None where it grows without bound, or that is not known."""
        return None if self.lower.corner is not None else greatest_alpha(self.convex.facets)

    @property
    def greatest(self) -> Fraction | None:
        """The greatest alpha of the class."""
        return None if self.ceiling is None else self.ceiling.alpha

    @property
    def empty(self) -> Empty | None:
        """That nothing is claimed, where no input of the class is so far from other answers."""
        if self.ceiling is not None and self.ceiling.alpha < (self.required.distances.alpha or _ZERO):
            return Empty(self.ceiling)
        return None

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The values of the variable."""
        intervals, distances = self.setting.claim.intervals, self.required.distances
        if distances.gamma_rate and not distances.alpha_rate:
            return (products(intervals, None),)
        if distances.alpha_rate and self.greatest != 0:
            return (products(intervals, self.greatest),)
        return intervals

    @property
    def sample(self) -> Fraction:
        """A value of the open distance at which the class is shown."""
        return _ONE if self.greatest is None or self.greatest >= 1 else self.greatest

    @property
    def alpha(self) -> Fraction:
        """alpha there."""
        return self.required.distances.alpha_base + self.sample * self.required.distances.alpha_rate

    @property
    def is_about_integers(self) -> bool:
        """Whether a distance is left open of a class with int inputs."""
        return bool(self.convex.inputs.whole and self.required.distances.is_open)


def stated_goal(setting: Setting, convex: ConvexClass) -> Goal:
    """What the claim says of the class. Raises Undecided for a class that could not be made out, DiagnosticError."""
    if convex.refused is not None:
        raise Undecided(convex.refused)
    goal = Goal(setting, convex, requirement(setting.claim, convex.inputs, setting.metric))
    if goal.empty is None and goal.greatest == 0 and goal.required.distances.alpha_rate:
        return goal.requiring(at_zero(setting.claim))
    return goal


@dataclass(frozen=True, slots=True)
class Proof:
    """The goal holds if all of the obligations do, which `rule` gives. `why` is what a certificate is written from;
    `beyond` says what of the proof cannot be checked from it."""

    goal: Goal
    rule: str
    obligations: tuple[Obligation, ...]
    why: Why
    beyond: str | None = None

    @property
    def posed(self) -> Posed:
        """The first obligation."""
        return Posed(self.obligations[0], self.goal.required.variable, self.why)

    @property
    def all_posed(self) -> tuple[Posed, ...]:
        """All obligations."""
        return tuple([Posed(each, self.goal.required.variable, self.why) for each in self.obligations])

    @property
    def evidence(self) -> Proved:
        """What a certificate is written from, once the obligations were decided."""
        required = self.goal.required
        ceiling = self.goal.ceiling if required.distances.alpha_rate else None
        return Proved(self.posed, required.dd, ceiling, besides=self.obligations[1:], beyond=self.beyond)
