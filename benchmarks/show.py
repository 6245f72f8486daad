"""The outcome of the benchmark for people (tables) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click

from benchmarks.printing import Table, alarm, colored
from benchmarks.runner import HOLDS, Factors, Trial
from dipc import Verdict

SCHEMA = "dipc.bench/1"


def show(trials: Sequence[Trial]) -> None:
    """Print Tables 2 and 3 from `trials`, followed by Table 4, every disagreement with its reason, and the totals."""
    plain = [trial for trial in trials if trial.factors is None]
    with_factors = [trial for trial in trials if trial.factors is not None]
    if plain:
        _performance(plain).show()
    if with_factors:
        _bounds(with_factors).show()
    _disagreements(trials)
    _totals(trials)


def as_json(trials: Sequence[Trial]) -> str:
    """Return the `trials` as one JSON document, with rationals as strings."""
    document = {"schema": SCHEMA, "rows": [_record(trial) for trial in trials]}
    return json.dumps(document, indent=1, ensure_ascii=False)


# --- tables ----------------------------------------------------------------------------------------


def _performance(trials: Sequence[Trial]) -> Table:
    numbers = ("m", "c", "range", "α", "γ", "rows", "published s", "dipc s", "speed-up")
    table = Table("Tables 2 and 3: the published claims", ("table", "program", *numbers, "verdict"), numbers)
    for trial in trials:
        row = trial.published
        table.add(
            *(row.table, trial.mechanism.name, str(row.m), str(row.c or ""), row.range, row.alpha, row.gamma),
            *(str(trial.rows), str(row.seconds), f"{trial.seconds:.3f}", _speed_up(trial)),
            _verdict(trial.verdict, good=Verdict.ACCURATE),
        )
    return table


def _bounds(trials: Sequence[Trial]) -> Table:
    found = ("published best", "it is", "refuted", "is it", "at u", "and eps", "claim", "dipc's best")
    columns = ("table", "program", "m", "c", *found, "published s", "dipc s", "outcome")
    table = Table(
        "Table 4: the best factor 1/κ, and what refutes 1/(κ+1)", columns, ("m", "c", "published s", "dipc s")
    )
    for trial in trials:
        row, factors = trial.published, trial.factors
        assert factors is not None
        assert row.counterexample is not None
        table.add(
            *(row.table, trial.mechanism.name, str(row.m), str(row.c or "")),
            *(str(row.best), _verdict(trial.verdict, good=Verdict.ACCURATE)),
            *(str(row.refuted), _verdict(factors.refuted, good=Verdict.INACCURATE)),
            *(" ".join(map(str, row.counterexample.input)), str(row.counterexample.eps)),
            colored(HOLDS[factors.published_witness], good=factors.published_witness is Verdict.INACCURATE),
            "undecided" if factors.kappa is None else f"1/{factors.kappa}",
            *(str(row.seconds), f"{trial.seconds:.3f}"),
            _agreement(trial),
        )
    return table


def _disagreements(trials: Sequence[Trial]) -> None:
    for trial in trials:
        if not trial.differences:
            continue
        row = trial.published
        size = f"m = {row.m}" + ("" if row.c is None else f", c = {row.c}")
        click.secho(f"\nTable {row.table}, {trial.mechanism.name}, {size}: {trial.agreement}", bold=True)
        for difference in trial.differences:
            click.echo(f"  - {difference}")
        if trial.factors is not None and (found := trial.factors.refutation) is not None:
            assert trial.factors.kappa is not None
            click.echo(
                f"  - dipc refutes 1/{trial.factors.kappa + 1} at u = ({found.input.replace(' ', ', ')}), "
                f"eps = {found.eps}: {_interval(found.probability)} < {_interval(found.required)}"
            )
        if trial.explanation is not None:
            click.secho(f"  known: {trial.explanation.why}", dim=True)


def _totals(trials: Sequence[Trial]) -> None:
    first = [trial for trial in trials if trial.mechanism is trial.published.mechanism]
    timed = [trial for trial in first if trial.factors is None]
    click.echo()
    if timed:
        ours = sum(trial.seconds for trial in timed)
        theirs = sum(trial.published.seconds for trial in timed)
        accurate = sum(trial.verdict is Verdict.ACCURATE for trial in timed)
        click.echo(
            f"Tables 2 and 3: {accurate} of {len(timed)} rows accurate; {ours:.2f} s of CPU, published {theirs} s"
        )
    bounds = [trial for trial in first if trial.factors is not None]
    if bounds:
        agreeing = sum(trial.agreement == "agrees" for trial in bounds)
        click.echo(f"Table 4: {agreeing} of {len(bounds)} rows as published")
    unexplained = sum(trial.agreement == "DIFFERS" for trial in trials)
    if unexplained:
        click.echo(alarm(f"{unexplained} disagreements without an explanation"))


def _verdict(verdict: Verdict, *, good: Verdict) -> str:
    return colored(str(verdict), good=verdict is good)


def _agreement(trial: Trial) -> str:
    if trial.agreement in {"agrees", "differs (known)"}:
        return colored(trial.agreement, good=trial.agreement == "agrees")
    return alarm(trial.agreement)


def _speed_up(trial: Trial) -> str:
    return f"{trial.published.seconds / trial.seconds:,.0f}x" if trial.seconds > 0 else ""


def _interval(ends: tuple[Fraction, Fraction]) -> str:
    return f"{float(ends[0]):.10g}"


# --- JSON ------------------------------------------------------------------------------------------


def _record(trial: Trial) -> dict[str, Any]:
    row = trial.published
    return {
        "table": row.table,
        "algorithm": row.algorithm,
        "program": trial.mechanism.name,
        "m": row.m,
        "c": row.c,
        "range": row.range,
        "alpha": row.alpha,
        "gamma": row.gamma,
        "beta": row.beta,
        "factor": None if row.best is None else str(row.best),
        "rows": trial.rows,
        "verdict": str(trial.verdict),
        "published_seconds": row.seconds,
        "cpu_seconds": round(trial.seconds, 6),
        "agreement": trial.agreement,
        "differences": trial.differences,
        "known": None if trial.explanation is None or not trial.differences else trial.explanation.why,
        "factors": None if trial.factors is None else _factors(trial, trial.factors),
    }


def _factors(trial: Trial, factors: Factors) -> dict[str, Any]:
    witness = trial.published.counterexample
    assert witness is not None
    found = factors.refutation
    return {
        "published_refuted": str(trial.published.refuted),
        "published_refuted_verdict": str(factors.refuted),
        "published_counterexample": {"input": [str(value) for value in witness.input], "eps": str(witness.eps)},
        "published_counterexample_verdict": str(factors.published_witness),
        "best": None if factors.kappa is None else f"1/{factors.kappa}",
        "counterexample": None
        if found is None
        else {
            "input": found.input.split(),
            "eps": str(found.eps),
            "probability": [str(end) for end in found.probability],
            "required": [str(end) for end in found.required],
        },
    }
