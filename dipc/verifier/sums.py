"""The probability that one weighted sum of continuous noises lies in an interval, however many there are.

In units of eps the density of a sum is Σ c·X^n·e^{lX} on either side of 0, with rational c and l. With one more summand
it is the one bounded solution g of a linear differential equation:

    g - g''/a² = f    for f convolved with (a/2)·e^{-a|X|}, where g and g' are continuous at 0,
    g + g'/a = f      for f convolved with a·e^{-aX} on X >= 0, where g is continuous at 0.

Two solutions differ by one of the homogeneous equation, which is bounded on both sides only if it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.events import Event, Family
from dipc.verifier.ring import Ring, add, constant, subtract

#: Σ c·X^n·e^{lX} by (n, l).
_Part = dict[tuple[int, Fraction], Fraction]

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class _Density:
    """On X < 0 and on X > 0."""

    left: _Part
    right: _Part

    def reflected(self) -> _Density:
        """That of -X."""
        left, right = ({(n, -l): c * (-1) ** n for (n, l), c in part.items()} for part in (self.right, self.left))
        return _Density(left, right)


def of_one_sum(event: Event, budget: Budget, step: str) -> Ring | None:
    """The probability of the event where its constraints all bound one sum of continuous noises; None for others."""
    if not event.constraints or any(noise.family is Family.DISCRETE_LAPLACE for noise in event.noises):
        return None
    first = event.constraints[0].coefficients
    if first.keys() != set(range(len(event.noises))):
        return None
    lows: list[Fraction] = []
    highs: list[Fraction] = []
    shift = sum((c * event.noises[i].mean for i, c in first.items()), _ZERO)
    for constraint in event.constraints:
        ratio = constraint.coefficients.get(0, _ZERO) / first[0]
        if not ratio or constraint.coefficients != {i: ratio * c for i, c in first.items()}:
            return None
        # The sum of the centered noises is at least this, or at most.
        (lows if ratio > 0 else highs).append(-constraint.constant / ratio - shift)
    density: _Density | None = None
    for i, noise in enumerate(event.noises):
        density = _with(density, noise.rate / abs(first[i]), noise.family, first[i] > 0, budget, step)
    assert density is not None
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low >= high:
        return {}
    above = constant(1) if low is None else _tail(density, low)
    return above if high is None else subtract(above, _tail(density, high))


def _with(f: _Density | None, a: Fraction, family: Family, upward: bool, budget: Budget, step: str) -> _Density:
    """The density with one more summand of this rate, which is not negative where it is one-sided and `upward`."""
    if family is Family.ONE_SIDED:
        if f is None:
            one = _Density({}, {(0, -a): a})
            return one if upward else one.reflected()
        return _one_sided(f, a) if upward else _one_sided(f.reflected(), a).reflected()
    if f is None:
        return _Density({(0, a): a / 2}, {(0, -a): a / 2})
    budget.spend(20 * (len(f.left) + len(f.right)) ** 2, step)
    left, right = (_particular(part, a) for part in (f.left, f.right))
    height, slope = _value(left) - _value(right), (_slope(right) - _slope(left)) / a
    return _Density(_plus(left, a, (slope - height) / 2), _plus(right, -a, (slope + height) / 2))


def _one_sided(f: _Density, a: Fraction) -> _Density:
    left, right = ({} if not part else _first_order(part, a) for part in (f.left, f.right))
    return _Density(left, _plus(right, -a, _value(left) - _value(right)))


def _plus(part: _Part, l: Fraction, c: Fraction) -> _Part:
    total = part.get((0, l), _ZERO) + c
    return {**part, (0, l): total}


def _value(part: _Part) -> Fraction:
    return sum((c for (n, _), c in part.items() if not n), _ZERO)


def _slope(part: _Part) -> Fraction:
    return sum((c * l if not n else c for (n, l), c in part.items() if n < 2), _ZERO)


def _by_slope(part: _Part) -> dict[Fraction, dict[int, Fraction]]:
    found: dict[Fraction, dict[int, Fraction]] = {}
    for (n, l), c in part.items():
        found.setdefault(l, {})[n] = c
    return found


def _particular(part: _Part, a: Fraction) -> _Part:
    """Some g with g - g''/a² = f."""
    result: _Part = {}
    for l, given in _by_slope(part).items():
        degree = max(given)
        # With g = P·e^{lX}: (1 - l²/a²)·P - (2l/a²)·P' - P''/a² is the given polynomial.
        factor = 1 - l * l / (a * a)
        known: dict[int, Fraction] = {}
        if factor:
            for k in range(degree, -1, -1):
                rest = 2 * l * (k + 1) * known.get(k + 1, _ZERO) + (k + 2) * (k + 1) * known.get(k + 2, _ZERO)
                known[k] = (given.get(k, _ZERO) + rest / (a * a)) / factor
        else:
            derivative: dict[int, Fraction] = {}
            for k in range(degree, -1, -1):
                rest = a * a * given.get(k, _ZERO) + (k + 1) * derivative.get(k + 1, _ZERO)
                derivative[k] = -rest / (2 * l)
            known = {k + 1: c / (k + 1) for k, c in derivative.items()}
        result |= {(k, l): c for k, c in known.items() if c}
    return result


def _first_order(part: _Part, a: Fraction) -> _Part:
    """Some g with g + g'/a = f."""
    result: _Part = {}
    for l, given in _by_slope(part).items():
        degree = max(given)
        factor = 1 + l / a
        known: dict[int, Fraction] = {}
        if factor:
            for k in range(degree, -1, -1):
                known[k] = (given.get(k, _ZERO) - (k + 1) * known.get(k + 1, _ZERO) / a) / factor
        else:
            known = {k + 1: a * c / (k + 1) for k, c in given.items()}
        result |= {(k, l): c for k, c in known.items() if c}
    return result


def _tail(f: _Density, end: Fraction) -> Ring:
    """The probability of X >= end·eps."""
    if end < 0:
        return subtract(constant(1), _tail(f.reflected(), -end))
    total: Ring = {}
    for (n, l), c in f.right.items():
        # By parts; l < 0, so it vanishes at infinity.
        factor = -c / l
        for power in range(n, -1, -1):
            value = factor * end**power
            if value:
                total = add(total, {(power, l * end): value})
            factor *= Fraction(-power) / l
    return total
