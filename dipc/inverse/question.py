"""A question of any kind, as services see it that look at all its obligations: it can be asked with another claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dipc.claims.claim import Claim, ClaimOptions, resolve_claim
from dipc.claims.table import Table, TableGiven
from dipc.decide.engine import Engine
from dipc.options import Options, asks_for_all
from dipc.program.program import Program, within
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import MOST_TRIED, AllNumbers
from dipc.questions.outcome import RowResult
from dipc.questions.question import inputs_meant, prepared
from dipc.questions.question import question as about_table
from dipc.questions.source import Source
from dipc.rules.class_claim import is_free

_NO_TABLE = Table("all inputs", (), frozenset(), {})


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: about the rows of `table`, or where there is none about every real input, for every value of the
    constant `parameter` from `least` on where one is left open. The `engine` measures what it comes to."""

    program: Program
    options: ClaimOptions
    engine: Engine
    table: Table | None = None
    parameter: str | None = None
    least: int | None = None

    @property
    def word(self) -> str:
        """What its cases are called."""
        if self.table is not None:
            return "row"
        return "class" if self.parameter is None else "case"

    @property
    def free(self) -> bool:
        """Whether gamma is left open."""
        return is_free(self.program, self.options.gamma)

    def asking(self, **changes: Any) -> Question:
        """The same with other parts of the claim."""
        return replace(self, options=replace(self.options, **changes))

    def claim(self) -> Claim:
        """The claim about its table, about no rows where there is no table. Raises DiagnosticError."""
        o = self.options
        table = _NO_TABLE if self.table is None else self.table
        gamma = "0" if self.free else o.gamma
        return resolve_claim(self.program.core, table, beta=o.beta, alpha=o.alpha, gamma=gamma, eps=o.eps)

    def first(self) -> int:
        """The least value of the constant that is left open."""
        assert self.parameter is not None
        return AllNumbers(self.program, self.parameter, self.least, self.options).least

    def shown(self, number: int) -> RowResult:
        """What the case with this number is about."""
        return next(case for case in self.source().cases() if case.number == number).shown()

    def source(self) -> Source:
        """Its source; small values of a constant that is left open are cases of their own. Raises DiagnosticError."""
        o = self.options
        if self.table is not None:
            return about_table(
                self.program, self.table, beta=o.beta, alpha=o.alpha, gamma=o.gamma, eps=o.eps, classes=False
            )
        if self.parameter is None:
            return EveryInput(self.program, o)
        return AllNumbers(self.program, self.parameter, self.least, o, singly=MOST_TRIED)


def asked(program: Program, table: TableGiven | None, options: Options, engine: Engine | None = None) -> Question:
    """The question about a table, finitely many inputs, every real input (`inputs` "all"), or these for every value of
    a constant: `for_all` is its name, or such as "m >= 3". Raises DiagnosticError for one that makes no sense."""
    program = within(program, options.limits)
    engine = engine or Engine(program.measurer, program.limits)
    inputs = inputs_meant(program, table, options.inputs)
    opened = options.open_constant(None if table is not None else inputs)
    if table is None and asks_for_all(inputs):
        return Question(program, options.claim, engine, None, *(opened or (None, None)))
    return Question(program, options.claim, engine, prepared(program, table, inputs, options.progress))
