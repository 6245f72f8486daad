"""Where the paths of a growing chain end, below a state."""

from __future__ import annotations

from dipc.chain.transitions import Transitions

#: The leaves below so many states are kept at once.
_MOST_KEPT = 100


class Leaves:
    """The states without successors of a chain that grows there only, and where one may take the place of others.

    What was found below a state is kept: later leaves are looked for from there, so that a chain with one state through
    which everything leads is not searched anew for each group of paths.
    """

    def __init__(self, transitions: Transitions) -> None:
        self._transitions = transitions
        self._kept: dict[int, list[int]] = {}
        self._instead: dict[int, int] = {}

    def replace(self, leaf: int, whole: int) -> None:
        """`leaf` is taken out, and what led to it leads to `whole` now."""
        self._instead[leaf] = whole

    def below(self, above: int) -> list[int]:
        """The states without successors that can be reached from `above`."""
        found: list[int] = []
        seen: set[int] = set()
        pending = self._kept.get(above, [above])
        while pending:
            further: list[int] = []
            for node in map(self._current, pending):
                if node in seen:
                    continue
                seen.add(node)
                successors = self._transitions.successors(node)
                if successors:
                    further += successors
                else:
                    found.append(node)
            pending = further
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[above] = found
        return found

    def _current(self, node: int) -> int:
        while node in self._instead:
            node = self._instead[node]
        return node
