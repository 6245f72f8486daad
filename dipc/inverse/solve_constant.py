"""The values of a constant of the program for which the claim holds: of a grid, each decided by itself, or where they
begin or end, between a value for which the claim is proved and one for which it is refuted.

**Lemma.** Let the outputs be inputs plus independent normal noises, and s be a factor of standard deviations alone, in
powers above 0. Then the deviations grow with s, so that μ of `dipc.questions.privacy.gaussian` falls, and with it
delta: a claim about privacy holds from some s on. For thresholds see `dipc.inverse.thresholds`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.numbers import NotExact, decimal, exact_text, parse_rational
from dipc.claims.table import TableGiven
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.inverse.solve_gamma import narrowed
from dipc.inverse.thresholds import is_threshold
from dipc.options import Options
from dipc.program.program import Program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.gaussian import GaussianMechanism
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer, question_of
from dipc.text.ast import Binary, BinaryOp, Call, Expr, Name, Noise, mentions, walk
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.parser import parse

#: Values of a grid, at most; powers of ten that are looked at without one; and digits unless more are asked for.
_MOST, _MOST_POWER, DIGITS = 10_000, 12, 10


@frozen
class ConstantGrid:
    """A constant and the values that are asked about, increasing."""

    name: str
    values: tuple[Fraction, ...]

    @staticmethod
    def parse(text: str, program: Program) -> ConstantGrid | str:
        """`T in 1..100`, `T in 0..2 by 1/4`, `T in {1/2, 3}`, or the name of `T` alone.

        Raises DiagnosticError for anything else."""
        name, given, rest = (part.strip() for part in text.partition(" in"))
        if name not in program.constants:
            known = ", ".join(program.constants) or "none"
            notes = (f"the constants are {known}", "or ask for eps, alpha, beta, gamma or error")
            raise DiagnosticError(Diagnostic("E1025", f"`{name}` is nothing to solve for", notes=notes))
        if not given:
            return name
        found = _values(rest)
        if not found:
            message = f"it is not said which values of `{name}` are asked about"
            known_forms = [f'write such as --for "{name} in {some}"' for some in ("1..100", "0..2 by 1/4", "{1, 2}")]
            raise DiagnosticError(Diagnostic("E1029", message, notes=tuple(known_forms)))
        return ConstantGrid(name, found)


def _values(text: str) -> tuple[Fraction, ...]:
    """The values that the text lists, none where it lists none."""
    try:
        if (listed := re.fullmatch(r"\{(.*)\}", text)) is not None:
            return tuple(sorted({parse_rational(part.strip()) for part in listed[1].split(",")}))
        if (ranged := re.fullmatch(r"(\S+?)\s*\.\.\s*(\S+)(?:\s+by\s+(\S+))?", text)) is not None:
            low, high, step = (parse_rational(part or "1") for part in ranged.groups())
            if step > 0 and low <= high and (high - low) / step <= _MOST:
                return tuple([low + n * step for n in range(int((high - low) / step) + 1)])
    except NotExact:
        pass
    return ()


_VERDICTS = {
    PrivacyVerdict.PRIVATE: Verdict.ACCURATE,
    PrivacyVerdict.NOT_PRIVATE: Verdict.INACCURATE,
    PrivacyVerdict.UNDECIDED: Verdict.UNDECIDED,
}


@frozen
class ConstantEdge:
    """Decimal numbers one unit of the last digit apart, for one of which the claim is proved: for the greater where the
    values begin here, else for the lesser; for the other it is refuted. `monotone`: it is proved that there is one such
    place."""

    ends: tuple[Fraction, Fraction]
    begins: bool
    monotone: bool


@frozen
class ConstantSolution:
    """What was decided for each value of the constant; a value for which there is no program has its reason."""

    program: str
    name: str
    verdicts: Mapping[Fraction, Verdict]
    refused: Mapping[Fraction, str] = field(default_factory=dict)
    claim: Mapping[str, str | None] = field(default_factory=dict)
    eps: str = ""
    interrupted: bool = False
    #: Of a constant without a grid: what its values begin or end with.
    edge: ConstantEdge | None = None
    #: Why that is not known.
    reason: str = ""

    @property
    def holds(self) -> tuple[Fraction, ...]:
        """The values for which the claim is proved, increasing."""
        return tuple([value for value, verdict in self.verdicts.items() if verdict is Verdict.ACCURATE])

    @property
    def undecided(self) -> tuple[Fraction, ...]:
        """Those of which nothing is known."""
        return tuple([value for value, verdict in self.verdicts.items() if verdict is Verdict.UNDECIDED])

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        holds = self.holds
        least: object = str(holds[0]) if holds else None
        greatest: object = str(holds[-1]) if holds else None
        if self.edge is not None:
            ends = [exact_text(end) for end in self.edge.ends]
            least, greatest = (ends, None) if self.edge.begins else (None, ends)
        return {
            "schema": "dipc.solve/1",
            "program": self.program,
            "for": self.name,
            "claim": dict(self.claim),
            "eps": self.eps,
            "status": self.status,
            "least": least,
            "greatest": greatest,
            "values": {str(value): str(verdict) for value, verdict in self.verdicts.items()},
            "refused": {str(value): why for value, why in self.refused.items()},
            "grid": self.edge is None and not self.reason,
            **({} if self.edge is None else {"monotone": self.edge.monotone}),
            **({"reason": self.reason} if self.reason else {}),
        }

    @property
    def status(self) -> str:
        """`solved`, `none` or `undecided`."""
        if self.reason:
            return "undecided"
        return "solved" if self.holds else "undecided" if self.undecided else "none"

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


class _Decided:
    """The claim, with `adjacent` that about privacy, for values of the constant, each decided once."""

    def __init__(self, program: Program, table: TableGiven | None, name: str, options: Options) -> None:
        self._program, self._table, self._name, self._options = program, table, name, options
        self.verdicts: dict[Fraction, Verdict] = {}
        self.refused: dict[Fraction, str] = {}
        self.claim: Mapping[str, str | None] = {}
        self.eps = ""
        self.mistake: DiagnosticError | None = None

    def at(self, value: Fraction) -> Verdict | None:
        """The verdict; None where there is no program with that value."""
        if value not in self.verdicts and value not in self.refused:
            try:
                self.verdicts[value] = self._verdict(value)
            except DiagnosticError as error:
                self.mistake = error
                self.refused[value] = error.diagnostics[0].message
        return self.verdicts.get(value)

    def _verdict(self, value: Fraction) -> Verdict:
        one, options = self._program.given({self._name: value}), self._options
        with ExitStack() as stack:
            engine = options.engine(stack, one)
            if options.adjacent is None:
                source = question_of(one, self._table, replace(options, progress=None))
                report = answer(source, engine)
                self.claim, self.eps = dict(source.stated), report.eps
                return report.verdict
            wanted = read_claim(one, options.budget, options.delta, options.eps)
            delta = "0" if options.delta is None else str(options.delta)
            self.claim = {"budget": str(options.budget or "eps"), "delta": delta, "adjacent": options.adjacent}
            self.eps = wanted.eps_text
            return _VERDICTS[PrivacyQuestion(one, options.adjacent, options.inputs, engine).decide(wanted).verdict]

    def holds(self, value: Fraction) -> bool:
        """Whether the claim is proved for it; raises Undecided where it is neither that nor refuted."""
        verdict = self.at(value)
        if verdict in (None, Verdict.UNDECIDED):
            reason = self.refused.get(value, "the claim is undecided")
            raise OutsideFragment(f"with {self._name} = {decimal(value)}: {reason}")
        return verdict is Verdict.ACCURATE

    def solution(self, edge: ConstantEdge | None = None, reason: str = "", *, interrupted: bool) -> ConstantSolution:
        """What is known."""
        verdicts = dict(sorted(self.verdicts.items()))
        about = self._program.name, self._name, verdicts, self.refused, self.claim, self.eps
        return ConstantSolution(*about, interrupted, edge, reason)


def solve_constant(
    program: Program, table: TableGiven | None, wanted: ConstantGrid | str, options: Options
) -> ConstantSolution:
    """The claim, with `adjacent` that about privacy, decided with each value of the grid in turn, or, for the name of a
    constant alone, where its positive values begin or end; on Ctrl-C what was decided, `interrupted`.

    Raises DiagnosticError where the question makes no sense for any value.
    """
    name = wanted if isinstance(wanted, str) else wanted.name
    decided = _Decided(program, table, name, options)
    edge, reason, interrupted = None, "", False
    try:
        if isinstance(wanted, str):
            monotone = _is_monotone(program, name, options) or is_threshold(program, table, name, options)
            edge = _edge(decided, options.digits or DIGITS, monotone=monotone)
        else:
            for number, value in enumerate(wanted.values):
                decided.at(value)
                if options.progress is not None:
                    options.progress(number + 1, len(wanted.values))
    except Undecided as undecided:
        reason = undecided.reason
    except KeyboardInterrupt:
        interrupted = True
    if decided.mistake is not None and not decided.verdicts and not interrupted:
        raise decided.mistake
    return decided.solution(edge, reason, interrupted=interrupted)


def _edge(decided: _Decided, digits: int, *, monotone: bool) -> ConstantEdge | None:
    """None where the claim fails for all powers of ten that are looked at. Raises Undecided."""
    first = decided.holds(Fraction(1))
    for power in (sign * k for k in range(1, _MOST_POWER + 1) for sign in (1, -1)):
        there = Fraction(10) ** power
        if decided.holds(there) is first:
            continue
        # One ten times the other, of which the claim holds for one alone.
        low, high = sorted((there, there / 10 if power > 0 else there * 10))
        begins = decided.holds(high)
        return ConstantEdge(narrowed(partial(_is, decided, begins), low, high, digits), begins, monotone)
    if first:
        raise OutsideFragment(f"it holds for all powers of ten from 10^-{_MOST_POWER} to 10^{_MOST_POWER}")
    return None


def _is(decided: _Decided, wanted: bool, value: Fraction) -> bool:
    return decided.holds(value) is wanted


def _is_monotone(program: Program, name: str, options: Options) -> bool:
    """Whether the lemma above is about it."""
    try:
        if GaussianMechanism.of(program) is None:
            return False
    except Undecided:
        return False
    if options.adjacent is None or options.mention(name):
        return False
    tree = parse(program.core.source)
    rates = [node.rate for node in walk(tree) if isinstance(node, Noise) and node.law.by_deviation]
    within = sum(_times(rate, name) for rate in rates)
    return within == _times(tree, name) and all(_grows(rate, name) for rate in rates if mentions(rate, name))


def _times(tree: object, name: str) -> int:
    """How often the constant is mentioned."""
    return sum(isinstance(node, Name) and node.name == name for node in walk(tree))


def _grows(expr: Expr, name: str) -> bool:
    """Whether it is a power above 0 of the constant, times what does not depend on it."""
    match expr:
        case Name():
            return expr.name == name
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            return all(_grows(side, name) for side in (left, right) if mentions(side, name))
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            return _grows(left, name) and not mentions(right, name)
        case Call(function="sqrt", arguments=(inner,)):
            return _grows(inner, name)
    return False
