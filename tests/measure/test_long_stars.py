"""Trees whose messages have too many terms to be multiplied, and claims about them without closed forms.

They are integrated over the noise that all other noises are compared with.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import fraction_of
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.algebra.numbers import dyadic
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.forest import CanonicalTree, slopes_of, watch_size
from dipc.measure.measure import BRIEF_WAY, Bound, EnclosedForm, Measurer, Share, measure
from dipc.measure.normal import NormalMeasure, normal_measure
from dipc.measure.polyhedral import independent_parts
from dipc.measure.power_series import precision
from dipc.noise.laplace import LAPLACE
from tests.patience import examples
from tests.strategies.events import tree_events

HALF, ONE = Fraction(1, 2), Fraction(1)


def star(leaves: int, mean: int = -1) -> Event:
    """One noise above many others, all of different rates."""
    noises = [Noise(LAPLACE, HALF, Fraction(0))]
    noises += [Noise(LAPLACE, Fraction(1, 3 + i), Fraction(mean)) for i in range(1, leaves + 1)]
    above = [Halfspace(((0, ONE), (i, -ONE)), Fraction(0)) for i in range(1, leaves + 1)]
    return Event(tuple(noises), tuple(above))


@settings(max_examples=examples(20), deadline=None)
@given(tree_events(5), st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(7)]))
def test_integrals_are_the_closed_forms(event: Event, eps: Fraction) -> None:
    for part in independent_parts(event):
        try:
            integral = normal_measure(part)
        except (OutsideFragment, LimitReached):
            continue
        low, high = fraction_of(measure(part))[0].enclosure(eps, 30)
        with precision(160, 4):
            ball = integral.series(eps)[0]
            assert dyadic(ball.lower()) <= high
            assert low <= dyadic(ball.upper())
            assert ball.rad() < 1e-20


def test_many_different_rates_are_integrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to the fourteen terms; the same closed form of eight leaves either way."""
    (factor,) = Measurer().factors(star(14)) or ()
    assert isinstance(factor, NormalMeasure)
    monkeypatch.setattr("dipc.measure.power_series.MOST_TERMS", 8)
    bound = Bound((Share(None, (star(8),)),))
    enclosed = EnclosedForm.from_bound(bound, Measurer(), Limits()).dyadic_enclosure(Fraction(3), 100)
    low, high = fraction_of(measure(star(8)))[0].enclosure(Fraction(3), 40)
    assert enclosed[0] <= high
    assert low <= enclosed[1]


def test_many_terms_far_apart_are_refused_early() -> None:
    (tree,) = [tree for tree in Measurer().factors(star(11)) or () if isinstance(tree, CanonicalTree)]
    assert slopes_of(tree) == 2**11
    with pytest.raises(LimitReached):
        watch_size(tree, Limits(steps=BRIEF_WAY))
    (short,) = [tree for tree in Measurer().factors(star(6)) or () if isinstance(tree, CanonicalTree)]
    watch_size(short, Limits(steps=BRIEF_WAY))


_RATES = """program rates;
const m = 14;
input q[1..m] : real;
output none : bool = true;
ideal { for i in 1..m do if q[i] >= 0 then none <- false; exit end end }
var t, r : real;
t <- Lap(eps/2, 0);
for i in 1..m do
  r <- Lap(eps/(3+i), q[i]);
  if r >= t then none <- false; exit end
end
"""


def test_claims_about_different_rates() -> None:
    """Far out, where both sides are nearly 1, and where exact numbers would have 2^14 terms."""
    program = dipc.load(_RATES)
    row = [{"q": [-1] * 14, "none": True}]
    assert dipc.check(program, row, beta="14*exp(-eps/17)").verdict is dipc.Verdict.ACCURATE
    found = dipc.check(program, row, beta="28*exp(-eps/8)")
    assert found.verdict is dipc.Verdict.INACCURATE
    example = found.rows[0].counterexample
    assert example is not None
    assert example.probability[1] < example.required[0]
