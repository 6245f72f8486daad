"""All outputs of a program at one input, with their probabilities: as text, as JSON, in LaTeX."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.decimals import exact_text, outward
from dipc.chain.symbolic import is_symbolic
from dipc.exits.program import Outcome, Program, Progress
from dipc.lang.core import Value
from dipc.report.latex import aligned, latex_assignment
from dipc.report.numbers import rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.tables.cells import show_value

SCHEMA = "dipc.prob/1"

#: Significant digits of the numbers in JSON; rounded outwards, so both are proved bounds.
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All outputs with a probability other than 0 at one input. `total` is the exact sum of the probabilities."""

    program: str
    constants: tuple[tuple[str, str], ...]
    input: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    total: ClosedForm
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
    return Outcomes(
        core.name,
        tuple((name, str(value)) for name, value in core.constants.items()),
        {name: show_value(value) for name, value in values.items()},
        found,
        ClosedForm(total(outcome.probability.value for outcome in found)),
        tuple(core.slots[slot].name for slot in core.outputs if is_symbolic(core.slots[slot].type)),
        eps,
        core.only_at,
    )


def render_text(found: Outcomes, look: Look) -> str:
    """Every output in the order of the program's domains, its probability, and the sum of all."""
    page = Page(look)
    count = len(found.outcomes)
    page.line(f"{found.program}: {count} output{'' if count == 1 else 's'}", Tone.HEAD)
    page.blank()
    pairs = [("constants", assignment_text(dict(found.constants)))] if found.constants else []
    pairs.append(("input", assignment_text(found.input)))
    if found.open_outputs:
        pairs.append(("any value of", ", ".join(found.open_outputs)))
    if found.only_at is not None:
        pairs.append(("only at", f"eps = {rational(found.only_at)}"))
    if found.eps is not None:
        pairs.append(("numbers at", f"eps = {rational(found.eps)}"))
    page.fields(pairs)
    for outcome in found.outcomes:
        page.blank()
        page.line(assignment_text(outcome.output) if outcome.output else "any output", Tone.HEAD, indent=2)
        if found.eps is not None:
            page.line(shown(*outcome.probability.at(found.eps)), indent=4)
        page.line(str(outcome.probability), indent=4)
    if found.open_outputs and all(not outcome.output for outcome in found.outcomes):
        page.blank()
        text = (
            "this says nothing of the answer: dipc check and Program.probability ask how near real outputs are to one"
        )
        page.line(text)
    page.blank()
    page.line(f"sum  {found.total}" + (", exactly" if str(found.total) == "1" else ""))
    return page.text()


def render_json(found: Outcomes) -> str:
    """`{"schema": "dipc.prob/1", ...}`; rationals are strings, probabilities are read by `sympy.sympify`."""
    document = {
        "schema": SCHEMA,
        "program": found.program,
        "constants": dict(found.constants),
        "input": dict(found.input),
        "eps": None if found.eps is None else str(found.eps),
        "outputs": [_record(outcome, found.eps) for outcome in found.outcomes],
        "sum": str(found.total),
    }
    return json.dumps(document, indent=1) + "\n"


def _record(outcome: Outcome, eps: Fraction | None) -> dict[str, object]:
    record: dict[str, object] = {"output": dict(outcome.output), "probability": str(outcome.probability)}
    if eps is not None:
        record["at"] = [exact_text(end) for end in outward(*outcome.probability.at(eps), _DIGITS)]
    return record


def render_latex(found: Outcomes) -> str:
    """One aligned equation for each output; needs the package amsmath."""
    equations = [
        (rf"\Pr[{latex_assignment(outcome.output) or 'true'}]", outcome.probability) for outcome in found.outcomes
    ]
    constants = f" with {assignment_text(dict(found.constants))}" if found.constants else ""
    head = f"% {found.program}{constants}, at {assignment_text(found.input)}; needs the package amsmath\n"
    return head + aligned(equations)
