"""Inverse questions as they are asked: what may be given along with what is asked for."""

from __future__ import annotations

from typing import NoReturn

from dipc.claim.claim import Claim
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.inverse.question import Question
from dipc.inverse.solution import Wanted
from dipc.lang.tree import mentions


def checked(question: Question, wanted: Wanted) -> Question:
    """The question itself. Raises DiagnosticError for one that contradicts itself."""
    options = question.options
    given = {Wanted.ALPHA: options.alpha, Wanted.BETA: options.beta, Wanted.GAMMA: options.gamma}.get(wanted)
    if wanted is Wanted.GAMMA and question.free:
        note = "leave gamma out, or ask for another one"
        _refuse("E1020", "gamma is free: the claim is about every gamma, and there is none to solve for", note)
    if given is not None:
        _refuse("E1020", f"{wanted} is given, and asked for", f"leave out `--{wanted}`, or ask for another one")
    if question.table is not None and wanted in question.table.columns:
        note = "remove the column, or check the table as it is with `dipc check`"
        _refuse("E1021", f"{wanted} is asked for, but the table has a column `{wanted}`", note)
    return question


def refuse_dependence(question: Question, claim: Claim, on: str, why: str) -> None:
    """Raise DiagnosticError where another part of the claim mentions what is asked for."""
    parts: list[ClaimExpression] = [part for part in (claim.alpha, claim.beta, claim.gamma) if part is not None]
    rows = () if question.table is None else question.table.rows
    parts += [claim.column_beta(text) for text in sorted({row.beta.text for row in rows if row.beta})]
    for part in parts:
        if part.what != on and mentions(part.tree, on):
            raise part.error("E1022", f"{part.what} depends on {on}, which is asked for", part.tree, "", why)


def _refuse(code: str, message: str, *notes: str) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, message, notes=notes))
