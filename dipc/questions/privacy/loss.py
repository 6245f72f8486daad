"""The privacy loss log(p/p') of outputs at pairs: the largest at an eps, whether it is at most a budget, divergences.

No set of outputs needs to be looked at: one output attains the greatest ratio. Many pairs and outputs have the same two
functions, which are one obligation. Rényi divergences of integer orders are e^((a-1)·D_a) = Σ p^a / p'^(a-1).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, OutsideFragment
from dipc.algebra.numbers import exact_text, log_enclosure
from dipc.algebra.quotient import Closed, fraction_of, product, total
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Counterexample, Decision, Obligation, Verdict
from dipc.measure.bound import Bound, Share
from dipc.program.program import Progress
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.claim import PrivacyClaim, power
from dipc.questions.privacy.laws import IMPOSSIBLE, LawTable, different_pairs
from dipc.questions.privacy.outcome import SCHEMA, Texts
from dipc.sign.chart import sign_at
from dipc.sign.interval import Interval
from dipc.sign.optimum import Ratio
from dipc.sign.piecewise import PiecewiseForm, over_positive

#: Significant digits of a loss unless others are asked for.
DIGITS = 20


@dataclass(frozen=True, slots=True)
class Loss:
    """The largest log(p/p') at `eps` over `pairs` ordered pairs and all outputs, and where it is: `value` encloses it,
    None is infinity. `text` is the loss as the logarithm of a closed form in eps."""

    program: str
    adjacency: str
    about: str
    pairs: int
    eps: Fraction
    value: tuple[Fraction, Fraction] | None
    input: Texts
    adjacent: Texts
    output: Texts
    text: str

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object."""
        value = ["inf", "inf"] if self.value is None else list(map(exact_text, self.value))
        return {
            "schema": SCHEMA,
            "program": self.program,
            "adjacent": self.adjacency,
            "pairs": self.pairs,
            "eps": str(self.eps),
            "loss": {
                "value": value,
                "input": dict(self.input),
                "adjacent": dict(self.adjacent),
                "output": dict(self.output),
                "text": self.text,
            },
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@dataclass(frozen=True, slots=True)
class LargestLoss:
    """p and p' of the answer at the pair; `value` as that of `Loss`."""

    pair: tuple[int, int]
    answer: int
    first: Closed
    second: Closed
    value: tuple[Fraction, Fraction] | None


def largest_loss(table: LawTable, pairs: Pairs, eps: Fraction, digits: int, limits: Limits) -> LargestLoss:
    """The largest loss at eps, of those that are equal the first. Raises Undecided where a probability is not known."""
    best: LargestLoss | None = None
    for couple in couples(table, pairs):
        first, second = table.closed(couple.first), table.closed(couple.second)
        if _vanishes(first, eps):
            continue
        if _vanishes(second, eps):
            return LargestLoss(couple.pair, couple.answer, first, second, None)
        ratio = _ratio(first, second, eps, digits)
        if best is not None and best.value is not None:
            if ratio[1] < best.value[0]:
                continue
            if ratio[0] <= best.value[1] and _order(first, second, best, eps, limits) <= 0:
                continue
        best = LargestLoss(couple.pair, couple.answer, first, second, ratio)
    if best is None or best.value is None or best.value[1] < 1:
        # No output is more likely at one input than at the other: all laws are the same at this eps.
        i, j = pairs.ordered[0]
        answer = next(at for at, number in enumerate(table.rows[i]) if number)
        same = table.closed(table.rows[i][answer])
        return LargestLoss((i, j), answer, same, same, (Fraction(0), Fraction(0)))
    return LargestLoss(
        best.pair, best.answer, best.first, best.second, loss_enclosure(best.first, best.second, eps, digits)
    )


def loss_text(first: Closed, second: Closed) -> str:
    """`log(exp(eps))`: the loss as the logarithm of a closed form in eps."""
    above, below = fraction_of(first)
    over, under = fraction_of(second)
    quotient = over_positive(above * under, below * over)
    ratio = f"({ClosedForm(first)})/({ClosedForm(second)})" if quotient is None else str(ClosedForm(quotient))
    return f"log({ratio})"


def loss_enclosure(first: Closed, second: Closed, eps: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """log(first/second) at eps, both positive there, to so many digits; exactly where it is a multiple of eps."""
    (above, below), (over, under) = fraction_of(first), fraction_of(second)
    found = Ratio.of(above * under, below * over)
    if found.denominator.is_unit() and found.numerator.is_unit():
        (_, q, c), (_, r, k) = found.numerator.terms()[0], found.denominator.terms()[0]
        if c == k:
            return (q - r) * eps, (q - r) * eps
    return _log(first, second, eps, digits, _ratio(first, second, eps, digits))


def _vanishes(value: Closed, eps: Fraction) -> bool:
    return fraction_of(value)[0].value_is_zero(eps)


def _ratio(first: Closed, second: Closed, eps: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    low, high = first.enclosure(eps, digits + 10)
    under, over = second.enclosure(eps, digits + 10)
    return low / over, high / under


def _order(first: Closed, second: Closed, best: LargestLoss, eps: Fraction, limits: Limits) -> int:
    """The sign of first/second - p/p' at eps, exactly."""
    difference, _ = fraction_of(first * best.second - best.first * second)
    return 0 if difference.is_zero() else sign_at(difference, eps, limits)


def _log(
    first: Closed, second: Closed, eps: Fraction, digits: int, ratio: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    more = digits
    if _vanishes(first - second, eps):
        return Fraction(0), Fraction(0)
    while True:
        low, high = log_enclosure(*ratio, more)
        size = max(abs(low), abs(high))
        if low * high > 0 and (high - low) * 10 ** (digits - 1) <= size:
            return log_enclosure(*ratio, digits)
        more *= 2
        ratio = _ratio(first, second, eps, more)


@dataclass(frozen=True, slots=True)
class Couple:
    """Two different functions (by number) that are the probabilities of an answer at the two inputs of a pair, with the
    first pair and answer of which they are."""

    first: int
    second: int
    pair: tuple[int, int]
    answer: int


@dataclass(frozen=True, slots=True)
class Refuted:
    """A set of answers that is too likely at the first input of a pair; the counterexample's probability is what is
    allowed, and less than the probability, which is required to be at most that."""

    pair: tuple[int, int]
    answers: tuple[int, ...]
    found: Counterexample


@dataclass(frozen=True, slots=True)
class UnprovedLoss:
    """Nothing refutes the claim, but not all of it is proved."""

    reason: str


#: What pairs come to: None where the claim is proved for all of them.
Findings = Refuted | UnprovedLoss | None


def couples(table: LawTable, pairs: Pairs) -> Iterator[Couple]:
    """All that may be worth looking at, in the order of the pairs: a probability of 0, and one that is the same at both
    inputs, is never too much."""
    known: set[tuple[int, int]] = set()
    for i, j in pairs.ordered:
        ours, theirs = table.rows[i], table.rows[j]
        new = set(zip(ours, theirs, strict=True)) - known
        if not new:
            continue
        known |= new
        for answer, (first, second) in enumerate(zip(ours, theirs, strict=True)):
            if (first, second) in new:
                new.discard((first, second))
                if first not in (second, IMPOSSIBLE):
                    yield Couple(first, second, (i, j), answer)


def decide_pure(
    table: LawTable, pairs: Pairs, claim: PrivacyClaim, engine: Engine, progress: Progress | None = None
) -> Findings:
    """Whether the claim, whose delta is 0, holds at all pairs; `progress` is called as they are decided."""
    listed = list(couples(table, pairs))
    decisions = settled((Underway(_settle(table, couple, claim)) for couple in listed), engine)
    reason = None
    for done, (couple, found) in enumerate(zip(listed, decisions, strict=True)):
        if progress is not None:
            progress(done, len(listed))
        match found.verdict:
            case Verdict.INACCURATE:
                assert found.counterexample is not None
                return Refuted(couple.pair, (couple.answer,), found.counterexample)
            case Verdict.UNDECIDED:
                reason = reason or found.reason
            case Verdict.ACCURATE:
                pass
    return None if reason is None else UnprovedLoss(reason)


def at_most(probability: Closed, allowed: Closed, intervals: tuple[Interval, ...]) -> Obligation:
    """That a probability is at most what is allowed, for all eps of the intervals."""
    return Obligation(Bound((Share(allowed, ()),)), PiecewiseForm(1 - probability), intervals)


def _settle(table: LawTable, couple: Couple, claim: PrivacyClaim) -> Generator[Obligation | Bound, Decision, Decision]:
    unknown = [form for form in (table.forms[couple.first], table.forms[couple.second]) if isinstance(form, str)]
    if unknown:
        return Decision.undecided(unknown[0])
    allowed = table.closed(couple.second) * power(claim.budget)
    return (yield at_most(table.closed(couple.first), allowed, claim.intervals))


@dataclass(frozen=True, slots=True)
class Renyi:
    """The largest divergence D_order at `eps` over `pairs` ordered pairs, and where: `value` encloses it, None is
    infinity. `moment` is e^((order-1)·D) of that pair for every eps."""

    program: str
    adjacency: str
    about: str
    pairs: int
    order: int
    eps: Fraction
    value: tuple[Fraction, Fraction] | None
    moment: ClosedForm | None
    input: Texts
    adjacent: Texts

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object."""
        return {
            "schema": SCHEMA,
            "program": self.program,
            "adjacent": self.adjacency,
            "pairs": self.pairs,
            "eps": str(self.eps),
            "renyi": {
                "order": self.order,
                "value": ["inf", "inf"] if self.value is None else list(map(exact_text, self.value)),
                "moment": None if self.moment is None else str(self.moment),
                "input": dict(self.input),
                "adjacent": dict(self.adjacent),
            },
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def moment(table: LawTable, pair: tuple[int, int], order: int) -> Closed | None:
    """Σ p^order / p'^(order-1) at a pair; None is infinity. Raises Undecided where a probability is not known, or is
    not known to be positive for every eps."""
    parts: list[Closed] = []
    for first, second in zip(*(table.rows[at] for at in pair), strict=True):
        if first == IMPOSSIBLE:
            continue
        if second == IMPOSSIBLE:
            return None
        p, q = table.closed(first), table.closed(second)
        above, below = fraction_of(q)
        inverse = over_positive(below, above)
        if inverse is None:
            raise OutsideFragment("a probability may be 0 at some eps")
        parts.append(product([*[p] * order, *[inverse] * (order - 1)]))
    return total(parts)


def largest_divergence(
    table: LawTable, pairs: Pairs, order: int, eps: Fraction, digits: int
) -> tuple[tuple[int, int], Closed | None, tuple[Fraction, Fraction] | None]:
    """The pair with the largest divergence at eps, its moment and the divergence; None is infinity. Of pairs whose
    enclosures overlap the first. Raises Undecided."""
    best: tuple[tuple[int, int], Closed, tuple[Fraction, Fraction]] | None = None
    for pair in different_pairs(table, pairs):
        found = moment(table, pair, order)
        if found is None:
            return pair, None, None
        value = found.enclosure(eps, 2 * digits + 10)
        if best is None or value[0] > best[2][1]:
            best = pair, found, value
    assert best is not None
    # The divergence is never negative.
    below, above = best[2]
    low, high = log_enclosure(max(below, Fraction(1)), max(above, Fraction(1)), digits)
    return best[0], best[1], (low / (order - 1), high / (order - 1))
