"""The certificates of reports with their evidence, and of least numbers (see FORMAT.md in this folder)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import magnitude
from dipc.certificate.answers import with_answers
from dipc.certificate.data import (
    HOLE,
    FunctionData,
    Uncertified,
    as_read,
    claim_data,
    encode,
    has_closed_forms,
    headed,
    own_cells,
    rational,
    require_known_laws,
    row_texts,
    seal,
    sealed,
    table_data,
)
from dipc.certificate.inputs import certify_inputs
from dipc.certificate.obligations import Beta, ObligationWriter, certified, has_normal, stars_of
from dipc.certificate.privacy import certify_privacy
from dipc.claims.claim import FREE, Terms, claim_expression
from dipc.claims.given import number_of
from dipc.claims.table import Row, packed
from dipc.decide.engine import Engine
from dipc.decide.obligation import Decision, DecisionInCells, Obligation, Verdict
from dipc.inverse.question import EpsSolution, GammaSolution, Question, Solution, Status
from dipc.inverse.tighten import Tightest
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.every_number import EveryNumber
from dipc.questions.privacy.loss import Loss
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer
from dipc.questions.report import DecidedRows, Evidence, Product, Report, RowOutcome, RowResult
from dipc.questions.rows import FreeGamma, TableRows
from dipc.sign.interval import Interval
from dipc.text.printer import print_expression
from dipc.verifier.claims import Beta as Read
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.claims import mentions
from dipc.verifier.document import document_of, program_in, theorem_of
from dipc.verifier.exchange import Product as ExchangedProduct
from dipc.verifier.obligations import end
from dipc.verifier.reading import SCHEMA, Answers, Budget, Rejected
from dipc.verifier.reading import Question as About


def certify(report: Report, tool: str = "dipc") -> str:
    """Return the text of the certificate of `report`, the answer of `check(..., keep_proofs=True)`.

    `tool` names its writer. Raises ValueError for a report without evidence, and for one that was interrupted.
    """
    if report.evidence is None:
        raise ValueError("the report kept no proofs: check again with keep_proofs=True")
    if report.interrupted:
        raise ValueError("the check was interrupted, and part of a table has no certificate: run it again to the end")
    question = report.evidence.question
    assert isinstance(question, TableRows | EveryInput | AllNumbers)
    require_known_laws(question.program.core)
    if isinstance(question, FreeGamma):
        writer = _RangeWriter(question, report.evidence.engine)
        document = with_answers(writer.document(report.evidence.results, report.verdict, tool))
        return sealed(_with_product(document, report.evidence.product))
    if isinstance(question, TableRows):
        return seal(_RowWriter(question, report.evidence).encoded_fields(report.verdict, tool))
    if any(row.count is not None for row in report.rows):
        raise Uncertified(
            "there are too many classes of inputs to list, and the checker does not follow a class that represents "
            "others"
        )
    return certify_inputs(question, report.evidence, tool)


@dataclass(slots=True)
class _RowWriter:
    question: TableRows
    evidence: Evidence
    functions: FunctionData = field(default_factory=FunctionData)
    rows: DecidedRows = field(init=False)
    stated: dict[str, Any] = field(init=False)
    reader: ClaimReader = field(init=False)
    obligations: ObligationWriter = field(init=False)

    def __post_init__(self) -> None:
        assert isinstance(self.evidence.results, DecidedRows)
        self.rows = self.evidence.results
        limits, intervals = self.question.program.limits, self.question.claim.intervals
        self.obligations = ObligationWriter(self.functions, limits, intervals)
        claim = self.question.claim
        self.stated = claim_data(claim)
        self.reader = ClaimReader.read(self.stated, dict(self.question.program.core.constants))

    def encoded_fields(self, verdict: Verdict, tool: str) -> dict[str, str | list[str]]:
        named, table = self.question.program, self.question.table
        columns = packed(table.rows, len(named.inputs), len(named.outputs))
        rows = list(row_texts(columns, self.rows, len(named.inputs), len(named.outputs), self._shared))
        document = {
            **headed(About.ROWS, named, tool, verdict),
            "table": table_data(named, table),
            "claim": self.stated,
            "rows": [],
            **self.obligations.shared(),
        }
        # The rows are parsed only if the checker asks about one of them.
        document["answers"] = with_answers({**document, "rows": map(json.loads, rows)})["answers"]
        if self.evidence.product is not None:
            whole = {**document, "rows": list(map(json.loads, rows))}
            document = {**_with_product(whole, self.evidence.product), "rows": []}
        parts: dict[str, str | list[str]] = {
            name: list(map(encode, part)) if isinstance(part, list) else encode(part) for name, part in document.items()
        }
        return parts | {"rows": rows}

    # --- rows -------------------------------------------------------------------------------------

    def _shared(self, row: Row, outcome: RowOutcome) -> dict[str, Any]:
        """Return the JSON data of `row` that is equal for all rows with an equal `outcome`, dd and claim columns.

        The input, the output and the row's number, which may differ, are placeholders.
        """
        terms, probability, settled = outcome.terms, outcome.probability, outcome.settled
        beta = self._certified(row, terms)
        data: dict[str, Any] = {
            "alpha": terms.alpha_text,
            "gamma": terms.gamma.text,
            "beta": self.obligations.beta(beta),
        }
        data |= {**_cells_of_claim(row), "input": HOLE, "output": HOLE, "row": HOLE}
        intervals = self.question.claim.intervals
        vacuous, nothing = terms.vacuous, outcome.vacuous
        entry = self.obligations.of_row(probability, beta, intervals, settled, vacuous=vacuous, nothing=nothing)
        if "open" in entry:
            entry |= self._over_normal_noise(row, outcome, beta)
        return data | {name: value for name, value in entry.items() if value is not None or name != "open"}

    def _over_normal_noise(self, row: Row, outcome: RowOutcome, beta: Beta) -> dict[str, Any]:
        """Return the JSON fields of `row` about its probability and obligation if it is over normal noise, else {}.

        `outcome` has what was decided about the row, and `beta` is its beta. If the probability is too long, the only
        field is the reason.
        """
        try:
            bound = self.question.probabilities.bound(row.inputs, row.outputs, outcome.terms.gamma)
            if not has_normal(bound):
                return {}
            value = stars_of(bound, self.question.program.measurer)
        except Undecided as undecided:
            return {"open": undecided.reason}
        intervals, settled = self.question.claim.intervals, outcome.settled
        number = self.obligations.obligation(value, beta, intervals, settled, read=self._read(row))
        return {"probability": self.obligations.probability(value), "obligation": number, "open": None}

    def _read(self, row: Row) -> Read | None:
        return self.reader.terms(own_cells(row), None if row.dd is None else row.dd.text, Budget())[2]

    def _certified(self, row: Row, terms: Terms) -> Beta:
        beta, own = terms.beta, own_cells(row)
        expression = own.get("beta", self.stated["beta"])
        pieces = any(name in expression and mentions(expression, name) for name in ("min", "max", "abs"))
        if beta.closed is not None and not pieces:
            return beta.closed
        return certified(beta, self._read(row), self.question.claim.intervals)


def _cells_of_claim(row: Row) -> dict[str, Any]:
    own = own_cells(row)
    return {**({} if row.dd is None else {"dd": row.dd.text}), **({"own": own} if own else {})}


def _with_product(document: dict[str, Any], product: Product | None) -> dict[str, Any]:
    """Return `document` with the statement that its rows represent all inputs of `product`, by exchanges.

    If the checker does not accept the statement, its reason is stated instead.
    """
    if product is None:
        return document
    exchanges = [
        {"row": one.row, "blocks": one.blocks, "free": one.free} for one in product.exchanges if one.blocks or one.free
    ]
    alike = {"alike": product.alike} if product.alike else {}
    stated = json.loads(encode({"values": product.values, "exchanges": exchanges, **alike}))
    reason = _doubt({**document, "product": stated})
    return {**document, "product": stated if reason is None else {**stated, "exchanges": [], "reason": reason}}


def _doubt(document: dict[str, Any]) -> str | None:
    """Return the checker's reason for not accepting that the rows of `document` represent all inputs, or None."""
    known, budget = document_of(document), Budget(answers=Answers(document["answers"]))
    tree, machine, _ = program_in(known, budget)
    try:
        theorem = theorem_of(known, tree, machine, budget)
        rows = [(row["input"], row["output"]) for row in document["rows"]]
        return ExchangedProduct.read(document["product"]).require(rows, theorem, dd=document["table"]["dd"])
    except Rejected as error:
        return error.why


# --- A table with gamma left open: each row has ranges of gamma, each with an obligation ------------------------------


class _RangeWriter:
    def __init__(self, question: FreeGamma, decider: Engine | None) -> None:
        self._question = question
        self._decider = decider
        claim = question.claim
        self._stated = claim_data(claim) | {"gamma": FREE}
        self._reader = ClaimReader.read(self._stated, dict(question.program.core.constants))
        self._obligations = ObligationWriter(FunctionData(), question.program.limits)

    def document(self, results: Sequence[RowResult], verdict: Verdict, tool: str) -> dict[str, Any]:
        question = self._question
        rows = [self._row(row, result) for row, result in zip(question.table.rows, results, strict=True)]
        return {
            **headed(About.ROWS, question.program, tool, verdict),
            "table": table_data(question.program, question.table),
            "claim": self._stated,
            "rows": rows,
            **self._obligations.shared(),
        }

    def _row(self, row: Row, result: RowResult) -> dict[str, Any]:
        own = own_cells(row)
        data: dict[str, Any] = {
            "row": row.number,
            "input": [cell.text for cell in row.inputs],
            "output": [None if cell is None else cell.text for cell in row.outputs],
            **_cells_of_claim(row),
        }
        try:
            ranges = self._question.ranges(row)
        except Undecided as undecided:
            return data | {"ranges": [], "verdict": str(result.verdict), "reason": undecided.reason}
        if row.gamma is not None:
            ((terms, _),) = ranges
            stated = as_read(lambda: self._reader.terms(own, data.get("dd"), Budget())[2])
            return data | {"gamma": terms.gamma.text} | self._claimed(row, terms, result, stated)
        highs = [*[after.gamma.text for after, _ in ranges[1:]], "inf"]
        data["ranges"] = []
        for (terms, _), one, high in zip(ranges, result.obligations, highs, strict=True):
            ends = number_of(terms.gamma), end(high)
            claimed = as_read(partial(self._reader.range, own, data.get("dd"), ends, Budget()))
            read = None if claimed is None else claimed[1]
            data["ranges"].append({"to": high} | self._claimed(row, terms, one, read))
        return data | {"verdict": str(result.verdict)}

    def _claimed(self, row: Row, terms: Terms, result: RowResult, read: Read | None) -> dict[str, Any]:
        beta = certified(terms.beta, read, ())
        form, intervals = result.closed_form, self._question.intervals
        proof = None if terms.vacuous or form is None else self._proof(row, terms)
        decision = Decision(result.verdict, form, result.counterexample, result.failing, result.reason, proof)
        nothing = result.says is not None and result.says.is_vacuous
        data = {"alpha": terms.alpha_text, "beta": self._obligations.beta(beta)}
        return data | self._obligations.of_row(form, beta, intervals, decision, vacuous=terms.vacuous, nothing=nothing)

    def _proof(self, row: Row, terms: Terms) -> tuple[DecisionInCells | None, ...] | None:
        question = self._question
        obligation = Obligation(question.bound(row, terms), terms.beta, question.intervals)
        made = None if self._decider is None else self._decider.known_decision(obligation)
        return None if made is None else made.proof


# --- least numbers: a proof with a greater one, a refutation with a smaller one ---------------------------------------


_ZERO = Fraction(0)

#: The distance between the refuted budget and the constant of privacy.
_STEP = Fraction(1, 1000)


def certify_factor(tightest: Tightest, tool: str = "dipc") -> str:
    """Return the certificate of the least factor of beta: a number above it suffices, and one below does not.

    `tightest` is the answer that has the factor, and `tool` is named as the writer. Raises Uncertified if the least
    factor is not known, or if there is none.
    """
    if tightest.factor is None or not tightest.complete:
        raise Uncertified("no factor suffices" if tightest.factor is None else "the least factor is not known")
    question = tightest.claims.question
    if question.table is not None and "beta" in question.table.columns:
        raise Uncertified("the factor multiplies the beta of the claim, but the rows have their own beta")
    expression = claim_expression(question.program.core, "beta", question.options.beta)
    assert expression is not None, "the claim has this part"
    beta = print_expression(expression.tree)
    if has_closed_forms(question.program.core):
        low, high = _bracket_ends(tightest.factor, tightest.digits)
    else:
        # Each bound is at least one unit of its last digit outside of the cell.
        low, high = tightest.factor
        unit = Fraction(10) ** (magnitude(high) - min(tightest.digits, _DIGITS_OF_CELLS))
        low, high = (low // unit - 1) * unit, (-(-high // unit) + 1) * unit
    return _bracket(
        "factor", question, low, high, lambda factor: {"beta": f"({factor})*({beta})"}, {"beta": beta}, tool
    )


def certify_solution(solution: Solution, tool: str = "dipc") -> str:
    """Return the certificate of `solution`, which is the least gamma, or the least eps beyond which the claim holds.

    `tool` is named as the writer. Raises Uncertified if the solution has no such number or is not known, and for
    solutions of other kinds.
    """
    if solution.status is not Status.SOLVED:
        raise Uncertified(
            f"the least {solution.wanted} is not known" if solution.status is Status.UNDECIDED else solution.remark
        )
    match solution:
        case GammaSolution(value=(_, _) as value):
            if solution.question.table is not None and "gamma" in solution.question.table.columns:
                raise Uncertified("a certificate covers a single gamma, but the rows have their own gamma")
            low, high = _bracket_ends(value, solution.digits)
            return _bracket(
                "gamma", solution.question, low, high, lambda gamma: {"gamma": str(gamma)}, {"gamma": None}, tool
            )
        case EpsSolution(from_there_on=True) if solution.eps_answer is not None:
            low, high = _bracket_ends(solution.eps_answer, solution.digits)
            return _of_eps(solution, low, high, tool)
        case EpsSolution(everywhere=True):
            raise Uncertified("the claim holds at every eps: `dipc check --certificate FILE` certifies it")
        case EpsSolution():
            raise Uncertified(
                "the values of eps at which the claim holds are not a single interval (x, inf): "
                "check the claim with `--eps` on each interval where it holds"
            )
    raise Uncertified(
        f"the checker does not follow a least {solution.wanted}: run `dipc check` with this {solution.wanted} instead"
    )


def certify_constant(question: PrivacyQuestion | EveryNumber, constant: Constant | Loss, tool: str = "dipc") -> str:
    """Return the certificate of `constant`, a least privacy constant K or the largest loss at one eps.

    It proves the program of `question` private with the constant as its budget, and refutes a smaller budget if this
    refutation has a certificate; a claim for every m is refuted for one m. `tool` is named as the writer. Raises
    Uncertified.
    """
    low, high = _budgets(constant)
    eps = Interval(constant.eps, constant.eps, True, True) if isinstance(constant, Loss) else constant.eps

    def decided(question: PrivacyQuestion | EveryNumber, budget: Fraction, wanted: PrivacyVerdict) -> dict[str, Any]:
        report = question.decide(read_claim(question.program, f"{budget}*eps", None, eps))
        if report.verdict is not wanted:
            raise Uncertified(f"the claim with the budget {budget}*eps is {report.verdict}")
        document: dict[str, Any] = json.loads(certify_privacy(question, report, tool))
        return document

    proved, refuted = decided(question, high, PrivacyVerdict.PRIVATE), None
    one = question
    if isinstance(question, EveryNumber):
        assert isinstance(constant, Constant), "a constant is about every eps"
        assert constant.numbers is not None, "the constant is about every number of queries"
        assert constant.numbers.at is not None, "the constant is attained at one of the numbers tried"
        one = question.question_for(constant.numbers.at)
    assert isinstance(one, PrivacyQuestion), "the question is about one number of queries"
    if low > 0:
        # A refutation by real outputs is sought again, and may not be found next to the constant.
        with suppress(*() if one.finite_outputs else (Uncertified,)):
            refuted = decided(one, low, PrivacyVerdict.NOT_PRIVATE)
    claim = {**proved["claim"], "budget": None}
    return _least_document("budget", claim, None if refuted is None else low, high, proved, refuted, tool)


def _budgets(constant: Constant | Loss) -> tuple[Fraction, Fraction]:
    """Return (a refuted budget, a proved budget), in multiples of eps, from the answer `constant`.

    `constant` has bounds of the least K of K·eps-privacy, or of the greatest privacy loss at one eps. The refuted
    budget is <= 0 if none is refuted. Raises Uncertified if none is proved.
    """
    match constant:
        case Constant(proved=Fraction() as proved, refuted_below=refuted):
            return (_ZERO if refuted is None else refuted - _STEP), proved
        case Constant():
            raise Uncertified("no constant is proved")
        case Loss(value=None):
            raise Uncertified("the loss is infinite")
        case Loss(value=(low, high), eps=eps):
            return (low if low < high else low - low / 10**6) / eps, high / eps
    raise AssertionError(constant)


def _of_eps(solution: EpsSolution, low: Fraction, high: Fraction, tool: str) -> str:
    question = solution.question
    whole = question.source().intervals
    proved = _proof(question.with_claim(eps=_texts(_part_from(whole, high))), Verdict.ACCURATE, tool)
    refuted = None
    if any(low in interval for interval in whole):
        refuted = _proof(question.with_claim(eps=_texts([Interval(low, low, True, True)])), Verdict.INACCURATE, tool)
    claim = {**proved["claim"], "eps": [str(interval) for interval in whole]}
    return _least_document("eps", claim, None if refuted is None else low, high, proved, refuted, tool)


def _part_from(intervals: Sequence[Interval], start: Fraction) -> list[Interval]:
    remaining = []
    for interval in intervals:
        upper = interval.upper
        if upper is not None and (upper < start or (upper == start and not interval.upper_closed)):
            continue
        remaining.append(interval if interval.lower >= start else replace(interval, lower=start, lower_closed=True))
    return remaining


def _texts(intervals: Sequence[Interval]) -> str:
    return ", ".join(map(str, intervals))


def _bracket_ends(cell: tuple[Fraction, Fraction], digits: int) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of a least number that lies in `cell`, a pair (low, high).

    The upper bound is high. The lower bound is low if low and high differ, or if both are 0. Otherwise it is low minus
    one unit of the last of `digits` significant digits.
    """
    low, high = cell
    return (low - Fraction(10) ** (magnitude(high) - digits) if low == high != 0 else low), high


#: The digits to which the least factor is bracketed over noise without closed forms: cells do not show more.
_DIGITS_OF_CELLS = 6


def _bracket(
    sought: str,
    question: Question,
    low: Fraction,
    high: Fraction,
    put: Any,
    claimed: dict[str, str | None],
    tool: str,
) -> str:
    def proof(number: Fraction, verdict: Verdict) -> dict[str, Any]:
        certified = _proof(question.with_claim(**put(number)), verdict, tool)
        if sought != "factor":
            return certified
        # beta is written as in the claim of the question.
        claim = {**certified["claim"], "beta": f"{number}*({claimed['beta']})"}
        written: dict[str, Any] = json.loads(
            sealed({**{name: value for name, value in certified.items() if name != "digest"}, "claim": claim})
        )
        return written

    proved = proof(high, Verdict.ACCURATE)
    refuted = None if high == 0 else proof(low, Verdict.INACCURATE)
    return _least_document(
        sought, {**proved["claim"], **claimed}, None if high == 0 else low, high, proved, refuted, tool
    )


def _proof(question: Question, verdict: Verdict, tool: str) -> dict[str, Any]:
    """Return the certificate of `question`, decided anew; `tool` is named as its writer.

    Raises Uncertified if the new verdict is not `verdict`.
    """
    program = question.program
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    report = answer(replace(question, engine=engine).source(), engine)
    if report.verdict is not verdict:
        raise Uncertified(f"the claim at one end of the enclosure is {report.verdict}, not {verdict}")
    if report.evidence is None:
        raise Uncertified("a check of this kind has no certificate")
    result: dict[str, Any] = json.loads(certify(report, tool))
    return result


def _least_document(
    sought: str,
    claim: dict[str, Any],
    low: Fraction | None,
    high: Fraction,
    proved: dict[str, Any],
    refuted: dict[str, Any] | None,
    tool: str,
) -> str:
    return sealed(
        {
            "schema": SCHEMA,
            "question": About.LEAST.value,
            "tool": tool,
            "sought": sought,
            "claim": claim,
            "enclosed": [None if low is None else rational(low), rational(high)],
            "proved": proved,
            "refuted": refuted,
        }
    )
