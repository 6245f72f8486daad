"""A claim that says nothing is said to say nothing: for rows, classes, every number, tighten, solve and simulate."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from dipc.decide.obligation import EndPoint
from dipc.inverse.question import EpsSolution
from dipc.simulation.compare import Agreement

LAPLACE = "program lap; input x : real; output y : real; ideal { y <- x } y <- Lap(eps/1000000, x)"

FLAG = """
program flag;
input q : real;
output flag : {0, 1};
output v : real;
metric { dd: all; }
ideal { if q >= 0 then flag <- 1 else flag <- 0 end; v <- q }
flag <- 1;
v <- Lap(eps/2, q)
"""

SIGN = """
program sign;
input q : real;
output out : bool;
var r : real;
ideal { out <- q >= 0 }
r <- Lap(eps, q);
out <- r >= 0
"""


def is_near(point: EndPoint, number: str) -> bool:
    """Whether the point is the number, to all its digits."""
    return abs(point.low - Fraction(number)) < Fraction(1, 10**9)


def vacuous(report: dipc.Report) -> tuple[int, int]:
    return report.counts.vacuous, report["vacuous_rows"]


@pytest.mark.parametrize("asked", [{"inputs": "q in {-1, 0, 2}"}, {"inputs": "all"}], ids=["rows", "classes"])
@pytest.mark.parametrize("claim", [{"beta": 2}, {"beta": "1 + alpha*eps"}, {"alpha": 0, "beta": 1}], ids=str)
def test_beta_of_at_least_one_says_nothing(asked: dict[str, str], claim: dict[str, object]) -> None:
    report = dipc.check(dipc.load(SIGN), **asked, **claim)  # type: ignore[arg-type]
    assert report.verdict is dipc.Verdict.ACCURATE
    assert vacuous(report) == (len(report.rows), len(report.rows))
    assert all(row["vacuous"] for row in report.rows)
    assert report.counts.above_one == len(report.rows)


def test_nothing_is_claimed_nearer_than_alpha() -> None:
    report = dipc.check(dipc.load(SIGN), inputs="q in {-1, 0, 2}", alpha=100, beta=0)
    assert vacuous(report) == (3, 3)
    assert report.counts.above_one == 0
    assert report.scopes == {}


def test_a_row_says_something_if_beta_is_less_than_one_anywhere() -> None:
    report = dipc.check(dipc.load(SIGN), inputs="q = 1", beta="2*exp(-eps)", eps="(0, 3/4)")
    assert vacuous(report) == (0, 0)
    (part,) = report.scopes["eps"].where
    assert is_near(part.start, "0.69314718056")
    assert part.end.low == Fraction(3, 4)
    assert vacuous(dipc.check(dipc.load(SIGN), inputs="q = 1", beta="2*exp(-eps)", eps="(0, 1/2)")) == (1, 1)


def test_a_report_says_something_where_any_row_does() -> None:
    report = dipc.check(dipc.load(SIGN), inputs="q in {1, 2}", beta="2*exp(-alpha*eps)")
    (part,) = report.scopes["eps"].where
    assert is_near(part.start, "0.34657359028")
    assert part.end.infinite


def test_the_readmes_laplace_with_gamma_forgotten() -> None:
    report = dipc.check(dipc.load(LAPLACE), inputs="all", beta="exp(-gamma*eps)")
    assert vacuous(report) == (1, 1)
    assert [found.code for found in report.warnings] == ["W0601"]


def test_a_gamma_that_no_output_can_use() -> None:
    for asked in ({"inputs": "q = 1"}, {"inputs": "all"}):
        report = dipc.check(dipc.load(SIGN), **asked, beta="exp(-alpha*eps)", gamma=1)  # type: ignore[arg-type]
        assert [found.code for found in report.warnings] == ["W0602"]
        assert report["warnings"][0]["code"] == "W0602"
        report = dipc.check(dipc.load(SIGN), **asked, beta="exp(-alpha*eps)", gamma=0)  # type: ignore[arg-type]
        assert report.warnings == ()


def test_the_suggested_metric_uses_gamma() -> None:
    text = "program p; input x : {0, 1}; output y : {0, 1}; ideal { y <- x } y <- choose { 0 : 1/2, 1 : 1/2 }"
    (warning,) = dipc.check(dipc.load(text), beta="1/2", gamma=1).warnings
    metric = warning.notes[0].split("`")[1]
    report = dipc.check(dipc.load(text.replace("ideal", f"{metric} ideal")), beta="1/2", gamma=1)
    assert report.warnings == ()
    assert str(report.rows[0].closed_form) == "1"


def test_the_hardest_input_is_one_that_the_claim_is_about() -> None:
    report = dipc.check(dipc.load(FLAG), inputs="all", alpha=1, gamma=1, beta="exp(-gamma*eps/2)")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert vacuous(report) == (2, 2)
    for row in report.rows:
        assert isinstance(row["class"], dict)
        assert row["class"]["corner"] is None
        assert row["class"]["method"] == "empty"
    hard = dipc.check(dipc.load(FLAG), inputs="all", alpha=0, gamma=1, beta="exp(-gamma*eps/2)")
    assert hard.verdict is dipc.Verdict.INACCURATE


def test_a_row_past_a_limit_holds_if_nothing_is_claimed() -> None:
    limits = dipc.Limits(states=1)
    table = [{"q": 1, "out": True}]
    program = dipc.load(SIGN.replace("ideal { out <- q >= 0 }", ""))
    report = dipc.check(program, table, beta=1, limits=limits)
    assert (report.verdict, vacuous(report)) == (dipc.Verdict.ACCURATE, (1, 1))
    report = dipc.check(program, table, beta="1/2", limits=limits)
    assert report.verdict is dipc.Verdict.UNDECIDED


def test_every_number() -> None:
    program = dipc.load("benchmarks/sparse.dip")
    report = dipc.check(program, inputs="all", for_all="m >= 3", beta="2*m")
    assert vacuous(report) == (1, 1)
    report = dipc.check(program, inputs="all", for_all="m >= 3", beta="2*m*exp(-alpha*eps/8)")
    assert vacuous(report) == (0, 0)
    (part,) = report.scopes["alpha*eps"].where
    assert is_near(part.start, "14.33407575382")


def test_gamma_free() -> None:
    text = "program p; input x : {0, 1}; output y : {0, 1}; ideal { y <- x } y <- choose { 0 : 1/2, 1 : 1/2 }"
    assert vacuous(dipc.check(dipc.load(text), beta=1, gamma="free")) == (2, 2)
    assert vacuous(dipc.check(dipc.load(text), beta="1/2", gamma="free")) == (0, 0)


def test_tighten_and_solve_say_where_the_claim_says_something() -> None:
    program = dipc.load(SIGN)
    found = dipc.tighten(program, inputs="q = 1", beta="2*exp(-eps)")
    assert found.kappa == 4
    assert found.scopes["eps"].where[0].start.low == 0
    solved = dipc.solve(program, inputs="q = 1", wanted="eps", beta="2*exp(-eps)")
    assert isinstance(solved, EpsSolution)
    assert solved.scopes["eps"].where[0].start.low > Fraction(69, 100)


@pytest.mark.parametrize(("beta", "factor", "kappa"), [("-1", Fraction(0), 0), ("1", Fraction(0), None)])
def test_where_the_answer_is_always_right_no_factor_is_needed(beta: str, factor: Fraction, kappa: int | None) -> None:
    """f = 0 suffices where Pr = 1; where beta is negative, it is the only one that does."""
    text = "program p; input x : {0, 1}; output y : {0, 1}; ideal { y <- x } y <- x"
    found = dipc.tighten(dipc.load(text), beta=beta)
    assert (found.factor, found.kappa) == ((factor, factor), kappa)


def test_a_factor_that_one_row_needs_and_another_forbids() -> None:
    text = """
    program p; input x : {0, 1}; output y : {0, 1}; ideal { y <- x }
    if x = 0 then y <- x else y <- choose { 0 : 1/2, 1 : 1/2 } end
    """
    table = [{"x": 0, "y": 0, "beta": "-1"}, {"x": 1, "y": 1, "beta": "1"}]
    assert dipc.tighten(dipc.load(text), table).factor is None


def test_runs_with_real_outputs_alone_are_no_match() -> None:
    found = dipc.simulate(dipc.load(LAPLACE), {"x": 0}, 1, runs=50)
    assert found.agreement is Agreement.UNDECIDED
    assert found.reason is not None
    found = dipc.simulate(dipc.load(LAPLACE), {"x": 0}, 1, runs=50, outputs=[{"y": 0}], gamma=1_000_000)
    assert found.agreement is Agreement.MATCH


# --- what else is asked of a claim that says nothing ------------------------------------------------------


def test_no_factor_is_refuted_by_a_class_that_claims_nothing() -> None:
    found = dipc.tighten(dipc.load(FLAG), inputs="all", alpha=1, gamma=1, beta="exp(-gamma*eps/2)")
    assert found.is_zero
    assert found.kappa is None
    assert (found.claims.vacuous, found.claims.cases) == (2, 2)


@pytest.mark.parametrize(("wanted", "given"), [("eps", {"beta": 0}), ("gamma", {"beta": 0}), ("beta", {})])
def test_what_is_solved_for_says_that_nothing_is_claimed(wanted: str, given: dict[str, object]) -> None:
    program = dipc.load(FLAG)
    near = dipc.solve(program, inputs="q = -1..1", wanted=wanted, alpha=1, **given)  # type: ignore[arg-type]
    assert near.claims_nothing
    assert near.as_json()["vacuous"] is True
    far = dipc.solve(dipc.load(SIGN), inputs="q = 2", wanted=wanted, alpha=1, beta="1/2" if given else None)
    assert not far.claims_nothing


@pytest.mark.parametrize("wanted", ["eps", "alpha"])
def test_a_gamma_that_was_forgotten_is_a_warning_wherever_beta_is_used(wanted: str) -> None:
    program, beta = dipc.load(LAPLACE), "exp(-gamma*eps)"
    found = [
        dipc.check(program, inputs="all", beta=beta).warnings,
        dipc.tighten(program, inputs="all", beta=beta).warnings,
        dipc.solve(program, inputs="all", wanted=wanted, beta=beta).warnings,
    ]
    assert [[warning.code for warning in warnings] for warnings in found] == [["W0601"]] * 3
