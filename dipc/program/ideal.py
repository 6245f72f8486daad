"""The right answer of a program, and the distance of inputs from another answer.

det(P) comes from the `ideal` block, which is run at one input, or cut into regions of inputs with one answer each. The
distance to disagreement is dd(u) = inf { d(u, u') : det(u') != det(u) }, exactly (Definition 2 of the paper).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from math import floor, prod
from operator import itemgetter
from typing import TYPE_CHECKING

from dipc.algebra.limits import LimitReached, Limits, NotApplicable, Undecided
from dipc.chain.chain import ExitState
from dipc.chain.explore import InputsAmong, explore
from dipc.chain.flow import Flow, analyze
from dipc.chain.series import RunSet, Series, runs
from dipc.chain.state import (
    Affine,
    Answer,
    Code,
    Constraint,
    Fault,
    Mark,
    SlotValue,
    Terms,
    as_form,
    constraint,
    finite_values,
    irredundant,
    same_value,
)
from dipc.chain.step import step
from dipc.claims.given import Cell, CellPool, value_of
from dipc.frozen import LazyModule, frozen
from dipc.program.grid import AllDistances, InputGrid, answers, distances, gap, members
from dipc.program.metric import InputSet, Metric, Norm, Point, inner_point
from dipc.program.nearby import NearbyRun
from dipc.program.nearness import AllOf, AnyOf, Formula, all_of, opposite, place_notes
from dipc.program.program import Program
from dipc.text.ast import BaseType, CompareOp
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input
from dipc.text.parser import parse
from dipc.text.program import CoreProgram
from dipc.text.statements import lower_ideal

if TYPE_CHECKING:
    from dipc.program import deterministic
else:
    deterministic = LazyModule("dipc.program.deterministic")

# --- The diagnostic for an ideal that is a partial function -----------------------------------------------------------


def undefined(program: CoreProgram, output: str, inputs: Mapping[int, Value] | Sequence[Value]) -> Diagnostic:
    """Return the diagnostic saying that the ideal of `program` gives `output` no value at the input `inputs`.

    `inputs` are values by slot or in order. Values by slot may be given for some inputs only: the mistake then occurs
    for all values of the others.
    """
    ideal = program.ideal
    assert ideal is not None
    by_slot = inputs if isinstance(inputs, Mapping) else dict(zip(program.inputs, inputs, strict=True))
    given = [f"{program.slots[slot].name} = {show_value(by_slot[slot])}" for slot in program.inputs if slot in by_slot]
    where = f"at the input {', '.join(given)}" if given else "at every input"
    return Diagnostic(
        "E1102",
        f"the ideal gives no answer for `{output}` {where}",
        program.source.excerpt(ideal.span),
        f"`{output}` gets no value",
        (f"assign `{output}` on every path, or declare it with an initial value",),
    )


# --- det at one input: the ideal run as an ordinary program -----------------------------------------------------------


class Unassigned(Exception):
    """Raised if an output was never assigned; `name` is the user's name for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def execute(flow: Flow, inputs: Sequence[Value], most_steps: int) -> tuple[Value, ...]:
    """Return the outputs of the deterministic program of `flow` for `inputs`, both in their order.

    Raises DiagnosticError, which names the input, for a fault and an endless loop, Unassigned for an unassigned output,
    and LimitReached after `most_steps` turns of loops.
    """
    program = flow.program
    given = dict(zip(program.inputs, inputs, strict=True))
    notes = place_notes(program, given)
    state = flow.first_state(given)
    visited = {state}  # only states after a backward jump, as no others can repeat
    while state.label != flow.exit_label:
        label = state.label
        try:
            ((state, _),) = step(flow, state)
        except Fault as fault:
            raise fault.diagnosed(program.source, *notes) from None
        if state.label <= label:
            if state in visited:
                raise Fault(
                    Code.ENDLESS_LOOP,
                    "this `while` goes on forever",
                    program.loops.get(state.label, program.instructions[state.label].span),
                    "no way out",
                    "the ideal must end for every input: let the loop's condition become false",
                ).diagnosed(program.source, *notes)
            visited.add(state)
            if len(visited) > most_steps:
                raise LimitReached("states", f"the loops of the ideal take more than {most_steps} iterations")
    return tuple(_output(flow, state.values[slot], slot) for slot in program.outputs)


def _output(flow: Flow, value: SlotValue, slot: int) -> Value:
    if isinstance(value, Mark):
        raise Unassigned(flow.program.slots[slot].name)
    if isinstance(value, Affine):
        assert value.is_number
        return value.constant
    assert isinstance(value, Fraction | str | bool), "a deterministic program makes no choice"
    return value


# --- det(P) from the `ideal` block: executed once with real inputs symbolic, and cut into regions with one answer each

__all__ = ["Answer", "Ideal", "Region"]

#: The most states of an exploration of all answers that serves one answer, and of one that serves one input.
_MOST_SHARED, _FEW_STATES = 20_000, 2_000

#: The most states by values alone for each instruction of an ideal: a running maximum has as many as there are queries.
_MOST_BY_LABEL = 4


@frozen
class Region:
    """The real and int inputs that satisfy all `guards`: a convex set on which det gives one `answer`.

    The answer has a value for each output of the program, in order; that of a real or int output may be a form in the
    inputs. Guards and answer are over the input slots of the program, not those of its ideal. A strict guard excludes
    the inputs at which its two sides are equal.
    """

    guards: tuple[Constraint, ...]
    answer: tuple[Answer, ...]


class Ideal:
    """The right answer det of one `program`, and its `metric`.

    The method `answer` returns cells from `pool`. A cell is a value with the text shown for it, and the pool has one
    cell for each value.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        core = program.core
        lowered = None
        if core.ideal is not None:
            # The current constants, whether the text or the command line has set them.
            lowered = lower_ideal(parse(core.source), core.source, core.constants, core.only_at)
        if lowered is None:
            raise bad_input(
                "E1101",
                f"the program `{core.name}` has no `ideal` block",
                how_to_say_the_answer(core),
                "or give a table of the exact answers",
            )
        self.core = lowered
        self.metric = Metric(program.core)
        self.pool = CellPool()
        self._to_program = dict(zip(lowered.inputs, core.inputs, strict=True))
        self._to_program_output = dict(zip(lowered.outputs, core.outputs, strict=True))
        self._to_ideal = {slot: own for own, slot in self._to_program.items()}
        self._regions: dict[tuple[Value, ...], tuple[Region, ...] | LimitReached] = {}
        #: det by the number of an input in the grid, once `list_answers` has computed it.
        self._listed: list[tuple[Value, ...] | None] | None = None
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
        return tuple(slot for slot in self.program.core.inputs if not slots[slot].is_symbolic)

    @cached_property
    def symbolic_inputs(self) -> tuple[int, ...]:
        """The program's real and int inputs, as slots."""
        slots = self.program.core.slots
        return tuple(slot for slot in self.program.core.inputs if slots[slot].is_symbolic)

    @cached_property
    def whole_inputs(self) -> tuple[int, ...]:
        """The program's int inputs, as slots."""
        slots = self.program.core.slots
        return tuple(slot for slot in self.symbolic_inputs if slots[slot].type is BaseType.INT)

    def regions(self, finite: Mapping[int, Value]) -> tuple[Region, ...]:
        """Return the regions of det for `finite`, a value for every DOM and bool input, by slot.

        The regions are disjoint, none is empty, and together they cover all real and int inputs that satisfy
        `requires`. The inputs of two paths with the same answer are one region if they touch and their union is convex.
        Raises DiagnosticError if det is undefined for some input, LimitReached past the limits of the program.
        """
        key = tuple(finite[slot] for slot in self.finite_inputs)
        known = self._regions.get(key)
        if known is None:
            try:
                known = self._regions_of(finite, None, self.program.limits.states)
            except LimitReached as limit:
                known = limit
            self._regions[key] = known
        if isinstance(known, LimitReached):
            raise known.with_traceback(None)
        return known

    @cached_property
    def runs(self) -> RunSet | None:
        """All runs of the ideal; None if they have too many states or cannot be counted.

        The result is also None for a program with `requires`, because a run combines any paths through the segments,
        and some combinations may violate `requires`.
        """
        if self.program.allowed is not None:
            return None
        return runs(self.flow, _MOST_BY_LABEL * len(self.core.instructions))

    @cached_property
    def series(self) -> tuple[Series, ...] | None:
        """The possible answers of det, each with the runs to it, cut into segments.

        Guards and answers are over the slots of the program. None if `runs` is None, or if some segment has many paths.
        """
        every = None if self.runs is None else self.runs.series()
        return None if every is None else tuple(map(self._translate_series, every))

    def series_towards(self, answer: Sequence[Value]) -> Series | None:
        """Return the runs of the ideal to one `answer`, cut into segments, over the slots of the program.

        None if `runs` is None, if no run gives the answer, or if some segment has many paths.
        """
        end = None if self.runs is None else self.runs.end(tuple(answer))
        towards = None if self.runs is None or end is None else self.runs.towards(end)
        return None if towards is None else self._translate_series(towards)

    def _translate_series(self, each: Series) -> Series:
        outputs = {self._to_program_output[slot]: value for slot, value in each.outputs.items()}
        segments = [tuple([tuple(map(self._translate_constraint, path)) for path in paths]) for paths in each.segments]
        return Series(outputs, (), tuple(segments))

    def has_few_regions(self, finite: Mapping[int, Value]) -> bool:
        """Return True if the regions for the finite inputs `finite` are known or can be found with few states.

        If they are not known, this call looks for them.
        """
        return self._shared(finite, _FEW_STATES) is not None

    def region_of(self, finite: Mapping[int, Value], point: Mapping[int, Fraction]) -> Region:
        """Return the inputs at which the ideal takes the path that it takes at `point`, as a region.

        `point` has a value for every real and int input, by slot, and `finite` for every finite one. Raises
        DiagnosticError if det is undefined at `point`, LimitReached past the limits of the program.
        """
        along = {self._to_ideal[slot]: value for slot, value in point.items()}
        (region,) = self._regions_of(finite, None, self.program.limits.states, along=along)
        return region

    def regions_near(
        self, finite: Mapping[int, Value], point: Mapping[int, Fraction], radius: Fraction
    ) -> tuple[Region, ...]:
        """Return the regions, cut to the inputs that differ from `point` by less than `radius` in each coordinate.

        `point` has the values of the real and int inputs, and `finite` those of the finite inputs, by slot. Raises
        DiagnosticError if det is undefined for some input, LimitReached past the limits of the program.
        """
        guards: list[Constraint] = []
        whole = frozenset(self.whole_inputs)
        for slot, value in point.items():
            form = Affine.input(self._to_ideal[slot])
            guards.append(constraint(form.shifted(radius - value), CompareOp.GT, slot in whole))
            guards.append(constraint(form.shifted(-radius - value), CompareOp.LT, slot in whole))
        return self._regions_of(finite, None, self.program.limits.states, guards)

    def is_constant_near(
        self, finite: Mapping[int, Value], answer: Sequence[Value], point: Point, radius: Fraction, norm: Norm
    ) -> bool:
        """Return True only if det is `answer` at every input nearer than `radius` to `point`; False proves nothing.

        `finite` are the values of the finite inputs, which do not change. Only the outputs that dd(u) depends on are
        compared. The distance is by `norm`, LINF or L1.
        """
        run = NearbyRun(self.flow, norm, {self._to_ideal[slot]: value for slot, value in point.items()}, radius)
        found = run.answers({self._to_ideal[slot]: value for slot, value in finite.items()})
        if found is None:
            return False
        decisive = self.metric.decisive
        return all(
            len(there) == 1
            and (there[0] == as_form(here) if isinstance(there[0], Affine) else same_value(there[0], here))
            for here, there in zip(decisive(answer), decisive(found), strict=True)
        )

    def alike(self, finite: Mapping[int, Value], answer: Sequence[Value]) -> tuple[Region, ...]:
        """Return the regions for the finite inputs `finite` where the finite outputs of det are those of `answer`.

        If there are too many regions to find all of them, only the paths of the ideal to these outputs are followed.
        """
        outputs = self.program.core.outputs
        everything = self._shared(finite, _MOST_SHARED)
        if everything is None:
            wanted: dict[int, Value] = {
                own: value
                for own, value in zip(self.core.outputs, answer, strict=True)
                if not self.core.slots[own].is_symbolic
            }
            return self._regions_of(finite, wanted, self.program.limits.states)
        return tuple(
            region
            for region in everything
            if all(
                self.program.core.slots[slot].is_symbolic or (not isinstance(here, Affine) and same_value(here, there))
                for slot, here, there in zip(outputs, region.answer, answer, strict=True)
            )
        )

    def _shared(self, finite: Mapping[int, Value], states: int) -> tuple[Region, ...] | None:
        """Return all regions for the finite inputs `finite`, computing them if they are not known yet.

        The result is None if the computation needs more than `states` states.
        """
        key = tuple(finite[slot] for slot in self.finite_inputs)
        if key not in self._regions and self._tried.get(key, 0) < states:
            self._tried[key] = states
            with suppress(LimitReached):
                self._regions[key] = self._regions_of(finite, None, min(states, self.program.limits.states))
        known = self._regions.get(key)
        return None if known is None or isinstance(known, LimitReached) else known

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
        whole = frozenset(self.whole_inputs)
        regions: list[Region] = []
        for given in self._allowed_sets(finite, tuple(guards), along):
            chain = explore(self.flow, InputsAmong(own, given, along), wanted, limits)
            paths = (
                (tuple(map(self._translate_constraint, irredundant(exit_state.guards.items))), exit_state)
                for exit_state in chain.exits
            )
            regions += (
                self._region(inside, exit_state, finite, wanted or {})
                for inside, exit_state in paths
                if not InputSet(inside, whole, self.program.limits.branches).is_empty
            )
        return tuple(regions)

    def _allowed_sets(
        self, finite: Mapping[int, Value], guards: tuple[Constraint, ...], along: Mapping[int, Fraction] | None
    ) -> Iterator[tuple[Constraint, ...]]:
        """Yield disjoint convex sets, whose union has the inputs that satisfy `requires` and `guards`.

        Each set is a tuple of guards on slots of the ideal. `finite` has the values of the finite inputs. If `along` is
        given, only the set that contains this input is yielded; `along` has its real and int values, by slot of the
        ideal.
        """
        allowed = self.program.allowed
        if allowed is None:
            yield guards
            return
        whole = frozenset(self._to_ideal[slot] for slot in self.whole_inputs)
        for inside in allowed.sets(finite):
            in_ideal = [
                replace(
                    item, form=item.form.renamed(self._to_ideal), difference=item.difference.renamed(self._to_ideal)
                )
                for item in inside
            ]
            both = (*guards, *in_ideal)
            if along is not None and not all(guard.holds_at(along) for guard in both):
                continue
            if not guards or not InputSet(both, whole, self.program.limits.branches).is_empty:
                yield both

    def outside(self, finite: Mapping[int, Value]) -> tuple[Region, ...]:
        """Return regions, without an answer, whose union is the set of inputs that violate `requires`.

        `finite` are the values of the finite inputs, by slot.
        """
        allowed = self.program.allowed
        return () if allowed is None else tuple([Region(guards, ()) for guards in allowed.gaps(finite)])

    @cached_property
    def _run(self) -> deterministic.DeterministicRun | None:
        return deterministic.DeterministicRun(self.flow) if deterministic.runs_at_once(self.flow) else None

    def values(self, inputs: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values of det, in the order of the outputs, at the input with the values `inputs`, in their order.

        Raises DiagnosticError if det is undefined at this input, LimitReached for a run that is too long.
        """
        if self._listed is not None and (listed := self._listed[self.grid.number(inputs)]) is not None:
            return listed
        result = None if self._run is None else self._run.outputs(inputs)
        if result is not None:
            return result
        try:
            return execute(self.flow, inputs, self.program.limits.states)
        except Unassigned as missing:
            raise DiagnosticError(undefined(self.program.core, missing.name, inputs)) from None

    @cached_property
    def grid(self) -> InputGrid:
        """All inputs of a program whose inputs are all finite."""
        slots = self.program.core.slots
        return InputGrid([finite_values(slots[slot]) for slot in self.program.core.inputs])

    @cached_property
    def everywhere(self) -> Mapping[tuple[Value, ...], int] | None:
        """For each answer of det, the set of the inputs that satisfy `requires` and have this answer.

        A set is an int, whose bits are the numbers of its inputs in `grid`. None for programs with real or int inputs
        and for too many inputs, and if det is undefined at one of them.
        """
        if self.symbolic_inputs or self.grid.size > _MOST_GRID or self._run is None:
            return None
        allowed = self.program.allowed
        if allowed is None:
            with suppress(NotApplicable):
                return answers(self.flow, self.grid)
        if self.grid.size > _MOST_AT_ONCE:
            return None
        found: dict[tuple[Value, ...], bytearray] = {}
        with suppress(DiagnosticError, Undecided):
            for number, inputs in enumerate(product(*self.grid.choices)):
                if allowed is None or allowed.allows(inputs):
                    here = found.setdefault(self.values(inputs), bytearray(self.grid.size // 8 + 1))
                    here[number >> 3] |= 1 << (number & 7)
            return {answer: int.from_bytes(here, "little") for answer, here in found.items()}
        return None

    def list_answers(self) -> None:
        """Compute det at all finite inputs together, if possible, so that `values` looks the answers up."""
        if self.everywhere is not None:
            self._listed = [None] * self.grid.size
            for answer, inputs in self.everywhere.items():
                for number in members(inputs):
                    self._listed[number] = answer

    def distances(self, norm: Norm) -> AllDistances | None:
        """Return dd, by `norm`, at all inputs that satisfy `requires`, computed for all at once.

        The result is None where that is too much work, and for programs whose inputs are not all finite.
        """
        if self.everywhere is None:
            return None
        classes: dict[_Key, int] = {}
        for answer, inputs in self.everywhere.items():
            key = _key((), tuple(self.metric.decisive(answer)))
            classes[key] = classes.get(key, 0) | inputs
        with suppress(NotApplicable):
            return distances(self.grid, norm, list(classes.values()))
        return None

    def answer(self, inputs: Sequence[Cell]) -> tuple[Cell, ...]:
        """Return det at `inputs`, as cells of `pool`, in the order of the outputs.

        Raises DiagnosticError if det is undefined at `inputs`, LimitReached for a run that is too long.
        """
        return tuple(map(self.pool.cell, self.values([*map(value_of, inputs)])))

    def _region(
        self,
        guards: tuple[Constraint, ...],
        exit_state: ExitState,
        finite: Mapping[int, Value],
        wanted: Mapping[int, Value],
    ) -> Region:
        answer: list[Answer] = []
        for own in self.core.outputs:
            value = wanted.get(own, exit_state.outputs.get(own))
            if value is None:
                inside = inner_point(guards, frozenset(self.whole_inputs), self.program.limits.branches) or {}
                raise DiagnosticError(undefined(self.program.core, self.core.slots[own].name, {**finite, **inside}))
            answer.append(self._translate(value) if isinstance(value, Affine) else value)
        return Region(guards, tuple(answer))

    def _translate_constraint(self, item: Constraint) -> Constraint:
        return replace(item, form=self._translate(item.form), difference=self._translate(item.difference))

    def _translate(self, form: Affine) -> Affine:
        assert not form.noises, "an ideal draws no noise"
        terms = sorted((self._to_program[slot], coefficient) for slot, coefficient in form.inputs)
        return Affine((), tuple(terms), form.constant)


def how_to_say_the_answer(core: CoreProgram) -> str:
    """Return the advice to add a right answer to `core`, a program without an ideal."""
    if core.source.tree is not None:
        names = ", ".join(dict.fromkeys(slot.name.partition("[")[0] for slot in core.input_slots))
        return (
            "give the right answer as a function of the same inputs: `@dipc.mechanism(ideal=exact)`, "
            f"or `ideal=lambda {names}: …`"
        )
    return "add `ideal { ... }`, a deterministic program that computes the exact answer"


# --- Where det gives another answer than a given one: finitely many convex sets of inputs -----------------------------

Guards = tuple[Constraint, ...]


def disagreement(
    region: Region, answer: Sequence[Value], whole_outputs: Sequence[bool], metric: Metric
) -> Iterator[Guards]:
    """Yield convex sets whose union is the inputs of `region` where det differs from `answer`.

    Each set is given by its guards; the sets can overlap, and some can be empty. `metric` selects the outputs that
    dd(u) depends on, and only these are compared. `whole_outputs` has True for each int output and False for any other,
    in order.
    """
    forms: list[tuple[Affine, bool]] = []
    for here, there, whole in zip(*map(metric.decisive, (region.answer, answer, whole_outputs)), strict=True):
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


# --- The least distance to a set of inputs that is not convex: constraints joined by `and` and `or` -------------------


class DistanceSearch:
    """A branch-and-bound search for the distance from one point to the inputs that satisfy a formula.

    It branches on the alternatives of each `or`. More constraints only make a set of inputs smaller and its distance
    larger. A branch is abandoned as soon as its constraints contradict each other, or are at least as far away as the
    nearest input found.
    """

    def __init__(self, norm: Norm, point: Point, whole_inputs: frozenset[int], limits: Limits) -> None:
        self._norm = norm
        self._point = point
        self._whole_inputs = whole_inputs
        self._parts = 0
        self._limits = limits

    def nearest(
        self, guards: Sequence[Constraint], formula: Formula, away: Fraction, below: Fraction | None
    ) -> Fraction | None:
        """Return the distance from the point to the inputs that satisfy `guards` and `formula`.

        `away` is the distance in the finite inputs alone. The norm combines it with the distance in the real and int
        inputs, and the result is the combined distance. None if the distance is at least `below`, or if no input
        satisfies `guards` and `formula`. Raises Undecided past a limit.
        """
        if formula is False:
            return None
        self._parts += 1
        if self._parts > self._limits.parts:
            raise LimitReached("parts", f"more than {self._limits.parts} convex sets of inputs have another answer")
        conjuncts = formula.parts if isinstance(formula, AllOf) else () if formula is True else (formula,)
        known = [*guards, *(conjunct for conjunct in conjuncts if isinstance(conjunct, Constraint))]
        least = InputSet(known, self._whole_inputs, self._limits.branches).distance(
            self._norm, self._point, away, below
        )
        choices = [conjunct for conjunct in conjuncts if isinstance(conjunct, AnyOf | AllOf)]
        if least is None or not choices:
            return least
        first, *rest = choices
        alternatives = first.parts if isinstance(first, AnyOf) else (first,)
        result: Fraction | None = None
        for alternative in sorted(alternatives, key=self._rank):
            both = AllOf((*(alternative.parts if isinstance(alternative, AllOf) else (alternative,)), *rest))
            nearer = self.nearest(known, both, away, below)
            if nearer is not None:
                result = below = nearer
                if result == least:
                    break
        return result

    def _rank(self, alternative: Formula) -> Fraction:
        """Return how much the point of this search violates the formula `alternative`, and 0 if it satisfies it.

        Alternatives with smaller numbers are tried first, as they are likely to be nearer to the point. The guard f >=
        0 is violated by -f if f is negative at the point.
        """
        match alternative:
            case Constraint():
                return max(-alternative.form.evaluate(self._point), Fraction(0))
            case AllOf(formulas):
                return max(map(self._rank, formulas))
            case AnyOf(formulas):
                return min(map(self._rank, formulas))
            case _:
                return Fraction(0)


# --- The distance to disagreement dd(u) = inf { d(u, u') : det(u') != det(u) }, exactly (Definition 2 of the paper) ---

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The number of inputs with one answer, of an ideal with many regions, after which all regions are computed.
_MOST_ALONE = 16

#: The number of inputs examined, the nearest first, if there are more than can be compared.
_MOST_NEAR = 1_000

#: With more than this number of regions, distances are found segment by segment; the most sets outside a segment.
_MANY_REGIONS, _MOST_OUTSIDE = 64, 64

#: dd is found for all finite inputs at once after this many looks at one input, or this share of all, if that is more.
_FEW_LOOKS, _LOOKS_SHARE = 200, 32

#: The most inputs of a grid, and the most that are run one by one.
_MOST_GRID, _MOST_AT_ONCE = 4_000_000, 100_000

_Key = tuple[tuple[type, ...], tuple[Value, ...], tuple[type, ...], tuple[Value, ...]]


class Distances:
    """The distance to disagreement dd of one ideal, at many inputs."""

    def __init__(self, ideal: Ideal, norm: Norm | None = None) -> None:
        self._ideal = ideal
        self._norm = norm or ideal.metric.norm
        core = ideal.program.core
        self._position = {slot: position for position, slot in enumerate(core.inputs)}
        self._whole_outputs = [slot.type is BaseType.INT for slot in core.output_slots]
        self._whole_inputs = frozenset(ideal.whole_inputs)
        self._finite = [core.slots[slot] for slot in ideal.finite_inputs]
        self._targets: dict[_Key, tuple[InputSet, ...]] = {}
        self._classes: dict[_Key, InputSet | None] = {}
        #: By answer what is outside of its segments.
        self._sections: dict[_Key, tuple[InputSet, ...] | None] = {}
        #: By finite inputs and answer how many inputs were looked at alone, and how many of all in a box of regions.
        self._alone = Counter[_Key]()
        self._boxes = 0
        #: How many inputs were looked at, of a program with finite inputs alone; once they were many, dd of all.
        self._looked = 0
        self._tried_everywhere = False
        self._everywhere: AllDistances | None = None

    def dd(self, inputs: Sequence[Value], answer: Sequence[Value] | None = None) -> Fraction | None:
        """Return the distance to disagreement of the input `inputs`, None for infinity.

        `answer` is det at this input, if it is known.
        """
        answer = tuple(self._ideal.values(inputs) if answer is None else answer)
        own = tuple(inputs[self._position[slot.index]] for slot in self._finite)
        point: dict[int, Fraction] = {}
        for slot in self._ideal.symbolic_inputs:
            value = inputs[self._position[slot]]
            assert isinstance(value, Fraction)
            point[slot] = value
        if not self._ideal.metric.is_plain:
            return self._by_formulas(own, point, answer)
        if own and not point:
            return self._among_finite(own, answer)
        least: Fraction | None = None
        for away, finite in self._around(own):
            if least is not None and away >= least:
                break
            targets = self._by_sections(answer)
            if targets is None:
                if (near := self._dd_alone(finite, answer, point)) is not None:
                    total = self._norm.combined([away, near])
                    least = total if least is None else min(least, total)
                    continue
                if not away and (alike := self._class(finite, answer)) is not None:
                    least = alike.distance_out(self._norm, point)
                    continue
                targets = self._targets_for(finite, answer)
            for target in targets:
                distance = target.distance(self._norm, point, away, least)
                least = least if distance is None else distance
        return least

    def convex_region(
        self, answer: tuple[Value, ...]
    ) -> tuple[tuple[Constraint, ...], tuple[tuple[Terms, Fraction], ...]] | None:
        """Return the guards of the inputs where det is `answer`, and affine functions whose minimum is dd on them.

        A function is a pair (coefficients, constant). None if the inputs are not known to be one convex set of real
        inputs, with at least one guard. Raises Undecided past a limit, and DiagnosticError.
        """
        ideal = self._ideal
        if not ideal.metric.is_plain or self._finite or self._whole_inputs or self._norm is Norm.DISCRETE:
            return None
        if ideal.program.allowed is not None or not ideal.has_few_regions({}):
            return None
        alike = self._class((), answer)
        return None if alike is None else alike.real_facets(self._norm)

    def _by_sections(self, answer: tuple[Value, ...]) -> tuple[InputSet, ...] | None:
        """Return sets of inputs whose union is where det is not `answer`, or None if they are not known.

        Every run of the ideal to the answer passes several segments, and follows one of a few paths through each. So
        det is another answer exactly if, in some segment, the input satisfies the guards of no path. The result is None
        unless the answer has many regions that are combined from such paths, and dd depends on all outputs.
        """
        decisive = tuple(self._ideal.metric.decisive(answer))
        key = _key((), answer)
        if key not in self._sections:
            self._sections[key] = None if decisive != answer else self._outside(answer)
        return self._sections[key]

    def _outside(self, answer: tuple[Value, ...]) -> tuple[InputSet, ...] | None:
        runs = self._ideal.runs if self._ideal.symbolic_inputs else None
        if runs is None or sum(runs.counts[end] for end in runs.ends) <= _MANY_REGIONS:
            return None
        series = self._ideal.series_towards(answer)
        if series is None or any(prod(map(len, paths)) > _MOST_OUTSIDE for paths in series.segments):
            return None
        outside = [
            tuple([guard.negation for guard in dict.fromkeys(chosen)])
            for paths in series.segments
            for chosen in product(*paths)
        ]
        branches = self._ideal.program.limits.branches
        return tuple([InputSet(guards, self._whole_inputs, branches) for guards in dict.fromkeys(outside)])

    def _among_finite(self, own: tuple[Value, ...], answer: tuple[Value, ...]) -> Fraction | None:
        """Return dd of the input `own`, with the right answer `answer`, for a program whose inputs are all finite.

        The result None means that dd is infinite. Other inputs are examined one by one, the nearest first. After many
        of them, dd is computed for all inputs together.
        """
        if self._everywhere is not None:
            return self._everywhere.dd(own)
        decisive = self._ideal.metric.decisive
        count = prod(len(finite_values(slot)) for slot in self._finite)
        for away, inputs in self._around(own):
            if self._looked > max(_FEW_LOOKS, count // _LOOKS_SHARE) and not self._tried_everywhere:
                self._tried_everywhere = True
                self._everywhere = self._ideal.distances(self._norm)
                if self._everywhere is not None:
                    return self._everywhere.dd(own)
            self._looked += 1
            if not all(map(same_value, decisive(self._ideal.values(inputs)), decisive(answer))):
                return away
        return None

    def _dd_alone(self, finite: tuple[Value, ...], answer: tuple[Value, ...], point: Point) -> Fraction | None:
        """Return dd of one input by a search near this input alone; None if the search does not find it.

        `finite` has the finite values of the input, `point` its real and int values, and `answer` is det at the input.
        Only inputs with the same finite values are considered. The search finds a region nearby with another answer. It
        returns the distance of this region, or of a nearer one if det has other answers within this distance.

        The result is None without a search in four cases: there is a `requires`, the norm is discrete, all regions can
        be found with few states, or several calls were about inputs with this answer.
        """
        by_slot = self._by_slot(finite)
        if self._ideal.program.allowed is not None:
            return None  # Just across a comparison there may be no input.
        if self._norm is Norm.DISCRETE or self._ideal.has_few_regions(by_slot):
            return None
        key = _key(finite, answer)
        self._alone[key] += 1
        if self._alone[key] > _MOST_ALONE:
            return None
        try:
            other = self._other_region(finite, answer, point)
            if other is None:
                return None
            least = self._distance_of(other, answer, point, None)
            if not least or self._ideal.is_constant_near(by_slot, answer, point, least, self._norm):
                return least
            return self._dd_in_box(by_slot, answer, point, least)
        except Undecided:
            return None

    def _dd_in_box(
        self, by_slot: Mapping[int, Value], answer: tuple[Value, ...], point: Point, most: Fraction
    ) -> Fraction | None:
        """Return the distance from `point` to the nearest region with an answer other than `answer`, at most `most`.

        The result is `most` if no such region is nearer. The search is in the box around `point` that extends by `most`
        in every direction. `by_slot` has the values of the finite inputs. The result is None if too many boxes have
        already been searched.
        """
        self._boxes += 1
        if self._boxes > _MOST_ALONE:
            return None
        nearest: Fraction | None = most
        for region in self._ideal.regions_near(by_slot, point, most):
            nearest = self._distance_of(region, answer, point, nearest)
        return nearest

    def _distance_of(
        self, region: Region, answer: tuple[Value, ...], point: Point, least: Fraction | None
    ) -> Fraction | None:
        for guards in disagreement(region, answer, self._whole_outputs, self._ideal.metric):
            target = InputSet(guards, self._whole_inputs, self._ideal.program.limits.branches)
            distance = target.distance(self._norm, point, _ZERO, least)
            least = least if distance is None else distance
        return least

    def _other_region(self, finite: tuple[Value, ...], answer: tuple[Value, ...], point: Point) -> Region | None:
        """Return a region where det is not `answer`; None if none is found near `point`.

        It is the region that contains `point`, or one just across a guard of that region. `finite` has the values of
        the finite inputs.
        """
        here = self._ideal.region_of(self._by_slot(finite), point)
        if self._is_other(finite, point, answer):
            return here
        beyond = [
            (guard.form.evaluate(point) / self._norm.steepness(guard.form.inputs), guard) for guard in here.guards
        ]
        scale = min((out for out, _ in beyond if out), default=_ONE)
        for out, guard in sorted(beyond, key=itemgetter(0)):
            further = max(out, scale) / 64 + out
            if self._whole_inputs:
                further = Fraction(floor(further) + 1)
            there = self._norm.towards(point, (-guard.form).inputs, further)
            if self._is_other(finite, there, answer):
                return self._ideal.region_of(self._by_slot(finite), there)
        return None

    def _is_other(self, finite: tuple[Value, ...], point: Point, answer: tuple[Value, ...]) -> bool:
        given = {**self._by_slot(finite), **point}
        there = self._ideal.values([given[slot] for slot in self._ideal.program.core.inputs])
        decisive = self._ideal.metric.decisive
        return not all(map(same_value, decisive(there), decisive(answer)))

    def _by_formulas(
        self, own: tuple[Value, ...], point: dict[int, Fraction], answer: tuple[Value, ...]
    ) -> Fraction | None:
        metric = self._ideal.metric
        here: dict[int, Answer] = {**self._by_slot(own), **point}
        symbolic: dict[int, Answer] = {slot: Affine.input(slot) for slot in point}
        search = DistanceSearch(self._norm, point, self._whole_inputs, self._ideal.program.limits)
        least: Fraction | None = None
        for away, finite in self._around(own):
            if least is not None and away >= least:
                break
            there = {**symbolic, **self._by_slot(finite)}
            near = opposite(metric.far_condition(here, there))
            for region in self._ideal.regions(self._by_slot(finite)) if near is not False else ():
                target = all_of((metric.differ(here, answer, region.answer), near))
                distance = search.nearest(region.guards, target, away, least)
                least = least if distance is None else distance
        return least

    def _class(self, finite: tuple[Value, ...], answer: tuple[Value, ...]) -> InputSet | None:
        """Return the real and int inputs where det is `answer`; None if they are not known to be one convex set.

        `finite` has the values of the finite inputs. Two answers count as equal if they agree in the outputs that dd
        depends on.
        """
        if self._ideal.program.allowed is not None:
            return None
        key = _key(finite, answer)
        if key not in self._classes:
            alike, decisive = self._ideal.alike(self._by_slot(finite), answer), self._ideal.metric.decisive
            if len(alike) == 1 and not any(isinstance(value, Affine) for value in decisive(alike[0].answer)):
                branches = self._ideal.program.limits.branches
                self._classes[key] = InputSet(alike[0].guards, self._whole_inputs, branches)
            else:
                self._classes[key] = None
        return self._classes[key]

    def _targets_for(self, finite: tuple[Value, ...], answer: tuple[Value, ...]) -> tuple[InputSet, ...]:
        key = _key(finite, answer)
        known = self._targets.get(key)
        if known is None:
            known = tuple(
                InputSet(guards, self._whole_inputs, self._ideal.program.limits.branches)
                for region in self._ideal.regions(self._by_slot(finite))
                for guards in disagreement(region, answer, self._whole_outputs, self._ideal.metric)
            )
            self._targets[key] = known
        return known

    def _by_slot(self, finite: tuple[Value, ...]) -> dict[int, Value]:
        return {slot.index: value for slot, value in zip(self._finite, finite, strict=True)}

    def _around(self, own: tuple[Value, ...]) -> Iterator[tuple[Fraction, tuple[Value, ...]]]:
        """Yield (distance from `own`, combination of values of the finite inputs), the nearest combinations first.

        Combinations that `requires` excludes are left out. Raises LimitReached after `_MOST_NEAR` combinations if there
        are more than the program's limit.
        """
        allowed = self._ideal.program.allowed
        lines: list[list[tuple[Fraction, Value]]] = []
        for slot, value in zip(self._finite, own, strict=True):
            lines.append(sorted([(gap(value, other), other) for other in finite_values(slot)], key=itemgetter(0)))
        count = prod(map(len, lines))
        most = count if count <= self._ideal.program.limits.combinations else _MOST_NEAR
        pending = [(_ZERO, (0,) * len(lines))]
        for _ in range(most):
            away, steps = heappop(pending)
            values = tuple([line[step][1] for line, step in zip(lines, steps, strict=True)])
            if allowed is None or allowed.sets(self._by_slot(values)):
                yield away, values
            last = max((place for place, step in enumerate(steps) if step), default=0)
            for place in range(last, len(lines)):
                if steps[place] + 1 < len(lines[place]):
                    further = (*steps[:place], steps[place] + 1, *steps[place + 1 :])
                    total = self._norm.combined([line[step][0] for line, step in zip(lines, further, strict=True)])
                    heappush(pending, (total, further))
        if most < count:
            raise LimitReached("combinations", f"the finite inputs have {count} combinations, too many to compare")


def _key(finite: tuple[Value, ...], answer: tuple[Value, ...]) -> _Key:
    # True and the number 1 are equal, but not the same value.
    return tuple(map(type, finite)), finite, tuple(map(type, answer)), answer
