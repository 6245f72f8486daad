"""Rényi divergences of integer orders: e^((a-1)·D_a) = Σ p^a / p'^(a-1) in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import product, total
from dipc.algebra.decimals import exact_text
from dipc.algebra.limits import OutsideFragment
from dipc.algebra.logarithm import log_enclosure
from dipc.algebra.quotient import Closed, fraction_of
from dipc.privacy.approximate import different_pairs
from dipc.privacy.laws import IMPOSSIBLE, LawTable
from dipc.privacy.outcome import SCHEMA, Texts
from dipc.privacy.pairs import Pairs
from dipc.sign.positive import over_positive


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
