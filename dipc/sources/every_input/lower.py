"""The least probability of an answer over a class of inputs, or a lower bound of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.combine import product, total
from dipc.algebra.quotient import Closed, Quotient
from dipc.chain.affine import Affine
from dipc.measure.measure import Measurer
from dipc.sources.every_input.corner import Corner, corner
from dipc.sources.every_input.exits import Exit, Halfspace, Part
from dipc.sources.every_input.halfspaces import Bound, Moving, best_bound, single_bound

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Distances:
    """What alpha and gamma are, as base + rate·distance of the distance that is left open; with both rates 0 none is,
    and all numbers are what they are."""

    alpha_base: Fraction
    alpha_rate: Fraction
    gamma_base: Fraction
    gamma_rate: Fraction

    @property
    def is_open(self) -> bool:
        return bool(self.alpha_rate or self.gamma_rate)

    @property
    def alpha(self) -> Fraction | None:
        """alpha where it is a number, else None."""
        return None if self.alpha_rate else self.alpha_base


@dataclass(frozen=True, slots=True)
class Lower:
    """`value` <= Pr[answer] for every input of the class, as a function of distance·eps where a distance is open, of
    eps otherwise. Where `exact`, it is Pr[answer] at the inputs `corner`, which are in the class. `lost` says why it
    may be less than it could be."""

    value: Closed
    exact: bool
    corner: Corner | None
    lost: str | None
    slacks: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Slack:
    """slack >= base + distance·slope on the class; it is attained where the walls of `tight` are met."""

    base: Fraction
    slope: Fraction
    tight: tuple[int, ...]


_Bounding = Callable[[Affine, Sequence[Moving], Fraction | None], Bound | None]


def lower_bound(
    exits: Sequence[Exit], walls: Sequence[Moving], slots: Sequence[int], distances: Distances, measurer: Measurer
) -> Lower:
    """A lower bound of the probability of `exits` over all inputs behind the walls.

    Every slack is bounded below by weights on the walls (Farkas); the probability at these bounds is one by
    monotonicity (see `exits`). With an open distance a bound base + distance·slope with base > 0 is
    lowered to distance·slope, and an exit with one that has base < 0 is left out, so that all slacks are multiples of
    the distance; so are exits whose weight, or a noise of theirs on integers, depends on eps alone.
    Raises Undecided past a limit of measuring.
    """
    forms = _forms(exits)
    attempt = _attempt(walls, slots, distances, forms, single_bound)
    if not attempt.attained and len(walls) > 1:
        attempt = _attempt(walls, slots, distances, forms, best_bound)
    return attempt.measured(exits, measurer, distances)


def _forms(exits: Sequence[Exit]) -> dict[tuple[Affine, int], bool]:
    """All the slacks, with their multiples of gamma, and whether the probability depends on how large they are: what
    bounds outputs without noise only has to be positive."""
    forms: dict[tuple[Affine, int], bool] = {}
    for found in exits:
        for point in found.points:
            forms.setdefault((point, 1), False)
            forms.setdefault((-point, 1), False)
        for part in found.parts:
            for half in part.halfspaces:
                forms[half.slack, half.radius] = True
    return forms


@dataclass(frozen=True, slots=True)
class _Attempt:
    slacks: Mapping[tuple[Affine, int], Slack | None]
    corner: Corner | None

    @property
    def attained(self) -> bool:
        """Whether one input has all these slacks: none of them can be bounded any better."""
        return self.corner is not None and all(slack is not None for slack in self.slacks.values())

    def measured(self, exits: Sequence[Exit], measurer: Measurer, distances: Distances) -> Lower:
        shares: list[Closed] = []
        lost: list[str] = []
        for found in exits:
            reason = self._unusable(found, distances)
            if reason is not None:
                lost.append(reason)
                continue
            if found.in_balls and not distances.gamma_base and not distances.gamma_rate:
                continue  # noise is equal to a number with probability 0
            factors = [] if found.weight is None else [found.weight]
            factors += [measurer.measure(part.event(self._values(part, distances))) for part in found.parts]
            shares.append(product(factors))
        if distances.is_open and any(slack is not None and slack.base > 0 for slack in self._noisy(exits)):
            lost.append("a slack does not shrink to 0 with the distance")
        if self.corner is None:
            lost.append("no single input attains the least of every slack")
        value = total(shares)
        slacks = tuple(form for form, _ in self.slacks if form.inputs)
        return Lower(value, not lost, self.corner, lost[0] if lost else None, slacks)

    def _noisy(self, exits: Sequence[Exit]) -> list[Slack | None]:
        halves = (half for found in exits for part in found.parts for half in part.halfspaces)
        return [self.slacks[half.slack, half.radius] for half in halves]

    def _values(self, part: Part, distances: Distances) -> dict[Halfspace, Fraction]:
        found: dict[Halfspace, Fraction] = {}
        for half in part.halfspaces:
            slack = self.slacks[half.slack, half.radius]
            assert slack is not None
            found[half] = slack.slope if distances.is_open else slack.base
        return found

    def _unusable(self, found: Exit, distances: Distances) -> str | None:
        """Why nothing is known of this exit, which then counts as 0; None where something is."""
        for point in found.points:
            for form in (point, -point):
                slack = self.slacks[form, 1]
                if slack is None or slack.base < 0 or slack.slope < 0:
                    return "an output without noise is not always within gamma of det's"
        if distances.is_open:
            if found.weight is not None and not is_constant(found.weight):
                return "the weight of a choice depends on eps alone"
            if not all(part.continuous for part in found.parts):
                return "a noise on integers depends on eps alone"
        for part in found.parts:
            for half in part.halfspaces:
                slack = self.slacks[half.slack, half.radius]
                if slack is None:
                    return "a slack is not bounded below on the class"
                if distances.is_open and slack.base < 0:
                    return "a slack is negative where the distance is small"
        return None


def _attempt(
    walls: Sequence[Moving],
    slots: Sequence[int],
    distances: Distances,
    forms: Mapping[tuple[Affine, int], bool],
    bounding: _Bounding,
) -> _Attempt:
    slacks: dict[tuple[Affine, int], Slack | None] = {}
    tight: set[int] = set()
    for (form, radius), matters in forms.items():
        bound = bounding(form, walls, distances.alpha)
        slacks[form, radius] = slack = None if bound is None else slack_of(bound, radius, distances)
        if slack is not None and matters:
            tight.update(slack.tight)
    return _Attempt(slacks, corner(walls, tight, slots, distances.alpha))


def slack_of(bound: Bound, radius: int, distances: Distances) -> Slack:
    """The bound of a slack that has `radius` times gamma added to it, at the claim's distances."""
    base = bound.at(distances.alpha_base) + radius * distances.gamma_base
    slope = bound.slope * distances.alpha_rate + radius * distances.gamma_rate
    return Slack(base, slope, tuple([k for k, _ in bound.weights]))


def is_constant(weight: Closed) -> bool:
    """Whether a weight is the same for every eps."""
    if isinstance(weight, Quotient):
        return False
    return all(k == 0 and q == 0 for k, q, _ in weight.terms())
