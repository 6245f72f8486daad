"""det from the `ideal` block: regions that are disjoint and cover everything, answers, and bad ideals."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.state import Affine
from dipc.program.ideal import Ideal, Region
from dipc.text.diagnostic import DiagnosticError, render
from tests.patience import examples
from tests.program.programs import BENCHMARKS, F, Tree, answer, any_coefficients, differences, source, trees, with_ideal

HALVES = [F(k, 2) for k in range(-3, 4)]


def containing(regions: tuple[Region, ...], point: dict[int, Fraction]) -> Region:
    """The one region that contains the point: there must be exactly one."""
    (found,) = [region for region in regions if all(guard.holds_at(point) for guard in region.guards)]
    return found


def values_at(region: Region, point: dict[int, Fraction]) -> tuple[object, ...]:
    return tuple(value.evaluate(point) if isinstance(value, Affine) else value for value in region.answer)


# --- regions ---------------------------------------------------------------------------------------


@settings(max_examples=examples(8))
@given(trees(3, differences(3), HALVES) | trees(3, any_coefficients(3), HALVES))
def test_regions_partition_the_inputs_and_say_what_the_ideal_says(tree: Tree) -> None:
    ideal = Ideal(dipc.load(source(tree, 3)))
    regions = ideal.regions({})
    for x in itertools.product((F(-3, 2), F(0), F(1, 2)), repeat=3):
        point = dict(zip(ideal.program.core.inputs, x, strict=True))
        expected = (F(answer(tree, x)),)
        assert values_at(containing(regions, point), point) == expected
        assert ideal.values(x) == expected


@settings(max_examples=examples(8))
@given(trees(2, differences(2), [F(k) for k in range(-2, 3)]), st.randoms(use_true_random=False))
def test_regions_of_ints(tree: Tree, rng: random.Random) -> None:
    ideal = Ideal(dipc.load(source(tree, 2, "int")))
    regions = ideal.regions({})
    for _ in range(30):
        x = (F(rng.randint(-5, 5)), F(rng.randint(-5, 5)))
        point = dict(zip(ideal.program.core.inputs, x, strict=True))
        assert values_at(containing(regions, point), point) == (F(answer(tree, x)),)


@pytest.mark.parametrize("m", [1, 2, 5, 20, pytest.param(50, marks=pytest.mark.slow)])
def test_a_running_maximum_has_one_region_for_each_index(m: int) -> None:
    """2^(m-1) paths; ties belong to the smallest index."""
    ideal = Ideal(dipc.load(BENCHMARKS / "noisy_max.dip", m=m))
    regions = ideal.regions({})
    assert sorted(region.answer for region in regions) == [(F(i),) for i in range(1, m + 1)]
    rng = random.Random(m)
    for _ in range(20):
        q = [F(rng.randint(0, 3)) for _ in range(m)]
        point = dict(zip(ideal.program.core.inputs, q, strict=True))
        assert containing(regions, point).answer == (F(q.index(max(q)) + 1),)


def test_regions_that_make_no_convex_set_stay_apart() -> None:
    ideal = Ideal(with_ideal("if x < 0 then out <- 1 end; if x > 1 then out <- 1 end"))
    assert sorted(region.answer for region in ideal.regions({})) == [(F(0),), (F(1),), (F(1),)]


def test_boundaries_are_united_with_the_right_side() -> None:
    """x < 0, x = 0 and x > 0 meet in x <= 0 and x > 0, or all in one, but never in a set that is none of theirs."""
    closed = Ideal(with_ideal("if x < 0 then out <- 1 else if x = 0 then out <- 1 end end")).regions({})
    assert {region.answer: [guard.strict for guard in region.guards] for region in closed} == {
        (F(1),): [False],
        (F(0),): [True],
    }
    everything = Ideal(with_ideal("if x < 0 then out <- 1 else if x >= 0 then out <- 1 end end")).regions({})
    assert [(region.guards, region.answer) for region in everything] == [((), (F(1),))]
    point = Ideal(with_ideal("if x != 0 then out <- 1 end")).regions({})
    assert sorted(region.answer for region in point) == [(F(0),), (F(1),), (F(1),)]


def test_impossible_paths_are_no_regions() -> None:
    """An integer with 2x = 1, and three inequalities that no pair of them contradicts."""
    whole = with_ideal("if 2*x >= 1 and 2*x <= 1 then out <- 1 end", "input x : int; output out : {0..9} = 0;")
    assert {region.answer for region in Ideal(whole).regions({})} == {(F(0),)}
    cyclic = with_ideal(
        "if x + y > 2 and x - 2*y > 0 and 3*x < 4 then out <- 1 end",
        "input x, y : real; output out : {0..9} = 0;",
    )
    assert {region.answer for region in Ideal(cyclic).regions({})} == {(F(0),)}


def test_answers_may_be_forms() -> None:
    ideal = Ideal(dipc.load(BENCHMARKS / "numeric_sparse.dip"))
    q = (F(-1), F(1, 2), F(3))
    point = dict(zip(ideal.program.core.inputs, q, strict=True))
    expected = ("bot", "top", "none", F(0), F(1, 2), F(0))
    assert values_at(containing(ideal.regions({}), point), point) == expected == ideal.values(q)


def test_finite_inputs_and_cells() -> None:
    program = with_ideal(
        "if b and x > k then out <- 1 end", "input b : bool; input x : real; input k : {0..2}; output out : {0..9} = 0;"
    )
    ideal = Ideal(program)
    b, x, k = program.core.inputs
    assert (ideal.finite_inputs, ideal.symbolic_inputs) == ((b, k), (x,))
    assert len(ideal.regions({b: False, k: F(1)})) == 1
    assert containing(ideal.regions({b: True, k: F(1)}), {x: F(3, 2)}).answer == (F(1),)
    cells = tuple(map(ideal.pool.cell, (True, F(3, 2), F(1))))
    (out,) = ideal.answer(cells)
    assert out is ideal.pool.cell(F(1))


def test_an_ideal_may_loop() -> None:
    """The number of steps of 1/2 from 0 up to x, at most 5; comparisons and loops take turns."""
    ideal = Ideal(
        with_ideal(
            "var far : bool = true; while far and out < 5 do far <- x > out/2; if far then out <- out + 1 end end"
        )
    )
    assert len(ideal.regions({})) == 6
    for k in range(-1, 8):
        for x in (F(k, 2), F(2 * k + 1, 4)):
            expected = (F(max(0, min(5, -((-2 * x) // 1)))),)
            assert ideal.values((x,)) == expected
            assert containing(ideal.regions({}), {ideal.program.core.inputs[0]: x}).answer == expected


def test_constants_are_those_of_the_command_line() -> None:
    assert Ideal(dipc.load(BENCHMARKS / "sparse.dip", m=2, T=5)).values((F(4), F(5))) == ("bot", "top")


def test_too_many_regions_are_a_limit_but_one_answer_is_found() -> None:
    limits = Limits(states=500)
    ideal = Ideal(dipc.load(BENCHMARKS / "sparse.dip", m=20, c=20).with_limits(limits))
    for _ in range(2):
        with pytest.raises(LimitReached):
            ideal.regions({})
    q = [F(i - 10) for i in range(20)]
    (found,) = ideal.alike({}, ideal.values(q))
    assert len(found.guards) == 20


# --- what is wrong with ideals ---------------------------------------------------------------------


def message(work: object) -> str:
    with pytest.raises(DiagnosticError) as caught:
        work()  # type: ignore[operator]
    return render(caught.value.diagnostics)


def test_a_program_without_an_ideal() -> None:
    program = dipc.load("program p; output out : bool; out <- true")
    assert message(lambda: Ideal(program)) == (
        "error[E1101]: the program `p` has no `ideal` block\n"
        "  = help: add `ideal { ... }`, a deterministic program that computes the exact answer\n"
        "  = help: or give a table of the exact answers\n"
    )


PARTIAL = "input x : real; input b : bool; output out : {0..9};"


def test_a_path_without_inputs_makes_no_ideal_partial() -> None:
    """5*x = 1 for no int x: but it takes more than the differences of the inputs to see that."""
    ideal = Ideal(
        with_ideal(
            "if 2*x + 3*y >= 1 and 2*x + 3*y <= 1 and x = y then else out <- 1 end",
            "input x, y : int; output out : {0..9};",
        )
    )
    assert {region.answer for region in ideal.regions({})} == {(F(1),)}


def test_a_partial_ideal_names_an_input_where_it_is_undefined() -> None:
    program = with_ideal("if x >= 3 then out <- 1 else if b then out <- 2 end end", PARTIAL)
    b, x = program.core.inputs[1], program.core.inputs[0]
    ideal = Ideal(program)
    assert {region.answer for region in ideal.regions({b: True})} == {(F(1),), (F(2),)}
    text = message(lambda: ideal.regions({b: False}))
    assert "error[E1102]: the ideal gives no answer for `out` at the input x = " in text
    assert ", b = false" in text
    assert "= help: assign `out` on every path, or declare it with an initial value\n" in text
    where = Fraction(text.split("x = ")[1].split(",")[0])
    assert where < 3
    assert x in ideal.symbolic_inputs
    assert message(lambda: ideal.values((F(5, 2), False))) == (
        "error[E1102]: the ideal gives no answer for `out` at the input x = 5/2, b = false\n"
        " --> <text>:1:65\n"
        "  |\n"
        "1 | program p; input x : real; input b : bool; output out : {0..9};  ideal "
        "{ if x >= 3 then out <- 1 e...\n"
        "  |                                                                  "
        "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `out` gets no value\n"
        "  = help: assign `out` on every path, or declare it with an initial value\n"
    ) or "x = 5/2, b = false\n" in message(lambda: ideal.values((F(5, 2), False)))


def test_an_ideal_that_does_not_end() -> None:
    ideal = Ideal(with_ideal("out <- 1; if x > 0 then while out = 1 do out <- 1 end end"))
    assert "error[E0706]: this `while` can go on forever\n" in message(lambda: ideal.regions({}))
    text = message(lambda: ideal.values((F(1),)))
    assert "error[E0706]: this `while` goes on forever\n" in text
    assert "  = help: this happens at the input x = 1\n" in text
    assert ideal.values((F(0),)) == (F(1),)


def test_a_value_outside_its_domain() -> None:
    ideal = Ideal(with_ideal("out <- 9; if x > 0 then out <- out + 1 end"))
    text = message(lambda: ideal.values((F(1),)))
    assert "error[E0704]: `out` would become 10, which is outside its domain\n" in text
    assert "  = help: this happens at the input x = 1\n" in text
    text = message(lambda: ideal.regions({}))
    assert "error[E0704]" in text
    assert "on the path where `x > 0` is true (line 1)" in text


@pytest.mark.parametrize(
    ("ideal", "code", "said"),
    [
        ("out <- choose { 0 : 1/2, 1 : 1/2 }", "E0309", "the ideal draws a random value"),
        ("var r : real; r <- Lap(eps, x)", "E0309", "the ideal draws a random value"),
        ("other <- 1", "E0201", "`other` is not declared"),
        ("var hidden : real; hidden <- x; out <- z", "E0309", "`z` is a variable of the program"),
        ("x <- 1", "E0301", "the input `x` is assigned"),
    ],
)
def test_ideals_that_are_refused_when_they_are_read(ideal: str, code: str, said: str) -> None:
    text = message(lambda: with_ideal(ideal, "input x : real; output out : {0..9} = 0; var z : {0..9};"))
    assert f"error[{code}]" in text
    assert said in text


def test_an_ideal_with_an_output_of_its_own() -> None:
    text = message(lambda: dipc.load("program p; output out : bool; ideal { output more : bool; out <- true }"))
    assert "error[E0102]" in text or "error[E0309]" in text
