"""Expressions and declarations, evaluated for many runs at once by walking the syntax tree.

The memory of a batch of runs has columns of exact values, numbers over draws, and the variables that hold them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, lcm
from typing import Any, Generic, TypeVar, assert_never

import numpy as np
from numpy.typing import NDArray

from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.ast import COMPARED, BinaryOp, CompareOp, UnaryOp, walk
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError, SourceText, Span, bad_input
from dipc.text.numbers import is_irrational, monomial

T = TypeVar("T")
R = TypeVar("R", bound=Hashable)

#: Positions in arrays: indices of runs, or codes into a table.
Positions = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: The number of values up to which searching one by one is faster than all together.
_FEW = 8

_ZERO = np.zeros((), dtype=np.intp)


class Undefined(Exception):
    """Raised if an operation has no result for some run, at index `position` in the columns of its operands."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@frozen(eq=False)
class RunColumn(Generic[T]):
    """A column of values: run i has the value `values[codes[i]]`; not every value need occur."""

    values: Sequence[T]
    codes: Positions

    def __len__(self) -> int:
        return len(self.codes)

    def select(self, positions: Positions | Mask) -> RunColumn[T]:
        """Return the column of the runs at `positions`."""
        return RunColumn(self.values, self.codes[positions])


def constant(value: T, size: int) -> RunColumn[T]:
    """Return the column with `value` for each of `size` runs."""
    return RunColumn((value,), np.broadcast_to(_ZERO, size))


def truth_column(mask: Mask) -> RunColumn[Any]:
    """Return `mask` as a column of truth values."""
    return RunColumn((False, True), mask.astype(np.intp))


def truth_mask(column: RunColumn[Any]) -> Mask:
    """Return the mask of the runs for which `column`, of truth values, is true."""
    return np.array(column.values, dtype=np.bool_)[column.codes]


def distinct(codes: Positions, bound: int) -> tuple[Positions, Positions]:
    """Return those of `codes` that occur, increasing, and for each run the index of its own code among them.

    All codes are < `bound`.
    """
    if bound == 1:
        return np.zeros(min(1, len(codes)), dtype=np.intp), np.broadcast_to(_ZERO, len(codes))
    if bound > 4 * len(codes) + 1024:
        present, places = np.unique(codes, return_inverse=True)
        return present, places.astype(np.intp, copy=False)
    present = np.flatnonzero(np.bincount(codes, minlength=bound))
    order = np.empty(bound, dtype=np.intp)
    order[present] = np.arange(len(present))
    return present, order[codes]


def zip_columns(columns: Sequence[RunColumn[Any]]) -> RunColumn[tuple[Any, ...]]:
    """Return the column of tuples of `columns`, at least one; each value in its table occurs exactly once."""
    size = len(columns[0])
    groups, places = min(1, size), np.broadcast_to(_ZERO, size)
    steps: list[tuple[Positions, Positions]] = []
    for column in columns:
        width = len(column.values)
        if width > 1:
            present, places = distinct(places * width + column.codes, groups * width)
            steps.append((present // width, present % width))
            groups = len(present)
    # From the last column back to the first: the value of the column in each group, and the group it came from.
    group = np.arange(groups)
    result: list[list[Any]] = []
    for column in reversed(columns):
        if len(column.values) > 1:
            before, code = steps.pop()
            result.append([column.values[index] for index in code[group].tolist()])
            group = before[group]
        else:
            result.append([column.values[0]] * groups)
    return RunColumn(list(zip(*reversed(result), strict=True)), places)


def apply(function: Callable[..., R], *columns: RunColumn[Any]) -> RunColumn[R]:
    """Return `function` of `columns`, run by run, called once for each combination of values that occurs.

    Raises Undefined if the function raises ArithmeticError.
    """
    groups = zip_columns(columns)
    table: dict[R, int] = {}
    codes = np.empty(len(groups.values), dtype=np.intp)
    for number, arguments in enumerate(groups.values):
        try:
            result = function(*arguments)
        except ArithmeticError as error:
            raise Undefined(int(np.argmax(groups.codes == number))) from error
        codes[number] = table.setdefault(result, len(table))
    if len(table) == 1:
        return constant(next(iter(table)), len(groups))
    return RunColumn(list(table), codes[groups.codes])


def split(column: RunColumn[T]) -> Iterator[tuple[T, Positions]]:
    """Yield each value of `column` that occurs, with the positions of its runs, increasing."""
    present, places = distinct(column.codes, len(column.values))
    if len(present) == 1:
        yield column.values[int(present[0])], np.arange(len(column))
        return
    if len(present) <= _FEW:
        for number, code in enumerate(present.tolist()):
            yield column.values[code], np.flatnonzero(places == number)
        return
    # NumPy sorts short integers without comparing them.
    keys = places.astype(np.uint16) if len(present) <= 1 << 16 else places
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(present)))
    for code, positions in zip(present.tolist(), np.split(order, ends[:-1]), strict=True):
        yield column.values[code], positions


def gathered(columns: Iterable[tuple[Positions, RunColumn[R]]], size: int) -> RunColumn[R]:
    """Return the column of `size` runs with each of `columns` at its positions, which together are all positions."""
    table: dict[R, int] = {}
    codes = np.empty(size, dtype=np.intp)
    for positions, column in columns:
        if len(column.values) > 1:
            present, places = distinct(column.codes, len(column.values))
        else:
            present, places = np.zeros(1, dtype=np.intp), column.codes
        order = [table.setdefault(column.values[index], len(table)) for index in present.tolist()]
        codes[positions] = np.array(order, dtype=np.intp)[places]
    return RunColumn(list(table), codes)


# --- numbers over draws ----------------------------------------------------------------------------

#: Sums of integers below this in absolute value are computed in 64 bits.
_SAFE = 2**62


@frozen(eq=False)
class Draw:
    """The draws of one execution of a sampling statement, one for each run of a batch: reals, or integers.

    Runs in which the statement was not executed have arbitrary values. `serial` numbers the draws of a batch in the
    order in which they are made.
    """

    serial: int
    values: NDArray[np.float64] | NDArray[np.int64]


@frozen
class SimulatedForm:
    """The number constant + Σ coefficient · draw, with the draws in the order in which they were made.

    There is at least one term, and no coefficient is 0.
    """

    constant: Fraction
    terms: tuple[tuple[Draw, Fraction], ...]


Number = Fraction | SimulatedForm


def counted(value: Number | bool) -> Number:
    """Return `value` as an operand of arithmetic: a truth value is 1 or 0."""
    return Fraction(value) if isinstance(value, bool) else value


def resolve_forms(column: RunColumn[Any], runs: Positions) -> RunColumn[Any]:
    """Return `column`, which has the values in `runs`, with forms replaced by their integer values."""
    columns: list[tuple[Positions, RunColumn[Any]]] = []
    for value, positions in split(column):
        if isinstance(value, SimulatedForm):
            present, codes = np.unique(_whole_sum(value, runs[positions]), return_inverse=True)
            columns.append((positions, RunColumn([Fraction(int(each)) for each in present], codes.astype(np.intp))))
        else:
            columns.append((positions, column.select(positions)))
    return gathered(columns, len(runs))


def plus(left: Number, right: Number) -> Number:
    """Return `left` + `right`."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right
    terms: dict[Draw, Fraction] = {}
    total = Fraction(0)
    for side in (left, right):
        if isinstance(side, Fraction):
            total += side
            continue
        total += side.constant
        for draw, coefficient in side.terms:
            terms[draw] = terms.get(draw, Fraction(0)) + coefficient
    return _form(total, terms)


def times(left: Number, right: Number) -> Number:
    """Return `left` * `right`, of which at most one is a form."""
    if isinstance(left, SimulatedForm):
        left, right = right, left
    assert isinstance(left, Fraction), "a product of two forms passed the type check"
    if isinstance(right, Fraction):
        return left * right
    return _form(left * right.constant, {draw: left * coefficient for draw, coefficient in right.terms})


def negated(number: Number) -> Number:
    """Return -`number`."""
    return -number if isinstance(number, Fraction) else times(Fraction(-1), number)


def minus(left: Number, right: Number) -> Number:
    """Return `left` - `right`."""
    return plus(left, negated(right))


def divide(left: Number, right: Number) -> Number:
    """Return `left` / `right`, where `right` is not a form. Raises ZeroDivisionError."""
    assert isinstance(right, Fraction), "a division by a form passed the type check"
    return left / right if isinstance(left, Fraction) else times(1 / right, left)


def _form(constant: Fraction, terms: dict[Draw, Fraction]) -> Number:
    kept = [term for term in terms.items() if term[1]]
    return SimulatedForm(constant, tuple(sorted(kept, key=lambda term: term[0].serial))) if kept else constant


def compared(op: CompareOp, difference: RunColumn[Number], runs: Positions) -> RunColumn[Any]:
    """Return whether `difference` compares with 0 as `op` says, for each of `runs`.

    The comparison is exact, except for the rounding of real draws.
    """
    holds = np.empty(len(difference), dtype=np.bool_)
    for number, positions in split(difference):
        if isinstance(number, Fraction):
            holds[positions] = COMPARED[op](number, 0)
        else:
            holds[positions] = _compared(op, number, runs[positions])
    return truth_column(holds)


def _compared(op: CompareOp, form: SimulatedForm, runs: Positions) -> Mask:
    if form.terms[0][0].values.dtype == np.int64:
        return np.asarray(COMPARED[op](_whole_sum(form, runs), 0), dtype=np.bool_)
    if op in (CompareOp.EQ, CompareOp.NE):
        # A combination of independent continuous draws differs from any number with probability 1.
        return np.full(len(runs), op is CompareOp.NE)
    return np.asarray(COMPARED[op](_real_sum(form, runs), 0.0), dtype=np.bool_)


def _real_sum(form: SimulatedForm, runs: Positions) -> NDArray[np.float64]:
    """Return a positive multiple of `form` in each of `runs` as floats, scaled so that no coefficient overflows."""
    scale = max(abs(coefficient) for _, coefficient in form.terms)
    total = np.full(len(runs), _rounded(form.constant / scale))
    for draw, coefficient in form.terms:
        total += float(coefficient / scale) * draw.values[runs]
    return total


def _whole_sum(form: SimulatedForm, runs: Positions) -> NDArray[Any]:
    """Return a positive multiple of `form` in each of `runs`, exactly, in integers.

    The multiple is `form` itself if its coefficients are integers.
    """
    common = lcm(form.constant.denominator, *(coefficient.denominator for _, coefficient in form.terms))
    terms = [(draw.values[runs], int(coefficient * common)) for draw, coefficient in form.terms]
    constant = int(form.constant * common)
    most = abs(constant) + sum(
        abs(coefficient) * max(abs(int(values.max())), abs(int(values.min()))) for values, coefficient in terms
    )
    kind: type[Any] = np.int64 if most < _SAFE else object
    total = np.full(len(runs), constant, dtype=kind)
    for values, coefficient in terms:
        total = total + values.astype(kind) * coefficient
    return total


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


# --- declarations ----------------------------------------------------------------------------------


@frozen(eq=False)
class Domain:
    """A finite domain: its values in order, and the index of each."""

    values: list[Value]
    places: dict[Value, int]


@frozen(eq=False)
class SimulatedVariable:
    """A scalar (`low` None) or an array of `size` elements from index `low` on.

    `domain` is None for bool, int or real, which `base` distinguishes. `initial` is the value of each element at the
    start.
    """

    name: str
    role: ast.Role
    low: int | None
    size: int
    domain: Domain | None
    base: ast.BaseType | None
    initial: Value | None

    @property
    def finite(self) -> bool:
        """True if the variable has finitely many values, so that they can be counted."""
        return self.base not in (ast.BaseType.INT, ast.BaseType.REAL)

    def element_name(self, offset: int) -> str:
        """Return the name of the element at `offset` from the first as people write it, such as `q[1]`."""
        return self.name if self.low is None else f"{self.name}[{self.low + offset}]"


@dataclass(slots=True)
class SimulatedScope:
    """The meanings of the names of a program, as far as its declarations have been read."""

    source: SourceText
    constants: dict[str, Fraction] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)
    variables: dict[str, SimulatedVariable] = field(default_factory=dict)

    def of_role(self, role: ast.Role) -> list[tuple[str, SimulatedVariable, int]]:
        """Return all scalars and array elements of `role`, in order: name, variable, offset."""
        return [
            (variable.element_name(offset), variable, offset)
            for variable in self.variables.values()
            if variable.role is role
            for offset in range(variable.size)
        ]


# --- the memory of a batch -------------------------------------------------------------------------


_NOWHERE = -1


class OutsideDomain(Exception):
    """Raised if a variable cannot hold the `value` that is assigned in the run at index `position`."""

    def __init__(self, position: int, value: Value) -> None:
        super().__init__(position, value)
        self.position = position
        self.value = value


class CodedColumn:
    """The values of a scalar or array element: for each run a code into `values`, or -1 without a value."""

    def __init__(self, variable: SimulatedVariable, offset: int, size: int) -> None:
        self.variable = variable
        self.name = variable.element_name(offset)
        # The table of a domain is shared and complete; other tables grow with what is written.
        self.values: list[Any] = [] if variable.domain is None else variable.domain.values
        self._places: dict[Any, int] = {} if variable.domain is None else variable.domain.places
        self.codes: Positions = np.full(size, _NOWHERE, dtype=np.intp)
        self._complete = False

    def read(self, runs: Positions) -> RunColumn[Any]:
        """Return the values in `runs`. Raises Undefined if some run has no value."""
        codes = self.codes[runs]
        if not self._complete and (codes < 0).any():
            raise Undefined(int(np.argmax(codes < 0)))
        return RunColumn(self.values, codes)

    def peek(self) -> RunColumn[Any]:
        """Return the values in all runs, None for a run without a value."""
        return RunColumn([*self.values, None], np.where(self.codes < 0, len(self.values), self.codes))

    def write(self, runs: Positions, column: RunColumn[Any]) -> None:
        """Set the values in `runs`, which increase, to `column`. Raises OutsideDomain for values outside the domain."""
        whole = len(runs) == len(self.codes)
        domain = self.variable.domain
        if whole and domain is None:
            # No old value remains, so that their draws can be dropped.
            self.values, self._places = [], {}
        present, places = distinct(column.codes, len(column.values))
        codes = np.empty(len(present), dtype=np.intp)
        for number, index in enumerate(present.tolist()):
            value = column.values[index]
            code = self._places.get(value)
            if code is None:
                if domain is not None:
                    raise OutsideDomain(int(np.argmax(places == number)), value)
                code = self._places[value] = len(self.values)
                self.values.append(value)
            codes[number] = code
        if whole:
            self.codes = codes[places]
            self._complete = True
        else:
            self.codes[runs] = codes[places]


class Batch:
    """The variables of `size` runs of one program, and which runs are alive; all runs start alive."""

    def __init__(self, scope: SimulatedScope, size: int, inputs: Mapping[str, Value]) -> None:
        """Start `size` runs with the variables of `scope`.

        `inputs` are the values of the inputs, by the names of scalars and elements.
        """
        self.size = size
        self.alive = np.ones(size, dtype=np.bool_)
        self._draws = 0
        self._cells = {
            name: [CodedColumn(variable, offset, size) for offset in range(variable.size)]
            for name, variable in scope.variables.items()
        }
        everyone = np.arange(size)
        for cells in self._cells.values():
            for cell in cells:
                value = inputs.get(cell.name, cell.variable.initial)
                if value is not None:
                    cell.write(everyone, RunColumn((value,), np.zeros(size, dtype=np.intp)))

    def cell(self, variable: SimulatedVariable, offset: int) -> CodedColumn:
        """Return the values of the element of `variable` at `offset`, in all runs."""
        return self._cells[variable.name][offset]

    def draw(self, runs: Positions, values: NDArray[Any]) -> Number:
        """Return the number with the drawn `values`, one for each of `runs`."""
        everywhere = np.zeros(self.size, dtype=values.dtype)
        everywhere[runs] = values
        self._draws += 1
        return SimulatedForm(Fraction(0), ((Draw(self._draws, everywhere), Fraction(1)),))


class LoopLimitReached(DiagnosticError):
    """Raised if a run was still inside a `while` after the greatest number of rounds allowed."""


# --- expressions -----------------------------------------------------------------------------------


#: The run in which an expression is evaluated if its value is equal in every run.
_ANY_RUN: Positions = np.zeros(1, dtype=np.intp)

#: The most variables whose values a diagnostic shows.
_SHOWN = 8


class BatchExpressions:
    """An evaluator of expressions of a type-checked program in the runs of one batch, at one eps.

    `locals` are the values of loop variables and of the variable of an `Exp`.
    """

    def __init__(self, scope: SimulatedScope, eps: Fraction, batch: Batch) -> None:
        self.scope = scope
        self.eps = eps
        self.batch = batch
        self.locals: dict[str, Value] = {}

    @contextmanager
    def local(self, name: str) -> Iterator[None]:
        """Run a block in which `name` can be set in `locals`; restore its old value afterwards."""
        hidden = self.locals.get(name)
        try:
            yield
        finally:
            self.locals.pop(name, None)
            if hidden is not None:
                self.locals[name] = hidden

    # --- values that are the same in every run ---

    def value(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Value:
        """Return the value of `expr`, which must be equal in all of `runs`.

        By default, the expression must have no variables.
        """
        column = self.column(expr, runs[:1])
        value = column.values[int(column.codes[0])]
        assert isinstance(value, Fraction | str | bool)
        return value

    def number(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Fraction:
        """Return the rational value of `expr`, which must be equal in all of `runs`; a comparison is 1 or 0.

        By default, the expression must have no variables.
        """
        value = self.value(expr, runs)
        if isinstance(value, bool):
            return Fraction(value)
        assert isinstance(value, Fraction)
        return value

    def deviation(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Fraction:
        """Return a rational close to the value of `expr`, a positive deviation that is equal in all of `runs`."""
        if not is_irrational(expr):
            return self.number(expr, runs)
        eps = Real.from_rational(self.eps)

        def constant(node: ast.Expr) -> Fraction:
            return self.number(node, runs)

        factor, power = monomial(expr, constant)
        return (factor * eps.power(int(power) + 1) / eps).enclosure()[0]

    def alike(self, exprs: Iterable[ast.Expr], runs: Positions) -> Iterator[Positions]:
        """Yield groups of `runs` in each of which every variable in `exprs` has one value."""
        references = [node for expr in exprs for node in walk(expr) if isinstance(node, ast.Name | ast.Element)]
        variables = [node for node in references if node.name in self.scope.variables and node.name not in self.locals]
        if not variables:
            yield runs
            return
        for _, positions in split(zip_columns([self.column(variable, runs) for variable in variables])):
            yield runs[positions]

    def integer(self, expr: ast.Expr) -> int:
        """Return the integer value of `expr`, which has no variables."""
        value = self.number(expr)
        assert value.denominator == 1
        return int(value)

    def domain(self, expr: ast.DomainExpr) -> Domain:
        """Return the domain that `expr` denotes."""
        values: list[Value]
        match expr:
            case ast.NamedDomain(name):
                return self.scope.domains[name]
            case ast.Range(low, high):
                values = [Fraction(value) for value in range(self.integer(low), self.integer(high) + 1)]
            case ast.ListedDomain(listed):
                values = [self.value(value) for value in listed]
            case _:
                assert_never(expr)
        return Domain(values, {value: index for index, value in enumerate(values)})

    # --- values in runs ---

    def holds(self, condition: ast.Expr, runs: Positions) -> Mask:
        """Return the mask of `runs` in which `condition` is true."""
        return truth_mask(self.column(condition, runs))

    def column(self, expr: ast.Expr, runs: Positions) -> RunColumn[Any]:
        """Return the value of `expr` in each of `runs`, of which there is at least one.

        Raises DiagnosticError for a failure in some run.
        """
        match expr:
            case ast.Number(value) | ast.Truth(value):
                return constant(value, len(runs))
            case ast.Eps():
                return constant(self.eps, len(runs))
            case ast.Name(name):
                return self._name(name, expr.span, runs)
            case ast.Element(name, index):
                variable = self.scope.variables[name]
                offsets = self.offsets(variable, index, runs)
                reads = ((at, self._read(variable, offset, expr.span, runs[at])) for offset, at in split(offsets))
                return gathered(reads, len(runs)) if len(offsets.values) > 1 else next(reads)[1]
            case ast.Unary(op, operand):
                if op is UnaryOp.NEGATE:
                    return apply(negated, self._counted(operand, runs))
                return apply(operator.not_, self.column(operand, runs))
            case ast.Binary(BinaryOp.AND | BinaryOp.OR):
                return self._junction(expr, runs)
            case ast.Binary(op, left, right):
                with self.explained(expr.span, runs):
                    return apply(_ARITHMETIC[op], self._counted(left, runs), self._counted(right, runs))
            case ast.Compare(op, left, right):
                return self._comparison(op, self.column(left, runs), self.column(right, runs), runs)
            case ast.Call(function, arguments):
                columns = [self._counted(argument, runs) for argument in arguments]
                if any(isinstance(value, SimulatedForm) for column in columns for value in column.values):
                    return self._selected(function, columns, runs)
                return apply(_FUNCTIONS[function], *columns)
            case ast.Ranged():
                written = self.written_out(expr)
                return constant(Fraction(0), len(runs)) if written is None else self.column(written, runs)
            case ast.Drawn():
                raise AssertionError("`dipc.text.parser.parse` gives what is drawn a variable")
            case _:
                assert_never(expr)

    def written_out(self, expr: ast.Ranged) -> ast.Expr | None:
        """Return `expr` with a term for each value of its range, or None for an empty range."""
        low, high = self.integer(expr.low), self.integer(expr.high)
        if low > high:
            return None
        written = expr.written_out(low, high)
        # A sum of one condition counts, too.
        zero = ast.Number(Fraction(0), "0", expr.span)
        return ast.Binary(BinaryOp.ADD, written, zero, expr.span) if expr.function in ("sum", "count") else written

    def without_ranges(self, distribution: ast.Distribution) -> ast.Distribution:
        """Return `distribution` with the sums in its rate or weights written out."""

        def change(node: ast.Expr) -> ast.Expr | None:
            if not isinstance(node, ast.Ranged):
                return None
            written = self.written_out(node)
            return ast.number(0, node.span) if written is None else ast.rewritten(written, change)

        match distribution:
            case ast.Choose(arms):
                return replace(distribution, arms=tuple((value, ast.rewritten(share, change)) for value, share in arms))
            case ast.NoiseExpr(rate=rate):
                return distribution if rate is None else replace(distribution, rate=ast.rewritten(rate, change))
            case ast.ExponentialMechanism(rate=rate):
                return replace(distribution, rate=ast.rewritten(rate, change))
            case _:
                assert_never(distribution)

    def _counted(self, expr: ast.Expr, runs: Positions) -> RunColumn[Any]:
        return apply(counted, self.column(expr, runs))

    def offsets(self, variable: SimulatedVariable, index: ast.Expr, runs: Positions) -> RunColumn[int]:
        """Return the offset from the first element of `variable` that `index` selects in each of `runs`."""
        low, size = variable.low, variable.size
        assert low is not None

        def offset(value: Fraction) -> int:
            if value.denominator != 1 or not low <= value < low + size:
                raise ArithmeticError(f"the index {value} is outside `{variable.name}[{low}..{low + size - 1}]`")
            return int(value) - low

        with self.explained(index.span, runs):
            return apply(offset, self.column(index, runs))

    def _name(self, name: str, span: Span, runs: Positions) -> RunColumn[Any]:
        if name in self.locals:
            return constant(self.locals[name], len(runs))
        if name in self.scope.constants:
            return constant(self.scope.constants[name], len(runs))
        if name in self.scope.variables:
            return self._read(self.scope.variables[name], 0, span, runs)
        return constant(name, len(runs))

    def _read(self, variable: SimulatedVariable, offset: int, span: Span, runs: Positions) -> RunColumn[Any]:
        cell = self.batch.cell(variable, offset)
        try:
            return cell.read(runs)
        except Undefined as undefined:
            message = f"`{cell.name}` is read before it is assigned"
            note = "assign it on every path that leads here, or declare it with an initial value"
            raise self.fault("E0701", message, span, int(runs[undefined.position]), note) from None

    def _junction(self, expr: ast.Binary, runs: Positions) -> RunColumn[Any]:
        """Return `expr`, an `and` or `or`, in `runs`.

        Its right side is evaluated only in the runs that the left side does not decide.
        """
        truth = self.holds(expr.left, runs)
        still_open = np.flatnonzero(truth if expr.op is BinaryOp.AND else ~truth)
        if len(still_open):
            truth[still_open] = self.holds(expr.right, runs[still_open])
        return truth_column(truth)

    def _comparison(
        self, op: CompareOp, left: RunColumn[Any], right: RunColumn[Any], runs: Positions
    ) -> RunColumn[Any]:
        if not any(isinstance(value, SimulatedForm) for side in (left, right) for value in side.values):
            return apply(COMPARED[op], left, right)
        return compared(op, apply(minus, left, right), runs)

    def _selected(self, function: str, columns: list[RunColumn[Any]], runs: Positions) -> RunColumn[Any]:
        """Return the `function` min or max of `columns` of forms, or the abs of one, in each of `runs`."""
        best, *rest = columns
        if function == "abs":
            rest = [apply(negated, best)]
        for column in rest:
            ahead = truth_mask(
                self._comparison(CompareOp.LE if function == "min" else CompareOp.GE, best, column, runs)
            )
            sides = [(np.flatnonzero(ahead), best), (np.flatnonzero(~ahead), column)]
            best = gathered(((at, side.select(at)) for at, side in sides if len(at)), len(runs))
        return best

    # --- failures ---

    @contextmanager
    def explained(self, span: Span, runs: Positions) -> Iterator[None]:
        """Run a block in which Undefined, about columns of `runs`, becomes a diagnostic at `span`."""
        try:
            yield
        except Undefined as undefined:
            run, cause = int(runs[undefined.position]), undefined.__cause__
            if isinstance(cause, ZeroDivisionError):
                note = "guard the division with `if`"
                raise self.fault("E0702", "division by zero", span, run, note) from None
            note = "guard the access with `if`, or declare a longer array"
            raise self.fault("E0703", str(cause), span, run, note) from None

    def fault(self, code: str, message: str, span: Span, run: int | None, *notes: str) -> DiagnosticError:
        """Return the diagnostic `code` for a failure at `span` in run `run`, with `message` and `notes`.

        The diagnostic shows the values in that run. A `run` of None stands for all runs.
        """
        situation = f"this happened with {', '.join(values)}" if (values := self._situation(run)) else ""
        excerpt = self.scope.source.excerpt(span)
        return bad_input(code, message, *filter(None, [situation]), *notes, place=excerpt)

    def _situation(self, run: int | None) -> list[str]:
        """Return texts for a message about `run`: the loop variables, and the first finite variables that have a value.

        A `run` of None stands for all runs, and only loop variables are shown.
        """
        texts = [f"{name} = {text(value)}" for name, value in self.locals.items()]
        if run is None:
            return texts
        for variable in self.scope.variables.values():
            for offset in range(variable.size if variable.finite else 0):
                cell = self.batch.cell(variable, offset)
                if len(texts) < _SHOWN and cell.codes[run] >= 0:
                    texts.append(f"{cell.name} = {text(cell.values[int(cell.codes[run])])}")
        return texts


def text(value: Value) -> str:
    """Return `value` as text, such as `3`, `-1/2` or `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    return base ** int(exponent)


_ARITHMETIC: dict[BinaryOp, Callable[..., Number]] = {
    BinaryOp.ADD: plus,
    BinaryOp.SUBTRACT: minus,
    BinaryOp.MULTIPLY: times,
    BinaryOp.DIVIDE: divide,
    BinaryOp.POWER: _power,
}


def _least(*numbers: Fraction) -> Fraction:
    return min(numbers)


def _greatest(*numbers: Fraction) -> Fraction:
    return max(numbers)


_FUNCTIONS: dict[str, Callable[..., Fraction]] = {"min": _least, "max": _greatest, "abs": abs}


# --- declarations ----------------------------------------------------------------------------------


def declared(program: ast.ProgramTree, source: SourceText, constants: Mapping[str, Fraction]) -> SimulatedScope:
    """Return all declarations of `program`, whose text is `source`.

    `constants` replace its own constants of equal names. As in the language, constants are declared first, and
    domains after them, so that domains, bounds and types can use every constant.
    """
    scope = SimulatedScope(source)
    known = BatchExpressions(scope, Fraction(1), Batch(scope, 1, {}))
    for declaration in program.declarations:
        if isinstance(declaration, ast.ConstDecl):
            for name, expr in declaration.bindings:
                given = constants.get(name)
                scope.constants[name] = known.number(expr) if given is None else given
    for declaration in program.declarations:
        if isinstance(declaration, ast.DomainDecl):
            scope.domains[declaration.name] = known.domain(declaration.domain)
    variables: dict[str, SimulatedVariable] = {}
    for declaration in program.declarations:
        if isinstance(declaration, ast.VariableDecl):
            for variable in _variables(declaration, known):
                variables[variable.name] = variable
    scope.variables.update(variables)
    return scope


def _variables(declaration: ast.VariableDecl, known: BatchExpressions) -> list[SimulatedVariable]:
    written = declaration.type
    base = written.base if isinstance(written, ast.BaseTypeExpr) else None
    domain = None if isinstance(written, ast.BaseTypeExpr) else known.domain(written)
    initial = None if declaration.initial is None else known.value(declaration.initial)
    variables = []
    for declarator in declaration.declarators:
        low, size = None, 1
        if declarator.low is not None and declarator.high is not None:
            low = known.integer(declarator.low)
            size = known.integer(declarator.high) - low + 1
        variables.append(SimulatedVariable(declarator.name, declaration.role, low, size, domain, base, initial))
    return variables
