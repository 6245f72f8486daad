"""States of the chain and its edges: a location, values, the noises drawn so far, what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from dipc.chain.constraints import (
    NOTHING_KNOWN,
    Affine,
    Constraint,
    ConstraintSet,
    combination,
    comparison_text,
    constraint,
    constraint_set,
)
from dipc.frozen import frozen
from dipc.noise.law import Law
from dipc.text.ast import CompareOp, Expr
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    import networkx as nx


# --- The codes of the diagnostics about running a program; a code, once given, keeps its meaning ----------------------


class Code(StrEnum):
    """E07xx: what goes wrong on some path."""

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
    NOT_AN_INTEGER = "E0705"
    ENDLESS_LOOP = "E0706"


# --- What goes wrong while a program runs, before the path that leads there is known ----------------------------------


class Fault(Exception):
    """A diagnostic in the making: whoever explores adds the path and raises `DiagnosticError`."""

    def __init__(self, code: Code, message: str, span: Span, label: str, *notes: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.label = label
        self.notes = notes

    def noting(self, *more: str) -> Fault:
        """The same with more notes."""
        return Fault(self.code, self.message, self.span, self.label, *self.notes, *more)

    def diagnosed(self, source: Source, *more: str) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(self.code, self.message, source.excerpt(self.span), self.label, (*self.notes, *more))
        )


# --- Which variables hold affine forms rather than values -------------------------------------------------------------


# --- States of the chain: a location, values, the noises drawn so far and what is known of them -----------------------


class Mark(Enum):
    """What a slot holds when it holds no value."""

    UNASSIGNED = "unassigned"
    FORGOTTEN = "forgotten"
    """It may have a value, but no later instruction reads it and no one asks for it."""


SlotValue = Value | Affine | Mark


@frozen
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
    law: Law
    rate: Fraction
    mean: Affine
    apart: bool = False

    @property
    def display_name(self) -> str:
        name = self.name if self.version is None else f"{self.name}#{self.version}"
        return f"noise({name})" if self.apart else name


@frozen(eq=False)
class State:
    """A state of the chain; `label` is the instruction to execute next, len(instructions) when it has exited.

    `constraints` are about noises (and inputs), `guards` about inputs alone; `noises` increase by id. `fingerprint`, a
    hash of values and guards, is kept up to date step by step: hashing hundreds of slots again would take too long.
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

    def forget(self, slots: int) -> State:
        """The slots lose their values; noises that nothing mentions any more are integrated out (measure 1)."""
        if not slots:
            return self
        values = list(self.values)
        fingerprint = self.fingerprint
        loose: set[int] = set()
        for slot in slots_in(slots):
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
        # From the last one on: what was drawn is held there. To ask what is an instance of a class is slow.
        for value in reversed(self.values):
            if type(value) is Affine and value.noises:
                loose.difference_update([noise for noise, _ in value.noises])
                if not loose:
                    return self
        noises = tuple([noise for noise in self.noises if noise.id not in loose])
        return State(self.label, self.values, noises, self.constraints, self.guards, self.fingerprint)


def slot_set(slots: Iterable[int]) -> int:
    """The slots as a set."""
    result = 0
    for slot in slots:
        result |= 1 << slot
    return result


def slots_in(members: int) -> Iterator[int]:
    """The slots of a set, increasing."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


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


# --- What one step of the chain does ----------------------------------------------------------------------------------


@frozen
class Deterministic:
    """The only step possible."""


@frozen
class Comparison:
    """One outcome of a comparison that the constraints leave open: `known` is added to them.

    The probability of the step is the measure of the state's constraints with `known`, divided by that without.
    `difference` `op` 0 is what held or, when not `holds`, failed. A comparison of inputs alone has probability 0 or 1.
    """

    known: tuple[Constraint, ...]
    difference: Affine
    op: CompareOp
    holds: bool
    at: int


@frozen
class ExponentialWeight:
    """exp(rate·eps·scores[index]) / Σ exp(rate·eps·score) over all `scores`."""

    rate: Fraction
    scores: tuple[Fraction, ...]
    index: int


@frozen
class ExpressionWeight:
    """The value of an expression of numbers, `eps`, `exp(q*eps)` and + - * / ^, as it stands at `span`."""

    expression: Expr
    span: Span


@frozen
class NoiseWeight:
    """Pr[low <= mean + N <= high] for noise N of the law with this rate (None: without end)."""

    law: Law
    rate: Fraction
    mean: Fraction
    low: Fraction | None
    high: Fraction | None

    @property
    def is_bounded(self) -> bool:
        """Whether it may be less than 1."""
        return self.low is not None or self.high is not None

    def __str__(self) -> str:
        ends = [f"at least {self.low}"] * (self.low is not None) + [f"at most {self.high}"] * (self.high is not None)
        return " and ".join(ends) or "anything"


ChoiceWeight = ExponentialWeight | ExpressionWeight | NoiseWeight


@frozen
class Choice:
    """`slot` becomes `value` by a choice that is independent of all noises and of all other choices.

    `weight` is the probability of the step: a description, which the chain does not compute. Where a choice lists a
    value twice, two steps lead to the same state.
    """

    slot: int
    value: Value
    weight: ChoiceWeight
    at: int


Edge = Deterministic | Comparison | Choice

DETERMINISTIC = Deterministic()


# --- What is known of noises before anything is compared: one-sided noise is never negative ---------------------------

_ONE = Fraction(1)


def nonnegative(noises: Iterable[NoiseVar]) -> ConstraintSet:
    """The supports of the noises: each that has a least value is at least that above its mean."""
    known = [
        constraint(combination([(_ONE, Affine.noise(noise.id)), (-_ONE, noise.mean)], -noise.law.least), CompareOp.GE)
        for noise in noises
        if noise.law.least is not None
    ]
    return constraint_set(known) if known else NOTHING_KNOWN


# --- The path that leads to a state, told by the comparisons and the choices taken ------------------------------------

_MOST_SHOWN = 8


def path_notes(
    program: CoreProgram,
    graph: nx.DiGraph[int],
    states: Mapping[int, State],
    start: int,
    node: int,
    dom_inputs: Mapping[int, Value],
) -> tuple[str, ...]:
    """Sentences that say how `node` is reached from `start`: the finite-domain inputs, then the events on one path."""
    import networkx as nx

    notes: list[str] = []
    if dom_inputs:
        named = [f"{program.slots[slot].name} = {show_value(value)}" for slot, value in dom_inputs.items()]
        notes.append("the inputs are " + ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else ""))
    taken: list[str] = []
    for before, after in pairwise(nx.shortest_path(graph, start, node)):
        edges: tuple[Edge, ...] = graph.edges[before, after]["edges"]
        if not isinstance(edges[0], Deterministic):
            taken.append(_decision(program, states[before], edges[0]))
    if taken:
        earlier = len(taken) - _MOST_SHOWN
        last = taken[max(0, earlier) :]
        where = f"on the path (after {earlier} earlier decisions) where " if earlier > 0 else "on the path where "
        notes.append(where + ", then ".join(last))
    return tuple(notes)


def _decision(program: CoreProgram, state: State, edge: Comparison | Choice) -> str:
    line = program.source.excerpt(program.instructions[edge.at].span).line
    if isinstance(edge, Choice) and isinstance(edge.weight, NoiseWeight):
        return f"`{program.slots[edge.slot].name}` is {edge.weight} (line {line})"
    if isinstance(edge, Choice):
        return f"`{program.slots[edge.slot].name}` becomes {show_value(edge.value)} (line {line})"
    names = {noise.id: noise.display_name for noise in state.noises}
    text = comparison_text(
        edge.difference,
        edge.op.value,
        names.__getitem__,
        lambda slot: program.slots[slot].name,
    )
    return f"`{text}` is {'true' if edge.holds else 'false'} (line {line})"
