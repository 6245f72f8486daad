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
    from dipc import examples
    from dipc.algebra.closed_form import ClosedForm
    from dipc.algebra.limits import Limits, Undecided
    from dipc.certificate.write import certify
    from dipc.diagnostics.diagnostic import DiagnosticError
    from dipc.exits.load import load
    from dipc.exits.program import Outcome, Program
    from dipc.inverse.solve import solve
    from dipc.inverse.tighten import tighten
    from dipc.obligations.decision import Decision
    from dipc.obligations.verdict import Counterexample, Verdict
    from dipc.privacy.check import check_privacy
    from dipc.privacy.every_number import check_privacy_for_all
    from dipc.privacy.outcome import PrivacyReport, PrivacyVerdict
    from dipc.simulation.conform import Conformance, conform
    from dipc.simulation.simulate import simulate
    from dipc.sources.check import check, check_for_all, iter_rows
    from dipc.sources.outcome import RowResult
    from dipc.sources.question import table
    from dipc.sources.report import Interrupted, Report
    from dipc.verifier.files import verify
    from dipc.verifier.outcome import Accepted
    from dipc.verifier.rejection import Rejected, Unreadable

    eps: Any

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "ClosedForm",
    "Conformance",
    "Counterexample",
    "Decision",
    "DiagnosticError",
    "Interrupted",
    "Limits",
    "Outcome",
    "PrivacyReport",
    "PrivacyVerdict",
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
    "check_privacy",
    "check_privacy_for_all",
    "conform",
    "eps",
    "examples",
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
    "ClosedForm": "dipc.algebra.closed_form",
    "Conformance": "dipc.simulation.conform",
    "Counterexample": "dipc.obligations.verdict",
    "Decision": "dipc.obligations.decision",
    "DiagnosticError": "dipc.diagnostics.diagnostic",
    "Interrupted": "dipc.sources.report",
    "Limits": "dipc.algebra.limits",
    "Outcome": "dipc.exits.program",
    "PrivacyReport": "dipc.privacy.outcome",
    "PrivacyVerdict": "dipc.privacy.outcome",
    "Program": "dipc.exits.program",
    "Rejected": "dipc.verifier.rejection",
    "Report": "dipc.sources.report",
    "RowResult": "dipc.sources.outcome",
    "Undecided": "dipc.algebra.limits",
    "Unreadable": "dipc.verifier.rejection",
    "Verdict": "dipc.obligations.verdict",
    "certify": "dipc.certificate.write",
    "check": "dipc.sources.check",
    "check_for_all": "dipc.sources.check",
    "check_privacy": "dipc.privacy.check",
    "check_privacy_for_all": "dipc.privacy.every_number",
    "iter_rows": "dipc.sources.check",
    "load": "dipc.exits.load",
    "conform": "dipc.simulation.conform",
    "simulate": "dipc.simulation.simulate",
    "solve": "dipc.inverse.solve",
    "table": "dipc.sources.question",
    "tighten": "dipc.inverse.tighten",
    "verify": "dipc.verifier.files",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "eps":
        from dipc.algebra.symbols import eps

        value: Any = eps()
    elif name == "examples":
        import dipc.examples as value
    elif name in _HOME:
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'dipc' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
