"""Programs that look alike for every query, or far from other answers, and are not: none may be called accurate."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.program.ideal import Distances, Ideal
from dipc.questions.every_number.uniform import NotUniform
from dipc.questions.every_number.union_bound import UnionBound, union_of
from dipc.text.diagnostic import DiagnosticError
from tests.questions.real_programs import ABOVE_THRESHOLD, NOISY_MAX, SPARSE, check_all, program
from tests.questions.test_all_inputs import RowByRow
from tests.questions.test_for_all import OPEN


def with_apart(condition: str) -> str:
    return ABOVE_THRESHOLD.replace("var rT", f"metric {{ apart: {condition}; }}\nvar rT")


#: One scalar of the ideal has the name of an array of the program: it counts to two, and the facets then move.
ONE_NAME_FOR_TWO = """
program p; const m = 3; domain answer = {none, bot, top};
input q[1..m] : real; output out[1..m] : answer = none;
var s[1..m] : {0..2} = 0; var r : real;
ideal {
  var s : {0..2} = 0;
  for i in 1..m do
    if s <= 1 then
      if q[i] >= 0 then out[i] <- top else out[i] <- bot end;
      s <- s + 1
    else
      if q[i] >= 1 then out[i] <- top else out[i] <- bot end
    end
  end
}
claim { alpha: dd; beta: m*exp(-alpha*eps); }
for i in 1..m do
  r <- Lap(eps, q[i]);
  if r >= 0 then out[i] <- top else out[i] <- bot end;
  s[i] <- 1
end
"""

NOT_ALIKE = {
    "a metric that leaves out the first index": (with_apart("for i in 2..m: q[i] != q'[i]"), "metric"),
    "a metric that leaves out the last index": (with_apart("for i in 1..m - 1: q[i] != q'[i]"), "metric"),
    "a metric about a few indices": (with_apart("for i in 2..3: q[i] != q'[i]"), "metric"),
    "a metric about one index": (with_apart("q[2] != q'[2]"), "metric"),
    "a metric that compares with one index": (with_apart("for i in 1..m: q[i] != q'[i] and q[2] >= 0"), "metric"),
    "one name for two": (ONE_NAME_FOR_TWO, "`s` is declared both"),
}


def union(source: str) -> UnionBound:
    return union_of(dipc.load(source), "m", OPEN)


@pytest.mark.parametrize("name", NOT_ALIKE)
def test_what_differs_from_one_index_to_another_is_not_covered(name: str) -> None:
    source, expected = NOT_ALIKE[name]
    with pytest.raises(NotUniform, match=expected):
        union(source)


def test_a_metric_about_every_index_is_covered() -> None:
    assert union(with_apart("for i in 1..m: q[i] >= 0 and q'[i] >= 0 and q[i] != q'[i]")).start == 2


def test_a_selection_from_finite_inputs_is_not_covered() -> None:
    """The input nearest to (1, 0) with another answer is (0, 0), whose value differs by 1 only, not by 2."""
    source = NOISY_MAX.replace("q[1..m] : real", "q[1..m] : {0, 1}")
    beta = "3*m*exp(-9*alpha*eps/10)"
    rows = dipc.check(dipc.load(source), inputs=["q in {0, 1}"], beta=beta).rows
    assert Verdict.INACCURATE in {row.verdict for row in rows}
    with pytest.raises(NotUniform, match="not real"):
        union(source)


def test_inputs_may_be_infinitely_far_from_others_in_the_discrete_metric() -> None:
    """dd is infinite, not 1, where all other inputs are apart: the answer is right with probability 1 - e^{-eps}."""
    source = program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, 0); if r >= -1 and r <= 1 then if x >= 0 then o <- b end else o <- c end",
        "alpha: dd; beta: exp(-alpha*eps)",
        "input: discrete; apart: x != x'",
    )
    loaded = dipc.load(source)
    (row,) = RowByRow(loaded).decided([dict.fromkeys(Ideal(loaded).symbolic_inputs, Fraction(1))])
    assert (row.verdict, row.alpha) == (Verdict.INACCURATE, "inf")
    assert check_all(loaded).verdict is not Verdict.ACCURATE


FIXED_DOMAINS = {
    "a range": NOISY_MAX.replace("{1..m} = 1", "{1..3} = 1"),
    "a list": NOISY_MAX.replace("{1..m} = 1", "{1, 2, 3} = 1"),
    "a name": NOISY_MAX.replace("{1..m} = 1", "place = 1").replace("input q", "domain place = {1..3}; input q"),
}


@pytest.mark.parametrize("name", FIXED_DOMAINS)
def test_a_selection_whose_answer_has_no_room_for_later_indices_is_not_covered(name: str) -> None:
    """The answer would become 4 with four queries, which is outside its domain: the program would have no meaning."""
    source = FIXED_DOMAINS[name]
    with pytest.raises(DiagnosticError, match="cannot hold 4"):
        check_all(dipc.load(source, m=4))
    with pytest.raises(NotUniform):
        union(source)


def test_a_selection_may_name_the_domain_of_its_indices() -> None:
    source = NOISY_MAX.replace("{1..m} = 1", "place = 1").replace("input q", "domain place = {1..m}; input q")
    assert union(source).start == 2


def test_a_domain_up_to_m_is_as_small_as_the_least_number_that_is_covered() -> None:
    """The count becomes 4 in {0..m}, in two iterations: with three queries the program has no meaning."""
    source = SPARSE.replace("c = 1", "c = 4").replace("n <- n + 1", "n <- n + 2").replace("count + 1", "count + 2")
    with pytest.raises(DiagnosticError, match="outside its domain"):
        check_all(dipc.load(source, m=3))
    assert union(source).start == 4


def test_a_program_that_leaves_a_domain_when_noise_is_large_is_not_covered() -> None:
    """The count stays 0 where the two comparisons agree, but if they differ four times the count would become 4."""
    source = ABOVE_THRESHOLD.replace("var rT", "var k : {0..3} = 0; var s : real; var rT").replace(
        "if r >= rT", "s <- Lap(eps/4, q[i]); if r < rT and s >= rT then k <- k + 1 end; if r >= rT"
    )
    with pytest.raises(DiagnosticError, match="outside its domain"):
        check_all(dipc.load(source, m=4))
    with pytest.raises(NotUniform, match="outside its domain"):
        union(source)


_BARE = ABOVE_THRESHOLD.replace("answer = none", "answer")
_NO_EXIT = _BARE.replace("top; exit", "top")

PARTIAL = {
    "where the loop ends early": _BARE,
    "in an iteration": _NO_EXIT.replace("else out[i] <- bot end", "end"),
    "before the loop": _NO_EXIT.replace("i in 1..m", "i in 2..m"),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_an_ideal_that_leaves_outputs_without_a_value_is_not_covered(name: str) -> None:
    source = PARTIAL[name]
    with pytest.raises(DiagnosticError, match=r"gives no answer|never assigned"):
        check_all(dipc.load(source))
    with pytest.raises(NotUniform, match="no value at the end"):
        union(source)


def test_outputs_that_each_iteration_assigns_need_no_initial_value() -> None:
    assert union(_NO_EXIT).start == 2


OUTSIDE = {
    "on an edge of another class": program(
        "if x > 0 then o <- b end", "r <- Lap(eps, x); if r > 0 then o <- b end", "alpha: 0; beta: 1/2"
    ),
    "too near to another answer": program(
        "if x >= 0 then o <- b end",
        "if x >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)",
        "apart: x != x' and y = y'",
    ),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_input_that_is_shown_for_a_class_belongs_to_it(name: str) -> None:
    loaded = dipc.load(OUTSIDE[name])
    ideal = Ideal(loaded)
    shown = 0
    for row in check_all(loaded).rows:
        assert row.verdict is Verdict.ACCURATE
        if row.input:
            inputs = [Fraction(row.input[loaded.core.slots[slot].name]) for slot in loaded.core.inputs]
            found = Distances(ideal).dd(inputs)
            assert ideal.values(inputs) == tuple(row.output.values())
            assert found is None or found >= Fraction(row.alpha)
            shown += 1
    assert shown < 2
