"""The downward closed, connected sets of an order, and what is left of each when a greatest variable is taken away."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.verifier.comparisons import Below

#: Variables looked at, counted once for each set that they are in.
MOST_WORK = 1_000_000

#: A set of variables: bit i stands for variable i.
Set = int


@dataclass(frozen=True, slots=True)
class Last:
    """A variable that may be the greatest of a set, with the connected parts of the others."""

    variable: int
    parts: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Downsets:
    """`lasts[s]` are the possible greatest variables of s; smaller sets come first, and the last one is everything.

    A set is downward closed: with a variable it has all that must not be greater. What its greatest variable leaves is
    so as well. Parts that are not connected say nothing of each other.
    """

    lasts: dict[Set, tuple[Last, ...]]
    whole: Set


def downsets(below: Below, most: int) -> Downsets | None:
    """The sets that taking away greatest variables leads to; None where they are more than `most`, or take too long.

    The variables are 0, 1, ...
    """
    count = len(below)
    above = [0] * count
    near = [0] * count
    for i, lower in below.items():
        for j in lower:
            above[j] |= 1 << i
            near[i] |= 1 << j
            near[j] |= 1 << i
    whole = (1 << count) - 1
    lasts: dict[Set, tuple[Last, ...]] = {}
    waiting = [whole]
    work = 0
    while waiting:
        here = waiting.pop()
        if here in lasts:
            continue
        if len(lasts) >= most:
            return None
        found = []
        for i in range(count):
            if here >> i & 1 and not above[i] & here:
                work += here.bit_count()
                if work > MOST_WORK:
                    return None
                parts = _connected(here & ~(1 << i), near)
                found.append(Last(i, parts))
                waiting.extend(parts)
        lasts[here] = tuple(found)
    return Downsets(dict(sorted(lasts.items(), key=lambda item: item[0].bit_count())), whole)


def _connected(members: Set, near: list[Set]) -> tuple[Set, ...]:
    parts = []
    while members:
        part = edge = members & -members
        while edge:
            i = edge.bit_length() - 1
            edge &= ~(1 << i)
            fresh = near[i] & members & ~part
            part |= fresh
            edge |= fresh
        parts.append(part)
        members &= ~part
    return tuple(parts)


def reflected(below: Below) -> Below:
    """What must not be greater among the variables -Y."""
    above: dict[int, set[int]] = {i: set() for i in below}
    for i, lower in below.items():
        for j in lower:
            above[j].add(i)
    return {i: frozenset(higher) for i, higher in above.items()}
