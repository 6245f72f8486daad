"""Privacy at pairs against all pairs, outputs and some eps one by one."""

from __future__ import annotations

import shlex
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.measure.measure import Measurer
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from tests.privacy import mechanisms

EPS = [Fraction(1, 10), Fraction(1), Fraction(7, 2), Fraction(12)]


def violation(program: dipc.Program, pairs, factor: Fraction, delta: Fraction = Fraction(0)) -> bool:  # type: ignore[no-untyped-def]
    """Whether some pair, and some set of outputs, violates the claim at one of a few eps, by interval arithmetic."""
    from dipc.algebra.exppoly import ExpPoly

    laws: dict[object, dict[object, object]] = {}

    def law(point):  # type: ignore[no-untyped-def]
        if point not in laws:
            values = dict(zip(program.inputs, point, strict=True))
            laws[point] = {tuple(o.output.values()): o.probability for o in program.outcomes(values)}
        return laws[point]

    for one, two in pairs:
        for eps in EPS:
            scale = ExpPoly.term(1, 0, factor).enclosure(eps, 40)
            excess = Fraction(0)
            for answer, form in law(one).items():
                low, _ = form.enclosure(eps, 40)
                high = law(two)[answer].enclosure(eps, 40)[1] if answer in law(two) else Fraction(0)
                excess += max(Fraction(0), low - scale[1] * high)
            if excess > delta + Fraction(1, 10**30):
                return True
    return False


def linf_pairs(values: list[str], count: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    points = list(product(values, repeat=count))
    return [
        (a, b)
        for a in points
        for b in points
        if a != b and max(abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)) <= 1
    ]


@pytest.mark.parametrize(
    ("threshold", "query", "budget", "private"),
    [
        ("eps/2", "eps/4", "eps", True),
        ("eps/2", "eps/4", "eps/2", True),
        ("eps/2", "eps/4", "49*eps/100", False),
        ("eps/2", "eps/2", "eps", True),
        ("eps", "eps/2", "3*eps/4", False),
    ],
)
def test_above_threshold(threshold: str, query: str, budget: str, private: bool) -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": threshold, "query": query})
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget=budget)
    assert report["verdict"] == ("private" if private else "not private")
    assert report.pairs == 7**2 - 9
    pairs = linf_pairs(["-1", "0", "1"], 2)
    factor = report.claim.budget
    if private:
        assert not violation(program, pairs, factor)
    else:
        found = report.counterexample
        assert found is not None
        assert (tuple(found.input.values()), tuple(found.adjacent.values())) in pairs
        first = program.probability(found.input, found.outputs[0]).enclosure(found.eps, 40)
        second = program.probability(found.adjacent, found.outputs[0]).enclosure(found.eps, 40)
        assert found.probability[0] <= first[0] <= first[1] <= found.probability[1]
        assert found.allowed[1] < found.probability[0]
        from dipc.algebra.exppoly import ExpPoly

        scale = ExpPoly.term(1, 0, factor).enclosure(found.eps, 40)
        assert found.allowed[0] <= second[1] * scale[1]
        assert second[0] * scale[0] <= found.allowed[1]


def test_no_noise_on_queries_has_an_infinite_loss() -> None:
    program = dipc.load(mechanisms.BARE)
    report = dipc.check_privacy(program, "linf:1", inputs="q = -1..1", budget="1000*eps")
    found = report["counterexample"]
    assert report["verdict"] == "not private"
    assert found["allowed"] == ["0", "0"]
    both = {str(program.probability(found[name], found["output"])) for name in ("input", "adjacent")}
    assert "0" in both


def test_both_orders_of_a_pair_are_looked_at(tmp_path: Path) -> None:
    program = dipc.load(mechanisms.BARE)
    for one, two in (((0, 1), (0, 0)), ((0, 0), (0, 1))):
        path = tmp_path / "pairs.csv"
        header = "q[1],q[2],q[1]',q[2]'"
        path.write_text(f"{header}\n{one[0]},{one[1]},{two[0]},{two[1]}\n", encoding="utf-8")
        report = dipc.check_privacy(program, str(path), budget="9*eps")
        assert report.pairs == 2
        assert report["counterexample"]["input"] == {"q[1]": "0", "q[2]": "1"}
        assert report["counterexample"]["adjacent"] == {"q[1]": "0", "q[2]": "0"}
        assert report["counterexample"]["output"] == {"out[1]": "bot", "out[2]": "top"}


@pytest.mark.parametrize("adjacent", ["hamming:1", "linf:2", "l1:2"])
def test_finite_inputs_range_over_their_domains(adjacent: str) -> None:
    program = dipc.load(mechanisms.KARY)
    report = dipc.check_privacy(program, adjacent)
    assert (report["verdict"], report.pairs) == ("private", 6)
    less = dipc.check_privacy(program, adjacent, budget="999/1000*eps")
    assert less["verdict"] == "not private"


def test_weights_that_do_not_depend_on_eps() -> None:
    text = mechanisms.RESPONSE % "x : 3/4, not x : 1/4"
    program = dipc.load(text)
    report = dipc.check_privacy(program, "hamming:1")
    assert report["verdict"] == "not private"  # as eps may be less than log 3
    assert dipc.check_privacy(program, "hamming:1", eps="[2, inf)")["verdict"] == "private"


def test_what_is_past_a_limit_is_undecided() -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", limits=dipc.Limits(states=1))
    assert report["verdict"] == "undecided"
    assert "limit `states`" in report["reason"]


@pytest.mark.parametrize("delta", ["0", "1/3"])
def test_probabilities_that_are_not_known_are_not_the_same(delta: str) -> None:
    """All of them are given up for the same reason; that does not make them equal."""
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    limits = dipc.Limits(terms=1)
    report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget="0*eps", delta=delta, limits=limits)
    assert report["verdict"] == "undecided"
    assert "limit `terms`" in report["reason"]
    asked = PrivacyQuestion(program, "linf:1", "q = 0..1", Engine(Measurer(limits), limits))
    with pytest.raises(dipc.Undecided):
        asked.largest_loss(Fraction(1))


@pytest.mark.slow
def test_processes_and_a_cache_change_nothing(tmp_path: Path) -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    plain = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget="eps/3").as_json()
    cache = tmp_path / "cache"
    for options in ({"cache": cache}, {"cache": cache}, {"jobs": 2}):
        assert dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget="eps/3", **options).as_json() == plain  # type: ignore[arg-type]


def test_the_replay_shows_the_probability(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bare.dip"
    path.write_text(mechanisms.BARE, encoding="utf-8")
    assert run(["privacy", str(path), "--adjacent", "linf:1", "--inputs", "q = 0..1"]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip().startswith("dipc ")]
    assert len(lines) == 4
    for line in lines:
        command = shlex.split(line)[1:]
        more = ["--runs", "200"] if command[0] == "simulate" else []
        assert run([*command, *more]) == 0
    assert "1/2 - exp" in capsys.readouterr().out


def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kary.dip"
    path.write_text(mechanisms.KARY, encoding="utf-8")
    words = ["privacy", str(path), "--adjacent", "hamming:1", "-q"]
    assert run(words) == 0
    assert capsys.readouterr().out == "private: budget eps suffices for all 6 pairs, for every eps in (0, ∞)\n"
    assert run([*words, "--budget", "eps/2"]) == 1
    assert run([*words, "--budget", "2"]) == 2
    assert run([*words, "--limit", "states=1"]) == 3


def test_how_far_it_is_comes_to_be_known() -> None:
    program, told = dipc.load(mechanisms.NOISY_MAX % {"noise": "Lap(eps/2, 0)"}), list[tuple[int, int | None]]()
    engine = Engine(Measurer(program.limits), program.limits)
    question = PrivacyQuestion(program, "linf:1", "q = -1..1", engine, lambda done, total: told.append((done, total)))
    question.decide(read_claim(program, None, None, None))
    assert told[:3] == [(0, 9), (1, 9), (2, 9)]
    assert len({total for _, total in told}) == 2
    assert all(total is not None and done < total for done, total in told)
