"""Pieces and crossings: each says no more than is so."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given

from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.sign.polynomial import Layout, Polynomial
from dipc.sign.roots import CoverPiece, _CoverSearch, cover
from dipc.sign.taylor import Subinterval, TaylorModel
from tests.sign.oracle import polynomial_terms, terms_value
from tests.sign.strategies import polynomials


def nothing() -> None:
    pass


def value(polynomial: Polynomial, t: Fraction) -> mpmath.mpf:
    return terms_value(polynomial_terms(polynomial), t, 1200)


@given(polynomials(most_power=3, most_exponent=20))
def test_every_piece_and_crossing(polynomial: Polynomial) -> None:
    try:
        found = cover(Layout(polynomial), Fraction(1, 7), Fraction(40, 3), DecisionBudget(Limits(bits=500)), nothing)
    except LimitReached:  # a multiple root, or a root that is rational
        return
    assert found[0].lower == Fraction(1, 7)
    assert found[-1].upper == Fraction(40, 3)
    assert all(a.upper == b.lower for a, b in pairwise(found))
    for piece in found:
        width = piece.upper - piece.lower
        values = [value(polynomial, piece.lower + width * Fraction(i, 4)) for i in range(5)]
        if piece.crosses:
            assert values[0] * piece.slope < 0 < values[-1] * piece.slope
            assert piece.sign == -piece.slope
        else:
            assert all(v * piece.sign > 0 for v in values)
        if piece.slope:
            assert all((b - a) * piece.slope > 0 for a, b in pairwise(values))


def test_a_monotone_part_with_unknown_ends_is_judged_by_exact_signs() -> None:
    """1 - 2·e^{-t} rises and is 0 at log 2 = 0.69314718..."""
    layout = Layout(Polynomial.from_terms([(0, 0, 1), (1, 0, -2)]))
    worker = _CoverSearch(layout, DecisionBudget(Limits()), nothing)
    before, after, end = Fraction(69314718, 10**8), Fraction(69314719, 10**8), Fraction(1)
    for lower, upper, expected in (
        (before, end, CoverPiece(before, end, -1, 1, 9, crosses=True)),
        (after, end, CoverPiece(after, end, 1, 1, 9)),
        (Fraction(1, 2), before, CoverPiece(Fraction(1, 2), before, -1, 1, 9)),
        (before, after, CoverPiece(before, after, -1, 1, 9, crosses=True)),
    ):
        model = TaylorModel(lower, upper, 9, 5, [], 0, 0)
        assert worker._piece(model, Subinterval(0, 0, 0, 1, 0, 0), lower, upper) == expected


def test_suspicion_is_voiced_once_and_ends_the_search() -> None:
    layout = Layout(Polynomial.from_terms([(0, 0, 1), (1, 0, -4), (2, 0, 4)]))
    calls = []

    def suspect() -> None:
        calls.append(1)

    with pytest.raises(LimitReached):
        cover(layout, Fraction(1, 2), Fraction(1), DecisionBudget(Limits(bits=2000)), suspect)
    assert calls == [1]

    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    with pytest.raises(StopError):
        cover(layout, Fraction(1, 2), Fraction(1), DecisionBudget(Limits()), stop)
