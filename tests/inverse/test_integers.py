"""Least factors and least numbers of claims about int inputs, against enumeration, at all integer distances at once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.inverse import search
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, Status
from dipc.sign.interval import Interval
from tests.questions.test_int_inputs import random_program

F = Fraction

ONE = "program one; input n : int; output o : bool; var x : int; ideal { o <- n >= 0 } x <- DLap(eps, n); o <- x >= 0"
COUNT = """program count; const m = 2; input n[1..m] : int; output o : {0..2}; var x[1..m] : int; ideal { noiseless }
for i in 1..m do x[i] <- DLap(eps, n[i]) end; o <- 0; for i in 1..m do if x[i] >= 5 then o <- o + 1 end end"""
LESS = """program less; input a, b : int; output y : {1, 2}; var x, z : int;
ideal { if a >= b then y <- 1 else y <- 2 end }
x <- DLap(eps, a); z <- DLap(eps, b); if x >= z then y <- 1 else y <- 2 end"""
MARGIN = """program ab_test; const margin = 10; input a, b : int; output better : bool; var x, y : int;
ideal { better <- a >= b + margin } x <- DLap(eps, a); y <- DLap(eps, b); better <- x >= y + margin"""
PTR = (Path(__file__).parent / "propose_test_release.dip").read_text(encoding="utf-8")


def at_least(k: int, eps: float) -> float:
    """Pr[N >= k] for discrete Laplace noise of rate 1, and k >= 1."""
    return math.exp(-k * eps) / (1 + math.exp(-eps))


def difference_at_least(k: int, eps: float) -> float:
    """Pr[N - N' >= k] for two independent discrete Laplace noises, k >= 1, by enumeration."""
    scale = (1 - math.exp(-eps)) / (1 + math.exp(-eps))
    reach = range(-int(40 / eps) - k, int(40 / eps) + k)
    below = {j: at_least(j, eps) if j > 0 else 1 - at_least(1 - j, eps) for j in range(reach[0] + k, reach[-1] + k + 1)}
    return sum(scale * math.exp(-eps * abs(j)) * below[j + k] for j in reach)


def missing_one(k: int, eps: float) -> float:
    return at_least(k, eps)


def missing_two(k: int, eps: float) -> float:
    return 1 - (1 - at_least(k, eps)) ** 2


#: A program, its beta, and the greatest probability of a wrong answer at the distance k.
CLAIMS: list[tuple[str, str, Callable[[int, float], float], Callable[[int, float], float]]] = [
    (ONE, "exp(-(alpha - 1)*eps)", missing_one, lambda k, e: math.exp(-(k - 1) * e)),
    (ONE, "exp(-alpha*eps)", missing_one, lambda k, e: math.exp(-k * e)),
    (ONE, "2*exp(-alpha*eps/2)", missing_one, lambda k, e: 2 * math.exp(-k * e / 2)),
    (COUNT, "m*exp(-(alpha - 1)*eps)", missing_two, lambda k, e: 2 * math.exp(-(k - 1) * e)),
    (
        MARGIN,
        "(1 + alpha*eps)*exp(-2*(alpha - 1)*eps)",
        lambda k, e: difference_at_least(2 * k - 1, e),
        lambda k, e: (1 + k * e) * math.exp(-2 * (k - 1) * e),
    ),
]


@pytest.mark.parametrize(("text", "beta", "missing", "bound"), CLAIMS)
def test_least_factors(
    text: str, beta: str, missing: Callable[[int, float], float], bound: Callable[[int, float], float]
) -> None:
    found = dipc.tighten(dipc.load(text), inputs="all", alpha="dd", beta=beta)
    assert found.complete
    assert found.factor is not None
    low, high = map(float, found.factor)
    needed = [
        missing(k, t / k) / bound(k, t / k)
        for k in (1, 2, 3, 7, 20, 60)
        for t in (0.02, 0.3, 1, 3, 8, 20)
        if t / k > 0.02
    ]
    assert max(needed) <= high * (1 + 1e-9)
    assert max(needed) >= low * 0.93  # some are only approached


def test_the_factor_of_many_counts_is_only_approached() -> None:
    """1 - (1 - p)³ over 3·e^(-(k - 1)·eps), for p = e^(-k·eps)/(1 + e^-eps), tends to 1/2 as k grows and eps falls."""
    text = """program shown; const m = 3, T = 20; input c[1..m] : int; output shown[1..m] : {no, yes} = no; var z : int;
    ideal { for i in 1..m do if c[i] >= T then shown[i] <- yes end end }
    for i in 1..m do if c[i] > 0 then z <- DLap(eps, c[i]); if z >= T then shown[i] <- yes end end end"""
    beta = "m*exp(-(alpha - 1)*eps)"
    found = dipc.tighten(dipc.load(text), inputs="all", alpha="dd", beta=beta)
    assert (found.factor, found.complete, found.attained) == ((F(1, 2), F(1, 2)), True, False)

    def needed(k: int, eps: float) -> float:
        return (1 - (1 - at_least(k, eps)) ** 3) / (3 * math.exp(-(k - 1) * eps))

    assert max(needed(k, 8 / k) for k in (1, 10, 100, 1000)) == pytest.approx(1 / 2, abs=5e-3)
    assert all(needed(k, t / k) < 1 / 2 for k in (1, 2, 5, 50, 10000) for t in (0.01, 0.5, 2, 9, 25))


@pytest.mark.parametrize("seed", range(9))
def test_what_is_proved_of_a_claim_is_known_of_its_factor(seed: int) -> None:
    program = dipc.load(random_program(random.Random(seed)))
    found = dipc.tighten(program, inputs="all")
    verdict = dipc.check(program, inputs="all").verdict
    if verdict is Verdict.ACCURATE:
        at_most = found.factor if found.complete else found.at_most
        assert at_most is not None
        assert at_most[1] <= 1
    if found.factor is not None and found.factor[0]:
        less = dipc.check(
            program,
            inputs="all",
            beta=f"({found.claims.question.source().stated['beta']})*({found.factor[0]})*999/1000",
        )
        assert less.verdict is not Verdict.ACCURATE
    if verdict is Verdict.INACCURATE:
        assert found.factor is None or found.factor[1] > 1 or not found.complete


@pytest.mark.parametrize(("text", "distance"), [(ONE, 1), (LESS, 2), (MARGIN, 2)])
@pytest.mark.parametrize("beta", ["1/20", "1/1000"])
def test_the_least_alpha_is_an_integer(text: str, distance: int, beta: str) -> None:
    """A claim about dd(u) > alpha is about dd(u) >= alpha + 1."""
    found = dipc.solve(dipc.load(text), wanted="alpha", inputs="all", beta=beta, eps=1)
    assert isinstance(found, AlphaSolution)
    wrong = at_least if distance == 1 else lambda k, eps: difference_at_least(2 * k - 1, eps)
    least = next(k for k in range(100) if wrong(k + 1, 1.0) <= float(F(beta)))
    assert (found.status, found.cell) == (Status.SOLVED, (least, least))
    assert dipc.check(dipc.load(text), inputs="all", alpha=least, beta=beta, eps=1).verdict is Verdict.ACCURATE
    assert dipc.check(dipc.load(text), inputs="all", alpha=least - 1, beta=beta, eps=1).verdict is Verdict.INACCURATE


def test_the_least_beta_and_the_least_eps_of_ints() -> None:
    beta = dipc.solve(dipc.load(ONE), wanted="beta", inputs="all", alpha="dd")
    assert isinstance(beta, BetaSolution)
    assert (beta.status, beta.beta) == (Status.SOLVED, "exp(-eps)/(1 + exp(-eps))")
    eps = dipc.solve(dipc.load(ONE), wanted="eps", inputs="all", alpha="dd", beta="1/5", digits=12)
    assert isinstance(eps, EpsSolution)
    assert eps.status is Status.SOLVED
    assert eps.least is not None
    assert float(eps.least.low) == pytest.approx(math.log(4))
    everywhere = dipc.solve(dipc.load(COUNT), wanted="eps", inputs="all", alpha="dd", beta="m*exp(-(alpha - 1)*eps)")
    assert isinstance(everywhere, EpsSolution)
    assert everywhere.everywhere


@pytest.mark.parametrize("kind", ["int", "real"])
@pytest.mark.parametrize("eps", ["1", "(0, inf)"])
def test_no_alpha_will_do_where_the_release_is_too_inexact(kind: str, eps: str) -> None:
    """The released value is within 4 with probability 1 - e^(-2·eps) only, at every distance."""
    text = (
        PTR
        if kind == "int"
        else PTR.replace("d : int", "d : real").replace("z : int", "z : real").replace("DLap", "Lap")
    )
    found = dipc.solve(dipc.load(text), wanted="alpha", inputs="all", beta="1/20", eps=eps)
    assert (found.status, found.remark) == (Status.NONE, "the claim fails however far other answers are")
    enough = dipc.solve(dipc.load(text), wanted="alpha", inputs="all", beta="1/20", gamma=10, eps=1)
    assert isinstance(enough, AlphaSolution)
    assert enough.status is Status.SOLVED
    assert enough.cell is not None
    assert (enough.cell == (5, 5)) is (kind == "int")


def test_real_inputs_that_do_not_matter_leave_distances_integers() -> None:
    """dd(u) > 5 is dd(u) >= 6: the value that is released moves no input nearer to another answer."""
    claim = {"inputs": "all", "gamma": 10, "beta": "1/20", "eps": 1}
    verdicts = [dipc.check(dipc.load(PTR), alpha=alpha, **claim).verdict for alpha in (4, 5, "11/2")]
    assert verdicts == [Verdict.INACCURATE, Verdict.ACCURATE, Verdict.ACCURATE]
    found = dipc.tighten(dipc.load(PTR), inputs="all")
    assert (found.factor, found.complete) == ((1, 1), True)


def test_no_corner_that_the_claim_is_not_about_refutes_it() -> None:
    """An input with dd(u) = alpha need not have others a little farther away, if ints are beside reals that matter."""
    text = """program both; input d : int; input q : real; output r : bool; var z : int; var y : real;
    ideal { r <- d >= 0 and q >= 0 } z <- DLap(eps/2, d); y <- Lap(eps/2, q); r <- z >= 0 and y >= 0"""
    for alpha in range(1, 6):
        report = dipc.check(dipc.load(text), inputs="all", alpha=alpha, beta="1/9", eps=1)
        for row in report.rows:
            if row.verdict is Verdict.INACCURATE:
                point = {name: F(value) for name, value in row.input.items()}
                distances = [point["d"] + 1 if point["d"] >= 0 else -point["d"], abs(point["q"])]
                inside = point["d"] >= 0 and point["q"] >= 0
                away = [each for each, bad in zip(distances, (point["d"] < 0, point["q"] < 0), strict=True) if bad]
                assert (min(distances) if inside else max(away)) > alpha


def test_the_reason_names_a_grid_that_decides() -> None:
    program = dipc.load(random_program(random.Random(116)))
    reasons = [row.reason for row in dipc.check(program, inputs="all").rows if row.reason]
    assert reasons
    for reason in reasons:
        inputs = reason.partition('--inputs "')[2].partition('"')[0]
        assert inputs
        assert dipc.check(program, inputs=inputs).verdict is not Verdict.UNDECIDED


def test_a_bounded_class_is_examined_at_all_of_its_distances() -> None:
    """Counts from 1 to 19 are at most 19 away from the threshold, where they need most."""
    text = """program shown; const m = 3, T = 20; input c[1..m] : int;
    requires c[1] <= 25 and c[2] <= 25 and c[3] <= 25; output shown[1..m] : {no, yes} = no; var z : int;
    ideal { for i in 1..m do if c[i] >= T then shown[i] <- yes end end }
    for i in 1..m do if c[i] > 0 then z <- DLap(eps, c[i]); if z >= T then shown[i] <- yes end end end"""
    found = dipc.tighten(dipc.load(text), inputs="all", alpha="dd", beta="m*exp(-(alpha - 1)*eps)", digits=12)
    needed = max(
        (1 - (1 - at_least(k, eps)) ** 3) / (3 * math.exp(-(k - 1) * eps))
        for k in range(1, 20)
        for eps in (step / 2000 for step in range(1, 4000))
    )
    assert found.complete
    assert found.factor is not None
    assert float(found.factor[0]) == pytest.approx(needed, rel=1e-6)
    assert needed <= float(found.factor[1])


CELL = """program cell; input count : int; output given : bool = false; output out : int = 0; var x : int;
claim { alpha: dd } ideal { noiseless } x <- DLap(eps, count); if x >= 10 then given <- true; out <- x end"""
REAL_CELL = CELL.replace(": int", ": real").replace("DLap", "Lap")


@pytest.mark.parametrize(("beta", "least"), [("1/20", 3), ("1/50", 4), ("1/5", 1), ("1/1000", 7)])
def test_the_least_gamma_of_a_released_count_at_every_distance(beta: str, least: int) -> None:
    """Far above the threshold only the noise matters; Pr[|N| > g] is twice the tail beyond g."""
    assert 2 * at_least(least + 1, 1.0) <= float(F(beta)) < 2 * at_least(least, 1.0)
    found = dipc.solve(dipc.load(CELL), wanted="gamma", inputs="count >= 20", beta=beta, eps=1)
    assert (found.status, found.value) == (Status.SOLVED, (F(least), F(least)))
    assert "vacuous" not in str(found)


def test_the_least_gamma_of_a_released_real_count() -> None:
    found = dipc.solve(dipc.load(REAL_CELL), wanted="gamma", inputs="count >= 20", beta="1/10", eps=1, digits=6)
    assert found.status is Status.SOLVED
    assert found.value[0] <= F(math.log(10)) <= found.value[1]


@pytest.mark.parametrize("program", [CELL, REAL_CELL])
@pytest.mark.parametrize("options", [{"eps": 1}, {}, {"alpha": 0, "eps": 1}])
def test_no_gamma_where_an_input_fails_with_every_gamma(program: str, options: dict[str, object]) -> None:
    """Below the threshold a count is given with probability 1/(1 + e), whatever the tolerance."""
    found = dipc.solve(dipc.load(program), wanted="gamma", inputs="all", beta="1/20", **options)
    assert found.status is Status.NONE


def test_a_large_gamma_ends_at_a_limit() -> None:
    """(1 - y^n)/(1 - y) has n terms, which are not computed."""
    stopped = (
        "the closed form has more than 1500000 terms, where a term with long numbers counts as several; "
        "its expansion was stopped (limit `terms`)"
    )
    report = dipc.check(dipc.load(CELL), inputs="all", alpha=0, gamma=10**12, beta="1/20", eps=1)
    assert report.verdict is Verdict.INACCURATE
    assert [row.reason for row in report.rows if row.verdict is Verdict.UNDECIDED] in (
        [],
        [stopped],
    )


@pytest.mark.parametrize(
    ("verdicts", "remark"),
    [
        (lambda _: Verdict.INACCURATE, "the least gamma, if there is one, is greater than 10^3"),
        (lambda _: Verdict.UNDECIDED, "no gamma is proved to be enough"),
        (
            lambda gamma: Verdict.INACCURATE if gamma <= 10 else Verdict.UNDECIDED,
            "no gamma is proved to be enough; it fails with gamma = 10",
        ),
    ],
)
def test_a_search_states_only_what_is_refuted(
    verdicts: Callable[[Fraction], Verdict], remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "all_hold", lambda claims: (verdicts(claims.gamma), (1,), "unknown"))
    monkeypatch.setattr(search, "checked", lambda _: SimpleNamespace(verdict=Verdict.UNDECIDED))
    least = search.LeastNumber(
        "gamma", lambda gamma: SimpleNamespace(question=SimpleNamespace(around=None), gamma=gamma), (), None, greatest=3
    )
    assert least.enclose(5)[2] == remark


@pytest.mark.parametrize(("verdict", "holds"), [(Verdict.INACCURATE, False), (Verdict.ACCURATE, True)])
def test_a_failure_around_an_irrational_eps_is_no_refutation(
    verdict: Verdict, monkeypatch: pytest.MonkeyPatch, *, holds: bool
) -> None:
    """A check of the interval around the eps may fail beside it; a proof on the whole interval is one for the eps."""
    around = SimpleNamespace(around=Interval(F(1), F(2), True, True))
    monkeypatch.setattr(search, "all_hold", lambda _: (Verdict.UNDECIDED, (1,), "unknown"))
    monkeypatch.setattr(search, "checked", lambda _: SimpleNamespace(verdict=verdict))
    least = search.LeastNumber("gamma", lambda _: SimpleNamespace(question=around), (), None)
    assert least._holds(F(5)) is holds
    assert least.refuted is None
