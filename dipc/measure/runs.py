"""Measure the runs to one answer, given as a graph, by passing messages along it.

**Lemma.** Let the runs be paths of a graph without cycles whose steps are conjunctions, so that almost surely at most
one path holds. Let x(v) be the one noise that both a step before the node v and a step after v mention, if there is
such a noise. Let F_v(x) be the probability, given x(v) = x, that all steps of some path from v to the end hold. Then
F_u is a sum over the steps from u to v: of the integral of F_v, where the step holds, over all noises of the step but
x(u).

*Proof.* A step from u to v mentions x(u), x(v) and noises that no step before u and none after v mentions. Given x(u)
and x(v), the step does not depend on later steps. ∎

The measure of all runs together is F at the start. It takes as many integrals as there are steps, for any number of
paths, and fewer where nodes have the same future. For example, the future of a maximum depends on its value alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Generic, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, total
from dipc.algebra.graph import spanning_forest
from dipc.algebra.limits import Limits, Meter, OutsideFragment
from dipc.measure.event import Event, RunGraph, RunStep
from dipc.measure.forest import ORIGIN, EventShape, event_shape, product_of
from dipc.measure.lattice import LatticePiecewise
from dipc.measure.pieces import ONE_PIECE, Piece, Piecewise

_Function = TypeVar("_Function", "Piecewise[Piece]", LatticePiecewise)

#: The range of Z_i - Z_j by (i, j).
_Links = dict[tuple[int, int], tuple[int | None, int | None]]


def run_measure(graph: RunGraph, limits: Limits) -> Closed:
    """Return the exact probability, for every eps > 0, that all conditions of some path through `graph` hold.

    Raises OutsideFragment unless all noises are Laplace or all are discrete Laplace. Raises OutsideFragment also for a
    step that compares noises in a cycle, or has a condition that does not bound one noise or one difference. Raises
    LimitReached if the work exceeds `limits`.
    """
    shape = event_shape(Event(graph.noises, graph.conditions))
    if shape.whole:
        return _Passing(graph, shape, LatticePiecewise, Meter(limits)).measure()
    return _Passing(graph, shape, Piecewise, Meter(limits)).measure()


def require_measured(graph: RunGraph) -> None:
    """Raise OutsideFragment if `run_measure` cannot measure `graph`, whatever its constants are."""
    shape = event_shape(Event(graph.noises, graph.conditions))
    for step in graph.steps:
        rows = [row for number in step.conditions if (row := shape.rows[number]) is not None]
        pairs = dict.fromkeys(pair for i, j, _ in rows if ORIGIN not in (i, j) for pair in ((i, j), (j, i)))
        noises = [graph.live[step.goal], graph.live[step.source], *(noise for pair in pairs for noise in pair)]
        _parents(list(dict.fromkeys(noise for noise in noises if noise is not None)), list(pairs))


#: The future of a node without the name of its live noise. Nodes with equal futures have equal functions F.
_Future = tuple[object, ...]


class _Passing(Generic[_Function]):
    """Computes the probability of a run graph, node by node from its end back to its start.

    The live noise of a node is the one noise that steps before the node and steps after it both mention; a node may
    have none. For each node a function F of its live noise is computed: the probability that a run from the node to the
    end satisfies its conditions. Functions for nodes with the same future are computed once.

    Noises and conditions are rescaled so that rates, means and bounds are integers. The probability of the graph at eps
    is that of the rescaled noises and conditions at `_stretch`·eps. `_rows` has one item for each condition: (i, j, w)
    means Z_i - Z_j >= w; None marks a condition without noises.
    """

    def __init__(self, graph: RunGraph, shape: EventShape, kind: type[_Function], meter: Meter) -> None:
        means, rows, unit = shape.lengths(Event(graph.noises, graph.conditions))
        below = lcm(*[rate.denominator for rate in shape.rates])
        # Without noises there are no rates, and their greatest common divisor is 0.
        rate_unit = Fraction(gcd(*[int(rate * below) for rate in shape.rates]) or 1, below)
        length = 1 if shape.whole else gcd(*means, *[row[2] for row in rows if row is not None]) or 1
        self._rates = [int(rate / rate_unit) for rate in shape.rates]
        self._means = [mean // length for mean in means]
        self._rows = [None if row is None else (row[0], row[1], row[2] // length) for row in rows]
        self._stretch = rate_unit if unit is None else rate_unit * unit * length
        self._whole = shape.whole
        self._live = graph.live
        self._kind: type[_Function] = kind
        self._meter = meter
        self._after: dict[int, list[RunStep]] = {}
        for step in graph.steps:
            self._after.setdefault(step.source, []).append(step)
        self._names: dict[_Future, int] = {}
        self._functions: dict[int, _Function] = {}
        self._numbers: dict[int, Closed] = {}

    def measure(self) -> Closed:
        """Return the probability that all conditions on some path from the graph's start to its end are satisfied.

        At a node without a live noise, the probability of all later steps is a number. So the graph is cut at these
        nodes, and the computation starts anew at each.
        """
        end = len(self._live) - 1
        reached: dict[int, list[Closed]] = {end: [ExpPoly.ONE]}
        for goal in range(end, 0, -1):
            if self._live[goal] is None and goal in reached:
                share = total(reached[goal])
                for node, measured in self._measures_to(goal).items():
                    reached.setdefault(node, []).append(measured * share)
        return total(reached.get(0, [])).scaled(self._stretch)

    def _measures_to(self, end: int) -> Mapping[int, Closed]:
        """Return a mapping from each node without a live noise to the probability of the paths from it to `end`.

        `end` has no live noise. A path is counted only if all nodes between its first and its last have a live noise.
        """
        names: dict[int, int] = {}
        numbers: dict[int, Closed] = {}
        for node in range(end - 1, -1, -1):
            noise = self._live[node]
            every = [step for step in self._after.get(node, ()) if step.goal == end or step.goal in names]
            steps = [(step, links) for step in every if (links := self._links(step)) is not None]
            if not steps:
                continue
            future: _Future = tuple(sorted(self._future(step, links, names.get(step.goal)) for step, links in steps))
            name = self._names.setdefault((noise is None, *future), len(self._names))
            if noise is not None:
                names[node] = name
            if name in self._functions or name in self._numbers:
                pass
            elif noise is None:
                self._numbers[name] = total(
                    [
                        self._passed(step, links, names).integral(self._meter)
                        if links or self._live[step.goal] is not None
                        else ExpPoly.ONE
                        for step, links in steps
                    ]
                )
            else:
                function = self._passed(*steps[0], names)
                for step, links in steps[1:]:
                    function = function.plus(self._passed(step, links, names), self._meter)
                self._functions[name] = function
            if noise is None:
                numbers[node] = self._numbers[name]
        return numbers

    def _future(self, step: RunStep, links: _Links, goal: int | None) -> _Future:
        """Return a key for `step` that determines the probability of this step and all later steps.

        The key does not name the noise that is live before the step. `links` has the ranges that the step requires of
        differences of noises. `goal` is the number of the function of the node after the step, or None if this node has
        no live noise.
        """
        own = self._live[step.source]

        def named(noise: int | None) -> int:
            return -3 if noise is None else -2 if noise == own else noise

        ranges = [
            (named(i), named(j), low is not None, low or 0, high is not None, high or 0)
            for (i, j), (low, high) in links.items()
        ]
        return tuple(sorted(ranges)), -1 if goal is None else goal, named(self._live[step.goal])

    def _passed(self, step: RunStep, links: _Links, names: Mapping[int, int]) -> _Function:
        """Return the probability of `step` and all later steps, as a function of the noise that is live before `step`.

        If no noise is live before the step, the probability is the integral of the result. `links` has the ranges that
        the step requires of differences of noises. `names` has, for each later node, the number of its function.
        """
        source, goal = self._live[step.source], self._live[step.goal]
        live: list[int] = [noise for noise in (source, goal) if noise is not None]
        noises = dict.fromkeys([*live, *(noise for pair in links for noise in pair if noise != ORIGIN)])
        parents = _parents(list(noises), [pair for pair in links if ORIGIN not in pair])
        factors: dict[int, list[_Function]] = {noise: [] for noise in parents}
        for noise, parent in reversed(parents.items()):
            if noise == goal:
                factors[noise].append(self._functions[names[step.goal]])
            if noise != source:
                factors[noise].append(self._kind.laplace(self._rates[noise], self._means[noise]))
            product = product_of(factors[noise] or [self._kind.constant(ONE_PIECE)], self._meter)
            product = product.restricted(*links.get((noise, ORIGIN), (None, None)))
            if parent is None:
                return product
            # A factor that is independent of the other noises becomes a constant function.
            factors[parent].append(product.window_integral(*links.get((noise, parent), (None, None)), self._meter))
        raise AssertionError("the first noise has none above it")

    def _links(self, step: RunStep) -> _Links | None:
        """Return the range (low, high) that `step` requires of each difference Z_i - Z_j, by (i, j).

        None in a range is infinite. Return None instead if some range has probability 0.
        """
        links: _Links = {}
        for number in step.conditions:
            row = self._rows[number]
            if row is None:
                continue
            i, j, least = row
            # Z_i - Z_j >= least is Z_j - Z_i <= -least.
            for pair, low, high in (((i, j), least, None), ((j, i), None, -least)):
                if pair[0] != ORIGIN:
                    known = links.get(pair, (None, None))
                    links[pair] = (
                        low if known[0] is None else known[0] if low is None else max(low, known[0]),
                        high if known[1] is None else known[1] if high is None else min(high, known[1]),
                    )
        for low, high in links.values():
            if low is not None and high is not None and low + (not self._whole) > high:
                return None
        return links


def _parents(noises: Sequence[int], ties: Sequence[tuple[int, int]]) -> dict[int, int | None]:
    """Return the parent of each of `noises`, each parent before its children.

    `ties` has the pairs of noises that are compared, each in both orders. The parent of a noise is one that it is
    compared with. If no earlier noise is compared with it, its parent is the first noise, whose own parent is None.
    Raises OutsideFragment for comparisons in a cycle.
    """
    adjacent: dict[int, list[int]] = {noise: [] for noise in noises}
    for i, j in ties:
        adjacent[i].append(j)
    parents = spanning_forest(noises, adjacent)
    roots = [noise for noise, parent in parents.items() if parent is None]
    if len(ties) != 2 * (len(noises) - len(roots)):
        raise OutsideFragment("the comparisons of noises in one step of a run form a cycle")
    return parents | dict.fromkeys(roots[1:], next(iter(roots), None))
