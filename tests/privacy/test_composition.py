"""Several independent runs: against the program that makes them all, and against binomial sums."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.certificate.data import Uncertified
from dipc.certificate.privacy import certify_privacy
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim

F = Fraction


def doubled(text: str) -> str:
    """The program that makes two runs of its last statements, which are one output's."""
    head, body = text.split("|")
    again = body.replace("y <-", "z <-").replace("r <-", "s <-").replace("r >=", "s >=")
    return head.replace("output y", "output y, z").replace("var r", "var r, s") + body + again


#: Declarations, and a run.
PROGRAMS = {
    "response": "program p; input x : {0, 1}; output y : {0, 1};| y <- Exp(eps, v in {0, 1} : -abs(v - x));",
    "three values": "program p; input x : {0..2}; output y : {0..2};| y <- Exp(eps/2, v in {0..2} : -abs(v - x));",
    "noise": "program p; input x : {0..2}; output y : bool; var r : real;| r <- Lap(eps, x); y <- r >= 1;",
}
RESPONSE = PROGRAMS["response"].replace("|", "")


def question(text: str, runs: int = 1, adjacent: str = "linf:1", inputs: str | None = None) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits), runs=runs)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("budget", ["0*eps", "eps/2", "eps"])
def test_two_runs_are_the_program_that_makes_both(name: str, budget: str) -> None:
    composed, whole = question(PROGRAMS[name].replace("|", ""), 2), question(doubled(PROGRAMS[name]))
    claim = read_claim(whole.program, budget, None, None)
    found, wanted = (asked.least_delta(claim, F(3, 2)) for asked in (composed, whole))
    assert found.at is not None
    assert wanted.at is not None
    assert found.at[1] == wanted.at[1]
    assert found.supremum == wanted.supremum
    assert composed.largest_loss(F(1)).value == whole.largest_loss(F(1)).value
    assert composed.constant(None).proved == whole.constant(None).proved
    renyi, other = (asked.divergence(3, F(1)).value for asked in (composed, whole))
    assert renyi is not None
    assert other is not None
    assert float(renyi[0]) == pytest.approx(float(other[0]), rel=1e-15)
    assert composed.decide(read_claim(whole.program, budget, "1/9", None)).verdict is (
        whole.decide(read_claim(whole.program, budget, "1/9", None)).verdict
    )


@pytest.mark.parametrize("runs", [1, 2, 10, 40])
def test_randomized_response(runs: int) -> None:
    """The loss of k answers that say so is (2k - runs)·eps."""
    eps, budget = 0.5, 1.5
    true = 1 / (1 + math.exp(-eps))
    delta = sum(
        math.comb(runs, k)
        * max(0.0, true**k * (1 - true) ** (runs - k) - math.exp(budget * eps) * true ** (runs - k) * (1 - true) ** k)
        for k in range(runs + 1)
    )
    asked = question(RESPONSE, runs)
    found = asked.least_delta(read_claim(asked.program, "3*eps/2", None, "[1/2, 1/2]"), F(1, 2)).at
    assert found is not None
    assert float(found[1][0]) == pytest.approx(delta, rel=1e-12)
    for more, verdict in ((1, "private"), (-1, "not private")):
        allowed = F(delta + more / 1000).limit_denominator(10**6)
        if allowed > 0:
            report = dipc.check_privacy(
                dipc.load(RESPONSE), "linf:1", budget="3*eps/2", delta=str(allowed), eps="1/2", compose=runs
            )
            assert report["verdict"] == verdict


def test_losses_of_real_outputs_add_up() -> None:
    text = "program p; input q : real; output y : real; y <- Lap(eps, q);"
    found, single = question(text, 3, inputs="all").constant(None), question(text, inputs="all").constant(None)
    assert single.proved is not None
    assert (found.proved, found.refuted_below) == (3 * single.proved, 3 * single.proved)
    real = question(text, 2, inputs="q = 0..1")
    with pytest.raises(OutsideFragment, match="one program that releases them all"):
        real.largest_loss(F(1))
    assert real.decide(read_claim(real.program, "eps", "1/9", None))["verdict"] != "private"


def test_what_has_no_composition() -> None:
    asked = question(RESPONSE, 3)
    report = asked.decide(read_claim(asked.program, "3*eps", None, None))
    assert report["verdict"] == "private"
    with pytest.raises(Uncertified, match="one program"):
        certify_privacy(asked, report)
    many = question(PROGRAMS["three values"].replace("|", ""), 10_000)
    with pytest.raises(LimitReached, match="10000 runs have"):
        many.largest_loss(F(1))
    with pytest.raises(ValueError, match="compose is at least 1"):
        dipc.check_privacy(dipc.load(RESPONSE), "linf:1", compose=0)


def test_composed_programs_have_a_meaning_at_the_eps_that_is_asked_about() -> None:
    """Each of them, wherever it stands: beyond 2 a weight is negative, and the loss was said to be 0 there."""
    weights = "choose { true : (2 + eps)/4, false : (2 - eps)/4 }"
    text = f"program p; input x : {{0, 1}}; output o : bool; o <- {weights}; if x = 1 then o <- not o end"
    some, every = dipc.load(text, eps="(0, 2)"), dipc.load(RESPONSE)
    for programs in ([some], [some, every], [every, some], [every, every, some]):
        together = dipc.compose(*programs, adjacent="linf:1")
        assert together.loss(1).value is not None
        assert together.check("9*eps", eps="(0, 1]").verdict == "private"
        for ask in (
            lambda asked: asked.loss(3),
            lambda asked: asked.delta("eps", 3),
            lambda asked: asked.budget("1/9", 3),
            lambda asked: asked.budget(0, 3),
            lambda asked: asked.renyi(2, 3),
            lambda asked: asked.profile(3),
            lambda asked: asked.check("9*eps", eps="[1, 3]"),
            lambda asked: asked.question.constant("[1, 3]"),
            lambda asked: asked.question.least_delta(read_claim(every, "eps", None, "[1, 3]")),
        ):
            with pytest.raises(dipc.DiagnosticError, match="is read for eps in"):
                ask(together)
