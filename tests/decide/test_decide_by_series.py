"""Decisions without a closed form, against those with it."""

from __future__ import annotations

import json
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from benchmarks.undecided import random_claim
from benchmarks.undecided_ints import random_int_claim
from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.certificate.data import sealed
from dipc.cli.main import run
from dipc.decide.obligation import Decision, Obligation, Verdict, decide
from dipc.decide.series import SeriesDecision, decide_by_series, too_long
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import (
    Bound,
    BoundMeasurer,
    EnclosedForm,
    Measurer,
    Share,
    left_out,
    majorant_of,
    series_of,
)
from dipc.measure.power_series import coefficients, precision
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.laplace import LAPLACE
from dipc.noise.laws import law_of
from dipc.noise.one_sided import ONE_SIDED
from dipc.options import Options
from dipc.questions.question import question_of
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected
from tests.questions.real_programs import NOISY_MAX

F = Fraction

FORTY = """
program forty;
output within : bool = true;
var x : int;
""" + ";\n".join(f"x <- DLap(eps/{i}, 0); if x > 5 then within <- false; exit end" for i in range(1, 41))

LIMITS = Limits()


def random_event(chance: random.Random, whole: bool = False) -> Event:
    """A tree of differences and bounds, with windows now and then."""
    count = chance.randint(1, 5)
    family = DISCRETE_LAPLACE if whole else LAPLACE
    noises = tuple(
        Noise(family, F(chance.randint(1, 4), 2), F(chance.randint(-6, 6), 1 if whole else 2)) for _ in range(count)
    )
    constraints: list[Halfspace] = []
    for at in range(1, count):
        other = chance.randrange(at)
        sign = chance.choice((1, -1))
        terms = ((other, F(-sign)), (at, F(sign)))
        constraints.append(Halfspace(terms, F(chance.randint(-4, 4), 2)))
        if chance.random() < 0.3:
            constraints.append(Halfspace(tuple((i, -c) for i, c in terms), F(chance.randint(5, 9))))
    if chance.random() < 0.6 or not constraints:
        constraints.append(Halfspace(((chance.randrange(count), F(chance.choice((1, -2)))),), F(chance.randint(-3, 3))))
    return Event(noises, tuple(constraints))


def one_sided_event(chance: random.Random) -> Event:
    """One-sided noise below Laplace noise, or above."""
    noises = tuple(
        Noise(family, F(chance.randint(1, 4), 2), F(chance.randint(-3, 3))) for family in (ONE_SIDED, LAPLACE)
    )
    sign = F(chance.choice((1, -1)))
    rows = [Halfspace(((0, sign), (1, -sign)), F(chance.randint(-1, 4)))]
    if chance.random() < 0.5:
        rows.append(Halfspace(((0, F(chance.choice((1, -2)))),), F(chance.randint(0, 6))))
    return Event(noises, tuple(rows))


def random_bound(chance: random.Random) -> Bound:
    shares = []
    for _ in range(chance.choice((1, 1, 1, 2))):
        weight = chance.choice((None, None, None, ExpPoly.term(F(1, 2), 0, F(-1)), ExpPoly.constant(F(1, 3))))
        events = []
        for _ in range(chance.choice((1, 1, 2))):
            kind = chance.choice(("real", "real", "whole", "whole", "one-sided"))
            events.append(one_sided_event(chance) if kind == "one-sided" else random_event(chance, kind == "whole"))
        shares.append(Share(weight, tuple(events)))
    return Bound(tuple(shares), F(chance.choice((0, 0, 0, F(1, 10)))))


@pytest.mark.parametrize("seed", range(12))
def test_series_enclose_the_coefficients(seed: int) -> None:
    """The coefficients are those of the closed form, and the polynomial with its remainder encloses the function."""
    chance = random.Random(seed)
    for _ in range(4):
        bound = random_bound(chance)
        exact = BoundMeasurer().measure(bound).value
        center, length = F(chance.randint(1, 40), 8), 9
        unexpanded = EnclosedForm.from_bound(bound, Measurer(), LIMITS)
        with precision(200, length):
            found = coefficients(unexpanded.series(center), length)
            above, below = fraction_of(exact)
            expected = coefficients(series_of(above, center) / series_of(below, center), length)
            for one, other in zip(found, expected, strict=True):
                assert one.overlaps(other)
                assert one.rad() < flint.arb(10) ** -20
            most = unexpanded.majorant(center)
            for turn in range(16):
                # Around the disk.
                point = flint.acb(to_fmpq(center)) + flint.acb(to_fmpq(center / 2)) * _turned(turn)
                assert abs(value_at(above, point) / value_at(below, point)) <= most
            share = F(chance.randint(1, 9), 10)
            step = center / 2 * share
            for side in (1, -1):
                low, high = exact.enclosure(center + side * step)
                value = flint.arb_poly(list(found))(flint.arb(step.numerator * side) / step.denominator)
                assert (
                    abs(value - flint.arb(flint.fmpq(low.numerator, low.denominator)))
                    < left_out(most, share, length) + flint.arb(10) ** -15
                )
                del high
        low, high = unexpanded.dyadic_enclosure(center, 60)
        assert low <= exact.enclosure(center, 40)[1]
        assert exact.enclosure(center, 40)[0] <= high
        assert high - low < F(1, 2**60)


def test_majorants() -> None:
    """The majorant bounds the function at points on the circle around the disk."""
    function = ExpPoly.from_terms([(0, F(-1), F(3)), (2, F(1, 2), F(-1, 4)), (1, F(0), F(2))])
    center = F(2)
    most = majorant_of(function, center)
    for turn in range(16):
        assert abs(value_at(function, flint.acb(2) + _turned(turn))) <= most


def _turned(turn: int) -> flint.acb:
    """Return 16 points on the unit circle."""
    return flint.acb(0, flint.arb.pi() * turn / 8).exp()


def value_at(function: ExpPoly, point: flint.acb) -> flint.acb:
    """The value at a complex eps."""
    total = flint.acb(0)
    for k, q, c in function.terms():
        total += point**k * (point * flint.arb(to_fmpq(q))).exp() * flint.arb(to_fmpq(c))
    return total


INTERVALS = [(Interval.POSITIVE,), (Interval.closed(F(1, 2), 4), Interval.open(9, None)), (Interval.closed(1, 1),)]


def both(bound: Bound, beta: ExpPoly, intervals: tuple[Interval, ...]) -> tuple[Decision, Decision]:
    bounds = BoundMeasurer()
    form = PiecewiseForm(beta)
    exact = decide(bounds.measure(bound), form, intervals, LIMITS)
    return exact, decide_by_series(Obligation(bound, form, intervals), bounds, LIMITS)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 200))])
def test_both_ways_agree(seed: int) -> None:
    chance = random.Random(f"both ways {seed}")
    for _ in range(3):
        bound = random_bound(chance)
        rate, factor = F(-chance.randint(0, 6), 4), F(chance.randint(1, 12), 4)
        exact, found = both(bound, ExpPoly.term(factor, 0, rate), chance.choice(INTERVALS))
        assert found.verdict in (exact.verdict, Verdict.UNDECIDED)
        if found.counterexample is not None:
            again = BoundMeasurer().measure(bound).value
            low, high = again.enclosure(found.counterexample.eps)
            assert found.counterexample.probability[0] <= high
            assert low <= found.counterexample.probability[1] < found.counterexample.required[0]


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 200))])
def test_trees_over_integers_are_summed_value_by_value(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same verdicts as from the closed forms, which are in the enclosures of the sums."""
    chance = random.Random(f"sums {seed}")
    for _ in range(3):
        event = random_event(chance, whole=True)
        bound = Bound((Share(None, (event,)),))
        rate, factor = F(-chance.randint(0, 6), 4), F(chance.randint(1, 12), 4)
        exact, _ = both(bound, ExpPoly.term(factor, 0, rate), intervals := chance.choice(INTERVALS))
        monkeypatch.setattr("dipc.measure.measure.MOST_OF_INTEGERS", 0)
        obligation = Obligation(bound, PiecewiseForm(ExpPoly.term(factor, 0, rate)), intervals)
        found = decide_by_series(obligation, BoundMeasurer(), LIMITS)
        assert found.verdict in (exact.verdict, Verdict.UNDECIDED)
        unexpanded = EnclosedForm.from_bound(bound, Measurer(), LIMITS)
        monkeypatch.undo()
        eps = F(chance.randint(2, 30), 10)
        inner, outer = Measurer().measure(event), unexpanded.dyadic_enclosure(eps, 80)
        low, high = inner.enclosure(eps)
        assert outer[0] <= high
        assert low <= outer[1]
        assert outer[1] - outer[0] < F(1, 10**20)


def test_the_largest_of_nine_integers_of_different_rates() -> None:
    """A closed form would have millions of terms; sums decide both whether the first is largest and the opposite."""
    noises = tuple(Noise(DISCRETE_LAPLACE, F(1, 2 + i), F(3 if i == 0 else 0)) for i in range(9))
    event = Event(noises, tuple(Halfspace(((0, F(1)), (i, F(-1))), F(0)) for i in range(1, 9)))
    bound, bounds = Bound((Share(None, (event,)),)), BoundMeasurer()
    for factor, verdict in ((9, Verdict.ACCURATE), (1, Verdict.INACCURATE)):
        beta = PiecewiseForm(ExpPoly.term(F(factor), 0, F(-3, 10)))
        assert decide_by_series(Obligation(bound, beta, INTERVALS[0]), bounds, LIMITS).verdict is verdict


def star(means: list[Fraction], rates: list[Fraction]) -> Bound:
    """The event that the first noise is the greatest."""
    noises = tuple(Noise(LAPLACE, rate, mean) for rate, mean in zip(rates, means, strict=True))
    return Bound(
        (Share(None, (Event(noises, tuple(Halfspace(((0, F(1)), (i, F(-1))), F(0)) for i in range(1, len(means)))),)),)
    )


@pytest.mark.parametrize("gap", [F(1, 10), F(1, 10**4)])
def test_claims_that_are_nearly_tight(gap: Fraction) -> None:
    """The betas are just above and just below the one that is needed at the worst eps."""
    bound = star([F(2), F(0), F(1, 3), F(-1), F(7, 5)], [F(1, 2)] * 5)
    for factor, verdict in ((1 + gap, Verdict.ACCURATE), (1 - gap, Verdict.INACCURATE)):
        # The largest of (1 - Pr)·exp(eps/4) is at about eps = 0.32.
        exact, found = both(bound, ExpPoly.term(F("0.8045423") * factor, 0, F(-1, 4)), (Interval.POSITIVE,))
        assert exact.verdict is verdict
        assert found.verdict is verdict


def test_a_wrong_answer_is_refuted() -> None:
    exact, found = both(star([F(0), F(1)], [F(1), F(2)]), ExpPoly.term(F(2), 0, F(-1)), (Interval.POSITIVE,))
    assert exact.verdict is found.verdict is Verdict.INACCURATE


def test_a_touching_claim_stays_open() -> None:
    """Pr is 1 - beta."""
    bound = star([F(2), F(0), F(1)], [F(1)] * 3)
    exact = BoundMeasurer().measure(bound).value
    assert isinstance(exact, ExpPoly)
    _, found = both(bound, 1 - exact, (Interval.closed(1, 2),))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None
    assert "its Taylor polynomials are too coarse to decide: there the probability equals 1 - beta" in found.reason
    assert (
        too_long(LimitReached("terms", "it is long"), found).reason == f"it is long (limit `terms`), and {found.reason}"
    )


def test_weights_with_denominators_have_no_series() -> None:
    weight = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, F(-1)))
    weighted = Bound((Share(weight, (random_event(random.Random(1)),)),))
    with pytest.raises(OutsideFragment):
        EnclosedForm.from_bound(weighted, Measurer(), LIMITS)
    form = PiecewiseForm(ExpPoly.constant(F(1, 2)))
    found = decide_by_series(Obligation(weighted, form, (Interval.POSITIVE,)), BoundMeasurer(), LIMITS)
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_short_bounds_for_small_and_large_eps(seed: int) -> None:
    """The short bounds are at most the bound."""
    chance = random.Random(f"ends {seed}")
    event = chance.choice((one_sided_event, random_event, lambda chance: random_event(chance, whole=True)))
    bound = Bound((Share(None, tuple(event(chance) for _ in range(chance.randint(1, 3)))),))
    bounds = BoundMeasurer()
    exact = bounds.measure(bound).value
    obligation = Obligation(bound, PiecewiseForm(ExpPoly.ONE), (Interval.POSITIVE,))
    search = SeriesDecision(obligation, bounds, LIMITS)
    small, large = search.next_to_zero().value, search.next_to_infinity().value
    for eps in map(F, ("1/1000", "1/50", "1/5", "1/2", "1", "3", "10", "40")):
        least = exact.enclosure(eps)[1]
        assert small.enclosure(eps)[0] <= least
        assert large.enclosure(eps)[0] <= least
    # Both are good where they are meant to be.
    assert exact.enclosure(F(1, 10**6))[0] - small.enclosure(F(1, 10**6))[0] < F(1, 1000)


def normal_event(chance: random.Random) -> Event:
    """One Gaussian noise against others, one of these within an interval perhaps, and Laplace noise beside them."""
    noises = tuple(
        Noise(law_of("Gauss"), F(chance.randint(1, 6), 3), F(chance.randint(-4, 4), 2))
        for _ in range(chance.randint(1, 4))
    )
    alone = Noise(law_of("Lap"), F(1, 2), F(chance.randint(-4, 4)))
    rows = [Halfspace(((0, F(1)), (i, F(-1))), F(chance.randint(-3, 3), 2)) for i in range(1, len(noises))]
    rows += [Halfspace(((0, F(1)),), F(chance.randint(-3, 5), 2))] if len(noises) == 1 else []
    rows += [Halfspace(((len(noises), F(chance.choice((-1, 1)))),), F(chance.randint(-2, 4)))]
    return Event((*noises, alone), tuple(rows))


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 200))])
def test_short_bounds_of_normal_noise_for_small_and_large_eps(seed: int) -> None:
    """The short bounds are at most the bound, a sum of weighted events that may count against the claim."""
    chance = random.Random(f"normal ends {seed}")
    shares = tuple(
        Share(
            chance.choice((None, ExpPoly.constant(-1), ExpPoly.constant(F(1, 2)))),
            tuple(normal_event(chance) for _ in range(chance.randint(1, 2))),
        )
        for _ in range(chance.randint(1, 3))
    )
    bound = Bound(shares, F(chance.randint(0, 1)))
    bounds = BoundMeasurer()
    unexpanded = EnclosedForm.from_bound(bound, bounds.measurer, LIMITS)
    obligation = Obligation(bound, PiecewiseForm(ExpPoly.ONE), (Interval.POSITIVE,))
    search = SeriesDecision(obligation, bounds, LIMITS)
    small = search.next_to_zero().value
    for eps in map(F, ("1/1000", "1/50", "1/5", "1/2", "1", "3", "10", "40")):
        least = unexpanded.dyadic_enclosure(eps, 100)[1]
        assert small.enclosure(eps)[0] <= least
        for start in (F(1, 8), F(1), F(16)):
            if start <= eps:
                assert search.from_start_on(start).value.enclosure(eps)[0] <= least
    assert unexpanded.dyadic_enclosure(F(1, 10**6), 60)[0] - small.enclosure(F(1, 10**6))[0] < F(1, 1000)
    if all(share.weight is None for share in shares):
        far = unexpanded.dyadic_enclosure(F(500), 60)[0] - search.from_start_on(F(499)).value.enclosure(F(500))[0]
        assert far < F(3, 4) * len(shares)


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("40*exp(-eps/7)", Verdict.ACCURATE),
        ("min(1 - (1/2)^40, 60*exp(-eps/9))", Verdict.ACCURATE),
        ("1 - (1/2)^39", Verdict.INACCURATE),
        ("1/(1 + eps)", Verdict.INACCURATE),
    ],
)
def test_forty_integer_noises_of_rates_without_a_common_unit(beta: str, verdict: Verdict) -> None:
    """The closed form has forty denominators, of a degree of 10^15 over the unit of all rates."""
    found = dipc.check(dipc.load(FORTY), [{"within": True}], beta=beta)
    assert found.verdict is verdict
    example = found.rows[0].counterexample
    if example is not None:
        # The mass of -∞..5 is 1 - r^6/(1 + r).
        rates = [math.exp(-float(example.eps) / i) for i in range(1, 41)]
        wanted = math.prod(1 - r**6 / (1 + r) for r in rates)
        assert all(math.isclose(float(end), wanted, rel_tol=1e-9) for end in example.probability)


@pytest.mark.parametrize(("percent", "verdict"), [(99, Verdict.ACCURATE), (101, Verdict.INACCURATE)])
def test_small_probabilities(percent: int, verdict: Verdict) -> None:
    """The probabilities grow with eps; the claim is slightly below, or above, the least one, approximately 10^-9."""
    least = math.prod(1 - math.exp(-6 / (10 * i)) / (1 + math.exp(-1 / (10 * i))) for i in range(1, 41))
    claimed = F(percent, 100) * F(least)
    found = dipc.check(dipc.load(FORTY), [{"within": True}], beta=1 - claimed, eps="[1/10, 4]")
    assert least < 1e-6
    assert found.verdict is verdict


def generic(m: int, seed: int = 7) -> tuple[dict[str, Any], Fraction]:
    """A row of noisy max with means of six digits, and an alpha a little below its dd, so that no claim is vacuous."""
    chance = random.Random(seed)
    values = [F(chance.randint(0, 10**6), 10**6) for _ in range(m)]
    values[3] = F(2)
    second = sorted(values)[-2]
    return {**{f"q[{i}]": value for i, value in enumerate(values, 1)}, "out": 4}, (2 - second) / 2 * F(999, 1000)


@pytest.mark.parametrize(
    "beta",
    [
        *("m*exp(-alpha*eps/2)/2", "m*exp(-alpha*eps/2)/5", "exp(-eps)", "min(1, m*exp(-alpha*eps/2)/2)"),
        *("max(exp(-eps), min(2 - eps, 7/9)) + 8*exp(-eps/2)/9", "1/(1 + eps)", "min(7/10, 2*exp(-eps))"),
    ],
)
def test_rows_both_ways(beta: str) -> None:
    row, alpha = generic(8)
    program = dipc.load(NOISY_MAX, m=8)
    exact = dipc.check(program, [row], beta=beta, alpha=alpha)
    found = dipc.check(program.with_limits(Limits(terms=40)), [row], beta=beta, alpha=alpha)
    assert exact.verdict is found.verdict is not Verdict.UNDECIDED
    assert exact.rows[0].probability is not None
    assert found.rows[0].probability is None
    assert found.rows[0].reason is None


@pytest.mark.parametrize(
    "options",
    [{}, {"beta": "exp(-eps)"}, {"gamma": "free"}, {"inputs": "all"}, {"inputs": "all", "beta": "exp(-alpha*eps)"}],
)
def test_such_decisions_are_open_in_certificates(options: dict[str, Any]) -> None:
    """The certificate has the verdict, and does not claim a proof of it."""
    program = dipc.load(NOISY_MAX, m=4).with_limits(Limits(terms=10))
    rows = None if "inputs" in options else [generic(4)[0]]
    report = dipc.check(program, rows, keep_proofs=True, **{"alpha": "dd", **options})
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == str(report.verdict)
    if "inputs" not in options:
        assert not accepted.complete
        ((_, reason),) = accepted.open_rows
        assert reason == "the closed form of the probability is too long to be written out"


def test_an_open_row_needs_its_reason() -> None:
    row, _ = generic(4)
    program = dipc.load(NOISY_MAX, m=4).with_limits(Limits(terms=10))
    document = json.loads(dipc.certify(dipc.check(program, [row], keep_proofs=True)))
    del document["digest"]
    for change in ({"open": None}, {"verdict": "undecided", "reason": "none", "open": "none"}):
        (stated,) = document["rows"]
        changed = {key: value for key, value in {**stated, **change}.items() if value is not None}
        with pytest.raises(Rejected):
            check_text(sealed({**document, "rows": [changed]}))


def test_reports_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row, _ = generic(6)
    table = tmp_path / "row.csv"
    table.write_text(",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n", encoding="utf-8")
    path = tmp_path / "max.dip"
    path.write_text(NOISY_MAX, encoding="utf-8")
    words = ["check", str(path), str(table), "-D", "m=6", "--limit", "terms=20"]
    assert run([*words, "--closed-form", "1"]) == 0
    assert "too many terms to write out" in capsys.readouterr().out
    assert run([*words, "--beta", "exp(-eps)"]) == 1
    assert "--closed-form" not in capsys.readouterr().out
    assert run([*words, "--format", "json", "-j", "2"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["rows"]
    assert (found["verdict"], found["probability"], found["reason"]) == ("accurate", None, None)


@pytest.mark.slow
def test_seventy_five_generic_means() -> None:
    row, alpha = generic(75)
    program = dipc.load(NOISY_MAX, m=75)
    found = dipc.check(program, [row], beta="m*exp(-alpha*eps/2)/6", alpha=alpha)
    assert found.verdict is Verdict.ACCURATE
    assert dipc.check(program, [row], beta="exp(-eps)", alpha=alpha).verdict is Verdict.INACCURATE


def test_precision_is_put_back() -> None:
    before = flint.ctx.cap, flint.ctx.prec

    def failing() -> None:
        with precision(1000, 50):
            assert (flint.ctx.cap, flint.ctx.prec) == (50, 1000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (flint.ctx.cap, flint.ctx.prec) == before
    assert ClosedForm(ExpPoly.ONE).value == ExpPoly.ONE


#: Twenty tests on noises of their own.
TESTS = """
program tests;
output o[1..20] : bool;
var x : real;
""" + "\n".join(f"x <- Lap(eps/{i}, {{}}); o[{i}] <- x >= 0;" for i in range(1, 21))


def comparisons(seed: int, scale: int, wrong: int) -> dipc.Program:
    """Comparisons with means of six digits, some of them on the wrong side."""
    chance = random.Random(seed)
    means = [F(chance.randint(1, 10**6) * scale, 10**6) * (-1 if i < wrong else 1) for i in range(20)]
    return dipc.load(TESTS.format(*means))


ALL_TRUE = {"o": (True,) * 20}


@pytest.fixture
def at_length(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events that are measured at length."""
    found: list[Event] = []
    measure = Measurer.measure

    def noted(self: Measurer, event: Event) -> Closed:
        if self.tree_steps is None:
            found.append(event)
        return measure(self, event)

    monkeypatch.setattr(Measurer, "measure", noted)
    return found


@pytest.mark.parametrize("form", ["text", "digits"])
def test_a_false_claim_is_refuted_at_a_glance(form: str, at_length: list[Event]) -> None:
    """The bound is a product of twenty factors with a million terms."""
    digits = 30 if form == "digits" else None
    program = comparisons(1, 1, 2)
    found = dipc.check(program, [ALL_TRUE], beta="exp(-eps/4)", eps="[1/10, 10]", digits=digits)
    (row,) = found.rows
    assert (row.verdict, row.closed_form) == (Verdict.INACCURATE, None)
    # It fails everywhere, which takes no closed form either.
    ends = [(failing.start.low, failing.end.high) for failing in row.failing]
    assert ends == ([(F(1, 10), F(10))] if digits else [])
    assert not at_length
    example = row.counterexample
    assert example is not None
    assert example.eps in {F(n) for n in (1, 2, 4, 8)}
    chance = random.Random(1)
    means = [chance.randint(1, 10**6) / 10**6 * (-1 if i < 2 else 1) for i in range(20)]
    halves = [math.exp(-float(example.eps) / i * abs(mean)) / 2 for i, mean in enumerate(means, 1)]
    wanted = math.prod(half if mean < 0 else 1 - half for half, mean in zip(halves, means, strict=True))
    assert all(math.isclose(float(end), wanted, rel_tol=1e-9) for end in example.probability)
    assert example.probability[1] < example.required[0] <= F(1 - math.exp(-float(example.eps) / 4)) + F(1, 10**9)


def test_a_true_claim_of_that_shape_is_proved_without_its_closed_form(at_length: list[Event]) -> None:
    found = dipc.check(comparisons(1, 30, 0), [ALL_TRUE], beta="20*exp(-eps/40)")
    assert found.verdict is Verdict.ACCURATE
    assert not any(len(event.noises) > 1 for event in at_length)


def test_rows_of_twenty_generic_means(at_length: list[Event]) -> None:
    row, alpha = generic(20)
    program = dipc.load(NOISY_MAX, m=20)
    for beta, verdict in (("m*exp(-alpha*eps/2)", Verdict.ACCURATE), ("exp(-alpha*eps)/3", Verdict.INACCURATE)):
        found = dipc.check(program, [row], beta=beta, alpha=alpha)
        assert (found.verdict, found.rows[0].closed_form) == (verdict, None)
    # What is measured next to 0 and to infinity is short.
    assert all(len(event.constraints) == 1 or not any(noise.mean for noise in event.noises) for event in at_length)


@pytest.mark.parametrize("interval", ["(0, 1/5000]", "[5, 6]", "(3000, inf)", "[1/7, 1/7]", "(10/3, 11/3)"])
def test_samples_are_in_the_intervals(interval: str) -> None:
    """A claim that fails everywhere is refuted at a simple eps, wherever it is asked about."""
    found = dipc.check(comparisons(4, 1, 2), [ALL_TRUE], beta=F(1, 100), eps=interval)
    assert found.verdict is Verdict.INACCURATE
    assert found.rows[0].closed_form is None


def test_every_input_by_series() -> None:
    """Classes whose bounds have no closed form within the limits."""
    program = dipc.load(NOISY_MAX, m=4).with_limits(Limits(terms=10))
    assert dipc.check(program, inputs="all").verdict is Verdict.ACCURATE
    assert dipc.check(program, inputs="all", beta="exp(-alpha*eps)").verdict is Verdict.INACCURATE


def test_what_is_decided_by_series_is_remembered(tmp_path: Path) -> None:
    """A bound that is too long does not give its reason to an obligation that is decided."""
    row, _ = generic(5)
    program = dipc.load(NOISY_MAX, m=5).with_limits(Limits(terms=10))
    exact = str(dipc.load(NOISY_MAX, m=5).probability(*_split(row)))
    cache = tmp_path / "cache"
    for _ in range(2):
        # The first one touches at one eps, which no series decides.
        touching = f"1 - ({exact}) + (eps - 3/2)^2/100"
        for beta, verdict in ((touching, Verdict.UNDECIDED), ("m*exp(-alpha*eps/2)", Verdict.ACCURATE)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = dipc.check(program, [row], beta=beta, alpha="dd", eps="[1, 2]", cache=cache)
            assert found.verdict is verdict
    plain = dipc.check(program, [row], beta="m*exp(-alpha*eps/2)", alpha="dd", eps="[1, 2]")
    assert plain.rows == found.rows


def _split(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return {key: value for key, value in row.items() if key != "out"}, {"out": row["out"]}


def test_a_decision_does_not_depend_on_who_else_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a certificate the closed form is expanded; a cache with that changes no report without one."""
    monkeypatch.setattr("dipc.measure.measure.BRIEF_WAY", 100)
    row, alpha = generic(9)
    # Limits of its own: engines are kept by them, each with what it took for brief.
    program = dipc.load(NOISY_MAX, m=9).with_limits(Limits(rows=999_983))
    cache = tmp_path / "cache"
    claim: dict[str, Any] = {"beta": "m*exp(-alpha*eps/2)", "alpha": alpha}
    plain = dipc.check(program, [row], **claim)
    assert plain.rows[0].closed_form is None
    whole = dipc.check(program, [row], cache=cache, keep_proofs=True, **claim)
    assert whole.rows[0].closed_form is not None
    assert dipc.check(program, [row], cache=cache, **claim).rows == plain.rows


def test_processes_decide_as_one_does() -> None:
    rows = [generic(18, seed)[0] for seed in range(3)]
    program = dipc.load(NOISY_MAX, m=18)
    plain = dipc.check(program, rows, alpha="dd")
    assert all(row.closed_form is None for row in plain.rows)
    assert dipc.check(program, rows, alpha="dd", jobs=2).rows == plain.rows


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 300))])
def test_random_claims_both_ways(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no closed form counts as short, every claim is first decided without one."""
    program = dipc.load((random_claim if seed % 2 else random_int_claim)(seed).text)
    plain = dipc.check(program, inputs="all")
    monkeypatch.setattr("dipc.measure.measure.BRIEF_WAY", 0)
    monkeypatch.setattr("dipc.measure.measure.BRIEF_STEPS", 0)
    found = dipc.check(dipc.load((random_claim if seed % 2 else random_int_claim)(seed).text), inputs="all")
    assert [row.verdict for row in found.rows] == [row.verdict for row in plain.rows]


def test_exponents_without_a_large_common_unit_are_followed_before_their_signs_are_found() -> None:
    """The same verdicts as from the closed forms, where each of ten queries has a rate of its own."""
    text = MECHANISMS["sparse"].path.read_text(encoding="utf-8").replace("Lap(eps/(4*c), q[i])", "Lap(eps/(3+i), q[i])")
    program = dipc.load(text, m=10)
    quick = dipc.check(program, inputs="all")
    slow = dipc.check(program, inputs="all", keep_proofs=True)
    assert [row.verdict for row in quick.rows] == [row.verdict for row in slow.rows]


GAUSSIAN_SUMS = """
program sums;
input q[1..2] : real;
output o : bool = false;
var r, s : real;
ideal { o <- q[1] > 0 and q[1] + q[2] > 0 }
r <- Gauss(1/eps, q[1]);
s <- Gauss(1/eps, q[2]);
if r > 0 then if r + s > 0 then o <- true end end
"""

NESTED_SUMS = """
program t;
domain D = {a, b};
input q[1..2] : real;
output o0 : D;
var r1, r2 : real;
ideal {
  if q[1] + 2*q[2] + 1 > 0 then
  if q[1] + q[2] + 3/2 <= 0 then o0 <- b else o0 <- a end else
  if -q[1] - 3 <= 0 then o0 <- a else o0 <- a end end }
r1 <- Gauss(1/2/eps, q[1]);
r2 <- Gauss(2/eps, -q[2] - 1/2);
if r1 - 2*r2 > 0 then
  if r1 - r2 + 1 <= 0 then o0 <- b else o0 <- a end else
  if -r1 - 3 <= 0 then o0 <- a else o0 <- a end end
"""


def _cells(monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """Return a list to which the left end of each cell is added that is examined from now on."""
    seen: list[Fraction] = []
    examine = SeriesDecision._cell

    def counted(self: SeriesDecision, left: Fraction, *given: Any) -> None:
        seen.append(left)
        examine(self, left, *given)

    monkeypatch.setattr(SeriesDecision, "_cell", counted)
    return seen


def test_a_slack_near_zero_is_not_cut_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the slack at some eps is smaller than each remainder, halves of the cell are not examined."""
    program = dipc.load(GAUSSIAN_SUMS)
    row = [{"q[1]": 1, "q[2]": 1, "o": "true"}]
    (case,) = question_of(program, row, Options(alpha=0, beta="1/2")).cases()
    bound = case.steps()[0].obligation.bound
    low, _ = EnclosedForm.from_bound(bound, Measurer(LIMITS), LIMITS).dyadic_enclosure(F(1), 250)
    cells = _cells(monkeypatch)
    report = dipc.check(program, row, alpha=0, beta=f"1 - {low}", eps="[1, 11/10]")
    assert report.verdict is Verdict.UNDECIDED
    assert len(cells) == 1
    assert dipc.check(program, row, alpha=0, beta=f"1 - {low} + 1/10^20", eps="[1, 11/10]").verdict is Verdict.ACCURATE
    refuted = dipc.check(program, row, alpha=0, beta=f"1 - {low} - 1/10^10", eps="[1, 11/10]")
    assert refuted.verdict is Verdict.INACCURATE


def test_inputs_without_a_refuting_sample_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """An input is not proved for every eps where another one of its class is refuted at one of a few eps."""
    cells = _cells(monkeypatch)
    report = dipc.check(dipc.load(NESTED_SUMS), inputs="all", alpha=1, gamma=0, beta="8147614/162287791*exp(-eps/8)")
    refuted = [row for row in report.rows if row.verdict is Verdict.INACCURATE]
    assert [row.row for row in refuted] == [1, 2]
    assert all(row.counterexample is not None and row.counterexample.eps == 1 for row in refuted)
    assert len(cells) < 150  # 284 if each input is proved in its turn
