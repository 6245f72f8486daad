"""The inputs at which a claim is checked, and the tables of det and dd at these inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dipc.algebra.limits import Undecided
from dipc.chain.state import finite_values
from dipc.claims.given import INFINITY, Cell, CellPool, Specification, array_of, value_of
from dipc.claims.table import (
    MISTAKE_LIMIT,
    DataFrame,
    PackedRows,
    Row,
    Table,
    TableGiven,
    first_of_each_claim,
    read_table,
)
from dipc.frozen import LazyModule, frozen
from dipc.program.program import Program, Progress
from dipc.text.ast import RequiresDecl
from dipc.text.core import ProgramCode, Slot, Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span, bad_input, listing
from dipc.text.parser import parse, parse_expression
from dipc.text.program import CoreProgram
from dipc.text.statements import lower

if TYPE_CHECKING:
    from dipc.program import allowed
    from dipc.program import ideal as ideals
else:
    allowed = LazyModule("dipc.program.allowed")
    ideals = LazyModule("dipc.program.ideal")

# --- The inputs at which a claim is checked: products of finite sets, listed ones, or all of them ---------------------
#
# `dipc.claims.given` reads a specification. Bool and DOM inputs that it does not name range over all their values.


@frozen
class FiniteInputs:
    """All combinations of values of a program's inputs.

    `choices` has the values of each input, in the order of the inputs. `name` describes the combinations in reports.
    """

    name: str
    choices: tuple[tuple[Value, ...], ...]

    @property
    def count(self) -> int:
        return prod(map(len, self.choices))

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """Yield the combinations in lexicographic order: the last input changes fastest."""
        return product(*self.choices)

    def among_allowed(self, program: Program) -> Iterable[tuple[Value, ...]]:
        """Return the inputs that satisfy the `requires` of `program`, in lexicographic order.

        Raises DiagnosticError if there are none.
        """
        conditions = [each for each in (program.allowed, program.selected) if each is not None]
        if not conditions:
            return self
        inputs = [values for values in self if all(each.allows(values) for each in conditions)]
        if not inputs:
            raise nothing_selected(program)
        return inputs


def nothing_selected(program: Program) -> DiagnosticError:
    """Return the error saying that no input satisfies the `requires` of `program` and the condition of the question."""
    requires, selection = program.core.requires, program.core.selection
    if requires is None:
        assert selection is not None, "a condition is not satisfied"
        message, notes = f"no input satisfies `{selection.text}`", ("give another condition",)
        return bad_input("E1116", message, *notes)
    message = f"none of the inputs satisfies `requires`: `{requires.shown}`"
    place = program.core.source.excerpt(requires.span)
    return DiagnosticError(Diagnostic("E1116", message, place, "required here", ("give other inputs",)))


#: What occurs in conditions and not in the values of inputs.
_ORDERS = re.compile(r"<|>|!=|[≤≥≠]|\b(?:and|or|not)\b")


def with_selection(program: Program, given: InputSpec | None) -> tuple[Program, InputSpec | None]:
    """Return `program` restricted to the inputs that `given` selects, and `given` without the conditions that select.

    A selecting condition is a text such as `count >= 0`, in the language of `requires`. If all texts are conditions,
    the remaining inputs are `all`. Without any condition, both are returned unchanged. Raises DiagnosticError for a
    condition that cannot be read, or that no input satisfies.
    """
    texts = specifications(given) if given is not None else None
    if not texts or not any(_ORDERS.search(text) for text in texts) or any(text.endswith(".csv") for text in texts):
        return program, given
    core = program.core
    conditions = [each for each in texts if _ORDERS.search(each)]
    text = conditions[0] if len(conditions) == 1 else " and ".join(f"({each})" for each in conditions)
    source = SourceText("<--inputs>", text)
    condition = RequiresDecl(parse_expression(source), Span(0, len(text)))
    tree = parse(core.source)
    kept = tuple(each for each in tree.declarations if not isinstance(each, RequiresDecl))
    anew = lower(replace(tree, declarations=(*kept, condition)), source, core.overrides, core.only_at)
    chosen = Program(replace(core, selection=anew.requires), program.limits)
    assert anew.requires is not None, "the program has `requires`"
    both = anew.requires if core.requires is None else core.requires.conjunction(anew.requires)
    try:
        _ = allowed.AllowedInputs(core, both, program.limits).point
    except DiagnosticError as error:
        if any(each.code != ProgramCode.BAD_PRECONDITION for each in error.diagnostics):
            raise
        raise nothing_selected(chosen) from None
    except Undecided:
        pass  # the question reaches the same limit
    return chosen, [each for each in texts if each not in conditions] or "all"


@frozen
class AllInputs:
    """Every input that the program's types allow."""


#: Listed inputs are rows of a table, which can also have the columns alpha, beta, gamma and dd.
Inputs = FiniteInputs | Table | AllInputs


#: The forms in which callers give inputs: one specification, or several that hold together; or one or more inputs as
#: values by name.
InputSpec = str | Sequence[str] | Mapping[str, object] | Sequence[Mapping[str, object]] | DataFrame


def specifications(given: object) -> list[str] | None:
    """Return the strings if `given` is a string or a sequence of strings, or None if it gives inputs as values."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list | tuple) and all(isinstance(text, str) for text in given):
        return list(given)
    return None


def parse_inputs(given: InputSpec, program: Program) -> Inputs:
    """Return the inputs of `program` that a caller has `given`, as strings or as values.

    A string is `all`, the path of a CSV file, or items such as `x = 1` and `y in {a, b}`; items of all strings are
    combined. Values are one dict or a list of them, such as `[{"q": (-1, 0, 1)}]`, or a DataFrame. Raises
    DiagnosticError with all mistakes: unknown inputs, values outside a domain, real and int inputs without a value.
    Raises TypeError for anything but strings and values, and for floats.
    """
    # A program without outputs, so that the header names inputs only.
    inputs_only = replace(program.core, outputs=())
    texts = specifications(given)
    if texts is None:
        values = [given] if isinstance(given, Mapping) else cast("TableGiven", given)
        return read_table(values, inputs_only, "<inputs>")
    if any(text.strip() == "all" for text in texts):
        _alone(texts, "all")
        return AllInputs()
    paths = [text for text in texts if text.strip().endswith(".csv") or _is_file(text)]
    if paths:
        _alone(texts, paths[0])
        return read_table(paths[0].strip(), inputs_only)
    return _product(texts, program.core)


def default_inputs(program: Program) -> FiniteInputs:
    """Return every input of `program` if all of its inputs are finite; raise DiagnosticError for other programs."""
    note = "`dipc check`, `tighten` and `solve` also take a table of inputs with their answers, TABLE.csv"
    return _product([], program.core, note)


def _alone(given: Sequence[str], one: str) -> None:
    if len(given) > 1:
        message = f"`{one.strip()}` cannot be combined with other inputs"
        place = SourceText("<--inputs>", one).excerpt(Span(0, len(one)))
        raise bad_input("E1110", message, "give one or the other", place=place)


def _is_file(text: str) -> bool:
    try:
        return Path(text.strip()).is_file()
    except (OSError, ValueError):
        return False


def _product(texts: Sequence[str], program: CoreProgram, *notes: str) -> FiniteInputs:
    slots = program.input_slots
    specification = Specification(program, slots, option="--inputs", kind="input", code="E1110")
    for text in texts:
        specification.take(text)
    mistakes = specification.mistakes or [*_unbounded(specification, slots, notes)]
    if mistakes:
        raise DiagnosticError(*mistakes)
    choices = tuple(
        specification.known[slot.name] if slot.name in specification.known else finite_values(slot) for slot in slots
    )
    return FiniteInputs("; ".join(text.strip() for text in texts) or "all inputs", choices)


def _unbounded(specification: Specification, slots: Sequence[Slot], notes: Sequence[str]) -> Iterator[Diagnostic]:
    missing = [slot for slot in slots if slot.name not in specification.known and slot.is_symbolic]
    if missing:
        name = missing[0].name
        array = array_of(name)
        whole = array if array and all(slot in missing for slot in specification.arrays[array]) else name
        verb = "has" if len(missing) == 1 else "have"
        yield Diagnostic(
            "E1111",
            f"{listing([slot.name for slot in missing])} {verb} infinitely many values: "
            "they cannot be enumerated without a range",
            notes=(
                f'give one, such as `--inputs "{whole} = -1..1"` or `--inputs "{whole} in {{0, 1/2}}"`',
                "`--inputs all` asks for a proof about all inputs at once",
                *notes,
            ),
        )


# --- Tables filled in from the ideal: det at given inputs, and the distance to disagreement ---------------------------

_DD = frozenset({"dd"})

#: From this many inputs on, det is computed at all of them at once.
_MANY_INPUTS = 1_000

#: The number of rows between two calls of a progress function.
_PROGRESS_ROWS = 256


def table_of(program: Program, inputs: Inputs, progress: Progress | None) -> Table:
    """Return a table with the right answers of `program` at `inputs`, and with dd(u) in the column dd.

    `inputs` that are a table keep their alpha, beta, gamma and dd. `progress` is called with the number of finished
    rows and of all rows. Raises DiagnosticError for a program without an ideal, for inputs where det is undefined and
    for more inputs than the limit of rows; Undecided past a limit of the ideal.
    """
    ideal = ideals.Ideal(program)
    if isinstance(inputs, AllInputs):
        notes = ("give ranges: `q = -1..1`", "`--inputs all` asks for a proof about all inputs at once")
        raise bad_input("E1112", "all inputs cannot be written as a table", *notes)
    count = inputs.count if isinstance(inputs, FiniteInputs) else len(inputs.rows)
    if count > program.limits.rows:
        raise bad_input(
            "E1113",
            f"there are {count} inputs, more than the limit of {program.limits.rows} rows",
            "give smaller ranges, or a larger limit: `--limit rows=N`",
            "`dipc check --inputs ... --classes` decides classes of inputs with equal obligations, not each row",
        )
    rows = PackedRows(len(program.core.inputs), len(program.core.outputs))
    for number, cells in enumerate(_rows(inputs, ideal)):
        if progress is not None and number % _PROGRESS_ROWS == 0:
            progress(number, count)
        rows.append(cells)
    match inputs:
        case FiniteInputs(name=name):
            selection = program.core.selection
            which = "" if selection is None else f" with {selection.text}"
            return Table(name + which, rows, _DD, {}, computed=_DD)
        case Table():
            return Table(inputs.name, rows, inputs.columns | _DD, inputs.beta_places, _DD - inputs.columns)


def completed(program: Program, table: Table, progress: Progress | None = None) -> Table:
    """Return `table` with dd(u) filled in where a row lacks it; unchanged if `program` has no ideal.

    `progress` is called with the number of finished rows and of all rows. Raises DiagnosticError if a row's answer
    differs from the ideal's, as dd(u) would be about another answer.
    """
    if program.core.ideal is None or all(row.dd is not None for row in first_of_each_claim(table.rows)):
        return table
    ideal = ideals.Ideal(program)
    distances = ideals.Distances(ideal)
    mistakes: list[Diagnostic] = []
    rows = PackedRows(len(program.core.inputs), len(program.core.outputs))
    for row in table.rows:
        if progress is not None and row.number % _PROGRESS_ROWS == 0:
            progress(row.number, len(table.rows))
        if row.dd is not None:
            rows.append(_cells(row, row.dd))
            continue
        values = tuple(map(value_of, row.inputs))
        answer = ideal.values(values)
        wrong = contradiction(program, row, answer)
        if wrong is not None:
            mistakes.append(wrong)
            if len(mistakes) >= MISTAKE_LIMIT:
                break
            continue
        rows.append(_cells(row, _distance_cell(ideal.pool, distances.dd(values, answer))))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return Table(table.name, rows, table.columns | _DD, table.beta_places, _DD - table.columns)


def _rows(inputs: FiniteInputs | Table, ideal: ideals.Ideal) -> Iterator[tuple[Cell | None, ...]]:
    distances = ideals.Distances(ideal)
    match inputs:
        case FiniteInputs():
            if inputs.count > _MANY_INPUTS:
                ideal.list_answers()
            for values in inputs.among_allowed(ideal.program):
                answer = ideal.values(values)
                dd = _distance_cell(ideal.pool, distances.dd(values, answer))
                yield (*map(ideal.pool.cell, (*values, *answer)), None, None, None, dd)
        case Table():
            for row in inputs.rows:
                values = tuple(map(value_of, row.inputs))
                answer = ideal.values(values)
                dd = row.dd or _distance_cell(ideal.pool, distances.dd(values, answer))
                yield (*row.inputs, *map(ideal.pool.cell, answer), row.alpha, row.beta, row.gamma, dd)


def _cells(row: Row, dd: Cell) -> tuple[Cell | None, ...]:
    return (*row.inputs, *row.outputs, row.alpha, row.beta, row.gamma, dd)


def _distance_cell(pool: CellPool, distance: Fraction | None) -> Cell:
    return INFINITY if distance is None else pool.cell(distance)


def contradiction(program: Program, row: Row, answer: tuple[Value, ...]) -> Diagnostic | None:
    """Return the diagnostic saying that `row` states an answer other than that of the ideal of `program`.

    `answer` is the answer of the ideal. None if every output that the row states is equal to that of the ideal.
    """
    for slot, cell, value in zip(program.core.outputs, row.outputs, answer, strict=True):
        if cell is not None and cell.value != value:
            name = program.core.slots[slot].name
            return Diagnostic(
                "E1121",
                f"row {row.number}: the table has {name} = {cell.text}, but the ideal gives {value}",
                notes=("correct one of the two, or give the distance to disagreement in a column `dd`",),
            )
    return None
