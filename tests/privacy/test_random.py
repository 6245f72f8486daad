"""Random mechanisms: what is proved against adjacent pairs, shifts against all integer ones, delta against all sets."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.decide.engine import Engine
from dipc.linear.halfspace import Halfspace
from dipc.questions.privacy.alignment import AlignedExit, aligned_exits, integer_cost
from dipc.questions.privacy.check import PrivacyQuestion

EPS = (Fraction(1, 5), Fraction(2), Fraction(15))
TINY = Fraction(1, 10**30)

#: By the output's values, enclosures of their probabilities at EPS.
Law = Mapping[tuple[object, ...], Sequence[tuple[Fraction, Fraction]]]

seeds = [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 152))]


def mechanism(choose: random.Random, kind: str) -> str:
    """Noisy comparisons of two inputs, one after another: answers are split over paths, some of them by a coin."""
    count = choose.choice((2, 2, 3))
    rates = [choose.choice(("eps/4", "eps/2", "eps")) for _ in range(count)]
    law = "DLap" if kind == "int" else "Lap"
    draws = []
    for at, rate in enumerate(rates):
        mean = f"q[{at + 1}]" if at < 2 else "0"
        if kind == "real" and choose.random() < 0.2:
            draws.append(f"r{at} <- Expo({rate}); r{at} <- r{at} + {mean};")
        else:
            draws.append(f"r{at} <- {law}({rate}, {mean});")
    lines = [
        "program random;",
        f"input q[1..2] : {kind};",
        "output y : {0..2} = 0;",
        f"var {', '.join(f'r{at}' for at in range(count))} : {kind};",
        *draws,
        *_tests(choose, count, 2),
    ]
    return "\n".join(lines)


def _tests(choose: random.Random, count: int, depth: int) -> list[str]:
    if not depth or choose.random() < 0.15:
        kind = choose.random()
        if kind < 0.2:
            return [f"y <- choose {{ {choose.randint(0, 1)} : 3/4, 2 : 1/4 }};"]
        return [f"y <- {choose.randint(0, 2)};"]
    one, two = choose.sample(range(count), 2)
    left = choose.choice((f"r{one}", f"r{one} + r{two}", f"2*r{one} - r{two}"))
    right = choose.choice((f"r{two}", "0", "1", "-1", f"r{two} + 1"))
    return [
        f"if {left} >= {right} then",
        *_tests(choose, count, depth - 1),
        "else",
        *_tests(choose, count, depth - 1),
        "end;",
    ]


def laws(program: dipc.Program) -> Callable[[tuple[Fraction, ...]], Law]:
    @cache
    def law(point: tuple[Fraction, ...]) -> Law:
        found = program.outcomes(dict(zip(program.inputs, point, strict=True)))
        return {tuple(each.output.values()): [each.probability.enclosure(eps, 40) for eps in EPS] for each in found}

    return law


def pair(choose: random.Random, kind: str) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    step = 1 if kind == "int" else 4
    one = [Fraction(choose.randint(-3 * step, 3 * step), step) for _ in range(2)]
    return tuple(one), tuple(value + Fraction(choose.randint(-step, step), step) for value in one)


@pytest.mark.parametrize("kind", ["real", "int"])
@pytest.mark.parametrize("seed", seeds)
def test_no_pair_exceeds_the_constant(seed: int, kind: str) -> None:
    """The constant proved for all inputs bounds every pair, and no named pair refutes more than the constant."""
    choose = random.Random(f"{kind} {seed}")
    program = dipc.load(mechanism(choose, kind))
    found = PrivacyQuestion(program, "linf:1", "all", Engine(program.measurer, program.limits)).constant(None)
    if found.proved is None:
        return
    assert found.refuted_below is not None
    assert found.refuted_below <= found.proved
    law = laws(program)
    for _ in range(10):
        one, two = (law(point) for point in pair(choose, kind))
        for at, eps in enumerate(EPS):
            scale = ExpPoly.term(1, 0, found.proved).enclosure(eps, 40)[1]
            for answer, values in one.items():
                assert values[at][0] <= two[answer][at][1] * scale


@pytest.mark.parametrize("seed", seeds)
def test_verdicts_at_pairs(seed: int, tmp_path: Path) -> None:
    """A private verdict holds for each set of outputs; the named set and eps of any other verdict exceed the claim."""
    choose = random.Random(f"pairs {seed}")
    program = dipc.load(mechanism(choose, "real"))
    law = laws(program)
    pairs = [pair(choose, "real") for _ in range(3)]
    rows = [[*one, *two] for one, two in pairs if one != two]
    path = tmp_path / "pairs.csv"
    header = [*program.inputs, *(f"{name}'" for name in program.inputs)]
    path.write_text("".join([",".join(map(str, row)) + "\n" for row in [header, *rows]]), encoding="utf-8")
    factor, delta = choose.choice([Fraction(n, 8) for n in range(9)]), choose.choice(["0", "1/40", "exp(-eps)/4"])
    report = dipc.check_privacy(program, str(path), budget=f"{factor}*eps", delta=delta)
    excess = {}
    for row in rows:
        for one, two in ((tuple(row[:2]), tuple(row[2:])), (tuple(row[2:]), tuple(row[:2]))):
            for at, eps in enumerate(EPS):
                scale = ExpPoly.term(1, 0, factor).enclosure(eps, 40)[0]
                first, second = law(one), law(two)
                answers = sorted({*first, *second})  # type: ignore[type-var]
                for chosen in product((0, 1), repeat=len(answers)):
                    total = Fraction(0)
                    for answer, taken in zip(answers, chosen, strict=True):
                        if taken:
                            total += first[answer][at][0] if answer in first else 0
                            total -= scale * second[answer][at][0] if answer in second else 0
                    excess[eps] = max(excess.get(eps, Fraction(0)), total)
    exceeded = any(excess[eps] > report.claim.delta.enclosure(eps, 40)[1] + TINY for eps in EPS)
    assert report["verdict"] == "not private" or (report["verdict"] == "private" and not exceeded)
    if report.counterexample is not None:
        found = report.counterexample
        first, second = (
            sum(program.probability(point, output).enclosure(found.eps, 40)[side] for output in found.outputs)
            for point, side in ((found.input, 0), (found.adjacent, 1))
        )
        scale = ExpPoly.term(1, 0, factor).enclosure(found.eps, 40)[1]
        assert first > scale * second + report.claim.delta.enclosure(found.eps, 40)[1]


@pytest.mark.parametrize("seed", seeds)
def test_integer_shifts_one_by_one(seed: int) -> None:
    choose = random.Random(f"shifts {seed}")
    program = dipc.load(mechanism(choose, "int"))
    farthest = 4
    for found in aligned_exits(program):
        for values in ((1, 0), (-1, 1), (1, 1)):
            move = {found.first_input + at: Fraction(value) for at, value in enumerate(values)}
            least = integer_cost(found, move, program.limits)
            tried = _cheapest(found, [item.with_values(move) for item in found.changes()[0]], farthest)
            # A shift that is not tried costs more than this.
            beyond = min(found.rates.values(), default=Fraction(1)) * (farthest + 1)
            assert tried == least or (least is not None and least >= beyond)


def _cheapest(found: AlignedExit, slacks: Sequence[Halfspace], farthest: int) -> Fraction | None:
    costs = []
    for shift in product(range(-farthest, farthest + 1), repeat=len(found.rates)):
        at = dict(zip(found.rates, map(Fraction, shift), strict=True))
        if all(item.value(at) >= 0 for item in slacks):
            costs.append(sum((rate * abs(at[key]) for key, rate in found.rates.items()), Fraction(0)))
    return min(costs, default=None)
