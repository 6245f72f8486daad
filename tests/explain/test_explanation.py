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
from tests.explain.shrinking import BLOCK, Example, message_of

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "dipc" / "explain" / "examples.json"

#: Files that a command names are shown up to this many characters.
LONGEST = 3000


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
        for match in BLOCK.finditer(text.partition("--- stderr\n")[2]):
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


def updated(kept: dict[str, Any]) -> dict[str, Any]:
    """The examples of all codes: the kept ones that still hold, and others made anew from golden outputs."""
    anew = examples()
    for code, found in anew.items():
        if found is None:
            continue
        known = kept.get(code)
        if known is not None and is_shrunk(known) and holds(code, known):
            anew[code] = known
        elif found["files"] and (example := Example.in_one_folder(code, found)) is not None:
            example.shrink()
            anew[code] = {"command": example.command, "files": example.files, "text": example.text}
    return anew


def is_shrunk(example: dict[str, Any]) -> bool:
    """Whether the files of an example are in the folder of its command."""
    return bool(example["files"]) and not any("/" in name for name in example["files"])


def holds(code: str, example: dict[str, Any]) -> bool:
    """Whether the command says what is kept: in a folder with the files, or as a golden output has it."""
    if not is_shrunk(example) and example == examples()[code]:
        return True
    return message_of(example["command"], example["files"], code) == example["text"]


def test_the_examples_are_what_the_commands_say(request: pytest.FixtureRequest) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if request.config.getoption("--update-golden"):
        kept = updated(kept)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    assert kept.keys() == known_codes()
    golden = examples()
    assert {code for code, found in kept.items() if found is None} == {
        c for c, found in golden.items() if found is None
    }
    few = request.config.getoption("--few-cases")
    looked = [code for number, code in enumerate(kept) if kept[code] is not None and not (few and number % 8)]
    wrong = [code for code in looked if not holds(code, kept[code])]
    assert not wrong, "write them anew: pytest tests/explain --update-golden"


def test_the_examples_about_programs_are_short() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    lengths = [sum(text.count("\n") for text in found["files"].values()) for found in kept.values() if found]
    assert sum(length <= 7 for length in lengths) >= 0.9 * len(lengths)


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
