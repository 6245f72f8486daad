"""The whole answer to a question as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dipc.obligations.engine import Engine
from dipc.report.asked import Asked
from dipc.report.claimed import Statement
from dipc.report.page import Look
from dipc.report.text import render, verdict_line
from dipc.sources.report import Report
from dipc.sources.source import Source

if TYPE_CHECKING:
    from dipc.inverse.written import WrittenForm


@dataclass(frozen=True, slots=True)
class Answered:
    """A report with the question that it answers, in words: those of rows, or of classes of all real inputs."""

    source: Source
    engine: Engine
    report: Report
    asked: Asked
    look: Look = field(default_factory=Look)
    closed_form: int | None = None
    times: bool = field(default=False, kw_only=True)

    @property
    def word(self) -> str:
        """What the cases are called."""
        return "row" if self.source.table is not None and self.report.inputs is None else "class"

    def line(self) -> str:
        """The verdict in one line."""
        if self.source.table is not None:
            return verdict_line(self.report)
        from dipc.report.every_input import class_verdict_line

        return class_verdict_line(self.report, self.statement())

    def page(self) -> str:
        """The whole report."""
        statement = self.statement()
        if self.source.table is not None:
            return render(self.report, statement, self.look, closed_form=self.closed_form, times=self.times)
        from dipc.report.every_input import render_classes

        number = self.closed_form
        forms = None if number is None else (self.report.rows[number - 1], self._forms(number))
        return render_classes(self.report, statement, self.look, forms=forms, times=self.times)

    def statement(self) -> Statement:
        """What was asked."""
        return self.asked.statement(self.source.program, self.source.table, self.source.numbers)

    def _forms(self, number: int) -> Sequence[WrittenForm]:
        from dipc.inverse.written import forms_of

        return forms_of(self.source, self.engine, self.report.rows[number - 1])
