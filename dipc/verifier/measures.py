"""Probabilities of events over independent noises, computed anew in one of three ways.

The probability that one weighted sum of continuous noises lies in an interval, however many there are.

In units of eps the density of a sum is Σ c·X^n·e^{lX} on either side of 0, with rational c and l. With one more summand
that is one-sided, with the density a·e^{-aX} on X >= 0, it is the one bounded solution g of the linear differential
equation g + g'/a = f that is continuous at 0. Two solutions differ by one of the homogeneous equation, which is bounded
only if it is 0. A Laplace variable is the difference of two one-sided ones of its rate.

The probability of any few half-spaces: one noise after the other is integrated out, over rational polyhedra.

By the signs of the centered noises their absolute values Y >= 0 have densities without a kink. To integrate out one of
them, each of its lower bounds is in turn the greatest and each upper bound the least: on such a cell the integral runs
from an affine function of the others to another one, and the integrand stays a sum of terms

    c·eps^k·e^{q·eps}·Π Y_i^{n_i}·e^{l_i·Y_i}/poles.

Continuous noises are scaled by eps. Integer noises are not; their sums have the poles 1 - e^{-d·eps}, and where a bound
divides by more than 1 the others are split by their remainders, so that every bound is an integer. Cells meet in sets
of measure 0; for integers ties go to the bound listed first, so they do not meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, comb, gcd, lcm, prod

from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add,
    add_closed,
    constant,
    multiply_closed,
    subtract,
)
from dipc.verifier.noise import Event, Family, is_whole, numbers_of
from dipc.verifier.orders import (
    Below,
    Density,
    Downsets,
    NoOrder,
    Order,
    Sweep,
    Variable,
    conjunctions,
    downsets,
    geometric_sum,
    joined_poles,
    power_sum,
    reflected,
)
from dipc.verifier.reading import Budget, NotDerived, Rejected

_ZERO, _ONE = Fraction(0), Fraction(1)


# === sums ======================================================================================

#: Σ c·X^n·e^{lX} by (n, l).
_Part = dict[tuple[int, Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class _Density:
    """On X < 0 and on X > 0."""

    left: _Part
    right: _Part

    def reflected(self) -> _Density:
        """That of -X."""
        left, right = ({(n, -l): c * (-1) ** n for (n, l), c in part.items()} for part in (self.right, self.left))
        return _Density(left, right)


def of_one_sum(event: Event, budget: Budget, step: str) -> Ring | None:
    """The probability of the event where its constraints all bound one sum of continuous noises; None for others."""
    if not event.constraints or any(noise.family is Family.DISCRETE_LAPLACE for noise in event.noises):
        return None
    first = event.constraints[0].coefficients
    if first.keys() != set(range(len(event.noises))):
        return None
    lows: list[Fraction] = []
    highs: list[Fraction] = []
    shift = sum((c * event.noises[i].mean for i, c in first.items()), _ZERO)
    for constraint in event.constraints:
        ratio = constraint.coefficients.get(0, _ZERO) / first[0]
        if not ratio or constraint.coefficients != {i: ratio * c for i, c in first.items()}:
            return None
        # The sum of the centered noises is at least this, or at most.
        (lows if ratio > 0 else highs).append(-constraint.constant / ratio - shift)
    density: _Density | None = None
    for i, noise in enumerate(event.noises):
        density = _with(density, noise.rate / abs(first[i]), noise.family, first[i] > 0, budget, step)
    assert density is not None
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low >= high:
        return {}
    above = constant(1) if low is None else _tail(density, low)
    return above if high is None else subtract(above, _tail(density, high))


def _with(f: _Density | None, a: Fraction, family: Family, upward: bool, budget: Budget, step: str) -> _Density:
    """The density with one more summand of this rate, which is not negative where it is one-sided and `upward`."""
    if f is None:
        if family is Family.ONE_SIDED:
            one = _Density({}, {(0, -a): a})
            return one if upward else one.reflected()
        return _Density({(0, a): a / 2}, {(0, -a): a / 2})
    budget.spend(20 * (len(f.left) + len(f.right)) ** 2, step)
    if upward or family is not Family.ONE_SIDED:
        f = _one_sided(f, a)
    # Laplace noise is the difference of two that are one-sided.
    return f if family is Family.ONE_SIDED and upward else _one_sided(f.reflected(), a).reflected()


def _one_sided(f: _Density, a: Fraction) -> _Density:
    left, right = ({} if not part else _first_order(part, a) for part in (f.left, f.right))
    return _Density(left, _plus(right, -a, _value(left) - _value(right)))


def _plus(part: _Part, l: Fraction, c: Fraction) -> _Part:
    total = part.get((0, l), _ZERO) + c
    return {**part, (0, l): total}


def _value(part: _Part) -> Fraction:
    return sum((c for (n, _), c in part.items() if not n), _ZERO)


def _by_slope(part: _Part) -> dict[Fraction, dict[int, Fraction]]:
    found: dict[Fraction, dict[int, Fraction]] = {}
    for (n, l), c in part.items():
        found.setdefault(l, {})[n] = c
    return found


def _first_order(part: _Part, a: Fraction) -> _Part:
    """Some g with g + g'/a = f."""
    result: _Part = {}
    for l, given in _by_slope(part).items():
        degree = max(given)
        factor = 1 + l / a
        known: dict[int, Fraction] = {}
        if factor:
            for k in range(degree, -1, -1):
                known[k] = (given.get(k, _ZERO) - (k + 1) * known.get(k + 1, _ZERO) / a) / factor
        else:
            known = {k + 1: a * c / (k + 1) for k, c in given.items()}
        result |= {(k, l): c for k, c in known.items() if c}
    return result


def _tail(f: _Density, end: Fraction) -> Ring:
    """The probability of X >= end·eps."""
    if end < 0:
        return subtract(constant(1), _tail(f.reflected(), -end))
    total: Ring = {}
    for (n, l), c in f.right.items():
        # By parts; l < 0, so it vanishes at infinity.
        factor = -c / l
        for power in range(n, -1, -1):
            value = factor * end**power
            if value:
                total = add(total, {(power, l * end): value})
            factor *= Fraction(-power) / l
    return total


# === integration ===============================================================================

#: The most noises that are integrated out together.
MOST_NOISES = 6

#: Π (1 - e^{-d·eps})^m over pairs (d, m), sorted.
_Poles = tuple[tuple[Fraction, int], ...]

#: Powers and slopes by variable, k, q, poles.
_Key = tuple[tuple[int, ...], tuple[Fraction, ...], int, Fraction, _Poles]

_Integrand = dict[_Key, Fraction]

#: Σ coefficient·Y + constant >= 0, where continuous Y are in units of eps.
_Row = tuple[tuple[Fraction, ...], Fraction]


def integrated(event: Event, budget: Budget, step: str) -> Closed:
    """The probability of the event, whose noises are all continuous or all integers. Raises Rejected past the budget,
    NotDerived where it fails."""
    whole = is_whole(event)
    count = len(event.noises)
    solver = _Solver(count, whole, budget, step)
    total: _Integrand = {}
    for signs in product((1, -1), repeat=count):
        if any(s < 0 and n.family is Family.ONE_SIDED for s, n in zip(signs, event.noises, strict=True)):
            continue
        factor = Fraction(1)
        rows: list[_Row] = []
        for i, noise in enumerate(event.noises):
            # 0 counts as positive, so the others begin at 1 where they are integers.
            least = Fraction(-1) if whole and signs[i] < 0 else _ZERO
            rows.append((tuple(Fraction(i == j) for j in range(count)), least))
            if not whole:
                factor *= noise.rate if noise.family is Family.ONE_SIDED else noise.rate / 2
        for constraint in event.constraints:
            given = [constraint.coefficients.get(i, _ZERO) for i in range(count)]
            shift = sum((c * n.mean for c, n in zip(given, event.noises, strict=True)), constraint.constant)
            rows.append((tuple(c * s for c, s in zip(given, signs, strict=True)), shift))
        slopes = tuple(-noise.rate for noise in event.noises)
        density: _Integrand = {((0,) * count, slopes, 0, _ZERO, ()): factor}
        for key, c in solver.over(density, rows, tuple(range(count))).items():
            _increase(total, key, c)
    return _closed(total, [noise.rate for noise in event.noises] if whole else [], budget, step)


@dataclass(frozen=True, slots=True)
class _Solver:
    count: int
    whole: bool
    budget: Budget
    step: str

    def over(self, integrand: _Integrand, rows: Sequence[_Row], left: tuple[int, ...]) -> _Integrand:
        """The integral over the variables that are left, where all rows hold."""
        known = self._normal(rows)
        if known is None or not integrand:
            return {}
        if not left:
            return integrand
        choice = min(left, key=lambda v: self._cases(known, v))
        rest = tuple(v for v in left if v != choice)
        total: _Integrand = {}
        for f, cell in self._whole_bounds(integrand, known, choice, rest):
            for key, c in self._without(f, cell, choice, rest).items():
                _increase(total, key, c)
        return total

    def _normal(self, rows: Sequence[_Row]) -> list[_Row] | None:
        """The rows that say something, each with coprime integers; None where they cannot all hold, but for a set of
        measure 0."""
        found: dict[tuple[Fraction, ...], Fraction] = {}
        for coefficients, offset in rows:
            if not any(coefficients):
                if offset < 0:
                    return None
                continue
            unit = lcm(*(c.denominator for c in coefficients))
            common = gcd(*(int(c * unit) for c in coefficients))
            scale = Fraction(unit, common)
            form = tuple(c * scale for c in coefficients)
            least = offset * scale
            if self.whole:
                least = Fraction(least.numerator // least.denominator)
            if form not in found or least < found[form]:
                found[form] = least
        self.budget.spend(8 * len(rows), self.step)
        for form, offset in found.items():
            opposite = found.get(tuple(-c for c in form))
            if opposite is not None and (offset + opposite < 0 or (not self.whole and offset + opposite == 0)):
                return None
        return list(found.items())

    @staticmethod
    def _cases(rows: list[_Row], v: int) -> tuple[int, int]:
        above = [row[0][v] for row in rows if row[0][v] > 0]
        below = [row[0][v] for row in rows if row[0][v] < 0]
        return lcm(*(c.numerator for c in above + below)), len(above) * max(1, len(below))

    def _whole_bounds(
        self, f: _Integrand, rows: list[_Row], v: int, rest: tuple[int, ...]
    ) -> Iterator[tuple[_Integrand, list[_Row]]]:
        """The integrand and rows by remainders of the other variables, so that all bounds of v are integers."""
        unit = lcm(*(abs(row[0][v].numerator) for row in rows if row[0][v]))
        if not self.whole or unit == 1:
            yield f, rows
            return
        used = [j for j in rest if any(row[0][v] and row[0][j] for row in rows)]
        for remainders in product(range(unit), repeat=len(used)):
            self.budget.spend(20 * len(rows) * self.count, self.step)
            given = dict(zip(used, remainders, strict=True))
            moved: list[_Row] = []
            for form, offset in rows:
                shift = offset + sum((form[j] * r for j, r in given.items()), _ZERO)
                moved.append((tuple(c * unit if j in given else c for j, c in enumerate(form)), shift))
            g = f
            for j, r in given.items():
                line = tuple(Fraction(unit if i == j else 0) for i in range(self.count))
                g = self._substituted(g, j, line, Fraction(r))
            yield g, [self._rounded(row, v) for row in moved]

    def _rounded(self, row: _Row, v: int) -> _Row:
        """The row with coefficient 1 or -1 at v, where its other coefficients are multiples of that."""
        size = abs(row[0][v])
        if not size:
            return row
        return tuple(c / size for c in row[0]), Fraction(-ceil(-row[1] / size))

    def _without(self, f: _Integrand, rows: list[_Row], v: int, rest: tuple[int, ...]) -> _Integrand:
        """Integrate out v."""
        free = [row for row in rows if not row[0][v]]
        lows, highs = (
            list(dict.fromkeys(self._bound(row, v) for row in rows if row[0][v] * side > 0)) for side in (1, -1)
        )
        total: _Integrand = {}
        for at, low in enumerate(lows):
            lower = [self._least(low, other, number < at) for number, other in enumerate(lows) if number != at]
            for upper, high in enumerate(highs) if highs else ((0, None),):
                cell = [*free, *lower]
                if high is not None:
                    for number, other in enumerate(highs):
                        if number != upper:
                            cell.append(self._least(other, high, number < upper))
                    cell.append(self._least(high, low, False))
                for key, c in self.over(self._between(f, v, low, high), cell, rest).items():
                    _increase(total, key, c)
        return total

    @staticmethod
    def _bound(row: _Row, v: int) -> _Row:
        """The affine function that bounds v."""
        size = -row[0][v]
        return tuple(_ZERO if j == v else c / size for j, c in enumerate(row[0])), row[1] / size

    def _least(self, one: _Row, other: _Row, strict: bool) -> _Row:
        """one >= other, > for `strict` integers."""
        return (
            tuple(a - b for a, b in zip(one[0], other[0], strict=True)),
            one[1] - other[1] - (1 if strict and self.whole else 0),
        )

    def _between(self, f: _Integrand, v: int, low: _Row, high: _Row | None) -> _Integrand:
        """The integral over v from `low` to `high`, None for infinity."""
        grown: _Integrand = {}
        for (powers, slopes, k, q, poles), c in f.items():
            n, l = powers[v], slopes[v]
            if high is None and l >= 0:
                raise NotDerived("an integrand does not decay")
            for power, shift, factor, more in self._primitive(n, l):
                key = (_put(powers, v, power), slopes, k, q + shift, joined_poles(poles, more))
                _increase(grown, key, c * factor)
        self.budget.spend(10 * len(grown), self.step)
        result: _Integrand = {}
        if high is not None:
            # A sum up to and including the bound.
            end = high[1] + 1 if self.whole else high[1]
            for key, c in self._substituted(grown, v, high[0], end).items():
                _increase(result, key, c)
        for key, c in self._substituted(grown, v, low[0], low[1]).items():
            _increase(result, key, -c)
        return result

    def _primitive(self, n: int, l: Fraction) -> Iterator[tuple[int, Fraction, Fraction, _Poles]]:
        """An integral of Y^n·e^{lY} that vanishes at infinity for l < 0, as terms Y^power·e^{lY} with factors: for
        integers a sum up to Y - 1."""
        if self.whole:
            if not l:
                for power, factor in power_sum(n):
                    yield power, _ZERO, factor, ()
                return
            for power, shift, order, times in geometric_sum(n, l > 0):
                yield power, -shift * abs(l), Fraction(times), ((abs(l), order),)
            return
        if not l:
            yield n + 1, _ZERO, Fraction(1, n + 1), ()
            return
        factor = 1 / l
        for power in range(n, -1, -1):
            yield power, _ZERO, factor, ()
            factor *= -power / l

    def _substituted(self, f: _Integrand, v: int, line: tuple[Fraction, ...], constant: Fraction) -> _Integrand:
        """f with line·Y + constant in place of Y_v."""
        parts = [(j, c) for j, c in enumerate(line) if c]
        result: _Integrand = {}
        for (powers, slopes, k, q, poles), c in f.items():
            l = slopes[v]
            moved = list(slopes)
            moved[v] = _ZERO
            for j, d in parts:
                moved[j] += l * d
            base = _put(powers, v, 0)
            for more, raised, factor in self._expanded(parts, constant, powers[v]):
                total = tuple(a + b for a, b in zip(base, more, strict=True))
                _increase(result, (total, tuple(moved), k + raised, q + l * constant, poles), c * factor)
        self.budget.spend(12 * len(result) + 6 * len(f), self.step)
        return result

    def _expanded(
        self, parts: Sequence[tuple[int, Fraction]], constant: Fraction, power: int
    ) -> Iterator[tuple[tuple[int, ...], int, Fraction]]:
        """(Σ parts + constant)^power as powers of the variables, the power of eps, and a factor."""
        if not parts:
            if constant or not power:
                yield (0,) * self.count, 0 if self.whole else power, constant**power
            return
        (j, c), rest = parts[0], parts[1:]
        for own in range(power + 1):
            for more, raised, factor in self._expanded(rest, constant, power - own):
                yield _put(more, j, own), raised, comb(power, own) * c**own * factor


def _put(items: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*items[:at], value, *items[at + 1 :])


def _increase(f: _Integrand, key: _Key, c: Fraction) -> None:
    total = f.get(key, _ZERO) + c
    if total:
        f[key] = total
    else:
        f.pop(key, None)


def _closed(total: Mapping[_Key, Fraction], rates: Sequence[Fraction], budget: Budget, step: str) -> Closed:
    """The sum over one denominator, times (1 - r)/(1 + r) for the rate of each integer noise."""
    highest: dict[Fraction, int] = {}
    parts: dict[_Poles, Ring] = {}
    for (_, slopes, k, q, poles), c in total.items():
        assert not any(slopes), "all variables are integrated out"
        part = parts.setdefault(poles, {})
        part[k, q] = part.get((k, q), _ZERO) + c
        for d, m in poles:
            highest[d] = max(highest.get(d, 0), m)

    def times(f: Ring, d: Fraction, sign: int) -> Ring:
        """f·(1 + sign·e^{-d·eps})."""
        budget.spend(2 * len(f), step)
        return add(f, {(k, q - d): sign * c for (k, q), c in f.items()})

    above: Ring = {}
    for poles, part in parts.items():
        have = dict(poles)
        f = {key: c for key, c in part.items() if c}
        for d, m in highest.items():
            for _ in range(m - have.get(d, 0)):
                f = times(f, d, -1)
        for key, c in f.items():
            above[key] = above.get(key, _ZERO) + c
    above = {key: c for key, c in above.items() if c}
    below = ONE
    left = dict(highest)
    for rate in rates:
        below = times(below, rate, 1)
        if left.get(rate):
            left[rate] -= 1
        else:
            above = times(above, rate, -1)
    for d, m in left.items():
        for _ in range(m):
            below = times(below, d, -1)
    return above, below


# === measure ===================================================================================

#: The most sets that one sweep looks at, bits of a number of the event and of the common denominator of all of them.
MOST_SETS = 1_000
MOST_BITS = 256
MOST_COMMON_BITS = 1_024

#: The work of one measure, sets times variables times terms; what is really done is counted by the budget.
MOST_WORK = 250_000_000


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


#: The orders of each conjunction, with its sign.
_Plan = list[tuple[int, list[_Sweepable]]]


def measure_anew(event: Event, budget: Budget) -> Closed | str:
    """The measure of an event, or why it is not measured. Raises Rejected past the budget."""
    planned = _plan(event)
    if not isinstance(planned, str):
        return _measure(event, planned, budget, "measure")
    summed = of_one_sum(event, budget, "measure")
    if summed is not None:
        return summed, ONE
    mixed = len({noise.family is Family.DISCRETE_LAPLACE for noise in event.noises}) > 1
    return planned if mixed or len(event.noises) > MOST_NOISES else integrated(event, budget, "measure")


# --- planning --------------------------------------------------------------------------------------


def _plan(event: Event) -> _Plan | str:
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
            work += sum(found.work * found.slopes for found in sweeps)
            plan.append((conjunction.sign, sweeps))
    except NoOrder as none:
        return none.why
    return plan if work <= MOST_WORK else "it takes too much work"


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


# --- sweeping --------------------------------------------------------------------------------------


def _measure(event: Event, plan: _Plan, budget: Budget, step: str) -> Closed:
    """The probability of the event."""
    whole = is_whole(event)
    total: Closed = {}, ONE
    for sign, sweeps in plan:
        part: Closed = constant(sign), ONE
        for found in sweeps:
            densities, unit = _on_integers(found, whole, step)
            value = Sweep(densities, found.sets, whole, budget, step).probability()
            # At unit·eps.
            terms: _Integrand = {
                ((), (), k, q * unit, tuple((d * unit, m) for d, m in poles)): c * unit**k
                for (k, q, poles), c in value.items()
            }
            rates = [density.rate * unit for density in densities] if whole else []
            part = multiply_closed(part, _closed(terms, rates, budget, step), budget, step)
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
