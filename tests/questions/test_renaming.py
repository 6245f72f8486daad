"""Classes that differ in names only are decided once, with the results that each of them has by itself."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.decide.engine import Engine
from dipc.options import Options
from dipc.questions import every_input
from dipc.questions.every_input import ClassCase, EveryInput, RenamedClass
from dipc.questions.question import question_of

#: The law and the rate of the noise of each query, the same for all, for two kinds of queries, and for single ones.
_NOISES = (("Lap(eps/4, {q})",), ("Lap(eps/4, {q})", "Lap(eps/2, {q})"), ("Lap(eps/4, {q})", "Lap(eps/4, 2*{q})"))
_CUTS = (("0",), ("0", "1"), ("0", "0", "-2"))


def _sparse(chance: random.Random) -> str:
    """Sparse with up to two answers top; noises, thresholds and claim vary, so that few classes or many are alike."""
    m = chance.randint(3, 4)
    noises, cuts = chance.choice(_NOISES), chance.choice(_CUTS)
    kind, law = chance.choice((("real", "Lap"), ("real", "Lap"), ("int", "DLap")))
    often = chance.choice((1, 2, 2))
    renewed = f"s <- {law}(eps/4, 0);" if chance.random() < 0.7 else ""
    beta = chance.choice(("2*m*exp(-alpha*eps/16)", "m*exp(-alpha*eps/8)/2", "exp(-alpha*eps/4)"))

    def body(values: list[str], *, noisy: bool) -> str:
        steps = []
        for i, value in enumerate(values, 1):
            draw = f"r <- {value};" if noisy else ""
            left, right = ("r", f"s + {cuts[i % len(cuts)]}") if noisy else (value, cuts[i % len(cuts)])
            again = renewed if noisy else ""
            steps.append(
                f"{draw} if {left} >= {right} then out[{i}] <- top; n <- n + 1; if n >= {often} then exit end; {again}"
                f" n <- n else out[{i}] <- bot end"
            )
        return ";".join(steps)

    exact = body([f"q[{i}]" for i in range(1, m + 1)], noisy=False)
    drawn = [noises[i % len(noises)].format(q=f"q[{i}]").replace("Lap", law) for i in range(1, m + 1)]
    noisy = body(drawn, noisy=True)
    return (
        f"program p; const m = {m}; domain answer = {{none, bot, top}}; input q[1..m] : {kind};"
        f" output out[1..m] : answer = none; var r, s : {kind}; var n : {{0..{m}}} = 0;"
        f" claim {{ alpha: dd; gamma: 0; beta: {beta} }}"
        f" ideal {{ var n : {{0..{m}}} = 0; {exact} }} s <- {law}(eps/4, 0); {noisy}"
    )


def _rows(program: dipc.Program) -> list[object]:
    return [row.as_json() for row in dipc.check(program, inputs="all").rows]


@pytest.mark.parametrize("seed", range(12))
def test_classes_that_differ_in_names_have_the_results_of_their_own(seed: int) -> None:
    program = dipc.load(_sparse(random.Random(f"names {seed}")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every_input, "_FEW", 10**9)
        every = _rows(program)
        patch.setattr(every_input, "_FEW", 0)
        patch.setattr(every_input, "classes_up_to_exchange", lambda *_: None)
        assert _rows(program) == every


def _cases(m: int, c: int) -> list[object]:
    """The cases of Sparse with m queries and up to c answers top, each decided before the next is built."""
    program = dipc.load(MECHANISMS["sparse"].path, m=m, c=c)
    source = question_of(program, None, Options(inputs="all"))
    assert isinstance(source, EveryInput)
    engine = Engine(program.measurer, program.limits)
    seen = []
    for case in source._cases(0, renaming=True):
        seen.append(case)
        engine.run(case.settle())
    return seen


@pytest.mark.parametrize(("m", "c"), [(9, 2), (9, 3)])
def test_each_kind_of_class_is_decided_once(m: int, c: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of queries between answers top decide, in whatever order they come."""
    monkeypatch.setattr(every_input, "_FEW", 0)
    seen = _cases(m, c)
    kinds = set()
    classes = 0
    for tops in range(c + 1):
        for places in combinations(range(m), tops):
            ends = [-1, *places]
            gaps = sorted(after - before for before, after in pairwise(ends))
            kinds.add((tuple(gaps), tops < c and m - 1 - ends[-1]))
            classes += 1
    assert len(seen) == classes
    assert sum(isinstance(case, RenamedClass) for case in seen) == classes - len(kinds)
    assert sum(isinstance(case, ClassCase) for case in seen) == len(kinds)


def test_a_certificate_has_a_proof_of_each_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_input, "_FEW", 0)
    program = dipc.load(MECHANISMS["sparse"].path, m=5, c=2)
    kept = dipc.check(program, inputs="all", keep_proofs=True)
    assert all(row.evidence is not None for row in kept.rows)
    assert kept.evidence is not None
    assert dipc.check(program, inputs="all").evidence is None
