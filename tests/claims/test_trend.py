"""Whether beta falls: what is proved against values, for random expressions."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.parametric import Parametric
from dipc.claims.conditions import Trend, trend
from dipc.claims.expression import ClaimExpression
from dipc.sign.interval import Interval

EPS = (0.05, 0.5, 1.0, 3.0)
VALUES = (0.0, 0.2, 0.7, 1.0, 2.5, 6.0)


def trend_of(text: str, unknown: str = "alpha", **known: int) -> Trend:
    names = {name: Parametric.unknown(name) for name in ("alpha", "gamma", "dd")}
    names |= {name: Parametric.number(value) for name, value in known.items()}
    return trend(ClaimExpression.parse("beta", text, "<beta>"), unknown, names, [Interval.POSITIVE])


@pytest.mark.parametrize("text", [
    "2*3*exp(-alpha*eps/8)",
    "exp(-alpha*eps/2) + exp(-eps)",
    "exp(-alpha*eps)*exp(-gamma*eps/3)",
    "(1 + alpha*eps)*exp(-alpha*eps)",
    "exp(-alpha*eps)/(1 + exp(-eps))",
    "1/(1 + alpha*eps)",
    "exp(-eps)/(1 + exp(alpha*eps) + alpha)",
    "min(1, max(exp(-alpha*eps), exp(-eps)))",
    "exp(-alpha*eps)^3*gamma",
    "1 - (1 - exp(-alpha*eps))^2",
    "-alpha",
    "abs(0 - exp(-alpha*eps))",
    "5",
    "erfc(alpha*eps)",
    "exp(-eps)*erfc(alpha*eps/2) + exp(-alpha^2*eps^2)",
    "(eps - 1)^2*exp(-alpha*eps)",
    "sum(i in 1..2 : min(1, exp(-alpha*eps))/i)",
    "exp(-alpha*eps) - exp(-min(alpha, gamma)*eps)",
    "min(exp(-alpha*eps), erfc(gamma*eps/sqrt(2)))",
])  # fmt: skip
def test_these_fall(text: str) -> None:
    found = trend_of(text)
    assert found.falls
    assert found.growth is None
    assert found.continuous


@pytest.mark.parametrize("text", ["1 - erfc(alpha*eps)/2", "erfc(-alpha*eps)", "erfc(eps - alpha*eps)"])
def test_what_grows_by_erfc_is_not_said_to_fall(text: str) -> None:
    found = trend_of(text)
    assert found.rises
    assert not found.falls


@pytest.mark.parametrize(("text", "place"), [
    ("exp(alpha*eps)", "where alpha*eps = 1"),
    ("(1 + 2*alpha*eps)*exp(-alpha*eps)", "where alpha*eps = 1/3"),
    ("1 - exp(-alpha*eps)", "where alpha*eps = 1"),
    ("exp(-alpha*eps) + alpha*exp(-gamma*eps)", None),
    ("gamma*alpha*eps - alpha", None),
])  # fmt: skip
def test_these_grow(text: str, place: str | None) -> None:
    found = trend_of(text)
    assert not found.falls
    assert found.growth is not None
    assert place is None or str(found.growth) == place


def test_divisors_that_may_be_zero_are_jumps() -> None:
    assert not trend_of("1/(1 - alpha)").continuous
    assert not trend_of("1/(1 - alpha)").falls
    assert trend_of("1/(1 - exp(-eps)/2)").continuous
    assert not trend_of("1/alpha").continuous
    assert not trend_of("(1/alpha)^0").continuous


# --- random expressions ----------------------------------------------------------------------------

_LEAVES = st.sampled_from([
    "exp(-alpha*eps)", "exp(-alpha*eps/2)", "exp(-gamma*eps)", "exp(-eps)", "alpha", "gamma", "eps", "1", "2", "1/3",
    "alpha*eps", "exp(alpha*eps/4)", "erfc(alpha*eps/2)", "exp(-alpha*alpha*eps*eps)",
])  # fmt: skip


def _compounds(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    selected = st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
    return st.one_of(binary, binary, selected, *(inner.map(form.format) for form in ("(-{})", "abs({})", "erfc({})")))


EXPRESSIONS = st.recursive(_LEAVES, _compounds, max_leaves=5)


def value(text: str, alpha: float, gamma: float, eps: float) -> float | None:
    names = {"alpha": alpha, "gamma": gamma, "eps": eps, "min": min, "max": max, "abs": abs}
    names |= {"exp": math.exp, "erfc": math.erfc}
    try:
        return float(eval(text, {"__builtins__": {}}, names))
    except ZeroDivisionError:
        return None


@given(EXPRESSIONS)
def test_what_is_proved_is_so(text: str) -> None:
    found = trend_of(text)
    for gamma, eps in product((0.0, 1.0, 4.0), EPS):
        values = [value(text, alpha, gamma, eps) for alpha in VALUES]
        if found.continuous and "/" not in text.replace("/2)", "").replace("/4)", "").replace("1/3", ""):
            assert None not in values
        known = [number for number in values if number is not None]
        slack = 1e-9 * (1 + max(map(abs, known), default=0))
        if found.falls and found.continuous:
            assert all(b <= a + slack for a, b in pairwise(known)), (gamma, eps)
        if found.rises and found.continuous:
            assert all(b >= a - slack for a, b in pairwise(known)), (gamma, eps)
        if found.nonnegative and found.continuous:
            assert min(known, default=0) >= -slack
        if found.nonpositive and found.continuous:
            assert max(known, default=0) <= slack


@given(EXPRESSIONS)
def test_a_growth_is_a_place_where_it_grows(text: str) -> None:
    growth = trend_of(text, gamma=2).growth
    if growth is None:
        return
    eps = 1.0 if growth.eps is None else float(growth.eps)
    at = float(growth.product) / eps if growth.product is not None else float(growth.value or 0)
    step = 1e-5 * max(1.0, at)
    here, there = value(text, at, 2, eps), value(text, at + step, 2, eps)
    if here is not None and there is not None:
        assert there > here - 1e-12 * abs(here)
