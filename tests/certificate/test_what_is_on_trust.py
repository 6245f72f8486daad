"""How often something is taken on trust: never for mechanisms of the literature, seldom for random programs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

import dipc
from benchmarks.literature.entries import ENTRIES
from dipc.verifier.document import check_text
from tests.questions.test_random_programs import random_program
from tests.test_whole_programs import Writer

BETAS = ["exp(-eps)", "2*exp(-eps/2)", "1/2", "exp(-eps/4)/2 + 1/4", "min(1, 3*exp(-eps/2))", "9/10"]


def is_complete(report: dipc.Report) -> bool:
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == str(report.verdict)
    return accepted.complete


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_nothing_of_the_literature(entry: object) -> None:
    found = next(known for known in ENTRIES if known is entry)
    for claim in found.claims:
        program = dipc.load(found.path)
        options = {"beta": claim.beta, "gamma": claim.gamma, "eps": claim.eps}
        assert is_complete(dipc.check(program, found.table(claim), keep_proofs=True, **options))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_no_row_of_random_programs(seed: int) -> None:
    chance = Random(seed)
    program = dipc.load(Writer(chance).program())
    inputs = {
        "q[1]": Fraction(chance.randint(-3, 3), 2),
        "q[2]": Fraction(chance.randint(-2, 2)),
        "k": chance.randint(0, 2),
    }
    outcomes = list(program.outcomes(inputs))
    chance.shuffle(outcomes)
    rows = [{**inputs, **outcome.output} for outcome in outcomes[:2]]
    assert is_complete(dipc.check(program, rows, beta=chance.choice(BETAS), gamma=0, alpha=0, keep_proofs=True))


@pytest.mark.slow
def test_few_classes_of_random_programs() -> None:
    found = Counter(
        is_complete(dipc.check(dipc.load(random_program(seed)), inputs="all", keep_proofs=True)) for seed in range(100)
    )
    assert not found[False]
