"""Programs that count, against their chains with a state for each number."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import dipc
from benchmarks.tasks import MOST
from dipc.algebra.exppoly import ClosedForm
from dipc.text.diagnostic import DiagnosticError

ALWAYS, NEVER = 1, 10**9

WEIGHTS = [
    ("1/2", "1/2"),
    ("exp(-eps)", "1 - exp(-eps)"),
    ("1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))"),
    ("1/4 + exp(-eps)/4", "3/4 - exp(-eps)/4"),
]

ENDS = [
    "",
    "if v >= 2 then out <- 1 end",
    "if v = 1 or v > 3 then out <- 1 else out <- 2 end",
    "out <- min(v, 2)",
    "while v < 2 do v <- v + 1 end",
    "out <- choose { 1 : 1/2, 2 : 1/2 }",
]


def statement(chance: random.Random, i: int) -> str:
    def choose(slot: str, one: str = "true", other: str = "false") -> str:
        first, second = chance.choice(WEIGHTS)
        return f"{slot} <- choose {{ {one} : {first}, {other} : {second} }}"

    return chance.choice(
        [
            f"{choose('a')}; if a then v <- v + 1 end",
            f"{choose('a')}; if not a then v <- 2 + v end",
            f"{choose('a')}; {choose('d')}; if a and d then v <- v + 1 else if a or d then v <- v + 2 end end",
            "x <- Exp(eps, i in {0..2} : -i); v <- v + x",
            f"{choose('a', f'b[{i}]', f'not b[{i}]')}; if a then v <- v + 1 end",
            f"if b[{i}] then {choose('a')}; if a then v <- v + 1 end else v <- v + 1 end",
            # What is none of these.
            f"{choose('a')}; if a then flag <- true end",
            f"{choose('a')}; if a then exit end",
            "if v >= 2 then flag <- true end",
            f"if flag then v <- v + 1 else {choose('flag')} end",
        ]
    )


def answered(text: str, inputs: dict[str, Any], row: dict[str, Any]) -> ClosedForm | str:
    try:
        return dipc.load(text).probability(inputs, row)
    except DiagnosticError as error:
        return str(error)


@pytest.mark.parametrize("seed", [*range(25), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(25, 300))])
def test_the_same_closed_forms(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the same mistakes: where the number leaves its domain."""
    chance = random.Random(f"counting {seed}")
    n = chance.randint(2, 5)
    statements = [statement(chance, i) for i in range(1, n + 1)] + [chance.choice(ENDS)]
    text = f"""
    program counting;
    input b[1..{n}] : bool;
    output out : {{0..2}} = 0;
    output v : {{0..{chance.choice((2 * n, 2 * n + 1, n))}}} = {chance.randint(0, 1)};
    output flag : bool = false;
    var a, d : bool = false;
    var x : {{0..2}} = 0;
    {"; ".join(filter(None, statements))}
    """
    inputs = {"b": [chance.random() < 0.5 for _ in range(n)]}
    wanted = {"out": chance.randint(0, 2), "v": chance.randint(0, n), "flag": chance.random() < 0.5}
    row = {name: value for name, value in wanted.items() if chance.random() < 0.6}
    found = []
    for many in (ALWAYS, NEVER):
        monkeypatch.setattr("dipc.program.exit_weights._MANY", many)
        found.append(answered(text, inputs, row))
    assert found[0] == found[1]


def test_six_hundred_responses() -> None:
    bits = [i % 3 != 0 for i in range(600)]
    low, high = dipc.load(MOST, n=600).probability({"b": bits}, {"most": True}).enclosure("1/10")

    def masses(n: int, p: float) -> list[float]:
        return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]

    p = 1 / (1 + math.exp(-0.1))
    kept, turned = masses(400, p), masses(200, 1 - p)
    wanted = math.fsum(x * y for i, x in enumerate(kept) for j, y in enumerate(turned) if i + j >= 300)
    assert math.isclose(float(low), wanted, rel_tol=1e-9)
    assert math.isclose(float(high), wanted, rel_tol=1e-9)


def test_a_number_that_leaves_its_domain_is_told_by_its_path() -> None:
    with pytest.raises(DiagnosticError, match="outside its domain"):
        dipc.load(MOST.replace("{0..n}", "{0..n - 1}"), n=60).probability({"b": [True] * 60}, {"most": True})
