"""Processes that are started late: none for what is soon done, all of them while this process is at something long."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dipc.algebra.limits import Limits
from dipc.decide import processes
from dipc.decide.engine import Done, Engine, Finished, Task, perform, pickled_performer
from dipc.decide.processes import Processes
from dipc.measure.measure import Bound, Measurer
from tests.patience import until

SETUP = pickled_performer(Engine(Measurer(Limits()), Limits()))


def task(number: int) -> Task:
    return Task.create(SETUP, [Bound((), Fraction(number))])


def tickets(found: list[Finished]) -> list[int]:
    assert all(isinstance(each.done, Done) for each in found)
    return [each.ticket for each in found]


def test_what_is_soon_done_starts_no_process() -> None:
    executor = Processes(2, here=1e9)
    for number in range(3):
        executor.submit(number, task(number))
    assert [tickets(executor.wait()) for _ in range(3)] == [[0], [1], [2]]
    assert executor.pids == []
    executor.close()


def test_after_a_while_processes_do_the_rest() -> None:
    executor = Processes(2, here=0)
    try:
        for number in range(4):
            executor.submit(number, task(number))
        assert tickets(executor.wait()) == [0]
        assert executor.pids
        rest: list[int] = []
        while len(rest) < 3:
            rest += tickets(executor.wait())
        assert sorted(rest) == [1, 2, 3]
    finally:
        executor.close()


def test_others_begin_while_this_process_is_at_something_long(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Processes(2, here=0.01)

    def long(one: Task) -> Done:
        until(lambda: executor.pids)
        return perform(one)

    monkeypatch.setattr(processes, "perform", long)
    try:
        for number in range(3):
            executor.submit(number, task(number))
        found = tickets(executor.wait())
        while len(found) < 3:
            found += tickets(executor.wait())
        assert found[0] == 0
        assert sorted(found) == [0, 1, 2]
    finally:
        executor.close()


def test_memory_that_runs_out_here_is_a_lost_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(_: Task) -> Done:
        raise MemoryError

    monkeypatch.setattr(processes, "perform", greedy)
    executor = Processes(2, here=1e9)
    executor.submit(7, task(0))
    assert executor.wait() == [Finished(7, None, "ran out of memory")]
    executor.close()
