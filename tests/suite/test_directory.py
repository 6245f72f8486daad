from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dipc.cli.main import run

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "programs"

BUSY = (DOCS / "busy.dip").read_text(encoding="utf-8")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two programs with claims, one of them with a table, and one without a claim."""
    below = tmp_path / "mechanisms" / "below"
    below.mkdir(parents=True)
    (below.parent / "busy.dip").write_text(BUSY, encoding="utf-8")
    (below / "tabled.dip").write_text(BUSY.replace("exp(-alpha*eps)/2", "exp(-alpha*eps)"), encoding="utf-8")
    (below / "tabled.csv").write_text("count,answer,dd\n103,yes,3\n", encoding="utf-8")
    shutil.copy(DOCS / "coin.dip", below)
    return below.parent


def test_every_program_with_a_claim_is_checked(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(directory), "--inputs", "count = 101"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "accurate: both programs"
    assert "coin" not in said
    assert "below/tabled.dip  accurate: 1 row, for every eps in (0, ∞)" in said


def test_one_that_fails_is_shown_whole(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "busy.csv").write_text("count,answer,dd\n103,no,3\n", encoding="utf-8")
    assert run(["check", str(directory), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "inaccurate"
    assert [record["verdict"] for record in found["programs"]] == ["accurate", "inaccurate"]
    assert run(["check", str(directory)]) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "INACCURATE: 2 programs, 1 inaccurate"
    assert "  row 1 fails\n" in said


def test_one_that_cannot_be_asked_is_worse(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "broken.dip").write_text("program p\n", encoding="utf-8")
    assert run(["check", str(directory), "--inputs", "count = 101", "-q"]) == 2
    assert capsys.readouterr().out == "ERROR: 3 programs, 1 could not be asked\n"


def test_options_of_one_program_are_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(directory), "--certificate", "proof.json"]) == 2
    assert "error[E0812]: `--certificate` is about one program, not a directory" in capsys.readouterr().err
    assert run(["check", str(directory / "below"), "--beta", "1", "--inputs", "x = 0"]) == 2


def test_a_directory_without_claims_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(DOCS / "coin.dip", tmp_path)
    assert run(["check", str(tmp_path)]) == 2
    assert "error[E1501]: there are no claims in the directory" in capsys.readouterr().err


@pytest.mark.slow
def test_several_at_a_time_say_the_same(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", str(directory), "--inputs", "count = 101", "-q"]
    assert run(asked) == 0
    assert run([*asked, "-j", "2"]) == 0
    one, two = capsys.readouterr().out.splitlines()
    assert one == two
