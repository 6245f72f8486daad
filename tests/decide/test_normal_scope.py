"""Where a claim about Gaussian noise is not vacuous, compared with the values of its beta in floating point."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.reals import Real
from dipc.decide.scope import claim_scope
from dipc.sign.interval import Interval
from dipc.sign.normal import NormalBeta, NormalFunction, NormalSum

#: Summands c·e^{-q·eps}·f: c, q, and the scale of erfc, or of e^{-scale·eps²} with a minus sign, or 0 for no f.
Summand = tuple[Fraction | int, int, Fraction | int]

BETAS: list[list[Summand]] = [
    [(1, 0, 1)],
    [(Fraction(1, 2), 0, 3)],
    [(4, 0, Fraction(1, 3))],
    [(4, 1, Fraction(1, 3)), (1, 2, 0)],
    [(3, 0, -2)],
    [(3, 0, -2), (Fraction(1, 2), 0, 0)],
    [(3, 0, -2), (2, 0, 0)],
    [(3, 0, 1), (-1, 0, 0)],
    [(3, 0, 1), (1, 0, 0)],
    [(4, 0, 1), (-1, 0, 2)],
    [(4, 0, 1), (-1, 1, 0)],
    [(3, 1, 1), (-3, 2, 3), (Fraction(1, 2), 0, 0)],
]

INTERVALS = [
    Interval.POSITIVE,
    Interval.closed(Fraction(1), Fraction(3)),
    Interval.closed(Fraction(1, 10), None),
    Interval.closed(Fraction(2), Fraction(2)),
]


def beta_of(summands: list[Summand]) -> NormalBeta:
    total = NormalSum.collect(ExpPoly.ZERO, ())
    for c, q, scale in summands:
        weight = ExpPoly.term(Fraction(c), 0, Fraction(-q))
        function = NormalFunction(Real.from_rational(Fraction(abs(scale))), exponential=scale < 0) if scale else None
        total = total + NormalSum.single(weight, function)
    return NormalBeta(total)


def value(summands: list[Summand], eps: float) -> float:
    total = 0.0
    for c, q, scale in summands:
        f = math.erfc(scale * eps) if scale > 0 else math.exp(float(scale) * eps * eps)
        total += float(c) * math.exp(-q * eps) * f
    return total


@pytest.mark.parametrize("interval", INTERVALS, ids=str)
@pytest.mark.parametrize("summands", BETAS, ids=str)
def test_the_scope_is_where_beta_is_less_than_one(summands: list[Summand], interval: Interval) -> None:
    scope = claim_scope(beta_of(summands), (interval,), Limits())
    assert scope.reason is None
    for step in range(1, 400):
        eps = Fraction(step, 40)
        if eps not in interval:
            continue
        inside = any(
            (float(each.start.low) < eps and (each.end.high is None or eps < each.end.high))
            or (each.start.included and eps == each.start.low)
            or (each.end.included and eps == each.end.high)
            for each in scope.where
        )
        assert inside is (value(summands, float(eps)) < 1 - 1e-12), eps
    for each in scope.where:
        if not each.start.exact:
            assert value(summands, float(each.start.low)) == pytest.approx(1, abs=1e-12)


def test_a_beta_that_grows_without_bound_is_not_known() -> None:
    scope = claim_scope(beta_of([(2, -1, 1)]), (Interval.POSITIVE,), Limits())
    assert scope.reason == "where beta is less than 1, as it has functions of the normal distribution"
