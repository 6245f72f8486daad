"""`dipc lsp`: a language server for editors, on standard input and output."""

from __future__ import annotations

import sys

import click

from dipc.cli.exits import ExitCode
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

_EPILOG = """
\b
Editors start it: it speaks the Language Server Protocol on standard input and output.
"""


@click.command(epilog=_EPILOG)
def lsp() -> ExitCode:
    """Tell an editor what is wrong with a program as it is written, what its names mean and where they are declared,
    and put it into canonical form. It needs pygls."""
    try:
        from dipc.language_server.server import made
    except ModuleNotFoundError as missing:
        if missing.name not in {"pygls", "lsprotocol"}:
            raise
        note = "install it: pip install 'dipc-verifier[lsp]'"
        raise DiagnosticError(Diagnostic("E0811", "pygls is not installed", notes=(note,))) from None
    if not (hasattr(sys.stdin, "buffer") and hasattr(sys.stdout, "buffer")):
        note = "an editor starts `dipc lsp` and talks to it there"
        raise DiagnosticError(Diagnostic("E0813", "standard input or output is closed", notes=(note,)))
    made().start_io()
    return ExitCode.ACCURATE
