"""Finding the grammar and making the parser from it, once a process."""

from __future__ import annotations

from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from pkgutil import get_data
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
    try:
        packaged = get_data("dipc", f"grammars/{GRAMMAR}")
    except OSError:
        return Path(__file__).resolve().parents[2].joinpath("grammars", GRAMMAR).read_text(encoding="utf-8")
    return (packaged or b"").decode("utf-8")


@cache
def load_parser() -> Lark:
    """The LALR parser for every start symbol; it builds `dipc.lang.ast` trees while it reads, without recursion.

    Its table lies beside the compiled modules, as making it is a third of the start; Lark makes it anew where the
    grammar, its options or its own version are others, and goes on without where nothing can be written there.
    """
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
        cache=str(Path(cache_from_source(__file__)).with_name(f"{GRAMMAR}.table")),
    )
