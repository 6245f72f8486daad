from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dipc.cli.main import run
from dipc.decide.obligation import Verdict
from dipc.suite.claims import SuiteResult, claims_files, read_claims, run_claims
from dipc.text.diagnostic import DiagnosticError

pytest_plugins = ["pytester"]

#: The plugin is there of itself where the distribution is installed, and pytest does not take it twice.
INSTALLED = any(each.value == "dipc.suite.pytest_plugin" for each in entry_points(group="pytest11"))
PLUGINS = () if INSTALLED else ("-p", "dipc.suite.pytest_plugin")

LAPLACE = "program laplace;\nconst k = 1;\ninput q : real;\noutput out : real;\nout <- Lap(k*eps, q);\n"
TABLE = "q,out\n0,0\n1,1\n"
TRUE = '[[claim]]\nname = "true"\nprogram = "laplace.dip"\ntable = "t.csv"\nbeta = "exp(-gamma*eps)"\ngamma = 0.5\n'
FALSE = '[[claim]]\nname = "false"\nprogram = "laplace.dip"\ntable = "t.csv"\nbeta = "exp(-eps)"\ngamma = "1/2"\n'
TWO = "program two;\ninput q : real;\noutput out : {0, 1};\nvar r : real;\nr <- Lap(eps, q);\n"
TWO += "if r >= 0 then out <- 1 else out <- 0 end;\n"
OPEN = '[[claim]]\nname = "open"\nprogram = "two.dip"\ntable = "t.csv"\nbeta = 0.5\nlimits = { states = 1 }\n'


@pytest.fixture
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to write claims to, with their program and its table."""
    (tmp_path / "laplace.dip").write_text(LAPLACE, encoding="utf-8")
    (tmp_path / "two.dip").write_text(TWO, encoding="utf-8")
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(directory: Path, *claims: str, name: str = "c.dipc.toml") -> Path:
    path = directory / name
    path.write_text("\n".join(claims), encoding="utf-8")
    return Path(name)


def test_kinds(claims: Path) -> None:
    broken = '[[claim]]\nname = "broken"\nprogram = "nothing.dip"\n'
    path = write(claims, TRUE, FALSE, FALSE + 'expect = "inaccurate"\n', OPEN, OPEN + 'expect = "undecided"\n', broken)
    found = list(run_claims(read_claims(path)))
    assert [(one.claim.name, one.kind, one.verdict) for one in found] == [
        ("true", SuiteResult.PASSED, Verdict.ACCURATE),
        ("false", SuiteResult.FAILED, Verdict.INACCURATE),
        ("false", SuiteResult.PASSED, Verdict.INACCURATE),
        ("open", SuiteResult.UNDECIDED, Verdict.UNDECIDED),
        ("open", SuiteResult.PASSED, Verdict.UNDECIDED),
        ("broken", SuiteResult.ERROR, None),
    ]
    assert [one.claim.place.line for one in found[:3]] == [1, 8, 15]
    assert found[5].diagnostics[0].code == "E0802"


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ([TRUE], 0),
        ([TRUE, FALSE], 1),
        ([OPEN], 3),
        ([OPEN, FALSE], 1),
        ([OPEN + 'expect = "accurate"\n', TRUE], 3),
        ([TRUE + 'expect = "undecided"\n'], 1),
        ([FALSE, '[[claim]]\nprogram = "nothing.dip"\n'], 2),
    ],
)
def test_exit_codes(claims: Path, texts: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["test", str(write(claims, *texts)), "-q"]) == code
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_formats_agree(claims: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(claims, TRUE, FALSE, OPEN, '[[claim]]\nname = "100%, or: none"\nprogram = "bad.dip"\nbeta = 0\n')
    (claims / "bad.dip").write_text(LAPLACE.replace("q);", "z);"), encoding="utf-8")
    assert run(["test", str(path), "--junit", "junit.xml", "--format", "json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dipc.test/1"
    assert document["verdict"] == "error"
    assert document["counts"] == {"passed": 1, "failed": 1, "undecided": 1, "error": 1}
    assert document["claims"][3]["diagnostics"][0]["line"] == 5

    suite = ET.parse(claims / "junit.xml").getroot()[0]
    assert suite.attrib | {"time": ""} == {
        "name": str(path),
        "tests": "4",
        "failures": "1",
        "errors": "2",
        "time": "",
    }
    assert [[(part.tag, part.get("type")) for part in case] for case in suite] == [
        [],
        [("failure", "failed")],
        [("error", "undecided")],
        [("error", "error")],
    ]

    assert run(["test", str(path), "--format", "github"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("::error file=c.dipc.toml,line=8,col=1,title=false::expected accurate, but INACCURATE: ")
    assert lines[1].startswith("::warning file=c.dipc.toml,line=15,col=1,title=open::")
    assert lines[2].startswith("::error file=bad.dip,line=5,col=19,title=100%25%2C or%3A none (E0201)::")
    assert len(lines) == 4

    assert run(["test", str(path)]) == 2
    text = capsys.readouterr().out
    assert text.startswith("ERROR: 4 claims, 1 as expected, 1 otherwise, 1 undecided, 1 could not be asked\n")
    replay = "replay: dipc check laplace.dip t.csv --beta 'exp(-eps)' --gamma 1/2"
    assert replay in text
    assert document["claims"][1]["replay"] == replay.removeprefix("replay: ")
    assert "row 1 fails" in text


def test_the_replay_command_gives_the_same_verdict(claims: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(claims, FALSE + "constants = { k = 0.5 }\nlimits = { states = 50 }\n")
    (claim,) = read_claims(path)
    assert claim.command()[:4] == ("dipc", "check", "laplace.dip", "t.csv")
    assert run(claim.command()[1:]) == 1
    assert "k = 1/2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ('[[claim]]\nprogram = "p.dip"\nprogramm = 1\n', "E1502", 3, 1),
        ('other = 1\n[[claim]]\nprogram = "p.dip"\n', "E1502", 1, 1),
        ('\n[[claim]]\ntable = "t.csv"\n', "E1503", 2, 1),
        ('[[claim]]\nprogram = "p.dip"\n[[claim]]\nprogram = 1.5e3\n  expect = "so-so"\n', "E1504", 5, 3),
        ('[[claim]]\nprogram = "p.dip"\nbeta = [1]\n', "E1504", 3, 1),
        ('[[claim]]\nprogram = "p.dip"\nlimits = { state = 3 }\n', "E1504", 3, 1),
        ('[[claim]]\nprogram = "p.dip"\nconstants = { m = true }\n', "E1504", 3, 1),
        ('[[claim]]\nprogram = "p.dip\n', "E1505", 2, 17),
        ("x = 1 1", "E1505", 1, 7),
        ("", "E1501", None, None),
        ("claim = 3", "E1501", None, None),
    ],
)
def test_mistakes_have_their_place(claims: Path, text: str, code: str, line: int | None, column: int | None) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_claims(write(claims, text))
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.notes
    assert (found.excerpt and (found.excerpt.line, found.excerpt.column)) == (line and (line, column))


def test_claims_about_privacy(claims: Path) -> None:
    (claims / "coin.dip").write_text(
        "program coin;\ninput x : {0, 1};\noutput y : {0, 1};\n"
        "if x = 1 then y <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }\n"
        "else y <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end\n",
        encoding="utf-8",
    )
    claim = '[[claim]]\nprogram = "coin.dip"\nadjacent = "hamming:1"\n'
    half = claim + 'budget = "eps/2"\n'
    found = list(run_claims(read_claims(write(claims, claim, half, half + 'expect = "not private"\n'))))
    assert [one.kind for one in found] == [SuiteResult.PASSED, SuiteResult.FAILED, SuiteResult.PASSED]
    assert run(found[1].claim.command()[1:]) == 1
    with pytest.raises(DiagnosticError) as caught:
        read_claims(write(claims, claim + 'beta = "0"\n', claim + 'expect = "accurate"\n'))
    assert [found.code for found in caught.value.diagnostics] == ["E1502", "E1504"]


def test_directories(claims: Path) -> None:
    (claims / "deep").mkdir()
    write(claims, TRUE)
    write(claims, TRUE, name="deep/d.dipc.toml")
    write(claims, TRUE, name="not.toml")
    assert list(claims_files([Path()])) == [Path("c.dipc.toml"), Path("deep/d.dipc.toml")]
    (claims / "empty").mkdir()
    with pytest.raises(DiagnosticError) as caught:
        list(claims_files([Path("empty")]))
    assert caught.value.diagnostics[0].code == "E1501"


@pytest.mark.slow
def test_several_at_a_time_give_the_same(claims: Path) -> None:
    found = read_claims(write(claims, TRUE, FALSE))
    alone, together = list(run_claims(found)), list(run_claims(found, jobs=2))
    assert [(one.claim, one.kind, one.text) for one in alone] == [(one.claim, one.kind, one.text) for one in together]


def test_mechanisms_in_a_text_are_no_claims(pytester: pytest.Pytester) -> None:
    text = 'import dipc\n\n@dipc.mechanism(claim=dict(beta="1"))\ndef f(x: bool, eps):\n    return x\n'
    pytester.makepyfile(test_text=f"TEXT = {chr(39) * 3}\n{text}{chr(39) * 3}\n\ndef test_it():\n    assert TEXT\n")
    pytester.makepyfile(mechanisms=text)
    result = pytester.runpytest(*PLUGINS, "-p", "no:cacheprovider", "test_text.py", "mechanisms.py")
    result.assert_outcomes(passed=2)


def test_pytest(claims: Path, pytester: pytest.Pytester) -> None:
    pytester.makefile(".dip", laplace=LAPLACE, two=TWO)
    pytester.makefile(".csv", t=TABLE + "1,\n")
    pytester.path.joinpath("c.dipc.toml").write_text(TRUE + FALSE + OPEN, encoding="utf-8")
    pytester.path.joinpath("d.toml").write_text(TRUE, encoding="utf-8")
    result = pytester.runpytest(*PLUGINS, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "c.dipc.toml .FU*",
            "expected accurate",
            "INACCURATE: 2 of 3 rows fail, 1 holds vacuously (no output is stated)",
            "replay: dipc check laplace.dip t.csv *",
        ]
    )
    result.stdout.fnmatch_lines(
        ["*UNDECIDED CLAIMS*", "expected accurate", "UNDECIDED:*", "*1 failed, 1 passed, 1 undecided*"]
    )

    rows = pytester.runpytest(*PLUGINS, "-p", "no:cacheprovider", "--dipc-rows", "-v", "c.dipc.toml")
    rows.assert_outcomes(passed=5, failed=2)
    rows.stdout.fnmatch_lines(["*::false?row 1? FAILED*", "*::false?row 3? PASSED*", "*::open?row 1? UNDECIDED*"])
    rows.stdout.fnmatch_lines(["row 1 fails", "replay: * --closed-form 1"])

    asked_for = pytester.runpytest(*PLUGINS, "-p", "no:cacheprovider", "d.toml")
    asked_for.assert_outcomes(passed=1)
