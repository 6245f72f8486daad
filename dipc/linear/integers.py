"""Linear inequalities some of whose unknowns are integers: branch and bound over exact linear programs.

Every branch that is given up is given up by a linear program whose answer is proved (see `dipc.linear.program`), so
the tree of branches is a proof. Where equations hold throughout, their unknowns are replaced first by a basis of the
lattice of their integer solutions: no branching would ever see that 2x = 2y + 1 has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, floor, gcd, lcm

from dipc.algebra.limits import LimitReached
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, Point, Unbounded, implies, minimum, solution

_ZERO, _ONE = Fraction(0), Fraction(1)

#: x[key] = Σ slope·x + constant, in the order in which keys were replaced.
_Replaced = list[tuple[int, dict[int, Fraction], Fraction]]


def integer_solution(system: Sequence[Halfspace], whole: frozenset[int], most: int) -> Point | None:
    """A point of the system, its `whole` unknowns integers; None if there is none (which is proved).

    Raises LimitReached past `most` cases, NotConfirmed.
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
    # The solutions nearest to 0 first: were they sought in any order, an endless branch could hide one.
    keys = {key for item in rest for key, _ in item.coefficients}
    size = 1 + max({*keys, *integers, *start}, default=0)
    longest = Halfspace(((size, _ONE),), _ZERO)
    box = [Halfspace(((key, sign), (size, _ONE)), _ZERO) for key in keys & integers for sign in (_ONE, -_ONE)]
    found = _searched(longest, [*rest, longest, *box], integers, most)
    if found is None:
        return None
    values = dict(found)
    for key, slopes, constant in reversed(replaced):
        values[key] = constant + sum((slope * values.get(k, _ZERO) for k, slope in slopes.items()), _ZERO)
    point = {key: values.get(key, _ZERO) for key in start}
    assert all(item.contains(point) for item in system)
    assert all(point[key].denominator == 1 for key in whole)
    return point


def integer_minimum(
    form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int], most: int
) -> tuple[Fraction, Point] | None:
    """The least value of the form on the points of the system whose `whole` unknowns are integers, and such a point.

    None if the system has none, which may not be found out: call `integer_solution` first. The form is bounded below,
    and strict inequalities are about integers alone. Raises LimitReached past `most` cases, NotConfirmed.
    """
    closed = [_tightened(item, whole) for item in system]
    assert not any(item.strict and item.coefficients for item in closed), "the least value need not be attained"
    point = _searched(form, closed, whole, most)
    return None if point is None else (form.value(point), point)


def _searched(form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int], most: int) -> Point | None:
    """Best first: the first integer point that turns up has the least value, but for strict inequalities of reals."""
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
        # Only a boundary is met at these integers: leave them out.
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
    """An inequality about integers alone, with coprime coefficients and the least integer constant that is as good."""
    if not item.coefficients or not all(key in whole for key, _ in item.coefficients):
        return item
    below = lcm(*[c.denominator for _, c in item.coefficients])
    above = gcd(*[int(c * below) for _, c in item.coefficients])
    factor = Fraction(below, above)
    constant = item.constant * factor
    integer = ceil(constant) - 1 if item.strict else floor(constant)
    return Halfspace(tuple([(key, c * factor) for key, c in item.coefficients]), Fraction(integer))


def _without_equations(
    system: Sequence[Halfspace], whole: frozenset[int]
) -> tuple[list[Halfspace], frozenset[int], _Replaced] | None:
    """The system without the equations between integers that it implies, what its integers are then, and how the
    unknowns that are gone are made from those left. None if it has no solution."""
    rest = [_tightened(item, whole) for item in system]
    fresh = 1 + max((key for item in rest for key, _ in item.coefficients), default=0)
    replaced: _Replaced = []
    while True:
        rest = list(dict.fromkeys(rest))
        if any(not item.coefficients and not item.contains({}) for item in rest):
            return None
        rest = [item for item in rest if item.coefficients]
        tight = next((item for item in rest if _is_equation(item, rest, whole)), None)
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


def _is_equation(item: Halfspace, system: Sequence[Halfspace], whole: frozenset[int]) -> bool:
    """Whether the inequality, about integers alone, is nowhere strict on the system."""
    if not all(key in whole for key, _ in item.coefficients):
        return False
    return implies(system, Halfspace(tuple([(key, -c) for key, c in item.coefficients]), -item.constant))
