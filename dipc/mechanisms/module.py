"""A Python file with mechanisms: places in its text, the meaning of its names, and mistakes in it."""

from __future__ import annotations

import ast as python
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.text.diagnostic import Diagnostic, DiagnosticError, Label, SourceText, Span, bad_input, did_you_mean
from dipc.text.syntax_errors import MAX_DIGITS

#: E19xx: what is wrong with a mechanism that is written in Python.
OUTSIDE, BAD_NOISE, UNKNOWN_TYPE, BAD_HEADER = "E1901", "E1902", "E1903", "E1904"
NOT_FOUND, BAD_CALL, READ_WRONGLY = "E1905", "E1906", "E1907"

_SUBSET = (
    "a mechanism can use numbers, lists, conditions, `for`, `while`, `if`, `return`, dipc's noise, and "
    "functions of this file that use the same"
)


#: Python's functions that a mechanism may call.
BUILTINS = frozenset(
    ("abs", "all", "any", "bool", "enumerate", "int", "len", "list", "max", "min", "range", "sorted", "sum", "zip")
)


@dataclass(frozen=True)
class Module:
    """A parsed Python file.

    `aliases` maps its names for modules and their members to qualified names, such as `dipc.laplace`. `functions` and
    `constants` are those that the file itself defines. `changing` maps each name with several meanings to the place
    that gives it another meaning. `names` are all names that have a meaning in the file.
    """

    source: SourceText
    tree: python.Module
    aliases: Mapping[str, str]
    functions: Mapping[str, python.FunctionDef]
    constants: Mapping[str, python.expr]
    changing: Mapping[str, python.AST]
    names: frozenset[str]
    _starts: list[int] = field(repr=False)

    def span(self, node: python.AST) -> Span:
        """Return the place of `node` in the text."""
        lines = self.source.text
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", None) or first
        column: int = getattr(node, "col_offset", 0)
        end: int = getattr(node, "end_col_offset", None) or 0
        return Span(self._offset(lines, first, column), self._offset(lines, last, end))

    def head(self, node: python.stmt) -> Span:
        """Return the span of the first line of the statement `node`, without its indentation."""
        whole = self.span(node)
        end = self.source.text.find("\n", whole.start)
        return Span(whole.start, whole.end if end < 0 else min(whole.end, end))

    def _offset(self, text: str, line: int, column: int) -> int:
        start = self._starts[min(line, len(self._starts)) - 1]
        end = text.find("\n", start)
        content = text[start : end if end >= 0 else len(text)]
        if content.isascii():
            return start + column
        return start + len(content.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def text(self, node: python.AST) -> str:
        """Return `node` as it is written, on one line and shortened."""
        span = self.span(node)
        written = " ".join(self.source.text[span.start : span.end].split())
        return written if len(written) <= 40 else written[:37] + "..."

    def wrong(
        self,
        node: python.AST | Span,
        message: str,
        *notes: str,
        code: str = OUTSIDE,
        label: str = "",
        related: Sequence[tuple[python.AST, str]] = (),
    ) -> DiagnosticError:
        """Return the error `message` with a caret at `node`, and with `label` beside the caret.

        `code` is the code of the diagnostic. `related` are other places, each with its label. Without `notes` the error
        explains what a mechanism may contain.
        """
        span = node if isinstance(node, Span) else self.head(node) if isinstance(node, python.stmt) else self.span(node)
        secondary = tuple(Label(self.source.excerpt(self.span(each)), text) for each, text in related)
        excerpt = self.source.excerpt(span)
        return DiagnosticError(Diagnostic(code, message, excerpt, label, notes or (_SUBSET,), secondary))

    def called(self, node: python.expr) -> str | None:
        """Return the qualified name of the module, or member of a module, that `node` denotes, such as `dipc.laplace`.

        None for anything else.
        """
        match node:
            case python.Name(id=name):
                return self.aliases.get(name)
            case python.Attribute(value=inner, attr=attribute):
                base = self.called(inner)
                return None if base is None else f"{base}.{attribute}"
        return None


def parsed(source: SourceText, imported: Mapping[str, str] | None = None) -> Module:
    """Parse the Python file `source`.

    `imported` are names that another cell of a notebook has imported. Raises DiagnosticError (E1901) if
    Python refuses the text.
    """
    try:
        tree = python.parse(source.text)
        # Python refuses more when it compiles a file, such as `break` outside a loop or two parameters of one name.
        # A cell of a notebook may contain `await`.
        flags = 0 if imported is None else python.PyCF_ALLOW_TOP_LEVEL_AWAIT
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, source.name, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DiagnosticError(_no_python(source, error)) from None
    aliases: dict[str, str] = dict(imported or {})
    functions: dict[str, python.FunctionDef] = {}
    constants: dict[str, python.expr] = {}
    changing: dict[str, python.AST] = {}
    for statement in tree.body:
        match statement:
            case python.Import(names=names):
                aliases |= {each.asname or each.name.split(".")[0]: each.name for each in names}
            case python.ImportFrom(module=module, names=names, level=0) if module:
                aliases |= {each.asname or each.name: f"{module}.{each.name}" for each in names}
            case python.FunctionDef(name=name):
                functions[name] = statement
            case (
                python.Assign(targets=[python.Name(id=name)], value=value)
                | python.AnnAssign(target=python.Name(id=name), value=python.expr() as value)
            ):
                constants[name] = value
    meanings: dict[str, set[object]] = {}
    for name, meaning, node in _meanings(tree):
        meanings.setdefault(name, set()).add(meaning)
        if len(meanings[name]) > 1:
            changing[name] = node
            aliases.pop(name, None)
    for changed, node in _rebindings(tree, aliases):
        if changed is None:
            changing |= dict.fromkeys((*BUILTINS, *meanings, *aliases), node)
        elif changed in meanings or changed in BUILTINS:
            star = isinstance(node, python.ImportFrom)
            changing[changed] = node
            if not star or meanings.get(changed, set()) != {f"{node.module}.{changed}"}:  # type: ignore[attr-defined]
                aliases.pop(changed, None)
    starts = [0]
    starts += [position + 1 for position, letter in enumerate(source.text) if letter == "\n"]
    return Module(source, tree, aliases, functions, constants, changing, frozenset(meanings), starts)


def _meanings(tree: python.Module) -> Iterator[tuple[str, object, python.AST]]:
    """Yield (name, meaning, place) for each name that the file `tree` defines.

    The meaning of an imported name is the text of what is imported, so that repeated imports have equal meanings. Any
    other definition has a meaning of its own. `del` and an augmented assignment yield two. A name with two or more
    different meanings is treated as changing.
    """
    for node in own_nodes(tree.body):
        match node:
            case python.Import(names=names):
                for each in names:
                    yield (each.asname or each.name.split(".")[0]), (each.name if each.asname else "."), node
            case python.ImportFrom(module=module, names=names):
                for each in names:
                    yield (each.asname or each.name), f"{module}.{each.name}", node
            case python.AugAssign(target=python.Name(id=name)) | python.Delete(targets=[python.Name(id=name)]):
                yield name, (node, 1), node
                yield name, (node, 2), node
    for name, node in names_stored(tree.body):
        if not isinstance(node, python.Import | python.ImportFrom):
            yield name, node, node


#: Names by which a file may change what its own names mean.
_DYNAMIC = frozenset(
    (
        "globals",
        "locals",
        "vars",
        "exec",
        "eval",
        "setattr",
        "delattr",
        "__builtins__",
        "__import__",
        "__dict__",
        "modules",
    )
)


def _rebindings(tree: python.Module, aliases: Mapping[str, str]) -> Iterator[tuple[str | None, python.AST]]:
    """Yield (name, place) for the places of the file `tree`, other than definitions, that may change what a name means.

    The name is None for a place that may change all names. `aliases` are the file's names for modules and their
    members.
    """
    for node in python.walk(tree):
        match node:
            case python.Global(names=names):
                yield from ((name, node) for name in names)
            case python.Name(id=name) | python.Attribute(attr=name) if name in _DYNAMIC:
                yield None, node
            case python.Import(names=names) if any(each.name in ("builtins", "importlib") for each in names):
                yield None, node
            case python.ImportFrom(module="builtins" | "importlib"):
                yield None, node
            case python.ImportFrom(module=module, names=[python.alias(name="*")]):
                if module in _STARS:
                    yield from ((name, node) for name in _STARS[module])
                else:
                    yield None, node
            case python.Attribute(ctx=python.Store() | python.Del(), value=value):
                while isinstance(value, python.Attribute):
                    value = value.value
                if isinstance(value, python.Name) and value.id in aliases:
                    yield value.id, node


#: What `from MODULE import *` brings, of modules of the standard library.
_STARS: Mapping[str | None, Sequence[str]] = {
    "math": [name for name in dir(math) if not name.startswith("_")],
    "fractions": ["Fraction"],
    "__future__": [],
}


def own_nodes(body: Sequence[python.stmt]) -> Iterator[python.AST]:
    """Yield the nodes that Python evaluates in the scope of `body`.

    The bodies of functions, classes and comprehensions have names of their own and are left out. Their decorators,
    defaults and bases belong to this scope, and so do the targets of `:=` in a comprehension.
    """
    nodes: list[python.AST] = list(body)
    for node in nodes:
        yield node
        match node:
            case python.FunctionDef() | python.AsyncFunctionDef() | python.Lambda():
                nodes += getattr(node, "decorator_list", [])
                nodes += [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
            case python.ClassDef():
                nodes += [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]
            case python.ListComp() | python.SetComp() | python.DictComp() | python.GeneratorExp():
                nodes.append(node.generators[0].iter)
                nodes += [each.target for each in python.walk(node) if isinstance(each, python.NamedExpr)]
            case _:
                nodes.extend(python.iter_child_nodes(node))


def names_stored(body: Sequence[python.stmt]) -> Iterator[tuple[str, python.AST]]:
    """Yield each name to which the statements `body` of a scope give a meaning, with the node that does so."""
    for node in own_nodes(body):
        match node:
            case python.Name(id=name, ctx=python.Store() | python.Del()) | python.ExceptHandler(name=str(name)):
                yield name, node
            case python.FunctionDef(name=name) | python.AsyncFunctionDef(name=name) | python.ClassDef(name=name):
                yield name, node
            case (
                python.MatchAs(name=str(name)) | python.MatchStar(name=str(name)) | python.MatchMapping(rest=str(name))
            ):
                yield name, node
            case python.Import(names=names) | python.ImportFrom(names=names):
                for each in names:
                    yield (each.asname or each.name.split(".")[0]), node


def owned_names(function: python.FunctionDef) -> frozenset[str]:
    """Return the names that belong to `function`: its arguments, and all that it assigns anywhere."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return frozenset(
        (*(each.arg for each in every if each is not None), *(name for name, _ in names_stored(function.body)))
    )


def _no_python(source: SourceText, error: Exception) -> Diagnostic:
    message = f"`{source.name}` is not Python: {getattr(error, 'msg', None) or error}"
    line = getattr(error, "lineno", None)
    excerpt = None
    if line:
        start = 0
        for _ in range(line - 1):
            start = source.text.find("\n", start) + 1
        position = min(start + max(0, (getattr(error, "offset", 1) or 1) - 1), len(source.text))
        excerpt = source.excerpt(Span(position, position + 1))
    return Diagnostic(
        OUTSIDE, message, excerpt, notes=("correct the file first: `python FILE.py` shows the same error",)
    )


def mechanism_in(module: Module, name: str) -> python.FunctionDef:
    """Return the mechanism of `module` with the name `name`. Raises DiagnosticError (E1905) if there is none."""
    result = module.functions.get(name)
    all_of = [each for each in module.functions.values() if is_mechanism(module, each)]
    if result is None:
        notes = did_you_mean(name, [each.name for each in all_of])
        names = ", ".join(f"`{each.name}`" for each in all_of)
        notes.append(f"its mechanisms are {names}" if names else "write `@dipc.mechanism` above a function `def …`")
        raise bad_input(NOT_FOUND, f"`{module.source.name}` has no function `{name}`", *notes)
    if not is_mechanism(module, result):
        raise module.wrong(result, f"`{name}` is not a mechanism", "write `@dipc.mechanism` above it", code=NOT_FOUND)
    return result


def is_mechanism(module: Module, function: python.FunctionDef) -> bool:
    """Whether some decorator of `function`, in the file `module`, is `dipc.mechanism`."""
    return any(decorator_name(module, each) == "dipc.mechanism" for each in function.decorator_list)


def decorator_name(module: Module, decorator: python.expr) -> str | None:
    """Return the qualified name of `decorator`, called or not, in the file `module`.

    The result is None if `decorator` is not a member of a module.
    """
    return module.called(decorator.func if isinstance(decorator, python.Call) else decorator)


# --- numbers -------------------------------------------------------------------------------------------


def literal(module: Module, node: python.Constant) -> Fraction | None:
    """Return the exact value of `node`, a number, as it is written in `module`, such as 1/10 for 0.1.

    The result is None if `node` is not a number.
    """
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return None
    span = module.span(node)
    written = module.source.text[span.start : span.end].replace("_", "")
    if len(written) > MAX_DIGITS:
        raise module.wrong(node, "this number is too long", f"a number has at most {MAX_DIGITS} digits")
    if isinstance(node.value, int):
        return Fraction(node.value)
    try:
        return Fraction(written)
    except ValueError:
        raise module.wrong(node, f"`{written}` is not finite", "write an exact number") from None


def rational(module: Module, node: python.expr) -> Fraction | None:
    """Return the value of `node` if it is `3`, `-1`, `1/3`, `Fraction(1, 3)` or `Fraction("1/3")` in `module`.

    None for anything else.
    """
    match node:
        case python.Constant():
            return literal(module, node)
        case python.UnaryOp(op=python.USub(), operand=operand):
            value = rational(module, operand)
            return None if value is None else -value
        case python.BinOp(left=left, op=python.Div(), right=right):
            above, below = rational(module, left), rational(module, right)
            return None if above is None or not below else above / below
        case python.Call(func=function, args=arguments, keywords=[]) if (
            module.called(function) == "fractions.Fraction" and 1 <= len(arguments) <= 2
        ):
            if isinstance(arguments[0], python.Constant) and isinstance(arguments[0].value, str):
                try:
                    return Fraction(arguments[0].value) if len(arguments) == 1 else None
                except (ValueError, ZeroDivisionError):
                    return None
            if any(_has_float(each) for each in arguments):
                return None
            values = [rational(module, each) for each in arguments]
            if any(value is None for value in values) or (len(values) == 2 and not values[1]):
                return None
            return Fraction(*values)  # type: ignore[arg-type]
    return None


def _has_float(node: python.expr) -> bool:
    """Whether the expression `node` is a float or a quotient, perhaps with a sign: Python computes these as floats."""
    match node:
        case python.Constant(value=value):
            return isinstance(value, float)
        case python.UnaryOp(operand=operand):
            return _has_float(operand)
        case python.BinOp(op=python.Div()):
            return True
    return False


def names_in(node: python.AST) -> Iterator[str]:
    """Yield the names that are read or written in `node`."""
    return (child.id for child in python.walk(node) if isinstance(child, python.Name))
