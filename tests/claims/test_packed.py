from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dipc.claims.given import Cell
from dipc.claims.table import PackedRows, first_of_each_claim

CELLS = [None, *(Cell(Fraction(number), str(number)) for number in range(3))]
cells = st.sampled_from(CELLS)


@given(st.lists(st.tuples(st.sampled_from(CELLS[1:]), cells, cells, cells, cells, cells), max_size=12))
def test_the_first_row_of_each_claim(records: list[tuple[Cell | None, ...]]) -> None:
    rows = PackedRows(1, 1)
    for record in records:
        rows.append(record)
    expected = [at for at, record in enumerate(records) if record[2:] not in [before[2:] for before in records[:at]]]
    assert [row.number - 1 for row in first_of_each_claim(rows)] == expected
    assert list(first_of_each_claim(tuple(rows))) == list(first_of_each_claim(rows))
