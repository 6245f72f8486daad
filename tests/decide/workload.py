"""Programs and tables whose rows are worth sharing out, and the report as one text."""

from __future__ import annotations

import io
import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import dipc
from dipc.decide.cache import Cache
from dipc.decide.engine import Done, Executor, Finished, InTurn, Question, Task
from dipc.decide.shared import Memory, SharedEngine
from dipc.measure.measure import Bound
from dipc.options import Options
from dipc.outcome.formats import write_rows
from dipc.outcome.outcome import render_parts
from dipc.outcome.rows import row_parts
from dipc.outcome.words import Statement
from dipc.questions.question import answer, question_of
from dipc.questions.report import Report

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = ROOT / "benchmarks" / "sparse.dip"
SPARSE_TABLE = ROOT / "benchmarks" / "sparse.csv"

#: Discrete noise, choices and a loop: quotients.
MIXED = """
program mixed;
input x : {0..2};
input q : real;
output y : {no, yes};
output n : int;
output r : real;
var again : bool = true;
n <- DLap(eps, x);
y <- choose { yes : 1/(1 + exp(eps)), no : exp(eps)/(1 + exp(eps)) };
while again do
  again <- choose { true : 1/2, false : 1/2 }
end;
r <- Lap(eps/2, q);
"""

MIXED_ROWS = [
    {"x": x, "q": q, "y": y, "n": n, "r": q}
    for x in (0, 1, 2)
    for q in ("-1/3", 0)
    for y in ("no", "yes", "")
    for n in ("", x)
]


#: A question for the headings of reports, whatever they are about.
STATEMENT = Statement(
    dipc.load("program p; output out : {no, yes}; out <- yes;").core,
    Path("p.dip"),
    {"alpha": "dd", "beta": "b", "gamma": "0"},
    "t",
)


def texts(report: Report) -> tuple[str, str]:
    """The report as JSON and as text."""
    stream = io.StringIO()
    write_rows(report.head(), (row.as_json() for row in report.rows), stream)
    return stream.getvalue(), render_parts(row_parts(report, STATEMENT))


def heavy_table(rows: int, m: int = 6, seed: int = 1) -> tuple[dipc.Program, list[dict[str, str]]]:
    """Sparse with all-different obligations."""
    generator = random.Random(seed)
    program = dipc.load(SPARSE, m=m, c=1)
    table = []
    for _ in range(rows):
        queries = [Fraction(generator.randint(-900, -100), 100) for _ in range(m - 1)]
        queries.append(Fraction(generator.randint(100, 900), 100))
        row = {f"q[{i}]": str(q) for i, q in enumerate(queries, 1)}
        row |= {f"out[{i}]": "top" if i == m else "bot" for i in range(1, m + 1)}
        table.append(row | {"dd": str(min(map(abs, queries)))})
    return program, table


def write_csv(path: Path, table: list[dict[str, str]]) -> Path:
    lines = [",".join(table[0]), *(",".join(row.values()) for row in table)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def questions_of(task: Task) -> tuple[Question, ...]:
    found: tuple[Question, ...] = pickle.loads(task.questions)
    return found


def kind(asked: Question) -> str:
    """The kind of question: to measure a bound, to decide a measured one, or both."""
    if isinstance(asked, Bound):
        return "measure"
    return "both" if any(share.events for share in asked.bound.shares) else "decide"


class Counting(InTurn):
    """Counts the questions that are really asked, and keeps what is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Question] = []
        self.answered: list[Done] = []
        self.closed = 0

    @property
    def kinds(self) -> set[str]:
        return set(map(kind, self.asked))

    def submit(self, ticket: int, task: Task) -> None:
        self.asked += questions_of(task)
        super().submit(ticket, task)

    def wait(self) -> list[Finished]:
        finished = super().wait()
        self.answered += [each.done for each in finished if each.done is not None]
        return finished

    def close(self) -> None:
        self.closed += 1
        super().close()


def check_with(
    executor: Executor,
    program: dipc.Program,
    table: object = None,
    cache: Cache | None = None,
    window: int = 100,
    digits: int | None = None,
    keep_proofs: bool = False,
    forms: bool = True,
    **options: Any,
) -> Report:
    """The report of a check with this executor, with `window` rows in progress."""
    measurer, sign = program.measurer, program.limits
    memory = None if cache is None else Memory(cache, measurer.limits, sign, digits)
    engine = SharedEngine(measurer, sign, executor, memory, digits=digits, keep_proofs=keep_proofs, window=window)
    engine.forms = forms
    try:
        return answer(question_of(program, table, Options(**options)), engine)
    finally:
        executor.close()
