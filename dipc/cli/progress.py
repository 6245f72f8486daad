"""A progress bar on stderr, for people who wait."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds before the bar appears, and between its updates: quick checks show nothing.
_PATIENCE = 1.0
_INTERVAL = 0.1


class ProgressBar:
    """Call it with the number of rows done and of all rows (None: unknown). Silent unless stderr is a terminal; gone
    when the block ends."""

    def __init__(self, what: str, *, silent: bool = False) -> None:
        self._what = what
        self._silent = silent or not sys.stderr.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        if self._silent:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        if self._bar is None:
            self._start()
        assert self._bar is not None
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total, refresh=True)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,  # no second thread beside the computation
        )
        self._task = self._bar.add_task(self._what, total=None)
        self._bar.start()
