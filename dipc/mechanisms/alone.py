"""Run an accepted function under CPython, on draws that a caller chooses.

The function is compiled alone with its helpers and constants. No decorator, import or other statement of the file is
compiled. The code runs with the builtins that `_BUILTINS` lists. The number of its steps and the sizes of numbers and
lists are bounded. Two things differ from a plain run: a decimal literal denotes its decimal, and `/` of integers is
exact. Both give Fractions.
"""

from __future__ import annotations

import ast as python
import builtins
import copy
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from types import CodeType, SimpleNamespace
from typing import Any, Protocol

from dipc.frozen import frozen
from dipc.mechanisms.module import Module, literal, rational
from dipc.mechanisms.numbers import Inconclusive, RealBall
from dipc.text.diagnostic import SourceText

#: Bounds of one run: iterations and calls, bits of a number, elements of a list.
MOST_STEPS, MOST_BITS, MOST_ELEMENTS = 5_000, 10_000, 10_000


class DrawSource(Protocol):
    """The source of the noise and of the random choices of a run."""

    def noise(self, law: str, width: object, ends: tuple[object, object] | None = None) -> Fraction:
        """Return a draw of noise with mean 0; `law` is the name of its law.

        `width` is the standard deviation of normal noise, None for uniform noise, and the rate of any other noise.
        `ends` are the two ends between which uniform noise and truncated noise lie, and None for other noise.
        """

    def choice(self, weights: Sequence[object]) -> int:
        """Return the index of the value chosen, with probabilities given by `weights`."""

    def exponential(self, candidates: Sequence[object], scores: Sequence[object], rate: object) -> int:
        """Return the index of the candidate that the exponential mechanism with this `rate` draws.

        `scores` has the score of each of the `candidates`.
        """


@frozen
class Accepted:
    """A mechanism that was read, with all that a run of it under CPython needs.

    - `node` is its function in the parsed file, and `ideal` the function that gives the right answer, or None.
    - `arguments` maps each argument to the name of its input in the program.
    - `parts` are the parts of the function's answer, as the program has them; `is_tuple` is true if the answer is a
      tuple of them.
    - `answered` is the output that is false exactly when the answer is None. If the answer is never None, the program
      has no such output, and `answered` is None.
    - `inferred` has a declaration for each variable that the function does not declare.
    - `reread` reads the function for other values of its constants; it is None if the program's text is right for all
      values of them.
    """

    module: Module
    node: python.FunctionDef
    ideal: python.FunctionDef | None
    arguments: Mapping[str, str]
    parts: tuple[Any, ...]
    is_tuple: bool
    answered: str | None = None
    inferred: Mapping[str, str] = field(default_factory=dict)
    reread: Callable[[Mapping[str, Fraction]], SourceText] | None = None


class AloneFunction:
    """A function of a mechanism's file, compiled with the helpers and constants it uses, without the rest of the file.

    `text` is all Python code that may run. `may_skip` is true if some draw follows `and`, `or`, `any`, `all` or a
    chained comparison, so that Python may skip this draw.
    """

    def __init__(self, accepted: Accepted, node: python.FunctionDef, constants: Mapping[str, Fraction]) -> None:
        module = self._module = accepted.module
        self._constants = constants
        #: Arguments of the mechanism are not names of the file, even where they are constants.
        self._hidden = {each.arg for each in (*accepted.node.args.args, *accepted.node.args.kwonlyargs)}
        self._parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self._name = node.name
        needed = _needed(module, node)
        kept = [each for each in module.tree.body if _defined(each) in needed and each is not node]
        kept = [each for each in kept if not self._has_other_value(_defined(each))]
        kept.append(node)
        kept.sort(key=lambda each: each.lineno)
        self.text = "\n".join(map(python.unparse, kept))
        self.may_skip = _may_skip(kept, module)
        self._known = needed | module.constants.keys() | module.functions.keys()
        body = [_Bounded(module).visit(_bare(copy.deepcopy(each))) for each in kept]
        tree = python.fix_missing_locations(python.Module(body, []))
        self._code: CodeType = compile(tree, module.source.name, "exec", dont_inherit=True)

    def run(self, arguments: Mapping[str, object], eps: Fraction, draws: DrawSource) -> object:
        """Return the answer of the function for `arguments` by name, at `eps`, with all noise and choices from `draws`.

        Raises Inconclusive if the run is too long or reaches code that is not compiled. Raises any exception that the
        function raises.
        """
        steps = _Steps()
        hidden = self._hidden | self._module.functions.keys()
        members = {**_MATHEMATICS, **_noises(draws)}
        packages = {root: SimpleNamespace() for root in ("dipc", "math", "fractions")}
        for name, each in members.items():
            root, _, member = name.partition(".")
            setattr(packages[root], member, each)
        names = {
            **_builtins(steps),
            **{name: _number(value) for name, value in self._constants.items() if name not in hidden},
            **{name: {**members, **packages}.get(meaning, _NotRun()) for name, meaning in self._module.aliases.items()},
        }
        names["__builtins__"] = {}
        names["__name__"] = "mechanism"
        given = {**arguments, "eps": eps}
        try:
            exec(self._code, names)  # noqa: S102 - the accepted function alone, see above
            given |= {name: _number(self._constants[name]) for name in self._parameters if name in self._constants}
            return names[self._name](**{name: given[name] for name in self._parameters if name in given})
        except NameError as error:
            if not isinstance(error, UnboundLocalError) and error.name in self._known:
                raise Inconclusive(str(error)) from None
            raise
        except (RecursionError, MemoryError, OverflowError) as error:
            raise Inconclusive(str(error)) from None

    def _has_other_value(self, name: str | None) -> bool:
        """Return True if the program's value of the constant `name` differs from its value in the Python file.

        The result is False if `name` is None, or if the program or the file has no such constant.
        """
        if name is None or name in self._hidden or name not in self._constants or name not in self._module.constants:
            return False
        return rational(self._module, self._module.constants[name]) != self._constants[name]


def _number(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


# --- what is compiled -----------------------------------------------------------------------------------


def _defined(statement: python.stmt) -> str | None:
    match statement:
        case python.FunctionDef(name=name):
            return name
        case python.Assign(targets=[python.Name(id=name)]) | python.AnnAssign(target=python.Name(id=name)):
            return name
    return None


def _needed(module: Module, node: python.FunctionDef) -> set[str]:
    needed: set[str] = set()
    todo: list[python.AST] = [node]
    while todo:
        inside = todo.pop()
        for name in {each.id for each in python.walk(inside) if isinstance(each, python.Name)} - needed:
            if name in module.functions and module.functions[name] is not node:
                needed.add(name)
                todo.append(module.functions[name])
            elif name in module.constants and _is_plain(module.constants[name], module):
                needed.add(name)
                todo.append(module.constants[name])
    return needed


def _is_plain(value: python.expr, module: Module) -> bool:
    """Whether `value`, in the file `module`, consists of numbers, strings, lists and plain names alone."""
    match value:
        case python.Constant():
            return isinstance(value.value, int | float | str | None)
        case python.Name():
            return True
        case python.UnaryOp(operand=inner):
            return _is_plain(inner, module)
        case python.BinOp(left=left, right=right):
            return _is_plain(left, module) and _is_plain(right, module)
        case python.List(elts=inside) | python.Tuple(elts=inside):
            return all(_is_plain(each, module) for each in inside)
        case python.Call(func=function, args=inside, keywords=[]):
            return module.called(function) == "fractions.Fraction" and all(_is_plain(each, module) for each in inside)
    return False


def _bare(statement: python.stmt) -> python.stmt:
    """Return `statement` without its decorators and annotations, as a run of a mechanism needs neither of them."""
    match statement:
        case python.FunctionDef():
            for each in python.walk(statement):
                if isinstance(each, python.FunctionDef):
                    each.decorator_list, each.returns = [], None
                elif isinstance(each, python.arg):
                    each.annotation = None
        case python.AnnAssign(target=target, value=value) if value is not None:
            return python.copy_location(python.Assign([target], value), statement)
    return statement


def _may_skip(statements: Sequence[python.stmt], module: Module) -> bool:
    drawing: set[str] = set()

    def draws(node: python.AST) -> bool:
        return any(
            isinstance(each, python.Call)
            and (
                (module.called(each.func) or "").startswith("dipc.")
                or (isinstance(each.func, python.Name) and each.func.id in drawing)
            )
            for each in python.walk(node)
        )

    functions = [each for part in statements for each in python.walk(part) if isinstance(each, python.FunctionDef)]
    for _ in functions:
        drawing |= {each.name for each in functions if draws(each)}
    for node in (each for part in statements for each in python.walk(part)):
        match node:
            case python.BoolOp(values=[_, *later]) if any(map(draws, later)):
                return True
            case python.Compare(comparators=[_, *later]) if any(map(draws, later)):
                return True
            case python.Call(func=python.Name(id="any" | "all"), args=[inside]) if draws(inside):
                return True
    return False


#: Names of helpers in compiled code, which no Python text can spell.
_TICK, _ITERATED, _EXACT, _REFUSED = " tick", " iterated", " exact", " refused"
_OPERATORS = {
    python.Add: " add",
    python.Mult: " multiply",
    python.Div: " divide",
    python.Pow: " power",
    python.Mod: " remainder",
}


class _Bounded(python.NodeTransformer):
    """A transformation of code that makes decimals and quotients exact, and bounds the steps of loops and calls."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def visit_Constant(self, node: python.Constant) -> python.AST:
        if not isinstance(node.value, float):
            return node
        value = literal(self._module, node)
        assert value is not None
        parts: list[python.expr] = [python.Constant(value.numerator), python.Constant(value.denominator)]
        return python.copy_location(_call(_EXACT, *parts), node)

    def visit_Call(self, node: python.Call) -> python.AST:
        """Return the call `node` with its parts transformed, except literal arguments of `Fraction`.

        In Python `Fraction(0.1)` is not 1/10, but the binary number next to it.
        """
        if self._module.called(node.func) == "fractions.Fraction":
            kept = [each if isinstance(each, python.Constant) else self.visit(each) for each in node.args]
            return python.copy_location(python.Call(node.func, kept, node.keywords), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: python.Attribute) -> python.AST:
        """Return `node`, or a call that raises an exception if the attribute's name begins with an underscore.

        Such attributes, as in `f.__globals__`, lead from a value to the interpreter's own objects.
        """
        if node.attr.startswith("_"):
            return python.copy_location(_call(_REFUSED), node)
        return self.generic_visit(node)

    def visit_BinOp(self, node: python.BinOp) -> python.AST:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        return node if name is None else python.copy_location(_call(name, node.left, node.right), node)

    def visit_AugAssign(self, node: python.AugAssign) -> python.AST:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        if name is None:
            return node
        match node.target:
            case python.Name(id=own):
                read = python.Name(own, python.Load())
                return python.copy_location(python.Assign([node.target], _call(f"{name}=", read, node.value)), node)
            case python.Subscript(value=value, slice=index):
                late = python.Lambda(python.arguments([], [], None, [], [], None, []), node.value)
                call = _call(" element", value, index, python.Name(f"{name}=", python.Load()), late)
                return python.copy_location(python.Expr(call), node)
        return node

    def visit_For(self, node: python.For) -> python.AST:
        return self._ticking(node)

    def visit_While(self, node: python.While) -> python.AST:
        return self._ticking(node)

    def visit_FunctionDef(self, node: python.FunctionDef) -> python.AST:
        return self._ticking(node)

    def _ticking(self, node: python.For | python.While | python.FunctionDef) -> python.AST:
        self.generic_visit(node)
        node.body.insert(0, python.copy_location(python.Expr(_call(_TICK)), node))
        return node

    def visit_comprehension(self, node: python.comprehension) -> python.AST:
        self.generic_visit(node)
        node.iter = python.copy_location(_call(_ITERATED, node.iter), node.iter)
        return node


def _call(name: str, *arguments: python.expr) -> python.Call:
    return python.Call(python.Name(name, python.Load()), list(arguments), [])


# --- what it runs with ------------------------------------------------------------------------------------


class _NotRun:
    """A placeholder for functions that a mechanism may mention without calling them, such as `print`."""

    def __getattr__(self, name: str) -> _NotRun:
        return self

    def __call__(self, *given: object, **named: object) -> Any:
        del given, named
        raise Inconclusive("this is not run")


class _Steps:
    """A count of the steps that one run may still take; it raises Inconclusive when none is left."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def tick(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Inconclusive("the run is too long")

    def iterated(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.tick()
            yield item


def _is_large(value: object) -> bool:
    match value:
        case int():
            return value.bit_length() > MOST_BITS
        case Fraction():
            return value.numerator.bit_length() > MOST_BITS or value.denominator.bit_length() > MOST_BITS
        case list() | tuple() | str():
            return len(value) > MOST_ELEMENTS
    return False


def _guarded(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if _is_large(left) or _is_large(right):
            raise Inconclusive("a number or a list is too large")
        return operation(left, right)

    return apply


def _multiplied(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def multiply(left: Any, right: Any) -> Any:
        for one, two in ((left, right), (right, left)):
            if isinstance(one, list | tuple | str) and isinstance(two, int) and len(one) * two > MOST_ELEMENTS:
                raise Inconclusive("a list is too long")
        return operation(left, right)

    return _guarded(multiply)


def _divided(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def divide(left: Any, right: Any) -> Any:
        return operation(Fraction(left) if isinstance(left, int) and isinstance(right, int) else left, right)

    return _guarded(divide)


def _power(left: Any, right: Any) -> Any:
    if isinstance(right, int) and isinstance(left, int | Fraction):
        bits = max(left.numerator.bit_length(), left.denominator.bit_length())
        if bits * abs(right) > MOST_BITS:
            raise Inconclusive("a number is too large")
        return Fraction(left) ** right if right < 0 else left**right
    if isinstance(right, Fraction) and right == Fraction(1, 2) and isinstance(left, int | Fraction):
        return _sqrt(left)
    raise Inconclusive("this power is not computed")


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise Inconclusive("text is not formatted")
    return left % right


def _element(items: Any, index: Any, operation: Callable[[Any, Any], Any], value: Callable[[], Any]) -> None:
    before = items[index]
    items[index] = operation(before, value())


def _range(*ends: Any) -> range:
    result = range(*ends)
    if len(result) > MOST_STEPS:
        raise Inconclusive("the range is too long")
    return result


def _builtins(steps: _Steps) -> dict[str, Any]:
    names: dict[str, Any] = {
        **dict.fromkeys((each for each in dir(builtins) if not each.startswith("_")), _NotRun()),
        **_BUILTINS,
        "range": _range,
        _TICK: steps.tick,
        _ITERATED: steps.iterated,
        _EXACT: Fraction,
        _REFUSED: _NotRun(),
        " element": _element,
        " power": _power,
        " power=": _power,
        " remainder": _remainder,
        " remainder=": _remainder,
    }
    for name, plain, in_place, bound in (
        (" add", operator.add, operator.iadd, _guarded),
        (" multiply", operator.mul, operator.imul, _multiplied),
        (" divide", operator.truediv, operator.itruediv, _divided),
    ):
        names[name], names[f"{name}="] = bound(plain), bound(in_place)
    return names


def _float(value: Any = 0) -> Any:
    """Return `value` unchanged if it is an int or a Fraction, and otherwise as a float.

    So `float(0.1)` stays exact, since decimals are read as Fractions, and `float("inf")` is infinite.
    """
    return value if isinstance(value, int | Fraction) else float(value)


_BUILTINS: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        *(abs, all, any, bool, dict, divmod, enumerate, filter, frozenset, int, isinstance, len, list, map, max, min),
        *(reversed, round, set, sorted, str, sum, tuple, zip),
        *(ArithmeticError, AssertionError, Exception, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError),
    )
} | {"pow": _power, "float": _float, "True": True, "False": False, "None": None}


# --- modules that its names stand for -----------------------------------------------------------------------


def _sqrt(value: Any) -> RealBall:
    return RealBall.from_number(value).sqrt()


_MATHEMATICS: Mapping[str, Any] = {
    "math.exp": lambda value: RealBall.from_number(value).exp(),
    "math.log": lambda value: RealBall.from_number(value).log(),
    "math.sqrt": _sqrt,
    "math.floor": lambda value: value.__floor__(),
    "math.ceil": lambda value: value.__ceil__(),
    "math.inf": float("inf"),
    "dipc.exp": lambda value: RealBall.from_number(value).exp(),
    "fractions.Fraction": Fraction,
}


def _noises(draws: DrawSource) -> dict[str, Any]:
    def by_rate(law: str) -> Callable[..., Any]:
        def noise(mean: Any = 0, *, scale: Any = None, rate: Any = None) -> Any:
            return mean + draws.noise(law, rate if scale is None else _inverse(scale))

        return noise

    def by_deviation(law: str) -> Callable[..., Any]:
        return lambda mean=0, *, sigma: mean + draws.noise(law, sigma)

    def uniform(mean: Any = 0, *, low: Any, high: Any) -> Any:
        return mean + draws.noise("Unif", None, (low, high))

    def truncated_laplace(mean: Any = 0, *, low: Any, high: Any, scale: Any = None, rate: Any = None) -> Any:
        return mean + draws.noise("TLap", rate if scale is None else _inverse(scale), (low, high))

    def exponential_noise(*, scale: Any = None, rate: Any = None) -> Any:
        return draws.noise("Expo", rate if scale is None else _inverse(scale))

    def choice(weights: Mapping[Any, Any]) -> Any:
        values = list(weights)
        return values[draws.choice(list(weights.values()))]

    def exponential_mechanism(candidates: Iterable[Any], score: Any, *, rate: Any) -> Any:
        values = list(candidates)
        scores = [score(each) if callable(score) else score[each] for each in values]
        return values[draws.exponential(values, scores, rate)]

    return {
        "dipc.laplace": by_rate("Lap"),
        "dipc.discrete_laplace": by_rate("DLap"),
        "dipc.exponential_noise": exponential_noise,
        "dipc.gaussian": by_deviation("Gauss"),
        "dipc.discrete_gaussian": by_deviation("DGauss"),
        "dipc.uniform": uniform,
        "dipc.truncated_laplace": truncated_laplace,
        "dipc.choice": choice,
        "dipc.exponential_mechanism": exponential_mechanism,
    }


def _inverse(scale: Any) -> Any:
    return Fraction(1) / scale
