"""(eps, delta)-privacy against all sets of outputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from tests.privacy import mechanisms
from tests.privacy.test_pure import EPS, linf_pairs


def subsets(items: list[object]) -> list[tuple[object, ...]]:
    return list(chain.from_iterable(combinations(items, size) for size in range(len(items) + 1)))


@pytest.mark.parametrize("delta", ["1/100", "1/12", "1/8", "exp(-eps)/9", "eps*exp(-eps)/4 + 1/11", "1/3"])
@pytest.mark.parametrize("budget", ["0*eps", "eps/4", "eps/2"])
def test_sums_over_all_sets(budget: str, delta: str) -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget=budget, delta=delta)
    factor = report.claim.budget
    worst = {}
    for eps in EPS:
        scale = ExpPoly.term(1, 0, factor).enclosure(eps, 40)[0]
        for one, two in linf_pairs(["0", "1"], 2):
            first, second = (
                {
                    tuple(o.output.values()): o.probability.at(eps, 40)[0]
                    for o in program.outcomes(dict(zip(program.inputs, point, strict=True)))
                }
                for point in (one, two)
            )
            for chosen in subsets(list({*first, *second})):
                excess = sum(first.get(a, 0) - scale * second.get(a, 0) for a in chosen)  # type: ignore[call-overload]
                worst[eps] = max(worst.get(eps, Fraction(0)), excess)
    allowed = {eps: report.claim.delta.at(eps, 40)[0] for eps in EPS}
    if report["verdict"] == "private":
        assert all(worst[eps] <= allowed[eps] + Fraction(1, 10**30) for eps in EPS)
    else:
        assert report["verdict"] == "not private"
        found = report.counterexample
        assert found is not None
        one_sum = sum(program.probability(found.input, output).at(found.eps, 40)[0] for output in found.outputs)
        two_sum = sum(program.probability(found.adjacent, output).at(found.eps, 40)[0] for output in found.outputs)
        scale = ExpPoly.term(1, 0, factor).enclosure(found.eps, 40)[0]
        assert one_sum > scale * two_sum + report.claim.delta.at(found.eps, 40)[0]
        assert "outputs" in report["counterexample"]


def test_both_verdicts_occur() -> None:
    program = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
    for delta, verdict in (("1/3", "private"), ("1/100", "not private")):
        report = dipc.check_privacy(program, "linf:1", inputs="q = 0..1", budget="eps/4", delta=delta)
        assert report["verdict"] == verdict
