"""Rows of which one bound below all of them is enough, against the same rows decided one by one."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.decide.engine import Engine
from dipc.options import Options
from dipc.program.program import Program
from dipc.questions.question import answer, question_of
from dipc.questions.report import Report
from dipc.questions.rows import TableRows

TESTS = """
program tests;
const n = 3;
input q[1..n] : int;
output c : {0..n} = 0;
var r : int;
var k : {0, 1};
for i in 1..n do
  k <- choose {0 : 1/3, 1 : 2/3};
  r <- DLap(eps/i, q[i] + k);
  if r >= 1 then c <- c + 1 end
end
"""


def decided(program: Program, table: Any, *, forms: bool, **given: Any) -> tuple[Report, int]:
    engine = Engine(program.measurer, program.limits)
    engine.forms = forms
    report = answer(question_of(program, table, Options(forms=forms, **given)), engine)
    return report, engine.spent.obligations


def compared(program: Program, table: Any, **given: Any) -> tuple[int, int]:
    """The obligations of both ways, whose answers are the same."""
    fast, few = decided(program, table, forms=False, **given)
    slow, many = decided(program, table, forms=True, **given)
    assert fast.verdict is slow.verdict
    assert fast.counts == slow.counts
    for one, other in zip(fast.rows, slow.rows, strict=True):
        assert (one.input, one.output, one.alpha, one.vacuous) == (
            other.input,
            other.output,
            other.alpha,
            other.vacuous,
        )
        assert (one.verdict, one.counterexample, one.failing) == (other.verdict, other.counterexample, other.failing)
    return few, many


CLAIMS = [
    ("sparse", "2*m*c*exp(-alpha*eps/(8*c))/{k}"),
    ("sparse_variant", "2*m*c*exp(-alpha*eps/(8*c))/{k}"),
    ("noisy_max", "m*exp(-alpha*eps/2)/{k}"),
    ("above_threshold", "2*m*exp(-alpha*eps/8)/{k}"),
]


@pytest.mark.parametrize(("name", "beta"), CLAIMS)
@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_grids_come_out_the_same(name: str, beta: str, k: int) -> None:
    program = dipc.load(MECHANISMS[name].path, m=3)
    few, many = compared(program, None, inputs="q = -2..2", beta=beta.format(k=k), classes=False)
    assert few <= many + 2
    assert few * 2 < many or k > 1


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 200))])
def test_random_rows_come_out_the_same(seed: int) -> None:
    chance = random.Random(f"least bounds {seed}")
    beta = f"{chance.choice(['1', '1/2', '9/10', '3'])}*exp(-eps/{chance.randint(1, 9)})"
    if chance.random() < 0.5:
        program, name = dipc.load(TESTS), "c"
        answers: list[Any] = [0, 1, 2, 3]
    else:
        program, name = dipc.load(MECHANISMS["noisy_max"].path, m=3), "out"
        answers = [1, 2, 3]
    values = [chance.randint(-3, 3) for _ in range(5)]
    rows = [
        {**{f"q[{i}]": chance.choice(values) for i in (1, 2, 3)}, name: chance.choice(answers[:2]), "dd": "inf"}
        for _ in range(40)
    ]
    compared(program, rows, beta=beta, alpha=Fraction(1))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_rows_are_compared_some_at_a_time(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """Later rows reuse the bounds that were enough, or not, for earlier ones; most bounds are forgotten."""
    monkeypatch.setattr("dipc.questions.rows._COMPARED", 7)
    monkeypatch.setattr("dipc.questions.rows._REMEMBERED", 9)
    monkeypatch.setattr("dipc.program.program._REMEMBERED", 9)
    monkeypatch.setattr("dipc.questions.rows._MOST_KINDS", 20)
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    few, many = compared(program, None, inputs="q = -2..2", beta=f"2*m*c*exp(-alpha*eps/(8*c))/{k}", classes=False)
    assert few < many or k > 1


def test_of_different_rows_few_bounds_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    rows = [
        {"q[1]": Fraction(-i, 100), "q[2]": Fraction(-i * i, 100), "q[3]": 1, "out[1]": "bot", "out[2]": "bot"}
        | {"out[3]": "top"}
        for i in range(1, 150)
    ]
    plain, _ = decided(program, rows, forms=False)
    monkeypatch.setattr("dipc.program.program._REMEMBERED", 20)
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    source = question_of(program, rows, Options(forms=False))
    engine = Engine(program.measurer, program.limits)
    engine.forms = False
    report = answer(source, engine)
    assert report.counts == plain.counts
    assert isinstance(source, TableRows)
    assert 0 < len(source.probabilities._interned) <= 21


def test_a_grid_takes_a_decision_for_each_distance() -> None:
    """Rows at one distance share a decision, even where another loser is second."""
    program = dipc.load(MECHANISMS["noisy_max"].path, m=3)
    few, many = compared(program, None, inputs="q = -3..3", classes=False)
    assert few <= 8
    assert many > 20
