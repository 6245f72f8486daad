"""Every question comes to one type of answer, and every renderer shows each of them."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.inverse.question import read_question as question_about
from dipc.inverse.tighten import tightest
from dipc.options import Options, takes
from dipc.outcome import classes, experiments, formats, html, privacy, rows, runs, solve, tighten
from dipc.outcome import program as of_program
from dipc.outcome.outcome import ExitStatus, Fields, Grid, Line, Look, Outcome, Tone, render, render_parts
from dipc.outcome.privacy import PrivacyStatement
from dipc.outcome.words import UserQuestion
from dipc.program.program import Program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.questions.question import answer, question_of
from dipc.suite import claims as suite

COIN = """
program coin;
input x : {0, 1};
output y : {0, 1};
claim { beta: exp(-eps); }
ideal { y <- x }
y <- choose { x : exp(eps)/(1 + exp(eps)), 1 - x : 1/(1 + exp(eps)) }
"""
SIGN = """
program sign;
input q : real;
output y : bool;
var a : real;
claim { alpha: dd; beta: exp(-alpha*eps)/2; }
ideal { y <- q >= 0 }
a <- Lap(eps, q);
y <- a >= 0
"""


def accuracy(text: str, **options: str) -> Outcome:
    program, given = dipc.load(text), Options(**options)
    source = question_of(program, None, given)
    engine = Engine(program.measurer, program.limits)
    report, asked = answer(source, engine), UserQuestion(Path("p.dip"), given)
    if source.table is None:
        return classes.outcome(source, engine, report, asked)
    return rows.outcome(source, engine, report, asked)


def tightened() -> Outcome:
    program, given = dipc.load(COIN), Options()
    found = tightest(question_about(program, None, given), 10)
    return tighten.outcome(tighten.Member({}, found), UserQuestion(Path("p.dip"), given))


def solved() -> Outcome:
    found = dipc.solve(dipc.load(COIN), wanted="eps", beta="1/10")
    return solve.outcome(found, UserQuestion(Path("p.dip"), Options(beta="1/10")))


def private() -> Outcome:
    program = dipc.load(COIN)
    question = PrivacyQuestion(program, "hamming:1", None, Engine(program.measurer, program.limits, keep_proofs=True))
    report = question.decide(read_claim(program, "eps/2", None, None))
    return privacy.outcome(question, report, PrivacyStatement("p.dip", "coin", (), ()))


def simulated() -> Outcome:
    return experiments.simulation(dipc.simulate(dipc.load(COIN), {"x": 0}, 1, runs=100))


def executed() -> Outcome:
    return runs.runs(dipc.load(COIN).run({"x": 0}, 1, 50))


def conforming() -> Outcome:
    return experiments.conformance(dipc.conform(dipc.load(COIN), {"x": 0}, 1, {0: 73, 1: 27}))


def at_one_input() -> Outcome:
    program: Program = dipc.load(COIN)
    return of_program.outputs(of_program.outcomes_at(program, {"x": next(iter(program.core.slots[0].type.values))}))  # type: ignore[union-attr]


ANSWERS: dict[str, Callable[[], Outcome]] = {
    "rows": lambda: accuracy(COIN),
    "refuted rows": lambda: accuracy(COIN, beta="exp(-eps)/2"),
    "every input": lambda: accuracy(SIGN, inputs="all"),
    "tighten": tightened,
    "solve": solved,
    "privacy": private,
    "run": executed,
    "simulate": simulated,
    "conform": conforming,
    "prob": at_one_input,
    "dtmc": lambda: of_program.outcome(dipc.load(COIN).chain({"x": 0}), "coin"),
}


@pytest.mark.every_case
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_shown_in_every_format(name: str) -> None:
    outcome = ANSWERS[name]()
    text = render(outcome, Look(width=100))
    assert text.startswith((outcome.heading or outcome.line)[:60])
    assert outcome.line[:60] in text
    page = html.page(outcome, ["dipc", "check"], "dipc")
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    if outcome.record is not None:
        stream = io.StringIO()
        formats.write_json(outcome, stream)
        assert json.loads(stream.getvalue())["schema"].startswith("dipc.")
    assert outcome.standing in ExitStatus


def test_the_standing_is_the_exit_code() -> None:
    assert ANSWERS["rows"]().standing is ExitStatus.HOLDS
    assert ANSWERS["refuted rows"]().standing is ExitStatus.FAILS
    assert ANSWERS["privacy"]().standing is ExitStatus.FAILS
    assert accuracy(SIGN, inputs="all", beta="exp(-alpha*eps)/3").standing is ExitStatus.FAILS


def test_claims_are_cases(tmp_path: Path) -> None:
    (tmp_path / "coin.dip").write_text(COIN, encoding="utf-8")
    claims = tmp_path / "c.toml"
    claims.write_text(
        '[[claim]]\nprogram = "coin.dip"\n\n[[claim]]\nprogram = "coin.dip"\nbeta = "0"\n', encoding="utf-8"
    )
    outcome = suite.outcome([*suite.run_claims(suite.read_claims(claims))])
    assert [case.kind for case in outcome.cases] == [suite.SuiteResult.PASSED, suite.SuiteResult.FAILED]
    assert outcome.standing is ExitStatus.FAILS
    assert suite.junit(outcome).count("<failure ") == 1
    assert suite.github(outcome).splitlines()[-1] == outcome.line


def test_a_grid_stands_above_itself_where_the_page_is_narrow() -> None:
    grid = Grid(("name", "number"), ((None, ("a" * 30, "1")), (Tone.BAD, ("b", "23"))), right=frozenset({1}))
    assert render_parts([grid], Look(width=80)).splitlines()[2] == f"  {'b'.ljust(30)}   {'23'.rjust(6)}"
    assert "  b\n" + "    " + "23".rjust(6) in render_parts([grid], Look(width=40))


def test_a_page_escapes_what_it_shows() -> None:
    parts = [Line("<b>"), Fields([("<i>", "<u>")])]
    outcome = Outcome(program="<p>", line="<line>", standing=ExitStatus.OPEN, parts=lambda: parts)
    page = html.page(outcome, ["dipc", "<x>"], "<tool>")
    for raw in ("<b>", "<i>", "<u>", "<line>", "<x>", "<tool>"):
        assert raw not in page


@pytest.mark.parametrize("command", ["tighten", "solve", "check"])
def test_each_command_says_where_an_answer_went(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "coin.dip"
    program.write_text(COIN, encoding="utf-8")
    target, more = tmp_path / "answer", (["--for", "eps", "--beta", "1/10"] if command == "solve" else [])
    assert run([command, str(program), *more, "-o", str(target)]) == 0
    out, err = capsys.readouterr()
    first = target.read_text(encoding="utf-8").splitlines()[0]
    assert out == ""
    assert err.startswith(first)
    assert err.endswith(f" (answer written to {target})\n")
    assert run([command, str(program), *more, "-o", str(target), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_options_contradict_themselves_in_one_place() -> None:
    with pytest.raises(ValueError, match="digits must be at least 1"):
        Options(digits=0)
    with pytest.raises(dipc.DiagnosticError, match="left open, but the question is not about all inputs"):
        Options(for_all="m").open_constant("q = 0..1")
    assert Options(for_all="m >= 3").open_constant("all") == ("m", 3)
    with pytest.raises(dipc.DiagnosticError, match="-j and --dask are both given"):
        dipc.check(dipc.load(COIN), jobs=2, dask="tcp://nowhere:1")


def test_what_a_function_does_not_take_is_refused() -> None:
    program = dipc.load(COIN)
    for call in (dipc.check, dipc.tighten, dipc.iter_rows):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            call(program, adjacent="linf:1")  # type: ignore[operator]
    with pytest.raises(TypeError, match="unexpected keyword argument 'jobs'"):
        dipc.tighten(program, jobs=2)  # type: ignore[call-arg]


def test_keyword_arguments_are_shown_one_by_one() -> None:
    shown = inspect.signature(dipc.check).parameters
    assert list(shown)[:2] == ["program", "table"]
    names = {"inputs", "for_all", "beta", "alpha", "gamma", "eps", "classes", "jobs", "cache", "dask", "digits"}
    assert shown.keys() == names | {"program", "table", "keep_proofs", "progress", "limits"}
    assert shown["jobs"].default == 1
    assert inspect.signature(dipc.solve).parameters["digits"].default == 30
    assert takes.__doc__
