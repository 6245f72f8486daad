"""Every real and int input, alpha = dd and every gamma: proved in parts, refuted at inputs of rows."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.parametric import Parametric
from dipc.certificate.data import sealed
from dipc.certificate.write import certify
from dipc.claims.conditions import halves, of_lesser
from dipc.claims.expression import ClaimExpression
from dipc.examples import text
from dipc.inverse.question import AlphaSolution
from dipc.questions.report import Report
from dipc.text.diagnostic import DiagnosticError
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected

F = Fraction

RELEASE = """
program release;
input q : real;
output out : {0, 1};
output val : real = 0;
var r : real;
var b : {0, 1};
metric { apart: q >= 0 and q' >= 0 and q != q'; }
ideal { if q >= 0 then out <- 1; val <- q else out <- 0 end }
"""
APART = RELEASE + "r <- Lap(eps/2, q); if r >= 0 then out <- 1; val <- Lap(eps, q) else out <- 0 end"
SHARED = RELEASE + "r <- Lap(eps, q); if r >= 0 then out <- 1; val <- r else out <- 0 end"
COIN = RELEASE + (
    "r <- Lap(eps/2, q); if r >= 0 then out <- 1; b <- choose { 0 : 1/2, 1 : 1/2 };"
    " if b = 0 then val <- Lap(eps, q) else val <- Lap(2*eps, q) end else out <- 0 end"
)
SHIFTED = RELEASE + "r <- Lap(eps/2, q); if r >= 0 then out <- 1; val <- q + 1 else out <- 0 end"
INTS = APART.replace("real", "int").replace("Lap", "DLap")
DISCRETE = (
    APART.replace("apart: q >= 0 and q' >= 0 and q != q';", "input: discrete;")
    .replace("else out <- 0 end }", "else out <- 0; val <- q end }")
    .replace("else out <- 0 end", "else out <- 0; val <- Lap(eps, q) end")
)
#: What is released is near by either way: 0 where the input is no larger than gamma.
EITHER_WAY = """
program either_way;
input q : real;
output val : real = 0;
var r : real;
metric { apart: q >= 1 and q' >= 1 and q != q'; }
ideal { if q >= 1 then val <- q end }
r <- Lap(eps, q);
if r >= 1 then val <- r end
"""
#: The same, but what is released has a noise of its own.
EITHER_WAY_ANEW = EITHER_WAY.replace("val <- r", "val <- Lap(eps/2, q)")
EITHER_WAY_OF_INTS = EITHER_WAY.replace("real", "int").replace("Lap", "DLap")
NOISE = "program noise; input q : real; output val : real; ideal { val <- q } val <- Lap(eps, q)"


def report_on(source: str, beta: str, **options: object) -> Report:
    return dipc.check(dipc.load(source), inputs="all", alpha="dd", beta=beta, gamma="free", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("beta", ["exp(-gamma*eps)", "exp(-gamma*eps) + exp(-alpha*eps)/10"])
def test_where_dd_is_a_number_all_inputs_are_claimed(beta: str) -> None:
    # The metric is discrete: dd(u) = 1. The claim is about every alpha less than that, and not about alpha = 1.
    report = report_on(text("laplace"), f"2*({beta})")
    assert report.verdict is dipc.Verdict.ACCURATE
    assert not any(row.vacuous for row in report.rows)
    options = {"inputs": "all", "alpha": "dd", "beta": beta, "gamma": "free"}
    tightest = dipc.tighten(dipc.load(text("laplace")), **options)  # type: ignore[arg-type]
    assert tightest.factor == (2, 2)


@pytest.mark.parametrize(
    ("source", "beta", "verdict"),
    [
        (APART, "exp(-alpha*eps/2)/2 + exp(-gamma*eps)", "accurate"),
        (APART, "exp(-alpha*eps/2)/3 + exp(-gamma*eps)", "inaccurate"),
        (APART, "exp(-alpha*eps/2)/2 + exp(-gamma*eps)*9/10", "inaccurate"),
        (APART, "exp(-alpha*eps/2)/2 + exp(-2*gamma*eps)", "inaccurate"),
        (APART, "(exp(-alpha*eps/2) + exp(-gamma*eps))*(1 + exp(-eps))", "accurate"),
        (APART, "3*(1/(1 + exp(alpha*eps/2)) + exp(-gamma*eps))", "accurate"),
        (APART, "-(-1/(1 + exp(alpha*eps/2)) - exp(-gamma*eps))/(1/3)", "accurate"),
        (APART, "3*(min(1, exp(-alpha*eps/2)) + exp(-gamma*eps))", "accurate"),
        (APART, "(1/(1 + exp(alpha*eps/2)) + exp(-2*gamma*eps))/2", "inaccurate"),
        # At some inputs that may refute it beta is too long for a common divisor.
        (APART, "3*(exp(-alpha*eps/2)/(1 + exp(-eps)) + exp(-gamma*eps))", "undecided"),
        (APART, "min(1, exp(-alpha*eps/2) + exp(-gamma*eps))", "accurate"),
        (APART, "exp(-alpha*eps/2)/2 + exp(-gamma*eps) + exp(-alpha*eps - gamma*eps)", "accurate"),
        (APART, "exp(-alpha*eps/2)/2 + exp(-gamma*eps) - exp(-alpha*eps/2 - gamma*eps)/2", "undecided"),
        (APART, "3/2*exp(-min(alpha, gamma)*eps/2)", "accurate"),
        (APART, "exp(-min(dd, gamma)*eps)", "inaccurate"),
        (APART, "exp(-gamma*eps)", "inaccurate"),
        (APART, "exp(-alpha*eps)", "inaccurate"),
        (APART, "1/2 + exp(-gamma*eps)", "accurate"),
        (APART, "1/3 + exp(-gamma*eps)", "inaccurate"),
        (APART, "exp(-alpha*eps/2)/2 + 1", "accurate"),
        (SHARED, "exp(-alpha*eps)/2 + exp(-gamma*eps)", "accurate"),
        (SHARED, "exp(-alpha*eps)/3 + exp(-gamma*eps)", "inaccurate"),
        (COIN, "exp(-alpha*eps/2)/2 + exp(-gamma*eps)", "accurate"),
        (COIN, "exp(-alpha*eps/2)/2 + exp(-2*gamma*eps)", "inaccurate"),
        (SHIFTED, "exp(-alpha*eps/2)/2 + exp(-gamma*eps)", "inaccurate"),
        (DISCRETE, "exp(-alpha*eps) + exp(-gamma*eps/6)", "inaccurate"),
        (DISCRETE, "1/2 + exp(-gamma*eps)", "accurate"),
        (NOISE, "exp(-alpha*eps)/2 + exp(-gamma*eps)/2", "accurate"),
        (NOISE, "exp(-gamma*eps)/2", "inaccurate"),
        (NOISE, "exp(-min(alpha, gamma)*eps)", "accurate"),
        (INTS, "exp(-alpha*eps/2) + 2*exp(-gamma*eps)", "accurate"),
        (INTS, "exp(-alpha*eps/2) + exp(-2*gamma*eps)", "inaccurate"),
        (EITHER_WAY, "2*exp(-min(alpha, gamma)*eps/8)", "accurate"),
        (EITHER_WAY, "exp(-alpha*eps/8) + exp(-gamma*eps/8)", "accurate"),
        (EITHER_WAY, "exp(-alpha*eps)/2 + exp(-gamma*eps)", "accurate"),
        (EITHER_WAY, "exp(-alpha*eps)/2 + exp(-gamma*eps)/2", "inaccurate"),
        (EITHER_WAY_ANEW, "exp(-alpha*eps)/2 + exp(-gamma*eps/2)", "accurate"),
        (EITHER_WAY_ANEW, "exp(-alpha*eps)/2 + exp(-gamma*eps)", "inaccurate"),
        (EITHER_WAY_OF_INTS, "2*exp(-min(alpha, gamma)*eps/8)", "accurate"),
        (EITHER_WAY_OF_INTS, "exp(-alpha*eps/8) + exp(-gamma*eps/8)", "accurate"),
        (EITHER_WAY_OF_INTS, "2*exp(-alpha*eps/8) + 2*exp(-gamma*eps/8)", "accurate"),
        (EITHER_WAY_OF_INTS, "exp(-gamma*eps)", "inaccurate"),
    ],
)
def test_claims_about_both(source: str, beta: str, verdict: str) -> None:
    """A decided claim agrees with rows, and a refuted one fails at the row that it names."""
    report = report_on(source, beta)
    assert str(report.verdict) == verdict
    program = dipc.load(source)
    for row in report.rows:
        if str(row.verdict) == "inaccurate":
            again = dipc.check(program, inputs=f"q in {{{row.input['q']}}}", alpha="dd", beta=beta, gamma=F(row.gamma))
            assert str(again.verdict) == "inaccurate"
            assert (again.rows[0].alpha, again.rows[0].counterexample) == (row.alpha, row.counterexample)
    if verdict == "accurate":
        for q, gamma in itertools.product((-9, -1, 0, 1, 5), (F(0), F(1, 2), F(1), F(6))):
            one = dipc.check(program, inputs=f"q in {{{q}}}", alpha="dd", beta=beta, gamma=gamma)
            assert str(one.verdict) == "accurate", (q, gamma)


def test_gamma_as_small_as_one_likes() -> None:
    """The least gammas refute a claim whose beta is at least 1 everywhere else."""
    assert str(report_on(NOISE, "10000*gamma*eps", eps="[1, 2]").verdict) == "inaccurate"
    assert str(report_on(NOISE, "1 + 10000*gamma*eps", eps="[1, 2]").verdict) == "accurate"


def test_the_published_mechanism_with_what_each_part_needs() -> None:
    """Sparse's sixth, and the noise of the answer."""
    source = text("numeric_sparse")
    assert str(report_on(source, "2*m*c*exp(-alpha*eps/(9*c))/6 + c*exp(-gamma*eps/(9*c))").verdict) == "accurate"
    assert str(report_on(source, "(2*m + 1)*c*exp(-min(alpha, gamma)*eps/(9*c))").verdict) == "accurate"
    assert str(report_on(source, "2*m*c*exp(-alpha*eps/(9*c))/9 + c*exp(-gamma*eps/(9*c))").verdict) == "inaccurate"


def test_a_claim_that_says_nothing() -> None:
    for source in (APART, NOISE):
        report = report_on(source, "1 + exp(-alpha*eps) + exp(-gamma*eps)")
        assert report.counts.vacuous == report.counts.above_one == len(report.rows)
    assert report_on(NOISE, "exp(-alpha*eps) + exp(-gamma*eps)").counts.vacuous == 1
    assert report_on(APART, "1/2 + exp(-gamma*eps)").counts.vacuous == 0


def test_intervals_and_mistakes() -> None:
    beta = "exp(-alpha*eps/2)/2 + exp(-gamma*eps)"
    assert str(report_on(APART, beta, eps="[1, 2]").verdict) == "accurate"
    assert str(report_on(APART, f"{beta} - 1/10", eps="[1, 2]").verdict) == "inaccurate"
    with pytest.raises(DiagnosticError) as caught:
        report_on(APART, "exp(-alpha*eps) + exp(-gamma)")
    assert caught.value.diagnostics[0].code == "E0603"
    with pytest.raises(DiagnosticError) as caught:
        dipc.solve(dipc.load(APART), wanted="beta", inputs="all", alpha="dd", gamma="free")
    assert caught.value.diagnostics[0].code == "E1201"


@pytest.mark.parametrize(
    ("beta", "expected"),
    [
        ("exp(-alpha*eps) + exp(-gamma*eps)", 1),
        ("2*(exp(-alpha*eps) + exp(-gamma*eps))", 1),
        ("exp(-alpha*eps)*(1 - exp(-gamma*eps)) + exp(-gamma*eps)", 0),
        ("exp(-alpha*eps) + exp(-gamma*eps) + 1/4", 2),
        ("exp(-alpha*eps) + exp(-gamma*eps) - exp(-eps)", 2),
        ("max(exp(-alpha*eps), 1/2) + exp(-gamma*eps)", 1),
        ("max(exp(-alpha*eps), exp(-gamma*eps))", 0),
    ],
)
def test_sums_of_functions_of_one_distance(beta: str, expected: int) -> None:
    """The two parts are at most beta together, and each is about one distance."""
    unknown = {name: Parametric.unknown(name.replace("dd", "alpha")) for name in ("alpha", "dd", "gamma")}
    whole = ClaimExpression.parse("beta", beta, "<beta>")
    found = halves(whole, unknown)
    assert len(found) == expected
    for way in found:
        parts = [ClaimExpression.parse("beta", text, "<beta>") for text in (way.alpha, way.gamma)]
        for alpha, gamma, eps in itertools.product((F(0), F(1, 3), F(4)), (F(0), F(1), F(5)), (F(1, 7), F(2))):
            at = {"alpha": Parametric.number(alpha), "gamma": Parametric.number(gamma)}
            values = [float(dipc_value(part, at, eps)) for part in (whole, *parts)]
            assert values[0] >= values[1] + values[2] - 1e-12
        assert "gamma" not in way.alpha
        assert "alpha" not in way.gamma


def dipc_value(of: ClaimExpression, names: dict[str, Parametric], eps: Fraction) -> object:
    import sympy

    from dipc.sign.piecewise import PiecewiseForm

    text = str(PiecewiseForm(of.value(names)))
    return sympy.sympify(text).subs(sympy.Symbol("eps"), sympy.Rational(eps.numerator, eps.denominator)).evalf(20)


def test_functions_of_the_lesser_distance() -> None:
    found = ClaimExpression.parse("beta", "2*exp(-min(γ, dd)*eps) + eps", "<beta>")
    assert of_lesser(found, "gamma") == "2*exp(-gamma*eps) + eps"
    for other in ("exp(-min(alpha, gamma)*eps) + alpha", "exp(-min(alpha, gamma, 1)*eps)", "exp(-min(alpha, dd)*eps)"):
        assert of_lesser(ClaimExpression.parse("beta", other, "<beta>"), "alpha") is None


def test_certificates_say_that_the_checker_does_not_follow() -> None:
    beta = "exp(-alpha*eps/2)/2 + exp(-gamma*eps)"
    proved = report_on(APART, beta, keep_proofs=True)
    written = certify(proved)
    checked = check_text(written)
    assert (checked.verdict, checked.complete) == ("accurate", False)
    # Evidence about one distance is none for both.
    single = dipc.check(dipc.load(APART), inputs="all", alpha="dd", beta=beta, gamma="alpha", keep_proofs=True)
    other = json.loads(certify(single))
    assert check_text(certify(single)).verdict == "accurate"
    other["claim"] = json.loads(written)["claim"]
    del other["digest"]
    with pytest.raises(Rejected):
        check_text(sealed(other))
    refuted = check_text(certify(report_on(APART, "exp(-alpha*eps/2)/3 + exp(-gamma*eps)", keep_proofs=True)))
    assert refuted.verdict == "inaccurate"


# --- one gamma: a beta with a summand of eps alone --------------------------------------------------

NUMERIC = """program numeric; const m = 2, T = 0; input q[1..m] : real; output first : {0..m} = 0;
output value : real = 0;
ideal { for i in 1..m do if q[i] >= T then first <- i; value <- q[i]; exit end end }
var rT, r : real;
rT <- Lap(eps/4, T);
for i in 1..m do r <- Lap(eps/8, q[i]); if r >= rT then first <- i; value <- Lap(eps/2, q[i]); exit end end"""
HISTOGRAM = """program histogram; const m = 2, T = 10; input h[1..m] : real; output out[1..m] : bool = false;
output count[1..m] : real = 0; var r : real;
ideal { for i in 1..m do if h[i] >= T then out[i] <- true; count[i] <- h[i] end end }
for i in 1..m do r <- Lap(eps/2, h[i]); if r >= T then out[i] <- true; count[i] <- Lap(eps/2, h[i]) end end"""
WHOLE = """program whole; input q : int; output out : bool = false; output n : int = 0; var z : int;
ideal { if q >= 0 then out <- true; n <- q end }
z <- DLap(eps, q); if z >= 0 then out <- true; n <- DLap(eps, q) end"""


@pytest.mark.parametrize(
    ("program", "gamma", "beta", "verdict"),
    [
        (NUMERIC, 5, "2*m*exp(-alpha*eps/16) + exp(-gamma*eps/2)", "accurate"),
        (NUMERIC, 5, "2*m*exp(-alpha*eps/16) + exp(-5*eps/2)", "accurate"),
        (NUMERIC, 5, "min(1, 2*m*exp(-alpha*eps/16) + exp(-5*eps/2))", "accurate"),
        (NUMERIC, 5, "2*m*exp(-alpha*eps/16) + exp(-gamma*eps/2)*99/100", "inaccurate"),
        (NUMERIC, 5, "exp(-alpha*eps/16)/2 + exp(-gamma*eps/2)", "inaccurate"),
        (HISTOGRAM, 4, "m*(exp(-alpha*eps/2)/2 + exp(-gamma*eps/2))", "accurate"),
        (HISTOGRAM, 4, "m*exp(-alpha*eps/2)/2 + exp(-gamma*eps/2)", "inaccurate"),
        (WHOLE, 3, "exp(-alpha*eps) + 2*exp(-gamma*eps)", "accurate"),
        (WHOLE, 3, "exp(-alpha*eps)/2 + exp(-6*eps)", "inaccurate"),
    ],
)
def test_one_gamma_and_every_distance(program: str, gamma: int, beta: str, verdict: str) -> None:
    """A claim proved in two parts holds at every input tried; a refuted one fails at one of them."""
    loaded = dipc.load(program)
    report = dipc.check(loaded, inputs="all", alpha="dd", gamma=gamma, beta=beta, keep_proofs=True)
    assert report.verdict == verdict
    if verdict == "accurate":
        inputs = "h = 5..13" if program is HISTOGRAM else "q = -4..4"
        single = dipc.check(loaded, inputs=inputs, alpha="dd", gamma=gamma, beta=beta)
        assert single.verdict == "accurate"
        accepted = check_text(certify(report))
        assert accepted.trusted  # the checker derives bounds of both parts together, and says so


# --- what `check` proves in parts, `tighten` and `solve` know ---------------------------------------


@pytest.mark.parametrize(
    ("program", "gamma", "beta", "exact"),
    [
        (APART, "free", "exp(-alpha*eps/2)/2 + exp(-gamma*eps)", True),
        (APART, "free", "exp(-alpha*eps/2)/3 + exp(-gamma*eps)", True),
        (COIN, "free", "exp(-alpha*eps/2)/2 + exp(-gamma*eps)/3", True),
        (NOISE, "free", "exp(-min(alpha, gamma)*eps)", True),
        (EITHER_WAY_ANEW, "free", "exp(-alpha*eps) + exp(-gamma*eps/2)", True),
        (APART, "free", "1/(1 + exp(alpha*eps/2)) + exp(-gamma*eps)", True),
        (HISTOGRAM, 4, "m*(exp(-alpha*eps/2)/2 + exp(-gamma*eps/2))", True),
        (NUMERIC, 5, "exp(-alpha*eps/16)/2 + exp(-gamma*eps/2)", False),
    ],
)
def test_the_least_factor(program: str, gamma: str | int, beta: str, exact: bool) -> None:
    """A factor a little above the upper bound is proved, and a factor a little below the lower bound is refuted.

    Rows agree, each by itself.
    """
    loaded = dipc.load(program)
    tightest = dipc.tighten(loaded, inputs="all", alpha="dd", gamma=gamma, beta=beta, digits=12)
    assert not tightest.unknown
    assert tightest.complete is exact
    assert tightest.factor is not None
    low, high = tightest.factor[0], (tightest.upper or tightest.factor)[1]

    def verdict(factor: Fraction) -> str:
        return str(dipc.check(loaded, inputs="all", alpha="dd", gamma=gamma, beta=f"({factor})*({beta})").verdict)

    assert verdict(high + F(1, 10**9)) == "accurate"
    assert not exact or verdict(low - F(1, 10**3)) == "inaccurate"
    inputs = "h = 8..12" if program is HISTOGRAM else "q = -3..3" if program is NUMERIC else "q in {-5, 0, 1, 2, 7}"
    for number in (F(0), F(1, 3), F(4)) if gamma == "free" else (F(gamma),):
        rows = dipc.check(loaded, inputs=inputs, alpha="dd", gamma=number, beta=f"({high})*({beta})")
        assert str(rows.verdict) == "accurate"


def test_the_least_alpha_of_a_claim_in_parts() -> None:
    """The first part holds from t = alpha*eps on, and the second for every gamma."""
    loaded = dipc.load(APART)
    beta = "exp(-alpha*eps/2)/4 + 1/50 + exp(-gamma*eps)"
    solution = dipc.solve(loaded, wanted="alpha", inputs="all", gamma="free", beta=beta, digits=8)
    # 1 - Pr[right] = exp(-t/2)/2 is exp(-t/2)/4 + 1/50 there.
    assert isinstance(solution, AlphaSolution)
    assert solution.product is not None
    high = solution.product[1]
    assert high is not None
    assert float(high) == pytest.approx(2 * math.log(25 / 2), abs=1e-6)
    for q, verdict in ((high, "accurate"), (high - F(1, 10), "inaccurate")):
        row = dipc.check(loaded, inputs=f"q in {{{q}}}", gamma=50, alpha="dd", eps="1", beta=beta)
        assert str(row.verdict) == verdict


def test_what_a_claim_in_parts_says() -> None:
    """Each part says something, and the claim nothing."""
    loaded = dipc.load(APART)
    tightest = dipc.tighten(
        loaded, inputs="all", alpha="dd", gamma="free", beta="1 + exp(-alpha*eps) + exp(-gamma*eps)"
    )
    assert [says.is_vacuous for says in tightest.scopes.values()] == [True]


def test_multiples_of_a_beta_that_is_at_most_one() -> None:
    """min(1, X) says what X says, but half of it more than half of X."""
    loaded, claim = dipc.load(NUMERIC), {"inputs": "all", "alpha": "dd", "gamma": 5}
    beta = "min(1, 2*m*exp(-alpha*eps/16) + exp(-5*eps/2))"
    assert dipc.check(loaded, beta=beta, **claim).verdict == "accurate"
    # Four times the sum would do with a quarter, but not a quarter of 1.
    for at_most_one in (beta, beta.replace("2*m", "8*m")):
        tightest = dipc.tighten(loaded, beta=at_most_one, **claim)
        assert (tightest.complete, tightest.factor) == (True, (1, 1))
        assert dipc.check(loaded, beta=f"9/10*{at_most_one}", **claim).verdict == "inaccurate"
    solution = dipc.solve(loaded, wanted="alpha", beta=beta, inputs="all", gamma=5)
    assert solution.status == "solved"


def test_a_beta_beyond_all_floats_requires_nothing_of_a_guess() -> None:
    report = dipc.check(dipc.load(APART), inputs="all", alpha="dd", gamma="free", beta="10^880*exp(-gamma*eps/2)")
    assert report.verdict is not dipc.Verdict.ACCURATE
