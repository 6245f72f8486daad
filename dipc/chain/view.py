"""The chain as people look at it: what each state knows, and the events behind each transition probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.affine import Affine, affine_text, comparison_text
from dipc.chain.chain import Chain
from dipc.chain.event import AffineBound, components
from dipc.chain.state import Choice, ChoiceWeight, Comparison, Mark, State
from dipc.measure.event import Event
from dipc.noise.law import Law
from dipc.text.core import Branch, BranchComparison, show_value
from dipc.text.program import CoreProgram


@dataclass(frozen=True, slots=True)
class NoiseView:
    """A variable that holds noise, with the parameters it was drawn with; `rate` in multiples of eps."""

    name: str
    law: Law
    rate: Fraction
    mean: str


@dataclass(frozen=True, slots=True)
class StateView:
    """A state: `label` and `line` (of the text, from 1) of what is executed next, None when the program has exited.

    `values` are the assigned variables but for those that `noises` shows; `constraints` is what is known of the noises.
    """

    node: int
    label: int | None
    line: int | None
    statement: str
    values: tuple[tuple[str, str], ...]
    noises: tuple[NoiseView, ...]
    constraints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EdgeView:
    """A step: its probability is the product of the measures of `joint` over the product of those of `given`.

    Both are empty for a step that is `certain`, and where the inputs are left open. `outcome` says what was found or
    chosen, and is empty where nothing was. A choice has a `weight`: that is its probability.
    """

    source: int
    goal: int
    certain: bool
    outcome: str
    joint: tuple[Event, ...] = ()
    given: tuple[Event, ...] = ()
    weight: ChoiceWeight | None = None


@dataclass(frozen=True, slots=True)
class ChainView:
    """The states that the inputs can reach, in the order of their labels, and the steps between them."""

    states: tuple[StateView, ...]
    edges: tuple[EdgeView, ...]
    initial: int


def view(chain: Chain, inputs: Mapping[int, Fraction] | None = None) -> ChainView:
    """The chain at `inputs`, a value for every real and int input: comparisons of inputs are decided.

    Without `inputs` they are shown by name, and nothing is measured. A step that is impossible for another reason than
    a comparison of inputs alone stays, with an event of measure zero.
    """
    program = chain.flow.program
    leaving: dict[int, list[EdgeView]] = {}
    pending = [chain.initial]
    while pending:
        source = pending.pop()
        if source not in leaving:
            leaving[source] = _leaving(chain, source, inputs)
            pending.extend(edge.goal for edge in leaving[source])
    states = sorted(leaving, key=lambda node: (chain.states[node].label, node))
    return ChainView(
        tuple([_state(program, node, chain.states[node], inputs or {}) for node in states]),
        tuple([edge for source in states for edge in leaving[source]]),
        chain.initial,
    )


def _leaving(chain: Chain, source: int, inputs: Mapping[int, Fraction] | None) -> list[EdgeView]:
    """The steps from a state, but for those that the inputs exclude."""
    program = chain.flow.program
    found: list[EdgeView] = []
    for goal in sorted(chain.transitions.successors(source)):
        for edge in chain.transitions.edges(source, goal):
            match edge:
                case Comparison():
                    step = _comparison(program, chain.states[source], source, goal, edge, inputs)
                    if step is not None:
                        found.append(step)
                case Choice():
                    found.append(_choice(program, source, goal, edge))
                case _:
                    found.append(EdgeView(source, goal, True, ""))
    return found


def _comparison(
    program: CoreProgram, state: State, source: int, goal: int, edge: Comparison, inputs: Mapping[int, Fraction] | None
) -> EdgeView | None:
    """The step of a comparison's outcome, None when the inputs exclude it."""
    names = _names(program, state)
    outcome = comparison_text(edge.difference, edge.known[0].op.value, *names)
    if inputs is None:
        return EdgeView(source, goal, False, outcome)
    if not edge.difference.noises:
        holds = all(item.holds_at(inputs) for item in edge.known)
        return EdgeView(source, goal, True, outcome) if holds else None
    before = [AffineBound(item.form, None) for item in state.constraints.items]
    now = [AffineBound(item.form, None) for item in edge.known]
    touched = {noise for item in edge.known for noise, _ in item.form.noises}
    joint = [part for part in components(state.noises, [*before, *now]) if not touched.isdisjoint(part.members)]
    near = {noise for part in joint for noise in part.members}
    given = [part for part in components(state.noises, before) if near.issuperset(part.members)]
    return EdgeView(
        source,
        goal,
        False,
        outcome,
        tuple([part.event(inputs, {}) for part in joint]),
        tuple([part.event(inputs, {}) for part in given]),
    )


def _choice(program: CoreProgram, source: int, goal: int, edge: Choice) -> EdgeView:
    chosen = f"{program.slots[edge.slot].name} = {show_value(edge.value)}"
    return EdgeView(source, goal, False, chosen, weight=edge.weight)


def _state(program: CoreProgram, node: int, state: State, inputs: Mapping[int, Fraction]) -> StateView:
    noise_name, input_name = _names(program, state)

    def form_text(form: Affine) -> str:
        return affine_text(form.substituted(inputs), noise_name, input_name)

    values: list[tuple[str, str]] = []
    own = {noise.slot: Affine.noise(noise.id) for noise in state.noises}
    for slot, value in zip(program.slots, state.values, strict=True):
        if isinstance(value, Mark) or value == own.get(slot.index):
            continue
        values.append((slot.name, form_text(value) if isinstance(value, Affine) else show_value(value)))
    noises = [NoiseView(noise.shown, noise.law, noise.rate, form_text(noise.mean)) for noise in state.noises]
    exited = state.label == len(program.instructions)
    place = None if exited else program.source.excerpt(program.instructions[state.label].span)
    statement = "exit" if place is None else place.text[place.column - 1 : place.column - 1 + place.length]
    if not exited and isinstance(program.instructions[state.label], Branch | BranchComparison):
        statement = f"{'while' if state.label in program.loops else 'if'} {statement}"
    return StateView(
        node,
        None if exited else state.label,
        None if place is None else place.line,
        statement,
        tuple(values),
        tuple(noises),
        tuple(
            # The two halves of an equation read the same.
            dict.fromkeys(
                comparison_text(item.difference, item.op.value, noise_name, input_name)
                for item in (*state.guards.items, *state.constraints.items)
            )
        ),
    )


def _names(program: CoreProgram, state: State) -> tuple[Callable[[int], str], Callable[[int], str]]:
    shown = {noise.id: noise.shown for noise in state.noises}
    return shown.__getitem__, lambda slot: program.slots[slot].name
