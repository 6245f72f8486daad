"""Closed forms: what a probability is, as an object for people, for SymPy and for exact evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from dipc.algebra.rationals import exact_rational

if TYPE_CHECKING:
    from dipc.algebra.exppoly import ExpPoly
    from dipc.algebra.quotient import Closed


class ClosedForm:
    """A function of eps in closed form: Σ c·eps^k·exp(q·eps) with rational c and q, or a quotient of two such sums with
    a denominator that is positive for every eps > 0.

    `str()` is read back by `sympy.sympify`; the text is made once, on demand. Two closed forms are equal exactly if
    they are the same function.
    """

    __slots__ = ("_text", "value")

    def __init__(self, value: Closed) -> None:
        self.value = value
        self._text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            numerator, denominator = self.parts()
            self._text = format_terms(numerator.terms())
            if denominator is not None:
                above = self._text if len(numerator) == 1 else f"({self._text})"
                self._text = f"{above}/({format_terms(denominator.terms())})"
        return self._text

    def __repr__(self) -> str:
        return f"ClosedForm({self})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClosedForm):
            return NotImplemented
        return self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return ClosedForm, (self.value,)

    def parts(self) -> tuple[ExpPoly, ExpPoly | None]:
        """Numerator and denominator, None where that is 1.

        The coefficients of a quotient are coprime integers, and both parts are of the order of a power of eps for large
        eps: the greatest exponent of the denominator is 0.
        """
        from dipc.algebra.exppoly import ExpPoly
        from dipc.algebra.quotient import Quotient

        if not isinstance(self.value, Quotient):
            return self.value, None
        numerator, denominator = self.value.numerator, self.value.denominator
        if denominator == 1:
            return numerator, None
        terms = [*numerator.terms(), *denominator.terms()]
        below = lcm(*[c.denominator for _, _, c in terms])
        above = gcd(*[c.numerator * (below // c.denominator) for _, _, c in terms])
        unit = ExpPoly.term(Fraction(below, above), 0, -max(q for _, q, _ in denominator.terms()))
        return numerator * unit, denominator * unit

    @property
    def exppoly(self) -> ExpPoly:
        """The function as an exponential polynomial; ValueError where it is a quotient that is none."""
        numerator, denominator = self.parts()
        if denominator is not None:
            raise ValueError("a quotient of exponential polynomials")
        return numerator

    @property
    def expr(self) -> Any:
        """The same function as a SymPy expression in `dipc.eps`, with exact rational numbers."""
        numerator, denominator = self.parts()
        return sympy_terms(numerator) if denominator is None else sympy_terms(numerator) / sympy_terms(denominator)

    def _sympy_(self) -> Any:
        return self.expr

    def at(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals (lo, hi) with lo <= value at `eps` <= hi, proved, agreeing to about `digits` digits. eps > 0."""
        point = exact_rational(eps, "eps")
        if point <= 0:
            raise ValueError(f"eps is positive, not {point}")
        return self.value.enclosure(point, digits)


def sympy_terms(value: ExpPoly) -> Any:
    """The sum as a SymPy expression in `dipc.eps`, with exact rational numbers."""
    import sympy

    from dipc.algebra.symbols import eps

    def rational(number: Fraction) -> Any:
        return sympy.Rational(number.numerator, number.denominator)

    terms = ordered_terms(value.terms())
    return sympy.Add(*(rational(c) * eps() ** k * sympy.exp(rational(q) * eps()) for k, q, c in terms))


def ordered_terms(terms: Iterable[tuple[int, Fraction, Fraction]]) -> list[tuple[int, Fraction, Fraction]]:
    """The terms by decreasing exponent, then by decreasing power: for large eps the leading term comes first."""
    return sorted(terms, key=lambda term: (-term[1], -term[0]))


def format_terms(terms: Iterable[tuple[int, Fraction, Fraction]]) -> str:
    """Σ c·eps^k·e^{q·eps} as text such as `1 - 2*exp(-eps/9)/3 + eps*exp(-2*eps/9)/4`.

    The text is exact: `sympy.sympify` and this project's own expressions read it back to the same function.
    """
    parts: list[str] = []
    for k, q, c in ordered_terms(terms):
        sign = "-" if c < 0 else "+"
        if parts:
            parts.append(f" {sign} ")
        elif c < 0:
            parts.append("-")
        parts.append(_monomial(k, q, abs(c)))
    return "".join(parts) or "0"


def _monomial(k: int, q: Fraction, c: Fraction) -> str:
    factors = []
    if c.numerator != 1 or (k == 0 and q == 0):
        factors.append(str(c.numerator))
    if k:
        factors.append("eps" if k == 1 else f"eps**{k}")
    if q:
        factors.append(f"exp({_exponent(q)})")
    text = "*".join(factors)
    return text if c.denominator == 1 else f"{text}/{c.denominator}"


def _exponent(q: Fraction) -> str:
    sign = "-" if q < 0 else ""
    numerator = "eps" if abs(q.numerator) == 1 else f"{abs(q.numerator)}*eps"
    return f"{sign}{numerator}" if q.denominator == 1 else f"{sign}{numerator}/{q.denominator}"
