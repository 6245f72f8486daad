"""Inverse questions as they are asked: what may be given along with what is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from dipc.claim.claim import Claim, mentions, resolve_claim
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.inverse.solution import Wanted
from dipc.tables.table import Table


@dataclass(frozen=True, slots=True)
class Request:
    """One question about a table: what is `wanted`, and the rest of the claim as it was given (None: not given)."""

    program: Program
    table: Table
    wanted: Wanted
    beta: object
    alpha: object
    gamma: object
    eps: object

    def claim(self, **changes: object) -> Claim:
        """The claim with some parts replaced. Raises DiagnosticError."""
        asked = replace(self, **changes)  # type: ignore[arg-type]
        return resolve_claim(
            self.program.core, self.table, beta=asked.beta, alpha=asked.alpha, gamma=asked.gamma, eps=asked.eps
        )


def checked(request: Request) -> Request:
    """The request itself. Raises DiagnosticError for one that contradicts itself."""
    wanted = request.wanted
    given = {Wanted.ALPHA: request.alpha, Wanted.BETA: request.beta, Wanted.GAMMA: request.gamma}.get(wanted)
    if given is not None:
        _refuse("E1020", f"{wanted} is given, and asked for", f"leave out `--{wanted}`, or ask for another one")
    if wanted in request.table.columns:
        note = "remove the column, or check the table as it is with `dipc check`"
        _refuse("E1021", f"{wanted} is asked for, but the table has a column `{wanted}`", note)
    return request


def refuse_dependence(request: Request, claim: Claim, on: str, why: str) -> None:
    """Raise DiagnosticError where another part of the claim mentions what is asked for."""
    parts: list[ClaimExpression] = [part for part in (claim.alpha, claim.beta, claim.gamma) if part is not None]
    parts += [claim.column_beta(text) for text in sorted({row.beta.text for row in request.table.rows if row.beta})]
    for part in parts:
        if part.what != on and mentions(part.tree, on):
            raise part.error("E1022", f"{part.what} depends on {on}, which is asked for", part.tree, "", why)


def _refuse(code: str, message: str, *notes: str) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, message, notes=notes))
