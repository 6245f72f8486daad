"""Questions with their answers, as a cache keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from dipc.exits.probability import Needs
from dipc.scale.cache import Cache, question_key
from dipc.scale.tasks import Answer, Kind
from dipc.sources.run import Run


class Memory:
    """The answers to one run's questions in a cache file.

    The context of a probability is the program's text with its constants and the limits, that of a verdict the
    intervals, the limits of signs and the digits asked for; the file belongs to one engine.
    """

    def __init__(self, cache: Cache, run: Run) -> None:
        core, limits = run.program.core, run.program.limits
        constants = sorted((name, str(value)) for name, value in core.constants.items())
        self._cache = cache
        self._contexts = {
            Kind.PROBABILITY: _digest(
                "probability", core.source.text, constants, repr((limits.explore, limits.measure, limits.sign))
            ),
            Kind.SIGN: _digest("sign", [str(i) for i in run.claim.intervals], repr(limits.sign), run.digits),
        }

    def recall(self, kind: Kind, questions: Sequence[str]) -> list[Answer | None]:
        """The answers known, None for the others."""
        keys = [question_key(self._contexts[kind], question) for question in questions]
        found = self._cache.get(keys)
        return [_read(found[key]) if key in found else None for key in keys]

    def keep(self, kind: Kind, answers: Mapping[str, Answer]) -> None:
        """Remember the answers to these questions."""
        context = self._contexts[kind]
        self._cache.put(
            {
                question_key(context, question): _text(answer)
                for question, answer in answers.items()
                if not answer.raised
            }
        )


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _text(answer: Answer) -> str:
    needs = None if answer.needs is None else [answer.needs.inputs, answer.needs.balls]
    return json.dumps([answer.text, answer.reason, needs], separators=(",", ":"))


def _read(text: str) -> Answer:
    found, reason, needs = json.loads(text)
    return Answer(found, reason, None if needs is None else Needs(tuple(needs[0]), tuple(needs[1])))
