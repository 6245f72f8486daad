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

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from dipc import examples
    from dipc.algebra.exppoly import ClosedForm
    from dipc.algebra.limits import Limits, Undecided
    from dipc.auditing import Audit, audit
    from dipc.certificate.write import certify
    from dipc.decide.obligation import Counterexample, Decision, Verdict
    from dipc.execution import Runs, run
    from dipc.inverse.solve import Intervals, interval, solve
    from dipc.inverse.tighten import tighten
    from dipc.inverse.tune import Tuned, tune
    from dipc.mechanisms.decorator import Mechanism, mechanism
    from dipc.mechanisms.words import (
        Const,
        Eps,
        Finite,
        Int,
        Ints,
        Real,
        Reals,
        choice,
        discrete_gaussian,
        discrete_laplace,
        exp,
        exponential_mechanism,
        exponential_noise,
        gaussian,
        laplace,
        metric,
        truncated_laplace,
        uniform,
    )
    from dipc.program.program import OutputProbability, Program, load
    from dipc.questions.privacy.check import check_privacy
    from dipc.questions.privacy.every_number import check_privacy_for_all
    from dipc.questions.privacy.outcome import PrivacyReport, PrivacyVerdict
    from dipc.questions.privacy.profile import compose
    from dipc.questions.question import check, check_for_all, expected_error, iter_rows, table
    from dipc.questions.report import Interrupted, Report, RowResult
    from dipc.simulation.compare import simulate
    from dipc.simulation.conform import Conformance, conform
    from dipc.text.diagnostic import DefectError, DiagnosticError
    from dipc.verifier.command import verify
    from dipc.verifier.document import Accepted
    from dipc.verifier.reading import Exhausted, Rejected, Unreadable

    eps: Any

__version__ = "0.3.0"

#: The module that serves each kind of object, for methods that need rooms above the object's own (see `dipc.above`).
ANSWERED_BY = {
    "closed form": "dipc.library",
    "shown": "dipc.library",
    "formula": "dipc.outcome.formats",
    "page": "dipc.outcome.html",
    "factor": "dipc.outcome.tighten",
    "privacy": "dipc.outcome.privacy",
    "mechanism": "dipc.mechanisms.reading",
    "mistake": "dipc.text.diagnostic",
    "reading": "dipc.execution.validation",
    "program": "dipc.program.program",
    "run": "dipc.execution",
    "solution": "dipc.outcome.solve",
}

__all__ = [
    "Accepted",
    "Audit",
    "ClosedForm",
    "Conformance",
    "Const",
    "Counterexample",
    "Decision",
    "DefectError",
    "DiagnosticError",
    "Eps",
    "Exhausted",
    "Finite",
    "Int",
    "Interrupted",
    "Intervals",
    "Ints",
    "Limits",
    "Mechanism",
    "OutputProbability",
    "PrivacyReport",
    "PrivacyVerdict",
    "Program",
    "Real",
    "Reals",
    "Rejected",
    "Report",
    "RowResult",
    "Runs",
    "Tuned",
    "Undecided",
    "Unreadable",
    "Verdict",
    "audit",
    "certify",
    "check",
    "check_for_all",
    "check_privacy",
    "check_privacy_for_all",
    "choice",
    "compose",
    "conform",
    "discrete_gaussian",
    "discrete_laplace",
    "eps",
    "examples",
    "exp",
    "expected_error",
    "exponential_mechanism",
    "exponential_noise",
    "gaussian",
    "interval",
    "iter_rows",
    "laplace",
    "load",
    "mechanism",
    "metric",
    "run",
    "simulate",
    "solve",
    "table",
    "tighten",
    "truncated_laplace",
    "tune",
    "uniform",
    "verify",
]

#: The public names, by the module that defines them.
_NAMES = {
    "dipc.algebra.exppoly": "ClosedForm",
    "dipc.algebra.limits": "Limits Undecided",
    "dipc.auditing": "Audit audit",
    "dipc.certificate.write": "certify",
    "dipc.decide.obligation": "Counterexample Decision Verdict",
    "dipc.execution": "run Runs",
    "dipc.inverse.solve": "interval Intervals solve",
    "dipc.inverse.tighten": "tighten",
    "dipc.inverse.tune": "tune Tuned",
    "dipc.mechanisms.decorator": "Mechanism mechanism",
    "dipc.program.program": "load OutputProbability Program",
    "dipc.questions.privacy.check": "check_privacy",
    "dipc.questions.privacy.every_number": "check_privacy_for_all",
    "dipc.questions.privacy.outcome": "PrivacyReport PrivacyVerdict",
    "dipc.questions.privacy.profile": "compose",
    "dipc.questions.question": "check check_for_all expected_error iter_rows table",
    "dipc.questions.report": "Interrupted Report RowResult",
    "dipc.simulation.compare": "simulate",
    "dipc.simulation.conform": "conform Conformance",
    "dipc.text.diagnostic": "DefectError DiagnosticError",
    "dipc.verifier.command": "verify",
    "dipc.verifier.document": "Accepted",
    "dipc.verifier.reading": "Exhausted Rejected Unreadable",
    "dipc.mechanisms.words": "Const Eps Finite Int Ints Real Reals choice discrete_gaussian discrete_laplace exp "
    "exponential_mechanism exponential_noise gaussian laplace metric truncated_laplace uniform",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
#: Old public names, kept for one release, with the names that replace them.
_RENAMED = {"Outcome": "OutputProbability"}


def __getattr__(name: str) -> Any:
    value: Any
    if name in _RENAMED:
        warn(
            f"dipc.{name} is now dipc.{_RENAMED[name]}; the old name will be removed", DeprecationWarning, stacklevel=2
        )
        return getattr(import_module("dipc"), _RENAMED[name])
    if name == "eps":
        value = import_module("dipc.algebra.exppoly").eps()
    elif name == "examples":
        value = import_module("dipc.examples")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'dipc' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
