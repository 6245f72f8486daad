"""Signs of exponential polynomials: at points, next to 0 and infinity, on pieces, and of products; and their roots.

A certificate states the factors of a function and, for each piece of the interval, a proof of the factor's sign on the
piece. FORMAT.md states and proves the lemmas for these proofs, S1 to S5.

Numbers are enclosed in fixed point: a pair (low, high) of integers encloses x if low·2^-bits <= x <= high·2^-bits.
Every operation rounds low down and high up, so the results are enclosures whatever is rounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from math import comb, factorial, gcd
from operator import itemgetter

from dipc.verifier import reading as read
from dipc.verifier.functions import ONE, Ring, common_multiple, height, multiply, read_ring
from dipc.verifier.reading import Budget, Rejected, in_step

# === enclosure =================================================================================

Pair = tuple[int, int]

#: LOG2E_LOW / 10^4 < log2(e) = 1.442695… < LOG2E_HIGH / 10^4.
LOG2E_LOW, LOG2E_HIGH, LOG2E_UNIT = 14_426, 14_427, 10_000


def decay_bits(x: Fraction) -> int:
    """Return an n >= 0 with e^{-x} <= 2^-n, for `x` >= 0."""
    return LOG2E_LOW * x.numerator // (LOG2E_UNIT * x.denominator)


def growth_bits(x: Fraction) -> int:
    """Return an n with e^x <= 2^n, for `x` >= 0."""
    return LOG2E_HIGH * x.numerator // (LOG2E_UNIT * x.denominator) + 1


def exp_minus(x: Fraction, bits: int) -> Pair:
    """Return an enclosure of e^{-x} for `x` >= 0, a few units of 2^-`bits` wide."""
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


def powers(exponents: Sequence[int], x: Fraction, bits: int, budget: Budget) -> list[Pair]:
    """Return enclosures of e^{-j·x}, in units of 2^-`bits`, for the increasing natural numbers j in `exponents`.

    `x` is at least 0. Charges its work to `budget`.
    """
    if not exponents:
        return []
    fine = bits + exponents[-1].bit_length() + 4
    budget.spend(20 * len(exponents) + 2 * fine + 50, fine)
    # Numbers much smaller than the last bit need no multiplication.
    least = (fine * LOG2E_UNIT // LOG2E_LOW + 1) / x if x else None
    first = exp_minus(x, fine)
    steps: dict[int, Pair] = {1: first}
    current: Pair = (1 << fine, 1 << fine)
    exponent = 0
    result: list[Pair] = []
    for j in exponents:
        if least is not None and j > least:
            result.append((0, 1))
            continue
        if j > exponent:
            current = _product(current, _power(j - exponent, steps, fine), fine)
            exponent = j
        result.append((current[0] >> fine - bits, -(-current[1] >> fine - bits)))
    return result


def _power(gap: int, steps: dict[int, Pair], bits: int) -> Pair:
    known = steps.get(gap)
    if known is None:
        known = steps[gap] = _product(_power(gap // 2, steps, bits), _power(gap - gap // 2, steps, bits), bits)
    return known


def _product(a: Pair, b: Pair, bits: int) -> Pair:
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def combination(values: Sequence[int], pairs: Sequence[Pair]) -> Pair:
    """Return an enclosure of Σ value·x over `values` and the numbers x that `pairs` enclose."""
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


def positive_on_unit(coefficients: list[int], budget: Budget) -> bool:
    """True only if Σ coefficients[n]·x^n > 0 for all 0 <= x <= 1. False proves nothing.

    `coefficients` are integers. Charges its work to `budget`.
    """
    # The powers of x decrease from 1 to 0, so the value is a mean of the partial sums.
    if min(accumulate(coefficients)) > 0:
        return True
    stack = [(0, coefficients)]
    while stack:
        halvings, polynomial = stack.pop()
        degree = len(polynomial) - 1
        # The polynomial must be positive at both ends.
        if polynomial[0] <= 0 or sum(polynomial) <= 0 or halvings > _MOST_HALVINGS:
            return False
        bits = max(map(int.bit_length, polynomial)) + degree
        budget.spend(degree * degree // 8 + 4, bits)
        # (1 + y)^degree·polynomial(1/(1 + y)) for y >= 0 covers 0 < x <= 1.
        if min(_shifted(polynomial[::-1])) >= 0:
            continue
        left = [c << degree - n for n, c in enumerate(polynomial)]
        stack += [(halvings + 1, left), (halvings + 1, _shifted(left))]
    return True


def _shifted(coefficients: list[int]) -> list[int]:
    """Return the coefficients of p(x + 1) for the polynomial p with `coefficients`, by repeated partial sums."""
    row = coefficients[::-1]
    result: list[int] = []
    while row:
        row = list(accumulate(row))
        result.append(row.pop())
    return result


# === curve =====================================================================================

_FIRST_BITS = 64


@dataclass(frozen=True)
class Curve:
    """The function Σ c·t^k·e^{-j·t} of t = scale·eps, over triples (j, k, c).

    The triples are sorted, no (j, k) occurs twice, and each c is an integer other than 0.
    """

    terms: tuple[tuple[int, int, int], ...]
    scale: Fraction = Fraction(1)

    @staticmethod
    def from_ring(function: Ring, budget: Budget) -> Curve:
        """Return `function`, which is not 0, as a curve, up to a positive number and a factor e^{q·eps}.

        Charges its work to `budget`.
        """
        unit = common_multiple((q.denominator for _, q in function), budget)
        whole = common_multiple((c.denominator for c in function.values()), budget)
        budget.spend(len(function), unit.bit_length() + max(_height(q) for _, q in function))
        exponents = [q.numerator * (unit // q.denominator) for _, q in function]
        top = max(exponents)
        common = gcd(*(top - q for q in exponents)) or 1
        scale = Fraction(common, unit)
        degree = max(k for k, _ in function)
        budget.spend(2 * len(function), height(function) + whole.bit_length() + degree * _height(scale))
        # Times `whole` and a power of the numerator of `scale`, each c/scale^k is an integer.
        factors = {k: scale.denominator**k * scale.numerator ** (degree - k) for k in {k for k, _ in function}}
        values = {
            ((top - q) // common, k): c.numerator * (whole // c.denominator) * factors[k]
            for q, ((k, _), c) in zip(exponents, function.items(), strict=True)
        }
        divisor = gcd(*values.values())
        return Curve(tuple((j, k, c // divisor) for (j, k), c in sorted(values.items())), scale)

    @cached_property
    def columns(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """The terms c·t^k·e^{-j·t} of the function: for each j, increasing, the pairs (k, c)."""
        columns = groupby(self.terms, key=itemgetter(0))
        return tuple((j, tuple((k, c) for _, k, c in column)) for j, column in columns)

    @cached_property
    def rows(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """The pairs (j, c) for each k, with j increasing in each row."""
        rows: dict[int, list[tuple[int, int]]] = {}
        for j, k, c in self.terms:
            rows.setdefault(k, []).append((j, c))
        return tuple((k, tuple(row)) for k, row in rows.items())

    @cached_property
    def degree(self) -> int:
        """The greatest power of t."""
        return max((k for _, k, _ in self.terms), default=0)

    @cached_property
    def bits(self) -> int:
        """The number of bits of the longest coefficient."""
        return max((c.bit_length() for _, _, c in self.terms), default=0)

    @cached_property
    def derivative(self) -> Curve:
        """The derivative with respect to t: t^k·e^{-jt} becomes k·t^{k-1}·e^{-jt} - j·t^k·e^{-jt}."""
        sums: dict[tuple[int, int], int] = {}
        for j, k, c in self.terms:
            for key, value in (((j, k - 1), k * c), ((j, k), -j * c)):
                if value:
                    sums[key] = sums.get(key, 0) + value
        return Curve(tuple((j, k, c) for (j, k), c in sorted(sums.items()) if c), self.scale)


def sign_of_ring(function: Ring, eps: Fraction, budget: Budget) -> int:
    """Return the exact sign of the exponential polynomial `function` at a rational `eps` > 0: -1, 0 or 1.

    Charges its work to `budget`.
    """
    return _sign_at(Curve.from_ring(function, budget), eps, budget) if function else 0


def _sign_at(curve: Curve, eps: Fraction, budget: Budget) -> int:
    """Return the exact sign of `curve` at a rational `eps` > 0: -1, 0 or 1.

    With x = scale·eps, the value of the curve is a sum of terms v·e^{-j·x} with rational v and distinct integers j. The
    sum is 0 only if each v is 0, since e^{-x} is transcendental (Lindemann). Charges its work to `budget`.
    """
    x = curve.scale * eps
    budget.spend(2 * len(curve.terms), curve.bits + curve.degree * _height(x))
    values = {j: sum((c * x**k for k, c in column), Fraction(0)) for j, column in curve.columns}
    exponents = sorted(j for j, value in values.items() if value)
    if not exponents:
        return 0
    common = common_multiple((values[j].denominator for j in exponents), budget)
    bits = common.bit_length() + max(values[j].numerator.bit_length() for j in exponents)
    budget.spend(len(exponents), bits)
    whole = [int(values[j] * common) for j in exponents]
    if len({value > 0 for value in whole}) == 1:
        return 1 if whole[0] > 0 else -1
    least = exponents[0]
    exponents = [j - least for j in exponents]
    bits = _FIRST_BITS + max(value.bit_length() for value in whole) - whole[0].bit_length()
    while True:
        budget.spend(len(whole), bits + max(value.bit_length() for value in whole))
        low, high = combination(whole, powers(exponents, x, bits, budget))
        if low > 0:
            return 1
        if high < 0:
            return -1
        bits *= 2


def _height(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()


# === expansion =================================================================================

#: The bits added to the stated precision, one attempt after the other. Mostly a few bits of the value suffice.
_MORE_BITS = (-20, 16, 64, 256)
#: The greatest precision that a certificate may state.
MOST_BITS = 100_000
_MOST_TERMS = 20_000


def prove_sign(curve: Curve, lower: Fraction, upper: Fraction, sign: int, bits: int, budget: Budget) -> None:
    """Raise Rejected unless `curve` has the strict `sign` on [`lower`, `upper`], where 0 < `lower` < `upper`.

    `bits` is a hint: the precision with which the search for a proof starts. Charges its work to `budget`.
    """
    if not curve.terms:
        raise Rejected("the derivative is 0")
    for more in _MORE_BITS:
        low, high = expansion(curve, lower, upper, bits + more, budget)
        # Powers of u are positive for u > 0, so the least coefficients count; for u < 0 the odd powers change sign.
        if sign < 0:
            low, high = [-h for h in high], [-l for l in low]
        left = [-h if n & 1 else l for n, (l, h) in enumerate(zip(low, high, strict=True))]
        if positive_on_unit(low, budget) and positive_on_unit(left, budget):
            return
    raise Rejected(f"the function is not shown to have the sign {sign} on [{shown(lower)}, {shown(upper)}]")


def expansion(curve: Curve, lower: Fraction, upper: Fraction, bits: int, budget: Budget) -> tuple[list[int], list[int]]:
    """Return bounds of the Taylor coefficients of `curve` around the middle m of [`lower`, `upper`], with radius r.

    The bounds are lists low and high. For some scale s > 0, and each -1 <= u <= 1, there are low[n] <= a_n <= high[n]
    with s·curve(m + r·u) = Σ a_n·u^n. Before scaling, approximately `bits` bits after the point are right. Charges its
    work to `budget`.
    """
    middle, radius = (lower + upper) / 2, (upper - lower) / 2
    whole = middle.denominator * radius.denominator
    m, r = int(middle * whole), int(radius * whole)
    degree = curve.degree
    budget.spend(degree * degree + 1, degree * (m.bit_length() + whole.bit_length()))
    need = max(1, bits + len(curve.terms).bit_length() + 8)
    longest = need + max(_log2(max(abs(c) for _, c in row) * upper**k) for k, row in curve.rows)
    # Terms with e^{-j·lower} < 2^-longest are only bounded; the others grow by at most e^{j·r} on the way.
    exponents = [j for j, _ in curve.columns]
    kept = exponents[: bisect_right(exponents, longest, key=lambda j: decay_bits(j * lower))]
    work = longest + growth_bits(kept[-1] * radius) if kept else longest
    starts = dict(zip(kept, powers(kept, middle, work, budget), strict=True))
    low, high = [0] * (degree + 1), [0] * (degree + 1)
    for k, row in curve.rows:
        series = _exponential_series(row, starts, lower, Fraction(r, whole), (work, work - need), budget)
        # (m + r·u)^k over whole^k, times whole^degree
        line = [comb(k, i) * m ** (k - i) * r**i * whole ** (degree - k) for i in range(k + 1)]
        missing = max(0, len(series) + degree - len(low))
        low += [0] * missing
        high += [0] * missing
        budget.spend(2 + len(series) * k, work + line[0].bit_length())
        for n, (least, most) in enumerate(series):
            for i, x in enumerate(line, start=n):
                low[i] += x * least
                high[i] += x * most
    return low, high


#: The number of neighboring exponents whose series have the same length.
_GROUP = 32


def _exponential_series(
    row: Sequence[tuple[int, int]],
    starts: Mapping[int, Pair],
    lower: Fraction,
    radius: Fraction,
    precision: tuple[int, int],
    budget: Budget,
) -> list[Pair]:
    """Return bounds of numbers a_n with Σ c·e^{-j·(`lower` + `radius`·(1 + u))} = Σ a_n·u^n for each -1 <= u <= 1.

    The first sum is over the pairs (j, c) of `row`, with increasing j. The bounds are in units of 2^-bits, where
    `precision` is (bits, cut): a series ends when its rest is at most 2^cut units. `starts` maps some j, smaller than
    all others, to bounds of e^{-j·(`lower` + `radius`)}. The terms with other j only widen the bounds of a_0. Charges
    its work to `budget`.
    """
    bits, cut = precision
    near = sum(j in starts for j, _ in row)
    rest = _size_bound(row[near:], lower, bits)
    totals, errors = [0], [0]
    for place in range(0, near, _GROUP):
        group = row[place : min(place + _GROUP, near)]
        # Lower bounds of |a_n| of each term with its sign; all are too small by at most `error` together.
        values = [c * starts[j][c < 0] for j, c in group]
        error = sum(abs(c) * (starts[j][1] - starts[j][0]) for j, c in group)
        steps = [j * radius.numerator for j, _ in group]
        bound = _size_bound(group, lower, bits)
        n = 0
        while bound > 1 << cut:
            if n == len(totals):
                totals.append(0)
                errors.append(0)
            totals[n] += sum(values)
            errors[n] += error
            n += 1
            if n > _MOST_TERMS:
                raise Rejected("the interval is too wide for a Taylor expansion")
            budget.spend(1 + len(group) // 4, bits + values[0].bit_length() // 4)
            # times j·radius/n; the sign (-1)^n comes at the end
            below = radius.denominator * n
            values = [value * step // below for value, step in zip(values, steps, strict=True)]
            error = error * steps[-1] // below + 1 + len(group)
            bound = -(-bound * steps[-1] // below)
        rest += bound
    series = [(-x - y, -x) if n & 1 else (x, x + y) for n, (x, y) in enumerate(zip(totals, errors, strict=True))]
    series[0] = series[0][0] - rest, series[0][1] + rest
    return series


def _size_bound(row: Sequence[tuple[int, int]], lower: Fraction, bits: int) -> int:
    """Return an upper bound of Σ |c|·e^{-j·lower} over the pairs (j, c) of `row`, in units of 2^-`bits`.

    The exponent is j times `lower`, and `row` is sorted by j.
    """
    return (sum(abs(c) for _, c in row) << bits >> decay_bits(row[0][0] * lower)) + 1 if row else 0


def shown(x: Fraction) -> str:
    """Return `x` as text, or an ellipsis if the text is long."""
    return str(x) if x.numerator.bit_length() + x.denominator.bit_length() < 120 else "…"


# === ends ======================================================================================

_GUARD_BITS = 64
#: The number of Taylor coefficients at 0 used beyond the first that is not 0.
_EXTRA_TERMS = 20
MOST_ORDER = 20_000


def prove_near_zero(curve: Curve, order: int, radius: Fraction, sign: int, budget: Budget) -> None:
    """Raise Rejected unless `curve` vanishes at 0 to exactly this `order` and has the strict `sign` on (0, `radius`].

    With the Taylor coefficients a_n, curve(t)/t^order is Σ a_n·t^{n - order} over n >= order. The proof shows that the
    sum of the first summands is greater than a bound of all others on [0, radius]. Charges its work to `budget`.
    """
    last = max(order + _EXTRA_TERMS, curve.degree)
    numbers = _derivatives(curve, last, budget)
    for n in range(order):
        if numbers[n]:
            raise Rejected(f"the Taylor coefficient at 0 of order {n} is not 0")
    if not numbers[order]:
        raise Rejected(f"the Taylor coefficient at 0 of order {order} is 0")
    if (numbers[order] > 0) != (sign > 0):
        raise Rejected(f"the first Taylor coefficient at 0 does not have the sign {sign}")
    bits = max(0, _GUARD_BITS + factorial(order).bit_length() - numbers[order].bit_length())
    longest = curve.terms[-1][0].bit_length()
    budget.spend(4 * (last - order + 1 + len(curve.terms)), bits + last * (_height(radius) + longest))
    tail = _tail(curve, order, last, radius)
    coefficients = []
    power, fact = Fraction(1 << bits), factorial(order)
    for n in range(order, last + 1):
        value = sign * numbers[n] * power / fact
        coefficients.append(value.numerator // value.denominator)
        power *= radius
        fact *= n + 1
    above = tail * (1 << bits)
    coefficients[0] -= -(-above.numerator // above.denominator)
    if not positive_on_unit(coefficients, budget):
        raise Rejected(f"the function is not shown to have the sign {sign} up to the radius")


def _derivatives(curve: Curve, last: int, budget: Budget) -> list[int]:
    """Return the derivatives of `curve` at 0 of the orders 0 to `last`.

    The curve is a sum of terms c·t^k·e^{-jt}. Such a term contributes c·n!/(n-k)!·(-j)^{n-k} to the derivative of order
    n, if n >= k. Charges its work to `budget`.
    """
    longest = curve.terms[-1][0].bit_length()
    budget.spend((last + 1) * len(curve.terms), curve.bits + last * longest)
    result = [0] * (last + 1)
    for k, row in curve.rows:
        values = [c * factorial(k) for _, c in row]
        steps = [-j for j, _ in row]
        for n in range(k, last + 1):
            result[n] += sum(values)
            # n!/(n-k)! grows by (n+1)/(n+1-k)
            values = [value * step for value, step in zip(values, steps, strict=True)]
            if k:
                values = [value * (n + 1) // (n + 1 - k) for value in values]
    return result


def _tail(curve: Curve, order: int, last: int, radius: Fraction) -> Fraction:
    """Return an upper bound of Σ |a_n|·radius^{n-order} over n > `last`, where Σ a_n·t^n is `curve` around 0.

    A term c·t^k·e^{-jt} contributes at most |c|·radius^{k-order}·Σ (j·radius)^i/i! over i >= last + 1 - k. The `order`
    is that of the zero of `curve` at 0. Raises Rejected if `radius` is so large that some summand is more than half of
    the one before.
    """
    total = Fraction(0)
    for k, row in curve.rows:
        first = last + 1 - k
        if 2 * row[-1][0] * radius > first + 1:
            raise Rejected("the radius is too large for the Taylor series at 0")
        total += 2 * radius ** (k - order + first) * sum(abs(c) * j**first for j, c in row) / factorial(first)
    return total


def prove_at_infinity(curve: Curve, bound: Fraction, sign: int, budget: Budget) -> None:
    """Raise Rejected unless `curve` has the strict `sign` on [`bound`, inf), where `bound` > 0.

    The leading term is c·t^degree: it has the highest power, and no e^{-t}. The proof divides each term of the opposite
    sign by t^degree. The absolute values of these quotients decrease on [bound, inf), and their sum at the bound is
    less than c in absolute value. Charges its work to `budget`.
    """
    constant = [(k, c) for j, k, c in curve.terms if not j]
    if not constant:
        raise Rejected("every term contains e^-t, so none of them is the leading term as t grows")
    degree, leading = constant[-1]
    if (leading > 0) != (sign > 0):
        raise Rejected(f"the leading term does not have the sign {sign}")
    budget.spend(2 * len(curve.terms), curve.bits + curve.degree * _height(bound))
    rows = []
    for k, row in curve.rows:
        against = [(j, abs(c)) for j, c in row if (c > 0) is not (leading > 0)]
        # t^power·e^{-jt} decreases from power/j on.
        if against and k - degree > against[0][0] * bound:
            raise Rejected(f"t^{k - degree}·e^(-{against[0][0]}·t) does not decrease beyond the bound")
        rows.append((bound ** (k - degree), against))
    exponents = sorted({j for _, against in rows for j, _ in against})
    bits = _GUARD_BITS + max(_log2(size * sum(c for _, c in against)) for size, against in rows)
    most = dict(zip(exponents, (high for _, high in powers(exponents, bound, bits, budget)), strict=True))
    total = sum(size * sum(c * most[j] for j, c in against) for size, against in rows)
    if not total < abs(leading) << bits:
        raise Rejected("the leading term does not dominate beyond the bound")


def _log2(x: Fraction | int) -> int:
    return max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)


# === factors ===================================================================================

#: The most pieces for one factor, factors of one function, and the greatest multiplicity.
MOST_PIECES = 200_000
MOST_FACTORS = 10_000
MOST_MULTIPLICITY = 10_000

#: The interval of eps between two ends; None is infinity.
Range = tuple[Fraction, Fraction | None]

#: The fields of a piece, by the method that proves its sign: "zero" by lemma S2, "value" by S3, "slope" and "crossing"
#: by S4, and "infinity" by S5. A piece begins with `sign` where the piece before it ends, and ends at `to`.
_PIECES: Mapping[str, read.Table] = {
    "zero": {"sign": read.sign, "to": read.rational, "order": read.up_to(MOST_ORDER)},
    "value": {"sign": read.sign, "to": read.rational, "bits": read.up_to(MOST_BITS)},
    "slope": {"sign": read.sign, "to": read.rational, "bits": read.up_to(MOST_BITS), "slope": read.sign},
    "crossing": {"sign": read.sign, "to": read.rational, "bits": read.up_to(MOST_BITS)},
    "infinity": {"sign": read.sign},
}


@dataclass(frozen=True)
class Signs:
    """The sign changes of a function on an interval.

    `left` is the sign right after the lower end. `roots` are the points where the sign changes, increasing: each is
    enclosed in an interval of its own, or known exactly (two equal ends).
    """

    left: int
    roots: tuple[tuple[Fraction, Fraction], ...]


def factor_signs(function: Ring, value: object, within: Range, budget: Budget) -> Signs:
    """Return all sign changes of `function` inside `within`.

    `value` is a JSON list of pieces that cover `within`, each with a proof of its signs. It may be None for a single
    term, which has no root, and for a function that is linear in eps, whose root is computed. Charges its work to
    `budget`. Raises Rejected if `value` does not prove the signs.
    """
    if value is None:
        return _evident(function, within)
    curve = Curve.from_ring(function, budget)
    position: Fraction | None = within[0]
    signs: list[int] = []
    roots: list[tuple[Fraction, Fraction]] = []
    for number, item in enumerate(read.items(value, MOST_PIECES), start=1):
        with in_step(f"piece {number}"):
            if position is None:
                raise Rejected("a piece follows the one that ends at infinity")
            first, last, end = _piece(curve, item, (position, within[1]), budget)
            if signs and first != signs[-1]:
                raise Rejected(f"the piece begins with the sign {first}, but the previous piece ends with {signs[-1]}")
            if end is not None and first != last:
                roots.append((position, end))
            signs += [first, last]
            position = end
    if not signs or position not in (None, within[1]):
        raise Rejected("the pieces do not reach the upper end")
    return Signs(signs[0], tuple(roots))


def _evident(function: Ring, within: Range) -> Signs:
    if len(function) == 1:
        return Signs(1 if max(function.values()) > 0 else -1, ())
    if function.keys() != {(0, Fraction(0)), (1, Fraction(0))}:
        raise Rejected("a factor without pieces must be a single term or linear in eps")
    slope, start = function[1, Fraction(0)], function[0, Fraction(0)]
    root, rising = -start / slope, 1 if slope > 0 else -1
    if root <= within[0]:
        return Signs(rising, ())
    return Signs(-rising, ((root, root),) if within[1] is None or root < within[1] else ())


def _piece(curve: Curve, value: object, left: Range, budget: Budget) -> tuple[int, int, Fraction | None]:
    """Return the signs of `curve` at the two ends of the first piece of `left`, and its upper end (None: infinity).

    `left` is the part of the interval that earlier pieces do not cover. `value` states the piece and its proof. Charges
    its work to `budget`. Raises Rejected if the proof is wrong.
    """
    method, (first, *stated) = read.variant(value, "method", _PIECES)
    position = left[0]
    if not position and method != "zero":
        raise Rejected("no piece begins at 0")
    if method == "infinity":
        prove_at_infinity(curve, position * curve.scale, first, budget)
        return first, first, None
    end, *stated = stated
    if not position < end or (left[1] is not None and end > left[1]):
        raise Rejected("the piece is empty or reaches beyond the interval")
    lower, upper = position * curve.scale, end * curve.scale
    last = -first if method == "crossing" else first
    if method == "zero":
        prove_near_zero(curve, stated[0], upper, first, budget)
    elif method == "value":
        prove_sign(curve, lower, upper, first, stated[0], budget)
    else:
        with in_step("slope"):
            slope = stated[1] if method == "slope" else last
            prove_sign(curve.derivative, lower, upper, slope, stated[0], budget)
        for eps, wanted in ((position, first), (end, last)):
            if _sign_at(curve, eps, budget) != wanted:
                raise Rejected(f"at {shown(eps)} the sign is not {wanted}")
    return first, last, end


def _all_signs(value: object, function: Ring, within: Range, budget: Budget) -> list[tuple[int, Signs | None]]:
    """Return the multiplicity of each factor in `value`, and its signs inside `within`.

    The product of the factors, with their multiplicities, must be `function`. The signs are None if the certificate
    gives no evidence for a factor of even multiplicity, which changes no sign of the product. Charges its work to
    `budget`. Raises Rejected if a factor is malformed, if its signs are not proved, or if the product is another
    function.
    """
    product = ONE
    result: list[tuple[int, Signs | None]] = []
    for number, item in enumerate(read.items(value, MOST_FACTORS), start=1):
        with in_step(f"factor {number}"):
            factor, multiplicity, evidence = read.fields(
                item, {"function": read_ring, "multiplicity": read.up_to(MOST_MULTIPLICITY), "evidence": read.anything}
            )
            if not factor or not multiplicity:
                raise Rejected("the factor or its multiplicity is 0")
            for _ in range(multiplicity):
                budget.spend(10)
                product = multiply(product, factor, budget)
            if evidence == "even" and multiplicity % 2:
                raise Rejected("the multiplicity is odd, so the sign of the factor must be shown")
            signs = None if evidence == "even" else factor_signs(factor, evidence, within, budget)
            result.append((multiplicity, signs))
    if product != function:
        raise Rejected("the product of the factors is not the function")
    return result


def prove_nonnegative(value: object, function: Ring, within: Range, budget: Budget, *, strictly: bool = False) -> None:
    """Raise Rejected unless the proof `value` shows that `function` is >= 0 on the whole interval `within`.

    `value` is JSON data: a list of factors whose product is `function`, each with evidence of its sign. By continuity
    the ends of the interval are included. With `strictly`, `function` must be > 0 between the ends. Charges its work to
    `budget`.
    """
    _require_nonnegative(_all_signs(value, function, within, budget), strictly=strictly)


def _require_nonnegative(factors: Sequence[tuple[int, Signs | None]], *, strictly: bool) -> None:
    total = 1
    for number, (multiplicity, signs) in enumerate(factors, start=1):
        if (strictly or multiplicity % 2) and (signs is None or signs.roots):
            what = "the factor is not shown to be different from 0" if strictly else "the sign of the factor changes"
            raise Rejected(what, f"factor {number}")
        if signs is not None and multiplicity % 2:
            total *= signs.left
    if total < 0:
        raise Rejected("the product of the signs is negative")


def prove_chart(value: object, function: Ring, within: Range, budget: Budget) -> None:
    """Raise Rejected unless the factors in `value` show where `function` is negative inside `within`.

    Either it is nowhere negative, or all its roots inside `within` are enclosed, each in an interval of its own.
    Charges its work to `budget`.
    """
    factors = _all_signs(value, function, within, budget)
    if any(signs is None for _, signs in factors):
        _require_nonnegative(factors, strictly=False)
    roots = sorted(root for _, signs in factors if signs is not None for root in signs.roots)
    for one, other in pairwise(roots):
        if one[1] > other[0] or one == other:
            raise Rejected("two roots cannot be told apart")
