"""Adjacent inputs, at most a distance apart or listed in a file, and the pairs of inputs that a question is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from dipc.algebra.limits import LimitReached, Limits
from dipc.algebra.numbers import NotExact, parse_rational
from dipc.chain.state import finite_values, same_value
from dipc.claims.given import Cell
from dipc.claims.table import CsvSource, Table, read_table
from dipc.frozen import LazyModule, frozen
from dipc.program.inputs import AllInputs, FiniteInputs, InputSpec, default_inputs, parse_inputs
from dipc.program.program import Program
from dipc.text.ast import BaseType
from dipc.text.core import DomType, Slot, Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, SourceText, Span, bad_input, listing
from dipc.text.program import CoreProgram, kinds

if TYPE_CHECKING:
    from dipc.questions import multisets
else:
    multisets = LazyModule("dipc.questions.multisets")

_FORM = re.compile(r"\s*(linf|l1|hamming)\s*(?::(.*))?", re.DOTALL)
_NOTES = (
    "linf:1 (every input moves by at most 1), l1:1 (the moves add up to at most 1), hamming:1 (one input differs)",
    "or the path of a CSV file of pairs, with a column for each input and one for each input primed: `q[1],q[1]'`",
)


#: A move of the inputs from an input to an adjacent one: the steps of those that move, by their indices.
Move = Mapping[int, Fraction]


class Distance(Enum):
    """The distance of two inputs.

    LINF is the greatest difference of a value between the two inputs, L1 the sum of these differences, and HAMMING the
    number of values that differ.
    """

    LINF = "linf"
    L1 = "l1"
    HAMMING = "hamming"


@frozen
class Neighborhood:
    """The adjacency of two different inputs whose `distance` is at most `radius`.

    The radius is positive, and an integer for HAMMING.
    """

    distance: Distance
    radius: Fraction

    def __str__(self) -> str:
        return f"{self.distance.value}:{self.radius}"

    def steps(self, value: Value, choices: Sequence[Value]) -> list[tuple[int, Fraction | int]]:
        """Return the moves of one input from `value` to values of `choices` that stay within the radius.

        Each move is (index of the new value in `choices`, part of the radius spent). For LINF no move spends a part of
        the radius.
        """
        moves = [self._move(value, other) for other in choices]
        spent = 0 if self.distance is Distance.LINF else 1
        return [(place, _plain(spent * move)) for place, move in enumerate(moves) if move <= self.radius]

    def relates(self, point: Sequence[Value], other: Sequence[Value]) -> bool:
        """Return True if the inputs `point` and `other` differ and are adjacent."""
        moves = [self._move(one, two) for one, two in zip(point, other, strict=True)]
        apart = max(moves, default=Fraction(0)) if self.distance is Distance.LINF else sum(moves, Fraction(0))
        return 0 < apart <= self.radius

    def left_by(self, point: Sequence[Value], other: Sequence[Value]) -> Fraction | None:
        """Return the part of the radius that a move from `point` to `other` leaves; None if the move exceeds it."""
        moves = [self._move(one, two) for one, two in zip(point, other, strict=True)]
        if self.distance is Distance.LINF:
            return self.radius if all(move <= self.radius for move in moves) else None
        left = self.radius - sum(moves, Fraction(0))
        return left if left >= 0 else None

    def vertices(self, inputs: Sequence[int], radius: Fraction | None = None) -> Iterator[Move]:
        """Yield the extreme moves of real `inputs` in a ball of `radius`, by default the radius of the adjacency.

        For LINF all inputs move by the radius, up or down. For L1 and HAMMING one input moves by the radius, up or
        down.
        """
        far = self.radius if radius is None else radius
        if not inputs or not far:
            yield {}
        elif self.distance is Distance.LINF:
            for values in product((far, -far), repeat=len(inputs)):
                yield dict(zip(inputs, values, strict=True))
        else:
            for each, end in product(inputs, (far, -far)):
                yield {each: end}

    def _move(self, one: Value, two: Value) -> Fraction:
        if self.distance is Distance.HAMMING:
            return Fraction(not same_value(one, two))
        assert isinstance(one, Fraction)
        assert isinstance(two, Fraction)
        return abs(one - two)


#: A distance, or a CSV file whose pairs are adjacent, in both orders.
Adjacency = Neighborhood | Path


def _plain(number: Fraction) -> Fraction | int:
    return int(number) if number.denominator == 1 else number


def parse_adjacency(text: str, program: CoreProgram) -> Adjacency:
    """Parse `text`, a distance such as `linf:1` or the path of a CSV file of pairs.

    Raises DiagnosticError for other strings, and for a distance that is not defined for the inputs of `program`.
    """
    if not isinstance(text, str):  # of a caller that no type checker has seen
        raise bad_input("E1405", f"an adjacency is a text, not {text!r:.40}", *_NOTES)
    if text.strip().endswith(".csv"):
        return Path(text.strip())
    match = _FORM.fullmatch(text)
    if match is None:
        raise _mistake(text, 0, len(text), "E1405", "this adjacency is not known", *_NOTES)
    distance = Distance(match[1])
    position, end = match.span(2) if match[2] is not None else (0, len(text))
    radius = Fraction(1)
    if match[2] is not None:
        try:
            radius = parse_rational(match[2].strip())
        except NotExact as error:
            message = f"`{match[2].strip()}` {error.reason}"
            raise _mistake(text, position, end, "E1405", message, *_NOTES[:1]) from None
    if radius <= 0:
        note = "write a positive distance"
        raise _mistake(text, position, end, "E1405", f"the distance {radius} is not positive", note)
    if distance is Distance.HAMMING and radius.denominator != 1:
        raise _mistake(text, position, end, "E1405", "hamming needs a whole number of inputs", "write hamming:1")
    unfit = [slot for slot in program.input_slots if distance is not Distance.HAMMING and not _is_numeric(slot)]
    if unfit:
        verb = "has" if len(unfit) == 1 else "have"
        message = (
            f"{listing([slot.name for slot in unfit])} {verb} no numbers as values, so there is no distance "
            "between them"
        )
        raise _mistake(text, 0, len(text), "E1406", message, "use hamming:1, which works for any domain")
    return Neighborhood(distance, radius)


def _is_numeric(slot: Slot) -> bool:
    match slot.type:
        case BaseType.BOOL:
            return False
        case DomType(values=values):
            return all(isinstance(value, Fraction) for value in values)
    return slot.is_symbolic


def _mistake(text: str, start: int, end: int, code: str, message: str, *notes: str) -> DiagnosticError:
    place = SourceText("<--adjacent>", text).excerpt(Span(start, max(end, start + 1)))
    return bad_input(code, message, *notes, place=place)


#: Values of all inputs, in their order.
Input = tuple[Value, ...]


def every_input(core: CoreProgram) -> str:
    """Return the words for all inputs of the program `core`, such as "all inputs" or "all real inputs"."""
    return f"all {kinds(core.input_slots)} inputs" if core.has_open_inputs else "all inputs"


def is_input(program: Program, point: Input) -> bool:
    """Return True if `point` is an input of `program`: its values have the right types and satisfy `requires`."""
    for slot, value in zip(program.core.input_slots, point, strict=True):
        if not slot.is_symbolic:
            if not any(same_value(value, each) for each in finite_values(slot)):
                return False
        elif not isinstance(value, Fraction) or (value.denominator != 1 and slot.type is BaseType.INT):
            return False
    return program.allowed is None or program.allowed.allows(point)


@frozen
class Pairs:
    """Ordered pairs of adjacent inputs: each pair of `ordered` has two indices in `inputs`.

    There is at least one pair, and the reverse of each pair is a pair, too. `about` is a description of the pairs in
    words. `proof` is the reason why these pairs decide the question for all adjacent inputs; None if no reason is
    known.
    """

    inputs: tuple[Input, ...]
    ordered: tuple[tuple[int, int], ...]
    about: str
    proof: str | None = None

    @staticmethod
    def from_inputs(
        pairs: Collection[tuple[Input, Input]], about: str = "all real inputs", proof: str | None = None
    ) -> Pairs:
        """Build Pairs from `pairs` of inputs; `about` and `proof` become fields of the result."""
        points = tuple(dict.fromkeys(point for pair in pairs for point in pair))
        place = {point: position for position, point in enumerate(points)}
        return Pairs(points, tuple((place[one], place[two]) for one, two in pairs), about, proof)

    def __len__(self) -> int:
        return len(self.ordered)

    def texts(self, program: Program, pair: tuple[int, int]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the values of the first and of the second input of `pair`, by the names of the inputs of `program`."""
        return texts(program, self.inputs[pair[0]]), texts(program, self.inputs[pair[1]])


@frozen(kw_only=True)
class MultisetPairs(Pairs):
    """Pairs of adjacent multisets of input values, each multiset represented by one of `inputs`.

    The inputs of the program must be interchangeable, so that all arrangements of a multiset have the same law. Two
    multisets are adjacent by `adjacency` if some of their arrangements are. `groups` are the interchangeable inputs,
    and `given` are all inputs before they were grouped. The length is the number of ordered pairs of adjacent inputs.
    """

    groups: multisets.Groups
    given: FiniteInputs
    adjacency: Neighborhood

    def __len__(self) -> int:
        return _pairs_counted(self.given.choices, self.adjacency)

    def texts(self, program: Program, pair: tuple[int, int]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the values by name of two adjacent inputs that represent `pair`.

        The first represents the first multiset. The second is an arrangement of the second multiset that is adjacent to
        the first. The names are those of the inputs of `program`.
        """
        one, two = self.inputs[pair[0]], self.inputs[pair[1]]
        if self.adjacency.distance is Distance.HAMMING:
            two = self.groups.arranged(one, two)
        return texts(program, one), texts(program, two)

    def listed(self, program: Program, limits: Limits) -> tuple[Pairs, tuple[int, ...]]:
        """Return all pairs of inputs of `program`, and for each input the index of its multiset in `inputs`.

        Raises LimitReached if the pairs exceed `limits`.
        """
        number = {point: place for place, point in enumerate(self.inputs)}
        plain = _pairs_among(self.given, self.adjacency, program, limits)
        members = [self.groups.member(self.groups.multiset(point)) for point in plain.inputs]
        return replace(plain, about=self.about), tuple([number[member] for member in members])


@frozen
class EveryPair:
    """All pairs of inputs adjacent by `adjacency` that the program's types allow.

    If `too_many` is None, there are infinitely many pairs. Otherwise there are finitely many, and `too_many` is the
    limit that listing them exceeds.
    """

    adjacency: Neighborhood
    too_many: LimitReached | None = None


def read_pairs(
    program: Program, adjacency: Adjacency, inputs: InputSpec | None, limits: Limits, *, alike: bool = False
) -> Pairs | EveryPair:
    """Return the pairs among the `inputs` of `program` that are adjacent by `adjacency`.

    `inputs` is read by `parse_inputs`. If every input is finite, "all" and None both mean all pairs of the domains; the
    result is EveryPair if there are more of them than `limits` allows. If the adjacency is a file, its pairs are
    returned, and `inputs` must be None. With `alike`, one pair represents all pairs that differ in the order of
    interchangeable inputs.

    Both inputs of a pair satisfy `requires`. Raises DiagnosticError if there is no pair, if infinitely many would have
    to be enumerated, and for a file that cannot be read. Raises LimitReached if the inputs that the user listed, or
    their pairs, exceed `limits`.
    """
    if isinstance(adjacency, Path):
        if inputs is not None:
            note = "leave --inputs out, or give a distance such as linf:1"
            raise bad_input(
                "E1407", "a file of pairs and --inputs are both given, but the file lists its own inputs", note
            )
        return _listed(program, adjacency)
    given = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    if isinstance(given, AllInputs):
        if not program.core.has_finite_inputs:
            return EveryPair(adjacency)
        inputs, given = None, default_inputs(program)
    try:
        if alike and isinstance(given, FiniteInputs):
            by_multisets = _multiset_pairs(program, given, adjacency, limits)
            if by_multisets is not None:
                return by_multisets
        return _pairs_among(given, adjacency, program, limits)
    except LimitReached as reached:
        if inputs is None:
            return EveryPair(adjacency, reached)
        raise


def _multiset_pairs(
    program: Program, given: FiniteInputs, adjacency: Neighborhood, limits: Limits
) -> MultisetPairs | None:
    """Return the adjacent pairs of multisets of inputs of `program`, or None if the inputs are to be listed one by one.

    Inputs are interchangeable if the program's answers do not change when they swap their values; only the multiset of
    their values then matters. `given` has the values that inputs may take. Two multisets are adjacent if some of their
    arrangements are adjacent by `adjacency`. The result is None if too few inputs are interchangeable, if there are
    more multisets than `limits` allows, or if no two multisets are adjacent. Raises LimitReached for too many pairs.
    """
    if given.count <= multisets.LEAST_INPUTS or not program.core.has_finite_inputs:
        return None
    groups = multisets.groups_of(program, None, given.choices)
    if groups is None or groups.size * multisets.LEAST_SAVED > groups.inputs:
        return None
    if groups.size > limits.rows or (adjacency.distance is not Distance.HAMMING and groups.size**2 > limits.rows):
        return None
    bags = list(groups)
    number = {each: place for place, each in enumerate(bags)}
    ordered: list[tuple[int, int]] = []
    for place, each in enumerate(bags):
        if adjacency.distance is Distance.HAMMING:
            near = groups.replaced(each, int(adjacency.radius))
            ordered += [(place, number[other]) for other in near]
        else:
            one = groups.member(each)
            ordered += [
                (place, other) for other, there in enumerate(bags) if adjacency.relates(one, groups.member(there))
            ]
        if len(ordered) > limits.rows:
            raise LimitReached("rows", f"there are more than {limits.rows} pairs of adjacent multisets of inputs")
    if not ordered:
        return None  # The caller reports that no inputs are adjacent.
    members = tuple(map(groups.member, bags))
    return MultisetPairs(members, tuple(ordered), given.name, groups=groups, given=given, adjacency=adjacency)


def _pairs_counted(choices: Sequence[Sequence[Value]], adjacency: Neighborhood) -> int:
    """Return the number of ordered pairs of different inputs that are adjacent by `adjacency`.

    `choices` has the values that each input takes.
    """
    # The number of pairs of values of the first inputs, for each part of the radius that they spend.
    spent: dict[Fraction | int, int] = {0: 1}
    same = 1
    radius = _plain(adjacency.radius)
    for values in choices:
        steps = Counter(cost for value in values for _, cost in adjacency.steps(value, values))
        after: dict[Fraction | int, int] = {}
        for before, count in spent.items():
            for cost, often in steps.items():
                if before + cost <= radius:
                    after[before + cost] = after.get(before + cost, 0) + count * often
        spent = after
        same *= len(values)
    return sum(spent.values()) - same


def _pairs_among(given: FiniteInputs | Table, adjacency: Neighborhood, program: Program, limits: Limits) -> Pairs:
    """Return the pairs among the inputs `given` that are adjacent by `adjacency`.

    Both inputs of a pair satisfy the `requires` of `program`. Raises DiagnosticError if there is no pair, and
    LimitReached if there are more inputs or pairs than `limits` allows.
    """
    match given:
        case FiniteInputs():
            if given.count > limits.rows:
                raise LimitReached("rows", f"there are {given.count} inputs")
            points = tuple(given)
            ordered = _related(points, given, adjacency, limits)
            about = given.name
            if program.allowed is not None:
                places = {place for place, point in enumerate(points) if program.allowed.allows(point)}
                ordered = [(one, two) for one, two in ordered if one in places and two in places]
        case Table():
            points = tuple(dict.fromkeys(_values(row.inputs) for row in given.rows))
            if len(points) ** 2 > limits.rows:
                raise LimitReached(
                    "rows", f"{len(points)} inputs have {len(points) ** 2} pairs, more than {limits.rows}"
                )
            ordered = [
                (i, j) for i, one in enumerate(points) for j, two in enumerate(points) if adjacency.relates(one, two)
            ]
            about = given.name
        case _:
            assert_never(given)
    if not ordered:
        raise no_pair(adjacency)
    if program.allowed is not None:
        return Pairs.from_inputs(dict.fromkeys((points[one], points[two]) for one, two in ordered), about)
    return Pairs(points, tuple(ordered), about)


def no_pair(adjacency: Adjacency) -> DiagnosticError:
    """Return the error saying that no two inputs are adjacent by `adjacency`."""
    note = "a claim about no pair would hold trivially: give inputs that are adjacent"
    return bad_input("E1408", f"no two of the inputs are adjacent by {adjacency}", note)


def _related(
    points: Sequence[Input], inputs: FiniteInputs, adjacency: Neighborhood, limits: Limits
) -> list[tuple[int, int]]:
    """Return the pairs of `points` that are adjacent by `adjacency`, as pairs of indices.

    The points are all combinations of the values that `inputs` lists for each input, and the last input varies fastest.
    So the index of a point is a number whose digits are the indices of its values. Raises LimitReached for more pairs
    than `limits` allows.
    """
    assert len(set(points)) == len(points), "every input is listed once"
    near = [[adjacency.steps(value, choices) for value in choices] for choices in inputs.choices]
    ordered: list[tuple[int, int]] = []
    places = iter(range(len(points)))

    def onwards(position: int, reached: list[tuple[int, Fraction | int]]) -> None:
        """Append to the list of pairs all adjacent pairs of the points that begin with the values chosen so far.

        The first `position` values of a point have been chosen. `reached` lists each way in which an adjacent point may
        begin: the index of its first `position` values, and the part of the adjacency's radius that is not yet used up.
        """
        if position == len(near):
            place = next(places)
            ordered.extend([(place, other) for other, _ in reached if other != place])
            if len(ordered) > limits.rows:
                raise LimitReached("rows", f"there are more than {limits.rows} pairs of adjacent inputs")
            return
        size = len(near[position])
        for steps in near[position]:
            further = [
                (other * size + step, left - cost) for other, left in reached for step, cost in steps if cost <= left
            ]
            onwards(position + 1, further)

    onwards(0, [(0, _plain(adjacency.radius))])
    return ordered


def _listed(program: Program, path: Path) -> Pairs:
    core = program.core
    slots = core.input_slots
    # The file is read as the table of a program that has each input twice and no outputs.
    count = len(core.slots)
    primed = [replace(slot, index=count + position, name=f"{slot.name}'") for position, slot in enumerate(slots)]
    inputs = (*core.inputs, *(slot.index for slot in primed))
    twice = replace(core, slots=(*core.slots, *primed), inputs=inputs, outputs=(), requires=None)
    table = read_table(path, twice, claims=())
    pairs: dict[tuple[Input, Input], None] = {}
    mistakes: list[Diagnostic] = []
    for row in table.rows:
        values = _values(row.inputs)
        one, two = values[: len(slots)], values[len(slots) :]
        if one == two:
            place = _row_place(path, row.number)
            note = "list pairs of different inputs"
            mistakes.append(Diagnostic("E1409", f"row {row.number}: the two inputs are equal", place, notes=(note,)))
        for point in (one, two):
            own = dict(zip(core.inputs, point, strict=True))
            violation = None if core.requires is None else core.requires.violation(own, core.source)
            if violation is not None:
                place = _row_place(path, row.number)
                message = f"row {row.number}: {violation.message}"
                mistakes.append(Diagnostic(violation.code, message, place, notes=violation.notes))
        pairs[one, two] = None
        pairs[two, one] = None
    if mistakes:
        raise DiagnosticError(*mistakes)
    return Pairs.from_inputs(pairs, table.name)


def _row_place(path: Path, number: int) -> Excerpt | None:
    source = CsvSource(path)
    for position, _ in enumerate(source.records()):
        if position == number:
            return source.place(None)
    return None


def _values(cells: Sequence[Cell]) -> Input:
    result: list[Value] = []
    for cell in cells:
        assert cell.value is not None
        result.append(cell.value)
    return tuple(result)


def texts(program: Program, point: Input) -> dict[str, str]:
    """Return the values of the input `point` by the names of `program`, written as in a table."""
    return {name: show_value(value) for name, value in zip(program.inputs, point, strict=True)}
