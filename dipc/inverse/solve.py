"""Inverse questions: the least eps, alpha, beta or gamma for which a claim holds at all rows of a table."""

from __future__ import annotations

from typing import assert_never

from dipc.algebra.limits import Limits
from dipc.exits.program import Program, within
from dipc.inverse.obligations import obligations_of
from dipc.inverse.requests import Request, checked
from dipc.inverse.solution import DIGITS, Solution, Wanted
from dipc.inverse.solve_alpha import solve_alpha
from dipc.inverse.solve_beta import solve_beta
from dipc.inverse.solve_eps import solve_eps
from dipc.inverse.solve_gamma import solve_gamma
from dipc.sources.check import Progress
from dipc.sources.question import InputSpec, prepared


def solve(
    program: Program,
    table: object = None,
    *,
    wanted: str,
    inputs: InputSpec | None = None,
    beta: object = None,
    alpha: object = None,
    gamma: object = None,
    eps: object = None,
    digits: int = DIGITS,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Solution:
    """The least `wanted`, one of "eps", "alpha", "beta" and "gamma", for which the claim holds at every row and every
    eps; numbers to so many digits. The other parameters are those of `dipc.check`; eps may be one number as well.

    An EpsSolution, AlphaSolution, BetaSolution or GammaSolution. Raises DiagnosticError for a bad table or claim and
    for a question that contradicts itself, and ValueError for another `wanted` and for digits that are not positive.
    """
    if digits < 1:
        raise ValueError(f"digits is at least 1, not {digits}")
    program = within(program, limits)
    what = Wanted(wanted)
    read = prepared(program, table, inputs)
    request = checked(Request(program, read, what, beta, alpha, gamma, eps))
    match what:
        case Wanted.GAMMA:
            return solve_gamma(request, digits)
        case Wanted.ALPHA:
            return solve_alpha(request, digits)
        case Wanted.EPS | Wanted.BETA:
            obligations = obligations_of(
                program,
                read,
                beta="0" if what is Wanted.BETA else beta,
                alpha=alpha,
                gamma=gamma,
                eps=request.eps,
                progress=progress,
            )
            return solve_eps(obligations, digits) if what is Wanted.EPS else solve_beta(obligations, digits)
    assert_never(what)
