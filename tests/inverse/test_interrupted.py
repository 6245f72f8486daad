"""Ctrl-C in an inverse question: what was decided by then is not lost, and nothing more is said."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide import engine
from dipc.inverse import question, solve_gamma, tighten
from dipc.inverse import solve as solve_alpha
from dipc.inverse.question import INTERRUPTED, Solution, Stopped
from dipc.inverse.tighten import Tightest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
LAPLACE = "program laplace; input q : real; output out : real; out <- Lap(eps, q);"
SPARSE, TABLE = str(BENCHMARKS / "sparse.dip"), str(BENCHMARKS / "sparse.csv")


def after(calls: int, done: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but Ctrl-C comes after so many calls of it."""
    left = calls

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return done(*arguments, **options)

    return counted


def test_the_factor_needed_so_far_is_a_lower_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = dipc.load(SPARSE)
    whole = dipc.tighten(program, TABLE)
    monkeypatch.setattr(tighten.Factors, "needs", after(2, tighten.Factors.needs))
    with pytest.raises(Stopped) as stopped:
        dipc.tighten(program, TABLE)
    found = stopped.value.found
    assert isinstance(found, Tightest)
    assert found.factor is not None
    assert whole.factor is not None
    assert 0 < found.factor[0] <= whole.factor[0]
    assert found.kappa is None
    assert [cases.reason for cases in found.unknown] == [INTERRUPTED]
    monkeypatch.undo()
    monkeypatch.setattr(tighten.Factors, "needs", after(2, tighten.Factors.needs))
    assert run(["tighten", SPARSE, TABLE]) == 130
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("interrupted\n")
    assert "reason" in told.err


def test_members_that_are_done_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    family = ["tighten", SPARSE, "--inputs", "q = 1", "-D", "m=1..3"]
    assert run(family) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr("dipc.cli.inverse.tightest", after(2, tighten.tightest))
    assert run(family) == 130
    told = capsys.readouterr()
    assert told.out == ""
    rows = [[line.split() for line in text.splitlines() if line[:4].strip().isdigit()] for text in (whole, told.err)]
    assert len(rows[0]) == 3
    assert rows[1] == rows[0][:2]


def solved(wanted: str, program: str, table: Any, **options: Any) -> Solution:
    with pytest.raises(Stopped) as stopped:
        dipc.solve(dipc.load(program), table, wanted=wanted, **options)
    found = stopped.value.found
    assert isinstance(found, Solution)
    assert found.interrupted
    assert found.status == "undecided"
    return found


def test_eps_at_most_where_what_was_decided_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "failing_regions", after(1, engine.failing_regions))
    assert solved("eps", SPARSE, TABLE, alpha="1/2", beta="1/10").remark == INTERRUPTED


def test_alphas_that_were_refuted_stay_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_alpha, "all_hold", after(1, question.all_hold))
    rows = [{"q": 0, "out": 0, "dd": 1}, {"q": 1, "out": 1, "dd": 2}]
    assert solved("alpha", LAPLACE, rows, beta="1/10").remark == "interrupted: no alpha below 1 is enough"


def test_gammas_that_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_gamma, "narrow", after(0, solve_gamma.narrow))
    found = solved("gamma", LAPLACE, [{"q": 0, "out": 0}], beta=Fraction(1, 10), eps=1)
    assert found.remark == "interrupted: the least gamma is more than 1 and at most 10"


def test_what_was_not_begun_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dipc.inverse.solve.claims_of", after(0, tighten.claims_of))
    assert run(["solve", SPARSE, TABLE, "--for", "eps", "--beta", "1/10"]) == 130
    assert capsys.readouterr().err == "interrupted while solving sparse for eps; nothing was decided\n"


def test_classes_that_were_decided_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dipc.questions.every_input import ClassCase

    monkeypatch.setattr(ClassCase, "settle", after(2, ClassCase.settle))
    assert run(["check", SPARSE, "--inputs", "all", "--beta", "2*m*c*exp(-alpha*eps/(8*c))"]) == 130
    assert capsys.readouterr().err.startswith("interrupted after ")
