"""The probability of any few half-spaces: one noise after the other is integrated out, over rational polyhedra.

By the signs of the centered noises their absolute values Y >= 0 have densities without a kink. To integrate out one of
them, each of its lower bounds is in turn the greatest and each upper bound the least: on such a cell the integral runs
from an affine function of the others to another one, and the integrand stays a sum of terms

    c·eps^k·e^{q·eps}·Π Y_i^{n_i}·e^{l_i·Y_i}/poles.

Continuous noises are scaled by eps. Integer noises are not; their sums have the poles 1 - e^{-d·eps}, and where a bound
divides by more than 1 the others are split by their remainders, so that every bound is an integer. Cells meet in sets
of measure 0; for integers ties go to the bound listed first, so they do not meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, comb, gcd, lcm

from dipc.verifier.budget import Budget
from dipc.verifier.events import Event, Family, is_whole
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, Ring, multiply
from dipc.verifier.sweep import geometric_sum, joined_poles, power_sum

#: The most noises that are integrated out together.
MOST_NOISES = 6

#: Π (1 - e^{-d·eps})^m over pairs (d, m), sorted.
_Poles = tuple[tuple[Fraction, int], ...]

#: Powers and slopes by variable, k, q, poles.
_Key = tuple[tuple[int, ...], tuple[Fraction, ...], int, Fraction, _Poles]

_Integrand = dict[_Key, Fraction]

#: Σ coefficient·Y + constant >= 0, where continuous Y are in units of eps.
_Row = tuple[tuple[Fraction, ...], Fraction]

_ZERO = Fraction(0)


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
        if len(left) > 1 and self._is_empty(known, left):
            return {}
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
        for coefficients, constant in rows:
            if not any(coefficients):
                if constant < 0:
                    return None
                continue
            unit = lcm(*(c.denominator for c in coefficients))
            common = gcd(*(int(c * unit) for c in coefficients))
            scale = Fraction(unit, common)
            form = tuple(c * scale for c in coefficients)
            least = constant * scale
            if self.whole:
                least = Fraction(least.numerator // least.denominator)
            if form not in found or least < found[form]:
                found[form] = least
        self.budget.spend(8 * len(rows), self.step)
        for form, constant in found.items():
            opposite = found.get(tuple(-c for c in form))
            if opposite is not None and (constant + opposite < 0 or (not self.whole and constant + opposite == 0)):
                return None
        return list(found.items())

    def _is_empty(self, rows: list[_Row], left: tuple[int, ...]) -> bool:
        """True only if the rows hold on a set of measure 0, or for no integers (Fourier and Motzkin)."""
        for at, v in enumerate(left):
            above = [row for row in rows if row[0][v] > 0]
            below = [row for row in rows if row[0][v] < 0]
            if len(above) * len(below) > 200:
                return False
            joined = [row for row in rows if not row[0][v]]
            for one in above:
                for other in below:
                    a, b = one[0][v], -other[0][v]
                    form = tuple(b * c + a * d for c, d in zip(one[0], other[0], strict=True))
                    constant = b * one[1] + a * other[1]
                    if not any(form) and not constant and not self.whole:
                        return True
                    joined.append((form, constant))
            found = self._normal(joined)
            if found is None:
                return True
            rows = found
            if at > 3 or len(rows) > 60:
                return False
        return False

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
            for form, constant in rows:
                shift = constant + sum((form[j] * r for j, r in given.items()), _ZERO)
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
                if len(rest) > 1 and ((known := self._normal(cell)) is None or self._is_empty(known, rest)):
                    continue
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
        return multiply(f, {(0, _ZERO): Fraction(1), (0, -d): Fraction(sign)}, budget, step)

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
