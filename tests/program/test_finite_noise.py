"""Noise that is a finite choice, against the same noise measured, and counts of tests against a binomial law."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import comb, exp

import pytest

import dipc
from dipc.algebra.exppoly import total
from dipc.program.exits import OutputLaws
from dipc.program.program import Program
from tests.patience import at_most

DRAWS = ["Lap({rate}, {mean})", "Lap({rate}, 0)", "Expo({rate})"]
INT_DRAWS = ["DLap({rate}, {mean})", "DLap({rate}, -1)"]


def statement(chance: random.Random, draws: list[str], *, whole: bool) -> str:
    rate = chance.choice(["eps", "eps/2", "2*eps"])
    mean = chance.choice(["k", "2*k - 1", "0"] if whole else ["k", "k/3", "1/2", "b - k"])
    draw = "r <- " + chance.choice(draws).format(rate=rate, mean=mean)
    places = ["0", "1", "k", "v"] if whole else ["1/2", "0", "k", "v/2", "k - 1"]
    op = chance.choice([">=", ">", "<", "<="] + (["="] if whole else []))
    first, second = (f"r {op} {chance.choice(places)}" for _ in range(2))
    return chance.choice(
        [
            f"{draw}; if {first} then v <- min(v + 1, 3) end",
            f"{draw}; flag <- {first} and {second}",
            f"{draw}; if {first} then if {second} then v <- 0 else flag <- not flag end end",
            f"if flag then {draw} end; if {first} then v <- max(v - 1, 0) end",
            f"k <- choose {{ 0 : 1/3, 1 : 2/3 }}; {draw}; if {first} then v <- min(v + 1, 3) end",
            f"{draw}; s <- Lap(eps, k); flag <- s >= {chance.choice(['0', '1/2'])}; if {first} then v <- 3 end",
            f"{draw}; if 2*r {op} {chance.choice(places)} then flag <- true end; if {second} then v <- 1 end",
            # What is none of these: a noise that is compared with another one.
            "s <- Lap(eps, 0); t <- Lap(eps/2, k); if s >= t then v <- min(v + 1, 3) end",
        ]
    )


def random_program(seed: int) -> tuple[str, dict[str, Fraction]]:
    chance = random.Random(f"finite noise {seed}")
    whole = chance.random() < 0.4
    first = "r <- DLap(eps, 0)" if whole else "r <- Lap(eps, 0)"
    statements = [statement(chance, INT_DRAWS if whole else DRAWS, whole=whole) for _ in range(chance.randint(1, 3))]
    text = f"""
    program finite;
    input b : {{0, 1}};
    output v : {{0..3}} = {chance.randint(0, 2)};
    output flag : bool = false;
    var k : {{0, 1}} = 0;
    var r : {"int" if whole else "real"};
    var s, t : real;
    k <- b; {first}; {"; ".join(statements)}
    """
    return text, {"b": Fraction(chance.randint(0, 1))}


def laws_of(laws: OutputLaws, program: Program, inputs: dict[str, Fraction]) -> dict[object, object]:
    values = {slot: inputs[program.core.slots[slot].name] for slot in program.core.inputs}
    found: dict[object, object] = {}
    for answer, bound in laws.probabilities(values).items():
        parts = []
        for share in bound.shares:
            value = share.weight if share.weight is not None else 1
            for event in share.events:
                value = value * program.measurer.measure(event)  # type: ignore[operator]
            parts.append(value)
        whole = total(parts)  # type: ignore[arg-type]
        if whole != 0:
            found[answer] = whole
    return found


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(n, marks=pytest.mark.slow) for n in range(30, 600))])
def test_the_same_laws(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.program.exits._FEW_EXITS", 0)
    text, inputs = random_program(seed)
    program = dipc.load(text)
    measured = OutputLaws(program.flow, program.choices, program.limits)
    assert laws_of(program.laws(), program, inputs) == laws_of(measured, program, inputs)


def test_some_of_these_programs_have_such_noise() -> None:
    programs = [dipc.load(random_program(seed)[0]) for seed in range(30)]
    assert sum(bool(program.row_flow.places) for program in programs) > 15


TESTS = """
program tests;
const n = 10;
output c : {0..n} = 0;
var r : real;
var k : {0, 1};
for i in 1..n do
  k <- choose {0 : 1/3, 1 : 2/3};
  r <- Lap(eps, k);
  if r >= 1/2 then c <- c + 1 end
end
"""


@pytest.mark.parametrize(("n", "count"), [(1, 0), (4, 3), (10, 5), (60, 31)])
def test_counts_of_tests_are_binomial(n: int, count: int) -> None:
    found = dipc.load(TESTS, n=n).probability({}, {"c": count})
    for eps in (Fraction(1, 3), Fraction(2)):
        above = (exp(-float(eps) / 2) / 2) / 3 + (1 - exp(-float(eps) / 2) / 2) * 2 / 3
        low, high = found.enclosure(eps)
        assert float(low) == pytest.approx(comb(n, count) * above**count * (1 - above) ** (n - count))
        assert low <= high


def test_counting_takes_as_many_states_as_numbers() -> None:
    """Twice the tests, four times the work: not 2^20 times."""
    with at_most(800_000):
        dipc.load(TESTS, n=20).probability({}, {"c": 10})


def test_integers_of_a_test_lie_between_its_places() -> None:
    """All values of one integer noise, each by a comparison, against its masses."""
    text = """
    program masses; output v : {0..4} = 4; var r : int;
    r <- DLap(eps, 1);
    if r = 0 then v <- 0 end; if r = 1 then v <- 1 end; if 2*r = 3 then v <- 3 end; if r > 1 and r < 3 then v <- 2 end
    """
    program = dipc.load(text)
    ratio = exp(-1)
    mass = {value: (1 - ratio) / (1 + ratio) * ratio ** abs(value - 1) for value in range(3)}
    for value, there in product(range(3), [Fraction(1)]):
        assert float(program.probability({}, {"v": value}).enclosure(there)[0]) == pytest.approx(mass[value])
    assert program.probability({}, {"v": 3}).value.is_zero()
