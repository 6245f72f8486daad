"""Refuse numbers that Python rounds and the program does not.

The program reads `0.1` as 1/10, and `1/3` as a third. Rounding makes no difference in the parameters of noise and in
weights, but it may in a comparison or an answer: `0.1*x + 0.2*x <= 0.3*x` is False at x = 1. A rounded number in a
comparison or an answer is refused, and the help offers a Fraction. Exact floats such as `0.5` are read if their sums
and products with small integers are exact as well.
"""

from __future__ import annotations

import ast as python
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import assert_never

from dipc.mechanisms.module import UNKNOWN_TYPE, Module, rational
from dipc.mechanisms.types import Kind
from dipc.text import ast
from dipc.text.ast import BinaryOp, number
from dipc.text.diagnostic import Span


class Decimal(ast.Number):
    """A number that is written as a float, `0.1` or `2.0`."""


class ExactDivision(ast.Binary):
    """A quotient that Python computes exactly: `Fraction(1, 3)`."""


def exact_number(value: Fraction, span: Span) -> ast.Expr:
    """Return the number `value` as an expression at `span`, marked as a Fraction if it is not an integer."""
    match number(value, span):
        case ast.Binary(op, left, right):
            return ExactDivision(op, left, right, span)
        case ast.Unary(op, ast.Binary(division, left, right)):
            return ast.Unary(op, ExactDivision(division, left, right, span), span)
        case plain:
            return plain


def unmarked(tree: ast.ProgramTree) -> ast.ProgramTree:
    """Return `tree` with ordinary numbers and quotients in place of `Decimal` and `ExactDivision`."""

    def change(node: object) -> ast.Expr | None:
        match node:
            case Decimal(value=value, text=text, span=span):
                return ast.Number(value, text, span)
            case ExactDivision(op=op, left=left, right=right, span=span):
                return ast.Binary(op, ast.rewritten(left, change), ast.rewritten(right, change), span)
        return None

    return ast.rewritten(tree, change)


class Form(Enum):
    """The kind of a number in Python: an integer, a Fraction, or a float, exact or rounded."""

    INT = "int"
    FRACTION = "Fraction"
    RATIONAL = "int or Fraction"
    FLOAT = "exact float"
    ROUNDED = "rounded float"
    REAL = "real"


#: Binary digits behind the point up to which floats count as exact.
_MOST_BITS = 10


@dataclass(frozen=True)
class Numeric:
    """The kind of a number in Python, its `form`.

    For an exact float, `bits` is the greatest number of binary digits after the point; otherwise it is 0.
    """

    form: Form
    bits: int = 0


_INT, _REAL, _ROUNDED = Numeric(Form.INT), Numeric(Form.REAL), Numeric(Form.ROUNDED)
_FRACTION, _RATIONAL = Numeric(Form.FRACTION), Numeric(Form.RATIONAL)


def float_of(value: Fraction) -> Numeric:
    """Return the kind of a float literal with the decimal value `value`."""
    bits = value.denominator.bit_length() - 1
    exact = value.denominator == 1 << bits and bits <= _MOST_BITS and abs(value) < 1 << 40
    return Numeric(Form.FLOAT, bits) if exact else _ROUNDED


def form_of_constant(module: Module, written: python.expr) -> Numeric:
    """Return the kind of a constant of the file `module` or of a decorator, written as `written`."""
    match written:
        case python.Constant(value=str()):
            return _RATIONAL
        case python.Name(id=name) if name in module.constants:
            return form_of_constant(module, module.constants[name])
        case python.UnaryOp(operand=operand):
            return form_of_constant(module, operand)
        case python.Call():
            return _FRACTION
    value = rational(module, written)
    floats = any(isinstance(node, python.Div) or _is_float(node) for node in python.walk(written))
    return _INT if value is None or not floats else float_of(value)


def _is_float(node: python.AST) -> bool:
    return isinstance(node, python.Constant) and isinstance(node.value, float)


def _either(one: Numeric, two: Numeric) -> Numeric:
    if one == two:
        return one
    forms = {one.form, two.form}
    if Form.ROUNDED in forms:
        return _ROUNDED
    if Form.REAL in forms:
        return _REAL
    if Form.FLOAT in forms:
        return Numeric(Form.FLOAT, max(one.bits, two.bits)) if forms <= {Form.FLOAT, Form.INT} else _ROUNDED
    return _RATIONAL


@dataclass
class Rounding:
    """An analysis that finds the kind of number in each variable, and refuses rounded numbers where they matter.

    Comparisons, answers and indices must not depend on rounding. `constants` are the kinds of the program's constants,
    `kinds` the types of its variables, `inputs` the names of its inputs, and `outputs` the names of its outputs.
    `spelling_of` gives the name of a variable in the Python function.
    """

    module: Module
    spelling_of: Callable[[str], str]
    constants: Mapping[str, Numeric]
    kinds: Mapping[str, Kind]
    inputs: Sequence[str]
    outputs: Sequence[str]
    _forms: dict[str, Numeric] = field(default_factory=dict)

    def check(self, body: Sequence[ast.Statement]) -> None:
        """Raise DiagnosticError where an answer, a comparison or an index of `body` depends on rounding."""
        for name in self.inputs:
            base = self.kinds[name].base
            self._forms[name] = _REAL if base == "real" else _RATIONAL if base == "listed" else _INT
        statements = [node for node in ast.walk(tuple(body)) if isinstance(node, ast.Assign | ast.Sample)]
        for _ in range(len(statements) + 2):
            before = dict(self._forms)
            for statement in statements:
                for form in self._forms_of(statement):
                    name = statement.target.name
                    self._forms[name] = _either(self._forms.get(name, form), form)
            if before == self._forms:
                break
            if any(each.bits > _MOST_BITS for each in self._forms.values()):
                self._forms = {name: _ROUNDED if each.bits > _MOST_BITS else each for name, each in self._forms.items()}
        for node in ast.walk(tuple(body)):
            match node:
                case ast.Compare(left=left, right=right):
                    for side in (left, right):
                        if self._form(side).form is Form.ROUNDED:
                            self._refuse(side)
                case ast.Element(index=index):
                    if self._form(index).form is not Form.INT:
                        raise self.module.wrong(
                            index.span,
                            "an index must be an int: Python raises a TypeError for any other number",
                            "write an int, or compute with `//`",
                            code=UNKNOWN_TYPE,
                        )
                case ast.Assign(target, value) if target.name in self.outputs:
                    self._answer(target.name, value)
                case ast.Sample(target, ast.Choose(arms=arms)) if target.name in self.outputs:
                    for value, _ in arms:
                        self._answer(target.name, value)
                case ast.Sample(_, ast.NoiseExpr(law=law, mean=mean)) if law.whole and mean is not None:
                    if self._form(mean).form is Form.ROUNDED:
                        self._refuse(mean)

    def _forms_of(self, statement: ast.Assign | ast.Sample) -> Iterator[Numeric]:
        match statement:
            case ast.Assign(value=value):
                yield self._form(value)
            case ast.Sample(distribution=ast.NoiseExpr(law=law)):
                yield _INT if law.whole else _REAL
            case ast.Sample(distribution=ast.Choose(arms=arms)):
                yield from (self._form(value) for value, _ in arms)
            case ast.Sample(distribution=ast.ExponentialMechanism(domain=ast.ListedDomain(values))):
                yield from (self._form(value) for value in values)
            case ast.Sample():
                yield _INT
            case _:
                assert_never(statement)

    # --- forms ------------------------------------------------------------------------------------

    def _form(self, tree: ast.Expr) -> Numeric:
        match tree:
            case Decimal(value=value):
                return float_of(value)
            case ast.Name(name=name) | ast.Element(name=name):
                return self.constants.get(name) or self._forms.get(name, _INT)
            case ExactDivision():
                return _FRACTION
            case ast.Unary(operand=operand):
                return self._form(operand)
            case ast.Call(arguments=arguments):
                forms = [self._form(each) for each in arguments]
                result = forms[0] if forms else _INT
                for form in forms[1:]:
                    result = _either(result, form)
                return result
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR):
                return _INT
            case ast.Binary(op=BinaryOp.DIVIDE, left=left, right=right):
                return self._quotient(left, right)
            case ast.Binary(op=op, left=left, right=right):
                return self._combined(op, self._form(left), self._form(right))
        return _INT

    def _combined(self, op: BinaryOp, one: Numeric, two: Numeric) -> Numeric:
        forms = {one.form, two.form}
        if Form.ROUNDED in forms:
            return _ROUNDED
        if Form.REAL in forms:
            return _REAL
        if Form.FLOAT in forms:
            if forms & {Form.FRACTION, Form.RATIONAL}:
                return _ROUNDED
            bits = one.bits + two.bits if op is BinaryOp.MULTIPLY else max(one.bits, two.bits)
            return Numeric(Form.FLOAT, bits)
        if Form.FRACTION in forms:
            return _FRACTION
        return _RATIONAL if Form.RATIONAL in forms else _INT

    def _quotient(self, left: ast.Expr, right: ast.Expr) -> Numeric:
        one, two = self._form(left), self._form(right)
        forms = {one.form, two.form}
        if Form.ROUNDED in forms:
            return _ROUNDED
        if one.form is Form.REAL:
            return _REAL
        if Form.FRACTION in forms and forms <= {Form.FRACTION, Form.INT, Form.RATIONAL}:
            return _FRACTION
        if isinstance(left, ast.Number) and isinstance(right, ast.Number) and right.value:
            return float_of(left.value / right.value)
        if isinstance(right, ast.Number) and right.value.denominator == 1 and forms <= {Form.INT, Form.FLOAT}:
            size = abs(int(right.value))
            if size and size & (size - 1) == 0:
                return Numeric(Form.FLOAT, one.bits + size.bit_length() - 1)
        return _ROUNDED

    # --- refusals ---------------------------------------------------------------------------------

    def _answer(self, output: str, value: ast.Expr) -> None:
        form = self._form(value).form
        if form is Form.ROUNDED:
            self._refuse(value)
        if form is Form.FLOAT and self.kinds[output].base != "real":
            self._refuse(value, "is a float in Python, and an answer here is an int or a Fraction")

    def _refuse(
        self, tree: ast.Expr, why: str = "is rounded by Python, and the comparison or answer depends on it"
    ) -> None:
        place = self._source(tree)
        written = self.module.source.text[place.span.start : place.span.end]
        raise self.module.wrong(
            place.span,
            f"`{written}` {why}",
            self._exactly(place, written),
            code=UNKNOWN_TYPE,
        )

    def _source(self, tree: ast.Expr) -> ast.Expr:
        """Return the first float or rounded quotient in the expression `tree`, or `tree` itself if it has none."""
        for node in ast.walk(tree):
            if isinstance(node, Decimal):
                return node
            if isinstance(node, ast.Binary) and node.op is BinaryOp.DIVIDE and not isinstance(node, ExactDivision):
                return node
        return tree

    def _exactly(self, place: ast.Expr, written: str) -> str:
        imported = "with `from fractions import Fraction`"
        match place:
            case Decimal(value=value):
                above, below = value.as_integer_ratio()
                return f"write `{above}`" if below == 1 else f"write `Fraction({above}, {below})`, {imported}"
            case ast.Binary(left=ast.Number(value=above), right=ast.Number(value=below)) if below:
                exact = above / below
                if exact.denominator == 1:
                    return f"write `{exact}`"
                return f"write `Fraction({exact.numerator}, {exact.denominator})`, {imported}"
            case ast.Binary(left=left, right=right):
                text = self.module.source.text
                one, two = (text[each.span.start : each.span.end] for each in (left, right))
                if isinstance(right, ast.Number):
                    return f"write `({one}) * Fraction(1, {two})`, {imported}"
                return f"write `Fraction({one}, {two})`, {imported}"
        return f"compute `{written}` from ints and Fractions: `Fraction(1, 10)` for `0.1`"


def floats_in(node: python.expr) -> bool:
    """Whether the expression `node` contains a float or a quotient outside of `Fraction(…)`."""
    if isinstance(node, python.Call):
        return False
    if _is_float(node) or (isinstance(node, python.BinOp) and isinstance(node.op, python.Div)):
        return True
    return any(floats_in(child) for child in python.iter_child_nodes(node) if isinstance(child, python.expr))
