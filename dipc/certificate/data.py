"""The data of certificates: numbers, closed forms, claims and rows as JSON, and the digest.

Rows are written as text. Data that rows share is computed and encoded once, and cells are identified by their numbers
in the columns of the table, so that each row costs a few look-ups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import flint

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, fraction_of
from dipc.claims.claim import Claim
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import Column, PackedRows, Row, Table
from dipc.program.program import Program
from dipc.questions.report import DecidedRows, RowOutcome
from dipc.text.core import SampleNoise, show_value
from dipc.text.printer import print_expression
from dipc.text.program import CoreProgram
from dipc.verifier.reading import SCHEMA, Exhausted, Question, Rejected

_T = TypeVar("_T")

#: The bits beyond which FLINT writes a number; Python writes shorter ones under any setting of its limit.
_LONG = 1_200


def digits(number: int) -> str:
    """Return the decimal text of the integer `number`, of any length, whatever limit Python has for conversions."""
    return str(number) if number.bit_length() <= _LONG else str(flint.fmpz(number))


def rational(number: Fraction) -> str:
    """Return the text of `number` in lowest terms, such as "-1/3" or "2"."""
    above = digits(number.numerator)
    return above if number.denominator == 1 else f"{above}/{digits(number.denominator)}"


def coefficients_data(coefficients: Iterable[tuple[int, Fraction]]) -> list[list[Any]]:
    """Return `coefficients`, or weights, as JSON data: pairs of an index and the text of a number."""
    return [[index, rational(number)] for index, number in coefficients]


def headed(question: Question, program: Program, tool: str, verdict: object) -> dict[str, Any]:
    """Return the fields that every document about a program has: `question`, `program`, `tool` and `verdict`.

    `tool` names the writer of the document.
    """
    return {
        "schema": SCHEMA,
        "question": question.value,
        "tool": tool,
        "program": program_data(program),
        "verdict": str(verdict),
        **_required(program),
    }


def _required(program: Program) -> dict[str, Any]:
    """Return the certificate's field about the precondition of `program`, in a dict; {} if it has none.

    The field "requires" states the precondition and an input that satisfies it. If inputs are clipped, the field
    "clipped" has their ranges instead.
    """
    allowed, requires = program.allowed, program.core.requires
    if allowed is None or requires is None:
        return {}
    if requires.clipped is not None:
        ends = {name: [None if end is None else rational(end) for end in own] for name, *own in requires.clipped.ranges}
        return {"clipped": ends}
    point = {program.core.slots[slot].name: show_value(allowed.point[slot]) for slot in program.core.inputs}
    return {"requires": {"condition": allowed.requires.text, "point": point}}


def claim_data(claim: Claim) -> dict[str, Any]:
    """Return `claim`, a claim about accuracy, as JSON data: its expressions, and the intervals of eps."""
    return {
        "alpha": expression_text(claim.alpha),
        "beta": expression_text(claim.beta),
        "gamma": expression_text(claim.gamma),
        "eps": [str(interval) for interval in claim.intervals],
    }


def program_data(program: Program) -> dict[str, Any]:
    """Return `program` as JSON data: its name, its text with the SHA-256, and its constants.

    The text is the user's program, without the ranges to which dipc limits clipped inputs.
    """
    core = program.core
    limited = None if core.requires is None else core.requires.clipped
    text = (core.source if limited is None else limited.source).in_language.text
    return {
        "name": core.name,
        "text": text,
        "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "constants": {name: rational(value) for name, value in core.constants.items()},
        **({} if core.only_at is None else {"only_at": rational(core.only_at)}),
    }


def table_data(program: Program, table: Table) -> dict[str, Any]:
    """Return `table` as JSON data, with the names of its columns: the inputs and outputs of `program`."""
    return {
        "name": table.name,
        "sha256": _file_hash(table.name),
        "rows": len(table.rows),
        "inputs": list(program.inputs),
        "outputs": list(program.outputs),
        "dd": "ideal" if "dd" in table.computed else "given",
    }


def expression_text(expression: ClaimExpression | None) -> str | None:
    """Return the text of `expression`, the alpha, beta or gamma of a claim, or None if it is None."""
    return None if expression is None else print_expression(expression.tree)


def own_cells(row: Row) -> dict[str, str]:
    """Return {column: text} for the cells of `row` that override the claim."""
    cells = (("alpha", row.alpha), ("beta", row.beta), ("gamma", row.gamma))
    return {name: cell.text for name, cell in cells if cell is not None}


def _file_hash(name: str) -> str | None:
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def sealed(document: dict[str, Any]) -> str:
    """Return the JSON text of `document` with its digest, with each row or entry on a line of its own."""
    return seal({name: list(map(encode, v)) if isinstance(v, list) else encode(v) for name, v in document.items()})


#: Return a value as JSON without spaces, in ASCII, with the names of every object in order.
encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def seal(entries: dict[str, str | list[str]]) -> str:
    """Return a document as JSON text with its digest.

    `entries` maps the name of each field to its JSON text, or to the JSON texts of its items if the field is a list.
    """

    def text(name: str, comma: str, end: str) -> str:
        encoded = entries[name]
        return f"{encode(name)}:{encoded if isinstance(encoded, str) else f'[{end}{comma.join(encoded)}{end}]'}"

    digest = hashlib.sha256(b"{")
    for position, name in enumerate(sorted(entries)):
        digest.update(f"{',' if position else ''}{text(name, ',', '')}".encode("ascii"))
    digest.update(b"}")
    sealing = f'"digest":"{digest.hexdigest()}"'
    return "{" + ",\n".join([*(text(name, ",\n", "\n") for name in entries), sealing]) + "}\n"


def ring_data(value: ExpPoly) -> list[list[Any]]:
    """Return the JSON data of `value`, Σ c·eps^k·e^{q·eps}: the terms [k, "q", "c"], in the order of (q, k)."""
    unit, terms = value.integer_terms()
    exponents = {j: str(Fraction(j, unit)) for j in {j for _, j, _ in terms}}
    ordered = sorted(terms, key=itemgetter(1, 0))
    # FLINT prints numbers of any length, whatever limit Python has.
    return [[k, exponents[j], str(c)] for k, j, c in ordered]


def closed_data(value: Closed) -> list[list[Any]] | dict[str, list[list[Any]]]:
    """Return the closed form `value` as JSON data: its terms, or for a quotient those of numerator and denominator."""
    if isinstance(value, Quotient) and value.denominator != 1:
        return {"numerator": ring_data(value.numerator), "denominator": ring_data(value.denominator)}
    return ring_data(fraction_of(value)[0])


class FunctionData:
    """A cache of the JSON data of closed forms."""

    def __init__(self) -> None:
        #: The functions are kept, too, since an identity is unique only while its object exists.
        self._known: dict[int, tuple[Closed, Any]] = {}

    def data(self, value: Closed) -> Any:
        """Return `value` as JSON data. Calls share this object, so the caller must not change it."""
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, closed_data(value))
        return known[1]


def as_read(read: Callable[[], _T]) -> _T | None:
    """Return the result of `read`, a step of the checker, or None if it raises Rejected or Exhausted."""
    try:
        return read()
    except (Rejected, Exhausted):
        return None


class Uncertified(ValueError):
    """Raised if an answer has no certificate, with the reason."""


def require_known_laws(program: CoreProgram) -> None:
    """Raise Uncertified if the checker cannot follow `program`.

    The checker does not know the laws of some noises. It refuses weights that are probabilities only for some eps, and
    normal noise in a program read at one eps.
    """
    if program.selection is not None:
        raise Uncertified("the checker does not follow a selection of inputs: state the condition in `requires`")
    if program.only_in:
        raise Uncertified(
            "some weights are probabilities only at some values of eps: the checker follows such a program only at a "
            "single eps"
        )
    for instruction in program.instructions:
        if isinstance(instruction, SampleNoise) and not instruction.law.is_checked:
            sums = " whose deviation is a sum of irrational numbers" if instruction.law.checker_name else ""
            raise Uncertified(f"the checker does not know {instruction.law.name} noise{sums}")
        if isinstance(instruction, SampleNoise) and program.only_at is not None and not instruction.law.has_form:
            raise Uncertified(f"the checker does not know {instruction.law.name} noise in a program read at one eps")


def has_closed_forms(program: CoreProgram) -> bool:
    """True if none of the noises of `program` is normal, so that its probabilities have closed forms."""
    return all(each.law.has_form for each in program.instructions if isinstance(each, SampleNoise))


#: The reason for a decision by Taylor polynomials in ball arithmetic, which the checker cannot repeat.
NOT_EXPANDED = "the closed form of the probability is too long to be written out"

#: The reason for a union bound whose rates or beta differ for each number of queries.
IN_ANOTHER_UNIT = "rates or exponents depend on the number of queries in a way that the checker does not follow"

#: The reason for a union bound whose beta contains a constant computed from the number of queries.
BY_A_CONSTANT = (
    "beta depends on a constant computed from the number of queries, in a way that the checker does not follow"
)

#: The reason for a proof for all values of the totals of the queries.
BY_TOTALS = "the proof covers all values of the totals that the program reads, which the checker does not follow"

#: The reason for a union bound with normal noise.
OVER_NORMAL_NOISE = (
    "the bound is a sum of probabilities over normal noise, which the checker follows only for single numbers"
)


#: A placeholder for the fields in which rows with one outcome differ; no program contains this character.
HOLE = "\0"


def row_texts(
    rows: PackedRows,
    decided: DecidedRows,
    inputs: int,
    outputs: int,
    shared: Callable[[Row, RowOutcome], dict[str, Any]],
) -> Iterator[str]:
    """Yield each of `rows`, which are all `decided`, as JSON text.

    The first `inputs` columns of `rows` are inputs, and the next `outputs` columns are outputs. `shared` returns the
    JSON data that all rows with an equal outcome share. In this data, placeholders stand for the input, the output and
    the number of the row, in this order.
    """
    outcomes, places = decided.outcomes
    shapes = [""] * len(outcomes)
    given, stated = _lists(rows.columns[:inputs]), _lists(rows.columns[inputs : inputs + outputs])
    # The column of what is absent is infinite.
    for number, (shape, first, second) in enumerate(zip(places, given, stated, strict=False), start=1):
        if not shapes[shape]:
            row = rows[number - 1]
            shapes[shape] = encode(shared(row, outcomes[shape])).replace("%", "%%").replace(encode(HOLE), "%s")
        yield shapes[shape] % (first, second, number)


def _lists(columns: Sequence[Column]) -> Iterator[str]:
    texts = [[encode(None if cell is None else cell.text) for cell in column.cells] for column in columns]
    result = [map(text.__getitem__, column.numbers) for text, column in zip(texts, columns, strict=True)]
    return map("[{}]".format, map(",".join, (zip(*result, strict=True) if result else repeat(()))))
