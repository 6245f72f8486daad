"""Obligations decided by an executor, each different one once, those with the same bound together."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import Limits
from dipc.decide.cache import Memory
from dipc.decide.engine import Done, Engine, Executor, Finished, Pending, Question, Setup, Spent, Task, fingerprint
from dipc.decide.obligation import MEASURED, Decision, Obligation
from dipc.measure.measure import Bound, Measurer, Share
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: Cases looked ahead at: so many may be begun before the first of them is done.
WINDOW = 20_000

#: Questions of the first tasks, and of any task; more than so many seconds' work is not given to one.
_FIRST_BATCH, _BATCH = 4, 64
_SECONDS = 0.5


@dataclass(slots=True)
class _Sent:
    """A task that is out."""

    items: tuple[Pending, ...]
    begun: float


class SharedEngine(Engine):
    """Decides by means of an executor, and a cache if there is one: that knows no proofs, so with `keep_proofs` it only
    saves measuring."""

    def __init__(
        self,
        measurer: Measurer,
        limits: Limits,
        executor: Executor,
        memory: Memory | None = None,
        *,
        digits: int | None = None,
        keep_proofs: bool = False,
        window: int = WINDOW,
    ) -> None:
        super().__init__(measurer, limits, digits=digits, keep_proofs=keep_proofs)
        self.window = window
        self._executor = executor
        self._memory = memory
        self._setup = Setup.of(self)
        #: What waits to be sent, by the bound it is about.
        self._waiting: dict[Bound, list[Pending]] = {}
        self._count = 0
        #: What waits for its bound, which is being measured.
        self._held: dict[Bound, list[Pending]] = {}
        self._forms: dict[Bound, ClosedForm] = {}
        #: Those that were not measured briefly.
        self._long_forms: dict[Bound, ClosedForm] = {}
        #: What was asked first of each function.
        self._functions_asked: dict[tuple[ClosedForm, BetaForm, tuple[Interval, ...]], Pending] = {}
        self._alone: deque[Pending] = deque()
        self._lost: dict[Pending, int] = {}
        self._out: dict[int, _Sent] = {}
        self._tickets = 0
        self._batch = _FIRST_BATCH
        self._elsewhere = Spent()

    @property
    def spent(self) -> Spent:
        return super().spent + self._elsewhere

    def wait(self) -> None:
        """Raises DiagnosticError where the executor or the cache cannot go on."""
        if self._send():
            return
        assert self._out, "something waits for nothing"
        for finished in self._executor.wait():
            self._receive(finished)

    # --- what is asked -----------------------------------------------------------------------------

    def _begin(self, pending: Pending) -> None:
        held = self._held.get(_bound(pending.question))
        if held is None:
            self._line_up(pending)
        else:
            held.append(pending)

    def _line_up(self, pending: Pending) -> None:
        self._count += 1
        self._waiting.setdefault(_bound(pending.question), []).append(pending)

    # --- what is sent ------------------------------------------------------------------------------

    def _send(self) -> bool:
        """Keep all slots busy. Whether something was decided meanwhile, which the cache knew."""
        result = False
        while not result and len(self._out) < self._executor.slots:
            taken = self._next_batch()
            if not taken:
                break
            batch = [pending for pending in taken if not self._is_answered(pending)]
            result = any(pending.decision is not None for pending in taken)
            if batch:
                self._tickets += 1
                self._out[self._tickets] = _Sent(tuple(batch), perf_counter())
                for pending in batch:
                    self._held.setdefault(_bound(pending.question), [])
                task = Task.of(self._setup, [self._shortened(pending.question) for pending in batch])
                self._executor.submit(self._tickets, task)
        return result

    def _next_batch(self) -> Sequence[Pending]:
        """What to send next: large parts of much, small parts of little, so that all end at about the same time."""
        if self._alone:
            return [self._alone.popleft()]
        size = min(max(1, self._count // (4 * self._executor.slots)), self._batch)
        batch: list[Pending] = []
        while self._waiting and len(batch) < size:
            batch += self._waiting.pop(next(iter(self._waiting)))
        self._count -= len(batch)
        return batch

    def _shortened(self, question: Question) -> Question:
        """The question with its bound as the closed form that is known."""
        if isinstance(question, Bound):
            return question
        form = self._known_form(question)
        return question if form is None else replace(question, bound=Bound((Share(form.value, ()),)))

    def _is_answered(self, pending: Pending) -> bool:
        """Whether the answer is known, from the cache too, or will be that to a question about the same function."""
        question = pending.question
        form = self._form(pending)
        if form is None:
            return pending.decision is not None
        if isinstance(question, Bound):
            pending.settle(Decision.undecided(MEASURED, form))
            return True
        first = self._functions_asked.setdefault((form, question.beta, question.intervals), pending)
        if first is not pending:
            if first.decision is None:
                first.waiting.append(lambda: pending.settle(_decision(first)))
            else:
                pending.settle(first.decision)
            return True
        known = None if self._memory is None or self.keep_proofs else self._memory.decision(form, question)
        if known is not None:
            pending.settle(known)
        return known is not None

    def _form(self, pending: Pending) -> ClosedForm | None:
        """The bound in closed form where that is known; what is known to have none is settled."""
        question = pending.question
        bound = _bound(question)
        form = self._known_form(question)
        if form is None and self._memory is not None:
            found = self._memory.bound(bound, long=self._wants_form(question))
            if isinstance(found, Closed):
                form = self._forms[bound] = self.bounds.intern(found)
            elif isinstance(question, Obligation):
                known = None if self.keep_proofs else self._memory.unexpanded(question)
                if known is not None:
                    pending.settle(known)
            elif found is not None:
                pending.settle(Decision.undecided(found))
        return form

    def _known_form(self, question: Question) -> ClosedForm | None:
        bound = _bound(question)
        form = self._forms.get(bound)
        return self._long_forms.get(bound) if form is None and self._wants_form(question) else form

    def _wants_form(self, question: Question) -> bool:
        """Whether it is asked for the closed form, however long it takes: otherwise a decision would depend on whether
        somebody else asked."""
        return self.keep_proofs or isinstance(question, Bound)

    # --- what comes back ---------------------------------------------------------------------------

    def _receive(self, finished: Finished) -> None:
        sent = self._out.pop(finished.ticket)
        done = finished.done
        if done is None:
            self._retry(sent, finished.lost)
        else:
            self._done(sent, done)

    def _done(self, sent: _Sent, done: Done) -> None:
        if done.engine != fingerprint():
            raise DiagnosticError(_other_engine(done.engine))
        self._elsewhere = self._elsewhere + done.spent
        pace = (perf_counter() - sent.begun) / len(sent.items)
        self._batch = max(1, min(_BATCH, 2 * self._batch, int(_SECONDS / max(pace, 1e-6))))
        if self._memory is not None:
            pairs = zip(sent.items, done.decisions, strict=True)
            self._memory.keep([(item.question, decision) for item, decision in pairs if decision is not None])
        for pending, decision in zip(sent.items, done.decisions, strict=True):
            bound = _bound(pending.question)
            if decision is not None and decision.bound is not None:
                form = self.bounds.intern(decision.bound.value)
                (self._long_forms if decision.long else self._forms)[bound] = form
                decision = replace(decision, bound=form)
                decision = self._unique(decision, form, pending)
            self._release(bound)
            # What raises is asked here, where it can be seen.
            pending.settle(self._decided(pending.question) if decision is None else decision)

    def _release(self, bound: Bound) -> None:
        """Line up what waited for a bound that is no more on its way."""
        for held in self._held.pop(bound, ()):
            self._line_up(held)

    def _unique(self, decision: Decision, form: ClosedForm, pending: Pending) -> Decision:
        """The one object for the decision on this function."""
        question = pending.question
        if isinstance(question, Bound):
            return decision
        first = self._functions_asked.setdefault((form, question.beta, question.intervals), pending)
        return decision if first.decision is None else first.decision

    def _retry(self, sent: _Sent, why: str) -> None:
        """Ask again, each question alone; one that keeps losing its worker is given up."""
        for pending in sent.items:
            if len(sent.items) == 1:
                self._lost[pending] = self._lost.get(pending, 0) + 1
            if self._lost.get(pending, 0) < self._executor.attempts:
                self._alone.append(pending)
            else:
                self._release(_bound(pending.question))
                pending.settle(Decision.undecided(_gave_up(why, self._lost[pending])))


def _decision(pending: Pending) -> Decision:
    assert pending.decision is not None
    return pending.decision


def _bound(question: Question) -> Bound:
    return question if isinstance(question, Bound) else question.bound


def _gave_up(why: str, times: int) -> str:
    often = "" if times == 1 else f" {times} times"
    return f"a process that worked on it was lost{often}" + (f": it {why}" if why else "")


def _other_engine(engine: str) -> Diagnostic:
    return Diagnostic(
        "E1309",
        f"a worker runs dipc {engine}, and this is dipc {fingerprint()}",
        notes=("install the same dipc, with the same python-flint, on all machines",),
    )
