"""Normal and Laplace noise around a center, as the checker adds it up: against quadrature between all kinks."""

from __future__ import annotations

import itertools
import json
import math
import random
from contextlib import suppress
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import dipc
from dipc.certificate.events import star_data, tree_data
from dipc.linear.halfspace import Halfspace, weighted_sum
from dipc.linear.program import Interiors, implies
from dipc.verifier.document import check_text
from dipc.verifier.functions import ONE
from dipc.verifier.kinked import _rule
from dipc.verifier.messages import _Sum
from dipc.verifier.noise import Family, Normal
from dipc.verifier.normal import Cell, Enclosed, Hub, _read_star, star_of, without_implied
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.reals import Number
from dipc.verifier.signs import decay_bits
from dipc.verifier.taylor import NotShown
from dipc.verifier.trees import Center, Leaf, Spread, Tree, needed, read_tree
from tests.fuzz import test_normal_trees as trees
from tests.fuzz.normal_oracle import Comparison, Drawn, around, exact, over_plane, over_tree
from tests.verifier.mutations import item_at, mutated, places
from tests.verifier.samples import resealed

F = Fraction

#: Laws with their scales in 1/eps, or rates in eps, and means; and comparisons.
Drawing = tuple[list[tuple[str, Fraction, Fraction]], list[Comparison]]


def drawing(chance: random.Random) -> Drawing:
    """A center with which others are compared that have other bounds, too."""
    count = chance.randint(2, 4)
    noises = [
        (chance.choice(("Gauss", "Lap")), F(chance.randint(1, 6), 2), F(chance.randint(-3, 3))) for _ in range(count)
    ]
    noises[chance.randrange(count)] = ("Gauss", F(chance.randint(1, 6), 2), F(0))
    found = []
    for leaf in range(1, count):
        for _ in range(chance.choice((1, 1, 2))):
            a, b = chance.choice(((1, -1), (-1, 1), (1, 1), (2, -1), (-1, 2)))
            found.append(Comparison(((0, F(a)), (leaf, F(b))), F(chance.randint(-2, 8), 2)))
        if chance.random() < 0.4:
            found.append(Comparison(((leaf, F(chance.choice((-1, 1)))),), F(chance.randint(0, 9), 2)))
    if chance.random() < 0.5:
        found.append(Comparison(((0, F(chance.choice((-1, 1)))),), F(chance.randint(-1, 6), 2)))
    return noises, found


def event(drawn: Drawing) -> Tree | None:
    """The event as the checker has it; None if it is several."""
    noises, comparisons = drawn
    laws = tuple((Normal(False), s**2) if law == "Gauss" else (Family.LAPLACE, s) for law, s, _ in noises)
    rows = [
        (tuple((i, int(c)) for i, c in item.terms), item.constant + sum(c * noises[i][2] for i, c in item.terms))
        for item in comparisons
    ]
    hanging = laws, tuple(rows)
    found = star_of(hanging) if len(without_implied(hanging)) == 1 else None
    return found if isinstance(found, Tree) else None


def probability(drawn: Drawing, eps: Fraction) -> mpmath.mpf:
    noises, comparisons = drawn
    laws = [Drawn(law, s / eps if law == "Gauss" else s * eps, mean) for law, s, mean in noises]
    return around(laws, comparisons, 0)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 200))])
def test_sums_over_nodes_are_as_near_as_they_say(seed: int) -> None:
    chance = random.Random(f"kinked {seed}")
    drawn = drawing(chance)
    found = event(drawn)
    if found is None:
        return
    middle = F(chance.choice((1, 1, 2, 4, 9)), 4)
    for radius, terms, accuracy in ((F(0), 1, 60), (middle / 8, 14, 30), (middle, 24, 24)):
        cell = Cell(middle, radius, terms, accuracy, Budget())
        try:
            series = cell.star(found)
        except NotShown:
            assert radius, "at one eps all is shown"
            continue
        left = F(0)
        if radius:
            left = min(
                (most * q**terms / (1 - q) for q, _, most in cell.disks(Enclosed({(found,): (ONE, ONE)}))), default=F(9)
            )
        with mpmath.workdps(30):
            for u in (F(-1, 2), F(1)) if radius else (F(0),):
                value = sum(mpmath.mpf(c) * exact(u) ** k for k, c in enumerate(series.coefficients))
                off = abs(value / mpmath.mpf(2) ** cell.bits - probability(drawn, middle + radius * u))
                allowed = (
                    mpmath.mpf(2) ** -accuracy + mpmath.mpf(series.error) / mpmath.mpf(2) ** cell.bits + exact(left)
                )
                assert off <= allowed + mpmath.mpf(10) ** -22
    assert _read_star(json.loads(json.dumps(star_data(found)))) == found


def over_two(chance: random.Random) -> tuple[list[Drawn], list[Comparison]]:
    """Events at eps = 1: a chain of four, values between two others, noise around a noisy value, compared sums."""
    count = chance.randint(4, 5)
    noises = [Drawn("Gauss", F(chance.randint(1, 6), 2), F(chance.randint(-3, 3))) for _ in range(count)]
    d = [F(chance.randint(-2, 8), 2) for _ in range(2 * count)]
    match chance.choice(("chain", "between", "around", "apart", "sums")):
        case "chain":
            pairs = [((0, F(1)), (2, F(-1))), ((0, F(-1)), (1, F(1))), ((1, F(-2)), (3, F(1)))]
            rows = [Comparison(pair, d[k]) for k, pair in enumerate(pairs)]
        case "between":
            rows = [
                Comparison(pair, d[2 * i + side])
                for i in range(2, count)
                for side, pair in enumerate((((0, F(1)), (i, F(-1))), ((1, F(-1)), (i, F(1)))))
            ]
        case "around":
            rows = [
                Comparison(((0, F(1)), (1, F(-1))), d[0]),
                Comparison(((0, F(1)), (1, F(1)), (2, F(-1))), d[1]),
                Comparison(((0, F(2)), (1, F(-2))), d[2]),
                Comparison(((1, F(1)), (3, F(3))), d[3]),
            ]
        case "apart":
            rows = [Comparison(((i % 2, F(chance.choice((-1, 1)))), (i, F(1))), d[i]) for i in range(2, count)]
            rows.append(Comparison(((0, F(1)), (1, F(chance.choice((-2, -1, 1))))), d[0]))
            rows.append(Comparison(tuple((i, -c) for i, c in rows[-1].terms), d[1] - d[0] + 1))
        case _:
            rows = [
                Comparison(((0, F(1)), (1, F(chance.choice((-1, 1)))), (i, F(chance.choice((-2, 1, 3))))), d[i])
                for i in range(2, count)
            ]
            rows.append(Comparison(((0, F(1)), (2, F(1))), d[0]))
    return noises, rows


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 150))])
def test_sums_over_trees_are_as_near_as_they_say(seed: int) -> None:
    chance = random.Random(f"plane {seed}")
    noises, rows = over_two(chance)
    laws = tuple((Normal(False), noise.scale**2) for noise in noises)

    def hanging(order: list[int], signs: list[int]) -> Hub:
        said = [
            (
                tuple((order.index(i), int(c) * signs[i]) for i, c in item.terms),
                item.constant + sum(c * noises[i].mean for i, c in item.terms),
            )
            for item in chance.sample(rows, len(rows))
        ]
        return star_of((tuple(laws[i] for i in order), tuple(said)))

    count = len(noises)
    found = hanging(list(range(count)), [1] * count)
    assert isinstance(found, Tree)
    other = hanging(chance.sample(range(count), count), [chance.choice((-1, 1)) for _ in noises])
    assert found == other
    assert _read_star(json.loads(json.dumps(star_data(found)))) == found
    wanted = {F(0): over_plane(noises, rows, (0, 1))}
    total = Enclosed({(found,): (ONE, ONE)})
    for radius, terms, accuracy in ((F(0), 1, 34), (F(1, 8), 10, 24)):
        cell = Cell(F(1), radius, terms, accuracy, Budget())
        series = cell.star(found)
        left = min((most * q**terms / (1 - q) for q, _, most in cell.disks(total)), default=F(0)) if radius else F(0)
        for u in (F(0), F(1)) if radius else (F(0),):
            if u not in wanted:
                eps = 1 + radius * u
                scaled = [Drawn("Gauss", noise.scale / eps, noise.mean) for noise in noises]
                wanted[u] = over_plane(scaled, rows, (0, 1))
            value = sum(float(c) * float(u) ** k for k, c in enumerate(series.coefficients)) / 2.0**cell.bits
            assert abs(value - wanted[u]) <= 2.0**-accuracy + series.error / 2.0**cell.bits + float(left) + 1e-9
    assert (
        found.tails is None
        or 1 - wanted[F(0)]
        <= sum(math.exp(-float(rate.factor)) / 2 for rate in found.tails if isinstance(rate, Number)) + 1e-9
    )


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 100))])
def test_sums_over_trees_of_many_centers_are_as_near_as_they_say(seed: int) -> None:
    """Integrals of piecewise polynomials along the tree agree, at one eps and around it."""
    noises, stated, eps = trees.drawing(random.Random(f"many {seed}"), hostile=False)
    rows = []
    for item in stated:
        unit = math.lcm(*(c.denominator for _, c in item.terms))
        d = item.constant + sum(c * noises[i][1] for i, c in item.terms)
        rows.append((tuple((i, int(c * unit)) for i, c in item.terms), d * unit))
    try:
        found = star_of((tuple((Normal(False), size**2) for size, _ in noises), tuple(rows)))
    except NotDerived:
        return
    total = Enclosed({(found,): (ONE, ONE)})
    for radius, terms, accuracy in ((F(0), 1, 50), (eps / 16, 10, 24)):
        cell = Cell(eps, radius, terms, accuracy, Budget())
        series = cell.star(found)
        left = min((most * q**terms / (1 - q) for q, _, most in cell.disks(total)), default=F(9)) if radius else F(0)
        with mpmath.workdps(30):
            drawn = [Drawn("Gauss", size / (eps + radius), mean) for size, mean in noises]
            value = sum(map(mpmath.mpf, series.coefficients)) / mpmath.mpf(2) ** cell.bits
            allowed = exact(left + F(1, 2**accuracy) + F(series.error, 2**cell.bits)) + mpmath.mpf(10) ** -20
            assert abs(value - over_tree(drawn, stated, 0)) <= allowed


BOTH = """program both; input q : real; output r : bool; var a, b, s, t : real; ideal { r <- q >= 0 and q <= 4 }
a <- Gauss(1, 0); b <- Gauss(1, 4); s <- Gauss(1, q); t <- Gauss(1, q); r <- s >= a and s <= b and t >= a and t <= b"""


@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_what_is_false_of_a_tree_is_never_accepted_in_full(count: int) -> None:
    """False claims are not accepted whatever else is changed in their evidence and their event."""
    noises = [Drawn("Gauss", F(1), F(mean)) for mean in (0, 4, 2, 2)]
    rows = [Comparison(((i, F(1)), (0, F(-1))), F(0)) for i in (2, 3)]
    rows += [Comparison(((1, F(1)), (i, F(-1))), F(0)) for i in (2, 3)]
    missed = F(1 - over_plane(noises, rows, (0, 1)))
    report = dipc.check(dipc.load(BOTH), inputs="q=2", alpha=0, beta=missed + F(1, 10**6), keep_proofs=True)
    text = dipc.certify(report)
    assert check_text(text).complete
    chance = random.Random(f"false {count}")
    for off in (F(1, 100), F(1, 10**4), F(1, 10**7)):
        false = json.loads(text)
        false["claim"]["beta"] = str(missed - off)
        false["betas"] = [{"min": [[[0, "0", str(missed - off)]]]}]
        for number in range(count):
            forged = false
            for _ in range(number % 3):
                named = ("obligations", "probabilities", "rows")
                forged, _ = mutated(forged, [path for path in places(forged) if path[0] in named], chance)
            with suppress(Rejected):
                accepted = check_text(resealed(forged))
                about = forged["rows"] and forged["rows"][0]["input"] == ["2"]
                assert not (accepted.complete and accepted.verdict == "accurate" and about)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (400, 1, 1, 400), (81, F(1, 81), 1, 9)])
def test_what_a_tree_leaves_out_is_small_for_all_places_of_the_parent(sizes: tuple[Fraction, ...]) -> None:
    """The outermost places are up to a step beyond the reach of the parent: values drawn around each other."""
    rows = [((*tuple((i, 1) for i in range(n + 1)), (4 + n, -1)), F(0)) for n in range(4)]
    found = star_of((tuple((Normal(False), F(size)) for size in (*sizes, 1, 1, 1, 1)), tuple(rows)))
    assert isinstance(found, Tree)
    summed = _Sum(found, Cell(F(1), F(0), 1, 20, Budget(10**9)))
    plan = summed._plan
    assert any(center.slope for center in plan.centers)
    for number, (center, parent) in enumerate(zip(plan.centers, plan.parents, strict=True)):
        if number:
            farthest = summed._places(parent, F(0))[-1] * summed._steps[parent]
            far = summed._reaches[number] - abs(center.slope) * farthest
            assert decay_bits(far**2 / (2 * center.spread.size)) >= plan.accuracy(20) >= 23 + plan.bits


@pytest.mark.parametrize("number", ["1" + "0" * 300, "1/1" + "0" * 300])
@pytest.mark.parametrize("answer", ["a <= b and b <= c and c <= d", "a <= b and a <= l and a <= c and a >= -5"])
def test_numbers_of_any_size_are_read_without_a_traceback(answer: str, number: str) -> None:
    """Numbers of a tree and of a star with kinks, on an interval."""
    lines = "program p; output o : bool; var a, b, c, d, l : real; a <- Gauss(1/eps, 0); b <- Gauss(1/eps, 10);"
    lines += " c <- Gauss(1/eps, 20); d <- Gauss(1/eps, 30); l <- Lap(eps, 9);"
    program = dipc.load(f"{lines} o <- {answer}")
    report = dipc.check(program, [{"o": True}], beta="1/3", alpha=0, eps="[2, 9/4]", keep_proofs=True)
    data = json.loads(dipc.certify(report))
    numbers = [path for path in places(data) if path[0] == "probabilities" and item_at(data, path) in ("0", "1", "-1")]
    for path in numbers:
        changed = json.loads(json.dumps(data))
        item_at(changed, path[:-1])[path[-1]] = number
        with suppress(Rejected):
            assert not check_text(resealed(changed)).complete


def test_what_a_rule_says_of_polynomials() -> None:
    for count in (3, 14, 40):
        nodes, slip = _rule(count, 150)
        assert slip < F(1, 2**130)
        with mpmath.workdps(60):
            for j in range(2 * count):
                found = sum(exact(w) * mpmath.chebyt(j, exact(x)) for x, w in nodes)
                wanted = mpmath.mpf(0) if j % 2 else mpmath.mpf(2) / (1 - j * j)
                assert abs(found - wanted) <= exact(slip) / 2
        assert all(w > 0 for _, w in nodes)


def test_equal_events_are_equal_objects() -> None:
    """Multiples and signs of half-spaces and noises make no difference."""
    laws = ((Normal(False), F(4)), (Family.LAPLACE, F(1)), (Normal(False), F(9)))
    rows = ((((0, 1), (1, -1)), F(2)), (((0, 2), (2, -2)), F(-4)), (((1, 1),), F(3)))
    other = ((Normal(False), F(9)), (Normal(False), F(4)), (Family.LAPLACE, F(1)))
    turned = ((((2, -3),), F(9)), (((1, -3), (2, 3)), F(6)), (((0, 1), (1, -1)), F(-2)))
    assert star_of((laws, rows)) == star_of((other, turned))


@pytest.mark.parametrize("seed", range(60))
def test_what_others_imply_is_left_out(seed: int) -> None:
    """Linear programs show that the rest implies what is left out, and that no half-space of the rest is implied."""
    noises, comparisons = drawing(random.Random(f"needed {seed}"))
    rows = [(dict(item.terms), item.constant) for item in comparisons]
    chance = random.Random(seed)
    spaces = [Halfspace(item.terms, item.constant) for item in comparisons]
    for value in range(len(noises)):
        # Sums of others on one value alone.
        for pair in itertools.combinations(range(len(spaces)), 2):
            total = weighted_sum(spaces, dict.fromkeys(pair, F(chance.randint(1, 3))))
            if [key for key, _ in total.coefficients] == [value]:
                rows.insert(
                    chance.randint(0, len(rows)), (dict(total.coefficients), total.constant + chance.choice((0, 1)))
                )
    spaces = [Halfspace(tuple(sorted(row.items())), d) for row, d in rows]
    if not Interiors(10**6).has_interior(spaces):
        return
    kept = needed(rows)
    for place, space in enumerate(spaces):
        others = [spaces[other] for other in kept if other != place]
        assert implies(others, space) is (place not in kept)


def test_a_bound_that_others_imply_makes_no_other_event() -> None:
    """A certificate of it is complete: nothing was proved of a probability that the program had as another sum."""
    lines = "program p; output o : bool; var r, s : real; r <- Gauss(1/(2*eps), 0); s <- Lap(2*eps/3, 0);"
    program = dipc.load(f"{lines} o <- 2*r >= s + 1 and s >= r and r >= -2")
    report = dipc.check(program, [{"o": True}], beta="99/100", alpha=0, eps="[1/10, 1/10]", keep_proofs=True)
    assert report.verdict is dipc.Verdict.ACCURATE
    assert check_text(dipc.certify(report)).complete


@pytest.mark.parametrize(
    ("answer", "beta"),
    [
        ("l >= t and m >= t and t <= 0 and l >= 0", "3/4"),
        ("m >= t and l >= t and t <= -1 and l >= 0 and m <= 2*t + 9", "9/10"),
    ],
)
def test_an_event_may_fall_apart_where_others_imply_a_bound(answer: str, beta: str) -> None:
    """The tree with t and m once left out l, so a false claim was accepted: l >= 0 is half as probable."""
    lines = "program p; output o : bool; var t, l, m : real; t <- Gauss(1/eps, 0); l <- Gauss(1/eps, 0);"
    lines += " m <- Gauss(1/eps, 0);"

    def certificate(said: str, beta: str) -> dict[str, Any]:
        program = dipc.load(f"{lines} o <- {said}")
        report = dipc.check(program, [{"o": True}], beta=beta, alpha=0, eps="[1, 1]", keep_proofs=True)
        assert report.verdict is dipc.Verdict.ACCURATE
        text = dipc.certify(report)
        assert check_text(text).complete
        return dict(json.loads(text))

    honest = certificate(answer, "19/20")
    data = certificate(answer.replace("l >= t and ", "").replace(" and l >= 0", ""), beta)
    data["program"] = honest["program"]
    assert not check_text(resealed(data)).complete


#: As it is written.
ROOT: list[Any] = ["0", ["normal", "1"], [["1", "0", "0"]], [[2, ["laplace", "1"], [["1", "0", "1"]], []]], []]


def test_tails_are_at_least_what_fails() -> None:
    for seed in range(30):
        drawn = drawing(random.Random(f"tails {seed}"))
        found = event(drawn)
        if found is None or found.tails is None:
            continue
        with mpmath.workdps(20):
            for eps in (F(1, 2), F(2)):
                total = mpmath.mpf(0)
                for rate in found.tails:
                    exponent = exact(rate) * exact(eps) if isinstance(rate, F) else exact(rate.factor) * exact(eps) ** 2
                    total += mpmath.exp(-exponent) / 2
                assert 1 - probability(drawn, eps) <= total + mpmath.mpf(10) ** -12


@pytest.mark.parametrize(
    "change",
    [
        {"root": ["1", *ROOT[1:]]},
        {"root": ["0", ["normal", "0"], *ROOT[2:]]},
        {"root": ["0", ["cauchy", "1"], *ROOT[2:]]},
        {"root": [*ROOT[:2], [["1", "1", "0"]], *ROOT[3:]]},
        {"root": [*ROOT[:2], [["1", "0"]], *ROOT[3:]]},
        {"root": [*ROOT[:3], [[0, ["laplace", "1"], [["1", "0", "1"]], []]], []]},
        {"root": [*ROOT[:3], [[1, ["laplace", "-1"], [["1", "0", "1"]], []]], []]},
        {"root": [*ROOT[:3], [[1, ["laplace", "1"], [], []]], []]},
        {"root": [*ROOT[:3], [[1, ["laplace", "1"], [["1", "0", "1"]]]], []]},
        {"root": [*ROOT[:4], [ROOT]]},
        {"square": ["2", []]},
        {"across": "1"},
    ],
)
def test_what_is_read_is_an_event(change: dict[str, object]) -> None:
    leaf = Leaf(Spread(True, F(1)), ((F(1), F(0), F(1)),), ())
    data = tree_data(Tree(Center(F(0), Spread(False, F(1)), ((F(1), F(0), F(0)),), ((leaf, 2),), ()), False))
    assert data["root"] == ROOT
    assert read_tree(data)
    with pytest.raises(Rejected):
        read_tree({**data, **change})
