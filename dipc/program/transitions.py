"""Inputs whose order makes no difference because their transitions commute.

An input is *open* in a state until an instruction reads it, or until no later instruction does. Let the input i have
the value v. The transition T(i, v) leads from a state where i is open to states where i is not open, and gives each of
these states a weight. A state where i is not open stays as it is.

Lemma. Let every run close its inputs in one order, and let T(i, v)·T(j, w) = T(i, w)·T(j, v) for neighbors i, j of this
order and all v, w. Then the law of the outputs is unchanged when i and j exchange their values.

- Conditions: the equation holds from each state that can be reached with any values of the inputs before i. The weights
  are functions of eps, and equal as such.
- Proof: the law is a product of transitions, one for each input in order, and of the law of the outputs in the states
  that are left, which does not depend on the inputs. The exchange replaces two neighboring factors by equal ones.
- Noise: a state includes the constraints on its noises. For fixed values of the noises, weights of states are those of
  choices, and comparisons have weight 1 (`dipc.program.exit_weights`). So equal weights of states are equal laws.
- Inputs in between: if j is not the next input, the equation is tested with each combination of values of the inputs
  between i and j.
- Consequence: exchanges of neighbors in a block generate every order of its values.

A transition may continue after i is closed. It stops where the states for all values of i are at one label. The two
sides of the equation may differ there, and be equal a few steps later. So they are compared again after further steps,
until the next input is read.

Weights are polynomials in the weights of single choices, and are first compared as polynomials: equal polynomials are
equal functions. Different polynomials may also be equal functions, because the weights of a choice sum to 1. So if they
differ, the functions of eps are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from typing import TypeVar, assert_never

from dipc.algebra.exppoly import Closed, ExpPoly, total
from dipc.algebra.limits import NotApplicable, Undecided
from dipc.chain.flow import Flow
from dipc.chain.state import (
    Choice,
    ChoiceWeight,
    Comparison,
    Fault,
    InputValue,
    State,
    Waiting,
    finite_values,
    slot_set,
)
from dipc.chain.waiting import Steps
from dipc.program.weights import Weights
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError

#: The most states that demand one input, the most transitions from single states, and the most combinations of values
#: of the inputs between two.
_MOST_STATES, _MOST_ROWS, _MOST_BETWEEN = 1_000, 12_000, 64

#: A polynomial in the weights of choices: integers by the sorted numbers of the weights.
_Polynomial = dict[tuple[int, ...], int]

#: Weights of states.
_Weighted = dict[State, _Polynomial]

_UNIT: _Polynomial = {(): 1}

#: A value with its type: true is not the number 1.
_Key = tuple[type, Value]

#: A state, or the value of an input that was read.
_Place = TypeVar("_Place")


def exchanged_by_transitions(
    flow: Flow, weights: Weights, neighbors: Iterable[tuple[int, int]]
) -> frozenset[tuple[int, int]]:
    """Return those of the pairs `neighbors` of finite inputs that transitions prove to be interchangeable.

    Exchanging the values of a returned pair leaves the law of the outputs of the program of `flow` unchanged. `weights`
    computes the weights of its choices. A transition is the part of a run from reading one input to reading the next.
    """
    if not flow.forward:
        return frozenset()
    pairs = [*neighbors]
    found = _CommutingSearch(flow, weights).exchangeable_pairs(pairs)
    left = [pair for pair in pairs if pair not in found]
    return found | _CommutingSearch(flow, weights, at_once=True).exchangeable_pairs(left) if left else found


class _CommutingSearch:
    """A search for pairs of inputs that may exchange their values without changing the law of the outputs.

    A transition is the part of a run from reading one input to reading the next. Two inputs may exchange values if
    their transitions commute. By default, a choice is made only when its result is read, so that fewer states lie
    between two inputs. With `at_once`, every choice is made where it is drawn. This helps if otherwise a variable
    computed from a waiting choice would make runs read the inputs in different orders.
    """

    def __init__(self, flow: Flow, weights: Weights, *, at_once: bool = False) -> None:
        self._flow = flow
        self._weights = weights
        slots = flow.program.slots
        self._finite = [slot for slot in flow.program.inputs if not slots[slot].is_symbolic]
        self._domains = {slot: finite_values(slots[slot]) for slot in self._finite}
        self._live = flow.live(flow.program.outputs)
        self._steps = Steps(flow, self._live, at_once=at_once)
        self._everything = slot_set(range(len(slots)))
        self._numbers: dict[Closed, int] = {}
        self._functions: list[Closed] = []
        self._opened_by: dict[Waiting, frozenset[int]] = {}
        self._open_in: dict[State, frozenset[int]] = {}
        self._known: dict[tuple[State, int], Mapping[_Key, _Weighted]] = {}
        self._after_state: dict[State, tuple[int | None, list[tuple[State, int | _Key | None]]]] = {}

    def exchangeable_pairs(self, neighbors: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        try:
            order, layers = self._layers()
        except (NotApplicable, Fault, Undecided, DiagnosticError):
            return frozenset()
        place = {slot: number for number, slot in enumerate(order)}
        result: set[tuple[int, int]] = set()
        for one, other in neighbors:
            if one not in place and other not in place:
                result.add((one, other))  # no run reads either
            elif one in place and other in place:
                first, last = sorted((place[one], place[other]))
                try:
                    if self._commute(order[first : last + 1], layers[first]):
                        result.add((one, other))
                except (NotApplicable, Fault, Undecided, DiagnosticError):
                    continue
        return frozenset(result)

    def _layers(self) -> tuple[list[int], list[list[State]]]:
        """Return the inputs in the order in which they are read, and for each the states right before it is read.

        Raises NotApplicable for too many states, or if the inputs are not read in one order.
        """
        layer = [self._first()]
        order: list[int] = []
        layers: list[list[State]] = []
        while (slot := self._first_demand(layer)) is not None:
            order.append(slot)
            layers.append(layer)
            after = dict.fromkeys(
                [there for state in layer for row in self._rows(state, slot).values() for there in row]
            )
            layer = [state for state in after if state.label != self._flow.exit_label]
            if len(layer) > _MOST_STATES:
                raise NotApplicable
        return order, layers

    def _first_demand(self, states: Iterable[State]) -> int | None:
        """Return the first unread input that is found on a path from `states`, or None if no path reads one."""
        queue = _Queue(self._steps)
        for state in states:
            queue.add(state)
        while (here := queue.pop()) is not None:
            if here.label == self._flow.exit_label or not self._open(here):
                continue
            demand, after = self._next(here)
            if demand is not None:
                return demand
            for there, _ in after:
                queue.add(there)
        return None

    def _commute(self, between: Sequence[int], states: Sequence[State]) -> bool:
        """Return True if the first and the last of the inputs `between` may exchange values, from each of `states`.

        `between` are these two inputs and those that are read between them, in order; the first is read next in
        `states`.
        """
        first, *inner, last = between
        values = self._domains[first]
        if values != self._domains[last]:
            return False
        combinations = [*product(*[self._domains[slot] for slot in inner])]
        if len(combinations) > _MOST_BETWEEN:
            return False
        return all(
            self._meet(
                self._after(state, [(first, v), *zip(inner, middle, strict=True), (last, w)]),
                self._after(state, [(first, w), *zip(inner, middle, strict=True), (last, v)]),
            )
            for number, v in enumerate(values)
            for w in values[:number]
            for middle in combinations
            for state in states
        )

    def _after(self, state: State, given: Sequence[tuple[int, Value]]) -> _Weighted:
        """Return the states reached from `state` when the inputs in `given` have been read, each with its total weight.

        `given` has pairs (input, value), in the order in which the inputs are read.
        """
        reached: _Weighted = {state: _UNIT}
        for slot, value in given:
            further: _Weighted = {}
            for here, weight in reached.items():
                for there, factor in self._rows(here, slot)[type(value), value].items():
                    _accumulate(further, there, _product(weight, factor))
            reached = further
        return reached

    # --- transitions of single states ---------------------------------------------------------------------

    def _first(self) -> State:
        given = {slot: self._domains[slot][0] for slot in self._finite}
        state = self._steps.first(self._flow.first_state(given))
        for slot in self._finite:
            options = tuple([(value, InputValue(slot, value)) for value in self._domains[slot]])
            state = state.assign(slot, Waiting(-1 - slot, options), state.label)
        return self._tidied(state)

    def _rows(self, state: State, slot: int) -> Mapping[_Key, _Weighted]:
        """Return, for each value of the input `slot`, the states reached by reading it, with their weights.

        `slot` is the input that is read next after `state`.
        """
        known = self._known.get((state, slot))
        if known is None:
            if len(self._known) >= _MOST_ROWS:
                raise NotApplicable
            known = self._known[state, slot] = self._transitions(state, slot)
        return known

    def _transitions(self, state: State, slot: int) -> Mapping[_Key, _Weighted]:
        keys = [(type(value), value) for value in self._domains[slot]]
        if slot not in self._open(state):
            return {key: {state: _UNIT} for key in keys}
        done: dict[_Key, _Weighted] = {key: {} for key in keys}
        #: The weights of pending states, by the value of the input; None before it is read.
        at: dict[State, dict[_Key | None, _Polynomial]] = {state: {None: _UNIT}}
        queue = _Queue(self._steps)
        queue.add(state)
        while (here := queue.next_one()) is not None:
            if queue.is_level and not any(slot in self._open(each) for each in at):
                break
            queue.pop()
            weights = at.pop(here)
            if here.label == self._flow.exit_label:
                _end(done, here, weights)
                continue
            demand, after = self._next(here)
            if demand not in (None, slot):
                raise NotApplicable
            for there, number in after:
                queue.add(there)
                _carry(weights, number, at.setdefault(there, {}))
            if len(at) > _MOST_STATES:
                raise NotApplicable
        for here, weights in at.items():
            _end(done, here, weights)
        return done

    def _next(self, state: State) -> tuple[int | None, list[tuple[State, int | _Key | None]]]:
        """Return (the unread input that the next step from `state` reads, or None; the next states).

        Each next state is paired with the index of its weight in `_functions`, or None if the weight is 1. If the step
        reads an input, the state is paired with the value of the input that leads to it.
        """
        known = self._after_state.get(state)
        if known is not None:
            return known
        result: list[tuple[State, int | _Key | None]] = []
        demand = None
        for after, edge in self._steps.successors(state):
            there = self._tidied(after)
            match edge:
                case Choice(weight=InputValue(slot=slot, value=value)):
                    demand = slot
                    result.append((there, (type(value), value)))
                case Choice(weight=weight):
                    if self._weights.possible(weight):
                        result.append((there, self._number(weight)))
                case None | Comparison():
                    result.append((there, None))
                case _:
                    assert_never(edge)
        self._after_state[state] = demand, result
        return demand, result

    def _tidied(self, state: State) -> State:
        if self._steps.progress(state):
            return state
        return state.forget(self._everything & ~self._live[state.label])

    def _open(self, state: State) -> frozenset[int]:
        known = self._open_in.get(state)
        if known is None:
            opened = [self._opened(value) for value in state.values if type(value) is Waiting]
            known = self._open_in[state] = frozenset[int]().union(*opened)
        return known

    def _opened(self, waiting: Waiting) -> frozenset[int]:
        known = self._opened_by.get(waiting)
        if known is None:
            slots = {weight.slot for _, weight in waiting.options if isinstance(weight, InputValue)}
            for value, _ in waiting.options:
                if isinstance(value, Waiting):
                    slots |= self._opened(value)
            known = self._opened_by[waiting] = frozenset(slots)
        return known

    # --- weights ------------------------------------------------------------------------------------------

    def _number(self, weight: ChoiceWeight) -> int:
        function = self._weights.closed(weight)
        number = self._numbers.setdefault(function, len(self._functions))
        if number == len(self._functions):
            self._functions.append(function)
        return number

    def _meet(self, one: _Weighted, other: _Weighted) -> bool:
        """Return True if `one` and `other` are equal, or become equal by steps that read no further input.

        Both map states to weights. The steps are taken from all states of both maps together.
        """
        if one == other:
            return True
        keys: tuple[_Key, _Key] = ((bool, False), (bool, True))
        at: dict[State, dict[_Key | None, _Polynomial]] = {}
        queue = _Queue(self._steps)
        for key, weighted in zip(keys, (one, other), strict=True):
            for state, polynomial in weighted.items():
                at.setdefault(state, {})[key] = polynomial
        ended = {state: at.pop(state) for state in [*at] if state.label == self._flow.exit_label}
        for state in at:
            queue.add(state)
        last = one, other
        while (here := queue.next_one()) is not None:
            demand, after = self._next(here)
            if demand is not None:
                break
            queue.pop()
            weights = at.pop(here)
            for there, number in after:
                goal = ended if there.label == self._flow.exit_label else at
                if goal is at:
                    queue.add(there)
                _carry(weights, number, goal.setdefault(there, {}))
            if len(at) > _MOST_STATES:
                raise NotApplicable
            if queue.is_level or not at:
                mine, theirs = ({s: w[key] for s, w in (*at.items(), *ended.items()) if key in w} for key in keys)
                last = mine, theirs
                if mine == theirs:
                    return True
        mine, theirs = last
        return all(
            self._is_zero(difference)
            for state in {**mine, **theirs}
            if (difference := _difference(mine.get(state, {}), theirs.get(state, {})))
        )

    def _is_zero(self, polynomial: _Polynomial) -> bool:
        terms: list[Closed] = []
        for numbers, coefficient in polynomial.items():
            term: Closed = ExpPoly.constant(Fraction(coefficient))
            for number in numbers:
                term = term * self._functions[number]
            terms.append(term)
        return total(terms) == 0


class _Queue:
    """A queue of distinct states, from which the one with the least label is taken next."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._heap: list[tuple[int, int, int, State]] = []
        self._inside: set[State] = set()
        self._levels: Counter[tuple[int, int]] = Counter()
        self._made = 0

    def add(self, state: State) -> None:
        if state not in self._inside:
            self._inside.add(state)
            level = state.label, self._steps.progress(state)
            self._levels[level] += 1
            self._made += 1
            heappush(self._heap, (*level, self._made, state))

    @property
    def is_level(self) -> bool:
        return len(self._levels) == 1

    def next_one(self) -> State | None:
        return self._heap[0][-1] if self._heap else None

    def pop(self) -> State | None:
        if not self._heap:
            return None
        label, progress, _, state = heappop(self._heap)
        self._inside.remove(state)
        self._levels[label, progress] -= 1
        if not self._levels[label, progress]:
            del self._levels[label, progress]
        return state


def _end(done: Mapping[_Key, _Weighted], state: State, weights: Mapping[_Key | None, _Polynomial]) -> None:
    """Add the weight of ending a transition in `state` to `done`, for each value of the input that was read.

    `weights` maps a value of the input to the weight to add for it, and None to a weight to add for every value. `done`
    maps each value to the weights of final states.
    """
    for key, polynomial in weights.items():
        for row in done.values() if key is None else (done[key],):
            _accumulate(row, state, polynomial)


def _carry(
    weights: Mapping[_Key | None, _Polynomial], step: int | _Key | None, onwards: dict[_Key | None, _Polynomial]
) -> None:
    """Add `weights`, by the value of the input, to `onwards`, the weights of a next state.

    `step` is the number of the weight of the step, None for 1, or the value of the input that the step reads.
    """
    for key, polynomial in weights.items():
        if isinstance(step, tuple):
            _accumulate(onwards, step, polynomial)
        else:
            _accumulate(onwards, key, polynomial if step is None else _product({(step,): 1}, polynomial))


def _accumulate(weights: dict[_Place, _Polynomial], key: _Place, polynomial: _Polynomial) -> None:
    known = weights.setdefault(key, {})
    for numbers, coefficient in polynomial.items():
        known[numbers] = known.get(numbers, 0) + coefficient


def _product(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    if one == _UNIT:
        return other
    result: _Polynomial = {}
    for numbers, coefficient in one.items():
        for more, factor in other.items():
            key = tuple(sorted((*numbers, *more)))
            result[key] = result.get(key, 0) + coefficient * factor
    return result


def _difference(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    result = dict(one)
    for numbers, coefficient in other.items():
        result[numbers] = result.get(numbers, 0) - coefficient
    return {numbers: coefficient for numbers, coefficient in result.items() if coefficient}
