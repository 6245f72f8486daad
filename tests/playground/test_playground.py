from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dipc.cli.main import run
from dipc.playground import answer, form, mistakes
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = ROOT / "benchmarks" / "sparse.dip"
TABLE = ROOT / "benchmarks" / "sparse.csv"


def messages(command: str, options: str, *, table: bool = True, program: str | None = None) -> list[dict[str, Any]]:
    """The messages that the page receives for `command`."""
    text = SPARSE.read_text(encoding="utf-8") if program is None else program
    question = {
        "command": command,
        "program": {"name": "benchmarks/sparse.dip", "text": text},
        "table": {"name": "benchmarks/sparse.csv", "text": TABLE.read_text(encoding="utf-8")} if table else None,
        "options": shlex.split(options),
    }
    told: list[dict[str, Any]] = []
    draw = answer(json.dumps(question), lambda event: told.append(json.loads(event)))
    pages = [] if draw is None else [{"kind": "page", "html": draw()}]
    return [*(event for event in told if event["kind"] != "progress"), *pages]


@pytest.mark.parametrize("factor", [6, 7])
def test_the_page_is_told_what_the_command_prints(
    factor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = f'--beta "2*m*c*exp(-alpha*eps/(8*c))/{factor}"'
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    first, page = messages("check", options)
    monkeypatch.chdir(ROOT)
    code = run(["check", "benchmarks/sparse.dip", "benchmarks/sparse.csv", *shlex.split(options)])
    assert (first["code"], first["text"], first["errors"]) == (code, capsys.readouterr().out, "")
    assert page["kind"] == "page"
    assert 'id="curves"' in page["html"]


def test_other_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, page = messages("tighten", "--digits 6")
    assert first["code"] == 0
    assert first["text"].startswith("least factor 0.156842")
    assert first["errors"] == ""
    assert page["html"].startswith("<!doctype html>")


def test_probabilities_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answered, page = messages("prob", '--input "q=(-1,0,1)"', table=False)
    assert (answered["kind"], answered["code"], answered["errors"]) == ("answer", 0, "")
    assert "sum  1, exactly" in answered["text"]
    assert 'id="curves"' in page["html"]
    assert "dipc prob benchmarks/sparse.dip --input" in page["html"]
    assert "required" not in page["html"].partition("<script>")[0].partition('type="application/json"')[0]


def test_an_option_that_only_the_command_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, _ = messages("check", "--strict=rows --beta 1")
    assert first["code"] == 3


@pytest.mark.parametrize("command", ["check", "tighten"])
def test_mistakes_of_a_question_are_told(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (only,) = messages(command, "--beta exp(")
    assert only["code"] == 2
    assert only["text"] == ""
    assert "error[E" in only["errors"]


def test_mistakes_in_a_program_are_at_their_places() -> None:
    text = "program p; # \N{MATHEMATICAL BOLD SMALL E}\ninput q : real;\noutput a : real;\na <- Lap(eps, r)\n"
    (only,) = json.loads(mistakes(text))
    units = text.encode("utf-16-le")
    assert units[2 * only["from"] : 2 * only["to"]].decode("utf-16-le") == "r"
    assert mistakes(text.replace("r)", "q)")) == "[]"
    assert mistakes(text.replace("r)", "q)"), ["nonsense"]) == "[]"


def test_the_end_of_a_text_is_a_place() -> None:
    (only,) = json.loads(mistakes("program p;\n"))
    assert 0 <= only["from"] <= only["to"] <= len("program p;\n")


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "scipy", "sympy", "mpmath", "rich", "matplotlib"}:
            raise ImportError(f"{name} is not there")
sys.meta_path.insert(0, Blocked())
from dipc.cli.main import run
sparse = ["benchmarks/sparse.dip", "benchmarks/sparse.csv"]
busy = ["docs/programs/busy.dip", "--inputs", "count in {98, 103}"]
place = sys.argv[1] + "/"
assert run(["check", *busy, "--html", place + "a.html", "--certificate", place + "proof.json"]) == 0
assert run(["check", *sparse, "--format", "json", "--digits", "5", "-o", place + "b.json"]) == 0
assert run(["check", "docs/programs/busy.dip", "--inputs", "all"]) == 0
assert run(["verify", place + "proof.json"]) == 0
assert run(["tighten", *busy, "--html", place + "c.html"]) == 0
assert run(["solve", *busy, "--for", "eps", "--beta", "1/10", "--alpha", "1", "--html", place + "d.html"]) == 0
assert run(["privacy", "docs/programs/coin.dip", "--adjacent", "hamming:1", "--html", place + "e.html"]) == 0
assert run(["privacy", "docs/programs/coin.dip", "--adjacent", "hamming:1", "--max-loss", "--at", "1"]) == 0
assert run(["privacy", "docs/programs/coin.dip", "--adjacent", "hamming:1", "--delta", "1/9"]) == 0
import dipc.playground
"""


def test_nothing_on_the_way_needs_what_browsers_do_not_have(tmp_path: Path) -> None:
    """The index has no wheels of NumPy and SciPy for browsers, so nothing on this path imports them."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_folders_that_the_page_is_built_from_are_there() -> None:
    script = ROOT / "docs" / "playground" / "bundle.mjs"
    paths = re.findall(r'resolve\("([^"]+)"\)', script.read_text(encoding="utf-8"))
    assert paths
    for path in paths:
        assert (script.parent / path).is_dir(), path


FIRST = [
    "benchmarks/sparse.dip",
    "benchmarks/laplace.dip",
    "docs/programs/busy.dip",
    "docs/programs/majority.dip",
    "docs/programs/geometric.dip",
    "docs/programs/two_counts.dip",
]


@pytest.mark.parametrize("command", ["check", "privacy", "tighten", "solve", "prob"])
@pytest.mark.parametrize("program", FIRST)
def test_a_question_that_is_chosen_is_answered(
    program: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fields that a question needs are filled, so that the first click ends in an answer."""
    text = (ROOT / program).read_text(encoding="utf-8")
    fields = json.loads(form(command, text))
    monkeypatch.chdir(tmp_path)
    options = shlex.join(word for field in fields.items() for word in field)
    answered, _ = messages(command, options, table=False, program=text)
    assert (answered["code"] in {0, 1}, answered["errors"]) == (True, "")


def test_a_form_is_of_the_program() -> None:
    text = (ROOT / "docs" / "programs" / "busy.dip").read_text(encoding="utf-8")
    assert json.loads(form("privacy", text)) == {"--inputs": "all", "--adjacent": "linf:1"}
    assert json.loads(form("prob", text)) == {"--input": "count = 0"}
    assert json.loads(form("check", "program wrong")) == {}
    coin = (ROOT / "docs" / "programs" / "majority.dip").read_text(encoding="utf-8")
    assert json.loads(form("privacy", coin)) == {"--adjacent": "hamming:1"}


@pytest.mark.parametrize("options", ["", "--adjacent linf:1", "--adjacent linf:1 --inputs 'count = 0..1' --budgt 1"])
def test_messages_speak_of_fields(options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "programs" / "busy.dip").read_text(encoding="utf-8")
    (only,) = messages("privacy", options, table=False, program=text)
    assert only["code"] == 2
    assert "--help" not in only["errors"]
    assert "the field “" in only["errors"]
