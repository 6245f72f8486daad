"""Reports in Python: neither true nor false, with failures, tables, pictures, and JSON that says what was asked."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import dipc

ROOT = Path(__file__).resolve().parents[2]

COIN = """
program coin;
const k = 2;
input x : {0, 1};
output y : {0, 1};
claim { beta: exp(-eps)/k; }
ideal { y <- x }
y <- choose { 0 : 1/2, 1 : 1/2 }
"""


@pytest.fixture(scope="module")
def refuted() -> dipc.Report:
    return dipc.check(dipc.load(COIN))


@pytest.fixture(scope="module")
def accurate() -> dipc.Report:
    return dipc.check(dipc.load(COIN), beta="1/2", eps="(0, 1]")


def test_a_report_is_neither_true_nor_false(refuted: dipc.Report, accurate: dipc.Report) -> None:
    for report in (refuted, accurate):
        with pytest.raises(TypeError, match="three verdicts"):
            assert report


def test_require_names_the_row_the_input_the_eps_and_both_numbers(refuted: dipc.Report, accurate: dipc.Report) -> None:
    assert accurate.require() is accurate
    with pytest.raises(AssertionError) as caught:
        refuted.require()
    assert str(caught.value) == (
        "coin is inaccurate: row 1 fails, x = 0: at eps = 1 the probability is 0.5, and 1 - beta = 0.8160602794… is "
        "required (2 of 2 rows fail)"
    )


def test_require_gives_the_reason_of_undecided_rows() -> None:
    report = dipc.check(
        dipc.load("program p; input x : real; output y : bool; var a : real; a <- Lap(eps, x); y <- a >= 0"),
        [{"x": 1, "y": True}],
        beta="exp(-eps)/3",
        limits=dipc.Limits(states=1),
    )
    with pytest.raises(AssertionError, match=r"p is undecided: row 1, x = 1: .*limit `states`"):
        report.require()


def test_failures_are_the_refuted_rows(refuted: dipc.Report, accurate: dipc.Report) -> None:
    assert [row.row for row in refuted.failures] == [1, 2]
    assert accurate.failures == ()


def test_records_are_flat(refuted: dipc.Report) -> None:
    first = refuted.records()[0]
    assert (first["x"], first["y"], first["verdict"], first["eps"], first["probability"]) == (
        "0",
        "0",
        "inaccurate",
        "1",
        "1/2",
    )


def test_a_frame_is_that_of_the_library_in_use(refuted: dipc.Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))  # type: ignore[arg-type]
    assert refuted.to_frame()["x"] == ["0", "1"]


def test_without_such_a_library_there_is_no_frame(refuted: dipc.Report, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]
    with pytest.raises(ImportError, match=r"report\.records\(\)"):
        refuted.to_frame()


def test_the_json_describes_itself(refuted: dipc.Report) -> None:
    found = json.loads(json.dumps(refuted.as_json()))
    assert found["constants"] == {"k": "2"}
    assert found["claim"] == {"alpha": "dd", "beta": "exp(-eps)/k", "gamma": "0", "eps": "(0, inf)"}
    assert found["versions"] == {"dipc": dipc.__version__}


def test_notebooks_show_the_verdict_and_the_rows(refuted: dipc.Report) -> None:
    shown = refuted._repr_html_()
    assert "<b" in shown
    assert "inaccurate" in shown
    assert "<td>x = 0</td>" in shown


def test_notebooks_show_texts_as_texts() -> None:
    report = dipc.check(dipc.load(COIN), beta="1/2", eps="(0, 1]", gamma="0")
    assert "<script" not in report._repr_html_().replace("<td>", "")
    assert "&lt;" in dipc.load(COIN).chain({"x": 0})._repr_html_()


@pytest.mark.slow
def test_a_plot_has_both_curves(refuted: dipc.Report) -> None:
    from matplotlib.figure import Figure

    axes = refuted.plot(2, Figure().add_subplot())
    assert [line.get_label() for line in axes.get_lines()] == ["Pr", "1 - beta"]
    assert set(axes.get_lines()[0].get_ydata()) == {0.5}
    with pytest.raises(ValueError, match="no row 3"):
        refuted.plot(3, axes)


def test_a_chain_is_shown_by_state() -> None:
    shown = dipc.load(COIN).chain({"x": 1}, {"y": 1})._repr_html_()
    assert "<th>state</th>" in shown
    assert "y = 1" in shown


#: What takes a program's constants by their names, as there are none that all programs have.
WITH_CONSTANTS = {"load", "mechanism"}


@pytest.mark.parametrize("name", [name for name in dipc.__all__ if name not in ("eps", "examples")])
def test_what_import_dipc_offers_says_what_it_is(name: str) -> None:
    offered = getattr(dipc, name)
    assert inspect.getdoc(offered)
    if inspect.isfunction(offered) and name not in WITH_CONSTANTS:
        kinds = {parameter.kind for parameter in inspect.signature(offered).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_an_error_is_printed_as_by_the_command_line() -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.load("program p; output y : bool; y <- z; y <- w")
    shown = str(caught.value)
    assert shown.count("error[") == len(caught.value.diagnostics) == 2
    assert " --> <text>:1:34" in shown
    assert caught.value.render() == shown + "\n"


MANY = """
program many;
input x : {0..1};
input q : real;
output y : bool;
var a : real;
ideal { y <- q >= x }
a <- Lap(eps, q);
y <- a >= x
"""


def test_every_real_input_past_a_limit_is_undecided_not_an_exception() -> None:
    report = dipc.check(dipc.load(MANY), inputs="all", beta="exp(-alpha*eps)", limits=dipc.Limits(cases=1))
    assert report.verdict is dipc.Verdict.UNDECIDED
    assert [row.reason for row in report.rows] == ["the finite inputs have more than 1 combinations (limit `cases`)"]
    assert json.loads(json.dumps(report.as_json()))["verdict"] == "undecided"
    found = dipc.tighten(dipc.load(MANY), inputs="all", beta="exp(-alpha*eps)", limits=dipc.Limits(cases=1))
    assert [cases.reason for cases in found.unknown] == [row.reason for row in report.rows]


def test_one_number_is_an_eps_to_ask_about() -> None:
    at_one = dipc.check(dipc.load(COIN), beta="1/2", eps=1)
    assert at_one.eps == "[1, 1]"
    assert at_one.verdict is dipc.Verdict.ACCURATE


@pytest.mark.parametrize("name", dipc.__all__)
def test_what_is_offered_has_a_signature_without_catch_alls(name: str) -> None:
    offered = getattr(dipc, name)
    if not inspect.isfunction(offered):
        return
    parameters = inspect.signature(offered).parameters.values()
    assert inspect.getdoc(offered)
    kinds = inspect.Parameter
    catch_alls = {kinds.VAR_KEYWORD} | (set() if name == "compose" else {kinds.VAR_POSITIONAL})  # of any programs
    assert name in WITH_CONSTANTS or not any(each.kind in catch_alls for each in parameters)
    # Of a mechanism they are expressions of a program, and never evaluated.
    if not offered.__module__.startswith("dipc.mechanisms."):
        assert all(str(each.annotation) not in ("object", "object | None", "Any") for each in parameters)


RESPONSE = """program response;
input x : {0, 1};
output y : {0, 1};
y <- choose { x : exp(eps)/(1 + exp(eps)), 1 - x : 1/(1 + exp(eps)) }
"""


def test_what_was_found_of_privacy_is_neither_true_nor_false() -> None:
    program = dipc.load(RESPONSE)
    report = dipc.check_privacy(program, "hamming:1")
    assert report.require() is report
    refuted = dipc.check_privacy(program, "hamming:1", budget="eps/2")
    for found in (report, refuted):
        with pytest.raises(TypeError, match="require"):
            assert found
    with pytest.raises(
        AssertionError, match=r"^response is not private: y = 0 at x = 0, which is adjacent to x = 1: at eps"
    ):
        refuted.require()
    laplace = dipc.load("program lap; input q : real; output y : real; y <- Lap(eps, q)")
    text = "program two; input q : real; output y : real; var r : real; r <- Lap(eps, 0); y <- Lap(eps, q); y <- y + r"
    open_ = dipc.check_privacy(dipc.load(text), "linf:1", inputs="q = 0..1", budget="eps/8", delta="7/8")
    with pytest.raises(AssertionError, match=r"^two is undecided: "):
        open_.require()
    real = dipc.check_privacy(laplace, "linf:1", inputs="q = 0..1", budget="eps/2")
    with pytest.raises(
        AssertionError, match=r"^lap is not private: y in \[.+\] at q = 0, which is adjacent to q = 1: at eps = "
    ):
        real.require()


def test_other_answers_are_neither_true_nor_false() -> None:
    program = dipc.load(RESPONSE)
    counted = dipc.simulate(program, {"x": 0}, 1, runs=10)
    observed = dipc.conform(program, {"x": 0}, 1, {0: 8, 1: 2})
    solved = dipc.solve(program, [{"x": 0, "y": 0}], wanted="eps", beta="1/10")
    for found in (counted, observed, solved):
        with pytest.raises(TypeError, match="look at its"):
            assert found


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: dipc.check(dipc.load(COIN), eps=True),
            "eps must be a number, or a text of intervals, not a truth value",
        ),
        (lambda: dipc.load(COIN, eps=True), "eps must be a number, or a text of intervals, not a truth value"),
        (lambda: dipc.check(dipc.load(COIN), limits=3), "limits must be given as dipc.Limits"),
        (
            lambda: dipc.check_privacy(dipc.load(COIN), "hamming:1", budget=True),
            "budget must be a number, not a truth value",
        ),
        (lambda: dipc.check_privacy(dipc.load(COIN), "hamming:1", delta=0.5), "delta = 0.5 is a binary floating-point"),
    ],
)
def test_what_is_no_number_is_refused_in_words(call: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        call()


def test_a_report_prints_what_was_found_and_a_path_is_loaded(tmp_path: Path) -> None:
    busy = str(ROOT / "docs" / "programs" / "busy.dip")
    shown = str(dipc.check(busy, inputs="count in {98, 103}", beta="exp(-alpha*eps)/3"))
    assert shown.startswith("INACCURATE: both rows fail\n\n  program  busy with T = 100\n")
    assert "  short by     0.02255588053…\n" in shown
    assert str(dipc.check(Path(busy), inputs="all")).startswith(
        "accurate: every real input (2 classes), every alpha and every eps"
    )
    assert str(dipc.check(busy, inputs="all", beta="exp(-alpha*eps)/3")).startswith("INACCURATE: 2 of 2 classes")
    assert str(dipc.tighten(busy, inputs="all")) == "least factor 1; beta holds, beta/2 does not"
    assert str(dipc.solve(busy, inputs="all", wanted="beta")).startswith("least beta ")
    coin = ROOT / "docs" / "programs" / "coin.dip"
    assert str(dipc.check_privacy(coin, adjacent="hamming:1")).startswith("private: budget eps suffices for both pairs")
    copy = tmp_path / "at_one.dip"
    copy.write_text("program p; output b : bool; b <- Lap(eps, 0) > 1/eps", encoding="utf-8")
    assert dipc.check(str(copy), [{"b": "true"}], beta="1", eps="1/2").verdict is dipc.Verdict.ACCURATE
    with pytest.raises(TypeError, match="or be a path"):
        dipc.check(3)  # type: ignore[arg-type]
