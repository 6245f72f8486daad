"""The command line as a process: streams, signals, encodings, and what happens when something goes wrong."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Dipc
from tests.patience import SECONDS

SPARSE = ROOT / "benchmarks" / "sparse.dip"
TABLE = ROOT / "benchmarks" / "sparse.csv"


@pytest.mark.parametrize(
    ("options", "code"), [((), 0), (("--beta", "0"), 1), (("--beta", "("), 2), (("--limit", "states=12"), 3)]
)
def test_the_exit_code_is_the_verdict(dipc: Dipc, options: tuple[str, ...], code: int) -> None:
    assert dipc("check", SPARSE, TABLE, *options).returncode == code


@pytest.mark.slow
def test_values_may_begin_with_a_minus_or_a_parenthesis(dipc: Dipc) -> None:
    done = dipc("check", SPARSE, TABLE, "--beta", "-1 + (2)", "--eps", "(0, inf)", "--alpha", "-0", "-D", "T=-0", "-q")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_result_goes_to_a_file_and_only_there(dipc: Dipc, tmp_path: Path) -> None:
    plain = dipc("check", SPARSE, TABLE, "--format", "json")
    done = dipc("check", SPARSE, TABLE, "--format", "json", "-o", "result.json")
    assert done.stdout == ""
    assert done.stderr == (
        "accurate: all 27 rows, 13 of them vacuously (beta ≥ 1), for every eps in (0, ∞) "
        "(answer written to result.json)\n"
    )
    assert (tmp_path / "result.json").read_text() == plain.stdout
    assert json.loads(plain.stdout)["verdict"] == "accurate"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.slow
def test_bad_input_leaves_an_old_result_alone(dipc: Dipc, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("old")
    assert dipc("check", SPARSE, TABLE, "--beta", "oops", "-o", "result.json").returncode == 2
    assert (tmp_path / "result.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_ascii(dipc: Dipc) -> None:
    done = dipc("check", SPARSE, TABLE, "--beta", "0", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert "all of (0, inf)" in done.stdout
    assert "Pr[output = det(u)] >= 1 - beta" in done.stdout
    assert dipc("prob", "--help", PYTHONIOENCODING="ascii", PYTHONUTF8="0").returncode == 0


@pytest.mark.slow
def test_width_follows_the_terminal(dipc: Dipc) -> None:
    for width in (60, 120):
        done = dipc("prob", SPARSE, "--input", "q=(-1, 1/2, 3)", COLUMNS=str(width))
        longest = max(map(len, done.stdout.splitlines()))
        assert width - 25 < longest <= width


# --- when something goes wrong -----------------------------------------------------------------------

BROKEN = """
import sys
import dipc.program.program
def broken(*arguments):
    raise {error}
dipc.program.program.load_source = broken
from dipc.cli.main import main
main(["prob", {path!r}])
"""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("KeyError('x')", "internal error: KeyError: 'x'\n"),
        ("AssertionError", "internal error: AssertionError\n"),
        ("RecursionError('too deep')", "internal error: the recursion limit was reached\n"),
        ("MemoryError", "internal error: the memory is used up\n"),
    ],
)
def test_a_defect_is_owned_up_to_without_a_traceback(error: str, message: str) -> None:
    script = BROKEN.format(error=error, path=str(SPARSE))
    run = [sys.executable, "-c", script]
    quiet = {**os.environ, "PYTHONPATH": str(ROOT), "DIPC_TRACEBACK": ""}
    done = subprocess.run(run, capture_output=True, text=True, env=quiet, timeout=SECONDS, check=False)
    assert done.returncode == 70
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr
    assert "DIPC_TRACEBACK=1" in done.stderr


def test_a_traceback_on_request() -> None:
    run = [sys.executable, "-c", BROKEN.format(error="KeyError('x')", path=str(SPARSE))]
    loud = {**os.environ, "PYTHONPATH": str(ROOT), "DIPC_TRACEBACK": "1"}
    done = subprocess.run(run, capture_output=True, text=True, env=loud, timeout=SECONDS, check=False)
    assert done.returncode == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert "in broken" in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "dipc", "prob", str(SPARSE), "-D", "m=6", "--input", "q=(0,0,0,0,0,0)"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    message = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=SECONDS) == 141
    assert message == b""


# --- interrupts --------------------------------------------------------------------------------------

#: Interrupts itself, as Ctrl-C would, while the row after the first `after` rows is decided.
INTERRUPTED = """
import os, signal, sys
from dipc.program.program import Probabilities
bound = Probabilities.bound
rows = 0
def counting(self, *arguments):
    global rows
    if rows == {after}:
        os.kill(os.getpid(), signal.SIGINT)
    rows += 1
    return bound(self, *arguments)
Probabilities.bound = counting
from dipc.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("after", "beta", "inputs", "said"),
    [
        (0, "1", [], "interrupted after 0 of 27 rows\nno verdict: no row was decided\n"),
        (5, "1", [], "interrupted after 5 of 27 rows\nno verdict: 5 accurate, none inaccurate so far\n"),
        (
            26,
            "0",
            [],
            "interrupted after 26 of 27 rows\nalready certain: INACCURATE, 26 rows so far fail\n\nrow 1 fails\n",
        ),
        (5, "1", ["--classes"], "interrupted after 5 of 7 classes\nno verdict: 5 accurate, none inaccurate so far\n"),
        (0, "1", ["--classes"], "interrupted after 0 of 7 classes\nno verdict: no class was decided\n"),
        (
            3,
            "0",
            ["--classes"],
            "interrupted after 3 of 7 classes\nalready certain: INACCURATE, 3 classes so far fail\n\nclass 1 ",
        ),
    ],
)
def test_ctrl_c_says_how_far_it_got(tmp_path: Path, after: int, beta: str, inputs: list[str], said: str) -> None:
    target = tmp_path / "result.txt"
    table = ["--inputs", "q = -1..1", *inputs] if inputs else [TABLE]
    # With closed forms rows are looked at one after the other.
    asked = ["check", SPARSE, *table, "--beta", beta, "--closed-form", "1", "-o", target]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(after=after), *asked],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


# --- terminals ---------------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, run: tuple[str, ...] = ("-m", "dipc"), **environment: str) -> str:
    """The text of both streams that a person at a terminal sees."""
    main, child = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    process = subprocess.Popen(
        [sys.executable, *run, *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        cwd=ROOT,
        env={**clean, "TERM": "xterm", **environment},
    )
    os.close(child)
    seen = b""
    while select.select([main], [], [], SECONDS)[0]:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed, and everything was read
            break
        if not piece:
            break
        seen += piece
    assert process.wait(timeout=SECONDS) is not None
    os.close(main)
    return seen.decode()


CHECK = ("check", "benchmarks/sparse.dip", "benchmarks/sparse.csv")


@pytest.mark.slow
def test_color_at_a_terminal_unless_forbidden() -> None:
    assert "\x1b[1;32maccurate" in on_a_terminal(*CHECK)
    assert (
        on_a_terminal(*CHECK, "--quiet", NO_COLOR="1")
        == "accurate: all 27 rows, 13 of them vacuously (beta ≥ 1), for every eps in (0, ∞)\r\n"
    )
    assert "\x1b" not in on_a_terminal(*CHECK, TERM="dumb")


def test_diagnostics_are_colored_at_a_terminal_only() -> None:
    assert "\x1b[" in on_a_terminal("check", "nowhere.dip", "nowhere.csv")
    assert "\x1b" not in on_a_terminal("check", "nowhere.dip", "nowhere.csv", NO_COLOR="1")


IMPATIENT = """
import dipc.questions.question as check, dipc.cli.progress as progress
check._PROGRESS_ROWS = 1
progress._PATIENCE = progress._INTERVAL = 0
from dipc.cli.main import main
main()
"""


@pytest.mark.slow
def test_a_progress_bar_for_those_who_wait_at_a_terminal() -> None:
    seen = on_a_terminal(*CHECK, run=("-c", IMPATIENT), COLUMNS="80")
    assert "checking sparse" in seen
    assert "checking sparse, 26 of 27 done" in seen
    assert "\x1b[2K" in seen
    assert "checking" not in on_a_terminal(*CHECK, "--quiet", run=("-c", IMPATIENT))
    piped = subprocess.run(
        [sys.executable, "-c", IMPATIENT, *CHECK],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS,
        check=False,
    )
    assert (piped.returncode, piped.stderr) == (0, "")
