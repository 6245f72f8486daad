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

    `code` is stable ("E0104", a warning "W0601"); `message` one sentence without a full stop; `excerpt` the place, None
    where there is none (a missing file); `label` is printed behind the caret; `notes` say how to mend it, one sentence
    each.
    """

    code: str
    message: str
    excerpt: Excerpt | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    secondary: tuple[Label, ...] = ()

    @property
    def is_warning(self) -> bool:
        """Whether it is no mistake for certain, and stops nothing."""
        return self.code.startswith("W")


class DipcWarning(UserWarning):
    """Something that does not change the answer, and that a user should know."""


class DiagnosticError(Exception):
    """Raised by every room for bad input; carries at least one diagnostic. `str()` is what the command line prints:
    all of them, each with its code, its place, a caret and how to mend it."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        assert diagnostics
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def render(self, *, color: bool = False) -> str:
        """All diagnostics as text that ends with a newline; with `color`, for a terminal."""
        from dipc.diagnostics.render import render

        return render(self.diagnostics, color=color)
