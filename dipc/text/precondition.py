"""The precondition of a program: `requires COND;`, which only the program's inputs satisfy.

Values that violate the precondition are not an input of the program. The program promises nothing for them, and
distances and pairs of adjacent inputs leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.ast import COMPARED, MIRRORED, BinaryOp, CompareOp, rewritten
from dipc.text.core import (
    Apply,
    Concrete,
    Condition,
    Const,
    DomExpr,
    DomOp,
    Junction,
    LinearComparison,
    ProgramCode,
    Reference,
    Slot,
    Typed,
    Unknown,
    Value,
    ValueTooLarge,
    evaluate,
    junction,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span, bad_input, did_you_mean
from dipc.text.expressions import Elaborator
from dipc.text.printer import print_expression
from dipc.text.scope import DeclaredConstant, DeclaredVariable, EnumeratedValue, Findings, Scope


@frozen
class ClippedText:
    """A program that limits (clips) its inputs to `ranges` before it uses them.

    For each input there is one within the ranges that gives the outputs the same probabilities. `source` is the text of
    the program. `ranges` has (name, least, greatest) for each limited input or array of inputs, where None means no
    limit.
    """

    source: SourceText
    ranges: tuple[tuple[str, Fraction | None, Fraction | None], ...]


@frozen
class Precondition:
    """The conjunction of all `requires` of a program.

    - `condition` is over the variables `slots`, which are not those of the program: `inputs` has, for each of them, the
      slot of the program's input.
    - `text` is the condition in canonical form, `shown` the condition as its author wrote it, and `span` the place of
      the first `requires`.
    - `clipped` is usually None. Otherwise the program was derived from the program `clipped`, and the condition
      confines its inputs to the ranges to which `clipped` limits them. Then reports are about all inputs of `clipped`.
    """

    condition: Condition
    slots: tuple[Slot, ...]
    inputs: tuple[int, ...]
    text: str
    shown: str
    span: Span
    clipped: ClippedText | None = None

    @property
    def stands_for_all(self) -> bool:
        """Whether a report about the inputs that satisfy this condition is about all inputs.

        That is the case if the program clips every input to a range in which the condition holds.
        """
        return self.clipped is not None

    def holds(self, values: Mapping[int, Value]) -> bool:
        """Return True if the input with these `values` satisfies the condition.

        `values` has the value of each input slot of the program. Raises ZeroDivisionError, IndexError and ValueTooLarge
        for an input at which the condition has no value.
        """
        return _holds(self.condition, [values[slot] for slot in self.inputs])

    def require(self, values: Mapping[int, Value], source: SourceText, where: str = "") -> None:
        """Raise DiagnosticError (E0514) unless the input with these `values` satisfies the condition.

        `values` has the value of each input slot of the program. The message begins with `where`; `source` is the text
        of the program.
        """
        violation = self.violation(values, source, where)
        if violation is not None:
            raise DiagnosticError(violation)

    def violation(self, values: Mapping[int, Value], source: SourceText, where: str = "") -> Diagnostic | None:
        """Return the diagnostic for an input with these `values` that violates the condition; None if it satisfies it.

        `values` has the value of each input slot of the program. The message begins with `where`; `source` is the text
        of the program.
        """
        try:
            if self.holds(values):
                return None
            why = f"the program requires `{self.shown}`, which this input violates"
        except (ZeroDivisionError, IndexError, ValueTooLarge):
            why = f"the program requires `{self.shown}`, which has no value at this input"
        notes = ("inputs that violate `requires` are not inputs of the program: leave the input out, or correct it",)
        return Diagnostic("E0514", where + why, source.excerpt(self.span), "required here", notes)

    def conjunction(self, other: Precondition) -> Precondition:
        """Return the conjunction with the condition `other` about the same program."""
        assert self.inputs == other.inputs, "both conditions read all inputs in one order"
        condition = junction(DomOp.AND, self.condition, other.condition, self.span)
        text, shown = (f"({one}) and ({two})" for one, two in ((self.text, other.text), (self.shown, other.shown)))
        return replace(self, condition=condition, text=text, shown=shown)

    def unsupported(self, source: SourceText, what: str, *notes: str) -> DiagnosticError:
        """Return the error (E1117) that `what`, such as "this question", does not cover programs with `requires`.

        `source` is the text of the program, and `notes` say what to do instead.
        """
        message = f"{what} does not cover programs with `requires`"
        return DiagnosticError(Diagnostic("E1117", message, source.excerpt(self.span), "required here", notes))


def selection_unsupported(what: str, *notes: str) -> DiagnosticError:
    """Return the error (E1117) that `what`, such as "this question", does not cover a selection of inputs.

    `notes` say what to do instead.
    """
    return bad_input("E1117", f"{what} does not cover a selection of inputs", *notes)


def _holds(condition: Condition, values: Sequence[Value]) -> bool:
    match condition:
        case Concrete(expr=expr):
            truth = _value(expr, values)
            assert isinstance(truth, bool)
            return truth
        case LinearComparison(difference=difference, op=op):
            total = _number(difference.constant, values)
            for coefficient, read in difference.terms:
                total += _number(coefficient, values) * _number(read, values)
            return bool(COMPARED[op](total, 0))
        case Junction(op=op, left=left, right=right):
            first = _holds(left, values)
            return first if first is (op is DomOp.OR) else _holds(right, values)
        case _:
            assert_never(condition)


def _number(expr: DomExpr, values: Sequence[Value]) -> Fraction:
    value = _value(expr, values)
    assert isinstance(value, Fraction)
    return value


def _value(expr: DomExpr, values: Sequence[Value]) -> Value:
    match expr:
        case Const(value=value):
            return value
        case Reference(index=index):
            slot = expr.slots[0] if index is None else expr.element(_value(index, values))
            if slot is None:
                raise IndexError
            return values[slot]
        case Apply(op=DomOp.AND, arguments=arguments):
            return all(_value(argument, values) for argument in arguments)
        case Apply(op=DomOp.OR, arguments=arguments):
            return any(_value(argument, values) for argument in arguments)
        case Apply(op=op, arguments=arguments):
            return evaluate(op, [_value(argument, values) for argument in arguments])
        case _:
            assert_never(expr)


# --- From the text to the condition -----------------------------------------------------------------------------------


def compile_precondition(
    required: Sequence[ast.RequiresDecl], shared: Scope, findings: Findings
) -> Precondition | None:
    """Return the conjunction of the conditions `required`, with names of the program's scope `shared` resolved.

    The result is None if there are no conditions, or if one of them is wrong, which is reported to `findings`.
    """
    if not required:
        return None
    scope, inputs = _scope(shared)
    elaborator = _ConditionElaborator(scope, findings)
    conditions = [elaborator.condition(elaborator.expanded(each.condition)) for each in required]
    known = [condition for condition in conditions if not isinstance(condition, Unknown)]
    if len(known) < len(conditions):
        return None
    whole = known[0]
    for condition, each in zip(known[1:], required[1:], strict=True):
        whole = junction(DomOp.AND, whole, condition, each.span)
    texts = [print_expression(each.condition) for each in required]
    written = [each.written or text for each, text in zip(required, texts, strict=True)]
    text, shown = (each[0] if len(each) == 1 else " and ".join(f"({one})" for one in each) for each in (texts, written))
    return Precondition(whole, tuple(scope.slots), inputs, text, shown, required[0].span)


def _scope(shared: Scope) -> tuple[Scope, tuple[int, ...]]:
    """Return (scope, inputs): the scope of names in a `requires` condition, and the slots of its inputs in the program.

    The only variables of the new scope are the inputs of the program, with slots of their own. `inputs[n]` is the slot
    in `shared`, the scope of the program, of the input that has slot n in the new scope.
    """
    inner = Scope(shared.eps)
    inner.domains.update(shared.domains)
    places: dict[int, int] = {}
    for name, symbol in shared.symbols.items():
        if isinstance(symbol, DeclaredConstant | EnumeratedValue):
            inner.symbols[name] = symbol
        elif isinstance(symbol, DeclaredVariable) and symbol.role is ast.Role.INPUT:
            own = inner.symbols[name] = inner.adopt(symbol, shared)
            places |= zip(own.slots, symbol.slots, strict=True)
    return inner, tuple(places[slot] for slot in range(len(inner.slots)))


#: The most integers of one range.
MOST_PLACES = 10_000


class _ConditionElaborator(Elaborator):
    """The resolver of conditions in `requires`, where every variable is an input.

    `min(a, b) >= c` becomes `a >= c and b >= c`, so that no two arguments are compared with each other. `max`, `abs`
    and the other comparisons are resolved in the same way.
    """

    def expanded(self, tree: ast.Expr) -> ast.Expr:
        """Return the condition `tree` with each function of a range written out.

        For example, `min(i in 1..m : E)` becomes `min` of the m values of E. Mistakes in a range are reported.
        """

        def change(node: ast.Expr) -> ast.Expr | None:
            if not isinstance(node, ast.Ranged):
                return None
            places = self._range(node)
            return self.expanded(node.written_out(places[0], places[-1])) if places else ast.number(0, node.span)

        return rewritten(tree, change)

    def _range(self, node: ast.Ranged) -> range:
        """Return the integers of the range of `node`; empty after reporting a mistake.

        For `sum` and `count` the result is also empty if the upper bound is less than the lower one, which is not a
        mistake.
        """
        low, high = self.integer(node.low, "a bound of the range"), self.integer(node.high, "a bound of the range")
        free = self.check_local(node.variable, node.span, "the variable", may_hide_variables=False)
        if low is None or high is None or not free:
            return range(0)
        if high < low and node.function in ("sum", "count"):
            return range(0)
        if high < low or high - low >= MOST_PLACES:
            message = f"the range is empty: {low} is more than {high}" if high < low else "the range is too long"
            notes = (f"a range has at least one and at most {MOST_PLACES} integers",)
            self.findings.report(ProgramCode.BAD_PRECONDITION, node.span, message, notes=notes)
            return range(0)
        return range(low, high + 1)

    def typed(self, expr: ast.Expr) -> Typed:
        if isinstance(expr, ast.Compare):
            spread = spread_out(expr)
            if spread is not expr:
                return self.typed(spread)
        return super().typed(expr)

    def undeclared(self, name: str, span: Span, index: str = "") -> None:
        known = [known for known, symbol in self.scope.symbols.items() if isinstance(symbol, DeclaredVariable)]
        named = ", ".join(f"`{each}`" for each in known)
        notes = (
            *did_you_mean(name, known),
            f"a `requires` compares inputs, constants and numbers; the inputs are {named}"
            if known
            else "a `requires` compares inputs, constants and numbers, and no input is declared",
        )
        message = f"`{name}{index}` is neither an input nor a constant"
        self.findings.report(ProgramCode.BAD_PRECONDITION, span, message, notes=notes, once=("requires", name))


def spread_out(expr: ast.Compare) -> ast.Expr:
    """Return a condition that is equivalent to `expr`, without `min`, `max` or `abs` on either side of the comparison.

    A comparison that has none is returned unchanged.
    """
    call, other, op = expr.left, expr.right, expr.op
    if not _is_choice(call):
        call, other, op = expr.right, expr.left, MIRRORED[expr.op]
    if not isinstance(call, ast.Call) or not _is_choice(call):
        return expr
    arguments = call.arguments
    if call.function == "abs":
        arguments = (*arguments, ast.Unary(ast.UnaryOp.NEGATE, arguments[0], call.span))
    span = expr.span

    def each(op: CompareOp, joined: BinaryOp) -> ast.Expr:
        compared: list[ast.Expr] = [spread_out(ast.Compare(op, argument, other, span)) for argument in arguments]
        return ast.balanced(joined, compared, span)

    least = call.function == "min"
    match op:
        case CompareOp.GE | CompareOp.GT:
            return each(op, BinaryOp.AND if least else BinaryOp.OR)
        case CompareOp.LE | CompareOp.LT:
            return each(op, BinaryOp.OR if least else BinaryOp.AND)
        case CompareOp.EQ:
            bounded, reached = (CompareOp.GE, CompareOp.LE) if least else (CompareOp.LE, CompareOp.GE)
            return ast.Binary(BinaryOp.AND, each(bounded, BinaryOp.AND), each(reached, BinaryOp.OR), span)
        case CompareOp.NE:
            beyond, away = (CompareOp.LT, CompareOp.GT) if least else (CompareOp.GT, CompareOp.LT)
            return ast.Binary(BinaryOp.OR, each(beyond, BinaryOp.OR), each(away, BinaryOp.AND), span)
        case _:
            assert_never(op)


def _is_choice(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Call) and expr.function in ("min", "max", "abs") and bool(expr.arguments)
