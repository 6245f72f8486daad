"""Near inputs that a certificate states: those that are found are near, and no others are accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.certificate.answers import Solved
from dipc.certificate.near import NearEvidence, find_near, halves
from dipc.certificate.near import NearInput as Input
from dipc.verifier.execution import Affine
from dipc.verifier.ideal import Ideal, tightened
from dipc.verifier.inputs import Coverage, Divided
from dipc.verifier.linear import ALPHA, Guard
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.surroundings import Surroundings
from dipc.verifier.syntax import read_program
from tests.patience import examples

TEXT = """
program near; input a : %s; input b : %s; output o : %s; output p : {0, 1};
metric { input: %s; dd: all; %s }
ideal { o <- 0; p <- 0; %s }
o <- 0; p <- 0
"""

#: Where p is 1: a half-space, a strip, a corner, a box, a triangle, a parallelogram, a point, on both sides of a strip.
PATHS = (
    "a + 2*b >= 1",
    "a - b >= 0 and a - b <= 1",
    "a >= 1 and b > 0",
    "a >= 0 and a <= 1 and b >= 0 and b <= 1",
    "a >= 0 and b >= 0 and a + b <= 2",
    "a - b >= 0 and a - b <= 1 and a + 2*b >= 0 and a + 2*b <= 1",
    "a >= 1 and a <= 1 and 3*b - a = 0",
    "a > 2 or a < 0",
    "2*a - b >= 1 and a + b >= 2",
)

KINDS = (("real", "real"), ("int", "int"), ("real", "{0, 1}"), ("int", "{0, 1}"))

_GRID = [Fraction(n, 2) for n in range(-4, 6)]


@cache
def ideal(kinds: tuple[str, str], norm: str, body: str, metric: str = "") -> Coverage:
    budget = Budget(10**12, answers=Solved())
    tree = read_program(TEXT % (*kinds, kinds[0], norm, metric, body), budget)
    block = Ideal.compile(tree, {}, budget)
    return Coverage(block.machine, block, None, budget)


def one_of(condition: str) -> str:
    return f"if {condition} then p <- 1 end"


def inputs(kinds: tuple[str, str]) -> Iterator[tuple[Fraction, Fraction]]:
    values = {"real": _GRID, "int": [Fraction(n) for n in range(-3, 5)], "{0, 1}": [Fraction(0), Fraction(1)]}
    yield from product(*(values[kind] for kind in kinds))


def place(coverage: Coverage, u: Sequence[Fraction]) -> tuple[Surroundings, dict[int, Fraction]]:
    """The path of an input, and its real and int inputs by slot."""
    finite, path = coverage.ideal.path_at(u)
    slots = coverage.machine.numbered("input")
    point = {slot: v for slot, v in zip(slots, u, strict=True) if coverage.machine.slots[slot].type in ("real", "int")}
    return Surroundings(coverage.ideal, finite, path, coverage.budget), point


def around(
    coverage: Coverage, u: Sequence[Fraction], alpha: Fraction, width: Fraction = Fraction(0), *, strict: bool = False
) -> Divided:
    """The cell of inputs of the path that are within `width` of u, for distances from alpha on."""
    known, point = place(coverage, u)
    sides = [
        tightened(Guard(((slot, Fraction(sign)),), width - sign * value, strict=False), coverage.ideal.integer_inputs)
        for slot, value in point.items()
        for sign in (1, -1)
    ]
    least = Guard(((ALPHA, Fraction(1)),), -alpha, strict=strict)
    return Divided(coverage, known, (least, *known.path.guards, *sides), (), None)


def near_inputs(question: Divided, found: NearEvidence) -> Iterator[tuple[Divided, Input]]:
    """The cells, each with the near input that is stated."""
    if isinstance(found, Input):
        yield question, found
        return
    for half, one in halves(question, found):
        yield from near_inputs(half, one)


@pytest.mark.parametrize("norm", ["linf", "l1", "discrete"])
@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
def test_from_all_that_are_nearer_than_alpha_another_answer_is_found(kinds: tuple[str, str], norm: str) -> None:
    """Another answer is found for each input with dd < alpha, alone and with its neighbors, and for no other input."""
    found = missed = 0
    for condition in PATHS:
        coverage = ideal(kinds, norm, one_of(condition))
        for u in list(inputs(kinds))[::7]:
            dd = coverage.ideal.distance(u)
            if dd is None:
                continue
            assert find_near(around(coverage, u, dd)) is None
            assert find_near(around(coverage, u, dd, Fraction(1))) is None
            question = around(coverage, u, dd, strict=True)
            one = find_near(question)
            missed += one is None
            if one is not None:
                found += 1
                assert all(
                    accepted(half, each) for half, each in near_inputs(question, one) if contains(half, u, dd + 1)
                )
    assert found > 10
    # Of ints, and where the nearest input has other finite values, not all are looked for.
    assert not missed or kinds != ("real", "real")


def contains(question: Divided, u: Sequence[Fraction], alpha: Fraction) -> bool:
    _, point = place(question.coverage, u)
    return all(guard.holds({**point, ALPHA: alpha}) for guard in question.cell)


def accepted(question: Divided, one: Input) -> bool:
    try:
        question.known.require_near(one.as_json(), question.coverage.part(question.cell))
    except (Rejected, NotDerived):
        return False
    return True


_LINES = st.builds(
    lambda terms, constant: Affine(constant, tuple((i, c) for i, c in sorted(terms.items()) if c)),
    st.dictionaries(st.sampled_from([0, 1, ALPHA, ALPHA - 1]), st.sampled_from([Fraction(n, 2) for n in range(-4, 5)])),
    st.sampled_from([Fraction(n, 2) for n in range(-4, 5)]),
)

#: Answers that are functions of the inputs, in one or two pieces, beside such that are none.
CHANGING = (
    "o <- a; if a >= 1 then p <- 1 end",
    "o <- max(0, min(1, a))",
    "o <- max(a, 0); if a > 2 then o <- 7 end",
    "if a >= 1 then o <- a else o <- 2 - a end",
    "if a > 0 then o <- 3*a else p <- 1 end",
)


@settings(max_examples=examples(200), deadline=None)
@given(
    kinds=st.sampled_from(KINDS),
    norm=st.sampled_from(["linf", "l1", "discrete"]),
    body=st.sampled_from([*map(one_of, PATHS), *CHANGING]),
    metric=st.sampled_from(["", "", "apart: a > a' + 1 or a != a' and a' > 1"]),
    width=st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)]),
    data=st.data(),
)
def test_nothing_is_near_where_the_distance_is_greater(
    kinds: tuple[str, str], norm: str, body: str, metric: str, width: Fraction, data: st.DataObject
) -> None:
    """A forged near input is rejected if some input of the cell is at a distance of at least alpha.

    This holds for any multipliers. The forger begins with a true statement about a near input.
    """
    if metric and "int" in kinds:
        return
    coverage = ideal(kinds, norm, body, metric)
    u = data.draw(st.sampled_from(list(inputs(kinds))))
    dd = coverage.ideal.distance(u)
    question = around(coverage, u, Fraction(5) if dd is None else dd, width)
    honest = [
        one
        for more in (Fraction(1, 2), Fraction(3))
        if dd is not None and (found := find_near(around(coverage, u, dd + more, width))) is not None
        for _, one in near_inputs(around(coverage, u, dd + more, width), found)
    ]
    if honest and data.draw(st.booleans()):
        one = data.draw(st.sampled_from(honest))
    else:
        one = Input(
            data.draw(st.sampled_from([0, 0, 1, 2])),
            tuple(data.draw(st.lists(_LINES, max_size=1))),
            data.draw(st.dictionaries(st.sampled_from([0, 1]), _LINES, max_size=2)),
        )
    assert not accepted(question, one)
    for change in data.draw(st.lists(st.sampled_from(["finite", "rounded", "moved", "left out"]), max_size=2)):
        one = changed(one, change, data)
    assert not accepted(question, one)


def changed(one: Input, change: str, data: st.DataObject) -> Input:
    match change:
        case "finite":
            return Input(1 - min(1, one.finite), one.rounded, one.moved)
        case "rounded":
            return Input(one.finite, (data.draw(_LINES), *one.rounded[1:]), one.moved)
        case "moved":
            return Input(one.finite, one.rounded, {**one.moved, data.draw(st.sampled_from([0, 1])): data.draw(_LINES)})
        case _:
            return Input(one.finite, one.rounded[:-1], dict(list(one.moved.items())[:-1]))


@settings(max_examples=examples(150), deadline=None)
@given(
    kinds=st.sampled_from([("real", "real"), ("int", "int")]),
    norm=st.sampled_from(["linf", "l1"]),
    condition=st.sampled_from(PATHS),
    rounded=st.lists(_LINES, max_size=1),
    moved=st.dictionaries(st.sampled_from([0, 1]), _LINES, min_size=1, max_size=2),
    data=st.data(),
)
def test_what_is_accepted_of_a_cell_is_so_at_each_of_its_inputs(
    kinds: tuple[str, str],
    norm: str,
    condition: str,
    rounded: list[Affine],
    moved: Mapping[int, Affine],
    data: st.DataObject,
) -> None:
    coverage = ideal(kinds, norm, one_of(condition))
    u = data.draw(st.sampled_from(list(inputs(kinds))))
    question = around(coverage, u, data.draw(st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(5)])), Fraction(1))
    one = Input(0, tuple(rounded), moved)
    if not accepted(question, one):
        return
    for v in inputs(kinds):
        for alpha in (Fraction(1, 2), Fraction(2), Fraction(5), Fraction(9)):
            if coverage.ideal.path_at(v) == coverage.ideal.path_at(u) and contains(question, v, alpha):
                assert is_near(coverage, one, v, alpha, norm)


def is_near(coverage: Coverage, one: Input, u: Sequence[Fraction], alpha: Fraction, norm: str) -> bool:
    """Whether the input is near, computed with numbers."""
    _, values = place(coverage, u)
    values = {**values, ALPHA: alpha}

    def number_of(line: Affine | Fraction) -> Fraction:
        return line if isinstance(line, Fraction) else line.constant + sum(c * values[i] for i, c in line.terms)

    for number, line in enumerate(one.rounded, start=1):
        values[ALPHA - number] = Fraction(ceil(number_of(line)))
    slots = coverage.machine.numbered("input")
    other = [number_of(one.moved[slot]) if slot in one.moved else value for slot, value in zip(slots, u, strict=True)]
    moves = [abs(a - b) for a, b in zip(u, other, strict=True)]
    whole = all(
        value.denominator == 1
        for slot, value in zip(slots, other, strict=True)
        if slot in coverage.ideal.integer_inputs
    )
    length = sum(moves) if norm == "l1" else max(moves)
    return whole and length < alpha and coverage.ideal.answer(u) != coverage.ideal.answer(other)


_SLANTED, _THIRD = one_of("2*a - b >= 1"), Fraction(1, 3)
_INTS, _REALS, _COIN = ("int", "int"), ("real", "real"), ("real", "{0, 1}")


def number(slot: int, value: int | Fraction, *, times: int = 1) -> Affine:
    return Affine(Fraction(value), ((slot, Fraction(times)),))


#: Of one input each, with what is accepted of it at a distance, and what is not, for one reason each.
STATEMENTS: dict[str, tuple[tuple[str, str], str, str, str, Input, int, bool]] = {
    "a step": (_INTS, "linf", _SLANTED, "", Input(0, (), {0: Fraction(1)}), 2, True),
    "a step as long as alpha": (_INTS, "linf", _SLANTED, "", Input(0, (), {0: Fraction(1)}), 1, False),
    "what is no integer": (_INTS, "linf", _SLANTED, "", Input(0, (), {0: _THIRD, 1: -_THIRD}), 1, False),
    "what is none where alpha is none": (_INTS, "linf", _SLANTED, "", Input(0, (), {0: number(ALPHA, -1)}), 2, False),
    "reals that are no integers": (_REALS, "linf", _SLANTED, "", Input(0, (), {0: _THIRD, 1: -_THIRD}), 1, True),
    "rounded up": (_INTS, "linf", _SLANTED, "", Input(0, (number(0, _THIRD),), {0: number(ALPHA - 1, 0)}), 2, True),
    "rounded up as far as alpha": (
        *(_INTS, "linf", _SLANTED, ""),
        *(Input(0, (number(0, _THIRD),), {0: number(ALPHA - 1, 0)}), 1, False),
    ),
    "rounded by itself": (_INTS, "linf", _SLANTED, "", Input(0, (number(ALPHA - 1, _THIRD),), {}), 2, False),
    "rounded by a later one": (
        *(_INTS, "linf", _SLANTED, ""),
        *(Input(0, (number(ALPHA - 2, 1), number(ALPHA - 1, 1)), {}), 2, False),
    ),
    "another finite input": (_COIN, "linf", one_of("b = 1"), "", Input(1, (), {}), 2, True),
    "one as far as alpha": (_COIN, "linf", one_of("b = 1"), "", Input(1, (), {}), 1, False),
    "one as far in the sum": (_COIN, "l1", one_of("b = 1"), "", Input(1, (), {0: Fraction(1)}), 2, False),
    "one as far as most": (_COIN, "linf", one_of("b = 1"), "", Input(1, (), {0: Fraction(1)}), 2, True),
    "in the sum of all": (
        _REALS,
        "l1",
        one_of("a + b >= 2"),
        "",
        Input(0, (), dict.fromkeys([0, 1], Fraction(1))),
        2,
        False,
    ),
    "more than the sum": (
        _REALS,
        "l1",
        one_of("a + b >= 2"),
        "",
        Input(0, (), dict.fromkeys([0, 1], Fraction(1))),
        3,
        True,
    ),
    "at a finite distance": (_REALS, "linf", _SLANTED, "apart: a > a' + 1", Input(0, (), {0: Fraction(1)}), 2, True),
    "apart": (_REALS, "linf", _SLANTED, "apart: a' > a", Input(0, (), {0: Fraction(1)}), 2, False),
    "the input itself": (_REALS, "linf", _SLANTED, "", Input(0, (), {}), 2, False),
    "the same answer": (_REALS, "linf", one_of("a >= 1 and a < 2"), "", Input(0, (), {0: Fraction(3)}), 4, False),
    "the same of a form": (_REALS, "linf", "o <- abs(a - 1)", "", Input(0, (), {0: Fraction(2)}), 4, False),
    "another of a form": (_REALS, "linf", "o <- abs(a - 1)", "", Input(0, (), {0: Fraction(3, 2)}), 4, True),
    "anywhere": (_REALS, "discrete", _SLANTED, "", Input(0, (), {0: Fraction(99)}), 2, True),
    "anywhere as far as alpha": (_REALS, "discrete", _SLANTED, "", Input(0, (), {0: Fraction(99)}), 1, False),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_accepted_and_what_is_not(name: str) -> None:
    kinds, norm, body, metric, one, alpha, right = STATEMENTS[name]
    question = around(ideal(kinds, norm, body, metric), (Fraction(0), Fraction(0)), Fraction(alpha))
    assert accepted(question, one) is right
