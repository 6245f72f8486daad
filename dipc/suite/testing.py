"""Claims asked, one by one or several at a time, and what came out against what should.

The outcome is that of files of claims, or of the programs of a directory.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.options import job_count
from dipc.outcome import classes, privacy, rows
from dipc.outcome.outcome import GAP, Case, Fields, Kind, Line, Outcome, Part, Standing, Tone, Verbatim
from dipc.outcome.text import render as render_text
from dipc.outcome.words import count
from dipc.program.program import Program, load_source, source_at, within
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer, question_of
from dipc.questions.report import Report
from dipc.questions.source import Source
from dipc.suite.claims import ExpectedClaim
from dipc.text.diagnostic import Diagnostic, DiagnosticError, render


@frozen
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
    kinds_met = set(kinds)
    return next((kind for kind in (Kind.ERROR, Kind.FAILED, Kind.UNDECIDED) if kind in kinds_met), Kind.PASSED)


def counted(tested: Sequence[Tested]) -> dict[Kind, int]:
    """How many claims there are of each kind."""
    return {kind: sum(tested.kind is kind for tested in tested) for kind in Kind}


def asked(claim: ExpectedClaim) -> Source:
    """The question that a claim about accuracy is. Raises DiagnosticError."""
    return question_of(_program(claim), claim.table, claim.options)


def _program(claim: ExpectedClaim) -> Program:
    program = load_source(source_at(claim.program), claim.constants, claim.options.eps)
    return within(program, claim.options.limits)


def report_of(source: Source) -> Report:
    """The question decided. Raises DiagnosticError and Undecided."""
    return answer(source, Engine(source.program.measurer, source.program.limits))


def outcome_of(claim: ExpectedClaim, cache: Path | None) -> Tested:
    """The claim asked, and what came out. What is wrong with its program or its table is the outcome, too."""
    begun = perf_counter()
    try:
        with ExitStack() as stack:
            outcome_ = (_privacy if claim.adjacent is not None else _accuracy)(claim, stack, cache)
            text = render_text(outcome_)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        line = f"error[{first.code}]: {first.message}"
        return Tested(claim, None, line, render(error.diagnostics), perf_counter() - begun, error.diagnostics)
    except Undecided as undecided:
        return _open(claim, undecided.reason, perf_counter() - begun)
    return Tested(claim, outcome_.result.verdict, outcome_.line, text, perf_counter() - begun)


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


SCHEMA = "dipc.test/1"
DIRECTORY_SCHEMA = "dipc.check-directory/1"

_WORDS = {Kind.PASSED: "ok", Kind.FAILED: "FAILED", Kind.UNDECIDED: "UNDECIDED", Kind.ERROR: "ERROR"}

#: What is said of a program's own claim, which is expected to be accurate.
_VERDICTS = {
    Kind.PASSED: "accurate",
    Kind.FAILED: "INACCURATE",
    Kind.UNDECIDED: "UNDECIDED",
    Kind.ERROR: "ERROR",
}

_STANDINGS = {
    Kind.PASSED: Standing.HOLDS,
    Kind.FAILED: Standing.FAILS,
    Kind.UNDECIDED: Standing.OPEN,
    Kind.ERROR: Standing.BAD_INPUT,
}


def outcome(tested: Sequence[Tested]) -> Outcome:
    """What came out of the claims of files, against what should."""
    whole = overall(tested.kind for tested in tested)
    return Outcome(
        program="",
        line=verdict_line(tested),
        standing=_STANDINGS[whole],
        tone=_STANDINGS[whole].tone,
        parts=lambda: _parts(tested),
        record=lambda: {
            "schema": SCHEMA,
            "verdict": str(whole),
            "counts": {str(kind): number for kind, number in counted(tested).items()},
            "claims": [_record(tested) for tested in tested],
        },
        cases=tuple(map(_case, tested)),
    )


def directory_outcome(tested: Sequence[Tested]) -> Outcome:
    """What came out of the programs of a directory, each with its own claim."""
    whole = overall(tested.kind for tested in tested)
    return Outcome(
        program="",
        line=_directory_line(tested),
        standing=_STANDINGS[whole],
        tone=_STANDINGS[whole].tone,
        parts=lambda: _directory_parts(tested),
        record=lambda: {
            "schema": DIRECTORY_SCHEMA,
            "verdict": _VERDICTS[whole].lower(),
            "programs": [_directory_record(tested) for tested in tested],
        },
        cases=tuple(map(_case, tested)),
    )


def _case(tested: Tested) -> Case:
    return Case(
        name=tested.claim.name,
        place=tested.claim.place,
        kind=tested.kind,
        expected=str(tested.claim.expect),
        line=tested.line,
        text=tested.text,
        replay=shlex.join(tested.claim.command()),
        seconds=tested.seconds,
        diagnostics=tested.diagnostics,
    )


def verdict_line(tested: Sequence[Tested]) -> str:
    """The whole result in one line."""
    numbers = counted(tested)
    said = {Kind.FAILED: "otherwise", Kind.UNDECIDED: "undecided", Kind.ERROR: "could not be asked"}
    parts = [f"{numbers[kind]} {word}" for kind, word in said.items() if numbers[kind]]
    claims = count(len(tested), "claim")
    if not parts:
        return f"passed: {claims}, {'all ' if len(tested) > 1 else ''}as expected"
    whole = _WORDS[overall(tested.kind for tested in tested)]
    return f"{whole}: {claims}, {numbers[Kind.PASSED]} as expected, {', '.join(parts)}"


def _parts(tested: Sequence[Tested]) -> Iterator[Part]:
    """A line for each claim, and below those that did not come out as they should the whole report."""
    width = max(len(word) for word in _WORDS.values())
    for file, group in groupby(tested, key=lambda tested: tested.claim.place.file):
        yield GAP
        yield Line(file, Tone.HEAD)
        for result in group:
            passed = result.kind is Kind.PASSED
            text = f"{_WORDS[result.kind].ljust(width)} {result.claim.name}: {result.line}"
            yield Line(text, None if passed else _STANDINGS[result.kind].tone, indent=2)
            if not passed:
                yield GAP
                yield Verbatim(f"      {line}".rstrip() for line in _case(result).lines())
                yield GAP


def _record(tested: Tested) -> dict[str, object]:
    claim = tested.claim
    return {
        "name": claim.name,
        "file": claim.place.file,
        "line": claim.place.line,
        "expect": str(claim.expect),
        "verdict": None if tested.verdict is None else str(tested.verdict),
        "status": str(tested.kind),
        "summary": tested.line,
        "replay": shlex.join(claim.command()),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in tested.diagnostics],
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, object]:
    place = diagnostic.excerpt
    at = {} if place is None else {"file": place.file, "line": place.line, "column": place.column}
    return {"code": diagnostic.code, "message": diagnostic.message, **at, "notes": list(diagnostic.notes)}


def _directory_line(tested: Sequence[Tested]) -> str:
    whole, numbers = overall(tested.kind for tested in tested), counted(tested)
    if whole is Kind.PASSED:
        return f"accurate: {'all ' if len(tested) > 1 else ''}{count(len(tested), 'program')}"
    said = {Kind.FAILED: "inaccurate", Kind.UNDECIDED: "undecided", Kind.ERROR: "could not be asked"}
    parts = [f"{numbers[each]} {word}" for each, word in said.items() if numbers[each]]
    return f"{_VERDICTS[whole]}: {count(len(tested), 'program')}, {', '.join(parts)}"


def _directory_parts(tested: Sequence[Tested]) -> Iterator[Part]:
    """A line for each program, and below the whole report of those that are not accurate."""
    yield GAP
    yield Fields((tested.claim.name, tested.line) for tested in tested)
    for result in tested:
        if result.kind is not Kind.PASSED:
            yield GAP
            yield Line(result.claim.name, _STANDINGS[result.kind].tone)
            yield Verbatim(f"  {each}".rstrip() for each in result.text.splitlines())


def _directory_record(tested: Tested) -> dict[str, Any]:
    verdict = None if tested.verdict is None else str(tested.verdict)
    return {"program": str(tested.claim.program), "verdict": verdict, "line": tested.line}
