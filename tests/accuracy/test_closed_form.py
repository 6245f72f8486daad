from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.accuracy.closed_form import ClosedForm
from dipc.exact.exppoly import ExpPoly
from dipc.exact.quotient import Quotient

small = st.fractions(min_value=-4, max_value=4, max_denominator=9)
polynomials = st.lists(st.tuples(st.integers(0, 3), small, small), max_size=6).map(ExpPoly.from_terms)


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ([], "0"),
        ([(0, 0, 1)], "1"),
        ([(0, 0, -1)], "-1"),
        ([(0, 0, Fraction(5, 48))], "5/48"),
        ([(1, 0, 1)], "eps"),
        ([(0, -1, 1)], "exp(-eps)"),
        ([(2, 1, Fraction(-1, 2))], "-eps**2*exp(eps)/2"),
        (
            [(0, 0, 1), (0, Fraction(-1, 9), Fraction(-2, 3)), (1, Fraction(-2, 9), Fraction(1, 4))],
            "1 - 2*exp(-eps/9)/3 + eps*exp(-2*eps/9)/4",
        ),
        ([(0, -1, 1), (1, -1, 1), (0, 3, 7)], "7*exp(3*eps) + eps*exp(-eps) + exp(-eps)"),
    ],
)
def test_text(terms: list[tuple[int, Fraction | int, Fraction | int]], text: str) -> None:
    assert str(ClosedForm(ExpPoly.from_terms(terms))) == text


def test_quotient_text() -> None:
    below = ExpPoly.one() + ExpPoly.term(1, 0, -1)
    form = ClosedForm(Quotient(ExpPoly.one() - ExpPoly.term(1, 0, -1), below))
    assert sympy.simplify(sympy.sympify(str(form)) - sympy.sympify("(1 - exp(-eps))/(1 + exp(-eps))")) == 0
    with pytest.raises(ValueError, match="quotient"):
        _ = form.exppoly


@given(polynomials)
def test_sympy_reads_the_text_as_the_same_function(value: ExpPoly) -> None:
    form = ClosedForm(value)
    read = sympy.sympify(str(form)).subs(sympy.Symbol("eps"), dipc.eps)
    assert sympy.expand(read - form.expr) == 0
    assert sympy.sympify(form) == form.expr


@given(polynomials, st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50))
def test_at_encloses_the_value(value: ExpPoly, eps: Fraction) -> None:
    low, high = ClosedForm(value).at(eps)
    with mpmath.workdps(60):
        exact = sum(
            (_mpf(c) * _mpf(eps) ** k * mpmath.exp(_mpf(q * eps)) for k, q, c in value.terms()), start=mpmath.mpf(0)
        )
        slack = mpmath.mpf(10) ** -45 * (1 + abs(exact))
        assert _mpf(low) - slack <= exact <= _mpf(high) + slack
    assert high - low <= Fraction(1, 10**29) * max(abs(low), abs(high))


def _mpf(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@given(polynomials, polynomials)
def test_equality_is_equality_of_functions(left: ExpPoly, right: ExpPoly) -> None:
    assert (ClosedForm(left) == ClosedForm(right)) == (left - right).is_zero()
    assert ClosedForm(left + right - right) == ClosedForm(left)
    assert hash(ClosedForm(left + right - right)) == hash(ClosedForm(left))


def test_at_takes_exact_positive_numbers_only() -> None:
    form = ClosedForm(ExpPoly.one())
    assert form.at("17/10") == (1, 1)
    with pytest.raises(TypeError, match="floating-point"):
        form.at(1.7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="eps is positive, not 0"):
        form.at(0)


def test_there_is_one_symbol() -> None:
    assert dipc.eps is dipc.eps
    assert dipc.eps.is_positive
    assert str(dipc.eps) == "eps"
