"""Betas that are not one closed form for every eps: min, max and abs of expressions, and divisors that are nonzero only
on the intervals asked about. They are split into pieces, each with one closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, assert_never

from dipc.algebra.closed_form import ClosedForm, format_terms, sympy_terms
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.form import Form
from dipc.algebra.rationals import exact_rational
from dipc.algebra.selection import Combination, Operation, Selection, Value
from dipc.algebra.splitting import conditions, resolve
from dipc.sign import Arrangement, Interval, Root, SignLimits, arrange, refine, sign_at

#: Isolated ends of pieces are known to this part of their size.
_PRECISION = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an interval on which the function is numerator/denominator, with denominator > 0.

    `lower` and `upper` are ends of the interval (None: infinity) or roots of `conditions` of the function; the
    closed form holds at them too, by continuity, where they belong to the interval. `hull` is an interval with rational
    ends that holds the piece, inside the interval; where it is wider, the closed form need not be the function's.
    `sample` is a rational of the piece.
    """

    lower: Fraction | Root
    upper: Fraction | Root | None
    hull: Interval
    sample: Fraction
    numerator: ExpPoly
    denominator: ExpPoly


class PiecewiseForm:
    """A continuous function of eps on the intervals it was made for, as ClosedForm is one for every eps > 0.

    `value` does not depend on an infinite distance. `str()` is read back by `sympy.sympify`, and two of them are equal
    if their texts are: they are then the same function.
    """

    __slots__ = ("_pieces", "_text", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self._text: str | None = None
        self._pieces: dict[Interval, tuple[Piece, ...]] = {}

    def __str__(self) -> str:
        if self._text is None:
            self._text = _text(self.value)
        return self._text

    def __repr__(self) -> str:
        return f"PiecewiseForm({self})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewiseForm):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return PiecewiseForm, (self.value,)

    @property
    def expr(self) -> Any:
        """The same function as a SymPy expression in `dipc.eps`, with Min, Max and Abs."""
        return _sympy(self.value)

    def _sympy_(self) -> Any:
        return self.expr

    def parts_at(self, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
        """Numerator and denominator of a closed form that has the function's value at `eps`, denominator(eps) > 0.

        Raises ValueError where the function has no value.
        """
        try:
            return self._parts(eps)
        except ZeroDivisionError:
            raise ValueError(f"{self} has no value at eps = {eps}") from None

    def at(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals (lo, hi) with lo <= value at `eps` <= hi, proved, agreeing to about `digits` digits. eps > 0."""
        point = exact_rational(eps, "eps")
        if point <= 0:
            raise ValueError(f"eps is positive, not {point}")
        numerator, denominator = self.parts_at(point)
        low, high = numerator.enclosure(point, digits + 1)
        corners = [end / below for end in (low, high) for below in denominator.enclosure(point, digits + 1)]
        return min(corners), max(corners)

    def _parts(self, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
        form = resolve(self.value, partial(_sign, eps=eps))
        sign = sign_at(form.denominator, eps)
        if not sign:
            raise ZeroDivisionError
        return _reduced(form.numerator_flat() * sign, form.denominator * sign)

    # --- splitting ---------------------------------------------------------------------------------

    def conditions(self) -> list[ExpPoly]:
        """Functions between whose roots this is one closed form. Raises TooLarge."""
        return conditions(self.value)

    def pieces(self, interval: Interval, limits: SignLimits | None = None) -> tuple[Piece, ...]:
        """The pieces of the interval from left to right, as few as there are changes of the closed form; each begins
        where the one before ends. Raises LimitReached.

        The interval must lie inside those that the function was made for.
        """
        known = self._pieces.get(interval)
        if known is None:
            arrangement = arrange(self.conditions(), interval, limits)
            known = self._pieces[interval] = tuple(self._split(arrangement, limits))
            assert known, "an interval has points: a claim about none of its pieces would hold of itself"
        return known

    def _split(self, arrangement: Arrangement, limits: SignLimits | None) -> list[Piece]:
        interval = arrangement.interval
        pieces: list[Piece] = []
        for gap, sample in enumerate(arrangement.samples):
            numerator, denominator = self._parts(sample)
            _, right = arrangement.gap(gap)
            upper = interval.upper if right is None else refine(right, right.upper * _PRECISION, limits)
            lower: Fraction | Root
            if pieces and (pieces[-1].numerator, pieces[-1].denominator) == (numerator, denominator):
                before = pieces.pop()
                lower, sample = before.lower, before.sample
            else:
                lower = interval.lower
                if pieces:
                    assert pieces[-1].upper is not None
                    lower = pieces[-1].upper
            pieces.append(Piece(lower, upper, _hull(interval, lower, upper), sample, numerator, denominator))
        return pieces


BetaForm = ClosedForm | PiecewiseForm
"""What a beta is at a row."""


def _sign(function: ExpPoly, eps: Fraction) -> int:
    return sign_at(function, eps)


def _hull(interval: Interval, lower: Fraction | Root, upper: Fraction | Root | None) -> Interval:
    """The least interval with rational ends that is known to hold what is between."""
    low = lower.lower if isinstance(lower, Root) else lower
    high = upper.upper if isinstance(upper, Root) else upper
    return Interval(
        low,
        high,
        interval.lower_closed if low == interval.lower else True,
        interval.upper_closed if high == interval.upper else True,
    )


def _reduced(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    """Both without units of the ring in the denominator, whose sign they keep."""
    if denominator.is_unit():
        ((_, q, c),) = denominator.terms()
        return numerator * ExpPoly.term(1 / c, 0, -q), ExpPoly.one()
    return numerator, denominator


# --- texts -----------------------------------------------------------------------------------------


def _text(value: Value) -> str:
    match value:
        case Form():
            return _form_text(value)
        case Selection():
            return f"{value.kind}({', '.join(map(_text, value.arguments))})"
        case Combination(operation=Operation.SUM):
            return f"{_text(value.left)} + {_factor(value.right)}"
        case Combination():
            return f"{_factor(value.left)}{value.operation}{_factor(value.right)}"
    assert_never(value)


def _factor(value: Value) -> str:
    """A text that may stand in a product or behind a plus."""
    text = _text(value)
    return text if isinstance(value, Selection) or text.isalnum() else f"({text})"


def _form_text(form: Form) -> str:
    numerator, denominator = _reduced(form.numerator_flat(), form.denominator)
    above = format_terms(numerator.terms())
    if denominator == 1:
        return above
    return f"{above if len(numerator) == 1 else f'({above})'}/({format_terms(denominator.terms())})"


def _sympy(value: Value) -> Any:
    import sympy

    match value:
        case Form():
            return sympy_terms(value.numerator_flat()) / sympy_terms(value.denominator)
        case Selection():
            select: Callable[..., Any] = getattr(sympy, value.kind)
            return select(*map(_sympy, value.arguments))
        case Combination():
            left, right = _sympy(value.left), _sympy(value.right)
            match value.operation:
                case Operation.SUM:
                    return left + right
                case Operation.PRODUCT:
                    return left * right
                case Operation.QUOTIENT:
                    return left / right
            assert_never(value.operation)
    assert_never(value)
