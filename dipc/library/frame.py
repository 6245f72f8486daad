"""Reports as tables of other libraries."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from dipc.sources.outcome import RowResult
from dipc.sources.report import Report

#: The libraries that are asked for a DataFrame, in this order; neither is a dependency.
_LIBRARIES = ("pandas", "polars")

_OWN = ("row", "alpha", "beta", "gamma", "verdict", "vacuous", "probability", "eps", "reason", "count")


def records(report: Report) -> list[dict[str, object]]:
    """The rows as flat dicts with the same keys, in the order of the columns of a table."""
    names = list(dict.fromkeys(name for row in report.rows for name in (*row.input, *row.output)))
    return [_record(row, names) for row in report.rows]


def _record(row: RowResult, names: Sequence[str]) -> dict[str, object]:
    given = {**row.input, **row.output}
    found = row.counterexample
    return {
        "row": row.row,
        **{name if name not in _OWN else f"{name} of the program": given.get(name) for name in names},
        "alpha": row.alpha,
        "beta": row.beta,
        "gamma": row.gamma,
        "verdict": str(row.verdict),
        "vacuous": row.vacuous,
        "probability": row.probability,
        "eps": None if found is None else str(found.eps),
        "reason": row.reason,
        **({} if row.count is None else {"count": row.count}),
    }


def data_frame(report: Report) -> Any:
    """A DataFrame of the library that is in use, or else installed. Raises ImportError where there is none."""
    library = next((sys.modules[name] for name in _LIBRARIES if name in sys.modules), None) or _installed()
    rows = records(report)
    return library.DataFrame({name: [row[name] for row in rows] for name in (rows[0] if rows else _OWN)})


def _installed() -> Any:
    for name in _LIBRARIES:
        try:
            return import_module(name)
        except ImportError:
            continue
    message = "to_frame needs pandas or polars, and neither is installed; report.records() has the rows as dicts"
    raise ImportError(message)
