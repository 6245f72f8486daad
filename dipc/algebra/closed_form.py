"""Closed forms: what a probability is, as an object for people, for SymPy and for exact evaluation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import gcd, lcm
from typing import Any, TypeGuard

from dipc.above import above
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, simplest
from dipc.algebra.limits import Limits
from dipc.algebra.numbers import exact_eps, exact_rational
from dipc.frozen import frozen

# --- The one SymPy symbol of the project, made when it is first asked for: importing SymPy takes a third of a second --


@cache
def eps() -> Any:
    """The symbol `eps`, always the same one: `dipc.eps`. It is the one that `sympy.sympify` makes from a text."""
    import sympy

    return sympy.Symbol("eps")


# --- Supremum ---------------------------------------------------------------------------------------------------------
#
# The answer to: how large does a closed form get?


@frozen
class Supremum:
    """The least upper bound of a function on an interval: `low` <= it <= `high`, both None where it is infinite, and
    equal where it is rational. `eps` encloses a place where it is `attained` or approached: None is infinity, (0, 0)
    the limit at 0."""

    low: Fraction | None
    high: Fraction | None
    eps: tuple[Fraction, Fraction] | None
    attained: bool | None


# --- Closed forms: what a probability is, as an object for people, for SymPy and for exact evaluation -----------------


class ClosedForm:
    """A function of eps in closed form: Σ c·eps^k·exp(q·eps) with rational c and q, or a quotient of two such sums with
    a denominator that is positive for every eps > 0.

    `str()` is read back by `sympy.sympify`; the text is made once, on demand. Two closed forms are equal exactly if
    they are the same function; one is equal to a number if it is constant. `+ - * /` with closed forms and exact
    numbers (int, Fraction, Decimal) give closed forms, exactly. `<` and `>` are not defined, as neither may hold for
    every eps: `at_least` decides such a question.

    Where `only_at` is not None the function stands for its value at that eps alone: that is what is shown, and
    ValueError is raised where it is asked about another eps.
    """

    __slots__ = ("_text", "only_at", "value")

    def __init__(self, value: Closed, only_at: Fraction | None = None) -> None:
        self.value = value
        self.only_at = only_at
        self._text: str | None = None

    @classmethod
    def of(cls, value: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        """The closed form itself, or the constant function. Raises TypeError for floats."""
        if isinstance(value, ClosedForm):
            return value
        return cls(ExpPoly.constant(exact_rational(value, "the number")))

    def __str__(self) -> str:
        if self._text is None:
            numerator, denominator = self.parts()
            if denominator is not None and self.only_at is not None and all(not q for _, q, _ in denominator.terms()):
                value = sum((c * self.only_at**k for k, _, c in denominator.terms()), Fraction(0))
                numerator, denominator = numerator * (1 / value), None
            self._text = format_terms(numerator.terms(), self.only_at)
            if denominator is not None:
                above = self._text if len(numerator) == 1 else f"({self._text})"
                self._text = f"{above}/{_divisor_text(denominator, self.only_at)}"
        return self._text

    def __repr__(self) -> str:
        return f"ClosedForm({self})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClosedForm):
            return self.value == other.value and self.only_at == other.only_at
        if isinstance(other, int | Fraction | Decimal) and not isinstance(other, bool):
            return self.value == exact_rational(other, "the number")
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)  # that of a constant is the number's

    def standing_for(self, only_at: Fraction | None) -> ClosedForm:
        """The same function, standing for its value at that eps alone; None: for all its values."""
        return self if only_at is None else ClosedForm(self.value, only_at)

    def __neg__(self) -> ClosedForm:
        return ClosedForm(-self.value, self.only_at)

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
        form: ClosedForm = above("closed form").divided(self, ClosedForm.of(other))
        return form

    def __rtruediv__(self, other: Fraction | int | Decimal) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented
        form: ClosedForm = above("closed form").divided(ClosedForm.of(other), self)
        return form

    def _combined(self, other: object, operation: Callable[[Closed, Closed], Closed]) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        form = ClosedForm.of(other)
        return ClosedForm(simplest(operation(self.value, form.value)), self.shared_eps(form))

    def shared_eps(self, other: ClosedForm) -> Fraction | None:
        """The eps that both stand for, None where both are functions of every eps. Raises ValueError for two."""
        if None not in (self.only_at, other.only_at) and self.only_at != other.only_at:
            raise ValueError(f"one holds at eps = {self.only_at} only, the other at eps = {other.only_at}")
        return other.only_at if self.only_at is None else self.only_at

    def __bool__(self) -> bool:
        raise TypeError("a closed form is a function of eps, neither true nor false")

    def __reduce__(self) -> tuple[Any, ...]:
        return ClosedForm, (self.value, self.only_at)

    def parts(self) -> tuple[ExpPoly, ExpPoly | None]:
        """Numerator and denominator, None where that is 1.

        The coefficients of a quotient are coprime integers, and both parts are of the order of a power of eps for large
        eps: the greatest exponent of the denominator is 0.
        """
        if not isinstance(self.value, Quotient):
            return self.value, None
        numerator, denominator = self.value.numerator, self.value.denominator
        if denominator == 1:
            return numerator, None
        whole, common, most = _content(denominator)
        coefficients = [c for _, _, c in numerator.terms()]
        below = lcm(whole, *[c.denominator for c in coefficients])
        above = gcd(common * (below // whole), *[c.numerator * (below // c.denominator) for c in coefficients])
        factor = Fraction(below, above)
        return numerator * ExpPoly.term(factor, 0, -most), _times_term(denominator, factor, -most)

    @property
    def exppoly(self) -> ExpPoly:
        """The function as an exponential polynomial; ValueError where it is a quotient that is none."""
        numerator, denominator = self.parts()
        if denominator is not None:
            raise ValueError("a quotient of exponential polynomials")
        return numerator

    @property
    def expr(self) -> Any:
        """The same function as a SymPy expression in `dipc.eps`, with exact rational numbers; a number where it is
        `only_at` one eps."""
        numerator, denominator = self.parts()
        point = self.only_at
        below = None if denominator is None else sympy_terms(denominator, point)
        return sympy_terms(numerator, point) if below is None else sympy_terms(numerator, point) / below

    def _sympy_(self) -> Any:
        return self.expr

    def at(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals (lo, hi) with lo <= value at `eps` <= hi, proved, agreeing to about `digits` digits. eps > 0."""
        point = exact_eps(eps)
        if self.only_at not in (None, point):
            raise ValueError(f"it holds at eps = {self.only_at} only, not at {point}")
        return self.value.enclosure(point, digits)

    def float(self, eps: Fraction | int | str) -> float:
        """The float nearest to the value at `eps` > 0, from a rigorous enclosure."""
        result: float = above("closed form").nearest_float(self, eps)
        return result

    def at_least(
        self, other: ClosedForm | Fraction | int | Decimal, eps: str | None = None, limits: Limits | None = None
    ) -> Any:
        """Whether this is at least `other` at every eps of the intervals, by default (0, inf): `.verdict` is `accurate`
        (proved), `inaccurate` (refuted at `.counterexample.eps`; `.failing` is the exact set of such eps) or
        `undecided` (past a limit, `.reason`). It is not true or false itself: three answers are not two."""
        return above("closed form").at_least(self, ClosedForm.of(other), eps, limits)

    def sign(self, eps: str | None = None, limits: Limits | None = None) -> tuple[Any, ...]:
        """The sign on the intervals, by default (0, inf), in maximal pieces from left to right, each with exact or
        isolated ends: their `start`, `end` and `sign`. Raises LimitReached."""
        result: tuple[Any, ...] = above("closed form").signs(self, eps, limits)
        return result

    def sup(self, eps: str | None = None, digits: int = 30, limits: Limits | None = None) -> Supremum:
        """The supremum over the intervals, by default (0, inf), enclosed to this many digits, with where it is attained
        or approached. Raises LimitReached."""
        supremum: Supremum = above("closed form").supremum(self, eps, digits, limits)
        return supremum

    def latex(self) -> str:
        r"""The function in LaTeX mathematics, in `\varepsilon`."""
        text: str = above("shown").latex(self)
        return text

    def _repr_html_(self) -> str:
        text: str = above("shown").form_html(self)
        return text

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def _is_operand(value: object) -> TypeGuard[ClosedForm | Fraction | int | Decimal]:
    return isinstance(value, ClosedForm | int | Fraction | Decimal) and not isinstance(value, bool)


def sympy_terms(value: ExpPoly, at: Fraction | None = None) -> Any:
    """The sum as a SymPy expression in `dipc.eps`, with exact rational numbers; with `at` its value there."""
    import sympy

    def rational(number: Fraction) -> Any:
        return sympy.Rational(number.numerator, number.denominator)

    point = eps() if at is None else rational(at)
    terms = ordered_terms(value.terms())
    return sympy.Add(*(rational(c) * point**k * sympy.exp(rational(q) * point) for k, q, c in terms))


# Many probabilities share one denominator, so what is computed from it is cached.


@lru_cache(maxsize=64)
def _content(denominator: ExpPoly) -> tuple[int, int, Fraction]:
    """The least common denominator of its coefficients, their common divisor over that, and the greatest exponent."""
    terms = denominator.terms()
    whole = lcm(*[c.denominator for _, _, c in terms])
    common = gcd(*[c.numerator * (whole // c.denominator) for _, _, c in terms])
    return whole, common, max(q for _, q, _ in terms)


@lru_cache(maxsize=64)
def _times_term(denominator: ExpPoly, factor: Fraction, exponent: Fraction) -> ExpPoly:
    return denominator * denominator.term(factor, 0, exponent)


@lru_cache(maxsize=64)
def _divisor_text(denominator: ExpPoly, point: Fraction | None) -> str:
    text = format_terms(denominator.terms(), point)
    return text if re.fullmatch(r"eps(\*\*\d+)?", text) else f"({text})"


def ordered_terms(terms: Iterable[tuple[int, Fraction, Fraction]]) -> list[tuple[int, Fraction, Fraction]]:
    """The terms by decreasing exponent, then by decreasing power: for large eps the leading term comes first."""
    return sorted(terms, key=lambda term: (-term[1], -term[0]))


def terms_at(terms: Iterable[tuple[int, Fraction, Fraction]], eps: Fraction) -> list[tuple[int, Fraction, Fraction]]:
    """The terms without powers of eps that have the same sum at this eps."""
    sums: dict[Fraction, Fraction] = {}
    for k, q, c in terms:
        sums[q] = sums.get(q, Fraction(0)) + c * eps**k
    return [(0, q, c) for q, c in sums.items() if c]


def format_terms(terms: Iterable[tuple[int, Fraction, Fraction]], point: Fraction | None = None) -> str:
    """Σ c·eps^k·e^{q·eps} as text such as `1 - 2*exp(-eps/9)/3 + eps*exp(-2*eps/9)/4`; with `point` its value there,
    such as `1 - 2*exp(-1/18)/3`.

    The text is exact: `sympy.sympify` and, without `point`, this project's own expressions read it back to the same
    function.
    """
    texts: list[str] = []
    for k, q, c in ordered_terms(terms if point is None else terms_at(terms, point)):
        sign = "-" if c < 0 else "+"
        if texts:
            texts.append(f" {sign} ")
        elif c < 0:
            texts.append("-")
        texts.append(_monomial(k, q, abs(c), point))
    return "".join(texts) or "0"


def _monomial(k: int, q: Fraction, c: Fraction, point: Fraction | None) -> str:
    factors = []
    if c.numerator != 1 or (k == 0 and q == 0):
        factors.append(str(c.numerator))
    if k:
        factors.append("eps" if k == 1 else f"eps**{k}")
    if q:
        factors.append(f"exp({_exponent(q) if point is None else q * point})")
    text = "*".join(factors)
    return text if c.denominator == 1 else f"{text}/{c.denominator}"


def _exponent(q: Fraction) -> str:
    sign = "-" if q < 0 else ""
    numerator = "eps" if abs(q.numerator) == 1 else f"{abs(q.numerator)}*eps"
    return f"{sign}{numerator}" if q.denominator == 1 else f"{sign}{numerator}/{q.denominator}"
