"""Names the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, None where none is like it."""
    from difflib import get_close_matches

    matches = get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return matches[0] if matches else None


def mistyped(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` is, but for a letter wrong, missing, too many or in the place of its neighbor; two such
    slips in words of more than eight letters."""
    allowed = 1 if len(word) <= 8 else 2
    found = min(((_slips(word, each), each) for each in candidates), default=(allowed + 1, ""))
    return found[1] if found[0] <= allowed else None


def _slips(left: str, right: str) -> int:
    """How many letters to change, leave out, put in or swap with the next."""
    before: list[int] = []
    row: list[int] = [*range(len(right) + 1)]
    for i, a in enumerate(left, 1):
        above, row = row, [i]
        for j, b in enumerate(right, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + int(a != b)))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                row[j] = min(row[j], before[j - 2] + 1)
        before = above
    return row[-1]


def listing(names: Iterable[str], limit: int = 8) -> str:
    """`a`, `b` and `c`; after `limit` names `and 5 more`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > limit:
        return f"{', '.join(quoted[:limit])} and {len(quoted) - limit} more"
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
