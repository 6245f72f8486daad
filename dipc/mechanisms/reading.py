"""Read a mechanism of a Python file as a program: its header, claim, statements and right answer.

The file is parsed, never executed. Every part of the program's tree carries its place in the file. Errors anywhere in
dipc are therefore shown in the Python file.
"""

from __future__ import annotations

import ast as python
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dipc.mechanisms.alone import Accepted
from dipc.mechanisms.expressions import RESERVED, Alias, Array, Scalar, may_fail
from dipc.mechanisms.may_be_none import MissingValues, is_none, variables_assigned
from dipc.mechanisms.module import (
    BAD_HEADER,
    BAD_NOISE,
    UNKNOWN_TYPE,
    Module,
    decorator_name,
    literal,
    mechanism_in,
    parsed,
    rational,
)
from dipc.mechanisms.preconditions import ConditionReader
from dipc.mechanisms.rounding import Rounding, form_of_constant, unmarked
from dipc.mechanisms.statements import Answer, Statements
from dipc.mechanisms.types import (
    BLANK,
    BOOL,
    FALSE_NAME,
    FLOOR,
    NONE,
    NONE_NAME,
    ONLY_NONE,
    REMAINDER,
    TRUE_NAME,
    ConstantSum,
    Inference,
    Kind,
    Mixed,
    bound_of,
    common_kind,
    floored,
    values_of,
)
from dipc.text import ast
from dipc.text.ast import BinaryOp, UnaryOp, number
from dipc.text.diagnostic import SourceText, Span, did_you_mean
from dipc.text.parser import METRIC_FIELDS, parse_at
from dipc.text.printer import print_program
from dipc.text.rewriting import has_no_mean, with_noiseless_ideal

#: The privacy parameter among the names of a function.
_Eps = Alias(ast.Eps())

CLAIM_FIELDS = ("alpha", "beta", "gamma", "eps", "inputs")


@dataclass(frozen=True)
class Part:
    """One part of a function's answer, as the program has it: an output, or an array with indices from 0 upward.

    `none` is the value that represents None, if the program has one. `words` is true if the values are names that
    represent False and True. `grows` is true for a list to which the function appends: the list then ends before its
    first None. `present` is the output that is true for a number and false for None, if there is such an output.
    """

    name: str
    is_list: bool
    none: ConstantSum | str | Fraction | None
    words: bool
    grows: bool = False
    present: str | None = None


def read_mechanism(
    source: SourceText,
    name: str,
    function: Callable[[Module], python.FunctionDef] | None = None,
    imported: Mapping[str, str] | None = None,
) -> SourceText:
    """Read the mechanism `name` of the file `source`, or the mechanism that `function` returns for the parsed file.

    The result is the source with the program that was read, as a tree and as text, and with an `Accepted`, which a run
    under CPython needs. `imported` maps names that were imported elsewhere to their qualified names. Raises
    DiagnosticError if there is no such mechanism, or if it cannot be read.
    """
    module = parsed(source, imported)
    node = mechanism_in(module, name) if function is None else function(module)
    return _Header(module, node).reading()


#: The qualified name of the function that names the distances of a claim.
METRIC = "dipc.metric"


class _Header:
    def __init__(self, module: Module, node: python.FunctionDef, given: Mapping[str, Fraction] | None = None) -> None:
        self.module = module
        self.node = node
        #: Values of constants that replace those of the file.
        self.given = given or {}
        self.constants: dict[str, Fraction] = {}
        self.written: dict[str, ast.Expr] = {}
        self.constants_written: dict[str, python.expr] = {}
        self.claim: python.expr | None = None
        self.metric: python.expr | None = None
        self.ideal: python.FunctionDef | None = None
        self.ideal_written: python.expr | None = None
        self.requires: python.Lambda | python.FunctionDef | None = None
        self._decorator()

    # --- the decorator ----------------------------------------------------------------------------

    def _decorator(self) -> None:
        module, node = self.module, self.node
        decorators = node.decorator_list
        if len(decorators) > 1:
            other = next(each for each in decorators if decorator_name(module, each) != "dipc.mechanism")
            raise module.wrong(
                other,
                f"`{node.name}` has another decorator, and what that does is not proved",
                "use `@dipc.mechanism` alone",
                code=BAD_HEADER,
            )
        (decorator,) = decorators
        if not isinstance(decorator, python.Call):
            return
        if decorator.args:
            raise module.wrong(
                decorator.args[0],
                "give a mechanism's constants by name",
                "write `@dipc.mechanism(m=3)`",
                code=BAD_HEADER,
            )
        for keyword in decorator.keywords:
            match keyword.arg:
                case None:
                    raise module.wrong(keyword, "`**` hides what the constants are", "write them out", code=BAD_HEADER)
                case "claim":
                    self.claim = keyword.value
                case "ideal":
                    self._ideal_of(keyword.value)
                case "requires":
                    self._requires_of(keyword.value)
                case name:
                    self._constant(name, keyword.value)

    def _constant(self, name: str, value: python.expr) -> None:
        exact = rational(self.module, value)
        if exact is None and isinstance(value, python.Constant) and isinstance(value.value, str):
            exact = rational(self.module, _expression(value.value, value))
        if exact is None and isinstance(value, python.Name) and value.id in self.module.constants:
            exact = rational(self.module, self.module.constants[value.id])
        if exact is None:
            raise self.module.wrong(
                value,
                f"the constant `{name}` is not an exact number",
                f'write `{name}=3`, or `{name}="1/3"`',
                code=BAD_HEADER,
            )
        if name in RESERVED:
            raise self.module.wrong(
                value, f"`{name}` is a word of dipc", "call the constant something else", code=BAD_HEADER
            )
        self.constants[name] = self.given.get(name, exact)
        self.constants_written[name] = value
        self.written[name] = number(exact, self.module.span(value))

    def _ideal_of(self, value: python.expr) -> None:
        match value:
            case python.Constant(value=None):
                pass
            case python.Name(id=name) if name in self.module.functions:
                self.ideal, self.ideal_written = self.module.functions[name], value
            case python.Lambda(args=arguments, body=body):
                answer = python.copy_location(python.Return(body), body)
                function = python.FunctionDef("exact", arguments, [answer], [], lineno=value.lineno, col_offset=0)
                self.ideal, self.ideal_written = python.copy_location(function, value), value
            case _:
                raise self.module.wrong(
                    value,
                    "the right answer must be a function of this file",
                    "write `ideal=exact`, with `def exact(q): …` above",
                    code=BAD_HEADER,
                )

    def _requires_of(self, value: python.expr) -> None:
        match value:
            case python.Constant(value=None):
                pass
            case python.Name(id=name) if name in self.module.functions:
                self.requires = self.module.functions[name]
            case python.Lambda():
                self.requires = value
            case _:
                raise self.module.wrong(
                    value,
                    "the precondition must be a function of this file",
                    "write `requires=lambda q: min(q) >= 0`",
                    code=BAD_HEADER,
                )

    def _precondition(self, final: _Final) -> Iterator[ast.RequiresDecl]:
        if self.requires is not None:
            statements = Statements(self.module, final.constants, self._argument_constants())
            statements.taken |= final.kinds.keys() - final.constants.keys()
            statements.taken |= final.known_names
            condition = ConditionReader(self.module, statements, final.inputs).read(self.requires)
            body = self.requires.body if isinstance(self.requires, python.Lambda) else self.requires.body[-1]
            inside = body.value if isinstance(body, python.Return) and body.value is not None else body
            place = self.module.span(inside)
            written = self.module.source.text[place.start : place.end]
            # Comments and line breaks of the file are left out.
            written = python.unparse(inside) if "\n" in written else written
            yield ast.RequiresDecl(condition, self.module.span(self.requires), written)

    # --- the program ------------------------------------------------------------------------------

    def reading(self) -> SourceText:
        module, node, span = self.module, self.node, self.module.head(self.node)
        statements = Statements(module, self.constants, self._argument_constants())
        inputs = list(self._inputs(statements))
        body = statements.body(node)
        known = self.known = {each.name: kind for each, kind, _ in inputs}
        for each, _, _ in inputs:
            if each.name in statements.strings:
                raise module.wrong(
                    statements.strings[each.name],
                    f"`{each.name}` is the name of an input, and cannot be a word, too",
                    f"call the input something else, such as `{each.name}_count`, or use another word",
                    code=BAD_HEADER,
                )
        final = _Final(self, statements, body, known)
        outputs = list(final.outputs())
        frozen = dict(statements.frozen)
        right_answer = list(self._right_answer(final, outputs, known, frozen))
        outputs = list(final.outputs())
        declarations: list[ast.Declaration] = []
        constants = [*self.written.items(), *((name, value) for name, (value, _) in frozen.items())]
        if constants:
            declarations.append(ast.ConstDecl(tuple(constants), span))
        for declared, kind, place in inputs:
            declarations.append(ast.VariableDecl(ast.Role.INPUT, (declared,), kind.type(place), None, place))
        declarations += self._precondition(final)
        declarations += outputs
        declarations += final.variables()
        if self.claim is not None:
            declarations.append(self._claim(self.claim))
        if self.metric is not None:
            declarations.append(self._metric(self.metric))
        statements_of = final.statements
        declarations += right_answer
        name = node.name if node.name not in RESERVED else f"{node.name}_"
        tree = ast.ProgramTree(name, tuple(declarations), statements_of, module.span(node))
        tree = with_noiseless_ideal(unmarked(tree), module.source)
        names = [
            each.arg
            for each in (*node.args.args, *node.args.kwonlyargs)
            if each.arg != "eps" and not self._is_constant(each)
        ]
        arguments = {arg: each.name for arg, (each, _, _) in zip(names, inputs, strict=True)}
        accepted = Accepted(
            module,
            node,
            self.ideal,
            arguments,
            tuple(final.parts_of_answer()),
            statements.is_tuple,
            final.answered,
            final.inferred,
            (lambda given: _Header(module, node, given).reading()) if final.depends_on_constants else None,
        )
        return replace(module.source, tree=tree, program_text=print_program(tree), accepted=accepted)

    def _argument_constants(self) -> frozenset[str]:
        return frozenset(
            each.arg for each in (*self.node.args.args, *self.node.args.kwonlyargs) if self._is_constant(each)
        )

    def _is_constant(self, argument: python.arg) -> bool:
        return argument.annotation is not None and self.module.called(argument.annotation) == "dipc.Const"

    def _inputs(self, statements: Statements) -> Iterator[tuple[ast.Declarator, Kind, Span]]:
        module, arguments = self.module, self.node.args
        for odd in (arguments.vararg, arguments.kwarg, *arguments.posonlyargs):
            if odd is not None:
                raise module.wrong(
                    odd, f"the argument `{odd.arg}` takes any number of values", "name each argument", code=BAD_HEADER
                )
        both = [*arguments.args, *arguments.kwonlyargs]
        count = len(arguments.args) - len(arguments.defaults)
        defaults = [*[None] * count, *arguments.defaults, *arguments.kw_defaults]
        for argument, default in zip(both, defaults, strict=True):
            if self._is_constant(argument):
                value = None if default is None else rational(module, default)
                if argument.arg in self.constants:
                    continue
                if value is None:
                    raise module.wrong(
                        argument,
                        f"the constant `{argument.arg}` has no value",
                        f"write `{argument.arg}: dipc.Const = 0`, or `@dipc.mechanism({argument.arg}=0)`",
                        code=BAD_HEADER,
                    )
                self.constants[argument.arg] = self.given.get(argument.arg, value)
                assert default is not None
                self.constants_written[argument.arg] = default
                self.written[argument.arg] = number(value, module.span(argument))
        statements.constants.update(self.constants)
        statements.taken.update(self.constants)
        has_eps = any(argument.arg == "eps" for argument in both)
        for argument in both:
            if argument.arg in ("epsilon", "ε") and not has_eps:
                note = f"write `eps` for `{argument.arg}`"
                raise module.wrong(argument, "the privacy parameter is called `eps`", note, code=BAD_HEADER)
        for argument, default in zip(both, defaults, strict=True):
            if argument.arg == "eps":
                statements.env["eps"] = _Eps
                continue
            if self._is_constant(argument):
                continue
            span = module.span(argument)
            if default is not None:
                as_constant = f"write `{argument.arg}: dipc.Const = {module.text(default)}` for a constant"
                notes = (as_constant, "leave the value out for an input")
                raise module.wrong(default, f"the input `{argument.arg}` has a value already", *notes, code=BAD_HEADER)
            if argument.annotation is None:
                raise module.wrong(
                    argument,
                    f"the input `{argument.arg}` has no type",
                    f'write `{argument.arg}: dipc.Real`, dipc.Reals["m"], dipc.Int, dipc.Finite[0:5] or dipc.Const',
                    code=BAD_HEADER,
                )
            name = statements.fresh(argument.arg)
            size = self._size(statements, argument.annotation)
            if size is not None:
                length, kind = size
                array = Array(name, length, is_input=True)
                statements.env[argument.arg] = array
                low, high = number(0, span), length.plus(-1).expression(span)
                yield ast.Declarator(name, low, high, span), kind, span
            else:
                statements.env[argument.arg] = Scalar(name)
                yield ast.Declarator(name, None, None, span), statements.kind(argument.annotation), span
        if not has_eps:
            raise module.wrong(
                self.node,
                f"`{self.node.name}` has no argument `eps`",
                f"write `def {self.node.name}(…, eps):`",
                code=BAD_HEADER,
            )

    def _size(self, statements: Statements, annotation: python.expr) -> tuple[ConstantSum, Kind] | None:
        """Return the length and the element type of the list type `annotation`; None for any other annotation.

        List types are `dipc.Reals["m"]`, `dipc.Ints[3]`, `dipc.Finite[0:5]["m"]` and `Annotated[list[float], "m"]`.
        `statements` is the translator, which knows the constants.
        """
        module = self.module
        called: str | None
        element: Kind | None = None
        match annotation:
            case python.Subscript(
                value=value,
                slice=python.Tuple(
                    elts=[
                        python.Subscript(value=python.Name(id="list"), slice=python.Name(id="float" | "int" as of)),
                        length,
                    ]
                ),
            ) if module.called(value) == "typing.Annotated":
                called, inside = {"float": "dipc.Reals", "int": "dipc.Ints"}[of], length
            case python.Subscript(value=python.Subscript(value=value) as of_each, slice=inside):
                called, element = module.called(value), statements.kind(of_each)
            case python.Subscript(value=value, slice=inside):
                called = module.called(value)
                if called == "dipc.Finite":
                    return None
            case _:
                called = module.called(annotation)
                if called in ("dipc.Reals", "dipc.Ints"):
                    raise module.wrong(
                        annotation, "the length of the list is missing", f'write `{called}["m"]`', code=BAD_HEADER
                    )
                return None
        if called not in ("dipc.Reals", "dipc.Ints", "dipc.Finite"):
            return None
        kind = element or Kind("real" if called == "dipc.Reals" else "int")
        if isinstance(inside, python.Constant) and isinstance(inside.value, str):
            if inside.value not in self.constants and not inside.value.isidentifier():
                plain = inside.value.strip()
                raise module.wrong(
                    inside,
                    f"the length `{inside.value}` is not the name of a constant",
                    f"write the number itself, without quotes: `[{plain}]`"
                    if plain.isdigit()
                    else f'write the name of a constant, `{called}["m"]` with `@dipc.mechanism(m=3)`',
                    code=BAD_HEADER,
                )
            if inside.value not in self.constants:
                notes = did_you_mean(inside.value, self.constants)
                notes.append(f"say how many there are: `@dipc.mechanism({inside.value}=3)`")
                raise module.wrong(inside, f"the length `{inside.value}` is not a constant", *notes, code=BAD_HEADER)
            return ConstantSum(Fraction(0), ((inside.value, Fraction(1)),), self.constants[inside.value]), kind
        return statements.length(inside), kind

    def _claim(self, node: python.expr) -> ast.ClaimDecl:
        module = self.module
        fields = self._fields(node, "a claim must be written out", 'write `claim=dict(alpha="dd", beta="…")`')
        written = []
        for name, value in fields:
            if name == "metric":
                self.metric = value
                continue
            if name not in CLAIM_FIELDS:
                notes = did_you_mean(name, (*CLAIM_FIELDS, "metric"))
                notes.append(f"the fields are {', '.join(CLAIM_FIELDS)} and metric")
                raise module.wrong(value, f"a claim has no field `{name}`", *notes, code=BAD_HEADER)
            written.append(ast.ClaimField(name, self._field(name, value), module.span(value)))
        return ast.ClaimDecl(tuple(written), module.span(node))

    def _fields(self, node: python.expr, message: str, note: str) -> list[tuple[str, python.expr]]:
        module = self.module
        match node:
            case python.Call(func=function, args=[], keywords=keywords) if (
                isinstance(function, python.Name) and function.id == "dict"
            ) or module.called(function) == METRIC:
                if all(each.arg is not None for each in keywords):
                    return [(str(each.arg), each.value) for each in keywords]
            case python.Dict(keys=keys, values=values):
                names = [key.value for key in keys if isinstance(key, python.Constant) and isinstance(key.value, str)]
                if len(names) == len(keys):
                    return list(zip(names, values, strict=True))
        raise module.wrong(node, message, note, code=BAD_HEADER)

    def _metric(self, node: python.expr) -> ast.MetricDecl:
        """Return the metric that `node` gives in `claim=dict(metric=node)`: a distance of inputs, or fields by name."""
        module = self.module
        fields = [("input", node)]
        if not isinstance(node, python.Constant):
            note = 'write `metric="l1"`, or `metric=dipc.metric(input="l1", output="linf")`'
            fields = self._fields(node, "a metric must be written out", note)
        written: dict[str, ast.MetricField] = {}
        for name, value in fields:
            if name not in METRIC_FIELDS:
                notes = [*did_you_mean(name, METRIC_FIELDS), f"the fields are {', '.join(METRIC_FIELDS)}"]
                raise module.wrong(value, f"a metric has no field `{name}`", *notes, code=BAD_HEADER)
            inside = None
            if isinstance(value, python.Constant) and isinstance(value.value, str):
                inside = _inside(module.source, module.span(value), value.value)
            if inside is None:
                note = f'write `{name}="{"l1" if name == "input" else "linf"}"`, as in a program'
                raise module.wrong(value, f"`{name}` must be a text in one pair of quotes", note, code=BAD_HEADER)
            tree = parse_at(module.source, "metric_value", inside)
            written[name] = ast.MetricField(name, tree, module.span(value))
        return ast.MetricDecl(tuple(written.values()), module.span(node))

    def _field(self, name: str, value: python.expr) -> ast.Expr | tuple[ast.IntervalExpr, ...] | ast.ClaimedInputs:
        module, span = self.module, self.module.span(value)
        if isinstance(value, python.Constant) and isinstance(value.value, str):
            inside = _inside(module.source, span, value.value)
            if inside is None:
                raise module.wrong(
                    value, "this text must be a single literal", "write it in a single pair of quotes", code=BAD_HEADER
                )
            match name:
                case "eps":
                    return parse_at(module.source, "intervals", inside)  # type: ignore[no-any-return]
                case "inputs" if value.value.strip() == "all":
                    return ast.ClaimedInputs((), inside)
                case "inputs":
                    return ast.ClaimedInputs(parse_at(module.source, "items", inside), inside)
            return parse_at(module.source, "expression", inside)  # type: ignore[no-any-return]
        if name == "eps" and isinstance(value, python.Constant) and isinstance(value.value, int | float):
            return parse_at(module.source, "intervals", span)  # type: ignore[no-any-return]
        constant = literal(module, value) if isinstance(value, python.Constant) else rational(module, value)
        if constant is None or name in ("eps", "inputs"):
            raise module.wrong(
                value, f"`{name}` must be a text", f'write `{name}="…"`, as in a program', code=BAD_HEADER
            )
        return number(constant, span)

    def _right_answer(
        self,
        final: _Final,
        outputs: Sequence[ast.VariableDecl],
        known: Mapping[str, Kind],
        frozen: dict[str, tuple[ast.Expr, python.expr]],
    ) -> Iterator[ast.IdealDecl]:
        """Yield the ideal block of the program; yield nothing if the program has none.

        The block is made from the decorator's argument `ideal`. Without this argument, it is the program without its
        noise, provided that every distribution in the program has a mean. `final` is the translated mechanism with its
        `outputs`, and `known` has the types of its inputs by name. Constants of the file that only the ideal uses are
        added to `frozen`.
        """
        module, span = self.module, self.module.head(self.node)
        if self.ideal is None:
            if not any(has_no_mean(tree) for tree in ast.walk(final.statements)):
                yield ast.IdealDecl((), (), span, noiseless=True)
            return
        assert self.ideal_written is not None
        node = self.ideal
        statements = Statements(module, final.constants, self._argument_constants())
        statements.taken |= {each.name for declared in outputs for each in declared.declarators}
        statements.taken |= final.kinds.keys() - final.constants.keys()
        for argument in (*node.args.args, *node.args.kwonlyargs):
            if argument.arg in ("eps", *self.constants):
                if argument.arg == "eps":
                    statements.env["eps"] = _Eps
                continue
            bound = final.inputs.get(argument.arg)
            if bound is None:
                raise module.wrong(
                    argument,
                    f"the right answer takes `{argument.arg}`, which is not an input",
                    f"the inputs are {', '.join(final.inputs)}",
                    code=BAD_HEADER,
                    related=[(self.node, "of this mechanism")],
                )
            statements.env[argument.arg] = bound
            statements.taken.add(bound.name if isinstance(bound, Scalar | Array) else argument.arg)
        body = statements.body(node)
        shape = [answer.array is not None for answer in statements.answers or ()]
        if shape != [answer.array is not None for answer in final.answers] or statements.is_tuple != final.is_tuple:
            raise module.wrong(
                self.ideal_written,
                f"`{node.name}` does not return what the mechanism returns",
                "return a tuple of the same length, with lists in the same places",
                code=BAD_HEADER,
                related=[(node, "the right answer"), (self.node, "the mechanism")],
            )
        if statements.may_be_none_as_a_whole and final.answered is None:
            raise module.wrong(
                self.ideal_written,
                f"`{node.name}` returns None sometimes, and the mechanism never does",
                "return None in the mechanism, too, or an answer here",
                code=UNKNOWN_TYPE,
                related=[(node, "the right answer"), (self.node, "the mechanism")],
            )
        frozen |= statements.frozen
        other = _Final(self, statements, body, known, like=final)
        yield ast.IdealDecl(tuple(other.variables()), other.statements, span)


class _Final:
    """The statements of one function, the mechanism or its ideal, after all types are known.

    None is replaced by the values that represent it, and the lists that the function returns are replaced by outputs.
    `presence` maps each variable with noise that may be None to the flag variable that is true where it is a number.
    """

    statements: tuple[ast.Statement, ...]
    presence: dict[str, str]

    def __init__(
        self,
        header: _Header,
        written: Statements,
        body: tuple[ast.Statement, ...],
        known: Mapping[str, Kind],
        like: _Final | None = None,
    ) -> None:
        self.module = header.module
        self.node = header.node
        self.written = written
        #: The output that tells an answer from None, where answers are lists or tuples.
        self.answered: str | None
        if like is not None:
            self.answered = like.answered
        else:
            self.answered = written.fresh("answered") if written.may_be_none_as_a_whole else None
        body = written.outputs_written(body, self.answered)
        self.answers: tuple[Answer, ...] = written.answers or ()
        self.is_tuple = written.is_tuple
        self.inputs = {
            each.arg: written.env_of_inputs[each.arg]
            for each in (*header.node.args.args, *header.node.args.kwonlyargs)
            if each.arg in written.env_of_inputs
        }
        self.constants = written.constants
        in_place = {
            answer.array.name: answer.name
            for answer in self.answers
            if answer.array is not None and not answer.array.is_input
        }
        self._renamed = in_place
        body = self._rename(body)
        names = set(written.strings)
        inference = Inference(
            self.module,
            written.constants,
            {**known, **{in_place.get(name, name): kind for name, kind in written.annotated.items()}},
            names,
            {answer.name for answer in self.answers} - set(written.spellings),
        )
        self._inference = inference
        spelling = {in_place.get(name, name): text for name, text in written.spellings.items()}
        first = number(0, Span(0, 0))
        beginnings = [
            ast.Assign(ast.Element(in_place.get(array.name, array.name), first), array.initial, array.initial.span)
            for array in written.arrays
            if array.initial is not None
        ]
        self.kinds = inference.kinds((*beginnings, *body), lambda name: spelling.get(name, name))
        #: How to declare each variable whose kind is found from the values that are assigned to it.
        self.inferred = {
            name: inference.way_out(spelling.get(name, name)) for name in self.kinds if name not in inference.known
        }
        self.lists = {
            in_place.get(array.name, array.name): array
            for array in written.arrays
            if in_place.get(array.name, array.name) in self.kinds
        }
        for answer in self.answers:
            kind = self.kinds.get(answer.name, ONLY_NONE)
            missing = answer.array.partial if answer.array is not None else written.returns_none is not None
            missing = missing and not (answer.array is None and self.answered is not None)
            if missing:
                self._check_ends(answer, body)
                kind = replace(kind, none=True)
            if like is not None:
                own = like.kinds[answer.name].none or answer.name in like.presence
                if kind.is_number and not own and not missing and not self._is_given_none(answer, body):
                    # Whether the variables that are returned may be None is checked where they are returned.
                    kind = replace(kind, none=False)
                kind = self._as_in(answer, kind, like)
            self.kinds[answer.name] = kind
        for name, kind in self.kinds.items():
            if kind.none and kind.unordered:
                raise self.module.wrong(
                    self.node,
                    f"which number could stand for None in `{spelling.get(name, name)}` depends on the constants",
                    "use another word or number in place of None",
                    code=UNKNOWN_TYPE,
                )
            if NONE_NAME in kind.values and kind.none:
                place = written.strings[NONE_NAME]
                raise self.module.wrong(
                    place,
                    'the string "none" and None would be the same answer in the program',
                    'write another word, such as "nothing"',
                    code=UNKNOWN_TYPE,
                )
            word = next(filter(written.strings.__contains__, (FALSE_NAME, TRUE_NAME)), None)
            if word is not None and kind.none and kind.base == "bool":
                raise self.module.wrong(
                    written.strings[word],
                    f'the string "{word}" and a truth value would be the same answer in the program',
                    f'`{spelling.get(name, name)}` may be True, False or None: write other words than "yes" and "no"',
                    code=UNKNOWN_TYPE,
                )
        self.presence = self._flags(like)
        outputs = {self.answered, *(answer.name for answer in self.answers)}
        # Elements of these are missing or numbers; None is never among them.
        shorter = {
            answer.name for answer in self.answers if answer.array and answer.array.grows and answer.array.partial
        }
        MissingValues(
            self.module,
            lambda name: spelling.get(name, name),
            {*self.presence, *(name for name, kind in self.kinds.items() if kind.none and kind.is_number)} - shorter,
            {name for name, kind in self.kinds.items() if kind.is_three_valued},
            {*variables_assigned(body)} - known.keys() - outputs,
            {name: array.counter or array.loop_variable or "" for name, array in self.lists.items() if array.grows},
            {name for name, array in self.lists.items() if array.grows and not array.partial},
            self._is_nonempty,
            written.constants,
        ).check(body)
        forms = {name: form_of_constant(self.module, value) for name, value in header.constants_written.items()}
        forms |= {name: form_of_constant(self.module, value) for name, (_, value) in written.frozen.items()}
        Rounding(
            self.module,
            lambda name: spelling.get(name, name),
            forms,
            self.kinds,
            list(known),
            [answer.name for answer in self.answers],
        ).check(body)
        self._check_keys(body, inference)
        self._check_junctions(body)
        self.statements = tuple(self._completed(body))

    @property
    def depends_on_constants(self) -> bool:
        """Whether the types are right for the current values of the constants only.

        They are if the constants decide which value of some range or list is the least.
        """
        return any(kind.unordered and kind.base in ("range", "listed") for kind in self.kinds.values())

    def _check_keys(self, body: Sequence[ast.Statement], inference: Inference) -> None:
        """Raise DiagnosticError if two keys of one choice in `body` may be equal.

        A dict keeps only the last of them. `inference` tells which expressions are never equal.
        """
        known: dict[str, ast.Expr] = {}
        for statement in body:
            match statement:
                case ast.Assign(target, value):
                    value = _inserted(value, known)
                    known = {name: each for name, each in known.items() if not ast.mentions(each, target.name)}
                    known.pop(target.name, None)
                    if isinstance(target, ast.Name) and not ast.mentions(value, target.name):
                        known[target.name] = value
                case ast.Sample(target, distribution):
                    if isinstance(distribution, ast.Choose):
                        self._check_keys_of(distribution, known, inference)
                    known = {name: each for name, each in known.items() if not ast.mentions(each, target.name)}
                    known.pop(target.name, None)
                case ast.If(_, then, otherwise):
                    for block in (then, otherwise):
                        self._check_keys(block, inference)
                    known = {}
                case ast.For(body=block) | ast.While(body=block):
                    self._check_keys(block, inference)
                    known = {}
                case ast.ExitStatement():
                    pass
                case _:
                    assert_never(statement)

    def _check_keys_of(self, choice: ast.Choose, known: Mapping[str, ast.Expr], inference: Inference) -> None:
        keys = [key for key, _ in choice.arms]
        for place, one in enumerate(keys):
            for two in keys[:place]:
                if not inference.differ(_inserted(two, known), _inserted(one, known), self.kinds):
                    first, second = (self.module.source.text[each.span.start : each.span.end] for each in (two, one))
                    raise self.module.wrong(
                        one.span,
                        f"the keys `{first}` and `{second}` may be equal, "
                        "and Python keeps only the last of two equal keys",
                        "draw a number for each value first, `k = dipc.choice({0: …, 1: …})`, and use "
                        f"`{first} if k == 0 else {second}`",
                        code=BAD_NOISE,
                    )

    def _check_junctions(self, body: Sequence[ast.Statement]) -> None:
        """Raise DiagnosticError if an operand of `and` or `or` in `body` may be None.

        Python then gives None, not False.
        """
        for node in ast.walk(tuple(body)):
            match node:
                case ast.Assign(value=value):
                    values = [value]
                case ast.Compare(left=left, right=right):
                    values = [left, right]
                case _:
                    continue
            for each in values:
                for leaf in _operands(each):
                    if isinstance(leaf, ast.Name | ast.Element) and self.kinds.get(leaf.name, BOOL).none:
                        written = self.module.source.text[leaf.span.start : leaf.span.end]
                        raise self.module.wrong(
                            leaf.span,
                            f"`{written}` may be None here, and `and` or `or` would give None",
                            f"write `{written} is True`",
                            code=UNKNOWN_TYPE,
                        )

    def _is_nonempty(self, low: ast.Expr, high: ast.Expr) -> bool:
        """Return True only if a loop from `low` to `high` runs at least once, whatever values the constants have.

        The result is True if the number of iterations is a positive number, or the length of an input. In all other
        cases it is False.
        """
        ends = bound_of(low, self.constants), bound_of(high, self.constants)
        if ends[0] is None or ends[1] is None:
            return False
        count = ends[1].minus(ends[0]).plus(1)
        lengths = [array.length for array in self.inputs.values() if isinstance(array, Array)]
        return count.value >= 1 and (not count.terms or count in lengths)

    def _check_ends(self, answer: Answer, body: Sequence[ast.Statement]) -> None:
        """Raise DiagnosticError if `answer` is a list that grows and has None assigned to an element in `body`.

        The first None in the output marks where the list ends. `body` are the statements of the function.
        """
        if answer.array is None or not answer.array.grows:
            return
        for node in ast.walk(tuple(body)):
            if isinstance(node, ast.Assign) and node.target.name == answer.name and is_none(node.value):
                raise self.module.wrong(
                    node.span,
                    "a list that may end early cannot contain None",
                    "append something else, such as False or a word, or begin with `[None] * m`",
                    code=UNKNOWN_TYPE,
                )

    def _is_given_none(self, answer: Answer, body: Sequence[ast.Statement]) -> bool:
        if answer.array is not None and answer.array.initial is not None and is_none(answer.array.initial):
            return True
        for node in ast.walk(tuple(body)):
            match node:
                case ast.Assign(target, value) if target.name == answer.name and is_none(value):
                    return True
                case ast.Sample(target, ast.Choose(arms)) if target.name == answer.name:
                    if any(is_none(value) for value, _ in arms):
                        return True
        return False

    def _flags(self, like: _Final | None) -> dict[str, str]:
        """Return {variable: flag} for the real and int variables with noise that may be None.

        The flag is a variable that is true where the other is a number. If this function is the mechanism, `like` is
        None. If this function is the ideal, `like` is the mechanism, and the outputs of the ideal share the mechanism's
        flags.
        """
        flags = {}
        for name, kind in list(self.kinds.items()):
            if like is not None and name in like.presence:
                flags[name] = like.presence[name]
            elif kind.none and kind.base in ("real", "int"):
                flags[name] = self.written.fresh(f"{name}_given")
            else:
                continue
            self.kinds[name] = replace(kind, none=False)
            self.kinds[flags[name]] = BOOL
            array = self.lists.get(name)
            if array is not None:
                known = array.initial is not None and not is_none(array.initial)
                self.lists[flags[name]] = replace(array, name=flags[name], initial=ast.Truth(known))
        return flags

    def _as_in(self, answer: Answer, kind: Kind, like: _Final) -> Kind:
        """Return the type of the output `answer` of the ideal: the type that the mechanism has for this output.

        `like` is the mechanism, and `kind` is the type found for the ideal's values. If the type in the mechanism has
        finitely many values, and None is not one of them, it is first extended in `like` by the values of `kind`.
        Raises DiagnosticError if the ideal may be None and the mechanism is always a number, if one type cannot hold
        the values of both, and if the ideal may be the number that represents None.
        """
        own = like.kinds[answer.name]
        if kind.none and not own.none and answer.name not in like.presence:
            raise self.module.wrong(
                self.node,
                "the right answer is None sometimes, and the mechanism's is always a number",
                "return None there, too",
                code=UNKNOWN_TYPE,
            )
        if own.none and own.is_number and kind.is_number and self._meets_none(own, kind):
            raise self.module.wrong(
                self.node,
                f"the right answer `{answer.name}` may be a number that the mechanism never gives",
                "return one of the mechanism's answers, or let the mechanism return this number, too",
                code=UNKNOWN_TYPE,
            )
        try:
            joint = common_kind(own, kind)
        except Mixed:
            raise self.module.wrong(
                self.node,
                f"the right answer `{answer.name}` has another type than the mechanism's",
                "return values of the type that the mechanism returns",
                code=UNKNOWN_TYPE,
            ) from None
        if not own.none and joint.base in ("range", "listed", "names"):
            # The right answer may be none of the mechanism's.
            like.kinds[answer.name] = joint
            return joint
        return own

    @staticmethod
    def _meets_none(own: Kind, kind: Kind) -> bool:
        """Return False only if no number of the type `kind` represents None in the type `own`.

        In `own`, None is represented by a number that is less than all other numbers of the type.
        """
        if own.base == kind.base == "range":
            apart = kind.ends[0].minus(own.ends[0])
            return apart.value < 0 or any(coefficient < 0 for _, coefficient in apart.terms)
        values = values_of(replace(kind, none=False))
        if values is None:
            return True
        if own.base == "range":
            return any(value < own.ends[0].value for value in values)
        return own.all_values[0] in values

    # --- declarations -----------------------------------------------------------------------------

    def outputs(self) -> Iterator[ast.VariableDecl]:
        span = self.module.head(self.node)
        if self.answered is not None:
            yield self._declared(ast.Role.OUTPUT, self.answered, BOOL, None, span)
        for answer in self.answers:
            for name in filter(None, (self.presence.get(answer.name), answer.name)):
                array = answer.array if name == answer.name or answer.array is None else self.lists[name]
                yield self._declared(ast.Role.OUTPUT, name, self.kinds[name], array, span)

    def variables(self) -> Iterator[ast.VariableDecl]:
        taken = {answer.name for answer in self.answers} | self.known_names | {self.answered}
        taken |= {flag for name, flag in self.presence.items() if name in taken}
        span = self.module.head(self.node)
        for name, kind in self.kinds.items():
            if name not in taken:
                yield self._declared(ast.Role.VAR, name, kind, self.lists.get(name), span)

    @property
    def known_names(self) -> set[str]:
        return {bound.name for bound in self.inputs.values() if isinstance(bound, Scalar | Array)}

    def _declared(self, role: ast.Role, name: str, kind: Kind, array: Array | None, span: Span) -> ast.VariableDecl:
        low = high = initial = None
        if array is not None:
            low, high = number(0, span), array.length.plus(-1).expression(span)
            if array.initial is not None:
                zero = is_none(array.initial) and name in self.presence
                initial = number(0, span) if zero else self._value(kind, array.initial)
        if initial is None and name in self.presence:
            initial = number(0, span)
        if initial is None and name in self.presence.values():
            initial = ast.Truth(False, span)
        if initial is None and kind.none and role is ast.Role.OUTPUT:
            initial = kind.none_value(span)
        return ast.VariableDecl(role, (ast.Declarator(name, low, high, span),), kind.type(span), initial, span)

    def _value(self, kind: Kind, value: ast.Expr) -> ast.Expr:
        if isinstance(value, ast.Name) and value.name == NONE:
            return kind.none_value(value.span)
        if kind.is_three_valued and isinstance(value, ast.Truth):
            return ast.Name(TRUE_NAME if value.value else FALSE_NAME, value.span)
        return value

    def parts_of_answer(self) -> Iterator[Part]:
        for answer in self.answers:
            kind = self.kinds[answer.name]
            none: ConstantSum | str | Fraction | None = None
            if kind.none:
                none = kind.ends[0].plus(-1) if kind.base == "range" else kind.all_values[0]
            grows = answer.array is not None and answer.array.grows and answer.array.partial
            given = self.presence.get(answer.name)
            yield Part(answer.name, answer.array is not None, none, kind.is_three_valued, grows, given)

    # --- statements -------------------------------------------------------------------------------

    def _rename(self, body: tuple[ast.Statement, ...]) -> tuple[ast.Statement, ...]:
        names = self._renamed

        def change(node: object) -> ast.Expr | None:
            match node:
                case ast.Name(name=name) if name in names:
                    return replace(node, name=names[name])
                case ast.Element(name=name, index=index):
                    return replace(node, name=names.get(name, name), index=ast.rewritten(index, change))
            return None

        return ast.rewritten(body, change) if names else body

    def _completed(self, body: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
        for statement in body:
            match statement:
                case ast.Assign(target, ast.Call(function, (value, divisor)), span) if function in (FLOOR, REMAINDER):
                    by = bound_of(divisor, {})
                    assert by is not None, "the loop is written out"
                    yield from self._floored(target, function, value, by.value, span)
                case ast.Assign(target, value, span):
                    yield from self._assigned(target, self._conditions(value), span)
                case ast.Sample(target, span=span) if target.name in self.presence:
                    yield ast.Assign(self._flag(target), ast.Truth(True, span), span)
                    yield statement
                case ast.Sample(target, ast.Choose(arms) as choose, span):
                    kind = self.kinds[target.name]
                    arms = tuple((self._value(kind, value), weight) for value, weight in arms)
                    yield ast.Sample(target, replace(choose, arms=arms), span)
                case ast.If(condition, then, otherwise, span):
                    first, second = tuple(self._completed(then)), tuple(self._completed(otherwise))
                    yield ast.If(self._condition(condition), first, second, span)
                case ast.For():
                    yield replace(statement, body=tuple(self._completed(statement.body)))
                case ast.While():
                    yield replace(
                        statement,
                        condition=self._condition(statement.condition),
                        body=tuple(self._completed(statement.body)),
                    )
                case _:
                    yield statement

    def _assigned(self, target: ast.Name | ast.Element, value: ast.Expr, span: Span) -> Iterator[ast.Statement]:
        kind = self.kinds[target.name]
        if ast.is_name(value, BLANK):
            if target.name in self.presence:
                yield ast.Assign(self._flag(target), ast.Truth(False, span), span)
            yield ast.Assign(target, kind.blank(span), span)
            return
        leaf = value if isinstance(value, ast.Name | ast.Element) else None
        missing_leaf = self._is_missing(leaf) if leaf is not None and self._has_none_value(leaf) else None
        if target.name in self.presence:
            if leaf is not None and missing_leaf is not None:
                without = tuple(self._assigned(target, ast.Name(NONE, span), span))
                number_of = (
                    ast.Assign(self._flag(target), ast.Truth(True, span), span),
                    ast.Assign(target, leaf, span),
                )
                yield ast.If(missing_leaf, without, number_of, span)
                return
            flag: ast.Expr = ast.Truth(True, span)
            if is_none(value):
                flag, value = ast.Truth(False, span), number(0, span)
            elif leaf is not None and leaf.name in self.presence:
                flag = self._flag(leaf)
            yield ast.Assign(self._flag(target), flag, span)
            yield ast.Assign(target, value, span)
            return
        if leaf is not None and kind.none and missing_leaf is not None:
            missing = kind.none_value(span)
            if missing != self.kinds[leaf.name].none_value(span):
                # Another value stands for None in the other variable.
                then, otherwise = ast.Assign(target, missing, span), ast.Assign(target, leaf, span)
                yield ast.If(missing_leaf, (then,), (otherwise,), span)
                return
        plain = self._value(kind, value)
        own = leaf is not None and self.kinds.get(leaf.name) == kind
        if plain is value and kind.is_three_valued and not own:
            true, false = ast.Name(TRUE_NAME, span), ast.Name(FALSE_NAME, span)
            yield ast.If(value, (ast.Assign(target, true, span),), (ast.Assign(target, false, span),), span)
        else:
            yield ast.Assign(target, plain, span)

    def _floored(
        self, target: ast.Name | ast.Element, function: str, value: ast.Expr, divisor: Fraction, span: Span
    ) -> Iterator[ast.Statement]:
        """Yield the statements that set `target` to a quotient or a remainder, with a case for each value of `value`.

        `function` names the operation, `divisor` is its divisor, and `span` its place.
        """
        values = values_of(self._inference.kind_of(value, self.kinds))
        if values is None:
            written = self.module.source.text[value.span.start : value.span.end]
            raise self.module.wrong(
                span,
                f"the values of `{written}` are not known or too many",
                "compute the quotient of a variable with few values: `y: dipc.Finite[0:5] = x`",
                code=UNKNOWN_TYPE,
            )
        *first, last = values
        chain: tuple[ast.Statement, ...] = (ast.Assign(target, number(floored(function, last, divisor), span), span),)
        for each in reversed(first):
            result = ast.Assign(target, number(floored(function, each, divisor), span), span)
            condition = ast.Compare(ast.CompareOp.EQ, value, number(each, span), span)
            chain = (ast.If(condition, (result,), chain, span),)
        yield from chain

    def _has_none_value(self, leaf: ast.Name | ast.Element) -> bool:
        kind = self.kinds.get(leaf.name)
        return kind is not None and kind.none and kind.is_number

    def _is_missing(self, leaf: ast.Expr) -> ast.Expr | None:
        if not isinstance(leaf, ast.Name | ast.Element):
            return None
        if leaf.name in self.presence:
            return ast.Unary(UnaryOp.NOT, self._flag(leaf), leaf.span)
        if not self._has_none_value(leaf):
            return None
        return ast.Compare(ast.CompareOp.EQ, leaf, self.kinds[leaf.name].none_value(leaf.span), leaf.span)

    def _is_three_valued(self, tree: ast.Expr) -> bool:
        return isinstance(tree, ast.Name | ast.Element) and self.kinds.get(tree.name, ONLY_NONE).is_three_valued

    def _equal_truths(self, node: ast.Compare) -> ast.Expr | None:
        """Return `node`, an `==` or `!=`, rewritten for a side that may be False, True or None.

        In the program these three are names of a domain. The result is None if neither side is such a variable.
        """
        left, right, span = node.left, node.right, node.span
        if self._is_three_valued(right):
            left, right = right, left
        if not self._is_three_valued(left):
            return None
        if self._is_three_valued(right):
            return node
        holds = self._conditions(right)
        equal = [
            ast.Binary(BinaryOp.AND, ast.Compare(ast.CompareOp.EQ, left, ast.Name(word, span), span), condition, span)
            for word, condition in ((TRUE_NAME, holds), (FALSE_NAME, ast.Unary(UnaryOp.NOT, holds, span)))
        ]
        either = ast.Binary(BinaryOp.OR, equal[0], equal[1], span)
        return either if node.op is ast.CompareOp.EQ else ast.Unary(UnaryOp.NOT, either, span)

    def _condition(self, tree: ast.Expr) -> ast.Expr:
        if self._is_three_valued(tree):
            return ast.Compare(ast.CompareOp.EQ, tree, ast.Name(TRUE_NAME, tree.span), tree.span)
        return self._conditions(tree)

    def _equal(self, node: ast.Compare) -> ast.Expr | None:
        """Return `node`, an `==` or `!=` of two values, rewritten so that None equals None alone.

        The result is None if neither value may be None.
        """
        missing = [each for side in (node.left, node.right) if (each := self._is_missing(side)) is not None]
        if not missing:
            return None
        equal: ast.Expr = ast.Compare(ast.CompareOp.EQ, node.left, node.right, node.span)
        for each in missing:
            there = each.operand if isinstance(each, ast.Unary) else ast.Unary(UnaryOp.NOT, each, node.span)
            equal = ast.Binary(BinaryOp.AND, there, equal, node.span)
        if len(missing) == 2:
            both = ast.Binary(BinaryOp.AND, missing[0], missing[1], node.span)
            equal = ast.Binary(BinaryOp.OR, both, equal, node.span)
        return equal if node.op is ast.CompareOp.EQ else ast.Unary(UnaryOp.NOT, equal, node.span)

    def _is_no_value(self, tree: ast.Expr) -> bool:
        if not isinstance(tree, ast.Name) or tree.name not in self.written.strings:
            return False
        return all(tree.name not in kind.values for kind in self.kinds.values())

    def _flag(self, place: ast.Name | ast.Element) -> ast.Name | ast.Element:
        return replace(place, name=self.presence[place.name])

    def _conditions(self, tree: ast.Expr) -> ast.Expr:
        def change(node: ast.Expr) -> ast.Expr | None:
            match node:
                case ast.Compare(left=left, right=ast.Truth(value=value)) if node.op in (
                    ast.CompareOp.EQ,
                    ast.CompareOp.NE,
                ):
                    equal = node.op is ast.CompareOp.EQ
                    if (
                        isinstance(left, ast.Name | ast.Element)
                        and self.kinds.get(left.name, ONLY_NONE).is_three_valued
                    ):
                        word = ast.Name(TRUE_NAME if value else FALSE_NAME, node.span)
                        return ast.Compare(node.op, left, word, node.span)
                    inner = self._conditions(left)
                    return inner if value is equal else ast.Unary(UnaryOp.NOT, inner, node.span)
                case ast.Compare(left=left, right=right) if is_none(left) and is_none(right):
                    return ast.Truth(node.op is ast.CompareOp.EQ, node.span)
                case ast.Compare(left=left, right=right) if self._is_no_value(left) or self._is_no_value(right):
                    if ast.CompareOp.EQ is not node.op is not ast.CompareOp.NE or may_fail(node):
                        return None
                    same = isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.name == right.name
                    return ast.Truth((node.op is ast.CompareOp.EQ) is same, node.span)
                case ast.Compare(left=left, right=right):
                    for one, two in ((left, right), (right, left)):
                        if is_none(two) and isinstance(one, ast.Name | ast.Element) and one.name in self.presence:
                            flag = self._flag(one)
                            return flag if node.op is ast.CompareOp.NE else ast.Unary(UnaryOp.NOT, flag, node.span)
                        if isinstance(two, ast.Name) and two.name == NONE:
                            kind = self.kinds.get(one.name) if isinstance(one, ast.Name | ast.Element) else None
                            if kind is None or not kind.none:
                                if may_fail(one):
                                    # Decided, with its index: Python raises an IndexError outside of the list.
                                    equal = node.op is ast.CompareOp.NE
                                    itself = ast.CompareOp.EQ if equal else ast.CompareOp.NE
                                    return ast.Compare(itself, one, one, node.span)
                                return ast.Truth(node.op is ast.CompareOp.NE, node.span)
                            return ast.Compare(node.op, one, kind.none_value(two.span), node.span)
                    if node.op in (ast.CompareOp.EQ, ast.CompareOp.NE):
                        return self._equal_truths(node) or self._equal(node)
                case ast.Name(name=name) | ast.Element(name=name) if name in self.kinds:
                    if self.kinds[name].is_three_valued:
                        return ast.Compare(ast.CompareOp.EQ, node, ast.Name(TRUE_NAME, node.span), node.span)
            return None

        return ast.rewritten(tree, change) if not isinstance(tree, ast.Name | ast.Element) else tree


def _inserted(tree: ast.Expr, known: Mapping[str, ast.Expr]) -> ast.Expr:
    return ast.rewritten(tree, lambda node: known.get(node.name) if isinstance(node, ast.Name) else None)


def _operands(tree: ast.Expr) -> Iterator[ast.Expr]:
    if isinstance(tree, ast.Binary) and tree.op in (BinaryOp.AND, BinaryOp.OR):
        for side in (tree.left, tree.right):
            yield side
            yield from _operands(side)


def _expression(text: str, position: python.expr) -> python.expr:
    try:
        return python.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return position


def _inside(source: SourceText, span: Span, value: str) -> Span | None:
    """Return the place of `value`, the content of a string literal at `span` of `source`, without its quotes.

    None if `span` is not one literal with exactly this content, as for one with escapes.
    """
    written = source.text[span.start : span.end]
    for quote in ('"""', "'''", '"', "'"):
        if written == f"{quote}{value}{quote}":
            return Span(span.start + len(quote), span.end - len(quote))
    return None
