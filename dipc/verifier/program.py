"""Programs as the checker executes them: names resolved, `for` unrolled, a list of instructions with jumps.

`Machine.compile(tree, constants, budget)` compiles a syntax tree, and raises NotDerived if the tree has no meaning. The
types of values are checked when the values exist, in `dipc.verifier.execution`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dipc.verifier import syntax
from dipc.verifier.functions import ONE, ZERO, Closed, add_closed, constant, multiply_closed, times
from dipc.verifier.noise import Bounded, Family, Law, NoiseFamily, Normal
from dipc.verifier.reading import Budget, Exhausted, NotDerived
from dipc.verifier.reals import Number, monomial
from dipc.verifier.syntax import Apply, Element, Epsilon, Expr, Listed, Literal, Name, Range, Ranged, spread_out

MOST_INSTRUCTIONS = 100_000
MOST_VALUES = 100_000
MOST_POWER = 1_000
#: The most bits of a number of a program.
MOST_BITS = 10_000

#: The operations in which a truth value counts as 1 or 0.
COUNTING = frozenset(("+", "-", "*", "/", "^", "neg", "min", "max", "abs"))

_DISTANCES = ("product", "discrete", "linf", "above", "below")
_RESERVED = frozenset(("alpha", "beta", "gamma", "dd", "inf", "exp", "min", "max", "abs"))

Value = Fraction | bool | str

#: A finite domain, or one of the types by name; `any` is that of a value that is computed on the way (`late.py`).
Type = str | frozenset[Value]


@dataclass(frozen=True, slots=True)
class Slot:
    """A scalar variable, or one element of an array; `initial` is None if the variable starts unassigned."""

    name: str
    role: str
    type: Type
    initial: Value | None


@dataclass(frozen=True, slots=True)
class Place:
    """A slot to read or write: `slots[index - low]`, where `index` is computed in a state.

    `slots` has the slots of an array, and `low` is the array's first index. For a scalar, or an element with a known
    index, `slots` has one member and `index` is None.
    """

    slots: tuple[int, ...]
    low: int
    index: Code | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or function applied to arguments; `op` is its name, as in `dipc.verifier.syntax.Apply`."""

    op: str
    arguments: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """An expression without a value: a run that evaluates it fails with the reason `why`."""

    why: str


Code = Literal | Place | Operation | Fault


@dataclass(frozen=True, slots=True)
class Store:
    """The instruction target <- value."""

    target: Place
    value: Code


@dataclass(frozen=True, slots=True)
class Sample:
    """The instruction target <- mean + noise of the law `family`.

    `rate` is in multiples of eps; for normal noise it is the variance.
    """

    target: Place
    family: NoiseFamily
    rate: Fraction
    mean: Code


@dataclass(frozen=True, slots=True)
class Choice:
    """The instruction target <- one of the values of `arms`, each with its probability."""

    target: Place
    arms: tuple[tuple[Code, Closed], ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """The exponential mechanism: target <- one of the values of `arms`, each with weight e^{rate·eps·score}."""

    target: Place
    rate: Fraction
    arms: tuple[tuple[Literal, Code], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Continue with the next instruction if the condition holds, otherwise with instruction `otherwise`."""

    condition: Code
    otherwise: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Continue with instruction `goal`."""

    goal: int


@dataclass(frozen=True, slots=True)
class Halt:
    """The end of the program."""


Instruction = Store | Sample | Choice | Scored | Branch | Jump | Halt


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of an answer from the exact one, and the conditions under which two inputs are infinitely far apart.

    - `kind` is the name of a distance, such as "product", or an expression for the distance. The expression contains
      an input, an answer and the exact answer, which is in the slots `exact`, in the order of the outputs.
    - If `same` is not None, it has conditions, and the distance is 0 if all of them hold.
    - For dd, two answers differ if they differ in an output whose index is in `decisive`. These are the finite outputs,
      if there are any and the `metric` block does not say `all`; otherwise all outputs.
    - Two inputs are infinitely far apart if any condition of `apart` holds; the second input is in the slots `other`.
    """

    kind: str | Code
    same: tuple[Code, ...] | None
    exact: tuple[int, ...]
    apart: tuple[Code, ...] = ()
    other: tuple[int, ...] = ()
    decisive: tuple[int, ...] = ()

    @property
    def sides(self) -> tuple[int, ...]:
        """The directions in which an answer may be wrong, such as (1, -1).

        1 means that numbers below the right one are wrong, and -1 that numbers above it are.
        """
        return (-1,) if self.kind == "above" else (1,) if self.kind == "below" else (1, -1)


@dataclass(frozen=True)
class Machine:
    """A compiled program. `code` refers to variables by index in `slots`, and to instructions by index.

    `name` and `constants` are those of the program, and `distance` has the distances of its answers and inputs.
    `requires` are conditions that every input satisfies. `at` is the only eps at which the program is read, or None.
    `spans` has, for each instruction, the positions in the text of its statement.

    `loops` has the range [first, end) of instructions of each `while` statement. Only the last instruction of a `while`
    jumps backwards.
    """

    name: str
    constants: Mapping[str, Fraction]
    slots: tuple[Slot, ...]
    code: tuple[Instruction, ...]
    loops: tuple[tuple[int, int], ...]
    distance: Distance
    requires: tuple[Code, ...] = ()
    at: Fraction | None = None
    spans: tuple[tuple[int, int], ...] = ()

    def numbered(self, role: str) -> list[int]:
        """Return the slots with the role `role`, such as "input" or "output", in the order of their declaration."""
        return [number for number, slot in enumerate(self.slots) if slot.role == role]

    def declared(self, role: str) -> list[Slot]:
        """Return the variables with the role `role`, such as "input" or "output", in the order of their declaration."""
        return [slot for slot in self.slots if slot.role == role]

    @staticmethod
    def compile(
        tree: syntax.Program, constants: Mapping[str, Fraction], budget: Budget, *, normal_at_one_eps: bool = False
    ) -> Machine:
        """Compile `tree` with the values `constants` of its constants, and the work charged to `budget`.

        Raises NotDerived if the names of `constants` are not exactly those that the program declares. Also raises
        NotDerived for Gaussian noise in a program read at one eps, because no proof covers this case. If
        `normal_at_one_eps` is true, such a program is compiled nevertheless.
        """
        compiler = _Compiler(budget, tree.at, normal_at_one_eps)
        compiler.declare(tree, constants)
        requires = compiler.conditions(tree.requires)
        compiler.block(tree.body)
        compiler.emit(Halt())
        slots = tuple(compiler.slots)
        return Machine(
            tree.name,
            compiler.constants,
            slots,
            tuple(compiler.code),
            tuple(compiler.loops),
            compiler.distance(tree.metric),
            requires,
            tree.at,
            tuple(compiler.spans),
        )


def computed_constants(
    tree: syntax.Program, constants: Mapping[str, Fraction], names: Container[str], budget: Budget
) -> dict[str, Fraction]:
    """Compute the constants `names` of the program `tree` from their expressions.

    `constants` has the values of the other constants. Charges its work to `budget`. Raises NotDerived if an expression
    has no rational value.
    """
    compiler = _Compiler(budget, tree.at)
    values: dict[str, Fraction] = {}
    for name, expr in tree.constants:
        if name in names:
            values[name] = compiler.number(expr)
        compiler.constants[name] = values[name] if name in names else constants[name]
    return values


@dataclass(frozen=True, slots=True)
class _Variable:
    slots: tuple[int, ...]
    low: int | None


@dataclass
class _Compiler:
    budget: Budget
    #: The only eps at which the program is read; None for every eps.
    at: Fraction | None = None
    #: True if Gaussian noise may be read at one eps.
    normal_at_one_eps: bool = False
    constants: dict[str, Fraction] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    domains: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    variables: dict[str, _Variable] = field(default_factory=dict)
    locals: dict[str, Value] = field(default_factory=dict)
    #: The values of variables that are constants while one case is compiled.
    fixed: dict[int, Value] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    #: The place of the statement of each instruction, and of the statement that is compiled.
    spans: list[tuple[int, int]] = field(default_factory=list)
    span: tuple[int, int] = (0, 0)
    loops: list[tuple[int, int]] = field(default_factory=list)

    # --- declarations -----------------------------------------------------------------------------

    def declare(self, tree: syntax.Program, given: Mapping[str, Fraction]) -> None:
        if sorted(name for name, _ in tree.constants) != sorted(given):
            raise NotDerived("the constants given differ from those of the program")
        for name, _ in tree.constants:
            self._fresh(name)
            # A given value replaces that of the text.
            self.constants[name] = given[name]
        for name, domain in tree.domains:
            if name in self.domains:
                raise NotDerived(f"the domain `{name}` is declared twice")
            self.domains[name] = self.domain(domain)
        for variable in tree.variables:
            self._declare(variable)

    def _fresh(self, name: str) -> None:
        if name in self.constants or name in self.variables or name in self.labels:
            raise NotDerived(f"`{name}` is declared twice")
        if name in _RESERVED:
            raise NotDerived(f"`{name}` cannot be declared")

    def domain(self, domain: syntax.Domain) -> tuple[Value, ...]:
        match domain:
            case syntax.Named(name):
                if name not in self.domains:
                    raise NotDerived(f"there is no domain `{name}`")
                return self.domains[name]
            case Range(low, high):
                first, last = self.integer(low), self.integer(high)
                if first > last:
                    raise NotDerived("a domain is empty")
                if last - first >= MOST_VALUES:
                    raise Exhausted(f"a domain has more than {MOST_VALUES} values", "program")
                self.budget.spend(10 * (last - first))
                return tuple(Fraction(value) for value in range(first, last + 1))
            case Listed(written):
                values: list[Value] = []
                for expr in written:
                    if isinstance(expr, Name) and expr.name not in self.constants and expr.name not in self.locals:
                        if expr.name not in self.labels:
                            self._fresh(expr.name)
                            self.labels.add(expr.name)
                        values.append(expr.name)
                    else:
                        values.append(self.number(expr))
                if len(set(values)) < len(values) or len({isinstance(value, str) for value in values}) > 1:
                    raise NotDerived("a domain lists a value twice, or mixes names and numbers")
                return tuple(values)

    def _declare(self, declared: syntax.Variable) -> None:
        name, ends = declared.name, declared.ends
        type_: Type
        if isinstance(declared.type, str):
            type_ = declared.type
        else:
            values = self.domain(declared.type)
            self.budget.spend(10 * len(values))
            type_ = frozenset(values)
        initial: Value | None = None
        if declared.initial is not None:
            if declared.role == "input":
                raise NotDerived("an input has an initial value")
            known = self.resolved(declared.initial)
            if not isinstance(known, Literal) or not holds(type_, known.value):
                raise NotDerived("an initial value is outside its variable's domain")
            initial = known.value
        self._fresh(name)
        low, high = (0, 0) if ends is None else (self.integer(ends[0]), self.integer(ends[1]))
        if low > high:
            raise NotDerived(f"the array `{name}` has no element")
        if high - low >= MOST_VALUES:
            raise Exhausted(f"the array `{name}` has more than {MOST_VALUES} elements", "program")
        self.budget.spend(30 * (high - low + 1))
        first = len(self.slots)
        for index in range(low, high + 1):
            self.slots.append(Slot(name if ends is None else f"{name}[{index}]", declared.role, type_, initial))
        self.variables[name] = _Variable(tuple(range(first, len(self.slots))), None if ends is None else low)

    def distance(self, metric: Sequence[syntax.Field]) -> Distance:
        """Compile the distances of answers and of inputs that the `metric` block states.

        Declares a second variable out' for each output out: the right answer. If the metric says when two inputs are
        infinitely far apart, it also declares q' for each input q: the other input. Afterwards only inputs and outputs
        are visible.
        """
        visible = {}
        for name, variable in self.variables.items():
            role = self.slots[variable.slots[0]].role
            if role != "var":
                visible[name] = variable
            if role == "output":
                visible[f"{name}'"] = self._copy(variable, "exact")
        self.variables = visible
        kind: str | Code = "product"
        same: tuple[Code, ...] | None = None
        apart: tuple[Code, ...] = ()
        everything = False
        for field_ in metric:
            if field_.name == "output":
                if isinstance(field_.value, Name) and field_.value.name in _DISTANCES:
                    kind = field_.value.name
                elif field_.loops:
                    raise NotDerived("a distance between answers cannot contain `for`")
                else:
                    kind = self.resolved(field_.value)
            if field_.name == "dd":
                if field_.loops or field_.value not in (Name("finite"), Name("all")):
                    raise NotDerived("in the `metric` block, `dd` must be `finite` or `all`")
                everything = field_.value == Name("all")
            if field_.name == "same":
                same = tuple(self._each(field_.loops, field_.value))
            if field_.name == "apart":
                for name, variable in list(self.variables.items()):
                    if self.slots[variable.slots[0]].role == "input":
                        self.variables[f"{name}'"] = self._copy(variable, "other")
                apart = tuple(self._each(field_.loops, field_.value))
        exact, other = (
            tuple(number for number, slot in enumerate(self.slots) if slot.role == role) for role in ("exact", "other")
        )
        places = [index for index, slot in enumerate(exact) if self.slots[slot].type not in ("real", "int")]
        told = places if places and not everything else range(len(exact))
        return Distance(kind, same, exact, apart, other, tuple(told))

    def conditions(self, trees: Sequence[Expr]) -> tuple[Code, ...]:
        every = self.variables
        self.variables = {
            name: variable for name, variable in every.items() if self.slots[variable.slots[0]].role == "input"
        }
        codes = tuple(self.resolved(spread_out(self._without_ranges(tree))) for tree in trees)
        self.variables = every
        return codes

    def _without_ranges(self, tree: Expr) -> Expr:
        match tree:
            case Ranged(variable=variable, low=low, high=high):
                self._require_new(variable, {*self.variables, *self.constants, *self.labels, *_RESERVED})
                ends = self.integer(low), self.integer(high)
                self.budget.spend(10 * max(0, ends[1] - ends[0]))
                return self._without_ranges(tree.written_out(*ends))
            case Apply(op, parts):
                return Apply(op, tuple(map(self._without_ranges, parts)))
            case _:
                return tree

    def _copy(self, variable: _Variable, role: str) -> _Variable:
        first = len(self.slots)
        self.slots += [replace(self.slots[slot], role=role) for slot in variable.slots]
        return _Variable(tuple(range(first, len(self.slots))), variable.low)

    def _each(self, loops: Sequence[tuple[str, Expr, Expr]], value: Expr) -> Iterator[Code]:
        if not loops:
            yield self.resolved(value)
            return
        (variable, low, high), *rest = loops
        self._require_new(variable, {*self.variables, *_RESERVED})
        for _ in self._bound(variable, map(Fraction, range(self.integer(low), self.integer(high) + 1))):
            yield from self._each(rest, value)

    # --- statements -------------------------------------------------------------------------------

    def emit(self, instruction: Instruction) -> int:
        self.budget.spend(10)
        if len(self.code) >= MOST_INSTRUCTIONS:
            raise Exhausted(f"unrolled, it has more than {MOST_INSTRUCTIONS} instructions", "program")
        self.code.append(instruction)
        self.spans.append(self.span)
        return len(self.code) - 1

    def block(self, body: syntax.Block) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: syntax.Statement) -> None:
        self.span = statement.span
        match statement:
            case syntax.Exit():
                self.emit(Halt())
            case syntax.Assign(target, value):
                self.emit(Store(self._target(target), self.resolved(value)))
            case syntax.Noise() | syntax.Mechanism() | syntax.Choose() if read := self._parameter(statement):
                self._for_each_value(read, statement)
            case syntax.Noise(target, law, rate, mean, ends):
                center = self.resolved(mean)
                family, parameter = self.law(law, rate, ends)
                self.emit(Sample(self._target(target), family, parameter, center))
            case syntax.Choose(target, arms):
                chosen = tuple((self.resolved(value), self.probability(weight)) for value, weight in arms)
                self.emit(Choice(self._target(target), chosen))
            case syntax.Mechanism(target, rate, variable, domain, score):
                place, slope = self._target(target), self.rate(rate)
                self._require_new(variable, _RESERVED)
                picks = self._bound(variable, self.domain(domain))
                scored = tuple((Literal(picked), self.resolved(score)) for picked in picks)
                self.emit(Scored(place, slope, scored))
            case syntax.If(condition, then, otherwise):
                branch = self.emit(Halt())
                known = self.resolved(condition)
                self.block(then)
                jumps = [self.emit(Halt())] if otherwise else []
                self.code[branch] = Branch(known, len(self.code))
                self.block(otherwise)
                for jump in jumps:
                    self.code[jump] = Jump(len(self.code))
            case syntax.While(condition, body):
                branch = self.emit(Halt())
                known = self.resolved(condition)
                self.block(body)
                self.emit(Jump(branch))
                self.code[branch] = Branch(known, len(self.code))
                self.loops.append((branch, len(self.code)))
            case syntax.For(variable, low, high, body):
                self._require_new(variable, {*self.variables, *_RESERVED})
                first, last = self.integer(low), self.integer(high)
                if body and last - first >= MOST_INSTRUCTIONS:
                    raise Exhausted(f"unrolled, it has more than {MOST_INSTRUCTIONS} instructions", "program")
                for _ in self._bound(variable, map(Fraction, range(first, last + 1) if body else ())):
                    self.budget.spend(1)
                    self.block(body)

    def _parameter(self, statement: syntax.Noise | syntax.Mechanism | syntax.Choose) -> Place | None:
        """Return a finite variable on which the rate or a weight of the draw `statement` depends, or None."""
        if isinstance(statement, syntax.Choose):
            waiting = [weight for _, weight in statement.arms]
        else:
            waiting = [statement.rate]
        while waiting:
            expr = waiting.pop()
            if isinstance(expr, Ranged):
                waiting.append(self._written_out(expr))
            elif isinstance(expr, Apply):
                waiting += expr.arguments
            elif isinstance(expr, Name | Element) and expr.name in self.variables and expr.name not in self.locals:
                code = self.resolved(expr)
                if isinstance(code, Place) and not code.index and self.slots[code.slots[0]].type not in ("real", "int"):
                    return code
        return None

    def _for_each_value(self, read: Place, statement: syntax.Statement) -> None:
        """Compile one copy of `statement` for each value of the finite variable `read`.

        The copy for a value has this value in place of the variable, and is executed if the variable has the value.
        """
        ends = []
        (slot,) = read.slots
        for value in values_of(self.slots[slot].type):
            branch = self.emit(Halt())
            self.fixed[slot] = value
            self._statement(statement)
            del self.fixed[slot]
            ends.append(self.emit(Halt()))
            self.code[branch] = Branch(Operation("=", (read, Literal(value))), len(self.code))
        for end in ends:
            self.code[end] = Jump(len(self.code))

    def _require_new(self, name: str, more: Container[str]) -> None:
        """Raise NotDerived if the name `name` of a loop variable is already in use, or is one of the names `more`.

        Names in use are those of local variables, constants and labels.
        """
        if name in self.locals or name in self.constants or name in self.labels or name in more:
            raise NotDerived(f"the loop variable `{name}` has a name that is already in use")

    def _bound(self, name: str, values: Iterable[Value]) -> Iterator[Value]:
        """Bind the local name `name` to each of `values` in turn, and yield the value while it is bound."""
        before = self.locals
        for value in values:
            self.locals = {**before, name: value}
            yield value
        self.locals = before

    def _target(self, target: Name | Element) -> Place:
        variable = self.variables.get(target.name)
        if variable is None or target.name in self.locals:
            raise NotDerived(f"`{target.name}` is assigned, but it is not a variable")
        if self.slots[variable.slots[0]].role == "input":
            raise NotDerived(f"the input `{target.name}` is assigned")
        if isinstance(target, Name):
            if variable.low is not None:
                raise NotDerived(f"the array `{target.name}` is assigned as a whole")
            return Place(variable.slots, 0, None)
        if variable.low is None:
            raise NotDerived(f"`{target.name}` is not an array")
        index = self.resolved(target.index)
        if isinstance(index, Literal) and isinstance(index.value, Fraction) and index.value.denominator == 1:
            offset = int(index.value) - variable.low
            if 0 <= offset < len(variable.slots):
                return Place((variable.slots[offset],), 0, None)
        return Place(variable.slots, variable.low, index)

    # --- expressions ------------------------------------------------------------------------------

    def resolved(self, expr: Expr) -> Code:
        """Return `expr` with its names resolved, or its value if it is constant."""
        self.budget.spend(5)
        match expr:
            case Literal():
                return expr
            case Epsilon():
                if self.at is None:
                    raise NotDerived("an expression of the program cannot contain `eps`")
                return Literal(self.at)
            case Name(name):
                if name in self.locals:
                    return Literal(self.locals[name])
                if name in self.constants:
                    return Literal(self.constants[name])
                variable = self.variables.get(name)
                if variable is not None and variable.low is None:
                    return self._read(variable.slots[0])
                if name in self.labels:
                    return Literal(name)
                raise NotDerived(f"there is no value `{name}`")
            case Element(name, index):
                variable = self.variables.get(name)
                # A local name may hide an array, which then has no elements.
                if variable is None or variable.low is None or name in self.locals:
                    raise NotDerived(f"`{name}` is not an array")
                offset = self.resolved(index)
                if not isinstance(offset, Literal):
                    return Place(variable.slots, variable.low, offset)
                place = offset.value - variable.low if isinstance(offset.value, Fraction) else None
                if place is None or place.denominator != 1 or not 0 <= place < len(variable.slots):
                    return Fault(f"`{name}` has no element {offset.value}")
                return self._read(variable.slots[int(place)])
            case Ranged():
                return self.resolved(self._written_out(expr))
            case Apply("exp" | "sqrt" | "log" as op):
                raise NotDerived(f"an expression of the program cannot contain `{op}`")
            case Apply(op, arguments):
                codes = tuple(self.resolved(argument) for argument in arguments)
                values = [code.value for code in codes if isinstance(code, Literal)]
                if op == "^" and not (
                    len(values) == 2
                    and isinstance(values[1], Fraction)
                    and values[1].denominator == 1
                    and 0 <= values[1] <= MOST_POWER
                ):
                    raise NotDerived("a power needs a constant base and a natural exponent")
                # `and` and `or` evaluate their right side only if the left side does not decide.
                if op in ("and", "or") and isinstance(codes[0], Literal) and isinstance(codes[0].value, bool):
                    return codes[1] if codes[0].value is (op == "and") else codes[0]
                if len(values) == len(codes):
                    try:
                        return Literal(calculated(op, values))
                    except NotDerived as fault:
                        return Fault(fault.why)
                return Operation(op, codes)

    def _written_out(self, expr: Ranged) -> Expr:
        self._require_new(expr.variable, ())
        if any(isinstance(node, Element) and node.name == expr.variable for node in syntax.nodes(expr.body)):
            raise NotDerived(f"`{expr.variable}` is not an array")
        low, high = self.integer(expr.low), self.integer(expr.high)
        self.budget.spend(50 * max(1, high - low + 1))
        return expr.written_out(low, high)

    def _read(self, slot: int) -> Code:
        return Literal(self.fixed[slot]) if slot in self.fixed else Place((slot,), 0, None)

    def number(self, expr: Expr) -> Fraction:
        """Return the rational value of the constant `expr`; a condition counts as 1 or 0.

        Raises NotDerived if `expr` is not constant, or is neither a number nor a condition.
        """
        code = self.resolved(expr)
        if not isinstance(code, Literal) or not isinstance(code.value, Fraction | bool):
            raise NotDerived("a constant number is expected")
        return Fraction(code.value)

    def integer(self, expr: Expr) -> int:
        value = self.number(expr)
        if value.denominator != 1:
            raise NotDerived(f"an integer is expected, not {value}")
        return value.numerator

    def law(self, name: str, parameter: Expr, ends: tuple[Expr, Expr] | None) -> Law:
        """Return the family of the noise `name`, perhaps between two `ends`, and its rate in multiples of eps.

        The rate is given by `parameter`. Uniform noise has none, and 1 is returned in its place. Gaussian noise has its
        variance instead: in multiples of 1/eps², or of 1 if the family is `fixed`, as it is in a program read at one
        eps.
        """
        if ends is not None:
            low, high = map(self.number, ends)
            if low >= high:
                raise NotDerived("the lower end of a noise is not less than the upper end")
            laplace = name != "Unif"
            return Bounded(low, high, laplace), self.rate(parameter) if laplace else Fraction(1)
        if name not in ("Gauss", "DGauss"):
            family = {"Lap": Family.LAPLACE, "DLap": Family.DISCRETE_LAPLACE, "Expo": Family.ONE_SIDED}[name]
            return family, self.rate(parameter)
        if self.at is not None and not self.normal_at_one_eps:
            raise NotDerived("Gaussian noise is not covered in a program that is read at one eps")
        deviation, (power,) = monomial(parameter, self._monomial)
        if self.at is not None and power.denominator == 1 and abs(power) <= MOST_POWER:
            deviation, power = deviation * Number(self.at ** int(power)), Fraction(0)
        if deviation.factor <= 0 or power not in (0, -1):
            raise NotDerived("a standard deviation must be a positive multiple of 1 or of 1/eps")
        variance = deviation * deviation
        return Normal(not power, Number(Fraction(1), variance.powers), name == "DGauss"), variance.factor

    def _monomial(self, expr: Expr) -> tuple[Fraction, tuple[int]]:
        """Return (c, (n,)) if `expr` is c·eps^n. Raises NotDerived for other expressions."""
        weight = self.weight(expr)
        if any(len(ring) != 1 or next(iter(ring))[1] for ring in weight):
            raise NotDerived("a standard deviation must be a constant times a power of eps")
        ((above, c),), ((below, d),) = (ring.items() for ring in weight)
        return c / d, (above[0] - below[0],)

    def rate(self, expr: Expr) -> Fraction:
        """Return the number a > 0 for which `expr` is a·eps. Raises NotDerived if there is none."""
        rate = self._multiple(expr)
        if rate is None or rate <= 0:
            raise NotDerived("a rate must be a positive multiple of eps")
        return rate

    def _multiple(self, expr: Expr) -> Fraction | None:
        """Return the number a for which `expr` is a·eps, or None if there is none.

        If the program is read at one eps, the equation must hold there alone.
        """
        above, below = self.weight(expr)
        if below == ONE and not above.keys() - {(1, ZERO)}:
            return above.get((1, ZERO), ZERO)
        return None if self.at is None else self.number(expr) / self.at

    def probability(self, expr: Expr) -> Closed:
        """Return `expr`, the weight of an arm, as a function of eps.

        It is a number if the program is read at one eps and the weight has no powers of e.
        """
        if self.at is not None and not any(isinstance(node, Apply) and node.op == "exp" for node in syntax.nodes(expr)):
            return constant(self.number(expr)), ONE
        return self.weight(expr)

    def weight(self, expr: Expr) -> Closed:
        match expr:
            case Ranged():
                return self.weight(self._written_out(expr))
            case Epsilon():
                return {(1, ZERO): Fraction(1)}, ONE
            case Apply("neg", (inner,)):
                value = self.weight(inner)
                return times(value[0], -1), value[1]
            case Apply("+" | "-" | "*" | "/" as op, (first, second)):
                left, (above, below) = self.weight(first), self.weight(second)
                if op in "+-":
                    right = (above if op == "+" else times(above, -1)), below
                    return reduced(add_closed(left, right, self.budget))
                if op == "/" and not above:
                    raise NotDerived("a weight divides by 0")
                return reduced(multiply_closed(left, (above, below) if op == "*" else (below, above), self.budget))
            case Apply("^", (base, exponent)):
                power = self.integer(exponent)
                if not 0 <= power <= MOST_POWER:
                    raise NotDerived("a power in a weight is too high, or negative")
                value, result = self.weight(base), (ONE, ONE)
                for _ in range(power):
                    result = multiply_closed(result, value, self.budget)
                return reduced(result)
            case Apply("exp", (inner,)):
                multiple = self._multiple(inner)
                if multiple is None:
                    raise NotDerived("an exponent in a weight must be a multiple of eps")
                return {(0, multiple): Fraction(1)}, ONE
            case _:
                return constant(self.number(expr)), ONE


def reduced(value: Closed) -> Closed:
    """Return a function equal to `value`, without its denominator if that is a number or a single exponential."""
    above, below = value
    if len(below) != 1 or below == ONE:
        return value
    (((k, q), c),) = below.items()
    return value if k else ({(n, p - q): d / c for (n, p), d in above.items()}, ONE)


def value_text(value: object) -> str:
    """Return `value`, a number, a truth value or a name, as the language writes it, such as -1/2, true or red."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def holds(type_: Type, value: object) -> bool:
    """True if a variable of the type `type_` can have the value `value`, which contains no noise."""
    match type_:
        case "bool":
            return isinstance(value, bool)
        case "real":
            return isinstance(value, Fraction)
        case "int":
            return isinstance(value, Fraction) and value.denominator == 1
        case "any":
            return isinstance(value, Fraction | bool | str)
        case _:
            return not isinstance(value, bool) and value in type_


_COMPARISONS: Mapping[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATIONS: Mapping[str, Callable[..., Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": lambda base, exponent: base ** int(exponent),
    "neg": operator.neg,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "abs": abs,
}


def values_of(type_: Type) -> Sequence[Value]:
    """Return the values of the finite type `type_`, in an arbitrary but fixed order."""
    return sorted(type_, key=str) if isinstance(type_, frozenset) else (False, True)


def typed(values: Iterable[object]) -> tuple[tuple[type, object], ...]:
    """Return `values` with their types, so that true and 1 are different keys."""
    return tuple((type(value), value) for value in values)


def calculated(op: str, values: Sequence[Value]) -> Value:
    """Apply the operation `op` to `values`, which contain no noise. Raises NotDerived if there is no result."""
    if op in ("and", "or", "not"):
        if not all(isinstance(value, bool) for value in values):
            raise NotDerived(f"`{op}` needs truth values")
        return (not values[0]) if op == "not" else all(values) if op == "and" else any(values)
    if op in COUNTING:
        values = [Fraction(value) if isinstance(value, bool) else value for value in values]
    kinds = {bool if isinstance(value, bool) else type(value) for value in values}
    if len(kinds) != 1:
        raise NotDerived(f"`{op}` compares values of different kinds")
    if op in ("=", "!="):
        return (values[0] == values[1]) is (op == "=")
    numbers = [value for value in values if isinstance(value, Fraction)]
    if len(numbers) < len(values):
        raise NotDerived(f"`{op}` needs numbers")
    if op in _COMPARISONS:
        return _COMPARISONS[op](*numbers)
    if op == "/" and not numbers[1]:
        raise NotDerived("a division by 0")
    if op == "^" and int(numbers[1]) * max(map(int.bit_length, numbers[0].as_integer_ratio())) > MOST_BITS:
        raise Exhausted(f"a number has more than {MOST_BITS} bits", "program")
    if op not in _OPERATIONS or (op == "abs" and len(numbers) != 1):
        raise NotDerived(f"`{op}` does not take {len(numbers)} numbers")
    result = _OPERATIONS[op](*numbers)
    if max(result.numerator.bit_length(), result.denominator.bit_length()) > MOST_BITS:
        raise Exhausted(f"a number has more than {MOST_BITS} bits", "program")
    return result
