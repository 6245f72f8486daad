"""Exponential polynomials whose roots are known, and others that are not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import mpmath
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, Limits
from dipc.sign.polynomial import NormalForm, Polynomial, normal_form

EPS = ExpPoly.term(1, 1, 0)


def e(exponent: Fraction | int | str = 1) -> ExpPoly:
    """e^{exponent·eps}."""
    return ExpPoly.term(1, 0, Fraction(exponent))


def normal(f: ExpPoly) -> NormalForm:
    """The normal form, with the usual limits."""
    return normal_form(f, DecisionBudget(Limits()))


@dataclass(frozen=True)
class Place:
    """A root: log(p)/a of e^{a·eps} - p, or the rational r itself (a = 0)."""

    p: Fraction
    a: Fraction

    def value(self) -> mpmath.mpf:
        number = mpmath.mpf(self.p.numerator) / self.p.denominator
        return mpmath.log(number) * self.a.denominator / self.a.numerator if self.a else number

    def factor(self) -> ExpPoly:
        return e(self.a) - self.p if self.a else EPS - self.p


@dataclass(frozen=True)
class Planted:
    """f > 0 times the product of the factors of `places`, to the powers given."""

    f: ExpPoly
    sign: int
    places: tuple[tuple[Place, int], ...]

    def roots(self) -> list[tuple[mpmath.mpf, int]]:
        """The roots eps > 0 with their multiplicities, increasing."""
        found: dict[str, tuple[mpmath.mpf, int]] = {}
        for place, power in self.places:
            x = place.value()
            if x <= 0:
                continue
            name = mpmath.nstr(x, 60)
            found[name] = (x, found[name][1] + power if name in found else power)
        return sorted(found.values())


def small_rationals(low: int = 1, high: int = 12) -> st.SearchStrategy[Fraction]:
    return st.builds(Fraction, st.integers(low, high), st.integers(1, 7))


places = st.one_of(
    st.builds(Place, small_rationals(1, 30), st.sampled_from([Fraction(a) for a in ("1", "-1", "1/2", "-1/3", "2")])),
    st.builds(Place, small_rationals(), st.just(Fraction(0))),
)

#: Positive for eps > 0, and not a product of powers of eps and e^eps.
positive_factors = st.sampled_from(
    [ExpPoly.ONE, e(-2) + 1, EPS**2 + 1, EPS * e("1/2") + 3, 5 - e(-1) * 4, EPS**2 - EPS * 2 + 2, e("-7/3")]
)


@st.composite
def planted(draw: st.DrawFn) -> Planted:
    chosen = draw(st.lists(st.tuples(places, st.integers(1, 3)), max_size=3))
    sign = draw(st.sampled_from([1, -1]))
    f = draw(positive_factors) * draw(small_rationals()) * sign
    for place, power in chosen:
        f = f * place.factor() ** power
    return Planted(f, sign, tuple(chosen))


coefficients = st.one_of(
    st.integers(-9, 9), st.integers(-(10**6), 10**6), st.sampled_from([10**30, -(10**30), 1 - 10**30])
).filter(bool)


@st.composite
def polynomials(draw: st.DrawFn, most_power: int = 3, most_exponent: int = 12) -> Polynomial:
    """Any admissible polynomial; now and then with a gap between the exponents."""
    powers = st.integers(0, most_power)
    exponents = st.one_of(st.integers(0, most_exponent), st.sampled_from([17, 100, 1003, 70021]))
    terms = draw(st.dictionaries(st.tuples(exponents, powers), coefficients, min_size=1, max_size=8))
    lowest_j = min(j for j, _ in terms)
    lowest_k = min(k for _, k in terms)
    content = gcd(*terms.values())
    return Polynomial.from_terms((j - lowest_j, k - lowest_k, c // content) for (j, k), c in terms.items())


rational_exponents = st.builds(Fraction, st.integers(-8, 8), st.sampled_from([1, 2, 3, 4, 8]))


@st.composite
def exp_polys(draw: st.DrawFn, most_power: int = 2, most_terms: int = 7) -> ExpPoly:
    """Any exponential polynomial. Two may have roots that differ by e^{-10^24}, which no precision tells apart."""
    terms = draw(
        st.lists(
            st.tuples(
                st.integers(0, most_power), rational_exponents, st.builds(Fraction, coefficients, st.integers(1, 12))
            ),
            min_size=1,
            max_size=most_terms,
        )
    )
    return ExpPoly.from_terms(terms)
