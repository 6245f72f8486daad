"""Certificates against the program and the table that they are about, with every probability computed anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from benchmarks.literature.entries import ENTRIES
from dipc.algebra.limits import Undecided
from dipc.certificate.recompute import recomputed
from dipc.certificate.seal import sealed
from dipc.certificate.second import Second
from dipc.certificate.write import certify
from dipc.tables.table import read_table
from dipc.verifier.budget import Budget
from dipc.verifier.check import LINK, Document, check_document, read_document
from dipc.verifier.outcome import Accepted
from dipc.verifier.rejection import Rejected

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
SPARSE = BENCHMARKS / "sparse.dip"
TABLE = BENCHMARKS / "sparse.csv"


def document_of(program: Path, table: Path, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        certify(dipc.check(dipc.load(program), str(table), keep_proofs=True, **options), "test")
    )
    return found


def compared(data: dict[str, Any], program: Path = SPARSE, table: Path = TABLE) -> Accepted:
    """As `dipc verify --recompute` does, for data that is accepted by itself."""
    document = read_document(sealed({name: value for name, value in data.items() if name != "digest"}))
    return recomputed(check_document(document, Budget()), document, program, table)


@pytest.fixture(scope="module")
def sparse() -> dict[str, Any]:
    return document_of(SPARSE, TABLE)


def test_every_probability_of_sparse_is_computed_anew(sparse: dict[str, Any]) -> None:
    accepted = compared(sparse)
    assert "the probabilities of 27 rows, computed anew (7 events order by order)" in accepted.facts
    assert LINK not in accepted.trusted
    assert len(accepted.trusted) == 1
    assert "dipc.chain" in accepted.trusted[0]


def test_another_engine_wrote_a_wrong_probability(sparse: dict[str, Any]) -> None:
    """A certificate that is sound by itself but is not about the program: its probabilities are those of eps/4."""
    other = SPARSE.read_text().replace("Lap(eps/(4*c), q[i])", "Lap(eps/(3*c), q[i])")
    assert other != SPARSE.read_text()
    report = dipc.check(dipc.load(other), str(TABLE), keep_proofs=True)
    forged = json.loads(certify(report, "test")) | {"program": sparse["program"]}
    with pytest.raises(Rejected, match="row 1: its probability computed anew from the program is another function"):
        compared(forged)


def change(path: tuple[str | int, ...], value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def changed(data: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(json.dumps(data))
        parent: Any = result
        for name in path[:-1]:
            parent = parent[name]
        parent[path[-1]] = value
        return result

    return changed


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (change(("rows", 4, "input", 1), "7"), r"row 5: .* other inputs"),
        (change(("rows", 4, "output", 1), None), r"row 5: .* other outputs"),
        (change(("rows", 1, "input"), ["-1", "-1", "1"]), r"row 2: .* other inputs"),
    ],
)
def test_other_rows_are_rejected(
    sparse: dict[str, Any], changed: Callable[[dict[str, Any]], dict[str, Any]], why: str
) -> None:
    with pytest.raises(Rejected, match=why):
        compared(changed(sparse))


def test_another_table_is_rejected(sparse: dict[str, Any], tmp_path: Path) -> None:
    lines = TABLE.read_text().splitlines(keepends=True)
    shorter = tmp_path / "shorter.csv"
    shorter.write_text("".join(lines[:-1]))
    with pytest.raises(Rejected, match="there are 27 of them, and 26 in the table"):
        compared(sparse, table=shorter)
    swapped = tmp_path / "swapped.csv"
    swapped.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]))
    with pytest.raises(Rejected, match="row 1"):
        compared(sparse, table=swapped)
    nearer = tmp_path / "nearer.csv"
    nearer.write_text(lines[0] + lines[1].replace("bot,1\n", "bot,1/2\n") + "".join(lines[2:]))
    with pytest.raises(Rejected, match=r"row 1: .* other alpha"):
        compared(sparse, table=nearer)


def test_the_claim_is_compared(tmp_path: Path) -> None:
    """The program's own claim is not the certificate's, and options cannot be told from it: the certificate counts."""
    data = document_of(SPARSE, TABLE, beta="6*exp(-alpha*eps/8)", eps="(0, 3], [5, inf)")
    assert data["claim"]["eps"] == ["(0, 3]", "[5, inf)"]
    compared(data)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("noisy_max_discrete", "by a sweep"),
        ("noisy_max_exponential", "by a sweep"),
        ("smart_sum", "order by order"),
        ("randomized_response", None),
        ("rejection_sampling", None),
    ],
)
def test_the_literature(name: str, way: str | None) -> None:
    entry = next(entry for entry in ENTRIES if entry.name == name)
    program = dipc.load(entry.path)
    table = read_table(entry.table(entry.claims[0])[:8], program.core)
    second, first = Second(program), program.probabilities()
    gamma = program._pool.cell(Fraction(1))
    for row in table.rows:
        assert second.probability(row.inputs, row.outputs, gamma) == first.probability(*_cells(row), gamma).value
    assert set(second.measured) == ({way} if way else set())


def _cells(row: Any) -> tuple[Any, Any]:
    return row.inputs, row.outputs


def test_what_cannot_be_done_is_said() -> None:
    entry = next(entry for entry in ENTRIES if entry.name == "partial_sums")
    program = dipc.load(entry.path)
    row = read_table(entry.table(entry.claims[0])[:1], program.core).rows[0]
    with pytest.raises(Undecided, match="orders only compare two; by a sweep: a constraint relates 3 noises"):
        Second(program).probability(row.inputs, row.outputs, program._pool.cell(Fraction(1)))


def test_rows_that_are_not_done_stay_on_trust(tmp_path: Path) -> None:
    entry = next(entry for entry in ENTRIES if entry.name == "partial_sums")
    table = tmp_path / "table.csv"
    table.write_text(entry.csv())
    accepted = compared(document_of(entry.path, table), entry.path, table)
    assert [
        note for note in accepted.trusted if note.startswith("the probability of 8 rows: a constraint relates three")
    ]
    assert not [fact for fact in accepted.facts if "computed anew" in fact]


def test_real_outputs(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("q[1],q[2],q[3],out[1],out[2],out[3],val[1],val[2],val[3]\n-1,0,1,bot,top,none,,0,\n")
    accepted = compared(document_of(BENCHMARKS / "numeric_sparse.dip", table), BENCHMARKS / "numeric_sparse.dip", table)
    assert any("the probabilities of 1 rows, computed anew" in fact for fact in accepted.facts)


def test_documents_are_what_the_command_line_reads(sparse: dict[str, Any]) -> None:
    assert isinstance(read_document(sealed({k: v for k, v in sparse.items() if k != "digest"})), Document)
