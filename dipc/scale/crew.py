"""Rows decided by an executor: in order, every question asked once, what a cache knows not at all."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.obligations.decide import Settled
from dipc.obligations.verdict import Verdict
from dipc.scale.codec import read_settled
from dipc.scale.engine import fingerprint
from dipc.scale.executor import Executor, Finished
from dipc.scale.lookup import Known, Told
from dipc.scale.memory import Memory
from dipc.scale.questions import Again, Book, Obligation, Plan, Question
from dipc.scale.tasks import Answer, Done, Kind, Setup, Task, sign_text
from dipc.sign.piecewise import BetaForm
from dipc.sources.decided_rows import Outcome
from dipc.sources.run import Run
from dipc.tables.table import Row

#: Rows looked ahead at: so many may be begun before the first of them is done.
_WINDOW = 20_000

#: Questions of the first tasks, and of any task; more than so many seconds' work is not given to one.
_FIRST_BATCH, _BATCH = 4, 64
_SECONDS = 0.5

#: What is on its way or waits for it: a question, or an obligation.
Item = Question | Obligation


@dataclass(slots=True)
class _Sent:
    """A task that is out."""

    kind: Kind
    items: tuple[Item, ...]
    texts: tuple[str, ...]
    begun: float


class Foreman:
    """Decides the rows of one run by means of an executor, which it closes at the end, however that comes."""

    def __init__(self, run: Run, executor: Executor, memory: Memory | None = None, window: int = _WINDOW) -> None:
        self._run = run
        self._executor = executor
        self._memory = memory
        self._window = window
        self._setup = Setup.of(run)
        self._book = Book(run.probabilities)
        self._pending: dict[Plan, deque[Question]] = {}
        self._waiting = 0
        self._obligations: deque[Obligation] = deque()
        self._alone: deque[tuple[Kind, Item]] = deque()
        self._lost: dict[Item, int] = {}
        self._out: dict[int, _Sent] = {}
        self._tickets = 0
        self._batch = dict.fromkeys(Kind, _FIRST_BATCH)

    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes of all rows in order. Raises what deciding them one after the other would raise, and
        DiagnosticError where the executor or the cache cannot go on."""
        run = self._run
        told = Told(run, self._book)
        rows = iter(run.table.rows)
        ahead: deque[tuple[Row, Question]] = deque()
        try:
            while True:
                for row in islice(rows, self._window - len(ahead)):
                    ahead.append((row, self._begin(row)))
                if not ahead:
                    return
                self._send()
                if self._is_ready(*ahead[0]):
                    while ahead and self._is_ready(*ahead[0]):
                        row, question = ahead.popleft()
                        yield run.outcome(row, Known(run, question.asked), told)
                else:
                    assert self._out, "a row waits for nothing"
                    for finished in self._executor.wait():
                        self._receive(finished)
        finally:
            self._executor.close()

    # --- what rows ask -----------------------------------------------------------------------------

    def _begin(self, row: Row) -> Question:
        terms = self._run.claim.terms(row)
        question, new = self._book.question(row, terms.gamma)
        if not terms.vacuous:
            self._compare(question.asked, terms.beta)
        if new:
            self._want(question)
        return question

    def _want(self, question: Question) -> None:
        plan = question.plan
        if plan.reason is not None:
            self._answer_question(question, Answer(reason=plan.reason))
        elif plan.needs is not None:
            self._line_up(question)
        elif plan.scout is not None:
            plan.waiting.append(question)
        elif not self._recall_plan(question):
            plan.scout = question
            self._line_up(question)

    def _line_up(self, question: Question) -> None:
        self._waiting += 1
        self._pending.setdefault(question.plan, deque()).append(question)

    def _recall_plan(self, question: Question) -> bool:
        """Whether the cache knew what the questions of this plan depend on; then the question is on its way."""
        if self._memory is None:
            return False
        (known,) = self._memory.recall(Kind.PROBABILITY, [self._book.plan_text(question)])
        if known is None or known.needs is None:
            return False
        question.plan.needs = known.needs
        self._want(self._book.same(question))
        return True

    def _compare(self, question: Question, beta: BetaForm) -> None:
        """Decide the obligation as soon as the probability is there."""
        if isinstance(question.answer, ClosedForm):
            obligation, new = self._book.obligation(question.answer, beta)
            if new:
                self._owe(obligation)
        elif question.answer is None:
            question.betas[id(beta)] = beta

    def _owe(self, obligation: Obligation) -> None:
        # Proofs cannot be sent: what needs one is decided here, when it is its turn.
        if self._run.keep_proofs:
            obligation.settled = Again()
        else:
            self._obligations.append(obligation)

    def _is_ready(self, row: Row, question: Question) -> bool:
        answer = question.asked.answer
        if not isinstance(answer, ClosedForm):
            return answer is not None
        terms = self._run.claim.terms(row)
        return terms.vacuous or self._book.obligation(answer, terms.beta)[0].settled is not None

    # --- what is sent ------------------------------------------------------------------------------

    def _send(self) -> None:
        """Keep all slots busy, and answer what the cache knows."""
        while len(self._out) < self._executor.slots:
            batch = self._next_batch()
            if batch is None:
                return
            kind, items = batch
            texts = [self._text(item) for item in items]
            if self._memory is not None:
                known = self._memory.recall(kind, texts)
                for item, answer in zip(items, known, strict=True):
                    if answer is not None:
                        self._answer(item, answer)
                left = [(item, text) for item, text, answer in zip(items, texts, known, strict=True) if answer is None]
                items, texts = [item for item, _ in left], [text for _, text in left]
            if items:
                self._tickets += 1
                self._out[self._tickets] = _Sent(kind, tuple(items), tuple(texts), perf_counter())
                self._executor.submit(self._tickets, Task(fingerprint(), self._setup, kind, tuple(texts)))

    def _next_batch(self) -> tuple[Kind, Sequence[Item]] | None:
        """What to send next: large parts of much, small parts of little, so that all end at about the same time."""
        if self._alone:
            kind, item = self._alone.popleft()
            return kind, [item]
        if self._obligations:
            size = self._size(Kind.SIGN, len(self._obligations))
            return Kind.SIGN, [self._obligations.popleft() for _ in range(size)]
        if not self._pending:
            return None
        size = self._size(Kind.PROBABILITY, self._waiting)
        batch: list[Item] = []
        while self._pending and len(batch) < size:
            plan, questions = next(iter(self._pending.items()))
            while questions and len(batch) < size:
                batch.append(questions.popleft())
            if not questions:
                del self._pending[plan]
        self._waiting -= len(batch)
        return Kind.PROBABILITY, batch

    def _size(self, kind: Kind, waiting: int) -> int:
        share = max(1, waiting // (4 * self._executor.slots))
        return min(share, self._batch[kind])

    def _text(self, item: Item) -> str:
        if isinstance(item, Question):
            return item.text
        return sign_text(self._book.text(item.probability), item.beta)

    # --- what comes back ---------------------------------------------------------------------------

    def _receive(self, finished: Finished) -> None:
        sent = self._out.pop(finished.ticket)
        done = finished.done
        if done is None:
            self._retry(sent, finished.lost)
            return
        if done.engine != fingerprint():
            raise DiagnosticError(_other_engine(done.engine))
        self._count(sent.kind, done)
        pace = (perf_counter() - sent.begun) / len(sent.items)
        self._batch[sent.kind] = max(1, min(_BATCH, 2 * self._batch[sent.kind], int(_SECONDS / max(pace, 1e-6))))
        scouts = [item for item in sent.items if isinstance(item, Question) and item.plan.needs is None]
        for item, answer in zip(sent.items, done.answers, strict=True):
            self._answer(item, answer)
        if self._memory is not None:
            self._memory.keep(sent.kind, self._worth_keeping(sent, done.answers, scouts))

    def _worth_keeping(self, sent: _Sent, answers: Sequence[Answer], scouts: Sequence[Question]) -> dict[str, Answer]:
        kept: dict[str, Answer] = {}
        for item, text, answer in zip(sent.items, sent.texts, answers, strict=True):
            if item in scouts and isinstance(item, Question) and answer.needs is not None:
                # It was asked with all of its inputs, but is the question with those that matter.
                kept[self._book.plan_text(item)] = Answer(needs=answer.needs)
                kept[item.text] = answer
            else:
                kept[text] = answer
        return kept

    def _retry(self, sent: _Sent, why: str) -> None:
        """Ask again, each question alone; one that keeps losing its worker is given up."""
        for item in sent.items:
            if len(sent.items) == 1:
                self._lost[item] = self._lost.get(item, 0) + 1
            if self._lost.get(item, 0) < self._executor.attempts:
                self._alone.append((sent.kind, item))
            else:
                self._give_up(item, _gave_up(why, self._lost[item]))

    def _give_up(self, item: Item, reason: str) -> None:
        if isinstance(item, Question):
            self._answer(item, Answer(reason=reason, needs=item.plan.needs), of_plan=False)
        else:
            item.settled = Settled(Verdict.UNDECIDED, reason=reason)

    def _answer(self, item: Item, answer: Answer, *, of_plan: bool = True) -> None:
        if isinstance(item, Question):
            self._learn(item, answer, of_plan=of_plan)
            self._answer_question(item, answer)
        elif answer.raised:
            item.settled = Again()
        else:
            assert answer.text is not None
            item.settled = read_settled(answer.text)

    def _answer_question(self, question: Question, answer: Answer) -> None:
        if answer.raised:
            question.answer = Again()
        elif answer.text is None:
            question.answer = Undecided(answer.reason or "no reason was given")
        else:
            question.answer = self._book.read(answer.text)
        betas, question.betas = question.betas, {}
        for beta in betas.values():
            self._compare(question, beta)

    def _learn(self, question: Question, answer: Answer, *, of_plan: bool) -> None:
        """What the answer to a plan's first question says of the others, which have waited for it."""
        plan = question.plan
        if plan.needs is not None or plan.scout is not question:
            return
        plan.scout = None
        plan.needs = answer.needs
        if answer.needs is None and answer.text is None and not answer.raised and of_plan:
            plan.reason = answer.reason
        if plan.needs is not None:
            self._book.same(question)
        waiting, plan.waiting = plan.waiting, []
        for other in waiting:
            self._join(other)

    def _join(self, question: Question) -> None:
        """Ask a question that has waited, unless another is the same."""
        asked = self._book.same(question) if question.plan.needs is not None else question
        if asked is question:
            self._want(question)
            return
        question.same_as = asked
        betas, question.betas = question.betas, {}
        for beta in betas.values():
            self._compare(asked, beta)

    def _count(self, kind: Kind, done: Done) -> None:
        total = self._run.elsewhere
        self._run.elsewhere = replace(
            total,
            chain_seconds=total.chain_seconds + done.chain_seconds,
            measure_seconds=total.measure_seconds + done.measure_seconds,
            sign_seconds=total.sign_seconds + done.sign_seconds,
            explorations=total.explorations + done.explorations,
            measures=total.measures + done.measures,
            obligations=total.obligations + (len(done.answers) if kind is Kind.SIGN else 0),
        )


def _gave_up(why: str, times: int) -> str:
    often = "" if times == 1 else f" {times} times"
    return f"a process that worked on it was lost{often}" + (f": it {why}" if why else "")


def _other_engine(engine: str) -> Diagnostic:
    return Diagnostic(
        "E1309",
        f"a worker runs dipc {engine}, and this is dipc {fingerprint()}",
        notes=("install the same dipc, with the same python-flint, on all machines",),
    )
