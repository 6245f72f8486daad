"""(eps, delta)-privacy against all sets of outputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from tests.patience import examples
from tests.privacy import mechanisms
from tests.privacy.test_pure import EPS, linf_pairs


@pytest.mark.parametrize(
    ("delta", "eps", "is_vacuous"),
    [
        ("1", "(0, inf)", True),
        ("2", "(0, inf)", True),
        ("99/100", "(0, inf)", False),
        ("eps", "(0, inf)", False),  # it is at least 1 for some eps alone
        ("eps", "[1, 3]", True),
        ("eps", "[99/100, 3]", False),
        ("1/eps", "(0, 1]", True),
        ("max(1, eps)", "(0, inf)", True),
        ("min(1, eps)", "(0, inf)", False),
        ("2*log(2)", "(0, inf)", True),
        ("log(2)", "(0, inf)", False),
    ],
)
def test_a_delta_of_one_says_nothing(delta: str, eps: str, is_vacuous: bool) -> None:
    """Every program has it; the first line says so, and JSON."""
    program = dipc.load("program p; input b : bool; output o : bool; o <- b")
    report = dipc.check_privacy(program, "hamming:1", delta=delta, eps=eps)
    assert (str(report.verdict) == "private") is is_vacuous
    assert ("vacuously (delta ≥ 1)" in str(report)) is is_vacuous
    assert report.as_json().get("vacuous", False) is is_vacuous
    kept = dipc.load("program p; input b : bool; output o : bool; o <- choose { true : 1/2, false : 1/2 }")
    report = dipc.check_privacy(kept, "hamming:1", delta=delta, eps=eps)
    assert str(report.verdict) == "private"
    assert ("vacuously (delta ≥ 1)" in str(report)) is is_vacuous


def subsets(items: list[object]) -> list[tuple[object, ...]]:
    return list(chain.from_iterable(combinations(items, size) for size in range(len(items) + 1)))


@pytest.mark.parametrize("delta", ["1/100", "1/12", "1/8", "exp(-eps)/9", "eps*exp(-eps)/4 + 1/11", "1/3"])
@pytest.mark.parametrize("budget", ["0*eps", "eps/4", "eps/2"])
def test_sums_over_all_sets(budget: str, delta: str) -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget=budget, delta=delta)
    factor = report.claim.budget
    worst = {}
    for eps in EPS:
        scale = ExpPoly.term(1, 0, factor).enclosure(eps, 40)[0]
        for one, two in linf_pairs(["0", "1"], 2):
            first, second = (
                {
                    tuple(o.output.values()): o.probability.enclosure(eps, 40)[0]
                    for o in program.outcomes(dict(zip(program.inputs, point, strict=True)))
                }
                for point in (one, two)
            )
            for chosen in subsets(list({*first, *second})):
                excess = sum(first.get(a, 0) - scale * second.get(a, 0) for a in chosen)  # type: ignore[call-overload]
                worst[eps] = max(worst.get(eps, Fraction(0)), excess)
    allowed = {eps: report.claim.delta.enclosure(eps, 40)[0] for eps in EPS}
    if report["verdict"] == "private":
        assert all(worst[eps] <= allowed[eps] + Fraction(1, 10**30) for eps in EPS)
    else:
        assert report["verdict"] == "not private"
        found = report.counterexample
        assert found is not None
        one_sum = sum(program.probability(found.input, output).enclosure(found.eps, 40)[0] for output in found.outputs)
        two_sum = sum(
            program.probability(found.adjacent, output).enclosure(found.eps, 40)[0] for output in found.outputs
        )
        scale = ExpPoly.term(1, 0, factor).enclosure(found.eps, 40)[0]
        assert one_sum > scale * two_sum + report.claim.delta.enclosure(found.eps, 40)[0]
        assert "outputs" in report["counterexample"]


@pytest.mark.parametrize("text", [mechanisms.COUNT, mechanisms.SPARING])
@pytest.mark.parametrize("budget", ["0*eps", "eps/4"])
def test_sums_over_many_integers(text: str, budget: str) -> None:
    """The integers that are left out have less than 10^-12 of the probability."""
    program, eps = dipc.load(text), Fraction(5)
    asked = PrivacyQuestion(program, "linf:1", "x = 0..2", Engine(program.measurer, program.limits))
    claim = read_claim(program, budget, None, None)
    found = asked.least_delta(claim, eps).at
    assert found is not None
    scale = ExpPoly.term(1, 0, claim.budget).enclosure(eps, 30)[0]
    others = [{"b": b} for b in ("true", "false")] if "b" in program.outputs else [{}]
    answers = [{"y": o, **other} for o in range(-14, 15) for other in others]
    laws = [[program.probability({"x": x}, answer).enclosure(eps, 30)[0] for answer in answers] for x in range(3)]
    worst = max(
        sum(max(Fraction(0), p - scale * q) for p, q in zip(laws[one], laws[two], strict=True))
        for one, two in ((0, 1), (1, 0), (1, 2), (2, 1))
    )
    assert abs(worst - found[1][0]) < Fraction(1, 10**12)
    for delta, verdict in ((worst + Fraction(1, 1000), "private"), (worst - Fraction(1, 1000), "not private")):
        report = asked.decide(read_claim(program, budget, str(delta), "[5, 5]"))
        assert report["verdict"] == verdict


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("n <- DLap(eps, x); y <- 2*n", "`y` is not a single noise plus a number"),
        ("n <- DLap(eps, x); y <- DLap(eps, 0); y <- y + n", "`y` is not a single noise plus a number"),
        (
            "n <- DLap(eps, 0); y <- DLap(eps, x); if n > y then y <- 0 end",
            "the noise of `y` is compared with other noise",
        ),
        ("n <- DLap(eps, x); if n > 0 then y <- n else y <- DLap(eps/2, x) end", "`y` has noises of several rates"),
        ("n <- DLap(eps, x); if n > 0 then y <- n end", "`y` is not assigned on every path"),
    ],
)
def test_tails_that_are_not_geometric(statement: str, reason: str) -> None:
    program = dipc.load(f"program p; input x : int; output y : int; var n : int; {statement}")
    report = dipc.check_privacy(program, "linf:1", inputs="x = 0..1", delta="1/8")
    assert report["verdict"] == "undecided"
    assert report["reason"].startswith(reason)


def test_both_verdicts_occur() -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    for delta, verdict in (("1/3", "private"), ("1/100", "not private")):
        report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget="eps/4", delta=delta)
        assert report["verdict"] == verdict


@pytest.mark.parametrize(
    ("delta", "verdict"),
    [
        ("exp(-1)", "private"),
        ("exp(-2)", "not private"),
        ("exp(-2) + 7/24 - exp(-2)", "private"),  # no tie: the exponentials are gone
        ("exp(-1) - 3/40", "private"),
        ("exp(-1) - 19/250", "private"),
        ("exp(-1) - 77/1000", "not private"),
        ("(1 + exp(-3))*7/24", "private"),
        ("7/24/(1 + exp(-3))", "not private"),
    ],
)
def test_transcendental_deltas(delta: str, verdict: str) -> None:
    """The verdict is private from the supremum 7/24 = 0.291666… of the least delta of eps/4; e^-1 is 0.367879…."""
    program = dipc.load("benchmarks/privacy/svt1.dip")
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget="eps/4", delta=delta)
    assert report["verdict"] == verdict
    assert report["delta"] == delta or "- exp(-2)" in delta
    if verdict == "not private":
        assert report.counterexample is not None
        assert report.counterexample.probability[0] > report.counterexample.allowed[1]


def test_a_transcendental_delta_that_is_too_near() -> None:
    """7/24 itself is the least one; this one is less by an amount that no enclosure shows."""
    program = dipc.load("benchmarks/privacy/svt1.dip")
    near = "7/24 - exp(-500)"
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget="eps/4", delta=near)
    assert report["verdict"] == "undecided"
    assert "told apart from 7/24 - exp(-500)" in report["reason"]


@pytest.mark.parametrize(
    ("delta", "verdict"),
    [
        ("exp(-2)*eps + 1/4", "private"),
        ("exp(-1)*exp(-eps)", "not private"),
        ("exp(-1)*(1 + eps)", "private"),
        ("log(3)/3*(1 + eps)", "private"),
        ("exp(-1) + exp(-2)*eps", "private"),
        ("exp(exp(1))", "private"),
    ],
)
def test_transcendental_numbers_beside_eps(delta: str, verdict: str) -> None:
    """Numbers such as exp(-1) beside eps are enclosed, rounded to the side that makes delta less."""
    program = dipc.load("benchmarks/privacy/svt1.dip")
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget="eps/4", delta=delta)
    assert report["verdict"] == verdict


@pytest.mark.parametrize("delta", ["exp(-2) - 1", "log(-2)", "(exp(-1) - eps)*(exp(-2) - eps)", "exp(eps^2)"])
def test_deltas_that_are_none(delta: str) -> None:
    with pytest.raises(dipc.DiagnosticError):
        dipc.check_privacy(dipc.load(mechanisms.KARY), "hamming:1", delta=delta)


_PARTS = ("eps/8", "1/8", "exp(-eps)/2", "7/24", "eps*exp(-eps)", "1 - exp(-eps/8)", "3/10", "eps^2/20")


@given(st.sampled_from(_PARTS), st.sampled_from(_PARTS), st.sampled_from(["min", "max"]), st.sampled_from([0, 1, 2]))
@settings(max_examples=examples(40), deadline=None)
def test_deltas_in_pieces(one: str, two: str, select: str, budget: int) -> None:
    """Verdicts on a delta in pieces agree with the least delta alone, at eps of a grid and at the witness."""
    program = dipc.load("benchmarks/privacy/svt1.dip")
    asked = PrivacyQuestion(program, "linf:1", "q = -1..1", Engine(program.measurer, program.limits))
    report = asked.decide(read_claim(program, f"{budget}*eps/8", f"{select}({one}, {two})", None))
    least = asked.least_delta(read_claim(program, f"{budget}*eps/8", None, None))
    assert least.pieces is not None

    def excess(eps: Fraction) -> Fraction:
        needed = max(
            piece.delta.enclosure(eps, 30)[0]
            for piece in least.pieces or ()
            if piece.lower.low <= eps <= (piece.upper.high or eps)
        )
        ends = [read_claim(program, None, part, None).delta.enclosure(eps, 30)[0] for part in (one, two)]
        return needed - (min(ends) if select == "min" else max(ends))

    if report.verdict == "private":
        assert all(excess(eps) < Fraction(1, 10**20) for eps in (*EPS, Fraction(1, 50), Fraction(30)))
    else:
        assert report.verdict == "not private"
        assert report.counterexample is not None
        assert excess(report.counterexample.eps) > 0


def test_a_delta_in_pieces_is_not_negative() -> None:
    program = dipc.load("benchmarks/privacy/svt1.dip")
    with pytest.raises(dipc.DiagnosticError, match="delta is negative"):
        read_claim(program, None, "min(eps, 1)/3 - 1/10", None)
    assert not read_claim(program, None, "max(0, exp(-eps) - 1/2)", None).is_pure
