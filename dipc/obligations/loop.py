"""The one loop that decides: it settles cases in order, looking ahead as far as the engine likes."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

from dipc.measure.bound import Bound
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine, Pending
from dipc.obligations.obligation import Obligation

R = TypeVar("R")


class Underway(Generic[R]):
    """A case being settled: its generator, and what it comes to in the end. Many rows may wait for the same one."""

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
