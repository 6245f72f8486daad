"""Rigorous enclosures in fixed point: a pair (low, high) of integers stands for low·2^-bits <= x <= high·2^-bits.

Every operation rounds low down and high up, so what holds of the pair holds of the number, whatever the rounding was.
The only fact of analysis used is the alternating series of e^{-y}.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.verifier.budget import Budget

Pair = tuple[int, int]

#: LOG2E_LOW / 10^4 < log2(e) = 1.442695… < LOG2E_HIGH / 10^4.
LOG2E_LOW, LOG2E_HIGH, LOG2E_UNIT = 14_426, 14_427, 10_000


def decay_bits(x: Fraction) -> int:
    """An n >= 0 with e^{-x} <= 2^-n, for x >= 0."""
    return LOG2E_LOW * x.numerator // (LOG2E_UNIT * x.denominator)


def growth_bits(x: Fraction) -> int:
    """An n with e^x <= 2^n, for x >= 0."""
    return LOG2E_HIGH * x.numerator // (LOG2E_UNIT * x.denominator) + 1


def exp_minus(x: Fraction, bits: int) -> Pair:
    """e^{-x} for x >= 0, a few units of 2^-bits wide."""
    if not x:
        return 1 << bits, 1 << bits
    if decay_bits(x) >= bits:
        return 0, 1
    # e^{-x} is the 2^halvings-th power of e^{-y} with y = x/2^halvings < 2^-6.
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 7)
    work = bits + halvings + bits.bit_length() + 8
    low_y = (x.numerator << work) // (x.denominator << halvings)
    high_y = low_y + 1
    low = high = low_term = high_term = 1 << work
    n = 0
    while high_term > 1:
        n += 1
        low_term = (low_term * low_y >> work) // n
        high_term = -(-high_term * high_y // (n << work))
        if n & 1:
            low, high = low - high_term, high - low_term
        else:
            low, high = low + low_term, high + high_term
    # The terms decrease and alternate, so those left out add up to less than the last one.
    low, high = max(0, low - high_term), high + high_term
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    return low >> work - bits, -(-high >> work - bits)


def powers(exponents: Sequence[int], x: Fraction, bits: int, budget: Budget, step: str) -> list[Pair]:
    """e^{-j·x} for each of the increasing natural numbers j, for x >= 0."""
    if not exponents:
        return []
    fine = bits + exponents[-1].bit_length() + 4
    budget.spend(20 * len(exponents) + 2 * fine + 50, step, fine)
    # Numbers far below the last bit are not worth a multiplication.
    least = (fine * LOG2E_UNIT // LOG2E_LOW + 1) / x if x else None
    first = exp_minus(x, fine)
    steps: dict[int, Pair] = {1: first}
    current: Pair = (1 << fine, 1 << fine)
    at = 0
    result: list[Pair] = []
    for j in exponents:
        if least is not None and j > least:
            result.append((0, 1))
            continue
        if j > at:
            current = _product(current, _power(j - at, steps, fine), fine)
            at = j
        result.append((current[0] >> fine - bits, -(-current[1] >> fine - bits)))
    return result


def _power(gap: int, steps: dict[int, Pair], bits: int) -> Pair:
    known = steps.get(gap)
    if known is None:
        known = steps[gap] = _product(_power(gap // 2, steps, bits), _power(gap - gap // 2, steps, bits), bits)
    return known


def _product(a: Pair, b: Pair, bits: int) -> Pair:
    """Of numbers that are not negative."""
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def combination(values: Sequence[int], pairs: Sequence[Pair]) -> Pair:
    """Σ value·pair."""
    low = high = 0
    for value, (least, most) in zip(values, pairs, strict=True):
        if value >= 0:
            low += value * least
            high += value * most
        else:
            low += value * most
            high += value * least
    return low, high
