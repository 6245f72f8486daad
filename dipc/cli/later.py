"""What commands load when they need it, by the names that they have here: most runs need none of it, and some of it
needs libraries that are not everywhere."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "audit": "dipc.auditing",
    "certificates": "dipc.outcome.certificates",
    "classes": "dipc.outcome.classes",
    "compare": "dipc.simulation.compare",
    "conform": "dipc.simulation.conform",
    "estimate": "dipc.estimate",
    "errors": "dipc.outcome.expected_error",
    "execution": "dipc.execution.run",
    "executions": "dipc.outcome.runs",
    "experiments": "dipc.outcome.experiments",
    "expressions": "dipc.simulation.expressions",
    "formats": "dipc.outcome.formats",
    "html": "dipc.outcome.html",
    "intervals": "dipc.inverse.solve",
    "interval_outcomes": "dipc.outcome.interval",
    "latex": "dipc.outcome.formats",
    "pictures": "dipc.outcome.curves",
    "runs": "dipc.simulation.runs",
    "server": "dipc.editors.server",
    "shells": "dipc.cli.shells",
    "suite": "dipc.suite.testing",
    "testing": "dipc.suite.testing",
    "claims": "dipc.suite.claims",
    "tuning": "dipc.inverse.tune",
    "tunings": "dipc.outcome.tune",
    "written": "dipc.inverse.solve",
}


def __getattr__(name: str) -> Any:
    """The module, imported when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"nothing is loaded later under the name {name!r}")
    return import_module(_MODULES[name])
