"""The different obligations Pr >= 1 - beta of a table, each with the rows that have it."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, Undecided
from dipc.claim.claim import Claim, resolve_claim
from dipc.exits.program import Program, within
from dipc.sign.piecewise import BetaForm
from dipc.sources.check import Progress
from dipc.sources.question import InputSpec, prepared
from dipc.tables.table import Table

#: Rows between two calls of a progress function.
_PROGRESS_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Obligation:
    """Pr >= 1 - beta, with the numbers of the rows that claim it, in order."""

    probability: ClosedForm
    beta: BetaForm
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """Rows whose answer is not known, and why."""

    reason: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Obligations:
    """What a table claims: no two of `distinct` have the same probability and the same beta; `unknown` are the rows
    whose probability is past a limit; `vacuous` says how many rows claim nothing, as dd < alpha there."""

    program: Program
    table: Table
    claim: Claim
    distinct: tuple[Obligation, ...]
    unknown: tuple[Unknown, ...]
    vacuous: int


def obligations_of(
    program: Program,
    table: object = None,
    *,
    inputs: InputSpec | None = None,
    beta: object = None,
    alpha: object = None,
    gamma: object = None,
    eps: object = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Obligations:
    """The obligations of a table under a claim; the parameters are those of `dipc.check`.

    Raises DiagnosticError for a bad table or claim, before any probability is computed.
    """
    program = within(program, limits)
    read = prepared(program, table, inputs)
    claim = resolve_claim(program.core, read, beta=beta, alpha=alpha, gamma=gamma, eps=eps)
    probabilities = program.probabilities()
    rows: dict[tuple[ClosedForm, BetaForm], list[int]] = {}
    reasons: dict[str, list[int]] = {}
    vacuous = 0
    for row in read.rows:
        if progress is not None and row.number % _PROGRESS_ROWS == 0:
            progress(row.number, len(read.rows))
        terms = claim.terms(row)
        if terms.vacuous:
            vacuous += 1
            continue
        try:
            probability = probabilities.probability(row.inputs, row.outputs, terms.gamma)
        except Undecided as undecided:
            reasons.setdefault(undecided.reason, []).append(row.number)
        else:
            rows.setdefault((probability, terms.beta), []).append(row.number)
    return Obligations(
        program,
        read,
        claim,
        tuple(Obligation(probability, beta, tuple(numbers)) for (probability, beta), numbers in rows.items()),
        tuple(Unknown(reason, tuple(numbers)) for reason, numbers in reasons.items()),
        vacuous,
    )
