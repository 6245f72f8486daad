"""Simulations, and observed outputs, compared with exact probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.numbers import decimal, exact_text
from dipc.auditing import Audit
from dipc.outcome.outcome import ExitStatus, Grid, Line, Outcome, ReportBlock, Tone, Verbatim, section
from dipc.outcome.words import all_counted, assignment_text, count, enclosed_text, place_of_runs, rational, shown
from dipc.simulation.compare import Agreement, ComparedEvent, ComparedTally, estimates
from dipc.simulation.conform import Conformance
from dipc.simulation.runs import Tally

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
    """Return the outcome of `comparison`, which compares counts of a simulation with exact probabilities."""
    name = comparison.tally.program.name
    return Outcome.from_record(
        comparison,
        _STANDINGS[comparison.agreement],
        program=name,
        line=simulation_line(comparison),
        heading=f"{name}: {count(comparison.tally.runs, 'run')}",
        parts=lambda: _simulation_parts(comparison),
    )


def interrupted(tally: Tally, total: int, confidence: Fraction) -> Outcome:
    """Return the outcome of an interrupted simulation: its progress, and the results until then.

    `tally` has the counts of the runs that were made, out of `total`; `confidence` is the level of the confidence
    intervals.
    """
    reason = f"interrupted after {tally.runs} of {total} runs"
    if not tally.runs:
        line = Line(reason)
        return Outcome(
            program=tally.program.name, line="", standing=ExitStatus.OPEN, parts=lambda: [line], interrupted="\n"
        )
    return replace(simulation(estimates(tally, reason, confidence)), interrupted="\n")


def _simulation_parts(comparison: ComparedTally) -> Iterator[ReportBlock]:
    tally, rows = comparison.tally, _chosen(comparison.rows)
    together = "" if len(comparison.rows) == 1 else f", {all_counted(len(comparison.rows))} together"
    try:
        confidence = decimal(comparison.confidence)
    except ValueError:
        confidence = str(comparison.confidence)
    yield section(
        None,
        *place_of_runs(tally.program.constants, tally.input, tally.eps),
        ("seed", str(tally.seed)),
        ("gamma", rational(tally.gamma) if tally.events else None),
        ("intervals", f"Clopper-Pearson{together} with confidence {confidence}"),
    )
    columns = 4 if all(row.enclosure is None for row in rows) else 6
    cells = ((Tone.BAD if _is_wrong(row) else None, _cells(comparison, row)[:columns]) for row in rows)
    yield [Grid(_HEAD[:columns], tuple(cells), right=frozenset({1, 2}))]
    if len(rows) < len(comparison.rows):
        yield Line(f"and {count(len(comparison.rows) - len(rows), 'more output')}, see --format json", indent=2)
    yield [Line(simulation_line(comparison), _STANDINGS[comparison.agreement].tone)]
    for row in filter(_is_wrong, comparison.rows):
        yield Line(_complaint(comparison, row), indent=2)


def _is_wrong(row: ComparedEvent) -> bool:
    return row.agreement is Agreement.MISMATCH


def simulation_line(comparison: ComparedTally) -> str:
    """Return one sentence about `comparison`, which compares a simulation with exact probabilities."""
    match comparison.agreement:
        case Agreement.MATCH if len(comparison.rows) == 1:
            return "match: the exact probability lies in its interval"
        case Agreement.MATCH:
            return f"match: each of the {len(comparison.rows)} exact probabilities lies in its interval"
        case Agreement.MISMATCH:
            wrong = sum(map(_is_wrong, comparison.rows))
            return f"mismatch: {wrong} of {count(len(comparison.rows), 'output')} came out too often or too rarely"
        case Agreement.UNDECIDED:
            return f"undecided: {comparison.reason}"


def _complaint(comparison: ComparedTally, row: ComparedEvent) -> str:
    output = _output(row)
    assert row.enclosure is not None
    if row.impossible:
        return f"{output}: came out {_times(row.count)}, and has probability 0"
    often = "often" if row.interval[0] > row.enclosure[1] else "seldom"
    expected = float(row.enclosure[0] * comparison.tally.runs)
    return f"{output}: too {often}, {_times(row.count)}; {expected:.6g} are to be expected"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times" if count else "never"


def _chosen(rows: Sequence[ComparedEvent]) -> list[ComparedEvent]:
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    ranked = sorted(range(len(rows)), key=lambda k: (not _is_wrong(rows[k]), -rows[k].count))
    return [rows[k] for k in sorted(ranked[: max(_MOST_ROWS, sum(map(_is_wrong, rows)))])]


def _cells(comparison: ComparedTally, row: ComparedEvent) -> tuple[str, ...]:
    places = max(4, len(str(comparison.tally.runs)))
    low, high = row.interval
    interval, estimate = f"[{low:.{places}f}, {high:.{places}f}]", f"{row.estimate:.{places}f}"
    return _output(row), str(row.count), estimate, interval, _exact(row), _MARKS[row.agreement]


def _exact(row: ComparedEvent) -> str:
    return "unknown" if row.enclosure is None else "0" if row.impossible else enclosed_text(*row.enclosure)


def _output(row: ComparedEvent) -> str:
    return assignment_text(row.output) if row.output else "any output"


# --- observed outputs ------------------------------------------------------------------------------


#: The most cells that a text shows, mismatches first.
_MOST_CELLS = 24


def conformance_line(comparison: Conformance) -> str:
    """Return one sentence about `comparison`, which compares observed outputs with an exact distribution."""
    wrong = sum(_is_wrong(cell) for cell in comparison.cells)
    match comparison.agreement:
        case Agreement.MATCH:
            if len(comparison.cells) == 1:
                return "conforms: the exact probability lies in its interval"
            every = all_counted(len(comparison.cells))
            return f"conforms: {every} exact probabilities lie in their intervals"
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
    """Return the outcome of `comparison`, which compares observed outputs with an exact distribution."""
    line, standing = conformance_line(comparison), _STANDINGS[comparison.agreement]
    return Outcome.from_record(comparison, standing, line=line, parts=lambda: _conformance_parts(comparison))


def _conformance_parts(comparison: Conformance) -> Iterator[ReportBlock]:
    yield section(
        None,
        *shown(comparison, "program input eps"),
        ("observed", f"{comparison.observed} outputs"),
        ("intervals", f"Clopper-Pearson, all together with confidence {exact_text(comparison.confidence)}"),
        (
            "chi-square",
            f"{comparison.chi_square:.4g} with {comparison.degrees} degrees of freedom (for display)",
        ),
        ("undecided", comparison.reason if comparison.cells else None),
    )
    worst = comparison.worst
    if worst is not None:
        low, high = worst.interval
        interval = f"[{low:.6f}, {high:.6f}]"
        counted = ("count", f"{worst.count} of {worst.runs}")
        exact = shown(worst, "exact=enclosure")
        yield section(f"the worst cell: {assignment_text(worst.output)}", counted, ("interval", interval), *exact)
    ranked = sorted(comparison.cells, key=lambda cell: not _is_wrong(cell))
    yield [Verbatim(map(_line, ranked[:_MOST_CELLS]))]
    if len(ranked) > _MOST_CELLS:
        yield Line(f"and {len(ranked) - _MOST_CELLS} more, see --format json", indent=2)
    if comparison.ratios:
        ratios = []
        for test in comparison.ratios:
            least = f"a ratio this extreme has probability at most {min(test.tails):.3g}"
            mark = "MISMATCH" if test.agreement is Agreement.MISMATCH else "ok"
            ratios.append((test.outputs, f"{mark}: {least}; scales {test.factor:.4g} times as great would explain it"))
        yield section("likelihood ratios against other scales of the noise", *ratios)
    if comparison.pairs:
        pairs = Verbatim(map(_line, comparison.pairs))
        yield [Line("pairs of samples that fall in one cell", Tone.HEAD), pairs]


def _line(cell: ComparedEvent) -> str:
    mark, (low, high) = "MISMATCH" if _is_wrong(cell) else "ok", cell.interval
    return f"  {mark:8}  {cell.count:9}  [{low:.6f}, {high:.6f}]  {_exact(cell):14}  {assignment_text(cell.output)}"


# --- audits ---------------------------------------------------------------------------------------------------


def audit_line(result: Audit) -> str:
    """Return the `result` of an audit in one sentence."""
    exact = "∞" if result.exact is None else enclosed_text(*result.exact)
    exceeds = "EXCEEDS: " if result.exceeds else ""
    return f"{exceeds}the loss is at least {float(result.lower):.6g}, and that of the program is {exact}"


def audit(result: Audit) -> Outcome:
    """Return the outcome of an audit with this `result`: a certified lower bound of the loss beside the exact loss."""
    standing, worst = ExitStatus.FAILS if result.exceeds else ExitStatus.HOLDS, result.worst
    fields = [
        *shown(result, "program eps"),
        ("confidence", exact_text(result.confidence)),
        *shown(result, "input other=adjacent"),
        ("outputs", "; ".join(map(assignment_text, worst.outputs))),
        ("observed", f"{worst.counts[0]} of {worst.runs[0]}, and {worst.counts[1]} of {worst.runs[1]}"),
        ("bounds", f"at least {worst.least:.6g} at the input, at most {worst.most:.6g} at the other"),
        ("exact loss", result.claimed),
    ]
    return Outcome.from_record(result, standing, line=audit_line(result), parts=lambda: [section(None, *fields)])
