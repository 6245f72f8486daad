"""Decide obligations by an executor, each different one once, together with obligations that have the same bound.

The module also writes exact results as text, and reads them, for a cache of earlier decisions.
"""

from __future__ import annotations

import hashlib
import json
import types
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from math import gcd
from operator import itemgetter
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient
from dipc.algebra.limits import Effort, Limits
from dipc.decide.cache import Cache, question_key
from dipc.decide.engine import (
    Done,
    Engine,
    Executor,
    Finished,
    Pending,
    Question,
    Task,
    fingerprint,
    pickled_performer,
)
from dipc.decide.obligation import (
    MEASURED,
    Counterexample,
    Decision,
    EndPoint,
    EpsSpan,
    Obligation,
    Verdict,
    Worst,
)
from dipc.decide.scope import ClaimScope
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Happening, RunGraph
from dipc.measure.measure import Bound, Measurer, Share
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import Diagnostic, DiagnosticError, DipcWarning

# --- Exact results as text, for the cache: a foreign file may contain anything, so nothing is unpickled ---------------
#
# Rationals are written in hexadecimal, since Python limits decimal integers to 4300 digits. Each value read is written
# again and compared: only a text that these functions could have written is accepted.

#: The values of JSON.
Json = None | bool | int | str | list["Json"]


class Unreadable(ValueError):
    """Raised for a text that cannot have been written by a function of this file."""


# --- numbers and closed forms ----------------------------------------------------------------------


def rational_text(value: Fraction) -> str:
    """Return `value` as text in hexadecimal, such as `-1f/3` for -31/3."""
    return f"{value.numerator:x}" if value.denominator == 1 else f"{value.numerator:x}/{value.denominator:x}"


def read_rational(text: str) -> Fraction:
    """Return the rational that `rational_text` writes as `text`. Raises Unreadable for other data."""
    numerator, _, denominator = text.partition("/")
    try:
        return Fraction(int(numerator, 16), int(denominator, 16) if denominator else 1)
    except (ValueError, ZeroDivisionError):
        raise Unreadable(text) from None


def closed_text(value: Closed) -> str:
    """Return the closed form `value` as a string; equal functions have equal strings."""
    if isinstance(value, Quotient):
        return f"{_terms_text(value.numerator)}|{_terms_text(value.denominator)}"
    return _terms_text(value)


def read_closed(text: str) -> Closed:
    """Return the closed form that `closed_text` writes as `text`. Raises Unreadable for other data.

    A denominator is assumed to be positive, as it was when it was written.
    """
    numerator, bar, denominator = text.partition("|")
    if not bar:
        return _read_terms(numerator)
    below = _read_terms(denominator)
    if below.is_zero():
        raise Unreadable(text)
    return Quotient(_read_terms(numerator), below)


def _terms_text(value: ExpPoly) -> str:
    """Return `value` = Σ c·eps^k·e^{(j/n)·eps} as text, with integers k, j and the least possible n.

    The text has n, and then k, j and c of each term, in the order of k and j.
    """
    unit, terms = value.integer_terms()
    common = gcd(unit, *(j for _, j, _ in terms))
    words = [f"{unit // common:x}"]
    words += [
        f"{k:x},{j // common:x},{int(c.p):x}" + (f"/{int(c.q):x}" if c.q != 1 else "")
        for k, j, c in sorted(terms, key=itemgetter(0, 1))
    ]
    return " ".join(words)


def form_text(form: Closed | None, reason: str | None) -> str:
    """Return a text for the closed form `form` of a bound, or for the `reason` why the bound has none.

    Exactly one of `form` and `reason` is None.
    """
    return json.dumps([None if form is None else closed_text(form), reason])


def read_form(text: str) -> Closed | str:
    """Return what `form_text` wrote as `text`: a closed form, or the reason why there is none.

    Raises Unreadable for other data.
    """
    try:
        form, reason = json.loads(text)
        result = read_closed(form) if reason is None else reason
        same = form_text(None, result) if isinstance(result, str) else form_text(result, None)
    except _MALFORMED as error:
        raise Unreadable(text) from error
    if same != text:
        raise Unreadable(text)
    return result


#: Exceptions from reading a malformed text.
_MALFORMED = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError)


def _read_terms(text: str) -> ExpPoly:
    first, *words = text.split() or [""]
    collected: dict[tuple[int, int], flint.fmpq] = {}
    try:
        unit = int(first, 16)
        for word in words:
            k, j, c = word.split(",")
            above, _, below = c.partition("/")
            collected[int(k, 16), int(j, 16)] = flint.fmpq(int(above, 16), int(below, 16) if below else 1)
        if unit < 1 or any(k < 0 for k, _ in collected):
            raise Unreadable(text)
        return ExpPoly.from_integer_exponents(collected, unit)
    except (ValueError, ArithmeticError):
        raise Unreadable(text) from None


# --- questions: only written -----------------------------------------------------------------------


def bound_text(bound: Bound) -> str:
    """Return a string that identifies `bound`: different bounds have different strings."""
    shares = [
        "&".join(["" if share.weight is None else closed_text(share.weight), *map(_event_text, share.events)])
        for share in bound.shares
    ]
    return ";".join([rational_text(bound.constant), *shares])


def _event_text(event: Happening) -> str:
    noises = [f"{noise.law.identity}:{noise.rate}:{noise.mean}" for noise in event.noises]
    if isinstance(event, RunGraph):
        conditions = ",".join(map(_halfspace_text, event.conditions))
        steps = [f"{step.source}>{step.goal}:{' '.join(map(str, step.conditions))}" for step in event.steps]
        live = ["" if noise is None else str(noise) for noise in event.live]
        return f"[{','.join(noises)}|{conditions}|{','.join(steps)}|{','.join(live)}]"
    return f"[{','.join(noises)}|{','.join(map(_halfspace_text, event.constraints))}]"


def _halfspace_text(item: Halfspace) -> str:
    coefficients = " ".join([f"{position}*{c}" for position, c in item.coefficients])
    return f"{coefficients}{'>' if item.strict else '>='}{item.constant}"


def beta_text(beta: BetaForm) -> str:
    """Return a string that identifies `beta`: different betas have different strings."""
    return f"~{beta}" if beta.closed is None else closed_text(beta.closed.value)


# --- decisions -------------------------------------------------------------------------------------


def decision_text(decision: Decision) -> str:
    """Return `decision` as text: its verdict, counterexample, failing intervals and reason, without the bound."""
    fields = decision.verdict, decision.counterexample, decision.failing, decision.reason
    return json.dumps(_plain(fields), separators=(",", ":"))


def read_decision(text: str, bound: ClosedForm | None) -> Decision:
    """Return the decision that `decision_text` writes as `text`, with `bound` as its closed form.

    Raises Unreadable for other data.
    """
    try:
        verdict, example, failing, reason = _read(_SAID, json.loads(text))
        decision = Decision(verdict, bound, example, failing, reason)
        refuted, open_ = decision.verdict is Verdict.INACCURATE, decision.verdict is Verdict.UNDECIDED
        possible = (
            (decision.counterexample is not None) == refuted == _shows_it(decision.counterexample)
            and (decision.reason is not None) == open_
            and (refuted or not decision.failing)
            and all(map(_is_interval, decision.failing))
            and decision_text(decision) == text
        )
    except _MALFORMED as error:
        raise Unreadable(text) from error
    if not possible:
        raise Unreadable(text)
    return decision


def scope_json(scope: ClaimScope) -> Json:
    """Return the scope of a claim, `scope`, as a value of JSON."""
    return [_plain(scope.where), scope.reason]


def read_scope(data: Any) -> ClaimScope:
    """Return the scope that `scope_json` writes as `data`. Raises Unreadable for other data."""
    try:
        where, reason = _read(tuple[tuple[EpsSpan, ...], str | None], data)
    except _MALFORMED as error:
        raise Unreadable(str(data)) from error
    return ClaimScope(where, reason)


#: For each class that is part of a decision, the names and types of its fields; and the types of the stored fields.
_PARTS: Mapping[Any, Mapping[str, Any]] = {
    kind: {each.name: get_type_hints(kind)[each.name] for each in fields(kind) if each.init}
    for kind in (EndPoint, Worst, EpsSpan, Counterexample)
}
_SAID = tuple[Verdict, Counterexample | None, tuple[EpsSpan, ...], str | None]


def _plain(value: object) -> Json:
    """Return `value` as a value of JSON: rationals as strings, objects as lists of their fields."""
    match value:
        case Fraction():
            return rational_text(value)
        case tuple():
            return [_plain(each) for each in value]
        case EndPoint() | Worst() | EpsSpan() | Counterexample():
            return [_plain(getattr(value, name)) for name in _PARTS[type(value)]]
        case None | bool() | str():
            return value
    raise AssertionError(f"a decision does not contain {value!r}")


def _read(kind: Any, data: Any) -> Any:
    """Return the value of type `kind` that `_plain` writes as `data`.

    Raises Unreadable for a malformed rational, and other exceptions for most other malformed data.
    """
    match get_origin(kind), get_args(kind):
        case types.UnionType, (some, _):
            return None if data is None else _read(some, data)
        case builtin, (some, last) if builtin is tuple and last is ...:
            return tuple([_read(some, each) for each in data])
        case builtin, kinds if builtin is tuple:
            return tuple([_read(each, written) for each, written in zip(kinds, data, strict=True)])
    if kind in _PARTS:
        return kind(*[_read(each, written) for each, written in zip(_PARTS[kind].values(), data, strict=True)])
    return read_rational(data) if kind is Fraction else kind(data)


def _shows_it(counterexample: Counterexample | None) -> bool:
    if counterexample is None:
        return False
    (low, high), (least, most) = counterexample.probability, counterexample.required
    return counterexample.eps > 0 and low <= high < least <= most


def _is_interval(failing: EpsSpan) -> bool:
    start, end, worst = failing.start, failing.end, failing.worst
    if start.high is None or not 0 <= start.low <= start.high:
        return False
    if end.high is not None and not start.low <= end.low <= end.high:
        return False
    ends = () if worst is None else (worst.eps, worst.shortfall)
    return all(pair is None or pair[0] <= pair[1] for pair in ends)


# --- Questions with their answers in a cache file ---------------------------------------------------------------------

_T = TypeVar("_T")


class Memory:
    """The answers that a cache file has for an engine: closed forms of bounds, and decisions on obligations.

    Answers that were found with other limits, or to another number of digits, are not used. Answers that cannot be read
    are ignored and counted.
    """

    def __init__(self, cache: Cache, measure: Limits, sign: Limits, digits: int | None) -> None:
        self._cache = cache
        self._malformed = 0
        self._measure = _digest("measure", repr(measure))
        self._measure_long = _digest("measure at length", repr(measure))
        self._sign = _digest("sign", repr(sign), digits)
        self._unexpanded = _digest("unexpanded", repr(measure), repr(sign), digits)
        self._proved = _digest("proved", repr(measure), repr(sign))

    def bound(self, bound: Bound, *, long: bool) -> Closed | str | None:
        """Return the closed form of `bound`, or the reason why it has none; None if the cache has neither.

        A form that took more than a moment to compute is returned only if `long` is True.
        """
        result = self._read(self._bound_key(bound, long=False), read_form)
        return self._read(self._bound_key(bound, long=True), read_form) if result is None and long else result

    def unexpanded(self, obligation: Obligation) -> Decision | None:
        """Return the decision on `obligation` that was made without a closed form of its bound.

        The result is None if the cache has no such decision.
        """
        return self._read(self._whole_key(self._unexpanded, obligation), lambda text: read_decision(text, None))

    def proved(self, obligation: Obligation) -> Decision | None:
        """Return the decision on `obligation` if the cache has one and it is ACCURATE, else None.

        It comes without the closed form of the bound.
        """
        result = self._read(self._whole_key(self._proved, obligation), lambda text: read_decision(text, None))
        return result if result is not None and result.verdict is Verdict.ACCURATE else None

    def decision(self, form: ClosedForm, obligation: Obligation) -> Decision | None:
        """Return the decision on `obligation`, whose bound has the closed form `form`; None if the cache has none."""
        return self._read(self._obligation_key(form, obligation), lambda text: read_decision(text, form))

    def _read(self, key: bytes, read: Callable[[str], _T]) -> _T | None:
        text = self._cache.get([key]).get(key)
        if text is None:
            return None
        try:
            return read(text)
        except Unreadable:
            self._malformed += 1
            return None

    @property
    def cache(self) -> Cache:
        """The file with the answers."""
        return self._cache

    def close(self) -> None:
        """Warn if some answers of the cache could not be read."""
        if self._malformed:
            answers = "1 answer" if self._malformed == 1 else f"{self._malformed} answers"
            name = self._cache.name
            message = f"{answers} in the cache `{name}` could not be read; its questions were decided again"
            warnings.warn(DipcWarning(message), stacklevel=1)

    def keep(self, answers: Sequence[tuple[Question, Decision]]) -> None:
        """Store the answers in the cache; each of `answers` is a question with the decision on it."""
        kept: dict[bytes, str] = {}
        for question, decision in answers:
            form = decision.bound
            if isinstance(question, Bound) or form is not None:
                bound = question if isinstance(question, Bound) else question.bound
                text = form_text(None, decision.reason) if form is None else form_text(form.value, None)
                kept[self._bound_key(bound, long=form is None or decision.long)] = text
            if isinstance(question, Obligation):
                key = (
                    self._whole_key(self._unexpanded, question)
                    if form is None
                    else self._obligation_key(form, question)
                )
                kept[key] = decision_text(decision)
                if form is not None and decision.verdict is Verdict.ACCURATE:
                    kept[self._whole_key(self._proved, question)] = decision_text(decision)
        self._cache.put(kept)

    def _bound_key(self, bound: Bound, *, long: bool) -> bytes:
        return question_key(self._measure_long if long else self._measure, bound_text(bound))

    def _whole_key(self, context: str, obligation: Obligation) -> bytes:
        return question_key(context, f"{bound_text(obligation.bound)};{_claim_text(obligation)}")

    def _obligation_key(self, form: ClosedForm, obligation: Obligation) -> bytes:
        return question_key(self._sign, f"{closed_text(form.value)};{_claim_text(obligation)}")


def _claim_text(obligation: Obligation) -> str:
    return f"{beta_text(obligation.beta)};{','.join(map(str, obligation.intervals))}"


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


#: The most cases in progress at a time.
WINDOW = 20_000

#: The numbers of questions of the first tasks, and the most of any task. Then the least and the most seconds of work of
#: one task: a task costs its sender some milliseconds, however short it is.
_FIRST_BATCH, _BATCH = 4, 512
_LEAST_SECONDS, _SECONDS = 0.05, 1.0


class SharedEngine(Engine):
    """An engine that sends questions to an `executor`, many in one task, after looking for answers in a cache.

    The cache is that of `memory`; without a memory there is none. At most `window` cases are in progress at a time. The
    cache has no proofs: with `keep_proofs`, only closed forms of bounds are read from it, not decisions.
    """

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
        #: Questions that wait to be sent, by bound.
        self._waiting: dict[Bound, list[Pending]] = {}
        self._count = 0
        #: Questions that wait until their bound is measured.
        self._held: dict[Bound, list[Pending]] = {}
        self._forms: dict[Bound, ClosedForm] = {}
        #: Closed forms that took more than a moment.
        self._long_forms: dict[Bound, ClosedForm] = {}
        #: The first question about each function.
        self._functions_asked: dict[tuple[ClosedForm, BetaForm, tuple[Interval, ...]], Pending] = {}
        self._alone: deque[Pending] = deque()
        self._lost: dict[Pending, int] = {}
        self._out: dict[int, tuple[Pending, ...]] = {}
        self._tickets = 0
        self._least, self._batch = 1, _FIRST_BATCH
        self._elsewhere = Effort()

    @cached_property
    def _setup(self) -> bytes:
        # The cache keeps closed forms of ACCURATE answers, whether they are needed this time or not.
        return pickled_performer(self, forms=self.forms or self.keep_proofs or self._memory is not None)

    @property
    def executor(self) -> Executor:
        return self._executor

    @property
    def chunk_cache(self) -> Cache | None:
        return None if self._memory is None else self._memory.cache

    @property
    def spent(self) -> Effort:
        return super().spent + self._elsewhere

    def wait(self) -> None:
        """Wait until one more question is decided.

        Raises DiagnosticError if the executor or the cache cannot continue.
        """
        if self._send():
            return
        assert self._out, "an obligation that waits has a task"
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
        result = False
        while not result and len(self._out) < self._executor.slots:
            taken = self._next_batch()
            if not taken:
                break
            batch = [pending for pending in taken if not self._is_answered(pending)]
            result = any(pending.decision is not None for pending in taken)
            if batch:
                self._tickets += 1
                self._out[self._tickets] = tuple(batch)
                for pending in batch:
                    self._held.setdefault(_bound(pending.question), [])
                task = Task.create(self._setup, [self._shortened(pending.question) for pending in batch])
                self._executor.submit(self._tickets, task)
        return result

    def _next_batch(self) -> Sequence[Pending]:
        """Return the next questions, to be sent as one task.

        A task has many questions while many wait, and few towards the end, so that all workers finish at nearly the
        same time.
        """
        if self._alone:
            return [self._alone.popleft()]
        size = min(max(self._least, self._count // (4 * self._executor.slots)), self._batch)
        batch: list[Pending] = []
        while self._waiting and len(batch) < size:
            batch += self._waiting.pop(next(iter(self._waiting)))
        self._count -= len(batch)
        return batch

    def _shortened(self, question: Question) -> Question:
        """Return `question` with its bound replaced by the closed form of the bound, if that is known."""
        if isinstance(question, Bound):
            return question
        form = self._known_form(question)
        return question if form is None else replace(question, bound=Bound((Share(form.value, ()),)))

    def _is_answered(self, pending: Pending) -> bool:
        """Return True if the question of `pending` need not be sent to the executor.

        There are two cases. The cache may have an answer, which then settles `pending`. Or an earlier question may have
        the same closed form, beta and intervals; then its decision also settles `pending`, now or as soon as it is
        made.
        """
        question = pending.question
        if isinstance(question, Obligation) and self._memory is not None and not (self.forms or self.keep_proofs):
            proved = self._memory.proved(question)
            if proved is not None:
                pending.settle(proved)
                return True
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
        """Return the closed form of the bound in the question of `pending`, or None if it is not known.

        If the cache has an answer that does not need the closed form, `pending` is settled with this answer.
        """
        question = pending.question
        bound = _bound(question)
        form = self._known_form(question)
        if form is None and self._memory is not None:
            remembered = self._memory.bound(bound, long=self._wants_form(question))
            if isinstance(remembered, Closed):
                form = self._forms[bound] = self.bounds.intern(remembered)
            elif isinstance(question, Obligation):
                known = None if self.keep_proofs else self._memory.unexpanded(question)
                if known is not None:
                    pending.settle(known)
            elif remembered is not None:
                pending.settle(Decision.undecided(remembered))
        return form

    def _known_form(self, question: Question) -> ClosedForm | None:
        bound = _bound(question)
        form = self._forms.get(bound)
        return self._long_forms.get(bound) if form is None and self._wants_form(question) else form

    def _wants_form(self, question: Question) -> bool:
        """Return True if the closed form of the bound in `question` is used even if computing it took long.

        This is so if decisions keep their proofs, or if `question` is itself a bound to be measured. In other cases a
        form that took long is not used, because the decision would depend on earlier questions.
        """
        return self.keep_proofs or isinstance(question, Bound)

    # --- what comes back ---------------------------------------------------------------------------

    def _receive(self, finished: Finished) -> None:
        sent = self._out.pop(finished.ticket, None)
        if sent is None:
            return  # a task that is not about questions, for whose answer nobody waits
        if finished.done is None:
            self._retry(sent, finished.lost)
        else:
            self._done(sent, finished.done)

    def _done(self, sent: tuple[Pending, ...], done: Done) -> None:
        if done.engine != fingerprint():
            message = f"a worker runs dipc {done.engine}, and this is dipc {fingerprint()}"
            note = "install the same dipc, with the same python-flint, on all machines"
            raise DiagnosticError(Diagnostic("E1309", message, notes=(note,)))
        self._elsewhere = self._elsewhere + done.spent
        pace = max(done.seconds / len(sent), 1e-6)
        self._batch = max(1, min(_BATCH, 2 * self._batch, int(_SECONDS / pace)))
        self._least = max(1, min(self._batch, int(_LEAST_SECONDS / pace)))
        if self._memory is not None:
            pairs = zip(sent, done.decisions, strict=True)
            self._memory.keep([(item.question, decision) for item, decision in pairs if decision is not None])
        for pending, decision in zip(sent, done.decisions, strict=True):
            bound = _bound(pending.question)
            if decision is not None and decision.bound is not None:
                form = self.bounds.intern(decision.bound.value, decision.bound)
                (self._long_forms if decision.long else self._forms)[bound] = form
                decision = replace(decision, bound=form)
                decision = self._unique(decision, form, pending)
            self._release(bound)
            # A question that raised an exception is asked again here, where it can be seen.
            pending.settle(self._decision(pending.question) if decision is None else decision)

    def _release(self, bound: Bound) -> None:
        for held in self._held.pop(bound, ()):
            self._line_up(held)

    def _unique(self, decision: Decision, form: ClosedForm, pending: Pending) -> Decision:
        """Return the decision for `pending`: `decision`, or the one on an equal inequality that was decided before.

        Two inequalities are equal if their betas, intervals and closed forms are; that of `pending` is `form`. If the
        question of `pending` is a bound to be measured, the result is `decision`.
        """
        question = pending.question
        if isinstance(question, Bound):
            return decision
        first = self._functions_asked.setdefault((form, question.beta, question.intervals), pending)
        return decision if first.decision is None else first.decision

    def _retry(self, sent: tuple[Pending, ...], why: str) -> None:
        """Send each of the questions in `sent` again, as a task of its own, after their task was lost.

        `why` is the reason for the loss. A question whose own tasks are lost too often becomes undecided.
        """
        for pending in sent:
            if len(sent) == 1:
                self._lost[pending] = self._lost.get(pending, 0) + 1
            if self._lost.get(pending, 0) < self._executor.attempts:
                self._alone.append(pending)
            else:
                self._release(_bound(pending.question))
                times = self._lost[pending]
                often = "" if times == 1 else f" {times} times"
                reason = f"a process that worked on it was lost{often}" + (f": it {why}" if why else "")
                pending.settle(Decision.undecided(reason))


def _decision(pending: Pending) -> Decision:
    assert pending.decision is not None
    return pending.decision


def _bound(question: Question) -> Bound:
    return question if isinstance(question, Bound) else question.bound
