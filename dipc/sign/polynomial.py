"""Integer polynomials F(t, e^{-t}): normal form, values and signs at rational points.

F is split into factors whose roots t > 0 are simple and different.

Theorem. Let F in Z[t, z] be square-free and divisible neither by t nor by z. Then all real roots t0 != 0 of the
function t -> F(t, e^{-t}) are simple, and coprime F and G have no root t0 != 0 in common.

Proof. Let G be irreducible, not t and not z up to a constant. Along z = e^{-t} its derivative is DG = G_t - z·G_z. If G
divides DG then DG = λ·G with a constant λ, because the degrees of DG are not larger. For the coefficient a_j(t) of z^j
in G this says a_j' = (λ + j)·a_j, so a_j is constant, and 0 unless j = -λ: G = c·z^j. So G and DG are coprime. Two
coprime polynomials in two variables have finitely many common zeros, with algebraic coordinates: t0 and e^{-t0} would
both be algebraic, but for algebraic t0 != 0 the number e^{-t0} is transcendental (Lindemann). The same argument holds
for two coprime polynomials. ∎

By the same theorem of Lindemann, F(t0, e^{-t0}) = 0 for rational t0 != 0 only if the polynomial F(t0, z) is zero, that
is, if t - t0 divides F. Such factors are taken out by factoring the content, so the others vanish at no rational point.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb, gcd, isqrt, lcm

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget
from dipc.algebra.parametric import Factors, Parametric
from dipc.frozen import frozen
from dipc.sign.interval import Interval

# --- e^{-x} in integer arithmetic, with stated errors -----------------------------------------------------------------

#: LOG2E_LOW / LOG2E_SCALE < log2(e) < LOG2E_HIGH / LOG2E_SCALE.
LOG2E_SCALE = 10_000
LOG2E_LOW = 14_426
LOG2E_HIGH = 14_427

#: The error of `exp_minus` in units of its last bit.
EXP_ERROR = 2


def decay_bits(numerator: int, denominator: int) -> int:
    """An n >= 0 with e^{-x} <= 2^{-n}, for x = `numerator`/`denominator` >= 0; n or n + 1 is the greatest one."""
    return LOG2E_LOW * numerator // (LOG2E_SCALE * denominator)


def growth_bits(numerator: int, denominator: int) -> int:
    """An n with e^x <= 2^n, for x = `numerator`/`denominator` >= 0."""
    return LOG2E_HIGH * numerator // (LOG2E_SCALE * denominator) + 1


def exp_minus(numerator: int, denominator: int, bits: int) -> int:
    """An integer that differs from 2^`bits`·e^{-x} by at most EXP_ERROR, for x = `numerator`/`denominator` >= 0.

    `bits` is at least 0.
    """
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


# --- Integer polynomials F(t, z) read as functions t -> F(t, e^{-t}) of t > 0 -----------------------------------------


@frozen
class Polynomial:
    """The nonzero polynomial Σ c·t^k·z^j, where `terms` has the triples (j, k, c), sorted.

    Each c is a nonzero integer, and no (j, k) occurs twice. Neither t nor z nor an integer above 1 divides the
    polynomial: some j is 0 and some k is 0. As a function it is t -> Σ c·t^k·e^{-j·t}.
    """

    terms: tuple[tuple[int, int, int], ...]

    @classmethod
    def from_terms(cls, terms: Iterable[tuple[int, int, int]]) -> Polynomial:
        """The polynomial with the triples (j, k, c) of `terms`, given in any order, with no (j, k) twice."""
        ordered = tuple(sorted(terms))
        assert ordered
        assert ordered[0][0] == 0
        assert min(k for _, k, _ in ordered) == 0
        return cls(ordered)

    @property
    def degree_t(self) -> int:
        return max(k for _, k, _ in self.terms)

    @property
    def degree_z(self) -> int:
        return self.terms[-1][0]

    def __str__(self) -> str:
        return " + ".join(f"{c}*t^{k}*exp(-{j}*t)" for j, k, c in self.terms)


#: Exponent gaps up to this size are computed by multiplication, larger ones by a separate exponential.
_SMALL_GAP = 16


class Layout:
    """The function F(t) = Σ c·t^k·e^{-j·t} given by `polynomial`, arranged for repeated evaluation.

    - `exponents`: the distinct j, increasing from 0.
    - `columns[k]`: for the terms with t^k, the indices of their j in `exponents`, and their coefficients c.
    - `norms[k]`: the sum of |c| over the terms with t^k.
    """

    __slots__ = (
        "coefficient_bits",
        "columns",
        "count",
        "degree",
        "exponents",
        "gaps",
        "norms",
        "polynomial",
        "power_errors",
    )

    def __init__(self, polynomial: Polynomial) -> None:
        self.polynomial = polynomial
        self.exponents = sorted({j for j, _, _ in polynomial.terms})
        position = {j: i for i, j in enumerate(self.exponents)}
        self.degree = polynomial.degree_t
        self.columns: list[tuple[list[int], list[int]]] = [([], []) for _ in range(self.degree + 1)]
        for j, k, c in polynomial.terms:
            positions, coefficients = self.columns[k]
            positions.append(position[j])
            coefficients.append(c)
        self.norms = [sum(map(abs, coefficients)) for _, coefficients in self.columns]
        self.coefficient_bits = [
            max(map(abs, coefficients), default=0).bit_length() for _, coefficients in self.columns
        ]
        self.count = len(polynomial.terms)
        self.gaps = [b - a for a, b in zip(self.exponents, self.exponents[1:], strict=False)]
        self.power_errors = self._bound_power_errors()

    def _bound_power_errors(self) -> list[int]:
        errors = [0]
        for gap in self.gaps:
            # A product of numbers in [0, 1] adds their errors, and two units for their product and the rounding.
            gap_error = gap * (EXP_ERROR + 2) if gap <= _SMALL_GAP else EXP_ERROR
            errors.append(errors[-1] + gap_error + 2)
        return errors

    def powers(self, numerator: int, denominator: int, bits: int, count: int) -> list[int]:
        """Integers Z_i for all i < `count`, near 2^`bits`·e^{-exponents[i]·t} at t = `numerator`/`denominator`.

        Each differs from the exact number by at most `power_errors[i]`, which this layout computes once for all t.
        `bits` must be at least 64, and these errors below 2^31, as they are for fewer than 10^7 terms.
        """
        steps: dict[int, int] = {}
        value = 1 << bits
        result = [value]
        for gap in self.gaps[: count - 1]:
            step = steps.get(gap)
            if step is None:
                step = _step(gap, numerator, denominator, bits, steps)
            value = value * step >> bits
            result.append(value)
        return result

    def size_bits(self, numerator: int, denominator: int) -> int:
        """An n with Σ |c|·t^k <= 2^n at t = `numerator`/`denominator` > 0."""
        total = 0
        power = 1
        for norm in reversed(self.norms):
            total = total * numerator + norm * power
            power *= denominator
        # Now total / denominator^degree is the sum.
        return (total * denominator // power + 1).bit_length()


def _step(gap: int, numerator: int, denominator: int, bits: int, steps: dict[int, int]) -> int:
    known = steps.get(gap)
    if known is None:
        if gap == 1 or gap > _SMALL_GAP:
            known = exp_minus(gap * numerator, denominator, bits)
        else:
            half = gap // 2
            left = _step(half, numerator, denominator, bits, steps)
            right = _step(gap - half, numerator, denominator, bits, steps)
            known = left * right >> bits
        steps[gap] = known
    return known


# --- The sign of F at a rational point, and enclosures of its value there ---------------------------------------------

#: Significant bits by default.
_FIRST_BITS = 24


@frozen
class PointValue:
    """An enclosure of the value F(t) at some t: |F(t)·`scale` - `value`| <= `error`.

    `sign` is the exact sign of F(t).
    """

    value: int
    error: int
    scale: Fraction
    sign: int


def point_value(layout: Layout, t: Fraction, budget: DecisionBudget, precision: int = _FIRST_BITS) -> PointValue:
    """The value of F at a rational `t` > 0, to approximately `precision` significant bits, with its exact sign.

    F is the function of `layout`. Raises LimitReached if the work exceeds `budget`. The sign is 0 only if F(t) = 0
    exactly. e^{-t} is transcendental (Lindemann), so F(t, e^{-t}) = 0 only if F(t, z) is the zero polynomial in z;
    otherwise enough precision separates the value from 0.
    """
    numerator, denominator = t.numerator, t.denominator
    coefficients = _coefficients_of_z(layout, numerator, denominator)
    unit = Fraction(denominator**layout.degree)
    if len(coefficients) == 1 or not any(coefficients):
        value = coefficients[0]
        return PointValue(value, 0, unit, (value > 0) - (value < 0))
    size = sum(map(abs, coefficients)).bit_length()
    bits = precision - coefficients[0].bit_length() if coefficients[0] else precision - size
    while True:
        # Exponents j with e^{-jt} <= 2^-(size + bits + 1) are left out: their sum is less than a unit.
        cut = max(1, -(-(size + bits + 1) * LOG2E_SCALE * denominator // (LOG2E_LOW * numerator)))
        kept = bisect_left(layout.exponents, cut)
        work = max(64, size + bits + layout.power_errors[kept - 1].bit_length())
        budget.check_bits(work)
        powers = layout.powers(numerator, denominator, work, kept)
        value = sum(map(int.__mul__, coefficients, powers)) >> (work - bits)
        # The errors of the powers together, of the terms left out, and of rounding are below a unit each.
        error = 3
        missing = precision - abs(value).bit_length()
        if abs(value) > error and missing <= 0:
            scale = unit * (1 << bits) if bits >= 0 else unit / (1 << -bits)
            return PointValue(value, error, scale, 1 if value > 0 else -1)
        bits += missing + 2 if abs(value) > error else max(precision, (size + bits) // 4)


def sign_at_point(layout: Layout, t: Fraction, budget: DecisionBudget) -> int:
    """The exact sign, -1, 0 or 1, of the function of `layout` at a rational `t` > 0.

    Raises LimitReached if the work exceeds `budget`.
    """
    return point_value(layout, t, budget).sign


def magnitude_at(layout: Layout, t: Fraction, budget: DecisionBudget) -> int:
    """An integer that differs by at most 2 from log2 |F(t)|, where F is the function of `layout` and F(t) != 0.

    `t` is a positive rational. Raises LimitReached if the work exceeds `budget`.
    """
    value = point_value(layout, t, budget)
    scale = value.scale
    return abs(value.value).bit_length() - scale.numerator.bit_length() + scale.denominator.bit_length()


def _coefficients_of_z(layout: Layout, numerator: int, denominator: int) -> list[int]:
    degree = layout.degree
    result = [0] * len(layout.exponents)
    for k, (positions, coefficients) in enumerate(layout.columns):
        factor = numerator**k * denominator ** (degree - k)
        for i, c in zip(positions, coefficients, strict=True):
            result[i] += c * factor
    return result


# --- From an exponential polynomial in eps to an integer polynomial in t and e^{-t} with the same sign ----------------


@frozen
class NormalForm:
    """A function f of eps, written as a positive function times an integer polynomial F, the field `polynomial`.

    f(eps) = `factor` · eps^`power` · e^{`exponent`·eps} · F(t, e^{-t}) for all eps and t = `scale`·eps, with factor > 0
    and scale > 0. So f and F have the same sign at every eps > 0. Neither the coefficients of F nor the numbers j in
    its terms c·t^k·e^{-j·t} have a common divisor. So functions that differ only in scale and factor share one F.
    """

    polynomial: Polynomial
    scale: Fraction
    factor: Fraction
    power: int
    exponent: Fraction


def normal_form(f: ExpPoly, budget: DecisionBudget) -> NormalForm:
    """Write `f`, which must not be zero, as a positive function times an integer polynomial, as in `NormalForm`.

    Raises LimitReached if a power of eps exceeds `budget`.
    """
    unit, terms = f.integer_terms()
    assert terms
    powers_of_eps, exponents, coefficients = zip(*terms, strict=True)
    top, power = max(exponents), min(powers_of_eps)
    degree = max(powers_of_eps) - power
    budget.check_power(degree)
    step = gcd(*[top - j for j in exponents])
    scale = Fraction(step, unit) if step else Fraction(1)
    step = step or 1
    up, down = scale.numerator, scale.denominator
    common = lcm(*[int(c.q) for c in coefficients])
    # eps^k = (t/scale)^k; the factor common·up^degree makes all coefficients integers.
    powers = [down**k * up ** (degree - k) for k in range(degree + 1)]
    raw = [((top - j) // step, k - power, int(c.p) * (common // int(c.q)) * powers[k - power]) for k, j, c in terms]
    content = gcd(*(c for _, _, c in raw))
    return NormalForm(
        polynomial=Polynomial.from_terms((j, k, c // content) for j, k, c in raw),
        scale=scale,
        factor=Fraction(content, common * up**degree),
        power=power,
        exponent=Fraction(top, unit),
    )


#: Primes and values of t for the modular test. Any choice is sound; one of them should succeed.
_PRIMES = (2**61 - 1, 2**62 - 57, 2**62 - 87)
_VALUES_OF_T = (3, 5, 8)


@frozen
class Factor:
    """A factor of a larger polynomial: `polynomial`, and its exact `multiplicity` there."""

    polynomial: Polynomial
    multiplicity: int


@frozen
class Content:
    """A polynomial F in t and z as the product `sign` · Π factor^multiplicity · `primitive`, over `factors`.

    The coefficients of F have no common divisor. The factors contain t alone and are irreducible over the rationals.
    `primitive` has no factor that contains t alone; it is None if it is 1.
    """

    sign: int
    factors: tuple[Factor, ...]
    primitive: Polynomial | None


def split_content(polynomial: Polynomial, budget: DecisionBudget) -> Content:
    """Return `polynomial` as a product of factors that contain the variable t alone, and a rest without such factors.

    Raises LimitReached if a degree exceeds `budget`.
    """
    columns: dict[int, dict[int, int]] = {}
    for j, k, c in polynomial.terms:
        columns.setdefault(j, {})[k] = c
    if any(len(column) == 1 and 0 in column for column in columns.values()):
        return Content(1, (), polynomial)
    import flint

    in_t = {j: flint.fmpz_poly([column.get(k, 0) for k in range(max(column) + 1)]) for j, column in columns.items()}
    content = flint.fmpz_poly([0])
    for column in in_t.values():
        content = content.gcd(column)
        if content.degree() == 0:
            return Content(1, (), polynomial)
    budget.check_degree(content.degree())
    constant, raw = content.factor()
    assert abs(constant) == 1
    factors = [
        Factor(Polynomial.from_terms((0, k, int(c)) for k, c in enumerate(p.coeffs()) if c != 0), int(e))
        for p, e in raw
    ]
    sign = 1 if constant > 0 else -1
    quotients = {j: column // content for j, column in in_t.items()}
    assert all(quotients[j] * content == column for j, column in in_t.items())
    terms = [(j, k, int(c)) for j, p in quotients.items() for k, c in enumerate(p.coeffs()) if c != 0]
    if len(quotients) == 1:
        # F is in t alone; all of it is content, up to the sign of a unit.
        ((_, _, unit),) = terms
        return Content(sign if unit > 0 else -sign, tuple(factors), None)
    return Content(sign, tuple(factors), Polynomial.from_terms(terms))


def rational_root(polynomial: Polynomial) -> Fraction | None:
    """The root of `polynomial` if it is a·t + b, else None."""
    if polynomial.degree_z or polynomial.degree_t != 1:
        return None
    (_, _, c), (_, _, d) = polynomial.terms
    return Fraction(-c, d)


def is_surely_square_free(polynomial: Polynomial) -> bool:
    """True only if `polynomial`, which must have no factor in t alone, is square-free. False proves nothing.

    Let F be the polynomial. Values t0 and primes p are tried. If F(t0, z) mod p has the degree in z of F and is coprime
    to its derivative, the discriminant of F with respect to z is not 0. So F has no square factor that contains z.
    """
    import flint

    degree = polynomial.degree_z
    for prime, value in zip(_PRIMES, _VALUES_OF_T, strict=True):
        coefficients = [0] * (degree + 1)
        for j, k, c in polynomial.terms:
            coefficients[j] = (coefficients[j] + c * pow(value, k, prime)) % prime
        reduced = flint.nmod_poly(coefficients, prime)
        if reduced.degree() == degree and reduced.gcd(reduced.derivative()).degree() == 0:
            return True
    return False


def square_free_parts(polynomial: Polynomial, budget: DecisionBudget) -> tuple[int, list[Factor]]:
    """Return (sign, factors) with `polynomial` = sign · Π factor^multiplicity.

    The factors are square-free and have no common divisors. The equality is checked by multiplying out. Raises
    LimitReached if a degree exceeds `budget`.
    """
    import flint

    budget.check_degree(max(polynomial.degree_z, polynomial.degree_t))
    context = flint.fmpz_mpoly_ctx.get(("t", "z"), flint.Ordering.lex)
    whole = context.from_dict({(k, j): c for j, k, c in polynomial.terms})
    constant, raw = whole.factor_squarefree()
    product = context.constant(1)
    sign = 1 if constant > 0 else -1
    factors: list[Factor] = []
    for factor, multiplicity in raw:
        product *= factor ** int(multiplicity)
        factors.append(
            Factor(Polynomial.from_terms((int(j), int(k), int(c)) for (k, j), c in factor.terms()), int(multiplicity))
        )
    assert product * constant == whole
    assert abs(constant) == 1
    return sign, factors


# --- Polynomials in two unknowns that are nowhere negative on a box: by Bernstein's coefficients and bisection --------
#
# On a box the polynomial is a sum of its Bernstein coefficients with nonnegative weights. So if no coefficient is
# negative, neither is the polynomial. Factors that are positive inside the box are divided out first, since most
# polynomials here vanish at its edges.

#: The coefficient of X^i·W^j in row i.
_Rows = list[list[int]]

#: The most boxes, and the most coefficients of a polynomial.
_MOST_BOXES = 100
_MOST_COEFFICIENTS = 20_000


def nowhere_negative(terms: Mapping[tuple[int, int], Fraction], low: Fraction, high: Fraction) -> bool:
    """True only if Σ c·X^i·W^j >= 0 is proved for all `low` < X < `high` and 0 < W < 1; False proves nothing.

    `terms` maps (i, j) to c. Requires 0 <= low < high <= 1.
    """
    kept = {key: c for key, c in terms.items() if c}
    if all(c > 0 for c in kept.values()):
        return True
    first, second = min(i for i, _ in kept), min(j for _, j in kept)
    width, height = max(i for i, _ in kept) - first + 1, max(j for _, j in kept) - second + 1
    if width * height > _MOST_COEFFICIENTS:
        return False
    below = lcm(*[c.denominator for c in kept.values()])
    rows = [[0] * height for _ in range(width)]
    for (i, j), c in kept.items():
        rows[i - first][j - second] = int(c * below)
    if high == 1:
        rows = _without_factor(rows)
    rows = _transpose(_without_factor(_transpose(rows)))
    return _is_nonnegative(_restrict(rows, low, high))


def _without_factor(rows: _Rows) -> _Rows:
    """Divide a polynomial in X and W by the highest power of 1 - X that divides it.

    The item j of row i of `rows` is the coefficient of X^i·W^j, as in the result.
    """
    while len(rows) > 1 and not any(sum(column) for column in zip(*rows, strict=True)):
        sums = [rows[0]]
        for row in rows[1:-1]:
            sums.append([a + b for a, b in zip(sums[-1], row, strict=True)])
        rows = sums
    return rows


def _transpose(rows: _Rows) -> _Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def _restrict(rows: _Rows, low: Fraction, high: Fraction) -> _Rows:
    """Return a positive multiple of p(`low` + (`high` - `low`)·s, W) for the polynomial p(X, W) given by `rows`.

    It is a polynomial in s and W. The item j of row i is the coefficient of X^i·W^j in `rows`, and that of s^i·W^j in
    the result.
    """
    if low == 0 and high == 1:
        return rows
    unit = lcm(low.denominator, high.denominator)
    start, step = int(low * unit), int((high - low) * unit)
    result = [rows[-1]]
    for n, row in enumerate(reversed(rows[:-1]), start=1):
        nothing = [0] * len(row)
        result = [
            [start * a + step * b for a, b in zip(one, other, strict=True)]
            for one, other in zip([*result, nothing], [nothing, *result], strict=True)
        ]
        result[0] = [a + unit**n * c for a, c in zip(result[0], row, strict=True)]
    return result


def _is_nonnegative(rows: _Rows) -> bool:
    """True only if a polynomial is proved to be at least 0 for all X and W in [0, 1].

    The item j of row i of `rows` is the coefficient of X^i·W^j. The square is cut into at most `_MOST_BOXES` boxes.
    """
    pending = [(rows, 0)]
    looked_at = 0
    while pending:
        box, depth = pending.pop()
        looked_at += 1
        if looked_at > _MOST_BOXES:
            return False
        coefficients = _bernstein(box)
        corners = [row[place] for row in (coefficients[0], coefficients[-1]) for place in (0, -1)]
        if min(corners) < 0:
            return False
        if all(c >= 0 for row in coefficients for c in row):
            continue
        across = len(box) > 1 and (depth % 2 == 0 or len(box[0]) == 1)
        sides = _halves(box) if across else [_transpose(half) for half in _halves(_transpose(box))]
        pending += [(side, depth + 1) for side in sides]
    return True


def _bernstein(rows: _Rows) -> _Rows:
    """The Bernstein coefficients of a polynomial over the unit square, each times its positive binomial coefficients.

    The item j of row i of `rows` is the coefficient of X^i·W^j.
    """
    return _transpose(_by_rows(_transpose(_by_rows(rows))))


def _by_rows(rows: _Rows) -> _Rows:
    # Σ c_k·s^k with s = t/(1 + t) is Σ b_i·t^i over (1 + t)^n: the reversed polynomial, shifted by 1.
    return _shifted(rows[::-1])[::-1]


def _shifted(rows: _Rows) -> _Rows:
    """Return the polynomial in X and W with X + 1 in place of X.

    The item j of row i of `rows` is the coefficient of X^i·W^j.
    """
    result = [list(row) for row in rows]
    for first in range(len(result) - 1):
        for i in range(len(result) - 2, first - 1, -1):
            result[i] = [a + b for a, b in zip(result[i], result[i + 1], strict=True)]
    return result


def _halves(rows: _Rows) -> list[_Rows]:
    """Return positive multiples of p(s/2, W) and p((1 + s)/2, W), for the polynomial p(X, W) given by `rows`.

    They are polynomials in s and W. The item j of row i of `rows` is the coefficient of X^i·W^j in p.
    """
    degree = len(rows) - 1
    lower = [[c << (degree - i) for c in row] for i, row in enumerate(rows)]
    return [lower, _shifted(lower)]


# --- Functions of eps and of an integer k that are nowhere negative, for every k >= start -----------------------------
#
# Such a function is Σ c·eps^e·k^p·exp(-(a + b·k)·eps). Let k = start + j, X = exp(-eps/q) and W = X^j, where q makes
# all exponents integers. Then it is a polynomial in X and W except for powers of eps and of j. These have bounds that
# become arbitrarily sharp as q grows: 1 - X <= eps/q <= (1 - X)/X and, from the geometric sum,
# (1 - W)/(1 - X) <= j <= X·(1 - W)/((1 - X)·W). The rest is a polynomial on a box, with X and W as independent
# unknowns.

#: The name of the integer k in functions of it.
NUMBER = "k"

_ZERO = Fraction(0)
_Polynomial = dict[tuple[int, int], Fraction]

#: The term c·eps^e·k^p·exp(-(a + b·k)·eps), as (e, p, b, a, c).
_Term = tuple[int, int, Fraction, Fraction, Fraction]

#: The multiples of the least possible q that are tried where it matters, and the digits of the ends of the box.
_REFINED = (1, 2, 4)
_DIGITS = 12
#: The greatest exponents of polynomials.
_MOST_DEGREE = 400


def never_negative(value: Parametric, start: int, intervals: Iterable[Interval]) -> bool:
    """True only if `value` is proved to be >= 0 for every integer k >= `start` and every eps of `intervals`.

    `value` is a function of eps and k alone with the denominator 1, and `start` >= 0. False proves nothing.
    """
    terms = [(e, *power_and_rate(factors), -q, c) for e, q, factors, c in started_at(value, start).terms()]
    mixed = any(e or p for e, p, *_ in terms)
    return all(
        any(_proved(terms, refined, interval) for refined in (_REFINED if mixed else _REFINED[:1]))
        for interval in intervals
    )


def started_at(value: Parametric, start: int) -> Parametric:
    """The function k -> `value`(`start` + k), where `value` is a function of eps and k."""
    moved = value.substituted({NUMBER: Parametric.number(start) + Parametric.unknown(NUMBER)})
    assert moved is not None, "k can be replaced by a sum"
    return moved


def power_and_rate(factors: Factors) -> tuple[int, Fraction]:
    """Return (p, b) such that `factors` describe the function k^p·exp(-b·k·eps).

    `factors` is empty for the function 1. Otherwise it has the single item (name of k, p, -b).
    """
    return (factors[0][1], -factors[0][2]) if factors else (0, _ZERO)


def _proved(terms: Sequence[_Term], refined: int, interval: Interval) -> bool:
    if not terms:
        return True
    unit = refined * lcm(*[number.denominator for _, _, slope, rate, _ in terms for number in (rate, slope)])
    # A power of X and a power of W, which are positive, are divided out.
    least_rate, least_slope = min(rate for *_, rate, _ in terms), min(slope for _, _, slope, _, _ in terms)
    groups: dict[tuple[int, int], _Polynomial] = {}
    for e, p, slope, rate, c in terms:
        key = int((rate - least_rate) * unit), int((slope - least_slope) * unit)
        if max(key) > _MOST_DEGREE:
            return False
        group = groups.setdefault((e, p), {})
        group[key] = group.get(key, _ZERO) + c * unit**e
    low = _ZERO if interval.upper is None else _exponential(interval.upper / unit)[0]
    high = Fraction(1) if not interval.lower else _exponential(interval.lower / unit)[1]
    if low >= high:
        return False
    return nowhere_negative(_lowered(groups, low, high), low, high)


def _exponential(rate: Fraction) -> tuple[Fraction, Fraction]:
    low, high = ExpPoly.term(1, 0, -rate).enclosure(Fraction(1), _DIGITS)
    return max(low, _ZERO), min(high, Fraction(1))


def _lowered(groups: Mapping[tuple[int, int], _Polynomial], low: Fraction, high: Fraction) -> _Polynomial:
    """Return a polynomial in X and W that is a lower bound of a positive multiple of Σ (eps/q)^n·j^p·g.

    The sum is over the items (n, p): g of `groups`, where each g is a polynomial in X and W. Here q is an integer, j
    any number >= 0, X = exp(-eps/q) and W = X^j. The bound holds for every j and all eps for which X is between `low`
    and `high`.
    """
    most_powers, most_degree = max(e for e, _ in groups), max(p for _, p in groups)
    result: _Polynomial = {}
    for (e, p), group in groups.items():
        for same_sign, sign in _by_sign(group, low, high) if e or p else [(group, 1)]:
            # The multiple (1 - X)^P·X^E·W^P gives (1 - X)^(P + e - p)·(1 - W)^p·X^E·W^P for the lower bounds of eps/q
            # and j, and the same with X^(E - e + p)·W^(P - p) for the upper bounds.
            factor = _product(_one_less(most_degree + e - p, 0), _one_less(p, 1))
            by_x, by_w = (most_powers, most_degree) if sign > 0 else (most_powers - e + p, most_degree - p)
            for (i, j), c in _product(same_sign, factor).items():
                key = i + by_x, j + by_w
                result[key] = result.get(key, _ZERO) + c
    return result


def _by_sign(group: _Polynomial, low: Fraction, high: Fraction) -> list[tuple[_Polynomial, int]]:
    """Split the polynomial `group` into a sum of polynomials with a sign, and return pairs (polynomial, sign).

    For `low` < X < `high` and 0 < W < 1, a polynomial with the sign 1 is nowhere negative, and one with -1 nowhere
    positive.
    """
    if nowhere_negative(group, low, high):
        return [(group, 1)]
    if nowhere_negative({key: -c for key, c in group.items()}, low, high):
        return [(group, -1)]
    return [
        ({key: c for key, c in group.items() if c > 0}, 1),
        ({key: c for key, c in group.items() if c < 0}, -1),
    ]


def _one_less(power: int, variable: int) -> _Polynomial:
    """The polynomial (1 - X)^`power` if `variable` is 0, or (1 - W)^`power` if it is 1."""
    return {((n, 0) if variable == 0 else (0, n)): Fraction((-1) ** n * comb(power, n)) for n in range(power + 1)}


def _product(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    result: _Polynomial = {}
    for (i, j), c in left.items():
        for (k, m), d in right.items():
            result[i + k, j + m] = result.get((i + k, j + m), _ZERO) + c * d
    return result
