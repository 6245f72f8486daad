"""Drops constraints that follow from others: fewer cycles for whoever measures the rest."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.chain.bounds import ORIGIN
from dipc.chain.constraints import Constraint, variables_of
from dipc.chain.decided import entails

_MOST = 300


def irredundant(items: Sequence[Constraint], given: Sequence[Constraint] = ()) -> tuple[Constraint, ...]:
    """A part of `items` that is equivalent to all of them wherever `given` holds; later ones are dropped first.

    Nothing more can be dropped, unless there are too many to try.
    """
    if len(items) > _MOST or not _has_cycle([*given, *items]):
        return tuple(items)
    kept = list(items)
    for item in reversed(items):
        rest = [other for other in kept if other is not item]
        if entails([*given, *rest], item):
            kept = rest
    return tuple(kept)


def _has_cycle(items: Sequence[Constraint]) -> bool:
    """Whether the graph of variables that share a constraint has a cycle: without one nothing follows from the rest."""
    root: dict[int, int] = {}

    def find(variable: int) -> int:
        while (above := root.get(variable, variable)) != variable:
            root[variable] = root.get(above, above)
            variable = above
        return variable

    for item in items:
        variables = variables_of(item.form)
        if len(variables) == 1:
            variables.append(ORIGIN)
        first, *others = [find(variable) for variable in variables]
        for other in others:
            if first == find(other):
                return True
            root[find(other)] = find(first)
    return False
