"""dd of all inputs of programs with finite inputs at once, against dd of each alone and by definition."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

import dipc
from dipc.chain.state import finite_values
from dipc.program import ideal as ideals
from dipc.program.grid import gap
from dipc.program.ideal import Distances, Ideal
from dipc.program.metric import Norm
from dipc.text.core import Value

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
    monkeypatch.setattr(ideals, "_FEW_LOOKS", len(every) ** 3)
    alone = Distances(ideal, norm)
    for inputs in every:
        others = (other for other in every if answers[other] != answers[inputs])
        meant = min((norm.combined(map(gap, inputs, other)) for other in others), default=None)
        assert found[inputs] == alone.dd(inputs) == meant
    assert alone._everywhere is None


#: Ideals with fractions, arrays, loops and a division, over irregular values.
IDEALS = {
    "argmax": "input v[1..3] : {-2, 0, 1/2, 5}; output k : {1..3}; ideal { var i : {1..4} = 1; k <- 1;"
    " while i <= 3 do if v[i] > v[k] then k <- i end; i <- i + 1 end } k <- 1",
    "sum": "input a : {0..3}; input b : {0, 1/3, 7}; input w : bool; output s : real;"
    " ideal { s <- 2*a + b; if w then s <- s - 1 end } s <- 0",
    "division": "input a : {1..4}; input b : {-3..3}; output s : {0..2} = 0;"
    " ideal { if b != 0 and a/b >= 1/2 then s <- 1 else if a*b < -4 then s <- 2 end end } s <- 0",
    "names": "domain D = {low, middle, high};"
    " input a[1..2] : D; input n : {1..2}; output o : D = low; ideal { o <- a[n] } o <- low",
    "constant": "input a[1..2] : {0..2}; output o : bool; ideal { o <- true } o <- false",
    "a condition": "input a[1..2] : {0..6}; input w : bool; output o : {0..6}; requires a[1] <= a[2];"
    " ideal { o <- a[1]; if w then o <- a[2] end } o <- 0",
}


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("name", IDEALS)
def test_det_and_dd_of_all_inputs_by_their_definitions(name: str, norm: Norm) -> None:
    ideal = Ideal(dipc.load(f"program finite; {IDEALS[name]}\n"))
    choices = [finite_values(ideal.program.core.slots[slot]) for slot in ideal.finite_inputs]
    allowed = ideal.program.allowed
    every = [inputs for inputs in product(*choices) if allowed is None or allowed.allows(inputs)]
    one_by_one = {inputs: ideal.values(inputs) for inputs in every}
    ideal.list_answers()
    assert ideal._listed is not None
    assert {inputs: ideal.values(inputs) for inputs in every} == one_by_one
    dd = ideal.distances(norm)
    assert dd is not None
    for inputs in every:
        others = (other for other in every if one_by_one[other] != one_by_one[inputs])
        assert dd.dd(inputs) == min((norm.combined(map(gap, inputs, other)) for other in others), default=None)


def test_looks_at_single_inputs_do_not_grow_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search around each input looks at a share of all inputs: at the square of their number over all inputs."""
    looks = []
    values = Ideal.values
    for most in (4, 8, 16):
        text = f"program vote; input v[1..3] : {{0..{most}}}; output w : {{1..3}}; ideal {{ noiseless }}"
        ideal = Ideal(dipc.load(f"{text} w <- Exp(eps/2, k in {{1..3}} : v[k])"))
        count = 0

        def counted(self: Ideal, inputs: Sequence[Value]) -> tuple[Value, ...]:
            nonlocal count
            count += 1
            return values(self, inputs)

        monkeypatch.setattr(Ideal, "values", counted)
        distances = Distances(ideal, Norm.LINF)
        for inputs in product(*[finite_values(ideal.program.core.slots[slot]) for slot in ideal.finite_inputs]):
            distances.dd(inputs, values(ideal, inputs))
        looks.append(count)
    assert max(looks) <= 400, looks
