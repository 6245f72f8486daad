"""The published tables, run: which claims hold, and how a disagreement is reported."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from benchmarks import published, runner, show, targets, tasks
from benchmarks.goal import Goal
from benchmarks.mechanisms import MECHANISMS
from benchmarks.published import PublishedRow
from dipc import Verdict


def row(table: str, algorithm: str, m: int, c: int | None) -> PublishedRow:
    (found,) = [r for r in published.rows() if (r.table, r.algorithm, r.m, r.c) == (table, algorithm, m, c)]
    return found


@pytest.mark.parametrize(
    ("table", "algorithm", "m", "c", "kappa"),
    [
        ("4a", "Sparse", 3, 1, 6),
        ("4a", "Sparse", 3, 2, 12),
        ("4a", "SparseVariant", 3, 1, 6),
        ("4a", "SparseVariant", 3, 2, 13),
        ("4b", "NoisyMax", 3, None, 4),
        ("4b", "NoisyMax", 4, None, 4),
    ],
)
def test_table_4_a_and_b_as_published(table: str, algorithm: str, m: int, c: int | None, kappa: int) -> None:
    wanted = row(table, algorithm, m, c)
    trial = runner.trial(wanted, wanted.mechanism)
    assert trial.factors is not None
    assert trial.factors.kappa == kappa
    assert trial.differences == []
    assert trial.agreement == "agrees"
    found = trial.factors.refutation
    assert found is not None
    assert found.probability[1] < found.required[0]


@pytest.mark.parametrize(("c", "kappa"), [(1, 4), (2, 6)])
def test_table_4c_is_flagged_with_what_is_really_best(c: int, kappa: int) -> None:
    wanted = row("4c", "NumericSparse", 3, c)
    trial = runner.trial(wanted, wanted.mechanism)
    assert trial.factors is not None
    assert trial.verdict is Verdict.ACCURATE
    assert trial.factors.kappa == kappa
    assert trial.factors.refuted is Verdict.ACCURATE
    assert trial.factors.published_witness is Verdict.ACCURATE
    assert trial.agreement == "differs (known)"
    assert len(trial.differences) == 3


def test_the_printed_pseudocode_of_sparse_variant_is_flagged() -> None:
    trial = runner.trial(row("4a", "SparseVariant", 3, 2), MECHANISMS["sparse_variant_pseudocode"])
    assert trial.factors is not None
    assert trial.factors.kappa == 12
    assert trial.verdict is Verdict.INACCURATE
    assert trial.agreement == "differs (known)"


def test_an_unexplained_difference_is_loud() -> None:
    """A refuted factor that really holds: nothing explains it away."""
    wanted = row("4a", "Sparse", 3, 1)
    wrong = published.PublishedRow(
        **{
            **{name: getattr(wanted, name) for name in wanted.__dataclass_fields__},
            "best": Fraction(1, 4),
            "refuted": Fraction(1, 5),
        }
    )
    trial = runner.trial(wrong, wrong.mechanism)
    assert trial.agreement == "DIFFERS"
    assert "the refuted factor 1/5 is accurate" in trial.differences
    assert "the best factor is 1/6, published 1/4" in trial.differences


def test_json_is_complete() -> None:
    trials = list(runner.run([published.rows()[0], published.rows()[-1]]))
    document = json.loads(show.as_json(trials))
    assert document["schema"] == "dipc.bench/1"
    first, last = document["rows"]
    assert (first["table"], first["verdict"], first["agreement"], first["factors"]) == (
        "2a",
        "accurate",
        "agrees",
        None,
    )
    assert (last["table"], last["agreement"], last["factors"]["best"]) == ("4c", "differs (known)", "1/6")
    assert last["known"]


def test_the_variant_runs_with_both_thresholds() -> None:
    trials = list(runner.run([row("2a", "SparseVariant", 2, 2)]))
    assert [trial.mechanism.name for trial in trials] == ["sparse_variant", "sparse_variant_pseudocode"]
    assert [trial.verdict for trial in trials] == [Verdict.ACCURATE] * 2


@pytest.mark.slow
def test_all_fifty_rows_of_tables_2_and_3_hold() -> None:
    performance = [r for r in published.rows() if r.best is None]
    assert [runner.trial(r, r.mechanism).verdict for r in performance] == [Verdict.ACCURATE] * 50


def test_slope() -> None:
    assert targets.slope([(math.log(m), math.log(3 * m**2)) for m in (50, 100, 200)]) == pytest.approx(2)


@pytest.mark.parametrize("name", [name for name in tasks.TASKS if not name.endswith("_walk")])
def test_tasks(name: str) -> None:
    tasks.TASKS[name]().check()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in tasks.TASKS if name.endswith("_walk")])
def test_long_walks(name: str) -> None:
    tasks.TASKS[name]().check()


def test_a_wrong_answer_is_not_timed_in_silence() -> None:
    with pytest.raises(RuntimeError, match=r"and not 0\.25"):
        tasks.Answer(Fraction(1, 2), Fraction(1, 2), lambda: 0.25).check()


def test_a_goal_without_an_answer_is_missed() -> None:
    assert Goal("g", 2, 1, "s").met
    assert not Goal("g", 2, 3, "s").met
    assert not Goal("g", 2, 1, "s", undecided="a limit").met
