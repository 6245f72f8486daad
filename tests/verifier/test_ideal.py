"""The checker's det and dd are those of the engine; and linear programs by themselves."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.answers import Solved, asks_nothing
from dipc.chain.state import finite_values
from dipc.program.ideal import Distances, Ideal
from dipc.text.ast import BaseType
from dipc.verifier.document import check_text
from dipc.verifier.ideal import Ideal as Derived
from dipc.verifier.linear import Guard, Question, contradictory, implied, is_empty, least
from dipc.verifier.reading import Answers, Budget, NotDerived, Rejected, WrongAnswer
from dipc.verifier.syntax import read_program
from tests.verifier import samples

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

MIXED = """
program mixed;
input x, y : real;
input k : {0..2};
input b : bool;
output out : {0..3};
output sum : real;
metric { input: %s; }
ideal {
  var half : real;
  half <- (x - y)/2;
  sum <- half + k;
  if b and x = y then out <- 3 else
    if half > k then out <- 1 else
      if x + 2*y >= 1 and half < 1 then out <- 2 else out <- 0 end
    end
  end
}
out <- 0;
sum <- x
"""

#: A distance to a corner that no single guard decides, and a tie that is an answer of its own.
CORNER = """
program corner;
input x, y : real;
output out : {0..2};
metric { input: %s; }
ideal {
  out <- 0;
  if x + 2*y >= 3 and 3*x - y >= 4 then out <- 1 end;
  if x = 5*y then out <- 2 end
}
out <- 0
"""

#: Integers near slanted edges, between which there are none; a tie, an int output, and reals beside them.
INTS = """
program ints;
input x, y : int;
input z : real;
input k : {0, 1, 3};
output out : {0..3};
output sum : int;
metric { input: %s; }
ideal {
  out <- 0;
  sum <- 3;
  if 3*x + 2*y >= 1 and 5*x - 3*y <= 1 then out <- 1 end;
  if 2*x - 2*y = 1 or 4*x = 3*y + 2 then out <- 2 end;
  if x > 3/2 and z >= k then sum <- 2*x - y end
}
out <- 0;
sum <- x
"""

PROGRAMS = {
    **{
        name: (BENCHMARKS / f"{name}.dip").read_text(encoding="utf-8")
        for name in ("sparse", "noisy_max", "noisy_max_gap", "noisy_max_ties", "laplace", "numeric_sparse")
    },
    **{f"mixed {norm}": MIXED % norm for norm in ("linf", "l1", "discrete")},
    **{f"corner {norm}": CORNER % norm for norm in ("linf", "l1", "discrete")},
    **{f"ints {norm}": INTS % norm for norm in ("linf", "l1", "discrete")},
    "corner apart": CORNER.replace("input: %s;", "input: l1; apart: x' > 1 and x <= 1 or x != x' and y >= y' + 3;"),
    "mixed apart": MIXED.replace("input: %s;", "apart: k != k' or x' = y' and x != y;"),
}


def derived(text: str, **constants: Fraction) -> Derived:
    budget = Budget(20_000_000, answers=Solved())
    return Derived.compile(read_program(text, budget), constants, budget)


@pytest.mark.parametrize("name", PROGRAMS)
def test_det_and_dd_are_those_of_the_engine(name: str) -> None:
    program = dipc.load(PROGRAMS[name])
    ideal = Ideal(program)
    distances = Distances(ideal)
    found = derived(PROGRAMS[name], **program.core.constants)
    chance = random.Random(name)
    for _ in range(12):
        inputs = [
            Fraction(chance.randint(-3, 3), chance.choice((1, 1, 2)))
            if slot.type is BaseType.REAL
            else Fraction(chance.randint(-7, 7))
            if slot.type is BaseType.INT
            else chance.choice(sorted(finite_values(slot), key=str))
            for slot in (program.core.slots[at] for at in program.core.inputs)
        ]
        assert found.answer(inputs) == tuple(ideal.values(inputs))
        assert found.distance(inputs) == distances.dd(inputs)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (CORNER.replace("out <- 0;\n  if", "if") % "linf", "may have no value at the end"),
        (
            INTS.replace("input: %s", "apart: x > x' + 1") % (),
            "the `metric` block has a distance between inputs, which is not covered for int inputs",
        ),
    ],
)
def test_what_is_not_derived_is_named(text: str, why: str) -> None:
    with pytest.raises(NotDerived, match=why):
        derived(text).answer([Fraction(0), Fraction(0)])


# --- certificates ----------------------------------------------------------------------------------


def noisy_max() -> dict[str, Any]:
    program = dipc.load(BENCHMARKS / "noisy_max.dip", m=2)
    report = dipc.check(program, inputs="q = 0..1", keep_proofs=True)
    return samples.document(dipc.certify(report))


def test_answers_and_dd_of_the_ideal_are_derived() -> None:
    document = noisy_max()
    assert document["table"]["dd"] == "ideal"
    assert check_text(samples.resealed(document)).complete
    for number, row in enumerate(document["rows"], start=1):
        before = dict(row)
        row["dd"] = row["alpha"] = str(Fraction(row["dd"]) + Fraction(1, 2))
        with pytest.raises(Rejected, match=f"row {number}: dd differs from the distance that the `ideal` gives"):
            check_text(samples.resealed(document))
        row |= before


def test_dd_that_the_program_contradicts_is_said_to_be() -> None:
    """The stated dd would make the row vacuous, and no table gives it."""
    document = noisy_max()
    document["table"]["dd"] = "given"
    assert check_text(samples.resealed(document)).complete
    document["claim"]["alpha"] = "9"
    for row in document["rows"]:
        row |= {
            "alpha": "9",
            "dd": "1",
            "verdict": "accurate",
            "vacuous": True,
            "obligation": None,
            "probability": None,
        }
        row.pop("reason", None)
    document["betas"] = [{"reason": "none"}]
    for row in document["rows"]:
        row["beta"] = 0
    document["obligations"] = []
    document["verdict"] = "accurate"
    accepted = check_text(samples.resealed(document))
    assert not accepted.complete
    assert "the answers and dd of 4 of 4 rows" in next(accepted.lines())


# --- linear programs --------------------------------------------------------------------------------


def test_least_values_are_those_at_the_corners() -> None:
    """A least value in two variables is at a point where two rows are 0, if it exists."""
    chance = random.Random(7)
    bounded = 0
    for _ in range(60):
        rows = [({0: Fraction(side)}, Fraction(4)) for side in (1, -1)]
        rows += [({1: Fraction(side)}, Fraction(4)) for side in (1, -1)]
        rows += [
            ({0: Fraction(chance.randint(-3, 3)), 1: Fraction(chance.randint(-3, 3))}, Fraction(chance.randint(-6, 6)))
            for _ in range(chance.randint(1, 4))
        ]
        objective = {0: Fraction(chance.randint(-2, 2)), 1: Fraction(chance.randint(-2, 2))}
        corners = []
        for (one, b), (other, c) in product(rows, repeat=2):
            a0, a1, b0, b1 = one.get(0, 0), one.get(1, 0), other.get(0, 0), other.get(1, 0)
            if size := a0 * b1 - a1 * b0:
                point = {0: (a1 * c - b * b1) / size, 1: (b0 * b - a0 * c) / size}
                if all(sum(k * point[i] for i, k in form.items()) + rest >= 0 for form, rest in rows):
                    corners.append(sum(k * point[i] for i, k in objective.items()))
        guards = [Guard(tuple((i, c) for i, c in form.items() if c), rest, strict=False) for form, rest in rows]
        asking = Budget(answers=Solved())
        assert least(objective, guards, frozenset(), asking) == min(corners, default=None)
        bounded += bool(corners)
    assert 10 < bounded < 60


def test_strictness() -> None:
    above = Guard(((0, Fraction(1)),), Fraction(-1), strict=False)
    solved = Budget(answers=Solved())
    assert not is_empty([above, Guard(((0, Fraction(-1)),), Fraction(1), strict=False)], solved)
    assert is_empty([above, Guard(((0, Fraction(-1)),), Fraction(1), strict=True)], solved)
    assert implied([above], {0: Fraction(2)}, Fraction(-2), solved)
    assert not implied([above], {0: Fraction(2)}, Fraction(-3), solved)
    assert not implied([above], {1: Fraction(1)}, Fraction(9), solved)


ABOVE_ONE = Guard(((0, Fraction(1)),), Fraction(-1), strict=False)
BELOW_ONE = Guard(((0, Fraction(-1)),), Fraction(1), strict=True)
BELOW_TWO = Guard(((0, Fraction(-1)),), Fraction(2), strict=True)


def answering(question: Question, answer: object) -> Budget:
    return Budget(answers=Answers({question.key: answer}))


def test_nothing_is_solved_that_the_certificate_does_not_answer() -> None:
    assert not contradictory([ABOVE_ONE, BELOW_ONE], Budget())
    with pytest.raises(NotDerived, match="does not say whether"):
        is_empty([ABOVE_ONE, BELOW_ONE], Budget())
    with pytest.raises(NotDerived, match="does not say how near"):
        least({0: Fraction(1)}, [ABOVE_ONE], frozenset(), Budget())


@pytest.mark.parametrize(
    ("guards", "answer", "why"),
    [
        ([ABOVE_ONE, BELOW_TWO], {"none": [[0, "1"], [1, "1"]]}, "do not show that the half-spaces do not meet"),
        ([ABOVE_ONE, BELOW_ONE], {"none": [[0, "1"]]}, "do not show that the half-spaces do not meet"),
        ([ABOVE_ONE, BELOW_ONE], {"none": [[0, "1"], [2, "1"]]}, "a half-space that does not exist"),
        ([ABOVE_ONE, BELOW_ONE], {"none": [[0, "-1"], [1, "-1"]]}, "a multiplier is negative"),
        ([ABOVE_ONE, BELOW_ONE], {"point": [[0, "1"]]}, "a point is outside the half-spaces"),
        ([ABOVE_ONE, BELOW_TWO], {"point": [[0, "1"], [0, "2"]]}, "each must occur once"),
        ([ABOVE_ONE, BELOW_TWO], {"point": [[0, "1"]], "none": []}, "must be a point or multipliers"),
    ],
)
def test_wrong_answers_about_half_spaces_are_refused(guards: list[Guard], answer: object, why: str) -> None:
    with pytest.raises(WrongAnswer, match=why):
        is_empty(guards, answering(Question(tuple(guards)), answer))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"point": [[0, "3/2"]], "cases": [[0, "1"], [1, "1"]]}, "does not have integer coordinates"),
        ({"point": [[0, "0"]], "cases": [[0, "1"], [1, "1"]]}, "does not satisfy the half-spaces"),
        ({"point": [[0, "2"]], "cases": [[0, "1"], [1, "1"]]}, "do not prove that no point is nearer"),
        ({"point": None, "cases": []}, "do not prove that no point is nearer"),
        (
            {"point": None, "cases": {"variable": 0, "most": "1/2", "below": [], "above": []}},
            "do not split the values of an integer",
        ),
        (
            {"point": None, "cases": {"variable": 1, "most": "0", "below": [], "above": []}},
            "do not split the values of an integer",
        ),
        ({"point": [[0, "1"]]}, "`cases` is missing"),
    ],
)
def test_wrong_answers_about_the_nearest_point_are_refused(answer: object, why: str) -> None:
    wanted, whole = Guard(((0, Fraction(1)),), Fraction(0), strict=False), frozenset({0})
    above_half = Guard(((0, Fraction(2)),), Fraction(-1), strict=False)
    right = {"variable": 0, "most": "0", "below": [[0, "1"], [2, "2"]], "above": [[1, "1"], [2, "1"]]}
    budget = answering(Question((above_half,), wanted, whole), {"point": [[0, "1"]], "cases": right})
    assert least({0: Fraction(1)}, [above_half], whole, budget) == 1
    with pytest.raises(WrongAnswer, match=why):
        least({0: Fraction(1)}, [above_half], whole, answering(Question((above_half,), wanted, whole), answer))


#: Ways meet again with the same values: with ties, and where what they say together is no conjunction.
MEETING = """
program meeting;
input x, y, z : real;
output out : {0..3} = 0;
ideal {
  var best : real; var near : bool;
  best <- max(x, y);
  if z >= best then best <- z; out <- 1 else if z > y then out <- 2 end end;
  near <- abs(x - z) <= 1;
  if near and best > 0 or best < -1 then out <- 3 end
}
out <- 0
"""


@pytest.mark.parametrize(
    "text",
    [MEETING, *(PROGRAMS[name] for name in ("noisy_max", "noisy_max_gap", "sparse"))],
    ids=["meeting", "noisy_max", "noisy_max_gap", "sparse"],
)
def test_ways_that_are_united_are_still_apart_and_everything(text: str) -> None:
    constants = {name: Fraction(value) for name, value in (("m", 3), ("c", 2), ("T", 0)) if f"{name} = " in text}
    ideal = derived(text, **constants)
    inputs = ideal.machine.numbered("input")
    paths = ideal.paths(())
    for point in product([Fraction(n, 2) for n in range(-3, 4)], repeat=len(inputs)):
        at = dict(zip(inputs, point, strict=True))
        assert sum(all(guard.holds(at) for guard in path.guards) for path in paths) == 1


def test_the_largest_of_many_has_a_way_for_each() -> None:
    """The number of ways without uniting would be 2^(m - 1)."""
    ideal = derived(PROGRAMS["noisy_max"], m=Fraction(12))
    answers = [path.answer for path in ideal.paths(())]
    assert sorted(answers) == [(Fraction(number),) for number in range(1, 13)]
    assert [len(path.guards) for path in ideal.paths(())] == [11] * 12


# --- what is seen without answers -----------------------------------------------------------------------


class Unanswered(Answers):
    """A certificate without answers, with the number of questions."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked = 0

    def find(self, key: str, question: object) -> object:
        self.asked += 1
        return super().find(key, question)


def comparing(draw: random.Random) -> str:
    """An ideal that compares some of its inputs with numbers, and perhaps with each other or twice."""
    names = ["x", "y", "k"]

    def condition() -> str:
        name, relation = draw.choice(names), draw.choice(("<", "<=", ">=", ">"))
        other = draw.choice(names[:2]) if name != "k" and draw.random() < 0.2 else str(draw.randint(-2, 2))
        first = f"{name} {relation} {other}" if draw.random() < 0.9 else f"{other} {relation} {name}"
        return f"not ({first})" if draw.random() < 0.2 else first

    def block(depth: int) -> str:
        if not depth or draw.random() < 0.2:
            return f"out <- {draw.randint(0, 3)}"
        joined = draw.choice((" and ", " or ")).join(condition() for _ in range(draw.randint(1, 2)))
        return f"if {joined} then {block(depth - 1)} else {block(depth - 1)} end"

    norm = draw.choice(("linf", "l1", "discrete"))
    return (
        f"program p; input x, y : real; input k : int; output out : {{0..3}}; metric {{ input: {norm}; }}"
        f" ideal {{ {block(3)} }} out <- 0"
    )


def test_ideals_seen_by_bounds_ask_for_no_answers() -> None:
    """Certificates would lack answers if such an ideal asked for any."""
    draw = random.Random(5)
    seen = 0
    for _ in range(400):
        text = comparing(draw)
        answers = Unanswered()
        derived = Derived.compile(read_program(text, Budget()), {}, Budget(answers=answers))
        if not asks_nothing(derived):
            continue
        seen += 1
        distances = Distances(Ideal(dipc.load(text)))
        for point in product((Fraction(-3), Fraction(1, 2), Fraction(2)), (Fraction(-1), Fraction(0)), range(-2, 3)):
            inputs = [*point[:2], Fraction(point[2])]
            assert derived.distance(inputs) == distances.dd(inputs), text
        assert answers.asked == 0, text
    assert seen > 40, seen


def test_certificates_of_long_tables_take_no_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked about any row of Sparse, which once took most of the time of writing its certificate."""
    program = dipc.load(BENCHMARKS / "sparse.dip", m=3)
    report = dipc.check(program, inputs="q = -1..1", keep_proofs=True)
    with monkeypatch.context() as patched:
        patched.setattr(Derived, "distance", None)
        certificate = dipc.certify(report)
    assert check_text(certificate).complete
