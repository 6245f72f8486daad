"""Classes up to the exchange of inputs, against all of them one by one, and series against chains and single runs."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.algebra.exppoly import Closed, ExpPoly
from dipc.algebra.limits import Limits, OutsideFragment
from dipc.chain import series as chains
from dipc.chain.chain import ExitState
from dipc.chain.event import template
from dipc.chain.series import Series, runs
from dipc.chain.state import constraint_set
from dipc.measure.measure import measure
from dipc.measure.runs import require_measured, run_measure
from dipc.program import exits, ideal
from dipc.program.ideal import Distances, Ideal
from dipc.program.program import Program
from dipc.questions import every_input
from dipc.questions.report import ClassResult
from dipc.rules.centered_exits import ExitFinder
from dipc.rules.exchange import classes_up_to_exchange
from tests.patience import at_most

#: What is found out of a query, for the noisy value and threshold, and for the exact ones.
_TESTS = [
    "{r} >= {t}",
    "{r} >= {t} and {r} <= {u}",
    "{r} >= {t} or {r} <= -1",
    "{r} <= {u} and ({r} >= {t} or {r} <= -2)",
    "not ({r} >= {t} and {r} <= {u})",
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Queries that are passed over or stopped at by the same tests, or nearly: some have other rates or numbers."""
    m = draw(st.integers(2, 4))
    law = draw(st.sampled_from(["Lap", "Lap", "Lap", "DLap", "Expo"]))
    kind = "int" if law == "DLap" else "real"
    noisy = draw(st.booleans())
    test = draw(st.sampled_from(_TESTS))
    other = draw(st.sampled_from([test, test, draw(st.sampled_from(_TESTS))]))
    rate = draw(st.sampled_from(["eps/2", "eps/2", "eps/(1+i)"]))
    mean = draw(st.sampled_from(["q[i]", "q[i]", "q[i]", "q[i] + 1", "q[1]"]))
    apart = draw(st.sampled_from(["", "", "", "q[1]", f"q[{m}]"]))
    stops = draw(st.booleans())
    upper = draw(st.sampled_from(["2", "2", "rU"]))
    beta = draw(st.sampled_from(["4*m*exp(-alpha*eps/8)", "exp(-alpha*eps/2)/8", "9/10"]))
    lines = [
        f"program p; const m = {m}; domain answer = {{none, bot, top}};",
        f"input q[1..m] : {kind}; output out[1..m] : answer = none;",
        f"var r, rT, rU : {kind}; var b : bool;",
        f"claim {{ alpha: dd; gamma: 0; beta: {beta}; }}",
        "ideal { for i in 1..m do",
        f"  if {other.format(r='q[i]', t='0', u='2')} then out[i] <- top; {'exit' if stops else ''}",
        "  else out[i] <- bot end",
        "end }",
        _drawn(law, "rT", "eps/4", "0"),
        _drawn(law, "rU", "eps/4", "2"),
        "for i in 1..m do",
        _drawn(law, "r", rate, mean),
        f"  b <- {test.format(r='r', t='rT' if noisy else '0', u=upper)};",
        f"  if b then out[i] <- top; {'exit' if stops else ''}",
        "  else out[i] <- bot end",
        "end",
    ]
    text = "\n".join(lines)
    if apart:
        text = text.replace(other.format(r="q[i]", t="0", u="2"), other.format(r="q[i]", t=apart, u="2"))
    return text


def _drawn(law: str, name: str, rate: str, mean: str) -> str:
    """Noise around a mean, which one-sided noise has not."""
    return (
        f"{name} <- Expo({rate}); {name} <- {name} + ({mean});"
        if law == "Expo"
        else f"{name} <- {law}({rate}, {mean});"
    )


def _answers(report: dipc.Report) -> Counter[object]:
    """The number of classes with each answer, verdict and bound."""
    found: Counter[object] = Counter()
    for row in report.rows:
        assert isinstance(row, ClassResult)
        assert row.note is not None
        said = row.note.probability if row.verdict is dipc.Verdict.ACCURATE else row.closed_form
        found[tuple(row.note.answer.items()), row.verdict, str(said), row.vacuous] += row.count or 1
    return found


@given(programs())
def test_classes_that_are_alike_are_counted(text: str) -> None:
    """The verdicts and bounds of all classes, gone through one by one, are those of the classes up to exchange."""
    program = dipc.load(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every_input, "_FEW", 10**9)
        every = dipc.check(program, inputs="all")
        patch.setattr(every_input, "_FEW", 0)
        alike = dipc.check(program, inputs="all")
    assert _answers(every) == _answers(alike)


def _points(program: Program, count: int, chance: random.Random) -> list[list[Fraction]]:
    values = [Fraction(n, 1 if "int" in program.core.source.text else 2) for n in range(-6, 8)]
    return [[chance.choice(values) for _ in program.core.inputs] for _ in range(count)]


@given(programs(), st.integers(0, 10**6))
def test_a_series_of_det_is_det(text: str, seed: int) -> None:
    """Exactly one path of each segment holds for the answer that the interpreter gives, and none for another."""
    program = dipc.load(text)
    ideal = Ideal(program)
    every = ideal.series
    if every is None:
        return
    for values in _points(program, 6, random.Random(seed)):
        point = dict(zip(program.core.inputs, values, strict=True))
        answer = tuple(ideal.values(values))
        for each in every:
            held = [sum(all(item.holds_at(point) for item in path) for path in paths) for paths in each.segments]
            assert all(count <= 1 for count in held)
            assert all(held) == (tuple(each.outputs[slot] for slot in program.core.outputs) == answer)


def _probability(program: Program, each: Series, inputs: dict[int, Fraction]) -> Closed:
    """The sum over all products of paths."""
    total: Closed = ExpPoly.ZERO
    for chosen in product(*each.segments):
        items = list(dict.fromkeys(item for path in chosen for item in path))
        noisy, known = ([item for item in items if bool(item.form.noises) is which] for which in (True, False))
        state = ExitState(0, dict(each.outputs), each.noises, constraint_set(noisy), constraint_set(known))
        event = template(program.core, state)
        if not event.guards_hold(inputs):
            continue
        total = total + prod((measure(each.event(inputs)) for each in event.components), start=ExpPoly.ONE)
    return total


@given(programs(), st.integers(0, 10**6))
def test_a_series_of_a_program_has_its_probabilities(text: str, seed: int) -> None:
    """The closed forms of a series are those of the chain towards each answer."""
    program = dipc.load(text)
    graph = runs(program.flow, 10_000)
    every = None if graph is None else graph.series()
    if every is None:
        return
    (values,) = _points(program, 1, random.Random(seed))
    inputs = dict(zip(program.core.inputs, values, strict=True))
    for each in every:
        output = {program.core.slots[slot].name: value for slot, value in each.outputs.items()}
        named = {name: str(value) for name, value in zip(program.inputs, values, strict=True)}
        assert program.probability(named, output).value == _probability(program, each, inputs)


@st.composite
def maxima(draw: st.DrawFn) -> str:
    """Running maxima that ask for more than a little, so that the runs to one answer stay apart."""
    law = draw(st.sampled_from(["Lap", "Lap", "DLap"]))
    kind = "int" if law == "DLap" else "real"
    m = draw(st.integers(2, 4 if law == "DLap" else 5))
    test = draw(
        st.sampled_from(["r > best + 1", "r > best + 1", "r > best - 2", "r >= best + 1 and r <= 3", "r > best"])
    )
    rate = draw(st.sampled_from(["eps/2", "eps/(1+i)"]))
    started = draw(st.sampled_from(["", "found <- true;", "if best <= 0 then found <- true end;"]))
    return "\n".join(
        [
            f"program p; const m = {m};",
            f"input q[1..m] : {kind}; output out : {{1..m}} = 1; output found : bool = false;",
            f"var r, best : {kind};",
            f"best <- {law}(eps/2, q[1]); {started}",
            f"for i in 2..m do r <- {law}({rate}, q[i]);",
            f"  if {test} then best <- r; out <- i end",
            "end",
        ]
    )


@given(st.one_of(programs(), maxima()), st.integers(0, 10**6))
def test_many_runs_are_measured_along_their_graph(text: str, seed: int) -> None:
    """The closed forms along the graph are those of the chain; one-sided noise has no such graph."""
    program = dipc.load(text)
    known = runs(program.flow, 10_000)
    assert known is not None
    (values,) = _points(program, 1, random.Random(seed))
    inputs = dict(zip(program.core.inputs, values, strict=True))
    named = {name: str(value) for name, value in zip(program.inputs, values, strict=True)}
    for end in known.ends:
        graph = known.graph(end)
        if graph is None:
            continue
        try:
            require_measured(graph.open)
        except OutsideFragment:
            continue
        output = {program.core.slots[slot].name: value for slot, value in known.outputs(end).items()}
        assert run_measure(graph.graph(inputs), Limits()) == program.probability(named, output).value


@given(st.one_of(programs(), maxima()), st.integers(0, 10**6))
def test_rows_of_many_runs(text: str, seed: int) -> None:
    """The probabilities do not depend on the number of runs above which runs count as many."""
    (values,) = _points(dipc.load(text), 1, random.Random(seed))
    probabilities: list[object] = []
    for few in (10**9, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exits, "FEW_RUNS", few)
            # No run is united.
            patch.setattr(exits.ManyRuns, "few", lambda self, wanted, limits: None if self.are_many(wanted) else limits)
            program = dipc.load(text)
            named = {name: str(value) for name, value in zip(program.inputs, values, strict=True)}
            known = runs(program.flow, 10_000)
            assert known is not None
            answers = [
                {program.core.slots[slot].name: value for slot, value in known.outputs(end).items()}
                for end in known.ends
            ]
            probabilities.append([program.probability(named, answer).value for answer in answers])
    assert probabilities[0] == probabilities[1]


def test_many_runs_that_no_noise_tells_apart() -> None:
    """The runs depend on inputs alone: their probabilities are 0 or 1, whatever noise is drawn."""
    lines = [
        "program p; input q[1..7] : real; output o : bool = true; var r : real;",
        "for i in 1..7 do r <- Lap(eps, q[i]); if q[i] < 1 and q[i] > -1 then o <- false end end",
    ]
    program = dipc.load("\n".join(lines))
    for values, probability in (([2] * 7, 1), ([*([2] * 6), 0], 0)):
        inputs = dict(zip(program.inputs, values, strict=True))
        assert program.probability(inputs, {"o": True}).enclosure("1") == (probability, probability)


@given(programs(), st.integers(0, 10**6))
def test_distances_are_found_segment_by_segment(text: str, seed: int) -> None:
    """Distances found segment by segment are the distances to all regions with other answers."""
    program = dipc.load(text)
    distances: list[object] = []
    for many in (10**9, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ideal, "_MANY_REGIONS", many)
            every = Distances(Ideal(program))
            distances.append([every.dd(values) for values in _points(program, 4, random.Random(seed))])
    assert distances[0] == distances[1]


def test_one_distance_looks_at_one_answer() -> None:
    """One distance looks at one of the 401 answers of Sparse.

    Each answer has a segment for every query before its own; looking at all of them takes 5 million calls.
    """
    m = 400
    every = Distances(Ideal(dipc.load(MECHANISMS["sparse"].path, m=m)))
    with at_most(1_000_000):
        assert every.dd([Fraction(-2)] * (m - 1) + [Fraction(1)]) == 1


def test_false_claims_take_no_exponential_time() -> None:
    """Sparse between two thresholds: one input refutes all classes that are alike, of the 2^12 ways to an answer."""
    lines = [
        "program p; const m = 12; input q[1..m] : real; output out : {0..m} = 0; var r, rT : real; var b : bool;",
        "claim { alpha: dd; gamma: 0; beta: exp(-alpha*eps/2)/8 }",
        "ideal { for i in 1..m do if q[i] >= 0 and q[i] <= 2 then out <- i; exit end end }",
        "rT <- Lap(eps/2, 0);",
        "for i in 1..m do r <- Lap(eps/4, q[i]); b <- r >= rT and r <= 2; if b then out <- i; exit end end",
    ]
    with at_most(40_000_000):
        report = dipc.check("\n".join(lines), inputs="all")
    assert report.verdict is dipc.Verdict.INACCURATE
    assert all(row.verdict is dipc.Verdict.INACCURATE for row in report.rows)


# --- paths that are put together ----------------------------------------------------------------------


def _trees(chance: random.Random) -> str:
    """A test of each query by a few numbers, of which some make no difference, and one that is passed over."""
    m = chance.randint(2, 3)
    cuts = sorted(chance.sample(range(-4, 5), chance.randint(2, 3)))
    answers = [chance.choice(("bot", "top", "bot")) for _ in range(len(cuts) + 1)]
    stops = chance.random() < 0.5

    def tree(value: str) -> str:
        ends = [f"out[i] <- {each}{'; exit' if stops and each == 'top' else ''}" for each in answers]
        text = ends[0]
        for cut, end in zip(cuts, ends[1:], strict=True):
            text = f"if {value} >= {cut} then {end} else {text} end"
        return text

    value = chance.choice(("r", "r - s"))
    return (
        f"program p; const m = {m}; domain answer = {{none, bot, top}}; input q[1..m] : real;"
        " output out[1..m] : answer = none; var r, s : real; claim { alpha: dd; gamma: 0; beta: 2*exp(-alpha*eps/8) }"
        f" ideal {{ for i in 1..m do {tree('q[i]')} end }}"
        f" s <- Lap(eps/2, 0); for i in 1..m do r <- Lap(eps/4, q[i]); {tree(value)} end"
    )


@pytest.mark.parametrize("seed", range(30))
def test_one_of_the_paths_of_a_segment_holds_before_and_after(seed: int) -> None:
    """The number of paths that hold at an input and a noise is the same before and after paths are merged."""
    chance = random.Random(f"paths {seed}")
    program = dipc.load(_trees(chance))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "united", tuple)
        apart = [runs(flow, 10_000) for flow in (program.flow, Ideal(program).flow)]
        every = [None if each is None else each.series() for each in apart]
    for one, each in zip(every, apart, strict=True):
        assert one is not None
        assert each is not None
        after = each.series()
        assert after is not None
        for before, now in zip(one, after, strict=True):
            assert sum(map(len, now.segments)) <= sum(map(len, before.segments))
            for _ in range(20):
                point = {k: Fraction(chance.randint(-700_000, 700_000), 100_003) for k in range(-200, 200)}
                held = [
                    prod(
                        sum(all(item.halfspace.value(point) > 0 for item in path) for path in paths)
                        for paths in series.segments
                    )
                    for series in (before, now)
                ]
                assert held[0] == held[1]


@pytest.mark.parametrize("seed", range(12))
def test_classes_up_to_exchange_are_refuted_where_an_input_refutes(seed: int) -> None:
    """Each answer that is refuted at an input of a grid is refuted by one of its classes."""
    program = dipc.load(_trees(random.Random(f"trees {seed}")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every_input, "_FEW", 0)
        alike = dipc.check(program, inputs="all")
    rows = dipc.check(program, inputs="q in {-6, -4, -5/2, -1, 0, 1/2, 2, 5}", classes=True)
    refuted, known = (
        {tuple(row.output.values()) for row in report.rows if row.verdict is dipc.Verdict.INACCURATE}
        for report in (rows, alike)
    )
    assert refuted <= known


def test_numbers_that_make_no_difference_are_no_classes() -> None:
    """Two of three: there are a class for queries that are all above the third, and one for each that is below it."""
    test = "if {v} >= 4 then {bot} else if {v} >= 2 then {bot} else if {v} >= -4 then {bot} else {top} end end end"
    exact, noisy = (test.format(v=v, bot="out[i] <- bot", top="out[i] <- top; exit") for v in ("q[i]", "r"))
    program = dipc.load(
        "program p; const m = 7; domain answer = {none, bot, top}; input q[1..m] : real;"
        " output out[1..m] : answer = none; var r : real; claim { alpha: dd; gamma: 0; beta: 2*m*exp(-alpha*eps/8) }"
        f" ideal {{ for i in 1..m do {exact} end }} for i in 1..m do r <- Lap(eps/4, q[i]); {noisy} end"
    )
    every = Ideal(program).series
    assert every is not None
    assert {len(paths) for each in every for paths in each.segments} == {1}
    with at_most(40_000_000):
        report = dipc.check(program, inputs="all")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert len(report.rows) == 8


#: What no number of `v` gives is `two`, to which two paths lead.
IMPOSSIBLE = """
if {v} >= 2 then
  if {v} >= 6 then out[i] <- bot else if {v} < 1 then out[i] <- two; exit else out[i] <- top; exit end end
else
  if {v} >= 4 then out[i] <- two; exit else if {v} >= 0 then out[i] <- bot else out[i] <- top; exit end end
end
"""


def test_an_answer_that_no_input_gives_is_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """All paths of one of its segments contradict themselves: without them the others would hold at some inputs."""
    monkeypatch.setattr(every_input, "_FEW", 0)
    program = dipc.load(
        "program p; const m = 3; domain answer = {none, bot, top, two}; input q[1..m] : real;"
        " output out[1..m] : answer = none; var r : real; claim { alpha: dd; gamma: 0; beta: 4*m*exp(-alpha*eps/4) }"
        f" ideal {{ for i in 1..m do {IMPOSSIBLE.format(v='q[i]')} end }}"
        f" for i in 1..m do r <- Lap(eps/4, q[i]); {IMPOSSIBLE.format(v='r')} end"
    )
    det = Ideal(program)
    assert det.series is not None
    assert len(det.series) == 4
    assert not any("two" in each.outputs.values() for each in det.series)
    report = dipc.check(program, inputs="all")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert len(report.rows) == 16
    # Where it is not asked about what is possible, det is another answer everywhere.
    monkeypatch.setattr(ideal, "_MANY_REGIONS", 0)
    assert Distances(det).dd([Fraction(5)] * 3, ("two", "none", "none")) == 0


def test_answers_with_one_run_each_are_not_cut_into_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse: no exchange is possible, which the numbers of runs show."""
    monkeypatch.setattr(chains.RunSet, "series", lambda _: pytest.fail("the segments are not needed"))
    det = Ideal(dipc.load(MECHANISMS["sparse"].path, m=20))
    assert classes_up_to_exchange(det, ExitFinder(det.program), 4) is None
