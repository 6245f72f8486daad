"""Rows look up what was answered; what raises is asked again where that can be seen."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.exits.probability import Cells
from dipc.obligations.decide import Settled
from dipc.scale.questions import Book, Question
from dipc.sign.piecewise import BetaForm
from dipc.sources.run import Run
from dipc.tables.cells import Cell


@dataclass(frozen=True, slots=True)
class Known:
    """The probability of one row, which was answered."""

    run: Run
    question: Question

    def probability(self, inputs: tuple[Cell, ...], outputs: Cells, gamma: Cell) -> ClosedForm:
        answer = self.question.answer
        match answer:
            case ClosedForm():
                return answer
            case Undecided():
                raise Undecided(answer.reason)
            case _:
                return self.run.probabilities.probability(inputs, outputs, gamma)


@dataclass(frozen=True, slots=True)
class Told:
    """The verdicts on obligations that were answered."""

    run: Run
    book: Book

    def settle(self, probability: ClosedForm, beta: BetaForm) -> Settled:
        settled = self.book.obligation(probability, beta)[0].settled
        return settled if isinstance(settled, Settled) else self.run.decider.settle(probability, beta)
