"""Where a finite chain ends: exact weights of reaching its exits, strongly connected component by component.

A component is removed state by state: a path through state s with self-loop weight w may go round any number of
times, so it carries the factor 1/(1 - w). Inside a component all weights are probabilities, so 1 - w stays positive
for every eps > 0 as long as s can be left, which is checked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, TypeVar

from dipc.algebra.effort import Meter
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed, Quotient

if TYPE_CHECKING:
    import networkx as nx

S = TypeVar("S", bound=Hashable)

#: Steps of a `Meter` for each unit of `bulk`: both are about a hundred million in a second.
_STEPS = 100


class Trapped(Exception):
    """Some states can be reached but never left; `states` is such a set (a bottom component without exit)."""

    def __init__(self, states: frozenset[Hashable]) -> None:
        super().__init__("the chain can be trapped")
        self.states = states


@dataclass(slots=True)
class _Arithmetic:
    """Sums, products and quotients whose work is counted before it is done."""

    meter: Meter

    def plus(self, left: Closed, right: Closed) -> Closed:
        self._count(left, right)
        return left + right

    def times(self, left: Closed, right: Closed) -> Closed:
        self._count(left, right)
        return left * right

    def over(self, left: Closed, right: Quotient) -> Quotient:
        """left/right, for a positive `right`."""
        self._count(left, right)
        return Quotient.of(left).over_positive(right)

    def _count(self, left: Closed, right: Closed) -> None:
        if isinstance(left, Quotient) or isinstance(right, Quotient):
            a, b = Quotient.of(left), Quotient.of(right)
            parts = (a.numerator, a.denominator, b.numerator, b.denominator)
            unit = lcm(*[part.unit for part in parts])
            self.meter.spend(_STEPS * sum(part.bulk(unit) for part in parts))
        else:
            self.meter.spend(_STEPS + 4 * len(left) * len(right))


def absorption_weights(
    edges: Mapping[S, Iterable[tuple[S, Closed]]],
    start: S,
    exits: frozenset[S],
    limit: Limits | None = None,
    ignored: frozenset[S] = frozenset(),
) -> dict[S, Closed]:
    """For each exit that can be reached, the total weight of all paths from `start` to it, exactly; without those of
    `ignored`, which take the paths that do not matter.

    `edges[s]` lists successors with weights that are positive for every eps > 0; several edges to one state add up.
    Within each strongly connected component the weights leaving a state inside it must sum to at most 1. Raises
    Trapped if a component without an exit can be reached, LimitReached if that takes more work than the limit allows.
    """
    import networkx as nx

    arithmetic = _Arithmetic(Meter(limit or Limits()))
    graph: nx.DiGraph[S] = nx.DiGraph()
    graph.add_node(start)
    stack, seen = [start], {start}
    while stack:
        s = stack.pop()
        for t, weight in edges.get(s, ()) if s not in exits else ():
            known = graph.edges[s, t]["weight"] if graph.has_edge(s, t) else None
            graph.add_edge(s, t, weight=weight if known is None else arithmetic.plus(known, weight))
            if t not in seen:
                seen.add(t)
                stack.append(t)
    reached: dict[S, Closed] = {start: ExpPoly.one()}
    components = list(nx.strongly_connected_components(graph))
    for component in reversed(components):  # in topological order: successors are found first
        if len(component) == 1 and not graph.has_edge(s := next(iter(component)), s):
            if s in exits:
                continue
            if not graph.out_degree(s):
                raise Trapped(frozenset(component))
            weights = {(s, t): graph.edges[s, t]["weight"] for t in graph.successors(s) if t not in ignored}
            flow = {s: reached.pop(s)}
        else:
            flow = {s: reached.pop(s) for s in component if s in reached}
            weights = _through(graph, frozenset(component), frozenset(flow), arithmetic, ignored)
        for (s, t), weight in weights.items():
            if s in flow:
                part = arithmetic.times(flow[s], weight)
                reached[t] = arithmetic.plus(reached[t], part) if t in reached else part
    return reached


def _through(
    graph: nx.DiGraph[S],
    component: frozenset[S],
    entries: frozenset[S],
    arithmetic: _Arithmetic,
    ignored: frozenset[S],
) -> dict[tuple[S, S], Closed]:
    """For each entry of a component and each state just outside it, the weight of all paths from one to the other."""
    out: dict[S, dict[S, Closed]] = {s: {} for s in component}
    into: dict[S, set[S]] = {s: set() for s in component}
    for s in component:
        for t in graph.successors(s):
            out[s][t] = graph.edges[s, t]["weight"]
            if t in component:
                into[t].add(s)
    if all(t in component for s in component for t in out[s]):
        raise Trapped(component)
    out = {s: {t: weight for t, weight in row.items() if t not in ignored} for s, row in out.items()}
    # The source of each entry is a copy of it, so that the entry itself may be removed like the others.
    sources: dict[S, dict[S, Closed]] = {s: {s: ExpPoly.one()} for s in entries}
    fed: dict[S, set[S]] = {s: {s} if s in entries else set() for s in component}
    waiting = set(component)
    while waiting:
        s = min(waiting, key=lambda s: (len(into[s]) + len(fed[s])) * len(out[s]))
        waiting.discard(s)
        row = out.pop(s)
        loop = row.pop(s, None)
        into[s].discard(s)
        if loop is not None:
            stay = Quotient.of(1 - loop)
            row = {t: arithmetic.over(weight, stay) for t, weight in row.items()}
        for t in row:
            if t in component:
                into[t].discard(s)
        for holder, keys in ((out, into[s]), (sources, fed[s])):
            for p in keys:
                onward = holder[p].pop(s)
                for t, weight in row.items():
                    part = arithmetic.times(onward, weight)
                    holder[p][t] = arithmetic.plus(holder[p][t], part) if t in holder[p] else part
                    if t in component:
                        (into if holder is out else fed)[t].add(p)
    return {(s, t): weight for s, targets in sources.items() for t, weight in targets.items()}
