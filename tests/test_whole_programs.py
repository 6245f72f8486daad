"""Random programs over the whole language: exact probabilities sum to 1 and agree with the independent interpreter."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import Quotient
from dipc.simulation.compare import Agreement
from tests.patience import examples

HEAD = """
program random;
const half = 1/2;
domain color = {{red, green, blue}};
input q[1..2] : real;
input k : {{0..2}};
output out : {{0..3}} = 0;
output tint : color = red;
var b, b1 : bool = false;
var x, y, n : {{0..3}} = 1;
var c : color = green;
var z[1..2] : int;
var r[1..3] : real;
{draws}
{body};
if b then out <- x else out <- y end;
tint <- c
"""


class Writer:
    """A writer of statements that never fault: values are clamped to their domain, loops end almost surely."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.choose = random.choice
        self.comparisons = 0

    def program(self) -> str:
        rates = ["eps", "eps/2", "2*eps", "eps/3"]
        draws = [f"z[1] <- DLap({self.choose(rates)}, {self.choose(['0', 'k', '1'])})"]
        draws.append(f"z[2] <- {self.choose(['2*z[1] - 1', 'DLap(eps, 1)', 'DLap(eps, z[1])'])}")
        draws.append(f"r[1] <- Lap({self.choose(rates)}, q[1])")
        draws.append(f"r[2] <- {self.choose(['Lap(eps, q[2])', 'Expo(eps)', 'Lap(eps, r[1])', 'r[1]/2 + k'])}")
        draws.append(f"r[3] <- {self.choose(['Lap(eps/2, 0)', 'r[1] + r[2]', 'Expo(2*eps)', 'k*r[1] - r[2]'])}")
        return HEAD.format(draws=";\n".join(draws) + ";", body=self.block(3))

    def number(self) -> str:
        return self.choose(
            ["0", "1", "3", "k", "x", "y", "n", "max(0, x - 1)", "abs(k - y)", "min(3, x + half + half)"]
        )

    def noisy(self) -> str:
        """A comparison of noise; few of them, so that measuring stays quick."""
        self.comparisons += 1
        if self.comparisons > 3:
            return f"{self.number()} <= {self.number()}"
        op = self.choose(["<", "<=", "=", "!=", ">=", ">"])
        real = self.choose(["r[1]", "r[2]", "r[3]", "r[1] - r[2]", "2*r[3] + q[1]", "-r[2]/3"])
        whole = self.choose(["z[1]", "z[2]", "z[1] + z[2]", "3*z[1] - k"])
        return self.choose(
            [
                f"{real} {op} {self.choose(['r[1]', 'r[2]', 'k', 'q[2]', '1/2'])}",
                f"{whole} {op} {self.choose(['z[2]', 'k', '1', '-2'])}",
            ]
        )

    def condition(self, depth: int = 1) -> str:
        if depth and self.random.random() < 0.4:
            left, right = self.condition(0), self.condition(0)
            return self.choose([f"({left}) and ({right})", f"({left}) or ({right})", f"not ({left})"])
        finite = ["b", "b1", "c = green", "c != red", f"{self.number()} >= {self.number()}", "true", "false"]
        return self.noisy() if self.random.random() < 0.5 else self.choose(finite)

    def simple(self) -> str:
        kind = self.choose(["dom", "dom", "bool", "bool", "color", "choose", "exp", "count", "exit"])
        target = self.choose(["x", "y", "n"])
        match kind:
            case "dom":
                return f"{target} <- {self.number()}"
            case "bool":
                return f"{self.choose(['b', 'b1'])} <- {self.condition()}"
            case "color":
                return f"c <- {self.choose(['red', 'blue'])}"
            case "choose":
                weights = self.choose(
                    [("1/3", "2/3"), ("exp(-eps)", "1 - exp(-eps)"), ("1/(1 + eps)", "eps/(1 + eps)")]
                )
                return f"{target} <- choose {{{self.number()} : {weights[0]}, 2 : {weights[1]}}}"
            case "exp":
                return f"{target} <- Exp(eps/2, v in {{0..3}} : -abs(v - {self.number()}))"
            case "count":
                return f"{target} <- min(3, {target} + 1)"
            case _:
                return "exit" if self.random.random() < 0.3 else "tint <- blue"

    def looping(self) -> str:
        """A loop that is left by a coin or by counting; its body assigns neither reals nor ints."""
        inner = self.choose(["c <- red", "b <- not b", "y <- x", f"if {self.condition(0)} then y <- 3 end"])
        coin = "x <- choose {0 : half, x : 1/4, 3 : 1/4}"
        counting = f"n <- 0; while n < {self.choose(['1', '3'])} and not b1 do {inner}; n <- n + 1 end"
        return self.choose([f"x <- 1; while x > 0 do {inner}; {coin} end", counting])

    def statement(self, depth: int) -> str:
        roll = self.random.random()
        if depth == 0 or roll < 0.5:
            return self.simple()
        if roll < 0.6:
            return self.looping()
        if roll < 0.7:
            return f"for i in 1..2 do y <- min(3, y + i - 1); {self.simple()} end"
        if roll < 0.85:
            return f"if {self.condition()} then {self.block(depth - 1)} end"
        return f"if {self.condition()} then {self.block(depth - 1)} else {self.block(depth - 1)} end"

    def block(self, depth: int) -> str:
        return "; ".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))


def check(seed: int, runs: int) -> None:
    random = Random(seed)
    text = Writer(random).program()
    program = dipc.load(text)
    given_input = {
        "q[1]": Fraction(random.randint(-3, 3), 2),
        "q[2]": Fraction(random.randint(-2, 2)),
        "k": random.randint(0, 2),
    }
    outcomes = program.outcomes(given_input)
    assert sum((Quotient.convert(outcome.probability.value) for outcome in outcomes), Quotient.convert(0)) == 1, text
    eps = Fraction(random.randint(1, 12), 4)
    comparison = dipc.simulate(program, given_input, eps, runs=runs, seed=seed, confidence="999999999/1000000000")
    assert comparison.agreement is Agreement.MATCH, text


@settings(max_examples=examples(8))
@given(st.integers(0, 2**32))
def test_a_random_program(seed: int) -> None:
    check(seed, 4_000)


@pytest.mark.slow
def test_a_thousand_random_programs() -> None:
    for seed in range(1_000):
        check(seed, 20_000)
