from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from tests.patience import examples

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
    r = ExpPoly.term(1, 0, -1)
    form = ClosedForm(Quotient(1 - r, 1 + r))
    assert str(form) == "(1 - exp(-eps))/(1 + exp(-eps))"
    # Coprime integers as coefficients, whatever the quotient was made of; parentheses only where they are needed.
    assert str(ClosedForm(Quotient((1 + r) * Fraction(5, 6), 2 + r * Fraction(2, 3)))) == (
        "(5 + 5*exp(-eps))/(12 + 4*exp(-eps))"
    )
    assert str(ClosedForm(Quotient(ExpPoly.term(-3, 1, 2), ExpPoly.term(1, 0, 1) + 2))) == (
        "-3*eps*exp(eps)/(1 + 2*exp(-eps))"
    )
    assert str(ClosedForm(Quotient((1 - r**2) * 3, 1 - r))) == "3 + 3*exp(-eps)"
    with pytest.raises(ValueError, match="quotient"):
        _ = form.exppoly


@given(polynomials)
def test_sympy_reads_the_text_as_the_same_function(value: ExpPoly) -> None:
    form = ClosedForm(value)
    read = sympy.sympify(str(form)).subs(sympy.Symbol("eps"), dipc.eps)
    assert sympy.expand(read - form.expr) == 0
    assert sympy.sympify(form) == form.expr


positive = st.lists(
    st.tuples(st.integers(0, 2), small, st.fractions(min_value=Fraction(1, 9), max_value=5)), min_size=1, max_size=3
).map(ExpPoly.from_terms)


@settings(max_examples=examples(5))
@given(polynomials, positive)
def test_sympy_reads_the_text_of_a_quotient_as_the_same_function(above: ExpPoly, below: ExpPoly) -> None:
    form = ClosedForm(Quotient(above, below))
    read = sympy.sympify(str(form)).subs(sympy.Symbol("eps"), dipc.eps)
    exact = ClosedForm(above).expr / ClosedForm(below).expr
    for expression in (read, form.expr):
        assert sympy.expand(sympy.numer(sympy.together(expression - exact))) == 0
    low, high = form.enclosure(Fraction(3, 2), digits=20)
    bottom, top = ClosedForm(above).enclosure(Fraction(3, 2)), ClosedForm(below).enclosure(Fraction(3, 2))
    assert min(low * top[0], low * top[1]) <= bottom[1]
    assert bottom[0] <= max(high * top[0], high * top[1])


@given(polynomials, st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50))
def test_at_encloses_the_value(value: ExpPoly, eps: Fraction) -> None:
    low, high = ClosedForm(value).enclosure(eps)
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
    form = ClosedForm(ExpPoly.ONE)
    assert form.enclosure("17/10") == (1, 1)
    with pytest.raises(TypeError, match="floating-point"):
        form.enclosure(1.7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="eps must be positive, not 0"):
        form.enclosure(0)


def test_there_is_one_symbol() -> None:
    assert dipc.eps is dipc.eps
    # The one that SymPy makes when it reads a closed form, so that both can be mixed.
    assert dipc.eps == sympy.sympify("exp(-eps)").free_symbols.pop()
