"""Inverse questions about every real input and every m against the same questions about many inputs, one by one."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings

import dipc
from dipc.examples import text as examples_text
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, GammaSolution, Status
from dipc.inverse.solve import solve
from dipc.inverse.tighten import Tightest, tighten
from dipc.rules.rule import Variable
from tests.patience import examples
from tests.questions.generated import programs
from tests.questions.real_programs import ADVERSARIAL, LAPLACE, NOISY_MAX, SPARSE
from tests.questions.test_classes_in_parts import HARDER, NOISY_RESPONSE, RANDOMIZED_RESPONSE
from tests.questions.test_int_inputs import THRESHOLD
from tests.questions.test_int_inputs import program as of_ints
from tests.questions.test_int_inputs import random_program as random_ints
from tests.questions.test_random_programs import random_program

F = Fraction

ADDED = "if x + y >= 0 then o <- true else o <- false end"

#: Inputs at many distances from the edges of classes.
GRID = "{-2, -1, -1/2, 0, 1/3, 1, 5/2}"


def grid(program: dipc.Program, values: str = GRID) -> list[str]:
    names = dict.fromkeys(name.partition("[")[0] for name in program.inputs)
    return [f"{name} in {values}" for name in names]


def at_most(found: Tightest) -> Fraction | None:
    """An upper bound of the factor; None where none is known."""
    if found.unknown:
        return None
    cell = found.upper if found.upper_places else found.factor
    return None if cell is None else cell[1]


def agrees(everywhere: Tightest, some: Tightest) -> None:
    """No input needs more than all together are said to need at most."""
    bound = at_most(everywhere)
    if bound is None:
        return
    assert some.factor is not None
    assert some.factor[0] <= bound


@pytest.mark.parametrize("text", [SPARSE, NOISY_MAX], ids=["sparse", "noisy max"])
def test_the_hardest_inputs_are_on_the_grid(text: str) -> None:
    program = dipc.load(text, m=2)
    everywhere = tighten(program, inputs="all", digits=15)
    some = tighten(program, inputs=grid(program, "{-1, 0, 1}"), digits=15)
    assert everywhere.complete
    assert everywhere.factor == some.factor
    assert everywhere.kappa == some.kappa
    assert all(place.claimed.variable is Variable.ALPHA_EPS for place in everywhere.places)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_input_needs_more_than_all(name: str) -> None:
    program = dipc.load(ADVERSARIAL[name])
    try:
        everywhere = tighten(program, inputs="all", digits=8)
    except dipc.DiagnosticError:
        pytest.skip("not about all real inputs")
    some = tighten(program, inputs=grid(program, "{-2, -1, 0, 1/3, 1}"), digits=8)
    agrees(everywhere, some)
    if everywhere.complete and everywhere.factor is not None and some.factor is not None:
        assert everywhere.factor[1] >= some.factor[0]


@settings(max_examples=examples(5))
@given(programs(2))
def test_random_programs_need_no_more_than_all(text: str) -> None:
    assume("input q[1..2] : real" in text)
    program = dipc.load(text)
    claim = {"beta": "exp(-alpha*eps/2)", "alpha": "dd", "gamma": 1, "eps": "(0, inf)"}
    everywhere = tighten(program, inputs="all", digits=6, **claim)
    reals = [found for found in grid(program, "{-1, 0, 1/2, 2}") if not found.startswith("x")]
    agrees(everywhere, tighten(program, inputs=reals, digits=6, **claim))


@settings(max_examples=examples(5))
@given(programs(2))
def test_random_programs_hold_at_the_eps_that_all_hold_at(text: str) -> None:
    assume("input q[1..2] : real" in text)
    program = dipc.load(text)
    claim = {"beta": "1/3", "alpha": 1, "gamma": 1, "eps": "(0, inf)"}
    everywhere = solve(program, inputs="all", wanted="eps", digits=6, **claim)
    assert isinstance(everywhere, EpsSolution)
    proved = everywhere.holds if everywhere.status is Status.SOLVED else everywhere.proved
    for span in proved:
        inside = span.start.low + 1 if span.end.high is None else (span.start.low + span.end.low) / 2
        if span.end.high is not None and not span.start.low < inside < span.end.low:
            continue
        reals = [found for found in grid(program, "{-1, 0, 1/2, 2}") if not found.startswith("x")]
        report = dipc.check(program, inputs=reals, **{**claim, "eps": f"[{inside}, {inside}]"})
        assert report.verdict is not dipc.Verdict.INACCURATE


def test_least_alpha_and_eps_are_the_same_product() -> None:
    program = dipc.load(SPARSE, m=2)
    found = solve(program, inputs="all", wanted="alpha", beta="1/10", digits=12)
    assert isinstance(found, AlphaSolution)
    assert found.product is not None
    for alpha in (1, 2):
        eps = solve(program, inputs="all", wanted="eps", beta="1/10", alpha=alpha, digits=12)
        assert isinstance(eps, EpsSolution)
        assert eps.least is not None
        assert eps.least.high is not None
        assert eps.least.low * alpha <= found.product[1]  # type: ignore[operator]
        assert found.product[0] <= eps.least.high * alpha
    single = solve(program, inputs="all", wanted="alpha", beta="1/10", eps="4", digits=12)
    assert isinstance(single, AlphaSolution)
    assert single.cell == (found.product[0] / 4, found.product[1] / 4)  # type: ignore[operator]
    # The claim holds with it at every input, and not with less.
    low, high = single.cell
    at_four = {"inputs": "all", "beta": "1/10", "eps": "[4, 4]"}
    assert dipc.check(program, alpha=high, **at_four).verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, alpha=low, **at_four).verdict is dipc.Verdict.INACCURATE


#: A number and a sign with noises of their own.
NUMBER_AND_SIGN = """program p;
input q : real; output y : real; output z : bool;
ideal { y <- q; z <- q >= 0 }
var r : real;
y <- Lap(eps, q); r <- Lap(2*eps, q); z <- r >= 0;
"""


@pytest.mark.parametrize(
    ("gamma", "beta", "least"),
    [
        # (1 - e^-6)(1 - e^(-6*alpha)/2) = 19/20; no function of alpha*eps alone, so that numbers are looked through.
        (2, "1/20", lambda: -mpmath.log(2 * (1 - mpmath.mpf("0.95") / (1 - mpmath.exp(-6)))) / 6),
        (2, "exp(-5*alpha*eps) + 1/100", None),
        (2, "3/4", lambda: 0),
        (0, "1/20", lambda: mpmath.inf),
    ],
)
def test_the_least_alpha_at_one_eps_is_looked_for_among_numbers(gamma: int, beta: str, least: object) -> None:
    program = dipc.load(NUMBER_AND_SIGN)
    claim = {"inputs": "all", "gamma": gamma, "beta": beta, "eps": "3"}
    solution = solve(program, wanted="alpha", digits=12, **claim)
    assert isinstance(solution, AlphaSolution)
    if least is not None and least() == mpmath.inf:
        assert (solution.status, solution.cell) == (Status.NONE, None)
        return
    assert solution.status is Status.SOLVED
    assert solution.cell is not None
    low, high = solution.cell
    assert dipc.check(program, alpha=high, **claim).verdict is dipc.Verdict.ACCURATE
    assert low == high == 0 or dipc.check(program, alpha=low, **claim).verdict is dipc.Verdict.INACCURATE
    assert least is None or low <= F(str(least())) <= high


def test_an_alpha_is_not_the_least_where_less_will_do_too() -> None:
    """Good from about 1/20 on, bad again where beta has fallen, at 1, and good where the sign is almost certain."""
    program = dipc.load(NUMBER_AND_SIGN)
    claim = {"inputs": "all", "gamma": 2, "beta": "max(2/5 - alpha/2, 0) + 1/400", "eps": "3"}
    verdicts = [dipc.check(program, alpha=alpha, **claim).verdict for alpha in (0, "1/10", 1, 2)]
    assert verdicts == [dipc.Verdict.INACCURATE, dipc.Verdict.ACCURATE] * 2
    solution = solve(program, wanted="alpha", digits=5, **claim)
    assert solution.status is Status.UNDECIDED
    assert "holds with 16773/10000, but it also holds with " in solution.remark


def test_least_beta_is_the_largest_of_the_grid() -> None:
    program = dipc.load(SPARSE, m=2)
    found = solve(program, inputs="all", wanted="beta")
    some = solve(program, inputs=grid(program, "{-1, 1}"), wanted="beta", alpha="1/2")
    assert isinstance(found, BetaSolution)
    assert isinstance(some, BetaSolution)
    assert found.beta == some.beta


def test_gamma_is_a_multiple_of_one_over_eps() -> None:
    program = dipc.load(LAPLACE)
    found = solve(program, inputs="all", wanted="gamma", beta="1/10", digits=12)
    assert isinstance(found, GammaSolution)
    assert (found.status, found.value) == (Status.SOLVED, None)
    assert found.product is not None
    low, high = found.product
    exact = -mpmath.log(1 - mpmath.sqrt(mpmath.mpf(9) / 10))
    assert mpmath.mpf(low.numerator) / low.denominator <= exact <= mpmath.mpf(high.numerator) / high.denominator
    for eps in (1, 3):
        single = solve(program, inputs="all", wanted="gamma", beta="1/10", eps=str(eps), digits=12)
        one = solve(
            program, [{"q[1]": 0, "q[2]": 0, "out[1]": 0, "out[2]": 0}], wanted="gamma", beta="1/10", eps=str(eps)
        )
        assert isinstance(single, GammaSolution)
        assert isinstance(one, GammaSolution)
        assert single.value is not None
        assert one.value is not None
        assert single.value[0] <= one.value[1]
        assert one.value[0] <= single.value[1]


def test_gamma_among_numbers_where_beta_is_no_function_of_the_product() -> None:
    program = dipc.load("program l; input q : real; output o : real; ideal { o <- q } o <- Lap(eps, q)")
    found = solve(program, inputs="all", wanted="gamma", alpha=0, beta="exp(-eps)", eps="2", digits=3)
    assert isinstance(found, GammaSolution)
    assert found.status is Status.SOLVED
    assert found.value == (Fraction(999, 1000), Fraction(1))
    # Significant digits, however small it is: Pr = exp(-2*gamma) is to be below exp(-2/1000).
    small = solve(program, inputs="all", wanted="gamma", alpha=0, beta="exp(-eps/1000)", eps="2", digits=3)
    assert isinstance(small, GammaSolution)
    assert small.value == (Fraction(999, 1000_000), Fraction(1, 1000))


@pytest.mark.parametrize(
    ("beta", "eps", "least"),
    [("1/2", "1", 1), ("1/2", "3", 0), ("1/10", "1", 2), ("1/100", "3", 1), ("1/1000", "3", 2)],
)
def test_the_least_gamma_of_an_int_output(beta: str, eps: str, least: int) -> None:
    """The error is more than g with the probability 2r^(g + 1)/(1 + r), r = e^-eps."""
    program = dipc.load("program p; input n : int; output o : int; ideal { o <- n } o <- DLap(eps, n)")
    found = solve(program, inputs="all", wanted="gamma", alpha=0, beta=beta, eps=eps)
    assert isinstance(found, GammaSolution)
    assert (found.status, found.value) == (Status.SOLVED, (least, least))
    r, allowed = mpmath.exp(-int(eps)), mpmath.mpf(F(beta).numerator) / F(beta).denominator
    assert least == next(g for g in range(9) if 2 * r ** (g + 1) / (1 + r) <= allowed)


def test_what_only_a_check_refutes_is_less_than_the_least_gamma() -> None:
    """The bound of two sums does not suffice at gamma = 0; a check finds an input that refutes it."""
    program = dipc.load(
        "program p; input n, m : int; output o : int; var x, y : int;"
        "ideal { if n >= 0 and m >= 0 then o <- 1 else o <- 0 end }"
        "x <- DLap(eps, n); y <- DLap(eps, m); if x + y >= 0 and y >= 0 then o <- 1 else o <- 0 end"
    )
    claim = {"alpha": 1, "beta": "1/2"}
    found = solve(program, inputs="all", wanted="gamma", eps="1", **claim)
    assert isinstance(found, GammaSolution)
    verdicts = [dipc.check(program, inputs="all", gamma=g, eps="[1, 1]", **claim).verdict for g in (0, 1)]
    assert verdicts == [dipc.Verdict.INACCURATE, dipc.Verdict.ACCURATE]
    assert (found.status, found.value) == (Status.SOLVED, (1, 1))


def test_every_m_is_enclosed_between_exact_small_ones_and_the_union_bound() -> None:
    program = dipc.load(SPARSE)
    # A single query is the worst for 2m*exp(-alpha*eps/8), and of one query the union bound is the probability itself.
    exact = tighten(program, inputs="all", for_all="m", digits=8)
    assert exact.complete
    assert exact.factor == (Fraction(1, 4), Fraction(1, 4))
    beta = "(m + 1)*exp(-alpha*eps/8)"
    found = tighten(program, inputs="all", for_all="m", beta=beta, digits=8)
    assert not found.complete
    assert found.factor is not None
    assert found.upper is not None
    assert found.factor[0] < found.upper[1]
    for m in (1, 2, 3):
        single = tighten(dipc.load(SPARSE, m=m), inputs="all", beta=beta, digits=8)
        assert single.factor is not None
        assert single.factor[0] <= found.factor[1]
    # beyond those that were looked at one by one
    larger = tighten(dipc.load(SPARSE, m=6), inputs=["q in {-1, 1}"], beta=beta, digits=8)
    assert larger.factor is not None
    assert larger.factor[0] <= found.upper[1]


def test_a_huge_beta_has_a_largest_kappa() -> None:
    """An enclosure may contain more integers than could be tried one by one."""
    text = (
        "program p; input q : real; output o : bool; var r : real; ideal { o <- q >= 0 } r <- Lap(eps, q); o <- r >= 0;"
    )
    program = dipc.load(text)
    found = dipc.tighten(program, inputs="q = 1", beta="10^400", alpha=0)
    # At least e^(-eps)/2 goes wrong, 1/2 for small eps.
    assert found.kappa == 2 * 10**400


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        (RANDOMIZED_RESPONSE, F(1)),
        (NOISY_RESPONSE, F(1)),
        (HARDER["another answer behind two thresholds"][0], F(3, 8)),
        (HARDER["the same answer both ways"][0], F(1, 2)),
        (HARDER["a threshold behind either side of another"][0], F(1)),
        (HARDER["two tails at a corner"][0], F(3, 4)),
    ],
)
def test_every_rule_is_tried_for_the_least_factor(text: str, factor: Fraction) -> None:
    """No bound of these is a probability itself, slack by slack: it takes other rules, and inputs that need as much."""
    found = tighten(dipc.load(text), inputs="all", digits=12)
    assert found.complete
    assert found.factor == (factor, factor)


def test_what_inputs_come_near_to_is_exact() -> None:
    """The gap is more than 1 in the class that needs most, and its edge, where it is 1, is in another."""
    program = dipc.load(examples_text("noisy_max_gap"))
    found = tighten(program, inputs="all", digits=12)
    assert found.complete
    assert found.factor is not None
    low, high = found.factor
    assert low < F("0.229496396823743") < high
    near = tighten(program, inputs="q in {0, 1, 1.001}", digits=12)
    assert near.factor is not None
    assert low * F(99, 100) < near.factor[1] < high


@pytest.mark.parametrize(
    ("body", "beta", "factor"),
    [
        (THRESHOLD, "exp(-alpha*eps)", F(1)),  # approached as eps grows
        (THRESHOLD, "2*exp(-alpha*eps/2)", F(1, 4)),  # at the distance 1, as eps goes to 0
        (f"x <- DLap(eps, n); y <- DLap(eps, 0); {ADDED}", "(1 + alpha)*exp(-alpha*eps)", F(1)),
        (f"x <- DLap(eps, n); y <- DLap(eps, 0); {ADDED}", "exp(-alpha*eps)", None),  # grows with the distance
    ],
)
def test_integer_distances_need_as_much_as_small_ones(body: str, beta: str, factor: Fraction | None) -> None:
    found = tighten(dipc.load(of_ints("o <- n >= 0", body, f"alpha: dd; beta: {beta};")), inputs="all", digits=12)
    assert found.complete is (factor is not None)
    if factor is not None:
        assert found.factor == (factor, factor)


def test_least_beta_of_a_response() -> None:
    found = solve(dipc.load(RANDOMIZED_RESPONSE), inputs="all", wanted="beta")
    assert isinstance(found, BetaSolution)
    assert (found.status, found.beta) == (Status.SOLVED, "exp(-eps)/(1 + exp(-eps))")


def check_agrees(text: str, beta: str) -> None:
    """A hundredth less than what is needed is not proved, and a hundredth more than what suffices is."""
    program = dipc.load(text)
    found = tighten(program, inputs="all", digits=10)
    if found.unknown:
        return
    least = F(0) if found.factor is None else found.factor[0]
    if least:
        less = dipc.check(program, inputs="all", beta=f"({beta})*{least * F(99, 100)}")
        assert less.verdict is not dipc.Verdict.ACCURATE
    bound = at_most(found)
    if bound is not None:
        more = dipc.check(program, inputs="all", beta=f"({beta})*{bound * F(101, 100) + F(1, 10**9)}")
        assert more.verdict is dipc.Verdict.ACCURATE


@pytest.mark.parametrize("name", HARDER)
def test_check_agrees_with_the_least_factor(name: str) -> None:
    text = HARDER[name][0]
    check_agrees(text, _beta(text))


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60))])
def test_check_agrees_with_the_least_factor_of_random_programs(seed: int) -> None:
    for text in (random_program(seed), random_ints(random.Random(seed))):
        check_agrees(text, _beta(text))


def _beta(text: str) -> str:
    found = re.search(r"beta: ([^;}]*)", text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(("beta", "everywhere"), [("exp(-alpha*eps)/2", True), ("exp(-alpha*eps)/3", False)])
def test_every_eps_is_enough_for_a_claim_about_every_distance_that_holds(beta: str, *, everywhere: bool) -> None:
    text = (
        "program p; input q : real; output o : bool; var r : real; ideal { o <- q >= 0 } r <- Lap(eps, q); o <- r >= 0"
    )
    claim = {"inputs": "all", "alpha": "dd", "beta": beta}
    if everywhere:
        found = solve(dipc.load(text), wanted="eps", **claim)
        assert isinstance(found, EpsSolution)
        assert (found.status, found.everywhere) == (Status.SOLVED, True)
        assert dipc.check(dipc.load(text), **claim).verdict is dipc.Verdict.ACCURATE
    else:
        with pytest.raises(dipc.DiagnosticError, match="no eps is enough"):
            solve(dipc.load(text), wanted="eps", **claim)


@pytest.mark.parametrize(("inputs", "advice"), [("all", False), ("q = 1", True)])
def test_only_rows_are_advised_to_ask_about_all_inputs(inputs: str, advice: bool) -> None:
    program = dipc.load("program p; input q : real; output y : real; ideal { y <- q } y <- Lap(eps, q)")
    found = solve(program, wanted="gamma", inputs=inputs, alpha=0, beta=0)
    assert found.status is Status.NONE
    assert str(found).endswith("looks for k/eps") is advice
