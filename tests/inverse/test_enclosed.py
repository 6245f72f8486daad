"""Factors that probabilities over normal noise need, against quadrature."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import dipc

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPARSE = (BENCHMARKS / "gaussian_sparse.dip").read_text(encoding="utf-8")
NOISY_MAX = (BENCHMARKS / "gaussian_noisy_max.dip").read_text(encoding="utf-8")


def test_the_least_factor_of_a_row() -> None:
    """Pr is that of two noises below the threshold's, and one above, at slack 1."""
    found = dipc.tighten(dipc.load(SPARSE), inputs="q=(-1,-1,1)")
    assert found.complete
    assert found.factor is not None
    (place,) = found.places
    assert place.eps is not None
    with mpmath.workdps(30):
        eps = mpmath.mpf(place.eps[0].numerator) / place.eps[0].denominator

        def integrand(t: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(t, 0, 2) * mpmath.ncdf((t + eps) / 4) ** 2 * mpmath.ncdf((eps - t) / 4)

        needed = (1 - mpmath.quad(integrand, [2 * k for k in range(-14, 15)])) * mpmath.exp(eps / 8)
        # The slope is 0 there.
        assert abs(needed - mpmath.mpf(found.factor[0].numerator) / found.factor[0].denominator) < 1e-15
    assert found.factor[1] - found.factor[0] == Fraction(1, 10**30)
    assert place.eps[1] - place.eps[0] <= Fraction(1, 10**9)


def test_the_least_factor_of_ten_queries() -> None:
    row = "q=(" + ",".join(["-1"] * 9 + ["1"]) + ")"
    found = dipc.tighten(dipc.load(SPARSE, m=10), inputs=row, beta="exp(-alpha*eps/8)")
    assert str(found).startswith("least factor 1.332617940…;")


def test_the_least_factor_of_every_input() -> None:
    found = dipc.tighten(dipc.load(SPARSE), inputs="all", digits=10)
    assert found.complete
    assert found.factor == (Fraction(9237206274, 10**10), Fraction(9237206275, 10**10))
    assert found.kappa == 1
    assert {number for place in found.places for number in place.claimed.rows} == {3}


def test_classes_that_need_the_same() -> None:
    found = dipc.tighten(dipc.load(NOISY_MAX), inputs="all", digits=8)
    assert found.complete
    assert found.factor is not None
    claim = f"{found.factor[1]}*m*exp(-alpha*eps/2)/4"
    assert dipc.check(dipc.load(NOISY_MAX), inputs="all", beta=claim).verdict is dipc.Verdict.ACCURATE
    claim = f"{found.factor[0] * (1 - Fraction(1, 10**6))}*m*exp(-alpha*eps/2)/4"
    assert dipc.check(dipc.load(NOISY_MAX), inputs="all", beta=claim).verdict is dipc.Verdict.INACCURATE


@pytest.mark.parametrize("beta", ["erfc(eps)", "1/2"])
def test_what_is_not_enclosed_is_said(beta: str) -> None:
    """A beta that is no exponential polynomial; a factor that is only approached as eps goes to 0."""
    found = dipc.tighten(dipc.load(SPARSE), inputs="q=(-1,-1,1)", beta=beta)
    assert not found.complete
    assert found.unknown


@pytest.mark.parametrize("beta", ["0", "(alpha*eps - 1)^2"])
def test_no_factor_is_looked_for_where_beta_is_0(beta: str) -> None:
    found = dipc.tighten(dipc.load(NOISY_MAX, m=2), inputs="all", beta=beta)
    assert not found.complete
    assert any("beta is 0" in unknown.reason for unknown in found.unknown)
