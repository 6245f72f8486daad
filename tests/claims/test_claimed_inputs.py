"""The inputs that a claim block is about."""

from __future__ import annotations

import pytest

import dipc
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

TEXT = """program p;
input q[1..2] : real;
input inputs : {0..2};
output y : real;
ideal { y <- q[1] + inputs }
claim { inputs: WHICH; gamma: 1; beta: exp(-gamma*eps); }
y <- Lap(eps, q[1] + inputs)
"""


@pytest.mark.parametrize(
    ("which", "printed", "rows"),
    [
        ("q[1] in {0, 1/2}, q[2] = -1..1, inputs = 2", "q[1] = {0, 1/2}, q[2] = -1..1, inputs = 2", 6),
        ("q = (0, {1, 2..3})", "q = (0, {1, 2..3})", 9),
        ("q = +1 # both\n", "q = 1", 3),
        ("all", "all", 3),
        (
            "q[1] = -1..1/2 by 1/2, q[2] in {0..4 by 2, 7}, inputs = 0..2 by 2",
            "q[1] = -1..1/2 by 1/2, q[2] = {0..4 by 2, 7}, inputs = 0..2 by 2",
            32,
        ),
    ],
)
def test_they_are_those_of_the_option(which: str, printed: str, rows: int) -> None:
    text = TEXT.replace("WHICH", which)
    program = dipc.load(text)
    report = dipc.check(program)
    assert len(report.rows) == rows
    assert [row.verdict for row in report.rows] == [row.verdict for row in dipc.check(program, inputs=printed).rows]
    tree = parse(program.core.source)
    assert f"  inputs: {printed};\n" in print_program(tree)
    assert parse(SourceText("p.dip", print_program(tree))) == tree


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("q = 0..2 by 0", "the step of a range must be positive, not 0"),
        ("q = 0..2 of 1", "unexpected `of`"),
        ("q = 0..2 by x", "`x` is not a rational number"),
        ("q = 1/2..2", "the ends of a range must be integers"),
        ("q = 0..1 by 1e-9", "the range has 1000000001 values"),
        ("q = 0, inputs = 0..2 by 1/2", "is not in the domain of `inputs`"),
    ],
)
def test_mistakes_in_a_range_with_a_step(inputs: str, message: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.check(dipc.load(TEXT.replace("WHICH", "all")), inputs=inputs)
    assert message in str(caught.value)


def test_others_win_over_them() -> None:
    program = dipc.load(TEXT.replace("WHICH", "q = 0..5"))
    assert len(dipc.check(program, inputs="q = 0; inputs = 1").rows) == 1
    assert len(dipc.check(program, [{"q": (0, 0), "inputs": 0, "y": 0}]).rows) == 1
    assert dipc.tighten(program, inputs="q = 0; inputs = 1").factor == dipc.tighten(program).factor


def test_what_they_name_is_looked_at_when_they_are_asked_about() -> None:
    program = dipc.load(TEXT.replace("WHICH", "p = 0, inputs = 3"))
    with pytest.raises(dipc.DiagnosticError, match="`p`"):
        dipc.check(program)
