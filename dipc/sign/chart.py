"""The sign chart of an exponential polynomial on an interval: all roots, and the sign on every gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.factor import Factor, is_surely_square_free, rational_root, split_content, square_free_parts
from dipc.sign.factor_sign import FactorSign, factor_sign
from dipc.sign.interval import Interval
from dipc.sign.normal_form import NormalForm, normal_form
from dipc.sign.point import sign_at_point
from dipc.sign.polynomial import Layout, Polynomial
from dipc.sign.root import Root, separated


@dataclass(frozen=True, slots=True)
class SignChart:
    """The signs of f on `interval`.

    `roots`: all roots strictly inside, increasing, with isolating intervals that have at most end points in common.
    `signs`: the sign on each gap between them, one more than there are roots (none if the interval is a point).
    `lower_sign`, `upper_sign`: the signs at the ends that belong to the interval, else None. If f is 0 on the whole
    interval there are no roots and all signs are 0.
    """

    interval: Interval
    roots: tuple[Root, ...]
    signs: tuple[int, ...]
    lower_sign: int | None
    upper_sign: int | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """f in normal form, F = sign · Π factors^multiplicity, and the sign of each factor on the interval of t.

    A factor with even multiplicity is None in `signs` where its sign was not asked for.
    """

    form: NormalForm
    interval: Interval
    sign: int
    factors: tuple[Factor, ...]
    signs: tuple[FactorSign | None, ...]

    @property
    def left(self) -> int:
        """The sign of f right after the lower end."""
        result = self.sign
        for found in self.signs:
            if found is not None and found.multiplicity % 2:
                result *= found.left
        return result

    def roots(self) -> list[Root]:
        """The roots strictly inside the interval of the factors looked at, as eps, in no order."""
        result: list[Root] = []
        scale = self.form.scale
        interval = self.interval.scaled(scale)
        for found in self.signs:
            if found is None:
                continue
            root = found.rational_root
            if root is not None:
                if interval.lower < root and (interval.upper is None or root < interval.upper):
                    result.append(Root(root / scale, root / scale, found.multiplicity, found.polynomial, scale))
                continue
            result.extend(
                Root(c.lower / scale, c.upper / scale, found.multiplicity, found.polynomial, scale)
                for c in found.crossings
            )
        return result

    def vanishes_at(self, eps: Fraction) -> bool:
        """Whether f is 0 at this rational."""
        return any(rational_root(factor.polynomial) == eps * self.form.scale for factor in self.factors)


def sign_at(f: ExpPoly, eps: Fraction, limits: Limits | None = None) -> int:
    """The sign of f at a rational eps > 0: -1, 0 or 1, and 0 only where f(eps) = 0 exactly."""
    if eps <= 0:
        raise ValueError("eps must be positive")
    if f.is_zero():
        return 0
    budget = Budget(limits or Limits())
    return sign_of_form(normal_form(f, budget), eps, budget)


def sign_of_form(form: NormalForm, eps: Fraction, budget: Budget) -> int:
    """The same for a normal form."""
    return sign_at_point(Layout(form.polynomial), eps * form.scale, budget)


def sign_chart(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> SignChart:
    """The sign chart of f on the interval. Raises LimitReached."""
    budget = Budget(limits or Limits())
    if f.is_zero():
        return _constant_chart(interval, 0)
    form = normal_form(f, budget)
    if interval.is_point:
        return _constant_chart(interval, sign_of_form(form, interval.lower, budget))
    return chart_of(analyze(form, interval, budget, skip_even=False), budget)


def isolate_roots(f: ExpPoly, interval: Interval, limits: Limits | None = None) -> tuple[Root, ...]:
    """All roots of f in the interval, closed ends included, increasing, in isolating intervals with rational ends.

    f must not be zero.
    """
    if f.is_zero():
        raise ValueError("every point is a root of the zero function")
    budget = Budget(limits or Limits())
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


def chart_of(analysis: Analysis, budget: Budget) -> SignChart:
    """The chart of a complete analysis."""
    assert all(found is not None for found in analysis.signs)
    interval = analysis.interval
    roots = separated(analysis.roots(), budget)
    signs = [analysis.left]
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
    """A polynomial taken as square-free may not be."""


def analyze(form: NormalForm, interval: Interval, budget: Budget, *, skip_even: bool) -> Analysis:
    """Factor F as far as it is needed and find the sign of every factor on the interval, which must not be a point.

    F is taken as it is, but for factors in t alone; only when a multiple root is suspected is it tested for being
    square-free and split. With `skip_even` the factors of even multiplicity, which change no sign, are left alone.
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
            found = look(primitive, lambda: _suspect(primitive.polynomial, budget))
        except _MaybeMultipleError:
            unit, parts = square_free_parts(primitive.polynomial, budget)
            sign *= unit
            factors += parts
            signs += [look(part, _nothing) for part in parts]
        else:
            factors.append(primitive)
            signs.append(found)
    return Analysis(form, interval, sign, tuple(factors), tuple(signs))


def _nothing() -> None:
    """What is known to be square-free is not suspected."""


def _suspect(polynomial: Polynomial, budget: Budget) -> None:
    # Too high a degree to test: more precision settles it, unless there is a multiple root.
    if polynomial.degree_z <= budget.limits.degree and not is_surely_square_free(polynomial):
        raise _MaybeMultipleError
