"""Discrete Laplace noise end to end: closed forms by hand, integer cells, verdicts and limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, total
from dipc.algebra.limits import Limits
from dipc.text.diagnostic import DiagnosticError
from tests.patience import examples

R = ExpPoly.term(1, 0, -1)

MECHANISM = "program mechanism; input q : int; output y : int; y <- DLap(eps, q);"

NOISY_MAX = """
program noisy_max; input q[1..2] : int; output out : {1, 2}; var a, b : int;
a <- DLap(eps, q[1]); b <- DLap(eps, q[2]);
if a >= b then out <- 1 else out <- 2 end
"""


@settings(max_examples=examples(8), deadline=None)
@given(st.integers(-9, 9), st.fractions(min_value=0, max_value=9, max_denominator=3))
def test_the_discrete_laplace_mechanism(q: int, gamma: Fraction) -> None:
    """Pr[|y - q| <= γ] = 1 - 2·r^{γ+1}/(1 + r), where only the whole part of γ matters."""
    found = dipc.load(MECHANISM).probability({"q": q}, {"y": q}, gamma=gamma).value
    assert found == 1 - Quotient(2 * R ** (int(gamma) + 1), 1 + R)


def test_how_it_is_written() -> None:
    program = dipc.load(MECHANISM)
    assert str(program.probability({"q": 3}, {"y": 3})) == "(1 - exp(-eps))/(1 + exp(-eps))"
    assert str(program.probability({"q": 3}, {"y": 5})) == "(exp(-2*eps) - exp(-3*eps))/(1 + exp(-eps))"
    assert str(program.probability({"q": 3}, {})) == "1"


def test_verdicts_of_the_mechanism() -> None:
    program = dipc.load(MECHANISM)
    rows = [{"q": q, "y": q} for q in (-2, 0, 7)]
    exact = "2*exp(-(gamma + 1)*eps)/(1 + exp(-eps))"
    for gamma in (0, 2):
        assert dipc.check(program, rows, beta=exact, gamma=gamma).verdict == "accurate"
        # What the continuous mechanism fails: there Pr[|y - q| > γ] = e^{-γ·eps}, here it is less.
        assert dipc.check(program, rows, beta="exp(-gamma*eps)", gamma=gamma).verdict == "accurate"
        assert dipc.check(program, rows, beta=f"({exact})*999/1000", gamma=gamma).verdict == "inaccurate"
    report = dipc.check(program, rows, beta="exp(-(gamma + 1)*eps)", gamma=1)
    assert report.verdict == "inaccurate"
    assert report.effort.obligations == 1


def difference_at_least(n: int) -> Closed:
    """Pr[Z >= n] for n >= 1, where Z is the difference of two discrete Laplace noises.

    Pr[Z = k] = ((1-r)/(1+r))²·r^k·(k + (1+r²)/(1-r²)) for k >= 0, summed over k >= n.
    """
    share = Quotient(1 + R**2, 1 - R**2)
    geometric = Quotient(R**n, 1 - R)
    first_moment = Quotient(R**n * n, 1 - R) + Quotient(R ** (n + 1), (1 - R) ** 2)
    return Quotient((1 - R) ** 2, (1 + R) ** 2) * (first_moment + geometric * share)


def test_report_noisy_max_with_ties() -> None:
    program = dipc.load(NOISY_MAX)
    for first, second in pairs(range(-2, 3), repeat=2):
        values = {"q": (first, second)}
        lead = first - second
        # The first wins ties: out = 2 where the noise of the second exceeds that of the first by more than the lead.
        wins = difference_at_least(lead + 1) if lead >= 0 else 1 - difference_at_least(-lead)
        assert program.probability(values, {"out": 2}).value == wins
        assert total(o.probability.value for o in program.outcomes(values)) == 1


def test_noisy_max_verdicts() -> None:
    program = dipc.load(NOISY_MAX)
    rows: list[dict[str, object]] = [{"q[1]": 0, "q[2]": 0, "out": 1}]
    # Tied queries: the first wins with more than one half, by half the chance of a tie.
    assert dipc.check(program, rows, beta="1/2").verdict == "accurate"
    assert dipc.check(program, [{**rows[0], "out": 2}], beta="1/2").verdict == "inaccurate"
    tie = "((1 - exp(-eps))/(1 + exp(-eps)))^2*(1 + exp(-2*eps))/(1 - exp(-2*eps))"
    assert dipc.check(program, rows, beta=f"1/2 - ({tie})/2").verdict == "accurate"
    assert dipc.check(program, rows, beta=f"1/2 - ({tie})/2 - exp(-30*eps)/10^6").verdict == "inaccurate"


def test_int_and_real_outputs_side_by_side() -> None:
    program = dipc.load(
        """program both; input q : int; input x : real; output y : int; output r : real; output big : bool;
        y <- DLap(eps, q); r <- Lap(eps, x); big <- y > q"""
    )
    values = {"q": 1, "x": "1/2"}
    found = program.probability(values, {"y": 2, "r": "1/2", "big": True}, gamma=1).value
    assert found == Quotient((R + R**2) * (1 - R) * (1 - R), 1 + R)
    assert program.probability(values, {"y": 2, "r": 0}, gamma=0).value.is_zero()
    assert [str(o.probability) for o in program.outcomes(values)] == ["1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))"]


def test_linear_combinations_of_integers() -> None:
    program = dipc.load(
        """program p; input q : int; output y : int; var a, b : int;
        a <- DLap(eps, q); b <- DLap(2*eps, 0); y <- 2*a - 3*b + 1"""
    )
    for y in (-1, 0, 3):
        low, high = program.probability({"q": 1}, {"y": y}).enclosure(1, digits=8)
        terms = []
        for a in range(-40, 41):
            if (2 * a + 1 - y) % 3 == 0:
                b = (2 * a + 1 - y) // 3
                terms.append(2.718281828459045 ** (-abs(a - 1) - 2 * abs(b)))
        r, s = 2.718281828459045**-1, 2.718281828459045**-2
        assert float(low) == pytest.approx((1 - r) / (1 + r) * (1 - s) / (1 + s) * sum(terms), rel=1e-7)
        assert float(high) == pytest.approx(float(low), rel=1e-7)


# --- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"q": "1/2", "y": 0}, "`1/2` is not an integer"),
        ({"q": 0, "y": "0.5"}, "`0.5` is not an integer"),
        ({"q": "x", "y": 0}, "`x` is not a rational number"),
        ({"q": "", "y": 0}, "the input `q` is left empty"),
    ],
)
def test_cells_of_integers(row: dict[str, object], message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        dipc.check(dipc.load(MECHANISM), [row], beta="1")


def test_integer_cells_are_compared_as_numbers() -> None:
    report = dipc.check(dipc.load(MECHANISM), [{"q": "2.0", "y": "4/2"}, {"q": 2, "y": ""}], beta="1")
    assert [dict(row.input) for row in report.rows] == [{"q": "2"}, {"q": "2"}]
    assert [dict(row.output) for row in report.rows] == [{"y": "2"}, {}]
    assert report["rows"][0]["probability"] == "(1 - exp(-eps))/(1 + exp(-eps))"


# --- limits ----------------------------------------------------------------------------------------

SKEW = """program skew; input q : int; output y : bool; var a, b : int;
a <- DLap(eps, q); b <- DLap(eps, 0); y <- 7*a >= 5*b"""


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(classes=2), "classes"),
        (Limits(cells=2), "cells"),
        (Limits(integrand=0), "integrand"),
    ],
)
def test_limits_are_reasons(limits: Limits, name: str) -> None:
    report = dipc.check(dipc.load(SKEW), [{"q": 0, "y": "true"}], beta="1/2", limits=limits)
    assert report.verdict == "undecided"
    assert f"(limit `{name}`" in str(report.rows[0].reason)
    assert dipc.check(dipc.load(SKEW), [{"q": 0, "y": "true"}], beta="1/2").verdict == "accurate"


def test_weights_that_no_limit_lets_through_are_a_reason_too() -> None:
    program = dipc.load(
        """program p; output y : {0, 1};
        y <- choose { 0 : 1/2 + exp(-eps) - exp(-2*eps) - exp(-3*eps)/2,
                      1 : 1/2 - exp(-eps) + exp(-2*eps) + exp(-3*eps)/2 }"""
    )
    limits = Limits(intervals=0, bits=8)
    report = dipc.check(program, [{"y": 1}], beta="3/4", limits=limits)
    assert report.verdict == "undecided"
    assert report.rows[0].closed_form is None
    assert dipc.check(program, [{"y": 1}], beta="3/4").verdict == "accurate"
