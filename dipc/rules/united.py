"""Ways to an answer that differ in one comparison alone, put together.

Of two exits with the events E and C, and E and not C, no constraint of both can be worst at once: a bound exit by exit
counts each as if it were. But w·Pr[E, C] + v·Pr[E, not C] = v·Pr[E] + (w - v)·Pr[E, C], which for w >= v is a sum of
the same kind with one constraint less. Only the laws of the noises count: equal ones may stand for each other. Of
integer noises the opposite of f >= 0 is -f - 1 >= 0, so that N <= -1, N = 0 and N >= 1 come to nothing, one by one:
what a constraint implies may be said beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed
from dipc.decide.decide import decide
from dipc.decide.obligation import Verdict
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, ShiftedHalfspace
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm

_ONE = ExpPoly.one()


#: More exits than this are left as they are.
_MOST_EXITS = 60


def united(exits: Sequence[CenteredExit], intervals: tuple[Interval, ...], limits: Limits) -> tuple[CenteredExit, ...]:
    """Exits with the same sum of weight·probability for all slacks and all eps of the intervals. Weights are still
    never negative there."""
    found = list(exits)
    if len(found) > _MOST_EXITS:
        return tuple(found)
    while (step := _step(found, intervals, limits)) is not None:
        # There are fewer constraints after each step.
        found = step
    return tuple(found)


def _step(found: list[CenteredExit], intervals: tuple[Interval, ...], limits: Limits) -> list[CenteredExit] | None:
    for i, one in enumerate(found):
        for j in range(i):
            other = found[j]
            if (one.points, one.in_balls) != (other.points, other.in_balls):
                continue
            common = _without_opposite(one.parts, other.parts)
            if common is None:
                continue
            rest = [each for k, each in enumerate(found) if k not in (i, j)]
            for more, less in ((one, other), (other, one)):
                excess = _weight(more) - _weight(less)
                if excess == 0:
                    return [*rest, replace(less, parts=common)]
                if _is_positive(excess, intervals, limits):
                    return [*rest, replace(less, parts=common), replace(more, weight=excess)]
    return None


def _weight(found: CenteredExit) -> Closed:
    return _ONE if found.weight is None else found.weight


def _is_positive(value: Closed, intervals: tuple[Interval, ...], limits: Limits) -> bool:
    """Whether it is proved not to be negative at any eps of the intervals."""
    try:
        return decide(ClosedForm(value), PiecewiseForm(_ONE), intervals, limits).verdict is Verdict.ACCURATE
    except Undecided:
        return False


def _without_opposite(
    left: Sequence[NoiseComponent], right: Sequence[NoiseComponent]
) -> tuple[NoiseComponent, ...] | None:
    """What is left of both without the one constraint that is the opposite in the other; None where they differ in
    more, but for what that constraint implies."""
    mine, theirs = list(left), list(right)
    for part in left:
        if part in theirs:
            mine.remove(part)
            theirs.remove(part)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].noises != theirs[0].noises:
        return None
    kept = [part for part in left if part is not mine[0]]
    if len(mine[0].halfspaces) > len(theirs[0].halfspaces):
        mine, theirs = theirs, mine
    ours = [half for half in mine[0].halfspaces if half not in theirs[0].halfspaces]
    others = [half for half in theirs[0].halfspaces if half not in mine[0].halfspaces]
    if len(ours) != 1:
        return None
    turned = opposite(ours[0], whole=is_whole(mine[0]))
    if turned not in others or not all(_implies(ours[0], half) for half in others if half != turned):
        return None
    return (*kept, *_connected(mine[0], [half for half in theirs[0].halfspaces if half != turned]))


def is_whole(part: NoiseComponent) -> bool:
    """Whether all noises are integers."""
    return all(noise.law.whole for noise in part.noises)


def opposite(half: ShiftedHalfspace, *, whole: bool) -> ShiftedHalfspace | None:
    """The complement, but for the boundary where it has probability 0; None for one side of a ball. A form of `whole`
    noises and inputs takes integers only."""
    if half.radius:
        return None
    slack = -half.slack
    if whole:
        terms = [*half.coefficients, *slack.inputs, (0, slack.constant)]
        if any(c.denominator != 1 for _, c in terms):
            return None
        slack = slack.shifted(Fraction(-1))
    return ShiftedHalfspace(tuple([(place, -c) for place, c in half.coefficients]), slack, 0)


def _implies(one: ShiftedHalfspace, other: ShiftedHalfspace) -> bool:
    """Whether the first half-space is in the second for all inputs."""
    if one.radius or other.radius or one.coefficients != other.coefficients:
        return False
    more = other.slack - one.slack
    return more.is_number and more.constant >= 0


def _connected(part: NoiseComponent, halfspaces: Sequence[ShiftedHalfspace]) -> list[NoiseComponent]:
    """The component with these constraints alone, in its connected parts; noises that they do not mention are gone."""
    groups: list[tuple[set[int], list[ShiftedHalfspace]]] = []
    for half in halfspaces:
        places, members = {place for place, _ in half.coefficients}, [half]
        apart = []
        for group in groups:
            if group[0] & places:
                places |= group[0]
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (places, members)]
    found = []
    for places, members in groups:
        order = {place: number for number, place in enumerate(sorted(places))}
        moved = [replace(h, coefficients=tuple([(order[p], c) for p, c in h.coefficients])) for h in members]
        found.append(NoiseComponent(tuple([part.noises[place] for place in order]), tuple(moved)))
    return found
