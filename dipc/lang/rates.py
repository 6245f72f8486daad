"""The rates of distributions, a*eps with a > 0, and the weights of `choose`, expressions in eps."""

from __future__ import annotations

from fractions import Fraction

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.ast import BinaryOp, UnaryOp
from dipc.lang.codes import Code
from dipc.lang.display import show_multiple
from dipc.lang.expressions import FIX_EPS, Elaborator
from dipc.lang.limits import MAX_POWER
from dipc.lang.tree import walk
from dipc.lang.values import ValueTooLarge, bounded

#: constant + slope * eps
_InEps = tuple[Fraction, Fraction]
_ZERO = Fraction(0)


class _NotLinear(Exception):
    """Why an expression is not constant + slope * eps; `reason` None when that has been reported."""

    def __init__(self, span: Span, reason: str | None) -> None:
        super().__init__(reason)
        self.span = span
        self.reason = reason


def rate(expr: ast.Expr, elaborator: Elaborator) -> Fraction | None:
    """The positive a of the rate a*eps; None when `expr` is no such rate, which has been reported."""
    try:
        constant, slope = _linear(expr, elaborator)
    except _NotLinear as error:
        if error.reason is None:
            return None
        if elaborator.scope.eps.value is not None:
            return _fixed_rate(expr, elaborator)
        _bad_rate(error.span, f"a rate is a positive multiple of eps, and {error.reason}", elaborator, FIX_EPS)
        return None
    if constant != 0 and elaborator.scope.eps.value is not None:
        return _fixed_rate(expr, elaborator)
    if slope == 0:
        note = "write `eps`, `eps/2`, `eps/(4*c)`, ..."
        _bad_rate(expr.span, "the rate does not contain eps", elaborator, note, FIX_EPS)
    elif constant != 0:
        message = f"a rate is a positive multiple of eps, and this adds {constant}"
        _bad_rate(expr.span, message, elaborator, FIX_EPS)
    elif slope < 0:
        _bad_rate(expr.span, f"the rate {show_multiple(slope)} is negative", elaborator)
    else:
        return slope
    return None


def _fixed_rate(expr: ast.Expr, elaborator: Elaborator) -> Fraction | None:
    """The a > 0 such that a*eps is the rate at the one eps that the program is read at."""
    slope = _over_fixed(expr, elaborator)
    if slope is not None and slope <= 0:
        at = elaborator.scope.eps.value
        assert at is not None
        _bad_rate(expr.span, f"the rate is {slope * at} at eps = {at}, and not positive", elaborator)
        return None
    return slope


def _over_fixed(expr: ast.Expr, elaborator: Elaborator) -> Fraction | None:
    """expr/eps at the one eps that the program is read at; None where it has no value, which has been reported."""
    whole = ast.Binary(BinaryOp.DIVIDE, expr, ast.Eps(expr.span), expr.span)
    return elaborator.constant(whole, "a rate or an exponent")


def _bad_rate(span: Span, message: str, elaborator: Elaborator, *notes: str) -> None:
    elaborator.report_value(Code.BAD_RATE, span, message, notes=notes or ("write `a*eps` with a constant a > 0",))


def _linear(expr: ast.Expr, elaborator: Elaborator) -> _InEps:
    """constant + slope * eps; raises _NotLinear."""
    match expr:
        case ast.Eps():
            return _ZERO, Fraction(1)
        case ast.Unary(UnaryOp.NEGATE, operand):
            constant, slope = _linear(operand, elaborator)
            return -constant, -slope
        case ast.Binary(BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY | BinaryOp.DIVIDE):
            left, right = _linear(expr.left, elaborator), _linear(expr.right, elaborator)
            try:
                return _combined(expr, left, right)
            except ZeroDivisionError:
                raise _NotLinear(expr.right.span, "this divides by zero") from None
            except ValueTooLarge:
                raise _NotLinear(expr.span, "this number has too many digits") from None
        case ast.Binary(BinaryOp.POWER, ast.Eps()):
            raise _NotLinear(expr.span, f"`{elaborator.findings.snippet(expr.span)}` is not linear in eps")
        case _:
            return _constant(expr, elaborator), _ZERO


def _combined(expr: ast.Binary, left: _InEps, right: _InEps) -> _InEps:
    (a, b), (c, d) = left, right
    match expr.op:
        case BinaryOp.ADD:
            return bounded(a + c), bounded(b + d)
        case BinaryOp.SUBTRACT:
            return bounded(a - c), bounded(b - d)
        case BinaryOp.MULTIPLY:
            if b != 0 and d != 0:
                raise _NotLinear(expr.span, "this multiplies eps by eps")
            return bounded(a * c), bounded(a * d + b * c)
        case _:
            if d != 0:
                raise _NotLinear(expr.span, "this divides by eps")
            return bounded(a / c), bounded(b / c)


def _constant(expr: ast.Expr, elaborator: Elaborator) -> Fraction:
    if any(isinstance(part, ast.Eps) for part in walk(expr)):
        raise _NotLinear(expr.span, f"`{elaborator.findings.snippet(expr.span)}` is not linear in eps")
    value = elaborator.constant(expr, "what multiplies eps", or_chosen=True)
    if value is None:
        raise _NotLinear(expr.span, None)
    return value


def weight(expr: ast.Expr, elaborator: Elaborator) -> ast.Expr | None:
    """The weight with every constant replaced by its number: only numbers, eps, exp(q*eps), + - * / and ^ are left.

    None when it is something else, which has been reported.
    """
    if not any(
        isinstance(part, ast.Eps) or (isinstance(part, ast.Call) and part.function == "exp") for part in walk(expr)
    ):
        value = elaborator.constant(expr, "this part of a weight", or_chosen=True)
        return None if value is None else _number(value, expr.span)
    match expr:
        case ast.Eps():
            return expr
        case ast.Unary(UnaryOp.NEGATE, operand):
            inner = weight(operand, elaborator)
            return None if inner is None else ast.Unary(UnaryOp.NEGATE, inner, expr.span)
        case ast.Binary(BinaryOp.POWER, base, exponent):
            inner, times = weight(base, elaborator), elaborator.integer(exponent, "an exponent")
            if inner is None or times is None:
                return None
            if not 0 <= times <= MAX_POWER:
                message = f"an exponent is a natural number up to {MAX_POWER}, and this is {times}"
                elaborator.report_value(
                    Code.BAD_WEIGHT, exponent.span, message, notes=("write 1/x for a negative power",)
                )
                return None
            return ast.Binary(BinaryOp.POWER, inner, _number(Fraction(times), exponent.span), expr.span)
        case ast.Binary(BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY | BinaryOp.DIVIDE, left, right):
            first, second = weight(left, elaborator), weight(right, elaborator)
            return None if first is None or second is None else ast.Binary(expr.op, first, second, expr.span)
        case ast.Call("exp", (argument,)):
            return _exponential(expr, argument, elaborator)
        case _:
            message = f"`{elaborator.findings.snippet(expr.span)}` cannot stand in a weight"
            notes = ("weights are made of numbers, constants, eps, exp(q*eps), + - * / and ^",)
            elaborator.findings.report(Code.BAD_WEIGHT, expr.span, message, notes=notes)
            return None


def _exponential(expr: ast.Call, argument: ast.Expr, elaborator: Elaborator) -> ast.Expr | None:
    try:
        constant, slope = _linear(argument, elaborator)
        reason = f"this adds {constant}" if constant != 0 else None
        span = argument.span
    except _NotLinear as error:
        if error.reason is None:
            return None
        slope, reason, span = _ZERO, error.reason, error.span
    if reason is not None and elaborator.scope.eps.value is not None:
        fixed = _over_fixed(argument, elaborator)
        if fixed is None:
            return None
        slope = fixed
    elif reason is not None:
        message = f"the argument of exp is a rational multiple of eps, and {reason}"
        elaborator.report_value(
            Code.BAD_WEIGHT, span, message, notes=("write `exp(eps/2)`, `exp(-3*eps)`, ...", FIX_EPS)
        )
        return None
    scaled = ast.Binary(BinaryOp.MULTIPLY, _number(slope, argument.span), ast.Eps(argument.span), argument.span)
    return ast.Call("exp", (scaled,), expr.span)


def _number(value: Fraction, span: Span) -> ast.Expr:
    """The number as the parser would give it: a negative one is a negation, a fraction a division."""
    size = abs(value)
    node: ast.Expr = ast.Number(Fraction(size.numerator), str(size.numerator), span)
    if size.denominator != 1:
        below = ast.Number(Fraction(size.denominator), str(size.denominator), span)
        node = ast.Binary(BinaryOp.DIVIDE, node, below, span)
    return ast.Unary(UnaryOp.NEGATE, node, span) if value < 0 else node
