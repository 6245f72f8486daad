"""Every question goes one road: what its cases pose and settle is what `check` reports, whoever decides."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import Undecided
from dipc.decide.cache import Cache
from dipc.decide.engine import Engine, fingerprint
from dipc.decide.obligation import Verdict
from dipc.options import Options
from dipc.questions.question import question_of
from dipc.questions.source import Source, results
from dipc.rules.rule import Variable
from tests.decide.test_reports import Shuffled
from tests.decide.workload import ROOT, SPARSE, SPARSE_TABLE, Counting, check_with, texts
from tests.patience import examples
from tests.questions import real_programs
from tests.questions.generated import GRIDS, programs

#: One of each kind of source, with what makes some of its cases fail.
QUESTIONS: dict[str, tuple[str | Path, dict[str, Any]]] = {
    "a table": (SPARSE, {"table": SPARSE_TABLE, "beta": "exp(-alpha*eps/4)"}),
    "a table with a beta in cells": (SPARSE, {"table": SPARSE_TABLE, "beta": "min(1, exp(-alpha*eps/4))"}),
    "vacuous rows": (SPARSE, {"table": SPARSE_TABLE, "alpha": "1"}),
    "inputs": (SPARSE, {"inputs": "q = -1..1"}),
    "classes": (SPARSE, {"inputs": "q = -1..1", "classes": True, "beta": "exp(-alpha*eps/4)"}),
    "every gamma": (SPARSE, {"table": SPARSE_TABLE, "gamma": "free", "beta": "exp(-alpha*eps/4)"}),
    "every gamma and several ranges": (
        ROOT / "benchmarks" / "noisy_max_gap.dip",
        {"inputs": "q[1] in {-1, 0, 2}; q[2] = 0; q[3] = 2", "alpha": 0, "gamma": "free", "beta": "exp(-gamma*eps)"},
    ),
    "every real input": (real_programs.SPARSE, {"inputs": "all"}),
    "every real input, refuted": (real_programs.SPARSE, {"inputs": "all", "beta": "2*m*exp(-alpha*eps/2)/3"}),
    "every number": (real_programs.SPARSE, {"inputs": "all", "for_all": "m"}),
}


def program_and_source(name: str) -> tuple[dipc.Program, Source]:
    text, options = QUESTIONS[name]
    program = dipc.load(text)
    given = dict(options)
    table = given.pop("table", None)
    return program, question_of(program, table, Options(**given))


@pytest.mark.parametrize("name", QUESTIONS)
def test_settling_the_cases_one_by_one_gives_the_report(name: str) -> None:
    text, options = QUESTIONS[name]
    report = dipc.check(dipc.load(text), **options)
    program, source = program_and_source(name)
    rows = list(results(source.cases(), Engine(program.measurer, program.limits)))
    assert [row.row for row in rows] == list(range(1, len(rows) + 1))
    known = [(row.row, row.input, row.output, row.verdict, row.closed_form, row.counterexample) for row in report.rows]
    assert [(row.row, row.input, row.output, row.verdict, row.closed_form, row.counterexample) for row in rows] == known
    if source.total is not None:
        assert source.total == len(rows)


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_case_poses_decides_it(name: str) -> None:
    """A claim holds if all obligations of its case do, and fails if an exact one does.

    An obligation is exact if its bound is the probability itself.
    """
    program, source = program_and_source(name)
    engine = Engine(program.measurer, program.limits)
    seen = 0
    for case, row in zip(source.cases(), results(program_and_source(name)[1].cases(), engine), strict=True):
        try:
            posed = case.steps()
        except Undecided:
            assert row.verdict is Verdict.UNDECIDED
            continue
        verdicts = [engine.decide(each.obligation).verdict for each in posed]
        seen += len(verdicts)
        if all(verdict is Verdict.ACCURATE for verdict in verdicts):
            assert row.verdict is Verdict.ACCURATE
        if row.verdict is Verdict.ACCURATE:
            exact = [verdict for each, verdict in zip(posed, verdicts, strict=True) if each.exact]
            assert all(verdict is Verdict.ACCURATE for verdict in exact)
    assert seen


@pytest.mark.parametrize("name", ["a table", "a table with a beta in cells", "inputs", "every gamma"])
def test_obligations_of_rows_against_the_probabilities_at_single_eps(name: str) -> None:
    """Brute force: Pr and 1 - beta at many eps, from the program itself."""
    program, source = program_and_source(name)
    engine = Engine(program.measurer, program.limits)
    for case, row in zip(source.cases(), results(program_and_source(name)[1].cases(), engine), strict=True):
        for posed in case.steps():
            assert posed.variable is Variable.EPS
            found = engine.decide(posed.obligation)
            parts = row.obligations or (row,)
            radii = [part.gamma.strip("[)").partition(",")[0] for part in parts]
            assert found.bound in [program.probability(row.input, row.output, radius) for radius in radii]
            fails = False
            for eps in (Fraction(1, 1000), *[Fraction(n, 4) for n in range(1, 60)], Fraction(100)):
                assert found.bound is not None
                pr, beta = found.bound.enclosure(eps), posed.obligation.beta.enclosure(eps)
                if pr[1] + beta[1] < 1:
                    fails = True
                    assert any(
                        part.start.low <= eps and (part.end.high is None or eps <= part.end.high)
                        for part in found.failing
                    )
            assert not fails or found.verdict is Verdict.INACCURATE
            if found.verdict is Verdict.INACCURATE:
                assert found.counterexample is not None
                at = found.counterexample.eps
                assert found.bound is not None
                assert found.bound.enclosure(at)[1] + posed.obligation.beta.enclosure(at)[1] < 1


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_report_whoever_decides(name: str, tmp_path: Path) -> None:
    text, options = QUESTIONS[name]
    expected = texts(dipc.check(dipc.load(text), **options))
    shuffled = Shuffled(len(name))
    assert texts(check_with(shuffled, dipc.load(text), window=7, **options)) == expected
    assert len(set(shuffled.asked)) == len(shuffled.asked), "every question is asked once"
    for _ in ("cold", "warm"):
        with Cache(tmp_path / "cache", fingerprint()) as cache:
            counting = Counting()
            assert texts(check_with(counting, dipc.load(text), cache=cache, **options)) == expected
    assert counting.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_report_from_processes(name: str) -> None:
    text, options = QUESTIONS[name]
    expected = texts(dipc.check(dipc.load(text), digits=12, **options))
    assert texts(dipc.check(dipc.load(text), digits=12, jobs=2, **options)) == expected


@pytest.mark.parametrize("name", QUESTIONS)
def test_reports_rows_and_closed_forms_pickle_and_deep_copy(name: str) -> None:
    text, options = QUESTIONS[name]
    report = dipc.check(dipc.load(text), digits=12, keep_proofs="gamma" not in options, **options)
    for copied in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert copied == report
        assert texts(copied) == texts(report)
    for row in report.rows:
        again = pickle.loads(pickle.dumps(row))
        assert again == copy.deepcopy(row) == row
        if row.closed_form is not None:
            assert str(copy.deepcopy(row.closed_form)) == str(row.closed_form) == str(again.closed_form)


@settings(max_examples=examples(5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(2), GRIDS, st.integers(0, 10**6))
def test_random_programs_have_the_same_verdicts_whoever_decides(
    text: str, grid: tuple[Fraction | int, ...], seed: int
) -> None:
    program = dipc.load(text)
    inputs = ["q in {" + ", ".join(map(str, grid)) + "}"] if "q[1..2] : real" in text else None
    if inputs is not None and "input x" in text:
        inputs.append("x in {false, true}" if "input x : bool" in text else "x in {0, 1}")
    expected = texts(dipc.check(program, inputs=inputs, classes=False))
    assert texts(check_with(Shuffled(seed), program, inputs=inputs, classes=False, window=9)) == expected
    proved = dipc.check(program, inputs=inputs, classes=False, keep_proofs=True)
    assert texts(proved) == expected
