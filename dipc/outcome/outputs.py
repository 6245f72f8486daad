"""All outputs of a program at one input with their probabilities, and the tables of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import exact_text, outward
from dipc.algebra.quotient import total
from dipc.chain.state import is_symbolic
from dipc.claims.given import show_value
from dipc.claims.table import CLAIM_COLUMNS, Row, Table
from dipc.outcome.latex import latex_assignment
from dipc.outcome.outcome import GAP, Fields, Line, Outcome, Part, Standing, Tone
from dipc.outcome.outcome import Table as ShownTable
from dipc.outcome.words import assignment_text, count, rational, shown
from dipc.program.program import Outcome as OutputProbability
from dipc.program.program import Program, Progress
from dipc.text.core import Value
from dipc.text.program import CoreProgram

SCHEMA = "dipc.prob/1"

#: Significant digits of the numbers in JSON; rounded outwards, so both are proved bounds.
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All outputs with a probability other than 0 at one input. `total` is the exact sum of the probabilities, None
    where one of them has no closed form."""

    program: str
    constants: tuple[tuple[str, str], ...]
    input: Mapping[str, str]
    outcomes: tuple[OutputProbability, ...]
    total: ClosedForm | None
    open_outputs: tuple[str, ...]
    eps: Fraction | None = None
    only_at: Fraction | None = None


def outcomes_at(
    program: Program, values: Mapping[str, Value], eps: Fraction | None = None, progress: Progress | None = None
) -> Outcomes:
    """All outputs of `program` at the input `values`; `total` is summed up again, from what is shown.

    Raises Undecided past a limit."""
    core = program.core
    if eps is not None:
        core.require_meaning(eps)
    found = program.outcomes(values, progress)
    closed = [each.probability.value for each in found if isinstance(each.probability, ClosedForm)]
    return Outcomes(
        core.name,
        tuple((name, str(value)) for name, value in core.constants.items()),
        {name: show_value(value) for name, value in values.items()},
        found,
        None if len(closed) < len(found) else ClosedForm(total(closed)),
        tuple(core.slots[slot].name for slot in core.outputs if is_symbolic(core.slots[slot].type)),
        eps,
        core.only_at,
    )


def outputs(found: Outcomes) -> Outcome:
    """All outputs at one input with their probabilities."""
    return Outcome(
        program=found.program,
        line=f"{found.program}: {count(len(found.outcomes), 'output')}",
        standing=Standing.HOLDS,
        parts=lambda: _parts(found),
        record=lambda: _record(found),
        equations=lambda: _equations(found),
        result=found,
    )


def _parts(found: Outcomes) -> Iterator[Part]:
    """Every output in the order of the program's domains, its probability, and the sum of all."""
    yield GAP
    pairs = [("constants", assignment_text(dict(found.constants)))] if found.constants else []
    pairs.append(("input", assignment_text(found.input)))
    if found.open_outputs:
        pairs.append(("any value of", ", ".join(found.open_outputs)))
    if found.only_at is not None:
        pairs.append(("only at", f"eps = {rational(found.only_at)}"))
    if found.eps is not None:
        pairs.append(("numbers at", f"eps = {rational(found.eps)}"))
    yield Fields(pairs)
    for outcome in found.outcomes:
        yield GAP
        yield Line(assignment_text(outcome.output) if outcome.output else "any output", Tone.HEAD, indent=2)
        if found.eps is not None:
            yield Line(shown(*outcome.probability.at(found.eps)), indent=4)
        yield Line(str(outcome.probability), indent=4)
    if found.open_outputs and all(not outcome.output for outcome in found.outcomes):
        yield GAP
        text = (
            "this says nothing of the answer: dipc check and Program.probability ask how near real outputs are to one"
        )
        yield Line(text)
    yield GAP
    if found.total is None:
        yield Line("without closed forms there is no exact sum; --eps VALUE encloses each probability at an eps")
    else:
        yield Line(f"sum  {found.total}" + (", exactly" if str(found.total) == "1" else ""))


def _record(found: Outcomes) -> dict[str, object]:
    """`{"schema": "dipc.prob/1", ...}`; rationals are strings, probabilities are read by `sympy.sympify`."""
    return {
        "schema": SCHEMA,
        "program": found.program,
        "constants": dict(found.constants),
        "input": dict(found.input),
        "eps": None if found.eps is None else str(found.eps),
        "outputs": [_output_record(outcome, found.eps) for outcome in found.outcomes],
        "sum": None if found.total is None else str(found.total),
    }


def _output_record(outcome: OutputProbability, eps: Fraction | None) -> dict[str, object]:
    form = outcome.probability
    record: dict[str, object] = {
        "output": dict(outcome.output),
        "probability": str(form) if isinstance(form, ClosedForm) else None,
    }
    if eps is not None:
        record["at"] = [exact_text(end) for end in outward(*outcome.probability.at(eps), _DIGITS)]
    return record


def _equations(found: Outcomes) -> tuple[str, list[tuple[str, ClosedForm]]]:
    """What they are about, and one equation for each output. Raises Undecided where one has no closed form."""
    equations = []
    for outcome in found.outcomes:
        if not isinstance(outcome.probability, ClosedForm):
            raise Undecided(outcome.probability.reason)
        equations.append((rf"\Pr[{latex_assignment(outcome.output) or 'true'}]", outcome.probability))
    constants = f" with {assignment_text(dict(found.constants))}" if found.constants else ""
    return f"{found.program}{constants}, at {assignment_text(found.input)}", equations


def answers(program: CoreProgram, table: Table) -> Outcome:
    """The table, as CSV that `read_table` reads back as the same rows: inputs, outputs and its claim columns."""
    return Outcome(
        program=program.name,
        line=count(len(table.rows), "row"),
        standing=Standing.HOLDS,
        parts=lambda: (),
        table=lambda: _shown_table(program, table),
    )


def _shown_table(program: CoreProgram, table: Table) -> ShownTable:
    columns = [name for name in CLAIM_COLUMNS if name in table.columns]
    names = (program.slots[slot].name for slot in (*program.inputs, *program.outputs))

    def cells(row: Row) -> tuple[str, ...]:
        claim = {"alpha": row.alpha, "beta": row.beta, "gamma": row.gamma, "dd": row.dd}
        found = (*row.inputs, *row.outputs, *(claim[name] for name in columns))
        return tuple("" if cell is None else cell.text for cell in found)

    return ShownTable("", (*names, *columns), ((None, cells(row)) for row in table.rows), len(table.rows))
