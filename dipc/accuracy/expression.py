"""Claim expressions (alpha, beta, gamma) evaluated to exact forms, with a diagnostic for all that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dipc.accuracy.form import RESULT_BIT_LIMIT, Form, TooLarge
from dipc.accuracy.names import listing, nearest
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source
from dipc.exact.exppoly import ExpPoly
from dipc.syntax.ast import (
    Binary,
    BinaryOp,
    Call,
    Compare,
    Element,
    Eps,
    Expr,
    Name,
    Number,
    Truth,
    Unary,
    UnaryOp,
)
from dipc.syntax.parser import parse_expression

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}

_FUNCTIONS = ("exp", "min", "max", "abs")


@dataclass(frozen=True, slots=True)
class ClaimExpression:
    """An expression with the text it was read from; `what` names it in messages ("beta")."""

    what: str
    source: Source
    tree: Expr

    @staticmethod
    def parse(what: str, text: str, origin: str) -> ClaimExpression:
        """Raises DiagnosticError for what is not an expression. `origin` is shown as the file's name."""
        source = Source(origin, text)
        return ClaimExpression(what, source, parse_expression(source))

    def evaluate(self, names: Mapping[str, Form]) -> Form:
        """The value with `names` put in; raises DiagnosticError where it has none in the ring."""
        value = _Evaluation(self, names).value(self.tree)
        if value.bits() > RESULT_BIT_LIMIT:
            raise self.error("E0613", f"{self.what} has a number of more than {RESULT_BIT_LIMIT} bits", self.tree)
        return value

    def error(self, code: str, message: str, node: Expr, label: str = "", *notes: str) -> DiagnosticError:
        """What to raise about `node`, a part of this expression."""
        return DiagnosticError(Diagnostic(code, message, self.source.excerpt(node.span), label, notes))


@dataclass(frozen=True, slots=True)
class _Evaluation:
    expression: ClaimExpression
    names: Mapping[str, Form]

    def value(self, node: Expr) -> Form:
        match node:
            case Number(value=value):
                return Form.number(value)
            case Eps():
                return Form.of(ExpPoly.term(1, 1, 0))
            case Name():
                return self._name(node)
            case Unary(op=UnaryOp.NEGATE, operand=operand):
                return -self.value(operand)
            case Binary():
                return self._binary(node)
            case Call():
                return self._call(node)
            case Truth() | Compare() | Unary():
                raise self._error("E0604", f"{self.expression.what} is a number, not a truth value", node)
            case Element():
                raise self._error(
                    "E0604",
                    f"{self.expression.what} may not depend on the program's variables",
                    node,
                    "",
                    "give values that differ from row to row in a column of the table",
                )
        assert_never(node)

    def _error(self, code: str, message: str, node: Expr, label: str = "", *notes: str) -> DiagnosticError:
        return self.expression.error(code, message, node, label, *notes)

    def _name(self, node: Name) -> Form:
        name = node.name if node.name in self.names else _GREEK.get(node.name, node.name)
        if name in self.names:
            return self.names[name]
        close = nearest(name, ["eps", *_FUNCTIONS, *self.names])
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append(f"{self.expression.what} may mention {listing(['eps', *sorted(self.names)], limit=20)}")
        raise self._error("E0602", f"`{node.name}` is not known in {self.expression.what}", node, "", *notes)

    def _binary(self, node: Binary) -> Form:
        if node.op in {BinaryOp.AND, BinaryOp.OR}:
            raise self._error("E0604", f"{self.expression.what} is a number, not a truth value", node)
        left = self.value(node.left)
        try:
            match node.op:
                case BinaryOp.ADD:
                    return left + self.value(node.right)
                case BinaryOp.SUBTRACT:
                    return left + -self.value(node.right)
                case BinaryOp.MULTIPLY:
                    return left * self.value(node.right)
                case BinaryOp.DIVIDE:
                    return self._quotient(left, node)
                case BinaryOp.POWER:
                    return left.power(self._natural(node.right))
        except TooLarge:
            raise self._error("E0613", f"{self.expression.what} is too large when multiplied out", node) from None
        raise AssertionError(node.op)

    def _quotient(self, left: Form, node: Binary) -> Form:
        divisor = self.value(node.right)
        try:
            quotient = left / divisor
        except ZeroDivisionError:
            raise self._error("E0607", "division by zero", node.right, "this is 0") from None
        if quotient is None:
            raise self._error(
                "E0609",
                "division by a distance that is infinite in a row of the table",
                node.right,
                "",
                "write the limit yourself, in a column beta",
            )
        return quotient

    def _natural(self, node: Expr) -> int:
        # The parser lets only small natural literals through.
        assert isinstance(node, Number)
        assert node.value.denominator == 1
        return int(node.value)

    def _call(self, node: Call) -> Form:
        match node.function:
            case "exp":
                return self._exp(node)
            case "min":
                return Form.number(min(self._constants(node)))
            case "max":
                return Form.number(max(self._constants(node)))
            case "abs":
                return Form.number(abs(self._constants(node)[0]))
        raise AssertionError(f"the parser knows no function {node.function}")

    def _exp(self, node: Call) -> Form:
        (inner,) = node.arguments
        argument = self.value(inner)
        result = argument.exponential()
        if result is None:
            constant = argument.constant()
            raise self._error(
                "E0603",
                "the exponent is not a rational multiple of eps",
                inner,
                "" if constant is None else f"this is {constant}",
                "exp(q*eps) with a rational q can be decided exactly; exp(1) and exp(eps^2) are outside that class",
            )
        return result

    def _constants(self, node: Call) -> list[Fraction]:
        """The arguments of min, max and abs, which are evaluated only where they are numbers."""
        values = []
        for argument in node.arguments:
            value = self.value(argument).constant()
            if value is None:
                raise self._error(
                    "E0491",
                    f"`{node.function}` of an expression that depends on eps is not executed yet",
                    argument,
                    "",
                    "the claim with min(a, b) holds exactly if those with a and with b both do: check them one by one"
                    if node.function == "min"
                    else "give the pieces in separate checks, each with its own --eps interval",
                )
            values.append(value)
        return values
