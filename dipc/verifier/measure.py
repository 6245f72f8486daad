"""Replays the measures of a certificate: Pr[constraints over independent noises], computed anew and compared.

For whoever puts a certificate together:

    replay_measure(record, budget, allowance, step) -> Replayed | NotReplayed     raises Rejected for a wrong value
    unreplayed(event, terms, allowance) -> str | None                             why not, without doing it

`record` is plain data as `dipc.verifier.events` documents it. Which records are replayed does not depend on their
values being right: `unreplayed` looks at the event and at the number of terms of its value only. A record that is
not replayed must say so itself, in the field "unreplayed", with the very reason; one that is must not.

The replay is another computation than the engine's: no messages between neighbors, no canonical forms, no memory from
one measure to the next, but one sweep over all noises at once (`dipc.verifier.sweep`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Any

from dipc.verifier import reading
from dipc.verifier.budget import Budget
from dipc.verifier.comparisons import Below, NoOrder, Order, Variable, conjunctions
from dipc.verifier.downsets import Downsets, downsets, reflected
from dipc.verifier.events import Event, Family, is_whole, numbers_of, read_event
from dipc.verifier.integration import MOST_NOISES, integrated
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import ONE, Closed, Ring, add_closed, constant, equal_closed, multiply_closed, read_closed
from dipc.verifier.sums import of_one_sum
from dipc.verifier.sweep import Density, Poles, Sweep, Value

#: The most sets that one sweep looks at, bits of a number of the event and of the common denominator of all of them.
MOST_SETS = 1_000
MOST_BITS = 256
MOST_COMMON_BITS = 1_024

#: The work of all measures of a certificate: sets times variables times terms, each 10 to 100 steps of a budget.
MOST_WORK = 250_000

#: The same of one measure that no certificate states: what is really done is counted by the budget.
MOST_WORK_ANEW = 250_000_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """The measure was computed anew and is the function that the record gives, also given here."""

    value: Closed


@dataclass(frozen=True, slots=True)
class NotReplayed:
    """The value was read but taken on trust; `reason` says why, in half a sentence."""

    reason: str
    value: Closed


@dataclass(slots=True)
class Allowance:
    """The work that the measures of one certificate may still plan for; those past it are not replayed."""

    left: int = MOST_WORK


@dataclass(frozen=True, slots=True)
class _Sweepable:
    """An order, or its reflection where that has fewer sets; `ranked` are its noises by rank, the lowest first."""

    order: Order
    ranked: tuple[int, ...]
    reflected: bool
    sets: Downsets

    @property
    def work(self) -> int:
        """Sets times intervals."""
        return len(self.sets.lasts) * (1 + len(self.ranked))

    @property
    def slopes(self) -> int:
        """A bound on the different e^{l·T} on one interval: these vanish in the value, but not on the way to it."""
        return prod(count + 1 for count in Counter(map(self.order.rate, self.ranked)).values())


#: c·eps^k·e^{q·eps} by (k, q) on the integers of a sweep.
_Terms = dict[tuple[int, int], Fraction]
_Parts = tuple[_Terms, _Terms]

#: The orders of each conjunction, with its sign.
_Plan = list[tuple[int, list[_Sweepable]]]


def unreplayed(event: Event, terms: int, allowance: Allowance) -> str | None:
    """Why the event is not replayed when its value has so many terms, None where it is: for whoever writes it."""
    planned = _plan(event, terms, allowance)
    return planned if isinstance(planned, str) else None


def replay_measure(record: Any, budget: Budget, allowance: Allowance, step: str) -> Replayed | NotReplayed:
    """The measure of the record's event, computed anew; raises Rejected where it is another function than its value."""
    fields = reading.record(record, step, ("noises", "constraints", "value"), ("unreplayed",))
    value = read_closed(fields["value"], step)
    event = read_event(fields["noises"], fields["constraints"], step)
    numbers = len(event.noises) + sum(len(constraint.coefficients) for constraint in event.constraints)
    # What is planned looks at pairs of noises.
    budget.spend(20 * (numbers + len(event.constraints)) + 4 * len(event.noises) ** 2, step)
    planned = _plan(event, len(value[0]) + len(value[1]), allowance)
    stated = fields.get("unreplayed")
    if isinstance(planned, str):
        if stated != planned:
            raise Rejected(step, f"it cannot be replayed, and does not say so: {planned}")
        return NotReplayed(planned, value)
    if stated is not None:
        raise Rejected(step, "it says that it cannot be replayed, but it can")
    if not equal_closed(_measure(event, planned, budget, step), value, budget, step):
        raise Rejected(step, "the measure computed anew is another function")
    return Replayed(value)


def measure_anew(event: Event, budget: Budget) -> Closed | str:
    """The measure of an event, or why it is not measured. Raises Rejected past the budget."""
    planned = _plan(event, 1, Allowance(MOST_WORK_ANEW))
    if not isinstance(planned, str):
        return _measure(event, planned, budget, "measure")
    summed = of_one_sum(event, budget, "measure")
    if summed is not None:
        return summed, ONE
    mixed = len({noise.family is Family.DISCRETE_LAPLACE for noise in event.noises}) > 1
    return planned if mixed or len(event.noises) > MOST_NOISES else integrated(event, budget, "measure")


# --- planning --------------------------------------------------------------------------------------


def _plan(event: Event, terms: int, allowance: Allowance) -> _Plan | str:
    """The sweeps that measure the event, or why there are none."""
    if any(max(abs(x.numerator), x.denominator) >> MOST_BITS for x in numbers_of(event)):
        return f"its numbers have more than {MOST_BITS} bits"
    common = 1
    for x in numbers_of(event):
        common = lcm(common, x.denominator)
        if common >> MOST_COMMON_BITS:
            return f"the common denominator of its numbers has more than {MOST_COMMON_BITS} bits"
    whole = is_whole(event)
    work = 0
    plan: _Plan = []
    try:
        for conjunction in conjunctions(event):
            sweeps = [_sweepable(order, whole) for order in conjunction.orders]
            work += sum(found.work * max(terms, found.slopes) for found in sweeps)
            plan.append((conjunction.sign, sweeps))
    except NoOrder as none:
        return none.why
    if work > allowance.left:
        return "replaying it and those before it takes too much work"
    allowance.left -= work
    return plan


def _sweepable(order: Order, whole: bool) -> _Sweepable:
    found = _direction(order, order.below, False, whole, MOST_SETS)
    if found is not None and len(found.sets.lasts) <= 2 * len(order.below):
        return found
    most = MOST_SETS if found is None else len(found.sets.lasts) - 1
    found = _direction(order, reflected(order.below), True, whole, most) or found
    if found is None:
        raise NoOrder("its order has too many initial parts")
    return found


def _direction(order: Order, below: Below, upside_down: bool, whole: bool, most: int) -> _Sweepable | None:
    """The sets in one direction, None where they are more than `most`."""
    ranks: dict[int, int] = {}
    waiting = sorted(below)
    while waiting:
        free = [i for i in waiting if below[i] <= ranks.keys()]
        if not free:
            if whole:
                raise NoOrder("its integer noises are compared in a circle")
            free = waiting  # They would have to be equal: the sweep finds no greatest one, and the probability 0.
        ranks |= {i: len(ranks) + at for at, i in enumerate(free)}
        waiting = [i for i in waiting if i not in ranks]
    sets = downsets({ranks[i]: frozenset(ranks[j] for j in below[i]) for i in ranks}, most)
    return None if sets is None else _Sweepable(order, tuple(ranks), upside_down, sets)


def _density(variable: Variable, lengths: int, rates: Fraction, whole: bool) -> Density:
    rate = int(variable.rate * rates)
    return Density(
        rate,
        int(variable.mean * lengths),
        Fraction(1) if whole else rate * variable.factor,
        None if variable.low is None else int(variable.low * lengths),
        # The last integer is included: the density ends one further.
        None if variable.high is None else int(variable.high * lengths) + whole,
    )


# --- replaying -------------------------------------------------------------------------------------


def _measure(event: Event, plan: _Plan, budget: Budget, step: str) -> Closed:
    """The probability of the event."""
    whole = is_whole(event)
    total: Closed = {}, ONE
    for sign, sweeps in plan:
        part: Closed = constant(sign), ONE
        for found in sweeps:
            densities, unit = _on_integers(found, whole, step)
            value = Sweep(densities, found.sets, whole, budget, step).probability()
            above, below = _over_one_denominator(value, densities, whole, budget, step)
            part = multiply_closed(part, (_ring(above, unit), _ring(below, unit)), budget, step)
        total = add_closed(total, part, budget, step)
    return total


def _on_integers(found: _Sweepable, whole: bool, step: str) -> tuple[list[Density], Fraction]:
    """The densities by variable with integer rates and lengths, for an eps that is the second result times eps."""
    variables = [found.order.variable(i) for i in found.ranked]
    if found.reflected:
        variables = [variable.reflected() for variable in variables]
    lengths = lcm(*{p.denominator for v in variables for p in (v.mean, v.low, v.high) if p is not None})
    below = lcm(*{v.rate.denominator for v in variables})
    if lengths * below >> 16 * MOST_COMMON_BITS:
        raise Rejected(step, "on one scale the common denominator of its numbers is too long")
    rates = Fraction(below, gcd(*(int(v.rate * below) for v in variables)))
    return [_density(v, lengths, rates, whole) for v in variables], 1 / (lengths * rates)


def _over_one_denominator(value: Value, densities: list[Density], whole: bool, budget: Budget, step: str) -> _Parts:
    """Numerator and denominator of the value, for integers times the factor (1-r)/(1+r) of each density."""
    highest: dict[int, int] = {}
    by_poles: dict[Poles, _Terms] = {}
    for (k, q, poles), c in value.items():
        by_poles.setdefault(poles, {})[k, q] = c
        for d, m in poles:
            highest[d] = max(highest.get(d, 0), m)
    above: _Terms = {}
    for poles, part in by_poles.items():
        have = dict(poles)
        missing = [d for d, m in highest.items() for _ in range(m - have.get(d, 0))]
        for key, c in _multiplied(part, missing, -1, budget, step).items():
            above[key] = above.get(key, Fraction(0)) + c
    below = _multiplied({(0, 0): Fraction(1)}, [d for d, m in highest.items() for _ in range(m)], -1, budget, step)
    if whole:
        rates = [density.rate for density in densities]
        above, below = _multiplied(above, rates, -1, budget, step), _multiplied(below, rates, 1, budget, step)
    return above, below


def _multiplied(function: _Terms, rates: Iterable[int], sign: int, budget: Budget, step: str) -> _Terms:
    """The function times 1 + sign·e^{-rate·eps} for each of the rates."""
    for rate in rates:
        budget.spend(2 * len(function), step)
        result = dict(function)
        for (k, q), c in function.items():
            result[k, q - rate] = result.get((k, q - rate), Fraction(0)) + sign * c
        function = result
    return function


def _ring(terms: _Terms, unit: Fraction) -> Ring:
    """The function at unit·eps."""
    return {(k, q * unit): c * unit**k for (k, q), c in terms.items() if c}
