"""Systems of inequalities for tests, and what is known of them by dumb means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st

from dipc.linear.halfspace import Halfspace, sorted_terms

F = Fraction

small = st.fractions(min_value=-3, max_value=3, max_denominator=3)
huge = st.fractions(max_denominator=10**25).filter(lambda value: abs(value) < 10**30)
numbers = st.one_of(st.just(F(0)), small, small, huge)


def halfspaces(keys: int, values: st.SearchStrategy[Fraction] = numbers) -> st.SearchStrategy[Halfspace]:
    coefficients = st.dictionaries(st.integers(0, keys - 1), values, max_size=keys)
    return st.builds(
        lambda terms, c, strict: Halfspace(sorted_terms(terms), c, strict), coefficients, values, st.booleans()
    )


def systems(keys: int, most: int, values: st.SearchStrategy[Fraction] = numbers) -> st.SearchStrategy[list[Halfspace]]:
    return st.lists(halfspaces(keys, values), max_size=most)


def boxed(keys: int, radius: int) -> list[Halfspace]:
    """|x| <= radius for every key."""
    return [Halfspace(((key, F(sign)),), F(radius)) for key in range(keys) for sign in (1, -1)]


def vertices(system: Sequence[Halfspace], keys: int) -> list[dict[int, Fraction]]:
    """All vertices of the closed system, by solving every choice of `keys` equations."""
    found = []
    for chosen in combinations(dict.fromkeys(item.closure() for item in system if item.coefficients), keys):
        point = solved(chosen, keys)
        if point is not None and all(item.closure().contains(point) for item in system):
            found.append(point)
    return found


def solved(equations: Sequence[Halfspace], keys: int) -> dict[int, Fraction] | None:
    """The one solution of as many equations as unknowns, by Gauss and Jordan; None where it is not one."""
    rows = [[item.coefficient(key) for key in range(keys)] + [-item.constant] for item in equations]
    for column in range(keys):
        pivot = next((row for row in rows[column:] if row[column]), None)
        if pivot is None:
            return None
        rows.remove(pivot)
        rows.insert(column, [value / pivot[column] for value in pivot])
        for at, row in enumerate(rows):
            if at != column and row[column]:
                rows[at] = [value - row[column] * other for value, other in zip(row, rows[column], strict=True)]
    return {key: rows[key][-1] for key in range(keys)}


def least_at_a_vertex(form: Halfspace, system: Sequence[Halfspace], keys: int) -> Fraction | None:
    """The least value of the form on a bounded closed system, None where that is empty."""
    return min((form.value(point) for point in vertices(system, keys)), default=None)


def satisfied(system: Sequence[Halfspace], point: Mapping[int, Fraction]) -> bool:
    return all(item.contains(point) for item in system)
