"""det(P) from the `ideal` block: run at one input, or cut into regions of inputs with one answer each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine, Answer, same_value
from dipc.chain.chain import ExitState
from dipc.chain.constraints import Constraint, constraint, irredundant
from dipc.chain.explore import explore
from dipc.chain.flow import Flow, analyze
from dipc.chain.state import Code, Fault, Mark, SlotValue, initial_state, is_symbolic
from dipc.chain.step import step
from dipc.claims.given import Cell, CellPool
from dipc.program.metric import InputSet, Metric, inner_point
from dipc.program.program import Program
from dipc.text.ast import CompareOp
from dipc.text.core import IntType, Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.parser import parse
from dipc.text.program import CoreProgram
from dipc.text.statements import lower_ideal

# --- The diagnostic for an ideal that is a partial function -----------------------------------------------------------
#


def undefined(program: CoreProgram, output: str, inputs: Mapping[int, Value] | Sequence[Value]) -> Diagnostic:
    """Says that the ideal leaves `output` unassigned, and names an input where it does.

    `inputs` are values of all inputs, by slot or in order; those left out may have any value.
    """
    ideal = program.ideal
    assert ideal is not None
    by_slot = inputs if isinstance(inputs, Mapping) else dict(zip(program.inputs, inputs, strict=True))
    shown = [f"{program.slots[slot].name} = {show_value(by_slot[slot])}" for slot in program.inputs if slot in by_slot]
    where = f"at the input {', '.join(shown)}" if shown else "at every input"
    return Diagnostic(
        "E1102",
        f"the ideal is partial: `{output}` is undefined {where}",
        program.source.excerpt(ideal.span),
        f"`{output}` gets no value",
        (f"assign `{output}` on every path, or declare it with an initial value",),
    )


# --- det at one input: the ideal run as the ordinary program that it is -----------------------------------------------
#


class Unassigned(Exception):
    """An output was never assigned; `name` is the user's name for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def execute(flow: Flow, inputs: Sequence[Value], most_steps: int) -> tuple[Value, ...]:
    """The outputs of a deterministic program for `inputs`, both in their order.

    Raises DiagnosticError, which names the input, for a fault and an endless loop, Unassigned for an output that was
    not assigned, LimitReached after `most_steps` turns of loops.
    """
    program = flow.program
    given = dict(zip(program.inputs, inputs, strict=True))
    notes = _input_notes(flow, given)
    values: list[SlotValue] = []
    for slot in program.slots:
        value = given.get(slot.index, slot.initial)
        if value is None:
            values.append(Mark.UNASSIGNED)
        elif is_symbolic(slot.type):
            assert not isinstance(value, str | bool)
            values.append(Affine.number(value))
        else:
            values.append(value)
    state = initial_state(flow.entry, tuple(values))
    visited = {state}  # only where control goes back: nothing else can repeat
    while state.label != flow.exit_label:
        label = state.label
        try:
            ((state, _),) = step(flow, state)
        except Fault as fault:
            raise fault.diagnosed(program.source, *notes) from None
        if state.label <= label:
            if state in visited:
                raise _endless(flow, state.label).diagnosed(program.source, *notes)
            visited.add(state)
            if len(visited) > most_steps:
                raise LimitReached("states", f"the ideal takes more than {most_steps} turns of its loops")
    return tuple(_output(flow, state.values[slot], slot) for slot in program.outputs)


def _output(flow: Flow, value: SlotValue, slot: int) -> Value:
    if isinstance(value, Mark):
        raise Unassigned(flow.program.slots[slot].name)
    if isinstance(value, Affine):
        assert value.is_number
        return value.constant
    return value


def _endless(flow: Flow, label: int) -> Fault:
    program = flow.program
    loop = program.loops.get(label, program.instructions[label].span)
    return Fault(
        Code.ENDLESS_LOOP,
        "this `while` goes on forever",
        loop,
        "no way out",
        "the ideal must end for every input: let the loop's condition become false",
    )


def _input_notes(flow: Flow, given: dict[int, Value]) -> tuple[str, ...]:
    if not given:
        return ()
    shown = ", ".join(f"{flow.program.slots[slot].name} = {show_value(value)}" for slot, value in given.items())
    return (f"this happens at the input {shown}",)


# --- det(P) from the `ideal` block: executed once with real inputs symbolic, and cut into regions with one answer each
#

__all__ = ["Answer", "Ideal", "Region"]

#: States of an exploration of all answers that is made for one of them, and of one that is made for one input.
_MOST_SHARED, _FEW_STATES = 20_000, 2_000


@dataclass(frozen=True, slots=True)
class Region:
    """The real and int inputs that satisfy all `guards`: a convex set, on which det gives one answer.

    Guards and answer are over the input slots of the program (not of the ideal); strictness is exact. `answer` is in
    the order of the program's outputs.
    """

    guards: tuple[Constraint, ...]
    answer: tuple[Answer, ...]


class Ideal:
    """det(P) of one program, and its `metric`. Its own `pool` makes the cells that it gives."""

    def __init__(self, program: Program) -> None:
        """Raises DiagnosticError for a program without an `ideal` block."""
        self.program = program
        core = program.core
        lowered = None
        if core.ideal is not None:
            # The constants as they are now, whether the text or the command line has set them.
            lowered = lower_ideal(parse(core.source), core.source, core.constants, core.only_at)
        if lowered is None:
            raise DiagnosticError(_no_ideal(core))
        self.core = lowered
        self.metric = Metric(program.core)
        self.pool = CellPool()
        self._to_program = dict(zip(lowered.inputs, core.inputs, strict=True))
        self._to_ideal = {slot: own for own, slot in self._to_program.items()}
        self._regions: dict[tuple[Value, ...], tuple[Region, ...] | LimitReached] = {}
        #: With how many states all regions for these finite inputs were looked for.
        self._tried: dict[tuple[Value, ...], int] = {}

    @cached_property
    def flow(self) -> Flow:
        """Control and data flow of the ideal, analyzed once."""
        return analyze(self.core)

    @cached_property
    def finite_inputs(self) -> tuple[int, ...]:
        """The program's bool and DOM inputs, as slots."""
        slots = self.program.core.slots
        return tuple(slot for slot in self.program.core.inputs if not is_symbolic(slots[slot].type))

    @cached_property
    def symbolic_inputs(self) -> tuple[int, ...]:
        """The program's real and int inputs, as slots."""
        slots = self.program.core.slots
        return tuple(slot for slot in self.program.core.inputs if is_symbolic(slots[slot].type))

    @cached_property
    def whole_inputs(self) -> tuple[int, ...]:
        """The program's int inputs, as slots."""
        slots = self.program.core.slots
        return tuple(slot for slot in self.symbolic_inputs if isinstance(slots[slot].type, IntType))

    def regions(self, finite: Mapping[int, Value]) -> tuple[Region, ...]:
        """What det is for these finite inputs (a value for every DOM and bool input, by the program's slots).

        The regions are disjoint, none is empty as a set of reals, and together they cover all real and int inputs.
        Paths with the same answer are united where they meet and make one convex set.

        Raises DiagnosticError where det is undefined for some input, LimitReached past the limits of the program.
        """
        key = tuple(finite[slot] for slot in self.finite_inputs)
        known = self._regions.get(key)
        if known is None:
            known = self._regions[key] = self._explored(finite)
        if isinstance(known, LimitReached):
            raise known.with_traceback(None)
        return known

    def has_few_regions(self, finite: Mapping[int, Value]) -> bool:
        """Whether all regions for these finite inputs are known, or soon found."""
        return self._shared(finite, _FEW_STATES) is not None

    def region_of(self, finite: Mapping[int, Value], point: Mapping[int, Fraction]) -> Region:
        """A region around the point, which has a value for every real and int input: that of its own path, with one
        answer. Raises as `regions` does."""
        along = {self._to_ideal[slot]: value for slot, value in point.items()}
        (found,) = self._regions_of(finite, None, self.program.limits.states, along=along)
        return found

    def regions_near(
        self, finite: Mapping[int, Value], point: Mapping[int, Fraction], radius: Fraction
    ) -> tuple[Region, ...]:
        """The parts of the regions where every real and int input is nearer to that of the point than the radius > 0.
        Raises as `regions` does."""
        guards: list[Constraint] = []
        whole = frozenset(self.whole_inputs)
        for slot, value in point.items():
            form = Affine.input(self._to_ideal[slot])
            guards.append(constraint(form.shifted(radius - value), CompareOp.GT, slot in whole))
            guards.append(constraint(form.shifted(-radius - value), CompareOp.LT, slot in whole))
        return self._regions_of(finite, None, self.program.limits.states, guards)

    def alike(self, finite: Mapping[int, Value], answer: Sequence[Value]) -> tuple[Region, ...]:
        """The regions whose finite outputs are those of `answer`: all that can give this answer.

        Where there are too many regions altogether, only the paths to this answer are followed.
        """
        outputs = self.program.core.outputs
        everything = self._shared(finite, _MOST_SHARED)
        if everything is None:
            wanted: dict[int, Value] = {
                own: value
                for own, value in zip(self.core.outputs, answer, strict=True)
                if not is_symbolic(self.core.slots[own].type)
            }
            return self._regions_of(finite, wanted, self.program.limits.states)
        return tuple(
            region
            for region in everything
            if all(
                is_symbolic(self.program.core.slots[slot].type)
                or (not isinstance(here, Affine) and same_value(here, there))
                for slot, here, there in zip(outputs, region.answer, answer, strict=True)
            )
        )

    def _shared(self, finite: Mapping[int, Value], states: int) -> tuple[Region, ...] | None:
        """All regions, if they are known or found with so many states: else one answer's alone are found sooner."""
        key = tuple(finite[slot] for slot in self.finite_inputs)
        if key not in self._regions and self._tried.get(key, 0) < states:
            self._tried[key] = states
            with suppress(LimitReached):
                self._regions[key] = self._regions_of(finite, None, min(states, self.program.limits.states))
        known = self._regions.get(key)
        return None if known is None or isinstance(known, LimitReached) else known

    def _explored(self, finite: Mapping[int, Value]) -> tuple[Region, ...] | LimitReached:
        try:
            return self._regions_of(finite, None, self.program.limits.states)
        except LimitReached as limit:
            return limit

    def _regions_of(
        self,
        finite: Mapping[int, Value],
        wanted: Mapping[int, Value] | None,
        states: int,
        guards: Iterable[Constraint] = (),
        along: Mapping[int, Fraction] | None = None,
    ) -> tuple[Region, ...]:
        own = {self._to_ideal[slot]: finite[slot] for slot in self.finite_inputs}
        limits = replace(self.program.limits, states=states)
        chain = explore(self.flow, own, wanted, limits, guards=guards, along=along)
        whole = frozenset(self.whole_inputs)
        paths = ((tuple(map(self._moved_constraint, irredundant(found.guards.items))), found) for found in chain.exits)
        return tuple(
            self._region(guards, found, finite, wanted or {})
            for guards, found in paths
            if not InputSet(guards, whole, self.program.limits.branches).is_empty
        )

    def values(self, inputs: Sequence[Value]) -> tuple[Value, ...]:
        """det at one input: a value for every input, in their order, to one for every output, in theirs.

        Raises DiagnosticError where det is undefined there, LimitReached for a run that is too long.
        """
        try:
            return execute(self.flow, inputs, self.program.limits.states)
        except Unassigned as missing:
            raise DiagnosticError(undefined(self.program.core, missing.name, inputs)) from None

    def answer(self, inputs: Sequence[Cell]) -> tuple[Cell, ...]:
        """det at one input, as cells of this ideal's pool; raises as `values` does."""
        given: list[Value] = []
        for cell in inputs:
            assert cell.value is not None, "an input is finite"
            given.append(cell.value)
        return tuple(self.pool.cell(value) for value in self.values(given))

    def _region(
        self,
        guards: tuple[Constraint, ...],
        found: ExitState,
        finite: Mapping[int, Value],
        wanted: Mapping[int, Value],
    ) -> Region:
        answer: list[Answer] = []
        for own in self.core.outputs:
            value = wanted.get(own, found.outputs.get(own))
            if value is None:
                raise DiagnosticError(self._partial(self.core.slots[own].name, finite, guards))
            answer.append(self._moved(value) if isinstance(value, Affine) else value)
        return Region(guards, tuple(answer))

    def _partial(self, output: str, finite: Mapping[int, Value], guards: tuple[Constraint, ...]) -> Diagnostic:
        inside = inner_point(guards, frozenset(self.whole_inputs), self.program.limits.branches) or {}
        return undefined(self.program.core, output, {**finite, **inside})

    def _moved_constraint(self, item: Constraint) -> Constraint:
        return replace(item, form=self._moved(item.form), difference=self._moved(item.difference))

    def _moved(self, form: Affine) -> Affine:
        assert not form.noises, "an ideal draws nothing"
        terms = sorted((self._to_program[slot], coefficient) for slot, coefficient in form.inputs)
        return Affine((), tuple(terms), form.constant)


def _no_ideal(core: CoreProgram) -> Diagnostic:
    return Diagnostic(
        "E1101",
        f"the program `{core.name}` has no `ideal` block",
        notes=(
            "add `ideal { ... }`, a deterministic program that computes the exact answer",
            "or give a table of the exact answers",
        ),
    )


# --- Where det gives another answer than a given one: finitely many convex sets of inputs -----------------------------
#

Guards = tuple[Constraint, ...]


def disagreement(region: Region, answer: Sequence[Value], whole_outputs: Sequence[bool]) -> Iterator[Guards]:
    """Sets (not always disjoint, some perhaps empty) that together are where in `region` det is not `answer`.

    `whole_outputs` says which of the outputs are ints.
    """
    forms: list[tuple[Affine, bool]] = []
    for here, there, whole in zip(region.answer, answer, whole_outputs, strict=True):
        if not isinstance(here, Affine):
            if not same_value(here, there):
                yield region.guards
                return
            continue
        assert isinstance(there, Fraction)
        difference = here.shifted(-there)
        if difference.is_number:
            if difference.constant:
                yield region.guards
                return
        else:
            forms.append((difference, whole))
    for difference, whole in forms:
        for op in (CompareOp.GT, CompareOp.LT):
            yield (*region.guards, constraint(difference, op, whole))
