"""The factors behind the paper's Table 4, to 30 digits: against mpmath with 60, and against the sign procedure."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

import dipc
from benchmarks import published, runner
from benchmarks.mechanisms import MECHANISMS
from dipc.inverse.tighten import Tightest
from tests.inverse import maxima

#: Table 4 with the factors' first digits (1/f, truncated) and the largest κ.
CASES = [
    ("sparse", 3, 1, "6.375", 6),
    ("sparse", 3, 2, "12.677", 12),
    ("sparse_variant", 3, 1, "6.375", 6),
    ("sparse_variant", 3, 2, "13.315", 13),
    ("sparse_variant_pseudocode", 3, 2, "12.751", 12),
    ("noisy_max", 3, None, "4.357", 4),
    ("noisy_max", 4, None, "4.863", 4),
    ("numeric_sparse", 3, 1, "4.949", 4),
    ("numeric_sparse", 3, 2, "6.782", 6),
]
NAMES = [f"{name}-{m}-{c}" for name, m, c, _, _ in CASES]


def bench(name: str, m: int, c: int | None) -> runner.Bench:
    mechanism = MECHANISMS[name]
    wanted = "sparse_variant" if name == "sparse_variant_pseudocode" else name
    (row,) = [
        row
        for row in published.rows()
        if row.table.startswith("4") and row.mechanism.name == wanted and (row.m, row.c) == (m, c)
    ]
    return runner.Bench(row, mechanism)


def tightest(given: runner.Bench, digits: int = 30) -> Tightest:
    row = given.published
    return dipc.tighten(given.program, given.rows, beta=row.beta, alpha=row.alpha, gamma=row.gamma, digits=digits)


def mpf(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("name", "m", "c", "inverse", "kappa"), CASES, ids=NAMES)
def test_factor_and_kappa(name: str, m: int, c: int | None, inverse: str, kappa: int) -> None:
    given = bench(name, m, c)
    result = tightest(given)
    assert result.kappa == kappa
    assert result.factor is not None
    low, high = result.factor
    assert Fraction(inverse) <= 1 / high <= 1 / low < Fraction(inverse) + Fraction(1, 1000)
    assert high - low <= low / 10**29
    # The sign procedure knows nothing of maxima: beta·high holds at every row, beta·low does not.
    assert given.check(high).verdict is dipc.Verdict.ACCURATE
    assert given.check(low).verdict is dipc.Verdict.INACCURATE
    assert given.check(Fraction(1, kappa)).verdict is dipc.Verdict.ACCURATE
    assert given.check(Fraction(1, kappa + 1)).verdict is dipc.Verdict.INACCURATE


@pytest.mark.parametrize(("name", "m", "c", "inverse", "kappa"), CASES, ids=NAMES)
def test_thirty_digits_against_closed_forms_in_mpmath(
    name: str, m: int, c: int | None, inverse: str, kappa: int
) -> None:
    """Every row's (1 - Pr)/beta, evaluated and maximized by mpmath."""
    given = bench(name, m, c)
    result = tightest(given)
    assert result.factor is not None
    with mpmath.workdps(maxima.DIGITS):
        tops = []
        for obligation in result.claims.distinct:
            (terms, below) = obligation.bound.numerator_and_denominator()
            assert below is None
            ((power, rate, scale),) = obligation.beta.closed.numerator_and_denominator()[0].terms()  # type: ignore[union-attr]
            assert power == 0
            # 1 - Pr over c·e^{q·eps}, term by term.
            missing = [(k, q - rate, -c / scale) for k, q, c in terms.terms()] + [(0, -rate, 1 / scale)]
            tops.append(maxima.maximum(lambda x, missing=missing: _value(missing, x))[1])
        assert mpf(result.factor[0]) <= max(tops) <= mpf(result.factor[1])


def _value(terms: list[tuple[int, Fraction, Fraction]], x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.fsum(mpf(c) * x**k * mpmath.exp(mpf(q) * x) for k, q, c in terms)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "m", "c", "inverse", "kappa"), CASES, ids=NAMES)
def test_thirty_digits_against_quadrature(name: str, m: int, c: int | None, inverse: str, kappa: int) -> None:
    """The worst row's probability as an integral over the noises, with nothing of dipc's in it."""
    _against_quadrature(name, m, c)


def test_one_of_them_against_quadrature() -> None:
    _against_quadrature("noisy_max", 3, None)


def _against_quadrature(name: str, m: int, c: int | None) -> None:
    given = bench(name, m, c)
    result = tightest(given)
    assert result.factor is not None
    place = result.places[0]
    row = given.rows[place.claimed.rows[0] - 1]
    constant = c or 1

    def probability(eps: mpmath.mpf) -> mpmath.mpf:
        match name:
            case "sparse":
                return maxima.sparse(row, eps, constant)
            case "sparse_variant":
                return maxima.sparse_variant(row, eps, constant, eps / 2)
            case "sparse_variant_pseudocode":
                return maxima.sparse_variant(row, eps, constant, eps / (2 * constant))
            case "noisy_max":
                return maxima.noisy_max(row, eps, constant)
            case _:
                return maxima.numeric_sparse(row, eps, constant)

    def beta(eps: mpmath.mpf) -> mpmath.mpf:
        alpha = mpmath.mpf(1) if name == "numeric_sparse" else mpf(Fraction(row["dd"]))
        match name:
            case "noisy_max":
                return m * mpmath.exp(-alpha * eps / 2)
            case "numeric_sparse":
                return (2 * m + 1) * constant * mpmath.exp(-alpha * eps / (9 * constant))
            case _:
                return 2 * m * constant * mpmath.exp(-alpha * eps / (8 * constant))

    with mpmath.workdps(maxima.DIGITS):
        assert place.eps is not None
        eps = mpf(place.eps[0])
        # At a maximum the value is known to twice as many digits as the place.
        value = (1 - probability(eps)) / beta(eps)
        assert mpf(result.factor[0]) <= value <= mpf(result.factor[1])
        # And it is a maximum: the neighbors need less.
        for other in (eps * mpmath.mpf("0.99"), eps * mpmath.mpf("1.01")):
            assert (1 - probability(other)) / beta(other) < value
