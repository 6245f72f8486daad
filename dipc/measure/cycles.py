"""Difference constraints with cycles: eliminate noises from the cycles until only trees remain.

A noise Z on a cycle lies between lower bounds Z_j + w and upper bounds Z_i - w. In turn each lower bound is the
greatest and each upper bound the least, l and u say: up to a null set the cases are disjoint. In a case the other
bounds are implied by constraints that do not mention Z, and [l <= Z <= u] = [l <= u]·([Z <= u] - [Z <= l]). So Z is
left hanging from one other noise, off the cycle, and measures add up with signs. Among integers, where ties have mass,
the first of equal bounds is the one, and Z <= l is Z < l.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from dipc.measure.difference import ORIGIN, DifferenceSystem, Inequalities, components, neighbors


def reduced(system: DifferenceSystem) -> DifferenceSystem | None:
    """The system without implied inequalities (it may fall apart), or None if its measure is 0. Cubic in the noises."""
    nodes = range(ORIGIN, len(system.rates))
    longest = dict(system.lower)
    for k in nodes:
        into = [(i, longest[i, k]) for i in nodes if (i, k) in longest]
        out = [(j, longest[k, j]) for j in nodes if (k, j) in longest]
        for i, first in into:
            for j, second in out:
                known = longest.get((i, j))
                if known is None or known < first + second:
                    longest[i, j] = first + second
        # A closed walk of length w says 0 >= w: for w > 0 this is impossible, for w = 0 it fixes a difference.
        if any(not system.leaves_room(longest.get((i, i), -1)) for i in nodes):
            return None
    if any(longest.get((i, i), -1) == 0 for i in nodes):
        # Integers with fixed differences: inequalities may imply each other.
        return system
    # All closed walks are negative. So a longest path with as many steps as possible repeats no noise and none of its
    # steps can be replaced by two: what is removed is implied by what stays, and the order of removal does not matter.
    kept = {
        (i, j): w
        for (i, j), w in system.lower.items()
        if longest[i, j] == w
        and not any(
            longest[i, k] + longest[k, j] >= w
            for k in nodes
            if k not in (i, j) and (i, k) in longest and (k, j) in longest
        )
    }
    return replace(system, lower=kept)


def split(system: DifferenceSystem) -> list[tuple[int, DifferenceSystem]]:
    """Systems with signs ±1 whose signed measures add up to that of a reduced, connected system with a cycle.

    Each has one noise less on its cycles, so that splitting ends. Empty if the measure is 0.
    """
    noise, above, below = _cheapest(system)
    lower = system.lower
    found = []
    least: list[int | None] = [*above] or [None]
    greatest: list[int | None] = [*below] or [None]
    for u, l in product(least, greatest):
        case = {
            pair: w
            for pair, w in lower.items()
            if not (pair[1] == noise and pair[0] in above) and not (pair[0] == noise and pair[1] in below)
        }
        if u is not None:
            for at, i in enumerate(above):
                # The upper bound of u is at most that of i.
                tie = system.whole and at < above.index(u)
                _add(case, i, u, lower[i, noise] - lower[u, noise] + tie)
        if l is not None:
            for at, j in enumerate(below):
                # The lower bound of l is at least that of j.
                tie = system.whole and at < below.index(l)
                _add(case, l, j, lower[noise, j] - lower[noise, l] + tie)
        if u is None or l is None or u == l:
            _hang(case, lower, noise, u, l)
            found.append((1, case))
            continue
        _add(case, u, l, lower[u, noise] + lower[noise, l])
        under_u, under_l = dict(case), dict(case)
        under_u[u, noise] = lower[u, noise]
        under_l[l, noise] = -lower[noise, l] + system.whole
        found += [(1, under_u), (-1, under_l)]
    parts = [(sign, reduced(replace(system, lower=case))) for sign, case in found]
    return [(sign, part) for sign, part in parts if part is not None]


def _hang(case: Inequalities, lower: Inequalities, noise: int, u: int | None, l: int | None) -> None:
    """Keep the inequalities of `noise` with u above and l below it."""
    if u is not None:
        case[u, noise] = lower[u, noise]
    if l is not None:
        case[noise, l] = lower[noise, l]


def _add(case: Inequalities, i: int, j: int, w: int) -> None:
    """Require Z_i - Z_j >= w besides."""
    if i != j:
        case[i, j] = max(case.get((i, j), w), w)


def _cheapest(system: DifferenceSystem) -> tuple[int, list[int], list[int]]:
    """The noise on a cycle that splits into the fewest systems, with the noises above and below it to which it is tied
    on that cycle."""
    adjacent = neighbors(len(system.rates), system.lower)
    best: tuple[int, int, list[int], list[int]] | None = None
    for noise in range(len(system.rates)):
        for group in _reunited(noise, adjacent):
            above = [i for i in group if (i, noise) in system.lower]
            below = [j for j in group if (noise, j) in system.lower]
            cost = 2 * len(above) * len(below) or len(above) + len(below)
            if best is None or cost < best[0]:
                best = (cost, noise, above, below)
    assert best is not None, "a connected system that is no tree has a cycle"
    return best[1:]


def _reunited(noise: int, adjacent: list[list[int]]) -> list[list[int]]:
    """The groups of two or more neighbors of a noise that are connected without it: it lies on cycles with those."""
    without = [(i, j) for i, row in enumerate(adjacent) for j in row if noise not in (i, j)]
    groups = []
    for members in components(len(adjacent), without):
        group = [i for i in adjacent[noise] if i in members]
        if len(group) > 1:
            groups.append(group)
    return groups
