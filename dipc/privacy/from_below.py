"""Pairs of real inputs that may show that a bound by alignment cannot be made smaller.

For large eps the probability of an exit at u is of the order of e^(-E·eps), where E is the least cost of noises that
reach it. The duals of the worst shift bound E at u + d from below; a u at which the bound of E from above leaves
nothing over is found by a linear program. What comes of it is measured: nothing is believed of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed, fraction_of
from dipc.chain.affine import Affine
from dipc.exits.program import Program
from dipc.lang.core import IntType, Slot
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.privacy.aligned_exits import AlignedExit
from dipc.privacy.alignment import Costly
from dipc.privacy.laws import LawTable
from dipc.privacy.outcome import Texts
from dipc.privacy.pairs import Input, Pairs, texts
from dipc.privacy.pure import couples
from dipc.tables.cells import show_value

#: How wide the intervals of real outputs are.
_WIDTH = Fraction(1)

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The probabilities `first` and `second` of an output at an input and at an adjacent one; `balls` are the intervals
    that its real parts lie in."""

    input: Texts
    adjacent: Texts
    output: Texts
    balls: Mapping[str, tuple[Fraction, Fraction]]
    first: Closed
    second: Closed


def starting_pairs(program: Program, found: Costly) -> Iterator[tuple[Mapping[int, Fraction], Input, Input]]:
    """Pairs with the move of a costly exit, in both directions, each with noises and inputs by key."""
    keys = [found.exit.first_input + at for at in range(len(program.inputs))]
    for start in _starts(found):
        point = tuple([start.get(key, _ZERO) for key in keys])
        other = tuple([value + found.move.get(key, _ZERO) for key, value in zip(keys, point, strict=True)])
        if point != other:
            yield start, point, other
            yield start, other, point


def of_table(program: Program, table: LawTable, pairs: Pairs) -> Iterator[Candidate]:
    """All answers at the pairs, those with the same functions once. What is past a limit is left out."""
    for couple in couples(table, pairs):
        try:
            first, second = table.closed(couple.first), table.closed(couple.second)
        except Undecided:
            continue
        one, two = (texts(program, pairs.inputs[at]) for at in couple.pair)
        yield Candidate(one, two, table.texts(couple.answer), {}, first, second)


def _starts(found: Costly) -> Iterator[Mapping[int, Fraction]]:
    """Inputs, with the noises, from which to move."""
    yield {}
    yield {key: -value for key, value in found.move.items()}
    if found.shift is None:
        return
    here = found.exit
    fixed = here.whole
    rates = {key: rate for key, rate in here.rates.items() if key not in fixed}
    last = here.first_input + len(found.move)
    sizes = {key: last + at for at, key in enumerate([*rates, *found.move])}
    system = [Halfspace(item.coefficients, item.constant) for item in here.slacks]
    system += [
        Halfspace(sorted_terms({key: sign, at: _ONE}), _ZERO) for key, at in sizes.items() for sign in (_ONE, -_ONE)
    ]
    cost: dict[int, Fraction] = {sizes[key]: rate for key, rate in rates.items()}
    constant = _ZERO
    for weight, item in zip(found.shift.inequality_multipliers, here.slacks, strict=True):
        constant += weight * item.constant
        for key, c in item.coefficients:
            if key >= here.first_input:
                cost[key] = cost.get(key, _ZERO) + weight * c
    for weight, (_, form) in zip(found.shift.equation_multipliers, here.reals, strict=True):
        for key, c in form.coefficients:
            if key < here.first_input:
                cost[key] = cost.get(key, _ZERO) - weight * c
    small = Halfspace(sorted_terms({sizes[key]: _ONE for key in found.move}), _ZERO)
    try:
        best = minimum(Halfspace(sorted_terms(cost), constant), system, then=[small])
    except Undecided:
        return
    if isinstance(best, Least):
        yield best.point


def near_outputs(
    program: Program, here: AlignedExit, one: Input, two: Input, at: Mapping[int, Fraction]
) -> Iterator[Candidate]:
    """Intervals of the real and int outputs around those that an exit gives at these noises and inputs."""
    slots = program.core.slots
    finite: dict[str, str | None] = {
        slots[slot].name: show_value(value)
        for slot, value in here.state.outputs.items()
        if value is not None and not isinstance(value, Affine)
    }
    centers = {slots[slot].name: _center(slots[slot], form.value(_zeros(form, at))) for slot, form in here.reals}
    signs = dict(zip(centers, _signs(here, one, two), strict=True))
    for side in (-_WIDTH, _ZERO, _WIDTH):
        middles = {name: center + signs[name] * side for name, center in centers.items()}
        balls = {name: (middle - _WIDTH, middle + _WIDTH) for name, middle in middles.items()}
        output = {**finite, **{name: str(middle) for name, middle in middles.items()}}
        try:
            first, second = (program.probability(texts(program, point), output, _WIDTH).value for point in (one, two))
        except Undecided:
            continue
        if first != second and not fraction_of(first)[0].is_zero():
            yield Candidate(texts(program, one), texts(program, two), finite, balls, first, second)


def _signs(here: AlignedExit, one: Input, two: Input) -> list[int]:
    """For each real output 1, or -1 where the move to another input moves it the other way than the first one moved."""
    moved: list[Fraction] = []
    for _, form in here.reals:
        change = _ZERO
        for key, c in form.coefficients:
            if key >= here.first_input:
                first, second = one[key - here.first_input], two[key - here.first_input]
                assert isinstance(first, Fraction)
                assert isinstance(second, Fraction)
                change += c * (second - first)
        moved.append(change)
    first_moved = next((change for change in moved if change), _ONE)
    return [-1 if change * first_moved < 0 else 1 for change in moved]


def _center(slot: Slot, value: Fraction) -> Fraction:
    return Fraction(floor(value)) if isinstance(slot.type, IntType) else value


def _zeros(form: Halfspace, at: Mapping[int, Fraction]) -> dict[int, Fraction]:
    return {key: at.get(key, _ZERO) for key, _ in form.coefficients}
