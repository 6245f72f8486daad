"""Simulations, and observed outputs, compared with exact probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.numbers import decimal, exact_text
from dipc.auditing import Audit
from dipc.outcome.outcome import GAP, ExitStatus, Fields, Grid, Line, Outcome, Part, Tone, Verbatim
from dipc.outcome.words import assignment_text, count, enclosed_text, place_of_runs, rational
from dipc.simulation.compare import Agreement, ComparedRow, ComparedTally, estimates
from dipc.simulation.conform import ComparedEvent, Conformance, LikelihoodTest
from dipc.simulation.runs import Tally

#: The significant digits of exact numbers in JSON; rounded outwards, so that both ends are proved bounds.
_DIGITS = 20

#: The most rows that a text shows besides mismatches; the JSON output has all.
_MOST_ROWS = 40

_MARKS = {Agreement.MATCH: "ok", Agreement.MISMATCH: "MISMATCH", Agreement.UNDECIDED: "?"}
_HEAD = ("output", "count", "estimate", "interval", "exact", "")


_STANDINGS = {
    Agreement.MATCH: ExitStatus.HOLDS,
    Agreement.MISMATCH: ExitStatus.FAILS,
    Agreement.UNDECIDED: ExitStatus.OPEN,
}


def simulation(comparison: ComparedTally) -> Outcome:
    """Return the outcome of comparing the counts of a simulation with the exact probabilities."""
    tally = comparison.tally
    return Outcome(
        program=tally.program.name,
        line=simulation_line(comparison),
        heading=f"{tally.program.name}: {count(tally.runs, 'run')}",
        standing=_STANDINGS[comparison.agreement],
        tone=_STANDINGS[comparison.agreement].tone,
        parts=lambda: _simulation_parts(comparison),
        record=comparison.as_json,
        result=comparison,
    )


def interrupted(tally: Tally, total: int, confidence: Fraction) -> Outcome:
    """Return the outcome of an interrupted simulation: its progress, and the results until then."""
    reason = f"interrupted after {tally.runs} of {total} runs"
    if not tally.runs:
        line = Line(reason)
        return Outcome(
            program=tally.program.name, line="", standing=ExitStatus.OPEN, parts=lambda: [line], interrupted="\n"
        )
    return replace(simulation(estimates(tally, reason, confidence)), interrupted="\n")


def _simulation_parts(comparison: ComparedTally) -> Iterator[Part]:
    tally = comparison.tally
    yield GAP
    pairs = place_of_runs(tally.program.constants, tally.input, tally.eps)
    pairs.append(("seed", str(tally.seed)))
    if tally.events:
        pairs.append(("gamma", rational(tally.gamma)))
    together = "" if len(comparison.rows) == 1 else f", all {len(comparison.rows)} together"
    pairs.append(("intervals", f"Clopper-Pearson{together} with confidence {_confidence(comparison)}"))
    yield Fields(pairs)
    yield GAP
    rows = _chosen(comparison.rows)
    yield _grid(comparison, rows)
    if len(rows) < len(comparison.rows):
        yield Line(f"and {count(len(comparison.rows) - len(rows), 'more output')}, see --format json", indent=2)
    yield GAP
    yield Line(simulation_line(comparison), _STANDINGS[comparison.agreement].tone)
    for row in comparison.rows:
        if row.agreement is Agreement.MISMATCH:
            yield Line(_complaint(comparison, row), indent=2)


def simulation_line(comparison: ComparedTally) -> str:
    """Return the result of the comparison in one sentence."""
    wrong = sum(row.agreement is Agreement.MISMATCH for row in comparison.rows)
    match comparison.agreement:
        case Agreement.MATCH if len(comparison.rows) == 1:
            return "match: the exact probability lies in its interval"
        case Agreement.MATCH:
            return f"match: each of the {len(comparison.rows)} exact probabilities lies in its interval"
        case Agreement.MISMATCH:
            return f"mismatch: {wrong} of {count(len(comparison.rows), 'output')} came out too often or too rarely"
        case Agreement.UNDECIDED:
            return f"undecided: {comparison.reason}"


def _complaint(comparison: ComparedTally, row: ComparedRow) -> str:
    output = _output(row)
    assert row.enclosure is not None
    if row.impossible:
        return f"{output}: came out {_times(row.count)}, and has probability 0"
    often = "often" if row.interval[0] > row.enclosure[1] else "seldom"
    expected = float(row.enclosure[0] * comparison.tally.runs)
    return f"{output}: too {often}, {_times(row.count)}; {expected:.6g} are to be expected"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times" if count else "never"


def _chosen(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Return the rows to show, in order: all mismatches, and the other rows with the greatest counts."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    ranked = sorted(range(len(rows)), key=lambda k: (rows[k].agreement is not Agreement.MISMATCH, -rows[k].count))
    wrong = sum(row.agreement is Agreement.MISMATCH for row in rows)
    return [rows[k] for k in sorted(ranked[: max(_MOST_ROWS, wrong)])]


# --- the table -------------------------------------------------------------------------------------


def _grid(comparison: ComparedTally, rows: Sequence[ComparedRow]) -> Grid:
    columns = 4 if all(row.enclosure is None for row in rows) else 6
    tones = [Tone.BAD if row.agreement is Agreement.MISMATCH else None for row in rows]
    cells = [_cells(comparison, row)[:columns] for row in rows]
    return Grid(_HEAD[:columns], tuple(zip(tones, cells, strict=True)), right=frozenset({1, 2}))


def _cells(comparison: ComparedTally, row: ComparedRow) -> tuple[str, ...]:
    places = max(4, len(str(comparison.tally.runs)))
    low, high = row.interval
    interval = f"[{low:.{places}f}, {high:.{places}f}]"
    exact = "unknown" if row.enclosure is None else "0" if row.impossible else enclosed_text(*row.enclosure)
    estimate = f"{float(comparison.estimate(row)):.{places}f}"
    return _output(row), str(row.count), estimate, interval, exact, _MARKS[row.agreement]


def _output(row: ComparedRow) -> str:
    return assignment_text(row.output) if row.output else "any output"


def _confidence(comparison: ComparedTally) -> str:
    try:
        return decimal(comparison.confidence)
    except ValueError:
        return str(comparison.confidence)


# --- observed outputs ------------------------------------------------------------------------------


#: The most cells that a text shows, mismatches first.
_MOST_CELLS = 24


def conformance_line(comparison: Conformance) -> str:
    """Return the result of the comparison in one sentence."""
    wrong = sum(cell.row.agreement is Agreement.MISMATCH for cell in comparison.cells)
    match comparison.agreement:
        case Agreement.MATCH:
            return f"conforms: all {len(comparison.cells)} exact probabilities lie in their intervals"
        case Agreement.MISMATCH if wrong:
            return f"DEVIATES: {wrong} of {len(comparison.cells)} exact probabilities lie outside of their intervals"
        case Agreement.MISMATCH:
            scales = [test for test in comparison.ratios if test.agreement is Agreement.MISMATCH]
            if scales:
                return f"DEVIATES: the noise of `{scales[0].outputs}` seems to be {scales[0].factor:.4g} times as wide"
            return "DEVIATES: consecutive samples are equal more often, or less often, than independent ones would be"
        case Agreement.UNDECIDED:
            return f"UNDECIDED: {comparison.reason}"


def conformance(comparison: Conformance) -> Outcome:
    """Return the outcome of comparing observed outputs with an exact distribution."""
    return Outcome(
        program=comparison.program,
        line=conformance_line(comparison),
        standing=_STANDINGS[comparison.agreement],
        tone=_STANDINGS[comparison.agreement].tone,
        parts=lambda: _conformance_parts(comparison),
        record=comparison.as_json,
        result=comparison,
    )


def _conformance_parts(comparison: Conformance) -> Iterator[Part]:
    yield GAP
    yield Fields(
        [
            ("program", comparison.program),
            ("input", assignment_text(comparison.input)),
            ("eps", rational(comparison.eps)),
            ("observed", f"{comparison.observed} outputs"),
            ("intervals", f"Clopper-Pearson, all together with confidence {exact_text(comparison.confidence)}"),
            ("chi-square", f"{comparison.chi_square:.4g} with {comparison.degrees} degrees of freedom (for display)"),
            *([("undecided", comparison.reason)] if comparison.reason is not None and comparison.cells else []),
        ]
    )
    worst = comparison.worst
    if worst is not None:
        yield GAP
        yield Line(f"the worst cell: {assignment_text(worst.row.output)}", Tone.HEAD)
        assert worst.row.enclosure is not None
        yield Fields(
            [
                ("count", f"{worst.row.count} of {worst.runs}"),
                ("interval", f"[{worst.row.interval[0]:.6f}, {worst.row.interval[1]:.6f}]"),
                ("exact", enclosed_text(*worst.row.enclosure)),
            ]
        )
    ranked = sorted(comparison.cells, key=lambda cell: cell.row.agreement is not Agreement.MISMATCH)
    if ranked:
        yield GAP
        yield Verbatim(_line(cell) for cell in ranked[:_MOST_CELLS])
    if len(ranked) > _MOST_CELLS:
        yield Line(f"and {len(ranked) - _MOST_CELLS} more, see --format json", indent=2)
    if comparison.ratios:
        yield GAP
        yield Line("likelihood ratios against other scales of the noises", Tone.HEAD)
        yield Fields((test.outputs, _ratio(test)) for test in comparison.ratios)
    if comparison.pairs:
        yield GAP
        yield Line("pairs of samples that fall in one cell", Tone.HEAD)
        yield Verbatim(map(_line, comparison.pairs))


def _ratio(test: LikelihoodTest) -> str:
    mark = "MISMATCH" if test.agreement is Agreement.MISMATCH else "ok"
    return f"{mark}: as far out with probability {min(test.tails):.3g} at most; scales {test.factor:.4g} times as great"


def _line(cell: ComparedEvent) -> str:
    low, high = cell.row.interval
    exact = (
        "unknown" if cell.row.enclosure is None else "0" if cell.row.impossible else enclosed_text(*cell.row.enclosure)
    )
    mark = "MISMATCH" if cell.row.agreement is Agreement.MISMATCH else "ok"
    return f"  {mark:8}  {cell.row.count:9}  [{low:.6f}, {high:.6f}]  {exact:14}  {assignment_text(cell.row.output)}"


# --- audits ---------------------------------------------------------------------------------------------------


def audit_line(result: Audit) -> str:
    """Return the result of the audit in one sentence."""
    lower = f"{float(result.lower):.6g}"
    exact = "∞" if result.exact is None else enclosed_text(*result.exact)
    if result.exceeds:
        return f"EXCEEDS: the loss is at least {lower}, and that of the program is {exact}"
    return f"the loss is at least {lower}, and that of the program is {exact}"


def audit(result: Audit) -> Outcome:
    """Return the outcome of an audit: a certified lower bound of the privacy loss beside the exact loss."""
    standing = ExitStatus.FAILS if result.exceeds else ExitStatus.HOLDS
    return Outcome(
        program=result.program,
        line=audit_line(result),
        standing=standing,
        tone=standing.tone,
        parts=lambda: _audit_parts(result),
        record=result.as_json,
        result=result,
    )


def _audit_parts(result: Audit) -> Iterator[Part]:
    worst = result.worst
    yield GAP
    yield Fields(
        [
            ("program", result.program),
            ("eps", rational(result.eps)),
            ("confidence", exact_text(result.confidence)),
            ("input", assignment_text(result.input)),
            ("other", assignment_text(result.adjacent)),
            ("outputs", "; ".join(map(assignment_text, worst.outputs))),
            ("observed", f"{worst.counts[0]} of {worst.runs[0]}, and {worst.counts[1]} of {worst.runs[1]}"),
            ("bounds", f"at least {worst.least:.6g}, and at most {worst.most:.6g}"),
            ("exact loss", result.claimed),
        ]
    )
