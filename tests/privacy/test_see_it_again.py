"""The commands that a counterexample to privacy prints show its probabilities again, as they are pasted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dipc.cli.main import run

HEAD = "program p; input x : real; output b : bool = true; output y : real = 0; "
PROGRAMS = {
    "a real output": "program p; input x : real; output y : real; y <- x + Lap(eps)",
    "a finite and a real output": HEAD + "y <- x + Lap(eps); b <- x + Lap(eps) > 0",
    "a half-line": "program p; input x : real; output y : real; y <- x + Gauss(1/eps)",
    "an int output": "program p; input x : int; output y : int; y <- x + DLap(eps)",
    "finite outputs": "program p; input x : real; output y : {0, 1}; y <- x + Lap(eps) > 0",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_commands_show_the_probabilities(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.dip"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    command = ["privacy", str(path), "--adjacent", "linf:1", "--inputs", "all", "--budget", "eps/3"]
    assert run(command) == 1
    said = capsys.readouterr().out
    _, again = said.split("to see it again\n")
    (exact,) = re.findall(r"probability +([0-9.]+)", said)
    commands = [shlex.split(line.strip())[1:] for line in again.splitlines()]
    assert [words[0] for words in commands] == ["prob", "simulate"] * 2
    shown = []
    for words in commands:
        assert run(words) == 0
        shown.append(capsys.readouterr().out)
    assert all(exact[:10] in text for text in shown[:2])
    assert not any(exact[:10] in text for text in shown[2:])


def test_sums_of_outputs_have_no_such_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.dip"
    body = "y[1] <- x + Gauss(1/eps); y[2] <- x + Gauss(2/eps)"
    path.write_text(f"program p; input x : real; output y[1..2] : real; {body}", encoding="utf-8")
    assert run(["privacy", str(path), "--adjacent", "linf:1", "--inputs", "all", "--budget", "eps/3"]) == 1
    said = capsys.readouterr().out
    assert "*y[2]" in said
    assert "to see it again" not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--gamma", "1"], "`--gamma` without `--output`"), (["--output", "y=0", "--gamma=-1"], "`-1` is negative")],
)
def test_gamma_is_about_outputs(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.dip"
    path.write_text(PROGRAMS["a real output"], encoding="utf-8")
    assert run(["prob", str(path), "--input", "x=0", *options]) == 2
    assert message in capsys.readouterr().err
