"""Programs as objects: loading, probabilities, outcomes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.program.program import Program
from dipc.text.diagnostic import Diagnostic, DiagnosticError

COIN = """
program coin;
const m = 2, T = 0;
domain side = {heads, tails};
input q[1..m] : real;
input n : {0..3};
output out : side = tails;
output big : bool;
output val : real = 0;
var r : real;
r <- Lap(eps/2, q[1]);
if r > T then out <- heads end;
val <- Lap(eps, q[2] + n);
big <- val > r
"""

small = st.fractions(min_value=-3, max_value=3, max_denominator=4)


def refused(path_or_text: object, **constants: object) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(path_or_text, **constants)  # type: ignore[arg-type]
    return caught.value.diagnostics[0]


# --- loading ---------------------------------------------------------------------------------------


def test_loading(tmp_path: Path) -> None:
    path = tmp_path / "coin.dip"
    path.write_text(COIN)
    plain = tmp_path / "coin.txt"
    plain.write_text(COIN)
    for program in (dipc.load(path), dipc.load(str(path)), dipc.load(str(plain)), dipc.load(COIN)):
        assert isinstance(program, Program)
        assert program.name == "coin"
        assert program.inputs == ("q[1]", "q[2]", "n")
        assert program.outputs == ("out", "big", "val")
        assert program.constants == {"m": 2, "T": 0}
    assert dipc.load("program p; output x : bool; x <- true").outputs == ("x",)
    assert repr(dipc.load(COIN, T="1/2")) == "<dipc program coin with m = 2, T = 1/2>"


@pytest.mark.parametrize("value", ["1/3", Fraction(1, 3)])
def test_constants_are_exact(value: object) -> None:
    assert dipc.load(COIN, T=value).constants["T"] == Fraction(1, 3)


def test_inexact_constants() -> None:
    with pytest.raises(TypeError, match=r'T = 0\.5 is a binary floating-point number.*such as "0\.5"'):
        dipc.load(COIN, T=0.5)
    with pytest.raises(ValueError, match="T: 'nan' is not a rational number"):
        dipc.load(COIN, T="nan")
    assert "`k`" in refused(COIN, k=1).message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "none.dip"
    assert refused(str(missing)).message == f"there is no file `{missing}`"
    assert refused(missing).message == f"there is no file `{missing}`"
    assert refused(tmp_path).message == f"`{tmp_path}` is a directory"
    bad = tmp_path / "bad.dip"
    bad.write_bytes(b"program p;\noutput x \xff : bool;\n")
    found = refused(bad)
    assert found.message == "the program is not UTF-8: byte 0xff at offset 20"
    assert found.excerpt is not None
    assert (found.excerpt.line, found.excerpt.column) == (2, 10)


@pytest.mark.parametrize("text", ["", "program", "x" * 5000, "\0", "program p; ü"])
def test_texts_that_are_no_programs(text: str) -> None:
    assert refused(text).code.startswith("E01")


# --- probabilities ---------------------------------------------------------------------------------


def test_ways_to_give_values() -> None:
    program = dipc.load(COIN)
    expected = program.probability({"q[1]": "-1/2", "q[2]": "0", "n": "3"}, {"out": "heads", "val": "3"}, gamma="1/2")
    assert str(expected) == "exp(-eps/4)/2 - exp(-3*eps/4)/2"
    assert (
        program.probability({"q": (Fraction(-1, 2), 0), "n": 3}, {"out": "heads", "val": 3}, Fraction(1, 2)) == expected
    )
    assert program.probability({"q": ["-0.5", 0], "n": 3}, {"out": "heads", "val": 3, "big": None}, "0.5") == expected
    low, high = expected.enclosure("1/3")
    assert 0 < low < high < 1


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"q": (0, 0)}, {}, "no value for the input `n`"),
        ({}, {}, "no value for the inputs `q[1]`, `q[2]` and `n`"),
        ({"q": (0, 0, 0), "n": 0}, {}, "input `q`: 3 values for the 2 elements of the array"),
        ({"q": (0, 0), "n": 4}, {}, "input `n`: `4` is not in the domain of `n`"),
        ({"q": (0, "nan"), "n": 0}, {}, "input `q[2]`: `nan` is not a rational number"),
        ({"q": 0, "n": 0}, {}, "the program has no input `q`"),
        ({"q": (0, 0), "n": 0, "k": 1}, {}, "the program has no input `k`"),
        ({"q": (0, 0), "n": 0}, {"outt": "heads"}, "the program has no output `outt`"),
        ({"q": (0, 0), "n": 0}, {"out": "head"}, "output `out`: `head` is not in the domain of `out`"),
        ({"q": (0, 0), "n": 0}, {"n": 0}, "the program has no output `n`"),
    ],
)
def test_values_that_do_not_fit(inputs: dict[str, object], outputs: dict[str, object], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(COIN).probability(inputs, outputs)
    assert caught.value.diagnostics[0].message == message


def test_inexact_values() -> None:
    program = dipc.load(COIN)
    with pytest.raises(TypeError, match=r"input q\[1\] = 0\.5 is a binary"):
        program.probability({"q": (0.5, 0), "n": 0}, {})
    with pytest.raises(TypeError, match=r"gamma = 0\.5 is a binary"):
        program.probability({"q": (0, 0), "n": 0}, {}, gamma=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gamma must be at least 0, not -1"):
        program.probability({"q": (0, 0), "n": 0}, {}, gamma=-1)


# --- outcomes --------------------------------------------------------------------------------------


@given(small, small, st.integers(0, 3))
def test_outcomes_sum_to_one_and_agree_with_probability(a: Fraction, b: Fraction, n: int) -> None:
    program = dipc.load(COIN)
    outcomes = program.outcomes({"q": (a, b), "n": n})
    assert sum((outcome.probability.exppoly for outcome in outcomes), ExpPoly.ZERO) == 1
    assert [tuple(outcome.output.values()) for outcome in outcomes] == [
        ("heads", "false"),
        ("heads", "true"),
        ("tails", "false"),
        ("tails", "true"),
    ]
    for outcome in outcomes:
        assert program.probability({"q": (a, b), "n": n}, dict(outcome.output)) == outcome.probability
        assert outcome.probability.enclosure(1)[0] > 0


def test_outcomes_that_cannot_occur_are_left_out_and_unassigned_outputs_are_none() -> None:
    program = dipc.load("""
        program p;
        input q : real;
        output x : {1..3};
        output y : bool = false;
        if q > 0 then x <- 2 end
    """)
    assert [dict(outcome.output) for outcome in program.outcomes({"q": 1})] == [{"x": "2", "y": "false"}]
    (outcome,) = program.outcomes({"q": 0})
    assert dict(outcome.output) == {"x": None, "y": "false"}
    assert str(outcome.probability) == "1"


def test_real_outputs_are_left_open() -> None:
    program = dipc.load("program p; input q : real; output out : real; out <- Lap(eps, q)")
    (outcome,) = program.outcomes({"q": 0})
    assert dict(outcome.output) == {}
    assert str(outcome.probability) == "1"


# --- the package -----------------------------------------------------------------------------------


def test_every_public_name_exists() -> None:
    for name in dipc.__all__:
        assert getattr(dipc, name) is not None
    assert set(dipc.__all__) <= set(dir(dipc))
    with pytest.raises(AttributeError, match="module 'dipc' has no attribute 'nothing'"):
        _ = dipc.nothing


def test_a_number_that_grows_past_all_bounds_on_a_path_is_a_mistake_of_the_program() -> None:
    product = "(9 + x)"
    for _ in range(13):
        product = f"({product})*({product})"
    program = dipc.load(
        "program p; output o : {0..1} = 0; var x : {0..1}; x <- choose {0 : 1/2, 1 : 1/2};"
        f"if {product} > 3 then o <- 1 end"
    )
    with pytest.raises(dipc.DiagnosticError) as caught:
        program.outcomes({})
    assert caught.value.diagnostics[0].code == "E0704"
    assert caught.value.diagnostics[0].message == "a value has more than 10000 bits"
