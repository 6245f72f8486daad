"""Expected errors of int outputs that depend on one noise piece by piece, against sums over its values."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import dipc

HEAD = "program p; input n : int; output y : int; var x : int; ideal { y <- max(n, 0) } x <- DLap(eps/2, n); "
EPS, Z = "7/5", math.exp(-0.7)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("y <- max(x, 0)", lambda x: max(x, 0)),
        ("y <- min(max(x, -1), 3)", lambda x: min(max(x, -1), 3)),
        ("y <- abs(x)", abs),
        ("if x > 2 then y <- 2*x - 1 else y <- 4 - x end", lambda x: 2 * x - 1 if x > 2 else 4 - x),
        ("if x >= 0 and x < 2 then y <- x else y <- 7 end", lambda x: x if 0 <= x < 2 else 7),
        ("if x <= 5 then y <- x else y <- -7 end", lambda x: x if x <= 5 else -7),
        ("if x <= 0 then y <- x else y <- 1 end", lambda x: x if x <= 0 else 1),
        ("if x >= -1 then y <- 3 - 2*x else y <- 0 end", lambda x: 3 - 2 * x if x >= -1 else 0),
    ],
)
@pytest.mark.parametrize("n", [-3, 0, 1, 4])
@pytest.mark.parametrize("moment", [1, 2])
def test_the_sum_over_the_noise(body: str, value: Callable[[int], int], n: int, moment: int) -> None:
    (row,) = dipc.expected_error(dipc.load(HEAD + body), inputs=f"n = {n}", moment=moment, at=EPS).rows
    exact = math.fsum(
        (1 - Z) / (1 + Z) * Z ** abs(k) * abs(value(n + k) - max(n, 0)) ** moment for k in range(-200, 201)
    )
    assert row.value is not None
    assert all(abs(float(end) - exact) < 1e-9 for end in row.value)
