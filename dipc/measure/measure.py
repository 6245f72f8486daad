"""Measure events: the probability that all constraints of an event hold, as a function of eps.

`Measurer` gives closed forms: exponential polynomials in eps, or quotients of two. `Bound` is a sum of weighted
probabilities of events, and `BoundMeasurer` gives its closed form. If the closed form is too long or does not exist,
`EnclosedForm` is the same function of eps, which power series enclose near each eps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, check_product, fraction_of, simplest, total
from dipc.algebra.limits import LimitReached, Limits, Meter, OutsideFragment, Undecided, weight
from dipc.algebra.numbers import dyadic, exact_eps, to_fmpq
from dipc.deprecated import former_method
from dipc.frozen import LazyModule, frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Happening, RunGraph
from dipc.measure.forest import (
    CanonicalTree,
    DifferenceSystem,
    EventShape,
    TreeShape,
    components,
    event_shape,
    order_measure,
    reduced,
    slopes_of,
    split,
    terms_of_integers,
    tree_measure,
    tree_series,
    tree_shape,
    watch_size,
)
from dipc.noise.law import Law, Measure

if TYPE_CHECKING:
    from dipc.measure import normal, normal_tree, polyhedral, power_series, runs
    from dipc.measure import summed as sums_of_noises
    from dipc.sign import normal as normals
else:
    normals = LazyModule("dipc.sign.normal")
    normal = LazyModule("dipc.measure.normal")
    normal_tree = LazyModule("dipc.measure.normal_tree")
    polyhedral = LazyModule("dipc.measure.polyhedral")
    sums_of_noises = LazyModule("dipc.measure.summed")
    power_series = LazyModule("dipc.measure.power_series")
    runs = LazyModule("dipc.measure.runs")

_DEEPEST_SPLIT = 200
_MOST_SHAPES = 20_000
_SMALL_PRODUCT = 1_000
_ONE = Fraction(1)

#: One independent part of an event: what its measure, or an enclosure of it, is computed from.
Factor: TypeAlias = (
    "CanonicalTree | normal.NormalMeasure | normal_tree.TreeMeasure | sums_of_noises.SummedMeasure"
    " | sums_of_noises.LatticeSum | Closed"
)

#: An event without its means and constants.
_EventKey = tuple[tuple[Law, ...], tuple[Fraction, ...], tuple[tuple[tuple[int, Fraction], ...], ...]]

#: A system without its means and the constants of its inequalities.
_SystemKey = tuple[tuple[Fraction, ...], tuple[tuple[int, int], ...]]

#: The parts of a system that share no noise: the shapes of trees, and the noises of each part with a cycle.
_SystemParts = tuple[list[TreeShape], list[tuple[int, ...]]]


@dataclass(slots=True)
class _Budget:
    limit: int
    spent: int = 0

    def spend(self, depth: int) -> None:
        self.spent += 1
        if self.spent > self.limit or depth > _DEEPEST_SPLIT:
            raise LimitReached("trees", f"the constraints split into more than {self.limit} orderings of the noises")


#: Limits of `Measurer.brief`, for approximately a second's work: terms of a closed form, steps of its computation, and
#: terms that a tree over the reals is expected to need.
BRIEF_TERMS, BRIEF_STEPS, BRIEF_WAY = 100_000, 100_000_000, 1_000_000

#: Trees over integers with more coefficients (see `terms_of_integers`) are summed value by value.
MOST_OF_INTEGERS = 20_000


@dataclass
class Measurer:
    """Computes probabilities of events in closed form, and remembers them for each tree of noises and each event.

    `integrals` counts the trees that have been integrated. `remembered` is the greatest number of terms that the
    results kept for later may have together; beyond it, all are forgotten. `limits` bound the work for one event. If
    `tree_steps` is not None, a tree that is expected to take more than this number of steps is refused before it is
    integrated.
    """

    limits: Limits = field(default_factory=Limits)
    remembered: int = 2_000_000
    tree_steps: int | None = None
    integrals: int = 0
    _shapes: dict[_EventKey, EventShape] = field(default_factory=dict, repr=False)
    _parts: dict[_SystemKey, _SystemParts] = field(default_factory=dict, repr=False)
    #: Measures by tree; the keys have the `stretch` 1.
    _trees: dict[CanonicalTree, Closed] = field(default_factory=dict, repr=False)
    _refused: dict[CanonicalTree, tuple[str | None, str]] = field(default_factory=dict, repr=False)
    _products: dict[tuple[CanonicalTree, ...], Closed] = field(default_factory=dict, repr=False)
    _parts_measured: dict[Event, Closed] = field(default_factory=dict, repr=False)
    _remembered: int = 0

    @cached_property
    def brief(self) -> Measurer:
        """A new measurer that refuses computations of more than approximately a second.

        It does not use what this measurer remembers, so whether it refuses does not depend on earlier questions.
        """
        limits = self.limits
        few = replace(limits, terms=min(limits.terms, BRIEF_TERMS), steps=min(limits.steps, BRIEF_STEPS))
        return Measurer(few, self.remembered, BRIEF_WAY)

    def measure(self, event: Happening) -> Closed:
        """Return the exact probability, for every eps > 0, that all constraints of `event` hold.

        For a graph of runs it is the probability that some path holds. If no integer noise is compared, the result is
        an exponential polynomial, otherwise it may be a quotient. Raises LimitReached past a limit.
        """
        if isinstance(event, RunGraph):
            return runs.run_measure(event, self.limits)
        if any(not c.coefficients and not _holds(c) for c in event.constraints):
            return ExpPoly.ZERO
        try:
            return self._differences(event)
        except OutsideFragment:
            return self._general(event)

    def factors(self, event: Happening) -> list[Factor] | None:
        """Return independent factors whose probabilities multiply to that of `event`, or None if the probability is 0.

        A factor is a probability in closed form, a tree of real noises whose probability is not computed yet, or an
        integral or series that encloses a probability. A tree contributes its probability at `stretch`·eps, where
        `stretch` is a field of the tree. Raises LimitReached if the closed form of one part is too long.
        """
        if isinstance(event, RunGraph):
            return [self.measure(event)]
        if any(not c.coefficients and not _holds(c) for c in event.constraints):
            return None
        try:
            system = event_shape(event).system(event)
        except OutsideFragment:
            return self._factors_of_parts(event)
        if system is None:
            return None
        shapes, cyclic = self._parts_of(system)
        budget = _Budget(self.limits.trees)
        trees = [shape.canonical(system.means, system.lower, system.unit) for shape in shapes]
        if any(tree.whole and terms_of_integers(tree) > MOST_OF_INTEGERS for tree in trees):
            with suppress(OutsideFragment):
                return _summed(event)
        if any(not tree.whole and slopes_of(tree) > power_series.MOST_TERMS for tree in trees):
            independent = _independent(event)
            if len(independent) > 1:
                return self._factors_of_parts(event)
            # The product of the messages would have too many terms. If all other noises are compared with a single one,
            # the product is integrated over that one without being expanded.
            with suppress(Undecided):
                return [normal.normal_measure(independent[0])]
        return [
            *[self._own_tree(tree) if tree.whole else tree for tree in trees],
            *[self._cyclic(system, members, budget, 0) for members in cyclic],
        ]

    def _factors_of_parts(self, event: Event) -> list[Factor] | None:
        """Return factors whose product is the probability of `event`, or None if this probability is 0.

        The event is cut into parts without common noises, and the probability of each part has factors of its own. The
        event as a whole is not a system of differences of Laplace noises, but some of its parts may be such systems.
        """
        components = _independent(event)
        result: list[Factor] = []
        for component in components:
            match max(
                (noise.law.measure for noise in component.noises),
                key=lambda measure: measure.value,
                default=Measure.CLOSED_FORM,
            ):
                case Measure.SUMS:
                    summed = sums_of_noises.summed_measure(component)
                    factors: list[Factor] | None = None if summed is None else [summed]
                case Measure.INTEGRALS:
                    factors = [_over_normal_noise(component)]
                case Measure.CLOSED_FORM:
                    factors = [self._part_or_sum(component)] if len(components) == 1 else self.factors(component)
                case never:
                    assert_never(never)
            if factors is None:
                return None
            result += factors
        return result

    def _part_or_sum(self, event: Event) -> Factor:
        """Return the probability of `event` in closed form, or as a `LatticeSum` if that form is too long.

        The event does not fall into independent parts. Raises LimitReached if the closed form is too long and the event
        does not bound one sum of integer noises.
        """
        try:
            return self._component(event)
        except LimitReached as stopped:
            with suppress(OutsideFragment):
                return sums_of_noises.lattice_sum(event)
            raise stopped from None

    def _general(self, event: Event) -> Closed:
        components = _independent(event)
        measure: Closed = ExpPoly.ONE
        for component in components:
            measure = measure * self._component(component)
        return measure

    def _component(self, event: Event) -> Closed:
        known = self._parts_measured.get(event)
        if known is None:
            try:
                known = self._differences(event)
            except OutsideFragment:
                known = polyhedral.general_measure(event, self.limits)
            self._count(_terms(known))
            self._parts_measured[event] = known
        return known

    def _differences(self, event: Event) -> Closed:
        noises = event.noises
        key = (
            tuple([n.law for n in noises]),
            tuple([n.rate for n in noises]),
            tuple([c.coefficients for c in event.constraints]),
        )
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = event_shape(event)
        system = shape.system(event)
        if system is None:
            return ExpPoly.ZERO
        return self._system(system, _Budget(self.limits.trees), 0)

    def _system(self, system: DifferenceSystem, budget: _Budget, depth: int) -> Closed:
        """Return the probability of `system`.

        `budget` counts the systems into which cycles are split, and raises LimitReached if there are too many. `depth`
        is 0 for the system of the event itself, 1 for this system without the inequalities that others imply, and 1
        more after each split. Systems made by a split have no such inequalities either.
        """
        shapes, cyclic = self._parts_of(system)
        means, lower, unit = system.means, system.lower, system.unit
        measure = self._product([shape.canonical(means, lower, unit) for shape in shapes])
        for members in cyclic:
            measure = self._times(measure, self._cyclic(system, members, budget, depth))
        return measure

    def _cyclic(self, whole: DifferenceSystem, members: Sequence[int], budget: _Budget, depth: int) -> Closed:
        index = {noise: position for position, noise in enumerate(members)} | {-1: -1}
        lower = {(index[i], index[j]): w for (i, j), w in whole.lower.items() if i in index and j in index}
        system = DifferenceSystem(
            tuple([whole.rates[i] for i in members]), tuple([whole.means[i] for i in members]), lower, whole.unit
        )
        ordered = order_measure(system, self.limits.cells)
        if ordered is not None:
            return ExpPoly.constant(ordered)
        if depth == 0:
            smaller = reduced(system)
            return ExpPoly.ZERO if smaller is None else self._system(smaller, budget, 1)
        measures: list[Closed] = []
        for sign, case in split(system):
            budget.spend(depth)
            measures.append(sign * self._system(case, budget, depth + 1))
        return total(measures)

    def _parts_of(self, system: DifferenceSystem) -> _SystemParts:
        key = (system.rates, tuple(system.lower))
        known = self._parts.get(key)
        if known is None:
            trees, cyclic = list[TreeShape](), list[tuple[int, ...]]()
            for members in components(len(system.rates), system.lower):
                inside = set(members)
                shape = tree_shape(system.rates, members, [p for p in system.lower if p[0] in inside or p[1] in inside])
                if shape is None:
                    cyclic.append(tuple(members))
                else:
                    trees.append(shape)
            if len(self._parts) >= _MOST_SHAPES:
                self._parts.clear()
            known = self._parts[key] = trees, cyclic
        return known

    def _product(self, trees: list[CanonicalTree]) -> Closed:
        key = tuple(trees) if len(trees) < 2 else tuple(sorted(trees))
        known = self._products.get(key)
        if known is None:
            known = self.product([self._own_tree(tree) for tree in key])
            self._count(_terms(known))
            self._products[key] = known
        return known

    def product(self, measures: Sequence[Closed]) -> Closed:
        """Return the product of `measures`, the probabilities of independent events; it is 1 for an empty list.

        Raises LimitReached if the product is too long to be expanded, or if reducing it needs common divisors of too
        high a degree.
        """
        check_product(measures)
        result: Closed = ExpPoly.ONE
        for measure in measures:
            result = self._times(result, measure)
        return result

    def _times(self, left: Closed, right: Closed) -> Closed:
        (above, below), (other, under) = fraction_of(left), fraction_of(right)
        self._watch(above, other)
        self._watch(below, under)
        return simplest(left * right)

    def _watch(self, left: ExpPoly, right: ExpPoly) -> None:
        most = len(left) * len(right)
        if most > _SMALL_PRODUCT:
            meter = Meter(self.limits)
            meter.product(len(left), len(right), left.coefficient_bits(), right.coefficient_bits())
            # Later operations on the product cost several times as much as the product itself.
            meter.size(4 * min(most, left.product_box(right)))

    def _own_tree(self, tree: CanonicalTree) -> Closed:
        return self._tree(tree._replace(stretch=_ONE)).scaled(tree.stretch)

    def _tree(self, tree: CanonicalTree) -> Closed:
        known = self._trees.get(tree)
        if known is None:
            if tree in self._refused:
                raise LimitReached(*self._refused[tree])
            self.integrals += 1
            try:
                known = self._tree_measure(tree)
            except LimitReached as stopped:
                self._count(1)
                self._refused[tree] = (stopped.limit, stopped.what)
                raise
            self._count(_terms(known))
            self._trees[tree] = known
        return known

    def _tree_measure(self, tree: CanonicalTree) -> Closed:
        if self.tree_steps is None:
            return tree_measure(tree, self.limits)
        watch_size(tree, replace(self.limits, steps=self.tree_steps))
        measure = tree_measure(tree, self.limits)
        for poly in fraction_of(measure):
            Meter(self.limits).size(len(poly) * weight(poly.coefficient_bits()))
        return measure

    def _count(self, terms: int) -> None:
        self._remembered += terms + 1
        if self._remembered > self.remembered:
            self._trees.clear()
            self._refused.clear()
            self._products.clear()
            self._parts_measured.clear()
            self._remembered = terms + 1


def _summed(event: Event) -> list[Factor] | None:
    """Return the probability of each independent part of `event`, as a `SummedMeasure`; None if one is 0.

    The noises are integers. Raises OutsideFragment if some part has no `SummedMeasure`.
    """
    summed = [sums_of_noises.summed_measure(factor) for factor in _independent(event)]
    factors: list[Factor] = [factor for factor in summed if factor is not None]
    return factors if len(factors) == len(summed) else None


def _independent(event: Event) -> list[Event]:
    return polyhedral.independent_parts(Event(event.noises, tuple(c for c in event.constraints if c.coefficients)))


def _terms(value: Closed) -> int:
    return sum(len(poly) for poly in fraction_of(value))


def _over_normal_noise(event: Event) -> normal.NormalMeasure | normal_tree.TreeMeasure:
    try:
        return normal.normal_measure(event)
    except OutsideFragment:
        values, rows, unit, fixed = normal.values_of(event)
        return normal_tree.tree_measure(values, rows, unit, fixed=fixed)


def _holds(c: Halfspace) -> bool:
    return c.constant > 0 or (c.constant == 0 and not c.strict)


def measure(event: Event, limits: Limits | None = None) -> Closed:
    """Return the exact probability of `event` as a function of eps; nothing is remembered for later events.

    Raises LimitReached if the work exceeds `limits`.
    """
    return Measurer(limits or Limits()).measure(event)


# --- Sums of weighted probabilities of events, and their measures -----------------------------------------------------


@frozen
class Share:
    """The product of a `weight`, a function of eps, and the probabilities of independent `events`.

    A weight of None is 1.
    """

    weight: Closed | None
    events: tuple[Happening, ...]

    @property
    def conjunctions(self) -> tuple[Event, ...]:
        """The `events`, each of which must be one conjunction of constraints.

        Raises OutsideFragment if one of them is a graph of runs.
        """
        every = tuple([event for event in self.events if isinstance(event, Event)])
        if len(every) < len(self.events):
            raise OutsideFragment("the probability of several runs together is not split into factors")
        return every


@frozen
class Bound:
    """A function of eps, `constant` + Σ `shares`: the probability of an answer, or a proved lower bound of one.

    A bound is plain data: making it measures no event. Equal bounds are measured once, where they are decided.
    """

    shares: tuple[Share, ...]
    constant: Fraction = Fraction(0)
    #: The cached hash: bounds are looked up more often than they are made.
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash((self.shares, self.constant))
            object.__setattr__(self, "_hash", known)
        return known

    @property
    def is_without_form(self) -> bool:
        """True if some noise has a law without closed forms."""
        return not all(noise.law.has_form for share in self.shares for event in share.events for noise in event.noises)

    @property
    def is_of_conjunctions(self) -> bool:
        """True if every event is one conjunction of constraints, and none a graph of runs."""
        return all(isinstance(event, Event) for share in self.shares for event in share.events)

    @property
    def has_probabilities(self) -> bool:
        """True if no share has a weight, so that the bound is a sum of probabilities and a constant."""
        return all(share.weight is None for share in self.shares)

    @property
    def opposite(self) -> Bound:
        """The bound 1 - b, where b is this bound."""
        return Bound.combined([(-1, self)], Fraction(1))

    @staticmethod
    def combined(terms: Iterable[tuple[int, Bound]], constant: Fraction) -> Bound:
        """Return `constant` + Σ factor·bound over the pairs (factor, bound) of `terms`."""
        shares: list[Share] = []
        for factor, bound in terms:
            constant += factor * bound.constant
            for share in bound.shares:
                weight = ExpPoly.ONE if share.weight is None else share.weight
                shares.append(share if factor == 1 else Share(weight * ExpPoly.constant(factor), share.events))
        return Bound(tuple(shares), constant)

    def __reduce__(self) -> tuple[Any, ...]:
        # Names hash differently in each process.
        return Bound, (self.shares, self.constant)


#: The most bounds, and the most events, that are remembered at a time: a table may have millions.
_REMEMBERED = 200_000


class BoundMeasurer:
    """Computes bounds and probabilities of events in closed form, each once; equal functions are one ClosedForm object.

    `measured` counts the events that were measured, and `seconds` is the time spent on measuring them.
    """

    def __init__(self, measurer: Measurer | None = None) -> None:
        self.measurer = measurer or Measurer()
        self.measured = 0
        self.seconds = 0.0
        self._bounds: dict[Bound, ClosedForm | Undecided] = {}
        self._events: dict[Happening, Closed | Undecided] = {}
        self._products: dict[tuple[int, ...], Closed] = {}
        self._interned: dict[Closed, ClosedForm] = {}

    def measure(self, bound: Bound) -> ClosedForm:
        """Return `bound` as a closed form, which holds for every eps > 0. Raises Undecided past a limit."""
        result = self._bounds.get(bound)
        if result is None:
            try:
                values = [self._share(share) for share in bound.shares]
                result = self.intern(total([ExpPoly.constant(bound.constant), *values] if bound.constant else values))
            except Undecided as undecided:
                result = without_frames(undecided)
            if len(self._bounds) >= _REMEMBERED:
                self._bounds.clear()
            self._bounds[bound] = result
        if isinstance(result, Undecided):
            raise without_frames(result)
        return result

    def event(self, event: Happening) -> Closed:
        """Return the measure of `event`. Raises Undecided past a limit."""
        result = self._events.get(event)
        if result is None:
            begun = perf_counter()
            self.measured += 1
            try:
                result = self.intern(self.measurer.measure(event)).value
            except Undecided as undecided:
                result = without_frames(undecided)
            self.seconds += perf_counter() - begun
            if len(self._events) >= _REMEMBERED:
                self._events.clear()
            self._events[event] = result
        if isinstance(result, Undecided):
            raise without_frames(result)
        return result

    def intern(self, value: Closed, made: ClosedForm | None = None) -> ClosedForm:
        """Return the one object of this measurer for the function `value`, so that equal functions are one object.

        At the first call for a function the object is `made`, or a new one if `made` is None.
        """
        form = self._interned.get(value)
        if form is None:
            form = self._interned[value] = ClosedForm(value) if made is None else made
        return form

    def _share(self, share: Share) -> Closed:
        factors = [] if share.weight is None else [self.intern(share.weight).value]
        factors += [self.event(event) for event in share.events]
        if len(factors) == 1:
            return factors[0]
        # Interned factors are equal only if they are identical, so identities can be the key.
        key = tuple(sorted(map(id, factors)))
        known = self._products.get(key)
        if known is None:
            known = self._products[key] = self.measurer.product(factors)
        return known


def without_frames(undecided: Undecided) -> Undecided:
    """Return `undecided` without its traceback, whose frames would keep all their local objects alive."""
    return undecided.with_traceback(None)


# --- Bounds near one eps without their closed forms: Taylor polynomials with proved remainders ------------------------
#
# A bound is a sum of products. A factor with a short closed form is expanded from that form, and a tree of Laplace
# noises by messages that are series themselves (`power_series`). Only the product of the factors would be too long to
# expand.
#
# **Lemma.** The measure of an event is analytic in eps where Re eps > 0. At complex eps its absolute value is at most
# the product of the total variations of its noises, which are bounded on the disk |eps - e| <= ρ·e around a real e > 0:
#
#   1. Laplace noise has the density (a·eps/2)·e^{-a·eps·|x - mean|}, one-sided noise a·eps·e^{-a·eps·(x - mean)}. Both
#      have the total variation |eps|/Re eps, which is at most (1 - ρ²)^(-1/2) on the disk.
#   2. Discrete Laplace noise has the masses (1 - z)/(1 + z)·z^|x - mean| with z = e^{-a·eps}. Its total variation is at
#      most (1 - 3ρ²/2)^(-1/2) on the disk, if ρ² < 2/3.
#
# *Proof.* The law of each noise depends on eps analytically where Re eps > 0, and the half-spaces of an event do not
# depend on eps. This gives the first statement.
#
# For 2, write a·eps/2 = u + iv. The total variation is |tanh(u + iv)|/tanh u. As |sinh(u + iv)|² = sinh² u + sin² v and
# |cosh(u + iv)|² = cosh² u - sin² v, its square is (1 + sin² v/sinh² u)/(1 - sin² v/cosh² u). On the disk |v| <= κ·u
# for κ² = ρ²/(1 - ρ²). Since u <= sinh u, the numerator is at most 1 + κ² = 1/(1 - ρ²). Since √2·u <= 1 + u²/2 <= cosh
# u, the denominator is at least 1 - κ²/2.
#
# *Consequence.* Let M bound the absolute value of a function on the disk. By Cauchy's estimate its coefficient of
# (eps - e)^k is at most M/(ρ·e)^k. So the remainder of a Taylor polynomial with N coefficients is at most
# M·s^N/(1 - s) for |eps - e| <= s·ρ·e.

#: The most bits of one value, and the most bits for each wanted digit: a tiny value needs more than a large one.
MOST_BITS, _MOST_TIMES = 50_000, 16


@frozen
class _Product:
    """The product of `weight` and of `factors`, the probabilities of independent events; 0 if `factors` is None.

    `noises` is the number of noises of the events. Let v be the product of the total variations of the laws of these
    noises, except normal laws. `variation` is an upper bound of v² for every complex eps with |eps - e| <= DISK·e and
    every e > 0, where DISK is a constant of this room.
    """

    weight: ExpPoly
    factors: tuple[Factor, ...] | None
    noises: int
    variation: Fraction


@dataclass(frozen=True)
class EnclosedForm:
    """A function of eps without a closed form: `constant` + Σ `products`, which is not multiplied out.

    The weights of the products are exponential polynomials. `limits` bound the work for values and series. `reason`
    says why the function has no closed form. If `only_at` is not None, only the value at that eps is known.
    """

    constant: Fraction
    products: tuple[_Product, ...]
    limits: Limits
    reason: str = ""
    only_at: Fraction | None = None

    @staticmethod
    def from_bound(bound: Bound, measurer: Measurer, limits: Limits, reason: str = "") -> EnclosedForm:
        """Return `bound` as a sum of products, with the factors into which `measurer` divides each event.

        `limits` bound the later work on the result, and `reason` says why it has no closed form. Raises OutsideFragment
        if a weight is not an exponential polynomial, and LimitReached if a single factor is too long.
        """
        products = []
        for share in bound.shares:
            if not isinstance(share.weight, ExpPoly | None):
                raise OutsideFragment("a weight has a denominator")
            by_event = [measurer.factors(event) for event in share.events]
            factors = [factors for factors in by_event if factors is not None]
            noises = [noise for event in share.events for noise in event.noises]
            products.append(
                _Product(
                    ExpPoly.ONE if share.weight is None else share.weight,
                    tuple(factor for each in factors for factor in each) if len(factors) == len(by_event) else None,
                    len(noises),
                    prod(
                        (
                            noise.law.variation_bound(power_series.DISK)
                            for noise in noises
                            if noise.law.measure is not Measure.INTEGRALS
                        ),
                        start=_ONE,
                    ),
                )
            )
        return EnclosedForm(bound.constant, tuple(products), limits, reason)

    def __str__(self) -> str:
        return self.reason

    def restricted_to(self, only_at: Fraction | None) -> EnclosedForm:
        """Return this function, known only at eps = `only_at`; the function itself if `only_at` is None."""
        return self if only_at is None else replace(self, only_at=only_at)

    def functions(self) -> normals.NormalSum | None:
        """Return the function as a sum of exponential polynomials times normal distribution functions, or None.

        The result is None unless each product has a single factor: the probability that bounds on one normal value
        hold.
        """
        total = normals.NormalSum.collect(ExpPoly.constant(self.constant), ())
        for product in self.products:
            match product.factors:
                case None:
                    continue
                case (normal.NormalMeasure() as factor,) if (functions := factor.functions()) is not None:
                    for c, function in functions:
                        total = total + normals.NormalSum.single(product.weight * c, function)
                case _:
                    return None
        return total

    def series(self, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the function in eps at `center`; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to. Raises LimitReached.
        """
        total = flint.arb_series([flint.arb(to_fmpq(self.constant))])
        for each in self.products:
            if each.factors is not None:
                product = series_of(each.weight, center)
                for factor in each.factors:
                    product = product * self._factor(factor, center)
                total = total + product
        return total

    def _factor(self, factor: Factor, center: Fraction) -> flint.arb_series:
        if isinstance(factor, CanonicalTree):
            return tree_series(
                factor._replace(stretch=_ONE), power_series.SeriesRing(center, factor.stretch), self.limits
            )
        if not isinstance(factor, ExpPoly | Quotient):
            return factor.series(center)
        above, below = fraction_of(factor)
        divisor = series_of(below, center)
        if power_series.coefficients(divisor, 1)[0].contains(0):
            # The divisor is not 0, and an enclosure of more bits will exclude 0.
            return flint.arb_series([flint.arb("nan")] * flint.ctx.cap)
        return series_of(above, center) / divisor

    def majorant(self, center: Fraction) -> flint.arb:
        """Return an upper bound of |value| for all complex eps with |eps - `center`| <= DISK·`center`."""
        total = abs(flint.arb(to_fmpq(self.constant)))
        for each in self.products:
            most = majorant_of(each.weight, center) * flint.arb(to_fmpq(each.variation)).sqrt()
            for factor in each.factors or ():
                if isinstance(factor, normal.NormalMeasure | normal_tree.TreeMeasure):
                    most *= factor.majorant(center)
            total += most
        return total.upper()

    def enclosure(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Return proved rationals (lo, hi) with lo <= value at `eps` <= hi, for `eps` > 0.

        They agree to approximately `digits` digits unless the value is tiny. Raises Undecided past a limit, and
        ValueError if the value is known only at another eps, `only_at`.
        """
        point = exact_eps(eps)
        if self.only_at not in (None, point):
            raise ValueError(f"the value is known only at eps = {self.only_at}, not at {point}")
        bits = 4 * digits
        low, high = self.dyadic_enclosure(point, bits)
        while (high - low) * 10**digits > abs(low) and bits < _MOST_TIMES * digits:
            bits *= 2
            low, high = self.dyadic_enclosure(point, bits)
        return low, high

    at = former_method("at", "enclosure")

    def dyadic_enclosure(self, eps: Fraction, bits: int) -> tuple[Fraction, Fraction]:
        """Return rationals (lo, hi) that enclose the value at `eps` > 0, with hi - lo <= 2^-`bits`.

        Raises LimitReached, and OutsideFragment if the value needs more than `MOST_BITS` bits.
        """
        factors = [factor for each in self.products for factor in each.factors or ()]
        plain = all(
            isinstance(factor, normal.NormalMeasure | normal_tree.TreeMeasure | sums_of_noises.SummedMeasure)
            for factor in factors
        )
        work = bits + 40 if plain else 2 * bits + 64
        while work <= MOST_BITS:
            with power_series.precision(work, 1):
                (ball,) = power_series.coefficients(self.series(eps), 1)
                if ball.is_finite() and ball.rad() < flint.arb(2) ** -(bits + 2):
                    return dyadic(ball.lower()), dyadic(ball.upper())
            work *= 2
        raise OutsideFragment(f"the value needs numbers of more than {MOST_BITS} bits")


def series_of(function: ExpPoly, center: Fraction) -> flint.arb_series:
    """Return the Taylor series of `function` in eps at `center`; each coefficient is an enclosure."""
    return normals.series_at(function, flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)]))


def majorant_of(function: ExpPoly, center: Fraction) -> flint.arb:
    """Return an upper bound of |`function`(eps)| for all complex eps with |eps - `center`| <= DISK·`center`."""
    return normals.majorant_around(function, center, center * power_series.DISK).upper()


def left_out(majorant: flint.arb, share: Fraction, length: int) -> flint.arb:
    """Return an upper bound of the difference between an analytic function and a Taylor polynomial of `length` terms.

    The absolute value of the function is at most `majorant` on a disk around the center of the polynomial. The result
    holds at all points whose distance from the center is at most `share` times the radius of the disk, for `share` < 1.
    """
    return (majorant * flint.arb(to_fmpq(share)) ** length / flint.arb(to_fmpq(1 - share))).upper()


#: A probability as a function of eps.
Probability = ClosedForm | EnclosedForm
