"""How these tests run the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent

Dipc = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dipc(tmp_path: Path) -> Dipc:
    """Run `dipc` as a process of its own, in an empty directory; keywords become environment variables."""

    def run(*arguments: str | Path, cwd: Path = tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("DIPC_")}
        return subprocess.run(
            [sys.executable, "-m", "dipc", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            cwd=cwd,
            env={**clean, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment},
            timeout=SECONDS,
            check=False,
        )

    return run
