"""The report does not depend on who decides: one process, several, with or without a cache, in any order."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.algebra.limits import Limits
from dipc.claims.given import CellPool
from dipc.claims.table import read_table
from dipc.cli.options import parse_limits
from dipc.decide.cache import Cache
from dipc.decide.engine import Done, Finished, Task, fingerprint, perform
from dipc.decide.obligation import Verdict
from dipc.options import job_count
from dipc.questions.report import DecidedRows
from dipc.text.diagnostic import DiagnosticError
from tests.decide.workload import (
    MIXED,
    MIXED_ROWS,
    SPARSE,
    SPARSE_TABLE,
    Counting,
    check_with,
    heavy_table,
    kind,
    texts,
)

STEPS = """
program steps;
input x : {0..3};
output y : {0..3};
metric { output: linf }
y <- Exp(eps, v in {0..3} : -abs(v - x))
"""

STEPS_ROWS = [{"x": x, "y": x} for x in range(4)]

LAPLACE = "program laplace; input q : real; output out : real; out <- Lap(eps, q);"

CASES: dict[str, tuple[str | Path, Any, dict[str, Any]]] = {
    "accurate": (SPARSE, SPARSE_TABLE, {}),
    "refuted, with the failing intervals": (SPARSE, SPARSE_TABLE, {"beta": "exp(-alpha*eps/4)", "digits": 20}),
    "on two intervals": (SPARSE, SPARSE_TABLE, {"beta": "exp(-alpha*eps/4)", "eps": "(0, 1], (2, inf)"}),
    "quotients": (MIXED, MIXED_ROWS, {"beta": "1 - exp(-eps)/7", "gamma": 1}),
    "a beta in pieces": (SPARSE, SPARSE_TABLE, {"beta": "min(1, 6*exp(-alpha*eps/8))"}),
    "refuted, with a beta in pieces": (SPARSE, SPARSE_TABLE, {"beta": "min(1, exp(-alpha*eps/4))", "digits": 15}),
    "undecided: the chain": (SPARSE, SPARSE_TABLE, {"limits": parse_limits(["states=9"])}),
    "undecided: the measure": (
        SPARSE,
        SPARSE_TABLE,
        {"beta": "49/50", "limits": parse_limits(["terms=1", "intervals=1"])},
    ),
    "undecided: the sign": (SPARSE, SPARSE_TABLE, {"limits": parse_limits(["intervals=1"])}),
    "vacuous rows": (SPARSE, SPARSE_TABLE, {"alpha": "1"}),
    "every gamma": (SPARSE, SPARSE_TABLE, {"gamma": "free"}),
    "every gamma, with a distance of outputs": (STEPS, STEPS_ROWS, {"gamma": "free", "beta": "exp(-(gamma + 1)*eps)"}),
    "gamma by row": (
        LAPLACE,
        [{"q": q, "out": q, "gamma": g, "beta": b} for q in (0, 1) for g in (0, 1) for b in ("1/2", "exp(-eps)")],
        {},
    ),
}

PROVED = ("accurate", "a beta in pieces", "vacuous rows", "every gamma")


class Shuffled(Counting):
    """An executor that gives back tasks in an order of its own, several at a time."""

    slots = 3

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def wait(self) -> list[Finished]:
        self._random.shuffle(self._tasks)  # type: ignore[arg-type]
        return [
            found for _ in range(self._random.randint(1, len(self._tasks))) for found in super(Shuffled, self).wait()
        ]


@pytest.mark.parametrize("case", CASES)
def test_the_same_report_by_tasks(case: str, tmp_path: Path) -> None:
    source, table, options = CASES[case]
    program = dipc.load(source).with_limits(options.get("limits", Limits()))
    options = {name: value for name, value in options.items() if name != "limits"}
    report = dipc.check(program, table, **options)
    assert report.verdict == ("undecided" if "undecided" in case else "accurate" if case in PROVED else "inaccurate")
    expected = texts(report)
    for seed, window in ((1, 1), (2, 5), (3, 1000)):
        shuffled = Shuffled(seed)
        assert texts(check_with(shuffled, program, table, window=window, **options)) == expected
        assert len(set(shuffled.asked)) == len(shuffled.asked), "every question is asked once"
        assert shuffled.closed == 1
    for _ in ("cold", "warm"):
        with Cache(tmp_path / "cache", fingerprint()) as cache:
            counting = Counting()
            assert texts(check_with(counting, program, table, cache=cache, **options)) == expected
    assert counting.asked == []


def test_two_processes_give_the_same_report() -> None:
    program, table = heavy_table(12, m=3)
    report = dipc.check(program, table, jobs=2)
    assert texts(report) == texts(dipc.check(program, table))
    assert report.effort.obligations > 0


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("case", CASES)
def test_any_number_of_processes_gives_the_same_report(case: str, jobs: int, tmp_path: Path) -> None:
    source, table, options = CASES[case]
    program = dipc.load(source).with_limits(options.get("limits", Limits()))
    options = {name: value for name, value in options.items() if name != "limits"}
    expected = texts(dipc.check(program, table, **options))
    assert texts(dipc.check(program, table, jobs=jobs, **options)) == expected
    for _ in ("cold", "warm"):
        assert texts(dipc.check(program, table, jobs=jobs, cache=tmp_path / "cache", **options)) == expected


def test_each_obligation_is_asked_once_overall() -> None:
    program = dipc.load(SPARSE, m=4, c=1)
    table = [
        {f"q[{i}]": q for i, q in enumerate(queries, 1)}
        | {f"out[{i}]": "top" if i == 1 else "none" for i in range(1, 5)}
        | {"dd": 1}
        for queries in ((1, a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1))
    ]
    counting = Counting()
    report = check_with(counting, program, table, window=1000)
    assert len(report.rows) == 27
    # Only the first query matters: one obligation, whose bound is measured as it is decided.
    assert [kind(question) for question in counting.asked] == ["both"]


def test_a_program_that_goes_wrong_does_so_at_the_same_row() -> None:
    program = dipc.load(
        "program p; input d : {0..2}; output y : {0..4}; output r : real; y <- 2*d + d*d - 1; r <- Lap(eps, 0);"
    )
    rows = [{"d": d, "y": y, "r": ""} for d, y in ((1, 2), (0, 1), (2, 3))]
    with pytest.raises(DiagnosticError) as expected:
        dipc.check(program, rows, beta=0)
    with pytest.raises(DiagnosticError) as found:
        check_with(Counting(), program, rows, beta=0)
    assert found.value.diagnostics == expected.value.diagnostics


def test_proofs_are_kept_whoever_finds_the_probabilities() -> None:
    program = dipc.load(SPARSE)
    alone = dipc.check(program, SPARSE_TABLE, keep_proofs=True)
    together = check_with(Counting(), program, SPARSE_TABLE, keep_proofs=True)
    assert texts(alone) == texts(together)
    decisions = []
    for report in (alone, together):
        assert report.evidence is not None
        assert isinstance(report.evidence.results, DecidedRows)
        outcomes, _ = report.evidence.results.outcomes
        decisions.append([(each.probability, each.terms.beta, each.settled) for each in outcomes])
        assert all(each.settled.proof is not None for each in outcomes if not each.vacuous)
    assert decisions[0] == decisions[1]


def test_a_worker_of_another_engine_decides_nothing() -> None:
    program = dipc.load(SPARSE)

    class Relabeled(Counting):
        def wait(self) -> list[Finished]:
            ticket, task = self._tasks.popleft()
            return [Finished(ticket, perform(Task("0.0.9-feed", task.setup, task.questions)))]

    class Old(Counting):
        def wait(self) -> list[Finished]:
            ticket, _ = self._tasks.popleft()
            return [Finished(ticket, Done("0.0.9-feed", ()))]

    with pytest.raises(DiagnosticError) as caught:
        check_with(Old(), program, SPARSE_TABLE)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E1309"
    assert diagnostic.message == f"a worker runs dipc 0.0.9-feed, and this is dipc {fingerprint()}"
    # Asked by another engine, this one answers with its name only.
    assert perform(Task("0.0.9-feed", b"not even read", b"neither")) == Done(fingerprint(), ())


def test_how_many_processes() -> None:
    assert job_count(3) == job_count("3") == 3
    assert job_count(0) == job_count("auto") == job_count("0") >= 1
    for wrong in (-1, "-1", "many", "", 10**6, True, 1.5, "1" * 5000):
        with pytest.raises(DiagnosticError) as caught:
            job_count(wrong)  # type: ignore[arg-type]
        assert caught.value.diagnostics[0].code == "E1312"
    with pytest.raises(DiagnosticError) as caught:
        dipc.check(dipc.load(SPARSE), SPARSE_TABLE, jobs=2, dask="tcp://127.0.0.1:1")
    assert caught.value.diagnostics[0].code == "E1311"


def test_rows_are_packed_without_loss() -> None:
    program = dipc.load(SPARSE, m=3, c=1)
    generator = random.Random(7)
    rows = [
        {**{f"q[{i}]": generator.randint(0, 400) for i in (1, 2, 3)}, **{f"out[{i}]": "" for i in (1, 2, 3)}, "dd": 1}
        for _ in range(3000)
    ]
    table = read_table(rows, program.core)
    assert [[cell.text for cell in row.inputs] for row in table.rows] == [
        [str(row[f"q[{i}]"]) for i in (1, 2, 3)] for row in rows
    ]
    assert [row.number for row in table.rows] == list(range(1, 3001))
    assert table.rows[-1].inputs == table.rows[2999].inputs
    assert [row.number for row in table.rows[2990:]] == list(range(2991, 3001))
    assert CellPool().cell("a") is not CellPool().cell("a")
    with pytest.raises(IndexError):
        table.rows[3000]


class Paced(Counting):
    """An executor that reports a fixed number of seconds for each question."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def wait(self) -> list[Finished]:
        finished = []
        for each in super().wait():
            assert each.done is not None
            finished.append(replace(each, done=replace(each.done, seconds=self._seconds * len(each.done.decisions))))
        return finished


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        (0.0, [4, 8, 16, 12]),  # what takes no time is sent together, or sending it takes longer
        (0.01, [4, 8, 7, 5, 5, 5, 5, 1]),  # at least a twentieth of a second's work, and a part of what is left
        (30.0, [4, *[1] * 36]),
    ],
)
def test_a_task_is_neither_short_nor_long(seconds: float, sizes: list[int]) -> None:
    program, table = heavy_table(40)
    executor = Paced(seconds)
    assert check_with(executor, program, table).verdict is dipc.Verdict.ACCURATE
    assert [len(done.decisions) for done in executor.answered] == sizes


@pytest.mark.parametrize("forms", [True, False])
@pytest.mark.parametrize("cached", [True, False])
def test_what_holds_comes_back_without_the_closed_form_that_nobody_asks_for(
    forms: bool, cached: bool, tmp_path: Path
) -> None:
    """Except for a cache, which others ask for it. What fails comes with it."""
    program, table = heavy_table(12)
    executor = Counting()
    cache = Cache(tmp_path / "cache", fingerprint()) if cached else None
    report = check_with(executor, program, table, cache, forms=forms, beta="3/2*exp(-alpha*eps/4)")
    assert report.counts.accurate
    assert report.counts.inaccurate
    plain = check_with(Counting(), program, table, beta="3/2*exp(-alpha*eps/4)")
    assert [row.verdict for row in report.rows] == [row.verdict for row in plain.rows]
    answers = [decision for done in executor.answered for decision in done.decisions if decision is not None]
    assert {decision.bound is None for decision in answers if decision.verdict is Verdict.ACCURATE} == {
        not forms and not cached
    }
    assert not any(decision.bound is None for decision in answers if decision.verdict is Verdict.INACCURATE)
    assert all(row.probability for row in report.rows if row.verdict is Verdict.INACCURATE)
