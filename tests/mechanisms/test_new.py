"""`dipc new`, and the claims of Python files as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dipc.cli.main import run
from tests.patience import SECONDS


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_mechanism_is_proved_by_its_test(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "gate"]) == 0
    assert "`pytest test_gate.py` proves the claim" in capsys.readouterr().out
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_gate.py", "gate.py"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "4 passed" in found.stdout, found.stdout
    assert run(["new", "gate"]) == 2
    assert "`gate.py` is there already" in capsys.readouterr().err
    assert run(["test", "gate.py"]) == 0


def test_a_first_program(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "gate", "--language", "dip"]) == 0
    assert run(["test", "gate.dipc.toml"]) == 0
    assert "passed: 2 claims" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["class", "end", "1st", "a-b", "../x", "dipc", "count", ""])
def test_names_that_are_none(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", name]) == 2
    assert "cannot be the name of a mechanism" in capsys.readouterr().err
    assert list(here.iterdir()) == []


CLAIMS = """
[[claim]]
program = "lib/gate.py::gate"
inputs = "all"

[[claim]]
program = "lib/gate.py::gate"
inputs = "all"
beta = "exp(-alpha*eps)/3"
expect = "inaccurate"
constants = { threshold = 7 }
"""


def test_files_of_claims_name_mechanisms(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "gate"]) == 0
    (here / "lib").mkdir()
    (here / "gate.py").rename(here / "lib" / "gate.py")
    (here / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    assert run(["test", "claims.toml"]) == 0
    wrong = CLAIMS.replace('"inaccurate"', '"accurate"').replace("::gate", "::gates", 1)
    (here / "wrong.toml").write_text(wrong, encoding="utf-8")
    assert run(["test", "wrong.toml"]) in (1, 2)
    assert "did you mean `gate`?" in capsys.readouterr().out


def test_the_plugin_collects_what_makes_claims(here: Path) -> None:
    """The name of the file selects it; a failed claim is a failure with its report."""
    assert run(["new", "gate"]) == 0
    text = (here / "gate.py").read_text(encoding="utf-8")
    (here / "my_mechanisms.py").write_text(text.replace("/2", "/3"), encoding="utf-8")
    (here / "others.py").write_text(text.replace("/2", "/3"), encoding="utf-8")
    (here / "mechanisms.py").write_text("import dipc\n\n\ndef mechanism():\n    claim = 1\n", encoding="utf-8")
    (here / "test_gate.py").unlink()
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "1 failed" in found.stdout, found.stdout
    assert "INACCURATE" in found.stdout
    assert "replay: dipc check my_mechanisms.py::gate --inputs all" in found.stdout


def test_a_file_without_claims(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "empty.py").write_text("import dipc\n", encoding="utf-8")
    assert run(["test", "empty.py"]) == 2
    assert "makes a claim" in capsys.readouterr().err
