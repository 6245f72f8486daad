"""Inverse questions against answers that are known in closed form, and against checks on both sides of the answer."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.numbers import magnitude
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, GammaSolution, Solution, Status
from dipc.inverse.solve import solve
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from tests.patience import examples

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

LAPLACE = dipc.load("program laplace; input q : real; output out : real; out <- Lap(eps, q);")
GATE = dipc.load(
    "program gate; input count : real; output answer : {no, yes}; var noisy : real; noisy <- Lap(eps, count);"
    " if noisy >= 0 then answer <- yes else answer <- no end"
)
INTEGER = dipc.load("program geometric; input q : int; output out : int; out <- DLap(eps, q);")
PLAIN = dipc.load("program plain; input q : real; output out : real; out <- q;")
SPARSE = dipc.load(BENCHMARKS / "sparse.dip")
TABLE = BENCHMARKS / "sparse.csv"
HERE = [{"q": 0, "out": 0}]


def eps_of(program: dipc.Program = LAPLACE, table: object = HERE, **options: object) -> EpsSolution:
    found = solve(program, table, wanted="eps", **options)  # type: ignore[arg-type]
    assert isinstance(found, EpsSolution)
    return found


def gamma_of(program: dipc.Program = LAPLACE, table: object = HERE, **options: object) -> GammaSolution:
    found = solve(program, table, wanted="gamma", **options)  # type: ignore[arg-type]
    assert isinstance(found, GammaSolution)
    return found


def beta_of(program: dipc.Program = LAPLACE, table: object = HERE, **options: object) -> BetaSolution:
    found = solve(program, table, wanted="beta", **options)  # type: ignore[arg-type]
    assert isinstance(found, BetaSolution)
    return found


def alpha_of(program: dipc.Program = LAPLACE, table: object = HERE, **options: object) -> AlphaSolution:
    found = solve(program, table, wanted="alpha", **options)  # type: ignore[arg-type]
    assert isinstance(found, AlphaSolution)
    return found


def refused(wanted: str, program: dipc.Program = LAPLACE, table: object = HERE, **options: object) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        solve(program, table, wanted=wanted, **options)  # type: ignore[arg-type]
    (found,) = caught.value.diagnostics
    return found


def test_what_is_wanted_is_one_of_five() -> None:
    with pytest.raises(ValueError, match=r"eps, alpha, beta, gamma, error, a constant, or .*such as .*, not .x."):
        solve(LAPLACE, HERE, wanted="x")  # type: ignore[arg-type]


def contains(cell: tuple[Fraction, Fraction], value: object, digits: int) -> bool:
    """Whether the cell has the number in it, to so many digits and no fewer."""
    low, high = cell
    exact = mpmath.mpf(value)
    inside = mpmath.mpf(low.numerator) / low.denominator <= exact <= mpmath.mpf(high.numerator) / high.denominator
    return inside and high - low == Fraction(10) ** (magnitude(low) - digits + 1)


def spans(found: EpsSolution) -> list[str]:
    return [
        ("[" if span.start.included else "(")
        + f"{float(span.start.low):.6g}, "
        + ("inf" if span.end.high is None else f"{float(span.end.low):.6g}")
        + ("]" if span.end.included else ")")
        for span in found.holds
    ]


# --- eps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beta", "gamma", "digits"), [("1/10", 1, 30), ("1e-23", "3/7", 50), ("2/3", 5, 3)])
def test_the_least_eps_of_the_laplace_mechanism(beta: str, gamma: object, digits: int) -> None:
    found = eps_of(beta=beta, gamma=gamma, digits=digits)
    least = found.least
    assert least is not None
    assert least.high is not None
    with mpmath.workdps(70):
        exact = (
            -mpmath.log(mpmath.mpf(Fraction(beta).numerator) / Fraction(beta).denominator)
            / mpmath.mpf(
                Fraction(gamma).numerator  # type: ignore[arg-type]
            )
            * Fraction(gamma).denominator
        )  # type: ignore[arg-type]
        assert contains((least.low, least.high), exact, digits)
    assert least.included
    assert found.from_there_on
    assert found.rows == (1,)


def test_eps_where_it_holds_may_be_several_intervals() -> None:
    # exp(-eps) <= exp(-eps)*(1 + (eps - 1)(eps - 2)(eps - 3))
    found = eps_of(beta="exp(-eps)*(1 + (eps-1)*(eps-2)*(eps-3))", gamma=1)
    assert spans(found) == ["[1, 2]", "[3, inf)"]
    assert not found.from_there_on
    assert found.least is not None
    assert found.least.exact


def test_points_of_equality_belong_to_the_answer() -> None:
    touching = eps_of(beta="exp(-eps) - exp(-eps)*(eps - 1)^2*(eps - 2)^2", gamma=1)
    assert spans(touching) == ["[1, 1]", "[2, 2]"]
    assert touching.holds[0].is_point
    irrational = eps_of(beta="exp(-eps) - exp(-2*eps)*(exp(eps) - 2)^2", gamma=1, digits=12)
    assert spans(irrational) == ["[0.693147, 0.693147]"]
    assert not irrational.from_there_on
    never_below = eps_of(beta="exp(-eps) + exp(-2*eps)*(exp(eps) - 2)^2", gamma=1)
    assert never_below.everywhere


def test_rows_are_intersected_even_where_their_ends_are_the_same() -> None:
    program = dipc.load("program two; input q : real; output a, b : real; a <- Lap(eps, q); b <- Lap(2*eps, q);")
    table = [{"q": 0, "a": 0, "b": "", "beta": "1/2"}, {"q": 0, "a": "", "b": 0, "beta": "1/4"}]
    found = eps_of(program, table, gamma=1)
    assert found.rows == (1, 2)
    assert spans(found) == ["[0.693147, inf)"]
    # The second row's bound fails from log 2 on, so that exactly this one eps is left.
    table = [
        {"q": 0, "a": 0, "b": "", "beta": "1/2"},
        {"q": 0, "a": "", "b": 0, "beta": "exp(-2*eps)*(1 + exp(-eps) - 1/2)"},
    ]
    (point,) = eps_of(program, table, gamma=1).holds
    assert point.is_point
    table[1]["beta"] = "exp(-2*eps)*(1 + exp(-eps) - 3/5)"
    nothing = eps_of(program, table, gamma=1)
    assert (nothing.status, nothing.rows) == (Status.NONE, (1, 2))
    assert nothing.remark == "every row holds at some eps, but at no eps do all of them hold"


def test_no_eps_and_all_eps() -> None:
    none = eps_of(beta="exp(-eps)/2", gamma=1)
    assert (none.status, none.least, none.rows) == (Status.NONE, None, (1,))
    every = eps_of(beta="exp(-eps)", gamma=1)
    assert every.everywhere
    assert spans(every) == ["(0, inf)"]


def test_eps_is_asked_for_in_an_interval() -> None:
    assert eps_of(beta="1/10", gamma=1, eps="(0, 2)").status is Status.NONE
    found = eps_of(beta="1/10", gamma=1, eps="(0, 1], [2, 3), (4, 5)")
    assert spans(found) == ["[2.30259, 3)", "(4, 5)"]
    assert found.from_there_on
    later = eps_of(beta="1/10 + min(0, 3 - eps)", gamma=1, eps="[2, 7/2]")
    assert not later.from_there_on
    assert spans(eps_of(beta="1/10", gamma=1, eps="(5, 6)")) == ["(5, 6)"]


@given(
    st.lists(st.fractions(Fraction(1, 9), 5, max_denominator=9), min_size=1, max_size=4),
    st.sampled_from(["1", "-1"]),
    st.sampled_from(["exp(-eps)", "1/3", "exp(-2*eps)*eps"]),
)
def test_planted_sign_changes(roots: list[Fraction], sign: str, scale: str) -> None:
    """The claim is sign·scale·Π(eps - root) >= 0, so where it holds is known."""
    text = f"exp(-eps) + {sign}*({scale})*" + "*".join(f"(eps - {root})" for root in roots)
    found = eps_of(beta=text, gamma=1)
    grid = sorted({Fraction(k, 18) for k in range(1, 110)} | set(roots))
    for eps in grid:
        value = int(sign)
        for root in roots:
            value *= (eps > root) - (eps < root)
        inside = any(
            span.start.low < eps < (eps + 1 if span.end.high is None else span.end.low)
            or (eps == span.start.low and span.start.included)
            or (eps == span.end.low and span.end.included)
            for span in found.holds
        )
        assert inside == (value >= 0)


def test_undecided_rows_leave_eps_undecided() -> None:
    tight = dipc.load("program laplace; input q : real; output out : real; out <- Lap(eps, q);").with_limits(
        dipc.Limits(intervals=1)
    )
    found = eps_of(tight, beta="1/10 + eps*exp(-3*eps) - eps^2*exp(-4*eps)", gamma=1)
    assert found.status is Status.UNDECIDED
    assert "subdivisions" in found.remark


def test_an_interval_shorter_than_the_digits_is_no_point() -> None:
    """Pr = 1/(1 + (e^eps - 2)^2): right enough around ln 2, and only there without any tolerance."""
    program = dipc.load(
        "program p; input q : {0..1}; output o : {0..1};"
        " o <- choose { 0 : 1/(1 + (exp(eps) - 2)^2), 1 : (exp(eps) - 2)^2/(1 + (exp(eps) - 2)^2) };"
    )
    rows = [{"q": 0, "o": 0}]
    (span,) = eps_of(program, rows, beta="1/1000000", digits=2).holds
    assert not span.is_point
    assert contains((span.start.low, span.start.high or 0), mpmath.log(2 - mpmath.sqrt(mpmath.mpf(1) / 999999)), 4)
    assert contains((span.end.low, span.end.high or 0), mpmath.log(2 + mpmath.sqrt(mpmath.mpf(1) / 999999)), 4)
    (point,) = eps_of(program, rows, beta="0", digits=2).holds
    assert point.is_point
    assert contains((point.start.low, point.start.high or 0), mpmath.log(2), 2)


# --- gamma -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "eps", "digits"), [("1e-23", "50", 6), ("1e-23", "50", 30), ("1/7", "3/2", 40), ("99/100", "1000", 12)]
)
def test_the_exact_tolerance_of_the_laplace_mechanism(beta: str, eps: str, digits: int) -> None:
    found = gamma_of(beta=beta, eps=eps, digits=digits)
    assert found.value is not None
    with mpmath.workdps(60):
        exact = -mpmath.log(mpmath.mpf(Fraction(beta).numerator) / Fraction(beta).denominator)
        exact = exact * Fraction(eps).denominator / Fraction(eps).numerator
        assert contains(found.value, exact, digits)
    low, high = found.value
    assert str(dipc.check(LAPLACE, HERE, beta=beta, gamma=low, eps=f"[{eps}, {eps}]").verdict) == "inaccurate"
    assert str(dipc.check(LAPLACE, HERE, beta=beta, gamma=high, eps=f"[{eps}, {eps}]").verdict) == "accurate"


def test_the_tolerance_that_the_issue_names() -> None:
    assert gamma_of(beta="1e-23", eps="50", digits=6).value == (Fraction("1.05918"), Fraction("1.05919"))


def test_the_tolerance_for_all_eps_of_an_interval() -> None:
    found = gamma_of(beta="1/10", eps="[2, inf)", digits=20)
    assert found.value is not None
    with mpmath.workdps(60):
        assert contains(found.value, mpmath.log(10) / 2, 20)
    # exp(-gamma*eps) <= 2*exp(-eps) for all eps: not before 1, where it is never needed with equality.
    limit = gamma_of(beta="2*exp(-eps)", digits=8)
    assert limit.value == (Fraction("0.99999999"), 1)
    assert not limit.exact


def test_a_least_gamma_is_exact_where_that_is_proved() -> None:
    for beta, eps in [("exp(-eps)", None), ("exp(-eps)", "1/2"), ("min(1/2, exp(-eps))", "[1, 2]")]:
        found = gamma_of(beta=beta, eps=eps)
        assert found.exact
        assert found.value == (1, 1)
    # Equality at eps = 2 only: exp(-2) = exp(-eps)*exp(...) touches there.
    touching = gamma_of(beta="exp(-eps)*(1 + (eps - 2)^2)", digits=5)
    assert touching.value == (1, 1)
    zero = gamma_of(PLAIN, beta="0")
    assert (zero.value, zero.exact, zero.rows) == ((0, 0), True, ())


def test_a_least_gamma_at_which_nothing_grows_any_more_is_not_called_exact() -> None:
    # out is within 1 for certain from gamma = 1 on, by the clamp; before, Pr = 1 - exp(-eps*gamma).
    program = dipc.load(
        "program clamp; input q : real; output out : real; var r : real;"
        " r <- Lap(eps, q); if r - q > 1 then out <- q + 1 else if q - r > 1 then out <- q - 1 else out <- r end end"
    )
    found = gamma_of(program, beta="0", eps="2", digits=6)
    assert found.value is not None
    assert found.value[0] <= 1 <= found.value[1]


def test_integers_move_in_steps() -> None:
    # Pr[|noise| <= k] = 1 - 2*x^(k+1)/(1 + x), x = exp(-eps)
    table = [{"q": 2, "out": 2}]
    for k in range(4):
        beta = f"2*exp(-{k + 1}*eps)/(1 + exp(-eps))"
        found = gamma_of(INTEGER, table, beta=beta)
        assert (found.value, found.exact) == ((k, k), True)
    assert gamma_of(INTEGER, [{"q": 2, "out": 5}], beta="1/2 + exp(-eps)").value == (3, 3)
    assert gamma_of(INTEGER, table, beta="1e-9", eps="1").value == (21, 21)
    assert gamma_of(PLAIN, [{"q": 0, "out": "7/3"}, {"q": 1, "out": 0}], beta="1/2").value == (
        Fraction(7, 3),
        Fraction(7, 3),
    )


def test_no_gamma_is_proved() -> None:
    shrinking = gamma_of(beta="1/10")
    assert shrinking.status is Status.NONE
    assert (
        shrinking.remark
        == "as eps tends to 0, the probability of a right answer falls below 1 - beta, whatever gamma is"
    )
    spread = gamma_of(INTEGER, beta="min(1/2, exp(-eps))")
    assert (spread.status, spread.remark) == (Status.NONE, shrinking.remark)
    # The second output has no noise: from 5/2 on gamma decides nothing more about it.
    both = dipc.load("program p; input q : int; output out : int; output o : real; out <- DLap(eps, q); o <- 5/2;")
    assert gamma_of(both, [{"q": 0, "out": 0, "o": 0}], beta="1/10").status is Status.NONE
    assert gamma_of(both, [{"q": 0, "out": 0, "o": 0}], beta="1").value == (0, 0)
    assert gamma_of(both, [{"q": 0, "out": 0, "o": 0}], beta="1 - eps", eps="(0, 1/2]").value == (Fraction(5, 2),) * 2
    coin = dipc.load(
        "program coin; input q : real; domain d = {h, t}; output side : d; output out : real;"
        " choose_side <- 0; out <- Lap(eps, q);".replace("choose_side <- 0;", "side <- choose { h : 1/2, t : 1/2 };")
    )
    never = gamma_of(coin, [{"q": 0, "side": "h", "out": 0}], beta="1/3", eps="[1, 2]")
    assert never.status is Status.NONE
    assert never.remark.startswith("it fails even where real and int outputs may be off by any amount")
    enough = gamma_of(coin, [{"q": 0, "side": "h", "out": 0}], beta="2/3", eps="[1, 2]", digits=10)
    assert enough.value is not None
    with mpmath.workdps(30):
        assert contains(enough.value, mpmath.log(3), 10)
    unknown = gamma_of(coin, [{"q": 0, "side": "h", "out": 0}], beta="1/2", eps="[1, 2]")
    assert unknown.status is Status.UNDECIDED
    assert unknown.remark == "the least gamma, if there is one, is greater than 10^300"


def test_distances_of_the_metric_block_are_steps_too() -> None:
    program = dipc.load(BENCHMARKS / "noisy_max_gap.dip")
    found = gamma_of(program, None, inputs="q[1] = 0, q[2] = 1/3, q[3] = 2", beta="1/4", eps="1")
    assert (found.value, found.exact) == ((Fraction(5, 3), Fraction(5, 3)), True)
    options = {"inputs": "q[1] = 0, q[2] = 1/3, q[3] = 2", "beta": "1/4", "eps": "[1, 1]"}
    assert str(dipc.check(program, gamma="5/3", **options).verdict) == "accurate"
    assert str(dipc.check(program, gamma="1.666666", **options).verdict) == "inaccurate"
    assert gamma_of(program, None, inputs="q in {0, 1}", beta="0").value == (1, 1)
    none = gamma_of(program, None, inputs="q in {0, 1}", beta="-1/2")
    assert (none.status, none.remark) == (
        Status.NONE,
        "it fails even with gamma = 0, and no answer is further off than that",
    )


def test_the_worst_row_decides_gamma() -> None:
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=2)
    found = gamma_of(program, None, inputs="q in {-1, 1}", beta="1/2", eps="20", digits=8, alpha=0)
    assert found.value is not None
    low, high = found.value
    options = {"inputs": "q in {-1, 1}", "beta": "1/2", "eps": "[20, 20]", "alpha": 0}
    report = dipc.check(program, gamma=low, **options)
    assert [row.row for row in report.rows if str(row.verdict) == "inaccurate"] == list(found.rows)
    assert str(dipc.check(program, gamma=high, **options).verdict) == "accurate"


# --- beta ------------------------------------------------------------------------------------------


def test_the_least_beta_in_closed_form() -> None:
    found = beta_of(gamma=1)
    assert (found.beta, found.rows) == ("exp(-eps)", (1,))
    (piece,) = beta_of(gamma=1, eps="1/2", digits=40).pieces
    assert piece.value is not None
    with mpmath.workdps(60):
        assert contains(piece.value, mpmath.exp(-0.5), 40)
    (exact,) = beta_of(gamma=0, eps="1/2").pieces
    assert exact.value == (1, 1)


def test_rows_may_need_the_largest_beta_in_turn() -> None:
    program = dipc.load(
        "program turns; input x : {0..1}; output out : {0..1};"
        " if x = 0 then out <- choose { 0 : 1 - exp(-eps), 1 : exp(-eps) }"
        " else out <- choose { 0 : 1/3, 1 : 2/3 } end"
    )
    found = beta_of(program, [{"x": 0, "out": 0}, {"x": 1, "out": 1}])
    first, second = found.pieces
    assert (first.beta, first.rows, second.beta, second.rows) == ("exp(-eps)", (1,), "1/3", (2,))
    assert first.span.end == second.span.start
    assert first.span.end.high is not None
    with mpmath.workdps(60):
        assert contains((first.span.end.low, first.span.end.high), mpmath.log(3), 30)
    assert found.beta == "Max(exp(-eps), 1/3)"
    assert found.rows == (1, 2)


def test_the_least_beta_is_accurate_and_nothing_less_is() -> None:
    for alpha in ("0", "1/2"):
        found = beta_of(SPARSE, TABLE, alpha=alpha)
        assert found.status is Status.SOLVED
        beta = found.beta.replace("**", "^")
        assert str(dipc.check(SPARSE, TABLE, alpha=alpha, beta=beta).verdict) == "accurate"
        less = dipc.check(SPARSE, TABLE, alpha=alpha, beta=f"({beta})*(1 - 1e-9)")
        assert {row.row for row in less.rows if str(row.verdict) == "inaccurate"} >= set(found.rows)


# --- alpha -----------------------------------------------------------------------------------------

STEPS = [
    {"q": 0, "out": 0, "dd": 1},
    {"q": 0, "out": 1, "dd": 2},
    {"q": 0, "out": 0, "dd": "5/2"},
    {"q": 0, "out": 0, "dd": "inf"},
]


def test_the_least_alpha_leaves_the_failing_rows_out() -> None:
    found = alpha_of(table=STEPS, beta="1/2", gamma=1, eps="1")
    assert (found.value, found.claims, found.rows) == (2, 2, (2,))
    assert alpha_of(table=STEPS, beta="1/2 + exp(-2*eps)/2", gamma=1).value == 0
    none = alpha_of(table=STEPS, beta="exp(-eps)/2", gamma=1)
    assert (none.status, none.rows) == (Status.NONE, (4,))
    assert none.remark == "a row with dd = inf is never vacuous"
    empty = alpha_of(table=STEPS[:2], beta="1/10", gamma=1)
    assert (empty.status, empty.rows) == (Status.NONE, (2,))
    assert empty.remark == "every row is vacuous if alpha is 2 or more"


def test_a_beta_that_falls_with_alpha() -> None:
    # At alpha = 0 beta is 1; at 1 it is exp(-eps), too little for row 2; at 2 rows 3 and 4 have exp(-2*eps).
    assert alpha_of(table=STEPS, beta="exp(-alpha*eps)", gamma=1).value == 0
    rows = [{**row, "dd": dd} for row, dd in zip(STEPS, (1, 2, 3, 4), strict=True)]
    found = alpha_of(table=rows, beta="exp(-(alpha + 1/2)*eps)", gamma=1)
    assert (found.value, found.status) == (None, Status.NONE)
    found = alpha_of(table=rows, beta="exp(-(alpha + 1/2)*eps/3)", gamma=1)
    assert (found.value, found.rows, found.claims) == (2, (2,), 2)


@pytest.mark.parametrize(
    ("dds", "beta", "eps", "least"),
    [
        (("1/2", "2"), "1/3", "[1, inf)", Fraction(1, 2)),
        (("0", "5"), "1/3", "[1, inf)", Fraction(0)),
        (("1/2", "inf"), "2*exp(-alpha*eps/3)/5", "[1, inf)", Fraction(1, 2)),
    ],
)
def test_a_least_alpha_against_checks_with_other_alphas(
    dds: tuple[str, str], beta: str, eps: str, least: Fraction
) -> None:
    # The first count is at the threshold: its answer is wrong half of the time.
    table = [{"count": count, "answer": "yes", "dd": dd} for count, dd in zip((0, 5), dds, strict=True)]
    found = alpha_of(GATE, table, beta=beta, eps=eps)
    assert (found.value, found.from_there_on) == (least, "alpha" not in beta)

    def verdict(alpha: Fraction) -> str:
        return str(dipc.check(GATE, table, alpha=str(alpha), beta=beta, eps=eps).verdict)

    if least:
        assert verdict(least - Fraction(1, 8)) == "inaccurate"
    assert verdict(least + Fraction(1, 8)) == "accurate"
    # As beta falls, the second count fails for a large alpha: its answer is wrong with probability e^(-5*eps)/2.
    assert verdict(Fraction(20)) == ("accurate" if found.from_there_on else "inaccurate")


@settings(max_examples=examples(8))
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=6), st.integers(1, 4))
def test_the_least_alpha_against_trying_them_all(pairs: list[tuple[int, int]], rate: int) -> None:
    table = [{"q": 0, "out": off, "dd": dd} for dd, off in pairs]
    beta, gamma = f"exp(-(alpha + 1)*eps/{rate})", 2
    found = alpha_of(table=table, beta=beta, gamma=gamma, eps="3")

    def good(alpha: Fraction) -> bool:
        claimed = [{"q": 0, "out": off} for dd, off in pairs if dd > alpha]
        text = beta.replace("alpha", f"({alpha})")
        return str(dipc.check(LAPLACE, claimed, beta=text, gamma=gamma, eps="[3, 3]").verdict) == "accurate"

    tried = [alpha for k in range(4 * max(dd for dd, _ in pairs)) if good(alpha := Fraction(k, 4))]
    assert found.value == (tried[0] if tried else None)


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "options", "code", "message"),
    [
        ("gamma", {"gamma": 1, "beta": "1/2"}, "E1020", "gamma is given, but it is also the number to solve for"),
        ("beta", {"beta": "1/2"}, "E1020", "beta is given, but it is also the number to solve for"),
        ("alpha", {"alpha": 1, "beta": "1/2"}, "E1020", "alpha is given, but it is also the number to solve for"),
        ("gamma", {"beta": "exp(-gamma*eps)"}, "E1022", "beta depends on gamma, which is the unknown"),
        ("gamma", {"beta": "1/2", "alpha": "gamma"}, "E1022", "alpha depends on gamma, which is the unknown"),
        ("gamma", {}, "E0601", "no beta is given"),
        ("eps", {}, "E0601", "no beta is given"),
        ("alpha", {"beta": "1/2"}, "E1023", "row 1 has no distance to disagreement"),
        ("eps", {"beta": "1/2", "eps": "0"}, "E0623", "eps = 0 is not a privacy budget"),
    ],
)
def test_contradictory_and_missing_options(wanted: str, options: dict[str, object], code: str, message: str) -> None:
    found = refused(wanted, **options)
    assert (found.code, found.message) == (code, message)
    assert found.notes


def test_claims_that_alpha_is_not_found_for() -> None:
    found = refused("alpha", table=STEPS, beta="1/2", gamma="alpha")
    assert (found.code, found.message) == ("E1022", "gamma depends on alpha, which is the unknown")
    found = refused("alpha", table=STEPS, beta="alpha/10", gamma=1)
    assert (found.code, found.message) == ("E1024", "it could not be shown that beta never grows with alpha")
    table = [{**row, "alpha": 1} for row in STEPS]
    assert refused("alpha", table=table, beta="1/2").code == "E1021"
    assert refused("gamma", table=[{"q": 0, "out": 0, "gamma": 1}], beta="1/2").code == "E1021"
    assert refused("beta", table=[{"q": 0, "out": 0, "beta": "1"}]).code == "E1021"


def test_bad_parameters() -> None:
    with pytest.raises(ValueError, match="digits must be at least 1, not 0"):
        solve(LAPLACE, HERE, wanted="eps", beta="1/2", digits=0)
    with pytest.raises(ValueError, match="delta"):
        solve(LAPLACE, HERE, wanted="delta", beta="1/2")
    with pytest.raises(TypeError, match=r"must come from dipc\.load"):
        solve(7, HERE, wanted="eps")  # type: ignore[arg-type]


def test_the_json_of_every_kind() -> None:
    found: list[Solution] = [
        eps_of(beta="1/10", gamma=1, digits=5),
        gamma_of(beta="1/10", eps="1", digits=5),
        beta_of(gamma=1),
        alpha_of(table=STEPS, beta="1/2", gamma=1, eps="1"),
    ]
    common = {"schema": "dipc.solve/1", "program": "laplace", "status": "solved", "remark": None}
    start = {"eps": ["2.3025", "2.3026"], "included": True}
    zero = {"eps": ["0", "0"], "included": False}
    end = {"eps": ["inf", "inf"], "included": False}
    one = {"eps": ["1", "1"], "included": True}
    at_one = {"eps": [{"start": one, "end": one}]}
    assert [answer.as_json() for answer in found] == [
        {
            **common,
            "for": "eps",
            "eps": "(0, inf)",
            "least": start,
            "from_there_on": True,
            "holds": [{"start": start, "end": end}],
            "vacuous": False,
            "says_something": {"eps": [{"start": zero, "end": end}]},
            "rows": [1],
        },
        {
            **common,
            "for": "gamma",
            "eps": "[1, 1]",
            "least": ["2.3025", "2.3026"],
            "exact": False,
            "vacuous": False,
            "says_something": at_one,
            "rows": [1],
        },
        {
            **common,
            "for": "beta",
            "eps": "(0, inf)",
            "beta": "exp(-eps)",
            "pieces": [{"start": zero, "end": end, "beta": "exp(-eps)", "rows": [1]}],
            "vacuous": False,
            "says_something": {},
            "rows": [1],
        },
        {
            **common,
            "for": "alpha",
            "eps": "[1, 1]",
            "least": "2",
            "claims": 2,
            "vacuous": False,
            "says_something": at_one,
            "rows": [2],
        },
    ]


def test_where_the_claim_says_something_with_the_answer() -> None:
    rows = [{"q": 0, "out": 0, "dd": "1"}]
    by_gamma = gamma_of(table=[{"q": 0, "out": 0}], beta="2*exp(-eps)", eps="[1/2, 2]")
    by_alpha = alpha_of(table=rows, beta="2*exp(-eps)", gamma=1, eps="[1/2, 2]")
    for found in (by_gamma, by_alpha):
        assert found.status is Status.SOLVED
        (part,) = found.scopes["eps"].where
        assert float(part.start.low) == pytest.approx(0.6931471805599453)
        assert (part.end.low, part.end.included) == (2, True)


def test_rows_that_share_an_inequality_which_fails_at_every_eps() -> None:
    program = dipc.load(
        "program p; input q, z : real; output o : {0,1}; var r : real; "
        "ideal { if q >= 0 then o <- 1 else o <- 0 end } r <- Lap(eps, q); if r >= 0 then o <- 1 else o <- 0 end"
    )
    found = dipc.solve(
        program, wanted="eps", inputs="q = 1, z in {1,2}", alpha="dd", beta="exp(-3*alpha*eps)/2", gamma=0
    )
    assert (str(found.status), found.remark, found.rows) == ("none", "", (1, 2))
