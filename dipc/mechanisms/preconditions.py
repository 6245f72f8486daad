"""The precondition of a mechanism: `requires=lambda q: COND` in its decorator, read as a `requires` of the language.

COND consists of comparisons of inputs, also chained, joined by `and`, `or`, `not`, `all` and `any`. `min(q)`, `max(q)`
and `abs(x)` are allowed in a comparison.
"""

from __future__ import annotations

import ast as python
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dipc.frozen import frozen
from dipc.mechanisms.expressions import COMPARISONS, OPERATORS, Alias, Array, Binding
from dipc.mechanisms.module import BAD_HEADER, Module
from dipc.mechanisms.statements import Statements
from dipc.mechanisms.types import ConstantSum
from dipc.text import ast
from dipc.text.ast import BinaryOp, CompareOp, UnaryOp, number
from dipc.text.diagnostic import DiagnosticError, Span


@frozen
class _Places:
    """The indices from 0 to `high` of the elements that a generator such as `x >= 0 for x in q` tests.

    `variable` is the name of the index in the condition, and `span` the place of the generator.
    """

    variable: str
    high: ast.Expr
    span: Span

    def extremum(self, function: str, body: ast.Expr) -> ast.Expr:
        return ast.Ranged(function, self.variable, number(0, self.span), self.high, body, self.span)


class ConditionReader:
    """A reader of one precondition; `inputs` are the inputs of the mechanism by the names of its arguments."""

    def __init__(self, module: Module, statements: Statements, inputs: Mapping[str, Binding]) -> None:
        self._module = module
        self._statements = statements
        self._inputs = inputs

    def read(self, function: python.Lambda | python.FunctionDef) -> ast.Expr:
        """Return the condition that `function` computes; raise DiagnosticError if it is not a precondition."""
        arguments = function.args
        for argument in (*arguments.args, *arguments.kwonlyargs):
            bound = self._inputs.get(argument.arg)
            if bound is None and argument.arg not in self._statements.constants:
                notes = (f"the inputs are {', '.join(self._inputs)}",)
                raise self._wrong(argument, f"`requires` takes `{argument.arg}`, which is not an input", *notes)
            if bound is not None:
                self._statements.env[argument.arg] = bound
        match function:
            case python.Lambda(body=body):
                return self._condition(body)
            case python.FunctionDef(body=[*comments, python.Return(value=body)]) if body is not None and all(
                isinstance(each, python.Expr) and isinstance(each.value, python.Constant) for each in comments
            ):
                return self._condition(body)
        raise self._wrong(function, "`requires` must return one condition", "write `requires=lambda q: min(q) >= 0`")

    def _wrong(self, node: python.AST, message: str, *notes: str) -> DiagnosticError:
        return self._module.wrong(node, message, *notes, code=BAD_HEADER)

    # --- conditions ---------------------------------------------------------------------------------------

    def _condition(self, node: python.expr) -> ast.Expr:
        span = self._module.span(node)
        match node:
            case python.BoolOp(op=op, values=values):
                kind = BinaryOp.AND if isinstance(op, python.And) else BinaryOp.OR
                return _joined_by(kind, [self._condition(value) for value in values], span)
            case python.UnaryOp(op=python.Not(), operand=operand):
                return ast.Unary(UnaryOp.NOT, self._condition(operand), span)
            case python.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARISONS for op in ops):
                terms = [self._term(each) for each in (left, *others)]
                pairs = zip(ops, terms, terms[1:], strict=False)
                parts: list[ast.Expr] = [ast.Compare(COMPARISONS[type(op)], a, b, span) for op, a, b in pairs]
                return _joined_by(BinaryOp.AND, parts, span)
            case python.Call(func=python.Name(id="all" | "any" as name), args=[inner], keywords=[]) if isinstance(
                inner, python.GeneratorExp | python.ListComp
            ):
                with self._places(inner) as places:
                    return self._quantified(node, self._condition(inner.elt), places, every=name == "all")
        return self._plain(node)

    def _quantified(self, node: python.expr, body: ast.Expr, places: _Places, *, every: bool) -> ast.Expr:
        """Return a condition without a generator: `body` holds at every index of `places`.

        If `every` is False, the condition is that `body` holds at some index. For example, q[j] >= 1 for every j
        becomes: the least q[j] - 1 over all j is >= 0. `node` is the condition in Python. Raises DiagnosticError if
        `body` cannot be written in this way.
        """
        span = body.span
        match body:
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right) if (
                op is BinaryOp.AND
            ) is every:
                first, second = (self._quantified(node, side, places, every=every) for side in (left, right))
                return ast.Binary(op, first, second, span)
            case ast.Unary(op=UnaryOp.NOT, operand=operand):
                return ast.Unary(UnaryOp.NOT, self._quantified(node, operand, places, every=not every), span)
            case ast.Truth():
                return body
            case ast.Compare(op=op, left=left, right=right):
                least, greatest = (
                    places.extremum(function, ast.Binary(BinaryOp.SUBTRACT, left, right, span))
                    for function in ("min", "max")
                )
                zero = number(0, span)

                def compared(side: ast.Expr, op: CompareOp) -> ast.Expr:
                    return ast.Compare(op, side, zero, span)

                match op:
                    case CompareOp.GE | CompareOp.GT:
                        return compared(least if every else greatest, op)
                    case CompareOp.LE | CompareOp.LT:
                        return compared(greatest if every else least, op)
                    case CompareOp.EQ if every:
                        low, high = compared(least, CompareOp.GE), compared(greatest, CompareOp.LE)
                        return ast.Binary(BinaryOp.AND, low, high, span)
                    case CompareOp.NE if not every:
                        low, high = compared(least, CompareOp.LT), compared(greatest, CompareOp.GT)
                        return ast.Binary(BinaryOp.OR, low, high, span)
        word, joined = ("all", "and") if every else ("any", "or")
        raise self._wrong(
            node,
            f"`{word}` takes comparisons by `<`, `<=`, `>=` and `>` here, joined by `{joined}`",
            "write out the condition of each element",
        )

    # --- numbers ------------------------------------------------------------------------------------------

    def _term(self, node: python.expr) -> ast.Expr:
        span = self._module.span(node)
        match node:
            case python.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return ast.Binary(OPERATORS[type(op)], self._term(left), self._term(right), span)
            case python.UnaryOp(op=python.USub(), operand=operand):
                return ast.Unary(UnaryOp.NEGATE, self._term(operand), span)
            case python.Call(func=python.Name(id="abs"), args=[inner], keywords=[]):
                return ast.Call("abs", (self._term(inner),), span)
            case python.Call(func=python.Name(id="min" | "max" as name), args=[_, _, *_] as inside, keywords=[]):
                return ast.Call(name, tuple(map(self._term, inside)), span)
            case python.Call(func=python.Name(id="min" | "max" as name), args=[inner], keywords=[]):
                if isinstance(inner, python.GeneratorExp | python.ListComp):
                    with self._places(inner) as places:
                        return places.extremum(name, self._term(inner.elt))
                array = self._array(inner)
                if array is not None:
                    places = self._fresh(array.length, span)
                    return places.extremum(name, ast.Element(array.name, ast.Name(places.variable, span), span))
            case python.Call(func=python.Name(id="sum"), args=[inner], keywords=[]):
                array = self._array(inner)
                if array is not None and not array.length.terms:
                    total: ast.Expr = number(0, span)
                    for place in range(int(array.length.value)):
                        element = ast.Element(array.name, number(place, span), span)
                        total = ast.Binary(BinaryOp.ADD, total, element, span)
                    return total
                raise self._wrong(node, "the length of this sum is a constant, and the sum cannot be written out")
        return self._plain(node)

    def _plain(self, node: python.expr) -> ast.Expr:
        before = len(self._statements.out)
        result = self._statements.expr(node)
        if len(self._statements.out) > before:
            raise self._wrong(node, "this cannot be read in `requires`", "write comparisons of the inputs")
        return result

    # --- indices ------------------------------------------------------------------------------------------

    def _array(self, node: python.expr) -> Array | None:
        bound = self._inputs.get(node.id) if isinstance(node, python.Name) else None
        return bound if isinstance(bound, Array) else None

    def _fresh(self, length: ConstantSum, span: Span) -> _Places:
        return _Places(self._statements.fresh("place"), length.plus(-1).expression(span), span)

    @contextmanager
    def _places(self, node: python.GeneratorExp | python.ListComp) -> Iterator[_Places]:
        """Yield the indices of the generator `node`, such as `x >= 0 for x in q`, to a `with` block.

        In the block, the variable of the generator, x, denotes the element or the index.
        """
        span = self._module.span(node)
        many = None
        if len(node.generators) == 1 and not node.generators[0].ifs and not node.generators[0].is_async:
            many = self._statements.many(node.generators[0].iter)
        if many is None or many.counter is not None:
            raise self._wrong(
                node, "a generator takes one list or one range here, without `if`", "write `all(x >= 0 for x in q)`"
            )
        places = self._fresh(many.length, span)
        item = many.item(ast.Name(places.variable, span))
        target = node.generators[0].target
        if not isinstance(target, python.Name) or isinstance(item, tuple | Array):
            raise self._wrong(node, "a generator has one variable here", "write `all(x >= 0 for x in q)`")
        kept = self._statements.env.get(target.id)
        self._statements.env[target.id] = Alias(item)
        yield places
        if kept is None:
            del self._statements.env[target.id]
        else:
            self._statements.env[target.id] = kept


def _joined_by(op: BinaryOp, parts: list[ast.Expr], span: Span) -> ast.Expr:
    first, *others = parts
    for part in others:
        first = ast.Binary(op, first, part, span)
    return first
