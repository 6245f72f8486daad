"""Closed forms as numbers of people: arithmetic, comparison for every eps, sign, supremum."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
import sympy

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly

E = ClosedForm(ExpPoly.term(1, 0, -1))
"""exp(-eps)"""


def test_arithmetic_is_that_of_functions() -> None:
    found = (2 - E) * (E + Fraction(1, 3)) / (1 + E) - Decimal("0.25")
    x = sympy.exp(-dipc.eps)
    wanted = (2 - x) * (x + sympy.Rational(1, 3)) / (1 + x) - sympy.Rational(1, 4)
    assert sympy.simplify(found.expr - wanted) == 0
    assert -E + E == 0
    assert 1 / (1 / E) == E


def test_a_constant_equals_its_number_and_has_its_hash() -> None:
    third = ClosedForm.convert(Fraction(1, 3))
    assert third == Fraction(1, 3)
    assert hash(third) == hash(Fraction(1, 3))
    assert E != 1
    assert Decimal(1) == E - E + 1


@pytest.mark.parametrize("wrong", [0.5, "1", True, None])
def test_inexact_numbers_are_no_operands(wrong: object) -> None:
    with pytest.raises(TypeError):
        E + wrong  # type: ignore[operator]
    assert wrong != E


@pytest.mark.parametrize("divisor", [E - E, E - Fraction(1, 2), 1 - 2 * E])
def test_a_divisor_that_may_be_zero_is_refused(divisor: ClosedForm) -> None:
    with pytest.raises(ZeroDivisionError):
        E / divisor


def test_one_form_is_at_least_another_for_every_eps_or_not() -> None:
    assert (1 - E).at_least(0).verdict is dipc.Verdict.ACCURATE
    found = (1 - E).at_least(Fraction(1, 2))
    assert found.verdict is dipc.Verdict.INACCURATE
    assert found.counterexample is not None
    assert found.counterexample.probability[1] < Fraction(1, 2)
    assert (1 - E).at_least(Fraction(1, 2), eps="[1, inf)").verdict is dipc.Verdict.ACCURATE


def test_past_a_limit_it_is_undecided_and_never_a_truth_value() -> None:
    found = (E * E - E + Fraction(1, 3)).at_least(Fraction(1, 13), limits=dipc.Limits(intervals=1, bits=8))
    assert found.verdict is not dipc.Verdict.INACCURATE
    with pytest.raises(TypeError, match="three verdicts"):
        assert found


def test_neither_is_a_form_true_or_false() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        assert E


def test_the_sign_comes_in_pieces() -> None:
    below, zero, above = (1 - 2 * E).sign("(0, 1]")
    assert (below.sign, zero.sign, above.sign) == (-1, 0, 1)
    assert zero.start.low < Fraction("0.6931471806")
    assert zero.start.high is not None
    assert zero.start.high > Fraction("0.6931471805")
    assert above.end.included
    assert [piece.sign for piece in (E - E).sign()] == [0]


def test_the_supremum_says_where_it_is() -> None:
    found = (E - E * E).sup(digits=12)
    assert (found.low, found.high) == (Fraction(1, 4), Fraction(1, 4))
    assert found.attained is True
    assert found.eps is not None
    assert found.eps[0] <= Fraction("0.69314718056") <= found.eps[1] + Fraction(1, 10**9)
    assert (1 - E).sup().eps is None
    assert (1 - E).sup().attained is False
    assert ClosedForm(ExpPoly.term(1, 1)).sup().high is None


def test_floats_are_the_nearest() -> None:
    assert E.float(1) == 0.36787944117144233
    assert ClosedForm.convert(Fraction(1, 10)).float(7) == 0.1


def test_notebooks_show_formulas() -> None:
    assert (1 - E)._repr_html_().startswith('<math display="block" alttext="1 - exp(-eps)">')
    assert (1 - E)._repr_latex_() == r"$1 - e^{-\varepsilon}$"
