"""Every JSON answer that is kept as golden output, and some made here, is of its JSON Schema."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dipc.algebra.record import Record
from dipc.cli.main import COMMANDS, run
from dipc.frozen import frozen
from dipc.verifier import document
from tests.schemas import generated, names_of, of_record, packaged, text_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {
    path.stem.rpartition("-")[0]: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "dipc" / "schemas").glob("*.json"))
}


def answers() -> dict[str, Any]:
    """The golden outputs that are JSON answers, by name."""
    found = {}
    for path in sorted((ROOT / "tests" / "golden").glob("*.txt")):
        written = path.read_text(encoding="utf-8").partition("--- stdout\n")[2].partition("--- stderr\n")[0]
        if written.startswith("{") and '"schema"' in written:
            found[path.stem] = json.loads(written)
    return found


ANSWERS = answers()

MADE = {
    "check": "check docs/programs/busy.dip --inputs all --beta exp(-alpha*eps)/3",
    "every m": "check benchmarks/sparse.dip --inputs all --for-all m",
    "privacy": "privacy docs/programs/coin.dip --adjacent hamming:1",
    "not private": "privacy docs/programs/coin.dip --adjacent hamming:1 --budget eps/2",
    "constant": "privacy benchmarks/sparse.dip -D m=2 --adjacent linf:1 --inputs all --constant",
    "loss": "privacy docs/programs/coin.dip --adjacent hamming:1 --max-loss --at 1",
    "delta": "privacy docs/programs/coin.dip --adjacent hamming:1 --delta-of eps/2 --at 1",
    "orders": "privacy docs/programs/coin.dip --adjacent hamming:1 --renyi 2..4 --at 1",
    "budget": "privacy docs/programs/coin.dip --adjacent hamming:1 --compose 3 --budget-of 1/100 --at 1",
    "profile": "privacy docs/programs/coin.dip --adjacent hamming:1 --profile --at 1",
    "prob": "prob docs/programs/busy.dip --input count=1 --eps 1",
    "simulate": "simulate docs/programs/busy.dip --input count=103 --eps 1 -n 100 --seed 1",
    "conform": "conform docs/programs/coin.dip --input x=yes --eps 1 --counts docs/programs/counts.csv",
    "run": "run docs/programs/busy.dip --input count=103 --eps 1",
    "error": "error docs/programs/geometric.dip --inputs n=0 --at 1",
    "tighten": "tighten docs/programs/busy.dip --inputs all",
    "tune": 'tune tests/golden/files/split.dip -D m=1 --vary "s in [1/3, 1/2]" --adjacent linf:1 --tolerance 2',
    "solve eps": "solve docs/programs/busy.dip --inputs all --for eps --beta 1/10 --alpha 1",
    "solve beta": "solve docs/programs/busy.dip --inputs all --for beta",
    "solve constant": 'solve docs/programs/busy.dip --inputs all --for "T in {100, 103}"',
}


#: Certificates of each question.
CERTIFIED = {
    "rows": "check docs/programs/busy.dip --inputs count=103",
    "every gamma": "check docs/programs/coin.dip --gamma free --beta 1/(1+exp(eps))",
    "all inputs": "check docs/programs/busy.dip --inputs all --beta exp(-alpha*eps)/3",
    "pairs": "privacy docs/programs/coin.dip --adjacent hamming:1",
    "exchanged rows": "check tests/outcome/exchanged.dip --inputs all",
    "exchanged pairs": "privacy tests/outcome/exchanged.dip --adjacent hamming:1 --inputs all --budget 2*eps",
    "refuted pairs": "privacy docs/programs/coin.dip --adjacent hamming:1 --budget eps/2",
    "all pairs": "privacy benchmarks/sparse.dip -D m=2 --adjacent linf:1 --inputs all",
    "all pairs for every number": "privacy benchmarks/sparse.dip --adjacent linf:1 --inputs all --for-all m",
    "a least number": "tighten docs/programs/busy.dip --inputs all",
}

#: Options and paths by which programs of a checkout print such a document.
BENCHMARKS = {"atlas": ["privacy", "--only", "svt1"], "bench": ["--table", "2a"], "literature": ["--only", "small_db"]}


def held_to_its_schema(answer: Any) -> None:
    name = answer["schema"].removeprefix("dipc.").partition("/")[0]
    jsonschema.validate(answer, SCHEMAS[name], cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ANSWERS)
def test_golden_outputs(name: str) -> None:
    held_to_its_schema(ANSWERS[name])


@pytest.mark.parametrize("name", MADE)
def test_answers(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run([*shlex.split(MADE[name]), "--format", "json"]) in (0, 1)
    held_to_its_schema(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("name", CERTIFIED)
def test_certificates(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    file = tmp_path / "proof.json"
    assert run([*CERTIFIED[name].split(), "-q", "--certificate", str(file)]) in (0, 1)
    certificate = json.loads(file.read_text(encoding="utf-8"))
    held_to_its_schema(certificate)
    for broken in ({**certificate, "more": 1}, {**certificate, "digest": "0"}, {**certificate, "question": "rows?"}):
        with pytest.raises(jsonschema.ValidationError):
            held_to_its_schema(broken)


def test_the_parts_of_certificates_are_those_that_the_checker_reads() -> None:
    stated = {
        case["if"]["properties"]["question"]["const"]: (set(case["then"]["required"]), case["then"]["propertyNames"])
        for case in SCHEMAS["certificate"]["allOf"]
    }
    assert stated == {
        str(question): (set(parts), {"enum": [*parts, *document._OPTIONAL.get(question, ())]})
        for question, parts in document._PARTS.items()
    }


def test_programs_of_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("coin", "busy"):
        text = (ROOT / "docs" / "programs" / f"{name}.dip").read_text(encoding="utf-8")
        (tmp_path / f"{name}.dip").write_text(text, encoding="utf-8")
    (tmp_path / "broken.dip").write_text("program p; input", encoding="utf-8")
    assert run(["check", str(tmp_path), "--format", "json"]) == 2
    held_to_its_schema(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("program", [pytest.param("bench", marks=pytest.mark.slow), "literature", "atlas"])
def test_benchmarks(program: str) -> None:
    words = BENCHMARKS[program]
    words = ["literature", *words] if program == "literature" else words
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words, "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    answer = json.loads(ended.stdout)
    assert answer["schema"].startswith(f"dipc.{program}/")
    held_to_its_schema(answer)


def test_every_schema_that_is_written_is_there() -> None:
    """Each format that the sources call `dipc.NAME/N` has a file."""
    sources = [path for room in ("dipc", "benchmarks") for path in (ROOT / room).rglob("*.py")]
    named = {
        found for path in sources for found in re.findall(r"\bdipc\.[a-z-]+/\d+", path.read_text(encoding="utf-8"))
    }
    assert named == {schema["properties"]["schema"]["const"] for schema in SCHEMAS.values()}


def test_what_is_none_is_refused() -> None:
    answer = next(answer for answer in ANSWERS.values() if answer["schema"] == "dipc.check/1")
    for broken in (
        {**answer, "verdict": "perhaps"},
        {**answer, "schema": "dipc.check/2"},
        {key: value for key, value in answer.items() if key != "rows"},
        {**answer, "rows": [{**answer["rows"][0], "input": 1}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMAS["check"], cls=jsonschema.Draft202012Validator)


def test_schemas_are_schemas_and_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert {answer["schema"] for answer in ANSWERS.values()} <= {
        schema["properties"]["schema"]["const"] for schema in SCHEMAS.values()
    }
    for name, schema in SCHEMAS.items():
        assert name in COMMANDS or name in {"certificate", "check-directory", "literature", "atlas"}
        jsonschema.Draft202012Validator.check_schema(schema)
        assert run(["schema", name]) == 0
        assert json.loads(capsys.readouterr().out) == schema
    assert run(["schema", "nothing"]) == 2


@pytest.mark.parametrize("name", generated())
def test_schemas_are_those_of_the_records(name: str) -> None:
    assert text_of(generated()[name]) == packaged(name).read_text("utf-8"), "python -m tests.schemas --write"


def test_a_schema_follows_the_fields() -> None:
    @frozen
    class Part(Record):
        FIELDS = "low ends?"
        low: Fraction
        ends: tuple[Fraction, Fraction] | None

    @frozen
    class Composed(Record):
        FIELDS = "count parts first=parts(low) more(ok) word:limit"
        count: int
        parts: tuple[Part, ...]
        ok: bool | None
        word: str | None

    names_of(__name__).update(Part=Part)
    ends = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    low = {"type": "object", "properties": {"low": {"type": "string"}}, "required": ["low"]}
    part = {"type": "object", "properties": {"low": {"type": "string"}, "ends": ends}, "required": ["low"]}
    assert of_record(Composed)["properties"] == {
        "count": {"type": "integer"},
        "parts": {"type": "array", "items": part},
        "first": {"type": "array", "items": low},
        "more": {"type": "object", "properties": {"ok": {"type": ["boolean", "null"]}}, "required": ["ok"]},
        "word": {"type": "string"},
    }
