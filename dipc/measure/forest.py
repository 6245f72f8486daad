"""The measure of a tree of difference constraints by message passing from the leaves.

The message of a noise to its parent is, as a function of the parent's value, the measure of everything below it: one
integral, or one sum over integers, of a one-variable piecewise function. The cost is polynomial in the number of noises
wherever the closed form itself is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import flint

from dipc.algebra.effort import Meter
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.measure.canonical import CanonicalTree, TreeKey
from dipc.measure.lattice_pieces import LatticePiecewise
from dipc.measure.pieces import Piecewise, integral_of_product
from dipc.measure.series_pieces import SeriesPiecewise, SeriesRing, integral_of_series

#: Functions on the reals, on the integers, or on the reals near one eps.
_Function = TypeVar("_Function", Piecewise, LatticePiecewise, SeriesPiecewise)

#: A density with this rate and mean.
_Laplace = Callable[[int, int], _Function]


def tree_measure(tree: CanonicalTree, limit: Limits) -> Closed:
    """Pr[all constraints of a canonical tree hold], exactly, as a function of the tree's own eps (before `stretch`).

    Raises LimitReached when the closed form has too many terms or takes too many steps.
    """
    meter = Meter(limit)
    if tree.whole:
        return _product(_at_root(tree.nodes, LatticePiecewise.laplace, meter), meter).integral(meter)
    return integral_of_product(_at_root(tree.nodes, Piecewise.laplace, meter), meter)


def tree_series(tree: CanonicalTree, ring: SeriesRing, limit: Limits) -> flint.arb_series:
    """The Taylor series of the same at the center of the ring, as long and as precise as FLINT is set to: each
    coefficient is enclosed. Raises LimitReached where one integrand has too many terms."""
    assert not tree.whole, "integers have no series here"
    meter = Meter(limit)
    return integral_of_series(_at_root(tree.nodes, ring.laplace, meter), meter)


def _at_root(nodes: TreeKey, laplace: _Laplace[_Function], meter: Meter) -> list[tuple[_Function, int]]:
    """The density of the root on its bounds, and all messages, to powers."""
    sizes = _subtree_sizes(nodes)
    messages: dict[TreeKey, _Function] = {}
    for at in range(len(nodes) - 1, 0, -1):
        subtree = nodes[at : at + sizes[at]]
        if subtree not in messages:
            has_low, low, has_high, high = nodes[at][6:10]
            weight = _product(_factors(nodes, sizes, at, messages, laplace), meter)
            # P -> the measure of all Z with Z - P in the range that ties Z to its parent.
            messages[subtree] = weight.within(low if has_low else None, high if has_high else None, meter)
    return _factors(nodes, sizes, 0, messages, laplace)


def _subtree_sizes(nodes: TreeKey) -> list[int]:
    """For each node in preorder, the number of nodes of its subtree."""
    sizes = [1] * len(nodes)
    for at in range(len(nodes) - 1, -1, -1):
        child = at + 1
        for _ in range(nodes[at][-1]):
            sizes[at] += sizes[child]
            child += sizes[child]
    return sizes


def _factors(
    nodes: TreeKey,
    sizes: list[int],
    at: int,
    messages: dict[TreeKey, _Function],
    laplace: _Laplace[_Function],
) -> list[tuple[_Function, int]]:
    """The density of a noise on its bounds and the messages of its children, equal ones as one power."""
    rate, mean, has_low, low, has_high, high = nodes[at][:6]
    own = laplace(rate, mean).restricted(low if has_low else None, high if has_high else None)
    counts: dict[TreeKey, int] = {}
    child = at + 1
    for _ in range(nodes[at][-1]):
        subtree = nodes[child : child + sizes[child]]
        counts[subtree] = counts.get(subtree, 0) + 1
        child += sizes[child]
    found = [(own, 1)]
    found += [(messages[subtree], count) for subtree, count in counts.items()]
    return found


def _product(factors: list[tuple[_Function, int]], meter: Meter) -> _Function:
    total: _Function | None = None
    for factor, count in factors:
        power = factor.to_power(count, meter)
        total = power if total is None else total.times(power, meter)
    assert total is not None, "there are factors"
    return total
