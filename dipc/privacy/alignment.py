"""Alignment: for every pair of adjacent real inputs at once a bound of the privacy loss, by a shift of the noises.

With X = N - mean the noises are centered, and an exit is reached where some slacks a·X + s(u) are not negative, the
noises of one-sided laws among them. Moving from u to u + d changes the slacks by L·d. A constant shift t with
a·t + L·d >= 0 for each slack, and equal real outputs, maps the exit at u into the same exit at u + d, injectively, with
a density that is at most e^(Σ rate·|t|·eps) times smaller. Exits exclude each other, each gives one value of the finite
outputs, and its weight does not depend on u; so the greatest of the costs of all exits is a bound for the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.irredundant import irredundant
from dipc.chain.nonnegative import nonnegative
from dipc.chain.symbolic import is_symbolic
from dipc.exits.exits import exits
from dipc.exits.program import Program
from dipc.lang.core import IntType, NoiseFamily, Value
from dipc.linear.halfspace import Halfspace, equation, sorted_terms
from dipc.linear.integers import integer_minimum, integer_solution
from dipc.linear.program import Point
from dipc.linear.shifts import Ball, Shift, least_shift, worst_shift
from dipc.privacy.adjacency import Distance, Within

#: Integer moves that are looked at one by one.
MOST_MOVES = 2_000

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class AlignedExit:
    """One exit: `slacks` are not negative and `reals` are the real and int outputs (by slot) there, both over the
    centered noises (keys 0, 1, …), whose `rates` are given, and the inputs (keys from `first_input` on).

    `whole` are the integer noises. `state` says which finite outputs it gives.
    """

    state: ExitState
    rates: Mapping[int, Fraction]
    whole: frozenset[int]
    slacks: tuple[Halfspace, ...]
    reals: tuple[tuple[int, Halfspace], ...]
    first_input: int

    def changes(self) -> tuple[list[Halfspace], list[Halfspace]]:
        """What a shift must satisfy, over the noises and, in place of the inputs, their moves: not negative, and 0."""
        slacks = [Halfspace(item.coefficients, _ZERO) for item in self.slacks]
        return slacks, [Halfspace(form.coefficients, _ZERO) for _, form in self.reals]


@dataclass(frozen=True, slots=True)
class Costly:
    """The exit and the move with the greatest least cost; `shift` None if no shift does for it: the bound is infinite.
    Multipliers are those of `changes`, with the move put in."""

    exit: AlignedExit
    move: Point
    cost: Fraction | None
    shift: Shift | None


def aligned_exits(program: Program) -> tuple[AlignedExit, ...]:
    """All exits of a program whose inputs are real or int. Raises Undecided where these do not say it all."""
    core = program.core
    if not all(is_symbolic(core.slots[slot].type) for slot in core.inputs):
        raise OutsideFragment("alignment is about real and int inputs, and some inputs are finite")
    explored = exits(program.flow, program.choices, program.limits, {}, None, core.outputs)
    found = []
    for state in explored.states:
        if state.guards.items:
            raise OutsideFragment("some exits depend on comparisons of the inputs without noise")
        found.append(_aligned(program, state))
    return tuple(found)


def costliest(found: AlignedExit, within: Within, program: Program) -> Costly:
    """The worst move of the ball for one exit. Raises Undecided."""
    core = program.core
    keys = [found.first_input + at for at in range(len(core.inputs))]
    kinds = {isinstance(core.slots[slot].type, IntType) for slot in core.inputs}
    if len(kinds) == 2:
        raise OutsideFragment("alignment is about real or about int inputs, and some are real and others int")
    if kinds == {True}:
        return _over_integers(found, within, keys)
    slacks, equations = found.changes()
    # Integer noises do not meet real inputs: they stay where they are.
    rates = {key: rate for key, rate in found.rates.items() if key not in found.whole}
    slacks, equations = ([_without(item, found.whole) for item in part] for part in (slacks, equations))
    ball = Ball.LINF if within.distance is Distance.LINF else Ball.L1
    worst = worst_shift(rates, slacks, equations, keys, ball, within.radius)
    return Costly(found, worst.move, None if worst.found is None else worst.found.cost, worst.found)


def _over_integers(found: AlignedExit, within: Within, keys: Sequence[int]) -> Costly:
    """Every integer move of the ball, with integer shifts."""
    radius = floor(within.radius)
    if (2 * radius + 1) ** len(keys) > MOST_MOVES:
        raise LimitReached(None, f"there are more than {MOST_MOVES} integer moves to look at")
    worst = Costly(found, dict.fromkeys(keys, _ZERO), _ZERO, None)
    for values in product(range(-radius, radius + 1), repeat=len(keys)):
        apart = sum(map(abs, values)) if within.distance is not Distance.LINF else max(map(abs, values), default=0)
        if not 0 < apart <= within.radius:
            continue
        move = {key: Fraction(value) for key, value in zip(keys, values, strict=True)}
        cost = integer_cost(found, move)
        if cost is None:
            return Costly(found, move, None, None)
        assert worst.cost is not None
        if cost > worst.cost:
            worst = Costly(found, move, cost, None)
    return worst


def integer_cost(found: AlignedExit, move: Point) -> Fraction | None:
    """The least cost of a shift for this move whose `whole` parts are integers; None if there is none. Raises
    Undecided."""
    slacks, equations = ([moved(item, move) for item in part] for part in found.changes())
    if not found.whole:
        shift = least_shift(found.rates, slacks, equations)
        return None if shift is None else shift.cost
    system = [*slacks, *[half for item in equations for half in equation(item.coefficients, item.constant)]]
    size = {key: 1 + max(found.rates) + at for at, key in enumerate(sorted(found.rates))}
    system += [Halfspace(sorted_terms({key: sign, size[key]: _ONE}), _ZERO) for key in size for sign in (_ONE, -_ONE)]
    if integer_solution(system, found.whole) is None:
        return None
    cost = Halfspace(sorted_terms({size[key]: rate for key, rate in found.rates.items()}), _ZERO)
    least = integer_minimum(cost, system, found.whole)
    assert least is not None
    return least[0]


def moved(item: Halfspace, move: Point) -> Halfspace:
    """The half-space with numbers for some of its unknowns."""
    constant = item.constant + sum((c * move[key] for key, c in item.coefficients if key in move), _ZERO)
    return Halfspace(tuple([(key, c) for key, c in item.coefficients if key not in move]), constant)


def _without(item: Halfspace, keys: frozenset[int]) -> Halfspace:
    return Halfspace(tuple([(key, c) for key, c in item.coefficients if key not in keys]), item.constant, item.strict)


def _aligned(program: Program, state: ExitState) -> AlignedExit:
    core = program.core
    place = {noise.id: at for at, noise in enumerate(state.noises)}
    first = len(place)
    at_input = {slot: first + at for at, slot in enumerate(core.inputs)}
    means = {noise.id: noise.mean for noise in state.noises}

    def centered(form: Affine) -> Halfspace:
        """A form over the noises as one over the centered noises and the inputs."""
        terms: dict[int, Fraction] = {}
        constant = form.constant
        for slot, c in form.inputs:
            terms[at_input[slot]] = terms.get(at_input[slot], _ZERO) + c
        for noise, c in form.noises:
            terms[place[noise]] = c
            constant += c * means[noise].constant
            for slot, more in means[noise].inputs:
                terms[at_input[slot]] = terms.get(at_input[slot], _ZERO) + c * more
        return Halfspace(sorted_terms(terms), constant)

    supports = nonnegative(state.noises)
    items = irredundant(state.constraints.items, supports.items)
    slacks = [centered(item.form) for item in (*items, *supports.items)]
    reals: list[tuple[int, Halfspace]] = []
    for slot in core.outputs:
        value: Value | Affine | None = state.outputs[slot]
        if isinstance(value, Affine):
            reals.append((slot, centered(value)))
    return AlignedExit(
        state,
        {place[noise.id]: noise.rate for noise in state.noises},
        frozenset(place[noise.id] for noise in state.noises if noise.family is NoiseFamily.DISCRETE_LAPLACE),
        tuple(slacks),
        tuple(reals),
        first,
    )
