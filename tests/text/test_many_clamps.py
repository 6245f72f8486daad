"""Sums of many clamps in one expression, against Python's own arithmetic and the same sums by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.certificate.write import certify
from dipc.verifier.document import check_text

HEAD = "program p; const n = 5; input q[1..n] : {kind}; output y : {kind}; ideal {{ y <- {expr} }} y <- {expr}"


def clamp(value: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), Fraction(10))


#: An expression of the inputs, and its value.
EXPRESSIONS: list[tuple[str, Callable[[Sequence[Fraction]], Fraction]]] = [
    ("sum(i in 1..n : min(max(q[i], 0), 10))", lambda q: sum(map(clamp, q), Fraction(0))),
    ("-sum(k in 2..n : abs(q[k] - q[k - 1])) + 1", lambda q: 1 - sum(abs(q[k] - q[k - 1]) for k in range(1, 5))),
    (
        "sum(i in 1..2 : sum(k in 1..i : min(max(q[k], 0), 10) + i*abs(q[3])))",
        lambda q: 2 * clamp(q[0]) + clamp(q[1]) + 5 * abs(q[2]),
    ),
    (
        "max(0, sum(i in 1..n : 2*abs(q[i])) - 5)",
        lambda q: max(Fraction(0), sum((2 * abs(each) for each in q), Fraction(0)) - 5),
    ),
    (
        " + ".join(f"{i}*min(max(q[{i}], 0), 10)" for i in range(1, 6)),
        lambda q: sum(i * clamp(q[i - 1]) for i in range(1, 6)),
    ),
    ("sum(i in 2..1 : abs(q[i])) + sum(i in 1..n : abs(q[i] - 3))", lambda q: sum(abs(each - 3) for each in q)),
]


@pytest.mark.parametrize(("expr", "value"), EXPRESSIONS)
@pytest.mark.parametrize("kind", ["real", "int"])
@pytest.mark.parametrize("q", [(0, 3, 10, 12, -4), (11, -2, 11, 0, 5)])
def test_the_value_is_that_of_python(
    kind: str, expr: str, value: Callable[[Sequence[Fraction]], Fraction], q: Sequence[int]
) -> None:
    program = dipc.load(HEAD.format(kind=kind, expr=expr))
    wanted = value([Fraction(each) for each in q])
    assert program.probability({"q": q}, {"y": wanted}).enclosure(1) == (1, 1)
    assert program.probability({"q": q}, {"y": wanted + 1}).enclosure(1) == (0, 0)


NOISY = """program p; const n = 4;
input q[1..n] : real; output o : bool; output y : real;
ideal {{ noiseless }}
claim {{ alpha: 0; gamma: 20; beta: exp(-eps/2) + exp(-eps); }}
var s, c : real;
{body}"""
BY_HAND = "s <- 0; for i in 1..n do c <- min(max(q[i], 0), 10); s <- s + c end;"
IN_PLACE = "sum(i in 1..n : min(max(q[i], 0), 10))"


@pytest.mark.parametrize(
    "body",
    [
        f"y <- {IN_PLACE} + Lap(eps/10); o <- true",
        f"y <- Lap(eps/10, {IN_PLACE}); o <- true",
        f"s <- Lap(eps/10); y <- {IN_PLACE} + s; o <- true",
    ],
)
def test_questions_have_the_answers_of_the_sum_by_hand(body: str) -> None:
    written = dipc.load(NOISY.format(body=body))
    by_hand = dipc.load(NOISY.format(body=f"{BY_HAND} y <- Lap(eps/10, s); o <- true"))
    for claim in ("exp(-2*eps)", "exp(-2*eps)*99/100"):
        verdicts = {dipc.check(each, inputs="all", beta=claim).verdict for each in (written, by_hand)}
        assert len(verdicts) == 1
    for budget, verdict in (("eps", "private"), ("99*eps/100", "not private")):
        for program in (written, by_hand):
            report = dipc.check_privacy(program, adjacent="hamming:1", inputs="all", budget=budget)
            assert str(report.verdict) == verdict


def test_a_condition_with_many_clamps() -> None:
    program = dipc.load(NOISY.format(body=f"y <- 0; if {IN_PLACE} >= 20 then o <- true else o <- false end"))
    for high, wanted in ((5, "true"), (4, "false")):
        assert program.probability({"q": [high] * 4}, {"o": wanted, "y": 0}).enclosure(1) == (1, 1)


def test_a_python_mechanism(tmp_path: Path) -> None:
    path = tmp_path / "clipped.py"
    path.write_text(
        "import dipc\n"
        "def exact(q):\n    return sum(min(max(x, 0), 10) for x in q)\n"
        "@dipc.mechanism(n=6, claim=dict(alpha=0, gamma=20, beta='exp(-2*eps)'), ideal=exact)\n"
        "def clipped(q: dipc.Reals['n'], eps):\n"
        "    return dipc.laplace(sum(min(max(x, 0), 10) for x in q), scale=10 / eps)\n",
        encoding="utf-8",
    )
    program = dipc.load(f"{path}::clipped")
    assert dipc.check(program, inputs="all").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, inputs="all", beta="exp(-2*eps)*99/100").verdict is dipc.Verdict.INACCURATE


def test_the_checker_follows_the_sum() -> None:
    program = dipc.load(NOISY.format(body=f"y <- Lap(eps/10, {IN_PLACE}); o <- true"))
    report = dipc.check(program, inputs="all", beta="exp(-2*eps)", keep_proofs=True)
    assert check_text(certify(report)).complete


def test_a_product_in_a_sum_of_clamps_is_still_refused() -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.load(HEAD.format(kind="real", expr="sum(i in 1..n : min(q[i]*q[i], 10))"))
    assert {each.code for each in caught.value.diagnostics} == {"E0207"}
