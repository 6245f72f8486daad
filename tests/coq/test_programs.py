"""The theorems about programs in benchmarks/coq: from the syntax tree, by iterated integrals, to a row of a table."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dipc
from tests.coq.test_theorems import ROOT, needs_coq, only_known_axioms, theorems_of
from tests.patience import SECONDS

HOME = ROOT / "benchmarks" / "coq"

#: Each file, with the theorem about a row of a table.
FILES = {"AboveThreshold.v": "row"}


@pytest.fixture(scope="module")
def compiled_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the compiled prelude and the compiled meaning of programs."""
    home = tmp_path_factory.mktemp("coq")
    shutil.copy(ROOT / "dipc" / "coq" / "Prelude.v", home)
    for file in sorted(HOME.glob("*.v")):
        shutil.copy(file, home)
    for name in ("Prelude.v", "Programs.v"):
        subprocess.run(["coqc", "-w", "none", name], cwd=home, capture_output=True, timeout=SECONDS, check=True)
    return home


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(("name", "theorem"), FILES.items())
def test_coq_proves_a_row_from_its_program(name: str, theorem: str, compiled_home: Path) -> None:
    file = compiled_home / name
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"Print Assumptions {theorem}.\n")
    done = subprocess.run(
        ["coqc", "-w", "none", name], cwd=compiled_home, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert only_known_axioms(done.stdout)


@needs_coq
@pytest.mark.slow
def test_coq_refuses_a_changed_program(compiled_home: Path) -> None:
    text = (HOME / "AboveThreshold.v").read_text(encoding="utf-8")
    changed = text.replace("(Laplace (1/4) (Num q2)", "(Laplace (1/2) (Num q2)")
    assert changed != text
    (compiled_home / "Changed.v").write_text(changed, encoding="utf-8")
    command = ["coqc", "-w", "none", "Changed.v"]
    assert subprocess.run(command, cwd=compiled_home, capture_output=True, timeout=SECONDS, check=False).returncode != 0


def test_the_obligation_of_the_row_is_the_one_that_is_written() -> None:
    """The file has the same Pr, beta and proof as `dipc verify --coq` writes for the row."""
    program = dipc.load(ROOT / "benchmarks" / "above_threshold.dip", m=2)
    row = {"q[1]": "-1", "q[2]": "1", "out[1]": "bot", "out[2]": "top"}
    written = theorems_of(dipc.certify(dipc.check(program, [row], keep_proofs=True))).text
    start = written.index("Definition o0_Pr")
    assert written[start:].strip() in (HOME / "AboveThreshold.v").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(HOME.glob("*.v")), ids=lambda file: file.name)
def test_nothing_is_admitted(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Hypothesis|Conjecture)\b", text)
