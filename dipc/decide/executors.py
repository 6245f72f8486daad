"""Where obligations are decided: one protocol of all executors, so that all else is the same; tasks in turn."""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Protocol

from dipc.above import VERSION
from dipc.algebra.limits import Limits
from dipc.decide.engine import Engine, Question, Spent
from dipc.decide.obligation import Decision
from dipc.measure.measure import Measurer

# --- Which engine decided: a fingerprint of the code whose answers are kept or sent -----------------------------------
#

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
#


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


# --- The protocol of all executors ------------------------------------------------------------------------------------
#


@dataclass(frozen=True, slots=True)
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
#


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
