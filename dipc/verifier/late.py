"""A program that draws as late as possible, and ends as the given one does (FORMAT.md, lemma 2b).

The code is cut into *pieces*, which control enters at their first instruction and leaves at their end. Pieces that draw
finite values move down, to just before the first piece that uses what they write. Long sums are computed summand by
summand. After `s + y[1]` a state has one number in place of two, so that n bits have n + 1 states in place of 2^n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dipc.verifier.execution import accesses, bits, places, places_in
from dipc.verifier.program import (
    Branch,
    Choice,
    Code,
    Halt,
    Instruction,
    Jump,
    Machine,
    Operation,
    Place,
    Sample,
    Scored,
    Slot,
    Store,
)
from dipc.verifier.reading import Budget

#: The most comparisons of two pieces.
MOST_COMPARED = 200_000


@dataclass
class _Piece:
    """Instructions `code`, with jumps relative to the first; `reads` and `writes` are sets of slots as bits."""

    code: list[Instruction]
    reads: int = field(init=False)
    writes: int = field(init=False)

    def __post_init__(self) -> None:
        self.reads = self.writes = 0
        for instruction in self.code:
            read, target = accesses(instruction)
            self.reads |= read
            self.writes |= 0 if target is None else bits(target.slots)

    def has(self, *kinds: type[Instruction]) -> bool:
        return any(isinstance(instruction, kinds) for instruction in self.code)

    def commutes(self, other: _Piece) -> bool:
        return not (self.writes & (other.reads | other.writes) or other.writes & self.reads)


def drawing_late(machine: Machine, budget: Budget) -> Machine | None:
    """Return a program that draws later than `machine`, with the same distribution of answers.

    Its inputs and outputs have the same slots. The result is None if no draw can be made later, and for a program with
    `while`. If an expression has no value in a run, the run of the result with the same draws fails, too. Charges its
    work to `budget`.
    """
    if machine.loops or not any(isinstance(instruction, Choice | Scored) for instruction in machine.code):
        return None
    return _Rewriting(machine, budget).result()


@dataclass
class _Rewriting:
    machine: Machine
    budget: Budget
    slots: list[Slot] = field(init=False)
    #: The slots that depend on a draw, as bits.
    _random: int = 0
    _outputs: int = field(init=False)

    def __post_init__(self) -> None:
        self.slots = list(self.machine.slots)
        self._outputs = bits_of(self.machine.numbered("output"))

    def result(self) -> Machine | None:
        pieces = self._renamed([_Piece(code) for code in _cut(self.machine.code)])
        infinite = bits_of(slot for slot, each in enumerate(self.slots) if each.type in ("real", "int"))
        movable: list[bool] = []
        split: list[_Piece] = []
        for piece in pieces:
            for each in self._split(piece):
                split.append(each)
                if each.has(Choice, Scored) or each.reads & self._random:
                    self._random |= each.writes
                touched = (each.reads | each.writes) & infinite | each.writes & self._outputs
                fixed = each.has(Sample, Halt) or touched != 0
                movable.append(not fixed)
        if sum(movable) * len(split) > MOST_COMPARED:
            return None
        self.budget.spend(20 * len(split), len(self.slots))
        moved = False
        for place in range(len(split) - 2, -1, -1):
            if not movable[place]:
                continue
            goal = place
            while goal + 1 < len(split):
                after = split[goal + 1]
                self.budget.spend(1, len(self.slots))
                if after.has(Halt) or not split[place].commutes(after):
                    break
                goal += 1
            if goal > place:
                moved = True
                split.insert(goal, split.pop(place))
                movable.insert(goal, movable.pop(place))
        if not moved:
            return None
        return self._compact([*_instructions(split)])

    def _compact(self, code: Sequence[Instruction]) -> Machine:
        """Return the program `code`, where new slots share an index if they are never used at the same time.

        A new slot is assigned before it is read on every path, so no read sees the value of another slot.
        """
        ends: dict[int, list[int]] = {}
        for label, instruction in enumerate(code):
            for place in places(instruction):
                for slot in place.slots:
                    ends.setdefault(slot, [label, label])[1] = label
        slots = list(self.machine.slots)
        shown = {*self.machine.numbered("input"), *self.machine.numbered("output")}
        idle = [slot for slot in range(len(slots)) if slot not in shown and slot not in ends]
        names: dict[int, int] = {}
        free: dict[object, list[tuple[int, int]]] = {}
        for slot in sorted((slot for slot in ends if slot >= len(self.machine.slots)), key=lambda slot: ends[slot]):
            first, last = ends[slot]
            unused = free.setdefault(self.slots[slot].type, [])
            place_free = next((place for place, (since, _) in enumerate(unused) if since < first), None)
            self.budget.spend(1 + len(unused))
            if place_free is None:
                names[slot] = idle.pop() if idle else len(slots)
                slots[names[slot] : names[slot] + 1] = [self.slots[slot]]
            else:
                names[slot] = unused.pop(place_free)[1]
            unused.append((last, names[slot]))
        changed = tuple(_with_slots(instruction, names) for instruction in code)
        return replace(self.machine, code=changed, slots=tuple(slots))

    # --- one slot for each value ------------------------------------------------------------------

    def _renamed(self, pieces: Sequence[_Piece]) -> list[_Piece]:
        """Return `pieces` with a new slot for each variable that a piece assigns, on every path, before reading it."""
        indexed = self._outputs
        for instruction in self.machine.code:
            for place in places(instruction):
                if place.index is not None:
                    indexed |= bits(place.slots)
        names: dict[int, int] = {}
        result: list[_Piece] = []
        for piece in pieces:
            self.budget.spend(10 * len(piece.code))
            fresh = [slot for slot in _always_written(piece) if not indexed >> slot & 1]
            for slot in fresh:
                self.slots.append(replace(self.machine.slots[slot], role="var", initial=None))
                names[slot] = len(self.slots) - 1
            result.append(_Piece([_with_slots(instruction, names) for instruction in piece.code]) if names else piece)
        return result

    # --- summand by summand -----------------------------------------------------------------------

    def _split(self, piece: _Piece) -> Iterator[_Piece]:
        """Yield pieces that together have the effect of `piece`.

        A long expression is computed step by step, in pieces that read as few random slots as possible. A slot is
        random if it depends on a draw.
        """
        first = piece.code[0]
        match first:
            case Store(_, code) | Branch(code, _) | Sample(_, _, _, code) if self._is_long(code):
                stores: list[Instruction] = []
                value = self._step_by_step(code, stores)
                for store in stores:
                    yield _Piece([store])
                changed: Instruction
                if isinstance(first, Store):
                    changed = replace(first, value=value)
                elif isinstance(first, Sample):
                    changed = replace(first, mean=value)
                else:
                    changed = replace(first, condition=value)
                yield _Piece([changed, *piece.code[1:]])
            case _:
                yield piece

    def _is_long(self, code: Code) -> bool:
        """True if the expression `code` reads several slots that depend on draws, and no real or int variable."""
        read = [*places_in([code])]
        slots = {slot for place in read for slot in place.slots}
        finite = all(self.slots[slot].type not in ("real", "int") for slot in slots)
        return finite and not any(place.index for place in read) and len(self._random_slots(code)) > 1

    def _random_slots(self, code: Code) -> set[int]:
        return {slot for place in places_in([code]) for slot in place.slots if self._random >> slot & 1}

    def _step_by_step(self, code: Code, stores: list[Instruction]) -> Code:
        """Append assignments to `stores`, and return an expression that has the value of `code` after the assignments.

        If possible, the expression reads at most one slot that depends on a draw.
        """
        if not isinstance(code, Operation) or len(self._random_slots(code)) < 2:
            return code
        first, *rest = code.arguments
        value = self._step_by_step(first, stores)
        if not rest:
            return Operation(code.op, (value,))
        if len(rest) > 1 and code.op not in ("min", "max"):
            return code
        for argument in rest:
            if self._random_slots(value) and self._random_slots(argument):
                # The value of the arguments so far is one number.
                value = self._kept(value, stores)
                other = self._step_by_step(argument, stores)
            else:
                other = self._step_by_step(argument, stores)
            value = Operation(code.op, (value, other))
            if len(self._random_slots(value)) > 1:
                value = self._kept(value, stores)
        return value

    def _kept(self, value: Code, stores: list[Instruction]) -> Code:
        slot = len(self.slots)
        self.slots.append(Slot(f"step {slot}", "var", "any", None))
        place = Place((slot,), 0, None)
        stores.append(Store(place, value))
        self._random |= 1 << slot
        return place


def _cut(code: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Yield `code` in the shortest parts into which and out of which no jump leads.

    The jumps in a part are relative to its start.
    """
    start = 0
    while start < len(code):
        end = place = start
        while place <= end:
            match code[place]:
                case Jump(goal):
                    end = max(end, goal - 1)
                case Branch(_, otherwise):
                    end = max(end, otherwise - 1)
                case Halt():
                    end = len(code) - 1
                case _:
                    pass
            place += 1
        yield [_shifted(instruction, -start) for instruction in code[start : end + 1]]
        start = end + 1


def _instructions(pieces: Iterable[_Piece]) -> Iterator[Instruction]:
    start = 0
    for piece in pieces:
        for instruction in piece.code:
            yield _shifted(instruction, start)
        start += len(piece.code)


def _shifted(instruction: Instruction, by: int) -> Instruction:
    match instruction:
        case Jump(goal):
            return Jump(goal + by)
        case Branch(condition, otherwise):
            return Branch(condition, otherwise + by)
        case _:
            return instruction


def _always_written(piece: _Piece) -> list[int]:
    """Return the slots that `piece` assigns on every path, and never reads before."""
    end = len(piece.code)
    written: list[int | None] = [None] * (end + 1)
    written[0] = 0
    early = 0

    def arrive(label: int, slots: int) -> None:
        known = written[label]
        written[label] = slots if known is None else known & slots

    for label, instruction in enumerate(piece.code):
        known = written[label]
        if known is None:
            continue
        read, target = accesses(instruction)
        early |= read & ~known
        match instruction:
            case Halt():
                return []
            case Jump(goal):
                arrive(goal, known)
            case Branch(_, otherwise):
                arrive(label + 1, known)
                arrive(otherwise, known)
            case _:
                assert target is not None
                arrive(label + 1, known | (bits(target.slots) if target.index is None else 0))
    always = (written[end] or 0) & ~early
    return [slot for slot in range(always.bit_length()) if always >> slot & 1]


def _with_slots(instruction: Instruction, names: Mapping[int, int]) -> Instruction:
    """Return `instruction` with its slots renamed by `names`, except those of arrays with an index that is computed."""

    def there(code: Code) -> Code:
        match code:
            case Place():
                return place(code)
            case Operation(op, arguments):
                return Operation(op, tuple(map(there, arguments)))
            case _:
                return code

    def place(own: Place) -> Place:
        if own.index is not None:
            return Place(own.slots, own.low, there(own.index))
        return Place(tuple(names.get(slot, slot) for slot in own.slots), own.low, None)

    match instruction:
        case Store(target, value):
            return Store(place(target), there(value))
        case Sample(target, family, rate, mean):
            return Sample(place(target), family, rate, there(mean))
        case Choice(target, arms):
            return Choice(place(target), tuple((there(value), weight) for value, weight in arms))
        case Scored(target, rate, scored):
            return Scored(place(target), rate, tuple((literal, there(score)) for literal, score in scored))
        case Branch(condition, otherwise):
            return Branch(there(condition), otherwise)
        case _:
            return instruction


def bits_of(slots: Iterable[int]) -> int:
    """Return a set of `slots` as bits: bit i is set if the slot i is in the set."""
    result = 0
    for slot in slots:
        result |= 1 << slot
    return result
