"""e^{-x} in integer arithmetic, with stated errors."""

from __future__ import annotations

from math import isqrt

#: LOG2E_LOW / LOG2E_SCALE < log2(e) < LOG2E_HIGH / LOG2E_SCALE.
LOG2E_SCALE = 10_000
LOG2E_LOW = 14_426
LOG2E_HIGH = 14_427

#: The error of `exp_minus` in units of its last bit.
EXP_ERROR = 2


def decay_bits(numerator: int, denominator: int) -> int:
    """Some n >= 0 with e^{-x} <= 2^{-n}, for x = numerator/denominator >= 0; at most one less than the best."""
    return LOG2E_LOW * numerator // (LOG2E_SCALE * denominator)


def growth_bits(numerator: int, denominator: int) -> int:
    """Some n with e^x <= 2^n, for x = numerator/denominator >= 0."""
    return LOG2E_HIGH * numerator // (LOG2E_SCALE * denominator) + 1


def exp_minus(numerator: int, denominator: int, bits: int) -> int:
    """An integer within EXP_ERROR of 2^bits·e^{-x}, for x = numerator/denominator >= 0 and bits >= 0."""
    if numerator == 0:
        return 1 << bits
    if decay_bits(numerator, denominator) >= bits:
        return 0
    # x / 2^halvings < 2^-shrink, so that the Taylor series needs about bits / shrink terms.
    shrink = isqrt(bits) // 2 + 2
    halvings = max(0, numerator.bit_length() - denominator.bit_length() + 1 + shrink)
    guard = bits.bit_length() + 8
    work = bits + halvings + guard
    y = (numerator << work) // (denominator << halvings)
    # Each term has an error below 3 units: y is off by 1 and every step rounds twice and divides the old error by 4.
    total = term = 1 << work
    n = 0
    while term:
        n += 1
        term = (term * y >> work) // n
        total += -term if n & 1 else term
    # Squaring at most doubles the error and rounds once.
    assert 3 * n + 6 < 1 << (guard - 1)
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - bits)
