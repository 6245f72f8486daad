from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from dipc.cli.main import run
from dipc.explain import codes, explanation
from dipc.text.diagnostic import DiagnosticError

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "dipc" / "explain" / "examples.json"

#: Files that a command names are shown up to this many characters.
LONGEST = 3000

_BLOCK = re.compile(
    r"^(?:error|warning)\[([EW]\d{4})\].*?(?=^(?:error|warning)\[|^\d+ errors$|\Z)", re.MULTILINE | re.DOTALL
)


def known_codes() -> set[str]:
    """Every code that the sources name."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "dipc").rglob("*.py"))
    return {code for text in sources for code in re.findall(r'"([EW]\d{4})"', text)}


def examples() -> dict[str, Any]:
    """For each code the shortest of the golden outputs that have it."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((ROOT / "tests" / "golden").glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        command = text.splitlines()[0].removeprefix("$ ")
        for match in _BLOCK.finditer(text.partition("--- stderr\n")[2]):
            code, said = match[1], match[0].rstrip() + "\n"
            if code in found and len(found[code]["text"]) <= len(said):
                continue
            files = {}
            for word in shlex.split(command):
                named = ROOT / word
                if word.endswith((".dip", ".csv", ".toml")) and named.is_file():
                    content = named.read_bytes().decode("utf-8", errors="replace")
                    if len(content) <= LONGEST:
                        files[word] = content
            found[code] = {"command": command, "files": files, "text": said}
    return {code: found.get(code) for code in sorted(known_codes())}


def test_the_examples_are_those_of_the_golden_outputs(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        KEPT.write_text(json.dumps(examples(), indent=1) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept == examples(), "write them anew: pytest tests/explain --update-golden"


def test_every_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(codes()) == known_codes()
    assert run(["explain"]) == 0
    listed = capsys.readouterr().out
    for code in codes():
        found = explanation(code)
        assert found.about
        assert (found.command is None) == bool(found.when), f"{code}: an example, or when it comes up"
        assert f"{code}  " in listed


def test_an_example_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "e0805"]) == 0
    shown = capsys.readouterr().out
    found = explanation("E0805")
    assert found.text in shown
    assert f"$ {found.command}\n" in shown


def test_what_is_no_code_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        explanation("E9999")
    assert caught.value.diagnostics[0].code == "E0811"
