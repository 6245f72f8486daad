"""What goes wrong while a program runs, before the path that leads there is known."""

from __future__ import annotations

from dipc.chain.codes import Code
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span


class Fault(Exception):
    """A diagnostic in the making: whoever explores adds the path and raises `DiagnosticError`."""

    def __init__(self, code: Code, message: str, span: Span, label: str, *notes: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.label = label
        self.notes = notes

    def noting(self, *more: str) -> Fault:
        """The same with more notes."""
        return Fault(self.code, self.message, self.span, self.label, *self.notes, *more)

    def diagnosed(self, source: Source, *more: str) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(self.code, self.message, source.excerpt(self.span), self.label, (*self.notes, *more))
        )
