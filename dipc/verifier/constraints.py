"""What is known of the noises in a state: half-spaces Σ a_i·N_i + c >= 0 over centered independent noises.

A half-space is written with coprime integers a_i, so that two with the same a_i differ by the constant only, of which
the smaller says more; over integers the constant is rounded down. Events of probability 0 do not matter: over
continuous noises f >= 0 and f <= 0 exclude each other.

Differences and bounds are also kept as the edges of a graph, whose shortest paths say what they imply together. What
more general half-spaces imply is only seen where one is weaker than another, which loses nothing but time: a state that
is not recognized as impossible has an event of probability 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm

from dipc.verifier.budget import Budget

#: Σ a·N over pairs (noise, a), sorted, with coprime integers a.
Form = tuple[tuple[int, int], ...]

#: A number; integers stay plain, which is faster.
Number = Fraction | int

#: The place of 0 in the graph of differences.
_ORIGIN = -1


@dataclass(frozen=True, slots=True)
class NoiseHalfspace:
    """Σ form + constant >= 0; `whole` where the noises are integers."""

    form: Form
    constant: Number
    whole: bool

    @staticmethod
    def of(terms: Mapping[int, Fraction], constant: Fraction, whole: bool) -> NoiseHalfspace:
        """Σ terms + constant >= 0, for terms that are not all 0."""
        unit = lcm(*(c.denominator for c in terms.values()))
        common = gcd(*(c.numerator * (unit // c.denominator) for c in terms.values()))
        scale = Fraction(unit, common)
        form = tuple(sorted((i, int(c * scale)) for i, c in terms.items() if c))
        return NoiseHalfspace(form, _number(floor(constant * scale) if whole else constant * scale), whole)

    def opposite(self) -> NoiseHalfspace:
        """What holds where this does not, but for an event of probability 0."""
        constant = -self.constant - 1 if self.whole else -self.constant
        return NoiseHalfspace(_negated(self.form), constant, self.whole)

    def edge(self) -> tuple[int, int] | None:
        """(i, j) where it says N_j <= N_i + constant, for a difference or a bound."""
        match self.form:
            case ((i, 1),):
                return i, _ORIGIN
            case ((i, -1),):
                return _ORIGIN, i
            case ((i, 1), (j, -1)):
                return i, j
            case ((i, -1), (j, 1)):
                return j, i
            case _:
                return None


def _negated(form: Form) -> Form:
    return tuple((i, -a) for i, a in form)


def _number(value: Number) -> Number:
    return value.numerator if value.denominator == 1 else value


class Constraints:
    """A conjunction of half-spaces, which is not changed once it is made. `positive` are noises that are never
    negative."""

    __slots__ = ("_distances", "_edges", "_hash", "_positive", "rows")

    def __init__(self, rows: Mapping[Form, NoiseHalfspace], positive: frozenset[int] = frozenset()) -> None:
        self.rows = rows
        self._positive = positive
        self._hash: int | None = None
        self._edges: dict[int, list[tuple[int, Number]]] | None = None
        self._distances: dict[int, dict[int, Number]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraints) and self.rows == other.rows

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset((form, row.constant) for form, row in self.rows.items()))
        return self._hash

    def _graph(self) -> dict[int, list[tuple[int, Number]]]:
        if self._edges is None:
            edges: dict[int, list[tuple[int, Number]]] = {}
            for row in self.rows.values():
                edge = row.edge()
                if edge is not None:
                    edges.setdefault(edge[0], []).append((edge[1], row.constant))
            for i in self._positive:
                edges.setdefault(i, []).append((_ORIGIN, 0))
            self._edges = edges
        return self._edges

    def _from(self, start: int, budget: Budget) -> dict[int, Number]:
        """By place: the least upper bound of its difference to `start` that the differences imply."""
        known = self._distances.get(start)
        if known is None:
            edges = self._graph()
            known = {start: 0}
            waiting = [start]
            steps = 0
            for here in waiting:
                base = known[here]
                for there, width in edges.get(here, ()):
                    steps += 1
                    total = base + width
                    if there not in known or total < known[there]:
                        known[there] = total
                        waiting.append(there)
            budget.spend(1 + steps, "execution")
            self._distances[start] = known
        return known

    def implies(self, row: NoiseHalfspace, budget: Budget) -> bool:
        """True only if these constraints imply it."""
        same = self.rows.get(row.form)
        if same is not None and same.constant <= row.constant:
            return True
        edge = row.edge()
        if edge is None:
            return False
        found = self._from(edge[0], budget).get(edge[1])
        return found is not None and found <= row.constant

    def excludes(self, row: NoiseHalfspace, budget: Budget) -> bool:
        """True only if it holds with probability 0 where these constraints hold."""
        return self.implies(row.opposite(), budget)

    def __and__(self, row: NoiseHalfspace) -> Constraints:
        """With one more, which they neither imply nor exclude."""
        known = self.rows.get(row.form)
        if known is not None and known.constant <= row.constant:
            return self
        return Constraints({**self.rows, row.form: row}, self._positive)

    def with_positive(self, noise: int) -> Constraints:
        """With a noise that is never negative."""
        if noise in self._positive:
            return self
        return Constraints(self.rows, self._positive | {noise})

    def contradicts(self, other: Constraints, budget: Budget) -> bool:
        """True only if both hold together with probability 0."""
        for mine, theirs in ((self, other), (other, self)):
            for row in theirs.rows.values():
                if mine.excludes(row, budget):
                    return True
        both = self
        for row in other.rows.values():
            if both.implies(row, budget):
                continue
            if both.excludes(row, budget):
                return True
            both = both & row
        return False

    def reduced(self, budget: Budget) -> Constraints:
        """Without those that the others imply."""
        rows = dict(self.rows)
        for form, row in self.rows.items():
            rest = Constraints({other: rows[other] for other in rows if other != form}, self._positive)
            if rest.implies(row, budget):
                del rows[form]
        return Constraints(rows, self._positive)


def united(members: Iterable[Constraints], budget: Budget) -> Constraints | None:
    """The strongest conjunction of their own half-spaces that all of them imply; None where there is none."""
    members = list(members)
    first = members[0]
    rows: dict[Form, NoiseHalfspace] = {}
    for member in members:
        for form, row in member.rows.items():
            known = rows.get(form)
            if known is not None and known.constant <= row.constant:
                continue
            budget.spend(2, "execution")
            if first.implies(row, budget) and all(other.implies(row, budget) for other in members):
                rows[form] = row
    positive = frozenset[int]().union(*(member._positive for member in members))  # noqa: SLF001 - of its own kind
    return Constraints(rows, positive).reduced(budget)
