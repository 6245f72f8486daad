"""Claims for every m about programs that read their queries through totals: never more than each m allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

import dipc
from dipc.program.program import Program
from dipc.questions.every_number import totals
from dipc.questions.privacy.adjacency import Distance, Neighborhood, parse_adjacency


def program(
    body: str, claim: str, queries: str = "real", more: str = "output y : real;", ideal: str = "noiseless"
) -> str:
    return (
        f"program p; const m = 3, T = 5, B = 4; input q[1..m] : {queries}; {more}\n"
        f"ideal {{ {ideal} }} claim {{ {claim} }}\n{body}\n"
    )


ABOUT_ALL = "alpha: 0; gamma: 3; beta: exp(-3*eps);"
PROVED = {
    "a sum": program("y <- sum(i in 1..m : q[i]) + Lap(eps)", ABOUT_ALL),
    "a loop of clamps": program(
        "s <- 0; for i in 1..m do c <- min(max(q[i], 0), B); s <- s + c end; y <- s + Lap(eps)",
        ABOUT_ALL,
        more="output y : real; var s, c : real;",
    ),
    "a count": program("y <- Lap(eps, count(i in 1..m : q[i] >= T))", ABOUT_ALL),
    "a counting loop": program(
        "for i in 1..m do if q[i] = 1 then s <- s + 1 end end; y <- DLap(eps, s)",
        ABOUT_ALL,
        "{0, 1}",
        "output y : int; var s : {0..m} = 0;",
    ),
    "a maximum": program(
        "y <- max(i in 1..m : q[i]) + Lap(eps) >= T", "alpha: dd; beta: exp(-alpha*eps)/2;", more="output y : bool;"
    ),
    "a loop that keeps the least": program(
        "s <- q[1]; for i in 2..m do if q[i] < s then s <- q[i] end end; y <- s + Lap(eps) >= T",
        "alpha: dd; beta: exp(-alpha*eps)/2;",
        more="output y : bool; var s : real;",
    ),
    "a sum in l1": program(
        "y <- sum(i in 1..m : q[i]) + Lap(eps) >= T",
        "alpha: dd; beta: exp(-alpha*eps)/2;",
        more="output y : bool; metric { input: l1; }",
    ),
}

OTHERS = {
    "the last query of a loop": program(
        "for i in 1..m do c <- q[i]; s <- s + c end; y <- s + c + Lap(eps)",
        ABOUT_ALL,
        more="output y : real; var c : real; var s : real = 0;",
    ),
    "an output of a loop": program(
        "for i in 1..m do y <- q[i]; s <- s + y end; y <- y + Lap(eps)",
        ABOUT_ALL,
        more="output y : real; var s : real = 0;",
    ),
    "a neighbor": program("y <- sum(i in 1..m - 1 : q[i + 1]) + Lap(eps)", ABOUT_ALL),
    "a weighted sum": program("y <- sum(i in 1..m : i*q[i]) + Lap(eps)", ABOUT_ALL),
    "a query beside": program("y <- sum(i in 1..m : q[i]) + q[1] + Lap(eps)", ABOUT_ALL),
    "m itself": program("y <- sum(i in 1..m : q[i]) + m + Lap(eps)", ABOUT_ALL),
    "a variable in the summand": program(
        "s <- Lap(eps); y <- sum(i in 1..m : max(q[i], s)) + Lap(eps)", ABOUT_ALL, more="output y : real; var s : real;"
    ),
    # a step by 1 of every query moves the sum by m
    "a sum in linf": program(
        "y <- sum(i in 1..m : q[i]) + Lap(eps) >= T", "alpha: dd; beta: exp(-alpha*eps)/2;", more="output y : bool;"
    ),
    # with two of three queries above, dd is 1, as all inputs are finite
    "a count with dd": program(
        "y <- count(i in 1..m : q[i] = 1) + Lap(eps) >= 2",
        "alpha: dd; beta: exp(-alpha*eps)/2;",
        "{0, 1}",
        "output y : bool;",
    ),
}


#: Claims that fail from some m on, beyond those that are decided one by one: a total between two integers, or between
#: two multiples of its unit.
BETWEEN = {
    "halves": ("sum(i in 1..m : q[i])", "{0, 1/2}", "7/2"),
    "half a query": ("sum(i in 1..m : q[i]/2)", "{0, 1}", "7/2"),
    "a constant that is no integer": ("sum(i in 1..m : H*q[i])", "{0, 1}", "9/2"),
    "half a maximum": ("max(i in 1..m : q[i]/2)", "{0, 1}", "1/2"),
    "twos and a one": ("sum(i in 1..m : q[i])", "{0, 1, 2}", "13"),
}


@pytest.mark.parametrize(("total", "queries", "value"), BETWEEN.values(), ids=BETWEEN)
def test_a_total_may_have_values_between_integers_and_units(total: str, queries: str, value: str) -> None:
    body = f"const H = 1/2; if {total} > {value} - 1/8 and {total} < {value} + 1/8 then y <- true end"
    source = program(body, "alpha: 0; beta: exp(-eps)/1000;", queries, "output y : bool = false;", "y <- false")
    source = source.replace("const H = 1/2; ", "").replace("B = 4;", "B = 4, H = 1/2;")
    loaded = dipc.load(source)
    assert dipc.check(loaded, inputs="all", for_all="m").verdict != "accurate"
    assert dipc.check_privacy_for_all(loaded, "m", "hamming:1", budget="10*eps").verdict != "private"


#: Runs that return true at some queries, from which the ideal returns false: a range has one value for each j, and each
#: round of a loop reads what the one before assigned.
CHANGING = {
    "ends that change": ("for j in 1..2 do t[j] <- sum(i in j..m : q[i]) end; y <- t[1] > t[2]", "t[1..2] : real = 0"),
    "ends in a variable": (
        "for j in 1..2 do t[j] <- max(i in 1..min(j, m) : q[i]) end; y <- t[2] > t[1]",
        "t[1..2] : real = 0",
    ),
    "the round before": (
        "for i in 1..3 do s <- s + z; z <- i end; y <- sum(i in 1..m : q[i]) > T and s > 2",
        "s, z : real = 0",
    ),
    "a condition that ends the steps": (
        "for i in 1..3 do if s < 2 then s <- s + 1 end end; y <- sum(i in 1..m : q[i]) > T and s < 5/2",
        "s : real = 0",
    ),
}


@pytest.mark.parametrize(("body", "variables"), CHANGING.values(), ids=CHANGING)
def test_a_total_has_one_value_in_a_run(body: str, variables: str) -> None:
    claim = "alpha: 0; beta: exp(-eps)/1000;"
    source = program(body, claim, more=f"output y : bool; var {variables};", ideal="y <- false")
    assert dipc.check(dipc.load(source, m=2), inputs="all").verdict == "inaccurate"
    assert dipc.check(dipc.load(source), inputs="all", for_all="m").verdict != "accurate"


@pytest.mark.parametrize("queries", ["{0..m}", "{0, 1/m}", "d"])
def test_the_values_of_a_query_are_the_same_for_every_number(queries: str) -> None:
    """A query is 0 or 1 at m = 1. It is 0, 1 or 2, or 0 or 1/2, at m = 2."""
    declared = "output y : bool; domain d = {0..m};" if queries == "d" else "output y : bool;"
    for test in ("> 1", "< 2"):
        source = program(f"y <- sum(i in 1..m : q[i]) {test}", "alpha: 0; beta: exp(-eps);", queries, declared)
        loaded = dipc.load(source, m=1)
        assert totals.for_every_input(loaded, "m") is None
        assert totals.for_privacy(loaded, "m", Neighborhood(Distance.HAMMING, Fraction(1))) is None


def test_a_budget_for_the_widths_at_one_number_is_not_one_for_every_number() -> None:
    source = program("y <- sum(i in 1..m : q[i]) + Lap(eps)", ABOUT_ALL, "{0..m}")
    assert dipc.check_privacy_for_all(dipc.load(source), "m", "hamming:1", budget="3*eps").verdict == "not private"


@pytest.mark.parametrize("source", PROVED.values(), ids=PROVED)
def test_totals_prove_what_holds_for_each_number(source: str) -> None:
    loaded = dipc.load(source)
    report = dipc.check(loaded, inputs="all", for_all="m")
    assert report.verdict == "accurate"
    for number in (1, 2, 4):
        assert dipc.check(dipc.load(source, m=number), inputs="all").verdict == "accurate"
    tighter = source.replace("beta: exp", "beta: 9/10*exp")
    assert dipc.check(dipc.load(tighter), inputs="all", for_all="m").verdict != "accurate"


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_other_readings_are_not_totals(source: str) -> None:
    loaded = dipc.load(source)
    at_distance = "alpha: dd" in source
    reduce = totals.at_distances if at_distance else totals.for_every_input
    assert reduce(loaded, "m") is None


def _pairs(random: Random, queries: str, within: Neighborhood, number: int) -> tuple[list[Fraction], list[Fraction]]:
    while True:
        choices = [Fraction(value) for value in ((0, 1, 3) if queries.startswith("{") else (-6, -1, 0, 1, 2, 5, 7))]
        one = [random.choice(choices) for _ in range(number)]
        two = [random.choice(choices) if random.random() < 0.5 else value for value in one]
        if within.relates(one, two):
            return one, two


SUMMANDS = ["q[i]", "min(max(q[i], -1), B)", "2*q[i] - 1", "max(q[i], 1 - q[i])/3", "abs(min(q[i], 2))"]


@pytest.mark.parametrize("adjacent", ["hamming:1", "hamming:2", "l1:2", "linf:3/2"])
def test_units_bound_the_differences_of_totals(adjacent: str) -> None:
    """Totals of random adjacent queries differ by at most their units, and the units of sums and counts are reached."""
    random = Random(7)
    compared = 0
    for function, queries, summand in product(("sum", "min", "max", "count"), ("real", "{0, 1, 3}"), SUMMANDS):
        text = f"{summand} >= 1" if function == "count" else summand
        body = f"y <- {function}(i in 1..m : {text}) + Lap(eps)"
        loaded = dipc.load(program(body, ABOUT_ALL, queries), m=1)
        within = parse_adjacency(adjacent, loaded.core)
        assert isinstance(within, Neighborhood)
        reduced = totals.for_privacy(loaded, "m", within)
        if reduced is None:
            continue
        unit = _unit(reduced[0]) * reduced[1]
        for _ in range(60):
            compared += 1
            values = []
            for point in _pairs(random, queries, within, random.choice((1, 2, 3))):
                terms = [eval(text, {"q": {1: x}, "i": 1, "B": 4, "min": min, "max": max, "abs": abs}) for x in point]
                values.append({"sum": sum, "count": sum, "min": min, "max": max}[function](map(Fraction, terms)))
            assert abs(values[0] - values[1]) <= unit, (function, queries, text)
    assert compared > 300


def _unit(reduced: Program) -> Fraction:
    """The factor of the total in the reduced program `y <- unit*total1 + Lap(eps)`."""
    text = reduced.core.source.text
    before, _, _ = text.partition("*total1")
    return Fraction(before.rsplit(" ", 1)[1].strip("()")) if "*total1" in text else Fraction(1)


@pytest.mark.parametrize(
    ("body", "adjacent", "constant"),
    [
        ("y <- sum(i in 1..m : q[i]) + Lap(eps)", "l1:1", 1),
        ("y <- sum(i in 1..m : min(max(q[i], 0), B)) + Lap(eps)", "hamming:1", 4),
        ("y <- sum(i in 1..m : min(max(q[i], 0), B)) + Lap(eps)", "l1:3/2", Fraction(3, 2)),
        ("y <- count(i in 1..m : q[i] > T) + Lap(eps/2)", "hamming:1", Fraction(1, 2)),
        ("y <- max(i in 1..m : q[i]) + Lap(eps)", "linf:2", 2),
        ("y <- max(i in 1..m : q[i]) - min(i in 1..m : q[i]) + Lap(eps)", "linf:1", 2),
    ],
)
def test_privacy_for_every_number(body: str, adjacent: str, constant: Fraction) -> None:
    source = program(body, ABOUT_ALL)
    report = dipc.check_privacy_for_all(dipc.load(source), "m", adjacent, budget=f"{constant}*eps")
    assert report.verdict == "private"
    least = dipc.check_privacy(dipc.load(source, m=2), adjacent, inputs="all", budget=f"{constant}*eps")
    assert least.verdict == "private"
    smaller = Fraction(9, 10) * constant
    refuted = dipc.check_privacy_for_all(dipc.load(source), "m", adjacent, budget=f"{smaller}*eps")
    assert refuted.verdict != "private"
