"""Measure any linear constraints over continuous noises, by integrating one noise at a time over polyhedral cells.

If each constraint relates at most two values, which are linear forms of noises, the measure is computed by messages
from value to value instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, lcm
from typing import TYPE_CHECKING, Generic, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, simplest
from dipc.algebra.graph import parents_from, spanning_forest
from dipc.algebra.limits import Limits, Meter, OutsideFragment
from dipc.frozen import LazyModule
from dipc.linear.halfspace import Halfspace, proportional_columns, tightened
from dipc.measure.event import Event, Noise
from dipc.measure.forest import components, product_of, scales
from dipc.measure.pieces import ONE_PIECE, Piece, Piecewise, Window, Windows, integral_of_product
from dipc.measure.summands import Elimination, Summands, antiderivative, constant_one
from dipc.noise.law import ONE_TERM, DensityPiece

if TYPE_CHECKING:
    from dipc.measure import lattice, summed, vertex_sum
else:
    lattice = LazyModule("dipc.measure.lattice")
    summed = LazyModule("dipc.measure.summed")
    vertex_sum = LazyModule("dipc.measure.vertex_sum")

# --- Rewriting an event over noises as one over values, so that every constraint relates at most two of them ----------
#
# Noises that matter only through one linear combination become one value, whose law is a convolution. A noise n that
# occurs only together with t·r, as in r' <- Lap(a, r), becomes the value r' = n + t·r. The law of n ties r' to r and is
# called a kernel. The result is a graph whose edges are ranges of differences and kernels. If it is a forest, messages
# measure it (`value_tree_measure`).


#: The density of X = eps·N for a noise N with mean 0, up to a constant factor, with one exponential on each piece.
Kernel = tuple[DensityPiece, ...]

#: A sum of independent noises around 0.
Law = tuple[Kernel, ...]


@dataclass(slots=True)
class Value:
    """A random variable X that constraints compare: a sum of noises, or such a sum plus a multiple of another value.

    If `parent` is None, X is `mean` plus a sum of independent noises, whose densities are the items of `law`. Otherwise
    `parent` is the index of another value Y, and X - `ratio`·Y is `mean` plus such a sum.
    """

    law: Law
    mean: Fraction
    parent: int | None = None
    ratio: Fraction = Fraction(0)


@dataclass(slots=True)
class ValueSystem:
    """Constraints over random `values`.

    An item (coefficients, constant) of `rows` means Σ coefficients[i]·X_i + constant >= 0, where X_i is the value with
    the index i. In the result of `value_system` at most two values occur in each item.
    """

    values: list[Value] = field(default_factory=list)
    rows: list[tuple[dict[int, Fraction], Fraction]] = field(default_factory=list)


def value_system(event: Event) -> ValueSystem:
    """Return the constraints of `event` over sums of noises, the values; at most two occur in each constraint.

    The noises must be all continuous or all integers. Raises OutsideFragment if some constraint still relates three
    values, or if integer noises are multiplied or have two different rates.
    """
    rows = [(dict(c.coefficients), c.constant) for c in event.constraints]
    system = _merged(event.noises, rows)
    meant = [dict(coefficients) for coefficients, _ in system.rows]
    while wide := [row for row, (coefficients, _) in enumerate(system.rows) if len(coefficients) > 2]:
        if not any(_introduce(system, row) for row in wide):
            raise OutsideFragment("some constraint relates more than two values")
    # Each row must still have its original meaning, or the measure would be that of another event.
    assert [_written_out(system, coefficients) for coefficients, _ in system.rows] == meant
    return system


def _written_out(system: ValueSystem, coefficients: dict[int, Fraction]) -> dict[int, Fraction]:
    total: dict[int, Fraction] = {}
    for value, c in coefficients.items():
        position: int | None = value
        while position is not None:
            total[position] = total.get(position, Fraction(0)) + c
            c *= system.values[position].ratio
            position = system.values[position].parent
    return {i: c for i, c in total.items() if c}


def _kernel(noise: Noise, factor: Fraction) -> Kernel:
    """Return the density of `factor` times (`noise` minus its mean), up to a constant factor; `factor` is not 0.

    For discrete Laplace noise, return the density of Laplace noise with the same rate. Raises OutsideFragment for laws
    whose density is not made of exponentials.
    """
    if noise.law.whole:
        sides = noise.law.sides(noise.rate)
        if abs(factor) != 1 or sides.left is None or sides.left != sides.right:
            raise OutsideFragment(
                "a comparison multiplies an integer noise by a number other than 1 or -1, or the noise has two "
                "different rates, which is not covered"
            )
        pieces = noise.law.continuous_neighbor()[0].pieces(noise.rate)
    else:
        pieces = noise.law.pieces(noise.rate)
    if any(power for piece in pieces for _, power, _ in piece.terms):
        raise OutsideFragment("the density of a noise is not made of exponentials")
    return _multiplied(pieces, factor)


def _multiplied(kernel: Kernel, factor: Fraction) -> Kernel:
    pieces = []
    for piece in kernel:
        ends = [None if end is None else end * factor for end in (piece.lower, piece.upper)]
        lower, upper = ends if factor > 0 else reversed(ends)
        terms = tuple([(c / abs(factor), 0, slope / factor) for c, _, slope in piece.terms])
        pieces.append(DensityPiece(lower, upper, terms))
    return tuple(pieces)


def _merged(noises: Sequence[Noise], rows: list[tuple[dict[int, Fraction], Fraction]]) -> ValueSystem:
    system = ValueSystem(rows=[({}, constant) for _, constant in rows])
    for direction, members in proportional_columns([row.items() for row, _ in rows], lambda _: False):
        law = tuple(sorted([_kernel(noises[i], factor) for i, factor in members], key=str))
        mean = sum((noises[i].mean * factor for i, factor in members), Fraction(0))
        for position, c in direction:
            system.rows[position][0][len(system.values)] = c
        system.values.append(Value(law, mean))
    return system


def _introduce(system: ValueSystem, row: int) -> bool:
    """Replace a noise n and another value r by a single variable, their sum n + t·r, in the constraints with n.

    n and r occur in the constraint of `system` with the index `row`. In every constraint with n, the coefficient of r
    is t times that of n, so the sum takes the place of both. Return True, or False if there are no such n and r.
    """
    columns: dict[int, dict[int, Fraction]] = {}
    for position, (coefficients, _) in enumerate(system.rows):
        for i, c in coefficients.items():
            columns.setdefault(i, {})[position] = c
    # Try the noise that occurs most often first: in a chain of means this is the link next to the start.
    for n in sorted(system.rows[row][0], key=lambda i: (-len(columns[i]), i)):
        # A value that others are made from must keep its meaning, because their kernels refer to it.
        if system.values[n].parent is not None or any(value.parent == n for value in system.values):
            continue
        for r in sorted(system.rows[row][0], key=lambda i: (len(columns[i]), i)):
            if r == n or not columns[n].keys() <= columns[r].keys() or _is_or_descends_from(system, r, n):
                continue
            ratios = {columns[r][index] / c for index, c in columns[n].items()}
            if len(ratios) == 1:
                system.values[n].parent, system.values[n].ratio = r, ratios.pop()
                for position in columns[n]:
                    del system.rows[position][0][r]
                return True
    return False


def _is_or_descends_from(system: ValueSystem, value: int, ancestor: int) -> bool:
    position: int | None = value
    while position is not None:
        if position == ancestor:
            return True
        position = system.values[position].parent
    return False


# --- The measure of a forest of values tied by ranges of differences and by kernels, by message passing ---------------
#
# This generalizes `forest`. Densities may be convolutions, and their sides may differ. An edge may be the law of an
# added noise, which smooths the message, instead of a range, which takes the difference of two shifted integrals.
# Integers have masses and sums instead, if all values are sums and differences of the noises.

#: Functions on the reals, or on the integers.
_Function = TypeVar("_Function", "Piecewise[Piece]", "lattice.LatticePiecewise")


@dataclass(slots=True)
class _Span:
    low: Fraction | None = None
    high: Fraction | None = None

    def meet(self, slope: Fraction, constant: Fraction) -> None:
        end = -constant / slope
        if slope > 0:
            self.low = end if self.low is None else max(self.low, end)
        else:
            self.high = end if self.high is None else min(self.high, end)


def normalizer(noise: Noise) -> ExpPoly:
    """Return the function of eps by which the density pieces of the law of `noise` must be divided.

    The function is positive for every eps > 0.
    """
    return ExpPoly.from_terms(noise.law.normalizer(noise.rate))


def _normalized(measure: ExpPoly, noises: Iterable[Noise]) -> Closed:
    """Return `measure` divided by the product of `normalizer(noise)` over all `noises`.

    `measure` is a probability that was computed with densities not yet divided by their normalizers.
    """
    below = ExpPoly.ONE
    for noise in noises:
        below = below * normalizer(noise)
    return measure if below == ExpPoly.ONE else simplest(Quotient(measure, below))


def value_tree_measure(event: Event, limit: Limits) -> Closed:
    """Return the exact probability, for every eps > 0, that all constraints of an `event` over continuous noises hold.

    Raises LimitReached if the work exceeds `limit`. Raises OutsideFragment in three cases:

    * a constraint relates more than two sums of noises;
    * two sums are compared in two different proportions;
    * the sums are compared in a cycle.
    """
    if any(c.constant < 0 for c in event.constraints if not c.coefficients):
        return ExpPoly.ZERO
    rows = tuple(c for c in event.constraints if c.coefficients)
    tree = _Forest(Piecewise, value_system(Event(event.noises, rows)), limit)
    total = ExpPoly.ONE
    for factors in tree.weights():
        total = total * integral_of_product([(factor, 1) for factor in factors], tree.meter)
    used = {i for c in rows for i, _ in c.coefficients}
    return _normalized(total.scaled(tree.stretch), [event.noises[i] for i in used])


def lattice_tree_measure(event: Event, limit: Limits) -> Quotient:
    """Return the exact probability that all constraints of an `event` over discrete Laplace noises hold.

    Each constraint must mention a noise. Raises LimitReached if the work exceeds `limit`. Raises OutsideFragment as
    `value_tree_measure` does, and if a constraint multiplies an integer noise by a number other than 1 or -1.
    """
    rows = tuple(map(tightened, event.constraints))
    tree = _Forest(lattice.LatticePiecewise, value_system(Event(event.noises, rows)), limit)
    total = Quotient.convert(1)
    for factors in tree.weights():
        total = total * product_of(factors, tree.meter).integral(tree.meter)
    return total.scaled(tree.stretch)


class _Forest(Generic[_Function]):
    """Random values as a forest, in which constraints or noises connect each value with its parent.

    A value is connected with its parent by bounds on their difference, or because it is the parent plus noise. `count`
    is the number of values, and `adjacent` has, for each value, the values connected with it.

    `kind` is `Piecewise` for real values, and `LatticePiecewise` for integers. Rates, means and bounds are rescaled to
    integers; for integer values, only the rates need it.
    """

    def __init__(self, kind: type[_Function], system: ValueSystem, limit: Limits) -> None:
        self._kind: type[_Function] = kind
        #: Whether values are real, so that lengths may be counted in any unit.
        self._dense: bool = kind is Piecewise
        self._system: ValueSystem = system
        self.meter: Meter = Meter(limit)
        self.count: int = len(system.values)
        pairs = {tuple(sorted(coefficients)) for coefficients, _ in system.rows if len(coefficients) == 2}
        kernels = {tuple(sorted((i, v.parent))) for i, v in enumerate(system.values) if v.parent is not None}
        if pairs & kernels:
            raise OutsideFragment("two values are related both by a constraint and by a noise")
        self.adjacent: list[list[int]] = [[] for _ in range(self.count)]
        for i, j in sorted(pairs | kernels):
            self.adjacent[i].append(j)
            self.adjacent[j].append(i)
        self._scales: list[Fraction] = self._find_scales(len(pairs | kernels))
        self._bounds: list[_Span] = [_Span() for _ in range(self.count)]
        self._edges: dict[tuple[int, int], _Span] = {}
        for coefficients, constant in system.rows:
            (i, c), *rest = sorted(coefficients.items())
            slope = c / self._scales[i]
            if rest:
                ((j, d),) = rest
                if d / self._scales[j] != -slope:
                    raise OutsideFragment("two values are compared with different ratios of coefficients")
                self._edges.setdefault((i, j), _Span()).meet(slope, constant)
            else:
                self._bounds[i].meet(slope, constant)
        self._kernels = [
            [_multiplied(kernel, s) for kernel in v.law] for v, s in zip(system.values, self._scales, strict=True)
        ]
        pieces = [piece for kernels in self._kernels for kernel in kernels for piece in kernel]
        rates = [slope for piece in pieces for _, _, slope in piece.terms]
        self._rate_unit = Fraction(1, lcm(*(r.denominator for r in rates)))
        lengths = [v.mean * s for v, s in zip(system.values, self._scales, strict=True)]
        lengths += [end for piece in pieces for end in (piece.lower, piece.upper) if end is not None]
        spans = (*self._bounds, *self._edges.values())
        lengths += [x for span in spans for x in (span.low, span.high) if x is not None]
        self._length_unit = Fraction(1, lcm(*(x.denominator for x in lengths)))
        if not self._dense and (self._length_unit != 1 or any(abs(scale) != 1 for scale in self._scales)):
            raise OutsideFragment("a comparison multiplies an integer value by a number other than 1 or -1")
        #: For each value a number near its likely outcomes. Values count from there, to keep exponents small.
        self._centers: list[int] = self._find_centers()
        #: The measure at eps is the measure in units of rates and lengths at stretch·eps.
        self.stretch = self._rate_unit * self._length_unit

    def _find_scales(self, edges: int) -> list[Fraction]:
        system = self._system
        ratios: dict[tuple[int, int], Fraction] = {}
        for coefficients, _ in system.rows:
            if len(coefficients) == 2:
                (i, c), (j, d) = coefficients.items()
                ratios[i, j], ratios[j, i] = -d / c, -c / d
        for i, v in enumerate(system.values):
            if v.parent is not None:
                ratios[i, v.parent], ratios[v.parent, i] = v.ratio, 1 / v.ratio
        # Z_i - Z_j = s_i·X_i - s_j·X_j must be proportional to X_i - ratio·X_j.
        parents = spanning_forest(range(self.count), self.adjacent)
        if edges != self.count - list(parents.values()).count(None):
            raise OutsideFragment("the comparisons of values form a cycle")
        return scales(parents, ratios)

    def _find_centers(self) -> list[int]:
        """Return, for each value, an integer near its likely outcomes, to be subtracted from the value and its bounds.

        It is the middle of the two bounds of the value, rounded down. For a value without two bounds it is the mean
        instead, or 0 if the value is its parent plus noise.
        """
        centers: list[int] = []
        for value, scale, bound in zip(self._system.values, self._scales, self._bounds, strict=True):
            middle = value.mean * scale if value.parent is None else Fraction(0)
            if bound.low is not None and bound.high is not None:
                middle = (bound.low + bound.high) / 2
            centers.append(floor(middle / self._length_unit))
        return centers

    def _length(self, x: Fraction | None) -> int | None:
        return None if x is None else int(x / self._length_unit)

    def _mean(self, i: int) -> int:
        value = self._system.values[i]
        center = self._centers[i] - (0 if value.parent is None else self._centers[value.parent])
        return int(value.mean * self._scales[i] / self._length_unit) - center

    def _law(self, i: int) -> list[Windows]:
        rates = self._rate_unit
        return [
            tuple(
                [
                    Window(self._length(piece.lower), self._length(piece.upper), c / rates, int(slope / rates))
                    for piece in kernel
                    for c, _, slope in piece.terms
                ]
            )
            for kernel in self._kernels[i]
        ]

    def weights(self) -> Iterator[list[_Function]]:
        """Yield, for each tree of the forest, functions of the value at its root, whose product is the integrand there.

        The integrand is the density or mass of the root's value, times the probability of all constraints of the tree
        given that value. The functions with the fewest terms come first. The root is a sum of noises, not another value
        plus noise: the density of such a value has more breakpoints.
        """
        seen: set[int] = set()
        values = self._system.values
        for root in sorted(range(self.count), key=lambda i: (values[i].parent is not None, -len(self.adjacent[i]))):
            if root not in seen:
                yield sorted(self._factors(root, seen), key=lambda function: function.size())

    def _factors(self, root: int, seen: set[int]) -> list[_Function]:
        """Return the functions of the value `root` whose product is the integrand over it, and add its tree to `seen`.

        The integrand is the density or mass of the root, times the probability of all constraints of the tree given the
        root.
        """
        above = parents_from(root, self.adjacent)
        seen.update(above)
        messages: dict[int, list[_Function]] = {}
        for i, parent in reversed(above.items()):
            # Restrict each factor first: pieces outside the bounds need not be multiplied.
            factors = messages.pop(i, [])
            if self._system.values[i].parent is None:
                factors.append(self._kind.of_noises(self._law(i), self.meter).shifted(-self._mean(i)))
            elif not factors:
                factors.append(self._kind.constant(ONE_PIECE))
            bound, center = self._bounds[i], self._centers[i]
            low, high = self._length(bound.low), self._length(bound.high)
            low, high = None if low is None else low - center, None if high is None else high - center
            factors = [factor.restricted(low, high) for factor in factors]
            if parent is None:
                return factors
            messages.setdefault(parent, []).append(self._message(i, parent, product_of(factors, self.meter)))
        raise AssertionError("a tree has a root")

    def _message(self, i: int, parent: int, weight: _Function) -> _Function:
        """Return, as a function of P, the probability of the subtree of value `i`, given that value `parent` is P.

        The edge between the two belongs to the subtree. `weight` is the density of value i times the messages from its
        subtree.
        """
        values = self._system.values
        if values[i].parent == parent:
            for noise in self._law(i):
                weight = weight.smoothed(tuple([window.reflected() for window in noise]), self.meter)
            return weight.shifted(self._mean(i))
        if values[parent].parent == i:
            for noise in self._law(parent):
                weight = weight.smoothed(noise, self.meter)
            return weight.shifted(-self._mean(parent))
        span = self._edges[min(i, parent), max(i, parent)]
        low, high = self._length(span.low), self._length(span.high)
        if i > parent:
            # The edge bounds Z_parent - Z_i; the message needs Z_i - Z_parent.
            low, high = (None if high is None else -high), (None if low is None else -low)
        # Count both values from their centers.
        apart = self._centers[i] - self._centers[parent]
        low, high = (None if low is None else low - apart), (None if high is None else high - apart)
        if low is not None and high is not None and low + self._dense > high:
            return self._kind.constant(Piece.zero())
        return weight.window_integral(low, high, self.meter)


# --- The measure of any set of linear constraints over independent continuous noises, one noise at a time -------------
#
# On the scale X = eps·x the constraints are homogeneous in eps, so their combinatorics is the same for every eps > 0.
# Implied inequalities are removed exactly and first, so every shadow has interior and no facet counts twice.
#
# On each shadow the integrand is at most a product of the densities that are not integrated yet, so every integral
# converges. The cost grows with the number of flags of faces. This engine measures what the faster methods cannot, and
# tests check the faster methods against it.


def polyhedral_measure(event: Event, limits: Limits | None = None) -> Closed:
    """Return the exact probability, for every eps > 0, that all constraints of `event` hold.

    Raises LimitReached if the work exceeds `limits`, and OutsideFragment if a density is not given in pieces.
    """
    used = frozenset([i for c in event.constraints for i, _ in c.coefficients])
    elimination = _Integration(event.noises, limits or Limits())
    system = [c.closure() for c in event.constraints]
    if any(not h.coefficients and h.constant < 0 for h in system):
        return ExpPoly.ZERO
    system = [h for h in system if h.coefficients]
    summands = elimination.integral(constant_one(len(event.noises)), system, used, used)
    measure = ExpPoly.from_terms((s.power, s.exponent, c) for s, c in summands.items())
    return _normalized(measure, [event.noises[i] for i in sorted(used)])


class _Integration(Elimination):
    """The integral over real noises, as multiples of eps."""

    power = 1
    what = "an integrand"

    def closed(self, half: Halfspace) -> Halfspace:
        return half.closure()

    def relaxed(self, half: Halfspace) -> Halfspace:
        return half

    def density(self, v: int) -> Sequence[DensityPiece]:
        noise = self.noises[v]
        return noise.law.pieces(noise.rate)

    def antiderivative(self, summands: Summands, v: int) -> Summands:
        return antiderivative(summands, v)

    def effort(self, v: int, system: Sequence[Halfspace]) -> tuple[int, ...]:
        return sum(1 for h in system if h.coefficient(v)), v

    def is_free(self, v: int) -> bool:
        noise = self.noises[v]
        return noise.law.is_probability and noise.law.normalizer(noise.rate) == ONE_TERM

    def cases(
        self, v: int, summands: Summands, system: Sequence[Halfspace]
    ) -> Iterator[tuple[Summands, list[Halfspace]]]:
        yield summands, list(self.interiors.facets(system, v))


# --- The measure of any linear event: which engine for which part -----------------------------------------------------
#
# Parts that share no constraint are independent. A part is measured by the first method that applies:
#
#   1. messages, if the part reduces to a forest of values;
#   2. the corners of its polyhedra, for real noises whose densities are exponential on each side, if there are few;
#   3. elimination of one noise at a time: integrals over reals, sums over integers. It covers everything, up to limits.


def independent_parts(event: Event) -> list[Event]:
    """Return independent events whose conjunction is `event`: constraints that share a noise are in the same event.

    Each constraint must mention a noise. Noises are renumbered in each event.
    """
    ties = [(c.coefficients[0][0], i) for c in event.constraints for i, _ in c.coefficients]
    mentioned = {i: position for position, i in enumerate(dict.fromkeys(i for _, i in ties))}
    connected = components(len(event.noises), ties)
    events = []
    for members in sorted(connected, key=lambda members: min([mentioned[i] for i in members])):
        index = {i: position for position, i in enumerate(members)}
        constraints = tuple(
            Halfspace(tuple((index[i], x) for i, x in c.coefficients), c.constant, c.strict)
            for c in event.constraints
            if c.coefficients[0][0] in index
        )
        events.append(Event(tuple(event.noises[i] for i in index), constraints))
    return events


def general_measure(event: Event, limits: Limits) -> Closed:
    """Return the exact probability of an `event` that does not fall into independent parts.

    Raises LimitReached if the work exceeds `limits`, and ValueError if a constraint mixes integer and real noises,
    which programs cannot express.
    """
    if any(noise.law.whole for noise in event.noises):
        if not all(noise.law.whole for noise in event.noises):
            raise ValueError("integer and real noises share a constraint")
        summed.watch_rates(event, lattice.MOST_DEGREE)
        try:
            measure = lattice_tree_measure(event, limits)
        except OutsideFragment:
            summed.watch_rates(event)
            measure = lattice.lattice_measure(event, limits)
        return measure if (ring := measure.in_ring()) is None else ring
    try:
        return value_tree_measure(event, limits)
    except OutsideFragment:
        pass
    if vertex_sum.corners_at_most(event) <= limits.cells:
        with suppress(OutsideFragment):
            return vertex_sum.vertex_measure(event, limits)
    return polyhedral_measure(event, limits)
