"""Facts of the literature, recomputed: Tables 4(a)-(c), Example 4, and claims that are tight at an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.decide.obligation import Verdict

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

SPARSE_BETA = "2*m*c*exp(-alpha*eps/(8*c))"
MAX_BETA = "m*exp(-alpha*eps/2)"
NUMERIC_BETA = "(2*m+1)*c*exp(-alpha*eps/(9*c))"

Row = dict[str, object]


def sparse_row(q: Sequence[int], c: int) -> Row:
    """det and dd by definition: top at or above the threshold 0, the c-th top ends the run."""
    row: Row = {f"q[{i}]": value for i, value in enumerate(q, 1)}
    answers: list[str] = []
    for value in q:
        if answers.count("top") == c:
            answers.append("none")
        else:
            answers.append("top" if value >= 0 else "bot")
    row.update({f"out[{i}]": answer for i, answer in enumerate(answers, 1)})
    row["dd"] = min(abs(value) for value, answer in zip(q, answers, strict=True) if answer != "none")
    return row


def numeric_row(q: Sequence[int], c: int) -> Row:
    row = sparse_row(q, c)
    row.update({f"val[{i}]": value for i, value in enumerate(q, 1) if row[f"out[{i}]"] == "top"})
    return row


def max_row(q: Sequence[int], _c: int) -> Row:
    row: Row = {f"q[{i}]": value for i, value in enumerate(q, 1)}
    first, second = sorted(q, reverse=True)[:2]
    return {**row, "out": q.index(first) + 1, "dd": Fraction(first - second, 2)}


def table(row: Callable[[Sequence[int], int], Row], m: int, c: int, size: int = 1) -> Iterator[Row]:
    for q in itertools.product(range(-size, size + 1), repeat=m):
        yield row(q, c)


# --- Table 4: the best factor 1/k holds and 1/(k+1) does not ---------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "row", "m", "c", "beta", "options", "best"),
    [
        ("sparse", sparse_row, 3, 1, SPARSE_BETA, {}, 6),
        ("sparse", sparse_row, 3, 2, SPARSE_BETA, {}, 12),
        ("sparse_variant", sparse_row, 3, 1, SPARSE_BETA, {}, 6),
        ("sparse_variant", sparse_row, 3, 2, SPARSE_BETA, {}, 13),
        ("sparse_variant_pseudocode", sparse_row, 3, 1, SPARSE_BETA, {}, 6),
        ("sparse_variant_pseudocode", sparse_row, 3, 2, SPARSE_BETA, {}, 12),
        ("noisy_max", max_row, 3, None, MAX_BETA, {}, 4),
        ("noisy_max", max_row, 4, None, MAX_BETA, {}, 4),
        ("numeric_sparse", numeric_row, 3, 1, NUMERIC_BETA, {"alpha": 1, "gamma": 1}, 4),
        ("numeric_sparse", numeric_row, 3, 2, NUMERIC_BETA, {"alpha": 1, "gamma": 1}, 6),
    ],
)
def test_table_4(
    mechanism: str,
    row: Callable[[Sequence[int], int], Row],
    m: int,
    c: int | None,
    beta: str,
    options: dict[str, object],
    best: int,
) -> None:
    constants = {"m": m} if c is None else {"m": m, "c": c}
    program = dipc.load(BENCHMARKS / f"{mechanism}.dip", **constants)
    rows = list(table(row, m, c or 0))
    holds = dipc.check(program, rows, beta=f"{beta}/{best}", **options)
    assert holds.verdict is Verdict.ACCURATE
    fails = dipc.check(program, rows, beta=f"{beta}/{best + 1}", **options)
    assert fails.verdict is Verdict.INACCURATE
    assert fails.counts.undecided == 0
    for result in fails.rows:
        if result.counterexample is not None:
            assert result.counterexample.probability[1] < result.counterexample.required[0]


@pytest.mark.parametrize(
    ("mechanism", "c", "factor", "q", "eps"),
    [
        ("sparse", 1, 7, (-1, -1, 1), "17/10"),
        ("sparse", 2, 13, (1, -1, 1), "50/19"),
        ("sparse_variant", 1, 7, (-1, -1, 0), "67/106"),
        ("sparse_variant", 2, 14, (-1, -1, -1), "17/13"),
    ],
)
def test_published_counterexamples_of_table_4a(
    mechanism: str, c: int, factor: int, q: tuple[int, ...], eps: str
) -> None:
    program = dipc.load(BENCHMARKS / f"{mechanism}.dip", m=3, c=c)
    report = dipc.check(program, [sparse_row(q, c)], beta=f"{SPARSE_BETA}/{factor}", eps=f"[{eps}, {eps}]")
    assert report.verdict is Verdict.INACCURATE


@pytest.mark.parametrize(("m", "q", "eps"), [(3, (-1, 0, 0), "27/82"), (4, (0, 0, 1, 0), "52/23")])
def test_published_counterexamples_of_table_4b(m: int, q: tuple[int, ...], eps: str) -> None:
    program = dipc.load(BENCHMARKS / "noisy_max.dip", m=m)
    report = dipc.check(program, [max_row(q, 0)], beta=f"{MAX_BETA}/5", eps=f"[{eps}, {eps}]")
    assert report.verdict is Verdict.INACCURATE


@pytest.mark.parametrize(("c", "factor", "q", "eps"), [(1, 4, (-1, -1, 1), 37), (2, 6, (-1, 1, 1), 59)])
def test_published_counterexamples_of_table_4c_are_none(c: int, factor: int, q: tuple[int, ...], eps: int) -> None:
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=3, c=c)
    rows = [numeric_row(q, c)]
    options: dict[str, object] = {"alpha": 1, "gamma": 1, "beta": f"{NUMERIC_BETA}/{factor}"}
    assert dipc.check(program, rows, eps=f"[{eps}, {eps}]", **options).verdict is Verdict.ACCURATE
    assert dipc.check(program, rows, **options).verdict is Verdict.ACCURATE


# --- claims that are true and tight at an end of the interval ----------------------------------------


def test_sparse_is_tight_at_zero_and_at_infinity() -> None:
    program = dipc.load(BENCHMARKS / "sparse.dip", m=3, c=1)
    rows = [sparse_row((-1, -1, 1), 1)]
    for beta in ("1 - 5/48", "2*exp(-eps/4)"):
        assert dipc.check(program, rows, beta=beta).verdict is Verdict.ACCURATE
    for beta in ("1 - 5/48 - 1e-30", "(2 - 1e-30)*exp(-eps/4)"):
        assert dipc.check(program, rows, beta=beta).verdict is Verdict.INACCURATE


# --- Example 4 -------------------------------------------------------------------------------------

below = st.fractions(min_value=-5, max_value=Fraction(-1, 20), max_denominator=20)
above = st.fractions(min_value=Fraction(1, 20), max_value=5, max_denominator=20)


def example_4(x1: Fraction, x2: Fraction, gamma: Fraction) -> ExpPoly:
    """p1·p2 as the paper prints it."""

    def exp(q: Fraction) -> ExpPoly:
        return ExpPoly.term(1, 0, q)

    p1 = (
        ExpPoly.ONE
        - (exp(x1 * 2 / 9) + exp(-x2 * 2 / 9)) * Fraction(2, 3)
        + (exp(x1 * 4 / 9) + exp(-x2 * 4 / 9)) * Fraction(1, 6)
        - (exp((6 * x1 - 2 * x2) / 9) + exp(-(6 * x2 - 2 * x1) / 9)) * Fraction(1, 48)
        + exp((x1 - x2) * 2 / 9) * Fraction(1, 4)
    )
    return p1 * (ExpPoly.ONE - exp(-gamma / 9))


@given(below, above, above)
def test_example_4(x1: Fraction, x2: Fraction, gamma: Fraction) -> None:
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=2, c=1)
    found = program.probability({"q": (x1, x2)}, {"out": ("bot", "top"), "val[2]": x2}, gamma=gamma)
    assert found == ClosedForm(example_4(x1, x2, gamma))


def test_example_4_term_by_term() -> None:
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=2, c=1)
    found = program.probability({"q": (-3, 5)}, {"out": ("bot", "top")})
    assert str(found) == (
        "1 - 2*exp(-2*eps/3)/3 - 2*exp(-10*eps/9)/3 + exp(-4*eps/3)/6 + exp(-16*eps/9)/4 + exp(-20*eps/9)/6"
        " - exp(-28*eps/9)/48 - exp(-4*eps)/48"
    )
