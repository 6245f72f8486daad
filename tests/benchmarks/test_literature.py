"""The claims of the literature: every verdict and every probability against formulas that share nothing with dipc."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import dipc
from benchmarks.__main__ import main
from benchmarks.literature import entries, ideals
from benchmarks.literature.entries import ENTRIES
from benchmarks.literature.entry import HERE, Claim, Entry
from benchmarks.literature.run import Outcome, check
from dipc import Verdict
from tests.benchmarks.formulas import FAILURES

BY_NAME = {entry.name: entry for entry in ENTRIES}
CLAIMS = [pytest.param(entry, claim, id=f"{entry.name}: {claim.name}") for entry in ENTRIES for claim in entry.claims]

#: One claim for each event: the others ask about the same probabilities.
EVENTS = [
    pytest.param(entry, claim, id=f"{entry.name}: {claim.name}")
    for entry in ENTRIES
    for claim in entry.claims
    if claim is entry.claims[0] or claim.gamma is not None or claim.eps is not None
]

#: From 1/10 to 40 and what lies between, for claims that fail for large eps, small eps, or in the middle.
GRID = [0.1 * 400 ** (i / 14) for i in range(15)]


@functools.cache
def texts(name: str) -> tuple[dict[str, str], dict[str, float]]:
    """The fields of a program's claim block, and its constants."""
    text = BY_NAME[name].path.read_text(encoding="utf-8")
    block = dict(re.findall(r"^  (\w+): (.*);$", text, re.MULTILINE))
    return block, {key: float(value) for key, value in dipc.load(text).constants.items()}


def bound(entry: Entry, claim: Claim, row: dict[str, str]) -> tuple[Callable[[float], float], float]:
    """The claim's beta at a row as a function of eps, and gamma; read from the texts by Python itself."""
    block, constants = texts(entry.name)
    names = dict(constants)
    names["gamma"] = float(Fraction(claim.gamma or block["gamma"]))
    names["alpha"] = float(Fraction(row["dd"])) if "dd" in row else 0.0
    text = row.get("beta") or claim.beta or block["beta"]
    code = compile(text.replace("^", "**"), "<beta>", "eval")
    return lambda eps: eval(code, {"exp": math.exp, "eps": eps, **names}), names["gamma"]


@functools.cache
def outcome_of(entry: str, claim: str) -> Outcome:
    """Each claim is checked once for all tests."""
    found = BY_NAME[entry]
    return check(found, next(c for c in found.claims if c.name == claim))


def failure(entry: Entry, row: dict[str, str], eps: float, gamma: float) -> float:
    """The formula's failure probability, once for all claims that share the row."""
    return _failure(entry.name, tuple(pair for pair in row.items() if pair[0] != "beta"), eps, gamma)


@functools.cache
def _failure(name: str, row: tuple[tuple[str, str], ...], eps: float, gamma: float) -> float:
    return FAILURES[name](dict(row), eps, gamma)


def grid(claim: Claim) -> list[float]:
    return GRID if claim.eps is None else [eps for eps in GRID if eps >= 2.8]


@pytest.mark.parametrize(("entry", "claim"), CLAIMS)
def test_verdicts(entry: Entry, claim: Claim) -> None:
    """The verdict is the expected one, and agrees with the formula on a grid of eps.

    dipc refutes exactly the rows that fail by the formula somewhere on the grid. A row that dipc proves holds on all of
    the grid.
    """
    outcome = outcome_of(entry.name, claim.name)
    assert outcome.differences == []
    table = entry.table(claim)
    failing = []
    for number, row in enumerate(table, 1):
        beta, gamma = bound(entry, claim, row)
        # Equalities hold up to rounding.
        if any(failure(entry, row, eps, gamma) > beta(eps) * (1 + 1e-9) + 1e-14 for eps in grid(claim)):
            failing.append(number)
    assert [row.row for row in outcome.report.rows if row.verdict is Verdict.INACCURATE] == failing
    assert len(failing) == claim.failing


@pytest.mark.parametrize(("entry", "claim"), CLAIMS)
def test_counterexamples(entry: Entry, claim: Claim) -> None:
    """The formula also fails the claim at the eps of each counterexample, with the same numbers."""
    report = outcome_of(entry.name, claim.name).report
    for row, found in zip(entry.table(claim), report.rows, strict=True):
        if found.counterexample is not None:
            beta, gamma = bound(entry, claim, row)
            eps = float(found.counterexample.eps)
            wrong = failure(entry, row, eps, gamma)
            assert wrong > beta(eps)
            assert float(found.counterexample.probability[0]) == pytest.approx(1 - wrong, rel=1e-9)
            assert float(found.counterexample.required[0]) == pytest.approx(1 - beta(eps), rel=1e-9)


@pytest.mark.parametrize("eps", [Fraction(1, 3), Fraction(5, 2)], ids=str)
@pytest.mark.parametrize(("entry", "claim"), EVENTS)
def test_probabilities(entry: Entry, claim: Claim, eps: Fraction) -> None:
    table = entry.table(claim)
    program = dipc.load(entry.path)
    for row in table[:: max(1, len(table) // 4)]:
        _, gamma = bound(entry, claim, row)
        inputs = {name: row[name] for name in program.inputs}
        outputs = {name: row[name] for name in program.outputs if row[name]}
        low, high = program.probability(inputs, outputs, Fraction(gamma)).enclosure(eps)
        assert high - low < 1e-20
        assert 1 - float(low) == pytest.approx(failure(entry, row, float(eps), gamma), abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [("exponential_mechanism", "rejection_sampling"), ("noisy_max_exponential", "permute_and_flip")],
)
def test_two_programs_of_one_mechanism(one: str, other: str) -> None:
    """Rejection sampling is the exponential mechanism, and permute-and-flip is noisy max with exponential noise.

    Both have the same closed forms at every row (Ding et al. 2021).
    """
    assert BY_NAME[one].rows == BY_NAME[other].rows
    first, second = dipc.load(BY_NAME[one].path), dipc.load(BY_NAME[other].path)
    for row in BY_NAME[one].rows:
        inputs = {name: row[name] for name in first.inputs}
        for answer in ("1", "2", "3"):
            output = {first.outputs[0]: answer}
            assert first.probability(inputs, output) == second.probability(inputs, output)


# --- the tables ------------------------------------------------------------------------------------


def first_maximum(q: Sequence[int]) -> tuple[str, ...]:
    return (str(q.index(max(q)) + 1),)


def above(q: Sequence[int]) -> tuple[str, ...]:
    answers = []
    for value in q:
        if "top" in answers:
            answers.append("none")
        else:
            answers.append("top" if value >= 0 else "bot")
    return tuple(answers)


@pytest.mark.parametrize(
    ("name", "det", "size", "reach"),
    [("noisy_max_discrete", first_maximum, 3, 5), ("above_threshold_discrete", above, 2, 9)],
)
def test_whole_distances_by_definition(
    name: str, det: Callable[[Sequence[int]], tuple[str, ...]], size: int, reach: int
) -> None:
    """dd(u) is the least distance to a whole input with another answer."""
    others = list(itertools.product(range(-reach, reach + 1), repeat=size))
    for row in BY_NAME[name].rows:
        q = [int(row[f"q[{i + 1}]"]) for i in range(size)]
        expected = det(q)
        assert tuple(value for key, value in row.items() if key.startswith("out")) == expected
        distances = [max(abs(a - b) for a, b in zip(q, v, strict=True)) for v in others if det(v) != expected]
        assert int(row["dd"]) == min(distances)


def test_graphs() -> None:
    graphs = list(ideals.graphs())
    assert [len([g for g in graphs if len(g) == size]) for size in range(7)] == [1, 1, 2, 3, 2, 1, 1]
    assert [ideals.least_cover(g) for g in graphs] == [0, 1, 1, 2, 1, 2, 2, 2, 2, 2, 3]
    assert [ideals.edges_of(ideals.graph_cells(g)) for g in graphs] == graphs


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_tables_are_what_dipc_check_reads(entry: Entry, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The CSV of the first claim with the program's own claim: what a user can run."""
    path = tmp_path_factory.mktemp("tables") / f"{entry.name}.csv"
    path.write_text(entry.csv(), encoding="utf-8")
    program = dipc.load(entry.path)
    header = path.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
    assert [name for name in header if name not in ("dd", "beta")] == [*program.inputs, *program.outputs]
    report = dipc.check(program, path)
    assert report.counts.rows == len(entry.rows)
    assert report.verdict is Verdict.ACCURATE


# --- the programs ----------------------------------------------------------------------------------


def test_every_program_of_the_directory_is_run() -> None:
    assert {path.stem for path in HERE.glob("*.dip")} == set(BY_NAME) == set(FAILURES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_programs_say_where_they_come_from(entry: Entry) -> None:
    text = entry.path.read_text(encoding="utf-8")
    for word in ("# Source: ", "# det", "# Claim: "):
        assert f"\n{word}" in text
    assert dipc.load(entry.path).name == entry.name
    assert dipc.load(entry.path).core.claim is not None
    assert max(map(len, text.splitlines())) <= 120


# --- the command -----------------------------------------------------------------------------------


def test_command_agrees() -> None:
    done = CliRunner().invoke(main, ["literature", "--only", "smart_sum", "--only", "small_db", "--json"])
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["schema"] == "dipc.literature/1"
    claims = {(c["program"], c["claim"]): c for c in document["claims"]}
    assert len(claims) == 6
    refuted = claims["small_db", "without the factor |R|"]
    assert (refuted["verdict"], refuted["expected"], refuted["failing_rows"]) == ("inaccurate", "inaccurate", 6)
    assert set(refuted["counterexample"]) == {"input", "eps", "probability", "required"}
    assert all(claim["differences"] == [] for claim in claims.values())


def test_command_flags_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Claim("too small", "nobody", "wrong on purpose", beta="exp(-9*eps)")
    entry = Entry("randomized_response", "wrong", BY_NAME["randomized_response"].rows, (wrong,))
    monkeypatch.setattr(entries, "ENTRIES", (entry,))
    done = CliRunner().invoke(main, ["literature"])
    assert done.exit_code == 1
    assert "DIFFERS" in done.stdout
    assert "expected accurate, found inaccurate" in done.stdout
    assert "expected 0 failing rows, found 8" in done.stdout


def test_command_writes_the_tables(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["literature", "--tables", str(tmp_path / "new")])
    assert done.exit_code == 0
    assert {path.stem for path in (tmp_path / "new").iterdir()} == set(BY_NAME)
    assert (tmp_path / "new" / "small_db.csv").read_text(encoding="utf-8") == BY_NAME["small_db"].csv()


def test_command_knows_the_programs() -> None:
    done = CliRunner().invoke(main, ["literature", "--only", "no_such"])
    assert done.exit_code == 2
    assert "'no_such' is not one of" in done.output
