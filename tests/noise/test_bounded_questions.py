"""Uniform and truncated Laplace noise go through every question: each decides, or says in words what is missing."""

from __future__ import annotations

import re
from fractions import Fraction
from math import exp, log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.noise.law import Law
from dipc.simulation.compare import Agreement
from dipc.text.diagnostic import DiagnosticError
from tests.noise.commands import Run, runner
from tests.strategies.bounded import bounded_laws, halves

GATE = """program gate;
input q : real;
output out : bool;
var r : real;
claim { alpha: dd; beta: exp(-alpha*eps)/2; gamma: 0; }
ideal { out <- q >= 0 }
r <- NOISE(q);
out <- r >= 0;
"""
VALUE = """program value;
input q : real;
output out : real;
claim { alpha: 0; beta: 1/2; gamma: 1; }
ideal { noiseless }
out <- NOISE(q);
"""
LOOP = """program loop;
const m = 2;
input q[1..m] : real;
output out[1..m] : bool = false;
var r : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/2)/2; gamma: 0; }
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- true else exit end end }
for i in 1..m do
  r <- NOISE(q[i]);
  if r >= 0 then out[i] <- true else exit end
end;
"""
SPLIT = """program split;
const s = 1/2;
input q : real;
output out : bool;
var x, t : real;
claim { alpha: dd; beta: exp(-alpha*eps/4); gamma: 0; }
ideal { out <- q >= 0 }
t <- Lap(s*eps);
x <- NOISE(q);
out <- x >= t;
"""
NORMAL = GATE.replace("out <- r >= 0", "x <- Gauss(1/eps); out <- r >= x").replace("var r", "var r, x")
LAWS = {"uniform": "Unif(-1, 1, {})", "truncated": "TLap(eps, {}, -2, 2)"}


@pytest.fixture(params=LAWS)
def law(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(law: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    texts = {"gate": GATE, "value": VALUE, "loop": LOOP, "split": SPLIT, "normal": NORMAL}
    for name, text in texts.items():
        Path(f"{name}.dip").write_text(
            re.sub(r"NOISE\(([^)]*)\)", lambda found: LAWS[law].format(found[1]), text), encoding="utf-8"
        )
    Path("gate.csv").write_text("q,out\n0,true\n1/2,true\n-1/2,false\n", encoding="utf-8")
    Path("counts.csv").write_text("out,count\ntrue,900\nfalse,100\n", encoding="utf-8")
    Path("pairs.csv").write_text("q,q'\n0,1\n", encoding="utf-8")

    run_words = runner(capsys)

    def dipc(*words: str) -> tuple[int, str]:
        code, text = run_words(*words)
        return code, re.sub(r"\s+", " ", text)

    return dipc


EVERY = "--adjacent linf:1 --inputs all"
SHIFTS = "no shift of the noise makes up for every move of the inputs"
SCALES = "a noise is not proved to scale with eps"

#: The command, and for each law the exit code with a part of the answer.
QUESTIONS: dict[str, tuple[tuple[int, str], tuple[int, str]]] = {
    "check gate.dip gate.csv --alpha 0 --beta 3/5": ((0, "all 3 rows"), (0, "all 3 rows")),
    "check gate.dip gate.csv --alpha 0 --beta 3/5 --gamma free": ((0, "all 3 rows"), (0, "all 3 rows")),
    "check gate.dip --inputs all": ((1, "2 of 2 classes"), (3, SCALES)),
    "check gate.dip --inputs all --alpha 2 --beta 0": ((0, "every real input"), (0, "every real input")),
    "check gate.dip --inputs all --alpha 1 --beta 1/10": ((0, "every real input"), (1, "2 of 2 classes")),
    "check value.dip --inputs all": ((0, "every real input"), (0, "every real input")),
    "check value.dip --inputs all --gamma 2 --beta 0": ((0, "every real input"), (0, "every real input")),
    "check loop.dip --inputs all --alpha 1/2 --beta 3/4": ((0, "3 classes"), (0, "3 classes")),
    "check loop.dip --inputs all --for-all m": ((1, "every m >= 1"), (3, SCALES)),
    "check normal.dip gate.csv --beta 1/2 --alpha 0": (
        (3, "compared with Gaussian noise"),
        (3, "compared with Gaussian"),
    ),
    "tighten gate.dip --inputs q=1/2": ((0, "no factor suffices"), (0, "least factor 1")),
    "tighten gate.dip --inputs all": ((0, "no factor suffices"), (3, "no factor could be proved")),
    "solve gate.dip gate.csv --for eps --beta 1/3 --alpha 0": ((1, "NO SOLUTION"), (1, "NO SOLUTION")),
    "solve value.dip --inputs q=0 --for gamma --beta 1/10": ((0, "0.9]"), (0, "1.8]")),
    "solve gate.dip --inputs all --for alpha --beta 1/10 --eps 1": ((0, "0.8]"), (0, "1.17678500944230")),
    "interval value.dip --inputs q=0 --confidence 95% --eps 1": ((0, "r + 0.95]"), (0, "r + 1.722782892]")),
    "error value.dip --inputs q=0 --moment 2": ((0, "0.3333333333"), (0, "0.7478588580")),
    "tune split.dip --vary|s in (0, 1)|--alpha 2 --inputs q=2": ((0, "the best of"), (0, "the best of")),
    "prob gate.dip --input q=1/2": ((0, "3/4"), (0, "exp(-eps/2)")),
    "dtmc gate.dip": ((0, "r ~ Unif(-1, 1, q)"), (0, "r ~ TLap(eps, q, -2, 2)")),
    "privacy gate.dip --adjacent pairs.csv": ((1, "NOT PRIVATE"), (1, "NOT PRIVATE")),
    "privacy gate.dip --adjacent pairs.csv --delta 1/2": (
        (0, "private: budget eps with delta 1/2"),
        (0, "private: budget eps with delta 1/2"),
    ),
    f"privacy gate.dip {EVERY}": ((1, "allowed 0"), (1, "allowed 0")),
    f"privacy gate.dip {EVERY} --constant": ((0, "not K*eps-private for any K"), (0, "not K*eps-private for any K")),
    f"privacy gate.dip {EVERY} --delta 1/2": ((3, SHIFTS), (3, SHIFTS)),
    f"privacy loop.dip {EVERY}": ((1, "NOT PRIVATE"), (1, "NOT PRIVATE")),
    f"privacy loop.dip {EVERY} --for-all m": ((1, "at m = 1"), (1, "at m = 1")),
    f"privacy value.dip {EVERY}": ((1, "allowed 0"), (1, "allowed 0")),
    f"privacy value.dip {EVERY} --delta-of eps --at 1": ((0, "supremum 1/2"), (0, "supremum 1/4")),
    f"privacy value.dip {EVERY} --budget-of 1/10 --at 1": ((0, "∞ at eps = 1"), (0, "budget for delta 1/10")),
    f"privacy value.dip {EVERY} --max-loss --at 1": ((0, "largest loss ∞"), (0, "largest loss ∞")),
    f"privacy value.dip {EVERY} --renyi 2 --at 1": ((0, "∞ at eps = 1"), (0, "∞ at eps = 1")),
    f"privacy value.dip {EVERY} --rho": ((3, "Gaussian noise"), (3, "Gaussian noise")),
    f"privacy value.dip {EVERY} --compose 2": ((1, "for 2 runs"), (1, "for 2 runs")),
    "simulate gate.dip --input q=1/2 --eps 1 -n 20000": ((0, "match"), (0, "match")),
    "conform gate.dip --input q=1/2 --eps 1 --counts counts.csv": ((1, "DEVIATES"), (1, "DEVIATES")),
    "run value.dip --input q=1 --eps 1 --grid 1/8 -n 3 --seed 4": ((0, "3 runs with exact noise"), (0, "3 runs")),
}


@pytest.mark.every_case
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_decides_or_says_what_is_missing(run: Run, law: str, question: str) -> None:
    first, *others = question.split("|")
    words = [*first.split(), *others[:1], *(others[1].split() if others else ())]
    code, said = QUESTIONS[question][law == "truncated"]
    found, text = run(*words)
    assert (found, said in text) == (code, True), text


@pytest.mark.parametrize(
    ("question", "accepted"),
    [
        ("check gate.dip gate.csv --alpha 0 --beta 3/5", 0),
        ("check gate.dip --inputs all --alpha 2 --beta 0", 0),
        ("check value.dip --inputs all", 0),
        ("check loop.dip --inputs all --alpha 1/2 --beta 3/4", 0),
        ("privacy gate.dip --adjacent pairs.csv --delta 1/2", 0),
        ("privacy gate.dip --adjacent linf:1 --inputs all", 0),
        ("privacy value.dip --adjacent pairs.csv", 0),
        ("privacy value.dip --adjacent linf:1 --inputs all --delta 1/8", 0),
    ],
)
def test_certificates_are_accepted(run: Run, question: str, accepted: int) -> None:
    code, text = run(*question.split(), "--certificate", "proof.json")
    assert code in (0, 1), text
    verified, text = run("verify", "proof.json", "--program", question.split()[1])
    assert verified == accepted, text


def test_a_delta_of_real_outputs_has_no_certificate(run: Run) -> None:
    code, text = run(*f"privacy value.dip {EVERY} --delta 1/2 --certificate proof.json".split())
    assert code == 2
    assert "there is no certificate" in text
    assert "private: budget eps with delta 1/2" in text


def test_theorems_for_coq(run: Run) -> None:
    run(*["check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", "3/5", "--certificate", "proof.json"])
    code, text = run("verify", "proof.json", "--coq", "out.v")
    assert code == 0, text
    assert "theorems, one for each obligation" in text
    run(*["privacy", "gate.dip", "--adjacent", "pairs.csv", "--delta", "1/2", "--certificate", "proof.json"])
    code, text = run("verify", "proof.json", "--coq", "out.v")
    assert (code, "inequalities of privacy are not written" in text) == (2, True), text


SOLVE = "solve gate.dip --inputs all --for alpha --beta 1/10 --eps 1 --format json"


def test_the_least_alpha_is_that_of_the_law(run: Run) -> None:
    """Pr[N < -a] = 1/10 at a = 4/5, and for truncated noise where (e^{-a} - e^{-2})/(2(1 - e^{-2})) = 1/10."""
    code, text = run(
        *["solve", "gate.dip", "--inputs", "all", "--for", "alpha", "--beta", "1/10", "--eps", "1", "--format", "json"]
    )
    assert code == 0, text
    if "TLap" in Path("gate.dip").read_text(encoding="utf-8"):
        expected = -log(exp(-2) + (1 - exp(-2)) / 5)
        assert f"{expected:.6f}"[:7] in text


# --- simulation, runs and mechanisms in Python ------------------------------------------------------------------------


@given(bounded_laws(), halves, st.sampled_from(["1/3", "2"]))
def test_simulations_match(law: Law, mean: Fraction, eps: str) -> None:
    """Beside Laplace noise, by an interpreter and draws of its own."""
    draw = law.draw_text("eps/2", f"q + {mean}" if mean >= 0 else f"q - {-mean}", str(law.least), str(law.greatest))
    head = "program p;\ninput q : real;\noutput y : bool;\nvar x, t : real;\n"
    program = dipc.load(f"{head}x <- {draw};\nt <- Lap(eps);\ny <- x >= t;\n")
    assert dipc.simulate(program, {"q": Fraction(1, 2)}, eps=eps, runs=4000, seed=3).agreement is Agreement.MATCH


MECHANISMS = """
import dipc


@dipc.mechanism(B=3, claim=dict(alpha=0, beta="1/2", gamma=0))
def gate(q: dipc.Real, B: dipc.Const, eps) -> bool:
    x = dipc.truncated_laplace(q, rate=eps / 2, low=-B, high=B)
    return x >= 0


@dipc.mechanism()
def jitter(q: dipc.Real, eps) -> float:
    return dipc.uniform(q, low=-0.5, high=3 / 2)


@dipc.mechanism()
def lopsided(q: dipc.Real, eps) -> bool:
    return dipc.truncated_laplace(mean=q, scale=2 / eps, low=-1, high=3) > dipc.uniform(low=0, high=1)
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    return runner(capsys)


def test_mechanisms_in_python(python: Run) -> None:
    Path("m.py").write_text(MECHANISMS, encoding="utf-8")
    assert "x <- TLap(eps/2, q, -B, B);" in python("fmt", "m.py::gate")[1]
    assert "Unif(-1/2, 3/2, q)" in python("fmt", "m.py::jitter")[1].replace("-0.5", "-1/2")
    assert "ideal" in python("fmt", "m.py::gate")[1]
    assert "ideal" not in python("fmt", "m.py::lopsided")[1]  # the mean of its noise depends on eps
    for name in ("gate", "jitter", "lopsided"):
        assert python("prob", f"m.py::{name}", "--input", "q=1")[0] == 0
        code, text = python("run", f"m.py::{name}", "--input", "q=1", "--eps", "1", "--grid", "1/10")
        assert code == 0, text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("dipc.uniform(q, low=-eps, high=3)", "cannot depend on eps"),
        ("dipc.uniform(q, low=3, high=3)", "it goes from 3 to 3"),
        ("dipc.uniform(q, 3)", "name the two ends of the noise"),
        ("dipc.uniform(q, low=3)", "not given both `low` and `high`"),
        ("dipc.uniform(q, low=0, high=3, scale=2/eps)", "scale"),
        ("dipc.truncated_laplace(q, low=0, high=3)", "no `scale` or `rate`"),
        ("dipc.truncated_laplace(q, scale=2/eps, rate=eps, low=0, high=3)", "both `scale` and `rate`"),
        ("dipc.truncated_laplace(q, scale=2/eps, low=0, high=q)", "must be a constant number"),
    ],
)
def test_mistakes_in_python(python: Run, call: str, said: str) -> None:
    text = f"import dipc\n\n\n@dipc.mechanism()\ndef f(q: dipc.Real, eps) -> float:\n    return {call}\n"
    Path("m.py").write_text(text, encoding="utf-8")
    code, found = python("prob", "m.py::f", "--input", "q=1")
    assert code == 2
    assert said in found, found
    assert "^" in found


@pytest.mark.parametrize(
    ("draw", "said", "mark"),
    [
        ("Unif(2, 2, 0)", "it goes from 2 to 2", "2, 2"),
        ("Unif(b, -b, 0)", "it goes from 3 to -3", "b, -b"),
        ("Unif(0, 1/eps)", "cannot depend on eps", "eps"),
        ("Unif(0, k)", "must be a constant number", "k"),
        ("TLap(eps, 0, 1, -1)", "it goes from 1 to -1", "1, -1"),
        ("TLap(1, 0, -1, 1)", "the rate does not contain eps", "1"),
        ("TLap(eps, 0)", "expected `,`, found `)`", ")"),
        ("Unif(1)", "expected `,`, found `)`", ")"),
        ("uniform(0, 1)", "uniform noise is `Unif(-1, 1, 0)`", "uniform"),
    ],
)
def test_mistakes_in_programs(draw: str, said: str, mark: str) -> None:
    head = "program p;\nconst b = 3;\noutput y : real;\nvar k : {1..2};\nk <- choose { 1 : 1/2, 2 : 1/2 };\n"
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(f"{head}y <- {draw};\n")
    first = caught.value.diagnostics[0]
    assert said in str(caught.value)
    assert first.excerpt is not None


@pytest.mark.parametrize(
    ("ends", "is_known"), [("-2, 2", True), ("-b, b", True), ("-1/2, 1/2", True), ("-2, 3", False)]
)
def test_the_mean_of_truncated_noise(ends: str, is_known: bool) -> None:
    head = "program p;\nconst b = 3;\ninput q : real;\noutput y : real;\nideal { noiseless }\n"
    text = f"{head}y <- TLap(eps, q, {ends});\n"
    if is_known:
        assert dipc.load(text).core.ideal is not None
    else:
        with pytest.raises(DiagnosticError, match="only if the ends of its support are -b and b"):
            dipc.load(text)
