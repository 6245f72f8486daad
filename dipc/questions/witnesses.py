"""Inputs of a class at which a claim is most likely to fail, to be decided exactly, the most promising first.

Linear programs propose the inputs where slacks of the answer's events are least or greatest, alone and in pairs. They
also propose points between these and an inner point, and distant points in directions where a slack is unbounded.
Floating-point estimates put the inputs in order. The order is a guess: the caller decides each input like a row of a
table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import islice, permutations, product
from math import ceil, exp, floor, sqrt
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.event import GAMMA
from dipc.chain.state import Affine, Constraint
from dipc.claims.claim import ClaimOptions, resolve_claim
from dipc.claims.given import Cell, CellPool, arrays_among, slot_reader
from dipc.claims.table import read_table
from dipc.decide.obligation import Asking, Verdict
from dipc.frozen import LazyModule, frozen
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, integer_minimum, minimum, solution
from dipc.program.ideal import Distances, Ideal
from dipc.program.metric import inner_point
from dipc.questions.report import Refuted, input_texts
from dipc.questions.source import Case
from dipc.rules.centered_exits import CenteredExit, NoiseComponent
from dipc.rules.goal import ConvexClass, Lower
from dipc.rules.halfspaces import at_alpha, least, point_at
from dipc.rules.rule import ProofStep
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import DiagnosticError
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.decide import series
    from dipc.questions import rows
else:
    series = LazyModule("dipc.decide.series")
    rows = LazyModule("dipc.questions.rows")

_ZERO, _ONE = Fraction(0), Fraction(1)


Point = dict[int, Fraction]

#: The greatest number of slacks whose least and greatest values are computed, and of pairs of them.
_MOST_FORMS = 12
_MOST_PAIRS = 12
#: The shares of the way from an extreme point to an inner point, and the distances along an unbounded direction.
_NEAR = tuple(Fraction(1, 2**halvings) for halvings in (0, 1, 3, 6, 10))
_FAR = tuple(Fraction(10**zeros) for zeros in (0, 1, 2, 3))
#: The values of eps at which probabilities are estimated, if they are in the intervals.
_EPS = tuple(Fraction(2) ** power for power in (-8, -5, -3, -1, 0, 1, 3, 6))


def proposals(system: Sequence[Halfspace], forms: Iterable[Affine], slots: Sequence[int]) -> Iterator[Point]:
    """Yield points in the set `system` at which one of `forms` is nearly least or greatest, each point once.

    `system` is an intersection of half-spaces; a strict half-space is satisfied strictly. A point is a mapping with a
    value for each of `slots`.
    """
    inside = solution(system, slots)
    if isinstance(inside, Infeasible):
        return
    ends, directions = _extremes(system, tuple(dict.fromkeys(forms))[:_MOST_FORMS], slots)
    seen: set[tuple[Fraction, ...]] = set()
    for start in _nearer(inside, ends):
        along = ({slot: x + far * d.get(slot, _ZERO) for slot, x in start.items()} for far in _FAR for d in directions)
        for point in (start, *along):
            key = tuple([point[slot] for slot in slots])
            if key not in seen and all(item.contains(point) for item in system):
                seen.add(key)
                yield point


def _nearer(inside: Mapping[int, Fraction], ends: Sequence[Mapping[int, Fraction]]) -> Iterator[Point]:
    yield dict(inside)
    for end in ends:
        yield dict(end)
    for share in _NEAR[1:]:
        for end in ends:
            yield {slot: value + share * (inside[slot] - value) for slot, value in end.items()}


def _extremes(
    system: Sequence[Halfspace], forms: Sequence[Affine], slots: Sequence[int]
) -> tuple[list[Point], list[Point]]:
    """Return (points at which one of `forms` is least or greatest, directions in which one is unbounded).

    The points are in the closure of `system`, an intersection of half-spaces. Points and directions have a value for
    each of `slots`.
    """
    ends: list[Point] = []
    directions: list[Point] = []

    def look(where: Sequence[Halfspace], form: Affine) -> Fraction | None:
        least = minimum(Halfspace(form.inputs, form.constant), where, slots)
        if isinstance(least, Infeasible):
            return None
        points, point = (ends, least.point) if isinstance(least, Least) else (directions, least.direction)
        chosen = {slot: point.get(slot, _ZERO) for slot in slots}
        if chosen not in points:
            points.append(chosen)
        return least.value if isinstance(least, Least) else None

    def with_value(form: Affine, value: Fraction) -> list[Halfspace]:
        return [*closed, *equation(form.inputs, form.constant - value)]

    closed = [item.closure() for item in system]
    leasts = {form: look(system, form) for one in forms for form in (one, -one)}
    for one, other in islice(permutations(forms, 2), _MOST_PAIRS):
        # Along an edge on which one form is least, the other can be unbounded.
        values = (leasts[one], _ZERO)
        for where in [with_value(one, value) for value in dict.fromkeys(values) if value is not None]:
            for form in (other, -other):
                look(where, form)
    return ends, directions


# --- which are worth it -----------------------------------------------------------------------------


@frozen
class PointClaim:
    """The claim at one input: Pr[output within `gamma` of the answer] >= 1 - `beta`(`scale`·eps) for each eps."""

    gamma: Fraction
    beta: BetaForm
    scale: Fraction = _ONE


def _is_too_long(error: DiagnosticError) -> bool:
    return all(each.code == _TOO_LONG for each in error.diagnostics)


def most_promising(
    points: Iterable[Point],
    exits: Sequence[CenteredExit],
    intervals: Sequence[Interval],
    claimed: Callable[[Point], PointClaim | None],
) -> list[Point]:
    """Return those of `points` at which the claim seems to fail, or to hold barely, for some eps of `intervals`.

    The probability of the answer is estimated from its `exits`. `claimed` returns the claim at a point, or None if
    nothing is claimed there. Points with clear failures come first, those with the simplest numbers before others.
    """
    inside = [eps for eps in _EPS if any(eps in interval for interval in intervals)]
    ends = [end for interval in intervals for end in (interval.lower, interval.upper) if end and end in interval]
    middles = [interval.inner_point for interval in intervals if not interval.is_point or not inside]
    grid = [*inside, *middles, *ends]
    weights = [[1.0 if e.weight is None else ClosedForm(e.weight).float(eps) for eps in grid] for e in exits]
    required: dict[PointClaim, list[float]] = {}
    scored: list[tuple[tuple[bool, float], int, Point]] = []
    for number, point in enumerate(points):
        try:
            claim = claimed(point)
        except DiagnosticError as error:
            if _is_too_long(error):
                continue
            raise
        if claim is None:
            continue
        wanted = required.get(claim)
        if wanted is None:
            wanted = required[claim] = [_required(claim, eps) for eps in grid]
        guesses = [_estimated(e, point, claim.gamma) for e in exits]
        rest = min(
            sum(weight[k] * guess(float(eps)) for guess, weight in zip(guesses, weights, strict=True)) - wanted[k]
            for k, eps in enumerate(grid)
        )
        if rest < _ROUNDING:
            clear = rest < -_CLEAR
            size = sum(value.numerator.bit_length() + value.denominator.bit_length() for value in point.values())
            scored.append(((not clear, size if clear else rest), number, point))
    return [point for _, _, point in sorted(scored)]


def _required(claim: PointClaim, eps: Fraction) -> float:
    """Return an estimate of the probability that `claim` requires at `eps`.

    The estimate is 1 if beta cannot be computed within the limits, and 0 if beta exceeds all floating-point numbers.
    """
    try:
        return 1 - float(claim.beta.enclosure(claim.scale * eps, 8)[0])
    except LimitReached:
        return 1.0
    except OverflowError:
        return 0.0


#: The amount by which a claim clearly fails, and the amount below which it may fail because of rounding.
_CLEAR, _ROUNDING = 1e-2, 1e-9


def _estimated(centered: CenteredExit, point: Mapping[int, Fraction], gamma: Fraction) -> Callable[[float], float]:
    """Return an estimate of the probability of the exit `centered` at the input `point`, as a function of eps.

    `gamma` is the gamma of the claim: a real output may be this far from the right answer.
    """
    here = {**point, GAMMA: gamma}
    if any(form.evaluate(here) < 0 for form in centered.points):
        return lambda _: 0.0
    sides = [pair for component in centered.parts for pair in _directions(component, here)]

    def probability(eps: float) -> float:
        product = 1.0
        for up, down in sides:
            both = (1.0 if up is None else up.probability(eps)) + (1.0 if down is None else down.probability(eps))
            product *= max(0.0, both - 1)
        return product

    return probability


@frozen
class _NoiseSide:
    """The event X + `slack` >= 0 for a noise X with the given `scale` at eps = 1.

    `side` is 1 or -1 for noise that is never negative or never positive. It is 0 for other noise, which is treated as
    Laplace noise.
    """

    slack: float
    scale: float
    side: int

    def probability(self, eps: float) -> float:
        far = min(self.slack * eps / self.scale, 700.0)
        match self.side:
            case 1:
                return 1.0 if far >= 0 else exp(far)
            case -1:
                return 1 - exp(-far) if far >= 0 else 0.0
        return 1 - exp(-far) / 2 if far >= 0 else exp(far) / 2


def _directions(
    component: NoiseComponent, point: Mapping[int, Fraction]
) -> list[tuple[_NoiseSide | None, _NoiseSide | None]]:
    result: dict[tuple[tuple[int, Fraction], ...], list[_NoiseSide | None]] = {}
    for half in component.halfspaces:
        turned = half.noises[0][1] < 0
        key = (-half if turned else half).noises
        pair = result.setdefault(key, [None, None])
        known, side = pair[turned], _side(component, half, point)
        if known is None or side.slack < known.slack:
            pair[turned] = side
    return [(up, down) for up, down in result.values()]


def _side(component: NoiseComponent, half: Affine, point: Mapping[int, Fraction]) -> _NoiseSide:
    slack = half.noiseless.evaluate(point)
    scales = [float(abs(c) / component.noises[noise].rate) for noise, c in half.noises]
    (noise, c), *others = half.noises
    one_sided = not others and component.noises[noise].law.least is not None
    return _NoiseSide(
        float(slack), sqrt(sum(scale * scale for scale in scales)), (1 if c > 0 else -1) if one_sided else 0
    )


def stretched(core: CoreProgram, inputs: Mapping[str, str]) -> Iterator[dict[int, Value]]:
    """Yield inputs of the program `core` made from `inputs`, which are those of the same program with fewer queries.

    Each array is made longer by repeating its last value, and then by repeating its first value. Inputs with a value
    outside its domain are left out.
    """
    given = {name: [inputs[each] for each in own] for name, own in arrays_among(inputs).items()}
    names = [slot.name for slot in core.input_slots]
    for last in (True, False):
        texts = {name: inputs[name] for name in names if name in inputs}
        for array, own in arrays_among(names).items():
            values = given[array]
            more = [values[-1 if last else 0]] * (len(own) - len(values))
            texts |= zip(own, [*values, *more] if last else [*more, *values], strict=True)
        pool = CellPool()
        cells = [slot_reader(slot.name, slot.type, True, pool) for slot in core.input_slots]
        read = [cell(texts[name]) for cell, name in zip(cells, names, strict=True)]
        longer = [cell.value for cell in read if isinstance(cell, Cell) and cell.value is not None]
        if len(longer) == len(names):
            yield dict(zip(core.inputs, longer, strict=True))


# --- witness --------------------------------------------------------------------------------------
#
# Inputs that refute a claim: proposed by corners and linear programs, decided like rows of a table.

#: The code of an expression that is too long at some input.
_TOO_LONG = "E0613"

#: The most inputs tried for one class, and the steps towards an edge that the class does not contain.
MOST_TRIED = 13
_HALVINGS = 8


class Witnesses:
    """A search for inputs of one program that refute one claim."""

    def __init__(self, ideal: Ideal, distances: Distances, options: ClaimOptions) -> None:
        self._ideal = ideal
        self._distances = distances
        self._options = options
        self._probabilities, self._pool = ideal.program.probabilities(), CellPool()
        #: The case that was posed last, by its input and gamma.
        self._last: tuple[object, Case] | None = None

    def first_refuting(
        self, proposed: Iterator[Mapping[int, Value]], gamma: Fraction | None = None, *, finite: bool = False
    ) -> Asking[Refuted | None]:
        """Return the first of the `proposed` inputs that refutes the claim, or None if none of the first few does.

        `gamma` is the gamma to use if the claim leaves gamma open. With `finite`, inputs whose dd is infinite are
        skipped, because a gamma that grows with dd is not a number there. Inputs at which beta is too long to write are
        skipped, too, and so are inputs that violate the precondition `requires`.
        """
        later: list[Mapping[int, Value]] = []
        for inputs in islice(filter(self._is_allowed, proposed), MOST_TRIED):
            if not finite or self.distance(inputs) is not None:
                if not (yield from self._may_wait(inputs, gamma)):
                    refuted = yield from self._refuted(inputs, gamma)
                    if refuted is not None:
                        return refuted
                else:
                    later.append(inputs)
        for inputs in later:
            refuted = yield from self._refuted(inputs, gamma)
            if refuted is not None:
                return refuted
        return None

    def _may_wait(self, inputs: Mapping[int, Value], gamma: Fraction | None) -> Asking[bool]:
        """Return True if the claim at `inputs` takes long to decide, and is not refuted at any of a few eps.

        `gamma` is the gamma to use if the claim leaves gamma open. A decision takes long if the probability has no
        closed form: a proof for every eps then cuts the intervals of eps into small parts, with a Taylor polynomial for
        each. Such a proof is no help in the search for an input that refutes the claim.
        """
        try:
            steps = self._case(inputs, gamma).steps()
        except (DiagnosticError, Undecided):
            return False
        if len(steps) != 1 or not steps[0].obligation.bound.is_without_form:
            return False
        (step,) = steps
        points = tuple(
            [Interval(eps, eps, True, True) for eps in sorted(series.samples(step.obligation.intervals))[::2]]
        )
        if not points:
            return False
        decision = yield replace(step.obligation, intervals=points)
        return decision.verdict is not Verdict.INACCURATE

    def _refuted(self, inputs: Mapping[int, Value], gamma: Fraction | None) -> Asking[Refuted | None]:
        posed: Sequence[ProofStep] = ()
        try:
            case = self._case(inputs, gamma)
            with suppress(Undecided):
                posed = case.steps()
            row = yield from case.settle()
        except DiagnosticError as error:
            if _is_too_long(error):
                return None
            raise
        if row.verdict is not Verdict.INACCURATE:
            return None
        return Refuted(row, self._distance_text(inputs), gamma, posed[0].obligation)

    def steps(self, inputs: Mapping[int, Value], gamma: Fraction | None = None) -> Sequence[ProofStep]:
        """Return the obligations of the claim at `inputs`.

        `gamma` is the gamma to use if the claim leaves gamma open. The result is empty if beta is too long to write at
        `inputs`, or if `inputs` violates the precondition `requires`. Raises Undecided past a limit.
        """
        if not self._is_allowed(inputs):
            return ()
        try:
            return self._case(inputs, gamma).steps()
        except DiagnosticError as error:
            if _is_too_long(error):
                return ()
            raise

    def _case(self, inputs: Mapping[int, Value], gamma: Fraction | None) -> Case:
        key = tuple(inputs.items()), gamma
        if self._last is None or self._last[0] != key:
            program, options = self._ideal.program, self._options
            table = read_table([self._row(inputs)], program.core, pool=self._pool)
            claim = resolve_claim(program.core, table, options if gamma is None else replace(options, gamma=gamma))
            (case,) = rows.TableRows(program, table, claim, self._probabilities).cases()
            self._last = key, case
        return self._last[1]

    def _is_allowed(self, inputs: Mapping[int, Value]) -> bool:
        program = self._ideal.program
        values = [inputs[slot] for slot in program.core.inputs]
        return all(each is None or each.allows(values) for each in (program.allowed, program.selected))

    def distance(self, inputs: Mapping[int, Value]) -> Fraction | None:
        """Return dd at the input `inputs`; None is infinity."""
        return self._distances.dd([inputs[slot] for slot in self._ideal.program.core.inputs])

    def _row(self, inputs: Mapping[int, Value]) -> dict[str, str]:
        core = self._ideal.program.core
        values = [inputs[slot] for slot in core.inputs]
        row: dict[str, str] = dict(input_texts(core, inputs))
        for slot, value in zip(core.outputs, self._ideal.values(values), strict=True):
            row[core.slots[slot].name] = show_value(value)
        return row | {"dd": self._distance_text(inputs)}

    def _distance_text(self, inputs: Mapping[int, Value]) -> str:
        distance = self.distance(inputs)
        return "inf" if distance is None else str(distance)


def candidates(
    convex: ConvexClass,
    lower: Lower,
    slots: Sequence[int],
    alphas: Sequence[Fraction],
    guards: Sequence[Constraint] | None = None,
    nearest: Fraction | None = None,
) -> Iterator[Mapping[int, Value]]:
    """Yield candidates for the input with the least probability in the class `convex`, for each of `alphas`.

    `slots` are the numeric inputs. `lower` has the slacks of the class, and its corner if there is an input where all
    of them are least. First come extreme inputs: this corner, or else inputs where one slack is least. Since an extreme
    input may belong to another class, inputs between it and an inner input of the region, or of `guards`, come next.
    `nearest` is a fraction of the way to the inner input. It is tried before the fractions 1, 1/2, 1/4, …; with None,
    only the latter are tried.
    """
    inputs = convex.inputs
    within = [guard.guard for guard in inputs.region.guards]
    for point in near_integers(_candidates(convex, lower, slots, alphas, guards, nearest), inputs.whole, within):
        yield {**inputs.finite, **point}


def _candidates(
    convex: ConvexClass,
    lower: Lower,
    slots: Sequence[int],
    alphas: Sequence[Fraction],
    guards: Sequence[Constraint] | None,
    nearest: Fraction | None,
) -> Iterator[Mapping[int, Fraction]]:
    region, whole, facets, corner = convex.inputs.region, convex.inputs.whole, convex.facets, lower.corner
    ends: list[dict[int, Fraction]] = []
    for alpha in alphas:
        proposed = [point_at(corner, alpha)] if corner is not None else []
        if corner is None:
            for slack in lower.slacks:
                vertex = least(facets, slack, slots, alpha)
                if vertex is not None and any(vertex[slot].denominator != 1 for slot in whole):
                    # The neighboring integers are tried as well.
                    within = [*(guard.guard for guard in region.guards), *(at_alpha(facet, alpha) for facet in facets)]
                    integers = least_near(slack, vertex, whole, within)
                    proposed += [] if integers is None else [integers]
                proposed += [] if vertex is None else [vertex]
            middle = _middle(proposed)
            proposed = [middle, *proposed] if middle is not None else proposed
        for point in proposed:
            if point not in ends:
                ends.append(point)
                yield point
    inner = inner_point(region.guards if guards is None else guards) or {}
    for end in ends[:4]:
        shares = [Fraction(1, 2**halving) for halving in range(_HALVINGS)]
        for share in shares if nearest is None else [nearest, *shares]:
            yield {slot: value + share * (inner.get(slot, value) - value) for slot, value in end.items()}


def _middle(points: Sequence[Mapping[int, Fraction]]) -> dict[int, Fraction] | None:
    """Return the mean of `points`, which is in every convex set that contains them; None if there are none."""
    if not points:
        return None
    share = Fraction(1, len(points))
    return {slot: share * sum((point[slot] for point in points), _ZERO) for slot in points[0]}


# --- integers -------------------------------------------------------------------------------------
#
# Integers near the points that linear programs propose.

#: The greatest distance from a point at which integers are searched for, and the most cases.
_MOST_DISTANCE = Fraction(6)
_MOST_CASES = 60


#: The most non-integer coordinates for which both neighbors are tried.
_MOST_BROKEN = 3


def near_integers(
    proposed: Iterable[Mapping[int, Fraction]], whole: frozenset[int], within: Sequence[Halfspace]
) -> Iterator[dict[int, Fraction]]:
    """Yield the points `proposed` with integers in place of the values of the inputs `whole`.

    A value that is not an integer is replaced by both neighboring integers in turn, or only by the nearer one if there
    are many such values. If none of the resulting points satisfies `within`, other integers nearby are searched for a
    point that does. If it is found, it is yielded first.

    Other yielded points may violate `within`. Points that result twice are yielded once. If `whole` is empty, all
    points are yielded unchanged.
    """
    seen: set[tuple[Fraction, ...]] = set()
    for point in proposed:
        if not whole:
            yield dict(point)
            continue
        broken = [slot for slot in sorted(whole) if point[slot].denominator != 1]
        if len(broken) > _MOST_BROKEN:
            choices: list[tuple[int, ...]] = [(round(point[slot]),) for slot in broken]
        else:
            choices = [(floor(point[slot]), ceil(point[slot])) for slot in broken]
        near = [
            {**point, **{slot: Fraction(value) for slot, value in zip(broken, chosen, strict=True)}}
            for chosen in product(*choices)
        ]
        if broken and not any(all(item.contains(each) for item in within) for each in near):
            # The integers whose greatest distance from the point is least.
            nearest = _solved(Halfspace(((_length(point), _ONE),), _ZERO), point, whole, within)
            near = near if nearest is None else [nearest, *near]
        for integers in near:
            key = tuple(integers.values())
            if key not in seen:
                seen.add(key)
                yield integers


def least_near(
    form: Affine, point: Mapping[int, Fraction], whole: frozenset[int], within: Sequence[Halfspace]
) -> dict[int, Fraction] | None:
    """Return integers near `point` at which `form` is least and all of `within` is satisfied.

    The result has the integers for the inputs `whole`, and the values of `point` for all others. It is None if `form`
    contains another input, if there are no such integers, or if the search takes too long.
    """
    if not all(slot in whole for slot, _ in form.inputs):
        return None
    return _solved(Halfspace(form.inputs, form.constant), point, whole, within)


def _length(point: Mapping[int, Fraction]) -> int:
    """Return a slot that is not in `point`, as the key of an additional unknown of a linear program.

    The unknown is the greatest change of a coordinate when the coordinates of `point` are rounded.
    """
    return 1 + max(point)


def _solved(
    form: Halfspace, point: Mapping[int, Fraction], whole: frozenset[int], within: Sequence[Halfspace]
) -> dict[int, Fraction] | None:
    length = _length(point)
    near = [
        Halfspace(((slot, sign), (length, _ONE)), -sign * point[slot])
        for slot in sorted(whole)
        for sign in (_ONE, -_ONE)
    ]
    system = [*near, Halfspace(((length, -_ONE),), _MOST_DISTANCE)]
    for item in within:
        left = item
        for slot, value in point.items():
            if slot not in whole:
                left = left.substituted(slot, {}, value)
        system.append(left)
    try:
        result = integer_minimum(form, system, whole, _MOST_CASES)
    except Undecided:
        return None
    return None if result is None else {**point, **{slot: result[1][slot] for slot in whole}}
