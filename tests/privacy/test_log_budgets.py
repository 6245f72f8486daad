"""Budgets with logarithms of rationals, and rational ones at one eps, against hand-computed deltas and losses."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from dipc.text.diagnostic import DiagnosticError

#: The loss is log(2) at every eps, and the delta of log(r) is 2/3 - r/3.
RESPONSE = (
    "program rr; const k = 2; input x : bool; output y : bool; "
    "if choose { true : 2/3, false : 1/3 } then y <- x else y <- not x end"
)
LAPLACE = "program la; input q : real; output y : real; y <- Lap(eps, q)"


@pytest.mark.parametrize(
    ("budget", "delta", "eps", "verdict"),
    [
        ("log(2)", "0", None, "private"),
        ("log(k)", "0", None, "private"),
        ("2*log(3/2) - log(9/8)", "0", None, "private"),
        ("log(2) + eps", "0", None, "private"),
        ("log(199/100)", "0", None, "not private"),
        ("eps + log(3/2)", "0", None, "not private"),
        ("eps + log(3/2)", "0", "[1/2, inf)", "private"),
        ("log(3/2)", "1/6", None, "private"),
        ("log(3/2)", "1/6 - 1/10^12", None, "not private"),
        ("log(3/2)", "max(1/6, exp(-eps)/6)", None, "private"),
        ("7/10", "0", "1", "private"),
        ("69/100", "0", "1", "not private"),
        ("7/10", "0", "1/3", "private"),
    ],
)
def test_randomized_response(budget: str, delta: str, eps: str | None, verdict: str) -> None:
    report = dipc.check_privacy(dipc.load(RESPONSE), adjacent="hamming:1", budget=budget, delta=delta, eps=eps)
    assert str(report.verdict) == verdict
    if report.counterexample is not None:
        ours, allowed = report.counterexample.probability, report.counterexample.allowed
        assert ours[0] > allowed[1]
        assert ours[0] <= Fraction(2, 3)


@pytest.mark.parametrize(
    ("budget", "eps", "verdict"),
    [
        ("log(3)", "1", "private"),
        ("log(2)", "1", "not private"),
        ("log(2)", "1/2", "private"),
        ("eps + log(2)", None, "private"),
        ("log(2)", None, "undecided"),
        ("1", "1", "private"),
        ("999/1000", "1", "not private"),
    ],
)
def test_real_outputs(budget: str, eps: str | None, verdict: str) -> None:
    report = dipc.check_privacy(dipc.load(LAPLACE), adjacent="linf:1", inputs="all", budget=budget, eps=eps)
    assert str(report.verdict) == verdict
    if verdict == "undecided":
        assert "a budget with a logarithm" in (report.reason or "")


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("log(1/2)", "a budget must be at least 0"),
        ("-1", "a budget must be at least 0"),
        ("1", "the budget is not a multiple of eps"),
        ("eps^2 + log(2)", "the budget is not a multiple of eps"),
    ],
)
def test_other_budgets_are_refused(budget: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        dipc.check_privacy(dipc.load(RESPONSE), adjacent="hamming:1", budget=budget)
    assert message in str(caught.value)
