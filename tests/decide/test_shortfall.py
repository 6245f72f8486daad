"""Where a claim fails, to any number of digits, and by how much at most."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.algebra.limits import Limits, Undecided
from dipc.decide.obligation import EpsSpan, Verdict, decide_cells, failing_intervals
from dipc.questions.report import RowResult
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from tests.sign.oracle import sign, value
from tests.sign.strategies import Planted, e, exp_polys, planted

SPARSE = "benchmarks/sparse.dip"
LAPLACE = dipc.load("program l; input q : real; output o : real; o <- Lap(eps, q);")


def laplace(beta: str, eps: str = "(0, inf)", digits: int | None = 20) -> RowResult:
    """1 - Pr is e^-eps."""
    (row,) = dipc.check(LAPLACE, [{"q": 0, "o": 0}], gamma=1, beta=beta, eps=eps, digits=digits).rows
    return row


def real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def encloses(pair: tuple[Fraction, Fraction] | None, truth: mpmath.mpf) -> bool:
    assert pair is not None
    return bool(real(pair[0]) <= truth <= real(pair[1]))


def failing(
    bound: ClosedForm, beta: ClosedForm, interval: Interval, digits: int, limits: Limits | None = None
) -> tuple[EpsSpan, ...]:
    limits = limits or Limits()
    form = PiecewiseForm(beta.value)
    return failing_intervals([decide_cells(bound.value, form, interval, limits)], digits, limits)


# --- known sets ------------------------------------------------------------------------------------


def test_ends_and_worst_eps_of_a_claim_that_fails_in_the_middle() -> None:
    """e^-eps > 1/4 exactly before ln 4; the shortfall e^-eps - 1/4 grows towards 0."""
    (interval,) = laplace("1/4").failing
    with mpmath.workdps(60):
        assert encloses((interval.end.low, interval.end.high or Fraction(0)), mpmath.log(4))
    assert interval.end.high is not None
    assert interval.end.high - interval.end.low == Fraction(1, 10**19)
    worst = interval.worst
    assert worst is not None
    assert (worst.eps, worst.shortfall, worst.attained) == ((0, 0), (Fraction(3, 4), Fraction(3, 4)), False)


def test_an_interior_worst_eps() -> None:
    """e^-eps - max(1/10, e^-2eps): 1/4 at ln 2, though the claim is in two pieces."""
    (interval,) = laplace("max(1/10, exp(-2*eps))", digits=40).failing
    worst = interval.worst
    assert worst is not None
    with mpmath.workdps(80):
        assert encloses(worst.eps, mpmath.log(2))
        assert interval.end.high is not None
        assert encloses((interval.end.low, interval.end.high), mpmath.log(10))
    assert worst.shortfall == (Fraction(1, 4), Fraction(1, 4))
    assert worst.attained is True


def test_a_worst_eps_where_two_pieces_meet() -> None:
    """e^-eps - max(e^-eps/2, e^-2eps): the pieces meet at ln 2, where the shortfall is e^-eps/2 = 1/4."""
    (interval,) = laplace("max(exp(-eps)/2, exp(-2*eps))", digits=25).failing
    worst = interval.worst
    assert worst is not None
    with mpmath.workdps(60):
        assert encloses(worst.eps, mpmath.log(2))
    assert worst.shortfall == (Fraction(1, 4), Fraction(1, 4))
    assert worst.attained is True
    assert (interval.start.low, interval.end.high) == (0, None)


def test_a_touching_point_divides_the_set() -> None:
    """beta = e^-eps·(1 - (e^eps - 2)²/50): the claim fails on both sides of ln 2, and holds there."""
    before, after = laplace("exp(-eps)*(1 - (exp(eps) - 2)^2/50)", "(0, 1)", digits=30).failing
    for end in (before.end, after.start):
        assert not end.included
        assert end.high is not None
        with mpmath.workdps(60):
            assert encloses((end.low, end.high), mpmath.log(2))
    assert before.worst is not None
    assert after.worst is not None
    assert (before.worst.eps, before.worst.attained) == ((0, 0), False)
    assert before.worst.shortfall == (Fraction(1, 50), Fraction(1, 50))
    assert (after.worst.eps, after.worst.attained) == ((1, 1), False)


@pytest.mark.parametrize(
    ("eps", "start", "included", "attained"),
    [("[1/2, 1]", Fraction(1, 2), True, True), ("(1/2, 1]", Fraction(1, 2), False, False)],
)
def test_rational_ends(eps: str, start: Fraction, included: bool, attained: bool) -> None:
    (interval,) = laplace("1/10", eps).failing
    assert (interval.start.low, interval.start.high, interval.start.included) == (start, start, included)
    assert (interval.end.low, interval.end.included) == (1, True)
    assert interval.worst is not None
    assert (interval.worst.eps, interval.worst.attained) == ((start, start), attained)
    with mpmath.workdps(40):
        assert encloses(interval.worst.shortfall, mpmath.exp(-mpmath.mpf(1) / 2) - mpmath.mpf(1) / 10)


def test_several_intervals_and_a_point() -> None:
    found = laplace("1/10", "[1, 1], [2, 3]").failing
    assert [interval.start.low for interval in found] == [1, 2]
    assert found[0].worst is not None
    assert found[0].worst.eps == (1, 1)
    assert found[1].end.high is not None
    with mpmath.workdps(40):
        assert encloses((found[1].end.low, found[1].end.high), mpmath.log(10))


def test_a_constant_shortfall() -> None:
    (interval,) = laplace("exp(-eps) - 1/100").failing
    assert interval.worst is not None
    assert interval.worst.shortfall == (Fraction(1, 100), Fraction(1, 100))
    assert interval.worst.attained is True


def test_a_shortfall_that_only_approaches_its_supremum_at_infinity() -> None:
    (interval,) = laplace("exp(-eps) - 1/100 + exp(-2*eps)", "[5, inf)").failing
    assert interval.worst is not None
    assert (interval.worst.eps, interval.worst.attained) == (None, False)
    assert interval.worst.shortfall == (Fraction(1, 100), Fraction(1, 100))
    assert interval.as_json()["worst"] == {
        "eps": ["inf", "inf"],
        "shortfall": ["1/100", "1/100"],
        "attained": False,
    }


def test_a_shortfall_without_bound() -> None:
    (interval,) = laplace("1 - eps").failing
    assert interval.worst is not None
    assert (interval.worst.eps, interval.worst.shortfall, interval.worst.attained) == (None, None, False)


def test_denominators() -> None:
    """A quotient on both sides: Pr = 1/(1 + e^-eps), beta = 1/(3 + e^-eps)."""
    probability = ClosedForm(Quotient(ExpPoly.ONE, 1 + e(-1)))
    beta = ClosedForm(Quotient(ExpPoly.ONE, 3 + e(-1)))
    (interval,) = failing(probability, beta, Interval.POSITIVE, 30)
    with mpmath.workdps(60):
        z = mpmath.sqrt(2) - 1  # z/(1 + z) = 1/(3 + z), z = e^-eps
        assert interval.end.high is not None
        assert encloses((interval.end.low, interval.end.high), -mpmath.log(z))
    assert interval.worst is not None
    assert interval.worst.shortfall == (Fraction(1, 4), Fraction(1, 4))


# --- properties ------------------------------------------------------------------------------------


@given(planted(), st.integers(2, 30))
def test_planted_ends_are_found_to_the_digits_asked_for(case: Planted, digits: int) -> None:
    """Pr = 0 and beta = 1 + f: the claim fails where f < 0, between planted roots."""
    if case.f.is_zero():
        return
    try:
        found = failing(ClosedForm(ExpPoly.ZERO), ClosedForm(1 + case.f), Interval.POSITIVE, digits)
    except Undecided:
        assume(False)
    with mpmath.workdps(60):
        roots = [place for place, _ in case.roots()]
    for interval in found:
        for end in (interval.start, interval.end):
            if end.high is None or end.low == 0:
                continue
            with mpmath.workdps(60):
                assert any(
                    abs(root - real(end.low)) <= real(end.high - end.low) + mpmath.mpf(10) ** -50 for root in roots
                )
        middle = _inside(interval)
        if middle is not None:
            assert sign(case.f, middle, 1024) < 0
    signs = [sign(case.f, Fraction(n, 7), 1024) for n in range(1, 60, 2)]
    for n, found_sign in zip(range(1, 60, 2), signs, strict=True):
        inside = [
            i for i in found if i.start.low < Fraction(n, 7) and (i.end.high is None or Fraction(n, 7) < i.end.high)
        ]
        if found_sign > 0:
            assert not any(_surely_inside(i, Fraction(n, 7)) for i in inside)
        if found_sign < 0:
            assert inside


def _inside(interval: EpsSpan) -> Fraction | None:
    low = interval.start.high
    assert low is not None
    if interval.end.high is None:
        return low + 1
    return (low + interval.end.low) / 2 if low < interval.end.low else None


def _surely_inside(interval: EpsSpan, eps: Fraction) -> bool:
    assert interval.start.high is not None
    return interval.start.high < eps and (interval.end.high is None or eps < interval.end.low)


@given(exp_polys(most_terms=5))
def test_no_shortfall_on_a_grid_is_above_the_worst(f: ExpPoly) -> None:
    limits = Limits(bits=4000)
    try:
        found = failing(ClosedForm(ExpPoly.ZERO), ClosedForm(1 + f), Interval.open(0, 8), 12, limits)
    except Undecided:
        assume(False)
    for n in range(1, 64):
        eps = Fraction(n, 8)
        for interval in found:
            if _surely_inside(interval, eps):
                assert interval.worst is not None
                if interval.worst.shortfall is not None:
                    assert -value(f, eps) <= real(interval.worst.shortfall[1])
    for interval in found:
        worst = interval.worst
        assert worst is not None
        if worst.shortfall is not None:
            assert worst.shortfall[0] > 0


@given(planted(), st.integers(2, 12), st.integers(13, 40))
def test_more_digits_begin_with_the_same(case: Planted, few: int, many: int) -> None:
    if case.f.is_zero():
        return
    try:
        short, long = (
            failing(ClosedForm(ExpPoly.ZERO), ClosedForm(1 + case.f), Interval.POSITIVE, digits)
            for digits in (few, many)
        )
    except Undecided:
        assume(False)
    assert len(short) == len(long)
    for a, b in zip(short, long, strict=True):
        for x, y in ((a.start, b.start), (a.end, b.end)):
            if x.high is None or y.high is None:
                assert x.high is y.high
            else:
                assert x.low <= y.low <= y.high <= x.high
        assert a.worst is not None
        assert b.worst is not None
        assert a.worst.attained == b.worst.attained
        if a.worst.shortfall is not None and b.worst.shortfall is not None:
            assert a.worst.shortfall[0] <= b.worst.shortfall[0] <= b.worst.shortfall[1] <= a.worst.shortfall[1]


# --- in reports ------------------------------------------------------------------------------------


def test_reports_carry_the_digits_and_share_them_between_rows() -> None:
    report = dipc.check(dipc.load(SPARSE), "benchmarks/sparse.csv", beta="2*m*c*exp(-alpha*eps/(8*c))/1000", digits=12)
    assert report.verdict is Verdict.INACCURATE
    by_text = {str(row.closed_form): row.failing for row in report.rows}
    for row in report.rows:
        assert row.failing is by_text[str(row.closed_form)] or row.failing == by_text[str(row.closed_form)]
        assert all(interval.worst is not None for interval in row.failing)
    plain = dipc.check(dipc.load(SPARSE), "benchmarks/sparse.csv", beta="2*m*c*exp(-alpha*eps/(8*c))/7")
    assert [row.row for row in plain.rows if "failing" in row.as_json()] == [2, 3]
    assert all(interval.worst is None for row in plain.rows for interval in row.failing)


def test_the_ends_agree_with_those_found_without_digits() -> None:
    options = {"beta": "2*m*c*exp(-alpha*eps/(8*c))/7"}
    plain = dipc.check(dipc.load(SPARSE), "benchmarks/sparse.csv", **options)
    fine = dipc.check(dipc.load(SPARSE), "benchmarks/sparse.csv", digits=40, **options)
    for row, finer in zip(plain.rows, fine.rows, strict=True):
        assert len(row.failing) == len(finer.failing)
        for a, b in zip(row.failing, finer.failing, strict=True):
            for x, y in ((a.start, b.start), (a.end, b.end)):
                assert x.included == y.included
                if x.high is not None:
                    assert y.high is not None
                    assert x.low <= y.high
                    assert y.low <= x.high
