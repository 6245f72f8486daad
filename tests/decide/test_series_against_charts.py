"""Every obligation of the golden command lines, decided by Taylor series and by the exact chart of its sign."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dipc.algebra.limits import Undecided
from dipc.cli.main import run
from dipc.decide import crossings
from dipc.decide.engine import Engine, Pending, Question
from dipc.decide.obligation import Obligation, Verdict, decide, slack
from dipc.decide.series import decide_by_series
from dipc.sign.chart import sign_at

ROOT = Path(__file__).resolve().parent.parent.parent

#: The commands that ask obligations.
ASKING = ("check", "table", "test", "tighten", "solve", "interval", "privacy", "error")

#: The digits to which ends of failing intervals are compared.
DIGITS = 12


def commands() -> list[str]:
    """The command lines of the golden files that ask obligations, and one for each table of benchmarks/."""
    lines = [
        path.read_text(encoding="utf-8").partition("\n")[0] for path in sorted((ROOT / "tests/golden").glob("*.txt"))
    ]
    golden = [words for line in lines if (words := line.removeprefix("$ dipc ")).startswith(ASKING)]
    tables = [path for path in sorted((ROOT / "benchmarks").glob("*.csv")) if path.with_suffix(".dip").exists()]
    return golden + [f"check benchmarks/{path.stem}.dip benchmarks/{path.name} -q" for path in tables]


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[str]]:
    """Counts of (verdict of the chart, verdict of the series), printed after the last case."""
    found: Counter[str] = Counter()
    yield found
    print("\nchart, series:", dict(found))


@pytest.mark.parametrize("command", commands())
def test_no_contradiction(command: str, monkeypatch: pytest.MonkeyPatch, counts: Counter[str]) -> None:
    """The series decide nothing that the chart decides otherwise, and find the same failing intervals."""
    asked: dict[Obligation, Engine] = {}
    ask = Engine.ask

    def noted(self: Engine, question: Question) -> Pending:
        if isinstance(question, Obligation) and question.beta.has_cells:
            asked.setdefault(question, self)
        return ask(self, question)

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(Engine, "ask", noted)
    run(shlex.split(command))
    for obligation, engine in asked.items():
        compare(obligation, engine, counts)


def compare(obligation: Obligation, engine: Engine, counts: Counter[str]) -> None:
    """Decide `obligation` both ways, with the limits of `engine`, and add the verdicts to `counts`."""
    bounds, limits = engine.bounds, engine.limits
    try:
        form = bounds.measure(obligation.bound)
        exact = decide(form, obligation.beta, obligation.intervals, limits, DIGITS)
    except Undecided:
        counts["no chart"] += 1
        return
    found = decide_by_series(obligation, bounds, limits)
    by_series = str(found.verdict)
    if found.verdict is Verdict.UNDECIDED:
        by_series = "open" if found.reason else "not applicable"
    counts[f"{exact.verdict}, {by_series}"] += 1
    if Verdict.UNDECIDED in (exact.verdict, found.verdict):
        return
    assert found.verdict is exact.verdict
    if found.counterexample is None:
        return
    eps = found.counterexample.eps
    assert any(eps in interval for interval in obligation.intervals)
    assert sign_at(slack(form.value, obligation.beta, eps)[0], eps, limits) < 0
    try:
        stretches = crossings.failing_stretches(obligation, bounds, limits)
        failing = [crossings.span_of(each, DIGITS, limits) for each in stretches]
    except Undecided:
        counts["failing set: open"] += 1
        return
    counts["failing set: found"] += 1
    assert [(each.start, each.end) for each in failing] == [(each.start, each.end) for each in exact.failing]
