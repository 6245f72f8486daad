"""Claims about other distances of answers than the product distance: a sum over the answers that are near enough."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

import dipc
from dipc.claims.given import CellPool
from dipc.program.nearness import Nearness
from dipc.text.diagnostic import DiagnosticError

F = Fraction

DIE = """
program die;
input k : {1..4};
output x : {1..4};
output b : bool = false;
METRIC
x <- choose { 1 : exp(-eps)/4, 2 : 1/4, 3 : 1/4, 4 : 1/2 - exp(-eps)/4 };
b <- k = x
"""


def die(metric: str) -> dipc.Program:
    return dipc.load(DIE.replace("METRIC", f"metric {{ {metric} }}" if metric else ""))


def distances(metric: str, output: tuple[object, ...], answer: tuple[object, ...]) -> Fraction | None:
    program = die(metric).core
    return Nearness(program).distance({program.inputs[0]: F(2)}, output, answer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metric", "output", "answer", "expected"),
    [
        ("", (F(1), True), (F(1), True), 0),
        ("", (F(1), True), (F(2), True), None),
        ("output: discrete", (F(1), True), (F(2), True), 1),
        ("output: linf", (F(1), True), (F(4), True), 3),
        ("output: linf", (F(1), True), (F(1), False), None),
        ("output: abs(x - x')/k", (F(1), True), (F(4), False), F(3, 2)),
        ("same: x = x'", (F(1), True), (F(1), False), 0),
        ("same: x = x'; output: discrete", (F(1), True), (F(2), False), 1),
        ("same: b = b' and x <= 2 and x' <= 2", (F(1), True), (F(2), True), 0),
        ("output: max(x, x') - min(x, x')", (F(4), True), (F(2), True), 2),
    ],
)
def test_distances_of_answers(
    metric: str, output: tuple[object, ...], answer: tuple[object, ...], expected: object
) -> None:
    assert distances(metric, output, answer) == expected


def test_a_claim_sums_over_the_answers_that_are_near() -> None:
    """Pr[|x - 2| <= 1] = Pr[1] + Pr[2] + Pr[3]."""
    program = die("output: abs(x - x')")
    row = [{"k": 2, "x": 2, "b": "true"}]
    for gamma, probability in ((0, "1/4"), (1, "1/2 + exp(-eps)/4"), (2, "1")):
        report = dipc.check(program, row, beta="0", gamma=gamma)
        assert report.rows[0].probability == probability
        assert (str(report.verdict) == "accurate") is (gamma == 2)


def test_the_sum_is_that_of_single_answers() -> None:
    program = dipc.load(
        "program p; input q[1..3] : real; output a, b : bool; var r : real;"
        "metric { output: abs(q[1] - q[2]); same: a = a' or b = b'; }"
        "r <- Lap(eps, q[1]); a <- r > q[2]; r <- Lap(eps/2, q[2]); b <- r > q[3]"
    )
    u = {"q": ["0", "1", "1/2"]}
    pairs = list(itertools.product((False, True), repeat=2))
    single = {pair: program.probability(u, {"a": pair[0], "b": pair[1]}) for pair in pairs}
    assert single[True, True].enclosure(1)[0] > 0  # the library's own question is still about equal outputs
    table = [{**{f"q[{i}]": v for i, v in enumerate(u["q"], 1)}, "a": a, "b": b} for a, b in pairs]
    for gamma in (0, 1):
        report = dipc.check(program, table, beta="1", gamma=gamma)
        for row, (a, b) in zip(report.rows, pairs, strict=True):
            near = [pair for pair in pairs if gamma >= 1 or pair[0] == a or pair[1] == b]
            assert row.closed_form is not None
            assert row.closed_form.value == sum((single[pair].value for pair in near[1:]), single[near[0]].value)


def test_a_gamma_that_no_answer_meets_has_probability_zero() -> None:
    program = die("output: 1 + abs(x - x')")
    report = dipc.check(program, [{"k": 2, "x": 2, "b": "true"}], beta="1")
    assert (str(report.verdict), report.rows[0].probability) == ("accurate", "0")


def test_the_values_of_a_distance() -> None:
    """Theorem 12 needs only these values of gamma."""
    program = dipc.load(
        "program p; input q[1..3] : real; output out : {1..3} = 1; metric { output: abs(q[out] - q[out']); } out <- 2"
    )
    pool = CellPool()
    inputs = tuple(map(pool.cell, (F(5), F(1), F(5))))
    assert Nearness(program.core).distances(inputs, (pool.cell(F(1)),)) == (0, 4)
    accepted = Nearness(program.core).accepted(inputs, (pool.cell(F(1)),), F(3))
    assert [output[0].value for output in accepted] == [1, 3]


def test_real_outputs_keep_their_balls() -> None:
    text = "program p; input x : real; output y : real; METRIC y <- Lap(eps, x)"
    reports = [
        dipc.check(dipc.load(text.replace("METRIC", metric)), [{"x": 0, "y": 0}], beta="exp(-eps)", gamma=1).as_json()
        for metric in ("", "metric { output: linf; }", "metric { output: product; input: l1; }")
    ]
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["verdict"] == "accurate"


# --- mistakes --------------------------------------------------------------------------------------


def diagnostic(program: dipc.Program, row: dict[str, object]) -> tuple[str, str]:
    with pytest.raises(DiagnosticError) as caught:
        dipc.check(program, [row], beta="1")
    found = caught.value.diagnostics[0]
    return found.code, found.message


def test_a_negative_distance() -> None:
    assert diagnostic(die("output: x - x'"), {"k": 2, "x": 2, "b": True}) == (
        "E1131",
        "the distance of two answers is negative: -1",
    )


def test_a_distance_of_infinitely_many_answers() -> None:
    text = "program p; input x : real; output y : real; metric { output: abs(y - y'); } y <- Lap(eps, x)"
    assert diagnostic(dipc.load(text), {"x": 0, "y": 0}) == (
        "E1132",
        "the output `y` has infinitely many values, and the `metric` block gives its own distance between answers",
    )


def test_an_answer_that_is_left_open() -> None:
    assert diagnostic(die("output: discrete"), {"k": 2, "x": 2, "b": ""}) == (
        "E1133",
        "the cell of the output `b` is empty, so answers have no distance from it",
    )


def test_a_distance_without_a_value_names_the_input() -> None:
    code, message = diagnostic(die("output: 1/(x - 3)"), {"k": 2, "x": 2, "b": True})
    assert (code, message) in {
        ("E0702", "division by zero"),
        ("E1131", "the distance of two answers is negative: -1/2"),
    }
    code, message = diagnostic(die("output: abs(1/(x - 3))"), {"k": 2, "x": 2, "b": True})
    assert (code, message) == ("E0702", "division by zero")


def test_too_many_answers_are_undecided() -> None:
    program = dipc.load("program p; output x[1..5] : {0..9} = 0; metric { output: abs(x[1] - x'[1]); } x[1] <- 1")
    report = dipc.check(program, [{f"x[{i}]": int(i == 1) for i in range(1, 6)}], beta="0")
    assert str(report.verdict) == "undecided"
    assert (
        report.rows[0].reason == "there are 100000 answers, too many to compute the distance of each (limit `answers`)"
    )
