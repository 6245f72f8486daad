"""`dipc serve`: the playground in a browser, from this machine alone."""

from __future__ import annotations

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import click

from dipc.cli.exits import ExitCode
from dipc.cli.terminal import write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

#: Nobody else can connect here.
HOST = "127.0.0.1"

#: The port unless told otherwise: a link to the page is the same on every day.
PORT = 8437

_PACKAGE = "dipc_playground"

#: The page may load its own files, and ask nobody else for anything.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_EPILOG = """
\b
Examples:
  dipc serve
  dipc serve --port 0 --no-open
"""


@click.command(epilog=_EPILOG)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help=f"{PORT} by default; 0 is any free one.")
@click.option("--open/--no-open", "opens", default=True, help="Open a browser, too; by default it does.")
def serve(port: int, opens: bool) -> ExitCode:
    """Open the playground: programs and claims in a browser, checked as they are typed.

    The page runs dipc itself; this command only hands out its files, to this machine alone. It needs the distribution
    dipc-playground.
    """
    site = _site()
    with server(site, port) as running:
        address = f"http://{HOST}:{running.server_address[1]}/"
        write(sys.stdout, f"{address} (Ctrl-C ends it)\n")
        if opens:
            import webbrowser

            webbrowser.open(address)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            write(sys.stderr, "\n")
    return ExitCode.ACCURATE


def _site() -> Path:
    """The directory of the built page."""
    found = find_spec(_PACKAGE)
    places = [] if found is None else [Path(place, "site") for place in found.submodule_search_locations or ()]
    for place in places:
        if (place / "index.html").is_file():
            return place
    message = "the playground is a distribution of its own, which is not installed"
    notes = ("install it: pip install dipc-playground", "in a checkout, `make playground` builds it")
    raise DiagnosticError(Diagnostic("E0810", message, notes=notes))


def server(site: Path, port: int) -> ThreadingHTTPServer:
    """Hands out the files of `site`; 0 is any free port. Raises DiagnosticError where the port cannot be had."""
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Files, directory=str(site)))
    except OSError as error:
        message = f"port {port} cannot be had: {error.strerror or error}"
        notes = ("give another one to `--port`; 0 is any that is free",)
        raise DiagnosticError(Diagnostic("E0810", message, notes=notes)) from error


class _Files(SimpleHTTPRequestHandler):
    """The files of the page, to whoever asks for them by the name of this machine."""

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
        # A page of somebody else's, whose name leads here, is no page of this machine.
        name = self.headers.get("Host", "").rpartition(":")[0]
        if name not in {HOST, "localhost"}:
            self.send_error(421)
            return False
        return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the standard library's
        """Nobody reads it."""
