"""Certificates of programs with a precondition: what the checker derives, and forgeries that it rejects."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from typing import Any

import pytest

import dipc
from dipc import Verdict
from dipc.certificate.privacy import certify_privacy
from dipc.options import Options
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import Accepted, check_text
from dipc.verifier.reading import Rejected, Unreadable
from tests.questions.test_requires import random_claim
from tests.strategies.preconditions import random_case
from tests.verifier import samples

NOISY = """program p;
input x : real;
output out : bool;
{}
ideal {{ out <- x >= 0 }}
var r : real;
r <- Lap(eps, x);
out <- r >= 0
"""
AWAY = "requires abs(x) >= 1;"
GAP = "requires x <= -2 or x >= 2;"
WEAK = {"alpha": "dd", "beta": "1/2*exp(-dd*eps)"}
STRONG = {"alpha": "0", "beta": "1/2*exp(-eps)"}


def certificate(source: str, **options: Any) -> str:
    return dipc.certify(dipc.check(dipc.load(source), keep_proofs=True, **options))


def is_proved(accepted: Accepted) -> bool:
    return not accepted.trusted and not accepted.open_rows


def is_shown(data: dict[str, Any]) -> bool:
    """Whether the checker takes the document, resealed by a forger, as proved in full."""
    try:
        return is_proved(check_text(samples.resealed(data)))
    except (Rejected, Unreadable):
        return False


def of_program(data: dict[str, Any], text: str) -> dict[str, Any]:
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return {**data, "program": {**data["program"], "text": text, "sha256": hashed}}


# --- what is accepted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_the_checker_accepts_what_is_decided_about_all_inputs(seed: int) -> None:
    case = random_case(seed, ("real", "int", "mixed"))
    if case.is_empty:
        return
    alpha, beta = random_claim(case, seed)
    report = dipc.check(dipc.load(case.text()), inputs="all", alpha=alpha, beta=beta, keep_proofs=True)
    if report.verdict is Verdict.UNDECIDED:
        return
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == report.verdict
    assert accepted.statement is not None
    assert "whose inputs satisfy" in accepted.statement.sentence


@pytest.mark.parametrize(
    ("requires", "claim"),
    [(AWAY, STRONG), (GAP, {"alpha": "dd", "beta": "1/2*exp(-dd*eps/2)"}), ("requires x > -3 and x != 0;", WEAK)],
)
def test_a_proof_about_all_inputs_is_complete(requires: str, claim: dict[str, str]) -> None:
    accepted = check_text(certificate(NOISY.format(requires), inputs="all", **claim))
    assert accepted.verdict == "accurate"
    assert is_proved(accepted)


def test_rows_and_pairs_are_complete() -> None:
    source = NOISY.format("requires 2*x >= -3 and x <= 2 and x != 0;")
    rows = check_text(certificate(source, inputs="x in {-3/2, 1/2, 2, 0}", **WEAK))
    assert is_proved(rows)
    program = dipc.load(source)
    for inputs in ("x in {-1, 0, 1, 2}", "all"):
        with ExitStack() as stack:
            options = Options(keep_proofs=True)
            question = PrivacyQuestion(program, "linf:1", inputs, options.engine(stack, program))
            report = question.decide(read_claim(program, "eps", None, None))
            accepted = check_text(certify_privacy(question, report))
        assert accepted.verdict == "private"
        assert is_proved(accepted)


def test_the_sentence_has_the_condition_of_the_text() -> None:
    text = NOISY.format("requires  abs( x )>=1;requires not(x = 5 or min(x,2*x)>100);")
    accepted = check_text(certificate(text, inputs="all", **STRONG))
    assert accepted.statement is not None
    assert "whose inputs satisfy (abs(x) >= 1) and (not (x = 5 or min(x, 2*x) > 100))," in accepted.statement.sentence


# --- forgeries --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stated",
    [
        None,
        {"condition": "abs(x) >= 2", "point": {"x": "3"}},
        {"condition": "abs(x) > 1", "point": {"x": "3"}},
        {"condition": "true", "point": {"x": "3"}},
        {"condition": "abs(x) >= 1", "point": {"x": "1/2"}},
        {"condition": "abs(x) >= 1", "point": {}},
        {"condition": "abs(x) >= 1", "point": {"x": "3", "y": "0"}},
        {"condition": "abs(x) >= 1", "point": {"x": "inf"}},
        {"condition": "abs(x) >= 1"},
    ],
)
def test_a_condition_that_is_dropped_or_changed_is_rejected(stated: dict[str, Any] | None) -> None:
    data = samples.document(certificate(NOISY.format(AWAY), inputs="all", **STRONG))
    assert is_shown(data)
    forged = {**data, "requires": stated} if stated is not None else {k: v for k, v in data.items() if k != "requires"}
    with pytest.raises((Rejected, Unreadable)):
        check_text(samples.resealed(forged))


def test_a_program_without_a_condition_states_none() -> None:
    data = samples.document(certificate(NOISY.format(""), inputs="all", **WEAK))
    with pytest.raises(Rejected):
        check_text(samples.resealed({**data, "requires": {"condition": "x >= 0", "point": {"x": "1"}}}))


@pytest.mark.parametrize("changed", ["", "requires x >= 0;", "requires abs(x) >= 1/2;", "requires x != 0;"])
def test_a_proof_is_none_of_the_program_with_another_condition(changed: str) -> None:
    # Without the condition, or with a weaker one, the claim is false.
    data = samples.document(certificate(NOISY.format(AWAY), inputs="all", **STRONG))
    forged = of_program(data, NOISY.format(changed))
    del forged["requires"]
    if changed:
        condition = changed.removeprefix("requires ").removesuffix(";")
        forged["requires"] = {"condition": condition, "point": {"x": "2"}}
    assert not is_shown(forged)


@pytest.mark.parametrize("requires", [GAP, "requires x >= 0;", "requires x = -1 or x > 3;"])
def test_a_proof_without_a_condition_is_none_with_it(requires: str) -> None:
    # dd is greater with the condition, and the claim about it false.
    data = samples.document(certificate(NOISY.format(""), inputs="all", **WEAK))
    assert is_shown(data)
    condition = requires.removeprefix("requires ").removesuffix(";")
    point = {"x": "-1" if "-1" in condition else "4"}
    forged = {**of_program(data, NOISY.format(requires)), "requires": {"condition": condition, "point": point}}
    assert not is_shown(forged)


def test_a_row_or_a_pair_outside_is_rejected() -> None:
    data = samples.document(certificate(NOISY.format(AWAY), inputs="x in {1, 2}", alpha="0", beta="1"))
    forged = of_program(data, NOISY.format("requires x >= 2;"))
    forged["requires"] = {"condition": "x >= 2", "point": {"x": "2"}}
    assert not is_shown(forged)
    program = dipc.load(NOISY.format(AWAY))
    with ExitStack() as stack:
        question = PrivacyQuestion(program, "linf:2", "x in {-1, 1}", Options(keep_proofs=True).engine(stack, program))
        text = certify_privacy(question, question.decide(read_claim(program, "2*eps", None, None)))
    pairs = samples.document(text)
    assert is_shown(pairs)
    forged = of_program(pairs, NOISY.format("requires x >= 0;"))
    forged["requires"] = {"condition": "x >= 0", "point": {"x": "0"}}
    assert not is_shown(forged)


def test_an_empty_condition_has_no_point() -> None:
    data = samples.document(certificate(NOISY.format(AWAY), inputs="all", **STRONG))
    forged = of_program(data, NOISY.format("requires x > 1 and x < 1;"))
    for x in ("1", "2", "0"):
        forged["requires"] = {"condition": "x > 1 and x < 1", "point": {"x": x}}
        assert not is_shown(forged)


def test_a_dd_that_reaches_an_input_outside_is_rejected() -> None:
    data = samples.document(certificate(NOISY.format(GAP), inputs="x in {2, 3}", alpha="dd", beta="1"))
    assert [row["dd"] for row in data["rows"]] == ["4", "5"]
    data["rows"][0]["dd"] = "2"
    with pytest.raises(Rejected):
        check_text(samples.resealed(data))


def test_every_number_has_no_certificate() -> None:
    source = """program p; const m = 2; input q[1..m] : real; output out[1..m] : bool;
    requires min(i in 1..m : q[i]) >= 0; ideal { for i in 1..m do out[i] <- q[i] >= 1 end } var r : real;
    for i in 1..m do r <- Lap(eps, q[i]); out[i] <- r >= 1 end"""
    report = dipc.check(
        dipc.load(source), inputs="all", for_all="m", alpha="dd", beta="m*exp(-dd*eps)", keep_proofs=True
    )
    assert report.verdict is Verdict.ACCURATE
    with pytest.raises(ValueError, match="does not follow `requires`"):
        dipc.certify(report)
    one = samples.document(certificate(source, inputs="all", alpha="dd", beta="m*exp(-dd*eps)"))
    forged = {**one, "numbers": {"parameter": "m", "least": 1}}
    assert is_shown(one)
    assert not is_shown(forged)
