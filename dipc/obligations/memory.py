"""Questions with their answers, as a cache file keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.measure.bound import Bound
from dipc.obligations.cache import Cache, question_key
from dipc.obligations.decision import Decision
from dipc.obligations.encoding import (
    Unreadable,
    beta_text,
    bound_text,
    closed_text,
    decision_text,
    read_closed,
    read_decision,
)
from dipc.obligations.engine import Question
from dipc.obligations.obligation import Obligation


class Memory:
    """Bounds and their closed forms, within limits of measuring; and decisions on obligations whose bound is a known
    closed form, within limits of signs and to so many digits. What it reads and cannot make out, it does not know."""

    def __init__(self, cache: Cache, measure: Limits, sign: Limits, digits: int | None) -> None:
        self._cache = cache
        self._measure = _digest("measure", repr(measure))
        self._sign = _digest("sign", repr(sign), digits)

    def bound(self, bound: Bound) -> Closed | str | None:
        """The bound in closed form, the reason why it has none, or None where nothing is known."""
        key = self._bound_key(bound)
        text = self._cache.get([key]).get(key)
        try:
            if text is None:
                return None
            found, reason = json.loads(text)
            return read_closed(found) if reason is None else str(reason)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None

    def decision(self, form: ClosedForm, obligation: Obligation) -> Decision | None:
        """What was decided of this obligation, whose bound is `form`."""
        key = self._obligation_key(form, obligation)
        text = self._cache.get([key]).get(key)
        try:
            return None if text is None else read_decision(text, form)
        except Unreadable:
            return None

    def keep(self, answers: Sequence[tuple[Question, Decision]]) -> None:
        """Remember the answers to these questions."""
        kept: dict[bytes, str] = {}
        for question, decision in answers:
            bound = question if isinstance(question, Bound) else question.bound
            form = decision.bound
            if form is None:
                kept[self._bound_key(bound)] = json.dumps([None, decision.reason])
                continue
            kept[self._bound_key(bound)] = json.dumps([closed_text(form.value), None])
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
