"""The supremum of a quotient of exponential polynomials on an interval of eps: exact, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from math import factorial, gcd, inf, lcm

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.algebra.numbers import dyadic, magnitude, round_down, to_fmpq
from dipc.algebra.parametric import coefficient_sign
from dipc.frozen import frozen
from dipc.sign.chart import EpsCut, ExactCut, cuts, isolate_roots, sign_at, sign_chart
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.polynomial import Layout, normal_form
from dipc.sign.roots import Root, first_nonzero, refine, refine_within, taylor_coefficients

# --- Common roots of two functions, decided exactly -------------------------------------------------------------------
#
# For x > 0 the numbers x and e^{x/n} are not both algebraic (Lindemann). So two exponential polynomials without a
# common divisor in the ring have no common root x > 0: there both their resultants would vanish.

#: Two roots are tested for equality when their intervals overlap and are narrower than this fraction of their size.
_SUSPICIOUS = Fraction(1, 1 << 64)


def root_function(root: Root) -> ExpPoly:
    """The function of eps of which `root` is a root of multiplicity 1."""
    scale = root.scale
    return ExpPoly.from_terms((k, -j * scale, c * scale**k) for j, k, c in root.polynomial.terms)


def vanishes_at(f: ExpPoly, point: Fraction | Root, limits: Limits | None = None) -> bool:
    """True if `f` is 0 at `point`, a rational eps > 0 or a root; the answer is exact.

    Raises LimitReached if the work exceeds `limits`.
    """
    if f.is_zero():
        return True
    if isinstance(point, Fraction):
        return f.value_is_zero(point)
    if point.is_exact:
        return f.value_is_zero(point.lower)
    # A common divisor vanishes at no other point of the interval, since the root's own function does not.
    divisor = f.common_divisor(root_function(point))
    return not divisor.is_unit() and bool(isolate_roots(divisor, Interval.open(point.lower, point.upper), limits))


def order(first: Root, second: Root, budget: DecisionBudget) -> int:
    """Compare two roots exactly: -1, 0 or 1 if `first` is less than, equal to, or greater than `second`.

    Raises LimitReached if `budget` does not suffice.
    """
    tested = False
    while True:
        if first.is_exact and second.is_exact:
            return (first.lower > second.lower) - (first.lower < second.lower)
        if first.upper <= second.lower:
            return -1
        if second.upper <= first.lower:
            return 1
        if not tested and max(first.width, second.width) < _SUSPICIOUS * first.upper:
            if vanishes_at(root_function(first), second, budget.limits):
                return 0
            tested = True
        first, second = (refine_within(root, root.width / (1 << 32), budget) for root in (first, second))


# --- Real numbers that are values of quotients: rational, or enclosed arbitrarily narrowly ----------------------------

#: Numbers above 2^n or below 2^-n, for this n, are not written out: an exact text would fill the memory.
_MOST_MAGNITUDE = 300_000

_FIRST_BITS = 64


class QuotientValue:
    """A real number: the value of a quotient of two functions of eps at a rational eps or an isolated root.

    The denominator is not 0 at this eps. The number may also be given as a rational. Invariant: `low` <= number <=
    `high`, and these enclosures only become narrower.
    """

    __slots__ = ("_at", "_bits", "_denominator", "_limits", "_numerator", "_unlike", "high", "low")

    def __init__(
        self, numerator: ExpPoly, denominator: ExpPoly, point: Fraction | Root, limits: Limits | None = None
    ) -> None:
        self._numerator = numerator
        self._denominator = denominator
        self._at = point
        self._limits = limits or Limits()
        self._bits = _FIRST_BITS
        self._unlike: set[Fraction] = set()
        enclosure = None
        while enclosure is None:
            enclosure = self._enclose()
        self.low, self.high = enclosure
        if self.low <= 0 <= self.high:
            self.is_exactly(Fraction(0))

    @classmethod
    def rational(cls, value: Fraction) -> QuotientValue:
        """The rational number `value` as an object of this class."""
        return cls(ExpPoly.constant(value), ExpPoly.ONE, Fraction(1))

    def __repr__(self) -> str:
        return f"Number({self.low})" if self.exact() is not None else f"Number({float(self.low)}...)"

    def exact(self) -> Fraction | None:
        """The number as a fraction if it is known to be rational, else None."""
        return self.low if self.low == self.high else None

    @property
    def place(self) -> Fraction | Root:
        """The eps at which the quotient has this value: a rational, or a root with the narrowest known interval."""
        return self._at

    # --- narrower ---------------------------------------------------------------------------------

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Rationals (low, high) around the number, with high - low <= 10^-`digits`·max(|low|, |high|).

        Raises LimitReached.
        """
        share = Fraction(1, 10**digits)
        while self.high - self.low > share * max(abs(self.low), abs(self.high)):
            self.narrow()
        return self.low, self.high

    def narrow(self) -> None:
        """Try to narrow the enclosure, with twice the precision of the call before. Raises LimitReached."""
        if self.exact() is not None:
            return
        enclosure = self._enclose()
        if enclosure is not None:
            self.low, self.high = max(self.low, enclosure[0]), min(self.high, enclosure[1])
        if self.exact() is None and self.low <= 0 <= self.high:
            self.is_exactly(Fraction(0))

    def _enclose(self) -> tuple[Fraction, Fraction] | None:
        """Return (low, high), bounds of this value at the current precision, or None if the precision is too low.

        Each call doubles the precision for the next one. Raises LimitReached.
        """
        bits, self._bits = self._bits, 2 * self._bits
        if bits > 2 * self._limits.bits:
            raise LimitReached("bits", f"a value of the function could not be computed with numbers of {bits} bits")
        if self._denominator == 1 and isinstance(self._at, Fraction):
            terms = self._numerator.terms()
            if not any(q for _, q, _ in terms):
                # A polynomial in eps has a rational value.
                known = sum((c * self._at**k for k, _, c in terms), Fraction(0))
                return known, known
        if isinstance(self._at, Root):
            self._at = refine(self._at, self._at.upper / (1 << bits), self._limits)
            low, high = self._at.lower, self._at.upper
        else:
            low = high = self._at
        with flint.ctx.workprec(bits + 64):
            eps = flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high)))
            below = value_ball(self._denominator, eps)
            if below.contains(0):
                return None
            ball = value_ball(self._numerator, eps) / below
            if not ball.is_finite():
                return None
            ends = ball.lower(), ball.upper()
            if any(abs(_exponent(end)) > _MOST_MAGNITUDE for end in ends):
                if ball.contains(0):
                    return None
                near = low.numerator // low.denominator
                raise LimitReached(None, f"a value near eps = {near} is too large or too small to be written out")
            return dyadic(ends[0]), dyadic(ends[1])

    # --- exact questions --------------------------------------------------------------------------

    def is_exactly(self, value: Fraction) -> bool:
        """True if the number equals `value`, else False; both answers are proved.

        The function numerator - value·denominator is tested for 0 at the number's eps.
        """
        if not self.low <= value <= self.high:
            return False
        known = self.exact()
        if known is not None:
            return known == value
        if value in self._unlike:
            return False
        if vanishes_at(self._numerator - self._denominator * value, self._at, self._limits):
            self.low = self.high = value
            return True
        self._unlike.add(value)
        return False

    def compare_to(self, value: Fraction) -> int:
        """The exact sign of this number minus `value`: -1, 0 or 1. Raises LimitReached."""
        while self.low <= value <= self.high:
            if self.is_exactly(value):
                return 0
            self.narrow()
        return 1 if self.low > value else -1

    def recognize(self) -> None:
        """Test whether the number equals the simplest rational in a narrow enclosure of it, which `exact` then returns.

        The test is made only if that rational has far fewer digits than the simplest rational in a random interval of
        this width.
        """
        low, high = self.enclosure(_RECOGNIZED)
        if self.exact() is None and low * high > 0:
            simple = simplest_between(min(abs(low), abs(high)), max(abs(low), abs(high)))
            # Most intervals of this width contain no rational with so few bits.
            if simple.denominator.bit_length() + simple.numerator.bit_length() < 3 * _RECOGNIZED // 2:
                self.is_exactly(simple if low > 0 else -simple)


def compare(first: QuotientValue, second: QuotientValue, digits: int) -> tuple[int, bool]:
    """Return (the sign of `first` - `second`, True if this sign is proved).

    (0, False) means that the numbers agree to more than `digits` significant digits but are not proved to be equal. In
    this case neither number is known to be rational. Raises LimitReached.
    """
    if first is second:
        return 0, True
    while True:
        for known, other, sign in ((first.exact(), second, -1), (second.exact(), first, 1)):
            if known is not None:
                return sign * other.compare_to(known), True
        if first.high < second.low:
            return -1, True
        if second.high < first.low:
            return 1, True
        share = Fraction(1, 10 ** (digits + 5))
        if all(n.high - n.low <= share * max(abs(n.low), abs(n.high)) for n in (first, second)):
            first.recognize()
            second.recognize()
            if first.exact() is None and second.exact() is None:
                return 0, False
            continue
        first.narrow()
        second.narrow()


def value_ball(f: ExpPoly, eps: flint.arb) -> flint.arb:
    """A ball that contains the value of `f` at every point of the ball `eps`, at FLINT's current precision."""
    unit, terms = f.integer_terms()
    exponentials: dict[int, flint.arb] = {}
    total = flint.arb(0)
    for k, j, c in terms:
        if j and j not in exponentials:
            exponentials[j] = (eps * flint.arb(flint.fmpq(j, unit))).exp()
        term = flint.arb(c)
        if k:
            term *= eps**k
        if j:
            term *= exponentials[j]
        total += term
    return total


def _exponent(exact: flint.arb) -> int:
    mantissa, exponent = exact.man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa != 0 else 0


# --- Quotients in lowest terms ----------------------------------------------------------------------------------------


@frozen
class ReducedQuotient:
    """A quotient in lowest terms, together with the common divisor that was removed.

    The given quotient is (numerator·common)/(denominator·common), up to a factor that is positive for every eps.
    `numerator` and `denominator` have no common divisor, so at no eps > 0 are both 0. Where `common` is 0, the given
    quotient is 0/0: it has a limit or a pole there, but no value.
    """

    numerator: ExpPoly
    denominator: ExpPoly
    common: ExpPoly

    @classmethod
    def from_fraction(cls, numerator: ExpPoly, denominator: ExpPoly) -> ReducedQuotient:
        """The quotient `numerator`/`denominator` in lowest terms.

        Equal functions always have equal reduced numerators and denominators. Raises LimitReached, and ValueError for a
        zero `denominator`.
        """
        if denominator.is_zero():
            raise ValueError("a quotient by the zero function has no values")
        if numerator.is_zero():
            return cls(numerator, ExpPoly.ONE, denominator)
        common = ExpPoly.ONE if denominator.is_unit() else numerator.common_divisor(denominator)
        if common.is_unit():
            common = ExpPoly.ONE
        else:
            numerator, denominator = numerator.exact_quotient(common), denominator.exact_quotient(common)
        # A unit has no root and no change of sign; this unit makes the form unique.
        exponent, coefficient = denominator.lowest()
        unit = ExpPoly.term(1 / coefficient, 0, -exponent)
        return cls(numerator * unit, denominator * unit, common if coefficient > 0 else -common)

    def scaled(self, factor: Fraction) -> ReducedQuotient:
        """The quotient with `factor`·eps in place of eps, for `factor` > 0."""
        return ReducedQuotient(
            self.numerator.scaled(factor), self.denominator.scaled(factor), self.common.scaled(factor)
        )

    def rate(self) -> Fraction:
        """The greatest rational r such that each q in a factor e^{q·eps} is a multiple of r; 1 if all are 0."""
        exponents = [q for poly in (self.numerator, self.denominator) for _, q, _ in poly.terms() if q]
        if not exponents:
            return Fraction(1)
        below = lcm(*(q.denominator for q in exponents))
        return Fraction(gcd(*(q.numerator * (below // q.denominator) for q in exponents)), below)

    def slope(self) -> ExpPoly:
        """The function N'·D - N·D' for the quotient N/D: it has the sign of the quotient's derivative."""
        if self.denominator == 1:
            return self.numerator.derivative()
        return self.numerator.derivative() * self.denominator - self.numerator * self.denominator.derivative()

    def is_gap(self, point: Fraction | Root, limits: Limits | None = None) -> bool:
        """True if the numerator and the denominator of the given quotient are both 0 at `point`.

        The given quotient still has the factor `common`. Raises LimitReached if the work exceeds `limits`.
        """
        return not self.common.is_unit() and vanishes_at(self.common, point, limits)


# --- Limits of a quotient of exponential polynomials at the two ends of the positive numbers, exactly -----------------


#: The limit of a quotient: a rational number, or the float `inf` or `-inf`.
Limit = Fraction | float


def leading_at_zero(f: ExpPoly, limits: Limits | None = None) -> tuple[int, Fraction]:
    """The leading term of `f` at 0: (n, c) with f(eps) = c·eps^n·(1 + o(1)) for eps -> 0 and c != 0.

    `f` must not be zero. Raises LimitReached if the work exceeds `limits`.
    """
    budget = DecisionBudget(limits or Limits())
    form = normal_form(f, budget)
    n, coefficient = first_nonzero(taylor_coefficients(Layout(form.polynomial)), budget)
    return form.power + n, form.factor * Fraction(coefficient, factorial(n)) * form.scale**n


def leading_at_infinity(f: ExpPoly) -> tuple[tuple[Fraction, int], Fraction]:
    """The leading term of `f` at infinity: ((q, k), c) with f(eps) = c·eps^k·e^{q·eps}·(1 + o(1)) and c != 0.

    `f` must not be zero.
    """
    q, k, c = max((q, k, c) for k, q, c in f.terms())
    return (q, k), c


def limit_at_zero(numerator: ExpPoly, denominator: ExpPoly, limits: Limits | None = None) -> Limit:
    """The limit of `numerator`/`denominator` for eps -> 0 from above; `denominator` must not be zero.

    Raises LimitReached if the work exceeds `limits`.
    """
    if numerator.is_zero():
        return Fraction(0)
    n, above = leading_at_zero(numerator, limits)
    d, below = leading_at_zero(denominator, limits)
    return _limit((n < d) - (n > d), above / below)


def limit_at_infinity(numerator: ExpPoly, denominator: ExpPoly) -> Limit:
    """The limit of `numerator`/`denominator` for eps -> inf; `denominator` must not be zero."""
    if numerator.is_zero():
        return Fraction(0)
    n, above = leading_at_infinity(numerator)
    d, below = leading_at_infinity(denominator)
    return _limit((n > d) - (n < d), above / below)


def _limit(growth: int, ratio: Fraction) -> Limit:
    if growth == 0:
        return ratio
    if growth < 0:
        return Fraction(0)
    return inf if ratio > 0 else -inf


# --- Local maxima of a quotient between two ends, and its limits at the ends ------------------------------------------


class Far(Enum):
    """The place of a supremum that is not a single eps: ZERO for eps -> 0, INFINITY for eps -> inf, or EVERYWHERE.

    EVERYWHERE is the place for a constant function.
    """

    ZERO = "0+"
    INFINITY = "inf"
    EVERYWHERE = "everywhere"


#: A rational eps, an isolated root, or a place that is not a single eps.
PeakPlace = Fraction | Root | Far


@frozen(eq=False)
class Peak:
    """A candidate for a supremum of a quotient: the `value` that the quotient has or approaches at `place`.

    `attained` is True if the quotient has this value at the place, and False if it only approaches it. A `value` of
    None is infinity. Then the quotient exceeds every bound near the place or, if `attained`, its denominator is 0 at
    the place and its numerator positive. If the place is known only approximately, `enclosure` contains every eps with
    this value.
    """

    place: PeakPlace
    attained: bool
    value: QuotientValue | None
    enclosure: tuple[Fraction, Fraction] | None = None

    def place_cell(self, digits: int, limits: Limits | None = None) -> Cell | None:
        """Two decimals around the place, one unit of the last of `digits` digits apart, or a rational place twice.

        The result is (0, 0) for the limit at 0 and for a constant function, and None for the limit at infinity. Raises
        LimitReached if the work exceeds `limits`.
        """
        match self.place:
            case Fraction():
                return self.enclosure or (self.place, self.place)
            case Root():
                return root_cell(self.place, digits, limits)
            case Far.ZERO | Far.EVERYWHERE:
                return Fraction(0), Fraction(0)
            case Far.INFINITY:
                return None


def peaks(ratio: ReducedQuotient, lower: ExactCut, upper: ExactCut, limits: Limits | None = None) -> list[Peak]:
    """Candidates for the supremum of `ratio` from `lower` to `upper`; the greatest of their values is the supremum.

    `lower` is less than `upper`, or both are the same rational and belong to the interval; `lower` may be 0, and
    `upper` infinity. The denominator of the given quotient, before its reduction to lowest terms, must be at least 0 in
    the interval. The quotient `ratio` has no value where its denominator and its numerator are both 0; these points are
    left out.

    If a candidate is infinite, so is the supremum. The result is empty only if the quotient has no value anywhere, or
    is minus infinity at the only point. Raises LimitReached if the work exceeds `limits`.
    """
    return _PeakSearch(ratio, lower, upper, limits or Limits()).peaks()


class _PeakSearch:
    def __init__(self, ratio: ReducedQuotient, lower: ExactCut, upper: ExactCut, limits: Limits) -> None:
        self.ratio = ratio
        self.lower = _plain(lower)
        self.upper = _plain(upper)
        self.limits = limits
        self.budget = DecisionBudget(limits)

    def peaks(self) -> list[Peak]:
        if self.lower.place == self.upper.place:
            assert isinstance(self.lower.place, Fraction)
            return list(self._at_point(self.lower.place))
        slope = self.ratio.slope()
        if slope.is_zero():
            # The derivative is 0, so the quotient is constant: its limit is its value everywhere.
            value = limit_at_infinity(self.ratio.numerator, self.ratio.denominator)
            assert isinstance(value, Fraction)
            return [Peak(Far.EVERYWHERE, True, QuotientValue.rational(value))]
        poles = list(self._poles())
        if poles:
            return poles
        return [*self._ends(), *self._maxima(slope)]

    # --- at a place -------------------------------------------------------------------------------

    def _peak(self, point: Fraction | Root, closed: bool) -> Peak:
        """Return `point` with the value of the quotient there, as a candidate for its supremum.

        The denominator, after common factors are removed, is not 0 at `point`. `closed` says whether the point belongs
        to the interval. The candidate is marked as attained if `closed`, unless the given quotient is 0/0 at the point.
        """
        attained = closed and not self.ratio.is_gap(point, self.limits)
        return Peak(point, attained, QuotientValue(self.ratio.numerator, self.ratio.denominator, point, self.limits))

    def _at_point(self, eps: Fraction) -> Iterator[Peak]:
        if self.ratio.is_gap(eps):
            return
        if not self.ratio.denominator.value_is_zero(eps):
            yield self._peak(eps, closed=True)
        elif sign_at(self.ratio.numerator * self.ratio.common, eps, self.limits) > 0:
            yield Peak(eps, True, None)

    def _ends(self) -> Iterator[Peak]:
        numerator, denominator = self.ratio.numerator, self.ratio.denominator
        for place, closed in ((self.lower.place, not self.lower.after), (self.upper.place, self.upper.after)):
            match place:
                case None:
                    yield from _limit_peak(Far.INFINITY, limit_at_infinity(numerator, denominator))
                case Fraction() if place == 0:
                    yield from _limit_peak(Far.ZERO, limit_at_zero(numerator, denominator, self.limits))
                case Fraction():
                    if not denominator.value_is_zero(place):
                        yield self._peak(place, closed)
                case Root():
                    if coefficient_sign(denominator) or not vanishes_at(denominator, place, self.limits):
                        yield self._peak(place, closed)

    # --- roots between the ends -------------------------------------------------------------------

    def _outer(self) -> Interval:
        low, high = self.lower.place, self.upper.place
        assert low is not None
        return Interval.open(
            low.lower if isinstance(low, Root) else low, high.upper if isinstance(high, Root) else high
        )

    def _places(self, f: ExpPoly) -> list[tuple[Root, int, tuple[int, int]]]:
        """Return the roots of `f` in the interval, as (root, side, (sign of `f` before it, sign after it)).

        `side` is -1 if the root is the lower end of the interval, 1 if it is the upper end, and 0 if it is strictly
        inside. An end that is a rational number is not in the result, even if it is a root.
        """
        if coefficient_sign(f):
            return []
        chart = sign_chart(f, self._outer(), self.limits)
        result = []
        for root, signs in zip(chart.roots, pairwise(chart.signs), strict=True):
            after = order(root, self.lower.place, self.budget) if isinstance(self.lower.place, Root) else 1
            before = order(root, self.upper.place, self.budget) if isinstance(self.upper.place, Root) else -1
            if after >= 0 and before <= 0:
                result.append((root, -1 if after == 0 else 1 if before == 0 else 0, signs))
        return result

    def _poles(self) -> Iterator[Peak]:
        """Yield a candidate with the value infinity for each eps near which the quotient has no upper bound.

        The eps are those inside the interval and its two ends, except 0 and infinity.
        """
        numerator, denominator = self.ratio.numerator, self.ratio.denominator
        for root, side, (before, after) in self._places(denominator):
            inside = {-1: (after,), 0: (before, after), 1: (before,)}[side]
            sign = QuotientValue(numerator, ExpPoly.ONE, root, self.limits).compare_to(Fraction(0))
            if any(sign * s > 0 for s in inside):
                closed = side == 0 or (not self.lower.after if side < 0 else self.upper.after)
                yield Peak(root, closed and not self.ratio.is_gap(root, self.limits), None)
        ends = (self.lower.place, not self.lower.after, 0), (self.upper.place, self.upper.after, -1)
        for place, closed, gap in ends:
            if isinstance(place, Fraction) and place and denominator.value_is_zero(place):
                chart = sign_chart(denominator, self._outer(), self.limits)
                if sign_at(numerator, place, self.limits) * chart.signs[gap] > 0:
                    yield Peak(place, closed and not self.ratio.is_gap(place, self.limits), None)

    def _maxima(self, slope: ExpPoly) -> Iterator[Peak]:
        """Yield the local maxima of the quotient strictly inside the interval, each with the value there.

        The maxima are where `slope`, a function with the sign of the quotient's derivative, changes from positive to
        negative.
        """
        for root, side, signs in self._places(slope):
            if side == 0 and signs == (1, -1):
                point = root.lower if root.is_exact else root
                yield self._peak(point, closed=True)


def _limit_peak(far: Far, limit: Limit) -> Iterator[Peak]:
    if isinstance(limit, Fraction):
        yield Peak(far, False, QuotientValue.rational(limit))
    elif limit > 0:
        yield Peak(far, False, None)


def _plain(end: ExactCut) -> ExactCut:
    return EpsCut(end.place.lower, end.after) if isinstance(end.place, Root) and end.place.is_exact else end


# --- The greatest of some peaks, and the supremum of a quotient on an interval ----------------------------------------

#: The default number of significant digits of a supremum.
DIGITS = 30


@frozen(eq=False)
class Highest:
    """A supremum, as those `peaks` among several candidates that have the greatest value, in their given order.

    All other candidates are proved to have a lower value. The values of `peaks` are proved equal if `proved`; otherwise
    they agree at least to the requested digits.
    """

    peaks: tuple[Peak, ...]
    proved: bool

    @property
    def numbers(self) -> tuple[QuotientValue, ...]:
        """The values of the peaks; empty if the supremum is infinite.

        The supremum is the greatest of them. They are equal if `proved`; otherwise, they may differ beyond the
        requested digits.
        """
        return tuple(peak.value for peak in self.peaks if peak.value is not None)

    @property
    def is_infinite(self) -> bool:
        """True if the supremum is infinite."""
        return self.peaks[0].value is None

    @property
    def attained(self) -> bool | None:
        """True if the quotient attains the supremum, False if not; None if it is unknown which peak is the greatest."""
        attained = [peak.attained for peak in self.peaks]
        if self.proved:
            return any(attained)
        return attained[0] if len(set(attained)) == 1 else None

    def enclosure(self, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
        """Rationals (low, high) around the supremum, which must be finite. Raises LimitReached.

        high - low is at most 10^-`digits` times the larger of |low| and |high| if `proved`, else approximately.
        """
        ends = [number.enclosure(digits) for number in self.numbers]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def compare_to(self, value: Fraction) -> int:
        """The exact sign of the supremum, which must be finite, minus `value`. Raises LimitReached."""
        return max(number.compare_to(value) for number in self.numbers)


def highest(candidates: Iterable[Peak], digits: int = DIGITS) -> Highest | None:
    """The peaks among `candidates` with the greatest value, or None if there are no candidates.

    Values are compared to `digits` digits. Raises LimitReached.
    """
    best: list[Peak] = []
    proved = True
    for peak in candidates:
        sign, certain = _compare(peak, best[0], digits) if best else (1, True)
        if sign > 0:
            best, proved = [peak], True
        elif sign == 0:
            best.append(peak)
            proved = proved and certain
    return Highest(tuple(best), proved) if best else None


def _compare(first: Peak, second: Peak, digits: int) -> tuple[int, bool]:
    if first.value is None or second.value is None:
        return (first.value is None) - (second.value is None), True
    return compare(first.value, second.value, digits)


def supremum(
    numerator: ExpPoly,
    denominator: ExpPoly,
    interval: Interval,
    digits: int = DIGITS,
    limits: Limits | None = None,
) -> Highest:
    """The supremum of `numerator`/`denominator` on `interval`: the least f with f·denominator >= numerator everywhere.

    The peaks of the result are where it is attained or approached. `denominator` must be at least 0 on the interval,
    and not zero everywhere. Where it is 0, a positive numerator makes the supremum infinite, and any other numerator is
    ignored. Peaks are compared to `digits` digits.

    Raises LimitReached if the work exceeds `limits`, and ValueError if the quotient has no value on the interval.
    """
    maximum = highest(peaks(ReducedQuotient.from_fraction(numerator, denominator), *cuts(interval), limits), digits)
    if maximum is None:
        raise ValueError("the quotient has no value on the interval")
    for number in maximum.numbers:
        number.recognize()
    return maximum


# --- The supremum of a quotient of exponential polynomials on an interval of eps --------------------------------------
#
# A number is a rational, or is enclosed arbitrarily narrowly; comparisons with rationals are exact.

__all__ = [
    "Far",
    "Highest",
    "Peak",
    "PeakPlace",
    "QuotientValue",
    "ReducedQuotient",
    "highest",
    "order",
    "peaks",
    "supremum",
    "vanishes_at",
]


# --- Decimal digits of numbers: they are digits of the number itself, so more digits only extend fewer ----------------
#
# A decimal cell is a pair (low, high). Either low is the number cut off after the requested digits and high is one unit
# of the last digit more, or both are the number, which is then rational.

#: Digits that the first enclosure has beyond the requested ones.
_SPARE = 3

Cell = tuple[Fraction, Fraction]

#: Digits that must agree before a simple rational is tested for equality.
_RECOGNIZED = 40


def number_cell(number: QuotientValue, digits: int) -> Cell:
    """The neighboring decimals of `digits` significant digits around `number` >= 0, as (low, high).

    For example, they are 1.4 and 1.5 for √2 and 2 digits. If the number is known to be rational, low and high are both
    the number itself. The computation ends, since it is decided exactly whether the number is a decimal with `digits`
    significant digits. Raises LimitReached past a limit.
    """
    spare = _SPARE
    while True:
        low, high = number.enclosure(digits + spare)
        exact = number.exact()
        if exact is not None:
            return exact, exact
        edge = round_down(high, digits)
        if low >= edge:
            return _cell(edge, digits)
        if not number.is_exactly(edge):
            spare *= 2


def root_cell(root: Root, digits: int, limits: Limits | None = None) -> Cell:
    """The neighboring decimals of `digits` significant digits around `root`, as (low, high).

    For example, they are 0.69 and 0.70 for the logarithm of 2 and 2 digits. If the root is rational, low and high are
    both the root itself. Otherwise it is irrational, so the computation ends. Raises LimitReached if the work exceeds
    `limits`.
    """
    spare = _SPARE
    while not root.is_exact:
        root = refine(root, root.upper / 10 ** (digits + spare), limits)
        edge = round_down(root.upper, digits)
        if root.lower >= edge:
            return _cell(edge, digits)
        # At the next precision the edge is outside.
        spare *= 2
    return root.lower, root.upper


def _cell(low: Fraction, digits: int) -> Cell:
    return low, low + Fraction(10) ** (magnitude(low) - digits + 1)


def decimal_hull(ends: Cell, digits: int) -> Cell:
    """Two decimals of `digits` significant digits, (low, high), around the interval from `ends[0]` to `ends[1]`.

    Both `ends` are at least 0, and differ by at most one in the last digit.
    """
    low, high = (decimal_cell(end, digits) if end else (end, end) for end in ends)
    return low[0], high[1]


def decimal_cell(value: Fraction, digits: int) -> Cell:
    """The neighboring decimals (low, high) of `digits` significant digits with low <= `value` < high.

    For example, they are 1.4 and 1.5 for 1.42 and 2 digits. `value` must be positive.
    """
    return _cell(round_down(value, digits), digits)
