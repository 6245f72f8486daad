"""The simplex method over exact rationals, which proposes what `dipc.linear.program` then checks.

The tableau is that of Dutertre and de Moura: every inequality bounds a variable or a linear combination of variables,
combinations with equal coefficients (up to a factor) share a row, and only bounds change from question to question, so
that what one question has solved is where the next one starts. A strict bound is one by an infinitesimal: values are
pairs (a, d) for a + d·δ, compared lexicographically. Entering and leaving variables are chosen by Bland's rule: no
basis returns, so that every run ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from flint import fmpq

from dipc.linear.halfspace import Halfspace, Weights

#: a + d·δ for an infinitesimal δ > 0.
_Value = tuple[fmpq, fmpq]

_ZERO, _ONE = fmpq(0), fmpq(1)
_NOWHERE: _Value = (_ZERO, _ZERO)


class Simplex:
    """The inequalities of one system, of which each question takes some."""

    def __init__(self, system: Sequence[Halfspace]) -> None:
        self._columns: dict[int, int] = {}
        for item in system:
            for key, _ in item.coefficients:
                self._columns.setdefault(key, len(self._columns))
        #: By basic column, its combination of the others. Goals are rows with negative numbers, without bounds.
        self._rows: dict[int, dict[int, fmpq]] = {}
        self._values: dict[int, _Value] = dict.fromkeys(range(len(self._columns)), _NOWHERE)
        #: By inequality: the column that it bounds, the factor (inequality = factor·column + constant), and the bound.
        self._bounds: list[tuple[int, fmpq, _Value] | None] = []
        self._false: list[bool] = []
        self._lower: dict[int, tuple[_Value, int]] = {}
        self._upper: dict[int, tuple[_Value, int]] = {}
        self._fixed: set[int] = set()
        self._goals = 0
        known: dict[tuple[tuple[int, fmpq], ...], int] = {}
        for item in system:
            self._add(item, known)

    def _add(self, item: Halfspace, known: dict[tuple[tuple[int, fmpq], ...], int]) -> None:
        if not item.coefficients:
            self._bounds.append(None)
            self._false.append(not item.contains({}))
            return
        self._false.append(False)
        key, first = item.coefficients[0]
        factor = fmpq(first.numerator, first.denominator)
        if len(item.coefficients) == 1:
            column = self._columns[key]
        else:
            row = tuple([(self._columns[k], fmpq(c.numerator, c.denominator) / factor) for k, c in item.coefficients])
            column = known.get(row, -1)
            if column < 0:
                column = known[row] = len(self._values)
                self._rows[column] = dict(row)
                self._values[column] = _NOWHERE
        bound = -fmpq(item.constant.numerator, item.constant.denominator) / factor
        beyond = (_ONE if factor > 0 else -_ONE) if item.strict else _ZERO
        self._bounds.append((column, factor, (bound, beyond)))

    # --- feasibility ------------------------------------------------------------------------------------------------

    def contradiction(self, places: Iterable[int]) -> Weights | None:
        """Weights that prove that no point satisfies the inequalities at these places, or None: then there is one."""
        self._fixed = set()
        lower: dict[int, tuple[_Value, int]] = {}
        upper: dict[int, tuple[_Value, int]] = {}
        self._lower, self._upper = lower, upper
        for place in places:
            found = self._bounds[place]
            if found is None:
                if self._false[place]:
                    return {place: Fraction(1)}
                continue
            column, factor, bound = found
            if factor > 0:
                if column not in lower or bound > lower[column][0]:
                    lower[column] = (bound, place)
            elif column not in upper or bound < upper[column][0]:
                upper[column] = (bound, place)
        for column, (low, place) in lower.items():
            if column in upper and upper[column][0] < low:
                return self._weights([(place, _ONE), (upper[column][1], _ONE)])
        for column in (*lower, *upper):
            if column not in self._rows:
                value = self._values[column]
                if column in lower and value < lower[column][0]:
                    self._move(column, lower[column][0])
                elif column in upper and value > upper[column][0]:
                    self._move(column, upper[column][0])
        return self._repaired()

    def _repaired(self) -> Weights | None:
        lower, upper, values = self._lower, self._upper, self._values
        while True:
            leaving, bound, up = -1, _NOWHERE, True
            for column in self._rows:
                if column < 0 or (0 <= leaving < column):
                    continue
                if column in lower and values[column] < lower[column][0]:
                    leaving, bound, up = column, lower[column][0], True
                elif column in upper and values[column] > upper[column][0]:
                    leaving, bound, up = column, upper[column][0], False
            if leaving < 0:
                return None
            entering = -1
            for column, c in self._rows[leaving].items():
                if (entering < 0 or column < entering) and self._can_move(column, (c > 0) is up):
                    entering = column
            if entering < 0:
                return self._conflict(leaving, up)
            self._exchange(leaving, entering, bound)

    def _can_move(self, column: int, up: bool) -> bool:
        if column in self._fixed:
            return False
        if up:
            return column not in self._upper or self._values[column] < self._upper[column][0]
        return column not in self._lower or self._values[column] > self._lower[column][0]

    def _conflict(self, column: int, up: bool) -> Weights:
        """The row is as large as its other columns let it be (or as small, if not `up`), and that is not enough."""
        found = [((self._lower if up else self._upper)[column][1], _ONE)]
        for other, c in self._rows[column].items():
            limits = self._upper if (c > 0) is up else self._lower
            found.append((limits[other][1], abs(c)))
        return self._weights(found)

    def _weights(self, found: Iterable[tuple[int, fmpq]]) -> Weights:
        """Weights of bounds as weights of the inequalities that gave them."""
        weights: dict[int, Fraction] = {}
        for place, c in found:
            bound = self._bounds[place]
            assert bound is not None
            weight = c / abs(bound[1])
            weights[place] = weights.get(place, Fraction(0)) + Fraction(int(weight.p), int(weight.q))
        return weights

    # --- optimization -----------------------------------------------------------------------------------------------

    def minimized(self, goal: Mapping[int, Fraction]) -> Weights | None:
        """Lowers Σ goal·x as far as the inequalities of the last question allow, which has to have a solution.

        None if it falls without bound. Otherwise weights of inequalities whose sum is Σ goal·x but for a constant, and
        later goals are lowered among the points where this one is least: the weights of these are of no use.
        """
        self._goals -= 1
        number = self._goals
        row: dict[int, fmpq] = {}
        for key, coefficient in goal.items():
            if not coefficient:
                continue
            c = fmpq(-coefficient.numerator, coefficient.denominator)
            column = self._columns.get(key)
            if column is None:
                return None  # no inequality is about it
            for other, factor in self._rows.get(column, {column: _ONE}).items():
                total = row.get(other, _ZERO) + c * factor
                if total != 0:
                    row[other] = total
                else:
                    row.pop(other, None)
        self._rows[number] = row
        self._values[number] = _NOWHERE  # never looked at
        found = self._raised(number)
        row = self._rows.pop(number)
        if not found:
            return None
        self._fixed.update(row)
        return self._weights(
            ((self._upper if c > 0 else self._lower)[column][1], abs(c))
            for column, c in row.items()
            if column in (self._upper if c > 0 else self._lower)
        )

    def _raised(self, number: int) -> bool:
        """Raises the row to its maximum; False if it has none."""
        while True:
            entering, up = -1, True
            for column, c in self._rows[number].items():
                if (entering < 0 or column < entering) and self._can_move(column, c > 0):
                    entering, up = column, c > 0
            if entering < 0:
                return True
            if not self._stepped(entering, up):
                return False

    def _stepped(self, entering: int, up: bool) -> bool:
        """Moves a column until a bound is met: its own, or that of a row, which then leaves the basis."""
        lower, upper, values = self._lower, self._upper, self._values
        here = values[entering]
        best: _Value | None = None
        leaving = -1
        own = upper if up else lower
        goal = _NOWHERE
        if entering in own:
            end = own[entering][0]
            best = (end[0] - here[0], end[1] - here[1]) if up else (here[0] - end[0], here[1] - end[1])
            leaving, goal = entering, end
        for column, row in self._rows.items():
            c = row.get(entering)
            if c is None or column < 0:
                continue
            limits = upper if (c > 0) is up else lower
            if column not in limits:
                continue
            end, size, value = limits[column][0], abs(c), values[column]
            if limits is lower:
                end, value = value, end
            step = ((end[0] - value[0]) / size, (end[1] - value[1]) / size)
            if best is None or step < best or (step == best and column < leaving):
                best, leaving, goal = step, column, limits[column][0]
        if best is None:
            return False
        if leaving == entering:
            self._move(entering, goal)
        else:
            self._exchange(leaving, entering, goal)
        return True

    # --- the tableau ------------------------------------------------------------------------------------------------

    def _move(self, column: int, goal: _Value) -> None:
        """Sets a column that is not basic to a value."""
        values = self._values
        here = values[column]
        by, by_tiny = goal[0] - here[0], goal[1] - here[1]
        values[column] = goal
        for basic, row in self._rows.items():
            c = row.get(column)
            if c is not None:
                value = values[basic]
                values[basic] = (value[0] + c * by, value[1] + c * by_tiny if by_tiny != 0 else value[1])

    def _exchange(self, leaving: int, entering: int, goal: _Value) -> None:
        """Sets the basic column `leaving` to a value by moving `entering`, which takes its place in the basis."""
        values, rows = self._values, self._rows
        row = rows[leaving]
        pivot = row[entering]
        now, here = values[leaving], values[entering]
        self._move(entering, (here[0] + (goal[0] - now[0]) / pivot, here[1] + (goal[1] - now[1]) / pivot))
        del rows[leaving]
        turned = {column: -c / pivot for column, c in row.items() if column != entering}
        turned[leaving] = 1 / pivot
        for other in rows.values():
            factor = other.pop(entering, None)
            if factor is None:
                continue
            for column, c in turned.items():
                known = other.get(column)
                if known is None:
                    other[column] = factor * c
                    continue
                total = known + factor * c
                if total != 0:
                    other[column] = total
                else:
                    del other[column]
        rows[entering] = turned

    def point(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Where the tableau stands: x = a + d·δ, as (a, d) by key."""
        found: tuple[dict[int, Fraction], dict[int, Fraction]] = ({}, {})
        for key, column in self._columns.items():
            for part, value in zip(found, self._values[column], strict=True):
                part[key] = Fraction(int(value.p), int(value.q))
        return found
