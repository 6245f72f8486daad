"""One budget for a whole run: a check that takes too much time or memory ends without a verdict."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.cli.main import run
from dipc.verifier import command, document, signs
from dipc.verifier.document import check_text
from dipc.verifier.reading import STEPS, Budget, Exhausted
from tests.patience import SECONDS
from tests.verifier import samples

ROOT = Path(__file__).resolve().parent.parent.parent

#: Arrays, loops and nesting that are short to write.
SHORT = {
    "an array and many steps": "var b[0..99999] : real; var x : int; x <- 0; for i in 1..60000 do b[x] <- 1 end",
    "eight arrays": " ".join(f"var b{i}[0..99999] : real;" for i in range(8))
    + " var x : int; x <- 0; for i in 1..90000 do b1[x] <- 1 end",
    "many comparisons": "var r : real; for i in 1..30000 do r <- Lap(eps, q); if r >= 0 then a <- 1 - a end end",
    "many domains": " ".join(f"var v{i} : D;" for i in range(900)) + " domain D = {0..99999}; a <- 0",
    "many instructions": "var x : int; for i in 1..90 do for j in 1..90 do for k in 1..90 do x <- 3 end end end",
    "deep": "var x : real; x <- " + "(" * 3_000 + "1" + ")" * 3_000,
}


def foreign(statements: str) -> str:
    """The certificate of a program with these statements, sealed."""
    text = f"program p; input q : real; output a : {{0, 1}} = 0; {statements}"
    data = samples.document(samples.certain(("0",)))
    hashed = hashlib.sha256(text.encode()).hexdigest()
    data["program"] |= {"text": text, "sha256": hashed, "name": "p", "constants": {}}
    return samples.resealed(data)


def limited_run(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the checker with three gigabytes of memory."""
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from dipc.verifier.command import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", limited, str(file), *options],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("name", SHORT)
def test_short_programs_that_take_long_are_given_up(name: str, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(foreign(SHORT[name]), encoding="utf-8")
    assert file.stat().st_size < 20_000
    start = time.process_time()
    done = limited_run(file, "-q", "--steps", "20000000")
    assert time.process_time() - start < SECONDS
    assert (done.returncode, done.stderr) == (command.IN_PART, "")
    assert any(words in done.stdout for words in ("more than", "nested")), done.stdout


def test_what_is_past_the_budget_is_no_rejection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.json"
    file.write_text(samples.sparse(), encoding="utf-8")
    said = "not checked to the end: certificate: checking takes more than the 100 steps that are permitted\n"
    assert command.main([str(file), "--steps", "100"]) == command.IN_PART
    assert capsys.readouterr() == (said, "")
    assert run(["verify", str(file), "--steps", "100"]) == command.IN_PART
    assert capsys.readouterr() == (said, "")
    assert command.main([str(file), "-q"]) == command.ACCEPTED
    assert run(["verify", str(file), "-q"]) == command.ACCEPTED


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_no_error_of_python_is_a_rejection(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.json"
    file.write_text(samples.certain(("0",)), encoding="utf-8")

    def fails(*_: object) -> None:
        raise error

    why = "there is not enough memory for it" if error is MemoryError else "it is nested too deeply"
    for module, name in ((command, "check_document"), (command, "read_document"), (document, "check_obligations")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fails)
            assert command.main([str(file)]) == command.IN_PART
            assert capsys.readouterr() == (f"not checked to the end: certificate: {why}\n", "")
            assert run(["verify", str(file)]) == command.IN_PART
            assert capsys.readouterr() == (f"not checked to the end: certificate: {why}\n", "")
    monkeypatch.setattr(document, "check_obligations", fails)
    with pytest.raises(Exhausted, match=why):
        check_text(samples.certain(("0",)))


def test_one_file_says_the_same(tmp_path: Path) -> None:
    file, archive = tmp_path / "c.json", tmp_path / "verify.pyz"
    file.write_text(foreign(SHORT["eight arrays"]), encoding="utf-8")
    assert command.main(["--export", str(archive)]) == 0
    done = subprocess.run(
        [sys.executable, "-P", str(archive), str(file), "-q", "--steps", "1000000"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (command.IN_PART, "")


def test_parts_are_parts_of_the_whole() -> None:
    whole = Budget(1_000)
    part = whole.part(Fraction(1, 5))
    part.spend(150)
    assert (whole.left, part.left) == (850, 50)
    with pytest.raises(Exhausted, match="checking takes more than the 200 steps"):
        part.spend(60)
    other = part.part(Fraction(4, 5))
    assert other.steps == 800
    with pytest.raises(Exhausted, match="checking takes more than the 1000 steps"):
        other.spend(795)
    assert Budget().steps == STEPS


def test_what_rows_share_is_charged_as_often_as_it_is_worked_on() -> None:
    """One function is compared with another denominator, in one row and in sixty."""
    shared = [[0, str(-number), "1"] for number in range(60)]
    quotient = {"numerator": shared, "denominator": shared}

    def spent(rows: int) -> int:
        data = samples.document(samples.certain(("0",)))
        data["positive"] = [{"function": shared, "proof": "coefficients"}]
        data["probabilities"] = [{"value": quotient}]
        # The same at so many inputs, each of which is a row of its own.
        data["rows"] = [data["rows"][0] | {"row": n + 1, "input": [str(n)]} for n in range(rows)]
        data["table"]["rows"] = rows
        budget = Budget()
        assert check_text(samples.resealed(data), budget).complete
        return STEPS - budget.left

    one, many = spent(1), spent(60)
    assert many - one > 59 * 2 * len(shared)


@pytest.mark.parametrize(("m", "most"), [(5, 30_000), (10, 300_000)])
def test_a_row_of_noisy_max_takes_steps_for_its_terms(m: int, most: int) -> None:
    """The closed form at different means has up to 2^m terms; `most` grows by less than 2 for each mean."""
    generator = random.Random(m)
    means = generator.sample(range(1000), m)
    row = {f"q[{i}]": Fraction(mean, 100) for i, mean in enumerate(means, start=1)}
    program = dipc.load(ROOT / "benchmarks" / "noisy_max.dip", m=m)
    report = dipc.check(program, [{**row, "out": 1 + means.index(max(means))}], keep_proofs=True)
    budget = Budget()
    assert check_text(dipc.certify(report), budget).complete
    assert STEPS - budget.left < most


@pytest.mark.parametrize(("m", "most"), [(5, 4_000), (10, 60_000)])
def test_signs_are_proved_with_few_bits_first(m: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bits of the value prove most signs; 16 bits after the point took 5 600 and 89 000 terms."""
    terms = 0
    series = signs._exponential_series

    def counted(row: Sequence[tuple[int, int]], *rest: Any) -> Any:
        nonlocal terms
        found = series(row, *rest)
        terms += len(row) * len(found)
        return found

    monkeypatch.setattr(signs, "_exponential_series", counted)
    generator = random.Random(m)
    means = generator.sample(range(1000), m)
    row = {f"q[{i}]": Fraction(mean, 100) for i, mean in enumerate(means, start=1)}
    program = dipc.load(ROOT / "benchmarks" / "noisy_max.dip", m=m)
    report = dipc.check(program, [{**row, "out": 1 + means.index(max(means))}], keep_proofs=True)
    assert check_text(dipc.certify(report)).complete
    assert terms < most
