"""Streams and files that cannot be written to or read: never a verdict's exit code, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT
from tests.patience import SECONDS

SPARSE = str(ROOT / "benchmarks" / "sparse.dip")
REFUTED = ["check", SPARSE, "--inputs", "q=0", "--beta", "0", "--alpha", "0", "-q"]

Shell = Callable[..., subprocess.CompletedProcess[str]]

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run `python -m MODULE ARGUMENTS… REDIRECTIONS` in a directory with a link that leads back to itself."""
    (tmp_path / "loop").symlink_to("loop")

    def run(*arguments: str, redirect: str = "", module: str = "dipc") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", f'"$@" {redirect}', "sh", sys.executable, "-m", module, *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=SECONDS,
            check=False,
        )

    return run


@pytest.mark.parametrize("redirect", [">&-", pytest.param("> /dev/full", marks=needs_full), "1>&- 2>&-"])
def test_a_standard_output_that_takes_nothing_is_no_verdict(shell: Shell, redirect: str) -> None:
    done = shell(*REFUTED, redirect=redirect)
    assert done.returncode == 2
    assert done.stderr.startswith("error[E0804]: ") or "2>" in redirect
    assert "Traceback" not in done.stderr


def test_the_help_on_a_full_disk() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    run = ["/bin/sh", "-c", f"{sys.executable} -m dipc --help > /dev/full"]
    done = subprocess.run(run, capture_output=True, encoding="utf-8", cwd=ROOT, timeout=SECONDS, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("redirect", ["2>&-", pytest.param("2> /dev/full", marks=needs_full)])
def test_without_a_standard_error_the_verdict_is_the_same(shell: Shell, redirect: str) -> None:
    done = shell(*REFUTED, redirect=redirect)
    assert done.returncode == 1
    assert done.stdout.startswith("INACCURATE")
    assert shell("check", SPARSE, "--beta", "(", redirect=redirect).returncode == 2


@needs_full
@pytest.mark.parametrize("option", ["--certificate", "-o"])
def test_a_file_that_cannot_be_written_comes_before_the_verdict(shell: Shell, option: str) -> None:
    done = shell("check", SPARSE, "--inputs", "q=0", "--eps", "1", option, "/dev/full")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[E0804]: `/dev/full` cannot be written: No space left on device" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", SPARSE, "--inputs", "q=0", "-o", "loop"],
        ["check", SPARSE, "--inputs", "q=0", "--cache", "loop"],
        ["check", SPARSE, "--inputs", "q=0", "--certificate", "loop"],
        ["check", SPARSE, "--inputs", "q=0", "--certificate", "loop/x"],
        ["check", SPARSE, "loop"],
        ["check", SPARSE, "loop.csv/x"],
        ["check", "loop"],
        ["tighten", SPARSE, "loop", "--plot", "x.svg"],
        ["solve", SPARSE, "loop", "--for", "beta"],
        ["table", SPARSE, "--inputs", "q=0", "-o", "loop"],
        ["fmt", SPARSE, "-o", "loop"],
        ["verify", "loop"],
        ["verify", "x", "--recompute", "loop", "loop"],
    ],
    ids=" ".join,
)
def test_a_link_that_leads_back_to_itself_is_bad_input(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dipc.cli.main import run

    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert capsys.readouterr().err.startswith("error[E")


@pytest.mark.slow
def test_the_checker_alone_says_nothing_into_a_closed_stream(shell: Shell, tmp_path: Path) -> None:
    assert shell("check", SPARSE, "--inputs", "q=0", "--eps", "1", "--certificate", "c.json").returncode == 0
    assert shell("c.json", module="dipc.verifier").returncode == 0
    (tmp_path / "bad.json").write_text((tmp_path / "c.json").read_text().replace('"gamma": "0"', '"gamma": "1"'))
    for name in ("c.json", "bad.json", "missing.json"):
        assert shell(name, module="dipc.verifier", redirect=">&-").returncode == 2
        assert shell(name, module="dipc.verifier", redirect=">&- 2>&-").returncode == 2
    if Path("/dev/full").exists():
        assert shell("bad.json", module="dipc.verifier", redirect="> /dev/full").returncode == 2
