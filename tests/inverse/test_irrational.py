"""Least factors of claims with irrational constants, against the values at 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

import dipc
from dipc.outcome.tighten import Member, headline

RESPONSE = (
    "program r; input x : {0..1}; output o : {0..1}; ideal { o <- x }"
    "if x = 1 then o <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }"
    "else o <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end"
)
RIGHT = "program r; input x : {0..1}; output o : {0..1}; ideal { o <- x } o <- x"
COIN = "program c; output y : {0, 1}; ideal { y <- 1 } y <- choose { 1 : 3/4, 0 : 1/4 }"
APPROACHED = (
    "program s; const t = 11; input x : real; output y : real = 0; ideal { if x > 0 then y <- x end } "
    "var r : real; if x > 0 then r <- x + Lap(eps/2); if r > t then y <- r end end"
)


@pytest.mark.parametrize(
    ("beta", "value"),
    [
        ("exp(-1)", lambda: mpmath.e / 4),
        ("log(3/2)", lambda: 1 / (4 * mpmath.log(1.5))),
        ("sqrt(1/2)", lambda: mpmath.sqrt(2) / 4),
        ("exp(log(2)/3 - 1)", lambda: mpmath.e / 4 / mpmath.cbrt(2)),
        ("exp(-1 - eps) + exp(-2)", lambda: mpmath.e**2 / 4),
    ],
)
@pytest.mark.parametrize("digits", [12, 45])
def test_both_ends_have_the_digits_asked_for(beta: str, value: object, digits: int) -> None:
    least = dipc.tighten(dipc.load(COIN), alpha=0, beta=beta, digits=digits)
    assert least.complete
    assert least.factor is not None
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in least.factor)
        assert callable(value)
        assert low <= value() <= high
    assert least.factor[1] - least.factor[0] <= Fraction(10) ** (1 - digits)


def test_an_exact_multiple_is_a_rational_factor() -> None:
    least = dipc.tighten(dipc.load(COIN), alpha=0, beta="7*exp(-4*log(2))")
    assert least.factor == (Fraction(4, 7), Fraction(4, 7))


@pytest.mark.parametrize("beta", ["exp(-3)", "exp(-3*eps)"])
def test_a_factor_that_inputs_approach(beta: str) -> None:
    """x just above 17 fails where the noise is below -6 or above 17: (e^-3 + e^-8.5)/2."""
    least = dipc.tighten(dipc.load(APPROACHED, eps=1), inputs="all", alpha=0, gamma=17, beta=beta, eps=1)
    assert least.complete
    assert least.attained is False
    assert least.factor is not None
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in least.factor)
        assert low <= (1 + mpmath.exp(-5.5)) / 2 <= high
        assert high - low < mpmath.mpf(10) ** -25


@pytest.mark.parametrize("eps", ["[log(2), inf)", "(log(2), inf)", "[log(2), 1]"])
def test_a_factor_at_an_irrational_end_is_at_most_a_rational(eps: str) -> None:
    """The error 1/(1 + e^eps) is 1/3 at log(2): beta = 1/3 holds and beta/2 does not."""
    least = dipc.tighten(dipc.load(RESPONSE), inputs="all", alpha=0, beta="1/3", eps=eps)
    assert least.complete
    assert least.factor is not None
    assert least.factor[0] < 1 == least.factor[1]
    assert Member({}, least).as_json()["kappa"] == "1"
    assert headline(least).endswith("beta holds, beta/2 does not")


@pytest.mark.parametrize(
    ("beta", "eps"),
    [
        ("eps - log(2)", "[log(2), 1]"),
        ("max(eps - log(2), 0)", "[log(2), 1]"),
        ("log(2) - eps", "[1/2, log(2))"),
        ("1 - exp(1 - eps)", "[1, 2]"),
        ("exp(eps/2 + 1/2)*exp(1/2) - exp(1 + eps/2)", "[1, 2]"),
    ],
)
def test_no_factor_is_said_to_suffice_where_beta_is_0(beta: str, eps: str) -> None:
    """Beta is 0, or approaches 0, where the error is positive; a greater beta has a factor, as large as it is close."""
    least = dipc.tighten(dipc.load(RESPONSE), inputs="all", alpha=0, beta=beta, eps=eps)
    assert not least.complete
    assert (least.kappa, least.at_most) == (None, None)
    assert headline(least).startswith("undecided: the least factor is at least")
    assert Member({}, least).as_json()["kappa"] is None


def test_a_factor_of_which_few_digits_are_known_is_enclosed() -> None:
    least = dipc.tighten(
        dipc.load(RESPONSE), inputs="all", alpha=0, beta="eps - log(2)", eps="[log(2) + 1/10^60, 1]", digits=30
    )
    assert not least.complete
    assert least.factor is not None
    assert least.at_most is not None
    with mpmath.workdps(90):
        exact = 10 ** mpmath.mpf(60) / (1 + 2 * mpmath.exp(mpmath.mpf(10) ** -60))
        assert least.factor[0] <= Fraction(str(mpmath.nstr(exact, 80))) <= least.at_most[1]


@pytest.mark.parametrize(
    ("beta", "eps", "text"),
    [
        ("log(2)", "(0, inf)", "every factor suffices, even 0: the answer is always right"),
        ("1", "[log(2), inf)", "every factor suffices, even 0: the answer is always right"),
        ("log(2) - log(3)", "(0, inf)", "factor 0 and no other: beta is negative where the answer is always right"),
        ("eps - log(2)", "[log(2), inf)", "undecided: nothing is known about the factor"),
    ],
)
def test_an_answer_that_is_always_right(beta: str, eps: str, text: str) -> None:
    least = dipc.tighten(dipc.load(RIGHT), inputs="all", alpha=0, beta=beta, eps=eps)
    assert headline(least) == text
    assert Member({}, least).as_json()["kappa"] == {"e": "inf", "f": "0", "u": None}[text[0]]
