"""Every input where the `metric` block says which answers are the same, or near: against rows of single inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import pytest

import dipc
from dipc.certificate.write import certify
from dipc.examples import text
from dipc.questions.report import Report
from dipc.text.diagnostic import DiagnosticError
from dipc.verifier.document import check_text

F = Fraction

#: The index of a noisy maximum, bins between thresholds, and two answers.
MAXIMUM = """
program maximum; input q[1..2] : real; output out : {1..2} = 1; var r, best : real;
metric { METRIC }
ideal { if q[2] > q[1] then out <- 2 end }
best <- Lap(eps, q[1]); r <- Lap(eps, q[2]); if r > best then out <- 2 end
"""
BINS = """
program bins; input q[1..1] : real; output out : {0..3} = 0; var r : real;
metric { METRIC }
ideal {
  if q[1] >= 0 then out <- 1 end;
  if q[1] >= 2 then out <- 2 end;
  if q[1] >= 5 then out <- 3 end
}
r <- Lap(eps, q[1]);
if r >= 0 then out <- 1 end;
if r >= 2 then out <- 2 end;
if r >= 5 then out <- 3 end
"""
TWO = """
program two; input q[1..2] : real; output a, b : bool; var r : real;
metric { METRIC }
ideal { a <- q[1] >= 0; b <- q[2] >= 0 }
r <- Lap(eps, q[1]); a <- r >= 0; r <- Lap(eps, q[2]); b <- r >= 0
"""


def report_on(source: str, metric: str, beta: str, **options: object) -> Report:
    return dipc.check(dipc.load(source.replace("METRIC", metric)), inputs="all", beta=beta, **options)  # type: ignore[arg-type]


def at_one(program: dipc.Program, q: Mapping[str, str], beta: str, **options: object) -> Report:
    inputs = ", ".join(f"{name} in {{{value}}}" for name, value in q.items())
    return dipc.check(program, inputs=inputs, beta=beta, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "metric", "beta", "options", "verdict"),
    [
        (MAXIMUM, "same: q[out] = q[out'];", "exp(-alpha*eps)", {}, "accurate"),
        (MAXIMUM, "same: q[out] = q[out'];", "exp(-2*alpha*eps)/2", {}, "inaccurate"),
        (MAXIMUM, "same: q[out] >= q[out'] - 1;", "exp(-alpha*eps)", {}, "accurate"),
        (MAXIMUM, "input: l1; same: q[out] = q[out'];", "exp(-alpha*eps/2)", {}, "accurate"),
        (MAXIMUM, "input: discrete; output: abs(q[out] - q[out']);", "exp(-eps/2)", {"gamma": 1}, "accurate"),
        (MAXIMUM, "output: abs(q[out] - q[out']);", "exp(-eps)/2", {"gamma": 1, "alpha": 0}, "inaccurate"),
        (MAXIMUM, "output: q[out'] - q[out];", "exp(-2*eps)*(1 + eps)", {"gamma": 2, "alpha": 0}, "accurate"),
        (MAXIMUM, "output: discrete;", "0", {"gamma": 1}, "accurate"),
        (MAXIMUM, "output: discrete;", "exp(-alpha*eps)", {"gamma": F(1, 2)}, "accurate"),
        (BINS, "output: abs(out - out');", "exp(-2*eps)/3", {"gamma": 1, "alpha": 0}, "inaccurate"),
        (BINS, "output: abs(out - out');", "exp(-2*eps)", {"gamma": 1, "alpha": 0}, "accurate"),
        (BINS, "output: linf;", "exp(-2*eps)", {"gamma": 1, "alpha": 0}, "accurate"),
        (BINS, "same: out = out' or out <= 1 and out' <= 1;", "exp(-alpha*eps)", {}, "accurate"),
        (BINS, "same: out = out' or out <= 1 and out' <= 1;", "exp(-alpha*eps)*2/5", {}, "inaccurate"),
        (BINS, "output: abs(q[1])*abs(q[1])*abs(out - out');", "3/4", {"gamma": 3, "alpha": 0}, "undecided"),
        (BINS, "same: out <= 1 and out' <= 1;", "1/2", {}, "inaccurate"),
        (TWO, "same: a = a' or b = b';", "exp(-alpha*eps)/4", {}, "accurate"),
        (TWO, "same: a = a' or b = b';", "exp(-alpha*eps)/5", {}, "inaccurate"),
        (TWO, "same: a = a';", "exp(-alpha*eps)/2", {}, "accurate"),
        (TWO, "output: abs(q[1]) + abs(q[2]);", "0", {"gamma": 1, "alpha": 1}, "inaccurate"),
        (MAXIMUM.replace("real", "int").replace("Lap", "DLap"), "same: q[out] = q[out'];", "2*exp(-eps/2)",
         {"alpha": 1}, "accurate"),
    ],
)  # fmt: skip
def test_claims_about_answers_that_are_near(
    source: str, metric: str, beta: str, options: dict[str, object], verdict: str
) -> None:
    """Proved claims hold at single inputs, and what refutes is so at the row that is named."""
    report = report_on(source, metric, beta, **options)
    assert str(report.verdict) == verdict, [row.reason for row in report.rows]
    program = dipc.load(source.replace("METRIC", metric))
    for row in report.rows:
        if str(row.verdict) == "inaccurate":
            again = at_one(program, row.input, beta, **options)
            assert str(again.verdict) == "inaccurate"
            assert (again.rows[0].alpha, again.rows[0].counterexample) == (row.alpha, row.counterexample)
    if verdict == "accurate":
        for values in itertools.product(("-4", "0", "1", "3"), repeat=len(program.inputs)):
            assert str(at_one(program, dict(zip(program.inputs, values, strict=True)), beta, **options).verdict) == (
                "accurate"
            ), values


def test_the_published_mechanisms_with_metrics() -> None:
    """The hardest inputs of noisy max without ties: one query far below two equal ones is easier than two."""
    ties = dipc.check(dipc.load(text("noisy_max_ties"), m=4), inputs="all")
    assert str(ties.verdict) == "accurate"
    assert len(ties.rows) == 15  # which queries are equal to the first greatest
    assert str(dipc.check(dipc.load(text("noisy_max_gap"), m=4), inputs="all").verdict) == "accurate"
    tight = dipc.tighten(dipc.load(text("noisy_max_ties")), inputs="all")
    plain = dipc.tighten(dipc.load(text("noisy_max")), inputs="all")
    assert str(tight.factor)[:12] == str(plain.factor)[:12]


def test_answers_that_are_all_the_same() -> None:
    """dd is infinite there: the limit of beta is claimed."""
    report = report_on(MAXIMUM, "same: q[1] <= 5 or out = out';", "exp(-alpha*eps)")
    assert str(report.verdict) == "accurate"
    assert "0" in {row.beta for row in report.rows}
    assert str(report_on(MAXIMUM, "same: q[1] <= 5 or out = out';", "exp(-alpha*eps) - 1/100").verdict) == "inaccurate"


@pytest.mark.parametrize(
    ("metric", "options", "code"),
    [
        ("output: abs(q[out] - q[out']);", {"gamma": "free", "alpha": 0}, "E1206"),
        ("output: discrete;", {"gamma": "alpha"}, "E1206"),
    ],
)
def test_metrics_that_are_refused(metric: str, options: dict[str, object], code: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        report_on(MAXIMUM, metric, "exp(-alpha*eps)", **options)
    assert caught.value.diagnostics[0].code == code


def test_a_distance_that_may_be_negative_is_not_decided() -> None:
    report = report_on(MAXIMUM, "output: q[out] - q[out'];", "1/2", gamma=1)
    assert {row.reason for row in report.rows} == {"the distance between answers may be negative"}


@pytest.mark.parametrize(
    ("metric", "complete"), [("same: q[out] = q[out'];", False), ("output: abs(q[out] - q[out']);", True)]
)
def test_certificates_follow_distances_of_answers(metric: str, complete: bool) -> None:
    """The checker does not follow sameness of answers: certificates leave classes of such a metric open."""
    checked = check_text(certify(report_on(MAXIMUM, metric, "2*exp(-alpha*eps/2)", keep_proofs=True)))
    assert (checked.verdict, checked.complete) == ("accurate", complete)
    assert len(checked.open_rows) == (0 if complete else checked.counts["accurate"])
    refuted = check_text(certify(report_on(MAXIMUM, metric, "exp(-alpha*eps)/9", keep_proofs=True)))
    assert refuted.verdict == "inaccurate"
