"""Each theorem of section 6 of the paper: what one obligation says about many."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import dipc
from dipc import Verdict
from dipc.text.diagnostic import DiagnosticError
from tests.questions.real_programs import check_all

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

LAPLACE = "program laplace; input q : real; output out : real; out <- Lap(eps, q);"

ABOVE = """
program above;
const m = 2;
input q[1..m] : real;
output first : {0..m} = 0;
var rT, r : real;
ideal { for i in 1..m do if q[i] >= 0 then first <- i; exit end end }
rT <- Lap(eps/2, 0);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= rT then first <- i; exit end
end
"""

# Answers that are numbers: d' is |out - out'|, so gamma has ranges.
ROUNDED = """
program rounded;
input q : {0..3};
output out : {0..3} = 0;
var r : real;
metric { output: linf; }
ideal { out <- q }
r <- Lap(eps, q);
if r >= 5/2 then out <- 3 else
  if r >= 3/2 then out <- 2 else
    if r >= 1/2 then out <- 1 end
  end
end
"""


def codes(error: pytest.ExceptionInfo[DiagnosticError]) -> list[str]:
    return [found.code for found in error.value.diagnostics]


# --- Theorem 7: alpha and gamma fixed --------------------------------------------------------------


@pytest.mark.parametrize(("gamma", "beta", "verdict"), [
    ("1/2", "exp(-gamma*eps)", Verdict.ACCURATE),
    ("1/2", "exp(-gamma*eps)*99/100", Verdict.INACCURATE),
    ("3", "exp(-3*eps)", Verdict.ACCURATE),
    ("3", "exp(-4*eps)", Verdict.INACCURATE),
])  # fmt: skip
def test_theorem_7(gamma: str, beta: str, verdict: Verdict) -> None:
    """Pr[|out - q| <= gamma] is 1 - exp(-gamma·eps); the one obligation decides, and no more is said."""
    report = dipc.check(dipc.load(LAPLACE), [{"q": 2, "out": 2}], alpha=0, gamma=gamma, beta=beta)
    assert report.verdict is verdict
    assert report.theorem is None


def test_theorem_7_with_alpha_and_gamma_tied() -> None:
    """(alpha, beta, alpha)-accuracy for one alpha, as in Table 3: either of the two may be given by the other."""
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=2)
    tables = dipc.table(program, "q in {-2, 2}")
    beta = "(2*m + 1)*c*exp(-alpha*eps/(9*c))"
    one = dipc.check(program, tables, beta=beta, alpha="gamma", gamma=1)
    other = dipc.check(program, tables, beta=beta, alpha=1, gamma="alpha")
    both = dipc.check(program, tables, beta=beta, alpha=1, gamma=1)
    texts = [
        [(row.alpha, row.gamma, row.beta, row.probability) for row in report.rows] for report in (one, other, both)
    ]
    assert texts[0] == texts[1] == texts[2]
    assert {row.alpha for row in one.rows} == {"1"}


# --- Theorem 10: alpha = dd ------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [1, 4, 7, 20])
def test_theorem_10(kappa: int) -> None:
    """The verdict at alpha = dd(u) is the one for all alpha < dd(u)."""
    program = dipc.load(ABOVE)
    beta = f"2*m*exp(-alpha*eps/8)/{kappa}"
    report = dipc.check(program, inputs="q in {-2, -1, 1/2}", alpha="dd", beta=beta)
    assert report.theorem is not None
    assert report.theorem.name == "Theorem 10"
    for row in report.rows:
        dd = Fraction(row.alpha)
        found = []
        for part in (Fraction(1, 2), Fraction(9, 10), Fraction(10**9 - 1, 10**9)):
            single = [{**row.input, **row.output}]
            found.append(dipc.check(program, single, alpha=dd * part, beta=beta).verdict)
        if row.verdict is Verdict.ACCURATE:
            assert set(found) == {Verdict.ACCURATE}
        else:
            assert found[-1] is Verdict.INACCURATE


def test_theorem_10_where_dd_is_infinite() -> None:
    """beta's limit is what is asked for; min, max and quotients of what falls fall too."""
    table = (["q", "out", "dd"], [["0", "0", "inf"]])
    for beta in ("exp(-alpha*eps) + exp(-eps)", "max(exp(-alpha*eps), exp(-eps))", "exp(-eps)/(1 - exp(-alpha*eps)/2)"):
        try:
            report = dipc.check(dipc.load(LAPLACE), table, beta=beta, gamma=1)
        except DiagnosticError:
            assert "/(" in beta  # a quotient has a limit, but no closed form for it
            continue
        assert report.verdict is Verdict.ACCURATE
        assert report.theorem is not None
        assert report.theorem.name == "Theorem 10"


@pytest.mark.parametrize(("beta", "why"), [
    ("1 - exp(-alpha*eps)", "beta grows with alpha where alpha*eps = 1"),
    ("exp(-alpha*eps) + alpha*eps*exp(-2*eps)", "beta grows with alpha at alpha = 5, eps = 1"),
    ("max(exp(-alpha*eps), alpha*eps/100)", "it could not be shown that beta never grows with alpha"),
])  # fmt: skip
def test_theorem_10_needs_a_simple_region(beta: str, why: str) -> None:
    """The obligation at dd(u) is decided even without a simple region, and the report says that it decides no more."""
    table = [{"q": 0, "out": 0, "dd": 5}]
    report = dipc.check(dipc.load(LAPLACE), table, beta=beta, gamma=1)
    assert report.theorem is not None
    assert report.theorem.name is None
    assert report.theorem.decides == "alpha = dd(u)"
    assert report.theorem.failed is not None
    assert report.theorem.failed.name == "simple"
    assert report.theorem.failed.why == why
    if beta == "1 - exp(-alpha*eps)":
        # From eps = 1 on it holds at dd(u) = 5 and not at alpha = 1/10 < dd(u): the condition is not idle.
        verdicts = [
            dipc.check(dipc.load(LAPLACE), table, beta=beta, gamma=1, alpha=alpha, eps="[1, inf)").verdict
            for alpha in ("dd", "1/10")
        ]
        assert verdicts == [Verdict.ACCURATE, Verdict.INACCURATE]
    assert report.as_json()["theorem"]["conditions"][1] == {
        "condition": "simple", "holds": False, "why": report.theorem.failed.why,
    }  # fmt: skip


def test_theorem_10_needs_a_fixed_gamma() -> None:
    report = dipc.check(
        dipc.load(LAPLACE), [{"q": 0, "out": 0, "dd": 2}], alpha="dd", gamma="alpha", beta="exp(-alpha*eps)"
    )
    assert report.verdict is Verdict.ACCURATE
    assert report.theorem is not None
    assert report.theorem.failed is not None
    assert report.theorem.failed.name == "gamma is fixed"


# --- Theorem 12: gamma free ------------------------------------------------------------------------


@pytest.mark.parametrize("beta", ["3*exp(-gamma*eps/4)", "3*exp(-gamma*eps/2)/2", "1/2"])
def test_theorem_12(beta: str) -> None:
    """One obligation for each value of d' against the claim at many gammas, among them some just below those values."""
    program = dipc.load(BENCHMARKS / "noisy_max_gap.dip", m=3)
    grid = "q[1] in {-1, 0, 2}; q[2] = 0; q[3] in {-1, 2}"
    free = dipc.check(program, inputs=grid, alpha=0, gamma="free", beta=beta)
    assert free.theorem is not None
    assert free.theorem.name == "Theorem 12"
    gammas = [Fraction(0), *(Fraction(n, 2) for n in range(1, 8))]
    gammas += [Fraction(n) - Fraction(1, 10**9) for n in (1, 2, 3)]
    single = [dipc.check(program, inputs=grid, alpha=0, gamma=gamma, beta=beta) for gamma in gammas]
    for at, row in enumerate(free.rows):
        verdicts = {report.rows[at].verdict for report in single}
        assert (row.verdict is Verdict.ACCURATE) == (verdicts == {Verdict.ACCURATE})
        lows = [Fraction(found.gamma[1:].partition(",")[0]) for found in row.obligations]
        values = [Fraction(value) for value in row.input.values()]
        assert lows == sorted({max(values) - value for value in values})
        assert row.obligations[-1].verdict is Verdict.ACCURATE
        assert row.obligations[-1].probability == "1"


@pytest.mark.slow
def test_theorem_12_with_numbers_as_answers() -> None:
    """linf between finite answers; alpha = dd and gamma free together, against single values of both."""
    program = dipc.load(ROUNDED)
    for beta in ("exp(-gamma*eps)", "exp(-(alpha + gamma)*eps/2)", "exp(-(alpha + gamma)*eps/4)"):
        free = dipc.check(program, inputs="q in {0, 1, 3}", alpha="dd", gamma="free", beta=beta)
        assert free.theorem is not None
        assert free.theorem.decides == "every gamma and every alpha < dd(u)"
        for row in free.rows:
            single = [{**row.input, **row.output, "dd": 1}]
            verdicts = {
                dipc.check(program, single, alpha=alpha, gamma=gamma, beta=beta).verdict
                for alpha, gamma in product((0, Fraction(999999999, 10**9)), (0, Fraction(999999999, 10**9), 1, 2, 3))
            }
            assert (row.verdict is Verdict.ACCURATE) == (verdicts == {Verdict.ACCURATE})


def test_theorem_12_with_alpha_a_function_of_gamma() -> None:
    """alpha = gamma: the pairs (c, c) with c < dd(u) are claimed, and nothing where gamma is as large as dd(u)."""
    program = dipc.load(BENCHMARKS / "noisy_max_gap.dip", m=2)
    table = [{"q[1]": 0, "q[2]": 3, "out": 2, "dd": 2}, {"q[1]": 0, "q[2]": 1, "out": 2, "dd": 2}]
    report = dipc.check(program, table, alpha="gamma", gamma="free", beta="exp(-alpha*eps)")
    first, second = report.rows
    assert [(found.alpha, found.gamma, found.vacuous) for found in first.obligations] == [
        ("2", "[0, 3)", False), ("3", "[3, inf)", True),
    ]  # fmt: skip
    assert [(found.alpha, found.gamma, found.vacuous) for found in second.obligations] == [
        ("1", "[0, 1)", False), ("2", "[1, inf)", False),
    ]  # fmt: skip
    below = dipc.check(program, table[:1], alpha="1999/1000", gamma="1999/1000", beta="exp(-alpha*eps)")
    assert first.verdict is below.verdict is Verdict.INACCURATE


@pytest.mark.parametrize(("options", "code", "words"), [
    ({"beta": "1 - exp(-gamma*eps)", "alpha": 0}, "E1253", "not simple: beta grows with gamma"),
    ({"beta": "exp(-gamma*eps)", "alpha": "5 - gamma"}, "E1253", "not simple: beta grows"),
    ({"beta": "1/2", "alpha": "5 - gamma"}, "E1253", "not (alpha, gamma)-monotonic: alpha falls as gamma grows"),
    ({"beta": "exp(-gamma*eps)", "alpha": "gamma*gamma"}, "E1253", "not limit-definable"),
    ({"beta": "1/(2 - gamma)", "alpha": 0}, "E0609", ""),
])  # fmt: skip
def test_theorem_12_refuses_other_claims(options: dict[str, object], code: str, words: str) -> None:
    program = dipc.load(BENCHMARKS / "noisy_max_gap.dip", m=2)
    if options["alpha"] == "5 - gamma" and options["beta"] == "exp(-gamma*eps)":
        options = {**options, "beta": "exp(-alpha*eps)"}
    table = [{"q[1]": 0, "q[2]": 3, "out": 2, "dd": "inf"}]
    with pytest.raises(DiagnosticError) as error:
        dipc.check(program, table, gamma="free", **options)
    assert codes(error)[0] in {code, "E1253"}
    assert words in error.value.diagnostics[0].message


def test_theorem_12_needs_finite_outputs() -> None:
    with pytest.raises(DiagnosticError) as error:
        dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], alpha=0, gamma="free", beta="exp(-gamma*eps)")
    assert codes(error) == ["E1252"]
    assert "`out` has infinitely many values" in error.value.diagnostics[0].message


def test_gamma_may_be_free_in_the_claim_block() -> None:
    text = ABOVE.replace("var rT", "claim { alpha: dd; gamma: free; beta: 2*m*exp(-alpha*eps/8); } var rT")
    report = dipc.check(dipc.load(text), inputs="q = -1..1")
    assert report.theorem is not None
    assert report.theorem.name == "Theorem 12"
    assert {row.gamma for row in report.rows} == {"[0, inf)"}


# --- Corollary 13: all inputs of a finite program --------------------------------------------------


@pytest.mark.parametrize("kappa", [4, 8])
def test_corollary_13(kappa: int) -> None:
    """All inputs of a finite program, from classes and one by one."""
    text = (BENCHMARKS / "sparse.dip").read_text().replace("q[1..m] : real", "q[1..m] : {-1..1}")
    program = dipc.load(text, m=4, c=2)
    beta = f"2*m*c*exp(-alpha*eps/(8*c))/{kappa}"
    classes = dipc.check(program, beta=beta, classes=True)
    assert classes.theorem is not None
    assert classes.theorem.name == "Corollary 13"
    assert classes.inputs == 3**4 == sum(row.count or 0 for row in classes.rows)
    rows = dipc.check(program, beta=beta, classes=False)
    assert rows.inputs is None
    assert rows.theorem == classes.theorem
    some = dipc.check(program, inputs="q = -1..0", beta=beta, classes=True)
    assert some.theorem is not None
    assert some.theorem.name == "Theorem 10"
    assert len(rows.rows) == 3**4
    assert classes.verdict is rows.verdict
    for verdict in Verdict:
        assert sum(row.count or 0 for row in classes.select(verdict)) == sum(1 for _ in rows.select(verdict))
    by_input = {tuple(row.input.values()): row for row in rows.rows}
    for row in classes.rows:
        same = by_input[tuple(row.input.values())]
        assert (same.output, same.alpha, same.verdict, same.probability) == (
            row.output, row.alpha, row.verdict, row.probability,
        )  # fmt: skip


def test_corollary_13_with_gamma_free() -> None:
    """Theorem 12 at every input, from classes and one by one."""
    text = (BENCHMARKS / "noisy_max_gap.dip").read_text().replace("q[1..m] : real", "q[1..m] : {0..2}")
    program = dipc.load(text, m=2)
    for beta, verdict in (("m*exp(-gamma*eps/4)", Verdict.ACCURATE), ("m*exp(-gamma*eps/2)/2", Verdict.INACCURATE)):
        reports = [dipc.check(program, alpha=0, gamma="free", beta=beta, classes=classes) for classes in (True, False)]
        for report in reports:
            assert report.verdict is verdict
            assert report.theorem is not None
            assert report.theorem.name == "Corollary 13"
            assert report.theorem.decides == "every gamma, at all inputs"
        one, other = ({tuple(row.input.values()): row.verdict for row in report.rows} for report in reports)
        assert one == other
        assert len(one) == 9


# --- Theorem 3 and Corollary 4: all real inputs, one real input, without Schanuel's conjecture -------


@pytest.mark.parametrize(("kappa", "verdict"), [(6, Verdict.ACCURATE), (7, Verdict.INACCURATE)])
def test_theorem_3(kappa: int, verdict: Verdict) -> None:
    """Accuracy-at-all-inputs of Sparse: every real input, every alpha and every eps at once."""
    program = dipc.load(BENCHMARKS / "sparse.dip")
    beta = f"2*m*c*exp(-alpha*eps/(8*c))/{kappa}"
    report = check_all(program, beta=beta)
    assert report.verdict is verdict
    for row in report.select(Verdict.INACCURATE):
        assert row.counterexample is not None
        eps = row.counterexample.eps
        single = dipc.check(program, [{**row.input, **row.output, "dd": row.alpha}], beta=beta, eps=f"[{eps}, {eps}]")
        assert single.verdict is Verdict.INACCURATE


@pytest.mark.parametrize("kappa", [6, 7])
def test_corollary_4(kappa: int) -> None:
    """Accuracy-at-an-input for all alpha: at single real inputs, where Theorem 3 proves it everywhere or refutes it."""
    program = dipc.load(BENCHMARKS / "sparse.dip")
    beta = f"2*m*c*exp(-alpha*eps/(8*c))/{kappa}"
    report = dipc.check(program, inputs="q[1] in {-1/3, 5/7}; q[2] in {-2, 1/9}; q[3] in {-1, 0, 3}", beta=beta)
    assert report.theorem is not None
    assert report.theorem.name == "Theorem 10"
    assert (report.verdict is Verdict.ACCURATE) == (kappa == 6)
