"""Random events of `measures.py` against sums and integrals of floats, which share no code with it or the engine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest

from dipc.verifier.functions import Closed
from dipc.verifier.measures import Halfspace, measure_anew
from dipc.verifier.noise import Bounded, Family, Law
from dipc.verifier.reading import Budget, Exhausted

_EPS = Fraction(3, 2)

#: The integers that are enumerated, on each side of 0.
_FAR = 45


def number(f: Closed) -> float:
    above, below = (
        math.fsum(float(c) * float(_EPS) ** k * math.exp(q * _EPS) for (k, q), c in part.items()) for part in f
    )
    return above / below


def fraction(chance: random.Random) -> Fraction:
    return Fraction(chance.randint(-6, 6), chance.choice((1, 1, 2, 3)))


def halfspaces(chance: random.Random, count: int) -> list[Halfspace]:
    """Random half-spaces with small coefficients; some bound a noise or form from both sides, or make a tie."""
    rows: list[Halfspace] = []
    for _ in range(chance.randint(1, 4)):
        form = [
            (i, Fraction(chance.choice((-3, -2, -1, -1, 1, 1, 2)), chance.choice((1, 1, 1, 2)))) for i in range(count)
        ]
        form = sorted(chance.sample(form, chance.randint(1, count)))
        constant = fraction(chance)
        rows.append((form, constant))
        if chance.random() < 0.3:
            rows.append(
                (
                    [(i, -c) for i, c in form],
                    chance.choice((-constant, -constant + chance.randint(0, 3), fraction(chance))),
                )
            )
    return rows


def enumerated(rates: Sequence[Fraction], rows: Sequence[Halfspace]) -> float:
    """The probability that all half-spaces hold for discrete Laplace noises, by the masses of many integers."""
    ratios = [math.exp(-rate * _EPS) for rate in rates]
    masses = [[(1 - r) / (1 + r) * r ** abs(i) for i in range(-_FAR, _FAR + 1)] for r in ratios]
    whole = [
        math.lcm(Fraction(constant).denominator, *(Fraction(c).denominator for _, c in form)) for form, constant in rows
    ]
    forms = [
        ([int(dict(form).get(i, 0) * unit) for i in range(len(rates))], int(constant * unit))
        for (form, constant), unit in zip(rows, whole, strict=True)
    ]
    last = len(rates) - 1
    terms = []
    for point in product(range(-_FAR, _FAR + 1), repeat=last):
        low, high = -_FAR, _FAR
        for form, constant in forms:
            rest = constant + sum(c * x for c, x in zip(form[:last], point, strict=True))
            a = form[last]
            if a > 0:
                low = max(low, -(rest // a))
            elif a < 0:
                high = min(high, rest // -a)
            elif rest < 0:
                high = low - 1
                break
        weight = math.prod(masses[i][x + _FAR] for i, x in enumerate(point))
        terms += [weight * sum(masses[last][low + _FAR : high + _FAR + 1])] if low <= high else []
    return math.fsum(terms)


def below(law: Law, x: float) -> float:
    """The probability of a value of at most x."""
    family, rate = law
    speed = float(rate * _EPS)
    match family:
        case Family.LAPLACE:
            return math.exp(speed * x) / 2 if x < 0 else 1 - math.exp(-speed * x) / 2
        case Family.ONE_SIDED:
            return 0.0 if x < 0 else 1 - math.exp(-speed * x)
        case Bounded(low, high, False):
            return min(1.0, max(0.0, (x - float(low)) / float(high - low)))
        case Bounded(low, high, True):
            first, last = (below((Family.LAPLACE, rate), float(end)) for end in (low, high))
            share = (below((Family.LAPLACE, rate), x) - first) / (last - first)
            return min(1.0, max(0.0, share))
    raise AssertionError(family)


def quantile(law: Law, share: float) -> float:
    """The x with below(law, x) = share."""
    family, rate = law
    speed = float(rate * _EPS)
    match family:
        case Family.LAPLACE:
            return math.log(2 * share) / speed if share < 0.5 else -math.log(2 * (1 - share)) / speed
        case Family.ONE_SIDED:
            return -math.log(1 - share) / speed
        case Bounded(low, high, False):
            return float(low) + share * float(high - low)
        case Bounded(low, high, True):
            first, last = (below((Family.LAPLACE, rate), float(end)) for end in (low, high))
            return quantile((Family.LAPLACE, rate), first + share * (last - first))
    raise AssertionError(family)


def integrated(laws: Sequence[Law], rows: Sequence[Halfspace], steps: int) -> float:
    """The probability that all half-spaces hold: the last noise by its distribution, the others at quantiles."""
    last = len(laws) - 1
    forms = [([float(dict(form).get(i, 0)) for i in range(len(laws))], float(constant)) for form, constant in rows]
    grids = [[quantile(law, (n + 0.5) / steps) for n in range(steps)] for law in laws[:last]]
    terms = []
    for point in product(*grids):
        low, high = -math.inf, math.inf
        for form, constant in forms:
            rest = constant + sum(c * x for c, x in zip(form[:last], point, strict=True))
            a = form[last]
            if a > 0:
                low = max(low, -rest / a)
            elif a < 0:
                high = min(high, -rest / a)
            elif rest < 0:
                high = -math.inf
        if low < high:
            upper = 1.0 if high == math.inf else below(laws[last], high)
            terms.append(upper - (0.0 if low == -math.inf else below(laws[last], low)))
    return math.fsum(terms) / steps**last


def continuous_law(chance: random.Random) -> Law:
    low = Fraction(chance.randint(-4, 2), chance.choice((1, 2)))
    high = low + Fraction(chance.randint(1, 6), chance.choice((1, 3)))
    rate = Fraction(chance.randint(1, 4), chance.choice((1, 2, 3)))
    return chance.choice(
        (
            (Family.LAPLACE, rate),
            (Family.ONE_SIDED, rate),
            (Bounded(low, high, laplace=False), Fraction(1)),
            (Bounded(low, high, laplace=True), rate),
        )
    )


def compare(seed: int, count: int, *, whole: bool, most: int, steps: int = 0, within: float = 1e-9) -> int:
    """Compare the probabilities of `count` random events of at most `most` noises; return how many were derived."""
    chance = random.Random(seed)
    derived = 0
    for _ in range(count):
        noises = chance.randint(1, most)
        if whole:
            laws: list[Law] = [
                (Family.DISCRETE_LAPLACE, Fraction(chance.randint(2, 4), chance.choice((2, 3)))) for _ in range(noises)
            ]
        else:
            laws = [continuous_law(chance) for _ in range(noises)]
        rows = halfspaces(chance, noises)
        try:
            found = measure_anew(laws, rows, Budget(3_000_000))
        except Exhausted:
            continue
        if isinstance(found, str):
            continue
        derived += 1
        expected = enumerated([rate for _, rate in laws], rows) if whole else integrated(laws, rows, steps)
        assert abs(number(found) - expected) < within, (seed, laws, rows, number(found), expected)
    return derived


def test_integers_against_enumeration() -> None:
    assert compare(1, 25, whole=True, most=2) > 15


def test_reals_against_integration() -> None:
    assert compare(1, 20, whole=False, most=2, steps=1_000, within=2e-3) > 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_three_noises(seed: int) -> None:
    assert compare(seed, 60, whole=True, most=3) > 20
    assert compare(seed, 60, whole=False, most=3, steps=150, within=2e-2) > 20
