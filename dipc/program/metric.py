"""The distance of inputs, and the least distance from an input to a convex set of inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import ceil, lcm
from typing import TYPE_CHECKING, TypeVar

from dipc.chain.state import Affine, Answer, Constraint, Terms, as_form, contradict, same_value
from dipc.frozen import LazyModule
from dipc.linear.halfspace import ORIGIN, Halfspace, difference_graph, greatest_bounds, sorted_terms
from dipc.program.nearness import (
    Formula,
    Whole,
    all_of,
    any_of,
    compared,
    formula_conditions,
    opposite,
    output_positions,
)
from dipc.text.ast import BaseType, CompareOp
from dipc.text.program import CoreMetric, CoreProgram

if TYPE_CHECKING:
    from dipc.linear import program as linear_program
else:
    linear_program = LazyModule("dipc.linear.program")

# --- The distances between inputs that a program can choose -----------------------------------------------------------

_ZERO, _ONE = Fraction(0), Fraction(1)

_T = TypeVar("_T")


class Norm(Enum):
    """The norm that combines the distances of coordinates into d(u, u').

    The distance of two numbers is |x - x'|; that of two different truth values or two different names of a domain is 1.
    """

    LINF = "linf"
    """The largest coordinate."""
    L1 = "l1"
    """The sum of the coordinates."""
    DISCRETE = "discrete"
    """0 for equal inputs, 1 for different ones."""

    def combined(self, coordinates: Iterable[Fraction]) -> Fraction:
        """Return the distance of two inputs from the distances of their `coordinates`, or of groups of coordinates."""
        match self:
            case Norm.LINF:
                return max(coordinates, default=_ZERO)
            case Norm.L1:
                return sum(coordinates, _ZERO)
            case Norm.DISCRETE:
                return _ONE if any(coordinates) else _ZERO

    def steepness(self, terms: Terms) -> Fraction:
        """Return the dual norm of `terms`, the coefficients of a linear function.

        It is the greatest growth of the function over the distance 1.
        """
        sizes = [abs(coefficient) for _, coefficient in terms]
        return max(sizes) if self is Norm.L1 else sum(sizes, _ZERO)

    def towards(self, point: Mapping[int, Fraction], terms: Terms, distance: Fraction) -> dict[int, Fraction]:
        """Return a point at `distance` from `point` where the linear function with coefficients `terms` is greatest."""
        moved = dict(point)
        chosen = [max(terms, key=lambda term: abs(term[1]))] if self is Norm.L1 else terms
        for slot, coefficient in chosen:
            moved[slot] += distance if coefficient > 0 else -distance
        return moved


# --- The distance d of inputs, and the answers of det that count as different: the definition of dd(u) ----------------


class Metric:
    """The distance of inputs of one program, and the difference of answers; together they define dd(u).

    By default the distance is the largest distance of a coordinate (section 2 of the paper), and answers differ if they
    are not equal. A `metric` block can define others. Inputs are given by slot, as values or, if they are real or int,
    as forms; answers in the order of the outputs.
    """

    def __init__(self, program: CoreProgram) -> None:
        self.core = program.metric or CoreMetric()
        self.norm = Norm(self.core.input)
        self._program = program
        self._outputs = output_positions(program)
        finite = [not slot.is_symbolic for slot in program.output_slots]
        #: For each output whether dd(u) depends on it.
        self.disputed = finite if self.core.dd == "finite" and any(finite) else [True] * len(finite)

    def decisive(self, answer: Sequence[_T]) -> tuple[_T, ...]:
        """Return the values of `answer` for the outputs that dd(u) depends on."""
        return tuple(compress(answer, self.disputed))

    @property
    def is_plain(self) -> bool:
        """Whether inputs are never infinitely far apart, and answers count as equal only if they are equal.

        This holds if the `metric` block has no condition about inputs that are infinitely far apart, and none about
        answers that count as the same.
        """
        return self.core.apart is None and self.core.same is None

    def far_condition(
        self,
        inputs: Mapping[int, Answer],
        others: Mapping[int, Answer],
        whole: Whole | None = None,
        among: Collection[int] | None = None,
    ) -> Formula:
        """Return the condition under which `inputs` and `others` are infinitely far apart.

        `whole` decides whether a form has integer values; by default, it accepts forms over int inputs of the program.
        `among` are the indices of the conditions of the `metric` block to use, by default all. Raises DiagnosticError
        for an index out of range.
        """
        formula = self.core.apart
        if formula is None:
            return False
        if among is not None:
            formula = replace(formula, conditions=tuple(formula.conditions[position] for position in sorted(among)))
        values = [(others if place.primed else inputs)[place.slot] for place in formula.places]
        return any_of(formula_conditions(self._program, formula, values, inputs, whole or self.is_whole))

    def differ(self, inputs: Mapping[int, Answer], answer: Sequence[Answer], other: Sequence[Answer]) -> Formula:
        """Return the condition under which the values of det at two inputs count as different.

        They are `answer` at `inputs`, and `other` at another input.
        """
        formula = self.core.same
        if formula is None:
            pairs = zip(self.decisive(answer), self.decisive(other), strict=True)
            return any_of(self._unequal(one, two) for one, two in pairs)
        values: list[Answer] = []
        for place in formula.places:
            position = self._outputs.get(place.slot)
            # In the formula, det elsewhere replaces the program's answer.
            values.append(inputs[place.slot] if position is None else (answer if place.primed else other)[position])
        return opposite(all_of(formula_conditions(self._program, formula, values, inputs, self.is_whole)))

    def is_whole(self, form: Affine) -> bool:
        return self._program.slots[form.inputs[0][0]].type is BaseType.INT

    def _unequal(self, one: Answer, two: Answer) -> Formula:
        if isinstance(one, Affine) or isinstance(two, Affine):
            here, there = as_form(one), as_form(two)
            assert here is not None
            assert there is not None
            return compared(here - there, CompareOp.NE, self.is_whole)
        return not same_value(one, two)


# --- The least distance from an input to a convex set of inputs, exactly ----------------------------------------------
#
# A set is given by its constraints. If it is not empty, its distance is that of its closure (each strict inequality
# with its boundary), because every point of the closure of a convex set is a limit of points of the set.
#
# Cheap methods come first. One violated constraint gives a lower bound, which is the distance if a point attains it.
# For a system of differences the distance follows from the longest paths in its graph. The rest is a linear program.

Point = Mapping[int, Fraction]

#: (x, y, D): x - y >= D, over input slots and ORIGIN.
Bound = tuple[int, int, Fraction]


class ConvexSet:
    """The inputs, all ints or all reals, that satisfy `guards`, prepared for computing distances from them.

    A search for a point with integer coordinates examines at most `branches` cases.
    """

    def __init__(self, guards: tuple[Constraint, ...], branches: int) -> None:
        self.guards = guards
        self._branches = branches
        self.whole = any(guard.whole for guard in guards)
        self._out: dict[Norm, tuple[list[tuple[list[tuple[int, int]], int]], int]] = {}

    @cached_property
    def is_empty(self) -> bool:
        """Whether no input satisfies the guards, with strict guards taken strictly. Raises Undecided."""
        if contradict(self.guards):
            return True
        # For differences (over integers with integer bounds) a contradiction is always found.
        if all(guard.bound is not None for guard in self.guards):
            return False
        whole = frozenset(self._slots if self.whole else ())
        return inner_point(self.guards, whole, self._branches) is None

    def distance(self, norm: Norm, point: Point, below: Fraction | None = None) -> Fraction | None:
        """Return inf { norm(point - u') : u' in this set }, by `norm`, LINF or L1.

        `point` has a value for every input that the guards mention. None means that the distance is at least `below`,
        or that the set is empty. Raises Undecided past a limit.
        """
        violated = [(guard, -value) for guard in self.guards if (value := guard.form.evaluate(point)) < 0]
        if not violated:
            near = below is None or below > 0
            return _ZERO if near and not self.is_empty else None
        worst, bound = max(
            ((guard, amount / norm.steepness(guard.form.inputs)) for guard, amount in violated),
            key=lambda pair: pair[1],
        )
        bound = self._rounded(bound)
        if below is not None and bound >= below:
            return None
        if self.is_empty:
            return None
        nearest = norm.towards(point, worst.form.inputs, bound)
        if all(guard.form.evaluate(nearest) >= 0 for guard in self.guards):
            return bound
        distance = self._exactly(norm, point)
        return distance if below is None or distance < below else None

    def distance_out(self, norm: Norm, point: Point) -> Fraction | None:
        """Return inf { norm(point - u') : u' not in this set } for `point`, a point of the set, by `norm`.

        None for infinity, if the set has no guards. An input is outside exactly if it violates one of the guards.
        """
        if not self.guards:
            return None
        forms, scale = self._slopes_out(norm)
        # Integers over one denominator, as adding fractions takes most of the time at many points.
        below = lcm(*[point[slot].denominator for slot in self._slots])
        values = {slot: point[slot].numerator * (below // point[slot].denominator) for slot in self._slots}
        distances = [
            sum([coefficient * values[slot] for slot, coefficient in terms], constant * below)
            for terms, constant in forms
        ]
        # Rounding up keeps the order.
        return self._rounded(Fraction(min(distances), scale * below))

    @cached_property
    def _slots(self) -> list[int]:
        return sorted({slot for guard in self.guards for slot, _ in guard.form.inputs})

    def facets(self, norm: Norm) -> tuple[tuple[Terms, Fraction], ...]:
        """Return, for each guard, how far a point of the set can move by `norm` without violating it.

        This is an affine function of the point, a pair (coefficients, constant). The distance by which integers violate
        the guard is the least integer that is not smaller.
        """
        # A negative integer form is <= -1, and each step of all coordinates lowers it by its steepness.
        step = 1 if self.whole else 0
        forms = [(guard.form, norm.steepness(guard.form.inputs)) for guard in self.guards]
        return tuple([(form.scaled(1 / size).inputs, (form.constant + step) / size) for form, size in forms])

    def _slopes_out(self, norm: Norm) -> tuple[list[tuple[list[tuple[int, int]], int]], int]:
        """Return (functions, denominator): the `facets` by `norm` with integers, to be divided by `denominator`."""
        known = self._out.get(norm)
        if known is None:
            scaled = self.facets(norm)
            scale = lcm(*[c.denominator for terms, constant in scaled for c in (constant, *[c for _, c in terms])])
            forms = [
                ([(slot, int(c * scale)) for slot, c in terms], int(constant * scale)) for terms, constant in scaled
            ]
            known = self._out[norm] = forms, scale
        return known

    def _rounded(self, distance: Fraction) -> Fraction:
        return Fraction(ceil(distance)) if self.whole else distance

    def _exactly(self, norm: Norm, point: Point) -> Fraction:
        if norm is Norm.LINF and self._bounds is not None:
            return self._by_paths(point, self._bounds)
        if norm is Norm.L1 and all(len(guard.form.inputs) == 1 for guard in self.guards):
            return self._by_coordinates(point)
        return self._by_program(norm, point)

    def _by_program(self, norm: Norm, point: Point) -> Fraction:
        slots = self._slots
        beyond = 1 + slots[-1]
        length = {slot: beyond if norm is Norm.LINF else beyond + slot for slot in slots}
        near = [
            Halfspace(sorted_terms({slot: sign, length[slot]: _ONE}), -sign * point[slot])
            for slot in slots
            for sign in (_ONE, -_ONE)
        ]
        form = Halfspace(tuple([(key, _ONE) for key in sorted(set(length.values()))]), _ZERO)
        system = [*(guard.guard.closure() for guard in self.guards), *near]
        if self.whole:
            assert all(point[slot].denominator == 1 for slot in slots), "an int is an integer"
            result = linear_program.integer_minimum(form, system, frozenset([*slots, *length.values()]), self._branches)
            assert result is not None, "the set is not empty"
            return result[0]
        least = linear_program.minimum(form, system)
        if not isinstance(least, linear_program.Least):
            raise linear_program.NotConfirmed  # the set is not empty, and lengths are not negative
        return least.value

    @cached_property
    def _bounds(self) -> tuple[Bound, ...] | None:
        """All triples (x, y, D) such that D is the least value of x - y on the set; x and y are slots, or ORIGIN for 0.

        None unless every guard bounds a difference of two coordinates, or one coordinate. Each D is the length of a
        longest path from y to x in the graph of the differences.
        """
        differences = [least for guard in self.guards if (least := guard.bound) is not None]
        if len(differences) < len(self.guards):
            return None
        graph = difference_graph(differences)
        bounds: list[Bound] = []
        for lower in graph:
            best = greatest_bounds(graph, lower)
            assert best is not None, "the set is not empty"
            greatest = ((upper, Fraction(bound)) for upper, (bound, _) in best.items() if upper != lower)
            bounds += [(_slot(upper), _slot(lower), bound) for upper, bound in greatest]
        return tuple(bounds)

    def _by_paths(self, point: Point, bounds: tuple[Bound, ...]) -> Fraction:
        """Return the LINF distance from `point` to the set, whose guards must all bound differences of coordinates.

        `bounds` has triples (x, y, D), where D is the least value of x - y on the set; x and y are slots, or the origin
        for 0. The set meets the box of radius t around the point if and only if each D is at most the greatest value of
        x - y in the box. This value is point[x] - point[y] + 2t, with t in place of 2t if x or y is the origin.

        Proof: if the set and the box do not meet, the graph of the differences that they bound has a positive cycle. It
        passes the origin once, so it consists of a path in the set, of length at most D, and of one or two sides of the
        box. If all D and t are integers, the set and the box have a common integer point.
        """
        least = _ZERO
        for upper, lower, bound in bounds:
            if upper == ORIGIN:
                need = bound + point[lower]
            elif lower == ORIGIN:
                need = bound - point[upper]
            else:
                need = (bound - point[upper] + point[lower]) / 2
            if need > least:
                least = need
        return self._rounded(least)

    def _by_coordinates(self, point: Point) -> Fraction:
        """Return the L1 distance from `point` to the set, a box: the sum of the distances in the coordinates."""
        moves: dict[int, Fraction] = {}
        for guard in self.guards:
            ((slot, coefficient),) = guard.form.inputs
            missing = -guard.form.evaluate(point) / abs(coefficient)
            moves[slot] = max(moves.get(slot, _ZERO), self._rounded(missing))
        return sum(moves.values(), _ZERO)


class InputSet:
    """A set of inputs, ints and reals: the product of a convex set of ints and one of reals."""

    def __init__(self, guards: Sequence[Constraint], whole_inputs: frozenset[int], branches: int) -> None:
        ints = tuple(guard for guard in guards if guard.form.inputs[0][0] in whole_inputs)
        reals = tuple(guard for guard in guards if guard.form.inputs[0][0] not in whole_inputs)
        self._parts = tuple(ConvexSet(constraints, branches) for constraints in (ints, reals) if constraints)

    @property
    def is_empty(self) -> bool:
        """Whether no input is in the set, with strict guards taken strictly."""
        return any(convex_set.is_empty for convex_set in self._parts)

    def distance(self, norm: Norm, point: Point, away: Fraction, below: Fraction | None) -> Fraction | None:
        """Return the distance by `norm` from `point` to the nearest input in the set.

        `away` is the distance in those inputs that no guard mentions. None if the distance is at least `below`, or if
        the set is empty.
        """
        if below is not None and away >= below:
            return None
        if norm is Norm.DISCRETE:
            return None if self.is_empty or (below is not None and below <= 1) else Fraction(1)
        distances = [away]
        for convex_set in self._parts:
            distance = convex_set.distance(norm, point, below)
            if distance is None:
                return None
            distances.append(distance)
        total = norm.combined(distances)
        return total if below is None or total < below else None

    def real_facets(self, norm: Norm) -> tuple[tuple[Constraint, ...], tuple[tuple[Terms, Fraction], ...]] | None:
        """Return the guards of a set of reals, and for each guard the distance to its boundary.

        The distance of a point of the set, by `norm` (LINF or L1), is an affine function of the point: a pair
        (coefficients, constant). A point can move by less than this distance without violating the guard. None for a
        set without guards, or with ints.
        """
        if len(self._parts) != 1 or self._parts[0].whole:
            return None
        return self._parts[0].guards, self._parts[0].facets(norm)

    def distance_out(self, norm: Norm, point: Point) -> Fraction | None:
        """Return the distance by `norm` from `point`, in the set, to the nearest input outside; None is infinity."""
        if norm is Norm.DISCRETE:
            return Fraction(1) if self._parts else None
        result = [out for convex_set in self._parts if (out := convex_set.distance_out(norm, point)) is not None]
        return min(result, default=None)


def inner_point(
    guards: Sequence[Constraint], integers: frozenset[int] = frozenset(), branches: int = 0
) -> Point | None:
    """Return an input that satisfies `guards`, strict ones strictly, or None if there is none.

    `integers` are the slots of ints. The input has a value for every slot that a guard mentions. Raises Undecided past
    a limit. With integers, the limit is the number `branches` of cases in branch and bound.
    """
    system = [guard.guard for guard in guards]
    used = frozenset(slot for item in system for slot, _ in item.coefficients)
    if integers & used:
        return linear_program.integer_solution(system, integers & used, branches)
    result = linear_program.solution(system)
    return None if isinstance(result, linear_program.Infeasible) else result


def _slot(variable: int) -> int:
    return variable if variable == ORIGIN else variable // 2
