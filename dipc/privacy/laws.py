"""The output laws of many inputs in closed form, each measured once: equal functions are one number."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed
from dipc.exits.laws import Answer
from dipc.exits.program import Program, Progress
from dipc.measure.bound import Bound
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine
from dipc.obligations.loop import Underway, settled
from dipc.obligations.obligation import Obligation
from dipc.privacy.pairs import Input
from dipc.tables.cells import show_value

#: The number of the zero function in every table.
IMPOSSIBLE = 0


@dataclass(frozen=True, slots=True)
class LawTable:
    """For each input (`rows`) and each of the `answers` the number of its probability: a function of `forms`, or, where
    that is a text, why it is not known: each of these has a number of its own, for the same reason may be given for
    different functions. The answers are all that occur at some input."""

    names: tuple[str, ...]
    answers: tuple[Answer, ...]
    forms: tuple[ClosedForm | str, ...]
    rows: tuple[tuple[int, ...], ...]

    def closed(self, number: int) -> Closed:
        """The function with this number. Raises Undecided where it is not known."""
        form = self.forms[number]
        if isinstance(form, str):
            raise Undecided(form)
        return form.value

    def texts(self, answer: int) -> dict[str, str | None]:
        """The values of an answer by name; None for what was never assigned."""
        values = zip(self.names, self.answers[answer], strict=True)
        return {name: None if value is None else show_value(value) for name, value in values}


def law_table(program: Program, inputs: Sequence[Input], engine: Engine, progress: Progress | None = None) -> LawTable:
    """The laws at these inputs; `progress` is called as they are found. Raises Undecided where the program is too large
    to be executed, DiagnosticError where it goes wrong."""
    laws = program.laws()
    at_inputs = []
    for done, point in enumerate(inputs):
        if progress is not None:
            progress(done, len(inputs))
        at_inputs.append(laws.at(dict(zip(program.core.inputs, point, strict=True))))
    answers = sorted({answer for law in at_inputs for answer in law}, key=laws.rank)
    forms: list[ClosedForm | str] = [ClosedForm(ExpPoly.zero())]
    numbers = {forms[IMPOSSIBLE]: IMPOSSIBLE}

    def number(form: ClosedForm | str) -> int:
        if isinstance(form, ClosedForm) and form in numbers:
            return numbers[form]
        forms.append(form)
        if isinstance(form, ClosedForm):
            numbers[form] = len(forms) - 1
        return len(forms) - 1

    measured = settled((Underway(_measured(bound)) for bound in _bounds(at_inputs)), engine)
    numbered = []
    for done, law in enumerate(at_inputs):
        if progress is not None:
            progress(done, len(at_inputs))
        numbered.append({answer: number(next(measured)) for answer in law})
    rows = tuple(tuple(row.get(answer, IMPOSSIBLE) for answer in answers) for row in numbered)
    names = tuple(slot.name for slot in laws.observed)
    return LawTable(names, tuple(answers), tuple(forms), rows)


def _bounds(at_inputs: Iterable[Mapping[Answer, Bound]]) -> Iterable[Bound]:
    return (bound for law in at_inputs for bound in law.values())


def _measured(bound: Bound) -> Generator[Obligation | Bound, Decision, ClosedForm | str]:
    decision = yield bound
    if decision.bound is not None:
        return decision.bound
    assert decision.reason is not None
    return decision.reason
