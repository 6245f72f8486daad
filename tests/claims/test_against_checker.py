"""Values and trends of random claim expressions, against the checker's own evaluation of the same text."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.parametric import Parametric, TooLarge, rebuild
from dipc.claims.conditions import trend
from dipc.claims.expression import ClaimExpression
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import DiagnosticError
from dipc.verifier import claims as checker
from dipc.verifier.reading import Budget, Rejected
from tests.patience import examples

LEAVES = st.sampled_from([
    "exp(-alpha*eps)", "exp(-alpha*eps/2)", "exp(-gamma*eps)", "exp(-eps)", "alpha", "gamma", "eps", "1", "2", "1/3",
    "alpha*eps", "exp(alpha*eps/4)", "exp(-min(alpha, gamma)*eps)", "exp(-max(1, gamma)*eps/3)",
])  # fmt: skip


def compounds(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    selected = st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
    return st.one_of(binary, binary, selected, *(inner.map(form.format) for form in ("(-{})", "abs({})", "({})^2")))


EXPRESSIONS = st.recursive(LEAVES, compounds, max_leaves=6)
POINTS = st.fractions("1/20", 5, max_denominator=20)


def value_at(closed: checker.Closed, eps: Fraction) -> float:
    above, below = (sum(float(c * eps**k) * math.exp(q * eps) for (k, q), c in ring.items()) for ring in closed)
    return above / below


def of_checker(text: str, distances: dict[str, Fraction], eps: Fraction) -> float | None:
    """The value at `distances` and `eps` by the checker; None if it does not certify the expression."""
    names = {name: checker.Form.unknown(name) for name in distances}
    try:
        beta = checker.beta_of(text, names, lambda form: substituted(form, distances), Budget())
    except (Rejected, ZeroDivisionError):
        return None
    assert beta is None or not isinstance(beta, checker.Enclosed)
    return None if beta is None else min(max(value_at(form, eps) for form in forms) for forms in beta)


def substituted(form: checker.Form, distances: dict[str, Fraction]) -> checker.Closed:
    total: dict[tuple[int, Fraction], Fraction] = {}
    for growth, ring in form.numerator.items():
        factor = math.prod((distances[name] ** j for name, j, _ in growth), start=Fraction(1))
        rate = sum((distances[name] * r for name, _, r in growth), Fraction(0))
        for (k, q), c in ring.items():
            total[k, q + rate] = total.get((k, q + rate), Fraction(0)) + c * factor
    return total, form.denominator


@settings(max_examples=examples(300))
@given(EXPRESSIONS, POINTS, POINTS, POINTS)
def test_both_find_the_same_value(text: str, alpha: Fraction, gamma: Fraction, eps: Fraction) -> None:
    distances = {"alpha": alpha, "gamma": gamma}
    found = of_checker(text, distances, eps)
    if found is None:
        return
    expression = ClaimExpression.parse("beta", text, "<beta>")
    numbers = {name: Parametric.number(value) for name, value in distances.items()}
    low, high = PiecewiseForm(expression.value(numbers, [Interval(eps, eps, True, True)])).enclosure(eps)
    slack = 1e-9 * (1 + abs(found))
    assert float(low) - slack <= found <= float(high) + slack
    # With the distances left open, and put in afterwards.
    names = {name: Parametric.unknown(name) for name in distances}
    with suppress(DiagnosticError, TooLarge):
        opened = rebuild(expression.value(names), lambda leaf: leaf.substituted(numbers))
        assert opened is not None
        low, high = PiecewiseForm(opened).enclosure(eps)
        assert float(low) - slack <= found <= float(high) + slack


@settings(max_examples=examples(200))
@given(EXPRESSIONS, st.sampled_from(["alpha", "gamma"]))
def test_what_the_checker_proves_to_fall_is_proved_here(text: str, name: str) -> None:
    if checker.never_grows(text, [name], {}, Budget()):
        names = {each: Parametric.unknown(each) for each in ("alpha", "gamma")}
        found = trend(ClaimExpression.parse("beta", text, "<beta>"), name, names, [Interval.POSITIVE])
        assert found.growth is None
        assert found.continuous
        if "abs" not in text:  # Here abs of a minimum stays one, and the checker looks at the signs of both.
            assert found.falls
