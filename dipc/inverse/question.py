"""A question of any kind, as services see it that look at all its obligations: it can be asked with another claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dipc.algebra.limits import Limits
from dipc.claim.claim import Claim, resolve_claim
from dipc.claim.options import ClaimOptions
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program, within
from dipc.ideal.inputs import InputSpec
from dipc.ideal.table import Progress
from dipc.obligations.engine import Engine
from dipc.sources.every_input.all_inputs import EveryInput
from dipc.sources.every_number.all_numbers import MOST_TRIED, AllNumbers
from dipc.sources.free_gamma import is_free
from dipc.sources.outcome import RowResult
from dipc.sources.question import asks_for_all, inputs_meant, open_constant, prepared
from dipc.sources.question import question as about_table
from dipc.sources.source import Source
from dipc.tables.table import Table, TableGiven

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


def asked(
    program: Program,
    table: TableGiven | None,
    options: ClaimOptions,
    *,
    inputs: InputSpec | None = None,
    for_all: str | None = None,
    limits: Limits | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Question:
    """The question about a table, finitely many inputs, every real input (`inputs` "all"), or these for every value of
    a constant: `for_all` is its name, or such as "m >= 3". Raises DiagnosticError for one that makes no sense."""
    program = within(program, limits)
    engine = engine or Engine(program.measurer, program.limits)
    inputs = inputs_meant(program, table, inputs)
    parameter, least = (None, None) if for_all is None else open_constant(for_all)
    if table is None and asks_for_all(inputs):
        return Question(program, options, engine, None, parameter, least)
    if parameter is not None:
        notes = ("add --inputs all, or give the constant a number",)
        raise DiagnosticError(Diagnostic("E1209", f"`{parameter}` is left open, but not the inputs", notes=notes))
    return Question(program, options, engine, prepared(program, table, inputs, progress))
