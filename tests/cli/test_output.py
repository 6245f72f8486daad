from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TextIO

import pytest

from dipc.cli.output import check_target, write_result, write_text
from dipc.diagnostics.diagnostic import DiagnosticError


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
    reader.join(timeout=10)
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
