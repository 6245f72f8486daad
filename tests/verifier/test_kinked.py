"""Normal and Laplace noise around a center, as the checker adds it up: against quadrature between all kinks."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from dipc.verifier.functions import ONE
from dipc.verifier.kinked import Bounded, Kinked, Spread, _rule, kinked_data, read_kinked
from dipc.verifier.noise import Family, Normal
from dipc.verifier.normal import Cell, Enclosed, star_of
from dipc.verifier.reading import Budget, Rejected
from dipc.verifier.taylor import NotShown
from tests.fuzz.normal_oracle import Comparison, Drawn, around, exact

F = Fraction

#: Laws with their scales in 1/eps, or rates in eps, and means; and comparisons.
Drawing = tuple[list[tuple[str, Fraction, Fraction]], list[Comparison]]


def drawing(chance: random.Random) -> Drawing:
    """A center that others are compared with, which have other bounds, too."""
    count = chance.randint(2, 4)
    noises = [
        (chance.choice(("Gauss", "Lap")), F(chance.randint(1, 6), 2), F(chance.randint(-3, 3))) for _ in range(count)
    ]
    noises[chance.randrange(count)] = ("Gauss", F(chance.randint(1, 6), 2), F(0))
    found = []
    for leaf in range(1, count):
        for _ in range(chance.choice((1, 1, 2))):
            a, b = chance.choice(((1, -1), (-1, 1), (1, 1), (2, -1), (-1, 2)))
            found.append(Comparison(((0, F(a)), (leaf, F(b))), F(chance.randint(-2, 8), 2)))
        if chance.random() < 0.4:
            found.append(Comparison(((leaf, F(chance.choice((-1, 1)))),), F(chance.randint(0, 9), 2)))
    if chance.random() < 0.5:
        found.append(Comparison(((0, F(chance.choice((-1, 1)))),), F(chance.randint(-1, 6), 2)))
    return noises, found


def event(drawn: Drawing) -> Kinked | None:
    """As the checker has it; None for a plain star."""
    noises, comparisons = drawn
    laws = tuple((Normal(False), s**2) if law == "Gauss" else (Family.LAPLACE, s) for law, s, _ in noises)
    rows = [
        (tuple((i, int(c)) for i, c in item.terms), item.constant + sum(c * noises[i][2] for i, c in item.terms))
        for item in comparisons
    ]
    found = star_of((laws, tuple(rows)))
    return found if isinstance(found, Kinked) else None


def probability(drawn: Drawing, eps: Fraction) -> mpmath.mpf:
    noises, comparisons = drawn
    laws = [Drawn(law, s / eps if law == "Gauss" else s * eps, mean) for law, s, mean in noises]
    return around(laws, comparisons, 0)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 200))])
def test_sums_over_nodes_are_as_near_as_they_say(seed: int) -> None:
    chance = random.Random(f"kinked {seed}")
    drawn = drawing(chance)
    found = event(drawn)
    if found is None:
        return
    middle = F(chance.choice((1, 1, 2, 4, 9)), 4)
    for radius, terms, accuracy in ((F(0), 1, 60), (middle / 8, 14, 30), (middle, 24, 24)):
        cell = Cell(middle, radius, terms, accuracy, Budget())
        try:
            series = cell.star(found)
        except NotShown:
            assert radius, "at one eps all is shown"
            continue
        left = F(0)
        if radius:
            left = min(
                (most * q**terms / (1 - q) for q, most, _ in cell.disks(Enclosed({(found,): (ONE, ONE)}))), default=F(9)
            )
        with mpmath.workdps(30):
            for u in (F(-1, 2), F(1)) if radius else (F(0),):
                value = sum(mpmath.mpf(c) * exact(u) ** k for k, c in enumerate(series.coefficients))
                off = abs(value / mpmath.mpf(2) ** cell.bits - probability(drawn, middle + radius * u))
                allowed = (
                    mpmath.mpf(2) ** -accuracy + mpmath.mpf(series.error) / mpmath.mpf(2) ** cell.bits + exact(left)
                )
                assert off <= allowed + mpmath.mpf(10) ** -22
    assert read_kinked(kinked_data(found), 10) == found


def test_what_a_rule_says_of_polynomials() -> None:
    for count in (3, 14, 40):
        nodes, slip = _rule(count, 150)
        assert slip < F(1, 2**130)
        with mpmath.workdps(60):
            for j in range(2 * count):
                found = sum(exact(w) * mpmath.chebyt(j, exact(x)) for x, w in nodes)
                wanted = mpmath.mpf(0) if j % 2 else mpmath.mpf(2) / (1 - j * j)
                assert abs(found - wanted) <= exact(slip) / 2
        assert all(w > 0 for _, w in nodes)


def test_equal_events_are_equal_objects() -> None:
    """Whatever multiples and signs their half-spaces and noises are written in."""
    laws = ((Normal(False), F(4)), (Family.LAPLACE, F(1)), (Normal(False), F(9)))
    rows = ((((0, 1), (1, -1)), F(2)), (((0, 2), (2, -2)), F(-4)), (((1, 1),), F(3)))
    other = ((Normal(False), F(9)), (Normal(False), F(4)), (Family.LAPLACE, F(1)))
    turned = ((((2, -3),), F(9)), (((1, -3), (2, 3)), F(6)), (((0, 1), (1, -1)), F(-2)))
    assert star_of((laws, rows)) == star_of((other, turned))


def test_tails_are_at_least_what_fails() -> None:
    for seed in range(30):
        drawn = drawing(random.Random(f"tails {seed}"))
        found = event(drawn)
        if found is None or found.tails is None:
            continue
        with mpmath.workdps(20):
            for eps in (F(1, 2), F(2)):
                total = mpmath.mpf(0)
                for rate in found.tails:
                    exponent = exact(rate) * exact(eps) if isinstance(rate, F) else exact(rate.factor) * exact(eps) ** 2
                    total += mpmath.exp(-exponent) / 2
                assert 1 - probability(drawn, eps) <= total + mpmath.mpf(10) ** -12


@pytest.mark.parametrize(
    "change",
    [
        {"center": ["normal", "0"]},
        {"center": ["cauchy", "1"]},
        {"own": [["2", "1"]]},
        {"own": [["0", "-1"]]},
        {"leaves": [[0, ["laplace", "1"], [["1", "1"]], []]]},
        {"leaves": [[1, ["laplace", "-1"], [["1", "1"]], []]]},
        {"leaves": [[1, ["laplace", "1"], [], []]]},
        {"leaves": [[1, ["laplace", "1"], [["1", "1"]]]]},
    ],
)
def test_what_is_read_is_an_event(change: dict[str, object]) -> None:
    leaf = Bounded(Spread(True, F(1)), ((F(1), F(1)),), ())
    data = kinked_data(Kinked(Spread(False, F(1)), ((F(1), F(0)),), ((leaf, 2),), False))
    assert read_kinked(data, 10)
    with pytest.raises(Rejected):
        read_kinked({**data, **change}, 10)
