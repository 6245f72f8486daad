"""The exits of programs that count: choice after choice is added to one variable, which is read in the end.

The chain has a state for each number that was counted so far, after each choice. But what is added does not depend on
it: where the program forgets all else from time to time, the number is a sum of independent integers. So the states
without the number are followed to where nothing is added any more, and from there the program for each number, which
has to be without chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.increments import Factor, SumOfIncrements
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.constraints import NOTHING_KNOWN
from dipc.chain.edge import DETERMINISTIC, Choice
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow, slot_set, slots_in, slots_read
from dipc.chain.state import Mark, State, initial_state
from dipc.chain.step import step
from dipc.chain.symbolic import is_symbolic
from dipc.exits.weights import Weights
from dipc.lang.ast import Role
from dipc.lang.core import Apply, AssignDom, DomOp, DomType, Instruction, Read, Value

#: A variable that so many instructions add to is worth to be left out.
_MANY = 50

#: Where so many products were made since the program was last in one state, it remembers too much besides the number.
_MOST_WORK = 4_000

#: The weights of what was added since the program was last in one state, by how much that is.
_Added = dict[int, Closed]


class _CountsOtherwise(Exception):
    """The program does not count like this, or goes wrong."""


@dataclass(frozen=True, slots=True)
class CountedExits:
    """The exits by node, and the weights of those towards the wanted outputs."""

    states: tuple[ExitState, ...]
    weights: Mapping[int, Closed]


def counted_exits(
    flow: Flow,
    weights: Weights,
    limits: Limits,
    finite: Mapping[int, Value],
    wanted: Mapping[int, Value],
    observed: Iterable[int],
) -> CountedExits | None:
    """The exits that give the `wanted` outputs, with the values of the `observed` ones, of a program with finite inputs
    and variables alone that counts; None for all others, and where it goes wrong. Raises LimitReached."""
    slots = flow.program.slots
    if not flow.forward or flow.draws or any(is_symbolic(slot.type) for slot in slots):
        return None
    counter = _counter(flow)
    if counter is None:
        return None
    try:
        return _Counting(flow, weights, counter, finite, wanted, frozenset(observed)).exits(limits)
    except (_CountsOtherwise, Fault):
        return None


def _counter(flow: Flow) -> int | None:
    """A variable with a value that many instructions add to, and no other one uses before the last of them."""
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
    """The slot v of v <- v + E, for an E that does not read it."""
    match instruction:
        case AssignDom(target=target, value=Apply(op=DomOp.ADD, arguments=(one, other))) if target.index is None:
            (slot,) = target.slots
            for here, more in ((one, other), (other, one)):
                if isinstance(here, Read) and here.slot == slot and not slots_read(more) >> slot & 1:
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
        values: list[Value | Mark] = []
        for slot in flow.program.slots:
            initial = finite[slot.index] if slot.role is Role.INPUT else slot.initial
            values.append(Mark.UNASSIGNED if initial is None else initial)
        base = values[counter]
        assert isinstance(base, Fraction)
        self._base: Fraction = base
        start = initial_state(flow.entry, tuple(values))
        self._start = self._forgotten(start, slot_set(range(len(values))) & ~self._live[flow.entry])

    def exits(self, limits: Limits) -> CountedExits:
        factors, end = self._factors()
        highest = sum(factor[-1][0] * often for factor, often in factors.items())
        domain = self._flow.domains[self._counter]
        if any(self._base + number not in domain for number in range(highest + 1)):
            raise _CountsOtherwise  # it may leave its domain: on which path, the chain will tell
        by_outputs: dict[tuple[Value | Affine | None, ...], list[int]] = {}
        observed = sorted(self._observed)
        for number in range(highest + 1):
            state = self._ended(end.assign(self._counter, domain[self._base + number], end.label))
            if all(state.values[slot] == value for slot, value in self._wanted.items()):
                outputs = tuple(None if isinstance(v := state.values[slot], Mark) else v for slot in observed)
                by_outputs.setdefault(outputs, []).append(number)
        sums = SumOfIncrements(factors, limits)
        states = tuple(
            ExitState(node, dict(zip(observed, outputs, strict=True)), (), NOTHING_KNOWN, NOTHING_KNOWN)
            for node, outputs in enumerate(by_outputs)
        )
        return CountedExits(states, {node: sums.weight(all_) for node, all_ in enumerate(by_outputs.values())})

    def _factors(self) -> tuple[Counter[Factor], State]:
        """What is added, in independent parts, and the one state without the number where no more is."""
        factors: Counter[Factor] = Counter()
        reached: dict[State, _Added] = {self._start: {0: ExpPoly.one()}}
        pending = [(self._start.label, 0, self._start)]
        made = work = 0
        while pending:
            label, _, state = pending[0]
            added = reached[state]
            if len(pending) == 1:
                factors[tuple(sorted(added.items()))] += 1
                added = {0: ExpPoly.one()}
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
                    heappush(pending, (after.label, made, after))
                work += len(added)
                for already, share in added.items():
                    product = share if weight is None else share * weight
                    total = already + number
                    known[total] = known[total] + product if total in known else product
        raise _CountsOtherwise

    def _successors(self, state: State) -> list[tuple[State, int, Closed | None]]:
        """The states that come next, without the number, with what is added to it and the weight; None is 1."""
        found: list[tuple[State, int, Closed | None]] = []
        for after, edge in step(self._flow, state):
            weight: Closed | None = None
            if isinstance(edge, Choice):
                if not self._weights.possible(edge.weight):
                    continue
                weight = self._weights.closed(edge.weight)
            elif edge is not DETERMINISTIC:
                raise _CountsOtherwise
            value = after.values[self._counter]
            assert isinstance(value, Fraction)
            number = value - self._base
            if number < 0 or number.denominator != 1:
                raise _CountsOtherwise
            if number:
                after = after.assign(self._counter, self._base, after.label)
            goal = after.label
            dying = (self._live[state.label] | self._flow.writes[state.label]) & ~self._live[goal]
            after = self._forgotten(after, dying & ~(1 << self._counter))
            final = self._compared & ~self._may_give[goal]
            if all(after.values[slot] == self._wanted[slot] for slot in slots_in(final)):
                found.append((after, int(number), weight))
        return found

    def _ended(self, state: State) -> State:
        """Where the program ends from here, without chance."""
        while state.label != self._flow.exit_label:
            after, *others = step(self._flow, state)
            if others or after.edge is not DETERMINISTIC:
                raise _CountsOtherwise
            state = after.state
        return state

    def _forgotten(self, state: State, slots: int) -> State:
        return state.forget(list(slots_in(slots))) if slots else state
