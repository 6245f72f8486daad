from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

import dipc
from dipc.simulation.compare import Agreement
from dipc.simulation.runs import shares, weight
from dipc.text import ast
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse_expression

EPS = Fraction(1, 2)


def exactly(expr):
    match expr:
        case ast.Number(value):
            return value
        case ast.Eps():
            return EPS
        case ast.Unary():
            return -exactly(expr.operand)
        case ast.Binary(ast.BinaryOp.MULTIPLY):
            return exactly(expr.left) * exactly(expr.right)
        case ast.Binary(ast.BinaryOp.DIVIDE):
            return exactly(expr.left) / exactly(expr.right)
    raise AssertionError(expr)


def value(text):
    return weight(parse_expression(SourceText("<weight>", text)), exactly)


def test_rational_weights_stay_exact():
    assert value("eps/(1 + eps) - 2*eps^2") == Fraction(1, 3) - Fraction(1, 2)
    assert isinstance(value("1/3"), Fraction)
    assert value("exp(0*eps)/3") == Fraction(1, 3)


def test_exponentials_have_sixty_digits():
    # e^(1/2), to 50 digits.
    assert str(value("exp(eps)")).startswith("1.6487212707001281468486507878141635716537761007101")
    assert abs(value("exp(eps)*exp(-eps)") - 1) < Decimal("1e-55")
    assert value("(1 + exp(eps))^2") == value("(1 + exp(eps))*(1 + exp(eps))")


def test_extreme_exponents_neither_overflow_nor_trouble():
    assert shares([value("exp(10000000*eps)/(1 + exp(10000000*eps))"), value("1/(1 + exp(10000000*eps))")]) == [
        1.0,
        0.0,
    ]
    with pytest.raises(ArithmeticError):
        value("exp(" + "9" * 40 + "*eps)")


def test_shares():
    assert shares([Fraction(1, 4), Fraction(3, 4)]) == [0.25, 0.75]
    assert shares([Fraction(1, 4), Fraction(3, 4) + Fraction(1, 10**30)]) is None
    assert shares([Fraction(5, 4), Fraction(-1, 4)]) is None
    assert shares([value("exp(-eps)"), value("1 - exp(-eps)")]) is not None
    assert shares([value("exp(-eps)"), value("1 - exp(-eps) + 1/1000000")]) is None
    assert shares([value("exp(eps)"), value("1 - exp(eps)")]) is None


@pytest.mark.parametrize(
    "weights", ["0 : (1 + (x = 2))/(2 + (x = 2)), 1 : 1/(2 + (x = 2))", "0 : (x = 2)/2, 1 : 1 - (x = 2)/2"]
)
@pytest.mark.parametrize("x", [0, 2])
def test_a_comparison_is_a_number_in_a_weight(weights: str, x: int) -> None:
    program = dipc.load(f"program p; input x : {{0..2}}; output o : {{0..1}}; o <- choose {{ {weights} }}")
    assert dipc.simulate(program, {"x": x}, 1, runs=2000).agreement is Agreement.MATCH
