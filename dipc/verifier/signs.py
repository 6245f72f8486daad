"""The signs of exponential polynomials: at points, next to 0 and infinity, on pieces, and of products; and their roots.

Rigorous enclosures in fixed point: a pair (low, high) of integers stands for low·2^-bits <= x <= high·2^-bits.

Every operation rounds low down and high up, so what holds of the pair holds of the number, whatever the rounding was.
The only fact of analysis used is the alternating series of e^{-y}.

Integer polynomials that are positive on [0, 1]: by partial sums, else by Bernstein's coefficients and bisection.

Integer polynomials G(t, z) read as functions t -> G(t, e^{-t}) of t > 0.

The sign of a curve on an interval, from its Taylor expansion in the middle with all errors enclosed.

On [a, b] with middle m and half width r, the terms with e^{-jt} are P_j(m + r·u)·e^{-jm}·e^{-jr·u}, -1 <= u <= 1. The
polynomial P_j(m + r·u) is expanded exactly. The series of e^{-jr·u} is cut after the power N - 1; by Lagrange the rest
is at most e^{jr}·(jr)^N/N!, so with what stands before it at most Σ_k |c_jk|·b^k · e^{-ja}·(jr)^N/N!.

The sign of a curve next to 0 and towards infinity.

The signs of the factors of an exponential polynomial between two ends, re-derived from what a certificate states.

An exponential polynomial on an interval of eps: its normal form, its factors, its sign.

Exactly where an exponential polynomial is negative: its roots in intervals of their own, the signs between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import comb, factorial
from typing import Any

from dipc.verifier.functions import Ring, common_multiple
from dipc.verifier.reading import Budget, Rejected, integer, items, natural, pair, rational, record, sign, triple
from dipc.verifier.reading import sign as sign_of

# === enclosure =================================================================================

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


# === positive ==================================================================================

_MOST_HALVINGS = 40


def positive_on_unit(coefficients: list[int], budget: Budget, step: str) -> bool:
    """True only if Σ coefficients[n]·x^n > 0 for all 0 <= x <= 1. False says nothing."""
    # The powers of x decrease from 1 to 0, so the value is a mean of the partial sums.
    if min(accumulate(coefficients)) > 0:
        return True
    stack = [(0, coefficients)]
    while stack:
        halvings, polynomial = stack.pop()
        degree = len(polynomial) - 1
        # Both ends must be positive, or it is not true.
        if polynomial[0] <= 0 or sum(polynomial) <= 0 or halvings > _MOST_HALVINGS:
            return False
        bits = max(map(int.bit_length, polynomial)) + degree
        budget.spend(degree * degree // 8 + 4, step, bits)
        # (1 + y)^degree·polynomial(1/(1 + y)) for y >= 0 covers 0 < x <= 1.
        if min(_shifted(polynomial[::-1])) >= 0:
            continue
        left = [c << degree - n for n, c in enumerate(polynomial)]
        stack += [(halvings + 1, left), (halvings + 1, _shifted(left))]
    return True


def _shifted(coefficients: list[int]) -> list[int]:
    """The coefficients of p(x + 1): sums, sums of sums and so on."""
    row = coefficients[::-1]
    result: list[int] = []
    while row:
        row = list(accumulate(row))
        result.append(row.pop())
    return result


# === curve =====================================================================================

#: Exponents j and powers k that are read; a longer exponent is a text.
MOST_EXPONENT = 10**12
MOST_LONG_EXPONENT = 10**100
MOST_POWER = 10_000

_FIRST_BITS = 64


def _exponent(value: object, step: str) -> int:
    if isinstance(value, str) and MOST_EXPONENT < integer(value, step) <= MOST_LONG_EXPONENT:
        return integer(value, step)
    return natural(value, step, MOST_EXPONENT)


@dataclass(frozen=True)
class Curve:
    """Σ c·t^k·e^{-j·t} over triples (j, k, c), increasing, c an integer other than 0, no (j, k) twice."""

    terms: tuple[tuple[int, int, int], ...]

    @staticmethod
    def of(sums: dict[tuple[int, int], int]) -> Curve:
        """Of a dictionary (j, k) -> c."""
        return Curve(tuple((j, k, c) for (j, k), c in sorted(sums.items()) if c))

    @staticmethod
    def read(value: object, step: str) -> Curve:
        """Of a list of [j, k, "c"] in this order; at least one."""
        result: list[tuple[int, int, int]] = []
        for item in items(value, step):
            j, k, c = triple(item, step)
            term = (_exponent(j, step), natural(k, step, MOST_POWER), integer(c, step))
            if not term[2]:
                raise Rejected(step, "a term has the coefficient 0")
            if result and term[:2] <= result[-1][:2]:
                raise Rejected(step, "the terms are not in increasing order")
            result.append(term)
        if not result:
            raise Rejected(step, "a factor is 0")
        return Curve(tuple(result))

    @cached_property
    def columns(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """For each j, increasing, the pairs (k, c)."""
        found: dict[int, list[tuple[int, int]]] = {}
        for j, k, c in self.terms:
            found.setdefault(j, []).append((k, c))
        return tuple((j, tuple(column)) for j, column in found.items())

    @cached_property
    def degree(self) -> int:
        """The greatest power of t."""
        return max((k for _, k, _ in self.terms), default=0)

    @cached_property
    def bits(self) -> int:
        """Of the longest coefficient."""
        return max((c.bit_length() for _, _, c in self.terms), default=0)

    @cached_property
    def derivative(self) -> Curve:
        """d/dt: t^k·e^{-jt} becomes k·t^{k-1}·e^{-jt} - j·t^k·e^{-jt}."""
        sums: dict[tuple[int, int], int] = {}
        for j, k, c in self.terms:
            for key, value in (((j, k - 1), k * c), ((j, k), -j * c)):
                if value:
                    sums[key] = sums.get(key, 0) + value
        return Curve.of(sums)

    def sign_at(self, t: Fraction, budget: Budget, step: str) -> int:
        """The sign at a rational t > 0."""
        budget.spend(len(self.terms), step, self.bits + self.degree * _height(t))
        return sign_of_sum(
            {j: sum((c * t**k for k, c in column), Fraction(0)) for j, column in self.columns}, t, budget, step
        )


def sign_of_sum(values: dict[int, Fraction], x: Fraction, budget: Budget, step: str) -> int:
    """The sign of Σ values[j]·e^{-j·x}, for rational x > 0 and natural j.

    0 only where all the values are 0: e^{-x} is transcendental (Lindemann).
    """
    exponents = sorted(j for j, value in values.items() if value)
    if not exponents:
        return 0
    common = common_multiple((values[j].denominator for j in exponents), budget, step)
    bits = common.bit_length() + max(values[j].numerator.bit_length() for j in exponents)
    budget.spend(len(exponents), step, bits)
    whole = [int(values[j] * common) for j in exponents]
    if len({value > 0 for value in whole}) == 1:
        return 1 if whole[0] > 0 else -1
    least = exponents[0]
    exponents = [j - least for j in exponents]
    bits = _FIRST_BITS + max(value.bit_length() for value in whole) - whole[0].bit_length()
    while True:
        budget.spend(len(whole), step, bits + max(value.bit_length() for value in whole))
        low, high = combination(whole, powers(exponents, x, bits, budget, step))
        if low > 0:
            return 1
        if high < 0:
            return -1
        bits *= 2


def sign_of_ring(function: Ring, eps: Fraction, budget: Budget, step: str) -> int:
    """The sign of an exponential polynomial at a rational eps > 0; 0 only where it is 0 there, exactly."""
    if not function:
        return 0
    bits = max(_height(c) for c in function.values()) + max(k for k, _ in function) * _height(eps)
    budget.spend(len(function), step, bits)
    unit = common_multiple((q.denominator for _, q in function), budget, step)
    budget.spend(len(function), step, unit.bit_length() + max(_height(q) for _, q in function))
    top = max(q for _, q in function)
    values: dict[int, Fraction] = {}
    for (k, q), c in function.items():
        j = int((top - q) * unit)
        known, term = values.get(j, Fraction(0)), c * eps**k
        budget.spend(1, step, _height(known) + _height(term))
        values[j] = known + term
    return sign_of_sum(values, eps / unit, budget, step)


def product(factors: Iterable[tuple[Curve, int]], budget: Budget, step: str) -> Curve:
    """Π curve^multiplicity, multiplied out."""
    result: dict[tuple[int, int], int] = {(0, 0): 1}
    for curve, multiplicity in factors:
        for _ in range(multiplicity):
            budget.spend(1, step)
            if result == {(0, 0): 1}:
                result = {(j, k): c for j, k, c in curve.terms}
                continue
            bits = curve.bits + max(c.bit_length() for c in result.values())
            budget.spend(len(result) * len(curve.terms) + 1, step, bits)
            sums: dict[tuple[int, int], int] = {}
            for (j, k), c in result.items():
                for i, n, d in curve.terms:
                    key = (i + j, k + n)
                    sums[key] = sums.get(key, 0) + c * d
            result = {key: c for key, c in sums.items() if c}
    return Curve.of(result)


def _height(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()


# === expansion =================================================================================

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


# === ends ======================================================================================

_GUARD_BITS = 64
#: Taylor coefficients at 0 used beyond the first that is not 0.
_EXTRA_TERMS = 20
MOST_ORDER = 20_000


def prove_near_zero(curve: Curve, order: int, radius: Fraction, sign: int, budget: Budget, step: str) -> None:
    """Raises Rejected unless the curve vanishes at 0 to exactly this order and has this strict sign on (0, radius].

    With the Taylor coefficients a_n, curve(t)/t^order is Σ a_n·t^{n - order} over order <= n <= last, which is shown to
    be larger on [0, radius] than a bound of the rest.
    """
    last = max(order + _EXTRA_TERMS, curve.degree)
    numbers = _derivatives(curve, last, budget, step)
    for n in range(order):
        if numbers[n]:
            raise Rejected(step, f"the Taylor coefficient at 0 of order {n} is not 0")
    if not numbers[order]:
        raise Rejected(step, f"the Taylor coefficient at 0 of order {order} is 0")
    if (numbers[order] > 0) != (sign > 0):
        raise Rejected(step, f"the first Taylor coefficient at 0 does not have the sign {sign}")
    bits = max(0, _GUARD_BITS + factorial(order).bit_length() - numbers[order].bit_length())
    longest = curve.terms[-1][0].bit_length()
    budget.spend(4 * (last - order + 1 + len(curve.terms)), step, bits + last * (_height(radius) + longest))
    tail = _tail(curve, order, last, radius, step)
    coefficients = []
    power, fact = Fraction(1 << bits), factorial(order)
    for n in range(order, last + 1):
        value = sign * numbers[n] * power / fact
        coefficients.append(value.numerator // value.denominator)
        power *= radius
        fact *= n + 1
    above = tail * (1 << bits)
    coefficients[0] -= -(-above.numerator // above.denominator)
    if not positive_on_unit(coefficients, budget, step):
        raise Rejected(step, f"the sign {sign} is not shown up to the radius")


def _derivatives(curve: Curve, last: int, budget: Budget, step: str) -> list[int]:
    """The derivatives of order 0 to `last` at 0: t^k·e^{-jt} contributes n!/(n-k)!·(-j)^{n-k}."""
    longest = curve.terms[-1][0].bit_length()
    budget.spend((last + 1) * len(curve.terms), step, curve.bits + last * longest)
    result = [0] * (last + 1)
    for j, k, c in curve.terms:
        value = c * factorial(k)
        for n in range(k, last + 1):
            result[n] += value
            # n!/(n-k)! grows by (n+1)/(n+1-k)
            value = value * (n + 1) * -j // (n + 1 - k)
            if not value:
                break
    return result


def _tail(curve: Curve, order: int, last: int, radius: Fraction, step: str) -> Fraction:
    """At least Σ |a_n|·radius^{n - order} over n > last.

    t^k·e^{-jt} contributes at most radius^k·Σ (j·radius)^i/i! over i >= first = last + 1 - k: each term is at most
    j·radius/(first + 1) times the one before.
    """
    total = Fraction(0)
    for j, k, c in curve.terms:
        if not j:
            continue
        first = last + 1 - k
        ratio = j * radius / (first + 1)
        if 2 * ratio > 1:
            raise Rejected(step, "the radius is too large for the Taylor series at 0")
        total += 2 * abs(c) * radius ** (k - order) * (j * radius) ** first / factorial(first)
    return total


def prove_at_infinity(curve: Curve, bound: Fraction, sign: int, budget: Budget, step: str) -> None:
    """Raises Rejected unless the curve has this strict sign on [bound, inf), bound > 0.

    The leading term is c·t^degree, the one without e^{-t} and with the highest power. On [bound, inf) each other term
    divided by t^degree is decreasing in absolute value, and at the bound these are less than |c| together.
    """
    constant = [(k, c) for j, k, c in curve.terms if not j]
    if not constant:
        raise Rejected(step, "no term is without e^-t, so none leads towards infinity")
    degree, leading = constant[-1]
    if (leading > 0) != (sign > 0):
        raise Rejected(step, f"the leading term does not have the sign {sign}")
    columns: dict[int, Fraction] = {}
    budget.spend(2 * len(curve.terms), step, curve.bits + curve.degree * _height(bound))
    for j, k, c in curve.terms:
        if j == 0 and k == degree:
            continue
        # t^power·e^{-jt} decreases from power/j on.
        if k - degree > j * bound:
            raise Rejected(step, f"t^{k - degree}·e^(-{j}·t) does not decrease from the bound on")
        columns[j] = columns.get(j, Fraction(0)) + abs(c) * bound ** (k - degree)
    exponents = sorted(columns)
    bits = _GUARD_BITS + max((_log2(x) for x in columns.values()), default=0)
    total = Fraction(0)
    for j, (_, high) in zip(exponents, powers(exponents, bound, bits, budget, step), strict=True):
        total += columns[j] * high
    if not total < abs(leading) << bits:
        raise Rejected(step, "the leading term does not win from the bound on")


def _log2(x: Fraction) -> int:
    return max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)


# === factors ===================================================================================

#: Pieces between the ends for one factor.
MOST_PIECES = 200_000


@dataclass(frozen=True)
class Range:
    """The open interval of t between two ends; `upper` None is infinity."""

    lower: Fraction
    upper: Fraction | None

    def holds(self, t: Fraction) -> bool:
        """Whether t is strictly inside."""
        return self.lower < t and (self.upper is None or t < self.upper)


@dataclass(frozen=True)
class Signs:
    """The sign right after the lower end, and the roots inside, increasing, each in an interval (or known exactly) of
    its own at which the sign changes."""

    left: int
    roots: tuple[tuple[Fraction, Fraction], ...]


def factor_signs(curve: Curve, value: object, within: Range, budget: Budget, step: str) -> Signs:
    """All sign changes of the curve inside `within`; raises Rejected where the evidence does not show them.

    Evidence is {"zero", "pieces", "infinity"}; for a curve linear in t alone null, because its root says all.
    """
    if value is None:
        return _linear(curve, within, step)
    evidence = record(value, step, (), ("zero", "pieces", "infinity"))
    left: int | None = None
    current: int | None = None
    position = within.lower
    if evidence.get("zero") is not None:
        position, left = _near_zero(curve, evidence["zero"], within, budget, f"{step}, near 0")
        current = left
    elif not position:
        raise Rejected(step, "nothing is shown next to 0")
    roots: list[tuple[Fraction, Fraction]] = []
    for number, item in enumerate(items(evidence.get("pieces", []), f"{step}, pieces", MOST_PIECES), start=1):
        here = f"{step}, piece {number}"
        first, last, upper = _piece(curve, item, position, within, budget, here)
        if current is not None and first != current:
            raise Rejected(here, f"it begins with the sign {first}, where {current} was shown before")
        if first != last:
            roots.append((position, upper))
        left = first if left is None else left
        current, position = last, upper
    if evidence.get("infinity") is not None:
        here = f"{step}, towards infinity"
        bound, last = _at_infinity(curve, evidence["infinity"], budget, here)
        if bound > position:
            raise Rejected(here, "there is a gap below the bound")
        if current is not None and last != current:
            raise Rejected(here, f"the sign is {last}, where {current} was shown before")
        left = last if left is None else left
    elif within.upper is None or position < within.upper:
        raise Rejected(step, "the pieces do not reach the upper end")
    if left is None:
        raise Rejected(step, "nothing is shown")
    return Signs(left, tuple(roots))


def _linear(curve: Curve, within: Range, step: str) -> Signs:
    if any(j or k > 1 for j, k, _ in curve.terms):
        raise Rejected(step, "without evidence the sign is only known of a factor that is linear in t alone")
    coefficients = {k: c for _, k, c in curve.terms}
    slope, start = coefficients.get(1, 0), coefficients.get(0, 0)
    if not slope:
        return Signs(1 if start > 0 else -1, ())
    root, rising = Fraction(-start, slope), 1 if slope > 0 else -1
    if root <= within.lower:
        return Signs(rising, ())
    return Signs(-rising, ((root, root),) if within.holds(root) else ())


def _near_zero(curve: Curve, value: object, within: Range, budget: Budget, step: str) -> tuple[Fraction, int]:
    stated = record(value, step, ("order", "radius", "sign"))
    order, radius = natural(stated["order"], step, MOST_ORDER), rational(stated["radius"], step)
    if radius <= within.lower:
        raise Rejected(step, "the radius is not above the lower end")
    found = sign(stated["sign"], step)
    prove_near_zero(curve, order, radius, found, budget, step)
    return radius, found


def _at_infinity(curve: Curve, value: object, budget: Budget, step: str) -> tuple[Fraction, int]:
    stated = record(value, step, ("bound", "sign"))
    bound, found = rational(stated["bound"], step), sign(stated["sign"], step)
    if bound <= 0:
        raise Rejected(step, "the bound is not positive")
    prove_at_infinity(curve, bound, found, budget, step)
    return bound, found


def _piece(
    curve: Curve, value: object, position: Fraction, within: Range, budget: Budget, step: str
) -> tuple[int, int, Fraction]:
    """The signs at the two ends of a piece, and its upper end."""
    stated: Mapping[str, Any] = record(value, step, ("interval", "method", "bits"), ("sign", "slope"))
    lower, upper = (rational(end, step) for end in pair(stated["interval"], step))
    if lower != position:
        raise Rejected(step, "it does not begin where the one before ends")
    if not lower < upper or (within.upper is not None and upper > within.upper):
        raise Rejected(step, "it is empty or reaches beyond the interval")
    bits = natural(stated["bits"], step, MOST_BITS)
    method = stated["method"]
    if method == "value":
        if "slope" in stated:
            raise Rejected(step, "a slope is stated but not used")
        found = sign(stated.get("sign"), step)
        prove_sign(curve, lower, upper, found, bits, budget, step)
        return found, found, upper
    if method not in ("slope", "crossing"):
        raise Rejected(step, "the method is not `value`, `slope` or `crossing`")
    slope = sign(stated.get("slope"), step)
    if method == "slope":
        first = last = sign(stated.get("sign"), step)
    else:
        first, last = -slope, slope
        if "sign" in stated:
            raise Rejected(step, "a crossing has no one sign")
    prove_sign(curve.derivative, lower, upper, slope, bits, budget, f"{step}, slope")
    for end, wanted in ((lower, first), (upper, last)):
        if curve.sign_at(end, budget, step) != wanted:
            raise Rejected(step, f"at {shown(end)} the sign is not {wanted}")
    return first, last, upper


# === obligation ================================================================================

MOST_MULTIPLICITY = 10_000

#: The parts of a normal form.
FORM = ("scale", "factor", "power", "exponent", "sign", "factors")


@dataclass(frozen=True)
class Factored:
    """f(eps) = factor·eps^power·e^{exponent·eps}·sign·Π G^multiplicity at t = scale·eps, factor > 0 and scale > 0."""

    scale: Fraction
    sign: int
    factors: tuple[tuple[Curve, int], ...]


def read_factored(value: object, function: Ring, budget: Budget, step: str) -> Factored:
    """The stated normal form and factors of `function`, shown to be equal to it by multiplying out."""
    stated = record(value, step, FORM)
    scale, factor = rational(stated["scale"], f"{step}, scale"), rational(stated["factor"], f"{step}, factor")
    if scale <= 0 or factor <= 0:
        raise Rejected(step, "the scale and the factor of the normal form must be positive")
    power, exponent = natural(stated["power"], f"{step}, power"), rational(stated["exponent"], f"{step}, exponent")
    unit = sign(stated["sign"], f"{step}, sign")
    factors: list[tuple[Curve, int]] = []
    for number, item in enumerate(items(stated["factors"], step, 10_000), start=1):
        here = f"{step}, factor {number}"
        entry = record(item, here, ("polynomial", "multiplicity"))
        multiplicity = natural(entry["multiplicity"], here, MOST_MULTIPLICITY)
        if not multiplicity:
            raise Rejected(here, "the multiplicity is 0")
        factors.append((Curve.read(entry["polynomial"], here), multiplicity))
    whole = product(factors, budget, step)
    numbers = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in (factor, exponent, scale))
    bits = whole.bits + whole.degree * (scale.numerator.bit_length() + scale.denominator.bit_length())
    budget.spend(8 * len(whole.terms), step, bits + numbers)
    # A function has as many terms: nothing else is worth multiplying out.
    if len(whole.terms) != len(function):
        raise Rejected(step, "the factors multiplied out in normal form are not the function")
    for j, k, c in whole.terms:
        # t^k·e^{-j·t} at t = scale·eps; different (j, k) are different terms.
        if function.get((k + power, exponent - j * scale)) != unit * factor * c * scale**k:
            raise Rejected(step, "the factors multiplied out in normal form are not the function")
    return Factored(scale, unit, tuple(factors))


def all_signs(factored: Factored, value: object, within: Range, budget: Budget, step: str) -> list[Signs | None]:
    """The signs of each factor inside `within`, an interval of eps; None for one of even multiplicity without
    evidence, which changes no sign."""
    scaled = Range(within.lower * factored.scale, None if within.upper is None else within.upper * factored.scale)
    evidence = items(value, step)
    if len(evidence) != len(factored.factors):
        raise Rejected(step, f"there is evidence for {len(evidence)} factors of {len(factored.factors)}")
    result: list[Signs | None] = []
    for number, ((curve, multiplicity), item) in enumerate(zip(factored.factors, evidence, strict=True), start=1):
        if item == "even":
            if multiplicity % 2:
                raise Rejected(f"{step}, factor {number}", "its multiplicity is odd, so its sign matters")
            result.append(None)
        else:
            result.append(factor_signs(curve, item, scaled, budget, f"{step}, factor {number}"))
    return result


def prove_nonnegative(
    stated: Mapping[str, Any], function: Ring, within: Range, budget: Budget, step: str, *, strictly: bool = False
) -> None:
    """Raises Rejected unless f >= 0 on the whole interval, by continuity its ends included; or f > 0 between them."""
    factored = read_factored({name: stated[name] for name in FORM}, function, budget, step)
    total = factored.sign
    signs = all_signs(factored, stated["evidence"], within, budget, step)
    for number, ((_, multiplicity), found) in enumerate(zip(factored.factors, signs, strict=True), start=1):
        if (strictly or multiplicity % 2) and (found is None or found.roots):
            what = "it is not shown to be different from 0" if strictly else "it changes its sign"
            raise Rejected(f"{step}, factor {number}", what)
        if multiplicity % 2:
            assert found is not None, "it was refused"
            total *= found.left
    if total < 0:
        raise Rejected(step, "the product of the signs is negative")


# === chart =====================================================================================


def prove_chart(stated: Mapping[str, Any], function: Ring, within: Range, budget: Budget, step: str) -> None:
    """Raises Rejected unless the `roots` are all roots inside `within`, increasing, and `signs` those on the gaps.

    A root is [factor, "lower", "upper"]: the one root of that factor between these eps, or the rational that both are.
    """
    factored = read_factored({name: stated[name] for name in FORM}, function, budget, step)
    found = all_signs(factored, stated["evidence"], within, budget, step)
    sign = factored.sign
    left: list[list[tuple[Fraction, Fraction]]] = []
    for number, ((_, multiplicity), shown) in enumerate(zip(factored.factors, found, strict=True), start=1):
        if shown is None:
            raise Rejected(f"{step}, factor {number}", "nothing is shown of its roots")
        sign *= shown.left if multiplicity % 2 else 1
        left.append(list(shown.roots))
    expected = [sign]
    position = within.lower
    for number, item in enumerate(items(stated["roots"], f"{step}, roots"), start=1):
        here = f"{step}, root {number}"
        at, low, high = triple(item, here)
        factor, lower, upper = natural(at, here), rational(low, here), rational(high, here)
        if factor >= len(left) or not left[factor]:
            raise Rejected(here, "there is no such factor, or it has no more roots")
        if lower < position or lower == upper == position:
            raise Rejected(here, "it is not above the one before")
        _check_root(factored, factor, left[factor].pop(0), (lower, upper), budget, here)
        expected.append(expected[-1] * (-1) ** factored.factors[factor][1])
        position = upper
    if any(left):
        raise Rejected(step, "a root is left out")
    if [sign_of(item, f"{step}, signs") for item in items(stated["signs"], f"{step}, signs")] != expected:
        raise Rejected(step, "the signs between the roots are others")


def _check_root(
    factored: Factored,
    factor: int,
    crossing: tuple[Fraction, Fraction],
    stated: tuple[Fraction, Fraction],
    budget: Budget,
    step: str,
) -> None:
    """That the root in the crossing, the only one there, is between the stated eps."""
    curve = factored.factors[factor][0]
    lower, upper = (eps * factored.scale for eps in stated)
    if crossing[0] == crossing[1]:
        inside = lower == upper == crossing[0]
    else:
        inside = crossing[0] <= lower < upper <= crossing[1] and (
            curve.sign_at(lower, budget, step) * curve.sign_at(upper, budget, step) < 0
        )
    if not inside:
        raise Rejected(step, "the factor has no root between these eps that was shown before")
