"""Numbers of the program: exact rationals, or linear forms over what was drawn, with exact coefficients.

Only the draws are floating-point numbers. What does not depend on a draw, or depends on it no longer because it
canceled out, is compared exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dipc.lang.ast import CompareOp
from dipc.simulation.columns import Column, Mask, Positions, split, truth_column

COMPARISONS: dict[CompareOp, Callable[[Any, Any], Any]] = {
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
    CompareOp.GE: operator.ge,
    CompareOp.GT: operator.gt,
}

#: Sums of integers that stay below this in absolute value are computed in 64 bits.
_SAFE = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """What one sampling statement drew for each run of a batch: reals, or integers; anything for runs it was not
    executed in. `serial` orders the draws of a batch."""

    serial: int
    values: NDArray[np.float64] | NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Form:
    """constant + Σ coefficient · draw, by increasing serial; at least one term, and no coefficient is 0."""

    constant: Fraction
    terms: tuple[tuple[Draw, Fraction], ...]


Number = Fraction | Form


def plus(left: Number, right: Number) -> Number:
    """left + right."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right
    terms: dict[Draw, Fraction] = {}
    total = Fraction(0)
    for side in (left, right):
        if isinstance(side, Fraction):
            total += side
            continue
        total += side.constant
        for draw, coefficient in side.terms:
            terms[draw] = terms.get(draw, Fraction(0)) + coefficient
    return _form(total, terms)


def times(left: Number, right: Number) -> Number:
    """left * right, at most one of them a form."""
    if isinstance(left, Form):
        left, right = right, left
    assert isinstance(left, Fraction), "a product of two forms passed the type check"
    if isinstance(right, Fraction):
        return left * right
    return _form(left * right.constant, {draw: left * coefficient for draw, coefficient in right.terms})


def negated(number: Number) -> Number:
    """-number."""
    return -number if isinstance(number, Fraction) else times(Fraction(-1), number)


def minus(left: Number, right: Number) -> Number:
    """left - right."""
    return plus(left, negated(right))


def over(left: Number, right: Number) -> Number:
    """left / right, where right is no form. Raises ZeroDivisionError."""
    assert isinstance(right, Fraction), "a division by a form passed the type check"
    return left / right if isinstance(left, Fraction) else times(1 / right, left)


def _form(constant: Fraction, terms: dict[Draw, Fraction]) -> Number:
    kept = [term for term in terms.items() if term[1]]
    return Form(constant, tuple(sorted(kept, key=lambda term: term[0].serial))) if kept else constant


def compared(op: CompareOp, difference: Column[Number], runs: Positions) -> Column[Any]:
    """difference ~ 0 for each of the runs that the column is about: exactly, but for the rounding of real draws."""
    holds = np.empty(len(difference), dtype=np.bool_)
    for number, positions in split(difference):
        if isinstance(number, Fraction):
            holds[positions] = COMPARISONS[op](number, 0)
        else:
            holds[positions] = _compared(op, number, runs[positions])
    return truth_column(holds)


def _compared(op: CompareOp, form: Form, runs: Positions) -> Mask:
    if form.terms[0][0].values.dtype == np.int64:
        return np.asarray(COMPARISONS[op](_whole_sum(form, runs), 0), dtype=np.bool_)
    if op in (CompareOp.EQ, CompareOp.NE):
        # A combination of independent continuous draws differs from any number with probability 1.
        return np.full(len(runs), op is CompareOp.NE)
    return np.asarray(COMPARISONS[op](_real_sum(form, runs), 0.0), dtype=np.bool_)


def _real_sum(form: Form, runs: Positions) -> NDArray[np.float64]:
    """A positive multiple of the form, so chosen that no coefficient overflows."""
    scale = max(abs(coefficient) for _, coefficient in form.terms)
    total = np.full(len(runs), _rounded(form.constant / scale))
    for draw, coefficient in form.terms:
        total += float(coefficient / scale) * draw.values[runs]
    return total


def _whole_sum(form: Form, runs: Positions) -> NDArray[Any]:
    """A positive multiple of the form, exactly, in integers."""
    common = lcm(form.constant.denominator, *(coefficient.denominator for _, coefficient in form.terms))
    terms = [(draw.values[runs], int(coefficient * common)) for draw, coefficient in form.terms]
    constant = int(form.constant * common)
    most = abs(constant) + sum(
        abs(coefficient) * max(abs(int(values.max())), abs(int(values.min()))) for values, coefficient in terms
    )
    kind: type[Any] = np.int64 if most < _SAFE else object
    total = np.full(len(runs), constant, dtype=kind)
    for values, coefficient in terms:
        total = total + values.astype(kind) * coefficient
    return total


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
