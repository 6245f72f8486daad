"""The sign chart of exponential polynomials on an interval: all roots, samples between them, witnesses.

A chart decides f >= 0 on the interval, with a proof or with the set of all eps where f < 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Generic, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.algebra.numbers import decimal, magnitude, round_down, round_up
from dipc.frozen import frozen
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.polynomial import (
    Factor,
    Layout,
    NormalForm,
    Polynomial,
    is_surely_square_free,
    normal_form,
    rational_root,
    sign_at_point,
    split_content,
    square_free_parts,
)
from dipc.sign.roots import FactorSign, Root, factor_sign, refine, refine_within, separate

# --- The sign chart of an exponential polynomial on an interval: all roots, and the sign on every gap -----------------


@frozen
class SignChart:
    """The signs (-1, 0 or 1) of a function f on `interval`, and the roots of f that separate them.

    - `roots`: all roots strictly inside, increasing; their isolating intervals have at most end points in common.
    - `signs`: the sign between two neighboring roots or ends, one more than there are roots (none if the interval is a
      point).
    - `lower_sign`, `upper_sign`: the signs at the ends that belong to the interval, else None.

    If f is 0 on the whole interval there are no roots, and all signs are 0.
    """

    interval: Interval
    roots: tuple[Root, ...]
    signs: tuple[int, ...]
    lower_sign: int | None
    upper_sign: int | None


@frozen
class Analysis:
    """A function f of eps, split into factors, and the sign of each factor on an interval of eps.

    `form` is the normal form of f: a positive function times a polynomial in t and e^{-t}, where t is eps times the
    field `scale` of the form. This polynomial is `sign` times the product of factor^multiplicity over `factors`.
    `signs` has the sign of each factor on `interval`, in the same order; None for a factor of even multiplicity whose
    sign was not computed.
    """

    form: NormalForm
    interval: Interval
    sign: int
    factors: tuple[Factor, ...]
    signs: tuple[FactorSign | None, ...]

    @property
    def first_sign(self) -> int:
        """The sign of f right after the lower end of the interval."""
        result = self.sign
        for sign in self.signs:
            if sign is not None and sign.multiplicity % 2:
                result *= sign.first_sign
        return result

    def roots(self) -> list[Root]:
        """The roots of f strictly inside the interval, in no particular order.

        The roots of factors whose sign was not computed are left out.
        """
        result: list[Root] = []
        scale = self.form.scale
        interval = self.interval.scaled(scale)
        for sign in self.signs:
            if sign is None:
                continue
            root = sign.rational_root
            if root is not None:
                if interval.lower < root and (interval.upper is None or root < interval.upper):
                    result.append(Root(root / scale, root / scale, sign.multiplicity, sign.polynomial, scale))
                continue
            result.extend(
                Root(c.lower / scale, c.upper / scale, sign.multiplicity, sign.polynomial, scale)
                for c in sign.crossings
            )
        return result

    def vanishes_at(self, eps: Fraction) -> bool:
        """True if f is 0 at the rational `eps`."""
        return any(rational_root(factor.polynomial) == eps * self.form.scale for factor in self.factors)


def sign_at(f: ExpPoly, eps: Fraction, limits: Limits | None = None) -> int:
    """The sign of `f` at a rational `eps` > 0: -1, 0 or 1; 0 only if f(eps) = 0 exactly.

    Raises LimitReached if the work exceeds `limits`.
    """
    if eps <= 0:
        raise ValueError("eps must be positive")
    if f.is_zero():
        return 0
    budget = DecisionBudget(limits or Limits())
    return sign_of_form(normal_form(f, budget), eps, budget)


def sign_of_form(form: NormalForm, eps: Fraction, budget: DecisionBudget) -> int:
    """The sign of the function with the normal form `form` at a rational `eps` > 0: -1, 0 or 1.

    The sign is 0 only where the value is exactly 0. Raises LimitReached if the work exceeds `budget`.
    """
    return sign_at_point(Layout(form.polynomial), eps * form.scale, budget)


def sign_chart(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> SignChart:
    """The sign chart of `f` on `interval`. Raises LimitReached if the work exceeds `limits`."""
    budget = DecisionBudget(limits or Limits())
    if f.is_zero():
        return _constant_chart(interval, 0)
    form = normal_form(f, budget)
    if interval.is_point:
        return _constant_chart(interval, sign_of_form(form, interval.lower, budget))
    return chart_of(analyze(form, interval, budget, skip_even=False), budget)


def isolate_roots(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> tuple[Root, ...]:
    """The roots of `f` in `interval`, increasing, each in an isolating interval with rational ends.

    A root at an end of `interval` is included if the end belongs to `interval`. `f` must not be zero. Raises
    LimitReached if the work exceeds `limits`.
    """
    if f.is_zero():
        raise ValueError("every point is a root of the zero function")
    budget = DecisionBudget(limits or Limits())
    form = normal_form(f, budget)
    ends = {end for end in (interval.lower, interval.upper) if end is not None and end in interval}
    at_ends = []
    inside: tuple[Root, ...] = ()
    factors: tuple[Factor, ...]
    if interval.is_point:
        factors = split_content(form.polynomial, budget).factors
    else:
        analysis = analyze(form, interval, budget, skip_even=False)
        inside, factors = chart_of(analysis, budget).roots, analysis.factors
    for factor in factors:
        root = rational_root(factor.polynomial)
        if root is not None and root / form.scale in ends:
            eps = root / form.scale
            at_ends.append(Root(eps, eps, factor.multiplicity, factor.polynomial, form.scale))
    return tuple(sorted([*at_ends, *inside], key=lambda r: (r.lower, r.upper)))


def _constant_chart(interval: Interval, sign: int) -> SignChart:
    return SignChart(
        interval,
        (),
        () if interval.is_point else (sign,),
        sign if interval.lower_closed else None,
        sign if interval.upper_closed else None,
    )


def chart_of(analysis: Analysis, budget: DecisionBudget) -> SignChart:
    """The sign chart of the function of `analysis`, in which the signs of all factors are computed.

    Raises LimitReached if the work exceeds `budget`.
    """
    assert all(sign is not None for sign in analysis.signs)
    interval = analysis.interval
    roots = separate(analysis.roots(), budget)
    signs = [analysis.first_sign]
    for root in roots:
        signs.append(-signs[-1] if root.multiplicity % 2 else signs[-1])
    lower_sign = upper_sign = None
    if interval.lower_closed:
        lower_sign = 0 if analysis.vanishes_at(interval.lower) else signs[0]
    if interval.upper_closed:
        assert interval.upper is not None
        upper_sign = 0 if analysis.vanishes_at(interval.upper) else signs[-1]
    return SignChart(interval, tuple(roots), tuple(signs), lower_sign, upper_sign)


class _MaybeMultipleError(Exception):
    """Raised if a polynomial that is treated as square-free may have a multiple root."""


def analyze(form: NormalForm, interval: Interval, budget: DecisionBudget, *, skip_even: bool) -> Analysis:
    """Factor the polynomial of `form` as far as necessary, and find the sign of every factor on `interval`.

    `interval` is not a point. Factors that contain t alone are split off first. The rest is treated as square-free
    until the search for its roots suggests a multiple root; then it is split into square-free factors. With
    `skip_even`, the signs of factors of even multiplicity, which change no sign, are not computed. Raises LimitReached
    if the work exceeds `budget`.
    """
    content = split_content(form.polynomial, budget)
    scaled = interval.scaled(form.scale)

    def look(factor: Factor, on_suspicion: Callable[[], None]) -> FactorSign | None:
        if skip_even and factor.multiplicity % 2 == 0:
            return None
        return factor_sign(factor.polynomial, factor.multiplicity, scaled.lower, scaled.upper, budget, on_suspicion)

    sign = content.sign
    factors = list(content.factors)
    signs = [look(factor, _nothing) for factor in factors]
    if content.primitive is not None:
        primitive = Factor(content.primitive, 1)
        try:
            roots = look(primitive, lambda: _suspect(primitive.polynomial, budget))
        except _MaybeMultipleError:
            unit, square_free = square_free_parts(primitive.polynomial, budget)
            sign *= unit
            factors += square_free
            signs += [look(factor, _nothing) for factor in square_free]
        else:
            factors.append(primitive)
            signs.append(roots)
    return Analysis(form, interval, sign, tuple(factors), tuple(signs))


def _nothing() -> None:
    pass


def _suspect(polynomial: Polynomial, budget: DecisionBudget) -> None:
    # A polynomial of too high a degree is not tested: more precision decides, unless there is a multiple root.
    if polynomial.degree_z <= budget.limits.degree and not is_surely_square_free(polynomial):
        raise _MaybeMultipleError


# --- Simple rationals at which a function is negative, between neighboring roots --------------------------------------

#: The most bits that are spent on finding a simpler counterexample.
_WITNESS_BITS = 4096


def simplest_in_gap(
    interval: Interval,
    left: Root | None,
    right: Root | None,
    is_negative: Callable[[Fraction, DecisionBudget], bool],
    budget: DecisionBudget,
) -> Fraction:
    """Return the simplest rational between two neighboring roots of a function that is negative between them.

    The roots are `left` and `right`, where None is an end of `interval`. Within the isolating interval of a root, the
    function must have one sign on each side of the root. `is_negative` says whether the function is negative at a
    point. Ends that belong to `interval` are candidates, too. If the search takes more precision than `budget` allows,
    the result is the simplest rational between the two isolating intervals. Simplest means first in the Stern-Brocot
    tree.
    """
    low_closed = left is None and interval.lower_closed and is_negative(interval.lower, budget)
    high_closed = (
        right is None and interval.upper is not None and interval.upper_closed and is_negative(interval.upper, budget)
    )
    cheap = budget.with_bits(_WITNESS_BITS)
    halvings = 4
    with suppress(LimitReached):
        while True:
            cheap.check_bits(halvings)
            widest = simplest_between(
                left.lower if left else interval.lower,
                right.upper if right else interval.upper,
                lower_closed=low_closed,
                upper_closed=high_closed,
            )
            # A candidate in an isolating interval may be on the wrong side of the root.
            if is_negative(widest, cheap):
                return widest
            if left and left.lower < widest < left.upper:
                left = replace(left, lower=widest)
                left = refine_within(left, left.width / (1 << halvings), cheap)
            else:
                assert right
                assert right.lower < widest < right.upper
                right = replace(right, upper=widest)
                right = refine_within(right, right.width / (1 << halvings), cheap)
            halvings *= 2
    while True:
        # The function is negative at the ends of isolating intervals too, except at exact roots.
        low, low_closed = (left.upper, not left.is_exact) if left else (interval.lower, low_closed)
        high, high_closed = (right.lower, not right.is_exact) if right else (interval.upper, high_closed)
        if high is None or low < high or (low == high and low_closed and high_closed):
            return simplest_between(low, high, lower_closed=low_closed, upper_closed=high_closed)
        left = left and refine_within(left, left.width / 4, budget)
        right = right and refine_within(right, right.width / 4, budget)


# --- The roots of several functions on one interval together, in order, with a rational sample between any two --------


@frozen
class Arrangement:
    """The roots of several given functions on one `interval`, in order, and a point between any two neighboring roots.

    - `base`: functions without common roots eps > 0. Each given function is a product of powers of some of them, times
      a function that is nowhere 0.
    - `divisors`: for each given function, the indices in `base` of the functions that divide it.
    - `roots`: all roots of base functions strictly inside the interval, increasing, with isolating intervals that share
      at most end points.
    - `owners`: for each root, the index of its base function.
    - `samples`: rationals at which no given function is 0, one between any two neighbors among the roots and the ends
      of the interval. For an interval that is a point, the point itself.

    Invariant: between two neighboring roots every given function has one sign, that at the sample.
    """

    interval: Interval
    base: tuple[ExpPoly, ...]
    divisors: tuple[frozenset[int], ...]
    roots: tuple[Root, ...]
    owners: tuple[int, ...]
    samples: tuple[Fraction, ...]

    def vanishes(self, function: int, root: int) -> bool:
        """True if the given function with the index `function` is 0 at the root with the index `root`."""
        return self.owners[root] in self.divisors[function]

    def gap(self, gap: int) -> tuple[Root | None, Root | None]:
        """The two neighboring roots around the sample with the index `gap`; None for an end of the interval."""
        return (self.roots[gap - 1] if gap else None), (self.roots[gap] if gap < len(self.roots) else None)


def arrange(functions: Sequence[ExpPoly], interval: Interval, limits: Limits | None = None) -> Arrangement:
    """The arrangement of `functions`, none of them zero, on `interval`. Raises LimitReached beyond `limits`."""
    budget = DecisionBudget(limits or Limits())
    base, divisors = coprime_base(functions, limits)
    if interval.is_point:
        return Arrangement(interval, base, divisors, (), (), (interval.lower,))
    owner: dict[tuple[object, Fraction], int] = {}
    roots: list[Root] = []
    for position, f in enumerate(base):
        analysis = analyze(normal_form(f, budget), interval, budget, skip_even=False)
        for root in chart_of(analysis, budget).roots:
            owner[root.polynomial, root.scale] = position
            roots.append(root)
    ordered = tuple(separate(roots, budget))
    samples = tuple(
        _sample(interval, ordered[gap - 1] if gap else None, ordered[gap] if gap < len(ordered) else None, budget)
        for gap in range(len(ordered) + 1)
    )
    owners = tuple(owner[root.polynomial, root.scale] for root in ordered)
    return Arrangement(interval, base, divisors, ordered, owners, samples)


def coprime_base(
    functions: Sequence[ExpPoly], limits: Limits | None = None
) -> tuple[tuple[ExpPoly, ...], tuple[frozenset[int], ...]]:
    """Return (base, divisors) such that all `functions` are products of powers of base functions, up to units.

    Units are functions without roots eps > 0. Base functions are not units, and no two have a common divisor that is
    not a unit. divisors gives, for each of `functions`, the indices of the base functions that divide it.

    The base is computed by refinement: a common divisor of two elements that is not a unit becomes an element, until
    there is none (Bach, Driscoll and Shallit 1993). None of `functions` may be zero. Raises LimitReached if the work
    exceeds `limits`.
    """
    base: list[tuple[ExpPoly, frozenset[int]]] = []
    waiting = [(f, frozenset((index,))) for index, f in reversed(list(enumerate(functions)))]
    work = 0
    most = (limits or Limits()).monomials
    while waiting:
        value, owners = waiting.pop()
        if value.is_unit():
            continue
        for position, (other, theirs) in enumerate(base):
            if other == value:
                base[position] = (other, theirs | owners)
                break
            work += other.product_box(value)
            if work > most:
                raise LimitReached("monomials", "the functions to be compared have too many different exponents")
            shared = other.common_divisor(value)
            if not shared.is_unit():
                del base[position]
                waiting += [
                    (other.exact_quotient(shared), theirs),
                    (value.exact_quotient(shared), owners),
                    (shared, theirs | owners),
                ]
                break
        else:
            base.append((value, owners))
    divisors = tuple(
        frozenset(index for index, (_, owners) in enumerate(base) if function in owners)
        for function in range(len(functions))
    )
    return tuple(value for value, _ in base), divisors


def _sample(interval: Interval, left: Root | None, right: Root | None, budget: DecisionBudget) -> Fraction:
    """A simple rational strictly between the neighboring roots `left` and `right`; None is an end of `interval`.

    The rational is outside the roots' isolating intervals, or at an end of one. Raises LimitReached if the work exceeds
    `budget`.
    """
    while True:
        # Where the intervals of irrational roots touch, no function has a root at the common point.
        low, low_closed = (left.upper, not left.is_exact) if left else (interval.lower, False)
        high, high_closed = (right.lower, not right.is_exact) if right else (interval.upper, False)
        if high is None or low < high:
            return simplest_between(low, high)
        if low == high and low_closed and high_closed:
            return low
        left = left and refine_within(left, left.width / 4, budget)
        right = right and refine_within(right, right.width / 4, budget)


# --- Texts of places on the line of eps, for diagnostics --------------------------------------------------------------

_DIGITS = 6


def refined(root: Root, limits: Limits) -> Root:
    """The `root` in an isolating interval narrow enough to print its digits. Raises LimitReached beyond `limits`."""
    return refine(root, root.upper / 10 ** (2 * _DIGITS), limits)


def place_text(root: Root) -> str:
    """The text that says where `root` is: `at eps = 1` or, if it is irrational, `at eps = 0.693147…`."""
    return f"at eps = {root.lower}" if root.is_exact else f"at eps = {number_text(root.lower, root.upper)}"


def number_text(low: Fraction, high: Fraction) -> str:
    """The text of the number in [`low`, `high`]: exact if it is short, else its first digits and `…`."""
    if low == high and len(str(low)) <= 2 * _DIGITS:
        return str(low)
    if low < 0:
        return "-" + number_text(-high, -low)
    digits = max(_DIGITS, magnitude(low) + 1) if low else _DIGITS
    cut = round_down(low, digits) if low else low
    if cut != (round_down(high, digits) if high else high):
        return f"{decimal(cut)} to {decimal(round_up(high, digits))}"
    return f"{decimal(cut)}…"


#: The type of a place: a rational eps, a root, or None for infinity.
_Place_co = TypeVar("_Place_co", covariant=True)


@frozen
class EpsCut(Generic[_Place_co]):
    """A cut of the line of eps right before or right after one eps; two cuts describe an interval.

    The cut is after `place` if `after` is True, and before it otherwise. A place of None is infinity. An interval
    contains its lower end if the lower cut is before it, and its upper end if the upper cut is after it.
    """

    place: _Place_co
    after: bool


#: A cut at a rational eps, at an isolated root, or at infinity.
ExactCut = EpsCut[Fraction | Root | None]

#: A part of the line of eps as its lower and its upper cut, such as a maximal interval on which a function is negative.
ExactStretch = tuple[ExactCut, ExactCut]


def cuts(interval: Interval) -> ExactStretch:
    """The lower and the upper end of `interval` as cuts."""
    return EpsCut(interval.lower, not interval.lower_closed), EpsCut(interval.upper, interval.upper_closed)


@frozen
class SignDecision:
    """The decision whether a function f is >= 0 on a whole interval, with its proof.

    - `analysis` has the signs of the factors of f. It is None if f is the zero function or the interval is a point.
    - `witness` is None if f >= 0 on the interval. Then the field `sign` of `analysis` times the signs of all factors of
      odd multiplicity is 1, and none of these factors has a root inside the interval.
    - Otherwise f < 0 at `witness`, and exactly on the union of `regions`. The analysis then has the signs of all
      factors, and `chart` is its chart. The witness is the simplest rational in the regions, the first that the
      Stern-Brocot tree reaches. If simpler rationals are too near to a root to be decided, it is the simplest one
      outside the isolating intervals.
    """

    analysis: Analysis | None
    witness: Fraction | None = None
    regions: tuple[ExactStretch, ...] = ()
    chart: SignChart | None = None


def decide_nonnegative(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> SignDecision:
    """Decide whether `f` >= 0 at all eps of `interval`; the result has a proof.

    Raises LimitReached if `limits` do not suffice.
    """
    budget = DecisionBudget(limits or Limits())
    if f.is_zero():
        return SignDecision(None)
    form = normal_form(f, budget)
    if interval.is_point:
        fails = sign_of_form(form, interval.lower, budget) < 0
        return SignDecision(None, interval.lower, (cuts(interval),)) if fails else SignDecision(None)
    analysis = analyze(form, interval, budget, skip_even=True)
    if analysis.first_sign > 0 and not any(root.multiplicity % 2 for root in analysis.roots()):
        return SignDecision(analysis)
    if not all(analysis.signs):
        analysis = analyze(form, interval, budget, skip_even=False)
    chart = chart_of(analysis, budget)
    bounds = [None, *chart.roots, None]
    witnesses = [
        simplest_in_gap(
            interval,
            bounds[gap],
            bounds[gap + 1],
            lambda eps, spent: sign_of_form(form, eps, spent) < 0,
            budget,
        )
        for gap, sign in enumerate(chart.signs)
        if sign < 0
    ]
    witness = min(witnesses, key=lambda x: (x.denominator, x.numerator))
    assert witness in interval
    assert sign_of_form(form, witness, budget) < 0
    return SignDecision(analysis, witness, _regions(chart), chart)


def is_nowhere_negative(value: Closed, intervals: Iterable[Interval], limits: Limits | None = None) -> bool:
    """Return True if `value` >= 0 at all eps of all `intervals`, and False if not.

    Raises LimitReached if `limits` do not suffice.
    """
    numerator, _ = fraction_of(value)
    return all(decide_nonnegative(numerator, interval, limits).witness is None for interval in intervals)


def _regions(chart: SignChart) -> tuple[ExactStretch, ...]:
    places = [chart.interval.lower, *chart.roots, chart.interval.upper]
    last = len(chart.roots)
    return tuple(
        (
            EpsCut(places[gap], after=bool(gap) or chart.lower_sign != -1),
            EpsCut(places[gap + 1], after=gap == last and chart.upper_sign == -1),
        )
        for gap, sign in enumerate(chart.signs)
        if sign < 0
    )
