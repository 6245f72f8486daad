"""Integers near the points that linear programs propose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import ceil, floor

#: Coordinates that are no integers of which both neighbours are taken.
_MOST_BROKEN = 3


def near_integers(proposed: Iterable[Mapping[int, Fraction]], whole: frozenset[int]) -> Iterator[dict[int, Fraction]]:
    """The points with integers for the inputs `whole`: where only a few are none, both neighbours of each. If there are
    such inputs, each point comes once."""
    seen: set[tuple[Fraction, ...]] = set()
    for point in proposed:
        if not whole:
            yield dict(point)
            continue
        broken = [slot for slot in sorted(whole) if point[slot].denominator != 1]
        if len(broken) > _MOST_BROKEN:
            choices: list[tuple[int, ...]] = [(round(point[slot]),) for slot in broken]
        else:
            choices = [(floor(point[slot]), ceil(point[slot])) for slot in broken]
        for chosen in product(*choices):
            found = {**point, **{slot: Fraction(value) for slot, value in zip(broken, chosen, strict=True)}}
            key = tuple(found.values())
            if key not in seen:
                seen.add(key)
                yield found
