"""Programs as objects: read from files and texts, with the exact probabilities of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from dipc.above import above
from dipc.algebra.exppoly import Closed, ClosedForm, total
from dipc.algebra.limits import Effort, LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import exact_rational
from dipc.chain.event import GAMMA, EventTemplate
from dipc.chain.explore import explore
from dipc.chain.flow import Flow, analyze, with_finite_noise
from dipc.chain.state import ChoiceWeight, finite_values
from dipc.claims.claim import GivenEps, given_text, the_one_eps
from dipc.claims.given import Cell, CellPool, number_of, value_of
from dipc.claims.table import input_cells, output_cells
from dipc.frozen import LazyModule, frozen
from dipc.measure.event import Event
from dipc.measure.measure import (
    Bound,
    BoundMeasurer,
    EnclosedForm,
    Measurer,
    Probability,
    Share,
    without_frames,
)
from dipc.noise.law import NoClosedForm
from dipc.program.exits import Exit, Exits, ManyRuns, OutputLaws, exits, many_runs, values_key
from dipc.program.weights import Choices, check_choices, wrong_choices
from dipc.sign.interval import Interval
from dipc.text.ast import Expr, number
from dipc.text.core import SampleChoice, Value, show_value
from dipc.text.diagnostic import DiagnosticError, SourceText, bad_input, read_source
from dipc.text.parser import parse
from dipc.text.program import CoreMetric, CoreProgram
from dipc.text.sampling import asked_ranges
from dipc.text.statements import lower

if TYPE_CHECKING:
    from dipc.chain.series import RunTemplate
    from dipc.program import allowed as allowed_inputs
    from dipc.program import nearness
else:
    allowed_inputs = LazyModule("dipc.program.allowed")
    nearness = LazyModule("dipc.program.nearness")

# --- Exact output probabilities of one program, row after row ---------------------------------------------------------
#
# The program is executed symbolically once for each combination of finite inputs and wanted outputs; a row only
# substitutes its real and int inputs. Every result is cached by the cells it depends on, and equal cells are identical
# objects, so that a row with numbers seen before costs a few dictionary look-ups.

Cells = Sequence[Cell | None]

#: The most bounds that are cached: a table can have millions of rows.
_REMEMBERED = 1 << 16

#: The most plans that are cached: each row of a table with finite inputs can have its own.
_REMEMBERED_PLANS = 20_000


@dataclass(slots=True, eq=False)
class _EventPlan:
    """The result of exploring a program for all rows with the same finite inputs and outputs.

    `exits` are all exits to these outputs. If there would be too many, `graph` has the runs to the outputs instead, and
    otherwise it is None. `cells` are the places of the cells on which the probability depends, among those of a row:
    its inputs, its outputs and gamma.

    The keys of both caches contain cells of rows. The key of a probability in `bounds` has the cells at the places
    `cells`. The key of an event in `events` has the number of its component among all components of the exits, and the
    cells on which the event depends.
    """

    exits: tuple[Exit, ...]
    cells: tuple[int, ...]
    graph: RunTemplate | None = None
    bounds: dict[tuple[Cell | None, ...], Bound] = field(default_factory=dict)
    events: dict[tuple[object, ...], Event] = field(default_factory=dict)


class Probabilities:
    """The probabilities of the answers of one program, as closed forms in eps; equal functions are the same object.

    Inputs and outputs are cells, values with the text shown for them. Cells are compared by identity, so all must come
    from one table, or from one `CellPool`.
    """

    def __init__(self, flow: Flow, limits: Limits, choices: Choices, measurer: Measurer | None = None) -> None:
        program = flow.program
        self.program = program
        self.flow = flow
        self.limits = limits
        self.choices = choices
        self.work = Effort()
        self.measurer = BoundMeasurer(measurer or Measurer(limits))
        slots = program.slots
        self._real_inputs, self._finite_inputs = list[int](), list[int]()
        self._real_outputs, self._finite_outputs = list[int](), list[int]()
        for position, slot in enumerate(program.inputs):
            (self._real_inputs if slots[slot].is_symbolic else self._finite_inputs).append(position)
        for position, slot in enumerate(program.outputs):
            (self._real_outputs if slots[slot].is_symbolic else self._finite_outputs).append(position)
        #: The places of cells in a row, by the keys of events.
        self._place = {key: place for place, key in enumerate((*program.inputs, *program.outputs, GAMMA))}
        self._plans: dict[tuple[object, ...], _EventPlan | Undecided] = {}
        self._interned: dict[Bound, Bound] = {}

    def probability(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> ClosedForm:
        """Return the probability, at `inputs`, that finite outputs are `outputs` and others differ by at most `gamma`.

        The closed form holds for every eps > 0. Raises Undecided past a limit and DiagnosticError for programs that
        fail.
        """
        return self.measurer.measure(self.bound(inputs, outputs, gamma))

    def bound(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Bound:
        """Return the probability of `outputs` within `gamma` at `inputs`, as a bound that is not measured yet.

        It is the sum that `probability` measures. Equal bounds are the same object. Raises Undecided past a limit and
        DiagnosticError for programs that fail.
        """
        plan = self._plan(inputs, outputs)
        cells = (*inputs, *outputs, gamma)
        key = tuple([cells[place] for place in plan.cells])
        bound = plan.bounds.get(key)
        if bound is None:
            computed = Bound(self._shares(inputs, outputs, gamma))
            bound = self._interned.setdefault(computed, computed)
            if len(self._interned) > _REMEMBERED:
                self.forget_rows()
            plan.bounds[key] = bound
        return bound

    def forget_rows(self) -> None:
        """Drop the cached bounds and events of single rows, and keep the exits."""
        self._interned.clear()
        for plan in self._plans.values():
            if isinstance(plan, _EventPlan):
                plan.bounds.clear()
                plan.events.clear()

    def shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[Share, ...]:
        """Return the products whose sum is the `probability` of `outputs` within `gamma` at `inputs`.

        There is one for each exit: its weight times the probabilities of independent events. Raises Undecided past a
        limit and DiagnosticError for programs that fail.
        """
        self.probability(inputs, outputs, gamma)
        return self._shares(inputs, outputs, gamma)

    def _shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[Share, ...]:
        plan = self._plan(inputs, outputs)
        cells = (*inputs, *outputs, gamma)
        numbers = [*self._real_inputs, *[len(inputs) + place for place in self._real_outputs], len(cells) - 1]
        keys = [*self._place]
        values = {keys[place]: number_of(cell) for place in numbers if (cell := cells[place]) is not None}
        if plan.graph is not None:
            return (Share(None, (plan.graph.graph(values),)),)
        result = []
        number = 0
        for exit_ in plan.exits:
            components = exit_.event.components
            if exit_.event.guards_hold(values):
                events = []
                for place, component in enumerate(components, number):
                    key = (place, *[cells[self._place[each]] for each in component.keys])
                    event = plan.events.get(key)
                    if event is None:
                        event = plan.events[key] = component.event(values)
                    events.append(event)
                result.append(Share(exit_.weight, tuple(events)))
            number += len(components)
        return tuple(result)

    def exits(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[tuple[EventTemplate, Closed | None], ...]:
        """Return the exits for the finite values in `inputs` and in `outputs`, as pairs (event, weight).

        The weight is that of the exit's choices; None is 1. The exits are valid for all values of the real and int
        inputs and outputs: `probability` is the sum of their weights times the measures of their events. Raises
        Undecided past a limit and DiagnosticError for programs that fail.
        """
        plan = self._plan(inputs, outputs)
        if plan.graph is not None:
            plan = self._explored(inputs, outputs, self.limits)
        return tuple((exit_.event, exit_.weight) for exit_ in plan.exits)

    def plan_exits(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[Exit, ...] | None:
        """Return the exits for the finite values in `inputs` and in `outputs`.

        The result is None if there would be too many exits, so that the runs are kept as a graph instead. All rows with
        these finite values get the same object. Raises Undecided past a limit and DiagnosticError for programs that
        fail.
        """
        plan = self._plan(inputs, outputs)
        return plan.exits if plan.graph is None else None

    # --- plans: once for each combination of finite inputs and wanted outputs --------------------------

    def _plan(self, inputs: Sequence[Cell], outputs: Cells) -> _EventPlan:
        key = (
            *[inputs[position] for position in self._finite_inputs],
            *[outputs[position] for position in self._finite_outputs],
            *[outputs[position] is None for position in self._real_outputs],
        )
        plan = self._plans.get(key)
        if plan is None:
            begun = perf_counter()
            try:
                plan = self._make_plan(inputs, outputs)
            except Undecided as undecided:
                plan = without_frames(undecided)
            self.work += Effort(chain_seconds=perf_counter() - begun)
            if len(self._plans) >= _REMEMBERED_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        if isinstance(plan, Undecided):
            raise without_frames(plan)
        return plan

    def _make_plan(self, inputs: Sequence[Cell], outputs: Cells) -> _EventPlan:
        many = self._many
        if many is None:
            return self._explored(inputs, outputs, self.limits)
        wanted = self._wanted(outputs)
        few = many.few(wanted, self.limits)
        try:
            if few is not None:
                return self._explored(inputs, outputs, few)
        except LimitReached:
            if few == self.limits:
                raise
        graph = many.graph(wanted)
        if graph is None:
            return self._explored(inputs, outputs, self.limits)
        return _EventPlan((), tuple(sorted(self._place[slot] for slot in graph.inputs)), graph)

    @cached_property
    def _many(self) -> ManyRuns | None:
        return many_runs(self.flow, self.limits)

    def _wanted(self, outputs: Cells) -> dict[int, Value]:
        return {
            self.program.outputs[position]: value_of(cell)
            for position in self._finite_outputs
            if (cell := outputs[position]) is not None
        }

    def _explored(self, inputs: Sequence[Cell], outputs: Cells, limits: Limits) -> _EventPlan:
        program = self.program
        finite: dict[int, Value] = {
            program.inputs[position]: value_of(inputs[position]) for position in self._finite_inputs
        }
        wanted = self._wanted(outputs)
        near = [program.outputs[position] for position in self._real_outputs if outputs[position] is not None]
        self.work += Effort(explorations=1)
        explored = exits(self.flow, self.choices, limits, finite, wanted, [*wanted, *near])
        relevant = [*explored.towards(wanted, near)]
        needed = {self._place[key] for each in relevant for key in each.event.keys}
        return _EventPlan(tuple(relevant), tuple(sorted(needed)))


def one_sided(program: Program, side: str) -> Program:
    """Return `program` with its real and int outputs counted as wrong only on one `side` of the right ones.

    With "above" an output is wrong only if it is more than gamma above the right one, with "below" only if it is more
    than gamma below.
    """
    metric = replace(program.core.metric or CoreMetric(), output=side)
    return Program(replace(program.core, metric=metric), program.limits)


def two_sided(program: Program) -> Program:
    """Return `program` with its real and int outputs counted as wrong on both sides of the right ones.

    If the `metric` of the program counts outputs as wrong on one side only, this part of it is ignored.
    """
    return program if program.core.side is None else one_sided(program, "product")


def without_claimed_gamma(program: Program) -> Program:
    """Return `program` with no gamma in its claim block."""
    claim = program.core.claim
    if claim is None:
        return program
    claim = replace(claim, fields=tuple([each for each in claim.fields if each.name != "gamma"]))
    return Program(replace(program.core, claim=claim), program.limits)


# --- Probabilities by the distance of answers in the `metric` block, instead of the product distance ------------------


class NearProbabilities(Probabilities):
    """The probabilities Pr[d'_u(P(u), v) <= gamma], for answers v of one program P with finite outputs.

    Each is the sum of the probabilities of the answers within gamma of v, by the distance d'_u of answers.
    """

    def __init__(self, flow: Flow, limits: Limits, choices: Choices, measurer: Measurer | None = None) -> None:
        """Prepare for the program of `flow`, whose choices have the weights `choices`, within `limits`.

        `measurer` measures the events, by default a new one. Raises DiagnosticError for a program with real or int
        outputs.
        """
        super().__init__(flow, limits, choices, measurer)
        self._nearness = nearness.Nearness(flow.program, limits)
        self._nearness.require_finite()
        self._accepted: dict[tuple[Cell | None, ...], tuple[tuple[Cell, ...], ...]] = {}

    def bound(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Bound:
        accepted = self._near_answers(inputs, outputs, gamma)
        one_by_one = [super(NearProbabilities, self).bound(inputs, answer, gamma) for answer in accepted]
        computed = Bound(tuple([share for bound in one_by_one for share in bound.shares]))
        return self._interned.setdefault(computed, computed)

    def shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[Share, ...]:
        answers = self._near_answers(inputs, outputs, gamma)
        return tuple([share for answer in answers for share in self._shares(inputs, answer, gamma)])

    def exits(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[tuple[EventTemplate, Closed | None], ...]:
        """Raise OutsideFragment for all `inputs` and `outputs`.

        Answers within gamma depend on the input, so no exits are valid for all inputs.
        """
        del inputs, outputs
        raise OutsideFragment("the answers within gamma depend on the input, so they differ within a class")

    def _near_answers(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[tuple[Cell, ...], ...]:
        key = (*inputs, *outputs, gamma)
        known = self._accepted.get(key)
        if known is None:
            assert isinstance(gamma.value, Fraction)
            self._accepted.clear()  # a row is queried a few times in succession, and then no more
            known = self._accepted[key] = self._nearness.accepted(inputs, outputs, gamma.value)
        return known


# --- Programs as objects: their output probabilities in closed form ---------------------------------------------------


@frozen
class OutputProbability:
    """The probability of a combination of values of the finite outputs.

    `output` has the values as strings by name, None for an unassigned output. Real and int outputs can have any value.
    """

    output: Mapping[str, str | None]
    probability: Probability

    @property
    def closed_form(self) -> ClosedForm | None:
        """The probability for every eps, if it has a closed form."""
        return self.probability if isinstance(self.probability, ClosedForm) else None


#: A callback that receives the number of finished items (exits, rows, cases) and the total (None if unknown).
Progress = Callable[[int, int | None], None]


class Program:
    """A typed program, about which questions can be asked; `dipc.load` makes it."""

    def __init__(self, core: CoreProgram, limits: Limits | None = None) -> None:
        self.core = core
        self.limits = limits or Limits()
        self._pool = CellPool()
        self._explored: dict[object, Exits] = {}

    def __repr__(self) -> str:
        constants = ", ".join(f"{name} = {value}" for name, value in self.core.constants.items())
        only_at = "" if self.core.only_at is None else f" at eps = {self.core.only_at}"
        return f"<dipc program {self.name}{' with ' + constants if constants else ''}{only_at}>"

    @property
    def expected_quantity(self) -> str | None:
        """The error whose expectation the question is about, such as `|x - det(u)|`; None if it is about none."""
        return None

    @property
    def name(self) -> str:
        """The name of the program, which follows the word `program` in its text."""
        return self.core.name

    @property
    def constants(self) -> dict[str, Fraction]:
        """The constants with their current values."""
        return dict(self.core.constants)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, in order; arrays element by element."""
        return tuple(slot.name for slot in self.core.input_slots)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs, in order; arrays element by element."""
        return tuple(slot.name for slot in self.core.output_slots)

    @cached_property
    def allowed(self) -> allowed_inputs.AllowedInputs | None:
        """The inputs that satisfy `requires`; None for a program without it, all of whose inputs are allowed."""
        requires = self.core.requires
        return None if requires is None else allowed_inputs.AllowedInputs(self.core, requires, self.limits)

    @cached_property
    def selected(self) -> allowed_inputs.AllowedInputs | None:
        """The inputs that the question is about, if it has a selection; None for all inputs."""
        selection = self.core.selection
        return None if selection is None else allowed_inputs.AllowedInputs(self.core, selection, self.limits)

    def with_limits(self, limits: Limits) -> Program:
        """Return the program with `limits`."""
        return Program(self.core, limits)

    def with_constants(self, constants: Mapping[str, Fraction], source: SourceText | None = None) -> Program:
        """Return the program read again, with the values `constants` by name.

        It is read from the text `source`, if given, instead of its own. Constants that are computed from others are
        computed again. Raises DiagnosticError if the program is refused.
        """
        core = self.core
        anew = load_source(core.source if source is None else source, {**core.overrides, **constants}, core.asked_eps)
        return anew.with_limits(self.limits)

    def validate_numbers(self, parameter: str) -> None:
        """Test the translation of a Python function by running it, for some values of the open constant `parameter`.

        Raises DefectError if the function and the translated program differ.
        """
        if self.core.source.accepted is not None:
            above("reading").validate_numbers(self, parameter)

    @cached_property
    def flow(self) -> Flow:
        """The control and data flow of the program, analyzed once."""
        return analyze(self.core)

    @cached_property
    def row_flow(self) -> Flow:
        """The flow for rows with given inputs, with choices in place of some noises.

        A noise that is only compared with finitely many numbers may become a choice of the interval between these
        numbers into which the noise falls. The probabilities of all answers are unchanged.
        """
        return with_finite_noise(self.flow)

    @cached_property
    def choices(self) -> Choices:
        """The weights of all choices, proved to be probabilities; raises DiagnosticError if some are not."""
        return check_choices(self.core, self.limits)

    def exits(self, finite: Mapping[int, Value]) -> Exits:
        """Return all exits with all outputs for the values `finite` of the finite inputs, by slot.

        The exits of each combination are explored once. Raises Undecided past a limit, DiagnosticError for programs
        that fail.
        """
        key = tuple(finite), values_key(finite.values())
        if key not in self._explored:
            self._explored[key] = exits(self.flow, self.choices, self.limits, finite, None, self.core.outputs)
        return self._explored[key]

    @cached_property
    def measurer(self) -> Measurer:
        """The measurer of events, which caches the integrals for this program."""
        return Measurer(self.limits)

    def probabilities(self) -> Probabilities:
        """Return a new object that computes the probability of an answer within gamma, for the rows of one table.

        Answers are compared by the program's own distance, if it has one.
        """
        kind = Probabilities if self.core.has_product_distance else NearProbabilities
        return kind(self.row_flow, self.limits, self.choices, self.measurer)

    @cached_property
    def _engine(self) -> Probabilities:
        return Probabilities(self.row_flow, self.limits, self.choices, self.measurer)

    def probability(
        self,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        output: Mapping[str, object],
        gamma: Fraction | int | str = 0,
    ) -> Probability:
        """Return, for every eps > 0, the probability of `output` at `input`, both by name.

        Finite outputs have to be equal to those given, real and int ones within `gamma` of those given. The result is
        an exact closed form or, if there is none, an object that encloses the probability at any eps. Values are
        strings as in a table, ints, Fractions or bools; an array can be given as a sequence under its name. Outputs
        that are left out are unconstrained. Raises DiagnosticError for values that do not fit the program, Undecided
        past a limit, TypeError for floats.
        """
        return self._probability(self._engine.measurer, self._bound(input, output, gamma)).restricted_to(
            self.core.only_at
        )

    def closed_probability(
        self,
        input: Mapping[str, object],  # noqa: A002 - as above
        output: Mapping[str, object],
        gamma: Fraction | int | str = 0,
    ) -> ClosedForm:
        """Return the `probability` of `output` within `gamma` at `input`, in closed form.

        Raises Undecided if it has none and past a limit, DiagnosticError for values that do not fit, TypeError for
        floats.
        """
        return self._engine.measurer.measure(self._bound(input, output, gamma)).restricted_to(self.core.only_at)

    def combination(
        self,
        input: Mapping[str, object],  # noqa: A002 - as above
        terms: Iterable[tuple[int, Mapping[str, object], Fraction]],
        constant: int = 0,
    ) -> Probability:
        """Return `constant` + Σ factor · Pr[output within gamma] at `input`, over `terms` (factor, output, gamma).

        Raises Undecided past a limit, DiagnosticError for values that do not fit, TypeError for floats.
        """
        bounds = [(factor, self._bound(input, output, gamma)) for factor, output, gamma in terms]
        combined = Bound.combined(bounds, Fraction(constant))
        return self._probability(self._engine.measurer, combined).restricted_to(self.core.only_at)

    def _bound(self, given: Mapping[str, object], output: Mapping[str, object], gamma: Fraction | int | str) -> Bound:
        radius = exact_rational(gamma, "gamma")
        if radius < 0:
            raise ValueError(f"gamma must be at least 0, not {radius}")
        inputs = input_cells(self.core, given, self._pool)
        outputs = output_cells(self.core, output, self._pool)
        return self._engine.bound(inputs, outputs, self._pool.cell(radius))

    def _probability(self, bounds: BoundMeasurer, bound: Bound) -> Probability:
        try:
            return bounds.measure(bound)
        except NoClosedForm as missing:
            return EnclosedForm.from_bound(bound, self.measurer, self.limits, missing.reason)

    def chain(self, input: Mapping[str, object], output: Mapping[str, object] | None = None) -> Any:  # noqa: A002
        """Return the Markov chain at `input`, a `dipc.outcome.program.Dtmc`, which a notebook shows as a table.

        Each state has the constraints on the noises drawn so far, and each step its exact probability; a step whose
        probability is past a limit has the reason instead. States that cannot lead to `output` are left out. Raises
        what `probability` raises.
        """
        return above("shown").chain_of(self, input, output or {})

    def run(
        self,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        eps: Fraction | int | str,
        n: int = 1,
        *,
        grid: Fraction | int | str | None = None,
        seed: int | None = None,
    ) -> Any:
        """Return `n` runs with exact noise at `input` and `eps`, as `dipc.run` does: a sequence of outputs by name.

        Real outputs are rounded down to multiples of `grid`. Runs with a `seed` are predictable, for tests.
        """
        return above("run").run(self, input, eps, n, grid=grid, seed=seed)

    def outcomes(
        self,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        progress: Progress | None = None,
    ) -> tuple[OutputProbability, ...]:
        """Return all values of the finite outputs that can occur at `input`, with probabilities whose sum is exactly 1.

        The order is that of the outputs' domains. `progress` is called with the number of outcomes measured and of all
        outcomes. Raises Undecided past a limit, DiagnosticError for values that do not fit, TypeError for floats.
        """
        core = self.core
        values: dict[int, Value] = {}
        for slot, cell in zip(core.inputs, input_cells(core, input, self._pool), strict=True):
            assert cell.value is not None
            values[slot] = cell.value
        laws = self.laws()
        bounds = BoundMeasurer(self.measurer)
        result: dict[tuple[Value | None, ...], Probability] = {}
        asked = laws.probabilities(values)
        for answer, bound in asked.items():
            if progress is not None:
                progress(len(result), len(asked))
            result[answer] = self._probability(bounds, bound)
        closed = [form.value for form in result.values() if isinstance(form, ClosedForm)]
        if len(closed) == len(result):
            whole = total(closed)
            assert whole == 1, f"the probabilities of all outcomes sum to {whole}"
        return tuple(
            OutputProbability(
                {
                    slot.name: None if v is None else show_value(v)
                    for slot, v in zip(laws.observed, answer, strict=True)
                },
                form.restricted_to(core.only_at),
            )
            for answer, form in result.items()
            if not isinstance(form, ClosedForm) or not form.value.is_zero()
        )

    def laws(self) -> OutputLaws:
        """Return the laws of the finite outputs, at any inputs."""
        return OutputLaws(self.row_flow, self.choices, self.limits)


class Programmed(Protocol):
    """An object with a program: a mechanism written as a Python function."""

    @property
    def program(self) -> Any: ...


#: The forms of a program that callers can give: a program, its path or text, or a mechanism.
ProgramGiven = Program | Programmed | str | os.PathLike[str]


def as_program(program: object, limits: object = None, eps: GivenEps = None) -> Program:
    """Return `program` within `limits`; a path or text is loaded as by `load`, for `eps`.

    Raises TypeError for anything else.
    """
    if isinstance(program, str | os.PathLike):
        program = load(program, eps=eps)
    elif not isinstance(program, Program):
        program = getattr(program, "program", program)
    if not isinstance(program, Program):
        kind = type(program).__name__
        raise TypeError(f"the program must come from dipc.load, be a mechanism, or be a path, not {kind}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits must be given as dipc.Limits(terms=…), not {type(limits).__name__}")
    return program if limits is None else program.with_limits(limits)


# --- Programs from files and texts ------------------------------------------------------------------------------------


def load(
    path_or_text: str | os.PathLike[str], /, *, eps: GivenEps = None, **constants: int | Fraction | Decimal | str
) -> Program:
    """Return the program in `path_or_text`, with `constants` in place of its own constants of the same names.

    A str is a path if it ends with `.dip`, is `FILE.py::NAME` (a mechanism in a Python file, which is read, not
    executed) or names an existing file; otherwise it is the text itself. Constants are ints, Fractions, Decimals or
    strings such as "1/3", as floats are not exact.

    A program with thresholds, means or constants such as 7/eps, or with rates such as 1/eps or 2*eps + 1, has an exact
    meaning only at one eps: the number `eps`, or that of its claim block. This eps is its `only_at`, and every question
    about another one is refused. A program whose weights are probabilities for some eps only, such as (1 - eps)/2, is
    read for the intervals `eps` (`Program.only_in`), and its closed forms hold there alone. For other programs `eps`
    has no effect.

    Raises DiagnosticError with all mistakes in the program, and TypeError for inexact constants.
    """
    values = {name: exact_rational(value, name) for name, value in constants.items()}
    return load_source(_source(path_or_text), values, eps)


#: The separator between a Python file and the name of a mechanism in it.
SEPARATOR = "::"


def load_source(source: SourceText, constants: Mapping[str, Fraction], eps: GivenEps = None) -> Program:
    """Return the program in `source`, with `constants` in place of its own constants of the same names.

    `eps` is the number or the intervals of eps that later questions are about, as for `load`.
    """
    if constants and source.accepted is not None and source.accepted.reread is not None:
        source = source.accepted.reread(constants)
    tree = parse(source)
    ranges = asked_ranges(tree, source, constants, None if eps is None else given_text(eps))
    point = the_one_eps(ranges)
    core = lower(tree, source, constants, point)
    program = Program(core)
    if program.allowed is not None:
        # An empty precondition is a mistake, whatever is asked; where a limit is reached first, questions find out.
        with suppress(Undecided):
            _ = program.allowed.point
    # Weights that are not a distribution are a mistake of the program, reported before anything else is done.
    try:
        program = _with_checked_choices(program)
    except DiagnosticError:
        if core.only_at is not None or all(each.covers(Interval.POSITIVE) for each in ranges):
            raise
        program = Program(replace(core, only_at=point, only_in=() if point is not None else ranges))
        program = _with_checked_choices(program)
    if source.accepted is not None:
        above("reading").validate(program)
    return program


#: The most combinations of finite inputs, and states for each, at which choices are looked for that no run reaches.
_MOST_REACHED, _MOST_STATES = 1_000, 20_000


def _with_checked_choices(program: Program) -> Program:
    """Return `program` after a check that the weights of every choice that a run can reach are a distribution.

    A choice that no run reaches may have other weights; in the result, it has only its first option. If a run may reach
    a choice whose weights are not a distribution, the function raises DiagnosticError with all mistakes in weights.
    """
    try:
        _ = program.choices
    except DiagnosticError:
        wrong = wrong_choices(program.core, program.limits)
        if not wrong or _reaches_any(program, {weight for weights in wrong.values() for weight in weights}):
            raise
        instructions = list(program.core.instructions)
        for label in wrong:
            choice = instructions[label]
            assert isinstance(choice, SampleChoice)
            value, weight = choice.arms[0]
            instructions[label] = replace(choice, arms=((value, number(1, weight.span)),))
        program = Program(replace(program.core, instructions=tuple(instructions)), program.limits)
        _ = program.choices
    return program


def _reaches_any(program: Program, weights: Set[Expr]) -> bool:
    """Return False only if no run of `program` at an allowed input reaches a choice with one of `weights`."""
    slots = [slot for slot in program.core.input_slots if not slot.is_symbolic]
    domains = [finite_values(slot) for slot in slots]
    if prod(map(len, domains)) > _MOST_REACHED:
        return True
    limits = replace(program.limits, states=min(program.limits.states, _MOST_STATES))
    flow = replace(analyze(program.core), waits=frozenset())
    reached = False

    def possible(weight: ChoiceWeight) -> bool:
        nonlocal reached
        reached = reached or weight in weights
        return True

    try:
        for values in product(*domains):
            finite = {slot.index: value for slot, value in zip(slots, values, strict=True)}
            if program.allowed is None or program.allowed.sets(finite):
                explore(flow, finite, limits=limits, display=True, possible=possible)
            if reached:
                return True
    except (DiagnosticError, Undecided):
        return True
    return False


def validate_source(source: SourceText, constants: Mapping[str, Fraction] | None = None) -> None:
    """Test the translation of a Python function by running it, before its program is shown or exported as text.

    `source` is the function's file, read with the values `constants`. Raises DiagnosticError for a program with
    mistakes, and DefectError if the function and the translated program differ.
    """
    if source.accepted is None:
        return
    try:
        load_source(source, constants or {})
    except DiagnosticError:
        load_source(source, constants or {}, Fraction(1))  # a rate or a constant may have a meaning at one eps only


def source_at(path: Path) -> SourceText:
    """Return the text of the program at `path`: a program file, or `FILE.py::NAME`. Raises DiagnosticError."""
    file, separator, name = str(path).partition(SEPARATOR)
    if separator:
        source: SourceText = above("mechanism").read_mechanism(read_source(Path(file)), name)
        return source
    if path.suffix == ".py":
        note = f"write `{path}{SEPARATOR}NAME`, with the name of the function"
        raise bad_input("E1905", f"`{path}` is a Python file, which can have several mechanisms", note)
    return read_source(path)


def _source(path_or_text: str | os.PathLike[str]) -> SourceText:
    if not isinstance(path_or_text, str):
        return source_at(Path(path_or_text))
    name = path_or_text.strip()
    is_name = name.endswith((".dip", ".py")) or name.partition(SEPARATOR)[0].endswith(".py")
    if path_or_text and "\n" not in path_or_text and (is_name or _is_file(path_or_text)):
        return source_at(Path(name))
    return SourceText("<text>", path_or_text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL character
        return False
