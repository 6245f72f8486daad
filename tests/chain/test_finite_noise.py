"""Noise that is compared with finite values alone, as a finite choice and as noise."""

from __future__ import annotations

import operator
import random
from fractions import Fraction
from itertools import product

import pytest

import dipc
from dipc.chain.flow import _starts
from dipc.program.program import Program
from dipc.text.ast import CompareOp

F = Fraction

HOLDS = {
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
    CompareOp.GE: operator.ge,
    CompareOp.GT: operator.gt,
}


@pytest.mark.parametrize("op", CompareOp)
def test_a_comparison_of_integers_changes_only_at_its_starts(op: CompareOp) -> None:
    for c, place in product((-2, -1, F(1, 2), 3), (F(-3), F(0), F(5, 2), F(-7, 3))):
        starts = _starts(op, place, rising=c > 0)
        changes = {F(x) for x in range(-9, 10) if HOLDS[op](c * (x - place), 0) != HOLDS[op](c * (x - 1 - place), 0)}
        assert changes <= starts
        assert changes == starts or place.denominator > 1


def random_program(chance: random.Random) -> str:
    """Tests of fresh noise; some are counted, some are kept, some end the program."""
    law = chance.choice(["Lap(eps/{}, {})", "DLap(eps/{}, {})", "Expo(eps/{})"])
    kind = "int" if law.startswith("D") else "real"
    lines = ["program p;", "output o : {0..3} = 0;", "output kept : bool = false;", f"var x : {kind};", "var b : bool;"]
    for _ in range(chance.randint(1, 4)):
        noise = law.format(chance.randint(1, 3), chance.choice(["o", "1", "o - 2"]))
        lines.append(f"x <- {noise};")
        op = chance.choice(["<", "<=", ">", ">="] + ["=", "!="] * (kind == "int"))
        place = chance.choice(["0", "1", "-1", "o", "o + 1"] + ["1/2"] * (kind == "real"))
        lines.append(f"b <- x {op} {place};")
        lines.append(
            chance.choice(
                [
                    "if b and o < 3 then o <- o + 1 end;",
                    "if b then kept <- not kept end;",
                    "if b then exit end;",
                    "if b then o <- 2 else o <- 0 end;",
                    f"if x > {chance.randint(-1, 1)} then kept <- b end;",
                ]
            )
        )
    return "\n".join(lines)


def check_seed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_program(random.Random(seed))
    outputs = [{"o": o, "kept": kept} for o in range(4) for kept in (False, True)]
    chosen = dipc.load(text)
    as_choice = [chosen.probability({}, output).enclosure(F(3, 4)) for output in outputs]
    with monkeypatch.context() as patch:
        patch.setattr(Program, "row_flow", property(lambda program: program.flow))
        drawn = dipc.load(text)
        as_noise = [drawn.probability({}, output).enclosure(F(3, 4)) for output in outputs]
    for one, other in zip(as_choice, as_noise, strict=True):
        assert abs(one[0] - other[0]) < F(1, 10**20), text
    assert abs(sum(low for low, _ in as_choice) - 1) < F(1, 10**20), text


@pytest.mark.parametrize("seed", range(12))
def test_both_give_the_same_probabilities(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_seed(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_400))
def test_many_give_the_same_probabilities(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_seed(seed, monkeypatch)


def test_independent_tests_are_not_multiplied_out() -> None:
    """If one path leads to an answer, the interval of each noise is a separate factor."""
    lines = [f"x <- Lap(eps/{i}, {i}/7); o[{i}] <- x >= 0;" for i in range(1, 31)]
    program = dipc.load("program p;\noutput o[1..30] : bool;\nvar x : real;\n" + "\n".join(lines))
    report = dipc.check(program, [{"o": (True,) * 30}], beta="30*exp(-eps/500)/2", eps="[1, 2]")
    assert str(report.verdict) == "accurate"
