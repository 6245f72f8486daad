"""The least cost of a shift, against shifts that are tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.shifts import least_shift, proved_cost
from tests.patience import examples

F = Fraction

numbers = st.integers(-2, 2).map(F)
forms = st.builds(
    lambda terms, c: Halfspace(sorted_terms(terms), c), st.dictionaries(st.integers(0, 1), numbers, max_size=2), numbers
)
RATES = {0: F(1), 1: F(1, 2)}


@settings(max_examples=examples(4))
@given(st.lists(forms, max_size=4), st.lists(forms, max_size=1))
def test_no_shift_that_is_tried_costs_less(inequalities: list[Halfspace], equations: list[Halfspace]) -> None:
    found = least_shift(RATES, inequalities, equations)
    if found is not None:
        assert all(item.value(found.shift) >= 0 for item in inequalities)
        assert all(item.value(found.shift) == 0 for item in equations)
        y, z = found.inequality_multipliers, found.equation_multipliers
        assert proved_cost(RATES, inequalities, equations, y, z) == found.cost
    for first, second in product([F(n, 2) for n in range(-6, 7)], repeat=2):
        tried = {0: first, 1: second}
        fits = all(item.value(tried) >= 0 for item in inequalities)
        if fits and all(item.value(tried) == 0 for item in equations):
            assert found is not None
            assert found.cost <= abs(first) + abs(second) / 2


def test_impossible_shifts_and_wrong_multipliers() -> None:
    fixed = Halfspace((), F(-1))
    assert least_shift({0: F(1)}, [fixed]) is None
    row = Halfspace(((0, F(1)),), F(-1))
    assert proved_cost({0: F(1)}, [row], [], [F(1)], []) == 1
    assert proved_cost({0: F(1)}, [row], [], [F(2)], []) is None
    assert proved_cost({0: F(1)}, [row], [], [F(-1)], []) is None
    assert proved_cost({0: F(1)}, [row], [], [], []) is None
