"""The least constant: proved for all real inputs by alignment, refuted below by a pair; against random pairs."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.decide.engine import Engine
from dipc.program.clipped import EVERYTHING, Clipped
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.questions.privacy.alignment import Emptiness, aligned_exits, costliest, pivot_cost
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.outcome import read_claim
from tests.privacy import mechanisms

SPARSE = "benchmarks/sparse.dip"


def constant(
    text: str, adjacent: str = "linf:1", inputs: str | None = "all", eps: str | None = None, **constants: int
) -> Constant:
    program = dipc.load(text, **constants)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits)).constant(eps)


MEDIAN = """
program median;
input x[1..3] : {0..4};
output med : {0..4};
var score[0..4] : {-3..3} = 0;
for g in 0..4 do
  for i in 1..3 do
    if x[i] < g then score[g] <- score[g] + 1 end;
    if x[i] > g then score[g] <- score[g] - 1 end
  end
end;
med <- Exp(eps/2, g in {0..4} : -abs(score[g]))
"""


def test_pairs_are_listed_where_shifts_would_have_more_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exits of this median over open inputs are thousands: uniting them took minutes, listing 1 500 pairs none."""
    asked = []
    monkeypatch.setattr(Emptiness, "__call__", lambda *_: asked.append(1) or False)
    found = constant(MEDIAN, "hamming:1", None)
    assert (found.proved, found.refuted_below, len(asked)) == (Fraction(3, 2), Fraction(3, 2), 0)


def median_probability(values: list[int], answer: int, eps: float) -> float:
    weights = [math.exp(-eps / 2 * abs(sum((v < g) - (v > g) for v in values))) for g in range(5)]
    return weights[answer] / sum(weights)


def test_an_example_shows_an_eps_at_which_a_little_less_fails() -> None:
    found = constant(MEDIAN, "hamming:1", None)
    assert found.example is not None
    less, eps = found.example
    at = found.at
    assert at is not None
    first, second = (
        median_probability([int(each[f"x[{i}]"]) for i in (1, 2, 3)], int(at.output["med"]), float(eps))
        for each in (at.input, at.adjacent)
    )
    assert first > math.exp(less * eps) * second
    assert less < Fraction(3, 2)


@pytest.mark.parametrize(
    ("text", "adjacent", "expected"),
    [
        (mechanisms.LAPLACE, "l1:1", "1"),
        (mechanisms.LAPLACE, "linf:1/2", "1/2"),
        (mechanisms.SUM, "l1:1", "1/2"),
        (mechanisms.SUM, "linf:1", "1"),
        (mechanisms.COUNT, "linf:1", "1/2"),
        (mechanisms.COUNT, "l1:3", "3/2"),
        (mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"}, "linf:1", "1/2"),
        (mechanisms.NOISY_MAX % {"noise": "Lap(eps/2, 0)"}, "linf:1", "1"),
        (mechanisms.CHOSEN, "linf:1", "1"),
        (mechanisms.ANY_ABOVE, "linf:1", "1/4"),
        (mechanisms.ABOVE_ALL, "linf:1", "1/2"),
        (mechanisms.IN_TWO_STEPS, "l1:1", "1"),
    ],
)
def test_exact_constants(text: str, adjacent: str, expected: str) -> None:
    if text is mechanisms.CHOSEN:
        found = constant(text, adjacent)["constant"]
        assert found["proved"] == expected  # weights do not move with the input: the shift is a proof
        assert Fraction(found["refuted_below"]) <= 1
        return
    found = constant(text, adjacent)["constant"]
    assert (found["proved"], found["refuted_below"], found["exact"]) == (expected, expected, True)


@pytest.mark.parametrize(("m", "expected"), [(2, "1/2"), (3, "3/4"), (4, "1"), (5, "1")])
def test_sparse(m: int, expected: str) -> None:
    found = constant(SPARSE, m=m)
    assert (found["constant"]["proved"], found.exact) == (expected, True)


def test_of_equally_bad_moves_the_one_that_attains_the_bound_is_measured() -> None:
    """Noisy max with gap has equally bad moves, of which some show no more than half of the constant."""
    found = constant("benchmarks/privacy/noisy_max_with_gap.dip", m=2)
    assert (found.proved, found.refuted_below) == (1, 1)


def test_a_pivot_is_one_noise_that_answers_for_all_others() -> None:
    """No constant shift would do: the largest of the others may be any of them."""
    program = dipc.load(mechanisms.ABOVE_ALL)
    every = aligned_exits(program)
    every_input = Clipped(program, (EVERYTHING,) * 3)
    costs = [costliest(each, every_input, Neighborhood(Distance.LINF, Fraction(1))).cost for each in every]
    assert max(cost for cost in costs if cost is not None) == 1
    is_empty = Emptiness(program, every[0])
    assert pivot_cost(every, 3, Neighborhood(Distance.LINF, Fraction(1)), is_empty) == Fraction(1, 2)
    # It answers for exits that exclude each other by the other noises alone, and that nothing leads out of.
    assert pivot_cost([*every, every[0]], 3, Neighborhood(Distance.LINF, Fraction(1)), is_empty) is None
    assert pivot_cost(every[1:], 3, Neighborhood(Distance.LINF, Fraction(1)), is_empty) is None


def test_exits_are_united_only_where_they_are_one() -> None:
    assert len(aligned_exits(dipc.load(mechanisms.IN_TWO_STEPS))) == 2
    assert len(aligned_exits(dipc.load(mechanisms.EXCLUSIVE))) == 4
    by_choice = mechanisms.IN_TWO_STEPS.replace("y <- true\n", "y <- choose { true : 3/4, false : 1/4 }\n")
    assert len(aligned_exits(dipc.load(by_choice))) == 4


@pytest.mark.parametrize("m", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_little_less_is_refuted_and_the_constant_is_not(m: int) -> None:
    """The constant agrees with a second way: the claim at its worst pair, decided for all eps."""
    program = dipc.load(SPARSE, m=m)
    found = constant(SPARSE, m=m)
    assert found.at is not None
    assert found.proved is not None
    first, second = (program.probability(point, found.at.output) for point in (found.at.input, found.at.adjacent))
    for factor, refuted in ((found.proved - Fraction(1, 1000), True), (found.proved, False)):
        far = [
            first.enclosure(eps, 60)[0]
            > second.enclosure(eps, 60)[1] * ExpPoly.term(1, 0, factor).enclosure(eps, 60)[1]
            for eps in (Fraction(1), Fraction(100), Fraction(10_000))
        ]
        assert any(far) is refuted
    for budget, verdict in ((found.proved, "private"), (found.proved - Fraction(1, 1000), "not private")):
        report = dipc.check_privacy(program, "linf:1", inputs="all", budget=f"{budget}*eps")
        assert report["verdict"] == verdict
        assert report["pairs"] is None


def test_where_the_support_moves_the_loss_is_infinite() -> None:
    found = constant(mechanisms.ONE_SIDED)["constant"]
    assert (found["proved"], found["refuted_below"]) == ("inf", "inf")
    program = dipc.load(mechanisms.ONE_SIDED)
    both = {str(program.probability(found[name], found["output"])) for name in ("input", "adjacent")}
    assert "0" in both


def test_integer_moves_are_looked_at_one_by_one() -> None:
    """2n + x[1] + x[2] = 0 has no solution where the sum is odd."""
    found = constant(mechanisms.EVEN)["constant"]
    assert found["proved"] == "inf"
    program = dipc.load(mechanisms.EVEN)
    report = dipc.check_privacy(program, "linf:1", inputs="x = -1..1", budget="100*eps")
    assert report["verdict"] == "not private"
    assert report["counterexample"]["allowed"] == ["0", "0"]


def test_guards_on_inputs_are_not_aligned() -> None:
    found = constant(mechanisms.GUARDED)
    assert found.proved is None
    assert dipc.check_privacy(dipc.load(mechanisms.GUARDED), "linf:1", inputs="all")["verdict"] == "not private"
    bare = constant(mechanisms.BARE)
    assert (bare.proved, bare.refuted_below) == (None, None)


def test_hamming_over_all_reals() -> None:
    found = constant(mechanisms.LAPLACE, "hamming:1")
    assert found.proved is None
    assert found.reason is not None
    unread = "program p; input x : real; output y : real; y <- Lap(eps, 0);"
    assert constant(unread, "hamming:1")["constant"]["proved"] == "0"


def test_an_enclosure_where_the_supremum_is_at_an_end() -> None:
    found = constant(SPARSE, inputs="q = -1..1", eps="[1, 2]", m=2)
    assert found.proved is not None
    assert found.refuted_below is not None
    assert 0 <= found.proved - found.refuted_below <= Fraction(1, 64)
    assert not found.exact
    # log(p/p')/eps grows with eps here
    program = dipc.load(SPARSE, m=2)
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget=f"{found.proved}*eps", eps="[1, 2]")
    assert report["verdict"] == "private"


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        (mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/3"}, {"m": 3}),
        (mechanisms.NOISY_MAX % {"noise": "Lap(eps/2, 0)"}, {"m": 3}),
        (mechanisms.NOISY_MAX % {"noise": "Expo(eps/3)"}, {"m": 2}),
        (mechanisms.EXCLUSIVE, {}),
        (mechanisms.CHOSEN, {}),
        (mechanisms.ANY_ABOVE, {}),
        (mechanisms.IN_TWO_STEPS, {}),
    ],
)
def test_no_random_pair_exceeds_what_is_proved(text: str, constants: dict[str, int]) -> None:
    program = dipc.load(text, **constants)
    found = constant(text, **constants)
    assert found.proved is not None
    assert found.refuted_below is not None
    assert found.refuted_below <= found.proved
    choose = random.Random(12)
    for _ in range(6):
        one = [Fraction(choose.randint(-8, 8), 4) for _ in program.inputs]
        two = [value + choose.choice((-1, 1, Fraction(1, 2), 0)) for value in one]
        laws = [
            {
                tuple(o.output.values()): o.probability
                for o in program.outcomes(dict(zip(program.inputs, at, strict=True)))
            }
            for at in (one, two)
        ]
        for answer, form in laws[0].items():
            for eps in (Fraction(1, 5), Fraction(2), Fraction(15)):
                scale = ExpPoly.term(1, 0, found.proved).enclosure(eps, 40)[1]
                assert form.enclosure(eps, 40)[0] <= laws[1][answer].enclosure(eps, 40)[1] * scale


def test_integer_noise_against_random_pairs() -> None:
    program = dipc.load(mechanisms.COUNT)
    for one in range(-3, 4):
        for output in range(-4, 5):
            first, second = (program.probability({"x": x}, {"y": output}) for x in (one, one + 1))
            scale = ExpPoly.term(1, 0, Fraction(1, 2)).enclosure(Fraction(3), 40)[1]
            assert first.enclosure(3, 40)[0] <= second.enclosure(3, 40)[1] * scale
    report = dipc.check_privacy(program, "linf:1", inputs="x = 0..2", budget="eps/2")
    assert report["verdict"] == "private"
    assert dipc.check_privacy(program, "linf:1", inputs="x = 0..2", budget="eps/3")["verdict"] == "not private"


@pytest.mark.parametrize(("text", "limit"), [(mechanisms.COUNT, "moves"), (mechanisms.SUM, "vertices")])
def test_limits_of_alignment_have_names(text: str, limit: str) -> None:
    report = dipc.check_privacy(dipc.load(text), "linf:1", inputs="all", limits=dipc.Limits(**{limit: 2}))
    assert report["verdict"] == "undecided"
    assert report["reason"].endswith(f"(limit `{limit}`)")


#: A finite input that no noise is added to, beside a real one.
BESIDE = """
program beside; input q : real; input s : {0..2}; output o : bool; var r : real;
r <- Lap(eps, q); if s = 1 then o <- r >= 1 else o <- r >= 0 end
"""
SHIFTED = """
program shifted; input q : real; input s : {0..1}; output y : real; var r : real;
r <- Lap(eps, q); if s = 1 then y <- r + 1 else y <- r end
"""


@pytest.mark.parametrize(
    ("text", "adjacent", "expected"),
    [(BESIDE, "linf:1", "2"), (BESIDE, "l1:1", "1"), (SHIFTED, "linf:1", "2"), (SHIFTED, "l1:3", "3")],
)
def test_finite_inputs_beside_real_ones(text: str, adjacent: str, expected: str) -> None:
    found = constant(text, adjacent)["constant"]
    assert (found["proved"], found["refuted_below"]) == (expected, expected)
    listed = constant(text, adjacent, "q = -3..3, s = 0..1")
    assert listed.proved is not None
    assert listed.proved <= Fraction(expected)


def test_exits_with_other_noises_for_each_finite_input() -> None:
    text = """
program beside; input q : real; input k : {0, 1}; output o : {0, 1, 2} = 0; var r, s : real;
r <- Lap(eps, q); s <- Lap(eps, r);
if k = 1 then o <- choose { 0 : 1/2, 1 : 1/2 }
else if r >= 0 then o <- 1 else if s >= 1 then o <- 2 end end end
"""
    assert constant(text, "hamming:1").proved is None


def test_finite_inputs_that_change_the_noise() -> None:
    """The rate is another one: nothing is proved, and nothing false is refuted."""
    text = BESIDE.replace("r <- Lap(eps, q);", "if s = 1 then r <- Lap(eps, q) else r <- Lap(eps/2, q) end;")
    found = constant(text)
    assert found.proved is None
    assert (
        found.reason == "no shift of the noise turns an answer at one input into the same answer at the adjacent input"
    )
    assert found.refuted_below is None or found.refuted_below > 0


@pytest.mark.parametrize(
    "text",
    [
        "program p; input q : real; output o : bool; o <- q >= 5;",
        "program p; input q : real; output o : bool; o <- q > 5;",
        (
            "program p; input q[1..2] : real; output o : {0, 1} = 0; var r : real; r <- Lap(eps, q[1]);"
            " if q[1] + q[2] > 70 then o <- 1 else if q[2] > 9 then if r >= 0 then o <- 1 end end end"
        ),
    ],
)
@pytest.mark.parametrize("adjacent", ["linf:1/2", "l1:1", "hamming:1"])
def test_what_is_compared_without_noise_refutes(text: str, adjacent: str) -> None:
    found = constant(text, adjacent)
    assert found["constant"]["refuted_below"] == "inf"
    report = dipc.check_privacy(dipc.load(text), adjacent, inputs="all", budget="100*eps")
    assert report["verdict"] == "not private"
    at = report.counterexample
    assert at is not None
    one, two = (
        dipc.load(text).probability(point, at.outputs[0]).enclosure(at.eps)[0] for point in (at.input, at.adjacent)
    )
    assert one > 0 == two or one > two


@pytest.mark.parametrize("digits", [2, 5, 12])
def test_constants_to_as_many_digits_as_are_asked_for(digits: int) -> None:
    """log(1 + eps^2·e^(-eps))/eps is greatest where eps is no rational."""
    more = "eps^2*exp(-eps)/4"
    text = (
        "program p; input x : {0..1}; output y : {0..1}; if x = 0 then "
        f"y <- choose {{ 0 : 1/4 + {more}, 1 : 3/4 - {more} }} else y <- choose {{ 0 : 1/4, 1 : 3/4 }} end;"
    )
    program = dipc.load(text)
    asked = PrivacyQuestion(program, "hamming:1", None, Engine(program.measurer, program.limits))
    found = asked.constant(None, digits)
    assert found.proved is not None
    assert found.refuted_below is not None
    assert 0 < found.proved - found.refuted_below <= found.proved / 10**digits
    greatest = max(math.log1p(eps**2 * math.exp(-eps)) / eps for eps in (n / 10**5 for n in range(1, 3 * 10**5)))
    assert found.refuted_below <= greatest + 1e-9
    assert greatest - 1e-9 <= found.proved


# --- one input that may move by anything ----------------------------------------------------------------------------


def of_three(draw: random.Random) -> str:
    """A program that adds noise to sums of two inputs, and compares."""
    scale = lambda: draw.choice(["eps", "eps/2", "2*eps"])  # noqa: E731
    form = lambda: f"{draw.choice([0, 1, 2, -1])}*q[1] + {draw.choice([0, 1, -1])}*q[2]"  # noqa: E731
    real = draw.random() < 0.4
    lines = [f"a <- Lap({scale()}, {form()}); b <- Lap({scale()}, {form()})"]
    lines.append(draw.choice(["o <- a >= b", "o <- a + b >= 1", "o <- a >= 0 and b >= 2", "o <- a >= 1 or b <= 0"]))
    lines += [draw.choice(["y <- a", "y <- b", "y <- 2*a"])] if real else []
    return (
        f"program p; input q[1..2] : real; output o : bool{'; output y : real' if real else ''}; var a, b : real; "
        + ("; ".join(lines))
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_move_without_end_refutes_every_constant(seed: int) -> None:
    """Infinite constants agree with probabilities at growing moves of an input.

    An infinite constant has an output whose probability stays at one input and falls towards 0 at the other. For a
    finite constant the probability of each output stays positive.
    """
    program = dipc.load(of_three(random.Random(seed)))
    question = PrivacyQuestion(program, "hamming:1", "all", Engine(program.measurer, program.limits))
    constant = question.constant(None)
    outputs = [{"o": value} for value in (True, False)]

    def probability(position: int, move: int, output: dict[str, object]) -> float:
        return program.probability({"q": [move if place == position else 0 for place in (0, 1)]}, output).float(1)

    falling = [
        (position, sign, output)
        for position in (0, 1)
        for sign in (1, -1)
        for output in outputs
        if probability(position, 0, output) > 0 and probability(position, sign * 60, output) < 1e-6
    ]
    if "y" in program.outputs:
        depends = constant.proved is None
        assert depends or constant.proved == 0
    else:
        assert (constant.exact and constant.proved is None) is bool(falling)
    if constant.exact and constant.proved is None:
        assert constant.reason is not None
        for budget in ("eps", "20*eps", "300*eps"):
            report = question.decide(read_claim(program, budget, None, "[1, 1]"))
            found = report.counterexample
            assert found is not None
            one, two = (
                {name: Fraction(value or 0) for name, value in each.items()} for each in (found.input, found.adjacent)
            )
            assert sum(one[name] != two[name] for name in one) == 1
            if not found.balls:
                first, second = (program.probability(each, found.outputs[0]).enclosure(1)[0] for each in (one, two))
                assert float(first) > math.exp(float(budget.split("*")[0].replace("eps", "1"))) * float(second)


#: Weights that are 0 at eps = 2.
LINEAR = """
program w; input x : {0, 1}; output y : {0, 1};
if x = 0 then y <- choose { 0 : (2 - eps)/4, 1 : (2 + eps)/4 }
else y <- choose { 0 : (2 + eps)/4, 1 : (2 - eps)/4 } end
"""

#: One that is 0 at eps = log 2.
CROSSED = """
program w; input x : {0, 1}; output y : {0, 1};
if x = 0 then y <- choose { 0 : (exp(eps) - 2)*(exp(eps) - 2)/(exp(2*eps) + 4), 1 : 4*exp(eps)/(exp(2*eps) + 4) }
else y <- choose { 0 : 1/2, 1 : 1/2 } end
"""


@pytest.mark.parametrize(
    ("text", "eps", "infinite"),
    [
        (LINEAR, "(0, 2)", True),
        (LINEAR, "(1, 2)", True),
        (LINEAR, "(0, 199999/100000]", False),
        (CROSSED, "(1/2, 1)", True),
        (CROSSED, "[7/10, 1]", False),
        (CROSSED, "[1/10, 693/1000]", False),
    ],
)
def test_the_constant_is_infinite_where_a_probability_falls_to_zero(text: str, eps: str, infinite: bool) -> None:
    """Next to an open end of the intervals, or to an eps between."""
    program = dipc.load(text, eps="(0, 2)")
    asked = PrivacyQuestion(program, "linf:1", None, Engine(program.measurer, program.limits))
    found = asked.constant(eps)
    assert (found.proved is None, found.refuted_below is None) == (infinite, infinite)
    assert found.at is not None
    if found.proved is not None:
        assert found.refuted_below is not None
        assert found.proved - found.refuted_below < Fraction(1, 16)
