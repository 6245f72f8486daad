"""Claims about every int input: proved for all distances at once, and never where a row says otherwise."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc import DiagnosticError, Verdict
from dipc.claims.claim import ClaimOptions
from dipc.cli.main import run
from dipc.program.ideal import Distances
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.report import ClassResult
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import by_distances
from dipc.rules.halfspaces import at_alpha

THRESHOLD = "x <- DLap(eps, n); if x >= 0 then o <- true else o <- false end"


def program(ideal: str, body: str, claim: str, inputs: str = "n, m : int", metric: str = "") -> str:
    return (
        f"program p; domain B = {{0, 1}}; input {inputs}; output o : bool; var x, y : int = 0;\n{metric}"
        f"ideal {{ {ideal} }} claim {{ {claim} }}\n{body}\n"
    )


def decided(source: str) -> Verdict:
    return dipc.check(dipc.load(source), inputs="all").verdict


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("exp(-alpha*eps)", "accurate"),
        ("exp(-alpha*eps)/(1 + exp(-eps))", "accurate"),  # the probability itself
        ("2*exp(-alpha*eps/2)", "accurate"),
        ("min(1/2, exp(-alpha*eps))", "accurate"),
        ("exp(-eps)", "accurate"),
        ("999/1000*exp(-alpha*eps)", "inaccurate"),
        ("exp(-(alpha + 1)*eps)/(1 + exp(-eps))", "inaccurate"),
        ("exp(-alpha*eps)/(1 + exp(-eps/2))", "inaccurate"),
    ],
)
def test_a_threshold_at_every_distance(beta: str, verdict: str) -> None:
    assert decided(program("o <- n >= 0", THRESHOLD, f"alpha: dd; beta: {beta};")) == verdict


@pytest.mark.parametrize(
    ("alpha", "beta", "verdict"),
    [
        ("0", "1/2", "accurate"),
        ("2", "exp(-3*eps)/(1 + exp(-eps))", "accurate"),  # dd > 2 is dd >= 3
        ("3", "exp(-4*eps)/(1 + exp(-eps))", "accurate"),
        ("5/2", "exp(-3*eps)/(1 + exp(-eps))", "accurate"),  # dd is an integer
        ("2", "exp(-4*eps)/(1 + exp(-eps))", "inaccurate"),
    ],
)
def test_a_threshold_at_one_distance(alpha: str, beta: str, verdict: str) -> None:
    assert decided(program("o <- n >= 0", THRESHOLD, f"alpha: {alpha}; beta: {beta};")) == verdict


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("2*exp(-alpha*eps/2)", "accurate"),
        ("(1 + alpha)*exp(-alpha*eps)", "accurate"),
        ("exp(-alpha*eps)", "inaccurate"),
    ],
)
def test_sums_of_noises(beta: str, verdict: str) -> None:
    body = "x <- DLap(eps, n); y <- DLap(eps, 0); if x + y >= 0 then o <- true else o <- false end"
    assert decided(program("o <- n >= 0", body, f"alpha: dd; beta: {beta};")) == verdict


def test_a_threshold_elsewhere_is_decided_at_small_distances() -> None:
    body = THRESHOLD.replace(">= 0", ">= 2")
    assert decided(program("o <- n >= 0", body, "alpha: dd; beta: exp(-(alpha - 2)*eps);")) == "accurate"
    assert decided(program("o <- n >= 0", body, "alpha: dd; beta: exp(-alpha*eps);")) == "inaccurate"


def test_what_refutes_a_claim_may_be_too_long_to_write() -> None:
    """The claim fails at n = 0, in numbers of too many digits: that no input refutes it would not be true."""
    source = program(
        "o <- n >= 0", THRESHOLD.replace(">= 0", ">= 1000000"), "alpha: dd; beta: exp(-alpha*eps);", "n : int"
    )
    report = dipc.check(dipc.load(source), inputs="all")
    assert report.verdict == "undecided"
    failing, holding = report.rows
    assert "no input was found to refute it" in (failing.reason or "")
    assert holding.verdict is Verdict.ACCURATE  # the answer is false at n < 0, where it is far from 1000000


@pytest.mark.parametrize(
    ("ideal", "body", "claim", "verdict"),
    [
        ("o <- 2*n >= 1", "o <- n >= 1", "alpha: dd; beta: 0;", "accurate"),
        ("o <- 2*n >= 1", "o <- n >= 0", "alpha: dd; beta: 0;", "inaccurate"),
        ("o <- n - m > 0", "o <- n >= m + 1", "alpha: 0; beta: 0;", "accurate"),
        ("o <- n = 5", "o <- false", "alpha: dd; beta: 0;", "inaccurate"),  # at one input only
        ("o <- n = 5", "o <- false", "alpha: 2; beta: 0;", "accurate"),  # which is 1 away from other answers
    ],
)
def test_deterministic_programs(ideal: str, body: str, claim: str, verdict: str) -> None:
    assert decided(program(ideal, body, claim)) == verdict


def test_answers_that_are_ints() -> None:
    source = "program p; input n : int; output o : int; ideal { o <- 2*n } claim { %s } o <- %s"
    geometric = "DLap(eps, 2*n)"
    assert decided(source % ("alpha: 0; gamma: 2; beta: 2*exp(-3*eps)/(1 + exp(-eps));", geometric)) == "accurate"
    assert decided(source % ("alpha: 0; gamma: 2; beta: exp(-3*eps);", geometric)) == "inaccurate"
    # The answer changes with each step: dd is 1, and no more.
    assert decided(source % ("alpha: dd; gamma: 0; beta: 0;", "2*n")) == "accurate"
    assert decided(source % ("alpha: 1; gamma: 0; beta: 0;", "n")) == "accurate"
    assert decided(source % ("alpha: 1/2; gamma: 0; beta: 0;", "n")) == "inaccurate"


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("2*exp(-gamma*eps)", "accurate"),
        ("2*exp(-gamma*eps)/(1 + exp(-eps))", "accurate"),  # what it is just below an integer
        ("199/100*exp(-gamma*eps)", "inaccurate"),
        ("2*exp(-(gamma + 1)*eps)/(1 + exp(-eps))", "inaccurate"),
    ],
)
def test_every_gamma_of_an_int_output(beta: str, verdict: str) -> None:
    source = "program p; input n : int; output o : int; ideal { o <- 3*n } claim { alpha: 0 } o <- DLap(eps, 3*n)"
    assert dipc.check(dipc.load(source), inputs="all", gamma="free", beta=beta).verdict == verdict


def test_ints_beside_reals_and_finite_inputs() -> None:
    ideal = "o <- n >= 0 and q > 0 and k = 1"
    body = "o <- n > -1 and 2*q > 0 and k = 1"
    inputs = "n, m : int; input q : real; input k : {0, 1}"
    assert decided(program(ideal, body, "alpha: dd; beta: 0;", inputs)) == "accurate"
    body = "x <- DLap(eps, n); if x >= 0 and q > 0 and k = 1 then o <- true else o <- false end"
    assert decided(program(ideal, body, "alpha: 0; beta: 1/2;", inputs)) == "accurate"
    assert decided(program(ideal, body, "alpha: dd; beta: 1/3;", inputs)) == "inaccurate"


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("exp(-alpha*eps)", "accurate"),
        ("exp(-alpha*eps)/(1 + exp(-eps))", "accurate"),
        ("exp(-alpha*eps)/2", "inaccurate"),
        ("alpha*eps", "inaccurate"),
    ],
)
def test_distances_of_ints_and_reals(beta: str, verdict: str) -> None:
    body = "x <- DLap(eps, n); if x >= 0 and q > 0 then o <- true else o <- false end"
    source = program("o <- n >= 0 and q > 0", body, f"alpha: dd; beta: {beta};", "n : int; input q : real")
    assert decided(source) == verdict


def test_noises_of_ints_and_reals() -> None:
    body = "r <- Lap(eps, q); x <- DLap(eps, n); if x >= 0 and r > 0 then o <- true else o <- false end"
    for beta, verdict in (("3/2*exp(-(alpha - 1)*eps)", "accurate"), ("exp(-alpha*eps)", "inaccurate")):
        claim = f"alpha: dd; beta: {beta};"
        source = program("o <- n >= 0 and q > 0", body, claim, "n : int; input q : real; var r : real")
        assert decided(source) == verdict


@pytest.mark.parametrize("norm", ["l1", "discrete"])
def test_other_distances(norm: str) -> None:
    body = "x <- DLap(eps, n - m); if x >= 0 then o <- true else o <- false end"
    metric = f"metric {{ input: {norm}; }} "
    assert decided(program("o <- n >= m", body, "alpha: dd; beta: exp(-alpha*eps);", metric=metric)) == "accurate"
    worse = "alpha: dd; beta: exp(-alpha*eps)/2;"
    assert decided(program("o <- n >= m", body, worse, metric=metric)) == "inaccurate"


def test_numbers_of_queries_are_for_reals() -> None:
    source = dipc.load("program p; const m = 2; input n : int; output o : int; ideal { o <- n } o <- n")
    with pytest.raises(DiagnosticError) as caught:
        dipc.check(source, inputs="all", beta="0", for_all="m")
    assert caught.value.diagnostics[0].code == "E1203"


def test_a_certificate_says_what_is_on_trust(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A proof for one integer after the other is on trust where the distance is left open.

    It is in the certificate only where it follows from the proof for the distance 1.
    """
    rising = "exp(-alpha*eps) - exp(-3*alpha*eps)/100"
    for alpha, beta, code in (
        ("dd", "exp(-alpha*eps)", 0),
        ("dd", rising, 0),
        ("dd", "exp(-alpha*eps)/2", 1),
        ("3", "exp(-3*eps)", 0),
    ):
        path, proof = tmp_path / "p.dip", tmp_path / "proof.json"
        path.write_text(program("o <- n >= 0", THRESHOLD, f"alpha: {alpha}; beta: {beta};"))
        assert run(["check", str(path), "--inputs", "all", "--certificate", str(proof), "-q"]) == code
        in_part = beta == rising
        assert run(["verify", str(proof)]) == (3 if in_part else 0)
        assert ("accepted in part" in capsys.readouterr().out) is in_part
        assert json.loads(proof.read_text())["verdict"] == ("accurate", "inaccurate")[code]


def random_program(chance: random.Random) -> str:
    """A tree of comparisons of ints with integer noise, and a claim that some of them meet with nothing to spare."""
    forms = ("n", "m", "n + m", "n - m", "2*n - m", "-n", "2*n")
    draws: list[str] = []

    def tree(depth: int) -> tuple[str, str]:
        if depth == 0:
            right = chance.choice(("true", "false"))
            return f"o <- {right}", f"o <- {right}"
        form, at, sign = chance.choice(forms), chance.choice("013"), chance.choice((">=", ">", "<", "="))
        compared = form
        if len(draws) < 2:
            compared = "xy"[len(draws)]
            draws.append(f"{compared} <- DLap({chance.choice(('eps', 'eps/2', '2*eps'))}, {form});")
        yes, no = tree(depth - 1), tree(depth - 1)
        return (
            f"if {form} {sign} {at} then {yes[0]} else {no[0]} end",
            f"if {compared} {sign} {at} then {yes[1]} else {no[1]} end",
        )

    ideal, body = tree(chance.choice((1, 1, 2)))
    beta = chance.choice(("1/2", "exp(-alpha*eps)", "exp(-alpha*eps/2)", "exp(-eps)", "2*exp(-alpha*eps/2)"))
    claim = f"alpha: {chance.choice(('dd', 'dd', '0', '2'))}; beta: {beta};"
    return program(ideal, f"{' '.join(draws)} {body}", claim)


def test_no_row_contradicts_a_verdict() -> None:
    undecided = 0
    for seed in range(16):
        source = dipc.load(random_program(random.Random(seed)))
        verdict = dipc.check(source, inputs="all").verdict
        undecided += verdict is Verdict.UNDECIDED
        if verdict is Verdict.ACCURATE:
            rows = dipc.check(source, inputs="n in {-30, -2, -1, 0, 1, 2, 4, 17}, m in {-9, -1, 0, 1, 3}")
            assert rows.verdict is Verdict.ACCURATE, seed
    assert undecided <= 2


def test_equations_are_put_together() -> None:
    body = "x <- DLap(eps, 2*n - m); if x = 0 then o <- true else o <- true end"
    assert decided(program("o <- true", body, "alpha: dd; beta: 0;")) == "accurate"
    # 2n - m = 1 is alpha away where 2n - m differs from it by more than 3·(alpha - 1).
    ideal = "if 2*n - m = 1 then o <- true else o <- false end"
    body = "x <- DLap(eps, 2*n - m); if x = 1 then o <- true else o <- false end"
    assert decided(program(ideal, body, "alpha: 1; beta: exp(-4*eps)/(1 + exp(-eps));")) == "accurate"
    tighter = "alpha: 1; beta: exp(-5*eps)*(1 - exp(-eps))/(1 + exp(-eps));"
    assert decided(program(ideal, body, tighter)) == "inaccurate"


def test_inputs_that_refute_are_found_where_corners_are_no_integers() -> None:
    body = "x <- DLap(eps, 2*n - m); if x < -1 then o <- true else o <- false end"
    metric = "metric { input: discrete; } "
    claim = "alpha: 1/2; beta: 1/(1 + exp(eps));"
    assert decided(program("o <- 2*n - m < 0", body, claim, metric=metric)) == "inaccurate"
    equation = "x <- DLap(2*eps, 2*n - m); if x = 3 then o <- true else o <- false end"
    assert decided(program("o <- 2*n - m = 3", equation, "alpha: 0; beta: 1/3;")) == "inaccurate"


#: Programs of which no bound way by way proves the claim.
HARDER = {
    "an answer behind two thresholds that share no input": (
        "if n - 3*m >= 0 then o <- false else if -n >= -1 then o <- false else o <- true end end",
        (
            "x <- DLap(2*eps, n - 3*m); y <- DLap(2*eps, -n);"
            "if x >= 0 then o <- false else if y >= -1 then o <- false else o <- true end end"
        ),
        "alpha: dd; beta: 2*exp(-alpha*eps)/(1 + exp(-eps));",
    ),
    "a threshold behind either side of another": (
        "if n - m <= 0 then o <- n + m < 1 else o <- n + m <= 0 end",
        (
            "x <- DLap(2*eps, n - m); y <- DLap(eps, n + m);"
            "if x <= 0 then if y < 1 then o <- true else o <- false end"
            " else if y <= 0 then o <- true else o <- false end end"
        ),
        "alpha: dd; beta: exp(-alpha*eps);",
    ),
}


@pytest.mark.parametrize("name", HARDER)
def test_answers_given_in_several_ways(name: str) -> None:
    ideal, body, claim = HARDER[name]
    source = dipc.load(program(ideal, body, claim))
    assert dipc.check(source, inputs="all").verdict is Verdict.ACCURATE
    assert (
        dipc.check(source, inputs="n in {-9, -1, 0, 1, 2, 3, 12}, m in {-5, -1, 0, 1, 4}").verdict is Verdict.ACCURATE
    )


def test_bounds_that_are_the_best_far_away_only() -> None:
    """The sum of the slacks of both comparisons starts below another bound and grows with the distance, for n >= 1."""
    ideal = "if n < 1 and n - m > 3 then o <- false else if n + m < 3 then o <- true else o <- true end end"
    body = (
        "x <- DLap(2*eps, n); y <- DLap(eps, n - m); if x < 1 and y > 3 then o <- false"
        " else if n + m < 3 then o <- true else o <- true end end"
    )
    report = dipc.check(dipc.load(program(ideal, body, "alpha: dd; beta: 2*exp(-alpha*eps/2);")), inputs="all")
    positive = [
        row for row in report.rows if isinstance(row, ClassResult) and row.note and "n >= 1" in row.note.conditions
    ]
    assert positive
    assert all(row.verdict is Verdict.ACCURATE for row in positive)


def test_inputs_at_a_distance_are_behind_the_facets() -> None:
    behind = 0
    for seed in range(12):
        program = dipc.load(random_program(random.Random(seed)))
        source = EveryInput(program, ClassClaim(program, ClaimOptions("1/2", "dd", "0", None)))
        distances, slots = Distances(source.ideal), source.ideal.symbolic_inputs
        cases = [case for case in source.cases() if isinstance(case, ClassCase)]
        parts = [part for case in cases for part in by_distances(source.setting, case.convex)]
        for point in ({slots[0]: Fraction(n), slots[1]: Fraction(m)} for n in (-4, 0, 1, 5) for m in (-2, 1, 2)):
            alpha = distances.dd([point[slot] for slot in slots])
            if alpha is None:
                continue
            found = [part for part in parts if all(g.holds_at(point) for g in part.guards)]
            assert any(all(at_alpha(f, alpha).closure().contains(point) for f in part.facets) for part in found)
            behind += 1
    assert behind > 50


def test_no_input_is_nearer_than_a_step() -> None:
    ideal = "if 2*n - m = 0 then o <- true else o <- false end"
    beta = "2*exp(-alpha*eps)/(1 + exp(-eps))"
    assert decided(program(ideal, ideal, f"alpha: dd; beta: {beta};")) == "accurate"


def test_finite_inputs_may_be_nearer_than_a_step() -> None:
    """The answer changes with k, which is 1/2 away: the claim is about alpha = 1/2, where beta is less than at 1."""
    inputs = "n, m : int; input k : {0, 1/2}"
    body = "x <- DLap(eps, n); if x >= 0 and k = 0 then o <- true else o <- false end"
    rising = "alpha: dd; beta: min(1, 1/2 + exp(-eps)*(alpha - 1/2));"
    source = dipc.load(program("o <- n >= 0 and k = 0", body, rising.replace("1/2 +", "1/3 +"), inputs))
    assert dipc.check(source, inputs="n in {0}, m in {0}").verdict is Verdict.INACCURATE
    assert dipc.check(source, inputs="all").verdict is Verdict.INACCURATE
    falling = program("o <- n >= 0 and k = 0", body, "alpha: dd; beta: exp(-alpha*eps);", inputs)
    assert decided(falling) == "accurate"


def test_alpha_is_rounded_up_to_an_integer() -> None:
    body = "x <- DLap(eps, 2*n - m); if x >= 3 then o <- true else o <- false end"
    # dd >= 3/2 means dd >= 2: then 2n - m - 3 >= 3.
    claim = "alpha: 3/2; beta: exp(-4*eps)/(1 + exp(-eps));"
    assert decided(program("o <- 2*n - m >= 3", body, claim)) == "accurate"


@pytest.mark.parametrize(
    ("declared", "body", "claim"),
    [
        (  # two counts and a margin, under the maximum norm
            "input a, b : int; output o : bool; requires a >= 0 and b >= 0; ideal { o <- a - b >= 2 }",
            "x <- DLap(eps/2, a); y <- DLap(eps/2, b); o <- x - y >= 2",
            "2*exp(-alpha*eps/4)",
        ),
        (
            "input a, b : int; output o : bool; requires a >= 0 and b >= 0 and a <= 50; ideal { o <- a > b }",
            "x <- DLap(eps/2, a); y <- DLap(eps/2, b); o <- x > y",
            "2*exp(-alpha*eps/4)",
        ),
        (  # the noisy maximum of three counts
            (
                "input q[1..3] : int; output o : {1..3} = 1; requires min(i in 1..3 : q[i]) >= 0; "
                "ideal { for i in 2..3 do if q[i] > max(j in 1..i - 1 : q[j]) then o <- i end end }"
            ),
            "x <- DLap(eps/2, q[1]); for i in 2..3 do y <- DLap(eps/2, q[i]); if y > x then x <- y; o <- i end end",
            "3*exp(-alpha*eps/4)",
        ),
    ],
)
def test_comparisons_of_counts_that_are_not_negative(declared: str, body: str, claim: str) -> None:
    source = f"program p; {declared} claim {{ alpha: dd; beta: {claim}; }} var x, y : int; {body}"
    assert decided(source) == "accurate"
    assert decided(source.replace(claim, claim.replace("alpha*eps/4", "alpha*eps"))) == "inaccurate"


def test_a_comparison_of_twice_the_noise_is_not_decided_at_all_distances_at_once() -> None:
    """Even and odd distances have probabilities of different formulas, so that no single one proves the claim."""
    program = dipc.load(
        "program p; input x : int; output o : bool = false; ideal { o <- x >= 1 }"
        "claim { alpha: dd; beta: exp(-alpha*eps/8); } var r : int; r <- DLap(eps, 0); o <- 2*r + x >= 1"
    )
    assert [row.verdict for row in dipc.check(program, inputs="all").rows] == [Verdict.UNDECIDED, Verdict.UNDECIDED]
