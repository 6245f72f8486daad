"""The rows of a table: each is one obligation, about the probability of its answer."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.limits import Undecided
from dipc.claims.claim import Claim, Terms, gamma_warnings
from dipc.claims.conditions import theorem_of
from dipc.claims.table import Row, Table
from dipc.decide.decide import Saying, saying
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Decision, Obligation, Verdict
from dipc.frozen import frozen
from dipc.measure.event import Event
from dipc.measure.measure import Bound
from dipc.program.nearness import Nearness
from dipc.program.program import Program
from dipc.questions.report import DecidedRows, Evidence, Report, RowOutcome, RowResult
from dipc.questions.source import Settling, TableSource
from dipc.rules.rule import Posed, TheProbability, Variable
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import Diagnostic

#: A vacuous row claims nothing: its probability is shown, but decides nothing, and need not be known.
_NOTHING_CLAIMED = Decision(Verdict.ACCURATE)


class TableRows(TableSource):
    """One table under one claim. Rows with the same claim and the same bound are one obligation and share its outcome,
    so that a table may have millions."""

    #: Whether the weights in its bounds are probabilities, which are not negative: `LeastBounds` rests on it.
    of_probabilities = True

    def __init__(self, program: Program, table: Table, claim: Claim) -> None:
        super().__init__(program, table, claim)
        self._undecided: dict[str, Decision] = {}
        #: By the claim of a row, which is one object for all rows that have it.
        self._says: dict[Terms, Saying] = {}
        self._least = LeastBounds()

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return gamma_warnings(self.claim, Nearness(self.program.core, self.program.limits).plain)

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
        if isinstance(bound, Bound) and self._least.known:
            # Nobody asks for the probability where it is known to be enough.
            if says is None or says.nothing:
                return RowOutcome(terms, None, _NOTHING_CLAIMED, says)
            least = self._least.below(terms.beta, bound)
            if least is not None:
                decision = yield Obligation(least, terms.beta, self.claim.intervals)
                if decision.verdict is Verdict.ACCURATE:
                    return RowOutcome(terms, None, Decision(Verdict.ACCURATE), says)
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
        if not engine.forms and self.of_probabilities and len(self.table.rows) <= _MOST_COMPARED:
            self._least.find(self._claimed())
        return rows, map(rows.append, settled(self._outcomes(), engine))

    def _claimed(self) -> Iterator[tuple[BetaForm, Bound]]:
        """The claims about the rows, where there are any."""
        for row in self.table.rows:
            terms = self.claim.terms(row)
            if not terms.vacuous:
                with suppress(Undecided):
                    yield terms.beta, self.probabilities.bound(row.inputs, row.outputs, terms.gamma)

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


#: Rows that are looked at before the first is decided, at most.
_MOST_COMPARED = 100_000

#: A bound below so many others at least is worth a question of its own.
_FEW = 4


class LeastBounds:
    """Bounds that are at most each of many others, for one beta: where such a one is enough, all are.

    An event whose half-spaces are those of another one, moved inwards over the same noises, is part of it: so bounds
    that differ in the constants of their half-spaces alone are at least the one with the least of each. The weights of
    shares are probabilities, and not negative.
    """

    def __init__(self) -> None:
        #: Whether any were looked for.
        self.known = False
        self._below: dict[tuple[int, int], Bound] = {}
        #: An identity means something only as long as its object lives.
        self._alive: list[tuple[BetaForm, Bound]] = []

    def find(self, claimed: Iterable[tuple[BetaForm, Bound]]) -> None:
        """Look for them among these claims."""
        self.known = True
        groups: dict[object, list[tuple[BetaForm, Bound]]] = {}
        seen: set[tuple[int, int]] = set()
        for beta, bound in claimed:
            key = id(beta), id(bound)
            if key not in seen:
                seen.add(key)
                self._alive.append((beta, bound))
                groups.setdefault((id(beta), _shape(bound)), []).append((beta, bound))
        for members in groups.values():
            if len(members) >= _FEW:
                constants = [_constants(bound) for _, bound in members]
                least = _with_constants(members[0][1], [min(column) for column in zip(*constants, strict=True)])
                self._below |= {(id(beta), id(bound)): least for beta, bound in members}

    def below(self, beta: BetaForm, bound: Bound) -> Bound | None:
        """A bound that is at most this one and others; None where there are few of these."""
        return self._below.get((id(beta), id(bound)))


def _shape(bound: Bound) -> object:
    """All of a bound but the constants of its half-spaces."""
    return bound.constant, tuple(
        [
            (
                share.weight,
                tuple([(e.noises, tuple([(c.coefficients, c.strict) for c in e.constraints])) for e in share.events]),
            )
            for share in bound.shares
        ]
    )


def _constants(bound: Bound) -> list[Fraction]:
    return [item.constant for share in bound.shares for event in share.events for item in event.constraints]


def _with_constants(bound: Bound, constants: Iterable[Fraction]) -> Bound:
    """The bound with other constants of its half-spaces."""
    left = iter(constants)
    shares = []
    for share in bound.shares:
        events = [
            Event(event.noises, tuple([replace(item, constant=next(left)) for item in event.constraints]))
            for event in share.events
        ]
        shares.append(replace(share, events=tuple(events)))
    return Bound(tuple(shares), bound.constant)


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
