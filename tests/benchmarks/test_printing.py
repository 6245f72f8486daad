"""Tables of the benchmarks as text."""

from __future__ import annotations

import pytest

from benchmarks.printing import Table, alarm, colored


def test_columns_are_aligned_without_colors(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("Verdicts", ("program", "rows", "verdict"), ("rows",))
    table.add("sparse", "27", colored("accurate", good=True))
    table.add("x", "3", alarm("DIFFERS"))
    table.show()
    assert capsys.readouterr().out.splitlines() == [
        "Verdicts",
        "program  rows  verdict",
        "sparse     27  accurate",
        "x           3  DIFFERS",
    ]
