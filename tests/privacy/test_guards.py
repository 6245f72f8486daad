"""Comparisons of inputs without noise, such as those of clamped inputs.

The results for all adjacent inputs are compared with functions, and with pairs tried one by one.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim

F = Fraction


def question(text: str, adjacent: str, inputs: str = "all", **constants: int) -> PrivacyQuestion:
    program = dipc.load(text, **constants)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits))


CLAMPED = """program mean; const n = 1; input x[1..n] : real; output y : real; var sum : real;
sum <- 0; for i in 1..n do sum <- sum + min(max(x[i], 0), 1) end; y <- sum/n + Lap(n*eps, 0)"""


@pytest.mark.parametrize(
    ("n", "adjacent", "constant"),
    [
        (1, "linf:1", 1),
        (1, "linf:1/3", F(1, 3)),
        (1, "hamming:1", 1),
        (2, "hamming:1", 1),
        (2, "linf:1", 2),
        (2, "l1:1", 1),
    ],
)
def test_clamped_means(n: int, adjacent: str, constant: Fraction) -> None:
    found = question(CLAMPED, adjacent, n=n).constant(None)
    assert (found.proved, found.refuted_below, found.exact) == (constant, constant, True)
    program = dipc.load(CLAMPED, n=n)
    assert dipc.check_privacy(program, adjacent, inputs="all", budget=f"{constant}*eps").verdict == "private"
    less = dipc.check_privacy(program, adjacent, inputs="all", budget=f"{constant * F(99, 100)}*eps")
    assert less.verdict == "not private"


@pytest.mark.parametrize("seed", range(8))
def test_pairs_beside_and_on_thresholds(seed: int) -> None:
    """Each pair has the right exits, for comparisons of every kind and inputs on their edges."""
    chance = random.Random(seed)
    cuts = sorted(chance.sample([F(k, 2) for k in range(-3, 4)], chance.choice([1, 2])))
    kinds = {
        "<": operator.lt,
        "<=": operator.le,
        "=": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        ">=": operator.ge,
    }
    tests = [(cut, chance.choice(list(kinds))) for cut in cuts]
    lines = [(F(chance.randint(-1, 1)), F(chance.randint(-2, 2))) for _ in range(len(cuts) + 1)]
    release = [f"y <- Lap(eps, ({slope})*x + ({base}))" for slope, base in lines]
    body = release[-1]
    for (cut, kind), drawn in zip(reversed(tests), reversed(release[:-1]), strict=True):
        body = f"if x {kind} {cut} then {drawn} else {body} end"
    points = sorted({*cuts, *(cut + F(1, 3) for cut in cuts), F(-3), F(3)})

    def value(x: Fraction) -> Fraction:
        held = [kinds[kind](x, cut) for cut, kind in tests]
        slope, base = lines[held.index(True) if True in held else -1]
        return slope * x + base

    inputs = "x in {" + ", ".join(map(str, points)) + "}"
    found = question(f"program p; input x : real; output y : real; {body}", "linf:9", inputs).constant(None)
    assert found.proved == max(abs(value(a) - value(b)) for a, b in product(points, repeat=2))


def test_pairs_of_clamped_inputs() -> None:
    program = dipc.load(CLAMPED)
    inside = dipc.check_privacy(program, "linf:1", inputs="x[1] in {0, 1/2, 1}")
    assert inside.verdict == "private"
    outside = question(CLAMPED, "linf:9", "x[1] in {-4, 5}").constant(None)
    assert (outside.proved, outside.exact) == (1, True)
    assert question(CLAMPED, "linf:9", "x[1] in {2, 5}").constant(None).proved == 0


def pieces(chance: random.Random) -> tuple[list[Fraction], list[tuple[Fraction, Fraction]]]:
    """Thresholds, and a slope and a value at 0 below, between and above them: a function that may jump there."""
    cuts = sorted(chance.sample([F(k, 2) for k in range(-4, 5)], chance.choice([1, 2])))
    return cuts, [(F(chance.randint(-2, 2)), F(chance.randint(-2, 2))) for _ in range(len(cuts) + 1)]


def text(cuts: list[Fraction], lines: list[tuple[Fraction, Fraction]], release: Callable[[str], str]) -> str:
    means = [f"({slope})*x + ({base})" for slope, base in lines]
    body = release(means[-1])
    for cut, mean in zip(reversed(cuts), reversed(means[:-1]), strict=True):
        body = f"if x < {cut} then {release(mean)} else {body} end"
    return body


@pytest.mark.parametrize("seed", range(12))
def test_functions_of_one_input_that_jump(seed: int) -> None:
    """The loss of y <- Lap(eps, f(x)) is eps times the most that f moves: looked for beside each threshold."""
    cuts, lines = pieces(random.Random(seed))
    body = text(cuts, lines, lambda mean: f"y <- Lap(eps, {mean})")
    found = question(f"program p; input x : real; output y : real; {body}", "linf:1").constant(None)
    near = F(1, 10**6)
    points = {cut + far + side for cut in (*cuts, F(50), F(-50)) for far in (-1, 0, 1) for side in (-near, 0, near)}

    def value(x: Fraction) -> Fraction:
        slope, base = lines[sum(x >= cut for cut in cuts)]
        return slope * x + base

    most = max(abs(value(a) - value(b)) for a, b in product(points, repeat=2) if abs(a - b) <= 1)
    assert found.proved is not None
    assert most <= found.proved <= most + 10 * near
    assert found.refuted_below <= found.proved


@pytest.mark.parametrize("seed", range(6))
def test_thresholds_behind_a_guard(seed: int) -> None:
    """No pair of a grid loses more than what is proved for all adjacent inputs."""
    cuts, lines = pieces(random.Random(seed))
    body = text(cuts, lines, lambda mean: f"if Lap(eps, {mean}) >= 0 then y <- 1 end")
    program = f"program p; input x : real; output y : {{0, 1}} = 0; {body}"
    found = question(program, "linf:1").constant(None)
    assert found.proved is not None
    grid = "x in {" + ", ".join(str(F(k, 4)) for k in range(-12, 13)) + "}"
    for eps in (F(1, 4), F(2)):
        loss = question(program, "linf:1", grid).largest_loss(eps)
        assert loss.value is not None
        assert loss.value[0] <= found.proved * eps


def test_an_answer_without_noise_beside_a_guarded_number_is_no_secret() -> None:
    body = "if x >= 0 then b <- true; y <- Lap(eps, 0) else y <- Lap(eps, 0) end"
    program = dipc.load(f"program p; input x : real; output b : bool = false; output y : real; {body}")
    assert dipc.check_privacy(program, "linf:1", inputs="all").verdict != "private"


#: The comparison alone says which noise is drawn.
TWO_RATES = """
program rates; input q, p : real; output y : {0..2} = 0; var r : real;
if q >= 0 and p < q then r <- Lap(eps/2, 0) else r <- Lap(eps/4, 0) end;
if p = 1 then y <- choose { 0 : 1/3, 2 : 2/3 } end;
if r >= 1 then y <- 1 end
"""


@pytest.mark.parametrize("adjacent", ["linf:1", "l1:1/2", "hamming:1"])
def test_cells_of_inputs_have_one_law_each(adjacent: str) -> None:
    """All that may be asked of all inputs is what a grid with inputs of every cell says."""
    grid = "q in {-1, 0, 1/4, 1, 3/2}, p in {-1, -1/4, 0, 1/4, 3/4, 1, 5/4, 2}"
    every, some = question(TWO_RATES, adjacent), question(TWO_RATES, adjacent, grid)
    asked = (every, some)
    assert len({each.constant("(0, 1]").refuted_below for each in asked}) == 1
    for eps in (F(1, 2), F(3)):
        assert len({each.largest_loss(eps).value for each in asked}) == 1
        assert len({each.delta_at(F(1, 8), eps) for each in asked}) == 1
        assert len({each.divergence(2, eps).value for each in asked}) == 1
    claim = read_claim(every.program, "eps/8", "2/5", None)
    assert len({each.decide(claim).verdict for each in asked}) == 1
    other = question(TWO_RATES.replace("eps/4, 0", "eps/4, q"), adjacent)
    with pytest.raises(dipc.DiagnosticError, match="no pair of real inputs is known"):
        other.largest_loss(F(1))


def test_cells_of_one_program_are_not_those_of_several() -> None:
    one = dipc.load(TWO_RATES)
    two = dipc.load(TWO_RATES.replace("q >= 0", "q >= 9"))
    assert dipc.compose(one, two, adjacent="linf:1", inputs="all").question.constant("(0, 1]").proved is None
    with pytest.raises(dipc.DiagnosticError, match="for several programs"):
        dipc.compose(one, two, adjacent="linf:1", inputs="all").loss(1)
