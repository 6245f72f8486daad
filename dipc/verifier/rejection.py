"""How a certificate fails: rejected at a step, or not readable as one at all."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text on one line that does to a terminal what it says: what cannot be printed is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class Rejected(Exception):
    """The certificate does not prove what it says: `step` names the place, `why` what is wrong with it."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(plain(f"{step}: {why}" if step else why))
        self.step = step
        self.why = why


class Unreadable(Exception):
    """What was given is no certificate of this version; `why` is one sentence."""

    def __init__(self, why: str) -> None:
        self.why = plain(why)
        super().__init__(self.why)


class NotDerived(Exception):
    """What is claimed was not derived, for no fault of the certificate that was found; `why` is half a sentence."""

    def __init__(self, why: str) -> None:
        self.why = plain(why)
        super().__init__(self.why)
