"""Counts against exact probabilities: right ones are accepted, wrong ones are found."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.program.program import load_source
from dipc.simulation.compare import Agreement, compare, estimates, simulate
from dipc.simulation.runs import SimulationInterrupted, run
from dipc.text.ast import BaseType
from dipc.text.core import DomType
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from tests.simulation.programs import INPUTS, programs
from tests.simulation.running import tally, typed

MECHANISMS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
BENCHMARKS = sorted(MECHANISMS.rglob("*.dip"))

COIN = "program p; output o : {0..2}; var r : real; r <- Lap(eps, 0); if r > 1 then o <- 1 else o <- 0 end"


def by_output(found):
    return {tuple(row.output.values()): row for row in found.rows}


def test_a_match():
    program = dipc.load(COIN)
    found = simulate(program, {}, 1, runs=50_000, seed=3)
    assert found.agreement is Agreement.MATCH
    assert found.reason is None
    rows = by_output(found)
    assert set(rows) == {("0",), ("1",)}
    assert sum(row.count for row in found.rows) == found.tally.runs == 50_000
    one = rows["1",]
    assert str(one.probability) == "exp(-eps)/2"
    assert float(one.enclosure[0]) == pytest.approx(0.18393972)
    assert one.interval[0] < one.estimate < one.interval[1]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Lap(eps,", "Lap(11*eps/10,"),
        ("0);", "1/20);"),
        ("r > 1", "r > 19/20"),
        ("r > 1", "r < 1"),
        ("o <- 1", "o <- 2"),
        ("o <- 0", "o <- 2"),
    ],
)
def test_a_program_that_is_slightly_wrong_is_a_mismatch(right, wrong):
    assert COIN.count(right) == 1
    found = compare(tally(COIN.replace(right, wrong), runs=100_000), dipc.load(COIN))
    assert found.agreement is Agreement.MISMATCH


MUTANTS = [
    ("rT <- Lap(eps/(2*c), T);\nfor", "rT <- Lap(eps/c, T);\nfor"),
    ("rT <- Lap(eps/(2*c), T)\n", "rT <- rT\n"),
    ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(3*c), q[i])"),
    ("b <- r >= rT", "b <- r <= rT"),
    ("count >= c", "count > c"),
    ("out[i] <- bot", "if i = 1 then out[i] <- bot end"),
    ("for i in 1..m", "for i in 2..m"),
]


@pytest.mark.parametrize(("right", "wrong"), MUTANTS, ids=[wrong.strip() for _, wrong in MUTANTS])
def test_mutants_of_sparse_are_mismatches(right, wrong):
    text = (MECHANISMS / "sparse.dip").read_text(encoding="utf-8")
    text = re.sub(r"^ideal \{.*?^\}\n", "", text, flags=re.DOTALL | re.MULTILINE)  # the mechanism alone is changed
    assert text.count(right) == 1, right
    values = {"q[1]": Fraction(-1), "q[2]": Fraction(1), "q[3]": Fraction(1)}
    exact = dipc.load(text, c=2)
    for source, expected in ((text, Agreement.MATCH), (text.replace(right, wrong), Agreement.MISMATCH)):
        found = compare(run(typed(source, c=2), values, Fraction(2), 50_000), exact)
        assert found.agreement is expected


def test_what_is_impossible_must_not_happen_even_once():
    other = COIN.replace("o <- 1", "o <- choose {1 : 9999/10000, 2 : 1/10000}")
    found = compare(tally(other, runs=50_000), dipc.load(COIN))
    assert found.agreement is Agreement.MISMATCH
    (row,) = [row for row in found.rows if row.impossible]
    assert row.output == {"o": "2"}
    assert 0 < row.count < 20
    assert row.enclosure == (0, 0)
    assert str(row.probability) == "0"


def test_what_is_possible_must_happen():
    certain = COIN.replace("r > 1", "r > 1000")
    found = compare(tally(certain, runs=50_000), dipc.load(COIN))
    assert by_output(found)["1",].agreement is Agreement.MISMATCH
    rare = COIN.replace("r > 1", "r > 30")
    assert compare(tally(certain, runs=50_000), dipc.load(rare)).agreement is Agreement.MATCH


def test_the_error_is_shared_among_what_is_possible():
    program = dipc.load(
        "program p; output o : {0..2}; var r : real; r <- Lap(eps, 0); if r > 0 then o <- 1 else o <- 0 end"
    )
    one = simulate(program, {}, 1, runs=1000, outputs=[{"o": 1}], confidence="0.99")
    two = simulate(program, {}, 1, runs=1000, confidence="0.98")
    assert by_output(one)["1",].interval == pytest.approx(by_output(two)["1",].interval)
    wide = by_output(simulate(program, {}, 1, runs=1000))["1",].interval
    assert wide[0] < by_output(one)["1",].interval[0]


# --- real outputs ----------------------------------------------------------------------------------


def test_real_outputs_in_balls():
    program = dipc.load(MECHANISMS / "numeric_sparse.dip")
    events = [{"out[1]": "top", "val[1]": 1}, {"out": ["bot", "bot", "bot"], "val": [0, 0, 0]}, {"val[3]": "1/2"}]
    found = simulate(program, {"q": [-1, 0, 1]}, "1/2", outputs=events, gamma="3/2")
    assert found.agreement is Agreement.MATCH
    assert [row.count > 0 for row in found.rows] == [True] * 3
    shifted = simulate(program, {"q": [-1, 0, 1]}, "1/2", outputs=[{**events[0], "val[1]": "5/4"}], gamma="3/2")
    assert shifted.rows[0].enclosure[0] != found.rows[0].enclosure[0]
    wrong = compare(tally_with_events(program, events[0], gamma=Fraction(2)), program)
    assert wrong.agreement is Agreement.MATCH
    off = compare(tally_with_events(program, {**events[0], "val[1]": Fraction(2)}, Fraction(2), drop="val[1]"), program)
    assert off.agreement is Agreement.MATCH


def tally_with_events(program, event, gamma, drop=None):
    event = {
        name: Fraction(value) if isinstance(value, int) else value for name, value in event.items() if name != drop
    }
    values = {"q[1]": Fraction(-1), "q[2]": Fraction(0), "q[3]": Fraction(1)}
    return run(program.core, values, Fraction(1, 2), 30_000, events=[event], gamma=gamma)


def test_balls_are_closed_and_exact():
    text = "program p; input q : real; output a, b : real; output c : real; a <- q/10 + q/5; b <- Lap(eps, 0)"
    values = {"q": Fraction(1)}
    for center, radius, inside in (
        ("3/10", "0", True),
        ("1/10", "1/5", True),
        ("1/10", "1999999999999999999/10000000000000000000", False),
    ):
        found = run(typed(text), values, Fraction(1), 10, events=[{"a": Fraction(center)}], gamma=Fraction(radius))
        assert found.hits == ((10,) if inside else (0,))
    never = run(
        typed(text), values, Fraction(1), 10, events=[{"c": Fraction(0)}, {"b": Fraction(0)}], gamma=Fraction(0)
    )
    assert never.hits == (0, 0)


# --- what is not known exactly ---------------------------------------------------------------------


def test_without_exact_probabilities_only_the_estimates_stand():
    found = estimates(tally(COIN, runs=1000), "too hard")
    assert found.agreement is Agreement.UNDECIDED
    assert found.reason == "too hard"
    assert all(row.enclosure is None and row.probability is None and row.reason == "too hard" for row in found.rows)
    assert [row.count for row in found.rows] == sorted((row.count for row in found.rows), reverse=True)
    event = estimates(run(typed(COIN), {}, Fraction(1), 100, events=[{"o": Fraction(1)}]), "too hard")
    assert [row.output for row in event.rows] == [{"o": "1"}]


def test_past_a_limit_nothing_is_compared():
    from dataclasses import replace

    program = dipc.load(MECHANISMS / "noisy_max.dip", m=4)
    limits = replace(program.limits, states=3)
    found = simulate(program.with_limits(limits), {"q": [0, 0, 0, 0]}, 1, runs=1000)
    assert found.agreement is Agreement.UNDECIDED
    assert found.reason
    assert {row.agreement for row in found.rows} == {Agreement.UNDECIDED}


def test_what_is_wrong_with_the_program_is_not_hidden():
    text = "program p; output o : {0..1} = 0; var r : real; r <- Lap(eps, 0); if r > 700 then o <- o + 2 end"
    found = tally(text, runs=1000)
    with pytest.raises(DiagnosticError) as caught:
        compare(found, dipc.load(text))
    assert caught.value.diagnostics[0].code == "E0704"


# --- the library function --------------------------------------------------------------------------


def test_the_library_takes_what_other_functions_take():
    program = dipc.load(MECHANISMS / "sparse.dip", m=2)
    one = dipc.simulate(program, {"q": ["-1", 1]}, "0.5", runs=2000)
    two = dipc.simulate(program, {"q[1]": -1, "q[2]": Fraction(1)}, Fraction(1, 2), runs=2000)
    assert one == two


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"eps": 0}, ValueError),
        ({"eps": 0.5}, TypeError),
        ({"runs": 0}, ValueError),
        ({"gamma": -1}, ValueError),
        ({"confidence": 1}, ValueError),
        ({"input": {"q": 1}}, DiagnosticError),
        ({"outputs": [{"o": 7}]}, DiagnosticError),
    ],
)
def test_bad_arguments(options, error):
    arguments = {"input": {}, "eps": 1, "runs": 10, **options}
    with pytest.raises(error):
        dipc.simulate(dipc.load(COIN), **arguments)


def test_many_runs_are_done_in_batches_with_progress_and_can_be_interrupted():
    seen = []
    whole = tally(COIN, runs=150_000, progress=lambda done, total: seen.append((done, total)))
    assert whole.runs == 150_000
    assert sum(whole.counts.values()) == 150_000
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert len(seen) == 3
    assert {total for _, total in seen} == {150_000}

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted) as caught:
        tally(COIN, runs=150_000, progress=stop)
    assert caught.value.tally.runs == seen[1][0]
    assert sum(caught.value.tally.counts.values()) == seen[1][0]
    assert caught.value.total == 150_000


def test_programs_with_many_variables_use_smaller_batches(monkeypatch):
    seen = []
    text = "program p; const m = 30; output o[1..m] : real; for i in 1..m do o[i] <- Lap(eps, i) end"
    tally(text, runs=3000, progress=lambda done, total: seen.append(done))
    assert seen == [0]
    monkeypatch.setattr("dipc.simulation.runs._BATCH_BYTES", 8 * 61 * 1000)
    seen.clear()
    tally(text, runs=3000, progress=lambda done, total: seen.append(done))
    assert seen == [0, 1000, 2000]


# --- agreement with the engine ---------------------------------------------------------------------


def some_input(core):
    values = {}
    for number, slot in enumerate(core.slots[index] for index in core.inputs):
        match slot.type:
            case BaseType.BOOL:
                values[slot.name] = number % 2 == 0
            case DomType(values=members):
                values[slot.name] = members[number % len(members)]
            case _:
                values[slot.name] = Fraction((-1) ** number * (number % 3), 2)
    return values


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_the_benchmarks_agree(path):
    source = SourceText(path.name, path.read_text(encoding="utf-8"))
    core = lower(parse(source), source)
    values = some_input(core)
    open_outputs = [core.slots[index].name for index in core.outputs if core.slots[index].is_symbolic]
    balls = [{name: Fraction(1) for name in open_outputs}] if len(open_outputs) == len(core.outputs) else []
    found = run(core, values, Fraction(1, 2), 20_000, events=balls, gamma=Fraction(3))
    assert found.runs == 20_000
    assert compare(found, load_source(source, {})).agreement is Agreement.MATCH


CONFIDENCE = 1 - Fraction(1, 10**9)


@given(programs(size=6), INPUTS, st.sampled_from(["1/2", "2"]))
def test_random_programs_match(text, inputs, eps):
    assert simulate(dipc.load(text), inputs, eps, runs=4000, confidence=CONFIDENCE).agreement is Agreement.MATCH


@given(programs(size=5), INPUTS, st.sampled_from(["1/2", "2"]))
def test_real_outputs_of_random_programs_match(text, inputs, eps):
    events = [{"val": 0}, {"val": "1/3", "flag": True}, {"val": -1, "out[1]": 0}]
    found = simulate(dipc.load(text), inputs, eps, runs=4000, outputs=events, gamma=1, confidence=CONFIDENCE)
    assert found.agreement is Agreement.MATCH
