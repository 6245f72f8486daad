"""`dipc check --certificate` and `dipc verify` from the command line."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from dipc.cli.main import run
from dipc.cli.terminal import ExitCode
from dipc.verifier.command import main as alone
from tests.questions.real_programs import ABOVE_THRESHOLD
from tests.verifier.samples import document, resealed

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = [str(ROOT / "benchmarks" / name) for name in ("sparse.dip", "sparse.csv")]


@pytest.fixture
def proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "proof.json"
    assert run(["check", *SPARSE, "-q", "--certificate", str(file)]) == ExitCode.ACCURATE
    assert capsys.readouterr().err == ""
    return file


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["verify", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_what_is_accepted_is_described(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = verify(capsys, str(proof))
    assert (code, err) == (ExitCode.ACCURATE, "")
    lines = out.splitlines()
    digest = hashlib.sha256(Path(SPARSE[0]).read_bytes()).hexdigest()[:16]
    assert lines[0] == (
        f"proved: sparse (m = 3, c = 1, T = 0; sha256 {digest}) is right with probability >= "
        "1 - 2*m*c*exp(-alpha*eps/(8*c)), alpha = dd, at 27 listed inputs (13 vacuously), for every eps in (0, inf)"
    )
    assert "  rows         27 rows: 27 accurate (13 of them vacuously)" in lines
    assert any(line.startswith("  not compared: that its program is yours") for line in lines)
    assert verify(capsys, str(proof), "-q") == (ExitCode.ACCURATE, lines[0] + "\n", "")


def test_the_program_and_the_table_are_compared(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, str(proof), "--program", SPARSE[0], "--table", SPARSE[1])
    assert code == ExitCode.ACCURATE
    assert f"  compared     the program is {SPARSE[0]}\n" in out
    assert f"  compared     the 27 rows are those of {SPARSE[1]}\n" in out


def test_another_program(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = str(ROOT / "benchmarks" / "noisy_max.dip")
    code, out, err = verify(capsys, str(proof), "--program", other)
    assert (code, err) == (ExitCode.INACCURATE, "")
    assert out == f"rejected: program: the certificate is about a program other than {other}\n"


def test_other_constants(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, str(proof), "--program", SPARSE[0], "-D", "m=4")
    assert code == ExitCode.INACCURATE
    assert out.startswith("rejected: program: the constant `m` has a different value in the certificate")


@pytest.mark.parametrize(("checked", "compared"), [((), ("-D", "c=3")), (("-D", "c=3"), ())])
def test_a_constant_that_is_computed_from_the_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], checked: tuple[str, ...], compared: tuple[str, ...]
) -> None:
    """The text defines c as m, and -D defines it as 3 for every m: two claims. Both certificates have c = 3."""
    program, found = tmp_path / "program.dip", str(tmp_path / "found.json")
    program.write_text(ABOVE_THRESHOLD.replace("const m = 3", "const m = 3, c = m"), encoding="utf-8")
    asked = ("--inputs", "all", "--for-all", "m", "--beta", "1/c", "--certificate", found)
    run(["check", str(program), *asked, *checked])
    assert verify(capsys, found, "--program", str(program), *checked)[0] == ExitCode.ACCURATE
    code, out, _ = verify(capsys, found, "--program", str(program), *compared)
    assert code == ExitCode.INACCURATE
    assert out.startswith("rejected: program: the certificate and the program disagree on whether the constant `c`")


def test_another_table(proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text(Path(SPARSE[1]).read_text(encoding="utf-8").replace("\n0,", "\n0.0,"), encoding="utf-8")
    code, out, _ = verify(capsys, str(proof), "--table", str(table))
    assert (code, out) == (
        ExitCode.INACCURATE,
        f"rejected: table: the certificate is about a table other than {table}\n",
    )
    # Without the hash the cells are compared, by value.
    data = document(proof.read_text(encoding="utf-8"))
    data["table"]["sha256"] = None
    proof.write_text(resealed(data), encoding="utf-8")
    assert verify(capsys, str(proof), "--table", str(table))[0] == ExitCode.ACCURATE
    data["rows"][4]["output"][1] = "bot"
    proof.write_text(resealed(data), encoding="utf-8")
    why = "the program gives a different probability at these inputs"
    assert verify(capsys, str(proof))[:2] == (ExitCode.INACCURATE, f"rejected: row 5: {why}\n")
    data["rows"][4]["output"][1] = None
    proof.write_text(resealed(data), encoding="utf-8")
    assert verify(capsys, str(proof), "--table", str(table))[0] == ExitCode.INACCURATE
    del data["rows"][26], data["rows"][4:26]
    data["table"]["rows"] = 4
    proof.write_text(resealed(data), encoding="utf-8")
    code, out, _ = verify(capsys, str(proof), "--table", str(table))
    assert (code, out) == (
        ExitCode.INACCURATE,
        f"rejected: table: {table} has 27 rows, but the certificate has a different number of rows\n",
    )


def test_a_wrong_step_is_named(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", *SPARSE, "--beta", "2*m*c*exp(-alpha*eps/(8*c))/6", "-q", "--certificate", str(proof)])
    capsys.readouterr()
    data = document(proof.read_text(encoding="utf-8"))
    *_, factor = data["obligations"][0]["parts"][0]["cells"][0][0]["factors"]
    next(piece for piece in factor["evidence"] if piece["method"] in ("value", "slope"))["sign"] = -1
    proof.write_text(resealed(data), encoding="utf-8")
    code, out, _ = verify(capsys, str(proof))
    assert code == ExitCode.INACCURATE
    assert re.match(
        r"rejected: obligation 0, argument 0, interval \(0, inf\), cell 1, factor \d, piece \d: "
        r"(the function is not shown to have the sign -1 on \[|the piece begins with the sign -1|"
        r"at \S+ the sign is not -1)",
        out,
    )


@pytest.mark.parametrize(
    ("options", "why", "note"),
    [
        (("--eps", "foo"), "the eps asked about, `foo`, cannot be read", 'such as "(0, 1]"'),
        (("--eps", "(2, 1)"), "the interval is empty or not within (0, inf)", 'such as "(0, 1]"'),
        (("--alpha", "("), "the alpha asked about, `(`, cannot be read", "give --alpha an expression, such as 1 or dd"),
        (("--beta", "exp("), "the beta asked about, `exp(`, cannot be read", "such as exp(-alpha*eps)/2"),
        (("--program", "none.dip"), "none.dip cannot be read: No such file", "give --program the program"),
        (("--program", "tests/golden/files/sign.csv"), "is not a program", "give --program the program"),
        (("--table", "none.csv"), "none.csv cannot be read: No such file", "give --table the table"),
        (("--program", "benchmarks/sparse.dip", "-D", "z=1"), "has no constant `z`", "-D a constant that the program"),
    ],
)
def test_an_argument_that_cannot_be_read_is_not_blamed_on_the_certificate(
    options: tuple[str, ...], why: str, note: str, proof: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = verify(capsys, str(proof), *options)
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith("error[E0905]")
    assert why in err
    assert note in err
    assert str(proof) not in err


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "it is not JSON: Expecting value, line 1, column 1"),
        ('{"schema": "dipc.certificate/9"}', "its schema is `dipc.certificate/9`"),
    ],
)
def test_what_is_not_read_is_bad_input(
    content: str | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    code, out, err = verify(capsys, str(file))
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith("error[E0902]")
    assert why in err


@pytest.mark.parametrize(
    "arguments",
    [["-D", "m=3"], ["--program"], ["-D", "m"]],
)
def test_usage(arguments: list[str], proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = verify(capsys, str(proof), *arguments)
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith("error[E0")


def test_a_certificate_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *SPARSE, "--certificate", str(tmp_path)]) == ExitCode.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "give the path of a file to `--certificate`" in captured.err


def test_the_same_check_writes_the_same_certificate(proof: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    run(["check", *SPARSE, "-q", "--certificate", str(again)])
    assert again.read_bytes() == proof.read_bytes()
    parallel = tmp_path / "parallel.json"
    run(["check", *SPARSE, "-q", "-j", "2", "--certificate", str(parallel)])
    assert json.loads(parallel.read_text(encoding="utf-8")) == json.loads(proof.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("-D", "m=4"), 1, "rejected: program: the constant `m` has a different value in the certificate"),
        (("-D", "m=3"), 0, "compared     its constants have these values"),
        ((), 0, "compared     its constants have these values"),
        (("-D", "k=3"), 2, f"{SPARSE[0]} has no constant `k`"),
    ],
)
def test_the_checker_alone_compares_constants_too(
    proof: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], code: int, words: str
) -> None:
    assert alone([str(proof), "--program", SPARSE[0], *options]) == code
    captured = capsys.readouterr()
    assert words in captured.out + captured.err
    for wrong in (["-D", "m=3"], ["--program", SPARSE[0], "-D", "m"], ["--program", SPARSE[0], "-D", "m=1/0"]):
        with pytest.raises(SystemExit) as ended:
            alone([str(proof), *wrong])
        assert ended.value.code == 2
