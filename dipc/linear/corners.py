"""The corners of a polyhedron."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import flint

from dipc.algebra.exppoly import to_fmpq, to_fraction
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Least, Point, minimum


def corners(system: Sequence[Halfspace], keys: Sequence[int]) -> Iterator[Point]:
    """All vertices of the closure of a polyhedron, some of them more than once; each has a value for all the keys."""
    closed = [item.closure() for item in dict.fromkeys(system) if item.coefficients]
    for chosen in combinations(closed, len(keys)):
        rows = flint.fmpq_mat([[to_fmpq(item.coefficient(key)) for key in keys] for item in chosen])
        ends = flint.fmpq_mat([[to_fmpq(-item.constant)] for item in chosen])
        try:
            found = rows.solve(ends)
        except ZeroDivisionError:
            continue
        point = {key: to_fraction(found[place, 0]) for place, key in enumerate(keys)}
        if all(item.contains(point) for item in closed):
            yield point


def is_bounded_on(form: Halfspace, system: Sequence[Halfspace]) -> bool:
    """Whether a form is bounded from both sides on a polyhedron that is not empty. Raises NotConfirmed."""
    opposite = Halfspace(tuple([(key, -c) for key, c in form.coefficients]), -form.constant)
    return all(isinstance(minimum(each, system), Least) for each in (form, opposite))
