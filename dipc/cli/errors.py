"""Exit codes, and the way to them from exceptions: bad input is explained, a defect is owned up to."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

import click

from dipc.algebra.limits import Undecided
from dipc.cli.terminal import drop, refused_result, write, write_diagnostics
from dipc.text.diagnostic import Diagnostic, DiagnosticError, listing, mistyped


class ExitCode(IntEnum):
    """The meaning of each exit code of every command."""

    ACCURATE = 0
    INACCURATE = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL_ERROR = 70
    INTERRUPTED = 130  # 128 + SIGINT, as shells report it
    BROKEN_PIPE = 141  # 128 + SIGPIPE


#: Set to 1 to see the Python traceback of an internal error.
TRACEBACK_VARIABLE = "DIPC_TRACEBACK"


def guarded(command: Callable[[], int]) -> int:
    """Run `command`; whatever it raises becomes a message on stderr and an exit code."""
    try:
        return command()
    except DiagnosticError as error:
        write_diagnostics(error.diagnostics)
        return ExitCode.BAD_INPUT
    except click.exceptions.NoArgsIsHelpError as error:
        write(sys.stderr, error.format_message() + "\n")
        return ExitCode.BAD_INPUT
    except click.UsageError as error:
        write_diagnostics([usage_diagnostic(error)])
        return ExitCode.BAD_INPUT
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except Undecided as undecided:
        write(sys.stderr, f"undecided: {undecided.reason}\n")
        return ExitCode.UNDECIDED
    except (KeyboardInterrupt, click.Abort) as interrupt:
        where = f" while {interrupt.args[0]}; nothing was decided" if interrupt.args else ""
        write(sys.stderr, f"interrupted{where}\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        drop(sys.stdout)
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        write_diagnostics([_environment(error)])
        return ExitCode.BAD_INPUT
    except MemoryError:
        return _internal("the memory is used up", "no verdict was given; fewer rows at a time need less of it")
    except RecursionError:
        return _internal("the recursion limit was reached", *_DEFECT)
    except Exception as error:
        text = " ".join(str(error).split())
        return _internal(f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__, *_DEFECT)


def _environment(error: OSError) -> Diagnostic:
    """A failure of the operating system that no command foresaw."""
    place = f"`{error.filename}`: " if error.filename else ""
    message = f"{place}{error.strerror or error}"
    return Diagnostic("E0810", message, notes=("no verdict was given",))


_DEFECT = (
    "this is a defect of dipc, not of your input, and no verdict was given",
    "please report it, with the program, the table and the command line",
)


def _internal(summary: str, *notes: str) -> ExitCode:
    shown = [f"internal error: {summary}", *(f"  = note: {note}" for note in notes)]
    if os.environ.get(TRACEBACK_VARIABLE) == "1":
        shown.append(traceback.format_exc().rstrip())
    else:
        shown.append(f"  = help: {TRACEBACK_VARIABLE}=1 in the environment shows where it happened")
    write(sys.stderr, "\n".join(shown) + "\n")
    return ExitCode.INTERNAL_ERROR


# --- usage -----------------------------------------------------------------------------------------


def usage_diagnostic(error: click.UsageError) -> Diagnostic:
    """A usage error found by click, in the style of every other diagnostic."""
    path = error.ctx.command_path if error.ctx is not None else "dipc"
    notes = [f"`{path} --help` shows the usage"]
    match error:
        case click.NoSuchOption():
            message = f"there is no option `{error.option_name}`"
            notes[:0] = _options_like(error)
        case click.MissingParameter():
            message = _missing(error)
        case click.BadParameter():
            hint = error.param.opts[-1] if error.param is not None else "the value"
            message = f"`{hint}`: {_sentence(error.message)}"
        case _:
            message = _sentence(error.format_message())
    return Diagnostic("E0801", message, notes=tuple(notes))


def _options_like(error: click.NoSuchOption) -> list[str]:
    """The option that was meant: of this command, or of others."""
    if error.ctx is None:
        return []
    cli = error.ctx.find_root().command
    assert isinstance(cli, click.Group)
    close = mistyped(error.option_name, _options(error.ctx.command))
    if close:
        return [f"did you mean `{close}`?"]
    others = [
        name
        for name in cli.list_commands(error.ctx)
        if (command := cli.get_command(error.ctx, name)) is not None and error.option_name in _options(command)
    ]
    return (
        [f"{listing(f'dipc {name}' for name in others)} {'takes' if len(others) == 1 else 'take'} it"] if others else []
    )


def _options(command: click.Command) -> list[str]:
    return [name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts]


def _missing(error: click.MissingParameter) -> str:
    parameter = error.param
    if parameter is None:
        return _sentence(error.format_message())
    if isinstance(parameter, click.Argument):
        return f"{parameter.make_metavar(error.ctx)} is missing" if error.ctx else f"{parameter.name} is missing"
    return f"the option `{parameter.opts[-1]}` is missing"


def _sentence(text: str) -> str:
    """Click's sentence in the form of a diagnostic's message."""
    text = text.rstrip(".").replace("'", "`")
    return text[:1].lower() + text[1:]


def leave(code: int) -> NoReturn:
    """End the process, quietly even if nobody reads its output any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        code = ExitCode.BROKEN_PIPE
    except OSError as error:
        write_diagnostics([refused_result("the standard output", error)])
        drop(sys.stdout)
        code = ExitCode.BAD_INPUT
    sys.exit(int(code))
