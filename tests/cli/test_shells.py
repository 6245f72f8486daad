"""What shells ask: the scripts of completion, what may follow on a line, and the manual page."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dipc.cli.main import COMMANDS, run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_DIPC_COMPLETE" in script
    if (program := shutil.which(shell)) is not None:
        done = subprocess.run([program, "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("line", "offered"),
    [("dipc ch", "plain,check\n"), ("dipc check --al", "plain,--alpha\n"), ("dipc check docs/pro", "file,docs/pro\n")],
)
def test_what_may_follow(line: str, offered: str) -> None:
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_DIPC_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-m", "dipc"], cwd=ROOT, env=asked, text=True, capture_output=True, check=False
    )
    assert done.stdout == offered, done.stderr


def test_the_manual_page_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "man"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH DIPC 1")
    assert all(f".SS dipc {name}" in page for name in COMMANDS)
    if (program := shutil.which("groff")) is not None:
        done = subprocess.run(
            [program, "-man", "-ww", "-z"], input=page.encode(), capture_output=True, check=False, timeout=60
        )
        assert not done.stderr
