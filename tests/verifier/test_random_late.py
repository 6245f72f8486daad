"""Random programs of draws: drawn late they have the same law, and exchanges that are accepted change no law."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from dipc.verifier.late import drawing_late
from dipc.verifier.probability import Theorem
from dipc.verifier.program import Machine
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.syntax import read_program
from tests.verifier.test_symmetry import exchangeable, inputs_of, law, same

_HEADER = """program p; const n = 3; input x[1..n] : {0..1}; output o : {0..2} = 0; output f : bool = false;
var y[1..n] : {0..2} = 0; var s, t : {0..2} = 0; var b : bool = false; var r : real = 0;
"""

_WEIGHTS = (("1/2", "1/2"), ("3/4", "1/4"), ("1/(1 + exp(eps))", "exp(eps)/(1 + exp(eps))"), ("1", "0"))


class Body:
    """A random body; where it is `symmetric`, most statements are about all inputs alike."""

    def __init__(self, chance: random.Random, *, symmetric: bool) -> None:
        self.chance = chance
        self.symmetric = symmetric

    def place(self) -> str:
        return self.chance.choice(("s", "t", "o", "y[1]", "y[2]", "y[3]", "y[s + 1]", "y[t + 1]"))

    def value(self, depth: int = 0) -> str:
        kind = self.chance.randrange(7 if depth < 2 else 3)
        if kind < 2:
            inputs = ("x[1] + x[2] + x[3]",) if self.symmetric else ("x[1]", "x[2]", "x[3]")
            return self.chance.choice(("0", "1", "2", "s", "t", "o", "y[1]", "y[2]", "y[3]", *inputs))
        if kind == 2:
            return self.place()
        left, right = self.value(depth + 1), self.value(depth + 1)
        return self.chance.choice(
            (
                f"({left} + {right})",
                f"({left} - {right})",
                f"max({left}, {right})",
                f"min({left}, {right})",
                f"abs({left})",
            )
        )

    def clamped(self) -> str:
        return f"min(2, max(0, {self.value()}))"

    def condition(self) -> str:
        sign = self.chance.choice(("=", ">", ">=", "<", "!="))
        return self.chance.choice((f"{self.value()} {sign} {self.value()}", "b", "not b", f"b and {self.value()} > 0"))

    def statement(self, depth: int = 0) -> str:
        chance = self.chance
        one, other = chance.choice(_WEIGHTS)
        match chance.randrange(10 if depth < 2 else 6):
            case 0 | 1:
                return f"{self.place()} <- choose {{ {self.clamped()} : {one}, {self.clamped()} : {other} }}"
            case 2:
                return f"b <- choose {{ {self.condition()} : {one}, {self.condition()} : {other} }}"
            case 3 | 4:
                return f"{self.place()} <- {self.clamped()}"
            case 5:
                return chance.choice(
                    (
                        f"b <- {self.condition()}",
                        f"s <- Exp(eps, v in {{0..2}} : -abs({self.value()} - v))",
                        f"r <- Lap(eps, {self.value()}); b <- r >= {self.value()}",
                    )
                )
            case 6 | 7:
                ends = "; exit" if chance.random() < 0.1 else ""
                return f"if {self.condition()} then {self.block(depth + 1)}{ends} else {self.block(depth + 1)} end"
            case _:
                line = chance.choice(
                    (
                        f"y[i] <- choose {{ x[i] : {one}, 1 - x[i] : {other} }}",
                        f"y[i] <- choose {{ x[i] : {one}, {self.clamped()} : {other} }}",
                        "s <- min(2, s + y[i])",
                        "if y[i] = x[i] then t <- min(2, t + 1) end",
                        "y[i] <- max(y[i], t)",
                    )
                )
                return f"for i in 1..n do {line} end"

    def block(self, depth: int = 0) -> str:
        return "; ".join(self.statement(depth) for _ in range(self.chance.randint(1, 5 if not depth else 2)))


def outcome(derived: Theorem, inputs: tuple[Any, ...], *, late: bool) -> list[Any] | None:
    try:
        return law(derived, inputs, late=late)
    except NotDerived:
        return None


def compare(seed: int, count: int) -> Counter[str]:
    """Compare `count` random programs, and return how many have late draws and accepted exchanges."""
    found: Counter[str] = Counter()
    chance = random.Random(seed)
    for _ in range(count):
        text = _HEADER + Body(chance, symmetric=chance.random() < 0.6).block() + "; f <- b"
        tree = read_program(text, Budget())
        machine = Machine.compile(tree, {"n": Fraction(3)}, Budget())
        derived = Theorem(machine, None, Budget(), Budget())
        moved = drawing_late(machine, Budget()) is not None
        found["late"] += moved
        laws = {inputs: outcome(derived, inputs, late=False) for inputs in inputs_of(machine)}
        for inputs, own in laws.items() if moved else ():
            there = outcome(derived, inputs, late=True)
            assert (own is None) is (there is None), (inputs, text)
            assert own is None or there is None or same(own, there), (inputs, text)
        for one, other in combinations(range(3), 2):
            if not exchangeable(machine, None, (one, other)):
                continue
            found["exchangeable"] += 1
            for inputs, own in laws.items():
                swapped = list(inputs)
                swapped[one], swapped[other] = swapped[other], swapped[one]
                there = laws[tuple(swapped)]
                assert own is not None, (inputs, text)
                assert there is not None, (inputs, text)
                assert same(own, there), (one, other, inputs, text)
    return found


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_late_draws_and_accepted_exchanges_change_no_law(seed: int) -> None:
    found = compare(seed, 12 if seed == 1 else 60)
    assert min(found["late"], found["exchangeable"]) > 2, found
