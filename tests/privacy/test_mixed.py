"""Real, int and finite inputs and outputs in one program.

Shifts lead between exits for other finite inputs, and for the vertices of the real moves with every move of the int
ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim

BOTH = """
program p; input q : real; input x : int; output y : real; output k : int;
y <- Lap(eps/2, q); k <- DLap(eps/4, x);
"""
FINITE = "program p; input q : real; input x : {0..2}; output y : real; output k : {0, 1} = 0; var n : real;"
PAIRS = "q in {0, 1}"


def constant(text: str, adjacent: str, inputs: str) -> Constant:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits)).constant(None)


@pytest.mark.parametrize(
    ("adjacent", "expected"), [("linf:1", "3/4"), ("l1:1", "1/2"), ("l1:3/2", "3/4"), ("l1:2", "1")]
)
def test_real_and_int(adjacent: str, expected: str) -> None:
    found = constant(BOTH, adjacent, "all")
    assert found.proved == Fraction(expected)
    assert found.refuted_below is not None
    assert adjacent == "l1:3/2" or found.refuted_below == found.proved


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        # The finite input is a mean, a threshold, a part of what is said.
        ("y <- Lap(eps, q + x);", "2"),
        ("n <- Lap(eps/2, q); if n >= x then k <- 1 end; y <- Lap(eps/4, 0);", "1"),
        ("n <- Lap(eps/2, q); y <- n - x;", "1"),
        # It decides what is random, what it is like, how likely it is, or is told.
        ("if x = 0 then y <- Lap(eps, q) else y <- Lap(2*eps, q) end;", None),
        ("k <- choose { 0 : 1/(2 + x), 1 : (1 + x)/(2 + x) }; y <- Lap(eps, q);", None),
        ("y <- x;", None),
        ("if x >= 1 then k <- 1 end; y <- Lap(eps, q);", None),
        # The support begins elsewhere.
        ("n <- Expo(eps); y <- n + x;", None),
        # What is the same for both finite inputs needs no other exit.
        ("if x = 0 then y <- Lap(eps, 0) else y <- Lap(eps, 0) end;", "0"),
    ],
)
def test_finite_inputs(body: str, proved: str | None) -> None:
    found = constant(FINITE + body, "linf:1", PAIRS)
    assert found.proved == (None if proved is None else Fraction(proved))
    assert found.proved is None or found.refuted_below is None or found.refuted_below <= found.proved


def mechanism(choose: random.Random) -> str:
    means = ["q", "x", "q + x", "q - x", "0", "2*x"]
    first, second = choose.choices(means, k=2)
    return f"""
program mixed;
input q : real; input x : {{0..1}};
output y : real; output k : {{0..2}} = 0;
var n, o : real;
n <- {choose.choice([f"Lap(eps, {first})", f"Lap(eps/2, {first})", "Expo(eps)"])};
o <- Lap(eps/2, {second});
{choose.choice(["if n >= o then k <- 1 end;", "if n + o >= x then k <- 2 end;", "if n >= x then k <- 1 end;", ""])}
{choose.choice(["if o >= x then k <- 2 else n <- Lap(eps, q) end;", "if x = 1 then k <- 0 end;", ""])}
y <- {choose.choice(["n", "o", "n - o", "n + x", "0*q + 1"])};
"""


#: Of these the exit that is looked at last draws more noises than the first.
MORE_NOISES = (71,)


@pytest.mark.parametrize(
    "seed", [*range(3), *MORE_NOISES, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 103))]
)
def test_nothing_refutes_what_is_proved(seed: int) -> None:
    found = constant(mechanism(random.Random(f"mixed {seed}")), "linf:1", PAIRS)
    assert found.proved is None or found.refuted_below is not None
    assert found.proved is None or found.refuted_below <= found.proved  # type: ignore[operator]


@pytest.mark.parametrize("rate", ["eps", "eps/2"])
@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(9, 10)])
def test_a_subsampled_count(rate: str, share: Fraction) -> None:
    """A person in the sample with probability q loses log(1 - q + q·e^r) for noise of the rate r."""
    text = f"""program s; input x : {{0, 1}}; output y : int; var b : bool; var c : {{0, 1}} = 0;
    b <- choose {{ true : {share}, false : {1 - share} }}; if b then c <- x end; y <- DLap({rate}, c);"""
    program = dipc.load(text)
    question = PrivacyQuestion(program, "linf:1", None, Engine(program.measurer, program.limits))
    for eps in (Fraction(1, 2), Fraction(2)):
        full = float(eps) / (2 if "/" in rate else 1)
        loss = math.log(1 - float(share) + float(share) * math.exp(full))
        found = question.largest_loss(eps).value
        assert found is not None
        assert float(found[0]) == pytest.approx(loss, rel=1e-12)
        for factor, verdict in ((Fraction(21, 20), "private"), (Fraction(19, 20), "not private")):
            budget = (Fraction(loss) * factor / eps).limit_denominator(100)
            claim = read_claim(question.program, f"{budget}*eps", None, f"[{eps}, {eps}]")
            assert question.decide(claim).verdict == verdict
    constant = question.constant(None)
    assert constant.proved == constant.refuted_below == (Fraction(1, 2) if "/" in rate else 1)


MIXED = """
program mixed;
input q, p : real;
output big : {{0, 1}} = 0;
output out : real;
var r : real;
r <- Lap({0}, q);
if r >= 1 then big <- 1 end;
out <- Lap({1}, p)
"""


def integrated(eps: float, budget: float, rates: tuple[float, float], one: Sequence[int], two: Sequence[int]) -> float:
    """The excess of the worst set, by the trapezoidal rule."""
    numpy = pytest.importorskip("numpy")

    def above(mean: int, rate: float) -> float:
        return math.exp(-rate * (1 - mean)) / 2 if mean <= 1 else 1 - math.exp(-rate * (mean - 1)) / 2

    y = numpy.linspace(-200, 200, 1_600_001)
    total = 0.0
    for bit in (0, 1):
        first, second = (above(point[0], rates[0] * eps) for point in (one, two))
        first, second = (first, second) if bit else (1 - first, 1 - second)
        densities = [
            weight * rates[1] * eps / 2 * numpy.exp(-rates[1] * eps * abs(y - point[1]))
            for weight, point in ((first, one), (second, two))
        ]
        total += float(numpy.trapezoid(numpy.maximum(0, densities[0] - math.exp(budget) * densities[1]), y))
    return total


@pytest.mark.parametrize("seed", range(6))
def test_finite_outputs_lose_budget_beside_real_ones(seed: int, tmp_path: Path) -> None:
    """The least delta at one eps is enclosed, and agrees with quadrature."""
    choose = random.Random(f"mixed {seed}")
    rates = [choose.choice(("1/2", "1/3", "1")) for _ in range(2)]
    program = dipc.load(MIXED.format(*[f"{rate}*eps" for rate in rates]))
    rows = [[choose.randint(-1, 2) for _ in range(4)] for _ in range(2)]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("q,p,q',p'\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    eps, budget = Fraction(choose.choice(("1/2", "1", "2"))), Fraction(choose.choice(("0", "1/8", "1/4")))
    asked = PrivacyQuestion(program, str(pairs), None, Engine(program.measurer, program.limits))
    low, high = asked.delta_at(budget, eps)
    numbers = tuple(float(Fraction(rate)) for rate in rates)
    every = [(row[:2], row[2:]) for row in rows] + [(row[2:], row[:2]) for row in rows]
    most = max(integrated(float(eps), float(budget * eps), numbers, *pair) for pair in every)  # type: ignore[arg-type]
    assert high - low < Fraction(1, 10**15)
    assert float(low) == pytest.approx(most, abs=2e-7)
    for delta, verdict in ((high, PrivacyVerdict.PRIVATE), (low * Fraction(99, 100), PrivacyVerdict.NOT_PRIVATE)):
        if low:
            claim = read_claim(program, f"{budget}*eps", str(delta), f"[{eps}, {eps}]")
            assert asked.decide(claim).verdict is verdict


def test_a_loss_that_some_pair_attains_is_that_of_all() -> None:
    program = dipc.load(MIXED.format("eps/2", "eps/3"))
    asked = PrivacyQuestion(program, "linf:1", "all", Engine(program.measurer, program.limits))
    assert asked.largest_loss(Fraction(3)).value == (Fraction(5, 2), Fraction(5, 2))
    with pytest.raises(dipc.DiagnosticError, match="no pair of real inputs is known"):
        asked.least_delta(read_claim(program, None, None, None))


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))])
def test_deltas_of_mixed_outputs_on_intervals_of_eps(seed: int, tmp_path: Path) -> None:
    """Least deltas on an interval, where the worst set changes with eps, agree with those at single eps."""
    choose = random.Random(f"intervals {seed}")
    program = dipc.load(MIXED.format(*[f"{choose.choice(('1/2', '1/3', '1'))}*eps" for _ in range(2)]))
    row = [choose.randint(-1, 2) for _ in range(4)]
    row[0] += row[:2] == row[2:]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("q,p,q',p'\n" + ",".join(map(str, row)) + "\n", encoding="utf-8")
    budget = Fraction(choose.choice(("0", "1/8", "1/4", "1/2")))
    low, high = choose.choice((("[1/2", "3/2]"), ("(0", "1]"), ("[1", "2)"), ("(0", "2)")))
    asked = PrivacyQuestion(program, str(pairs), None, Engine(program.measurer, program.limits))
    claim = read_claim(program, f"{budget}*eps", None, f"{low}, {high}")
    found = asked.least_delta(claim)
    (interval,) = claim.intervals
    assert interval.upper is not None
    width = interval.upper - interval.lower
    points = [interval.lower + width * Fraction(k, 16) for k in range(1, 16)]
    most = max(asked.delta_at(budget, eps)[0] for eps in points)
    assert most <= found.supremum[1]
    assert found.supremum[1] - found.supremum[0] <= found.supremum[0] / 100 + Fraction(1, 10**5)
    for factor, verdict in ((Fraction(51, 50), PrivacyVerdict.PRIVATE), (Fraction(9, 10), PrivacyVerdict.NOT_PRIVATE)):
        if most > Fraction(1, 1000):
            delta = found.supremum[factor > 1] * factor
            report = asked.decide(read_claim(program, f"{budget}*eps", str(delta), f"{low}, {high}"))
            assert report.verdict is verdict
            if report.counterexample is not None:
                assert report.counterexample.eps in interval
                assert report.counterexample.probability[0] > report.counterexample.allowed[1]


def test_pairs_are_asked_for_where_none_is_known_to_be_the_worst() -> None:
    tested = (
        "program t; input q : real; output y : {0, 1} = 0; var r : real; r <- Lap(eps, q); if r >= 0 then y <- 1 end"
    )
    for text in (tested, MIXED.format("eps/2", "eps/3")):
        report = dipc.check_privacy(
            dipc.load(text), "linf:1", inputs="all", budget="eps/2", delta="99/100", eps="(0, 1]"
        )
        assert report.verdict is PrivacyVerdict.UNDECIDED
        assert "give inputs that can be enumerated, or the pairs of a file" in (report.reason or "")


def test_a_bound_that_grows_without_end_is_left_out(tmp_path: Path) -> None:
    """Towards infinity the excess over a fixed set is no delta: it was asserted to have a supremum."""
    text = """program m; input q, p : real; output out : real; output big : {0, 1} = 0; var r : real;
    r <- Lap(eps, q); if r >= 1 then big <- 1 end; out <- Lap(eps/2, p)"""
    program = dipc.load(text)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("q,p,q',p'\n0,0,1,1\n")
    question = PrivacyQuestion(program, str(pairs), None, Engine(program.measurer, program.limits))
    low, high = question.least_delta(read_claim(program, "eps/2", None, None)).supremum
    assert 0 < low < high <= 1
