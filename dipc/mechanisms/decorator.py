"""`@dipc.mechanism`: a Python function that is proved and run as the program read from its source."""

from __future__ import annotations

import ast as python
import builtins
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, update_wrapper
from types import CodeType, FunctionType, ModuleType
from typing import Any, overload

from dipc.above import above, service
from dipc.mechanisms import words
from dipc.mechanisms.alone import Accepted
from dipc.mechanisms.module import BAD_CALL, BUILTINS, NOT_FOUND, Module, decorator_name, rational
from dipc.mechanisms.reading import Part, read_mechanism
from dipc.mechanisms.types import ConstantSum
from dipc.text.diagnostic import DiagnosticError, SourceText, bad_input


@overload
def mechanism(function: Callable[..., object], /) -> Mechanism: ...
@overload
def mechanism(
    *,
    claim: Mapping[str, object] | None = None,
    ideal: Callable[..., object] | None = None,
    requires: Callable[..., bool] | None = None,
    **constants: object,
) -> Callable[[Callable[..., object]], Mechanism]: ...
def mechanism(
    function: Callable[..., object] | None = None,
    /,
    *,
    claim: Mapping[str, object] | None = None,
    ideal: Callable[..., object] | None = None,
    requires: Callable[..., bool] | None = None,
    **constants: object,
) -> Mechanism | Callable[[Callable[..., object]], Mechanism]:
    """Make `function` a mechanism; for use as a decorator, with or without arguments.

    `claim` is the accuracy claimed, `dict(alpha="dd", beta="…")`. `ideal` is a function that gives the right answer; by
    default this is the mechanism without its noise. `requires` is a condition on the arguments that every input
    satisfies, such as `lambda q: min(q) >= 0`. All other arguments are `constants`.

    dipc reads the arguments and the body from the source when the mechanism is first used. A proof executes none of
    them. Raises TypeError if `function` is not a function.
    """
    del claim, ideal, requires, constants

    def decorate(function: Callable[..., object]) -> Mechanism:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@dipc.mechanism decorates a function, not {type(function).__name__}")
        return Mechanism(function)

    return decorate if function is None else decorate(function)


class Mechanism:
    """A mechanism, which runs once, with exact noise, when it is called: `f(q=[-1, 0, 1], eps="1/2")`.

    A call runs the program that proofs are about, step by step. A mechanism that answers with real numbers takes a
    `grid`; its answers are rounded down to multiples of it. `seed` is for tests. Numbers are ints, Fractions or strings
    such as "1/3"; floats are refused because they are not exact.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._text = "".join(linecache.getlines(function.__code__.co_filename, function.__globals__))
        self._execution: tuple[object, Any, Mapping[str, Fraction]] | None = None
        update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<dipc mechanism {self._function.__qualname__}>"

    @cached_property
    def _source(self) -> SourceText:
        function = self._function
        file = function.__code__.co_filename
        if not self._text:
            note = "a mechanism is read from its file: save it in one, or in a cell of a notebook, and import it"
            raise bad_input(NOT_FOUND, f"the source of `{function.__name__}` cannot be read", note)
        source = read_mechanism(SourceText(file, self._text), function.__name__, self._node, self._imported())
        accepted: Accepted = source.accepted
        _Globals(accepted, function.__globals__, self._imported()).compare(function, accepted.node)
        return source

    def _imported(self) -> dict[str, str]:
        """The qualified name of each module, and of each function of dipc, by its name in the function's file.

        For example, lap is mapped to "dipc.laplace" after `from dipc import laplace as lap`. The values of the names
        are examined, not the imports in the source text, because a notebook may have these in another cell.
        """
        named = {id(word): f"dipc.{name}" for name, word in vars(words).items() if name in words.__all__}
        qualified = {}
        for name, value in self._function.__globals__.items():
            if isinstance(value, ModuleType):
                qualified[name] = value.__name__
            elif value is mechanism:
                qualified[name] = "dipc.mechanism"
            elif id(value) in named:
                qualified[name] = named[id(value)]
        return qualified

    def _node(self, module: Module) -> python.FunctionDef:
        line = self._function.__code__.co_firstlineno
        for node in python.walk(module.tree):
            if isinstance(node, python.FunctionDef) and node.name == self._function.__name__:
                lines = [node.lineno, *(each.lineno for each in node.decorator_list)]
                if min(lines) <= line <= max(lines):
                    if node not in module.tree.body:
                        raise module.wrong(
                            node,
                            f"`{node.name}` is defined inside something else, which may change what it does",
                            "define it at the top level of the file, and make what it takes from around it a constant, "
                            "`@dipc.mechanism(k=3)`",
                        )
                    if any(decorator_name(module, each) == "dipc.mechanism" for each in node.decorator_list):
                        return node
        message = f"`{self._function.__name__}` is not found in `{module.source.name}` as a mechanism"
        note = "write `@dipc.mechanism` above the function itself; if the file has changed, import it again"
        raise bad_input(NOT_FOUND, message, note)

    @cached_property
    def program(self) -> Any:
        """The program: a `dipc.Program`. Raises DiagnosticError if the function is not a mechanism."""
        return service("load_source")(self._source, {})

    def dip(self) -> str:
        """Return the program as text in dipc's own language.

        Raises DiagnosticError if the function is not a mechanism.
        """
        service("validate_source")(self._source)
        text = self._source.program_text
        assert text is not None
        return text

    # --- questions: the library's functions, of this program ------------------------------------------

    def check(self, table: Any = None, **given: Any) -> Any:
        """Return the report of `dipc.check` for this mechanism, `table` and the options `given`."""
        return service("check")(self.program, table, **given)

    def privacy(self, adjacent: str, **given: Any) -> Any:
        """Return the report of `dipc.check_privacy` for this mechanism, `adjacent` inputs and the options `given`."""
        return service("check_privacy")(self.program, adjacent, **given)

    def tighten(self, table: Any = None, **given: Any) -> Any:
        """Return the result of `dipc.tighten` for this mechanism, `table` and the options `given`."""
        return service("tighten")(self.program, table, **given)

    def solve(self, table: Any = None, **given: Any) -> Any:
        """Return the result of `dipc.solve` for this mechanism, `table` and the options `given`."""
        return service("solve")(self.program, table, **given)

    def prob(self, input: Mapping[str, object], output: Mapping[str, object] | None = None, **given: Any) -> Any:  # noqa: A002 - the library's name
        """Return all answers with their probabilities at `input`, or the probability of one `output`.

        If `output` is given, the keyword `gamma` of `given` is allowed: real and int values within this distance count
        as equal to those of `output`.
        """
        return self.program.outcomes(input) if output is None else self.program.probability(input, output, **given)

    def run(self, input: Mapping[str, object], eps: Fraction | int | str, n: int = 1, **given: Any) -> Any:  # noqa: A002 - as above
        """Return `n` runs with exact noise at `input` and `eps`, with the options `given`, as `dipc.run` does."""
        return self.program.run(input, eps, n, **given)

    # --- calls --------------------------------------------------------------------------------------

    def __call__(
        self, *args: Any, grid: Fraction | int | str | None = None, seed: int | None = None, **given: Any
    ) -> Any:
        """Run the mechanism once, with exact noise, and return the answer that the function would give.

        `args` and `given` are the arguments of the decorated function. Real outputs are rounded down to multiples of
        `grid`. `seed` makes the run repeatable, for tests.
        """
        accepted: Accepted = self._source.accepted
        try:
            bound = inspect.signature(self._function).bind(*args, **given).arguments
        except TypeError as error:
            raise self._refused(f"{error}", f"its arguments are {inspect.signature(self._function)}") from None
        for name, value in bound.items():
            self._exact(name, value)
        eps = bound.pop("eps")
        values = {accepted.arguments[name]: value for name, value in bound.items() if name in accepted.arguments}
        constants = {name: value for name, value in bound.items() if name not in accepted.arguments}
        try:
            answer = self._once(values, eps, constants, grid, seed)
        except (TypeError, ValueError) as error:
            raise self._refused(str(error), 'write for example eps="1/2", q=[0, Fraction(1, 3)]') from None
        return python_answer(accepted, answer, self._execution[2])  # type: ignore[index]

    def _once(
        self,
        values: Mapping[str, object],
        eps: Any,
        constants: Mapping[str, Any],
        grid: Fraction | int | str | None,
        seed: int | None,
    ) -> Mapping[str, Any]:
        """Return the outputs of one run at the inputs `values` and `eps`, by name.

        `constants` replace constants of the program; real outputs are rounded down to multiples of `grid`. `seed` makes
        the run repeatable. The analysis of the program is reused if the previous run had the same arguments.
        """
        key = (repr(values), repr(eps), repr(constants), repr(grid), seed)
        if self._execution is None or self._execution[0] != key or seed is not None:
            program = (
                self.program
                if not constants
                else service("load_source")(self._source, {name: Fraction(value) for name, value in constants.items()})
            )
            execution = above("run").Execution(program, values, eps, grid=grid, seed=seed)
            self._execution = key, execution, program.constants
        return self._execution[1].once()  # type: ignore[no-any-return]

    def _exact(self, name: str, value: object) -> None:
        items = value if isinstance(value, list | tuple) else [value]
        for item in items:
            if isinstance(item, float):
                raise self._refused(
                    f"`{name}` is given the float {item!r}, which is only a binary number near what is written",
                    f'give a text such as "{item!r}", or a fractions.Fraction',
                )

    def _refused(self, message: str, note: str) -> DiagnosticError:
        return bad_input(BAD_CALL, f"`{self._function.__name__}` is not run: {message}", note)


#: Python's functions as they are where this file is imported.
_PYTHONS = {name: getattr(builtins, name) for name in BUILTINS}


@dataclass
class _Globals:
    """A check that the names which a function uses have the values that its file gives them.

    A file may assign another value to a name while it is imported, and a test may do so later. Then the function no
    longer computes what was read from the file. `accepted` is the function as it was read from its file. `names` are
    the function's global names with their values, and `imported` maps the imported ones to their qualified names.
    `_compared` has the names that are already checked.
    """

    accepted: Accepted
    names: Mapping[str, object]
    imported: Mapping[str, str]
    _compared: set[str] = field(default_factory=set)

    def compare(self, function: FunctionType, node: python.FunctionDef) -> None:
        for name in _names_of(function.__code__):
            if name not in self._compared:
                self._compared.add(name)
                self._compare(name, node)
        ideal = self.accepted.ideal
        if ideal is not None and ideal.name not in self._compared and ideal.name in self.accepted.module.functions:
            self._compared.add(ideal.name)
            self._compare(ideal.name, node)

    def _compare(self, name: str, node: python.FunctionDef) -> None:
        module, value = self.accepted.module, self.names.get(name)
        if name in BUILTINS and (name in self.names or getattr(builtins, name) is not _PYTHONS[name]):
            raise self._differs(name, node)
        if name in module.functions:
            own = module.functions[name]
            if (
                isinstance(value, FunctionType)
                and value.__code__.co_firstlineno == own.lineno
                and value.__name__ == own.name
                and len(value.__defaults__ or ()) == len(own.args.defaults)
            ):
                self.compare(value, own)
            elif not own.decorator_list:
                raise self._differs(name, node)
        elif name in module.constants and name in self.names:
            written = rational(module, module.constants[name])
            exact = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
            if written is not None and not (exact and (value == written or value == float(written))):
                raise self._differs(name, node)
        elif name in module.aliases and name in self.names:
            qualified = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
            if module.aliases[name] not in (self.imported.get(name), qualified):
                raise self._differs(name, node)

    def _differs(self, name: str, node: python.FunctionDef) -> DiagnosticError:
        return self.accepted.module.wrong(
            node,
            f"`{name}` means something else now than in the file of `{node.name}`",
            f"leave `{name}` as the file has it, or give what you need as a constant, `@dipc.mechanism(k=3)`",
        )


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)


def python_answer(accepted: Accepted, outputs: Mapping[str, Any], constants: Mapping[str, Fraction]) -> Any:
    """Return the answer of the function of `accepted` for the `outputs` of its program, by name.

    `constants` are the values of the program's constants.
    """
    if accepted.answered is not None and not outputs[accepted.answered]:
        return None
    result = [_part(out, outputs, constants) for out in accepted.parts]
    return tuple(result) if accepted.is_tuple else result[0]


def _part(out: Part, answer: Mapping[str, Any], constants: Mapping[str, Fraction]) -> Any:
    if not out.is_list:
        return None if out.present and not answer[out.present] else _value(out, answer[out.name], constants)
    elements = [
        None if out.present and not answer[out.present + name.removeprefix(out.name)] else _value(out, value, constants)
        for name, value in answer.items()
        if name.startswith(f"{out.name}[")
    ]
    if out.grows and None in elements:
        return elements[: elements.index(None)]
    return elements


def _value(output: Part, value: Any, constants: Mapping[str, Fraction]) -> Any:
    none = output.none.value_at(constants) if isinstance(output.none, ConstantSum) else output.none
    if none is not None and value == none:
        return None
    if output.words:
        return {"no": False, "yes": True}[value]
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value
