from fractions import Fraction
from itertools import pairwise
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.limits import DecisionBudget, Limits
from dipc.sign.taylor import TaylorModel, _halves, _to_bernstein, sign_by_partial_sums, subintervals

integers = st.integers(-(2**30), 2**30)


def evaluate(coefficients: list[int], u: Fraction) -> Fraction:
    return sum((c * u**n for n, c in enumerate(coefficients)), Fraction(0))


def bernstein_at(values: list[int], x: Fraction) -> Fraction:
    n = len(values) - 1
    return sum((comb(n, i) * x**i * (1 - x) ** (n - i) * b for i, b in enumerate(values)), Fraction(0))


grid = [Fraction(i, 24) for i in range(25)]


@given(st.lists(integers, min_size=1, max_size=24))
def test_conversion(coefficients: list[int]) -> None:
    values = _to_bernstein(list(coefficients))
    assert len(values) == len(coefficients)
    # Exactly: b_i = Σ_n C(i, n)/C(N, n)·a_n for the coefficients a_n in x.
    degree = len(coefficients) - 1
    in_x = [
        sum(c * comb(m, n) * 2**n * (-1) ** (m - n) for m, c in enumerate(coefficients) if m >= n)
        for n in range(degree + 1)
    ]
    for i, found in enumerate(values):
        exact = sum(Fraction(comb(i, n), comb(degree, n)) * in_x[n] for n in range(i + 1))
        assert abs(found - exact) < 2


@given(st.lists(integers, min_size=2, max_size=20))
def test_subdivision(values: list[int]) -> None:
    left, right = _halves(values)
    for x in grid:
        assert abs(bernstein_at(left, x) - bernstein_at(values, x / 2)) <= len(values) - 1
        assert abs(bernstein_at(right, x) - bernstein_at(values, (1 + x) / 2)) <= len(values) - 1


def model(coefficients: list[int], value_error: int = 0, slope_error: int = 0) -> TaylorModel:
    return TaylorModel(Fraction(1), Fraction(2), 0, len(coefficients), coefficients, value_error, slope_error)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=9), st.integers(0, 400))
def test_partial_sums_never_claim_too_much(coefficients: list[int], error: int) -> None:
    sign = sign_by_partial_sums(model(coefficients, error))
    if sign:
        for u in [x * 2 - 1 for x in grid]:
            assert sign * evaluate(coefficients, u) > error


def test_partial_sums_find_the_plain_cases() -> None:
    assert sign_by_partial_sums(model([10, 3, 3, 3], 0)) == 1
    assert sign_by_partial_sums(model([-10, 3, 3, 3], 0)) == -1
    assert sign_by_partial_sums(model([-10, 3, 3, 3], 1)) == 0


def from_roots(roots: list[Fraction], scale: int) -> list[int]:
    coefficients = [Fraction(scale)]
    for root in roots:
        coefficients = [
            (coefficients[i - 1] if i else Fraction(0)) - root * (coefficients[i] if i < len(coefficients) else 0)
            for i in range(len(coefficients) + 1)
        ]
    return [int(c) for c in coefficients]


@given(
    st.lists(st.builds(Fraction, st.integers(-40, 40), st.integers(20, 30)), max_size=6),
    st.integers(0, 2000),
    st.lists(st.sampled_from([-1, 1]), min_size=8, max_size=8),
)
def test_parts_are_right_for_every_function_near_the_model(roots: list[Fraction], error: int, signs: list[int]) -> None:
    """F = p + a disturbance whose value and slope are within the errors stated."""
    check_parts(from_roots(roots, 2**40), error, signs)


@given(
    st.lists(st.integers(-4000, 4000), min_size=1, max_size=6),
    st.integers(0, 2000),
    st.lists(st.sampled_from([-1, 1]), min_size=8, max_size=8),
)
def test_parts_are_right_where_the_disturbance_is_as_large_as_the_model(
    coefficients: list[int], error: int, signs: list[int]
) -> None:
    check_parts(coefficients, error, signs)


def test_a_slope_below_its_error_is_not_called_monotone() -> None:
    """p = 100·u rises, p - 90·u^3 does not everywhere."""
    check_parts([0, 100], 90, [0, 0, 0, -8])
    check_parts([3, 50], 50, [0, 0, 0, 0, 0, 0, 8, 0])


def check_parts(coefficients: list[int], error: int, signs: list[int]) -> None:
    disturbance = [s * (error // 8) for s in signs]
    disturbed = [
        (coefficients[n] if n < len(coefficients) else 0) + (disturbance[n] if n < len(disturbance) else 0)
        for n in range(max(len(coefficients), len(disturbance)))
    ]
    slope_error = sum(n * abs(c) for n, c in enumerate(disturbance))
    end = Fraction(0)
    for part in subintervals(model(coefficients, error, slope_error), DecisionBudget(Limits())):
        size = Fraction(1, 1 << part.depth)
        begin = part.index * size
        assert begin == end
        end = begin + size
        points = [2 * (begin + x * size) - 1 for x in grid]
        values = [evaluate(disturbed, u) for u in points]
        if part.left:
            assert part.left * values[0] > 0
        if part.right:
            assert part.right * values[-1] > 0
        if part.sign:
            assert all(part.sign * value > 0 for value in values)
        elif part.slope:
            assert all(part.slope * (b - a) > 0 for a, b in pairwise(values))
        else:
            # Only where p is small: near a root, or everywhere with so large an error.
            assert min(abs(evaluate(coefficients, u)) for u in points) <= 9 * (error + 2) + 8 * 200
    assert end == 1


def test_a_double_root_stays_unknown_and_simple_roots_do_not() -> None:
    found = list(
        subintervals(model(from_roots([Fraction(1, 3), Fraction(1, 3)], 9 * 2**40), 100, 500), DecisionBudget(Limits()))
    )
    unknown = [part for part in found if not part.sign and not part.slope]
    assert 1 <= len(unknown) <= 4
    assert all(part.depth >= 10 for part in unknown)
    simple = list(
        subintervals(
            model(from_roots([Fraction(1, 3), Fraction(3, 5)], 15 * 2**40), 100, 500), DecisionBudget(Limits())
        )
    )
    assert not [part for part in simple if not part.sign and not part.slope]
    assert [part.slope for part in simple if part.slope and part.left == -part.right] == [-1, 1]
