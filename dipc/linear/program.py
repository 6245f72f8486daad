"""Exact linear programs: a solver proposes, exact arithmetic disposes.

What the simplex method proposes is believed only once it is checked, in a few lines that know nothing of it: a point is
put into every inequality, and weights of inequalities are added up (Farkas' lemma, see `dipc.linear.halfspace`). By the
duality of linear programs one of the two exists for every question here. Where the check fails, `NotConfirmed` is
raised: the question is open then, and nothing has been said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.limits import LimitReached, Undecided
from dipc.linear.halfspace import Halfspace, Weights, proved_bound, refutes
from dipc.linear.simplex import Simplex

Point = Mapping[int, Fraction]

_ZERO, _ONE = Fraction(0), Fraction(1)


class NotConfirmed(Undecided):
    """A proposal of the solver that exact arithmetic does not bear out."""

    def __init__(self) -> None:
        super().__init__("an answer about linear inequalities was not confirmed by exact arithmetic")


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No point satisfies the system: the weights prove it (see `refutes`)."""

    weights: Weights


@dataclass(frozen=True, slots=True)
class Unbounded:
    """The form falls below every number: from the point of the system on along the direction, which never leaves it."""

    point: Point
    direction: Point


@dataclass(frozen=True, slots=True)
class Least:
    """The infimum of the form over the points of the system.

    form >= value holds on the system and `weights` prove it (see `proved_bound`); `point` is in the closure of the
    system, where the form is equal to `value`.
    """

    value: Fraction
    point: Point
    weights: Weights


def solution(system: Sequence[Halfspace], keys: Iterable[int] = ()) -> Point | Infeasible:
    """A point that satisfies the system, strict inequalities strictly, or the proof that there is none.

    The point has a value for every key of the system and for `keys`. Raises NotConfirmed.
    """
    return _solution(Simplex(system), system, keys)


def contradiction(system: Sequence[Halfspace]) -> Weights | None:
    """Weights that prove that no point satisfies the system; None where one does. Raises NotConfirmed."""
    found = solution(system)
    return found.weights if isinstance(found, Infeasible) else None


def implies(system: Sequence[Halfspace], question: Halfspace) -> bool:
    """Whether every point of the system is in the half-space: by a proof, or else by a point that is not.

    Raises NotConfirmed.
    """
    return contradiction([*system, question.complement()]) is not None


def minimum(
    form: Halfspace, system: Sequence[Halfspace], keys: Iterable[int] = (), then: Sequence[Halfspace] = ()
) -> Least | Unbounded | Infeasible:
    """The infimum of Σ coefficient·x + constant of `form` over the points of the system.

    The forms of `then` are lowered in turn among the points where those before are least: nothing is claimed of
    them but that the point was chosen so; one that falls without bound ends this. Raises NotConfirmed.
    """
    simplex = Simplex(system)
    start = _solution(simplex, system, keys)
    if isinstance(start, Infeasible):
        return start
    weights = simplex.minimized(dict(form.coefficients))
    if weights is None:
        return _unbounded(form, system, start)
    for other in then:
        if simplex.minimized(dict(other.coefficients)) is None:
            break
    point = {**dict.fromkeys(keys, _ZERO), **simplex.point()[0]}
    value = proved_bound(form, system, weights)
    if value is None or form.value(point) != value:
        raise NotConfirmed
    if not all(item.closure().contains(point) for item in system):
        raise NotConfirmed
    return Least(value, point, weights)


def _unbounded(form: Halfspace, system: Sequence[Halfspace], start: Point) -> Unbounded:
    """A direction of the recession cone in which the form falls by 1, and the check that it is one."""
    cone = [Halfspace(item.coefficients, _ZERO) for item in system if item.coefficients]
    fall = Halfspace(tuple([(key, -c) for key, c in form.coefficients]), -_ONE)
    direction = solution([*cone, fall])
    point = {key: start.get(key, _ZERO) for key in {*start, *(key for key, _ in form.coefficients)}}
    if isinstance(direction, Infeasible):
        raise NotConfirmed
    return Unbounded(point, direction)


def _solution(simplex: Simplex, system: Sequence[Halfspace], keys: Iterable[int] = ()) -> Point | Infeasible:
    weights = simplex.contradiction(range(len(system)))
    if weights is not None:
        if not refutes(system, weights):
            raise NotConfirmed
        return Infeasible(weights)
    point = {**dict.fromkeys(keys, _ZERO), **_standard(simplex, system)}
    if not all(item.contains(point) for item in system):
        raise NotConfirmed
    return point


def _standard(simplex: Simplex, system: Sequence[Halfspace]) -> dict[int, Fraction]:
    """The tableau's point with a number for δ that is small enough: 1 where that will do."""
    at, direction = simplex.point()
    if not any(direction.values()):
        return at
    delta = _ONE
    for item in system:
        slope = sum((c * direction[key] for key, c in item.coefficients), _ZERO)
        value = item.value(at)
        if slope < 0 and value + delta * slope <= 0 < value:
            # The inequality holds with room to spare, and still does half of the way.
            delta = value / -slope / 2
    return {key: value + delta * direction[key] for key, value in at.items()}


class Interiors:
    """Which systems have interior points, all inequalities taken strictly; `asked` counts the questions."""

    def __init__(self, max_questions: int) -> None:
        self._limit = max_questions
        self.asked = 0

    def has_interior(self, system: Sequence[Halfspace]) -> bool:
        """Whether some point satisfies all the inequalities strictly.

        Raises LimitReached past the limit and NotConfirmed.
        """
        system = [_opened(item) for item in system]
        self._count()
        return not isinstance(solution(system), Infeasible)

    def facets(self, system: Sequence[Halfspace], key: int) -> tuple[Halfspace, ...]:
        """A system with the same interior in which no inequality on x[key] is implied by the others.

        Raises LimitReached past the limit and NotConfirmed.
        """
        opened = [_opened(item) for item in system]
        both = [*opened, *(_opened(item.complement()) for item in opened)]
        simplex = Simplex(both)
        kept = list(range(len(opened)))
        for place, item in enumerate(opened):
            if not item.coefficient(key):
                continue
            others = [other for other in kept if other != place]
            asked = [*others, len(opened) + place]
            self._count()
            weights = simplex.contradiction(asked)
            chosen = [both[other] for other in asked]
            if weights is None:
                point = _standard(simplex, chosen)
                if not all(item.contains(point) for item in chosen):
                    raise NotConfirmed
            elif refutes(both, weights) and weights.keys() <= set(asked):
                kept = others
            else:
                raise NotConfirmed
        return tuple([system[place] for place in kept])

    def _count(self) -> None:
        self.asked += 1
        if self.asked > self._limit:
            raise LimitReached("cells", f"the constraints fall into more cells than {self._limit} questions tell apart")


def _opened(item: Halfspace) -> Halfspace:
    return item if item.strict else Halfspace(item.coefficients, item.constant, True)
