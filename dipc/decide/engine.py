"""The engine: each different obligation decided once, in the order of the cases that ask.

Executors have one protocol, so that all else is the same wherever obligations are decided; here tasks are done in turn.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from dipc.above import VERSION
from dipc.algebra.exppoly import ClosedForm, fraction_of
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.decide.obligation import MEASURED, Decision, Obligation, Verdict, decide
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, BoundMeasurer, EnclosedForm, Measurer, Probability, UnexpandedBound
from dipc.noise.law import NoClosedForm
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.decide import crossings
    from dipc.decide import series as by_series
else:
    crossings = LazyModule("dipc.decide.crossings")
    by_series = LazyModule("dipc.decide.series")

# --- Obligations decided, each different one once: here, or by whichever executor -------------------------------------

R = TypeVar("R")

#: Of probabilities over normal noise.
NO_FORM = "probabilities of Gaussian noise have no closed form"

WITHOUT_FORM = "functions of the normal distribution"

#: What may be asked: to decide an obligation, or only to measure a bound; the decision is UNDECIDED then, with the
#: bound in closed form.
Question = Obligation | Bound

#: Answers that are remembered at a time: a table may have millions of rows.
_REMEMBERED = 200_000


#: Limits past which a closed form is too long to be written out; None is that of the degrees of common divisors.
_LONG = ("terms", "integrand", "steps", None)


def _is_too_long(undecided: Undecided) -> bool:
    """Whether a closed form was not reached because it is too long."""
    return isinstance(undecided, LimitReached) and undecided.limit in _LONG


@dataclass(slots=True, eq=False)
class Pending:
    """A question that was asked; `decision` once it is there, when `waiting` are called."""

    question: Question
    decision: Decision | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def settle(self, decision: Decision) -> None:
        """This is the answer."""
        self.decision = decision
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()


@frozen
class Spent:
    """How many events were measured, and how many different obligations decided, and in how many seconds."""

    measures: int = 0
    obligations: int = 0
    measure_seconds: float = 0.0
    sign_seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(mine - theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


class Engine:
    """Decides obligations in this process, each when it is asked for; equal ones once.

    With `digits` the failing intervals are known to this many digits, each with its worst eps. With `keep_proofs`
    decisions come with their proofs. Without `forms` whoever asks may do without the closed form of what holds.
    """

    #: How many cases may be begun before the first of them is done: whoever decides at once looks no further.
    window = 1

    def __init__(
        self,
        measurer: Measurer,
        limits: Limits,
        *,
        digits: int | None = None,
        keep_proofs: bool = False,
    ) -> None:
        self.bounds = BoundMeasurer(measurer)
        #: What takes a moment to be measured; the rest is followed without its closed form first, unless a proof is to
        #: be written from it.
        self._brief = None if keep_proofs else BoundMeasurer(measurer.brief)
        self.limits = limits
        self.digits = digits
        self.keep_proofs = keep_proofs
        self.forms = True
        self._observer: Callable[[], None] | None = None
        #: What was decided of functions: different bounds may be the same one.
        self._functions: dict[tuple[ClosedForm, BetaForm, tuple[Interval, ...]], Decision] = {}
        self._obligations = 0
        self._sign_seconds = 0.0
        self._ledger: dict[Question, Pending] = {}

    def decide(self, question: Question) -> Decision:
        """The decision, now. An obligation's is never wrong; it is UNDECIDED past a limit."""
        pending = self.ask(question)
        while pending.decision is None:
            self.wait()
        return pending.decision

    def bound(self, question: Bound) -> ClosedForm:
        """The bound in closed form, now. Raises Undecided."""
        decision = self.decide(question)
        if decision.bound is None:
            raise Undecided(decision.reason or "")
        return decision.bound

    def probability(self, question: Bound) -> Probability:
        """The bound, now, in closed form, or enclosed where there is none. Raises Undecided."""
        decision = self.decide(question)
        if decision.bound is not None:
            return decision.bound
        if not question.is_without_form:
            raise Undecided(decision.reason or "")
        return EnclosedForm(UnexpandedBound.of(question, self.bounds.measurer, self.limits), NO_FORM)

    def run(self, asking: Generator[Question, Decision, R]) -> R:
        """What a generator gives in the end, with each question that it asks decided, now."""
        try:
            question = next(asking)
            while True:
                question = asking.send(self.decide(question))
        except StopIteration as stop:
            result: R = stop.value
            return result

    def ask(self, question: Question) -> Pending:
        """The one answer to this question, at once or in time."""
        pending = self._ledger.get(question)
        if pending is None:
            if len(self._ledger) >= _REMEMBERED:
                self._ledger = {key: kept for key, kept in self._ledger.items() if kept.decision is None}
            pending = self._ledger[question] = Pending(question)
            self._begin(pending)
        return pending

    def wait(self) -> None:
        """Until something more is decided; something must be on its way."""
        raise AssertionError("what is decided at once is waited for")

    def _begin(self, pending: Pending) -> None:
        pending.settle(self._decided(pending.question))
        self._observe()

    @contextmanager
    def observed(self, observer: Callable[[], None]) -> Iterator[None]:
        """Within the block it is called whenever an answer, or a step of one that takes long, is there."""
        before, self._observer = self._observer, observer
        try:
            yield
        finally:
            self._observer = before

    def _observe(self) -> None:
        if self._observer is not None:
            self._observer()

    def _decided(self, question: Question) -> Decision:
        obligation = question if isinstance(question, Obligation) else None
        bound = question.bound if isinstance(question, Obligation) else question
        tried: Decision | None = None
        if obligation is not None and not obligation.beta.has_cells:
            tried = self._by_series(obligation)
            if tried.verdict is Verdict.UNDECIDED and not tried.reason:
                return Decision.undecided(
                    f"beta has {WITHOUT_FORM}, and so does a weight or an event of the probability"
                )
            return tried
        try:
            measured = self._measured_briefly(bound)
            long = measured is None
            if measured is None:
                if obligation is not None and self._brief is not None:
                    tried = self._by_series(obligation)
                    if tried.verdict is not Verdict.UNDECIDED:
                        return tried
                measured = self.bounds.measure(bound)
            elif obligation is not None and self._brief is not None and _has_dear_signs(measured):
                tried = self._by_series(obligation)
                # Where it fails, to some digits, takes the closed form.
                if tried.verdict is Verdict.ACCURATE or (tried.verdict is Verdict.INACCURATE and self.digits is None):
                    return replace(tried, bound=measured)
        except Undecided as undecided:
            if obligation is not None and (_is_too_long(undecided) or isinstance(undecided, NoClosedForm)):
                if tried is None:
                    tried = self._by_series(obligation)
                return tried if tried.verdict is not Verdict.UNDECIDED else by_series.too_long(undecided, tried)
            return Decision.undecided(undecided.reason)
        if obligation is None:
            return replace(Decision.undecided(MEASURED, measured), long=long)
        decision = self._settled(measured, obligation)
        return replace(decision, long=True) if long else decision

    def _by_series(self, obligation: Obligation) -> Decision:
        """The decision without a closed form; where it fails, to the digits asked for."""
        decision = by_series.decide_by_series(obligation, self.bounds, self.limits)
        self._observe()
        if decision.verdict is Verdict.INACCURATE and self.digits is not None:
            with suppress(Undecided):
                by_interval = [
                    crossings.failing_stretches(obligation, i, self.bounds, self.limits) for i in obligation.intervals
                ]
                failing = [stretch for stretches in by_interval for stretch in stretches]
                return replace(decision, failing=crossings.failing_between(failing, self.digits, self.limits))
        return decision

    def _measured_briefly(self, bound: Bound) -> ClosedForm | None:
        """The bound where that takes a moment, whatever was asked before; None where it takes longer, or proofs are
        kept. Raises Undecided past a limit that is the same for what takes longer.
        """
        if self._brief is None:
            return None
        try:
            return self._brief.measure(bound)
        except Undecided as stopped:
            if _is_too_long(stopped):
                return None
            raise

    def _settled(self, measured: ClosedForm, obligation: Obligation) -> Decision:
        beta, intervals = obligation.beta, obligation.intervals
        known = self._functions.get((measured, beta, intervals))
        if known is None:
            begun = perf_counter()
            try:
                known = decide(measured, beta, intervals, self.limits, self.digits)
            except Undecided as undecided:
                known = Decision.undecided(undecided.reason, measured)
            if not self.keep_proofs:
                known = replace(known, proof=None)
            self._obligations += 1
            self._sign_seconds += perf_counter() - begun
            if len(self._functions) >= _REMEMBERED:
                self._functions.clear()
            self._functions[measured, beta, intervals] = known
        return known

    @property
    def spent(self) -> Spent:
        """The work done so far."""
        measurers = [self.bounds] if self._brief is None else [self._brief, self.bounds]
        measured, seconds = sum(one.measured for one in measurers), sum(one.seconds for one in measurers)
        return Spent(measured, self._obligations, seconds, self._sign_seconds)


#: From how many terms on, and from which degree in e^{eps/n} on, the sign of a closed form takes longer than its Taylor
#: polynomials.
_MANY_TERMS, _HIGH_DEGREE = 400, 100_000


def _has_dear_signs(form: ClosedForm) -> bool:
    """Whether its sign is not found in a moment: its exponents have no large common unit."""
    return any(len(poly) >= _MANY_TERMS and poly.degree() >= _HIGH_DEGREE for poly in fraction_of(form.value))


# --- The one loop that decides: it settles cases in order, looking ahead as far as the engine likes -------------------


class Underway(Generic[R]):
    """A case being settled: its generator, and its result in the end. Many rows may wait for the same one."""

    __slots__ = ("_asked", "_error", "_settling", "done", "result")

    def __init__(self, settling: Generator[Obligation | Bound, Decision, R]) -> None:
        self._settling = settling
        self._asked: Pending | None = None
        self._error: Exception | None = None
        self.done = False
        self.result: R

    def advance(self, engine: Engine) -> None:
        """Go on until a decision is not there yet, or all is done."""
        while not self.done:
            decision = None
            if self._asked is not None:
                decision = self._asked.decision
                if decision is None:
                    return
            try:
                question = next(self._settling) if decision is None else self._settling.send(decision)
            except StopIteration as stop:
                self.result = stop.value
                self.done = True
            except Exception as error:  # it is raised when it is the turn of this case, as if none was looked ahead at
                self._error = error
                self.done = True
            else:
                self._asked = engine.ask(question)
                if self._asked.decision is None:
                    self._asked.waiting.append(lambda: self.advance(engine))
                    return

    def take(self) -> R:
        """What the case came to; raises what settling it raised."""
        if self._error is not None:
            raise self._error
        return self.result


def settled(underway: Iterable[Underway[R]], engine: Engine) -> Iterator[R]:
    """The results in order; the same object may come many times."""
    coming = iter(underway)
    ahead: deque[Underway[R]] = deque()
    while True:
        for each in islice(coming, engine.window - len(ahead)):
            if not each.done:
                each.advance(engine)
            ahead.append(each)
        if not ahead:
            return
        while not ahead[0].done:
            engine.wait()
        while ahead and ahead[0].done:
            yield ahead.popleft().take()


# --- Which engine decided: a fingerprint of the code whose answers are kept or sent -----------------------------------

#: The rooms that decisions come from. What asks is not among them: equal obligations have equal answers.
_ROOMS = ("noise", "algebra", "linear", "sign", "measure", "decide")


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """`0.1.0-3f2a…`: the version, and a hash of the sources of the rooms that decide and of FLINT's version.

    Answers of engines with the same fingerprint may stand for each other; of others nothing is known.
    """
    import flint

    package = Path(__file__).resolve().parents[1]
    files = [path for room in _ROOMS for path in sorted((package / room).rglob("*.py"))]
    digest = hashlib.sha256(f"python-flint {flint.__version__}, FLINT {flint.__FLINT_VERSION__}\n".encode())
    for path in files:
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{VERSION}-{digest.hexdigest()[:16]}"


# --- What a worker is asked, and what it answers: plain values, so that any process on any machine can do it ----------


@frozen
class Setup:
    """All that a worker has to know of an engine."""

    measure: Limits
    sign: Limits
    digits: int | None
    keep_proofs: bool
    forms: bool = True

    @staticmethod
    def of(engine: Engine, *, forms: bool = True) -> bytes:
        """The setup of this engine, pickled once for all tasks. Without `forms` what holds comes back without the
        closed form of its bound.
        """
        limits = engine.bounds.measurer.limits
        return pickle.dumps(Setup(limits, engine.limits, engine.digits, engine.keep_proofs, forms))


@frozen
class Task:
    """Questions for the engine with this fingerprint. They are pickled, since another one may not know them."""

    engine: str
    setup: bytes
    questions: bytes

    @staticmethod
    def of(setup: bytes, questions: Sequence[Question]) -> Task:
        """These questions, for an engine like this one."""
        return Task(fingerprint(), setup, pickle.dumps(tuple(questions)))


@frozen
class Done:
    """The decisions on a task's questions, in order, the engine that made them, what they took, and in how many
    `seconds` in all.

    None says that the question ends in an exception, which whoever asked finds by asking it where it can be seen.
    """

    engine: str
    decisions: tuple[Decision | None, ...]
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0


def perform(task: Task) -> Done:
    """The answers to all questions of the task; of another engine's task none, only the name of this one."""
    if task.engine != fingerprint():
        return Done(fingerprint(), ())
    with _TURN:
        begun = perf_counter()
        engine = _engine(task.setup)
        before = engine.spent
        # The bytes come from the process that started this one, or from the user's own Dask cluster.
        questions: tuple[Question, ...] = pickle.loads(task.questions)  # noqa: S301 - as said
        decisions = tuple([_decision(engine, question) for question in questions])
        return Done(fingerprint(), decisions, engine.spent - before, perf_counter() - begun)


#: Engines are not made for several threads, and FLINT's precision is one for the whole process.
_TURN = Lock()


@lru_cache(maxsize=4)
def _engine(setup: bytes) -> Engine:
    """The engine for a setup, kept for the tasks to come."""
    made: Setup = pickle.loads(setup)  # noqa: S301 - as said
    engine = Engine(Measurer(made.measure), made.sign, digits=made.digits, keep_proofs=made.keep_proofs)
    engine.forms = made.forms
    return engine


def _decision(engine: Engine, question: Question) -> Decision | None:
    try:
        decision = engine.decide(question)
        if isinstance(question, Obligation) and decision.bound is not None:
            if engine.forms:
                str(decision.bound)  # it goes with the form: to write a long one takes as long as to send it
            elif decision.verdict is Verdict.ACCURATE:
                return replace(decision, bound=None)
        return decision
    except MemoryError:
        raise
    except Exception:  # whoever asked asks again, and sees it
        return None


# --- The protocol of all executors ------------------------------------------------------------------------------------


@frozen
class Finished:
    """A task that came back: done, or lost with the worker that had it, for the reason `lost`."""

    ticket: int
    done: Done | None
    lost: str = ""


class Executor(Protocol):
    """Does tasks in any order. Each one submitted comes back exactly once, unless `close` comes first.

    `slots` is how many tasks are worth having at a time; `attempts` how often one that was alone with its worker when
    that was lost is worth trying.
    """

    attempts: int

    @property
    def slots(self) -> int: ...

    def submit(self, ticket: int, task: Task) -> None:
        """Begin a task soon."""

    def wait(self) -> list[Finished]:
        """At least one task that came back; some must be out. Raises DiagnosticError where none ever can."""

    def close(self) -> None:
        """End at once, leaving nothing behind that runs."""


# --- Tasks done one after the other, in this process ------------------------------------------------------------------


class InTurn:
    """Does each task when it is waited for, in this process."""

    slots = 1
    attempts = 1

    def __init__(self) -> None:
        self._tasks: deque[tuple[int, Task]] = deque()

    def submit(self, ticket: int, task: Task) -> None:
        self._tasks.append((ticket, task))

    def wait(self) -> list[Finished]:
        ticket, task = self._tasks.popleft()
        return [Finished(ticket, perform(task))]

    def close(self) -> None:
        self._tasks.clear()
