"""The exits of a program: guards on its inputs, the weight of its choices, and an event over its noises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from math import prod
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of, simplest, total
from dipc.algebra.graph import strongly_connected
from dipc.algebra.limits import LimitReached, Limits, NotApplicable, OutsideFragment
from dipc.chain.chain import NOWHERE, Chain, ExitState, Reach, Step, reach
from dipc.chain.event import EventTemplate, template
from dipc.chain.explore import explore
from dipc.chain.flow import Flow, compared_by, finite_noise_slots, slots_read, without_finite_noise
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Choice,
    ChoiceWeight,
    Code,
    Constraint,
    Fault,
    Mark,
    NoiseWeight,
    State,
    Unfinished,
    Waiting,
    finite_values,
    same_value,
    slot_set,
    slots_in,
)
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, Share
from dipc.program.weights import Choices, Weights
from dipc.sign.chart import isolate_roots, place_text
from dipc.sign.interval import Interval
from dipc.sign.roots import Root
from dipc.text.ast import Expr, Role
from dipc.text.core import (
    Apply,
    DomOp,
    DomType,
    Instruction,
    Jump,
    Reference,
    Store,
    Value,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Label
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.algebra import absorption
    from dipc.chain import series, waiting
    from dipc.measure import runs as graphs
else:
    absorption = LazyModule("dipc.algebra.absorption")
    series = LazyModule("dipc.chain.series")
    waiting = LazyModule("dipc.chain.waiting")
    graphs = LazyModule("dipc.measure.runs")


# --- The exact weight of the choices that lead to each exit, over loops too -------------------------------------------

#: The weights of a choice, each with all eps at which it is 0.
_Zeros = Mapping[ChoiceWeight, tuple[Root, ...]]


def exits_with_weights(chain: Chain, weights: Weights, limits: Limits) -> Exits:
    """Return the exits of `chain`, a chain with choices, each with its weight.

    The weight of an exit is the sum, over all paths to the exit, of the product of the weights of the choices on the
    path. `weights` computes the weights of single choices.

    Noise that is only compared with finitely many numbers is drawn as a choice of an interval between these numbers. If
    a single path leads to an exit, these choices are independent, and their product could be long. The weight of the
    exit is then without them, and the field `intervals` of the result has them. Raises DiagnosticError for a loop that
    can run forever at some eps, Undecided past one of `limits`.
    """
    graph = reach(chain)
    if not chain.flow.forward:
        _require_ends(chain, graph, weights)
    alone = _only_paths(graph) if chain.flow.places else {}
    nowhere = {NOWHERE}
    if alone:
        nowhere |= (graph.edges.keys() | graph.ends) - _leading_to(graph, graph.ends - nowhere - alone.keys())
    # If one answer of many is wanted, most steps lead to NOWHERE: their weights do not matter.
    edges = {
        node: [
            (NOWHERE, ExpPoly.ONE) if goal in nowhere else (goal, _weight(chosen, weights)) for goal, chosen in steps
        ]
        for node, steps in graph.edges.items()
        if node not in nowhere
    }
    total_weights: dict[int, Closed] = {}
    if graph.start not in nowhere:
        ends = (graph.ends - alone.keys()) | ({NOWHERE} if alone else set())
        reached = absorption.absorption_weights(edges, graph.start, ends, limits, frozenset({NOWHERE}))
        total_weights |= {node: simplest(weight) for node, weight in reached.items()}
    intervals = {}
    for node, path in alone.items():
        intervals[node] = tuple([weight for weight in path if isinstance(weight, NoiseWeight)])
        others = [weights.closed(weight) for weight in path if not isinstance(weight, NoiseWeight)]
        if others:
            total_weights[node] = simplest(prod(others[1:], start=others[0]))
    return Exits(chain.flow.program, chain.exits, total_weights, intervals)


def _only_paths(reached: Reach) -> dict[int, tuple[ChoiceWeight, ...]]:
    """Return the choices on the path to each end of `reached`, if a single path leads to it and draws a noise.

    `reached` is a graph of choices without cycles, and its ends are some of its nodes. A path draws a noise if one of
    its choices selects the interval that contains the noise. Other ends are left out.
    """
    before = _steps_to(reached)
    paths: dict[int, tuple[ChoiceWeight, ...]] = {}
    for end in reached.ends - {NOWHERE}:
        node, path = end, list[ChoiceWeight]()
        while len(before.get(node, ())) == 1 and len(before[node][0][1]) <= 1:
            ((node, chosen),) = before[node]
            path += chosen
        if node == reached.start and any(isinstance(weight, NoiseWeight) for weight in path):
            paths[end] = tuple(reversed(path))
    return paths


def _steps_to(reached: Reach) -> Mapping[int, list[Step]]:
    before: dict[int, list[Step]] = {}
    for node, steps in reached.edges.items():
        for goal, chosen in steps:
            before.setdefault(goal, []).append((node, chosen))
    return before


def _leading_to(reached: Reach, ends: Collection[int]) -> set[int]:
    """Return the nodes of `reached` from which a path leads to some node of `ends`, including `ends`."""
    before = _steps_to(reached)
    pending, leading = list(ends), set(ends)
    while pending:
        for node, _ in before.get(pending.pop(), ()):
            if node not in leading:
                leading.add(node)
                pending.append(node)
    return leading


def _weight(chosen: tuple[ChoiceWeight, ...], weights: Weights) -> Closed:
    match chosen:
        case ():
            return ExpPoly.ONE
        case (weight,):
            return weights.closed(weight)
        case _:
            return total(map(weights.closed, chosen))


# --- loops -----------------------------------------------------------------------------------------


def _require_ends(chain: Chain, reach: Reach, weights: Weights) -> None:
    """Raise DiagnosticError if some run of `chain` can stay in a loop forever at some eps.

    A run can stay in a loop if, from some state, every path out of it has a step whose weight is 0 at this eps.
    Otherwise runs end almost surely for every eps > 0, and the linear system for the weights of each loop has one
    solution. `reach` is the graph of the chain's choices, and `weights` computes their weights.
    """
    graph: dict[int, list[int]] = {}
    for node, steps in reach.edges.items():
        graph[node] = [goal for goal, _ in steps]
    for component in strongly_connected(graph):
        first = next(iter(component))
        if len(component) == 1 and first not in graph.get(first, ()):
            continue
        loop = {node: reach.edges[node] for node in component}
        zeros = {
            weight: roots
            for row in loop.values()
            for _, chosen in row
            for weight in chosen
            if (roots := weights.zeros(weight))
        }
        for weight, roots in zeros.items():
            for root in roots:
                if _is_stuck(loop, _vanishing(zeros, weights, weight, root)):
                    raise _endless(chain, weight, root)


def _vanishing(zeros: _Zeros, weights: Weights, weight: ChoiceWeight, root: Root) -> frozenset[ChoiceWeight]:
    """Return the weights among the keys of `zeros` that are 0 at `root`, a positive root of `weight`.

    `zeros` maps each weight of a step in a loop to its roots, and `weights` computes each weight as a function of eps.
    The numerators of these functions are polynomials in eps and e^{eps/n}. Two numerators share a positive root only if
    it is a root of their common divisor. If coprime numerators shared one, eps and e^{eps/n} would both be algebraic
    there, which contradicts Lindemann's theorem.
    """
    numerator, _ = fraction_of(weights.closed(weight))
    tops = {each: fraction_of(weights.closed(each))[0] for each in zeros}
    return frozenset(each for each in zeros if each == weight or _vanishes(tops[each], numerator, root))


def _vanishes(value: ExpPoly, other: ExpPoly, root: Root) -> bool:
    if root.is_exact:
        return value.value_is_zero(root.lower)
    return bool(isolate_roots(value.common_divisor(other), Interval(root.lower, root.upper, True, True)))


def _is_stuck(steps: Mapping[int, Iterable[Step]], vanishing: frozenset[ChoiceWeight]) -> bool:
    """Return True if from some state of a loop every path out of the loop has a step of weight 0.

    `steps` are the steps from each state of the loop. The weight of a step is the sum of the weights of its choices. It
    is 0 if all of these are in `vanishing`.
    """
    into: dict[int, list[int]] = {}
    free: list[int] = []
    for node, row in steps.items():
        for goal, chosen in row:
            if chosen and vanishing.issuperset(chosen):
                continue
            if goal in steps:
                into.setdefault(goal, []).append(node)
            else:
                free.append(node)
    leaving = set(free)
    while free:
        for node in into.get(free.pop(), ()):
            if node not in leaving:
                leaving.add(node)
                free.append(node)
    return leaving != steps.keys()


def _endless(chain: Chain, weight: ChoiceWeight, root: Root) -> DiagnosticError:
    assert isinstance(weight, Expr), "the weights of the exponential mechanism are positive"
    program = chain.flow.program
    place = place_text(root)
    around = [span for span in program.loops.values() if span.start <= weight.span.start < span.end]
    loop = max(around, key=lambda span: span.start, default=None)
    return DiagnosticError(
        Diagnostic(
            Code.ENDLESS_LOOP,
            f"a `while` can go on forever {place}",
            program.source.excerpt(weight.span),
            f"this weight is 0 {place}",
            ("a program must end with probability 1 for every eps > 0: give a way out of the loop a positive weight",),
            () if loop is None else (Label(program.source.excerpt(loop), "the loop"),),
        )
    )


# --- The exits of programs that count: choice after choice is added to one variable, which is read in the end ---------
#
# The chain has a state for each number that was counted so far, after each choice. But the summands do not depend on
# this number. If the program returns to the same state, apart from the number, again and again, the number is a sum of
# independent integers. The states without the number are therefore followed until nothing more is added, and from
# there the program is followed for each number; it must be deterministic from there on.

#: The least number of instructions that add to a variable for which it is left out of the states.
_MANY = 50

#: The number of products since the program was last in a single state at which it counts as remembering too much.
_MOST_WORK = 4_000

#: The weights of the sums added since the program was last in one state, by sum.
_Added = dict[int, Closed]


def counted_exits(
    flow: Flow,
    weights: Weights,
    limits: Limits,
    finite: Mapping[int, Value],
    wanted: Mapping[int, Value],
    observed: Iterable[int],
) -> Exits | None:
    """Return the exits of a counting program with the outputs `wanted`, for the values `finite` of the finite inputs.

    Both have values by slot. The program of `flow` is a counting program if many of its instructions add to one
    variable, if all its inputs and variables are finite, and if it has no loop. `observed` are the slots of the outputs
    whose values the exits keep, and `weights` computes the weights of choices. The result is None for any other
    program, and for a program that fails. Raises LimitReached past one of `limits`.
    """
    slots = flow.program.slots
    if not flow.forward or flow.draws:
        return None
    drawn = finite_noise_slots(flow)
    if any(slot.is_symbolic and slot.index not in drawn for slot in slots):
        return None
    counter = _counter(flow)
    if counter is None:
        return None
    try:
        return _Counting(flow, weights, counter, finite, wanted, frozenset(observed)).exits(limits)
    except (NotApplicable, Fault):
        return None


def _counter(flow: Flow) -> int | None:
    """Return the slot of a variable to which many instructions of `flow` add, or None if there is none.

    Up to the last of these instructions, no other instruction uses the variable.
    """
    last: dict[int, int] = {}
    count: Counter[int] = Counter()
    for label, instruction in enumerate(flow.program.instructions):
        slot = _added_to(instruction)
        if slot is not None:
            last[slot] = label
            count[slot] += 1
    for slot, often in count.most_common():
        declared = flow.program.slots[slot]
        if often < _MANY:
            return None
        if declared.role is Role.INPUT or declared.initial is None or not isinstance(declared.type, DomType):
            continue
        uses = (
            label
            for label in range(last[slot])
            if (flow.reads[label] | flow.writes[label]) >> slot & 1
            and _added_to(flow.program.instructions[label]) != slot
        )
        if next(uses, None) is None:
            return slot
    return None


def _added_to(instruction: Instruction) -> int | None:
    """Return the slot v if `instruction` is `v <- v + E` and E does not read v, else None."""
    match instruction:
        case Store(target=target, value=Apply(op=DomOp.ADD, arguments=(one, other))) if target.index is None:
            (slot,) = target.slots
            for here, more in ((one, other), (other, one)):
                if isinstance(here, Reference) and here.slot == slot and not slots_read(more) >> slot & 1:
                    return slot
    return None


class _Counting:
    def __init__(
        self,
        flow: Flow,
        weights: Weights,
        counter: int,
        finite: Mapping[int, Value],
        wanted: Mapping[int, Value],
        observed: frozenset[int],
    ) -> None:
        self._flow = flow
        self._weights = weights
        self._counter = counter
        self._wanted = wanted
        self._observed = observed
        self._live = flow.live(observed | wanted.keys())
        #: Outputs that are looked at as soon as nothing can give them their value any more.
        self._compared = slot_set(slot for slot in wanted if slot != counter)
        self._may_give = flow.may_give(wanted)
        self._last = max(label for label, each in enumerate(flow.program.instructions) if _added_to(each) == counter)
        start = flow.first_state(finite)
        base = start.values[counter]
        assert isinstance(base, Fraction)
        self._base: Fraction = base
        self._steps = waiting.Steps(flow, self._live, kept=1 << counter)
        self._start = self._steps.first(start.forget(slot_set(range(len(start.values))) & ~self._live[flow.entry]))

    def exits(self, limits: Limits) -> Exits:
        factors, end = self._factors()
        highest = sum(factor[-1][0] * often for factor, often in factors.items())
        domain = self._flow.domains[self._counter]
        if any(self._base + number not in domain for number in range(highest + 1)):
            raise NotApplicable  # it may leave its domain; the chain reports the path
        by_outputs: dict[tuple[Value | Affine | None, ...], list[int]] = {}
        observed = sorted(self._observed)
        for number in range(highest + 1):
            state = self._ended(end.assign(self._counter, domain[self._base + number], end.label))
            if all(state.values[slot] == value for slot, value in self._wanted.items()):
                outputs = tuple(
                    None if isinstance(value := state.values[slot], Mark | Waiting | Unfinished) else value
                    for slot in observed
                )
                by_outputs.setdefault(outputs, []).append(number)
        sums = absorption.SumOfIncrements(factors, limits)
        states = tuple(
            ExitState(node, dict(zip(observed, outputs, strict=True)), (), NOTHING_KNOWN, NOTHING_KNOWN)
            for node, outputs in enumerate(by_outputs)
        )
        weights = {node: sums.weight(all_) for node, all_ in enumerate(by_outputs.values())}
        return Exits(self._flow.program, states, weights)

    def _factors(self) -> tuple[Counter[absorption.Factor], State]:
        """Return how many independent summands of the counter have each law, and the state after the last summand.

        The run is cut wherever only one state is possible, apart from the value of the counter. A summand is the number
        that is added to the counter between two cuts. Its law is a tuple of pairs (number added, weight). The returned
        state has no value of the counter. Raises NotApplicable if the summands are not independent, or after too much
        work for one law.
        """
        factors: Counter[absorption.Factor] = Counter()
        reached: dict[State, _Added] = {self._start: {0: ExpPoly.ONE}}
        pending = [(self._start.label, 0, 0, self._start)]
        made = work = 0
        while pending:
            label, _, _, state = pending[0]
            added = reached[state]
            if len(pending) == 1:
                factors[tuple(sorted(added.items()))] += 1
                added = {0: ExpPoly.ONE}
                work = 0
                if label > self._last:
                    return factors, state
            elif label > self._last or work > _MOST_WORK:
                break
            heappop(pending)
            del reached[state]
            for after, number, weight in self._successors(state):
                known = reached.get(after)
                if known is None:
                    known = reached[after] = {}
                    made += 1
                    heappush(pending, (after.label, self._steps.progress(after), made, after))
                work += len(added)
                for already, share in added.items():
                    product = share if weight is None else share * weight
                    total = already + number
                    known[total] = known[total] + product if total in known else product
        raise NotApplicable

    def _successors(self, state: State) -> list[tuple[State, int, Closed | None]]:
        """Return (next state, number added to the counter, weight) for each step from `state`; a weight of None is 1.

        The value of the counter is not part of `state` or of the next states.
        """
        result: list[tuple[State, int, Closed | None]] = []
        for after, edge in self._steps.successors(state):
            weight: Closed | None = None
            if isinstance(edge, Choice):
                if not self._weights.possible(edge.weight):
                    continue
                weight = self._weights.closed(edge.weight)
            elif edge is not None:
                raise NotApplicable
            value = after.values[self._counter]
            assert isinstance(value, Fraction)
            number = value - self._base
            if number < 0 or number.denominator != 1:
                raise NotApplicable
            if number:
                after = after.assign(self._counter, self._base, after.label)
            goal = after.label
            dying = (self._live[state.label] | self._flow.writes[state.label]) & ~self._live[goal]
            after = after.forget(dying & ~(1 << self._counter))
            final = self._compared & ~self._may_give[goal]
            if all(after.values[slot] == self._wanted[slot] for slot in slots_in(final)):
                result.append((after, int(number), weight))
        return result

    def _ended(self, state: State) -> State:
        while state.label != self._flow.exit_label:
            after, *others = self._steps.successors(state)
            if others or after.edge is not None:
                raise NotApplicable
            state = after.state
        return state


# --- The exits of a program: guards on its inputs, the weight of its choices, and an event over its noises ------------


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
            event = template(self.program, state, near, self.intervals.get(state.node, ()))
            if event.possible:
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
        counted = counted_exits(flow, weights, limits, finite, wanted or {}, observed)
        if counted is not None:
            return counted
    chain = explore(flow, finite, wanted, limits, observed=observed, possible=weights.possible)
    return exits_with_weights(chain, weights, limits) if flow.chooses else Exits(flow.program, chain.exits, {})


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
