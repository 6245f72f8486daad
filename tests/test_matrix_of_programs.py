"""Services for programs of every kind: each answers, or refuses with a plain reason, and none contradicts another.

What `check` proves with the rules of `dipc.rules`, `tighten` and `solve` know: they try the same list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks.literature.entries import ENTRIES
from benchmarks.privacy.atlas import ATLAS
from dipc.cli.main import run
from tests.questions.test_both_open import APART, HISTOGRAM, NOISE, NUMERIC, WHOLE
from tests.questions.test_classes_in_parts import HARDER, NOISY_RESPONSE, RANDOMIZED_RESPONSE
from tests.questions.test_int_inputs import THRESHOLD
from tests.questions.test_int_inputs import program as of_ints

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"

_TWO_KINDS = """
program kinds; input n : int; input q : real; input k : {0, 1}; output o : {0, 1} = 0; var x : int; var r : real;
ideal { if n >= 0 and q >= 0 and k = 1 then o <- 1 end }
claim { alpha: 2; beta: exp(-eps) + exp(-2*eps); }
x <- DLap(eps, n); r <- Lap(eps, q); if x >= 0 and r >= 0 and k = 1 then o <- 1 end
"""
_RELEASE = """
program release; input q : real; output o : real; ideal { o <- q }
claim { alpha: 0; gamma: free; beta: exp(-gamma*eps); }
o <- Lap(eps, q)
"""
_NO_NOISE = """
program plain; input q : real; output o : {0, 1} = 0; ideal { if q > 0 then o <- 1 end }
claim { alpha: dd; beta: 0; }
if q >= 0 then o <- 1 end
"""
_BOTH = """
program both; input q : real; output o : real; ideal { o <- q }
claim { alpha: dd; gamma: free; beta: exp(-gamma*eps) + exp(-alpha*eps); }
o <- Lap(eps, q)
"""


@dataclass(frozen=True)
class ProgramEntry:
    """A program, as its text or its path, and what is asked about it."""

    program: str | Path
    options: tuple[str, ...] = ("--inputs", "all")
    table: str | None = None
    #: The least factor, where it is known otherwise.
    factor: str | None = None


def _asking(gamma: str, beta: str) -> tuple[str, ...]:
    """A claim about every distance of all inputs."""
    return ("--inputs", "all", "--alpha", "dd", "--gamma", gamma, "--beta", beta)


def _of_the_atlas(path: str) -> ProgramEntry:
    """A mechanism with what it would do without noise as its ideal."""
    text = (BENCHMARKS / f"{path}.dip").read_text(encoding="utf-8")
    head, rest = text.split(";", 1)
    claim = ("--alpha", "dd", "--beta", "exp(-alpha*eps/20)")
    return ProgramEntry(f"{head}; ideal {{ noiseless }} {rest}", ("--inputs", "all", *claim))


PROGRAMS: dict[str, ProgramEntry] = {
    **{name: ProgramEntry(text) for name, (text, _) in HARDER.items()},
    "response": ProgramEntry(RANDOMIZED_RESPONSE, factor="1"),
    "noisy response": ProgramEntry(NOISY_RESPONSE, factor="1"),
    "ints, every distance": ProgramEntry(
        of_ints("o <- n >= 0", THRESHOLD, "alpha: dd; beta: exp(-alpha*eps);"), factor="1"
    ),
    "ints, one distance": ProgramEntry(of_ints("o <- n >= 0", THRESHOLD, "alpha: 3; beta: exp(-3*eps);")),
    "ints, reals and finite inputs": ProgramEntry(_TWO_KINDS),
    "a number released": ProgramEntry(_RELEASE, factor="1"),
    "no noise": ProgramEntry(_NO_NOISE),
    "both distances": ProgramEntry(_BOTH),
    "both distances, in parts": ProgramEntry(
        APART, _asking("free", "exp(-alpha*eps/2)/2 + exp(-gamma*eps)"), factor="1"
    ),
    "the lesser distance": ProgramEntry(NOISE, _asking("free", "exp(-min(alpha, gamma)*eps)"), factor="1"),
    "one gamma, in two parts": ProgramEntry(NUMERIC, _asking("5", "2*m*exp(-alpha*eps/16) + exp(-gamma*eps/2)")),
    "one gamma, each part tight": ProgramEntry(
        HISTOGRAM, _asking("4", "m*(exp(-alpha*eps/2)/2 + exp(-gamma*eps/2))"), factor="1"
    ),
    "one gamma, of ints": ProgramEntry(WHOLE, _asking("3", "exp(-alpha*eps) + 2*exp(-gamma*eps)"), factor="1"),
    "beta of alpha*eps and of eps": ProgramEntry(
        RANDOMIZED_RESPONSE, _asking("0", "exp(-alpha*eps)/4 + 1/2 + exp(-eps)/9")
    ),
    **{
        path.stem: ProgramEntry(path, ("--inputs", "all", *(("-D", "m=2") if path.stem != "laplace" else ())))
        for path in sorted(BENCHMARKS.glob("*.dip"))
    },
    **{
        f"{name}, every m": ProgramEntry(BENCHMARKS / f"{name}.dip", ("--inputs", "all", "--for-all", "m >= 2"))
        for name in ("sparse", "sparse_variant", "numeric_sparse", "noisy_max")
    },
    **{
        f"{name}, {kind}": ProgramEntry(BENCHMARKS / f"{name}.dip", ("-D", "m=2", "--inputs", "q = -1..1", *more))
        for name in ("sparse", "noisy_max")
        for kind, more in (("finite inputs", ()), ("every gamma", ("--gamma", "free")))
    },
    **{f"literature, {entry.name}": ProgramEntry(entry.path, (), entry.csv()) for entry in ENTRIES},
    **{f"atlas, {path}": _of_the_atlas(path) for path in dict.fromkeys(each.path for each in ATLAS)},
}


class Shell:
    """A shell that runs commands about a program."""

    def __init__(self, capsys: pytest.CaptureFixture[str], directory: Path, asked: ProgramEntry) -> None:
        self._capsys = capsys
        self._options = asked.options
        if isinstance(asked.program, Path):
            self.path = asked.program
        else:
            self.path = directory / "program.dip"
            self.path.write_text(asked.program, encoding="utf-8")
        self._table: list[str] = []
        if asked.table is not None:
            (directory / "table.csv").write_text(asked.table, encoding="utf-8")
            self._table = [str(directory / "table.csv")]

    def __call__(self, command: str, *words: str) -> tuple[int, str, str]:
        """The exit code of a command about the program, stdout and stderr."""
        return self.plain(command, str(self.path), *self._table, *self._options, *words)

    def plain(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = int(run(list(words)))
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def json(self, command: str, *words: str) -> dict[str, Any] | None:
        """The JSON that `command` prints, or None where it refuses with a code and a reason."""
        code, out, err = self(command, *words, "--format", "json")
        if code == 2:
            assert "error[E" in err
            assert not out
            return None
        assert code in (0, 1, 3), err
        found: dict[str, Any] = json.loads(out)
        return found


@pytest.fixture
def shell(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    return Shell(capsys, tmp_path, request.param)


def cells() -> list[Any]:
    return [pytest.param(asked, asked, id=name) for name, asked in PROGRAMS.items()]


@pytest.mark.parametrize(("shell", "asked"), cells(), indirect=["shell"])
def test_services_answer_and_agree(shell: Shell, asked: ProgramEntry, tmp_path: Path) -> None:
    proof, page = tmp_path / "proof.json", tmp_path / "page.html"
    code, _, err = shell("check", "--certificate", str(proof), "--html", str(page), "-q")
    if "E0903" in err:  # there is an answer, and no certificate of it
        code, _, err = shell("check", "--html", str(page), "-q")
    checked = shell.json("check")
    tightened = shell.json("tighten", "--digits", "12")
    solved = {wanted: shell.json("solve", "--for", wanted) for wanted in ("eps", "beta", "alpha", "gamma")}
    assert (checked is None) is (code == 2), err
    if checked is None:
        return
    verdict = checked["verdict"]
    assert verdict in page.read_text(encoding="utf-8")
    if proof.exists():
        verified, said, _ = shell.plain("verify", str(proof), "-q")
        assert verified in (0, 3), said
        assert verdict == "undecided" or {"accurate": "proved: ", "inaccurate": "refuted: "}[verdict] in said
    if tightened is not None:
        (member,) = tightened["members"]
        if verdict == "accurate":
            # What is proved of the claim is known of its least factor.
            at_most = _greatest(member)
            assert at_most is not None
            assert at_most <= 1
        if verdict == "inaccurate" and member["complete"]:
            assert member["factor"] is None or member["factor"][1] == "inf" or Fraction(member["factor"][1]) > 1
        if asked.factor is not None:
            assert member["complete"]
            assert [Fraction(end) for end in member["factor"]] == [Fraction(asked.factor)] * 2
    for wanted, found in solved.items():
        assert found is None or found["status"] in ("solved", "none", "undecided")
        if verdict == "accurate" and found is not None:
            # The claim's own alpha, beta and gamma are enough, and so is every eps.
            assert found["status"] != "none"
            assert wanted != "eps" or found["status"] == "solved"


def _greatest(member: dict[str, Any]) -> Fraction | None:
    """The proved upper bound of the factor, or None where there is none."""
    ends = member["factor"] if member["complete"] else member.get("at_most")
    return None if ends is None or ends[1] == "inf" else Fraction(ends[1])
