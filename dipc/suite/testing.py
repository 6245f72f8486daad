"""Claims asked, one by one or several at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from dipc.algebra.limits import Limits, Undecided
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.render import render
from dipc.exits.load import load_source
from dipc.exits.program import Program
from dipc.obligations.engine import Engine
from dipc.obligations.open_engine import job_count, open_engine
from dipc.obligations.verdict import Verdict
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.claim import read_claim
from dipc.privacy.outcome import PrivacyVerdict
from dipc.report.answered import Answered
from dipc.report.page import Look
from dipc.report.privacy import PrivacyStatement, privacy_line, render_privacy
from dipc.sources.check import answer
from dipc.sources.question import question
from dipc.sources.source import Source
from dipc.suite.claims_file import ExpectedClaim
from dipc.suite.tested import Tested


def asked(claim: ExpectedClaim) -> Source:
    """The question that the claim is. Raises DiagnosticError."""
    program = _program(claim)
    parts: Mapping[str, Any] = claim.parts
    return question(program, claim.table, inputs=claim.inputs or None, for_all=claim.for_all, **parts)


def _program(claim: ExpectedClaim) -> Program:
    limits = replace(Limits(), **claim.limits)
    return load_source(read_source(claim.program), claim.constants, claim.parts["eps"]).with_limits(limits)


def answered(claim: ExpectedClaim, source: Source, engine: Engine) -> Answered:
    """The question decided, with its words. Raises DiagnosticError and Undecided."""
    return Answered(source, engine, answer(source, engine), claim.asked)


def outcome_of(claim: ExpectedClaim, cache: Path | None) -> Tested:
    """The claim asked, and what came out. What is wrong with its program or its table is the outcome, too."""
    begun = perf_counter()
    try:
        with ExitStack() as stack:
            line, text, verdict = (_privacy if claim.adjacent is not None else _accuracy)(claim, stack, cache)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        line = f"error[{first.code}]: {first.message}"
        return Tested(claim, None, line, render(error.diagnostics), perf_counter() - begun, error.diagnostics)
    except Undecided as undecided:
        return _open(claim, undecided.reason, perf_counter() - begun)
    return Tested(claim, verdict, line, text, perf_counter() - begun)


def _accuracy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> tuple[str, str, Verdict]:
    source = asked(claim)
    engine = open_engine(stack, source.program.measurer, source.program.limits, cache=cache)
    found = answered(claim, source, engine)
    return found.line(), found.page(), found.report.verdict


def _privacy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> tuple[str, str, PrivacyVerdict]:
    assert claim.adjacent is not None
    program = _program(claim)
    engine = open_engine(stack, program.measurer, program.limits, cache=cache)
    question = PrivacyQuestion(program, claim.adjacent, claim.inputs or None, engine)
    report = question.decide(read_claim(program, *(claim.parts[name] for name in ("budget", "delta", "eps"))))
    constants = tuple((name, str(value)) for name, value in program.core.constants.items())
    given = tuple(f"{name}={value}" for name, value in claim.constants.items())
    statement = PrivacyStatement(str(claim.program), program.name, constants, given)
    return privacy_line(report), render_privacy(report, statement, Look()), report.verdict


def _open(claim: ExpectedClaim, reason: str, seconds: float = 0.0) -> Tested:
    line = f"UNDECIDED: {reason}"
    return Tested(claim, Verdict.UNDECIDED, line, line + "\n", seconds)


def run_claims(claims: Sequence[ExpectedClaim], *, jobs: int | str = 1, cache: Path | None = None) -> Iterator[Tested]:
    """The outcomes of the claims in order, each as soon as it and those before it are known; `jobs` claims at a time,
    each in a process. None of the options changes an outcome."""
    ask = partial(outcome_of, cache=cache)
    processes = min(job_count(jobs), len(claims))
    if processes <= 1:
        yield from map(ask, claims)
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        waiting = [(claim, pool.submit(ask, claim)) for claim in claims]
        for claim, future in waiting:
            yield _outcome(claim, future)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(claim: ExpectedClaim, future: Future[Tested]) -> Tested:
    try:
        return future.result()
    except BrokenProcessPool:
        return _open(
            claim,
            "a process ended before its time, perhaps for want of memory; with fewer at a time, `-j`, there is more",
        )
