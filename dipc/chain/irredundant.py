"""Drops constraints that follow from others: fewer cycles for whoever measures the rest."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.chain.constraints import Constraint, variables_of
from dipc.chain.entailment import entails

_MOST = 300


def irredundant(items: Sequence[Constraint], given: Sequence[Constraint] = ()) -> tuple[Constraint, ...]:
    """A part of `items` that is equivalent to all of them wherever `given` holds; later ones are dropped first.

    Nothing more can be dropped, unless there are too many to try.
    """
    if len(items) > _MOST:
        return tuple(items)
    core = _entangled([*given, *items])
    own = {id(item) for item in items}
    kept = [item for item in core if id(item) in own]
    outside = [item for item in core if id(item) not in own]
    dropped: set[int] = set()
    for item in reversed(kept.copy()):
        rest = [other for other in kept if other is not item]
        if entails([*outside, *rest], item):
            kept = rest
            dropped.add(id(item))
    return tuple([item for item in items if id(item) not in dropped])


def _entangled(items: Sequence[Constraint]) -> list[Constraint]:
    """The constraints without those that have a variable to themselves, again and again.

    Whatever the other variables are, such a constraint can be met: it neither follows from the rest nor adds to it.
    """
    inside = {at: variables_of(item.form) for at, item in enumerate(items)}
    users: dict[int, set[int]] = {}
    for at, variables in inside.items():
        for variable in variables:
            users.setdefault(variable, set()).add(at)
    pending = [variable for variable, at in users.items() if len(at) == 1]
    while pending:
        (at,) = users[pending.pop()] or {-1}
        for variable in inside.pop(at, ()):
            users[variable].discard(at)
            if len(users[variable]) == 1:
                pending.append(variable)
    return [items[at] for at in sorted(inside)]
