"""Check how the project is worded: docstrings, names, messages and pages.

`python -m tests.wording dipc/sign docs/howto.md` lists what is wrong in these places; without arguments, everywhere.
"""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent

#: A docstring starts with a verb in the imperative or with a noun phrase, and with none of these.
FORBIDDEN_OPENERS = frozenset(
    re.findall(
        r"\w+",
        """
        What That Of Those By As Where How Which Why With In From At To On Without Between It Its They Their There
        Some This These Such About Against Around Under Over Into Up After Then Whatever However And So Also Not Only
        Does Because Besides Beyond Here Until Who Whose Adds Answers Calls Checks Collects Compares Converts Creates
        Decides Evaluates Finds Follows Gets Gives Goes Kills Looks Lowers Makes Parses Prints Proves Puts Raises
        Reads Removes Returns Runs Says Sets Shows Takes Tells Tries Turns Unites Writes Yields
        """,
    )
)

#: A definition's name is the noun of what is returned or the verb of what is done, and none of these.
FORBIDDEN_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        of at posed moved joined parts within near about settled between said told asked beyond beside besides in by
        with without apart to from on is as stated found whole known taken left given meant one other others some
        those again over under up down out then them they it its this that these such why how what which where when
        jointly saying standing later retell
        """,
    )
)

LONGEST_SENTENCE = 35

#: Directories whose files are inputs of tests, written as users write them.
INPUTS = ("tests/golden", "tests/mechanisms", "tests/text/first_typed", "docs/programs")

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def sources() -> list[Path]:
    """All Python files that are checked."""
    files = [file for room in ("dipc", "benchmarks", "tests") for file in sorted((ROOT / room).rglob("*.py"))]
    return [file for file in files if not _name(file).startswith(INPUTS) or file.name.startswith("test_")]


def pages() -> list[Path]:
    """All pages that are checked."""
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "dipc").rglob("*.md")]
    generated = ("docs/_build", "docs/generated", "docs/playground/build", "docs/playground/node_modules")
    return sorted(file for file in files if not _name(file).startswith(generated))


def room_of(file: Path) -> str:
    """The folder of `file` two levels deep, such as dipc/sign, or its own name where it is not that deep."""
    return "/".join(_name(file).split("/")[:2])


def complaints(file: Path) -> list[str]:
    """The faults in the wording of `file`, each with its line."""
    if file.suffix == ".md":
        return [f"{_name(file)}:{line}: {text}" for line, text in _in_page(file.read_text(encoding="utf-8"))]
    found = sorted(_in_source(_tree(file), messages=not _name(file).startswith("tests/")))
    return [f"{_name(file)}:{line}: {text}" for line, text in found]


def repeated_classes() -> dict[str, list[str]]:
    """The files of each public class name of the library that occurs in more than one, the checker's aside."""
    homes: dict[str, list[str]] = defaultdict(list)
    for file in sources():
        if _name(file).startswith("dipc/") and room_of(file) != "dipc/verifier":
            for node in ast.walk(_tree(file)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(_name(file))
    return {name: files for name, files in sorted(homes.items()) if len(set(files)) > 1}


def _name(file: Path) -> str:
    return (file.relative_to(ROOT) if file.is_relative_to(ROOT) else file).as_posix()


@functools.cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _in_source(tree: ast.Module, *, messages: bool) -> Iterator[tuple[int, str]]:
    docstrings = set()
    for node, known in _definitions(tree):
        name = node.name.lower().strip("_") if isinstance(node, ast.ClassDef) else node.name.strip("_")
        if name in FORBIDDEN_NAMES and not node.name.startswith("__"):
            yield node.lineno, f"`{node.name}` is no name: use the noun of the result or the verb of the action"
        docstring = ast.get_docstring(node)
        if docstring is None:
            continue
        place = node.body[0]
        assert isinstance(place, ast.Expr)
        docstrings.add(place.value)
        opener = docstring.split()[0].strip(",.:;") if docstring.strip() else ""
        if opener in FORBIDDEN_OPENERS:
            yield place.lineno, f"docstring starts with {opener}"
        yield from ((place.lineno + line, text) for line, text in _long_sentences(docstring))
        if isinstance(node, ast.ClassDef):
            known |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        for word in dict.fromkeys(re.findall(r"(?<!`)`([A-Za-z_]\w*)`(?!`)", docstring)):
            if word not in known:
                yield place.lineno, f"`{word}` is no parameter, field, name of the module or word of the language"
        if messages and not isinstance(node, ast.ClassDef) and (omitted := _omitted(node, docstring)):
            yield place.lineno, f"docstring leaves out the parameters {', '.join(omitted)}: name each in backticks"
    if docstring := ast.get_docstring(tree):
        docstrings.add(tree.body[0].value)  # type: ignore[attr-defined]
        yield from ((1 + line, text) for line, text in _long_sentences(docstring))
    if messages:
        for line, message in _strings(tree, docstrings):
            for paragraph in message.split("\n"):
                yield from ((line, text) for _, text in _long_sentences(paragraph))


def _omitted(node: ast.FunctionDef | ast.AsyncFunctionDef, docstring: str) -> list[str]:
    """The parameters of `node` that its `docstring` does not name in backticks.

    Special methods are excepted, as Python defines their parameters, and commands, whose docstring is their help.
    """
    if node.name.startswith("__") and node.name != "__init__":
        return []
    if any(re.search(r"\b(command|group|overload)\b", ast.unparse(decorator)) for decorator in node.decorator_list):
        return []
    arguments = node.args
    places = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = [place.arg for place in places if place is not None]
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", docstring))))
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_") and name not in named]


def _definitions(tree: ast.Module) -> Iterator[tuple[_Definition, frozenset[str]]]:
    """Each definition of `tree`, with the words that its docstring may put in backticks."""
    module = set(_languages()) | {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    module |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        for alias in getattr(node, "names", ())
        if isinstance(alias, ast.alias)
    }
    module |= _bound(tree.body)

    def walk(body: list[ast.stmt], known: frozenset[str]) -> Iterator[tuple[_Definition, frozenset[str]]]:
        for statement in body:
            for node in ast.walk(statement) if not isinstance(statement, _DEFINITIONS) else (statement,):
                if isinstance(node, ast.ClassDef):
                    inside = known | {node.name} | _fields(node)
                    yield node, inside
                    yield from walk(node.body, inside)
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    given = node.args
                    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
                    inside = known | {argument.arg for argument in every if argument is not None}
                    yield node, inside
                    yield from walk(node.body, inside | _bound(node.body))

    return walk(tree.body, frozenset(module))


def _bound(body: list[ast.stmt]) -> set[str]:
    names = set()
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            names.add(statement.name)
            names |= _fields(statement) if isinstance(statement, ast.ClassDef) else set()
        else:
            names |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return names


def _fields(node: ast.ClassDef) -> set[str]:
    names = {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
    return names | _bound(node.body)


@functools.cache
def _languages() -> frozenset[str]:
    """The words of Python and of the languages that dipc reads, and the classes and rooms of the project."""
    words = {*keyword.kwlist, *dir(builtins)}
    for grammar in (ROOT / "grammars").glob("*.lark"):
        text = grammar.read_text(encoding="utf-8")
        words |= set(re.findall(r"\w+", " ".join(re.findall(r'"([^"]*)"', text))))
    for file in sources():
        words |= {node.name for node in _tree(file).body if isinstance(node, ast.ClassDef)}
    for node in _tree(ROOT / "dipc/options.py").body:
        words |= _fields(node) if isinstance(node, ast.ClassDef) else set()
    return frozenset(
        words
        | {
            "dipc",
            "eps",
            "dd",
            "det",
            "accurate",
            "inaccurate",
            "private",
            "undecided",
            "none",
            "nan",
            "inf",
            "metric",
            "requires",
        }
    )


def _strings(tree: ast.Module, docstrings: set[ast.expr]) -> Iterator[tuple[int, str]]:
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "x" for v in node.values)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
            and id(node) not in parts
        ):
            yield node.lineno, node.value


def _in_page(text: str) -> Iterator[tuple[int, str]]:
    text = re.sub(
        r"^(```+|~~~+|:::+).*?^\1", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL
    )
    text = re.sub(r"<!--.*?-->", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"^(\||#|---).*$", "", text, flags=re.MULTILINE)
    yield from ((1 + line, complaint) for line, complaint in _long_sentences(text))


def _long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences with more words than `LONGEST_SENTENCE`, by the line of `text` where their paragraph starts."""
    lines = text.split("\n")
    start = 0
    for number in range(len(lines) + 1):
        line = lines[number] if number < len(lines) else ""
        ends = not line.strip() or re.match(r"\s*([-*+•]|\d+[.)]|>>>|\.\.\.)\s", line)
        if not ends:
            continue
        paragraph = " ".join(lines[start:number])
        if not paragraph.lstrip().startswith((">>>", "...")):
            paragraph = re.sub(r"`[^`]*`", "X", paragraph)
            for sentence in re.split(r"(?<=[.!?])[)\"'*_]*\s+(?=\W*[A-Z0-9])|:\s*$", paragraph):
                words = sum(bool(re.search(r"[^\W\d_]{2}|^[aAI]$", word)) for word in sentence.split())
                if words > LONGEST_SENTENCE:
                    yield start, f"sentence of {words} words: {' '.join(sentence.split()[:6])} …"
        start = number


def main(arguments: list[str]) -> None:
    """Print what is wrong below the paths `arguments`, and the counts by kind."""
    counts: Counter[str] = Counter()
    for file in (*sources(), *pages()):
        if not arguments or any(f"{_name(file)}/".startswith(f"{path.rstrip('/')}/") for path in arguments):
            for complaint in complaints(file):
                counts[room_of(file)] += 1
                print(complaint)
    for name, files in repeated_classes().items():
        if not arguments or any(file.startswith(path) for file in files for path in arguments):
            print(f"class {name} is in {', '.join(files)}")
    print(sum(counts.values()), dict(counts.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
