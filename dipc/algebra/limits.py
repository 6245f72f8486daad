"""Why an exact answer was not given. Never caught to be replaced by an approximation."""

from __future__ import annotations


class Undecided(Exception):
    """The exact answer was not reached; `reason` is one sentence fit for a report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LimitReached(Undecided):
    """A resource limit stopped the computation; `limit` is its name."""

    def __init__(self, limit: str, reason: str) -> None:
        super().__init__(reason)
        self.limit = limit


class OutsideFragment(Undecided):
    """The event or expression is of a kind that no engine here measures exactly."""
