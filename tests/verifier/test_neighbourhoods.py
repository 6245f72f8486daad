"""From where a path is near: sides and points that a certificate states, against distances, and forged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.certificate.answers import Solved
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.verifier.ideal import Ideal, Path
from dipc.verifier.linear import ALPHA, Guard
from dipc.verifier.reading import Answers, Budget, WrongAnswer
from dipc.verifier.surroundings import Neighbourhood, Surroundings
from dipc.verifier.syntax import read_program
from tests.patience import examples

TEXT = """
program near; input q[1..2] : real; output o : {0, 1};
metric { input: %s; }
ideal { o <- 0; if %s then o <- 1 end }
o <- 0
"""

#: What a path may be: a half-space, a strip, a corner, a box, a triangle, a parallelogram, a point.
PATHS = (
    ("q[1] + 2*q[2] >= 1",),
    ("q[1] - q[2] >= 0", "q[1] - q[2] <= 1"),
    ("q[1] >= 1", "q[2] > 0"),
    ("q[1] >= 0", "q[1] <= 1", "q[2] >= 0", "q[2] <= 1"),
    ("q[1] >= 0", "q[2] >= 0", "q[1] + q[2] <= 2"),
    ("q[1] - q[2] >= 0", "q[1] - q[2] <= 1", "q[1] + 2*q[2] >= 0", "q[1] + 2*q[2] <= 1"),
    ("q[1] >= 1", "q[1] <= 1", "3*q[2] - q[1] = 0"),
)

Change = Callable[[dict[str, Any]], object]


def surroundings(norm: str, conditions: Sequence[str], answers: Answers) -> tuple[Surroundings, Path]:
    """The path without the conditions, and that with them."""
    budget = Budget(answers=answers)
    tree = read_program(TEXT % (norm, " and ".join(conditions)), budget)
    ideal = Ideal.of(tree, {}, budget)
    paths = ideal.paths(())
    other = next(path for path in paths if path.answer == (1,))
    return Surroundings(ideal, (), next(path for path in paths if path.answer == (0,)), budget), other


def distance(norm: str, guards: Sequence[Guard], u: Sequence[Fraction], slots: Sequence[int]) -> Fraction:
    """That of a point from the closure of a path, by a linear program."""
    system = [Halfspace(sorted_terms(dict(guard.form)), guard.constant) for guard in guards]
    lengths = {slot: 100 + at if norm == "l1" else 100 for at, slot in enumerate(slots)}
    for slot, value in zip(slots, u, strict=True):
        for sign in (1, -1):
            terms = {lengths[slot]: Fraction(1), slot: Fraction(sign)}
            system.append(Halfspace(sorted_terms(terms), -sign * value))
    objective = Halfspace(sorted_terms(dict.fromkeys(lengths.values(), Fraction(1))), Fraction(0))
    found = minimum(objective, system)
    assert isinstance(found, Least)
    return objective.value({**dict.fromkeys(range(200), Fraction(0)), **found.point})


GRID = [Fraction(n, 2) for n in range(-5, 7, 2)]


def wrong(norm: str, other: Path, sides: Sequence[Guard], slots: Sequence[int]) -> bool:
    """Whether some input passes none of the sides at a distance at which the path is not."""
    for u in product(GRID, repeat=2):
        point = dict(zip(slots, u, strict=True))
        far = distance(norm, other.guards, u, slots)
        for alpha in (Fraction(0), far / 2, far - Fraction(1, 50)):
            if 0 <= alpha < far and all(side.at({**point, ALPHA: alpha}) <= 0 for side in sides):
                return True
    return False


@pytest.mark.parametrize("norm", ["linf", "l1"])
@pytest.mark.parametrize("conditions", PATHS)
def test_sides_are_passed_just_where_the_path_is_further_away(norm: str, conditions: tuple[str, ...]) -> None:
    around, other = surroundings(norm, conditions, Solved())
    slots = around.ideal.machine.numbered("input")
    sides = around._neighbourhood(other)
    assert sides is not None
    assert not wrong(norm, other, sides, slots)
    for u in product(GRID, repeat=2):
        far = distance(norm, other.guards, u, slots)
        # None is passed at the distance itself: they say no more than what is so.
        assert all(side.at({**dict(zip(slots, u, strict=True)), ALPHA: far}) <= 0 for side in sides)
        assert not far or any(
            side.at({**dict(zip(slots, u, strict=True)), ALPHA: far * Fraction(9, 10)}) > 0 for side in sides
        )


def leaves(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node] if "cut" not in node else [*leaves(node["holds"]), *leaves(node["fails"])]


def first_side(data: dict[str, Any]) -> dict[str, Any]:
    side: dict[str, Any] = data["sides"][0]
    return side


CHANGES: dict[str, Change] = {
    "a side is left out": lambda data: data["sides"].pop(),
    "no side": lambda data: data["sides"].clear(),
    "a greater step": lambda data: first_side(data).update(step=str(Fraction(first_side(data)["step"]) * 2)),
    "a step of 0": lambda data: first_side(data).update(step="0"),
    "a smaller constant": lambda data: first_side(data).update(
        constant=str(Fraction(first_side(data)["constant"]) - Fraction(1, 3))
    ),
    "the input itself is near": lambda data: [leaf.update(point=[]) for leaf in leaves(data["near"])],
    "one point for all": lambda data: data.update(near=leaves(data["near"])[0]),
    "another point": lambda data: [
        entry.__setitem__(2, str(Fraction(entry[2]) + 1))
        for leaf in leaves(data["near"])
        for entry in leaf["point"][:1]
    ],
    "a coordinate that is free": lambda data: [
        entry.__setitem__(1, [[77, "1"]]) for leaf in leaves(data["near"]) for entry in leaf["point"][:1]
    ],
    "a part is not cut": lambda data: data["near"].pop("fails", None) or data["near"].pop("point", None),
    "a cut elsewhere": lambda data: data["near"].get("cut", {}).update(constant="7/3"),
}

#: Where there is nothing to change, or what is so can be said in this way, too.
NEVER = {"no side", "a greater step", "a step of 0", "a smaller constant", "a coordinate that is free"}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("norm", ["linf", "l1"])
def test_what_is_not_so_is_rejected_whatever_multipliers_are_given(name: str, norm: str) -> None:
    """The forger answers all questions that the changed statement leads to, as far as they have answers."""
    refused = 0
    for conditions in PATHS[:-1]:
        honest = Solved()
        around, other = surroundings(norm, conditions, honest)
        assert around._neighbourhood(other) is not None
        key = Neighbourhood(norm, other.guards).key
        forged = Solved()
        forged.stated[key] = copy.deepcopy(honest.stated[key])
        CHANGES[name](forged.stated[key])
        around, other = surroundings(norm, conditions, forged)
        try:
            sides = around._neighbourhood(other)
        except WrongAnswer:
            refused += 1
            continue
        assert sides is not None
        assert not wrong(norm, other, sides, around.ideal.machine.numbered("input"))
    assert refused >= (len(PATHS) - 1 if name in NEVER else 1)


@settings(max_examples=examples(15), deadline=None)
@given(st.data())
def test_random_changes_are_rejected_or_true(data: st.DataObject) -> None:
    norm, conditions = data.draw(st.sampled_from(["linf", "l1"])), data.draw(st.sampled_from(PATHS))
    honest = Solved()
    around, other = surroundings(norm, conditions, honest)
    assert around._neighbourhood(other) is not None
    key = Neighbourhood(norm, other.guards).key
    forged = Solved()
    stated = forged.stated[key] = copy.deepcopy(honest.stated[key])
    side = data.draw(st.sampled_from(stated["sides"]))
    for part in data.draw(st.sets(st.sampled_from(["step", "constant", "form"]))):
        value = str(data.draw(st.sampled_from([Fraction(-1), Fraction(1, 2), Fraction(2), Fraction(0)])))
        if part == "form":
            data.draw(st.sampled_from(side["form"]))[1] = value
        else:
            side[part] = value
    around, other = surroundings(norm, conditions, forged)
    with suppress(WrongAnswer):
        sides = around._neighbourhood(other)
        assert sides is not None
        assert not wrong(norm, other, sides, around.ideal.machine.numbered("input"))


def test_without_an_answer_nothing_is_known() -> None:
    class Silent(Solved):
        def to(self, key: str, question: object) -> object:
            return None if isinstance(question, Neighbourhood) else super().to(key, question)

    around, other = surroundings("linf", PATHS[0], Silent())
    assert around._neighbourhood(other) is None
    assert not list(around.rivals())


#: Answers in one or two pieces, or that fall and rise, over `a` and `b`.
ANSWERS = (
    "max(0, min(1, a))",
    "max(a, b)",
    "max(0, a) + b",
    "abs(a - 1)",
    "min(1, max(a, b))",
    "max(0, min(1, a)) + max(0, min(1, b))",
    "a + b",
    "max(0, a - b)",
)

IDEAL = """
program pieces; input a : %s; input b : %s; output o : real; output p : {0, 1};
metric { input: %s; dd: all; }
ideal { p <- 0; %s if %s then %s end }
o <- 0; p <- 0
"""


@settings(max_examples=examples(40), deadline=None)
@given(
    norm=st.sampled_from(["linf", "l1"]),
    kinds=st.sampled_from([("real", "real"), ("real", "{0, 1}")]),
    first=st.sampled_from(ANSWERS),
    second=st.sampled_from([*(f"o <- {answer}" for answer in ANSWERS), "p <- 1", "o <- 1"]),
    condition=st.sampled_from(["a >= 1", "a + b > 1", "2*a - b <= 0", "a > 0 and b > 0", "a = 1"]),
)
def test_sides_hold_at_every_input_of_a_path(
    norm: str, kinds: tuple[str, str], first: str, second: str, condition: str
) -> None:
    """Of answers that are functions of the inputs, too: those of a clamp meet those of the flat part beside it."""
    budget = Budget(answers=Solved())
    ideal = Ideal.of(read_program(IDEAL % (*kinds, norm, f"o <- {first};", condition, second), budget), {}, budget)
    values = [Fraction(n, 2) for n in range(-3, 5)]
    for a, b in product(values, [Fraction(0), Fraction(1)] if kinds[1] != "real" else values):
        finite = () if kinds[1] == "real" else (b,)
        point = {0: a} if finite else {0: a, 1: b}
        path = next(path for path in ideal.paths(finite) if all(guard.holds(point) for guard in path.guards))
        dd = ideal.distance((a, b))
        around = Surroundings(ideal, finite, path, budget)
        alpha = 100 if dd is None else dd
        assert all(guard.at({**point, ALPHA: alpha}) >= 0 for guard in around.behind())
        for sides in around.rivals():
            assert any(side.at({**point, ALPHA: alpha}) >= 0 for side in sides)
