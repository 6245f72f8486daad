"""Inverse questions: the least eps, alpha, beta or gamma for which a claim holds, whatever it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack, assert_never

from dipc.claims.table import TableGiven
from dipc.inverse.claims import Progress, Stopped, claims_of
from dipc.inverse.question import Question, asked
from dipc.inverse.solution import DIGITS, Solution, Wanted, checked
from dipc.inverse.solve_alpha import solve_alpha
from dipc.inverse.solve_beta import solve_beta
from dipc.inverse.solve_eps import solve_eps
from dipc.inverse.solve_gamma import solve_gamma
from dipc.options import GivenInverse, Options, takes
from dipc.program.program import Program


@takes(GivenInverse, {"digits": DIGITS})
def solve(program: Program, table: TableGiven | None = None, *, wanted: str, **given: Unpack[GivenInverse]) -> Solution:
    """The least `wanted`, one of "eps", "alpha", "beta" and "gamma", for which the claim holds at every case and every
    eps; numbers to so many digits. The other parameters are those of `dipc.check`; eps may be one number as well.

    An EpsSolution, AlphaSolution, BetaSolution or GammaSolution. Raises DiagnosticError for a bad table or claim and
    for a question that contradicts itself, ValueError for another `wanted` and for digits that are not positive, and
    Stopped, with what was known, on Ctrl-C.
    """
    if wanted not in [*Wanted]:
        raise ValueError(f"what is wanted is one of {', '.join(Wanted)}, not {wanted!r}")
    options = Options(**given)
    found = solved(asked(program, table, options), Wanted(wanted), options.digits or DIGITS, options.progress)
    if found.interrupted:
        raise Stopped(found)
    return found


def solved(question: Question, wanted: Wanted, digits: int = DIGITS, progress: Progress | None = None) -> Solution:
    """`solve` for a question that is known; on Ctrl-C what was known then, `interrupted`."""
    question = checked(question, wanted)
    match wanted:
        case Wanted.GAMMA:
            return solve_gamma(question, question.asking(gamma=0).claim(), digits)
        case Wanted.ALPHA:
            known = question.asking(alpha=0)
            claim = None if question.table is None else known.claim()
            found: Solution = solve_alpha(question, claim, digits, progress)
            return replace(found, warnings=(known if claim is not None else question).source().warnings)
        case Wanted.EPS:
            claims = claims_of(question, progress)
            return replace(solve_eps(claims, digits), warnings=claims.warnings)
        case Wanted.BETA:
            claims = claims_of(question.asking(beta="0"), progress)
            return replace(solve_beta(claims, digits), warnings=claims.warnings)
    assert_never(wanted)
