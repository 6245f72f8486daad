"""The declaration `requires COND;`: how it is read, written back, and what it means at one input."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import dipc
from dipc import DiagnosticError
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import formatted, print_program
from tests.strategies.preconditions import random_case

HEAD = "program p;\nconst B = 3;\ndomain D = {low, high};\ninput x, y : real;\ninput a : {0..3};\ninput d : D;\n"
TAIL = "output out : bool;\nout <- true;\n"


def program(*requires: str) -> str:
    return HEAD + "".join(f"requires {each};\n" for each in requires) + TAIL


def test_it_is_written_back_as_it_is_read() -> None:
    text = program("min(x, y) >= 0 and not x > B", "d = low or a*x <= 1")
    tree = parse(SourceText("p.dip", text))
    assert print_program(tree) == text
    assert formatted(SourceText("p.dip", text.replace("requires ", "requires\n   "))) == text


def test_the_word_is_not_reserved() -> None:
    text = (
        "program p; var requires : real; output out : bool = true; requires <- 1; if requires > 0 then out <- false end"
    )
    assert dipc.load(text).core.requires is None
    named = "program p; input requires : real; requires requires >= 0; output out : bool; out <- true"
    assert dipc.load(named).core.requires is not None


@pytest.mark.parametrize("seed", range(200))
def test_it_holds_where_it_says(seed: int) -> None:
    case = random_case(seed)
    if case.is_empty:
        return
    requires = dipc.load(case.text(noise=False)).core.requires
    assert requires is not None
    chance = random.Random(seed)
    for _ in range(20):
        point = tuple(Fraction(chance.randint(-4, 6), 1 if case.types[0] != "real" else 2) for _ in case.types)
        assert requires.holds(dict(enumerate(point))) is case.condition.holds(point)


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        ("out", "`out` is neither an input nor a constant"),
        ("x >= z", "`z` is neither an input nor a constant"),
        ("x * y >= 0", "E0207"),
        ("x", "a condition is needed here"),
        ("eps >= x", "E0212"),
        ("Lap(eps) >= x", "draws a random value"),
        ("exp(x) >= 1", "E02"),
        ("d >= low", "no order"),
    ],
)
def test_a_condition_that_compares_something_else_is_refused(requires: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(program(requires))
    assert message in str(caught.value) or any(message in each.code for each in caught.value.diagnostics)


def test_ints_and_reals_do_not_meet_in_it() -> None:
    with pytest.raises(DiagnosticError, match="ints and reals cannot be mixed"):
        dipc.load("program p; input x : real; input n : int; requires x >= n; output o : bool; o <- true")


@pytest.mark.parametrize("text", ["requires;", "requires x >= 0", "requires x >= 0, y >= 0;", "requires: x >= 0;"])
def test_what_is_no_condition_is_a_mistake_of_syntax(text: str) -> None:
    with pytest.raises(DiagnosticError):
        dipc.load(HEAD + text + "\n" + TAIL)
