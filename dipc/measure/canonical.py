"""Canonical forms of trees of difference constraints.

The measure of a tree does not change when all noises are translated together, when each is translated with the
constraint that ties it to its parent, when all are reflected, or when children are listed in another order; and over
the reals it only has eps rescaled when all lengths are stretched. So the 3^m rows of a table need few different
integrals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from dipc.measure.difference import ORIGIN, Inequalities, neighbors

#: rate, mean, (has low, low), (has high, high) of the noise; the same two pairs for Z - Z_parent; number of children.
NodeKey = tuple[int, int, int, int, int, int, int, int, int, int, int]

#: Nodes in preorder.
TreeKey = tuple[NodeKey, ...]

_Pair = tuple[int, int]


class CanonicalTree(NamedTuple):
    """A rooted tree of noises in preorder with integer rates, means and bounds, the root's mean at 0; the noises are
    integers themselves if `whole`.

    Its measure as a function of eps, taken at `stretch`·eps, is that of the system it was made from.
    """

    nodes: TreeKey
    stretch: Fraction
    whole: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """One noise of a rooted tree: where its parent is among the steps (-1: it is the root), and which inequalities hold
    its bounds and its tie to the parent (None: there is none)."""

    noise: int
    rate: int
    parent: int
    bound_low: _Pair | None
    bound_high: _Pair | None
    tie_low: _Pair | None
    tie_high: _Pair | None


@dataclass(frozen=True, slots=True)
class _Rooting:
    """A choice of root and of reflection (sign -1); steps come after their parents."""

    sign: int
    steps: tuple[_Step, ...]


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A tree of difference constraints but for its lengths, with the rootings that can give the canonical form."""

    rate_unit: Fraction
    rootings: tuple[_Rooting, ...]

    def canonical(self, means: Sequence[int], lower: Inequalities, unit: Fraction | None) -> CanonicalTree:
        """The canonical form for these lengths, in multiples of `unit`; None: noises are integers. Isomorphic systems
        (see above) have equal `nodes`."""
        nodes, length = min([_canonical(rooting, means, lower, unit is None) for rooting in self.rootings])
        if unit is None:
            return CanonicalTree(nodes, self.rate_unit, True)
        return CanonicalTree(nodes, length * self.rate_unit * unit if length else Fraction(1), False)


def tree_shape(rates: Sequence[Fraction], members: Sequence[int], pairs: Iterable[_Pair]) -> TreeShape | None:
    """The shape of the connected noises `members` under inequalities on `pairs`, or None if these form a cycle."""
    related = frozenset(pairs)
    adjacent = neighbors(len(rates), related)
    if sum(len(adjacent[i]) for i in members) != 2 * (len(members) - 1):
        return None
    whole = lcm(*(rates[i].denominator for i in members))
    unit = Fraction(gcd(*(rates[i].numerator * (whole // rates[i].denominator) for i in members)), whole)
    whole_rates = {i: int(rates[i] / unit) for i in members}
    rootings = [
        _rooting(root, sign, whole_rates, adjacent, related) for root in _centers(members, adjacent) for sign in (1, -1)
    ]
    # Lengths cannot make up for a difference that is there without them.
    no_means, no_lengths = [0] * len(rates), dict.fromkeys(related, 0)
    bare = [_canonical(rooting, no_means, no_lengths, True)[0] for rooting in rootings]
    least = min(bare)
    return TreeShape(unit, tuple(r for r, nodes in zip(rootings, bare, strict=True) if nodes == least))


def _centers(members: Sequence[int], adjacent: Sequence[Sequence[int]]) -> list[int]:
    """The one or two middle nodes of the tree, by peeling leaves."""
    degree = {i: len(adjacent[i]) for i in members}
    left = len(members)
    layer = [i for i in members if degree[i] <= 1]
    while left > 2:
        left -= len(layer)
        following = []
        for i in layer:
            for j in adjacent[i]:
                degree[j] -= 1
                if degree[j] == 1:
                    following.append(j)
        layer = following
    return layer


def _rooting(
    root: int, sign: int, rates: dict[int, int], adjacent: Sequence[Sequence[int]], related: frozenset[_Pair]
) -> _Rooting:
    steps: list[_Step] = []
    order = [(root, ORIGIN, -1)]
    for noise, above, parent in order:
        at = len(steps)
        order.extend((j, noise, at) for j in adjacent[noise] if j != above)
        # Reflected, a lower inequality is an upper one.
        sides = [(noise, ORIGIN), (ORIGIN, noise)][::sign]
        ties = [(noise, above), (above, noise)][::sign] if above != ORIGIN else []
        present = [pair if pair in related else None for pair in (*sides, *ties)]
        present += [None] * (4 - len(present))
        steps.append(_Step(noise, rates[noise], parent, *present))
    return _Rooting(sign, tuple(steps))


def _canonical(rooting: _Rooting, means: Sequence[int], lower: Inequalities, whole: bool) -> tuple[TreeKey, int]:
    """The nodes of the canonical form, and the length that is its unit (0 if it has no lengths); 1 if `whole`."""
    sign = rooting.sign
    origins: list[int] = []
    rows: list[list[int]] = []
    lengths: list[int] = []
    for step in rooting.steps:
        row = [step.rate, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        mean = means[step.noise] * sign
        # The noise is measured from its origin, which lies from that of its parent as far as the tie says.
        if step.parent < 0:
            origin = mean
        else:
            origin = origins[step.parent]
            if step.tie_low is not None:
                row[6] = 1
                offset = lower[step.tie_low]
                origin += offset
                if step.tie_high is not None:
                    row[8], row[9] = 1, -lower[step.tie_high] - offset
            elif step.tie_high is not None:
                row[8] = 1
                origin -= lower[step.tie_high]
        origins.append(origin)
        row[1] = mean - origin
        if step.bound_low is not None:
            row[2], row[3] = 1, lower[step.bound_low] - origin
        if step.bound_high is not None:
            row[4], row[5] = 1, -lower[step.bound_high] - origin
        rows.append(row)
        lengths += (row[1], row[3], row[5], row[9])
    unit = 1 if whole else gcd(*lengths)
    children: list[list[TreeKey]] = [[] for _ in rows]
    tree: TreeKey = ()
    for at in range(len(rows) - 1, -1, -1):
        row, below = rows[at], children[at]
        if unit > 1:
            for place in (1, 3, 5, 9):
                row[place] //= unit
        row[10] = len(below)
        tree = (tuple(row),)  # type: ignore[assignment]
        if below:
            below.sort()
            for child in below:
                tree += child
        if at:
            children[rooting.steps[at].parent].append(tree)
    return tree, unit
