"""Finite inputs that a program reads one after the other, and that may exchange their values (FORMAT.md, lemma 4f).

The code of a program without `while` is cut into segments, one for each input: segment k reads the k-th input, in the
order of the text, and no other. A *transition* is the execution of a segment from one state, at one value of its input:
it gives weights to the states that come next. Two inputs may exchange their values if the transitions of both values,
in either order, give equal weights to equal states right before the next input is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations, product
from math import prod

from dipc.verifier.execution import Constraints, Execution, Held, State, accesses
from dipc.verifier.functions import ONE, Closed, add_closed, constant, equal_closed, multiply_closed
from dipc.verifier.program import Branch, Choice, Halt, Jump, Machine, Sample, Scored, Value, values_of
from dipc.verifier.reading import Budget, NotDerived

#: The most states before an input is read, and the most transitions from single states.
MOST_STATES, MOST_TRANSITIONS = 2_000, 40_000

#: The most combinations of values of the inputs that are read between two inputs.
MOST_BETWEEN = 64

#: A state: the next instruction, the values of the variables that are read later, and the constraints on the noises.
#: At the end the next instruction is the length of the code, and the variables are the outputs.
Key = tuple[int, tuple[Held, ...], Constraints]

#: A polynomial with integer coefficients in the weights of choices, by the sorted numbers of the weights of a term.
Polynomial = dict[tuple[int, ...], int]

#: The weights of states.
Weighted = dict[Key, Polynomial]

_CERTAIN: Polynomial = {(): 1}


def require_deterministic(machine: Machine) -> None:
    """Raise NotDerived if the program `machine` draws at random."""
    if any(isinstance(instruction, Sample | Choice | Scored) for instruction in machine.code):
        raise NotDerived("the `ideal` draws at random")


@dataclass
class _SegmentRun(Execution):
    """A run of a program without `while`, cut into segments, one for each of its finite inputs.

    A state does not contain the values of inputs. Only the segment that reads an input uses the value of that input.
    """

    _functions: list[Closed] = field(default_factory=list)
    _numbers_of: dict[object, int] = field(default_factory=dict)

    def first(self) -> Key:
        values = tuple(None if slot.role == "input" else slot.initial for slot in self.machine.slots)
        return self._key(State(0, values, Constraints({}), None))

    def transition(self, start: Key, stop: int, given: Mapping[int, Value]) -> Weighted:
        """Return the weights of the first states at or after the instruction `stop` on the runs from `start`.

        `given` has the values of the inputs, by slot, that instructions before `stop` may read. Raises NotDerived if a
        run reads another input, or fails.
        """
        self._given = given
        reached: Weighted = {}
        waiting: dict[int, Weighted] = {start[0]: {start: _CERTAIN}}
        places = [start[0]]
        while places:
            label = heappop(places)
            arrived = waiting.pop(label)
            if label >= stop:
                reached.update(arrived)
                continue
            for key, weight in arrived.items():
                at, values, known = key
                following = self.followers(State(at, values, known, None), 20 + len(values))
                # The index of the weight of a step is None if the weight is 1.
                for after, number in [(self._key(each), self._number(weight)) for weight, _, each in following]:
                    # Without `while` steps lead forward, so that a state is complete before it is left.
                    assert after[0] > label
                    if after[0] not in waiting:
                        waiting[after[0]] = {}
                        heappush(places, after[0])
                    _add(waiting[after[0]], after, self._times(weight, number))
        return reached

    def _key(self, state: State) -> Key:
        """Return a key for `state`, such that states with equal keys continue with equal runs.

        The key has the next instruction that is not a jump, and the values that may be read later.
        """
        code, label = self.machine.code, state.at
        instruction = code[label]
        while isinstance(instruction, Jump):
            label = instruction.goal
            instruction = code[label]
        values = self._shape.read_later(label, state.values)
        return len(code) if isinstance(instruction, Halt) else label, values, state.known

    # --- weights ----------------------------------------------------------------------------------

    def _number(self, weight: Closed | None) -> int | None:
        if weight is None:
            return None
        key = tuple(frozenset(ring.items()) for ring in weight)
        number = self._numbers_of.setdefault(key, len(self._functions))
        if number == len(self._functions):
            self._functions.append(weight)
        return number

    def _times(self, polynomial: Polynomial, number: int | None) -> Polynomial:
        if number is None:
            return polynomial
        self.budget.spend(2 * len(polynomial))
        return {tuple(sorted((*term, number))): c for term, c in polynomial.items()}

    def product(self, one: Polynomial, other: Polynomial) -> Polynomial:
        self.budget.spend(2 * len(one) * len(other))
        result: Polynomial = {}
        for term, c in one.items():
            for more, d in other.items():
                both = tuple(sorted((*term, *more)))
                result[both] = result.get(both, 0) + c * d
        return result

    def vanishes(self, polynomial: Iterable[tuple[tuple[int, ...], int]]) -> bool:
        total: Closed = {}, ONE
        for term, c in polynomial:
            value: Closed = constant(c), ONE
            for number in term:
                value = multiply_closed(value, self._functions[number], self.budget)
            total = add_closed(total, value, self.budget)
        return equal_closed(total, ({}, ONE), self.budget)


def _add(weights: Weighted, key: Key, polynomial: Polynomial) -> None:
    known = weights.get(key)
    if known is None:
        weights[key] = polynomial
        return
    total = dict(known)
    for term, c in polynomial.items():
        total[term] = total.get(term, 0) + c
    weights[key] = total


@dataclass
class Transitions:
    """The transitions of a program whose finite inputs are read in one order, with all states between them.

    No run fails, whatever the values of the inputs are. Raises NotDerived if this is not shown for the program.
    """

    machine: Machine
    budget: Budget
    _run: _SegmentRun = field(init=False)
    #: The slots of the inputs in the order in which they are read.
    _order: list[int] = field(init=False)
    #: The first instruction of each segment, and the first of each that reads the input; both with the end of the code.
    _starts: list[int] = field(init=False)
    _reads: list[int] = field(init=False)
    #: The states at the start of each segment, for all values of the inputs read before.
    _layers: list[list[Key]] = field(default_factory=list)
    _known: dict[tuple[int, Key], list[Weighted]] = field(default_factory=dict)
    _onwards: dict[tuple[int, Key], Weighted] = field(default_factory=dict)
    _zeros: dict[frozenset[tuple[tuple[int, ...], int]], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(self.machine.slots[slot].type in ("real", "int") for slot in self.machine.numbered("input")):
            raise NotDerived("an input has infinitely many values")
        if self.machine.loops:
            raise NotDerived("the program has a `while`")
        self._run = _SegmentRun(self.machine, self.budget, keeps_outputs=True)
        cut, end = _segments(self.machine, self.budget), len(self.machine.code)
        self._order = [each.slot for each in cut]
        self._starts, self._reads = [*(each.start for each in cut), end], [*(each.first for each in cut), end]
        layer = list(self._run.transition(self._run.first(), self._starts[0], {}))
        for number in range(len(self._order)):
            self._layers.append(layer)
            after = {there: None for here in layer for row in self._rows(number, here) for there in row}
            layer = list(after)
            if len(layer) > MOST_STATES:
                raise NotDerived(f"more than {MOST_STATES} states are reached before an input is read")

    def require(self, one: int, other: int) -> None:
        """Raise NotDerived unless the inputs in the slots `one` and `other` are shown to be exchangeable."""
        slots = self.machine.slots
        different = NotDerived(f"`{slots[one].name}` and `{slots[other].name}` are not shown to be exchangeable")
        if slots[one].type != slots[other].type:
            raise NotDerived(f"`{slots[one].name}` and `{slots[other].name}` have different types")
        if one not in self._order and other not in self._order:
            return  # no instruction reads either
        if one not in self._order or other not in self._order:
            raise different
        first, last = sorted((self._order.index(one), self._order.index(other)))
        if not self._commute(first, last):
            raise different

    def _commute(self, first: int, last: int) -> bool:
        """True if exchanging inputs number `first` and `last` in the order of reading leaves all weights unchanged.

        Transitions are compared from each state at the start of the first segment, for all values of the inputs between
        the two inputs.
        """
        count = len(self._values(first))
        between = [range(len(self._values(place))) for place in range(first + 1, last)]
        if prod(map(len, between)) > MOST_BETWEEN:
            raise NotDerived("too many inputs are read between two inputs that are exchanged")
        return all(
            self._equal(
                self._composed(first, here, (v, *middle, w)),
                self._composed(first, here, (w, *middle, v)),
            )
            for here in self._layers[first]
            for middle in product(*between)
            for v, w in combinations(range(count), 2)
        )

    def _composed(self, first: int, here: Key, chosen: Sequence[int]) -> Weighted:
        """Return the weights of the states after some consecutive segments, right before another input is read.

        `first` is the first segment, `here` the state at its start, and `chosen` has the index of the value of each
        segment's input.
        """
        reached: Weighted = {here: _CERTAIN}
        for place, value in enumerate(chosen, start=first):
            further: Weighted = {}
            for key, weight in reached.items():
                for there, factor in self._rows(place, key)[value].items():
                    _add(further, there, self._run.product(weight, factor))
            reached = further
        result: Weighted = {}
        for key, weight in reached.items():
            for there, factor in self._before_reading(first + len(chosen), key).items():
                _add(result, there, self._run.product(weight, factor))
        return result

    def _before_reading(self, place: int, here: Key) -> Weighted:
        """Return the transition from the state `here` to the first reading of the input of segment `place`.

        The state is at the start of the segment.
        """
        known = self._onwards.get((place, here))
        if known is None:
            known = self._onwards[place, here] = self._run.transition(here, self._reads[place], {})
        return known

    def _rows(self, place: int, here: Key) -> list[Weighted]:
        """Return the transitions of segment `place` from the state `here`, one for each value of its input."""
        known = self._known.get((place, here))
        if known is None:
            slot, stop = self._order[place], self._starts[place + 1]
            if here[0] >= stop:
                return [{here: _CERTAIN}] * len(self._values(place))
            if len(self._known) >= MOST_TRANSITIONS:
                raise NotDerived(f"more than {MOST_TRANSITIONS} transitions are needed")
            known = [self._run.transition(here, stop, {slot: value}) for value in self._values(place)]
            self._known[place, here] = known
        return known

    def _values(self, place: int) -> Sequence[Value]:
        return values_of(self.machine.slots[self._order[place]].type)

    def _equal(self, one: Weighted, other: Weighted) -> bool:
        for key in {**one, **other}:
            difference = dict(one.get(key, {}))
            for term, c in other.get(key, {}).items():
                difference[term] = difference.get(term, 0) - c
            self.budget.spend(2 * len(difference))
            left = frozenset((term, c) for term, c in difference.items() if c)
            if left not in self._zeros:
                self._zeros[left] = self._run.vanishes(left)
            if not self._zeros[left]:
                return False
        return True


@dataclass(frozen=True, slots=True)
class _Segment:
    """The part of the code for the input in `slot`: its first instruction, and the first that reads the input."""

    slot: int
    start: int
    first: int


def _segments(machine: Machine, budget: Budget) -> list[_Segment]:
    """Return a segment of `machine` for each input that is read, in the order of the text.

    A segment can start at an instruction after the last one that reads the previous input, if no earlier jump passes
    over this instruction. It starts at the first such instruction before the input is read, or else where the input is
    first read. Charges its work to `budget`. Raises NotDerived if an instruction that reads one input is between two
    that read another.
    """
    inputs = {slot: 1 << slot for slot in machine.numbered("input")}
    every = sum(inputs.values())
    result: list[_Segment] = []
    last = -1
    farthest = [0]
    for label, instruction in enumerate(machine.code):
        budget.spend(5)
        read = accesses(instruction)[0] & every
        for slot in [slot for slot, bit in inputs.items() if read & bit] if read else ():
            if not (result and result[-1].slot == slot):
                if last == label or any(each.slot == slot for each in result):
                    raise NotDerived("inputs are not read one after the other")
                meeting = (place for place in range(last + 1, label) if farthest[place] <= place)
                result.append(_Segment(slot, next(meeting, label), label))
            last = label
        match instruction:
            case Jump(goal) | Branch(_, goal):
                pass
            case _:
                goal = label + 1
        farthest.append(max(farthest[label], goal))
    return result
