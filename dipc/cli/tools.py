"""Commands around the others: `dipc verify`, `lsp`, `schema`, `completion`, `serve` and `bench`."""

from __future__ import annotations

import os
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.shell_completion import get_completion_class, shell_complete

import dipc
from dipc import __version__
from dipc.cli.option_table import takes
from dipc.cli.options import parse_definitions
from dipc.cli.output import check_target, later, write_text
from dipc.cli.terminal import COMPLETE, ExitCode, ProgressBar, write
from dipc.program.program import SEPARATOR, source_at, validate_source
from dipc.text.diagnostic import bad_input
from dipc.verifier.command import EXPECTED_OPTIONS, NOT_TO_THE_END, read_certificate
from dipc.verifier.command import verify as checked
from dipc.verifier.document import read_document
from dipc.verifier.reading import STEPS, Budget, Exhausted, Rejected, Unreadable, UnusableArgument
from dipc.verifier.statement import Expected

_CHECKOUT = Path(dipc.__file__).resolve().parent.parent

_SCHEMAS = _CHECKOUT / "dipc" / "schemas"

_VERIFY_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv --certificate proof.json
  dipc verify proof.json --program sparse.dip --table table.csv --expect accurate
  dipc verify proof.json --program sparse.dip --expect accurate --beta "exp(-eps)"
  dipc verify proof.json --coq proof.v && coqc proof.v

\b
With --coq each obligation becomes a theorem: Coq checks that the written function
is at least 1 - beta for every eps of the claim, or fails at the stated eps.
A row of a program with Laplace noise becomes a theorem, too: Coq checks the
probability of its answer from the program, as an iterated integral. What has no
theorem is counted. Coq needs Coquelicot and Coq-Interval.

\b
The same checker runs with Python alone: python -P -m dipc.verifier FILE,
or as one file made by: python -P -m dipc.verifier --export verify.pyz
The format: dipc/certificate/FORMAT.md, beside the installed package's code.

\b
The first line is the theorem that was proved. With --expect, or any part of a
claim, dipc compares it with the expected claim. Each part of the expected claim
is that of the option, else of the claim block of --program, else the proved one.
The expected claim is met if the theorem implies it.

\b
Exit codes: 0 accepted, nothing taken on trust, and the expected claim is met;
1 rejected, or not met; 2 unreadable, of another version, or bad usage;
3 undecided, or accepted in part (some rows have no proof, or something was taken
on trust: the first line says what), or not checked to the end, because that takes
too much work or memory; 70 internal error.
"""


def _expected_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    for option, words in reversed(EXPECTED_OPTIONS):
        command = click.option(option, metavar="TEXT", help=f"{words[0].upper()}{words[1:]}.")(command)
    return command


@click.command(epilog=_VERIFY_EPILOG)
@click.argument("certificate_path", metavar="FILE", type=Path)
@takes("--program --table -D --steps --coq --expect --inputs~expected")
@_expected_options
@takes("--quiet,-q~theorem")
def verify(certificate_path: Path, program_path: Path | None, quiet: bool, **given: Any) -> ExitCode:
    """Check a certificate of `dipc check` or `dipc privacy`.

    The checker executes the program anew and derives every step again, or names the first wrong one.
    """
    table_path, coq_path, steps = (given.pop(name) for name in ("table_path", "coq_path", "steps"))
    constants = parse_definitions(given.pop("definitions"))
    if constants and program_path is None:
        note = "give the program, too: `--program PROG.dip`"
        raise bad_input("E0901", "-D sets a constant of a program, but no program is given", note)

    check_target(coq_path, "--coq")
    budget = Budget(STEPS if steps is None else steps)
    certificate: Path | str = certificate_path
    theorems = None
    try:
        with ProgressBar(f"checking {certificate_path}", silent=quiet), TemporaryDirectory() as kept:
            if program_path is not None and SEPARATOR in str(program_path):
                # The checker reads only programs of the language, so a mechanism is translated first.
                source, program_path = source_at(program_path), Path(kept, "program.dip")
                validate_source(source, constants)
                text = source.in_language.text
                program_path.write_text(text, encoding="utf-8")
            if coq_path is not None:
                # The inequalities are those of the text that is checked.
                text = read_certificate(certificate_path)
                certificate = text if text.lstrip()[:1] == "{" else certificate
            accepted = checked(
                certificate,
                program=program_path,
                table=table_path,
                constants=constants,
                budget=budget,
                expected=Expected(given.pop("expect"), given.pop("inputs") is not None, **given),
            )
            if isinstance(certificate, str):
                theorems = later.theorems.write_theorems(read_document(certificate), budget)
    except UnusableArgument as error:
        raise bad_input("E0905", error.why, error.note) from None
    except Unreadable as error:
        why = "standard input is not read" if str(certificate_path) == "-" else error.why
        message = f"`{certificate_path}` cannot be read: {why}"
        raise bad_input("E0902", message, "give a file that `dipc check … --certificate FILE` wrote") from None
    except Rejected as error:
        write(sys.stdout, f"rejected: {error}\n")
        return ExitCode.INACCURATE
    except Exhausted as error:
        write(sys.stdout, f"{NOT_TO_THE_END.format(error)}\n")
        return ExitCode.UNDECIDED
    except later.theorems.UnsupportedError as error:
        note = f"without --coq it is checked as usual: `dipc verify {certificate_path}`"
        raise bad_input("E0904", f"there are no theorems of `{certificate_path}`: {error}", note) from None
    lines = accepted.headline() if quiet else list(accepted.lines())
    if theorems is not None and coq_path is not None:
        # Nothing is printed before the file is written, as a failure to write is not a success.
        write_text(coq_path, theorems.text)
        lines[0] += f"; {coq_path}: {theorems.summary}"
    write(sys.stdout, "\n".join(lines) + "\n")
    return ExitCode(accepted.exit_code)


_LSP_EPILOG = """
\b
Editors start it: it speaks the Language Server Protocol on standard input and output.
"""


@click.command(epilog=_LSP_EPILOG)
def lsp() -> ExitCode:
    """Serve an editor: report mistakes, show the meaning and place of names, and format programs. Needs pygls."""
    try:
        made = later.server.made
    except ModuleNotFoundError as missing:
        if missing.name not in {"pygls", "lsprotocol"}:
            raise
        note = "install it: in a checkout pip install '.[lsp]', elsewhere pip install pygls"
        raise bad_input("E0811", "pygls is not installed", note) from None
    if not (hasattr(sys.stdin, "buffer") and hasattr(sys.stdout, "buffer")):
        note = "an editor starts `dipc lsp` and talks to it through standard input and output"
        raise bad_input("E0813", "standard input or output is closed", note)
    made().start_io()
    return ExitCode.ACCURATE


#: The address to which only this machine can connect.
HOST = "127.0.0.1"

_PACKAGE = "dipc_playground"

#: The content security policy: the page loads only its own files.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_SERVE_EPILOG = """
\b
Examples:
  dipc serve
  dipc serve --port 0 --no-open
"""


@click.command(epilog=_SERVE_EPILOG)
@takes("--port --open/--no-open")
def serve(port: int, opens: bool) -> ExitCode:
    """Open the playground: programs and claims in a browser, checked as you type.

    The page runs dipc itself; this command only serves its files, and only to this machine. It needs the distribution
    dipc-playground.
    """
    site = _site()
    with server(site, port) as running:
        address = f"http://{HOST}:{running.server_address[1]}/"
        write(sys.stdout, f"{address} (Ctrl-C ends it)\n")
        if opens:
            webbrowser.open(address)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            write(sys.stderr, "\n")
    return ExitCode.ACCURATE


def _site() -> Path:
    spec = find_spec(_PACKAGE)
    places = [] if spec is None else [Path(place, "site") for place in spec.submodule_search_locations or ()]
    for place in places:
        if (place / "index.html").is_file():
            return place
    note = "in a checkout, `make playground` builds and installs it"
    raise bad_input("E0810", "the playground is a separate package, which is not installed", note)


def server(site: Path, port: int) -> ThreadingHTTPServer:
    """A server for the files of `site` on `port`; 0 is any free port.

    Raises DiagnosticError for a port that is in use.
    """
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Files, directory=str(site)))
    except OSError as error:
        note = "give another one to `--port`; 0 takes any free port"
        raise bad_input("E0810", f"port {port} is not available: {error.strerror or error}", note) from error


class _Files(SimpleHTTPRequestHandler):
    """The handler of requests for the files of dipc's local page; it refuses requests that name another host."""

    extensions_map = {  # noqa: RUF012 - as in the class that it extends
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        # A foreign page whose host name resolves to this machine must not read its files.
        name = self.headers.get("Host", "").rpartition(":")[0]
        if name not in {HOST, "localhost"}:
            self.send_error(421)
            return False
        return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the standard library's
        pass


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> int:
    """Compare with the paper: run the benchmarks of a checkout."""
    if not (_CHECKOUT / "benchmarks" / "__main__.py").is_file():
        note = "in a checkout of the repository, `python -m benchmarks` or `make bench` runs them"
        raise bad_input("E0807", "the benchmarks are not part of the installed package", note)
    path = os.pathsep.join([str(_CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "DIPC_BENCH": "dipc bench"}
    finished = subprocess.run(  # noqa: S603 - this very interpreter with this checkout's own module
        [sys.executable, "-m", "benchmarks", *arguments], env=environment, check=False
    )
    return finished.returncode


_COMPLETION_EPILOG = """
\b
Examples:
  dipc completion bash > ~/.local/share/bash-completion/completions/dipc
  dipc completion zsh > ~/.zfunc/_dipc           (~/.zfunc in fpath)
  dipc completion fish > ~/.config/fish/completions/dipc.fish
  dipc completion man > ~/.local/share/man/man1/dipc.1
"""


@click.command(epilog=_COMPLETION_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "man"]))
def completion(shell: str) -> ExitCode:
    """Print the script with which a shell completes commands, options and files of `dipc`; or the manual page."""
    commands = click.get_current_context().find_root().command
    assert isinstance(commands, click.Group)
    write(sys.stdout, page(commands) if shell == "man" else script(commands, shell))
    return ExitCode.ACCURATE


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
def schema(name: str | None) -> ExitCode:
    """Print the JSON Schema of what a command prints with `--format json`; without a name, list all."""
    known = {path.stem.rpartition("-")[0]: path for path in sorted(_SCHEMAS.glob("*.json"))}
    if name is None:
        for each, path in known.items():
            write(sys.stdout, f"{each:<10}dipc.{path.stem.replace('-', '/')}\n")
        return ExitCode.ACCURATE
    if name not in known:
        raise bad_input("E0816", f"there is no schema of `{name}`", f"the schemas are {', '.join(known)}")
    write(sys.stdout, known[name].read_text(encoding="utf-8"))
    return ExitCode.ACCURATE


# --- Completion in shells, and the manual page ------------------------------------------------------------------------


def script(commands: click.Group, shell: str) -> str:
    """Return the completion script for `commands` in `shell`: bash, zsh or fish."""
    known = get_completion_class(shell)
    assert known is not None
    completion = known(commands, {}, "dipc", COMPLETE)
    return completion.source_template % completion.source_vars()


def complete(commands: click.Group, instruction: str) -> int:
    """Print what a shell requests for the completion of `commands`, and return the exit code.

    `instruction` is the name of the shell with its request, such as "bash_source" for the script that sets completion
    up or "bash_complete" for the completions of a line.
    """
    for _, command in _each(commands):
        for param in command.params:
            if param.type.name == "Path":
                param.type = click.Path()  # complete the names of files
    return shell_complete(commands, {}, "dipc", COMPLETE, instruction)


def _each(commands: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(commands)
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        assert command is not None
        yield name, command


# --- the manual page -------------------------------------------------------------------------------


def page(commands: click.Group) -> str:
    """Return the manual page of `commands`, in the macros of man(7)."""
    return "\n".join(_lines(commands)) + "\n"


def _lines(commands: click.Group) -> Iterator[str]:
    yield f'.TH DIPC 1 "" "dipc {__version__}" "User Commands"'
    yield from (".SH NAME", r"dipc \- decides exactly whether differentially private mechanisms are accurate")
    yield from (".SH SYNOPSIS", ".B dipc", r"\fICOMMAND\fR [\fIOPTIONS\fR] \fIARGUMENTS\fR")
    yield from (".SH DESCRIPTION", _plain(commands.help or ""))
    yield ".SH COMMANDS"
    for name, command in _each(commands):
        context = click.Context(command, info_name=f"dipc {name}")
        yield from (f".SS {_plain(' '.join([f'dipc {name}', *command.collect_usage_pieces(context)]))}",)
        yield _plain((command.help or "").replace("\b", ""))
        for param in command.params:
            record = param.get_help_record(context)
            if record is not None:
                yield from (".TP", rf"\fB{_plain(record[0])}\fR", _plain(record[1]))
    yield from (".SH EXIT STATUS", "0 accurate (or done), 1 inaccurate, 2 bad input, 3 undecided, 70 internal error.")


def _plain(text: str) -> str:
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    line = "".join(letter if letter.isascii() else rf"\[u{ord(letter):04X}]" for letter in line)
    return rf"\&{line}" if line.startswith((".", "'")) else line
