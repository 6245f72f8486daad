"""The meaning of expressions: resolved, typed, folded, as concrete values, linear forms or conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import assert_never

from dipc.text import ast
from dipc.text.ast import MIRRORED, BaseType, BinaryOp, CompareOp, UnaryOp, walk
from dipc.text.core import (
    NUMERIC,
    UNKNOWN,
    AffineExpr,
    Apply,
    Concrete,
    Condition,
    Const,
    DomExpr,
    DomOp,
    DomType,
    FiniteType,
    Junction,
    LinearComparison,
    ProgramCode,
    Reference,
    Slot,
    Switch,
    Type,
    Typed,
    Unknown,
    Value,
    ValueKind,
    ValueTooLarge,
    affine,
    counted,
    divided,
    fold,
    gathered,
    is_condition,
    junction,
    kind_of,
    leaves,
    negated,
    negation,
    plus,
    power,
    scaled,
    show_type,
    show_value,
    times,
    total,
    truth,
    written,
)
from dipc.text.diagnostic import SourceText, Span
from dipc.text.scope import DeclaredVariable, References

# --- The meaning of expressions: resolving, typing, folding constants, and normalizing linear forms in one walk -------

#: The most expressions among which min, max and abs of reals or ints choose.
_MOST_CASES = 64

#: The most values of the variable of a sum, a count, a `min` or a `max` over a range.
_MOST_VALUES = 10_000

#: The advice for an expression with a meaning at one eps only.
FIX_EPS = 'ask about one eps: `--eps 1/2`, `claim { eps: 1/2; }`, or `dipc.load(path, eps="1/2")`'

#: The advice for thresholds such as log(D)/eps.
LOG_OVER_EPS = (
    "a threshold such as log(D)/eps can be written for one eps, `claim { eps: 1/2; }`; for every eps "
    "make it a constant, `const t = 5;`, and claim what it achieves: `beta: exp(-t*eps)/2`"
)

_FUNCTIONS = {"min": DomOp.MIN, "max": DomOp.MAX, "abs": DomOp.ABS}


#: The parts allowed in a constant, and those allowed where each value of a variable can have its own constant.
_NEVER_MEET = (
    "ints and reals cannot be mixed: Lap is for reals, DLap for ints; declare the inputs real, or sample both with DLap"
)
_NEVER_MEET_IN_PYTHON = (
    "ints and reals cannot be mixed: `dipc.laplace` is for `dipc.Real`, `dipc.discrete_laplace` for `dipc.Int`; "
    "annotate the inputs `dipc.Real`, or draw the noise with `dipc.discrete_laplace`"
)
_CONSTANT = "numbers, constants and the variables of enclosing `for` loops"
_CHOSEN = "numbers, constants, bool and DOM variables, and the variables of enclosing `for` loops"


def never_meet(source: SourceText) -> str:
    """Return the note that ints and reals cannot be mixed, worded for the language of `source`."""
    return _NEVER_MEET if source.tree is None else _NEVER_MEET_IN_PYTHON


class Elaborator(References):
    """The resolver of expressions: it returns the meaning of each, or Unknown after reporting a mistake."""

    def typed(self, expr: ast.Expr) -> Typed:
        match expr:
            case ast.Name():
                return self.name(expr)
            case ast.Number(value):
                return Concrete(ValueKind.NUMBER, Const(value))
            case ast.Binary(BinaryOp.AND | BinaryOp.OR):
                return self._junction(expr)
            case ast.Binary():
                return self._arithmetic(expr, self.number(expr.left), self.number(expr.right))
            case ast.Element():
                return self.element(expr, self.typed(expr.index))
            case (
                ast.Compare(left=ast.Ranged(function="min" | "max"))
                | ast.Compare(right=ast.Ranged(function="min" | "max"))
            ):
                return self._compared_extreme(expr)
            case ast.Compare():
                self.receive(expr.right, expr.left)
                self.receive(expr.left, expr.right)
                return self._comparison(expr, self.typed(expr.left), self.typed(expr.right))
            case ast.Unary(UnaryOp.NEGATE):
                typed = self.number(expr.operand)
                if not self._numeric(expr.operand, typed, "-") or isinstance(typed, Unknown):
                    return UNKNOWN
                assert isinstance(typed, Concrete | AffineExpr | Switch)
                return self._minus(typed, expr.span)
            case ast.Unary():
                condition = self._truth(expr.operand, self.typed(expr.operand))
                return UNKNOWN if isinstance(condition, Unknown) else negation(condition, expr.span)
            case ast.Truth(value):
                return Concrete(ValueKind.BOOL, Const(value))
            case ast.Call():
                return self._call(expr, [self.number(argument) for argument in expr.arguments])
            case ast.Ranged():
                return self._ranged(expr)
            case ast.Eps():
                return self._eps(expr.span)
            case ast.Drawn():
                self.findings.report(
                    ProgramCode.WRONG_DISTRIBUTION,
                    expr.span,
                    f"`{self.findings.snippet(expr.span)}` draws a random value, which is not possible here",
                    notes=("draw it by a statement before, `r <- Lap(eps/2, 0)`, and use the variable here",),
                )
                return UNKNOWN
            case _:
                assert_never(expr)

    def number(self, expr: ast.Expr) -> Typed:
        """Return the meaning of `expr`, which must be a number; a condition counts as 1 or 0."""
        typed = self.typed(expr)
        return counted(typed, expr.span) if is_condition(typed) else typed

    # --- sums, counts, and the least and the greatest of a range ------------------------------------

    def values_of(self, expr: ast.Ranged) -> range | None:
        """Return the values of the variable that `expr` binds, such as i in `sum(i in low..high : …)`.

        The result is None after reporting a mistake.
        """
        low = self.integer(expr.low, "an end of a range")
        high = self.integer(expr.high, "an end of a range")
        bindable = self.check_local(expr.variable, expr.span, "the variable of the range", may_hide_variables=True)
        if low is None or high is None or not bindable:
            return None
        values = range(low, max(low, high + 1))
        if not values and expr.function in ("min", "max"):
            note = f"the range is {low}..{high}: start it below its end, or leave out the `{expr.function}`"
            self.report_value(
                ProgramCode.BAD_DOMAIN,
                expr.span,
                f"`{expr.function}` needs at least one value",
                label="empty",
                notes=(note,),
            )
            return None
        if len(values) > _MOST_VALUES:
            message = f"this range has {len(values)} values"
            notes = (f"a range has at most {_MOST_VALUES} values",)
            self.report_value(ProgramCode.TOO_LARGE, expr.span, message, notes=notes)
            return None
        return values

    def _each(self, expr: ast.Ranged, values: range) -> list[Typed]:
        hidden = self.locals.get(expr.variable)
        result: list[Typed] = []
        for value in values or range(1):
            self.locals[expr.variable] = Concrete(ValueKind.NUMBER, Const(Fraction(value))) if values else UNKNOWN
            self.dead += not values  # an empty range: its names and types are checked
            typed = self.typed(expr.body)
            if expr.function == "count":
                typed = self._truth(expr.body, typed)
            self.dead -= not values
            result.append(counted(typed, expr.body.span) if is_condition(typed) else typed)
            if isinstance(typed, Unknown):
                break
        self.locals.pop(expr.variable, None)
        if hidden is not None:
            self.locals[expr.variable] = hidden
        return result if values else []

    def _ranged(self, expr: ast.Ranged) -> Typed:
        values = self.values_of(expr)
        parts: list[Typed] = [UNKNOWN] if values is None else self._each(expr, values)
        if any(isinstance(part, Unknown) for part in parts):
            return UNKNOWN
        if expr.function in ("min", "max"):
            return self._call(ast.Call(expr.function, (expr.body,) * len(parts), expr.span), parts)
        if not parts:
            return Concrete(ValueKind.NUMBER, Const(Fraction(0)))
        adding = ast.Binary(BinaryOp.ADD, expr.body, expr.body, expr.span)
        if len(parts) == 1 and not self._numeric(expr.body, parts[0], "+"):
            return UNKNOWN
        while len(parts) > 1:  # a tree of little height
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [*(self._arithmetic(adding, *pair) for pair in pairs), *parts[len(parts) & ~1 :]]
        return parts[0]

    def _compared_extreme(self, expr: ast.Compare) -> Typed:
        """Return the meaning of `expr`, a comparison in which one side is `min` or `max` over a range.

        If possible, each value is compared: `min(i in 1..m : q[i]) >= 0` becomes q[i] >= 0 for every i, joined by
        `and`. A comparison that one value can make true, such as `min(…) <= 0`, is joined by `or`.
        """
        extreme, other, op = expr.left, expr.right, expr.op
        if not isinstance(extreme, ast.Ranged):
            extreme, other, op = expr.right, expr.left, MIRRORED[expr.op]
        assert isinstance(extreme, ast.Ranged)
        if op in (CompareOp.EQ, CompareOp.NE) or extreme.function not in ("min", "max"):
            return self._comparison(expr, self.number(expr.left), self.number(expr.right))
        values = self.values_of(extreme)
        parts = [UNKNOWN] if values is None else self._each(extreme, values)
        limit = self.number(other)
        every = (op in (CompareOp.GE, CompareOp.GT)) is (extreme.function == "min")
        joined: Condition | None = None
        for part in parts:
            one = self._comparison(ast.Compare(op, extreme.body, other, expr.span), part, limit)
            if not isinstance(one, Concrete | LinearComparison | Junction):
                return UNKNOWN
            joined = one if joined is None else junction(DomOp.AND if every else DomOp.OR, joined, one, expr.span)
        return UNKNOWN if joined is None else joined

    def written_out(self, tree: ast.Expr) -> ast.Expr | None:
        """Return `tree` without sums over ranges; None after reporting a mistake in one."""
        wrong = False

        def change(node: ast.Expr) -> ast.Expr | None:
            nonlocal wrong
            if not isinstance(node, ast.Ranged):
                return None
            values = self.values_of(node)
            wrong = wrong or values is None
            if not values:
                return ast.number(0, node.span)
            inner = self.written_out(node.written_out(values[0], values[-1]))
            wrong = wrong or inner is None
            return inner if inner is not None else ast.number(0, node.span)

        result = ast.rewritten(tree, change)
        return None if wrong else result

    def _eps(self, span: Span) -> Typed:
        value = self.scope.eps.use()
        if value is not None:
            return Concrete(ValueKind.NUMBER, Const(value))
        self.findings.report(
            ProgramCode.EPS_MISPLACED,
            span,
            "`eps` is not allowed in an expression of the program",
            notes=(
                "for every eps it is allowed in the rate of a distribution, in the weights of choose, and in the claim",
                "a threshold such as 7/eps brings coefficients such as e^7, whose signs are not decided for every eps",
                FIX_EPS,
            ),
        )
        return UNKNOWN

    def condition(self, expr: ast.Expr) -> Condition | Unknown:
        """Return the meaning of `expr`, the condition of an `if` or `while`."""
        return self._truth(expr, self.typed(expr))

    def constant(
        self, expr: ast.Expr, what: str, *, or_chosen: bool = False, notes: tuple[str, ...] = ()
    ) -> Fraction | None:
        """Return the constant rational value of `expr`, or None after reporting that it has none.

        `what` ("a loop bound") names the value in the message, and `notes` are the first notes below it. If `or_chosen`
        is true, `expr` may also use bool and DOM variables to which the caller has given fixed values, and a condition
        counts as 1 or 0.
        """
        typed = self.number(expr) if or_chosen else self.typed(expr)
        if isinstance(typed, Concrete) and isinstance(typed.value, Fraction):
            return typed.value
        if isinstance(typed, Unknown):
            return None
        variables = [
            f"`{node.name}` is a variable"
            for node in walk(expr)
            if isinstance(node, ast.Name | ast.Element)
            and isinstance(self.scope.symbols.get(node.name), DeclaredVariable)
        ]
        label = variables[0] if variables else f"this is {_kind_word(typed)}"
        self.findings.report(
            ProgramCode.NOT_CONSTANT,
            expr.span,
            f"{what} must be a constant number",
            label=label,
            notes=(*notes, f"it may be made of {_CHOSEN if or_chosen else _CONSTANT}"),
        )
        return None

    def integer(self, expr: ast.Expr, what: str) -> int | None:
        """Return the constant integer value of `expr`, or None after reporting that it has none.

        `what` names the value in the message.
        """
        value = self.constant(expr, what)
        if value is None or value.denominator == 1:
            return None if value is None else int(value)
        constants = self.scope.constants()
        used = [node.name for node in walk(expr) if isinstance(node, ast.Name) and node.name in constants]
        notes = tuple(f"the constant `{name}` is {constants[name]}" for name in dict.fromkeys(used))
        self.report_value(
            ProgramCode.NOT_AN_INTEGER,
            expr.span,
            f"{what} must be an integer",
            label=f"this is {value}",
            notes=notes or ("write an integer",),
        )
        return None

    # --- conditions --------------------------------------------------------------------------------

    def _truth(self, expr: ast.Expr, typed: Typed) -> Condition | Unknown:
        if isinstance(typed, AffineExpr | Switch) or (isinstance(typed, Concrete) and typed.kind is not ValueKind.BOOL):
            self.findings.report(
                ProgramCode.MISMATCH,
                expr.span,
                f"a condition is needed here, but `{self.findings.snippet(expr.span)}` is {typed.kind.value}",
                notes=("compare it with something: `=`, `!=`, `<`, `<=`, `>`, `>=`",),
            )
            return UNKNOWN
        return typed

    def _junction(self, expr: ast.Binary) -> Typed:
        op = DomOp.AND if expr.op is BinaryOp.AND else DomOp.OR
        left = self._truth(expr.left, self.typed(expr.left))
        settled = truth(left) is (op is DomOp.OR)
        self.dead += settled
        right = self._truth(expr.right, self.typed(expr.right))
        self.dead -= settled
        if settled:
            return left
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        return junction(op, left, right, expr.span)

    def _comparison(self, expr: ast.Compare, left: Typed, right: Typed) -> Typed:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        for side, typed in ((expr.left, left), (expr.right, right)):
            if isinstance(typed, LinearComparison | Junction):
                self.findings.report(
                    ProgramCode.MISMATCH,
                    side.span,
                    "a comparison of reals or ints cannot be compared with something else",
                    notes=("assign it to a bool variable first, or use `and`, `or`, `not`",),
                )
                return UNKNOWN
        if isinstance(left, Switch):
            return self._compared_by_cases(left, expr.span, lambda value: self._comparison(expr, value, right))
        if isinstance(right, Switch):
            return self._compared_by_cases(right, expr.span, lambda value: self._comparison(expr, left, value))
        assert isinstance(left, Concrete | AffineExpr)
        assert isinstance(right, Concrete | AffineExpr)
        if left.kind in NUMERIC and right.kind in NUMERIC:
            if isinstance(left, Concrete) and isinstance(right, Concrete):
                return Concrete(ValueKind.BOOL, fold(DomOp(expr.op.value), (left.expr, right.expr), expr.span))
            return self.relation(expr.span, expr.op, left, right)
        if left.kind is not right.kind:
            chained = isinstance(expr.left, ast.Compare) or isinstance(expr.right, ast.Compare)
            self.findings.report(
                ProgramCode.MISMATCH,
                expr.span,
                f"`{self.findings.snippet(expr.left.span)}` is {left.kind.value} and "
                f"`{self.findings.snippet(expr.right.span)}` is {right.kind.value}: they cannot be compared",
                notes=("write `a < b and b < c` for two comparisons",) if chained else ("compare values of one kind",),
            )
            return UNKNOWN
        if expr.op not in (CompareOp.EQ, CompareOp.NE):
            what = "truth values" if left.kind is ValueKind.BOOL else "domain names"
            notes = ("only `=` and `!=` compare them",)
            self.findings.report(ProgramCode.MISMATCH, expr.span, f"{what} have no order", notes=notes)
            return UNKNOWN
        return Concrete(ValueKind.BOOL, fold(DomOp(expr.op.value), (left.expr, right.expr), expr.span))  # type: ignore[union-attr]

    def _compared_by_cases(
        self, switch: Switch, span: Span, compare: Callable[[Concrete | AffineExpr | Switch], Typed]
    ) -> Typed:
        then, otherwise = compare(switch.then), compare(switch.otherwise)
        if not isinstance(then, Concrete | LinearComparison | Junction) or not isinstance(
            otherwise, Concrete | LinearComparison | Junction
        ):
            return UNKNOWN
        first = junction(DomOp.AND, switch.condition, then, span)
        return junction(DomOp.OR, first, junction(DomOp.AND, negation(switch.condition, span), otherwise, span), span)

    def relation(
        self, span: Span, op: CompareOp, left: Concrete | AffineExpr, right: Concrete | AffineExpr
    ) -> LinearComparison | Unknown:
        """Return the comparison `left` `op` `right` at `span`, of which at least one side is an int or a real.

        The result is Unknown after reporting that the two kinds cannot be compared.
        """
        if self._int_meets_real(span, left, right):
            return UNKNOWN
        kind = left.kind if isinstance(left, AffineExpr) else right.kind
        try:
            raw = self._combined(BinaryOp.SUBTRACT, left, right, span)
            assert isinstance(raw, AffineExpr)
            return LinearComparison(AffineExpr(gathered(raw.terms), raw.constant, span, kind), op)
        except ValueTooLarge:
            return self._too_large(span)

    # --- arithmetic --------------------------------------------------------------------------------

    def _arithmetic(self, expr: ast.Binary, left: Typed, right: Typed) -> Typed:
        fits = self._numeric(expr.left, left, expr.op.value)
        if not self._numeric(expr.right, right, expr.op.value) or not fits:
            return UNKNOWN
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        if isinstance(left, Switch):
            return self._by_cases(left, expr.span, lambda value: self._arithmetic(expr, value, right))
        if isinstance(right, Switch):
            return self._by_cases(right, expr.span, lambda value: self._arithmetic(expr, left, value))
        assert isinstance(left, Concrete | AffineExpr)
        assert isinstance(right, Concrete | AffineExpr)
        if self._int_meets_real(expr.span, left, right) or self._nonlinear(expr, left, right):
            return UNKNOWN
        try:
            if expr.op is BinaryOp.POWER:
                values = [side.value for side in (left, right) if isinstance(side, Concrete)]
                match values:
                    case [Fraction() as number, Fraction(denominator=1) as repeated] if repeated >= 0:
                        return Concrete(ValueKind.NUMBER, Const(power(number, int(repeated))))
                    case [Fraction() as number, Fraction(denominator=1) as repeated]:
                        return Concrete(ValueKind.NUMBER, Const(power(1 / number, -int(repeated))))
                self.findings.report(
                    ProgramCode.NOT_CONSTANT,
                    expr.span,
                    "a power needs a constant base and a constant integer exponent",
                    notes=("write a product of DOM values as `x * x`",),
                )
                return UNKNOWN
            return self._combined(expr.op, left, right, expr.span)
        except ZeroDivisionError:
            self.report_value(
                ProgramCode.DIVISION_BY_ZERO,
                expr.right.span,
                "division by zero",
                label="this is 0",
                notes=("divide by something else",),
            )
            return UNKNOWN
        except ValueTooLarge:
            return self._too_large(expr.span)

    def _combined(self, op: BinaryOp, left: Concrete | AffineExpr, right: Concrete | AffineExpr, span: Span) -> Typed:
        if isinstance(left, Concrete) and isinstance(right, Concrete):
            return Concrete(ValueKind.NUMBER, _folded(op, left.expr, right.expr, span))
        if op is BinaryOp.MULTIPLY:
            linear, factor = (left, right) if isinstance(left, AffineExpr) else (right, left)
            assert isinstance(linear, AffineExpr)
            assert isinstance(factor, Concrete)
            return scaled(linear, factor.expr, span)
        if op is BinaryOp.DIVIDE:
            assert isinstance(left, AffineExpr)
            assert isinstance(right, Concrete)
            return divided(left, right.expr, span)
        kind = left.kind if isinstance(left, AffineExpr) else right.kind
        first = left if isinstance(left, AffineExpr) else AffineExpr((), left.expr, span, kind)
        second = right if isinstance(right, AffineExpr) else AffineExpr((), right.expr, span, kind)
        return total(first, second if op is BinaryOp.ADD else negated(second, span), span)

    def _minus(self, value: Concrete | AffineExpr | Switch, span: Span) -> Typed:
        match value:
            case Switch():
                return self._by_cases(value, span, lambda one: self._minus(one, span))
            case AffineExpr():
                return negated(value, span)
            case Concrete():
                return Concrete(ValueKind.NUMBER, fold(DomOp.NEGATE, (value.expr,), span))

    def _call(self, expr: ast.Call, arguments: list[Typed]) -> Typed:
        op = _FUNCTIONS.get(expr.function)
        if op is None:
            self._not_a_function(expr)
            return UNKNOWN
        fits = [
            self._numeric(argument, typed, expr.function)
            for argument, typed in zip(expr.arguments, arguments, strict=True)
        ]
        values = [typed for typed in arguments if isinstance(typed, Concrete | AffineExpr | Switch)]
        if not all(fits) or len(values) < len(arguments):
            return UNKNOWN
        exprs = [value.expr for value in values if isinstance(value, Concrete)]
        if len(exprs) == len(values):
            return Concrete(ValueKind.NUMBER, fold(op, tuple(exprs), expr.span))
        if op is DomOp.ABS:
            opposite = self._minus(values[0], expr.span)
            assert isinstance(opposite, Concrete | AffineExpr | Switch)
            values.append(opposite)
        best: Typed = values[0]
        for value in values[1:]:
            if isinstance(best, Concrete | AffineExpr | Switch):
                best = self._larger(expr, CompareOp.LE if op is DomOp.MIN else CompareOp.GE, best, value)
        return best

    def _larger(
        self, expr: ast.Call, op: CompareOp, left: Concrete | AffineExpr | Switch, right: Concrete | AffineExpr | Switch
    ) -> Typed:
        if leaves(left) * leaves(right) > _MOST_CASES // 2:
            self.findings.report(
                ProgramCode.NOT_LINEAR,
                expr.span,
                f"`{expr.function}` of reals or ints has more than {_MOST_CASES} cases here",
                notes=("keep the least or the greatest so far in a variable: `if r > best then best <- r end`",),
            )
            return UNKNOWN
        if isinstance(left, Switch):
            return self._by_cases(left, expr.span, lambda value: self._larger(expr, op, value, right))
        if isinstance(right, Switch):
            return self._by_cases(right, expr.span, lambda value: self._larger(expr, op, left, value))
        if isinstance(left, Concrete) and isinstance(right, Concrete):
            chosen = DomOp.MIN if op is CompareOp.LE else DomOp.MAX
            return Concrete(ValueKind.NUMBER, fold(chosen, (left.expr, right.expr), expr.span))
        relation = self.relation(expr.span, op, left, right)
        if isinstance(relation, Unknown):
            return UNKNOWN
        return Switch(relation.difference.kind, relation, left, right)

    def _by_cases(self, switch: Switch, span: Span, change: Callable[[Concrete | AffineExpr | Switch], Typed]) -> Typed:
        then, otherwise = change(switch.then), change(switch.otherwise)
        numeric = Concrete | AffineExpr | Switch
        if not isinstance(then, numeric) or not isinstance(otherwise, numeric):
            return UNKNOWN
        if leaves(then) + leaves(otherwise) > _MOST_CASES:
            notes = ("assign parts of it to variables first",)
            message = f"min, max and abs have more than {_MOST_CASES} cases here"
            self.findings.report(ProgramCode.NOT_LINEAR, span, message, notes=notes)
            return UNKNOWN
        return Switch(switch.kind, switch.condition, then, otherwise)

    # --- operands that cannot be combined ----------------------------------------------------------

    def _numeric(self, expr: ast.Expr, typed: Typed, operation: str) -> bool:
        if isinstance(typed, Unknown) or (isinstance(typed, Concrete | AffineExpr | Switch) and typed.kind in NUMERIC):
            return True
        self.findings.report(
            ProgramCode.MISMATCH,
            expr.span,
            f"`{operation}` needs numbers, but `{self.findings.snippet(expr.span)}` is {_kind_word(typed)}",
            notes=("arithmetic is for numbers, numeric DOM values, ints and reals",),
        )
        return False

    def _int_meets_real(self, span: Span, left: Concrete | AffineExpr, right: Concrete | AffineExpr) -> bool:
        if {left.kind, right.kind} != {ValueKind.INT, ValueKind.REAL}:
            return False
        assert isinstance(left, AffineExpr)
        assert isinstance(right, AffineExpr)
        integer, real = (left, right) if left.kind is ValueKind.INT else (right, left)
        self.findings.report(
            ProgramCode.INT_MEETS_REAL,
            span,
            f"the int `{self.variable_of(integer)}` is mixed with the real `{self.variable_of(real)}`",
            notes=(never_meet(self.findings.source),),
        )
        return True

    def _nonlinear(self, expr: ast.Binary, left: Concrete | AffineExpr, right: Concrete | AffineExpr) -> bool:
        if isinstance(right, Concrete) and not (expr.op is BinaryOp.POWER and isinstance(left, AffineExpr)):
            return False
        names = [self.variable_of(side) for side in (left, right) if isinstance(side, AffineExpr)]
        notes = ["a real or int expression is a sum of variables, each times constants or DOM values"]
        if expr.op is BinaryOp.MULTIPLY and len(names) == 2:
            message = f"the product of `{names[0]}` and `{names[1]}` is not linear: products only with constants or DOM"
        elif expr.op is BinaryOp.DIVIDE:
            message = f"division by `{names[-1]}` is not linear: divide only by constants or DOM"
            if len(names) == 2:
                notes.append(f"release `{names[0]}` and `{names[1]}`, and divide what was released")
        elif expr.op is BinaryOp.POWER:
            message = f"a power with `{names[0]}` is not linear"
        else:
            return False
        self.findings.report(ProgramCode.NOT_LINEAR, expr.span, message, notes=notes)
        return True

    def _not_a_function(self, expr: ast.Call) -> None:
        if expr.function in ("log", "sqrt", "erfc"):
            where = "`erfc` is allowed only in the claim"
            if expr.function != "erfc":
                where = f"`{expr.function}` is allowed only in the claim and in standard deviations"
            notes = ("elsewhere a program uses rationals: round the number in the safe direction",)
            if expr.function == "log":
                notes = (self._rounded_logarithm(expr), *(() if self.scope.eps.value is not None else (LOG_OVER_EPS,)))
            self.findings.report(ProgramCode.MISUSED_NAME, expr.span, where, notes=notes)
            return
        message, notes = "`exp` is allowed only in the weights of choose and in the claim", ("use a constant",)
        self.findings.report(ProgramCode.MISUSED_NAME, expr.span, message, notes=notes)

    def _rounded_logarithm(self, expr: ast.Call) -> str:
        typed = self.typed(expr.arguments[0])
        value = typed.value if isinstance(typed, Concrete) else None
        if not isinstance(value, Fraction) or value <= 0 or value == 1:
            return "a program uses rationals: round the logarithm in the safe direction"
        with localcontext(prec=40):
            exact = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
        below, above = (exact.quantize(Decimal("1e-6"), rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
        written = self.findings.snippet(expr.span)
        return f"a program uses rationals: {written} lies between {below} and {above}; write the safe one"

    def _too_large(self, span: Span) -> Unknown:
        notes = ("numbers of more than about 3000 digits are refused",)
        self.report_value(ProgramCode.TOO_LARGE, span, "this number has too many digits", notes=notes)
        return UNKNOWN

    def variable_of(self, linear: AffineExpr) -> str:
        """Return the name, as the user wrote it, of the first variable in the linear form `linear`."""
        return written(linear.terms[0][1]).text


def _folded(op: BinaryOp, left: DomExpr, right: DomExpr, span: Span) -> DomExpr:
    match op:
        case BinaryOp.ADD:
            return plus(left, right, span)
        case BinaryOp.MULTIPLY:
            return times(left, right, span)
        case _:
            return fold(DomOp(op.value), (left, right), span)


def _kind_word(typed: Typed) -> str:
    return typed.kind.value if isinstance(typed, Concrete | AffineExpr | Switch) else "a condition"


# --- Checks that a value fits its variable ----------------------------------------------------------------------------


class Fitting:
    """The check of values against types, which reports those that do not fit."""

    def __init__(self, elaborator: Elaborator) -> None:
        self._elaborator = elaborator
        self._members: dict[int, tuple[DomType, frozenset[Value]]] = {}

    def concrete(self, type_: FiniteType, typed: Typed, expr: ast.Expr, name: str) -> DomExpr | None:
        """Return `typed`, the meaning of `expr`, as an expression to store in `name`; None if `type_` does not fit."""
        if isinstance(typed, Unknown):
            return None
        if not isinstance(typed, Concrete) or typed.kind is not kind_of(type_):
            self._mismatch(type_, typed, expr, name)
            return None
        if isinstance(type_, DomType) and typed.value is not None and not self.member(type_, typed.value):
            self.outside(type_, typed.value, expr.span, name)
            return None
        return typed.expr

    def member(self, type_: DomType, value: Value) -> bool:
        """Return True if `value`, of the right kind, is in the domain `type_`."""
        known = self._members.get(id(type_))
        if known is None:
            known = self._members[id(type_)] = (type_, frozenset(type_.values))
        return value in known[1]

    def outside(self, type_: DomType, value: Value, span: Span, name: str) -> None:
        """Report that the constant `value` at `span` is outside `type_`, the domain of `name`."""
        self._elaborator.report_value(
            ProgramCode.OUTSIDE_DOMAIN,
            span,
            f"`{name}` cannot hold {show_value(value)}: its domain is {show_type(type_)}",
            label=f"this is {show_value(value)}",
            notes=("widen the domain, or assign one of its values",),
        )

    def affine(self, type_: BaseType, typed: Typed, expr: ast.Expr, name: str) -> AffineExpr | None:
        """Return `typed`, the meaning of `expr`, as a linear form to store in `name`; None if `type_` does not fit.

        An expression for an int must provably be an integer.
        """
        if isinstance(typed, Unknown):
            return None
        kind = kind_of(type_)
        if isinstance(typed, AffineExpr) and typed.kind is not kind:
            other = self._elaborator.variable_of(typed)
            integer, real = (name, other) if kind is ValueKind.INT else (other, name)
            self._elaborator.findings.report(
                ProgramCode.INT_MEETS_REAL,
                expr.span,
                f"the int `{integer}` is mixed with the real `{real}`",
                notes=(never_meet(self._elaborator.findings.source),),
            )
            return None
        if not isinstance(typed, AffineExpr) and not (isinstance(typed, Concrete) and typed.kind is ValueKind.NUMBER):
            self._mismatch(type_, typed, expr, name)
            return None
        result = affine(typed, expr.span)
        if kind is ValueKind.INT and not self._is_integral(result, expr, name):
            return None
        return result

    def _is_integral(self, value: AffineExpr, expr: ast.Expr, name: str) -> bool:
        terms = [*(coefficient for coefficient, _ in value.terms), value.constant]
        if all(integral(term, self._elaborator.scope.slots) for term in terms):
            return True
        snippet = self._elaborator.findings.snippet(expr.span)
        if not value.terms and isinstance(value.constant, Const):
            problem = f"`{show_value(value.constant.value)}` is not an integer"
        else:
            problem = f"`{snippet}` is not certainly an integer"
        self._elaborator.report_value(
            ProgramCode.NOT_AN_INTEGER,
            expr.span,
            f"`{name}` is an int, but {problem}",
            notes=(
                "ints are sums of ints, each times an integer; assign a quotient to a DOM variable of integers first",
            ),
        )
        return False

    def _mismatch(self, type_: Type, typed: Typed, expr: ast.Expr, name: str) -> None:
        snippet = self._elaborator.findings.snippet(expr.span)
        if isinstance(typed, Concrete | AffineExpr | Switch):
            what = typed.kind.value
        else:
            assert isinstance(typed, LinearComparison | Junction)
            what = ValueKind.BOOL.value
        if isinstance(typed, AffineExpr | Switch):
            note = "compare it in a condition, and assign concrete values in the branches"
        elif type_ is BaseType.BOOL:
            note = "a bool takes true, false or a condition"
        else:
            note = "change the variable's type or the value"
        message = f"`{name}` is of type {show_type(type_)}, but `{snippet}` is {what}"
        self._elaborator.findings.report(ProgramCode.MISMATCH, expr.span, message, notes=(note,))


def integral(expr: DomExpr, slots: Sequence[Slot]) -> bool:
    """Return True only if `expr`, over `slots`, is an integer in every state where it has a value."""
    match expr:
        case Const(value):
            return isinstance(value, Fraction) and value.denominator == 1
        case Reference(slots=elements):
            return _integers(slots[elements[0]])
        case Apply(DomOp.DIVIDE):
            return False
        case Apply(DomOp.COUNT):
            return True
        case Apply(arguments=arguments):
            return all(integral(argument, slots) for argument in arguments)


def _integers(slot: Slot) -> bool:
    return isinstance(slot.type, DomType) and all(
        isinstance(value, Fraction) and value.denominator == 1 for value in slot.type.values
    )
