"""min, max and abs of reals and ints: the same as the comparisons that say what they mean, in every part of dipc."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import dipc

TWO = "program p; input q[1..2] : real; var r[1..2] : real; "
DRAW = "for i in 1..2 do r[i] <- Lap(eps/i, q[i]) end; "

#: With the functions, without them, an input, outputs, and gamma.
SAME: Mapping[str, tuple[str, str, dict[str, object], list[dict[str, object]], object]] = {
    "abs in a condition": (
        "program p; input q : real; output o : bool; var r : real; r <- Lap(eps, q); o <- abs(r - 1) > 2",
        "program p; input q : real; output o : bool; var r : real; r <- Lap(eps, q); o <- r > 3 or r < -1",
        {"q": 0},
        [{"o": True}, {"o": False}],
        0,
    ),
    "the greater of two": (
        TWO + "output o : real; " + DRAW + "o <- max(r[1], r[2])",
        TWO + "output o : real; " + DRAW + "if r[1] >= r[2] then o <- r[1] else o <- r[2] end",
        {"q[1]": 0, "q[2]": 1},
        [{"o": 1}, {"o": "1/3"}],
        2,
    ),
    "three, with arithmetic around": (
        TWO + "output o : bool; " + DRAW + "o <- 2*min(r[1], r[2], 1) - 1 < r[1]",
        TWO
        + "output o : bool; var t : real; "
        + DRAW
        + "t <- r[1]; if r[2] < t then t <- r[2] end; if 1 < t then t <- 1 end; o <- 2*t - 1 < r[1]",
        {"q[1]": 0, "q[2]": "1/2"},
        [{"o": True}],
        0,
    ),
    "clamped": (
        "program p; input q : real; output o : real; var r : real; r <- Lap(eps, q); o <- min(max(r, 0), 1)",
        """program p; input q : real; output o : real; var r : real; r <- Lap(eps, q);
        o <- r; if r < 0 then o <- 0 end; if r > 1 then o <- 1 end""",
        {"q": "1/4"},
        [{"o": 0}, {"o": 1}],
        "1/2",
    ),
    "a mean": (
        TWO + "output o : bool; var s : real; r[1] <- Lap(eps, q[1]); s <- Lap(eps/2, abs(r[1])); o <- s > q[2]",
        TWO
        + "output o : bool; var s : real; r[1] <- Lap(eps, q[1]); "
        + "if r[1] >= 0 then s <- Lap(eps/2, r[1]) else s <- Lap(eps/2, -r[1]) end; o <- s > q[2]",
        {"q[1]": 1, "q[2]": 0},
        [{"o": True}],
        0,
    ),
    "ints": (
        "program p; output o : int; var a, b : int; a <- DLap(eps, 0); b <- DLap(eps, 1); o <- max(a, b)",
        """program p; output o : int; var a, b : int; a <- DLap(eps, 0); b <- DLap(eps, 1);
        if a >= b then o <- a else o <- b end""",
        {},
        [{"o": 1}, {"o": -1}],
        0,
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_they_are_the_comparisons_they_mean(name: str) -> None:
    short, long, inputs, outputs, gamma = SAME[name]
    for output in outputs:
        one, other = (dipc.load(text).probability(inputs, output, gamma=gamma) for text in (short, long))
        assert one == other


@pytest.mark.parametrize("name", ["abs in a condition", "clamped", "ints", "a mean"])
def test_the_interpreter_agrees(name: str) -> None:
    text, _, inputs, outputs, gamma = SAME[name]
    found = dipc.simulate(dipc.load(text), inputs, 1, runs=2000, outputs=outputs, gamma=gamma)  # type: ignore[arg-type]
    assert str(found.agreement) == "match"


def test_the_checker_derives_them_too() -> None:
    text = """
    program p;
    input q : real;
    output o : {-1..1};
    ideal { if abs(q) <= 1 then o <- 0 else if max(q, 0) > 1 then o <- 1 else o <- -1 end end }
    claim { alpha: dd; beta: exp(-alpha*eps); }
    var r : real;
    r <- Lap(eps, q);
    if abs(r) <= 1 then o <- 0 else if max(r, 0) > 1 then o <- 1 else o <- -1 end end
    """
    report = dipc.check(dipc.load(text), inputs="q = -2..2", keep_proofs=True)
    assert report.verdict is dipc.Verdict.ACCURATE
    accepted = dipc.verify(dipc.certify(report))
    assert isinstance(accepted, dipc.Accepted)
    assert dipc.check(dipc.load(text), inputs="all").verdict is dipc.Verdict.ACCURATE


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("max(r, z)", "the int `z` is mixed with the real `r`"),
        ("abs(r) * abs(r)", "the product of `r` and `r` is not linear: products only with constants or DOM"),
        ("max(" + ", ".join(["r", "s"] * 4) + ")", "`max` of reals or ints has more than 64 cases here"),
    ],
)
def test_what_they_cannot_be(expression: str, message: str) -> None:
    declared = "program p; output o : real; var r, s : real; var b : bool; var z : int; "
    drawn = "r <- Lap(eps, 0); s <- Lap(eps, 0); b <- true; z <- DLap(eps, 0); "
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.load(f"{declared}{drawn}o <- {expression}")
    assert message in [found.message for found in caught.value.diagnostics]
