"""Random programs under random claims keep the verdicts and closed forms that an earlier version of dipc gave.

That version was built quite differently. An entry of `frozen_programs.json` is never regenerated to fit: where an
answer differs, one of the two versions is wrong. Only `undecided` may be replaced, by a verdict with a proof.
Programs with finite and real outputs have since been given `metric { dd: all; }`, which states what they meant then.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dipc.cli.main import run

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("frozen_programs.json").read_text(encoding="utf-8"))
QUESTIONS = ("table", "finite inputs", "gamma free", "every real input", "for all m")
EXIT = {"accurate": 0, "inaccurate": 1, "undecided": 3}


def agrees(case: dict[str, Any], directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, table = directory / "program.dip", directory / "table.csv"
    program.write_text(case["program"], encoding="utf-8")
    words = ["check", str(program)]
    if "table" in case:
        table.write_text(case["table"], encoding="utf-8")
        words.append(str(table))
    capsys.readouterr()
    code = run([*words, *case["arguments"], "--format", "json", "--quiet"])
    captured = capsys.readouterr()
    if captured.err:
        # That gamma is of no use has been said since; nothing else is.
        warning, *notes = captured.err.splitlines()
        assert warning.startswith("warning[W0602]: gamma has no effect: ")
        assert all(note.startswith("  = help: ") for note in notes)
        assert any(word.startswith("--gamma") for word in case["arguments"])
    assert int(code) == EXIT[case["verdict"]]
    report = json.loads(captured.out)
    assert report["verdict"] == case["verdict"]
    rows = [[row["verdict"], row["probability"]] for row in report["rows"]]
    if case["question"] == "every real input":
        # Into how many classes the inputs of an answer are cut is no part of it.
        assert set(map(tuple, rows)) == set(map(tuple, case["rows"]))
    else:
        assert rows == case["rows"]


def named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=f"{case['question']}-{CASES.index(case)}") for case in cases]


#: The quickest of each question.
FAST = [case for case in CASES if case["fast"]]


@pytest.mark.every_case
@pytest.mark.parametrize("case", named(FAST))
def test_the_answers_are_those_of_before(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agrees(case, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("case", named([case for case in CASES if not case["fast"]]))
def test_all_answers_are_those_of_before(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agrees(case, tmp_path, capsys)


def test_every_question_and_every_verdict_has_its_cases() -> None:
    for cases, least in ((CASES, 14), (FAST, 8)):
        counts = Counter(case["question"] for case in cases)
        assert set(counts) == set(QUESTIONS)
        assert min(counts.values()) >= least
        assert {case["verdict"] for case in cases} == set(EXIT)
