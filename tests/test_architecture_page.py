"""ARCHITECTURE.md is true: its rooms are the rooms, they may know what it says, its files and words exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.test_architecture import _MATHEMATICS, _PROGRAMS, _QUESTIONS, ALLOWED, room_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

#: What several rooms are called together.
TOGETHER = {"mathematics": _MATHEMATICS, "programs": _PROGRAMS, "asked": _QUESTIONS}


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, as their cells."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def room(entry: str) -> str:
    """The room with this folder, or file."""
    return entry.strip("`").removesuffix("/").removesuffix(".py").replace("/", ".")


def rooms_in(cell: str) -> set[str]:
    """The rooms that are named, as modules."""
    named: set[str] = set()
    for word in filter(None, cell.replace("`", "").split(", ")):
        named |= {"dipc"} if word == "dipc" else set(TOGETHER.get(word, (f"dipc.{word}",)))
    return named


def test_every_room_is_named() -> None:
    assert [room(entry) for entry, *_ in table("Rooms")] != []
    assert {room(entry) for entry, *_ in table("Rooms")} == set(ALLOWED)


@pytest.mark.parametrize(("entry", "knows"), [(entry, knows) for entry, _, knows in table("Rooms")])
def test_rooms_know_what_the_page_says(entry: str, knows: str) -> None:
    assert rooms_in(knows) == set(ALLOWED[room(entry)])


def test_every_room_stands_below_what_it_knows() -> None:
    order = [room(entry) for entry, *_ in table("Rooms")]
    for position, name in enumerate(order):
        known_rooms = {room_of(each) for each in ALLOWED[name] if each != "dipc"}
        assert known_rooms <= set(order[:position]), name


def test_every_file_that_is_named_exists() -> None:
    paths = set(re.findall(r"(?<![\w/])(?:dipc|tests|docs|grammars|benchmarks|editors)/[\w./-]*\w/?", PAGE))
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    folders = re.findall(r"(?<=[\s─])([a-z]+)/(?=[\s─]|$)", PAGE.split("```")[1])
    assert len(folders) > 12
    assert [name for name in folders if not (ROOT / "dipc" / name).is_dir()] == []


def test_files_of_the_large_rooms_exist() -> None:
    rows = table("Inside the large rooms")
    named = [(entry.strip("`"), name) for entry, text in rows for name in re.findall(r"`(\w+(?:\.py|/))`", text)]
    assert len(named) > 30
    assert [folder + name for folder, name in named if not (ROOT / folder / name).exists()] == []


def test_every_word_is_one_of_the_code() -> None:
    for word, _, where in table("Words"):
        path, name = re.findall(r"`([^`]+)`", where)
        assert re.search(rf"^(?:class |def )?{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), word


def test_every_commit_that_is_an_example_is_one() -> None:
    if subprocess.run(["git", "rev-parse", "--git-dir"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("this is no checkout")
    shown = re.findall(r"`git show ([0-9a-f]{7,})", PAGE)
    assert all("`git show " in recipe for recipe in PAGE.split("\n### ")[1:])
    for commit in shown:
        found = subprocess.run(["git", "cat-file", "-e", commit], cwd=ROOT, capture_output=True, check=False)
        shallow = subprocess.run(
            ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, check=False
        )
        assert found.returncode == 0 or shallow.stdout.strip() == b"true", commit


def test_each_recipe_says_which_test_fails_first() -> None:
    for recipe in PAGE.split("\n### ")[1:]:
        assert "Fails first:" in recipe
        assert re.search(r"Fails first:[^\n]*(\n[^\n]+)*tests/", recipe)
