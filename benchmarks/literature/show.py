"""The outcomes for people (a table) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from benchmarks.literature.run import Outcome
from benchmarks.printing import Table, alarm, colored

SCHEMA = "dipc.literature/1"


def show(outcomes: Sequence[Outcome]) -> None:
    """Print a table of the claims of `outcomes`, then every disagreement, then the totals."""
    numbers = ("rows", "fail", "CPU s")
    columns = ("program", "claim", "source", "β", *numbers, "verdict", "expected")
    table = Table("Claims of the literature", columns, numbers)
    previous = None
    for outcome in outcomes:
        claim, counts = outcome.claim, outcome.report.counts
        verdict = str(outcome.verdict)
        table.add(
            outcome.entry.name if outcome.entry is not previous else "",
            *(claim.name, claim.source, _beta(outcome)),
            *(str(counts.rows), str(counts.inaccurate), f"{outcome.seconds:.2f}"),
            alarm(verdict) if outcome.differences else colored(verdict, good=True),
            str(outcome.expected),
        )
        previous = outcome.entry
    table.show()
    wrong = [outcome for outcome in outcomes if outcome.differences]
    for outcome in wrong:
        click.echo(alarm(f"\n{outcome.entry.name}, {outcome.claim.name}: DIFFERS"))
        for difference in outcome.differences:
            click.echo(f"  - {difference}")
        click.secho(f"  expected because: {outcome.claim.known}", dim=True)
    seconds = sum(outcome.seconds for outcome in outcomes)
    agreeing = len(outcomes) - len(wrong)
    click.echo(f"\n{agreeing} of {len(outcomes)} claims as expected; {seconds:.2f} s of CPU")


def _beta(outcome: Outcome) -> str:
    row = outcome.entry.table(outcome.claim)[-1]
    if "beta" in row:
        return f"…, {row['beta']}"
    return outcome.claim.beta or "the program's"


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Return the `outcomes` as one JSON document, with rationals as strings."""
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
