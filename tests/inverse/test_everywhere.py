"""Inverse questions about every real input and every m against the same questions about many inputs, one by one."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings

import dipc
from dipc.inverse.solution import AlphaSolution, BetaSolution, EpsSolution, GammaSolution, Status
from dipc.inverse.solve import solve
from dipc.inverse.tighten import Tightest, tighten
from dipc.sources.source import Variable
from tests.patience import examples
from tests.sources.generated import programs
from tests.sources.real_programs import ADVERSARIAL, LAPLACE, NOISY_MAX, SPARSE

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


def test_least_beta_is_the_largest_of_the_grid() -> None:
    program = dipc.load(SPARSE, m=2)
    found = solve(program, inputs="all", wanted="beta")
    some = solve(program, inputs=grid(program, "{-1, 1}"), wanted="beta", alpha=1)
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
    """There are more integers between the ends of an enclosure than could be tried one by one."""
    text = (
        "program p; input q : real; output o : bool; var r : real; ideal { o <- q >= 0 } r <- Lap(eps, q); o <- r >= 0;"
    )
    program = dipc.load(text)
    found = dipc.tighten(program, inputs="q = 1", beta="10^400", alpha=0)
    # At least e^(-eps)/2 goes wrong, 1/2 for small eps.
    assert found.kappa == 2 * 10**400
