"""The rows of a table as cases: each is one obligation, about the probability of its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from dipc.algebra.limits import Effort, Undecided
from dipc.claims.claim import FREE, Claim, ClaimOptions, Terms, gamma_warnings, resolve_claim, without_outputs
from dipc.claims.given import CellPool
from dipc.claims.table import Row, Table
from dipc.decide.engine import Engine, Underway, results_in_order
from dipc.decide.obligation import Asking, Decision, Obligation, Verdict
from dipc.decide.scaled import constants_of, scaled_obligation, with_constants
from dipc.decide.scope import ClaimScope, claim_scope, join_scopes
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound
from dipc.program.program import Probabilities, Program
from dipc.questions.report import DecidedRows, Evidence, Report, RowOutcome, RowResult, row_result
from dipc.questions.source import Source
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import Diagnostic, bad_input

if TYPE_CHECKING:
    from dipc.claims import conditions
    from dipc.program import nearness
    from dipc.rules import rule as rules
else:
    conditions = LazyModule("dipc.claims.conditions")
    nearness = LazyModule("dipc.program.nearness")
    rules = LazyModule("dipc.rules.rule")

#: The decision of a row that claims nothing, or whose probability has a lower bound that suffices.
_HOLDS = Decision(Verdict.ACCURATE)


class TableRows(Source):
    """The question of whether a claim holds at every row of a table; each row is a case.

    Rows with the same claim and the same bound are one obligation and share its outcome, so that a table can have
    millions of rows.
    """

    table: Table

    respects_requires: ClassVar[bool] = True

    #: Whether the weights in bounds of rows are probabilities, and so not negative; `LeastBounds` needs this.
    of_probabilities = True

    def __init__(
        self, program: Program, table: Table, claim: Claim, probabilities: Probabilities | None = None
    ) -> None:
        """Ask whether `claim` holds at the rows of `table`.

        `probabilities` computes those of `program`; it may be given to share what was computed for another question.
        """
        super().__init__(program, claim.intervals, claim.texts, table)
        self.claim = claim
        self.probabilities = probabilities or program.probabilities()
        self._undecided: dict[str, Decision] = {}
        #: The values of eps with beta < 1, by the claim of a row; equal claims are one object.
        self._says: dict[Terms, ClaimScope] = {}
        self._least = LeastBounds()
        #: Whether rows over normal noise are first decided by the bounds that they share after scaling.
        self._shared = False

    @property
    def work(self) -> Effort:
        return self.probabilities.work

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return gamma_warnings(self.claim, self.program.core.has_product_distance)

    def cases(self) -> Iterable[RowCase]:
        return (RowCase(self, row) for row in self.table.rows)

    def ranges(self, row: Row) -> Sequence[tuple[Terms, str | None]]:
        """Return pairs (claim at `row`, range of gamma as text): one pair for each range of gamma.

        A claim that does not leave gamma open has one pair, with None in place of the range. Raises Undecided if the
        ranges are not known.
        """
        return [(self.claim.terms(row), None)]

    def leaves_gamma_open(self, row: Row) -> bool:  # noqa: ARG002
        """Whether the claim is about every gamma at `row`."""
        return False

    def bound(self, row: Row, terms: Terms) -> Bound:
        """Return the probability that the output is within gamma of the answer in `row`, with the gamma of `terms`.

        Raises Undecided past a limit, and DiagnosticError if the program fails at the row's input.
        """
        return self.probabilities.bound(row.inputs, row.outputs, terms.gamma)

    def measured(self, row: Row, terms: Terms) -> Bound | Undecided:
        """Return the probability for `row`, with the gamma of `terms`, or the reason why it is not known."""
        try:
            return self.bound(row, terms)
        except Undecided as undecided:
            return undecided.with_traceback(None)

    def outcome(self, terms: Terms, bound: Bound | Undecided) -> Asking[RowOutcome]:
        """Return the outcome for all rows with the claim `terms` and the probability `bound`.

        An Undecided as `bound` is the reason why the probability is not known.
        """
        says = None if terms.vacuous else self._says.get(terms)
        if says is None and not terms.vacuous:
            if len(self._says) >= _REMEMBERED:
                self._says.clear()
            says = self._says[terms] = claim_scope(terms.beta, self.intervals, self.program.limits)
        if isinstance(bound, Bound) and self._shared and says is not None and bound.is_without_form:
            scaled = scaled_obligation(Obligation(bound, terms.beta, self.intervals), least=True)
            if scaled is not None:
                decision = yield scaled
                if decision.verdict is Verdict.ACCURATE:
                    return RowOutcome(terms, None, _HOLDS, says)
        if isinstance(bound, Bound) and self._least.known:
            # The probability itself is not needed if a lower bound suffices.
            if says is None or says.is_vacuous:
                return RowOutcome(terms, None, _HOLDS, says)
            for least in self._least.below(terms.beta, bound):
                decision = yield Obligation(least, terms.beta, self.claim.intervals)
                if decision.verdict is Verdict.ACCURATE:
                    return RowOutcome(terms, None, _HOLDS, says)
                self._least.failed.add(least)
        if isinstance(bound, Undecided):
            decision = self._undecided.setdefault(bound.reason, Decision.undecided(bound.reason))
        elif terms.vacuous:
            decision = yield bound
        else:
            decision = yield Obligation(bound, terms.beta, self.claim.intervals)
        if terms.vacuous or (says is not None and says.is_vacuous and decision.verdict is Verdict.UNDECIDED):
            return RowOutcome(terms, decision.bound, _HOLDS, says)
        return RowOutcome(terms, decision.bound, decision, says)

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        rows = DecidedRows(self.program.core, self.table.rows)
        self._least.known = not engine.forms and self.of_probabilities
        self._shared = not engine.keep_proofs and self.of_probabilities
        return rows, map(rows.append, results_in_order(self._outcomes(), engine))

    def _outcomes(self) -> Iterator[Underway[RowOutcome]]:
        known: dict[tuple[int, int], Underway[RowOutcome]] = {}
        alive: list[Bound] = []  # An identity is valid only as long as its object lives.
        rows = iter(self.table.rows)
        while some := [self.claimed(row) for row in islice(rows, _COMPARED if self._least.known else 1)]:
            if self._least.known:
                self._least.find(
                    (terms.beta, bound)
                    for terms, bound in some
                    if isinstance(bound, Bound) and not terms.vacuous and (id(terms), id(bound)) not in known
                )
            for terms, bound in some:
                if isinstance(bound, Undecided):
                    yield Underway(self.outcome(terms, bound))
                    continue
                underway = known.get((id(terms), id(bound)))
                if underway is None:
                    if len(known) >= _REMEMBERED:
                        known.clear()
                        alive.clear()
                    underway = known[id(terms), id(bound)] = Underway(self.outcome(terms, bound))
                    alive.append(bound)
                yield underway

    def claimed(self, row: Row) -> tuple[Terms, Bound | Undecided]:
        """Return the claim at `row`, and the probability of its answer or the reason why it is not known."""
        terms = self.claim.terms(row)
        return terms, self.measured(row, terms)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = super().report(rows, engine, interrupted=interrupted)
        if interrupted:
            return report
        evidence = None
        if engine.keep_proofs and isinstance(rows, DecidedRows):  # As part of another question it has other rows.
            evidence = Evidence(self, rows)
        return replace(report, decided_by=self.claim, evidence=evidence)


#: The number of rows that are compared with each other before the first of them is decided.
_COMPARED = 20_000

#: The least number of bounds for which a common lower bound is decided.
_FEW = 4

#: The most kinds of bounds that are remembered.
_MOST_KINDS = 20_000


@dataclass(slots=True)
class _Kind:
    """A group of bounds with the same beta that differ only in the constants of their half-spaces.

    `one` is one of these bounds, and `number` is how many there are. `sides` has, for each half-space of a bound, its
    sorted coefficients. `least` maps such coefficients to the least constant of all half-spaces with these
    coefficients.
    """

    beta: BetaForm
    one: Bound
    sides: list[object]
    number: int = 0
    least: dict[object, Fraction] = field(default_factory=dict)

    @staticmethod
    def from_bound(beta: BetaForm, one: Bound) -> _Kind:
        sides = [each for share in one.shares for event in share.conjunctions for each in event.constraints]
        return _Kind(beta, one, [tuple(sorted([c for _, c in each.coefficients])) for each in sides])

    def add(self, members: Sequence[Sequence[Fraction]]) -> None:
        self.number += len(members)
        for side, column in zip(self.sides, zip(*members, strict=True), strict=True):
            own = min(column)
            self.least[side] = min(own, self.least.get(side, own))


class LeastBounds:
    """A collection of lower bounds, each of which is below many bounds with the same beta: deciding one decides many.

    Take an event over some noises and move its half-spaces inwards: the new event is a subset of it. Of all bounds that
    differ only in the constants of their half-spaces, the one with the least constants is therefore the least. The
    weights of its summands are probabilities, and so not negative.

    Rows are compared in batches. In the lower bound that is tried first, each half-space has the least constant of all
    half-spaces with the same coefficients. After the first batches, later rows rarely change this constant.
    """

    def __init__(self) -> None:
        #: Whether rows are compared.
        self.known = False
        #: The common bounds that did not suffice.
        self.failed: set[Bound] = set()
        self._kinds: dict[tuple[int, object], _Kind] = {}
        #: The kinds of bounds by the identities of their parts; the bounds keep the parts alive.
        self._shapes: dict[tuple[object, ...], tuple[Bound, object]] = {}
        self._below: dict[tuple[int, int], list[Bound]] = {}
        #: An identity is valid only as long as its object lives.
        self._alive: list[Bound] = []

    def find(self, claimed: Iterable[tuple[BetaForm, Bound]]) -> None:
        """Compare the pairs of beta and bound in `claimed`, and find lower bounds that are common to many of them.

        The common bounds of an earlier call are forgotten. The least constants of half-spaces are kept from earlier
        calls, unless there are too many groups of bounds that differ only in constants.
        """
        if max(len(self._kinds), len(self._shapes)) > _MOST_KINDS:
            for kept in (self._kinds, self._shapes, self.failed):
                kept.clear()
        self._below, self._alive = {}, []
        groups: dict[tuple[int, object], list[Bound]] = {}
        for beta, bound in claimed:
            key = id(beta), id(bound)
            if key not in self._below and bound.is_of_conjunctions:
                self._below[key] = []
                self._alive.append(bound)
                kind = id(beta), self._shape(bound)
                if kind not in self._kinds:
                    self._kinds[kind] = _Kind.from_bound(beta, bound)
                groups.setdefault(kind, []).append(bound)
        for kind, members in groups.items():
            self._add(self._kinds[kind], members)

    def _add(self, kind: _Kind, members: Sequence[Bound]) -> None:
        constants = [constants_of(bound) for bound in members]
        kind.add(constants)
        # As long as every common bound has sufficed, one is tried even for a single row: later rows will share it.
        if kind.number >= _FEW or not self.failed:
            candidates = [with_constants(kind.one, [kind.least[side] for side in kind.sides])]
            if len(members) >= _FEW:
                candidates.append(with_constants(kind.one, [min(column) for column in zip(*constants, strict=True)]))
            tried = [each for each in candidates if each not in self.failed]
            for bound in members:
                self._below[id(kind.beta), id(bound)] = tried

    def _shape(self, bound: Bound) -> object:
        made_of: list[object] = [bound.constant]
        for share in bound.shares:
            made_of += [id(share.weight), len(share.events)]
            for event in share.conjunctions:
                made_of += [len(event.noises), *map(id, event.noises)]
                made_of += [id(each.coefficients) for each in event.constraints]
                made_of += [each.strict for each in event.constraints]
        known = self._shapes.get(key := tuple(made_of))
        if known is None:
            known = self._shapes[key] = bound, with_constants(bound, [_ZERO] * len(constants_of(bound)))
        return known[1]

    def below(self, beta: BetaForm, bound: Bound) -> Sequence[Bound]:
        """Return the common lower bounds of `bound` for `beta`, the least first; empty if too few bounds are alike."""
        return self._below.get((id(beta), id(bound)), ())


_ZERO = Fraction(0)


#: The most outcomes that are remembered.
_REMEMBERED = 1 << 16

#: The range of gamma of a row with all of its ranges together.
EVERY_GAMMA = "[0, inf)"


@frozen
class RowCase:
    """One row of a table as a case, with an obligation for each range of gamma that the claim is about."""

    source: TableRows
    row: Row

    @property
    def number(self) -> int:
        return self.row.number

    def steps(self) -> Sequence[rules.ProofStep]:
        source = self.source
        return [
            rules.ProofStep(
                Obligation(source.bound(self.row, terms), terms.beta, source.intervals),
                rules.Variable.EPS,
                None,
                rules.Sharpness.PROBABILITY,
            )
            for terms, _ in source.ranges(self.row)
            if not terms.vacuous
        ]

    def undecided_row(self) -> RowResult:
        outcome = RowOutcome(self.source.claim.terms(self.row), None, Decision.undecided(""))
        return self._result(outcome, EVERY_GAMMA if self.source.leaves_gamma_open(self.row) else None)

    def settle(self) -> Asking[RowResult]:
        source, row = self.source, self.row
        try:
            ranges = source.ranges(row)
        except Undecided as undecided:
            return self._result((yield from source.outcome(source.claim.terms(row), undecided)), FREE)
        results = []
        for terms, text in ranges:
            outcome = yield from source.outcome(terms, source.measured(row, terms))
            results.append(self._result(outcome, text))
        return _together(results) if source.leaves_gamma_open(row) else results[0]

    def _result(self, outcome: RowOutcome, gamma: str | None) -> RowResult:
        result = row_result(self.source.program.core, self.row, outcome)
        return result if gamma is None else replace(result, gamma=gamma)


# --- Every gamma ------------------------------------------------------------------------------------------------------
#
# Claims with gamma left open: one obligation for each range of gamma on which the ball of near answers is the same.
#
# Theorem 12 of the paper. The outputs are finite, so d'_u takes finitely many values 0 = c_0 < c_1 < ... at an input
# u, and for c_l <= gamma < c_(l+1) the answers within gamma of det(u) are those within c_l. If beta never grows
# with gamma (or alpha) and the region is (alpha, gamma)-monotonic, the claim for all gamma of that range and all alpha
# < dd(u) that go with them is the one obligation Pr[d'_u <= c_l] >= 1 - beta(a, c), with the limit of beta at the
# greatest alpha a and the greatest gamma c of the range (the proof in Appendix G). The last range is unbounded.


class FreeGamma(TableRows):
    """The question of whether a claim holds for every gamma >= 0 at every row of a table; alpha may depend on gamma.

    A row has an obligation for each of several ranges of gamma. Its verdict is that of all ranges together, and its
    evidence that of the first range that fails. If the row has a cell in the column gamma, the claim about this row is
    about this gamma alone.
    """

    respects_requires: ClassVar[bool] = True

    def __init__(self, program: Program, table: Table, options: ClaimOptions) -> None:
        """Read the claim of `options` about the rows of `table`, with answers of `program`.

        Raises DiagnosticError, naming the condition that fails, if Theorem 12 does not apply to the claim.
        """
        _require_finite(program)
        super().__init__(program, table, resolve_claim(program.core, table, replace(options, gamma="0")))
        self._nearness = nearness.Nearness(program.core, program.limits)
        self._pool = CellPool()
        self._curve = conditions.gamma_curve(self.claim)
        self.theorem = conditions.theorem_of_every_gamma(self.claim, self._curve)
        self.stated = self.claim.texts | {"gamma": FREE}

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return ()

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        return Source.begin(self, engine)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = replace(Source.report(self, rows, engine, interrupted=interrupted), decided_by=self.theorem)
        return report if interrupted else replace(report, evidence=Evidence(self, report.rows, engine=engine))

    def leaves_gamma_open(self, row: Row) -> bool:
        return row.gamma is None

    def ranges(self, row: Row) -> Sequence[tuple[Terms, str | None]]:
        if row.gamma is not None:
            return super().ranges(row)
        distances = [Fraction(0)]
        if not self.program.core.has_product_distance:
            distances = sorted({Fraction(0), *self._nearness.distances(row.inputs, row.outputs)})
        gamma_ranges: list[tuple[Terms, str | None]] = []
        for position, low in enumerate(distances):
            high = distances[position + 1] if position + 1 < len(distances) else None
            ends = self._ends(row, low, high)
            cell = self._pool.cell(low)
            if ends is None:
                slope, offset = self._curve or (Fraction(0), Fraction(0))
                least = max(Fraction(0), slope * low + offset)
                terms = self.claim.terms_towards(row, least, low, cell, str(least))
                terms = replace(terms, vacuous=True)
            else:
                terms = self.claim.terms_towards(row, *ends, cell, "inf" if ends[0] is None else str(ends[0]))
            if not any(row.outputs):
                terms = without_outputs(terms)
            gamma_ranges.append((terms, f"[{low}, {'inf' if high is None else high})"))
        return gamma_ranges

    def _ends(self, row: Row, low: Fraction, high: Fraction | None) -> tuple[Fraction | None, Fraction | None] | None:
        """Return the suprema of alpha and gamma at `row` for `low` <= gamma < `high`, or None if nothing is claimed.

        None in place of a supremum, or as `high`, means infinity.
        """
        dd = row.dd.value if row.dd is not None else None
        limit = dd if isinstance(dd, Fraction) else None
        if self._curve is None or row.alpha is not None:
            terms = self.claim.terms(row)
            return None if terms.vacuous else (terms.alpha, high)
        slope, offset = self._curve
        if slope == 0:
            return None if limit is not None and self.claim.is_near(row, limit, offset) else (offset, high)
        top = high
        if limit is not None:
            most = (limit - offset) / slope
            top = most if high is None else min(high, most)
        if top is None:
            return None, None
        alpha, least = slope * top + offset, max(low, -offset / slope)
        # A single gamma has a claim if dd is its alpha, and this dd is not too near.
        alone = top == least and top != high and not self.claim.is_near(row, alpha if limit is None else limit, alpha)
        return (alpha, top) if top > least or alone else None


def _together(rows: Sequence[RowResult]) -> RowResult:
    """Return a single result from `rows`, which has one result for each range of gamma.

    The first inaccurate result is returned, else the first undecided one. If all are accurate, the first is returned,
    with [0, inf) in place of its range of gamma.
    """
    claimed = [result.says for result in rows if result.says is not None]
    says = join_scopes(claimed) if claimed else None
    for verdict in (Verdict.INACCURATE, Verdict.UNDECIDED):
        for result in rows:
            if result.verdict is verdict:
                return replace(result, obligations=tuple(rows), says=says)
    vacuous = all(result.vacuous for result in rows)
    return replace(rows[0], gamma=EVERY_GAMMA, vacuous=vacuous, obligations=tuple(rows), says=says)


def _require_finite(program: Program) -> None:
    slots = program.core.output_slots
    symbolic = [slot.name for slot in slots if slot.is_symbolic]
    if symbolic:
        notes = (
            "every gamma is decided at once only where all outputs have finitely many values",
            "give gamma a number; or, for all real inputs at once, ask with `--inputs all`",
        )
        raise bad_input("E1252", f"gamma is free, but the output `{symbolic[0]}` has infinitely many values", *notes)
