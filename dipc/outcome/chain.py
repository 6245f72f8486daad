"""The chain of a program with its transition probabilities: quotients of measures, reduced exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.above import above
from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed, Quotient, product, simplest
from dipc.chain.explore import explore
from dipc.chain.view import ChainView, EdgeView, NoiseView, StateView, view
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.outcome.outcome import GAP, Line, Outcome, Part, Standing, Tone
from dipc.outcome.text import GLUE
from dipc.outcome.words import assignment_text, count, shown
from dipc.program.program import Program
from dipc.program.weights import Weights
from dipc.text.core import Value


@dataclass(frozen=True, slots=True)
class Transition:
    """A step of the chain; `probability` is exact, or None where the inputs are open or, with a `reason`, where no
    exact value was reached. `certain` steps have probability 1."""

    source: int
    goal: int
    outcome: str
    certain: bool
    probability: ClosedForm | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Dtmc:
    """The states, numbered from 0 in the order of execution with the initial one first, and the steps from each."""

    states: tuple[StateView, ...]
    steps: tuple[tuple[Transition, ...], ...]

    @property
    def step_count(self) -> int:
        return sum(len(steps) for steps in self.steps)

    def _repr_html_(self) -> str:
        found: str = above("shown").chain_html(self)
        return found


def chain_at(
    program: Program, inputs: Mapping[str, Value] | None, wanted: Mapping[str, Value], finite: Mapping[str, Value]
) -> Dtmc:
    """The chain of a program at these real and int `inputs`, None to leave them open, and these `finite` ones, cut
    where it cannot come to the `wanted` outputs."""
    core, weights = program.core, program.choices.weights
    slot_of = {core.slots[slot].name: slot for slot in (*core.inputs, *core.outputs)}
    chain = explore(
        program.flow,
        {slot_of[name]: value for name, value in finite.items()},
        {slot_of[name]: value for name, value in wanted.items()} or None,
        display=True,
        possible=weights.possible,
    )
    reals = None
    if inputs is not None:
        reals = {slot_of[name]: value for name, value in inputs.items() if isinstance(value, Fraction)}
    return build(view(chain, reals), weights, program.measurer, core.only_at)


def build(
    shown: ChainView, weights: Weights, measurer: Measurer | None = None, only_at: Fraction | None = None
) -> Dtmc:
    """The chain with exact probabilities, of a program that is `only_at` an eps or of one that is not; `weights` are
    those of the program's choices.

    Steps of probability 0, and states that only they reach, are left out; from every state whose probabilities were all
    reached they sum to exactly 1."""
    measurer = measurer or Measurer()
    known: dict[Event, Closed] = {}
    leaving: dict[int, list[Transition]] = {state.node: [] for state in shown.states}
    for edge in shown.edges:
        step = _transition(edge, weights, measurer, known)
        if step.probability is not None:
            step = replace(step, probability=step.probability.standing_for(only_at))
        if step.probability is None or not step.probability.value.is_zero():
            leaving[edge.source].append(step)
    reached = _reachable(shown.initial, leaving)
    states = [state for state in shown.states if state.node in reached]
    states.sort(key=lambda state: state.node != shown.initial)
    number = {state.node: index for index, state in enumerate(states)}
    steps = tuple(
        tuple(
            Transition(
                number[step.source], number[step.goal], step.outcome, step.certain, step.probability, step.reason
            )
            for step in leaving[state.node]
        )
        for state in states
    )
    return Dtmc(tuple(states), steps)


def _transition(edge: EdgeView, weights: Weights, measurer: Measurer, known: dict[Event, Closed]) -> Transition:
    if edge.certain:
        one = ClosedForm(ExpPoly.one())
        return Transition(edge.source, edge.goal, edge.outcome, True, one)
    if not edge.joint and edge.weight is None:
        return Transition(edge.source, edge.goal, edge.outcome, False)
    try:
        probability = weights.closed(edge.weight) if edge.weight is not None else _conditional(edge, measurer, known)
    except Undecided as undecided:
        return Transition(edge.source, edge.goal, edge.outcome, False, None, undecided.reason)
    return Transition(edge.source, edge.goal, edge.outcome, False, ClosedForm(probability))


def _conditional(edge: EdgeView, measurer: Measurer, known: dict[Event, Closed]) -> Closed:
    """The probability of what a comparison finds, given what is known before."""
    joint = _product(edge.joint, measurer, known)
    given = _product(edge.given, measurer, known)
    # A state that inputs exclude has measure 0: nothing leads there, and nothing is conditioned on it.
    return ExpPoly.zero() if given.is_zero() else simplest(Quotient.of(joint).over_positive(Quotient.of(given)))


def _product(events: Sequence[Event], measurer: Measurer, known: dict[Event, Closed]) -> Closed:
    for event in events:
        if event not in known:
            known[event] = measurer.measure(event)
    return product(known[event] for event in events)


def _reachable(initial: int, leaving: dict[int, list[Transition]]) -> set[int]:
    reached = {initial}
    waiting = [initial]
    while waiting:
        for step in leaving[waiting.pop()]:
            if step.goal not in reached:
                reached.add(step.goal)
                waiting.append(step.goal)
    return reached


def noise_text(noise: NoiseView) -> str:
    """`rT ~ Lap(eps/2, 0)`."""
    return f"{noise.name} ~ {noise.law.written(noise.law.scale_text(noise.rate), noise.mean)}"


def lines_of(state: StateView) -> list[list[str]]:
    """What the state knows, as lines of parts: values (an input that is open is left out), noises, constraints."""
    values = {name: value for name, value in state.values if value != name}
    return [
        parts
        for parts in (
            [assignment_text(values)] if values else [],
            [noise_text(noise) for noise in state.noises],
            list(state.constraints),
        )
        if parts
    ]


def place_text(state: StateView) -> str:
    """What is executed next, and where it stands."""
    if state.line is None:
        return "exit"
    return f"line {state.line}: {' '.join(state.statement.split())}"


# --- the chain as text, as in the boxes of Figure 4 of the paper -----------------------------------


def outcome(dtmc: Dtmc, title: str, eps: Fraction | None = None) -> Outcome:
    """The chain of a program; with `eps` every probability also as a number there."""
    return Outcome(
        program=title,
        line=f"{title}: {count(len(dtmc.states), 'state')}, {count(dtmc.step_count, 'step')}",
        standing=Standing.HOLDS,
        parts=lambda: _parts(dtmc, eps),
        graph=lambda: dot_text(dtmc, title, eps),
        result=dtmc,
    )


def _parts(dtmc: Dtmc, eps: Fraction | None) -> Iterator[Part]:
    """All states in the order of execution."""
    for number, state in enumerate(dtmc.states):
        yield GAP
        yield Line(f"s{number}  {place_text(state)}", Tone.HEAD)
        for parts in lines_of(state):
            # Lines break between the noises and between the constraints, not within one.
            yield Line(", ".join(part.replace(" ", GLUE) if len(parts) > 1 else part for part in parts), indent=4)
        if state.line is not None and not dtmc.steps[number]:
            yield Line("cut: no wanted output can be reached from here", indent=4)
        for step in dtmc.steps[number]:
            yield _step(step, eps)


def _step(step: Transition, eps: Fraction | None) -> Line:
    parts = [f"-> s{step.goal}"]
    if step.outcome:
        parts.append(f"when {step.outcome}")
    text = " ".join(parts)
    if step.reason is not None:
        text += f", with a probability that was not reached: {step.reason}"
    elif step.probability is not None and not step.certain:
        text += f", with probability {step.probability}"
        if eps is not None:
            text += f" ={GLUE}{shown(*step.probability.at(eps))}"
    return Line(text, indent=4)


# --- the chain in the language of Graphviz ---------------------------------------------------------


def dot_text(dtmc: Dtmc, name: str, eps: Fraction | None = None) -> str:
    """A digraph with one box for each state; the labels hold what the text shows."""
    lines = [
        f"digraph {quoted([name], end='')} {{",
        '  node [shape=box, fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    for number, state in enumerate(dtmc.states):
        rows = [f"s{number}  {place_text(state)}"]
        rows += [", ".join(parts) for parts in lines_of(state)]
        shape = ", peripheries=2" if state.line is None else ""
        lines.append(f"  s{number} [label={quoted(rows)}{shape}];")
    for steps in dtmc.steps:
        lines.extend(f"  s{step.source} -> s{step.goal}{_label(step, eps)};" for step in steps)
    lines.append("}")
    return "\n".join(lines) + "\n"


def quoted(rows: Iterable[str], end: str = "\\l") -> str:
    """A DOT string: the rows, each closed by `end` (left-justified line breaks in a label)."""
    return '"' + "".join(_escaped(row) + end for row in rows) + '"'


def _escaped(text: str) -> str:
    flat = "".join(character if character.isprintable() else " " for character in text)
    return flat.replace("\\", "\\\\").replace('"', '\\"')


def _label(step: Transition, eps: Fraction | None) -> str:
    rows = [step.outcome] if step.outcome else []
    if step.reason is not None:
        rows.append("probability not reached")
    elif step.probability is not None and not step.certain:
        rows.append(str(step.probability))
        if eps is not None:
            rows.append(f"= {shown(*step.probability.at(eps))}")
    return f" [label={quoted(rows)}]" if rows else ""
