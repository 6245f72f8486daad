"""A goal of speed or memory, and what it takes to measure one: child processes, and the rows that are checked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")

#: One row of Sparse takes these shapes; a goal is met when the slowest meets it.
SHAPES: dict[str, Callable[[int], list[int]]] = {
    "bottoms, then a top": lambda m: [-1] * (m - 1) + [1],
    "all tops": lambda m: [1] * m,
    "alternating": lambda m: [1 if i % 2 else -1 for i in range(m)],
}


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal, with the measured value; both are in `unit`.

    A goal is also missed if no answer was given: `undecided` is then the reason. `megabytes` is the peak memory, the
    largest one of several processes.
    """

    name: str
    limit: float
    measured: float
    unit: str
    remark: str = ""
    undecided: str = ""
    megabytes: float | None = None

    @property
    def met(self) -> bool:
        return self.measured <= self.limit and not self.undecided


@dataclass(frozen=True, slots=True)
class Usage:
    """The CPU and wall-clock seconds of a child process, and its peak memory in megabytes."""

    cpu: float
    wall: float
    megabytes: float


def peak_megabytes(ru_maxrss: int) -> float:
    """Return in megabytes the peak memory `ru_maxrss` of getrusage, which is in kilobytes, and on macOS in bytes."""
    return (ru_maxrss if sys.platform != "darwin" else ru_maxrss / 1024) / 1024


def with_byte_code() -> dict[str, str]:
    """The environment in which byte code is written and read, as it is where dipc is installed.

    Without byte code a row takes three times as long.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def spawn(command: Sequence[str], stdout: Path | None = None, patience: int | None = None) -> tuple[int, Usage]:
    """Run `command` to its end, or for `patience` seconds of CPU; return its exit code and its usage.

    Its output is written to the file `stdout`, or left out if that is None.
    """
    launcher = [sys.executable, "-S", str(_LAUNCHER), str(stdout or os.devnull), str(patience or 0)]
    printed = subprocess.run(
        [*launcher, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=with_byte_code(), check=True
    )
    code, cpu, wall, ru_maxrss = printed.stdout.split()
    return int(code), Usage(float(cpu), float(wall), peak_megabytes(int(ru_maxrss)))


def dipc_command() -> list[str]:
    """The installed `dipc`, or the same through the interpreter where it is not on the path of this Python."""
    script = Path(sys.executable).with_name("dipc")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-c", "from dipc.cli.main import main; main()"]


def checked(command: Sequence[str]) -> Usage:
    """Run `command` and return its usage; raise RuntimeError if it failed."""
    code, usage = spawn(command)
    if code:
        raise RuntimeError(f"{' '.join(command)} exited with {code}")
    return usage
