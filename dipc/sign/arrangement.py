"""The roots of several functions on one interval together, in order, with a rational sample between any two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.budget import Budget
from dipc.sign.chart import Analysis, analyze, chart_of
from dipc.sign.interval import Interval
from dipc.sign.normal_form import normal_form
from dipc.sign.root import Root, refine_within, separated
from dipc.sign.simplest import simplest_between

#: Common divisors are not looked for once the products of the pairs may have more monomials than this together.


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where on `interval` some functions may change their signs.

    `base`: pairwise coprime functions such that each function given is a product of powers of them and a unit; which
    ones, `divisors` says, function by function. Coprime functions have no root eps > 0 in common.
    `analyses`: the sign analysis of each base function on the interval; None where the interval is a point.
    `roots`: all roots of all of them strictly inside, increasing, their isolating intervals disjoint but for end
    points; `owners` says which base function each is a root of.
    `samples`: a rational in each gap between the roots, where no function given is 0; for a point, the point itself,
    whatever is 0 there. On each gap every function given has one sign, that at the sample.
    """

    interval: Interval
    base: tuple[ExpPoly, ...]
    divisors: tuple[frozenset[int], ...]
    analyses: tuple[Analysis | None, ...]
    roots: tuple[Root, ...]
    owners: tuple[int, ...]
    samples: tuple[Fraction, ...]

    def vanishes(self, function: int, root: int) -> bool:
        """Whether the function given at that position is 0 at the root at that position."""
        return self.owners[root] in self.divisors[function]

    def gap(self, gap: int) -> tuple[Root | None, Root | None]:
        """The roots at the ends of a gap; None for an end of the interval."""
        return (self.roots[gap - 1] if gap else None), (self.roots[gap] if gap < len(self.roots) else None)


def arrange(functions: Sequence[ExpPoly], interval: Interval, limits: Limits | None = None) -> Arrangement:
    """The arrangement of functions none of which is zero. Raises LimitReached."""
    budget = Budget(limits or Limits())
    base, divisors = coprime_base(functions, limits)
    if interval.is_point:
        return Arrangement(interval, base, divisors, (None,) * len(base), (), (), (interval.lower,))
    analyses = tuple(analyze(normal_form(f, budget), interval, budget, skip_even=False) for f in base)
    owner: dict[tuple[object, Fraction], int] = {}
    roots: list[Root] = []
    for at, analysis in enumerate(analyses):
        for root in chart_of(analysis, budget).roots:
            owner[root.polynomial, root.scale] = at
            roots.append(root)
    ordered = tuple(separated(roots, budget))
    samples = tuple(
        _sample(interval, ordered[gap - 1] if gap else None, ordered[gap] if gap < len(ordered) else None, budget)
        for gap in range(len(ordered) + 1)
    )
    owners = tuple(owner[root.polynomial, root.scale] for root in ordered)
    return Arrangement(interval, base, divisors, analyses, ordered, owners, samples)


def coprime_base(
    functions: Sequence[ExpPoly], limits: Limits | None = None
) -> tuple[tuple[ExpPoly, ...], tuple[frozenset[int], ...]]:
    """Pairwise coprime functions, none a unit, of which all those given are products; and which divide each of them.

    None of the functions may be zero; raises LimitReached. By refinement: what two have in common becomes an element
    of its own, until no two have anything in common (Bach, Driscoll and Shallit 1993).
    """
    base: list[tuple[ExpPoly, frozenset[int]]] = []
    waiting = [(f, frozenset((at,))) for at, f in reversed(list(enumerate(functions)))]
    work = 0
    most = (limits or Limits()).monomials
    while waiting:
        value, owners = waiting.pop()
        if value.is_unit():
            continue
        for at, (other, theirs) in enumerate(base):
            if other == value:
                base[at] = (other, theirs | owners)
                break
            work += other.product_box(value)
            if work > most:
                raise LimitReached("monomials", "functions with too many different exponents were to be put in order")
            shared = other.common_divisor(value)
            if not shared.is_unit():
                del base[at]
                waiting += [
                    (other.exact_quotient(shared), theirs),
                    (value.exact_quotient(shared), owners),
                    (shared, theirs | owners),
                ]
                break
        else:
            base.append((value, owners))
    divisors = tuple(
        frozenset(at for at, (_, owners) in enumerate(base) if function in owners) for function in range(len(functions))
    )
    return tuple(value for value, _ in base), divisors


def _sample(interval: Interval, left: Root | None, right: Root | None, budget: Budget) -> Fraction:
    """A simple rational strictly between two neighboring roots, or ends of the interval, outside isolating intervals
    but for their ends."""
    while True:
        # Where intervals of irrational roots touch, no function has a root at the point itself.
        low, low_closed = (left.upper, not left.is_exact) if left else (interval.lower, False)
        high, high_closed = (right.lower, not right.is_exact) if right else (interval.upper, False)
        if high is None or low < high:
            return simplest_between(low, high)
        if low == high and low_closed and high_closed:
            return low
        left = left and refine_within(left, left.width / 4, budget)
        right = right and refine_within(right, right.width / 4, budget)
