"""The privacy loss log(p/p') of an output at a pair, and the largest one at an eps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.decimals import exact_text
from dipc.algebra.limits import Limits
from dipc.algebra.logarithm import log_enclosure
from dipc.algebra.quotient import Closed, fraction_of
from dipc.privacy.laws import LawTable
from dipc.privacy.outcome import SCHEMA, Texts
from dipc.privacy.pairs import Pairs
from dipc.privacy.pure import couples
from dipc.sign import sign_at
from dipc.sign.optimum import Ratio
from dipc.sign.positive import over_positive

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
