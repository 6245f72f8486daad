"""`check` for every real input at once: the entry of this room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from dipc.claim.claim import Given
from dipc.claim.intervals import intervals_text
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.probability import Limits
from dipc.exits.program import Program
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal
from dipc.sources.every_input.decide import AllInputs
from dipc.sources.every_input.scaling import ClassClaim
from dipc.sources.every_input.wall_metric import wall_metric
from dipc.sources.every_input.witness import Witnesses
from dipc.sources.outcome import Effort, RowResult
from dipc.sources.report import Report

#: Called with the number of classes done; how many there are is not known before.
Progress = Callable[[int, int | None], None]


def check_every_input(program: Program, options: Mapping[str, Any]) -> Report:
    """`check_all` with the options of `dipc.check`; DiagnosticError for one that has no meaning for all inputs."""
    known = ("beta", "alpha", "gamma", "eps", "progress", "limits")
    for name, value in options.items():
        if name not in (*known, "inputs") and value:
            raise DiagnosticError(unsupported(name))
    return check_all(program, **{name: options.get(name) for name in known})


def unsupported(option: str) -> Diagnostic:
    """For an option that cannot be combined with all inputs."""
    notes = ("its rows are classes of inputs: leave the option out, or give finitely many inputs or a table",)
    return Diagnostic("E1205", f"{option} cannot be combined with --inputs all", notes=notes)


def check_all(
    program: Program,
    *,
    beta: Given = None,
    alpha: Given = None,
    gamma: Given = None,
    eps: Given = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Report:
    """Decide the claim for every input of a program with real inputs and an `ideal` block: one row for each class.

    ACCURATE holds for every real input, every eps of the intervals and, with alpha = dd or gamma = "free", every
    distance. An INACCURATE row has an input at which the ordinary engine refutes the claim. UNDECIDED rows say why.

    Raises DiagnosticError for a program or claim that is not of this kind, before anything is decided.
    """
    begun = perf_counter()
    if limits is not None:
        program = program.with_limits(limits)
    ideal = Ideal(program)
    claim = ClassClaim(program, beta, alpha, gamma, eps)
    witnesses = Witnesses(ideal, Distances(ideal), beta, alpha, gamma, eps)
    run = AllInputs(ideal, claim, wall_metric(ideal), witnesses)
    rows: list[RowResult] = []
    for row in run.results():
        rows.append(row)
        if progress is not None:
            progress(len(rows), None)
    effort = Effort(seconds=perf_counter() - begun, measures=program.measurer.integrals, obligations=run.obligations)
    return Report(program.name, tuple(rows), intervals_text(claim.intervals), effort=effort)
