"""Bounds of losses from samples: they hold, they are near, and what loses more than its program is found."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.simulation.compare import lower_end, upper_end
from tests.outcome.test_schemas import held_to_its_schema

RESPONSE = "program response; input x : {0, 1}; output y : {0, 1}; y <- Exp(eps, v in {0, 1} : -abs(v - x));"
SVT = "benchmarks/privacy/svt1.dip"


def answers(seed: int, share: float, runs: int) -> list[int]:
    """One so often."""
    chance = random.Random(seed)
    return [int(chance.random() < share) for _ in range(runs)]


def audited(seed: int, share: float, runs: int = 3_000, confidence: str = "0.999999") -> dipc.Audit:
    """Randomized response at eps = 1, of which a share of the answers is right."""
    samples = [({"x": 0}, answers(seed, 1 - share, runs)), ({"x": 1}, answers(seed + 1, share, runs))]
    return dipc.audit(dipc.load(RESPONSE), samples, 1, confidence=confidence)


def test_the_bound_holds_and_is_near() -> None:
    share = math.e / (1 + math.e)
    found = [audited(seed, share) for seed in range(0, 16, 2)]
    assert not any(each.exceeds for each in found)
    assert all(each.exact is not None and each.exact[0] <= 1 <= each.exact[1] for each in found)
    assert min(float(each.lower) for each in found) > 0.55
    assert float(audited(1, share, 20_000).lower) > 0.85


def test_what_loses_more_is_found() -> None:
    found = audited(5, 0.85)
    assert found.exceeds
    assert float(found.lower) < math.log(0.85 / 0.15)
    assert audited(5, 0.5).lower == 0
    with pytest.raises(TypeError, match="no truth value"):
        bool(found)


def test_the_set_does_not_depend_on_what_was_observed() -> None:
    """The set of outputs does not depend on the observation, and finds more than the most frequent output alone."""
    program = dipc.load(SVT)
    chance = random.Random(1)
    one, two = {"q": [0, 0]}, {"q": [1, 1]}
    samples = []
    for point in (one, two):
        every = program.outcomes(point)
        weights = [float(each.probability.enclosure(1)[0]) for each in every]
        drawn = chance.choices([tuple(each.output.values()) for each in every], weights, k=5_000)
        samples.append((point, drawn))
    found = dipc.audit(program, samples, 1)
    other = dipc.audit(program, [(one, samples[1][1]), (two, samples[0][1])], 1)
    assert [each.outputs for each in found.tests] == [each.outputs for each in other.tests]
    assert not found.exceeds
    assert found.exact is not None
    assert 0.2 * float(found.exact[0]) < float(found.lower) <= float(found.exact[1])


@pytest.mark.parametrize(("count", "runs", "error"), [(0, 10, 0.01), (3, 50, 0.005), (50, 50, 0.1), (700, 1_000, 1e-6)])
def test_one_sided_ends(count: int, runs: int, error: float) -> None:
    """The probability of an observation at an end of the interval, or further out, is the error."""

    def at_least(p: float, k: int) -> float:
        return sum(math.comb(runs, n) * p**n * (1 - p) ** (runs - n) for n in range(k, runs + 1))

    low, high = lower_end(count, runs, error), upper_end(count, runs, error)
    assert low <= count / runs <= high
    assert (at_least(low, count) if count else error) == pytest.approx(error, rel=1e-6)
    assert (1 - at_least(high, count + 1) if count < runs else error) == pytest.approx(error, rel=1e-6)


def test_an_infinite_loss() -> None:
    program = dipc.load("program p; input x : {0, 1}; output y : {0, 1}; y <- x;")
    found = dipc.audit(program, [({"x": 0}, [0] * 100), ({"x": 1}, [1] * 100)], 1)
    assert (found.exact, found.claimed, found.exceeds) == (None, "inf", False)
    assert found.lower > 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "response.dip"
    program.write_text(RESPONSE, encoding="utf-8")
    for name, seed, share in (("a", 1, 0.15), ("b", 2, 0.85)):
        lines = ["y", *map(str, answers(seed, share, 2_000))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["audit", str(program), "--eps", "1", "--format", "json", "--confidence", "99.9%"]
    places = [["--samples-at", f"x={x}", str(tmp_path / f"{name}.csv")] for x, name in ((0, "a"), (1, "b"))]
    assert run([*words, *places[0], *places[1]]) == 1
    said = json.loads(capsys.readouterr().out)
    held_to_its_schema(said)
    assert (said["schema"], said["verdict"]) == ("dipc.audit/1", "exceeds")
    assert said["outputs"] == [{"y": said["input"]["x"]}]
    assert float(said["lower"]) > float(said["exact"][1])
    # At eps = 4 the program loses more than that.
    words[words.index("1")] = "4"
    assert run([*words, *places[0], *places[1]]) == 0
    assert run([*words, *places[0]]) == 2
    assert run([*words, *places[0], *places[0]]) == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"eps": 0}, "eps must be positive"),
        ({"confidence": 1}, "must lie between 0 and 1"),
        ({"samples": 1}, "two inputs"),
    ],
)
def test_numbers_that_make_no_sense(options: dict[str, int], error: str) -> None:
    samples = [({"x": 0}, [0]), ({"x": 1}, [1])][: options.get("samples", 2)]
    with pytest.raises(ValueError, match=error):
        dipc.audit(dipc.load(RESPONSE), samples, options.get("eps", 1), confidence=options.get("confidence", "0.9"))  # type: ignore[arg-type]


NOISY = "program noisy; input q : real; output out : real; out <- Lap(eps, q);"
CLAMPED = """
program clamped;
input q : real;
output out : real;
output high : {0, 1} = 0;
var r : real;
r <- Lap(eps, q);
out <- min(max(r, -1), 1);
if q >= 5 then high <- 1 end
"""


def noisy(seed: int, mean: float, scale: float, runs: int) -> list[float]:
    """Laplace noise of that scale."""
    chance = random.Random(seed)
    return [mean + scale * (chance.expovariate(1) - chance.expovariate(1)) for _ in range(runs)]


@pytest.mark.parametrize("eps", [1, 2])
def test_real_outputs(eps: int) -> None:
    """The bound holds, is near, and finds a scale that is too small."""
    for scale, exceeds in ((1 / eps, False), (0.7 / eps, True)):
        samples = [({"q": mean}, noisy(3 * mean + 1, mean, scale, 20_000)) for mean in (0, 1)]
        found = dipc.audit(dipc.load(NOISY), samples, eps, confidence="0.999999")
        assert found.exact == (eps, eps)
        assert found.exceeds is exceeds
        assert eps * 0.85 < float(found.lower) < (eps if not exceeds else eps / 0.7)
        held_to_its_schema(json.loads(json.dumps(found_record(found))))


def found_record(found: dipc.Audit) -> dict[str, object]:
    from dipc.outcome.experiments import audit

    record: dict[str, object] = audit(found).record()
    return record


def test_atoms_of_real_outputs() -> None:
    """Ends of a clamp are outputs of their own, and a guard may say all."""
    samples = [
        ({"q": mean}, [(min(max(value, -1.0), 1.0), 0) for value in noisy(mean + 7, mean, 1, 5_000)]) for mean in (0, 1)
    ]
    found = dipc.audit(dipc.load(CLAMPED), samples, 1, confidence="0.999999")
    assert found.exact == (1, 1)
    assert 0.8 < float(found.lower) <= 1
    assert "1" in {output["out"] for test in found.tests for output in test.outputs}
    told = dipc.audit(dipc.load(CLAMPED), [samples[0], ({"q": 5}, [(1, 1)] * 5_000)], 1)
    assert told.exact is None
    assert float(told.lower) > 5
