"""All inputs of a program with finite inputs at once: det and dd(u), with sets of inputs as the bits of integers.

An `InputGrid` numbers the inputs in lexicographic order. A set of inputs is an integer that has the bit n for the input
n, so that unions, intersections and moves along one input are operations on integers of the size of the grid.

**det.** `answers` runs a deterministic program at all inputs together: a slot has a set of inputs for each of its
values. An instruction is executed once for all inputs that reach it.

**dd.** Let the answers be numbered in binary. Two inputs have different answers exactly if the numbers of their answers
differ in some digit. So dd(u) <= r exactly if, for some digit, an input at most r away from u has an answer with the
other digit. The inputs at most r away from a set are a union of moves of the set. For the largest difference, the set
moves by at most r along each input, one input after the other. For the sum of differences, the inputs at most r - s
away move by s along one input, for each s.
"""

from __future__ import annotations

import operator
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.state import same_value
from dipc.chain.step import as_number
from dipc.frozen import frozen
from dipc.program.metric import Norm
from dipc.text import core as operations
from dipc.text.ast import COMPARED
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
    Instruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Store,
    Value,
)

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most machine words that the operations for one grid may read.
_MOST_WORDS = 4_000_000_000

#: The most instructions that are executed: a loop may be endless at some input.
_MOST_STEPS = 100_000

#: The most values of one input, and the most distances that are examined.
_MOST_VALUES = 512
_MOST_LEVELS = 4_096


def gap(one: Value, other: Value) -> Fraction:
    """Return the distance between `one` and `other`, two values of one input.

    It is |one - other| for numbers; for others it is 1 if they differ, else 0.
    """
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return abs(one - other)
    return _ZERO if same_value(one, other) else _ONE


class InputGrid:
    """All combinations of values of some inputs, numbered in lexicographic order, the last input fastest.

    A set of inputs is an int whose bits are the numbers of its members.
    """

    def __init__(self, choices: Sequence[Sequence[Value]]) -> None:
        self.choices = tuple(map(tuple, choices))
        self.size = prod(map(len, self.choices))
        strides, stride = [], 1
        for values in reversed(self.choices):
            strides.append(stride)
            stride *= len(values)
        self.strides = tuple(reversed(strides))
        self.everything = (1 << self.size) - 1
        self._offsets = [
            {value: place * stride for place, value in enumerate(values)}
            for values, stride in zip(self.choices, self.strides, strict=True)
        ]
        self._words = 0

    def number(self, inputs: Sequence[Value]) -> int:
        """Return the number of the combination `inputs`."""
        return sum([offsets[value] for offsets, value in zip(self._offsets, inputs, strict=True)])

    def member(self, number: int) -> tuple[Value, ...]:
        """Return the combination with this `number`."""
        pairs = zip(self.choices, self.strides, strict=True)
        return tuple([values[number // stride % len(values)] for values, stride in pairs])

    def slab(self, position: int, places: Iterable[int]) -> int:
        """Return the set of the combinations in which the input with index `position` has one of certain values.

        The set is an int whose bit k is 1 if it contains combination k. `places` are the indices of the values among
        the values of the input.
        """
        stride, period = self.strides[position], self.strides[position] * len(self.choices[position])
        ones = (1 << stride) - 1
        block = 0
        for place in places:
            block |= ones << place * stride
        return block * (self.everything // ((1 << period) - 1))

    def charge(self, operations: int) -> None:
        """Add `operations` on sets of inputs to the work done; raise NotApplicable if the total is past the limit."""
        self._words += operations * (1 + self.size // 64)
        if self._words > _MOST_WORDS:
            raise NotApplicable


def members(inputs: int) -> Iterator[int]:
    """Yield the numbers in the set `inputs`, in increasing order."""
    digits = bin(inputs)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


# --- det at all inputs ------------------------------------------------------------------------------------------------

#: The inputs of a set by the value that something has there; the sets are disjoint.
_ByValue = dict[Value, int]


def answers(flow: Flow, grid: InputGrid) -> Mapping[tuple[Value, ...], int]:
    """Return the set of inputs of `grid` for each answer that the deterministic program of `flow` gives.

    Raises NotApplicable if the program fails or leaves an output unassigned at some input, and for too much work.
    """
    run = _RunOfAll(flow, grid)
    run.finish()
    result: dict[tuple[Value, ...], int] = {(): grid.everything}
    for slot in flow.program.outputs:
        grid.charge(len(result) * len(run.slots[slot]))
        result = {
            (*known, value): both
            for known, inputs in result.items()
            for value, there in run.slots[slot].items()
            if (both := inputs & there)
        }
    if sum(inputs.bit_count() for inputs in result.values()) != grid.size:
        raise NotApplicable
    return result


@frozen
class ChoiceLaw:
    """The law of the outputs of a program with one random choice, at all inputs of a grid.

    `accepted` has a set for each option of the choice: the inputs where the program gives a wanted answer if it chooses
    this option. If the probability of an option is proportional to e^(rate·eps·score), `scores` has a mapping for each
    option, from each score to the set of inputs with this score. For other choices `scores` is None.
    """

    accepted: list[int]
    scores: list[dict[Value, int]] | None


def law_of_choice(flow: Flow, grid: InputGrid, wanted: Mapping[tuple[Value, ...], int]) -> ChoiceLaw | None:
    """Return the law of the program of `flow` on `grid`, if it draws no noise and makes one random choice; else None.

    The choice is the same one at every input. `wanted` has the set of inputs for each wanted answer. Raises
    NotApplicable as `answers` does.
    """
    instructions = flow.program.instructions
    drawn = [label for label, each in enumerate(instructions) if isinstance(each, _RANDOM)]
    if len(drawn) != 1 or not flow.forward:
        return None
    (label,) = drawn
    choice = instructions[label]
    if not isinstance(choice, SampleExponential | SampleChoice):
        return None
    before = _RunOfAll(flow, grid)
    if before.finish(label) != grid.everything:
        return None
    options: list[DomExpr]
    scores = None
    if isinstance(choice, SampleExponential):
        options = [Const(value) for value in choice.values]
        scores = [before.value(score, grid.everything) for score in choice.scores]
    else:
        options = [value for value, _ in choice.arms]
    accepted = []
    for option in options:
        run = _RunOfAll(flow, grid, before.slots)
        run.assign(choice.target, run.value(option, grid.everything), grid.everything)
        run.finish(from_label=flow.landing[label + 1])
        right = 0
        for answer, there in wanted.items():
            for slot, value in zip(flow.program.outputs, answer, strict=True):
                there &= run.slots[slot].get(value, 0)
            right |= there
        grid.charge(len(wanted) * len(flow.program.outputs))
        accepted.append(right)
    return ChoiceLaw(accepted, scores)


#: Instructions whose result is random.
_RANDOM = (SampleNoise, SampleExponential, SampleChoice)


class _RunOfAll:
    """A run of a deterministic program at all inputs of a grid at once.

    For each slot and each of its values it has the set of inputs at which the slot has this value. An input where a
    slot is unassigned is in no set of this slot. A set is an integer with a bit for each input of the grid.
    """

    def __init__(self, flow: Flow, grid: InputGrid, slots: Sequence[_ByValue] | None = None) -> None:
        """Prepare a run of `flow` at all inputs of `grid`, from the start of the program or from given values.

        If `slots` is given, it has the values: for each slot, a mapping of each value to the set of inputs at which the
        slot has this value. The run does not change `slots`.
        """
        self._flow, self._grid = flow, grid
        if slots is not None:
            self.slots = list(slots)
            return
        program = flow.program
        self.slots = [{} if slot.initial is None else {slot.initial: grid.everything} for slot in program.slots]
        for position, (slot, values) in enumerate(zip(program.inputs, grid.choices, strict=True)):
            self.slots[slot] = {value: grid.slab(position, (place,)) for place, value in enumerate(values)}

    def finish(self, end: int | None = None, from_label: int | None = None) -> int:
        """Run from `from_label`, by default the start, to the label `end`, by default the exit.

        The result is the set of inputs whose runs get to `end`, as an integer with a bit for each input. If `end` is
        before the exit, all steps of the program must lead to greater labels. Raises NotApplicable if the program fails
        at some input, or after too many steps.
        """
        end = self._flow.exit_label if end is None else end
        waiting = {self._flow.entry if from_label is None else from_label: self._grid.everything}
        for _ in range(_MOST_STEPS):
            label = min(waiting)
            if label >= end:  # The exit is the last label.
                return waiting[label] if label == end else 0
            inputs = waiting.pop(label)
            for follow, there in self._executed(label, self._flow.program.instructions[label], inputs):
                if there:
                    waiting[follow] = waiting.get(follow, 0) | there
        raise NotApplicable

    def _executed(self, label: int, instruction: Instruction, inputs: int) -> Iterator[tuple[int, int]]:
        landing = self._flow.landing
        self._grid.charge(1)
        match instruction:
            case Store(target=target, value=expr):
                self.assign(target, self.value(expr, inputs), inputs)
            case Branch(condition=condition, then=then, otherwise=otherwise):
                for value, there in self.value(condition, inputs).items():
                    yield landing[then if value else otherwise], there
                return
            case Jump(target=goal):
                yield landing[goal], inputs
                return
            case _:
                raise NotApplicable
        yield landing[label + 1], inputs

    def assign(self, target: Reference, values: _ByValue, inputs: int) -> None:
        for slot, there in self._places(target, inputs):
            keep = self._flow.admission(slot)
            known = {value: rest for value, old in self.slots[slot].items() if (rest := old & ~there)}
            for value, where in values.items():
                if both := where & there:
                    kept = keep(value)
                    known[kept] = known.get(kept, 0) | both
            self._grid.charge(len(known) + len(values))
            self.slots[slot] = known

    def _places(self, variable: Reference, inputs: int) -> list[tuple[int, int]]:
        if variable.index is None:
            return [(variable.slots[0], inputs)]
        result = []
        for value, there in self.value(variable.index, inputs).items():
            slot = variable.element(value)
            if slot is None:
                raise NotApplicable
            result.append((slot, there))
        return result

    # --- expressions ----------------------------------------------------------------------------------

    def value(self, expr: AnyExpr, inputs: int) -> _ByValue:
        match expr:
            case AffineExpr():
                return self._sum(expr, inputs)
            case LinearComparison(difference, op):
                values = self._sum(difference, inputs)
                return _union_by_value(
                    (COMPARED[op](as_number(value), _ZERO), there) for value, there in values.items()
                )
            case Const(value=value):
                return {value: inputs}
            case Reference(slots=(slot,), index=None):
                return self._read(slot, inputs)
            case Reference():
                places = self._places(expr, inputs)
                return _union_by_value(held for slot, there in places for held in self._read(slot, there).items())
            case Apply(op=DomOp.AND | DomOp.OR, arguments=arguments):
                # The right side is evaluated only where the left one does not decide.
                decisive = expr.op is DomOp.OR
                decided = 0
                for argument in arguments:
                    truth = self.value(argument, inputs)
                    decided |= truth.get(decisive, 0)
                    inputs = truth.get(not decisive, 0)
                return {value: there for value, there in ((decisive, decided), (not decisive, inputs)) if there}
            case Apply(op=op, arguments=arguments):
                found: dict[tuple[Value, ...], int] = {(): inputs}
                for argument in arguments:
                    values = self.value(argument, inputs)
                    self._grid.charge(len(found) * len(values))
                    found = {
                        (*known, value): both
                        for known, there in found.items()
                        for value, where in values.items()
                        if (both := there & where)
                    }
                return _union_by_value((_applied(op, known), there) for known, there in found.items())
        raise NotApplicable

    def _read(self, slot: int, inputs: int) -> _ByValue:
        values = self.slots[slot]
        self._grid.charge(len(values))
        result = {value: both for value, there in values.items() if (both := there & inputs)}
        if len(values) and sum(there.bit_count() for there in result.values()) == inputs.bit_count():
            return result
        if inputs:
            raise NotApplicable
        return {}

    def _sum(self, expr: AffineExpr, inputs: int) -> _ByValue:
        total = self.value(expr.constant, inputs)
        for coefficient, variable in expr.terms:
            factor, value = self.value(coefficient, inputs), self.value(variable, inputs)
            term = self._combined(factor, value, operator.mul)
            total = self._combined(total, term, operator.add)
        return total

    def _combined(
        self, one: _ByValue, other: _ByValue, operation: Callable[[Fraction, Fraction], Fraction]
    ) -> _ByValue:
        self._grid.charge(len(one) * len(other))
        return _union_by_value(
            (operation(as_number(a), as_number(b)), both)
            for a, there in one.items()
            for b, where in other.items()
            if (both := there & where)
        )


def _union_by_value(values: Iterable[tuple[Value, int]]) -> _ByValue:
    result: _ByValue = {}
    for value, there in values:
        result[value] = result.get(value, 0) | there
    return result


def _applied(op: DomOp, arguments: Sequence[Value]) -> Value:
    try:
        return operations.evaluate(op, list(arguments))
    except ArithmeticError:
        raise NotApplicable from None


# --- dd at all inputs -------------------------------------------------------------------------------------------------


@frozen
class _Move:
    """A change of the value of one input by `distance`, for many inputs of a grid at once.

    A set of inputs is an integer with a bit for each input of the grid. `movable` is the set of inputs that can be
    changed. A change moves the bit of an input up by `shift` places, or down if `shift` is negative.
    """

    distance: Fraction
    shift: int
    movable: int

    def image(self, inputs: int) -> int:
        chosen = inputs & self.movable
        return chosen << self.shift if self.shift >= 0 else chosen >> -self.shift


def _moves(grid: InputGrid, position: int) -> list[_Move]:
    values, stride = grid.choices[position], grid.strides[position]
    if len(values) > _MOST_VALUES:
        raise NotApplicable
    places: dict[tuple[Fraction, int], list[int]] = {}
    for one, other in product(range(len(values)), repeat=2):
        if one != other:
            places.setdefault((gap(values[one], values[other]), (other - one) * stride), []).append(one)
    grid.charge(len(places))
    return [_Move(distance, shift, grid.slab(position, chosen)) for (distance, shift), chosen in places.items()]


@frozen
class AllDistances:
    """dd at each input of `grid`.

    `levels` has the finite values of dd, without repetition and increasing. `level_of` has an entry for each input, at
    the number of the input in `grid`. The entry is 1 plus the index of dd in `levels`, and 0 if dd is infinite or the
    input is not allowed.
    """

    grid: InputGrid
    levels: list[Fraction]
    level_of: Sequence[int]

    def dd(self, inputs: Sequence[Value]) -> Fraction | None:
        """Return dd of the allowed input `inputs`; None is infinity."""
        found = self.level_of[self.grid.number(inputs)]
        return self.levels[found - 1] if found else None


def distances(grid: InputGrid, norm: Norm, classes: Sequence[int]) -> AllDistances:
    """Return dd at all inputs of `grid`, by `norm`.

    `classes` has the set of inputs for each answer; inputs in none of them are not allowed. dd(u) is the least distance
    of the allowed input u from one in another class, infinite if there is none. Raises NotApplicable if there are too
    many different distances, or for too much work.
    """
    allowed = 0
    for each in classes:
        allowed |= each
    digits = []
    for digit in range((len(classes) - 1).bit_length()):
        ones = 0
        for number, each in enumerate(classes):
            if number >> digit & 1:
                ones |= each
        digits += [(ones, allowed & ~ones), (allowed & ~ones, ones)]
    levels: list[Fraction] = []
    level_of = array("H", [0]) * grid.size
    left = allowed
    for level, nearby in _reached(grid, norm, [ones for ones, _ in digits]):
        found = 0
        for near, (_, others) in zip(nearby, digits, strict=True):
            found |= near & others
        found &= left
        left &= ~found
        levels.append(level)
        for number in members(found):
            level_of[number] = len(levels)
        if not left:
            break
    return AllDistances(grid, levels, level_of)


def _reached(grid: InputGrid, norm: Norm, sets: Sequence[int]) -> Iterator[tuple[Fraction, list[int]]]:
    """Yield (d, neighborhoods) for each distance d by `norm` between inputs of `grid`, in increasing order.

    Each of `sets` is a set of inputs: an integer with a bit for each input of the grid. Its neighborhood is the set of
    the inputs at most d away from one of its elements. Raises NotApplicable if there are too many distances.
    """
    if not sets:
        return
    if norm is Norm.DISCRETE:
        yield _ONE, [grid.everything if each else 0 for each in sets]
        return
    moves = [_moves(grid, position) for position in range(len(grid.choices))]
    gaps = [sorted({move.distance for move in each}) for each in moves]
    if norm is Norm.LINF:
        levels = sorted({each for row in gaps for each in row})
        if len(levels) > _MOST_LEVELS:
            raise NotApplicable
        for level in levels:
            near = [_neighborhood(grid, each, moves, level) for each in sets]
            yield level, near
        return
    sums = {_ZERO}
    for row in gaps:
        sums |= {one + other for one in sums for other in row}
        if len(sums) > _MOST_LEVELS:
            raise NotApplicable
    levels = sorted(sums)
    known = [list(sets)]
    for level in levels[1:]:
        near = list(known[-1])
        for move in (move for row in moves for move in row if move.distance <= level):
            before = known[bisect_right(levels, level - move.distance, 0, len(known)) - 1]
            grid.charge(3 * len(near))
            near = [here | move.image(there) for here, there in zip(near, before, strict=True)]
        known.append(near)
        yield level, near


def _neighborhood(grid: InputGrid, inputs: int, moves: Sequence[Sequence[_Move]], level: Fraction) -> int:
    for row in moves:
        reached = inputs
        for move in row:
            if move.distance <= level:
                grid.charge(3)
                reached |= move.image(inputs)
        inputs = reached
    return inputs
