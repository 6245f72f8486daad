"""The claim for every number of queries as a source of cases: small numbers exactly, all others by a union bound.

The union bound can prove a claim and never refute it. If it does not prove the claim, small numbers of queries are
tried exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, ClassVar

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Undecided
from dipc.chain.state import finite_values
from dipc.claims.claim import ClaimOptions
from dipc.claims.conditions import below_one
from dipc.claims.expression import ClaimExpression
from dipc.decide.engine import Engine
from dipc.decide.obligation import Asking, Verdict, decide
from dipc.decide.scope import claim_scope, join_scopes
from dipc.frozen import LazyModule, frozen
from dipc.program.program import Program
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number import totals
from dipc.questions.every_number.in_number import (
    ONE,
    InNumber,
    OtherScale,
    RationalFunction,
    Summands,
    constant,
    polynomial,
    summands,
)
from dipc.questions.every_number.normal_form import constants_of
from dipc.questions.every_number.uniform import NotUniform, QueryNumber
from dipc.questions.every_number.union_bound import UnionBound, UnionEvidence, UnionProof, union_of
from dipc.questions.report import (
    NO_UNION_BOUND,
    ClassNote,
    ClassResult,
    Counts,
    Evidence,
    Method,
    Report,
    ReportedRows,
    RowResult,
    overall,
)
from dipc.questions.source import Case, Source
from dipc.rules.class_claim import ClassClaim, products
from dipc.rules.input_classes import require_product
from dipc.rules.rule import ProofStep, Requirement
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.ast import BaseType, mentions
from dipc.text.core import Value, show_value
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input
from dipc.text.diagnostic import SourceText as Text
from dipc.text.parser import parse, parse_interval
from dipc.text.precondition import selection_unsupported

if TYPE_CHECKING:
    from dipc.questions import witnesses
    from dipc.sign import optimum
else:
    witnesses = LazyModule("dipc.questions.witnesses")
    optimum = LazyModule("dipc.sign.optimum")

#: How many numbers of queries are tried exactly: if the union bound proves nothing, and if it is known to fail at some
#: number. The greatest number at which it fails that is tried, and with how many inputs. How many numbers are checked
#: for such a failure.
MOST_TRIED = 4
MOST_TRIED_TO_BREAK = 8
MOST_AT_INPUTS = 500
MOST_INPUTS = 3
MOST_COMPARED = 1_000

#: The greatest number of finite inputs that are also decided in classes. Only classes have certificates.
MOST_IN_CLASSES = 64

#: The greatest number of finite inputs, for one number of queries, that are decided one by one.
MOST_ONE_BY_ONE = 5_000

_UNPROVED = "the union bound over single comparisons is too weak to prove the claim"


@frozen
class _Numbers:
    """The values of m that a question is about, in two groups: m from `least` to `start` - 1, and m >= `start`.

    Each m of the first group is a case of its own. `union` is a union bound of the error at every m >= `start`, or None
    if there is none. `proof` is a search for a proof that the bound is at most beta, or None if the bound cannot be
    compared with beta. `reason` is the reason to report if nothing is proved about m >= `start`.
    """

    least: int
    start: int
    proof: UnionProof | None
    reason: str
    union: UnionBound | None = None


@frozen
class NumberResult(ClassResult):
    """The result about one m, or about all m beyond some number.

    `singly` pairs each m that was decided on its own with the results for its classes. If the last row of the result is
    about all m >= `start`, `union` is the proof of that row. In all other results, `start` and `union` are None. The
    field `union` is also None if that row is undecided, or proved without a union bound.
    """

    singly: tuple[tuple[int, tuple[ClassResult, ...]], ...] = field(default=(), compare=False, repr=False)
    start: int | None = field(default=None, compare=False, repr=False)
    union: UnionEvidence | None = field(default=None, compare=False, repr=False)


class AllNumbers(Source):
    """The claim about every real input and every m, the integer value of the constant `parameter`.

    The least m is the first index of the loop over queries, or `least` if that is greater.
    """

    respects_requires: ClassVar[bool] = True

    def __init__(
        self,
        program: Program,
        parameter: str,
        least: int | None,
        options: ClaimOptions,
        *,
        singly: int = 0,
        by_inputs: Callable[[Program, ClaimOptions], Source] | None = None,
    ) -> None:
        """Read the claim of `options` about `program` for every m >= `least`, where m is the constant `parameter`.

        The first `singly` values of m are always cases of their own. `by_inputs` makes the question that decides each
        input on its own, from a program with finite inputs and the options; None if no question does. Raises
        DiagnosticError for an unknown `parameter`, and for a claim or program that cannot be decided for every m.
        """
        _require_reals(program)
        require_product(program.core)
        if program.core.selection is not None:
            raise selection_unsupported("`--for-all`", "give `--inputs all`")
        if parameter not in program.core.constants:
            note = f"the constants are {', '.join(program.core.constants) or 'none'}"
            raise bad_input("E1207", f"the program has no constant `{parameter}`", note)
        program.validate_numbers(parameter)
        claim = ClassClaim(program, options)
        super().__init__(program, claim.intervals, claim.texts)
        self.claim = claim
        self.parameter = parameter
        self.options = options
        self._asked_least = least
        self._singly = singly
        self._by_inputs = by_inputs
        self._instances: dict[int, EveryInput] = {}

    @property
    def numbers(self) -> tuple[str, int]:
        return self.parameter, self.least

    @property
    def subject(self) -> str:
        return f"every {self.parameter} >= {self.least}"

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.claim.warnings

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        assert isinstance(rows, ReportedRows)
        report = super().report(list(rows), engine, interrupted=interrupted)
        steady = {name: value for name, value in report.constants.items() if name not in self.varying}
        report = replace(report, constants=steady)
        return report if interrupted else replace(report, evidence=Evidence(self, tuple(rows.results), engine=engine))

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """The constants whose values depend on m."""
        core = self.program.core
        return computed_from(parse(core.source).declarations, core.overrides, self.parameter)

    def constants_of(self, number: int) -> dict[str, Fraction]:
        """Return the values of the parameter, which is m, and of the constants computed from m, for m = `number`.

        If the program is invalid for this m, the result has the parameter only.
        """
        result = {self.parameter: Fraction(number)}
        try:
            return result | {name: self._instance(number).core.constants[name] for name in self.varying}
        except DiagnosticError:
            return result

    @property
    def least(self) -> int:
        return self.range.least

    def cases(self) -> Iterator[Case]:
        """Yield a case for each small m, and then one case for all larger m together."""
        numbers = self.range
        for number in range(numbers.least, numbers.start):
            yield _OneNumber(self, number - numbers.least + 1, number)
        yield _OtherNumbers(self, numbers.start - numbers.least + 1)

    @cached_property
    def range(self) -> _Numbers:
        """The values of m that the question is about: those decided one by one, and those of a union bound."""
        given = self._asked_least
        least = 1 if given is None else given
        start = least + self._singly
        union: UnionBound | None = None
        try:
            self._require_claim()
            union = union_of(self.program, self.parameter, self.required)
            least = union.least if given is None else max(union.least, given)
            start = max(union.start, least + self._singly)
            proof, start = self._comparison(union, start)
            of_eps = self.claim.intervals
            values = (products(of_eps, None),) if self.claim.is_open else proof.of_variable(of_eps, start)
            return _Numbers(least, start, replace(proof, intervals=values), _UNPROVED, union)
        except NotUniform as refused:
            return _Numbers(least, start, None, self.refusal(refused), union)
        except Undecided as undecided:
            return _Numbers(least, start, None, undecided.reason, union)

    def _comparison(self, union: UnionBound, start: int) -> tuple[UnionProof, int]:
        """Return (a comparison of `union` with beta, first m) such that beta is a polynomial in m for all m >= first m.

        The comparison is in a variable e in place of eps. The polynomial may be only a lower bound of beta (see
        `UnionProof`). The first m is at least `start`. From there, no rate of noise, as a multiple of e, falls as m
        grows. Raises NotUniform if no variable that is tried has these properties.
        """
        sums = tuple(sorted(union.sums, key=repr))

        def compared(scale: RationalFunction, *, lesser: bool = False) -> UnionProof:
            beta = partial(self._beta, scale=scale, lesser=lesser)
            return UnionProof(sums, union.rates, scale, beta, self.claim.intervals, lesser)

        refused: NotUniform | None = None
        varying = () if union.rates is None else union.rates.of_marks
        scales = [ONE, *(rate.inverse() for rate in varying if rate.constant_value() is None)]
        tried: dict[RationalFunction, int] = {}
        while scales:
            scale = scales.pop(0)
            if scale in tried:
                continue
            proof = compared(scale)
            later = range(start, start + MOST_TRIED + 1)
            begin = next((number for number in later if proof.holds_from(number)), None)
            tried[scale] = -1 if begin is None else begin
            try:
                proof.beta(start if begin is None else begin)
            except OtherScale as other:
                scales.insert(0, other.rate.inverse())
                refused = refused or other
            except NotUniform as other:
                refused = refused or other
            else:
                if begin is not None:
                    return proof, begin
                refused = NotUniform(proof.refusal(start, self.parameter))
        # Leave out summands of beta in other variables. The variable that leaves the greatest power is the best.
        left: dict[int, tuple[UnionProof, int]] = {}
        for scale, begin in tried.items():
            proof = compared(scale, lesser=True)
            with suppress(NotUniform):
                if begin != -1 and (powers := proof.beta(begin)):
                    left.setdefault(max(powers), (proof, begin))
        if left:
            return left[max(left)]
        assert refused is not None, "there is a first scale"
        raise refused

    @cached_property
    def required(self) -> Requirement:
        """The requirement that the claim makes at its distances: beta as a function of eps or distance·eps."""
        return self.claim.requirement()

    def refusal(self, refused: NotUniform) -> str:
        """Return the message that there is no union bound, with the reason in `refused` and its line in the program."""
        line = ""
        if refused.span is not None:
            line = f" (line {self.program.core.source.excerpt(refused.span).line})"
        return f"{NO_UNION_BOUND}: {refused.reason}{line}"

    def question_for(self, number: int) -> EveryInput:
        """Return the question for m = `number`; raise DiagnosticError if the program is invalid for this m."""
        if number not in self._instances:
            program = self._instance(number)
            self._instances[number] = EveryInput(program, ClassClaim(program, self.options))
        return self._instances[number]

    def exactly(self, number: int) -> Asking[tuple[ClassResult, ...]]:
        """Decide the claim for m = `number`, and return the results of its classes of inputs."""
        rows: list[ClassResult] = []
        name = f"{self.parameter} = {number}"
        try:
            alone, is_small = (yield from self._input_by_input(number)) or (None, False)
            if alone is not None and not is_small:
                return (alone,)
            for case in self.question_for(number).cases():
                row = yield from case.settle()
                assert isinstance(row, ClassResult)
                rows += row.rows or [row]
            if alone is not None and _together(rows) is Verdict.UNDECIDED:
                return (alone,)
        except DiagnosticError as error:
            reason = f"the program is not valid for {name}: {error.diagnostics[0].message}"
            return (self.row(name, Method.NONE, Verdict.UNDECIDED, reason),)
        return tuple(replace(row, note=replace(row.note, numbered=(name, *row.note.numbered))) for row in rows)

    def _input_by_input(self, number: int) -> Asking[tuple[ClassResult, bool] | None]:
        """Decide each input for m = `number` on its own; return the result and whether classes should be decided, too.

        Classes should be decided if there are few inputs, because only classes have certificates. The result is None if
        an input is not finite, if there are too many inputs, or if one of them is undecided. Raises DiagnosticError if
        the program is invalid for this m.
        """
        program = self._instance(number)
        if self._by_inputs is None or not program.core.has_finite_inputs:
            return None
        if prod(len(finite_values(slot)) for slot in program.core.input_slots) > MOST_ONE_BY_ONE:
            return None
        rows: list[RowResult] = []
        with suppress(Undecided):
            for case in self._by_inputs(program, self.options).cases():
                row = yield from case.settle()
                if row.verdict is Verdict.INACCURATE:
                    gamma = Fraction(row.gamma) if self.claim.free_gamma else None
                    values: dict[int, Value] = {
                        slot.index: next(v for v in finite_values(slot) if show_value(v) == row.input[slot.name])
                        for slot in program.core.input_slots
                    }
                    refuted = yield from self._refuted_at(number, [values], gamma)
                    return None if refuted is None else (refuted, False)
                if row.verdict is Verdict.UNDECIDED:
                    return None
                rows.append(row)
            if rows:
                result = self.row(f"{self.parameter} = {number}", Method.INPUTS, Verdict.ACCURATE)
                evidence = "its inputs were decided one by one"
                result = replace(result, vacuous=all(row.vacuous for row in rows), evidence=evidence)
                return result, len(rows) <= MOST_IN_CLASSES
        return None

    def refuted(self, number: int, like: Sequence[ClassResult]) -> Asking[ClassResult | None]:
        """Return a result in which one input refutes the claim for m = `number`, or None if no input tried does.

        `like` has the results for the classes of a smaller m. The inputs tried are the hardest ones of these classes,
        extended to more queries.
        """
        with suppress(DiagnosticError, Undecided):
            hardest = (row for row in like if row.input)
            core = self.question_for(number).program.core
            inputs = (longer for row in hardest for longer in witnesses.stretched(core, row.input))
            gamma = Fraction(like[0].gamma) if self.claim.free_gamma else None
            return (yield from self._refuted_at(number, inputs, gamma))
        return None

    def _refuted_at(
        self, number: int, inputs: Iterable[Mapping[int, Value]], gamma: Fraction | None
    ) -> Asking[ClassResult | None]:
        """Try the first few of `inputs` for m = `number`; return the result of one that refutes the claim, or None.

        `gamma` is used if the claim leaves gamma open.
        """
        with suppress(DiagnosticError, Undecided):
            source, where = self.question_for(number), f"{self.parameter} = {number}"
            refuted = yield from source.witnesses.first_refuting(islice(inputs, MOST_INPUTS), gamma, finite=True)
            if refuted is not None:
                note = ClassNote(Method.WITNESS, self.program.core, numbered=(where,), output=refuted.row.output)
                return ClassResult.from_refuted(0, refuted, note)
        return None

    def proved_by_totals(self) -> Asking[bool]:
        """Return True if the claim is proved for every m with sums, counts, minima and maxima of queries as inputs.

        The result is False if the claim depends on m, if the program reads its queries in another way, or if the claim
        about the new inputs is not proved.
        """
        claim = self.claim
        trees = [each.tree for each in (claim.beta, claim.alpha, claim.gamma) if each is not None]
        if self._depends(tuple(trees)):
            return False
        everywhere = (
            not claim.at_distance and claim.alpha_text == "0" and not any(mentions(each, "dd") for each in trees)
        )
        reduce = totals.for_every_input if everywhere else totals.at_distances
        with suppress(DiagnosticError, Undecided):
            program = reduce(self.program, self.parameter)
            if program is not None:
                for case in EveryInput(program, ClassClaim(program, self.options)).cases():
                    row = yield from case.settle()
                    if row.verdict is not Verdict.ACCURATE:
                        return False
                return True
        return False

    def worth_showing(self, number: int, rows: Sequence[ClassResult]) -> Sequence[ClassResult]:
        """Return the results to show for m = `number`, given `rows`, the results for all classes of inputs.

        If the claim holds, the result is one new row about this m. Otherwise it has the rows that are inaccurate, or
        else those that are undecided.
        """
        verdict = _together(rows)
        if verdict is not Verdict.ACCURATE:
            return [row for row in rows if row.verdict is verdict]
        methods = {row.note.method for row in rows}
        method = next(iter(methods)) if methods in ({Method.CORNER}, {Method.INPUTS}) else Method.BOUND
        row = self.row(f"{self.parameter} = {number}", method, verdict)
        claimed = [each.says for each in rows if each.says is not None]
        says = join_scopes(claimed) if claimed else None
        note = replace(row.note, variable=self.required.variable)
        return [replace(row, note=note, vacuous=all(each.vacuous for each in rows), says=says)]

    def with_scope(self, row: ClassResult, start: int) -> ClassResult:
        """Return `row` with the eps at which its claim is not vacuous; `row` is about all m >= `start`.

        These are the eps at m = `start`. The whole row is marked as vacuous if it is accurate, beta is at least 1 at
        all eps for m = `start`, and beta does not fall as m grows.
        """
        assert self.range.proof is not None
        intervals, limits = self.range.proof.intervals, self.program.limits
        try:
            first, *rest = (PiecewiseForm(form) for _, form in sorted(self.range.proof.beta(start).items()))
        except (NotUniform, Undecided, ValueError):
            return row
        says = claim_scope(first, intervals, limits)
        grows = says.is_vacuous and all(
            # 1 >= 1 - coefficient means that the coefficient is at least 0.
            decide(ClosedForm(ExpPoly.ONE), coefficient, intervals, limits).verdict is Verdict.ACCURATE
            for coefficient in rest
        )
        vacuous = grows and row.verdict is Verdict.ACCURATE
        if self.range.proof.is_other:
            return replace(row, vacuous=vacuous)  # These values are of another variable for each number.
        return replace(row, note=replace(row.note, variable=self.required.variable), says=says, vacuous=vacuous)

    def row(
        self,
        where: str,
        method: Method,
        verdict: Verdict,
        reason: str | None = None,
        numbers: tuple[int, int] | None = None,
    ) -> ClassResult:
        note = ClassNote(method, self.program.core, numbered=(where,), numbers=numbers)
        zero = PiecewiseForm(ExpPoly.ZERO)
        return ClassResult(0, {}, {}, self.claim.alpha_text, zero, "", verdict, reason=reason, note=note)

    def _require_claim(self) -> None:
        for name, expression in (("alpha", self.claim.alpha), ("gamma", self.claim.gamma)):
            if expression is not None and self._depends(expression.tree):
                raise NotUniform(f"{name} depends on `{self.parameter}`")
        asked = self.options.eps
        rest: object = None if self.program.core.claim is None else self.program.core.claim.fields
        if asked is not None:
            rest = parse_interval(Text("<eps>", asked)) if isinstance(asked, str) else None
        elif isinstance(rest, tuple):
            rest = tuple(field for field in rest if field.name == "eps")
        if self._depends(rest):
            raise NotUniform(f"the interval of eps depends on `{self.parameter}`")

    def _depends(self, tree: object) -> bool:
        return any(mentions(tree, name) for name in (self.parameter, *self.varying))

    @cached_property
    def _beta_below_one(self) -> ClaimExpression:
        return below_one(self.claim.beta)

    @cached_property
    def _names(self) -> dict[str, Summands]:
        names = {name: summands(value) for name, value in self.claim.names().items()}
        known = {name: value for name, value in names.items() if value is not None and name not in self.varying}
        known.pop(self.parameter, None)
        return {**known, **self._constants.names}

    @cached_property
    def _constants(self) -> InNumber:
        tree = parse(self.program.core.source)
        return constants_of(tree, self.program.core, QueryNumber(self.parameter, self.varying))

    def _beta(self, start: int, *, scale: RationalFunction, lesser: bool) -> dict[int, ExpPoly]:
        """Return beta as a polynomial in m - `start`: a mapping from each power to its coefficient, a function of e.

        The variable e replaces eps: eps = `scale`(m)·e. If `lesser` is true, the polynomial is a lower bound of beta.
        """
        evaluation = InNumber("beta", self.parameter, self._names, scale, list(self._constants.divisors))
        result: dict[int, ExpPoly] = {}
        for power, form in polynomial(evaluation, self._beta_below_one.tree, start, lesser=lesser).items():
            value = form.in_product() if self.claim.is_open else form.flat()
            if value is None:
                raise NotUniform("beta is not a function of distance*eps for every number of queries")
            result[power] = value
        return result

    def number_that_breaks(self, start: int) -> int | None:
        """Return an m >= `start` at which the union bound is greater than beta for large eps, or None if none is found.

        The claim is likely to be false at this m. Every m below `start` + 64 is tried, then fewer and fewer: after each
        one tried, m - `start` grows by a quarter.
        """
        union = self.range.union
        if union is None:
            return None

        def breaks(number: int) -> bool:
            error, beta = union.decay(number), self._beta_decay(number)
            return error is not None and beta is not None and error < beta

        before, number = start, start
        try:
            # A divisor in a rate can be 0.
            while number < start + MOST_COMPARED:
                if breaks(number):
                    return next(each for each in range(before, number + 1) if each == number or breaks(each))
                before, number = number + 1, number + max(1, (number - start) // 4 if number >= start + 64 else 1)
        except (NotUniform, Undecided, ZeroDivisionError):
            return None
        return None

    def _beta_decay(self, number: int) -> Fraction | None:
        """Return the rate r at which beta for m = `number` decays like e^{-r·t} as t grows.

        The variable t is eps, or distance·eps if a distance is open. The result is None if beta is not positive for
        large t.
        """
        own = {name: constant(value.value_at(number)) for name, value in self._constant_ratios.items()}
        names = {**self._names, **own, self.parameter: constant(Fraction(number))}
        evaluation = InNumber("beta", "", names, ONE)
        form = polynomial(evaluation, self._beta_below_one.tree, number).get(0)
        value = None if form is None else form.in_product() if self.claim.is_open else form.flat()
        if value is None:
            return None
        (rate, _), c = optimum.leading_at_infinity(value)
        return -rate if c > 0 else None

    @cached_property
    def _constant_ratios(self) -> dict[str, RationalFunction]:
        known = self._constants.names
        return {name: ratio for name in self.varying if (ratio := known.get(name, {}).get(())) is not None}

    def _instance(self, number: int) -> Program:
        return self.program.with_constants({self.parameter: Fraction(number)})


@frozen
class _OneNumber:
    source: AllNumbers
    number: int
    queries: int

    def steps(self) -> Sequence[ProofStep]:
        return [posed for case in self.source.question_for(self.queries).cases() for posed in case.steps()]

    def undecided_row(self) -> ClassResult:
        where = f"{self.source.parameter} = {self.queries}"
        return replace(self.source.row(where, Method.NONE, Verdict.UNDECIDED), row=self.number)

    def settle(self) -> Asking[RowResult]:
        results = yield from self.source.exactly(self.queries)
        rows = self.source.worth_showing(self.queries, results)
        return _united(rows, self.number, ((self.queries, results),))


@frozen
class _OtherNumbers:
    source: AllNumbers
    number: int

    def steps(self) -> Sequence[ProofStep]:
        source, numbers = self.source, self.source.range
        if numbers.proof is None:
            raise Undecided(numbers.reason)
        if numbers.proof.is_other:
            raise Undecided(f"the rates of the union bound depend on `{source.parameter}`")
        try:
            inequalities = list(numbers.proof.inequalities(numbers.start))
        except NotUniform as refused:
            raise Undecided(source.refusal(refused)) from None
        return [ProofStep(obligation, source.required.variable, why) for obligation, why in inequalities]

    def undecided_row(self) -> ClassResult:
        where = f"{self.source.parameter} >= {self.source.range.start}"
        return replace(self.source.row(where, Method.UNION, Verdict.UNDECIDED), row=self.number)

    def settle(self) -> Asking[RowResult]:
        source, numbers = self.source, self.source.range
        proof: UnionEvidence | None = None
        reason = numbers.reason
        if numbers.proof is None and (yield from source.proved_by_totals()):
            where = f"{source.parameter} >= {numbers.start}"
            span = numbers.least, numbers.start
            row = source.row(where, Method.TOTALS, Verdict.ACCURATE, numbers=span)
            return _united([row], self.number, (), numbers.start)
        if numbers.proof is not None:
            try:
                proof = yield from numbers.proof.prove(numbers.start)
            except NotUniform as refused:
                reason = source.refusal(refused)
            except Undecided as undecided:
                reason = undecided.reason
        if proof is None:
            last = max(numbers.start, numbers.least + MOST_TRIED)
            breaking = source.number_that_breaks(last)
            if breaking is not None and breaking < numbers.least + MOST_TRIED_TO_BREAK:
                last, breaking = breaking + 1, None
        else:
            last, breaking = proof.start, None
        rows: list[ClassResult] = []
        singly: list[tuple[int, tuple[ClassResult, ...]]] = []
        for number in range(numbers.start, last):
            exactly = yield from source.exactly(number)
            singly += [(number, exactly)]
            rows += source.worth_showing(number, exactly)
        if breaking is not None:
            looked = breaking <= MOST_AT_INPUTS
            refuted = (yield from source.refuted(breaking, singly[-1][1])) if looked and singly else None
            if refuted is not None:
                singly.append((breaking, (refuted,)))
                rows.append(refuted)
            else:
                reason += (
                    f": at {source.parameter} = {breaking} the bound is greater than beta for large "
                    f"{source.required.variable}, and "
                    + (
                        "no input that was tried refutes the claim"
                        if looked
                        else "the program is not explored for so many queries"
                    )
                )
        elif proof is None and singly and all(row.verdict is Verdict.ACCURATE for row in singly[-1][1]):
            refuted = yield from source.refuted(last, singly[-1][1])
            if refuted is not None:
                singly.append((last, (refuted,)))
                rows.append(refuted)
                last += 1
        where = f"{source.parameter} >= {last}"
        span = numbers.least, last
        if proof is None:
            row = source.row(where, Method.NONE, Verdict.UNDECIDED, reason, numbers=span)
        else:
            row = source.row(where, Method.UNION, Verdict.ACCURATE, numbers=span)
        rows.append(row if numbers.proof is None else source.with_scope(row, last))
        return _united(rows, self.number, singly, last, proof)


def _united(
    rows: Sequence[ClassResult],
    number: int,
    singly: Sequence[tuple[int, tuple[ClassResult, ...]]],
    start: int | None = None,
    union: UnionEvidence | None = None,
) -> NumberResult:
    last = rows[-1]
    return NumberResult(
        number,
        last.input,
        last.output,
        last.alpha,
        last.beta_form,
        last.gamma,
        _together(rows),
        reason=last.reason,
        note=last.note,
        rows=tuple(rows),
        singly=tuple(singly),
        start=start,
        union=union,
    )


def _together(rows: Sequence[RowResult]) -> Verdict:
    verdicts = [row.verdict for row in rows]
    return overall(Counts(len(rows), *(verdicts.count(verdict) for verdict in Verdict)))


def _require_reals(program: Program) -> None:
    core = program.core
    whole = [slot for slot in core.input_slots if slot.type is BaseType.INT]
    if whole:
        raise DiagnosticError(
            Diagnostic(
                "E1203",
                f"`--for-all` covers accuracy at real and finite inputs, but `{whole[0].name}` is an int",
                core.source.excerpt(whole[0].span),
                "declared here",
                ("give the constant a number: `--inputs all` alone is about int inputs, too",),
            )
        )
