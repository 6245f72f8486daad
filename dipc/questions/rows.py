"""The rows of a table: each is one obligation, about the probability of its answer."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dipc.algebra.limits import Undecided
from dipc.claims.claim import Claim, Terms, gamma_warnings
from dipc.claims.conditions import theorem_of
from dipc.claims.table import Row, Table
from dipc.decide.decide import Saying, saying
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Decision, Obligation, Verdict
from dipc.frozen import frozen
from dipc.measure.measure import Bound
from dipc.program.nearness import Nearness
from dipc.program.program import Program, Work
from dipc.questions.report import DecidedRows, Evidence, Report, RowNames, RowOutcome, RowResult
from dipc.questions.source import Settling, Source
from dipc.rules.evidence import Posed, TheProbability, Variable
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic

#: A vacuous row claims nothing: its probability is shown, but decides nothing, and need not be known.
_NOTHING_CLAIMED = Decision(Verdict.ACCURATE)


class TableRows(Source):
    """One table under one claim. Rows with the same claim and the same bound are one obligation and share its outcome,
    so that a table may have millions."""

    def __init__(self, program: Program, table: Table, claim: Claim) -> None:
        self._program = program
        self._table = table
        self.claim = claim
        self.probabilities = program.probabilities()
        self.names = RowNames(program.inputs, program.outputs, program.core.only_at)
        self._undecided: dict[str, Decision] = {}
        #: By the claim of a row, which is one object for all rows that have it.
        self._says: dict[Terms, Saying] = {}

    @property
    def program(self) -> Program:
        return self._program

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return self.claim.intervals

    @property
    def total(self) -> int:
        return len(self.table.rows)

    @property
    def stated(self) -> Mapping[str, str | None]:
        return self.claim.stated

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return gamma_warnings(self.claim, Nearness(self.program.core, self.program.limits).plain)

    @property
    def table(self) -> Table:
        return self._table

    @property
    def work(self) -> Work:
        return self.probabilities.work

    def cases(self) -> Iterable[RowCase]:
        return (RowCase(self, row) for row in self.table.rows)

    def bound(self, row: Row) -> Bound:
        """The probability of the row's answer. Raises Undecided and DiagnosticError as `Probabilities` does."""
        return self.probabilities.bound(row.inputs, row.outputs, self.claim.terms(row).gamma)

    def outcome(self, terms: Terms, bound: Bound | Undecided) -> Generator[Obligation | Bound, Decision, RowOutcome]:
        """What all rows with this claim and this bound come to; the bound may be not known, and why."""
        says = None if terms.vacuous else self._says.get(terms)
        if says is None and not terms.vacuous:
            says = self._says[terms] = saying(terms.beta, self.intervals, self.program.limits)
        if isinstance(bound, Undecided):
            decision = self._undecided.setdefault(bound.reason, Decision.undecided(bound.reason))
        elif terms.vacuous:
            decision = yield bound
        else:
            decision = yield Obligation(bound, terms.beta, self.claim.intervals)
        if terms.vacuous or (says is not None and says.nothing and decision.verdict is Verdict.UNDECIDED):
            return RowOutcome(terms, decision.bound, _NOTHING_CLAIMED, says)
        return RowOutcome(terms, decision.bound, decision, says)

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        rows = DecidedRows(self.table.rows, self.names)
        return rows, map(rows.append, settled(self._outcomes(), engine))

    def _outcomes(self) -> Iterator[Underway[RowOutcome]]:
        """For each row its outcome on the way: the same object where claim and bound are."""
        known: dict[tuple[int, int], Underway[RowOutcome]] = {}
        alive: list[Bound] = []  # an identity means something only as long as its object lives
        terms_of = self.claim.terms
        bound_of = self.probabilities.bound
        for row in self.table.rows:
            terms = terms_of(row)
            try:
                bound = bound_of(row.inputs, row.outputs, terms.gamma)
            except Undecided as undecided:
                yield Underway(self.outcome(terms, undecided.with_traceback(None)))
                continue
            underway = known.get((id(terms), id(bound)))
            if underway is None:
                if len(known) >= _REMEMBERED:
                    known.clear()
                    alive.clear()
                underway = known[id(terms), id(bound)] = Underway(self.outcome(terms, bound))
                alive.append(bound)
            yield underway

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = super().report(rows, engine, interrupted=interrupted)
        if interrupted:
            return report
        evidence = None
        if engine.keep_proofs and isinstance(rows, DecidedRows):  # a part of another question gets rows of its own
            evidence = Evidence(self._program, self.table, self.claim, rows, self.probabilities)
        return replace(report, theorem=theorem_of(self.claim), evidence=evidence)


#: Outcomes that are remembered at a time.
_REMEMBERED = 200_000


@frozen
class RowCase:
    """One row of a table."""

    source: TableRows
    row: Row

    @property
    def number(self) -> int:
        return self.row.number

    def posed(self) -> Sequence[Posed]:
        terms = self.source.claim.terms(self.row)
        if terms.vacuous:
            return ()
        obligation = Obligation(self.source.bound(self.row), terms.beta, self.source.intervals)
        return (Posed(obligation, Variable.EPS, TheProbability()),)

    def shown(self) -> RowResult:
        outcome = RowOutcome(self.source.claim.terms(self.row), None, Decision.undecided(""))
        return self.source.names.result(self.row, outcome)

    def settle(self) -> Settling:
        source = self.source
        terms = source.claim.terms(self.row)
        bound: Bound | Undecided
        try:
            bound = source.bound(self.row)
        except Undecided as undecided:
            bound = undecided.with_traceback(None)
        outcome = yield from source.outcome(terms, bound)
        return source.names.result(self.row, outcome)
