"""Budgets with logarithms of rationals, and rational ones at one eps, against hand-computed deltas and losses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
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
        ("log(199/100)", "0", "log(3)", "not private"),
        ("eps", "0", "log(2)", "private"),
        ("eps", "0", "[log(2), 3]", "private"),
        ("eps", "0", "[log(199/100), 3]", "not private"),
        ("eps", "1/6", "log(3/2)", "private"),
        ("eps", "1/6 - 1/10^9", "log(3/2)", "not private"),
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
        ("log(2)", None, "not private"),
        ("log(10)", None, "not private"),
        ("log(100000)", None, "undecided"),
        ("log(3)", "(0, log(3)]", "private"),
        ("log(3)", "(0, log(3))", "private"),
        ("log(9)", "(0, log(3)]", "private"),
        ("log(3)", "(0, log(4)]", "not private"),
        ("log(3)", "(0, 109/100]", "private"),
        ("log(3)", "(0, 11/10]", "not private"),
        ("log(3) + eps", "(0, log(9)/4]", "private"),
        ("log(3)", "log(3)", "private"),
        ("log(299/100)", "log(3)", "not private"),
        ("log(4)", "log(3)", "private"),
        ("eps", "sqrt(2)", "private"),
        ("99*eps/100", "sqrt(2)", "not private"),
        ("1", "1", "private"),
        ("999/1000", "1", "not private"),
    ],
)
def test_real_outputs(budget: str, eps: str | None, verdict: str) -> None:
    report = dipc.check_privacy(dipc.load(LAPLACE), adjacent="linf:1", inputs="all", budget=budget, eps=eps)
    assert str(report.verdict) == verdict
    if verdict == "undecided":
        assert "a budget with a logarithm" in (report.reason or "")
    if report.counterexample is not None:
        assert report.counterexample.probability[0] > report.counterexample.allowed[1]


#: Its loss is eps.
TRUTHFUL = (
    "program t; input x : bool; output y : bool; "
    "if choose { true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps)) } then y <- x else y <- not x end"
)
#: The loss is that of the last answer, log(4/3) + eps.
FALLING = (
    "program f; input x : {0, 1}; output y : {0..2}; if x = 0 then "
    "y <- choose { 0 : 1/2, 1 : 1/2 - exp(-eps)/4, 2 : exp(-eps)/4 } else y <- choose { 0 : 1/3, 1 : 1/3, 2 : 1/3 } end"
)


@pytest.mark.parametrize(
    ("budget", "delta", "eps", "verdict"),
    [
        ("log(3)", "0", "(0, log(3)]", "private"),
        ("log(3)", "0", "(0, log(3) + 1/10^6]", "not private"),
        ("log(3)", "0", "[1/2, log(9)/2]", "private"),
        ("log(3)", "0", "log(3)", "private"),
        ("log(2)", "1/4", "log(3)", "private"),
        ("log(2)", "1/4", "(0, log(3)]", "private"),
        ("log(2)", "1/4 - 1/10^12", "(0, log(3)]", "not private"),
        ("log(2)", "1/4", "(0, log(4))", "not private"),
    ],
)
def test_ties_at_an_irrational_eps(budget: str, delta: str, eps: str, verdict: str) -> None:
    """The delta of log(2) at log(3) is 3/4 - 2/4."""
    report = dipc.check_privacy(dipc.load(TRUTHFUL), adjacent="hamming:1", budget=budget, delta=delta, eps=eps)
    assert str(report.verdict) == verdict


@pytest.mark.parametrize(
    ("program", "eps", "value"),
    [
        (TRUTHFUL, "log(3)", lambda: 1),
        (TRUTHFUL, "[log(2), log(3)]", lambda: 1),
        (LAPLACE, "log(3)", lambda: 1),
        (LAPLACE, "(0, log(3)]", lambda: 1),
        (FALLING, "log(3)", lambda: mpmath.log(4) / mpmath.log(3)),
        (FALLING, "[log(2), 3)", lambda: mpmath.log(mpmath.mpf(8) / 3) / mpmath.log(2)),
        (RESPONSE, "[sqrt(2), 3)", lambda: mpmath.log(2) / mpmath.sqrt(2)),
        (RESPONSE, "log(2)/3", lambda: 3),
    ],
)
def test_the_constant_at_irrational_ends(program: str, eps: str, value: Callable[[], mpmath.mpf]) -> None:
    inputs = "all" if "real" in program else None
    adjacent = "linf:1" if "real" in program else "hamming:1"
    loaded = dipc.load(program)
    engine = Engine(loaded.measurer, loaded.limits)
    constant = PrivacyQuestion(loaded, adjacent, inputs, engine).constant(eps, 12)
    assert constant.proved is not None
    assert constant.refuted_below is not None
    with mpmath.workdps(50):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in (constant.refuted_below, constant.proved))
        assert low - mpmath.mpf(10) ** -45 <= value() <= high + mpmath.mpf(10) ** -45
        assert high - low < 1e-9


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
