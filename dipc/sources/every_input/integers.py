"""Integers near the points that linear programs propose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

from dipc.algebra.limits import Undecided
from dipc.chain.affine import Affine
from dipc.linear.halfspace import Halfspace
from dipc.linear.integers import integer_minimum

#: How far from a point integers are looked for, and in how many cases.
_MOST_DISTANCE = Fraction(6)
_MOST_CASES = 60

_ONE = Fraction(1)

#: Coordinates that are no integers of which both neighbours are taken.
_MOST_BROKEN = 3


def near_integers(
    proposed: Iterable[Mapping[int, Fraction]], whole: frozenset[int], within: Sequence[Halfspace]
) -> Iterator[dict[int, Fraction]]:
    """The points with integers for the inputs `whole`: where only a few are none, both neighbours of each; where none
    of these satisfies all of `within`, the nearest that does comes first. If there are such inputs, each point comes
    once."""
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
        near = [
            {**point, **{slot: Fraction(value) for slot, value in zip(broken, chosen, strict=True)}}
            for chosen in product(*choices)
        ]
        if broken and not any(all(item.contains(each) for item in within) for each in near):
            nearest = _nearest(point, whole, within)
            near = near if nearest is None else [nearest, *near]
        for found in near:
            key = tuple(found.values())
            if key not in seen:
                seen.add(key)
                yield found


def least_near(
    form: Affine, point: Mapping[int, Fraction], whole: frozenset[int], within: Sequence[Halfspace]
) -> dict[int, Fraction] | None:
    """Integers near the point where the form is least, if all of its inputs are `whole`; as `_nearest` otherwise."""
    if not all(slot in whole for slot, _ in form.inputs):
        return None
    return _solved(Halfspace(form.inputs, form.constant), point, whole, within)


def _nearest(
    point: Mapping[int, Fraction], whole: frozenset[int], within: Sequence[Halfspace]
) -> dict[int, Fraction] | None:
    """The point of the system with these values for all but the inputs `whole` whose integers are the nearest; None
    where there is none near by, or where it takes too long to tell."""
    return _solved(Halfspace(((_length(point), _ONE),), Fraction(0)), point, whole, within)


def _length(point: Mapping[int, Fraction]) -> int:
    """The unknown that bounds how far integers are from the point."""
    return 1 + max(point)


def _solved(
    form: Halfspace, point: Mapping[int, Fraction], whole: frozenset[int], within: Sequence[Halfspace]
) -> dict[int, Fraction] | None:
    length = _length(point)
    near = [
        Halfspace(((slot, sign), (length, _ONE)), -sign * point[slot])
        for slot in sorted(whole)
        for sign in (_ONE, -_ONE)
    ]
    system = [*near, Halfspace(((length, -_ONE),), _MOST_DISTANCE)]
    for item in within:
        left = item
        for slot, value in point.items():
            if slot not in whole:
                left = left.substituted(slot, {}, value)
        system.append(left)
    try:
        found = integer_minimum(form, system, whole, _MOST_CASES)
    except Undecided:
        return None
    return None if found is None else {**point, **{slot: found[1][slot] for slot in whole}}
