"""Probabilities over normal noises in trees of comparisons: against orders, nested quadrature and Monte Carlo."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations

import flint
import mpmath
import numpy as np
import pytest

import dipc
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.linear.halfspace import Halfspace
from dipc.measure import normal_tree
from dipc.measure.event import Event
from dipc.measure.measure import Bound, BoundMeasurer, EnclosedForm, Share
from dipc.measure.normal import Normal, values_of
from dipc.measure.normal_tree import MOST_PRODUCTS, TreeMeasure, _Messages, _Rules, tree_measure
from dipc.measure.power_series import DISK, coefficients, precision
from tests.measure.test_normal import at_least, distribution, enclosure, normal

F = Fraction


def measured(event: Event) -> TreeMeasure:
    values, rows, unit, fixed = values_of(event)
    return tree_measure(values, rows, unit, fixed=fixed)


def chain(count: int) -> Event:
    return Event(tuple(normal(1) for _ in range(count)), tuple(at_least({i: 1, i + 1: -1}) for i in range(count - 1)))


def between_two(first: int, second: int, means: list[int]) -> Event:
    """All other noises lie between two of them."""
    noises = (normal(first), normal(second, -1), *(normal(2, mean) for mean in means))
    rows = [at_least(row) for i in range(2, len(noises)) for row in ({0: 1, i: -1}, {1: -1, i: 1})]
    return Event(noises, tuple(rows))


def test_four_equal_noises_are_in_each_order_alike() -> None:
    low, high = enclosure(chain(4), F(1), 100)
    assert low <= F(1, 24) <= high
    assert high - low < F(1, 2**100)


@pytest.mark.parametrize("count", [5, 6, 9])
def test_many_equal_noises_are_in_each_order_alike(count: int) -> None:
    low, high = enclosure(chain(count), F(1), 60)
    assert low <= F(1, math.factorial(count)) <= high
    assert high - low < F(1, 2**60)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (20, 1, 1, 20), (9, F(1, 9), 1, 3)])
def test_what_is_left_out_is_bounded_for_all_places_of_the_parent(sizes: tuple[Fraction, ...]) -> None:
    """The bound also covers the outermost nodes, up to a step beyond the reach of the parent."""
    rows = [at_least(dict.fromkeys(range(n + 1), 1) | {4 + n: -1}) for n in range(4)]
    measure = measured(Event((*map(normal, sizes), *(normal(1) for _ in range(4))), tuple(rows)))
    with precision(100, 1):
        rules = _Rules.choose(measure, (F(1), F(1)), wide=False)
        assert any(center.slope for center in measure.centers)
        for center, rule in zip(measure.centers, rules.rules, strict=True):
            if center.parent is not None:
                farthest = rules.places(center.parent, F(0))[-1] * rules.rules[center.parent].step
                far = rule.reach - abs(center.slope) * farthest
                assert Normal(center.variance).two_sided_tail(flint.arb(to_fmpq(far))) * 11 / 10 < rule.whole


def quadrature(event: Event, eps: Fraction) -> float:
    """The probability by quadrature over a plane of the first two noises; all others are leaves."""
    e = float(eps)
    first, second, *others = event.noises
    nodes, weights = np.polynomial.legendre.leggauss(160)
    s, t = (1 / (float(n.rate) * e) for n in (first, second))
    x = float(first.mean) + 9 * s * nodes
    density = np.exp(-((x - float(first.mean)) ** 2) / (2 * s * s)) / (s * math.sqrt(2 * math.pi)) * weights * 9 * s
    total = 0.0
    for value, weight in zip(x, density, strict=True):
        # Bounds on the second noise alone move with the first: the panel ends there.
        low, high = float(second.mean) - 9 * t, float(second.mean) + 9 * t
        ends = [low, high]
        for item in event.constraints:
            row = dict(item.coefficients)
            if set(row) <= {0, 1} and 1 in row:
                edge = -(float(item.constant) + float(row.get(0, 0)) * value) / float(row[1])
                ends = [max(ends[0], edge), ends[1]] if row[1] > 0 else [ends[0], min(ends[1], edge)]
        if len(others) and not any(set(dict(item.coefficients)) <= {0, 1} for item in event.constraints):
            ends = [low, min(high, max(low, value))] if _is_between(event) else ends
        if ends[0] >= ends[1]:
            continue
        y = (ends[0] + ends[1]) / 2 + (ends[1] - ends[0]) / 2 * nodes
        inner = np.exp(-((y - float(second.mean)) ** 2) / (2 * t * t)) / (t * math.sqrt(2 * math.pi))
        inner *= weights * (ends[1] - ends[0]) / 2
        for place, other in enumerate(others, 2):
            lower, upper = np.full_like(y, -np.inf), np.full_like(y, np.inf)
            for item in event.constraints:
                row = dict(item.coefficients)
                if place not in row:
                    continue
                edge = -(float(item.constant) + float(row.get(0, 0)) * value + float(row.get(1, 0)) * y)
                edge = edge / float(row[place])
                if row[place] > 0:
                    lower = np.maximum(lower, edge)
                else:
                    upper = np.minimum(upper, edge)
            r, m = 1 / (float(other.rate) * e), float(other.mean)
            above, below = (np.vectorize(math.erf)((edge - m) / (r * math.sqrt(2))) for edge in (upper, lower))
            inner = inner * np.maximum(0, above - below) / 2
        total += weight * float(inner.sum())
    return total


def _is_between(event: Event) -> bool:
    """Whether the others are between the first two."""
    return any(0 in dict(item.coefficients) for item in event.constraints)


@pytest.mark.parametrize("seed", range(3))
def test_between_two_noises_against_quadrature(seed: int) -> None:
    chance = random.Random(seed)
    event = between_two(chance.randint(1, 4), chance.randint(1, 4), [chance.randint(-2, 2) for _ in range(2)])
    eps = F(chance.randint(2, 20), 10)
    low, high = enclosure(event, eps, 80)
    assert abs(float(low) - quadrature(event, eps)) < 1e-9
    assert high - low < F(1, 2**80)


@pytest.mark.parametrize("seed", range(3))
def test_noise_around_a_noisy_value(seed: int) -> None:
    """A threshold, a noisy value compared with it, and one around that, compared again."""
    chance = random.Random(seed)
    noises = (normal(2), normal(1, chance.randint(-2, 2)), normal(chance.randint(1, 3)))
    rows = (
        at_least({0: -1, 1: 1}, F(chance.randint(-2, 2), 2)),
        at_least({0: 1, 1: -1, 2: -1}, F(chance.randint(-2, 2), 2)),
    )
    event, eps = Event(noises, rows), F(chance.randint(5, 15), 10)
    low, high = enclosure(event, eps, 80)
    assert abs(float(low) - quadrature(event, eps)) < 1e-9
    assert high - low < F(1, 2**80)


@pytest.mark.parametrize("seed", range(3))
def test_events_by_monte_carlo(seed: int) -> None:
    chance = random.Random(50 + seed)
    event = between_two(3, 3, [chance.randint(-1, 1) for _ in range(3)])
    eps, runs = F(chance.randint(3, 12), 10), 1_000_000
    draws = np.random.default_rng(seed)
    values = [float(n.mean) + draws.standard_normal(runs) / (float(n.rate) * float(eps)) for n in event.noises]
    holds = np.full(runs, True)
    for item in event.constraints:
        holds &= sum((float(c) * values[i] for i, c in item.coefficients), np.full(runs, float(item.constant))) >= 0
    share, (low, _) = holds.mean(), enclosure(event, eps, 60)
    assert abs(share - float(low)) < 5 * math.sqrt(share * (1 - share) / runs)


def test_a_value_to_fifty_digits() -> None:
    """An order of three, at distinct deviations."""
    event = Event((normal(1, 1), normal(2), normal(3)), (at_least({0: 1, 2: -1}), at_least({1: -1, 2: 1})))
    found = measured(event)
    with precision(260, 1):
        (ball,) = coefficients(found.series(F(1)), 1)
    # The same is an orthant of two correlated normal values: 1/4 + asin(ρ)/2π where means are 0.
    centered = Event((normal(1), normal(2), normal(3)), event.constraints)
    with precision(260, 1):
        (zero,) = coefficients(measured(centered).series(F(1)), 1)
    with mpmath.workdps(60):
        correlation = mpmath.mpf(-9) / mpmath.sqrt(10 * 13)
        exact = mpmath.mpf(1) / 4 + mpmath.asin(correlation) / (2 * mpmath.pi)
        assert abs(mpmath.mpf(str(zero.mid().str(60, radius=False))) - exact) < mpmath.mpf(10) ** -55
        assert zero.rad() < flint.arb(10) ** -55

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, 0, 3) * mpmath.ncdf(1 - x) * mpmath.ncdf(x / 2)

        wanted = mpmath.quad(integrand, [3 * k for k in range(-16, 17)])
        assert abs(mpmath.mpf(str(ball.mid().str(60, radius=False))) - wanted) < mpmath.mpf(10) ** -50


@pytest.mark.parametrize("seed", range(2))
def test_a_series_encloses_the_values_around_its_center(seed: int) -> None:
    chance = random.Random(seed)
    event = between_two(2, 2, [chance.randint(-1, 1)])
    bounds = BoundMeasurer()
    bound = EnclosedForm.from_bound(Bound((Share(None, (event,)),)), bounds.measurer, bounds.measurer.limits)
    found, center = measured(event), F(chance.randint(5, 12), 10)
    with precision(120, 6):
        series, majorant = coefficients(found.series(center), 6), found.majorant(center)
        for part in (F(-1, 16), F(1, 20)):
            h = flint.arb(to_fmpq(part * DISK * center))
            value = sum((c * h**k for k, c in enumerate(series)), flint.arb(0))
            share = flint.arb(to_fmpq(abs(part)))
            value += flint.arb(0, (majorant * share**6 / (1 - share)).upper())
            low, high = bound.dyadic_enclosure(center * (1 + part * DISK), 90)
            assert value.overlaps(flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high))))


def test_the_bounds_of_a_function_of_the_normal_distribution_hold() -> None:
    """|Φ(eps·z)| <= 3/2·exp(2R·(Im z)²) on the disk, which both rules rest upon, at random places."""
    chance = random.Random(3)
    with mpmath.workdps(30):
        for _ in range(400):
            eps = 1 + mpmath.mpf(chance.random()) / 2 * mpmath.expjpi(2 * chance.random())
            z = mpmath.mpc(chance.uniform(-8, 8), chance.uniform(-3, 3))
            most = mpmath.mpf(3) / 2 * mpmath.exp(2 * (eps**2).real * z.imag**2)
            assert abs(distribution(eps * z)) <= most * (1 + mpmath.mpf(10) ** -20)


@pytest.mark.parametrize("deviation", [F(1, 10**6), F(10**6)])
@pytest.mark.parametrize("eps", [F(1, 10**6), F(1), F(10**6)])
@pytest.mark.parametrize("mean", [0, 10**6])
def test_hostile_scales_are_enclosed_or_refused(deviation: Fraction, eps: Fraction, mean: int) -> None:
    noises = (normal(deviation, mean), normal(1), normal(deviation, -mean), normal(1))
    rows = (at_least({0: 1, 1: -1}), at_least({1: 1, 2: -1}), at_least({2: 1, 3: -1}))
    try:
        low, high = enclosure(Event(noises, rows), eps, 60)
    except LimitReached:
        return
    assert -F(1, 2**60) <= low <= high <= 1 + F(1, 2**60)


def test_bounds_that_meet_in_two_directions_are_refused() -> None:
    rows = (at_least({0: 1, 1: -1}), at_least({0: 1, 1: 1}), *(at_least({i: 1, j: -1}) for i, j in ((2, 0), (3, 1))))
    with pytest.raises(OutsideFragment, match="with different ratios"):
        measured(Event((normal(1),) * 4, rows))


@pytest.mark.parametrize("order", list(permutations(range(5))))
def test_two_between_two_and_one_beyond_in_any_order(order: Sequence[int]) -> None:
    """Given low <= a, b <= high and c <= low, the value high also lies between a and b.

    All orders of five equal noises are equally likely, and the three conditions hold in two of them.
    """
    high, low, a, b, c = order
    rows = (*(at_least(row) for i in (a, b) for row in ({high: 1, i: -1}, {low: -1, i: 1})), at_least({low: 1, c: -1}))
    least, most = enclosure(Event((normal(1),) * 5, rows), F(1), 60)
    assert least <= F(2, 120) <= most
    assert most - least < F(1, 2**60)


def test_circles_are_refused() -> None:
    """Each of three is compared with each of three others."""
    rows = tuple(at_least({i: 1, j: -1}) for i in range(3) for j in range(3, 6))
    with pytest.raises(OutsideFragment, match="form a cycle"):
        measured(Event((normal(1),) * 6, rows))


def test_a_circle_is_looked_at_once_in_each_of_two_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever noise is tried first as a leaf, there are no leaves, so each basis is tried once."""
    tried = []
    rooted = normal_tree._rooted
    monkeypatch.setattr(normal_tree, "_rooted", lambda *arguments: (tried.append(1), rooted(*arguments))[1])
    rows = tuple(at_least({i: 1, j: -1}) for i in range(3) for j in range(3, 13))
    with pytest.raises(OutsideFragment, match="form a cycle"):
        measured(Event((normal(1),) * 13, rows))
    assert len(tried) == 2


def test_no_room_at_all() -> None:
    noises = (normal(1), normal(1), normal(1))
    rows = (at_least({0: 1, 1: -1}), at_least({0: -1, 1: 1}, -1), at_least({0: 1, 1: 1, 2: 1}))
    assert enclosure(Event(noises, rows), F(1), 60)[1] <= F(1, 2**60)


@pytest.mark.parametrize("steps", [2, 3, 5, 8])
def test_values_around_values_that_all_stay_positive(steps: int) -> None:
    """The probability is C(2n, n)/4^n for any symmetric law (Sparre Andersen 1953), for steps of any deviations."""
    rows = tuple(at_least(dict.fromkeys(range(k + 1), 1)) for k in range(steps))
    low, high = enclosure(Event((normal(3),) * steps, rows), F(2), 70)
    assert low <= F(math.comb(2 * steps, steps), 4**steps) <= high
    assert high - low < F(1, 2**70)


def test_values_around_values_with_thresholds_of_their_own() -> None:
    """r_k = r_(k-1) + N_k is below a threshold drawn for it, six times, against draws."""
    noises = tuple(normal(1 if i < 6 else 2, 1 if i == 0 else 0) for i in range(12))
    rows = tuple(at_least({**dict.fromkeys(range(k + 1), -1), 6 + k: 1}, 4) for k in range(6))
    low, high = enclosure(Event(noises, rows), F(1), 60)
    assert high - low < F(1, 2**60)
    runs = 400_000
    draws = np.random.default_rng(6).standard_normal((12, runs))
    walked = 1 + draws[:6].cumsum(axis=0)
    share = float((walked <= 4 + 2 * draws[6:]).all(axis=0).mean())
    assert abs(share - float(low)) < 5 * math.sqrt(share * (1 - share) / runs)


def test_one_noise_more_takes_as_many_products_more() -> None:
    """Grids of all noises together would have millions of places."""
    spent = []
    for count in (5, 6, 7, 8):
        tree = measured(chain(count))
        with precision(64, 1):
            messages = _Messages(tree, _Rules.choose(tree, (F(1), F(1)), wide=False), flint.arb_series([1]), F(1))
            messages.probability()
        spent.append(MOST_PRODUCTS - messages.left)
    assert spent[0] < 10_000
    assert all(after - before < spent[0] for before, after in pairwise(spent))


def test_between_two_noisy_numbers_is_private_at_an_eps() -> None:
    """m-Range of DiPApprox with two queries."""
    program = dipc.load("benchmarks/privacy/m_range.dip", N=2)
    found = dipc.check_privacy(program, "hamming:1", inputs="q in {0,1}", budget="eps", delta="1/100", eps=F(1, 2))
    assert found.verdict == "private"


def test_halfspaces_are_as_they_are_given() -> None:
    """Constants and means are read alike."""
    noises = tuple(normal(1) for _ in range(4))
    moved = tuple(normal(1, mean) for mean in (3, 2, 1, 0))
    rows = tuple(Halfspace(((i, F(1)), (i + 1, F(-1))), F(1), False) for i in range(3))
    assert measured(Event(noises, rows)) == measured(Event(moved, tuple(at_least({i: 1, i + 1: -1}) for i in range(3))))


AROUND = """program around; input q : real; output out : {none, one, both} = none; var t, r, s : real;
ideal { if q >= 0 then out <- both end }
t <- Gauss(2/eps, 0);
r <- Gauss(1/eps, q);
if r >= t then s <- Gauss(1/eps, r); if s >= t then out <- both else out <- one end end"""


def test_a_claim_about_noise_around_a_noisy_value() -> None:
    """For every eps, and where it begins to hold, against draws."""
    program = dipc.load(AROUND)
    assert dipc.check(program, inputs="q=2", beta="6*exp(-eps/3)/7").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, inputs="q=2", beta="exp(-eps/3)/7").verdict is dipc.Verdict.INACCURATE
    found = dipc.solve(program, wanted="eps", inputs="q=2", beta="1/10", digits=6)
    assert found.status == "solved"
    assert found.eps_answer is not None
    eps, runs = float(found.eps_answer[0]), 4_000_000
    draws = np.random.default_rng(1).standard_normal((3, runs)) / eps
    threshold, first = 2 * draws[0], 2 + draws[1]
    share = float(((first >= threshold) & (first + draws[2] >= threshold)).mean())
    assert abs(share - 0.9) < 5 * math.sqrt(0.09 / runs)


def test_claims_on_an_interval_of_eps() -> None:
    """Four in a row: the polynomials are as near as the values at single eps say."""
    text = """program row; input q[1..4] : real; output r : bool; var a[1..4] : real;
    ideal { r <- q[1] >= q[2] and q[2] >= q[3] and q[3] >= q[4] }
    for i in 1..4 do a[i] <- Gauss(1/eps, q[i]) end;
    r <- a[1] >= a[2] and a[2] >= a[3] and a[3] >= a[4]"""
    program = dipc.load(text)
    about = {"inputs": "q=(6,4,2,0)", "alpha": 0, "eps": "[1, 5/4]"}
    found = program.probability({"q[1]": 6, "q[2]": 4, "q[3]": 2, "q[4]": 0}, {"r": True})
    low, high = found.enclosure(F(1))
    assert dipc.check(program, beta=1 - low + F(1, 10**6), **about).verdict == "accurate"
    refuted = dipc.check(program, beta=1 - high - F(1, 10**6), **about)
    assert refuted.verdict == "inaccurate"
