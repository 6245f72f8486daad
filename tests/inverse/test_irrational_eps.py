"""Inverse questions at a single irrational eps, against values by hand and with 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, GammaSolution
from dipc.outcome.solve import headline
from dipc.outcome.tighten import headline as factor_headline

RESPONSE = (
    "program r; input x : {0..1}; output o : {0..1}; ideal { o <- x }"
    "if x = 1 then o <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }"
    "else o <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end"
)
LAPLACE = "program la; input q : real; output y : real; ideal { y <- q } y <- Lap(eps, q)"
WHOLE = "program wh; input q : int; output y : int; ideal { y <- q } y <- DLap(eps, q)"
NORMAL = "program ga; input q : real; output y : real; ideal { y <- q } y <- Gauss(1/eps, q)"
LARGER = (
    "program two; input q[1..2] : real; output o : {1..2}; ideal { noiseless } var v, w : real;"
    "v <- Lap(eps/2, q[1]); w <- Lap(eps/2, q[2]); if w > v then o <- 2 else o <- 1 end"
)

#: Program, inputs, beta, gamma, eps, the exact factor or its value.
FACTORS: list[tuple[str, str, str, int, str, Fraction | Callable[[], mpmath.mpf]]] = [
    (RESPONSE, "all", "1/4", 0, "log(3)", Fraction(1)),
    (RESPONSE, "all", "exp(-eps)/2", 0, "log(3)", Fraction(3, 2)),
    (RESPONSE, "all", "exp(-1)", 0, "log(3)", lambda: mpmath.e / 4),
    (RESPONSE, "all", "1/5", 0, "log(4)/2", Fraction(5, 3)),
    (RESPONSE, "all", "eps", 0, "log(3)", lambda: 1 / (4 * mpmath.log(3))),
    (LAPLACE, "all", "exp(-eps)", 2, "log(3)", Fraction(1, 3)),
    (LAPLACE, "q = 1", "exp(-eps)", 2, "sqrt(2)", lambda: mpmath.exp(-mpmath.sqrt(2))),
    (WHOLE, "all", "exp(-eps)", 2, "log(3)", Fraction(1, 6)),
    (NORMAL, "all", "exp(-eps)", 2, "log(3)", lambda: 3 * mpmath.erfc(mpmath.sqrt(2) * mpmath.log(3))),
]


def close(ends: tuple[Fraction, Fraction], value: mpmath.mpf, digits: int) -> bool:
    low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends)
    return bool(low <= value <= high and high - low <= 10 ** (2 - mpmath.mpf(digits)))


@pytest.mark.parametrize(("program", "inputs", "beta", "gamma", "eps", "value"), FACTORS)
@pytest.mark.parametrize("digits", [10, 45])
def test_the_least_factor(
    program: str,
    inputs: str,
    beta: str,
    gamma: int,
    eps: str,
    value: Fraction | Callable[[], mpmath.mpf],
    digits: int,
) -> None:
    least = dipc.tighten(dipc.load(program), inputs=inputs, alpha=0, beta=beta, gamma=gamma, eps=eps, digits=digits)
    assert least.complete
    assert least.factor is not None
    assert least.eps == f"[{eps}, {eps}]"
    assert f"eps = {eps}" not in factor_headline(least)
    if isinstance(value, Fraction):
        assert least.factor == (value, value)
        assert least.kappa == int(1 / value)
    else:
        with mpmath.workdps(70):
            assert close(least.factor, value(), digits)
            assert least.kappa == int(1 / value())


def test_a_factor_of_every_distance_does_not_depend_on_eps() -> None:
    least = dipc.tighten(dipc.load(LARGER), inputs="all", alpha="dd", beta="2*exp(-alpha*eps/2)", eps="log(3)")
    assert least.factor == (Fraction(1, 4), Fraction(1, 4))


@pytest.mark.parametrize(
    ("program", "gamma", "eps", "value"),
    [
        (RESPONSE, 0, "log(3)", Fraction(1, 4)),
        (LAPLACE, 2, "log(3)", Fraction(1, 9)),
        (LAPLACE, 2, "sqrt(2)", lambda: mpmath.exp(-2 * mpmath.sqrt(2))),
        (WHOLE, 2, "log(3)", Fraction(1, 18)),
        (NORMAL, 2, "log(3)", lambda: mpmath.erfc(mpmath.sqrt(2) * mpmath.log(3))),
    ],
)
def test_the_least_beta(program: str, gamma: int, eps: str, value: Fraction | Callable[[], mpmath.mpf]) -> None:
    inputs = "all" if "x :" in program else "q = 1"
    least = dipc.solve(dipc.load(program), wanted="beta", inputs=inputs, alpha=0, gamma=gamma, eps=eps, digits=40)
    assert isinstance(least, BetaSolution)
    assert least.status == "solved"
    (piece,) = least.pieces
    assert piece.value is not None
    assert headline(least).endswith(f" at eps = {eps}")
    with mpmath.workdps(60):
        exact = isinstance(value, Fraction)
        assert piece.value == (value, value) if exact else close(piece.value, value(), 40)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("beta", "eps", "status"),
    [("1/4", "log(3)", "solved"), ("249999/10^6", "log(3)", "none"), ("exp(-1)", "log(3)", "solved")],
)
def test_the_eps_that_is_asked_about_is_the_only_one(beta: str, eps: str, status: str) -> None:
    found = dipc.solve(dipc.load(RESPONSE), wanted="eps", alpha=0, beta=beta, eps=eps)
    assert isinstance(found, EpsSolution)
    assert found.status == status
    assert headline(found).endswith(f"at eps = {eps}")


@pytest.mark.parametrize(
    ("program", "inputs", "beta", "eps", "value"),
    [
        (LAPLACE, "all", "1/3", "log(3)", lambda: 1),
        (LAPLACE, "q = 1", "1/3", "log(3)", lambda: 1),
        (LAPLACE, "q = 1", "1/5", "sqrt(2)", lambda: mpmath.log(5) / mpmath.sqrt(2)),
        (LAPLACE, "all", "exp(-1)/5", "log(3)", lambda: (1 + mpmath.log(5)) / mpmath.log(3)),
        (WHOLE, "all", "1/18", "log(3)", lambda: 2),
        (WHOLE, "q = 1", "1/19", "log(3)", lambda: 3),
        (NORMAL, "q = 1", "1/20", "log(3)", lambda: mpmath.sqrt(2) * mpmath.erfinv("0.95") / mpmath.log(3)),
    ],
)
def test_the_least_gamma(program: str, inputs: str, beta: str, eps: str, value: Callable[[], mpmath.mpf]) -> None:
    least = dipc.solve(dipc.load(program), wanted="gamma", inputs=inputs, alpha=0, beta=beta, eps=eps, digits=25)
    assert isinstance(least, GammaSolution)
    assert least.status == "solved"
    assert least.value is not None
    with mpmath.workdps(60):
        assert close(least.value, mpmath.mpf(value()), 25)


def test_the_least_alpha() -> None:
    """Two noises at distance 2·alpha: an error has probability (2 + t)/4·exp(-t) with t = alpha·eps."""
    least = dipc.solve(dipc.load(LARGER), wanted="alpha", inputs="all", beta="1/20", eps="log(3)", digits=25)
    assert isinstance(least, AlphaSolution)
    assert least.cell is not None
    with mpmath.workdps(60):
        t = mpmath.findroot(lambda x: (2 + x) / 4 * mpmath.exp(-x) - mpmath.mpf(1) / 20, 3)
        assert close(least.cell, t / mpmath.log(3), 25)
    rows = dipc.solve(dipc.load(LARGER), wanted="alpha", inputs="q = 0..2", beta="1/4", eps="log(3)")
    assert isinstance(rows, AlphaSolution)
    other = dipc.solve(dipc.load(LARGER), wanted="alpha", inputs="q = 0..2", beta="1/4", eps="11/10")
    assert isinstance(other, AlphaSolution)
    assert (rows.status, rows.value) == (other.status, other.value)


@pytest.mark.parametrize("beta", ["eps - log(3)", "log(3) - eps", "0"])
def test_no_factor_suffices_where_beta_is_0(beta: str) -> None:
    least = dipc.tighten(dipc.load(RESPONSE), alpha=0, beta=beta, eps="log(3)")
    assert least.kappa is None or (least.factor is None and least.kappa == 0)
    assert least.at_most is None


def test_an_interval_around_a_release() -> None:
    intervals = dipc.interval(dipc.load(LAPLACE), inputs="q = 1", eps="log(3)", confidence="95%", side="both")
    (solution,) = intervals.solutions.values()
    assert solution.value is not None
    with mpmath.workdps(40):
        assert close(solution.value, mpmath.log(20) / mpmath.log(3), 10)


@given(
    st.integers(2, 9), st.integers(1, 3), st.fractions("1/9", 2, max_denominator=9), st.sampled_from(["{}", "[{}, 9]"])
)
def test_random_ends(base: int, root: int, beta: Fraction, shape: str) -> None:
    """The error 1/(1 + e^eps) falls, so that the end decides."""
    eps = f"log({base})/{root}"
    least = dipc.tighten(dipc.load(RESPONSE), alpha=0, beta=beta, eps=shape.format(eps), digits=20)
    assert least.complete
    assert least.factor is not None
    with mpmath.workdps(60):
        value = 1 / (1 + mpmath.mpf(base) ** (mpmath.mpf(1) / root)) / (mpmath.mpf(beta.numerator) / beta.denominator)
        assert close((least.factor[0] - Fraction(1, 10**50), least.factor[1] + Fraction(1, 10**50)), value, 19)
    if root == 1 and shape == "{}":
        assert least.factor[0] == least.factor[1] == 1 / (beta * (1 + base))
