"""Deterministic programs as closures, against the chain's steps; distances out of a set, against fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.chain.flow import analyze
from dipc.program.deterministic import DeterministicRun, runs_at_once
from dipc.program.ideal import Distances, Ideal, Unassigned, execute
from dipc.program.metric import Norm
from dipc.text.diagnostic import DiagnosticError

STATEMENTS = [
    "x <- q[{i}]",
    "x <- x + k*q[{i}] - 1/2",
    "x <- 2*x - q[1]",
    "k <- k + 1",
    "k <- max(k - 1, 0)*min(k, 2)",
    "k <- 6/(k - 1) - 3",
    "flag <- x > q[{i}]",
    "flag <- not flag and (k = 2 or x <= 1)",
    "if q[{i}] >= x then out <- a; x <- q[{i}] else k <- 1 end",
    "if x = 1/2 or flag then out <- b end",
    "out <- list[k + 1]",
    "list[k] <- b",
    "n <- n + z",
    "n <- z*k - 1; flag <- n < 2*z",
    "while k < 3 do k <- k + 1 end",
    "while flag do k <- abs(k - 1) end",
    "if flag then exit end",
]


def random_program(chance: random.Random) -> str:
    body = "; ".join(chance.choice(STATEMENTS).format(i=chance.randint(1, 3)) for _ in range(chance.randint(2, 8)))
    return f"""
    program det;
    domain word = {{a, b}};
    input q[1..3] : real;
    input z : int;
    input f : bool;
    output out : word = {chance.choice(["a", "b"])};
    output x : real = {chance.choice(["0", "1/2"])};
    output n : int = 0;
    var k : {{0..3}} = {chance.randint(0, 3)};
    var flag : bool = false;
    var list[1..3] : word = a;
    flag <- f; {body}
    """


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(n, marks=pytest.mark.slow) for n in range(40, 1500))])
def test_the_same_outputs_or_nothing(seed: int) -> None:
    chance = random.Random(f"deterministic {seed}")
    try:
        flow = analyze(dipc.load(random_program(chance)).core)
    except DiagnosticError:
        return  # such as a constant division by 0
    run = DeterministicRun(flow)
    for _ in range(6):
        inputs = [Fraction(chance.randint(-3, 3), chance.choice([1, 2])) for _ in range(3)]
        values = [*inputs, Fraction(chance.randint(-2, 2)), chance.random() < 0.5]
        try:
            expected: object = execute(flow, values, 1000)
        except (DiagnosticError, Unassigned):
            expected = None
        found = run.outputs(values)
        assert found == expected
        assert found is None or list(map(type, found)) == list(map(type, expected))


def test_most_of_these_programs_end_well() -> None:
    ended = 0
    for seed in range(40):
        try:
            flow = analyze(dipc.load(random_program(random.Random(f"deterministic {seed}"))).core)
        except DiagnosticError:
            continue
        zeros = [Fraction(0)] * 3
        ended += DeterministicRun(flow).outputs([*zeros, Fraction(1), False]) is not None
    assert ended > 10


def test_programs_with_chance_are_not_run_so() -> None:
    assert not runs_at_once(dipc.load(MECHANISMS["sparse"].path).flow)
    assert runs_at_once(Ideal(dipc.load(MECHANISMS["sparse"].path)).flow)


@pytest.mark.parametrize("norm", [Norm.LINF, Norm.L1])
@pytest.mark.parametrize("name", ["sparse", "noisy_max", "above_threshold"])
def test_distances_out_in_integers(name: str, norm: Norm) -> None:
    """Guard by guard in fractions, where the inputs with one answer are one convex set."""
    ideal = Ideal(dipc.load(MECHANISMS[name].path))
    distances = Distances(ideal, norm)
    chance = random.Random(f"{name} {norm}")
    for _ in range(30):
        inputs = [Fraction(chance.randint(-20, 20), chance.randint(1, 9)) for _ in ideal.program.core.inputs]
        answer = ideal.values(inputs)
        (region,) = ideal.alike({}, answer)
        point = dict(zip(ideal.program.core.inputs, inputs, strict=True))
        expected = min(guard.form.evaluate(point) / norm.steepness(guard.form.inputs) for guard in region.guards)
        assert distances.dd(inputs) == expected
