"""`while`: exact laws of where loops end, and loops that may not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, total
from dipc.algebra.limits import Limits, Undecided
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from tests.patience import at_most, examples

R = ExpPoly.term(1, 0, -1)


def law(program: dipc.Program, values: dict[str, object] | None = None, of: str = "y") -> dict[str | None, Closed]:
    found = {dict(o.output)[of]: o.probability.value for o in program.outcomes(values or {})}
    assert total(found.values()) == 1
    return found


def endless(text: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(text).outcomes({})
    return caught.value.diagnostics[0]


def test_resampling_gives_the_conditional_law() -> None:
    """Drawn by the exponential mechanism, kept with a chance that depends on the value: the law is proportional."""
    program = dipc.load(
        """program rejection; input q : {0..3}; output y : {0..3}; var kept : bool = false;
        while not kept do
          y <- Exp(eps, v in {0..3} : -abs(v - q));
          kept <- true;
          if y = 0 then kept <- choose { true : exp(-eps), false : 1 - exp(-eps) } end;
          if y = 1 then kept <- choose { true : 1/3, false : 2/3 } end
        end"""
    )
    for q in range(4):
        weights = [ExpPoly.term(1, 0, -abs(v - q)) for v in range(4)]
        weights[0], weights[1] = weights[0] * R, weights[1] * Fraction(1, 3)
        whole = sum(weights, ExpPoly.ZERO)
        assert law(program, {"q": q}) == {str(v): Quotient(weights[v], whole) for v in range(4)}


def test_gamblers_ruin() -> None:
    program = dipc.load(
        """program walk; const n = 12; input x0 : {0..n}; output y : {0, 1}; var x : {0..n};
        x <- x0;
        while x > 0 and x < n do x <- choose { x - 1 : exp(-eps)/(1 + exp(-eps)), x + 1 : 1/(1 + exp(-eps)) } end;
        if x = 0 then y <- 0 else y <- 1 end"""
    )
    for start in (1, 5, 11):
        assert law(program, {"x0": start})["1"] == Quotient(1 - R**start, 1 - R**12)
    assert law(program, {"x0": 0}) == {"0": ExpPoly.ONE}


BODY = """y <- choose { 0 : exp(-eps)/2, 1 : 1/2, 2 : 1/2 - exp(-eps)/2 };
    if y = 0 then done <- true end;
    if y = 1 then done <- choose { true : eps/(1 + eps), false : 1/(1 + eps) } end;"""


@settings(max_examples=examples(5), deadline=None)
@given(st.integers(1, 6), st.fractions(min_value=Fraction(1, 4), max_value=4, max_denominator=4))
def test_a_loop_is_enclosed_by_its_unrolling(rounds: int, eps: Fraction) -> None:
    head = "program p; output y : {0..2} = 2; output done : bool = false; "
    loop = law(dipc.load(f"{head} while not done do {BODY} end"))
    unrolled = dipc.load(f"{head} for i in 1..{rounds} do if not done then {BODY} end end")
    left = unrolled.probability({}, {"done": False}).enclosure(eps)
    for y in ("0", "1"):
        low, high = unrolled.probability({}, {"done": True, "y": y}).enclosure(eps)
        exact = Quotient.convert(loop[y]).enclosure(eps)
        assert low <= exact[1]
        assert exact[0] <= high + left[1]
    assert "2" not in loop


def test_noise_is_remembered_in_a_loop() -> None:
    """A comparison in a loop branches once: how often it is asked again makes no difference."""
    program = dipc.load(
        """program p; input x : real; output y : {0..2} = 0; var r : real; var b, more : bool = true;
        r <- Lap(eps, x);
        while more do
          b <- r >= 0;
          if b then more <- choose { true : 1/2, false : 1/2 }
          else y <- choose { 1 : exp(-eps), 2 : 1 - exp(-eps) }; more <- false end
        end"""
    )
    half = Fraction(1, 2)
    assert law(program, {"x": 0}) == {"0": ExpPoly.constant(half), "1": R * half, "2": half - R * half}


def test_verdicts_about_loops() -> None:
    program = dipc.load(
        """program p; output y : {0, 1}; var b : bool = true;
        while b do
          y <- choose { 0 : exp(-eps)/2, 1 : 1 - exp(-eps)/2 };
          if y = 0 then b <- false else b <- choose { true : 1/2, false : 1/2 } end
        end"""
    )
    assert law(program)["0"] == Quotient(2 * R, 2 + R)
    rows = [{"y": 1}]
    assert dipc.check(program, rows, beta="2*exp(-eps)/(2 + exp(-eps))").verdict == "accurate"
    assert dipc.check(program, rows, beta="exp(-eps)").verdict == "accurate"
    report = dipc.check(program, rows, beta="9*exp(-eps)/10")
    assert report.verdict == "inaccurate"
    # 2/(2 + r) > 9/10 from r = 2/9 on.
    assert report.rows[0].failing[0].start.low < Fraction("1.5040774") < report.rows[0].failing[0].start.low + 1


# --- loops that may not end ------------------------------------------------------------------------

HALTING = """program p; output y : {{0..3}} = 3; var go : bool = true;
while go do
  y <- choose {{ 0 : {stop}, 3 : {go} }};
  if y < 3 then go <- false end
end"""


@pytest.mark.parametrize(
    ("stop", "go", "place"),
    [
        ("(eps - 1)^2/(1 + eps^2)", "2*eps/(1 + eps^2)", "at eps = 1"),
        ("(exp(eps) - 2)^2/(exp(2*eps) + 4)", "4*exp(eps)/(exp(2*eps) + 4)", "at eps = 0.693147…"),
    ],
)
def test_a_loop_that_may_not_end_at_one_eps(stop: str, go: str, place: str) -> None:
    found = endless(HALTING.format(stop=stop, go=go))
    assert found.code == "E0706"
    assert found.message == f"a `while` can go on forever {place}"
    assert found.label == f"this weight is 0 {place}"
    assert found.excerpt is not None
    assert (found.excerpt.line, found.excerpt.length) == (3, len(stop))
    assert [(label.excerpt.line, label.text) for label in found.secondary] == [(2, "the loop")]


def test_a_weight_that_is_zero_at_one_eps_does_no_harm_where_there_is_another_way_out() -> None:
    program = dipc.load(
        """program p; output y : {0..2} = 2;
        while y = 2 do
          y <- choose { 0 : (eps - 1)^2/(4 + 4*eps^2), 1 : (eps - 2)^2/(8 + 2*eps^2),
                        2 : 1 - (eps - 1)^2/(4 + 4*eps^2) - (eps - 2)^2/(8 + 2*eps^2) }
        end"""
    )
    a = Quotient(ExpPoly.from_terms([(2, 0, 1), (1, 0, -2), (0, 0, 1)]), ExpPoly.from_terms([(2, 0, 4), (0, 0, 4)]))
    b = Quotient(ExpPoly.from_terms([(2, 0, 1), (1, 0, -4), (0, 0, 4)]), ExpPoly.from_terms([(2, 0, 2), (0, 0, 8)]))
    assert law(program)["0"] == a.divide_by_positive(a + b)
    # Outside a loop a weight may well be 0 at some eps.
    assert law(dipc.load("program p; output y : {0, 1}; y <- choose { 0 : (eps-1)^2/(1+eps^2), 1 : 2*eps/(1+eps^2) }"))


def test_two_ways_out_that_vanish_together() -> None:
    share = "(exp(eps) - 2)^2/(2*exp(2*eps) + 8)"
    text = f"""program p; output y : {{0..2}} = 2;
    while y = 2 do
      y <- choose {{ 0 : {share}, 1 : {share}*exp(-eps), 2 : 1 - {share} - {share}*exp(-eps) }}
    end"""
    assert "0.693147…" in endless(text).message


@pytest.mark.parametrize(
    "text",
    [
        "program p; output y : {0, 1} = 0; while y = 0 do y <- 0 end",
        "program p; output y : {0, 1} = 0; while y = 0 do y <- choose { 0 : 1, 1 : exp(eps)*exp(-eps) - 1 } end",
    ],
)
def test_a_loop_that_never_ends(text: str) -> None:
    assert endless(text).code == "E0706"


# --- size ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_long_chain() -> None:
    program = dipc.load(
        """program count; const n = 400; output y : {0, 1}; var x : {0..n} = 200;
        while x > 0 and x < n do x <- choose { x - 1 : 1/(1 + exp(eps)), x + 1 : exp(eps)/(1 + exp(eps)) } end;
        if x = 0 then y <- 0 else y <- 1 end"""
    )
    with at_most(5_000_000):
        assert law(program)["1"] == Quotient(ExpPoly.ONE, 1 + R**200)


def test_limits_are_reasons() -> None:
    text = """program walk; output y : {0, 1}; var x : {0..60} = 30; var s : {-1, 1};
    while x > 0 and x < 60 do s <- Exp(eps, v in {-1, 1} : v*x/60); x <- x + s end;
    if x = 0 then y <- 0 else y <- 1 end"""
    few_steps = Limits(steps=10_000)
    few_states = Limits(states=20)
    for limits, name in ((few_steps, "steps"), (few_states, "states")):
        report = dipc.check(dipc.load(text), [{"y": 1}], beta="1/2", limits=limits)
        assert report.verdict == "undecided"
        assert name in str(report.rows[0].reason)
        with pytest.raises(Undecided):
            dipc.load(text).with_limits(limits).outcomes({})
    # The walk drifts to the right.
    assert dipc.check(dipc.load(text), [{"y": 1}], beta="1/2").verdict == "accurate"
