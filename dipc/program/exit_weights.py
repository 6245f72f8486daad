"""The weights of exits: the probabilities of the choices that lead to them.

The weights of the exits are those of a finite Markov chain, the one that the choices form.

An exit has the probability W · m, where m is the measure of its constraints (as its `EventTemplate` states them). W is
the total weight of the paths to it, with weight 1 for a comparison as for a deterministic step. Proof: consider fixed
values of the noises and inputs.

1. Every comparison then has one outcome, and the rest is a Markov chain of choices. The probability that it reaches
   state s is the sum, over the paths to s whose comparisons have these outcomes, of the weights of their choices.
2. A comparison adds its outcome to the constraints, and only redundant constraints are ever removed. So the constraints
   of s are equivalent to the outcomes of the comparisons on each path to it.
3. So either the noises satisfy these constraints, and all paths to s count, or none does. The sum is W if the
   constraints of s hold and 0 if not, and W does not depend on the noises.

Paths that part at a comparison never meet again, except with probability 0: their outcomes exclude each other. For the
same reason a comparison that branches leads out of its strongly connected component: inside one there are only choices
and deterministic steps, and the weights that leave a state sum to 1.

If states are united (see `uniting.py`), paths with different outcomes do meet, and W would count them several times.
States are united only in programs without choices, where every exit has weight 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from math import prod

from dipc.algebra import absorption
from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of, simplest, total
from dipc.algebra.graph import strongly_connected
from dipc.algebra.limits import Limits, NotApplicable
from dipc.chain.chain import Chain, ExitState
from dipc.chain.flow import Flow, finite_noise_slots, slots_read
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Choice,
    ChoiceWeight,
    Code,
    Fault,
    Mark,
    NoiseWeight,
    State,
    Unfinished,
    Waiting,
    slot_set,
    slots_in,
)
from dipc.chain.waiting import Steps
from dipc.frozen import frozen
from dipc.program.weights import Weights
from dipc.sign.chart import isolate_roots, place_text
from dipc.sign.interval import Interval
from dipc.sign.roots import Root
from dipc.text.ast import Expr, Role
from dipc.text.core import Apply, DomOp, DomType, Instruction, Reference, Store, Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Label

#: The one state that stands for all those cut because the wanted outputs cannot be reached from there any more.
NOWHERE = -1

#: A successor with the choices that lead to it: its weight is the sum of theirs, or 1 if there are none.
Step = tuple[int, tuple[ChoiceWeight, ...]]


@frozen
class Reach:
    """The Markov chain of a program's choices, from which `dipc.algebra.absorption` computes the weights of exits.

    Runs start at the state `start`. `edges` has, for each state with successors, pairs of a successor and the weights
    of the choices that lead to it. These weights are added up; a successor without choices has weight 1. `ends` are the
    states of the chain's exits. They may include NOWHERE (-1), a single state in place of all states that were cut.
    Every state listed in `edges` can reach an end.
    """

    start: int
    edges: Mapping[int, list[Step]]
    ends: frozenset[int]


def reach(chain: Chain) -> Reach:
    """Return the Markov chain of the choices of `chain`, where states with a single certain successor are skipped."""
    exits = frozenset(exit_state.node for exit_state in chain.exits)
    if not chain.flow.chooses:
        if chain.initial in exits or not exits:
            start = chain.initial if exits else NOWHERE
            return Reach(start, {}, exits or frozenset({NOWHERE}))
        return Reach(chain.initial, {chain.initial: [(node, ()) for node in sorted(exits)]}, exits)
    settled: dict[int, int] = dict.fromkeys(chain.cut, NOWHERE)
    transitions = chain.transitions

    def settle(node: int) -> int:
        """Return the first state, `node` or later, at which there is a choice, a comparison or an end."""
        passed: list[int] = []
        while node not in settled and node not in exits and len(transitions.successors(node)) == 1:
            (goal,) = transitions.successors(node)
            if any(isinstance(edge, Choice) for edge in transitions.edges(node, goal)):
                break
            passed.append(node)
            node = goal
        node = settled.get(node, node)
        for skipped in passed:
            settled[skipped] = node
        return node

    start = settle(chain.initial)
    edges: dict[int, list[Step]] = {}
    ends = set(exits)
    pending = [start]
    seen = {start}
    while pending:
        node = pending.pop()
        if node == NOWHERE:
            ends.add(NOWHERE)
            continue
        steps: list[Step] = []
        for goal in transitions.successors(node):
            chosen = tuple(edge.weight for edge in transitions.edges(node, goal) if isinstance(edge, Choice))
            after = settle(goal)
            steps.append((after, chosen))
            if after not in seen:
                seen.add(after)
                pending.append(after)
        if steps:
            edges[node] = steps
    return Reach(start, edges, frozenset(ends))


#: The weights of a choice, each with all eps at which it is 0.
_Zeros = Mapping[ChoiceWeight, tuple[Root, ...]]


def exit_weights(
    chain: Chain, weights: Weights, limits: Limits
) -> tuple[dict[int, Closed], dict[int, tuple[NoiseWeight, ...]]]:
    """Return the weights and the intervals of the exits of `chain`, a chain with choices, both by node.

    The weight of an exit is the sum, over all paths to the exit, of the product of the weights of the choices on the
    path. `weights` computes the weights of single choices.

    Noise that is only compared with finitely many numbers is drawn as a choice of an interval between these numbers. If
    a single path leads to an exit, these choices are independent, and their product could be long. The weight of the
    exit is then without them, and the intervals are returned. Raises DiagnosticError for a loop that can run forever at
    some eps, Undecided past one of `limits`.
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
    return total_weights, intervals


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
) -> tuple[tuple[ExitState, ...], dict[int, Closed]] | None:
    """Return the exits of a counting program with the outputs `wanted`, and their weights by node.

    `wanted` has values by slot, and so has `finite`, the values of the finite inputs. The program of `flow` is a
    counting program if many of its instructions add to one variable, if all its inputs and variables are finite, and if
    it has no loop. `observed` are the slots of the outputs whose values the exits keep, and `weights` computes the
    weights of choices. The result is None for any other program, and for a program that fails. Raises LimitReached past
    one of `limits`.
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
        self._steps = Steps(flow, self._live, kept=1 << counter)
        self._start = self._steps.first(start.forget(slot_set(range(len(start.values))) & ~self._live[flow.entry]))

    def exits(self, limits: Limits) -> tuple[tuple[ExitState, ...], dict[int, Closed]]:
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
        return states, weights

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
