"""A long inequality is decided where beta < 1 alone, with the verdict that it has everywhere."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Limits
from dipc.decide.obligation import Verdict, decide
from dipc.decide.scope import holds_in_scope
from dipc.sign import roots
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm

_ENDS = st.fractions(0, 8, max_denominator=6)


@st.composite
def _intervals(draw: st.DrawFn) -> tuple[Interval, ...]:
    low, high = sorted((draw(_ENDS), draw(_ENDS)))
    some = (Interval.open(low, None), Interval.POSITIVE, Interval.closed(low + 1, low + 1))
    if low < high:
        some = (*some, Interval.open(low, high), Interval.closed(high, None), Interval.closed(low + 1, high + 1))
    return draw(st.sampled_from([(each,) for each in some] + [(some[-1], Interval.open(20, None))]))


@given(
    st.lists(st.tuples(st.integers(1, 6), st.fractions(-3, 3, max_denominator=4)), max_size=4),
    st.fractions(0, 6, max_denominator=4),
    _intervals(),
)
def test_what_holds_in_the_scope_holds_everywhere(
    terms: list[tuple[int, Fraction]], factor: Fraction, intervals: tuple[Interval, ...]
) -> None:
    """The bound is a square, which is nowhere negative as a probability is."""
    root = sum((ExpPoly.term(c, 0, Fraction(-q, 2)) for q, c in terms), ExpPoly.ONE)
    bound, beta = ClosedForm(root * root), PiecewiseForm(ExpPoly.term(factor, 0, Fraction(-1, 2)))
    verdict = decide(bound, beta, intervals, Limits()).verdict
    assert holds_in_scope(bound, beta, intervals, Limits()) is (verdict is Verdict.ACCURATE)


def test_the_sign_near_zero_is_not_needed_where_beta_exceeds_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse: with more queries the sign takes no more Taylor polynomials for each class."""
    models: list[int] = []
    original = roots.taylor_model

    def counted(*arguments: object) -> object:
        models[-1] += 1
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(roots, "taylor_model", counted)
    for m in (20, 40):
        models.append(0)
        report = dipc.check(dipc.load(MECHANISMS["sparse"].path, m=m), inputs="all")
        assert report.verdict is Verdict.ACCURATE
    assert models[1] <= 2 * models[0] + 2
    assert models[1] <= 2 * 40
