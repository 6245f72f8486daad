"""The numbers of the errata, computed again without dipc: by convolution, enumeration and distribution functions."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import dipc
from dipc.inverse.question import BetaSolution

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = (DOCS / "errata.md").read_text(encoding="utf-8")
PROGRAMS = DOCS / "programs"

#: The percentages of the page by the number of noises.
SHARES = dict(zip((1, 2, 3, 4, 6, 8, 10), re.findall(r"(\d\.\d\d) % \|", PAGE), strict=True))


def tail_of_sum(number: int, reach: float) -> mpmath.mpf:
    """Pr[|X_1 + … + X_L| > reach] for L = `number` Laplace noises of scale 1, from their characteristic function."""

    def density(x: mpmath.mpf) -> mpmath.mpf:
        # The difference of two sums of L exponential variables: a Bessel function.
        order = number - mpmath.mpf(1) / 2
        return (x / 2) ** order * mpmath.besselk(order, x) / (mpmath.sqrt(mpmath.pi) * mpmath.gamma(number))

    return 2 * mpmath.quad(density, [reach, reach + 5, reach + 20, mpmath.inf])


@pytest.mark.parametrize("number", SHARES)
def test_errors_of_sums(number: int) -> None:
    stated = math.sqrt(2 * number * math.log(40))
    share = tail_of_sum(number, stated)
    assert f"{float(100 * share):.2f}" == SHARES[number]
    gamma = Fraction(math.ceil(2 * number * stated * 1000), 1000)
    found = dipc.solve(dipc.load(PROGRAMS / "tree_sum.dip", L=number), wanted="beta", inputs="q = 0", gamma=gamma)
    assert isinstance(found, BetaSolution)
    (piece,) = found.pieces
    assert piece.value is not None
    assert float(piece.value[0]) == pytest.approx(float(share), rel=1e-3)
    assert float(piece.value[1]) < share


def test_padding() -> None:
    law = {k: math.exp(-abs(k - 23)) for k in range(47)}
    total = sum(law.values())
    delta = sum(max(0.0, p - math.e * law.get(k - 10, 0.0)) for k, p in law.items()) / total
    assert f"{delta:.12f}".startswith("0.9901483321")
    assert "0.9901483321…" in PAGE
    # The formula: the probability of the ten outputs that are lost, for noise of rate eps.
    lost = {n: sum(math.exp(-j) for j in range(n - 9, n + 1)) for n in (22, 23)}
    normal = {n: 1 + 2 * sum(math.exp(-j) for j in range(1, n + 1)) for n in (22, 23)}
    assert lost[23] / normal[23] <= 1e-6 < lost[22] / normal[22]


def test_exponential_noise() -> None:
    """Both probabilities by quadrature over the threshold's noise, of rate 1/2, where queries have rate 1/4."""

    def none_above(values: tuple[float, ...]) -> float:
        def integrand(t: mpmath.mpf) -> mpmath.mpf:
            below = mpmath.mpf(1)
            for value in values:
                below *= 1 - mpmath.exp(-(t - value) / 4) if t > value else 0
            return mpmath.exp(-t / 2) / 2 * below

        return float(mpmath.quad(integrand, sorted({0, *(max(0, v) for v in values), 40})) if values else 1)

    # Far below the threshold: 1 - (1 - y)^3 for y small is 3y, and two thirds of that when the threshold moves, too.
    far = 40.0
    missing = 1 - none_above((-far, -far, -far))
    assert missing / (3 * math.exp(-far / 4)) == pytest.approx(2 / 3, rel=1e-2)
    assert dipc.tighten(PROGRAMS / "exponential_svt.dip", inputs="all").factor == (Fraction(2, 3), Fraction(2, 3))


def test_names() -> None:
    for m in (1, 2, 50, 10_000):
        t = 30.0
        assert -math.expm1(m * math.log1p(-math.exp(-t))) / (m * math.exp(-t)) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("m", [1, 3, 10])
def test_one_side_needs_half(m: int) -> None:
    needed = [-math.expm1(m * math.log1p(-math.exp(-t) / 2)) / (m * math.exp(-t)) for t in (0.1, 1, 5, 30)]
    assert all(each <= 1 / 2 + 1e-12 for each in needed)
    assert needed[-1] == pytest.approx(1 / 2)
    found = dipc.tighten(dipc.load(PROGRAMS / "noisy_queries.dip", m=m), inputs="all")
    assert (found.factor, found.complete) == ((Fraction(1, 2), Fraction(1, 2)), True)


def test_a_bin() -> None:
    delta = 2 * math.exp(-5)
    assert 1 + 2 * math.log(2 / delta) == pytest.approx(11)
    assert math.exp(-(11 - 1) / 2) / 2 == pytest.approx(delta / 4)
    assert f"{delta / 4:.12f}" == "0.003368973500"
    assert f"{delta:.11f}" == "0.01347589400"


def test_a_census() -> None:
    """The delta at both budgets is 10^-10, by the formulas of Balle and Wang, and by a sum over integers."""
    deviation = mpmath.sqrt(mpmath.mpf(50) / 263)
    assert 1 / (2 * deviation**2) == pytest.approx(2.63)

    def of_normal(budget: float) -> mpmath.mpf:
        shift, half = budget * deviation, 1 / (2 * deviation)
        return mpmath.ncdf(half - shift) - mpmath.exp(budget) * mpmath.ncdf(-half - shift)

    def of_integers(budget: float) -> mpmath.mpf:
        law = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * deviation**2)) for k in range(-40, 41)}
        lost = (max(0, law[k] - mpmath.exp(budget) * law[k - 1]) for k in range(-39, 41))
        return mpmath.fsum(lost) / mpmath.fsum(law.values())

    for delta, budget, shown in ((of_normal, 16.74198135, "16.74198135…"), (of_integers, 13.14999769, "13.14999769…")):
        assert shown in PAGE
        assert delta(budget + 1e-7) < 1e-10 < delta(budget - 1e-7)


def test_each_program_is_on_the_page() -> None:
    shown = set(re.findall(r"docs/programs/(\w+)\.dip", PAGE))
    assert shown >= {
        "tree_sum",
        "padding",
        "exponential_svt",
        "first_names",
        "stable_bin",
        "normal_rho",
        "discrete_rho",
    }
