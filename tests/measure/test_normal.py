"""Enclosures of probabilities over normal noises: against mpmath at 50 digits, far from the code that they judge."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.linear.halfspace import Halfspace
from dipc.measure import normal as of_normal
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, BoundMeasurer, EnclosedForm, Share, measure
from dipc.measure.normal import NormalMeasure, normal_measure
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.noise.law import NoClosedForm
from dipc.noise.laws import law_of

F = Fraction
GAUSS = law_of("Gauss")


def normal(deviation: Fraction | int | str, mean: Fraction | int | str = 0) -> Noise:
    """Normal noise of this deviation, in multiples of 1/eps."""
    return Noise(GAUSS, 1 / F(deviation), F(mean))


def at_least(form: dict[int, int | Fraction], constant: Fraction | int = 0) -> Halfspace:
    return Halfspace(tuple((i, F(c)) for i, c in sorted(form.items())), F(constant))


def enclosure(event: Event, eps: Fraction, bits: int = 140) -> tuple[Fraction, Fraction]:
    bounds = BoundMeasurer()
    bound = EnclosedForm.from_bound(Bound((Share(None, (event,)),)), bounds.measurer, bounds.measurer.limits)
    return bound.dyadic_enclosure(eps, bits)


def star(noises: tuple[Noise, ...]) -> Event:
    """The last noise is at least all others."""
    last = len(noises) - 1
    return Event(noises, tuple(at_least({last: 1, i: -1}) for i in range(last)))


def by_quadrature(noises: tuple[Noise, ...], eps: Fraction) -> mpmath.mpf:
    """Pr[the last noise is at least all others] by adaptive quadrature with 50 digits."""
    with mpmath.workdps(50):
        e = mpmath.mpf(eps.numerator) / eps.denominator
        means = [mpmath.mpf(n.mean.numerator) / n.mean.denominator for n in noises]
        spreads = [n.rate.denominator / (mpmath.mpf(n.rate.numerator) * e) for n in noises]
        *others, last = range(len(noises))

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, means[last], spreads[last]) * mpmath.fprod(
                mpmath.ncdf(x, means[i], spreads[i]) for i in others
            )

        s, m = spreads[last], means[last]
        return mpmath.quad(integrand, [m + k * s for k in range(-16, 17)])


def distribution(z: mpmath.mpc) -> mpmath.mpc:
    """Φ at a complex number."""
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def agrees(found: tuple[Fraction, Fraction], wanted: mpmath.mpf, digits: int = 38) -> bool:
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in found)
        slop = mpmath.mpf(10) ** -(digits + 4)
        return low - slop <= wanted <= high + slop and high - low < mpmath.mpf(10) ** -digits


@pytest.mark.parametrize("seed", range(6))
def test_stars_against_quadrature(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(2, 5)
    noises = tuple(
        normal(F(chance.randint(1, 12), chance.randint(1, 6)), F(chance.randint(-8, 8), 4)) for _ in range(count)
    )
    eps = F(chance.randint(1, 40), 10)
    assert agrees(enclosure(star(noises), eps), by_quadrature(noises, eps))


@pytest.mark.parametrize("count", [2, 3, 7, 20])
def test_equal_noises_are_in_every_order_alike(count: int) -> None:
    low, high = enclosure(star((normal(3, 1),) * count), F(7, 10))
    assert low <= F(1, count) <= high
    assert high - low < F(1, 2**120)


def test_one_half_space_is_the_normal_distribution() -> None:
    """3·N1 - 2·N2 + N3 + 5 >= 0: the standard deviation is √(9·4 + 4·1 + 9)/eps = 7/eps."""
    event = Event((normal(2), normal(1), normal(3)), (at_least({0: 3, 1: -2, 2: 1}, 5),))
    with mpmath.workdps(60):
        assert agrees(enclosure(event, F(2)), mpmath.ncdf(mpmath.mpf(10) / 7))


def test_an_interval_has_the_mass_between_its_ends() -> None:
    event = Event((normal(2, 1),), (at_least({0: 1}, 3), at_least({0: -1}, F(1, 2))))
    with mpmath.workdps(60):
        wanted = mpmath.ncdf((mpmath.mpf(1) / 2 - 1) * 3 / 2) - mpmath.ncdf(mpmath.mpf(-3 - 1) * 3 / 2)
        assert agrees(enclosure(event, F(3)), wanted)
    nothing = Event((normal(2, 1),), (at_least({0: 1}, -3), at_least({0: -1}, 2)))
    assert enclosure(nothing, F(3)) == (0, 0)


def test_leaves_within_an_interval_of_the_center() -> None:
    """|N1 - N0| <= 1 and N2 >= N0 - 1/2."""
    event = Event(
        (normal(1), normal(2, F(1, 3)), normal(F(1, 2))),
        (at_least({0: 1, 1: -1}, 1), at_least({0: -1, 1: 1}, 1), at_least({2: 1, 0: -1}, F(1, 2))),
    )
    eps = F(5, 4)
    with mpmath.workdps(60):
        e = mpmath.mpf(5) / 4

        def integrand(t: mpmath.mpf) -> mpmath.mpf:
            two = mpmath.ncdf(t + 1, mpmath.mpf(1) / 3, 2 / e) - mpmath.ncdf(t - 1, mpmath.mpf(1) / 3, 2 / e)
            return mpmath.npdf(t, 0, 1 / e) * two * mpmath.ncdf(1 - (t - mpmath.mpf(1) / 2) * 2 * e - 1)

        wanted = mpmath.quad(integrand, list(range(-14, 15)))
    assert agrees(enclosure(event, eps), wanted)


def exact(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def bounded_star(chance: random.Random) -> Event:
    """Leaves compared with the noise 0 and with numbers; the noise 0 may be bounded, too."""
    noises = tuple(normal(F(chance.randint(1, 6), 2), F(chance.randint(-3, 3), 2)) for _ in range(chance.randint(2, 4)))
    rows: list[Halfspace] = []
    for i in range(1, len(noises)):
        sign = chance.choice((-1, 1))
        rows.append(at_least({i: sign, 0: -sign * F(chance.randint(1, 4), 2)}, F(chance.randint(-2, 4), 2)))
        if chance.random() < 0.6:
            rows.append(at_least({i: chance.choice((-1, 1))}, F(chance.randint(0, 6), 2)))
        if chance.random() < 0.3:
            rows.append(at_least({i: -sign, 0: sign}, F(chance.randint(1, 6), 2)))
    if chance.random() < 0.5:
        rows += [at_least({0: 1}, F(chance.randint(0, 4))), at_least({0: -1}, F(chance.randint(0, 4)))]
    return Event(noises, tuple(rows))


def by_slices(event: Event, eps: Fraction) -> mpmath.mpf:
    """The probability of a bounded star, by quadrature between all points where the integrand changes."""
    with mpmath.workdps(34):
        e = mpmath.mpf(eps.numerator) / eps.denominator
        means = [mpmath.mpf(n.mean.numerator) / n.mean.denominator for n in event.noises]
        spreads = [n.rate.denominator / (mpmath.mpf(n.rate.numerator) * e) for n in event.noises]
        rows = [({i: exact(c) for i, c in r.coefficients}, exact(r.constant)) for r in event.constraints]

        def inside(x: mpmath.mpf) -> mpmath.mpf:
            total = mpmath.mpf(1)
            for i in range(1, len(means)):
                low, high = mpmath.ninf, mpmath.inf
                for row, constant in rows:
                    if i in row:
                        edge = -(row.get(0, 0) * x + constant) / row[i]
                        low, high = (max(low, edge), high) if row[i] > 0 else (low, min(high, edge))
                if low >= high:
                    return mpmath.mpf(0)
                total *= mpmath.ncdf(high, means[i], spreads[i]) - mpmath.ncdf(low, means[i], spreads[i])
            for row, constant in rows:
                if set(row) == {0} and row[0] * x + constant < 0:
                    return mpmath.mpf(0)
            return total * mpmath.npdf(x, means[0], spreads[0])

        lines = [(i, row.get(0, 0) / row[i], c / row[i]) for row, c in rows for i in row if i]
        edges = {-c / row[0] for row, c in rows if set(row) == {0}}
        edges |= {(d - b) / (a - c) for i, a, b in lines for j, c, d in lines if i == j and a != c}
        reach = [means[0] + k * spreads[0] for k in range(-14, 15)]
        return mpmath.quad(inside, sorted({*reach, *(x for x in edges if reach[0] < x < reach[-1])}))


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 100))])
def test_bounded_stars_against_quadrature(seed: int) -> None:
    chance = random.Random(f"bounded {seed}")
    event, eps = bounded_star(chance), F(chance.randint(2, 25), 10)
    assert agrees(enclosure(event, eps, 100), by_slices(event, eps), 26)


@pytest.mark.parametrize(
    ("deviations", "means", "eps"),
    [
        ((F(1, 10**6), 10**6, 1), (0, 0, 0), F(1)),
        ((1, 1, 1), (0, 10**6, -(10**6)), F(1)),
        ((1, 1, 1), (0, 0, 10**6), F(1000)),
        ((1, 2, 3), (1, 0, -1), F(1, 10**9)),
        ((1, 2, 3), (1, 0, -1), F(10**9)),
    ],
)
def test_hostile_scales_are_enclosed_or_refused(
    deviations: tuple[Fraction, ...], means: tuple[int, ...], eps: Fraction
) -> None:
    noises = tuple(normal(s, m) for s, m in zip(deviations, means, strict=True))
    try:
        low, high = enclosure(star(noises), eps, 60)
    except LimitReached:
        return
    assert high - low <= F(1, 2**60)
    sure = means[2] - max(means[:2])
    if abs(sure * eps) > 10**5 * max(map(F, deviations)):
        assert abs(low - (sure > 0)) < F(1, 2**50)


def test_a_series_of_what_depends_on_no_eps_has_all_coefficients() -> None:
    """All but the first are 0, and known to be: others are added to them."""
    law, rate = GAUSS.with_deviation(Real.from_rational(F(3)), fixed=True)
    noises = tuple(Noise(law, rate, F(mean)) for mean in (0, 1, 5))
    for rows in ([at_least({0: 1}, 1)], [at_least({0: -1, i: 1}, 1) for i in (1, 2)]):
        part = normal_measure(Event(noises[: len(rows) + 1] if len(rows) > 1 else noises[:1], tuple(rows)))
        with precision(200, 12):
            series = part.series(F(2))
            assert series.prec == 12
            assert all(c == 0 for c in coefficients(series, 12)[1:])
        with precision(200, 3):
            short = part.series(F(2))
        with pytest.raises(AssertionError):
            coefficients(short, 12)


@pytest.mark.parametrize("seed", range(8))
def test_a_series_encloses_the_values_around_its_center(seed: int) -> None:
    """The enclosures include Cauchy's bound on the omitted coefficients."""
    chance = random.Random(seed)
    noises = tuple(normal(F(chance.randint(1, 6), 2), chance.randint(-2, 2)) for _ in range(chance.randint(2, 4)))
    event = star(noises) if seed < 3 else bounded_star(chance)
    center, length = F(chance.randint(2, 30), 10), 24
    part = normal_measure(event)
    with precision(300, length):
        series = part.series(center)
        most = part.majorant(center)
        for share in (F(-1, 4), F(-1, 10), F(0), F(1, 8), F(1, 4)):
            step = share * DISK * center
            value = sum(
                (c * flint.arb(to_fmpq(step)) ** k if k else c for k, c in enumerate(series.coeffs())), flint.arb(0)
            )
            rest = most * flint.arb(to_fmpq(abs(share))) ** length / flint.arb(to_fmpq(1 - abs(share)))
            low, high = enclosure(event, center + step, 200)
            with_rest = value + flint.arb(0, rest.upper())
            assert not with_rest < flint.arb(to_fmpq(low))
            assert not with_rest > flint.arb(to_fmpq(high))
            assert with_rest.rad() < 1e-4


def test_the_bound_on_a_disk_holds_on_it() -> None:
    """|P| at complex eps, by mpmath, is at most the majorant."""
    noises = (normal(1, 1), normal(2, -1), normal(1, 2))
    part = normal_measure(star(noises))
    radius = F(3, 4)
    with mpmath.workdps(20):
        most = mpmath.mpf(str(part.majorant(radius).mid().str(15, radius=False)))
        for k in range(5):
            eps = 2 + mpmath.mpf(3) / 4 * mpmath.expjpi(mpmath.mpf(k) / 4)

            def integrand(t: mpmath.mpf, eps: mpmath.mpc = eps) -> mpmath.mpc:
                # The center is the last, centered: x = t - means.
                return mpmath.npdf(t) * distribution(t + eps) * distribution((t + 3 * eps) / 2)

            assert abs(mpmath.quad(integrand, [-12, -5, -2, 0, 2, 5, 12])) <= most * (1 + mpmath.mpf(10) ** -10)


def test_there_is_no_closed_form() -> None:
    with pytest.raises(NoClosedForm, match="no closed form"):
        measure(star((normal(1), normal(1))))


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        ([{0: 1, 1: -1}, {1: 1, 2: -1}, {2: 1, 3: -1}], "no single one with all others"),
        ([{0: 1, 1: -1, 2: 1}, {0: 1, 1: 1, 3: 1}], "three sums"),
    ],
)
def test_what_is_not_covered_is_refused(constraints: list[dict[int, int]], reason: str) -> None:
    with pytest.raises(OutsideFragment, match=reason):
        normal_measure(Event((normal(1),) * 4, tuple(at_least({**c}) for c in constraints)))


# --- Laplace noise beside normal noise ---------------------------------------------------------------------------


LAPLACE = law_of("Lap")


def mixed_star(chance: random.Random) -> Event:
    """A bounded star in which some noises are Laplace."""
    event = bounded_star(chance)
    noises = [Noise(LAPLACE, noise.rate, noise.mean) if chance.random() < 0.5 else noise for noise in event.noises]
    noises[chance.randrange(len(noises))] = event.noises[0]
    return Event(tuple(noises), event.constraints)


def by_mixed_slices(event: Event, eps: Fraction) -> mpmath.mpf:
    """The probability of a mixed star, by quadrature between all points where the integrand changes."""
    with mpmath.workdps(34):
        e = exact(eps)
        means, rates = [exact(n.mean) for n in event.noises], [exact(n.rate) * e for n in event.noises]
        rows = [({i: exact(c) for i, c in r.coefficients}, exact(r.constant)) for r in event.constraints]

        def below(i: int, x: mpmath.mpf) -> mpmath.mpf:
            z = (x - means[i]) * rates[i]
            if not event.noises[i].law.has_form:
                return mpmath.ncdf(z)
            return 1 - mpmath.exp(-z) / 2 if z >= 0 else mpmath.exp(z) / 2

        def density(x: mpmath.mpf) -> mpmath.mpf:
            z = (x - means[0]) * rates[0]
            return rates[0] * (mpmath.exp(-abs(z)) / 2 if event.noises[0].law.has_form else mpmath.npdf(z))

        def inside(x: mpmath.mpf) -> mpmath.mpf:
            total = density(x)
            for i in range(1, len(means)):
                low, high = mpmath.ninf, mpmath.inf
                for row, constant in rows:
                    if i in row:
                        edge = -(row.get(0, 0) * x + constant) / row[i]
                        low, high = (max(low, edge), high) if row[i] > 0 else (low, min(high, edge))
                if low >= high:
                    return mpmath.mpf(0)
                total *= (1 if high == mpmath.inf else below(i, high)) - (0 if low == mpmath.ninf else below(i, low))
            for row, constant in rows:
                if set(row) == {0} and row[0] * x + constant < 0:
                    return mpmath.mpf(0)
            return total

        lines = [(i, row.get(0, 0) / row[i], c / row[i]) for row, c in rows for i in row if i]
        edges = {-c / row[0] for row, c in rows if set(row) == {0}} | {means[0]}
        edges |= {(d - b) / (a - c) for i, a, b in lines for j, c, d in lines if i == j and a != c}
        edges |= {-(means[i] + b) / a for i, a, b in lines if a}
        wide = 90 if event.noises[0].law.has_form else 14
        reach = [means[0] + mpmath.mpf(k) * wide / (14 * rates[0]) for k in range(-14, 15)]
        return mpmath.quad(inside, sorted({*reach, *(x for x in edges if reach[0] < x < reach[-1])}))


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 120))])
def test_mixed_stars_against_quadrature(seed: int) -> None:
    chance = random.Random(f"mixed {seed}")
    event, eps = mixed_star(chance), F(chance.randint(2, 25), 10)
    assert agrees(enclosure(event, eps, 100), by_mixed_slices(event, eps), 26)


@pytest.mark.parametrize("seed", range(8))
def test_a_series_of_a_mixed_star(seed: int) -> None:
    chance = random.Random(f"mixed series {seed}")
    event, center, length = mixed_star(chance), F(chance.randint(2, 30), 10), 24
    for each in (
        factor for factor in BoundMeasurer().measurer.factors(event) or () if isinstance(factor, NormalMeasure)
    ):
        with precision(300, length):
            series, most = each.series(center), each.majorant(center)
        for share in (F(-1, 4), F(1, 8), F(1, 4)):
            step = share * DISK * center
            with precision(300, 1):
                (there,) = each.series(center + step).coeffs() or [flint.arb(0)]
                value = sum(
                    (c * flint.arb(to_fmpq(step)) ** k if k else c for k, c in enumerate(series.coeffs())),
                    flint.arb(0),
                )
                rest = most * flint.arb(to_fmpq(abs(share))) ** length / flint.arb(to_fmpq(1 - abs(share)))
                assert abs(value - there) <= rest.upper() + value.rad() + there.rad()
                assert rest < 1e-2


@pytest.mark.parametrize("seed", range(6))
def test_what_others_imply_is_left_out(seed: int) -> None:
    """The comparison of the first with the last of three ordered values is implied by the other two."""
    chance = random.Random(seed)
    noises = tuple(normal(F(chance.randint(1, 4)), F(chance.randint(-2, 2))) for _ in range(3))
    a, b, spare = (F(chance.randint(-1, 2), 2) for _ in range(3))
    chain = (at_least({0: 1, 1: -1}, a), at_least({1: 1, 2: -1}, b))
    implied = at_least({0: 2, 2: -2}, 2 * (a + b + abs(spare)))
    assert enclosure(Event(noises, (*chain, implied)), F(3, 2)) == enclosure(Event(noises, chain), F(3, 2))


@pytest.mark.parametrize("seed", range(4))
def test_on_a_grid_a_value_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves whose bounds differ by multiples of a step share their values, against leaves computed alone."""
    chance = random.Random(seed)
    count, fine = chance.choice([8, 30]), chance.choice([4, 70])
    noises = (normal(F(3, 2)), *(normal(chance.choice([1, 2]), F(chance.randint(-9, 9), fine)) for _ in range(count)))
    rows = [at_least({0: chance.choice([1, -1]), i: chance.choice([-1, 1])}) for i in range(1, count + 1)]
    rows += [at_least({0: -1, 1: 1}, 5), at_least({0: 1, 1: -1}, 5)]
    event = Event(noises, tuple(rows))
    kept = enclosure(event, F(3, 4), 200)
    monkeypatch.setattr(of_normal, "_MANY", 1000)
    alone = enclosure(event, F(3, 4), 200)
    assert max(kept[0], alone[0]) <= min(kept[1], alone[1])
    assert kept[1] - kept[0] < F(1, 2**200)


def test_bounds_that_are_near_each_other_share_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred leaves whose means are closer than two nodes: a sixth of what they take one by one."""
    taken = []

    def counted(places: Sequence[flint.arb], *others: Any) -> Sequence[flint.arb]:
        taken.append(len(places))
        return twice_at(places, *others)

    twice_at = of_normal._twice_at
    monkeypatch.setattr(of_normal, "_twice_at", counted)
    noises = (*(normal(4, F(-i, 50)) for i in range(1, 101)), normal(2))
    low, high = enclosure(star(noises), F(1), 64)
    together = sum(taken)
    monkeypatch.setattr(of_normal, "_MANY", 1000)
    taken.clear()
    alone = enclosure(star(noises), F(1), 64)
    assert max(low, alone[0]) <= min(high, alone[1])
    assert together < sum(taken) / 6


def test_many_digits_of_many_leaves() -> None:
    """The maximum of 40 normal values, at 300 digits: equal ones are in every order alike."""
    noises = tuple(normal(2, F(0)) for _ in range(40))
    low, high = enclosure(star(noises), F(1), 1000)
    assert low <= F(1, 40) <= high
    spread = tuple(normal(2, F(i, 10)) for i in range(40))
    total = [F(0), F(0)]
    for last in range(40):
        order = (*spread[:last], *spread[last + 1 :], spread[last])
        ends = enclosure(star(order), F(1), 400)
        total = [total[0] + ends[0], total[1] + ends[1]]
    assert total[0] <= 1 <= total[1]
    assert total[1] - total[0] < F(1, 2**390)
