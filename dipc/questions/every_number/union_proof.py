"""That a union bound stays below beta for every number of queries, as finitely many inequalities in one variable.

Let beta(m) = Σ b_j·(m - start)^j, and let the error have at most the probability f + (m - once)·r. Then beta(m) is at
least that for every m >= start if b_0 >= f + (start - once)·r, b_1 >= r, and b_j >= 0 for the others: *coefficient by
coefficient*. Where this fails for small t only, up to some t0, it is enough that beta(start) >= 1 there and that beta
does not decrease with m: a probability is at most 1. A later start makes beta(start) larger.

**Rates that depend on m.** For one number the terms of a union bound have the rates in the place of their marks. In a
unit e in which no rate falls as the number grows, those for the first number bound the error for all of them:

**Lemma.** Let N be a sum of independent noises, each symmetric, unimodal and only scaled by its rate, as Laplace noise
is, and s >= 0. Pr[N + s < 0] does not grow where a rate grows. For a sum of the others, Y, with the symmetric and
unimodal density f (Wintner), and a noise of scale x·Z, Z symmetric,
Pr[Y + x·Z + s < 0] = ∫_{z > 0} (F(-s - x·z) + F(-s + x·z))·dPr[Z], and its derivative by x is an integral of
z·(f(-s + x·z) - f(-s - x·z)) >= 0, as |s - x·z| <= |s + x·z|. An event of two such sides, |N + a| <= b with slacks that
are not negative, goes wrong on one side or on the other. Of noise on one side only, -E, a greater rate is less noise as
well; +E would be more help the smaller its rate, and has to have the same rate for every number.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from dipc.algebra.exppoly import ExpPoly
from dipc.decide.obligation import Bound, Decision, Obligation, Share, Verdict
from dipc.questions.every_number.agreement import Term
from dipc.questions.every_number.in_number import ONE, Ratio, sign_from
from dipc.questions.every_number.normal_form import Rates, rate_of_mark
from dipc.questions.every_number.union_bound import Sum
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm

#: How much later than where the union bound begins to hold a proof may start: numbers before are decided exactly.
LATER = 10

#: Beta by powers of m - start, for a start.
Coefficients = Callable[[int], dict[int, ExpPoly]]

_ZERO = ExpPoly.zero()
_NOTHING = Bound(())
_CERTAIN = Bound((), Fraction(1))


@dataclass(frozen=True, slots=True)
class Unit:
    """eps = `scale`(m)·e: what sums of terms with marks for rates come to in the unit e, for all numbers from some one
    on. Without `rates` the terms have their own, the same for every number. With `lesser`, beta is bounded from below:
    summands in another unit are left out."""

    scale: Ratio
    rates: Rates | None = None
    lesser: bool = False

    @property
    def is_eps(self) -> bool:
        """Whether e is eps itself, no rate depends on the number, and beta is as it was claimed."""
        return self.rates is None and self.scale == ONE and not self.lesser

    @property
    def is_other(self) -> bool:
        """Whether beta is looked at in another unit than eps, or not as a whole."""
        return self.lesser or self.scale != ONE

    def holds_from(self, sums: Iterable[Sum], start: int) -> bool:
        """Whether it is known that the rates for `start` bound the error for every greater number."""
        if self.is_eps:
            return True
        known = () if self.rates is None else self.rates.of_marks
        divisors = () if self.rates is None else self.rates.divisors
        if not all(ratio.is_positive_from(start) for ratio in (self.scale, *known)):
            return False
        if not all(sign_from(part, start) for ratio in divisors for part in (ratio.numerator, ratio.denominator)):
            return False
        return all(self._holds(term, start) for total in sums for term in total.terms)

    def refusal(self, sums: Iterable[Sum], start: int, parameter: str) -> str:
        """What grows, or falls, faster than what, where the rates for `start` are not known to bound the error for
        greater numbers: exponents of beta are as 1/scale."""
        used = {noise.rate for total in sums for term in total.terms for noise in term.event.noises}
        falling = [
            own for mark in sorted(used) if not ((own := self._own_rate(mark)) * self.scale).never_falls_from(start)
        ]
        if not falling:
            return f"one-sided noise has another share of the error for each `{parameter}`"
        rate, beta = falling[0], self.scale.inverse()
        text = f"the rate {rate.text(parameter)} of a noise"
        if beta.constant_value() is not None:
            return f"as `{parameter}` grows {text} falls, and the exponents of beta do not"
        if rate.constant_value() is not None:
            return f"as `{parameter}` grows the exponents of beta grow, and {text} does not"
        if beta.never_falls_from(start):
            return f"as `{parameter}` grows the exponents of beta grow faster than {text}"
        return f"as `{parameter}` grows {text} falls faster than the exponents of beta"

    def _holds(self, term: Term, start: int) -> bool:
        noises, sides = term.event.noises, term.event.constraints
        all_symmetric = all(n.law.symmetric and n.law.unimodal and n.law.scales for n in noises)
        for place, noise in enumerate(noises):
            rate = self._rate(noise.rate)
            less = all_symmetric or (
                noise.law.least is not None
                and noise.law.least >= 0
                and noise.law.scales
                and len(sides) == 1
                and all(c < 0 for other, c in sides[0].coefficients if other == place)
            )
            if rate.constant_value() is None and not (less and rate.never_falls_from(start)):
                return False
        return True

    def at(self, total: Sum, start: int) -> Sum:
        """The sum with the rates for `start`, as multiples of e."""
        if self.is_eps:
            return total
        return replace(total, fixed=self._terms(total.fixed, start), repeated=self._terms(total.repeated, start))

    def _terms(self, terms: Iterable[Term], start: int) -> tuple[Term, ...]:
        return tuple([self._term(term, start) for term in terms])

    def _term(self, term: Term, start: int) -> Term:
        noises = tuple([replace(noise, rate=self._rate(noise.rate).at(start)) for noise in term.event.noises])
        return replace(term, event=replace(term.event, noises=noises))

    def _rate(self, rate: Fraction) -> Ratio:
        return self._own_rate(rate) * self.scale

    def _own_rate(self, rate: Fraction) -> Ratio:
        return rate_of_mark(self.rates, rate)

    def intervals(self, of_eps: tuple[Interval, ...], start: int) -> tuple[Interval, ...]:
        """Values of e, among them all those for eps in these intervals and numbers from `start` on."""
        if self.scale == ONE:
            return of_eps
        last = of_eps[-1].upper
        if last is None or not self.scale.never_falls_from(start):
            return (Interval.positive(),)
        return (Interval(Fraction(0), last / self.scale.at(start), False, of_eps[-1].upper_closed),)


#: The unit eps, for rates that are the same for every number.
EPS = Unit(ONE)


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
