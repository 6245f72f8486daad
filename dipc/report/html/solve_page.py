"""The answer of `dipc solve` as a page."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.inverse.solution import Solution
from dipc.report.curves import curves_of_solution
from dipc.report.html.closed_forms import closed_forms
from dipc.report.html.text_page import program_section, text_page

#: Inequalities that are drawn and written out.
_CURVES = 12


def solve_page(found: Solution, text: str, command: Sequence[str], tool: str) -> str:
    """The whole page of the report `text`. `command` is what was asked, word by word, and `tool` names who answered."""
    curves = curves_of_solution(found, _CURVES)
    more = (closed_forms(curves), program_section(found.question.program))
    return text_page(text, command, tool, curves, more)
