"""The terminal of the command line: its colors, its progress line, and the exit codes of exceptions.

Bad input is explained; a defect of dipc is reported as a defect.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from enum import IntEnum
from types import TracebackType
from typing import NoReturn, TextIO

import click

from dipc.algebra.limits import Undecided
from dipc.outcome.outcome import Look, to_ascii
from dipc.text.diagnostic import DefectError, Diagnostic, DiagnosticError, listing, mistyped, render

#: The environment variable with which a shell requests completions.
COMPLETE = "_DIPC_COMPLETE"


class ClosedOutput(io.TextIOBase):
    """The substitute for a standard output that was closed before the process began: every write fails."""

    encoding = "utf-8"

    def write(self, _text: str) -> int:
        """Raise OSError."""
        raise OSError(errno.EBADF, "it is closed")


def open_standard_streams() -> None:
    """Open every closed standard stream, so that no file opened later takes its file descriptor.

    Text for a closed stderr is lost; a closed stdout refuses it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the new file gets the least free number, which is this one
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - as long as the process lives


def wants_color(stream: TextIO) -> bool:
    """True if `stream` is a color terminal whose user did not forbid color (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def look_of(stream: TextIO) -> Look:
    """Return the look of a text on `stream`: whether it has color, and its width, 80 columns by default."""
    return Look(width=shutil.get_terminal_size(fallback=(80, 24)).columns, color=wants_color(stream))


def write(stream: TextIO, text: str) -> None:
    """Write `text` to `stream` and flush it, in ASCII if the encoding of the stream cannot hold it.

    A failure of stderr is ignored. Raises DiagnosticError if stdout accepts no result, BrokenPipeError if its reader is
    gone.
    """
    try:
        text.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = to_ascii(text)
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is sys.stderr:
            drop(stream)
        elif isinstance(error, BrokenPipeError):
            raise
        else:
            raise DiagnosticError(refused_result("the standard output", error)) from error


def refused_result(where: str, error: OSError) -> Diagnostic:
    """Return the diagnostic for a result that could not be written `where`, because of `error`.

    A note says that no verdict was given, and that text written before the error has to be ignored.
    """
    notes = ("no verdict was given: ignore whatever was written before this",)
    return Diagnostic("E0804", f"{where} cannot be written: {error.strerror or error}", notes=notes)


def write_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Show `diagnostics`, if there are any, on stderr."""
    if not diagnostics:
        return
    text = render(diagnostics, color=wants_color(sys.stderr))
    write(sys.stderr, text if text.endswith("\n") else text + "\n")


def drop(stream: TextIO) -> None:
    """Redirect `stream`, a standard stream, to the null device, so that the interpreter's last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):  # a stream without a file has no last flush
        pass
    finally:
        os.close(nowhere)


# --- progress --------------------------------------------------------------------------------------


#: Seconds before the line appears, and between two updates. Quick commands show no line.
_PATIENCE = 1.0
_INTERVAL = 0.2

#: The text that returns to the beginning of the line and clears it.
_CLEAR = "\r\x1b[2K"


#: The receiver of progress in a web page, where no terminal shows it.
PROGRESS: ContextVar[Callable[[int, int | None], None] | None] = ContextVar("progress", default=None)


class ProgressBar:
    """A line that shows the current stage, the number of cases done, and the time it has taken.

    The object is a context manager, and is called with the number of cases done and the number of all cases (None:
    unknown). The line appears only on a terminal, and disappears at the end of the `with` block. A timer redraws it, so
    that it changes during any computation. A KeyboardInterrupt that leaves the block says how many cases were done.
    """

    def __init__(self, what: str, *, silent: bool = False) -> None:
        self._what = what
        self._silent = silent or not sys.stderr.isatty()
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._count: tuple[int, int | None] | None = None
        self._shown = False
        self._ticking = False

    def __enter__(self) -> ProgressBar:
        # The alarm signal can be used if it exists, has no handler, and this is the main thread.
        in_main = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        if not self._silent and in_main and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            self._ticking = True
            signal.signal(signal.SIGALRM, lambda *_: self._show())
            signal.setitimer(signal.ITIMER_REAL, max(_PATIENCE, 0.001), max(_INTERVAL, 0.001))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticking:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if self._shown:
            self._write(_CLEAR)
        if isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = (self.status(),)

    def stage(self, what: str) -> None:
        """Start the progress stage `what` and show it."""
        self._what, self._count = what, None

    def __call__(self, done: int, total: int | None) -> None:
        self._count = done, total
        listener = PROGRESS.get()
        if listener is not None:
            listener(done, total)
        if not self._silent and time.monotonic() >= self._next:
            self._show()

    def status(self) -> str:
        """The stage and the count as text, for example `checking sparse, 5 of 27 done`."""
        if self._count is None:
            return self._what
        done, total = self._count
        return f"{self._what}, {done}{'' if total is None else f' of {total}'} done"

    def _show(self) -> None:
        now = time.monotonic()
        self._next = now + _INTERVAL
        self._shown = True
        self._write(f"{_CLEAR}{self.status()}, {now - self._begun:.0f} s")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, RuntimeError):  # the terminal is gone, or an alarm came during another write
            self._silent = True


class ExitCode(IntEnum):
    """The meaning of each exit code, the same for every command."""

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
    """Run `command` and turn its exceptions into messages on stderr and an exit code."""
    try:
        return command()
    except DefectError as error:
        write_diagnostics(error.diagnostics)
        return ExitCode.INTERNAL_ERROR
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
        place = f"`{error.filename}`: " if error.filename else ""
        message = f"{place}{error.strerror or error}"
        write_diagnostics([Diagnostic("E0810", message, notes=("no verdict was given",))])
        return ExitCode.BAD_INPUT
    except MemoryError:
        return _internal(
            "the memory is used up", "no verdict was given; check fewer rows at a time to need less memory"
        )
    except RecursionError:
        return _internal("the recursion limit was reached", *_DEFECT)
    except Exception as error:
        text = " ".join(str(error).split())
        return _internal(f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__, *_DEFECT)


_DEFECT = (
    "this is a defect of dipc, not of your input, and no verdict was given",
    "please report it, with the program, the table and the command line",
)


def _internal(summary: str, *notes: str) -> ExitCode:
    lines = [f"internal error: {summary}", *(f"  = note: {note}" for note in notes)]
    if os.environ.get(TRACEBACK_VARIABLE) == "1":
        lines.append(traceback.format_exc().rstrip())
    else:
        lines.append(f"  = help: {TRACEBACK_VARIABLE}=1 in the environment shows where it happened")
    write(sys.stderr, "\n".join(lines) + "\n")
    return ExitCode.INTERNAL_ERROR


# --- usage -----------------------------------------------------------------------------------------


def usage_diagnostic(error: click.UsageError) -> Diagnostic:
    """Return the diagnostic for the usage `error` that click found."""
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
    text = text.rstrip(".").replace("'", "`")
    return text[:1].lower() + text[1:]


def leave(code: int) -> NoReturn:
    """End the process with exit code `code`, or with another code if its last output cannot be written.

    If the reader of the output is gone, as after `| head`, no error is printed.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        code = ExitCode.BROKEN_PIPE
    except OSError as error:
        write_diagnostics([refused_result("the standard output", error)])
        drop(sys.stdout)
        code = ExitCode.BAD_INPUT
    except ValueError:  # it is closed already, as by `dipc lsp` at the end of a session
        sys.stdout = ClosedOutput()
    sys.exit(int(code))
