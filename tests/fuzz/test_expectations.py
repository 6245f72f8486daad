"""Nothing false is accepted, or met where a claim is expected: some of each family here, more in the slow tests."""

from __future__ import annotations

import pytest

from tests.fuzz.expectations import FAMILIES, attempts, fields


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_accepted_or_met_is_true(name: str) -> None:
    found = attempts(name, range(25))
    assert found["accepted"]
    assert found["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_accepted_or_met_is_true_of_thousands(name: str) -> None:
    assert attempts(name, range(25, 1_025))["tried"]


@pytest.mark.parametrize("name", FAMILIES)
def test_no_field_makes_a_false_claim_accepted(name: str) -> None:
    assert fields(name, 3) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_no_field_at_all_makes_a_false_claim_accepted(name: str) -> None:
    assert fields(name)
