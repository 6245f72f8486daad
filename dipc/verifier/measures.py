"""The probability of half-spaces over independent noises, computed again by integrating out one noise after the other.

    measure_anew(laws, halfspaces, budget)     a closed form, or the reason why there is none

A *function* is a sum of pieces. Each piece is the indicator of a cell of half-spaces, times terms

    c·eps^k·e^{q·eps}·Π Y^n·e^{l·Y}/poles.

The density of a noise has one piece on each side of its mean. A *factor* is a function of some variables. The
probability is the integral of the product of all densities and half-spaces.

To integrate out a variable, the factors that contain it are multiplied. Each cell is divided so that one of the lower
bounds of the variable is the greatest, and one of its upper bounds the least. There the integral runs from one affine
function of the other variables to another, and its value is a function of them.

Noises that occur in all half-spaces with coefficients in one proportion are first replaced by their sum. The density of
the sum is such an integral, too. So a star of comparisons, a sum of noises and a few connected half-spaces are all
treated alike.

Coefficients are integers over one denominator for each factor, as sums of integers are much faster than sums of
fractions. Terms with the same Π Y^n·e^{l·Y} stand together, since a variable is integrated out of all of them alike.

Continuous Y are in units of eps, integers are not. Sums over integers have the poles 1 - e^{-d·eps}. If a bound divides
by more than 1, the other variables are split by their remainders, so that every bound is an integer. Cells of reals
meet in sets of measure 0. The density of a bounded noise is integrated times its normalizer, by which the result is
divided. For integers, ties belong to the bound listed first, so that cells are disjoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb, gcd, lcm

from dipc.verifier.execution import Form, NoiseHalfspace, Number, plain
from dipc.verifier.functions import ONE, Closed, Ring, add, by_direction, multiply
from dipc.verifier.noise import Bounded, Family, Law, NoiseFamily, Normal
from dipc.verifier.reading import Budget, NotDerived

#: The most bits of a number of an event, and of the common denominator of its numbers.
MOST_BITS = 256
MOST_COMMON_BITS = 1_024

#: The most variables that may share a factor with a variable when it is integrated out.
MOST_NEIGHBORS = 5

#: The steps for one term, without poles and with poles.
_STEPS, _WHOLE_STEPS = 2, 6

#: The steps for one choice of remainders, and for one half-space.
_STEPS_OF_A_SPLIT, _STEPS_OF_A_ROW = 10, 15

_ZERO = Fraction(0)

#: The factors Y^n·e^{l·Y} of a product as (variable, n, l), sorted, without factors that are 1.
_Monomial = tuple[tuple[int, int, Number], ...]

#: The pairs (d, m) of a product Π (1 - e^{-d·eps})^m, sorted.
_Poles = tuple[tuple[Number, int], ...]

#: The integer c of each term c·eps^k·e^{q·eps}/poles of a sum, by (k, q, poles).
_Coefficient = dict[tuple[int, Number, _Poles], int]

#: The coefficient of each monomial of a sum.
_Terms = dict[_Monomial, _Coefficient]

#: The same as a `_Coefficient` over the rationals, the value of an integral over all variables.
_Total = dict[tuple[int, Number, _Poles], Fraction]

#: A half-space Σ form + constant >= 0 with coprime integers, and a cell: an intersection of half-spaces.
_Row = tuple[Form, Number]
_Cell = frozenset[_Row]

#: The terms of a function on each cell; where cells overlap, the function is their sum.
_Pieces = dict[_Cell, _Terms]

#: A term c·Y^n·e^{shift·eps}·e^{lY}/poles of an antiderivative of some Y^m·e^{lY}, as (n, shift, c, poles).
_Primitive = tuple[int, Number, Number, _Poles]

#: An affine function: pairs (variable, coefficient), and a constant.
_Line = tuple[tuple[tuple[int, Number], ...], Number]

_NOTHING: _Monomial = ()
_EVERYWHERE: _Cell = frozenset()
_ONE: _Terms = {_NOTHING: {(0, 0, ()): 1}}


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    variables: frozenset[int]
    pieces: _Pieces
    unit: int = 1

    @property
    def length(self) -> int:
        return sum(_length(f) for f in self.pieces.values())


#: The coefficients of a half-space by noise, none of which is 0, and its constant.
Halfspace = tuple[Sequence[tuple[int, Number]], Number]


def measure_anew(laws: Sequence[Law], halfspaces: Sequence[Halfspace], budget: Budget) -> Closed | str:
    """Return the probability that all `halfspaces` hold for independent noises with `laws`, or why it is not computed.

    `laws` are listed by the number of the noise. Charges its work to `budget`, and raises Exhausted if it does not
    suffice.
    """
    try:
        return _measured(laws, halfspaces, budget)
    except NotDerived as error:
        return error.why


def _measured(laws: Sequence[Law], halfspaces: Sequence[Halfspace], budget: Budget) -> Closed:
    numbers = [rate for _, rate in laws]
    bounded = [(family, rate) for family, rate in laws if isinstance(family, Bounded)]
    numbers += [end for family, _ in bounded for end in (family.low, family.high)]
    for form, constant in halfspaces:
        numbers += [Fraction(constant), *(Fraction(c) for _, c in form)]
    if any(max(abs(x.numerator), x.denominator) >> MOST_BITS for x in numbers):
        raise NotDerived(f"the numbers in a probability have more than {MOST_BITS} bits")
    if any(isinstance(family, Normal) for family, _ in laws):
        raise NotDerived("probabilities of Gaussian noise have no closed form")
    kinds = {family is Family.DISCRETE_LAPLACE for family, _ in laws}
    if len(kinds) > 1:
        raise NotDerived("one event compares integer and continuous noise")
    whole = kinds == {True}
    if any(not form and constant < 0 for form, constant in halfspaces):
        return {}, ONE
    halves = [
        NoiseHalfspace.from_terms({i: Fraction(c) for i, c in form}, Fraction(constant), whole)
        for form, constant in halfspaces
        if form
    ]
    used = {i: laws[i] for i in sorted({i for row in halves for i, _ in row.form})}
    # With these factors lengths and rates are integers; `unit`·eps replaces eps.
    ends = [end for family, _ in used.values() if isinstance(family, Bounded) for end in (family.low, family.high)]
    lengths = _common((*(row.constant.denominator for row in halves), *(end.denominator for end in ends)))
    rates = _common(rate.denominator for _, rate in used.values())
    unit = Fraction(1, lengths * rates)
    rows = [(row.form, plain(row.constant * lengths)) for row in halves]
    elimination = _Elimination(whole, budget, Fraction(lengths), Fraction(rates))
    numerators: dict[_Poles, Ring] = {}
    for (k, q, scaled), c in elimination.integral(used, rows).items():
        poles = tuple([(d * unit, m) for d, m in scaled])
        # A new fraction is faster than a product with one.
        rate = Fraction(q, unit.denominator) if isinstance(q, int) else q * unit
        numerators.setdefault(poles, {})[k, rate] = c * unit**k if k else c
    above, below = _closed(numerators, [rate for _, rate in used.values()] if whole else [], budget)
    for family, rate in used.values():
        if isinstance(family, Bounded):
            below = multiply(below, family.normalizer(rate), budget)
    return above, below


def _common(denominators: Iterable[int]) -> int:
    multiple = 1
    for denominator in denominators:
        multiple = lcm(multiple, denominator)
        if multiple >> MOST_COMMON_BITS:
            raise NotDerived(
                f"the common denominator of the numbers in a probability has more than {MOST_COMMON_BITS} bits"
            )
    return multiple


# === elimination ===============================================================================


@dataclass(frozen=True, slots=True)
class _Elimination:
    """An integration over variables that are all continuous, or all integers (`whole`), one variable after the other.

    All lengths are multiplied by `lengths` and all rates by `rates`, which makes them integers.
    """

    whole: bool
    budget: Budget
    lengths: Fraction
    rates: Fraction

    def integral(self, laws: Mapping[int, Law], rows: Sequence[_Row]) -> _Total:
        own = {i: self._density(i, *law) for i, law in laws.items()}
        densities = {**own}
        left = self._with_sums(densities, rows)
        factors: list[_Factor] = []
        for row, members in self._alike(left, {i: laws[i] for i, density in densities.items() if density is own[i]}):
            message = self._integrated(members[0], self._product(own[members[0]], self._indicator(row)))
            factors.append(self._power(self._refined(message), len(members)))
            for i in members:
                del densities[i]
        left = [row for row in left if all(i in densities for i, _ in row[0])]
        factors += [*densities.values(), *map(self._indicator, left)]
        return self._product_integral(factors, frozenset(densities))

    def _alike(self, rows: Sequence[_Row], laws: Mapping[int, Law]) -> list[tuple[_Row, list[int]]]:
        """Return groups of noises whose integrals are equal functions of one other noise.

        The noises of a group have the same law. Each occurs in only one of `rows`, which compares it with the same
        other noise in the same way. Each group is (the half-space of its first noise, its noises). `laws` has the laws
        by number.
        """
        about: dict[int, list[_Row]] = {}
        for row in rows:
            for i, _ in row[0]:
                about.setdefault(i, []).append(row)
        groups: dict[object, tuple[_Row, list[int]]] = {}
        for i, law in laws.items():
            match about.get(i):
                case [((one, two), constant) as row]:
                    (_, a), other = (one, two) if one[0] == i else (two, one)
                    if not self.whole or abs(a) == 1:
                        groups.setdefault((law, a, other, constant), (row, []))[1].append(i)
        return [(row, members) for row, members in groups.values() if len(members) > 1]

    def _indicator(self, row: _Row) -> _Factor:
        cell = self._cell([self._row(dict(row[0]), row[1])])
        return _Factor(frozenset(i for i, _ in row[0]), {} if cell is None else {cell: _ONE})

    def _power(self, factor: _Factor, exponent: int) -> _Factor:
        if exponent == 1:
            return factor
        half = self._power(factor, exponent // 2)
        square = self._product(half, half)
        return self._product(square, factor) if exponent % 2 else square

    def _density(self, i: int, family: NoiseFamily, rate: Fraction) -> _Factor:
        """Return the density of noise `i` of the law `family` with `rate`; of bounded noise, times its normalizer."""
        windows: list[tuple[Fraction | None, Fraction | None, Fraction, Fraction]]
        if isinstance(family, Bounded):
            windows = [*family.windows(rate)]
        else:
            size = Fraction(1) if self.whole else rate / (1 if family is Family.ONE_SIDED else 2)
            windows = [(_ZERO, None, size, -rate)]
            if family is not Family.ONE_SIDED:
                # 0 belongs to the piece above; the piece of integers below ends at -1.
                windows.append((None, Fraction(-int(self.whole)), size, rate))
        pieces: _Pieces = {}
        scale = 1 if self.whole else self.rates
        unit = lcm(*((c * scale).denominator for _, _, c, _ in windows))
        for low, high, c, slope in windows:
            ends = [] if low is None else [(((i, 1),), -plain(low * self.lengths))]
            ends += [] if high is None else [(((i, -1),), plain(high * self.lengths))]
            tilt = plain(slope * self.rates)
            pieces[frozenset(ends)] = {((i, 0, tilt),) if tilt else (): {(0, 0, ()): int(c * scale * unit)}}
        return _Factor(frozenset([i]), pieces, unit)

    def _with_sums(self, densities: dict[int, _Factor], rows: Sequence[_Row]) -> list[_Row]:
        """Return `rows` with one noise in place of each group of noises whose coefficients are proportional.

        If Y_j always occurs with q times the coefficient of Y_i, then Y_i + q·Y_j replaces both. The new noise keeps
        the index i in the half-spaces `rows`, and its density replaces those of both in `densities`. If noises are
        integers, only q = 1 and q = -1 are accepted.
        """
        gone: set[int] = set()
        for members in by_direction(form for form, _ in rows).values():
            (i, size), *others = sorted(members, key=lambda member: abs(member[1]))
            for j, c in others:
                ratio = Fraction(c, size)
                if self.whole and abs(ratio) != 1:
                    continue
                own = self._replaced(densities[i], i, (((i, 1), (j, plain(-ratio))), 0))
                densities[i] = self._integrated(j, self._product(own, densities.pop(j)))
                gone.add(j)
        return [(tuple((i, a) for i, a in form if i not in gone), constant) for form, constant in rows]

    def _product_integral(self, factors: Sequence[_Factor], variables: frozenset[int]) -> _Total:
        """Return the integral of the product of all `factors` over all `variables`.

        The variable that shares factors with the fewest others is integrated over first; of several, the one whose
        factors have the fewest terms. Raises NotDerived if a variable shares factors with too many others.
        """
        about: dict[int, set[_Factor]] = {v: set() for v in variables}
        near: dict[int, set[int]] = {v: set() for v in variables}
        total = one = _Factor(frozenset(), {_EVERYWHERE: _ONE})
        for factor in factors:
            if not factor.variables:
                total = self._product(total, factor)
            for v in factor.variables:
                about[v].add(factor)
                near[v] |= factor.variables - {v}
        while about:
            v = min(
                about,
                key=lambda i: (self._unit(about[i], i), len(near[i]), sum(factor.length for factor in about[i]), i),
            )
            self.budget.spend(10 + len(about))
            if len(near[v]) > MOST_NEIGHBORS:
                raise NotDerived(
                    f"a noise is compared with more than {MOST_NEIGHBORS} noises that are compared with each other"
                )
            mine = sorted(about.pop(v), key=lambda factor: len(factor.pieces))
            own = one
            for factor in mine:
                own = self._product(own, factor)
            unit = self._unit([own], v)
            if unit > 1:
                others = sorted(
                    {i for cell in own.pieces for form, _ in cell if v in dict(form) for i, _ in form if i != v}
                )
                rest = {factor for known in about.values() for factor in known} - {*mine}
                # Each choice of remainders takes some steps, and `product` keeps all choices in memory.
                self.budget.spend(_STEPS_OF_A_SPLIT * unit * max(1, len(others)))
                self.budget.spend(_STEPS_OF_A_SPLIT * unit ** len(others))
                sums: _Total = {}
                for remainders in product(range(unit), repeat=len(others)):
                    moved = [own, total, *rest]
                    for j, r in zip(others, remainders, strict=True):
                        moved = [
                            self._replaced(factor, j, (((j, unit),), r)) if j in factor.variables else factor
                            for factor in moved
                        ]
                    for key, c in self._product_integral(moved, frozenset({v, *about})).items():
                        sums[key] = sums.get(key, _ZERO) + c
                return {key: c for key, c in sums.items() if c}
            made = self._refined(self._integrated(v, own))
            for u in near.pop(v):
                about[u] -= {*mine}
                about[u].add(made)
                near[u] |= made.variables
                near[u] -= {u, v}
            if not made.variables:
                total = self._product(total, made)
        value = total.pieces.get(_EVERYWHERE, {}).get(_NOTHING, {})
        return {key: Fraction(c, total.unit) for key, c in value.items()}

    def _unit(self, factors: Iterable[_Factor], v: int) -> int:
        """Return a number n: the bounds of the integer variable `v` in its integral are multiples of 1/n.

        It is the least common multiple of the coefficients of `v` in the half-spaces of `factors`. For real variables,
        the result is 1.
        """
        if not self.whole:
            return 1
        rows = (form for factor in factors for cell in factor.pieces for form, _ in cell)
        return lcm(*{abs(a) for form in rows for i, a in form if i == v})

    # --- cells ------------------------------------------------------------------------------------

    def _cell(self, rows: Iterable[_Row]) -> _Cell | None:
        """Return the cell of the points in all half-spaces `rows`, without redundant half-spaces.

        Return None if the cell is proved to have measure 0.
        """
        least: dict[Form, Number] = {}
        for form, constant in rows:
            if not form:
                if constant < 0:
                    return None
            elif form not in least or constant < least[form]:
                least[form] = constant
        for form, constant in least.items():
            opposite = least.get(tuple([(i, -a) for i, a in form]))
            if opposite is not None and (constant + opposite < 0 or (not self.whole and constant + opposite == 0)):
                return None
        return frozenset(least.items())

    def _row(self, terms: Mapping[int, Number], constant: Number) -> _Row:
        if not any(terms.values()):
            return (), constant
        halfspace = NoiseHalfspace.from_terms(
            {i: Fraction(c) for i, c in terms.items() if c}, Fraction(constant), self.whole
        )
        return halfspace.form, halfspace.constant

    def _product(self, one: _Factor, other: _Factor) -> _Factor:
        bits = _bits(one) + _bits(other)
        rationals = _rationals(one) + _rationals(other)
        result: _Pieces = {}
        for cell, f in one.pieces.items():
            for limits, g in other.pieces.items():
                self.budget.spend(4 + 2 * (len(cell) + len(limits)))
                both = self._cell((*cell, *limits))
                if both is not None:
                    self._spend(_length(f) * _length(g), bits, rationals)
                    _collect(result, both, _times(f, g))
        return _factor(one.variables | other.variables, result, one.unit * other.unit)

    def _refined(self, factor: _Factor) -> _Factor:
        """Return a function equal to `factor` whose cells do not overlap.

        Only functions of one variable are changed; others are returned as they are.
        """
        variables = {i for cell in factor.pieces for form, _ in cell for i, _ in form}
        if len(variables) != 1 or len(factor.pieces) == 1:
            return factor
        (v,) = variables
        upward, downward = ((v, 1),), ((v, -1),)
        ends: list[tuple[Number | None, Number | None, _Terms]] = []
        for cell, f in factor.pieces.items():
            known = dict(cell)
            low = -known[upward] if upward in known else None
            # The upper end is one beyond the last integer.
            ends.append((low, known[downward] + self.whole if downward in known else None, f))
        points = sorted({end for low, high, _ in ends for end in (low, high) if end is not None})
        result: _Pieces = {}
        for left, right in pairwise([None, *points, None]):
            rows: list[_Row] = [] if left is None else [(upward, -left)]
            rows += [] if right is None else [(downward, right - self.whole)]
            for low, high, f in ends:
                if (low is None or (left is not None and low <= left)) and (
                    high is None or (right is not None and right <= high)
                ):
                    self.budget.spend(_length(f))
                    _collect(result, frozenset(rows), f)
        return _factor(factor.variables, result, factor.unit)

    # --- one variable -----------------------------------------------------------------------------

    def _integrated(self, v: int, factor: _Factor) -> _Factor:
        limited = []
        lines: set[_Line] = set()
        for cell, f in factor.pieces.items():
            rest: list[_Row] = []
            lows: dict[_Line, None] = {}
            highs: dict[_Line, None] = {}
            for form, constant in sorted(cell):
                size = next((a for i, a in form if i == v), 0)
                if not size:
                    rest.append((form, constant))
                    continue
                line = tuple([(i, _quotient(-a, size)) for i, a in form if i != v]), _quotient(-constant, size)
                (lows if size > 0 else highs)[line] = None
            limited.append((f, rest, lows, highs))
            lines |= {*lows, *highs}
        powers = {_power(monomial, v) for f in factor.pieces.values() for monomial in f}
        primitives = {power: [*self._integrals(*power)] for power in powers}
        divisor = lcm(*(c.denominator for primitive in primitives.values() for _, _, c, _ in primitive))
        self._spend(2 * factor.length, _bits(factor) + divisor.bit_length(), _rationals(factor))
        scale = _scale(lines, max((n for primitive in primitives.values() for n, _, _, _ in primitive), default=0))
        result: _Pieces = {}
        for f, rest, lows, highs in limited:
            grown = _primitive(f, v, primitives, divisor)
            for (low, below), (high, above) in product(self._extreme(lows, 1), self._extreme(highs, -1)):
                self.budget.spend(_STEPS_OF_A_ROW + len(rest) + len(below) + len(above))
                limits = [*rest, *below, *above]
                if low is not None and high is not None:
                    limits.append(self._least(high, low, 0))
                known = self._cell(limits)
                if known is not None:
                    self._add_integral(result.setdefault(known, {}), grown, v, (low, high), scale)
        return _factor(factor.variables - {v}, result, factor.unit * divisor * scale)

    def _extreme(self, bounds: Iterable[_Line], side: int) -> Iterator[tuple[_Line | None, list[_Row]]]:
        """Yield each of `bounds` with the half-spaces in which it is the greatest (`side` 1) or the least (`side` -1).

        Of several equal bounds, only the first is the extreme one. If `bounds` is empty, yield None without
        half-spaces.
        """
        listed = list(bounds)
        if not listed:
            yield None, []
        for number, one in enumerate(listed):
            self.budget.spend(_STEPS_OF_A_ROW * len(listed))
            yield (
                one,
                [
                    self._least(*((one, other) if side > 0 else (other, one)), int(position < number))
                    for position, other in enumerate(listed)
                    if position != number
                ],
            )

    def _least(self, one: _Line, other: _Line, strictly: int) -> _Row:
        terms = dict(one[0])
        for i, c in other[0]:
            terms[i] = terms.get(i, 0) - c
        return self._row(terms, one[1] - other[1] - strictly * self.whole)

    def _add_integral(
        self, into: _Terms, grown: _Terms, v: int, ends: tuple[_Line | None, _Line | None], scale: int
    ) -> None:
        """Add to `into` the integral, times `scale`, over the variable `v` between `ends` (None: infinity).

        `grown` is an antiderivative of the integrand. Raises NotDerived if the integrand does not decay.
        """
        low, high = ends
        if any((low is None and l <= 0) or (high is None and l >= 0) for _, l in {_power(one, v) for one in grown}):
            raise NotDerived("an integrand does not decay")
        if high is not None:
            # A sum of integers includes its upper bound.
            self._substitute(grown, v, (high[0], high[1] + self.whole), scale, into)
        if low is not None:
            self._substitute(grown, v, low, -scale, into)

    def _integrals(self, n: int, l: Number) -> Iterator[_Primitive]:
        if not l:
            for power, factor in _power_sum(n) if self.whole else ((n + 1, Fraction(1, n + 1)),):
                yield power, 0, factor, ()
        elif self.whole:
            size = l if l > 0 else -l
            for power, shift, order, times in _geometric_sum(n, l > 0):
                yield power, -shift * size, times, ((size, order),)
        else:
            factor = Fraction(1) / l
            for power in range(n, -1, -1):
                yield power, 0, factor, ()
                factor *= Fraction(-power) / l

    def _replaced(self, factor: _Factor, v: int, line: _Line) -> _Factor:
        if v not in factor.variables:
            return factor
        powers = (_power(monomial, v)[0] for f in factor.pieces.values() for monomial in f)
        scale = _scale([line], max(powers, default=0))
        result: _Pieces = {}
        for cell, f in factor.pieces.items():
            rows: list[_Row] = []
            self.budget.spend(_STEPS_OF_A_ROW * len(cell))
            for form, constant in cell:
                terms: dict[int, Number] = {i: a for i, a in form if i != v}
                size = next((a for i, a in form if i == v), 0)
                for i, c in line[0]:
                    terms[i] = terms.get(i, 0) + size * c
                rows.append(self._row(terms, constant + size * line[1]))
            known = self._cell(rows)
            if known is not None:
                self._substitute(f, v, line, scale, result.setdefault(known, {}))
        variables = factor.variables - {v} | {i for i, _ in line[0]}
        return _factor(variables, result, factor.unit * scale)

    def _substitute(self, f: _Terms, v: int, line: _Line, times: int, into: _Terms) -> None:
        """Add `times`·`f`, with the affine function `line` in place of Y_`v`, to `into`.

        All coefficients of the product must be integers.
        """
        rationals = sum(type(number) is not int for number in (line[1], *(d for _, d in line[0])))
        for monomial, coefficient in f.items():
            n, l = _power(monomial, v)
            self._spend(len(coefficient) * (2 + (comb(n + len(line[0]), n) if n else 0)), times.bit_length(), rationals)
            others = tuple([other for other in monomial if other[0] != v])
            moved = plain(l * line[1]) if l else 0
            for powers, raised, factor in _expanded(line, n):
                product = others
                for i, d in line[0]:
                    power, slope = powers.get(i, 0), plain(l * d)
                    if power or slope:
                        product = _monomial_product(product, i, power, slope)
                shift = 0 if self.whole else raised, moved, ()
                _add(into.setdefault(product, {}), coefficient, int(factor * times), *shift)

    def _spend(self, terms: int, bits: int = 0, rationals: int = 0) -> None:
        """Charge the cost of `terms` terms whose coefficients have `bits` bits.

        `rationals` counts their exponents that are not integers, which take several times as long to look up.
        """
        self.budget.spend((_WHOLE_STEPS if self.whole else _STEPS) * terms * (3 + 2 * rationals) // 3, bits)


def _monomial_product(monomial: _Monomial, v: int, power: int, slope: Number) -> _Monomial:
    for k, (i, n, l) in enumerate(monomial):
        if i == v:
            n, l = n + power, l + slope
            return (*monomial[:k], (v, n, l), *monomial[k + 1 :]) if n or l else (*monomial[:k], *monomial[k + 1 :])
        if i > v:
            return (*monomial[:k], (v, power, slope), *monomial[k:]) if power or slope else monomial
    return (*monomial, (v, power, slope)) if power or slope else monomial


def _power(monomial: _Monomial, v: int) -> tuple[int, Number]:
    """Return the exponents (n, l) of the factor Y^n·e^{l·Y} of `monomial`, where Y is the variable `v`.

    The result is (0, 0) if the variable does not occur.
    """
    return next(((n, l) for i, n, l in monomial if i == v), (0, 0))


def _scale(lines: Iterable[_Line], power: int) -> int:
    """Return a number whose products with the coefficients of line^n, for `lines` and n <= `power`, are integers."""
    numbers = (number for terms, constant in lines for number in (constant, *dict(terms).values()))
    unit: int = lcm(*(number.denominator for number in numbers)) ** power
    return unit


def _primitive(
    f: _Terms, v: int, primitives: Mapping[tuple[int, Number], Sequence[_Primitive]], divisor: int
) -> _Terms:
    """Return `divisor` times an antiderivative F of `f` in the variable `v`.

    For real variables, the derivative of F is `f`. For integers, the difference F(Y_v + 1) - F(Y_v) is `f`. Where `f`
    decays at infinity, the limit of the result is 0. `primitives` has the antiderivative of Y_v^n·e^{l·Y_v} by (n, l).
    """
    result: _Terms = {}
    for monomial, coefficient in f.items():
        n, l = _power(monomial, v)
        others = tuple([own for own in monomial if own[0] != v])
        for power, shift, factor, poles in primitives[n, l]:
            into = result.setdefault(_monomial_product(others, v, power, l), {})
            _add(into, coefficient, int(factor * divisor), 0, shift, poles)
    return result


def _expanded(line: _Line, power: int) -> Iterator[tuple[dict[int, int], int, Number]]:
    """Yield the terms of `line`^`power` as (powers of variables, power of eps, factor).

    `line` is an affine function whose constant term is a multiple of eps.
    """
    if not power:
        yield {}, 0, 1
        return
    terms, constant = line
    if not terms:
        if constant:
            yield {}, power, constant**power
        return
    (j, c), rest = terms[0], terms[1:]
    for own in range(power + 1):
        for more, raised, factor in _expanded((rest, constant), power - own):
            yield {**more, j: own}, raised, comb(power, own) * c**own * factor


def _quotient(value: Number, by: int) -> Number:
    return plain(Fraction(value) / by)


def _times(f: _Terms, g: _Terms) -> _Terms:
    result: _Terms = {}
    for monomial, left in f.items():
        for other, right in g.items():
            both = monomial
            for factor in other:
                both = _monomial_product(both, *factor)
            into = result.setdefault(both, {})
            long, short = (left, right) if len(left) > len(right) else (right, left)
            for (k, q, poles), c in short.items():
                _add(into, long, c, k, q, poles)
    return result


def _add(into: _Coefficient, coefficient: _Coefficient, c: int, k: int = 0, q: Number = 0, poles: _Poles = ()) -> None:
    for (j, p, own), d in coefficient.items():
        key = j + k, p + q, _joined_poles(own, poles) if poles else own
        into[key] = into.get(key, 0) + c * d


def _collect(pieces: _Pieces, cell: _Cell, f: _Terms) -> None:
    known = pieces.setdefault(cell, {})
    for monomial, coefficient in f.items():
        _add(known.setdefault(monomial, {}), coefficient, 1)


def _factor(variables: frozenset[int], pieces: _Pieces, unit: int) -> _Factor:
    """Return the function of `variables` with the terms `pieces` on each cell, divided by `unit`.

    Common divisors of all coefficients and `unit` are removed, and so are coefficients that are 0.
    """
    common = gcd(unit, *(c for f in pieces.values() for coefficient in f.values() for c in coefficient.values()))
    reduced = {
        cell: {
            monomial: left
            for monomial, coefficient in f.items()
            if (left := {key: c // common for key, c in coefficient.items() if c})
        }
        for cell, f in pieces.items()
    }
    return _Factor(variables, reduced, unit // common)


def _joined_poles(left: _Poles, right: _Poles) -> _Poles:
    if not left or not right:
        return left or right
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def _length(f: _Terms) -> int:
    return sum(map(len, f.values()))


def _rationals(factor: _Factor) -> int:
    most = 0
    for f in factor.pieces.values():
        for monomial, coefficient in f.items():
            slopes = sum([type(l) is not int for _, _, l in monomial])
            for _, q, poles in coefficient:
                own = slopes + (type(q) is not int) + (sum([type(d) is not int for d, _ in poles]) if poles else 0)
                if own > most:
                    most = own
    return most


def _bits(factor: _Factor) -> int:
    coefficients = (c for f in factor.pieces.values() for coefficient in f.values() for c in coefficient.values())
    return max(map(int.bit_length, coefficients), default=0) + factor.unit.bit_length()


@cache
def _power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """Return the polynomial S with S(t+1) - S(t) = t^`n` and S(0) = 0, as pairs (power, coefficient)."""
    # (t+1)^(n+1) - t^(n+1) = Σ_{j<=n} C(n+1, j)·t^j.
    total = {n + 1: Fraction(1, n + 1)}
    for j in range(n):
        for power, c in _power_sum(j):
            total[power] = total.get(power, _ZERO) - comb(n + 1, j) * c / (n + 1)
    return tuple((power, c) for power, c in total.items() if c)


@cache
def _geometric_sum(n: int, growing: bool) -> tuple[tuple[int, int, int, int], ...]:
    """Return a p for which f(t) = e^{lt}·p(t) satisfies f(t+1) - f(t) = t^`n`·e^{lt}.

    Here p(t) = Σ c·t^power·z^shift/(1 - z)^order with z = e^{-|l|}. It is returned as terms (power, shift, order, c).
    If `growing` is true, l > 0, otherwise l < 0.
    """
    # The coefficient of t^j: (e^l - 1)·p_j = [j = n] - e^l·Σ_{m>j} C(m, j)·p_m. For l > 0, 1/(e^l - 1) = z/(1-z) and
    # e^l/(e^l - 1) = 1/(1-z); for l < 0 they are -1/(1-z) and -z/(1-z).
    first, onward = ((1, 1), (0, -1)) if growing else ((0, -1), (1, 1))
    by_power: dict[int, dict[tuple[int, int], int]] = {n: {(first[0], 1): first[1]}}
    for j in range(n - 1, -1, -1):
        by_power[j] = {}
        for m in range(j + 1, n + 1):
            for (shift, order), times in by_power[m].items():
                key = (shift + onward[0], order + 1)
                by_power[j][key] = by_power[j].get(key, 0) + onward[1] * comb(m, j) * times
    return tuple((j, shift, order, times) for j, terms in by_power.items() for (shift, order), times in terms.items())


def _closed(numerators: Mapping[_Poles, Ring], rates: Sequence[Fraction], budget: Budget) -> Closed:
    """Return the sum of quotients over one denominator, times Π (1 - r)/(1 + r) over r = e^(-rate·eps) for `rates`.

    `numerators` maps each denominator to its numerator. A denominator is a product of powers (1 - e^(-d·eps))^n, as
    pairs (d, n). Charges its work to `budget`.
    """
    highest: dict[Number, int] = {}
    for poles in numerators:
        for d, m in poles:
            highest[d] = max(highest.get(d, 0), m)

    def times(f: Ring, d: Number, sign: int) -> Ring:
        budget.spend(2 * len(f))
        return add(f, {(k, q - d): sign * c for (k, q), c in f.items()})

    above: Ring = {}
    for poles, numerator in numerators.items():
        have = dict(poles)
        f = numerator
        for d, m in highest.items():
            for _ in range(m - have.get(d, 0)):
                f = times(f, d, -1)
        above = add(f, above)
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
