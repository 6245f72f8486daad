"""The page docs/divergences.md: reasons for which the checker does not follow the engine, from its own text.

`python docs/divergences.py` writes the page anew.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parent
VERIFIER = HOME.parent / "dipc" / "verifier"
PAGE = HOME / "divergences.md"

#: The files of the checker that refuse to derive something, by what they derive.
PARTS = {
    "Runs of a program": ("execution", "probability"),
    "Probabilities without a closed form, and closed forms that are too large": ("measures",),
    "Normal noise": ("noise", "reals", "normal", "trees", "messages", "kinked", "summed", "taylor"),
    "Right answers and distances": ("ideal", "linear"),
    "Every real and int input": ("surroundings", "bounds", "classes", "inputs"),
    "Rows that stand for other inputs": ("exchange", "symmetry", "transitions"),
    "Every number of queries": ("index_answers", "loops", "every_number"),
    "Privacy for all real inputs": ("clipped", "shifts"),
    "Claims": ("claims", "rounding", "rows"),
}

#: Files whose refusals are about texts that are no programs for `dipc` either, or about certificates that are wrong.
ELSEWHERE = frozenset(
    (
        *(
            "syntax",
            "program",
            "reading",
            "functions",
            "signs",
            "obligations",
            "privacy",
            "document",
            "statement",
            "implication",
            "command",
        ),
        *("late", "weights", "multisets"),
        *("__init__", "__main__"),
    )
)

INTRODUCTION = """\
# What the checker does not follow

`dipc` decides more than its checker, `dipc verify`, can derive again. Where the checker does not follow, it says so:
what it could not derive is *on trust*, the first line names the reason, and the exit code is 3. It never accepts what
it did not follow. Questions that have no certificate at all end with E0903 or E1412, which say why.

This page lists the reasons, as the checker prints them. It is made from the checker's own text by
`python docs/divergences.py`, and a test compares both. `…` stands for a name or a number of your program.
"""


def _text(node: ast.expr, constants: dict[str, object]) -> str | None:
    """The text that `node` is, with the module's `constants` in it and `…` for all else; None where it is no text."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value, constants) or "…" for value in values)
        case ast.FormattedValue(value=ast.Name(id=name)) if isinstance(constants.get(name), int):
            return str(constants[name])
        case ast.FormattedValue(value=ast.Call() | ast.Name() | ast.Attribute() | ast.Subscript() | ast.BinOp()):
            return "…"
    return None


def refusals(file: str) -> Iterator[str]:
    """The reasons with which this file of the checker does not derive something, in the order of its text."""
    constants = vars(importlib.import_module(f"dipc.verifier.{file}"))
    for node in ast.walk(ast.parse((VERIFIER / f"{file}.py").read_text(encoding="utf-8"))):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="NotDerived"), args=[argument])):
                text = _text(argument, constants)
                if text is not None:
                    yield text


def page() -> str:
    """The page."""
    lines = [INTRODUCTION]
    for title, files in PARTS.items():
        found = sorted({text for file in files for text in refusals(file)})
        if found:
            lines += [f"## {title}\n", *(f"- {text}" for text in found), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.path.insert(0, str(HOME.parent))
    PAGE.write_text(page(), encoding="utf-8")
