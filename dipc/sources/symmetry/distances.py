"""dd(u) for the representatives of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal, Region
from dipc.ideal.norm import Norm
from dipc.lang.core import Value
from dipc.metric.nearness import Nearness
from dipc.sources.symmetry.apartness import apartness
from dipc.sources.symmetry.blocks import Position
from dipc.sources.symmetry.families import RegionFamily
from dipc.sources.symmetry.nearest import escape


class ClassDistances:
    """dd of one ideal, by its program's metric; `executed` is the same ideal with inputs perhaps retyped.

    `symmetric` says that exchanging the values of two numeric inputs in u and in u' leaves d(u, u') as it is, whatever
    the inputs, but for those that are `apart`, and that equal answers are all that count as the same, or as near but
    for real outputs.
    """

    def __init__(self, ideal: Ideal, executed: Ideal, positions: Sequence[Position]) -> None:
        self._norm = ideal.metric.norm
        self._positions = {position.slot: position for position in positions}
        self._general = Distances(ideal)
        near = Nearness(ideal.program.core).plain
        self._plain = ideal.metric.is_plain and near
        self.apart = None if executed.finite_inputs else apartness(executed)
        known = ideal.metric.core.apart is None or self.apart is not None
        self.symmetric = near and known and ideal.metric.core.same is None

    def dd(
        self, inputs: Sequence[Value], point: Mapping[int, Fraction], region: Region, family: RegionFamily | None
    ) -> Fraction | None:
        """dd at `inputs`, whose numeric part is `point` in `region`; None is infinity. Raises Undecided."""
        if self._plain and family is not None and family.alone and not self._mixed(region):
            if self._norm is Norm.LINF:
                return escape(region.guards, point, self._positions)
            if self._norm is Norm.DISCRETE:
                return None if escape(region.guards, point, self._positions) is None else Fraction(1)
        return self._general.at(inputs)

    def _mixed(self, region: Region) -> bool:
        """Whether one comparison has int inputs and others, such as those executed as ints but with listed domains."""
        return any(
            len({self._positions[slot].any_integer for slot, _ in item.form.inputs}) > 1 for item in region.guards
        )
