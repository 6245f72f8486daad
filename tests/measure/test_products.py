"""Integrals of products of many functions: slope by slope, and term by term."""

from __future__ import annotations

import random

import pytest

import dipc
from dipc.algebra.limits import Limits, Meter
from dipc.measure import pieces
from dipc.measure.pieces import Piece, Piecewise, integral_of_product

_SPARSE = """program sparse;
const m = 3;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
var rT, r : real;
rT <- Lap(eps/2, 0);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= rT then out[i] <- top; exit else out[i] <- bot end
end
"""


def outcomes(m: int) -> list[dipc.ClosedForm]:
    """The probabilities of all outputs at different means of three digits."""
    chance = random.Random(m)
    means = chance.sample(range(-400, 400), m)
    program = dipc.load(_SPARSE, m=m)
    inputs = {f"q[{i}]": f"{mean}/100" for i, mean in enumerate(means, 1)}
    return [form for one in program.outcomes(inputs) if (form := one.closed_form) is not None]


@pytest.mark.parametrize("m", [3, 7, 10])
def test_both_ways_give_one_function(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_MANY_FACTORS", 1)
    by_slopes = outcomes(m)
    monkeypatch.setattr(pieces, "_MANY_FACTORS", 1_000)
    by_terms = outcomes(m)
    assert by_slopes == by_terms
    assert list(map(str, by_slopes)) == list(map(str, by_terms))
    assert sum(by_slopes[1:], by_slopes[0]) == 1


def test_no_term_of_many_factors_is_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terms of all pieces grow with the fourth power of the factors."""
    factors = [(Piecewise.laplace(1, mean), 1) for mean in range(12)]
    monkeypatch.setattr(Piece, "terms", lambda _: pytest.fail("terms are gone through one by one"))
    assert len(integral_of_product(factors, Meter(Limits())))
