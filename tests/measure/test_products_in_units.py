"""Products of pieces whose exponents are multiples of a number: their length is foreseen in these multiples."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import flint
import pytest

import dipc
from dipc.algebra.limits import LimitReached, Limits, Meter
from dipc.measure.pieces import Piece

_SMART_SUM = Path(__file__).parents[2] / "benchmarks" / "literature" / "smart_sum.dip"


def _piece(unit: int) -> Piece:
    exponents = product(range(6), range(0, 20 * unit, unit), range(6))
    return Piece.of_terms({(k, q, n, 0): flint.fmpq(1 + k * q % 3, 1 + n) for k, q, n in exponents})


@pytest.mark.parametrize("by_slopes", [False, True])
def test_exponents_that_are_multiples_of_5_need_a_fifth_of_the_room(by_slopes: bool) -> None:
    limits = Limits(terms=5000)
    piece, sparse = _piece(1), _piece(5)
    if by_slopes:
        piece, sparse = piece.by_slopes, sparse.by_slopes
    dense, result = piece.times(piece, Meter(limits)), sparse.times(sparse, Meter(limits))
    assert len(result) == len(dense) == 11 * 39 * 11
    mixed = _piece(1).times(_piece(5), Meter(Limits()))
    assert len(mixed) == 11 * 115 * 11
    with pytest.raises(LimitReached):
        _piece(1).times(_piece(5), Meter(Limits(terms=len(mixed) // 4 - 1)))


@pytest.mark.slow
def test_smart_sum_of_64_numbers_in_blocks_of_8_is_decided(tmp_path: Path) -> None:
    numbers = [i % 10 for i in range(64)]
    sums = [sum(numbers[: i + 1]) for i in range(64)]
    names = [f"a[{i}]" for i in range(1, 65)] + [f"out[{i}]" for i in range(1, 65)]
    table = tmp_path / "sums.csv"
    table.write_text(f"{','.join(names)}\n{','.join(map(str, numbers + sums))}\n", encoding="utf-8")
    program = dipc.load(_SMART_SUM, T=64, M=8)
    assert dipc.check(program, table, gamma="5").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, table, gamma="5", beta="exp(-3*eps)").verdict is dipc.Verdict.INACCURATE
