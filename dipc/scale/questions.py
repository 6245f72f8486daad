"""The questions that the rows of a table ask, each once: rows only look answers up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed
from dipc.chain.symbolic import is_symbolic
from dipc.exits.probability import Cells, Needs, Probabilities
from dipc.obligations.decide import Settled
from dipc.scale.codec import closed_text, read_closed
from dipc.scale.tasks import probability_text
from dipc.sign.piecewise import BetaForm
from dipc.tables.cells import Cell
from dipc.tables.table import Row

#: Answered questions that are remembered: a table may have millions.
_REMEMBERED = 200_000

#: Texts of closed forms that are at hand: they may be long.
_TEXTS = 1000

_ZERO = Cell(Fraction(0), "0")


class Again:
    """Instead of an answer: asked in this process, the question raises."""


Answered = ClosedForm | Undecided | Again


@dataclass(slots=True, eq=False)
class Obligation:
    """Whether Pr >= 1 - beta; `settled` is the answer once there is one."""

    probability: ClosedForm
    beta: BetaForm
    settled: Settled | Again | None = None


@dataclass(slots=True, eq=False)
class Question:
    """A probability that is wanted; `answer` once there is one, and `betas` what it will be compared with."""

    plan: Plan
    inputs: tuple[Cell, ...]
    outputs: Cells
    gamma: Cell
    answer: Answered | None = None
    betas: dict[int, BetaForm] = field(default_factory=dict)
    same_as: Question | None = None

    @property
    def asked(self) -> Question:
        """The question that is really asked in place of this one."""
        return self if self.same_as is None else self.same_as

    @property
    def text(self) -> str:
        """The same text for all rows that must have the same probability."""
        return probability_text(self.plan.reduced(self.inputs), self.outputs, self.gamma)


@dataclass(slots=True, eq=False)
class Plan:
    """The questions with the same finite inputs and wanted outputs. What their probabilities depend on besides is known
    from the first answer on (`needs`); until then the others wait, `scout` being the question that is on its way.

    The questions that came before it was known are found out to be the same where they are (`same_as`).
    `reason` says why nothing can be known of any of them.
    """

    symbolic: frozenset[int]
    needs: Needs | None = None
    reason: str | None = None
    scout: Question | None = None
    waiting: list[Question] = field(default_factory=list)

    def reduced(self, inputs: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """The inputs with 0 for those that do not matter."""
        if self.needs is None:
            return inputs
        wanted = self.symbolic.difference(self.needs.inputs)
        return tuple([_ZERO if at in wanted else cell for at, cell in enumerate(inputs)])


class Book:
    """All questions of a run, with what was answered."""

    def __init__(self, probabilities: Probabilities) -> None:
        program = probabilities.program
        self._engine = probabilities
        self._symbolic = frozenset(
            at for at, slot in enumerate(program.inputs) if is_symbolic(program.slots[slot].type)
        )
        self._balls = frozenset(at for at, slot in enumerate(program.outputs) if is_symbolic(program.slots[slot].type))
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._questions: dict[tuple[object, ...], Question] = {}
        self._obligations: dict[tuple[int, int], Obligation] = {}
        self._interned: dict[Closed, ClosedForm] = {}
        self._texts: dict[int, str] = {}

    def question(self, row: Row, gamma: Cell) -> tuple[Question, bool]:
        """The question of a row, and whether it is new."""
        plan_key = self._engine.plan_key(row.inputs, row.outputs)
        plan = self._plans.get(plan_key)
        if plan is None:
            plan = self._plans[plan_key] = Plan(self._symbolic)
        key = (plan, gamma, *self._cells(plan, row.inputs, row.outputs))
        question = self._questions.get(key)
        if question is not None:
            return question, False
        if len(self._questions) >= _REMEMBERED:
            self._questions = {key: kept for key, kept in self._questions.items() if kept.answer is None}
        question = self._questions[key] = Question(plan, row.inputs, row.outputs, gamma)
        return question, True

    def same(self, question: Question) -> Question:
        """The question that stands for this one, of a plan whose needs have become known."""
        key = (question.plan, question.gamma, *self._cells(question.plan, question.inputs, question.outputs))
        return self._questions.setdefault(key, question)

    def plan_text(self, question: Question) -> str:
        """The same text for all questions of a plan."""
        inputs = [_ZERO if at in self._symbolic else cell for at, cell in enumerate(question.inputs)]
        outputs = [
            _ZERO if at in self._balls and cell is not None else cell for at, cell in enumerate(question.outputs)
        ]
        return f"plan:{probability_text(inputs, outputs, _ZERO)}"

    def read(self, text: str) -> ClosedForm:
        """The one closed form of this run for the function with this text; raises Unreadable."""
        value = read_closed(text)
        form = self._interned.get(value)
        if form is None:
            form = self._interned[value] = ClosedForm(value)
        if len(self._texts) >= _TEXTS:
            self._texts.clear()
        self._texts[id(form)] = text
        return form

    def text(self, form: ClosedForm) -> str:
        """The text of a closed form of this run."""
        return self._texts.get(id(form)) or closed_text(form.value)

    def obligation(self, probability: ClosedForm, beta: BetaForm) -> tuple[Obligation, bool]:
        """The obligation, and whether it is new; both are compared by identity."""
        key = (id(probability), id(beta))
        obligation = self._obligations.get(key)
        if obligation is not None:
            return obligation, False
        # It keeps both alive, and so their identities their own.
        obligation = self._obligations[key] = Obligation(probability, beta)
        return obligation, True

    def _cells(self, plan: Plan, inputs: Sequence[Cell], outputs: Cells) -> Iterator[object]:
        if plan.needs is None:
            yield None
            yield from inputs
            yield from outputs
        else:
            yield from (inputs[at] for at in plan.needs.inputs)
            yield from (outputs[at] for at in plan.needs.balls)
