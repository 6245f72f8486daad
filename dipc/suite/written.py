"""Tested claims: as text, as JSON, as JUnit's XML, as annotations of GitHub."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.report.page import Look, Page, Tone
from dipc.report.words import count
from dipc.suite.tested import Status, Tested, counted, overall

SCHEMA = "dipc.test/1"

_WORDS = {Status.PASSED: "ok", Status.FAILED: "FAILED", Status.UNDECIDED: "UNDECIDED", Status.ERROR: "ERROR"}
_TONES = {
    Status.PASSED: Tone.GOOD,
    Status.FAILED: Tone.BAD,
    Status.UNDECIDED: Tone.OPEN,
    Status.ERROR: Tone.BAD,
}


def verdict_line(tested: Sequence[Tested]) -> str:
    """The whole result in one line."""
    numbers = counted(tested)
    parts = [
        f"{numbers[status]} {word}"
        for status, word in (
            (Status.FAILED, "otherwise"),
            (Status.UNDECIDED, "undecided"),
            (Status.ERROR, "could not be asked"),
        )
        if numbers[status]
    ]
    claims = count(len(tested), "claim")
    if not parts:
        return f"passed: {claims}, {'all ' if len(tested) > 1 else ''}as expected"
    word = {Status.FAILED: "FAILED", Status.UNDECIDED: "UNDECIDED", Status.ERROR: "ERROR"}
    return f"{word[overall(found.status for found in tested)]}: {claims}, {numbers[Status.PASSED]} as expected, " + (
        ", ".join(parts)
    )


def render_text(tested: Sequence[Tested], look: Look) -> str:
    """A line for each claim, and below those that did not come out as they should the whole report."""
    page = Page(look)
    page.line(verdict_line(tested), _TONES[overall(found.status for found in tested)])
    width = max(len(word) for word in _WORDS.values())
    for file, group in groupby(tested, key=lambda found: found.claim.place.file):
        page.blank()
        page.line(file, Tone.HEAD)
        for found in group:
            passed = found.status is Status.PASSED
            page.line(
                f"{_WORDS[found.status].ljust(width)} {found.claim.name}: {found.line}",
                None if passed else _TONES[found.status],
                indent=2,
            )
            if not passed:
                page.blank()
                page.verbatim(_indented(found))
                page.blank()
    return page.text()


def _indented(found: Tested) -> Iterator[str]:
    yield f"      expected {found.claim.expect}"
    yield ""
    for line in found.text.rstrip().splitlines():
        yield f"      {line}".rstrip()
    yield ""
    yield f"      replay: {shlex.join(found.claim.command())}"


def render_json(tested: Sequence[Tested]) -> str:
    """`{"schema": "dipc.test/1", "verdict": …, "counts": {…}, "claims": […]}`."""
    document = {
        "schema": SCHEMA,
        "verdict": str(overall(found.status for found in tested)),
        "counts": {str(status): number for status, number in counted(tested).items()},
        "claims": [_record(found) for found in tested],
    }
    return json.dumps(document, indent=1) + "\n"


def _record(found: Tested) -> dict[str, object]:
    claim = found.claim
    return {
        "name": claim.name,
        "file": claim.place.file,
        "line": claim.place.line,
        "expect": str(claim.expect),
        "verdict": None if found.verdict is None else str(found.verdict),
        "status": str(found.status),
        "summary": found.line,
        "replay": shlex.join(claim.command()),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in found.diagnostics],
    }


def _diagnostic(found: Diagnostic) -> dict[str, object]:
    place = found.excerpt
    at = {} if place is None else {"file": place.file, "line": place.line, "column": place.column}
    return {"code": found.code, "message": found.message, **at, "notes": list(found.notes)}


# --- JUnit -----------------------------------------------------------------------------------------


def render_junit(tested: Sequence[Tested]) -> str:
    """A `testsuite` for each file and a `testcase` for each claim. An undecided claim is an `error` of the type
    `undecided`: JUnit has no third outcome, and it is no failure of the claim."""
    root = ET.Element("testsuites", {"name": "dipc", **_totals(tested)})
    for file, group in groupby(tested, key=lambda found: found.claim.place.file):
        members = list(group)
        suite = ET.SubElement(root, "testsuite", {"name": file, **_totals(members)})
        for found in members:
            case = ET.SubElement(
                suite,
                "testcase",
                name=found.claim.name,
                classname=file,
                file=file,
                line=str(found.claim.place.line),
                time=f"{found.seconds:.3f}",
            )
            if found.status is Status.PASSED:
                continue
            kind = "failure" if found.status is Status.FAILED else "error"
            element = ET.SubElement(case, kind, type=str(found.status), message=_clean(found.line))
            element.text = _clean("\n".join(line.removeprefix("      ") for line in _indented(found)) + "\n")
    ET.indent(root, " ")
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


def _totals(tested: Sequence[Tested]) -> dict[str, str]:
    numbers = counted(tested)
    return {
        "tests": str(len(tested)),
        "failures": str(numbers[Status.FAILED]),
        "errors": str(numbers[Status.ERROR] + numbers[Status.UNDECIDED]),
        "time": f"{sum(found.seconds for found in tested):.3f}",
    }


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(character if character in "\n\t" or character >= " " else "\ufffd" for character in text)


# --- GitHub ----------------------------------------------------------------------------------------


def render_github(tested: Sequence[Tested]) -> str:
    """A workflow command for each claim that did not come out as it should, at the place where it is claimed, or where
    the program is wrong; then the verdict line."""
    lines: list[str] = []
    for found in tested:
        match found.status:
            case Status.PASSED:
                continue
            case Status.ERROR:
                lines.extend(_annotated_diagnostic(found, diagnostic) for diagnostic in found.diagnostics)
            case _:
                level = "warning" if found.status is Status.UNDECIDED else "error"
                message = (
                    f"expected {found.claim.expect}, but {found.line}\nreplay: {shlex.join(found.claim.command())}"
                )
                place = found.claim.place
                lines.append(_annotation(level, place.file, place.line, place.column, found.claim.name, message))
    return "".join(f"{line}\n" for line in [*lines, verdict_line(tested)])


def _annotated_diagnostic(found: Tested, diagnostic: Diagnostic) -> str:
    place = diagnostic.excerpt or found.claim.place
    message = "\n".join([diagnostic.message, *diagnostic.notes])
    return _annotation(
        "error", place.file, place.line, place.column, f"{found.claim.name} ({diagnostic.code})", message
    )


def _annotation(level: str, file: str, line: int, column: int, title: str, message: str) -> str:
    properties = {"file": file, "line": str(line), "col": str(column), "title": title}
    said = ",".join(
        f"{name}={_escaped(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()
    )
    return f"::{level} {said}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
