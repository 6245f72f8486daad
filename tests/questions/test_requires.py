"""Programs with a precondition: inputs outside are no inputs, for dd, for rows, and for claims about all inputs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import dipc
from dipc import DiagnosticError, Verdict
from dipc.cli.main import run
from tests.strategies.preconditions import Case, random_case

NOISY = """program p;
input x : {kind};
output out : bool;
{requires}
{more}
ideal {{ out <- x >= 0 }}
var r : {kind};
r <- {law}(eps, x);
out <- r >= 0
"""


def noisy(requires: str, kind: str = "real", more: str = "") -> str:
    law = "Lap" if kind == "real" else "DLap"
    return NOISY.format(requires=f"requires {requires};" if requires else "", kind=kind, law=law, more=more)


def loaded(case: Case, *, noise: bool = True) -> dipc.Program | None:
    """The program; None if its condition is empty, which must then be refused."""
    if not case.is_empty:
        return dipc.load(case.text(noise=noise))
    with pytest.raises(DiagnosticError, match="no input satisfies") as caught:
        dipc.load(case.text(noise=noise))
    assert [each.code for each in caught.value.diagnostics] == ["E0314"]
    return None


# --- dd and rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(80))
def test_dd_is_the_distance_to_inputs_that_satisfy_the_condition(seed: int) -> None:
    case = random_case(seed)
    program = loaded(case, noise=False)
    points = [] if program is None else case.points(random.Random(seed), 8)
    if not points or program is None:
        return
    table = dipc.table(program, [{f"x{i}": str(value) for i, value in enumerate(point)} for point in points])
    assert [None if row.dd is None else row.dd.value for row in table.rows] == [
        case.distance(point) for point in points
    ]


@pytest.mark.parametrize("seed", range(25))
def test_an_input_outside_is_refused_at_its_row(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = random_case(seed)
    program = loaded(case, noise=False)
    outside = [point for point in case_grid(case) if not case.condition.holds(point)][:1]
    inside = [] if program is None else case.points(random.Random(seed), 1)
    if not outside or not inside:
        return
    lines = [",".join(map(str, point)) for point in (*inside, *outside)]
    names = ",".join(f"x{place}" for place in range(len(case.types)))
    (tmp_path / "p.dip").write_text(case.text())
    (tmp_path / "inputs.csv").write_text("\n".join([names, *lines]) + "\n")
    assert run(["table", str(tmp_path / "p.dip"), "--inputs", str(tmp_path / "inputs.csv")]) == 2
    message = capsys.readouterr().err
    assert "error[E0514]" in message
    assert "inputs.csv:3:1" in message
    given = ",".join(f"x{place}={value}" for place, value in enumerate(outside[0]))
    for command in (["prob"], ["run", "--eps", "1"]):
        assert run([command[0], str(tmp_path / "p.dip"), "--input", given, *command[1:]]) == 2
        assert "error[E0514]" in capsys.readouterr().err


def case_grid(case: Case) -> list[tuple[Fraction, ...]]:
    return Case(case.types, Always(), case.tests, case.norm).points(random.Random(1), 10_000)  # type: ignore[arg-type]


class Always:
    def holds(self, point: object) -> bool:
        return True


def test_dd_at_the_boundary_of_the_condition() -> None:
    program = dipc.load(noisy("x > -1 and x != 0 or x = 5"))
    rows = dipc.table(program, [{"x": value} for value in ("2", "-1/2", "5")]).rows
    # The infimum over x < 0 is not attained, nor is that over x > 0.
    assert [row.dd and row.dd.value for row in rows] == [2, Fraction(1, 2), 5]


def test_dd_does_not_reach_through_what_is_outside() -> None:
    program = dipc.load(noisy("x <= -2 or x >= 3"))
    rows = dipc.table(program, [{"x": value} for value in ("3", "4", "-2", "-7")]).rows
    assert [row.dd and row.dd.value for row in rows] == [5, 6, 5, 10]
    alone = dipc.load(noisy("x >= 0"))
    (row,) = dipc.table(alone, [{"x": "1"}]).rows
    assert row.dd is not None
    assert row.dd.value is None, "no input has another answer"


def test_finite_inputs_that_violate_the_condition_are_left_out() -> None:
    source = """program p; input x, y : {0..2}; output out : bool; requires x + y != 2 and not (x = 0 and y = 0);
    ideal { out <- x > y } out <- x > y"""
    table = dipc.table(dipc.load(source))
    assert [tuple(cell.text for cell in row.inputs) for row in table.rows] == [
        ("0", "1"),
        ("1", "0"),
        ("1", "2"),
        ("2", "1"),
        ("2", "2"),
    ]


# --- claims about all inputs ------------------------------------------------------------------------------------------


def random_claim(case: Case, seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    count = len(case.tests)
    half = Fraction(count, 2)
    betas = [f"{half}*exp(-dd*eps)", f"{count}*exp(-dd*eps/2)", "1/2*exp(-dd*eps)", "1/2", f"{half}*exp(-2*dd*eps)"]
    alpha, beta = chance.choice(["dd", "dd", "0", "1/2", "1"]), chance.choice(betas)
    return alpha, beta if alpha == "dd" else beta.replace("dd", f"({alpha})")


@pytest.mark.parametrize("seed", range(40))
def test_no_input_contradicts_a_verdict_about_all_that_satisfy_the_condition(seed: int) -> None:
    case = random_case(seed, ("real", "int", "mixed"))
    program = loaded(case)
    if program is None:
        return
    alpha, beta = random_claim(case, seed)
    report = dipc.check(program, inputs="all", alpha=alpha, beta=beta)
    plain = dipc.load(case.text(requires=False))
    if report.verdict is Verdict.INACCURATE:
        given = report.failures[0].input
        point = tuple(Fraction(given[f"x{place}"]) for place in range(len(case.types)))
        assert case.condition.holds(point), "a witness is an input"
        assert dipc.check(plain, case.rows([point]), alpha=alpha, beta=beta).verdict is Verdict.INACCURATE
    elif report.verdict is Verdict.ACCURATE:
        rows = case.rows(case.points(random.Random(seed), 6))
        if rows:
            assert dipc.check(plain, rows, alpha=alpha, beta=beta).verdict is Verdict.ACCURATE


@pytest.mark.parametrize("kind", ["real", "int"])
@pytest.mark.parametrize("requires", ["0 <= 1", "x <= 1 or x > 0", "not (x > 2 and x < 1)"])
def test_a_condition_that_always_holds_changes_nothing(kind: str, requires: str) -> None:
    for beta in ("1/2*exp(-dd*eps)", "1/2*exp(-2*dd*eps)"):
        first, second = (
            dipc.check(dipc.load(noisy(given, kind)), inputs="all", alpha="dd", beta=beta) for given in (requires, "")
        )
        assert first.verdict is second.verdict


@pytest.mark.parametrize(
    ("requires", "beta", "without", "with_it"),
    [
        # Inputs at a distance of at least 1 from any other answer: a greater error is claimed to be impossible.
        ("abs(x) >= 1", "1/2*exp(-eps)", "inaccurate", "accurate"),
        # dd is twice as large: the claim about dd is stronger.
        ("x <= -2 or x >= 2", "1/2*exp(-dd*eps)", "accurate", "inaccurate"),
        # There is one answer left, and dd is infinite.
        ("x >= 0", "1/2*exp(-dd*eps)", "accurate", "inaccurate"),
        ("x >= 0", "1/2", "accurate", "accurate"),
    ],
)
def test_a_condition_makes_a_false_claim_true_and_a_true_one_false(
    requires: str, beta: str, without: str, with_it: str
) -> None:
    verdicts = [
        dipc.check(dipc.load(noisy(given)), inputs="all", alpha="dd" if "dd" in beta else "0", beta=beta).verdict
        for given in ("", requires)
    ]
    assert verdicts == [without, with_it]


def test_tighten_keeps_to_the_condition() -> None:
    # Pr[wrong] = e^(-|x|·eps)/2 and dd = |x| + 2 at the edges: the supremum of their quotient is at x = 2.
    program = dipc.load(noisy("x <= -2 or x >= 2", more="claim { alpha: dd; beta: exp(-alpha*eps/2); }"))
    assert dipc.tighten(program, inputs="all").factor == (Fraction(1, 2), Fraction(1, 2))


def test_an_answer_that_moves_is_near_only_where_the_condition_has_room() -> None:
    source = "program p; input x : real; output out : real; requires {}; ideal {{ out <- x }} out <- Lap(eps, x)"
    claim = {"alpha": "1/2", "beta": "0", "gamma": "0"}
    # dd is 0 at each input of an interval, so that nothing is claimed; there is no other input than 3.
    assert dipc.check(dipc.load(source.format("x >= 3")), inputs="all", **claim).verdict is Verdict.ACCURATE
    assert dipc.check(dipc.load(source.format("x = 3")), inputs="all", **claim).verdict is not Verdict.ACCURATE


def test_an_ideal_need_not_be_defined_outside() -> None:
    source = (
        """program p; input x : real; output out : bool; {} ideal {{ if x > 0 then out <- true end }} out <- true"""
    )
    with pytest.raises(DiagnosticError, match="E1102"):
        dipc.check(dipc.load(source.format("")), inputs="all", beta="1/2")
    assert dipc.check(dipc.load(source.format("requires x > 0;")), inputs="all", beta="1/2").verdict is Verdict.ACCURATE


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("requires", ["x > 1 and x < 1", "x > 1 and x <= 1", "min(x, 1) > 1", "not (0 <= 1)"])
@pytest.mark.parametrize("kind", ["real", "int"])
def test_an_empty_condition_is_an_error_and_no_proof(requires: str, kind: str) -> None:
    with pytest.raises(DiagnosticError, match="no input satisfies `requires`"):
        dipc.load(noisy(requires, kind))


GUARDED = (
    "program p; input x : {{0, 1, 2}}; input q[1..2] : {{0, 1}}; requires {requires}; output b : bool; b <- x >= 1"
)


@pytest.mark.parametrize(
    ("requires", "allowed"),
    [
        ("x = 0 or 2/x > 1", [0, 1]),
        ("not (x > 0 and 2/x <= 1)", [0, 1]),
        ("x > 0 and 2/x > 1", [1]),
        ("x = 0 or q[x] = q[x]", [0, 1, 2]),
    ],
)
def test_a_condition_on_finite_inputs_is_evaluated_no_further_than_needed(requires: str, allowed: list[int]) -> None:
    program = dipc.load(GUARDED.format(requires=requires))
    assert program.allowed is not None
    inputs = product(range(3), range(2), range(2))
    found = [values for values in inputs if program.allowed.allows(tuple(map(Fraction, values)))]
    assert found == list(product(allowed, range(2), range(2)))


@pytest.mark.parametrize("requires", ["2/x > 1 or x = 0", "x = 1 or 2/x > 1"])
def test_a_condition_without_a_value_is_refused(requires: str) -> None:
    with pytest.raises(DiagnosticError, match="division by zero"):
        dipc.load(GUARDED.format(requires=requires))


def test_integers_may_be_none_where_reals_are() -> None:
    assert dipc.load(noisy("2*x = 1")).inputs == ("x",)
    with pytest.raises(DiagnosticError, match="E0314"):
        dipc.load(noisy("2*x = 1", "int"))


def test_the_constants_in_an_empty_condition_are_named() -> None:
    source = noisy("x >= low and x <= 3").replace("input x", "const low = 0;\ninput x")
    dipc.load(source)
    with pytest.raises(DiagnosticError, match="with low = 4"):
        dipc.load(source, low=4)


# --- every number of queries ------------------------------------------------------------------------------------------

THRESHOLDS = """program sparse;
const m = 2, T = 3;
input q[1..m] : real;
output out[1..m] : bool = false;
requires {};
claim {{ alpha: dd; beta: m*exp(-alpha*eps/4); }}
ideal {{ for i in 1..m do out[i] <- q[i] >= T end }}
var r, s : real;
s <- Lap(eps/2, T);
for i in 1..m do r <- Lap(eps/2, q[i]); out[i] <- r >= s end
"""
LARGEST = Path("benchmarks/noisy_max.dip").read_text(encoding="utf-8")
ALL = "min(i in 1..m : q[i])"


@pytest.mark.parametrize(
    ("requires", "verdict"),
    [
        (f"{ALL} >= 0 and max(i in 1..m : q[i]) <= 10", "accurate"),
        (f"{ALL} > 0", "accurate"),
        (f"{ALL} >= 2 and T >= 1", "accurate"),
        # There is no other answer than one: dd is infinite, and beta is 0 there.
        (f"{ALL} >= 3", "inaccurate"),
        (f"{ALL} >= 4", "inaccurate"),
        ("max(i in 1..m : q[i]) < 3", "inaccurate"),
        # Not one bound for each query.
        (f"{ALL} >= 0 and q[1] <= 7", "undecided"),
        ("max(i in 1..m : q[i]) >= -100", "undecided"),
        ("min(i in 1..m : q[i] - m) >= -100", "undecided"),
    ],
)
def test_every_number_of_queries(requires: str, verdict: str) -> None:
    program = dipc.load(THRESHOLDS.format(requires))
    report = dipc.check(program, inputs="all", for_all="m")
    assert report.verdict == verdict or (report.verdict, verdict) == ("undecided", "inaccurate")
    for number in (1, 2, 3):
        alone = dipc.check(dipc.load(THRESHOLDS.format(requires), m=number), inputs="all")
        if verdict == "accurate":
            assert alone.verdict is Verdict.ACCURATE
        elif alone.verdict is Verdict.INACCURATE:
            assert report.verdict is not Verdict.ACCURATE


def test_the_largest_of_every_number_of_bounded_queries() -> None:
    bounded = LARGEST.replace(
        "output", "requires min(i in 1..m : q[i]) >= 0 and max(i in 1..m : q[i]) <= 5;\noutput", 1
    )
    assert dipc.check(dipc.load(bounded), inputs="all", for_all="m").verdict is Verdict.ACCURATE
    same = LARGEST.replace("output", "requires min(i in 1..m : q[i]) >= 1 and max(i in 1..m : q[i]) <= 1;\noutput", 1)
    assert dipc.check(dipc.load(same), inputs="all", for_all="m").verdict is not Verdict.ACCURATE


def test_a_number_without_inputs_is_named() -> None:
    source = THRESHOLDS.format("min(i in 1..m : q[i]) >= 4 - m and max(i in 1..m : q[i]) <= m")
    report = dipc.check(dipc.load(source), inputs="all", for_all="m")
    assert report.verdict is not Verdict.ACCURATE
    reasons = [row.reason or "" for row in report.rows]
    assert any("m = 1" in reason and "no input satisfies `requires`" in reason for reason in reasons)


def test_privacy_for_every_number_is_refused_unless_each_query_is_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.dip").write_text(THRESHOLDS.format("sum(i in 1..m : q[i]) >= 0"))
    command = ["privacy", str(tmp_path / "p.dip"), "--adjacent", "linf:1", "--inputs", "all", "--for-all", "m"]
    assert run(command) == 2
    assert "error[E1117]" in capsys.readouterr().err


# --- inputs that a question selects -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "beta", "verdict"),
    [
        # dd is that of the program: the distance to inputs that are not selected, too.
        ("x >= 0", "1/2*exp(-dd*eps)", "accurate"),
        ("x <= -2 or x >= 2", "1/2*exp(-dd*eps)", "accurate"),
        ("x > 1", "1/2*exp(-2*dd*eps)", "inaccurate"),
        ("x = 0 and x <= 1", "1/2", "accurate"),
        ("x = 0 and x <= 1", "1/3", "inaccurate"),
        ("x >= 1 and x <= 2", "1/2*exp(-eps)", "accurate"),
        ("not x < 1", "1/2*exp(-2*eps)", "inaccurate"),
    ],
)
@pytest.mark.parametrize("kind", ["real", "int"])
def test_a_condition_on_inputs_selects_them(kind: str, selection: str, beta: str, verdict: str) -> None:
    options = {"alpha": "dd" if "dd" in beta else "0", "beta": beta}
    report = dipc.check(dipc.load(noisy("", kind)), inputs=selection, **options)
    if kind == "real" or verdict == "inaccurate":
        assert report.verdict == verdict
    if report.verdict is Verdict.INACCURATE:
        x = Fraction(report.failures[0].input["x"])
        within = {"x >= 0": x >= 0, "x > 1": x > 1, "not x < 1": x >= 1, "x <= -2 or x >= 2": abs(x) >= 2}
        assert within.get(selection, x in (0, 1, 2))


@pytest.mark.parametrize("seed", range(25))
def test_no_selected_input_contradicts_a_verdict(seed: int) -> None:
    case = random_case(seed, ("real", "int", "mixed"))
    if case.is_empty:
        return
    alpha, beta = random_claim(case, seed)
    program = dipc.load(case.text(requires=False))
    report = dipc.check(program, inputs=case.condition.text() + " and 0 <= 1", alpha=alpha, beta=beta)
    if report.verdict is Verdict.INACCURATE:
        given = report.failures[0].input
        assert case.condition.holds(tuple(Fraction(given[f"x{place}"]) for place in range(len(case.types))))
        assert (
            dipc.check(program, [{**given, **report.failures[0].output}], alpha=alpha, beta=beta).verdict
            == "inaccurate"
        )
    elif report.verdict is Verdict.ACCURATE:
        points = case.points(random.Random(seed), 8)
        rows = [{f"x{place}": str(value) for place, value in enumerate(point)} for point in points]
        if rows:
            assert dipc.check(program, inputs=rows, alpha=alpha, beta=beta).verdict is Verdict.ACCURATE


def test_a_selection_of_finite_inputs() -> None:
    source = "program p; input n : {0..9}; output o : bool; requires n != 4; ideal { o <- n >= 5 } o <- n >= 5"
    table = dipc.check(dipc.load(source), inputs="n >= 3 and n <= 6", beta="1")
    assert [row.input["n"] for row in table.rows] == ["3", "5", "6"]


def test_pairs_of_selected_inputs_have_both_ends_inside() -> None:
    program = dipc.load("program p; input q : real; output o : real; o <- q + Lap(eps)")
    for inputs, verdict in (
        ("q >= 3 and q <= 4", "private"),
        ("q >= 3", "not private"),
        ("q = 0 or q >= 2", "not private"),
    ):
        assert dipc.check_privacy(program, "linf:2", inputs=inputs, budget="eps").verdict == verdict


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("x > 1 and x < 1", "no input satisfies"),
        ("out >= 0", "is neither an input nor a constant"),
        ("x >= ", "E01"),
        (["x >= 0", "x = 1..2 and"], "E01"),
        (["x >= 3", "x = 1..2"], "no input satisfies"),
    ],
)
def test_a_selection_that_is_empty_or_wrong_is_refused(inputs: str | list[str], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        dipc.check(dipc.load(noisy("")), inputs=inputs, beta="1/2")
    assert message in str(caught.value) or any(message in each.code for each in caught.value.diagnostics)


def test_what_does_not_follow_a_selection_refuses_it() -> None:
    program = dipc.load(noisy(""))
    report = dipc.check(program, inputs="x >= 1", beta="1/2", keep_proofs=True)
    with pytest.raises(ValueError, match="does not follow a selection"):
        dipc.certify(report)
    with pytest.raises(DiagnosticError, match=r"does not cover|open"):
        dipc.check(dipc.load(THRESHOLDS.format(f"{ALL} >= 0")), inputs="q[1] >= 1", for_all="m")


def test_a_condition_beside_a_grid_selects_among_its_inputs() -> None:
    program = dipc.load(
        "program p; input x : real; output y : real; requires x >= 0; ideal { y <- x } y <- x + Lap(eps)"
    )
    both = ["x = -1..3", "x >= 2 or x < 1"]
    claim = {"beta": "exp(-eps)", "gamma": 1}
    assert [row.input["x"] for row in dipc.check(program, inputs=both, **claim).rows] == ["0", "2", "3"]
    assert [row.inputs[0].text for row in dipc.table(program, both).rows] == ["0", "2", "3"]
    assert len(dipc.expected_error(program, inputs=both).rows) == 3
    assert dipc.expected_error(program, inputs="x >= 2").rows[0].where == "x >= 0, x >= 2"
    assert dipc.check_privacy(program, "linf:1", inputs=both, budget="eps").verdict == "private"
    assert dipc.check_privacy(program, "linf:2", inputs=both, budget="eps").verdict == "not private"


def test_a_table_of_selected_finite_inputs() -> None:
    source = "program p; input n : {0..9}; output o : bool; requires n != 4; ideal { o <- n >= 5 } o <- n >= 5"
    table = dipc.table(dipc.load(source), "n >= 3 and n <= 6")
    assert [(row.inputs[0].text, row.dd and row.dd.text) for row in table.rows] == [("3", "2"), ("5", "2"), ("6", "3")]


CLIPPED = """program p; const B = 10; input x : real; output o : bool = false;
ideal { o <- min(max(x, 0), B) >= 5 } claim { alpha: 0; beta: 1/2; } var r : real;
r <- Lap(eps, min(max(x, 0), B)); o <- r >= 5"""

VOTES = """program votes; const n = 8; input x[1..n] : {0..1}; output most : bool; var y : {0..1}; var s : {0..n} = 0;
ideal { most <- 2*sum(i in 1..n : x[i]) > n } claim { alpha: 0; beta: 1/2; }
for i in 1..n do y <- choose { x[i] : 3/4, 1 - x[i] : 1/4 }; s <- s + y end; most <- 2*s > n"""


@pytest.mark.parametrize(
    ("source", "selection", "beta", "verdict"),
    [
        (CLIPPED, "x >= 20", "exp(-5*eps)/2", "accurate"),  # inputs beyond the clamp have the law of one at its end
        (CLIPPED, "x >= 20", "exp(-6*eps)/2", "inaccurate"),
        (CLIPPED, "x >= 20 or x <= -3", "exp(-5*eps)/2", "accurate"),
        (CLIPPED, "x >= 7 or x <= -3", "exp(-2*eps)/2", "accurate"),
        (VOTES, "x[1] >= 1", "9/10", "accurate"),
        (VOTES, "x[1] = 1 and x[2] = 1 and x[3] = 1 and x[4] = 1 and x[5] = 1 and x[6] = 1", "2/5", "accurate"),
        (VOTES, "x[1] = 1 and x[2] = 1 and x[3] = 1 and x[4] = 1", "2/5", "inaccurate"),
    ],
)
def test_selected_inputs_are_those_of_a_requirement(source: str, selection: str, beta: str, verdict: str) -> None:
    """A condition selects the same inputs as a requirement of the program, and for alpha 0 dd makes no difference."""
    required = source.replace("output", f"requires {selection}; output", 1)
    chosen = dipc.check(dipc.load(source), inputs=selection, beta=beta)
    whole = dipc.check(dipc.load(required), inputs="all", beta=beta)
    assert chosen.verdict == whole.verdict == verdict
    assert len(chosen.rows) == len(whole.rows)
    asked = ((source, selection), (required, "all"))
    least = [dipc.solve(dipc.load(text), wanted="beta", inputs=given, eps="1").beta for text, given in asked]
    assert least[0] == least[1]


def test_classes_of_selected_inputs_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="does not cover a selection of inputs"):
        dipc.check(dipc.load(VOTES), inputs="x[1] >= x[2]", beta="1", classes=True)


# --- conditions without a value ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "requires", "inputs", "message"),
    [
        ("input q[1..2] : real; input n : {1..3};", "q[n] >= 1", ["q = 0..1", "n = 1..3"], "n = 3"),
        ("input q[1..2] : real; input n : {0..2};", "q[1] >= 1/n", ["q = 0..1", "n = 0..2"], "n = 0"),
        ("input q[1..2] : {0..3}; input n : {1..3};", "q[n] >= 1", ["q = 0..3", "n = 1..3"], "n = 3"),
        ("input q[1..2] : {0..3};", "1/q[1] >= 1/3", ["q = 0..3"], "q[1] = 0"),
    ],
)
def test_an_input_at_which_the_condition_has_no_value_is_named(
    declared: str, requires: str, inputs: list[str], message: str
) -> None:
    text = f"program p; {declared} output o : bool; requires {requires}; ideal {{ o <- q[1] >= q[2] }} o <- true"
    for ask in (
        lambda: dipc.check(dipc.load(text), inputs=inputs, alpha="0", beta="1"),
        lambda: dipc.check_privacy(dipc.load(text), "hamming:1", inputs=inputs),
    ):
        with pytest.raises(DiagnosticError, match="this happens at the input") as caught:
            ask()
        assert message in str(caught.value)
