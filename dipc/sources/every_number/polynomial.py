"""Claim expressions as polynomials in one constant, whose values are left open."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from dipc.algebra.form import Form
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.lang.ast import Binary, BinaryOp, Expr, Number, Unary, UnaryOp
from dipc.sources.every_input.scaling import selects
from dipc.sources.every_number.uniform import NotUniform, mentions

#: By power, the coefficients; zero ones may be among them.
Polynomial = dict[int, Form]

#: The greatest power.
MOST_DEGREE = 8


def polynomial(expression: ClaimExpression, parameter: str, names: Mapping[str, Form]) -> Polynomial:
    """The expression as a polynomial in the parameter, with `names` put in for all else.

    Raises NotUniform where it is none, DiagnosticError for parts without an exact value.
    """
    try:
        return _of(expression, expression.tree, parameter, names)
    except DiagnosticError as error:
        if error.diagnostics[0].code != "E0609":
            raise
        raise NotUniform(f"{expression.what} divides by a distance that is left open") from None


def shifted(of: Polynomial, start: int) -> Polynomial:
    """The polynomial in s with the parameter = start + s."""
    result: Polynomial = {}
    for power, coefficient in of.items():
        for low in range(power + 1):
            part = coefficient * Form.number(comb(power, low) * start ** (power - low))
            result[low] = result[low] + part if low in result else part
    return result


def _of(whole: ClaimExpression, node: Expr, parameter: str, names: Mapping[str, Form]) -> Polynomial:
    if selects(node, names):
        raise NotUniform(f"{whole.what} has a minimum, a maximum or an absolute value")
    if not mentions(node, parameter):
        return {0: ClaimExpression(whole.what, whole.source, node).evaluate(names)}
    match node:
        case Unary(op=UnaryOp.NEGATE, operand=operand):
            return {power: -value for power, value in _of(whole, operand, parameter, names).items()}
        case Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT as op, left=left, right=right):
            other = _of(whole, right, parameter, names)
            if op is BinaryOp.SUBTRACT:
                other = {power: -value for power, value in other.items()}
            return _sum(_of(whole, left, parameter, names), other)
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            return _product(_of(whole, left, parameter, names), _of(whole, right, parameter, names))
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right) if not mentions(right, parameter):
            divisor = ClaimExpression(whole.what, whole.source, right).evaluate(names)
            if divisor.constant():
                quotients = {power: value / divisor for power, value in _of(whole, left, parameter, names).items()}
                return {power: value for power, value in quotients.items() if value is not None}
        case Binary(op=BinaryOp.POWER, left=left, right=Number(value=exponent)):
            result: Polynomial = {0: Form.number(1)}
            for _ in range(int(exponent)):
                result = _product(result, _of(whole, left, parameter, names))
            return result
        case _:
            if mentions(node, parameter) and getattr(node, "name", None) == parameter:
                return {1: Form.number(1)}
    raise NotUniform(f"{whole.what} is no polynomial in `{parameter}`")


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    result = dict(left)
    for power, value in right.items():
        result[power] = result[power] + value if power in result else value
    return result


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for a, one in left.items():
        for b, two in right.items():
            if a + b > MOST_DEGREE:
                raise NotUniform(f"beta has a degree of more than {MOST_DEGREE} in the number of queries")
            product = one * two
            result[a + b] = result[a + b] + product if a + b in result else product
    return result
