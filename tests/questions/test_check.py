"""`check` end to end: verdicts, evidence, limits and interruption, and that remembering changes nothing."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Limits
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict, decide
from dipc.examples import text as examples_text
from dipc.options import Options
from dipc.questions import question
from dipc.questions.question import iter_rows
from dipc.questions.report import Interrupted, Report, RowResult
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import DiagnosticError
from dipc.verifier.document import check_text
from tests.patience import examples

LAPLACE = "program laplace; input q : real; output out : real; out <- Lap(eps, q);"

# A flag and a finite input choose among real computations; the guard `q > t` splits on inputs alone.
MIXED = """
program mixed;
domain answer = {low, high};
input q : real;
input t : real;
input n : {0..2};
input loud : bool;
output out : answer = low;
output val : real = 0;
var r, s : real;
r <- Lap(eps/2, q);
s <- Lap(eps, t + n);
if loud then
  if r >= s then out <- high end
else
  if q > t then out <- high end
end;
if n = 1 then val <- Lap(eps/3, q) end;
if n = 2 then val <- 2*q end
"""

ABOVE = """
program above;
const m = 3;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
var rT, r : real;
rT <- Lap(eps/2, 0);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= rT then out[i] <- top; exit else out[i] <- bot end
end
"""


def above_rows(m: int) -> list[dict[str, object]]:
    rows = []
    for q in itertools.product((-1, 0, 1), repeat=m):
        row: dict[str, object] = {f"q[{i}]": value for i, value in enumerate(q, 1)}
        done = False
        for i, value in enumerate(q, 1):
            row[f"out[{i}]"] = "none" if done else "top" if value >= 0 else "bot"
            done = done or value >= 0
        rows.append(row)
    return rows


# --- verdicts and evidence -------------------------------------------------------------------------


def test_an_accurate_report() -> None:
    report = dipc.check(dipc.load(LAPLACE), [{"q": -3, "out": -3}], beta="exp(-gamma*eps)", gamma="1/2")
    assert report.verdict == Verdict.ACCURATE == "accurate"
    (row,) = report.rows
    assert (row.row, row.verdict, row.vacuous, row.reason) == (1, "accurate", False, None)
    assert (row.input, row.output) == ({"q": "-3"}, {"out": "-3"})
    assert (row.alpha, row.beta, row.gamma) == ("0", "exp(-eps/2)", "1/2")
    assert row.probability == "1 - exp(-eps/2)"
    assert row.counterexample is None
    assert row.failing == ()


def test_an_inaccurate_report() -> None:
    program = dipc.load(LAPLACE)
    report = dipc.check(program, [{"q": 0, "out": 0}], beta="exp(-eps)/2", gamma=1)
    assert report.verdict is Verdict.INACCURATE
    (row,) = report.rows
    found = row.counterexample
    assert found is not None
    assert found.eps == 1
    assert row.closed_form is not None
    low, high = row.closed_form.enclosure(found.eps, digits=40)
    assert found.probability[0] <= low <= high <= found.probability[1]
    required = 1 - sympy.exp(-1) / 2
    assert _rational(found.required[0]) <= required <= _rational(found.required[1])
    assert found.probability[1] < found.required[0]
    assert found.margin[0] > 0
    (interval,) = row.failing
    assert (interval.start.low, interval.start.high, interval.start.included) == (0, 0, False)
    assert interval.end.infinite


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def test_the_failure_set_is_exact() -> None:
    """1 - exp(-eps) >= 3/4 fails below ln 4, and with (exp(-eps) - 1/2)^2 subtracted everywhere but at ln 2."""
    program = dipc.load(LAPLACE)
    (row,) = dipc.check(program, [{"q": 0, "out": 0}], beta="1/4", gamma=1, eps="(0, 5]").rows
    (interval,) = row.failing
    ln4 = sympy.log(4)
    assert _rational(interval.end.low) < ln4 < _rational(interval.end.high or Fraction(0))
    assert not interval.end.included
    touching = "exp(-eps) - (exp(-eps) - 1/2)^2"
    (row,) = dipc.check(program, [{"q": 0, "out": 0}], beta=touching, gamma=1, eps="[1/2, 5]").rows
    left, right = row.failing
    assert (left.start.low, left.start.included, left.end.included) == (Fraction(1, 2), True, False)
    assert (right.start.included, right.end.high, right.end.included) == (False, 5, True)
    assert left.end == right.start
    assert _rational(left.end.low) < sympy.log(2) < _rational(left.end.high or Fraction(0))


def test_enclosures_are_told_apart_however_near() -> None:
    beta = "exp(-eps) - 1e-40"
    (row,) = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], beta=beta, gamma=1, eps="[3, 3]").rows
    found = row.counterexample
    assert found is not None
    assert found.eps == 3
    assert found.probability[1] < found.required[0]
    assert found.margin[0] <= Fraction(1, 10**40) <= found.margin[1]
    shown = found.as_json()
    assert Fraction(shown["probability"][1]) < Fraction(shown["required"][0])


@pytest.mark.parametrize("eps", ["[1e4, inf)", "[1e6, inf)", "[1e12, 1e12]"])
def test_a_counterexample_too_long_to_be_written_is_a_limit(eps: str) -> None:
    for output, gamma, beta in ((0, 1, "0"), (5, 1, "1/2")):
        row = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": output}], beta=beta, gamma=gamma, eps=eps).rows[0]
        if row.counterexample is not None:
            assert beta == "1/2"
            assert eps == "[1e4, inf)"
            continue
        assert row.verdict is Verdict.UNDECIDED
        assert row.reason is not None
        assert "too many digits" in row.reason


def test_terms_that_are_nearly_zero_do_not_hide_a_counterexample() -> None:
    for beta in ("exp(-1e9*eps)", "1/(1 + exp(1e9*eps))", "1e-900*exp(-1e30*eps)"):
        row = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], beta=beta, gamma=1, eps="[1, 2]").rows[0]
        found = row.counterexample
        assert found is not None
        assert found.eps == 1
        assert found.probability[1] < found.required[0]


def test_tight_claims_are_accurate() -> None:
    program = dipc.load(LAPLACE)
    assert dipc.check(program, [{"q": 0, "out": 0}], beta="exp(-eps)", gamma=1).verdict == "accurate"
    assert dipc.check(program, [{"q": 0, "out": 0}], beta="exp(-eps) - 1e-99", gamma=1).verdict == "inaccurate"
    double = "exp(-eps) + (exp(eps) - 2)^2"
    assert dipc.check(program, [{"q": 0, "out": 0}], beta=double, gamma=1).verdict == "accurate"
    assert dipc.check(program, [{"q": 0, "out": 0}], beta=f"{double} - 1e-30", gamma=1).verdict == "inaccurate"


def test_a_beta_with_a_denominator() -> None:
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "out": 0}]
    # 1 - exp(-eps) >= eps/(1 + eps), and no more than that to the second order at 0
    assert dipc.check(program, rows, beta="1/(1 + eps)", gamma=1).verdict == "accurate"
    report = dipc.check(program, rows, beta="1/(1 + eps + eps^2)", gamma=1)
    assert report.verdict == "inaccurate"
    assert report.rows[0].beta == "1/(eps**2 + eps + 1)"


def test_intervals_decide() -> None:
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "out": 0}]
    assert dipc.check(program, rows, beta="1/4", gamma=1, eps="[2, inf)").verdict == "accurate"
    assert dipc.check(program, rows, beta="1/4", gamma=1, eps="[1, 1]").verdict == "inaccurate"
    report = dipc.check(program, rows, beta="1/4", gamma=1, eps="[2, 3], [4, inf), (0, 1/8]")
    assert report.verdict == "inaccurate"
    assert report.eps == "(0, 1/8], [2, 3], [4, inf)"
    assert [(i.start.low, i.end.high) for i in report.rows[0].failing] == [(0, Fraction(1, 8))]


def test_a_row_without_constrained_outputs_has_probability_one() -> None:
    (row,) = dipc.check(dipc.load(MIXED), [{"q": 0, "t": 0, "n": 1, "loud": True}], beta=0).rows
    assert (row.verdict, row.probability, row.output) == ("accurate", "1", {})


def test_vacuous_rows() -> None:
    rows = [{"q": 0, "out": 7, "dd": 1}, {"q": 0, "out": 0, "dd": 2}, {"q": 0, "out": 0, "dd": float("inf")}]
    report = dipc.check(dipc.load(LAPLACE), rows, alpha="3/2", gamma=1, beta="exp(-eps)")
    assert report.verdict == "accurate"
    assert [(row.vacuous, row.probability, row.beta) for row in report.rows] == [
        (True, "exp(-6*eps)/2 - exp(-8*eps)/2", "exp(-eps)"),
        (False, "1 - exp(-eps)", "exp(-eps)"),
        (False, "1 - exp(-eps)", "exp(-eps)"),
    ]
    assert report.counts.vacuous == 1
    assert report.rows[0].as_json()["vacuous"] is True
    assert "vacuous" not in report.rows[1].as_json()


@pytest.mark.parametrize(
    ("alpha", "beta", "vacuous"),
    [
        ("2", "exp(-eps)", True),  # Definition 3: dd > alpha
        ("2", "exp(-alpha*eps/2)", False),  # Theorem 10: for every lesser alpha, and so for it
        ("dd", "exp(-eps)", False),
        ("min(dd, 2)", "exp(-eps)", False),
        ("0", "exp(-eps)", False),  # the usual definition, about every input
    ],
)
def test_where_dd_is_alpha(alpha: str, beta: str, vacuous: bool) -> None:
    """A row with dd = alpha is treated alike with a table, with a column dd, for every input, and in a certificate."""
    dd = "0" if alpha == "0" else "2"
    row = {"q": 0, "out": 0, "dd": dd}
    laplace = dipc.load(LAPLACE)
    report = dipc.check(laplace, [row], alpha=alpha, gamma=1, beta=beta, keep_proofs=True)
    assert report.rows[0].vacuous is vacuous
    assert check_text(dipc.certify(report)).counts["vacuous"] == vacuous
    if alpha in ("0", "2"):
        own = dipc.check(laplace, [row | {"alpha": alpha}], gamma=1, beta=beta)
        assert own.rows[0].vacuous is vacuous
    if alpha != "min(dd, 2)":
        everywhere = dipc.load(STRIP)
        # Where dd is alpha, it may be as small as one likes, and alpha has to be in beta.
        beta = {"0": "1", "dd": "2*exp(-alpha*eps/2)"}.get(alpha, beta.replace("exp", "2*exp"))
        whole = dipc.check(everywhere, inputs="all", alpha=alpha, beta=beta, keep_proofs=True)
        assert whole.verdict == "accurate"
        accepted = check_text(dipc.certify(whole))
        assert (accepted.verdict, accepted.trusted) == ("accurate", ())
        middle = {found.says is None for found in whole.rows if found.output["out"] == "true"}
        assert middle == {vacuous}


#: In the middle dd is at most 2.
STRIP = """program strip; input q : real; output out : bool = false; var r : real;
ideal { if q >= -2 then if q <= 2 then out <- true end end }
r <- Lap(eps, q); if r >= -2 then if r <= 2 then out <- true end end"""


def test_a_gamma_left_open_is_each_gamma() -> None:
    """A single gamma at which alpha is dd: what is decided for all gamma is what is decided for that one."""
    text = "program p; input x : {0, 1}; output y : {0, 1}; ideal { y <- x } y <- choose { x : 3/4, 1 - x : 1/4 }"
    program = dipc.load(text)
    for beta, verdict in (("1/10", "accurate"), ("1/(9 + alpha)", "inaccurate"), ("1/(10 + gamma)", "inaccurate")):
        free = dipc.check(program, alpha="gamma + 1", gamma="free", beta=beta)
        growing = dipc.check(program, alpha="gamma + 1", gamma=0, beta=beta)
        assert free.verdict == growing.verdict == verdict
        if "gamma" not in beta:
            assert dipc.check(program, alpha=1, gamma=0, beta=beta).verdict == verdict


# --- probabilities with finite inputs, guards and balls ------------------------------------------


@pytest.mark.parametrize(
    ("row", "gamma", "probability"),
    [
        ({"q": 1, "t": 0, "n": 0, "loud": False, "out": "high"}, 0, "1"),
        ({"q": 0, "t": 0, "n": 0, "loud": False, "out": "high"}, 0, "0"),
        ({"q": 0, "t": 0, "n": 0, "loud": True, "out": "high"}, 0, "1/2"),
        ({"q": 2, "t": 0, "n": 2, "loud": True, "out": "low"}, 0, "1/2"),
        ({"q": 0, "t": 0, "n": 0, "loud": False, "val": 0}, 0, "1"),
        ({"q": 0, "t": 0, "n": 0, "loud": False, "val": "1/2"}, "1/3", "0"),
        ({"q": "1/4", "t": 0, "n": 2, "loud": False, "val": "1/2"}, 0, "1"),
        ({"q": "1/4", "t": 0, "n": 2, "loud": False, "val": 0}, "1/2", "1"),
        ({"q": "1/4", "t": 0, "n": 2, "loud": False, "val": 0}, "0.499", "0"),
        ({"q": 5, "t": 0, "n": 1, "loud": False, "val": 5}, 3, "1 - exp(-eps)"),
        ({"q": 5, "t": 0, "n": 1, "loud": False, "val": 5}, 0, "0"),
        ({"q": 0, "t": -1, "n": 1, "loud": True, "out": "high", "val": 0}, 3, "1/2 - exp(-eps)/2"),
    ],
)
def test_probabilities(row: dict[str, object], gamma: object, probability: str) -> None:
    (result,) = dipc.check(dipc.load(MIXED), [row], beta=0, gamma=gamma).rows
    assert result.probability == probability


# --- remembering -----------------------------------------------------------------------------------

cells = st.fixed_dictionaries(
    {
        "q": st.sampled_from(["-1", "0", "1/2", "0.5", "2"]),
        "t": st.sampled_from(["-1", "0", "1/2"]),
        "n": st.integers(0, 2),
        "loud": st.booleans(),
        "out": st.sampled_from([None, "low", "high"]),
        "val": st.sampled_from([None, "0", "1", "1/2"]),
        "gamma": st.sampled_from(["0", "1", "2/4"]),
        "beta": st.sampled_from(["exp(-eps)", "1/2", "exp(-gamma*eps)"]),
    }
)


@settings(max_examples=examples(8))
@given(st.lists(cells, min_size=1, max_size=8))
def test_a_table_is_decided_as_its_rows_are_alone(rows: list[dict[str, object]]) -> None:
    together = dipc.check(dipc.load(MIXED), rows)
    for number, (row, result) in enumerate(zip(rows, together.rows, strict=True), start=1):
        (alone,) = dipc.check(dipc.load(MIXED), [row]).rows
        assert alone.as_json() == {**result.as_json(), "row": 1}
        assert result.row == number


def test_every_combination_of_values_is_decided_as_if_alone() -> None:
    """All combinations in one table, so that every two rows that differ in one value only meet in the memory."""
    spaces = {
        "q": [0, 1],
        "t": [0, "1/2"],
        "n": [1, 2],
        "loud": [True],
        "out": [None, "high"],
        "val": [None, 0, 1],
        "gamma": [0, 1, 2],
    }
    rows = [dict(zip(spaces, values, strict=True)) for values in itertools.product(*spaces.values())]
    program = dipc.load(MIXED)
    for row, result in zip(rows, dipc.check(program, rows, beta="1/2").rows, strict=True):
        (alone,) = dipc.check(program, [row], beta="1/2").rows
        assert alone.as_json() == {**result.as_json(), "row": 1}


def test_order_does_not_matter() -> None:
    rows = above_rows(3)
    shuffled = rows[:]
    random.Random(1).shuffle(shuffled)
    options = {"beta": "2*m*exp(-eps/8)/7"}
    one = {tuple(row.input.values()): _but_number(row) for row in dipc.check(dipc.load(ABOVE), rows, **options).rows}
    other = {
        tuple(row.input.values()): _but_number(row) for row in dipc.check(dipc.load(ABOVE), shuffled, **options).rows
    }
    assert one == other
    assert {row["verdict"] for row in one.values()} == {"accurate", "inaccurate"}


def _but_number(row: RowResult) -> dict[str, object]:
    return {key: value for key, value in row.as_json().items() if key != "row"}


def test_work_is_shared() -> None:
    report = dipc.check(dipc.load(ABOVE), above_rows(3) * 3, beta=1)
    assert report.effort.explorations == 4
    assert report.effort.obligations <= 15
    assert len({id(row.closed_form) for row in report.rows}) == len({row.closed_form for row in report.rows})


def test_rows_one_by_one() -> None:
    program = dipc.load(ABOVE)
    rows = above_rows(2 + 1)
    assert list(iter_rows(program, rows, beta="exp(-eps)")) == list(dipc.check(program, rows, beta="exp(-eps)").rows)
    with pytest.raises(DiagnosticError):
        iter_rows(program, rows)


# --- limits and interruption -----------------------------------------------------------------------


def test_a_row_over_a_limit_is_undecided_and_the_others_are_decided() -> None:
    rows = above_rows(3)
    program = dipc.load(ABOVE)
    chosen = next(
        limit
        for limit in range(1, 60)
        if 0 < dipc.check(program, rows, beta="exp(-eps)/100", limits=_states(limit)).counts.undecided < len(rows)
    )
    report = dipc.check(program, rows, beta="exp(-eps)/100", limits=_states(chosen))
    free = dipc.check(program, rows, beta="exp(-eps)/100")
    undecided = [row for row in report.rows if row.verdict is Verdict.UNDECIDED]
    assert undecided
    assert all(row.reason == f"the chain has more than {chosen} states (limit `states`)" for row in undecided)
    assert all(row.probability is None and row.counterexample is None for row in undecided)
    assert all(row == free.rows[row.row - 1] for row in report.rows if row.verdict is not Verdict.UNDECIDED)
    assert report.verdict is Verdict.INACCURATE


def _states(limit: int) -> Limits:
    return Limits(states=limit)


def test_undecided_is_never_accurate() -> None:
    limits = Limits(intervals=0)
    beta = "exp(-eps) + (exp(eps) - 2)^2"
    report = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], beta=beta, gamma=1, limits=limits)
    assert report.verdict is Verdict.UNDECIDED
    (row,) = report.rows
    assert row.reason is not None
    assert row.probability == "1 - exp(-eps)"
    assert row.failing == ()


def test_an_undecided_interval_does_not_hide_a_counterexample() -> None:
    limits = Limits(intervals=0)
    beta = "exp(-eps) + (exp(eps) - 2)^2 - 1/10"
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "out": 0}]
    undecided = dipc.check(program, rows, beta=beta, gamma=1, eps="(1/2, 1)", limits=limits)
    assert undecided.verdict is Verdict.UNDECIDED
    report = dipc.check(program, rows, beta=beta, gamma=1, eps="[1/2, 1/2], [7/10, 7/10], (1, 2)", limits=limits)
    (row,) = report.rows
    assert row.verdict is Verdict.INACCURATE
    assert row.counterexample is not None
    assert row.counterexample.eps == Fraction(7, 10)
    assert row.failing == (), "the failure set is not known exactly"


def test_ctrl_c_says_how_far_it_got() -> None:
    program = dipc.load(ABOVE)
    told: list[int] = []

    def stop(done: int, total: int | None) -> None:
        """Interrupt at the first report after 100 rows: at 256 rows on a quick machine, earlier on a slow one."""
        assert total == 27 * 12
        told.append(done)
        if done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        dipc.check(program, above_rows(3) * 12, beta=1, progress=stop)
    done = told[-1]
    assert 100 <= done <= 256
    assert (caught.value.done, caught.value.total) == (done, 324)
    assert str(caught.value) == f"interrupted after {done} of 324 rows"
    report = caught.value.report
    assert len(report.rows) == done
    assert report.interrupted
    assert report.counts.accurate == done
    assert report.verdict is Verdict.UNDECIDED


def test_progress_is_told_while_one_case_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class may take many decisions: of its bound, and of inputs at which it may fail."""
    monkeypatch.setattr(question, "_PROGRESS_SECONDS", 0)
    calls: list[tuple[int, int | None]] = []
    program = dipc.load(examples_text("noisy_max").replace("r > best then", "r > best + 1 then"), m=3)
    report = dipc.check(program, inputs="all", progress=lambda *now: calls.append(now))
    assert report.verdict is dipc.Verdict.INACCURATE
    assert max(map(calls.count, calls)) > 3


def test_no_progress_is_told_of_what_is_decided_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine goes on to decide what plots and certificates ask for."""
    monkeypatch.setattr(question, "_PROGRESS_SECONDS", 0)
    calls: list[tuple[int, int | None]] = []
    program = dipc.load(examples_text("noisy_max"), m=2)
    engine = Engine(program.measurer, program.limits)
    source = question.question_of(program, None, Options(inputs="all"))
    question.answer(source, engine, lambda *now: calls.append(now))
    told = len(calls)
    assert told
    other = question.question_of(program, None, Options(inputs="all", beta="exp(-alpha*eps)"))
    for case in other.cases():
        for posed in case.steps():
            engine.decide(posed.obligation)
    assert len(calls) == told


def test_progress_ends_with_all_rows() -> None:
    calls: list[tuple[int, int | None]] = []
    dipc.check(dipc.load(ABOVE), above_rows(3), beta=1, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (27, 27)


# --- refusals --------------------------------------------------------------------------------------


def test_nothing_is_checked_with_a_bad_table_or_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    program = dipc.load(LAPLACE)

    def never(*_: object) -> None:
        raise AssertionError("a probability was computed")

    monkeypatch.setattr("dipc.program.program.Probabilities.bound", never)
    good = {"q": 0, "out": 0}
    for rows, beta in (
        ([good, {"q": "nan"}], "1"),
        ([good], "exp(eps^2)"),
        ([{**good, "beta": "bet"}], "1"),
        ([], "1"),
    ):
        with pytest.raises(DiagnosticError):
            dipc.check(program, rows, beta=beta)


def test_an_empty_report_has_no_verdict() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        Report("p", (), "(0, inf)")


def test_the_program_must_be_a_program() -> None:
    with pytest.raises(TypeError, match=r"the program must come from dipc\.load.*, not int"):
        dipc.check(7, [{"q": 0}], beta=1)  # type: ignore[arg-type]


# --- the fields of the contract --------------------------------------------------------------------


def test_subscripts_are_the_json_fields() -> None:
    report = dipc.check(dipc.load(LAPLACE), [{"q": 0, "out": 0}], beta="exp(-eps)/2", gamma=1)
    assert report["verdict"] == "inaccurate"
    assert report["schema"] == report.schema == "dipc.check/1"
    assert report["rows"][0]["counterexample"]["eps"] == "1"
    row = report.rows[0]
    assert row["probability"] == row.probability
    assert row.counterexample is not None
    assert row.counterexample["eps"] == "1"


def test_a_beta_without_a_common_denominator_of_bearable_size_is_refused() -> None:
    program = dipc.load("program p; input q : real; output out : real; out <- Lap(eps, q);")
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.check(program, [{"q": 0, "out": 0}], beta="1/(1+exp(-eps/1e9))+1/(2+exp(-eps/(1e9+1)))", gamma=1)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0613", "beta is too large to be written with one denominator")


def test_nothing_is_decided_about_no_interval() -> None:
    form = ClosedForm(ExpPoly.ONE)
    with pytest.raises(ValueError, match="needs an interval"):
        decide(form, PiecewiseForm(form.value), (), Limits())
