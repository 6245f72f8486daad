"""A report that is a text, as a page: for answers that are a few fields."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dipc.exits.program import Program
from dipc.report.curves import Curve
from dipc.report.html.document import document, evidence, section


def program_section(program: Program) -> str:
    """The text of the program."""
    return section("Program", f"<pre>{escape(program.core.source.text.rstrip())}</pre>\n")


def text_page(
    text: str,
    command: Sequence[str],
    tool: str,
    curves: Sequence[Curve] = (),
    more: Sequence[str] = (),
    mood: str = "",
    certificate: str | None = None,
) -> str:
    """The page of the report `text`, whose first paragraph says it all. `command` is what was asked, word by word, and
    `tool` names who answered; `more` sections follow the report, and `mood` is the class of its verdict. A
    `certificate` goes with it as a file to save."""
    first, _, rest = text.partition("\n\n")
    line = " ".join(first.split())
    sections = [
        f'<header class="{mood}"><p>{escape(" ".join(command[:2]))}</p><h1>{escape(line)}</h1></header>\n'
        + section("Report", f"<pre>{escape(rest.rstrip())}</pre>\n"),
        *more,
        evidence(command, tool, certificate),
    ]
    return document(line, sections, curves)
