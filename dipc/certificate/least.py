"""From a least number to a certificate (see FORMAT.md beside this file): a proof of
the claim with a greater number, and a refutation with a smaller one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dipc.algebra.numbers import magnitude
from dipc.certificate.data import Uncertified, rational, sealed
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify
from dipc.claims.claim import claim_expression
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.inverse.question import EpsSolution, GammaSolution, Question, Solution, Status
from dipc.inverse.tighten import Tightest
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.every_number import EveryNumber
from dipc.questions.privacy.loss import Loss
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer
from dipc.sign.interval import Interval
from dipc.text.printer import print_expression
from dipc.verifier.reading import SCHEMA
from dipc.verifier.reading import Question as About

_ZERO = Fraction(0)

#: How far below a constant of privacy what is refuted is.
_STEP = Fraction(1, 1000)


def certify_factor(tightest: Tightest, tool: str = "dipc") -> str:
    """The certificate of a least factor of beta: it suffices, rounded up, and rounded down it does not. Raises
    Uncertified where it is not known, or there is none."""
    if tightest.factor is None or not tightest.complete:
        raise Uncertified("no factor suffices" if tightest.factor is None else "the least factor is not known")
    question = tightest.claims.question
    if question.table is not None and "beta" in question.table.columns:
        raise Uncertified("rows have a beta of their own, and the factor is of the claim's")
    expression = claim_expression(question.program.core, "beta", question.options.beta)
    assert expression is not None, "it was claimed"
    beta = print_expression(expression.tree)
    low, high = _apart(tightest.factor, tightest.digits)
    return _bracket(
        "factor", question, low, high, lambda factor: {"beta": f"({factor})*({beta})"}, {"beta": beta}, tool
    )


def certify_solution(solution: Solution, tool: str = "dipc") -> str:
    """The certificate of a least gamma, or of a least eps from which on the claim holds. Raises Uncertified where there
    is none, it is not known, or another kind of answer."""
    if solution.status is not Status.SOLVED:
        raise Uncertified(
            f"the least {solution.wanted} is not known" if solution.status is Status.UNDECIDED else solution.remark
        )
    match solution:
        case GammaSolution(value=(_, _) as value):
            if solution.question.table is not None and "gamma" in solution.question.table.columns:
                raise Uncertified("rows have a gamma of their own")
            low, high = _apart(value, solution.digits)
            return _bracket(
                "gamma", solution.question, low, high, lambda gamma: {"gamma": str(gamma)}, {"gamma": None}, tool
            )
        case EpsSolution(from_there_on=True) if solution.at is not None:
            low, high = _apart(solution.at, solution.digits)
            return _of_eps(solution, low, high, tool)
        case EpsSolution():
            raise Uncertified("the eps for which the claim holds are not all from some one on: check it on these")
    raise Uncertified(f"a least {solution.wanted} has none: check the claim with it")


def certify_constant(question: PrivacyQuestion | EveryNumber, constant: Constant | Loss, tool: str = "dipc") -> str:
    """The certificate of a constant of privacy, or of a largest loss at one eps: the program is private with a budget
    that is at least that, and not with one that is less, unless that is not refuted by a certificate; of every number,
    for one of them. Raises Uncertified."""
    low, high = _budgets(constant)
    eps = Interval(constant.eps, constant.eps, True, True) if isinstance(constant, Loss) else constant.eps

    def decided(question: PrivacyQuestion | EveryNumber, budget: Fraction, wanted: PrivacyVerdict) -> dict[str, Any]:
        report = question.decide(read_claim(question.program, f"{budget}*eps", None, eps))
        if report.verdict is not wanted:
            raise Uncertified(f"with the budget {budget}*eps it is {report.verdict}")
        document: dict[str, Any] = json.loads(certify_privacy(question, report, tool))
        return document

    proved, refuted = decided(question, high, PrivacyVerdict.PRIVATE), None
    one = question
    if isinstance(question, EveryNumber):
        assert isinstance(constant, Constant), "it is about every eps"
        assert constant.numbers is not None, "it is about every number"
        assert constant.numbers.at is not None, "one of them is the worst that was looked at"
        one = question.at(constant.numbers.at)
    assert isinstance(one, PrivacyQuestion), "it is about one number"
    if low > 0:
        # A refutation by real outputs is looked for anew, and need not be found next to the constant.
        with suppress(*() if one.finite_outputs else (Uncertified,)):
            refuted = decided(one, low, PrivacyVerdict.NOT_PRIVATE)
    claim = {**proved["claim"], "budget": None}
    return _whole("budget", claim, None if refuted is None else low, high, proved, refuted, tool)


def _budgets(constant: Constant | Loss) -> tuple[Fraction, Fraction]:
    """A multiple of eps that is refuted, unless it is at most 0, and one that is proved."""
    match constant:
        case Constant(proved=Fraction() as proved, refuted_below=refuted):
            return (_ZERO if refuted is None else refuted - _STEP), proved
        case Constant():
            raise Uncertified("no constant is proved")
        case Loss(value=None):
            raise Uncertified("the loss is infinite")
        case Loss(value=(low, high), eps=eps):
            return (low if low < high else low - low / 10**6) / eps, high / eps
    raise AssertionError(constant)


def _of_eps(solution: EpsSolution, low: Fraction, high: Fraction, tool: str) -> str:
    question = solution.question
    whole = question.source().intervals
    proved = _proof(question.asking(eps=_texts(_from(whole, high))), Verdict.ACCURATE, tool)
    refuted = None
    if any(low in interval for interval in whole):
        refuted = _proof(question.asking(eps=_texts([Interval(low, low, True, True)])), Verdict.INACCURATE, tool)
    claim = {**proved["claim"], "eps": [str(interval) for interval in whole]}
    return _whole("eps", claim, None if refuted is None else low, high, proved, refuted, tool)


def _from(intervals: Sequence[Interval], start: Fraction) -> list[Interval]:
    """The part of the intervals from the start on."""
    remaining = []
    for interval in intervals:
        upper = interval.upper
        if upper is not None and (upper < start or (upper == start and not interval.upper_closed)):
            continue
        remaining.append(interval if interval.lower >= start else replace(interval, lower=start, lower_closed=True))
    return remaining


def _texts(intervals: Sequence[Interval]) -> str:
    return ", ".join(map(str, intervals))


def _apart(cell: tuple[Fraction, Fraction], digits: int) -> tuple[Fraction, Fraction]:
    """Two numbers, the number between them; below one that is exact is one by a unit of its last digit."""
    low, high = cell
    return (low - Fraction(10) ** (magnitude(high) - digits) if low == high != 0 else low), high


def _bracket(
    sought: str,
    question: Question,
    low: Fraction,
    high: Fraction,
    put: Any,
    claimed: dict[str, str | None],
    tool: str,
) -> str:
    def proof(number: Fraction, verdict: Verdict) -> dict[str, Any]:
        found = _proof(question.asking(**put(number)), verdict, tool)
        if sought != "factor":
            return found
        # As the claim that is asked about says it.
        claim = {**found["claim"], "beta": f"{number}*({claimed['beta']})"}
        written: dict[str, Any] = json.loads(
            sealed({**{name: part for name, part in found.items() if name != "digest"}, "claim": claim})
        )
        return written

    proved = proof(high, Verdict.ACCURATE)
    refuted = None if high == 0 else proof(low, Verdict.INACCURATE)
    return _whole(sought, {**proved["claim"], **claimed}, None if high == 0 else low, high, proved, refuted, tool)


def _proof(question: Question, verdict: Verdict, tool: str) -> dict[str, Any]:
    """The certificate of the question. Raises Uncertified unless it comes to this verdict, and has one."""
    program = question.program
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    report = answer(replace(question, engine=engine).source(), engine)
    if report.verdict is not verdict:
        raise Uncertified(f"the check of one end is {report.verdict}")
    if report.evidence is None:
        raise Uncertified("a check of this kind has no certificate")
    result: dict[str, Any] = json.loads(certify(report, tool))
    return result


def _whole(
    sought: str,
    claim: dict[str, Any],
    low: Fraction | None,
    high: Fraction,
    proved: dict[str, Any],
    refuted: dict[str, Any] | None,
    tool: str,
) -> str:
    return sealed(
        {
            "schema": SCHEMA,
            "question": About.LEAST.value,
            "tool": tool,
            "sought": sought,
            "claim": claim,
            "enclosed": [None if low is None else rational(low), rational(high)],
            "proved": proved,
            "refuted": refuted,
        }
    )
