"""Random programs that approximate random decision trees over two real inputs, against random inputs."""

from __future__ import annotations

import random

import pytest

from tests.questions.real_programs import program
from tests.questions.test_all_inputs import agrees_with_rows


def random_program(seed: int) -> str:
    """A random program whose ideal is a tree of comparisons.

    The program is the same tree, with noise in most comparisons. Now and then it has another threshold, shared noise,
    or answers mixed up.
    """
    chance = random.Random(seed)
    thresholds = ["0", "1", "-1", "1/2"]
    letters = ["a", "b", "c"]
    noise = 0
    draws: list[str] = []

    def form() -> str:
        return chance.choice(["x", "y", "x + y", "x - y", "2*x - y", "x - 3*y", "-x"])

    def tree(depth: int) -> tuple[str, str]:
        nonlocal noise
        if depth == 0 or chance.random() < 0.15:
            letter = chance.choice(letters)
            other = chance.choice(letters) if chance.random() < 0.05 else letter
            return f"o <- {letter}", f"o <- {other}"
        side, op, at = form(), chance.choice([">=", ">", "<=", "<"]), chance.choice(thresholds)
        there = chance.choice(thresholds) if chance.random() < 0.1 else at
        if chance.random() < 0.15:
            left = side
        else:
            noise += 1
            draws.append(f"n{noise} <- Lap({chance.choice(['eps', 'eps/2', '2*eps'])}, {side});")
            left = f"n{noise}" if chance.random() < 0.95 else f"n{chance.randint(1, noise)}"
        yes, no = tree(depth - 1), tree(depth - 1)
        return (
            f"if {side} {op} {at} then {yes[0]} else {no[0]} end",
            f"if {left} {op} {there} then {yes[1]} else {no[1]} end",
        )

    ideal, body = tree(2)
    names = f"var {', '.join(f'n{k}' for k in range(1, noise + 1))} : real;" if noise else ""
    beta = f"{chance.choice(['1/2', '1', '3/2', '2'])}*exp(-alpha*eps*{chance.choice(['1/4', '1/2', '1', '2'])})"
    alpha = chance.choice(["dd", "dd", "dd", "1"])
    metric = chance.choice(["", "", "input: l1"])
    return program(ideal, " ".join(draws) + " " + body, f"alpha: {alpha}; beta: {beta}", metric, names)


@pytest.mark.parametrize("seed", range(4))
def test_no_input_contradicts_the_verdict_on_a_random_program(seed: int) -> None:
    agrees_with_rows(random_program(seed), seed=seed, count=15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 220))
def test_no_input_contradicts_the_verdict_on_many_random_programs(seed: int) -> None:
    agrees_with_rows(random_program(seed), seed=seed, count=120)
