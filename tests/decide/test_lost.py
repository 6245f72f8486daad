"""Workers that die, and checks that are stopped: nothing is lost, nothing is there twice, nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import dipc
from dipc.decide.cache import Cache
from dipc.decide.engine import Finished, Question, Task, fingerprint
from dipc.decide.obligation import Verdict
from dipc.decide.processes import Processes
from dipc.measure.measure import Bound
from dipc.options import Options
from dipc.questions.question import question_of
from dipc.questions.report import Interrupted
from dipc.text.diagnostic import DiagnosticError
from tests.decide.workload import (
    ROOT,
    SPARSE,
    SPARSE_TABLE,
    Counting,
    check_with,
    heavy_table,
    questions_of,
    texts,
    write_csv,
)
from tests.patience import SECONDS, until


class Losing(Counting):
    """Loses every task the first time; those with a question about the bound `poison` always."""

    attempts = 3

    def __init__(self, poison: Bound | None = None) -> None:
        super().__init__()
        self._poison = poison
        self._seen: set[tuple[Question, ...]] = set()
        self.losses = 0

    def wait(self) -> list[Finished]:
        ticket, task = self._tasks[0]
        asked = questions_of(task)
        poisoned = any(self._poison in (item, getattr(item, "bound", None)) for item in asked)
        if poisoned or asked not in self._seen:
            self._seen.add(asked)
            self._tasks.popleft()
            self.losses += 1
            return [Finished(ticket, None, "was ended by SIGKILL")]
        return super().wait()


def test_lost_work_is_done_again() -> None:
    program, table = heavy_table(9, m=3)
    losing = Losing()
    assert texts(check_with(losing, program, table)) == texts(dipc.check(program, table))
    assert losing.losses


def test_what_always_loses_its_worker_is_undecided_and_is_not_remembered(tmp_path: Path) -> None:
    program, table = heavy_table(9, m=3)
    (posed,) = list(question_of(program, table, Options()).cases())[4].steps()
    losing = Losing(posed.obligation.bound)
    alone = dipc.check(program, table)
    with Cache(tmp_path / "cache", fingerprint()) as cache:
        report = check_with(losing, program, table, cache=cache)
    (wrong,) = (row for row in report.rows if row.verdict is Verdict.UNDECIDED)
    assert wrong.row == 5
    assert wrong.reason == "a process that worked on it was lost 3 times: it was ended by SIGKILL"
    assert [row for row in report.rows if row.row != 5] == [row for row in alone.rows if row.row != 5]
    with Cache(tmp_path / "cache", fingerprint()) as cache:
        counting = Counting()
        assert texts(check_with(counting, program, table, cache=cache)) == texts(alone)
        assert len(counting.asked) == 1, "that of the row that was given up"


class Murderous(Processes):
    """An executor that kills a process with a task, once or twice, as the out-of-memory killer would."""

    kills = 2

    def wait(self) -> list[Finished]:
        busy = next((worker for worker in self._workers if worker.tasks), None)
        if self.kills and self._any_ready and busy is not None:
            self.kills -= 1
            assert busy.process.pid is not None
            os.kill(busy.process.pid, signal.SIGKILL)
        return super().wait()


def test_processes_that_are_killed_lose_nothing() -> None:
    program, table = heavy_table(9, m=3)
    processes = Murderous(2)
    assert texts(check_with(processes, program, table)) == texts(dipc.check(program, table))
    assert processes.kills < 2
    assert processes.pids == []


class Deadly:
    """A task that kills the process that receives it."""

    def __reduce__(self) -> tuple[object, ...]:
        return signal.raise_signal, (signal.SIGKILL,)


def test_what_a_killed_process_had_not_begun_is_not_held_against_it() -> None:
    """The current task of a killed process is lost with it; its next task goes to another process."""
    dummy = Task("no engine", b"", b"")
    processes = Processes(1)
    try:
        processes.submit(1, Deadly())  # type: ignore[arg-type]
        for ticket in (2, 3):
            processes.submit(ticket, dummy)
        found = [processes.wait() for _ in range(3)]
    finally:
        processes.close()
    ((lost,), *rest) = found
    assert (lost.ticket, lost.done) == (1, None)
    assert [(one.ticket, one.done is not None) for (one,) in rest] == [(2, True), (3, True)]


#: Stops itself, as Ctrl-C or another signal would, when both of its processes are at work, and prints their ids.
STOPPED = """
import os, sys
import dipc.decide.processes as late_processes
from dipc.decide.processes import Processes
late_processes.WORTH = 0
wait = Processes.wait
def waiting(self):
    found = wait(self)
    if len(self.pids) == 2:
        Processes.wait = wait
        print(*self.pids, flush=True)
        os.kill(os.getpid(), {how})
    return found
Processes.wait = waiting
from dipc.cli.main import main
main()
"""


@contextmanager
def stopped(how: signal.Signals, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED.format(how=int(how)), "check", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def is_gone(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_no_process_outlives_the_check(how: signal.Signals, tmp_path: Path) -> None:
    _, table = heavy_table(40, m=6)
    csv = write_csv(tmp_path / "table.csv", table)
    with stopped(how, SPARSE, csv, "-D", "m=6", "-j", "2", "--cache", tmp_path / "cache") as process:
        out, err = process.communicate(timeout=SECONDS)
        workers = [int(word) for word in out.split()]
        assert len(workers) == 2
        if how is signal.SIGINT:
            assert process.returncode == 130
            assert err.startswith("interrupted after ")
            assert "Traceback" not in err
        until(lambda: all(map(is_gone, workers)))


def test_an_interrupted_check_reports_the_rows_so_far() -> None:
    program, table = heavy_table(6, m=3)

    class Stopped(Counting):
        def submit(self, ticket: int, task: Task) -> None:
            if len(self.asked) >= 3:
                raise KeyboardInterrupt
            super().submit(ticket, task)

    stopped = Stopped()
    with pytest.raises(Interrupted) as caught:
        check_with(stopped, program, table, window=2)
    done = caught.value.report
    assert 0 < len(done.rows) < 6
    assert list(done.rows) == list(dipc.check(program, table).rows)[: len(done.rows)]
    assert stopped.closed == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux which signals are blocked")
def test_no_process_sees_an_interrupt() -> None:
    """Ctrl-C goes to all processes of a terminal: the workers leave it to the one that started them."""
    script = """
from dipc.decide.processes import Processes
from dipc.decide.engine import Task
processes = Processes(2)
for ticket in (1, 2):
    processes.submit(ticket, Task("no engine", b"", b""))
for pid in processes.pids:
    with open(f"/proc/{pid}/status") as status:
        print(next(line for line in status if line.startswith("SigBlk:")).split()[1])
processes.close()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    blocked = [int(word, 16) for word in ran.stdout.split()]
    assert len(blocked) == 2
    assert all(mask >> (signal.SIGINT - 1) & 1 for mask in blocked)


@pytest.mark.slow
def test_processes_that_cannot_start(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import dipc\nimport dipc.decide.processes as late_processes\nlate_processes.WORTH = 0\n"
        f"print(dipc.check(dipc.load({str(SPARSE)!r}), {str(SPARSE_TABLE)!r}, jobs=2).verdict)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "the worker processes end as soon as they are started: the last one ended with exit code 1" in done.stderr


def test_the_words_for_processes_that_cannot_start() -> None:
    from dipc.decide.processes import _stillborn

    diagnostic = _stillborn(-9)
    assert diagnostic.code == "E1301"
    assert diagnostic.message.endswith("the last one was ended by SIGKILL")
    assert (
        diagnostic.notes[0]
        == 'a script that uses several processes must do its work under `if __name__ == "__main__":`'
    )
    with pytest.raises(DiagnosticError):
        raise DiagnosticError(diagnostic)
