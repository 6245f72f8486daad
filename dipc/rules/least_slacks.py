"""The least probability of an answer over a class of inputs, or a lower bound of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, gcd, lcm

from dipc.algebra.exppoly import Closed, Quotient
from dipc.chain.state import Affine
from dipc.decide.obligation import Bound, Share
from dipc.frozen import frozen
from dipc.rules.centered_exits import CenteredExit
from dipc.rules.halfspaces import Corner, Moving, SingleBounds, SlackBound, best_bound, corner
from dipc.rules.rule import Bounds, ClaimedDistances, Derivation, Farkas, Instance, Rule


@frozen
class Lower(Bounds):
    """The bound with every slack at its least value, as a single function.

    - `evidence` has the bounds of the slacks, with their proofs.
    - `attained`: the bound is the probability of the right answer itself, at the input `corner`, which is behind all
      facets.
    - `lost` is the reason why the bound may be less than the least probability, None if it is attained.
    - `slacks` are the slacks that the bound depends on, as forms of the inputs.
    - `tight` has the indices of the facets that are equalities at the corner.
    """

    evidence: Farkas
    attained: bool
    corner: Corner | None
    lost: str | None
    slacks: tuple[Affine, ...]
    tight: frozenset[int]

    @property
    def bound(self) -> Bound:
        return self.functions[0]


Bounding = Callable[[Affine, Sequence[Moving], Fraction | None], SlackBound | None]


def least_slacks(instance: Instance) -> Lower:
    """Return the bound Σ weight·Pr over the exits of `instance` to the right answer, with each slack at its least.

    **Lemma.** Pr[A_1·N + s_1 >= 0, …, A_n·N + s_n >= 0] never decreases when a slack grows, as the event, a set of
    values of N, only grows. Exits exclude each other and their weights are not negative. Therefore Σ weight·Pr at lower
    bounds of all slacks, exit by exit, is at most the probability of the answer at every input. ∎

    Every slack is bounded below by weights on the facets (Farkas). If a distance is open, the slacks in the bound have
    to be multiples of it. A lower bound base + distance·slope with base > 0 is therefore lowered to distance·slope, and
    an exit with base < 0 is left out. Exits are also left out if their weight, or one of their integer noises, depends
    on eps alone.
    """
    forms = _forms(instance.exits)
    attempt = _attempt(instance, forms, SingleBounds(instance.facets).bound)
    if not attempt.attained and len(instance.facets) > 1:
        attempt = _attempt(instance, forms, lambda form, alpha: best_bound(form, instance.facets, alpha))
    return attempt.lower(instance.exits, instance.facets, instance.distances)


LEAST_SLACKS = Rule("each slack at its least", least_slacks)


def _forms(exits: Sequence[CenteredExit]) -> dict[tuple[Affine, int], bool]:
    """Return all slacks of `exits` as keys (form, radius), where the slack is form + radius·gamma.

    The value is True if the probability depends on the slack. It is False for the slack of an output without noise,
    which only has to be nonnegative.
    """
    forms: dict[tuple[Affine, int], bool] = {}
    for centered in exits:
        for point in centered.points:
            forms.setdefault((point, 1), False)
        for component in centered.parts:
            for half in component.halfspaces:
                forms[half.slack, half.radius] = True
    return forms


@frozen
class _Attempt:
    slacks: Mapping[tuple[Affine, int], SlackBound | None]
    corner: Corner | None
    tight: frozenset[int]

    @property
    def attained(self) -> bool:
        """Whether all slacks have bounds, and one input attains them all, so that no slack has a better bound."""
        return self.corner is not None and all(slack is not None for slack in self.slacks.values())

    def lower(self, exits: Sequence[CenteredExit], facets: Sequence[Moving], distances: ClaimedDistances) -> Lower:
        shares: list[Share] = []
        evidence: list[SlackBound] = []
        lost: list[str] = []
        for centered in exits:
            reason = self._unusable(centered, distances)
            if reason is not None:
                lost.append(reason)
                continue
            if centered.in_balls and not distances.gamma_base and not distances.gamma_rate:
                continue  # continuous noise equals a number with probability 0
            bounds = [
                [self._slack_bound(half.slack, half.radius) for half in component.halfspaces]
                for component in centered.parts
            ]
            events = [
                component.event([distances.level(slack) for slack in slacks])
                for component, slacks in zip(centered.parts, bounds, strict=True)
            ]
            shares.append(Share(centered.weight, tuple(events)))
            evidence += [self._slack_bound(point, 1) for point in centered.points]
            evidence += [slack for slacks in bounds for slack in slacks]
        if distances.is_open and any(slack is not None and slack.base > 0 for slack in self._noisy(exits)):
            lost.append("a slack does not shrink to 0 with the distance")
        if self.corner is None:
            lost.append("no single input makes every slack the least")
        slacks = tuple(form for form, _ in self.slacks if form.inputs)
        why = Farkas(Derivation.WAYS, tuple(facets), distances, tuple(evidence))
        reason = lost[0] if lost else None
        return Lower((Bound(tuple(shares)),), why, not lost, self.corner, reason, slacks, self.tight)

    def _slack_bound(self, form: Affine, radius: int) -> SlackBound:
        slack = self.slacks[form, radius]
        assert slack is not None, "an exit with a slack that is not bounded is left out"
        return slack

    def _noisy(self, exits: Sequence[CenteredExit]) -> list[SlackBound | None]:
        halves = (half for centered in exits for component in centered.parts for half in component.halfspaces)
        return [self.slacks[half.slack, half.radius] for half in halves]

    def _unusable(self, centered: CenteredExit, distances: ClaimedDistances) -> str | None:
        """Return the reason why the exit `centered` cannot be used in the bound, or None if it can.

        `distances` has the claim's alpha and gamma.
        """
        for point in centered.points:
            slack = self.slacks[point, 1]
            if slack is None or not distances.is_nonnegative(slack):
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
                slack = self.slacks[half.slack, half.radius]
                if slack is None:
                    return "a slack is not bounded below on the class"
                if distances.is_open and slack.base < 0:
                    return "a slack is negative where the distance is small"
        return None


def _attempt(
    instance: Instance,
    forms: Mapping[tuple[Affine, int], bool],
    bounding: Callable[[Affine, Fraction | None], SlackBound | None],
) -> _Attempt:
    facets, distances, whole = instance.facets, instance.distances, instance.whole
    slacks: dict[tuple[Affine, int], SlackBound | None] = {}
    tight: set[int] = set()
    for (form, radius), matters in forms.items():
        bound = bounding(form, distances.sharpest)
        slack = None if bound is None else slack_of(bound, radius, distances, whole)
        slacks[form, radius] = slack
        if slack is not None and matters:
            tight.update(slack.tight)
    point = corner(facets, tight, instance.slots, distances.alpha)
    noisy = [slack for key, slack in slacks.items() if slack is not None and forms[key]]
    if point is not None and whole and not _is_whole(point, noisy, distances, whole):
        point = None
    return _Attempt(slacks, point, frozenset(tight))


def _is_whole(corner: Corner, slacks: Sequence[SlackBound], distances: ClaimedDistances, whole: frozenset[int]) -> bool:
    """Return True only if `corner` is an integer at each of the inputs `whole`, and attains all bounds `slacks`.

    `distances` has the claim's alpha and gamma. The result is False if alpha is not a number.
    """
    if distances.alpha is None:
        return False
    point = corner.at_alpha(distances.alpha)
    if any(point[slot].denominator != 1 for slot in whole):
        return False
    return all(s.form.evaluate(point) + s.radius * distances.gamma_base == s.base for s in slacks)


def slack_bound(
    form: Affine,
    facets: Sequence[Moving],
    distances: ClaimedDistances,
    whole: frozenset[int] = frozenset(),
    *,
    radius: int = 0,
    bounding: Bounding = best_bound,
) -> SlackBound | None:
    """Return the best lower bound of `form` + `radius`·gamma that `facets` prove, or None if they prove none.

    `distances` has the claim's alpha and gamma, and `bounding` finds the bound of the form alone. If alpha is a number
    or distances are integers, the bound of a form of the int inputs `whole` is rounded up to a value that the form can
    take.
    """
    bound = bounding(form, facets, distances.sharpest)
    return None if bound is None else slack_of(bound, radius, distances, whole)


def slack_of(
    bound: SlackBound, radius: int, distances: ClaimedDistances, whole: frozenset[int] = frozenset()
) -> SlackBound:
    """Return the lower bound of form + `radius`·gamma that follows from `bound`, a lower bound of the form alone.

    `distances` has the claim's alpha and gamma. If alpha is a number or distances are integers, the bound of a form of
    the int inputs `whole` is rounded up to a value that the form can take.
    """
    form, base = bound.form, bound.at_alpha(distances.alpha_base)
    slope = bound.slope * distances.alpha_rate
    counted = distances.start is not None or not distances.alpha_rate
    if counted and form.inputs and all(slot in whole for slot, _ in form.inputs):
        base = _raised(form, base, slope)
    if radius:
        base += radius * distances.gamma_base
        slope += radius * distances.gamma_rate
    return SlackBound(form, bound.weights, base, slope, radius)


def joint_evidence(
    instance: Instance, more: Iterable[Affine] = (), derivation: Derivation = Derivation.VERTICES
) -> Farkas:
    """Return evidence with bounds from below and above for all slacks of `instance`, and for the forms in `more`.

    It is for a rule whose bounds follow from several slacks at once; `derivation` names the way in which they follow.
    All bounds are proved by the facets of the instance.
    """
    facets, distances = instance.facets, instance.distances
    forms = dict.fromkeys(side for each in (*instance.forms, *more) for side in (each, -each))
    slacks = [slack_bound(form, facets, distances, instance.whole) for form in forms]
    return Farkas(derivation, tuple(facets), distances, tuple([slack for slack in slacks if slack is not None]))


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
