from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.cli.main import run
from dipc.decide.obligation import Counterexample, EndPoint, EpsSpan, Verdict
from dipc.outcome.outcome import Line, Look, render, render_parts
from dipc.outcome.rows import failing_text, interrupted, row_parts, verdict_line
from dipc.outcome.words import Statement, all_of
from dipc.questions.report import Interrupted, Report, RowResult
from dipc.sign.piecewise import PiecewiseForm

HALF = Fraction(1, 2)
PROGRAM = dipc.load("program p; const m = 3; output out : {no, yes}; out <- yes;")
STATEMENT = Statement(PROGRAM.core, Path("p.dip"), {"alpha": "1", "beta": "exp(-eps)", "gamma": "0"}, "t.csv")


def point(low: str, high: str | None = None, included: bool = False) -> EndPoint:
    return EndPoint(Fraction(low), Fraction(high or low), included)


def test_one_eps_is_a_number() -> None:
    assert [all_of(eps) for eps in ("[1/2, 1/2]", "(0, inf)")] == ["1/2", "all of (0, ∞)"]


INFINITY = EndPoint(Fraction(0), None, False)


def row(number: int, verdict: Verdict = Verdict.ACCURATE, **more: object) -> RowResult:
    base = RowResult(
        row=number,
        input={"q[1]": str(number), "q[2]": "0"},
        output={"out": "yes"},
        alpha="1",
        beta_form=PiecewiseForm(ExpPoly.term(HALF, 0, -1)),
        gamma="0",
        verdict=verdict,
        closed_form=ClosedForm(ExpPoly.constant(HALF)),
    )
    return replace(base, **more)  # type: ignore[arg-type]


def bad(number: int, shortfall: str = "1/4") -> RowResult:
    required = HALF + Fraction(shortfall)
    return row(
        number,
        Verdict.INACCURATE,
        counterexample=Counterexample(Fraction(17, 10), (HALF, HALF), (required, required)),
        failing=(EpsSpan(point("0"), INFINITY),),
    )


def undecided(number: int, reason: str) -> RowResult:
    return row(number, Verdict.UNDECIDED, reason=reason, closed_form=None)


def report(*rows: RowResult, eps: str = "(0, inf)") -> Report:
    return Report("p", rows, eps)


def text(*rows: RowResult, **more: int | bool) -> str:
    return page(report(*rows), **more)  # type: ignore[arg-type]


def page(of: Report, look: Look | None = None, closed_form: int | None = None, times: bool = False) -> str:
    return render_parts([Line(verdict_line(of)), *row_parts(of, STATEMENT, closed_form, times)], look)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([row(1)], "accurate: 1 row, for every eps in (0, ∞)"),
        ([row(1), row(2)], "accurate: both rows, for every eps in (0, ∞)"),
        ([bad(1)], "INACCURATE: 1 row fails"),
        ([bad(1), bad(2)], "INACCURATE: both rows fail"),
        ([row(1), bad(2)], "INACCURATE: 1 of 2 rows fails"),
        ([row(1), bad(2), bad(3), undecided(4, "x")], "INACCURATE: 2 of 4 rows fail, 1 undecided"),
        ([undecided(1, "x")], "UNDECIDED: 1 row"),
        ([undecided(1, "x"), row(2)], "UNDECIDED: 1 of 2 rows; the other holds for every eps in (0, ∞)"),
        ([undecided(1, "x"), row(2), row(3)], "UNDECIDED: 1 of 3 rows; the other 2 hold for every eps in (0, ∞)"),
    ],
)
def test_the_verdict_in_one_line(rows: list[RowResult], line: str) -> None:
    assert verdict_line(report(*rows)) == line
    assert text(*rows).splitlines()[0] == line


def test_a_proof_is_short() -> None:
    assert len(text(row(1), row(2)).splitlines()) == 10


def test_a_counterexample_has_everything_needed_to_check_it() -> None:
    shown = text(row(1), bad(2))
    for line in (
        "row 2 fails",
        "  input        q = (2, 0)",
        "  output       out = yes",
        "  eps          17/10 = 1.7",
        "  probability  0.5",
        "  required     0.75 = 1 - beta, where beta = exp(-eps)/2",
        "  short by     0.25",
        "  fails for    eps in (0, ∞)",
    ):
        assert line in shown.splitlines()


def test_the_worst_three_are_shown_and_the_others_named() -> None:
    shown = text(*(bad(number, "1/3" if number == 30 else "1/4") for number in range(1, 41)))
    full = [line for line in shown.splitlines() if line.startswith("row ")]
    assert full == [
        "row 30 fails",
        "row 1 fails",
        "row 2 fails",
    ]
    (rest,) = [line for line in shown.splitlines() if "more row" in line]
    assert rest.startswith("37 more rows fail: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, … ")


def test_near_ties_show_the_digits_that_differ() -> None:
    tie = Counterexample(
        Fraction(1),
        (HALF - Fraction(1, 10**40), HALF - Fraction(9, 10**41)),
        (HALF + Fraction(1, 10**30), HALF + Fraction(11, 10**31)),
    )
    shown = text(row(1, Verdict.INACCURATE, counterexample=tie))
    probability, required = (
        next(line.split()[1] for line in shown.splitlines() if line.lstrip().startswith(word))
        for word in ("probability", "required")
    )
    assert probability.startswith("0.4999999999999999999999999999999")
    assert required.startswith("0.500000000000000000000000000001")


def test_a_counterexample_without_a_known_failure_set_claims_none() -> None:
    assert "fails for" not in text(replace(bad(1), failing=()))


def test_undecided_rows_are_grouped_by_reason() -> None:
    shown = text(
        row(1), undecided(2, "too many terms"), undecided(3, "too many states"), undecided(4, "too many terms")
    )
    assert "2 rows are undecided\n  reason       too many terms\n  rows         2, 4\n" in shown
    assert "row 3 is undecided\n  reason       too many states\n  input        q = (3, 0)\n" in shown


def test_many_reasons_are_cut_short() -> None:
    shown = text(*(undecided(number, f"reason {number}") for number in range(1, 9)))
    assert shown.count("\n  reason ") == 5
    assert "3 more rows undecided for other reasons" in shown


@pytest.mark.parametrize(
    ("alpha", "beta", "why"),
    [
        ("3", "exp(-alpha*eps)/2", "dd < alpha"),
        ("3", "exp(-3*eps)/2", "dd ≤ alpha"),
        ("dd + 1", "exp(-3*eps)/2", "dd < alpha"),
        ("3", "alphabet/2", "dd ≤ alpha"),
    ],
)
def test_rows_too_near_to_other_answers(alpha: str, beta: str, why: str) -> None:
    program = dipc.load(
        "program busy; const alphabet = 1; input count : real; output out : bool; ideal { out <- count >= 100 }"
        " var noisy : real; noisy <- Lap(eps, count); out <- noisy >= 100"
    )
    report = dipc.check(program, inputs="count in {101, 103}", alpha=alpha, beta=beta)
    assert why in verdict_line(report)


def test_vacuous_rows_are_counted() -> None:
    vacuous = row(2, vacuous=True, closed_form=None)
    shown = text(row(1), vacuous, closed_form=2)
    assert "  rows     2 accurate (1 vacuously, as dd ≤ alpha)" in shown
    assert "row 2 in closed form: accurate (vacuously, as dd ≤ alpha)" in shown
    assert "  probability  was not reached" in shown


def test_the_closed_form_of_one_row() -> None:
    shown = text(row(1), row(2), closed_form=2)
    assert "row 2 in closed form: accurate\n  input        q = (2, 0)\n" in shown
    assert "  probability  1/2\n  beta         exp(-eps)/2\n" in shown


def test_times_only_when_asked_for() -> None:
    assert "time" not in text(row(1))
    assert "  time  0.00 s (" in text(row(1), times=True)


@pytest.mark.parametrize("width", [80, 120])
def test_pages_keep_their_width(width: int) -> None:
    long = replace(bad(1), input={f"q[{i}]": f"-{i}/7" for i in range(1, 101)})
    lines = page(report(long), Look(width)).splitlines()
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip()]


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ([(point("0"), INFINITY)], "(0, ∞)"),
        ([(point("1/3", included=True), point("2"))], "[1/3, 2)"),
        ([(point("1", included=True), point("1", included=True))], "{1}"),
        ([(point("1.20387123512", "1.20387123513"), INFINITY)], "(1.203871235…, ∞)"),
        ([(point("0"), point("1")), (point("2"), INFINITY)], "(0, 1) ∪ (2, ∞)"),
        ([(point("0.999", "1.001"), INFINITY)], "(1 ± 0.001, ∞)"),
    ],
)
def test_failure_sets(ends: list[tuple[EndPoint, EndPoint]], shown: str) -> None:
    assert failing_text([EpsSpan(*pair) for pair in ends]) == shown


def test_many_failure_intervals_are_cut_short() -> None:
    many = [EpsSpan(point(str(k)), point(f"{2 * k + 1}/2")) for k in range(10)]
    assert failing_text(many).endswith(" ∪ 4 more intervals")


def test_an_interrupted_check_never_sounds_like_a_proof() -> None:
    stopped = Report("p", (row(1), row(2)), "(0, inf)", interrupted=True)
    shown = render(interrupted(Interrupted(stopped, 2, 3)))
    assert shown == "interrupted after 2 of 3 rows\nno verdict: 2 accurate, none inaccurate so far\n"
    assert "INACCURATE, 1 row so far fails" in render(interrupted(Interrupted(report(row(1), bad(2)), 2, None)))


POWERS = """program p;
input x : {0, 1};
output y : {0, 1};
ideal { y <- x }
claim { alpha: 0; beta: 1/(1 + eps^2); }
if x = 0 then y <- choose {0 : eps^2/(1 + eps^2), 1 : 1/(1 + eps^2)}
else y <- choose {1 : eps^2/(1 + eps^2), 0 : 1/(1 + eps^2)} end
"""


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("prob --input x=0", "eps^2/(eps^2 + 1)"),
        ("dtmc --input x=0", "probability eps^2/(eps^2 + 1)"),
        ("check --inputs all --closed-form 1", "probability  eps^2/(eps^2 + 1)"),
        ("check --inputs all --beta 1/(2+eps^3)", "beta = 1/(eps^3 + 2)"),
        ("check --inputs all --beta min(1,eps^2)/2 --html out.html", "beta = min(1/2, eps^2/2)"),
        ("solve --inputs all --for beta", "least beta 1/(eps^2 + 1)"),
        ("error --inputs all", "expected    1/(eps^2 + 1)"),
        ("privacy --adjacent hamming:1 --delta-of eps", "(-eps^2*exp(eps) + 1)/(eps^2 + 1)"),
        ("privacy --adjacent hamming:1 --delta min(1,eps^2)/2", "delta min(1/2, eps^2/2)"),
        ("privacy --adjacent hamming:1 --max-loss --at 1", "log(eps^2)"),
    ],
)
def test_texts_write_expressions_in_the_language(
    command: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.dip").write_text(POWERS, encoding="utf-8")
    name, *options = command.split()
    run([name, "p.dip", *options])
    page = Path("out.html").read_text(encoding="utf-8") if Path("out.html").exists() else ""
    shown = capsys.readouterr().out
    assert expected in shown
    assert not re.search(r"\*\*|\b(Min|Max|Abs)\(", shown + re.sub(r"(?s)<script.*?</script>|/\*.*?\*/", "", page))
