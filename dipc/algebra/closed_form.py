"""Closed forms: what a probability is, as an object for people, for SymPy and for exact evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, TypeGuard

from dipc.algebra.rationals import exact_rational

if TYPE_CHECKING:
    from dipc.algebra.exppoly import ExpPoly
    from dipc.algebra.limits import Limits
    from dipc.algebra.quotient import Closed
    from dipc.algebra.supremum import Supremum


class ClosedForm:
    """A function of eps in closed form: Σ c·eps^k·exp(q·eps) with rational c and q, or a quotient of two such sums with
    a denominator that is positive for every eps > 0.

    `str()` is read back by `sympy.sympify`; the text is made once, on demand. Two closed forms are equal exactly if
    they are the same function; one is equal to a number if it is constant. `+ - * /` with closed forms and exact
    numbers (int, Fraction, Decimal) give closed forms, exactly. `<` and `>` are not defined, as neither may hold for
    every eps: `at_least` decides such a question.
    """

    __slots__ = ("_text", "value")

    def __init__(self, value: Closed) -> None:
        self.value = value
        self._text: str | None = None

    @classmethod
    def of(cls, value: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        """The closed form itself, or the constant function. Raises TypeError for floats."""
        if isinstance(value, ClosedForm):
            return value
        from dipc.algebra.exppoly import ExpPoly

        return cls(ExpPoly.constant(exact_rational(value, "the number")))

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
        if isinstance(other, ClosedForm):
            return self.value == other.value
        if isinstance(other, int | Fraction | Decimal) and not isinstance(other, bool):
            return self.value == exact_rational(other, "the number")
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)  # that of a constant is the number's

    def __neg__(self) -> ClosedForm:
        return ClosedForm(-self.value)

    def __add__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combined(other, lambda one, two: one + two)

    __radd__ = __add__

    def __sub__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combined(other, lambda one, two: one - two)

    def __rsub__(self, other: Fraction | int | Decimal) -> ClosedForm:
        return self._combined(other, lambda one, two: two - one)

    def __mul__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combined(other, lambda one, two: one * two)

    __rmul__ = __mul__

    def __truediv__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        """Raises ZeroDivisionError unless the divisor is proved to have one sign for every eps > 0."""
        if not _is_operand(other):
            return NotImplemented
        from dipc.library.forms import divided

        return divided(self, ClosedForm.of(other))

    def __rtruediv__(self, other: Fraction | int | Decimal) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented
        from dipc.library.forms import divided

        form: ClosedForm = divided(ClosedForm.of(other), self)
        return form

    def _combined(self, other: object, operation: Callable[[Closed, Closed], Closed]) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        from dipc.algebra.combine import simplest

        return ClosedForm(simplest(operation(self.value, ClosedForm.of(other).value)))

    def __bool__(self) -> bool:
        raise TypeError("a closed form is a function of eps, neither true nor false")

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

    def float(self, eps: Fraction | int | str) -> float:
        """The float nearest to the value at `eps` > 0, from a rigorous enclosure."""
        from dipc.library.forms import nearest_float

        return nearest_float(self, eps)

    def at_least(
        self, other: ClosedForm | Fraction | int | Decimal, eps: str = "(0, inf)", limits: Limits | None = None
    ) -> Any:
        """Whether this is at least `other` at every eps of the intervals: `.verdict` is `accurate` (proved),
        `inaccurate` (refuted at `.counterexample.eps`; `.failing` is the exact set of such eps) or `undecided` (past a
        limit, `.reason`). It is not true or false itself: three answers are not two."""
        from dipc.library.forms import at_least

        return at_least(self, ClosedForm.of(other), eps, limits)

    def sign(self, eps: str = "(0, inf)", limits: Limits | None = None) -> tuple[Any, ...]:
        """The sign on the intervals, in maximal pieces from left to right, each with exact or isolated ends:
        their `start`, `end` and `sign`. Raises LimitReached."""
        from dipc.library.forms import signs

        return signs(self, eps, limits)

    def sup(self, eps: str = "(0, inf)", digits: int = 30, limits: Limits | None = None) -> Supremum:
        """The supremum over the intervals, enclosed to so many digits, with where it is attained or approached. Raises
        LimitReached."""
        from dipc.library.forms import supremum

        return supremum(self, eps, digits, limits)

    def latex(self) -> str:
        r"""The function in LaTeX mathematics, in `\varepsilon`."""
        from dipc.library.display import latex

        return latex(self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def _is_operand(value: object) -> TypeGuard[ClosedForm | Fraction | int | Decimal]:
    return isinstance(value, ClosedForm | int | Fraction | Decimal) and not isinstance(value, bool)


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
