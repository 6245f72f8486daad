"""Convex pieces of a class of inputs on which it is settled which exits of the program can be taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dipc.algebra.limits import LimitReached
from dipc.chain.constraints import Constraint
from dipc.chain.entailment import contradict, entails
from dipc.sources.every_input.exits import CenteredExit


@dataclass(frozen=True, slots=True)
class ConvexPiece:
    """The inputs of a region that satisfy `guards` as well, where `exits` are those that can be taken."""

    guards: tuple[Constraint, ...]
    exits: tuple[CenteredExit, ...]


def pieces(region: Sequence[Constraint], exits: Sequence[CenteredExit], most: int) -> tuple[ConvexPiece, ...]:
    """The region cut along the comparisons of inputs that the program makes on its own, as far as it has to be.

    The pieces cover the region. On each the probability of the answer is at least the sum over its exits, and exactly
    that sum wherever their guards are decided exactly (a guard that is not found to be excluded is split on).
    Raises LimitReached for more than `most`.
    """
    found: list[ConvexPiece] = []
    pending: list[tuple[Constraint, ...]] = [()]
    while pending:
        extra = pending.pop()
        known = [*region, *extra]
        if contradict(known):
            continue
        open_guard: Constraint | None = None
        taken: list[CenteredExit] = []
        for candidate in exits:
            status = _status(known, candidate.guards)
            if status is True:
                taken.append(candidate)
            elif isinstance(status, Constraint):
                open_guard = status
                break
        if open_guard is None:
            found.append(ConvexPiece(extra, tuple(taken)))
        else:
            pending += [(*extra, open_guard.negation), (*extra, open_guard)]
        if len(found) + len(pending) > most:
            raise LimitReached(
                "pieces", f"the program's comparisons of inputs cut a region into more than {most} pieces"
            )
    return tuple(found)


def _status(known: Sequence[Constraint], guards: Sequence[Constraint]) -> bool | Constraint:
    """True where all guards hold on the whole piece, False where they exclude it, else a guard that is open."""
    if contradict([*known, *guards]):
        return False
    for guard in guards:
        if not entails(known, guard):
            return guard
    return True
