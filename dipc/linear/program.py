"""Exact linear programs: the simplex method proposes an answer, and exact arithmetic proves it.

**Integers**: where some unknowns are integers, the method is branch and bound over exact linear programs. Every branch
is discarded by a linear program whose answer is proved, so the tree of branches is a proof. Equations that hold
throughout are first replaced by a basis of the lattice of their integer solutions, since no branching shows that 2x =
2y + 1 has no integer solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations
from math import ceil, floor

import flint
from flint import fmpq

from dipc.algebra.limits import LimitReached, Undecided
from dipc.algebra.numbers import to_fmpq, to_fraction
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, Weights, absolute_value_bounds, equation, proved_bound, refutes, tightened

# --- The simplex method over exact rationals, whose proposals are checked below ---------------------------------------
#
# The tableau is that of Dutertre and de Moura. Every inequality bounds a variable or a linear combination of variables,
# and combinations with equal coefficients (up to a factor) share a row. Only bounds change from question to question,
# so each question starts from the solution of the one before. Strict bounds use an infinitesimal δ: values are pairs
# (a, d) for a + d·δ, compared lexicographically. Variables enter and leave by Bland's rule: no basis returns, so every
# run ends.

#: a + d·δ for an infinitesimal δ > 0.
_Value = tuple[fmpq, fmpq]

_FMPQ_ZERO = fmpq(0)
_FMPQ_ONE = fmpq(1)
_NOWHERE: _Value = (_FMPQ_ZERO, _FMPQ_ZERO)


class Simplex:
    """A simplex tableau for a list of inequalities; each call of `contradiction` asks about some of them.

    Unknowns have values a + d·δ for an infinitesimal δ > 0, so that a strict inequality f > 0 can be met as f >= δ.
    """

    def __init__(self, system: Sequence[Halfspace]) -> None:
        self._columns: dict[int, int] = {}
        for item in system:
            for key, _ in item.coefficients:
                self._columns.setdefault(key, len(self._columns))
        #: Each basic column as a combination of the others. Goals are rows with negative numbers, without bounds.
        self._rows: dict[int, dict[int, fmpq]] = {}
        self._values: dict[int, _Value] = dict.fromkeys(range(len(self._columns)), _NOWHERE)
        #: For each inequality: its column, the factor (inequality = factor·column + constant), and the column's bound.
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
        beyond = (_FMPQ_ONE if factor > 0 else -_FMPQ_ONE) if item.strict else _FMPQ_ZERO
        self._bounds.append((column, factor, (bound, beyond)))

    # --- feasibility ------------------------------------------------------------------------------------------------

    def contradiction(self, indices: Iterable[int]) -> Weights | None:
        """Return None if some point satisfies all inequalities with these `indices`, else a proof that none does.

        The proof maps indices of inequalities to positive weights. The weighted sum of these inequalities is false, as
        `refutes` checks.
        """
        self._fixed = set()
        lower: dict[int, tuple[_Value, int]] = {}
        upper: dict[int, tuple[_Value, int]] = {}
        self._lower, self._upper = lower, upper
        for index in indices:
            bound_in = self._bounds[index]
            if bound_in is None:
                if self._false[index]:
                    return {index: Fraction(1)}
                continue
            column, factor, bound = bound_in
            if factor > 0:
                if column not in lower or bound > lower[column][0]:
                    lower[column] = (bound, index)
            elif column not in upper or bound < upper[column][0]:
                upper[column] = (bound, index)
        for column, (low, index) in lower.items():
            if column in upper and upper[column][0] < low:
                return self._weights([(index, _FMPQ_ONE), (upper[column][1], _FMPQ_ONE)])
        for column in (*lower, *upper):
            if column not in self._rows:
                value = self._values[column]
                if column in lower and value < lower[column][0]:
                    self._move(column, lower[column][0])
                elif column in upper and value > upper[column][0]:
                    self._move(column, upper[column][0])
        return self._repair()

    def _repair(self) -> Weights | None:
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
        """The weights of inequalities that prove that the variable with the index `column` cannot satisfy its bounds.

        The variable is below its lower bound if `up`, else above its upper bound. It is a linear form in other
        variables, each of which is at one of its bounds. Moving any of these away from its bound would move the
        variable farther from its own.
        """
        result = [((self._lower if up else self._upper)[column][1], _FMPQ_ONE)]
        for other, c in self._rows[column].items():
            limits = self._upper if (c > 0) is up else self._lower
            result.append((limits[other][1], abs(c)))
        return self._weights(result)

    def _weights(self, of_bounds: Iterable[tuple[int, fmpq]]) -> Weights:
        weights: dict[int, Fraction] = {}
        for index, c in of_bounds:
            bound = self._bounds[index]
            assert bound is not None
            weight = c / abs(bound[1])
            weights[index] = weights.get(index, Fraction(0)) + to_fraction(weight)
        return weights

    # --- optimization -----------------------------------------------------------------------------------------------

    def minimize(self, goal: Mapping[int, Fraction]) -> Weights | None:
        """Minimize Σ c·x[key] over the items key: c of `goal`, on the inequalities of the last call of `contradiction`.

        Some point must satisfy these inequalities. Return None if the minimum is -infinity. Otherwise return weights by
        the indices of inequalities: their weighted sum is the form plus a constant. Each later call minimizes its form
        among the points at which all earlier forms are least. The weights of later calls prove nothing.
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
            for other, factor in self._rows.get(column, {column: _FMPQ_ONE}).items():
                total = row.get(other, _FMPQ_ZERO) + c * factor
                if total != 0:
                    row[other] = total
                else:
                    row.pop(other, None)
        self._rows[number] = row
        self._values[number] = _NOWHERE  # never looked at
        raised = self._maximize(number)
        row = self._rows.pop(number)
        if not raised:
            return None
        self._fixed.update(row)
        return self._weights(
            ((self._upper if c > 0 else self._lower)[column][1], abs(c))
            for column, c in row.items()
            if column in (self._upper if c > 0 else self._lower)
        )

    def _maximize(self, number: int) -> bool:
        """Maximize the linear form whose row has the number `number`. Return False if the form has no upper bound."""
        while True:
            entering, up = -1, True
            for column, c in self._rows[number].items():
                if (entering < 0 or column < entering) and self._can_move(column, c > 0):
                    entering, up = column, c > 0
            if entering < 0:
                return True
            if not self._advance(entering, up):
                return False

    def _advance(self, entering: int, up: bool) -> bool:
        lower, upper, values = self._lower, self._upper, self._values
        here = values[entering]
        best: _Value | None = None
        leaving = -1
        same_side = upper if up else lower
        goal = _NOWHERE
        if entering in same_side:
            end = same_side[entering][0]
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
        """The current point, as (a, d): the unknown with the key k has the value a[k] + d[k]·δ.

        δ > 0 is infinitesimal.
        """
        result: tuple[dict[int, Fraction], dict[int, Fraction]] = ({}, {})
        for key, column in self._columns.items():
            for coordinates, value in zip(result, self._values[column], strict=True):
                coordinates[key] = to_fraction(value)
        return result


# --- Exact linear programs: a solver proposes, exact arithmetic proves ------------------------------------------------
#
# A proposal of the simplex method counts only once a few independent lines have checked it: a point is put into every
# inequality, and weights of inequalities are added up (Farkas' lemma, see `dipc.linear.halfspace`). By the duality of
# linear programs a point or weights exist for every question here. Where the check fails, `NotConfirmed` is raised: the
# question stays open.

Point = Mapping[int, Fraction]

_ZERO, _ONE = Fraction(0), Fraction(1)


class NotConfirmed(Undecided):
    """Raised if exact arithmetic did not confirm a result of the solver."""

    def __init__(self) -> None:
        super().__init__("exact arithmetic did not confirm the answer to a system of linear inequalities")


@frozen
class Infeasible:
    """The result for a system that no point satisfies; `refutes` checks that `weights` prove it."""

    weights: Weights


@frozen
class Unbounded:
    """The result for a linear form without a lower bound on a system.

    `point` satisfies the system. From it the form falls along `direction`, and every point on this ray satisfies the
    system.
    """

    point: Point
    direction: Point


@frozen
class Least:
    """The result for a linear form with a lower bound on a system: the greatest lower bound `value`.

    `proved_bound` checks that `weights` prove it. The form has the value `value` at `point`, which satisfies the system
    if strict inequalities are replaced by those with >=.
    """

    value: Fraction
    point: Point
    weights: Weights


def solution(system: Sequence[Halfspace], keys: Iterable[int] = ()) -> Point | Infeasible:
    """A point that satisfies `system`, or the proof that no point does.

    The point has a value for every key in `system` and in `keys`. Raises NotConfirmed if neither is proved exactly.
    """
    return _solution(Simplex(system), system, keys)


def contradiction(system: Sequence[Halfspace]) -> Weights | None:
    """Weights that prove that no point satisfies `system`, or None if some point does.

    Raises NotConfirmed if exact arithmetic does not confirm the solver's result.
    """
    result = solution(system)
    return result.weights if isinstance(result, Infeasible) else None


def implies(system: Sequence[Halfspace], question: Halfspace) -> bool:
    """True if every point of `system` is in the half-space `question`. Both answers are proved.

    Raises NotConfirmed if exact arithmetic does not confirm the solver's result.
    """
    return contradiction([*system, question.complement()]) is not None


def minimum(
    form: Halfspace, system: Sequence[Halfspace], keys: Iterable[int] = (), then: Sequence[Halfspace] = ()
) -> Least | Unbounded | Infeasible:
    """The greatest lower bound of the linear `form` on the points of `system`, or the proof that there is none.

    The result is Infeasible if `system` has no point, and Unbounded if `form` has no lower bound on it. Otherwise it is
    Least, with a point at which the closure of `system` holds and `form` has the least value. This point is chosen by
    the forms of `then`: each is minimized among the points where all earlier forms are least, up to the first that has
    no minimum. The point has a value for every key in `keys`. Raises NotConfirmed if exact arithmetic does not confirm
    the solver's result.
    """
    simplex = Simplex(system)
    start = _solution(simplex, system, keys)
    if isinstance(start, Infeasible):
        return start
    weights = simplex.minimize(dict(form.coefficients))
    if weights is None:
        return _unbounded(form, system, start)
    for other in then:
        if simplex.minimize(dict(other.coefficients)) is None:
            break
    point = {**dict.fromkeys(keys, _ZERO), **simplex.point()[0]}
    value = proved_bound(form, system, weights)
    if value is None or form.value(point) != value:
        raise NotConfirmed
    if not all(item.closure().contains(point) for item in system):
        raise NotConfirmed
    return Least(value, point, weights)


def _unbounded(form: Halfspace, system: Sequence[Halfspace], start: Point) -> Unbounded:
    """The proof that `form` has no lower bound on `system`: the point `start`, and a checked direction.

    `start` satisfies the system. A step along the direction lowers `form` by at least 1, and does not lower the left
    side of any inequality of `system`.
    """
    cone = [Halfspace(item.coefficients, _ZERO) for item in system if item.coefficients]
    fall = Halfspace(tuple([(key, -c) for key, c in form.coefficients]), -_ONE)
    direction = solution([*cone, fall])
    point = {key: start.get(key, _ZERO) for key in {*start, *(key for key, _ in form.coefficients)}}
    if isinstance(direction, Infeasible):
        raise NotConfirmed
    return Unbounded(point, direction)


def _solution(simplex: Simplex, system: Sequence[Halfspace], keys: Iterable[int] = ()) -> Point | Infeasible:
    weights = simplex.contradiction(range(len(system)))
    if weights is not None:
        if not refutes(system, weights):
            raise NotConfirmed
        return Infeasible(weights)
    point = {**dict.fromkeys(keys, _ZERO), **_standard_point(simplex, system)}
    if not all(item.contains(point) for item in system):
        raise NotConfirmed
    return point


def _standard_point(simplex: Simplex, system: Sequence[Halfspace]) -> dict[int, Fraction]:
    """The current point of `simplex`, with a small positive rational in place of the infinitesimal δ.

    Strict inequalities are written with δ, so the coordinates may contain multiples of it. The rational is small enough
    for the point to satisfy every inequality of `system`.
    """
    point, direction = simplex.point()
    if not any(direction.values()):
        return point
    delta = _ONE
    for item in system:
        slope = sum((c * direction[key] for key, c in item.coefficients), _ZERO)
        value = item.value(point)
        if slope < 0 and value + delta * slope <= 0 < value:
            # The inequality holds strictly, and still does halfway to its boundary.
            delta = value / -slope / 2
    return {key: value + delta * direction[key] for key, value in point.items()}


class Interiors:
    """Tests of whether systems have interior points, with a limit for the linear programs of all tests together.

    `asked` is the number of linear programs that have been solved.
    """

    def __init__(self, max_questions: int) -> None:
        self._limit = max_questions
        self.asked = 0

    def has_interior(self, system: Sequence[Halfspace]) -> bool:
        """True if some point satisfies all inequalities of `system` strictly.

        Raises LimitReached if all tests together need too many linear programs, and NotConfirmed.
        """
        system = [_opened(item) for item in system]
        self._count()
        return not isinstance(solution(system), Infeasible)

    def facets(self, system: Sequence[Halfspace], key: int) -> tuple[Halfspace, ...]:
        """Return `system` without those inequalities that contain x[`key`] and are implied by the others.

        All inequalities are taken as strict, so the set of interior points stays the same. Raises LimitReached if all
        tests together need too many linear programs, and NotConfirmed.
        """
        opened = [_opened(item) for item in system]
        both = [*opened, *(_opened(item.complement()) for item in opened)]
        simplex = Simplex(both)
        kept = list(range(len(opened)))
        for index, item in enumerate(opened):
            if not item.coefficient(key):
                continue
            others = [other for other in kept if other != index]
            asked = [*others, len(opened) + index]
            self._count()
            weights = simplex.contradiction(asked)
            chosen = [both[other] for other in asked]
            if weights is None:
                point = _standard_point(simplex, chosen)
                if not all(item.contains(point) for item in chosen):
                    raise NotConfirmed
            elif refutes(both, weights) and weights.keys() <= set(asked):
                kept = others
            else:
                raise NotConfirmed
        return tuple([system[index] for index in kept])

    def _count(self) -> None:
        self.asked += 1
        if self.asked > self._limit:
            raise LimitReached(
                "cells", f"more than {self._limit} linear programs were needed to split the constraints into cells"
            )


def _opened(item: Halfspace) -> Halfspace:
    return item if item.strict else Halfspace(item.coefficients, item.constant, True)


#: Substitutions x[key] = Σ slope·x + constant, in the order in which keys were replaced.
_Replaced = list[tuple[int, dict[int, Fraction], Fraction]]


def integer_solution(system: Sequence[Halfspace], whole: frozenset[int], most: int) -> Point | None:
    """A point of `system` at which the unknowns in `whole` are integers, or None if it is proved that there is none.

    Raises LimitReached if branch and bound needs more than `most` branches, and NotConfirmed.
    """
    start = solution(system, whole)
    if isinstance(start, Infeasible):
        return None
    if all(start[key].denominator == 1 for key in whole):
        return start
    reduced = _without_equations(system, whole)
    if reduced is None:
        return None
    rest, integers, replaced = reduced
    # Solutions near 0 are tried first: in another order an endless branch could hide one.
    keys = {key for item in rest for key, _ in item.coefficients}
    size = 1 + max({*keys, *integers, *start}, default=0)
    longest = Halfspace(((size, _ONE),), _ZERO)
    box = absolute_value_bounds(dict.fromkeys(keys & integers, size))
    in_reduced = _search_integers(longest, [*rest, longest, *box], integers, most)
    if in_reduced is None:
        return None
    values = dict(in_reduced)
    for key, slopes, constant in reversed(replaced):
        values[key] = constant + sum((slope * values.get(k, _ZERO) for k, slope in slopes.items()), _ZERO)
    point = {key: values.get(key, _ZERO) for key in start}
    assert all(item.contains(point) for item in system)
    assert all(point[key].denominator == 1 for key in whole)
    return point


def integer_minimum(
    form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int], most: int
) -> tuple[Fraction, Point] | None:
    """Return (least value of `form`, point) over the points of `system` at which the unknowns in `whole` are integers.

    The result is None if there is no such point. But in this case the search may not end, so call `integer_solution`
    first. `form` must be bounded below on `system`, and the unknowns in strict inequalities must be integers. Raises
    LimitReached if branch and bound needs more than `most` branches, and NotConfirmed.
    """
    closed = [_tightened(item, whole) for item in system]
    assert not any(item.strict and item.coefficients for item in closed), "an open half-space may have no least value"
    point = _search_integers(form, closed, whole, most)
    return None if point is None else (form.value(point), point)


def _search_integers(form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int], most: int) -> Point | None:
    """Return a point of `system` at which the unknowns in `whole` are integers, or None if there is none.

    Branch and bound visits branches in the order of the least value of `form`. So `form` is least at the point, unless
    strict inequalities contain unknowns that are not in `whole`. Raises LimitReached if there are more than `most`
    branches.
    """
    pending: list[tuple[Fraction, int, tuple[Halfspace, ...], Point]] = []
    count = 0

    def add(branch: tuple[Halfspace, ...]) -> None:
        nonlocal count
        match minimum(form, [*system, *branch]):
            case Least(value, point, _):
                heappush(pending, (value, count, branch, point))
            case Unbounded():
                raise ValueError("the form is not bounded below")
            case Infeasible():
                pass
        count += 1
        if count > most:
            raise LimitReached("branches", f"integer inequalities fall into more than {most} cases")

    add(())
    while pending:
        _, _, branch, point = heappop(pending)
        broken = next((key for key in sorted(whole) if point.get(key, _ZERO).denominator != 1), None)
        if broken is not None:
            value = point[broken]
            add((*branch, _at_most(broken, floor(value))))
            add((*branch, _at_least(broken, ceil(value))))
            continue
        if all(item.contains(point) for item in system):
            return point
        fixed = [half for key in whole & point.keys() for half in equation([(key, _ONE)], -point[key])]
        inside = solution([*system, *fixed])
        if not isinstance(inside, Infeasible):
            return inside
        # Only boundary points have these integers: exclude them.
        for key in sorted(whole & point.keys()):
            value = point[key]
            add((*branch, _at_most(key, floor(value) - 1)))
            add((*branch, _at_least(key, floor(value) + 1)))
            branch = (*branch, *equation([(key, _ONE)], -value))
    return None


def _at_most(key: int, value: int) -> Halfspace:
    return Halfspace(((key, -_ONE),), Fraction(value))


def _at_least(key: int, value: int) -> Halfspace:
    return Halfspace(((key, _ONE),), Fraction(-value))


def _tightened(item: Halfspace, whole: frozenset[int]) -> Halfspace:
    """The strongest inequality with the same integer points as `item`, or `item` if an unknown is not in `whole`."""
    return tightened(item) if item.coefficients and all(key in whole for key, _ in item.coefficients) else item


def _without_equations(
    system: Sequence[Halfspace], whole: frozenset[int]
) -> tuple[list[Halfspace], frozenset[int], _Replaced] | None:
    """Return (rest, integers, replaced): `system` after unknowns have been eliminated by equations that it implies.

    An equation is used only if all its unknowns are in `whole`, the set of integer unknowns. The set integers is
    `whole` with the new unknowns that were introduced. The list replaced has an item (key, slopes, b) for each
    elimination, in order: x[key] was replaced by Σ slopes[k]·x[k] + b. Return None if an inequality without unknowns
    remains and is false.
    """
    rest = [_tightened(item, whole) for item in system]
    fresh = 1 + max((key for item in rest for key, _ in item.coefficients), default=0)
    replaced: _Replaced = []
    while True:
        rest = list(dict.fromkeys(rest))
        if any(not item.coefficients and not item.contains({}) for item in rest):
            return None
        rest = [item for item in rest if item.coefficients]
        # An inequality is an equation if the system implies the opposite inequality as well.
        tight = next(
            (
                item
                for item in rest
                if all(key in whole for key, _ in item.coefficients)
                and implies(rest, Halfspace(tuple([(key, -c) for key, c in item.coefficients]), -item.constant))
            ),
            None,
        )
        if tight is None:
            return rest, whole, replaced
        # a·x + Σ a_i·x_i + b = 0 with the smallest |a|. With y = x + Σ floor(a_i/a)·x_i + floor(b/a) it is an equation
        # with remainders for coefficients; they are all 0 where |a| = 1, and y is a number.
        key, a = min(tight.coefficients, key=lambda term: (abs(term[1]), term[0]))
        slopes = {k: Fraction(-floor(c / a)) for k, c in tight.coefficients if k != key}
        constant = Fraction(-floor(tight.constant / a))
        if abs(a) > 1:
            slopes[fresh] = _ONE
            whole = whole | {fresh}
            fresh += 1
        replaced.append((key, slopes, constant))
        rest = [_tightened(item.substituted(key, slopes, constant), whole) for item in rest]


# --- The corners of a polyhedron --------------------------------------------------------------------------------------


def corners(system: Sequence[Halfspace], keys: Sequence[int]) -> Iterator[Point]:
    """Yield the vertices of the polyhedron that is the closure of `system`, each with a value for all `keys`.

    `keys` has all unknowns. A vertex may be repeated.
    """
    closed = [item.closure() for item in dict.fromkeys(system) if item.coefficients]
    for chosen in combinations(closed, len(keys)):
        rows = flint.fmpq_mat([[to_fmpq(item.coefficient(key)) for key in keys] for item in chosen])
        ends = flint.fmpq_mat([[to_fmpq(-item.constant)] for item in chosen])
        try:
            crossing = rows.solve(ends)
        except ZeroDivisionError:
            continue
        point = {key: to_fraction(crossing[row, 0]) for row, key in enumerate(keys)}
        if all(item.contains(point) for item in closed):
            yield point


def is_bounded_on(form: Halfspace, system: Sequence[Halfspace]) -> bool:
    """True if `form` is bounded from both sides on the nonempty polyhedron `system`.

    Raises NotConfirmed if this is not proved exactly.
    """
    opposite = Halfspace(tuple([(key, -c) for key, c in form.coefficients]), -form.constant)
    return all(isinstance(minimum(each, system), Least) for each in (form, opposite))


def cells(halves: Sequence[Halfspace], most: int) -> list[tuple[tuple[Halfspace, ...], frozenset[int]]]:
    """Return the nonempty sets into which `halves` divide the space, each as (system, indices).

    The half-spaces of system describe the set. indices has the indices of those `halves` that contain the set; all
    others are disjoint from it. Raises LimitReached if there are more than `most` sets, and NotConfirmed.
    """
    cut: list[tuple[tuple[Halfspace, ...], frozenset[int]]] = [((), frozenset())]
    for index, half in enumerate(halves):
        cut = [
            ((*cell, side), holding | {index} if holds else holding)
            for cell, holding in cut
            for holds, side in ((True, half), (False, half.complement()))
            if not isinstance(solution([*cell, side]), Infeasible)
        ]
        if len(cut) > most:
            raise LimitReached("cells", f"the conditions on inputs split them into more than {most} cells")
    return cut
