"""Files and values nobody should give, and what they get: exit 2, a diagnostic, no traceback, no half result."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.cli.main import run
from tests.patience import examples

NOISE = "program noise;\ninput x : real;\noutput y : real;\ny <- Lap(eps, x)\n"
ROWS = "x,y\n0,0\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.dip").write_text(NOISE)
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """stderr of a command that must be refused as bad input."""
    capsys.readouterr()
    code = run(list(arguments))
    captured = capsys.readouterr()
    assert code == 2, captured.err
    assert captured.out == ""
    assert captured.err.startswith("error[E0")
    assert "Traceback" not in captured.err
    return captured.err


def check(*more: str) -> list[str]:
    return ["check", "p.dip", "t.csv", "--gamma", "1", "--beta", "exp(-eps)", *more]


def test_the_innocent_case(here: Path) -> None:
    assert run(check()) == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\0\0\0\0",
        b"\x7fELF\x02\x01\x01" + bytes(100),
        bytes(range(256)) * 10,
        b"\xff\xfe" + NOISE.encode("utf-16-le"),
        b"\xef\xbb\xbf",
        b"#" * 200_000,
        b"x" * 200_000,
        b"9" * 200_000,
        NOISE.encode().replace(b"Lap", "Ląp".encode()),
        NOISE.encode() + b"\x1a",
        NOISE.encode().replace(b"eps", b"\x1b[31meps\x07"),
        b"program p;\n" + b"x <- 1;\n" * 100_000,
        b"program p;\noutput y : {0..1};\ny <- " + b"(" * 10_000 + b"1" + b")" * 10_000,
        b"program p;\n" + b"if true then\n" * 10_000 + b"end\n" * 10_000,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_garbage_for_a_program(here: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (here / "p.dip").write_bytes(content)
    message = refused(capsys, *check())
    assert all(character.isprintable() or character == "\n" for character in message)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        b"\0",
        bytes(range(256)) * 10,
        b"x;y\n0;0\n",
        b"x\ty\n0\t0\n",
        b"x,y\n" + b"1" * 5_000 + b",0\n",
        b"x,y\n1e999999999,0\n",
        b"x,y\n" + b"a" * 200_000 + b",0\n",
        b'x,y\n"0,0\n',
        b'x,y\n"0"0,0\n',
        b"x,y\n0x10,0\n",
        b"x,y\n1_000,0\n",
        b"x,y\n\xd9\xa3,0\n",
        b"x,y\nnan,0\n",
        b"x,y\ninf,0\n",
        b"x,y\n0.1.2,0\n",
        b"x,y\n1/0,0\n",
        b"x,y\n--1,0\n",
        b"x,y\n,\n",
        b"x,y,\n0,0,\n",
        b"x,y,x\n0,0,0\n",
        b"X,Y\n0,0\n",
        b"y\n0\n",
        b"x,y\n0\n",
        b"x,y\n0,0,0\n",
        b"x,y\n0,\x1b[31m0\n",
        b"x,y,alpha\n0,0,-1\n",
        b"x,y,gamma\n0,0,inf\n",
        b"x,y,dd\n0,0,dd\n",
        b"x,y,beta\n0,0,exp(1)\n",
        b"x,y,beta\n0,0,)\n",
        b"," * 10_000 + b"\n",
    ],
    ids=lambda content: repr(content[:20]),
)
def test_garbage_for_a_table(here: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (here / "t.csv").write_bytes(content)
    message = refused(capsys, *check())
    assert all(character.isprintable() or character == "\n" for character in message)


@pytest.mark.parametrize(
    "text", ["x,y\r\n0,0\r\n", "\ufeffx,y\n0,0\n", 'x,y\n"0","0"\n', " x , y \n 0 , 0.0 \n\n", "y,x\n0,0"]
)
def test_harmless_variations_of_a_table(here: Path, text: str) -> None:
    (here / "t.csv").write_text(text, newline="")
    assert run(check()) == 0


@pytest.mark.parametrize("text", [NOISE.replace("\n", "\r\n"), "\ufeff" + NOISE, NOISE.replace("\n", "\r\n\t ")])
def test_harmless_variations_of_a_program(here: Path, text: str) -> None:
    (here / "p.dip").write_text(text, newline="")
    assert run(check()) == 0


def test_pipes_are_read_like_files(here: Path) -> None:
    for name, text in (("p.dip", NOISE), ("t.csv", ROWS)):
        (here / name).unlink()
        os.mkfifo(here / name)
        threading.Thread(target=(here / name).write_text, args=(text,)).start()
    assert run(check()) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "p.dip").chmod(0)
    assert "no permission to read `p.dip`" in refused(capsys, *check())


@pytest.mark.parametrize(
    "name", ["a\0b", "x" * 5000, "p.dip/p.dip", "", "."], ids=["nul", "long", "file", "empty", "dot"]
)
def test_names_that_are_no_files(here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    refused(capsys, "check", name, "t.csv")
    refused(capsys, "check", "p.dip", name, "--beta", "1")
    refused(capsys, *check("-o", name))


def test_an_endless_program_is_not_read_to_the_end(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if Path("/dev/zero").exists():
        refused(capsys, "check", "/dev/zero", "t.csv")


@pytest.mark.parametrize(
    "more",
    [
        ["--beta", ""],
        ["--beta", "exp(eps^2)"],
        ["--beta", "1e-9999999"],
        ["--beta", "(" * 5000],
        ["--beta", "2^2^2^2^2^2^2"],
        ["--beta", "(1+eps)^1000000"],
        ["--beta", "1/(eps-1)"],
        ["--beta", "0.1\n;rm"],
        ["--beta", "import os"],
        ["--beta", "β"],
        ["--gamma", "nan"],
        ["--gamma", "eps"],
        ["--gamma", "inf"],
        ["--alpha", "1e400000000"],
        ["--eps", "(0, 1"],
        ["--eps", "(inf, inf)"],
        ["--eps", "(-1, 1)"],
        ["--eps", "(0, 1), (1/2, 2)"],
        ["--eps", ""],
        ["-D", "=="],
        ["-D", "eps=1"],
        ["-D", "x=1"],
        ["-D", "m=" + "9" * 100_000],
        ["--limit", "terms=1e3"],
        ["--limit", "terms=٣"],
        ["--closed-form", "two"],
        ["--closed-form", "2"],
        ["-o", "."],
        ["--format", "yaml"],
        ["surplus"],
    ],
    ids=lambda more: " ".join(more)[:24],
)
def test_absurd_options(here: Path, capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    refused(capsys, *check(*more))
    assert sorted(path.name for path in here.iterdir()) == ["p.dip", "t.csv"]


@settings(max_examples=examples(8))
@given(st.integers())
def test_random_damage_never_becomes_a_defect(seed: int) -> None:
    """A byte changed, dropped or doubled in the program or the table: a verdict or a diagnostic, nothing else."""
    import tempfile

    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / "p.dip", Path(name) / "t.csv"]
        contents = [bytearray(NOISE.encode()), bytearray(ROWS.encode())]
        victim = chance.choice(contents)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(victim))
            match chance.randrange(3):
                case 0:
                    victim[at] = chance.randrange(256)
                case 1:
                    del victim[at]
                case _:
                    victim.insert(at, victim[at])
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        target = Path(name) / "result.json"
        arguments = ["check", *map(str, paths), "--gamma", "1", "--beta", "exp(-eps)", "--format", "json"]
        code = run([*arguments, "-o", str(target), "--quiet"])
        assert code in (0, 1, 2, 3)
        assert target.exists() == (code != 2)
