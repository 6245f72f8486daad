"""Finite inputs: `all` and no inputs at all are one question, with one answer, however many inputs there are."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from dipc.algebra.limits import LimitReached
from dipc.certificate.privacy import certify_privacy
from dipc.decide.engine import Engine
from dipc.program.program import within
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.verifier.document import check_text

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


def asked(text: str, adjacent: str, inputs: str | None, rows: int = 1_000_000) -> PrivacyQuestion:
    program = within(dipc.load(text), dipc.Limits(rows=rows))
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits, keep_proofs=True))


@pytest.mark.parametrize(("text", "adjacent"), ASKED)
def test_all_inputs_are_those_that_are_meant_anyway(text: str, adjacent: str) -> None:
    one, other = asked(text, adjacent, None), asked(text, adjacent, "all")
    assert one.asked == other.asked
    for budget, delta in (("eps", None), ("9*eps/10", None), ("eps/2", "1/100"), ("eps/2", "99/100")):
        claim = read_claim(one.program, budget, delta, "(0, 1]")
        first, second = one.decide(claim), other.decide(claim)
        assert first.as_json() == second.as_json()
    assert one.constant(None).as_json() == other.constant(None).as_json()


@pytest.mark.parametrize(("text", "adjacent"), [(EXPONENTIAL, "linf:1"), (COUNT, "linf:1"), (RESPONSE, "hamming:1")])
def test_losses_divergences_and_deltas_of_all_inputs(text: str, adjacent: str) -> None:
    one, other = asked(text, adjacent, None), asked(text, adjacent, "all")
    claim = read_claim(one.program, "eps/2", None, None)
    assert one.largest_loss(Fraction(1)).as_json() == other.largest_loss(Fraction(1)).as_json()
    assert one.divergence(2, Fraction(1)).as_json() == other.divergence(2, Fraction(1)).as_json()
    assert one.least_delta(claim).as_json() == other.least_delta(claim).as_json()


def test_the_exponential_mechanism_with_many_scores_is_private() -> None:
    """Shifts of noises say nothing of it: there is no noise."""
    question = asked(EXPONENTIAL, "linf:1", "all")
    assert question.decide(read_claim(question.program, "eps", None, None)).verdict is PrivacyVerdict.PRIVATE
    found = question.constant(None)
    assert found.proved == found.refuted_below == 1
    report = dipc.check_privacy(dipc.load(EXPONENTIAL), "linf:1", inputs="all")
    assert report.as_json() == dipc.check_privacy(dipc.load(EXPONENTIAL), "linf:1").as_json()


def test_certificates_of_all_inputs() -> None:
    one, other = asked(EXPONENTIAL, "linf:1", None), asked(EXPONENTIAL, "linf:1", "all")
    claim = read_claim(one.program, "eps", None, None)
    written = certify_privacy(other, other.decide(claim))
    assert written == certify_privacy(one, one.decide(claim))
    check_text(written)


@pytest.mark.parametrize("inputs", [None, "all"])
def test_too_many_pairs_are_looked_at_by_shifts(inputs: str | None) -> None:
    question = asked(TOTAL, "linf:1", inputs, rows=200)
    assert len(asked(TOTAL, "linf:1", inputs).pairs) == 840  # type: ignore[arg-type]
    report = question.decide(read_claim(question.program, "eps", None, None))
    assert report.verdict is PrivacyVerdict.PRIVATE
    assert report.pairs is None
    found = question.constant(None)
    assert found.proved == found.refuted_below == 1
    with pytest.raises(LimitReached, match="more than 200 pairs"):
        asked(EXPONENTIAL, "linf:1", inputs, rows=200).largest_loss(Fraction(1))
