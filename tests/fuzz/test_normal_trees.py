"""Random trees of comparisons of Gaussian noises, with many centers and of hostile sizes.

Their enclosures are compared with integrals of piecewise polynomials to 20 digits, and with draws.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dipc.algebra.limits import Undecided
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.measure.normal_tree import TreeMeasure
from tests.fuzz.normal_oracle import Comparison, Drawn, exact, over_tree
from tests.measure.test_normal import enclosure, normal

F = Fraction

#: How far apart deviations are, what all are multiplied by, means, and eps.
_SPREADS = (F(1, 50), F(1, 10), F(1, 3), F(1), F(1), F(2), F(5), F(20))
_UNITS, _MEANS, _EPS = (F(1, 10**6), F(1), F(10**6)), (0, 0, 1, -2, 10**6), (F(1, 10**6), F(1, 7), F(1), F(3), F(10**6))


def drawing(
    chance: random.Random, *, hostile: bool
) -> tuple[list[tuple[Fraction, Fraction]], list[Comparison], Fraction]:
    """Deviations and means, comparisons along a tree, and an eps."""
    count = chance.randint(3, 8)
    unit, eps = (chance.choice(_UNITS), chance.choice(_EPS)) if hostile else (F(1), chance.choice(_EPS[1:4]))
    apart = _SPREADS if hostile else _SPREADS[2:7]
    noises = [(unit * chance.choice(apart), F(chance.choice(_MEANS[: 5 if hostile else 4]))) for _ in range(count)]
    if hostile and chance.random() < 0.2:
        i = chance.randrange(count)
        noises[i] = noises[i][0] * chance.choice((F(1, 10**6), F(10**6))), noises[i][1]
    stated = []
    for i in range(1, count):
        j = chance.randrange(max(0, i - 2), i)
        for _ in range(chance.choice((1, 1, 1, 1, 2))):
            a, b = chance.choice(((1, -1), (1, -1), (-1, 1), (-1, 1), (1, 1), (2, -1)))
            near = noises[j][1] * a + noises[i][1] * b if chance.random() < 0.8 else F(0)
            stated.append(Comparison(((j, F(a)), (i, F(b))), unit * F(chance.randint(-2, 4), 2) / eps - near))
    if chance.random() < 0.3:
        i, sign = chance.randrange(count), chance.choice((-1, 1))
        stated.append(Comparison(((i, F(sign)),), unit * F(chance.randint(-1, 6), 2) / eps - sign * noises[i][1]))
    return noises, stated, eps


def event(noises: list[tuple[Fraction, Fraction]], stated: list[Comparison]) -> Event:
    return Event(
        tuple(normal(size, mean) for size, mean in noises),
        tuple(Halfspace(tuple(sorted(item.terms)), item.constant) for item in stated),
    )


def attack(seed: int, *, hostile: bool) -> str:
    """Compare an enclosure with the truth; return the number of centers as text, or that it is undecided."""
    chance = random.Random(f"trees {seed} {hostile}")
    noises, stated, eps = drawing(chance, hostile=hostile)
    about = event(noises, stated)
    try:
        low, high = enclosure(about, eps, 90)
    except Undecided as undecided:
        return f"undecided: {str(undecided)[:50]}"
    with mpmath.workdps(50 if hostile else 30):
        drawn = [Drawn("Gauss", size / eps, mean) for size, mean in noises]
        wanted = over_tree(drawn, stated, 0)
        slack = mpmath.mpf(10) ** -20
        assert exact(low) - slack <= wanted <= exact(high) + slack, (seed, float(low), wanted)
    assert high - low < F(1, 2**90)
    sizes = [len(f.centers) for f in Measurer().factors(about) or () if isinstance(f, TreeMeasure)]
    return f"{max(sizes, default=1)} centers"


def treeless_event(chance: random.Random) -> tuple[list[tuple[Fraction, Fraction]], list[Comparison]]:
    """Noises and comparisons that form no tree of values.

    They are values drawn around each other, with thresholds of their own or numbers; values between two others, beside
    a tree; and sums.
    """
    count = chance.randint(2, 5)
    noises = [(chance.choice(_SPREADS[2:7]), F(chance.randint(-1, 1))) for _ in range(2 * count + 2)]
    stated = []
    kind = chance.choice(("walk", "walk", "between", "sums"))
    for k in range(1, count + 1):
        d = F(chance.randint(-1, 4), 2)
        match kind:
            case "walk":
                sign = F(chance.choice((-1, 1)))
                walked = tuple((i, sign) for i in range(k))
                if chance.random() < 0.7:
                    walked = (*walked, (count + k, F(chance.choice((-1, 1)))))
                stated.append(Comparison(walked, 2 * d))
            case "between":
                # The last two are the ends, one of which is compared with a chain besides.
                stated.append(Comparison(((k, F(1)), (2 * count, F(-1))), 2 * d))
                stated.append(Comparison(((2 * count + 1, F(1)), (k, F(-1))), 2 * d))
            case "sums":
                i = 0 if k == 1 else k - 1
                stated.append(Comparison(((i, F(1)), (k, F(chance.choice((-1, 1, 2)))), (count + k, F(1))), d))
    if kind == "between":
        stated += [Comparison(((0, F(1)), (2 * count, F(-1))), F(1)), Comparison(((0, F(-1)), (count + 1, F(1))), F(1))]
    return noises, stated


def attack_by_draws(seed: int) -> str:
    chance = random.Random(f"draws {seed}")
    noises, stated = treeless_event(chance)
    try:
        low, high = enclosure(event(noises, stated), F(1), 40)
    except Undecided as undecided:
        return f"undecided: {str(undecided)[:50]}"
    runs = 400_000
    draws = np.random.default_rng(seed)
    values = [float(mean) + float(size) * draws.standard_normal(runs) for size, mean in noises]
    holds = np.full(runs, True)
    for item in stated:
        holds &= sum((float(c) * values[i] for i, c in item.terms), np.full(runs, float(item.constant))) >= 0
    share = holds.mean()
    spread = (max(share * (1 - share), 1 / runs) / runs) ** 0.5
    assert float(low) - 5.5 * spread <= share <= float(high) + 5.5 * spread, (seed, float(low), share)
    sizes = [len(f.centers) for f in Measurer().factors(event(noises, stated)) or () if isinstance(f, TreeMeasure)]
    return f"{max(sizes, default=1)} centers"


def outcomes(seeds: Iterable[int], *, hostile: bool) -> Counter[str]:
    return Counter(attack(seed, hostile=hostile) for seed in seeds)


def test_enclosures_of_trees_are_those_of_the_oracle() -> None:
    kinds = outcomes((2, 3, 5), hostile=False) + outcomes(range(3), hostile=True)
    assert kinds.total() == 6


def test_enclosures_of_what_is_no_tree_of_values_by_draws() -> None:
    kinds = Counter(attack_by_draws(seed) for seed in range(6))
    assert sum(count for kind, count in kinds.items() if "undecided" in kind) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(3))
def test_three_hundred_of_each(hundred: int) -> None:
    seeds = range(100 + 100 * hundred, 200 + 100 * hundred)
    assert "undecided" not in str(outcomes(seeds, hostile=False).most_common(4))
    assert outcomes(seeds, hostile=True).total() == 100
    assert Counter(attack_by_draws(seed) for seed in seeds).total() == 100
