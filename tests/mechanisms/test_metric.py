"""Distances of mechanisms in Python, against the same metric in a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dipc
from dipc.text.diagnostic import DiagnosticError

FILE = """
import dipc

@dipc.mechanism(n=3, claim=dict(alpha="dd", beta="exp(-alpha*eps)/2", metric="l1"))
def total(x: dipc.Reals["n"], eps):
    return dipc.laplace(sum(x), rate=eps) > 0

@dipc.mechanism(claim=dict(alpha=0, gamma=1, beta="exp(-eps)", metric=dipc.metric(output="linf")))
def release(x: dipc.Finite[0:3], eps):
    return dipc.exponential_mechanism(range(3), lambda v: -abs(x - v), rate=eps / 2)

@dipc.mechanism(claim=dict(alpha=0, gamma=1, beta="exp(-eps)", metric={
    "output": "abs(out - out')", "input": "discrete"
}))
def written(x: dipc.Finite[0:3], eps):
    return dipc.exponential_mechanism(range(3), lambda v: -abs(x - v), rate=eps / 2)

@dipc.mechanism(n=3, claim=dict(alpha="dd", beta="1/2", metric=dict(input="l2")))
def unknown(x: dipc.Reals["n"], eps):
    return dipc.laplace(sum(x), rate=eps) > 0

@dipc.mechanism(n=3, claim=dict(alpha="dd", beta="1/2", metric=dict(inputs="l1")))
def misspelt(x: dipc.Reals["n"], eps):
    return dipc.laplace(sum(x), rate=eps) > 0

@dipc.mechanism(n=3, claim=dict(alpha="dd", beta="1/2", metric=l1))
def unquoted(x: dipc.Reals["n"], eps):
    return dipc.laplace(sum(x), rate=eps) > 0
"""
MECHANISM = """
import dipc
@dipc.mechanism(n=3, claim=dict(alpha="dd", beta="1/2 + exp(-alpha*eps)/2"{}))
def votes(x: dipc.Finite[0:2]["n"], eps):
    return dipc.discrete_laplace(sum(x), rate=eps) >= 2
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], dipc.Program]:
    path = tmp_path / "mechanisms.py"
    path.write_text(FILE, encoding="utf-8")
    return lambda name: dipc.load(f"{path}::{name}")


def test_the_distance_of_inputs(load: Callable[[str], dipc.Program]) -> None:
    """The sum of three numbers is |sum(x)| away from 0 in l1, and a third of it in the maximum norm."""
    program = load("total")
    assert program.core.metric is not None
    assert program.core.metric.input == "l1"
    assert str(dipc.check(program, inputs="all").verdict) == "accurate"
    text = program.core.source.in_language.text
    assert "input: l1;" in text
    assert str(dipc.check(text.replace("input: l1;", "input: linf;"), inputs="all").verdict) == "accurate"
    assert str(dipc.check(text, inputs="all", beta="exp(-3*alpha*eps)/2").verdict) == "inaccurate"


@pytest.mark.parametrize("name", ["release", "written"])
def test_the_distance_of_answers(name: str, load: Callable[[str], dipc.Program]) -> None:
    program = load(name)
    assert str(dipc.check(program).verdict) == "accurate"
    text = program.core.source.in_language.text
    without = text[: text.index("metric {")] + text[text.index("}", text.index("metric {")) + 1 :]
    assert str(dipc.check(without).verdict) == "inaccurate"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unknown", "the distance between inputs must be linf, l1 or discrete"),
        ("misspelt", "a metric has no field `inputs`"),
        ("unquoted", "a metric must be written out"),
    ],
)
def test_mistakes_in_a_metric(name: str, message: str, load: Callable[[str], dipc.Program]) -> None:
    with pytest.raises(DiagnosticError) as caught:
        load(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(("metric", "warned"), [("", True), (', metric="discrete"', True), (', metric="l1"', False)])
def test_a_dd_that_is_the_same_at_every_input_is_warned_of(metric: str, warned: bool, tmp_path: Path) -> None:
    path = tmp_path / "votes.py"
    path.write_text(MECHANISM.format(metric), encoding="utf-8")
    report = dipc.check(f"{path}::votes")
    found = [each for each in report.warnings if each.code == "W0604"]
    assert bool(found) is warned
    if found:
        assert found[0].message == "alpha is dd, and dd is 1 at every input, so beta is the same at all of them"
        assert '`claim=dict(metric="l1")`' in found[0].notes[0]


def test_the_function_in_python() -> None:
    assert dipc.metric(input="l1", output="linf") == {"input": "l1", "output": "linf"}
