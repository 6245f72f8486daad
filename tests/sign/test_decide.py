from fractions import Fraction
from math import comb, factorial

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.chart import SignDecision, decide_nonnegative, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.roots import Root
from tests.sign.oracle import sign
from tests.sign.strategies import EPS, Planted, e, exp_polys, planted, small_rationals

POSITIVE = Interval.POSITIVE


def decide(f: ExpPoly, interval: Interval = POSITIVE) -> SignDecision:
    """The decision, checked by independent means."""
    decision = decide_nonnegative(f, interval)
    if decision.witness is None:
        upper = interval.upper if interval.upper is not None else interval.lower + 200
        width = upper - interval.lower
        points = [interval.lower + width * Fraction(i, 41) for i in range(1, 41)]
        points += [interval.lower + width * Fraction(1, 2**i) for i in range(5, 60, 9)]
        for point in points:
            assert f.is_zero() or sign(f, point, 1024) >= 0
    else:
        assert decision.witness in interval
        assert sign(f, decision.witness) == -1
        check_regions(f, decision, interval)
    return decision


def check_regions(f: ExpPoly, decision: SignDecision, interval: Interval) -> None:
    assert decision.witness is not None
    inside_some = False
    for region in decision.regions:
        lower, upper = region
        assert not isinstance(lower.place, Root) or lower.after
        assert not isinstance(upper.place, Root) or not upper.after
        low, low_outer = ends(lower.place)
        high_outer, high = ends(upper.place)
        if high is None:
            high = high_outer = max(low, decision.witness) * 2 + 1
        assert low is not None
        if low < high:
            assert sign(f, (low + high) / 2) == -1
        for place, closed in ((lower.place, not lower.after), (upper.place, upper.after)):
            if closed:
                assert isinstance(place, Fraction)
                assert place in interval
                assert sign(f, place) == -1
        inside_some |= low_outer <= decision.witness <= high_outer
    assert inside_some


def ends(value: Fraction | Root | None) -> tuple[Fraction | None, Fraction | None]:
    """The ends as seen from inside a region to the right of `value`, and as far out as they may be."""
    if isinstance(value, Root):
        return value.upper, value.lower
    return value, value


def verdicts(f: ExpPoly) -> tuple[bool, bool]:
    """Whether f is nowhere negative, and whether -f is."""
    return decide(f).witness is None, decide(-f).witness is None


NEAR = Fraction(1, 10**30)
DOUBLE = (e(1) - 2) ** 2
MIXED = (EPS - e(-1)) ** 2


@pytest.mark.parametrize(
    "f",
    [
        DOUBLE,
        DOUBLE + NEAR,
        DOUBLE + NEAR**2,
        DOUBLE * EPS * e(-5),
        DOUBLE + NEAR * e(-100),
        (e(1) - 2) ** 4 * (e(-1) + 1),
        MIXED,
        MIXED + NEAR,
        MIXED * DOUBLE,
        (EPS - Fraction(3, 7)) ** 6 * MIXED,
        (EPS - 2) ** 2,
        1 - e(-1),
        e(-100),
        EPS**5 * e(-1),
        e(1) - 1 - EPS - EPS**2 * Fraction(1, 2),
        EPS - 1 + e(-1),
        e(1) - EPS * e(Fraction(1, 2)) - 1,
        NEAR + e(-1) - e(-2),
        (1 - e(-1)) * (1 - e("-1/2")) ** 3,
        e("1000003/7") - EPS * e("1/11") - e("1/13"),
        (e("1/7") - e("1/11")) ** 2 * EPS + e("-1/13"),
        e("1/7") + e("1/11") + e("1/13") - 3,
        EPS - EPS,
        EPS * e(1) - EPS * e(1),
        (EPS + 1) * (EPS - 1) - EPS**2 + 1,
        ExpPoly.constant(5),
    ],
    ids=str,
)
def test_holds(f: ExpPoly) -> None:
    assert decide(f).witness is None


@pytest.mark.parametrize(
    ("f", "witness"),
    [
        (-DOUBLE, Fraction(1)),
        (DOUBLE * (EPS - 3), Fraction(1)),
        (DOUBLE - Fraction(1, 10**4), Fraction(9, 13)),
        (EPS - e(-1), Fraction(1, 2)),
        (-MIXED, Fraction(1)),
        (1 - EPS * NEAR, 10**30 + 1),
        (1 - EPS * NEAR - NEAR * NEAR * EPS, 10**30),
        (e(-1) - EPS * NEAR, 65),
        ((EPS - Fraction(1, 3)) * (EPS - Fraction(2, 3)), Fraction(1, 2)),
        ((EPS - Fraction(1, 3)) * (EPS - Fraction(1, 2)), Fraction(2, 5)),
        (ExpPoly.constant(-5), Fraction(1)),
        (e("-1000003/7") - Fraction(1, 2), Fraction(1)),
        (Fraction(1, 2) - e("-1000003/7"), Fraction(1, 206100)),
        (2 - e(1) + EPS * 0, Fraction(1)),
        (1 - e(-1) * 2 * EPS, None),
    ],
    ids=str,
)
def test_fails(f: ExpPoly, witness: Fraction | None) -> None:
    decision = decide(f)
    if witness is None:
        # 2·eps·e^{-eps} <= 2/e < 1
        assert decision.witness is None
    else:
        assert decision.witness is not None
        assert decision.witness == witness


@pytest.mark.parametrize("power", [10, 30, 60, 100])
def test_near_ties(power: int) -> None:
    tie = Fraction(1, 10**power)
    assert verdicts(DOUBLE + tie) == (True, False)
    assert verdicts(DOUBLE - tie) == (False, False)
    assert verdicts(MIXED + tie) == (True, False)
    assert verdicts(MIXED - tie) == (False, False)
    assert verdicts(EPS**2 - EPS * 2 + 1 + tie) == (True, False)
    assert verdicts(1 - e(-1) + tie) == (True, False)
    assert verdicts(1 - e(-1) - tie) == (False, False)


@pytest.mark.parametrize("order", [1, 2, 3, 7, 15, 30])
def test_tight_at_zero(order: int) -> None:
    """e^eps lies above its Taylor polynomials, e^-eps above and below in turn."""
    above, alternating = e(1), e(-1)
    for n in range(order):
        above = above - EPS**n * Fraction(1, factorial(n))
        alternating = alternating - EPS**n * Fraction((-1) ** n, factorial(n))
    assert verdicts(above) == (True, False)
    assert verdicts(alternating if order % 2 == 0 else -alternating) == (True, False)
    spoiled = above - EPS**order * Fraction(1, factorial(order)) * Fraction(11, 10)
    assert verdicts(spoiled) == (False, False)


def test_wide_gaps_with_a_tiny_difference() -> None:
    """The gap at log 128 is 2^-7021, by far below what floating point can represent."""
    square = (e("-1/7") - Fraction(1, 2)) ** 2
    assert decide_nonnegative(square + e(-1003), POSITIVE).witness is None
    assert decide_nonnegative(square - e(-1003), POSITIVE).witness is not None


def binomials(m: int, factor: Fraction) -> ExpPoly:
    """factor·e^{-eps/8} - 1 + the probability that m noisy values at distance 1 stay below a noisy threshold.

    With m = 200 the coefficients have 60 digits and cancel.
    """
    half = Fraction(1, 2)
    terms = [(0, Fraction(0), Fraction(-1)), (0, Fraction(-1, 8), factor)]
    rate = half + Fraction(m, 4)
    terms.append((0, Fraction(m, 4) - rate, Fraction(1, 4 * 2**m) / rate))
    for i in range(m + 1):
        c = Fraction((-1) ** i * comb(m, i), 4 * 2**i)
        shift, rate = -Fraction(i, 4), half - Fraction(i, 4)
        if rate:
            terms += [(0, shift, c / rate), (0, shift - rate, -c / rate)]
        else:
            terms.append((1, shift, c))
        terms.append((0, shift, c / (half + Fraction(i, 4))))
    return ExpPoly.from_terms(terms)


@pytest.mark.parametrize(
    ("m", "factor", "witness"),
    [
        (3, Fraction(2), None),
        (20, Fraction(40), None),
        (20, Fraction(2), 9),
        (50, Fraction(100), None),
        (50, Fraction(2), 6),
        (100, Fraction(200), None),
        (100, Fraction(3, 2), 4),
        (200, Fraction(400), None),
        (200, Fraction(2), 6),
    ],
)
def test_cancelling_binomials(m: int, factor: Fraction, witness: int | None) -> None:
    f = binomials(m, factor)
    decision = decide_nonnegative(f, POSITIVE)
    if witness is None:
        assert decision.witness is None
        assert all(sign(f, Fraction(n, 2)) == 1 for n in range(1, 130, 9))
    else:
        assert decision.witness is not None
        assert decision.witness == witness
        assert sign(f, decision.witness) == -1
        assert sign(f, Fraction(1, 100)) == sign(f, Fraction(300)) == 1


@given(planted())
def test_planted(case: Planted) -> None:
    decision = decide(case.f)
    odd = [value for value, multiplicity in case.roots() if multiplicity % 2]
    holds = not odd and sign(case.f, Fraction(10**6)) > 0
    assert (decision.witness is None) == holds


@given(planted(), small_rationals(0, 30), small_rationals(1, 20), st.booleans(), st.booleans())
def test_planted_on_other_intervals(case: Planted, lower: Fraction, width: Fraction, left: bool, right: bool) -> None:
    interval = Interval(lower, lower + width, left and lower > 0, right)
    decision = decide(case.f, interval)
    chart = sign_chart(case.f, interval)
    assert (decision.witness is None) == (min(chart.signs) > 0)


@given(exp_polys(most_power=3))
def test_any_function(f: ExpPoly) -> None:
    decide(f)


@given(exp_polys(most_power=2, most_terms=4), exp_polys(most_power=1, most_terms=4))
def test_sums_of_squares_hold(f: ExpPoly, g: ExpPoly) -> None:
    assert decide(f * f).witness is None
    try:
        decision = decide_nonnegative(f * f + g * g, POSITIVE, Limits(bits=1000))
    except LimitReached:
        reject()
    assert decision.witness is None
    if not f.is_zero():
        assert decide(-(f * f)).witness is not None


@given(exp_polys(most_power=2))
def test_a_function_or_its_negative_fails_unless_it_is_zero(f: ExpPoly) -> None:
    one, other = decide(f), decide(-f)
    assert f.is_zero() == ((one.witness is None) and other.witness is None)


@given(exp_polys(most_power=2), small_rationals(1, 9))
def test_the_unit_of_eps_does_not_matter(f: ExpPoly, factor: Fraction) -> None:
    assert (decide(f).witness is None) == (decide(f.scaled(factor)).witness is None)


def test_ends_of_intervals() -> None:
    f = (EPS - 1) * (2 - EPS)
    assert decide(f, Interval.closed(1, 2)).witness is None
    assert decide(f, Interval.open(1, 2)).witness is None
    assert decide(f, Interval.closed(1, Fraction(2001, 1000))).witness is not None
    right_end = decide(f, Interval.closed(2, 3))
    assert right_end.witness is not None
    assert right_end.witness == 3
    ((lower, upper),) = right_end.regions
    assert (lower.place, lower.after, upper.place, upper.after) == (2, True, 3, True)
    half_open = decide(f, Interval.open(2, 3))
    assert half_open.witness is not None
    assert half_open.witness == Fraction(5, 2)


def test_points() -> None:
    assert decide(EPS - 1, Interval.closed(1, 1)).witness is None
    zero = decide_nonnegative(EPS - 1, Interval.closed(1, 1))
    assert zero.witness is None
    assert zero.analysis is None
    wrong = decide(EPS - 2, Interval.closed(1, 1))
    assert wrong.witness is not None
    assert wrong.witness == 1
    ((lower, upper),) = wrong.regions
    assert (lower.place, lower.after, upper.place, upper.after) == (1, False, 1, True)


def test_regions_with_a_puncture() -> None:
    decision = decide(DOUBLE * (e(1) - 3) * (EPS - 3) ** 2 * (EPS - 4) ** 3 * -1)
    assert decision.witness is not None
    # -(e^eps - 2)²(e^eps - 3)(eps - 3)²(eps - 4)³: negative before log 3, with a zero at log 2, and after 4.
    (start, puncture), (again, log_3), (after_4, end) = decision.regions
    assert start.place == 0
    assert puncture.place == again.place
    assert (puncture.after, again.after) == (False, True)
    assert isinstance(puncture.place, Root)
    assert puncture.place.multiplicity == 2
    assert puncture.place.lower < Fraction(6931472, 10**7)
    assert isinstance(log_3.place, Root)
    assert isinstance(after_4.place, Root)
    assert after_4.place.is_exact
    assert after_4.place.lower == 4
    assert end.place is None
    assert decision.witness == 1


def test_the_simplest_eps_even_where_only_a_sliver_fails() -> None:
    sliver = Fraction(1, 10**12)
    f = (EPS - Fraction(355, 113)) * (EPS - Fraction(355, 113) - sliver)
    decision = decide(f)
    assert decision.witness is not None
    assert Fraction(355, 113) < decision.witness < Fraction(355, 113) + sliver
    smaller = [
        Fraction(355 * d // 113 + 1, d)
        for d in range(1, 3000)
        if 0 < Fraction(355 * d // 113 + 1, d) - Fraction(355, 113) < sliver
    ]
    assert smaller == []
    assert decision.witness.denominator > 3000


def test_a_root_extremely_near_to_a_simple_number() -> None:
    """(4527 - eps)·e^{4·eps} + 1 is positive at 4527, by e^-18108 of its size, and negative at 4528."""
    f = (4527 - EPS) * e(4) + 1
    decision = decide_nonnegative(f, POSITIVE)
    assert decision.witness is not None
    assert decision.witness == 4528 or sign(f, decision.witness, 1024) == -1
    far = decide_nonnegative((10**6 - EPS) * e(4) + 1, POSITIVE)
    assert far.witness is not None
    assert far.witness > 10**6


@pytest.mark.parametrize("bits", [1, 30, 70])
def test_witnesses_found_with_little_precision_are_still_right(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.sign.chart._WITNESS_BITS", bits)
    near = Fraction(693147180559945309417232121458, 10**30)
    for f in (
        (EPS - near) * (e(1) - 2),
        (near + NEAR - EPS) * (2 - e(1)),
        DOUBLE - NEAR,
        -MIXED,
        (EPS - 2) * (EPS - 3),
        (EPS - 2) * (e(1) - 9),
        (4527 - EPS) * e(4) + 1,
    ):
        for interval in (POSITIVE, Interval.closed(Fraction(1, 2), 5000), Interval.open(near, 5000)):
            decision = decide_nonnegative(f, interval)
            assert decision.witness is not None
            assert decision.witness in interval
            assert sign(f, decision.witness, 1 << 18) == -1


def test_the_proof_is_complete() -> None:
    """The proof has factors that multiply to F, and for each odd one a gapless cover from 0 to infinity."""
    decision = decide_nonnegative((e(1) - 2) ** 2 * (e(-1) + EPS + 1) * (EPS + 5), POSITIVE)
    assert decision.witness is None
    assert decision.analysis is not None
    multiplicities = sorted(factor.multiplicity for factor in decision.analysis.factors)
    assert multiplicities == [1, 1, 2]
    for factor, found in zip(decision.analysis.factors, decision.analysis.signs, strict=True):
        if factor.multiplicity % 2 == 0:
            assert found is None
            continue
        assert found is not None
        if found.rational_root is not None:
            assert found.rational_root < 0
            continue
        assert found.zero is not None
        assert found.infinity is not None
        position = found.zero.bound
        for piece in found.pieces:
            assert piece.lower == position
            position = piece.upper
        assert position == found.infinity.bound or (not found.pieces and found.zero.bound >= found.infinity.bound)


@pytest.mark.parametrize(
    ("f", "limits", "name"),
    [
        (DOUBLE + NEAR, Limits(intervals=8), "intervals"),
        (DOUBLE + NEAR, Limits(bits=64), "bits"),
        ((e(1) - 2) ** 2 * (e(-1) - EPS), Limits(degree=2, bits=2000), "bits"),
        (EPS**3 - 3 * EPS**2 + 3 * EPS - 1, Limits(degree=2), "degree"),
        ((1 - e(-1)) ** 30, Limits(order=29), "order"),
        (
            (e("-1/7") - Fraction(1, 2)) ** 2 + e(-1_000_003),
            Limits(bits=5000),
            "bits",
        ),
    ],
)
def test_limits_are_reported_and_never_answered(f: ExpPoly, limits: Limits, name: str) -> None:
    with pytest.raises(LimitReached) as caught:
        decide_nonnegative(f, POSITIVE, limits)
    assert caught.value.limit == name
    assert "sign" in caught.value.reason or "degree" in caught.value.reason or "Taylor" in caught.value.reason


@pytest.mark.parametrize("power", [1_000, 20_000, 10**9])
def test_high_powers_of_eps_are_given_up_at_once(power: int) -> None:
    f = 1 - ExpPoly.term(1, power, -1)
    with pytest.raises(LimitReached) as caught:
        decide_nonnegative(f, Interval.POSITIVE)
    assert caught.value.limit == "power"
