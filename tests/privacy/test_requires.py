"""Privacy of programs with a precondition: both inputs of a pair satisfy it."""

from __future__ import annotations

import random
from contextlib import ExitStack
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import dipc
from dipc import DiagnosticError
from dipc.cli.main import run
from dipc.options import Options
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from tests.strategies.preconditions import Condition, Junction, box, random_case, random_condition

SUM = "program p; input q : real; output o : real; {} o <- q + Lap(eps)"
VECTOR = """program sv; input q[1..2] : real; output o[1..2] : bool; {} var s, r : real; s <- Lap(eps/2, 0);
for i in 1..2 do r <- Lap(eps/4, q[i]); o[i] <- r >= s end"""
COUNT = "program p; input q : int; output o : int; {} o <- q + DLap(eps)"
CLAMPED = """program p; input q : real; output o : real; {} var c : real; if q > 1 then c <- 1 else if q < 0 then c <- 0
else c <- q end end; o <- Lap(eps, c)"""


def constant(source: str, adjacent: str, inputs: str = "all") -> Constant:
    program = dipc.load(source)
    with ExitStack() as stack:
        return PrivacyQuestion(program, adjacent, inputs, Options().engine(stack, program)).constant(None)


# --- all inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "requires", "adjacent", "value"),
    [
        (SUM, "q >= 0", "linf:1", "1"),
        (SUM, "q >= 0 and q <= 1/2", "linf:1", "1/2"),
        # The only adjacent inputs are on one side: the middle of 0 and 5 is no input.
        (SUM, "q = 0 or q >= 5", "linf:6", "6"),
        (SUM, "q = 0 or q = 1/4 or q >= 9 and q <= 10", "linf:1", "1"),
        (SUM, "q = 0 or q = 1/4", "linf:1", "1/4"),
        # `hamming` does not scale where moves have a bound.
        (SUM, "q >= 0 and q <= 3", "hamming:1", "3"),
        (VECTOR, "min(q[1], q[2]) >= 0 and max(q[1], q[2]) <= 10", "linf:1", "1/2"),
        (VECTOR, "min(q[1], q[2]) >= 0 and max(q[1], q[2]) <= 10", "hamming:1", "5/2"),
        (VECTOR, "min(q[1], q[2]) >= 0 and max(q[1], q[2]) <= 10", "hamming:2", "5"),
        (VECTOR, "q[1] + q[2] >= 0 and q[1] + q[2] <= 1/2", "hamming:1", "1/8"),
        (VECTOR, "q[1] = q[2]", "l1:1", "1/4"),
        (COUNT, "q >= 0 and q <= 4", "hamming:1", "4"),
        (COUNT, "q >= 0 and q <= 4 or q = 9", "linf:5", "5"),
        (COUNT, "2*q >= 1 and 2*q <= 5", "linf:7", "1"),
        (CLAMPED, "q >= 1/2", "hamming:1", "1/2"),
        (CLAMPED, "q <= 1/4 or q >= 3/4 and q <= 2", "linf:1/2", "1/2"),
    ],
)
def test_the_constant_is_that_of_moves_between_two_inputs(
    source: str, requires: str, adjacent: str, value: str
) -> None:
    found = constant(source.format(f"requires {requires};"), adjacent)
    assert found.proved == Fraction(value)
    if source is not CLAMPED:
        assert found.refuted_below == Fraction(value)


@pytest.mark.parametrize("requires", ["q >= 0", "q <= -2 or q >= 3"])
def test_an_input_that_moves_without_bound_hides_nothing_under_hamming(requires: str) -> None:
    found = constant(SUM.format(f"requires {requires};"), "hamming:1")
    assert (found.proved, found.refuted_below) == (None, None)


def test_a_supremum_that_is_not_attained_is_not_refuted() -> None:
    found = constant(SUM.format("requires q > 0 and q < 1/2;"), "linf:1")
    assert found.proved == Fraction(1, 2)
    assert found.refuted_below is not None
    assert Fraction(49, 100) < found.refuted_below < Fraction(1, 2)


@pytest.mark.parametrize("requires", ["q[1] = q[2]", "q[1] + q[2] = 0", "q[1] = 3 and q[2] = 1"])
def test_no_two_adjacent_inputs_are_an_error(requires: str) -> None:
    with pytest.raises(DiagnosticError, match="no two of the inputs are adjacent"):
        constant(VECTOR.format(f"requires {requires};"), "hamming:1")


def test_no_two_adjacent_integers_are_an_error() -> None:
    with pytest.raises(DiagnosticError, match="no two of the inputs are adjacent"):
        constant(COUNT.format("requires q = 0 or q = 5;"), "linf:4")


def random_requires(seed: int) -> Condition:
    chance = random.Random(seed)
    return Junction("and", (random_condition(chance, 2, chance.choice([0, 1, 1, 2]), whole=False), box(2, -1, 2)))


@pytest.mark.parametrize("adjacent", ["linf:1", "l1:1", "hamming:1"])
@pytest.mark.parametrize("seed", range(12))
def test_no_pair_of_inputs_contradicts_the_constant(seed: int, adjacent: str) -> None:
    condition = random_requires(seed)
    text = condition.text().replace("x0", "q[1]").replace("x1", "q[2]")
    try:
        dipc.load(VECTOR.format(f"requires {text};"))
    except DiagnosticError as error:
        assert "no input satisfies" in str(error)  # noqa: PT017
        return
    grid = [Fraction(number, 2) for number in range(-3, 6)]
    points = [point for point in product(grid, repeat=2) if condition.holds(point)]
    rows = [{"q[1]": str(a), "q[2]": str(b)} for a, b in random.Random(seed).sample(points, min(12, len(points)))]
    try:
        found = constant(VECTOR.format(f"requires {text};"), adjacent)
    except DiagnosticError as error:
        assert "adjacent" in str(error)  # noqa: PT017
        with pytest.raises(DiagnosticError, match="adjacent"):
            constant_at(VECTOR.format(""), adjacent, rows)
        return
    if found.at is not None:
        for given in (found.at.input, found.at.adjacent):
            assert condition.holds((Fraction(given["q[1]"] or 0), Fraction(given["q[2]"] or 0)))
    try:
        seen = constant_at(VECTOR.format(""), adjacent, rows)
    except DiagnosticError:
        return
    assert seen.refuted_below is not None
    assert found.proved is not None
    assert seen.refuted_below <= found.proved
    assert (found.refuted_below or 0) <= found.proved


def constant_at(source: str, adjacent: str, rows: list[dict[str, str]]) -> Constant:
    program = dipc.load(source)
    with ExitStack() as stack:
        return PrivacyQuestion(program, adjacent, rows, Options().engine(stack, program)).constant(None)


def test_deltas_come_from_a_pair_that_is_allowed() -> None:
    normal = "program p; input q : real; output o : real; {} o <- q + Gauss(1/eps)"
    for source in (normal, SUM):
        for adjacent, requires in (("linf:5", "q >= 3 and q <= 4"), ("hamming:1", "q >= 3 and q <= 4")):
            bounded, plain = source.format(f"requires {requires};"), source.format("")
            there, here = delta(bounded, adjacent), delta(plain, "linf:1")
            assert there == here


def delta(source: str, adjacent: str) -> tuple[Fraction, Fraction]:
    program = dipc.load(source)
    with ExitStack() as stack:
        question = PrivacyQuestion(program, adjacent, "all", Options().engine(stack, program))
        return question.delta_at(Fraction(1, 2), Fraction(1))


# --- listed pairs -----------------------------------------------------------------------------------------------------


def test_pairs_of_finite_inputs_have_both_inputs_inside() -> None:
    source = """program p; input x : {0..5}; output o : bool; requires x != 3; o <- false;
    if x >= 4 then o <- choose { true : 3/4, false : 1/4 } else o <- choose { true : 1/4, false : 3/4 } end"""
    program = dipc.load(source)
    # 2 and 4 are not adjacent, and what is between them is no input.
    near = dipc.check_privacy(program, "linf:1", budget="eps/1000", eps="1")
    assert (near.verdict, near.pairs) == ("private", 6)
    far = dipc.check_privacy(program, "linf:2", budget="eps/1000", eps="1")
    assert (far.verdict, far.pairs) == ("not private", 10)
    assert far.counterexample is not None
    assert {far.counterexample.sides.input["x"], far.counterexample.sides.adjacent["x"]} == {"2", "4"}


def test_a_pair_outside_is_refused_at_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.dip").write_text(SUM.format("\nrequires q >= 0;\n"))
    (tmp_path / "pairs.csv").write_text("q,q'\n0,1\n-1,0\n")
    assert run(["privacy", str(tmp_path / "p.dip"), "--adjacent", str(tmp_path / "pairs.csv")]) == 2
    message = capsys.readouterr().err
    assert "error[E0514]" in message
    assert "pairs.csv:3:1" in message


def test_runs_of_programs_with_other_conditions_are_not_composed() -> None:
    one, other = (dipc.load(SUM.format(f"requires q >= {least};")) for least in ("0", "1"))
    with ExitStack() as stack, pytest.raises(ValueError, match="requires"):
        PrivacyQuestion(one, "linf:1", "all", Options().engine(stack, one), beside=[(other, 1)])


# --- pairs that refute are pairs of inputs ----------------------------------------------------------------------------


GUARDED = """program p; input q : int; output y : bool; {} var r : int;
if q >= 1 then r <- DLap(eps, q) else r <- DLap(eps, 2*q) end; y <- r >= 0"""
COMPARED = "program p; input q : int; output y : bool; {} y <- q >= 1"
TWO_INTS = """program p; input x, y : int; output out : bool; {} var r : int;
r <- DLap(eps, 2*y - x); out <- r >= -1"""
BESIDE = """program p; input q : real; input x : {{0, 1, 3}}; output y : bool; {} y <- q + 2*x + Lap(eps) >= 1"""


@pytest.mark.parametrize(
    ("source", "requires", "adjacent"),
    [
        (GUARDED, "", "linf:3/2"),
        (GUARDED, "requires 2*q >= -5;", "linf:3/2"),
        (COMPARED, "", "linf:3/2"),
        (TWO_INTS, "requires x >= -3;", "linf:1"),
        (TWO_INTS, "requires x >= -3;", "l1:1"),
        (BESIDE, "requires q >= x and x >= 1;", "linf:1"),
        (COUNT, "requires 2*q >= 1;", "hamming:1"),
    ],
)
def test_a_refuting_pair_has_values_of_the_types_of_its_inputs(source: str, requires: str, adjacent: str) -> None:
    program = dipc.load(source.format(requires))
    report = dipc.check_privacy(program, adjacent, inputs="all", budget="eps/2")
    assert report.counterexample is not None
    sides = report.counterexample.sides
    found = constant(source.format(requires), adjacent)
    points = [sides.input, sides.adjacent, *([found.at.input, found.at.adjacent] if found.at else [])]
    for point in points:
        for slot in program.core.input_slots:
            value = Fraction(point[slot.name] or 0)
            assert slot.name != "x" or source is not BESIDE or value in (0, 1, 3)
            assert source is BESIDE or value.denominator == 1


def test_ints_move_by_whole_numbers() -> None:
    # By 3/2 an int moves no farther than by 1: from -1 to 0 the mean moves by 2.
    assert constant(GUARDED.format(""), "linf:3/2").refuted_below == 2
    # By 1/2 it does not move.
    assert dipc.check_privacy(dipc.load(COMPARED.format("")), "linf:1/2", inputs="all").verdict != "not private"


def test_a_finite_input_that_cannot_move_costs_nothing() -> None:
    # x is 1 or 3, and by 1 neither is reached from the other.
    report = dipc.check_privacy(
        dipc.load(BESIDE.format("requires q >= x and x >= 1;")), "linf:1", inputs="all", budget="eps"
    )
    assert report.verdict != "not private"


@pytest.mark.parametrize("seed", [*range(12), 53, 66, 72, 85, 100, 113, 114, 162, 168, 213, 312])
def test_every_refuting_pair_is_one_of_inputs(seed: int) -> None:
    case = random_case(seed, ("int", "mixed"))
    if case.is_empty:
        return
    adjacent = random.Random(seed).choice(["linf:1", "linf:3/2", "l1:3/2", "hamming:1"])
    try:
        report = dipc.check_privacy(dipc.load(case.text()), adjacent, inputs="all", budget="eps/2")
    except DiagnosticError as error:
        assert "adjacent" in str(error)  # noqa: PT017
        return
    if report.counterexample is None:
        return
    for texts in (report.counterexample.sides.input, report.counterexample.sides.adjacent):
        point = tuple(Fraction(texts[f"x{place}"] or 0) for place in range(len(case.types)))
        assert case.condition.holds(point)
        for value, type_ in zip(point, case.types, strict=True):
            assert type_ == "real" or (value.denominator == 1 if isinstance(type_, str) else value in type_)


LOOP = (
    "program p; const m = 3, T = 5; input q[1..m] : real; output out[1..m] : bool = false; var t, v : real;"
    "requires %s; t <- Lap(eps/2, T);"
    "for i in 1..m do v <- Lap(eps/4, q[i]); if v >= t then out[i] <- true; exit end end"
)


def test_every_number_with_a_bound_of_each_query() -> None:
    """A proof for all inputs proves fewer pairs; a pair that refutes satisfies `requires`."""
    program = dipc.load(LOOP % "min(i in 1..m : q[i]) >= 0")
    asked = "m", "linf:1"
    proved = dipc.check_privacy_for_all(program, *asked, budget="eps")
    assert proved.verdict == "private"
    assert "that satisfy" in proved.about
    refuted = dipc.check_privacy_for_all(program, *asked, budget="eps/3")
    assert refuted.verdict == "not private"
    assert refuted.counterexample is not None
    for inputs in (refuted.counterexample.input, refuted.counterexample.adjacent):
        assert all(Fraction(value) >= 0 for value in inputs.values())


def test_a_restriction_that_makes_a_program_private_is_not_lost() -> None:
    """No budget that suffices within `requires` is refuted for every number."""
    program = dipc.load(LOOP % "min(i in 1..m : q[i]) >= 0 and max(i in 1..m : q[i]) <= 1/4")
    assert dipc.check_privacy(
        dipc.load(program.core.source.text, m=2), "linf:1", inputs="all", budget="eps/4"
    ).verdict == ("private")
    assert dipc.check_privacy_for_all(program, "m", "linf:1", budget="eps/4").verdict != "not private"


@pytest.mark.parametrize("condition", ["sum(i in 1..m : q[i]) <= 100", "q[1] >= 0 or q[1] <= -1", "q[2] >= m"])
def test_every_number_refuses_other_conditions_with_what_to_write(condition: str) -> None:
    with pytest.raises(dipc.DiagnosticError, match=r"must bound each input by itself: write `min\(i in 1..m"):
        dipc.check_privacy_for_all(dipc.load(LOOP % condition), "m", "linf:1", budget="eps")
