from __future__ import annotations

import importlib
import json
import re
from fractions import Fraction
from keyword import iskeyword
from pathlib import Path

import click
import pytest
import sympy

import dipc.cli.tools
from dipc.algebra.limits import LIMIT_NAMES
from dipc.cli.main import COMMANDS, run
from dipc.cli.options import parse_definitions, parse_limits
from tests.cli.conftest import ROOT, Dipc

SPARSE = str(ROOT / "benchmarks" / "sparse.dip")
TABLE = str(ROOT / "benchmarks" / "sparse.csv")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_help_exists(name: str) -> None:
    module, line = COMMANDS[name]
    command = getattr(importlib.import_module(f"dipc.cli.{module}"), f"{name}_" if iskeyword(name) else name)
    assert line.endswith(".")
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "bench"])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: dipc {name} ")
    assert max(map(len, shown.splitlines())) <= 88  # examples are not wrapped


def test_definitions_are_exact() -> None:
    assert parse_definitions(["m=3", " T = -1/3", "x=0.1", "y=1e-23"]) == {
        "m": 3,
        "T": Fraction(-1, 3),
        "x": Fraction(1, 10),
        "y": Fraction(1, 10**23),
    }


def test_every_limit_can_be_set_and_stands_alone() -> None:
    changed = {name: parse_limits([f"{name}=7"]) for name in LIMIT_NAMES}
    assert len(set(map(repr, changed.values()))) == len(LIMIT_NAMES)
    assert changed["states"].states == 7
    assert changed["terms"].terms == 7
    assert parse_limits([]) == parse_limits([])
    together = parse_limits(["states=7", "intervals=8"])
    assert (together.states, together.intervals) == (7, 8)


def test_probabilities_in_json_are_read_by_sympy_and_sum_to_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prob", SPARSE, "--input", "q=(-1, 1/2, 0)", "--format", "json", "--eps", "3/2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dipc.prob/1"
    assert document["sum"] == "1"
    assert sympy.expand(sum(sympy.sympify(row["probability"]) for row in document["outputs"])) == 1
    for row in document["outputs"]:
        low, high = map(Fraction, row["at"])
        value = sympy.sympify(row["probability"]).subs("eps", sympy.Rational(3, 2))
        assert (
            sympy.Rational(low.numerator, low.denominator) <= value <= sympy.Rational(high.numerator, high.denominator)
        )
        assert high - low < Fraction(1, 10**15)


def test_check_in_json_keeps_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", SPARSE, TABLE, "--beta", "6*exp(-alpha*eps/8)/7", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["program"], document["verdict"]) == ("dipc.check/1", "sparse", "inaccurate")
    assert [row["row"] for row in document["rows"]] == list(range(1, 28))
    (bad,) = [row for row in document["rows"] if row["row"] == 3]
    assert bad["input"] == {"q[1]": "-1", "q[2]": "-1", "q[3]": "1"}
    found = bad["counterexample"]
    eps = sympy.Rational(found["eps"])
    probability = sympy.sympify(bad["probability"]).subs("eps", eps)
    required = 1 - sympy.sympify(bad["beta"]).subs("eps", eps)
    for value, (low, high) in ((probability, found["probability"]), (required, found["required"])):
        assert sympy.Rational(low) <= value <= sympy.Rational(high)
    assert probability < required


def test_fmt_is_stable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", SPARSE]) == 0
    once = capsys.readouterr().out
    (tmp_path / "p.dip").write_text(once)
    assert run(["fmt", str(tmp_path / "p.dip")]) == 0
    assert capsys.readouterr().out == once
    assert run(["fmt", "--check", str(tmp_path / "p.dip")]) == 0
    (tmp_path / "p.dip").write_text(
        "# a comment\n" + re.sub(r";( +#.*)?\n", ";  # another\n\n", once).rstrip("\n") + "\n"
    )
    assert run(["fmt", "--check", str(tmp_path / "p.dip")]) == 0
    (tmp_path / "p.dip").write_text(once.replace("<-", ":="))
    assert run(["fmt", "--check", str(tmp_path / "p.dip")]) == 1


def test_bench_hands_over_to_the_checkout(dipc: Dipc) -> None:
    done = dipc("bench", "table", "sparse", "-D", "m=1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "q[1],out[1],dd"


def test_bench_says_where_to_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dipc.cli.tools, "_CHECKOUT", tmp_path)
    assert run(["bench"]) == 2
    assert "`make bench`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", SPARSE, "--input", "q=0"], "did you mean `--inputs`?"),
        (["check", SPARSE, "--gama", "0"], "did you mean `--gamma`?"),
        (["check", SPARSE, "--ebta", "0"], "did you mean `--beta`?"),
        (["prob", SPARSE, "--alpha", "0"], "`dipc check`"),
        (["prob", SPARSE, "--runs", "5"], "`dipc run` and `dipc simulate` take it"),
        (["prob", SPARSE, "--certficate", "x"], None),
    ],
)
def test_options_that_are_not_there(arguments: list[str], said: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr().err
    assert f"there is no option `{arguments[2]}`" in shown
    assert ("did you mean" in shown or " it\n" in shown) == (said is not None)
    assert said is None or said in shown


def test_delta_is_not_beta(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tighten", SPARSE, "--delta", "1"]) == 2
    assert "--beta" not in capsys.readouterr().err


@pytest.mark.parametrize("command", [["check"], ["tighten"], ["solve", "--for", "beta"]])
def test_two_programs(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, SPARSE, SPARSE, "--inputs", "q=0"]) == 2
    assert "is a program, but a table is expected here" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["q=(0,0,0)", "q = 0", "q[1]=0, q[2]=0; q[3]=0", "q in {0}", "q=(T,T..T,{T})"])
def test_inputs_are_written_in_one_way_everywhere(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["table", SPARSE, "--inputs", form]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("0,0,0,")
    assert run(["prob", SPARSE, "--input", form, "-D", "m=3, c=1"]) == 0


def test_eps_may_be_one_point(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--inputs", "q=0", "--eps", "1"]
    assert run(["check", SPARSE, *inputs]) == 0
    assert run(["tighten", SPARSE, *inputs, "--digits", "3"]) == 0
    assert run(["solve", SPARSE, "--for", "beta", *inputs, "--digits", "3"]) == 0
    assert run(["prob", SPARSE, "--input", "q=0", "--eps", "1"]) == 0
    assert run(["dtmc", SPARSE, "--input", "q=0", "--eps", "1", "-D", "m=1"]) == 0
    assert run(["simulate", SPARSE, "--input", "q=0", "--eps", "1", "-n", "100"]) == 0
    capsys.readouterr()
