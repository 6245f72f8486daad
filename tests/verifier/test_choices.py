"""Chains of choices written by hand: the right weights are accepted, whatever else is rejected."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dipc.verifier.budget import Budget
from dipc.verifier.choices import Chain, check_chain
from dipc.verifier.rejection import Rejected
from tests.patience import at_most

ONE = [[0, "0", "1"]]
HALF = [[0, "0", "1/2"]]
DECAY = [[0, "-1", "1"]]
REST = [[0, "-1", "-1"], [0, "0", "1"]]
NEGATIVE = [[0, "0", "-1"]]
TWO = [[0, "0", "2"]]

#: Stay with e^-eps, else leave to one of two exits by a fair coin: state 0 is visited 1/(1 - e^-eps) times.
LOOP = {
    "functions": [DECAY, REST, HALF],
    "steps": [[[0, 0], [1, 1]], [[2, 2], [3, 2]]],
    "visits": [{"numerator": ONE, "denominator": REST}, ONE],
    "weights": [HALF, None],
}


def check(data: Any) -> Chain:
    return check_chain(data, Budget(300_000), "chain 1")


def changed(**fields: Any) -> dict[str, Any]:
    return copy.deepcopy(LOOP) | fields


def test_a_loop_is_solved() -> None:
    found = check(LOOP)
    assert found.reason is None
    assert list(found.weights) == [2]


def test_weights_on_trust_are_said_to_be() -> None:
    data = {name: value for name, value in LOOP.items() if name != "visits"} | {"unreplayed": "it is long"}
    assert check(data).reason == "it is long"


def test_a_program_that_ends_at_once() -> None:
    assert check({"functions": [], "steps": [], "visits": [], "weights": [ONE]}).weights == {0: check_one()}


def check_one() -> Any:
    from dipc.verifier.ring import read_closed

    return read_closed(ONE, "")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (changed(weights=[DECAY, None]), "the weight of exit 0 is not"),
        (changed(visits=[ONE, ONE]), "the weight of state 0 is not"),
        (changed(visits=[LOOP["visits"][0], TWO]), "the weight of state 1 is not"),
        (changed(visits=[ONE]), "not one number of visits"),
        (changed(unreplayed="it is long"), "or the reason"),
        ({name: value for name, value in LOOP.items() if name != "visits"}, "or the reason"),
        # Any visits solve the system of a loop that nothing leaves.
        (changed(functions=[ONE], steps=[[[0, 0]]], visits=[TWO], weights=[None, None]), "no step leads out"),
        # The loop's matrix would be singular: x = x + 0.
        (changed(functions=[ONE, []], steps=[[[0, 0], [1, 1]]], visits=[TWO], weights=[None]), "positive"),
        (changed(functions=[TWO, NEGATIVE], steps=[[[0, 0], [1, 1]]], visits=[NEGATIVE], weights=[None]), "positive"),
        (changed(functions=[HALF, REST], steps=[[[0, 0], [1, 1]]], visits=[TWO], weights=[None]), "do not sum to 1"),
        (changed(steps=[[[0, 0], [0, 1]], []]), "twice"),
        (changed(steps=[[[0, 0], [9, 1]], []]), "integer from 0 to"),
        (changed(steps=[[[0, 0], [1, 3]], []]), "not listed"),
        (changed(steps=[[[0]], []]), "a step is"),
        (changed(functions=[{"numerator": ONE, "denominator": []}, REST, HALF]), "denominator is 0"),
        (changed(more=1), "more"),
        (None, "object"),
    ],
)
def test_wrong_chains_are_rejected(data: Any, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        check(data)


def test_hostile_chains_end_soon() -> None:
    size = 60
    ring = [[[(s + 1) % size, 0], [size, 1]] for s in range(size)]
    for data in (
        changed(functions=[HALF, HALF], steps=ring, visits=[ONE] * size, weights=[None]),
        changed(functions=[HALF, HALF], steps=[[[t, 0] for t in range(size + 1)]] * size, visits=[ONE] * size),
        changed(steps=[[]] * 100_000, visits=[ONE] * 100_000),
        changed(
            functions=[{"numerator": ONE, "denominator": [[0, f"-{i}", "1"], [0, "0", "1"]]} for i in range(1, 40)],
            steps=[[[i, i - 1] for i in range(1, 40)], *[[[40, i]] for i in range(39)]],
            visits=[ONE] * 40,
            weights=[ONE],
        ),
    ):
        with pytest.raises(Rejected), at_most(10_000_000):
            check(data)
