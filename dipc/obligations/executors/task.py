"""What a worker is asked, and what it answers: plain values, so that any process on any machine can do it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

from dipc.algebra.limits import Limits
from dipc.measure.measure import Measurer
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine, Question, Spent
from dipc.obligations.fingerprint import fingerprint


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a worker has to know of an engine."""

    measure: Limits
    sign: Limits
    digits: int | None
    keep_proofs: bool

    @staticmethod
    def of(engine: Engine) -> bytes:
        """The setup of this engine, pickled once for all tasks."""
        return pickle.dumps(Setup(engine.bounds.measurer.limits, engine.limits, engine.digits, engine.keep_proofs))


@dataclass(frozen=True, slots=True)
class Task:
    """Questions for the engine with this fingerprint. They are pickled, since another one may not know them."""

    engine: str
    setup: bytes
    questions: bytes

    @staticmethod
    def of(setup: bytes, questions: Sequence[Question]) -> Task:
        """These questions, for an engine like this one."""
        return Task(fingerprint(), setup, pickle.dumps(tuple(questions)))


@dataclass(frozen=True, slots=True)
class Done:
    """The decisions on a task's questions, in order, the engine that made them, and what they took.

    None says that the question ends in an exception, which whoever asked finds by asking it where it can be seen.
    """

    engine: str
    decisions: tuple[Decision | None, ...]
    spent: Spent = field(default_factory=Spent)


def perform(task: Task) -> Done:
    """The answers to all questions of the task; of another engine's task none, only the name of this one."""
    if task.engine != fingerprint():
        return Done(fingerprint(), ())
    with _TURN:
        engine = _engine(task.setup)
        before = engine.spent
        # The bytes come from the process that started this one, or from the user's own Dask cluster.
        questions: tuple[Question, ...] = pickle.loads(task.questions)  # noqa: S301 - as said
        decisions = tuple([_decision(engine, question) for question in questions])
        return Done(fingerprint(), decisions, engine.spent - before)


#: Engines are not made for several threads, and FLINT's precision is one for the whole process.
_TURN = Lock()


@lru_cache(maxsize=4)
def _engine(setup: bytes) -> Engine:
    """The engine for a setup, kept for the tasks to come."""
    made: Setup = pickle.loads(setup)  # noqa: S301 - as said
    return Engine(Measurer(made.measure), made.sign, digits=made.digits, keep_proofs=made.keep_proofs)


def _decision(engine: Engine, question: Question) -> Decision | None:
    try:
        return engine.decide(question)
    except MemoryError:
        raise
    except Exception:  # whoever asked asks again, and sees it
        return None
