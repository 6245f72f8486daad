"""Questions with their answers, as a cache file keeps them."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.diagnostics.diagnostic import DipcWarning
from dipc.measure.bound import Bound
from dipc.obligations.cache import Cache, question_key
from dipc.obligations.decision import Decision
from dipc.obligations.encoding import (
    Unreadable,
    beta_text,
    bound_text,
    closed_text,
    decision_text,
    form_text,
    read_decision,
    read_form,
)
from dipc.obligations.engine import Question
from dipc.obligations.obligation import Obligation

_T = TypeVar("_T")


class Memory:
    """Bounds and their closed forms, within limits of measuring; and decisions on obligations whose bound is a known
    closed form, within limits of signs and to so many digits. What it reads and cannot make out, it does not know."""

    def __init__(self, cache: Cache, measure: Limits, sign: Limits, digits: int | None) -> None:
        self._cache = cache
        self._malformed = 0
        self._measure = _digest("measure", repr(measure))
        self._sign = _digest("sign", repr(sign), digits)

    def bound(self, bound: Bound) -> Closed | str | None:
        """The bound in closed form, the reason why it has none, or None where nothing is known."""
        return self._read(self._bound_key(bound), read_form)

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
            bound = question if isinstance(question, Bound) else question.bound
            form = decision.bound
            if form is None:
                kept[self._bound_key(bound)] = form_text(None, decision.reason)
                continue
            kept[self._bound_key(bound)] = form_text(form.value, None)
            if isinstance(question, Obligation):
                kept[self._obligation_key(form, question)] = decision_text(decision)
        self._cache.put(kept)

    def _bound_key(self, bound: Bound) -> bytes:
        return question_key(self._measure, bound_text(bound))

    def _obligation_key(self, form: ClosedForm, obligation: Obligation) -> bytes:
        intervals = ",".join(map(str, obligation.intervals))
        return question_key(self._sign, f"{closed_text(form.value)};{beta_text(obligation.beta)};{intervals}")


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
