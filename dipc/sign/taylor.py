"""Taylor models, and the signs of approximately known polynomials by Bernstein coefficients."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb, factorial, lgamma, log, log2

from dipc.algebra.limits import DecisionBudget
from dipc.frozen import frozen
from dipc.sign.polynomial import LOG2E_LOW, LOG2E_SCALE, Layout, growth_bits

# --- Taylor models: polynomials with integer coefficients and a proved distance to F on an interval -------------------
#
# On [a, b] with middle m and half width r, F(m + r·u) for -1 <= u <= 1 is
#
#     Σ_k (μ + ν·u)^k · b^k · Σ_j c_jk·e^{-jm}·e^{-jr·u},     μ = m/b, ν = r/b, μ + ν = 1,
#
# and e^{-jr·u} is cut after the power n - 1 of u. Its remainder is at most e^{jr}·(jr)^n/n!. The remainder of a term
# with the factor e^{-jm} is then at most e^{-ja}·(jr)^n/n!, which is below (r/a)^n for *every* j: its maximum over j is
# at ja = n, and n! > (n/e)^n. Hence on an interval [a, 2a] every power gains a bit, however large the exponents are.
# The other bound used is (Jr)^n/n! with the largest exponent J. Terms too small to reach the last bit are left out.
#
# Everything is computed in fixed point; the errors of rounding are bounded in the l1 norm of the coefficients of u, in
# which multiplication by μ + ν·u has norm 1.

_LOG2 = log(2)

#: Approximately the bits by which a product may grow before it is rounded.
_EXACT_BITS = 128

#: The values to which small numbers are rounded down.
_NOTHING = (0, -1)


@frozen
class TaylorModel:
    """A polynomial p(u) = Σ `coefficients`[n]·u^n that approximates a function F of t on [`lower`, `upper`].

    Let m be the middle of the interval, r half its width, and unit = 2^-`bits`. For -1 <= u <= 1, F(m + r·u) differs
    from unit·p(u) by at most unit·`value_error`. The derivative of the difference with respect to u is at most
    unit·`slope_error` in absolute value. Taylor series of exponentials were cut off after the power `order` - 1 of u.
    """

    lower: Fraction
    upper: Fraction
    bits: int
    order: int
    coefficients: list[int]
    value_error: int
    slope_error: int


def least_order(layout: Layout, lower: Fraction, upper: Fraction, need: int, most: int) -> int | None:
    """An n <= `most` for which (r/lower)^n <= 2^-`need` or (J·r)^n/n! <= 2^-`need` is proved, nearly the least.

    The result is None if none is found. J is the greatest j in factors e^{-j·t} of `layout`, and r half the width of
    [`lower`, `upper`]. Needs 0 < lower <= upper.
    """
    if lower == upper or not layout.exponents[-1]:
        return 1
    an, ad, bn, bd = lower.numerator, lower.denominator, upper.numerator, upper.denominator
    # r = width/(2·ad·bd)
    width = bn * ad - an * bd
    by_ratio = most + 1
    if width < 2 * an * bd:
        # gain is 16·log2(a/r), rounded down
        gain = ((2 * an * bd) ** 16 // width**16).bit_length() - 1
        if gain > 0:
            by_ratio = min(by_ratio, -(-16 * need // gain))
    reach, scale = layout.exponents[-1] * width, 2 * ad * bd
    by_factorial = _guess_order(log2(reach) - log2(scale), need, by_ratio)
    while by_factorial < by_ratio:
        if reach**by_factorial << need <= factorial(by_factorial) * scale**by_factorial:
            return by_factorial
        by_factorial += 1
    return by_ratio if by_ratio <= most else None


def _guess_order(log_reach: float, need: int, most: int) -> int:
    """An estimate of the least n <= `most` with x^n/n! <= 2^-`need`, where log2(x) is `log_reach`."""
    low = high = 1 if log_reach < 0 else int(2.0 ** min(log_reach, 40.0)) + 1
    while high < most and high * log_reach - lgamma(high + 1) / _LOG2 > -need:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if middle * log_reach - lgamma(middle + 1) / _LOG2 > -need:
            low = middle + 1
        else:
            high = middle
    return low


def needed_bits(layout: Layout, upper: Fraction, bits: int) -> int:
    """The precision to pass to `least_order` for a Taylor model with errors near 2^-`bits` for t up to `upper`.

    With this precision, the remainder of the Taylor series of the function of `layout` is below 2^-`bits`.
    """
    return max(1, layout.size_bits(upper.numerator, upper.denominator) + bits + 2)


def taylor_model(layout: Layout, lower: Fraction, upper: Fraction, bits: int, need: int, order: int) -> TaylorModel:
    """The Taylor model of the function of `layout` on [`lower`, `upper`], with errors near 2^-`bits`.

    `need` is the result of `needed_bits`, and `order` that of `least_order`.
    """
    middle, radius = (lower + upper) / 2, (upper - lower) / 2
    an, ad = lower.numerator, lower.denominator
    rn, rd = radius.numerator, radius.denominator
    bn, bd = upper.numerator, upper.denominator
    degree = layout.degree
    # Leave out the exponents j with e^{-ja} <= 2^-(need + 2): all of these terms together are below 1/16 unit, and
    # their derivatives in u, Σ |c|·t^k·(k·r/a + r·j)·e^{-ja}, below (r/a)·(degree + ja)/16 units, decreasing in ja.
    cut = -(-(need + 2) * LOG2E_SCALE * ad // (LOG2E_LOW * an))
    kept = bisect_left(layout.exponents, cut)
    dropped_slope = 0
    if kept < len(layout.exponents):
        ratio = rn * ad // (rd * an) + 1
        dropped_slope = ratio * (degree + layout.exponents[kept] * an // ad + 1) // 16 + 1
    top = layout.exponents[kept - 1]
    growth = growth_bits(top * rn, rd)
    # One unit covers all roundings: see the errors below.
    errors = (layout.power_errors[kept - 1] + 2 + order) * layout.count + (order + degree + 1) * 4 * (degree + 1)
    guard = errors.bit_length()
    fine = bits + growth + guard
    height = [0, *((bn**k // bd**k + 1).bit_length() for k in range(1, degree + 1))]
    work = max(64, fine + max(map(int.__add__, height, layout.coefficient_bits)))
    powers = layout.powers(middle.numerator, middle.denominator, work, kept)
    mu_n, mu_d = (middle / upper).as_integer_ratio() if degree else (0, 1)
    nu_n, nu_d = (radius / upper).as_integer_ratio() if degree else (0, 1)
    result: list[int] = []
    for k in range(degree, -1, -1):
        if result:
            # multiply by μ + ν·u, with at most one unit of rounding for each coefficient
            raised = [mu_n * c // mu_d for c in result]
            raised.append(0)
            for n, c in enumerate(result):
                raised[n + 1] += nu_n * c // nu_d
            result = raised
        positions, coefficients = layout.columns[k]
        if not coefficients:
            continue
        series = _series(layout, positions, coefficients, powers, kept, order, work - fine - height[k], radius)
        if k:
            up, down = bn**k, bd**k << height[k]
            series = [c * up // down for c in series]
        if len(result) < len(series):
            result.extend([0] * (len(series) - len(result)))
        for n, c in enumerate(series):
            result[n] += c
    return _rounded(lower, upper, bits, order, result, growth + guard, dropped_slope, degree)


def _series(
    layout: Layout,
    positions: list[int],
    coefficients: list[int],
    powers: list[int],
    kept: int,
    order: int,
    shift: int,
    radius: Fraction,
) -> list[int]:
    """The coefficients of u^n, for n < `order`, of Σ_j c_j·e^{-jm}·e^{-jr·u}, where r is `radius`, in fixed point.

    On the interval from m - r to m + r, this is Σ_j c_j·e^{-jt} as a function of u = (t - m)/r. The sum is over
    exponents j of `layout`: `positions` has their indices, of which those >= `kept` are left out. `coefficients` has
    the numbers c_j. `powers` has an integer Z_j for each exponent j, which is e^{-jm} in units of 2^-w for some w. The
    results are integers in units of 2^-(w - `shift`).

    Errors, in these units: a product c_j·Z_j is off by

    1. at most the error of Z_j in units of 2^-w, as |c_j| <= 2^shift,
    2. one unit for rounding,
    3. one unit for the last bits of c_j. Bits that contribute less than one unit are left out, since Z_j < 2·2^w.

    The factors (jr)^n/n! add up to at most e^{jr}. Rounding the results adds one unit each.

    Products would grow with each power of u, so they are rounded after some powers, by at most 1. A product that is
    rounded to 0 or -1 is left out in later powers. A rounding at the power i contributes at most (jr)^(n - i)/(n - i)!
    at the power n. So the error of all roundings together is at most `order` times the sum of these factors.
    """
    exponents, rn, rd = layout.exponents, radius.numerator, radius.denominator
    if positions[-1] >= kept:
        count = bisect_left(positions, kept)
        positions, coefficients = positions[:count], coefficients[:count]
    spare = max(0, shift - powers[0].bit_length())
    values = [(c >> spare) * powers[i] >> shift - spare for i, c in zip(positions, coefficients, strict=True)]
    steps = [-exponents[i] for i in positions]
    result = [sum(values)]
    growth = steps[-1].bit_length() + rn.bit_length() if steps else 0
    exact_powers = max(1, _EXACT_BITS // max(1, growth))
    numerator = denominator = 1
    for n in range(1, order):
        values = list(map(int.__mul__, values, steps))
        numerator *= rn
        denominator *= n * rd
        result.append(sum(values) * numerator // denominator)
        if n % exact_powers == 0:
            rounded = [value * numerator // denominator for value in values]
            steps = [step for step, value in zip(steps, rounded, strict=True) if value not in _NOTHING]
            values = [value for value in rounded if value not in _NOTHING]
            numerator = denominator = 1
    return result


def _rounded(
    lower: Fraction,
    upper: Fraction,
    bits: int,
    order: int,
    fine: list[int],
    extra: int,
    dropped_slope: int,
    degree: int,
) -> TaylorModel:
    """Return the Taylor model on [`lower`, `upper`]: the coefficients `fine`, rounded, with bounds of the error.

    The integers `fine` are multiples of 2^-(`bits` + `extra`), and are rounded to multiples of a power of 2 a few bits
    smaller than 2^-`bits`. Coefficients of high powers that are below the error are left out. The error bounds follow
    from `order`, the number of terms of the series; `degree`, the greatest power of t in the function; and
    `dropped_slope`, a bound of the derivative of terms that were left out before.
    """
    keep = len(fine).bit_length() + 2
    if extra > keep:
        move = extra - keep
        coefficients = [c >> move for c in fine]
    else:
        keep = extra
        coefficients = fine
    unit = 1 << keep
    # The highest powers of u are dropped while their sum stays below a unit, since they only slow down the tests below.
    spare = unit
    while len(coefficients) > 1 and abs(coefficients[-1]) <= spare:
        spare -= abs(coefficients.pop())
    # The error of values: rounding in the series and of coefficients, the remainder, terms left out, powers of u
    # dropped.
    value_error = 3 * unit
    # A power u^n multiplies an error by at most n in the derivative; the remainder's derivative is at most
    # order + degree times the bound for the remainder.
    slope_error = (4 * (order + degree) + dropped_slope + 1) * unit
    return TaylorModel(lower, upper, bits + keep, order, coefficients, value_error, slope_error)


# --- Signs of a polynomial known up to an error, by its Bernstein coefficients and de Casteljau's subdivision ---------

#: Where all coefficients are below this multiple of the error, more precision is needed instead of smaller intervals.
_NOISE = 8


@frozen
class Subinterval:
    """One of the 2^`depth` equal parts of the interval of a Taylor model, with the number `index`, counted from 0.

    Let F be the function that the model approximates. `sign` is 1 or -1 if the model proves that F has this sign on the
    whole part, else 0. `slope` is 1 or -1 if the model proves this of the derivative F' instead, else 0. `left` and
    `right` are the signs of F at the two ends, or 0 if they are unknown.
    """

    index: int
    depth: int
    sign: int
    slope: int
    left: int
    right: int


def sign_by_partial_sums(model: TaylorModel) -> int:
    """The sign that a function is proved to have on the whole interval of its `model`: 1 or -1, or 0 without a proof.

    For 0 <= u <= 1 the powers of u decrease, so Σ c_n·u^n is a mean of the partial sums of the c_n.
    """
    coefficients, error = model.coefficients, model.value_error
    sign = 1 if coefficients[0] > 0 else -1
    mirrored = coefficients.copy()
    mirrored[1::2] = [-c for c in mirrored[1::2]]
    if sign > 0:
        proved = min(accumulate(coefficients)) > error and min(accumulate(mirrored)) > error
    else:
        proved = max(accumulate(coefficients)) < -error and max(accumulate(mirrored)) < -error
    return sign if proved else 0


def subintervals(model: TaylorModel, budget: DecisionBudget) -> Iterator[Subinterval]:
    """Yield parts that cover the interval of `model` from left to right, each with the sign of F or F' proved there.

    F is the function that the model approximates. Raises LimitReached if the work exceeds `budget`.
    """
    coefficients = _to_bernstein(model.coefficients)
    degree = len(coefficients) - 1
    # Near a root the values shrink with every halving until the error exceeds them; this bound only ensures
    # termination.
    most_halvings = 2 * max(abs(c) for c in coefficients).bit_length() + 8
    # Two units of rounding in the conversion; the derivative with respect to a variable that runs over [0, 1] doubles.
    stack = [(0, 0, coefficients, model.value_error + 2)]
    slope_error = 2 * (model.slope_error + 2 * degree)
    while stack:
        index, depth, values, error = stack.pop()
        low, high = min(values), max(values)
        left, right = _sign(values[0], error), _sign(values[-1], error)
        if low > error or high < -error:
            yield Subinterval(index, depth, left, 0, left, right)
            continue
        slope = _monotone(values, degree, slope_error, depth, error - model.value_error)
        if slope:
            yield Subinterval(index, depth, 0, slope, left, right)
        elif max(high, -low) <= _NOISE * error or depth >= most_halvings or not degree:
            yield Subinterval(index, depth, 0, 0, left, right)
        else:
            budget.spend_interval()
            first, second = _halves(values)
            stack.append((2 * index + 1, depth + 1, second, error + degree))
            stack.append((2 * index, depth + 1, first, error + degree))


def _sign(value: int, error: int) -> int:
    return (value > error) - (value < -error)


def _monotone(values: list[int], degree: int, slope_error: int, depth: int, rounding: int) -> int:
    """Return 1 if a function F is proved to increase on an interval, -1 if it is proved to decrease, else 0.

    A polynomial approximates F, and `values` are its Bernstein coefficients on the interval. The interval is a part of
    the one for which the polynomial was made, halved `depth` times. `slope_error` bounds the error of the derivative on
    the whole interval, `rounding` the error of each of `values`, and `degree` is the polynomial's degree.
    """
    bound = (slope_error >> depth) + 1 + 2 * degree * rounding
    rises = values[-1] > values[0]
    least: int | None = None
    for a, b in pairwise(values):
        steepness = b - a if rises else a - b
        if steepness <= 0:
            return 0
        if least is None or steepness < least:
            least = steepness
    if least is None or degree * least <= bound:
        return 0
    return 1 if rises else -1


def _to_bernstein(coefficients: list[int]) -> list[int]:
    """The Bernstein coefficients over x in [0, 1] of Σ c_n·(2x - 1)^n, where `coefficients` has the integers c_n.

    They are rounded to integers, each with an error of at most 2.
    """
    degree = len(coefficients) - 1
    if not degree:
        return coefficients
    # p(v - 1) = q(1 - v) with q(u) = p(-u), and q(1 + w) needs additions only.
    row = [-c if n & 1 else c for n, c in enumerate(coefficients)]
    row.reverse()
    shifted: list[int] = []
    while row:
        row = list(accumulate(row))
        shifted.append(row.pop())
    # Now shifted[n] is the coefficient of w^n, w = -2x. Divided by a binomial it is the n-th difference of the result.
    spare = degree
    differences = [((-c if n & 1 else c) << (n + spare)) // comb(degree, n) for n, c in enumerate(shifted)]
    result = [differences.pop()]
    while differences:
        result = list(accumulate([differences.pop(), *result]))
    return [c >> spare for c in result]


def _halves(values: list[int]) -> tuple[list[int], list[int]]:
    """Return the Bernstein coefficients on the lower and on the upper half of an interval, from `values` on the whole.

    Errors of the results exceed those of `values` by at most len(values) - 1.
    """
    left = [values[0]]
    right = [values[-1]]
    row = values
    while len(row) > 1:
        row = [(a + b) >> 1 for a, b in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    right.reverse()
    return left, right
