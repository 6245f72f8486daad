"""What goes into caches comes back the same, and different questions have different keys."""

from __future__ import annotations

import contextlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.decide.obligation import Counterexample, Decision, EndPoint, EpsSpan, Verdict, Worst
from dipc.decide.shared import (
    Unreadable,
    bound_text,
    closed_text,
    decision_text,
    form_text,
    read_closed,
    read_decision,
    read_form,
    read_rational,
)
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, Share
from dipc.noise.laws import LAWS

rationals = st.fractions(max_denominator=10**6) | st.integers(-(10**40), 10**40).map(Fraction)
polys = st.lists(st.tuples(st.integers(0, 5), st.fractions(-4, 4, max_denominator=12), rationals), max_size=6).map(
    ExpPoly.from_terms
)
positive = st.lists(
    st.tuples(st.integers(0, 2), st.fractions(-3, 3, max_denominator=4), st.fractions(Fraction(1, 9), 9)),
    min_size=1,
    max_size=3,
).map(ExpPoly.from_terms)


@given(polys)
def test_exponential_polynomials(value: ExpPoly) -> None:
    assert read_closed(closed_text(value)) == value
    assert read_closed(closed_text(value)).terms() == value.terms()


@given(polys, positive)
def test_quotients(numerator: ExpPoly, denominator: ExpPoly) -> None:
    value = Quotient(numerator, denominator)
    read = read_closed(closed_text(value))
    assert isinstance(read, Quotient)
    assert read == value
    assert (read.numerator.terms(), read.denominator.terms()) == (value.numerator.terms(), value.denominator.terms())


@given(polys, polys)
def test_equal_functions_and_no_others_have_equal_texts(left: ExpPoly, right: ExpPoly) -> None:
    assert (closed_text(left) == closed_text(right)) == (left == right)
    assert closed_text((left + right) - right) == closed_text(left)


def test_integers_too_long_for_decimal_digits() -> None:
    value = ExpPoly.term(Fraction(1 << 40_000, 3), 1, Fraction(-1, (1 << 30_000) + 1))
    assert read_closed(closed_text(value)) == value


FORM = ClosedForm(ExpPoly.term(1, 0, -1))

pairs = st.none() | st.tuples(rationals, rationals).map(lambda two: (min(two), max(two)))
worst = st.none() | st.tuples(pairs, pairs, st.booleans()).map(lambda found: Worst(*found))


@st.composite
def failing_intervals(draw: st.DrawFn) -> EpsSpan:
    """A failing interval between two isolated ends, the second perhaps infinity."""
    low, high, below, above = sorted(abs(draw(rationals)) for _ in range(4))
    end = EndPoint(below, draw(st.sampled_from([above, None])), draw(st.booleans()))
    return EpsSpan(EndPoint(low, high, draw(st.booleans())), end, draw(worst))


failing = st.lists(failing_intervals(), max_size=3).map(tuple)


@given(
    st.lists(rationals, min_size=4, max_size=4, unique=True).map(sorted), rationals.filter(lambda eps: eps > 0), failing
)
def test_refutations(numbers: list[Fraction], eps: Fraction, intervals: tuple[EpsSpan, ...]) -> None:
    found = Counterexample(eps, (numbers[0], numbers[1]), (numbers[2], numbers[3]))
    decision = Decision(Verdict.INACCURATE, FORM, found, intervals)
    assert read_decision(decision_text(decision), FORM) == decision


def test_other_verdicts() -> None:
    for decision in (Decision(Verdict.ACCURATE, FORM), Decision.undecided('a "limit" was reached\n', FORM)):
        assert read_decision(decision_text(decision), FORM) == decision


@pytest.mark.parametrize("text", ["", "z", "1/0", "1//2", "--1", "1.5", "1/x"])
def test_what_is_no_rational(text: str) -> None:
    with pytest.raises(Unreadable):
        read_rational(text)


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "x", "1 1", "1 x,1,1", "1 -1,1,1", "1 0,1,1|", "1 0,1,1/0", "1 0,0,1|1 0,0,0", "1 1,1,1,1"]
)
def test_what_is_no_closed_form(text: str) -> None:
    with pytest.raises(Unreadable):
        read_closed(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '["right",null,[],null]',
        '["accurate",null,[],null',
        '["inaccurate",["1"],[],null]',
        '["inaccurate",["1",["0","2"],["1","3"]],[],null]',
        '["inaccurate",["1",["2","1"],["3","4"]],[],null]',
        '["inaccurate",["1",["0","1"],["2","3"]],[[["0",null,false],["1","1",true],null]],null]',
        '["inaccurate",["1",["0","1"],["2","3"]],[[["2","2",false],["1","1",true],null]],null]',
        '["inaccurate",["1",["0","1"],["2","3"]],[],"why"]',
        '["inaccurate",["1",["0","1"],["2","3"]],[[["0","0",0],["1","1",true],null]],null]',
        '["accurate",null,[],5]',
        '["accurate",null,{},null]',
        '["undecided",null,[],7]',
        '[ "accurate",null,[],null]',
        '["inaccurate",["+1",["0","1"],["2","3"]],[],null]',
        '["inaccurate",["1",["0","1"],["2","3"]],[[["0","0",false],["1","1",true],[["3","2"],["1","1"],true]]],null]',
    ],
)
def test_what_is_no_verdict(text: str) -> None:
    with pytest.raises(Unreadable):
        read_decision(text, FORM)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text("0123456789abcf-/|, ", max_size=6)
    | st.sampled_from(Verdict),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=8,
)


@given(st.tuples(st.sampled_from(["accurate", "inaccurate", "undecided"]), JSON, JSON, JSON) | JSON)
def test_what_is_read_was_written(value: object) -> None:
    """Any JSON is either what these functions write, or Unreadable: nothing else is raised, nothing else comes back."""
    text = json.dumps(value, separators=(",", ":"))
    with contextlib.suppress(Unreadable):
        assert decision_text(read_decision(text, FORM)) == text
    with contextlib.suppress(Unreadable):
        found = read_form(json.dumps(value))
        assert (form_text(None, found) if isinstance(found, str) else form_text(found, None)) == json.dumps(value)


noises = st.builds(Noise, st.sampled_from(LAWS), st.fractions(1, 3), st.fractions(-2, 2, max_denominator=3))
constraints = st.builds(
    Halfspace,
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([Fraction(1), Fraction(-1)])), max_size=2).map(tuple),
    st.fractions(-2, 2, max_denominator=3),
    st.booleans(),
)
events = st.builds(Event, st.lists(noises, max_size=2).map(tuple), st.lists(constraints, max_size=2).map(tuple))
shares = st.builds(Share, st.none() | polys, st.lists(events, max_size=2).map(tuple))
bounds = st.builds(Bound, st.lists(shares, max_size=2).map(tuple), st.sampled_from([Fraction(0), Fraction(1, 3)]))


@given(bounds, bounds)
def test_equal_bounds_and_no_others_have_equal_texts(left: Bound, right: Bound) -> None:
    assert (bound_text(left) == bound_text(right)) == (left == right)
