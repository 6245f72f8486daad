"""Single comparisons and single real outputs that may go wrong: the terms of a union bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.quotient import Closed
from dipc.chain.affine import Affine, Terms, combination
from dipc.chain.component import FAMILIES
from dipc.chain.state import NoiseVar
from dipc.linear.halfspace import Halfspace
from dipc.measure import event as exact
from dipc.measure.measure import Measurer
from dipc.sources.every_input.evidence import ClaimedDistances, SlackBound
from dipc.sources.every_input.halfspaces import Moving, best_bound, single_bound
from dipc.sources.every_input.lower import slack_of

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Term:
    """What goes wrong with the probability 1 - Pr[event]. The event's noises are centered, and its slacks lower bounds
    of those of every input, as multiples of the distance that is left open where one is."""

    event: exact.Event

    def probability(self, measurer: Measurer) -> Closed:
        """Pr[not event], as a function of distance·eps where a distance is open, of eps otherwise."""
        return 1 - measurer.measure(self.event)


@dataclass(frozen=True, slots=True)
class NoisyOutcome:
    """One outcome of a noisy comparison; without noise it holds by `margin` >= 0 at least."""

    margin: Fraction
    term: Term


def noisy_outcome_of(
    form: Affine, noises: Sequence[NoiseVar], facets: Sequence[Moving], distances: ClaimedDistances
) -> NoisyOutcome | None:
    """The outcome form >= 0 behind the facets, None where it need not hold without noise."""
    coefficients, used, slack = _centered(form, noises)
    margin = _margin(slack, 0, facets, distances)
    if margin is None:
        return None
    return NoisyOutcome(margin, Term(exact.Event(used, (Halfspace(coefficients, margin),))))


def ball(
    value: Affine, center: Affine, noises: Sequence[NoiseVar], facets: Sequence[Moving], distances: ClaimedDistances
) -> tuple[Term, ...] | None:
    """The term for |value - center| <= gamma, none where no noise is in the value; None where it need not hold without
    noise."""
    coefficients, used, off = _centered(value - center, noises)
    above, below = _margin(off, 1, facets, distances), _margin(-off, 1, facets, distances)
    if above is None or below is None:
        return None
    if not used:
        return ()
    opposite = tuple([(place, -c) for place, c in coefficients])
    return (Term(exact.Event(used, (Halfspace(coefficients, above), Halfspace(opposite, below)))),)


def _centered(form: Affine, noises: Sequence[NoiseVar]) -> tuple[Terms, tuple[exact.Noise, ...], Affine]:
    """The coefficients of the form over its noises, these centered, and what the form is where they are all 0."""
    by_id: Mapping[int, NoiseVar] = {noise.id: noise for noise in noises}
    own = [by_id[noise] for noise, _ in form.noises]
    coefficients = tuple([(place, c) for place, (_, c) in enumerate(form.noises)])
    means = [(c, noise.mean) for (_, c), noise in zip(form.noises, own, strict=True)]
    slack = combination([(_ONE, Affine((), form.inputs, form.constant)), *means], _ZERO)
    return coefficients, tuple([exact.Noise(FAMILIES[noise.family], noise.rate, _ZERO) for noise in own]), slack


def _margin(slack: Affine, radius: int, facets: Sequence[Moving], distances: ClaimedDistances) -> Fraction | None:
    """A lower bound of the slack behind the facets, which is not negative; None where there is none."""
    for bounding in (single_bound, best_bound):
        bound = bounding(slack, facets, distances.alpha)
        if bound is not None:
            found: SlackBound = slack_of(slack, bound, radius, distances)
            if found.base >= 0 and found.slope >= 0:
                return found.slope if distances.is_open else found.base
    return None
