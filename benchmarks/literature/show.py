"""The outcomes for people (a table) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.literature.run import Outcome

SCHEMA = "dipc.literature/1"


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """A table of the claims, then every disagreement, then the totals."""
    table = Table(title="Claims of the literature", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in ("program", "claim", "source", "β"):
        table.add_column(name)
    for name in ("rows", "fail", "CPU s"):
        table.add_column(name, justify="right")
    for name in ("verdict", "expected"):
        table.add_column(name)
    previous = None
    for outcome in outcomes:
        claim, counts = outcome.claim, outcome.report.counts
        color = "green" if not outcome.differences else "bold red"
        table.add_row(
            outcome.entry.name if outcome.entry is not previous else "",
            *(escape(text) for text in (claim.name, claim.source, _beta(outcome))),
            *(str(counts.rows), str(counts.inaccurate), f"{outcome.seconds:.2f}"),
            f"[{color}]{outcome.verdict}[/]",
            str(outcome.expected),
        )
        previous = outcome.entry
    console.print(table)
    wrong = [outcome for outcome in outcomes if outcome.differences]
    for outcome in wrong:
        console.print(f"\n[bold red]{outcome.entry.name}, {escape(outcome.claim.name)}: DIFFERS[/]")
        for difference in outcome.differences:
            console.print(f"  - {escape(difference)}")
        console.print(f"  [dim]expected because: {escape(outcome.claim.known)}[/]")
    seconds = sum(outcome.seconds for outcome in outcomes)
    agreeing = len(outcomes) - len(wrong)
    console.print(f"\n{agreeing} of {len(outcomes)} claims as expected; {seconds:.2f} s of CPU")


def _beta(outcome: Outcome) -> str:
    """The claim's beta as it was given, or that of its last row."""
    row = outcome.entry.table(outcome.claim)[-1]
    if "beta" in row:
        return f"…, {row['beta']}"
    return outcome.claim.beta or "the program's"


def as_json(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as one JSON document, with rationals as strings."""
    document = {"schema": SCHEMA, "claims": [_record(outcome) for outcome in outcomes]}
    return json.dumps(document, indent=1, ensure_ascii=False)


def _record(outcome: Outcome) -> dict[str, Any]:
    entry, claim, report = outcome.entry, outcome.claim, outcome.report
    witness = next((row for row in report.rows if row.counterexample is not None), None)
    return {
        "program": entry.name,
        "title": entry.title,
        "claim": claim.name,
        "source": claim.source,
        "beta": claim.beta,
        "gamma": claim.gamma,
        "eps": claim.eps,
        "rows": report.counts.rows,
        "failing_rows": report.counts.inaccurate,
        "undecided_rows": report.counts.undecided,
        "verdict": str(outcome.verdict),
        "expected": str(outcome.expected),
        "expected_failing_rows": claim.failing,
        "known": claim.known,
        "cpu_seconds": round(outcome.seconds, 6),
        "differences": outcome.differences,
        "counterexample": None if witness is None else {"input": dict(witness.input), **witness["counterexample"]},
    }
