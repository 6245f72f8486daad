"""Chains of noisy sums: they may be moved together, and their measure agrees with an integral computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc

CHAIN = """
program chain;
const T = 5;
input a[1..T] : real;
output out[1..T] : real;
var at, by : real = 0;
for i in 1..T do
  at <- Lap(eps, at + a[i]);
  by <- Lap(2*eps, at);
  out[i] <- by
end
"""

#: The same with integers.
STEPS = CHAIN.replace("real", "int").replace("Lap(", "DLap(").replace("T = 5", "T = 3")


@pytest.mark.parametrize(("text", "steps"), [(CHAIN, ("7/2", -4, 0, "1/3", 12)), (STEPS, (7, -4, 1))])
def test_moved_inputs_and_outputs_have_the_same_closed_form(text: str, steps: tuple[str | int, ...]) -> None:
    program = dipc.load(text)
    zeros = {f"out[{i}]": 0 for i in range(1, len(steps) + 1)}
    sums = {f"out[{i}]": sum(map(Fraction, steps[:i])) for i in range(1, len(steps) + 1)}
    still = program.probability({"a": [0] * len(steps)}, zeros, gamma=2)
    assert program.probability({"a": list(steps)}, sums, gamma=2) == still


def test_two_sums_by_hand() -> None:
    """Both |X| <= 1 and |X + Y| <= 1, where density and kernel are e^-|x|/2: ∫ e^-|x|/2·(1 - e^-1·cosh x)."""
    program = dipc.load(CHAIN.replace("by <- Lap(2*eps, at);\n  out[i] <- by", "out[i] <- at"), T=2)
    found = program.probability({"a": [0, 0]}, {"out[1]": 0, "out[2]": 0}, gamma=1)
    assert str(found) == "1 - eps*exp(-eps)/2 - 5*exp(-eps)/4 + exp(-3*eps)/4"
