"""Enclosures of probabilities over discrete Gaussian noises, against sums at 50 digits that do not use trees."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import flint
import mpmath
import pytest

import dipc
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, BoundMeasurer, EnclosedForm, Share
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.measure.summed import summed_measure
from dipc.noise.laws import law_of
from dipc.simulation.compare import Agreement
from tests.fuzz.normal_oracle import Comparison, Drawn, over_integers

F = Fraction
DGAUSS, DLAP = law_of("DGauss"), law_of("DLap")

#: A tree over noises: a pair, its coefficients, the constant, and whether it is strict.
Row = tuple[dict[int, int], Fraction, bool]


def noise(deviation: Fraction, mean: int = 0, *, fixed: bool = False, root: bool = False) -> Noise:
    factor = Real.from_rational(deviation).sqrt() if root else Real.from_rational(deviation)
    law, rate = DGAUSS.with_deviation(factor, fixed=fixed)
    return Noise(law, rate, F(mean))


def event(noises: tuple[Noise, ...], rows: list[Row]) -> Event:
    return Event(noises, tuple(Halfspace(tuple((i, F(c)) for i, c in sorted(r.items())), d, s) for r, d, s in rows))


def bound_of(about: Event) -> EnclosedForm:
    bounds = BoundMeasurer()
    return EnclosedForm.from_bound(Bound((Share(None, (about,)),)), bounds.measurer, bounds.measurer.limits)


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def masses(each: Noise, eps: mpmath.mpc, reach: int) -> dict[int, mpmath.mpc]:
    """The mass of each value up to `reach`."""
    if each.law == DLAP:
        z = mpmath.exp(-number(each.rate) * eps)
        weights = {k: (1 - z) / (1 + z) * z ** abs(k) for k in range(-reach, reach + 1)}
    else:
        low, high = each.law.normal_unit.enclosure(200)
        scale = number(each.rate) / number((low + high) / 2) * (1 if each.law.fixed else eps)
        weights = {k: mpmath.exp(-((k * scale) ** 2) / 2) for k in range(-reach, reach + 1)}
        whole = mpmath.fsum(weights.values())
        weights = {k: w / whole for k, w in weights.items()}
    return {int(each.mean) + k: w for k, w in weights.items()}


def by_brute_force(about: Event, eps: mpmath.mpc, reach: int) -> mpmath.mpc:
    """The probability by summing over every combination of values."""
    laws = [masses(each, eps, reach) for each in about.noises]
    total = mpmath.mpf(0)
    for values in itertools.product(*laws):
        slacks = [(sum((c * values[i] for i, c in h.coefficients), h.constant), h.strict) for h in about.constraints]
        if all(slack > 0 or (slack == 0 and not strict) for slack, strict in slacks):
            total += mpmath.fprod(law[value] for law, value in zip(laws, values, strict=True))
    return total


def random_tree(chance: random.Random, count: int) -> Event:
    noises = []
    for _ in range(count):
        mean = chance.randint(-2, 2)
        kind = chance.random()
        if kind < 0.2:
            noises.append(Noise(DLAP, F(chance.randint(1, 3), 2), F(mean)))
        else:
            noises.append(noise(F(chance.randint(1, 4), 2), mean, fixed=kind > 0.8, root=chance.random() < 0.3))
    noises[0] = noise(F(3, 2), chance.randint(-2, 2))
    rows: list[Row] = []
    for i in range(1, count):
        j, sign = chance.randrange(i), chance.choice([-1, -1, 1])
        side = chance.choice([-1, 1])
        rows.append(({i: side, j: side * sign}, F(chance.randint(-3, 3), chance.choice([1, 2])), chance.random() < 0.5))
        if chance.random() < 0.3:
            rows.append(({i: -side, j: -side * sign}, F(chance.randint(1, 9)), False))
    if chance.random() < 0.5:
        rows.append(
            ({chance.randrange(count): chance.choice([-2, 1])}, F(chance.randint(-2, 4)), chance.random() < 0.5)
        )
    return event(tuple(noises), rows)


@pytest.mark.parametrize("seed", range(14))
def test_trees_against_brute_force(seed: int) -> None:
    chance = random.Random(seed)
    about = random_tree(chance, chance.randint(1, 3))
    eps = F(chance.randint(8, 30), 10)
    reach = 26 if len(about.noises) == 3 else 60
    low, high = bound_of(about).dyadic_enclosure(eps, 120)
    assert high - low <= F(1, 2**120)
    with mpmath.workdps(50):
        wanted = by_brute_force(about, number(eps), reach)
        # The omitted mass: deviations are 2/0.8 at most, rates 0.4 at least.
        slop = mpmath.mpf(10) ** (-4 if any(n.law == DLAP for n in about.noises) and reach < 30 else -20)
        if all(n.law != DLAP for n in about.noises) and reach == 60:
            slop = mpmath.mpf(10) ** -34
        assert number(low) - slop <= wanted <= number(high) + slop


@pytest.mark.parametrize("deviation", [F(1, 10**6), F(1, 10), F(1), F(7, 3), F(50), F(1000)])
@pytest.mark.parametrize("reach", [0, 3, 10**6])
def test_one_noise_within_a_reach(deviation: Fraction, reach: int) -> None:
    about = event((noise(deviation, 7),), [({0: 1}, F(reach - 7), False), ({0: -1}, F(reach + 7), False)])
    low, high = bound_of(about).dyadic_enclosure(F(1), 150)
    with mpmath.workdps(60):
        q = 1 / (2 * number(deviation) ** 2)
        whole = mpmath.jtheta(3, 0, mpmath.exp(-q))
        inside = mpmath.fsum(mpmath.exp(-q * k * k) for k in range(-min(reach, 16_000), min(reach, 16_000) + 1))
        assert number(low) - mpmath.mpf(10) ** -45 <= inside / whole <= number(high) + mpmath.mpf(10) ** -45
        assert high - low <= F(1, 2**150)


@pytest.mark.parametrize("seed", range(8))
def test_a_series_encloses_the_values_around_its_center(seed: int) -> None:
    chance = random.Random(100 + seed)
    about = random_tree(chance, 2)
    center = F(chance.randint(8, 20), 10)
    bound = bound_of(about)
    with precision(400, 24):
        series = coefficients(bound.series(center), 24)
        majorant = bound.majorant(center)
        for part in (F(-1, 8), F(1, 9), F(1, 16)):
            h = part * DISK * center
            value = sum((c * flint.arb(to_fmpq(h)) ** k for k, c in enumerate(series)), flint.arb(0))
            rest = majorant * flint.arb(to_fmpq(abs(part))) ** 24 / (1 - flint.arb(to_fmpq(abs(part))))
            low, high = bound.dyadic_enclosure(center + h, 200)
            assert value + flint.arb(0, rest.upper()) == flint.arb(to_fmpq((low + high) / 2)) or (
                value + flint.arb(0, rest.upper())
            ).overlaps(flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high))))


@pytest.mark.parametrize("deviation", [F(1, 20), F(1, 2), F(1), F(6, 5), F(4)])
def test_the_bound_of_the_total_variation_holds_on_the_disk(deviation: Fraction) -> None:
    """The values of |q| include 3, where the proof changes from one case to the other."""
    most = float(noise(deviation).law.variation_bound(DISK)) ** 0.5
    with mpmath.workdps(30):
        for angle in range(0, 360, 5):
            eps = 1 + mpmath.mpf(1) / 2 * mpmath.expjpi(mpmath.mpf(angle) / 180)
            q = eps**2 / (2 * number(deviation) ** 2)
            reach = int(12 * float(deviation) * 2) + 8
            terms = [mpmath.exp(-q * k * k) for k in range(-reach, reach + 1)]
            assert mpmath.fsum(map(abs, terms)) <= most * abs(mpmath.fsum(terms))
            assert abs(mpmath.fsum(terms)) > 0.5


@pytest.mark.parametrize("deviation", [F(1, 3), F(1), F(9, 4), F(12)])
def test_normal_noise_is_near(deviation: Fraction) -> None:
    """The tails that bind the law to a normal one, at deviations from small to large."""
    s = float(deviation)
    whole = sum(math.exp(-(k**2) / (2 * s * s)) for k in range(-400, 401))
    for m in range(1, 30):
        tail = sum(math.exp(-(k**2) / (2 * s * s)) for k in range(m, 400)) / whole
        assert math.erfc((m + 0.5) / (s * math.sqrt(2))) / 2 <= tail * (1 + 1e-12)
        assert tail <= math.erfc((m - 1) / (s * math.sqrt(2))) / 2 * (1 + 1e-12)
        # Chernoff's bound on the omitted mass.
        assert tail <= math.exp(-(m**2) / (2 * s * s)) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([({0: 1, 1: -1}, F(0), False), ({1: 1, 2: -1}, F(0), False), ({0: 1, 2: -1}, F(0), False)], "cycle"),
        ([({0: 1, 1: 1, 2: 1}, F(0), False), ({0: 1}, F(0), False), ({1: 1}, F(0), False)], "more than two sums"),
    ],
)
def test_what_is_not_covered_is_refused(rows: list[Row], reason: str) -> None:
    with pytest.raises(OutsideFragment, match=reason):
        summed_measure(event(tuple(noise(F(1)) for _ in range(3)), rows))


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 120))])
def test_sums_of_three_and_multiples(seed: int) -> None:
    """The enclosures agree with sums over all combinations of values."""
    chance = random.Random(f"sums {seed}")
    count = chance.choice((2, 3, 3))
    drawn = [(chance.choice((F(1), F(1, 2), F(3, 2))), chance.randint(-2, 2)) for _ in range(count)]
    one_sum = {i: chance.choice((-3, -2, -1, 1, 2)) for i in range(count)}
    if seed % 2:
        rows = [(one_sum, F(chance.randint(-4, 8), 2), chance.random() < 0.5)]
        if chance.random() < 0.6:
            rows.append(({i: -2 * c for i, c in one_sum.items()}, F(chance.randint(0, 17), 2), chance.random() < 0.5))
    else:
        rows = [
            ({0: chance.choice((1, 2, 3)), i: chance.choice((-2, -1, 1, 3))}, F(chance.randint(-3, 9), 3), False)
            for i in range(1, count)
        ]
        rows += [({1: chance.choice((-2, 1))}, F(chance.randint(0, 5), 2), True)]
    about = event(tuple(noise(size, mean) for size, mean in drawn), rows)
    eps = F(chance.choice((1, 2, 3)), 2)
    measure = summed_measure(about)
    with mpmath.workdps(30):
        wanted = over_integers(
            [Drawn("DGauss", size / eps, F(mean)) for size, mean in drawn],
            [Comparison(tuple((i, F(c)) for i, c in row.items()), d, strict) for row, d, strict in rows],
        )
        if measure is None:
            assert wanted == 0
            return
        low, high = bound_of(about).dyadic_enclosure(eps, 90)
        assert number(low) - mpmath.mpf(10) ** -20 <= wanted <= number(high) + mpmath.mpf(10) ** -20


def test_a_sum_of_three_in_a_program() -> None:
    text = """program p; input q : {0..2}; output o : bool; ideal { o <- q >= 1 }
    o <- DGauss(2/eps, q) + DGauss(1/eps, 0) + 2*DGauss(1/eps, 0) >= 1"""
    program = dipc.load(text)
    assert dipc.check(program, inputs="q in {2}", beta="9/10*exp(-eps/30)").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, inputs="q in {2}", beta="exp(-eps)/4").verdict is dipc.Verdict.INACCURATE


def test_too_many_terms_are_a_limit() -> None:
    about = event((noise(F(10**6)),), [({0: 1}, F(0), False)])
    with pytest.raises(LimitReached, match="terms"):
        bound_of(about).dyadic_enclosure(F(1), 60)


def test_no_values() -> None:
    about = event((noise(F(1)),), [({0: 2}, F(-1), False), ({0: -2}, F(1), False)])
    assert summed_measure(about) is None


NOISY_MAX = """program p; input q[1..3] : {0..4}; output out : {1..3} = 1; var r, best : int;
ideal { var best : int; best <- q[1]; for i in 2..3 do if q[i] > best then best <- q[i]; out <- i end end }
best <- DGauss(2/eps, q[1]);
for i in 2..3 do r <- DGauss(2/eps, q[i]); if r > best then best <- r; out <- i end end"""


def test_a_noisy_maximum_for_every_eps() -> None:
    """Near 0 the proof compares with normal noise; far out it uses tails and that integers are apart."""
    program = dipc.load(NOISY_MAX)
    holds = dipc.check(program, inputs="q in 0..4", beta="3*exp(-alpha*eps/8)/2")
    assert holds.verdict is dipc.Verdict.ACCURATE
    fails = dipc.check(program, inputs="q in 0..4", beta="exp(-alpha*eps/2)/2")
    assert fails.verdict is dipc.Verdict.INACCURATE


def test_simulated() -> None:
    """200 000 runs of the interpreter."""
    program = dipc.load(NOISY_MAX)
    given = {"q": [1, 3, 2]}
    found = dipc.simulate(program, given, eps=F(3, 4), runs=200_000, seed=5)
    assert found.agreement is Agreement.MATCH


def test_a_claim_begins_to_hold() -> None:
    text = "program p; input q : {0..4}; output r : int; ideal { r <- q } r <- DGauss(2/eps, q)"
    found = dipc.solve(dipc.load(text), wanted="eps", inputs="q in {1}", beta="1/20", gamma=3, digits=20)
    assert found.status == "solved"
    assert isinstance(found.eps_answer, tuple)
    with mpmath.workdps(40):

        def missing(eps: mpmath.mpf) -> mpmath.mpf:
            q = eps**2 / 8
            inside = mpmath.fsum(mpmath.exp(-q * k * k) for k in range(-3, 4))
            return 1 - inside / mpmath.jtheta(3, 0, mpmath.exp(-q)) - mpmath.mpf(1) / 20

        root = mpmath.findroot(missing, (1, 1.4))
        assert number(found.eps_answer[0]) <= root <= number(found.eps_answer[1])
