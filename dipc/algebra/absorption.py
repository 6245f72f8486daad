"""Exact weights of finite random choices: where a finite chain ends, and sums of many independent choices.

**Where a chain ends**: the weights of its exits are found strongly connected component by component.

Let P be the matrix of the weights inside a component. The weights of the states that the component leads to solve a
linear system with the matrix I - P. The system is eliminated state by state without fractions (Bareiss 1968): each row
is multiplied by its common denominator, and its entries are minors of the matrix, so they are elements of the ring. The
minors in a row are taken over those eliminated states alone that the row has depended on, so they are short. Only the
solution is a quotient, reduced once.

Inside a component all weights are probabilities and each state can be left; this is checked. Hence I - P is an M-matrix
for every eps > 0: its principal minors, the pivots and the final denominator, are positive.

**Sums**: the total weight of some values of a sum of independent integers is computed without the weight of each value.
A sum of many like integers has few different factors Σ weight·u^value, each to a high power. The weight of all sums >=
n is the weight of the pairs (i, j) with i + j >= n, where i comes from one group of factors and j from the other. The
pairs are cut into rectangles, each a product of two sums, so few large polynomials are multiplied.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from math import comb, lcm
from typing import Generic, TypeAlias, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, fraction_of, positive_divisor, simplest, sum_of
from dipc.algebra.graph import in_topological_order
from dipc.algebra.limits import Limits, Meter
from dipc.frozen import frozen

S = TypeVar("S", bound=Hashable)

#: The successors of each state with their weights.
_Graph: TypeAlias = dict[S, dict[S, Closed]]

#: Steps of a `Meter` for each unit of `bulk`; a second has about a hundred million of either.
_STEPS = 100


class Trapped(Exception):
    """Raised if a chain can reach a set of states that it never leaves again; `states` is that set."""

    def __init__(self, states: frozenset[Hashable]) -> None:
        super().__init__("the chain can reach states that it never leaves")
        self.states = states


@frozen
class _Flow:
    """The weight of all paths into a state, as the quotient `numerator` / Π d^`powers`[d], not in lowest terms.

    The product runs over the functions d in `powers`, each of which is positive for every eps > 0. Common factors are
    divided out once, at the end, since a division costs more than all other steps.
    """

    numerator: ExpPoly
    powers: Mapping[ExpPoly, int]

    @classmethod
    def from_closed(cls, value: Closed) -> _Flow:
        above, below = fraction_of(value)
        return cls(above, {} if below == 1 else {below: 1})


@dataclass(slots=True)
class Arithmetic:
    """Sums, products and quotients of exponential polynomials, each counted by `meter` before it is computed.

    Every method raises LimitReached if the counted work exceeds the limits of `meter`.
    """

    meter: Meter

    def add(self, left: Closed, right: Closed) -> Closed:
        self._count(left, right)
        return left + right

    def add_flows(self, left: _Flow, right: _Flow) -> _Flow:
        powers = left.powers
        if left.powers != right.powers:
            powers = {d: max(left.powers.get(d, 0), right.powers.get(d, 0)) for d in {**left.powers, **right.powers}}
        return _Flow(self._numerator_over(left, powers) + self._numerator_over(right, powers), powers)

    def multiply_flow(self, flow: _Flow, weight: Closed) -> _Flow:
        above, below = fraction_of(weight)
        powers = flow.powers if below == 1 else {**flow.powers, below: flow.powers.get(below, 0) + 1}
        return _Flow(self.product(flow.numerator, above), powers)

    def value(self, flow: _Flow) -> Closed:
        """Return the weight `flow` as one quotient in lowest terms.

        A flow is a numerator over a product of powers of functions.
        """
        if not flow.powers:
            return flow.numerator
        return self.quotient(flow.numerator, self._numerator_over(_Flow(ExpPoly.ONE, {}), flow.powers))

    def _numerator_over(self, flow: _Flow, powers: Mapping[ExpPoly, int]) -> ExpPoly:
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
        """The exponential polynomial (`pivot`·`kept` + `entry`·`crossing`) / Π `divisors`.

        A `kept` or `crossing` of None is 0. The caller guarantees that the division leaves no remainder.
        """
        total = ExpPoly.ZERO
        for left, right in ((pivot, kept), (entry, crossing)):
            if right is not None:
                total = total + self.product(left, right)
        return self._divide_exactly(total, divisors)

    def rescale(self, entry: ExpPoly, multipliers: Iterable[ExpPoly], divisors: Iterable[ExpPoly]) -> ExpPoly:
        """The exponential polynomial `entry` · Π `multipliers` / Π `divisors`.

        The caller guarantees that the division leaves no remainder.
        """
        for multiplier in multipliers:
            entry = self.product(entry, multiplier)
        return self._divide_exactly(entry, divisors)

    def product(self, left: ExpPoly, right: ExpPoly) -> ExpPoly:
        self._count_ring(left, right)
        return left * right

    def _divide_exactly(self, left: ExpPoly, divisors: Iterable[ExpPoly]) -> ExpPoly:
        for divisor in divisors:
            if divisor != 1:
                self._count_ring(left, divisor)
                left = left.exact_quotient(divisor)
        return left

    def quotient(self, left: ExpPoly, right: ExpPoly) -> Quotient:
        """The quotient `left` / `right`, reduced as `Quotient` does; `right` must be positive for every eps > 0."""
        self._count(Quotient.convert(left), right)
        return Quotient(left, right)

    def _count(self, left: Closed, right: Closed) -> None:
        if isinstance(left, Quotient) or isinstance(right, Quotient):
            a, b = Quotient.convert(left), Quotient.convert(right)
            self.meter.spend(self._bulk(a.numerator, a.denominator, b.numerator, b.denominator))
        else:
            self._count_ring(left, right)

    def _count_ring(self, left: ExpPoly, right: ExpPoly) -> None:
        steps = 4 * len(left) * len(right)
        # The bulk is at least the number of terms, so it need not be computed where one factor is short.
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
    """Return a mapping from each reachable state of `exits` to the total weight of all paths to it from `start`.

    `edges[s]` lists the successors of state s, each with a weight that is positive for every eps > 0. Several edges
    from s to one state add up. The weights of the edges from s within its strongly connected component must sum to at
    most 1. A path ends at the first exit or state of `ignored`; states of `ignored` have no entry in the result.

    Raises Trapped if a component without an exit can be reached, LimitReached if the work exceeds `limit`.
    """
    arithmetic = Arithmetic(Meter(limit or Limits()))
    graph: _Graph[S] = {start: {}}
    stack = [start]
    while stack:
        s = stack.pop()
        out = graph[s]
        for t, weight in edges.get(s, ()) if s not in exits else ():
            out[t] = arithmetic.add(out[t], weight) if t in out else weight
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
            outflow = {t: arithmetic.multiply_flow(flow, weight) for t, weight in graph[s].items() if t not in ignored}
        else:
            entries = {s: arithmetic.value(reached.pop(s)) for s in component if s in reached}
            through = _eliminate(graph, frozenset(component), entries, arithmetic, ignored)
            outflow = {t: _Flow.from_closed(function) for t, function in through.items()}
        for t, flow_in in outflow.items():
            reached[t] = arithmetic.add_flows(reached[t], flow_in) if t in reached else flow_in
    return {s: arithmetic.value(flow) for s, flow in reached.items()}


@dataclass(slots=True)
class _Equation(Generic[S]):
    """The equation `pivot`·x = Σ `out`[t]·x[t] for the weight x of all paths from a state s to one exit.

    Here s is a state of a component that is not eliminated yet, or None for the source, an additional state that leads
    to the component's entries. The sum runs over states t that are not eliminated; x[t] is the weight of all paths from
    t to the exit.

    Eliminating a state replaces its x[t] in all other equations, by means of its own equation. The eliminated states
    form blocks, and the name of a block is the state that was eliminated last. `blocks` has the names of the blocks
    whose states were replaced in this equation. Let P be the matrix of the weights of single steps. Then `pivot` and
    the entries of `out` are, up to their signs, minors of I - P whose rows are those of s and of the states of the
    blocks.
    """

    pivot: ExpPoly
    out: dict[S | None, ExpPoly]
    blocks: set[S]

    @classmethod
    def over_common_denominator(cls, stay: Closed, leaving: Iterable[tuple[S | None, Closed]]) -> _Equation[S]:
        """The equation `stay`·x = Σ weight·x[t] over the pairs (t, weight) of `leaving`, without denominators.

        `stay` is 1 minus the weight with which a state leads to itself, and `leaving` has each other successor with its
        weight. The equation is multiplied by the common denominator of these weights.
        """
        out = dict(leaving)
        common = _common_denominator([stay, *out.values()])
        return cls(
            _numerator_over(stay, common), {t: _numerator_over(weight, common) for t, weight in out.items()}, set()
        )


@dataclass(slots=True)
class _Blocks(Generic[S]):
    """The eliminated states in disjoint blocks, each with the determinant of I - P over its states.

    P is the matrix of the weights of single steps, as in `_Equation`. `determinants` has the determinant of each block
    by the name of the block. `parents` maps the name of each block that became part of a larger block to the name of a
    larger one. `arithmetic` multiplies and divides within the limits.

    Lemma: the determinant over a union of blocks is the product of their determinants. Before a state was eliminated,
    its equation contained steps through eliminated states of some blocks only. Its pivot, divided by the determinants
    of these blocks, is its pivot in any union of blocks; and the determinant of a union is the product of such pivots.

    Consequence: an entry of an equation, divided by the determinant of the equation's blocks, is an entry of a Schur
    complement. The entry itself is therefore a minor, which is an exponential polynomial. All entries of an equation
    have the same factor, so the solution does not depend on the choice of blocks.
    """

    arithmetic: Arithmetic
    determinants: dict[S, ExpPoly]
    parents: dict[S, S]
    """The name of a larger block by the name of each block that is part of one."""

    def align(self, row: _Equation[S]) -> None:
        """Rewrite the equation `row` after some of its blocks have become part of larger blocks.

        The entries of `row` are multiplied by the determinants of the larger blocks, and divided by those of the blocks
        inside them. Afterwards its `blocks` are the larger blocks, and its entries are minors by the lemma of
        `_Blocks`.
        """
        now = {self._root(name) for name in row.blocks}
        if now != row.blocks:
            more = [self.determinants[name] for name in now - row.blocks]
            less = [self.determinants[name] for name in row.blocks - now]
            row.pivot = self.arithmetic.rescale(row.pivot, more, less)
            row.out = {t: self.arithmetic.rescale(weight, more, less) for t, weight in row.out.items()}
            row.blocks = now

    def add(self, s: S, row: _Equation[S]) -> None:
        """Record that the state `s` was eliminated by its equation `row`.

        The state and the blocks of `row` become one block with the name `s`.
        """
        self.determinants[s] = row.pivot
        self.parents.update(dict.fromkeys(row.blocks, s))

    def _root(self, name: S) -> S:
        while name in self.parents:
            onward = self.parents[name]
            self.parents[name] = self.parents.get(onward, onward)  # paths are halved, as for disjoint sets
            name = onward
        return name


def _common_denominator(values: Iterable[Closed]) -> ExpPoly:
    common = ExpPoly.ONE
    for value in values:
        _, below = fraction_of(value)
        shared = positive_divisor(below, common)
        common = common * (below if shared is None else below.exact_quotient(shared))
    return common


def _numerator_over(value: Closed, common: ExpPoly) -> ExpPoly:
    above, below = fraction_of(value)
    return above * (common if below == 1 else common.exact_quotient(below))


def _eliminate(
    graph: _Graph[S],
    component: frozenset[S],
    entries: Mapping[S, Closed],
    arithmetic: Arithmetic,
    ignored: frozenset[S],
) -> dict[S, Closed]:
    """Return a mapping from states outside `component` to the total weight of the paths through it that end there.

    `component` is strongly connected. `graph` has the weights of single steps. `entries` has, for states of the
    component, the weight of the paths that enter the component there. Paths that end in a state of `ignored` are left
    out. `arithmetic` multiplies and divides within the limits.
    """
    if all(t in component for s in component for t in graph[s]):
        raise Trapped(component)
    #: None is the source, an additional state that leads to the entries.
    rows: dict[S | None, _Equation[S]] = {None: _Equation.over_common_denominator(ExpPoly.ONE, entries.items())}
    into: dict[S, set[S | None]] = {s: {None} if s in entries else set() for s in component}
    for s in component:
        leaving = {t: weight for t, weight in graph[s].items() if t not in ignored}
        stay = ExpPoly.ONE - leaving.pop(s, ExpPoly.ZERO)
        rows[s] = _Equation.over_common_denominator(stay, leaving.items())
        for t in graph[s]:
            if t in component and t != s:
                into[t].add(s)
    # Eliminate the cheapest state first; among equal ones the state that changed last, which sweeps a walk from its
    # ends. Successors of the source come last: its row has passed through most, and would otherwise change with every
    # state.
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
        blocks.align(row)
        for p in into[s]:
            above = rows[p]
            blocks.align(above)
            # Sylvester's identity, over the blocks that both rows have passed through.
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
    """The distribution of a sum of independent random integers >= 0."""

    def __init__(self, factors: Mapping[Factor, int], limits: Limits) -> None:
        """Multiply out the distributions of the summands; `factors` has the number of summands of each distribution.

        A distribution is given as pairs (value, probability). Raises LimitReached if the work exceeds `limits`; many
        different distributions take much work.
        """
        self._arithmetic = Arithmetic(Meter(limits))
        self._denominator = ExpPoly.ONE
        powers: list[_Values] = [{0: ExpPoly.ONE}, {0: ExpPoly.ONE}]
        for factor, count in factors.items():
            common = _common_denominator([weight for _, weight in factor])
            self._denominator = self._denominator * common**count
            numerators = {value: _numerator_over(weight, common) for value, weight in factor}
            powers.append(self._power(numerators, count))
        powers.sort(key=len)
        first = powers[0]
        for more in powers[1:-1]:
            first = self._product(first, more)
        self._first, self._second = _tree(first), _tree(powers[-1])

    def weight(self, sums: Iterable[int]) -> Closed:
        """The probability that the sum is one of `sums`. Raises LimitReached."""
        total = ExpPoly.ZERO
        for low, high in _runs(sorted(sums)):
            if low == high:
                first, second = self._first.values, self._second.values
                pairs = [(value, second[low - i]) for i, value in first.items() if low - i in second]
                total = total + sum_of([self._arithmetic.product(left, right) for left, right in pairs])
            else:
                total = total + self._upper_tail(self._first, self._second, low)
                total = total - self._upper_tail(self._first, self._second, high + 1)
        self._arithmetic.meter.size(len(total))
        return simplest(self._arithmetic.quotient(total, self._denominator))

    def _upper_tail(self, left: _Tree, right: _Tree, least: int) -> ExpPoly:
        """Return the numerator of the probability that x + y is at least `least`.

        The random integers x and y are independent; `left` has the values of x and the numerators of their
        probabilities, and `right` those of y. The denominator is left out, because it is the same for all values of x +
        y.
        """
        if left.low + right.low >= least:
            return self._arithmetic.product(left.total, right.total)
        if left.high + right.high < least:
            return ExpPoly.ZERO
        if right.halves is not None and (left.halves is None or len(right.values) > len(left.values)):
            left, right = right, left
        assert left.halves is not None, "a half with several values has halves"
        one, other = left.halves
        return self._upper_tail(one, right, least) + self._upper_tail(other, right, least)

    def _power(self, values: _Values, count: int) -> _Values:
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


@dataclass(frozen=True)
class _Tree:
    """A range of values of a random integer, where `values` maps each value to the numerator of its probability.

    The values increase. `halves` are the lower and the upper half of the range; None for a single value.
    """

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


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
