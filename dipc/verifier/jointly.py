"""Bounds of a probability where comparisons cannot all be worst at once.

    vertex_values(ways, …)      functions of which one is at most the sum of the ways, at each input of a class
    tails_value(others, …)      at most 1 less the sum of the others, at all of them

Where each way is a conjunction of independent comparisons, none twice, the sum of weight·Pr is affine in the
probability of each comparison. So it is at least what it is at some vertex of a box that holds these probabilities, and
each is between its values at the least and the greatest slack, or between 0 and 1. It is affine in the weights of one
coin, too.

For Laplace noise and σ >= 0, Pr[N >= σ] = exp(-rate·eps·σ)/2, and for integers exp(-rate·eps·σ)/(1 + exp(-rate·eps)).
A product of such tails depends on Σ rate·σ alone, and never grows with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Required, Shown
from dipc.verifier.constraints import Constraints, NoiseHalfspace
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.events import Family
from dipc.verifier.probability import Probabilities
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, add, add_closed, constant, equal_closed, multiply_closed, subtract, times
from dipc.verifier.ways import Comparison, Law, Part, Way, is_steady

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"

#: More comparisons than this have too many vertices.
MOST_COMPARISONS = 6

#: An end of a probability: that of the comparison at a slack, or 0 or 1.
_End = Fraction | bool


def vertex_values(
    ways: Sequence[Way], shown: Shown, wanted: Required, probabilities: Probabilities, budget: Budget
) -> Iterator[Closed]:
    """Functions such that at each input of the class, and each value of the variable, one of them is at most the sum of
    the ways. Raises NotDerived where the ways are not of this kind."""
    compared: list[Part] = []
    literals: list[list[tuple[int, bool]]] = []
    for way in ways:
        if way.numbers:
            raise NotDerived("comparisons are bounded together where outputs without noise depend on inputs")
        here = [_place(part, compared) for part in way.parts]
        if len({place for place, _ in here}) < len(here):
            raise NotDerived("a comparison is made twice on a way")
        literals.append(here)
    if len(compared) > MOST_COMPARISONS:
        raise NotDerived(f"more than {MOST_COMPARISONS} comparisons are bounded together")
    ends = [_ends(part, shown, wanted) for part in compared]
    weights = _at_ends([way.weight for way in ways], budget) if wanted.is_open else [[way.weight for way in ways]]
    for numbers, *vertex in product(weights, *(dict.fromkeys((type(end), end) for end in pair) for pair in ends)):
        total: Closed = {}, ONE
        for weight, here in zip(numbers, literals, strict=True):
            rows: list[tuple[NoiseHalfspace, tuple[Law, ...]]] = []
            for place, holds in here:
                end = vertex[place][1]
                if isinstance(end, bool):
                    if end is not holds:
                        break
                else:
                    row = _row(compared[place].comparisons[0], end)
                    rows.append((row if holds else row.opposite(), compared[place].laws))
            else:
                total = add_closed(total, _weighted(weight, rows, probabilities, budget), budget, _STEP)
        yield total


def _at_ends(weights: Sequence[Closed], budget: Budget) -> list[list[Closed]]:
    """The weights where they depend on nothing. Where all that depend on eps are a + b·g for one function g of it that
    lies between two numbers, as those of one coin are, at these two: sums that are linear in the weights are between
    theirs. Raises NotDerived for others."""
    first = next((weight for weight in weights if not is_steady(weight)), None)
    if first is None:
        return [list(weights)]
    ends = _limits(first)
    above_least = subtract(first[0], times(first[1], min(ends)))
    below_most = subtract(times(first[1], max(ends)), first[0])
    between = all(positive_everywhere(found, budget) for found in (above_least, below_most, first[1]))
    if ends[0] == ends[1] or not between:
        raise NotDerived("a weight is not seen to be between what it is near 0 and at infinity")
    result: list[list[Closed]] = [[], []]
    for weight in weights:
        found = _limits(weight)
        slope = (found[1] - found[0]) / (ends[1] - ends[0])
        line = add(times(first[0], slope), times(first[1], found[0] - slope * ends[0])), first[1]
        if not equal_closed(weight, line, budget, _STEP):
            raise NotDerived("the weights of a choice depend on eps in several ways")
        for numbers, end in zip(result, found, strict=True):
            numbers.append((constant(end), ONE))
    return result


def _limits(weight: Closed) -> tuple[Fraction, Fraction]:
    """What it comes to near 0 and at infinity. Raises NotDerived where it has no limit."""
    above, below = weight
    near = [sum((c for (k, _), c in part.items() if not k), _ZERO) for part in weight]
    leading = max((q, k) for k, q in below)
    far = max(((q, k) for k, q in above), default=leading)
    if not near[1] or far > leading:
        raise NotDerived("a weight grows beyond every bound, or has no limit at 0")
    top = above.get((leading[1], leading[0]), _ZERO)
    return near[0] / near[1], top / below[leading[1], leading[0]]


def _place(part: Part, compared: list[Part]) -> tuple[int, bool]:
    """The place of a comparison, a new one if need be, and whether it has to hold."""
    if len(part.comparisons) != 1:
        raise NotDerived("comparisons are bounded together that are not independent")
    if part in compared:
        return compared.index(part), True
    opposite = part.comparisons[0].opposite()
    if opposite is None:
        raise NotDerived("comparisons are bounded together where outputs have to be near")
    turned = Part(part.laws, (opposite,))
    if turned in compared:
        return compared.index(turned), False
    compared.append(part)
    return len(compared) - 1, True


def _ends(part: Part, shown: Shown, wanted: Required) -> tuple[_End, _End]:
    """Where the probability of a comparison is least and greatest."""
    (found,) = part.comparisons
    if wanted.is_open and not part.continuous:
        return False, True  # it depends on eps alone
    low, high = _least(found, 1, shown, wanted), _least(found, -1, shown, wanted)
    return False if low is None else low, True if high is None else -high


def _least(found: Comparison, side: int, shown: Shown, wanted: Required) -> Fraction | None:
    """What side·slack is at least: a multiple of the distance where one is open. None where nothing is known."""
    bound = found.bound(side, shown, wanted)
    if bound is None or (wanted.is_open and bound.base < 0):
        return None
    return bound.slope if wanted.is_open else bound.base


def _row(found: Comparison, slack: Fraction) -> NoiseHalfspace:
    return NoiseHalfspace.of(dict(found.noises), slack, found.whole)


def _weighted(
    weight: Closed,
    rows: Sequence[tuple[NoiseHalfspace, tuple[Law, ...]]],
    probabilities: Probabilities,
    budget: Budget,
) -> Closed:
    """The weight times the probabilities of independent comparisons."""
    for row, laws in rows:
        weight = probabilities.weighted(weight, Constraints({row.form: row}), dict(enumerate(laws)), budget)
    return weight


def tails_value(
    others: Sequence[Way], shown: Shown, wanted: Required, probabilities: Probabilities, budget: Budget
) -> Closed:
    """What is at most the probability of an answer at all inputs of the class, if these are all ways to others."""
    total: Closed = {}, ONE
    for way in others:
        if wanted.is_open:
            way.require_steady()
        if way.numbers:
            raise NotDerived("other answers are told apart by outputs that are no numbers")
        # Leaving a comparison out makes the others only more probable.
        parts = [part for part in way.parts if part.continuous or not wanted.is_open]
        tails = [part for part in parts if _is_tail(part) and _is_far(part.comparisons[0], shown, wanted)]
        far = _least(_total(tails), 1, shown, wanted) if len(tails) > 1 else None
        weight = way.weight
        if far is None:
            tails = []
        else:
            weight = multiply_closed(weight, ({(0, -max(far, _ZERO)): _ONE}, ONE), budget, _STEP)
            for part in tails:
                weight = multiply_closed(weight, _front(part.laws[0]), budget, _STEP)
        for part in parts:
            if part not in tails:
                weight = _at_most(weight, part, shown, wanted, probabilities, budget)
        total = add_closed(total, weight, budget, _STEP)
    return subtract(total[1], total[0]), total[1]


def _at_most(
    weight: Closed, part: Part, shown: Shown, wanted: Required, probabilities: Probabilities, budget: Budget
) -> Closed:
    """The weight times the probability of a part at upper bounds of its slacks."""
    known = Constraints({})
    for found in part.comparisons:
        bound = _least(found, -1, shown, wanted)
        if bound is not None:
            known = known & _row(found, -bound)
    return probabilities.weighted(weight, known, dict(enumerate(part.laws)), budget)


def _is_tail(part: Part) -> bool:
    """Whether it is a comparison of one noise that is in its tail where its slack is not positive."""
    if len(part.laws) != 1 or len(part.comparisons) != 1 or part.laws[0][0] is Family.ONE_SIDED:
        return False
    (found,) = part.comparisons
    if found.radius or found.whole is part.continuous:
        return False
    numbers = (found.constant, *(c for _, c in found.inputs))
    return part.continuous or (abs(found.noises[0][1]) == 1 and all(c.denominator == 1 for c in numbers))


def _is_far(found: Comparison, shown: Shown, wanted: Required) -> bool:
    """Whether the slack is not positive at any input of the class."""
    bound = found.bound(-1, shown, wanted)
    return bound is not None and bound.base >= 0 and bound.slope >= 0


def _total(tails: Sequence[Part]) -> Comparison:
    """Σ rate·σ, how far all of them are in their tails together, as the slack of a comparison."""
    inputs: dict[int, Fraction] = {}
    constant = _ZERO
    for part in tails:
        (found,) = part.comparisons
        steepness = -part.laws[0][1] / abs(found.noises[0][1])
        constant += steepness * found.constant
        for slot, c in found.inputs:
            inputs[slot] = inputs.get(slot, _ZERO) + steepness * c
    return Comparison((), tuple(sorted((slot, c) for slot, c in inputs.items() if c)), constant, 0, whole=False)


def _front(law: Law) -> Closed:
    """The tail at σ = 0."""
    family, rate = law
    if family is Family.LAPLACE:
        return {(0, _ZERO): Fraction(1, 2)}, ONE
    return ONE, {(0, _ZERO): _ONE, (0, -rate): _ONE}
