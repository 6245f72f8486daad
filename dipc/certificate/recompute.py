"""Compares a certificate with a program and a table: its rows and its claim, and every probability recomputed.

What is not independent here is the chain (`dipc.chain`): which exits a program has, under which constraints, is found
by the same code, though on another path (`dipc.certificate.second`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.certificate.second import Second
from dipc.claim.claim import Claim, Terms, resolve_claim
from dipc.claim.intervals import intervals_text
from dipc.diagnostics.files import read_source
from dipc.exits.load import load_source
from dipc.exits.program import Program
from dipc.sources.free_gamma import FREE, FreeGamma
from dipc.sources.question import prepared
from dipc.tables.cells import Cell
from dipc.tables.table import Row
from dipc.verifier.check import DISTANCE, LINK, WORDS, Document
from dipc.verifier.outcome import Accepted
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Ring, read_closed


def recomputed(accepted: Accepted, document: Document, program_path: Path, table_path: Path) -> Accepted:
    """What was accepted, with what the program and the table add to it.

    Raises Rejected where a row, its claim or its probability is another than the program and the table give, and
    DiagnosticError for files that are none.
    """
    if "rows" not in document.data:
        raise Rejected("table", "the certificate is about every real input, not about the rows of a table")
    program = load_source(read_source(program_path), document.constants)
    table = prepared(program, str(table_path), None)
    stated = document.data["claim"]
    claim: Claim | FreeGamma
    options = {"alpha": stated["alpha"], "beta": stated["beta"], "eps": ", ".join(stated["eps"])}
    if stated["gamma"] == FREE:
        claim = FreeGamma(program, table, **options)
    else:
        claim = resolve_claim(program.core, table, **options, gamma=stated["gamma"])
    if intervals_text(claim.intervals) != ", ".join(stated["eps"]):
        raise Rejected("claim", "the intervals of eps are others than the claim gives")
    rows = document.data["rows"]
    if len(rows) != len(table.rows):
        raise Rejected("rows", f"there are {len(rows)} of them, and {len(table.rows)} in the table")
    found = _Comparison(document.data, program, claim)
    for row, data in zip(table.rows, rows, strict=True):
        found.compare(row, data)
    return replace(
        accepted,
        facts=(*accepted.facts, *found.facts()),
        trusted=(
            *found.trusted(),
            *(note for note in accepted.trusted if note not in (LINK, DISTANCE, *WORDS.values())),
        ),
    )


class _Comparison:
    """Compares row by row; equal rows are computed once."""

    def __init__(self, data: Mapping[str, Any], program: Program, claim: Claim | FreeGamma) -> None:
        self._claim = claim
        self._second = Second(program)
        self._values = [_closed(entry["value"], f"probability {at}") for at, entry in enumerate(data["probabilities"])]
        self._betas = [entry.get("value") for entry in data["betas"]]
        self._equal: set[tuple[Terms, int]] = set()
        self._agreed = 0
        self._left: Counter[str] = Counter()
        self._known: dict[tuple[Cell | None, ...], Closed | Undecided] = {}

    def compare(self, row: Row, data: Mapping[str, Any]) -> None:
        """One row; raises Rejected where the certificate says something else."""
        step = f"row {row.number}"
        inputs = [cell.text for cell in row.inputs]
        outputs = [None if cell is None else cell.text for cell in row.outputs]
        self._same_cells(
            {"inputs": data["input"], "outputs": data["output"], "dd": data.get("dd")},
            {"inputs": inputs, "outputs": outputs, "dd": None if row.dd is None else row.dd.text},
            step,
        )
        if isinstance(self._claim, Claim):
            self._compare_claimed(row, self._claim.terms(row), data, data["gamma"], step)
            return
        try:
            ranges = self._claim.ranges(row)
        except Undecided as undecided:
            self._left[undecided.reason] += 1
            return
        stated = data["ranges"] if row.gamma is None else [{**data, "gamma": [data["gamma"]]}]
        if len(stated) != len(ranges):
            raise Rejected(step, "by the table and the claim, it has other ranges of gamma")
        for found, one in zip(ranges, stated, strict=True):
            self._compare_claimed(row, found.terms, one, one["gamma"][0], step)

    @staticmethod
    def _same_cells(stated: Mapping[str, Any], expected: Mapping[str, Any], step: str) -> None:
        for name, value in expected.items():
            if stated[name] != value:
                raise Rejected(step, f"by the table and the claim, it has other {name}")

    def _compare_claimed(self, row: Row, terms: Terms, data: Mapping[str, Any], gamma: str, step: str) -> None:
        """What is claimed for one gamma, or from there on."""
        self._same_cells(
            {"alpha": data["alpha"], "gamma": gamma, "vacuity": data.get("vacuous", False)},
            {"alpha": terms.alpha_text, "gamma": terms.gamma.text, "vacuity": terms.vacuous},
            step,
        )
        self._compare_beta(terms, data["beta"], step)
        number = data["probability"]
        if number is None:
            self._left["the certificate has no probability there"] += 1
            return
        key = (*row.inputs, *row.outputs, terms.gamma)
        value = self._known.get(key)
        if value is None:
            try:
                value = self._second.probability(row.inputs, row.outputs, terms.gamma)
            except Undecided as undecided:
                value = undecided.with_traceback(None)
            self._known[key] = value
        if isinstance(value, Undecided):
            self._left[value.reason] += 1
        elif not _same(value, self._values[number]):
            raise Rejected(step, "its probability computed anew from the program is another function")
        else:
            self._agreed += 1

    def _compare_beta(self, terms: Terms, number: int, step: str) -> None:
        closed = terms.beta.closed
        if (terms, number) not in self._equal and closed is not None:
            data = self._betas[number]
            if data is not None and not _same(closed.value, _closed(data, step)):
                raise Rejected(step, "its beta is not that of the claim")
            self._equal.add((terms, number))

    def facts(self) -> list[str]:
        """What was compared."""
        ways = ", ".join(f"{count} events {way}" for way, count in sorted(self._second.measured.items()))
        if not self._agreed:
            return []
        return [f"the probabilities of {self._agreed} rows, computed anew{f' ({ways})' if ways else ''}"]

    def trusted(self) -> list[str]:
        """What was not."""
        notes = ["which exits the program has: one code (dipc.chain) built the chain for both computations"]
        notes += [f"the probability of {count} rows: {reason}" for reason, count in sorted(self._left.items())]
        return notes


def _closed(data: Any, step: str) -> tuple[ExpPoly, ExpPoly]:
    above, below = read_closed(data, step)
    return _exppoly(above), _exppoly(below)


def _same(value: Closed, stated: tuple[ExpPoly, ExpPoly]) -> bool:
    """Whether they are the same function; no common divisors are needed for that."""
    known = Quotient.of(value)
    return known.numerator * stated[1] == stated[0] * known.denominator


def _exppoly(function: Ring) -> ExpPoly:
    return ExpPoly.from_terms((k, q, c) for (k, q), c in function.items())
