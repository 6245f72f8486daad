"""The certificate of a question about every real input, or every number of queries (see FORMAT.md in this folder)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Undecided
from dipc.certificate.answers import with_classes_named
from dipc.certificate.data import (
    BY_A_CONSTANT,
    BY_TOTALS,
    IN_ANOTHER_UNIT,
    NOT_EXPANDED,
    OVER_NORMAL_NOISE,
    FunctionData,
    Uncertified,
    as_read,
    coefficients_data,
    expression_text,
    has_closed_forms,
    headed,
    rational,
    ring_data,
    sealed,
)
from dipc.certificate.obligations import ObligationWriter, certified, has_normal, stars_of
from dipc.chain.state import Affine
from dipc.decide.engine import Engine
from dipc.decide.obligation import Obligation, Verdict
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers, NumberResult
from dipc.questions.every_number.union_bound import UnionEvidence
from dipc.questions.report import ClassResult, Evidence, Refuted, RowResult
from dipc.rules.goal import Proof
from dipc.rules.halfspaces import SlackBound, bound_of, step_of, still
from dipc.rules.rule import Farkas, Variable
from dipc.text.ast import BaseType, mentions
from dipc.verifier.claims import Beta as Read
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.classes import Kind, least_decay, required
from dipc.verifier.clipped import limited
from dipc.verifier.document import depends_on_distances
from dipc.verifier.functions import ONE, read_ring
from dipc.verifier.normal import Enclosed
from dipc.verifier.reading import Budget, NotDerived, Question
from dipc.verifier.syntax import read_program


def certify_inputs(question: EveryInput | AllNumbers, evidence: Evidence, tool: str) -> str:
    """Return the certificate of `question`, about every real input, as text. Raises Uncertified if it has none.

    `evidence` has the decided classes with their proofs, and `tool` is named as the writer.
    """
    if isinstance(question, AllNumbers) and question.program.core.requires is not None:
        raise Uncertified("the checker does not follow `requires` for every number of queries")
    document = _ClassWriter(question, evidence.engine).document(evidence.results, tool)
    if "clipped" in document and depends_on_distances(document["claim"]):
        raise Uncertified("the checker does not follow a claim about clipped inputs whose beta or gamma mentions alpha")
    if "clipped" in document and not _has_ranges(document):
        raise Uncertified("the checker does not see that the inputs are clipped to the same ranges")
    return sealed(with_classes_named(document))


def _has_ranges(document: dict[str, Any]) -> bool:
    source, budget = document["program"], Budget()
    try:
        box = limited(read_program(source["text"], budget), {k: Fraction(v) for k, v in source["constants"].items()})
    except NotDerived:
        return False
    own = {name: [None if end is None else rational(end) for end in ends] for name, ends in box.ranges.items()}
    return bool(own == document["clipped"])


class _ClassWriter:
    def __init__(self, source: EveryInput | AllNumbers, decider: Engine | None) -> None:
        self._source = source
        self._program = source.program
        self._decider = decider
        self._engine = Engine(self._program.measurer, self._program.limits, keep_proofs=True)
        claim = source.claim
        self._stated = {
            "alpha": "dd" if claim.at_distance else expression_text(claim.alpha),
            "beta": expression_text(claim.beta),
            "gamma": "free" if claim.free_gamma else expression_text(claim.gamma),
            "eps": [str(interval) for interval in claim.intervals],
        }
        self._is_enclosed = not has_closed_forms(self._program.core)
        self._functions = FunctionData()
        self._obligations = ObligationWriter(self._functions, self._program.limits)

    def document(self, results: Sequence[RowResult], tool: str) -> dict[str, Any]:
        if isinstance(self._source, EveryInput):
            numbers: dict[str, Any] | None = None
            classes = [row for row in results if isinstance(row, ClassResult)]
            cases: list[dict[str, Any]] = [{"constants": {}, "classes": [self._class(row, {}) for row in classes]}]
            verdicts = [_certified(row) for row in classes]
        else:
            number_results = [result for result in results if isinstance(result, NumberResult)]
            source = self._source
            singly = [
                (source.constants_of(number), rows) for result in number_results for number, rows in result.singly
            ]
            cases = [
                {
                    "constants": {name: rational(value) for name, value in constants.items()},
                    "classes": [self._class(row, constants) for row in rows],
                }
                for constants, rows in singly
            ]
            numbers = self._numbers(number_results[-1])
            verdicts = [*[_certified(row) for _, rows in singly for row in rows], Verdict(numbers["verdict"])]
        worst = next(
            (worse for worse in (Verdict.INACCURATE, Verdict.UNDECIDED) if worse in verdicts), Verdict.ACCURATE
        )
        return {
            **headed(Question.ALL_INPUTS, self._program, tool, worst),
            "claim": self._stated,
            "numbers": numbers,
            "cases": cases,
            **self._obligations.shared(),
        }

    # --- classes ----------------------------------------------------------------------------------------

    def _class(self, row: ClassResult, constants: dict[str, Fraction]) -> dict[str, Any]:
        note = row.note
        data: dict[str, Any] = {
            "answer": dict(note.answer),
            "where": list(note.conditions),
            "halfspaces": [
                {
                    "form": coefficients_data(fixed.inputs),
                    "constant": rational(fixed.constant),
                    "step": rational(step_of(half)),
                }
                for half, fixed in ((half, still(half)) for half in row.facets)
            ],
            "beside": [],
            "verdict": str(_certified(row)),
        }
        reader = ClaimReader.read(self._stated, {**self._program.core.constants, **constants})
        try:
            return data | self._evidence(row, reader)
        except Undecided as undecided:
            return data | {"open": undecided.reason if self._is_enclosed else NOT_EXPANDED}

    def _evidence(self, row: ClassResult, reader: ClaimReader) -> dict[str, Any]:
        match row.evidence:
            case str(reason):
                return {"open": reason}
            case SlackBound():
                return {"empty": True}
            case Refuted() as refuted:
                own = {} if refuted.gamma is None else {"gamma": rational(refuted.gamma)}
                beta = as_read(lambda: reader.terms(own, refuted.dd, Budget())[2])
                witness = {
                    "input": dict(refuted.row.input),
                    "output": dict(refuted.row.output),
                    "dd": refuted.dd,
                    "obligation": self._obligation(refuted.obligation, beta),
                    **own,
                }
                return {"witness": witness}
            case Proof(unverified=str(unverified)) as proof:
                counted = self._claim_at_distance_one(proof, reader, row.facets) if proof.counted else None
                return {"open": unverified} if counted is None else {"required": counted}
            case Proof() as proof:
                return {"required": self._proved(proof, reader)}
            case None:
                assert row.vacuous or row.verdict is Verdict.UNDECIDED, "a class that is decided has evidence"
                return {"reason": row.reason or "its claim is vacuous, so there is nothing to certify"}
        raise AssertionError(row.evidence)

    def _proved(self, proof: Proof, reader: ClaimReader) -> dict[str, Any]:
        asked, why = proof.goal.required, proof.evidence
        ceiling = proof.goal.ceiling if asked.alpha_rate else None
        assert isinstance(why, Farkas)
        beta = as_read(lambda: required(reader, str(asked.variable), asked.dd, Budget()).beta)
        return {
            "variable": str(asked.variable),
            "dd": asked.dd,
            "greatest": None if ceiling is None else coefficients_data(ceiling.weights),
            "kind": str(why.derivation),
            "slacks": [_slack(slack) for slack in dict.fromkeys(why.slacks)],
            "obligations": [self._obligation(each, beta) for each in proof.obligations],
        }

    def _claim_at_distance_one(
        self, proof: Proof, reader: ClaimReader, facets: Sequence[Affine]
    ) -> dict[str, Any] | None:
        """Return, as JSON, the claim about the inputs at distance 1; None unless it implies the whole claim.

        `proof` is the proof for the class, and `facets` are the half-spaces of the class. The claim at distance 1
        implies the whole claim if all distances are integers, and if beta decreases slowly enough: the checker needs a
        proof that e^(r·distance·eps)·beta never decreases as the distance grows, for some number r. `reader` evaluates
        beta. The result is None if an input is real.
        """
        if any(slot.type is BaseType.REAL for slot in self._program.core.input_slots):
            return None
        if as_read(lambda: least_decay(reader, Budget())) is None:
            return None
        beta = as_read(lambda: reader.terms({}, "1", Budget())[2])
        if beta is None:
            return None
        every = [self._obligation(each, beta) for each in proof.obligations]
        return {
            "variable": str(Variable.EPS),
            "dd": None,
            "greatest": None,
            "kind": Kind.DISTANCES.value,
            "slacks": [
                _slack(bound)
                for slack in proof.counted
                if not slack.radius and (bound := bound_of(slack.form, facets, slack.weights)) is not None
            ],
            "obligations": every,
        }

    # --- every number -----------------------------------------------------------------------------------

    def _numbers(self, last: NumberResult) -> dict[str, Any]:
        assert isinstance(self._source, AllNumbers)
        assert last.start is not None, "the last case is about all other numbers"
        others, union = last.rows[-1], last.union
        data = {
            "parameter": self._source.parameter,
            "least": str(self._source.least),
            "start": str(last.start),
            "verdict": str(others.verdict),
        }
        if union is None:
            return data | ({"open": BY_TOTALS} if others.verdict is Verdict.ACCURATE else {"reason": others.reason})
        if not union.in_eps:
            return data | {"open": IN_ANOTHER_UNIT}
        if any(mentions(self._source.claim.beta.tree, name) for name in self._source.varying):
            return data | {"open": BY_A_CONSTANT}
        sums = [why.total for _, why in union.inequalities]
        events = [term for each in sums for term in (*each.fixed, *each.repeated)]
        if not all(noise.law.has_form for event in events for noise in event.noises):
            return data | {"open": OVER_NORMAL_NOISE}
        return data | {"union": self._union(union)}

    def _union(self, evidence: UnionEvidence) -> dict[str, Any]:
        assert isinstance(self._source, AllNumbers)
        sums = dict.fromkeys(why.total for _, why in evidence.inequalities)
        events = dict.fromkeys(term for each in sums for term in (*each.fixed, *each.repeated))
        sides = dict.fromkeys((event, side) for event in events for side in range(len(event.constraints)))
        numbers = {side: number for number, side in enumerate(sides)}

        def numbered(terms: Iterable[Event]) -> list[int]:
            # The two sides of a ball exclude each other.
            return [numbers[term, side] for term in terms for side in range(len(term.constraints))]

        return {
            "variable": str(self._source.required.variable),
            "trivial": None if evidence.trivial is None else rational(evidence.trivial),
            "above_one": [self._obligation(obligation, _plain(obligation)) for obligation in evidence.above_one],
            "terms": [_half(event, event.constraints[side]) for event, side in sides],
            "sums": [
                {
                    "fixed": numbered(each.fixed),
                    "repeated": numbered(each.repeated),
                    "once": str(each.once),
                    "inequalities": [
                        [why.power, self._obligation(obligation, _plain(obligation))]
                        for obligation, why in evidence.inequalities
                        if why.total == each
                    ],
                }
                for each in sums
            ],
        }

    # --- what they refer to -----------------------------------------------------------------------------

    def _obligation(self, obligation: Obligation, read: Read | None) -> int:
        """Return the index of `obligation` in the certificate, where `read` is its beta as the checker reads it.

        An obligation that was decided for the answer has the proof of that decision. Any other obligation is decided
        now. Raises Undecided if the obligation's bound is too long, or contains normal noise in a form that the checker
        cannot enclose.
        """
        bound, intervals = obligation.bound, obligation.intervals
        made = None if self._decider is None else self._decider.known_decision(obligation)
        value: ClosedForm | Enclosed
        if has_normal(bound):
            value = stars_of(bound, self._program.measurer)
        else:
            value = self._engine.bound(bound) if made is None or made.bound is None else made.bound
            if made is not None and made.proof is None and obligation.beta.has_cells:
                made = None  # its proof was not kept
        decision = self._engine.decide(obligation) if made is None else made
        beta, stated = certified(obligation.beta, read, ()), {"intervals": list(map(str, intervals))}
        return self._obligations.obligation(value, beta, intervals, decision, stated, read)


def _half(event: Event, side: Halfspace) -> dict[str, Any]:
    noises = [(event.noises[i], c) for i, c in side.coefficients]
    assert not any(noise.mean for noise, _ in noises), "means of centered noises are 0"
    return {
        "noises": [[noise.law.checker_name, rational(noise.rate), rational(c)] for noise, c in noises],
        "constant": rational(side.constant),
    }


def _plain(obligation: Obligation) -> Read | None:
    beta = obligation.beta.value
    if not isinstance(beta, ExpPoly):
        return None
    return (((read_ring(ring_data(beta)), ONE),),)


def _slack(slack: SlackBound) -> dict[str, Any]:
    return {
        "constant": rational(slack.form.constant),
        "radius": slack.radius,
        "weights": coefficients_data(slack.weights),
    }


def _certified(row: ClassResult) -> Verdict:
    return Verdict.UNDECIDED if row.evidence is None else row.verdict
