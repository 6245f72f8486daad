"""Rows that Coq proves from the program: its syntax tree, its probability as an integral, and the closed form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.coq.programs import MOST_COMPARISONS, MOST_WAYS
from dipc.coq.theorems import CoqFile, write_theorems
from dipc.verifier.document import document_of
from dipc.verifier.reading import Budget
from tests.coq.test_theorems import ROOT, compiled, needs_coq, theorems_of

_HEAD = "input q, r : real;\noutput a : {0..3} = 0;\nvar x, y, z : real;\nvar b : bool;\nvar k : {0..3} = 0;\n"
_ORDERS = "if x <= z and y <= z + 1 and z < x + 2 then a <- 1 end"

#: Programs that together use every statement, expression and condition of Programs.v, each with rows that it has to
#: prove and the number of noises that an event compares.
PROGRAMS: dict[str, tuple[str, list[dict[str, str]]]] = {
    "orders of three noises": (
        f"{_HEAD}x <- Lap(eps, q); y <- Lap(eps/2, r); z <- Lap(2*eps);\n{_ORDERS}",
        [{"q": "0", "r": "1", "a": "1"}, {"q": "-1/2", "r": "3", "a": "0"}],
    ),
    "equal rates and bounds on both sides": (
        (
            f"{_HEAD}x <- Lap(eps, q); y <- Lap(eps, r); z <- Lap(eps, 1/2);\n"
            "if x <= z and z <= y and y <= x + 3 then a <- 1 else if z >= -1 and z < x then a <- 2 end end"
        ),
        [{"q": "0", "r": "0", "a": "1"}, {"q": "2", "r": "1", "a": "2"}],
    ),
    "one-sided noise": (
        (
            f"{_HEAD}x <- Expo(eps); y <- Expo(eps/2);\n"
            "x <- x + q; if x > y + r then a <- 1; exit end; if y >= 5 then a <- 2 end"
        ),
        [{"q": "0", "r": "0", "a": "1"}, {"q": "1", "r": "2", "a": "2"}],
    ),
    "choices and finite values": (
        (
            f"{_HEAD}k <- choose {{ 0 : 1/2, 1 : 1/3, 3 : 1/6 }}; x <- Lap(eps, q + k);\n"
            "b <- x >= r or k = 3; if b and not (k = 1) then a <- min(k, 2) else a <- max(k + 1, abs(k - 2)) end"
        ),
        [{"q": "0", "r": "1/2", "a": "2"}, {"q": "0", "r": "1", "a": "0"}],
    ),
    "copies, sums and exits": (
        (
            f"{_HEAD}x <- Lap(eps, q); y <- x - 1/2; z <- Lap(eps/3, r/2);\n"
            "if y != z and -2*k <= z then z <- y; a <- 1; if z > 1 then exit end end; if x + k < 3*k then a <- 2 end"
        ),
        [{"q": "0", "r": "1", "a": "1"}, {"q": "-1", "r": "0", "a": "2"}],
    ),
    "a maximum": (
        (
            "input q[1..3] : real;\noutput a : {1..3} = 1;\nvar best, x : real;\n"
            "best <- Lap(eps/2, q[1]);\n"
            "for i in 2..3 do x <- Lap(eps/2, q[i]); if x > best then best <- x; a <- i end end"
        ),
        [{"q[1]": "0", "q[2]": "0", "q[3]": "0", "a": "2"}, {"q[1]": "1", "q[2]": "0", "q[3]": "3", "a": "3"}],
    ),
}

#: Those that are compiled in every run.
_FEW = ("orders of three noises", "choices and finite values")


def written(program: str, rows: list[dict[str, str]], beta: str = "2", **claim: Any) -> CoqFile:
    """The theorems about a program that is right with probability at least 1 - `beta`."""
    report = dipc.check(dipc.load(f"program p;\n{program}\n"), rows, beta=beta, alpha=0, keep_proofs=True, **claim)
    theorems = theorems_of(dipc.certify(report))
    assert isinstance(theorems, CoqFile)
    return theorems


def _names(few: tuple[str, ...]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.every_case if name in few else pytest.mark.slow) for name in PROGRAMS]


@needs_coq
@pytest.mark.parametrize("name", _names(_FEW))
def test_coq_proves_the_probabilities_of_rows_from_the_program(name: str, tmp_path: Path) -> None:
    program, rows = PROGRAMS[name]
    theorems = written(program, [{**row, "dd": "1"} for row in rows])
    assert (theorems.proved_rows, theorems.unproved_rows) == (len(rows), 0)
    assert compiled(theorems.text, tmp_path)


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "gamma", "eps"),
    [("", "1", "(0, inf)"), ("output: above;", "1/2", "[1, 1]"), ("output: below;", "0", "(0, 1], [2, inf)")],
)
def test_coq_proves_rows_of_real_outputs(metric: str, gamma: str, eps: str, tmp_path: Path) -> None:
    head = f"input q : real;\noutput a : real;\nmetric {{ input: linf; {metric} }}\n"
    program = f"{head}a <- Lap(eps, q); if a > 2 then a <- 2 end"
    theorems = written(program, [{"q": "1", "a": "1", "dd": "1"}], "exp(-gamma*eps)", gamma=gamma, eps=eps)
    assert theorems.proved_rows == 1
    assert compiled(theorems.text, tmp_path)


@needs_coq
@pytest.mark.slow
def test_coq_proves_the_refutation_of_a_row(tmp_path: Path) -> None:
    program, rows = PROGRAMS["a maximum"]
    theorems = written(program, [{**rows[1], "dd": "1"}], "exp(-2*eps)")
    assert re.search(r"Theorem row1 : Pr .* < 1 - o0_beta", theorems.text, re.DOTALL)
    assert compiled(theorems.text, tmp_path)


_CHANGES = {
    "rate": ("Noise Lap v5_z 2 ", "Noise Lap v5_z 3 "),
    "input": ("(program 0 1)", "(program 0 2)"),
    "answer": ("(Is v2_a 1)", "(Is v2_a 2)"),
    "bound": ("(Finite (FNum 2))", "(Finite (FNum 3))"),
}


@needs_coq
@pytest.mark.parametrize("change", [pytest.param("rate", marks=pytest.mark.every_case), *list(_CHANGES)[1:]])
@pytest.mark.slow
def test_coq_refuses_a_changed_program(change: str, tmp_path: Path) -> None:
    program, rows = PROGRAMS["orders of three noises"]
    text = written(program, [{**rows[0], "dd": "1"}]).text
    old, new = _CHANGES[change]
    assert old in text
    assert not compiled(text.replace(old, new), tmp_path)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("input q : real;\noutput a : {0..1} = 0;\nvar x : real;\nx <- Gauss(1, q);\nif x > 0 then a <- 1 end", None),
        (
            "input q : real;\noutput a : int;\na <- DLap(eps, 0)",
            "its program draws noise that is neither Laplace nor exponential noise",
        ),
        (
            "input q : {0..1};\noutput a : {0..1};\na <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) }",
            "its program has a choice with weights that depend on eps",
        ),
        (
            (
                "input q : real;\noutput a : {0..1} = 0;\nvar x, y : real;\nx <- Lap(eps, q); y <- Lap(eps, x);\n"
                "if y > 0 then a <- 1 end"
            ),
            "its program draws noise around noise",
        ),
        (
            (
                "input q : real;\noutput a : {0..1} = 0;\nvar x, y : real;\nx <- Lap(eps, q); y <- Lap(eps);\n"
                "if x + y > 0 then a <- 1 end"
            ),
            "its program adds noises",
        ),
        (
            (
                "input q : real;\noutput a : {0..1} = 0;\nvar k : {0..1} = 0;\n"
                "while k = 0 do k <- choose { 0 : 1/2, 1 : 1/2 } end; if q > k then a <- 1 end"
            ),
            "its program has a `while` loop",
        ),
        (
            (
                "input q : real;\noutput a : {0..1} = 0;\nvar x : real;\n"
                f"for i in 1..{MOST_COMPARISONS + 1} do x <- Lap(eps, q); if x > 1 then a <- 1; exit end end"
            ),
            f"its program has more than {MOST_WAYS} ways through it, or {MOST_COMPARISONS} comparisons of noise on one",
        ),
    ],
)
def test_a_program_that_is_not_expressed_is_named_with_its_reason(program: str, reason: str | None) -> None:
    inputs = "1" if "real" in program else "0"
    theorems = written(program, [{"q": inputs, "a": "0", "dd": "1"}])
    assert theorems.proved_rows == 0
    if reason is not None:
        assert f"(* No row is proved from the program: {reason}. *)" in theorems.text


def test_a_row_without_a_probability_is_named() -> None:
    rows = [{"q[1]": "0", "q[2]": "0", "q[3]": "0", "a": "2", "dd": "1"}]
    program = dipc.load(f"program p;\n{PROGRAMS['a maximum'][0]}")
    data = json.loads(dipc.certify(dipc.check(program, rows, beta="2", alpha=0, keep_proofs=True)))
    data["rows"][0]["probability"] = None
    theorems = write_theorems(document_of(data), Budget())
    assert theorems.proved_rows == 0
    assert "(* row1 is not proved from the program: its probability is not stated *)" in theorems.text


def test_words_of_a_program_cannot_leave_their_comment() -> None:
    program = '# *) Axiom wrong : False. (* "\ninput q : real;\noutput a : {0..1} = 0;\nvar x : real;\n'
    text = written(f"{program}x <- Lap(eps, q); if x > 0 then a <- 1 end", [{"q": "1", "a": "1", "dd": "1"}]).text
    assert not re.search(r"\*\)\s*Axiom", text)
    assert "Theorem row1" in text


def test_nothing_is_admitted() -> None:
    for file in (ROOT / "dipc" / "coq").glob("*.v"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort)\b", text)
        # A hypothesis belongs to a section, whose lemmas state it once the section ends.
        assert len(re.findall(r"^Hypothesis ", text, re.MULTILINE)) <= len(re.findall(r"^Section ", text, re.MULTILINE))
