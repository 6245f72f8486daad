"""Classes between two thresholds: bounds at the corners of a class, at one distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

import dipc
from dipc.chain.state import Affine
from dipc.claims.claim import ClaimOptions
from dipc.claims.given import Cell, value_of
from dipc.measure.measure import BoundMeasurer
from dipc.program.program import Cells, Probabilities
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.source import Case
from dipc.questions.witnesses import Witnesses
from dipc.rules.class_claim import ClassClaim
from dipc.rules.goal import Goal
from dipc.rules.halfspaces import inwards
from dipc.rules.log_concave import corners
from dipc.rules.rule import Requirement
from dipc.text.core import Value

F = Fraction

HEAD = "program band; input q[1..2] : real; output out : {0, 1} = 0; var r, s : real;"
SHARED = (
    f"{HEAD} ideal {{ if q[1] >= 0 and q[1] <= 5 then out <- 1 end }}"
    " r <- Lap(eps, q[1]); s <- r; if r >= 0 and s <= 5 then out <- 1 end"
)
APART = SHARED.replace("s <- r", "s <- Lap(eps/2, q[1])")
SUM = SHARED.replace("q[1] >= 0 and q[1] <= 5", "q[1] + q[2] >= 0 and q[1] + q[2] <= 5").replace(
    "Lap(eps, q[1])", "Lap(eps, q[1] + q[2])"
)


@pytest.mark.parametrize(
    ("source", "beta", "alpha", "eps", "verdict"),
    [
        (SHARED, "(exp(-eps) + exp(-4*eps))/2", 1, "(0, inf)", "accurate"),  # exactly what is needed at q = 1
        (SHARED, "(exp(-eps) + exp(-9*eps/2))/2", 1, "(0, inf)", "inaccurate"),
        (SHARED, "exp(-eps/2)", F(1, 2), "(0, inf)", "accurate"),
        (SHARED, "3/4", 0, "[1/2, 3)", "accurate"),
        (SUM, "(exp(-eps/2) + exp(-9*eps/2))/2", F(1, 4), "(0, inf)", "accurate"),
        (APART, "exp(-eps)/2 + exp(-2*eps)/2", 1, "(0, inf)", "inaccurate"),
    ],
)
def test_one_number_for_alpha(source: str, beta: str, alpha: Fraction, eps: str, verdict: str) -> None:
    report = dipc.check(dipc.load(source), inputs="all", beta=beta, alpha=alpha, eps=eps)
    assert str(report.verdict) == verdict, [row.reason for row in report.rows]


def two_sided_class(source: EveryInput) -> ClassCase:
    """The class with two sides."""
    cases = [case for case in source.cases() if isinstance(case, ClassCase)]
    return next(case for case in cases if len(case.convex.inputs.region.guards) == 2)


def test_bounds_are_below_the_probabilities() -> None:
    """The least bound at each eps is at most every probability behind the facets, and is attained at a corner."""
    program = dipc.load(APART)
    source = EveryInput(program, ClassClaim(program, ClaimOptions(beta="1/2")))
    case = next(
        case for case in source.cases() if hasattr(case, "convex") and len(case.convex.inputs.region.guards) == 2
    )
    slot = source.ideal.symbolic_inputs[0]
    inside = (inwards(Affine.input(slot), F(1)), inwards((-Affine.input(slot)).shifted(F(5)), F(1)))
    convex = replace(case.convex, facets=inside)
    found = corners(Goal(source.setting, convex, Requirement(F(1), F(0), F(0), F(0))))
    assert found is not None
    assert len(found.functions) == 2
    for eps in ("1/10", "1", "4"):
        least = min(BoundMeasurer(program.measurer).measure(bound).float(eps) for bound in found.functions)
        inputs = [F(n, 8) for n in range(8, 33)]
        values = [program.probability({"q[1]": q, "q[2]": 0}, {"out": 1}).float(eps) for q in inputs]
        assert min(values) == pytest.approx(least)


def test_where_nothing_is_known() -> None:
    """A distance that is left open, a slack without a bound, and integer noise."""
    program = dipc.load(SHARED)
    source = EveryInput(program, ClassClaim(program, ClaimOptions(beta="1/2")))
    slots = source.ideal.symbolic_inputs
    case = next(
        case for case in source.cases() if hasattr(case, "convex") and len(case.convex.inputs.region.guards) == 2
    )
    inside = (inwards(Affine.input(slots[0]), F(1)),)
    number, left_open = Requirement(F(1), F(0), F(0), F(0)), Requirement(F(0), F(1), F(0), F(0))
    assert corners(Goal(source.setting, replace(case.convex, facets=inside), number)) is None
    assert corners(Goal(source.setting, case.convex, left_open)) is None
    ints = dipc.load(SHARED.replace("real", "int").replace("Lap", "DLap"))
    other = EveryInput(ints, ClassClaim(ints, ClaimOptions(beta="1/2")))
    whole = next(
        case for case in other.cases() if hasattr(case, "convex") and len(case.convex.inputs.region.guards) == 2
    )
    assert corners(Goal(other.setting, whole.convex, number)) is None


def clipped_mean(n: int) -> str:
    places = range(1, n + 1)
    allowed = " and ".join(f"x[{i}] >= -5 and x[{i}] <= 12" for i in places)
    clipped = " ".join(f"c[{i}] <- max(min(x[{i}], 10), 0);" for i in places)
    sums = "(" + " + ".join(f"x[{i}]" for i in places) + f")/{n}"
    return (
        f"program mean; input x[1..{n}] : real; requires {allowed}; output out : real; var c[1..{n}] : real;"
        f" ideal {{ out <- {sums} }} {clipped} out <- Lap({n}*eps/10, {sums.replace('x', 'c')})"
    )


@pytest.mark.parametrize(("n", "verdict"), [(1, "accurate"), (3, "accurate"), (4, "accurate"), (3, "inaccurate")])
def test_an_error_that_depends_on_one_form(n: int, verdict: str) -> None:
    """The bias of a clipped mean is at most 5, and Pr[|bias + N| <= 8] is least at its ends, for any number of values.

    At x = (-5, …, -5) the probability is 1 - (e^(-3·n·eps/10) + e^(-13·n·eps/10))/2.
    """
    rate = F(n, 10)
    last = 13 if verdict == "accurate" else 14
    beta = f"(exp(-{3 * rate}*eps) + exp(-{last * rate}*eps))/2"
    report = dipc.check(dipc.load(clipped_mean(n)), inputs="all", beta=beta, alpha=0, gamma=8)
    assert str(report.verdict) == verdict
    assert len(report.rows) == 3**n


def test_inputs_that_may_refute_a_claim_share_one_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer of the program is explored once, however many inputs are tried."""
    plans: list[object] = []
    make = Probabilities._make_plan

    def counted(self: Probabilities, inputs: Sequence[Cell], outputs: Cells) -> object:
        plans.append(tuple(map(value_of, outputs)))
        return make(self, inputs, outputs)

    tried: list[object] = []
    case = Witnesses._case

    def case_at(self: Witnesses, inputs: Mapping[int, Value], gamma: Fraction | None) -> Case:
        tried.append(tuple(inputs.items()))
        return case(self, inputs, gamma)

    monkeypatch.setattr(Probabilities, "_make_plan", counted)
    monkeypatch.setattr(Witnesses, "_case", case_at)
    dipc.check(dipc.load(clipped_mean(2)), inputs="all", alpha=0, gamma="free", beta="exp(-(gamma - 5)*eps/5)")
    assert len(set(tried)) > 4 * len(plans)
    assert len(plans) <= 2  # of the claim, and of a weaker one
