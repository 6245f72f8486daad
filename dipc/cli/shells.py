"""What shells ask: completion, and the manual page, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.shell_completion import get_completion_class, shell_complete

from dipc import __version__
from dipc.cli.main import COMMANDS, COMPLETE, cli


def script(shell: str) -> str:
    """The script with which a shell asks what may follow on a command line: bash, zsh or fish."""
    known = get_completion_class(shell)
    assert known is not None
    found = known(cli, {}, "dipc", COMPLETE)
    return found.source_template % found.source_vars()


def complete(instruction: str) -> int:
    """Tell a shell what may follow, or how it asks; the exit code."""
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for param in command.params:
            if param.type.name == "Path":
                param.type = click.Path()  # the names of files
    return shell_complete(cli, {}, "dipc", COMPLETE, instruction)


# --- the manual page -------------------------------------------------------------------------------


def page() -> str:
    """The page in the macros of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH DIPC 1 "" "dipc {__version__}" "User Commands"'
    yield from (".SH NAME", r"dipc \- decides exactly whether differentially private mechanisms are accurate")
    yield from (".SH SYNOPSIS", ".B dipc", r"\fICOMMAND\fR [\fIOPTIONS\fR] \fIARGUMENTS\fR")
    yield from (".SH DESCRIPTION", _plain(cli.help or ""))
    yield ".SH COMMANDS"
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        context = click.Context(command, info_name=f"dipc {name}")
        yield from (f".SS {_plain(' '.join([f'dipc {name}', *command.collect_usage_pieces(context)]))}",)
        yield _plain((command.help or "").replace("\b", ""))
        for param in command.params:
            record = param.get_help_record(context)
            if record is not None:
                yield from (".TP", rf"\fB{_plain(record[0])}\fR", _plain(record[1]))
    yield from (".SH EXIT STATUS", "0 accurate (or done), 1 inaccurate, 2 bad input, 3 undecided, 70 internal error.")


def _plain(text: str) -> str:
    """The text with nothing in it that would be a request."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    line = "".join(letter if letter.isascii() else rf"\[u{ord(letter):04X}]" for letter in line)
    return rf"\&{line}" if line.startswith((".", "'")) else line
