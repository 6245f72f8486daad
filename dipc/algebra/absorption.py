"""Weights of finite random choices, exactly: where a finite chain ends, and sums of many independent choices.

**Where a chain ends**: the weights of reaching its exits, strongly connected component by component.

What is reached from a component solves a linear system with the matrix I - P, where P are the weights inside. It is
eliminated state by state without fractions (Bareiss 1968): rows are multiplied by their common denominators, so that
all entries are in the ring, and stay there, as they are minors of the matrix: each row over the states it has passed
through, so that parts far from each other stay small. Only the solution is a quotient, reduced once. Inside a component
all weights are probabilities and each state can be left, which is checked: I - P is an M-matrix for every eps > 0, so
that its principal minors, the pivots and in the end the denominator, are positive there.

**Sums** of independent integers whose weights are closed forms come without the weight of every sum. A sum of many like
integers has few different factors Σ weight·u^value, each to a high power. The weight of all sums from some number on is
that of the pairs (i, j) with i + j >= number, for i from some factors and j from the others. The pairs are cut into
rectangles that lie inside, each a product of two sums: polynomials are multiplied as a whole, and few times.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from math import comb, lcm
from typing import Generic, TypeAlias, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, fraction_of, positive_divisor, simplest
from dipc.algebra.graph import in_topological_order
from dipc.algebra.limits import Limits, Meter
from dipc.frozen import frozen

S = TypeVar("S", bound=Hashable)

#: The successors of each state with their weights.
_Graph: TypeAlias = dict[S, dict[S, Closed]]

#: Steps of a `Meter` for each unit of `bulk`: both are about a hundred million in a second.
_STEPS = 100


class Trapped(Exception):
    """Some states can be reached but never left; `states` is such a set (a bottom component without exit)."""

    def __init__(self, states: frozenset[Hashable]) -> None:
        super().__init__("the chain can reach states that it never leaves")
        self.states = states


@frozen
class _Flow:
    """numerator / Π divisor^power, for positive divisors: what they have in common is divided out in the end, since
    that takes longer than all the rest.
    """

    numerator: ExpPoly
    powers: Mapping[ExpPoly, int]

    @classmethod
    def of(cls, value: Closed) -> _Flow:
        above, below = fraction_of(value)
        return cls(above, {} if below == 1 else {below: 1})


@dataclass(slots=True)
class Arithmetic:
    """Sums, products and quotients whose work is counted before it is done."""

    meter: Meter

    def plus(self, left: Closed, right: Closed) -> Closed:
        self._count(left, right)
        return left + right

    def joined(self, left: _Flow, right: _Flow) -> _Flow:
        """The sum."""
        powers = left.powers
        if left.powers != right.powers:
            powers = {d: max(left.powers.get(d, 0), right.powers.get(d, 0)) for d in {**left.powers, **right.powers}}
        return _Flow(self._over_all(left, powers) + self._over_all(right, powers), powers)

    def passed(self, flow: _Flow, weight: Closed) -> _Flow:
        """The product."""
        above, below = fraction_of(weight)
        powers = flow.powers if below == 1 else {**flow.powers, below: flow.powers.get(below, 0) + 1}
        return _Flow(self.product(flow.numerator, above), powers)

    def reduced(self, flow: _Flow) -> Closed:
        """The value, without a common divisor."""
        if not flow.powers:
            return flow.numerator
        return self.quotient(flow.numerator, self._over_all(_Flow(ExpPoly.ONE, {}), flow.powers))

    def _over_all(self, flow: _Flow, powers: Mapping[ExpPoly, int]) -> ExpPoly:
        """The numerator over higher powers of the divisors."""
        numerator = flow.numerator
        if flow.powers == powers:
            return numerator
        for divisor, power in powers.items():
            for _ in range(power - flow.powers.get(divisor, 0)):
                numerator = self.product(numerator, divisor)
        return numerator

    def minor(
        self,
        pivot: ExpPoly,
        kept: ExpPoly | None,
        entry: ExpPoly,
        crossing: ExpPoly | None,
        divisors: Iterable[ExpPoly],
    ) -> ExpPoly:
        """(pivot·kept + entry·crossing) over the product of the divisors, which is in the ring; None is 0."""
        total = ExpPoly.ZERO
        for left, right in ((pivot, kept), (entry, crossing)):
            if right is not None:
                total = total + self.product(left, right)
        return self._over(total, divisors)

    def brought(self, entry: ExpPoly, multipliers: Iterable[ExpPoly], divisors: Iterable[ExpPoly]) -> ExpPoly:
        """The entry times the product of the multipliers over that of the divisors, which is in the ring."""
        for multiplier in multipliers:
            entry = self.product(entry, multiplier)
        return self._over(entry, divisors)

    def product(self, left: ExpPoly, right: ExpPoly) -> ExpPoly:
        """In the ring."""
        self._count_ring(left, right)
        return left * right

    def _over(self, left: ExpPoly, divisors: Iterable[ExpPoly]) -> ExpPoly:
        for divisor in divisors:
            if divisor != 1:
                self._count_ring(left, divisor)
                left = left.exact_quotient(divisor)
        return left

    def quotient(self, left: ExpPoly, right: ExpPoly) -> Quotient:
        """left/right in lowest terms, for a `right` that is positive."""
        self._count(Quotient.of(left), right)
        return Quotient(left, right)

    def _count(self, left: Closed, right: Closed) -> None:
        if isinstance(left, Quotient) or isinstance(right, Quotient):
            a, b = Quotient.of(left), Quotient.of(right)
            self.meter.spend(self._bulk(a.numerator, a.denominator, b.numerator, b.denominator))
        else:
            self._count_ring(left, right)

    def _count_ring(self, left: ExpPoly, right: ExpPoly) -> None:
        steps = 4 * len(left) * len(right)
        # The bulk is at least the number of terms: it need not be found for what is short, or times something short.
        if steps > _STEPS * (len(left) + len(right)):
            steps = min(steps, self._bulk(left, right))
        self.meter.spend(_STEPS + steps)

    @staticmethod
    def _bulk(*polynomials: ExpPoly) -> int:
        unit = lcm(*[poly.unit for poly in polynomials])
        return _STEPS * sum(poly.bulk(unit) for poly in polynomials)


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
    arithmetic = Arithmetic(Meter(limit or Limits()))
    graph: _Graph[S] = {start: {}}
    stack = [start]
    while stack:
        s = stack.pop()
        out = graph[s]
        for t, weight in edges.get(s, ()) if s not in exits else ():
            out[t] = arithmetic.plus(out[t], weight) if t in out else weight
            if t not in graph:
                graph[t] = {}
                stack.append(t)
    reached: dict[S, _Flow] = {start: _Flow(ExpPoly.ONE, {})}
    for component in in_topological_order(graph, start):
        if len(component) == 1 and (s := next(iter(component))) not in graph[s]:
            if s in exits:
                continue
            if not graph[s]:
                raise Trapped(frozenset(component))
            flow = reached.pop(s)
            outflow = {t: arithmetic.passed(flow, weight) for t, weight in graph[s].items() if t not in ignored}
        else:
            entries = {s: arithmetic.reduced(reached.pop(s)) for s in component if s in reached}
            through = _through(graph, frozenset(component), entries, arithmetic, ignored)
            outflow = {t: _Flow.of(function) for t, function in through.items()}
        for t, flow_in in outflow.items():
            reached[t] = arithmetic.joined(reached[t], flow_in) if t in reached else flow_in
    return {s: arithmetic.reduced(flow) for s, flow in reached.items()}


@dataclass(slots=True)
class _Row(Generic[S]):
    """pivot·x = Σ weight·x[t] over `out`: where x, what is reached from a state, goes when the states eliminated so far
    are passed through. These are the minors of I - P, bordered by this row, over the `blocks`: those sets of eliminated
    states that the row has passed through, named by the state of each that was eliminated last.
    """

    pivot: ExpPoly
    out: dict[S | None, ExpPoly]
    blocks: set[S]

    @classmethod
    def of(cls, stay: Closed, leaving: Iterable[tuple[S | None, Closed]]) -> _Row[S]:
        """The row over the least common denominator, which is positive."""
        common, out = ExpPoly.ONE, dict(leaving)
        for value in (stay, *out.values()):
            _, below = fraction_of(value)
            shared = positive_divisor(below, common)
            common = common * (below if shared is None else below.exact_quotient(shared))
        return cls(_cleared(stay, common), {t: _cleared(weight, common) for t, weight in out.items()}, set())


@dataclass(slots=True)
class _Blocks(Generic[S]):
    """The eliminated states, in disjoint blocks, with the determinants of I - P over each.

    The row of a state passed through states of its own block only, before it was eliminated. So its pivot, divided by
    the determinants of the blocks it passed through, is the one that it has in any union of blocks, eliminated by
    itself; and the determinant over a union, which is the product of such pivots, is the product of the blocks'
    determinants. What a row holds, over the determinant of its blocks, is a Schur complement: times that determinant it
    is a minor (Schur), in the ring. Whatever the blocks are, all entries of a row have the same factor, which does not
    change its solution.
    """

    arithmetic: Arithmetic
    determinants: dict[S, ExpPoly]
    within: dict[S, S]
    """For each block that is part of a larger one, the name of one that it is part of."""

    def bring(self, row: _Row[S]) -> None:
        """Let the row pass through all of the blocks that it has passed through a part of."""
        now = {self._whole(name) for name in row.blocks}
        if now != row.blocks:
            more = [self.determinants[name] for name in now - row.blocks]
            less = [self.determinants[name] for name in row.blocks - now]
            row.pivot = self.arithmetic.brought(row.pivot, more, less)
            row.out = {t: self.arithmetic.brought(weight, more, less) for t, weight in row.out.items()}
            row.blocks = now

    def add(self, s: S, row: _Row[S]) -> None:
        """Eliminate the state s of this row: one block with all that the row has passed through."""
        self.determinants[s] = row.pivot
        self.within.update(dict.fromkeys(row.blocks, s))

    def _whole(self, name: S) -> S:
        while name in self.within:
            onward = self.within[name]
            self.within[name] = self.within.get(onward, onward)  # paths are halved, as for disjoint sets
            name = onward
        return name


def _cleared(value: Closed, common: ExpPoly) -> ExpPoly:
    """value·common, for a multiple of its denominator."""
    above, below = fraction_of(value)
    return above * (common if below == 1 else common.exact_quotient(below))


def _through(
    graph: _Graph[S],
    component: frozenset[S],
    entries: Mapping[S, Closed],
    arithmetic: Arithmetic,
    ignored: frozenset[S],
) -> dict[S, Closed]:
    """For each state just outside a component, the weight of all paths to it from `entries` with these weights."""
    if all(t in component for s in component for t in graph[s]):
        raise Trapped(component)
    #: The source of what enters is one state more, under None.
    rows: dict[S | None, _Row[S]] = {None: _Row.of(ExpPoly.ONE, entries.items())}
    into: dict[S, set[S | None]] = {s: {None} if s in entries else set() for s in component}
    for s in component:
        leaving = {t: weight for t, weight in graph[s].items() if t not in ignored}
        stay = ExpPoly.ONE - leaving.pop(s, ExpPoly.ZERO)
        rows[s] = _Row.of(stay, leaving.items())
        for t in graph[s]:
            if t in component and t != s:
                into[t].add(s)
    # The cheapest state first, of equal ones the one that changed last: so a walk is swept from its ends. What the
    # source leads to comes last, because else its row, which has passed through most, would change with every state.
    order = itertools.count(0, -1)

    def cost(s: S) -> tuple[bool, int]:
        return None in into[s], len(into[s]) * len(rows[s].out)

    waiting = [(cost(s), next(order), s) for s in component]
    heapify(waiting)
    blocks: _Blocks[S] = _Blocks(arithmetic, {}, {})
    while waiting:
        expected, _, s = heappop(waiting)
        if s not in rows or expected != cost(s):
            continue
        row = rows.pop(s)
        blocks.bring(row)
        for p in into[s]:
            above = rows[p]
            blocks.bring(above)
            # Sylvester's identity, over what both rows have passed through.
            divisors = [blocks.determinants[name] for name in above.blocks & row.blocks]
            entry = above.out.pop(s)
            back = row.out.get(p)
            above.pivot = arithmetic.minor(row.pivot, above.pivot, entry, None if back is None else -back, divisors)
            for goal in [*above.out, *(t for t in row.out if t not in above.out and t != p)]:
                above.out[goal] = arithmetic.minor(row.pivot, above.out.get(goal), entry, row.out.get(goal), divisors)
            above.blocks = (above.blocks - row.blocks) | {s}
        blocks.add(s, row)
        onward = [t for t in row.out if t is not None and t in component]
        for t in onward:
            into[t].discard(s)
            into[t].update(p for p in into[s] if p != t)
        for t in dict.fromkeys([*onward, *(p for p in into[s] if p is not None)]):
            heappush(waiting, (cost(t), next(order), t))
    source = rows[None]
    return {t: arithmetic.quotient(weight, source.pivot) for t, weight in source.out.items() if t is not None}


#: The values >= 0 of one integer with their weights, by increasing value.
Factor = tuple[tuple[int, Closed], ...]

#: Values with weights over a common denominator.
_Values = dict[int, ExpPoly]


class SumOfIncrements:
    """The sum of independent integers >= 0; of each factor there are as many as it is mapped to."""

    def __init__(self, factors: Mapping[Factor, int], limits: Limits) -> None:
        """Raises LimitReached where there are too many different ones."""
        self._arithmetic = Arithmetic(Meter(limits))
        self._denominator = ExpPoly.ONE
        powers: list[_Values] = [{0: ExpPoly.ONE}, {0: ExpPoly.ONE}]
        for factor, count in factors.items():
            common, values = _over_common(factor)
            self._denominator = self._denominator * common**count
            powers.append(self._power(values, count))
        powers.sort(key=len)
        first = powers[0]
        for more in powers[1:-1]:
            first = self._product(first, more)
        self._first, self._second = _tree(first), _tree(powers[-1])

    def weight(self, sums: Iterable[int]) -> Closed:
        """The total weight of these sums. Raises LimitReached."""
        total = ExpPoly.ZERO
        for low, high in _runs(sorted(sums)):
            if low == high:
                total = total + self._of(low)
            else:
                total = total + self._from(self._first, self._second, low)
                total = total - self._from(self._first, self._second, high + 1)
        self._arithmetic.meter.size(len(total))
        return simplest(self._arithmetic.quotient(total, self._denominator))

    def _of(self, number: int) -> ExpPoly:
        """The numerator of one sum."""
        others = self._second.values
        pairs = [(value, others[number - i]) for i, value in self._first.values.items() if number - i in others]
        return self._sum([self._arithmetic.product(left, right) for left, right in pairs])

    def _from(self, left: _Tree, right: _Tree, least: int) -> ExpPoly:
        """The numerator of all sums from `least` on."""
        if left.low + right.low >= least:
            return self._arithmetic.product(left.total, right.total)
        if left.high + right.high < least:
            return ExpPoly.ZERO
        if right.halves is not None and (left.halves is None or len(right.values) > len(left.values)):
            left, right = right, left
        assert left.halves is not None, "one pair is on one side"
        one, other = left.halves
        return self._from(one, right, least) + self._from(other, right, least)

    def _power(self, values: _Values, count: int) -> _Values:
        """The sum of this many integers with these weights."""
        if len(values) > 2:
            half = self._power(values, count // 2) if count > 1 else {0: ExpPoly.ONE}
            square = self._product(half, half)
            return self._product(square, values) if count % 2 else square
        (low, first), *rest = values.items()
        if not rest:
            return {low * count: first**count}
        ((high, second),) = rest
        falling, rising = self._powers(first, count), self._powers(second, count)
        return {
            low * (count - k) + high * k: self._arithmetic.product(falling[count - k], rising[k]) * comb(count, k)
            for k in range(count + 1)
        }

    def _powers(self, value: ExpPoly, count: int) -> list[ExpPoly]:
        powers = [ExpPoly.ONE]
        for _ in range(count):
            powers.append(self._arithmetic.product(powers[-1], value))
        return powers

    def _product(self, left: _Values, right: _Values) -> _Values:
        result: _Values = {}
        for i, first in left.items():
            for j, second in right.items():
                product = self._arithmetic.product(first, second)
                result[i + j] = result[i + j] + product if i + j in result else product
        return dict(sorted(result.items()))

    def _sum(self, summands: Sequence[ExpPoly]) -> ExpPoly:
        if len(summands) <= 1:
            return summands[0] if summands else ExpPoly.ZERO
        middle = len(summands) // 2
        return self._sum(summands[:middle]) + self._sum(summands[middle:])


@dataclass(frozen=True)
class _Tree:
    """Values by increasing number, and the two halves of several."""

    values: _Values
    halves: tuple[_Tree, _Tree] | None

    @property
    def low(self) -> int:
        return next(iter(self.values))

    @property
    def high(self) -> int:
        return next(reversed(self.values))

    @cached_property
    def total(self) -> ExpPoly:
        """The sum of all."""
        if self.halves is None:
            (value,) = self.values.values()
            return value
        one, other = self.halves
        return one.total + other.total


def _tree(values: _Values) -> _Tree:
    if len(values) == 1:
        return _Tree(values, None)
    items = list(values.items())
    middle = len(items) // 2
    return _Tree(values, (_tree(dict(items[:middle])), _tree(dict(items[middle:]))))


def _over_common(factor: Factor) -> tuple[ExpPoly, _Values]:
    """The weights over their least common denominator, which is positive, and that."""
    common = ExpPoly.ONE
    for _, weight in factor:
        _, below = fraction_of(weight)
        shared = positive_divisor(below, common)
        common = common * (below if shared is None else below.exact_quotient(shared))
    values: _Values = {}
    for value, weight in factor:
        above, below = fraction_of(weight)
        values[value] = above * common.exact_quotient(below)
    return common, values


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of numbers that follow each other."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
