"""Which regions of the ideal share an answer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

from dipc.chain.affine import Affine
from dipc.chain.answers import finite_values, same_value
from dipc.ideal.ideal import Answer, Ideal, Region
from dipc.lang.core import Value
from dipc.linear.halfspace import Halfspace
from dipc.sources.symmetry.structure import guards_of

#: More combinations of the finite inputs' domains than this are not gone through.
_MOST_COMBINATIONS = 2_000


@dataclass(frozen=True, slots=True)
class RegionFamily:
    """All regions with the answer of one region. `guards` are theirs, for each combination of finite inputs in turn;
    `alone` says that there is one region only and no finite input, and that the answer is the same all over it."""

    guards: tuple[frozenset[frozenset[Halfspace]], ...]
    alone: bool


class Families:
    """The families of one ideal."""

    def __init__(self, ideal: Ideal) -> None:
        self._ideal = ideal
        self._known: dict[tuple[Value | None, ...], RegionFamily | None] = {}
        self._all = self._everything()

    def of(self, region: Region) -> RegionFamily | None:
        """The inputs that have the answer of `region` are exactly those in the regions of its family; or None.

        None is given where that is not known from the regions alone: the outputs that are forms over the inputs differ
        from region to region. And where there are too many combinations of finite inputs.
        """
        key = tuple(_constant(part) for part in region.answer)
        if key not in self._known:
            self._known[key] = self._find(key)
        return self._known[key]

    def _everything(self) -> tuple[tuple[Region, ...], ...] | None:
        slots = self._ideal.program.core.slots
        finite = self._ideal.finite_inputs
        domains = [finite_values(slots[slot]) for slot in finite]
        if prod(map(len, domains)) > _MOST_COMBINATIONS:
            return None
        return tuple(
            self._ideal.regions(dict(zip(finite, combination, strict=True))) for combination in product(*domains)
        )

    def _find(self, key: tuple[Value | None, ...]) -> RegionFamily | None:
        if self._all is None:
            return None
        members = [[region for region in regions if _may_equal(region.answer, key)] for regions in self._all]
        count = sum(map(len, members))
        moving = any(_constant(part) is None for regions in members for region in regions for part in region.answer)
        if moving and count > 1:
            return None
        guards = tuple(frozenset(guards_of(region.guards) for region in regions) for regions in members)
        return RegionFamily(guards, count == 1 and not moving and not self._ideal.finite_inputs)


def _may_equal(answer: tuple[Answer, ...], key: tuple[Value | None, ...]) -> bool:
    pairs = zip(map(_constant, answer), key, strict=True)
    return all(part is None or wanted is None or same_value(part, wanted) for part, wanted in pairs)


def _constant(part: Answer) -> Value | None:
    """The value of an output that is the same all over its region, else None."""
    if isinstance(part, Affine):
        return part.constant if part.is_number else None
    return part
