"""Betas with summands of eps alone, about every real input: a stronger claim without them, and the claim itself."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.algebra.parametric import Parametric
from dipc.claims.conditions import lesser
from dipc.claims.expression import ClaimExpression
from dipc.cli.main import run
from dipc.decide.obligation import Verdict
from dipc.verifier.document import check_text

THRESHOLD = """
program p; input x : real; output o : bool; var r : real;
ideal { o <- x >= 0 } claim { alpha: dd; beta: exp(-alpha*eps)/2; }
r <- Lap(eps, x); o <- r >= 0
"""


@pytest.mark.parametrize(
    ("beta", "left"),
    [
        ("exp(-alpha*eps) + exp(-eps)/2", "exp(-alpha*eps)"),
        ("1/3 + exp(-alpha*eps) + eps*exp(-eps) - exp(-2*alpha*eps)", "exp(-alpha*eps) + (-exp(-2*alpha*eps))"),
        ("exp(-eps) + 1/2", "0"),
        ("exp(-alpha*eps) - exp(-eps)", None),
        ("exp(-alpha*eps) + (exp(-eps) - exp(-2*eps))", "exp(-alpha*eps) - exp(-2*eps)"),
        ("exp(-alpha*eps)*(1 + exp(-eps))", None),
        ("min(1, exp(-alpha*eps) + exp(-eps))", None),
        ("exp(-alpha*eps) + exp(-dd*eps)", None),
    ],
)
def test_summands_of_eps_alone_are_left_out(beta: str, left: str | None) -> None:
    distance = Parametric.unknown("alpha")
    found = lesser(
        ClaimExpression.parse("beta", beta, "<beta>"),
        {"alpha": distance, "dd": distance},
        ("alpha", "dd"),
        far=False,
    )
    if left is None or found is None:
        assert found is left
        return
    value, wanted = (
        ClaimExpression.parse("beta", text, "<beta>").evaluate({"alpha": distance}) for text in (found, left)
    )
    assert (value + Parametric.number(-1) * wanted).constant() == 0


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("exp(-alpha*eps)/2 + exp(-eps)", Verdict.ACCURATE),
        ("exp(-alpha*eps)/2 + exp(-eps)/9 + 1/100", Verdict.ACCURATE),
        # At dd = 0 half of the probability is missing, and exp(-eps)/9 goes to 0.
        ("exp(-alpha*eps)/3 + exp(-eps)/9", Verdict.INACCURATE),
        # Here 1/6 does not: the stronger claim fails, and the claim itself holds.
        ("exp(-alpha*eps)/3 + 1/6", Verdict.ACCURATE),
        ("exp(-alpha*eps) - exp(-eps)/2", Verdict.INACCURATE),
    ],
)
def test_claims_about_every_input(beta: str, verdict: Verdict) -> None:
    program = dipc.load(THRESHOLD)
    report = dipc.check(program, inputs="all", beta=beta, keep_proofs=True)
    assert report.verdict is verdict
    assert report.stated["beta"] == beta
    assert check_text(dipc.certify(report)).complete
    grid = dipc.check(program, inputs="x in {-5, -1, -1/9, 0, 1/9, 1, 5}", beta=beta)
    assert (grid.verdict is Verdict.INACCURATE) is (verdict is Verdict.INACCURATE)


def test_a_beta_of_eps_alone_is_kept() -> None:
    """A beta of eps alone is decided in eps: setting it aside would leave nothing to decide."""
    body = "if x >= 0 then o <- choose { true : 1 - exp(-eps)/2, false : exp(-eps)/2 } else o <- false end"
    source = THRESHOLD.replace("r <- Lap(eps, x); o <- r >= 0", body)
    for beta, verdict in (("exp(-eps)/2", Verdict.ACCURATE), ("exp(-eps)/3", Verdict.INACCURATE)):
        assert dipc.check(dipc.load(source), inputs="all", beta=beta).verdict is verdict


COIN = """
program p; input x : real; output o : {0, 1};
ideal { if x >= 0 then o <- 1 else o <- 0 end } claim { alpha: dd; beta: exp(-alpha*eps/6) + exp(-eps)/2; }
if x >= 0 then o <- choose { 1 : 1 - exp(-eps)/2, 0 : exp(-eps)/2 } else o <- 0 end
"""


def test_far_from_other_answers_only_the_rest_counts() -> None:
    """One class holds by the summands of eps alone, the other by any."""
    report = dipc.check(dipc.load(COIN), inputs="all", keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    assert check_text(dipc.certify(report)).verdict == "accurate"
    alone = dipc.check(dipc.load(COIN), inputs="all", beta="exp(-eps)/2", keep_proofs=True)
    assert alone.verdict is Verdict.ACCURATE
    assert check_text(dipc.certify(alone)).verdict == "accurate"
    assert (
        dipc.check(dipc.load(COIN), inputs="all", beta="exp(-alpha*eps/6) + exp(-eps)/3").verdict is Verdict.INACCURATE
    )


@pytest.mark.parametrize(
    ("beta", "left"),
    [("exp(-alpha*eps) + exp(-eps)/2", "exp(-eps)/2"), ("exp(-dd*eps) - exp(-eps)", "-exp(-eps)"), ("2*alpha", "0")],
)
def test_summands_with_a_distance_are_left_out(beta: str, left: str) -> None:
    distance = Parametric.unknown("alpha")
    names = {"alpha": distance, "dd": distance}
    found = lesser(ClaimExpression.parse("beta", beta, "<beta>"), names, ("alpha", "dd"), far=True)
    assert found == left


def test_what_stays_undecided_has_a_certificate_that_says_so() -> None:
    report = dipc.check(dipc.load(THRESHOLD), inputs="all", beta="exp(-alpha*eps)*(1 + exp(-eps))/2", keep_proofs=True)
    assert report.verdict is Verdict.UNDECIDED
    assert check_text(dipc.certify(report)).verdict == "undecided"


def test_deterministic_programs_that_are_right() -> None:
    """The claim holds for every `beta` that is not negative."""
    source = THRESHOLD.replace("r <- Lap(eps, x); o <- r >= 0", "o <- x >= 0")
    report = dipc.check(dipc.load(source), inputs="all", beta="exp(-alpha*eps/6) + exp(-eps)/2")
    assert report.verdict is Verdict.ACCURATE


@pytest.mark.parametrize("seed", range(10))
def test_what_is_proved_holds_at_inputs(seed: int) -> None:
    chance = random.Random(seed)
    beta = f"exp(-alpha*eps/{chance.randint(1, 3)})/{chance.randint(1, 3)} + exp(-eps*{chance.randint(1, 3)})/4"
    report = dipc.check(dipc.load(THRESHOLD), inputs="all", beta=beta)
    rows = dipc.check(dipc.load(THRESHOLD), inputs="x in {-9, -2, -1/20, 0, 1/300, 3/2, 4}", beta=beta)
    if report.verdict is Verdict.ACCURATE:
        assert rows.verdict is Verdict.ACCURATE
    if rows.verdict is Verdict.INACCURATE:
        assert report.verdict is Verdict.INACCURATE
    for row in json.loads(json.dumps(report.as_json()))["rows"]:
        example = row["counterexample"]
        if example is not None:
            assert Fraction(example["probability"][1]) < Fraction(example["required"][0])


def test_a_class_says_that_its_beta_is_a_lower_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.dip"
    path.write_text(THRESHOLD, encoding="utf-8")
    assert run(["check", str(path), "--inputs", "all", "--beta", "exp(-alpha*eps)/2 + eps*exp(-eps)"]) == 0
    assert "exp(-t)/2, and the claim allows at least as much" in capsys.readouterr().out
    assert run(["check", str(path), "--inputs", "all"]) == 0
    assert "the claim allows at least as much" not in capsys.readouterr().out
