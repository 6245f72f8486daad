"""The limit of a claim about int inputs as the distance to disagreement grows and eps falls, with their product fixed.

Along a ray of inputs u(k) = u + k·v let every slack s of the exits be s(u(k)) = s(u) + k·s'(v), and let dd(u(k)) be at
least k - c for some c. Let t > 0 and eps = t/k.

Lemma. Replace each integer noise N by a continuous one L whose distance from N has a bound for every eps, and each
weight by its limit as eps -> 0. Let P(t) be the sum of weight·Pr[A·L + s'(v) >= 0] at eps = t. The probability of the
answer at u(k) and eps = t/k tends to P(t).

Proof. The event A·N + s(u(k)) >= 0 is A·(N/k) + s(u)/k + s'(v) >= 0. Let N and L be coupled so that their distance is
bounded. Then N/k and L/k differ by at most a constant over k, and at eps = t/k L/k has the law of L at eps = t. So
A·(N/k) + s(u)/k tends to A·L in distribution. Since L has a density, the boundary of a half-space A·L + s'(v) >= 0 with
a coefficient other than 0 has probability 0. ∎

Consequence. Let beta never grow with alpha, and let beta(alpha = t/eps - c, eps) tend to b(t) as eps -> 0. Let f be a
factor with Pr >= 1 - f·beta for all inputs. Then f·b(t) >= 1 - P(t) for every t > 0. The limit is a lower bound of the
factor, even if no single input requires a factor as large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.limits import OutsideFragment
from dipc.algebra.parametric import Compound, Operator, Parametric, Selected
from dipc.chain.state import Affine, Constraint
from dipc.decide.obligation import Bound, Share
from dipc.measure.event import Noise
from dipc.program.metric import Norm
from dipc.rules.centered_exits import CenteredExit
from dipc.sign.interval import Interval
from dipc.sign.optimum import leading_at_zero, limit_at_zero
from dipc.sign.piecewise import PiecewiseForm

_ZERO, _ONE = Fraction(0), Fraction(1)

#: An input by slot, with gamma under its key.
Point = Mapping[int, Fraction]


def growth(form: Affine, direction: Point) -> Fraction:
    """Return the change of `form` as the input moves by `direction`."""
    return sum((c * direction[slot] for slot, c in form.inputs), _ZERO)


def holds_onwards(guard: Constraint, start: Point, direction: Point) -> bool | None:
    """Return True if `guard` holds at `start` + k·`direction` for all k >= 0, False if it holds for no k >= 0.

    The result is None if it holds for some k and fails for others.
    """
    holds, rise = guard.holds_at(start), growth(guard.form, direction)
    if holds and rise >= 0:
        return True
    return False if not holds and rise <= 0 else None


def recedes(guards: Sequence[Constraint], direction: Point, norm: Norm) -> bool:
    """Return True only if each step by `direction` adds at least 1 to the distance from a set of inputs.

    The set has the inputs that satisfy `guards`; distances are in `norm`. The distance of u + k·direction is then at
    least k - c, with a constant c. The reason: the distance from a half-space g(u) >= 0 is -g(u) over the dual norm of
    its coefficients, and the distance from a set in the half-space is no smaller.
    """
    return any(
        guard.form.inputs and -growth(guard.form, direction) >= norm.steepness(guard.form.inputs) for guard in guards
    )


def limit_of_probability(exits: Sequence[CenteredExit], start: Point, direction: Point) -> Bound:
    """Return P(t): the limit of the right answer's probability at `start` + k·`direction` and eps = t/k, as k grows.

    `exits` are all exits to the right answer. Raises OutsideFragment if no limit is known.
    """
    shares = []
    for centered in _reached(exits, start, direction):
        events = [
            replace(component, noises=tuple(map(_continuous, component.noises))).event(
                [(growth(half, direction), _ZERO) for half in component.halfspaces]
            )
            for component in centered.parts
        ]
        shares.append(Share(_limit_weight(centered.weight), tuple(events)))
    return Bound(tuple(shares))


def probability_however_far(exits: Sequence[CenteredExit], start: Point, direction: Point) -> Bound:
    """Return the limit of the right answer's probability at `start` + k·`direction` as k grows, as a function of eps.

    `exits` are all exits to the right answer, and gamma is constant. In the limit, a half-space whose slack
    grows holds, and one whose slack falls fails. By dominated convergence the probability tends to that of the
    half-spaces with a constant slack. Raises OutsideFragment where no limit is known.
    """
    shares = []
    for centered in _reached(exits, start, direction):
        rising = [growth(half, direction) for component in centered.parts for half in component.halfspaces]
        if min(rising, default=_ZERO) < 0:
            continue
        events = []
        for component in centered.parts:
            kept = tuple([half for half in component.halfspaces if not growth(half, direction)])
            levels = [(half.noiseless.evaluate(start), _ZERO) for half in kept]
            if kept:
                events.append(replace(component, halfspaces=kept).event(levels))
        shares.append(Share(centered.weight, tuple(events)))
    return Bound(tuple(shares))


def _reached(exits: Sequence[CenteredExit], start: Point, direction: Point) -> Iterator[CenteredExit]:
    """Yield those of `exits` that can be taken at the inputs `start` + k·`direction` for all k >= 0.

    Exits that cannot be taken for any k are left out. Raises OutsideFragment if an exit can be taken for some k only.
    """
    for centered in exits:
        guards = [holds_onwards(guard, start, direction) for guard in centered.guards]
        points = [_nonnegative_onwards(form, start, direction) for form in centered.points]
        if False in guards or False in points:
            continue
        if None in guards or None in points:
            raise OutsideFragment("as the distance grows, an exit is reached at some inputs and not at others")
        if any(not half.noises for component in centered.parts for half in component.halfspaces):
            raise OutsideFragment(
                "an answer depends on a comparison without noise, whose limit as the distance grows is not known"
            )
        yield centered


def _nonnegative_onwards(form: Affine, start: Point, direction: Point) -> bool | None:
    value, rise = form.evaluate(start), growth(form, direction)
    if value >= 0 and rise >= 0:
        return True
    return False if value < 0 and rise <= 0 else None


def _continuous(noise: Noise) -> Noise:
    law, _ = noise.law.continuous_neighbor()
    if not law.scales:
        raise OutsideFragment(f"{law.name} noise does not scale with eps")
    return Noise(law, noise.rate, _ZERO)


def _limit_weight(weight: Closed | None) -> Closed | None:
    if weight is None:
        return None
    limit = limit_at_zero(*fraction_of(weight))
    if not isinstance(limit, Fraction):
        raise OutsideFragment("a weight has no limit at eps = 0")
    return ExpPoly.constant(limit)


def limits_of_beta(beta: Selected, intervals: Sequence[Interval]) -> Iterator[PiecewiseForm]:
    """Yield functions b(t): the limit of beta, or of an upper bound of beta, as eps falls to 0 and alpha is t/eps - c.

    `beta` is the claim's beta; if it is a minimum, each argument is an upper bound. A limit does not depend on the
    constant c. Nothing is yielded if no limit is known, or if the claim's `intervals` of eps do not reach down to 0.
    """
    if not intervals or intervals[0].lower or intervals[0].is_point:
        return
    match beta:
        case Parametric():
            limit = _limit(beta)
            if limit is not None:
                yield PiecewiseForm(limit)
        case Compound(Operator.MIN, arguments):
            for each in arguments:
                yield from limits_of_beta(each, intervals)
        case _:
            return


def _limit(beta: Parametric) -> Closed | None:
    below, leading = leading_at_zero(beta.denominator)
    terms: dict[int, list[tuple[int, Fraction, Fraction]]] = {}
    for k, _, factors, c in beta.terms():
        if len(factors) > 1:
            return None
        ((_, degree, rate),) = factors or (("", 0, _ZERO),)
        terms.setdefault(k - degree, []).append((degree, rate, c))
    if not terms:
        return None
    order = min(terms)
    numerator = ExpPoly.from_terms(terms[order])
    return None if numerator.is_zero() or order != below else numerator * (_ONE / leading)
