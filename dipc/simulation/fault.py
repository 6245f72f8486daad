"""What can go wrong while a program runs, as diagnostics at the statement that did it."""

from __future__ import annotations

from enum import StrEnum

from dipc.diagnostics.diagnostic import DiagnosticError


class Code(StrEnum):
    """The codes of the diagnostics of a simulation; the first four are those of the chain, which finds the same."""

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
    LOOP_LIMIT = "E0720"
    NO_DISTRIBUTION = "E0721"
    BEYOND_FLOATS = "E0722"


class LoopLimitReached(DiagnosticError):
    """Some run was still inside a `while` after the greatest number of rounds."""
