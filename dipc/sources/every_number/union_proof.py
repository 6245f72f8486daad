"""That a union bound stays below beta for every number of queries, as finitely many inequalities in t.

Let beta(m) = Σ b_j·(m - start)^j, and let the error have at most the probability f + (m - once)·r. Then beta(m) is at
least that for every m >= start if b_0 >= f + (start - once)·r, b_1 >= r, and b_j >= 0 for the others: *coefficient by
coefficient*. Where this fails for small t only, up to some t0, it is enough that beta(start) >= 1 there and that beta
does not decrease with m: a probability is at most 1. A later start makes beta(start) larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Quotient
from dipc.measure.measure import Measurer
from dipc.obligations.decide import Decider
from dipc.obligations.verdict import Verdict
from dipc.sign import Interval, SignLimits
from dipc.sources.every_number.uniform import NotUniform
from dipc.sources.every_number.union import Sum

#: How much later than where the union bound begins to hold a proof may start: numbers before are decided exactly.
LATER = 10

#: Beta by powers of m - start, for a start.
Coefficients = Callable[[int], dict[int, ExpPoly]]

_ZERO = ExpPoly.zero()


@dataclass(frozen=True, slots=True)
class Proof:
    """The claim holds for every number of queries from `start` on; where `trivial` is not None, because beta is at
    least 1 for t up to there, and by the union bound beyond."""

    start: int
    trivial: Fraction | None


@dataclass(slots=True)
class UnionProof:
    """Proves the sums of one program to be at most beta, on `intervals` of t."""

    sums: frozenset[Sum]
    beta: Coefficients
    intervals: tuple[Interval, ...]
    limits: SignLimits
    measurer: Measurer
    obligations: int = 0

    def prove(self, start: int) -> Proof | None:
        """A proof that begins at `start` or a little later, None where none was found. Raises Undecided."""
        worst = self._failing(start, self.intervals)
        if worst is None:
            return Proof(start, None)
        if worst == 0 or self.intervals != (Interval.positive(),):
            return None
        # A little beyond, so that the numbers stay short.
        trivial = Fraction(ceil(worst * 16), 16)
        near = (Interval(Fraction(0), trivial, False, True),)
        beyond = (Interval.closed(trivial, None),)
        for later in range(start, start + LATER + 1):
            if self._above_one(later, near) and self._failing(later, beyond) is None:
                return Proof(later, trivial)
        return None

    def _failing(self, start: int, intervals: tuple[Interval, ...]) -> Fraction | None:
        """None where the inequalities hold, else a number above which they do; 0 where none is known."""
        coefficients = self.beta(start)
        decider = Decider(intervals, self.limits)
        worst: Fraction | None = None
        for found in self.sums:
            assert found.once <= start, "a path takes no more iterations than there are"
            fixed = _total(term.probability(self.measurer) for term in found.fixed)
            repeated = _total(term.probability(self.measurer) for term in found.repeated)
            needed = {0: fixed + (start - found.once) * repeated, 1: repeated}
            for power in sorted(coefficients.keys() | needed.keys()):
                # b >= needed is Pr >= 1 - b for Pr = 1 - needed.
                value = ClosedForm(1 - needed.get(power, _ZERO))
                settled = decider.settle(value, ClosedForm(coefficients.get(power, _ZERO)))
                self.obligations = max(self.obligations, decider.obligations)
                if settled.verdict is Verdict.ACCURATE:
                    continue
                ends = [interval.end.high for interval in settled.failing]
                if not ends or None in ends:
                    return Fraction(0)
                worst = max([worst or Fraction(0), *(end for end in ends if end is not None)])
        return worst

    def _above_one(self, start: int, near: tuple[Interval, ...]) -> bool:
        """Whether beta is at least 1 for `start`, and not less for any greater number, on these intervals."""
        decider = Decider(near, self.limits)
        coefficients = self.beta(start)
        shares = [decider.settle(ClosedForm(_ZERO), ClosedForm(coefficients.get(0, _ZERO)))]
        one = ClosedForm(ExpPoly.one())
        shares += [decider.settle(one, ClosedForm(value)) for power, value in coefficients.items() if power]
        return all(share.verdict is Verdict.ACCURATE for share in shares)


def _total(values: Iterable[ExpPoly | Quotient]) -> ExpPoly:
    result = ExpPoly.zero()
    for value in values:
        if isinstance(value, Quotient):
            raise NotUniform("a term is no exponential polynomial")
        result = result + value
    return result
