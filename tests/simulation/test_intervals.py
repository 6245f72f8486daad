from __future__ import annotations

from fractions import Fraction

import pytest
from scipy.stats import binom, binomtest

from dipc.simulation.compare import clopper_pearson, error_of_each


@pytest.mark.parametrize(("count", "runs"), [(0, 10), (1, 10), (5, 10), (10, 10), (340, 100_000), (99_999, 100_000)])
def test_the_interval_is_that_of_scipy(count, runs):
    expected = binomtest(count, runs).proportion_ci(0.95, method="exact")
    assert clopper_pearson(count, runs, 0.05) == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.parametrize("error", [1e-2, 1e-6, 1e-12, 1e-25])
def test_at_its_ends_what_was_seen_is_just_too_unlikely(error):
    low, high = clopper_pearson(123, 1000, error)
    assert binom.sf(122, 1000, low) == pytest.approx(error / 2, rel=1e-6)
    assert binom.cdf(123, 1000, high) == pytest.approx(error / 2, rel=1e-6)


@pytest.mark.parametrize("probability", [0.0, 0.003, 0.3, 0.5, 1.0])
def test_it_misses_as_seldom_as_promised(probability):
    runs, error = 60, 0.05
    missed = sum(
        binom.pmf(count, runs, probability)
        for count in range(runs + 1)
        if not (ends := clopper_pearson(count, runs, error))[0] <= probability <= ends[1]
    )
    assert missed <= error


def test_bonferroni():
    assert error_of_each(Fraction(99, 100), 4) == pytest.approx(0.0025)
    assert error_of_each(1 - Fraction(1, 10**6), 0) == pytest.approx(1e-6)
