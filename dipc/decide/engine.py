"""Decide each different obligation once, in the order of the cases that need it.

All executors have one protocol, so an engine works alike wherever obligations are decided. The executor here performs
tasks one after the other, in this process.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from dipc.above import VERSION
from dipc.algebra.exppoly import ClosedForm, fraction_of
from dipc.algebra.limits import Effort, LimitReached, Limits, Undecided
from dipc.decide.obligation import (
    MEASURED,
    NORMAL_FUNCTIONS,
    Asking,
    Decision,
    Obligation,
    Verdict,
    decide,
    failing_regions,
    holds_in_cells,
)
from dipc.decide.scope import holds_in_scope
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound, BoundMeasurer, EnclosedForm, Measurer, Probability
from dipc.noise.law import NoClosedForm
from dipc.sign.chart import cuts
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.decide import crossings
    from dipc.decide import series as by_series
    from dipc.decide.cache import Cache
else:
    crossings = LazyModule("dipc.decide.crossings")
    by_series = LazyModule("dipc.decide.series")

# --- Obligations, each different one decided once ---------------------------------------------------------------------

R = TypeVar("R")

#: The reason for probabilities over normal noise.
NO_FORM = "probabilities of Gaussian noise have no closed form"


#: An obligation to decide, or a bound to measure; the decision for a bound is UNDECIDED, with its closed form.
Question = Obligation | Bound

#: The most answers that are remembered: a table may have millions of rows.
_REMEMBERED = 200_000


#: Limits that say that a closed form is too long; None is the limit of the degrees of common divisors.
_LONG = ("terms", "integrand", "steps", None)


def _is_too_long(undecided: Undecided) -> bool:
    return isinstance(undecided, LimitReached) and undecided.limit in _LONG


@dataclass(slots=True, eq=False)
class Pending:
    """A `question` that an engine was asked, with its `decision`, which is None until it is known.

    The functions in `waiting` are called when the decision is known.
    """

    question: Question
    decision: Decision | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def settle(self, decision: Decision) -> None:
        """Set `decision` as the decision on the question, and call the functions that wait for it."""
        self.decision = decision
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()


class Engine:
    """A decider of questions: obligations, to be decided, and bounds, to be measured. Equal ones are decided once.

    This class decides a question immediately, in the process that asks it; subclasses may send it elsewhere. Invariant:
    equal questions share one `Pending`, unless it was decided and forgotten.

    - `bounds` measures events, and `limits` bound the work of deciding signs.
    - `digits`: if it is given, decisions have their failing intervals, with ends to this many digits. Each interval
      then has its worst eps.
    - `keep_proofs`: decisions come with their proofs.
    - `forms`: if it is False, an ACCURATE decision may lack the closed form of its bound.
    """

    #: The most cases in progress at a time; one, where questions are decided at once.
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
        #: Measures short closed forms only; longer ones are first avoided, unless a proof is needed.
        self._brief = None if keep_proofs else BoundMeasurer(measurer.brief)
        self.limits = limits
        self.digits = digits
        self.keep_proofs = keep_proofs
        self.forms = True
        self._observer: Callable[[], None] | None = None
        #: Decisions by function: different bounds may be the same function.
        self._functions: dict[tuple[ClosedForm, BetaForm, tuple[Interval, ...]], Decision] = {}
        self._obligations = 0
        self._sign_seconds = 0.0
        self._ledger: dict[Question, Pending] = {}

    def decide(self, question: Question) -> Decision:
        """Decide `question` now. ACCURATE and INACCURATE are proved; past a limit the decision is UNDECIDED."""
        pending = self.ask(question)
        while pending.decision is None:
            self.wait()
        return pending.decision

    def holds(self, obligation: Obligation) -> bool:
        """Return True if `obligation` is proved, and False if it is refuted. Raises Undecided if it is neither.

        If there is a closed form, refuting needs no counterexample, whose numbers might be too long to be written out.
        """
        form = self._closed(obligation)
        if form is not None:
            value, beta = form.value, obligation.beta
            return all(holds_in_cells(value, beta, interval, self.limits) for interval in obligation.intervals)
        decision = self.decide(obligation)
        if decision.verdict is Verdict.UNDECIDED:
            raise Undecided(decision.reason or "")
        return decision.verdict is Verdict.ACCURATE

    def failing(self, obligation: Obligation) -> list[crossings.Stretch]:
        """Return the maximal parts of the intervals of `obligation` on which it fails, in the order of the intervals.

        Each is a pair of cuts. At an end inside an interval, bound and 1 - beta are equal. Raises Undecided if the ends
        are not found.
        """
        form = self._closed(obligation)
        if form is None:
            return crossings.failing_stretches(obligation, self.bounds, self.limits)
        return list(failing_regions(form, obligation.beta, obligation.intervals, self.limits))

    def _closed(self, obligation: Obligation) -> ClosedForm | None:
        """Return the closed form of the bound of `obligation`; None if the bound or beta has none, or is too long."""
        return self.decide(obligation.bound).bound if obligation.beta.has_cells else None

    def fails_throughout(self, obligation: Obligation) -> bool:
        """Return True if `obligation` fails at all values of its intervals. Raises Undecided."""
        return self.failing(obligation) == list(map(cuts, obligation.intervals))

    def known_decision(self, question: Question) -> Decision | None:
        """Return the decision on `question` if this engine has made it, otherwise None; nothing is decided now."""
        pending = self._ledger.get(question)
        return None if pending is None else pending.decision

    def bound(self, question: Bound) -> ClosedForm:
        """Measure the bound `question` now, and return its closed form. Raises Undecided if none is found."""
        decision = self.decide(question)
        if decision.bound is None:
            raise Undecided(decision.reason or "")
        return decision.bound

    def probability(self, question: Bound) -> Probability:
        """Measure the bound `question` now, and return its closed form, or an enclosure if it has no closed form.

        Raises Undecided if the bound cannot be measured.
        """
        decision = self.decide(question)
        if decision.bound is not None:
            return decision.bound
        if not question.is_without_form:
            raise Undecided(decision.reason or "")
        return EnclosedForm.from_bound(question, self.bounds.measurer, self.limits, NO_FORM)

    def run(self, asking: Generator[Question, Decision, R]) -> R:
        """Run the generator `asking` to its end and return its result.

        Each question that the generator yields is decided immediately, and the decision is sent to the generator.
        """
        try:
            question = next(asking)
            while True:
                question = asking.send(self.decide(question))
        except StopIteration as stop:
            result: R = stop.value
            return result

    def ask(self, question: Question) -> Pending:
        """Ask `question`, and return the `Pending` that has or will have its decision; equal questions share one."""
        pending = self._ledger.get(question)
        if pending is None:
            if len(self._ledger) >= _REMEMBERED:
                self._ledger = {key: kept for key, kept in self._ledger.items() if kept.decision is None}
            pending = self._ledger[question] = Pending(question)
            self._begin(pending)
        return pending

    def wait(self) -> None:
        """Wait until one more of the questions asked is decided; at least one must be undecided."""
        raise AssertionError("questions are decided at once, so there is nothing to wait for")

    def _begin(self, pending: Pending) -> None:
        pending.settle(self._decision(pending.question))
        self._observe()

    @contextmanager
    def observed(self, observer: Callable[[], None]) -> Iterator[None]:
        """Call `observer` after each decision in the with block, and at each step of a decision that takes long."""
        before, self._observer = self._observer, observer
        try:
            yield
        finally:
            self._observer = before

    def _observe(self) -> None:
        if self._observer is not None:
            self._observer()

    def _decision(self, question: Question) -> Decision:
        obligation = question if isinstance(question, Obligation) else None
        bound = question.bound if isinstance(question, Obligation) else question
        tried: Decision | None = None
        if obligation is not None and not obligation.beta.has_cells:
            tried = self._by_series(obligation)
            if tried.verdict is Verdict.UNDECIDED and not tried.reason:
                return Decision.undecided(
                    f"beta has {NORMAL_FUNCTIONS}, and so does a weight or an event of the probability"
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
            elif (
                obligation is not None
                and self._brief is not None
                and any(
                    len(poly) >= _MANY_TERMS and poly.degree() >= _HIGH_DEGREE for poly in fraction_of(measured.value)
                )
            ):
                tried = self._by_series(obligation)
                # The digits of failing intervals need the closed form.
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
        decision = self._decide_measured(measured, obligation)
        return replace(decision, long=True) if long else decision

    def _by_series(self, obligation: Obligation) -> Decision:
        """Decide `obligation` by Taylor series, without a closed form of its bound.

        If the claim fails and `digits` is set, the ends of failing intervals are found to that many digits.
        """
        decision = by_series.decide_by_series(obligation, self.bounds, self.limits)
        self._observe()
        if decision.verdict is Verdict.INACCURATE and self.digits is not None:
            with suppress(Undecided):
                failing = crossings.failing_stretches(obligation, self.bounds, self.limits)
                spans = tuple(crossings.span_of(each, self.digits, self.limits) for each in failing)
                return replace(decision, failing=spans)
        return decision

    def _measured_briefly(self, bound: Bound) -> ClosedForm | None:
        """Return the closed form of `bound` if it is found within small limits, else None.

        The result is always None if decisions keep their proofs. It does not depend on earlier questions. Raises
        Undecided if larger limits would not help.
        """
        if self._brief is None:
            return None
        try:
            return self._brief.measure(bound)
        except Undecided as stopped:
            if _is_too_long(stopped):
                return None
            raise

    def _decide_measured(self, measured: ClosedForm, obligation: Obligation) -> Decision:
        beta, intervals = obligation.beta, obligation.intervals
        known = self._functions.get((measured, beta, intervals))
        if known is None:
            begun = perf_counter()
            try:
                if self._holds_in_scope(measured, obligation):
                    known = Decision(Verdict.ACCURATE, measured)
                else:
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

    def _holds_in_scope(self, measured: ClosedForm, obligation: Obligation) -> bool:
        """Return True if `obligation` is proved by looking only at the eps with beta < 1.

        `measured` is the closed form of its bound. False means that this proof failed or was not tried: it is tried
        only if `measured` has many terms, the bound is a probability, and decisions need no proofs.
        """
        bound = obligation.bound
        nonnegative = bound.has_probabilities and bound.constant >= 0
        is_long = any(len(poly) >= _SOME_TERMS for poly in fraction_of(measured.value))
        if self.keep_proofs or not nonnegative or not is_long:
            return False
        try:
            return holds_in_scope(measured, obligation.beta, obligation.intervals, self.limits)
        except Undecided:
            return False

    @property
    def executor(self) -> Executor:
        """The executor that performs this engine's tasks.

        Other code may submit tasks of its own to the executor while no question is pending.
        """
        return InTurn()

    @property
    def chunk_cache(self) -> Cache | None:
        """The cache file in which answers about parts of large tables are kept, or None."""
        return None

    @property
    def spent(self) -> Effort:
        """The work that this engine has done so far, as counts and seconds."""
        measurers = [self.bounds] if self._brief is None else [self._brief, self.bounds]
        measured, seconds = sum(one.measured for one in measurers), sum(one.seconds for one in measurers)
        return Effort(
            measure_seconds=seconds,
            sign_seconds=self._sign_seconds,
            measures=measured,
            obligations=self._obligations,
        )


#: The number of terms and the degree in e^{eps/n} from which the sign of a closed form takes longer than Taylor
#: polynomials.
_MANY_TERMS, _HIGH_DEGREE = 400, 100_000


#: The number of terms from which the sign of a closed form is first decided where beta < 1.
_SOME_TERMS = 12


# --- The loop over cases: results come in order, while later cases may already be in progress -------------------------


class Underway(Generic[R]):
    """A case in progress: a generator that yields questions, receives their decisions, and returns the case's `result`.

    `done` is True once the generator has returned or raised an exception. Several rows may share one object.
    """

    __slots__ = ("_asked", "_error", "_settling", "done", "result")

    def __init__(self, settling: Asking[R]) -> None:
        self._settling = settling
        self._asked: Pending | None = None
        self._error: Exception | None = None
        self.done = False
        self.result: R

    def advance(self, engine: Engine) -> None:
        """Run the case until it is done, or until it needs a decision that `engine` does not have yet.

        When that decision is made, the case continues without another call.
        """
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
            except Exception as error:  # it is raised when it is the turn of this case
                self._error = error
                self.done = True
            else:
                self._asked = engine.ask(question)
                if self._asked.decision is None:
                    self._asked.waiting.append(lambda: self.advance(engine))
                    return

    def take(self) -> R:
        """Return the result of the case, or raise the exception that ended it."""
        if self._error is not None:
            raise self._error
        return self.result


def results_in_order(underway: Iterable[Underway[R]], engine: Engine) -> Iterator[R]:
    """Yield the results of the cases in `underway`, in their order. `engine` decides their questions.

    Later cases may start before earlier ones are done. A case may occur several times.
    """
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


# --- The fingerprint of the code whose answers are kept or sent -------------------------------------------------------

#: The rooms that decisions depend on. Rooms that ask are not among them: equal obligations have equal answers.
_ROOMS = ("noise", "algebra", "linear", "sign", "measure", "decide")


@lru_cache(maxsize=2)
def fingerprint(*, all_rooms: bool = False) -> str:
    """Return a text that identifies the code which decides, such as `0.1.0-3f2a…`: the version, and a hash.

    The hash is of FLINT's version and of the sources of the rooms that decisions depend on. Engines with the same
    fingerprint give the same answers. With `all_rooms` the hash is of all rooms: processes with the same fingerprint
    then also ask the same obligations.
    """
    import flint

    package = Path(__file__).resolve().parents[1]
    rooms = ("",) if all_rooms else _ROOMS
    files = [path for room in rooms for path in sorted((package / room).rglob("*.py"))]
    digest = hashlib.sha256(f"python-flint {flint.__version__}, FLINT {flint.__FLINT_VERSION__}\n".encode())
    for path in files:
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{VERSION}-{digest.hexdigest()[:16]}"


# --- Tasks of workers and their answers: plain values, so that any process on any machine can do them -----------------


#: A function that answers the pickled questions of a task. It may keep an engine for later tasks.
Performer: TypeAlias = "Callable[[bytes], Done]"


def pickled_performer(engine: Engine, *, forms: bool = True) -> bytes:
    """Return a pickled function without arguments that makes a `Performer`: it answers questions as `engine` would.

    If `forms` is False, an ACCURATE decision comes back without the closed form of its bound.
    """
    limits = engine.bounds.measurer.limits
    return pickle.dumps(partial(_performer_with, limits, engine.limits, engine.digits, engine.keep_proofs, forms))


def _performer_with(measure: Limits, sign: Limits, digits: int | None, keep_proofs: bool, forms: bool) -> Performer:
    engine = Engine(Measurer(measure), sign, digits=digits, keep_proofs=keep_proofs)
    engine.forms = forms
    return partial(_answers, engine)


@frozen
class Task:
    """Pickled questions for another process, which must run the code with the fingerprint `engine` to unpickle them.

    `setup` is a pickled function without arguments that makes a `Performer`, and `questions` is a pickled tuple.
    """

    engine: str
    setup: bytes
    questions: bytes

    @staticmethod
    def create(setup: bytes, questions: Sequence[Question]) -> Task:
        """Return a task with `questions`, for processes that run the same code as this one.

        `setup` is a pickled function that makes a `Performer`.
        """
        return Task(fingerprint(), setup, pickle.dumps(tuple(questions)))


@frozen
class Done:
    """The answer to a task.

    - `engine` is the fingerprint of the code that answered.
    - `decisions` has one decision for each question, in order. None means that deciding ended in an exception. The
      process that sent the task then decides the question itself, so that the exception is raised there.
    - `spent` is the work done, and `seconds` the time for the whole task.
    - `text` is the answer to a task about a part of a table, which has no decisions.
    """

    engine: str
    decisions: tuple[Decision | None, ...] = ()
    spent: Effort = field(default_factory=Effort)
    seconds: float = 0.0
    text: str = ""


def perform(task: Task) -> Done:
    """Answer all questions of `task`.

    If the task has the fingerprint of another version of the code, nothing is answered: the result has only the
    fingerprint of this code.
    """
    if task.engine != fingerprint() and task.engine != fingerprint(all_rooms=True):
        return Done(fingerprint())
    with _TURN:
        begun = perf_counter()
        done = _performer(task.setup)(task.questions)
        return replace(done, engine=task.engine, seconds=perf_counter() - begun)


#: Engines are not thread-safe, and FLINT's precision is one for the whole process.
_TURN = Lock()


@lru_cache(maxsize=4)
def _performer(setup: bytes) -> Performer:
    # The bytes come from the process that started this one, or from the user's own Dask cluster.
    make: Callable[[], Performer] = pickle.loads(setup)  # noqa: S301 - as said
    return make()


def _answers(engine: Engine, questions: bytes) -> Done:
    before = engine.spent
    asked: tuple[Question, ...] = pickle.loads(questions)  # noqa: S301 - from where the setup comes
    decisions = tuple([_decision(engine, question) for question in asked])
    return Done("", decisions, engine.spent - before)


def _decision(engine: Engine, question: Question) -> Decision | None:
    try:
        decision = engine.decide(question)
        if isinstance(question, Obligation) and decision.bound is not None:
            if engine.forms:
                str(decision.bound)  # the text is sent with the form, since writing it may take long
            elif decision.verdict is Verdict.ACCURATE:
                return replace(decision, bound=None)
        return decision
    except MemoryError:
        raise
    except Exception:  # the sender asks again, and sees it
        return None


# --- The protocol of all executors ------------------------------------------------------------------------------------


@frozen
class Finished:
    """The end of the task with the number `ticket`: `done` is its answer, or None if the worker died first.

    `lost` is the reason why there is no answer. It is "" if there is an answer, or if the reason is not known.
    """

    ticket: int
    done: Done | None
    lost: str = ""


class Executor(Protocol):
    """A performer of tasks, in any order. Each submitted task comes back exactly once, unless `close` is called first.

    `slots` is the number of tasks that can be performed at one time. If a worker dies, the questions of its task are
    asked again, each as a task of its own. A question is given up after `attempts` tasks with this question alone were
    lost.
    """

    attempts: int

    @property
    def slots(self) -> int: ...

    def submit(self, ticket: int, task: Task) -> None:
        """Start `task` as soon as possible. `ticket` is a number by which its end is recognized."""

    def wait(self) -> list[Finished]:
        """Wait until at least one submitted task has come back, and return those that have.

        At least one task must be outstanding. Raises DiagnosticError if none can ever come back.
        """

    def close(self) -> None:
        """Stop all work immediately, and leave no process running."""


# --- Tasks done one after the other, in this process ------------------------------------------------------------------


class InTurn:
    """An executor that performs each task in this process, when `wait` is called."""

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
