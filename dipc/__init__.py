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
    from dipc.accuracy.closed_form import ClosedForm
    from dipc.accuracy.load import load
    from dipc.accuracy.outcome import Counterexample, Interrupted, Report, RowResult, Verdict
    from dipc.accuracy.probability import Limits
    from dipc.accuracy.program import Outcome, Program
    from dipc.certificate.write import certify
    from dipc.diagnostics.diagnostic import DiagnosticError
    from dipc.exact.limits import Undecided
    from dipc.ideal.check import iter_rows, table
    from dipc.inverse.solve import solve
    from dipc.inverse.tighten import tighten
    from dipc.regions.for_all import check_for_all
    from dipc.scale.check import check
    from dipc.simulation.simulate import simulate
    from dipc.verifier.files import verify
    from dipc.verifier.outcome import Accepted
    from dipc.verifier.rejection import Rejected, Unreadable

    eps: Any

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "ClosedForm",
    "Counterexample",
    "DiagnosticError",
    "Interrupted",
    "Limits",
    "Outcome",
    "Program",
    "Rejected",
    "Report",
    "RowResult",
    "Undecided",
    "Unreadable",
    "Verdict",
    "certify",
    "check",
    "check_for_all",
    "eps",
    "iter_rows",
    "load",
    "simulate",
    "solve",
    "table",
    "tighten",
    "verify",
]

_HOME = {
    "Accepted": "dipc.verifier.outcome",
    "ClosedForm": "dipc.accuracy.closed_form",
    "Counterexample": "dipc.accuracy.outcome",
    "DiagnosticError": "dipc.diagnostics.diagnostic",
    "Interrupted": "dipc.accuracy.outcome",
    "Limits": "dipc.accuracy.probability",
    "Outcome": "dipc.accuracy.program",
    "Program": "dipc.accuracy.program",
    "Rejected": "dipc.verifier.rejection",
    "Report": "dipc.accuracy.outcome",
    "RowResult": "dipc.accuracy.outcome",
    "Undecided": "dipc.exact.limits",
    "Unreadable": "dipc.verifier.rejection",
    "Verdict": "dipc.accuracy.outcome",
    "certify": "dipc.certificate.write",
    "check": "dipc.scale.check",
    "check_for_all": "dipc.regions.for_all",
    "iter_rows": "dipc.ideal.check",
    "load": "dipc.accuracy.load",
    "simulate": "dipc.simulation.simulate",
    "solve": "dipc.inverse.solve",
    "table": "dipc.ideal.check",
    "tighten": "dipc.inverse.tighten",
    "verify": "dipc.verifier.files",
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
