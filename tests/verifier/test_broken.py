"""Broken certificates: the checker ends with an exit code, within the time and the memory that FORMAT.md states."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dipc.cli.main import run
from dipc.verifier import command
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected, decimal, rational
from tests.fuzz import broken
from tests.patience import SECONDS, examples
from tests.verifier import samples

ROOT = Path(__file__).resolve().parent.parent.parent

COIN = """
program coin; input q : bool; output o : bool;
ideal { o <- q }
o <- choose { q : exp(eps)/(1 + exp(eps)), not q : 1/(1 + exp(eps)) }
"""
WHOLE = """
program whole; input q : int; output o : {0, 1} = 0; var x : int;
ideal { if q >= 0 then o <- 1 end }
x <- DLap(eps, q); if x >= 0 then o <- 1 end
"""
RELEASE = "program release; input x : real; output y : real; y <- Lap(eps, x)"

#: What each command that writes a certificate is asked, by the question that the certificate answers.
QUESTIONS: dict[str, tuple[str, list[str]]] = {
    "rows": (COIN, ["check", "--inputs", "all", "--alpha", "0", "--beta", "1/(1 + exp(eps))"]),
    "all inputs": (WHOLE, ["check", "--inputs", "all", "--alpha", "dd", "--beta", "exp(-alpha*eps)"]),
    "factor": (COIN, ["tighten", "--inputs", "all", "--alpha", "0", "--beta", "1/2"]),
    "eps": (COIN, ["solve", "--inputs", "all", "--for", "eps", "--alpha", "0", "--beta", "1/3"]),
    "pairs": (COIN, ["privacy", "--adjacent", "hamming:1", "--budget", "eps"]),
    "a set of outputs": (COIN, ["privacy", "--adjacent", "hamming:1", "--budget", "eps/2", "--delta", "1/2"]),
    "all pairs": (RELEASE, ["privacy", "--adjacent", "linf:1", "--inputs", "all", "--budget", "eps"]),
    "budget": (COIN, ["privacy", "--adjacent", "hamming:1", "--constant"]),
}

#: The exit codes that a certificate may end with.
CODES = (command.ACCEPTED, command.REJECTED, command.UNREADABLE, command.IN_PART)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The certificate of a question of QUESTIONS, written once."""
    home = tmp_path_factory.mktemp("certificates")

    def text(name: str) -> str:
        file = home / f"{name}.json"
        if not file.exists():
            source, (kind, *options) = QUESTIONS[name]
            program = home / f"{name}.dip"
            program.write_text(source, encoding="utf-8")
            run([kind, str(program), *options, "-q", "--certificate", str(file)])
        return file.read_text(encoding="utf-8")

    return text


def exit_code(text: str, tmp_path: Path, *options: str) -> int:
    """The exit code of the checker, run in this process: errors of Python are not caught."""
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    return command.main([str(file), "-q", *options])


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_claim_without_one_of_its_fields_is_unreadable(
    name: str, written: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = written(name)
    assert exit_code(text, tmp_path) in (command.ACCEPTED, command.IN_PART)
    for field in json.loads(text)["claim"]:
        data = json.loads(text)
        del data["claim"][field]
        capsys.readouterr()
        assert exit_code(broken.seal(data), tmp_path) == command.UNREADABLE
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f"its `claim` has no `{field}`" in captured.err
    data = json.loads(text)
    data["claim"]["more"] = None
    assert exit_code(broken.seal(data), tmp_path) == command.UNREADABLE


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 40))])
def test_whatever_is_broken_ends_with_an_exit_code(
    name: str, seed: int, written: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(f"{name} {seed}")
    text = written(name)
    ways = chance.sample([*broken.places(json.loads(text))], k=examples(4))
    texts = [changed for way in ways for changed in broken.changes(text, way, chance, 3)]
    texts += [*broken.bytes_changed(text, chance, examples(4)), broken.with_a_name_twice(text, chance)]
    codes = Counter(exit_code(each, tmp_path, "--steps", "2000000") for each in texts)
    assert codes.keys() <= {*CODES}
    assert codes[command.REJECTED] + codes[command.UNREADABLE] > codes.total() / 3
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_each_value_of_each_question_may_be_any_other(
    name: str, written: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(name)
    text = written(name)
    for way in broken.places(json.loads(text)):
        for changed in broken.changes(text, way, chance, len(broken.VALUES)):
            assert exit_code(changed, tmp_path, "--steps", "2000000") in CODES
            capsys.readouterr()


def test_a_number_that_python_does_not_write_is_no_traceback(tmp_path: Path, written: Callable[[str], str]) -> None:
    data = json.loads(written("all inputs"))
    for part in data["cases"][0]["classes"]:
        for halfspace in part["halfspaces"]:
            halfspace["constant"] = "1/" + "7" * 5_000
    data["claim"]["eps"] = [f"(0, {'7' * 5_000}]"]
    assert exit_code(broken.seal(data), tmp_path) in CODES


# --- numbers are written in one way ----------------------------------------------------------------


@pytest.mark.parametrize("cell", broken.NO_NUMBERS)
def test_numbers_of_certificates_are_in_lowest_terms_and_in_ascii(cell: str) -> None:
    with pytest.raises(Rejected):
        rational(cell)


@pytest.mark.parametrize("cell", broken.NO_NUMBERS)
@pytest.mark.parametrize("column", ["input", "output"])
def test_cells_of_rows_are_in_lowest_terms_and_in_ascii(cell: str, column: str) -> None:
    source = "program p; input q : real; output o : real; ideal { o <- q } o <- Lap(eps, q)"
    data = json.loads(samples.checked(source, [{"q": "1", "o": "1"}], beta="exp(-eps)", gamma="1", alpha="0"))
    data["rows"][0][column] = [cell]
    with pytest.raises(Rejected, match=r"row 1.*is not a value of"):
        check_text(samples.resealed(data, answers=False))


@pytest.mark.parametrize(
    ("cell", "value"), [("1/3", "1/3"), ("0.25", "1/4"), ("1e-2", "1/100"), ("+1", "1"), ("2/4", "1/2"), (".5", "1/2")]
)
def test_people_may_write_decimals(cell: str, value: str) -> None:
    assert decimal(cell) == rational(value)


@pytest.mark.parametrize(
    "cell", ["\u0661", "\uff11", " 1", "1 ", "1_0", "", ".", "1/0", "1e", "e1", "--1", "1e\u0661", "inf"]
)
def test_people_write_in_ascii_too(cell: str) -> None:
    with pytest.raises(ValueError, match=r"^.*$"):
        decimal(cell)


# --- in time, and in memory -------------------------------------------------------------------------

#: Many-term sums raised to powers, and integer noises whose coefficients have a large common multiple.
POWERS = "*".join(["(1 + eps + exp(eps) + exp(eps/7) + exp(eps/11))^99"] * 9)
INTEGERS = """program b; input q : int; output o : {0,1} = 0; var r, s, t, u : int;
r <- DLap(eps/97, q); s <- DLap(eps/89, 0); t <- DLap(eps/83, 0); u <- DLap(eps/79, 0);
if 97*r + 89*s >= 83*t and 31*s - 37*u >= 41*r and 11*t + 13*u <= 17*s + 10^12 then o <- 1 end
"""
SIX = """program b; input q : int; output o : {0,1} = 0; var r, s, t, u, v, w : real;
r <- Lap(997*eps/1009, q); s <- Lap(eps*883/887, 1/101); t <- Lap(eps*769/773, 1/103);
u <- Lap(eps*653/659, 1/107); v <- Lap(eps*541/547, 1/109); w <- Lap(eps*431/433, 1/113);
if 101*r + 103*s >= 107*t + 109*u and 113*r + 127*t >= 131*v + 137*w and 139*r - 149*u >= 151*s + 157*v
and 163*r + 167*w >= 173*u + 179*t and 7*r + 8*s + 9*t + 10*u + 11*v + 12*w >= 1/7 then o <- 1 end
"""

#: CPU seconds for a million steps, as FORMAT.md states them, on a machine that is three times slower than it assumes.
SECONDS_A_MILLION = 3

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
sys.path.insert(0, {root!r})
from dipc.verifier.command import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["powers", "integers", "six noises"])
@pytest.mark.parametrize("steps", [6_000_000, pytest.param(120_000_000, marks=pytest.mark.slow)])
def test_short_certificates_end_within_the_seconds_and_the_memory_stated(name: str, steps: int, tmp_path: Path) -> None:
    data = samples.document(samples.certain(("0",)))
    if name == "powers":
        data["rows"][0]["own"] = {"beta": POWERS}
    else:
        text = INTEGERS if name == "integers" else SIX
        hashed = hashlib.sha256(text.encode()).hexdigest()
        data["program"] |= {"text": text, "sha256": hashed, "name": "b", "constants": {}}
        data["table"]["outputs"] = ["o"]
        data["rows"][0]["output"] = ["1"]
    file = tmp_path / "c.json"
    file.write_text(samples.resealed(data, answers=False), encoding="utf-8")
    # What Python itself takes comes on top.
    seconds = SECONDS_A_MILLION * steps // 1_000_000 + 2
    limited = LIMITED.format(memory=1_000_000_000, seconds=seconds, root=str(ROOT))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [sys.executable, "-c", limited, str(file), "-q", "--steps", str(steps)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before <= seconds
    assert (done.returncode, done.stderr) == (command.IN_PART, "")
    assert "more than" in done.stdout
