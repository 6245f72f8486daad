"""Observed outputs compared with an exact distribution: as text, as JSON."""

from __future__ import annotations

import json

from dipc.algebra.decimals import exact_text, outward
from dipc.report.numbers import rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.simulation.compare import Agreement
from dipc.simulation.conform import ComparedEvent, Conformance

SCHEMA = "dipc.conform/1"

#: Significant digits of the exact numbers in JSON; rounded outwards, so both are proved bounds.
_DIGITS = 20

#: Cells that a text shows, mismatches first.
_MOST_CELLS = 24

_TONES = {Agreement.MATCH: Tone.GOOD, Agreement.MISMATCH: Tone.BAD, Agreement.UNDECIDED: Tone.OPEN}
_VERDICTS = {Agreement.MATCH: "conforms", Agreement.MISMATCH: "deviates", Agreement.UNDECIDED: "undecided"}


def conformance_line(found: Conformance) -> str:
    """What the comparison says, in one sentence."""
    wrong = sum(cell.row.agreement is Agreement.MISMATCH for cell in found.cells)
    match found.agreement:
        case Agreement.MATCH:
            return f"conforms: all {len(found.cells)} exact probabilities lie in their intervals"
        case Agreement.MISMATCH:
            return f"DEVIATES: {wrong} of {len(found.cells)} exact probabilities lie outside of their intervals"
        case Agreement.UNDECIDED:
            return f"UNDECIDED: {found.reason}"


def render_conformance(found: Conformance, look: Look) -> str:
    """The verdict, what was compared, the worst cell, and the others."""
    page = Page(look)
    page.line(conformance_line(found), _TONES[found.agreement])
    page.blank()
    page.fields(
        [
            ("program", found.program),
            ("input", assignment_text(found.input)),
            ("eps", rational(found.eps)),
            ("observed", f"{found.observed} outputs"),
            ("intervals", f"Clopper-Pearson, all together with confidence {exact_text(found.confidence)}"),
            ("chi-square", f"{found.chi_square:.4g} with {found.degrees} degrees of freedom (for display)"),
            *([("undecided", found.reason)] if found.reason is not None and found.cells else []),
        ]
    )
    worst = found.worst
    if worst is not None:
        page.blank()
        page.line(f"the worst cell: {assignment_text(worst.row.output)}", Tone.HEAD)
        assert worst.row.at is not None
        page.fields(
            [
                ("count", f"{worst.row.count} of {worst.runs}"),
                ("interval", f"[{worst.row.interval[0]:.6f}, {worst.row.interval[1]:.6f}]"),
                ("exact", shown(*worst.row.at)),
            ]
        )
    ranked = sorted(found.cells, key=lambda cell: cell.row.agreement is not Agreement.MISMATCH)
    if ranked:
        page.blank()
        page.verbatim(_line(cell) for cell in ranked[:_MOST_CELLS])
    if len(ranked) > _MOST_CELLS:
        page.line(f"and {len(ranked) - _MOST_CELLS} more, see --format json", indent=2)
    return page.text()


def _line(cell: ComparedEvent) -> str:
    low, high = cell.row.interval
    exact = "unknown" if cell.row.at is None else "0" if cell.row.impossible else shown(*cell.row.at)
    mark = "MISMATCH" if cell.row.agreement is Agreement.MISMATCH else "ok"
    return f"  {mark:8}  {cell.row.count:9}  [{low:.6f}, {high:.6f}]  {exact:14}  {assignment_text(cell.row.output)}"


def conformance_json(found: Conformance) -> str:
    """`{"schema": "dipc.conform/1", ...}`. What is exact is a string; counts and intervals are numbers."""
    document = {
        "schema": SCHEMA,
        "program": found.program,
        "input": dict(found.input),
        "eps": str(found.eps),
        "observed": found.observed,
        "confidence": exact_text(found.confidence),
        "verdict": _VERDICTS[found.agreement],
        "reason": found.reason,
        "chi_square": found.chi_square,
        "degrees": found.degrees,
        "cells": [_record(cell) for cell in found.cells],
    }
    return json.dumps(document, indent=1) + "\n"


def _record(cell: ComparedEvent) -> dict[str, object]:
    row = cell.row
    return {
        "part": cell.part,
        "output": dict(row.output),
        "count": row.count,
        "of": cell.runs,
        "interval": list(row.interval),
        "probability": None if row.probability is None else str(row.probability),
        "at": None if row.at is None else [exact_text(end) for end in outward(*row.at, _DIGITS)],
        "ok": row.agreement is Agreement.MATCH,
    }
