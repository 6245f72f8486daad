"""A law that says nothing but its density goes through every question and service, and is never taken for Laplace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dipc.noise import laws
from dipc.noise.law import DensityPiece, Law
from dipc.text import parser
from dipc.text.parser import grammar_text
from tests.noise.commands import Run, runner

_ZERO = Fraction(0)


class Ramp(Law):
    """A law that states its density (a·eps)²·x·e^{-a·eps·x} for x >= 0, and nothing else."""

    keyword = "Ramp"
    name = "ramp"

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return (DensityPiece(_ZERO, None, ((rate**2, 1, -rate),)),)


class Unknown(Law):
    """A law that states nothing at all."""

    keyword = "Ramp"
    name = "unknown"


@pytest.fixture(params=[Ramp(), Unknown()], ids=["density", "nothing"])
def law(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Law]:
    """A line in the table of laws, and a production in the grammar."""
    production = "| EXPO LPAR expression RPAR -> noise"
    text = grammar_text()
    assert production in text
    text = text.replace(production, f"{production}\n | RAMP LPAR expression COMMA expression RPAR -> noise")
    text = text.replace('EXPO: "Expo"', 'EXPO: "Expo"\nRAMP: "Ramp"')
    monkeypatch.setattr(parser, "grammar_text", lambda: text)
    monkeypatch.setattr(parser, "cache_from_source", lambda _: str(tmp_path / "table"))
    monkeypatch.setattr(laws, "LAWS", (*laws.LAWS, request.param))
    parser.load_parser.cache_clear()
    yield request.param
    parser.load_parser.cache_clear()


@pytest.fixture
def run(law: Law, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("gate.dip").write_text(GATE, encoding="utf-8")
    Path("loop.dip").write_text(LOOP, encoding="utf-8")
    Path("value.dip").write_text(VALUE, encoding="utf-8")
    Path("gate.csv").write_text("q,out\n1,true\n2,true\n", encoding="utf-8")
    Path("counts.csv").write_text("out,count\ntrue,900\nfalse,100\n", encoding="utf-8")
    Path("pairs.csv").write_text("q,q'\n0,1\n", encoding="utf-8")

    return runner(capsys)


GATE = """program gate;
input q : real;
output out : bool;
var r : real;
claim { alpha: dd; beta: exp(-alpha*eps)/2; gamma: 0; }
ideal { out <- q >= 0 }
r <- Ramp(eps, q);
out <- r >= 3;
"""
LOOP = """program loop;
const m = 2;
input q[1..m] : real;
output out[1..m] : bool = false;
var r : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/2)/2; gamma: 0; }
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- true else exit end end }
for i in 1..m do
  r <- Ramp(eps/2, q[i]);
  if r >= 0 then out[i] <- true else exit end
end;
"""
VALUE = """program value;
input q : real;
output out : real;
claim { alpha: 0; beta: exp(-gamma*eps); gamma: 1; }
ideal { out <- q }
out <- Ramp(eps, q);
"""


def test_rows(run: Run, law: Law) -> None:
    """Pr[q + N >= 3] = (1 + (3 - q)·eps)·e^{-(3 - q)·eps} is less than Laplace noise would need at large eps."""
    code, text = run("check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", "1/2", "--eps", "[1, 1]")
    if isinstance(law, Ramp):
        assert code == 1, text  # at q = 1: 3/e² = 0.406 is less than 1/2
        code, text = run("check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", "3/5", "--eps", "(0, 1]")
        assert code == 0, text  # 0.406 is more than 2/5
    else:
        assert code == 3
        assert "unknown noise does not have" in text


def test_the_probability_is_that_of_the_density(run: Run, law: Law) -> None:
    code, text = run("prob", "gate.dip", "--input", "q=1", "--eps", "1")
    if isinstance(law, Ramp):
        assert code == 0
        assert "0.4060058497" in text  # 3·e^{-2}
    else:
        assert "unknown noise does not have" in text


#: Each with the exit code for Ramp: what its density shows is found, all else is undecided.
QUESTIONS = {
    "every gamma": (
        0,
        "check",
        "gate.dip",
        "gate.csv",
        "--alpha",
        "0",
        "--beta",
        "3/5",
        "--gamma",
        "free",
        "--eps",
        "[1, 1]",
    ),
    "every input": (1, "check", "gate.dip", "--inputs", "all"),
    "every input, weaker": (1, "check", "gate.dip", "--inputs", "all", "--beta", "2*exp(-alpha*eps/2)"),
    "every input of real outputs": (1, "check", "value.dip", "--inputs", "all"),
    "every number": (1, "check", "loop.dip", "--inputs", "all", "--for-all", "m"),
    "tighten": (0, "tighten", "gate.dip", "--inputs", "q=1"),
    # No factor suffices: at q = 1 the program is wrong in the limit of large eps.
    "tighten every input": (0, "tighten", "gate.dip", "--inputs", "all"),
    "solve": (0, "solve", "gate.dip", "gate.csv", "--for", "eps"),
    "solve gamma": (0, "solve", "value.dip", "--inputs", "q=0", "--for", "gamma", "--beta", "1/10", "--eps", "[1, 1]"),
    "privacy of pairs": (1, "privacy", "gate.dip", "--adjacent", "pairs.csv"),
    "privacy": (1, "privacy", "gate.dip", "--adjacent", "linf:1", "--inputs", "all"),
    "privacy, the constant": (0, "privacy", "gate.dip", "--adjacent", "linf:1", "--inputs", "all", "--constant"),
    "privacy for every number": (1, "privacy", "loop.dip", "--adjacent", "linf:1", "--inputs", "all", "--for-all", "m"),
    "simulate": (3, "simulate", "gate.dip", "--input", "q=1", "--eps", "1", "-n", "1000"),
    "conform": (1, "conform", "gate.dip", "--input", "q=1", "--eps", "1", "--counts", "counts.csv"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_decides_or_says_what_is_missing(run: Run, law: Law, question: str) -> None:
    """Nothing is proved of a law that states nothing, not even where it would be true of Laplace noise."""
    of_ramp, *words = QUESTIONS[question]
    code, text = run(*map(str, words))
    assert code == (of_ramp if isinstance(law, Ramp) else 3), text
    if code == 3 and question != "tighten every input":
        assert re.search(
            r"noise\s+does\s+not\s+have|not\s+(?:known|proved)\s+to\s+scale|scales\s+with\s+its\s+rate", text
        ), text


def test_there_is_no_certificate(run: Run, law: Law) -> None:
    """The checker knows no such law."""
    code, text = run("check", "gate.dip", "gate.csv", "--beta", "3/5", "--eps", "(0, 1]", "--certificate", "proof.json")
    assert code == 2, text
    assert f"the checker does not know {law.name} noise" in text
    assert not Path("proof.json").exists()
