"""The atlas of private mechanisms: every loss and constant, and that no smaller constant suffices."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from click.testing import CliRunner

import dipc
from benchmarks.__main__ import main
from benchmarks.privacy.atlas import ATLAS
from benchmarks.privacy.dipapprox import ENTRIES
from benchmarks.privacy.mechanism import EPS, HERE, Mechanism
from benchmarks.privacy.run import Exact, composed_budgets, exact
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.questions.privacy.loss import at_most
from dipc.questions.privacy.outcome import power, read_claim

#: What takes less than half a second; the others are slow.
QUICK = (
    "svt1 (m = 10, T = 1/2)",
    "svt2",
    "svt4",
    "svt4 (m = 10, T = 1)",
    "svt5",
    "noisy_max (m = 2)",
    "max_value_exponential",
    "histogram",
    "bad_histogram",
    "partial_sum (rate = 2)",
    "smart_sum",
    "bad_smart_sum",
    "randomized_response (m = 2)",
    "k_ary_randomized_response",
    "rappor",
    "one_time_rappor",
    "truncated_geometric",
)

MECHANISMS = [
    pytest.param(each, id=f"{each.name}, {each.source}", marks=[] if each.name in QUICK else [pytest.mark.slow])
    for each in ATLAS
]


def refuted(found: Exact, factor: Fraction) -> bool:
    """Whether the pair and output that the constant names are a counterexample to factor·eps-privacy."""
    assert found.constant is not None
    at = found.constant.at
    assert at is not None
    program = dipc.load(found.mechanism.file, **found.mechanism.constants)
    intervals = read_claim(program, None, None, None).intervals
    engine = Engine(program.measurer, program.limits)
    return engine.decide(at_most(at.first, at.second * power(factor), intervals)).verdict is Verdict.INACCURATE


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_losses_and_constants(mechanism: Mechanism) -> None:
    found = exact(mechanism)
    assert not found.differences
    if found.constant is None:
        return
    # No constant of the atlas is open: each is refuted a little below, and nothing at the pair refutes it itself.
    assert found.constant.exact
    if found.constant.proved is None:
        assert refuted(found, Fraction(1000))
    else:
        assert refuted(found, found.constant.proved - Fraction(1, 1000))
        assert not refuted(found, found.constant.proved)


def test_every_program_is_in_the_atlas() -> None:
    listed = {mechanism.file.stem for mechanism in ATLAS} | {entry.name for entry in ENTRIES}
    assert {path.stem for path in HERE.glob("*.dip")} <= listed


def test_published_estimates_are_lower_bounds_but_for_one() -> None:
    """Formulas by hand give the exact loss of 6 independent bits, and of one step of geometric noise."""
    exactly = {
        "rappor": 6 * math.log(0.5125 / 0.4875),
        "one_time_rappor": 6 * math.log(0.525 / 0.475),
        "truncated_geometric": math.log(9 / 8),
    }
    for mechanism in ATLAS:
        if mechanism.file.stem in exactly:
            value = exactly[mechanism.file.stem]
            assert mechanism.loss is not None
            assert float(mechanism.loss) == pytest.approx(value, abs=1e-6)
            assert mechanism.estimate is not None
            assert (mechanism.estimate.value > value) is mechanism.wrong
        elif mechanism.estimate is not None and mechanism.loss is not None:
            assert mechanism.estimate.value <= Fraction(mechanism.loss)


def test_what_is_wrong_is_said() -> None:
    wrong = exact(next(each for each in ATLAS if each.file.stem == "svt4"))
    assert len(wrong.errata) == 2
    right = exact(next(each for each in ATLAS if each.file.stem == "svt1"))
    assert not right.errata


def test_the_pairs_of_statdp() -> None:
    lines = ATLAS[1].pairs(("q[1]", "q[2]", "q[3]")).splitlines()
    assert lines[0] == "q[1],q[2],q[3],q[1]',q[2]',q[3]'"
    assert len(lines) == 9
    assert lines[5] == "1,1,1,2,0,0"


def test_the_command() -> None:
    found = CliRunner().invoke(main, ["privacy", "--only", "svt5", "--only", "rappor"])
    assert found.exit_code == 0, found.output
    assert "2 of 2 as expected; 2 published bounds are wrong" in found.output
    record = json.loads(CliRunner().invoke(main, ["privacy", "--only", "svt5", "--json"]).output)
    (svt5,) = record["mechanisms"]
    assert svt5["loss"]["value"] == ["inf", "inf"]
    assert svt5["constant"]["proved"] == "inf"
    assert record["eps"] == str(EPS)
    assert CliRunner().invoke(main, ["privacy", "--only", "svt9"]).exit_code == 2


def test_a_counterexample_to_half_of_eps_for_svt7() -> None:
    program = dipc.load(HERE / "svt7.dip")
    output = {"out[1]": "bot", "out[2]": "bot", "out[3]": "top"}
    first, second = (program.probability({"q": point}, output) for point in ([0, 0, 1], [1, 1, 0]))
    assert first.enclosure(1, 30)[0] > second.enclosure(1, 30)[1] * power(Fraction(1, 2)).enclosure(Fraction(1), 30)[1]


@pytest.mark.slow
def test_the_least_delta_of_svt7() -> None:
    from dipc.questions.privacy.check import PrivacyQuestion

    program = dipc.load(HERE / "svt7.dip")
    question = PrivacyQuestion(program, "linf:1", "q = 0..1", Engine(program.measurer, program.limits))
    found = question.least_delta(read_claim(program, "eps/2", None, None))
    assert found.supremum == (Fraction(1, 9), Fraction(1, 9))
    assert not found.attained
    assert found.place == "inf"


#: Exact losses of mechanisms that DP-Sniper looked at, to seven digits.
SNIPER = {
    "SVT, Algorithm 1": 0.0885258,
    "SVT, Algorithm 2": 0.0882304,
    "SVT, Algorithm 4": 0.1724707,
    "Noisy max 1": 0.0946149,
    "Rappor": 0.3000625,
    "One-time Rappor": 0.6005008,
    "Truncated geometric": 0.1177830,
}


@pytest.mark.parametrize("title", SNIPER)
def test_losses_to_seven_digits(title: str) -> None:
    (mechanism,) = [each for each in ATLAS if each.title == title and each.estimate is not None]
    found = exact(mechanism, constants=False).loss
    assert found is not None
    assert found.value is not None
    assert round(float(found.value[0]), 7) == SNIPER[title]
    assert mechanism.estimate is not None
    assert (mechanism.estimate.value > found.value[1]) is (title == "Rappor")


def test_composition_beside_the_theorems() -> None:
    """The table of the page about privacy, which the atlas prints, too."""
    page = (HERE.parent.parent / "docs" / "privacy.md").read_text(encoding="utf-8")
    for row in composed_budgets():
        assert f"| {' | '.join(row)} |" in page
