"""The README and the pages of docs/ are true: their commands give the output they show, their Python runs."""

from __future__ import annotations

import ast
import doctest
import linecache
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dipc
from dipc.cli import main
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


#: The README, and the pages it names.
PAGES = [README, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))]


def blocks(language: str) -> list[str]:
    """The code blocks of all pages in that language."""
    return [
        block for page in PAGES for block in re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ]


def sessions() -> list[list[tuple[str, str]]]:
    """The console blocks, each as its `$ command`s with the output shown under it."""
    found = []
    for block in blocks("console"):
        session = []
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
            command = " ".join(line.rstrip("\\").strip() for line in lines[: end + 1])
            session.append((command, "\n".join(lines[end + 1 :]).strip("\n")))
        found.append(session)
    return found


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and stdout followed by stderr, of a command; `dipc` runs in this process, which is quicker."""
    words = shlex.split(command)
    assert words[0] in ("dipc", "python"), f"the README shows a command that this test does not know: {command}"
    if words[0] == "dipc":
        capsys.readouterr()
        code = main.run(words[1:])
        captured = capsys.readouterr()
        return int(code), (captured.out + captured.err).strip("\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words[1:]], capture_output=True, text=True, timeout=SECONDS, check=False, env=environment
    )
    return done.returncode, (done.stdout + done.stderr).strip("\n")


def steady(text: str) -> str:
    """The text without seconds and blanks at the ends of lines, which differ from run to run."""
    text = re.sub(r"\b\d+(\.\d+)? ?(s|ms)\b", "# s", text)
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("session", sessions(), ids=lambda session: str(session[0][0])[:50])
def test_commands_print_what_the_readme_shows(
    session: list[tuple[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("NO_COLOR", "1"), ("COLUMNS", "100"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    # The commands of a block may write files for those after them: a directory of their own, with the benchmarks in it.
    for name in ("benchmarks", "docs"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    for command, shown in session:
        code, printed = run(command, capsys)
        assert code in (0, 1, 2), printed
        if "..." in shown.splitlines():
            head, tail = steady(shown).split("\n...\n")
            assert steady(printed).startswith(head)
            assert steady(printed).endswith(tail)
        else:
            assert steady(printed) == steady(shown)


def test_the_readme_shows_a_proof_and_a_counterexample() -> None:
    shown = [shown for session in sessions() for _, shown in session]
    assert any(text.startswith("accurate: ") for text in shown)
    assert any(text.startswith("INACCURATE: ") for text in shown)


def test_the_python_examples_run() -> None:
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks("python")), {}, "README.md", "README.md", 0)
    assert examples.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    messages: list[str] = []
    runner.run(examples, out=messages.append)
    assert messages == []


def shown_by(cell: str, name: str, space: dict[str, object]) -> object:
    """Run a cell as a notebook does: what its last line is, where that is an expression."""
    linecache.cache[name] = len(cell), None, cell.splitlines(keepends=True), name
    *body, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], ast.Expr(ast.Constant(None))
    exec(compile(ast.Module(body, []), name, "exec"), space)
    return eval(compile(ast.Expression(last.value), name, "eval"), space)


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    cells = blocks("{code-cell} python")
    space: dict[str, object] = {}
    said = [shown_by(cell, f"<cell {place}>", space) for place, cell in enumerate(cells)]
    coin, honest, failed, proved, draws, _ = said
    assert str(coin) == "exp(-eps)/(1 + exp(-eps))"
    for each, verdict in ((honest, "accurate: both rows"), (proved, "accurate: every real input (4 classes)")):
        assert str(each).startswith(verdict)
    assert isinstance(failed, dipc.Counterexample)
    assert failed.probability[1] < failed.required[0]
    assert isinstance(draws, list)
    assert len(draws) == 10
    assert set(draws) <= {0, 1, 2, None}
    assert dipc.load(capsys.readouterr().out).name == "above_threshold"


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    assert README.count("\n") <= 120
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^):#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_programs_of_the_readme_are_accepted() -> None:
    from dipc import load

    programs = [block for block in blocks("text") if re.match(r"(#.*\n)*program ", block)]
    assert programs
    for text in programs:
        load(text)


def test_every_make_target_named_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b", README))
    assert {"demo", "test"} <= named
    assert named <= targets


def test_the_first_program_is_that_of_the_tutorial_and_its_picture_is_drawn_from_it(tmp_path: Path) -> None:
    (program, *_) = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    busy = (ROOT / "docs" / "programs" / "busy.dip").read_text(encoding="utf-8")
    assert program == busy.partition("\n")[2]
    assert program.count("\n") == 9
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import front_picture
    finally:
        sys.path.pop(0)
    front_picture.draw(tmp_path / "front.svg")
    kept, drawn = (path.read_text(encoding="utf-8") for path in (front_picture.TARGET, tmp_path / "front.svg"))
    assert "holds for every eps" in kept
    made = re.compile(r"Matplotlib v[\d.]+")
    if made.search(kept)[0] == made.search(drawn)[0]:
        assert drawn == kept, "draw it anew: python docs/front_picture.py"
