"""The values of a constant of the program for which the claim holds, on a grid: each is decided by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field, replace
from fractions import Fraction
from typing import Any

from dipc.algebra.numbers import NotExact, parse_rational
from dipc.claims.table import TableGiven
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.options import Options
from dipc.program.program import Program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer, question_of
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: Values of a grid, at most.
_MOST = 10_000


@frozen
class ConstantGrid:
    """A constant and the values that are asked about, increasing."""

    name: str
    values: tuple[Fraction, ...]

    @staticmethod
    def parse(text: str, program: Program) -> ConstantGrid:
        """`T in 1..100`, `T in 0..2 by 1/4`, `T in {1/2, 3}`. Raises DiagnosticError for anything else."""
        name, _, rest = (part.strip() for part in text.partition(" in "))
        if name not in program.constants:
            known = ", ".join(program.constants) or "none"
            notes = (f"the constants are {known}", "or ask for eps, alpha, beta, gamma or error")
            raise DiagnosticError(Diagnostic("E1025", f"`{name}` is nothing to solve for", notes=notes))
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
class ConstantSolution:
    """What was decided for each value of the constant; a value for which there is no program has its reason."""

    program: str
    name: str
    verdicts: Mapping[Fraction, Verdict]
    refused: Mapping[Fraction, str] = field(default_factory=dict)
    claim: Mapping[str, str | None] = field(default_factory=dict)
    eps: str = ""
    interrupted: bool = False

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
        return {
            "schema": "dipc.solve/1",
            "program": self.program,
            "for": self.name,
            "claim": dict(self.claim),
            "eps": self.eps,
            "status": "solved" if holds else "undecided" if self.undecided else "none",
            "least": str(holds[0]) if holds else None,
            "greatest": str(holds[-1]) if holds else None,
            "values": {str(value): str(verdict) for value, verdict in self.verdicts.items()},
            "refused": {str(value): why for value, why in self.refused.items()},
            "grid": True,
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def solve_constant(
    program: Program, table: TableGiven | None, grid: ConstantGrid, options: Options
) -> ConstantSolution:
    """The claim, with `adjacent` that about privacy, decided with each value of the constant in turn; on Ctrl-C those
    that were, `interrupted`.

    Raises DiagnosticError where the question makes no sense for any value.
    """
    verdicts: dict[Fraction, Verdict] = {}
    refused: dict[Fraction, str] = {}
    claim: Mapping[str, str | None] = {}
    eps, interrupted = "", False
    mistake: DiagnosticError | None = None
    try:
        for number, value in enumerate(grid.values):
            try:
                one = program.given({grid.name: value})
                with ExitStack() as stack:
                    engine = options.engine(stack, one)
                    if options.adjacent is None:
                        source = question_of(one, table, replace(options, progress=None))
                        report = answer(source, engine)
                        verdicts[value], claim, eps = report.verdict, dict(source.stated), report.eps
                    else:
                        wanted = read_claim(one, options.budget, options.delta, options.eps)
                        private = PrivacyQuestion(one, options.adjacent, options.inputs, engine).decide(wanted)
                        verdicts[value] = _VERDICTS[private.verdict]
                        delta = "0" if options.delta is None else str(options.delta)
                        claim = {"budget": str(options.budget or "eps"), "delta": delta, "adjacent": options.adjacent}
            except DiagnosticError as error:
                mistake = error
                refused[value] = error.diagnostics[0].message
                continue
            if options.progress is not None:
                options.progress(number + 1, len(grid.values))
    except KeyboardInterrupt:
        interrupted = True
    if mistake is not None and not verdicts and not interrupted:
        raise mistake
    return ConstantSolution(program.name, grid.name, verdicts, refused, claim, eps, interrupted)
