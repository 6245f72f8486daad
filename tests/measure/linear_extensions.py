"""A second opinion: the measure of an event as a sum over all orders of its noises, as slow as it is simple."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.noise.laplace import LAPLACE

#: c·eps^k·e^{q·eps} by (k, q).
_Ring = dict[tuple[int, Fraction], Fraction]

#: c·eps^k·e^{q·eps}·X^n·e^{l·X} by (k, q, n, l), where X = eps·x.
_Function = dict[tuple[int, Fraction, int, Fraction], Fraction]


def measure_by_linear_extensions(event: Event, max_orders: int = 200_000) -> ExpPoly:
    """Pr[every constraint of the event holds] for every eps > 0, exactly.

    Raises OutsideFragment for noise that is not Laplace, for constraints over three or more noises, and where no choice
    of scale and zero for each noise makes every constraint a plain comparison; LimitReached past `max_orders` orders.
    """
    if any(noise.law != LAPLACE for noise in event.noises):
        raise OutsideFragment("only Laplace noise is integrated order by order")
    total = ExpPoly.ZERO
    budget = _Budget(max_orders, max_orders)
    for sign, constraints in _one_sided(event.constraints):
        measure = ExpPoly.ONE
        for part in _connected_noises(event, constraints):
            measure = measure * ExpPoly.from_terms((k, q, c) for (k, q), c in _all_orders(part, budget).items())
        total = total + sign * measure
    return total


# --- events as plain comparisons -----------------------------------------------------------------------


def _one_sided(constraints: tuple[Halfspace, ...]) -> Iterator[tuple[int, list[Halfspace]]]:
    """Yield signed conjunctions without ranges of differences whose measures add up to that of `constraints`.

    A range is split as [a <= D <= b] = [D >= a] - [D >= b].
    """
    lows: dict[tuple[tuple[int, Fraction], ...], Fraction] = {}
    highs: dict[tuple[tuple[int, Fraction], ...], Fraction] = {}
    unary = []
    for constraint in constraints:
        if not constraint.coefficients:
            if constraint.constant < 0:
                return
            continue
        if len(constraint.coefficients) == 1:
            unary.append(constraint)
            continue
        first = constraint.coefficients[0][1]
        form = tuple((i, c / first) for i, c in constraint.coefficients)
        end = -constraint.constant / first
        if first > 0:
            lows[form] = max(lows.get(form, end), end)
        else:
            highs[form] = min(highs.get(form, end), end)
    choices: list[list[tuple[int, Halfspace]]] = []
    for form in {**lows, **highs}:
        low, high = lows.get(form), highs.get(form)
        if low is not None and high is not None:
            if low >= high:
                return
            choices.append([(1, Halfspace(form, -low)), (-1, Halfspace(form, -high))])
        elif low is not None:
            choices.append([(1, Halfspace(form, -low))])
        elif high is not None:
            choices.append([(1, Halfspace(tuple((i, -c) for i, c in form), high))])
    for chosen in product(*choices):
        sign = 1
        for factor, _ in chosen:
            sign *= factor
        yield sign, unary + [constraint for _, constraint in chosen]


@dataclass(frozen=True, slots=True)
class _Variable:
    """A noise as Y = scale·X + zero, with its rate in multiples of eps, its mean and its bounds.

    `below` has the noises that lie below it.
    """

    rate: Fraction
    mean: Fraction
    low: Fraction | None
    high: Fraction | None
    below: frozenset[int]


def _connected_noises(event: Event, constraints: list[Halfspace]) -> Iterator[dict[int, _Variable]]:
    """Yield the connected sets of noises, on scales on which every constraint between two of them is Y_i >= Y_j."""
    left = set(range(len(event.noises)))
    while left:
        members = _aligned(min(left), constraints)
        left -= members.keys()
        yield {i: _variable(event, i, members, constraints) for i in members}


def _aligned(start: int, constraints: list[Halfspace]) -> dict[int, tuple[Fraction, Fraction]]:
    """Return (scale, zero) of each noise connected with `start`: if a constraint is an equality, then Y_i = Y_j."""
    found = {start: (Fraction(1), Fraction(0))}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        scale, zero = found[here]
        for constraint in constraints:
            coefficients = dict(constraint.coefficients)
            if here not in coefficients or len(coefficients) == 1:
                continue
            if len(coefficients) > 2:
                raise OutsideFragment("a constraint relates three noises or more; orders only compare two")
            c = coefficients.pop(here)
            ((other, d),) = coefficients.items()
            # c·X_here + d·X_other + constant = 0 gives Y_here as a function of X_other.
            map_of_other = (-scale * d / c, zero - scale * constraint.constant / c)
            if other not in found:
                found[other] = map_of_other
                waiting.append(other)
            elif found[other] != map_of_other:
                raise OutsideFragment("the constraints are no plain comparisons on any scale of the noises")
    return found


def _variable(
    event: Event, i: int, members: dict[int, tuple[Fraction, Fraction]], constraints: list[Halfspace]
) -> _Variable:
    scale, zero = members[i]
    low: Fraction | None = None
    high: Fraction | None = None
    below: set[int] = set()
    for constraint in constraints:
        coefficients = dict(constraint.coefficients)
        if i not in coefficients:
            continue
        c = coefficients.pop(i)
        upwards = c / scale > 0
        if coefficients:
            if upwards:
                below |= coefficients.keys()
            continue
        end = scale * (-constraint.constant / c) + zero
        if upwards:
            low = end if low is None else max(low, end)
        else:
            high = end if high is None else min(high, end)
    noise = event.noises[i]
    return _Variable(noise.rate / abs(scale), scale * noise.mean + zero, low, high, frozenset(below))


# --- one integral for each order -----------------------------------------------------------------------


@dataclass(slots=True)
class _Budget:
    left: int
    limit: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise LimitReached(None, f"the noises and points have more than {self.limit} orders")


def _all_orders(variables: dict[int, _Variable], budget: _Budget) -> _Ring:
    """Return the sum over all orders of these noises and of the points where their densities and bounds change."""
    points = sorted({p for v in variables.values() for p in (v.mean, v.low, v.high) if p is not None})
    total: _Ring = {}

    def extend(passed: int, waiting: frozenset[int], inner: _Function) -> None:
        """Extend a beginning of orders: `passed` points, all noises but those `waiting`.

        `inner` is the integral over the noises placed so far, as a function of an upper bound X on them within the
        present interval.
        """
        dead_end = True
        left = points[passed - 1] if passed else None
        for i in waiting:
            v = variables[i]
            reachable = v.low is None or (left is not None and left >= v.low)
            if reachable and not v.below & waiting:
                dead_end = False
                after_mean = left is not None and left >= v.mean
                extend(passed, waiting - {i}, _integral(_times_density(inner, v, after_mean), left))
        if passed < len(points):
            # A noise that is not placed yet lies above the point.
            if all(v.high is None or v.high > points[passed] for v in (variables[i] for i in waiting)):
                dead_end = False
                extend(passed + 1, waiting, _constant(_value(inner, points[passed])))
        elif not waiting:
            dead_end = False
            for (k, q, n, l), c in inner.items():
                # Past the last point all noises decay, so only the constant is left at X = infinity.
                if n == 0 and l == 0:
                    total[k, q] = total.get((k, q), Fraction(0)) + c
            budget.spend()
        if dead_end:
            budget.spend()

    extend(0, frozenset(variables), {(0, Fraction(0), 0, Fraction(0)): Fraction(1)})
    return total


def _times_density(f: _Function, v: _Variable, after_mean: bool) -> _Function:
    """Return f times (rate/2)·e^{-rate·|X - eps·mean|}, on one side of the mean."""
    slope = -v.rate if after_mean else v.rate
    return {(k, q - slope * v.mean, n, l + slope): c * v.rate / 2 for (k, q, n, l), c in f.items()}


def _integral(f: _Function, left: Fraction | None) -> _Function:
    """Return X -> the integral of f from eps·left to X; a `left` of None means -infinity, where f decays."""
    found: _Function = {}

    def add(k: int, q: Fraction, n: int, l: Fraction, c: Fraction) -> None:
        found[k, q, n, l] = found.get((k, q, n, l), Fraction(0)) + c

    for (k, q, n, l), c in f.items():
        if l == 0:
            add(k, q, n + 1, l, c / (n + 1))
            continue
        # By parts: the integral of X^n·e^{lX} is X^n·e^{lX}/l less n/l times that of X^(n-1)·e^{lX}.
        factor = c / l
        for power in range(n, -1, -1):
            add(k, q, power, l, factor)
            factor *= -power / l
    if left is not None:
        for (k, q), c in _value(found, left).items():
            add(k, q, 0, Fraction(0), -c)
    return {key: c for key, c in found.items() if c}


def _value(f: _Function, point: Fraction) -> _Ring:
    """Return the value of f at X = eps·point."""
    found: _Ring = {}
    for (k, q, n, l), c in f.items():
        key = (k + n, q + l * point)
        found[key] = found.get(key, Fraction(0)) + c * point**n
    return found


def _constant(value: _Ring) -> _Function:
    return {(k, q, 0, Fraction(0)): c for (k, q), c in value.items()}
