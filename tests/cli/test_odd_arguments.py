"""Command lines that people get wrong, and names with characters that a terminal would obey."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import dipc
from dipc.cli.main import run
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse

BUSY = Path(__file__).resolve().parents[2] / "docs" / "programs" / "busy.dip"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["check", str(BUSY), "--inputs", "all", "--beta", "1", "--beta", "1/2"], "--beta"),
        (["check", str(BUSY), "--inputs", "all", "--eps=1", "--eps", "2"], "--eps"),
        (["privacy", str(BUSY), "--adjacent", "linf:1", "--inputs", "all", "--adjacent", "l1:1"], "--adjacent"),
        (["solve", str(BUSY), "--inputs", "all", "--for", "eps", "--for", "alpha"], "--for"),
        (["check", str(BUSY), "--inputs", "all", "-j", "1", "-j2"], "-j"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(
    words: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second value would silently replace the first."""
    assert run(words) == 2
    assert f"the option `{option}` is given twice" in capsys.readouterr().err


def test_options_that_may_be_repeated_and_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(BUSY), "--inputs", "all", "-D", "T=3", "-q", "-q"]) == 0
    assert run(["check", str(BUSY), "--inputs", "all", "-D", "T=3", "-D", "T=4"]) == 2
    assert "`T` is defined twice" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["check", "-", "--inputs", "all"], ["verify", "-"], ["test", "-"], ["fmt", "-"]])
def test_standard_input_is_not_read(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert "standard input is not read" in capsys.readouterr().err


def test_names_of_files_are_shown_as_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b\x1b[31m.dip"
    path.write_text(BUSY.read_text(encoding="utf-8"), encoding="utf-8")
    assert run(["check", str(path), "--inputs", "all"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "b␛[31m.dip" in out


def test_names_of_claims_are_shown_as_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "busy.dip").write_text(BUSY.read_text(encoding="utf-8"), encoding="utf-8")
    claims = tmp_path / "t.toml"
    name = json.dumps("a\x01\x1b[31m\ufffe")
    claims.write_text(f'[[claim]]\nname = {name}\nprogram = "busy.dip"\ninputs = "all"\n', encoding="utf-8")
    assert run(["test", str(claims), "--junit", str(tmp_path / "j.xml")]) == 0
    assert "\x1b" not in capsys.readouterr().out
    (case,) = ET.parse(tmp_path / "j.xml").getroot().iter("testcase")
    assert case.get("name") == "a\ufffd\ufffd[31m\ufffd"


@pytest.mark.parametrize("separator", ["", " "])
def test_many_unknown_characters_are_one_mistake(separator: str) -> None:
    """The rest of a line is not read again for each of its characters."""
    text = "program p;\n" + separator.join("§" * 20_000) + "\noutput o : bool;\no <- true ¶\n"
    with pytest.raises(dipc.DiagnosticError) as caught:
        parse(SourceText("p.dip", text))
    assert [each.code for each in caught.value.diagnostics] == ["E0101", "E0101"]


def test_wrong_kinds_of_arguments_are_named() -> None:
    program = dipc.load(BUSY)
    for call, message in (
        (lambda: dipc.Limits(states="x"), "the limit `states` is a natural number, and not 'x'"),  # type: ignore[arg-type]
        (lambda: program.probability(None, {}), "the inputs are a dict of values by name, not None"),  # type: ignore[arg-type]
        (lambda: program.probability({"count": 1}, None), "the outputs are a dict of values by name"),  # type: ignore[arg-type]
        (lambda: dipc.check_privacy(program, None), "an adjacency is a text, not None"),  # type: ignore[arg-type]
    ):
        with pytest.raises(dipc.DiagnosticError, match=message):
            call()


def test_answers_are_represented_by_their_first_line() -> None:
    program = dipc.load(BUSY)
    first = "accurate: every real input (2 classes), every alpha and every eps in (0, ∞)"
    assert repr(dipc.check(program, inputs="all")) == f"<dipc report: {first}>"
    assert repr(dipc.tighten(program, inputs="all")) == "<dipc factor: least factor 1; beta holds, beta/2 does not>"
    solved = dipc.solve(program, wanted="eps", inputs="count = 103", beta="1/20")
    assert repr(solved).startswith("<dipc solution: least eps 0.7675283643")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["test", "nosuch.toml"], "give the path of a file of claims"),
        (["test", "nosuch.py"], "give the path of a"),
        (
            ["conform", str(BUSY), "--input", "count=1", "--eps", "1", "--counts", "no.csv"],
            "a CSV file of observed outputs",
        ),
        (["check", "nosuch.dip"], "give the path of a DiPWhile+ program"),
    ],
)
def test_a_missing_file_is_called_what_it_should_be(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert wanted in capsys.readouterr().err
