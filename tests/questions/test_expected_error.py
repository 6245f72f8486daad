"""Expected errors in closed form: against numbers of others, integrals of tails, series, and simulation."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import Closed
from dipc.cli.main import run
from dipc.inverse.question import EpsSolution
from dipc.inverse.solve_constant import ConstantSolution
from dipc.measure import polyhedral
from dipc.measure.event import Event
from dipc.questions.expected_error import ErrorReport
from dipc.text.diagnostic import DiagnosticError
from tests.patience import examples

REGRET = Path("tests/golden/files/regret.dip")
LAPLACE = "program l; input q : real; output o : real; ideal { o <- q } o <- Lap(eps/2, q)"
LARGER = """program g; input q[1..2] : real; output v : real = 0; var a, b : real;
ideal { if q[1] >= q[2] then v <- q[1] else v <- q[2] end }
a <- Lap(eps, q[1]); b <- Lap(eps/2, q[2]); if a >= b then v <- a else v <- b end"""
CLAMPED = """program c; input q : real; output v : real = 0; var r : real;
ideal { if q >= 0 then v <- q end }
r <- Lap(eps, q); if r >= 0 then v <- r end"""
COUNT = "program d; input q : int; output o : int; ideal { o <- q } o <- DLap(eps/2, q)"


def middle(report: ErrorReport, row: int = 1) -> float:
    value = report.rows[row - 1].value
    assert value is not None
    assert value[1] - value[0] < Fraction(1, 10**12)
    return float(value[0])


@pytest.mark.parametrize(("scores", "regret"), [((3, 1, 0), "0.8531682928"), ((5, 4, 2, 1), "0.8562110366")])
def test_the_regret_of_noisy_max(scores: tuple[int, ...], regret: str) -> None:
    program = dipc.load(REGRET, m=len(scores))
    (row,) = dipc.expected_error(program, inputs=[{"q": scores}]).rows
    assert row.value is not None
    low, high = row.value
    assert abs(low - Fraction(regret)) < Fraction(1, 10**10)
    # It is the sum over the answers of how much less they have.
    chances = [program.probability({"q": scores}, {"out": at + 1}).enclosure(1)[0] for at in range(len(scores))]
    naive = sum(chance * (max(scores) - score) for chance, score in zip(chances, scores, strict=True))
    assert abs(naive - high) < Fraction(1, 10**20)


def test_laplace_and_discrete_laplace() -> None:
    assert str(dipc.expected_error(dipc.load(LAPLACE), inputs="q = 3").rows[0].error) == "2/eps"
    assert str(dipc.expected_error(dipc.load(LAPLACE), inputs="q = 3", moment=2).rows[0].error) == "8/eps**2"
    for moment in (1, 2):
        found = middle(dipc.expected_error(dipc.load(COUNT), inputs="q = 3", moment=moment, at=Fraction(3, 2)))
        z = np.exp(-0.75)
        series = sum(abs(n) ** moment * (1 - z) / (1 + z) * z ** abs(n) for n in range(-400, 401))
        assert found == pytest.approx(series, rel=1e-12)
    # Between integers the error is linear in the shift.
    scaled = dipc.load("program s; input q : int; output o : int; var n : int; n <- DLap(eps, q); o <- 2*n")
    off = [middle(dipc.expected_error(scaled, [{"q": 0, "o": shift}])) for shift in (0, 1, 2)]
    z = np.exp(-1)
    for shift, found in enumerate(off):
        series = sum(abs(2 * n - shift) * (1 - z) / (1 + z) * z ** abs(n) for n in range(-200, 201))
        assert found == pytest.approx(series, rel=1e-12)


@pytest.mark.parametrize("text", [LARGER, CLAMPED], ids=["larger", "clamped"])
@pytest.mark.parametrize("eps", [Fraction(1, 2), Fraction(2)])
def test_the_mean_is_the_integral_of_the_tails(text: str, eps: Fraction) -> None:
    """E|Z| = ∫ Pr[|Z| > g] dg and E Z² = ∫ 2g·Pr[|Z| > g] dg, with probabilities that know nothing of means."""
    program = dipc.load(text)
    values = {"q": (Fraction(1), Fraction(1, 2))} if text is LARGER else {"q": Fraction(1)}
    answer = {"v": Fraction(1)}

    def tail(gamma: float) -> float:
        radius = Fraction(gamma).limit_denominator(10**6)
        return 1 - float(program.probability(values, answer, radius).enclosure(eps, 15)[0])

    nodes, weights = np.polynomial.legendre.leggauss(24)
    for moment in (1, 2):
        total = 0.0
        for low, high in ((0, 0.5), (0.5, 1), (1, 3), (3, 8), (8, 20), (20, 60)):
            at = (high - low) / 2 * nodes + (high + low) / 2
            heights = np.array([tail(x) * (1 if moment == 1 else 2 * x) for x in at])
            total += float((high - low) / 2 * (weights * heights).sum())
        report = dipc.expected_error(program, [values | answer], moment=moment, at=eps)
        assert middle(report) == pytest.approx(total, rel=1e-5)


def test_against_simulation() -> None:
    chance = np.random.default_rng(7)
    a, b = 1 + chance.laplace(size=400_000), 0.5 + 2 * chance.laplace(size=400_000)
    drawn = np.maximum(a, b) - 1
    report = dipc.expected_error(dipc.load(LARGER), [{"q": (1, Fraction(1, 2)), "v": 1}])
    (row,) = report.rows
    assert row.bias is not None
    assert row.variance is not None
    assert middle(report) == pytest.approx(abs(drawn).mean(), rel=2e-2)
    assert float(row.bias.enclosure(1)[0]) == pytest.approx(drawn.mean(), rel=2e-2)
    assert float(row.variance.enclosure(1)[0]) == pytest.approx(drawn.var(), rel=3e-2)


@settings(max_examples=examples(10), deadline=None)
@given(
    rates=st.lists(st.integers(1, 4), min_size=2, max_size=3),
    shift=st.fractions(-2, 2, max_denominator=3),
    factor=st.sampled_from([1, 2, Fraction(-1, 2)]),
)
def test_sums_of_noises_against_mpmath(rates: list[int], shift: Fraction, factor: Fraction) -> None:
    """E|Z| by the characteristic function: (2/π)·∫ (1 - Re φ(t))/t² dt."""
    names = [f"r{n}" for n in range(len(rates))]
    drawn = "; ".join(f"{name} <- Lap({rate}*eps, 0)" for name, rate in zip(names, rates, strict=True))
    total = " + ".join([f"{factor}*{names[0]}", *names[1:]])
    text = f"program s; output o : real; var {', '.join(names)} : real; {drawn}; o <- {total}"
    value = middle(dipc.expected_error(dipc.load(text), [{"o": shift}]))
    scales = [abs(factor) / rates[0], *(Fraction(1, rate) for rate in rates[1:])]

    def integrand(t: mpmath.mpf) -> mpmath.mpf:
        phi = mpmath.cos(t * float(shift))
        for scale in scales:
            phi /= 1 + (t * float(scale)) ** 2
        return (1 - phi) / t**2

    ends = [1e-9, *(0.5 * n for n in range(1, 200)), 1000, 10_000, mpmath.inf]
    expected = 2 / mpmath.pi * mpmath.quad(integrand, ends[:-1]) + 2 / mpmath.pi / ends[-2]
    assert value == pytest.approx(float(expected), rel=1e-4)


def test_claims_are_decided_for_every_eps() -> None:
    program = dipc.load(REGRET)
    report = dipc.expected_error(program, inputs="q = 0..2")
    assert (report.claimed, report.verdict) == ("m*exp(-eps/8)", "accurate")
    factor = dipc.tighten(program, inputs="q = 0..2", error="m*exp(-eps/8)").factor
    assert factor is not None
    assert factor[1] < 1
    for scale, verdict in ((factor[1], "accurate"), (factor[0] * Fraction(999, 1000), "inaccurate")):
        scaled = dipc.expected_error(program, inputs="q = 0..2", error=f"({scale})*m*exp(-eps/8)")
        assert scaled.verdict == verdict
    refuted = next(row for row in scaled.rows if row.result is not None and row.result.counterexample is not None)
    assert refuted.error is not None
    assert refuted.result is not None
    assert refuted.result.counterexample is not None
    at = refuted.result.counterexample.eps
    assert refuted.error.enclosure(at)[0] > refuted.result.beta_form.enclosure(at, 30)[1]


def test_where_the_claim_holds_and_what_is_the_most() -> None:
    program = dipc.load(REGRET)
    least = dipc.solve(program, inputs="q = 0..2", wanted="eps", error="1/10", digits=8)
    assert isinstance(least, EpsSolution)
    assert least.least is not None
    end = least.least.low
    rows = dipc.expected_error(program, inputs="q = 0..2", at=end).rows
    assert max(float(row.value[0]) for row in rows if row.value is not None) == pytest.approx(0.1, rel=1e-6)


def test_the_worst_row() -> None:
    report = dipc.expected_error(dipc.load(REGRET), inputs="q = 0..1", at=1)
    worst = max(report.rows, key=lambda row: row.value or (Fraction(0), Fraction(0)))
    assert report.worst is not None
    assert report.rows[report.worst - 1].value == worst.value
    assert report.everywhere
    assert not dipc.expected_error(dipc.load(REGRET), inputs="q = 0..2").everywhere


@pytest.mark.parametrize("moment", [1, 2])
@pytest.mark.parametrize("text", [LAPLACE, CLAMPED, COUNT], ids=["noise", "clamped", "ints"])
def test_the_most_at_every_input(text: str, moment: int) -> None:
    """A bound for all inputs is what each of some inputs needs, or what they come near to far from the clamp."""
    program = dipc.load(text)
    everywhere = dipc.expected_error(program, inputs="all", moment=moment, at=1)
    exact = text is not CLAMPED
    assert all(row.exact is exact for row in everywhere.rows)
    bounds = [middle(everywhere, row.row) for row in everywhere.rows]
    assert len(set(bounds)) == 1
    found = [middle(dipc.expected_error(program, inputs=f"q = {q}", moment=moment, at=1)) for q in (-3, 0, 1, 5, 40)]
    if exact:
        assert found == pytest.approx([bounds[0]] * len(found), rel=1e-12)
    else:
        assert max(found) == pytest.approx(bounds[0], rel=1e-9)
        assert all(each <= bounds[0] * (1 + 1e-12) for each in found)
        assert min(found) < 0.99 * bounds[0]
    for factor, verdict in (("101/100", "accurate"), ("99/100", "inaccurate" if exact else "undecided")):
        claim = f"{factor}*({everywhere.rows[0].error})"
        assert dipc.expected_error(program, inputs="all", moment=moment, error=claim).verdict == verdict


def test_nothing_is_said_of_inputs_that_may_be_further_off() -> None:
    """A release of 2·r moves by more than its noise, and one of -r away from the answer."""
    for other in ("v <- 2*r", "v <- -r", "v <- r + 1"):
        text = CLAMPED.replace("then v <- r end", f"then {other} end")
        report = dipc.expected_error(dipc.load(text), inputs="all")
        assert any(
            row.error is None and "differs from the answer by at most its noise" in (row.reason or "")
            for row in report.rows
        )


def test_inverse_questions_about_errors_have_finitely_many_inputs() -> None:
    """The classes of every input are about probabilities: they said that no error is ever above 1."""
    laplace = dipc.load("program p; input x : real; output y : real; ideal { y <- x } y <- Lap(eps, x)")
    for wanted, claim in (("error", None), ("eps", "1/10"), ("alpha", "1/10")):
        with pytest.raises(DiagnosticError, match="E1805"):
            dipc.solve(laplace, wanted=wanted, error=claim, inputs="all")
    with pytest.raises(DiagnosticError, match="E1805"):
        dipc.tighten(laplace, error="1/10", inputs="all")
    (row,) = dipc.expected_error(laplace, inputs="all").rows
    assert row.error is not None
    assert row.error.expr == 1 / dipc.eps


@pytest.mark.parametrize(("claim", "values"), [("100/eps", "123"), ("2/eps", "12"), ("1/2", "")])
def test_constants_for_which_a_claim_about_the_error_holds(claim: str, values: str) -> None:
    """The error of noise of rate eps/k is k/eps; the claim was taken for one about beta."""
    scaled = dipc.load("program p; const k = 2; input x : real; output y : real; ideal { y <- x } y <- Lap(eps/k, x)")
    solution = dipc.solve(scaled, wanted="k in 1..3", error=claim, inputs="all")
    assert isinstance(solution, ConstantSolution)
    assert [str(value) for value in solution.holds] == list(values)
    assert solution.as_json()["claim"] == {"error": claim}


def test_what_has_no_expected_error() -> None:
    with pytest.raises(DiagnosticError, match=r"E1803.*one output that is a number.*one output, which is not a number"):
        dipc.expected_error(dipc.load("benchmarks/sparse.dip", m=1), inputs="q = 0..1")
    with pytest.raises(DiagnosticError) as refused:
        dipc.expected_error(dipc.load("benchmarks/laplace.dip", m=2), inputs="q = 0..1")
    assert refused.value.diagnostics[0].notes == ("choose one with `--output NAME`: `out[1]` and `out[2]` are numbers",)
    with pytest.raises(DiagnosticError, match="E1805"):
        dipc.expected_error(dipc.load(REGRET), inputs="all")
    gauss = dipc.load("program n; input q : real; output o : real; ideal { o <- q } o <- Gauss(1/eps, q)")
    (row,) = dipc.expected_error(gauss, inputs="q = 0").rows
    assert row.error is None
    assert "normal noise" in (row.reason or "") or "Gauss" in (row.reason or "")


def test_the_page_and_the_picture(tmp_path: Path) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "errors.svg"
    words = ["error", str(REGRET), "--inputs", "q = 0..1", "--html", str(page), "--plot", str(picture), "-q"]
    assert run(words) == 0
    assert "3·exp" not in page.read_text(encoding="utf-8")
    assert "eps*exp(-eps/2)/4" in page.read_text(encoding="utf-8")
    assert picture.stat().st_size > 1000


def test_what_was_known_on_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from dipc.questions import expected_error

    whole = expected_error._row

    def stopping(*arguments: object) -> object:
        if arguments[2].number == 3:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(expected_error, "_row", stopping)
    assert run(["error", str(REGRET), "--inputs", "q = 0..1"]) == 130
    assert "interrupted after 2 rows" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["error", str(REGRET), "--inputs", "q[1] = 3, q[2] = 1, q[3] = 0", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["worst"]) == ("dipc.error/1", 1)
    (row,) = data["rows"]
    assert row["input"] == {"q[1]": "3", "q[2]": "1", "q[3]": "0"}
    low, high = map(Fraction, row["value"])
    assert low <= Fraction("0.8531682928") + Fraction(1, 10**9)
    assert high - low < Fraction(1, 10**10)


#: Noises by their text, with their means and variances at eps = 1.
NOISES = {
    "Lap(eps, 0)": (0, 2),
    "Lap(eps/3, 0)": (0, 18),
    "Expo(eps/2)": (2, 4),
    "Unif(-1, 5, 0)": (2, 3),
}


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_the_second_moment_of_a_sum_of_noises(count: int) -> None:
    """Variances of independent noises add up, whatever their number."""
    chosen = [list(NOISES)[k % len(NOISES)] for k in range(count)]
    factors = [(-1) ** k * (k + 1) for k in range(count)]
    draws = " ".join(f"r[{k}] <- {noise};" for k, noise in enumerate(chosen, 1))
    total = " + ".join(f"({factor})*r[{k}]" for k, factor in enumerate(factors, 1))
    program = dipc.load(
        f"program p; input q : real; output o : real; var r[1..{count}] : real; ideal {{ o <- q }} {draws}"
        f" o <- q + {total} - 1/2"
    )
    bias = sum(factor * NOISES[noise][0] for factor, noise in zip(factors, chosen, strict=True)) - Fraction(1, 2)
    variance = sum(factor**2 * NOISES[noise][1] for factor, noise in zip(factors, chosen, strict=True))
    assert middle(dipc.expected_error(program, inputs="q = 3", moment=2, at=1)) == float(variance + bias**2)


def test_second_moments_are_measured_noise_by_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    measure = polyhedral.general_measure

    def counted(event: Event, limits: dipc.Limits) -> Closed:
        calls.append(event)
        return measure(event, limits)

    monkeypatch.setattr(polyhedral, "general_measure", counted)
    numbers = []
    for count in (6, 12):
        calls.clear()
        program = dipc.load(
            f"program p; const m = {count}; input q[1..m] : real; output o : real; var r : real; ideal {{ noiseless }}"
            " o <- 0; for i in 1..m do r <- Lap(eps, q[i]); o <- o + r end"
        )
        report = dipc.expected_error(program, inputs={"q": (0,) * count}, moment=2, at=1)
        assert middle(report) == 2 * count
        numbers.append(len(calls))
        assert all(len(event.noises) == 1 for event in calls)
    # Equal noises have one second moment and one mean, each an integral over either side of 0.
    assert 0 < numbers[0] == numbers[1] <= 8


#: Programs whose errors at every input are not known: a clamped input, a noise that the path chooses, a choice.
NOT_KNOWN = [
    "input x : real; output out : real; var y : real; ideal { out <- x } y <- min(max(x, 0), 10); out <- Lap(eps, y)",
    "input x : real; output out : real; ideal { out <- x } if x > 0 then out <- Lap(eps, x) else out <- 0 end",
    "input x : real; output out : real; var y : real; ideal { out <- x } y <- Lap(eps, x); out <- max(y, 0)",
]


@pytest.mark.parametrize("text", NOT_KNOWN)
@pytest.mark.parametrize("claim", ["0", "1/eps"])
def test_a_claim_about_errors_that_are_not_known_is_not_accurate(text: str, claim: str) -> None:
    program = dipc.load(f"program f;\n{text}")
    report = dipc.expected_error(program, inputs="all", error=claim)
    assert report.verdict in ("undecided", "inaccurate")
    assert not str(report).startswith("accurate")


def test_the_second_moment_of_a_sum_of_discrete_noises() -> None:
    program = dipc.load(
        "program p; input q : int; output o : int; var r, s : int; ideal { o <- q }"
        " r <- DLap(eps, 0); s <- DLap(eps/2, q); o <- s - 2*r + 3"
    )
    z, y = np.exp(-1.0), np.exp(-0.5)
    variance = 4 * 2 * z / (1 - z) ** 2 + 2 * y / (1 - y) ** 2
    found = middle(dipc.expected_error(program, inputs="q = 5", moment=2, at=1))
    assert abs(found - (variance + 9)) < 1e-9
    assert dipc.expected_error(program, inputs="q = 5", at=1).rows[0].value is None
