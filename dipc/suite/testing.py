"""Claims asked, one by one or several at a time, and what came out against what should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from dipc.algebra.limits import Undecided
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.decide.open_engine import job_count
from dipc.outcome import classes, privacy, rows
from dipc.outcome.outcome import Kind, Outcome
from dipc.outcome.text import render as render_text
from dipc.program.program import Program, load_source, within
from dipc.questions.check import answer
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.claim import read_claim
from dipc.questions.privacy.outcome import PrivacyVerdict
from dipc.questions.question import question_of
from dipc.questions.report import Report
from dipc.questions.source import Source
from dipc.suite.claims import ExpectedClaim
from dipc.text.diagnostic import Diagnostic, DiagnosticError, read_source, render


@dataclass(frozen=True, slots=True)
class Tested:
    """The outcome of one claim: its verdict, None for an error, in one line and as a whole report. `diagnostics` are
    what an error consists of."""

    claim: ExpectedClaim
    verdict: Verdict | PrivacyVerdict | None
    line: str
    text: str
    seconds: float
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def kind(self) -> Kind:
        if self.verdict is None:
            return Kind.ERROR
        if self.verdict == self.claim.expect:
            return Kind.PASSED
        return Kind.UNDECIDED if self.verdict == Verdict.UNDECIDED else Kind.FAILED


def overall(kinds: Iterable[Kind]) -> Kind:
    """The kind of all together: an error before a failure, which comes before an undecided claim."""
    found = set(kinds)
    return next((kind for kind in (Kind.ERROR, Kind.FAILED, Kind.UNDECIDED) if kind in found), Kind.PASSED)


def counted(tested: Sequence[Tested]) -> dict[Kind, int]:
    """How many claims there are of each kind."""
    return {kind: sum(found.kind is kind for found in tested) for kind in Kind}


def asked(claim: ExpectedClaim) -> Source:
    """The question that a claim about accuracy is. Raises DiagnosticError."""
    return question_of(_program(claim), claim.table, claim.options)


def _program(claim: ExpectedClaim) -> Program:
    program = load_source(read_source(claim.program), claim.constants, claim.options.eps)
    return within(program, claim.options.limits)


def report_of(source: Source) -> Report:
    """The question decided. Raises DiagnosticError and Undecided."""
    return answer(source, Engine(source.program.measurer, source.program.limits))


def outcome_of(claim: ExpectedClaim, cache: Path | None) -> Tested:
    """The claim asked, and what came out. What is wrong with its program or its table is the outcome, too."""
    begun = perf_counter()
    try:
        with ExitStack() as stack:
            found = (_privacy if claim.adjacent is not None else _accuracy)(claim, stack, cache)
            text = render_text(found)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        line = f"error[{first.code}]: {first.message}"
        return Tested(claim, None, line, render(error.diagnostics), perf_counter() - begun, error.diagnostics)
    except Undecided as undecided:
        return _open(claim, undecided.reason, perf_counter() - begun)
    return Tested(claim, found.result.verdict, found.line, text, perf_counter() - begun)


def _accuracy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> Outcome:
    source = asked(claim)
    engine = replace(claim.options, cache=cache).engine(stack, source.program)
    report = answer(source, engine)
    if source.table is None:
        return classes.outcome(source, engine, report, claim.asked)
    return rows.outcome(source, engine, report, claim.asked)


def _privacy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> Outcome:
    assert claim.adjacent is not None
    program, options = _program(claim), claim.options
    engine = replace(options, cache=cache).engine(stack, program)
    question = PrivacyQuestion(program, claim.adjacent, options.inputs, engine)
    report = question.decide(read_claim(program, options.budget, options.delta, options.eps))
    constants = tuple((name, str(value)) for name, value in program.core.constants.items())
    statement = privacy.PrivacyStatement(str(claim.program), program.name, constants, claim.asked.definitions)
    return privacy.outcome(question, report, statement)


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
