"""Where in a class of inputs a claim may fail: inputs that are worth deciding exactly, the most promising first.

Linear programs propose them: inputs where slacks of the answer's events are least or greatest, alone and one after the
other, points on the way from inside to these, and far out along the directions in which a slack has no bound. Floats
put them in order. Both are guesses: whoever asks decides each input like the row of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from math import exp, sqrt

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, minimum, solution
from dipc.measure.event import Family
from dipc.sign import Interval
from dipc.sign.piecewise import BetaForm
from dipc.sources.every_input.exits import CenteredExit, NoiseComponent, ShiftedHalfspace

_ZERO, _ONE = Fraction(0), Fraction(1)

Point = dict[int, Fraction]

#: Slacks whose least and greatest values are looked for, and pairs of them.
_MOST_FORMS = 12
_MOST_PAIRS = 12
#: Parts of the way back from an end to the inside, and how far to go along an unbounded direction.
_NEAR = tuple(Fraction(1, 2**halvings) for halvings in (0, 1, 3, 6, 10))
_FAR = tuple(Fraction(10**zeros) for zeros in (0, 1, 2, 3))
#: Values of eps at which claims are looked at, where they are about these.
_EPS = tuple(Fraction(2) ** power for power in (-8, -5, -3, -1, 0, 1, 3, 6))


def proposals(system: Sequence[Halfspace], forms: Iterable[Affine], slots: Sequence[int]) -> Iterator[Point]:
    """Points of the system, strict inequalities taken strictly, that are extreme for some of the forms, or nearly so;
    each once."""
    inside = solution(system, slots)
    if isinstance(inside, Infeasible):
        return
    ends, ways = _extremes(system, tuple(dict.fromkeys(forms))[:_MOST_FORMS], slots)
    seen: set[tuple[Fraction, ...]] = set()
    for start in _nearer(inside, ends):
        for point in (start, *(_along(start, way, far) for far in _FAR for way in ways)):
            key = tuple([point[slot] for slot in slots])
            if key not in seen and all(item.contains(point) for item in system):
                seen.add(key)
                yield point


def _nearer(inside: Mapping[int, Fraction], ends: Sequence[Mapping[int, Fraction]]) -> Iterator[Point]:
    """The ends, and points between them and the inside."""
    yield dict(inside)
    for end in ends:
        yield dict(end)
    for share in _NEAR[1:]:
        for end in ends:
            yield {slot: value + share * (inside[slot] - value) for slot, value in end.items()}


def _along(start: Mapping[int, Fraction], way: Mapping[int, Fraction], far: Fraction) -> Point:
    return {slot: value + far * way.get(slot, _ZERO) for slot, value in start.items()}


def _extremes(
    system: Sequence[Halfspace], forms: Sequence[Affine], slots: Sequence[int]
) -> tuple[list[Point], list[Point]]:
    """Points of the closure where forms are least or greatest, and directions in which one has no bound."""
    ends: list[Point] = []
    ways: list[Point] = []

    def look(where: Sequence[Halfspace], form: Affine) -> Fraction | None:
        """What the form is at least there, if anything."""
        least = minimum(_halfspace(form), where, slots)
        if isinstance(least, Infeasible):
            return None
        found, point = (ends, least.point) if isinstance(least, Least) else (ways, least.direction)
        chosen = {slot: point.get(slot, _ZERO) for slot in slots}
        if chosen not in found:
            found.append(chosen)
        return least.value if isinstance(least, Least) else None

    def at(form: Affine, value: Fraction) -> list[Halfspace]:
        return [*closed, *equation(form.inputs, form.constant - value)]

    closed = [item.closure() for item in system]
    leasts = {form: look(system, form) for one in forms for form in (one, -one)}
    for one, other in islice(permutations(forms, 2), _MOST_PAIRS):
        # Along an edge on which one is least, the other may have no bound.
        values = (leasts[one], _ZERO)
        for where in [at(one, value) for value in dict.fromkeys(values) if value is not None]:
            for form in (other, -other):
                look(where, form)
    return ends, ways


def _halfspace(form: Affine) -> Halfspace:
    return Halfspace(form.inputs, form.constant)


# --- which are worth it -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claimed:
    """What the claim is at one input: gamma there, and 1 - beta(scale·eps) is required at eps."""

    gamma: Fraction
    beta: BetaForm
    scale: Fraction = _ONE


def most_promising(
    points: Iterable[Point],
    exits: Sequence[CenteredExit],
    intervals: Sequence[Interval],
    claimed: Callable[[Point], Claimed | None],
) -> list[Point]:
    """Those where the claim seems to fail: clearly, the simplest numbers first, which are decided soonest, then the
    others, or where it seems to hold with nothing to spare. `claimed` is None where nothing is claimed."""
    grid = _grid(intervals)
    weights = [[1.0 if e.weight is None else ClosedForm(e.weight).float(eps) for eps in grid] for e in exits]
    required: dict[Claimed, list[float]] = {}
    scored: list[tuple[tuple[bool, float], int, Point]] = []
    for number, point in enumerate(points):
        claim = claimed(point)
        if claim is None:
            continue
        wanted = required.get(claim)
        if wanted is None:
            wanted = required[claim] = [_required(claim, eps) for eps in grid]
        ways = [_Guess.of(e, point, claim.gamma) for e in exits]
        rest = min(
            sum(weight[k] * way.at(float(eps)) for way, weight in zip(ways, weights, strict=True)) - wanted[k]
            for k, eps in enumerate(grid)
        )
        if rest < _ROUNDING:
            clear = rest < -_CLEAR
            scored.append(((not clear, _size(point) if clear else rest), number, point))
    return [point for _, _, point in sorted(scored)]


def _required(claim: Claimed, eps: Fraction) -> float:
    """A guess of what is required at eps: everything where beta is too small, or large, to be written out."""
    try:
        return 1 - float(claim.beta.at(claim.scale * eps, 8)[0])
    except LimitReached:
        return 1.0


#: By how much a claim seems to fail that clearly does, and to hold that may not.
_CLEAR, _ROUNDING = 1e-2, 1e-9


def _size(point: Point) -> int:
    return sum(value.numerator.bit_length() + value.denominator.bit_length() for value in point.values())


def _grid(intervals: Sequence[Interval]) -> list[Fraction]:
    inside = [eps for eps in _EPS if any(eps in interval for interval in intervals)]
    ends = [end for interval in intervals for end in (interval.lower, interval.upper) if end and end in interval]
    return [*inside, *(interval.inner_point for interval in intervals if not interval.is_point or not inside), *ends]


@dataclass(frozen=True, slots=True)
class _Guess:
    """A guess of the probability of one way to an answer at one input, from the slacks there and the scales of what
    they are compared with, both for eps = 1."""

    #: For each direction of noises the slacks of its two sides, least first, None where there is no such constraint.
    sides: tuple[tuple[_Side | None, _Side | None], ...]
    possible: bool

    @classmethod
    def of(cls, found: CenteredExit, point: Mapping[int, Fraction], gamma: Fraction) -> _Guess:
        possible = all(abs(form.at(point)) <= gamma for form in found.points)
        sides = [pair for part in found.parts for pair in _directions(part, point, gamma)]
        return cls(tuple(sides), possible)

    def at(self, eps: float) -> float:
        if not self.possible:
            return 0.0
        product = 1.0
        for up, down in self.sides:
            both = (1.0 if up is None else up.at(eps)) + (1.0 if down is None else down.at(eps))
            product *= max(0.0, both - 1)
        return product


@dataclass(frozen=True, slots=True)
class _Side:
    """X + slack >= 0 for some X of this scale at eps = 1, taken for Laplace noise, or one-sided one on one side of 0:
    -1, 1, else 0."""

    slack: float
    scale: float
    side: int

    def at(self, eps: float) -> float:
        far = min(self.slack * eps / self.scale, 700.0)
        match self.side:
            case 1:
                return 1.0 if far >= 0 else exp(far)
            case -1:
                return 1 - exp(-far) if far >= 0 else 0.0
        return 1 - exp(-far) / 2 if far >= 0 else exp(far) / 2


def _directions(
    part: NoiseComponent, point: Mapping[int, Fraction], gamma: Fraction
) -> list[tuple[_Side | None, _Side | None]]:
    found: dict[tuple[tuple[int, Fraction], ...], list[_Side | None]] = {}
    for half in part.halfspaces:
        turned = half.coefficients[0][1] < 0
        key = tuple([(place, -c) for place, c in half.coefficients]) if turned else half.coefficients
        pair = found.setdefault(key, [None, None])
        known, side = pair[turned], _side(part, half, point, gamma)
        if known is None or side.slack < known.slack:
            pair[turned] = side
    return [(up, down) for up, down in found.values()]


def _side(part: NoiseComponent, half: ShiftedHalfspace, point: Mapping[int, Fraction], gamma: Fraction) -> _Side:
    slack = half.slack.at(point) + half.radius * gamma
    scales = [float(abs(c) / part.noises[place].rate) for place, c in half.coefficients]
    (place, c), *others = half.coefficients
    one_sided = not others and part.noises[place].family is Family.ONE_SIDED
    return _Side(float(slack), sqrt(sum(scale * scale for scale in scales)), (1 if c > 0 else -1) if one_sided else 0)
