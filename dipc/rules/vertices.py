"""A lower bound of a probability, sharper than exit by exit: over a box of probabilities of single comparisons.

Let each event of the exits be a conjunction of independent comparisons, none twice in one exit. Then the sum of
weight·Pr is affine in the probability p of each single comparison. For example, it is w·p·q + v·(1 - p)·r for two exits
with the weights w and v, where q and r are probabilities of other comparisons. Such a function is least at a vertex of
a box that contains the probabilities, and each p lies between its values at the least and the greatest slack of the
class. A lower bound at all vertices therefore holds at every input of the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from dipc.decide.obligation import Bound, Share
from dipc.measure.event import Event
from dipc.rules.centered_exits import CenteredExit, Level, NoiseComponent, is_whole, opposite
from dipc.rules.goal import Goal, Rule, is_constant, joint_evidence
from dipc.rules.rule import Bounds

#: The most comparisons; a box of more has too many vertices.
_MOST_COMPARISONS = 5


#: An end of the range of a comparison's probability: the level of the slack there, or whether it is certain, where it
#: is 1 or 0 and needs no slack.
End = Level | bool


def vertices(goal: Goal) -> Bounds | None:
    """Return lower bounds, one for each vertex of a box of probabilities; at each input at least one of them holds.

    The box has one dimension for each comparison in the exits of `goal`: the range of the probability that it
    holds. A bound is the sum over the exits at its vertex. The result is None unless all exits are conjunctions of
    independent comparisons, none twice in one exit. It is also None if a distance is open and a weight depends on eps,
    or if there are too many comparisons.
    """
    exits = goal.exits
    if goal.required.is_open and any(
        centered.weight is not None and not is_constant(centered.weight) for centered in exits
    ):
        return None
    comparisons, paths = _conjunctions(exits)
    if not 0 < len(comparisons) <= _MOST_COMPARISONS:
        return None
    functions = []
    for vertex in product(*(dict.fromkeys(_ends(component, goal)) for component in comparisons)):
        possible = [(centered, _events(path, comparisons, vertex)) for centered, path in zip(exits, paths, strict=True)]
        functions.append(
            Bound(tuple([Share(centered.weight, events) for centered, events in possible if events is not None]))
        )
    return Bounds(tuple(dict.fromkeys(functions)), joint_evidence(goal))


VERTICES = Rule("the vertices of a box of probabilities", vertices)


#: The numbers of the comparisons of an exit, each with whether it holds or its opposite does.
Path = Sequence[tuple[int, bool]]


def _conjunctions(exits: Sequence[CenteredExit]) -> tuple[Sequence[NoiseComponent], Sequence[Path]]:
    """Return (all comparisons in `exits`, for each exit the comparisons that must hold or fail in it).

    The latter are pairs (index of the comparison, True if it must hold). Both sequences are empty unless each exit is a
    conjunction of independent comparisons, none of them twice.
    """
    comparisons: list[NoiseComponent] = []
    paths: list[Path] = []
    for centered in exits:
        path = [_comparison_index(component, comparisons) for component in centered.parts]
        known = [each for each in path if each is not None]
        if centered.points or centered.in_balls or len(dict(known)) < len(path):
            return (), ()
        paths.append(known)
    return comparisons, paths


def _comparison_index(component: NoiseComponent, comparisons: list[NoiseComponent]) -> tuple[int, bool] | None:
    """Return (index, whether it is `component`) for the one of `comparisons` that is `component` or its complement.

    If neither `component` nor its complement is in the list, `component` is appended to it, and the result is about the
    appended one. The result is None if `component` does not have exactly one comparison, or if it is not in the list
    and has no complement.
    """
    if len(component.halfspaces) != 1:
        return None
    if component in comparisons:
        return comparisons.index(component), True
    turned = _complement(component)
    if turned is None:
        return None
    if turned in comparisons:
        return comparisons.index(turned), False
    comparisons.append(component)
    return len(comparisons) - 1, True


def _complement(component: NoiseComponent) -> NoiseComponent | None:
    (half,) = component.halfspaces
    other = opposite(half, whole=is_whole(component))
    return None if other is None else NoiseComponent(component.noises, (other,))


def _ends(component: NoiseComponent, goal: Goal) -> list[End]:
    """Return the least and the greatest probability of the comparison `component` in the class of `goal`.

    A probability is represented by a slack with which the comparison has this probability: a pair (base, slope), for
    base + slope·distance. False represents the probability 0, and True the probability 1.
    """
    (half,) = component.halfspaces
    distances = goal.required
    if distances.is_open and not component.scales:
        return [False, True]
    result: list[End] = []
    for sign, form in ((1, half), (-1, -half)):
        slack = goal.slack_bound(form)
        if slack is None or (distances.is_open and slack.base < 0):
            result.append(sign < 0)
        else:
            base, slope = distances.level(slack)
            result.append((sign * base, sign * slope))
    return result


def _events(path: Path, comparisons: Sequence[NoiseComponent], vertex: Sequence[End]) -> tuple[Event, ...] | None:
    """Return the events of an exit at one vertex of the box, or None if the exit is impossible there.

    `path` lists the exit's comparisons as (index in `comparisons`, True if it holds). `vertex` has the probability of
    each comparison: as a slack with which it has this probability, or as False for 0 and True for 1.
    """
    events: list[Event] = []
    for index, holds in path:
        end, component = vertex[index], comparisons[index]
        if isinstance(end, bool):
            if end != holds:
                return None
        elif holds:
            events.append(component.event([end]))
        else:
            turned = _complement(component)
            assert turned is not None, "the half-space has an opposite"
            events.append(turned.event([(-end[0] - is_whole(component), -end[1])]))
    return tuple(events)
