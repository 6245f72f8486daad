"""Names the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, None where none is like it."""
    from difflib import get_close_matches

    matches = get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return matches[0] if matches else None


def listing(names: Iterable[str], limit: int = 8) -> str:
    """`a`, `b` and `c`; after `limit` names `and 5 more`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > limit:
        return f"{', '.join(quoted[:limit])} and {len(quoted) - limit} more"
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
