"""The random programs of `python -m benchmarks undecided`."""

from __future__ import annotations

import pytest

from benchmarks import undecided_ints
from benchmarks.undecided import KINDS, random_claim, run


def test_the_claims_of_a_number_are_always_the_same_and_of_every_kind() -> None:
    assert random_claim(5) == random_claim(5)
    assert {random_claim(seed).kind for seed in range(40)} == set(KINDS)


def test_no_input_of_the_grid_contradicts_a_verdict() -> None:
    assert not [outcome for outcome in run(map(random_claim, range(4))) if outcome.wrong]


def test_claims_about_int_inputs() -> None:
    claims = [undecided_ints.random_int_claim(seed) for seed in range(40)]
    assert {claim.kind for claim in claims} == set(undecided_ints.KINDS)
    assert not [outcome for outcome in run(claims[:4], undecided_ints.grid) if outcome.wrong]


@pytest.mark.slow
def test_no_input_of_the_grid_contradicts_a_verdict_on_many_programs() -> None:
    assert not [outcome for outcome in run(map(random_claim, range(1000, 1300))) if outcome.wrong]
    claims = map(undecided_ints.random_int_claim, range(1000, 1300))
    assert not [outcome for outcome in run(claims, undecided_ints.grid) if outcome.wrong]
