"""Simulations compared with exact probabilities: as text, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dipc.algebra.decimals import decimal, exact_text, outward
from dipc.report.numbers import rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.simulation.compare import Agreement, ComparedTally, Row
from dipc.tables.cells import show_value

SCHEMA = "dipc.simulate/1"

#: Significant digits of the exact numbers in JSON; rounded outwards, so both are proved bounds.
_DIGITS = 20

#: Rows that a text shows; more are left to the JSON output, mismatches excepted.
_MOST_ROWS = 40

_MARKS = {Agreement.MATCH: "ok", Agreement.MISMATCH: "MISMATCH", Agreement.UNDECIDED: "?"}
_TONES = {Agreement.MATCH: Tone.GOOD, Agreement.MISMATCH: Tone.BAD, Agreement.UNDECIDED: Tone.OPEN}
_HEAD = ("output", "count", "estimate", "interval", "exact", "")


def render_text(found: ComparedTally, look: Look) -> str:
    """A table with a line for each output, and what follows from it."""
    page, tally = Page(look), found.tally
    page.line(f"{tally.program.name}: {_plural(tally.runs, 'run')}", Tone.HEAD)
    page.blank()
    pairs = []
    if tally.program.constants:
        pairs.append(("constants", assignment_text({k: str(v) for k, v in tally.program.constants.items()})))
    if tally.input:
        pairs.append(("input", assignment_text({name: show_value(value) for name, value in tally.input.items()})))
    pairs.append(("eps", rational(tally.eps)))
    pairs.append(("seed", str(tally.seed)))
    if tally.events:
        pairs.append(("gamma", rational(tally.gamma)))
    together = "" if len(found.rows) == 1 else f", all {len(found.rows)} together"
    pairs.append(("intervals", f"Clopper-Pearson{together} with confidence {_confidence(found)}"))
    page.fields(pairs)
    page.blank()
    rows = _chosen(found.rows)
    _table(page, found, rows)
    if len(rows) < len(found.rows):
        page.line(f"and {_plural(len(found.rows) - len(rows), 'more output')}, see --format json", indent=2)
    page.blank()
    page.line(verdict_line(found), _TONES[found.agreement])
    for row in found.rows:
        if row.agreement is Agreement.MISMATCH:
            page.line(_complaint(found, row), indent=2)
    return page.text()


def verdict_line(found: ComparedTally) -> str:
    """What the comparison says, in one sentence."""
    wrong = sum(row.agreement is Agreement.MISMATCH for row in found.rows)
    match found.agreement:
        case Agreement.MATCH if len(found.rows) == 1:
            return "match: the exact probability lies in its interval"
        case Agreement.MATCH:
            return f"match: each of the {len(found.rows)} exact probabilities lies in its interval"
        case Agreement.MISMATCH:
            return f"mismatch: {wrong} of {_plural(len(found.rows), 'output')} came out too often or too seldom"
        case Agreement.UNDECIDED:
            return f"undecided: {found.reason}"


def _complaint(found: ComparedTally, row: Row) -> str:
    output = _output(row)
    assert row.at is not None
    if row.impossible:
        return f"{output}: came out {_times(row.count)}, and has probability 0"
    often = "often" if row.interval[0] > row.at[1] else "seldom"
    return f"{output}: too {often}, {_times(row.count)}; {float(row.at[0] * found.tally.runs):.6g} are to be expected"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times" if count else "never"


def _chosen(rows: Sequence[Row]) -> list[Row]:
    """The rows to show, in their order: all mismatches, and of the others those that occurred most often."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    ranked = sorted(range(len(rows)), key=lambda at: (rows[at].agreement is not Agreement.MISMATCH, -rows[at].count))
    wrong = sum(row.agreement is Agreement.MISMATCH for row in rows)
    return [rows[at] for at in sorted(ranked[: max(_MOST_ROWS, wrong)])]


# --- the table -------------------------------------------------------------------------------------


def _table(page: Page, found: ComparedTally, rows: Sequence[Row]) -> None:
    """Columns where they fit on the page, else each output above its numbers."""
    cells = [_cells(found, row) for row in rows]
    unknown = all(row.at is None for row in rows)
    columns = [0, 1, 2, 3] if unknown else [0, 1, 2, 3, 4, 5]
    widths = [max(len(line[at]) for line in [_HEAD, *cells]) for at in columns]
    fits = sum(widths) + 3 * len(widths) <= page.width
    shown_columns = columns if fits else columns[1:]
    if not fits:
        widths = widths[1:]
    indent = "  " if fits else "    "

    def line(texts: Sequence[str]) -> str:
        parts = [
            texts[at].rjust(width) if at in (1, 2) else texts[at].ljust(width)
            for at, width in zip(shown_columns, widths, strict=True)
        ]
        return indent + "   ".join(parts)

    page.verbatim([line(_HEAD)], Tone.FAINT)
    for row, texts in zip(rows, cells, strict=True):
        tone = Tone.BAD if row.agreement is Agreement.MISMATCH else None
        if not fits:
            page.line(texts[0], Tone.HEAD, indent=2)
        page.verbatim([line(texts)], tone)


def _cells(found: ComparedTally, row: Row) -> tuple[str, ...]:
    places = max(4, len(str(found.tally.runs)))
    low, high = row.interval
    interval = f"[{low:.{places}f}, {high:.{places}f}]"
    exact = "unknown" if row.at is None else "0" if row.impossible else shown(*row.at)
    estimate = f"{float(found.estimate(row)):.{places}f}"
    return _output(row), str(row.count), estimate, interval, exact, _MARKS[row.agreement]


def _output(row: Row) -> str:
    return assignment_text(row.output) if row.output else "any output"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _confidence(found: ComparedTally) -> str:
    try:
        return decimal(found.confidence)
    except ValueError:
        return str(found.confidence)


# --- JSON ------------------------------------------------------------------------------------------


def render_json(found: ComparedTally) -> str:
    """`{"schema": "dipc.simulate/1", ...}`. What is exact is a string, rationals as such and probabilities as
    `sympy.sympify` reads them; counts, estimates and intervals are numbers."""
    tally = found.tally
    document = {
        "schema": SCHEMA,
        "program": tally.program.name,
        "constants": {name: str(value) for name, value in tally.program.constants.items()},
        "input": {name: show_value(value) for name, value in tally.input.items()},
        "eps": str(tally.eps),
        "runs": tally.runs,
        "seed": tally.seed,
        "gamma": str(tally.gamma) if tally.events else None,
        "confidence": exact_text(found.confidence),
        "verdict": str(found.agreement),
        "reason": found.reason,
        "outputs": [_record(found, row) for row in found.rows],
    }
    return json.dumps(document, indent=1) + "\n"


def _record(found: ComparedTally, row: Row) -> dict[str, object]:
    at = None if row.at is None else [exact_text(end) for end in outward(*row.at, _DIGITS)]
    return {
        "output": dict(row.output),
        "count": row.count,
        "estimate": float(found.estimate(row)),
        "interval": list(row.interval),
        "probability": None if row.probability is None else str(row.probability),
        "at": at,
        "ok": None if row.at is None else row.agreement is Agreement.MATCH,
    }
