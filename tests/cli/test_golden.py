"""Every file of tests/golden is a command line with its exit code and all of its output."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from dipc.cli.main import run

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
CASES = sorted(GOLDEN.glob("*.txt"))


def outcome(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The outcome of `command` in the form of the golden files."""
    words = shlex.split(command)
    assert words[0] == "dipc"
    capsys.readouterr()
    code = run(words[1:])
    captured = capsys.readouterr()
    parts = [f"$ {command}\n", f"--- exit {int(code)}\n"]
    for name, text in (("stdout", captured.out), ("stderr", captured.err)):
        if text:
            assert text.endswith("\n"), f"{name} ends within a line"
            parts.append(f"--- {name}\n{text}")
    return "".join(parts)


@pytest.mark.every_case
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden(
    path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    expected = path.read_text(encoding="utf-8")
    found = outcome(expected.splitlines()[0].removeprefix("$ "), capsys)
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_every_exit_code_has_a_case(code: int) -> None:
    texts = [path.read_text(encoding="utf-8") for path in CASES]
    assert any(f"\n--- exit {code}\n" in text for text in texts)


def test_nothing_in_the_golden_files_is_unused() -> None:
    commands = " ".join(path.read_text(encoding="utf-8").splitlines()[0] for path in CASES)
    unused = [path.name for path in (GOLDEN / "files").iterdir() if path.name not in commands]
    assert unused == []
