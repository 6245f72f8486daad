"""The least K such that a program is K·eps-private: the supremum of loss/eps over pairs and eps.

Limits of log(p/p')/eps next to 0 and towards infinity are rational; where the greatest of them is a bound for all pairs
it is the constant. Where the supremum is between, it is enclosed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.numbers import round_down
from dipc.algebra.quotient import Closed, fraction_of
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.questions.privacy.bounds import Candidate
from dipc.questions.privacy.claim import power
from dipc.questions.privacy.loss import at_most, loss_enclosure
from dipc.questions.privacy.outcome import SCHEMA, Numbers
from dipc.sign.interval import Interval
from dipc.sign.optimum import Infinite, leading_at_infinity, limit_at_zero

#: Where the supremum is neither next to 0 nor towards infinity, it is enclosed to this width.
WIDTH = Fraction(1, 64)

#: No constant beyond this is looked for.
_MOST = 1024

#: Digits of a lower bound at one eps, and where it is looked at.
_DIGITS = 12
_SAMPLES = tuple(map(Fraction, ("1/100", "1/10", "1", "2", "5", "10", "30")))


@dataclass(frozen=True, slots=True)
class Constant:
    """Every K >= `proved` is a constant (None: none is known to be), no K < `refuted_below` is (None: none at all is):
    at the pair and output given there is a counterexample. They are equal where the constant is known exactly.
    `numbers` are the values of a constant of the program that it is about."""

    program: str
    adjacency: str
    about: str
    pairs: int | None
    eps: str
    proved: Fraction | None
    refuted_below: Fraction | None
    at: Candidate | None
    reason: str | None = None
    numbers: Numbers | None = None

    @property
    def exact(self) -> bool:
        """Whether both ends are the same."""
        return self.proved == self.refuted_below

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object."""
        found: dict[str, Any] = {
            "proved": "inf" if self.proved is None else str(self.proved),
            "refuted_below": "inf" if self.refuted_below is None else str(self.refuted_below),
            "input": None if self.at is None else dict(self.at.input),
            "adjacent": None if self.at is None else dict(self.at.adjacent),
            "output": None if self.at is None else dict(self.at.output),
            "exact": self.exact,
        }
        if self.at is not None and self.at.balls:
            found["balls"] = {name: list(map(str, ends)) for name, ends in self.at.balls.items()}
        return {
            "schema": SCHEMA,
            "program": self.program,
            "adjacent": self.adjacency,
            "eps": self.eps,
            "pairs": self.pairs,
            "constant": found,
            "reason": self.reason,
            **({} if self.numbers is None else {"for_all": self.numbers.as_json()}),
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@dataclass(frozen=True, slots=True)
class Ends:
    """As in `Constant`: what is proved, what is refuted, and where."""

    proved: Fraction | None
    refuted_below: Fraction | None
    at: Candidate | None


def refuted_ends(candidates: Iterable[Candidate], intervals: Sequence[Interval], limits: Limits) -> Ends:
    """The greatest K of which all smaller ones are refuted by some candidate; nothing is proved."""
    best, at = Fraction(0), None
    for candidate in candidates:
        for value in _below(candidate.first, candidate.second, intervals, limits):
            if value is None:
                return Ends(None, None, candidate)
            if value > best:
                best, at = value, candidate
    return Ends(None, best, at)


def constant_of_candidates(candidates: Sequence[Candidate], intervals: tuple[Interval, ...], engine: Engine) -> Ends:
    """The constant of all the candidates together, which are all there is to look at: enclosed to WIDTH where it is not
    a limit. Raises Undecided where that is not found."""
    limits = engine.limits
    best, at = Fraction(0), None
    for candidate in candidates:
        for value in _limits(candidate.first, candidate.second, intervals, limits):
            if value is None:
                return Ends(None, None, candidate)
            if value > best:
                best, at = value, candidate
    failing = _failing(candidates, best, intervals, engine)
    if not failing:
        return Ends(best, best, at)
    # From here on only what fails at the limits matters: the others hold at every greater constant.
    low, high = best, max(best, WIDTH) * 2
    while still := _failing(failing, high, intervals, engine):
        failing, low, high = still, high, high * 2
        if high > _MOST:
            return Ends(None, low, failing[0])
    witness = failing[0]
    while high - low > WIDTH:
        middle = (low + high) / 2
        middle = Fraction(round(middle / WIDTH)) * WIDTH if high - low > 2 * WIDTH else middle
        still = _failing(failing, middle, intervals, engine)
        if still:
            failing, low, witness = still, middle, still[0]
        else:
            high = middle
    closer = refuted_ends(failing, intervals, limits)
    if closer.refuted_below is None or closer.refuted_below > low:
        return Ends(high, closer.refuted_below, closer.at)
    return Ends(high, low, witness)


def _failing(
    candidates: Sequence[Candidate], factor: Fraction, intervals: tuple[Interval, ...], engine: Engine
) -> list[Candidate]:
    """Those that refute factor·eps-privacy. Raises Undecided."""
    found = []
    for candidate in candidates:
        decision = engine.decide(at_most(candidate.first, candidate.second * power(factor), intervals))
        if decision.verdict is Verdict.UNDECIDED:
            raise Undecided(decision.reason or "")
        if decision.verdict is Verdict.INACCURATE:
            found.append(candidate)
    return found


def _below(first: Closed, second: Closed, intervals: Sequence[Interval], limits: Limits) -> Iterator[Fraction | None]:
    """Numbers that the supremum of log(first/second)/eps is not less than; None is infinity."""
    yield from _limits(first, second, intervals, limits)
    for interval in intervals:
        ends = [end for end in (interval.lower, interval.upper) if end is not None and end in interval]
        for eps in {*ends, interval.inner_point, *[sample for sample in _SAMPLES if sample in interval]}:
            if fraction_of(first)[0].value_is_zero(eps):
                continue
            if fraction_of(second)[0].value_is_zero(eps):
                yield None
                continue
            low = loss_enclosure(first, second, eps, _DIGITS)[0] / eps
            if low > 0:
                yield round_down(low, _DIGITS)


def _limits(first: Closed, second: Closed, intervals: Sequence[Interval], limits: Limits) -> Iterator[Fraction | None]:
    """The limits of log(first/second)/eps next to 0 and towards infinity, where the intervals reach so far; of these
    the positive ones, None for infinity. `first` is not zero."""
    if fraction_of(second)[0].is_zero():
        yield None
        return
    if any(interval.upper is None for interval in intervals):
        growth = _exponent(first) - _exponent(second)
        if growth > 0:
            yield growth
    if any(not interval.lower for interval in intervals):
        (above, below), (over, under) = fraction_of(first), fraction_of(second)
        ratio = limit_at_zero(above * under, below * over, limits)
        if isinstance(ratio, Infinite) or ratio > 1:
            yield None
        elif ratio == 1:
            # log(1 + x) is x to first order.
            slope = limit_at_zero(above * under - below * over, below * over * ExpPoly.term(1, 1), limits)
            assert isinstance(slope, Fraction), "both sides have the same value at 0"
            if slope > 0:
                yield slope


def _exponent(value: Closed) -> Fraction:
    """The q with value = c·eps^k·e^(q·eps)·(1 + o(1)) for eps -> infinity."""
    numerator, denominator = fraction_of(value)
    return leading_at_infinity(numerator)[0][0] - leading_at_infinity(denominator)[0][0]
