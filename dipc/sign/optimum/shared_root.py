"""Whether two functions vanish at the same place, decided exactly.

For x > 0 the numbers x and e^{x/n} are not both algebraic (Lindemann). So two exponential polynomials without a common
divisor in the ring have no common root x > 0: there both their resultants would vanish.
"""

from __future__ import annotations

from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.root import Root, refine_within

#: Two roots whose intervals still overlap when they are narrower than this part of their size may be equal.
_SUSPICIOUS = Fraction(1, 1 << 64)


def root_function(root: Root) -> ExpPoly:
    """The factor of which `root` is a root, as a function of eps."""
    scale = root.scale
    return ExpPoly.from_terms((k, -j * scale, c * scale**k) for j, k, c in root.polynomial.terms)


def vanishes_at(f: ExpPoly, at: Fraction | Root, limits: Limits | None = None) -> bool:
    """Whether f is 0 at this rational eps > 0 or at this root. Exact; raises LimitReached."""
    if f.is_zero():
        return True
    if isinstance(at, Fraction):
        return f.value_is_zero(at)
    if at.is_exact:
        return f.value_is_zero(at.lower)
    # A common divisor vanishes at no other point of the interval, because the root's factor does not.
    divisor = f.common_divisor(root_function(at))
    return not divisor.is_unit() and bool(isolate_roots(divisor, Interval.open(at.lower, at.upper), limits))


def order(first: Root, second: Root, budget: Budget) -> int:
    """-1, 0 or 1 as the first root is less than, equal to, or greater than the second. Exact; raises LimitReached."""
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
