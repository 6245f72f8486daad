"""Which inputs a claim is checked at: products of finite sets, a CSV file of inputs, or all of them.

A specification is a list of items, separated by commas or semicolons: `q = -1..1` (integers), `q in {0, 1/2, 3}`,
`q in answer` (a named domain), `x = 3`. A whole array is meant by its name; an element wins over its array. Bool and
DOM inputs that are not named range over all their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path

from dipc.chain.answers import finite_values
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest
from dipc.diagnostics.source import Source, Span
from dipc.exits.program import Program
from dipc.ideal.input_items import Item, items
from dipc.ideal.input_values import BadValues, value_set
from dipc.lang.core import Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.table import Table, read_table

_ELEMENT = re.compile(r"(.+)\[-?[0-9]+\]")


@dataclass(frozen=True, slots=True)
class FiniteInputs:
    """The product of `choices`, the values of each input, in the order of the program's inputs."""

    name: str
    choices: tuple[tuple[Value, ...], ...]

    @property
    def count(self) -> int:
        return prod(map(len, self.choices))

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The inputs in lexicographic order: the last input changes first."""
        return product(*self.choices)


@dataclass(frozen=True, slots=True)
class ListedInputs:
    """The rows of a CSV file of inputs, which may have the columns alpha, beta, gamma and dd as well."""

    table: Table

    @property
    def count(self) -> int:
        return len(self.table.rows)


@dataclass(frozen=True, slots=True)
class AllInputs:
    """Every input that the program's types allow."""


Inputs = FiniteInputs | ListedInputs | AllInputs


def parse_inputs(texts: str | Sequence[str], program: Program, option: str = "--inputs") -> Inputs:
    """The inputs that the texts ask for: `all`, the path of a CSV file, or items (those of all texts together).

    Raises DiagnosticError with all mistakes: unknown inputs, values outside a domain, real and int inputs without a
    value.
    """
    given = [texts] if isinstance(texts, str) else list(texts)
    if any(text.strip() == "all" for text in given):
        _alone(given, "all", option)
        return AllInputs()
    paths = [text for text in given if text.strip().endswith(".csv") or _is_file(text)]
    if paths:
        _alone(given, paths[0], option)
        # Without outputs, so that the header names inputs only.
        return ListedInputs(read_table(paths[0].strip(), replace(program.core, outputs=())))
    return _product(given, program.core, option)


def default_inputs(program: Program) -> FiniteInputs:
    """Every input of a program whose inputs are all finite. Raises DiagnosticError for other programs."""
    note = "`dipc check`, `tighten` and `solve` also take a table of inputs with their answers, TABLE.csv"
    return _product([], program.core, "--inputs", (note,))


def _alone(given: Sequence[str], one: str, option: str) -> None:
    if len(given) > 1:
        message = f"`{one.strip()}` stands alone: no other inputs can be given beside it"
        raise DiagnosticError(_mistake(Source(f"<{option}>", one), Span(0, len(one)), message, "give one or the other"))


def _is_file(text: str) -> bool:
    try:
        return Path(text.strip()).is_file()
    except (OSError, ValueError):
        return False


def _product(texts: Sequence[str], program: CoreProgram, option: str, notes: tuple[str, ...] = ()) -> FiniteInputs:
    mistakes: list[Diagnostic] = []
    reader = _Reader(program, mistakes)
    for text in texts:
        source = Source(f"<{option}>", text)
        for item in items(source, mistakes):
            reader.take(source, item)
    if not mistakes:
        mistakes += reader.unbounded(option, notes)
    if mistakes:
        raise DiagnosticError(*mistakes)
    slots = [program.slots[slot] for slot in program.inputs]
    return FiniteInputs("; ".join(text.strip() for text in texts) or "all inputs", tuple(map(reader.values, slots)))


class _Reader:
    """Collects the values of every input; what names an element wins over what names its array."""

    def __init__(self, program: CoreProgram, mistakes: list[Diagnostic]) -> None:
        self._program = program
        self._mistakes = mistakes
        self._slots = {program.slots[slot].name: program.slots[slot] for slot in program.inputs}
        self._arrays: dict[str, list[Slot]] = {}
        for name, slot in self._slots.items():
            if element := _ELEMENT.fullmatch(name):
                self._arrays.setdefault(element[1], []).append(slot)
        self._known: dict[str, tuple[Value, ...]] = {}
        self._named: set[str] = set()

    def take(self, source: Source, item: Item) -> None:
        """One item; what is wrong with it is reported."""
        if item.name in self._slots:
            targets, weak = [self._slots[item.name]], False
        elif item.name in self._arrays:
            targets, weak = self._arrays[item.name], True
        else:
            self._unknown(source, item)
            return
        if item.name in self._named:
            message = f"`{item.name}` is given twice"
            self._mistakes.append(_mistake(source, item.name_span, message, "give the values of each input once"))
            return
        self._named.add(item.name)
        found: dict[object, tuple[Value, ...]] = {}
        for slot in targets:
            try:
                if slot.type not in found:
                    found[slot.type] = value_set(source, item.values, slot, self._program)
            except BadValues as bad:
                self._mistakes.append(_mistake(source, bad.span, bad.message, *bad.notes))
                found[slot.type] = ()
            if not (weak and slot.name in self._named):
                self._known[slot.name] = found[slot.type]

    def values(self, slot: Slot) -> tuple[Value, ...]:
        """The values of one input."""
        known = self._known.get(slot.name)
        if known is not None:
            return known
        return finite_values(slot)

    def unbounded(self, option: str, notes: tuple[str, ...]) -> Iterator[Diagnostic]:
        """A diagnostic if some real or int input has no values."""
        missing = [slot for slot in self._slots.values() if slot.name not in self._known and is_symbolic(slot.type)]
        if missing:
            name = missing[0].name
            array = _ELEMENT.fullmatch(name)
            whole = array[1] if array and all(slot in missing for slot in self._arrays[array[1]]) else name
            verb = "has" if len(missing) == 1 else "have"
            yield Diagnostic(
                "E1111",
                f"{listing([slot.name for slot in missing])} {verb} infinitely many values: "
                "they cannot be enumerated without a range",
                notes=(
                    f'give one, such as `{option} "{whole} = -1..1"` or `{option} "{whole} in {{0, 1/2}}"`',
                    "`dipc check --inputs all` asks for a proof about all inputs at once",
                    *notes,
                ),
            )

    def _unknown(self, source: Source, item: Item) -> None:
        names = [*self._arrays, *self._slots]
        close = nearest(item.name, names)
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append(f"the inputs are {listing(self._slots)}" if names else "the program has no inputs")
        self._mistakes.append(_mistake(source, item.name_span, f"the program has no input `{item.name}`", *notes))


def _mistake(source: Source, span: Span, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E1110", message, source.excerpt(span), notes=notes)
