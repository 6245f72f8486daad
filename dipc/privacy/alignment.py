"""Alignment: for every pair of adjacent real inputs at once a bound of the privacy loss, by a shift of the noises.

With X = N - mean the noises are centered, and an exit is reached where some slacks a·X + s(u) are not negative, the
noises of one-sided laws among them. Moving from u to u + d changes the slacks by L·d. A constant shift t with
a·t + L·d >= 0 for each slack, and equal real outputs, maps the exit at u into the same exit at u + d, injectively, with
a density that is at most e^(Σ rate·|t|·eps) times smaller. Exits exclude each other, each gives one value of the finite
outputs, and its weight does not depend on u; so the greatest of the costs of all exits is a bound for the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress, product
from math import floor

from dipc.algebra.limits import LimitReached, Limits
from dipc.exits.program import Program
from dipc.lang.core import IntType
from dipc.linear.halfspace import Halfspace, equation, sorted_terms
from dipc.linear.integers import integer_minimum, integer_solution
from dipc.linear.program import Point
from dipc.linear.shifts import Ball, Shift, least_shift, worst_shift
from dipc.privacy.adjacency import Distance, Within
from dipc.privacy.aligned_exits import AlignedExit

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Costly:
    """The exit and the move with the greatest least cost; `shift` None if no shift does for it: the bound is infinite.
    Multipliers are those of `changes`, with the move put in."""

    exit: AlignedExit
    move: Point
    cost: Fraction | None
    shift: Shift | None


def costliest(found: AlignedExit, within: Within, program: Program) -> Costly:
    """The worst move of the ball for one exit. Raises Undecided."""
    core = program.core
    keys = [found.first_input + at for at in range(len(core.inputs))]
    whole = [isinstance(core.slots[slot].type, IntType) for slot in core.inputs]
    if any(whole):
        return _over_integers(found, within, keys, list(compress(keys, whole)), program.limits)
    slacks, equations = found.changes()
    # Integer noises do not meet real inputs: they stay where they are.
    rates = {key: rate for key, rate in found.rates.items() if key not in found.whole}
    slacks, equations = ([_without(item, found.whole) for item in part] for part in (slacks, equations))
    worst = worst_shift(rates, slacks, equations, keys, ball_of(within), within.radius, program.limits.vertices)
    return Costly(found, worst.move, None if worst.found is None else worst.found.cost, worst.found)


def ball_of(within: Within) -> Ball:
    """The moves of real inputs."""
    return Ball.LINF if within.distance is Distance.LINF else Ball.L1


def _over_integers(
    found: AlignedExit, within: Within, keys: Sequence[int], integers: Sequence[int], limits: Limits
) -> Costly:
    """Every move of the int inputs, and what is left of the ball for the real ones at its vertices: for one move of the
    former the least cost is convex in that of the latter. Shifts of integer noises are integers."""
    worst = Costly(found, dict.fromkeys(keys, _ZERO), _ZERO, None)
    for move in _moves(within, keys, integers, limits):
        cost = integer_cost(found, move, limits)
        if cost is None:
            return Costly(found, move, None, None)
        assert worst.cost is not None
        if cost > worst.cost:
            worst = Costly(found, move, cost, None)
    return worst


def _moves(within: Within, keys: Sequence[int], integers: Sequence[int], limits: Limits) -> Iterator[Point]:
    """Moves of the ball of which the least cost is greatest at one."""
    box = within.distance is Distance.LINF
    radius, reals = floor(within.radius), [key for key in keys if key not in integers]
    count = (2 * radius + 1) ** len(integers) * ((1 << len(reals)) if box else max(1, 2 * len(reals)))
    if count > limits.moves:
        raise LimitReached("moves", f"there are {count} moves of the inputs to look at")
    for values in product(range(-radius, radius + 1), repeat=len(integers)):
        apart = sum(map(abs, values))
        if not box and apart > within.radius:
            continue
        whole = dict(zip(integers, map(Fraction, values), strict=True))
        for rest in _vertices(within.radius if box else within.radius - apart, reals, box=box):
            move = {key: {**whole, **rest}.get(key, _ZERO) for key in keys}
            if any(move.values()):
                yield move


def _vertices(radius: Fraction, keys: Sequence[int], *, box: bool) -> Iterator[Point]:
    """The extreme moves of real inputs: of a box, or with a sum."""
    if not keys or not radius:
        yield {}
    elif box:
        for values in product((radius, -radius), repeat=len(keys)):
            yield dict(zip(keys, values, strict=True))
    else:
        for key, end in product(keys, (radius, -radius)):
            yield {key: end}


def integer_cost(found: AlignedExit, move: Point, limits: Limits, onto: AlignedExit | None = None) -> Fraction | None:
    """The least cost of a shift for this move, into the exit `onto` where finite inputs differ, whose `whole` parts are
    integers; None if there is none. Raises Undecided."""
    slacks, equations = ([moved(item, move) for item in part] for part in found.changes(onto))
    if not found.whole:
        shift = least_shift(found.rates, slacks, equations)
        return None if shift is None else shift.cost
    system = [*slacks, *[half for item in equations for half in equation(item.coefficients, item.constant)]]
    size = {key: 1 + max(found.rates) + at for at, key in enumerate(sorted(found.rates))}
    system += [Halfspace(sorted_terms({key: sign, size[key]: _ONE}), _ZERO) for key in size for sign in (_ONE, -_ONE)]
    if integer_solution(system, found.whole, limits.branches) is None:
        return None
    cost = Halfspace(sorted_terms({size[key]: rate for key, rate in found.rates.items()}), _ZERO)
    least = integer_minimum(cost, system, found.whole, limits.branches)
    assert least is not None
    return least[0]


def moved(item: Halfspace, move: Point) -> Halfspace:
    """The half-space with numbers for some of its unknowns."""
    constant = item.constant + sum((c * move[key] for key, c in item.coefficients if key in move), _ZERO)
    return Halfspace(tuple([(key, c) for key, c in item.coefficients if key not in move]), constant)


def _without(item: Halfspace, keys: frozenset[int]) -> Halfspace:
    return Halfspace(tuple([(key, c) for key, c in item.coefficients if key not in keys]), item.constant, item.strict)
