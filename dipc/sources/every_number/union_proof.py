"""That a union bound stays below beta for every number of queries, as finitely many inequalities in one variable.

Let beta(m) = Σ b_j·(m - start)^j, and let the error have at most the probability f + (m - once)·r. Then beta(m) is at
least that for every m >= start if b_0 >= f + (start - once)·r, b_1 >= r, and b_j >= 0 for the others: *coefficient by
coefficient*. Where this fails for small t only, up to some t0, it is enough that beta(start) >= 1 there and that beta
does not decrease with m: a probability is at most 1. A later start makes beta(start) larger.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dipc.algebra.exppoly import ExpPoly
from dipc.obligations.decision import Decision
from dipc.obligations.obligation import Bound, Obligation, Share
from dipc.obligations.verdict import Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.sources.every_number.rates import EPS, Unit
from dipc.sources.every_number.union import Sum

#: How much later than where the union bound begins to hold a proof may start: numbers before are decided exactly.
LATER = 10

#: Beta by powers of m - start, for a start.
Coefficients = Callable[[int], dict[int, ExpPoly]]

_ZERO = ExpPoly.zero()
_NOTHING = Bound(())
_CERTAIN = Bound((), Fraction(1))


@dataclass(frozen=True, slots=True)
class CoefficientInequality:
    """The inequality of two polynomials in m - `start` at one `power`: beta's coefficient is at least that of the
    probability that a term of `total` goes wrong. If all of them hold, so does the claim for every m >= start."""

    start: int
    total: Sum
    power: int

    @property
    def exact(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Proof:
    """The claim holds for every number of queries from `start` on; where `trivial` is not None, because beta is at
    least 1 for t up to there, and by the union bound beyond."""

    start: int
    trivial: Fraction | None


@dataclass(frozen=True, slots=True)
class UnionEvidence:
    """The inequalities that a proof consists of, and for t up to `trivial` that beta is above one. Where not
    `in_eps`, they are about another multiple of eps for each number, or bound rates that depend on it."""

    trivial: Fraction | None
    inequalities: tuple[tuple[Obligation, CoefficientInequality], ...]
    above_one: tuple[Obligation, ...]
    in_eps: bool = True


@dataclass(frozen=True, slots=True)
class UnionProof:
    """Proves the sums of one program to be at most beta, on `intervals` of the variable, both in the `unit`: its rates
    for a start bound the error for every greater number."""

    sums: tuple[Sum, ...]
    beta: Coefficients
    intervals: tuple[Interval, ...]
    unit: Unit = EPS

    def __post_init__(self) -> None:
        if not self.sums:
            raise ValueError("a union bound is about some runs: of none of them it would prove anything")

    def inequalities(
        self, start: int, intervals: tuple[Interval, ...] | None = None
    ) -> Iterator[tuple[Obligation, CoefficientInequality]]:
        """Those for every m >= start: b >= needed is an obligation for 1 - needed. Raises NotUniform."""
        coefficients = self.beta(start)
        for total in dict.fromkeys(self.unit.at(total, start) for total in self.sums):
            for power in range(max(1, *coefficients) + 1 if coefficients else 2):
                beta = PiecewiseForm(coefficients.get(power, _ZERO))
                obligation = Obligation(_needed(total, power, start), beta, intervals or self.intervals)
                yield obligation, CoefficientInequality(start, total, power)

    def prove(self, start: int) -> Generator[Obligation, Decision, Proof | None]:
        """A proof that begins at `start` or a little later, None where none was found. Raises NotUniform."""
        worst = yield from self._failing(start, self.intervals)
        if worst is None:
            return Proof(start, None)
        if worst == 0 or self.intervals != (Interval.positive(),):
            return None
        # A little beyond, so that the numbers stay short.
        trivial = Fraction(ceil(worst * 16), 16)
        near, beyond = _split(trivial)
        for later in range(start, start + LATER + 1):
            above_one = yield from self._above_one(later, near)
            if above_one and (yield from self._failing(later, beyond)) is None:
                return Proof(later, trivial)
        return None

    def evidence(self, proof: Proof) -> UnionEvidence:
        """What a proof rests on."""
        if proof.trivial is None:
            return UnionEvidence(None, tuple(self.inequalities(proof.start)), (), self.unit.is_eps)
        near, beyond = _split(proof.trivial)
        inequalities = tuple(self.inequalities(proof.start, beyond))
        above_one = tuple(self.above_one(proof.start, near))
        return UnionEvidence(proof.trivial, inequalities, above_one, self.unit.is_eps)

    def _failing(self, start: int, intervals: tuple[Interval, ...]) -> Generator[Obligation, Decision, Fraction | None]:
        """None where the inequalities hold, else a number above which they do; 0 where none is known."""
        worst: Fraction | None = None
        for obligation, _ in self.inequalities(start, intervals):
            decision = yield obligation
            if decision.verdict is Verdict.ACCURATE:
                continue
            ends = [interval.end.high for interval in decision.failing]
            if not ends or None in ends:
                return Fraction(0)
            worst = max([worst or Fraction(0), *(end for end in ends if end is not None)])
        return worst

    def _above_one(self, start: int, near: tuple[Interval, ...]) -> Generator[Obligation, Decision, bool]:
        """Whether beta is at least 1 for `start`, and not less for any greater number, on these intervals."""
        for obligation in self.above_one(start, near):
            decision = yield obligation
            if decision.verdict is not Verdict.ACCURATE:
                return False
        return True

    def above_one(self, start: int, near: tuple[Interval, ...]) -> Iterator[Obligation]:
        """That beta is at least 1 for `start`, and does not decrease from there on, on these intervals."""
        coefficients = self.beta(start)
        for power in range(max(coefficients, default=0) + 1):
            yield Obligation(_CERTAIN if power else _NOTHING, PiecewiseForm(coefficients.get(power, _ZERO)), near)


def _split(trivial: Fraction) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    """All t up to there, and from there on."""
    return (Interval(Fraction(0), trivial, False, True),), (Interval.closed(trivial, None),)


def _needed(total: Sum, power: int, start: int) -> Bound:
    """1 less the coefficient of (m - start)^power in the probability of the terms; that of one is 1 - Pr[event]."""
    assert total.once <= start, "a path takes no more iterations than there are"
    weighted = {
        0: [*((1, term) for term in total.fixed), *((start - total.once, term) for term in total.repeated)],
        1: [(1, term) for term in total.repeated],
    }.get(power, [])
    used = [(weight, term) for weight, term in weighted if weight]
    shares = [Share(ExpPoly.constant(weight), (term.event,)) for weight, term in used]
    return Bound(tuple(shares), Fraction(1 - sum(weight for weight, _ in used)))
