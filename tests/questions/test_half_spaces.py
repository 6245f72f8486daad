"""Half-spaces, corners and facets: exact facts of linear arithmetic, against points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.chain.explore import explore
from dipc.chain.state import Affine, constraint, contradict
from dipc.linear.program import contradiction
from dipc.program.ideal import Distances, Ideal, Region
from dipc.program.metric import Norm
from dipc.rules import halfspaces, input_classes
from dipc.rules.centered_exits import MOST_SHARED, pieces
from dipc.rules.facets import FacetMetric, choices, facet_metric, facets, way_out
from dipc.rules.goal import slack_bound
from dipc.rules.halfspaces import (
    at_alpha,
    best_bound,
    bound_of,
    corner,
    greatest_alpha,
    inwards,
    least,
    point_at,
    single_bound,
    single_bounds,
    step_of,
    still,
)
from dipc.rules.input_classes import classes
from dipc.rules.rule import Requirement
from dipc.text.ast import CompareOp
from tests.patience import at_most, examples
from tests.questions.real_programs import ADVERSARIAL, NOISY_MAX, NUMERIC_SPARSE, SPARSE, program
from tests.questions.test_all_inputs import some_fast

F = Fraction
SLOTS = (0, 1)


def form(constant: object, **by_slot: object) -> Affine:
    terms = sorted((int(name[1:]), F(str(c))) for name, c in by_slot.items())
    return Affine((), tuple((slot, c) for slot, c in terms if c), F(str(constant)))


numbers = st.fractions(min_value=-4, max_value=4, max_denominator=3)
forms = st.builds(lambda a, b, c: form(c, x0=a, x1=b), numbers, numbers, numbers).filter(lambda f: bool(f.inputs))
moving = st.builds(inwards, forms, st.fractions(min_value=0, max_value=3, max_denominator=2))
points = st.fixed_dictionaries({0: numbers, 1: numbers})


def behind(some: list[Affine], point: dict[int, Fraction], alpha: Fraction) -> bool:
    return all(at_alpha(facet, alpha).contains(point) for facet in some)


@settings(max_examples=examples(5))
@given(st.lists(moving, min_size=1, max_size=4), forms, points, st.sampled_from([F(0), F(1, 2), F(1), F(3)]))
def test_bounds_hold_at_every_point_behind_the_facets(
    some: list[Affine], wanted: Affine, point: dict[int, Fraction], alpha: Fraction
) -> None:
    for bounding, fixed in ((single_bound, None), (best_bound, None), (best_bound, alpha), (single_bound, alpha)):
        bound = bounding(wanted, some, fixed)
        if bound is not None and behind(some, point, alpha):
            assert wanted.evaluate(point) >= bound.at_alpha(alpha)


boxes = st.builds(
    lambda slot, c, constant, step: inwards(form(constant, **{f"x{slot}": c}), step),
    st.sampled_from(SLOTS),
    numbers.filter(bool),
    numbers,
    st.fractions(min_value=0, max_value=3, max_denominator=2),
)


@settings(max_examples=examples(25))
@given(st.lists(st.one_of(boxes, moving), min_size=1, max_size=4), st.one_of(forms, boxes.map(still)))
def test_a_bound_by_one_facet_is_that_of_a_weight(some: list[Affine], wanted: Affine) -> None:
    """`bound_of` adds up the facet for the only weight that can prove the bound."""
    (slot, c), alpha = wanted.inputs[0], F(1)
    possible = [
        bound.at_alpha(alpha)
        for k, facet in enumerate(some)
        if (theirs := dict(still(facet).inputs).get(slot)) and (bound := bound_of(wanted, some, [(k, c / theirs)]))
    ]
    found = single_bound(wanted, some, alpha)
    assert (None if found is None else found.at_alpha(alpha)) == max(possible, default=None)


@settings(max_examples=examples(25))
@given(st.lists(boxes, min_size=1, max_size=5), st.sampled_from([None, F(0), F(2)]))
def test_corners_and_contradictions_of_boxes(some: list[Affine], alpha: Fraction | None) -> None:
    """Facets of one input each have one solution; a linear program finds the same."""
    tight = range(len(some))
    at = some if alpha is None else [facet.substituted({halfspaces.ALPHA: alpha}) for facet in some]
    found = halfspaces._corner_eliminated(at, tight, SLOTS)
    general = halfspaces._corner_solved(at, tight, SLOTS)
    assert (found is None) == (general is None)
    if found is not None and general is not None:
        mentioned = {still(facet).inputs[0][0] for facet in some}
        assert all(found[x] == general[x] for x in mentioned)
    facts = [constraint(still(facet), CompareOp.GT if step_of(facet) else CompareOp.GE) for facet in some]
    assert contradict(facts) == (contradiction([fact.guard for fact in facts]) is not None)


whole_points = st.fixed_dictionaries({0: st.integers(-4, 4).map(F), 1: st.integers(-4, 4).map(F)})


@settings(max_examples=examples(25))
@given(st.lists(moving, min_size=1, max_size=4), forms, whole_points, st.integers(1, 3), st.sampled_from([0, 100]))
def test_bounds_of_ints_hold_at_every_integer_distance(
    some: list[Affine], wanted: Affine, point: dict[int, Fraction], start: int, further: int
) -> None:
    """Raised to what a form of ints may be there, which is not true between these distances."""
    distances = Requirement(F(0), F(1), F(0), F(0), start, further)
    bound = slack_bound(wanted, some, distances, frozenset(SLOTS))
    for distance in range(start, start + 5):
        if bound is not None and behind(some, point, F(distance)):
            assert wanted.evaluate(point) >= bound.base + distance * bound.slope


@pytest.mark.parametrize(
    ("facet", "start", "base"),
    [
        (inwards(form("-1/2", x0=2), F(2)), None, F(1, 2)),  # 2·x0 >= 1/2 + 2·distance at any distance
        (inwards(form("-1/2", x0=2), F(2)), 1, F(2)),  # at an integer one 2·x0 - 2·distance is even
        (inwards(form("-1/2", x0=2), F(1)), 1, F(1)),  # 2·x0 - distance is an integer, and 1 at x0 = distance = 1
    ],
)
def test_bounds_of_ints_are_raised_by_what_form_and_slope_share(
    facet: Affine, start: int | None, base: Fraction
) -> None:
    distances = Requirement(F(0), F(1), F(0), F(0), start)
    bound = slack_bound(form(0, x0=2), [facet], distances, frozenset({0}))
    assert bound is not None
    assert (bound.base, bound.slope) == (base, step_of(facet))


@settings(max_examples=examples(5))
@given(st.lists(moving, min_size=1, max_size=4), forms, st.sampled_from([F(0), F(1), F(3)]))
def test_the_best_bound_at_one_alpha_is_the_least_value(some: list[Affine], wanted: Affine, alpha: Fraction) -> None:
    """The duality of linear programs, by two runs of the solver on different programs."""
    bound = best_bound(wanted, some, alpha)
    found = least(some, wanted, SLOTS, alpha)
    if bound is not None and found is not None:
        assert behind(some, found, alpha)
        assert wanted.evaluate(found) == bound.at_alpha(alpha)


def test_weights_that_prove_nothing_are_refused() -> None:
    some = [inwards(form(0, x0=1), F(1)), inwards(form(-1, x1=1), F(2))]
    assert bound_of(form(3, x0=1, x1=2), some, [(0, F(1)), (1, F(2))]) is not None
    assert bound_of(form(3, x0=1, x1=2), some, [(0, F(1)), (1, F(1))]) is None
    assert bound_of(form(3, x0=1, x1=-2), some, [(0, F(1)), (1, F(-2))]) is None


def test_a_bound_is_base_and_slope() -> None:
    some = [inwards(form(0, x0=1), F(1)), inwards(form(-1, x1=1), F(2))]
    bound = best_bound(form(3, x0=1, x1=2), some, None)
    assert bound is not None
    assert (bound.base, bound.slope) == (F(5), F(5))


@settings(max_examples=examples(5))
@given(st.lists(moving, min_size=1, max_size=4), st.sampled_from([F(1, 3), F(1), F(7)]))
def test_a_corner_is_behind_all_facets_at_every_alpha(some: list[Affine], alpha: Fraction) -> None:
    for tight in (range(0), range(1), range(len(some))):
        found = corner(some, tight, SLOTS, None)
        if found is not None:
            for at in (F(0), alpha):
                assert behind(some, point_at(found, at), at)
                assert all(at_alpha(some[k], at).value(point_at(found, at)) == 0 for k in tight)
        fixed = corner(some, tight, SLOTS, alpha)
        if fixed is not None:
            assert behind(some, point_at(fixed, alpha), alpha)
        assert found is None or fixed is not None


@settings(max_examples=examples(5))
@given(st.lists(moving, min_size=1, max_size=4), st.sampled_from([None, F(0), F(1), F(7)]))
def test_the_corners_of_equations_alone_are_some_of_all(some: list[Affine], alpha: Fraction | None) -> None:
    """Solving the equations first changes which corner is taken, never whether there is one."""
    for tight in (range(0), range(1), range(2), range(len(some))):
        met = [k for k in tight if k < len(some)]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(halfspaces, "_corner_eliminated", lambda *_: None)
            solved = corner(some, met, SLOTS, alpha)
        assert (corner(some, met, SLOTS, alpha) is None) is (solved is None)


def test_a_corner_where_the_free_inputs_are_not_zero() -> None:
    some = [inwards(form(0, x0=1), F(1)), inwards(form(-5, x1=1), F(1))]
    found = corner(some, [0], SLOTS, None)
    assert found is not None
    assert point_at(found, F(2))[0] == 2
    assert point_at(found, F(2))[1] >= 7


def test_no_corner_where_facets_meet_at_other_rates() -> None:
    """x >= alpha and -x + 1 >= alpha cannot be met at once, but for alpha = 1/2."""
    some = [inwards(form(0, x0=1), F(1)), inwards(form(1, x0=-1), F(1))]
    assert corner(some, [0, 1], SLOTS, None) is None
    assert corner(some, [0, 1], SLOTS, F(1)) is None
    assert corner(some, [0, 1], SLOTS, F(1, 2)) is not None
    assert ceiling_of(some) == F(1, 2)


def ceiling_of(some: list[Affine]) -> Fraction:
    found = greatest_alpha(some)
    assert found is not None
    # Σ weight·(form - alpha·step) does not depend on the input, so that alpha·Σ weight·step is at most its constant.
    total: dict[int, F] = {}
    for k, weight in found.weights:
        assert weight > 0
        for slot, c in still(some[k]).inputs:
            total[slot] = total.get(slot, F(0)) + weight * c
    assert not any(total.values())
    steps = sum(weight * step_of(some[k]) for k, weight in found.weights)
    assert sum(weight * some[k].constant for k, weight in found.weights) / steps == -found.base
    return -found.base


def test_the_greatest_alpha() -> None:
    assert greatest_alpha([inwards(form(0, x0=1), F(1))]) is None
    assert ceiling_of([inwards(form(0, x0=1), F(1)), inwards(form(0, x0=-1), F(1))]) == 0
    assert ceiling_of([inwards(form(0, x0=1), F(1)), inwards(form(-2, x0=-1), F(1))]) == -1


@pytest.mark.parametrize(("norm", "width", "direction"), [(Norm.LINF, 5, {0: 1, 1: -1}), (Norm.L1, 3, {1: -1})])
def test_the_shortest_way_out(norm: Norm, width: int, direction: dict[int, int]) -> None:
    way = way_out(form(7, x0=2, x1=-3), norm)
    assert way.width == width
    assert dict(way.direction) == direction
    assert sum(c * way.direction.get(slot, 0) for slot, c in way.facet.inputs) == width


def regions_of(source: str) -> tuple[Ideal, list[Region]]:
    ideal = Ideal(dipc.load(source))
    return ideal, list(ideal.regions({}))


@pytest.mark.parametrize("source", some_fast([SPARSE, NOISY_MAX, NUMERIC_SPARSE, *ADVERSARIAL.values()], 8))
def test_regions_with_the_answer_and_with_others_are_all_regions(source: str) -> None:
    ideal = Ideal(dipc.load(source))
    for found in classes(ideal):
        regions = [found.region, *found.others, *found.rivals]
        assert sorted(map(repr, regions)) == sorted(map(repr, ideal.regions(found.finite)))
        assert len(found.rivals) == len(list(found.rivals))
        assert all(rival.answer != found.region.answer for rival in found.rivals)
        constant = all(not isinstance(value, Affine) for region in regions for value in region.answer)
        assert not constant or all(other.answer == found.region.answer for other in found.others)


def test_rivals_of_thousands_of_classes_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The facets of a class come from the regions with its own answer, so that time is not quadratic in classes."""
    listed = 0

    def counted(self: Sequence[Region]) -> Iterator[Region]:
        nonlocal listed
        listed += 1
        return (region for region in self)

    monkeypatch.setattr(input_classes._OtherRegions, "__iter__", counted)
    report = dipc.check(dipc.load(MECHANISMS["sparse"].path, m=6, c=2), inputs="all")
    assert (report.verdict, len(report.rows), listed) == (dipc.Verdict.ACCURATE, 22, 0)


def test_all_answers_of_two_hundred_queries_are_explored_together() -> None:
    """The states of noisy max grow with the square of m, and those of 200 queries are few enough."""
    states = []
    for m in (10, 20, 40):
        core = dipc.load(MECHANISMS["noisy_max"].path, m=m)
        states.append(len(explore(core.flow, {}).states))
    assert states[1] < 4.2 * states[0]
    assert states[2] < 4.2 * states[1]
    assert states[2] * (200 / 40) ** 2 < MOST_SHARED


@pytest.mark.parametrize("source", some_fast([SPARSE, NOISY_MAX, NUMERIC_SPARSE, *ADVERSARIAL.values()], 8))
def test_every_input_is_behind_the_facets_of_its_distance(source: str) -> None:
    """dd(u) >= alpha implies the facets at alpha: at u itself, with alpha = dd(u)."""
    ideal = Ideal(dipc.load(source))
    metric = facet_metric(ideal)
    distances = Distances(ideal)
    values = [F(-5, 2), F(-1), F(-1, 3), F(0), F(1, 2), F(1), F(4)]
    slots = ideal.program.core.inputs
    for found in classes(ideal):
        moving_facets = facets(found.region, found.others, metric)
        sides = choices(found.region, found.rivals, metric)
        for first in values:
            for second in values:
                inputs = dict.fromkeys(slots, second) | {slots[0]: first}
                if not all(guard.holds_at(inputs) for guard in found.region.guards):
                    continue
                dd = distances.dd([inputs[slot] for slot in slots])
                if dd is not None:
                    assert behind(list(moving_facets), inputs, dd)
                    assert any(behind(list(side), inputs, dd) for side in sides)


def test_a_facet_to_the_same_answer_does_not_move() -> None:
    """Two rays of one answer side by side: the facet between them leads to no other answer."""
    source = program(
        "if x >= 1 and y > 0 then o <- b else if x >= 0 then o <- b end end",
        "r <- Lap(eps, x); if r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)",
    )
    ideal, _ = regions_of(source)
    for found in classes(ideal):
        steps = [step_of(facet) for facet in facets(found.region, found.others, FacetMetric(Norm.LINF))]
        if found.region.answer == ("b",) and found.others:
            assert F(0) in steps


def test_the_metric_of_numeric_sparse_keeps_its_facets() -> None:
    ideal, _ = regions_of(NUMERIC_SPARSE)
    for found in classes(ideal):
        assert all(step_of(facet) == 1 for facet in facets(found.region, found.others, facet_metric(ideal)))


def test_a_metric_that_forbids_the_way_across_stops_the_facet() -> None:
    far = NUMERIC_SPARSE.replace("q[i] >= T and q'[i] >= T and q[i] != q'[i]", "q[i] < T and q'[i] >= T")
    ideal, _ = regions_of(far)
    steps = [[step_of(w) for w in facets(f.region, f.others, facet_metric(ideal))] for f in classes(ideal)]
    assert [0] in [sorted(set(found)) for found in steps]  # all answers bot: nothing that is above can be reached


def test_pieces_cover_a_region_and_know_their_exits() -> None:
    source = ADVERSARIAL["a comparison of inputs on the way"]
    from dipc.rules.centered_exits import ExitFinder

    loaded = dipc.load(source)
    ideal = Ideal(loaded)
    region = ideal.regions({})[0]
    found = pieces(region.guards, ExitFinder(loaded).exits({}, region), 500)
    assert len(found) == 2
    assert all(len(exits) == 1 for _, exits in found)


def test_differences_of_int_inputs_show_their_exact_distance() -> None:
    """Half-spaces of random regions of bounds and differences, against the distance by enumeration."""
    random = Random(11)
    compared = 0
    for _ in range(60):
        slots = range(random.choice((2, 3)))
        signs = [random.choice((1, -1)) for _ in slots]
        forms = []
        for _ in range(random.choice((2, 3, 4))):
            one, other = random.sample(list(slots), 2)
            terms = (
                ((one, F(signs[one])),) if random.random() < 0.4 else ((one, F(signs[one])), (other, F(-signs[other])))
            )
            forms.append(Affine((), tuple(sorted(terms)), F(random.randint(-2, 2))))
        rival = Region(tuple([constraint(each, CompareOp.GE, True) for each in forms]), ("b",))
        sides = choices(Region((), ("a",)), [rival], FacetMetric(Norm.LINF), slanted=True)
        if contradict(rival.guards) or sides == ((),):
            continue
        inside = [dict(enumerate(map(F, point))) for point in product(range(-6, 7), repeat=len(slots))]
        inside = [point for point in inside if all(guard.holds_at(point) for guard in rival.guards)]
        for point in product(range(-3, 4), repeat=len(slots)):
            here = dict(enumerate(map(F, point)))
            dd = min((max(abs(there[slot] - here[slot]) for slot in slots) for there in inside), default=F(9))
            if 0 < dd <= 3:
                assert any(behind(list(side), here, dd) for side in sides), (rival, here)
                assert not any(behind(list(side), here, dd + 1) for side in sides), (rival, here)
                compared += 1
    assert compared > 2_000


def test_a_form_is_compared_with_the_facets_about_its_inputs_alone() -> None:
    every = [inwards(form(0, **{f"x{slot}": sign}), F(1)) for slot in range(2000) for sign in (1, -1)]
    single = single_bounds(every)
    with at_most(500 * 2000):
        bounds = [single(form(1, **{f"x{slot}": 2}), None) for slot in range(2000)]
    assert all(bound is not None and bound.weights == ((2 * slot, F(2)),) for slot, bound in enumerate(bounds))
