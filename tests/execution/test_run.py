"""Runs with exact noise conform to the exact probabilities of the program, and say what they cannot do."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run as command
from dipc.execution import exact_grid
from dipc.noise.lazy import RandomBits
from dipc.simulation.compare import Agreement
from dipc.text.ast import BaseType
from dipc.text.core import DomType
from tests.patience import at_most

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = sorted((ROOT / "benchmarks").rglob("*.dip"))
FINE = "2^-40"

#: One of each law, a choice, an exponential mechanism, a loop.
KINDS = {
    "Laplace noises compared": (ROOT / "benchmarks/sparse.dip", {"q": (-1, 0, 1)}),
    "Laplace noises released": (ROOT / "benchmarks/numeric_sparse.dip", {"q": (-1, 0, 1)}),
    "discrete Laplace noise": (ROOT / "benchmarks/libraries/discrete_laplace.dip", {"x": 2}),
    "one-sided noise": (ROOT / "benchmarks/literature/noisy_max_exponential.dip", {"q": (0, 0, 1)}),
    "a choice": (ROOT / "benchmarks/libraries/randomized_response.dip", {"x": "true"}),
    "an exponential mechanism": (ROOT / "benchmarks/libraries/exponential.dip", None),
    "a loop": (ROOT / "benchmarks/literature/rejection_sampling.dip", None),
}


def some_input(program: dipc.Program) -> dict[str, object]:
    """Zeros and ones, or values of the domain, by turns."""
    found: dict[str, object] = {}
    for place, slot in enumerate(program.core.inputs):
        declared = program.core.slots[slot]
        match declared.type:
            case DomType(values=values):
                found[declared.name] = values[place % len(values)]
            case BaseType.BOOL:
                found[declared.name] = place % 2 == 1
            case _:
                found[declared.name] = place % 2
    return found


def conformity(program: dipc.Program, values: dict[str, object], runs: int, seed: int | None) -> Agreement:
    has_reals = any(program.core.slots[slot].type is BaseType.REAL for slot in program.core.outputs)
    grid = FINE if has_reals else None
    found = program.run(values, "1/2", runs, grid=grid, seed=seed)
    return dipc.conform(program, values, "1/2", samples=found, grid=grid).agreement


@pytest.mark.parametrize("kind", KINDS)
def test_runs_conform_to_the_exact_law(kind: str) -> None:
    path, values = KINDS[kind]
    program = dipc.load(path)
    assert conformity(program, dict(values or some_input(program)), 4000, seed=7) is Agreement.MATCH


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_all_programs_conform(path: Path) -> None:
    """A conforming sampler fails 10^5 runs once in a million, and is tried once more."""
    program = dipc.load(path)
    values = some_input(program)
    tries = (conformity(program, values, 100_000, seed=None) for _ in range(2))
    assert any(each is Agreement.MATCH for each in tries)


def test_a_wrong_rate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sampler that is off by a tenth of its rate does not conform."""
    program = dipc.load(ROOT / "benchmarks/libraries/discrete_laplace.dip")
    exact = RandomBits.two_sided
    assert conformity(program, {"x": 0}, 20_000, seed=1) is Agreement.MATCH
    monkeypatch.setattr(RandomBits, "two_sided", lambda bits, above, below: exact(bits, 11 * above, 10 * below))
    assert conformity(program, {"x": 0}, 20_000, seed=1) is Agreement.MISMATCH


def test_the_same_program_in_two_interpreters() -> None:
    """The independent interpreter of `dipc simulate`, on floats, gives the same law within its error."""
    program, values = dipc.load(ROOT / "benchmarks/noisy_max_gap.dip"), {"q": (0, 1, "1/2")}
    runs = 20_000
    ours = Counter(tuple(answer) for answer in program.run(values, 1, runs, seed=3).answers)
    theirs = dipc.simulate(program, values, 1, runs=runs, seed=3).tally.counts
    assert sum(ours.values()) == runs
    for answer in {*ours, *theirs}:
        assert abs(ours[answer] - theirs[answer]) < 6 * (2 * max(ours[answer], theirs[answer])) ** 0.5 + 10


def test_real_outputs_are_multiples_of_the_grid_and_not_above_the_ideal() -> None:
    """A finer grid gives more digits of the same numbers for one seed."""
    program = dipc.load("program p; input q : real; output y : real; y <- Lap(eps, q);")
    coarse = program.run({"q": 3}, 1, 500, grid="1/8", seed=5).answers
    fine = program.run({"q": 3}, 1, 1, grid="1/8192", seed=5).answers
    assert all((value * 8).denominator == 1 for (value,) in coarse)  # type: ignore[operator,union-attr]
    assert 0 <= fine[0][0] - coarse[0][0] < Fraction(1, 8)  # type: ignore[operator]


def test_equal_seeds_give_equal_runs_and_others_do_not() -> None:
    program = dipc.load(ROOT / "benchmarks/sparse.dip")
    one, two, other = (program.run({"q": (0, 0, 0)}, 1, 50, seed=seed) for seed in (1, 1, 2))
    assert one.answers == two.answers
    assert one.random_bits == two.random_bits
    assert one.answers != other.answers
    assert len({program.run({"q": (0, 0, 0)}, 1, 50).answers for _ in range(3)}) == 3


def test_a_run_takes_few_random_bits_and_calls() -> None:
    sparse = dipc.load(ROOT / "benchmarks/sparse.dip")
    assert sparse.run({"q": (-1, 0, 1)}, "1/2", 1000, seed=1).random_bits < 60 * 1000
    largest = dipc.load(ROOT / "benchmarks/noisy_max.dip", m=30)
    with at_most(1_000_000):  # a good part of them for what all runs share
        largest.run({"q": (0,) * 30}, 1, 400, seed=1)


def test_what_is_given_is_exact_and_positive() -> None:
    program = dipc.load(ROOT / "benchmarks/sparse.dip")
    for call, kind, said in (
        (lambda: program.run({"q": (0, 0, 0)}, 0.1), TypeError, "not exact"),  # type: ignore[arg-type]
        (lambda: program.run({"q": (0, 0, 0.5)}, 1), TypeError, "not exact"),
        (lambda: program.run({"q": (0, 0, 0)}, -1), ValueError, "positive"),
        (lambda: program.run({"q": (0, 0, 0)}, 1, -1), ValueError, "at least 0"),
        (lambda: program.run({"q": (0, 0, 0)}, 1, grid="0"), ValueError, "positive"),
        (lambda: program.run({"q": (0, 0)}, 1), dipc.DiagnosticError, "2 values for the 3 elements"),
        (lambda: program.run({}, 1), dipc.DiagnosticError, "no value"),
    ):
        with pytest.raises(kind, match=said):
            call()


def test_grids() -> None:
    assert exact_grid("2^-20") == Fraction(1, 2**20)
    assert exact_grid(" 10**-3 ") == Fraction(1, 1000)
    assert exact_grid("1/3") == Fraction(1, 3)
    for text in ("0^-1", "0", "2^x", "-1", "2^-99999"):
        with pytest.raises(ValueError, match=r"grid"):
            exact_grid(text)
    with pytest.raises(TypeError, match="not exact"):
        exact_grid(0.25)  # type: ignore[arg-type]


def test_a_run_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """program p; output y : {0, 1} = 0; var b : bool = true;
    while b do y <- choose { 0 : 1/2, 1 : 1/2 } end"""
    monkeypatch.setattr("dipc.execution._MOST_EVENTS", 1000)
    with pytest.raises(dipc.DiagnosticError, match="has not ended after 1000 random events"):
        dipc.load(text).run({}, 1)
    with pytest.raises(dipc.DiagnosticError, match="can go on forever"):
        dipc.load("program p; output y : {0, 1} = 0; while y = 0 do y <- 0 end").run({}, 1)


def test_what_goes_wrong_on_a_path_is_said() -> None:
    text = "program p; input x : {0, 1}; output y : {0..1}; y <- 1 + x;"
    assert dipc.load(text).run({"x": 0}, 1).answers == ((1,),)
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.load(text).run({"x": 1}, 1)
    assert "E0704" in str(caught.value)
    assert "this happens at the input x = 1" in str(caught.value)


def test_samples_are_what_conform_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, file = str(ROOT / "benchmarks/laplace.dip"), str(tmp_path / "samples.csv")
    about = ["--input", "q=(1, 0)", "--eps", "1/2", "--grid", "1/4"]
    assert command(["run", program, *about, "-n", "3000", "--samples", file, "-o", str(tmp_path / "runs.txt")]) == 0
    assert command(["conform", program, *about, "--samples", file]) == 0
    assert "conforms" in capsys.readouterr().out
    # Without the grid the samples are not those of real noise; on another grid they are not what was rounded.
    assert command(["conform", program, *about[:4], "--samples", file]) == 1
    assert command(["conform", program, *about[:4], "--grid", "1/3", "--samples", file]) == 2
    assert "not a multiple of the grid" in capsys.readouterr().err


def test_a_number_that_is_always_the_same_conforms() -> None:
    program = dipc.load("program p; input q : real; output y : real; y <- q;")
    found = program.run({"q": "1/3"}, 1, 100, grid="1/4")
    assert {value for (value,) in found.answers} == {Fraction(1, 4)}
    assert dipc.conform(program, {"q": "1/3"}, 1, samples=found, grid="1/4").agreement is Agreement.MATCH


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    sparse = str(ROOT / "benchmarks/sparse.dip")
    words = ["run", sparse, "--input", "q=(-1,0,1)", "--eps", "1/2", "-n", "3", "--format", "json"]
    assert command(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == "dipc.run/1"
    assert len(record["runs"]) == 3
    assert set(record["runs"][0]["output"]) == {"out[1]", "out[2]", "out[3]"}
    assert 30 < record["random_bits"] < 3000


def test_one_input_of_many_at_random() -> None:
    """Random programs of one law over random means and rates, against their closed forms."""
    source = random.Random(4)
    for law in ("Lap", "DLap"):
        rate, mean = Fraction(source.randint(1, 9), source.randint(1, 9)), source.randint(-3, 3)
        kind = "int" if law == "DLap" else "real"
        text = f"""program p; input q : {kind}; output y : bool; var n, t : {kind};
        n <- {law}({rate}*eps, q); t <- {law}(eps, {mean}); y <- 2*n - t >= q;"""
        program = dipc.load(text)
        assert conformity(program, {"q": 1}, 4000, seed=source.randint(0, 99)) is Agreement.MATCH
