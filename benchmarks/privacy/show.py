"""The atlas for people (a table) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.privacy.mechanism import EPS
from benchmarks.privacy.run import DELTA, LOSS, Exact

SCHEMA = "dipc.atlas/1"


def show(found: Sequence[Exact], console: Console) -> None:
    """A table of the mechanisms, then what is published and wrong, then every disagreement, then the totals."""
    table = Table(
        title="Mechanisms and their privacy", title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for name in ("mechanism", "program", "source", "adjacent"):
        table.add_column(name)
    for name in (f"loss at {EPS}", "estimate", "constant", "claimed", "CPU s"):
        table.add_column(name, justify="right")
    for each in found:
        mechanism = each.mechanism
        texts = (mechanism.title, mechanism.name, mechanism.source, mechanism.adjacent)
        estimate = "" if mechanism.estimate is None else f"> {float(mechanism.estimate.value)}"
        claimed = "" if mechanism.claimed is None else str(mechanism.claimed)
        table.add_row(
            *map(escape, texts),
            *(each.loss_text or "", estimate, each.constant_text or ""),
            f"[bold red]{claimed}[/]" if each.errata else claimed,
            f"{each.seconds:.2f}",
        )
    console.print(table)
    for each in found:
        for erratum in each.errata:
            console.print(
                f"\n[bold]{escape(each.mechanism.title)}, {escape(each.mechanism.name)}:[/] {escape(erratum)}"
            )
        for difference in each.differences:
            console.print(f"\n[bold red]{escape(each.mechanism.name)} DIFFERS:[/] {escape(difference)}")
    agreeing = sum(not each.differences for each in found)
    wrong = sum(bool(each.errata) for each in found)
    seconds = sum(each.seconds for each in found)
    console.print(
        f"\n{agreeing} of {len(found)} as expected; {wrong} published bounds are wrong; {seconds:.1f} s of CPU"
    )


def show_composed(rows: Iterable[Sequence[str]], console: Console) -> None:
    """A table of what several runs need."""
    table = Table(
        title=f"\nLeast budgets of k randomized responses, each with loss {LOSS}, for delta = {float(DELTA):g}",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for name in ("k", "basic", "advanced", "exact"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def as_json(found: Sequence[Exact]) -> str:
    """The atlas as one JSON document."""
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
