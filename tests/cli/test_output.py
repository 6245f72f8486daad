from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TextIO

import pytest

from dipc.cli.main import run
from dipc.cli.output import check_distinct, check_target, write_result, write_text
from dipc.text.diagnostic import DiagnosticError
from tests.patience import SECONDS


def entries(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_result_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    target.write_text("old and long enough to show through")
    target.chmod(0o640)
    write_text(target, "new ∞\n")
    assert target.read_text(encoding="utf-8") == "new ∞\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert entries(tmp_path) == ["result.txt"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [RuntimeError("half way"), KeyboardInterrupt()])
def test_nothing_half_written_remains(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "result.txt"
    target.write_text("old")

    def writer(stream: TextIO) -> None:
        stream.write("new" * 100_000)
        raise error

    with pytest.raises(type(error)):
        write_result(target, writer)
    assert target.read_text() == "old"
    assert entries(tmp_path) == ["result.txt"]


def test_while_it_is_written_the_old_file_stands(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    target.write_text("old")

    def writer(stream: TextIO) -> None:
        stream.write("new")
        stream.flush()
        assert target.read_text() == "old"

    write_result(target, writer)
    assert target.read_text() == "new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_text(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through the pipe")
    reader.join(timeout=SECONDS)
    assert received == ["through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", [".", "missing/result.txt", "file/result.txt"])
def test_impossible_targets_are_refused_before_any_work(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DiagnosticError) as caught:
        check_target(tmp_path / name)
    (mistake,) = caught.value.diagnostics
    assert mistake.code == "E0804"
    assert mistake.notes
    assert entries(tmp_path) == ["file"]


def test_possible_targets_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    check_target(tmp_path / "new")
    check_target(tmp_path / "old")
    check_target(Path(os.devnull))
    check_target(None)
    assert entries(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_bad_luck_not_a_defect() -> None:
    with pytest.raises(DiagnosticError) as caught:
        write_text(Path("/dev/full"), "x")
    assert caught.value.diagnostics[0].code == "E0804"


def test_one_file_for_two_results_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("there")
    check_distinct({"-o": Path("a"), "--certificate": Path("b"), "--cache": None})
    check_distinct({"-o": Path("/dev/null"), "--certificate": Path("/dev/null")})
    for first, second in (("there", "./there"), ("there", str(tmp_path / "there")), ("link", "there")):
        with pytest.raises(DiagnosticError, match="is given to both"):
            check_distinct({"-o": Path(first), "--certificate": Path(second)})


def test_a_result_never_replaces_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "program p;\ninput q : real;\noutput out : real;\nout <- Lap(eps, q);\n"
    table = "q,out\n0,0\n"
    (tmp_path / "p.dip").write_text(program, encoding="utf-8")
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    claim = ["--beta", "1", "--gamma", "1"]
    for command in (
        ["check", "p.dip", "t.csv", *claim, "-o", "./p.dip"],
        ["check", "p.dip", "t.csv", *claim, "--certificate", "t.csv"],
        ["tighten", "p.dip", "t.csv", *claim, "-o", "t.csv"],
        ["solve", "p.dip", "t.csv", "--for", "eps", *claim, "-o", "p.dip"],
        ["prob", "p.dip", "--input", "q=0", "-o", "p.dip"],
        ["dtmc", "p.dip", "--input", "q=0", "-o", "p.dip"],
        ["table", "p.dip", "--inputs", "q=0", "-o", "p.dip"],
        ["simulate", "p.dip", "--input", "q=0", "--eps", "1", "-o", "p.dip"],
    ):
        assert run(command) == 2, command
    assert (tmp_path / "p.dip").read_text(encoding="utf-8") == program
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == table
