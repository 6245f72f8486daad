"""Programs that have an exact meaning at one eps only: they are read there, and say nothing of any other."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import dipc
from tests.verifier.samples import resealed

HALF = Fraction(1, 2)
ABOVE = """program above;
const T = 1 + 7/eps;
input q : real;
output b : bool;
ideal { b <- q > T }
claim { alpha: 3/eps; beta: 1/10; }
var r : real;
r <- Lap(2*eps + 1, q);
b <- r > 1 + 7/eps
"""
#: The same with the numbers that these are at eps = 1/2.
WRITTEN_OUT = ABOVE.replace("1 + 7/eps", "15").replace("2*eps + 1", "4*eps").replace("3/eps", "6")
COIN = """program coin;
input q : real;
output y : real;
ideal { y <- q }
claim { gamma: 3/eps; beta: eps/4 + exp(-3*eps); eps: e; }
const e = 1/2;
var c : bool;
c <- choose { true : 1 - eps/4, false : eps/4 };
y <- Lap(1/eps, q);
if not c then y <- y + 7/eps end
"""


def test_it_is_the_program_with_the_numbers_written_out() -> None:
    program, written = dipc.load(ABOVE, eps=HALF), dipc.load(WRITTEN_OUT)
    assert program.core.only_at == HALF
    assert written.core.only_at is None
    for q in (14, 16):
        found, same = program.probability({"q": q}, {"b": True}), written.probability({"q": q}, {"b": True})
        assert found.at(HALF) == same.at(HALF)
        assert found.value == same.value
    report = dipc.check(program, inputs="all")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert str(report.eps) == "[1/2, 1/2]"
    assert [row.verdict for row in dipc.check(program, inputs="q in {1, 15, 22}").rows] == [report.verdict] * 3


def test_a_closed_form_is_a_number() -> None:
    form = dipc.load(ABOVE, eps="1/2").probability({"q": 14}, {"b": True})
    assert str(form) == "exp(-2)/2"
    assert form.latex() == r"\frac{1}{2}\,e^{-2}"
    assert not form.expr.free_symbols
    assert form.float("1/2") == pytest.approx(0.0676676416)
    assert str(2 * form) == "exp(-2)"
    assert str(form.at_least(Fraction(1, 20)).verdict) == "accurate"
    assert [str(piece.start.low) for piece in form.sign()] == ["1/2"]
    for wrong in (lambda: form.at(1), lambda: form.sup("(0, 1]"), lambda: form.at_least(0, "[1, 2]")):
        with pytest.raises(ValueError, match="eps = 1/2 only"):
            wrong()
    with pytest.raises(ValueError, match="the other at eps = 1"):
        _ = form + dipc.load(ABOVE, eps=1).probability({"q": 14}, {"b": True})


def test_distances_stay_open() -> None:
    report = dipc.check(dipc.load(ABOVE, eps=HALF), inputs="all", alpha="dd", beta="exp(-alpha*eps)")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert {row.note.probability for row in report.rows} == {"1 - exp(-4*eps)/2"}
    assert {row.note.variable for row in report.rows} == {"alpha*eps"}


@pytest.mark.parametrize("eps", ["(0, inf)", "[1/2, 1]", "1", "1/2, [1, 2]"])
def test_another_eps_is_refused(eps: str) -> None:
    program = dipc.load(ABOVE, eps=HALF)
    for ask in (
        lambda: dipc.check(program, inputs="q = 1", eps=eps),
        lambda: dipc.check(program, inputs="all", eps=eps),
        lambda: dipc.tighten(program, inputs="q = 1", eps=eps),
        lambda: dipc.check_privacy(program, "linf:1", inputs="q = 0..1", eps=eps),
    ):
        with pytest.raises(dipc.DiagnosticError, match="is read at eps = 1/2 alone"):
            ask()


def test_another_eps_is_refused_by_runs() -> None:
    program = dipc.load(ABOVE, eps=HALF)
    assert str(dipc.simulate(program, {"q": 14}, HALF, runs=500).agreement) == "match"
    with pytest.raises(dipc.DiagnosticError, match="eps = 1 is asked about"):
        dipc.simulate(program, {"q": 14}, 1, runs=5)
    with pytest.raises(dipc.DiagnosticError, match="eps = 1 is asked about"):
        dipc.conform(program, {"q": 14}, 1, {True: 1})


def test_the_claim_block_fixes_it() -> None:
    program = dipc.load(COIN)
    assert program.core.only_at == HALF
    assert dipc.load(COIN, e="1/3").core.only_at == Fraction(1, 3)
    assert dipc.load(COIN, eps=1).core.only_at == 1
    report = dipc.check(program, inputs="q = 0", keep_proofs=True)
    assert report.verdict is dipc.Verdict.ACCURATE
    assert report.rows[0].gamma == "6"
    assert str(dipc.simulate(program, {"q": 0}, HALF, runs=500, outputs=[{"y": 0}], gamma=6).agreement) == "match"
    for eps in ("(0, 1]", "1/2, 1"):
        with pytest.raises(dipc.DiagnosticError, match="eps"):
            dipc.load(COIN, eps=eps)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("1 - eps/4, false : eps/4", "1 - 3*eps, false : 3*eps", "E0312"),
        ("1 - eps/4", "1 - eps/5", "E0313"),
        ("1/eps", "1 - 2*eps", "E0213"),
        ("1/eps", "1/(2*eps - 1)", "E0209"),
        ("7/eps", "exp(eps)", "E0204"),
        ("1 - eps/4, false : eps/4", "1 - exp(eps)/4, false : exp(eps)/4", "E0312"),
    ],
)
def test_what_is_wrong_there_is_refused(old: str, new: str, code: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as refused:
        dipc.load(COIN.replace(old, new))
    assert [found.code for found in refused.value.diagnostics] == [code]


def test_exponents_of_weights_are_numbers_there() -> None:
    text = "program p; output o : bool; o <- choose { true : exp(-1/eps), false : 1 - exp(-1/eps) }"
    assert str(dipc.load(text, eps=HALF).probability({}, {"o": True})) == "exp(-2)"
    with pytest.raises(dipc.DiagnosticError, match="rational multiple of eps"):
        dipc.load(text)


def test_what_holds_for_every_eps_is_not_fixed() -> None:
    text = "program p; output o : bool; o <- choose { true : eps/(1 + eps), false : 1/(1 + eps) }"
    assert dipc.load(text, eps=1).core.only_at is None


@pytest.mark.parametrize(("text", "inputs"), [(ABOVE, "q in {1, 14, 22}"), (COIN, "q = 0"), (ABOVE, "all")])
def test_the_checker_reads_it_there_too(text: str, inputs: str) -> None:
    report = dipc.check(dipc.load(text, eps=HALF), inputs=inputs, keep_proofs=True)
    certificate = dipc.certify(report)
    accepted = dipc.verify(certificate)
    assert accepted.complete, accepted.trusted
    written = json.loads(certificate)
    del written["digest"]
    for only_at in ("1", None):
        program = {**written["program"], "only_at": only_at}
        if only_at is None:
            del program["only_at"]
        with pytest.raises(dipc.Rejected, match=r"about others|`eps` stands|no positive multiple"):
            dipc.verify(resealed({**written, "program": program}))
