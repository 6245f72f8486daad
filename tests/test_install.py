"""`.ci/install`, which `make` uses: with uv where that works, else with pip, and it says which."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parent.parent
QUIET = "--disable-pip-version-check --quiet install --no-compile"


def script(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("uv", "printed", "pip"),
    [
        ('echo "$VIRTUAL_ENV $*" >uv.ran', "", False),
        ("echo 'cannot resolve x' >&2; exit 2", "uv failed (see .venv/uv.log): installing with pip", True),
        (None, "uv is not available: installing with pip", True),
    ],
    ids=["works", "fails", "absent"],
)
def test_the_installer_says_when_it_uses_pip(uv: str | None, printed: str, pip: bool, tmp_path: Path) -> None:
    script(tmp_path / ".venv" / "bin" / "python", 'echo "$*" >>pip.ran')
    script(tmp_path / "bin" / "python3", "exit 1")
    if uv is not None:
        script(tmp_path / "bin" / "uv", uv)
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "install"), "--editable", "."],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "bin"), "PYTHON": str(tmp_path / "bin" / "python3")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout == (f"{printed}, which takes longer\n" if printed else "")
    assert done.stderr == ""
    ran = tmp_path / "pip.ran"
    assert ran.exists() is pip
    if pip:
        assert ran.read_text(encoding="utf-8").splitlines()[-1] == f"-m pip {QUIET} --editable ."
    else:
        assert (tmp_path / "uv.ran").read_text(encoding="utf-8") == ".venv pip install --quiet --editable .\n"
    if uv is not None and pip:
        assert (tmp_path / ".venv" / "uv.log").read_text(encoding="utf-8") == "cannot resolve x\n"


def test_a_failure_of_pip_is_a_failure(tmp_path: Path) -> None:
    script(tmp_path / ".venv" / "bin" / "python", 'case "$*" in *--version*) exit 0;; esac; exit 1')
    script(tmp_path / "bin" / "uv", "exit 2")
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "install"), "x"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "bin")},
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
