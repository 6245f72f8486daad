"""The exits of a program: guards on its inputs, the weight of its choices, and an event over its noises."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.chain.chain import ExitState
from dipc.chain.event import EventTemplate, template
from dipc.chain.explore import explore
from dipc.chain.flow import Flow, compared_by, without_finite_noise
from dipc.chain.state import (
    Constraint,
    NoiseWeight,
    finite_values,
    same_value,
)
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, Share
from dipc.program.weights import Choices
from dipc.text.core import (
    Jump,
    Value,
)
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.chain import series
    from dipc.measure import runs as graphs
    from dipc.program import exit_weights
else:
    series = LazyModule("dipc.chain.series")
    graphs = LazyModule("dipc.measure.runs")
    exit_weights = LazyModule("dipc.program.exit_weights")


@frozen(eq=False)
class Exit:
    """An end of the program with one answer, at the inputs that satisfy the guards of `event`.

    `state` is the state in which the runs end. The probability of the exit is its `weight` times the measures of the
    components of `event`. The weight is that of the choices on the way; None is 1. Exits are compared by identity.
    """

    state: ExitState
    event: EventTemplate
    weight: Closed | None


@frozen
class Exits:
    """All exits of `program` for given finite inputs; real and int inputs are left symbolic.

    `states` are the states in which the exits end. States that cannot give the wanted outputs may be missing. The keys
    of `weights` and of `intervals` are the nodes of these states in the chain. `weights` has the weight of an exit's
    choices. If a single path leads to an exit, its weight may be without the choices that draw noises: `intervals` then
    has the intervals that they select. Both mappings are empty for a program without choices.

    Invariant: no run takes two exits. At any input, the probability of an answer is the sum over those of its exits
    whose guards the input satisfies.
    """

    program: CoreProgram
    states: tuple[ExitState, ...]
    weights: Mapping[int, Closed]
    intervals: Mapping[int, tuple[NoiseWeight, ...]] = field(default_factory=dict)
    #: The states by their values of some outputs, computed on demand.
    _known: dict[tuple[int, ...], dict[object, list[ExitState]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def towards(
        self, wanted: Mapping[int, Value], near: Collection[int] = (), within: Iterable[Constraint] = ()
    ) -> Iterator[Exit]:
        """Yield the exits at which the finite outputs are `wanted` and each of the outputs `near` is within gamma.

        `wanted` has the values by slot; `near` are the slots of real or int outputs. The probability of these outputs
        is the sum over the exits whose guards hold at the input. `within` are guards that all inputs in question
        satisfy: exits with the negation of such a guard are left out. The outputs in `wanted` must be among those
        observed when the exits were explored.
        """
        return self._exits(self.states_towards(wanted, within), near)

    def states_towards(self, wanted: Mapping[int, Value], within: Iterable[Constraint] = ()) -> list[ExitState]:
        """Return the final states in which the finite outputs have the values `wanted`, by slot.

        If all inputs satisfy the guards `within`, states that have the negation of one of these as a guard are left
        out.
        """
        slots = tuple(wanted)
        if slots not in self._known:
            by_outputs: dict[object, list[ExitState]] = {}
            for state in self.states:
                by_outputs.setdefault(values_key(state.outputs[slot] for slot in slots), []).append(state)
            self._known[slots] = by_outputs
        states = self._known[slots].get(values_key(wanted.values()), ())
        opposite = {guard.negation for guard in within}
        return [state for state in states if opposite.isdisjoint(state.guards.items)]

    def all(self) -> Iterator[Exit]:
        """Yield all exits, whatever values the outputs have."""
        return self._exits(self.states, ())

    def to_other_answers(self, wanted: Mapping[int, Value]) -> Iterator[Exit]:
        """Yield all exits whose finite outputs differ from `wanted`."""
        return self._exits(
            (
                state
                for state in self.states
                if not all(same_value(state.outputs[slot], value) for slot, value in wanted.items())
            ),
            (),
        )

    def _exits(self, states: Iterable[ExitState], near: Collection[int]) -> Iterator[Exit]:
        for state in states:
            # An output that was never assigned is not near its right value.
            if all(state.outputs[slot] is not None for slot in near):
                event = template(self.program, state, near, self.intervals.get(state.node, ()))
                yield Exit(state, event, self.weights.get(state.node))


#: Noise that can be a finite choice is drawn as noise if the exploration finds at most so many exits in so many states.
_FEW_EXITS, _FEW_STATES = 8, 400


def exits(
    flow: Flow,
    choices: Choices,
    limits: Limits,
    finite: Mapping[int, Value],
    wanted: Mapping[int, Value] | None,
    observed: Iterable[int],
) -> Exits:
    """Return the exits of the program of `flow` with the finite outputs `wanted`, or all exits if `wanted` is None.

    `finite` has the values of the finite inputs, by slot. `observed` are the slots of the outputs whose values the
    exits keep. `choices` has the weights of single choices. Raises Undecided past one of `limits` and DiagnosticError
    for programs that fail.
    """
    weights = choices.require_weights()
    observed = frozenset(observed)
    if flow.places:
        # A few short events stay separate; only many events are worth one product.
        with suppress(LimitReached):
            few = replace(limits, states=min(limits.states, _FEW_STATES))
            split = exits(without_finite_noise(flow), choices, few, finite, wanted, observed)
            if len(split.states) <= _FEW_EXITS:
                return split
    if flow.chooses:
        counted = exit_weights.counted_exits(flow, weights, limits, finite, wanted or {}, observed)
        if counted is not None:
            return Exits(flow.program, *counted)
    chain = explore(flow, finite, wanted, limits, observed=observed, possible=weights.possible)
    if not flow.chooses:
        return Exits(flow.program, chain.exits, {})
    return Exits(flow.program, chain.exits, *exit_weights.exit_weights(chain, weights, limits))


def values_key(values: Iterable[object]) -> object:
    """Return a key for `values` that is equal exactly for equal values; unlike in Python, true is not equal to 1."""
    return tuple([(isinstance(value, bool), value) for value in values])


# --- Answers with many runs that are not united -----------------------------------------------------------------------

#: The most states, by label and values, for which the runs of a program are counted, and the most runs to an answer
#: that are separate exits.
_MOST_COUNTED, FEW_RUNS = 3_000, 64


def many_runs(flow: Flow, limits: Limits) -> ManyRuns | None:
    """Return an object that counts the runs of the program of `flow` to each answer.

    The result is None if the program has too few comparisons for many runs, or if its runs cannot be counted. It is
    also None if the program has more instructions than `limits` allows states.
    """
    # A run usually passes through every instruction but jumps at least once.
    steps = [each for each in flow.program.instructions if not isinstance(each, Jump)]
    comparisons = sum(compared_by(each) is not None for each in steps)
    # Each comparison has at most three outcomes, so that few of them do not make many runs.
    many = flow.may_have_runs and flow.draws and not flow.places and 3**comparisons > FEW_RUNS
    most = min(_MOST_COUNTED, limits.states)
    return ManyRuns(flow, most) if many and len(steps) <= most else None


class ManyRuns:
    """The numbers of runs to each answer of a program, which decide how its runs are explored.

    Runs are explored one by one, or are kept as a graph of runs if an answer has many of them.
    """

    def __init__(self, flow: Flow, most: int) -> None:
        self._flow = flow
        self._most = most
        self._graphs: dict[int, series.RunTemplate | None] = {}
        #: The least number of runs to one answer that were not united.
        self._apart: int | None = None

    @cached_property
    def _runs(self) -> series.RunSet | None:
        return series.runs(self._flow, self._most)

    @cached_property
    def _ends(self) -> Mapping[object, int]:
        """The state in which the counted runs to an answer end, for each answer with more than `FEW_RUNS` runs.

        Answers are given by their `values_key`. The mapping is empty if the runs are not counted.
        """
        if self._runs is None:
            return {}
        many = [end for end in self._runs.ends if self._runs.counts[end] > FEW_RUNS]
        return {values_key(self._runs.outputs(end).values()): end for end in many}

    def few(self, wanted: Mapping[int, Value], limits: Limits) -> Limits | None:
        """Return limits, at most `limits`, for exploring the runs to the outputs `wanted` one by one.

        The result is None if these runs are known to be too many. They are if `graph` was called before for an answer
        with at most as many runs. If `wanted` has many runs, the limits allow approximately as many states as counting
        the runs needed.
        """
        end = self._end(wanted)
        if end is None or self._runs is None:
            return limits
        if self._apart is not None and self._runs.counts[end] >= self._apart:
            return None
        return self._united(limits)

    def shared(self, limits: Limits) -> Limits:
        """Return limits for exploring the runs to all answers together, with at most as many states as `limits`."""
        return self._united(limits) if self._ends else limits

    def _united(self, limits: Limits) -> Limits:
        assert self._runs is not None, "a program with too many exits has a graph of runs"
        return replace(limits, states=min(limits.states, 3 * len(self._runs.before) + 100))

    def are_many(self, wanted: Mapping[int, object]) -> bool:
        return self._end(wanted) is not None

    def graph(self, wanted: Mapping[int, Value]) -> series.RunTemplate | None:
        """Return the runs to the outputs `wanted`, by slot, as a graph that can be measured without following each run.

        None if there are few runs, or if they have no graph of this kind.
        """
        end = self._end(wanted)
        if end is None or self._runs is None:
            return None
        count = self._runs.counts[end]
        self._apart = count if self._apart is None else min(count, self._apart)
        if end not in self._graphs:
            graph = self._runs.graph(end)
            with suppress(OutsideFragment):
                if graph is not None:
                    graphs.require_measured(graph.open)
                self._graphs[end] = graph
            self._graphs.setdefault(end, None)
        return self._graphs[end]

    def _end(self, wanted: Mapping[int, object]) -> int | None:
        if self._runs is None or len(wanted) < len(self._runs.flow.program.outputs):
            return None
        return self._ends.get(values_key([wanted[slot] for slot in self._runs.flow.program.outputs]))


# --- The laws of a program's finite outputs: the probability of each combination of values, as a bound ----------------

#: Values of the finite outputs, in their order; None for an output that was never assigned.
Answer = tuple[Value | None, ...]


class OutputLaws:
    """The probabilities of the values of the finite outputs, all values at once.

    Real and int outputs are left open: the probability is that of all their values together. The program is explored
    once for each combination of finite inputs.
    """

    def __init__(self, flow: Flow, choices: Choices, limits: Limits) -> None:
        self._flow = flow
        self._choices = choices
        self._limits = limits
        slots = flow.program.slots
        #: The finite outputs.
        self.observed = tuple([slots[slot] for slot in flow.program.outputs if not slots[slot].is_symbolic])
        self._places: list[dict[Value | None, int]] = [
            {value: place for place, value in enumerate([*finite_values(slot), None])} for slot in self.observed
        ]
        self._explored: dict[tuple[Value, ...], tuple[tuple[Answer, Exit], ...]] = {}

    def probabilities(self, inputs: Mapping[int, Value]) -> dict[Answer, Bound]:
        """Return the probability of each answer that can occur at `inputs`, the values of all inputs by slot.

        All other answers have probability 0. The order is that of the outputs' domains, with unassigned outputs last.
        Raises Undecided past a limit and DiagnosticError for a program that fails.
        """
        finite: dict[int, Value] = {}
        reals: dict[int, Fraction] = {}
        for slot, value in inputs.items():
            if self._flow.program.slots[slot].is_symbolic:
                assert isinstance(value, Fraction)
                reals[slot] = value
            else:
                finite[slot] = value
        shares: dict[Answer, list[Share]] = {}
        for answer, exit_ in self._exits(finite):
            if exit_.event.guards_hold(reals):
                events = tuple([component.event(reals) for component in exit_.event.components])
                shares.setdefault(answer, []).append(Share(exit_.weight, events))
        ordered = sorted(shares, key=self.rank)
        return {answer: Bound(tuple(shares[answer])) for answer in ordered}

    def rank(self, answer: Answer) -> list[int]:
        """Return the indices of the values of `answer` in the domains of their outputs, as a key to sort by."""
        return [places[value] for places, value in zip(self._places, answer, strict=True)]

    def _exits(self, finite: Mapping[int, Value]) -> tuple[tuple[Answer, Exit], ...]:
        key = tuple(finite.values())
        known = self._explored.get(key)
        if known is None:
            observed = [slot.index for slot in self.observed]
            explored = exits(self._flow, self._choices, self._limits, finite, None, observed)
            known = self._explored[key] = tuple(
                [
                    (tuple([_finite(exit_.state.outputs[slot]) for slot in observed]), exit_)
                    for exit_ in explored.towards({})
                ]
            )
        return known


def _finite(value: object) -> Value | None:
    assert value is None or isinstance(value, Fraction | str | bool)
    return value
