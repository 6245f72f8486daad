"""The texts of `dipc solve`, each kind of answer in one sentence."""

from __future__ import annotations

import pytest

import dipc
from dipc.inverse.solve import solve
from dipc.outcome.solve import headline

LAPLACE = dipc.load("program laplace; input q : real; output out : real; out <- Lap(eps, q);")
TURNS = dipc.load(
    "program turns; input x : {0..1}; output out : {0..1};"
    " if x = 0 then out <- choose { 0 : 1 - exp(-eps), 1 : exp(-eps) }"
    " else out <- choose { 0 : 1/3, 1 : 2/3 } end"
)
ROW = {"q": 0, "out": 0}


@pytest.mark.parametrize(
    ("wanted", "options", "text"),
    [
        ("eps", {"beta": "1/10", "gamma": 1}, "least eps 2.30258…; the claim holds from there on"),
        (
            "eps",
            {"beta": "exp(-eps) - exp(-eps)*(eps - 1)^2", "gamma": 1},
            "least eps 1, but the claim does not hold from there on",
        ),
        (
            "eps",
            {"beta": "1/10", "gamma": 1, "eps": "(3, 4)"},
            "no least eps is needed: the claim holds for every eps in (3, 4)",
        ),
        (
            "eps",
            {"beta": "exp(-eps) + 1 - eps", "gamma": 1},
            "no least eps: the claim holds right above 0, but not from there on",
        ),
        (
            "eps",
            {"beta": "1/10", "gamma": 1, "eps": "(2, 3), (1, 3/2)"},
            "least eps 2.30258…; the claim holds from there on",
        ),
        ("eps", {"beta": "0", "gamma": 1}, "NO SOLUTION: the claim fails for every eps in (0, ∞)"),
        ("gamma", {"beta": "1/10", "eps": "1"}, "least gamma in (2.30258, 2.30259]"),
        ("gamma", {"beta": "exp(-3*eps/2)", "eps": "1"}, "least gamma 3/2 = 1.5, exactly"),
        (
            "gamma",
            {"beta": "1/10"},
            "NO SOLUTION: no gamma suffices for every eps in (0, ∞); `--inputs all` looks for k/eps",
        ),
        ("beta", {"gamma": "1/2"}, "least beta exp(-eps/2)"),
        ("beta", {"gamma": 1, "eps": "2"}, "least beta 0.135335… at eps = 2"),
        ("alpha", {"gamma": 1, "beta": "exp(-eps)"}, "least alpha 0: the row with dd(u) > 0 holds"),
        (
            "alpha",
            {"gamma": 1, "beta": "0"},
            "NO SOLUTION: the claim holds only for an alpha so great that every row is vacuous",
        ),
    ],
)
def test_headlines(wanted: str, options: dict[str, object], text: str) -> None:
    table = [{**ROW, "dd": 1}] if wanted == "alpha" else [ROW]
    assert headline(solve(LAPLACE, table, wanted=wanted, digits=6, **options)) == text  # type: ignore[arg-type]


BUSY = dipc.load(
    "program busy; input count : real; output out : bool; ideal { out <- count >= 100 }"
    " claim { beta: exp(-alpha*eps)/2; } var noisy : real; noisy <- Lap(eps, count); out <- noisy >= 100"
)


@pytest.mark.parametrize(
    ("eps", "text"),
    [
        ("1", "least alpha 1.60943…"),
        ("1/2", "least alpha 3.21887…, that is, t/eps with t = 1.60943…"),
        ("[1, 2]", "least alpha t/eps with t = 1.60943…"),
    ],
)
def test_the_headline_for_every_real_input(eps: str, text: str) -> None:
    assert headline(solve(BUSY, inputs="all", wanted="alpha", beta="1/10", eps=eps), 6) == text


def test_the_headline_of_several_pieces() -> None:
    found = solve(TURNS, [{"x": 0, "out": 0}, {"x": 1, "out": 1}], wanted="beta")
    assert headline(found) == "least beta: a closed form in each of 2 pieces"


def test_the_headline_where_nothing_is_claimed() -> None:
    table = [{**ROW, "dd": 1}]
    assert headline(solve(LAPLACE, table, wanted="beta", alpha=2)) == "every beta suffices: every row is vacuous"
    assert headline(solve(LAPLACE, table, wanted="gamma", alpha=2, beta=0)) == (
        "least gamma 0, exactly: the claim is vacuous (dd ≤ alpha)"
    )
