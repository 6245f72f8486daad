"""`check_privacy`: whether a program is private, exactly."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack

from dipc.algebra.limits import Limits
from dipc.algebra.limits import Undecided as PastLimit
from dipc.chain.symbolic import is_symbolic
from dipc.claim.claim import Given
from dipc.exits.program import Program, within
from dipc.obligations.engine import Engine
from dipc.obligations.open_engine import open_engine
from dipc.privacy.adjacency import Adjacency, parse_adjacency
from dipc.privacy.approximate import decide_approximate
from dipc.privacy.claim import PrivacyClaim, read_claim
from dipc.privacy.laws import LawTable, law_table
from dipc.privacy.outcome import PrivacyCounterexample, PrivacyReport, PrivacyVerdict
from dipc.privacy.pairs import EveryPair, Pairs, read_pairs, texts
from dipc.privacy.pure import Findings, Refuted, Undecided, decide_pure


def check_privacy(
    program: Program,
    adjacent: str,
    *,
    inputs: str | Sequence[str] | None = None,
    budget: Given = None,
    delta: Given = None,
    eps: Given = None,
    jobs: int | str = 1,
    cache: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    limits: Limits | None = None,
) -> PrivacyReport:
    """Decide Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for all adjacent u, u', every set S of outputs and every
    eps of the intervals.

    `adjacent` is linf:1, l1:1, hamming:1 or the path of a CSV file of pairs; `inputs` is as for `check`, and None lets
    finite inputs range over their domains. `budget` is k*eps (eps by default), `delta` an expression in eps (0 by
    default). The other options are those of `check`.

    Raises DiagnosticError for what cannot be read or makes no sense.
    """
    program = within(program, limits)
    with ExitStack() as stack:
        engine = open_engine(stack, program.measurer, program.limits, jobs=jobs, cache=cache, dask=dask)
        question = PrivacyQuestion(program, adjacent, inputs, engine)
        return question.decide(read_claim(program, budget, delta, eps))


class PrivacyQuestion:
    """A program with its adjacent inputs, about which several things may be asked; laws are found once."""

    def __init__(self, program: Program, adjacent: str, inputs: str | Sequence[str] | None, engine: Engine) -> None:
        """Raises DiagnosticError for an adjacency or inputs that cannot be read or do not fit the program."""
        self.program = program
        self.engine = engine
        self.adjacency: Adjacency = parse_adjacency(adjacent, program.core)
        self.pairs = read_pairs(program, self.adjacency, inputs, program.limits)
        self._table: LawTable | None = None

    @property
    def finite_outputs(self) -> bool:
        """Whether no output is real or int."""
        slots = self.program.core.slots
        return not any(is_symbolic(slots[slot].type) for slot in self.program.core.outputs)

    def table(self, pairs: Pairs) -> LawTable:
        """The laws at the inputs of the pairs. Raises Undecided past a limit."""
        if self._table is None:
            self._table = law_table(self.program, pairs.inputs, self.engine)
        return self._table

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """Whether the claim holds."""
        begun = self.engine.spent.obligations
        findings: Findings
        match self.pairs:
            case EveryPair():
                findings, shown = Undecided("all adjacent real inputs at once are not decided yet"), None
                about, count = "all real inputs", None
            case Pairs():
                findings, shown = self._at_pairs(self.pairs, claim)
                about, count = self.pairs.about, len(self.pairs)
        return PrivacyReport(
            self.program.name,
            claim,
            str(self.adjacency),
            about,
            count,
            _verdict(findings),
            shown,
            findings.reason if isinstance(findings, Undecided) else None,
            self.engine.spent.obligations - begun,
        )

    def _at_pairs(self, pairs: Pairs, claim: PrivacyClaim) -> tuple[Findings, PrivacyCounterexample | None]:
        if not self.finite_outputs:
            return Undecided("real and int outputs are not decided yet"), None
        try:
            table = self.table(pairs)
        except PastLimit as undecided:
            return Undecided(undecided.reason), None
        decide = decide_pure if claim.is_pure else decide_approximate
        findings = decide(table, pairs, claim, self.engine)
        if not isinstance(findings, Refuted):
            return findings, None
        one, two = (texts(self.program, pairs.inputs[at]) for at in findings.pair)
        answers = tuple([table.texts(at) for at in findings.answers])
        found = findings.found
        shown = PrivacyCounterexample(one, two, answers, found.eps, found.required, found.probability, claim.is_pure)
        return findings, shown


def _verdict(findings: Findings) -> PrivacyVerdict:
    match findings:
        case None:
            return PrivacyVerdict.PRIVATE
        case Refuted():
            return PrivacyVerdict.NOT_PRIVATE
        case Undecided():
            return PrivacyVerdict.UNDECIDED
