"""Mechanisms of the literature as they were first typed after reading README and tutorial.

A text that does not run is answered with a way to mend it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run

PLACE = Path(__file__).parent / "first_typed"

#: By number: the inputs asked about, the exit code, and how the first line begins.
FIRST = {
    1: ("all", 0, "accurate: every real input (4 classes)"),
    2: ("all", 0, "accurate: every real input (3 classes)"),
    3: ("c = 0..5", 0, "accurate: all 6 rows"),
    4: ("secret in {true, false}", 0, "accurate: both rows"),
    5: ("x = 0..4", 1, "INACCURATE: 36 of 125 rows fail"),
    6: ("all", 0, "accurate: every real input (1 class)"),
    7: ("all", 2, "error[E0204]: `log` is allowed only in the claim"),
    8: ("all", 0, "accurate: every real input (3 classes"),
    9: ("all", 0, "accurate: every real input (3 classes)"),
    10: ("x in {0, 1}", 1, "INACCURATE: 6 of 8 rows fail"),
    11: ("all", 2, "error[E0102]: expected `end`, found `}`"),
    12: ("all", 0, "accurate: every real input (11 classes)"),
    13: ("value = 1..3", 0, "accurate: all 3 rows"),
    14: ("x in {0, 1}", 0, "accurate: all 8 rows"),
    15: ("count = 0..20", 2, "error[E0204]: `log` is allowed only in the claim"),
    16: ("all", 0, "accurate: every real input (4 classes)"),
    17: ("all", 0, "accurate: every real input (9 classes)"),
    18: ("all", 0, "accurate: every real input (1 class)"),
    19: ("all", 0, "accurate: all 3 rows"),
    20: ("all", 0, "accurate: all 16 rows"),
    21: ("all", 0, "accurate: all 5 rows"),
}

#: What is said of those that do not run.
MENDED_BY = {
    7: "lies between 6.907755 and 6.907756; write the safe one",
    11: "`else if` opens a second `if`, which needs an `end` of its own",
    15: "a threshold such as log(D)/eps can be written for one eps",
}

#: The same in Python, by name: the inputs asked about, the exit code, and what is said.
MECHANISMS = {
    "noisy_max": ("all", 0, "accurate: every real input (3 classes)"),
    "between": ("all", 0, "accurate: every real input (15 classes)"),
    "svt": ("all", 0, "accurate: every real input (4 classes)"),
    "histogram": ("all", 0, "accurate: every real input (1 class)"),
    "response": (None, 2, "write `dipc.exp(eps)/(1+dipc.exp(eps))`"),
    "median": (None, 1, 'in the claim, `metric=dipc.metric(output="linf")` compares these numbers by their distance'),
    "clamped": (None, 1, "INACCURATE: 5 of 11 rows fail"),
    "sum_and_count": ("all", 0, "accurate: every real input (1 class)"),
    "unary": (None, 2, "write `dipc.exp(eps/2)/(1+dipc.exp(eps/2))`"),
    "subsampled": ("x = 0..1", 2, "`@dipc.mechanism(ideal=exact)`"),
    "numeric_sparse": ("all", 0, "accurate: every real input (4 classes)"),
    "median_by_function": (None, 0, "accurate: all 125 rows"),
    "stable_count": ("all", 0, "accurate: every real input (2 classes)"),
    "k_ary": (None, 0, "accurate: all 3 rows"),
    "winner": ("all", 0, "accurate: every real input"),
}


@pytest.mark.parametrize("number", FIRST)
def test_as_first_typed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = PLACE.glob(f"{number}_*.dip")
    inputs, code, first = FIRST[number]
    assert run(["check", str(path), "--inputs", inputs, "-q"]) == code
    said = capsys.readouterr()
    assert (said.out + said.err).startswith(first)
    assert (code == 2) is (number in MENDED_BY)
    assert MENDED_BY.get(number, "") in said.err


def test_all_are_asked() -> None:
    assert len(FIRST) == len(list(PLACE.glob("*.dip")))


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_as_first_typed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    inputs, code, text = MECHANISMS[name]
    asked = [] if inputs is None else ["--inputs", inputs]
    assert run(["check", f"{PLACE / 'functions.py'}::{name}", *asked, "-q"]) == code
    said = capsys.readouterr()
    assert text in said.out + said.err


def test_a_score_with_loops_is_the_score_of_one_expression() -> None:
    one, two = (dipc.load(f"{PLACE / 'functions.py'}::{name}") for name in ("median", "median_by_function"))
    for given in ({"x": 0, "y": 3, "z": 3}, {"x": 1, "y": 2, "z": 4}):
        for out in range(5):
            assert str(one.probability(given, {"out": out})) == str(two.probability(given, {"out": out}))
