"""The families of DiPApprox come out as they were found: the quick ones here."""

from __future__ import annotations

import pytest

from benchmarks.privacy.dipapprox import ENTRIES, Entry, measured

QUICK = [
    entry
    for entry in ENTRIES
    if entry.number <= 3 and not (entry.all_pairs and entry.name in {"svt_laplace", "m_range"})
]


@pytest.mark.parametrize("entry", QUICK, ids=lambda entry: entry.title)
def test_the_verdict(entry: Entry) -> None:
    assert measured(entry).verdict == entry.verdict
