"""dipc decides, exactly, whether a differentially private mechanism is accurate often enough.

    >>> import dipc
    >>> program = dipc.load('''
    ...     program laplace;
    ...     input q : real;
    ...     output out : real;
    ...     out <- Lap(eps, q);
    ... ''')
    >>> str(program.probability({"q": 0}, {"out": 0}, gamma=1))
    '1 - exp(-eps)'
    >>> str(dipc.check(program, [{"q": 0, "out": 0}], beta="exp(-gamma*eps)", gamma=1).verdict)
    'accurate'

Everything heavy is imported on first use: `import dipc` is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dipc.accuracy.check import check, iter_rows
    from dipc.accuracy.closed_form import ClosedForm
    from dipc.accuracy.load import load
    from dipc.accuracy.outcome import Counterexample, Interrupted, Report, RowResult, Verdict
    from dipc.accuracy.probability import Limits
    from dipc.accuracy.program import Outcome, Program
    from dipc.diagnostics.diagnostic import DiagnosticError
    from dipc.exact.limits import Undecided
    from dipc.simulation.simulate import simulate

    eps: Any

__version__ = "0.1.0"

__all__ = [
    "ClosedForm",
    "Counterexample",
    "DiagnosticError",
    "Interrupted",
    "Limits",
    "Outcome",
    "Program",
    "Report",
    "RowResult",
    "Undecided",
    "Verdict",
    "check",
    "eps",
    "iter_rows",
    "load",
    "simulate",
]

_HOME = {
    "ClosedForm": "dipc.accuracy.closed_form",
    "Counterexample": "dipc.accuracy.outcome",
    "DiagnosticError": "dipc.diagnostics.diagnostic",
    "Interrupted": "dipc.accuracy.outcome",
    "Limits": "dipc.accuracy.probability",
    "Outcome": "dipc.accuracy.program",
    "Program": "dipc.accuracy.program",
    "Report": "dipc.accuracy.outcome",
    "RowResult": "dipc.accuracy.outcome",
    "Undecided": "dipc.exact.limits",
    "Verdict": "dipc.accuracy.outcome",
    "check": "dipc.accuracy.check",
    "iter_rows": "dipc.accuracy.check",
    "load": "dipc.accuracy.load",
    "simulate": "dipc.simulation.simulate",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "eps":
        from dipc.accuracy.symbols import eps

        value = eps()
    elif name in _HOME:
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'dipc' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
