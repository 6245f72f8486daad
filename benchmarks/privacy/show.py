"""The atlas for people (a table) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from benchmarks.printing import Table, alarm
from benchmarks.privacy.mechanism import EPS
from benchmarks.privacy.run import DELTA, LOSS, Exact

SCHEMA = "dipc.atlas/1"


def show(found: Sequence[Exact]) -> None:
    """Print a table of the mechanisms of `found`, wrong published values, every disagreement, and the totals."""
    numbers = (f"loss at {EPS}", "estimate", "constant", "claimed", "CPU s")
    table = Table("Mechanisms and their privacy", ("mechanism", "program", "source", "adjacent", *numbers), numbers)
    for each in found:
        mechanism = each.mechanism
        estimate = "" if mechanism.estimate is None else f"> {float(mechanism.estimate.value)}"
        claimed = "" if mechanism.claimed is None else str(mechanism.claimed)
        table.add(
            *(mechanism.title, mechanism.name, mechanism.source, mechanism.adjacent),
            *(each.loss_text or "", estimate, each.constant_text or ""),
            alarm(claimed) if each.errata else claimed,
            f"{each.seconds:.2f}",
        )
    table.show()
    for each in found:
        for erratum in each.errata:
            click.echo(f"\n{each.mechanism.title}, {each.mechanism.name}: {erratum}")
        for difference in each.differences:
            click.echo(f"\n{alarm(f'{each.mechanism.name} DIFFERS:')} {difference}")
    agreeing = sum(not each.differences for each in found)
    wrong = sum(bool(each.errata) for each in found)
    seconds = sum(each.seconds for each in found)
    click.echo(f"\n{agreeing} of {len(found)} as expected; {wrong} published bounds are wrong; {seconds:.1f} s of CPU")


def show_composed(rows: Iterable[Sequence[str]]) -> None:
    """Print the table `rows`, with the budgets that several runs need."""
    title = f"\nLeast budgets of k randomized responses, each with loss {LOSS}, for delta = {float(DELTA):g}"
    columns = ("k", "basic", "advanced", "exact")
    Table(title, columns, columns, list(rows)).show()


def as_json(found: Sequence[Exact]) -> str:
    """Return the atlas `found` as one JSON document."""
    return json.dumps({"schema": SCHEMA, "eps": str(EPS), "mechanisms": [_record(each) for each in found]}, indent=1)


def _record(each: Exact) -> dict[str, Any]:
    mechanism = each.mechanism
    return {
        "title": mechanism.title,
        "program": mechanism.file.stem,
        "constants": {name: str(value) for name, value in mechanism.constants.items()},
        "source": mechanism.source,
        "adjacent": mechanism.adjacent,
        "loss": None if each.loss is None else each.loss.as_json()["loss"],
        "constant": None if each.constant is None else each.constant.as_json()["constant"],
        "claimed": None if mechanism.claimed is None else str(mechanism.claimed),
        "estimate": None
        if mechanism.estimate is None
        else {"value": str(float(mechanism.estimate.value)), "by": mechanism.estimate.by},
        "errata": each.errata,
        "differences": each.differences,
        "cpu_seconds": round(each.seconds, 6),
    }
