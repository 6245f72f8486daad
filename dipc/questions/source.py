"""The interface of a question: a source of cases, which list obligations.

A source has cases (rows, classes of inputs, ranges of m). Each case lists its obligations, and computes its result from
their decisions. Other rooms use only this interface: `check` runs `Case.settle`, `tighten` and `solve` read
`Case.steps`, and a certificate is written from the results of both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar, Protocol, assert_never

from dipc.algebra.limits import Effort
from dipc.claims.claim import intervals_text
from dipc.claims.table import Table
from dipc.claims.transcendental import DIGITS
from dipc.decide.engine import Engine, Underway, results_in_order
from dipc.decide.obligation import (
    Asking,
    EndPoint,
    TypedEnds,
    Verdict,
    with_typed_ends,
)
from dipc.frozen import LazyModule, frozen
from dipc.program.program import Program
from dipc.questions.report import ClassResult, Method, Report, ReportedRows, RowResult
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic

if TYPE_CHECKING:
    from dipc.rules import rule as rules
else:
    rules = LazyModule("dipc.rules.rule")


class Case(Protocol):
    """A part of a question: a row, a class of inputs, or a range of m.

    If all of its obligations hold, so does the claim for the case.
    """

    @property
    def number(self) -> int:
        """The number of the case in the report, from 1."""

    def steps(self) -> Sequence[rules.ProofStep]:
        """Return the obligations of the case; if all of them hold, so does the claim for the case.

        The result is empty if nothing is claimed. Raises Undecided if the obligations are not known.
        """

    def undecided_row(self) -> RowResult:
        """Return a row of the report for the case with the verdict UNDECIDED, as it is before the case is decided."""

    def settle(self) -> Asking[RowResult]:
        """Decide the case: yield obligations, receive their decisions, and return the result.

        If a lower bound fails, the case may yield obligations of another bound, or of inputs that may refute the claim.
        """


def _unchanged(report: Report) -> Report:
    return report


class Source(ABC):
    """A question about one `program` for all eps of the `intervals`, as a list of cases.

    Invariant: the claim holds if it holds for every case. `stated` has the texts of alpha, beta and gamma of the claim,
    None for one that differs from row to row. `table` is the table of the question, or None for other questions.

    The precondition `requires` of a program limits its inputs. A program with a precondition is refused unless the
    class of the source sets `respects_requires`. The cases of such a source are only about inputs that satisfy the
    precondition, and dd is the distance to such inputs alone.
    """

    #: Each class declares this for itself; it is not inherited.
    respects_requires: ClassVar[bool] = False

    def __init__(
        self,
        program: Program,
        intervals: tuple[Interval, ...],
        stated: Mapping[str, str | None],
        table: Table | None = None,
    ) -> None:
        requires = program.core.requires
        if requires is not None and not vars(type(self)).get("respects_requires", False):
            raise requires.unsupported(program.core.source, "this question")
        self.program = program
        self.intervals = intervals
        self.stated = stated
        self.table = table
        #: Adds to the report that its rows represent more inputs, or are all inputs.
        self.annotate: Callable[[Report], Report] = _unchanged
        #: Whether an unproved case searches many inputs for one that refutes the claim, which is costly.
        self.searching = True
        #: The word for a case in messages: a "class" of inputs, or a "row" of a table.
        self.word = "class" if table is None else "row"

    @property
    def total(self) -> int | None:
        """The number of cases; None if it is not known before they are built."""
        return None if self.table is None else len(self.table.rows)

    @property
    def numbers(self) -> tuple[str, int] | None:
        """The constant m of a question about every m, with the least m that it is about; None for other questions."""
        return None

    @property
    def subject(self) -> str:
        """The question in one phrase, as a report names it."""
        return "" if self.table is None else self.table.name

    @property
    def work(self) -> Effort:
        """The time and the number of explorations spent on finding the obligations."""
        return Effort()

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings that the claim may not mean what the user expects."""
        return ()

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """Yield all cases of the question, at least one, in the order of the report."""

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        """Return the rows of the report, a list that grows, and an iterator that decides the cases with `engine`.

        Each step of the iterator decides one case and adds its rows.
        """
        return reported(self.cases(), engine)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        """Return a report of the `rows` decided so far by `engine`. Subclasses add their own fields.

        `interrupted` is True if the check was stopped before its last case.
        """
        core = self.program.core
        return Report(
            self.program.name,
            tuple(rows) if isinstance(rows, list) else rows,
            intervals_text(self.intervals),
            interrupted=interrupted,
            effort=self.work + engine.spent,
            constants={name: str(value) for name, value in core.constants.items()},
            stated=self.stated,
            warnings=self.warnings,
            requires=core.required_text,
            every_input=core.every_input,
            numbers=None if self.numbers is None else f"{self.numbers[0]} >= {self.numbers[1]}",
        )

    def size_warning(self) -> str | None:
        """Return a warning to show before the question is decided if it will take a long time, else None."""
        return None


def reported(cases: Iterable[Case], engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
    """Return the rows of a report, a list that grows, and an iterator that decides the `cases` with `engine`.

    Each step of the iterator decides one case and adds its rows.
    """
    rows = ReportedRows()
    return rows, map(rows.add, results(cases, engine))


def results(cases: Iterable[Case], engine: Engine) -> Iterator[RowResult]:
    """Yield the results of the `cases` in order, decided by `engine`.

    An error in a case is raised after the results of all earlier cases, even if cases are decided in parallel.
    """
    return results_in_order((Underway(case.settle()) for case in cases), engine)


# --- A claim between two others ---------------------------------------------------------------------------------------
#
# A claim enclosed by a stronger and a weaker one that are easier to decide: without logarithms, or with fewer summands.

LOGARITHMS = f"whether the claim fails depends on the direction in which its logarithms are rounded to {DIGITS} digits"


class WeakerClaim(Enum):
    """The way in which the claim of an `Enclosed` question is related to the weaker claim that encloses it.

    - IMPLIED: a counterexample to the weaker claim refutes the claim, and a proof of the weaker claim proves nothing.
    - ITSELF: the weaker claim is the claim itself, so that its proof is a proof of the claim.
    - AROUND: the weaker claim is about an interval around the claim's only eps, and refutes the claim only if it fails
      at every eps of the interval.
    """

    IMPLIED = "implied"
    ITSELF = "itself"
    AROUND = "around"


class Enclosed(Source):
    """A question decided by two others: one with a stronger claim, and one with a weaker claim.

    A proof of the stronger claim, the question `source`, proves the claim. A counterexample to the weaker claim, the
    question `weaker`, refutes it. `others` are further stronger claims about the same cases. `relation` says how the
    weaker claim is related to the claim. `said` has the texts of the claim's alpha, beta and gamma, as the user wrote
    them. `between` is the reason why a case is undecided if the stronger claim fails and the weaker one does not.

    `irrational` is given if ends of the claim's intervals of eps are irrational: (the text of the intervals, a mapping
    from each rational number that replaces an irrational end to this end).
    """

    respects_requires: ClassVar[bool] = True

    def __init__(
        self,
        source: Source,
        weaker: Source,
        said: Mapping[str, str],
        between: str = LOGARITHMS,
        others: tuple[Source, ...] = (),
        *,
        relation: WeakerClaim = WeakerClaim.IMPLIED,
        irrational: tuple[str, TypedEnds] | None = None,
    ) -> None:
        super().__init__(source.program, source.intervals, {**source.stated, **said}, source.table)
        self.eps = None if irrational is None else irrational[0]
        self.ends: TypedEnds = {} if irrational is None else irrational[1]
        self.source = source
        self.weaker = weaker
        self.between = between
        self.others = others
        self.relation = relation
        # An input that refutes a stronger claim decides nothing.
        for stronger in (source, *others):
            stronger.searching = False

    @property
    def numbers(self) -> tuple[str, int] | None:
        return self.source.numbers

    @property
    def subject(self) -> str:
        return self.source.subject

    @property
    def work(self) -> Effort:
        return self.source.work

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.source.warnings

    def cases(self) -> Iterable[Case]:
        # A counterexample to the weaker claim refutes the claim, so that it does not matter which cases are paired.
        sides = (self.source, self.weaker, *self.others)
        for stronger, weaker, *others in zip_longest(*(side.cases() for side in sides)):
            if stronger is not None:
                yield _EnclosedCase(self, stronger, weaker, tuple(filter(None, others)))

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = replace(
            self.source.report(rows, engine, interrupted=interrupted),
            evidence=None,
            stated=self.stated,
        )
        report = report if self.eps is None else replace(report, eps=self.eps)
        itself = self.relation is WeakerClaim.ITSELF
        if interrupted or not engine.keep_proofs or (report.verdict is Verdict.UNDECIDED and not itself):
            return report
        # A certificate proves the stronger claim or refutes the weaker one; neither has transcendental numbers.
        sides = (self.source, *self.others) if report.verdict is Verdict.ACCURATE else ()
        for side in (*sides, *((self.weaker,) if itself or not sides else ())):
            decided, steps = side.begin(engine)
            for _ in steps:
                pass
            certified = side.report(decided, engine)
            if certified.verdict is report.verdict:
                return replace(report, evidence=certified.evidence)
        return report  # Different cases hold by different stronger claims.


@frozen
class _EnclosedCase:
    question: Enclosed
    stronger: Case
    weaker: Case | None
    others: tuple[Case, ...]

    @property
    def number(self) -> int:
        return self.stronger.number

    def steps(self) -> Sequence[rules.ProofStep]:
        return [replace(one, evidence=None, sharpness=rules.Sharpness.BOUND) for one in self.stronger.steps()]

    def undecided_row(self) -> RowResult:
        return self.stronger.undecided_row()

    def settle(self) -> Asking[RowResult]:
        result = yield from self._settle()
        ends = self.question.ends
        if not ends or result.says is None:
            return result
        return replace(result, says=replace(result.says, where=with_typed_ends(result.says.where, ends)))

    def _settle(self) -> Asking[RowResult]:
        between = self.question.between
        row = yield from self.stronger.settle()
        if row.verdict is Verdict.ACCURATE or self.weaker is None:
            return _by_lesser(row) if row.verdict is not Verdict.INACCURATE else _open(row, between)
        for other in self.others:
            if _is_same(other.undecided_row(), self.undecided_row()):
                proved = yield from other.settle()
                if proved.verdict is Verdict.ACCURATE:
                    # Where only intervals of eps are enclosed, the betas are equal throughout the claim's intervals.
                    return _by_lesser(proved) if self.question.eps is None else _with_beta_of(row, proved)
        found = yield from self.weaker.settle()
        if self._decides(found):
            return _with_ends(found, row, self.question)
        return row if row.verdict is Verdict.UNDECIDED else _open(row, between)

    def _decides(self, found: RowResult) -> bool:
        """Return True if `found`, the result for the weaker claim, also decides the claim of the question."""
        refutes = found.verdict is Verdict.INACCURATE
        match self.question.relation:
            case WeakerClaim.IMPLIED:
                return refutes
            case WeakerClaim.ITSELF:
                return refutes or (found.verdict is Verdict.ACCURATE and _is_same(found, self.undecided_row()))
            case WeakerClaim.AROUND:
                return refutes and all(_fails_throughout(found, each) for each in self.question.weaker.intervals)
        assert_never(self.question.relation)


def _with_ends(found: RowResult, row: RowResult, question: Enclosed) -> RowResult:
    """Return `found`, which refutes the claim, with the ends of its failing intervals as the user typed them.

    The claim of `question` has irrational ends of eps. `found` is about slightly smaller intervals with rational ends,
    and `row` about slightly larger ones. A failing interval ends at an irrational end only if `row` fails there as
    well. Otherwise its end is only enclosed.
    """
    ends = question.ends
    if not ends or not found.failing:
        return found
    if question.relation is WeakerClaim.AROUND:
        return replace(found, failing=with_typed_ends(found.failing, ends))
    proved = {
        place: (low, high, text)
        for place, (low, high, text) in (ends.items() if row.beta_form == found.beta_form else ())
        if any(
            each.start.high is not None and each.start.high <= low and (each.end.high is None or high <= each.end.low)
            for each in row.failing
        )
    }
    inside = {place for interval in question.weaker.intervals for place in (interval.lower, interval.upper)}

    def enclosed(point: EndPoint) -> EndPoint:
        known = ends.get(point.low) if point.exact and point.low in inside else None
        return point if known is None else EndPoint(known[0], known[1], included=False)

    failing = [
        replace(each, start=enclosed(each.start), end=enclosed(each.end))
        for each in with_typed_ends(found.failing, proved)
    ]
    return replace(found, failing=tuple(failing))


def _with_beta_of(row: RowResult, proved: RowResult) -> RowResult:
    proved = replace(proved, beta_form=row.beta_form, vacuous=row.vacuous, says=row.says)
    if not isinstance(proved, ClassResult) or not isinstance(row, ClassResult):
        return proved
    if proved.note.variable != row.note.variable:
        return _by_lesser(proved)
    return replace(proved, note=replace(proved.note, beta_form=row.note.beta_form))


def _fails_throughout(row: RowResult, interval: Interval) -> bool:
    """Return True if the claim of `row` is proved to fail at every eps of the closed `interval`."""
    lower, upper = (interval.lower, interval.lower), (interval.upper, interval.upper)
    return any(
        (each.start.enclosure, each.end.enclosure) == (lower, upper) and each.start.included and each.end.included
        for each in row.failing
    )


def _is_same(one: RowResult, other: RowResult) -> bool:
    if not isinstance(one, ClassResult) and not isinstance(other, ClassResult):
        return (one.row, one.input, one.output) == (other.row, other.input, other.output)
    if not isinstance(one, ClassResult) or not isinstance(other, ClassResult):
        return False
    return (one.row, one.note.answer, one.note.conditions) == (other.row, other.note.answer, other.note.conditions)


def _by_lesser(row: RowResult) -> RowResult:
    return replace(row, note=replace(row.note, lesser=True)) if isinstance(row, ClassResult) else row


def _open(row: RowResult, reason: str) -> RowResult:
    row = replace(row, verdict=Verdict.UNDECIDED, reason=reason, counterexample=None, failing=(), obligations=())
    if not isinstance(row, ClassResult):
        return row
    return replace(row, rows=(), note=replace(row.note, method=Method.NONE))
