"""Split F into factors whose roots t > 0 are simple and different.

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

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.sign.budget import Budget
from dipc.sign.polynomial import Polynomial

if TYPE_CHECKING:
    import flint

#: Primes for the modular test, with values of t to try. Which ones does not matter, only that some succeed.
_PRIMES = (2**61 - 1, 2**62 - 57, 2**62 - 87)
_VALUES_OF_T = (3, 5, 8)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor G of F with its exact multiplicity."""

    polynomial: Polynomial
    multiplicity: int


@dataclass(frozen=True, slots=True)
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
