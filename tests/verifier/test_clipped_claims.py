"""Certificates of claims about clipped inputs: the checker limits the inputs by itself, or refuses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.clipped import limited
from dipc.verifier.document import check_text
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.syntax import read_program
from tests.verifier import samples

MEAN = """
program mean; const n = 3, B = 10;
input x[1..n] : real;
output out : real;
ideal { noiseless }
claim { alpha: 0; gamma: 5; beta: exp(-eps); }
var s, c : real;
s <- 0;
for i in 1..n do c <- min(max(x[i], 0), B); s <- s + c/n end;
out <- Lap(n*eps/B, s)
"""

BAR = """
program bar; input x : real; output o : bool; var v : real;
ideal { o <- min(max(x, 0), 10) >= 5 }
claim { alpha: ALPHA; beta: BETA; }
v <- Lap(eps, min(max(x, 0), 10)); o <- v >= 5
"""


def certified(text: str, **constants: int) -> str:
    report = dipc.check(dipc.load(text, **constants), inputs="all", keep_proofs=True)
    return dipc.certify(report)


@cache
def mean() -> str:
    return certified(MEAN)


SUM = """
program sum; input x, y : int; output out : int;
ideal { noiseless }
claim { alpha: 0; gamma: 20; beta: exp(-eps); }
var s : int;
s <- min(max(2*x, 1), 9) + min(y, 3) + max(-y, -8);
out <- DLap(eps/9, s)
"""


@pytest.mark.parametrize("n", [2, 4, 20])
def test_the_certificate_of_a_clipped_mean_is_whole(n: int) -> None:
    text = certified(MEAN, n=n)
    data = samples.document(text)
    accepted = check_text(text)
    assert accepted.complete
    assert "requires" not in data
    assert "at every real input" in next(accepted.lines())
    assert data["clipped"] == {"x": ["0", "10"]}
    assert [len(case["classes"]) for case in data["cases"]] == [1]


def test_ends_for_integers_are_rounded_outwards() -> None:
    text = certified(SUM)
    accepted = check_text(text)
    assert accepted.complete
    assert accepted.verdict == "accurate"
    assert "at every int input" in next(accepted.lines())
    assert samples.document(text)["clipped"] == {"x": ["0", "5"], "y": [None, "8"]}


def test_an_input_of_the_box_refutes() -> None:
    accepted = check_text(certified(BAR.replace("ALPHA", "0").replace("BETA", "1/10")))
    assert accepted.complete
    assert accepted.verdict == "inaccurate"
    accepted = check_text(certified(BAR.replace("ALPHA", "0").replace("BETA", "1/2")))
    assert accepted.complete
    assert accepted.verdict == "accurate"


def program(old: str, new: str) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        text = data["program"]["text"]
        assert old in text
        data["program"]["text"] = text.replace(old, new)
        data["program"]["sha256"] = hashlib.sha256(data["program"]["text"].encode()).hexdigest()

    return change


FORGERIES: dict[str, Callable[[Any], object]] = {
    "a smaller range": lambda data: data["clipped"].update(x=["0", "9"]),
    "a larger range": lambda data: data["clipped"].update(x=["0", "11"]),
    "an open end": lambda data: data["clipped"].update(x=["0", None]),
    "no range": lambda data: data["clipped"].clear(),
    "another name": lambda data: data.update(clipped={"y": ["0", "10"]}),
    "one element": lambda data: data.update(clipped={"x[1]": ["0", "10"]}),
    "not said": lambda data: data.pop("clipped"),
    "every distance": lambda data: data["claim"].update(alpha="dd"),
    "another alpha": lambda data: data["claim"].update(alpha="1"),
    "an alpha of the input": lambda data: data["claim"].update(alpha="dd/2"),
    "a beta of the distance": lambda data: data["claim"].update(beta="exp(-dd*eps)"),
    "a beta of alpha": lambda data: data["claim"].update(beta="exp(-2*eps - alpha)"),
    "a smaller beta": lambda data: data["claim"].update(beta="exp(-3*eps)"),
    "one clamp is wider": program("min(max(x[i], 0), B)", "min(max(x[i], 0), B + i - 1)"),
    "no clamp": program("min(max(x[i], 0), B)", "x[i]"),
    "a bare input": program("s <- s + c/n", "s <- s + c/n + x[1]"),
    "a bare input in a condition": program("s <- 0", "if x[1] > 20 then s <- 1 else s <- 0 end"),
    "a bare input in the ideal": program("{ noiseless }", "{ out <- x[1]/n }"),
    "a metric about inputs": program(
        "output out : real;", "output out : real; metric { output: abs(out - out') + 0*x[1]; }"
    ),
    "a precondition": program("output out : real;", "output out : real; requires x[1] >= 0;"),
    "more noise": program("n*eps/B", "eps / B"),
    "another ideal": program("{ noiseless }", "{ out <- min(max(x[1], 0), B) }"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_not_accepted(name: str) -> None:
    data = samples.document(mean())
    FORGERIES[name](data)
    assert not samples.is_accepted_whole(data), name


def test_what_is_forged_is_accepted_as_it_is() -> None:
    assert check_text(samples.resealed(samples.document(mean()))).complete


def test_a_claim_about_distances_keeps_its_inputs() -> None:
    """The claim fails at x = 11, where the distance is 6 and the error exp(-5*eps)/2."""
    text = certified(BAR.replace("ALPHA", "dd").replace("BETA", "exp(-alpha*eps)/2"))
    assert "clipped" not in samples.document(text)
    assert check_text(text).verdict == "inaccurate"


@pytest.mark.parametrize(
    ("declared", "body", "ranges"),
    [
        ("x : real", "v <- min(max(x, 0), 10)", {"x": (0, 10)}),
        ("x : real", "v <- min(max(2*x + 1, 0), 10)", {"x": (Fraction(-1, 2), Fraction(9, 2))}),
        ("x : int", "v <- min(max(2*x + 1, 0), 10)", {"x": (-1, 5)}),
        ("x : real", "v <- min(max(x, 0), 10) + max(3 - x, -9)", {"x": (None, 12)}),
        ("x[1..2] : real", "v <- min(max(x[1], 0), 10) + x[2]", {"x[1]": (0, 10)}),
        ("x[1..2] : real", "for i in 1..2 do v <- min(x[i], 3) end", {"x": (None, 3)}),
        ("x : real", "v <- sum(c in 1..3 : min(max(c, 0), 2)) + min(x, 1)", {"x": (None, 1)}),
        ("x : real", "v <- x; v <- min(v, 4)", {"x": (None, 4)}),
        ("x : real", "v <- sum(x in 1..3 : min(max(x, 0), 2))", None),
        ("x : int", "w <- x; w <- min(w, 4)", None),
        ("x : real", "w <- x; w <- min(w, 4)", None),
        ("x[1..2] : real", "for i in 1..2 do v <- min(x[i], 3) end; v <- x[1]", None),
        ("x : real", "v <- min(x, y)", None),
        ("x : real", "v <- x", None),
    ],
)
def test_which_inputs_are_limited(declared: str, body: str, ranges: Any) -> None:
    text = f"program p; input {declared}; input y : real; output o : real; var v : real; var w : int; {body}; o <- v"
    tree = read_program(text.replace("var w : int; ", "" if "w <-" not in body else "var w : int; "), Budget())
    if ranges is None:
        with pytest.raises(NotDerived):
            limited(tree, {})
        return
    assert limited(tree, {}).ranges == ranges


@pytest.mark.parametrize("mean", ["max(i in 1..1 : v)", "sum(i in 1..2 : 3*v)", "v"])
def test_no_assignment_is_lost(mean: str) -> None:
    """Shifts of no noise suffice only where the mean does not depend on x."""
    text = (
        "program p; input x : real; output o : real; var v, w : real;"
        f" v <- 0; w <- min(max(x, 0), 1); v <- min(max(x, 0), 1); v <- {mean}; o <- Lap(eps, v)"
    )
    program = dipc.load(text)
    question = PrivacyQuestion(program, "linf:1", "all", Engine(program.measurer, program.limits))
    data = samples.document(certify_privacy(question, question.decide(read_claim(program, "6*eps", "0", None))))
    assert check_text(samples.resealed(data)).complete
    data["claim"]["budget"] = "0"
    data["shifts"] = {"vectors": [[]], "exits": [[0]]}
    assert not samples.is_accepted_whole(data)
    data["shifts"]["exits"] = [[0, 0]]
    assert not samples.is_accepted_whole(data)
