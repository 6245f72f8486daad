"""`dipc simulate`: what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from dipc.algebra.exppoly import ClosedForm
from dipc.cli.main import run as dipc
from dipc.cli.terminal import ProgressBar
from dipc.outcome.experiments import simulation
from dipc.outcome.outcome import Look, render
from dipc.program.program import load
from dipc.simulation.compare import compare, estimates
from tests.simulation.running import tally

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = str(ROOT / "benchmarks" / "sparse.dip")
NOISY_MAX = str(ROOT / "benchmarks" / "noisy_max.dip")
LAPLACE = str(ROOT / "benchmarks" / "laplace.dip")
INPUT = ["--input", "q=(-1, 0, 1)", "--eps", "1/2"]


@pytest.fixture
def simulate(capsys):
    def command(*arguments):
        capsys.readouterr()
        code = dipc(["simulate", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(code), captured.out, captured.err

    return command


def test_a_match(simulate):
    code, out, err = simulate(SPARSE, *INPUT, "-n", 20_000, "--seed", 7)
    assert (code, err) == (0, "")
    head, *_ = out.splitlines()
    assert head == "sparse: 20000 runs"
    assert "constants  m = 3, c = 1, T = 0" in out
    assert "input      q = (-1, 0, 1)" in out
    assert "seed       7" in out
    assert out.count(" ok\n") == 4
    assert out.endswith("match: each of the 4 exact probabilities lies in its interval\n")


def test_it_is_reproducible(simulate):
    first, again, other = (simulate(SPARSE, *INPUT, "-n", 5000, "--seed", seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert first.replace("seed       1", "") != other.replace("seed       2", "")


def test_json(simulate, tmp_path):
    code, out, err = simulate(NOISY_MAX, *INPUT, "-n", 3000, "--format", "json", "-D", "m=3", "--confidence", "0.999")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document.keys() == {
        *("schema", "program", "constants", "input", "eps", "runs", "seed"),
        *("gamma", "confidence", "verdict", "reason", "outputs"),
    }
    assert document["schema"] == "dipc.simulate/1"
    assert document["verdict"] == "match"
    assert document["input"] == {"q[1]": "-1", "q[2]": "0", "q[3]": "1"}
    assert (document["eps"], document["runs"], document["seed"], document["confidence"]) == ("1/2", 3000, 0, "0.999")
    assert document["gamma"] is document["reason"] is None
    outputs = document["outputs"]
    assert [row["output"] for row in outputs] == [{"out": "1"}, {"out": "2"}, {"out": "3"}]
    assert sum(row["count"] for row in outputs) == 3000
    total = sum(sympy.sympify(row["probability"]) for row in outputs)
    assert sympy.simplify(total) == 1
    for row in outputs:
        low, high = row["interval"]
        assert low < row["estimate"] == row["count"] / 3000 < high
        assert low < Fraction(row["at"][0]) <= Fraction(row["at"][1]) < high
        assert row["ok"] is True
    target = tmp_path / "result.json"
    code, written, err = simulate(
        NOISY_MAX, *INPUT, "-n", 3000, "--format", "json", "-D", "m=3", "--confidence", "0.999", "-o", target
    )
    assert (code, written) == (0, "")
    assert err.startswith("match: ")
    assert target.read_text(encoding="utf-8") == out


def test_events_of_real_outputs(simulate):
    arguments = (LAPLACE, "--input", "q=(0,1)", "--eps", "1", "--output", "out=(0,1)", "--output", "out[2]=5")
    code, out, _ = simulate(*arguments, "--gamma", "1", "-n", 20_000, "--format", "json")
    document = json.loads(out)
    assert (code, document["gamma"]) == (0, "1")
    assert [row["output"] for row in document["outputs"]] == [{"out[1]": "0", "out[2]": "1"}, {"out[2]": "5"}]
    assert document["outputs"][0]["probability"] == "1 - 2*exp(-eps) + exp(-2*eps)"
    code, out, _ = simulate(*arguments, "--gamma", "1", "-n", 20_000)
    assert code == 0
    assert "gamma      1" in out


def test_without_finite_outputs_there_is_one_row(simulate):
    code, out, _ = simulate(LAPLACE, "--input", "q=(0,1)", "--eps", "1", "-n", 10)
    assert code == 3
    assert "any output" in out
    assert "undecided: no output is finite, so there is nothing to compare" in out


def test_where_the_exact_probability_is_not_reached_only_the_estimates_are_printed(simulate):
    code, out, err = simulate(NOISY_MAX, *INPUT, "-n", 3000, "--limit", "states=2")
    assert (code, err) == (3, "")
    assert "undecided: " in out
    assert "exact" not in out.split("undecided")[0]
    assert out.count("out = ") == 3
    code, out, _ = simulate(NOISY_MAX, *INPUT, "-n", 3000, "--limit", "states=2", "--format", "json")
    document = json.loads(out)
    assert (code, document["verdict"]) == (3, "undecided")
    assert document["reason"]
    assert all(row["ok"] is row["at"] is row["probability"] is None for row in document["outputs"])


LOOP = "program p; output o : {0..50} = 0; while o < 37 do o <- o + 1 end"


def test_a_loop_that_is_given_up_is_undecided(simulate, tmp_path):
    (tmp_path / "p.dip").write_text(LOOP)
    code, out, err = simulate(tmp_path / "p.dip", "--eps", 1, "-n", 10, "--loop-limit", 20)
    assert (code, out) == (3, "")
    assert err.startswith("error[E0720]: after 20 rounds of this `while`, 10 of 10 runs are still in it")
    assert "o = 20" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([SPARSE, "--eps", "1"], "no value for the inputs"),
        ([SPARSE, "--input", "q=(1,1,1)"], "the option `--eps` is missing"),
        ([SPARSE, *INPUT[:2], "--eps", "0"], "is not positive"),
        ([SPARSE, *INPUT[:2], "--eps", "1/0"], "divides by zero"),
        ([SPARSE, *INPUT, "-n", "0"], "0 is not in the range"),
        ([SPARSE, *INPUT, "--seed", "-1"], "-1 is not in the range"),
        ([SPARSE, *INPUT, "--confidence", "1"], "does not lie between 0 and 1"),
        ([SPARSE, *INPUT, "--confidence", "nan"], "is not a rational number"),
        ([SPARSE, *INPUT, "--gamma", "1"], "`--gamma` without `--output`"),
        ([SPARSE, *INPUT, "--output", "out[1]=top", "--gamma", "-1"], "is negative"),
        ([SPARSE, *INPUT, "--output", "out[9]=top"], "the program has no output `out[9]`"),
        ([SPARSE, *INPUT, "--output", "out[1]=maybe"], "not in the domain"),
        ([SPARSE, *INPUT, "--limit", "sates=3"], "there is no limit `sates`"),
        ([SPARSE, *INPUT, "-D", "n=1"], "no constant `n`"),
        (["nothing.dip", "--eps", "1"], "there is no file"),
    ],
)
def test_bad_input(simulate, arguments, said):
    code, out, err = simulate(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error[E0")
    assert said in err


def test_what_goes_wrong_in_a_run_is_bad_input(simulate, tmp_path):
    (tmp_path / "p.dip").write_text("program p;\noutput o : {0..3} = 2;\nfor i in 1..5 do\n  o <- o + 1\nend\n")
    code, out, err = simulate(tmp_path / "p.dip", "--eps", 1)
    assert (code, out) == (2, "")
    assert err.startswith("error[E0704]: `o` would become 4, which is outside its domain\n")
    code, out, err = simulate(tmp_path / "p.dip", "--eps", 1, "--limit", "states=1")
    assert (code, out) == (2, "")
    assert err.startswith("error[E0704]: `o` would become 4, which is outside its domain\n")
    assert "4 |   o <- o + 1\n  |   ^^^^^^^^^^" in err
    assert "this happened with o = 3" in err


def test_interrupts_say_how_far_it_got(simulate, monkeypatch):
    def stop(self, done, total):
        if done:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "__call__", stop)
    code, out, err = simulate(NOISY_MAX, *INPUT, "-n", 500_000)
    assert (code, out) == (130, "")
    assert "interrupted after 65536 of 500000 runs" in err
    assert err.count("out = ") == 3

    def at_once(self, done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "__call__", at_once)
    code, out, err = simulate(NOISY_MAX, *INPUT, "-n", 500_000)
    assert (code, out) == (130, "")
    assert "interrupted after 0 of 500000 runs" in err


def test_interrupts_over_the_exact_probabilities(simulate, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("dipc.simulation.compare.expect", stop)
    code, out, err = simulate(NOISY_MAX, *INPUT, "-n", 1000)
    assert (code, out) == (130, "")
    assert "interrupted before the first run" in err


def test_a_loop_that_never_ends_is_told_by_the_exact_engine_before_any_run(simulate, tmp_path):
    text = "program p; output o : bool; o <- choose {true : 1/2, false : 1/2}; while o do o <- true end"
    (tmp_path / "p.dip").write_text(text)
    code, out, err = simulate(tmp_path / "p.dip", "--eps", 1)
    assert (code, out) == (2, "")
    assert err.startswith("error[E07")


# --- the page --------------------------------------------------------------------------------------

COIN = "program p; output o : {0..2}; var r : real; r <- Lap(eps, 0); if r > 1 then o <- 1 else o <- 0 end"


def against(text, other):
    return compare(tally(text, runs=50_000), load(other))


def test_mismatches_are_explained():
    found = against(COIN.replace("o <- 1", "o <- choose {1 : 99/100, 2 : 1/100}"), COIN)
    page = render(simulation(found), Look())
    (row,) = [row for row in found.rows if row.impossible]
    assert f"  o = 2: came out {row.count} times, and has probability 0\n" in page
    assert "mismatch: 1 of 3 outputs came out too often or too rarely\n" in page
    assert [line.split()[-1] for line in page.splitlines() if line.startswith("  o = 2  ")] == ["MISMATCH"]
    found = against(COIN.replace("r > 1", "r > 2"), COIN)
    page = render(simulation(found), Look())
    few, many = sorted(row.count for row in found.rows)
    assert f"  o = 1: too seldom, {few} times; 9196.99 are to be expected\n" in page
    assert f"  o = 0: too often, {many} times; 40803 are to be expected\n" in page
    never = render(simulation(against(COIN.replace("r > 1", "r > 1000"), COIN)))
    assert "  o = 1: too seldom, never; 9196.99 are to be expected\n" in never


def test_colors_are_for_terminals_that_want_them():
    found = against(COIN.replace("r > 1", "r > 2"), COIN)
    assert "\x1b" not in render(simulation(found), Look())
    assert "\x1b[1;31mmismatch" in render(simulation(found), Look(color=True))


def test_long_outputs_stand_above_their_numbers():
    names = "".join(f"output a_long_name_{i} : {{0..1}} = 1; " for i in range(9))
    found = tally(f"program p; {names} a_long_name_0 <- choose {{0 : 1/2, 1 : 1/2}}", runs=100)
    page = render(simulation(estimates(found, "no reason")), Look(width=60))
    assert max(map(len, page.splitlines())) <= 60
    assert page.count("a_long_name_8 = 1") == 2


def test_many_outputs_are_cut_but_no_mismatch():
    text = "program p; output a, b : {0..9} = 0; a <- Exp(eps, v in {0..9} : 0); b <- Exp(eps, v in {0..9} : 0)"
    found = estimates(tally(text, runs=20_000), "no reason")
    page = render(simulation(found), Look())
    assert page.count("\n  a = ") == 40
    assert "and 60 more outputs, see --format json" in page
    assert len(simulation(found).record()["outputs"]) == 100


def test_a_closed_form_of_zero_is_told_as_such():
    found = against(COIN.replace("o <- 1", "o <- 2"), COIN)
    rows = {row["output"]["o"]: row for row in simulation(found).record()["outputs"]}
    assert rows["2"]["probability"] == "0"
    assert rows["2"]["at"] == ["0", "0"]
    assert rows["2"]["ok"] is False
    assert isinstance(found.rows[-1].probability, ClosedForm)


def test_a_mismatch_is_an_exit_code_of_its_own(simulate, monkeypatch):
    # The exact side is made to speak of another program: one whose threshold lies elsewhere.
    from dipc.cli import runs as command

    def elsewhere(work, constants, *rest):
        return expected(work, {**constants, "T": Fraction(5)}, *rest)

    expected = command._expected
    monkeypatch.setattr(command, "_expected", elsewhere)
    code, out, _ = simulate(SPARSE, *INPUT, "-n", 20_000, "--seed", 7)
    assert code == 1
    assert "MISMATCH" in out


def test_without_numpy_it_says_what_to_install(tmp_path: Path) -> None:
    """A fresh interpreter that has no NumPy: everything else works, `dipc run` too."""
    hide = "import sys; sys.modules['numpy'] = None; import importlib.util as u; f = u.find_spec; "
    hide += "u.find_spec = lambda n, p=None: None if n == 'numpy' else f(n, p); from dipc.cli.main import run; "
    program = str(ROOT / "docs" / "programs" / "busy.dip")
    asked = ["--input", "count=101", "--eps", "1"]
    for command, code, said in (
        (["simulate", program, *asked], 2, "error[E0815]: simulation"),
        (["run", program, *asked], 0, "random bit"),
        (["check", program, "--inputs", "all", "-q"], 0, "accurate: every real input"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", f"{hide}sys.exit(run({command!r}))"], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert said in done.stdout + done.stderr
