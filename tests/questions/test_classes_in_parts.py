"""Classes of all real inputs that no single bound decides: inputs that are searched for, parts, and better bounds."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import exp

import pytest

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Limits
from dipc.chain.state import Affine, constraint
from dipc.claims.claim import ClaimOptions
from dipc.measure.event import Noise
from dipc.measure.measure import Bound, BoundMeasurer, Share
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.laplace import LAPLACE
from dipc.program.ideal import Region
from dipc.program.metric import ConvexSet, Norm
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.report import ClassResult
from dipc.rules.centered_exits import CenteredExit, ExitFinder, NoiseComponent, united, with_weights
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import ends
from dipc.rules.facets import FacetMetric, choices
from dipc.rules.goal import Goal
from dipc.rules.halfspaces import inwards, step_of, still
from dipc.rules.joint_tails import joint_tails
from dipc.rules.rule import Farkas, Requirement
from dipc.rules.vertices import vertices
from dipc.sign.interval import Interval
from dipc.text.ast import CompareOp
from dipc.verifier.document import check_text
from tests.questions.real_programs import check_all, program
from tests.questions.test_all_inputs import agrees_with_rows

F = Fraction
EVERY_EPS = (Interval.POSITIVE,)

RANDOMIZED_RESPONSE = """
program response; input q : real; output out : {0..1} = 0; var b : {0..1} = 0;
ideal { if q >= 0 then out <- 1 end }
claim { alpha: dd; beta: 1/2; }
if q >= 0 then b <- 1 end;
out <- choose { b : 1/(1+exp(-eps)), 1-b : exp(-eps)/(1+exp(-eps)) }
"""

NOISY_RESPONSE = RANDOMIZED_RESPONSE.replace("var b", "var r : real; var b").replace(
    "if q >= 0 then b <- 1", "r <- Lap(eps, q); if r >= 0 then b <- 1"
)


def released(body: str) -> str:
    """A program that should release its input."""
    return f"program p; input q : real; output o : real; ideal {{ o <- q }} claim {{ alpha: 0; beta: 1/2; }} {body}"


@pytest.mark.parametrize(
    ("source", "beta", "verdict"),
    [
        (RANDOMIZED_RESPONSE, "1/2", "accurate"),
        (RANDOMIZED_RESPONSE, "1/3", "inaccurate"),
        (RANDOMIZED_RESPONSE, "exp(-eps/2)/2", "accurate"),  # 1/(1 + e^-eps) >= 1 - e^(-eps/2)/2
        (RANDOMIZED_RESPONSE, "exp(-eps)/2", "inaccurate"),
        (RANDOMIZED_RESPONSE, "1/2 + exp(-alpha*eps)", "accurate"),
        (RANDOMIZED_RESPONSE, "1/4 + 2*exp(-alpha*eps/4)", "inaccurate"),  # where alpha is large and eps small
        (NOISY_RESPONSE, "1/2", "accurate"),  # p·w + (1-p)(1-w) with p and w at least 1/2
        (NOISY_RESPONSE, "1/2 + exp(-alpha*eps)/2", "accurate"),
        (NOISY_RESPONSE, "49/100", "inaccurate"),
    ],
)
def test_weights_that_depend_on_eps(source: str, beta: str, verdict: str) -> None:
    assert str(check_all(dipc.load(source), beta=beta).verdict) == verdict
    agrees_with_rows(source, seed=1, count=6, beta=beta)


@pytest.mark.parametrize(
    ("body", "gamma", "verdict", "refuting"),
    [
        ("o <- q + 1", "free", "inaccurate", None),
        ("o <- q + 1", "1", "accurate", None),
        ("o <- q + 1", "1/2", "inaccurate", None),
        ("o <- 2*q", "5", "inaccurate", None),
        ("if q <= 5 and q >= -5 then o <- 2*q else o <- q end", "5", "accurate", None),
        ("if q <= 6 and q >= -5 then o <- 2*q else o <- q end", "5", "inaccurate", None),
        ("if q = 5 then o <- 0 else o <- q end", "0", "inaccurate", "5"),
        ("if q = 5 then o <- 0 else o <- q end", "5", "accurate", None),
        ("if q > 5 then o <- 5 else o <- q end", "1", "inaccurate", None),
    ],
)
def test_programs_without_noise(body: str, gamma: str, verdict: str, refuting: str | None) -> None:
    report = check_all(dipc.load(released(body)), gamma=gamma)
    assert str(report.verdict) == verdict
    if refuting is not None:
        (row,) = report.failures
        assert row.input == {"q": refuting}


#: Claims of which single bounds prove nothing, with what they come to.
HARDER = {
    "another answer behind two thresholds": (
        program(
            "if x - y <= 1/2 or y >= 0 then o <- a else o <- c end",
            "r <- Lap(2*eps, x - y); s <- Lap(2*eps, y); if r <= 1/2 or s >= 0 then o <- a else o <- c end",
            "alpha: dd; beta: 2*exp(-alpha*eps/2)",
        ),
        "accurate",
    ),
    "the same answer both ways": (
        program(
            "if x >= 0 then if y >= 0 then o <- b end else o <- b end",
            "r <- Lap(eps, x); if r >= 0 then if y >= 0 then o <- b end else o <- b end",
            "alpha: dd; beta: exp(-alpha*eps)",
        ),
        "accurate",
    ),
    "another answer behind two thresholds, in the sum norm": (
        program(
            "if y < -1 then o <- b else if x - 3*y > -1 then o <- a else o <- b end end",
            "r <- Lap(eps, y); s <- Lap(eps, x - 3*y);"
            "if r < -1 then o <- b else if s > -1 then o <- a else o <- b end end",
            "alpha: 1; beta: 2*exp(-alpha*eps)",
            "input: l1",
        ),
        "inaccurate",  # at y = -5/4, x = -19/4 the other answer has at least exp(-eps/4)/4
    ),
    "a threshold behind either side of another": (
        program(
            "if x - y <= 0 then if x + y < 1 then o <- a else o <- b end"
            " else if x + y > 1/2 then o <- b else o <- a end end",
            "r <- Lap(2*eps, x - y); s <- Lap(eps, x + y);"
            "if r <= 0 then if s < 1 then o <- a else o <- b end else if s > 1/2 then o <- b else o <- a end end",
            "alpha: 1; beta: 1/2",  # p·q + (1 - p)·v with q and v at least 1/2
        ),
        "accurate",
    ),
    "two tails at a corner": (
        program(
            "if x - y <= 0 then o <- a else if y <= 0 then o <- a else o <- b end end",
            "r <- Lap(eps, x - y); s <- Lap(eps/2, y);"
            "if r <= 0 then o <- a else if s <= 0 then o <- a else o <- b end end",
            "alpha: dd; beta: exp(-alpha*eps/2)",
        ),
        "accurate",
    ),
    "another comparison without bound along an edge": (
        program(
            "if x + y <= 2 then o <- a else o <- b end",
            "r <- Lap(eps, x + y); s <- Lap(eps, x - y);"
            "if x + y <= 2 then o <- a else if r <= 0 and s > 0 then o <- a else o <- b end end",
            "alpha: 0; beta: 1/4",
        ),
        "inaccurate",  # near x + y = 2 with x - y large the other answer has nearly 1/2
    ),
    "far away the other number is another answer": (
        """
        program p; input x, y : real; output o : real; var r : real;
        ideal { if x >= 0 then o <- y else o <- 0 end }
        claim { alpha: 0; gamma: free; beta: exp(-2*gamma*eps); }
        r <- Lap(eps/2, x); if r >= 0 then o <- Lap(2*eps, y) else o <- 0 end
        """,
        "inaccurate",
    ),
}


@pytest.mark.parametrize("name", HARDER)
def test_classes_that_no_single_bound_decides(name: str) -> None:
    source, verdict = HARDER[name]
    assert str(check_all(dipc.load(source)).verdict) == verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", HARDER)
def test_no_input_contradicts_the_parts(name: str) -> None:
    # Rows of real outputs are decided for one gamma at a time.
    agrees_with_rows(HARDER[name][0].replace("gamma: free", "gamma: 2"), seed=2, count=100)


def test_a_class_in_parts_has_a_row_for_each() -> None:
    report = check_all(dipc.load(HARDER["another answer behind two thresholds"][0]))
    assert [row.row for row in report.rows] == list(range(1, len(report.rows) + 1))
    notes = [row.note for row in report.rows if isinstance(row, ClassResult)]
    assert len({(note.conditions, tuple(note.answer.items())) for note in notes}) == len(notes) > 2


@pytest.mark.parametrize(
    ("source", "beta"),
    [(HARDER["another answer behind two thresholds"][0], None), (RANDOMIZED_RESPONSE, "1/2 + exp(-alpha*eps)")],
)
def test_parts_and_weights_at_their_ends_are_certified(source: str, beta: str | None) -> None:
    found = check_text(dipc.certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True, beta=beta)))
    assert found.verdict == "accurate"
    assert found.complete


# --- the parts of it --------------------------------------------------------------------------------

PLANE = Region((), ())


@pytest.mark.parametrize("norm", [Norm.LINF, Norm.L1])
def test_some_facet_is_as_far_as_the_region_is(norm: Norm) -> None:
    """The distance of a point from a polygon is the greatest violation of one facet.

    The oracle is linear programming over the points of the polygon.
    """
    chance = random.Random(norm.value)
    seen = 0
    while seen < 12:
        sides = [[chance.randint(-3, 3) for _ in range(3)] for _ in range(chance.choice([2, 3]))]
        forms = [Affine((), tuple((k, F(c)) for k, c in enumerate((a, b)) if c), F(d, 2)) for a, b, d in sides]
        guards = tuple(constraint(form, CompareOp.GE) for form in forms if form.inputs)
        rival = ConvexSet(guards, 100)
        if len(guards) < 2 or rival.is_empty:
            continue
        seen += 1
        found = [facet for (facet,) in choices(PLANE, (Region(guards, ()),), FacetMetric(norm), slanted=True)]
        for point in ({slot: F(chance.randint(-9, 9), 2) for slot in (0, 1)} for _ in range(3)):
            assert max(0, *(still(facet).evaluate(point) / step_of(facet) for facet in found)) == rival.distance(
                norm, point
            )


NOISE = Noise(LAPLACE, F(1), F(0))


def half(slack: int, *coefficients: int) -> Affine:
    terms = tuple((place, F(c)) for place, c in enumerate(coefficients) if c)
    return Affine(terms, (), F(slack))


def way(weight: ExpPoly | None, *halves: Affine) -> CenteredExit:
    noises = (NOISE,) * (1 + max((place for each in halves for place, _ in each.noises), default=0))
    return CenteredExit((), weight, (), False, (NoiseComponent(noises, halves),) if halves else ())


def sum_of(exits: tuple[CenteredExit, ...]) -> ClosedForm:
    """Σ weight·Pr at slacks that are numbers."""
    shares = []
    for found in exits:
        events = [part.event([(each.constant, F(0)) for each in part.halfspaces]) for part in found.parts]
        shares.append(Share(found.weight, tuple(events)))
    return BoundMeasurer().measure(Bound(tuple(shares)))


LESS, MORE = ExpPoly.term(F(1, 2), 0, -1), ExpPoly.ONE - ExpPoly.term(F(1, 2), 0, -1)


@pytest.mark.parametrize(
    ("exits", "left"),
    [
        ([way(None, half(1, 1)), way(None, half(-1, -1), half(2, 0, 1)), way(None, half(-1, -1), half(-2, 0, -1))], 1),
        ([way(MORE, half(1, 1)), way(LESS, half(-1, -1))], 2),
        ([way(LESS, half(1, 1)), way(MORE, half(-1, -1))], 2),
        ([way(None, half(1, 1), half(0, 1, 1)), way(None, half(-1, -1), half(0, 1, 1))], 1),
        ([way(None, half(1, 1)), way(None, half(0, -1))], 2),
    ],
)
def test_ways_that_are_put_together_have_the_same_sum(exits: list[CenteredExit], left: int) -> None:
    found = united(exits, EVERY_EPS, Limits())
    assert sum_of(found) == sum_of(tuple(exits))
    assert len(found) == left
    for each in found:
        weight = ClosedForm(ExpPoly.ONE if each.weight is None else each.weight)
        assert weight.at_least(0).verdict is dipc.Verdict.ACCURATE


def test_events_of_integer_noise_are_put_together() -> None:
    noises = (Noise(DISCRETE_LAPLACE, F(1), F(0)),)

    def exit_behind(*halves: Affine) -> CenteredExit:
        return CenteredExit((), None, (), False, (NoiseComponent(noises, halves),) if halves else ())

    # N <= -1, N = 0 and N >= 1
    exits = (exit_behind(half(-1, -1)), exit_behind(half(0, 1), half(0, -1)), exit_behind(half(-1, 1)))
    assert united(exits, EVERY_EPS, Limits()) == (exit_behind(),)
    apart = (exit_behind(half(-1, -1)), exit_behind(half(-1, 1)))
    assert united(apart, EVERY_EPS, Limits()) == apart


def test_bounds_at_vertices_and_of_tails_together_are_bounds() -> None:
    chance = random.Random(7)
    first, second = Affine.input(0), Affine.input(1)
    facets = tuple(inwards(form, F(0)) for form in (first, second, first + second - Affine.number(F(2))))
    distances = Requirement(F(0), F(0), F(0), F(0))

    def comparison(slack: Affine, sign: int) -> NoiseComponent:
        return NoiseComponent((NOISE,), (Affine(((0, F(sign)),), (), F(0)) + slack.scaled(F(sign)),))

    one, two = (comparison(form, 1) for form in (first, second))
    not_one, not_two = (comparison(form, -1) for form in (first, second))
    ways = [CenteredExit((), None, (), False, parts) for parts in ((one, two), (not_one,))]
    others = [CenteredExit((), None, (), False, (not_one, not_two))]

    class GivenExits(ExitFinder):
        def other_exits(self, *_: object) -> tuple[CenteredExit, ...]:
            return tuple(others)

    response = dipc.load(RANDOMIZED_RESPONSE)
    source = EveryInput(response, ClassClaim(response, ClaimOptions()))
    convex = next(case.convex for case in source.cases() if isinstance(case, ClassCase))
    setting = replace(source.setting, exits=GivenExits(response))
    goal = Goal(setting, replace(convex, guards=(), exits=tuple(ways), facets=facets), distances)
    at_vertices, joint = vertices(goal), joint_tails(goal)
    assert at_vertices is not None
    assert joint is not None
    (tails,) = joint.functions
    assert isinstance(joint.evidence, Farkas)
    assert first + second in [slack.form for slack in joint.evidence.slacks]
    measure = BoundMeasurer().measure
    for _ in range(12):
        u, v = F(chance.randint(0, 6), 2), F(chance.randint(0, 6), 2)
        if u + v < 2:
            continue
        at = {0: u, 1: v}

        def sum_at(exits: list[CenteredExit], at: dict[int, F] = at) -> float:
            events = [
                tuple(part.event([(h.noiseless.evaluate(at), F(0)) for h in part.halfspaces]) for part in e.parts)
                for e in exits
            ]
            return measure(Bound(tuple(Share(None, each) for each in events))).float(F(1))

        assert sum_at(ways) >= min(measure(bound).float(F(1)) for bound in at_vertices.functions) - 1e-12
        assert 1 - sum_at(others) >= measure(tails).float(F(1)) - 1e-12
    # At the corner u = 2, v = 0 they are what is there.
    assert measure(tails).float(F(1)) == pytest.approx(1 - exp(-2) / 4)


def test_the_weights_of_one_coin_are_between_their_ends() -> None:
    exits = [way(MORE, half(1, 1)), way(LESS, half(-1, -1)), way(None, half(3, 1)), way(MORE - LESS)]
    found = ends(exits, Limits())
    assert found == ({MORE: F(1, 2), LESS: F(1, 2), MORE - LESS: 0}, {MORE: 1, LESS: 0, MORE - LESS: 1})
    assert [each.weight for each in with_weights(exits, found[0])] == [F(1, 2), F(1, 2), None]


@pytest.mark.parametrize("other", [ExpPoly.term(F(1, 2), 0, -2), ExpPoly.term(1, 1, -1), ExpPoly.term(1, 0, 1)])
def test_weights_of_two_coins_have_no_such_ends(other: ExpPoly) -> None:
    """Another rate, or what rises and falls again, or has no limit."""
    assert ends([way(LESS), way(other)], Limits()) is None
