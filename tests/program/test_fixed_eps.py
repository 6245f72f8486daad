"""Programs that have an exact meaning at one eps only: they are read there, and say nothing of any other."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.certificate.data import Uncertified, require_known_laws
from tests.patience import examples
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
        assert found.enclosure(HALF) == same.enclosure(HALF)
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
    for wrong in (lambda: form.enclosure(1), lambda: form.sup("(0, 1]"), lambda: form.at_least(0, "[1, 2]")):
        with pytest.raises(ValueError, match="only at eps = 1/2"):
            wrong()
    with pytest.raises(ValueError, match="the other only at eps = 1"):
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
        with pytest.raises(dipc.DiagnosticError, match="is read at eps = 1/2 only"):
            ask()


def test_another_eps_is_refused_by_runs() -> None:
    program = dipc.load(ABOVE, eps=HALF)
    assert str(dipc.simulate(program, {"q": 14}, HALF, runs=500).agreement) == "match"
    with pytest.raises(dipc.DiagnosticError, match="it is asked about eps = 1"):
        dipc.simulate(program, {"q": 14}, 1, runs=5)
    with pytest.raises(dipc.DiagnosticError, match="it is asked about eps = 1"):
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
        ("1 - eps/4, false : eps/4", "1 - exp(4*eps)/4, false : exp(4*eps)/4", "E0312"),
    ],
)
def test_what_is_wrong_there_is_refused(old: str, new: str, code: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as refused:
        dipc.load(COIN.replace(old, new))
    assert [found.code for found in refused.value.diagnostics] == [code]


def test_mistakes_are_shown_at_the_eps_that_is_asked_about() -> None:
    """Weights are numbers there, which say nothing of another eps."""
    for weights, eps, said in [
        ("true : 1 - eps/2, false : eps/2", "3", "negative at eps = 3"),
        ("true : 1 - eps/2, false : eps/3", "1/3", "at eps = 1/3 the weights sum to 17/18"),
    ]:
        text = f"program p; output o : bool; o <- choose {{ {weights} }}"
        with pytest.raises(dipc.DiagnosticError) as refused:
            dipc.load(text, eps=eps)
        (found,) = refused.value.diagnostics
        assert said in (found.message if found.code == "E0312" else found.label)


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
        with pytest.raises(
            dipc.Rejected, match=r"about other values of eps|cannot contain `eps`|must be a positive multiple"
        ):
            dipc.verify(resealed({**written, "program": program}))


# --- weights that are probabilities for some eps only ---------------------------------------------------------------

RESPONSE = """program response;
input x : bool;
output o : bool;
if x then o <- choose { true : (1 + eps)/2, false : (1 - eps)/2 }
else o <- choose { true : (1 - eps)/2, false : (1 + eps)/2 } end
"""


def test_weights_are_probabilities_where_they_are_asked_about() -> None:
    program = dipc.load(RESPONSE, eps="(0, 1)")
    assert program.core.asked_eps == "(0, 1)"
    assert dipc.check_privacy(program, "hamming:1", eps="(0, 1/2]", budget="3*eps").verdict == "private"
    report = dipc.check_privacy(program, "hamming:1", budget="2*eps")
    assert report.claim.eps_text == "(0, 1)"
    assert report.counterexample is not None
    assert report.counterexample.eps < 1
    claimed = RESPONSE.replace("input", "claim { eps: (0, 1/4], [1/2, 1); }\ninput", 1)
    assert dipc.load(claimed).core.asked_eps == "(0, 1/4], [1/2, 1)"


@pytest.mark.parametrize("eps", ["(0, inf)", "[1/2, 1]", "[1/4, 1/4]", "(0, 1/2), [3/4, 2)"])
def test_other_eps_are_refused_where_weights_are_none(eps: str) -> None:
    program = dipc.load(RESPONSE, eps="(0, 1/2), (1/2, 1)")
    with pytest.raises(dipc.DiagnosticError) as refused:
        dipc.check_privacy(program, "hamming:1", eps="[1/2, 1/2]")
    assert refused.value.diagnostics[0].code == "E0219"
    if eps == "[1/4, 1/4]":
        dipc.check_privacy(program, "hamming:1", eps=eps)
        return
    with pytest.raises(dipc.DiagnosticError):
        dipc.check_privacy(program, "hamming:1", eps=eps)


@pytest.mark.parametrize("eps", [None, "(0, 1]", "(0, 2)", "[1, 2]"])
def test_weights_that_are_negative_somewhere_in_the_intervals_are_refused(eps: str | None) -> None:
    if eps == "(0, 1]":  # 0 is a probability
        assert dipc.load(RESPONSE, eps=eps).core.only_in
        return
    with pytest.raises(dipc.DiagnosticError) as refused:
        dipc.load(RESPONSE, eps=eps)
    assert {each.code for each in refused.value.diagnostics} == {"E0312"}


@given(data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_random_responses_against_their_weights(data: st.DataObject) -> None:
    """For weights a + b·eps the loss is the log of their quotients: compared at eps of a grid, and at witnesses."""
    high = Fraction(data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4)))
    number = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    ends = [[data.draw(number), data.draw(number)] for _ in range(2)]
    lines = [f"({low} + ({top - low})*eps/({high}))" for low, top in ends]
    (one, other) = (f"o <- choose {{ true : {line}, false : 1 - {line} }}" for line in lines)
    text = f"program r; input x : bool; output o : bool; if x then {one} else {other} end"
    factor = data.draw(st.integers(0, 6))
    report = dipc.check_privacy(
        dipc.load(text, eps=f"(0, {high})"), "hamming:1", eps=f"(0, {high})", budget=f"{factor}*eps"
    )

    def fails(eps: Fraction) -> bool:
        p, q = (low + (top - low) * eps / high for low, top in ends)
        pairs = [(p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)]
        return any(float(a) > exp(factor * float(eps)) * float(b) + 1e-9 for a, b in pairs)

    if report.verdict == "private":
        assert not any(fails(high * k / 64) for k in range(1, 64))
    else:
        assert report.verdict == "not private"
        counterexample = report.counterexample
        assert counterexample is not None
        assert 0 < counterexample.eps < high
        assert counterexample.probability[0] > counterexample.allowed[1]
        p, q = (low + (top - low) * counterexample.eps / high for low, top in ends)
        truth = {"true": p, "false": 1 - p} if counterexample.input["x"] == "true" else {"true": q, "false": 1 - q}
        said = truth[str(counterexample.outputs[0]["o"])]
        assert counterexample.probability[0] <= said <= counterexample.probability[1]


def test_there_is_no_certificate_of_weights_in_a_range() -> None:
    with pytest.raises(Uncertified, match="follows such a program only at a single eps"):
        require_known_laws(dipc.load(RESPONSE, eps="(0, 1)").core)
