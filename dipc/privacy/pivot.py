"""Alignment of all exits with one output at once: one noise, the pivot, moves by as much as the others decide.

Where an output is split over exits that cannot be united (the gap to the largest of the others, which may be any of
them), no constant shift need be cheap. Let x be one noise, y all others, and let E be exits that give the same finite
outputs, after choices that are as likely. E_y is what such an exit says of y and the inputs alone. Let t(y, u, d) be
affine for each two of them, and suppose that for each u and each move d of the ball, but for noises of probability 0,

- no y is in E_y of two exits at u;
- what is in E at u has its y in F_y at u + d for some F of the exits;
- what is in E at u and has its y in F_y at u + d is in F at u + d with x + t for x, and has the same real outputs.

Then (x, y) -> (x + t, y) maps what gives an output at u into what gives it at u + d. It is injective and keeps volumes,
because t does not depend on x and y alone says which t it is. So the loss is at most rate·eps times the largest |t|: a
linear program for each two exits, with the move among its unknowns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.linear.shifts import Ball
from dipc.linear.union import is_covered
from dipc.privacy.aligned_exits import AlignedExit, Emptiness

_ZERO, _ONE = Fraction(0), Fraction(1)


def pivot_cost(
    exits: Sequence[AlignedExit], count: int, ball: Ball, radius: Fraction, is_empty: Emptiness
) -> Fraction | None:
    """The least bound of the loss, in multiples of eps, over all continuous noises as the pivot; None where none will
    do. The exits have one likeness and `count` real inputs. Raises LimitReached, NotConfirmed."""
    costs = [
        rate * farthest
        for key, rate in exits[0].rates.items()
        if key not in exits[0].whole
        if (farthest := _Pivot(key, exits[0].first_input, count).farthest(exits, ball, radius, is_empty)) is not None
    ]
    return min(costs, default=None)


@dataclass(frozen=True, slots=True)
class _Pivot:
    """The noise `key`. The moves of the `count` inputs have keys of their own, after those of the inputs."""

    key: int
    first_input: int
    count: int

    def farthest(
        self, exits: Sequence[AlignedExit], ball: Ball, radius: Fraction, is_empty: Emptiness
    ) -> Fraction | None:
        """The largest |t|; None where one of the conditions is not met."""
        others = [[item for item in each.slacks if not item.coefficient(self.key)] for each in exits]
        if not all(is_empty([*one, *two]) for one, two in combinations(others, 2)):
            return None
        moved = [[self._moved(item) for item in system] for system in others]
        within = _ball(ball, radius, range(self.first_input + self.count, self.first_input + 2 * self.count))
        largest = _ZERO
        for one in exits:
            here = [*one.slacks, *within]
            if not is_covered(here, moved, is_empty):
                return None
            for two, there in zip(exits, moved, strict=True):
                if is_empty([*here, *there]):
                    continue
                far = self._farthest(one, two, [*here, *there])
                if far is None:
                    return None
                largest = max(largest, far)
        return largest

    def _farthest(self, one: AlignedExit, two: AlignedExit, system: Sequence[Halfspace]) -> Fraction | None:
        """The largest |t| that leads from one exit to another on the system."""
        t = self._shift(one, two)
        if t is None:
            return None
        for (_, here), (_, there) in zip(one.reals, two.reals, strict=True):
            change = _plus(self._shifted(there, t), here, -_ONE)
            if change.coefficients or change.constant:
                return None
        closed = [item.closure() for item in system]
        for item in two.slacks:
            if item.coefficient(self.key):
                room = minimum(self._shifted(item, t), closed)
                if not isinstance(room, Least) or room.value < 0:
                    return None
        ends = [minimum(form, closed) for form in (t, _plus(t, t, Fraction(-2)))]
        values = [-end.value for end in ends if isinstance(end, Least)]
        return max(values) if len(values) == len(ends) else None

    def _shift(self, one: AlignedExit, two: AlignedExit) -> Halfspace | None:
        """The t for which a real output stays the same, or else, where the pivot is compared once, what is left over
        there; None where there is no such t."""
        outputs = [[form for _, form in each.reals if form.coefficient(self.key)] for each in (one, two)]
        compared = [[item for item in each.slacks if item.coefficient(self.key)] for each in (one, two)]
        if all(outputs):
            here, there = outputs[0][0], outputs[1][0]
        elif all(len(items) == 1 for items in compared):
            here, there = compared[0][0], compared[1][0]
        else:
            return None
        c = there.coefficient(self.key)
        if not c or here.coefficient(self.key) != c:
            return None
        difference = _plus(here, self._moved(there), -_ONE)
        return Halfspace(tuple([(key, slope / c) for key, slope in difference.coefficients]), difference.constant / c)

    def _moved(self, item: Halfspace) -> Halfspace:
        """The inequality at u + d."""
        inputs = range(self.first_input, self.first_input + self.count)
        moves = {key + self.count: c for key, c in item.coefficients if key in inputs}
        return Halfspace(sorted_terms({**dict(item.coefficients), **moves}), item.constant, item.strict)

    def _shifted(self, item: Halfspace, t: Halfspace) -> Halfspace:
        """The inequality at u + d, with x + t in place of x."""
        return _plus(self._moved(item), t, item.coefficient(self.key))


def _plus(one: Halfspace, two: Halfspace, factor: Fraction) -> Halfspace:
    """The form of one plus a multiple of that of the other."""
    terms = dict(one.coefficients)
    for key, c in two.coefficients:
        terms[key] = terms.get(key, _ZERO) + factor * c
    return Halfspace(sorted_terms(terms), one.constant + factor * two.constant)


def _ball(ball: Ball, radius: Fraction, moves: range) -> list[Halfspace]:
    """The moves of the ball; those of L1 by numbers, after the moves, that are at least as large as each of these."""
    signs = (_ONE, -_ONE)
    if ball is Ball.LINF:
        return [Halfspace(((key, sign),), radius) for key in moves for sign in signs]
    sizes = [key + len(moves) for key in moves]
    lengths = [
        Halfspace(((key, sign), (size, _ONE)), _ZERO) for key, size in zip(moves, sizes, strict=True) for sign in signs
    ]
    return [*lengths, Halfspace(tuple([(size, -_ONE) for size in sizes]), radius)]
