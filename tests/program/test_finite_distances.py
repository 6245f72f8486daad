"""dd of all inputs of programs with finite inputs at once, against dd of each alone and by definition."""

from __future__ import annotations

import random
from itertools import product

import pytest

import dipc
from dipc.chain.state import finite_values
from dipc.program import ideal as ideals
from dipc.program.ideal import Distances, Ideal, gap
from dipc.program.metric import Norm

_HEAD = """program finite;
input a : {0, 1/2, 3};
input b : bool;
input c : {low, middle, high};
input d : {-1..1};
output x : {0..3} = 0;
output y : bool = false;
"""


def random_ideal(seed: int) -> str:
    """Comparisons of the inputs, one after the other, each of which may change an output."""
    chance = random.Random(seed)
    tests = ["a >= 1/2", "b", "not b", "c = middle", "c != low", "d > 0", "d >= 0", "a > d", "a = 3", "b and d < 0"]
    lines = []
    for _ in range(chance.randint(1, 4)):
        first, second = chance.sample(tests, 2)
        change = chance.choice(["x <- 1", "x <- 2", "y <- true", "y <- b"])
        lines.append(f"if {first} {chance.choice(['and', 'or'])} {second} then {change} end")
    return f"{_HEAD}ideal {{ {'; '.join(lines)} }}\nx <- 0"


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("seed", [*range(4), *[pytest.param(s, marks=pytest.mark.slow) for s in range(4, 40)]])
def test_all_at_once(seed: int, norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    ideal = Ideal(dipc.load(random_ideal(seed)))
    choices = [finite_values(ideal.program.core.slots[slot]) for slot in ideal.finite_inputs]
    every = list(product(*choices))
    answers = {inputs: ideal.values(inputs) for inputs in every}
    together = Distances(ideal, norm)
    found = {inputs: together.dd(inputs) for inputs in every * 4}
    assert together._everywhere is not None
    monkeypatch.setattr(ideals, "_MOST_AT_ONCE", 0)
    alone = Distances(ideal, norm)
    for inputs in every:
        others = (other for other in every if answers[other] != answers[inputs])
        meant = min((norm.combined(map(gap, inputs, other)) for other in others), default=None)
        assert found[inputs] == alone.dd(inputs) == meant
    assert alone._everywhere is None
