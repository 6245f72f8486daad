"""Estimates: the numbers of the papers, and against exact probabilities."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, floor, inf, log
from pathlib import Path

import pytest

import dipc
from dipc import estimate
from dipc.cli.main import run
from dipc.estimate import _least_density, _samples
from tests.privacy import mechanisms

SVT = "benchmarks/privacy/svt1.dip"
TEN_MILLION, SURE = 10**7, 0.999


def test_the_example_of_dp_finder() -> None:
    shares = 0.0324, 0.0304
    assert estimate.hoeffding(*shares, TEN_MILLION, SURE) == pytest.approx((0.02268, 0.10481), abs=5e-6)
    assert estimate.clt(*shares, TEN_MILLION, SURE) == pytest.approx((0.0515, 0.0759), abs=5e-5)
    low, high = estimate.multidimensional_clt(*shares, 0.97, TEN_MILLION, SURE)
    assert (high - low) / 2 == pytest.approx(0.0014287, abs=5e-8)
    assert (low + high) / 2 == pytest.approx(log(0.0324 / 0.0304))


def test_what_never_happened_has_no_bound() -> None:
    assert estimate.hoeffding(0.0, 0.5, 1000, SURE)[0] == -inf
    assert estimate.clt(0.5, 0.0, 1000, SURE) == (-inf, inf)
    assert estimate.multidimensional_clt(0.0, 0.0, 0.0, 1000, SURE) == (-inf, inf)


@pytest.mark.parametrize(
    ("C", "gamma", "bins", "samples"),
    [(1.58, 0.5, 91, 1_863_132), (0.63, 1, 6, 9588), (0.63, 0.5, 12, 75_618), (0.97, 1, 12, 25_488)],
)
def test_published_plans(C: float, gamma: float, bins: int, samples: int) -> None:
    plan = estimate.hist_plan(C, 1, gamma, 0.8)
    assert plan.bins == bins
    assert plan.samples == pytest.approx(samples, rel=0.03)  # C is printed to two digits


def test_published_buckets() -> None:
    assert estimate.input_buckets(1.58, 1, 0.5, 3.16, 1) == 91
    assert estimate.input_buckets(0.33, 1, 0.5, 0.66, 1, renyi=2) == 39


@pytest.mark.parametrize("renyi", [None, 2, 5.5])
def test_a_plan_has_the_least_samples(renyi: float | None) -> None:
    """A weaker demand needs fewer samples, a stricter one more, and with one sample less the error is too large."""
    plan = estimate.hist_plan(0.5, 1, 0.5, 0.9, renyi)
    assert estimate.hist_plan(0.5, 1, 1, 0.9, renyi).samples < plan.samples
    assert estimate.hist_plan(0.5, 1, 0.5, 0.95, renyi).samples > plan.samples
    if renyi is None:
        least = _least_density(0.5, 1) / plan.bins
        p, n, z = least, plan.samples, 0.5 / 12

        def error(n: int) -> float:
            far = exp(-n * p * (exp(z) - 1) ** 2 / (1 + exp(z))) + exp(-n * p * (1 - exp(-z)) ** 2 / 2)
            return 2 * plan.bins * (1 - p) ** n + 4 * far / (1 - (1 - p) ** n)

        assert error(n) <= 1 - 0.9 < error(n - 1)
        assert _samples(plan.bins, least, 4, z, 0.9) == n


@pytest.mark.parametrize(("C", "W", "order"), [(2.0, 1.0, None), (0.5, 2.0, None), (0.5, 1.0, 1.0), (-1.0, 1.0, None)])
def test_where_nothing_is_guaranteed(C: float, W: float, order: float | None) -> None:
    with pytest.raises(ValueError, match=r"C |order"):
        estimate.hist_plan(C, W, 0.5, 0.9, order)


def truncated(B: float, bins: int, samples: int) -> list[int]:
    """Counts of Laplace noise of scale B around 0, cut to [0, 1], as they would be without noise."""
    mass = 1 - exp(-1 / B)
    return [round(samples * (exp(-j / bins / B) - exp(-(j + 1) / bins / B)) / mass) for j in range(bins)]


@pytest.mark.parametrize(("B", "order", "expected"), [(3.5, 2, 0.02703), (1.0, None, 1.0), (0.5, None, 2.0)])
def test_published_divergences(B: float, order: float | None, expected: float) -> None:
    counts = truncated(B, 500, 10**12)
    assert estimate.hist_estimate(counts, counts[::-1], order) == pytest.approx(expected, abs=5e-6 if order else 0.005)
    assert estimate.hist_estimate([*counts, 0], [*counts, 1]) is None


def test_densities_that_are_too_steep_are_noticed() -> None:
    counts = truncated(1.0, 50, 10**9)
    holds, probability = estimate.is_plausibly_lipschitz(counts, counts[::-1], 1.6, 1, 3e-4)
    assert holds
    assert probability > 0.9
    assert not estimate.is_plausibly_lipschitz(counts, counts[::-1], 0.3, 1, 1e-5)[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_intervals_enclose_the_exact_loss(seed: int) -> None:
    program = dipc.load(SVT, m=2)
    output = {"out": ["bot", "top"]}
    one, two = {"q": [0, 0]}, {"q": [1, -1]}
    p, q = (float(program.probability(point, output).enclosure(1)[0]) for point in (one, two))
    found = estimate.estimate_loss(program, one, two, output, 1, 40_000, seed=seed)
    for low, high in found.intervals.values():
        assert low < log(p / q) < high
    assert found.correlation > 0.3
    widths = [high - low for low, high in found.intervals.values()]
    assert widths == sorted(widths, reverse=True)
    assert found == estimate.estimate_loss(program, one, two, output, 1, 40_000, seed=seed)


NORMAL = "program g; input x : %s; output y : bool; y <- %s(2/eps, x) >= 2"


@pytest.mark.parametrize(
    ("text", "one", "two", "output"),
    [
        (mechanisms.COUNT, {"x": 0}, {"x": 0}, {"y": 0}),
        (mechanisms.NOISY_MAX % {"noise": "Expo(eps/2)"}, {"q": [0, 1]}, {"q": [0, 1]}, {"out": 1}),
        (mechanisms.KARY, {"x": 1}, {"x": 1}, {"y": 2}),
        (mechanisms.CHOSEN, {"x": 0}, {"x": 0}, {"y": True}),
        (NORMAL % ("real", "Gauss"), {"x": 1}, {"x": 1}, {"y": True}),
        (NORMAL % ("int", "DGauss"), {"x": 1}, {"x": 1}, {"y": True}),
    ],
)
def test_the_noises_are_the_same(text: str, one: object, two: object, output: object) -> None:
    """Equal inputs give the same output in every run, with the expected frequency."""
    program = dipc.load(text)
    found = estimate.estimate_loss(program, one, two, output, 1, 20_000)  # type: ignore[arg-type]
    assert found.hits.first == found.hits.second == found.hits.both
    assert found.value == 0
    share = float(program.probability(one, output).enclosure(1)[0])  # type: ignore[arg-type]
    assert found.hits.first / 20_000 == pytest.approx(share, abs=0.02)


def test_runs_of_several_batches_are_independent() -> None:
    program = dipc.load(mechanisms.LAPLACE)
    found = estimate.estimate_loss(program, {"x": 0}, {"x": 1}, {"y": 0}, 1, 150_000, gamma=1)
    for hits, mean in ((found.hits.first, 0), (found.hits.second, 1)):
        share = float(program.probability({"x": mean}, {"y": 0}, 1).enclosure(1)[0])
        assert hits / 150_000 == pytest.approx(share, abs=0.006)


@pytest.mark.parametrize("options", [{"runs": 0}, {"eps": 0}, {"gamma": -1}, {"confidence": 1.0}])
def test_numbers_that_make_no_sense(options: dict[str, object]) -> None:
    given = {"eps": 1, "runs": 10, **options}
    with pytest.raises(ValueError, match="must be positive"):
        estimate.estimate_loss(dipc.load(mechanisms.KARY), {"x": 1}, {"x": 2}, {"y": 1}, **given)  # type: ignore[arg-type]


def test_tolerances() -> None:
    """The tolerances are those of Privacy on Beam; `dipc solve --for gamma` has the tolerance of one result."""
    level = estimate.partition_level(Fraction(1, 10**23), 10)
    row = {"q[1]": 0, "out[1]": 0}
    laplace = dipc.load("benchmarks/laplace.dip", m=1)
    found = dipc.solve(laplace, [row], wanted="gamma", beta=str(level), alpha=0, eps="50").as_json()
    assert found["least"][0].startswith("1.1052408")
    assert estimate.integer_tolerance(Fraction(found["least"][1])) == 1
    for tolerance in (Fraction(n, 20) for n in range(80)):
        rounded = [floor(tolerance * Fraction(at, 40) + Fraction(1, 2)) for at in range(-40, 41)]
        assert estimate.integer_tolerance(tolerance) == max(rounded)
    whole = dipc.load("program d; input x : int; output y : int; ideal { y <- x; } y <- DLap(eps, x);")
    found = dipc.solve(whole, [{"x": 0, "y": 0}], wanted="gamma", beta="1e-23", alpha=0, eps="50").as_json()
    assert found["least"] == ["1", "1"]


def test_the_tolerance_of_a_mean_is_the_worst_of_all() -> None:
    total, count, apart, other = Fraction(10), Fraction(4), Fraction(3), Fraction(1)
    found = estimate.mean_tolerance(total, count, apart, other)
    steps = [Fraction(step, 4) for step in range(-4, 5)]
    every = [abs((total + a * apart) / (count + b * other) - total / count) for a in steps for b in steps]
    assert found == max(every)
    with pytest.raises(ValueError, match="may be 0"):
        estimate.mean_tolerance(total, Fraction(1), apart, other)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kary.dip"
    path.write_text(mechanisms.KARY, encoding="utf-8")
    words = ["privacy", str(path), "--adjacent", "hamming:1", "--max-loss", "--at", "1", "--estimate", "-n", "3000"]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "exact loss" in said
    assert "Hoeffding" in said
    assert run([*words, "--format", "json", "--seed", "7"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["loss"]["value"] == ["1", "1"]
    assert record["estimate"]["seed"] == 7
    low, high = map(float, record["estimate"]["intervals"]["hoeffding"])
    assert low < 1 < high
    assert run(["privacy", str(path), "--adjacent", "hamming:1", "--estimate"]) == 2
    assert run(["privacy", str(path), "--adjacent", "hamming:1", "-n", "5"]) == 2


def test_families(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["privacy", SVT, "--adjacent", "linf:1", "--inputs", "q = 0..1", "-D", "m=2..3"]
    assert run([*words, "--max-loss", "--at", "1/10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines] == ["2", "3"]
    assert run([*words, "--max-loss", "--at", "1/10", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [member["constants"] for member in record["members"]] == [{"m": "2"}, {"m": "3"}]
    assert run(words) == 2
    assert "`-D with a range` does not apply to a verdict" in capsys.readouterr().err
