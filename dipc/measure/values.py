"""Rewriting an event over noises as one over values, so that every constraint relates at most two of them.

Noises that matter only through one linear combination become one value, whose law is a convolution. A noise n that
occurs only together with t·r, as in r' <- Lap(a, r), becomes the value r' = n + t·r, tied to r by the law of n: a
kernel. What is left is a graph whose edges are ranges of differences and kernels; where it is a forest, messages
measure it (`value_tree`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.algebra.limits import OutsideFragment
from dipc.measure.event import Event, Family, Noise
from dipc.measure.smoothing import Support

#: Independent noises around 0 that are added up: sides and rates (multiples of eps).
Law = tuple[tuple[Support, Fraction], ...]


@dataclass(slots=True)
class Value:
    """A variable X. Without `parent` it is mean + a sum of noises with the given law; with one, X - ratio·parent is."""

    law: Law
    mean: Fraction
    parent: int | None = None
    ratio: Fraction = Fraction(0)


@dataclass(slots=True)
class ValueSystem:
    """`rows[n]` = (coefficients, constant) stands for Σ coefficient·X + constant >= 0; at most two coefficients
    each."""

    values: list[Value] = field(default_factory=list)
    rows: list[tuple[dict[int, Fraction], Fraction]] = field(default_factory=list)


def value_system(event: Event) -> ValueSystem:
    """The event over values; raises OutsideFragment where some constraint still relates three of them, or a value of
    integer noises is no integer.

    Noises of the event must be all continuous or all integers.
    """
    rows = [(dict(c.coefficients), c.constant) for c in event.constraints]
    system = _merged(event.noises, rows)
    meant = [dict(coefficients) for coefficients, _ in system.rows]
    while wide := [row for row, (coefficients, _) in enumerate(system.rows) if len(coefficients) > 2]:
        if not any(_introduce(system, row) for row in wide):
            raise OutsideFragment("the constraints do not reduce to pairs of values")
    # The meaning of a value must be decided only once, or the measure would be that of another event.
    assert [_written_out(system, coefficients) for coefficients, _ in system.rows] == meant
    return system


def _written_out(system: ValueSystem, coefficients: dict[int, Fraction]) -> dict[int, Fraction]:
    """A row over the independent values that its values are made from."""
    total: dict[int, Fraction] = {}
    for value, c in coefficients.items():
        at: int | None = value
        while at is not None:
            total[at] = total.get(at, Fraction(0)) + c
            c *= system.values[at].ratio
            at = system.values[at].parent
    return {i: c for i, c in total.items() if c}


def _law(noise: Noise, factor: Fraction) -> tuple[Support, Fraction]:
    rate = noise.rate / abs(factor)
    match noise.family:
        case Family.LAPLACE:
            return Support.BOTH, rate
        case Family.ONE_SIDED:
            return (Support.RIGHT if factor > 0 else Support.LEFT), rate
        case Family.DISCRETE_LAPLACE:
            if abs(factor) != 1:
                raise OutsideFragment("a multiple of an integer noise has no values in between")
            return Support.BOTH, rate


def _merged(noises: Sequence[Noise], rows: list[tuple[dict[int, Fraction], Fraction]]) -> ValueSystem:
    """One value for each class of noises whose columns are proportional."""
    columns: dict[int, list[tuple[int, Fraction]]] = {}
    for at, (coefficients, _) in enumerate(rows):
        for i, c in coefficients.items():
            columns.setdefault(i, []).append((at, c))
    classes: dict[tuple[tuple[int, Fraction], ...], list[tuple[int, Fraction]]] = {}
    for i, column in sorted(columns.items()):
        first = column[0][1]
        classes.setdefault(tuple((at, c / first) for at, c in column), []).append((i, first))
    system = ValueSystem(rows=[({}, constant) for _, constant in rows])
    for direction, members in classes.items():
        law = tuple(sorted(_law(noises[i], factor) for i, factor in members))
        mean = sum((noises[i].mean * factor for i, factor in members), Fraction(0))
        for at, c in direction:
            system.rows[at][0][len(system.values)] = c
        system.values.append(Value(law, mean))
    return system


def _introduce(system: ValueSystem, row: int) -> bool:
    """Replace one noise of a row by its sum with a value that it never occurs without; False if there is none."""
    columns: dict[int, dict[int, Fraction]] = {}
    for at, (coefficients, _) in enumerate(system.rows):
        for i, c in coefficients.items():
            columns.setdefault(i, {})[at] = c
    # The noise that occurs most often first: in a chain of means that is the link next to the start.
    for n in sorted(system.rows[row][0], key=lambda i: (-len(columns[i]), i)):
        # A value that others are made from keeps its meaning: their kernels are about it as it is.
        if system.values[n].parent is not None or any(value.parent == n for value in system.values):
            continue
        for r in sorted(system.rows[row][0], key=lambda i: (len(columns[i]), i)):
            if r == n or not columns[n].keys() <= columns[r].keys() or _descends(system, r, n):
                continue
            ratios = {columns[r][at] / c for at, c in columns[n].items()}
            if len(ratios) == 1:
                system.values[n].parent, system.values[n].ratio = r, ratios.pop()
                for at in columns[n]:
                    del system.rows[at][0][r]
                return True
    return False


def _descends(system: ValueSystem, value: int, ancestor: int) -> bool:
    """Whether `value` is made from `ancestor` by kernels."""
    at: int | None = value
    while at is not None:
        if at == ancestor:
            return True
        at = system.values[at].parent
    return False
