"""The sign of a curve on an interval, from its Taylor expansion in the middle with all errors enclosed.

On [a, b] with middle m and half width r, the terms with e^{-jt} are P_j(m + r·u)·e^{-jm}·e^{-jr·u}, -1 <= u <= 1. The
polynomial P_j(m + r·u) is expanded exactly. The series of e^{-jr·u} is cut after the power N - 1; by Lagrange the rest
is at most e^{jr}·(jr)^N/N!, so with what stands before it at most Σ_k |c_jk|·b^k · e^{-ja}·(jr)^N/N!.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from dipc.verifier.budget import Budget
from dipc.verifier.curve import Curve
from dipc.verifier.enclosure import LOG2E_LOW, LOG2E_UNIT, decay_bits, growth_bits, powers
from dipc.verifier.positive import positive_on_unit
from dipc.verifier.rejection import Rejected

#: The precisions tried are the one stated and this one more, then twice as much.
_MORE_BITS = (16, 64, 256)
#: Stated precisions beyond this are refused.
MOST_BITS = 100_000
_MOST_TERMS = 20_000


def prove_sign(curve: Curve, lower: Fraction, upper: Fraction, sign: int, bits: int, budget: Budget, step: str) -> None:
    """Raises Rejected unless the curve is shown to have this strict sign on [lower, upper], 0 < lower < upper.

    `bits`, the precision, is a hint where to begin.
    """
    if not curve.terms:
        raise Rejected(step, "the derivative is 0")
    for more in _MORE_BITS:
        low, high = expansion(curve, lower, upper, bits + more, budget, step)
        # Powers of u are positive for u > 0, so the least coefficients count; for u < 0 the odd powers change sign.
        if sign > 0:
            right = low
            left = [-h if n & 1 else l for n, (l, h) in enumerate(zip(low, high, strict=True))]
        else:
            right = [-h for h in high]
            left = [l if n & 1 else -h for n, (l, h) in enumerate(zip(low, high, strict=True))]
        if positive_on_unit(right, budget, step) and positive_on_unit(left, budget, step):
            return
    raise Rejected(step, f"the sign {sign} is not shown on [{shown(lower)}, {shown(upper)}]")


def expansion(
    curve: Curve, lower: Fraction, upper: Fraction, bits: int, budget: Budget, step: str
) -> tuple[list[int], list[int]]:
    """Lists low and high and a scale s > 0: for each -1 <= u <= 1 there are low[n] <= a_n <= high[n] with
    s·curve(m + r·u) = Σ a_n·u^n. About `bits` bits after the point are right before scaling.
    """
    middle, radius = (lower + upper) / 2, (upper - lower) / 2
    whole = middle.denominator * radius.denominator
    m, r = int(middle * whole), int(radius * whole)
    degree = curve.degree
    budget.spend(degree * degree + 1, step, degree * (m.bit_length() + whole.bit_length()))
    # (m + r·u)^k over whole^k
    lines = [[comb(k, i) * m ** (k - i) * r**i for i in range(k + 1)] for k in range(degree + 1)]
    sizes = {j: sum(abs(c) * upper**k for k, c in column) for j, column in curve.columns}
    size = max(x.numerator.bit_length() - x.denominator.bit_length() + 1 for x in sizes.values())
    need = max(bits + size, 0) + len(sizes).bit_length() + 8
    # Terms with e^{-ja} < 2^-need are only bounded; the others grow by at most e^{jr} on the way.
    kept = [j for j in sizes if decay_bits(j * lower) <= need]
    work = need + growth_bits(kept[-1] * radius) if kept else need
    budget.spend(len(sizes), step, work + size)
    small = 1 << work - need
    values = dict(zip(kept, powers(kept, middle, work, budget, step), strict=True))
    length = degree + 1
    low, high = [0] * length, [0] * length
    rest = 0
    for j, column in curve.columns:
        # An upper bound of the rest of the series, in units of 2^-work.
        bound = (_ceil(sizes[j]) << work >> LOG2E_LOW * j * lower.numerator // (LOG2E_UNIT * lower.denominator)) + 1
        if j not in values:
            rest += bound
            continue
        line = [0] * length
        for k, c in column:
            scaled = c * whole ** (degree - k)
            for i, x in enumerate(lines[k]):
                line[i] += scaled * x
        least, most = values[j]
        n, step_n, step_d = 0, j * r, whole
        while bound > small:
            _accumulate(low, high, n, least, most, line)
            n += 1
            if n > _MOST_TERMS:
                raise Rejected(step, "the interval is too wide for a Taylor expansion")
            budget.spend(2 * length + 4, step, work + line[0].bit_length())
            # times -j·r·u/n
            least, most = -most * step_n // (step_d * n), -(least * step_n // (step_d * n))
            bound = -(-bound * step_n // (step_d * n))
        rest += bound
    scale = whole**degree
    low[0] -= rest * scale
    high[0] += rest * scale
    return low, high


def _accumulate(low: list[int], high: list[int], n: int, least: int, most: int, line: list[int]) -> None:
    """Add (least..most)·u^n·Σ line[i]·u^i."""
    missing = n + len(line) - len(low)
    if missing > 0:
        low += [0] * missing
        high += [0] * missing
    for i, c in enumerate(line, start=n):
        if c >= 0:
            low[i] += c * least
            high[i] += c * most
        else:
            low[i] += c * most
            high[i] += c * least


def _ceil(x: Fraction | int) -> int:
    return -(-x.numerator // x.denominator)


def shown(x: Fraction) -> str:
    """The number, where it is short."""
    return str(x) if x.numerator.bit_length() + x.denominator.bit_length() < 120 else "…"
