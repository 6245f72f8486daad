"""dd(u): closed forms against z3's optimizer, against grids, and against what is known by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from benchmarks import tables
from benchmarks.mechanisms import MECHANISMS
from benchmarks.tasks import FIRST_TWO
from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.explore import _Explorer
from dipc.chain.state import Comparison, Edge, State
from dipc.linear.program import Simplex
from dipc.program.ideal import Distances, Ideal
from dipc.program.metric import Norm
from dipc.program.nearby import NearbyRun
from dipc.text.diagnostic import DiagnosticError
from tests.patience import examples
from tests.program.programs import (
    BENCHMARKS,
    OPERATIONS,
    F,
    Tree,
    answer,
    any_coefficients,
    differences,
    scaled,
    source,
    trees,
    with_ideal,
)

HALVES = [F(k, 2) for k in range(-3, 4)]
QUARTERS = st.integers(-8, 8).map(lambda k: F(k, 4))


def lengths(norm: Norm, gaps: Sequence[Fraction]) -> Fraction:
    return max(gaps) if norm is Norm.LINF else sum(gaps)


MEDIAN = """
program median;
const m = 9, k = 5;
input q[1..m] : real;
output out : {0..m} = 0;
ideal {
  var below : {0..m};
  for i in 1..m do
    below <- 0;
    for j in 1..i-1 do if q[j] <= q[i] then below <- below + 1 end end;
    for j in i+1..m do if q[j] < q[i] then below <- below + 1 end end;
    if below = k - 1 then out <- i end
  end
}
out <- 0
"""

# --- two independent ways --------------------------------------------------------------------------


@settings(max_examples=examples(5))
@given(trees(2, differences(2), HALVES), st.tuples(QUARTERS, QUARTERS), st.sampled_from([Norm.LINF, Norm.L1]))
def test_dd_against_a_grid(tree: Tree, u: tuple[Fraction, Fraction], norm: Norm) -> None:
    """The least distance found on a grid is dd, or exceeds dd by less than one step.

    Borders are x = c/2 and x - y = c/2, so the nearest other answer is at a point of the grid of eighths, or just
    beside one.
    """
    scale = 8000  # integers are quick to compare
    small = scaled(tree, scale)
    at = [int(value * scale) for value in u]
    own = answer(tree, u)
    assert answer(small, at) == own
    found = Distances(Ideal(dipc.load(source(tree, 2))), norm).dd(u)
    steps = [(0, 0), (8, 0), (0, 8), (-8, 0), (0, -8), (8, 8), (-8, -8), (8, -8), (-8, 8)]
    steps += [(8, 16), (16, 8), (-8, -16), (-16, -8)]
    least: int | None = None
    for x in itertools.product(range(-30 * 1000, 31 * 1000, 1000), repeat=2):
        if least is not None and lengths(norm, [abs(a - b) for a, b in zip(at, x, strict=True)]) >= least:
            continue
        for step in steps:
            v = (x[0] + step[0], x[1] + step[1])
            if answer(small, v) != own:
                gap = lengths(norm, [abs(a - b) for a, b in zip(at, v, strict=True)])
                least = gap if least is None else min(least, gap)
    if found is None:
        assert least is None
    elif least is not None:
        assert found <= F(least, scale) <= found + F(32, scale)
    else:
        assert found > 1


def optimum(tree: Tree, u: Sequence[Fraction], norm: Norm) -> Fraction | None:
    """dd by z3 alone: the whole tree as one formula, strict inequalities by infinitesimals."""
    x = [z3.Real(f"x{i}") for i in range(len(u))]
    number = {value: z3.Q(value.numerator, value.denominator) for value in u}

    def compiled(node: Tree | int) -> z3.ArithRef:
        if isinstance(node, int):
            return z3.IntVal(node)
        terms = [c * v for c, v in zip(node.coefficients, x, strict=True)]
        total = z3.Sum(*terms, z3.Q(node.constant.numerator, node.constant.denominator))
        compare = {"<": total < 0, "<=": total <= 0, ">": total > 0, ">=": total >= 0, "=": total == 0}
        condition = compare.get(node.op, total != 0)
        return z3.If(condition, compiled(node.then), compiled(node.otherwise))

    optimizer = z3.Optimize()
    optimizer.add(compiled(tree) != answer(tree, u))
    gaps = [z3.Real(f"t{i}") for i in range(len(u))]
    for gap, variable, value in zip(gaps, x, u, strict=True):
        optimizer.add(gap >= variable - number[value], gap >= number[value] - variable)
    if norm is Norm.LINF:
        longest = z3.Real("t")
        optimizer.add(*[longest >= gap for gap in gaps])
        objective = optimizer.minimize(longest)
    else:
        objective = optimizer.minimize(z3.Sum(*gaps))
    if optimizer.check() == z3.unsat:
        return None
    # (infinite part, number, infinitesimal part)
    infinite, value, _ = optimizer.lower_values(objective)
    assert str(infinite) == "0"
    return Fraction(str(value))


@settings(max_examples=examples(8))
@given(
    trees(3, any_coefficients(3), HALVES) | trees(3, differences(3), HALVES),
    st.tuples(QUARTERS, QUARTERS, QUARTERS),
    st.sampled_from([Norm.LINF, Norm.L1]),
)
def test_dd_against_z3(tree: Tree, u: tuple[Fraction, ...], norm: Norm) -> None:
    assert Distances(Ideal(dipc.load(source(tree, 3))), norm).dd(u) == optimum(tree, u, norm)


@settings(max_examples=examples(10))
@given(
    trees(3, any_coefficients(3), HALVES) | trees(3, differences(3), HALVES),
    st.tuples(QUARTERS, QUARTERS, QUARTERS) | st.tuples(*[st.integers(-2, 2).map(F)] * 3),
    st.sampled_from([Norm.LINF, Norm.L1]),
    st.sampled_from(["real", "int"]),
)
def test_dd_from_a_box_around_the_input(tree: Tree, u: tuple[Fraction, ...], norm: Norm, kind: str) -> None:
    """The same as from all regions."""
    point = u if kind == "real" else tuple(F(round(value)) for value in u)
    program = dipc.load(source(tree, 3, kind))
    expected = Distances(Ideal(program), norm).dd(point)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dipc.program.ideal._FEW_STATES", 0)
        assert Distances(Ideal(program), norm).dd(point) == expected
        patch.setattr(Ideal, "is_constant_near", lambda *_: False)
        assert Distances(Ideal(program), norm).dd(point) == expected


@settings(max_examples=examples(10))
@given(
    trees(2, any_coefficients(2), HALVES) | trees(2, differences(2), HALVES),
    st.tuples(QUARTERS, QUARTERS),
    st.sampled_from([F(1, 4), F(1), F(5, 2)]),
    st.sampled_from([Norm.LINF, Norm.L1]),
)
def test_an_answer_that_is_constant_nearby(tree: Tree, u: tuple[Fraction, ...], radius: Fraction, norm: Norm) -> None:
    """A claim of a constant answer holds at every point of a grid inside the ball, and dd is no smaller."""
    ideal = Ideal(dipc.load(source(tree, 2)))
    if not ideal.is_constant_near({}, ideal.values(u), dict(zip(ideal.symbolic_inputs, u, strict=True)), radius, norm):
        return
    found = optimum(tree, u, norm)
    assert found is None or found >= radius
    moves = [radius * F(k, 5) for k in range(-4, 5)]
    near = [x for x in itertools.product(moves, repeat=2) if lengths(norm, [*map(abs, x)]) < radius]
    assert all(answer(tree, (u[0] + a, u[1] + b)) == answer(tree, u) for a, b in near)


def test_ties_take_one_run_of_the_ideal_and_no_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons grow as pairs of queries, states as queries: 12, 24 and 48 of which all but one are equal."""
    compared: list[int] = []
    created: list[int] = []
    takes, add = NearbyRun._may_take, _Explorer._add

    def counted(self: NearbyRun, edge: Edge) -> bool:
        compared[-1] += isinstance(edge, Comparison) and edge.holds
        return takes(self, edge)

    def added(self: _Explorer, state: State) -> int:
        created[-1] += 1
        return add(self, state)

    monkeypatch.setattr("dipc.program.ideal._FEW_STATES", 1)
    monkeypatch.setattr(NearbyRun, "_may_take", counted)
    monkeypatch.setattr(_Explorer, "_add", added)
    for m in (12, 24, 48):
        compared.append(0)
        created.append(0)
        for high, place in ((1, m - 1), (1, 0), (-1, m // 2)):
            u = [F(0)] * m
            u[place] = F(high)
            expected = F(1, 2) if high > 0 else F(0)
            assert Distances(Ideal(dipc.load(BENCHMARKS / "noisy_max.dip", m=m))).dd(u) == expected
    assert compared[2] <= 5 * compared[1] <= 25 * compared[0] <= 25 * 12 * 12
    assert all(states <= 8 * m for states, m in zip(created, (12, 24, 48), strict=True))


def sorted_gap(u: Sequence[Fraction], places: Sequence[int]) -> Fraction:
    """Half of the least difference of values that are next to each other, at these places by size."""
    ordered = sorted(u, reverse=True)
    return min(ordered[at] - ordered[at + 1] for at in places) / 2


@pytest.mark.parametrize("clustered", [False, True])
def test_dd_of_the_median_of_nine_and_the_first_two_of_eight(clustered: bool) -> None:
    """All orders are too many: 9! and 8! regions."""
    median = [F(x, 7) for x in (-9, 20, 3, 14, -5, 0, 8, -13, 2)]
    first = [F(x, 7) for x in (3, 20, -8, 14, -5, 0, 8, -13)]
    if clustered:
        median = [F(x) for x in ("0", "10", "1/100", "10.01", "5", "1/50", "10.02", "0.03", "10.03")]
        first = [F(x) for x in ("5", "0", "0.01", "4", "0", "0.02", "0.03", "0.04")]
    assert Distances(Ideal(dipc.load(MEDIAN, m=9, k=5))).dd(median) == sorted_gap(median, (3, 4))
    assert Distances(Ideal(dipc.load(FIRST_TWO, m=8))).dd(first) == sorted_gap(first, (0, 1))
    assert Distances(Ideal(dipc.load(FIRST_TWO, m=8))).dd([F(0)] * 8) == 0


@settings(max_examples=examples(5))
@given(
    trees(2, any_coefficients(2), HALVES) | trees(2, differences(2), HALVES),
    st.tuples(st.integers(-4, 4).map(F), st.integers(-4, 4).map(F)),
    st.sampled_from([Norm.LINF, Norm.L1]),
)
def test_dd_of_ints_against_all_ints_near(tree: Tree, u: tuple[Fraction, ...], norm: Norm) -> None:
    found = Distances(Ideal(dipc.load(source(tree, 2, "int"))), norm).dd(u)
    near = [
        lengths(norm, [abs(a - b) for a, b in zip(u, x, strict=True)])
        for x in itertools.product([F(k) for k in range(-9, 10)], repeat=2)
        if answer(tree, x) != answer(tree, u)
    ]
    # Within distance 5 of u there is nothing but these.
    if found is None or found > 5:
        assert all(gap > 5 for gap in near)
    else:
        assert min(near) == found


def test_the_oracle_knows_all_operations() -> None:
    for op in OPERATIONS:
        assert optimum(Tree((1,), F(-2), op, 1, 0), (F(0),), Norm.LINF) == 2


# --- mechanisms ------------------------------------------------------------------------------------

CASES = [
    (name, {"m": m, **({"c": c} if c else {})})
    for name, mechanism in MECHANISMS.items()
    for m in (1, 2, 3)
    for c in (range(1, m + 1) if "c" in mechanism.defaults else [0])
]


@pytest.mark.parametrize(("name", "given"), CASES, ids=str)
def test_dd_and_det_are_those_of_the_benchmarks_tables(name: str, given: dict[str, int]) -> None:
    mechanism = MECHANISMS[name]
    constants = mechanism.constants({key: F(value) for key, value in given.items()})
    ideal = Ideal(dipc.load(mechanism.path, **given))
    distances = Distances(ideal)
    for u in tables.grid(range(-1, 2), given["m"]):
        expected = mechanism.ideal(constants, u)
        outputs = ideal.values(u)
        assert distances.dd(u) == expected.dd
        assert [value for value in expected.outputs if value is not None] == [
            found for found, value in zip(outputs, expected.outputs, strict=True) if value is not None
        ]


def test_other_inputs_than_integers() -> None:
    assert Distances(Ideal(dipc.load(BENCHMARKS / "noisy_max.dip"))).dd((F(1, 3), F(1, 2), F(0))) == F(1, 12)
    assert Distances(Ideal(dipc.load(BENCHMARKS / "sparse.dip", c=3))).dd((F(7, 2), F(-1, 9), F(5))) == F(1, 9)


def test_many_regions_need_not_be_looked_at() -> None:
    """2^40 answers, and the region of one of them."""
    from dipc.algebra.limits import Limits

    program = dipc.load(BENCHMARKS / "sparse.dip", m=40, c=40).with_limits(Limits(states=500))
    assert Distances(Ideal(program)).dd([F(2 * k - 41, 3) for k in range(40)]) == F(1, 3)


# --- strictness and emptiness ----------------------------------------------------------------------


def test_a_border_is_at_distance_zero_from_both_sides() -> None:
    ideal = Ideal(with_ideal("if x > 1 then out <- 1 end"))
    assert Distances(ideal).dd((F(1),)) == 0
    assert Distances(ideal).dd((F(2),)) == 1
    point = Ideal(with_ideal("if x = 1 then out <- 1 end"))
    assert (Distances(point).dd((F(1),)), Distances(point).dd((F(3),))) == (0, 2)
    nothing = Ideal(with_ideal("if x > 1 and x < 1 then out <- 1 end"))
    assert Distances(nothing).dd((F(0),)) is None


def test_an_answer_that_is_a_form_is_at_distance_zero() -> None:
    program = with_ideal("y <- x", "input x : real; output y : real;")
    assert Distances(Ideal(program)).dd((F(3),)) == 0
    clamped = with_ideal("if x > 1 then y <- x else y <- 1 end", "input x : real; output y : real;")
    assert (Distances(Ideal(clamped)).dd((F(0),)), Distances(Ideal(clamped)).dd((F(2),))) == (1, 0)
    again = with_ideal("if x > 1 then y <- x - 1 else y <- 1 end", "input x : real; output y : real;")
    assert Distances(Ideal(again)).dd((F(0),)) == 1


# --- finite inputs ---------------------------------------------------------------------------------

FINITE = "input a : {0, 1/2, 3}; input b : bool; input c : {red, green}; output out : {0..9} = 0;"


def test_finite_inputs_are_compared_with_all_others() -> None:
    ideal = Ideal(with_ideal("if a = 3 then out <- 1 end; if b and c = green then out <- 2 end", FINITE))
    assert Distances(ideal).dd((F(0), False, "red")) == 1  # both b and c
    assert Distances(ideal, Norm.L1).dd((F(0), False, "red")) == 2
    assert Distances(ideal, Norm.L1).dd((F(1, 2), False, "red")) == 2
    assert Distances(ideal, Norm.DISCRETE).dd((F(0), False, "red")) == 1
    only = Ideal(with_ideal("if a = 3 then out <- 1 end", FINITE))
    assert Distances(only).dd((F(1, 2), True, "red")) == F(5, 2)
    assert Distances(Ideal(with_ideal("out <- 4", FINITE))).dd((F(0), True, "red")) is None


@given(st.lists(st.integers(0, 2), min_size=27, max_size=27), st.sampled_from([*Norm]))
@settings(max_examples=examples(5))
def test_finite_inputs_against_all_pairs(answers: list[int], norm: Norm) -> None:
    cells = list(itertools.product(range(3), repeat=3))
    body = "; ".join(
        f"if a = {a} and b = {b} and c = {c} then out <- {value} end"
        for (a, b, c), value in zip(cells, answers, strict=True)
    )
    ideal = Ideal(with_ideal(body, "input a, b, c : {0..2}; output out : {0..2} = 0;"))
    distances = Distances(ideal, norm)
    for u, own in zip(cells[::5], answers[::5], strict=True):
        gaps = [[abs(a - b) for a, b in zip(u, v, strict=True)] for v in cells]
        sizes = [max(gap) if norm is Norm.LINF else sum(gap) if norm is Norm.L1 else int(any(gap)) for gap in gaps]
        others = [size for size, value in zip(sizes, answers, strict=True) if value != own]
        assert distances.dd([F(x) for x in u]) == min(others, default=None)


def test_finite_and_real_inputs_together() -> None:
    program = with_ideal("if x >= k then out <- 1 end", "input k : {0, 5}; input x : real; output out : {0..9} = 0;")
    ideal = Ideal(program)
    assert Distances(ideal).dd((F(0), F(3))) == 3  # x below 0; k = 5 is further away
    assert Distances(ideal).dd((F(0), F(7))) == 5  # k = 5 and x below 5, which is 2 away
    assert Distances(ideal, Norm.L1).dd((F(0), F(7))) == 7


def test_too_many_finite_inputs_are_a_limit() -> None:
    program = with_ideal("if a[1] = 9 then out <- 1 end", "input a[1..7] : {0..9}; output out : {0..9} = 0;")
    with pytest.raises(LimitReached) as caught:
        Distances(Ideal(program)).dd([F(0)] * 7)
    assert (
        caught.value.reason
        == "the finite inputs have 10000000 combinations, too many to compare (limit `combinations`)"
    )


# --- metrics ---------------------------------------------------------------------------------------


def test_the_metric_of_the_program_counts() -> None:
    line = "if x + y > 4 then out <- 1 end"
    declarations = "input x, y : real; output out : {0..9} = 0;"
    for name, expected in (("linf", 2), ("l1", 4), ("discrete", 1)):
        program = with_ideal(line, declarations, f"metric {{ input: {name}; }}")
        assert Distances(Ideal(program)).dd((F(0), F(0))) == expected


def test_inputs_that_are_apart_do_not_count() -> None:
    program = with_ideal(
        "if x > 1 then out <- 1 end; if x < -2 then out <- 2 end",
        "input x : real; output out : {0..9} = 0;",
        "metric { apart: x' > 1; }",
    )
    assert Distances(Ideal(program)).dd((F(0),)) == 2
    everything = with_ideal(
        "if x > 1 then out <- 1 end", "input x : real; output out : {0..9} = 0;", "metric { apart: x != x'; }"
    )
    assert Distances(Ideal(everything)).dd((F(0),)) is None


def test_answers_that_are_the_same_do_not_count() -> None:
    program = with_ideal(
        "if x > 1 then out <- 1 end; if x > 3 then out <- 5 end",
        "input x : real; output out : {0..9} = 0;",
        "metric { same: abs(out - out') <= 1; }",
    )
    ideal = Ideal(program)
    assert [Distances(ideal).dd((F(k),)) for k in (0, 2, 4)] == [3, 1, 1]
    real = with_ideal("y <- 2*x", "input x : real; output y : real;", "metric { same: y - y' < 1 and y' - y < 1; }")
    assert Distances(Ideal(real)).dd((F(5),)) == F(1, 2)


@settings(max_examples=examples(8))
@given(trees(2, differences(2), HALVES), st.tuples(QUARTERS, QUARTERS), st.integers(0, 2))
def test_apart_against_the_regions_without_it(tree: Tree, u: tuple[Fraction, ...], k: int) -> None:
    """Inputs with a larger second coordinate are apart: the same as an ideal that answers there what it does at u."""
    text = source(tree, 2)
    plain = Ideal(dipc.load(text.replace("ideal {", f"metric {{ apart: x'[2] > {k}; }} ideal {{")))
    own = answer(tree, u)
    cut = Ideal(
        dipc.load(
            text.replace("ideal {", f"ideal {{ if x[2] > {k} then out <- {own} else").replace("} out", "end } out")
        )
    )
    assert Distances(plain).dd(u) == Distances(cut).dd(u)


def test_an_index_out_of_range_in_a_metric_names_the_input() -> None:
    program = with_ideal(
        "if q[1] > 0 then out <- 1 end",
        "input q[1..2] : real; output out : {0..9} = 0;",
        "metric { same: q[out] = q[out']; }",
    )
    with pytest.raises(DiagnosticError) as caught:
        Distances(Ideal(program)).dd((F(3), F(1)))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0703", "the index 0 is outside `q[1..2]`")
    assert "this happens at the input q[1] = 3, q[2] = 1" in found.notes


# --- no solver is taken at its word ----------------------------------------------------------------


@pytest.mark.parametrize("told", [None, {0: F(1)}, {0: F(1, 3), 1: F(1, 4)}, {0: F(-1), 1: F(1)}, {}])
def test_a_solver_that_is_wrong_is_not_believed(
    told: dict[int, Fraction] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = with_ideal(
        "if x + 2*y > 4 and 2*x + y > 5 then out <- 1 end", "input x, y : real; output out : {0..9} = 0;"
    )
    assert Distances(Ideal(program), Norm.L1).dd((F(0), F(0))) == 3
    monkeypatch.setattr(Simplex, "minimize", lambda self, goal: told)
    with pytest.raises(Undecided) as caught:
        Distances(Ideal(program), Norm.L1).dd((F(0), F(0)))
    assert caught.value.reason == "exact arithmetic did not confirm the answer to a system of linear inequalities"
