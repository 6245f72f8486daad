"""Finite random choices: closed forms by hand, and weights that are no distribution."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, product, total
from dipc.algebra.limits import Limits, Meter
from dipc.program.weights import ExponentialWeights
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from tests.patience import examples

R = ExpPoly.term(1, 0, -1)

RESPONSE = """
program response;
input secret : bool;
output answer : bool;
var honest : bool;
honest <- choose { true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps)) };
if honest then answer <- secret else answer <- not secret end
"""


def choosing(weights: str, domain: str = "{0..3}") -> str:
    return f"program p;\noutput y : {domain};\ny <- choose {{ {weights} }};\n"


def mistakes(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(text)
    return caught.value.diagnostics


def outcome(program: dipc.Program, values: dict[str, object], **output: object) -> Closed:
    return program.probability(values, output).value


# --- closed forms ----------------------------------------------------------------------------------


def test_randomized_response() -> None:
    program = dipc.load(RESPONSE)
    honest = program.probability({"secret": True}, {"answer": True})
    assert str(honest) == "1/(1 + exp(-eps))"
    assert sympy.simplify(honest.expr - sympy.exp(dipc.eps) / (1 + sympy.exp(dipc.eps))) == 0
    assert sympy.simplify(sympy.sympify(str(honest)) - sympy.sympify("exp(eps)/(1+exp(eps))")) == 0
    assert program.probability({"secret": False}, {"answer": True}).value == Quotient(R, 1 + R)
    low, high = honest.enclosure(1)
    known = Fraction("0.7310585786300048792511592418218362743651")
    assert known - Fraction(1, 10**29) < low <= high < known + Fraction(1, 10**29)


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("1/(1 + exp(eps))", "accurate"),  # with equality, everywhere
        ("1/(1 + exp(eps)) - exp(-50*eps)/10^9", "inaccurate"),
        ("exp(-eps)", "accurate"),
        ("exp(-eps) - exp(-2*eps) + exp(-3*eps)", "accurate"),
        ("exp(-eps) - exp(-2*eps)", "inaccurate"),
        # 1/(1 + e^-x) = 1/2 + x/4 - x^3/48 + ...: both claims are tied with the truth for eps to 0.
        ("1/2 - eps/4", "inaccurate"),
        ("1/2 - eps/4 + eps^3/48", "accurate"),
        ("(1 + exp(-eps))/(2 + 2*exp(eps))", "inaccurate"),
    ],
)
def test_verdicts_with_denominators(beta: str, verdict: str) -> None:
    program = dipc.load(RESPONSE)
    report = dipc.check(program, [{"secret": "true", "answer": "true"}], beta=beta)
    assert report.verdict == verdict
    found = report.rows[0].counterexample
    assert (found is None) == (verdict == "accurate")
    if found is not None:
        assert found.probability[1] < found.required[0]


def test_exponential_mechanism() -> None:
    program = dipc.load(
        "program m; input q : {0..4}; output y : {0..4}; y <- Exp(eps/2, v in {0..4} : -abs(v - q)*3/2);"
    )
    for q in range(5):
        weights = [ExpPoly.term(1, 0, -Fraction(3, 4) * abs(v - q)) for v in range(5)]
        whole = sum(weights, ExpPoly.ZERO)
        for v in range(5):
            assert outcome(program, {"q": q}, y=v) == Quotient(weights[v], whole)


@given(
    st.lists(st.fractions(min_value=-3, max_value=3, max_denominator=4), min_size=1, max_size=5),
    st.fractions(min_value=Fraction(1, 3), max_value=3, max_denominator=3),
)
def test_exponential_weights(scores: list[Fraction], rate: Fraction) -> None:
    mechanism = ExponentialWeights(rate, tuple(scores), Meter(Limits()))
    weights = [mechanism.weight(score) for score in scores]
    assert total(weights) == 1
    for score, weight in zip(scores, weights, strict=True):
        # Proportional to exp(rate·eps·score).
        assert weight * ExpPoly.term(1, 0, rate * scores[0]) == weights[0] * ExpPoly.term(1, 0, rate * score)
    if len(set(scores)) == 1:
        assert weights[0] == Fraction(1, len(scores))
        assert isinstance(weights[0], ExpPoly)


def test_equal_values_add_up_and_zero_weights_go() -> None:
    program = dipc.load(choosing("0 : 1/3, 1 : 1/3, 0 : 1/3, 2 : eps - eps"))
    assert [(dict(o.output), str(o.probability)) for o in program.outcomes({})] == [
        ({"y": "0"}, "2/3"),
        ({"y": "1"}, "1/3"),
    ]
    assert outcome(program, {}, y=2).is_zero()


def test_a_weight_of_zero_leads_nowhere() -> None:
    # The value would be outside the domain, but that cannot happen.
    text = """program p; output y : {0..1}; var a : {0..1} = 1; var b : bool;
        b <- choose { true : exp(-eps)*exp(eps) - 1, false : 1 };
        if b then y <- a + 1 else y <- 1 end"""
    program = dipc.load(text)
    assert str(program.probability({}, {"y": 1})) == "1"
    with pytest.raises(DiagnosticError, match="outside its domain"):
        dipc.load(text.replace("exp(-eps)*exp(eps) - 1, false : 1", "1/2, false : 1/2")).outcomes({})


def test_choices_and_noise_by_total_probability() -> None:
    """A choice that is forgotten before the output: weights of paths with different constraints must not mix."""
    body = "r <- Lap(eps, x); if b then y <- r >= 0 else y <- r >= k end"
    head = "program p; input x : real; input k : {0..2}; output y : bool; var b : bool; var r : real;"
    mixed = dipc.load(f"{head} b <- choose {{ true : 1/(1+eps), false : eps/(1+eps) }}; {body}")
    weight = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 1, 0))
    for x, k in ((0, 0), ("1/2", 1), (-1, 2), (3, 2)):
        values: dict[str, object] = {"x": x, "k": k}
        parts = [outcome(dipc.load(f"{head} b <- {b}; {body}"), values, y=True) for b in ("true", "false")]
        assert outcome(mixed, values, y=True) == weight * parts[0] + (1 - weight) * parts[1]
        assert total(o.probability.value for o in mixed.outcomes(values)) == 1


def test_comparisons_of_many_kinds_meet_choices() -> None:
    program = dipc.load(
        """program p; input x : real; input n : int; output y : {0..3} = 0; var b : bool; var r : real; var z : int;
        r <- Lap(eps, x); z <- DLap(eps, n);
        b <- choose { true : 1/3, false : 2/3 };
        if b then if r >= 0 then y <- 1 end else if z >= 0 then y <- 1 end end;
        b <- choose { true : 1/4, false : 3/4 };
        if b then if r >= 1 then y <- y + 1 end else if z != 1 then y <- y + 1 end end"""
    )
    found = {dict(o.output)["y"]: o.probability.value for o in program.outcomes({"x": 0, "n": 0})}
    assert total(found.values()) == 1
    half = Fraction(1, 2)
    real = [ExpPoly.constant(half), R * half]  # Pr[r >= 0], Pr[r >= 1]
    whole = [Quotient(ExpPoly.ONE, 1 + R), 1 - Quotient(R * (1 - R), 1 + R)]  # Pr[z >= 0], Pr[z != 1]
    joint_whole = Quotient(ExpPoly.ONE - R * (1 - R), 1 + R)  # Pr[z >= 0 and z != 1]
    both = total(
        [
            real[1] * Fraction(1, 12),
            product([real[0], whole[1]]) * Fraction(3, 12),
            product([whole[0], real[1]]) * Fraction(2, 12),
            joint_whole * Fraction(6, 12),
        ]
    )
    assert found["2"] == both


# --- what is no distribution -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "code", "message", "label"),
    [
        ("0 : 1/2, 1 : exp(-eps)", "E0313", "sum to 1/2 + exp(-eps)", "at eps = 1 the weights sum to 0.867879…"),
        ("0 : 1, 1 : eps - 1", "E0312", "negative at eps = 1/2", "this is -1/2"),
        ("0 : exp(eps)/2, 1 : 1 - exp(eps)/2", "E0312", "negative at eps = 1", "this is -0.35914…"),
        ("0 : 1/2, 1 : 1/3", "E0313", "the weights sum to 5/6", "at eps = 1 the weights sum to 5/6"),
        (
            "0 : exp(eps)/(1+exp(eps)), 1 : exp(-eps)",
            "E0313",
            "the weights sum to",
            "at eps = 1 the weights sum to 1.09",
        ),
        ("0 : 1/(eps - 1), 1 : 1", "E0608", "divides by something that is 0 at eps = 1", ""),
        ("0 : (eps - 1)/(eps - 1)", "E0608", "divides by something that is 0 at eps = 1", ""),
        (
            "0 : 1/(1/(exp(eps) - 2)), 1 : 3 - exp(eps)",
            "E0608",
            "divides by something that is 0 at eps = 0.693147…",
            "",
        ),
        ("0 : 1/(eps - eps), 1 : 1", "E0607", "division by zero", "this is 0"),
    ],
)
def test_weights_that_are_no_distribution(weights: str, code: str, message: str, label: str) -> None:
    found = mistakes(choosing(weights))[0]
    assert found.code == code
    assert message in found.message
    assert label in found.label
    assert found.excerpt is not None
    assert found.excerpt.line == 3
    assert found.notes or code == "E0607"


def test_weights_that_sum_to_one_at_one_eps_only() -> None:
    (found,) = mistakes(choosing("0 : eps^2/(1 + eps^2), 1 : 1/(1 + eps)"))
    assert "they sum to 1 only at eps = 1" in found.notes
    # Not at the eps of the note, of course.
    assert found.label == "at eps = 2 the weights sum to 17/15"


def test_all_mistakes_are_shown_once() -> None:
    text = """program p; output y[1..3] : {0..1};
    for i in 1..3 do y[i] <- choose { 0 : 1/2, 1 : 1/3 } end;
    y[1] <- choose { 0 : 2, 1 : -1 }"""
    assert [found.code for found in mistakes(text)] == ["E0313", "E0312"]


@pytest.mark.parametrize(
    "weights",
    [
        "0 : exp(eps)/(exp(eps) + 2), 1 : 1/(exp(eps) + 2), 2 : 1/(exp(eps) + 2)",
        "0 : (eps - 1)^2/(1 + eps^2), 1 : 2*eps/(1 + eps^2)",
        "0 : (exp(eps) - 2)^2/(exp(2*eps) + 4), 1 : 4*exp(eps)/(exp(2*eps) + 4)",
        "0 : 1 - exp(-eps/3), 1 : exp(-eps/3)",
        "0 : (exp(eps) - 1 - eps)/(exp(eps) - 1), 1 : eps/(exp(eps) - 1)",
        "0 : 1",
    ],
)
def test_distributions(weights: str) -> None:
    assert total(o.probability.value for o in dipc.load(choosing(weights)).outcomes({})) == 1


@settings(max_examples=examples(8), deadline=None)
@given(
    st.lists(
        st.tuples(st.fractions(min_value=Fraction(1, 9), max_value=5, max_denominator=9), st.integers(-3, 3)),
        min_size=1,
        max_size=4,
    ),
    st.fractions(min_value=Fraction(1, 10), max_value=3, max_denominator=10),
)
def test_positive_weights_over_their_sum_are_accepted_and_others_not(
    parts: list[tuple[Fraction, int]], stretch: Fraction
) -> None:
    terms = [f"{c}*exp({q}*eps)" for c, q in parts]
    whole = "(" + " + ".join(terms) + ")"
    arms = [f"{value} : {term}/{whole}" for value, term in enumerate(terms)]
    assert total(o.probability.value for o in dipc.load(choosing(", ".join(arms))).outcomes({})) == 1
    if stretch != 1:
        arms[-1] += f"*{stretch}"
        assert mistakes(choosing(", ".join(arms)))[0].code == "E0313"


def test_of_many_scores_only_the_weight_of_the_answer_is_computed() -> None:
    text = "program p; input q : {0..60}; output o : {0..60}; o <- Exp(eps, v in {0..60} : -abs(v - q))"
    limits = dipc.Limits(steps=10**6)
    (row,) = dipc.check(dipc.load(text), [{"q": 5, "o": 5}], beta="1/2", limits=limits).rows
    assert row.verdict is dipc.Verdict.INACCURATE


def test_many_scores_end_by_a_limit_with_a_name() -> None:
    text = "program p; input q : {0..60}; output o : bool; var v : {0..60}; v <- Exp(eps, w in {0..60} : -abs(w - q)); "
    program = dipc.load(text + "o <- v > 30")
    (row,) = dipc.check(program, [{"q": 5, "o": False}], beta="1/2", limits=dipc.Limits(steps=10**6)).rows
    assert row.verdict is dipc.Verdict.UNDECIDED
    assert row.reason is not None
    assert row.reason.endswith("(limit `steps`)")


def test_a_choice_that_is_wrong_for_several_values_is_one_mistake() -> None:
    text = "program p; input n : {0..3}; output y : {0, 1}; y <- choose { 0 : n, 1 : 1/2 }"
    assert [found.code for found in mistakes(text)] == ["E0313"]


def test_all_of_a_thousand_values() -> None:
    """A thousand probabilities share one denominator, which is computed and written once."""
    program = dipc.load(
        "program p; input q : {1..1000}; output y : {1..1000}; y <- Exp(eps/2, v in {1..1000} : -abs(v - q))"
    )
    found = program.outcomes({"q": 7})
    assert len(found) == 1000
    denominators = {quotient.denominator for o in found if isinstance(quotient := o.probability.value, Quotient)}
    assert len(denominators) == 1
    weights = [math.exp(-abs(v - 7) / 20) for v in range(1, 1001)]
    for outcome, weight in list(zip(found, weights, strict=True))[::37]:
        low, high = outcome.probability.value.enclosure(Fraction(1, 10))
        assert low - Fraction(1, 10**12) <= Fraction(weight / math.fsum(weights)) <= high + Fraction(1, 10**12)
    texts = [str(outcome.probability) for outcome in found]
    assert len({text[text.index("/(") :] for text in texts}) == 1


def test_equal_scores_are_one_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    """The denominator is computed once for each different set of scores, not anew at every input."""
    made: list[tuple[Fraction, ...]] = []
    create = ExponentialWeights.__init__

    def noted(self: ExponentialWeights, rate: Fraction, scores: tuple[Fraction, ...], meter: Meter) -> None:
        made.append(scores)
        create(self, rate, scores, meter)

    monkeypatch.setattr(ExponentialWeights, "__init__", noted)
    program = dipc.load(
        "program p; input a, b : {0..2}; output y : {0..4}; y <- Exp(eps, v in {0..4} : -abs(v - a - b))"
    )
    values = [outcome(program, {"a": a, "b": b}, y=2) for a in range(3) for b in range(3)]
    assert len(made) == 5
    assert values[2] == values[4] == values[6]


KEPT = (
    "program kept; input s[1..2] : {0..2}; output y[1..2] : bool; var top : {0..2}; %s top <- max(s[1], s[2]);"
    "for i in 1..2 do y[i] <- choose"
    " { true : exp(eps/2*(s[i] - top)), false : 1 - exp(eps/2*(s[i] - top)) } end"
)


def test_weights_at_values_that_never_occur_are_not_examined() -> None:
    """Compare with the weights e^((s - top)*eps/2) at eps = 2, where s > top would be no probability."""
    program = dipc.load(KEPT % "")
    for one in range(3):
        for two in range(3):
            probability = program.probability({"s[1]": one, "s[2]": two}, {"y[1]": True, "y[2]": True})
            low, high = probability.enclosure(Fraction(2))
            assert low <= Fraction(math.exp(-abs(one - two))) + Fraction(1, 10**9) <= high + Fraction(2, 10**9)
    reached = KEPT.replace("top <- max(s[1], s[2])", "top <- min(s[1], s[2])")
    assert {found.code for found in mistakes(reached % "")} == {"E0312"}


def test_a_choice_that_is_never_read_is_reached_all_the_same() -> None:
    text = (
        "program p; input n : {0, 1}; output y : bool; var z : {0, 1}; z <- choose { 0 : 2*n, 1 : 1 - 2*n }; y <- true"
    )
    assert [found.code for found in mistakes(text)] == ["E0312"]


def test_weights_at_inputs_that_requires_excludes_are_not_examined() -> None:
    text = "program p; input n : {0..2}; output y : {0, 1}; %s y <- choose { 0 : 2 - n, 1 : n - 1 }"
    assert [found.code for found in mistakes(text % "")] == ["E0312"]
    program = dipc.load(text % "requires n >= 1;")
    assert outcome(program, {"n": 1}, y=0) == 1
    assert [found.code for found in mistakes(text % "requires n <= 1;")] == ["E0312"]
