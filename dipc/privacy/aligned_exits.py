"""The exits of a program over centered noises and inputs, for arguments that move both: as few as can be united.

Exits exclude each other, so that an output is as likely in a union of exits that draw noises of the same laws, after
choices that are as likely, as in all of these together. The fewer inequalities bound an exit, the less has to be moved.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.quotient import Closed
from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.irredundant import irredundant
from dipc.chain.nonnegative import nonnegative
from dipc.chain.symbolic import is_symbolic
from dipc.exits.exits import exits
from dipc.exits.program import Program
from dipc.lang.core import IntType, NoiseFamily, Value
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.integers import integer_solution
from dipc.linear.union import united

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
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

    def corresponds(self, other: AlignedExit) -> bool:
        """Whether another exit gives the same finite outputs as likely after the choices, by the same inequalities and
        real outputs but for their constants: a shift may lead from one into the other."""
        return self.likeness == other.likeness and _shape(self) == _shape(other)


def _shape(found: AlignedExit) -> Hashable:
    slacks = tuple([(item.coefficients, item.strict) for item in found.slacks])
    return slacks, tuple([(slot, form.coefficients) for slot, form in found.reals]), found.first_input


def onto_others(
    ones: Sequence[AlignedExit], others: Sequence[AlignedExit]
) -> Iterator[tuple[AlignedExit, AlignedExit]]:
    """Each exit with another one that it corresponds to, no two with the same. Raises OutsideFragment where there are
    none left."""
    left = list(others)
    for one in ones:
        found = next((other for other in left if one.corresponds(other)), None)
        if found is None:
            raise OutsideFragment("finite inputs that differ lead to exits that no shift maps into each other")
        left.remove(found)
        yield one, found


def aligned_exits(program: Program, finite: Mapping[int, Value] | None = None) -> tuple[AlignedExit, ...]:
    """All exits of a program for values of its finite inputs, by slot, as few as can be united; real and int inputs are
    left open. Raises Undecided where these do not say it all."""
    core = program.core
    given = {} if finite is None else finite
    if not all(is_symbolic(core.slots[slot].type) or slot in given for slot in core.inputs):
        raise OutsideFragment("alignment is about real and int inputs, and some inputs are finite")
    explored = exits(program.flow, program.choices, program.limits, given, None, core.outputs)
    found: dict[Hashable, list[AlignedExit]] = {}
    for state in explored.states:
        each = _aligned(program, state, explored.weights.get(state.node))
        found.setdefault((each.likeness, each.reals), []).append(each)
    few = [each for alike in found.values() for each in _as_few(alike, program)]
    if any(item.coefficients[0][0] >= each.first_input for each in few for item in each.slacks):
        raise OutsideFragment("some exits depend on comparisons of the inputs without noise")
    return tuple(few)


class Emptiness:
    """Which inequalities of noises and inputs have no solution, but for noises that have probability 0 whatever the
    inputs are.

    A boundary is left out where a continuous noise is part of it: with all the others and the inputs given, it is one
    value of this noise. `asked` counts the questions.
    """

    def __init__(self, program: Program, like: AlignedExit) -> None:
        """For noises and inputs by their keys in an exit; other keys are for real numbers."""
        slots = [program.core.slots[slot] for slot in program.core.inputs]
        integers = {like.first_input + at for at, slot in enumerate(slots) if isinstance(slot.type, IntType)}
        self.asked = 0
        self._limits = program.limits
        self._continuous = like.rates.keys() - like.whole
        self._whole = like.whole | integers

    def __call__(self, system: Sequence[Halfspace]) -> bool:
        """Raises LimitReached past as many questions as there may be cells, NotConfirmed."""
        self.asked += 1
        if self.asked > self._limits.cells:
            raise LimitReached("cells", f"exits are united by more than {self._limits.cells} questions")
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
    found = list(alike)
    try:
        while (pair := _joined(found, is_empty)) is not None:
            first, second, slacks = pair
            found[first] = replace(found[first], slacks=slacks)
            del found[second]
    except LimitReached:
        return alike
    return found


def _joined(alike: Sequence[AlignedExit], is_empty: Emptiness) -> tuple[int, int, tuple[Halfspace, ...]] | None:
    """The places of two exits that are one, and its inequalities."""
    for (first, one), (second, two) in combinations(enumerate(alike), 2):
        if is_empty([*one.slacks, *two.slacks]):
            slacks = united([one.slacks, two.slacks], is_empty)
            if slacks is not None:
                return first, second, slacks
    return None


def _aligned(program: Program, state: ExitState, weight: Closed | None) -> AlignedExit:
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
    slacks += [replace(centered(item.form), strict=item.strict) for item in state.guards.items]
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
        (
            tuple([slot for slot, _ in reals]),
            tuple([None if isinstance(value, Affine) else value for value in state.outputs.values()]),
            tuple([(noise.family, noise.rate) for noise in state.noises]),
            None if weight is None else ClosedForm(weight),
        ),
    )
