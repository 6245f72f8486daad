"""Privacy for every number of queries: small ones one by one, all together by shifts chosen iteration by iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.limits import LimitReached, Undecided
from dipc.claim.claim import GivenEps
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.load import load_source
from dipc.exits.program import Program, Progress
from dipc.lang.parser import parse
from dipc.obligations.engine import Engine
from dipc.privacy.adjacency import Within, parse_adjacency
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.claim import PrivacyClaim, read_claim
from dipc.privacy.constant import Constant
from dipc.privacy.lockstep_shifts import LoopExplorer, LoopPaths, is_bound
from dipc.privacy.outcome import Numbers, PrivacyReport, PrivacyVerdict
from dipc.sources.every_number.loop_heads import TooFew
from dipc.sources.every_number.uniform import NotUniform, uniform_loop

#: Numbers that are looked at one by one, for what refutes, and for the least constant.
_SINGLY = 4

#: Budgets above the least that may do are tried in steps, and so many of them.
_STEP, _TRIED = Fraction(1, 8), 16

_PROOF = "shifts of the noises, iteration by iteration, for every path and every extreme move of the inputs"


class EveryNumber:
    """The privacy of a program for all adjacent real inputs and every value of a constant."""

    def __init__(
        self,
        program: Program,
        parameter: str,
        least: int | None,
        adjacent: str,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        """Raises DiagnosticError for an unknown constant, and an adjacency that is no distance."""
        if parameter not in program.core.constants:
            note = f"the constants are {', '.join(sorted(program.core.constants)) or 'none'}"
            raise DiagnosticError(Diagnostic("E1208", f"there is no constant `{parameter}`", notes=(note,)))
        self.program = program
        self.parameter = parameter
        self._adjacent = adjacent
        self._asked_least = least
        self._engine = engine
        self._progress = progress
        self._questions: dict[int, PrivacyQuestion] = {}
        found = parse_adjacency(adjacent, program.core)
        if not isinstance(found, Within):
            note = "give a distance such as --adjacent linf:1"
            raise DiagnosticError(Diagnostic("E1407", "pairs are listed, and inputs are left open", notes=(note,)))
        self._within = found

    @cached_property
    def least(self) -> int:
        """The least number that is asked about: that of the first query, unless a greater one is."""
        low = 1
        try:
            loop, _ = uniform_loop(parse(self.program.core.source), self.parameter)
            low = int(loop.low.value)  # type: ignore[union-attr]
        except NotUniform:
            pass
        return low if self._asked_least is None else max(low, self._asked_least)

    @property
    def numbers(self) -> Numbers:
        """What reports say of them."""
        return Numbers(self.parameter, self.least)

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """PRIVATE is proved for every number at once; NOT_PRIVATE has a number, a pair, an output and an eps."""
        reason = None
        for number, question in self._singly():
            report = question.decide(claim)
            if report.verdict is PrivacyVerdict.NOT_PRIVATE:
                return replace(report, numbers=replace(self.numbers, at=number))
        try:
            proved = is_bound(self._paths, claim.budget, self._within, self.program.limits.heads)
            reason = None if proved else "no shifts were found that cost so little for every number"
        except NotUniform as refused:
            proved, reason = False, refused.reason
        except Undecided as undecided:
            proved, reason = False, undecided.reason
        return PrivacyReport(
            self.program.name,
            claim,
            str(self._within),
            "all real inputs",
            None,
            PrivacyVerdict.PRIVATE if proved else PrivacyVerdict.UNDECIDED,
            None,
            reason,
            0,
            _PROOF if proved else None,
            numbers=self.numbers,
        )

    def constant(self, eps: GivenEps) -> Constant:
        """The least K that does for every number. What is refuted is so at a small number, and, where every output is
        one of a query, at all greater ones: these answer the first queries as the smaller program does."""
        best: tuple[int, Constant] | None = None
        for number, question in self._singly():
            found = question.constant(eps)
            if found.refuted_below is None:
                return replace(found, numbers=replace(self.numbers, at=number))
            if best is None or best[1].refuted_below is None or found.refuted_below > best[1].refuted_below:
                best = number, found
        assert best is not None
        number, most = best
        assert most.refuted_below is not None
        proved, reason = None, None
        try:
            tried = (most.refuted_below + step * _STEP for step in range(_TRIED + 1))
            proved = next((k for k in tried if is_bound(self._paths, k, self._within, self.program.limits.heads)), None)
            reason = None if proved is not None else "no shifts were found that cost so little for every number"
        except NotUniform as refused:
            reason = refused.reason
        except Undecided as undecided:
            reason = undecided.reason
        exact = proved == most.refuted_below
        numbers = replace(self.numbers, at=number, onwards=self._only_answers)
        return replace(most, proved=proved, reason=None if exact else reason, numbers=numbers)

    @cached_property
    def _only_answers(self) -> bool:
        """Whether each output belongs to one query: what comes later does not change it."""
        try:
            _, arrays = uniform_loop(parse(self.program.core.source), self.parameter)
        except NotUniform:
            return False
        slots = self.program.core.slots
        return all(slots[slot].name.partition("[")[0] in arrays for slot in self.program.core.outputs)

    @cached_property
    def _paths(self) -> LoopPaths:
        """Raises NotUniform, LimitReached."""
        loop, arrays = uniform_loop(parse(self.program.core.source), self.parameter)
        low = int(loop.low.value)  # type: ignore[union-attr]
        count, most = 2, self.program.limits.iterations
        while count <= most:
            try:
                return LoopExplorer(self._instance(low + count - 1), loop, low, arrays, count).paths()
            except TooFew:
                count *= 2
        raise LimitReached("iterations", f"the loop still reaches new states after {most} iterations")

    def _singly(self) -> Iterator[tuple[int, PrivacyQuestion]]:
        for number in range(self.least, self.least + _SINGLY):
            if self._progress is not None:
                self._progress(number - self.least, _SINGLY)
            yield number, self.at(number)

    def at(self, number: int) -> PrivacyQuestion:
        """The question for one number."""
        if number not in self._questions:
            self._questions[number] = PrivacyQuestion(self._instance(number), self._adjacent, "all", self._engine)
        return self._questions[number]

    def _instance(self, number: int) -> Program:
        core = self.program.core
        constants = {**core.given, self.parameter: Fraction(number)}
        return load_source(core.source, constants, core.only_at).with_limits(self.program.limits)


def check_privacy_for_all(
    program: Program, parameter: str, adjacent: str, *, least: int | None = None, budget: str | None = None
) -> PrivacyReport:
    """Whether the program is private, with delta 0, for all adjacent real inputs and every value of the constant
    `parameter`, from the first index of its loop on, or from `least` on where that is greater.

    Raises DiagnosticError for an unknown constant, and for what cannot be read."""
    engine = Engine(program.measurer, program.limits)
    question = EveryNumber(program, parameter, least, adjacent, engine, None)
    return question.decide(read_claim(program, budget, None, None))
