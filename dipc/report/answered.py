"""The whole answer to a question as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dipc.inverse.written import WrittenForm, forms_of
from dipc.obligations.engine import Engine
from dipc.report.asked import Asked
from dipc.report.claimed import Statement
from dipc.report.every_input import class_verdict_line, render_classes
from dipc.report.page import Look
from dipc.report.text import render, verdict_line
from dipc.sources.every_number.all_numbers import AllNumbers
from dipc.sources.report import Report
from dipc.sources.source import Source


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

    def line(self) -> str:
        """The verdict in one line."""
        if self.source.table is not None:
            return verdict_line(self.report)
        return class_verdict_line(self.report, self.statement())

    def page(self) -> str:
        """The whole report."""
        statement = self.statement()
        if self.source.table is not None:
            return render(self.report, statement, self.look, closed_form=self.closed_form, times=self.times)
        number = self.closed_form
        forms = None if number is None else (self.report.rows[number - 1], self._forms(number))
        return render_classes(self.report, statement, self.look, forms=forms, times=self.times)

    def statement(self) -> Statement:
        """What was asked."""
        source = self.source
        if isinstance(source, AllNumbers):
            return self.asked.statement(source.program, None, (source.parameter, source.least))
        return self.asked.statement(source.program, source.table)

    def _forms(self, number: int) -> Sequence[WrittenForm]:
        return forms_of(self.source, self.engine, self.report.rows[number - 1])
