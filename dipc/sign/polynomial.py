"""Integer polynomials F(t, e^{-t}): normal form, values and signs at rational points.

F is split into factors whose roots t > 0 are simple and different.

Theorem. Let F in Z[t, z] be square-free and divisible neither by t nor by z. Then all real roots t0 != 0 of the
function t -> F(t, e^{-t}) are simple, and coprime F and G have no root t0 != 0 in common.

Proof. Let G be irreducible, not t and not z up to a constant. Along z = e^{-t} its derivative is DG = G_t - z·G_z.
If G divides DG then DG = λ·G with a constant λ, because the degrees of DG are not larger. For the coefficient a_j(t) of
z^j in G this says a_j' = (λ + j)·a_j, so a_j is constant, and 0 unless j = -λ: G = c·z^j. So G and DG are coprime. Two
coprime polynomials in two variables have finitely many common zeros, with algebraic coordinates: t0 and e^{-t0} would
both be algebraic, but for algebraic t0 != 0 the number e^{-t0} is transcendental (Lindemann). The same argument holds
for two coprime polynomials. ∎

By the same theorem of Lindemann, F(t0, e^{-t0}) = 0 for rational t0 != 0 only if the polynomial F(t0, z) is zero, that
is, if t - t0 divides F. Such factors are taken out by factoring the content, so the others vanish at no rational point.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Budget
from dipc.frozen import frozen

if TYPE_CHECKING:
    import flint


# --- e^{-x} in integer arithmetic, with stated errors -----------------------------------------------------------------
#

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


# --- Integer polynomials F(t, z) read as functions t -> F(t, e^{-t}) of t > 0 -----------------------------------------
#


@frozen
class Polynomial:
    """Σ c·t^k·z^j as triples (j, k, c), sorted, with c a nonzero integer and no (j, k) twice; never zero.

    Neither t nor z nor an integer above 1 divides it: some j is 0 and some k is 0. As a function it is
    t -> Σ c·t^k·e^{-j·t}.
    """

    terms: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, terms: Iterable[tuple[int, int, int]]) -> Polynomial:
        """Of triples in any order, no (j, k) twice."""
        ordered = tuple(sorted(terms))
        assert ordered
        assert ordered[0][0] == 0
        assert min(k for _, k, _ in ordered) == 0
        return cls(ordered)

    @property
    def degree_t(self) -> int:
        """Degree in t."""
        return max(k for _, k, _ in self.terms)

    @property
    def degree_z(self) -> int:
        """Degree in z."""
        return self.terms[-1][0]

    def __str__(self) -> str:
        return " + ".join(f"{c}*t^{k}*exp(-{j}*t)" for j, k, c in self.terms)


#: Exponent gaps up to this are reached by multiplying; larger ones by an exponential of their own.
_SMALL_GAP = 16


class Layout:
    """A polynomial arranged for repeated evaluation.

    `exponents`: the distinct j, increasing from 0. `columns[k]`: for the terms with t^k, the positions of their
    exponents and their coefficients. `norms[k]`: the sum of the absolute values of the coefficients with t^k.
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
            max((abs(c).bit_length() for c in coefficients), default=0) for _, coefficients in self.columns
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
        """Integers Z_i, i < count, with |Z_i - 2^bits·e^{-exponents[i]·t}| <= power_errors[i] at t = the fraction.

        Needs bits >= 64 and power errors below 2^31, which holds below 10^7 terms.
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
        """Some n with Σ |c|·t^k <= 2^n at t = numerator/denominator > 0."""
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
#

#: Significant bits by default.
_FIRST_BITS = 24


@frozen
class PointValue:
    """F(t)·scale lies within `error` of `value`; `sign` is the sign of F(t)."""

    value: int
    error: int
    scale: Fraction
    sign: int


def point_value(layout: Layout, t: Fraction, budget: Budget, precision: int = _FIRST_BITS) -> PointValue:
    """F at a rational t > 0 to about `precision` significant bits, with its sign, 0 only where F(t) = 0 exactly.

    e^{-t} is transcendental (Lindemann), so F(t, e^{-t}) = 0 only if F(t, z) is the zero polynomial in z, and otherwise
    enough precision separates the value from 0.
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
        # Exponents j with e^{-jt} <= 2^-(size + bits + 1) are left out: less than a unit together.
        cut = max(1, -(-(size + bits + 1) * LOG2E_SCALE * denominator // (LOG2E_LOW * numerator)))
        kept = bisect_left(layout.exponents, cut)
        work = max(64, size + bits + layout.power_errors[kept - 1].bit_length())
        budget.check_bits(work)
        powers = layout.powers(numerator, denominator, work, kept)
        value = sum(map(int.__mul__, coefficients, powers)) >> (work - bits)
        # The errors of the powers together, of what is left out, and of rounding are below a unit each.
        error = 3
        missing = precision - abs(value).bit_length()
        if abs(value) > error and missing <= 0:
            scale = unit * (1 << bits) if bits >= 0 else unit / (1 << -bits)
            return PointValue(value, error, scale, 1 if value > 0 else -1)
        bits += missing + 2 if abs(value) > error else max(precision, (size + bits) // 4)


def sign_at_point(layout: Layout, t: Fraction, budget: Budget) -> int:
    """The sign of F at a rational t > 0; 0 only where F(t) = 0 exactly."""
    return point_value(layout, t, budget).sign


def magnitude_at(layout: Layout, t: Fraction, budget: Budget) -> int:
    """About log2 |F(t)| at a rational t > 0 with F(t) != 0: within 2."""
    value = point_value(layout, t, budget)
    scale = value.scale
    return abs(value.value).bit_length() - scale.numerator.bit_length() + scale.denominator.bit_length()


def _coefficients_of_z(layout: Layout, numerator: int, denominator: int) -> list[int]:
    """The coefficients of F(t, z)·denominator^degree at the powers of z."""
    degree = layout.degree
    result = [0] * len(layout.exponents)
    for k, (positions, coefficients) in enumerate(layout.columns):
        factor = numerator**k * denominator ** (degree - k)
        for i, c in zip(positions, coefficients, strict=True):
            result[i] += c * factor
    return result


# --- From an exponential polynomial in eps to an integer polynomial in t and e^{-t} with the same sign ----------------
#


@frozen
class NormalForm:
    """f(eps) = factor · eps^power · e^{exponent·eps} · F(t, e^{-t}) with t = scale·eps, for all eps.

    factor > 0 and scale > 0, so f and F have the same sign at every eps > 0. F's coefficients have no common
    divisor, and its exponents neither: equal F on equal intervals of t is an equal sign problem.
    """

    polynomial: Polynomial
    scale: Fraction
    factor: Fraction
    power: int
    exponent: Fraction


def normal_form(f: ExpPoly, budget: Budget) -> NormalForm:
    """The normal form of f, which must not be zero. Raises LimitReached for too high powers of eps."""
    unit, terms = f.integer_terms()
    assert terms
    top = max(j for _, j, _ in terms)
    power = min(k for k, _, _ in terms)
    degree = max(k for k, _, _ in terms) - power
    budget.check_power(degree)
    step = gcd(*(top - j for _, j, _ in terms))
    scale = Fraction(step, unit) if step else Fraction(1)
    step = step or 1
    up, down = scale.numerator, scale.denominator
    common = lcm(*(int(c.q) for _, _, c in terms))
    # eps^k = (t/scale)^k; everything is multiplied by common·up^degree to be an integer.
    powers = [down**k * up ** (degree - k) for k in range(degree + 1)]
    raw = [((top - j) // step, k - power, int(c.p) * (common // int(c.q)) * powers[k - power]) for k, j, c in terms]
    content = gcd(*(c for _, _, c in raw))
    return NormalForm(
        polynomial=Polynomial.of((j, k, c // content) for j, k, c in raw),
        scale=scale,
        factor=Fraction(content, common * up**degree),
        power=power,
        exponent=Fraction(top, unit),
    )


#: Primes for the modular test, with values of t to try. Which ones does not matter, only that some succeed.
_PRIMES = (2**61 - 1, 2**62 - 57, 2**62 - 87)
_VALUES_OF_T = (3, 5, 8)


@frozen
class Factor:
    """A factor G of F with its exact multiplicity."""

    polynomial: Polynomial
    multiplicity: int


@frozen
class Content:
    """F = sign · Π factors^multiplicity · primitive, for F whose coefficients have no common divisor.

    The factors are in t alone and irreducible over Q. `primitive` has no factor in t alone; None if it is 1.
    """

    sign: int
    factors: tuple[Factor, ...]
    primitive: Polynomial | None


def split_content(polynomial: Polynomial, budget: Budget) -> Content:
    """Take the factors in t alone out of F."""
    columns: dict[int, dict[int, int]] = {}
    for j, k, c in polynomial.terms:
        columns.setdefault(j, {})[k] = c
    if any(len(column) == 1 and 0 in column for column in columns.values()):
        return Content(1, (), polynomial)
    import flint

    in_t = {j: _univariate(column) for j, column in columns.items()}
    content = flint.fmpz_poly([0])
    for column in in_t.values():
        content = content.gcd(column)
        if content.degree() == 0:
            return Content(1, (), polynomial)
    budget.check_degree(content.degree())
    constant, raw = content.factor()
    assert abs(constant) == 1
    factors = [Factor(_from_univariate(p), int(e)) for p, e in raw]
    sign = 1 if constant > 0 else -1
    quotients = {j: column // content for j, column in in_t.items()}
    assert all(quotients[j] * content == column for j, column in in_t.items())
    terms = [(j, k, int(c)) for j, p in quotients.items() for k, c in enumerate(p.coeffs()) if c != 0]
    if len(quotients) == 1:
        # F is in t alone; all of it is content, up to the sign of a unit.
        ((_, _, unit),) = terms
        return Content(sign if unit > 0 else -sign, tuple(factors), None)
    return Content(sign, tuple(factors), Polynomial.of(terms))


def rational_root(polynomial: Polynomial) -> Fraction | None:
    """The root of a linear polynomial in t alone; None for all others."""
    if polynomial.degree_z or polynomial.degree_t != 1:
        return None
    (_, _, c), (_, _, d) = polynomial.terms
    return Fraction(-c, d)


def is_surely_square_free(polynomial: Polynomial) -> bool:
    """True only if F, which must have no factor in t alone, is square-free. False says nothing.

    If F(t0, z) mod p has the same degree in z as F and is coprime to its derivative, then the discriminant of F with
    respect to z is not 0, so F has no square factor of positive degree in z.
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


def square_free_parts(polynomial: Polynomial, budget: Budget) -> tuple[int, list[Factor]]:
    """sign and square-free, pairwise coprime factors with F = sign · Π factors^multiplicity.

    The identity is checked by multiplying out.
    """
    import flint

    budget.check_degree(max(polynomial.degree_z, polynomial.degree_t))
    context = flint.fmpz_mpoly_ctx.get(("t", "z"), flint.Ordering.lex)
    whole = context.from_dict({(k, j): c for j, k, c in polynomial.terms})
    constant, raw = whole.factor_squarefree()
    product = context.constant(1)
    sign = 1 if constant > 0 else -1
    factors: list[Factor] = []
    for part, multiplicity in raw:
        product *= part ** int(multiplicity)
        factors.append(Factor(Polynomial.of((int(j), int(k), int(c)) for (k, j), c in part.terms()), int(multiplicity)))
    assert product * constant == whole
    assert abs(constant) == 1
    return sign, factors


def _univariate(column: dict[int, int]) -> flint.fmpz_poly:
    import flint

    return flint.fmpz_poly([column.get(k, 0) for k in range(max(column) + 1)])


def _from_univariate(p: flint.fmpz_poly) -> Polynomial:
    return Polynomial.of((0, k, int(c)) for k, c in enumerate(p.coeffs()) if c != 0)
