"""A report that is a text, as a page: for answers that are a few fields."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape

from dipc.report.curves import Curve
from dipc.report.html.document import document, fields, section


def text_page(
    text: str,
    command: Sequence[str],
    tool: str,
    curves: Sequence[Curve] = (),
    more: Sequence[str] = (),
    mood: str = "",
) -> str:
    """The page of the report `text`, whose first paragraph says it all. `command` is what was asked, word by word, and
    `tool` names who answered; `more` sections follow the report, and `mood` is the class of its verdict."""
    first, _, rest = text.partition("\n\n")
    line = " ".join(first.split())
    sections = [
        f'<header class="{mood}"><p>{escape(" ".join(command[:2]))}</p><h1>{escape(line)}</h1></header>\n'
        + section("Report", f"<pre>{escape(rest.rstrip())}</pre>\n"),
        *more,
        section("Evidence", fields([("asked by", shlex.join(command))])),
        f"<footer>{escape(tool)}. Every digit of the text is proved; curves are drawn with some of them.</footer>\n",
    ]
    return document(line, sections, curves)
