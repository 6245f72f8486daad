"""Claim expressions mean what SymPy says they mean, or are refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.parametric import Parametric
from dipc.claims.expression import ClaimExpression
from dipc.sign.piecewise import proved_quotient
from dipc.text.diagnostic import Diagnostic, DiagnosticError

VALUES = {"alpha": Fraction(2), "gamma": Fraction(1, 3), "m": Fraction(3), "c": Fraction(1, 2), "dd": Fraction(5)}
NAMES = {name: Parametric.number(value) for name, value in VALUES.items()}
INFINITE = {**NAMES, "alpha": Parametric.unknown("alpha")}


def closed(text: str, names: Mapping[str, Parametric] = NAMES) -> ClosedForm:
    form = ClaimExpression.parse("beta", text, "<beta>").evaluate(names).limit()
    assert form is not None
    value = proved_quotient(form.numerator_flat(), form.denominator)
    assert value is not None
    return ClosedForm(value)


def refused(text: str, names: Mapping[str, Parametric] = NAMES) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        ClaimExpression.parse("beta", text, "<beta>").evaluate(names)
    (found,) = caught.value.diagnostics
    return found


# --- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*m*c*exp(-alpha*eps/(8*c))", "3*exp(-eps/2)"),
        ("1e-23", "1/100000000000000000000000"),
        ("0.1 + 0.2", "3/10"),
        ("exp(0) + exp(eps - eps)", "2"),
        ("exp(alpha*eps - 2*eps)", "1"),
        ("exp(eps)^3/exp(2*eps)", "exp(eps)"),
        ("(1 - exp(-eps))^2", "1 - 2*exp(-eps) + exp(-2*eps)"),
        ("eps^2*exp(-eps)/4", "eps**2*exp(-eps)/4"),
        ("min(1/2, gamma, 2) + max(m, c) + abs(-c)", "23/6"),
        ("α + γ", "7/3"),
        ("m - m*eps/eps", "0"),
        ("exp(dd*eps)", "exp(5*eps)"),
        ("-(-eps)^3", "eps**3"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert str(closed(text)) == value


number = st.integers(0, 9).map(str) | st.sampled_from(["0.25", "1e-2", "1/3", "m", "c", "alpha", "gamma", "dd"])
constant = st.recursive(
    number,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
        | st.builds("abs({})".format, inner)
    ),
    max_leaves=4,
)
exponent = st.builds("({})*eps".format, constant) | st.builds("-eps*({})/7".format, constant)
positive = st.sampled_from(
    ["eps", "exp(-eps)", "(1 + exp(-eps))", "(eps + eps^2*exp(3*eps))", "(1 - exp(-eps/2))", "4"]
)
expression = st.recursive(
    constant | st.just("eps") | st.builds("exp({})".format, exponent),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("({})^{}".format, inner, st.integers(0, 3))
        | st.builds("({})/{}".format, inner, positive)
        | st.builds("(-{})".format, inner)
    ),
    max_leaves=7,
)


@given(expression, st.fractions(min_value=Fraction(1, 20), max_value=6, max_denominator=20))
def test_sympy_agrees(text: str, eps: Fraction) -> None:
    """SymPy evaluates the same text with exact rationals; our closed form must contain its value."""
    form = closed(text)
    names: dict[str, object] = {name: _rational(value) for name, value in VALUES.items()}
    functions = {"min": sympy.Min, "max": sympy.Max, "abs": sympy.Abs}
    read = sympy.sympify(text, locals={**names, **functions}, rational=True)
    value = read.subs(sympy.Symbol("eps"), _rational(eps))
    low, high = form.enclosure(eps, digits=25)
    if low == high == 0:
        assert abs(value.evalf(30)) < sympy.Rational(1, 10**20)
    else:
        slack = sympy.Rational(1, 10**18) * max(abs(_rational(low)), abs(_rational(high)))
        assert _rational(low) - slack <= value.evalf(40, maxn=2000) <= _rational(high) + slack


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


# --- infinite distances ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*m*exp(-alpha*eps/4)", "0"),
        ("1/2 + exp(-alpha*eps)", "1/2"),
        ("alpha^3*exp(-alpha*eps) + eps*exp(-eps)", "eps*exp(-eps)"),
        ("exp(-alpha*eps - eps)*exp(alpha*eps)", "exp(-eps)"),
        ("alpha - alpha + 1", "1"),
        ("exp(-(alpha + 3)*eps)/(1 + exp(-eps))", "0"),
        ("(1 + exp(-alpha*eps))^2", "1"),
        ("exp(-eps)/exp(alpha*eps)", "0"),
        ("exp(-alpha*eps)/exp(-alpha*eps)", "1"),
    ],
)
def test_limits(text: str, value: str) -> None:
    assert str(closed(text, INFINITE)) == value


@given(expression, st.fractions(min_value=Fraction(1, 4), max_value=4, max_denominator=4))
def test_a_vanishing_term_vanishes(text: str, rate: Fraction) -> None:
    finite = {name: value for name, value in NAMES.items() if name != "alpha"}
    plain = text.replace("alpha", "dd")
    combined = f"{plain} + alpha*exp(-({rate})*alpha*eps)"
    assert closed(combined, {**finite, "alpha": Parametric.unknown("alpha")}) == closed(plain, finite)


@pytest.mark.parametrize("text", ["alpha", "exp(alpha*eps)", "eps - alpha*eps", "alpha*exp(eps)", "alpha^2 - alpha"])
def test_no_limit(text: str) -> None:
    assert ClaimExpression.parse("beta", text, "<beta>").evaluate(INFINITE).limit() is None


# --- what is refused -------------------------------------------------------------------------------

OUTSIDE = (
    "write exp(q*eps) with a rational q or, in beta, exp(-c*eps^2) with c > 0: exp(1) and exp(eps^2) "
    "cannot be decided exactly"
)
KNOWN = "beta may mention `eps`, `alpha`, `c`, `dd`, `gamma` and `m`"


@pytest.mark.parametrize(
    ("text", "code", "message", "label", "notes", "column", "length"),
    [
        ("1 + exp(eps^2)", "E0603", "the exponent is not a rational multiple of eps", "", (OUTSIDE,), 9, 5),
        ("exp(eps*exp(eps))", "E0603", "the exponent is not a rational multiple of eps", "", (OUTSIDE,), 5, 12),
        ("exp(1)", "E0603", "the exponent is not a rational multiple of eps", "this is 1", (OUTSIDE,), 5, 1),
        ("exp(eps + m)", "E0603", "the exponent is not a rational multiple of eps", "", (OUTSIDE,), 5, 7),
        ("exp(1/eps)", "E0603", "the exponent is not a rational multiple of eps", "", (OUTSIDE,), 5, 5),
        ("2*alfa", "E0602", "`alfa` is not known in beta", "", ("did you mean `alpha`?", KNOWN), 3, 4),
        ("n", "E0602", "`n` is not known in beta", "", (KNOWN,), 1, 1),
        ("1/(c - 1/2)", "E0607", "division by zero", "this is 0", (), 4, 7),
        ("1/(eps - eps)", "E0607", "division by zero", "this is 0", (), 4, 9),
        ("true", "E0604", "beta must be a number, not a truth value", "", (), 1, 4),
        ("1 < 2", "E0604", "beta must be a number, not a truth value", "", (), 1, 5),
        ("1 and 2", "E0604", "beta must be a number, not a truth value", "", (), 1, 7),
        ("q[1]", "E0604", "beta cannot depend on the program's variables", "",
         ("give values that differ from row to row in a column of the table",), 1, 4),
        ("2*abs(1 - eps)", "E0491", "beta is not one closed form for every eps", "",
         ("only beta and delta may contain min, max and abs",), 1, 14),
        ("2/(1 - eps)", "E0608", "beta divides by something that is 0 at eps = 1", "",
         ("the divisor must not be 0 for any eps in (0, inf)",), 4, 7),
        ("(1 + exp(-eps) + eps)^900", "E0613", "beta has too many terms when multiplied out", "", (), 1, 25),
        ("(10^1000)^1000", "E0613", "beta has too many terms when multiplied out", "", (), 1, 14),
        ("1e-900^6", "E0613", "beta has a number of more than 13000 bits", "", (), 1, 8),
    ],
)  # fmt: skip
def test_refusals(
    text: str, code: str, message: str, label: str, notes: tuple[str, ...], column: int, length: int
) -> None:
    found = refused(text)
    assert (found.code, found.message, found.label, found.notes) == (code, message, label, notes)
    assert found.excerpt is not None
    assert (found.excerpt.file, found.excerpt.line) == ("<beta>", 1)
    assert (found.excerpt.column, found.excerpt.length) == (column, length)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1/alpha", "E0609"),
        ("exp(-eps)/(1 + exp(-alpha*eps))", "E0609"),
        ("exp(-alpha)", "E0603"),
        ("exp(-alpha^2*eps)", "E0603"),
        ("min(eps*alpha, (exp(eps) - 2)*alpha)", "E0491"),
    ],
)
def test_refusals_with_an_infinite_distance(text: str, code: str) -> None:
    assert refused(text, INFINITE).code == code


# --- denominators ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proved"),
    [
        ("eps", True),
        ("1 + exp(-eps)", True),
        ("1 - exp(-eps)", True),
        ("exp(-eps) - 1", True),
        ("exp(eps) - 1 - eps", True),
        ("(exp(eps) - 3)^2 + exp(-eps)", True),
        ("-eps - exp(eps)", True),
        ("exp(eps) - 2", False),
        ("(exp(eps) - 2)^2", False),
        ("eps - 1", False),
    ],
)
def test_denominators_need_one_sign(text: str, proved: bool) -> None:
    below = ClaimExpression.parse("beta", text, "<beta>").evaluate({}).flat()
    assert below is not None
    value = proved_quotient(ExpPoly.ONE, below)
    assert (value is not None) == proved
    if value is not None:
        assert value * below == 1
