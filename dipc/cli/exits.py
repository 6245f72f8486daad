"""Exit codes: what scripts may rely on."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dipc.obligations.verdict import Verdict
    from dipc.privacy.outcome import PrivacyVerdict


class ExitCode(IntEnum):
    """The meaning of each exit code of every command."""

    ACCURATE = 0
    INACCURATE = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL_ERROR = 70
    INTERRUPTED = 130  # 128 + SIGINT, as shells report it
    BROKEN_PIPE = 141  # 128 + SIGPIPE


def exit_code(verdict: Verdict, *, vacuous: bool = False) -> ExitCode:
    """The exit code that says a verdict; `vacuous`: that it holds says too little."""
    return {
        "accurate": ExitCode.UNDECIDED if vacuous else ExitCode.ACCURATE,
        "inaccurate": ExitCode.INACCURATE,
        "undecided": ExitCode.UNDECIDED,
    }[verdict]


def privacy_exit_code(verdict: PrivacyVerdict) -> ExitCode:
    """The exit code that says a verdict about privacy."""
    return {
        "private": ExitCode.ACCURATE,
        "not private": ExitCode.INACCURATE,
        "undecided": ExitCode.UNDECIDED,
    }[verdict]
