"""A lower bound of a probability that is better than exit by exit: over a box of probabilities of single comparisons.

Where each event of the exits is a conjunction of independent comparisons, none twice in one, the sum of weight·Pr is a
function of the probabilities p of single comparisons that is affine in each: w·p·q + v·(1 - p)·r. Such a function is
least at a vertex of a box that holds them, and each p is between its values at the least and the greatest slack of the
class. So all that is claimed of the vertices is true of every input of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from dipc.decide.obligation import Bound, Share
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, is_whole, opposite
from dipc.rules.halfspaces import Moving
from dipc.rules.least_slacks import is_constant, jointly, slack_bound
from dipc.rules.rule import Bounds, ClaimedDistances, Instance, Rule

#: More comparisons than this have too many vertices.
_MOST_COMPARISONS = 5


@frozen
class Certain:
    """An end of a probability that is known without a slack: 0 or 1."""

    one: bool


#: The slack at an end, as base + slope·k.
Slack = tuple[Fraction, Fraction]
End = Slack | Certain

#: A comparison, and its slack.
Compared = tuple[NoiseComponent, Slack]


@frozen
class Box:
    """Exits as conjunctions of comparisons: for each the places of these, and whether they hold or their opposites."""

    exits: Sequence[CenteredExit]
    comparisons: Sequence[NoiseComponent]
    paths: Sequence[Sequence[tuple[int, bool]]]

    def vertices(
        self, ends: Callable[[NoiseComponent], Sequence[End]]
    ) -> Iterator[list[tuple[CenteredExit, list[Compared]]]]:
        """For each choice of one end of every comparison: the exits that can then be taken, with the comparisons that
        lead to them."""
        for vertex in product(*(dict.fromkeys(ends(component)) for component in self.comparisons)):
            possible = []
            for each, path in zip(self.exits, self.paths, strict=True):
                compared = self._compared(path, vertex)
                if compared is not None:
                    possible.append((each, compared))
            yield possible

    def _compared(self, path: Sequence[tuple[int, bool]], vertex: Sequence[End]) -> list[Compared] | None:
        """What has to happen at one exit; None where it cannot."""
        result: list[Compared] = []
        for index, holds in path:
            end, component = vertex[index], self.comparisons[index]
            if isinstance(end, Certain):
                if end.one != holds:
                    return None
            elif holds:
                result.append((component, end))
            else:
                turned = _turned(component)
                assert turned is not None, "it has an opposite"
                result.append((turned, (-end[0] - (1 if is_whole(component) else 0), -end[1])))
        return result


def box_of(exits: Sequence[CenteredExit]) -> Box | None:
    """The exits in this form; None where they have none, or too many comparisons."""
    if any(centered_exit.points or centered_exit.in_balls for centered_exit in exits):
        return None
    comparisons: list[NoiseComponent] = []
    paths: list[list[tuple[int, bool]]] = []
    for centered in exits:
        path: list[tuple[int, bool]] = []
        for component in centered.parts:
            comparison = _comparison_index(component, comparisons)
            if comparison is None or any(comparison[0] == other for other, _ in path):
                return None
            path.append(comparison)
        paths.append(path)
    return Box(exits, comparisons, paths) if 0 < len(comparisons) <= _MOST_COMPARISONS else None


def vertices(instance: Instance) -> Bounds | None:
    """The sums over the exits at the vertices of the box. None where they are not of this kind."""
    distances = instance.distances
    if distances.is_open and any(
        centered.weight is not None and not is_constant(centered.weight) for centered in instance.exits
    ):
        return None
    box = box_of(instance.exits)
    if box is None:
        return None
    functions = [
        Bound(
            tuple(
                Share(
                    centered.weight,
                    tuple(
                        Event(component.noises, (Halfspace(component.halfspaces[0].coefficients, base),))
                        for component, (base, _) in compared
                    ),
                )
                for centered, compared in vertex
            )
        )
        for vertex in box.vertices(lambda component: _ends(component, instance.facets, distances, instance.whole))
    ]
    return Bounds(tuple(dict.fromkeys(functions)), jointly(instance))


VERTICES = Rule("the vertices of a box of probabilities", vertices)


def _comparison_index(component: NoiseComponent, comparisons: list[NoiseComponent]) -> tuple[int, bool] | None:
    """The place of a comparison, a new one if need be, and whether it holds; None where it is more than one."""
    if len(component.halfspaces) != 1:
        return None
    if component in comparisons:
        return comparisons.index(component), True
    turned = _turned(component)
    if turned is None:
        return None
    if turned in comparisons:
        return comparisons.index(turned), False
    comparisons.append(component)
    return len(comparisons) - 1, True


def _turned(component: NoiseComponent) -> NoiseComponent | None:
    """The comparison that holds where this one does not."""
    (half,) = component.halfspaces
    other = opposite(half, whole=is_whole(component))
    return None if other is None else NoiseComponent(component.noises, (other,))


def _ends(
    component: NoiseComponent, facets: Sequence[Moving], distances: ClaimedDistances, whole: frozenset[int]
) -> list[End]:
    """Where the probability of a comparison is least and greatest."""
    (half,) = component.halfspaces
    if distances.is_open and not component.scales:
        return [Certain(one=False), Certain(one=True)]
    result: list[End] = []
    for sign, form in ((1, half.slack), (-1, -half.slack)):
        slack = slack_bound(form, facets, distances, whole)
        if slack is None or (distances.is_open and slack.base < 0):
            result.append(Certain(one=sign < 0))
        else:
            result.append((sign * (slack.slope if distances.is_open else slack.base), Fraction(0)))
    return result
