"""Classes that are not convex at a distance: covered by convex ones, a choice of facets of the other answers' regions.

If dd(u) >= alpha, every region with another answer is at least alpha away from u. In the norm linf the distance of u
from a box is the largest amount by which u violates one of its sides; in any norm its distance from a half-space is the
violation divided by the dual norm. So u is behind at least one moving facet -side(u) >= alpha·width of each such
region, and the class is covered by the convex sets that one side of each leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from dipc.chain.constraints import Constraint, constraint
from dipc.chain.entailment import contradict
from dipc.ideal.ideal import Region
from dipc.ideal.norm import Norm
from dipc.lang.ast import CompareOp
from dipc.sources.every_input.facets import Metric
from dipc.sources.every_input.halfspaces import Moving

#: The most convex sets that a class is covered by.
MOST_CHOICES = 64


def choices(region: Region, rivals: Sequence[Region], metric: Metric) -> tuple[tuple[Moving, ...], ...]:
    """Sets of facets: every u of the region with dd(u) >= alpha is behind all facets of one of them, if `rivals` are
    all regions with another answer. One empty set where nothing of the kind is known.
    """
    if metric.apart is not None or metric.norm is Norm.DISCRETE:
        return ((),)
    sides = [found for rival in rivals if (found := _sides(region, rival, metric.norm)) is not None]
    if any(not side for side in sides):
        return ()
    if prod(map(len, sides)) > MOST_CHOICES:
        return ((),)
    return tuple(tuple(dict.fromkeys(choice)) for choice in product(*sides) if not contradict(_static(region, choice)))


def _sides(region: Region, rival: Region, norm: Norm) -> list[Moving] | None:
    """The facets of which u is behind one, None where that is not known of the rival. Facets that no u of the region is
    behind are left out."""
    box = norm is Norm.LINF and all(len(guard.form.inputs) == 1 for guard in rival.guards)
    if not box and len(rival.guards) != 1:
        return None
    facets = [Moving(-guard.form, norm.steepness(guard.form.inputs)) for guard in rival.guards]
    return [facet for facet in dict.fromkeys(facets) if not contradict(_static(region, [facet]))]


def _static(region: Region, facets: Sequence[Moving]) -> list[Constraint]:
    return [*region.guards, *(constraint(facet.form, CompareOp.GE) for facet in facets)]
