"""Accuracy of programs that read inputs through clamps alone: one box in place of all combinations of cases."""

from __future__ import annotations

import random

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.program.clipped import for_every_input
from dipc.verifier.document import check_text

MEAN = """
program mean; const n = 4, B = 10; input x[1..n] : real; output out : real; ideal { noiseless }
claim { alpha: 0; gamma: 5; beta: exp(-n*eps/2); } var s, c : real;
s <- 0; for i in 1..n do c <- min(max(x[i], 0), B); s <- s + c/n end; out <- Lap(n*eps/B, s)
"""

TEST = """
program above; const T = 5; input x : real; output o : bool = false;
ideal { o <- min(max(x, 0), 10) >= T } claim { alpha: dd; beta: exp(-alpha*eps)/2; } var r : real;
r <- Lap(eps, min(max(x, 0), 10)); o <- r >= T
"""


@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_clipped_mean_is_one_class(n: int) -> None:
    report = dipc.check(dipc.load(MEAN, n=n), inputs="all")
    assert report.verdict is Verdict.ACCURATE
    assert len(report.rows) == 1
    assert report.requires is None
    assert dipc.check(dipc.load(MEAN, n=n), inputs="all", beta="exp(-n*eps/2)/2").verdict is Verdict.INACCURATE


def test_the_report_says_that_the_classes_stand_for_inputs_that_are_clipped() -> None:
    clipped = "an input outside of these classes has the same probabilities"
    assert clipped in " ".join(str(dipc.check(dipc.load(MEAN, n=2), inputs="all")).split())
    assert "clips" not in str(dipc.check(dipc.load(TEST), inputs="all"))


def test_with_alpha_dd_inputs_outside_of_the_box_count() -> None:
    """The input x = 11 has dd 6, and the law of x = 10, where the answer is wrong with probability e^(-5·eps)/2."""
    assert dipc.check(dipc.load(TEST), inputs="all").verdict is Verdict.INACCURATE
    assert dipc.check(dipc.load(TEST), inputs="all", alpha=6).verdict is Verdict.INACCURATE
    assert dipc.check(dipc.load(TEST), inputs="all", alpha=0, beta="1/2").verdict is Verdict.ACCURATE


@pytest.mark.parametrize(
    "ideal",
    ["ideal { o <- x >= T }", "ideal { o <- min(max(x, 0), 10) + x >= T }"],
)
def test_an_ideal_that_reads_the_input_itself_keeps_it(ideal: str) -> None:
    source = TEST.replace("ideal { o <- min(max(x, 0), 10) >= T }", ideal)
    assert for_every_input(dipc.load(source)) is None


def test_a_metric_that_reads_the_input_itself_keeps_it() -> None:
    source = TEST.replace("var r", "metric { input: linf; apart: x >= 3 and x' < 3; } var r")
    assert for_every_input(dipc.load(source)) is None


def test_requires_keeps_the_input() -> None:
    assert for_every_input(dipc.load(TEST.replace("var r", "requires x >= 2; var r"))) is None


def clamped_claim(chance: random.Random) -> str:
    """A random claim about every input of a program that reads one or two inputs through clamps."""
    count = chance.randint(1, 2)
    terms = []
    for k in range(1, count + 1):
        low = chance.randint(-2, 1)
        terms.append(f"{chance.choice([1, 2, -1])}*min(max(x[{k}], {low}), {low + chance.randint(1, 3)})")
    mean = " + ".join(terms)
    if chance.random() < 1 / 2:
        outputs, ideal, body = "out : real", f"out <- {mean}", f"out <- Lap(eps, {mean})"
        claim = f"gamma: {chance.randint(1, 2)}; beta: {chance.choice(['exp(-eps)', 'exp(-2*eps)', 'exp(-eps/2)'])}"
    else:
        bound = chance.randint(-1, 2)
        outputs, ideal, body = "out : bool", f"out <- {mean} >= {bound}", f"r <- Lap(eps, {mean}); out <- r >= {bound}"
        claim = f"beta: {chance.choice(['1/2', '1/3', '1/2 + eps/100', 'exp(-eps)/2'])}"
    return f"""program p; input x[1..{count}] : real; output {outputs}; ideal {{ {ideal} }}
    claim {{ alpha: 0; {claim}; }} var r : real; {body}"""


def require_same(seed: int) -> None:
    """Check that the box has the verdict of all cases."""
    source = clamped_claim(random.Random(seed))
    program = dipc.load(source)
    box, every = dipc.check(program, inputs="all"), dipc.check(program, inputs="all", keep_proofs=True)
    assert len(box.rows) <= len(every.rows)
    if Verdict.UNDECIDED not in (box.verdict, every.verdict):
        assert box.verdict is every.verdict, source


@pytest.mark.parametrize("seed", range(10))
def test_the_box_has_the_verdict_of_all_cases(seed: int) -> None:
    require_same(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_boxes_have_the_verdict_of_all_cases(seed: int) -> None:
    require_same(seed)


@pytest.mark.parametrize(("beta", "certified"), [("exp(-gamma*eps)", True), ("exp(-gamma*eps) + alpha*eps", False)])
def test_a_claim_that_depends_on_distances_has_no_certificate(beta: str, certified: bool) -> None:
    program = dipc.load(
        "program p; input q : real; output v : real; ideal { noiseless } v <- min(max(q, 0), 1) + Lap(eps)"
    )
    report = dipc.check(program, inputs="all", alpha=0, gamma=1, beta=beta, keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    if certified:
        assert check_text(dipc.certify(report)).complete
    else:
        with pytest.raises(ValueError, match="clipped inputs whose beta or gamma mentions alpha"):
            dipc.certify(report)
