"""What classes are made of: distances out of a region, retyped inputs, and which inputs are interchangeable."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import LimitReached, Limits
from dipc.chain import explore
from dipc.chain.state import Affine, Constraint, constraint
from dipc.program.inputs import FiniteInputs
from dipc.program.program import Probabilities
from dipc.questions.symmetric_inputs import (
    LEAST_STATES,
    class_table,
    escape,
    grouped,
    input_classes,
    promoted,
)
from dipc.questions.symmetry import Position
from dipc.text.ast import BaseType, CompareOp
from dipc.text.core import DomType, Value
from dipc.text.diagnostic import DiagnosticError

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


# --- distances -------------------------------------------------------------------------------------

_DOMAINS = st.sampled_from([(-1, 0, 1), (0, 1, 2, 5), (-2, Fraction(1, 2), 3)])
_COEFFICIENTS = st.sampled_from([-2, -1, 0, 1, 1, Fraction(1, 2)])


@st.composite
def guards(draw: st.DrawFn, whole: bool = False) -> list[Constraint]:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        coefficients = [Fraction(draw(_COEFFICIENTS)) for _ in range(3)]
        terms = tuple((slot, c) for slot, c in enumerate(coefficients) if c)
        form = Affine((), terms, Fraction(draw(st.integers(-3, 4))))
        if terms:
            found.append(constraint(form, draw(st.sampled_from([CompareOp.GE, CompareOp.GT])), whole))
    return found


@given(guards(), st.lists(_DOMAINS, min_size=3, max_size=3), st.data())
def test_the_way_out_over_listed_domains(known: list[Constraint], domains: list[tuple[Fraction, ...]], data) -> None:  # type: ignore[no-untyped-def]
    """The counts agree with all inputs."""
    positions = {
        slot: Position(slot, (), tuple(map(Fraction, domain)), whole=False) for slot, domain in enumerate(domains)
    }
    everything = [dict(enumerate(map(Fraction, point))) for point in product(*domains)]
    inside = [point for point in everything if all(guard.holds_at(point) for guard in known)]
    if not inside:
        return
    here = data.draw(st.sampled_from(inside))
    outside = [
        max(abs(here[slot] - point[slot]) for slot in here)
        for point in everything
        if not all(guard.holds_at(point) for guard in known)
    ]
    assert escape(known, here, positions) == min(outside, default=None)


@given(guards(whole=True), st.lists(st.integers(-4, 4), min_size=3, max_size=3))
def test_the_way_out_over_integers(known: list[Constraint], values: list[int]) -> None:
    """The counts agree with all integers that are near enough."""
    here = dict(enumerate(map(Fraction, values)))
    if not known or not all(guard.holds_at(here) for guard in known):
        return
    positions = {slot: Position(slot, (), None, whole=True) for slot in here}
    found = escape(known, here, positions)
    assert found is not None
    if found > 5:
        return
    reach = range(-int(found), int(found) + 1)
    steps = list(product(reach, repeat=3))
    violated = [
        max(map(abs, step)) for step in steps
        if not all(guard.holds_at({slot: here[slot] + step[slot] for slot in here}) for guard in known)
    ]  # fmt: skip
    assert min(violated) == found


@given(guards(), st.lists(st.integers(-4, 4), min_size=3, max_size=3), st.booleans())
def test_the_way_out_over_reals(known: list[Constraint], values: list[int], mixed: bool) -> None:
    """Just inside that distance every guard holds at every corner, just outside one fails at some corner."""
    here = dict(enumerate(map(Fraction, values)))
    if not known or not all(guard.holds_at(here) for guard in known):
        return
    domain = (here[0], here[0] + 1) if mixed else None
    positions = {slot: Position(slot, (), domain if slot == 0 else None, whole=False) for slot in here}
    found = escape(known, here, positions)
    tiny = Fraction(1, 10**6)

    def holds(radius: Fraction) -> bool:
        if radius < 0:
            return True
        first = (here[0], *([here[0] + 1] if radius >= 1 else [])) if mixed else (here[0] - radius, here[0] + radius)
        others = [(here[slot] - radius, here[slot] + radius) for slot in (1, 2)]
        corners = [dict(enumerate(corner)) for corner in product(first, *others)]
        return all(guard.holds_at(corner) for corner in corners for guard in known)

    if found is None:
        assert holds(Fraction(1000))
    else:
        assert holds(found - tiny)
        assert not holds(found + tiny)


# --- retyped inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "types"), [
    ("r <- Lap(eps, x); if r >= y then out <- 1 end", (BaseType.REAL, BaseType.REAL)),
    ("z <- DLap(eps, x); if z >= y then out <- 1 end", (BaseType.INT, BaseType.INT)),
    ("r <- Lap(eps, x*y); if r >= 0 then out <- 1 end", (BaseType.REAL, DomType)),
    ("r <- Lap(eps, x); out <- y", (BaseType.REAL, DomType)),
    ("r <- Lap(eps, x); if r >= a[y] then out <- 1 end", (BaseType.REAL, DomType)),
    ("r <- Lap(eps, x); if r >= min(x, y) then out <- 1 end", (BaseType.REAL, BaseType.REAL)),
])  # fmt: skip
def test_promotion_keeps_what_must_be_finite(body: str, types: tuple[object, object]) -> None:
    program = dipc.load(
        f"program p; input x : {{0..1}}; input y : {{0..1}}; output out : {{0..1}} = 0; var r : real; var z : int;"
        f"var a[0..1] : {{0..1}} = 0; ideal {{ out <- 0 }} {body}"
    )
    slots = promoted(program).core.slots
    assert tuple(slots[slot].type if slots[slot].is_symbolic else DomType for slot in program.core.inputs) == types


def test_promotion_makes_no_integers_of_halves() -> None:
    """The number 1/2 as an int would be neither more than 0 nor at most 0."""
    program = dipc.load(
        "program p; input y : {0, 1/2, 1}; output out : {0..1} = 0; var n : int; ideal { if y > 0 then out <- 1 end }"
        "n <- DLap(eps, 1); if n >= y then out <- 1 end"
    )
    assert promoted(program) is program
    assert [(each.answer, each.dd) for each in input_classes(program, {0: values("0", "1/2", "1")})[1]] == [
        (values("0"), Fraction(1, 2)),
        (values("1"), Fraction(1, 2)),
        (values("1"), Fraction(1)),
    ]


def test_ints_compared_with_ints_of_a_listed_domain() -> None:
    """y is executed as an int, but has a listed domain: the way out of y < x is by x, by y, or by both."""
    program = dipc.load(
        "program p; input x : int; input y : {0..3}; output out : {0..1} = 0; var n : int;"
        "ideal { if x > y then out <- 1 end } n <- DLap(eps, x); if n > y then out <- 1 end"
    )
    _, found = input_classes(program, {0: values("-1", "2"), 1: values("0", "3")})
    dds = {each.inputs: each.dd for each in found}
    assert dds == {values("-1", "0"): 2, values("-1", "3"): 3, values("2", "0"): 1, values("2", "3"): 1}


def values(*texts: str) -> tuple[Value, ...]:
    return tuple(map(Fraction, texts))


def test_promotion_changes_no_probability() -> None:
    text = (BENCHMARKS / "noisy_max.dip").read_text().replace("q[1..m] : real", "q[1..m] : {0, 1/2, 2}")
    program = dipc.load(text)
    retyped = promoted(program)
    assert retyped is not program
    for q in product(["0", "1/2", "2"], repeat=3):
        for out in (1, 2, 3):
            assert program.probability({"q": q}, {"out": out}) == retyped.probability({"q": q}, {"out": out})


# --- classes ---------------------------------------------------------------------------------------


def table(text: str, values: tuple[int, ...], **constants: int) -> list[tuple[tuple[Value, ...], int]]:
    program = dipc.load(text, **constants)
    choices = tuple(tuple(map(Fraction, values)) for _ in program.core.inputs)
    found = class_table(program, FiniteInputs("grid", choices))
    return [(each.inputs, each.count) for each in found.classes]


def test_sparse_has_a_class_for_each_first_answer_and_distance() -> None:
    """bot…bot, then a top that is 0 or 1: the bots are all -1, and what follows the top does not matter."""
    found = table((BENCHMARKS / "sparse.dip").read_text(), (-1, 0, 1), m=12)
    assert len(found) == 2 * 12 + 1
    assert sum(count for _, count in found) == 3**12
    counts = {inputs[:at]: count for inputs, count in found for at in range(1, 13) if inputs[at - 1] >= 0 or at == 12}
    for at in range(1, 12):
        assert counts[(*[Fraction(-1)] * (at - 1), Fraction(1))] == 3 ** (12 - at)


def test_all_queries_above_of_sparse_are_exchanged() -> None:
    """The queries before the first top are alike, the first one too."""
    program = dipc.load((BENCHMARKS / "sparse.dip").read_text(), m=5)
    found = class_table(program, FiniteInputs("grid", ((Fraction(-1), Fraction(0)),) * 5))
    blocks = {each.inputs: [sorted(block.slots) for block in each.blocks if not block.free] for each in found.classes}
    slots = sorted(program.core.inputs)
    assert blocks[(Fraction(-1),) * 5] == [slots]


def test_other_rates_are_other_classes() -> None:
    """Equal noises below their thresholds are exchanged for each other; a smaller one for none of them."""
    head = (
        "program p; input q[1..3] : real; output out : {0..3} = 0; var r[1..3] : real; var n : {0..3} = 0;"
        "ideal { var n : {0..3} = 0; for i in 1..3 do if q[i] >= 0 then n <- n + 1 end end; out <- n }"
    )
    tail = "for i in 1..3 do if r[i] >= 0 then n <- n + 1 end end; out <- n"
    noises = "r[1] <- Lap(eps, q[1]); r[2] <- Lap({}, q[2]); r[3] <- Lap(eps, q[3]);"
    alike = table(head + noises.format("eps") + tail, (-2, -1, 1))
    other = table(head + noises.format("2*eps") + tail, (-2, -1, 1))
    # No top: multisets of two values; one top: three pairs of others; two tops: one other; three tops.
    assert len(alike) == 4 + 3 * 3 + 3 * 2 + 1
    assert len(other) == 2 * 3 + (3 + 4 + 4) + 3 * 2 + 1
    assert sum(count for _, count in alike) == sum(count for _, count in other) == 27


def test_too_many_classes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a distance is computed: those of so many classes take longer than anyone waits."""

    def dear(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("dipc.questions.symmetric_inputs._ClassSearch._dd", dear)
    program = dipc.load(BENCHMARKS / "noisy_max.dip", m=4).with_limits(Limits(orbits=5))
    with pytest.raises(DiagnosticError) as error:
        input_classes(program, dict.fromkeys(program.core.inputs, (Fraction(0), Fraction(1), Fraction(2))))
    assert [found.code for found in error.value.diagnostics] == ["E1251"]


def test_too_many_classes_that_nobody_asked_for_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs are decided one by one past the limit on classes, and where hardly any are alike.

    The limit on rows may refuse them.
    """
    monkeypatch.setattr("dipc.questions.symmetric_inputs.ROW_BY_ROW", 6)
    program = dipc.load(BENCHMARKS / "sparse.dip", m=1)
    few, inputs = program.with_limits(Limits(orbits=5)), "q = -3..3"
    by_classes, by_rows = dipc.check(program, inputs=inputs, classes=True), dipc.check(few, inputs=inputs)
    assert all(row.count == 1 for row in by_classes.rows)
    assert all(row.count is None for row in dipc.check(program, inputs=inputs).rows)
    assert by_rows.rows == dipc.check(program, inputs=inputs, classes=False).rows
    assert all(row.count is None for row in by_rows.rows)
    with pytest.raises(DiagnosticError, match="limit `orbits`"):
        dipc.check(few, inputs=inputs, classes=True)
    with pytest.raises(DiagnosticError, match="--limit rows=N"):
        dipc.check(program.with_limits(Limits(orbits=5, rows=6)), inputs=inputs)


def test_formulas_of_a_metric_leave_no_symmetry() -> None:
    """Inputs are taken one by one where dd depends on formulas: the counts are 1, and the verdicts those of rows."""
    program = dipc.load(BENCHMARKS / "noisy_max_ties.dip", m=3)
    classes = dipc.check(program, inputs="q = -1..1", classes=True)
    rows = dipc.check(program, inputs="q = -1..1", classes=False)
    assert {row.count for row in classes.rows} == {1}
    one = {tuple(row.input.values()): (row.alpha, row.verdict, row.probability) for row in rows.rows}
    assert {tuple(row.input.values()): (row.alpha, row.verdict, row.probability) for row in classes.rows} == one


@pytest.mark.parametrize("norm", ["linf", "l1", "discrete"])
def test_other_distances_of_inputs(norm: str) -> None:
    text = (BENCHMARKS / "noisy_max.dip").read_text().replace("claim {", f"metric {{ input: {norm}; }} claim {{")
    for inputs in ("real", "{0..2}"):
        program = dipc.load(text.replace("q[1..m] : real", f"q[1..m] : {inputs}"), m=3)
        rows = dipc.check(program, inputs="q = 0..2", classes=False)
        classes = dipc.check(program, inputs="q = 0..2", classes=True)
        one = {tuple(row.input.values()): (row.alpha, row.verdict, row.probability) for row in rows.rows}
        for row in classes.rows:
            assert one[tuple(row.input.values())] == (row.alpha, row.verdict, row.probability)
        assert sum(row.count or 0 for row in classes.rows) == 27


@pytest.mark.parametrize("distance", ["discrete", "linf", "abs(out - out')"])
@pytest.mark.parametrize("gamma", ["0", "1", "free"])
def test_other_distances_of_answers(distance: str, gamma: str) -> None:
    """The rows are those of single inputs, even where the set of near answers depends on the input."""
    text = (BENCHMARKS / "noisy_max.dip").read_text().replace("claim {", f"metric {{ output: {distance}; }} claim {{")
    program = dipc.load(text.replace("gamma: 0;", ""), m=3)
    options = {
        "inputs": "q[1] in {0, 2}; q[2] = 0..1; q[3] = 0..1",
        "gamma": gamma,
        "beta": "exp(-(alpha + gamma)*eps)",
    }
    rows = dipc.check(program, classes=False, **options)
    classes = dipc.check(program, classes=True, **options)
    one = {tuple(row.input.values()): (row.alpha, row.verdict, row.probability) for row in rows.rows}
    assert {tuple(row.input.values()): (row.alpha, row.verdict, row.probability) for row in classes.rows} == one


def test_classes_that_are_undecided() -> None:
    program = dipc.load(BENCHMARKS / "noisy_max.dip", m=3)
    # So few intervals of eps settle some signs, and not all.
    limits = Limits(intervals=20)
    report = dipc.check(program, inputs="q = 0..1", classes=True, limits=limits)
    assert report.verdict is dipc.Verdict.UNDECIDED
    counts = {verdict: sum(row.count or 0 for row in report.select(verdict)) for verdict in dipc.Verdict}
    assert counts == {dipc.Verdict.ACCURATE: 3, dipc.Verdict.INACCURATE: 0, dipc.Verdict.UNDECIDED: 5}


def test_without_the_exits_nothing_is_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> None:
        raise LimitReached("states", "the chain has too many states")

    values = (-2, -1, 1)
    text = (BENCHMARKS / "sparse.dip").read_text()
    assert len(table(text, values)) < 27
    monkeypatch.setattr(Probabilities, "exits", give_up)
    assert len(table(text, values)) == 27


def test_inputs_of_which_each_is_a_region_of_its_own_are_soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an input is 1 says of a number that it is less, 1, or more: 3^m regions, each longer than a row."""
    expanded = []
    expand = explore._Explorer._expand

    def counted(self, *arguments):  # type: ignore[no-untyped-def]
        expanded.append(1)
        return expand(self, *arguments)

    monkeypatch.setattr(explore._Explorer, "_expand", counted)
    monkeypatch.setattr("dipc.questions.multisets.LEAST_INPUTS", 10**6)  # these inputs are interchangeable
    program = dipc.load(
        """
        program counting; const m = 10; input q[1..m] : {-1..1}; output answer : {no, yes};
        ideal {
          var c : {0..m} = 0;
          for i in 1..m do if q[i] = 1 then c <- c + 1 end end;
          if c >= 4 then answer <- yes else answer <- no end
        }
        var c : {0..m} = 0; var r : real;
        for i in 1..m do if q[i] = 1 then c <- c + 1 end end;
        r <- Lap(eps, c);
        if r >= 7/2 then answer <- yes else answer <- no end
        """
    )
    assert grouped(program, None, None) is None
    assert 0 < len(expanded) <= LEAST_STATES
