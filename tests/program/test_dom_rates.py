"""Rates and weights that depend on finite variables: one constant for each of their values."""

from __future__ import annotations

import pytest

import dipc

RATE = "program p; input k : {1..3}; input q : real; output o : bool; var r : real; r <- Lap(eps/k, q); o <- r > 1"
WEIGHT = "program p; input k : {0..4}; output o : {0, 1}; o <- choose { 0 : k/4, 1 : 1 - k/4 }"
DRAWN = """
program p;
input k[1..2] : {1..2};
input sure : bool;
output o : int;
var n : {1..2};
n <- Exp(k[2]*eps, v in {1..2} : -v);
if sure then o <- DLap(n*eps/k[1], n) else o <- 0 end
"""


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_rate_is_that_of_the_value(k: int) -> None:
    constant = dipc.load(RATE.replace("eps/k", f"eps/{k}"))
    inputs, output = {"k": k, "q": 0}, {"o": True}
    assert dipc.load(RATE).probability(inputs, output) == constant.probability(inputs, output)


@pytest.mark.parametrize(("k", "expected"), [(0, "0"), (1, "1/4"), (4, "1")])
def test_a_weight_is_that_of_the_value(k: int, expected: str) -> None:
    assert str(dipc.load(WEIGHT).probability({"k": k}, {"o": 0})) == expected


def test_values_that_are_drawn_count_too() -> None:
    program = dipc.load(DRAWN)
    inputs = {"k": (1, 2), "sure": True}
    whole = sum(float(program.probability(inputs, {"o": o}).enclosure(1)[0]) for o in range(-30, 31))
    assert whole == pytest.approx(1)
    outputs = [{"o": 1}, {"o": 2}]
    assert str(dipc.simulate(program, inputs, 1, runs=2000, outputs=outputs).agreement) == "match"


def test_the_interpreter_looks_at_each_run() -> None:
    text = "program p; output o : {0..3}; var k : {1..3}; k <- Exp(eps, v in {1..3} : v); "
    text += "o <- choose { 0 : 1 - k/3, k : k/3 }"
    program = dipc.load(text)
    assert str(dipc.simulate(program, {}, 1, runs=4000).agreement) == "match"


def test_the_checker_derives_them() -> None:
    program = dipc.load(DRAWN)
    report = dipc.check(program, [{"k": (1, 2), "sure": True, "o": 1}], beta=1, eps="[1, 2]", keep_proofs=True)
    assert isinstance(dipc.verify(dipc.certify(report)), dipc.Accepted)
    rate = dipc.check(dipc.load(RATE), [{"k": 3, "q": 2, "o": True}], beta="exp(-eps/3)", keep_proofs=True)
    assert rate.verdict is dipc.Verdict.ACCURATE
    assert isinstance(dipc.verify(dipc.certify(rate)), dipc.Accepted)


@pytest.mark.parametrize(
    ("text", "message", "note"),
    [
        (
            RATE.replace("{1..3}", "{0..3}"),
            "a rate must be a positive multiple of eps, but this divides by zero",
            "k = 0",
        ),
        (RATE.replace("eps/k", "(k - 2)*eps"), "the rate -eps is negative", "k = 1"),
        (WEIGHT.replace("{0..4}", "{0..5}"), "a weight is negative at eps = 1", None),
    ],
)
def test_each_value_has_to_do(text: str, message: str, note: str | None) -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.load(text)
    found = caught.value.diagnostics[0]
    assert found.message == message
    assert note is None or f"this happens for {note}" in found.notes
