"""Which inputs a claim is checked at: products of finite sets, listed ones, or all of them.

A specification is what `dipc.tables.specification` reads. Bool and DOM inputs that are not named range over all their
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import cast

from dipc.chain.answers import finite_values
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing
from dipc.diagnostics.source import Source, Span
from dipc.exits.program import Program
from dipc.lang.core import Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.python_source import DataFrame
from dipc.tables.specification import Specification, array_of
from dipc.tables.table import Table, TableGiven, read_table


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
    """The rows of a table of inputs, which may have the columns alpha, beta, gamma and dd as well."""

    table: Table

    @property
    def count(self) -> int:
        return len(self.table.rows)


@dataclass(frozen=True, slots=True)
class AllInputs:
    """Every input that the program's types allow."""


Inputs = FiniteInputs | ListedInputs | AllInputs


#: What names inputs: one specification, or several that hold together; an input or several, by name, as values.
InputSpec = str | Sequence[str] | Mapping[str, object] | Sequence[Mapping[str, object]] | DataFrame


def specifications(given: object) -> list[str] | None:
    """The texts, where inputs are given as texts; None where they are given as values."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list | tuple) and all(isinstance(text, str) for text in given):
        return list(given)
    return None


def parse_inputs(given: InputSpec, program: Program, option: str = "--inputs") -> Inputs:
    """The inputs that are asked for. Texts are `all`, the path of a CSV file, or items (those of all texts together);
    values are one dict or a list of them, such as `[{"q": (-1, 0, 1)}]`, or a DataFrame.

    Raises DiagnosticError with all mistakes: unknown inputs, values outside a domain, real and int inputs without a
    value; TypeError for what is neither texts nor values, and for floats.
    """
    # Without outputs, so that the header names inputs only.
    inputs_only = replace(program.core, outputs=())
    texts = specifications(given)
    if texts is None:
        values = [given] if isinstance(given, Mapping) else cast("TableGiven", given)
        return ListedInputs(read_table(values, inputs_only, "<inputs>"))
    if any(text.strip() == "all" for text in texts):
        _alone(texts, "all", option)
        return AllInputs()
    paths = [text for text in texts if text.strip().endswith(".csv") or _is_file(text)]
    if paths:
        _alone(texts, paths[0], option)
        return ListedInputs(read_table(paths[0].strip(), inputs_only))
    return _product(texts, program.core, option)


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
    slots = [program.slots[slot] for slot in program.inputs]
    found = Specification(program, slots, option=option, kind="input", code="E1110")
    for text in texts:
        found.take(text)
    mistakes = found.mistakes or [*_unbounded(found, slots, option, notes)]
    if mistakes:
        raise DiagnosticError(*mistakes)
    choices = tuple(found.known[slot.name] if slot.name in found.known else finite_values(slot) for slot in slots)
    return FiniteInputs("; ".join(text.strip() for text in texts) or "all inputs", choices)


def _unbounded(
    found: Specification, slots: Sequence[Slot], option: str, notes: tuple[str, ...]
) -> Iterator[Diagnostic]:
    """A diagnostic if some real or int input has no values."""
    missing = [slot for slot in slots if slot.name not in found.known and is_symbolic(slot.type)]
    if missing:
        name = missing[0].name
        array = array_of(name)
        whole = array if array and all(slot in missing for slot in found.arrays[array]) else name
        verb = "has" if len(missing) == 1 else "have"
        yield Diagnostic(
            "E1111",
            f"{listing([slot.name for slot in missing])} {verb} infinitely many values: "
            "they cannot be enumerated without a range",
            notes=(
                f'give one, such as `{option} "{whole} = -1..1"` or `{option} "{whole} in {{0, 1/2}}"`',
                "`--inputs all` asks for a proof about all inputs at once",
                *notes,
            ),
        )


def _mistake(source: Source, span: Span, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E1110", message, source.excerpt(span), notes=notes)
