"""Ways to an answer where real inputs are left open: what has to hold of centered noises, at slacks that inputs move.

    merged(ways, budget)        the same ways, fewer of them

The probability of a comparison Σ noises + slack >= 0 never decreases when its slack grows, and a way is taken with its
weight times the probability of its parts, which are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Required, Shown, SlackBound, slack_key
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.events import Family
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import Closed, add_closed, equal_closed, times

_ZERO = Fraction(0)

_STEP = "classes"

#: More ways than this are left as they are.
MOST_MERGED = 60

#: Σ coefficient·variable, sorted, none of which is 0.
Terms = tuple[tuple[int, Fraction], ...]

#: The family and the rate of a noise.
Law = tuple[Family, Fraction]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Σ noises + inputs + constant + radius·gamma >= 0; `whole` where it is a comparison of integers."""

    noises: Terms
    inputs: Terms
    constant: Fraction
    radius: int
    whole: bool

    @staticmethod
    def of(
        noises: Mapping[int, Fraction], inputs: Mapping[int, Fraction], constant: Fraction, radius: int, whole: bool
    ) -> Comparison:
        """The same by coefficients that are not 0."""
        return Comparison(tuple(sorted(noises.items())), tuple(sorted(inputs.items())), constant, radius, whole)

    def opposite(self) -> Comparison | None:
        """What holds where this does not, but for an event of probability 0; None for one side of a ball."""
        if self.radius:
            return None
        constant = -self.constant
        if self.whole:
            if any(
                c.denominator != 1 for c in (self.constant, *dict(self.noises).values(), *dict(self.inputs).values())
            ):
                return None
            constant -= 1
        return Comparison(_negated(self.noises), _negated(self.inputs), constant, 0, self.whole)

    def bound(self, side: int, shown: Shown, wanted: Required) -> SlackBound | None:
        """A lower bound of side·slack at the inputs of a class; None where none is known."""
        if not self.inputs:
            base = side * self.constant + self.radius * wanted.gamma[0]
            return SlackBound(base, self.radius * wanted.gamma[1])
        form = {slot: side * c for slot, c in self.inputs}
        keyed = slack_key(form, side * self.constant, self.radius)
        assert keyed is not None, "an input is in it"
        found = shown.slacks.get(keyed[0])
        return None if found is None else SlackBound(found.base * keyed[1], found.slope * keyed[1])


def _negated(terms: Terms) -> Terms:
    return tuple((i, -c) for i, c in terms)


@dataclass(frozen=True, slots=True)
class Part:
    """Comparisons of noises that hang together; the noises are numbered by their places in `laws`, which are all that
    counts of them."""

    laws: tuple[Law, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def continuous(self) -> bool:
        return all(family is not Family.DISCRETE_LAPLACE for family, _ in self.laws)


@dataclass(frozen=True, slots=True)
class Way:
    """An exit with its weight: `numbers` are what has to hold of inputs for outputs without noise to be near enough."""

    weight: Closed
    numbers: tuple[Comparison, ...]
    parts: tuple[Part, ...]

    @staticmethod
    def of(weight: Closed, comparisons: Sequence[Comparison], laws: Mapping[int, Law]) -> Way:
        """A way by all its comparisons, of noises with these laws."""
        numbers = tuple(found for found in comparisons if not found.noises)
        return Way(weight, numbers, parted([found for found in comparisons if found.noises], laws))

    def require_steady(self) -> None:
        """Raises NotDerived where its weight depends on eps."""
        if not is_steady(self.weight):
            raise NotDerived("the weight of a choice depends on eps alone")


def is_steady(weight: Closed) -> bool:
    """Whether a weight is the same for every eps."""
    return all(part.keys() <= {(0, _ZERO)} for part in weight)


def parted(comparisons: Sequence[Comparison], laws: Mapping[int, Law] | Sequence[Law]) -> tuple[Part, ...]:
    """Comparisons by the noises that hang together, which are numbered anew in their order."""
    groups: list[tuple[set[int], list[Comparison]]] = []
    for found in comparisons:
        noises, members = {i for i, _ in found.noises}, [found]
        for group in [group for group in groups if group[0] & noises]:
            groups.remove(group)
            noises |= group[0]
            members = [*group[1], *members]
        groups.append((noises, members))
    result = []
    for noises, members in groups:
        place = {i: at for at, i in enumerate(sorted(noises))}
        moved = [replace(each, noises=tuple((place[i], c) for i, c in each.noises)) for each in members]
        result.append(Part(tuple(laws[i] for i in place), tuple(moved)))
    return tuple(result)


def merged(ways: Sequence[Way], budget: Budget) -> list[Way]:
    """Ways with the same sum of weight·probability for all inputs: those that differ in one comparison alone are put
    together, w·Pr[E, C] + v·Pr[E, not C] = v·Pr[E] + (w - v)·Pr[E, C] for w = v or w > v. No weight is negative."""
    found = list(ways)
    while len(found) <= MOST_MERGED:
        step = _step(found, budget)
        if step is None:
            break
        found = step
    return found


def _step(found: list[Way], budget: Budget) -> list[Way] | None:
    for i, one in enumerate(found):
        for j in range(i):
            other = found[j]
            budget.spend(10 + len(one.parts) + len(other.parts), _STEP)
            common = _without_opposites(one, other)
            if common is None:
                continue
            rest = [each for k, each in enumerate(found) if k not in (i, j)]
            if equal_closed(one.weight, other.weight, budget, _STEP):
                return [*rest, replace(one, parts=common)]
            for more, less in ((one, other), (other, one)):
                excess = add_closed(more.weight, (times(less.weight[0], -1), less.weight[1]), budget, _STEP)
                if all(positive_everywhere(function, budget) for function in excess):
                    return [*rest, replace(less, parts=common), replace(more, weight=excess)]
    return None


def _without_opposites(one: Way, other: Way) -> tuple[Part, ...] | None:
    """What is left of both without the one comparison that is the opposite in the other; None where they differ in
    more."""
    if one.numbers != other.numbers:
        return None
    mine, theirs = list(one.parts), list(other.parts)
    for part in one.parts:
        if part in theirs:
            mine.remove(part)
            theirs.remove(part)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].laws != theirs[0].laws:
        return None
    ours = [found for found in mine[0].comparisons if found not in theirs[0].comparisons]
    others = [found for found in theirs[0].comparisons if found not in mine[0].comparisons]
    if len(ours) != 1 or len(others) != 1 or ours[0].opposite() != others[0]:
        return None
    left = [found for found in mine[0].comparisons if found is not ours[0]]
    kept = list(one.parts)
    kept.remove(mine[0])
    return (*kept, *parted(left, mine[0].laws))
