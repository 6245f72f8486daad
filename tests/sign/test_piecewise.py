"""Betas with min, max and abs, and divisors on the intervals asked about: pieces, verdicts, failure sets, texts."""

from __future__ import annotations

import copy
import pickle
import re
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.parametric import Parametric
from dipc.claims.claim import ClaimOptions, resolve_claim
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import read_table
from dipc.decide.obligation import EpsSpan
from dipc.questions.report import RowResult
from dipc.sign.chart import EpsCut
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.sign.roots import Root, refine
from dipc.text.diagnostic import DiagnosticError

LAPLACE = dipc.load("program laplace; input q : real; output out : real; out <- Lap(eps, q);")

HERE = [{"q": 0, "out": 0}]

NAMES = {"a": Parametric.number(2), "g": Parametric.number(Fraction(1, 3))}


def row(beta: str, eps: str | None = None, gamma: object = 1, **columns: str) -> RowResult:
    """Pr is 1 - exp(-gamma*eps), so the claim is beta >= exp(-gamma*eps)."""
    (result,) = dipc.check(LAPLACE, [{"q": 0, "out": 0, **columns}], beta=beta, gamma=gamma, eps=eps).rows
    return result


def form(text: str, *intervals: Interval) -> PiecewiseForm:
    expression = ClaimExpression.parse("beta", text, "<beta>")
    value = expression.value(NAMES, intervals or (Interval.POSITIVE,))
    return PiecewiseForm(value)


def ends(interval: EpsSpan) -> tuple[float, float | None]:
    return float(interval.start.high or 0), None if interval.end.high is None else float(interval.end.high)


# --- verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "eps", "text"),
    [
        ("min(1, exp(-eps))", None, "Min(1, exp(-eps))"),
        ("min(1, 2*exp(-eps))", None, "Min(1, 2*exp(-eps))"),
        ("max(1/2, exp(-eps))", None, "Max(1/2, exp(-eps))"),
        ("max(exp(-eps), exp(-2*eps), 1/9)", None, "Max(exp(-eps), exp(-2*eps), 1/9)"),
        ("abs(-exp(-eps))", None, "exp(-eps)"),
        ("abs(exp(-eps) - 1/2) + 1/2", None, "1/2 + Abs(-1/2 + exp(-eps))"),
        # Equality up to log 2, then more: the two forms meet where the obligation is 0.
        ("max(exp(-eps), 1 - exp(-eps))", None, "Max(exp(-eps), 1 - exp(-eps))"),
        ("min(1/2, exp(-eps))", "[7/10, inf)", "Min(1/2, exp(-eps))"),
        ("exp(-min(eps, 2*eps))", None, "exp(-eps)"),
        ("exp(-max(gamma, 1/2)*eps)", None, "Min(exp(-eps), exp(-eps/2))"),
        ("1/(eps - 1)", "(2, inf)", "1/(eps - 1)"),
        ("1/(eps - 1)", "(1, 2), [5, 5], (6, inf)", "1/(eps - 1)"),
        ("1/max(eps - 1, 1)", None, "1/Max(eps - 1, 1)"),
        ("min(2, 1/eps)*min(1, eps)", "[1/2, inf)", "Min(2, 1/(eps))*Min(1, eps)"),
    ],
)
def test_accurate(beta: str, eps: str | None, text: str) -> None:
    found = row(beta, eps)
    assert str(found.verdict) == "accurate", found.counterexample
    assert found.beta == text


@pytest.mark.parametrize(
    ("beta", "eps", "failing", "witness"),
    [
        ("min(1/2, exp(-eps))", None, [(0, mpmath.log(2))], "1/2"),
        ("abs(1 - eps)", None, [(0, mpmath.findroot(lambda x: x - 1 - mpmath.exp(-x), 1.3))], "1/2"),
        ("max(1 - eps, exp(-2*eps))", None, [(0, None)], "1"),
        ("min(1, exp(-eps/2))*exp(-eps)", "[1, 2], [3, 3], (4, inf)", [(1, 2), (3, 3), (4, None)], "1"),
        ("1/(eps - 1)", "(0, 1), (1, inf)", [(0, 1)], "1/2"),
        ("min(2, 1/eps)*min(1, eps)", None, [(0, mpmath.lambertw(mpmath.mpf(1) / 2).real)], "1/3"),
    ],
)
def test_inaccurate(beta: str, eps: str | None, failing: list[tuple[object, object]], witness: str) -> None:
    found = row(beta, eps)
    assert str(found.verdict) == "inaccurate"
    assert found.counterexample is not None
    assert str(found.counterexample.eps) == witness
    assert [ends(interval) for interval in found.failing] == [
        (pytest.approx(float(a)), None if b is None else pytest.approx(float(b)))  # type: ignore[arg-type]
        for a, b in failing
    ]
    low, high = found.beta_form.enclosure(found.counterexample.eps)
    exact = mpmath.exp(-mpmath.mpf(found.counterexample.eps.numerator) / found.counterexample.eps.denominator)
    assert float(low) <= float(high) < float(exact)


def test_ends_of_intervals_are_decided_exactly() -> None:
    beta = "max(min(eps, 1/2) - 1/2 + exp(-1/2*eps)*0, eps - 2) + exp(-eps)"
    # max(min(eps, 1/2) - 1/2, eps - 2) is negative below 1/2, 0 up to 2, positive after.
    assert str(row(beta, "[1/2, inf)").verdict) == "accurate"
    found = row(beta, "[1/4, 1/2]")
    assert [(i.start.low, i.start.included, i.end.high, i.end.included) for i in found.failing] == [
        (Fraction(1, 4), True, Fraction(1, 2), False)
    ]
    (point,) = row(beta, "[1/4, 1/4]").failing
    assert point.start == point.end
    assert point.start.included


def test_a_puncture_belongs_to_no_interval_of_failure() -> None:
    found = row("exp(-eps) - abs(eps - 1)*min(1, exp(-eps))")
    assert [(i.start.low, i.start.included, i.end.low, i.end.included) for i in found.failing] == [
        (0, False, 1, False),
        (1, False, 0, False),
    ]
    assert found.failing[1].end.infinite


def test_infinite_distances_take_the_limit_piece_by_piece() -> None:
    assert row("min(1, alpha)", dd="inf").beta == "1"
    assert row("max(exp(-eps), exp(-alpha*eps))", dd="inf").beta == "exp(-eps)"
    assert row("max(exp(-eps), 2*exp(-2*eps) + exp(-alpha*eps))", dd="inf").beta == "Max(exp(-eps), 2*exp(-2*eps))"
    assert row("min(alpha, 2*alpha, 1/2)*min(1, eps)", dd="inf").beta == "Min(1/2, eps/2)"
    assert row("abs(1 - alpha*eps)*exp(-alpha*eps) + min(1, eps)", dd="inf").beta == "Min(1, eps)"
    assert row("min(1/2, alpha*(eps - 1))", "(1, inf)", dd="inf").beta == "1/2"
    with pytest.raises(DiagnosticError, match="beta has no limit where dd is infinite"):
        row("min(1/2, alpha*(eps - 1))", "[1, inf)", dd="inf")
    with pytest.raises(DiagnosticError, match="beta has no limit where dd is infinite"):
        row("max(1, alpha)", dd="inf")


@pytest.mark.parametrize(
    ("beta", "eps", "place"),
    [
        ("1/(eps - 1)", None, "1"),
        ("1/(eps - 1)", "[1, 2)", "1"),
        ("1/(eps - 1)", "(0, 1]", "1"),
        ("1/(eps - 1)", "[1, 1]", "1"),
        ("1/(exp(eps) - 2)", "(1/2, 1)", "0.693147…"),
        ("1/(max(eps, 2) - 2)", "(3, 4), (1, 5/2)", "3/2"),
        ("min(5, 1/(eps - 1))", None, "1"),
        ("1/(eps - max(1, 1/2*eps))", None, "1"),
        ("1/abs(exp(eps) - 3)", None, "1.09861…"),
    ],
)
def test_divisors_that_vanish_are_named_with_the_place(beta: str, eps: str | None, place: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        row(beta, eps)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0608", f"beta divides by something that is 0 at eps = {place}")


def test_too_many_pieces_are_refused() -> None:
    beta = "*".join(f"min({k}*eps, exp(-eps/{k}), 1 - {k}*exp(-{k}*eps))" for k in range(2, 7))
    assert str(row(beta).verdict) == "inaccurate"
    beta = f"min(1/2, {beta})"
    with pytest.raises(DiagnosticError) as caught:
        row(beta)
    assert caught.value.diagnostics[0].code == "E0613"


# --- against pointwise evaluation -------------------------------------------------------------------

atom = st.sampled_from(
    [
        "exp(-eps)",
        "2*exp(-eps)",
        "exp(-2*eps)",
        "1/2",
        "1",
        "eps",
        "eps/3",
        "1 - eps",
        "exp(-eps/3)",
        "1/(1 + eps)",
        "0",
    ]
)
beta_text = st.recursive(
    atom,
    lambda inner: (
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
        | st.builds("abs({} - {})".format, inner, inner)
        | st.builds("({} {} {})".format, inner, st.sampled_from("+*-"), inner)
        | st.builds("({})/(1 + abs({}))".format, inner, atom)
    ),
    max_leaves=5,
)
GRID = [Fraction(k, 24) for k in range(1, 160)] + [Fraction(k) for k in range(7, 20)]


def pointwise(text: str, eps: Fraction) -> mpmath.mpf:
    names = {"min": min, "max": max, "abs": abs, "exp": mpmath.exp, "eps": mpmath.mpf(eps.numerator) / eps.denominator}
    # Python's 1/2 is a float: let every number be one of mpmath's.
    exact = re.sub(r"\d+", lambda digits: f"mpf({digits[0]})", text)
    return mpmath.mpf(eval(exact, {"__builtins__": {}}, {**names, "mpf": mpmath.mpf}))


asked = st.sampled_from(
    [None, "(1/2, inf)", "[1/3, 1]", "(0, 1/2), [1, 1], (4/3, 3]", "[2/3, 2/3], [3/2, 3/2]", "(0, 1), (1, inf)"]
)


@given(beta_text, asked)
def test_no_grid_point_contradicts_a_verdict(text: str, eps: str | None) -> None:
    found = row(text, eps)
    intervals = resolve_claim(LAPLACE.core, read_table(HERE, LAPLACE.core), ClaimOptions(beta="0", eps=eps)).intervals
    points = [point for point in GRID if any(point in interval for interval in intervals)]
    with mpmath.workdps(40):
        slack = {eps: pointwise(text, eps) - mpmath.exp(-mpmath.mpf(eps.numerator) / eps.denominator) for eps in points}
        fails = {eps for eps, value in slack.items() if value < -(mpmath.mpf(10) ** -30)}
        holds = {eps for eps, value in slack.items() if value > mpmath.mpf(10) ** -30}
        assert str(found.verdict) in ("accurate", "inaccurate")
        inside = {
            eps
            for eps in points
            if any(
                (i.start.low < eps or (i.start.low == eps and i.start.included))
                and (i.end.high is None or eps < i.end.high or (i.end.high == eps and i.end.included))
                for i in found.failing
            )
        }
        assert fails <= inside
        assert not holds & inside
        if str(found.verdict) == "accurate":
            assert not fails
        else:
            assert found.counterexample is not None
            eps = found.counterexample.eps
            assert any(eps in interval for interval in intervals)
            exact = pointwise(text, eps)
            assert exact < mpmath.exp(-mpmath.mpf(eps.numerator) / eps.denominator)


@given(beta_text, st.fractions(min_value=Fraction(1, 20), max_value=6, max_denominator=20))
def test_cells_values_and_texts_agree(text: str, eps: Fraction) -> None:
    found = form(text)
    cells = found.cells(Interval.POSITIVE)
    with mpmath.workdps(40):
        exact = pointwise(text, eps)
        low, high = found.enclosure(eps)
        near = mpmath.mpf(10) ** -25
        assert mpmath.mpf(low.numerator) / low.denominator - near <= exact
        assert exact <= mpmath.mpf(high.numerator) / high.denominator + near
        read = sympy.sympify(str(found), rational=True).subs(sympy.Symbol("eps"), sympy.Rational(str(eps)))
        assert abs(mpmath.mpf(str(read.evalf(35))) - exact) < near
        value = found.expr.subs(dipc.eps, sympy.Rational(str(eps)))
        assert abs(mpmath.mpf(str(value.evalf(35))) - exact) < near
    assert cells[0].lower == EpsCut(Fraction(0), after=True)
    assert cells[-1].upper == EpsCut(None, after=False)
    for left, right in pairwise(cells):
        assert isinstance(left.upper.place, Root)
        assert left.upper.place == right.lower.place
        assert (left.upper.after, right.lower.after) == (True, False)
        assert (left.numerator, left.denominator) != (right.numerator, right.denominator)
    for cell in cells:
        hull = cell.hull(Interval.POSITIVE)
        assert cell.sample in hull
        if hull.lower < eps and (hull.upper is None or eps < hull.upper):
            assert _inside(cell.lower.place, cell.upper.place, eps) == (
                found.fraction_at(eps) == (cell.numerator, cell.denominator)
            )


def _inside(lower: Fraction | Root | None, upper: Fraction | Root | None, eps: Fraction) -> bool:
    low = refine(lower, Fraction(1, 10**20)).lower if isinstance(lower, Root) else lower
    high = refine(upper, Fraction(1, 10**20)).upper if isinstance(upper, Root) else upper
    assert low is not None
    return low <= eps and (high is None or eps <= high)


def test_equal_functions_with_equal_texts_are_one() -> None:
    assert form("min(1, eps)") == form("min(1, eps)")
    assert hash(form("min(1, eps)")) == hash(form("min(1, eps)"))
    assert form("min(1, eps)") != form("max(1, eps)")
    assert form("min(1, eps)") != PiecewiseForm(ExpPoly.ONE)


def test_a_closed_form_is_one_cell_and_equal_as_a_function() -> None:
    exponential = ExpPoly.term(1, 0, -1)
    plain = PiecewiseForm(Quotient(exponential, ExpPoly.ONE + exponential))
    same = PiecewiseForm(Quotient(ExpPoly.ONE, ExpPoly.term(1, 0, 1) + 1))
    assert plain == same
    assert hash(plain) == hash(same)
    assert plain.closed is not None
    assert str(plain) == str(plain.closed)
    assert plain.expr == plain.closed.expr
    assert plain.enclosure(2) == plain.closed.enclosure(2)
    assert plain.conditions() == []
    for interval in (Interval.POSITIVE, Interval.closed(1, 2), Interval.closed(3, 3)):
        (cell,) = plain.cells(interval)
        assert cell.hull(interval) == interval
        assert cell.sample in interval
        assert (cell.numerator, cell.denominator) == plain.fraction_at(Fraction(5))


@given(beta_text, st.sampled_from([Interval.POSITIVE, Interval.closed(1, 2), Interval.closed(3, 3)]))
def test_forms_pickle_and_copy(text: str, interval: Interval) -> None:
    for found in (form(text), PiecewiseForm(ExpPoly.from_terms([(1, Fraction(-1, 3), 2), (0, 0, Fraction(1, 7))]))):
        for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert other == found
            assert hash(other) == hash(found)
            assert other.cells(interval) == found.cells(interval)


def test_sympy_expressions_are_read() -> None:
    beta = sympy.Min(1, 2 * sympy.exp(-dipc.eps))
    (found,) = dipc.check(LAPLACE, [{"q": 0, "out": 0}], beta=beta, gamma=1).rows
    assert found.beta == "Min(1, 2*exp(-eps))"
    assert found.beta_form.expr == beta
