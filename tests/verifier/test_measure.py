"""The replay of measures, compared with the engine's and with numbers, and attacked by cheats."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.one_sided import ONE_SIDED
from dipc.verifier.functions import Closed, equal_closed, multiply_closed
from dipc.verifier.measures import _Elimination, measure_anew
from dipc.verifier.reading import Budget, Exhausted, Rejected
from tests.patience import at_most, examples
from tests.strategies.events import (
    LENGTHS,
    RATES,
    above,
    changed,
    difference_events,
    event,
    halfspace,
    laplace,
    order_events,
    tree_events,
)
from tests.verifier.records import read, record, same


def one_sided(rate: Fraction | int, mean: Fraction | int = 0) -> Noise:
    return Noise(ONE_SIDED, Fraction(rate), Fraction(mean))


def discrete(rate: Fraction | int, mean: int = 0) -> Noise:
    return Noise(DISCRETE_LAPLACE, Fraction(rate), Fraction(mean))


# --- against the engine --------------------------------------------------------------------------------


@settings(max_examples=examples(8), deadline=None)
@given(tree_events(5))
def test_forests_are_measured_alike(found: Event) -> None:
    assert same(record(found, measure(found))) is True


@settings(max_examples=examples(8), deadline=None)
@given(order_events(4))
def test_orders_with_cycles_are_measured_alike(found: Event) -> None:
    assert same(record(found, measure(found))) is True


@settings(max_examples=examples(8), deadline=None)
@given(difference_events(4))
def test_cycles_of_distances_are_measured_alike(found: Event) -> None:
    assert same(record(found, measure(found))) is True


@settings(max_examples=examples(8), deadline=None)
@given(tree_events(3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_one_sided_noise(found: Event, sides: list[bool]) -> None:
    noises = [one_sided(n.rate, n.mean) if side else n for n, side in zip(found.noises, sides, strict=False)]
    mixed = event(noises, *found.constraints)
    assert same(record(mixed, measure(mixed))) is True


@settings(max_examples=examples(8), deadline=None)
@given(st.integers(2, 9), st.booleans(), st.sampled_from(LENGTHS), st.sampled_from([laplace, one_sided, discrete]))
def test_noises_that_are_compared_alike(
    count: int, turned: bool, length: Fraction, law: Callable[[Fraction, int], Noise]
) -> None:
    """One noise beside groups of alike ones, above and below it, and beside one that is like no other."""
    noises = [
        law(Fraction(1, 2), 0),
        *[law(Fraction(1, 3), 1)] * count,
        *[law(Fraction(1, 3), 1)] * 2,
        law(Fraction(1), 0),
    ]
    sides = [above(i, 0, length) if turned else above(0, i, length) for i in range(1, count + 1)]
    others = [above(0, count + 1), above(0, count + 2), above(count + 3, 0)]
    found = event(noises, *sides, *others)
    assert same(record(found, measure(found))) is True


@pytest.mark.parametrize("count", [4, 16, 64])
def test_noises_that_are_compared_alike_are_integrated_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The integrals do not grow with the number of alike noises, and products grow with its logarithm."""
    calls = {"_integrated": 0, "_product": 0}
    for name in calls:
        monkeypatch.setattr(_Elimination, name, _counted(getattr(_Elimination, name), calls, name))
    star = event(
        [laplace(Fraction(1, 2)), *[laplace(Fraction(1, 4))] * count], *[above(0, i) for i in range(1, count + 1)]
    )
    assert same(record(star, measure(star)))
    assert calls["_integrated"] == 2
    assert calls["_product"] <= 2 * count.bit_length() + 4


def _counted(method: Callable[..., Any], calls: dict[str, int], name: str) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        calls[name] += 1
        return method(*arguments)

    return counted


@st.composite
def integer_events(draw: st.DrawFn) -> Event:
    size = draw(st.integers(1, 3))
    noises = [discrete(draw(st.sampled_from(RATES)), draw(st.integers(-2, 2))) for _ in range(size)]
    constants = st.sampled_from(LENGTHS)
    constraints = []
    for j in range(1, size):
        sign = draw(st.sampled_from([1, -1]))
        constraints.append(halfspace({draw(st.integers(0, j - 1)): sign, j: -sign}, draw(constants)))
        if draw(st.integers(0, 2)) == 0:
            (i, c), (_, d) = constraints[-1].coefficients
            constraints.append(halfspace({i: -c, j: -d}, draw(constants) + 1))
    factors = st.sampled_from([1, -1, Fraction(3, 2), -2])
    bounded = draw(st.lists(st.integers(0, size - 1), max_size=2))
    return event(noises, *constraints, *[halfspace({i: draw(factors)}, draw(constants)) for i in bounded])


@settings(max_examples=examples(5), deadline=None)
@given(integer_events())
def test_integer_noise(found: Event) -> None:
    assert same(record(found, measure(found))) is True


@settings(max_examples=examples(8), deadline=None)
@given(st.data())
def test_sums_and_half_spaces_of_three_noises(data: st.DataObject) -> None:
    factors = st.sampled_from([1, -1, 2, Fraction(-1, 3)])
    noises = [one_sided(2) if one else laplace(1, Fraction(1, 2)) for one in data.draw(st.tuples(*[st.booleans()] * 3))]
    form = {i: data.draw(factors) for i in range(3)}
    found = event(
        noises,
        halfspace(form, data.draw(st.sampled_from(LENGTHS))),
        halfspace({i: -c for i, c in form.items()}, 4),
        *[halfspace({i: data.draw(factors)}, 1) for i in data.draw(st.sets(st.integers(0, 2)))],
    )
    assert same(record(found, measure(found))) is True


def test_a_grid_of_comparisons() -> None:
    noises = [laplace(1, (i * j) % 3) for i in range(3) for j in range(4)]
    across = [above(4 * i + j, 4 * i + j + 1) for i in range(3) for j in range(3)]
    down = [above(4 * i + j, 4 * i + j + 4) for i in range(2) for j in range(4)]
    found = event(noises, *across, *down)
    assert same(record(found, measure(found))) is True


@settings(max_examples=examples(6), deadline=None)
@given(st.data())
def test_integers_with_other_coefficients_against_summation(data: st.DataObject) -> None:
    """Bounds that divide by 2 and 3, and sums of which the coefficients have no proportion that is whole."""
    factors = st.sampled_from([1, -1, 2, -3])
    means = [data.draw(st.integers(-1, 1)) for _ in range(2)]
    rows = [
        ({i: data.draw(factors) for i in range(2)}, data.draw(st.sampled_from([0, 1, -2, Fraction(1, 2)])))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    found = event([discrete(1, means[0]), discrete(2, means[1])], *[halfspace(*row) for row in rows])
    result = measure_anew(*read(record(found, ExpPoly.ZERO)), Budget())
    assert not isinstance(result, str)
    r, s = mpmath.exp(-mpmath.mpf(3) / 2), mpmath.exp(-mpmath.mpf(3))
    expected = mpmath.fsum(
        (1 - r) / (1 + r) * r ** abs(i - means[0]) * (1 - s) / (1 + s) * s ** abs(j - means[1])
        for i, j in product(range(-25, 26), repeat=2)
        if all(form[0] * i + form[1] * j + constant >= 0 for form, constant in rows)
    )
    assert abs(value_at(result, Fraction(3, 2)) - expected) < 1e-12


def test_integers_apart_from_each_other_multiply() -> None:
    """Bounds that divide by 2, found after another part of the event has been integrated out."""
    part = [halfspace({0: 2, 1: -3}, 1), halfspace({0: -1}, 3)]
    other = [halfspace({i + 2: c for i, c in row.coefficients}, row.constant) for row in part]
    one = event([discrete(1), discrete(2)], *part)
    single = event([discrete(1)], halfspace({0: 1}, 2))
    all_parts = event([*one.noises, *one.noises, discrete(1)], *part, *other, halfspace({4: 1}, 2))
    half, few, whole = (
        measure_anew(*read(record(found, ExpPoly.ZERO)), Budget()) for found in (one, single, all_parts)
    )
    assert not isinstance(half, str)
    assert not isinstance(few, str)
    assert not isinstance(whole, str)
    squared = multiply_closed(half, half, Budget())
    assert equal_closed(whole, multiply_closed(squared, few, Budget()), Budget())


def test_the_events_of_the_mechanisms() -> None:
    star = event([laplace(Fraction(1, 2)), *[laplace(Fraction(1, 4), i % 3) for i in range(9)]])
    below = [above(0, i) for i in range(1, 9)]
    events = [
        event(star.noises, *below, above(9, 0)),
        event(star.noises, *[above(i, 0) for i in range(1, 9)]),
        event([laplace(1, i) for i in range(12)], *[above(i + 1, i) for i in range(11)]),
        event([laplace(1), laplace(2, 1)], halfspace({0: 1}, 3), halfspace({0: -1}, 1), halfspace({1: -1}, 0)),
        event([discrete(1, i) for i in range(4)], *[above(0, i, 1) for i in range(1, 4)]),
        event([]),
        event([laplace(1)], halfspace({}, -1)),
    ]
    for found in events:
        assert same(record(found, measure(found))) is True


# --- against numbers -----------------------------------------------------------------------------------


def value_at(closed: Closed, eps: Fraction) -> Any:
    with mpmath.workdps(40):
        above, below = (
            mpmath.fsum(
                mpmath.mpf(c.numerator)
                / c.denominator
                * mpmath.mpf(eps.numerator) ** k
                / mpmath.mpf(eps.denominator) ** k
                * mpmath.exp(mpmath.mpf((q * eps).numerator) / (q * eps).denominator)
                for (k, q), c in part.items()
            )
            for part in closed
        )
        return above / below


def test_two_integers_against_summation() -> None:
    found = event([discrete(1), discrete(2, 1)], above(0, 1, -1), halfspace({0: -1}, 2))
    eps = Fraction(3, 4)
    r, s = mpmath.exp(-mpmath.mpf(3) / 4), mpmath.exp(-mpmath.mpf(3) / 2)
    expected = mpmath.fsum(
        (1 - r) / (1 + r) * r ** abs(i) * (1 - s) / (1 + s) * s ** abs(j - 1)
        for i, j in product(range(-60, 3), range(-60, 63))
        if i >= j - 1
    )
    result = measure_anew(*read(record(found, measure(found))), Budget())
    assert not isinstance(result, str)
    assert abs(value_at(result, eps) - expected) < 1e-12


def test_two_reals_against_quadrature() -> None:
    found = event([one_sided(1, 1), laplace(2, Fraction(1, 2))], halfspace({0: 1, 1: -1}, -1), halfspace({1: 1}, 1))
    eps = 2.0
    below = lambda x: 1 - mpmath.exp(-4 * (x - 0.5)) / 2 if x > 0.5 else mpmath.exp(4 * (x - 0.5)) / 2  # noqa: E731
    inside = lambda x: eps * mpmath.exp(-eps * (x - 1)) * max(0, below(x - 1) - below(-1))  # noqa: E731
    expected = mpmath.quad(inside, [1, 1.5, 2.5, 6, 30])
    result = measure_anew(*read(record(found, measure(found))), Budget())
    assert not isinstance(result, str)
    assert abs(value_at(result, Fraction(2)) - expected) < 1e-9


# --- cheating ------------------------------------------------------------------------------------------

SPARSE = event([laplace(Fraction(1, 2)), *[laplace(Fraction(1, 4), i) for i in (-1, 0, 2)]])
SPARSE = event(SPARSE.noises, above(0, 1), above(0, 2), above(3, 0))


def changes(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Change one number: each rate, mean, coefficient and constant, and each number of the value's terms."""
    result = []

    def changed(*path: int | str, to: Any) -> None:
        copied = copy.deepcopy(data)
        parent: Any = copied
        for name in path[:-1]:
            parent = parent[name]
        if parent[path[-1]] != to:
            parent[path[-1]] = to
            result.append(copied)

    for i in range(len(data["noises"])):
        changed("noises", i, 1, to="3/7")
        changed("noises", i, 2, to="5/7")
        changed("noises", i, 0, to="one-sided")
    for i, (coefficients, _) in enumerate(data["constraints"]):
        changed("constraints", i, 1, to="1/11")
        for j in range(len(coefficients)):
            changed("constraints", i, 0, j, 1, to="7/5")
    for i, (k, q, c) in enumerate(data["value"]):
        changed("value", i, 0, to=k + 1)
        changed("value", i, 1, to=str(Fraction(q) - 1))
        changed("value", i, 2, to=str(Fraction(c) + Fraction(1, 10**30)))
    changed("value", to=[])
    changed("value", to=data["value"][1:])
    changed("constraints", to=data["constraints"][1:])
    return result


def test_every_changed_number_is_rejected() -> None:
    data = record(SPARSE, measure(SPARSE))
    assert same(data) is True
    cases = changes(data)
    assert len(cases) > 30
    for case in cases:
        with suppress(Rejected):  # a term twice
            assert same(case) is not True


@settings(max_examples=examples(8), deadline=None)
@given(tree_events(3), st.data())
def test_a_measure_that_is_off_by_a_little_is_rejected(found: Event, data: st.DataObject) -> None:
    value = measure(found) + data.draw(st.sampled_from([Fraction(1, 10**40), -1, Fraction(1, 3)]))
    assert same(record(found, value)) is False


@pytest.mark.parametrize(
    "change",
    [
        {"value": None},
        {"value": [[0, "0", "0"]]},
        {"value": [[0, "0", "1/2"], [0, "0", "1/2"]]},
        {"value": [[-1, "0", "1/2"]]},
        {"value": {"numerator": [], "denominator": []}},
        {"value": {"numerator": []}},
    ],
)
def test_malformed_records_are_rejected(change: dict[str, Any]) -> None:
    found = event([laplace(1)], halfspace({0: 1}, 1))
    with pytest.raises(Rejected):
        same(record(found, measure(found)) | change)


# --- stalling ------------------------------------------------------------------------------------------

LONG = "9" * 50_000


def hostile() -> list[dict[str, Any]]:
    many = [["laplace", "1", str(i)] for i in range(900)]
    value = [[0, "0", "1"]]
    bipartite = [[[[i, "1"], [j, "-1"]], "0"] for i in range(0, 60, 2) for j in range(1, 60, 2)]
    primes = [p for p in range(3, 4_000, 2) if all(p % d for d in range(3, int(p**0.5) + 1, 2))][:500]
    return [
        {"noises": many, "constraints": bipartite, "value": value},
        {"noises": many, "constraints": [[[[0, "1"], [i, "-1"]], f"-{i}/7"] for i in range(1, 900)], "value": value},
        {"noises": many, "constraints": [[[[i, "1"], [i + 1, f"-{2 * i + 3}/5"]], "0"] for i in range(899)]}
        | {"value": value},
        {"noises": [["laplace", f"1/{p}", f"1/{p}"] for p in primes]}
        | {"constraints": [[[[0, "1"], [i, "-1"]], "0"] for i in range(1, 500)], "value": value},
        {"noises": many[:40], "constraints": [[[[i, "1"], [j, "-1"]], "0"] for i in range(40) for j in range(i)]}
        | {"value": value},
        {"noises": many[:40]}
        | {"constraints": [[[[0, str(s)], [j, str(-s)]], "3"] for j in range(1, 40) for s in (1, -1)]}
        | {"value": value},
        {"noises": [["laplace", LONG, LONG]], "constraints": [[[[0, "1"]], "0"]], "value": value},
        {"noises": [["laplace", "1", LONG]], "constraints": [[[[0, "1"]], LONG]], "value": value},
        {"noises": [["discrete-laplace", "1", str(10**70)]], "constraints": [[[[0, "1"]], "5"]], "value": value},
        {"noises": [["discrete-laplace", f"1/{i + 1}", str(i)] for i in range(12)]}
        | {"constraints": [[[[0, "1"], [i, "-1"]], "0"] for i in range(1, 12)], "value": value},
        {"noises": [["laplace", str(i + 1), str(i * i)] for i in range(30)]}
        | {"constraints": [[[[0, "1"], [i, "-1"]], "0"] for i in range(1, 30)], "value": value},
        {"noises": [["laplace", "1", "0"]], "constraints": [[[[0, "1"]], "0"]], "value": [[10_000, LONG, LONG]]},
        {"noises": [["laplace", "1", "0"]] * 50, "value": value}
        | {"constraints": [[[[i, f"1/{7 ** (60 + n + i)}"] for i in range(50)], "0"] for n in range(40)]},
    ]


@pytest.mark.parametrize("number", range(len(hostile())))
def test_hostile_records_end_soon(number: int) -> None:
    with suppress(Rejected, Exhausted), at_most(5_000_000):
        assert same(hostile()[number], steps=200_000) is not True


def test_scales_and_zeros_do_not_matter() -> None:
    scales = [Fraction(-3), Fraction(1, 2), Fraction(2), Fraction(-1, 7)]
    moved = changed(SPARSE, scales, [Fraction(1), Fraction(-2), Fraction(1, 3), Fraction(0)])
    assert same(record(moved, measure(SPARSE))) is True
    assert measure(moved) == measure(SPARSE)


def test_constraints_may_be_strict_or_not() -> None:
    open_one = Halfspace(((0, Fraction(1)),), Fraction(1), strict=True)
    found = event([laplace(1)], open_one)
    assert same(record(found, measure(found))) is True
