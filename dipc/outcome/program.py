"""Views of a program: its chain with transition probabilities, its outputs at one input, and tables of its answers.

The transition probabilities are quotients of measures, reduced exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor

from dipc.above import above
from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, product, simplest, total
from dipc.algebra.limits import Undecided
from dipc.algebra.record import CONVERSIONS, Record, json_object
from dipc.chain.chain import Chain
from dipc.chain.event import ComponentTemplate, components
from dipc.chain.explore import explore
from dipc.chain.state import (
    Affine,
    Choice,
    Comparison,
    Edge,
    Mark,
    State,
    affine_text,
    centered,
    comparison_text,
    value_text,
)
from dipc.claims.table import CLAIM_COLUMNS, Row, Table
from dipc.frozen import frozen
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.outcome.formats import latex_assignment
from dipc.outcome.outcome import GLUE, ExitStatus, Line, Outcome, ReportBlock, ShownTable, Tone, section
from dipc.outcome.words import assignment_text, count, enclosed_text, rational
from dipc.program.exits import exits
from dipc.program.program import OutputProbability, Program, Progress
from dipc.program.weights import Weights
from dipc.text.ast import BaseType
from dipc.text.core import Branch, Value, show_value
from dipc.text.printer import language_text
from dipc.text.program import CoreProgram


@frozen
class StateView:
    """A state of a chain as text: `label` and `line` of the next instruction, None after the program has ended.

    `statement` is the text of the instruction, and lines count from 1. `values` are (name, value) of the assigned
    variables that hold no noise. `noises` are the noises drawn so far, such as `rT ~ Lap(eps/2, 0)`, and `constraints`
    the constraints on inputs and noises.
    """

    label: int | None
    line: int | None
    statement: str
    values: tuple[tuple[str, str], ...]
    noises: tuple[str, ...]
    constraints: tuple[str, ...]


@frozen
class Transition:
    """A step of the chain from the state `source` to the state `goal`, with its probability.

    `outcome` is the text of a comparison's outcome or of a chosen value, and empty for other steps. `probability` is
    exact, or None if the inputs are open or, with a `reason`, if no exact value was found. `certain` steps have
    probability 1.
    """

    source: int
    goal: int
    outcome: str = ""
    certain: bool = False
    probability: ClosedForm | None = None
    reason: str | None = None


@frozen
class Dtmc:
    """The Markov chain of a program: `states`, numbered from 0 in the order of execution, and the `steps` from each."""

    states: tuple[StateView, ...]
    steps: tuple[tuple[Transition, ...], ...]

    @property
    def step_count(self) -> int:
        return sum(len(steps) for steps in self.steps)

    def _repr_html_(self) -> str:
        text: str = above("shown").chain_html(self)
        return text


def chain_at(
    program: Program, inputs: Mapping[str, Value] | None, wanted: Mapping[str, Value], finite: Mapping[str, Value]
) -> Dtmc:
    """Return the chain of `program` at the real and int `inputs` (None to leave them open) and the `finite` inputs.

    Parts that cannot lead to the `wanted` outputs are cut.
    """
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
    return build(chain, reals, weights, program.measurer, core.only_at)


def build(
    chain: Chain,
    inputs: Mapping[int, Fraction] | None,
    weights: Weights,
    measurer: Measurer | None = None,
    only_at: Fraction | None = None,
) -> Dtmc:
    """Return `chain` at `inputs` with the exact probability of each step, as far as it is known.

    `inputs` has a value for every real and int input; if it is None, inputs are shown by name, and comparisons have no
    probability. `weights` are the weights of the program's choices, and `measurer` measures comparisons of noises (by
    default a new measurer). `only_at` is the single eps of the program, if it has one. Steps of probability 0, and
    states that only these steps reach, are left out. If all probabilities of the steps from a state are known, they sum
    to exactly 1.
    """
    program, measurer = chain.flow.program, measurer or Measurer()
    measures: dict[Event, Closed] = {}

    def measure(components_: Iterable[ComponentTemplate]) -> Closed:
        events = [component.event(inputs or {}) for component in components_]
        for event in events:
            if event not in measures:
                measures[event] = measurer.measure(event)
        return product(measures[event] for event in events)

    def probability(state: State, edge: Comparison | Choice) -> Closed:
        if isinstance(edge, Choice):
            return weights.closed(edge.weight)
        known, given = [item.form for item in edge.known], [item.form for item in state.constraints.items]
        touched = {noise for form in known for noise, _ in form.noises}
        joint = [each for each in components(state.noises, [*given, *known]) if not touched.isdisjoint(each.members)]
        near = {noise for component in joint for noise in component.members}
        both = measure(joint)
        before = measure(each for each in components(state.noises, given) if near.issuperset(each.members))
        # A state that inputs exclude has measure 0: nothing leads there, and nothing is conditioned on it.
        if before.is_zero():
            return ExpPoly.ZERO
        return simplest(Quotient.convert(both).divide_by_positive(Quotient.convert(before)))

    def transition(source: int, goal: int, edge: Edge) -> Transition | None:
        state, certain, text = chain.states[source], edge is None, ""
        match edge:
            case Choice():
                text = f"{program.slots[edge.slot].name} = {value_text(edge.value)}"
            case Comparison():
                text = comparison_text(edge.difference, edge.known[0].op.value, *_names(program, state))
                if inputs is None:
                    return Transition(source, goal, text, certain)
                if not edge.difference.noises:
                    certain = True
                    if not all(item.holds_at(inputs) for item in edge.known):
                        return None
        try:
            closed = ExpPoly.ONE if certain or edge is None else probability(state, edge)
        except Undecided as undecided:
            return Transition(source, goal, text, certain, reason=undecided.reason)
        return None if closed.is_zero() else Transition(source, goal, text, certain, ClosedForm(closed))

    steps: dict[int, list[Transition]] = {}
    pending = [chain.initial]
    while pending:
        source = pending.pop()
        if source not in steps:
            found = (
                transition(source, goal, edge)
                for goal in sorted(chain.transitions.successors(source))
                for edge in chain.transitions.edges(source, goal)
            )
            steps[source] = [step for step in found if step is not None]
            pending += [step.goal for step in steps[source]]
    states = sorted(steps, key=lambda node: (node != chain.initial, chain.states[node].label, node))
    number = {node: index for index, node in enumerate(states)}
    return Dtmc(
        tuple([_state(program, chain.states[node], inputs or {}) for node in states]),
        tuple(
            [
                tuple(
                    [
                        replace(
                            step,
                            source=number[node],
                            goal=number[step.goal],
                            probability=None if step.probability is None else step.probability.restricted_to(only_at),
                        )
                        for step in steps[node]
                    ]
                )
                for node in states
            ]
        ),
    )


def _state(program: CoreProgram, state: State, inputs: Mapping[int, Fraction]) -> StateView:
    names = _names(program, state)

    def form_text(form: Affine) -> str:
        return affine_text(form.substituted(inputs), *names)

    values: list[tuple[str, str]] = []
    unchanged = {noise.slot: Affine.noise(noise.id) for noise in state.noises}
    for slot, value in zip(program.slots, state.values, strict=True):
        if isinstance(value, Mark) or value == unchanged.get(slot.index):
            continue
        values.append((slot.name, form_text(value) if isinstance(value, Affine) else value_text(value)))
    noises = [f"{noise.display_name} ~ {noise.law.shown(noise.rate, form_text(noise.mean))}" for noise in state.noises]
    # The two halves of an equation read the same.
    constraints = dict.fromkeys(
        comparison_text(item.difference, item.op.value, *names)
        for item in (*state.guards.items, *state.constraints.items)
    )
    if state.label == len(program.instructions):
        return StateView(None, None, "exit", tuple(values), tuple(noises), tuple(constraints))
    excerpt = program.source.excerpt(program.instructions[state.label].span)
    statement = excerpt.text[excerpt.column - 1 : excerpt.column - 1 + excerpt.length]
    if isinstance(program.instructions[state.label], Branch):
        statement = f"{'while' if state.label in program.loops else 'if'} {statement}"
    return StateView(state.label, excerpt.line, statement, tuple(values), tuple(noises), tuple(constraints))


def _names(program: CoreProgram, state: State) -> tuple[Callable[[int], str], Callable[[int], str]]:
    names = {noise.id: noise.display_name for noise in state.noises}
    return names.__getitem__, lambda slot: program.slots[slot].name


def lines_of(state: StateView) -> list[list[str]]:
    """Return the contents of `state` as at most three lists of strings: its values, its noises and its constraints.

    Empty lists are left out. An input whose value is open is not among the values.
    """
    values = {name: value for name, value in state.values if value != name}
    return [
        line
        for line in (
            [assignment_text(values)] if values else [],
            list(state.noises),
            list(state.constraints),
        )
        if line
    ]


def place_text(state: StateView) -> str:
    """Return the text of the next statement of `state`, with its line."""
    if state.line is None:
        return "exit"
    return f"line {state.line}: {' '.join(state.statement.split())}"


# --- the chain as text, as in the boxes of Figure 4 of the paper -----------------------------------


def outcome(dtmc: Dtmc, title: str, eps: Fraction | None = None) -> Outcome:
    """Return the outcome that shows the chain `dtmc` under `title`.

    If `eps` is given, each probability is also shown with its value at this eps.
    """
    return Outcome(
        program=title,
        line=f"{title}: {count(len(dtmc.states), 'state')}, {count(dtmc.step_count, 'step')}",
        standing=ExitStatus.HOLDS,
        parts=lambda: _parts_of_chain(dtmc, eps),
        graph=lambda: dot_text(dtmc, title, eps),
        result=dtmc,
    )


def _parts_of_chain(dtmc: Dtmc, eps: Fraction | None) -> Iterator[ReportBlock]:
    for number, state in enumerate(dtmc.states):
        yield [Line(f"s{number}  {place_text(state)}", Tone.HEAD)]
        for items in lines_of(state):
            # Lines break between noises and between constraints, not inside one.
            yield Line(", ".join(item.replace(" ", GLUE) if len(items) > 1 else item for item in items), indent=4)
        if state.line is not None and not dtmc.steps[number]:
            yield Line("cut: no wanted output can be reached from here", indent=4)
        for step in dtmc.steps[number]:
            yield _step(step, eps)


def _step(step: Transition, eps: Fraction | None) -> Line:
    words = [f"-> s{step.goal}"]
    if step.outcome:
        words.append(f"when {step.outcome}")
    text = " ".join(words)
    if step.reason is not None:
        text += f", with a probability that was not reached: {step.reason}"
    elif step.probability is not None and not step.certain:
        text += f", with probability {language_text(step.probability)}"
        if eps is not None:
            text += f" ={GLUE}{enclosed_text(*step.probability.enclosure(eps))}"
    return Line(text, indent=4)


# --- the chain in the language of Graphviz ---------------------------------------------------------


def dot_text(dtmc: Dtmc, name: str, eps: Fraction | None = None) -> str:
    """Return the chain `dtmc` as a DOT digraph called `name`, with one box for each state.

    Boxes are labeled as in the text format. If `eps` is given, each probability is also shown with its value at this
    eps.
    """
    lines = [
        f"digraph {quoted([name], end='')} {{",
        '  node [shape=box, fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    for number, state in enumerate(dtmc.states):
        rows = [f"s{number}  {place_text(state)}"]
        rows += [", ".join(items) for items in lines_of(state)]
        shape = ", peripheries=2" if state.line is None else ""
        lines.append(f"  s{number} [label={quoted(rows)}{shape}];")
    for steps in dtmc.steps:
        lines.extend(f"  s{step.source} -> s{step.goal}{_label(step, eps)};" for step in steps)
    lines.append("}")
    return "\n".join(lines) + "\n"


def quoted(rows: Iterable[str], end: str = "\\l") -> str:
    """Return a DOT string of `rows`, each closed by `end` (by default a left-justified line break in a label)."""
    flat = ("".join(character if character.isprintable() else " " for character in row) for row in rows)
    return '"' + "".join(row.replace("\\", "\\\\").replace('"', '\\"') + end for row in flat) + '"'


def _label(step: Transition, eps: Fraction | None) -> str:
    rows = [step.outcome] if step.outcome else []
    if step.reason is not None:
        rows.append("probability not reached")
    elif step.probability is not None and not step.certain:
        rows.append(language_text(step.probability))
        if eps is not None:
            rows.append(f"= {enclosed_text(*step.probability.enclosure(eps))}")
    return f" [label={quoted(rows)}]" if rows else ""


@frozen
class Outcomes(Record):
    """All outputs with a positive probability at one input.

    `total` is the exact sum of the probabilities, None if one of them has no closed form. `open_outputs` are the names
    of outputs without finitely many values, which are real or int. The probabilities are valid for every eps, or at
    `only_at` alone if the program has a single eps. At `eps`, if it is given, they are also shown as decimals. A real
    or int output is within `gamma` of the value shown.
    """

    FIELDS = "schema program constants=constants_by_name input eps outputs sum=total gamma+"

    schema = "dipc.prob/1"

    program: str
    constants: tuple[tuple[str, str], ...]
    input: Mapping[str, str]
    outcomes: tuple[OutputProbability, ...]
    total: ClosedForm | None
    open_outputs: tuple[str, ...]
    eps: Fraction | None = None
    only_at: Fraction | None = None
    gamma: Fraction = Fraction(0)

    @property
    def constants_by_name(self) -> dict[str, str]:
        return dict(self.constants)

    @property
    def outputs(self) -> list[dict[str, object]]:
        """The JSON objects of the outputs, with enclosures of their probabilities at `eps`, if it is given."""
        return [
            json_object(each, "output probability=closed_form")
            | ({} if self.eps is None else {"at": CONVERSIONS["digits"](each.probability.enclosure(self.eps))})
            for each in self.outcomes
        ]


def outcomes_at(
    program: Program,
    values: Mapping[str, Value],
    eps: Fraction | None = None,
    progress: Progress | None = None,
    wanted: Mapping[str, Value] | None = None,
    gamma: Fraction = Fraction(0),
) -> Outcomes:
    """Return all outputs of `program` at the input `values`, or only the one with the values `wanted`.

    A real or int output may differ from its wanted value by at most `gamma`. If `eps` is given, probabilities are also
    enclosed at this eps. `progress` is called with the number of outputs that are done. The total is the sum of the
    probabilities that are listed. If the only output that is not finite is an int, its values around the most likely
    one are separate outputs, and one more output has all other values. Raises Undecided if a limit is exceeded.
    """
    core = program.core
    if eps is not None:
        core.require_meaning(eps)
    if wanted:
        texts = {name: show_value(value) for name, value in wanted.items()}
        form = program.probability(values, wanted, gamma)
        outcome_s: tuple[OutputProbability, ...] = (OutputProbability(texts, form),)
    else:
        outcome_s = _with_ints(program, values, program.outcomes(values, progress))
    closed = [each.probability.value for each in outcome_s if isinstance(each.probability, ClosedForm)]
    return Outcomes(
        core.name,
        tuple((name, str(value)) for name, value in core.constants.items()),
        {name: show_value(value) for name, value in values.items()},
        outcome_s,
        None if len(closed) < len(outcome_s) else ClosedForm(total(closed)),
        tuple(slot.name for slot in core.output_slots if slot.is_symbolic),
        eps,
        core.only_at,
        gamma,
    )


#: The number of values of an int output that are shown on either side of the middle ones.
_AROUND = 5


def _with_ints(
    program: Program, values: Mapping[str, Value], outcomes: tuple[OutputProbability, ...]
) -> tuple[OutputProbability, ...]:
    core = program.core
    opened = [slot for slot in core.outputs if core.slots[slot].is_symbolic]
    if len(opened) != 1 or core.slots[opened[0]].type is not BaseType.INT:
        return outcomes
    (slot,) = opened
    name, middles = core.slots[slot].name, _middles(program, values, slot)
    if not middles or max(middles) - min(middles) > 4 * _AROUND:
        return outcomes
    middle = range(min(middles) - _AROUND, max(middles) + _AROUND + 1)
    result = []
    for outcome in outcomes:
        if any(value is None for value in outcome.output.values()):
            return outcomes
        single = [{**outcome.output, name: k} for k in middle]
        forms = [program.probability(values, output) for output in single]
        terms = [(1, outcome.output, Fraction(0)), *((-1, output, Fraction(0)) for output in single)]
        beyond = program.combination(values, terms)
        labels = [*map(str, middle), f"below {middle[0]} or above {middle[-1]}"]
        result += [
            OutputProbability({**outcome.output, name: text}, form)
            for text, form in zip(labels, [*forms, beyond], strict=True)
            if not isinstance(form, ClosedForm) or not form.value.is_zero()
        ]
    return tuple(result)


def _middles(program: Program, values: Mapping[str, Value], slot: int) -> set[int]:
    """Return the values that the int output in `slot` has if each noise is equal to its mean, rounded down.

    The set has one value for each path of `program` from the input `values` to an exit; equal values count once.
    """
    core = program.core
    given = {position: values[core.slots[position].name] for position in core.inputs}
    finite = {position: value for position, value in given.items() if not core.slots[position].is_symbolic}
    numbers = {position: value for position, value in given.items() if isinstance(value, Fraction)}
    middles: set[int] = set()
    for exit_ in exits(program.flow, program.choices, program.limits, finite, None, core.outputs).all():
        form = exit_.state.outputs[slot]
        if isinstance(form, Affine):
            over = centered(form, {noise.id: noise.mean for noise in exit_.state.noises})
            middles.add(floor(over.noiseless.evaluate(numbers)))
    return middles


def outputs(outcomes: Outcomes) -> Outcome:
    """Return the outcome that lists the outputs in `outcomes` with their probabilities."""
    return Outcome.from_record(
        outcomes,
        ExitStatus.HOLDS,
        line=f"{outcomes.program}: {count(len(outcomes.outcomes), 'output')}",
        tone=Tone.HEAD,
        parts=lambda: _parts_of_outputs(outcomes),
        equations=lambda: _equations(outcomes),
    )


def _parts_of_outputs(outcomes: Outcomes) -> Iterator[ReportBlock]:
    listed = {name for outcome in outcomes.outcomes for name in outcome.output}
    eps, gamma = outcomes.eps, outcomes.gamma
    yield section(
        None,
        ("constants", assignment_text(outcomes.constants_by_name) if outcomes.constants else None),
        ("input", assignment_text(outcomes.input)),
        ("any value of", ", ".join(name for name in outcomes.open_outputs if name not in listed) or None),
        ("gamma", f"{rational(gamma)}, by which real and int outputs may be off" if gamma else None),
        ("only at", None if outcomes.only_at is None else f"eps = {rational(outcomes.only_at)}"),
        ("numbers at", None if eps is None else f"eps = {rational(eps)}"),
    )
    for outcome in outcomes.outcomes:
        yield [Line(assignment_text(outcome.output) if outcome.output else "any output", Tone.HEAD, indent=2)]
        if eps is not None:
            yield Line(enclosed_text(*outcome.probability.enclosure(eps)), indent=4)
        yield Line(language_text(outcome.probability), indent=4)
    if outcomes.open_outputs and all(not outcome.output for outcome in outcomes.outcomes):
        yield [Line("for the probability that a real output is near a number: --output NAME=VALUE --gamma VALUE")]
    if outcomes.total is None:
        more = "; --eps VALUE encloses each probability at an eps" if eps is None else ""
        yield [Line(f"without closed forms there is no exact sum{more}")]
    else:
        rest = ClosedForm(total([ExpPoly.ONE, -outcomes.total.value]))
        yield [Line("sum  1, exactly" if rest.value.is_zero() else f"any other output  {language_text(rest)}")]


def _equations(outcomes: Outcomes) -> tuple[str, list[tuple[str, ClosedForm]]]:
    equations = []
    for outcome in outcomes.outcomes:
        if not isinstance(outcome.probability, ClosedForm):
            raise Undecided(outcome.probability.reason)
        equations.append((rf"\Pr[{latex_assignment(outcome.output) or 'true'}]", outcome.probability))
    constants = f" with {assignment_text(outcomes.constants_by_name)}" if outcomes.constants else ""
    return f"{outcomes.program}{constants}, at {assignment_text(outcomes.input)}", equations


def answers(program: CoreProgram, table: Table) -> Outcome:
    """Return an outcome that shows `table`, inputs and outputs of `program`, as CSV; reading the CSV gives equal rows.

    Its columns are the inputs, the outputs and the claim columns of `table`.
    """
    return Outcome(
        program=program.name,
        line=count(len(table.rows), "row"),
        standing=ExitStatus.HOLDS,
        parts=lambda: (),
        table=lambda: _shown_table(program, table),
    )


def _shown_table(program: CoreProgram, table: Table) -> ShownTable:
    columns = [name for name in CLAIM_COLUMNS if name in table.columns]
    names = (program.slots[slot].name for slot in (*program.inputs, *program.outputs))

    def cells(row: Row) -> tuple[str, ...]:
        claim = {"alpha": row.alpha, "beta": row.beta, "gamma": row.gamma, "dd": row.dd}
        cells = (*row.inputs, *row.outputs, *(claim[name] for name in columns))
        return tuple("" if cell is None else cell.text for cell in cells)

    return ShownTable("", (*names, *columns), ((None, cells(row)) for row in table.rows), len(table.rows))
