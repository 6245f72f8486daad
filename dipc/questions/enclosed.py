"""A claim between a stronger and a weaker one that are easier to decide: without logarithms, or of fewer summands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from dipc.claims.transcendental import DIGITS
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.questions.report import ClassResult, Method, Report, RowResult
from dipc.questions.source import Case, OtherSource, Settling, Source, reported
from dipc.rules.rule import Posed

LOGARITHMS = f"the claim fails with its logarithms rounded to {DIGITS} digits in one direction, and not in the other"


@dataclass(frozen=True)
class Enclosed(OtherSource):
    """The question whose claim that of `source` implies, and which implies that of `weaker`; `said` are the parts of
    the claim in the user's words."""

    weaker: Source
    said: Mapping[str, str]
    #: Why nothing is known where the stronger claim fails and the weaker one does not.
    between: str = LOGARITHMS
    #: Other claims that are stronger, about the same cases.
    others: tuple[Source, ...] = ()
    #: Whether the weaker claim is the claim itself: what proves it counts, too.
    itself: bool = False

    @property
    def stated(self) -> Mapping[str, str | None]:
        return {**self.source.stated, **self.said}

    def cases(self) -> Iterable[Case]:
        # What refutes a case of the weaker claim refutes the claim, whichever case of the other it is beside.
        sides = (self.source, self.weaker, *self.others)
        for stronger, weaker, *others in zip_longest(*(side.cases() for side in sides)):
            if stronger is not None:
                yield _EnclosedCase(stronger, weaker, self.between, tuple(filter(None, others)), self.itself)

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        if self.table is not None:
            return Source.begin(self, engine)
        return reported(self.cases(), engine)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = replace(self.source.report(rows, engine, interrupted=interrupted), evidence=None, stated=self.stated)
        if interrupted or not engine.keep_proofs or (report.verdict is Verdict.UNDECIDED and not self.itself):
            return report
        # What is certified is the stronger claim, or that the weaker one fails: neither has such numbers.
        sides = (self.source, *self.others) if report.verdict is Verdict.ACCURATE else ()
        for side in (*sides, *((self.weaker,) if self.itself or not sides else ())):
            decided, steps = side.begin(engine)
            for _ in steps:
                pass
            certified = side.report(decided, engine)
            if certified.verdict is report.verdict:
                return replace(report, evidence=certified.evidence)
        return report  # Some cases hold by one of the stronger claims, and some by another.


@frozen
class _OnlyEnclosed:
    """The obligation is that of the stronger claim: what refutes it does not refute the claim."""

    exact: bool = False


@frozen
class _EnclosedCase:
    stronger: Case
    weaker: Case | None
    between: str
    others: tuple[Case, ...]
    itself: bool

    @property
    def number(self) -> int:
        return self.stronger.number

    def posed(self) -> Sequence[Posed]:
        return [replace(one, why=_OnlyEnclosed()) for one in self.stronger.posed()]

    def shown(self) -> RowResult:
        return self.stronger.shown()

    def settle(self) -> Settling:
        row = yield from self.stronger.settle()
        if row.verdict is Verdict.ACCURATE or self.weaker is None:
            return _by_lesser(row) if row.verdict is not Verdict.INACCURATE else _open(row, self.between)
        for other in self.others:
            if _is_same(other.shown(), self.shown()):
                proved = yield from other.settle()
                if proved.verdict is Verdict.ACCURATE:
                    return _by_lesser(proved)
        refuted = yield from self.weaker.settle()
        if refuted.verdict is Verdict.INACCURATE or (
            self.itself and refuted.verdict is Verdict.ACCURATE and _is_same(refuted, self.shown())
        ):
            return refuted
        return row if row.verdict is Verdict.UNDECIDED else _open(row, self.between)


def _is_same(one: RowResult, other: RowResult) -> bool:
    """Whether two cases are about the same class."""
    if not isinstance(one, ClassResult) or not isinstance(other, ClassResult) or one.note is None or other.note is None:
        return False
    return (one.row, one.note.answer, one.note.where) == (other.row, other.note.answer, other.note.where)


def _by_lesser(row: RowResult) -> RowResult:
    """The case with the remark that its beta is at most the claim's."""
    if not isinstance(row, ClassResult) or row.note is None:
        return row
    return replace(row, note=replace(row.note, lesser=True))


def _open(row: RowResult, reason: str) -> RowResult:
    row = replace(row, verdict=Verdict.UNDECIDED, reason=reason, counterexample=None, failing=(), obligations=())
    if not isinstance(row, ClassResult):
        return row
    note = None if row.note is None else replace(row.note, method=Method.NONE)
    return replace(row, rows=(), note=note)
