"""The checker needs the Python standard library and nothing else, least of all the engine it checks."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import pytest

from dipc.verifier.document import check_text
from tests.patience import SECONDS
from tests.verifier import samples

ROOT = Path(__file__).resolve().parent.parent.parent
VERIFIER = ROOT / "dipc" / "verifier"
SOURCES = sorted(VERIFIER.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The full names of all modules that a file imports anywhere, relative ones included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it leads"
            assert node.module is not None
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_only_the_standard_library_is_imported(path: Path) -> None:
    for name in imported(path):
        assert name.split(".")[0] in sys.stdlib_module_names or name.split(".")[:2] == ["dipc", "verifier"], name


def test_nothing_is_imported_by_name() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                    assert called not in ("__import__", "eval", "exec", "import_module"), path


def test_no_floating_point() -> None:
    """The checker has neither a float literal nor a conversion to float."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path
            assert not (isinstance(node, ast.Name) and node.id == "float"), path


def run_alone(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m dipc.verifier` in an interpreter without installed packages."""
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n"
        "from dipc.verifier.command import main\n"
        f"code = main({list(arguments)!r})\n"
        "outside = {name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - {'__main__', 'dipc'}\n"
        "assert not {name for name in outside if not name.startswith('_')}, outside\n"
        "inside = {name for name in sys.modules if name.startswith('dipc') and not name.startswith('dipc.verifier')}\n"
        # The package's own start, of which the checker uses nothing.
        "assert inside <= {'dipc', 'dipc.above', 'dipc.version'}, inside\n"
        "sys.exit(code)\n"
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_it_runs_without_any_installed_package(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(samples.sparse(), encoding="utf-8")
    benchmarks = ROOT / "benchmarks"
    done = run_alone(str(file), "--program", str(benchmarks / "sparse.dip"), "--table", str(benchmarks / "sparse.csv"))
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.startswith("proved: sparse (m = 3, c = 1, T = 0; sha256 ")
    assert f"compared     the 27 rows are those of {benchmarks / 'sparse.csv'}" in done.stdout


def test_it_is_a_module_to_run(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(samples.certain(("0",)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "dipc.verifier", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_nobody_need_read_what_it_says(tmp_path: Path) -> None:
    """A closed pipe, as by `| head -1`, changes no exit code and prints no traceback."""
    file = tmp_path / "certificate.json"
    for text, code in ((samples.certain(("0",)), 0), (samples.certain(("0",)).replace("test", "tested"), 1)):
        file.write_text(text, encoding="utf-8")
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as closed:
            command = [sys.executable, "-m", "dipc.verifier", str(file)]
            done = subprocess.run(
                command, stdout=closed, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=SECONDS, check=False
            )
        assert (done.returncode, done.stderr) == (code, "")


def test_it_rejects_and_refuses(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(samples.sparse().replace('"accurate"', '"inaccurate"', 1), encoding="utf-8")
    done = run_alone(str(file))
    assert (done.returncode, done.stderr) == (1, "")
    assert (
        done.stdout == "rejected: digest: the certificate was changed after it was written: its digest does not match\n"
    )
    done = run_alone(str(tmp_path / "nothing.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read" in done.stderr


def test_the_page_says_of_each_file_what_it_is_for() -> None:
    """The page lists first the files for text, execution, measures and signs."""
    page = (ROOT / "dipc" / "certificate" / "FORMAT.md").read_text(encoding="utf-8")
    guide = page[page.index("## A day with the checker") : page.index("## Reading and writing")]
    files = {file.name for file in SOURCES} - {"__init__.py", "__main__.py"}
    assert set(re.findall(r"`(\w+\.py)`", guide)) == files
    first = set(re.findall(r"`(\w+\.py)`", guide[: guide.index("Begin with")]))
    assert len(first) == 9


def _imported(files: Iterable[str]) -> set[str]:
    """The files of the checker that `files` import, directly or indirectly, with `files`."""
    found, left = set[str](), list(files)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((VERIFIER / name).read_text(encoding="utf-8"))):
            match node:
                case ast.ImportFrom(module="dipc.verifier", names=names):
                    left += [f"{each.name}.py" for each in names]
                case ast.ImportFrom(module=str(module)) if module.startswith("dipc.verifier."):
                    left.append(f"{module.removeprefix('dipc.verifier.')}.py")
    return found


def test_what_engine_and_checker_have_in_common_is_tested() -> None:
    page = (ROOT / "dipc" / "certificate" / "FORMAT.md").read_text(encoding="utf-8")
    section = page[page.index("## What engine and checker have in common") : page.index("## What is taken on trust")]
    tests = (ROOT / "tests" / "verifier" / "test_in_common.py").read_text(encoding="utf-8")
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 6
    named = [re.findall(r"`(test_\w+)`", row) for row in rows]
    assert all(named)
    assert {name for names in named for name in names} == set(re.findall(r"def (test_\w+)", tests))


#: Where the check of each question begins, as `document.py` calls it.
BEGINNINGS = {
    '`"rows"`': ["rows.py", "exchange.py"],
    '`"all inputs"`': ["inputs.py"],
    '`"pairs"`': ["privacy.py"],
    '`"all pairs"`, and for every number': ["shifts.py"],
}


def test_the_page_says_on_which_files_a_proof_relies() -> None:
    page = (ROOT / "dipc" / "certificate" / "FORMAT.md").read_text(encoding="utf-8")
    section = page[page.index("**Which files a proof relies on.**") : page.index("**Which file is which rule.**")]
    words, table = section.split("| question |")[0], section.split("| question |")[1]
    common = set(re.findall(r"`(\w+\.py)`", words)) - {"document.py", "statement.py", "rounding.py", "command.py"}
    assert f"these {len(common)} common ones" in words
    assert common == set.intersection(*map(_imported, BEGINNINGS.values()))
    rows = {cells[1].strip(): cells for line in table.splitlines() if len(cells := line.split("|")) == 6}
    for question, files in BEGINNINGS.items():
        imported = _imported(files)
        _, _, besides, stated, *_ = rows[question]
        assert set(re.findall(r"`(\w+\.py)`", besides)) == imported - common
        lines = sum(len((VERIFIER / name).read_text(encoding="utf-8").splitlines()) for name in imported)
        assert 0.9 < lines / int(stated.replace(" ", "")) < 1.1, (question, lines)
    # What begins elsewhere is in a line of the table, too: `document.py` calls nothing else that checks.
    checks = _imported(["document.py"]) - {"document.py", "statement.py", "rounding.py"}
    assert checks == set.union(*map(_imported, BEGINNINGS.values()))


def test_what_normal_noise_needs_is_not_called_without_it() -> None:
    files = {"trees.py", "messages.py", "kinked.py", "summed.py", "taylor.py"}
    called = set[str]()

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        # What stands outside of functions runs when a file is imported.
        if event == "call" and path.parent == VERIFIER and frame.f_code.co_name not in ("<module>", "<lambda>"):
            called.add(path.name)

    texts = [samples.sparse(), samples.marked(), samples.geometric()]
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        for text in texts:
            assert check_text(text).complete
    finally:
        sys.setprofile(before)
    assert called >= {"probability.py", "measures.py", "rows.py", "exchange.py"}
    assert not called & files
