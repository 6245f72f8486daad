"""Functions of eps that have one closed form on each of finitely many cells, and proofs that divisors are not 0."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, sum_text, sympy_terms
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.numbers import exact_eps
from dipc.algebra.parametric import (
    SELECTING,
    Operator,
    Parametric,
    Selected,
    Signs,
    candidates,
    coefficient_sign,
    conditions,
    resolve,
)
from dipc.frozen import frozen
from dipc.sign.chart import EpsCut, ExactCut, arrange, cuts, isolate_roots, sign_at
from dipc.sign.interval import Interval
from dipc.sign.roots import Root, refine

# --- Functions of eps in cells with one closed form on each: the betas ------------------------------------------------
#
# A closed form for every eps > 0 is one cell. Min, max, abs, and divisors that are nonzero only on the intervals of the
# claim, give more cells.

#: The relative precision of isolated ends of cells.
_PRECISION = Fraction(1, 10**9)


@frozen
class FormCell:
    """A part of an interval of eps on which a function has the closed form `numerator`/`denominator`.

    The denominator is positive there. `lower` and `upper` are ends of the interval, or roots at which the closed form
    changes. Such roots belong to the cells on both sides, because the function is continuous. `sample` is a rational in
    the cell.
    """

    lower: ExactCut
    upper: ExactCut
    sample: Fraction
    numerator: ExpPoly
    denominator: ExpPoly

    def hull(self, interval: Interval) -> Interval:
        """The smallest known part of `interval` with rational ends that contains the cell, which is in `interval`.

        The closed form need not be the function's outside of the cell.
        """
        low, high = self.lower.place, self.upper.place
        assert low is not None
        return interval.subinterval(
            low.lower if isinstance(low, Root) else low, high.upper if isinstance(high, Root) else high
        )


class PiecewiseForm:
    """A continuous function of eps with one closed form, or with one on each of finitely many cells.

    `value` is the expression that defines it. `closed` is the closed form for every eps > 0, or None if there are
    several.

    Two objects with a closed form are equal if they are the same function. Others are equal if the texts of their
    expressions are equal. `sympy.sympify` can read the text `str(...)` of an object.
    """

    __slots__ = ("_cells", "_text", "closed", "value")

    #: Whether there are cells of closed forms; where there are none, methods that need them raise NoClosedForm.
    has_cells = True

    def __init__(self, value: Closed | Selected) -> None:
        """Create the function from `value`, a closed form or an expression with min, max and abs of closed forms."""
        self.value = value
        self.closed = ClosedForm(value) if isinstance(value, ExpPoly | Quotient) else None
        self._text: str | None = None
        self._cells: dict[Interval, tuple[FormCell, ...]] = {}

    def __str__(self) -> str:
        if self._text is None:
            self._text = str(self.closed) if isinstance(self.value, ExpPoly | Quotient) else _text(self.value)
        return self._text

    def __repr__(self) -> str:
        return f"PiecewiseForm({self})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewiseForm):
            return NotImplemented
        if self.closed is not None or other.closed is not None:
            return self.closed == other.closed
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self) if self.closed is None else self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return PiecewiseForm, (self.value,)

    @property
    def expr(self) -> Any:
        """The function as a SymPy expression in `dipc.eps`, with Min, Max and Abs."""
        return _sympy(self.value)

    def _sympy_(self) -> Any:
        return self.expr

    def fraction_at(self, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
        """The numerator and the denominator of a closed form that agrees with this function at `eps`.

        The denominator is positive at `eps`. Raises ValueError if the function has no value there.
        """
        if isinstance(self.value, ExpPoly | Quotient):
            return fraction_of(self.value)
        try:
            form = resolve(self.value, partial(sign_at, eps=eps))
            sign = sign_at(form.denominator, eps)
            if sign:
                return _reduced(form.numerator_flat() * sign, form.denominator * sign)
        except ZeroDivisionError:
            pass
        raise ValueError(f"{self} has no value at eps = {eps}")

    def enclosure(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Proved rationals (lo, hi) around the value at `eps` > 0, with approximately `digits` digits in common."""
        point = exact_eps(eps)
        if self.closed is not None:
            return self.closed.enclosure(point, digits)
        numerator, denominator = self.fraction_at(point)
        low, high = numerator.enclosure(point, digits + 1)
        corners = [end / below for end in (low, high) for below in denominator.enclosure(point, digits + 1)]
        return min(corners), max(corners)

    # --- cells -------------------------------------------------------------------------------------

    def conditions(self) -> list[ExpPoly]:
        """Functions whose roots cut the line of eps into intervals, on each of which this function has one closed form.

        Raises TooLarge if there are too many such functions.
        """
        return [] if isinstance(self.value, ExpPoly | Quotient) else conditions(self.value)

    def cells(self, interval: Interval, limits: Limits | None = None) -> tuple[FormCell, ...]:
        """Return the cells into which `interval` is cut, from left to right: on each, the function has one closed form.

        The number of cells is the least possible. The function must be continuous on `interval`. Raises LimitReached if
        the work exceeds `limits`.
        """
        known = self._cells.get(interval)
        if known is None:
            known = self._cells[interval] = tuple(self._split(interval, limits))
            assert known, "an interval needs a cell: a claim about no cell would hold trivially"
        return known

    def _split(self, interval: Interval, limits: Limits | None) -> list[FormCell]:
        lower, last = cuts(interval)
        if isinstance(self.value, ExpPoly | Quotient):
            return [FormCell(lower, last, interval.inner_point, *fraction_of(self.value))]
        arrangement = arrange(self.conditions(), interval, limits)
        cells: list[FormCell] = []
        for gap, sample in enumerate(arrangement.samples):
            numerator, denominator = self.fraction_at(sample)
            _, right = arrangement.gap(gap)
            end = None if right is None else refine(right, right.upper * _PRECISION, limits)
            upper = last if end is None else EpsCut(end, after=True)
            if cells and (cells[-1].numerator, cells[-1].denominator) == (numerator, denominator):
                before = cells.pop()
                lower, sample = before.lower, before.sample
            cells.append(FormCell(lower, upper, sample, numerator, denominator))
            lower = EpsCut(end, after=False)
        return cells


BetaForm = PiecewiseForm
"""The type of beta at one row."""


def _reduced(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    if denominator.is_unit():
        ((_, q, c),) = denominator.terms()
        return numerator * ExpPoly.term(1 / c, 0, -q), ExpPoly.ONE
    return numerator, denominator


# --- texts -----------------------------------------------------------------------------------------


def _text(value: Selected) -> str:
    if isinstance(value, Parametric):
        return _form_text(value)
    if value.operator in SELECTING:
        return f"{value.operator}({', '.join(map(_text, value.arguments))})"
    left, right = value.arguments
    if value.operator is Operator.SUM:
        return f"{_text(left)} + {_factor(right)}"
    return f"{_factor(left)}{value.operator}{_factor(right)}"


def _factor(value: Selected) -> str:
    text = _text(value)
    selecting = not isinstance(value, Parametric) and value.operator in SELECTING
    return text if selecting or text.isalnum() else f"({text})"


def _form_text(form: Parametric) -> str:
    numerator, denominator = _reduced(form.numerator_flat(), form.denominator)
    above = sum_text(numerator)
    if denominator == 1:
        return above
    return f"{above if len(numerator) == 1 else f'({above})'}/({sum_text(denominator)})"


def _sympy(value: Closed | Selected) -> Any:
    import sympy

    match value:
        case ExpPoly() | Quotient():
            return ClosedForm(value).expr
        case Parametric():
            return sympy_terms(value.numerator_flat()) / sympy_terms(value.denominator)
    arithmetic = {Operator.SUM: operator.add, Operator.PRODUCT: operator.mul, Operator.QUOTIENT: operator.truediv}
    apply: Callable[..., Any] = arithmetic.get(value.operator) or getattr(sympy, value.operator)
    return apply(*map(_sympy, value.arguments))


# --- Denominators of beta: accepted where they are proved to have one sign --------------------------------------------


def proved_quotient(numerator: ExpPoly, denominator: ExpPoly, intervals: Sequence[Interval] = ()) -> Closed | None:
    """The quotient `numerator`/`denominator`, or None if it is not proved that the denominator has one sign.

    The sign must be proved for every eps > 0, or for all eps in `intervals`.
    """
    if denominator == 1:
        return numerator
    sign = sign_throughout((Interval.POSITIVE,))(denominator) or sign_throughout(intervals)(denominator)
    if sign == 0:
        return None
    quotient = Quotient(numerator * sign, denominator * sign)
    ring = quotient.in_ring()
    return quotient if ring is None else ring


# --- Divisors of beta: accepted where they are proved to be nonzero on the intervals of eps ---------------------------


def zero_of(value: Selected, intervals: Sequence[Interval]) -> Fraction | Root | None:
    """An eps in `intervals` at which `value` is 0, or None if it is proved that there is none.

    `value` must be continuous on each interval and have no unknown but eps. Raises Undecided past a limit, and TooLarge
    for a value with too many possible forms.
    """
    above = [form.numerator_flat() for form in candidates(value) if form.numerator]
    functions = [f for f in (*conditions(value), *above) if not coefficient_sign(f)]
    for interval in intervals:
        arrangement = arrange(functions, interval)
        active: list[ExpPoly] = []
        for sample in arrangement.samples:
            numerator = resolve(value, partial(sign_at, eps=sample)).numerator_flat()
            if numerator.is_zero() or numerator.value_is_zero(sample):
                return sample
            active.append(numerator)
        for end, numerator in ((interval.lower, active[0]), (interval.upper, active[-1])):
            if end is not None and end in interval and numerator.value_is_zero(end):
                return end
        for position, root in enumerate(arrangement.roots):
            # The value is continuous, so at the root it equals its limit from either side.
            if active[position] in functions and arrangement.vanishes(functions.index(active[position]), position):
                return root
    return None


def sign_throughout(intervals: Sequence[Interval]) -> Signs:
    """Return a function that maps f to the sign, 1 or -1, that f is proved to have on all `intervals`, else to 0."""

    def sign(function: ExpPoly) -> int:
        if plain := coefficient_sign(function):
            return plain
        try:
            if any(not interval.is_point and isolate_roots(function, interval) for interval in intervals):
                return 0
            result = {sign_at(function, interval.inner_point) for interval in intervals}
        except Undecided:
            return 0
        return result.pop() if len(result) == 1 else 0

    return sign
