"""What a command is doing, on stderr, for people who wait."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType, TracebackType

#: Seconds before anything is shown, and between two updates: quick commands show nothing.
_PATIENCE = 1.0
_INTERVAL = 0.2

#: Back to the beginning of the line, which is empty then.
_CLEAR = "\r\x1b[2K"


class ProgressBar:
    """One line that says what is done, how far it is, and for how long it has been at it. Call it with the number of
    cases done and of all cases (None: unknown). Silent unless stderr is a terminal; gone when the block ends.

    The line is renewed by an alarm, so that it moves whatever the computation is in. A KeyboardInterrupt that leaves
    the block says how far it was.
    """

    def __init__(self, what: str, *, silent: bool = False) -> None:
        self._what = what
        self._silent = silent or not sys.stderr.isatty()
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._count: tuple[int, int | None] | None = None
        self._shown = False
        self._ticking = False

    def __enter__(self) -> ProgressBar:
        if not self._silent and _alarm_is_free():
            self._ticking = True
            signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, max(_PATIENCE, 0.001), max(_INTERVAL, 0.001))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticking:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if self._shown:
            self._write(_CLEAR)
        if isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = (self.status(),)

    def stage(self, what: str) -> None:
        """From now on something else is done."""
        self._what, self._count = what, None

    def __call__(self, done: int, total: int | None) -> None:
        self._count = done, total
        if not self._silent and time.monotonic() >= self._next:
            self._show()

    def status(self) -> str:
        """`checking sparse, 5 of 27 done`."""
        if self._count is None:
            return self._what
        done, total = self._count
        return f"{self._what}, {done}{'' if total is None else f' of {total}'} done"

    def _tick(self, _number: int, _frame: FrameType | None) -> None:
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        self._next = now + _INTERVAL
        self._shown = True
        self._write(f"{_CLEAR}{self.status()}, {now - self._begun:.0f} s")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, RuntimeError):  # nobody looks any more, or an alarm came while something else was written
            self._silent = True


def _alarm_is_free() -> bool:
    """Whether this process may use the alarm: not in a thread, nor where another has it, nor where there is none."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    )
