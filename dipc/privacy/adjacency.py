"""Which inputs are adjacent: at most a distance apart, or listed in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path

from dipc.algebra.rationals import NotExact, parse_rational
from dipc.chain.answers import same_value
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing
from dipc.diagnostics.source import Source, Span
from dipc.lang.core import BoolType, DomType, Slot, Value
from dipc.lang.core_program import CoreProgram

_FORM = re.compile(r"\s*(linf|l1|hamming)\s*(?::(.*))?", re.DOTALL)
_NOTES = (
    "linf:1 (every input moves by at most 1), l1:1 (the moves add up to at most 1), hamming:1 (one input differs)",
    "or the path of a CSV file of pairs, with a column for each input and one for each input primed: `q[1],q[1]'`",
)


class Distance(Enum):
    """How far two inputs are apart: the greatest move, the sum of the moves, the number of inputs that differ."""

    LINF = "linf"
    L1 = "l1"
    HAMMING = "hamming"


@dataclass(frozen=True, slots=True)
class Within:
    """Different inputs at most `radius` apart; the radius is positive, and an integer for HAMMING."""

    distance: Distance
    radius: Fraction

    def __str__(self) -> str:
        return f"{self.distance.value}:{self.radius}"

    def neighbors(self, point: Sequence[Value], choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Value, ...]]:
        """All inputs of the product of the `choices` that are adjacent to a point, in lexicographic order."""
        for found, _ in self._within(point, choices, self.radius):
            if found != tuple(point):
                yield found

    def relates(self, point: Sequence[Value], other: Sequence[Value]) -> bool:
        """Whether two different inputs are adjacent."""
        moves = [self._move(one, two) for one, two in zip(point, other, strict=True)]
        apart = max(moves, default=Fraction(0)) if self.distance is Distance.LINF else sum(moves, Fraction(0))
        return 0 < apart <= self.radius

    def _within(
        self, point: Sequence[Value], choices: Sequence[Sequence[Value]], radius: Fraction
    ) -> Iterator[tuple[tuple[Value, ...], Fraction]]:
        """What is within the radius, with what is left of it."""
        if not choices:
            yield (), radius
            return
        for value in choices[0]:
            move = self._move(point[0], value)
            if move <= radius:
                rest = radius if self.distance is Distance.LINF else radius - move
                for found, left in self._within(point[1:], choices[1:], rest):
                    yield (value, *found), left

    def _move(self, one: Value, two: Value) -> Fraction:
        if self.distance is Distance.HAMMING:
            return Fraction(not same_value(one, two))
        assert isinstance(one, Fraction)
        assert isinstance(two, Fraction)
        return abs(one - two)


@dataclass(frozen=True, slots=True)
class Listed:
    """The pairs of a CSV file, in both orders."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


Adjacency = Within | Listed


def parse_adjacency(text: str, program: CoreProgram) -> Adjacency:
    """Raises DiagnosticError for what is none, and for a distance that the program's inputs do not have."""
    if text.strip().endswith(".csv"):
        return Listed(Path(text.strip()))
    match = _FORM.fullmatch(text)
    if match is None:
        raise _mistake(text, 0, len(text), "E1405", "this is no adjacency", *_NOTES)
    distance = Distance(match[1])
    at, end = match.span(2) if match[2] is not None else (0, len(text))
    radius = Fraction(1)
    if match[2] is not None:
        try:
            radius = parse_rational(match[2].strip())
        except NotExact as error:
            message = f"`{match[2].strip()}` {error.reason}"
            raise _mistake(text, at, end, "E1405", message, *_NOTES[:1]) from None
    if radius <= 0:
        note = "inputs are adjacent where they differ by a positive distance"
        raise _mistake(text, at, end, "E1405", f"the distance {radius} is not positive", note)
    if distance is Distance.HAMMING and radius.denominator != 1:
        raise _mistake(text, at, end, "E1405", "a number of inputs is an integer", "write hamming:1")
    unfit = [slot for slot in _inputs(program) if distance is not Distance.HAMMING and not _is_numeric(slot)]
    if unfit:
        verb = "has" if len(unfit) == 1 else "have"
        message = f"{listing([slot.name for slot in unfit])} {verb} no numbers for values: there is no distance to move"
        raise _mistake(text, 0, len(text), "E1406", message, "hamming:1 is about any domain")
    return Within(distance, radius)


def _inputs(program: CoreProgram) -> list[Slot]:
    return [program.slots[slot] for slot in program.inputs]


def _is_numeric(slot: Slot) -> bool:
    match slot.type:
        case BoolType():
            return False
        case DomType(values=values):
            return all(isinstance(value, Fraction) for value in values)
    return is_symbolic(slot.type)


def _mistake(text: str, start: int, end: int, code: str, message: str, *notes: str) -> DiagnosticError:
    place = Source("<--adjacent>", text).excerpt(Span(start, max(end, start + 1)))
    return DiagnosticError(Diagnostic(code, message, place, notes=notes))
