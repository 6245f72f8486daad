"""States of the chain: a location, values, the noises drawn so far and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.constraints import NOTHING_KNOWN, Constraint, ConstraintSet, constraint_set
from dipc.lang.core import NoiseFamily, Value


class Mark(Enum):
    """What a slot holds when it holds no value."""

    UNASSIGNED = "unassigned"
    FORGOTTEN = "forgotten"
    """It may have a value, but no later instruction reads it and no one asks for it."""


SlotValue = Value | Affine | Mark


@dataclass(frozen=True, slots=True)
class NoiseVar:
    """One noise drawn on the way: an independent random variable X[id].

    `id` is the label of the instruction that drew it: no path draws twice at one label (reals and ints are not
    assigned in loops), so a noise has the same id on every path. X[id] includes the `mean`, which depends on inputs
    alone; when the mean that was asked for is random, the variable drawn is the sum of its random part and X[id].
    One-sided noise has the mean 0. `version` counts the draws of that variable in the text, None where there is only
    one; the noise is `apart` from the variable, and shown with another name, where that may hold something else.
    """

    id: int
    slot: int
    name: str
    version: int | None
    family: NoiseFamily
    rate: Fraction
    mean: Affine
    apart: bool = False

    @property
    def shown(self) -> str:
        name = self.name if self.version is None else f"{self.name}#{self.version}"
        return f"noise({name})" if self.apart else name


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A state of the chain; `label` is the instruction to execute next, len(instructions) when it has exited.

    `constraints` are about noises (and inputs), `guards` about inputs alone; `noises` increase by id. `fingerprint`, a
    hash of values and guards, is kept up to date step by step: hashing hundreds of slots anew would take too long.
    """

    label: int
    values: tuple[SlotValue, ...]
    noises: tuple[NoiseVar, ...]
    constraints: ConstraintSet
    guards: ConstraintSet
    fingerprint: int

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.label == other.label
            and self.agrees_with(other)
            and self.noises == other.noises
            and self.constraints == other.constraints
        )

    def __hash__(self) -> int:
        return hash((self.label, self.fingerprint, self.constraints.fingerprint))

    def agrees_with(self, other: State) -> bool:
        """Whether values and guards are the same."""
        return self.fingerprint == other.fingerprint and self.values == other.values and self.guards == other.guards

    def at(self, label: int) -> State:
        return State(label, self.values, self.noises, self.constraints, self.guards, self.fingerprint)

    def assign(self, slot: int, value: SlotValue, label: int) -> State:
        old = self.values[slot]
        if old is value:
            return self.at(label)
        values = (*self.values[:slot], value, *self.values[slot + 1 :])
        fingerprint = self.fingerprint ^ _slot_hash(slot, old) ^ _slot_hash(slot, value)
        return State(label, values, self.noises, self.constraints, self.guards, fingerprint)

    def draw(self, noise: NoiseVar, value: Affine, label: int) -> State:
        """The noise is drawn, and its slot becomes `value`."""
        drawn = self.assign(noise.slot, value, label)
        noises = (*self.noises, noise)
        return State(label, drawn.values, noises, self.constraints, self.guards, drawn.fingerprint)

    def assume(self, known: Constraint) -> State:
        if known.form.noises:
            constraints = self.constraints.add(known)
            return State(self.label, self.values, self.noises, constraints, self.guards, self.fingerprint)
        guards = self.guards.add(known)
        fingerprint = self.fingerprint ^ self.guards.fingerprint ^ guards.fingerprint
        return State(self.label, self.values, self.noises, self.constraints, guards, fingerprint)

    def without(self, dropped: Sequence[Constraint]) -> State:
        """The state without constraints that follow from the others."""
        constraints = constraint_set(item for item in self.constraints.items if item not in dropped)
        guards = constraint_set(item for item in self.guards.items if item not in dropped)
        fingerprint = self.fingerprint ^ self.guards.fingerprint ^ guards.fingerprint
        state = State(self.label, self.values, self.noises, constraints, guards, fingerprint)
        return state._without({noise for item in dropped for noise, _ in item.form.noises})

    def constrained_by(self, constraints: ConstraintSet, noises: Iterable[NoiseVar]) -> State:
        """The state with other constraints and noises; noises that nothing mentions are integrated out."""
        ordered = tuple(sorted(noises, key=lambda noise: noise.id))
        state = State(self.label, self.values, ordered, constraints, self.guards, self.fingerprint)
        return state._without({noise.id for noise in ordered})

    def guarded_by(self, guards: ConstraintSet) -> State:
        """The state with other guards."""
        fingerprint = self.fingerprint ^ self.guards.fingerprint ^ guards.fingerprint
        return State(self.label, self.values, self.noises, self.constraints, guards, fingerprint)

    def forget(self, slots: list[int]) -> State:
        """The slots lose their values; noises that nothing mentions any more are integrated out (measure 1)."""
        values = list(self.values)
        fingerprint = self.fingerprint
        loose: set[int] = set()
        for slot in slots:
            old = values[slot]
            if old is Mark.FORGOTTEN:
                continue
            values[slot] = Mark.FORGOTTEN
            fingerprint ^= _slot_hash(slot, old) ^ _slot_hash(slot, Mark.FORGOTTEN)
            if isinstance(old, Affine):
                loose.update([noise for noise, _ in old.noises])
        state = State(self.label, tuple(values), self.noises, self.constraints, self.guards, fingerprint)
        return state._without(loose)

    def _without(self, loose: set[int]) -> State:
        """The state without those of the noises `loose` that no constraint or value mentions."""
        if loose:
            loose = {noise for noise in loose if 2 * noise not in self.constraints.variables}
        if not loose:
            return self
        for value in self.values:
            if isinstance(value, Affine):
                loose.difference_update([noise for noise, _ in value.noises])
        noises = tuple([noise for noise in self.noises if noise.id not in loose])
        return State(self.label, self.values, noises, self.constraints, self.guards, self.fingerprint)


def initial_state(label: int, values: tuple[SlotValue, ...]) -> State:
    """A state in which nothing was drawn yet."""
    fingerprint = 0
    for slot, value in enumerate(values):
        fingerprint ^= _slot_hash(slot, value)
    return State(label, values, (), NOTHING_KNOWN, NOTHING_KNOWN, fingerprint)


def _slot_hash(slot: int, value: SlotValue) -> int:
    if type(value) is Fraction:
        # The hash of a fraction itself takes a modular inverse, and to ask what is an instance of its class is slow.
        return hash((slot, value.numerator, value.denominator))
    return hash((slot, id(value) if isinstance(value, Mark) else value))
