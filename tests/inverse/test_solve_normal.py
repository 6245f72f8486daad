"""Inverse questions about programs with normal noise, against mpmath and against checks on both sides of the answer."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest

import dipc
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, GammaSolution

F = Fraction
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPARSE = (BENCHMARKS / "gaussian_sparse.dip").read_text(encoding="utf-8")
COUNT = "program count; input q : real; output r : real; ideal { r <- q } r <- Gauss(1/eps, q)"
ANY: dict[str, Any] = {"inputs": "all", "alpha": 0}


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def tail(eps: mpmath.mpf) -> mpmath.mpf:
    """1 - Pr of a count within 1."""
    return mpmath.erfc(eps / mpmath.sqrt(2))


@pytest.mark.parametrize(
    ("beta", "function", "near"),
    [
        ("1/10", lambda _: 0.1, 1.6),
        ("exp(-eps)", lambda e: mpmath.exp(-e), 0.6),
        ("2*exp(-eps^2)", lambda e: 2 * mpmath.exp(-(e**2)), 1.8),
        ("1/(1 + exp(eps))", lambda e: 1 / (1 + mpmath.exp(e)), 1.2),
        ("erfc(2*eps) + 1/5", lambda e: mpmath.erfc(2 * e) + 0.2, 1.3),
    ],
)
def test_where_a_claim_about_a_count_begins_or_ends(beta: str, function: Any, near: float) -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="eps", beta=beta, gamma=1, **ANY)
    assert isinstance(found, EpsSolution)
    assert found.status == "solved"
    ends = [end for span in found.holds for end in (span.start, span.end) if end.high is not None and end.low]
    with mpmath.workdps(50):
        root = mpmath.findroot(lambda e: mpmath.mpf(function(e)) - tail(e), near)
        (end,) = [end for end in ends if abs(number(end.low) - root) < 1e-9]
        assert end.high is not None
        # 1/10 in binary has 16 digits.
        slop = mpmath.mpf(10) ** -14 if beta == "1/10" or "1/5" in beta else mpmath.mpf(10) ** -40
        assert number(end.low) - slop <= root <= number(end.high) + slop
        assert end.included


def test_a_claim_that_holds_twice() -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="eps", beta="erfc(eps) + 1/100", gamma=1, **ANY)
    assert isinstance(found, EpsSolution)
    first, second = found.holds
    assert (first.start.low, second.end.high) == (0, None)
    for low, high, verdict in (
        (F(1, 1000), first.end.low, "accurate"),
        (second.start.high, F(100), "accurate"),
        (first.end.high, second.start.low, "inaccurate"),
    ):
        about = {"beta": "erfc(eps) + 1/100", "gamma": 1, "eps": f"[{low}, {high}]"}
        assert dipc.check(dipc.load(COUNT), **about, **ANY).verdict == verdict


def test_an_end_that_is_rational_is_known_to_be() -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="eps", beta="erfc(1/sqrt(2))", gamma=1, **ANY)
    assert isinstance(found, EpsSolution)
    assert found.least is not None
    assert (found.least.low, found.least.high, found.least.included) == (1, 1, True)


def test_the_least_distance_of_sparse() -> None:
    """The least t = alpha*eps is that of the answer that all but the last are below; a smaller claim fails there."""
    found = dipc.solve(dipc.load(SPARSE), wanted="alpha", inputs="all", beta="1/10", digits=20)
    assert isinstance(found, AlphaSolution)
    assert found.status == "solved"
    assert found.product is not None
    low, high = found.product
    assert high is not None
    assert high - low == F(1, 10**19)
    with mpmath.workdps(30):
        t = number(low)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, 0, 2) * mpmath.ncdf((x + t) / 4) ** 2 * mpmath.ncdf((t - x) / 4)

        assert abs(mpmath.quad(integrand, [2 * k for k in range(-14, 15)]) - mpmath.mpf(9) / 10) < 1e-18
    for t_now, verdict in ((low, "inaccurate"), (high, "accurate")):
        row = dipc.check(dipc.load(SPARSE), [_row(t_now)], beta="1/10", alpha=t_now, eps=1)
        assert row.verdict == verdict


def _row(t: Fraction) -> dict[str, object]:
    queries = {"q[1]": -t, "q[2]": -t, "q[3]": t}
    return {**queries, "out[1]": "bot", "out[2]": "bot", "out[3]": "top", "dd": t + 1}


@pytest.mark.parametrize("about", [{"inputs": "all", "alpha": 0}, {"inputs": "q in {0, 1}"}])
def test_the_tolerance_of_a_count(about: dict[str, Any]) -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="gamma", beta="1/10", eps=F(1, 3), digits=25, **about)
    assert isinstance(found, GammaSolution)
    assert found.value is not None
    low, high = found.value
    assert high - low <= F(3, 10**24)
    with mpmath.workdps(50):
        exact = 3 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(9) / 10)
        assert number(low) <= exact <= number(high)


def test_the_tolerance_of_a_count_is_a_multiple() -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="gamma", beta="1/10", **ANY)
    assert isinstance(found, GammaSolution)
    assert found.product is not None
    with mpmath.workdps(50):
        exact = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(9) / 10)
        assert number(found.product[0]) <= exact <= number(found.product[1])


def test_no_tolerance_is_enough_for_every_eps() -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="gamma", inputs="q in {0, 1}", beta="1/10")
    assert found.status == "none"
    assert "as eps tends to 0" in found.remark


def test_the_least_beta_of_a_count_is_a_claim_that_holds_with_equality() -> None:
    found = dipc.solve(dipc.load(COUNT), wanted="beta", gamma=1, **ANY)
    assert isinstance(found, BetaSolution)
    assert dipc.check(dipc.load(COUNT), beta=found.beta, gamma=1, **ANY).verdict == "accurate"
    less = f"{found.beta} - exp(-eps^2)/10^9"
    assert dipc.check(dipc.load(COUNT), beta=less, gamma=1, **ANY).verdict == "inaccurate"


@pytest.mark.parametrize("seed", range(8))
def test_the_least_beta_at_an_eps_against_quadrature(seed: int) -> None:
    chance = random.Random(seed)
    queries = [F(chance.randint(-20, 20), chance.choice([1, 2, 3])) for _ in range(3)]
    eps = F(chance.randint(1, 30), 10)
    inputs = f"q=({','.join(map(str, queries))})"
    found = dipc.solve(dipc.load(SPARSE), wanted="beta", inputs=inputs, eps=eps, digits=15)
    assert isinstance(found, BetaSolution)
    (piece,) = found.pieces
    assert piece.value is not None
    above = next((i for i, q in enumerate(queries) if q >= 0), None)
    below = queries[:above]
    with mpmath.workdps(25):
        e = number(eps)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            value = mpmath.npdf(x, 0, 2) * mpmath.fprod(mpmath.ncdf((x - number(q) * e) / 4) for q in below)
            return value if above is None else value * mpmath.ncdf((number(queries[above]) * e - x) / 4)

        missing = 1 - mpmath.quad(integrand, [2 * k for k in range(-12, 13)])
        assert number(piece.value[0]) - 1e-18 <= missing <= number(piece.value[1]) + 1e-18


def test_where_a_claim_fails_to_many_digits() -> None:
    report = dipc.check(dipc.load(SPARSE), inputs="q=(-1,-1,1)", beta="m*c*exp(-alpha*eps/(8*c))*0.307", digits=25)
    (failing,) = report.rows[0].failing
    for end, inside in ((failing.start, failing.start.high), (failing.end, failing.end.low)):
        assert end.high is not None
        assert end.high - end.low <= F(1, 10**24)
        outside = end.low if inside == end.high else end.high
        for eps, verdict in ((inside, "inaccurate"), (outside, "accurate")):
            about = {"inputs": "q=(-1,-1,1)", "beta": "m*c*exp(-alpha*eps/(8*c))*0.307", "eps": eps}
            assert dipc.check(dipc.load(SPARSE), **about).verdict == verdict


@pytest.mark.parametrize("deviation", [F(1, 10**6), F(10**6), F(1)])
@pytest.mark.parametrize("gamma", [F(1, 10**6), F(10**6)])
def test_hostile_scales(deviation: Fraction, gamma: Fraction) -> None:
    """eps of gamma = 1.64…·deviation/eps: that of gamma 1 and deviation 1 over gamma/deviation, in units of that."""
    program = dipc.load(COUNT.replace("1/eps", f"{deviation}/eps"))
    found = dipc.solve(program, wanted="eps", beta="1/10", gamma=gamma, **ANY)
    assert isinstance(found, EpsSolution)
    with mpmath.workdps(50):
        exact = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(9) / 10) * number(deviation / gamma)
        assert found.status == "solved"
        assert found.least is not None
        assert found.least.high is not None
        assert number(found.least.low) <= exact <= number(found.least.high)


@pytest.mark.parametrize(
    ("beta", "function"),
    [
        ("min(1/2, exp(-eps/4))", lambda e: min(0.5, mpmath.exp(-e / 4))),
        ("max(1/16, exp(-eps))", lambda e: max(mpmath.mpf(1) / 16, mpmath.exp(-e))),
        ("min(1/4, max(1/32, exp(-2*eps)))", lambda e: min(0.25, max(mpmath.mpf(1) / 32, mpmath.exp(-2 * e)))),
        ("max(exp(-eps)/2, (2 - eps)/4)", lambda e: max(mpmath.exp(-e) / 2, (2 - e) / 4)),
        ("abs(eps - 1)/2 + 1/8", lambda e: abs(e - 1) / 2 + 0.125),
    ],
)
def test_betas_in_pieces(beta: str, function: Any) -> None:
    """Each end of the set where the claim holds is a zero, and signs at many eps agree with the set."""
    found = dipc.solve(dipc.load(COUNT), wanted="eps", beta=beta, gamma=1, **ANY)
    assert isinstance(found, EpsSolution)
    assert found.status == "solved"
    with mpmath.workdps(50):
        ends = [end for span in found.holds for end in (span.start, span.end) if end.high is not None and end.low]
        for end in ends:
            assert end.high is not None
            assert abs(function(number(end.low)) - tail(number(end.low))) < mpmath.mpf(10) ** -28
            assert end.high - end.low < F(1, 10**28)
        for k in range(1, 400):
            eps = mpmath.mpf(k) / 37
            holds = any(
                number(span.start.low) <= eps and (span.end.high is None or eps <= number(span.end.low))
                for span in found.holds
            )
            assert holds is bool(function(eps) >= tail(eps)), eps
    report = dipc.check(dipc.load(COUNT), beta=beta, gamma=1, digits=20, **ANY)
    assert report.verdict == ("inaccurate" if ends else "accurate")


def test_the_least_gamma_for_a_beta_with_erfc() -> None:
    """A count is within gamma with the probability 1 - erfc(gamma*eps/√2)."""
    rows = [{"q": 0, "r": 0}]
    found = dipc.solve(dipc.load(COUNT), rows, wanted="gamma", beta="erfc(eps/3)", eps="[1, 2]", digits=8)
    assert isinstance(found, GammaSolution)
    assert found.value == (F("0.47140452"), F("0.47140453"))
