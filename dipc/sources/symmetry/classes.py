"""A finite set of inputs, cut into classes whose members all have the same obligation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import Undecided
from dipc.chain.affine import Affine
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.ideal.ideal import Ideal, Region
from dipc.lang.core import DomType, IntType, Value
from dipc.sources.symmetry.blocks import Block, Orbit, Position, apart, blocks_of, representatives
from dipc.sources.symmetry.distances import ClassDistances
from dipc.sources.symmetry.families import Families, RegionFamily
from dipc.sources.symmetry.promote import promoted
from dipc.sources.symmetry.structure import Ending, ending_of, guards_of
from dipc.tables.cells import CellPool

#: Assignments tried for each class that is allowed: where there are more, the inputs have too little symmetry.
TRIALS = 15

#: The code of the diagnostic that says so.
TOO_MANY = "E1251"


@dataclass(frozen=True, slots=True)
class SymmetryClass:
    """`count` inputs with the same obligation as `inputs`, which is one of them; values in the order of the program's
    inputs and outputs. `dd` None is infinity. The others are found by exchanging values inside the `blocks` and by
    giving the free ones other values."""

    inputs: tuple[Value, ...]
    answer: tuple[Value, ...]
    dd: Fraction | None
    count: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class SymmetryClasses:
    """All of a product of inputs, by classes. `program` is what to execute: the one given, with numeric finite inputs
    as reals or ints where it may have them."""

    program: Program
    classes: tuple[SymmetryClass, ...]
    inputs: int


def input_classes(program: Program, values: Mapping[int, Sequence[Value]]) -> SymmetryClasses:
    """The classes of all combinations of `values`, a list of distinct ones for every input slot.

    Guarantees that every combination is a member of one class, that the counts sum to the number of combinations, and
    that dd(u), the probability of det(u) within any gamma, and so every obligation is the same at all members.

    Raises DiagnosticError for a program without an ideal or with a partial one, and, with the code TOO_MANY, where
    there are more classes than the program's limit `orbits`.
    """
    executed = promoted(program)
    try:
        found = _Finder(program, executed, values).find()
    except DiagnosticError as error:
        # Inputs that stay finite leave even more to go through.
        if executed is program or any(found.code == TOO_MANY for found in error.diagnostics):
            raise
        executed = program
        found = _Finder(program, program, values).find()
    inputs = prod(len(values[slot]) for slot in program.core.inputs)
    counted = sum(each.count for each in found)
    assert counted == inputs, f"the classes have {counted} members, and there are {inputs} inputs"
    return SymmetryClasses(executed, found, inputs)


@dataclass(frozen=True, slots=True)
class _Found:
    """A class whose dd is yet to be computed, with its place in the ideal; `point` is the numeric part of its input."""

    inputs: tuple[Value, ...]
    point: Mapping[int, Fraction]
    region: Region
    family: RegionFamily | None
    count: int
    blocks: tuple[Block, ...]


class _Finder:
    """The classes of one product of inputs."""

    def __init__(self, program: Program, executed: Program, values: Mapping[int, Sequence[Value]]) -> None:
        self._given = program
        self._most = program.limits.orbits
        self._core = executed.core
        self._values = values
        self._ideal = Ideal(executed)
        self._probabilities = executed.probabilities()
        self._pool = CellPool()
        self._trials = 0
        slots = executed.core.slots
        self._finite = [slot for slot in self._core.inputs if not is_symbolic(slots[slot].type)]
        self._positions = [self._position(slot) for slot in self._core.inputs if is_symbolic(slots[slot].type)]
        self._families = Families(self._ideal)
        self._distances = ClassDistances(Ideal(program), self._ideal, self._positions)

    def _position(self, slot: int) -> Position:
        values = tuple(_fraction(value) for value in self._values[slot])
        declared = self._given.core.slots[slot].type
        domain = tuple(_fraction(value) for value in declared.values) if isinstance(declared, DomType) else None
        return Position(slot, values, domain, isinstance(self._core.slots[slot].type, IntType))

    def find(self) -> tuple[SymmetryClass, ...]:
        asked = prod(len(self._values[slot]) for slot in self._finite)
        if asked > self._most:
            kept = f"{asked} combinations of bool and DOM inputs that stay finite (limit `orbits`)"
            raise DiagnosticError(_too_many(kept))
        found: list[_Found] = []
        for combination in product(*(self._values[slot] for slot in self._finite)):
            finite = dict(zip(self._finite, combination, strict=True))
            for region in self._ideal.regions(finite):
                for each in self._classes(finite, region):
                    found.append(each)
                    if len(found) > self._most:
                        raise DiagnosticError(_too_many(f"more than {self._most} classes (limit `orbits`)"))
        # Only now, as distances are dear and it takes many classes to see that there are too many.
        return tuple(map(self._class, found))

    def _class(self, found: _Found) -> SymmetryClass:
        point, region = found.point, found.region
        answer = tuple(part.at(point) if isinstance(part, Affine) else part for part in region.answer)
        dd = self._distances.dd(found.inputs, point, region, found.family)
        return SymmetryClass(found.inputs, answer, dd, found.count, found.blocks)

    def _classes(self, finite: Mapping[int, Value], region: Region) -> Iterator[_Found]:
        family = self._families.of(region)
        blocks = self._blocks(finite, region, family)
        for assignment in representatives(blocks, region.guards):
            self._trials += 1
            if self._trials > TRIALS * self._most:
                trials = f"more than {TRIALS} assignments to try for each of {self._most} classes (limit `orbits`)"
                raise DiagnosticError(_too_many(trials))
            if assignment is None:
                continue
            chosen, count = assignment
            everything: dict[int, Value] = {**finite, **chosen}
            inputs = tuple(everything[slot] for slot in self._core.inputs)
            yield _Found(inputs, chosen, region, family, count, blocks)

    def _blocks(self, finite: Mapping[int, Value], region: Region, family: RegionFamily | None) -> tuple[Block, ...]:
        # Also where nothing comes of it: what goes wrong with retyped inputs must go wrong here.
        endings = self._endings(finite, region)
        if endings is None or family is None or not self._distances.symmetric:
            return apart(self._positions)
        forms = frozenset((part.inputs, part.constant) for part in region.answer if isinstance(part, Affine))
        guards = guards_of(region.guards)
        return blocks_of(Orbit(guards, family.guards, forms, endings, self._distances.apart), self._positions)

    def _endings(self, finite: Mapping[int, Value], region: Region) -> tuple[Ending, ...] | None:
        """The exits that produce the answer of `region`; None where a limit is reached on the way to them, or where
        other answers are near enough as well: then nothing is known of what the probability depends on."""
        zero = self._pool.cell(Fraction(0))
        inputs = [self._pool.cell(finite[slot]) if slot in finite else zero for slot in self._core.inputs]
        outputs = [zero if isinstance(part, Affine) else self._pool.cell(part) for part in region.answer]
        centers = {
            slot: (part.inputs, part.constant)
            for slot, part in zip(self._core.outputs, region.answer, strict=True)
            if isinstance(part, Affine)
        }
        try:
            exits = self._probabilities.exits(inputs, outputs)
        except Undecided:
            return None
        return tuple(ending_of(event, weight, centers) for event, weight in exits)


def _fraction(value: Value) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _too_many(what: str) -> Diagnostic:
    return Diagnostic(
        TOO_MANY,
        f"the inputs cannot be gone through: {what}",
        notes=(
            "inputs that can be exchanged for each other are decided once, but too few of these can",
            "ask about fewer values of the inputs, or check the rows that matter with a table",
        ),
    )
