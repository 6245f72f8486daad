"""The JSON output of `dipc check`, schema `dipc.check/1`; the fields are those of `dipc.sources.outcome`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from dipc.obligations.verdict import Verdict
from dipc.sources.outcome import RowResult
from dipc.sources.report import SCHEMA, Report


def write_json(report: Report, stream: TextIO) -> None:
    """Write the whole report as one JSON object, one row a line, without holding its text in memory."""
    stream.writelines(json_pieces(report.program, report.verdict, report.rows, report.remarks()))


def json_pieces(
    program: str, verdict: Verdict, rows: Iterable[RowResult], remarks: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """The JSON text in pieces; joined they are one JSON object in ASCII that ends with a newline. `remarks` are keys
    that stand before the rows."""
    encoder = json.JSONEncoder()
    yield f'{{"schema": {encoder.encode(SCHEMA)}, "program": {encoder.encode(program)}, '
    yield f'"verdict": {encoder.encode(str(verdict))}, '
    for name, value in (remarks or {}).items():
        yield f"{encoder.encode(name)}: {encoder.encode(value)}, "
    yield '"rows": ['
    separator = "\n"
    for row in rows:
        yield separator + encoder.encode(row.as_json())
        separator = ",\n"
    yield "\n]}\n"
