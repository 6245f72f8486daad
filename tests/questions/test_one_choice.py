"""Programs that make one random choice: classes of inputs with one probability, against each input alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import exp
from random import Random

import pytest

import dipc
from dipc.chain.state import finite_values
from dipc.claims.given import CellPool
from dipc.program.ideal import Distances, Ideal
from dipc.program.inputs import FiniteInputs
from dipc.program.metric import Norm
from dipc.questions import one_choice
from dipc.questions.one_choice import choice_classes

F = Fraction

_VOTE = "output w : {1..3}; ideal { noiseless } w <- Exp(eps/2, k in {1..3} : v[k])"
PROGRAMS = {
    "a vote": f"input v[1..3] : {{0..3}}; {_VOTE}",
    "irregular votes": f"input v[1..3] : {{-1, 0, 1/2, 5}}; {_VOTE}",
    "scores with a shift": (
        "input v[1..2] : {0..3}; input more : bool; output w : {1..3};"
        " ideal { w <- 1; if v[1] < v[2] then w <- 2 end; if more and v[2] = 0 then w <- 3 end }"
        " w <- Exp(eps, k in {1..3} : -abs(v[1] - k)*v[2])"
    ),
    "computed after the choice": (
        "input v[1..2] : {0..3}; input more : bool; output w : {0..4}; var c : {0..1};"
        " ideal { if more then w <- v[1] else w <- v[2] end }"
        " c <- Exp(eps, k in {0..1} : v[k+1]); w <- v[c+1]; if more and w < 3 then w <- w + 1 end"
    ),
    "a choice of listed weights": (
        "input v[1..2] : {0..3}; input more : bool; output w : {0..4}; var c : {0..2};"
        " ideal { if more then w <- v[1] else w <- v[2] end }"
        " c <- choose { 0 : exp(eps)/(2 + exp(eps)), 1 : 1/(2 + exp(eps)), 2 : 1/(2 + exp(eps)) };"
        " if c = 0 then w <- v[1] else w <- v[2] end"
    ),
}
#: Programs that have other randomness, or none.
OTHERS = {
    "two choices": (
        "input v[1..3] : {0..3}; output w : {1..3}; var b : bool; ideal { w <- 1 }"
        " b <- choose { true : 1/2, false : 1/2 }; w <- Exp(eps/2, k in {1..3} : v[k])"
    ),
    "noise": (
        "input v[1..3] : {0..3}; output w : bool; var r : real; ideal { w <- v[1] > 0 } r <- Lap(eps, v[1]); w <- r > 0"
    ),
    "no randomness": "input v[1..3] : {0..3}; output w : {1..3}; ideal { noiseless } w <- 1",
    "a choice in a branch": (
        "input v[1..3] : {0..3}; output w : {1..3}; ideal { w <- 1 }"
        " if v[1] > 0 then w <- Exp(eps, k in {1..3} : v[k]) else w <- 1 end"
    ),
    "answers that count as the same": (
        f"input v[1..3] : {{0..3}}; metric {{ same: w = w' or w < 3 and w' < 3; }} {_VOTE}"
    ),
}


def every_input(program: dipc.Program) -> FiniteInputs:
    return FiniteInputs("all inputs", tuple(tuple(finite_values(slot)) for slot in program.core.input_slots))


@pytest.mark.parametrize("name", PROGRAMS)
def test_members_of_a_class_have_one_probability_and_one_distance(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_choice, "LEAST_INPUTS", 1)
    monkeypatch.setattr(one_choice, "LEAST_SAVED", 1)
    program = dipc.load(f"program p; {PROGRAMS[name]}")
    inputs = every_input(program)
    classes = choice_classes(program, inputs)
    assert classes is not None
    assert len(classes) < inputs.count
    ideal, pool, probabilities = Ideal(program), CellPool(), program.probabilities()
    distances = Distances(ideal)
    own: Counter[object] = Counter()
    first: dict[object, tuple[object, ...]] = {}
    for point in product(*inputs.choices):
        answer = ideal.values(point)
        cells = [tuple(map(pool.cell, values)) for values in (point, answer)]
        function = probabilities.probability(*cells, pool.cell(F(0)))
        key = answer, distances.dd(point, answer), function
        own[key] += 1
        first.setdefault(key, point)
    counted: Counter[object] = Counter()
    for each in classes:
        cells = [tuple(map(pool.cell, values)) for values in (each.inputs, each.answer)]
        counted[each.answer, each.dd, probabilities.probability(*cells, pool.cell(F(0)))] += each.count
    assert counted == own
    assert set(first.values()) <= {each.inputs for each in classes}


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_have_no_such_classes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_choice, "LEAST_INPUTS", 1)
    program = dipc.load(f"program p; {OTHERS[name]}")
    assert choice_classes(program, every_input(program)) is None


@pytest.mark.parametrize("beta", ["2*exp(-(alpha - 1)*eps)", "exp(-alpha*eps)"])
def test_verdicts_and_counts_are_those_of_all_inputs(beta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_choice, "LEAST_INPUTS", 1)
    monkeypatch.setattr(one_choice, "LEAST_SAVED", 1)
    monkeypatch.setattr("dipc.questions.symmetric_inputs.ROW_BY_ROW", 1)
    program = dipc.load(f"program p; input v[1..3] : {{0..4}}; {_VOTE}")
    by_classes, by_rows = (dipc.check(program, alpha="dd", beta=beta, classes=classes) for classes in (None, False))
    assert len(by_classes.rows) < 125 == len(by_rows.rows)
    assert by_classes.verdict == by_rows.verdict
    counts = Counter[object]()
    for row in by_classes.rows:
        counts[row.verdict, row.vacuous] += row.count
    assert counts == Counter((row.verdict, row.vacuous) for row in by_rows.rows)


def test_the_number_of_rows_does_not_grow_with_that_of_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs grow with the third power of the votes, classes with the second: two differences of votes."""
    monkeypatch.setattr(one_choice, "LEAST_INPUTS", 1)
    numbers = []
    for most in (8, 16, 32):
        program = dipc.load(f"program p; input v[1..3] : {{0..{most}}}; {_VOTE}")
        classes = choice_classes(program, every_input(program))
        assert classes is not None
        numbers.append(len(classes))
    assert numbers[2] <= 4.5 * numbers[1] <= 4.5 * 4.5 * numbers[0]


# --- random programs, against a mechanism in Python -------------------------------------------------------------------

SCORES: dict[str, Callable[[int, Sequence[F]], F]] = {
    "v[min(k, 2)]": lambda k, v: v[min(k, 2) - 1],
    "-abs(v[1] - k)*v[2]": lambda k, v: -abs(v[0] - k) * v[1],
    "min(v[1], k) - v[2]": lambda k, v: min(v[0], F(k)) - v[1],
    "v[1]/2 + k": lambda k, v: v[0] / 2 + k,
    "max(v[1], v[2])*k": lambda k, v: max(v[0], v[1]) * k,
}
CONDITIONS: dict[str, Callable[[Sequence[F]], bool]] = {
    "v[1] > 0": lambda v: v[0] > 0,
    "v[1] < v[2]": lambda v: v[0] < v[1],
    "v[1] + v[2] >= 1": lambda v: v[0] + v[1] >= 1,
    "v[2] = 0": lambda v: v[1] == 0,
}


def compared(seed: int) -> None:
    """Compare the classes of a random program with the answer, dd and probability of each input, by Python."""
    chance = Random(f"one choice {seed}")
    domain = [F(value) for value in chance.choice([("0", "1", "2"), ("-1", "0", "1/2"), ("-2", "0", "1", "5")])]
    score, value = chance.choice([*SCORES.items()])
    (after, changes), (test, holds) = (chance.choice([*CONDITIONS.items()]) for _ in (0, 1))
    answer, one, two = (chance.randint(1, 3) for _ in range(3))
    norm = chance.choice([*Norm])
    program = dipc.load(
        f"program p; input v[1..2] : {{{', '.join(map(str, domain))}}}; output w : {{1..3}}; var c : {{1..3}};"
        f" metric {{ input: {norm.value}; }} ideal {{ if {test} then w <- {one} else w <- {two} end }}"
        f" c <- Exp(eps, k in {{1..3}} : {score}); if {after} then w <- {answer} else w <- c end"
    )
    every = list(product(domain, repeat=2))
    right = {v: one if holds(v) else two for v in every}

    def key(v: tuple[F, ...]) -> object:
        others = [u for u in every if right[u] != right[v]]
        dd = min([norm.combined([abs(a - b) for a, b in zip(u, v, strict=True)]) for u in others], default=None)
        weights = [exp(value(k, v)) for k in (1, 2, 3)]
        accepted = [w for k, w in zip((1, 2, 3), weights, strict=True) if (answer if changes(v) else k) == right[v]]
        return right[v], dd, round(sum(accepted) / sum(weights), 9)

    classes = choice_classes(program, every_input(program))
    assert classes is not None
    counted: Counter[object] = Counter()
    for each in classes:
        of_member = key(tuple([F(str(cell)) for cell in each.inputs]))
        assert isinstance(of_member, tuple)
        assert (each.answer, each.dd) == ((F(of_member[0]),), of_member[1]), seed
        counted[of_member] += each.count
    assert counted == Counter(map(key, every)), seed


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 1000), marks=pytest.mark.slow)])
def test_classes_of_random_programs_have_the_members_of_brute_force(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_choice, "LEAST_INPUTS", 1)
    monkeypatch.setattr(one_choice, "LEAST_SAVED", 0)
    for seed in seeds:
        compared(seed)
