"""A claim for every number of queries: exactly for small ones, by a union bound for all others.

The union bound can prove a claim and never refute it. Where it does not, small numbers of queries are tried exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.claim.claim import Given
from dipc.claim.intervals import intervals_text
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source
from dipc.exits.load import load_source
from dipc.exits.program import Program
from dipc.ideal.ideal import Ideal
from dipc.lang.parser import parse_interval
from dipc.obligations.decide import Settled
from dipc.obligations.verdict import Verdict
from dipc.sign import Interval
from dipc.sources.every_input.check import check_all
from dipc.sources.every_input.class_obligation import fixed_obligation, open_obligation
from dipc.sources.every_input.class_result import ClassNote, ClassResult, Method
from dipc.sources.every_input.lower import Distances
from dipc.sources.every_input.scaling import ClassClaim, in_product, products
from dipc.sources.every_number.polynomial import polynomial, shifted
from dipc.sources.every_number.uniform import NotUniform, mentions
from dipc.sources.every_number.union_of import union_of
from dipc.sources.every_number.union_proof import Proof, UnionProof
from dipc.sources.outcome import Effort
from dipc.sources.report import Report

_ZERO = Fraction(0)

#: Numbers of queries that are tried exactly where the union bound proves nothing.
MOST_TRIED = 4

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ForAll:
    """The outcome: `report` has a row for each small number (or its classes that fail) and one for all from `start` on.
    `least` is the least number of queries that the claim is about."""

    report: Report
    least: int
    start: int


def check_for_all(
    program: Program,
    parameter: str,
    *,
    beta: Given = None,
    alpha: Given = None,
    gamma: Given = None,
    eps: Given = None,
    least: int | None = None,
    progress: Progress | None = None,
) -> ForAll:
    """Decide the claim for every real input and every integer value of the constant `parameter`, from the first index
    of its loop on, or from `least` on where that is greater.

    ACCURATE is proved: exactly for small numbers, by a union bound over single comparisons for the others. INACCURATE
    has a number and an input. Raises DiagnosticError for what cannot be read, and for an unknown constant.
    """
    begun = perf_counter()
    if parameter not in program.core.constants:
        notes = (f"the constants are {', '.join(program.core.constants) or 'none'}",)
        raise DiagnosticError(Diagnostic("E1207", f"the program has no constant `{parameter}`", notes=notes))
    claim = ClassClaim(program, beta, alpha, gamma, eps)
    run = _Run(program, parameter, claim, {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps}, least)
    rows, first, start = run.rows(progress)
    numbered = tuple(replace(row, row=at) for at, row in enumerate(rows, start=1))
    effort = Effort(seconds=perf_counter() - begun, obligations=run.obligations)
    return ForAll(Report(program.name, numbered, intervals_text(claim.intervals), effort=effort), first, start)


class _Run:
    def __init__(
        self, program: Program, parameter: str, claim: ClassClaim, given: Mapping[str, Given], least: int | None
    ) -> None:
        self._program = program
        self._parameter = parameter
        self._claim = claim
        self._given = given
        self._least = least
        self.obligations = 0

    def rows(self, progress: Progress | None) -> tuple[list[ClassResult], int, int]:
        """The rows, the least number, and from where on the last row speaks."""
        least = start = 1 if self._least is None else self._least
        proof: Proof | None = None
        reason = "the union bound over single comparisons does not prove the claim"
        try:
            self._require_claim()
            union = union_of(self._program, self._parameter, self._at, self._distances())
            least = union.least if self._least is None else max(union.least, self._least)
            start = max(union.start, least)
            attempt = UnionProof(
                union.sums, self._beta, self._intervals(), self._program.limits.sign, self._program.measurer
            )
            proof = attempt.prove(start)
            self.obligations = attempt.obligations
        except NotUniform as refused:
            reason = f"no union bound: {refused.reason}{self._line(refused)}"
        except Undecided as undecided:
            reason = undecided.reason
        last = max(start, least + MOST_TRIED) if proof is None else proof.start
        rows: list[ClassResult] = []
        for number in range(least, last):
            rows += self._exactly(number)
            if progress is not None:
                progress(len(rows), None)
        rows.append(self._rest(last, proof, reason))
        return rows, least, last

    def _rest(self, start: int, proof: Proof | None, reason: str) -> ClassResult:
        """The row for all numbers from `start` on."""
        where = f"{self._parameter} >= {start}"
        if proof is None:
            return self._row(where, Method.NONE, Settled(Verdict.UNDECIDED, reason=reason))
        return self._row(where, Method.UNION, Settled(Verdict.ACCURATE))

    def _require_claim(self) -> None:
        """Raises NotUniform where more of the claim than beta depends on the number of queries."""
        for name, expression in (("alpha", self._claim.alpha), ("gamma", self._claim.gamma)):
            if expression is not None and mentions(expression.tree, self._parameter):
                raise NotUniform(f"{name} depends on `{self._parameter}`")
        asked = self._given["eps"]
        parts: object = None if self._program.core.claim is None else self._program.core.claim.fields
        if asked is not None:
            parts = parse_interval(Source("<eps>", asked)) if isinstance(asked, str) else None
        elif isinstance(parts, tuple):
            parts = tuple(field for field in parts if field.name == "eps")
        if mentions(parts, self._parameter):
            raise NotUniform(f"the interval of eps depends on `{self._parameter}`")

    # --- all numbers from one on ------------------------------------------------------------------------------

    def _distances(self) -> Distances:
        claim = self._claim
        return (open_obligation(claim) if claim.is_open else fixed_obligation(claim.without_distance())).distances

    def _beta(self, start: int) -> dict[int, ExpPoly]:
        names = self._claim.names()
        names.pop(self._parameter, None)
        found: dict[int, ExpPoly] = {}
        for power, form in shifted(polynomial(self._claim.beta, self._parameter, names), start).items():
            value = in_product(form) if self._claim.is_open else form.flat()
            if value is None:
                raise NotUniform("beta is not a function of distance*eps for every number of queries")
            found[power] = value
        return found

    def _intervals(self) -> tuple[Interval, ...]:
        return (products(self._claim.intervals, None),) if self._claim.is_open else self._claim.intervals

    # --- small numbers ------------------------------------------------------------------------------------------

    def _at(self, number: int) -> Ideal:
        """The program with its ideal for one number of queries."""
        return Ideal(self._instance(number))

    def _instance(self, number: int) -> Program:
        core = self._program.core
        constants = {**core.constants, self._parameter: Fraction(number)}
        return load_source(core.source, constants).with_limits(self._program.limits)

    def _exactly(self, number: int) -> list[ClassResult]:
        name = f"{self._parameter} = {number}"
        try:
            report = self._check(number)
        except DiagnosticError as error:
            reason = f"the program is refused for {name}: {error.diagnostics[0].message}"
            return [self._row(name, Method.NONE, Settled(Verdict.UNDECIDED, reason=reason))]
        if report.verdict is Verdict.ACCURATE:
            methods = {row.note.method for row in report.rows if isinstance(row, ClassResult) and row.note is not None}
            method = Method.CORNER if methods == {Method.CORNER} else Method.BOUND
            return [self._row(name, method, Settled(Verdict.ACCURATE))]
        failing = [row for row in report.select(report.verdict) if isinstance(row, ClassResult)]
        assert failing, "a verdict other than accurate has a row"
        return [replace(row, note=_prefixed(row.note, name)) for row in failing]

    def _check(self, number: int) -> Report:
        given = self._given
        return check_all(
            self._instance(number), beta=given["beta"], alpha=given["alpha"], gamma=given["gamma"], eps=given["eps"]
        )

    def _row(self, where: str, method: Method, settled: Settled) -> ClassResult:
        note = ClassNote({}, (where,), method)
        zero = ClosedForm(ExpPoly.zero())
        return ClassResult(
            0, {}, {}, self._claim.alpha_text, zero, "", settled.verdict, reason=settled.reason, note=note
        )

    def _line(self, refused: NotUniform) -> str:
        if refused.span is None:
            return ""
        return f" (line {self._program.core.source.excerpt(refused.span).line})"


def _prefixed(note: ClassNote | None, where: str) -> ClassNote | None:
    return None if note is None else replace(note, where=(where, *note.where))
