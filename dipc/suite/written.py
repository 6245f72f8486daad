"""Tested claims as an outcome: those of files of claims, and those of the programs of a directory."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from dipc.outcome.outcome import GAP, Case, Fields, Kind, Line, Outcome, Part, Standing, Tone, Verbatim
from dipc.outcome.words import count
from dipc.suite.testing import Tested, counted, overall
from dipc.text.diagnostic import Diagnostic

SCHEMA = "dipc.test/1"
DIRECTORY_SCHEMA = "dipc.check-directory/1"

_WORDS = {Kind.PASSED: "ok", Kind.FAILED: "FAILED", Kind.UNDECIDED: "UNDECIDED", Kind.ERROR: "ERROR"}

#: What is said of a program's own claim, which is expected to be accurate.
_VERDICTS = {
    Kind.PASSED: "accurate",
    Kind.FAILED: "INACCURATE",
    Kind.UNDECIDED: "UNDECIDED",
    Kind.ERROR: "ERROR",
}

_STANDINGS = {
    Kind.PASSED: Standing.HOLDS,
    Kind.FAILED: Standing.FAILS,
    Kind.UNDECIDED: Standing.OPEN,
    Kind.ERROR: Standing.BAD_INPUT,
}


def outcome(tested: Sequence[Tested]) -> Outcome:
    """What came out of the claims of files, against what should."""
    whole = overall(found.kind for found in tested)
    return Outcome(
        program="",
        line=verdict_line(tested),
        standing=_STANDINGS[whole],
        tone=_STANDINGS[whole].tone,
        parts=lambda: _parts(tested),
        record=lambda: {
            "schema": SCHEMA,
            "verdict": str(whole),
            "counts": {str(kind): number for kind, number in counted(tested).items()},
            "claims": [_record(found) for found in tested],
        },
        cases=tuple(map(_case, tested)),
    )


def directory_outcome(tested: Sequence[Tested]) -> Outcome:
    """What came out of the programs of a directory, each with its own claim."""
    whole = overall(found.kind for found in tested)
    return Outcome(
        program="",
        line=_directory_line(tested),
        standing=_STANDINGS[whole],
        tone=_STANDINGS[whole].tone,
        parts=lambda: _directory_parts(tested),
        record=lambda: {
            "schema": DIRECTORY_SCHEMA,
            "verdict": _VERDICTS[whole].lower(),
            "programs": [_directory_record(found) for found in tested],
        },
        cases=tuple(map(_case, tested)),
    )


def _case(found: Tested) -> Case:
    return Case(
        name=found.claim.name,
        place=found.claim.place,
        kind=found.kind,
        expected=str(found.claim.expect),
        line=found.line,
        text=found.text,
        replay=shlex.join(found.claim.command()),
        seconds=found.seconds,
        diagnostics=found.diagnostics,
    )


def verdict_line(tested: Sequence[Tested]) -> str:
    """The whole result in one line."""
    numbers = counted(tested)
    said = {Kind.FAILED: "otherwise", Kind.UNDECIDED: "undecided", Kind.ERROR: "could not be asked"}
    parts = [f"{numbers[kind]} {word}" for kind, word in said.items() if numbers[kind]]
    claims = count(len(tested), "claim")
    if not parts:
        return f"passed: {claims}, {'all ' if len(tested) > 1 else ''}as expected"
    whole = _WORDS[overall(found.kind for found in tested)]
    return f"{whole}: {claims}, {numbers[Kind.PASSED]} as expected, {', '.join(parts)}"


def _parts(tested: Sequence[Tested]) -> Iterator[Part]:
    """A line for each claim, and below those that did not come out as they should the whole report."""
    width = max(len(word) for word in _WORDS.values())
    for file, group in groupby(tested, key=lambda found: found.claim.place.file):
        yield GAP
        yield Line(file, Tone.HEAD)
        for found in group:
            passed = found.kind is Kind.PASSED
            text = f"{_WORDS[found.kind].ljust(width)} {found.claim.name}: {found.line}"
            yield Line(text, None if passed else _STANDINGS[found.kind].tone, indent=2)
            if not passed:
                yield GAP
                yield Verbatim(f"      {line}".rstrip() for line in _case(found).lines())
                yield GAP


def _record(found: Tested) -> dict[str, object]:
    claim = found.claim
    return {
        "name": claim.name,
        "file": claim.place.file,
        "line": claim.place.line,
        "expect": str(claim.expect),
        "verdict": None if found.verdict is None else str(found.verdict),
        "status": str(found.kind),
        "summary": found.line,
        "replay": shlex.join(claim.command()),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in found.diagnostics],
    }


def _diagnostic(found: Diagnostic) -> dict[str, object]:
    place = found.excerpt
    at = {} if place is None else {"file": place.file, "line": place.line, "column": place.column}
    return {"code": found.code, "message": found.message, **at, "notes": list(found.notes)}


def _directory_line(tested: Sequence[Tested]) -> str:
    whole, numbers = overall(found.kind for found in tested), counted(tested)
    if whole is Kind.PASSED:
        return f"accurate: {'all ' if len(tested) > 1 else ''}{count(len(tested), 'program')}"
    said = {Kind.FAILED: "inaccurate", Kind.UNDECIDED: "undecided", Kind.ERROR: "could not be asked"}
    parts = [f"{numbers[each]} {word}" for each, word in said.items() if numbers[each]]
    return f"{_VERDICTS[whole]}: {count(len(tested), 'program')}, {', '.join(parts)}"


def _directory_parts(tested: Sequence[Tested]) -> Iterator[Part]:
    """A line for each program, and below the whole report of those that are not accurate."""
    yield GAP
    yield Fields((found.claim.name, found.line) for found in tested)
    for found in tested:
        if found.kind is not Kind.PASSED:
            yield GAP
            yield Line(found.claim.name, _STANDINGS[found.kind].tone)
            yield Verbatim(f"  {each}".rstrip() for each in found.text.splitlines())


def _directory_record(found: Tested) -> dict[str, Any]:
    verdict = None if found.verdict is None else str(found.verdict)
    return {"program": str(found.claim.program), "verdict": verdict, "line": found.line}
