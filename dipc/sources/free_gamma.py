"""Claims with gamma left open: one obligation for each range of gamma on which the ball of near answers is the same.

Theorem 12 of the paper. The outputs are finite, so d'_u takes finitely many values 0 = c_0 < c_1 < ... at an input u,
and for c_l <= gamma < c_(l+1) the answers within gamma of det(u) are those within c_l. Where beta never grows with
gamma (or alpha) and the region is (alpha, gamma)-monotonic, the claim for all gamma of that range and all alpha < dd(u)
that go with them is the one obligation Pr[d'_u <= c_l] >= 1 - beta(a, c), with the limit of beta at the greatest
alpha a and the greatest gamma c of the range (the proof in Appendix G). The last range is without end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from time import perf_counter

from dipc.algebra.limits import Undecided
from dipc.algebra.parametric import Parametric
from dipc.chain.symbolic import is_symbolic
from dipc.claim.claim import Claim, Given, Terms, mentions, resolve_claim
from dipc.claim.conditions import at_dd, betas_of, region_conditions
from dipc.claim.intervals import intervals_text
from dipc.claim.theorem import Condition, Theorem
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.lang.ast import Name
from dipc.metric.nearness import Nearness
from dipc.obligations.decide import ACCURATE, Decider, Settled
from dipc.obligations.verdict import Verdict
from dipc.sources.decided_rows import Outcome, RowNames
from dipc.sources.outcome import Effort, Interrupted, Report, RowResult
from dipc.tables.cells import CellPool
from dipc.tables.table import Row, Table

#: How gamma is left open, as an option or in the claim block.
FREE = "free"


def is_free(program: object, gamma: Given) -> bool:
    """Whether gamma is left open, by the option or else by the program's claim block."""
    if not isinstance(program, Program) or FREE in program.constants:
        return False
    if gamma is not None:
        return isinstance(gamma, str) and gamma.strip() == FREE
    claim = program.core.claim
    fields = () if claim is None else claim.fields
    return any(found.name == "gamma" and isinstance(found.value, Name) and found.value.name == FREE for found in fields)


def check_free(
    program: Program,
    table: Table,
    *,
    beta: Given = None,
    alpha: Given = None,
    eps: Given = None,
    digits: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Report:
    """Decide for every row, every gamma >= 0 and every alpha that goes with it whether the claim holds for every eps.

    A row with several ranges of gamma has an obligation for each; its verdict is theirs together, its evidence that of
    the first one that fails. A cell of the column gamma is one gamma, and wins.

    Raises DiagnosticError for a claim outside Theorem 12, naming the condition that fails; Interrupted on Ctrl-C.
    """
    begun = perf_counter()
    _require_finite(program)
    claim = resolve_claim(program.core, table, beta=beta, alpha=alpha, gamma="0", eps=eps)
    theorem = _theorem(claim)
    decider = Decider(claim.intervals, program.limits.sign, digits=digits)
    run = _FreeRun(program, claim, decider)
    rows: list[RowResult] = []

    def report(*, interrupted: bool = False) -> Report:
        effort = replace(run.effort(), seconds=perf_counter() - begun)
        intervals = intervals_text(claim.intervals)
        return Report(program.name, tuple(rows), intervals, interrupted=interrupted, effort=effort, theorem=theorem)

    try:
        for row in table.rows:
            rows.append(run.result(row))
            if progress is not None:
                progress(len(rows), len(table.rows))
    except KeyboardInterrupt:
        raise Interrupted(report(interrupted=True), len(rows), len(table.rows)) from None
    return report()


class _FreeRun:
    def __init__(self, program: Program, claim: Claim, decider: Decider) -> None:
        self._claim = claim
        self._decider = decider
        self._probabilities = program.probabilities()
        self._nearness = Nearness(program.core)
        self._names = RowNames(program.inputs, program.outputs)
        self._pool = CellPool()
        self._curve = _curve(claim)

    def effort(self) -> Effort:
        """What was done so far, in no known time."""
        work = self._probabilities.work
        return Effort(
            chain_seconds=work.chain_seconds,
            measure_seconds=work.measure_seconds,
            sign_seconds=self._decider.seconds,
            explorations=work.explorations,
            measures=work.measures,
            obligations=self._decider.obligations,
        )

    def result(self, row: Row) -> RowResult:
        """The row, with its obligations where there are several."""
        if row.gamma is not None:
            terms = self._claim.terms(row)
            return self._names.result(row, self._outcome(row, terms, terms.vacuous))
        try:
            distances = self._distances(row)
        except Undecided as undecided:
            settled = Settled(Verdict.UNDECIDED, reason=undecided.reason)
            result = self._names.result(row, Outcome(self._claim.terms(row), None, settled))
            return replace(result, gamma=FREE)
        found: list[RowResult] = []
        for at, low in enumerate(distances):
            high = distances[at + 1] if at + 1 < len(distances) else None
            ends = self._ends(row, low, high)
            cell = self._pool.cell(low)
            if ends is None:
                slope, offset = self._curve or (Fraction(0), Fraction(0))
                least = max(Fraction(0), slope * low + offset)
                terms = self._claim.terms_towards(row, least, low, cell, str(least))
                result = self._names.result(row, self._outcome(row, replace(terms, vacuous=True), True))
            else:
                terms = self._claim.terms_towards(row, *ends, cell, "inf" if ends[0] is None else str(ends[0]))
                result = self._names.result(row, self._outcome(row, terms, False))
            found.append(replace(result, gamma=f"[{low}, {'inf' if high is None else high})"))
        return _together(found)

    def _distances(self, row: Row) -> Sequence[Fraction]:
        """The finite values of d'_u, with 0, increasing."""
        if self._nearness.plain:
            return (Fraction(0),)
        return sorted({Fraction(0), *self._nearness.distances(row.inputs, row.outputs)})

    def _ends(self, row: Row, low: Fraction, high: Fraction | None) -> tuple[Fraction | None, Fraction | None] | None:
        """The suprema of alpha and gamma over what is claimed with low <= gamma < high; None where that is nothing."""
        dd = row.dd.value if row.dd is not None else None
        limit = dd if isinstance(dd, Fraction) else None
        if self._curve is None or row.alpha is not None:
            terms = self._claim.terms(row)
            return None if terms.vacuous else (terms.alpha, high)
        slope, offset = self._curve
        if slope == 0:
            return None if limit is not None and limit < offset else (offset, high)
        top = high if limit is None else _least(high, (limit - offset) / slope)
        if top is not None and top <= max(low, -offset / slope):
            return None
        return (None if top is None else slope * top + offset), top

    def _outcome(self, row: Row, terms: Terms, vacuous: bool) -> Outcome:
        probability = None
        try:
            probability = self._probabilities.probability(row.inputs, row.outputs, terms.gamma)
            settled = ACCURATE if vacuous else self._decider.settle(probability, terms.beta)
        except Undecided as undecided:
            settled = ACCURATE if vacuous else Settled(Verdict.UNDECIDED, reason=undecided.reason)
        return Outcome(terms, probability, settled)


def _together(found: Sequence[RowResult]) -> RowResult:
    """One result for all ranges of gamma: the first that fails, else the first that is undecided, else the first."""
    for verdict in (Verdict.INACCURATE, Verdict.UNDECIDED):
        for result in found:
            if result.verdict is verdict:
                return replace(result, obligations=tuple(found))
    vacuous = all(result.vacuous for result in found)
    return replace(found[0], gamma="[0, inf)", vacuous=vacuous, obligations=tuple(found))


def _least(one: Fraction | None, other: Fraction) -> Fraction:
    return other if one is None else min(one, other)


# --- the conditions of Theorem 12 ------------------------------------------------------------------


def _theorem(claim: Claim) -> Theorem:
    """Theorem 12 with its conditions; raises DiagnosticError for a claim outside it."""
    keys = [key for key, _ in claim.compiled() if key[2] is None]
    betas = betas_of(claim, keys)
    alphas = {terms.alpha for key, terms in claim.compiled() if key[2] is None}
    alpha = alphas.pop() if len(alphas) == 1 else None
    values = {} if alpha is None else {"alpha": Parametric.number(alpha)}
    growing: tuple[str, ...] = ("gamma",)
    curve = _curve(claim)
    if any(at_dd(claim, key) for key in keys):
        values = {}
        growing = ("alpha", "gamma")
    elif curve is not None:
        rate, base = map(Parametric.number, curve)
        values = {"alpha": rate * Parametric.unknown("gamma") + base}
    conditions = list(region_conditions(claim, betas, values, growing))
    slope = Fraction(0) if curve is None else curve[0]
    why = "alpha does not depend on gamma" if slope == 0 else "alpha never falls as gamma grows"
    monotonic = Condition("(alpha, gamma)-monotonic", slope >= 0, why if slope >= 0 else "alpha falls as gamma grows")
    decides = "every gamma and every alpha < dd(u)" if len(growing) > 1 or slope else "every gamma"
    theorem = Theorem("Theorem 12", decides, (*conditions, monotonic))
    failed = theorem.failed
    if failed is not None:
        raise DiagnosticError(_outside(claim, failed))
    return theorem


def _curve(claim: Claim) -> tuple[Fraction, Fraction] | None:
    """k and b where alpha is k·gamma + b; None where it does not mention gamma. Raises DiagnosticError for others."""
    if claim.alpha is None or not mentions(claim.alpha.tree, "gamma"):
        return None
    value = claim.alpha.value({**claim.constants, "gamma": Parametric.unknown("gamma")})
    powers = value.powers("gamma") if isinstance(value, Parametric) else None
    if powers is not None and powers.keys() <= {0, 1}:
        slope, base = (powers[power].constant() if power in powers else Fraction(0) for power in (1, 0))
        if slope is not None and base is not None:
            return slope, base
    raise claim.alpha.error(
        "E1253",
        "the claim is not limit-definable: alpha is no linear function of gamma",
        claim.alpha.tree,
        "",
        "with gamma free, alpha is dd, a number, or a multiple of gamma plus a number",
    )


def _require_finite(program: Program) -> None:
    slots = [program.core.slots[slot] for slot in program.core.outputs]
    symbolic = [slot.name for slot in slots if is_symbolic(slot.type)]
    if symbolic:
        message = f"gamma is free, but the output `{symbolic[0]}` has infinitely many values"
        notes = (
            "Theorem 12 decides all gamma at once where all outputs are bool or DOM",
            "give gamma a number; or, for all real inputs at once, ask with `--inputs all`",
        )
        raise DiagnosticError(Diagnostic("E1252", message, notes=notes))


def _outside(claim: Claim, failed: Condition) -> Diagnostic:
    beta = claim.beta
    place = None if beta is None else beta.source.excerpt(beta.tree.span)
    notes = ("with gamma free, one obligation stands for a range of gamma only on that condition: give gamma a number",)
    return Diagnostic("E1253", f"gamma is free, but the claim is not {failed.name}: {failed.why}", place, notes=notes)
