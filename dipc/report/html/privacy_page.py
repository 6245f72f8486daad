"""The answer of `dipc privacy` as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.outcome import PrivacyReport, PrivacyVerdict
from dipc.report.curves import curves_of_privacy
from dipc.report.html.closed_forms import closed_forms
from dipc.report.html.document import section
from dipc.report.html.text_page import text_page
from dipc.report.privacy import Found

_MOODS = {PrivacyVerdict.PRIVATE: "good", PrivacyVerdict.NOT_PRIVATE: "bad", PrivacyVerdict.UNDECIDED: "open"}

#: Inequalities that are drawn and written out.
_CURVES = 12


def privacy_page(question: PrivacyQuestion, found: Found, text: str, command: Sequence[str], tool: str) -> str:
    """The whole page of the report `text`. `command` is what was asked, word by word, and `tool` names who answered."""
    report = found if isinstance(found, PrivacyReport) else None
    curves = () if report is None else curves_of_privacy(question, report, _CURVES)
    program = f"<pre>{escape(question.program.core.source.text.rstrip())}</pre>\n"
    more = (closed_forms(curves, "1 less the probability at u"), section("Program", program))
    mood = "" if report is None else _MOODS[report.verdict]
    return text_page(text, command, tool, curves, more, mood)
