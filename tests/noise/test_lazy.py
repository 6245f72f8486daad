"""Exact draws: their laws by exhaustion where that is possible, else against the densities, with one seed."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dipc.noise.lazy import Inversion, LazyExponential, LazyReal, LazyUniform, RandomBits


class OutOfBits(Exception):
    pass


class TheseBits(RandomBits):
    """Given bits, the last of a `take` first."""

    def __init__(self, given: tuple[int, ...]) -> None:
        super().__init__(0)
        self._given = list(given)

    def take(self, count: int) -> int:
        if len(self._given) < count:
            raise OutOfBits
        taken, self._given = self._given[:count], self._given[count:]
        return sum(bit << place for place, bit in enumerate(reversed(taken)))


def shares(draw: object, length: int) -> tuple[Counter[object], Fraction]:
    """The share of the 2^length strings of bits that gives each value, and the share that decides none."""
    found: Counter[object] = Counter()
    open_share = Fraction(0)
    for given_bits in product((0, 1), repeat=length):
        try:
            found[draw(TheseBits(given_bits))] += Fraction(1, 2**length)  # type: ignore[operator]
        except OutOfBits:
            open_share += Fraction(1, 2**length)
    return found, open_share


def agrees(found: Counter[object], open_share: Fraction, law: dict[object, float]) -> None:
    """Every value has been given at most its probability, and the rest is not decided yet."""
    for value, probability in law.items():
        assert found[value] <= probability + 1e-12
        assert probability <= found[value] + open_share + 1e-12


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 3), (1, 1), (5, 2)])
def test_coins_of_probability_e_to_the_minus_x(above: int, below: int) -> None:
    found, open_share = shares(lambda bits: bits.bernoulli_exp(above, below), 14)
    agrees(found, open_share, {True: math.exp(-above / below), False: 1 - math.exp(-above / below)})
    assert open_share < Fraction(1, 3)


def test_integers_of_discrete_laws() -> None:
    z = math.exp(-2 / 3)
    found, open_share = shares(lambda bits: bits.two_sided(2, 3), 14)
    agrees(found, open_share, {k: (1 - z) / (1 + z) * z ** abs(k) for k in range(-9, 10)})
    assert open_share < Fraction(2, 3)


def test_uniform_integers() -> None:
    found, open_share = shares(lambda bits: bits.uniform_below(5), 12)
    agrees(found, open_share, dict.fromkeys(range(5), 1 / 5))
    assert open_share < Fraction(1, 40)
    assert RandomBits(0).uniform_below(1) == 0


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6).filter(any), st.integers(0, 2))
def test_a_choice_by_inversion(weights: list[int], looseness: int) -> None:
    """For any enclosures of the thresholds, no value is chosen too often."""
    whole = sum(weights)

    def threshold(count: int):  # type: ignore[no-untyped-def]
        reached = sum(weights[:count])

        def enclosed(bits: int) -> tuple[int, int]:
            exact = Fraction(reached * 2**bits, whole)
            return max(0, math.floor(exact) - looseness), min(2**bits, math.ceil(exact) + looseness)

        return enclosed

    inversion = Inversion([threshold(count) for count in range(1, len(weights))])
    length = inversion._bits
    found, open_share = shares(inversion.draw, length)
    agrees(found, open_share, {value: weight / whole for value, weight in enumerate(weights)})
    for seed in range(20):
        assert weights[inversion.draw(RandomBits(seed))]


def number(draw: LazyReal, bits: RandomBits, times: int = 4) -> float:
    for _ in range(times):
        draw.refine(bits)
    return draw.sign * (draw.whole + 0.5) / 2**draw.length


def test_real_laws() -> None:
    bits = RandomBits(11)
    assert stats.kstest([number(LazyExponential(1), bits) for _ in range(20_000)], "expon").pvalue > 1e-4
    assert stats.kstest([number(LazyUniform(1), bits) for _ in range(20_000)], "uniform").pvalue > 1e-4
    assert stats.kstest([number(bits.normal(), bits) for _ in range(20_000)], "norm").pvalue > 1e-4
    # Far digits are nearly fair; the first are not.
    ends = Counter(_last_digit(bits) for _ in range(4000))
    assert abs(ends[1] - 2000) < 6 * 1000**0.5


def _last_digit(bits: RandomBits) -> int:
    draw = LazyExponential(1)
    for _ in range(8):
        draw.refine(bits)
    return draw.whole & 1


def test_discrete_normal_numbers() -> None:
    bits, variance = RandomBits(12), Fraction(7, 3)
    found = Counter(bits.discrete_normal(variance) for _ in range(20_000))
    weights = {k: math.exp(-k * k / (2 * float(variance))) for k in range(-12, 13)}
    whole = sum(weights.values())
    statistic = sum((found[k] - 20_000 * w / whole) ** 2 / (20_000 * w / whole) for k, w in weights.items() if w > 1e-3)
    assert stats.chi2.sf(statistic, sum(w > 1e-3 for w in weights.values()) - 1) > 1e-4


def test_refining_narrows_the_same_number() -> None:
    bits = RandomBits(13)
    for make in (lambda: LazyExponential(-1), bits.normal, lambda: LazyUniform(1, 2)):
        draw = make()
        draw.refine(bits)
        for _ in range(6):
            whole, length = draw.whole, draw.length
            draw.refine(bits)
            assert draw.length > length
            assert draw.whole >> (draw.length - length) == whole


def test_a_lazy_real_is_no_float() -> None:
    with pytest.raises(TypeError, match="cannot be rounded"):
        float(LazyExponential(1))
