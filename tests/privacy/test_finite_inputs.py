"""Finite inputs: `all` and no inputs at all are one question, with one answer, however many inputs there are."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.limits import LimitReached
from dipc.certificate.privacy import certify_privacy
from dipc.decide.engine import Engine
from dipc.program.program import as_program
from dipc.questions.privacy import check
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.verifier.document import check_text
from tests.privacy.test_random import mechanism

EXPONENTIAL = """
program exponential; input s[1..3] : {0..4}; output answer : {1..3};
answer <- Exp(eps/2, k in {1..3} : s[k])
"""
MAXIMUM = """
program maximum; input s[1..3] : {0..4}; output answer : {1..3} = 1; var best, noisy : real;
best <- Lap(eps/2, s[1]);
for i in 2..3 do
  noisy <- Lap(eps/2, s[i]);
  if noisy > best then answer <- i; best <- noisy end
end
"""
TOTAL = "program total; input s[1..2] : {0..10}; output y : real; y <- Lap(eps/2, s[1] + s[2])"
COUNT = "program count; input s[1..2] : {0..10}; output k : int; k <- DLap(eps/2, s[1] + s[2])"
RESPONSE = """
program response; input s[1..7] : {0, 1}; output k : {0, 1};
k <- choose { s[1] : exp(eps)/(1 + exp(eps)), 1 - s[1] : 1/(1 + exp(eps)) }
"""
PROGRAMS = {"linf:1": (EXPONENTIAL, MAXIMUM, TOTAL, COUNT), "hamming:1": (EXPONENTIAL, RESPONSE)}
ASKED = [(text, adjacent) for adjacent, texts in PROGRAMS.items() for text in texts]


def question_about(text: str, adjacent: str, inputs: str | None, rows: int = 1_000_000) -> PrivacyQuestion:
    program = as_program(dipc.load(text), dipc.Limits(rows=rows))
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits, keep_proofs=True))


@pytest.mark.parametrize(("text", "adjacent"), ASKED)
def test_all_inputs_are_those_that_are_meant_anyway(text: str, adjacent: str) -> None:
    one, other = question_about(text, adjacent, None), question_about(text, adjacent, "all")
    assert one.asked == other.asked
    for budget, delta in (("eps", None), ("9*eps/10", None), ("eps/2", "1/100"), ("eps/2", "99/100")):
        claim = read_claim(one.program, budget, delta, "(0, 1]")
        first, second = one.decide(claim), other.decide(claim)
        assert first.as_json() == second.as_json()
    assert one.constant(None).as_json() == other.constant(None).as_json()


@pytest.mark.parametrize(("text", "adjacent"), [(EXPONENTIAL, "linf:1"), (COUNT, "linf:1"), (RESPONSE, "hamming:1")])
def test_losses_divergences_and_deltas_of_all_inputs(text: str, adjacent: str) -> None:
    one, other = question_about(text, adjacent, None), question_about(text, adjacent, "all")
    claim = read_claim(one.program, "eps/2", None, None)
    assert one.largest_loss(Fraction(1)).as_json() == other.largest_loss(Fraction(1)).as_json()
    assert one.divergence(2, Fraction(1)).as_json() == other.divergence(2, Fraction(1)).as_json()
    assert one.least_delta(claim).as_json() == other.least_delta(claim).as_json()


def test_the_exponential_mechanism_with_many_scores_is_private() -> None:
    """Shifts of noises say nothing of it: there is no noise."""
    question = question_about(EXPONENTIAL, "linf:1", "all")
    assert question.decide(read_claim(question.program, "eps", None, None)).verdict is PrivacyVerdict.PRIVATE
    found = question.constant(None)
    assert found.proved == found.refuted_below == 1
    report = dipc.check_privacy(dipc.load(EXPONENTIAL), "linf:1", inputs="all")
    assert report.as_json() == dipc.check_privacy(dipc.load(EXPONENTIAL), "linf:1").as_json()


@pytest.mark.parametrize("text", [EXPONENTIAL, MAXIMUM])
def test_certificates_of_all_inputs(text: str) -> None:
    """Two ways to state all inputs give one certificate, also for 2072 pairs that shifts decide without measures."""
    one, other = question_about(text, "linf:1", None), question_about(text, "linf:1", "all")
    claim = read_claim(one.program, "eps", None, None)
    written = certify_privacy(other, other.decide(claim))
    assert written == certify_privacy(one, one.decide(claim))
    check_text(written)


@pytest.mark.parametrize("inputs", [None, "all"])
def test_too_many_pairs_are_looked_at_by_shifts(inputs: str | None) -> None:
    question = question_about(TOTAL, "linf:1", inputs, rows=200)
    assert len(question_about(TOTAL, "linf:1", inputs).pairs) == 840  # type: ignore[arg-type]
    report = question.decide(read_claim(question.program, "eps", None, None))
    assert report.verdict is PrivacyVerdict.PRIVATE
    assert report.pairs is None
    found = question.constant(None)
    assert found.proved == found.refuted_below == 1
    with pytest.raises(LimitReached, match="more than 200 pairs"):
        question_about(EXPONENTIAL, "linf:1", inputs, rows=200).largest_loss(Fraction(1))


SPARSE = """
program sparse; input q[1..3] : {0..9}; output out[1..3] : {none, bot, top} = none; var t, r : int;
t <- DLap(eps/2, 5);
for i in 1..3 do
  r <- DLap(eps/4, q[i]);
  if r >= t then out[i] <- top; exit else out[i] <- bot end
end
"""
MANY = [MAXIMUM.replace("0..4", "0..9"), MAXIMUM.replace("0..4", "0..9").replace("real", "int").replace("Lap", "DLap")]


@pytest.mark.parametrize("text", [*MANY, SPARSE, SPARSE.replace(" int", " real").replace("DLap", "Lap")])
def test_shifts_of_noises_answer_for_many_pairs_before_any_is_measured(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 952 pairs: proofs, refutations and constants that would take a minute when each input is measured."""
    question = question_about(text, "linf:1", "all")
    monkeypatch.setattr(PrivacyQuestion, "table", lambda *_: pytest.fail("inputs are measured one by one"))
    assert len(question.pairs) == 20_952  # type: ignore[arg-type]
    report = question.decide(read_claim(question.program, "eps", None, None))
    assert (report.verdict, report.pairs, report.obligations) == (PrivacyVerdict.PRIVATE, 20_952, 0)
    refuted = question.decide(read_claim(question.program, "7*eps/10", None, None)).counterexample
    assert refuted is not None
    assert all(0 <= Fraction(cell or -1) <= 9 for cell in [*refuted.input.values(), *refuted.adjacent.values()])
    found = question.constant(None)
    assert found.proved == found.refuted_below == (Fraction(3, 4) if "sparse" in text else 1)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 300))])
def test_shifts_first_and_every_pair_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random programs over finite inputs or grids of real ones have the same verdicts and constants by both ways.

    Each counterexample is at one of the pairs.
    """
    choose = random.Random(f"at once {seed}")
    kind = choose.choice(("real", "int"))
    text = mechanism(choose, kind)
    adjacent = choose.choice(("linf:1", "linf:2", "l1:2", "hamming:1", "hamming:2"))
    domain = choose.choice(("{0..3}", "{-1..1}", "{-2, 0, 1}", *(["{0, 1/2, 2}"] if kind == "real" else [])))
    inputs = None
    if kind == "real" and choose.random() < 0.3:
        inputs = choose.choice(("q = -1..1", "q = 0..2"))
    else:
        text = text.replace(f"input q[1..2] : {kind}", f"input q[1..2] : {domain}")
    budgets = [f"{Fraction(n, 8)}*eps" for n in (2, 4, 6, 9, 13)]
    answers = []
    for few in (10**9, 1):
        monkeypatch.setattr(check, "_MANY_PAIRS", few)
        question = question_about(text, adjacent, inputs)
        assert isinstance(question.pairs, Pairs)
        if few == 1:
            question.decide(read_claim(question.program, budgets[0], None, None))
        verdicts = []
        for budget, delta in [*((budget, None) for budget in budgets), (budgets[1], "1/20")]:
            question._table = None  # shifts are asked first, again
            report = question.decide(read_claim(question.program, budget, delta, None))
            verdicts.append(report.verdict)
            if report.counterexample is not None:
                named = question.program.inputs
                one, two = (
                    tuple([Fraction(point[name] or 0) for name in named])
                    for point in (report.counterexample.input, report.counterexample.adjacent)
                )
                assert (one, two) in {
                    (question.pairs.inputs[i], question.pairs.inputs[j]) for i, j in question.pairs.ordered
                }
                assert report.counterexample.probability[0] > report.counterexample.allowed[1]
        question._table = None
        found = question.constant(None)
        answers.append((verdicts, found.proved, found.refuted_below))
    (verdicts, proved, refuted), (others, other, below) = answers
    assert verdicts == others
    if proved == refuted or other == below:
        assert proved is None or other is None or abs(proved - other) <= Fraction(1, 64)
        assert proved is not None or refuted is not None or (other, below) == (None, None)


HALVES = """
program halves; input q[1..2] : {0..20}; output o : bool; var z, w : int;
z <- DLap(eps, 0); w <- DLap(eps, 0); o <- 2*z >= q[1] and 2*w >= q[2]
"""


def test_pairs_that_refute_are_adjacent() -> None:
    """Shifts of integers cost most where both inputs move, which no hamming:1 move does."""
    question = question_about(HALVES, "hamming:1", "all")
    report = question.decide(read_claim(question.program, "21*eps/2", None, None))
    assert report.verdict is PrivacyVerdict.PRIVATE
    found = question_about(HALVES, "hamming:1", "all").constant(None)
    assert found.proved == found.refuted_below == 10


def test_certificates_of_what_shifts_prove_are_about_all_real_inputs() -> None:
    """821 356 pairs are not written down."""
    program = dipc.load("benchmarks/sparse.dip", m=7)
    question = PrivacyQuestion(
        program, "linf:1", "q = -1..1", Engine(program.measurer, program.limits, keep_proofs=True)
    )
    report = question.decide(read_claim(program, "eps", None, None))
    written = certify_privacy(question, report)
    assert len(written) < 100_000
    assert check_text(written).complete


def test_certificates_of_pairs_by_hamming_are_about_these() -> None:
    """The claim holds for the given inputs; for all real inputs, of which one may move arbitrarily far, it is false."""
    text = "program h; input q[1..2] : real; output o : bool; var z : real; z <- Lap(eps/8, q[1]); o <- z >= q[2]"
    program = dipc.load(text)
    question = PrivacyQuestion(
        program, "hamming:1", "q = 0..8", Engine(program.measurer, program.limits, keep_proofs=True)
    )
    report = question.decide(read_claim(program, "eps", None, None))
    assert (report.verdict, report.obligations) == (PrivacyVerdict.PRIVATE, 0)
    checked = check_text(certify_privacy(question, report))
    assert checked.complete
    assert "all pairs, adjacent by hamming:1, of 81 inputs" in checked.claim


@pytest.mark.parametrize("answer", ["r <- Lap(eps, q)", "r <- q + Lap(eps)"])
def test_a_finite_input_that_comes_out_as_it_is_refutes_every_budget(answer: str) -> None:
    """Looked at as an int it leaves the domain of the output: a mistake of a program that nobody wrote was shown."""
    text = f"program h; input q : real; input x : {{0..2}}; output o : {{0..2}}; output r : real; o <- x; {answer}"
    question = question_about(text, "linf:1", "all")
    report = question.decide(read_claim(question.program, "eps", None, None))
    assert report.verdict is PrivacyVerdict.NOT_PRIVATE
    assert question.constant(None).proved is None
