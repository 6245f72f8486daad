"""Unions of polyhedra: whether some of them cover another one, and whether together they are one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dipc.linear.halfspace import Halfspace

#: Whether a system has no point that matters; what that is, and how many questions may be asked, is the caller's.
IsEmpty = Callable[[Sequence[Halfspace]], bool]


def is_covered(system: Sequence[Halfspace], parts: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> bool:
    """Whether no point of the system that matters is outside of all the parts.

    What is left of the system beside the first part falls into a piece for each of its inequalities: there it is the
    first one that does not hold.
    """
    if is_empty(system):
        return True
    if not parts:
        return False
    first, *others = parts
    inside = list(system)
    for item in first:
        if not is_covered([*inside, item.complement()], others, is_empty):
            return False
        inside.append(item)
    return True


def united(parts: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> tuple[Halfspace, ...] | None:
    """The union of the parts as one system, but for points that do not matter; None if it is not convex.

    A convex union satisfies every inequality that bounds it, and those are among the inequalities of the parts: so it
    is what satisfies all of these that hold on every part.
    """
    common = tuple(
        [
            item
            for item in dict.fromkeys(item for part in parts for item in part)
            if all(item in part or is_empty([*part, item.complement()]) for part in parts)
        ]
    )
    return common if is_covered(common, parts, is_empty) else None
