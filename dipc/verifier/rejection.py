"""How a certificate fails: rejected at a step, or not readable as one at all."""

from __future__ import annotations


class Rejected(Exception):
    """The certificate does not prove what it says: `step` names the place, `why` what is wrong with it."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step}: {why}" if step else why)
        self.step = step
        self.why = why


class Unreadable(Exception):
    """What was given is no certificate of this version; `why` is one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
