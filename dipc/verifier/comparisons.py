"""Events as orders: on suitable scales every constraint is a bound on one noise or a plain comparison Y_i >= Y_j.

A noise X becomes Y = scale·X + zero. Scales and zeros that turn every constraint on two noises into a comparison exist
where the constraints hang together like a tree, and on every cycle that says nothing new about distances. A range of a
difference, a <= D <= b, is none; but its probability is that of D >= a less that of D >= b.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, prod

from dipc.verifier.events import Constraint, Event, Family, Noise

#: The most conjunctions that ranges of differences are split into.
MOST_CONJUNCTIONS = 64

#: The most bits of a number on a scale that is not the noise's own.
MOST_BITS = 2_048


#: X_i + d·X_j as ((i, 1), (j, d)).
_Difference = tuple[tuple[int, Fraction], tuple[int, Fraction]]

#: (scale, zero) of a noise.
_Scale = tuple[Fraction, Fraction]


class NoOrder(Exception):
    """The event is no order of its noises; `why` is half a sentence for the report."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Variable:
    """A noise on its new scale: rate·eps is the rate at which its density decays on both sides of `mean`.

    `factor` is what the density has at the mean, as a multiple of rate·eps. It is cut off outside low <= Y <= high,
    None for infinity.
    """

    rate: Fraction
    mean: Fraction
    factor: Fraction
    low: Fraction | None
    high: Fraction | None

    def reflected(self) -> Variable:
        """-Y."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Variable(self.rate, -self.mean, self.factor, low, high)


#: For each variable, those that must not be greater.
Below = dict[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Order:
    """Noises that hang together, by number: on their scales `below` says all that is said of two of them."""

    below: Below
    _noises: tuple[Noise, ...]
    _scales: dict[int, _Scale]
    _about: dict[int, list[Constraint]]

    def rate(self, i: int) -> Fraction:
        """The rate of noise i on its scale."""
        scale = self._scales[i][0]
        return self._noises[i].rate if abs(scale) == 1 else self._noises[i].rate / abs(scale)

    def variable(self, i: int) -> Variable:
        """Noise i with its bounds."""
        scale, zero = self._scales[i]
        noise = self._noises[i]
        whole = noise.family is Family.DISCRETE_LAPLACE
        mean, factor = scale * noise.mean + zero, Fraction(1, 2)
        lows: list[Fraction] = []
        highs: list[Fraction] = []
        if noise.family is Family.ONE_SIDED:
            (lows if scale > 0 else highs).append(mean)
            factor = Fraction(1)
        for constraint in self._about[i]:
            if len(constraint.coefficients) == 1:
                c = constraint.coefficients[i]
                end = -constraint.constant / c
                if whole:
                    end = Fraction(ceil(end) if c > 0 else -ceil(-end))
                (lows if c / scale > 0 else highs).append(scale * end + zero)
        return Variable(self.rate(i), mean, factor, max(lows, default=None), min(highs, default=None))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Independent orders; the event's probability is the sum of sign·Π Pr[order] over its conjunctions."""

    sign: int
    orders: tuple[Order, ...]


def conjunctions(event: Event) -> list[Conjunction]:
    """The event's conjunctions, none if it is plainly impossible; noises that nothing is said of are left out.

    Raises NoOrder where no scales do.
    """
    whole = {noise.family is Family.DISCRETE_LAPLACE for noise in event.noises}
    if len(whole) > 1:
        raise NoOrder("integer and continuous noises are in one event")
    result = []
    for sign, constraints in _one_sided(event.constraints, whole == {True}):
        about: dict[int, list[Constraint]] = {}
        for constraint in constraints:
            for i in constraint.coefficients:
                about.setdefault(i, []).append(constraint)
        scales: dict[int, _Scale] = {}
        orders = []
        for start in about:
            if start not in scales:
                members = _scales(start, about)
                scales.update(members)
                below = {i: _below(i, scale > 0, about[i]) for i, (scale, _) in members.items()}
                orders.append(Order(below, event.noises, members, about))
        result.append(Conjunction(sign, tuple(orders)))
    return result


def _one_sided(constraints: tuple[Constraint, ...], whole: bool) -> Iterator[tuple[int, list[Constraint]]]:
    """Signed conjunctions in which no difference is bounded on both sides, nor twice on one side."""
    lows: dict[_Difference, Fraction] = {}
    highs: dict[_Difference, Fraction] = {}
    single = []
    for constraint in constraints:
        match sorted(constraint.coefficients.items()):
            case []:
                if constraint.constant < 0:
                    return
            case [_]:
                single.append(constraint)
            case [(i, c), (j, d)]:
                form = ((i, Fraction(1)), (j, d / c))
                end = -constraint.constant / c
                if whole and abs(d) != abs(c):
                    raise NoOrder("a constraint weighs two integer noises differently")
                if c > 0:
                    end = Fraction(ceil(end)) if whole else end
                    lows[form] = max(lows.get(form, end), end)
                else:
                    end = -Fraction(ceil(-end)) if whole else end
                    highs[form] = min(highs.get(form, end), end)
            case more:
                raise NoOrder(f"a constraint relates {len(more)} noises")
    choices: list[list[tuple[int, Constraint]]] = []
    for form in {**lows, **highs}:
        low, high = lows.get(form), highs.get(form)
        if low is None:
            assert high is not None
            choices.append([(1, Constraint({i: -c for i, c in form}, high))])
            continue
        choices.append([(1, Constraint(dict(form), -low))])
        if high is not None:
            if high < low:
                return
            choices[-1].append((-1, Constraint(dict(form), -(high + 1 if whole else high))))
    if prod(len(choice) for choice in choices) > MOST_CONJUNCTIONS:
        raise NoOrder(f"ranges of differences split it into more than {MOST_CONJUNCTIONS} cases")
    for chosen in product(*choices):
        yield prod(sign for sign, _ in chosen), single + [constraint for _, constraint in chosen]


def _scales(start: int, about: dict[int, list[Constraint]]) -> dict[int, _Scale]:
    """(scale, zero) of all noises that hang together with `start`: at the border of a constraint Y_i = Y_j."""
    found = {start: (Fraction(1), Fraction(0))}
    used: set[int] = set()
    waiting = [start]
    for here in waiting:
        scale, zero = found[here]
        if max(x.bit_length() for x in (*scale.as_integer_ratio(), *zero.as_integer_ratio())) > MOST_BITS:
            raise NoOrder(f"on one scale its numbers have more than {MOST_BITS} bits")
        for constraint in about[here]:
            if len(constraint.coefficients) == 1 or id(constraint) in used:
                continue
            used.add(id(constraint))
            ((other, d),) = [term for term in constraint.coefficients.items() if term[0] != here]
            # c·X_here + d·X_other + constant = 0 gives Y_here as a function of X_other.
            c = constraint.coefficients[here]
            expected = (-scale * d / c, zero - scale * constraint.constant / c)
            if other not in found:
                found[other] = expected
                waiting.append(other)
            elif found[other] != expected:
                raise NoOrder("a cycle of constraints bounds distances")
    return found


def _below(i: int, upright: bool, about: list[Constraint]) -> frozenset[int]:
    """What must not be greater than variable i, whose scale is positive or not."""
    return frozenset(
        j
        for constraint in about
        if len(constraint.coefficients) == 2 and (constraint.coefficients[i] > 0) == upright
        for j in constraint.coefficients
        if j != i
    )
