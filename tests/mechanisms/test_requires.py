"""`requires=` of mechanisms in Python: the same condition as CPython's."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc import DiagnosticError
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.precondition import Precondition
from tests.mechanisms import with_requires

FILE = Path(with_requires.__file__)


def condition_of(name: str) -> Precondition:
    requires = dipc.load(f"{FILE}::{name}").core.requires
    assert requires is not None
    return requires


def odd(n: Fraction, x: Fraction, q: list[Fraction]) -> bool:
    return (
        not (n == 0 or x < -Fraction(1, 2))
        and abs(x) <= 3
        and any(y > x for y in q)
        and all(q[i] <= n + 1 for i in range(2))
        and sum(q) >= 0
        and 2 * q[0] - q[1] != 1
        and not any(y < -1 or y > 2 for y in q)
    )


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("above", lambda *q: min(q) >= 0 and max(q) <= 10),
        ("named", lambda *q: with_requires.between(q, 3)),
        ("odd", lambda n, x, *q: odd(n, x, list(q))),
        ("counted", lambda count: count >= 0),
    ],
)
def test_it_holds_where_python_says(name: str, condition: Callable[..., bool]) -> None:
    requires, chance = condition_of(name), random.Random(7)
    core = dipc.load(f"{FILE}::{name}").core
    seen = set()
    for _ in range(2_000):
        values = [
            Fraction(chance.randint(0, 2)) if not slot.is_symbolic else Fraction(chance.randint(-4, 24), 2)
            for slot in core.input_slots
        ]
        if name == "odd":
            values = [values[0], *(value / 3 for value in values[1:])]
        wanted = condition(*values)
        seen.add(wanted)
        assert requires.holds(dict(zip(core.inputs, values, strict=True))) is wanted
    assert seen == {True, False}


def test_it_is_asked_about_like_a_program() -> None:
    assert dipc.check(with_requires.above, inputs="all").verdict == "accurate"
    text = dipc.load(f"{FILE}::above").core.source.in_language.text
    again = dipc.load(text)
    assert parse(SourceText("again", text)).declarations
    assert again.core.requires is not None
    assert again.core.requires.text == condition_of("above").text
    accepted = dipc.load(f"{FILE}::above", m=2)
    assert dipc.check(accepted, inputs="all").verdict == "accurate"


def test_a_call_outside_is_refused() -> None:
    assert isinstance(with_requires.counted(count=2, eps=1), int)
    with pytest.raises(DiagnosticError, match="E0514"):
        with_requires.counted(count=-2, eps=1)


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        ("3", "must be a function"),
        ("lambda p: p >= 0", "not an input"),
        ("lambda q: all(x == 0 or x > 1 for x in q)", "`all` takes comparisons"),
        ("lambda q: any(x == 0 for x in q)", "`any` takes comparisons"),
        ("lambda q: all(x > 1 for x in q if x)", "a generator takes one list"),
        ("lambda q: sum(q) >= 0", "the length of this sum"),
        ("lambda q: dipc.laplace(q[0], rate=1) >= 0", ""),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(requires: str, message: str, tmp_path: Path) -> None:
    source = (
        f"import dipc\n\n@dipc.mechanism(m=2, requires={requires})\n"
        'def f(q: dipc.Reals["m"], m: dipc.Const, eps):\n    return dipc.laplace(q[0], rate=eps)\n'
    )
    (tmp_path / "f.py").write_text(source)
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(f"{tmp_path / 'f.py'}::f")
    assert message in str(caught.value)


def test_a_conditional_expression_is_refused() -> None:
    with pytest.raises(DiagnosticError):
        dipc.load(f"{FILE}::refused")


def test_the_types_are_those_of_a_decorator() -> None:
    made: Any = with_requires.above
    assert made.program.core.requires is not None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("above", "min(q) >= 0 and max(q) <= 10"),
        ("named", "all(0 <= x <= 10 for x in q) and m >= 1"),
        ("counted", "count >= 0"),
    ],
)
def test_reports_show_the_condition_as_it_was_written(name: str, shown: str) -> None:
    program = dipc.load(f"{FILE}::{name}")
    assert program.core.required_text == shown
    report = dipc.check_privacy(program, "linf:1", inputs="all")
    assert f"that satisfy `{shown}`" in report.about


def test_a_condition_over_several_lines_is_shown_on_one() -> None:
    shown = dipc.load(f"{FILE}::odd").core.required_text
    assert shown is not None
    assert "\n" not in shown
    assert "all((q[i] <= n + 1 for i in range(2)))" in shown
