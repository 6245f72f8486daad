"""Finding the grammar and making the parser from it, once a process."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = "dipwhile.lark"

#: What can be parsed: a whole program, one expression, intervals of eps, values of variables, a constant left open.
START_SYMBOLS = ("program", "expression", "intervals", "items", "lower_bound")


def grammar_text() -> str:
    """The text of the grammar, from the installed package or else from the checkout around it.

    A wheel carries `grammars/` inside the package; an editable install and a bare checkout have it beside.
    """
    packaged = files("dipc").joinpath("grammars", GRAMMAR)
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return Path(__file__).resolve().parents[2].joinpath("grammars", GRAMMAR).read_text(encoding="utf-8")


@cache
def load_parser() -> Lark:
    """The LALR parser for every start symbol; it builds `dipc.lang.ast` trees while it reads, without recursion."""
    from lark import Lark

    from dipc.lang.builder import Builder

    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="basic",
        start=list(START_SYMBOLS),
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=Builder(),
    )
