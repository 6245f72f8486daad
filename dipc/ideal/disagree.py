"""Where det gives another answer than a given one: finitely many convex sets of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.answers import same_value
from dipc.chain.constraints import Constraint, constraint
from dipc.ideal.ideal import Region
from dipc.lang.ast import CompareOp
from dipc.lang.core import Value

Guards = tuple[Constraint, ...]


def disagreement(region: Region, answer: Sequence[Value], whole_outputs: Sequence[bool]) -> Iterator[Guards]:
    """Sets (not always disjoint, some perhaps empty) that together are where in `region` det is not `answer`.

    `whole_outputs` says which of the outputs are ints.
    """
    forms: list[tuple[Affine, bool]] = []
    for here, there, whole in zip(region.answer, answer, whole_outputs, strict=True):
        if not isinstance(here, Affine):
            if not same_value(here, there):
                yield region.guards
                return
            continue
        assert isinstance(there, Fraction)
        difference = here.shifted(-there)
        if difference.is_number:
            if difference.constant:
                yield region.guards
                return
        else:
            forms.append((difference, whole))
    for difference, whole in forms:
        for op in (CompareOp.GT, CompareOp.LT):
            yield (*region.guards, constraint(difference, op, whole))
