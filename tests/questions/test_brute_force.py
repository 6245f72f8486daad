"""What every source says of many inputs (or values of m, or of gamma) at once, against rows decided one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import dipc
from dipc.claims.claim import ClaimOptions
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.options import Options
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.question import question_of
from dipc.questions.source import Case, Source, results
from dipc.rules.class_claim import ClassClaim
from dipc.rules.halfspaces import point_at
from dipc.rules.rule import ProofStep, Variable
from tests.questions.real_programs import ADVERSARIAL, LAPLACE, NOISY_MAX, NUMERIC_SPARSE, SPARSE
from tests.questions.test_all_inputs import RowByRow, random_inputs
from tests.questions.test_random_programs import random_program

F = Fraction


def engine_of(source: Source) -> Engine:
    return Engine(source.program.measurer, source.program.limits)


def decided(engine: Engine, posed: Sequence[ProofStep]) -> list[Verdict]:
    return [engine.decide(one.obligation).verdict for one in posed]


PROGRAMS = [
    (SPARSE, {}),
    (SPARSE, {"beta": "2*m*c*exp(-alpha*eps/(8*c))/7"}),
    (NOISY_MAX, {"beta": "m*exp(-alpha*eps/2)/5"}),
    (NUMERIC_SPARSE, {}),
    (ADVERSARIAL["two rates"], {"beta": "exp(-alpha*eps/2)/2"}),
    (ADVERSARIAL["between two thresholds, too sharp"], {}),
    (ADVERSARIAL["a coin that depends on eps"], {}),
    *[(random_program(seed), {}) for seed in range(40, 46)],
]


@pytest.mark.parametrize(("source", "options"), PROGRAMS)
def test_classes_agree_with_the_rows_of_their_inputs(source: str, options: dict[str, Any]) -> None:
    """If all obligations of a class hold, so does every row; if an exact one fails, the class is refuted."""
    program = dipc.load(source)
    asked = EveryInput(program, ClassClaim(program, ClaimOptions(**options)))
    engine = engine_of(asked)
    inputs = list(random_inputs(program, len(source), 40))
    rows = RowByRow(program, **options).decided(inputs)
    covered = 0
    for case, result in zip(asked.cases(), results(asked.cases(), engine), strict=True):
        part = case.convex
        guards = part.guards
        inside = [
            row.verdict
            for point, row in zip(inputs, rows, strict=True)
            if all(guard.holds_at(point) for guard in guards)
        ]
        covered += len(inside)
        try:
            posed = case.steps()
        except dipc.Undecided:
            assert result.verdict is not Verdict.ACCURATE
            continue
        verdicts = decided(engine, posed)
        if all(verdict is Verdict.ACCURATE for verdict in verdicts):
            assert result.verdict is Verdict.ACCURATE
        if result.verdict is Verdict.ACCURATE and not part.side:
            assert Verdict.INACCURATE not in inside
        for one, verdict in zip(posed, verdicts, strict=True):
            if one.exact and verdict is Verdict.INACCURATE:
                assert result.verdict is Verdict.INACCURATE
    assert covered >= len(inputs)


@pytest.mark.parametrize(("source", "options"), PROGRAMS)
def test_what_is_exact_is_the_row_of_its_corner(source: str, options: dict[str, Any]) -> None:
    """The corner has the distance that was posed, and there the bound is the probability itself."""
    program = dipc.load(source)
    asked = EveryInput(program, ClassClaim(program, ClaimOptions(**options)))
    engine = engine_of(asked)
    row_by_row = RowByRow(program, **options)
    for case in asked.cases():
        try:
            posed = case.steps()
        except dipc.Undecided:
            continue
        for one in posed:
            corner = case.goal.lower.corner
            if not one.exact or corner is None or one.variable is not Variable.ALPHA_EPS:
                continue
            (bound,) = [engine.decide(one.obligation).bound]
            assert bound is not None
            for alpha in (F(1, 2), F(3)):
                point = {**case.convex.inputs.finite, **point_at(corner, alpha)}
                if case.convex.facets and not all(guard.holds_at(point) for guard in case.convex.inputs.region.guards):
                    continue
                (row,) = row_by_row.decided([point])
                if F(row.alpha) != alpha:
                    continue  # a class that ends before
                assert row.closed_form is not None
                for eps in (F(1, 3), F(2)):
                    low, high = row.closed_form.enclosure(eps)
                    least, most = bound.enclosure(alpha * eps)
                    assert low <= most
                    assert least <= high


@pytest.mark.parametrize(
    ("source", "beta"),
    [
        (SPARSE, "2*m*c*exp(-alpha*eps/(8*c))/6"),
        (SPARSE, "2*m*c*exp(-alpha*eps/(8*c))/7"),
        (NOISY_MAX, "m*exp(-alpha*eps/2)/3"),
        (LAPLACE, "m*exp(-gamma*eps/delta)*99/100"),
    ],
)
def test_numbers_of_queries_agree_with_rows(source: str, beta: str) -> None:
    asked = AllNumbers(dipc.load(source), "m", None, ClaimOptions(beta=beta))
    engine = engine_of(asked)
    cases: list[Case] = list(asked.cases())
    found = list(results(cases, engine))
    rest = all(verdict is Verdict.ACCURATE for verdict in decided(engine, cases[-1].steps()))
    if rest:
        assert found[-1].verdict is Verdict.ACCURATE
    for number in range(asked.least, asked.range.start + 2):
        program = dipc.load(source, m=number)
        inputs = list(random_inputs(program, number, 10))
        rows = RowByRow(program, beta=beta).decided(inputs)
        result = found[min(number - asked.least, len(found) - 1)]
        if result.verdict is Verdict.ACCURATE:
            assert {row.verdict for row in rows} == {Verdict.ACCURATE}
        if any(row.verdict is Verdict.INACCURATE for row in rows):
            assert result.verdict is not Verdict.ACCURATE


def test_a_number_that_is_taken_singly_says_what_the_union_says() -> None:
    """More numbers decided one by one change nothing about the verdict."""
    options = ClaimOptions(beta="2*m*c*exp(-alpha*eps/(8*c))/6")
    for singly in (0, 4):
        asked = AllNumbers(dipc.load(SPARSE), "m", 3, options, singly=singly)
        cases = list(asked.cases())
        assert len(cases) == singly + 1 if singly else len(cases) >= 1
        engine = engine_of(asked)
        assert {result.verdict for result in results(cases, engine)} == {Verdict.ACCURATE}


def random_mechanism(seed: int) -> str:
    """An exponential mechanism over few answers, with a distance of answers, that may be too weak for its beta."""
    chance = random.Random(seed)
    most = chance.choice([1, 2, 3])
    rate = chance.choice(["eps", "eps/2", "2*eps"])
    beta = f"{chance.choice(['1', '3/4', '1/2', '2'])}*exp(-gamma*eps*{chance.choice(['1/2', '1', '1/4'])})"
    output = chance.choice(["abs(y - y')", "2*abs(y - y')", "discrete"])
    return (
        f"program p; input x : {{0..{most}}}; output y : {{0..{most}}}; metric {{ output: {output}; }} "
        f"ideal {{ y <- x }} claim {{ alpha: 0; beta: {beta}; }} y <- Exp({rate}, v in {{0..{most}}} : -abs(v - x));"
    )


@pytest.mark.parametrize("seed", range(6))
def test_ranges_of_gamma_agree_with_single_gammas(seed: int) -> None:
    program = dipc.load(random_mechanism(seed))
    asked = question_of(program, None, Options(gamma="free"))
    engine = engine_of(asked)
    cases = list(asked.cases())
    found = list(results(cases, engine))
    for case, result in zip(cases, found, strict=True):
        verdicts = decided(engine, case.steps())
        assert (result.verdict is Verdict.ACCURATE) is all(verdict is Verdict.ACCURATE for verdict in verdicts)
    single = {gamma: dipc.check(program, gamma=gamma).rows for gamma in (F(0), F(1, 2), F(1), F(19, 10), F(2), F(9))}
    for at, result in enumerate(found):
        refuted = [gamma for gamma, rows in single.items() if rows[at].verdict is Verdict.INACCURATE]
        if result.verdict is Verdict.ACCURATE:
            assert not refuted
