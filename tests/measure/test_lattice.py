"""Integer noises: sums over lattice points against brute force with a proved bound on the omitted mass."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.lattice import lattice_measure
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from tests.patience import examples


def noise(rate: Fraction | int = 1, mean: int = 0) -> Noise:
    return Noise(DISCRETE_LAPLACE, Fraction(rate), Fraction(mean))


def constraint(coefficients: dict[int, Fraction | int], constant: Fraction | int, strict: bool = False) -> Halfspace:
    return Halfspace(tuple(sorted((i, Fraction(c)) for i, c in coefficients.items())), Fraction(constant), strict)


def holds(c: Halfspace, point: tuple[int, ...]) -> bool:
    value = sum(k * point[i] for i, k in c.coefficients) + c.constant
    return value > 0 if c.strict else value >= 0


def truncated(event: Event, eps: Fraction, radius: int) -> tuple[mpf, mpf]:
    """The sum over points within `radius` of the means, and a bound on the omitted mass (a union bound)."""
    masses, tail = [], mpf(0)
    for n in event.noises:
        r = mp.exp(-mpf(n.rate.numerator) / n.rate.denominator * eps.numerator / eps.denominator)
        masses.append({int(n.mean) + i: (1 - r) / (1 + r) * r ** abs(i) for i in range(-radius, radius + 1)})
        tail += 2 * r ** (radius + 1) / (1 + r)
    total = mpf(0)
    for point in product(*masses):
        if all(holds(c, point) for c in event.constraints):
            weight = mpf(1)
            for i, mass in zip(point, masses, strict=True):
                weight *= mass[i]
            total += weight
    return total, tail


def assert_agrees(event: Event, eps: Fraction, radius: int) -> None:
    with mp.workdps(30):
        total, tail = truncated(event, eps, radius)
        low, high = lattice_measure(event).enclosure(eps, 20)
        slack = mpf(10) ** -18
        assert total - slack <= mpf(high.numerator) / high.denominator
        assert mpf(low.numerator) / low.denominator <= total + tail + slack


@st.composite
def events(draw: st.DrawFn, noises: int = 2, unit: bool = False) -> Event:
    size = draw(st.integers(1, noises))
    drawn = tuple(
        noise(
            draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3, 2)])), draw(st.integers(-2, 2))
        )
        for _ in range(size)
    )
    factors = [-1, 1] if unit else [-3, -2, -1, 1, 2, 3, Fraction(1, 2), Fraction(-2, 3)]
    constraints = []
    for _ in range(draw(st.integers(1, 3))):
        chosen = draw(st.sets(st.integers(0, size - 1), min_size=1))
        constraints.append(
            constraint(
                {i: draw(st.sampled_from(factors)) for i in chosen},
                draw(st.sampled_from([-2, -1, 0, 1, 2, Fraction(1, 2)])),
                draw(st.booleans()),
            )
        )
    return Event(drawn, tuple(constraints))


@settings(max_examples=examples(8), deadline=None)
@given(events())
def test_two_noises_with_any_coefficients(event: Event) -> None:
    assert_agrees(event, Fraction(3, 2), 45)


@settings(max_examples=examples(5), deadline=None)
@given(events(noises=3, unit=True))
def test_three_noises(event: Event) -> None:
    assert_agrees(event, Fraction(3), 14)


@settings(max_examples=examples(8), deadline=None)
@given(events(), st.dictionaries(st.integers(0, 0), st.sampled_from([-2, -1, 1, 2, 3]), min_size=1), st.integers(-2, 2))
def test_a_constraint_and_its_complement_share_the_event(event: Event, halving: dict[int, int], constant: int) -> None:
    split = constraint(dict(halving), constant)
    complement = constraint({i: -c for i, c in halving.items()}, -constant, strict=True)
    parts = [lattice_measure(Event(event.noises, (*event.constraints, c))) for c in (split, complement)]
    assert parts[0] + parts[1] == lattice_measure(event)


def test_a_point_has_the_mass_of_the_definition() -> None:
    equal = (constraint({0: 1}, -3), constraint({0: -1}, 3))
    decay = ExpPoly.term(1, 0, -2)
    expected = Quotient((1 - decay) * decay**2, 1 + decay)
    assert lattice_measure(Event((noise(2, 1),), equal)) == expected


def test_a_tie_of_two_equal_noises() -> None:
    # Σ_i (mass i)^2 = ((1-r)/(1+r))^2 · (1+r^2)/(1-r^2)
    tie = (constraint({0: 1, 1: -1}, 0), constraint({0: -1, 1: 1}, 0))
    r = ExpPoly.term(1, 0, -1)
    expected = Quotient((1 - r) ** 2 * (1 + r**2), (1 + r) ** 2 * (1 - r**2))
    assert lattice_measure(Event((noise(), noise()), tie)) == expected


def test_multiples_are_found_by_residue_classes() -> None:
    # Pr[Z_0 = 2·Z_1 for some pair] with both of rate 1: Σ_j m(j)·m(2j).
    event = Event((noise(), noise()), (constraint({0: 1, 1: -2}, 0), constraint({0: -1, 1: 2}, 0)))
    r = ExpPoly.term(1, 0, -1)
    expected = Quotient((1 - r) ** 2 * (1 + r**3), (1 + r) ** 2 * (1 - r**3))
    assert lattice_measure(event) == expected


def test_no_constraint_is_the_sure_event_and_a_contradiction_the_null_one() -> None:
    assert lattice_measure(Event((noise(),), ())) == 1
    assert lattice_measure(Event((noise(),), (constraint({0: 2}, -1), constraint({0: -2}, 1)))) == 0


def test_past_the_class_limit_it_gives_up_by_name() -> None:
    event = Event((noise(), noise()), (constraint({0: 101, 1: 103}, 0),))
    with pytest.raises(LimitReached) as caught:
        lattice_measure(event, Limits(classes=10))
    assert caught.value.limit == "classes"
