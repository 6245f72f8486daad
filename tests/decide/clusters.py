"""A real Dask cluster on the loopback interface."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.patience import until

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Dask:
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def _spawn(directory: Path, module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def worker(directory: Path, address: str) -> subprocess.Popen[bytes]:
    return _spawn(
        directory,
        "distributed.cli.dask_worker",
        address,
        *(
            "--host",
            "127.0.0.1",
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--local-directory",
            str(directory),
        ),
    )


@contextlib.contextmanager
def cluster(directory: Path, workers: int) -> Iterator[Dask]:
    """A scheduler and so many workers, each a process of its own, which are all ended with the block."""
    told = directory / "scheduler.json"
    scheduler = _spawn(
        directory,
        "distributed.cli.dask_scheduler",
        *("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)),
    )
    made: list[subprocess.Popen[bytes]] = []
    try:

        def address_of() -> str:
            with contextlib.suppress(OSError, ValueError):
                return str(json.loads(told.read_text())["address"])
            return ""

        until(address_of)
        address = address_of()
        made += [worker(directory, address) for _ in range(workers)]
        yield Dask(address, scheduler, made)
    finally:
        for process in (*made, scheduler):
            process.kill()
            process.wait()
