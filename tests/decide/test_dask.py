"""A real Dask scheduler with two workers, on the loopback interface."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dipc
from dipc.decide import processes as module
from dipc.decide.engine import Finished, Question, Task
from dipc.decide.processes import Cluster
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from tests.decide.clusters import Dask, cluster
from tests.decide.workload import SPARSE, SPARSE_TABLE, check_with, heavy_table, questions_of, texts

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with cluster(tmp_path_factory.mktemp("dask"), 2) as made:
        yield made


class Watched(Cluster):
    """An executor that kills a worker as soon as some tasks came back, and counts the results."""

    def __init__(self, address: str, dask: Dask | None = None) -> None:
        super().__init__(address)
        self.dask = dask
        self.sent: list[tuple[Question, ...]] = []
        self.tickets: list[int] = []

    def submit(self, ticket: int, task: Task) -> None:
        self.sent.append(questions_of(task))
        super().submit(ticket, task)

    def wait(self) -> list[Finished]:
        finished = super().wait()
        self.tickets += [found.ticket for found in finished]
        if self.dask is not None and len(self.tickets) >= 3:
            self.dask.workers[0].kill()
            self.dask = None
        return finished


def test_the_same_report_from_a_cluster_also_when_a_worker_dies(dask: Dask) -> None:
    program, table = heavy_table(60, m=4)
    expected = texts(dipc.check(program, table))
    watched = Watched(dask.address, dask)
    report = check_with(watched, program, table)
    assert texts(report) == expected
    assert watched.dask is None, "a worker was killed"
    assert dask.workers[0].wait() == -9
    assert dask.workers[1].poll() is None
    # Each task came back once, and no question was asked twice by us: Dask itself did the lost work again.
    assert sorted(watched.tickets) == list(range(1, len(watched.tickets) + 1))
    questions = [question for sent in watched.sent for question in sent]
    assert len(set(questions)) == len(questions)
    # One worker is left, which goes on.
    program = dipc.load(SPARSE)
    alone = dipc.check(program, SPARSE_TABLE)
    assert texts(dipc.check(program, SPARSE_TABLE, dask=dask.address)) == texts(alone)


# --- clusters that cannot be used ------------------------------------------------------------------


def refusal(call: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        call()
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    diagnostic = refusal(lambda: dipc.check(dipc.load(SPARSE), SPARSE_TABLE, dask="tcp://127.0.0.1:8786"))
    assert diagnostic == Diagnostic(
        "E1307",
        "Dask is not installed",
        notes=(
            "install it: in a checkout pip install '.[dask]', elsewhere pip install 'distributed>=2025.7'",
            "`-j N` uses the processors of this machine without it",
        ),
    )


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense://x", ""])
def test_no_scheduler_there(address: str) -> None:
    diagnostic = refusal(lambda: Cluster(address, connect=0.3))
    assert diagnostic.code == "E1308"
    assert diagnostic.message == f"no Dask scheduler answers at `{address}` within 0.3 s"


@pytest.mark.slow
def test_a_scheduler_without_workers_and_one_that_goes_away(tmp_path: Path) -> None:
    with cluster(tmp_path, 0) as empty:
        waiting = Cluster(empty.address, patience=1.5)
        diagnostic = refusal(lambda: check_with(waiting, dipc.load(SPARSE), SPARSE_TABLE))
        assert diagnostic.code == "E1310"
        assert diagnostic.message == f"the Dask scheduler at `{empty.address}` has had no worker for 1.5 s"
        other = Cluster(empty.address)

        class Leaving(Cluster):
            def wait(self) -> list[Finished]:
                empty.scheduler.kill()
                return super().wait()

        leaving = Leaving(empty.address)
        assert refusal(lambda: check_with(leaving, dipc.load(SPARSE), SPARSE_TABLE)).code == "E1308"
        other.close()


def test_no_client_is_left_for_the_garbage_collector(dask: Dask) -> None:
    import distributed

    # Closed by the collector while the next client is made, one would wait for that for ever.
    made = Cluster(dask.address)
    refusal(lambda: Cluster("tcp://127.0.0.1:1", connect=0.2))
    made.close()
    clients = [item for item in gc.get_objects() if isinstance(item, distributed.Client)]
    assert [client.status for client in clients if client.status not in ("closed", "newly-created")] == []
    assert all(type(client).__del__ is not distributed.Client.__del__ for client in clients)


class _Future(SimpleNamespace):
    def exception(self) -> Exception:
        return self.error


def test_what_workers_may_say(dask: Dask) -> None:
    import distributed

    executor = Cluster(dask.address)
    try:
        lost = distributed.KilledWorker("task", SimpleNamespace(address="tcp://127.0.0.1:9"), 3)
        assert executor._finished(1, _Future(status="error", error=lost)).done is None
        missing = _Future(status="error", error=ModuleNotFoundError("No module named 'dipc'"))
        diagnostic = refusal(lambda: executor._finished(1, missing))
        assert diagnostic.code == "E1309"
        assert diagnostic.message == ("a Dask worker cannot do the work: ModuleNotFoundError: No module named 'dipc'")
        assert refusal(lambda: executor._finished(1, _Future(status="cancelled"))).code == "E1308"
    finally:
        executor.close()
    executor.close()
    assert module.CONNECT >= 1
