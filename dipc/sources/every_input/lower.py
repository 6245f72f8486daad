"""The least probability of an answer over a class of inputs, or a lower bound of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm

from dipc.algebra.quotient import Closed, Quotient
from dipc.chain.affine import Affine
from dipc.obligations.obligation import Bound, Share
from dipc.sources.every_input.corner import Corner, corner
from dipc.sources.every_input.evidence import ClaimedDistances, Farkas, ShareEvidence, SlackBound
from dipc.sources.every_input.exits import CenteredExit
from dipc.sources.every_input.halfspaces import ImpliedBound as Implied
from dipc.sources.every_input.halfspaces import Moving, best_bound, single_bound


@dataclass(frozen=True, slots=True)
class Lower:
    """`bound` <= Pr[answer] for every input of the class, as a function of distance·eps where a distance is open, of
    eps otherwise; `why` is the proof. Where `attained`, it is Pr[answer] at the inputs `corner`, which are behind all
    half-spaces. `lost` says why it may be less than it could be. `slacks` are the forms that it depends on."""

    bound: Bound
    why: Farkas
    attained: bool
    corner: Corner | None
    lost: str | None
    slacks: tuple[Affine, ...]


_Bounding = Callable[[Affine, Sequence[Moving], Fraction | None], Implied | None]


def lower_bound(
    exits: Sequence[CenteredExit],
    facets: Sequence[Moving],
    slots: Sequence[int],
    distances: ClaimedDistances,
    whole: frozenset[int] = frozenset(),
) -> Lower:
    """A lower bound of the probability of `exits` over all inputs behind the facets.

    Every slack is bounded below by weights on the facets (Farkas); the probability at these bounds is one by
    monotonicity (see `exits`). With an open distance a bound base + distance·slope with base > 0 is
    lowered to distance·slope, and an exit with one that has base < 0 is left out, so that all slacks are multiples of
    the distance; so are exits whose weight, or a noise of theirs on integers, depends on eps alone.
    The inputs `whole` are integers.
    """
    forms = _forms(exits)
    attempt = _attempt(facets, slots, distances, forms, single_bound, whole)
    if not attempt.attained and len(facets) > 1:
        attempt = _attempt(facets, slots, distances, forms, best_bound, whole)
    return attempt.lower(exits, facets, distances)


def _forms(exits: Sequence[CenteredExit]) -> dict[tuple[Affine, int], bool]:
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
    slacks: Mapping[tuple[Affine, int], SlackBound | None]
    corner: Corner | None

    @property
    def attained(self) -> bool:
        """Whether one input has all these slacks: none of them can be bounded any better."""
        return self.corner is not None and all(slack is not None for slack in self.slacks.values())

    def lower(self, exits: Sequence[CenteredExit], facets: Sequence[Moving], distances: ClaimedDistances) -> Lower:
        shares: list[Share] = []
        evidence: list[ShareEvidence] = []
        lost: list[str] = []
        for found in exits:
            reason = self._unusable(found, distances)
            if reason is not None:
                lost.append(reason)
                continue
            if found.in_balls and not distances.gamma_base and not distances.gamma_rate:
                continue  # noise is equal to a number with probability 0
            points = tuple([self._known(form, 1) for point in found.points for form in (point, -point)])
            bounds = [tuple([self._known(half.slack, half.radius) for half in part.halfspaces]) for part in found.parts]
            events = [
                part.event([slack.slope if distances.is_open else slack.base for slack in slacks])
                for part, slacks in zip(found.parts, bounds, strict=True)
            ]
            shares.append(Share(found.weight, tuple(events)))
            evidence.append(ShareEvidence(points, tuple(bounds)))
        if distances.is_open and any(slack is not None and slack.base > 0 for slack in self._noisy(exits)):
            lost.append("a slack does not shrink to 0 with the distance")
        if self.corner is None:
            lost.append("no single input attains the least of every slack")
        slacks = tuple(form for form, _ in self.slacks if form.inputs)
        why = Farkas(tuple(facets), distances, tuple(evidence))
        return Lower(Bound(tuple(shares)), why, not lost, self.corner, lost[0] if lost else None, slacks)

    def _known(self, form: Affine, radius: int) -> SlackBound:
        slack = self.slacks[form, radius]
        assert slack is not None, "an exit with a slack that is not bounded is left out"
        return slack

    def _noisy(self, exits: Sequence[CenteredExit]) -> list[SlackBound | None]:
        halves = (half for found in exits for part in found.parts for half in part.halfspaces)
        return [self.slacks[half.slack, half.radius] for half in halves]

    def _unusable(self, found: CenteredExit, distances: ClaimedDistances) -> str | None:
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
    facets: Sequence[Moving],
    slots: Sequence[int],
    distances: ClaimedDistances,
    forms: Mapping[tuple[Affine, int], bool],
    bounding: _Bounding,
    whole: frozenset[int],
) -> _Attempt:
    slacks: dict[tuple[Affine, int], SlackBound | None] = {}
    tight: set[int] = set()
    for (form, radius), matters in forms.items():
        bound = bounding(form, facets, distances.alpha)
        slacks[form, radius] = slack = None if bound is None else slack_of(form, bound, radius, distances, whole)
        if slack is not None and matters:
            tight.update(slack.tight)
    found = corner(facets, tight, slots, distances.alpha)
    if (
        found is not None
        and whole
        and not _is_whole(
            found, [slack for key, slack in slacks.items() if slack is not None and forms[key]], distances, whole
        )
    ):
        found = None
    return _Attempt(slacks, found)


def _is_whole(found: Corner, slacks: Sequence[SlackBound], distances: ClaimedDistances, whole: frozenset[int]) -> bool:
    """Whether a corner has integers where inputs are integers, and all these slacks there; at one alpha."""
    if distances.alpha is None:
        return False
    point = found.at(distances.alpha)
    if any(point[slot].denominator != 1 for slot in whole):
        return False
    return all(s.form.at(point) + s.radius * distances.gamma_base == s.base for s in slacks)


def slack_of(
    form: Affine,
    bound: Implied,
    radius: int,
    distances: ClaimedDistances,
    whole: frozenset[int] = frozenset(),
) -> SlackBound:
    """The bound of a form that has `radius` times gamma added to it, at the claim's distances; at one alpha the bound
    of a form of the `whole` inputs is a value that it takes at integers."""
    base = bound.at(distances.alpha_base)
    if not distances.alpha_rate and form.inputs and all(slot in whole for slot, _ in form.inputs):
        base = _raised(form, base)
    slope = bound.slope * distances.alpha_rate + radius * distances.gamma_rate
    return SlackBound(form, radius, bound.weights, base + radius * distances.gamma_base, slope)


def known_slacks(
    forms: Iterable[Affine], facets: Sequence[Moving], distances: ClaimedDistances, whole: frozenset[int]
) -> Iterator[SlackBound]:
    """The bounds of those forms that the facets bound."""
    for form in forms:
        bound = best_bound(form, facets, distances.alpha)
        if bound is not None:
            yield slack_of(form, bound, 0, distances, whole)


def _raised(form: Affine, bound: Fraction) -> Fraction:
    """The least value from `bound` on of those that the form takes at integers: its constant and multiples of the
    greatest common divisor of its coefficients."""
    below = lcm(*[c.denominator for _, c in form.inputs])
    step = Fraction(gcd(*[int(c * below) for _, c in form.inputs]), below)
    return form.constant + step * ceil((bound - form.constant) / step)


def is_constant(weight: Closed) -> bool:
    """Whether a weight is the same for every eps."""
    if isinstance(weight, Quotient):
        return False
    return all(k == 0 and q == 0 for k, q, _ in weight.terms())
