"""The files that a certificate is about: read, and compared with what it says of them."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from fractions import Fraction
from pathlib import Path

from dipc.verifier.budget import Budget
from dipc.verifier.check import Document, check_document, read_document
from dipc.verifier.outcome import Accepted
from dipc.verifier.reading import MOST_BYTES
from dipc.verifier.rejection import Rejected, Unreadable

_MARK = b"\xef\xbb\xbf"


def verify(
    certificate: str | os.PathLike[str],
    /,
    *,
    program: str | os.PathLike[str] | None = None,
    table: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
) -> Accepted:
    """Check a certificate, given by its path or as the text itself, and compare it with the files given.

    Raises Rejected, naming the step that is wrong, and Unreadable for what is no certificate or cannot be read.
    """
    text = isinstance(certificate, str) and certificate.lstrip()[:1] == "{"
    document = read_document(str(certificate) if text else read_certificate(Path(certificate)))
    facts = {} if program is None else {"program": compare_program(document, Path(program))}
    facts |= {} if table is None else compare_table(document, Path(table))
    return check_document(document, budget or Budget(), facts)


def read_certificate(path: Path) -> str:
    """The text of the file. Raises Unreadable."""
    data = _read(path, "it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8, at byte {error.start}") from None


def compare_program(document: Document, path: Path) -> str:
    """That the certificate is about this program, said in a few words. Raises Rejected where it is about another."""
    # A byte order mark is no part of a program.
    found = hashlib.sha256(_read(path, str(path)).removeprefix(_MARK)).hexdigest()
    if any(found != part.program["sha256"] for part in document.parts):
        raise Rejected("program", f"the certificate is about another program than {path}")
    return f"the program is {path}"


def compare_table(document: Document, path: Path) -> dict[str, str]:
    """That the certificate has the `rows` of this CSV file, cell by cell, and their `dd` unless the file does not give
    it somewhere, said in a few words. Raises Rejected where it has not."""
    if len(document.parts) > 1 or document.parts[0] is not document:
        found = [compare_table(part, path) for part in document.parts]
        return found[0]  # all of them are compared, and have the same rows
    if "rows" not in document.data:
        raise Rejected("table", "the certificate is about no table")
    data = _read(path, str(path))
    if document.table["sha256"] is not None and hashlib.sha256(data).hexdigest() != document.table["sha256"]:
        raise Rejected("table", f"the certificate is about another table than {path}")
    try:
        lines = io.StringIO(data.removeprefix(_MARK).decode("utf-8"), newline="")
        records = [
            record
            for record in csv.reader(lines, strict=True, skipinitialspace=True)
            if len(record) > 1 or (record and record[0].strip())
        ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(f"{path} is no table: {error}") from None
    rows = document.data["rows"]
    if not isinstance(rows, list) or len(rows) != len(records) - 1:
        raise Rejected("table", f"{path} has {max(0, len(records) - 1)} rows, the certificate another number")
    header = ["".join(name.split()) for name in records[0]]
    aside = ""
    for number, (row, record) in enumerate(zip(rows, records[1:], strict=True), start=1):
        step = f"row {number}"
        if len(record) != len(header) or not isinstance(row, dict):
            raise Rejected(step, f"it is not that of {path}")
        cells = {name: cell.strip() for name, cell in zip(header, record, strict=True) if cell.strip()}
        stated = _cells(document, row, step)
        if "dd" in stated and "dd" not in cells:
            # The program's `ideal` gave it.
            del stated["dd"]
            aside = " but for dd, which it does not give"
        for name in cells.keys() | stated.keys():
            if not _same(cells.get(name), stated.get(name)):
                raise Rejected(step, f"`{name[:40]}` is not that of {path}")
    said = f"the {len(rows)} rows are those of {path}{aside}"
    return {"rows": said} if aside else {"rows": said, "dd": said}


def _cells(document: Document, row: dict[str, object], step: str) -> dict[str, object]:
    """The cells that a row of the certificate stands for, by column."""
    result: dict[str, object] = {}
    for names, values in ((document.table["inputs"], row.get("input")), (document.table["outputs"], row.get("output"))):
        if not isinstance(names, list) or not isinstance(values, list) or len(names) != len(values):
            raise Rejected(step, "it has not a value for each input and output")
        result |= {name: value for name, value in zip(names, values, strict=True) if value is not None}
    own = row.get("own")
    result |= own if isinstance(own, dict) else {}
    if row.get("dd") is not None:
        result["dd"] = row["dd"]
    return result


def _same(cell: str | None, stated: object) -> bool:
    if cell is None or not isinstance(stated, str):
        return False
    if cell == stated or (cell.lower() == stated and stated in ("true", "false")):
        return True
    try:
        return len(cell) < 4000 and _number(cell) == _number(stated)
    except (ValueError, ZeroDivisionError):
        return False


def _number(cell: str) -> Fraction:
    mantissa, _, exponent = cell.lower().partition("e")
    if len(exponent) > 6 or abs(int(exponent or 0)) > 1000:
        raise ValueError(cell)
    return Fraction(mantissa) * Fraction(10) ** int(exponent or 0)


def _read(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MOST_BYTES:
        raise Unreadable(f"{what} is longer than {MOST_BYTES // 1_000_000} MB")
    return data
