"""Lemma N1, step by step, and lemmas N0 and N0b, against quadrature in many digits, and against points."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from mpmath import mpf

from dipc.verifier.messages import half_weight
from dipc.verifier.reading import NotDerived
from dipc.verifier.trees import Spread, Tree, _independent, _require_apart, needed, tree_of

#: A density of the variance v, and leaves (a, d, variance), each Φ((a·t + d)/√variance).
STARS = [
    (mpf(1), [(mpf(1), mpf(0), mpf(1))]),
    (mpf(2), [(mpf(1), mpf(1), mpf(1)), (mpf(-1), mpf(2), mpf(3))]),
    (mpf(1) / 3, [(mpf(2), mpf(-1), mpf(2)), (mpf(1) / 2, mpf(3), mpf(1)), (mpf(-1), mpf(0), mpf(5))]),
]
#: Steps, in multiples of the deviation.
STEPS = [mpf(1), mpf(3) / 4, mpf(1) / 2]


@pytest.fixture(autouse=True)
def _digits() -> None:
    mpmath.mp.dps = 30


def normal(z: mpmath.mpc) -> mpmath.mpc:
    """Φ at a complex number."""
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def integrand(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]], t: mpmath.mpc) -> mpmath.mpc:
    v, leaves = star
    density = mpmath.exp(-t * t / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)
    return density * mpmath.fprod(normal((a * t + d) / mpmath.sqrt(s)) for a, d, s in leaves)


def curvature(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]]) -> mpf:
    """V of a center with these leaves."""
    v, leaves = star
    return 1 / v + mpmath.fsum(a * a / s for a, _, s in leaves)


def sigma(z: mpmath.mpc) -> mpmath.mpc:
    return mpf(1) / 2 + mpmath.si(mpmath.pi * z) / mpmath.pi


def places(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]], h: mpf, reach: int = 14) -> range:
    far = int(reach * mpmath.sqrt(star[0]) / h)
    return range(-far, far + 1)


@pytest.mark.parametrize("z", [mpf(1) / 4, mpf(1), mpf(3)])
def test_step_1_functions_grow_off_the_line_by_a_normal_factor_at_most(z: mpf) -> None:
    most = mpmath.exp(z * z / 2) * (1 + mpf(10) ** -25)
    for s in map(mpf, range(-6, 7)):
        assert abs(normal(mpmath.mpc(s, z))) <= most * normal(s)
        for other, turn in product(map(mpf, range(-6, 7)), (-1, 0, 1)):
            both = normal(mpmath.mpc(s, z)) + normal(mpmath.mpc(other, turn * z)) - 1
            assert abs(both) <= 2 * most


@pytest.mark.parametrize("star", STARS)
@pytest.mark.parametrize("step", STEPS)
def test_step_2_the_sum_over_the_whole_line(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]], step: mpf) -> None:
    h = step * mpmath.sqrt(star[0])
    true = mpmath.quad(lambda t: integrand(star, t), [-mpmath.inf, -3, 0, 3, mpmath.inf])
    total = h * mpmath.fsum(integrand(star, k * h) for k in places(star, h))
    z = mpmath.exp(-2 * mpmath.pi**2 / (h * h * curvature(star)))
    assert abs(total - true) <= 2 * z / (1 - z * z) + mpf(10) ** -20


@pytest.mark.parametrize("b", [mpf(0), mpf(1) / 8, mpf(1) / 2, mpf(1), mpf(2)])
def test_step_3_the_weight_of_half_a_line_is_bounded(b: mpf) -> None:
    for a in range(-40, 41):
        value = sigma(mpmath.mpc(mpf(a) / 8, b))
        assert abs(value) <= mpf(13) / 10 * mpmath.exp(mpmath.pi * b)
        if not b:
            assert -mpf(1) / 8 < value.real < mpf(9) / 8


@pytest.mark.parametrize("star", STARS)
@pytest.mark.parametrize("step", STEPS)
def test_step_3_the_sum_over_half_a_line(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]], step: mpf) -> None:
    h = step * mpmath.sqrt(star[0])
    q = mpmath.exp(-(mpmath.pi**2) / (2 * h * h * curvature(star)))
    if q > mpf(1) / 4:
        h *= mpmath.sqrt(mpmath.log(q) / mpmath.log(mpf(1) / 4))
        q = mpmath.exp(-(mpmath.pi**2) / (2 * h * h * curvature(star)))
    for side, ends in ((-1, [-mpmath.inf, -3, 0]), (1, [0, 3, mpmath.inf])):
        true = mpmath.quad(lambda t: integrand(star, t), ends)
        total = h * mpmath.fsum(sigma(mpf(side * k)) * integrand(star, k * h) for k in places(star, h))
        assert abs(total - true) <= 3 * q + mpf(10) ** -20


@pytest.mark.parametrize("star", STARS)
@pytest.mark.parametrize("reach", [1, 2, 4])
def test_step_4_what_is_left_out(star: tuple[mpf, list[tuple[mpf, mpf, mpf]]], reach: int) -> None:
    v, h = star[0], mpmath.sqrt(star[0]) / 2
    r = reach * mpmath.sqrt(v)
    rest = [k for k in places(star, h) if abs(k) > mpmath.ceil(r / h)]
    left_out = h * mpmath.fsum(abs(sigma(mpf(k)) * integrand(star, k * h)) for k in rest)
    beyond = mpf(9) / 8 * mpmath.erfc(r / mpmath.sqrt(2 * v))
    assert left_out <= beyond
    assert mpmath.erfc(mpf(reach)) <= mpmath.exp(-(mpf(reach) ** 2))


@pytest.mark.parametrize("v", [mpf(1) / 10, mpf(1), mpf(7)])
@pytest.mark.parametrize("shift", [mpf(0), mpf(1) / 3, mpf(1) / 2])
def test_step_5_the_weights_of_a_center_come_to_less_than_4(v: mpf, shift: mpf) -> None:
    h = mpmath.sqrt(6 * v)
    densities = h * mpmath.fsum(
        mpmath.exp(-(((k + shift) * h) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v) for k in range(-30, 31)
    )
    assert densities <= 1 + h / mpmath.sqrt(2 * mpmath.pi * v) <= 2
    weighted = h * mpmath.fsum(
        abs(sigma(mpf(k))) * mpmath.exp(-(((k + shift) * h) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)
        for k in range(-30, 31)
    )
    assert weighted <= mpf(9) / 8 * densities < 4


@pytest.mark.parametrize("nu", [mpf(1) / 4, mpf(1), mpf(2)])
@pytest.mark.parametrize("w", [mpf(0), mpf(1), mpf(-2)])
def test_step_6_the_sum_on_the_disk(nu: mpf, w: mpf) -> None:
    """Places k·h + w·eps of one center of the variance 1, and a leaf Φ(a·t + d·eps)."""
    h, a, d = mpf(1) / 2, mpf(1), mpf(3) / 2
    spread = w * w + (d + a * w) ** 2

    def total(eps: mpmath.mpc) -> mpmath.mpc:
        return h * mpmath.fsum(
            mpmath.exp(-((k * h + w * eps) ** 2) / 2)
            / mpmath.sqrt(2 * mpmath.pi)
            * normal(a * (k * h + w * eps) + d * eps)
            for k in range(-60, 61)
        )

    for real, turn in product((mpf(1) / 2, mpf(2)), (mpf(-1), mpf(1) / 2, mpf(1))):
        # B is 1 for a center without ends and without leaves that have upper bounds.
        assert abs(total(mpmath.mpc(real, turn * nu))) <= 2 * mpmath.exp(nu * nu * spread / 2)


@pytest.mark.parametrize("n", [-9, -3, -1, 0, 1, 2, 5, 17, 60])
@pytest.mark.parametrize("bits", [20, 64, 100])
def test_the_weights_are_those_of_the_sine_integral(n: int, bits: int) -> None:
    low, high = half_weight(n, bits)
    assert high - low <= 8
    with mpmath.workdps(60):
        assert low <= sigma(mpf(n)) * mpf(2) ** bits <= high


# --- lemmas N0 and N0b: half-spaces and points ------------------------------------------------------


def drawn(chance: random.Random) -> list[tuple[dict[int, Fraction], Fraction]]:
    """Half-spaces over a value 0 and leaves 1 and 2, each of which has the value 0 where it has two values."""
    rows: list[tuple[dict[int, Fraction], Fraction]] = []
    for _ in range(chance.randint(2, 9)):
        leaf = chance.choice([0, 1, 1, 2])
        row = {0: Fraction(chance.randint(-3, 3)), leaf: Fraction(chance.choice([-2, -1, 1, 2]))}
        rows.append(({i: c for i, c in row.items() if c}, Fraction(chance.randint(-4, 6))))
    return rows


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_holds_just_where_all_half_spaces_hold(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        rows = drawn(chance)
        kept = needed(rows)
        for _ in range(150):
            point = [Fraction(chance.randint(-2_000, 2_000), chance.choice([100, 307])) for _ in range(3)]
            values = [sum(c * point[i] for i, c in row.items()) + d for row, d in rows]
            if all(values):
                assert all(values[place] > 0 for place in kept) is all(value > 0 for value in values)


def test_leaves_that_are_compared_with_each_other_are_refused() -> None:
    rows = [({0: Fraction(1), 1: Fraction(-1)}, Fraction(0)), ({1: Fraction(1), 2: Fraction(-1)}, Fraction(0))]
    _require_apart(rows, frozenset({0, 2}))
    with pytest.raises(NotDerived, match="two leaves are compared"):
        _require_apart(rows, frozenset({0, 1}))
    for leaves in _independent(rows, 3):
        _require_apart(rows, leaves)


@pytest.mark.parametrize("seed", range(6))
def test_a_description_has_the_probability_of_its_half_spaces(seed: int) -> None:
    """Three normal values of which the first two are compared with the last: by quadrature over the last one."""
    chance = random.Random(seed)
    variances = [Fraction(chance.randint(1, 5)) for _ in range(3)]
    shifts = [Fraction(chance.randint(-2, 3)) for _ in range(2)]
    rows = [({n: Fraction(1), 2: Fraction(-1)}, shift) for n, shift in enumerate(shifts)]
    tree = tree_of([Spread(False, v) for v in variances], rows, fixed=False)
    direct = mpmath.quad(
        lambda t: (
            mpmath.npdf(t, 0, mpmath.sqrt(mpf(int(variances[2]))))
            * mpmath.fprod(
                mpmath.ncdf((int(shift) - t) / mpmath.sqrt(mpf(int(v))))
                for shift, v in zip(shifts, variances, strict=False)
            )
        ),
        [-mpmath.inf, -2, 0, 2, mpmath.inf],
    )
    assert abs(described(tree) - direct) < mpf(10) ** -12


def described(tree: Tree) -> mpf:
    """The probability at eps = 1 of a tree of one center, by quadrature of what the tree says."""
    root = tree.root

    def number(x: Fraction) -> mpf:
        return mpf(x.numerator) / x.denominator

    def leaf_probability(t: mpf) -> mpf:
        result = mpf(1)
        for leaf, count in root.leaves:
            deviation = mpmath.sqrt(number(leaf.spread.size))
            low = min(((number(a) * t + number(d)) / deviation for a, _, d in leaf.lower), default=mpmath.inf)
            high = min(((number(a) * t + number(d)) / deviation for a, _, d in leaf.upper), default=mpmath.inf)
            result *= max(mpf(0), mpmath.ncdf(low) + mpmath.ncdf(high) - 1) ** count
        return result

    deviation = mpmath.sqrt(number(root.spread.size))
    assert not root.own
    assert not root.below
    return mpmath.quad(
        lambda t: mpmath.npdf(t, 0, deviation) * leaf_probability(t),
        [-12 * deviation, -2 * deviation, 0, 2 * deviation, 12 * deviation],
    )
