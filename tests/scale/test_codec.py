"""What goes between processes and into caches comes back the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Quotient
from dipc.obligations.decide import ACCURATE, Settled
from dipc.obligations.verdict import Counterexample, EndPoint, FailureInterval, Verdict, Worst
from dipc.scale.betas import beta_text, read_beta
from dipc.scale.codec import (
    Unreadable,
    cell_text,
    closed_text,
    read_cell,
    read_closed,
    read_rational,
    read_settled,
    settled_text,
)
from dipc.tables.cells import CellPool

LAPLACE = "program laplace; input q : real; output out : real; out <- Lap(eps, q);"

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


@given(st.booleans() | rationals | st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True))
def test_cells(value: bool | Fraction | str) -> None:
    pool = CellPool()
    cell = pool.cell(value)
    text = cell_text(cell)
    assert text is not None
    assert read_cell(text, pool) is cell


ends = st.tuples(rationals, st.none() | rationals, st.booleans()).map(lambda end: EndPoint(*end))
pairs = st.none() | st.tuples(rationals, rationals)
worst = st.none() | st.tuples(pairs, pairs, st.booleans()).map(lambda found: Worst(*found))
failing = st.lists(st.tuples(ends, ends, worst).map(lambda part: FailureInterval(*part)), max_size=3).map(tuple)


@given(st.lists(rationals, min_size=4, max_size=4, unique=True).map(sorted), rationals, failing)
def test_refutations(numbers: list[Fraction], eps: Fraction, intervals: tuple[FailureInterval, ...]) -> None:
    found = Counterexample(eps, (numbers[0], numbers[1]), (numbers[2], numbers[3]))
    settled = Settled(Verdict.INACCURATE, found, intervals)
    assert read_settled(settled_text(settled)) == settled


def test_other_verdicts() -> None:
    assert read_settled(settled_text(ACCURATE)) is ACCURATE
    undecided = Settled(Verdict.UNDECIDED, reason='a "limit" was reached\n')
    assert read_settled(settled_text(undecided)) == undecided


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
        '["inaccurate",["1","0","2","1","3"],[],null]',
    ],
)
def test_what_is_no_verdict(text: str) -> None:
    with pytest.raises(Unreadable):
        read_settled(text)


BETAS = [
    "exp(-alpha*eps)",
    "1/(1 + exp(-eps))",
    "min(1, 2*exp(-alpha*eps/8))",
    "abs(1 - eps)*max(eps, exp(-eps), 1/3)",
    "min(1, exp(-eps))/max(2, 1 + eps) + min(1/5, eps)",
    "min(1/7, 1/(1 + exp(eps)))",
]


@pytest.mark.parametrize("beta", BETAS)
def test_betas(beta: str) -> None:
    (row,) = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], beta=beta, alpha=1, gamma=1).rows
    read = read_beta(beta_text(row.beta_form))
    assert type(read) is type(row.beta_form)
    assert read == row.beta_form
    assert str(read) == str(row.beta_form)
    assert beta_text(read) == beta_text(row.beta_form)
    for point in ("1/3", "1", "7"):
        assert read.at(point) == row.beta_form.at(point)


@pytest.mark.parametrize("text", ["~", "~1", "~[]", '~["Min",1]', '~["","1","2"]', '~["","",""]', '~["?",["","",""]]'])
def test_what_is_no_beta(text: str) -> None:
    with pytest.raises(Unreadable):
        read_beta(text)
