from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from dipc.cli.options import parse_input, parse_output
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.program import CoreProgram

PROGRAM = """
program p;
domain color = {red, green};
input q[1..2] : real;
input x : {0..4};
input c : color;
input b : bool;
output out[1..2] : color = red;
q_dummy <- Lap(eps, q[1]);
"""


@pytest.fixture(scope="module")
def program() -> CoreProgram:
    text = PROGRAM.replace("output", "var q_dummy : real;\noutput", 1)
    return dipc.load(text).core


def mistakes(program: CoreProgram, *texts: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(DiagnosticError) as caught:
        parse_input(texts, program)
    return caught.value.diagnostics


def marked(diagnostic: Diagnostic) -> str:
    """The text under the caret."""
    assert diagnostic.excerpt is not None
    start = diagnostic.excerpt.column - 1
    return diagnostic.excerpt.text[start : start + diagnostic.excerpt.length]


WANTED = {"q[1]": Fraction(-1), "q[2]": Fraction(1, 3), "x": Fraction(4), "c": "green", "b": True}


@pytest.mark.parametrize(
    "texts",
    [
        ("q[1]=-1,q[2]=1/3,x=4,c=green,b=true",),
        ("  q[ 1 ] = -1 , q[2]=1/3,x= 4,c =green, b=TRUE ",),
        ("q=(-1, 1/3),x=4,c=green,b=true",),
        ("b=true,c=green", "x=4.0", "q=(-1,1/3)"),
    ],
)
def test_every_spelling_of_the_same_input(program: CoreProgram, texts: tuple[str, ...]) -> None:
    values = parse_input(texts, program)
    assert values == WANTED
    assert list(values) == list(WANTED)
    assert type(values["b"]) is bool


def test_decimals_are_exact(program: CoreProgram) -> None:
    assert parse_input(["q=(0.1,1e-3),x=0,c=red,b=false"], program)["q[1]"] == Fraction(1, 10)


def test_the_syntax_is_that_of_inputs(program: CoreProgram) -> None:
    values = parse_input(["q in {-1}; q[2] = 1/3\nx = 4..4", "c = green, b = true"], program)
    assert values == WANTED
    assert parse_input(["q = 0, x = 0, c = red, b = true"], program)["q[2]"] == 0


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("q[3]=0", "the program has no input `q[3]`", "q[3]"),
        ("r=0", "the program has no input `r`", "r"),
        ("out[1]=red", "the program has no input `out[1]`", "out[1]"),
        ("q[1]=0,q[1]=1", "`q[1]` is given twice", "q[1]"),
        ("x=5", "`5` is not in the domain of `x`", "5"),
        ("c=rad", "`rad` is not in the domain of `c`", "rad"),
        ("b=1", "`1` is not a value of `b`", "1"),
        ("q[1]=nan", "`nan` is not a rational number", "nan"),
        ("q[1]=1/0", "`1/0` divides by zero", "1/0"),
        ("q=(0,0,0)", "3 values for the 2 elements of `q`", "(0,0,0)"),
        ("x=(0,0)", "`x` is not an array", "(0,0)"),
        ("q[1]=(0,0)", "`q[1]` is not an array", "(0,0)"),
        ("q=(0, (1, 2))", "a vector inside a vector", "(1, 2)"),
        ("q=(0, 1/x)", "`x` is not a rational number", "x"),
        ("q=-1..1", "these are 3 values", "-1..1"),
        ("c in color", "these are 2 values", "color"),
    ],
)
def test_mistakes_are_named_and_placed(program: CoreProgram, text: str, message: str, at: str) -> None:
    (mistake,) = mistakes(program, text)
    assert mistake.code == "E0806"
    assert mistake.message == message
    assert marked(mistake) == at
    assert mistake.notes


@pytest.mark.parametrize(
    ("text", "at"), [("q[1]=", ""), ("q[1]", ""), ("=3", "="), ("x=1,2", "2"), ("q=(0,", ""), ("x=1#", "#")]
)
def test_what_is_no_item_is_marked(program: CoreProgram, text: str, at: str) -> None:
    (mistake,) = mistakes(program, text)
    assert mistake.code.startswith("E010")
    assert marked(mistake) == at
    assert mistake.notes


def test_all_mistakes_are_named_at_once(program: CoreProgram) -> None:
    found = mistakes(program, "q[1]=a,r=0,x=9")
    assert [mistake.code for mistake in found] == ["E0806"] * 3


def test_missing_inputs_are_listed(program: CoreProgram) -> None:
    (mistake,) = mistakes(program, "q[1]=0,c=red,b=true")
    assert mistake.message == "no value for the inputs `q[2]` and `x`"
    assert mistake.notes == ("add `q[2]=0,x=0`",)
    (mistake,) = mistakes(program)
    assert mistake.message == "no value for the inputs `q[1]`, `q[2]`, `x`, `c` and `b`"
    assert mistake.excerpt is None


def test_an_example_that_the_domain_allows(program: CoreProgram) -> None:
    (mistake,) = mistakes(program, "q=(0,0),x=0")
    assert mistake.notes == ("add `c=red,b=false`",)


def test_real_inputs_may_stay_open(program: CoreProgram) -> None:
    assert parse_input(["x=0,c=red,b=false"], program, reals=False) == {"x": 0, "c": "red", "b": False}


def test_outputs_may_be_left_out(program: CoreProgram) -> None:
    assert parse_output(["out[2]=green"], program) == {"out[2]": "green"}
    assert parse_output([], program) == {}


@pytest.mark.parametrize("text", ["(" * 1000, ")" * 1000, "q=((0,0)", "\0", "💥=1", "q[1]=" + "9" * 5000])
def test_garbage_is_refused_politely(program: CoreProgram, text: str) -> None:
    assert mistakes(program, text)
