"""Sums over inputs whose values are listed integers, such as bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import dipc

TEXT = """
import math
import dipc

@dipc.mechanism(n=4, ideal=lambda xs: sum(xs), claim=dict(alpha=0, gamma=0, beta="1"))
def total(xs: dipc.Finite[VALUES]["n"], eps):
    ks = [dipc.choice({0: math.exp(eps) / (1 + math.exp(eps)), 1: 1 / (1 + math.exp(eps))}) for x in xs]
    return sum([x if k == 0 else 1 - x for x, k in zip(xs, ks)])
"""


@pytest.mark.parametrize(("values", "least", "most"), [("0, 1", 0, 4), ("0:2", 0, 4), ("-1, 3", -8, 12)])
def test_a_sum_of_listed_integers_has_a_range(values: str, least: int, most: int, tmp_path: Path) -> None:
    path = tmp_path / "total.py"
    path.write_text(TEXT.replace("VALUES", values), encoding="utf-8")
    program = dipc.load(f"{path}::total")
    numbers = [0, 1] if ":" in values else [int(each) for each in values.split(",")]
    for xs in list(product(numbers, repeat=4))[:6]:
        law = {
            out: program.probability({"xs": list(xs)}, {"out": out}).enclosure(Fraction(1))
            for out in range(least, most + 1)
        }
        assert sum(low for low, _ in law.values()) <= 1 <= sum(high for _, high in law.values())
        kept = Fraction(*program.probability({"xs": list(xs)}, {"out": sum(xs)}).enclosure(Fraction(1))[:1])
        assert kept > 0
