"""The translation of a program's tree into instructions: every rule checked, every loop with known bounds unrolled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import assert_never

from dipc.text import ast
from dipc.text.ast import BaseType, CompareOp, Role, walk, weighing
from dipc.text.core import (
    NUMERIC,
    UNKNOWN,
    AffineExpr,
    Apply,
    Branch,
    Concrete,
    Condition,
    Const,
    DomOp,
    DomType,
    ExitInstruction,
    Instruction,
    Jump,
    Junction,
    LinearComparison,
    ProgramCode,
    Reference,
    Slot,
    Store,
    Switch,
    Typed,
    Unknown,
    Value,
    ValueKind,
    counted,
    fold,
    is_condition,
    kind_of,
    show_value,
    show_values,
    truth,
    variables_read,
)
from dipc.text.declarations import (
    StatementBudget,
    blocks,
    check_claims,
    compute_constants,
    declare_domains,
    declare_variables,
    register,
)
from dipc.text.diagnostic import DiagnosticError, SourceText, Span
from dipc.text.expressions import Elaborator, Fitting
from dipc.text.precondition import compile_precondition
from dipc.text.program import CoreProgram, compile_metric
from dipc.text.rewriting import with_clamps_assigned
from dipc.text.sampling import Sampling
from dipc.text.scope import (
    DeclaredConstant,
    DeclaredVariable,
    EnumeratedValue,
    Findings,
    FixedEps,
    Foreign,
    Scope,
    word_for,
)

# --- Instructions with symbolic labels, and conditions compiled to jumps ----------------------------------------------


class Assembler:
    """A list of instructions under construction.

    A jump leads to a label: `label` makes a new one, `place` puts it before the next instruction, and `finish` replaces
    all labels by the indices of their instructions.
    """

    def __init__(self) -> None:
        self._instructions: list[Instruction] = []
        self._positions: list[int] = []

    @property
    def position(self) -> int:
        """The index of the next instruction in the finished program."""
        return len(self._instructions)

    def emit(self, instruction: Instruction) -> None:
        """Append `instruction`."""
        self._instructions.append(instruction)

    def label(self) -> int:
        """Return a new label, which `place` later puts before an instruction."""
        self._positions.append(-1)
        return len(self._positions) - 1

    def place(self, label: int) -> None:
        """Put `label` before the next instruction."""
        self._positions[label] = len(self._instructions)

    def branch(self, condition: Condition, then: int, otherwise: int, span: Span) -> None:
        """Emit a jump to `then` if `condition` holds, and to `otherwise` if not; `span` is the place of the condition.

        Conditions are evaluated from left to right, no further than needed.
        """
        match condition:
            case Concrete():
                self.emit(Branch(condition.expr, then, otherwise, span))
            case LinearComparison():
                self.emit(Branch(condition, then, otherwise, condition.difference.span))
            case Junction(op, left, right):
                rest = self.label()
                if op is DomOp.AND:
                    self.branch(left, rest, otherwise, span)
                else:
                    self.branch(left, then, rest, span)
                self.place(rest)
                self.branch(right, then, otherwise, span)
            case _:
                assert_never(condition)

    def finish(self, end: Span) -> tuple[Instruction, ...]:
        """Return the instructions with labels replaced by indices; `end` is the place where the program ends.

        Every jump leads to an instruction, and the last instruction is `ExitInstruction`.
        """
        if (
            not self._instructions
            or not isinstance(self._instructions[-1], ExitInstruction)
            or self.position in self._positions
        ):
            self.emit(ExitInstruction(end))
        return tuple(self._resolved(instruction) for instruction in self._instructions)

    def _resolved(self, instruction: Instruction) -> Instruction:
        match instruction:
            case Branch(then=then, otherwise=otherwise):
                return replace(instruction, then=self._goal(then), otherwise=self._goal(otherwise))
            case Jump(label):
                return Jump(self._goal(label), instruction.span)
            case _:
                return instruction

    def _goal(self, label: int) -> int:
        position = self._positions[label]
        for _ in range(len(self._instructions)):
            instruction = self._instructions[position]
            if not isinstance(instruction, Jump):
                return position
            following = self._positions[instruction.target]
            if following == position:
                return position
            position = following
        return position


# --- Statements to instructions: loops with constant bounds unrolled, conditions compiled, every rule checked ---------


class StatementLowering:
    """The translation of the statements of one program or of one ideal into instructions."""

    def __init__(self, elaborator: Elaborator, fitting: Fitting, *, deterministic: bool) -> None:
        self._elaborator = elaborator
        self._findings = elaborator.findings
        self._fitting = fitting
        self._budget = StatementBudget(elaborator.findings)
        self._sampling = Sampling(elaborator, fitting, self._budget)
        self._deterministic = deterministic
        self._assembler = Assembler()
        self._whiles: list[Span] = []
        self._checked: set[int] = set()
        self._whole = True
        #: The spans of `while` statements by the label of their condition.
        self.loops: dict[int, Span] = {}

    @property
    def complete(self) -> bool:
        """Whether every loop could be unrolled, so that the instructions are the whole program."""
        return self._whole and self._budget.complete

    def lower(self, body: Sequence[ast.Statement], end: Span) -> tuple[Instruction, ...]:
        """Return the instructions of `body`, which ends at `end`; its mistakes are reported."""
        self._block(body)
        return self._assembler.finish(end)

    def _block(self, body: Sequence[ast.Statement]) -> None:
        self._checked.add(id(body))
        for statement in body:
            if not self._elaborator.dead:
                self._budget.spend(1)
            match statement:
                case ast.Assign():
                    place = self._place(statement.target)
                    self._elaborator.receive(statement.value, statement.target)
                    typed = self._elaborator.typed(statement.value)
                    if place is None:
                        self._assume_array_assigned(statement)
                    elif not self._store(place, typed, statement):
                        self._assume_assigned(place, statement.span)
                case ast.Sample():
                    self._sample(statement)
                case ast.If():
                    self._if(statement)
                case ast.For():
                    self._for(statement)
                case ast.While():
                    self._while(statement)
                case ast.ExitStatement(span):
                    self._emit(ExitInstruction(span))
                case _:
                    assert_never(statement)

    def _dead(self, body: Sequence[ast.Statement]) -> None:
        """Check the names and types in `body`, statements that can never run, without checking values.

        If `body` was checked before, nothing happens.
        """
        if body and id(body) not in self._checked:
            self._elaborator.dead += 1
            self._block(body)
            self._elaborator.dead -= 1

    def _emit(self, instruction: Instruction) -> None:
        if not self._elaborator.dead:
            self._assembler.emit(instruction)

    # --- control -----------------------------------------------------------------------------------

    def _if(self, statement: ast.If) -> None:
        condition = self._elaborator.condition(statement.condition)
        settled = truth(condition)
        if settled is not None:
            live, dead = statement.then, statement.otherwise
            if not settled:
                live, dead = dead, live
            self._block(live)
            self._dead(dead)
            return
        assembler = self._assembler
        then, otherwise = assembler.label(), assembler.label()
        self._branch(condition, then, otherwise, statement.condition.span)
        assembler.place(then)
        self._block(statement.then)
        end = otherwise
        if statement.otherwise:
            end = assembler.label()
            self._emit(Jump(end, statement.span))
            assembler.place(otherwise)
            self._block(statement.otherwise)
        assembler.place(end)

    def _while(self, statement: ast.While) -> None:
        condition = self._elaborator.condition(statement.condition)
        if truth(condition) is False:
            self._dead(statement.body)
            return
        assembler = self._assembler
        start, body, end = assembler.label(), assembler.label(), assembler.label()
        if not self._elaborator.dead:
            self.loops[assembler.position] = statement.span
        assembler.place(start)
        self._branch(condition, body, end, statement.condition.span)
        assembler.place(body)
        self._whiles.append(statement.span)
        self._block(statement.body)
        self._whiles.pop()
        self._emit(Jump(start, statement.span))
        assembler.place(end)

    def _branch(self, condition: Typed, then: int, otherwise: int, span: Span) -> None:
        if self._elaborator.dead:
            return
        if isinstance(condition, Concrete | LinearComparison | Junction):
            self._assembler.branch(condition, then, otherwise, span)
        else:  # a wrong condition: both branches remain possible for the later checks
            self._emit(Branch(Apply(DomOp.OR, (), span), then, otherwise, span))

    def _for(self, statement: ast.For) -> None:
        local, name = self._elaborator.locals, statement.variable
        hidden = local.get(name)
        values = self._iterations(statement)
        if not values:
            local[name] = UNKNOWN
            self._dead(statement.body)
        for value in values if statement.body else ():
            local[name] = Concrete(ValueKind.NUMBER, Const(Fraction(value)))
            self._block(statement.body)
            if not self._budget.fits(0, statement.span, f"{len(values)} iterations"):
                break
        local.pop(name, None)
        if hidden is not None:
            local[name] = hidden

    def _iterations(self, statement: ast.For) -> range:
        """Return the values of the variable of the loop `statement`.

        The result is empty if the loop can never run, has a mistake, or is too long to unroll.
        """
        elaborator = self._elaborator
        low = elaborator.integer(statement.low, "a loop bound")
        high = elaborator.integer(statement.high, "a loop bound")
        bindable = elaborator.check_local(
            statement.variable, statement.span, "the loop variable", may_hide_variables=False
        )
        if elaborator.dead:
            return range(0)
        if low is None or high is None or not bindable:
            self._whole = False
            return range(0)
        count = max(0, high - low + 1)
        text = f"{count} iterations" if count < 10**15 else "this makes too many iterations"
        fits = self._budget.fits(count * len(statement.body), statement.span, text)
        return range(low, low + count) if fits else range(0)

    # --- assignments -------------------------------------------------------------------------------

    def _store(self, target: Reference, typed: Typed, statement: ast.Assign) -> bool:
        span, name = statement.span, target.name
        match self._elaborator.scope.type_of(target):
            case BaseType.BOOL if isinstance(typed, LinearComparison):
                self._emit(Store(target, typed, span))
                return True
            case BaseType.BOOL if isinstance(typed, Junction):
                yes, no = (Store(target, Const(truth), span) for truth in (True, False))
                self._either(typed, span, lambda: self._emit(yes), lambda: self._emit(no))
                return True
            case DomType() | BaseType.INT | BaseType.REAL as type_ if kind_of(type_) in NUMERIC and is_condition(typed):
                return self._store(target, counted(typed, statement.value.span), statement)
            case DomType() if isinstance(typed, Switch):
                return self._by_cases(typed, span, lambda value: self._store(target, value, statement))
            case DomType() as type_ if isinstance(typed, AffineExpr) and typed.kind is ValueKind.INT:
                return self._store_by_values(target, type_, typed, statement)
            case BaseType.BOOL | DomType() as type_:
                value = self._fitting.concrete(type_, typed, statement.value, name)
                if value is not None:
                    self._emit(Store(target, value, span))
                return value is not None
            case BaseType.INT | BaseType.REAL if isinstance(typed, Switch):
                return self._by_cases(typed, span, lambda value: self._store(target, value, statement))
            case BaseType.INT | BaseType.REAL as type_:
                linear = self._fitting.affine(type_, typed, statement.value, name)
                if linear is not None:
                    self._emit(Store(target, linear, span))
                return linear is not None
            case unreachable:
                assert_never(unreachable)

    def _store_by_values(self, target: Reference, type_: DomType, value: AffineExpr, statement: ast.Assign) -> bool:
        """Emit the assignment of the int `value` to `target`, whose type `type_` is finite; return False for a mistake.

        The emitted instructions compare the int with each value of the type. A run in which the int equals none of them
        ends with a fault. `statement` is the assignment in the text.
        """
        values = sorted(each for each in type_.values if isinstance(each, Fraction) and each.denominator == 1)
        if len(values) == 0 or kind_of(type_) is not ValueKind.NUMBER:
            return self._fitting.concrete(type_, value, statement.value, target.name) is not None
        if not self._budget.fits(2 * len(values), statement.span, f"{len(values)} values"):
            return False
        self._budget.spend(2 * len(values))
        assembler, span = self._assembler, statement.span
        outside, end = assembler.label(), assembler.label()
        for before, each in zip([None, *values], values, strict=False):
            if before is None or each != before + 1:
                inside = assembler.label()
                self._branch(self._versus(value, CompareOp.LT, each, span), outside, inside, span)
                assembler.place(inside)
            here, following = assembler.label(), assembler.label()
            self._branch(self._versus(value, CompareOp.LE, each, span), here, following, span)
            assembler.place(here)
            self._emit(Store(target, Const(each), span))
            self._emit(Jump(end, span))
            assembler.place(following)
        assembler.place(outside)
        # Not computed here: a constant outside every domain would be mistaken for one that was refused.
        self._emit(Store(target, Apply(DomOp.ADD, (Const(values[-1]), Const(Fraction(1))), span), span))
        assembler.place(end)
        return True

    def _versus(self, value: AffineExpr, op: CompareOp, number: Fraction, span: Span) -> Condition | Unknown:
        return self._elaborator.relation(span, op, value, Concrete(ValueKind.NUMBER, Const(number)))

    def _either(
        self, condition: Typed, span: Span, then: Callable[[], bool | None], otherwise: Callable[[], bool | None]
    ) -> bool:
        """Emit a branch on `condition`, with instructions for both outcomes; return False if there is a mistake.

        `then` and `otherwise` are functions that emit the instructions of an outcome, and return False for a mistake.
        `otherwise` is not called if `then` returns False. `span` is the place of the condition.
        """
        assembler = self._assembler
        here, there, end = assembler.label(), assembler.label(), assembler.label()
        self._branch(condition, here, there, span)
        assembler.place(here)
        first = then()
        self._emit(Jump(end, span))
        assembler.place(there)
        second = first is not False and otherwise()
        assembler.place(end)
        return second is not False

    def _by_cases(self, value: Typed, span: Span, emit: Callable[[Typed], bool]) -> bool:
        """Call `emit` for each expression that `value` may be equal to, each in a branch of its own.

        For example, max(x, y) is x under one condition, and y otherwise. A branch on the condition leads to the
        instructions for x or to those for y. `emit` emits the instructions for an expression. The result is True if
        `emit` returns True for every expression. `span` is the place of `value`.
        """
        if not isinstance(value, Switch):
            return emit(value)
        one, two = value.then, value.otherwise
        return self._either(
            value.condition,
            span,
            lambda: self._by_cases(one, span, emit),
            lambda: self._by_cases(two, span, emit),
        )

    def _assume_assigned(self, target: Reference, span: Span) -> None:
        """Emit an assignment of some value to `target`, after a mistake was reported in its assignment at `span`.

        Otherwise later reads of the variable would be reported as reads before any assignment.
        """
        if target.slots:
            self._emit(Store(target, Const(False), span))

    def _assume_array_assigned(self, statement: ast.Assign | ast.Sample) -> None:
        """Emit an assignment to an element of the array that `statement` writes at an index with a mistake.

        The assignment follows what `statement` reads, so that reads of the array in `statement` itself are reported.
        """
        variable = self._elaborator.scope.symbols.get(statement.target.name)
        if isinstance(variable, DeclaredVariable) and variable.low is not None:
            least = Const(Fraction(variable.low))
            whole = Reference(variable.name, variable.slots, statement.span, least, variable.low)
            self._assume_assigned(whole, statement.span)

    def _sample(self, statement: ast.Sample) -> None:
        place = self._place(statement.target)
        if self._deterministic:
            self._findings.report(
                ProgramCode.BAD_IDEAL,
                statement.span,
                "the ideal draws a random value",
                notes=("the ideal computes the exact answer from the inputs, without noise",),
            )
        written = self._without_ranges(statement)
        if written is not None:
            self._for_each_value(self._elaborator.concrete_reads(weighing(written.distribution)), written, place)
        elif place is not None:
            self._assume_assigned(place, statement.span)
        if place is None:
            self._assume_array_assigned(statement)

    def _without_ranges(self, statement: ast.Sample) -> ast.Sample | None:
        """Return `statement` with the sums in its rate or weights written out; None after reporting a mistake."""
        distribution = statement.distribution
        if not any(isinstance(node, ast.Ranged) for node in walk(weighing(distribution))):
            return statement
        written = [self._elaborator.written_out(each) for each in weighing(distribution)]
        known = [each for each in written if each is not None]
        if len(known) < len(written):
            return None
        match distribution:
            case ast.Choose(arms):
                choices = tuple((value, weight) for (value, _), weight in zip(arms, known, strict=True))
                return replace(statement, distribution=replace(distribution, arms=choices))
            case ast.NoiseExpr() | ast.ExponentialMechanism():
                return replace(statement, distribution=replace(distribution, rate=known[0]))
            case _:
                assert_never(distribution)

    def _for_each_value(self, reads: Sequence[Reference], statement: ast.Sample, place: Reference | None) -> bool:
        """Emit `statement`, which draws into `place`, once for each combination of values of the variables `reads`.

        Branches on these variables lead to the right copy. In each copy their values are known, so that a rate or
        weight is constant. Returns True if there is no mistake.
        """
        elaborator, assembler, span = self._elaborator, self._assembler, statement.span
        if not reads or elaborator.dead:
            return self._draw(place, statement)
        read, *rest = reads
        (slot,) = read.slots
        values = _values(elaborator.scope.slots[slot])
        combinations = prod(len(_values(elaborator.scope.slots[each.slots[0]])) for each in reads)
        if not self._budget.fits(combinations, span, f"{combinations} combinations of values"):
            return False
        self._budget.spend(len(values))
        end, fits = assembler.label(), True
        for value in values:
            following = assembler.label()
            if value != values[-1]:
                then = assembler.label()
                same = fold(DomOp.EQ, (read, Const(value)), span)
                self._branch(Concrete(ValueKind.BOOL, same), then, following, span)
                assembler.place(then)
            elaborator.fixed[slot] = value
            fits = fits and self._for_each_value(rest, statement, place)
            del elaborator.fixed[slot]
            self._emit(Jump(end, span))
            assembler.place(following)
        assembler.place(end)
        return fits

    def _draw(self, place: Reference | None, statement: ast.Sample) -> bool:
        mean: Typed = UNKNOWN
        if isinstance(statement.distribution, ast.NoiseExpr) and statement.distribution.mean is not None:
            if self._sampling.mean_comes_first(statement.distribution):
                if place is not None:
                    self._assume_assigned(place, statement.span)
                return False
            mean = self._elaborator.typed(statement.distribution.mean)

        def draw(around: Typed) -> bool:
            instruction = self._sampling.instruction(place, statement, around)
            if instruction is not None:
                self._emit(instruction)
            return instruction is not None

        fits = self._by_cases(mean, statement.span, draw)
        if not fits and place is not None:
            self._assume_assigned(place, statement.span)
        return fits

    def _place(self, expr: ast.Name | ast.Element) -> Reference | None:
        """Return the variable `expr` that a statement writes, or None after reporting a mistake."""
        variable = self._variable(expr)
        offset = self._elaborator.typed(expr.index) if isinstance(expr, ast.Element) else UNKNOWN
        if variable is None:
            return None
        if variable.role is ast.Role.INPUT:
            self._findings.report(
                ProgramCode.INPUT_ASSIGNED,
                expr.span,
                f"the input `{variable.name}` is assigned",
                notes=("copy it to a variable and change that",),
                secondary=((variable.span, "declared as an input here"),),
            )
        if self._whiles and variable.type in (BaseType.REAL, BaseType.INT):
            kind = "real" if variable.type is BaseType.REAL else "int"
            self._findings.report(
                ProgramCode.ASSIGNED_IN_WHILE,
                expr.span,
                f"the {kind} variable `{variable.name}` is assigned inside `while`",
                notes=(
                    (
                        "assign it before the loop, or use a `for` loop with constant bounds: a `while` loop "
                        "changes only bool and DOM variables"
                    ),
                ),
                secondary=((self._whiles[-1], "in this loop"),),
            )
        if variable.low is None:
            return None if variable.type is None else Reference(variable.name, variable.slots, expr.span)
        place = self._elaborator.place(variable, expr, offset) if isinstance(expr, ast.Element) else None
        if place is None:
            return None
        slots, index = place
        if index is None:
            return Reference(self._elaborator.scope.slots[slots[0]].name, slots, expr.span)
        return Reference(variable.name, slots, expr.span, index, variable.low)

    def _variable(self, expr: ast.Name | ast.Element) -> DeclaredVariable | None:
        if isinstance(expr, ast.Element):
            variable = self._elaborator.array(expr)
            return None if variable is None or variable.type is None else variable
        symbol = self._elaborator.scope.symbols.get(expr.name)
        if isinstance(symbol, DeclaredVariable) and expr.name not in self._elaborator.locals:
            if symbol.low is not None:
                self._elaborator.name(expr)
            return symbol
        if (symbol is None and expr.name not in self._elaborator.locals) or isinstance(symbol, Foreign):
            self._elaborator.name(expr)
            return None
        local = self._elaborator.locals.get(expr.name)
        if local is UNKNOWN:
            return None
        what = word_for(symbol) if symbol is not None and local is None else "a loop variable"
        message = f"`{expr.name}` is {what} and cannot be assigned"
        self._findings.report(
            ProgramCode.MISUSED_NAME, expr.span, message, notes=("assign a variable declared with `var`",)
        )
        return None


def _values(slot: Slot) -> tuple[Value, ...]:
    if isinstance(slot.type, DomType):
        return slot.type.values
    assert slot.type is BaseType.BOOL
    return False, True


# --- Variables that are read before they are assigned -----------------------------------------------------------------


def report_unassigned(instructions: Sequence[Instruction], slots: Sequence[Slot], findings: Findings) -> None:
    """Report to `findings` each slot that is read although no path to the read assigns it, at the first such read.

    `instructions` and `slots` are those of the program. A variable that only some of the paths to a read assign is
    found when the chain is built.
    """
    initial = 0
    for slot in slots:
        if slot.role is Role.INPUT or slot.initial is not None:
            initial |= 1 << slot.index
    for label, assigned in _reached(instructions, initial):
        for read in variables_read(instructions[label]):
            if not assigned & _bits(read.slots):
                _report(read, slots[read.slots[0]], findings)


def _reached(instructions: Sequence[Instruction], initial: int) -> Iterator[tuple[int, int]]:
    """Yield (label, slots) for each of `instructions` that can be reached.

    The slots, a bit set, are those that have a value on at least one path to the label. `initial` is the bit set of the
    slots with an initial value.
    """
    joined = {0: initial}
    backward = True
    while backward:
        backward = False
        for label, assigned in _pass(instructions, joined):
            after = assigned | _written(instructions[label])
            for target in _jumps(instructions[label]):
                known = joined.get(target)
                new = after if known is None else known | after
                if new != known:
                    joined[target] = new
                    backward = backward or target <= label
    return _pass(instructions, joined)


def _pass(instructions: Sequence[Instruction], joined: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield (label, slots) for each of `instructions` that is reached in one pass from the first to the last.

    `slots` is a bit set of the slots that have a value on some path to the label. `joined` maps the targets of jumps to
    the bit sets found for them so far; the caller adds to it during the pass.
    """
    falling: int | None = None
    for label, instruction in enumerate(instructions):
        if label in joined:
            falling = joined[label] if falling is None else falling | joined[label]
        if falling is None:
            continue
        yield label, falling
        if isinstance(instruction, Branch | Jump | ExitInstruction):
            falling = None
        else:
            falling |= _written(instruction)


def _jumps(instruction: Instruction) -> tuple[int, ...]:
    match instruction:
        case Branch(Const(value), then, otherwise):
            return (then if value else otherwise,)
        case Branch(then=then, otherwise=otherwise):
            return (then, otherwise)
        case Jump(target):
            return (target,)
        case _:
            return ()


def _written(instruction: Instruction) -> int:
    match instruction:
        case Branch() | Jump() | ExitInstruction():
            return 0
        case _:
            return _bits(instruction.target.slots)


def _bits(slots: tuple[int, ...]) -> int:
    """Return the bit set of `slots`, the slots of one scalar or array, which are consecutive numbers."""
    return ((1 << len(slots)) - 1) << slots[0]


def _report(read: Reference, slot: Slot, findings: Findings) -> None:
    when = "it is assigned" if read.index is None else "any of its elements is assigned"
    findings.report(
        ProgramCode.UNASSIGNED,
        read.span,
        f"`{read.name}` is read before {when}",
        label="no value yet",
        notes=(f"assign it first, or give it an initial value where it is declared: `: {_initialized(slot)};`",),
        secondary=((slot.span, "declared here"),),
        once=slot.span,
    )


def _initialized(slot: Slot) -> str:
    match slot.type:
        case BaseType.BOOL:
            return "bool = false"
        case BaseType.INT:
            return "int = 0"
        case BaseType.REAL:
            return "real = 0"
        case DomType(values, name):
            return f"{name or show_values(slot.type)} = {show_value(values[0])}"
        case _:
            assert_never(slot.type)


# --- From the tree of a program to its instructions: every name resolved, every rule checked, every loop unrolled -----


def lower(
    program: ast.ProgramTree,
    source: SourceText,
    overrides: Mapping[str, Fraction] | None = None,
    eps: Fraction | None = None,
) -> CoreProgram:
    """Return the typed program of the tree `program`, with `overrides` in place of its constants (-D name=value).

    `source` is the text of the program. If `eps` is given, expressions that have a meaning at one eps only are read for
    this eps, and the program is defined there alone. Raises DiagnosticError with all mistakes in the program, in the
    order of the text.
    """
    core, _, scope = _lowered(program, source, overrides or {}, eps)
    core = replace(core, overrides=dict(overrides or {}))
    return replace(core, only_at=scope.eps.value) if scope.eps.used else core


def lower_ideal(
    program: ast.ProgramTree,
    source: SourceText,
    overrides: Mapping[str, Fraction] | None = None,
    eps: Fraction | None = None,
) -> CoreProgram | None:
    """Return the `ideal` block of `program` as a program of its own, or None if there is none.

    `source`, `overrides` and `eps` are as in `lower`. The inputs and outputs are those of the mechanism, in the same
    order but in other slots. The ideal draws nothing at random. Raises DiagnosticError with all mistakes in the block.
    """
    _, ideal, _ = _lowered(program, source, overrides or {}, eps)
    return ideal


def _lowered(
    program: ast.ProgramTree, source: SourceText, overrides: Mapping[str, Fraction], eps: Fraction | None
) -> tuple[CoreProgram, CoreProgram | None, Scope]:
    """Return (the typed program, its ideal or None, the scope with all names) for the syntax tree `program`.

    `source` is the text of the program. `overrides` has values of constants that replace those in the text. The program
    is read for the given `eps`, or for every eps if `eps` is None. If an expression is not linear in reals and ints,
    the program is read once more after `min`, `max` and `abs` are moved into assignments of their own.
    """
    try:
        return _as_written(program, source, overrides, eps)
    except DiagnosticError as error:
        if all(each.code != ProgramCode.NOT_LINEAR for each in error.diagnostics):
            raise
        try:
            return _as_written(with_clamps_assigned(program), source, overrides, eps)
        except DiagnosticError:
            raise error from None


def _as_written(
    program: ast.ProgramTree, source: SourceText, overrides: Mapping[str, Fraction], eps: Fraction | None
) -> tuple[CoreProgram, CoreProgram | None, Scope]:
    findings = Findings(source)
    scope = _declared(program, overrides, findings, eps)
    core = _main(program, scope, findings)
    ideal = None if core.ideal is None else _ideal(program, core, scope, findings)
    findings.raise_if_any()
    return core, ideal, scope


def _declared(
    program: ast.ProgramTree, overrides: Mapping[str, Fraction], findings: Findings, eps: Fraction | None
) -> Scope:
    """Return the scope with all names of `program`; constants come first, as domains, bounds and types use them.

    `overrides` has values of constants that replace those in the text. The program is read for the given `eps`, or for
    every eps if it is None. Mistakes are reported to `findings`.
    """
    scope = Scope(FixedEps(eps))
    elaborator = Elaborator(scope, findings, declaring=True)
    register(program.declarations, scope, findings)
    compute_constants(program.declarations, overrides, elaborator)
    declare_domains(program.declarations, elaborator)
    declare_variables(program.declarations, elaborator, Fitting(elaborator))
    return scope


def _main(program: ast.ProgramTree, scope: Scope, findings: Findings) -> CoreProgram:
    elaborator = Elaborator(scope, findings)
    claim = check_claims(program.declarations, elaborator)
    instructions, loops = _body(program.body, elaborator, program.span, deterministic=False)
    metrics = blocks(program.declarations, ast.MetricDecl, findings)
    required = [each for each in program.declarations if isinstance(each, ast.RequiresDecl)]
    outputs = _of_role(scope, ast.Role.OUTPUT)
    if not any(
        isinstance(known, DeclaredVariable) and known.role is ast.Role.OUTPUT for known in scope.symbols.values()
    ):
        notes = ("declare what the mechanism answers: `output out : real;`",)
        findings.report(ProgramCode.NO_OUTPUT, program.span, f"the program `{program.name}` has no output", notes=notes)
    return CoreProgram(
        program.name,
        findings.source,
        scope.constants(),
        tuple(scope.slots),
        _of_role(scope, ast.Role.INPUT),
        outputs,
        instructions,
        loops,
        claim,
        next(blocks(program.declarations, ast.IdealDecl, findings), None),
        domains={name: domain.type for name, domain in scope.domains.items() if domain.type is not None},
        metric=next((compile_metric(each, scope, findings) for each in metrics), None),
        requires=compile_precondition(required, scope, findings),
    )


def _body(
    body: tuple[ast.Statement, ...], elaborator: Elaborator, whole: Span, *, deterministic: bool
) -> tuple[tuple[Instruction, ...], dict[int, Span]]:
    statements = StatementLowering(elaborator, Fitting(elaborator), deterministic=deterministic)
    instructions = statements.lower(body, Span(whole.end, whole.end))
    if statements.complete:
        report_unassigned(instructions, elaborator.scope.slots, elaborator.findings)
    return instructions, statements.loops


def _of_role(scope: Scope, role: ast.Role) -> tuple[int, ...]:
    return tuple(slot.index for slot in scope.slots if slot.role is role)


def _ideal(program: ast.ProgramTree, core: CoreProgram, shared: Scope, findings: Findings) -> CoreProgram:
    ideal = core.ideal
    assert ideal is not None
    scope = _shared(shared)
    register(ideal.declarations, scope, findings)
    declaring = Elaborator(scope, findings, declaring=True)
    declare_variables(ideal.declarations, declaring, Fitting(declaring))
    instructions, loops = _body(ideal.body, Elaborator(scope, findings), ideal.span, deterministic=True)
    return CoreProgram(
        program.name,
        findings.source,
        core.constants,
        tuple(scope.slots),
        _of_role(scope, ast.Role.INPUT),
        _of_role(scope, ast.Role.OUTPUT),
        instructions,
        loops,
        None,
        None,
    )


def _shared(scope: Scope) -> Scope:
    """Return the scope of an `ideal` block, made from `scope`, that of the program around it.

    It has the constants and domains of the program, and its inputs and outputs with new slots. The names of the other
    variables are marked as foreign, because the block cannot use these variables.
    """
    inner = Scope(scope.eps)
    inner.domains.update(scope.domains)
    for name, symbol in scope.symbols.items():
        match symbol:
            case DeclaredConstant() | EnumeratedValue() | Foreign():
                inner.symbols[name] = symbol
            case DeclaredVariable(role=ast.Role.VAR):
                inner.symbols[name] = Foreign(name, symbol.span)
            case DeclaredVariable():
                inner.symbols[name] = inner.adopt(symbol, scope)
    return inner
