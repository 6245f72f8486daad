"""What goes wrong while a text is read, before it is known to which source the text belongs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from dipc.diagnostics.source import Source, Span
from dipc.lang.limits import MAX_NESTING


class SyntaxCode(StrEnum):
    """E01xx: the text itself. A code, once given, keeps its meaning."""

    STRAY_CHARACTER = "E0101"
    UNEXPECTED = "E0102"
    UNEXPECTED_END = "E0103"
    TOO_MANY = "E0104"
    TOO_DEEP = "E0105"
    NUMBER_TOO_LARGE = "E0106"
    TEXT_TOO_LONG = "E0107"
    BAD_POWER = "E0108"
    BAD_CALL = "E0109"
    KEYWORD_AS_NAME = "E0110"
    BAD_CLAIM_FIELD = "E0111"
    BAD_INTERVAL = "E0112"
    BAD_METRIC_FIELD = "E0113"


@dataclass(eq=False)
class Problem(Exception):
    """One syntax error, placed by a span. The parser is shared by all sources, so the source is added last."""

    code: SyntaxCode
    span: Span
    message: str
    label: str = ""
    notes: tuple[str, ...] = ()
    secondary: tuple[tuple[Span, str], ...] = ()

    def located(self, source: Source) -> DiagnosticError:
        """The same problem as a diagnostic of `source`."""
        secondary = tuple(Label(source.excerpt(span), text) for span, text in self.secondary)
        excerpt = source.excerpt(self.span)
        return DiagnosticError(Diagnostic(self.code, self.message, excerpt, self.label, self.notes, secondary))


def too_deep(span: Span) -> Problem:
    """The refusal of what would make the tree more than MAX_NESTING levels high."""
    return Problem(
        SyntaxCode.TOO_DEEP,
        span,
        f"this is nested more than {MAX_NESTING} levels deep",
        f"level {MAX_NESTING + 1}",
        (
            "name parts of a long expression with intermediate variables",
            "use arrays and `for` for repetition, and close blocks before opening others",
        ),
    )
