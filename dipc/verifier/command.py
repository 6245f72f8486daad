"""The checker as a command: its options, its output, and the files that it compares with a certificate."""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from dipc.verifier.document import Accepted, Document, check_document, read_document, within_bounds
from dipc.verifier.inputs import varying_constants
from dipc.verifier.program import computed_constants
from dipc.verifier.reading import (
    MOST_BYTES,
    STEPS,
    Budget,
    Exhausted,
    NotDerived,
    Rejected,
    Unreadable,
    UnusableArgument,
    decimal,
    in_step,
)
from dipc.verifier.statement import Expected, block_of
from dipc.verifier.syntax import Program, read_program
from dipc.verifier.syntax import names as names_in

# === files =====================================================================================

_MARK = b"\xef\xbb\xbf"


def verify(
    certificate: str | os.PathLike[str],
    /,
    *,
    program: str | os.PathLike[str] | None = None,
    table: str | os.PathLike[str] | None = None,
    constants: Mapping[str, Fraction] | None = None,
    budget: Budget | None = None,
    expected: Expected | None = None,
) -> Accepted:
    """Check `certificate`, a path or a text, and compare it with `program` and `table` if they are given.

    `constants` override those of the program's text. If a claim is `expected`, the result says whether the certificate
    implies it. A part that `expected` leaves out is read from the claim block of `program`; if the block has no such
    part, it is the part that was proved.

    Raises Rejected, naming the wrong step; Unreadable if the text is not a certificate; and Exhausted if checking takes
    more than `budget`, which is STEPS if it is None.
    """
    text = isinstance(certificate, str) and certificate.lstrip()[:1] == "{"
    budget = budget or Budget()
    with within_bounds():
        document = read_document(str(certificate) if text else read_certificate(Path(certificate)))
        facts: dict[str, str] = {}
        block: Mapping[str, str] = {}
        if program is not None:
            block = claim_block(Path(program), budget)
            facts["program"] = compare_program(document, Path(program))
            facts["constants"] = compare_constants(document, Path(program), constants or {}, budget)
        facts |= {} if table is None else compare_table(document, Path(table))
        if expected is not None and expected.is_given:
            return check_document(document, budget, facts, replace(expected, block=block, own="rows" in facts))
        return check_document(document, budget, facts).compared_with_block(block, budget)


_PROGRAM = "give --program the program that the certificate is about"
_TABLE = "give --table the table that the certificate is about"


def claim_block(path: Path, budget: Budget) -> dict[str, str]:
    """Return the fields of the claim block of the program at `path`, with the work charged to `budget`.

    Raises UnusableArgument if it is not a program.
    """
    with _reading_program(path):
        return block_of(_program_at(path, budget).claim)


def _program_at(path: Path, budget: Budget) -> Program:
    return read_program(_read_other(path, _PROGRAM).removeprefix(_MARK).decode("utf-8"), budget)


@contextmanager
def _reading_program(path: Path) -> Iterator[None]:
    """Raise UnusableArgument in place of errors in the `with` block that say the file at `path` is not a program."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UnusableArgument(f"{path} is not UTF-8, at byte {error.start}", _PROGRAM) from None
    except NotDerived as error:
        why = f"{path} is not a program that this checker reads: {error.why}"
        raise UnusableArgument(why, _PROGRAM) from None


def read_certificate(path: Path) -> str:
    """Return the text of the file at `path`. Raises Unreadable if it cannot be read."""
    data = _read(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8, at byte {error.start}") from None


def compare_program(document: Document, path: Path) -> str:
    """Check that `document` is about the program at `path`, and return a line of the report that says so.

    Raises Rejected if the certificate is about another program.
    """
    # A byte order mark is not part of a program.
    sha256 = hashlib.sha256(_read_other(path, _PROGRAM).removeprefix(_MARK)).hexdigest()
    if any(sha256 != document_part.program.sha256 for document_part in document.constituents):
        raise Rejected(f"the certificate is about a program other than {path}", "program")
    return f"the program is {path}"


def compare_constants(document: Document, path: Path, given: Mapping[str, Fraction], budget: Budget) -> str:
    """Check that the program at `path` has the constants of `document`, and return a line of the report that says so.

    The constants `given` replace the program's own. If the certificate is about every m, the program must compute the
    same constants from m. Charges its work to `budget`. Raises Rejected if a constant differs, and UnusableArgument if
    the file is not a program, or does not have a constant that is given.
    """
    with _reading_program(path):
        tree = replace(_program_at(path, budget), at=document.program.at)
        unknown = sorted(given.keys() - {name for name, _ in tree.constants})
        if unknown:
            note = "give -D a constant that the program declares"
            raise UnusableArgument(f"{path} has no constant `{unknown[0][:40]}`", note)
        values = {
            **computed_constants(tree, given, {name for name, _ in tree.constants} - given.keys(), budget),
            **given,
        }
    note = "give the same -D as to `dipc check`"
    stated = document.program.constants
    for name in sorted(values.keys() | stated.keys()):
        if values.get(name) != stated.get(name):
            raise Rejected(f"the constant `{name}` has a different value in the certificate: {note}", "program")
    for each in document.constituents:
        for parameter, varying in varying_constants(each.data):
            known = {parameter}
            for name, value in tree.constants:
                if name not in given and not known.isdisjoint(names_in(value)):
                    known.add(name)
            for name in sorted((known - {parameter}) ^ varying):
                message = (
                    f"the certificate and the program disagree on whether the constant `{name}` is computed from "
                    f"`{parameter}`"
                )
                raise Rejected(f"{message}: {note}", "program")
    return "its constants have these values"


def compare_table(document: Document, path: Path) -> dict[str, str]:
    """Compare the rows of `document` with the CSV file at `path`, cell by cell, and return lines of the report.

    The key of a line is "rows" or "dd"; the latter is missing if some rows of the file do not give dd. Raises Rejected
    if a cell differs, and UnusableArgument if the file is not a CSV table.
    """
    if len(document.constituents) > 1 or document.constituents[0] is not document:
        words = [compare_table(each, path) for each in document.constituents]
        return words[0]  # all of them are compared, and have the same rows
    if document.table is None:
        raise Rejected("the certificate is not about a table", "table")
    data = _read_other(path, _TABLE)
    if document.table.sha256 is not None and hashlib.sha256(data).hexdigest() != document.table.sha256:
        raise Rejected(f"the certificate is about a table other than {path}", "table")
    try:
        lines = io.StringIO(data.removeprefix(_MARK).decode("utf-8"), newline="")
        records = [
            record
            for record in csv.reader(lines, strict=True, skipinitialspace=True)
            if len(record) > 1 or (record and record[0].strip())
        ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnusableArgument(f"{path} is not a CSV table: {error}", _TABLE) from None
    rows = document.data["rows"]
    if not isinstance(rows, list) or len(rows) != len(records) - 1:
        raise Rejected(
            f"{path} has {max(0, len(records) - 1)} rows, but the certificate has a different number of rows", "table"
        )
    header = ["".join(name.split()) for name in records[0]]
    aside = ""
    for number, (row, record) in enumerate(zip(rows, records[1:], strict=True), start=1):
        with in_step(f"row {number}"):
            if len(record) != len(header) or not isinstance(row, dict):
                raise Rejected(f"it differs from the corresponding row of {path}")
            cells = {name: cell.strip() for name, cell in zip(header, record, strict=True) if cell.strip()}
            stated = _cells(document, row)
            if "dd" in stated and "dd" not in cells:
                if document.table.dd != "ideal":
                    raise Rejected(f"it states dd, which neither {path} nor the `ideal` of the program gives")
                del stated["dd"]
                aside = ", except for dd, which the file does not give"
            for name in cells.keys() | stated.keys():
                if not _same(cells.get(name), stated.get(name)):
                    raise Rejected(f"`{name[:40]}` has a different value in {path}")
    said = f"the {len(rows)} rows are those of {path}{aside}"
    return {"rows": said} if aside else {"rows": said, "dd": said}


def _cells(document: Document, row: dict[str, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    assert document.table is not None, "the table is compared"
    for names, values in ((document.table.inputs, row.get("input")), (document.table.outputs, row.get("output"))):
        if not isinstance(values, list) or len(names) != len(values):
            raise Rejected("it does not have one value for each input and output")
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
    with suppress(ValueError):
        return decimal(cell) == decimal(stated)
    return False


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from None
    if len(data) > MOST_BYTES:
        raise Unreadable(f"it is longer than {MOST_BYTES // 1_000_000} MB")
    return data


def _read_other(path: Path, note: str) -> bytes:
    try:
        return _read(path)
    except Unreadable as error:
        raise UnusableArgument(f"{path} cannot be read: {error.why}", note) from None


# === alone =====================================================================================

#: The message if the budget or the memory does not suffice.
NOT_TO_THE_END = "not checked to the end: {}"

ACCEPTED, REJECTED, UNREADABLE, IN_PART = 0, 1, 2, 3

#: The verdicts that may be expected, and the options that give the expected claim.
VERDICTS = ("accurate", "inaccurate", "private", "not-private")
EXPECTED_OPTIONS = (
    ("--alpha", "expect the claim with this alpha, a number or dd"),
    ("--beta", "expect the claim with this beta"),
    ("--gamma", "expect the claim with this gamma"),
    ("--eps", 'expect the claim for these eps, such as "(0, 1]"'),
    ("--adjacent", "expect the claim for this adjacency: linf:1, l1:1 or hamming:1"),
    ("--budget", "expect the claim with this budget, such as 2*eps"),
    ("--delta", "expect the claim with this delta"),
)


def main(arguments: Sequence[str]) -> int:
    """Check the certificate that the command-line `arguments` name, and return the exit code.

    0: accepted, and the expected claim is met; 1: rejected or not met; 2: unreadable or bad usage; 3: accepted in part,
    undecided, or not checked to the end.
    """
    parser = argparse.ArgumentParser(
        prog="python -m dipc.verifier",
        description="Check a certificate of `dipc check` with nothing but Python's standard library.",
        epilog="Exit codes: 0 accepted, nothing was taken on trust, and what is expected is met; 1 rejected, or not "
        "met; 2 unreadable or bad usage; 3 accepted in part, undecided, or not checked to the end.",
    )
    parser.add_argument("file", type=Path, nargs="?", help="the certificate")
    parser.add_argument("--program", type=Path, help="check that the certificate is about the program in this file")
    parser.add_argument("--table", type=Path, help="check that its rows are those of this CSV file")
    parser.add_argument(
        "-D",
        dest="constants",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a constant of --program",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help="give up after this many steps, each about a microsecond or a word of memory (%(default)s)",
    )
    for option, words in EXPECTED_OPTIONS:
        parser.add_argument(option, help=words)
    parser.add_argument("--expect", choices=VERDICTS, help="exit with 1 unless this verdict on the claim follows")
    parser.add_argument("--inputs", choices=["all"], help="expect the claim at all inputs of the program")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print the theorem only, and the expected claim if it is not met"
    )
    parser.add_argument("--export", type=Path, metavar="OUT.pyz", help="write the checker as one file that Python runs")
    options = parser.parse_args(arguments)
    if options.export is not None:
        return _export(options.export)
    if options.file is None:
        parser.error("give a certificate")
    constants = _constants(options.constants)
    if constants is None or (constants and options.program is None):
        parser.error("-D gives a constant of the --program, such as -D m=4 or -D c=1/3")
    try:
        budget = Budget(options.steps)
        names = ("alpha", "beta", "gamma", "eps", "adjacent", "budget", "delta")
        parts = {name: getattr(options, name) for name in names}
        accepted = verify(
            options.file,
            program=options.program,
            table=options.table,
            constants=constants,
            budget=budget,
            expected=Expected(options.expect, options.inputs is not None, **parts),
        )
    except UnusableArgument as error:
        _complain(f"{error.why}; {error.note}")
        return UNREADABLE
    except Unreadable as error:
        _complain(f"{options.file} cannot be read: {error.why}")
        return UNREADABLE
    except Rejected as error:
        return _say([f"rejected: {error}"], REJECTED)
    except Exhausted as error:
        return _say([NOT_TO_THE_END.format(error)], IN_PART)
    return _say(accepted.headline() if options.quiet else list(accepted.lines()), accepted.exit_code)


def _constants(definitions: Sequence[str]) -> dict[str, Fraction] | None:
    constants: dict[str, Fraction] = {}
    for definition in definitions:
        name, _, value = definition.partition("=")
        try:
            constants[name.strip()] = decimal(value)
        except ValueError:
            return None
    return None if "" in constants else constants


def _export(file: Path) -> int:
    """Write the checker into one `file` that Python can run, and return the exit code.

    The file is a zip archive. If Python runs it, modules beside it are not imported in place of the checker's own.
    """
    home = Path(__file__).resolve().parent
    main_ = "import sys\nfrom dipc.verifier.command import main\nsys.exit(main(sys.argv[1:]))\n"
    try:
        with file.open("wb") as out:
            out.write(b"#!/usr/bin/env python3\n")
            with ZipFile(out, "w", ZIP_DEFLATED) as archive:
                archive.writestr(ZipInfo("__main__.py"), main_)
                archive.writestr(ZipInfo("dipc/__init__.py"), "")
                for source in sorted(home.glob("*.py")):
                    archive.writestr(ZipInfo(f"dipc/verifier/{source.name}"), source.read_bytes())
    except OSError as error:
        _complain(f"{file} cannot be written: {error.strerror}")
        return UNREADABLE
    return ACCEPTED


def _complain(line: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{line}\n")


def _say(lines: Iterable[str], code: int) -> int:
    if sys.stdout is None:
        return UNREADABLE
    try:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # If the reader of a pipe has gone, the exit code still counts.
        return code if isinstance(error, BrokenPipeError) else UNREADABLE
    return code
