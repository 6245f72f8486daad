"""Privacy of uniform and truncated Laplace noise, some of whose outputs are impossible at the adjacent input.

Least deltas are compared with quadrature of the densities, which `tests.strategies.bounded` writes down anew.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dipc
from dipc.decide.engine import Engine
from dipc.measure.event import Noise
from dipc.noise.laplace import LAPLACE
from dipc.noise.truncated_laplace import TruncatedLaplace
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from tests.strategies.bounded import density, halves, noises

F = Fraction
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(30)


def _text(noise: Noise, moved: str) -> str:
    """The draw of a noise around its mean and `moved`."""
    law, mean = noise.law, f"{moved} + {noise.mean}" if noise.mean >= 0 else f"{moved} - {-noise.mean}"
    if law == LAPLACE:
        return f"Lap({noise.rate}*eps, {mean})"
    if isinstance(law, TruncatedLaplace):
        return f"TLap({noise.rate}*eps, {mean}, {law.low}, {law.high})"
    return f"Unif({law.least}, {law.greatest}, {mean})"


def _excess(here: Noise, there: Noise, factor: float, eps: float) -> float:
    """∫ max(0, p - factor·p'), where log p - log p' is linear between neighboring cuts."""
    (p, one), (q, two) = density(here, eps), density(there, eps)
    far = 60 / eps
    cuts = sorted({cut for cut in (*one, *two) if abs(cut) < inf} | {float(here.mean) - far, float(here.mean) + far})
    total = 0.0
    for a, b in pairwise(cuts):
        ends = [a, b]
        thirds = a + (b - a) / 3, b - (b - a) / 3
        if all(p(y) > 0 and q(y) > 0 for y in thirds):
            first, last = (log(p(y)) - log(q(y)) - log(factor) for y in thirds)
            if first != last:
                root = thirds[0] - first * (thirds[1] - thirds[0]) / (last - first)
                ends = sorted({a, b, *((root,) if a < root < b else ())})
        for low, high in pairwise(ends):
            # Long pieces are divided: an exponential may fall by many orders there.
            for start, end in pairwise(np.linspace(low, high, 9)):
                ys = (start + end) / 2 + (end - start) / 2 * _NODES
                values = [max(0.0, p(y) - factor * q(y)) for y in ys]
                total += float((end - start) / 2 * np.dot(_WEIGHTS, values))
    return total


def _question(text: str, adjacent: str, inputs: str | None) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits))


def _verdict(question: PrivacyQuestion, budget: str, delta: Fraction, eps: Fraction | str) -> PrivacyVerdict:
    return question.decide(read_claim(question.program, budget, str(delta), str(eps))).verdict


@given(noises(bounded=True), halves, st.sampled_from([F(1, 4), F(1), F(3)]), st.sampled_from([F(0), F(1, 2), F(3, 2)]))
def test_deltas_are_those_of_quadrature(noise: Noise, move: Fraction, eps: Fraction, budget: Fraction) -> None:
    """All real inputs: the worst pair moves the output as far as any does."""
    assume(move)
    question = _question(
        f"program p;\ninput q : real;\noutput y : real;\ny <- {_text(noise, f'{move}*q')};\n", "linf:1", "all"
    )
    there = Noise(noise.law, noise.rate, noise.mean + move)
    factor = exp(float(budget * eps))
    expected = max(_excess(noise, there, factor, float(eps)), _excess(there, noise, factor, float(eps)))
    low, high = question.delta_at(budget, eps, 20)
    assert float(low) == pytest.approx(expected, rel=1e-7, abs=1e-11)
    assert high - low < F(1, 10**12)
    near = F(1, 10**6)
    if expected > 1e-6:
        assert _verdict(question, f"{budget}*eps", low * (1 - near), eps) is PrivacyVerdict.NOT_PRIVATE
        assert _verdict(question, f"{budget}*eps", high * (1 + near), eps) is PrivacyVerdict.PRIVATE


@given(noises(bounded=True), noises(), st.sampled_from([F(1, 2), F(2)]))
def test_a_finite_output_beside(first: Noise, second: Noise, eps: Fraction) -> None:
    """A coin chooses the noise, and is shown: the excesses of both sides add up."""
    assume(second.law == LAPLACE or second.law.greatest is not None)
    text = (
        "program p;\ninput q : {0, 1};\noutput k : {1, 2};\noutput y : real;\nk <- choose { 1 : 1/3, 2 : 2/3 };\n"
        f"if k = 1 then y <- {_text(first, 'q')} else y <- {_text(second, '0')} end;\n"
    )
    there = Noise(first.law, first.rate, first.mean + 1)
    factor = exp(float(eps) / 2)
    expected = max(_excess(first, there, factor, float(eps)), _excess(there, first, factor, float(eps))) / 3
    question = _question(text, "hamming:1", None)
    low, high = question.delta_at(F(1, 2), eps, 20)
    assert float(low) == pytest.approx(expected, rel=1e-7, abs=1e-11)
    assert float(high) == pytest.approx(expected, rel=1e-7, abs=1e-11)


TRUNCATED = "program p;\ninput q : real;\noutput y : real;\ny <- TLap(eps, q, -10, 10);\n"
UNIFORM = "program p;\ninput q : real;\noutput y : real;\ny <- Unif(-10, 10, q);\n"


def test_the_delta_of_truncated_laplace_noise_for_every_eps() -> None:
    """The mass of an end: (e^eps - 1)/(2(e^{10·eps} - 1)), the known value, and no less for any eps."""
    question = _question(TRUNCATED, "linf:1", "all")
    known = "(exp(eps) - 1)/(2*(exp(10*eps) - 1))"
    claim = read_claim(question.program, "eps", known, None)
    assert question.decide(claim).verdict is PrivacyVerdict.PRIVATE
    less = read_claim(question.program, "eps", f"999999/1000000*{known}", None)
    assert question.decide(less).verdict is PrivacyVerdict.NOT_PRIVATE
    assert question.least_delta(claim).supremum == (F(1, 20), F(1, 20))


@pytest.mark.parametrize("text", [TRUNCATED, UNIFORM])
@pytest.mark.parametrize("inputs", ["all", "q = 0..1"])
def test_pure_privacy_fails(text: str, inputs: str) -> None:
    question = _question(text, "linf:1", inputs)
    for budget in ("eps", "100*eps"):
        report = question.decide(read_claim(question.program, budget, None, None))
        assert report.verdict is PrivacyVerdict.NOT_PRIVATE
        assert report.counterexample is not None
        assert report.counterexample.allowed == (0, 0)
        assert report.counterexample.probability[0] > 0
    constant = question.constant(None)
    assert constant.as_json()["constant"]["proved"] == "inf"
    assert question.largest_loss(F(1)).as_json()["loss"]["value"] == ["inf", "inf"]
    assert question.divergence(2, F(1)).value is None


def test_a_budget_that_no_number_reaches_is_infinite() -> None:
    """A twentieth of the outputs of uniform noise is impossible at the adjacent input."""
    question = _question(UNIFORM, "linf:1", "all")
    laws = question.laws()
    assert laws.budget(F(1, 21), F(1), 10) is None
    assert laws.budget(F(1, 20), F(1), 10) == (0, 0)


def test_two_uniform_outputs() -> None:
    """The boxes [0, 6]² and [1, 7]² have all but 11/36 in common; by l1 one output moves, or both move less."""
    text = "program p;\ninput q, r : real;\noutput x, y : real;\nx <- Unif(0, 6, q);\ny <- Unif(0, 6, r);\n"
    symmetric = text.replace("0, 6", "-3, 3")
    assert _question(symmetric, "linf:1", "all").delta_at(F(1), F(1), 20) == (F(11, 36), F(11, 36))
    assert _question(symmetric, "l1:1", "all").delta_at(F(1), F(1), 20) == (F(1, 6), F(1, 6))
    with pytest.raises((dipc.Undecided, dipc.DiagnosticError)):
        _question(text, "linf:1", "all").delta_at(F(1), F(1), 20)


def test_multiples_of_noise_have_other_ends() -> None:
    """2·TLap(2*eps, 0, -3, 3) has the rate of TLap(eps, 0, -3, 3), and is another law: by l1 no pair is the worst."""
    text = (
        "program p;\ninput q, r : real;\noutput x, y : real;\nvar n : real;\n"
        "x <- TLap(eps, q, -3, 3);\nn <- TLap(2*eps, r/2, -B, B);\ny <- 2*n;\n"
    )
    with pytest.raises((dipc.Undecided, dipc.DiagnosticError)):
        _question(text.replace("B", "3"), "l1:1", "all").delta_at(F(1), F(1), 20)
    low, high = _question(text.replace("B", "3/2"), "l1:1", "all").delta_at(F(1), F(1), 20)
    expected = (exp(-2.0) - exp(-3.0)) / (2 * (1 - exp(-3.0)))
    assert float(low) == pytest.approx(expected)
    assert float(high) == pytest.approx(expected)


@pytest.mark.parametrize("noise", ["Unif(0, 1)", "TLap(eps/2, 0, -3, 5)", "Unif(-1, 1) + TLap(eps, 0, 0, 2)"])
def test_noise_that_does_not_move_costs_nothing(noise: str) -> None:
    """The other noise is shifted alone."""
    head = "program p;\ninput q : real;\noutput y : bool;\nvar t, x : real;\n"
    question = _question(f"{head}t <- {noise};\nx <- Lap(eps, q);\ny <- x >= t;\n", "linf:1", "all")
    constant = question.constant(None)
    assert (constant.proved, constant.refuted_below) == (1, 1)
    assert question.decide(read_claim(question.program, "eps", None, None)).verdict is PrivacyVerdict.PRIVATE


GATE = "program p;\ninput q : real;\noutput y : bool;\nvar x : real;\nx <- {noise};\ny <- x >= 0;\n"


@pytest.mark.parametrize("noise", ["Unif(-1, 1, q)", "TLap(eps, q, -1, 1)", "Unif(-1, 1, q) + Unif(-1, 1)"])
def test_finite_outputs(noise: str) -> None:
    """Far away the answer is certain, so that no budget suffices for all inputs; at a pair its delta is known."""
    question = _question(GATE.format(noise=noise), "linf:1", "all")
    assert question.decide(read_claim(question.program, "eps", None, None)).verdict is PrivacyVerdict.NOT_PRIVATE
    at_pair = _question(GATE.format(noise="Unif(-1, 1, q)"), "linf:1", "q = 0..1")
    assert at_pair.delta_at(F(0), F(1), 10) == (F(1, 2), F(1, 2))


@pytest.mark.parametrize(
    "body",
    [
        "y <- Unif(-1, 1, q) + Unif(-1, 1)",
        "x <- Unif(-1, 1, q); if x >= 0 then y <- x else y <- Lap(eps, 0) end",
        "x <- Unif(-1, 1, q); if x >= 0 then y <- x else y <- 0 end",
    ],
)
def test_other_outputs_are_decided_or_refused(body: str) -> None:
    """Sums of noises have no densities here: intervals of outputs refute, and the least delta is refused."""
    text = f"program p;\ninput q : real;\noutput y : real;\nvar x : real;\n{body};\n"
    question = _question(text, "linf:1", "q = 0..1")
    report = question.decide(read_claim(question.program, "eps", "1/100", "1"))
    assert report.verdict is PrivacyVerdict.NOT_PRIVATE
    if "y <- 0" not in body:
        with pytest.raises(dipc.Undecided, match="sum of several"):
            question.delta_at(F(1), F(1), 10)


Refuses = Callable[[PrivacyQuestion], object]


@pytest.mark.parametrize("ask", [lambda q: q.rho(None), lambda q: q.single().rho("1")])
def test_there_is_no_rho(ask: Refuses) -> None:
    with pytest.raises(dipc.Undecided, match="only for sums of inputs and Gaussian noise"):
        ask(_question(TRUNCATED, "linf:1", "all"))
