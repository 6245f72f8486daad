"""Questions with their answers, as a cache keeps them: exact results as text."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd
from operator import itemgetter
from typing import TypeVar

import flint

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed, Quotient
from dipc.decide.cache import Cache, question_key
from dipc.decide.engine import Question
from dipc.decide.obligation import Counterexample, Decision, EndPoint, FailureInterval, Obligation, Verdict, Worst
from dipc.measure.bound import Bound, Share
from dipc.measure.event import Event
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import DipcWarning

# --- Exact results as text, for the cache: a file that comes from elsewhere may hold anything, so nothing is unpickled
#
# Rationals are written in hexadecimal: Python reads and writes decimal integers of at most 4300 digits. What is read is
# written again and compared: only a text that these functions could have written is an answer.

#: What JSON gives back.
Json = None | bool | int | str | list["Json"]


class Unreadable(ValueError):
    """A text that these functions did not write."""


# --- numbers and closed forms ----------------------------------------------------------------------


def rational_text(value: Fraction) -> str:
    """`-1f/3` for -31/3."""
    return f"{value.numerator:x}" if value.denominator == 1 else f"{value.numerator:x}/{value.denominator:x}"


def read_rational(text: str) -> Fraction:
    """The rational that `rational_text` wrote; raises Unreadable."""
    numerator, _, denominator = text.partition("/")
    try:
        return Fraction(int(numerator, 16), int(denominator, 16) if denominator else 1)
    except (ValueError, ZeroDivisionError):
        raise Unreadable(text) from None


def closed_text(value: Closed) -> str:
    """The one text of this function: equal functions have equal texts."""
    if isinstance(value, Quotient):
        return f"{_terms_text(value.numerator)}|{_terms_text(value.denominator)}"
    return _terms_text(value)


def read_closed(text: str) -> Closed:
    """The function that `closed_text` wrote, with a denominator taken for positive as it was; raises Unreadable."""
    numerator, bar, denominator = text.partition("|")
    if not bar:
        return _read_terms(numerator)
    below = _read_terms(denominator)
    if below.is_zero():
        raise Unreadable(text)
    return Quotient(_read_terms(numerator), below)


def _terms_text(value: ExpPoly) -> str:
    """The least unit n, and the terms k, j, c of Σ c·eps^k·e^{(j/n)·eps} by k and j."""
    unit, terms = value.integer_terms()
    common = gcd(unit, *(j for _, j, _ in terms))
    parts = [f"{unit // common:x}"]
    parts += [
        f"{k:x},{j // common:x},{int(c.p):x}" + (f"/{int(c.q):x}" if c.q != 1 else "")
        for k, j, c in sorted(terms, key=itemgetter(0, 1))
    ]
    return " ".join(parts)


def form_text(form: Closed | None, reason: str | None) -> str:
    """The closed form of a bound, or the reason why it has none."""
    return json.dumps([None if form is None else closed_text(form), reason])


def read_form(text: str) -> Closed | str:
    """What `form_text` wrote; raises Unreadable."""
    try:
        form, reason = json.loads(text)
        found = read_closed(form) if reason is None else reason
        same = form_text(None, found) if isinstance(found, str) else form_text(found, None)
    except _MALFORMED as error:
        raise Unreadable(text) from error
    if same != text:
        raise Unreadable(text)
    return found


#: What reading a text that is not one of these may come to.
_MALFORMED = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError)


def _read_terms(text: str) -> ExpPoly:
    first, *parts = text.split() or [""]
    collected: dict[tuple[int, int], flint.fmpq] = {}
    try:
        unit = int(first, 16)
        for part in parts:
            k, j, c = part.split(",")
            above, _, below = c.partition("/")
            collected[int(k, 16), int(j, 16)] = flint.fmpq(int(above, 16), int(below, 16) if below else 1)
        if unit < 1 or any(k < 0 for k, _ in collected):
            raise Unreadable(text)
        return ExpPoly.from_integer_exponents(collected, unit)
    except (ValueError, ArithmeticError):
        raise Unreadable(text) from None


# --- questions: only written -----------------------------------------------------------------------


def bound_text(bound: Bound) -> str:
    """A text that no other bound has."""
    return ";".join([rational_text(bound.constant), *map(_share_text, bound.shares)])


def _share_text(share: Share) -> str:
    return "&".join(["" if share.weight is None else closed_text(share.weight), *map(_event_text, share.events)])


def _event_text(event: Event) -> str:
    noises = [f"{noise.law.keyword}:{noise.rate}:{noise.mean}" for noise in event.noises]
    constraints = [
        " ".join([f"{at}*{c}" for at, c in item.coefficients]) + f"{'>' if item.strict else '>='}{item.constant}"
        for item in event.constraints
    ]
    return f"[{','.join(noises)}|{','.join(constraints)}]"


def beta_text(beta: BetaForm) -> str:
    """A text that no other beta has."""
    return f"~{beta}" if beta.closed is None else closed_text(beta.closed.value)


# --- decisions -------------------------------------------------------------------------------------


def decision_text(decision: Decision) -> str:
    """The verdict with its counterexample, failing intervals and reason, without the bound."""
    found = decision.counterexample
    return json.dumps(
        [
            str(decision.verdict),
            None if found is None else [rational_text(found.eps), *_pair(found.probability), *_pair(found.required)],
            [[_end(part.start), _end(part.end), _worst(part.worst)] for part in decision.failing],
            decision.reason,
        ],
        separators=(",", ":"),
    )


def read_decision(text: str, bound: ClosedForm | None) -> Decision:
    """What `decision_text` wrote of an obligation with this bound; raises Unreadable."""
    try:
        verdict, found, failing, reason = json.loads(text)
        decision = Decision(
            Verdict(verdict),
            bound,
            None if found is None else _read_counterexample(*found),
            tuple(
                FailureInterval(_read_end(*start), _read_end(*end), _read_worst(worst)) for start, end, worst in failing
            ),
            reason,
        )
        refuted, open_ = decision.verdict is Verdict.INACCURATE, decision.verdict is Verdict.UNDECIDED
        possible = (
            (decision.counterexample is not None) == refuted
            and isinstance(reason, str) == open_
            and (open_ or reason is None)
            and (refuted or not failing)
            and all(map(_is_interval, decision.failing))
            and decision_text(decision) == text
        )
    except _MALFORMED as error:
        raise Unreadable(text) from error
    if not possible:
        raise Unreadable(text)
    return decision


def _is_interval(part: FailureInterval) -> bool:
    start, end, worst = part.start, part.end, part.worst
    if start.high is None or not 0 <= start.low <= start.high:
        return False
    if end.high is not None and not start.low <= end.low <= end.high:
        return False
    ends = () if worst is None else (worst.eps, worst.shortfall)
    return all(pair is None or pair[0] <= pair[1] for pair in ends)


def _pair(ends: tuple[Fraction, Fraction]) -> list[str]:
    return [rational_text(end) for end in ends]


def _end(point: EndPoint) -> Json:
    return [rational_text(point.low), None if point.high is None else rational_text(point.high), point.included]


def _worst(worst: Worst | None) -> Json:
    if worst is None:
        return None
    pairs: list[Json] = [None if ends is None else [*_pair(ends)] for ends in (worst.eps, worst.shortfall)]
    return [*pairs, worst.attained]


def _read_counterexample(eps: str, low: str, high: str, least: str, most: str) -> Counterexample:
    at = read_rational(eps)
    probability, required = (read_rational(low), read_rational(high)), (read_rational(least), read_rational(most))
    if not (at > 0 and probability[0] <= probability[1] < required[0] <= required[1]):
        raise Unreadable("a counterexample that shows nothing")
    return Counterexample(at, probability, required)


def _read_end(low: str, high: str | None, included: bool) -> EndPoint:
    return EndPoint(read_rational(low), None if high is None else read_rational(high), bool(included))


def _read_worst(worst: list[list[str] | None] | None) -> Worst | None:
    if worst is None:
        return None
    eps, shortfall, attained = worst
    return Worst(_read_pair(eps), _read_pair(shortfall), bool(attained))


def _read_pair(ends: list[str] | None) -> tuple[Fraction, Fraction] | None:
    if ends is None:
        return None
    low, high = ends
    return read_rational(low), read_rational(high)


# --- Questions with their answers, as a cache file keeps them ---------------------------------------------------------
#

_T = TypeVar("_T")


class Memory:
    """Bounds and their closed forms, within limits of measuring; and decisions on obligations whose bound is a known
    closed form, within limits of signs and to so many digits. What it reads and cannot make out, it does not know."""

    def __init__(self, cache: Cache, measure: Limits, sign: Limits, digits: int | None) -> None:
        self._cache = cache
        self._malformed = 0
        self._measure = _digest("measure", repr(measure))
        self._measure_long = _digest("measure at length", repr(measure))
        self._sign = _digest("sign", repr(sign), digits)
        self._unexpanded = _digest("unexpanded", repr(measure), repr(sign), digits)

    def bound(self, bound: Bound, *, long: bool) -> Closed | str | None:
        """The bound in closed form, the reason why it has none, or None where nothing is known. What takes more than a
        moment to be measured is looked up with `long` alone."""
        found = self._read(self._bound_key(bound, long=False), read_form)
        return self._read(self._bound_key(bound, long=True), read_form) if found is None and long else found

    def unexpanded(self, obligation: Obligation) -> Decision | None:
        """What was decided of this obligation, whose bound has no closed form that was reached."""
        return self._read(self._unexpanded_key(obligation), lambda text: read_decision(text, None))

    def decision(self, form: ClosedForm, obligation: Obligation) -> Decision | None:
        """What was decided of this obligation, whose bound is `form`."""
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

    def close(self) -> None:
        """Say what could not be made out."""
        if self._malformed:
            answers = "1 answer" if self._malformed == 1 else f"{self._malformed} answers"
            name = self._cache.name
            message = f"{answers} in the cache `{name}` could not be made out; what was asked was decided anew"
            warnings.warn(DipcWarning(message), stacklevel=1)

    def keep(self, answers: Sequence[tuple[Question, Decision]]) -> None:
        """Remember the answers to these questions."""
        kept: dict[bytes, str] = {}
        for question, decision in answers:
            form = decision.bound
            if isinstance(question, Bound) or form is not None:
                bound = question if isinstance(question, Bound) else question.bound
                text = form_text(None, decision.reason) if form is None else form_text(form.value, None)
                kept[self._bound_key(bound, long=form is None or decision.long)] = text
            if isinstance(question, Obligation):
                key = self._unexpanded_key(question) if form is None else self._obligation_key(form, question)
                kept[key] = decision_text(decision)
        self._cache.put(kept)

    def _bound_key(self, bound: Bound, *, long: bool) -> bytes:
        return question_key(self._measure_long if long else self._measure, bound_text(bound))

    def _unexpanded_key(self, obligation: Obligation) -> bytes:
        return question_key(self._unexpanded, f"{bound_text(obligation.bound)};{_said(obligation)}")

    def _obligation_key(self, form: ClosedForm, obligation: Obligation) -> bytes:
        return question_key(self._sign, f"{closed_text(form.value)};{_said(obligation)}")


def _said(obligation: Obligation) -> str:
    """What is said of the bound."""
    return f"{beta_text(obligation.beta)};{','.join(map(str, obligation.intervals))}"


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
