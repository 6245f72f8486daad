"""Claims about programs that release a winner and a number: the answer must be right *and* near.

Such a claim is about inputs that are far from another winner.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.decide.obligation import Verdict
from dipc.program.ideal import Distances, Ideal
from dipc.questions import witnesses
from dipc.verifier.reading import Rejected
from tests.patience import examples
from tests.verifier.samples import resealed

F = Fraction

WINNER = """
program winner;
input q[1..2] : real;
output w : {1..2};
output v : real;
var a, b : real;
ideal {
  if q[1] >= q[2] then w <- 1; v <- q[1] else w <- 2; v <- q[2] end
}
a <- Lap(eps/2, q[1]);
b <- Lap(eps/2, q[2]);
if a >= b then
  w <- 1;
  v <- Lap(eps/2, q[1])
else
  w <- 2;
  v <- Lap(eps/2, q[2])
end
"""

ALL = WINNER.replace("ideal", "metric { dd: all; }\nideal", 1)
FINITE = WINNER.replace("ideal", "metric { dd: finite; }\nideal", 1)

#: A flag of two conditions, with a number that has forms of its own on regions of one flag.
FLAGGED = """
program flagged;
input x, y : real;
output f : bool = false;
output v : real;
metric { input: METRIC; }
ideal {
  if x >= 0 then v <- x else v <- 2*x end;
  if x + y >= 1 and y >= -1 then f <- true end
}
v <- Lap(eps, x);
f <- true
"""

numbers = st.integers(-12, 12).map(lambda k: F(k, 4))


def right_and_near(slack: Fraction, gamma: Fraction, eps: Fraction) -> mpmath.mpf:
    """Pr[the winner is right, and its number within gamma], where it is ahead by `slack`."""
    s, g = (mpmath.mpf(x.numerator) / x.denominator * eps.numerator / eps.denominator / 2 for x in (slack, gamma))
    right = 1 - mpmath.exp(-s) * (2 + s) / 4  # a sum of two of rate 1
    return right * (1 - mpmath.exp(-g))


@pytest.mark.parametrize("text", [WINNER, FINITE])
@pytest.mark.parametrize(("alpha", "gamma", "eps"), [(4, 3, F(2)), (4, 3, F(3)), (1, 9, F(1)), (6, 2, F(5, 2))])
def test_one_claim(text: str, alpha: int, gamma: int, eps: Fraction) -> None:
    """The hardest input is ahead by 2·alpha: dd is how far both have to move to meet. The claim is about dd > alpha."""
    program = dipc.load(text)
    wanted = right_and_near(F(2 * alpha), F(gamma), eps)
    for shift, verdict in ((F(1, 1000), Verdict.ACCURATE), (F(-1, 1000), Verdict.INACCURATE)):
        beta = F(str(1 - wanted)) + shift
        claim = {"alpha": alpha, "gamma": gamma, "beta": beta, "eps": eps}
        everywhere = dipc.check(program, inputs="all", keep_proofs=True, **claim)
        assert everywhere.verdict is verdict
        assert everywhere.counts.vacuous == 0
        assert dipc.verify(dipc.certify(everywhere)).complete
        near = F(2 * alpha) + F(1, 10**6)
        row = dipc.check(program, inputs=[f"q[1] = {near}", "q[2] = 0"], keep_proofs=True, **claim)
        assert row.verdict is verdict
        assert dipc.verify(dipc.certify(row)).complete


def test_every_output_as_the_paper_has_it() -> None:
    """The answer of a program that releases a number changes with any move."""
    program = dipc.load(ALL)
    for inputs in ("all", ["q[1] = 10", "q[2] = 0"]):
        report = dipc.check(program, inputs=inputs, alpha=4, gamma=3, beta="1/10", eps=1, keep_proofs=True)
        assert report.verdict is Verdict.ACCURATE
        assert report.counts.vacuous == len(report.rows)
        assert dipc.verify(dipc.certify(report)).complete
    assert Distances(Ideal(program)).dd((F(10), F(0))) == 0
    assert Distances(Ideal(dipc.load(WINNER))).dd((F(10), F(0))) == 5


@pytest.mark.parametrize("inputs", ["all", ["q[1] = 10", "q[2] = 0"]])
def test_a_certificate_says_which_is_meant(inputs: str | list[str]) -> None:
    """A claim about winners alone is about more inputs than one about all outputs.

    Thus a proof that the second claim is vacuous does not prove the first.
    """
    report = dipc.check(dipc.load(ALL), inputs=inputs, alpha=4, gamma=3, beta="1/100", eps=1, keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    forged = dipc.certify(report).replace("dd: all;", "dd: finite;")
    with pytest.raises(Rejected):
        dipc.verify(resealed(json.loads(forged)))
    claim = {"alpha": 4, "gamma": 3, "beta": "1/100", "eps": 1}
    assert dipc.check(dipc.load(FINITE), inputs=inputs, **claim).verdict is Verdict.INACCURATE


@settings(max_examples=examples(12))
@given(numbers, numbers, st.sampled_from(["linf", "l1", "discrete"]))
def test_the_distance_against_a_grid(x: Fraction, y: Fraction, norm: str) -> None:
    """The distance to the nearest other answer agrees with a grid, where only the flag makes another answer.

    The least distance to a point of a fine grid with another answer is dd, or exceeds dd by less than one step.
    """
    scale, beside = 8_000, 8
    found = Distances(Ideal(dipc.load(FLAGGED.replace("METRIC", norm)))).dd((x, y))
    assert found is not None
    at = int(x * scale), int(y * scale)

    def flag(a: int, b: int) -> bool:
        return a + b >= scale and b >= -scale

    least: int | None = None
    for i, j, s, t in itertools.product(range(-40, 41), range(-40, 41), (-1, 0), (-1, 0)):
        a, b = i * scale // 8 + s * beside, j * scale // 8 + t * beside
        if flag(a, b) != flag(*at):
            gaps = abs(a - at[0]), abs(b - at[1])
            away = {"linf": max(gaps), "l1": sum(gaps), "discrete": scale}[norm]
            least = away if least is None else min(least, away)
    assert least is not None
    assert found * scale <= least <= found * scale + 2 * beside


@pytest.mark.parametrize("norm", ["linf", "l1"])
def test_classes_against_rows(norm: str) -> None:
    """The regions of one flag have numbers of other forms: they count as one answer, in classes as in rows."""
    text = FLAGGED.replace("METRIC", norm).replace("output v : real;", "output v : real;\nvar n : real;")
    noisy = "n <- Lap(eps, x + y);\nif n >= 1 then f <- true else f <- false end\n"
    text = text.removesuffix("f <- true\n") + noisy
    program = dipc.load(text)
    claim = {"alpha": 1, "gamma": 6, "beta": "9/10", "eps": 1}
    everywhere = dipc.check(program, inputs="all", keep_proofs=True, **claim)
    rows = dipc.check(program, inputs="x in {-4, -1, 0, 2, 5}, y in {-3, -1, 0, 3}", **claim)
    if everywhere.verdict is Verdict.ACCURATE:
        assert rows.verdict is Verdict.ACCURATE
    if rows.verdict is Verdict.INACCURATE:
        assert everywhere.verdict is not Verdict.ACCURATE
    assert dipc.verify(dipc.certify(everywhere)).verdict == str(everywhere.verdict)


def test_exchangeable_inputs() -> None:
    """Classes by symmetry have the distances of their rows."""
    text = """
    program counts;
    input q[1..3] : real;
    output f : bool;
    output v : real;
    ideal { f <- q[1] + q[2] + q[3] >= 1; v <- q[1] + q[2] + q[3] }
    v <- Lap(eps, q[1] + q[2] + q[3]);
    f <- v >= 1
    """
    program = dipc.load(text)
    claim = {"alpha": "1/2", "gamma": 3, "beta": "exp(-eps)", "eps": "[1, 2]"}
    single = dipc.check(program, inputs="q in {-1, 0, 1, 3}", classes=False, **claim)
    united = dipc.check(program, inputs="q in {-1, 0, 1, 3}", classes=True, **claim)
    assert united.verdict is single.verdict
    assert united.counts.inaccurate == single.counts.inaccurate
    assert sum(row.count for row in united.rows) == len(single.rows)


def test_only_the_claim_itself_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No input is searched that refutes a stronger claim, and none for a class that parts of beta prove."""
    searches = 0
    search = witnesses.most_promising

    def counted(*given: Any) -> list[witnesses.Point]:
        nonlocal searches
        searches += 1
        return search(*given)

    monkeypatch.setattr(witnesses, "most_promising", counted)
    hall = Path(__file__).parents[2] / "docs" / "programs" / "hall.dip"
    report = dipc.check(dipc.load(hall), inputs="all")
    assert (report.verdict, searches) == (Verdict.ACCURATE, 0)
