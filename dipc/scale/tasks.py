"""What a worker is asked, and what it answers: plain data, so that any process on any machine can do it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from threading import Lock
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.exits.probability import Limits, Needs
from dipc.exits.program import Program
from dipc.lang.core import CoreProgram
from dipc.obligations.decide import Decider
from dipc.scale.betas import beta_text, read_beta
from dipc.scale.codec import cell_text, closed_text, read_cell, read_closed, settled_text
from dipc.scale.engine import fingerprint
from dipc.sign import Interval
from dipc.sign.piecewise import BetaForm
from dipc.sources.run import Run
from dipc.tables.cells import Cell, CellPool


class Kind(Enum):
    """What is asked: the probability of a row, or the verdict on an obligation."""

    PROBABILITY = "probability"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a worker has to know of a run."""

    core: CoreProgram
    limits: Limits
    intervals: tuple[Interval, ...]
    digits: int | None

    @staticmethod
    def of(run: Run) -> bytes:
        """The setup of this run, pickled once for all tasks."""
        program = run.program
        return pickle.dumps(Setup(program.core, program.limits, run.claim.intervals, run.digits))


@dataclass(frozen=True, slots=True)
class Task:
    """Questions of one kind, texts of `probability_text` or `sign_text`, for the engine with this fingerprint."""

    engine: str
    setup: bytes
    kind: Kind
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a `closed_text` or `settled_text`, or the reason why there is none.

    `needs` is what the probability depends on, None where that was not found out. `raised` says that the question ends
    in an exception, which whoever asked finds by asking it again where it can be seen.
    """

    text: str | None = None
    reason: str | None = None
    needs: Needs | None = None
    raised: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The answers to a task, in order, the engine that gave them, and what they took."""

    engine: str
    answers: tuple[Answer, ...]
    explorations: int = 0
    measures: int = 0
    chain_seconds: float = 0.0
    measure_seconds: float = 0.0
    sign_seconds: float = 0.0


def probability_text(inputs: Sequence[Cell], outputs: Sequence[Cell | None], gamma: Cell) -> str:
    """The question for Pr[outputs within gamma] at these inputs."""
    texts = [[cell_text(cell) for cell in inputs], [cell_text(cell) for cell in outputs], cell_text(gamma)]
    return json.dumps(texts, separators=(",", ":"))


def sign_text(probability: str, beta: BetaForm) -> str:
    """The question whether Pr >= 1 - beta on the run's intervals, for the probability with this `closed_text`."""
    return f"{probability};{beta_text(beta)}"


def perform(task: Task) -> Done:
    """The answers to all questions of the task; of another engine's task none, only the name of this one."""
    if task.engine != fingerprint():
        return Done(fingerprint(), ())
    with _TURN:
        return _engine(task.setup).perform(task)


#: Closed forms that a worker has at hand: they may be long.
_FOUND = 1000

#: Engines are not made for several threads, and FLINT's precision is one for the whole process.
_TURN = Lock()


@lru_cache(maxsize=4)
def _engine(setup: bytes) -> _Engine:
    """The engine of a run, kept for the tasks to come."""
    # The bytes come from the process that started this one, or from the user's own Dask cluster.
    made: Setup = pickle.loads(setup)  # noqa: S301 - as said
    return _Engine(made)


class _Engine:
    """Finds probabilities and decides obligations of one run; equal ones once."""

    def __init__(self, setup: Setup) -> None:
        self._probabilities = Program(setup.core, setup.limits).probabilities()
        self._decider = Decider(setup.intervals, setup.limits.sign, digits=setup.digits)
        self._pool = CellPool()
        #: Probabilities found here whose verdicts are likely to be asked for next, by their texts.
        self._found: dict[str, ClosedForm] = {}

    def perform(self, task: Task) -> Done:
        work = self._probabilities.work
        before = (work.explorations, work.measures, work.chain_seconds, work.measure_seconds)
        begun = perf_counter()
        signs = task.kind is Kind.SIGN
        answers = tuple(map(self._sign if signs else self._probability, task.questions))
        return Done(
            fingerprint(),
            answers,
            work.explorations - before[0],
            work.measures - before[1],
            work.chain_seconds - before[2],
            work.measure_seconds - before[3],
            perf_counter() - begun if signs else 0.0,
        )

    def _probability(self, question: str) -> Answer:
        given, wanted, radius = json.loads(question)
        inputs = [read_cell(text, self._pool) for text in given]
        outputs = [None if text is None else read_cell(text, self._pool) for text in wanted]
        gamma = read_cell(radius, self._pool)
        needs: Needs | None = None
        try:
            needs = self._probabilities.needs(inputs, outputs)
            found = self._probabilities.probability(inputs, outputs, gamma)
        except Undecided as undecided:
            return Answer(reason=undecided.reason, needs=needs)
        except MemoryError:
            raise
        except Exception:  # whoever asked asks again, and sees it
            return Answer(needs=needs, raised=True)
        if len(self._found) >= _FOUND:
            self._found.clear()
        text = closed_text(found.value)
        self._found[text] = found
        return Answer(text, needs=needs)

    def _sign(self, question: str) -> Answer:
        probability, _, beta = question.partition(";")
        try:
            found = self._found.get(probability) or ClosedForm(read_closed(probability))
            settled = self._decider.settle(found, read_beta(beta))
        except MemoryError:
            raise
        except Exception:
            return Answer(raised=True)
        return Answer(settled_text(settled))
