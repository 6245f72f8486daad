"""Diagnostics: a code, a message, the place, and notes that say how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.diagnostics.source import Excerpt


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place and how it is related ("declared here")."""

    excerpt: Excerpt
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong with what the user gave.

    `code` is stable ("E0104"); `message` one sentence without a full stop; `excerpt` the place, None where there
    is none (a missing file); `label` is printed behind the caret; `notes` say how to mend it, one sentence each.
    """

    code: str
    message: str
    excerpt: Excerpt | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    secondary: tuple[Label, ...] = ()


class DipcWarning(UserWarning):
    """Something that does not change the answer, and that a user should know."""


class DiagnosticError(Exception):
    """Raised by every room for bad input; carries at least one diagnostic."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        assert diagnostics
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics
