"""Obligations in one scale and order: the same inequality, and one for many rows."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from benchmarks.changes import maxima
from dipc.decide.engine import Engine
from dipc.decide.obligation import Obligation, Verdict
from dipc.decide.scaled import constants_of, scaled_obligation, with_least_constants
from dipc.inverse import tighten as tighten_module
from dipc.measure.measure import EnclosedForm
from dipc.options import Options
from dipc.program.program import Program
from dipc.questions.question import answer, question_of
from dipc.questions.rows import TableRows

ROOT = Path(__file__).resolve().parent.parent.parent
GAUSSIAN = ROOT / "benchmarks" / "gaussian_noisy_max.dip"
SPARSE = ROOT / "benchmarks" / "gaussian_sparse.dip"
LAPLACE = ROOT / "benchmarks" / "noisy_max.dip"

#: Weights that depend on eps, two noises of different rates, and tests that are not all about one noise.
MIXED = """
program mixed;
input q[1..2] : real;
output o : {a, b};
var r1, r2 : real;
var k : {0, 1};
ideal { if q[1] > q[2] then o <- a else o <- b end }
claim { alpha: dd; beta: 3*exp(-alpha*eps/4); }
k <- choose {1 : 1 - exp(-eps)/2, 0 : exp(-eps)/2};
r1 <- Lap(eps, q[1]); r2 <- Lap(eps/2, q[2]);
if r1 > r2 + 1 then if k = 1 then o <- a else o <- b end else if r2 > 2 then o <- b else o <- a end end
"""


def obligations_of(program: Program, seed: int, rows: int) -> list[Obligation]:
    chance = random.Random(f"scaled {seed}")
    names = [program.core.slots[slot].name for slot in program.core.inputs]
    inputs = [{name: str(Fraction(chance.randint(-300, 300), 100)) for name in names} for _ in range(rows)]
    source = question_of(program, dipc.table(program, inputs), Options())
    assert isinstance(source, TableRows)
    result = []
    for row in source.table.rows:
        terms, bound = source.claimed(row)
        assert not isinstance(bound, Exception)
        if not terms.vacuous:
            result.append(Obligation(bound, terms.beta, source.intervals))
    return result


@pytest.mark.parametrize("path", [GAUSSIAN, SPARSE, LAPLACE, MIXED], ids=["gauss", "sparse", "laplace", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_a_scaled_obligation_is_the_same_at_another_eps(path: Path | str, seed: int) -> None:
    program = dipc.load(path)
    for given in obligations_of(program, seed, 3):
        scaled = scaled_obligation(given, least=False)
        assert scaled is not None
        least = scaled_obligation(given, least=True)
        assert least is not None
        factors = {
            a / b
            for a, b in zip(sorted(constants_of(given.bound)), sorted(constants_of(scaled.bound)), strict=True)
            if b
        }
        for scale in factors:
            for eps in (Fraction(1, 3), Fraction(2), Fraction(7)):
                values = []
                for one, place in ((given, eps), (scaled, eps * scale), (least, eps * scale)):
                    unexpanded = EnclosedForm.from_bound(one.bound, program.measurer, program.limits)
                    values.append(float(unexpanded.series(place)[0].mid()))
                assert values[0] == pytest.approx(values[1], rel=1e-9)
                assert values[2] <= values[1] + 1e-12
        assert len(factors) <= 1


def test_the_least_constants_of_several_bounds() -> None:
    program = dipc.load(GAUSSIAN)
    scaled = [scaled_obligation(each, least=False) for each in obligations_of(program, 1, 4)]
    bounds = [each.bound for each in scaled if each is not None]
    joined = with_least_constants(bounds)
    assert joined is not None
    for bound in bounds:
        assert all(a <= b for a, b in zip(constants_of(joined), constants_of(bound), strict=True))
    other = scaled_obligation(obligations_of(dipc.load(SPARSE), 1, 1)[0], least=False)
    assert other is not None
    assert with_least_constants([bounds[0], other.bound]) is None


@pytest.mark.parametrize("rows", [4, 40])
def test_gaussian_rows_share_an_obligation(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Obligation] = []
    plain = Engine._by_series

    def counted(self: Engine, obligation: Obligation) -> object:
        asked.append(obligation)
        return plain(self, obligation)

    monkeypatch.setattr(Engine, "_by_series", counted)
    (tmp_path / "t.csv").write_text(maxima(5, 3, rows), encoding="utf-8")
    program = dipc.load(GAUSSIAN, m=5)
    report = answer(question_of(program, tmp_path / "t.csv", Options()), Engine(program.measurer, program.limits))
    assert report.verdict is Verdict.ACCURATE
    assert len(asked) == 1


@pytest.mark.parametrize("beta", ["m*exp(-alpha*eps/2)/4", "m*exp(-alpha*eps/2)/7", "m*exp(-alpha*eps)"])
def test_gaussian_rows_are_decided_as_alone(beta: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text(maxima(3, 2, 4), encoding="utf-8")
    program = dipc.load(GAUSSIAN)
    shared = dipc.check(program, tmp_path / "t.csv", beta=beta)
    monkeypatch.setattr("dipc.questions.rows.scaled_obligation", lambda *_, **__: None)
    alone = dipc.check(program, tmp_path / "t.csv", beta=beta)
    assert [row.as_json() for row in shared.rows] == [row.as_json() for row in alone.rows]


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 6))])
def test_the_least_factor_is_that_of_all_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text(maxima(3, 1, 4, seed), encoding="utf-8")
    program = dipc.load(GAUSSIAN)
    few = dipc.tighten(program, tmp_path / "t.csv")
    monkeypatch.setattr(tighten_module, "_FEW", 100)
    every = dipc.tighten(program, tmp_path / "t.csv")
    assert (few.factor, few.kappa, few.proved) == (every.factor, every.kappa, every.proved)
    assert [(spot.claimed.rows, spot.place) for spot in few.places] == [
        (spot.claimed.rows, spot.place) for spot in every.places
    ]
