"""A lower bound of a probability at one distance, sharper than slack by slack: at the corners of the class.

1. The densities of Laplace and of one-sided noise are log-concave, and so is the indicator of A·n + s >= 0 in n and s.
   By Prékopa's theorem Pr[A·N + s >= 0] is a log-concave function of the slacks s, and so are products of such
   functions.
2. With slacks affine in the input u, the probability of one exit is log-concave in u. It is therefore at least the
   lesser of its values at the ends of any segment.
3. Where every slack is bounded below behind the facets, no slack falls along a ray there. The probability never falls
   along a ray, and is constant along lines. It is therefore least at a corner: on a minimal face of the polyhedron.
4. If all slacks of an exit are functions a·f(u) + b of one form f, then its probability is a log-concave function of
   f(u), and so it is least where f is least or greatest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

from dipc.chain.event import GAMMA
from dipc.chain.state import Affine
from dipc.decide.obligation import Bound, Share
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, minimum, solution
from dipc.rules.centered_exits import CenteredExit
from dipc.rules.goal import Goal, Rule
from dipc.rules.halfspaces import at_alpha, best_bound, slack
from dipc.rules.rule import Bounds

_ZERO = Fraction(0)

#: The most choices of facets that are tried for corners, and the most choices of corners for the exits to an answer.
_MOST_FACES = 200
_MOST_CORNERS = 16

Point = Mapping[int, Fraction]


def corners(goal: Goal) -> Bounds | None:
    """Return bounds, at least one of which is at most the probability: sums of probabilities of exits at corners.

    The probability of an exit is least at one of the corners of the class, but different exits can have different
    corners. So there is one bound for each choice of a corner for each exit of `goal`. The result is None if a distance
    is open, a noise has no log-concave density, an output has no noise, a slack has no lower bound, or there are too
    many choices.
    """
    exits, facets, distances, slots = goal.exits, goal.convex.facets, goal.required, goal.setting.slots
    alpha = distances.alpha
    if alpha is None or distances.is_open or not exits:
        return None
    if any(centered.points or (centered.in_balls and not distances.gamma_base) for centered in exits):
        return None
    joint = [component for centered in exits for component in centered.parts]
    if not all(component.continuous and noise.law.log_concave for component in joint for noise in component.noises):
        return None
    forms = dict.fromkeys(slack(half) for component in joint for half in component.halfspaces)
    if any(best_bound(form, facets, alpha) is None for form in forms):
        return None
    behind = _tightest(facets, alpha)
    each: list[list[Share]] = []
    for centered in exits:
        points = _ends(centered, behind, slots) or _corners(behind, slots)
        if points is None:
            return None
        each.append(list(dict.fromkeys(_share(centered, u, distances.gamma_base) for u in points)))
    # Different exits to one answer can be least at different corners.
    count = prod(map(len, each))
    if not 0 < count <= _MOST_CORNERS:
        return None
    return Bounds(tuple(dict.fromkeys(Bound(shares) for shares in product(*each))), None)


CORNERS = Rule("the corners of a log-concave probability", corners)


def _share(centered: CenteredExit, point: Point, gamma: Fraction) -> Share:
    here = {**point, GAMMA: gamma}
    events = [
        component.event([(half.noiseless.evaluate(here), _ZERO) for half in component.halfspaces])
        for component in centered.parts
    ]
    return Share(centered.weight, tuple(events))


def _tightest(facets: Iterable[Affine], alpha: Fraction) -> list[Halfspace]:
    """Return half-spaces with the same intersection as those of `facets` at `alpha`.

    Of parallel facets, only the one that excludes most is kept.
    """
    known: dict[tuple[tuple[int, Fraction], ...], tuple[Fraction, Halfspace]] = {}
    for half in (at_alpha(facet, alpha) for facet in facets):
        scale = abs(half.coefficients[0][1]) if half.coefficients else Fraction(1)
        direction = tuple([(slot, c / scale) for slot, c in half.coefficients])
        level = half.constant / scale
        if direction not in known or level < known[direction][0]:
            known[direction] = level, half
    return [half for _, half in known.values()]


def _ends(centered: CenteredExit, behind: Sequence[Halfspace], slots: Sequence[int]) -> list[Point]:
    """Return the inputs in all of `behind` at which the slacks of the exit `centered` are least and greatest.

    The result is empty unless the slacks are all multiples of one form, apart from constants. If the form has no least
    or no greatest value, that input is missing. `slots` are the inputs.
    """
    forms = [dict(slack(half).inputs) for component in centered.parts for half in component.halfspaces]
    span = _basis_of_span(forms)
    if len(span) != 1:
        return []
    sides = [Halfspace(tuple(sorted((slot, sign * c) for slot, c in span[0].items())), _ZERO) for sign in (1, -1)]
    found = (minimum(side, behind, slots) for side in sides)
    return [dict(end.point) for end in found if isinstance(end, Least)]


def _corners(behind: Sequence[Halfspace], slots: Sequence[int]) -> list[Point] | None:
    """Return one point of each minimal face of the intersection of the half-spaces `behind`, such as its vertices.

    `slots` are the inputs. The result is None if there may be too many faces.
    """
    sides = [half for half in behind if half.coefficients]
    rank = len(_basis_of_span([dict(half.coefficients) for half in sides]))
    if comb(len(sides), rank) > _MOST_FACES:
        return None
    points = []
    for chosen in combinations(sides, rank):
        if len(_basis_of_span([dict(half.coefficients) for half in chosen])) == rank:
            met = (equation(half.coefficients, half.constant) for half in chosen)
            corner = solution([*behind, *(half for both in met for half in both)], slots)
            if not isinstance(corner, Infeasible):
                points.append(corner)
    return points


def _basis_of_span(rows: Iterable[Mapping[int, Fraction]]) -> list[dict[int, Fraction]]:
    result: list[tuple[int, dict[int, Fraction]]] = []
    for row in rows:
        left = dict(row)
        for pivot, other in result:
            factor = left.get(pivot)
            if factor:
                left = {
                    key: value
                    for key in left.keys() | other.keys()
                    if (value := left.get(key, _ZERO) - factor * other.get(key, _ZERO))
                }
        if left:
            pivot = min(left)
            result.append((pivot, {key: value / left[pivot] for key, value in left.items()}))
    return [row for _, row in result]
