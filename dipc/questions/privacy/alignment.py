"""Alignment: bounds of the privacy loss for every pair of adjacent real inputs at once, by shifts of the noises.

**Exits** over centered noises and inputs are as few as can be united. They exclude each other, so that an output is as
likely in a union of exits that draw noises of the same laws, after choices that are as likely, as in all of these
together. The fewer inequalities bound an exit, the less has to be moved.

**One exit.** With X = N - mean the noises are centered, and an exit is reached where some slacks a·X + s(u) are not
negative, the noises of one-sided laws among them. Moving from u to u + d changes the slacks by L·d. A constant shift t
with a·t + L·d >= 0 for each slack, and equal real outputs, maps the exit at u into the same exit at u + d, injectively,
with a density that is at most e^(Σ rate·|t|·eps) times smaller. Exits exclude each other, each gives one value of the
finite outputs, and its weight does not depend on u; so the greatest of the costs of all exits is a bound for the
program.

**A pivot** is one noise that moves by as much as the others decide, for all exits with one output at once. Where an
output is split over exits that cannot be united (the gap to the largest of the others, which may be any of them), no
constant shift need be cheap. Let x be one noise, y all others, and let E be exits that give the same finite outputs,
after choices that are as likely. E_y is what such an exit says of y and the inputs alone. Let t(y, u, d) be affine for
each two of them, and suppose that for each u and each move d of the ball, except for noises of probability 0,

- no y is in E_y of two exits at u;
- what is in E at u has its y in F_y at u + d for some F of the exits;
- what is in E at u and has its y in F_y at u + d is in F at u + d with x + t for x, and has the same real outputs.

Then (x, y) -> (x + t, y) maps what gives an output at u into what gives it at u + d. It is injective and keeps volumes,
because t does not depend on x and y alone says which t it is. So the loss is at most rate·eps times the largest |t|: a
linear program for each two exits, with the move among its unknowns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import floor
from typing import assert_never

from dipc.algebra.exppoly import Closed, ClosedForm
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.chain.chain import ExitState
from dipc.chain.state import Affine, centered, irredundant, nonnegative
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, convex_union, equation, is_covered, sorted_terms
from dipc.linear.program import Least, Point, integer_minimum, integer_solution, minimum
from dipc.linear.shifts import MoveNorm, Shift, least_shift, worst_shift
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Within
from dipc.text.core import IntType, Value

#: Why there are no bounds.
COMPARED_WITHOUT_NOISE = "the program compares inputs without noise"

_ZERO, _ONE = Fraction(0), Fraction(1)


@frozen
class AlignedExit:
    """One exit: `slacks` are not negative and `reals` are the real and int outputs (by slot) there, both over the
    centered noises (keys 0, 1, …), whose `rates` are given, and the inputs (keys from `first_input` on).

    `whole` are the integer noises. `state` says which finite outputs it gives; exits with the same `likeness` give the
    same ones, and draw noises of the same laws after choices that are as likely.
    """

    state: ExitState
    rates: Mapping[int, Fraction]
    whole: frozenset[int]
    slacks: tuple[Halfspace, ...]
    reals: tuple[tuple[int, Halfspace], ...]
    first_input: int
    likeness: Hashable

    def changes(self, onto: AlignedExit | None = None) -> tuple[list[Halfspace], list[Halfspace]]:
        """What a shift into the exit `onto` (this one, if there is none) must satisfy, over the noises and, in place of
        the inputs, their moves: not negative, and 0. The other exit `corresponds` to this one."""
        other = self if onto is None else onto
        slacks = [
            Halfspace(one.coefficients, two.constant - one.constant)
            for one, two in zip(self.slacks, other.slacks, strict=True)
        ]
        reals = [
            Halfspace(one.coefficients, two.constant - one.constant)
            for (_, one), (_, two) in zip(self.reals, other.reals, strict=True)
        ]
        return slacks, reals

    @property
    def is_guarded(self) -> bool:
        """Whether it depends on comparisons of the inputs without noise."""
        return any(item.coefficients[0][0] >= self.first_input for item in self.slacks)

    def at(self, point: Mapping[int, Fraction]) -> AlignedExit | None:
        """The exit at inputs, by their keys; None where a comparison without noise comes out otherwise there."""
        slacks = []
        for item in self.slacks:
            value = item.with_values(point)
            if value.coefficients:
                slacks.append(value)
            elif value.constant < 0 or (item.strict and not value.constant):
                return None
        return replace(
            self, slacks=tuple(slacks), reals=tuple([(slot, form.with_values(point)) for slot, form in self.reals])
        )

    def corresponds(self, other: AlignedExit) -> bool:
        """Whether another exit gives the same finite outputs as likely after the choices, by the same inequalities and
        real outputs except for their constants: a shift may lead from one into the other."""
        return self.likeness == other.likeness and _shape(self) == _shape(other)


def _shape(aligned: AlignedExit) -> Hashable:
    slacks = tuple([(item.coefficients, item.strict) for item in aligned.slacks])
    return slacks, tuple([(slot, form.coefficients) for slot, form in aligned.reals]), aligned.first_input


def onto_others(
    ones: Sequence[AlignedExit], others: Sequence[AlignedExit]
) -> Iterator[tuple[AlignedExit, AlignedExit]]:
    """Each exit with one that it corresponds to, the same if it is there, no two with the same. Raises OutsideFragment
    where there are none left."""
    left = list(others)
    for one in ones:
        fitting = [other for other in left if one.corresponds(other)]
        if not fitting:
            raise OutsideFragment(
                "no shift of the noise turns an answer at one input into the same answer at the adjacent input"
            )
        aligned = next((other for other in fitting if other.state is one.state), fitting[0])
        left.remove(aligned)
        yield one, aligned


def aligned_exits(
    program: Program, finite: Mapping[int, Value] | None = None, *, guarded: bool = False
) -> tuple[AlignedExit, ...]:
    """All exits of a program for values of its finite inputs, by slot, as few as can be united; real and int inputs are
    left open. Raises Undecided where these do not say it all, as comparisons of the inputs without noise may, too,
    unless exits may be `guarded` by them."""
    core = program.core
    given = {} if finite is None else finite
    if not all(core.slots[slot].is_symbolic or slot in given for slot in core.inputs):
        raise OutsideFragment(
            "proofs for all inputs are about real and int inputs, but some inputs are finite: leave out `--inputs all`"
        )
    explored = program.exits(given)
    by_likeness: dict[Hashable, list[AlignedExit]] = {}
    for state in explored.states:
        each = _aligned(program, state, explored.weights.get(state.node))
        by_likeness.setdefault((each.likeness, each.reals), []).append(each)
    few = [each for alike in by_likeness.values() for each in _as_few(alike, program)]
    if not guarded and any(each.is_guarded for each in few):
        raise OutsideFragment(COMPARED_WITHOUT_NOISE)
    return tuple(few)


class Emptiness:
    """Which inequalities of noises and inputs have no solution, except for noises that have probability 0 whatever the
    inputs are.

    A boundary is left out where a continuous noise is part of it: with all the others and the inputs given, it is one
    value of this noise. `asked` counts the questions.
    """

    def __init__(self, program: Program, like: AlignedExit) -> None:
        """For noises and inputs by their keys in an exit; other keys are for real numbers."""
        slots = program.core.input_slots
        integers = {
            like.first_input + position for position, slot in enumerate(slots) if isinstance(slot.type, IntType)
        }
        self.asked = 0
        self._limits = program.limits
        self._continuous = like.rates.keys() - like.whole
        self._whole = like.whole | integers

    def __call__(self, system: Sequence[Halfspace]) -> bool:
        """Raises LimitReached past as many questions as there may be cells, NotConfirmed."""
        self.asked += 1
        if self.asked > self._limits.cells:
            raise LimitReached(
                "cells", f"uniting the paths to an answer takes more than {self._limits.cells} questions"
            )
        opened = [
            Halfspace(
                item.coefficients,
                item.constant,
                item.strict or any(k in self._continuous for k, _ in item.coefficients),
            )
            for item in system
        ]
        return integer_solution(opened, self._whole, self._limits.branches) is None


def _as_few(alike: Sequence[AlignedExit], program: Program) -> Sequence[AlignedExit]:
    """The exits with the same outputs that are left when two at a time are united for as long as that can be done, past
    a limit all that there are.

    They are about the same noises, by their order; exits that do not exclude each other as sets of these, because
    choices come first, stay apart.
    """
    if len(alike) < 2:
        return alike
    is_empty = Emptiness(program, alike[0])
    apart: list[AlignedExit] = []
    waiting = list(alike)
    try:
        while waiting:
            one = waiting.pop(0)
            for place, other in enumerate(apart):
                slacks = (
                    convex_union([other.slacks, one.slacks], is_empty)
                    if is_empty([*other.slacks, *one.slacks])
                    else None
                )
                if slacks is not None:
                    waiting.insert(0, replace(other, slacks=slacks))
                    del apart[place]
                    break
            else:
                apart.append(one)
    except LimitReached:
        return alike
    return apart


def _aligned(program: Program, state: ExitState, weight: Closed | None) -> AlignedExit:
    core = program.core
    place = {noise.id: position for position, noise in enumerate(state.noises)}
    first = len(place)
    at_input = {slot: first + position for position, slot in enumerate(core.inputs)}
    means = {noise.id: noise.mean for noise in state.noises}

    def halfspace(form: Affine) -> Halfspace:
        """A form over the noises as one over the centered noises and the inputs."""
        over = centered(form, means)
        terms = [*[(place[noise], c) for noise, c in over.noises], *[(at_input[slot], c) for slot, c in over.inputs]]
        return Halfspace(tuple(sorted(terms)), over.constant)

    supports = nonnegative(state.noises)
    items = irredundant(state.constraints.items, supports.items)
    slacks = [halfspace(item.form) for item in (*items, *supports.items)]
    slacks += [replace(halfspace(item.form), strict=item.strict) for item in state.guards.items]
    reals: list[tuple[int, Halfspace]] = []
    for slot in core.outputs:
        value: Value | Affine | None = state.outputs[slot]
        if isinstance(value, Affine):
            reals.append((slot, halfspace(value)))
    return AlignedExit(
        state,
        {place[noise.id]: noise.law.shift_cost(noise.rate) for noise in state.noises},
        frozenset(place[noise.id] for noise in state.noises if noise.law.whole),
        tuple(slacks),
        tuple(reals),
        first,
        (
            tuple([slot for slot, _ in reals]),
            tuple([None if isinstance(value, Affine) else value for value in state.outputs.values()]),
            tuple([(noise.law, noise.rate) for noise in state.noises]),
            None if weight is None else ClosedForm(weight),
        ),
    )


@frozen
class Costly:
    """The exit and the move with the greatest least cost; `shift` None if no shift does for it: the bound is infinite.
    Multipliers are those of `changes`, with the move put in."""

    exit: AlignedExit
    move: Point
    cost: Fraction | None
    shift: Shift | None


def costliest(aligned: AlignedExit, within: Within, program: Program) -> Costly:
    """The worst move of the ball for one exit. Raises Undecided."""
    places = range(len(program.core.inputs))
    if any(isinstance(slot.type, IntType) for slot in program.core.input_slots):
        return costliest_into(aligned, aligned, within, places, program)
    keys = [aligned.first_input + position for position in places]
    slacks, equations = aligned.changes()
    # Integer noises do not meet real inputs: they stay where they are.
    rates = {key: rate for key, rate in aligned.rates.items() if key not in aligned.whole}
    still = dict.fromkeys(aligned.whole, _ZERO)
    slacks, equations = ([item.with_values(still) for item in halves] for halves in (slacks, equations))
    move, worst = worst_shift(rates, slacks, equations, keys, ball_of(within), within.radius, program.limits.vertices)
    return Costly(aligned, move, None if worst is None else worst.cost, worst)


def ball_of(within: Within) -> MoveNorm:
    """The moves of real inputs."""
    return MoveNorm.LINF if within.distance is Distance.LINF else MoveNorm.L1


def costliest_into(
    aligned: AlignedExit, onto: AlignedExit, within: Within | None, places: Sequence[int], program: Program
) -> Costly:
    """The worst move, of the ball, of the real and int inputs at these places for shifts into an exit that `aligned`
    corresponds to (itself, or one at other values of the finite inputs); None: they stay. For one move of the ints the
    least cost is convex in that of the reals, so that vertices are enough. Shifts of integer noises are integers.
    Raises Undecided."""
    core = program.core
    keys = [aligned.first_input + position for position in places]
    types = [core.slots[core.inputs[position]].type for position in places]
    integers = [key for type_, key in zip(types, keys, strict=True) if isinstance(type_, IntType)]
    worst = Costly(aligned, dict.fromkeys(keys, _ZERO), _ZERO, None)
    moves = () if within is None else _moves(within, keys, integers, program.limits)
    for move in (dict.fromkeys(keys, _ZERO), *moves):
        cost = integer_cost(aligned, move, program.limits, onto)
        if cost is None:
            return Costly(aligned, move, None, None)
        assert worst.cost is not None
        if cost > worst.cost:
            worst = Costly(aligned, move, cost, None)
    return worst


def _moves(within: Within, keys: Sequence[int], integers: Sequence[int], limits: Limits) -> Iterator[Point]:
    """Moves of the ball of which the least cost is greatest at one."""
    box = within.distance is Distance.LINF
    radius, reals = floor(within.radius), [key for key in keys if key not in integers]
    count = (2 * radius + 1) ** len(integers) * ((1 << len(reals)) if box else max(1, 2 * len(reals)))
    if count > limits.moves:
        raise LimitReached("moves", f"there are {count} extreme moves of the inputs to look at")
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


def integer_cost(aligned: AlignedExit, move: Point, limits: Limits, onto: AlignedExit | None = None) -> Fraction | None:
    """The least cost of a shift for this move, into the exit `onto` where finite inputs differ, whose `whole` parts are
    integers; None if there is none. Raises Undecided."""
    slacks, equations = ([item.with_values(move) for item in halves] for halves in aligned.changes(onto))
    if not aligned.whole:
        shift = least_shift(aligned.rates, slacks, equations)
        return None if shift is None else shift.cost
    system = [*slacks, *[half for item in equations for half in equation(item.coefficients, item.constant)]]
    size = {key: 1 + max(aligned.rates) + position for position, key in enumerate(sorted(aligned.rates))}
    system += absolute_value_bounds(size)
    if integer_solution(system, aligned.whole, limits.branches) is None:
        return None
    cost = Halfspace(sorted_terms({size[key]: rate for key, rate in aligned.rates.items()}), _ZERO)
    least = integer_minimum(cost, system, aligned.whole, limits.branches)
    assert least is not None
    return least[0]


def pivot_cost(exits: Sequence[AlignedExit], count: int, within: Within, is_empty: Emptiness) -> Fraction | None:
    """The least bound of the loss, in multiples of eps, over all continuous noises as the pivot; None where none will
    do. The exits have one likeness and `count` real inputs. Raises LimitReached, NotConfirmed."""
    first = exits[0].first_input + count
    balls = convex_moves(within, range(first, first + count))
    if balls is None:
        return None
    costs = []
    for key, rate in exits[0].rates.items():
        if key not in exits[0].whole:
            pivot = _Pivot(key, exits[0].first_input, count)
            farthest = [pivot.farthest(exits, ball, is_empty) for ball in balls]
            known = [far for far in farthest if far is not None]
            if len(known) == len(balls):
                costs.append(rate * max(known))
    return min(costs, default=None)


@frozen
class _Pivot:
    """The noise `key`. The moves of the `count` inputs have keys of their own, after those of the inputs."""

    key: int
    first_input: int
    count: int

    def farthest(
        self, exits: Sequence[AlignedExit], within: Sequence[Halfspace], is_empty: Emptiness
    ) -> Fraction | None:
        """The largest |t| for moves `within` these; None where one of the conditions is not met."""
        others = [[item for item in each.slacks if not item.coefficient(self.key)] for each in exits]
        if not all(is_empty([*one, *two]) for one, two in combinations(others, 2)):
            return None
        moved = [[self._moved(item) for item in system] for system in others]
        largest = _ZERO
        for one in exits:
            here = [*one.slacks, *within]
            if not is_covered(here, moved, is_empty):
                return None
            for two, there in zip(exits, moved, strict=True):
                if is_empty([*here, *there]):
                    continue
                far = self._farthest(one, two, [*here, *there])
                if far is None:
                    return None
                largest = max(largest, far)
        return largest

    def _farthest(self, one: AlignedExit, two: AlignedExit, system: Sequence[Halfspace]) -> Fraction | None:
        """The largest |t| that leads from one exit to another on the system."""
        t = self._shift(one, two)
        if t is None:
            return None
        for (_, here), (_, there) in zip(one.reals, two.reals, strict=True):
            change = _plus(self._shifted(there, t), here, -_ONE)
            if change.coefficients or change.constant:
                return None
        closed = [item.closure() for item in system]
        for item in two.slacks:
            if item.coefficient(self.key):
                room = minimum(self._shifted(item, t), closed)
                if not isinstance(room, Least) or room.value < 0:
                    return None
        ends = [minimum(form, closed) for form in (t, _plus(t, t, Fraction(-2)))]
        values = [-end.value for end in ends if isinstance(end, Least)]
        return max(values) if len(values) == len(ends) else None

    def _shift(self, one: AlignedExit, two: AlignedExit) -> Halfspace | None:
        """The t for which a real output stays the same, or else, where the pivot is compared once, the slack left
        there; None where there is no such t."""
        outputs = [[form for _, form in each.reals if form.coefficient(self.key)] for each in (one, two)]
        compared = [[item for item in each.slacks if item.coefficient(self.key)] for each in (one, two)]
        if all(outputs):
            here, there = outputs[0][0], outputs[1][0]
        elif all(len(items) == 1 for items in compared):
            here, there = compared[0][0], compared[1][0]
        else:
            return None
        c = there.coefficient(self.key)
        if not c or here.coefficient(self.key) != c:
            return None
        difference = _plus(here, self._moved(there), -_ONE)
        return Halfspace(tuple([(key, slope / c) for key, slope in difference.coefficients]), difference.constant / c)

    def _moved(self, item: Halfspace) -> Halfspace:
        """The inequality at u + d."""
        inputs = range(self.first_input, self.first_input + self.count)
        moves = {key + self.count: c for key, c in item.coefficients if key in inputs}
        return Halfspace(sorted_terms({**dict(item.coefficients), **moves}), item.constant, item.strict)

    def _shifted(self, item: Halfspace, t: Halfspace) -> Halfspace:
        """The inequality at u + d, with x + t in place of x."""
        return _plus(self._moved(item), t, item.coefficient(self.key))


def _plus(one: Halfspace, two: Halfspace, factor: Fraction) -> Halfspace:
    """The form of one plus a multiple of that of the other."""
    terms = dict(one.coefficients)
    for key, c in two.coefficients:
        terms[key] = terms.get(key, _ZERO) + factor * c
    return Halfspace(sorted_terms(terms), one.constant + factor * two.constant)


def convex_moves(within: Within, moves: range) -> list[list[Halfspace]] | None:
    """Convex sets of moves that together are all that lead to adjacent inputs; None for several moves by anything.
    Those of L1 are said by numbers, after the moves, that are at least as large as each of these."""
    signs, radius = (_ONE, -_ONE), within.radius
    match within.distance:
        case Distance.HAMMING if radius != 1:
            return None
        case Distance.HAMMING:
            still = {key: [Halfspace(((key, sign),), _ZERO) for sign in signs] for key in moves}
            return [[half for key in moves if key != one for half in still[key]] for one in moves]
        case Distance.LINF:
            return [[Halfspace(((key, sign),), radius) for key in moves for sign in signs]]
        case Distance.L1:
            pass
        case _:
            assert_never(within.distance)
    sizes = [key + len(moves) for key in moves]
    return [
        [
            *absolute_value_bounds(dict(zip(moves, sizes, strict=True))),
            Halfspace(tuple([(size, -_ONE) for size in sizes]), radius),
        ]
    ]
