"""Inputs whose values may be exchanged within groups (FORMAT.md, lemmas 4d and 4e).

A group is a sequence of indices of inputs, counted from 0. Inputs that differ only in the order of the values of a
group are one multiset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import factorial, prod

from dipc.verifier.program import Value, typed
from dipc.verifier.reading import Rejected

Groups = Sequence[Sequence[int]]


def require_places(places: Collection[int], count: int) -> None:
    """Raise Rejected unless `places` are different indices among `count` inputs."""
    if len(set(places)) < len(places) or any(place >= count for place in places):
        raise Rejected("an input is named twice, or does not exist")


def places_of(groups: Groups) -> list[int]:
    """Return the indices of the inputs of all `groups`."""
    return [place for group in groups for place in group]


def with_single_places(groups: Groups, count: int) -> list[Sequence[int]]:
    """Return `groups`, followed by a group (i,) for each index i below `count` that is in none of them."""
    inside = set(places_of(groups))
    return [*groups, *((place,) for place in range(count) if place not in inside)]


def multiset(point: Sequence[Value], groups: Groups) -> tuple[object, ...]:
    """Return a key of the input `point` that does not depend on the order of values within each of `groups`.

    Two inputs have equal keys exactly if exchanges of values within groups turn one into the other.
    """
    every = with_single_places(groups, len(point))
    return tuple(frozenset(Counter(typed(point[place] for place in group)).items()) for group in every)


def orders(point: Sequence[Value], groups: Groups) -> int:
    """The number of different inputs into which exchanges within `groups` turn the input `point`, itself included."""
    result = 1
    for group in groups:
        counts = Counter(typed(point[place] for place in group))
        result *= factorial(len(group)) // prod(map(factorial, counts.values()))
    return result


def nearest_orders(
    one: Sequence[Value], other: Sequence[Value], groups: Groups, *, count_only: bool = False
) -> tuple[list[Value], list[Value]]:
    """Return the inputs `one` and `other` with the values of each of `groups` in orders that bring them nearest.

    Two lists of numbers are sorted, which is best for the greatest difference and for the sum of the differences. Other
    values, or all with `count_only`, are ordered so that the two inputs have equal values at as many indices as
    possible.
    """
    here, there = list(one), list(other)
    for group in groups:
        mine, theirs = [one[place] for place in group], [other[place] for place in group]
        if not count_only and all(isinstance(value, Fraction) for value in (*mine, *theirs)):
            mine, theirs = sorted(mine), sorted(theirs)
        else:
            common = list((Counter(mine) & Counter(theirs)).elements())
            mine, theirs = ([*common, *(Counter(each) - Counter(common)).elements()] for each in (mine, theirs))
        for place, a, b in zip(group, mine, theirs, strict=True):
            here[place], there[place] = a, b
    return here, there
