"""`dipc bench`: hand over to the benchmarks of a checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import dipc
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

_CHECKOUT = Path(dipc.__file__).resolve().parent.parent


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> int:
    """Compare with the paper: run the benchmarks of a checkout."""
    if not (_CHECKOUT / "benchmarks" / "__main__.py").is_file():
        note = "in a checkout of the repository, `python -m benchmarks` or `make bench` runs them"
        raise DiagnosticError(
            Diagnostic("E0807", "the benchmarks are not part of the installed package", notes=(note,))
        )
    import subprocess

    path = os.pathsep.join([str(_CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])])
    finished = subprocess.run(  # noqa: S603 - this very interpreter with this checkout's own module
        [sys.executable, "-m", "benchmarks", *arguments], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    return finished.returncode
