"""Files of claims: TOML with a table `[[claim]]` for each claim and its expected verdict."""

from __future__ import annotations

import re
import shlex
import tomllib
from ast import Call
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import asdict, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from dipc.algebra.limits import LIMIT_NAMES, Limits, Undecided
from dipc.algebra.numbers import NotExact, parse_rational
from dipc.algebra.record import json_object, json_value
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.mechanisms.module import decorator_name, parsed
from dipc.options import Options, job_count
from dipc.outcome import classes, privacy, rows
from dipc.outcome.outcome import ExitStatus, Line, Outcome, ReportBlock, Tone, Verbatim, section
from dipc.outcome.outcome import render as render_text
from dipc.outcome.words import UserQuestion, count, every_one
from dipc.program.program import SEPARATOR, Program, as_program, load_source, source_at
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer, question_of
from dipc.questions.report import Report
from dipc.questions.source import Source as Question
from dipc.text.diagnostic import (
    Diagnostic,
    DiagnosticError,
    Excerpt,
    SourceText,
    Span,
    bad_input,
    did_you_mean,
    listing,
    read_source,
    render,
)

#: The ending of files that `dipc test` and pytest find in directories.
ENDING = ".dipc.toml"

#: The keys of a claim. The parts of `check`'s own claim are texts or numbers.
_CLAIM_PARTS = ("alpha", "beta", "gamma", "eps")
_SHARED = ("name", "program", "inputs", "constants", "limits", "expect")
_KEYS = (*_SHARED, "table", "for_all", *_CLAIM_PARTS)

#: The parts and keys of a claim about privacy, which has the key `adjacent`.
_PRIVACY_PARTS = ("budget", "delta", "eps")
_PRIVACY_KEYS = (*_SHARED, "adjacent", *_PRIVACY_PARTS)

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*claim[ \t]*\]\]", re.MULTILINE)
_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


@frozen
class ExpectedClaim:
    """A claim with its expected verdict.

    `place` is the place of the claim in its file; all paths are relative to the working directory. A claim with
    `adjacent` is about privacy, and has no table. `constants` are set in the program, and `options` state the claim.
    """

    name: str
    place: Excerpt
    program: Path
    table: Path | None = None
    adjacent: str | None = None
    constants: Mapping[str, Fraction] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    expect: Verdict | PrivacyVerdict = Verdict.ACCURATE

    def command(self) -> tuple[str, ...]:
        """Return the words of the command line that asks whether the claim holds."""
        if self.adjacent is None:
            return self.user_question.command()
        return self.user_question.command("privacy", "--adjacent", self.adjacent)

    @property
    def user_question(self) -> UserQuestion:
        """The claim as a question, with paths and options as a user would type them."""
        definitions = tuple(f"{name}={value}" for name, value in self.constants.items())
        default = asdict(Limits())
        chosen = {} if self.options.limits is None else asdict(self.options.limits)
        limits = tuple(f"{name}={limit}" for name, limit in chosen.items() if limit != default[name])
        return UserQuestion(self.program, self.options, self.table, definitions, limits)


def claims_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files among `paths`, and the files of claims below each directory among them, in order.

    Raises DiagnosticError for a directory without files of claims.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(path.rglob(f"*{ENDING}"))
        if not files:
            note = f"in a directory only files that end with {ENDING} are read; name other files one by one"
            raise bad_input("E1501", f"there are no claims in the directory `{path}`", note)
        yield from files


def read_claims(path: Path) -> tuple[ExpectedClaim, ...]:
    """Return the claims of the file `path`, at least one, in order; paths in the file are relative to it.

    The claims of a Python file are those of its mechanisms, which are expected to be accurate. Raises DiagnosticError
    with all mistakes in the file.
    """
    if path.suffix == ".py":
        return _of_mechanisms(path)
    source = read_source(path, "a file of claims, for example claims.toml")
    try:
        # Numbers are read from their digits: 0.25 is a quarter.
        document = tomllib.loads(source.text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise DiagnosticError(_no_toml(source, str(error))) from None
    claims = document.get("claim")
    if not isinstance(claims, list) or not claims or not all(isinstance(claim, dict) for claim in claims):
        note = 'write for each claim a table [[claim]] with `program = "sparse.dip"` and `table = "table.csv"`'
        raise bad_input("E1501", f"there are no claims in `{path}`", note)
    starts = [match.start() for match in _HEADER.finditer(source.text)]
    if len(starts) != len(claims):  # an array written inline: no places of its own
        starts = [0] * len(claims)
    ends = [*starts[1:], len(source.text)]
    stray = [name for name in document if name != "claim"]
    mistakes = [_unknown(source, Span(0, len(source.text)), name, ("claim",)) for name in stray]
    result: list[ExpectedClaim] = []
    for number, (claim, start, end) in enumerate(zip(claims, starts, ends, strict=True), 1):
        reader = _ClaimReader(source, claim, number, Span(start, max(end, start + 1)), mistakes)
        expected_claim = reader.read()
        if expected_claim is not None:
            result.append(expected_claim)
    if mistakes:
        raise DiagnosticError(*mistakes)
    return tuple(result)


def _of_mechanisms(path: Path) -> tuple[ExpectedClaim, ...]:
    """Return a claim for each mechanism of the Python file `path` that makes one.

    The claim is about the inputs that the mechanism names, or about all. The file is parsed, not executed.
    """
    module = parsed(read_source(path, "a Python file with mechanisms"))
    claims = []
    for function in module.functions.values():
        keywords = [
            keyword
            for decorator in function.decorator_list
            if decorator_name(module, decorator) == "dipc.mechanism" and isinstance(decorator, Call)
            for keyword in decorator.keywords
            if keyword.arg == "claim"
        ]
        if keywords:
            program = Path(f"{path}{SEPARATOR}{function.name}")
            place = module.source.excerpt(module.span(keywords[0].value))
            claims.append(ExpectedClaim(function.name, place, program, options=Options(inputs=_all_of(program))))
    if not claims:
        note = 'write a claim as `@dipc.mechanism(claim=dict(alpha="dd", beta="…"))`'
        raise bad_input("E1501", f"no mechanism in `{path}` makes a claim", note)
    return tuple(claims)


def _all_of(program: Path) -> tuple[str, ...] | None:
    """Return ("all",) if the claim of `program` has to be about all inputs, and otherwise None.

    It has to be if some input is real or int, and if the program does not list the inputs of its claim. The result is
    also None if the program cannot be read.
    """
    try:
        core = load_source(source_at(program), {}).core
    except DiagnosticError:
        return None  # the test reports the error
    infinite = any(slot.is_symbolic for slot in core.input_slots)
    return ("all",) if infinite and core.claimed_inputs is None else None


@frozen
class _ClaimReader:
    """A reader of one claim in a file, which adds the mistakes that it finds to `mistakes`.

    `claim` has the keys and values of the claim, `number` counts the claims of the file from 1, and `span` is the part
    of `source` with the claim.
    """

    source: SourceText
    claim: Mapping[str, object]
    number: int
    span: Span
    mistakes: list[Diagnostic]

    def read(self) -> ExpectedClaim | None:
        before = len(self.mistakes)
        private = "adjacent" in self.claim
        known = _PRIVACY_KEYS if private else _KEYS
        self.mistakes.extend(_unknown(self.source, self.span, name, known) for name in self.claim if name not in known)
        program = self._text("program")
        if "program" not in self.claim:
            note = 'write `program = "sparse.dip"`, a path that begins at this file'
            self._mistake("program", "the claim names no program", note, code="E1503")
        verdicts: list[Verdict | PrivacyVerdict] = [*PrivacyVerdict] if private else [*Verdict]
        expect = self._text("expect") or str(verdicts[0])
        if expect not in verdicts:
            self._mistake("expect", f"`{expect}` is not a verdict", f"the verdicts are {listing(verdicts)}")
        table = self._text("table")
        adjacent = self._text("adjacent")
        if adjacent is not None and adjacent.strip().endswith(".csv"):
            adjacent = str(self._path(adjacent.strip()))
        claim = {
            "name": self._text("name") or f"claim {self.number}",
            "place": _excerpt(self.source, self.span, None),
            "program": self._path(program or ""),
            "table": None if table is None else self._path(table),
            "adjacent": adjacent,
            "constants": self._constants(),
        }
        options = {
            "inputs": self._inputs() or None,
            "for_all": self._text("for_all"),
            **{key: self._text(key) for key in (_PRIVACY_PARTS if private else _CLAIM_PARTS)},
            "limits": replace(Limits(), **self._limits()),
        }
        if len(self.mistakes) > before:
            return None
        wanted = next(verdict for verdict in verdicts if verdict == expect)
        return ExpectedClaim(**claim, options=Options(**options), expect=wanted)  # type: ignore[arg-type]  # each has its field's type

    def _mistake(self, key: str, message: str, *notes: str, code: str = "E1504") -> None:
        self.mistakes.append(Diagnostic(code, message, _excerpt(self.source, self.span, key), notes=notes))

    def _path(self, text: str) -> Path:
        return Path(self.source.name).parent / text

    def _text(self, key: str) -> str | None:
        value = self.claim.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self._mistake(key, f"`{key}` is neither a text nor a number", f'write for example {key} = "…"')
        return None

    def _inputs(self) -> tuple[str, ...]:
        value = self.claim.get("inputs")
        if value is None:
            return ()
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            self._mistake("inputs", "`inputs` is neither a text nor a list of texts", 'write inputs = "q = -1..1"')
            return ()
        return tuple(str(text) for text in texts)

    def _constants(self) -> dict[str, Fraction]:
        result, note = {}, "write constants = { m = 3 }"
        for name, value in self._table("constants", "{ m = 3 }").items():
            if isinstance(value, bool) or not isinstance(value, int | str):
                self._mistake("constants", f"the value of `{name}` is not a number", note)
                continue
            try:
                result[name] = parse_rational(str(value).strip())
            except NotExact as error:
                self._mistake("constants", f"`{value}` {error.reason}", note)
        return result

    def _limits(self) -> dict[str, int]:
        result = {}
        for name, value in self._table("limits", "{ states = 100000 }").items():
            if name not in LIMIT_NAMES:
                close = did_you_mean(name, LIMIT_NAMES)[:1] or [f"the limits are {listing(LIMIT_NAMES, 30)}"]
                self._mistake("limits", f"there is no limit `{name}`", *close)
            elif isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                self._mistake("limits", f"the limit `{name}` is a natural number", f"write {name} = 100000")
            else:
                result[name] = value
        return result

    def _table(self, key: str, example: str) -> Mapping[str, object]:
        value = self.claim.get(key, {})
        if isinstance(value, dict):
            return value
        self._mistake(key, f"`{key}` is not a table", f"write {key} = {example}")
        return {}


def _unknown(source: SourceText, span: Span, name: str, known: Sequence[str]) -> Diagnostic:
    notes = did_you_mean(name, known)
    notes.append(f"the keys are {listing(known, 30)}")
    return Diagnostic("E1502", f"`{name}` is not a known key", _excerpt(source, span, name), notes=tuple(notes))


def _excerpt(source: SourceText, span: Span, key: str | None) -> Excerpt:
    """Return the line that begins with `key` in the claim at `span` of `source`.

    The result is the first line of the claim if `key` is None or is not found.
    """
    if key is not None:
        matched = re.compile(rf"^[ \t]*\"?{re.escape(key)}\b.*$", re.MULTILINE).search(
            source.text, span.start, span.end
        )
        if matched is not None:
            lead = len(matched[0]) - len(matched[0].lstrip())
            return source.excerpt(Span(matched.start() + lead, matched.end()))
    line_end = source.text.find("\n", span.start)
    end = len(source.text) if line_end < 0 else line_end
    lead = len(source.text[span.start : end]) - len(source.text[span.start : end].lstrip())
    return source.excerpt(Span(span.start + lead, end))


def _no_toml(source: SourceText, message: str) -> Diagnostic:
    match = _POSITION.search(message)
    text = (message[: match.start()] if match else message).strip().rstrip(".")
    position = len(source.text)
    if match is not None and match[1] is not None:
        lines = source.text.split("\n")
        position = sum(len(line) + 1 for line in lines[: int(match[1]) - 1]) + int(match[2]) - 1
    position = min(position, max(0, len(source.text) - 1))
    note = "put texts in quotes, and write a backslash in them twice"
    return Diagnostic(
        "E1505",
        f"this is not TOML: {text[:1].lower() + text[1:]}",
        source.excerpt(Span(position, position + 1)),
        notes=(note,),
    )


# --- the programs of a directory -------------------------------------------------------------------


def claims_below(directory: Path, constants: Mapping[str, Fraction], options: Options) -> list[ExpectedClaim]:
    """Return a claim for each program below `directory` that states a claim, or that cannot be read.

    The programs have these `constants`, and the claims these `options`. If the options have a `beta`, every program
    gets a claim. If the options name inputs, the claims are about those inputs. Otherwise a claim is about the rows of
    the program's table, the CSV file beside it with the same name, or about all inputs if it has no table. Raises
    DiagnosticError if there is no claim.
    """
    claims = []
    for path in sorted(directory.rglob("*.dip")):
        with suppress(DiagnosticError):  # the test reports the error
            if options.beta is None and load_source(read_source(path), {}).core.claim is None:
                continue
        table = path.with_suffix(".csv")
        beside = table if table.is_file() and options.inputs is None else None
        place = read_source(path).excerpt(Span(0, 1))
        name = str(path.relative_to(directory))
        claims.append(ExpectedClaim(name, place, path, beside, None, constants, options))
    if not claims:
        note = "write a block claim { beta: … } in a program that ends with .dip, or give --beta"
        raise bad_input("E1501", f"there are no claims in the directory `{directory}`", note)
    return claims


# --- The results of tested claims -------------------------------------------------------------------------------------


class SuiteResult(StrEnum):
    """The result of testing one claim, or all claims.

    PASSED and FAILED say whether the verdict is the expected one. UNDECIDED means that a verdict was expected and there
    was none, ERROR that the claim could not be read or asked.
    """

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    ERROR = "error"


@frozen
class ClaimResult:
    """The result of testing one claim.

    `verdict` is None for an error; `diagnostics` are then the mistakes. `line` is the result in one line, `text` the
    whole report, and `seconds` the time that was needed.
    """

    claim: ExpectedClaim
    verdict: Verdict | PrivacyVerdict | None
    line: str
    text: str
    seconds: float
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def replay(self) -> str:
        """The command that checks the claim again."""
        return shlex.join(self.claim.command())

    @property
    def kind(self) -> SuiteResult:
        if self.verdict is None:
            return SuiteResult.ERROR
        if self.verdict == self.claim.expect:
            return SuiteResult.PASSED
        return SuiteResult.UNDECIDED if self.verdict == Verdict.UNDECIDED else SuiteResult.FAILED

    @property
    def report(self) -> list[str]:
        """The lines of the report about a claim with an unexpected result."""
        text = [line.rstrip() for line in self.text.rstrip().splitlines()]
        return [f"expected {self.claim.expect}", "", *text, "", f"replay: {self.replay}"]


def overall(kinds: Iterable[SuiteResult]) -> SuiteResult:
    """Return the result of a whole suite, the worst of `kinds`: ERROR, then FAILED, then UNDECIDED, then PASSED."""
    kinds_met = set(kinds)
    return next(
        (kind for kind in (SuiteResult.ERROR, SuiteResult.FAILED, SuiteResult.UNDECIDED) if kind in kinds_met),
        SuiteResult.PASSED,
    )


def counted(tested: Sequence[ClaimResult]) -> dict[SuiteResult, int]:
    """Return the number of claims of each kind in `tested`."""
    return {kind: sum(tested.kind is kind for tested in tested) for kind in SuiteResult}


def question_for(claim: ExpectedClaim) -> Question:
    """Return the question of `claim`, which must be about accuracy. Raises DiagnosticError if it cannot be read."""
    return question_of(_program(claim), claim.table, claim.options)


def _program(claim: ExpectedClaim) -> Program:
    program = load_source(source_at(claim.program), claim.constants, claim.options.eps)
    return as_program(program, claim.options.limits)


def report_of(source: Question) -> Report:
    """Decide the question `source` and return its report.

    Raises DiagnosticError for a mistake in the question, and Undecided if the question as a whole stays undecided.
    """
    return answer(source, Engine(source.program.measurer, source.program.limits))


def outcome_of(claim: ExpectedClaim, cache: Path | None) -> ClaimResult:
    """Decide `claim` and return its result; `cache` is a file that keeps decisions, or None.

    A mistake in the program or the table is a result, too.
    """
    begun = perf_counter()
    try:
        with ExitStack() as stack:
            outcome_ = (_privacy if claim.adjacent is not None else _accuracy)(claim, stack, cache)
            text = render_text(outcome_)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        line = f"error[{first.code}]: {first.message}"
        return ClaimResult(claim, None, line, render(error.diagnostics), perf_counter() - begun, error.diagnostics)
    except Undecided as undecided:
        return _open(claim, undecided.reason, perf_counter() - begun)
    return ClaimResult(claim, outcome_.result.verdict, outcome_.line, text, perf_counter() - begun)


def _accuracy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> Outcome:
    source = question_for(claim)
    engine = replace(claim.options, cache=cache).engine(stack, source.program)
    report = answer(source, engine)
    if source.table is None:
        return classes.outcome(source, engine, report, claim.user_question)
    return rows.outcome(source, engine, report, claim.user_question)


def _privacy(claim: ExpectedClaim, stack: ExitStack, cache: Path | None) -> Outcome:
    assert claim.adjacent is not None
    program, options = _program(claim), claim.options
    engine = replace(options, cache=cache).engine(stack, program)
    question = PrivacyQuestion(program, claim.adjacent, options.inputs, engine)
    asked = read_claim(program, options.budget, options.delta, options.eps, enclosed=True)
    report = question.decide(asked)
    constants = tuple((name, str(value)) for name, value in program.core.constants.items())
    statement = privacy.PrivacyStatement(str(claim.program), program.name, constants, claim.user_question.definitions)
    return privacy.outcome(question, report, statement)


def _open(claim: ExpectedClaim, reason: str, seconds: float = 0.0) -> ClaimResult:
    line = f"UNDECIDED: {reason}"
    return ClaimResult(claim, Verdict.UNDECIDED, line, line + "\n", seconds)


def run_claims(
    claims: Sequence[ExpectedClaim], *, jobs: int | str = 1, cache: Path | None = None
) -> Iterator[ClaimResult]:
    """Yield the results of `claims` in order, each as soon as it and all earlier results are known.

    At most `jobs` claims are decided at a time, each in a process of its own. `cache` is a file that keeps decisions,
    or None. No result depends on `jobs` or `cache`.
    """
    ask = partial(outcome_of, cache=cache)
    processes = min(job_count(jobs), len(claims))
    if processes <= 1:
        yield from map(ask, claims)
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        waiting = [(claim, pool.submit(ask, claim)) for claim in claims]
        for claim, future in waiting:
            try:
                result = future.result()
            except BrokenProcessPool:
                why = "a process was killed, perhaps for lack of memory: run fewer at a time with `-j`"
                result = _open(claim, why)
            yield result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


SCHEMA = "dipc.test/1"
DIRECTORY_SCHEMA = "dipc.check-directory/1"

_WORDS = {
    SuiteResult.PASSED: "ok",
    SuiteResult.FAILED: "FAILED",
    SuiteResult.UNDECIDED: "UNDECIDED",
    SuiteResult.ERROR: "ERROR",
}

#: The JSON fields of a tested claim, with its place and its diagnostics.
_CLAIM = (
    "name=claim.name file=claim.place.file line=claim.place.line expect=claim.expect verdict status=kind summary=line "
    "replay diagnostics=diagnostics(code message file=excerpt.file? line=excerpt.line? column=excerpt.column? notes)"
)

#: The words for the result of a program's own claim, which is expected to be accurate.
_VERDICTS = {
    SuiteResult.PASSED: "accurate",
    SuiteResult.FAILED: "INACCURATE",
    SuiteResult.UNDECIDED: "UNDECIDED",
    SuiteResult.ERROR: "ERROR",
}

_STANDINGS = {
    SuiteResult.PASSED: ExitStatus.HOLDS,
    SuiteResult.FAILED: ExitStatus.FAILS,
    SuiteResult.UNDECIDED: ExitStatus.OPEN,
    SuiteResult.ERROR: ExitStatus.BAD_INPUT,
}


def outcome(tested: Sequence[ClaimResult]) -> Outcome:
    """Return what `dipc test` says about files of claims, with the results `tested`."""
    record = {
        "schema": SCHEMA,
        "verdict": str(_suite_result(tested)),
        "counts": json_value(counted(tested)),
        "claims": [json_object(each, _CLAIM) for each in tested],
    }
    return _suite_outcome(tested, verdict_line(tested), _claim_parts, record)


def directory_outcome(tested: Sequence[ClaimResult]) -> Outcome:
    """Return what `dipc check DIRECTORY` says about the programs of a directory, with the results `tested`."""
    whole, programs = _suite_result(tested), count(len(tested), "program")
    line = f"accurate: {every_one(len(tested), 'program')}"
    if whole is not SuiteResult.PASSED:
        line = f"{_VERDICTS[whole]}: {programs}, {', '.join(_unexpected(tested, 'inaccurate'))}"
    record = {
        "schema": DIRECTORY_SCHEMA,
        "verdict": _VERDICTS[whole].lower(),
        "programs": [json_object(each, "program=claim.program verdict line") for each in tested],
    }
    return _suite_outcome(tested, line, _directory_parts, record)


def _suite_outcome(
    tested: Sequence[ClaimResult],
    line: str,
    parts: Callable[[Sequence[ClaimResult]], Iterator[ReportBlock]],
    record: Mapping[str, object],
) -> Outcome:
    standing = _STANDINGS[_suite_result(tested)]
    return Outcome(
        program="",
        line=line,
        standing=standing,
        tone=standing.tone,
        parts=lambda: parts(tested),
        record=lambda: record,
        cases=tuple(tested),
    )


def _suite_result(tested: Sequence[ClaimResult]) -> SuiteResult:
    return overall(result.kind for result in tested)


def _unexpected(tested: Sequence[ClaimResult], failed: str) -> list[str]:
    """Return strings such as "2 undecided", one for each kind of unexpected result among `tested`.

    `failed` is the word for claims whose verdict is not the expected one.
    """
    words = {SuiteResult.FAILED: failed, SuiteResult.UNDECIDED: "undecided", SuiteResult.ERROR: "could not be asked"}
    numbers = counted(tested)
    return [f"{numbers[kind]} {word}" for kind, word in words.items() if numbers[kind]]


def verdict_line(tested: Sequence[ClaimResult]) -> str:
    """Return the whole result of `tested` in one line."""
    claims, unexpected = count(len(tested), "claim"), _unexpected(tested, "otherwise")
    if not unexpected:
        return f"passed: {claims}, {'all ' if len(tested) > 1 else ''}as expected"
    passed = counted(tested)[SuiteResult.PASSED]
    return f"{_WORDS[_suite_result(tested)]}: {claims}, {passed} as expected, {', '.join(unexpected)}"


def _claim_parts(tested: Sequence[ClaimResult]) -> Iterator[ReportBlock]:
    width = max(len(word) for word in _WORDS.values())
    for file, group in groupby(tested, key=lambda tested: tested.claim.place.file):
        yield [Line(file, Tone.HEAD)]
        for result in group:
            passed = result.kind is SuiteResult.PASSED
            text = f"{_WORDS[result.kind].ljust(width)} {result.claim.name}: {result.line}"
            yield Line(text, None if passed else _STANDINGS[result.kind].tone, indent=2)
            if not passed:
                yield [Verbatim(f"      {line}".rstrip() for line in result.report)]
                yield []


def _directory_parts(tested: Sequence[ClaimResult]) -> Iterator[ReportBlock]:
    yield section(None, *((tested.claim.name, tested.line) for tested in tested))
    for result in tested:
        if result.kind is not SuiteResult.PASSED:
            lines = Verbatim(f"  {each}".rstrip() for each in result.text.splitlines())
            yield [Line(result.claim.name, _STANDINGS[result.kind].tone), lines]


# --- JUnit and GitHub ------------------------------------------------------------------------------


def junit(outcome: Outcome) -> str:
    """Return the claims of `outcome` as JUnit: a `testsuite` for each file and a `testcase` for each claim.

    An undecided claim is an `error` of the type `undecided`: JUnit has no third outcome, and the claim did not fail.
    """
    from xml.etree import ElementTree as ET

    tested: Sequence[ClaimResult] = outcome.cases
    root = ET.Element("testsuites", {"name": "dipc", **_totals(tested)})
    for file, group in groupby(tested, key=lambda each: _clean(each.claim.place.file)):
        results = list(group)
        suite = ET.SubElement(root, "testsuite", {"name": file, **_totals(results)})
        for each in results:
            place = {"classname": file, "file": file, "line": str(each.claim.place.line)}
            case = {"name": _clean(each.claim.name), **place, "time": f"{each.seconds:.3f}"}
            element = ET.SubElement(suite, "testcase", case)
            if each.kind is not SuiteResult.PASSED:
                tag = "failure" if each.kind is SuiteResult.FAILED else "error"
                child = ET.SubElement(element, tag, type=str(each.kind), message=_clean(each.line))
                child.text = _clean("\n".join(each.report) + "\n")
    ET.indent(root, " ")
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


def _totals(tested: Sequence[ClaimResult]) -> dict[str, str]:
    numbers = counted(tested)
    return {
        "tests": str(len(tested)),
        "failures": str(numbers[SuiteResult.FAILED]),
        "errors": str(numbers[SuiteResult.ERROR] + numbers[SuiteResult.UNDECIDED]),
        "time": f"{sum(each.seconds for each in tested):.3f}",
    }


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def github(outcome: Outcome) -> str:
    """Return a workflow command of GitHub for each claim of `outcome` with an unexpected result, and a last line.

    A command points to the line of the claim, or of the mistake in the program. The last line is the result of the
    whole suite.
    """
    lines = [line for result in outcome.cases for line in _annotations(result)]
    return "".join(f"{line}\n" for line in [*lines, outcome.line])


def _annotations(result: ClaimResult) -> Iterator[str]:
    name, place = result.claim.name, result.claim.place
    if result.kind is SuiteResult.ERROR:
        for diagnostic in result.diagnostics:
            message = "\n".join([diagnostic.message, *diagnostic.notes])
            yield _annotation("error", diagnostic.excerpt or place, f"{name} ({diagnostic.code})", message)
    elif result.kind is not SuiteResult.PASSED:
        level = "warning" if result.kind is SuiteResult.UNDECIDED else "error"
        message = f"expected {result.claim.expect}, but {result.line}\nreplay: {result.replay}"
        yield _annotation(level, place, name, message)


def _annotation(level: str, place: Excerpt, title: str, message: str) -> str:
    properties = {"file": place.file, "line": str(place.line), "col": str(place.column), "title": title}
    where = ",".join(
        f"{name}={_escaped(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()
    )
    return f"::{level} {where}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
