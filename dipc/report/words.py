"""Numbers of things in words, the same in every report."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.obligations.verdict import Verdict
from dipc.report.page import Tone

#: How many numbers of rows a list spells out.
LISTED = 12

TONES = {Verdict.ACCURATE: Tone.GOOD, Verdict.INACCURATE: Tone.BAD, Verdict.UNDECIDED: Tone.OPEN}


def plural(what: str) -> str:
    """`rows`, `classes`."""
    return f"{what}es" if what.endswith("s") else f"{what}s"


def count(number: int, what: str) -> str:
    """`1 row`, `3 rows`, `2 classes`."""
    return f"{number} {what if number == 1 else plural(what)}"


def s(number: int) -> str:
    """The ending of a verb whose subject is so many."""
    return "s" if number == 1 else ""


def numbered(word: str, numbers: Sequence[int], most: int = LISTED) -> str:
    """`row 3`, `classes 1, 2, 5`, the first `most` of them."""
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    text = ", ".join(map(str, numbers[:most]))
    return f"{plural(word)} {text}{', …' if len(numbers) > most else ''}"


def interval_text(eps: str) -> str:
    """`(0, inf)` as `(0, ∞)`."""
    return eps.replace("inf", "∞")
