"""Tails of discrete Gaussian noise near eps = 0, where they tend to one half, against sums of masses."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.noise.gaussian import DiscreteGaussian

F = Fraction
EPS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)


def masses(eps: float, deviation: float = 1.0) -> dict[int, float]:
    reach = int(12 * deviation / eps) + 12
    law = {k: math.exp(-((k * eps / deviation) ** 2) / 2) for k in range(-reach, reach + 1)}
    whole = sum(law.values())
    return {k: weight / whole for k, weight in law.items()}


def tail(first: int, eps: float) -> float:
    return sum(mass for k, mass in masses(eps).items() if k >= first)


@pytest.mark.parametrize("rate", [F(1), F(1, 3), F(5, 2)])
@pytest.mark.parametrize("reach", [0, 1, 4])
def test_central_masses(rate: Fraction, reach: int) -> None:
    bounds = DiscreteGaussian().central_mass(rate, reach)
    assert bounds is not None
    for eps in (F(1, 1000), F(1, 10), F(1), F(3)):
        known = sum(mass for k, mass in masses(float(eps), float(1 / rate)).items() if abs(k) <= reach)
        low, high = (float(bound.enclosure(eps, 20)[0]) for bound in bounds)
        assert low <= known * (1 + 1e-12)
        assert known <= high * (1 + 1e-12)
        assert eps > F(1, 100) or high - low < 2e-5 * (1 + reach) ** 3
    assert DiscreteGaussian(fixed=True).central_mass(rate, reach) is None


def verdict(condition: str, beta: str) -> Verdict:
    text = f"""program p; output y : {{0, 1}} = 0; ideal {{ y <- 0 }} var k : int;
    k <- DGauss(1/eps, 0); if {condition} then y <- 1 end"""
    return dipc.check(dipc.load(text), inputs="all", alpha=0, beta=beta).verdict


@pytest.mark.parametrize(
    ("condition", "first", "beta", "value"),
    [
        ("k >= 1", 1, "1/2", lambda e: 1 / 2),
        ("k > 0", 1, "1/2", lambda e: 1 / 2),
        ("k <= -1", 1, "1/2", lambda e: 1 / 2),
        ("k >= 1", 1, "1/2 - eps/(6 + 4*eps)", lambda e: 1 / 2 - e / (6 + 4 * e)),
        ("k >= 1", 1, "1/2 - eps/(2 + 4*eps)", lambda e: 1 / 2 - e / (2 + 4 * e)),
        ("k >= 0", 0, "1/2", lambda e: 1 / 2),
        ("k >= 0", 0, "1/2 + eps/2", lambda e: 1 / 2 + e / 2),
        ("k >= 2", 2, "erfc(eps/sqrt(2))/2", lambda e: math.erfc(e / math.sqrt(2)) / 2),
        ("k >= 2", 2, "erfc(2*eps/sqrt(2))/2", lambda e: math.erfc(2 * e / math.sqrt(2)) / 2),
        ("k >= 5", 5, "erfc(4*eps/sqrt(2))/2", lambda e: math.erfc(4 * e / math.sqrt(2)) / 2),
    ],
)
def test_claims_about_tails(condition: str, first: int, beta: str, value: object) -> None:
    assert callable(value)
    holds = all(tail(first, eps) <= value(eps) + 1e-12 for eps in EPS)
    assert verdict(condition, beta) is (Verdict.ACCURATE if holds else Verdict.INACCURATE)
