"""Difference systems: constraints Z_i - Z_j >= w and bounds on single Z_i, over independent Laplace noises, all real or
all integer.

Any set of constraints with at most two noises each becomes one by rescaling the noises (a noise of rate a at mean m
times s is one of rate a/|s| at mean s·m), unless two noises are compared in two proportions. What does not depend on
means and constants is worked out once, in an `EventShape`: the rows of a table share it. Lengths are integers from here
on. Integer noises are only ever negated, not rescaled; between them Z_i - Z_j > w is Z_i - Z_j >= w' for the next
integer w'.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from dipc.algebra.limits import OutsideFragment
from dipc.measure.event import Event, Family

#: The index that stands for the constant 0 in the inequalities of a system.
ORIGIN = -1

#: `lower[i, j]` = w stands for Z_i - Z_j >= w, where Z of ORIGIN is 0.
Inequalities = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class DifferenceSystem:
    """Noise i is Laplace with rate `rates[i]` (times eps) and mean `means[i]`; `lower` holds what must be true of them.

    Means and inequalities count lengths in multiples of `unit`; it is None for integer noises, whose unit is 1.
    """

    rates: tuple[Fraction, ...]
    means: tuple[int, ...]
    lower: Inequalities
    unit: Fraction | None

    @property
    def whole(self) -> bool:
        """Whether the noises are integers."""
        return self.unit is None

    def leaves_room(self, closed_walk: int) -> bool:
        """Whether 0 >= w, the sum of the inequalities around a cycle, leaves more than a null set: among integers w = 0
        does, as it fixes differences to what has positive mass."""
        return closed_walk < self.whole

    def is_null(self) -> bool:
        """Whether two inequalities on the same two noises leave no room, so that the measure is 0."""
        lower = self.lower
        return any((j, i) in lower and not self.leaves_room(w + lower[j, i]) for (i, j), w in lower.items())


@dataclass(frozen=True, slots=True)
class EventShape:
    """An event but for its means and constants: all that is needed to turn those into a difference system.

    `rows[n]` = (i, j, factor) says that constraint n is Z_i - Z_j >= factor·constant·unit; None that it has no noise.
    """

    rates: tuple[Fraction, ...]
    mean_factors: tuple[int, ...]
    rows: tuple[tuple[int, int, int] | None, ...]
    unit: Fraction
    whole: bool

    def system(self, event: Event) -> DifferenceSystem | None:
        """The system whose measure is that of an event of this shape, or None if the measure is plainly 0."""
        means = [noise.mean.as_integer_ratio() for noise in event.noises]
        constants = [constraint.constant.as_integer_ratio() for constraint in event.constraints]
        whole = 1 if self.whole else lcm(*{d for _, d in means}, *{d for _, d in constants})
        lower: Inequalities = {}
        for row, (p, q), constraint in zip(self.rows, constants, event.constraints, strict=True):
            if row is None:
                if p < 0:
                    return None
                continue
            i, j, factor = row
            if self.whole:
                # The least integer w that is at least, or if strict above, the bound.
                whole_bound, rest = divmod(factor * p, q * self.unit.denominator)
                w = whole_bound + (constraint.strict or rest > 0)
            else:
                w = factor * p * (whole // q)
            known = lower.get((i, j))
            if known is None or known < w:
                lower[i, j] = w
        if self.whole:
            scaled = tuple([f // self.unit.denominator * p for f, (p, _) in zip(self.mean_factors, means, strict=True)])
        else:
            scaled = tuple([f * p * (whole // q) for f, (p, q) in zip(self.mean_factors, means, strict=True)])
        system = DifferenceSystem(self.rates, scaled, lower, None if self.whole else self.unit / whole)
        return None if system.is_null() else system


def event_shape(event: Event) -> EventShape:
    """The shape of an event; events that differ in means and constants only have the same one.

    Raises OutsideFragment for a constraint over three or more noises, for noises compared in two proportions, for
    integer noises compared in another one than 1 or -1, and for noise that is not all Laplace or all discrete Laplace.
    """
    family = event.noises[0].family if event.noises else Family.LAPLACE
    if family is Family.ONE_SIDED or any(noise.family is not family for noise in event.noises):
        raise OutsideFragment("the noise is not all of one kind, Laplace or discrete Laplace")
    scales = _scales(event)
    whole_numbers = family is Family.DISCRETE_LAPLACE
    if whole_numbers and any(abs(s) != 1 for s in scales):
        raise OutsideFragment("integer noises are compared in other proportions than 1 or -1")
    rows: list[tuple[int, int, Fraction] | None] = []
    for constraint in event.constraints:
        match constraint.coefficients:
            case ():
                rows.append(None)
                continue
            case ((i, c),):
                slope, j = c / scales[i], ORIGIN
            case ((i, c), (j, d)):
                slope = c / scales[i]
                if d / scales[j] != -slope:
                    raise OutsideFragment(
                        "two noises are compared in two different proportions; such constraints are not measured yet"
                    )
            case more:
                raise OutsideFragment(f"a constraint relates {len(more)} noises at once; at most two are measured yet")
        # Up to the constant this is slope·(Z_i - Z_j).
        rows.append((i, j, -1 / slope) if slope > 0 else (j, i, 1 / slope))
    whole = lcm(*(s.denominator for s in scales), *(row[2].denominator for row in rows if row is not None))
    return EventShape(
        tuple(n.rate / abs(s) for n, s in zip(event.noises, scales, strict=True)),
        tuple(int(s * whole) for s in scales),
        tuple(None if row is None else (row[0], row[1], int(row[2] * whole)) for row in rows),
        Fraction(1, whole),
        whole_numbers,
    )


def _scales(event: Event) -> list[Fraction]:
    """Factors s_i such that in Z_i = s_i·X_i every constraint of a spanning forest is one on a difference."""
    links: list[list[tuple[int, Fraction]]] = [[] for _ in event.noises]
    for constraint in event.constraints:
        if len(constraint.coefficients) == 2:
            (i, c), (j, d) = constraint.coefficients
            links[i].append((j, -d / c))
            links[j].append((i, -c / d))
    scales: dict[int, Fraction] = {}
    for start in range(len(links)):
        if start in scales:
            continue
        scales[start] = Fraction(1)
        queue = deque([start])
        while queue:
            i = queue.popleft()
            for j, ratio in links[i]:
                if j not in scales:
                    scales[j] = scales[i] * ratio
                    queue.append(j)
    return [scales[i] for i in range(len(links))]


def neighbors(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """For each of `count` noises, the noises that an inequality relates it to, in increasing order."""
    found: list[set[int]] = [set() for _ in range(count)]
    for i, j in pairs:
        if ORIGIN not in (i, j):
            found[i].add(j)
            found[j].add(i)
    return [sorted(n) for n in found]


def components(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The noises that share constraints, directly or not, in increasing order; a noise without any is left out."""
    pairs = list(pairs)
    adjacent = neighbors(count, pairs)
    bounded = {i for pair in pairs for i in pair if i != ORIGIN}
    seen: set[int] = set()
    found = []
    for start in sorted(bounded):
        if start in seen:
            continue
        seen.add(start)
        members = [start]
        for i in members:
            for j in adjacent[i]:
                if j not in seen:
                    seen.add(j)
                    members.append(j)
        found.append(sorted(members))
    return found
