"""Exact output probabilities of one program, row after row.

The program is executed symbolically once for each combination of finite inputs and wanted outputs; a row only
substitutes its real and int inputs. Everything is remembered by the cells it depends on, and equal cells are identical
objects, so that a row whose numbers were seen before costs a few dictionary look-ups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed
from dipc.chain.component import Ball, Balls, ComponentTemplate
from dipc.chain.event import EventTemplate
from dipc.chain.flow import Flow
from dipc.chain.symbolic import is_symbolic
from dipc.exits.choices import Choices
from dipc.exits.exits import exits
from dipc.lang.core import Value
from dipc.measure.bound import Bound, BoundMeasurer, Share
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.tables.cells import Cell

Cells = Sequence[Cell | None]

#: Rows of one plan, or of one part of it, that are remembered at a time: a table may have millions.
_REMEMBERED = 200_000

#: Plans that are remembered at a time: each row of a table with finite inputs may have one of its own.
_REMEMBERED_PLANS = 20_000


@dataclass(slots=True)
class Work:
    """What was done so far, and how long it took."""

    explorations: int = 0
    chain_seconds: float = 0.0


@dataclass(slots=True, eq=False)
class _Part:
    """A component of an exit's event, with its instances by the cells it depends on."""

    template: ComponentTemplate
    inputs: tuple[int, ...]
    balls: tuple[int, ...]
    events: dict[tuple[Cell | None, ...], Event] = field(default_factory=dict)

    def key(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[Cell | None, ...]:
        """The cells of a row that the event depends on."""
        return (gamma, *[inputs[at] for at in self.inputs], *[outputs[at] for at in self.balls])


@dataclass(slots=True, eq=False)
class _Exit:
    """An exit with the weight of the choices that lead to it, None for 1."""

    event: EventTemplate
    parts: tuple[_Part, ...]
    weight: Closed | None


@dataclass(slots=True, eq=False)
class _Plan:
    """The exits that produce the wanted outputs, for given finite inputs.

    `inputs` and `balls` are positions in a row's inputs and outputs: what the probability depends on besides gamma.
    """

    exits: tuple[_Exit, ...]
    inputs: tuple[int, ...]
    balls: tuple[int, ...]
    bounds: dict[tuple[Cell | None, ...], Bound] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Needs:
    """Positions in a row's inputs and outputs: real and int cells that a probability depends on."""

    inputs: tuple[int, ...]
    balls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Factor:
    """An event; factors with equal keys have equal events."""

    key: tuple[object, ...]
    event: Event


@dataclass(frozen=True, slots=True)
class ExitShare:
    """What one exit adds to a probability: the weight of the choices that lead to it (None for 1) times the measures of
    its factors."""

    weight: Closed | None
    factors: tuple[Factor, ...]

    @property
    def unmeasured(self) -> Share:
        return Share(self.weight, tuple([factor.event for factor in self.factors]))


class Probabilities:
    """Pr[output] of one program as closed forms in eps; equal functions are the same ClosedForm object.

    Cells are compared by identity: all of one table, or of one pool.
    """

    def __init__(self, flow: Flow, limits: Limits, choices: Choices, measurer: Measurer | None = None) -> None:
        """`choices` are those of the program; a `measurer` may be shared by all that have the same limits."""
        program = flow.program
        self.program = program
        self.flow = flow
        self.limits = limits
        self.choices = choices
        self.work = Work()
        self.measurer = BoundMeasurer(measurer or Measurer(limits))
        slots = program.slots
        self._real_inputs = [at for at, slot in enumerate(program.inputs) if is_symbolic(slots[slot].type)]
        self._finite_inputs = [at for at in range(len(program.inputs)) if at not in set(self._real_inputs)]
        self._real_outputs = [at for at, slot in enumerate(program.outputs) if is_symbolic(slots[slot].type)]
        self._finite_outputs = [at for at in range(len(program.outputs)) if at not in set(self._real_outputs)]
        self._input_position = {slot: at for at, slot in enumerate(program.inputs)}
        self._output_position = {slot: at for at, slot in enumerate(program.outputs)}
        self._plans: dict[tuple[object, ...], _Plan | Undecided] = {}
        self._interned: dict[Bound, Bound] = {}

    def probability(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> ClosedForm:
        """Pr[every given finite output is equal, every other given output within gamma], for every eps > 0.

        Raises Undecided past a limit and DiagnosticError for programs that go wrong.
        """
        return self.measurer.measure(self.bound(inputs, outputs, gamma))

    def bound(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Bound:
        """The same probability, not measured yet: equal ones are the same object. Raises as `probability` does."""
        plan = self._plan(inputs, outputs)
        key = (gamma, *[inputs[at] for at in plan.inputs], *[outputs[at] for at in plan.balls])
        bound = plan.bounds.get(key)
        if bound is None:
            found = Bound(tuple([share.unmeasured for share in self._shares(inputs, outputs, gamma)]))
            bound = self._interned.setdefault(found, found)
            if len(plan.bounds) >= _REMEMBERED:
                plan.bounds.clear()
            if len(self._interned) >= _REMEMBERED:
                self._interned.clear()
            plan.bounds[key] = bound
        return bound

    def shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[ExitShare, ...]:
        """The shares that `probability` is the sum of, exit by exit. Raises as `probability` does."""
        self.probability(inputs, outputs, gamma)
        return self._shares(inputs, outputs, gamma)

    def _shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[ExitShare, ...]:
        plan = self._plan(inputs, outputs)
        reals, balls = self._substitution(plan, inputs, outputs, gamma)
        result = []
        for found in plan.exits:
            if not found.event.guards_hold(reals, balls):
                continue
            factors = []
            for part in found.parts:
                key = part.key(inputs, outputs, gamma)
                event = part.events.get(key)
                if event is None:
                    if len(part.events) >= _REMEMBERED:
                        part.events.clear()
                    event = part.events[key] = part.template.event(reals, balls)
                factors.append(Factor((part, *key), event))
            result.append(ExitShare(found.weight, tuple(factors)))
        return tuple(result)

    def exits(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[tuple[EventTemplate, Closed | None], ...]:
        """The exits that produce these finite outputs from these finite inputs, each with the weight of the choices
        that lead to it (None for 1), for all values of the real and int inputs and outputs: `probability` is the sum
        of their weights times the measures of their events. Raises as `probability` does."""
        return tuple((found.event, found.weight) for found in self._plan(inputs, outputs).exits)

    def needs(self, inputs: Sequence[Cell], outputs: Cells) -> Needs:
        """What the probability depends on besides gamma, for these finite inputs and wanted outputs. Raises as
        `probability` does."""
        plan = self._plan(inputs, outputs)
        return Needs(plan.inputs, plan.balls)

    def plan_key(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[object, ...]:
        """The cells, and whether others are given, that say together what has to be explored."""
        return (
            *[inputs[at] for at in self._finite_inputs],
            *[outputs[at] for at in self._finite_outputs],
            *[outputs[at] is None for at in self._real_outputs],
        )

    # --- plans: once for each combination of finite inputs and wanted outputs --------------------------

    def _plan(self, inputs: Sequence[Cell], outputs: Cells) -> _Plan:
        key = self.plan_key(inputs, outputs)
        plan = self._plans.get(key)
        if plan is None:
            begun = perf_counter()
            try:
                plan = self._make_plan(inputs, outputs)
            except Undecided as undecided:
                plan = _remembered(undecided)
            self.work.chain_seconds += perf_counter() - begun
            if len(self._plans) >= _REMEMBERED_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        if isinstance(plan, Undecided):
            raise _remembered(plan)
        return plan

    def _make_plan(self, inputs: Sequence[Cell], outputs: Cells) -> _Plan:
        program = self.program
        finite: dict[int, Value] = {program.inputs[at]: _value(inputs[at]) for at in self._finite_inputs}
        wanted: dict[int, Value] = {
            program.outputs[at]: _value(cell) for at in self._finite_outputs if (cell := outputs[at]) is not None
        }
        balls = [program.outputs[at] for at in self._real_outputs if outputs[at] is not None]
        self.work.explorations += 1
        explored = exits(self.flow, self.choices, self.limits, finite, wanted, [*wanted, *balls])
        found = [
            _Exit(each.event, tuple(map(self._part, each.event.components)), each.weight)
            for each in explored.towards(wanted, balls)
        ]
        needed = sorted({self._input_position[slot] for each in found for slot in each.event.inputs})
        reached = tuple(self._output_position[slot] for slot in balls)
        return _Plan(tuple(found), tuple(needed), reached)

    def _part(self, part: ComponentTemplate) -> _Part:
        return _Part(
            part,
            tuple(self._input_position[slot] for slot in part.inputs),
            tuple(self._output_position[slot] for slot in part.balls),
        )

    # --- rows --------------------------------------------------------------------------------------

    def _substitution(
        self, plan: _Plan, inputs: Sequence[Cell], outputs: Cells, gamma: Cell
    ) -> tuple[dict[int, Fraction], Balls]:
        """A row's real inputs by slot, and the balls of its real outputs."""
        program = self.program
        radius = _fraction(gamma)
        reals = {program.inputs[at]: _fraction(inputs[at]) for at in self._real_inputs}
        return reals, {program.outputs[at]: Ball(_fraction(outputs[at]), radius) for at in plan.balls}


def _remembered(undecided: Undecided) -> Undecided:
    """The same without the frames it was raised through, which would keep all that they hold alive."""
    return undecided.with_traceback(None)


def _value(cell: Cell | None) -> Value:
    assert cell is not None
    assert cell.value is not None
    return cell.value


def _fraction(cell: Cell | None) -> Fraction:
    value = _value(cell)
    assert isinstance(value, Fraction)
    return value
