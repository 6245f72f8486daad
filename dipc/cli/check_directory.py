"""`dipc check DIRECTORY`: every program below a directory that makes a claim."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dipc.algebra.limits import Limits
from dipc.cli.arguments import parse_definitions
from dipc.cli.exits import ExitCode
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.report.page import Look


def check_directory(
    directory: Path,
    parts: Mapping[str, Any],
    *,
    inputs: tuple[str, ...],
    definitions: tuple[str, ...],
    for_all: str | None,
    limits: tuple[str, ...],
    form: str,
    target: Path | None,
    jobs: str,
    cache: Path | None,
    quiet: bool,
    alone: Mapping[str, object],
) -> ExitCode:
    """The exit code of the worst: a program that cannot be asked about before an inaccurate one, and that before an
    undecided one. `alone` are the options, by name, that are about a single program."""
    for option, value in alone.items():
        if value:
            note = f"leave it out, or give a program of `{directory}`"
            raise DiagnosticError(
                Diagnostic("E0812", f"`{option}` is about one program, not a directory", notes=(note,))
            )
    check_distinct({"-o": target, "--cache": cache})

    from dipc.suite.directory import claims_below, line, render, render_json
    from dipc.suite.tested import Status, overall
    from dipc.suite.testing import run_claims

    changed = {name: limit for name, limit in asdict(parse_limits(limits)).items() if limit != getattr(Limits(), name)}
    claims = claims_below(
        directory,
        inputs=inputs,
        for_all=for_all,
        constants=parse_definitions(definitions),
        parts=parts,
        limits=changed,
    )
    tested = []
    with ProgressBar(f"checking the programs of {directory}", silent=quiet) as progress:
        for found in run_claims(claims, jobs=jobs, cache=cache):
            tested.append(found)
            progress(len(tested), len(claims))
    if form == "json":
        text = render_json(tested)
    elif quiet:
        text = line(tested) + "\n"
    else:
        text = render(tested, look_of(sys.stdout) if target is None else Look())
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{line(tested)} (written to {target})\n")
    return {
        Status.PASSED: ExitCode.ACCURATE,
        Status.FAILED: ExitCode.INACCURATE,
        Status.UNDECIDED: ExitCode.UNDECIDED,
        Status.ERROR: ExitCode.BAD_INPUT,
    }[overall(found.status for found in tested)]
