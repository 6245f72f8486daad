"""What a question is to everything behind it: a source of obligations.

A source has cases (rows, classes of inputs, ranges of m). Each case says which obligations it comes to, and folds their
decisions into its result. Services are written against this alone: `check` runs `Case.settle`, `tighten` and `solve`
look at `Case.posed`, a certificate is written from what both gave.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from dipc.claims.claim import Claim, intervals_text
from dipc.claims.table import Table
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Decision, Obligation
from dipc.measure.measure import Bound
from dipc.program.program import Program, Work
from dipc.questions.report import Effort, Report, ReportedRows, RowNames, RowResult
from dipc.rules.class_claim import ClassClaim
from dipc.rules.rule import Posed
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic

#: Asks for decisions one after the other, and gives the result in the end. What is only to be measured is asked for as
#: a `Bound`: its decision is UNDECIDED, with the bound in closed form.
Settling = Generator[Obligation | Bound, Decision, RowResult]


class Case(Protocol):
    """One part of a question."""

    @property
    def number(self) -> int:
        """Its number in the report, from 1."""

    def posed(self) -> Sequence[Posed]:
        """The obligations that it comes to: if all hold, so does the claim for the case; none where it claims nothing.

        Raises Undecided where they are not known.
        """

    def shown(self) -> RowResult:
        """What it is about, not decided."""

    def settle(self) -> Settling:
        """Decides the case: yields obligations, is sent their decisions, and returns the result. Where a mere bound
        fails it may pose another bound, or inputs that may refute the claim."""


class Source(Protocol):
    """A question about one program. Sources inherit from this class: what most have in common is here."""

    @property
    def program(self) -> Program:
        """What it is about."""

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All eps it is about."""

    @property
    def total(self) -> int | None:
        """How many cases there are, where that is known before."""
        return None

    @property
    def table(self) -> Table | None:
        """The table it is about, where it is about one: given, or of classes of inputs."""
        return None

    @property
    def numbers(self) -> tuple[str, int] | None:
        """The constant that it leaves open, and the least of its values that it is about."""
        return None

    @property
    def about(self) -> str:
        """What its cases are parts of, as a report names it."""
        return "" if self.table is None else self.table.name

    @property
    def work(self) -> Work:
        """What was done to find the obligations."""
        return Work()

    @property
    def stated(self) -> Mapping[str, str | None]:
        """alpha, beta and gamma as they are claimed, None for one that every row has its own of."""
        return {}

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Where the claim may not mean what it seems to."""
        return ()

    def cases(self) -> Iterable[Case]:
        """All parts of the question, in the order of the report; at least one. Made as they are asked for."""

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        """The rows of the report, which grow by one with each step of the iterator."""
        rows: list[RowResult] = []
        return rows, map(rows.append, results(self.cases(), engine))

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        """These rows, as many as were decided, as a report. A source with more to say says it here."""
        return Report(
            self.program.name,
            tuple(rows) if isinstance(rows, list) else rows,
            intervals_text(self.intervals),
            interrupted=interrupted,
            effort=self.effort(engine),
            constants={name: str(value) for name, value in self.program.core.constants.items()},
            stated=self.stated,
            warnings=self.warnings,
        )

    def effort(self, engine: Engine) -> Effort:
        """What was done so far."""
        work, spent = self.work, engine.spent
        return Effort(
            chain_seconds=work.chain_seconds,
            measure_seconds=spent.measure_seconds,
            sign_seconds=spent.sign_seconds,
            explorations=work.explorations,
            measures=spent.measures,
            obligations=spent.obligations,
        )


C = TypeVar("C", bound=Claim | ClassClaim)


class ClaimedSource(Source, Generic[C]):
    """A claim about one program."""

    def __init__(self, program: Program, claim: C) -> None:
        self._program = program
        self.claim: C = claim

    @property
    def program(self) -> Program:
        return self._program

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return self.claim.intervals

    @property
    def stated(self) -> Mapping[str, str | None]:
        return self.claim.stated


class TableSource(ClaimedSource[Claim]):
    """A claim about the rows of one table."""

    def __init__(self, program: Program, table: Table, claim: Claim) -> None:
        super().__init__(program, claim)
        self._table = table
        self.probabilities = program.probabilities()
        self.names = RowNames(program.inputs, program.outputs, program.core.only_at)

    @property
    def total(self) -> int:
        return len(self.table.rows)

    @property
    def table(self) -> Table:
        return self._table

    @property
    def work(self) -> Work:
        return self.probabilities.work


class ClassSource(ClaimedSource[ClassClaim]):
    """A claim about infinitely many inputs, decided class by class."""

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.claim.warnings

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        return reported(self.cases(), engine)


@dataclass(frozen=True)
class OtherSource(Source):
    """Another source, reported in another way."""

    source: Source

    @property
    def program(self) -> Program:
        return self.source.program

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return self.source.intervals

    @property
    def total(self) -> int | None:
        return self.source.total

    @property
    def table(self) -> Table | None:
        return self.source.table

    @property
    def numbers(self) -> tuple[str, int] | None:
        return self.source.numbers

    @property
    def about(self) -> str:
        return self.source.about

    @property
    def work(self) -> Work:
        return self.source.work

    @property
    def stated(self) -> Mapping[str, str | None]:
        return self.source.stated

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.source.warnings

    def cases(self) -> Iterable[Case]:
        return self.source.cases()

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        return self.source.begin(engine)


def reported(cases: Iterable[Case], engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
    """The rows of a report, where a case may have several, which grow with each step of the iterator."""
    rows = ReportedRows()
    return rows, map(rows.extend, results(cases, engine))


def results(cases: Iterable[Case], engine: Engine) -> Iterator[RowResult]:
    """The results of the cases in order. Raises what settling them one after the other would raise."""
    return settled((Underway(case.settle()) for case in cases), engine)
