"""The answer of `dipc privacy` as a page."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.outcome import PrivacyReport, PrivacyVerdict
from dipc.report.curves import curves_of_privacy
from dipc.report.html.closed_forms import closed_forms
from dipc.report.html.text_page import program_section, text_page
from dipc.report.privacy import Found

_MOODS = {PrivacyVerdict.PRIVATE: "good", PrivacyVerdict.NOT_PRIVATE: "bad", PrivacyVerdict.UNDECIDED: "open"}

#: Inequalities that are drawn and written out.
_CURVES = 12


def privacy_page(
    question: PrivacyQuestion, found: Found, text: str, command: Sequence[str], tool: str, certificate: str | None
) -> str:
    """The whole page of the report `text`. `command` is what was asked, word by word, and `tool` names who answered; a
    `certificate` goes with it as a file to save."""
    report = found if isinstance(found, PrivacyReport) else None
    curves = () if report is None else curves_of_privacy(question, report, _CURVES)
    more = (closed_forms(curves, "1 less the probability at u"), program_section(question.program))
    mood = "" if report is None else _MOODS[report.verdict]
    return text_page(text, command, tool, curves, more, mood, certificate)
