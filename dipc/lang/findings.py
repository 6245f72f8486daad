"""Collecting what is wrong with one program, so that all of it is said at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from dipc.diagnostics.source import Source, Span
from dipc.lang.codes import Code

#: How many findings are shown; the rest are counted.
SHOWN = 50
_SNIPPET = 40


@dataclass(frozen=True, slots=True)
class _Finding:
    code: Code
    span: Span | None
    message: str
    label: str
    notes: tuple[str, ...]
    secondary: tuple[tuple[Span, str], ...]


class Findings:
    """The findings found so far in one source. The same code at the same place is kept once: a statement that was
    unrolled a hundred times is still one statement in the text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: dict[object, _Finding] = {}

    def __len__(self) -> int:
        return len(self._found)

    def report(
        self,
        code: Code,
        span: Span | None,
        message: str,
        *,
        label: str = "",
        notes: Sequence[str] = (),
        secondary: Sequence[tuple[Span, str]] = (),
        once: object = None,
    ) -> None:
        """Add a problem at `span` (None: it has no place in the text), unless its like has been added before.

        Likeness is the code and the span, or `once` where that is given.
        """
        key = (code, span if span is not None else message) if once is None else (code, once)
        self._found.setdefault(key, _Finding(code, span, message, label, tuple(notes), tuple(secondary)))

    def snippet(self, span: Span) -> str:
        """The text at `span` on one line, shortened when it is long."""
        text = " ".join(self.source.text[span.start : min(span.end, span.start + 400)].split())
        return text if len(text) <= _SNIPPET else text[: _SNIPPET - 3] + "..."

    def raise_if_any(self) -> None:
        """Raises DiagnosticError with everything that was reported, in the order of the text."""
        if not self._found:
            return
        ordered = sorted(self._found.values(), key=lambda found: (found.span.start if found.span else -1, found.code))
        diagnostics = [self._resolved(finding) for finding in ordered[:SHOWN]]
        if len(ordered) > SHOWN:
            rest = len(ordered) - SHOWN
            message = f"{rest} more {'error is' if rest == 1 else 'errors are'} not shown"
            diagnostics.append(Diagnostic(Code.MORE_ERRORS, message, notes=("mend the ones above first",)))
        raise DiagnosticError(*diagnostics)

    def _resolved(self, finding: _Finding) -> Diagnostic:
        excerpt = self.source.excerpt
        return Diagnostic(
            finding.code.value,
            finding.message,
            None if finding.span is None else excerpt(finding.span),
            finding.label,
            finding.notes,
            tuple(Label(excerpt(span), text) for span, text in finding.secondary),
        )
