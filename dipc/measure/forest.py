"""The measure of a tree of difference constraints by message passing from the leaves.

The message of a noise to its parent is, as a function of the parent's value, the measure of everything below it: one
integral of a one-variable piecewise function. The cost is
polynomial in the number of noises wherever the closed form itself is.
"""

from __future__ import annotations

from dipc.algebra.effort import Meter
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.measure.canonical import NodeKey, TreeKey
from dipc.measure.pieces import Piecewise


def tree_measure(nodes: TreeKey, limit: Limits) -> ExpPoly:
    """Pr[all constraints of a canonical tree hold], exactly, as a function of the tree's own eps (before `stretch`).

    Raises LimitReached when the closed form has too many terms or takes too many steps.
    """
    meter = Meter(limit)
    sizes = _subtree_sizes(nodes)
    messages: dict[TreeKey, Piecewise] = {}
    for at in range(len(nodes) - 1, 0, -1):
        subtree = nodes[at : at + sizes[at]]
        if subtree not in messages:
            messages[subtree] = _message(nodes[at], _weight(nodes, sizes, at, messages, meter), meter)
    return _weight(nodes, sizes, 0, messages, meter).integral(meter)


def _subtree_sizes(nodes: TreeKey) -> list[int]:
    """For each node in preorder, the number of nodes of its subtree."""
    sizes = [1] * len(nodes)
    for at in range(len(nodes) - 1, -1, -1):
        child = at + 1
        for _ in range(nodes[at][-1]):
            sizes[at] += sizes[child]
            child += sizes[child]
    return sizes


def _weight(nodes: TreeKey, sizes: list[int], at: int, messages: dict[TreeKey, Piecewise], meter: Meter) -> Piecewise:
    """The density of a noise on its bounds times the messages of its children, equal ones as one power."""
    rate, mean, has_low, low, has_high, high = nodes[at][:6]
    weight = Piecewise.laplace(rate, mean).restricted(low if has_low else None, high if has_high else None)
    counts: dict[TreeKey, int] = {}
    child = at + 1
    for _ in range(nodes[at][-1]):
        subtree = nodes[child : child + sizes[child]]
        counts[subtree] = counts.get(subtree, 0) + 1
        child += sizes[child]
    for subtree, count in counts.items():
        weight = weight.times(messages[subtree].to_power(count, meter), meter)
    return weight


def _message(node: NodeKey, weight: Piecewise, meter: Meter) -> Piecewise:
    """P -> the integral of `weight` over Z with Z - P in the range that ties Z to its parent."""
    has_low, low, has_high, high = node[6:10]
    below, total = weight.integral_below(meter)
    upper = below.shifted(high) if has_high else Piecewise((), (total,))
    return upper.minus(below.shifted(low)) if has_low else upper
