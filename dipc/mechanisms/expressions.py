"""Translate expressions of Python into expressions of the language.

Each draw of noise is written before the statement that contains it.
"""

from __future__ import annotations

import ast as python
import copy
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dipc.mechanisms.module import (
    BAD_NOISE,
    UNKNOWN_TYPE,
    Module,
    is_mechanism,
    literal,
    names_stored,
    owned_names,
    rational,
)
from dipc.mechanisms.numbers import Inconclusive, RealBall
from dipc.mechanisms.rounding import Decimal, ExactDivision, exact_number, floats_in
from dipc.mechanisms.types import FALSE_NAME, FLOOR, NONE, NONE_NAME, REMAINDER, TRUE_NAME, ConstantSum, Kind, bound_of
from dipc.noise.laws import law_of
from dipc.text import ast
from dipc.text.ast import BinaryOp, CompareOp, UnaryOp, number
from dipc.text.diagnostic import DiagnosticError, Span, did_you_mean, nearest
from dipc.text.parser import FINITE_NAMES, GEOMETRIC_NAMES, NORMAL_NAMES
from dipc.text.syntax_errors import KEYWORDS, spelling

#: Noise by its name in Python: the law, whether it has a mean, and the keywords for its width.
NOISES: Mapping[str, tuple[str, bool, tuple[str, ...]]] = {
    "dipc.laplace": ("Lap", True, ("scale", "rate")),
    "dipc.discrete_laplace": ("DLap", True, ("scale", "rate")),
    "dipc.exponential_noise": ("Expo", False, ("scale", "rate")),
    "dipc.gaussian": ("Gauss", True, ("sigma",)),
    "dipc.discrete_gaussian": ("DGauss", True, ("sigma",)),
    "dipc.uniform": ("Unif", True, ()),
    "dipc.truncated_laplace": ("TLap", True, ("scale", "rate")),
}
#: The keywords for the ends of the support.
ENDS = ("low", "high")
CHOICE, MECHANISM = "dipc.choice", "dipc.exponential_mechanism"

#: What others draw noise with, and what to write in its place.
_FOREIGN = {
    "numpy.random": "write `dipc.laplace(mean, scale=…)`: floating-point noise is neither private nor what is proved",
    "random": "write `dipc.laplace(mean, scale=…)` or `dipc.choice({value: weight, …})`",
}

_A_COIN = "a coin is `dipc.choice({True: 3/4, False: 1/4})`: each value with its weight"

#: The names of noise elsewhere, in small letters, and what to write in their place.
_OTHER_NAMES = {
    **dict.fromkeys((*FINITE_NAMES, "coin", "choose", "randomized_response"), _A_COIN),
    **dict.fromkeys(
        (*GEOMETRIC_NAMES, "two_sided_geometric"), "geometric noise is `dipc.discrete_laplace(mean, scale=…)`"
    ),
    **dict.fromkeys(NORMAL_NAMES, "normal noise is `dipc.gaussian(mean, sigma=…)`"),
    **dict.fromkeys(
        ("report_noisy_max", "noisy_max", "softmax", "exponential"),
        "the exponential mechanism is `dipc.exponential_mechanism`, one-sided noise `dipc.exponential_noise`",
    ),
}

COMPARISONS = {
    python.Lt: CompareOp.LT,
    python.LtE: CompareOp.LE,
    python.Eq: CompareOp.EQ,
    python.NotEq: CompareOp.NE,
    python.GtE: CompareOp.GE,
    python.Gt: CompareOp.GT,
}
OPERATORS = {
    python.Add: BinaryOp.ADD,
    python.Sub: BinaryOp.SUBTRACT,
    python.Mult: BinaryOp.MULTIPLY,
    python.Div: BinaryOp.DIVIDE,
}

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Words of the language that no variable may be called by; `_` is put behind.
RESERVED = frozenset(
    (
        *map(spelling, KEYWORDS),
        *("metric", "inputs", "noiseless", "alpha", "beta", "gamma", "dd", "inf", "exp", "log", "min", "max", "abs"),
        *(NONE_NAME, FALSE_NAME, TRUE_NAME),
    )
)


@dataclass(frozen=True)
class Scalar:
    """A variable of the program."""

    name: str


@dataclass(frozen=True)
class Alias:
    """A name for an expression, its `value`: a constant, a multiple of eps, or the current element of a loop."""

    value: ast.Expr


@dataclass
class Array:
    """A list: an array of the program with indices from 0 upward.

    - `length` is the number of elements. For a list that `grows` by `append`, it is the greatest number that the list
      can reach.
    - `counter` is the variable with the current number of elements of a list that grows. It is None if `loop` appends
      one element in each round, so that the variable of the loop is the next index.
    - `initial` is the value of all elements at the start.
    - `partial` is true if elements at the end may be missing.
    - `complete` is true after a loop, over `loop_variable`, that appended an element in every round.
    - `depth` is the number of nested calls, the mechanism's own included, where the list was made.
    """

    name: str
    length: ConstantSum
    is_input: bool = False
    initial: ast.Expr | None = None
    counter: str | None = None
    loop: python.For | None = None
    depth: int = 1
    grows: bool = False
    partial: bool = False
    complete: bool = False
    loop_variable: str | None = None


Binding = Scalar | Alias | Array

#: What a loop goes through: an expression, or several together.
Item = ast.Expr | Array | tuple["Item", ...]


@dataclass(frozen=True)
class Many:
    """A sequence to loop over: its greatest `length`, and the `item` at each index from 0 upward.

    `counter` is the variable with its actual length, for a list that may be shorter, and None for other sequences.
    """

    length: ConstantSum
    item: Callable[[ast.Expr], Item]
    counter: str | None = None

    def exists(self, offset: ast.Expr, span: Span) -> ast.Expr | None:
        """Return the condition that there is an item at index `offset`, or None if there always is one.

        `span` is the place of the condition.
        """
        return None if self.counter is None else ast.Compare(CompareOp.LT, offset, ast.Name(self.counter, span), span)


@dataclass
class Frame:
    """A function that is being translated: the mechanism itself, or a called function.

    The value of a called function is stored in `result`. Names follow Python's rules. A name that the function assigns
    belongs to it everywhere, and is one of its `names`. Any other name belongs to the enclosing function `around`, if
    there is one, and otherwise to the file. `env` keeps what names mean in this function while a function that it calls
    is translated. `scalars` has its variables, each as one variable of the program, and `functions` the functions
    defined in it. `gone` are the variables of its loops that have ended.
    """

    node: python.FunctionDef
    result: ast.Name | None = None
    around: Frame | None = None
    env: dict[str, Binding] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    functions: dict[str, python.FunctionDef] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    #: The names that belong to it: its arguments, and all that it assigns anywhere.
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.names = owned_names(self.node)

    def has_argument(self, name: str) -> bool:
        """Whether `name` is an argument that the function never assigns."""
        arguments = (*self.node.args.args, *self.node.args.kwonlyargs)
        assigned = any(name == stored for stored, _ in names_stored(self.node.body))
        return not assigned and any(each.arg == name for each in arguments)

    @property
    def lexical(self) -> Iterator[Frame]:
        """The frames of this function and of the enclosing functions, innermost first."""
        yield self
        if self.around is not None:
            yield from self.around.lexical


class Expressions:
    """A translator for the expressions of one function and of the functions that it calls.

    `constants` are the values of the mechanism's constants by name. Those in `arguments` are arguments of the
    mechanism, and so have no meaning in other functions of the file.
    """

    def __init__(
        self, module: Module, constants: Mapping[str, Fraction], arguments: frozenset[str] = frozenset()
    ) -> None:
        self.module = module
        self.constants = dict(constants)
        self.argument_constants = arguments
        self.frames: list[Frame] = []
        #: How often each name is assigned by the function that is translated.
        self.stores: Mapping[str, int] = {}
        self.frozen: dict[str, tuple[ast.Expr, python.expr]] = {}
        self.env: dict[str, Binding] = {}
        self.out: list[ast.Statement] = []
        self.taken: set[str] = {*RESERVED, *constants, "out", *(f"out_{place}" for place in range(10))}
        self.spellings: dict[str, str] = {}
        self.strings: dict[str, python.AST] = {}
        self.annotated: dict[str, Kind] = {}
        self.loops: list[ConstantSum] = []
        self.branches = 0
        self.gone: set[str] = set()
        #: What the names of each comprehension and lambda around meant outside of it, the innermost last.
        self.scopes: list[dict[str, Binding | None]] = []
        #: The lists that the loops around append to.
        self.appending: set[str] = set()
        #: The width of a noise that is being read: its keyword and its expression.
        self._width: tuple[str, python.expr] | None = None
        #: What names stand for that are the greatest or least of a list, as `max(xs)`.
        self.extremes: dict[str, python.expr] = {}

    @abstractmethod
    def inline(self, node: python.Call, function: python.FunctionDef) -> ast.Expr:
        """Return the value of the call `node` of `function`; its statements come before the current statement."""

    # --- names ------------------------------------------------------------------------------------

    def owner(self, name: str) -> Frame | None:
        """Return the function to which `name` belongs, the current or an enclosing one; None for a name of the file."""
        if not self.frames:
            return None
        return next((frame for frame in self.frames[-1].lexical if name in frame.names), None)

    def function(self, name: str) -> python.FunctionDef | None:
        """Return the function that `name` denotes in the code being translated; None if it denotes none.

        It is defined in an enclosing function or in the file.
        """
        if name in self.env:
            return None
        frame = self.owner(name)
        return self.module.functions.get(name) if frame is None else frame.functions.get(name)

    def called(self, node: python.expr) -> str | None:
        """Return the module or member of a module that `node` denotes, such as `dipc.laplace`; otherwise None."""
        root = node
        while isinstance(root, python.Attribute):
            root = root.value
        if isinstance(root, python.Name) and (root.id in self.env or self.owner(root.id) is not None):
            return None
        return self.module.called(node)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Open the scope of a comprehension or lambda for a `with` block.

        After the block, each name that was bound inside has its earlier meaning again.
        """
        self.scopes.append({})
        yield
        for name, bound in self.scopes.pop().items():
            self._restore(self.env, name, bound)

    def let(self, name: str, bound: Binding) -> None:
        """Bind `name` to `bound` until the innermost open scope ends."""
        if self.scopes:
            self.scopes[-1].setdefault(name, self.env.get(name))
        self.env[name] = bound

    def env_of_function(self) -> dict[str, Binding]:
        """Return the bindings of the function itself, without those of enclosing comprehensions and lambdas."""
        env = dict(self.env)
        for scope in reversed(self.scopes):
            for name, bound in scope.items():
                self._restore(env, name, bound)
        return env

    @staticmethod
    def _restore(env: dict[str, Binding], name: str, bound: Binding | None) -> None:
        if bound is None:
            env.pop(name, None)
        else:
            env[name] = bound

    def fresh(self, wanted: str, spelling: str | None = None) -> str:
        """Return a new name for a variable, similar to `wanted`.

        Messages show `spelling` in its place, by default `wanted`.
        """
        stem = wanted if _WORD.fullmatch(wanted) else "v"
        name, count = stem, 1
        while name in self.taken:
            name, count = f"{stem}_{count}", count + 1
        self.taken.add(name)
        self.spellings[name] = spelling or wanted
        return name

    def spelling_of(self, name: str) -> str:
        """Return the name that the variable `name` of the program has in the function."""
        return self.spellings.get(name, name)

    @contextmanager
    def collecting(self) -> Iterator[list[ast.Statement]]:
        """Yield a new list, to which the statements written inside the `with` block go.

        After the block, statements go to the earlier list again.
        """
        kept, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = kept

    def emit(self, statement: ast.Statement) -> None:
        self.out.append(statement)

    def scalar(self, name: str) -> Scalar:
        """Return the variable for `name` in the current function; all branches of the function share it."""
        bound = self.env.get(name)
        if not isinstance(bound, Scalar):
            scalars = self.frames[-1].scalars
            if name not in scalars:
                scalars[name] = Scalar(self.fresh(name))
            bound = self.env[name] = scalars[name]
        return bound

    # --- expressions ------------------------------------------------------------------------------

    def expr(self, node: python.expr) -> ast.Expr:
        """Return `node` as an expression of the program; raise DiagnosticError if a mechanism cannot contain it."""
        span = self.module.span(node)
        match node:
            case python.Constant():
                return self._constant(node, span)
            case python.Name(id=name):
                return self._name(node, name, span)
            case python.UnaryOp(op=python.USub(), operand=operand):
                return ast.Unary(UnaryOp.NEGATE, self.expr(operand), span)
            case python.UnaryOp(op=python.UAdd(), operand=operand):
                return self.expr(operand)
            case python.UnaryOp(op=python.Not(), operand=operand):
                return ast.Unary(UnaryOp.NOT, self.expr(operand), span)
            case python.BinOp(left=left, op=op, right=right):
                return self._binary(node, left, op, right, span)
            case python.BoolOp(op=op, values=values):
                kind = BinaryOp.AND if isinstance(op, python.And) else BinaryOp.OR
                joined = self.expr(values[0])
                for value in values[1:]:
                    joined = ast.Binary(kind, joined, self.expr(value), span)
                return joined
            case python.Compare():
                return self._compare(node, span)
            case python.IfExp():
                target = ast.Name(self.fresh("value"), span)
                self.assign(target, node, span)
                return target
            case python.Subscript(value=value, slice=index):
                return self._element(node, value, index, span)
            case python.Call():
                return self._call(node, span)
            case python.List() | python.ListComp() | python.Tuple() | python.Dict() | python.Set():
                raise self.module.wrong(
                    node,
                    f"`{self.module.text(node)}` is used where a number or a truth value is expected",
                    "give the list a name first, `xs = [...]`, and use its elements",
                )
            case python.Lambda():
                raise self.module.wrong(
                    node, "a `lambda` can only be the score of an exponential mechanism", "write `def`"
                )
            case python.JoinedStr():
                raise self.module.wrong(
                    node, 'a string must be the name of an answer: `f"…"` is not one', 'write `"top"`'
                )
            case python.Attribute():
                if self.called(node) in ("math.inf", "math.pi", "math.e"):
                    raise self.module.wrong(
                        node, f"`{self.module.text(node)}` is not an exact rational number", "write a Fraction"
                    )
        raise self.module.wrong(node, f"`{self.module.text(node)}` is not part of a mechanism")

    def computed(self, node: python.expr) -> ast.Expr:
        """Return `node` as an expression, stored in a variable beforehand if Python may raise an IndexError for it."""
        value = self.expr(node)
        if not may_fail(value):
            return value
        held = ast.Name(self.fresh("held", self.module.text(node)), self.module.span(node))
        self.emit(ast.Assign(held, value, held.span))
        return held

    def assign(self, target: ast.Name | ast.Element, node: python.expr, span: Span) -> None:
        """Write the statements, placed at `span`, that give the variable `target` the value of the expression `node`.

        An `a if test else b` becomes one `if` with an assignment in each branch, and a draw becomes one draw into
        `target`.
        """
        test = node.test if isinstance(node, python.IfExp) else self._test_of_weights(node)
        if test is not None:
            if isinstance(node, python.IfExp):
                yes, no = node.body, node.orelse
            else:
                yes, no = _decided(node, test, holds=True), _decided(node, test, holds=False)
            condition = self.expr(test)
            with self.collecting() as then:
                self.assign(target, yes, span)
            with self.collecting() as otherwise:
                self.assign(target, no, span)
            self.emit(ast.If(condition, tuple(then), tuple(otherwise), span))
            return
        drawn = self._distribution(node)
        self.emit(ast.Assign(target, self.expr(node), span) if drawn is None else ast.Sample(target, drawn, span))

    def _test_of_weights(self, node: python.expr) -> python.expr | None:
        """Return the first test of an `a if test else b` in the weights of `node`, a call of `dipc.choice`.

        The result is None if no weight has such a test, or if `node` is another expression.
        """
        if not isinstance(node, python.Call) or self.called(node.func) != CHOICE:
            return None
        match node.args:
            case [python.Dict(values=weights)]:
                for weight in weights:
                    for each in python.walk(weight):
                        if isinstance(each, python.IfExp) and not any(
                            isinstance(inner, python.Call) for inner in python.walk(each.test)
                        ):
                            return each.test
        return None

    def _constant(self, node: python.Constant, span: Span) -> ast.Expr:
        value = node.value
        if value is None:
            return ast.Name(NONE, span)
        if isinstance(value, bool):
            return ast.Truth(value, span)
        if isinstance(value, str):
            if not _WORD.fullmatch(value) or value in RESERVED - {NONE_NAME, FALSE_NAME, TRUE_NAME}:
                raise self.module.wrong(
                    node,
                    f"the string {value!r} is not the name of an answer",
                    'write a word, such as "top" or "bottom"',
                )
            self.strings.setdefault(value, node)
            return ast.Name(value, span)
        value_of = literal(self.module, node)
        if value_of is None:
            raise self.module.wrong(node, f"`{self.module.text(node)}` is not a number, string or truth value")
        if isinstance(value, int):
            return number(value_of, span)
        return Decimal(value_of, self.module.source.text[span.start : span.end].replace("_", ""), span)

    def _name(self, node: python.expr, name: str, span: Span) -> ast.Expr:
        bound = self.env.get(name)
        frame = self.owner(name)
        if bound is None and frame is not None and name in self.constants and frame.has_argument(name):
            return self.frozen_constant(node, name, span)
        if bound is None and frame is not None and frame is not self.frames[-1] and name not in frame.gone:
            # The function around assigns it, and may have done so by now: closures read the variable.
            if name in frame.functions:
                raise self.module.wrong(
                    node, f"the function `{name}` is used where a number is expected", f"call it: `{name}(…)`"
                )
            if name not in frame.scalars:
                frame.scalars[name] = Scalar(self.fresh(name))
            bound = frame.env.setdefault(name, frame.scalars[name])
        match bound:
            case Scalar(own):
                return ast.Name(own, span)
            case Alias(value):
                return replace(value, span=span)
            case Array():
                raise self.module.wrong(
                    node,
                    f"the list `{name}` is used where a number or a truth value is expected",
                    f"write an element, `{name}[0]`, or `sum({name})`, `max({name})`, `len({name})`",
                )
        if name in self.gone or (frame is not None and name in frame.gone):
            raise self.module.wrong(
                node, f"`{name}` is used after its loop", "copy what you need into another variable inside the loop"
            )
        if frame is not None and name not in frame.functions and frame is self.frames[-1]:
            # It is assigned further down: a loop may have come by there.
            return ast.Name(self.scalar(name).name, span)
        return self.frozen_constant(node, name, span)

    def frozen_constant(self, node: python.expr, name: str, span: Span) -> ast.Expr:
        """Return an expression for the constant `name`, which `node` reads at `span`.

        It is a constant of the mechanism, or one of the file whose value never changes. Raises DiagnosticError for any
        other name.
        """
        module = self.module
        if name in self.constants:
            self._require_meant(node, name)
            return ast.Name(name, span)
        if name in module.changing and name in module.constants:
            changed = module.changing[name]
            again = isinstance(changed, python.Name)
            raise module.wrong(
                node,
                f"`{name}` is assigned more than once in this file" if again else f"`{name}` may change in this file",
                "a mechanism takes only what never changes from the file: make it a constant, `@dipc.mechanism(k=3)`",
                related=[(changed, "assigned again here" if again else "changed here")],
            )
        if name in module.constants:
            value = rational(module, module.constants[name])
            if value is None:
                raise module.wrong(
                    node,
                    f"`{name}` is neither an integer nor a Fraction",
                    "a mechanism takes exact numbers from the file: `k = 3`, `T = Fraction(1, 2)`",
                    related=[(module.constants[name], "its value")],
                )
            if name in self.taken:
                return number(value, span)
            self.taken.add(name)
            self.constants[name] = value
            self.frozen[name] = number(value, module.span(module.constants[name])), module.constants[name]
            return ast.Name(name, span)
        if name in module.functions:
            raise module.wrong(
                node, f"the function `{name}` is used where a number is expected", f"call it: `{name}(…)`"
            )
        if name in module.aliases:
            raise module.wrong(
                node,
                f"`{name}` is imported, so its value is not known here",
                "a mechanism uses only what is in its own file: copy the number or the function into it",
            )
        raise module.wrong(
            node,
            f"`{name}` has no value here",
            *did_you_mean(name, [*self.env, *self.constants, *module.constants, *module.functions]),
            "a mechanism knows its arguments, its variables and the integers, Fractions and functions of its file",
        )

    def _require_meant(self, node: python.expr, name: str) -> None:
        """Raise DiagnosticError if, in Python, the mechanism's constant `name` is undefined or different at `node`.

        It is undefined in a helper function without an argument of this name. It is different if the file gives `name`
        a number that is not the mechanism's.
        """
        if not self.frames or name in self.frozen:
            return
        *_, outermost = self.frames[-1].lexical
        function, arguments = outermost.node, outermost.node.args
        if name not in self.argument_constants and name in self.module.constants:
            written = self.module.constants[name]
            if rational(self.module, written) != self.constants[name]:
                raise self.module.wrong(
                    node,
                    f"`{name}` is a constant of the mechanism, and another number in this file",
                    "give one of them another name",
                    related=[(written, "in the file")],
                )
            return
        known = name not in self.argument_constants and is_mechanism(self.module, function)
        if not known and all(each.arg != name for each in (*arguments.args, *arguments.kwonlyargs)):
            what = "an argument" if name in self.argument_constants else "a constant"
            raise self.module.wrong(
                node,
                f"`{name}` is {what} of the mechanism, which `{function.name}` does not have",
                f"give it as an argument: `{function.name}(…, {name})`",
            )

    def _binary(
        self, node: python.expr, left: python.expr, op: python.operator, right: python.expr, span: Span
    ) -> ast.Expr:
        if isinstance(left, python.List) or isinstance(right, python.List):
            raise self.module.wrong(
                node, "a list is used where a number is expected", "give it a name first: `xs = [0] * m`"
            )
        kind = OPERATORS.get(type(op))
        if kind is not None:
            return ast.Binary(kind, self.expr(left), self.expr(right), span)
        one, two = self.expr(left), self.expr(right)
        values = bound_of(one, self.constants), bound_of(two, self.constants)
        plain = [None if each is None or each.terms else each.value for each in values]
        first, second = plain
        if first is not None and second is not None:
            match op:
                case python.FloorDiv() if second:
                    return number(Fraction(first // second), span)
                case python.Mod() if second:
                    return number(first % second, span)
                case python.Pow() if second.denominator == 1 and abs(second) <= 64 and (first or second >= 0):
                    return number(first**second, span)  # type: ignore[arg-type]
        if isinstance(op, python.Pow) and second == 2 and not isinstance(one, ast.Call):
            return ast.Binary(BinaryOp.MULTIPLY, one, one, span)
        if isinstance(op, python.FloorDiv | python.Mod) and second and second.denominator == 1 and values[0] is None:
            target = ast.Name(self.fresh("quotient" if isinstance(op, python.FloorDiv) else "remainder"), span)
            word = FLOOR if isinstance(op, python.FloorDiv) else REMAINDER
            self.emit(ast.Assign(target, ast.Call(word, (one, number(second, span)), span), span))
            return target
        sign = {python.FloorDiv: "//", python.Mod: "%", python.Pow: "**"}.get(type(op), "this operator")
        raise self.module.wrong(
            node,
            f"`{sign}` needs two numbers that are written out, or a value of a finite type and such a number",
            "make the result a constant of the mechanism, `@dipc.mechanism(half=2)`",
        )

    def _compare(self, node: python.Compare, span: Span) -> ast.Expr:
        sides = [node.left, *node.comparators]
        written: list[ast.Expr | None] = [None] * len(sides)

        def side(index: int) -> ast.Expr:
            operand = written[index]
            if operand is None:
                operand = written[index] = self.expr(sides[index])
            return operand

        result: ast.Expr | None = None
        for index, op in enumerate(node.ops):
            one, two = sides[index], sides[index + 1]
            if isinstance(op, python.In | python.NotIn):
                condition = self._member(node, side(index), two, span)
                if isinstance(op, python.NotIn):
                    condition = ast.Unary(UnaryOp.NOT, condition, span)
            else:
                kind = (COMPARISONS | {python.Is: CompareOp.EQ, python.IsNot: CompareOp.NE})[type(op)]
                if isinstance(op, python.Is | python.IsNot) and not any(
                    isinstance(each, python.Constant) and (each.value is None or isinstance(each.value, bool))
                    for each in (one, two)
                ):
                    raise self.module.wrong(node, "`is` compares with None only", "write `==`")
                left, right = side(index), side(index + 1)
                if isinstance(left, ast.Truth):
                    left, right = right, left  # with a truth value only `==` and `!=` make sense
                condition = ast.Compare(kind, left, right, span)
            result = condition if result is None else ast.Binary(BinaryOp.AND, result, condition, span)
        assert result is not None
        return result

    def _member(self, node: python.expr, left: ast.Expr, right: python.expr, span: Span) -> ast.Expr:
        if not isinstance(right, python.Tuple | python.List | python.Set) or not right.elts:
            raise self.module.wrong(node, "`in` needs values that are written out", "write `x in (1, 2)`")
        result: ast.Expr | None = None
        for place, each in enumerate(right.elts):
            # Python computes every element before it compares the first.
            value = self.computed(each) if place else self.expr(each)
            equal = ast.Compare(CompareOp.EQ, left, value, span)
            result = equal if result is None else ast.Binary(BinaryOp.OR, result, equal, span)
        assert result is not None
        return result

    # --- lists ------------------------------------------------------------------------------------

    def array(self, node: python.expr) -> Array | None:
        """Return the list that `node` names; None for any other expression."""
        if isinstance(node, python.Name):
            bound = self.env.get(node.id)
            if isinstance(bound, Array):
                return bound
        return None

    def _element(self, node: python.expr, value: python.expr, index: python.expr, span: Span) -> ast.Element:
        array = self.array(value)
        if isinstance(index, python.Slice):
            raise self.module.wrong(
                node, "a slice of a list cannot be used here", "write a loop: `for i in range(1, len(q))`"
            )
        if array is None and makes_list(value):
            array = self.listed("items", value, span)
        if array is None:
            raise self.module.wrong(
                node,
                f"`{self.module.text(value)}` is not a list of this function",
                "index a list by its name"
                if isinstance(value, python.Name)
                else f"give the list a name first, `ys = {self.module.text(value)}`, and use `ys[…]`",
            )
        return ast.Element(array.name, self.index(array, index), span)

    def index(self, array: Array, node: python.expr) -> ast.Expr:
        """Return the index `node` into `array` as an expression, where a negative number counts from the end."""
        span = self.module.span(node)
        self._require_int(node, "an index")
        back = rational(self.module, node)
        if back is not None and back < 0:
            if array.grows:
                raise self.module.wrong(
                    node, "the end of a list that grows is not known here", "keep the value in a variable"
                )
            return array.length.plus(int(back)).expression(span)
        return self.expr(node)

    def _require_int(self, node: python.expr, what: str) -> None:
        if floats_in(node):
            raise self.module.wrong(
                node,
                f"{what} must be an int: Python raises a TypeError for `{self.module.text(node)}`",
                "write an int, or divide by `//`",
                code=UNKNOWN_TYPE,
            )

    def length(self, node: python.expr) -> ConstantSum:
        """Return `node` as a number known before the mechanism runs: a constant, `len(q)`, or a sum of these."""
        if self.frames:
            self._require_int(node, "a number of times")
        with self.collecting() as written:
            bound = bound_of(self.expr(node), self.constants)
        if bound is None or written:
            raise self.module.wrong(
                node,
                f"`{self.module.text(node)}` is not known before the mechanism runs",
                "a length is a sum of numbers, constants and `len(q)`; leave a loop early with `break`",
                code=UNKNOWN_TYPE,
            )
        return bound

    def many(self, node: python.expr) -> Many | None:
        """Return the items that a loop over `node` goes through; None if `node` cannot be looped over."""
        span = self.module.span(node)
        array = self.array(node)
        if array is not None:
            own = array.name
            if array.grows and not array.complete and array.counter is None:
                raise self.module.wrong(
                    node,
                    "a list that grows cannot be looped over before it is complete",
                    f"create it with its full length before the loop, `{self.spelling_of(own)} = [0] * m`, and assign "
                    "its elements",
                )
            if array.counter is not None and own in self.appending:
                raise self.module.wrong(
                    node, "a list that grows here cannot be looped over at once", "loop over it after it is complete"
                )
            return Many(array.length, lambda offset: ast.Element(own, offset, span), array.counter)
        if isinstance(node, python.Subscript) and isinstance(node.slice, python.Slice):
            return self._slice(node, node.slice, span)
        match node:
            case python.Call(func=python.Name(id="range"), args=[_, *_] as arguments, keywords=[]):
                return self._range(node, arguments, span)
            case python.Call(func=python.Name(id="enumerate"), args=[inner, *rest]):
                enumerated = self.many(inner)
                start = self.length(rest[0]) if rest else ConstantSum.from_number(0)
                for keyword in node.keywords:
                    if keyword.arg == "start":
                        start = self.length(keyword.value)
                if enumerated is None:
                    return None
                item = enumerated.item
                return Many(
                    enumerated.length,
                    lambda offset: (plus(offset, start, self.constants, span), item(offset)),
                    enumerated.counter,
                )
            case python.Call(func=python.Name(id="zip"), args=[_, *_] as arguments):
                strict = self._zip_is_strict(node)
                sequences = [self.many(each) for each in arguments]
                if any(sequence is None for sequence in sequences):
                    return None
                together = [sequence for sequence in sequences if sequence is not None]
                if any(sequence.counter is not None for sequence in together):
                    raise self.module.wrong(
                        node, "the length of a list that grows is not known here", "loop over it alone"
                    )
                least = min((sequence.length for sequence in together), key=lambda each: each.value)
                if any(sequence.length.minus(least).terms for sequence in together):
                    raise self.module.wrong(
                        node, "which of these is the shortest depends on a constant", "let all have the same length"
                    )
                if strict and any(sequence.length.value != least.value for sequence in together):
                    raise self.module.wrong(
                        node, "these have different lengths: Python raises a ValueError", "leave `strict` out"
                    )
                return Many(least, lambda offset: tuple(sequence.item(offset) for sequence in together))
            case python.List(elts=[_, *_] as elements) | python.Tuple(elts=[_, *_] as elements):
                constants = [self.expr(each) for each in elements]
                name = self.fresh("list")
                for offset, value in enumerate(constants):
                    self.emit(ast.Assign(ast.Element(name, number(offset, span), span), value, span))
                made = Array(name, ConstantSum.from_number(len(constants)))
                self.register(made)
                return Many(made.length, lambda offset: ast.Element(name, offset, span))
        return None

    def _slice(self, node: python.Subscript, part: python.Slice, span: Span) -> Many | None:
        array = self.array(node.value)
        if array is None or array.grows:
            return None
        if part.step is not None:
            raise self.module.wrong(node, "a slice has steps of 1 here", "write `[q[2 * k] for k in range(n)]`")

        def end(written: python.expr | None, default: ConstantSum) -> ConstantSum:
            if written is None:
                return default
            bound = self.length(written)
            return array.length.plus(bound) if bound.value < 0 and not bound.terms else bound

        low, high = end(part.lower, ConstantSum.from_number(0)), end(part.upper, array.length)
        for least, most in ((ConstantSum.from_number(0), low), (low, high), (high, array.length)):
            apart = most.minus(least)
            if apart.value < 0 or any(coefficient < 0 for _, coefficient in apart.terms):
                raise self.module.wrong(
                    node,
                    f"the ends of the slice `{self.module.text(node)}` may be outside of the list",
                    "write ends from 0 to the length of the list, the lower one first",
                )
        name = array.name
        return Many(high.minus(low), lambda k: ast.Element(name, plus(k, low, self.constants, span), span))

    def _zip_is_strict(self, node: python.Call) -> bool:
        match node.keywords:
            case []:
                return False
            case [python.keyword(arg="strict", value=python.Constant(value=bool() as strict))]:
                return strict
        raise self.module.wrong(node, "`zip` takes only `strict` by name", "write `zip(p, q)`")

    @abstractmethod
    def register(self, array: Array) -> None:
        """Add `array` to the lists that the program declares."""

    def _range(self, node: python.expr, arguments: list[python.expr], span: Span) -> Many:
        ends = [self.length(each) for each in arguments]
        low, high = (ConstantSum.from_number(0), ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        step = ends[2] if len(ends) == 3 else ConstantSum.from_number(1)
        if len(ends) > 3 or step.terms or step.value not in (1, -1):
            raise self.module.wrong(node, "a range needs steps of 1 or -1", "write `for k in range(n)` and use `2*k`")
        if step.value == 1:
            first = low
            return Many(high.minus(low), lambda offset: plus(offset, first, self.constants, span))
        return Many(
            low.minus(high),
            lambda offset: ast.Binary(BinaryOp.SUBTRACT, low.expression(span), offset, span),
        )

    def write_loop(self, many: Many, span: Span, body: Callable[[ast.Expr, Item], None], *, first: int = 0) -> None:
        """Write a loop, placed at `span`, over the items of `many` that begins at index `first`.

        `body`, called with an index and its item, writes the statements for this item.
        """
        variable = self.fresh("k")
        offset = ast.Name(variable, span)
        self.loops.append(many.length.plus(-first))
        with self.collecting() as inner:
            body(offset, many.item(offset))
        self.loops.pop()
        exists = many.exists(offset, span)
        if exists is not None:
            inner = [ast.If(exists, tuple(inner), (), span)]
        low = number(first, span)
        self.emit(ast.For(variable, low, many.length.plus(-1).expression(span), tuple(inner), span))

    # --- calls ------------------------------------------------------------------------------------

    def _call(self, node: python.Call, span: Span) -> ast.Expr:
        if self._test_of_weights(node) is not None:
            target = ast.Name(self.fresh("draw", self.module.text(node)), span)
            self.assign(target, node, span)
            return target
        distribution = self._distribution(node)
        if distribution is not None:
            target = ast.Name(self.fresh("draw", self.module.text(node)), span)
            self.emit(ast.Sample(target, distribution, span))
            return target
        function = node.func
        called = self.called(function)
        if called in ("math.exp", "dipc.exp"):
            return ast.Call("exp", (self._single(node),), span)
        written = rational(self.module, node)
        if written is not None:
            return exact_number(written, span)
        if called == "fractions.Fraction":
            return self._fraction(node, span)
        match function:
            case python.Name(id=name) if (own := self.function(name)) is not None:
                return self.inline(node, own)
            case python.Name(id="len"):
                return self._len(node, span)
            case python.Name(id="abs"):
                return ast.Call("abs", (self._single(node),), span)
            case python.Name(id="min" | "max" as name):
                return self._extreme(node, name, span)
            case python.Name(id="sum" | "any" | "all" as name):
                return self._fold(node, name, span)
            case python.Name(id="bool"):
                # Twice not: of a truth value it is the same, and of a number it is refused.
                condition = self._single(node)
                twice = ast.Unary(UnaryOp.NOT, ast.Unary(UnaryOp.NOT, condition, span), span)
                return condition if ast.is_condition(condition) else twice
            case python.Name(id="int"):
                return self._int(node, span)
            case python.Attribute(value=value, attr="index") if self.array(value) is not None:
                return self._index_of(node, value, span)
            case python.Attribute(value=value, attr="count") if self.array(value) is not None:
                return self._count(node, value, span)
        raise self._not_called(node, called)

    def _count(self, node: python.Call, items: python.expr, span: Span) -> ast.Expr:
        """Return the value of the call `node`, `items.count(v)` at `span`, read as `sum(x == v for x in items)`."""
        with self.scope():
            self.let(_WANTED, Alias(self._single(node)))
            equal = python.Compare(
                python.Name(_ITEM, python.Load()), [python.Eq()], [python.Name(_WANTED, python.Load())]
            )
            each = python.comprehension(python.Name(_ITEM, python.Store()), items, [], 0)
            call = python.Call(python.Name("sum", python.Load()), [python.GeneratorExp(equal, [each])], [])
            for made in python.walk(call):
                if not hasattr(made, "lineno"):
                    python.copy_location(made, node)
            return self._fold(call, "sum", span)

    def _fraction(self, node: python.Call, span: Span) -> ast.Expr:
        if node.keywords or not 1 <= len(node.args) <= 2 or any(map(floats_in, node.args)):
            raise self.module.wrong(
                node,
                f"`{self.module.text(node)}` is the fraction of a float, which is only near the decimal",
                "write whole numbers, `Fraction(1, 10)`, or a text, `Fraction('0.1')`",
            )
        parts = [self.expr(each) for each in node.args]
        return parts[0] if len(parts) == 1 else ExactDivision(BinaryOp.DIVIDE, parts[0], parts[1], span)

    def _not_called(self, node: python.Call, called: str | None) -> DiagnosticError:
        written = self.module.text(node.func)
        if called is not None:
            for root, note in _FOREIGN.items():
                if called.startswith(root + "."):
                    return self.module.wrong(
                        node, f"nothing can be proved about noise of `{written}`", note, code=BAD_NOISE
                    )
            if called.startswith("dipc."):
                names = [each.removeprefix("dipc.") for each in (*NOISES, CHOICE, MECHANISM)]
                return self.module.wrong(
                    node.func,
                    f"`{written}` is not a noise of dipc",
                    *(
                        [known]
                        if (known := _OTHER_NAMES.get(called.removeprefix("dipc.").lower()))
                        else did_you_mean(called.removeprefix("dipc."), names, "dipc.{}")
                    ),
                    f"the noises are {', '.join(names)}",
                    code=BAD_NOISE,
                )
            if called in ("math.sqrt", "math.log"):
                return self.module.wrong(
                    node, f"`{written}` does not give an exact number", self._help_for(node, called)
                )
            return self.module.wrong(
                node.func,
                f"`{written}` is imported, so what it does is not known here",
                "a mechanism can only call functions of its own file: copy this one into it",
            )
        if isinstance(node.func, python.Name) and node.func.id == "float":
            return self.module.wrong(node, "a `float` is not exact", "write the number as it is, `1/10`, or a Fraction")
        if isinstance(node.func, python.Name) and node.func.id in ("print", "input", "open", "sorted", "map", "filter"):
            return self.module.wrong(node, f"`{written}` is not part of a mechanism")
        return self.module.wrong(
            node.func,
            f"the function `{written}` is not known here",
            *did_you_mean(written, [*self.module.functions, "min", "max", "abs", "sum", "len", "any", "all"]),
            "a mechanism calls min, max, abs, sum, len, any, all, dipc's noise and functions of its own file",
        )

    def _help_for(self, node: python.Call, called: str) -> str:
        """Return the help for the call `node` of the logarithm or root `called`.

        If the argument is a number, the help names a Fraction just below the value and one just above it. If the value
        is a factor of the scale or rate of a noise, and the lower Fraction is positive, the help names only the
        Fraction with which the noise is wider. Wider noise is the safe side for privacy.
        """
        value = rational(self.module, node.args[0]) if len(node.args) == 1 else None
        if value is None or value <= 0:
            return "write a Fraction near it, such as `Fraction(3, 2)`"
        ball = RealBall.from_number(value)
        near = _fractions_near(ball.log() if called == "math.log" else ball.sqrt())
        if near is None:
            return "write a Fraction near it, such as `Fraction(3, 2)`"
        low, high = (f"`Fraction({each.numerator}, {each.denominator})`" for each in near)
        known = "fractions.Fraction" in self.module.aliases.values()
        imported = "" if known else ", with `from fractions import Fraction`"
        width, root = self._width or (None, node)
        if width is None or near[0] <= 0 or not _is_factor(node, root):
            return f"write a Fraction on the safe side of it: {low} is just below it, {high} is just above it{imported}"
        if width == "rate":
            return f"write a Fraction just below it, which makes the noise a little wider: {low}{imported}"
        return f"write a Fraction just above it, which makes the noise a little wider: {high}{imported}"

    def _single(self, node: python.Call) -> ast.Expr:
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], python.Starred):
            raise self.module.wrong(node, f"`{self.module.text(node.func)}` takes one argument here")
        return self.expr(node.args[0])

    def _len(self, node: python.Call, span: Span) -> ast.Expr:
        array = self.array(node.args[0]) if len(node.args) == 1 else None
        if array is None:
            raise self.module.wrong(node, "`len` needs a list of this function", "write `len(q)`")
        if array.grows:
            if array.counter is None:
                raise self.module.wrong(
                    node, "the length of a list that grows is not known here", "count in a separate variable"
                )
            return ast.Name(array.counter, span)
        return array.length.expression(span)

    def _int(self, node: python.Call, span: Span) -> ast.Expr:
        condition = self._single(node)
        if not ast.is_condition(condition):
            raise self.module.wrong(
                node,
                "`int` can only be used to turn a condition into 1 or 0",
                "numbers are exact here and do not need `int`",
            )
        return self._counted(condition, span)

    def _counted(self, condition: ast.Expr, span: Span) -> ast.Name:
        target = ast.Name(self.fresh("one"), span)
        one, zero = (ast.Assign(target, number(each, span), span) for each in (1, 0))
        self.emit(ast.If(condition, (one,), (zero,), span))
        return target

    def _extreme(self, node: python.Call, name: str, span: Span) -> ast.Expr:
        keys = {keyword.arg: keyword.value for keyword in node.keywords}
        if set(keys) == {"key"} and len(node.args) == 1:
            return self._best_by(node, name, node.args[0], keys["key"], span)
        if keys:
            raise self.module.wrong(node, f"`{name}` takes numbers, a list, or `key=lambda i: …`")
        if len(node.args) >= 2:
            return ast.Call(name, tuple(self.expr(each) for each in node.args), span)
        return self._folded(node, name, span)

    def _fold(self, node: python.Call, name: str, span: Span) -> ast.Expr:
        if len(node.args) != 1 or node.keywords:
            raise self.module.wrong(
                node, f"`{name}` takes a list here", f"write `{name}(q)`, or `{name}(… for x in q)`"
            )
        return self._folded(node, name, span)

    def _folded(self, node: python.Call, name: str, span: Span) -> ast.Expr:
        if not node.args:
            raise self.module.wrong(node, f"`{name}` needs arguments")
        over = node.args[0]
        conditions: list[python.expr] = []
        element: python.expr | None = None
        pattern: python.expr | None = None
        if isinstance(over, python.GeneratorExp | python.ListComp):
            if len(over.generators) != 1:
                raise self.module.wrong(over, "only one `for` is allowed here", "write the inner loop as a statement")
            (generator,) = over.generators
            element, pattern, conditions, over = over.elt, generator.target, generator.ifs, generator.iter
        many = self.many(over)
        if many is None:
            raise self.module.wrong(node, f"`{name}` needs a list or a `for`", f"write `{name}(q)`")
        total = ast.Name(self.fresh({"sum": "total", "any": "some", "all": "every"}.get(name, "best")), span)
        start: ast.Expr | None = {
            "sum": number(0, span),
            "any": ast.Truth(False, span),
            "all": ast.Truth(True, span),
        }.get(name)
        if start is None:
            self._require_some(node, name, many)
        if start is None and (conditions or many.counter is not None):
            raise self.module.wrong(node, f"`{name}` may get no values", "write the loop as statements")

        def value(item: Item) -> ast.Expr:
            if element is not None and pattern is not None:
                self.bind(pattern, item)
                return self.expr(element)
            if isinstance(item, tuple | Array):
                raise self.module.wrong(node, f"`{name}` needs numbers or truth values")
            return item

        if start is None:
            offset = number(0, span)
            with self.scope():
                self.emit(ast.Assign(total, value(many.item(offset)), span))
        else:
            self.emit(ast.Assign(total, start, span))

        def step(_: ast.Expr, item: Item) -> None:
            term = value(item)
            tests = [self.expr(each) for each in conditions]
            with self.collecting() as inner:
                if name == "sum" and ast.is_condition(term):
                    term = self._counted(term, span)
                combined: ast.Expr
                match name:
                    case "sum":
                        combined = ast.Binary(BinaryOp.ADD, total, term, span)
                    case "any":
                        combined = ast.Binary(BinaryOp.OR, total, term, span)
                    case "all":
                        combined = ast.Binary(BinaryOp.AND, total, term, span)
                    case _:
                        combined = ast.Call(name, (total, term), span)
                self.emit(ast.Assign(total, combined, span))
            written: tuple[ast.Statement, ...] = tuple(inner)
            for test in reversed(tests):
                written = (ast.If(test, written, (), span),)
            self.out.extend(written)

        with self.scope():
            self.write_loop(many, span, step, first=1 if start is None else 0)
        return total

    def _require_some(self, node: python.expr, name: str, many: Many) -> None:
        if many.length.value <= 0:
            raise self.module.wrong(
                node, f"`{name}` of nothing has no value: Python raises a ValueError", "give it at least one value"
            )

    def _index_of(self, node: python.Call, value: python.expr, span: Span) -> ast.Expr:
        """Return the index computed by the call `node`, `value.index(max(value))`, as an expression at `span`.

        The argument may also be a variable that holds `max(value)`.
        """
        match [self._extreme_meant(each) for each in node.args]:
            case [
                python.Call(func=python.Name(id="max" | "min" as name), args=[python.Name(id=other)], keywords=[])
            ] if isinstance(value, python.Name) and other == value.id:
                many = self.many(value)
                assert many is not None
                if many.counter is not None:
                    raise self.module.wrong(node, f"`{name}` may get no values", "write the loop as statements")
                return self._arg_best(name, many, lambda item: item, lambda offset: offset, span)
        raise self.module.wrong(
            node, "`index` can only look for a greatest or least element", "write `xs.index(max(xs))`, or a loop"
        )

    def _extreme_meant(self, node: python.expr) -> python.expr:
        if isinstance(node, python.Name) and len(self.frames) == 1 and isinstance(self.env.get(node.id), Scalar):
            return self.extremes.get(node.id, node)
        return node

    def _best_by(self, node: python.Call, name: str, over: python.expr, key: python.expr, span: Span) -> ast.Expr:
        """Return the value of the call `node`, such as `max(over, key=key)`, as an expression at `span`.

        `name` is max or min, and `over` a list or a range such as `range(m)`.
        """
        many = self.many(over)
        if many is None or not isinstance(key, python.Lambda) or not _takes_one(key):
            raise self.module.wrong(node, f"`{name}` with a key needs a list or a range, and a `lambda i: …`")

        self._require_some(node, name, many)
        if many.counter is not None:
            raise self.module.wrong(node, f"`{name}` may get no values", "write the loop as statements")

        def score(item: Item) -> Item:
            self.let(key.args.args[0].arg, _bound_to(item))
            return self.expr(key.body)

        item = many.item
        with self.scope():
            return self._arg_best(name, many, score, lambda offset: _plain(item(offset)), span)

    def _arg_best(
        self, name: str, many: Many, score: Callable[[Item], Item], answer: Callable[[ast.Expr], ast.Expr], span: Span
    ) -> ast.Expr:
        """Return an expression for `answer(i)`, where i is the first index with the best score in `many`.

        A loop at `span` finds i. `score` maps an element of the sequence `many` to its score, and `answer` an index to
        an expression. The best score is the greatest if `name` is max, and the least if it is min.
        """
        best, place = ast.Name(self.fresh("best"), span), ast.Name(self.fresh("place"), span)
        zero = number(0, span)
        self.emit(ast.Assign(best, _plain(score(many.item(zero))), span))
        self.emit(ast.Assign(place, answer(zero), span))

        def step(offset: ast.Expr, item: Item) -> None:
            here = _plain(score(item))
            op = CompareOp.GT if name == "max" else CompareOp.LT
            then = (ast.Assign(best, here, span), ast.Assign(place, answer(offset), span))
            self.emit(ast.If(ast.Compare(op, here, best, span), then, (), span))

        self.write_loop(many, span, step, first=1)
        return place

    def bind(self, pattern: python.expr, item: Item) -> None:
        """Bind the names of the target `pattern`, as in `for i, x in …`, to `item`, an item of a loop."""
        match pattern:
            case python.Name(id=name):
                self.let(name, _bound_to(item))
            case python.Tuple(elts=patterns) if isinstance(item, tuple) and len(patterns) == len(item):
                for inner, each in zip(patterns, item, strict=True):
                    self.bind(inner, each)
            case _:
                raise self.module.wrong(pattern, "this pattern does not fit the elements of the loop")

    # --- noise ------------------------------------------------------------------------------------

    def _distribution(self, node: python.expr) -> ast.Distribution | None:
        if not isinstance(node, python.Call):
            return None
        called = self.called(node.func) or ""
        span = self.module.span(node)
        if called in NOISES:
            return self._noise(node, called, span)
        if called == CHOICE:
            return self._choice(node, span)
        if called == MECHANISM:
            return self._mechanism(node, span)
        return None

    def _noise(self, node: python.Call, called: str, span: Span) -> ast.NoiseExpr:
        keyword, has_mean, widths = NOISES[called]
        name = self.module.text(node.func)
        law = law_of(keyword)
        words = [*(["mean"] if has_mean else []), *(f"{width}=2/eps" for width in widths[:1])]
        words += ["low=-3", "high=3"] if law.takes_ends else []
        example = f"`{name}({', '.join(words)})`"
        ends = ENDS if law.takes_ends else ()
        given = self._keywords(node, (*widths, *ends, *(["mean"] if has_mean else [])), example)
        known = [width for width in widths if width in given]
        if len(node.args) > int(has_mean):
            raise self.module.wrong(
                node.args[int(has_mean)],
                "name the width of the noise" if widths else "name the two ends of the noise",
                f"write {example}: `scale` grows with the noise, `rate` is its inverse"
                if len(widths) > 1
                else f"write {example}",
                code=BAD_NOISE,
            )
        if any(end not in given for end in ends):
            raise self.module.wrong(
                node, f"`{name}` is not given both `low` and `high`", f"write {example}", code=BAD_NOISE
            )
        if len(known) != min(1, len(widths)):
            what = "both `scale` and `rate`" if len(known) > 1 else f"no {' or '.join(f'`{each}`' for each in widths)}"
            raise self.module.wrong(node, f"`{name}` is given {what}", f"write {example}", code=BAD_NOISE)
        mean: ast.Expr | None = None
        if has_mean:
            written = node.args[0] if node.args else given.get("mean")
            mean = number(0, span) if written is None else self.expr(written)
        rate: ast.Expr | None = None
        if known:
            self._width = known[0], given[known[0]]
            width = self.expr(given[known[0]])
            self._width = None
            rate = inverse(width) if known[0] == "scale" else width
        support = (self.expr(given["low"]), self.expr(given["high"])) if ends else None
        return ast.NoiseExpr(law, rate, mean, span, support)

    def _keywords(self, node: python.Call, known: tuple[str, ...], example: str) -> dict[str, python.expr]:
        given: dict[str, python.expr] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in known:
                name_of = "**" if keyword.arg is None else keyword.arg
                close = None if keyword.arg is None else nearest(keyword.arg, known)
                raise self.module.wrong(
                    Span(self.module.span(keyword).start, self.module.span(keyword).end),
                    f"`{self.module.text(node.func)}` has no argument `{name_of}`",
                    *([f"did you mean `{close}`?"] if close else []),
                    f"write {example}",
                    code=BAD_NOISE,
                )
            given[keyword.arg] = keyword.value
        return given

    def _choice(self, node: python.Call, span: Span) -> ast.Choose:
        match node:
            case python.Call(args=[python.Dict(keys=keys, values=weights)], keywords=[]) if keys and None not in keys:
                for weight in weights:
                    if isinstance(weight, python.Constant) and isinstance(weight.value, str):
                        plain = re.sub(r"\bexp\(", "dipc.exp(", weight.value)
                        raise self.module.wrong(
                            weight, "a weight is an expression, not a string", f"write `{plain}`", code=BAD_NOISE
                        )
                arms = [
                    (self.computed(key), self.expr(weight))
                    for key, weight in zip(keys, weights, strict=True)
                    if key is not None
                ]
                return ast.Choose(tuple(arms), span)
        raise self.module.wrong(
            node,
            "a choice needs values that are written out",
            "write `dipc.choice({True: 3/4, False: 1/4})`; weights may have eps and `math.exp(eps)` in them",
            code=BAD_NOISE,
        )

    def _mechanism(self, node: python.Call, span: Span) -> ast.ExponentialMechanism:
        example = "`dipc.exponential_mechanism(range(3), lambda v: scores[v], rate=eps/2)`"
        given = self._keywords(node, ("rate", "score", "candidates"), example)
        values = [*node.args, *(given[name] for name in ("candidates", "score")[len(node.args) :] if name in given)]
        if len(values) != 2 or "rate" not in given:
            raise self.module.wrong(
                node,
                "an exponential mechanism needs candidates, a score and a rate",
                f"write {example}",
                code=BAD_NOISE,
            )
        candidates, score = values
        domain = self._candidates(candidates)
        variable = self.fresh("candidate")
        here = ast.Name(variable, span)
        with self.collecting() as written, self.scope():
            match score:
                case python.Lambda(args=python.arguments(args=[python.arg(arg=name)]), body=body) if _takes_one(score):
                    self.let(name, Alias(here))
                    listed = isinstance(candidates, python.List | python.Tuple)
                    value = self.expr(_change_conditionals(body, _as_arithmetic) if listed else body)
                case python.Name(id=name) if isinstance(self.env.get(name), Array):
                    array = self.env[name]
                    assert isinstance(array, Array)
                    value = ast.Element(array.name, here, self.module.span(score))
                case python.Name(id=name) if (own := self.function(name)) is not None:
                    self.let(_CANDIDATE, Alias(here))
                    value = self.inline(_call_of(score), own)
                case _:
                    raise self.module.wrong(
                        score, "a score must be a `lambda`, a list or a function", f"write {example}", code=BAD_NOISE
                    )
        if written:
            value = self._scored(candidates, score, here, written)
        return ast.ExponentialMechanism(self.expr(given["rate"]), variable, domain, value, span)

    def _scored(
        self, candidates: python.expr, score: python.expr, here: ast.Name, written: Sequence[ast.Statement]
    ) -> ast.Expr:
        """Return the score of the candidate `here` of an exponential mechanism whose scores need statements to compute.

        `score` is the Python function that computes a score, and `written` are the statements into which it is
        translated. Before the draw, a loop executes these statements for each of `candidates`, and stores the scores in
        a list. The result is the element of this list for `here`. Raises DiagnosticError if the statements draw noise,
        or if the candidates are not a range.
        """
        if any(isinstance(copied, ast.Sample) for statement in written for copied in ast.walk(statement)):
            raise self.module.wrong(
                score,
                "a score must be computed without noise",
                "draw the noise before, and use it here",
                code=BAD_NOISE,
            )
        if not (isinstance(candidates, python.Call) and isinstance(score, python.Lambda | python.Name)):
            raise self.module.wrong(
                score,
                "a score with loops or `if` in it needs a range of candidates",
                "write `range(m)`, or compute the scores in a list first, and give that list",
                code=BAD_NOISE,
            )
        if isinstance(score, python.Lambda):
            element, name = score.body, score.args.args[0].arg
        else:
            element, name = _call_of(score), _CANDIDATE
        around = python.comprehension(python.Name(name, python.Store()), candidates, [], 0)
        made = python.ListComp(element, [around])
        for copied in (around.target, made):
            python.copy_location(copied, score)
        array = self.listed("scores", made, self.module.span(score))
        low = self._candidates(candidates)
        assert isinstance(low, ast.Range)
        first = bound_of(low.low, self.constants) or ConstantSum.from_number(0)
        return ast.Element(array.name, plus(here, first.negated(), self.constants, here.span), here.span)

    @abstractmethod
    def listed(self, name: str, value: python.expr, span: Span) -> Array:
        """Return the list that the expression `value` at `span` makes, as an array of the program for `name`."""

    def _candidates(self, node: python.expr) -> ast.DomainExpr:
        span = self.module.span(node)
        match node:
            case python.Call(func=python.Name(id="range"), args=[_, *_] as arguments, keywords=[]) if (
                len(arguments) < 3
            ):
                ends = [self.length(each) for each in arguments]
                low, high = (ConstantSum.from_number(0), ends[0]) if len(ends) == 1 else (ends[0], ends[1])
                return ast.Range(low.expression(span), high.plus(-1).expression(span), span)
            case python.List(elts=[_, *_] as elements) | python.Tuple(elts=[_, *_] as elements):
                return ast.ListedDomain(tuple(self.expr(each) for each in elements), span)
        raise self.module.wrong(
            node,
            "the candidates must be a range or values that are written out",
            "write `range(m)` or `[0, 1, 2]`",
            code=BAD_NOISE,
        )


#: The name of a candidate that a score is called with.
_CANDIDATE = "_candidate_"

#: The names of an element and of the value it is compared with, where elements are counted.
_ITEM, _WANTED = "_item_", "_wanted_"


def makes_list(item: python.expr) -> bool:
    """Whether the expression `item` creates a list that has no name."""
    match item:
        case python.List() | python.ListComp() | python.BinOp() | python.Subscript(slice=python.Slice()):
            return True
        case python.Call(func=python.Name(id="sorted" | "list")):
            return True
    return False


class _Conditionals(python.NodeTransformer):
    """A transformation that replaces each `a if test else b` in a tree by the result of `change`, inner ones first."""

    def __init__(self, change: Callable[[python.IfExp], python.expr]) -> None:
        self._change = change

    def visit_IfExp(self, node: python.IfExp) -> python.expr:
        self.generic_visit(node)
        return self._change(node)


def _change_conditionals(tree: python.expr, change: Callable[[python.IfExp], python.expr]) -> python.expr:
    changed = _Conditionals(change).visit(copy.deepcopy(tree))
    assert isinstance(changed, python.expr)
    return changed


def _as_arithmetic(node: python.IfExp) -> python.expr:
    """Return `node`, `a if test else b` between numbers, as the expression `b + (a - b)*test`."""
    step = python.BinOp(python.BinOp(node.body, python.Sub(), node.orelse), python.Mult(), node.test)
    result = python.BinOp(copy.deepcopy(node.orelse), python.Add(), step)
    for made in python.walk(result):
        if not hasattr(made, "lineno"):
            python.copy_location(made, node)
    return result


def _takes_one(score: python.Lambda) -> bool:
    arguments = score.args
    others = (*arguments.posonlyargs, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return len(arguments.args) == 1 and not any(others)


def _decided(node: python.expr, test: python.expr, *, holds: bool) -> python.expr:
    """Return `node`, a call of `dipc.choice`, with the weights that it has if `test` is true (`holds`) or false."""
    written = python.dump(test)

    def branch(each: python.IfExp) -> python.expr:
        if python.dump(each.test) != written:
            return each
        return each.body if holds else each.orelse

    return _change_conditionals(node, branch)


def _call_of(score: python.expr) -> python.Call:
    candidate = python.copy_location(python.Name(_CANDIDATE, python.Load()), score)
    return python.copy_location(python.Call(score, [candidate], []), score)


def _bound_to(item: Item) -> Binding:
    assert not isinstance(item, tuple), "a pattern takes tuples apart"
    return item if isinstance(item, Array) else Alias(item)


def _plain(item: Item) -> ast.Expr:
    assert not isinstance(item, tuple | Array), "a number or a truth value"
    return item


def may_fail(tree: ast.Expr) -> bool:
    """Whether some index in the expression `tree` may be out of range, where Python raises an IndexError."""
    return any(isinstance(node, ast.Element) and not isinstance(node.index, ast.Number) for node in ast.walk(tree))


def plus(offset: ast.Expr, bound: ConstantSum, constants: Mapping[str, Fraction], span: Span) -> ast.Expr:
    """Return the sum of `offset` and `bound` as an expression at `span`; a zero is left out.

    `constants` are the values of the program's constants.
    """
    own = bound_of(offset, constants)
    if own is not None:
        return own.plus(bound).expression(span)
    if not bound.terms and not bound.constant:
        return offset
    return ast.Binary(BinaryOp.ADD, offset, bound.expression(span), span)


#: The denominator of Fractions that are proposed in place of a real number.
_NEARNESS = 10_000


def _fractions_near(value: RealBall) -> tuple[Fraction, Fraction] | None:
    """Return the greatest multiple of 1/10000 below `value`, and the least one above `value`.

    The result is None if `value` may itself be a multiple of 1/10000, or is not known precisely enough to find both.
    """
    try:
        low = round(float(value.ball) * _NEARNESS) - 1
        while value > Fraction(low + 1, _NEARNESS):
            low += 1
        return (Fraction(low, _NEARNESS), Fraction(low + 1, _NEARNESS)) if value > Fraction(low, _NEARNESS) else None
    except Inconclusive:
        return None


def _is_factor(node: python.expr, root: python.expr) -> bool:
    match root:
        case python.BinOp(op=python.Mult(), left=left, right=right):
            return _is_factor(node, left) or _is_factor(node, right)
        case python.BinOp(op=python.Div(), left=left):
            return _is_factor(node, left)
        case _:
            return root is node


def inverse(tree: ast.Expr) -> ast.Expr:
    """Return 1 divided by the expression `tree`, as a single fraction: eps/(2*c) for 2*c/eps."""
    match tree:
        case ast.Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            if isinstance(left, ast.Number) and left.value == 1:
                return right
            return ast.Binary(BinaryOp.DIVIDE, right, left, tree.span)
        case ast.Binary(op=BinaryOp.MULTIPLY, left=left, right=right) if ast.mentions(tree, "eps") or any(
            isinstance(node, ast.Eps) for node in ast.walk(tree)
        ):
            return ast.Binary(BinaryOp.MULTIPLY, inverse(left), inverse(right), tree.span)
    return ast.Binary(BinaryOp.DIVIDE, number(1, tree.span), tree, tree.span)
