"""Writing answers to stdout or to a file, and web pages, plots and certificates to files of their own.

A file is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

from dipc.above import VERSION
from dipc.cli.terminal import ClosedOutput, ExitCode, look_of, refused_result, write, write_diagnostics
from dipc.frozen import LazyModule, frozen
from dipc.outcome.outcome import Look, Outcome, render
from dipc.text.diagnostic import DiagnosticError, bad_input

Writer = Callable[[TextIO], None]

_LATER = {
    "theorems": "dipc.coq.theorems",
    "audit": "dipc.auditing",
    "certificates": "dipc.outcome.certificates",
    "classes": "dipc.outcome.classes",
    "compare": "dipc.simulation.compare",
    "conform": "dipc.simulation.conform",
    "estimate": "dipc.estimate",
    "errors": "dipc.outcome.expected_error",
    "execution": "dipc.execution",
    "executions": "dipc.outcome.runs",
    "experiments": "dipc.outcome.experiments",
    "formats": "dipc.outcome.formats",
    "html": "dipc.outcome.html",
    "latex": "dipc.outcome.formats",
    "pictures": "dipc.outcome.curves",
    "runs": "dipc.simulation.runs",
    "server": "dipc.editors.server",
    "suite": "dipc.suite.claims",
    "written": "dipc.inverse.solve",
}


#: The modules that commands import when they first need them, by their names in the commands. Most runs need none of
#: them, and some need libraries that are not always installed.
later = SimpleNamespace(**{name: LazyModule(module) for name, module in _LATER.items()})


#: The receiver of answers in a web page: it takes an answer, and the words of the command line that asks for it.
PAGE: ContextVar[Callable[[Outcome, Sequence[str]], None] | None] = ContextVar("page", default=None)


@frozen(kw_only=True)
class Output:
    """The destinations and formats of an answer, from the options of a command.

    `form` is the format of the answer, such as "json", and `target` its file, None for stdout. With `quiet` nothing is
    said about progress and written files. `html`, `plot`, `proof` and `junit` are the files of the web page, the
    picture, the certificate and the results of a suite, each None if it is not written. `cache` is the file with known
    decisions.
    """

    form: str = "text"
    target: Path | None = None
    quiet: bool = False
    html: Path | None = None
    plot: Path | None = None
    proof: Path | None = None
    junit: Path | None = None
    cache: Path | None = None

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Output:
        """Build the output from `given`, the values of a command's options."""
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})

    def check(self, *read: Path | None) -> None:
        """Refuse files that cannot be written or would be lost, before any work is done.

        Two results must not share one file, and no result may overwrite a file of `read`. Raises DiagnosticError.
        """
        others = {"--certificate": self.proof, "--plot": self.plot, "--html": self.html, "--junit": self.junit}
        check_target(self.target)
        for option, path in others.items():
            check_target(path, option)
        check_distinct({"-o": self.target, **others, "--cache": self.cache}, *read)
        if self.plot is not None:
            later.pictures.check_picture(self.plot)

    @property
    def look(self) -> Look:
        """The width and color of text for the place where the answer is written, stdout or a file."""
        return look_of(sys.stdout) if self.target is None else Look()

    def deliver(self, outcome: Outcome, command: Callable[[], Sequence[str]] = tuple) -> ExitCode:
        """Write the answer `outcome` with its web page, plot and certificate, and return the exit code.

        `command` gives the words of the command line that asks the question. Raises DiagnosticError if a file cannot be
        written, or there is no certificate.
        """
        if outcome.interrupted is not None:
            write(sys.stderr, outcome.interrupted + render(outcome, look_of(sys.stderr)))
            return ExitCode.INTERRUPTED
        page = PAGE.get()
        if page is not None:
            write_diagnostics(outcome.warnings)
            self._write(outcome)
            page(outcome, command())
            return ExitCode(outcome.standing.value)
        # Steps that may fail come first, as a printed verdict cannot be withdrawn.
        if self.html is not None:
            write_text(self.html, later.html.page(outcome, command(), TOOL))
            self._say(f"page written to {self.html}")
        if self.plot is not None:
            later.pictures.draw(self.plot, outcome)
            self._say(f"drawn to {self.plot}")
        if self.proof is not None:
            try:
                text = later.certificates.certificate(outcome, TOOL)
            except later.certificates.Uncertified as reason:
                note = f"without --certificate the answer is {outcome.line}"
                raise bad_input("E0903", f"there is no certificate: {reason}", note) from None
            write_text(self.proof, text)
            self._say(f"certificate of {len(text)} bytes written to {self.proof}: `dipc verify {self.proof}` checks it")
        if self.junit is not None:
            write_text(self.junit, later.suite.junit(outcome))
        write_diagnostics(outcome.warnings)
        self._write(outcome)
        if self.target is not None:
            self._say(f"{outcome.line} (answer written to {self.target})")
        return ExitCode(outcome.standing.value)

    def _write(self, outcome: Outcome) -> None:
        match self.form:
            case "json":
                write_result(self.target, lambda stream: later.formats.write_json(outcome, stream))
            case "csv":
                write_result(self.target, lambda stream: later.formats.write_csv(outcome, stream))
            case "latex":
                write_text(self.target, later.latex.render(outcome))
            case "github":
                write_text(self.target, later.suite.github(outcome))
            case "dot":
                assert outcome.graph is not None
                write_text(self.target, outcome.graph())
            case _ if self.quiet and outcome.line:
                write_text(self.target, outcome.line + "\n")
            case _:
                write_text(self.target, render(outcome, self.look))

    def _say(self, text: str) -> None:
        if not self.quiet:
            write(sys.stderr, f"{text}\n")


#: The name of the program in pages and certificates.
TOOL = f"dipc {VERSION}"


def check_target(path: Path | None, option: str = "-o") -> None:
    """Raise DiagnosticError, before any work is done, if no result can be written to `path`.

    The error names the option `option` that gave the path.
    """
    if path is None:
        if option == "-o" and isinstance(sys.stdout, ClosedOutput):
            raise _refused("the standard output is closed", "give the path of a file to `-o`")
        return
    directory = path.parent
    other = f"give another path to `{option}`"
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        raise _refused(f"`{directory}` is not a directory", other) from None
    except (OSError, ValueError) as error:  # too long for a path, or with a NUL character
        raise _refused(f"`{path}` is not a path: {getattr(error, 'strerror', None) or error}", other) from None
    if path.is_symlink() and Path(os.path.realpath(path)).is_symlink():
        raise _refused(f"`{path}` is a symbolic link that points to itself", other)
    if path.is_dir():
        raise _refused(f"`{path}` is a directory", f"give the path of a file to `{option}`")
    if not directory.is_dir():
        raise _refused(f"there is no directory `{directory}`", "make it first, or " + other)
    if not os.access(path if path.exists() else directory, os.W_OK):
        raise _refused(f"no permission to write `{path}`", other)


def check_table(path: Path | None) -> None:
    """Raise DiagnosticError if `path`, given as a table, is the path of a program."""
    if path is not None and path.suffix == ".dip":
        note = "give one program at a time: `dipc check PROG.dip TABLE.csv`"
        raise bad_input("E0801", f"`{path}` is a program, but a table is expected here", note)


def check_distinct(written: Mapping[str, Path | None], *read: Path | None) -> None:
    """Raise DiagnosticError if two options name one file, or an option names a file of `read`.

    `written` has the file that each option writes. Without this check, only the last result would remain, or the
    program or the table would be lost.
    """
    sources = {_file(path) for path in read} - {None}
    seen: dict[Path, str] = {}
    for option, path in written.items():
        file = _file(path)
        if file is None:
            continue
        if file in sources:
            raise _refused(
                f"`{option}` would overwrite `{path}`, which is an input of this command",
                "give the result a file of its own",
            )
        first = seen.setdefault(file, option)
        if first != option:
            raise _refused(f"`{path}` is given to both `{first}` and `{option}`", "give each one a file of its own")


def _file(path: Path | None) -> Path | None:
    """Return the regular file that exists or may be created at `path`; None for a device, and for an invalid path."""
    try:
        if path is not None and not path.exists():
            path = Path(str(path).partition("::")[0])  # the path of a mechanism FILE.py::NAME is FILE.py
        return None if path is None or (path.exists() and not path.is_file()) else Path(os.path.realpath(path))
    except (OSError, ValueError):  # too long for a path, or with a NUL character
        return None


def _refused(message: str, note: str) -> DiagnosticError:
    return bad_input("E0804", message, note)


def write_result(path: Path | None, writer: Writer) -> None:
    """Let `writer` write the result to stdout, or to the file `path`.

    The file is replaced only when the whole result has been written. A path that is not a regular file (a device, a
    pipe) is written to directly.
    """
    if path is None:
        try:
            writer(sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise DiagnosticError(refused_result("the standard output", error)) from error
        return
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
                writer(stream)
        else:
            # A link is resolved; one that leads back to itself is unchanged.
            with _replacing(Path(os.path.realpath(path))) as stream:
                writer(stream)
    except OSError as error:
        raise DiagnosticError(refused_result(f"`{path}`", error)) from error


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """Yield a stream whose content becomes the file `path` if the `with` block succeeds, and is discarded otherwise."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.umask(mask := os.umask(0))  # the mask can be read only by setting it
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | None, text: str) -> None:
    """Write `text` to stdout, or as a whole to the file `path`.

    If the encoding of stdout cannot hold the text, it is written there in ASCII.
    """
    if path is None:
        write(sys.stdout, text)
        return

    def writer(stream: TextIO) -> None:
        stream.write(text)

    write_result(path, writer)
