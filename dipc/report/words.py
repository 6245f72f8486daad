"""Numbers of things in words, the same in every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dipc.obligations.saying import Saying
from dipc.obligations.verdict import EndPoint, FailureInterval, Verdict
from dipc.report.numbers import exact, shown
from dipc.report.page import Tone
from dipc.sources.outcome import Counts, RowResult

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


def without_closed_form(row: RowResult) -> str:
    """Why there is no closed form of a row's probability."""
    if row.vacuous or row.verdict is Verdict.UNDECIDED:
        return "was not reached"
    return "has too many terms to be written out; it was followed by Taylor polynomials"


def vacuous_why(counts: Counts) -> str:
    """Why rows hold vacuously: `dd < α`."""
    near = counts.vacuous - counts.above_one
    return "β ≥ 1" if not near else "dd < α" if not counts.above_one else "dd < α or β ≥ 1"


def vacuous_text(counts: Counts, *, of_them: bool = False) -> str:
    """`13 of them vacuously (β ≥ 1)`, `all of them vacuously (dd < α)`; without `of_them`, `13 hold vacuously (…)`."""
    why = vacuous_why(counts)
    if not of_them:
        return f"{counts.vacuous} hold{s(counts.vacuous)} vacuously ({why})"
    if counts.vacuous == counts.rows:
        return f"vacuously ({why})" if counts.rows == 1 else f"all of them vacuously ({why})"
    return f"{counts.vacuous} of them vacuously ({why})"


def says_nothing(sayings: Mapping[str, Saying]) -> str | None:
    """Why a claim, decided, says nothing at all, None where it says something: `sayings` of what it comes to, which is
    nothing where nothing is as far from other answers as alpha."""
    if not sayings:
        return "dd < α"
    return "β ≥ 1" if all(says.nothing for says in sayings.values()) else None


#: Where a claim says something of which every case holds as dd < alpha.
NO_INPUT = "for no input: dd < alpha everywhere"


def saying_text(sayings: Mapping[str, Saying], eps: str, beta: str = "beta") -> str | None:
    """For which values of each variable a claim about these `eps` says something, where that is not everywhere:
    `for eps > 14.3340757…`. `beta` is what is at least 1 elsewhere."""
    parts = []
    for variable, says in sayings.items():
        if says.reason is not None:
            parts.append(f"not known: {says.reason}")
        elif not says.where:
            parts.append(f"for no {variable}: {beta} ≥ 1 everywhere")
        elif variable != "eps" or not _is_everything(says.where, eps):
            found = " ∪ ".join(_where(part, variable) for part in says.where)
            parts += [] if found == _EVERYWHERE else [f"for {found}"]
    return "; ".join(parts) or None


_EVERYWHERE = "everywhere"


def _is_everything(where: Sequence[FailureInterval], eps: str) -> bool:
    """Whether these are the intervals asked about."""
    found = ", ".join(
        f"{'[' if part.start.included else '('}{part.start.low}, "
        f"{'inf' if part.end.high is None else part.end.high}{']' if part.end.included else ')'}"
        for part in where
        if part.start.exact and (part.end.exact or part.end.infinite)
    )
    return found == eps


def _where(part: FailureInterval, variable: str) -> str:
    start, end = part.start, part.end
    low = "" if start.high == 0 else f"{number_text(start)} {'≤' if start.included else '<'} "
    if end.infinite:
        return f"{variable} {'≥' if start.included else '>'} {number_text(start)}" if low else _EVERYWHERE
    if start.exact and end.exact and start.low == end.low:
        return f"{variable} = {number_text(start)}"
    return f"{low}{variable} {'≤' if end.included else '<'} {number_text(end)}"


def number_text(point: EndPoint) -> str:
    """A finite end, with the digits that are proved."""
    assert point.high is not None
    if not point.exact:
        return shown(point.low, point.high)
    return str(point.low) if len(str(point.low)) <= 12 else exact(point.low)


def interval_text(eps: str) -> str:
    """`(0, inf)` as `(0, ∞)`."""
    return eps.replace("inf", "∞")


def single(eps: str) -> str | None:
    """The number that these intervals consist of; None where they are more than one number."""
    low, _, high = eps.strip("[]").partition(", ")
    return low if low == high else None


def everywhere_text(eps: str, every: str = "for every eps") -> str:
    """`for every eps in (0, ∞)`, `at eps = 1/2`."""
    one = single(eps)
    return f"{every} in {interval_text(eps)}" if one is None else f"at eps = {one}"
