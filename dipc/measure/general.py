"""The measure of any linear event: which engine for which part.

Parts that share no constraint are independent. Each is measured by messages where it reduces to a forest of values, by
elimination otherwise: integrals over reals, sums over integers. The elimination engines are complete, up to
their limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dipc.algebra.limits import Limits, OutsideFragment
from dipc.algebra.quotient import Closed
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family
from dipc.measure.lattice import lattice_measure
from dipc.measure.polyhedral import polyhedral_measure
from dipc.measure.value_tree import lattice_tree_measure, value_tree_measure

if TYPE_CHECKING:
    import networkx as nx


def independent_parts(event: Event) -> list[Event]:
    """The event as a conjunction of independent ones, each over the noises of one connected set of constraints.

    Constraints without noises must have been removed. Noises are renumbered in each part.
    """
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    for c in event.constraints:
        first = c.coefficients[0][0]
        graph.add_edges_from((first, i) for i, _ in c.coefficients)
    parts = []
    for members in nx.connected_components(graph):
        place = {i: at for at, i in enumerate(sorted(members))}
        constraints = tuple(
            Halfspace(tuple((place[i], x) for i, x in c.coefficients), c.constant, c.strict)
            for c in event.constraints
            if c.coefficients[0][0] in place
        )
        parts.append(Event(tuple(event.noises[i] for i in place), constraints))
    return parts


def general_measure(part: Event, limits: Limits) -> Closed:
    """The measure of one connected part, exactly; raises LimitReached past a limit.

    Raises ValueError where a constraint mixes integer and real noises: the language does not let them meet.
    """
    families = _families(part)
    if Family.DISCRETE_LAPLACE in families:
        if len(families) > 1:
            raise ValueError("integer and real noises share a constraint")
        try:
            measure = lattice_tree_measure(part, limits)
        except OutsideFragment:
            measure = lattice_measure(part, limits)
        return measure if (ring := measure.in_ring()) is None else ring
    try:
        return value_tree_measure(part, limits)
    except OutsideFragment:
        return polyhedral_measure(part, limits)


def _families(part: Event) -> set[Family]:
    return {noise.family for noise in part.noises}
