"""How much tests let others work before they give up: counted in calls, not in seconds, wherever that is possible.

A busy machine makes every second mean less. A number of calls is the same on any machine, so what takes too many of
them fails at once and everywhere; seconds are a safety net against hangs only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType

#: Seconds after which another process is taken to hang.
SECONDS = 600


def examples(few: int) -> int:
    """The number of examples for a property that is slow to test.

    It is `few` in general, half as many in `make test`, and fifty times as many where all are explored.
    """
    match os.environ.get("HYPOTHESIS_PROFILE"):
        case "explore":
            return 50 * few
        case "few":
            return max(2, few // 2)
        case _:
            return few


def until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition holds, which another process or thread brings about."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.01)


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail at the first function, also one written in C, that the block calls beyond `calls` functions."""
    with reporting(calls):
        yield


@contextmanager
def reporting(calls: int, *reports: Callable[..., object]) -> Iterator[None]:
    """Fail if the block calls more than `calls` functions between two calls of one of `reports`."""
    left = calls
    codes = {report.__code__ for report in reports if isinstance(report, FunctionType)}

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            left -= 1
            if event == "call" and frame.f_code in codes:
                left = calls
            elif left < 0:
                sys.setprofile(None)
                raise AssertionError(f"more than {calls} calls, in {frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
