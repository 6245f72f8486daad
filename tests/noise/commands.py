"""Commands of dipc, run within a test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dipc.cli.main import main

#: Runs a command, given by its words, and returns the exit code with everything that is printed.
Run = Callable[..., tuple[int, str]]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """A runner of commands, in which an internal error fails the test."""

    def dipc(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        shown = capsys.readouterr()
        assert stop.value.code != 70, shown.err
        return int(stop.value.code or 0), shown.out + shown.err

    return dipc
