"""One-variable piecewise functions, against values and integrals computed numerically."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import flint
import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Meter
from dipc.measure.pieces import Piece, Piecewise, RingTerms, Slopes, Terms, add_value
from tests.patience import examples

EPS = mpmath.mpf(7) / 5

small = st.integers(-3, 3)
rationals = st.fractions(-4, 4, max_denominator=5).map(lambda c: flint.fmpq(c.numerator, c.denominator))
terms = st.dictionaries(st.tuples(st.integers(0, 2), small, st.integers(0, 3), small), rationals, max_size=4)
points = st.sampled_from([-2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 2.2])


def meter() -> Meter:
    return Meter(Limits())


def clean(found: Terms) -> Terms:
    return {key: c for key, c in found.items() if c}


def number(c: flint.fmpq) -> mpmath.mpf:
    return mpmath.mpf(int(c.p)) / int(c.q)


def value(found: Terms, x: float) -> mpmath.mpf:
    return mpmath.fsum(
        number(c) * EPS**k * mpmath.exp(q * EPS) * mpmath.mpf(x) ** n * mpmath.exp(l * mpmath.mpf(x))
        for (k, q, n, l), c in found.items()
    )


def ring_value(f: ExpPoly) -> mpmath.mpf:
    return mpmath.fsum(
        mpmath.mpf(c.numerator) / c.denominator * EPS**k * mpmath.exp(mpmath.mpf(q.numerator) / q.denominator * EPS)
        for k, q, c in f.terms()
    )


def evaluate(f: Piecewise[Piece], x: float) -> mpmath.mpf:
    """The value at a point that is not a breakpoint."""
    i = sum(1 for b in f.breaks if b * EPS < x)
    return value(f.pieces[i].terms(), x)


def close(left: mpmath.mpf, right: mpmath.mpf) -> bool:
    return bool(abs(left - right) <= mpmath.mpf(10) ** -9 * (1 + abs(left)))


def integral(f: Piecewise[Piece], low: float = -80.0, high: float = 80.0) -> float:
    """The integral by quadrature between breakpoints; the part beyond ±80 is negligible."""
    pieces = [
        [(float(number(c) * EPS**k * mpmath.exp(q * EPS)), n, l) for (k, q, n, l), c in p.terms().items()]
        for p in f.pieces
    ]
    ends = [low, *(float(b * EPS) for b in f.breaks), high]
    total = 0.0
    for piece, left, right in zip(pieces, ends, ends[1:], strict=False):
        left, right = max(left, low), min(right, high)
        if left >= right:
            continue
        # Quadrature on short intervals first sees the peak next to a breakpoint.
        cuts = sorted({left, right, *(x for x in (left + 3, left + 12, right - 12, right - 3) if left < x < right)})
        for a, b in pairwise(cuts):
            total += quad(lambda x, piece=piece: sum(c * x**n * math.exp(l * x) for c, n, l in piece), a, b)[0]
    return total


# --- single pieces -------------------------------------------------------------------------------------


@given(terms)
def test_terms_come_back(f: Terms) -> None:
    piece = Piece.of_terms(f)
    assert piece.terms() == clean(f)
    assert len(piece) == len(clean(f))
    assert piece.is_zero() == (not clean(f))


@given(terms, terms, points)
def test_products_and_differences(f: Terms, g: Terms, x: float) -> None:
    left, right = Piece.of_terms(f), Piece.of_terms(g)
    assert close(value(left.times(right, meter()).terms(), x), value(f, x) * value(g, x))
    assert close(value(left.plus(right.times_term(-1, 0)).terms(), x), value(f, x) - value(g, x))
    assert left.plus(left.times_term(-1, 0)).is_zero()


@given(terms, st.integers(1, 4))
def test_powers(f: Terms, exponent: int) -> None:
    piece = Piece.of_terms(f)
    product = piece
    for _ in range(exponent - 1):
        product = product.times(piece, meter())
    assert piece.to_power(exponent, meter()).terms() == product.terms()


def test_a_large_power_is_the_product_of_its_factors() -> None:
    piece = Piece.of_terms({(0, i, 0, i * i): flint.fmpq(1, i + 1) for i in range(6)})
    power = piece.to_power(14, meter())
    assert len(power) > 100
    assert close(value(power.terms(), 0.25), value(piece.terms(), 0.25) ** 14)


@given(terms, small, points)
def test_shifts(f: Terms, offset: int, x: float) -> None:
    assert close(value(Piece.of_terms(f).shifted(offset).terms(), x), value(f, x + offset * EPS))


@given(terms, terms)
def test_pieces_by_slopes_are_the_same_functions(f: Terms, g: Terms) -> None:
    """Terms, exponents, products and values agree."""
    left, right = Piece.of_terms(f), Piece.of_terms(g)
    mine, theirs = Piece.of_slopes(left.slopes), Piece.of_slopes(right.slopes)
    assert mine.terms() == clean(f)
    assert len(mine) == len(left)
    if not left.is_zero():
        assert mine.degrees == left.degrees
        assert mine.size() == left.size()
    product = left.times(right, meter())
    assert mine.times(theirs, meter()).terms() == product.terms()
    assert Piece.of_slopes(left.slopes).times(right, meter()).terms() == product.terms()
    point = mine.tilted(2).slopes.value(3)
    total: RingTerms = {}
    add_value(total, left.tilted(2).terms(), 3, 1)
    assert {(k, q): c for (k, q), c in total.items() if c} == {(k, q): c for k, q, c in point.integer_terms()[1]}


@given(terms)
def test_the_antiderivative_differentiates_back(f: Terms) -> None:
    derivative: Terms = {}
    antiderivative = Piece.of_terms(f).antiderivative(meter())
    grown = Piece.of_slopes(antiderivative).terms() if isinstance(antiderivative, Slopes) else antiderivative
    for (k, q, n, l), c in grown.items():
        for key, d in (((k, q, n, l), c * l), ((k, q, n - 1, l), c * n)):
            if d:
                derivative[key] = derivative.get(key, 0) + d
    assert clean(derivative) == clean(f)
    assert all(n or l for (_, _, n, l), c in grown.items() if c)


@given(terms, terms)
def test_the_bits_of_a_product_are_bounded(f: Terms, g: Terms) -> None:
    product = Piece.of_terms(f).times(Piece.of_terms(g), meter())
    # Sums of like terms may carry; so they may in a product of 4 by 4 terms, by 4 bits.
    assert Piece.of_terms(product.terms()).bits <= product.bits + 4


# --- piecewise functions -------------------------------------------------------------------------------


@st.composite
def densities(draw: st.DrawFn) -> Piecewise[Piece]:
    """A function as at a node of a tree: a Laplace density on a range, times powers of distribution functions."""
    f = Piecewise.laplace(draw(st.integers(1, 3)), draw(small))
    for _ in range(draw(st.integers(0, 2))):
        other = Piecewise.laplace(draw(st.integers(1, 3)), draw(small))
        message = other.window_integral(*draw(st.sampled_from([(None, 0), (0, None)])), meter())
        f = f.times(message.shifted(draw(small)).to_power(draw(st.integers(1, 2)), meter()), meter())
    ends = st.none() | small
    return f.restricted(draw(ends), draw(ends))


@given(st.integers(1, 5), small)
def test_a_laplace_density_integrates_to_one(rate: int, mean: int) -> None:
    assert Piecewise.laplace(rate, mean).integral(meter()) == ExpPoly.ONE


@given(st.integers(1, 5), small, small)
def test_the_mass_beyond_a_point_is_as_it_should_be(rate: int, mean: int, end: int) -> None:
    f = Piecewise.laplace(rate, mean)
    tail = ExpPoly.term(Fraction(1, 2), 0, -rate * abs(end - mean))
    expected = 1 - tail if end <= mean else tail
    assert f.restricted(end, None).integral(meter()) == expected
    assert f.restricted(None, end).integral(meter()) == 1 - expected


@settings(max_examples=examples(8))
@given(densities())
def test_integrals_agree_with_quadrature(f: Piecewise[Piece]) -> None:
    expected = integral(f)
    assert abs(ring_value(f.integral(meter())) - expected) < 1e-8
    below, above = f.window_integral(None, 0, meter()), f.window_integral(0, None, meter())
    for x in (-3.05, 0.15, 1.45, 6.05):
        assert abs(evaluate(below, x) - integral(f, high=x)) < 1e-8
        assert abs(evaluate(above, x) - integral(f, low=x)) < 1e-8


@given(densities(), small)
def test_integrals_below_are_continuous_and_start_at_zero(f: Piecewise[Piece], start: int) -> None:
    below = f.integral_to(upward=True, meter=meter())
    (total,) = f.window_integral(None, None, meter()).pieces
    for i, b in enumerate(below.breaks):
        left, right = (Piece.of_terms(below.pieces[j].terms()) for j in (i, i + 1))
        assert close(value(left.terms(), b * EPS), value(right.terms(), b * EPS))
    assert close(value(below.pieces[0].terms(), -400.0), mpmath.mpf(0))
    assert close(value(below.pieces[-1].terms(), 400.0), value(total.terms(), 0))
    assert value(total.terms(), 0) >= 0


@given(densities(), st.none() | small, st.none() | small, points)
def test_restrictions_keep_the_inside_and_nothing_else(
    f: Piecewise[Piece], low: int | None, high: int | None, x: float
) -> None:
    """Ends may be breakpoints of f, coincide, or be in the wrong order; at an end itself f may jump."""
    assume(x != 0 or 0 not in (low, high))
    inside = (low is None or x > low * EPS) and (high is None or x < high * EPS)
    cut = f.restricted(low, high)
    assert evaluate(cut, x) == (evaluate(f, x) if inside else 0)
    assert list(cut.breaks) == sorted(set(cut.breaks))
    assert len(cut.pieces) == len(cut.breaks) + 1
    if low is not None and high is not None and low >= high:
        assert cut == Piecewise((), cut.pieces)
        assert cut.integral(meter()).is_zero()


@given(densities(), small)
def test_two_halves_make_the_whole(f: Piecewise[Piece], at_point: int) -> None:
    halves = f.restricted(at_point, None).integral(meter()) + f.restricted(None, at_point).integral(meter())
    assert halves == f.integral(meter())


@given(densities(), densities(), points)
def test_piecewise_products_and_differences(f: Piecewise[Piece], g: Piecewise[Piece], x: float) -> None:
    assert close(evaluate(f.times(g, meter()), x), evaluate(f, x) * evaluate(g, x))
    assert close(evaluate(f.plus(g.times_term(-1, 0), meter()), x), evaluate(f, x) - evaluate(g, x))
    assert all(piece.is_zero() for piece in f.plus(f.times_term(-1, 0), meter()).pieces)


@given(densities(), small, points)
def test_piecewise_shifts(f: Piecewise[Piece], offset: int, x: float) -> None:
    moved = f.shifted(offset)
    if all(abs(b * EPS - x) > 1e-9 for b in moved.breaks):
        assert close(evaluate(moved, x), evaluate(f, x + offset * EPS))
    assert moved.integral(meter()) == f.integral(meter())


def test_trimming_keeps_what_separates() -> None:
    zero, one = Piece.zero(), Piece.of_terms({(0, 0, 0, 0): flint.fmpq(1)})
    f = Piecewise((0, 1, 2, 3, 4), (zero, zero, one, one, zero, zero)).trimmed()
    assert f == Piecewise((1, 2, 3), (zero, one, one, zero))
    assert Piecewise((0, 1), (zero, zero, zero)).trimmed() == Piecewise((), (zero,))


# --- limits --------------------------------------------------------------------------------------------


def test_a_product_is_refused_before_it_is_made() -> None:
    wide = Piece.of_terms({(0, i * i, 0, i * i * i): flint.fmpq(1) for i in range(3000)})
    with pytest.raises(LimitReached) as stopped:
        wide.times(wide, Meter(Limits(terms=100_000)))
    assert stopped.value.limit == "terms"
    assert "100000 terms" in stopped.value.reason


def test_long_coefficients_count_for_several_terms() -> None:
    short = Piece.of_terms({(0, 0, 0, l): flint.fmpq(1) for l in range(100)})
    long = Piece.of_terms({(0, 0, 0, l): flint.fmpq(1, 3**600 + l) for l in range(100)})
    assert long.size() > 300 * short.size()
    with pytest.raises(LimitReached):
        long.times(long, meter())
    short.times(short, meter())


def test_steps_are_counted_over_all_operations() -> None:
    f = Piecewise.laplace(1, 0)
    little = Meter(Limits(steps=20_000))
    f.integral_to(upward=True, meter=little)
    spent = little.steps
    with pytest.raises(LimitReached) as stopped:
        _ = [f.integral_to(upward=True, meter=little) for _ in range(20_000 // spent + 1)]
    assert stopped.value.limit == "steps"
