"""The programs of a directory, each with what it claims: what `dipc check DIRECTORY` asks, and its answer as text and
as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.source import Span
from dipc.exits.load import load_source
from dipc.report.page import Look, Page, Tone
from dipc.report.words import count
from dipc.suite.claims_file import ExpectedClaim
from dipc.suite.tested import Status, Tested, counted, overall

SCHEMA = "dipc.check-directory/1"

#: What is said of a claim that is expected to be accurate.
_WORDS = {
    Status.PASSED: "accurate",
    Status.FAILED: "INACCURATE",
    Status.UNDECIDED: "UNDECIDED",
    Status.ERROR: "ERROR",
}
_TONES = {
    Status.PASSED: Tone.GOOD,
    Status.FAILED: Tone.BAD,
    Status.UNDECIDED: Tone.OPEN,
    Status.ERROR: Tone.BAD,
}


def claims_below(
    directory: Path,
    *,
    inputs: tuple[str, ...] = (),
    for_all: str | None = None,
    constants: Mapping[str, Fraction] | None = None,
    parts: Mapping[str, Any] | None = None,
    limits: Mapping[str, int] | None = None,
) -> list[ExpectedClaim]:
    """A claim for each program below the directory that makes one, or that is none; with a `beta` among the
    parts, for each program. Its table is the CSV file beside it of the same name, if there is one, else the inputs.

    Raises DiagnosticError where there is none.
    """
    given = {name: value for name, value in (parts or {}).items() if value is not None}
    found = [
        ExpectedClaim(
            str(path.relative_to(directory)),
            read_source(path).excerpt(Span(0, 1)),
            path,
            table if (table := path.with_suffix(".csv")).is_file() and not inputs else None,
            None,
            inputs,
            for_all,
            constants or {},
            {"alpha": None, "beta": None, "gamma": None, "eps": None, **given},
            limits or {},
        )
        for path in sorted(directory.rglob("*.dip"))
        if "beta" in given or _claims(path)
    ]
    if not found:
        note = "a claim is a block of a program, claim { beta: … }, in a file that ends with .dip; or give --beta"
        raise DiagnosticError(Diagnostic("E1501", f"there are no claims in the directory `{directory}`", notes=(note,)))
    return found


def _claims(path: Path) -> bool:
    try:
        return load_source(read_source(path), {}).core.claim is not None
    except DiagnosticError:
        return True


def line(tested: Sequence[Tested]) -> str:
    """The whole answer in one line."""
    status, numbers = overall(found.status for found in tested), counted(tested)
    if status is Status.PASSED:
        return f"accurate: {'all ' if len(tested) > 1 else ''}{count(len(tested), 'program')}"
    said = {Status.FAILED: "inaccurate", Status.UNDECIDED: "undecided", Status.ERROR: "could not be asked"}
    parts = [f"{numbers[each]} {word}" for each, word in said.items() if numbers[each]]
    return f"{_WORDS[status]}: {count(len(tested), 'program')}, {', '.join(parts)}"


def render(tested: Sequence[Tested], look: Look) -> str:
    """A line for each program, and below the whole report of those that are not accurate."""
    page = Page(look)
    page.line(line(tested), _TONES[overall(found.status for found in tested)])
    page.blank()
    page.fields((found.claim.name, found.line) for found in tested)
    for found in tested:
        if found.status is not Status.PASSED:
            page.blank()
            page.line(found.claim.name, _TONES[found.status])
            page.verbatim(f"  {each}".rstrip() for each in found.text.splitlines())
    return page.text()


def render_json(tested: Sequence[Tested]) -> str:
    """The JSON object."""
    programs = list(_records(tested))
    status = overall(found.status for found in tested)
    return json.dumps({"schema": SCHEMA, "verdict": _WORDS[status].lower(), "programs": programs}, indent=1) + "\n"


def _records(tested: Sequence[Tested]) -> Iterator[dict[str, Any]]:
    for found in tested:
        verdict = None if found.verdict is None else str(found.verdict)
        yield {"program": str(found.claim.program), "verdict": verdict, "line": found.line}
