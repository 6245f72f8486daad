"""A random walk over the programs of the README, one thing changed at a time: none takes long without a word.

Work is counted in calls between two words of progress, so that the machine does not matter. A change may be refused, or
end undecided; then it says why.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.mechanisms import MECHANISMS
from dipc.cli.main import run
from dipc.cli.terminal import ProgressBar
from tests.patience import reporting

#: About twenty seconds of a machine of 2024.
MOST_CALLS = 50_000_000

AVERAGE = """program average;
input q : real;
output answer : real;
ideal { answer <- q }
claim { alpha: 0; gamma: 3; beta: exp(-gamma*eps) }
answer <- Lap(eps, q)
"""

TESTS = """program tests;
const m = 5;
input b[1..m] : bool;
output count : {0..m} = 0;
var x : bool;
var r : real;
claim { alpha: 0; gamma: 0; beta: 99/100 }
ideal { for i in 1..m do if b[i] then count <- count + 1 end end }
for i in 1..m do
  x <- choose { b[i] : exp(eps)/(1 + exp(eps)), not b[i] : 1/(1 + exp(eps)) };
  if x then count <- count + 1 end
end
"""

#: In place of one text another one, in the program.
TEXTS = [
    ("Lap(eps/2, q[i])", "Lap(eps/(1+i), q[i])"),
    ("Lap(eps/(4*c), q[i])", "Lap(eps/(3+i), q[i])"),
    ("Lap(eps/(4*c), q[i])", "Lap(eps, 2*q[i])"),
    ("Lap(eps/(2*c), T)", "Lap(eps/(2*c), T + 1)"),
    ("Lap(eps, q)", "Lap(eps, q/2)"),
    ("Lap(", "Expo("),
    ("b <- r >= rT;", "b <- r >= rT or r <= -4;"),
    ("b <- r >= rT;", "b <- r > T;"),
    ("b <- r >= rT;", "b <- 2*r >= rT;"),
    ("r >= rT", "r <= rT"),
    ("r > best", "r >= best"),
    ("r > best", "r > best + 1"),
    ("if r > best then", "if r > best and r > 0 then"),
    (": real", ": int"),
    ("q[1..m] : real", "q[1..m] : {-1..1}"),
    (
        "x <- choose { b[i] : exp(eps)/(1 + exp(eps)), not b[i] : 1/(1 + exp(eps)) };",
        "if b[i] then r <- Lap(eps, 1) else r <- Lap(eps, 0) end; x <- r >= 1/2;",
    ),
    ("count <- count + 1", "count <- min(count + 1, 3)"),
    ("count >= c", "count > c"),
]


def options(chance: random.Random, name: str, m: int) -> list[str]:
    """The inputs, or all of them, and at times another claim."""
    digits = chance.choice([0, 1, 3])
    values = ", ".join(str(chance.randint(-5, 5 * 10**digits) / 10**digits) for _ in range(m))
    inputs = {
        "average": ["q = -3..3", "q in {0, 1/2, 1/3}", "all"],
        "tests": [f"b = ({', '.join(chance.choice(['true', 'false']) for _ in range(m))})"],
        "laplace": ["q = -1..1"] if m < 5 else [f"q = ({values})", "all"],
    }.get(name, [f"q = ({values})", "all", *(["q = -1..1"] if m < 8 else [])])
    given = ["--inputs", chance.choice(inputs)]
    given += chance.choice(
        [
            [],
            [],
            ["--alpha", "1/2"],
            ["--beta", "exp(-eps/9)"],
            ["--eps", "(0, 1]"],
            ["--gamma", "free"],
            ["--digits", "9"],
        ]
    )
    return given


def walk(seed: int) -> tuple[str, list[str]]:
    """A program, and how it is checked."""
    chance = random.Random(f"one thing {seed}")
    name = chance.choice(
        ["average", "tests", "sparse", "sparse", "noisy_max", "noisy_max", "above_threshold", "laplace"]
    )
    text = {"average": AVERAGE, "tests": TESTS}.get(name) or MECHANISMS[name].path.read_text(encoding="utf-8")
    fitting = [(old, new) for old, new in TEXTS if old in text]
    m = 0 if name == "average" else chance.choice([2, 3, 5, 8, 12, 25])
    if fitting and chance.random() < 0.7:
        old, new = chance.choice(fitting)
        text = text.replace(old, new)
    return text, [*([] if name == "average" else ["-D", f"m={m}"]), *options(chance, name, max(m, 1))]


def seeds() -> list[object]:
    """The first few always, and one with 3^12 inputs; the others among the slow tests."""
    few = (*range(6), 77)
    return [*few, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(300) if seed not in few]]


@pytest.mark.parametrize("seed", seeds())
def test_none_takes_long_without_a_word(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, more = walk(seed)
    path = tmp_path / "program.dip"
    path.write_text(text, encoding="utf-8")
    with reporting(MOST_CALLS, ProgressBar.__call__, ProgressBar.stage):
        code = run(["check", str(path), *more])
    captured = capsys.readouterr()
    assert code in (0, 1, 2, 3)
    assert code != 2 or captured.err.startswith("error")
    assert code != 3 or "reason" in captured.out
