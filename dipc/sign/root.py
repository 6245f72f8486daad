"""Roots of F on t > 0: isolated, refined to any width, and sorted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.point import PointValue, point_value
from dipc.sign.polynomial import Layout, Polynomial


@dataclass(frozen=True, slots=True)
class Root:
    """The only root of a factor of f in [lower, upper], as eps; lower == upper means that the root is this rational.

    f has there a root of exactly this multiplicity. The factor is t -> polynomial(t, e^{-t}) at t = scale·eps; it has a
    simple root there, and is not 0 at the ends unless the root is rational.
    """

    lower: Fraction
    upper: Fraction
    multiplicity: int
    polynomial: Polynomial
    scale: Fraction

    @property
    def is_exact(self) -> bool:
        """Whether the root is rational, and `lower` and `upper` are this rational."""
        return self.lower == self.upper

    @property
    def width(self) -> Fraction:
        """upper - lower."""
        return self.upper - self.lower


def refine(root: Root, width: Fraction, limits: Limits | None = None) -> Root:
    """The same root, with upper - lower <= width."""
    return refine_within(root, width, Budget(limits or Limits()))


def refine_within(root: Root, width: Fraction, budget: Budget) -> Root:
    """The same root, with upper - lower <= width, spending from `budget`."""
    if root.width <= width or root.is_exact:
        return root
    layout = Layout(root.polynomial)
    lower, upper = _narrow(layout, root.lower * root.scale, root.upper * root.scale, width * root.scale, budget)
    return replace(root, lower=lower / root.scale, upper=upper / root.scale)


def _narrow(
    layout: Layout, lower: Fraction, upper: Fraction, width: Fraction, budget: Budget
) -> tuple[Fraction, Fraction]:
    """Quadratic interval refinement (Abbott 2014): try the part in which the secant ends of 2^k parts of the interval.

    Where the root is in it, k doubles, else k is halved; each interval kept is one at whose ends the signs differ.
    """
    left, right = point_value(layout, lower, budget), point_value(layout, upper, budget)
    assert left.sign == -right.sign != 0
    k = 2
    while upper - lower > width:
        budget.spend_interval()
        steps = 1 << k
        step = (upper - lower) / steps
        precision = 2 * k + 8
        guess = min(steps - 1, max(1, round(_secant(left, right) * steps)))
        middle = lower + guess * step
        at_middle = point_value(layout, middle, budget, precision)
        if at_middle.sign == left.sign:
            lower, left = middle, at_middle
            next_point, outer = middle + step, right
            if guess + 1 == steps:
                hit = True
            else:
                at_next = point_value(layout, next_point, budget, precision)
                hit = at_next.sign == outer.sign
                if hit:
                    upper, right = next_point, at_next
                else:
                    lower, left = next_point, at_next
        else:
            upper, right = middle, at_middle
            if guess == 1:
                hit = True
            else:
                next_point = middle - step
                at_next = point_value(layout, next_point, budget, precision)
                hit = at_next.sign == left.sign
                if hit:
                    lower, left = next_point, at_next
                else:
                    upper, right = next_point, at_next
        k = 2 * k if hit else max(1, k // 2)
        if upper - lower > width:
            ratio = (upper - lower) / width
            k = min(k, ratio.numerator.bit_length() - ratio.denominator.bit_length() + 2)
    return lower, upper


def _secant(left: PointValue, right: PointValue) -> Fraction:
    """Where between 0 and 1 the secant is 0; only a guess."""
    a, b = abs(left.value) / left.scale, abs(right.value) / right.scale
    return a / (a + b)


def separated(roots: list[Root], budget: Budget) -> list[Root]:
    """The same roots in increasing order, refined until their intervals have at most end points in common.

    The roots must be different numbers.
    """
    roots = sorted(roots, key=_place)
    position = 0
    halvings = 2
    while position + 1 < len(roots):
        first, second = roots[position], roots[position + 1]
        if first.upper <= second.lower:
            position += 1
            halvings = 2
            continue
        budget.check_bits(halvings)
        pair = [refine_within(r, r.width / (1 << halvings), budget) for r in (first, second)]
        # Few steps separate, or give up, roots that lie extremely close to each other.
        halvings *= 2
        roots[position : position + 2] = pair
        roots.sort(key=_place)
        position = max(0, position - 1)
    return roots


def _place(root: Root) -> tuple[Fraction, Fraction]:
    return root.lower, root.upper
