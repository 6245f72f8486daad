"""The measure of an event: the probability that its constraints hold, as an exponential polynomial in eps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Meter, OutsideFragment, weight
from dipc.algebra.quotient import Closed, fraction_of, simplest, total, watch_product
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.forest import (
    CanonicalTree,
    DifferenceSystem,
    EventShape,
    Inequalities,
    TreeShape,
    components,
    event_shape,
    order_measure,
    reduced,
    split,
    tree_measure,
    tree_shape,
    watch_size,
)
from dipc.measure.normal import NormalMeasure, normal_measure
from dipc.measure.polyhedral import general_measure, independent_parts
from dipc.noise.law import Law

_DEEPEST_SPLIT = 200
_MOST_SHAPES = 20_000
_SMALL_PRODUCT = 1_000
_ONE = Fraction(1)

#: What independent parts of an event are measured from.
Factor = CanonicalTree | NormalMeasure | Closed

#: All of an event but its means and constants.
_EventKey = tuple[tuple[Law, ...], tuple[Fraction, ...], tuple[tuple[tuple[int, Fraction], ...], ...]]

#: All of a system but its means and the sizes of its inequalities.
_SystemKey = tuple[tuple[Fraction, ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The independent parts of a system by shape: those that are trees, and the noises of those with cycles."""

    trees: tuple[TreeShape, ...]
    cyclic: tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class _Budget:
    """The number of systems that one event may still be split into."""

    left: int
    limit: int

    def spend(self, depth: int) -> None:
        """Count one more; raises LimitReached when none is left."""
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST_SPLIT:
            raise LimitReached("trees", f"the constraints split into more than {self.limit} orderings of the noises")


#: What is measured briefly: closed forms of so many terms, in so many steps, a second's work or less; and the terms
#: that a tree over the reals is expected to go through on the way.
BRIEF_TERMS, BRIEF_STEPS, BRIEF_WAY = 100_000, 100_000_000, 1_000_000


@dataclass
class Measurer:
    """Measures events and remembers the canonical trees it has integrated.

    `integrals` counts the trees integrated so far (the cache misses); past `remembered` terms all is forgotten. With
    `way` a tree over the reals is refused before it is expanded where it is expected to go through more terms.
    """

    limits: Limits = field(default_factory=Limits)
    remembered: int = 2_000_000
    way: int | None = None
    integrals: int = 0
    _shapes: dict[_EventKey, EventShape] = field(default_factory=dict, repr=False)
    _parts: dict[_SystemKey, _Parts] = field(default_factory=dict, repr=False)
    #: By a tree whose `stretch` is 1.
    _trees: dict[CanonicalTree, Closed] = field(default_factory=dict, repr=False)
    _refused: dict[CanonicalTree, tuple[str | None, str]] = field(default_factory=dict, repr=False)
    _products: dict[tuple[CanonicalTree, ...], Closed] = field(default_factory=dict, repr=False)
    _parts_measured: dict[Event, Closed] = field(default_factory=dict, repr=False)
    _remembered: int = 0

    @cached_property
    def brief(self) -> Measurer:
        """Measures what takes a moment alone, whatever was measured before, and refuses the rest."""
        limits = self.limits
        few = replace(limits, terms=min(limits.terms, BRIEF_TERMS), steps=min(limits.steps, BRIEF_STEPS))
        return Measurer(few, self.remembered, BRIEF_WAY)

    def measure(self, event: Event) -> Closed:
        """Pr[every constraint of the event holds] for every eps > 0, exactly; raises LimitReached past a limit.

        The result lies in the ring unless integer noises are among those that matter.
        """
        if any(not c.coefficients and not _holds(c) for c in event.constraints):
            return ExpPoly.zero()
        try:
            return self._differences(event)
        except OutsideFragment:
            return self._general(event)

    def factors(self, event: Event) -> list[Factor] | None:
        """Independent parts of the event whose measures multiply to its own: trees over the reals, each at its own
        `stretch`·eps, which are not measured, normal ones, and the measures of all others. None where that is 0.

        Raises LimitReached where one of them is too long.
        """
        if any(not c.coefficients and not _holds(c) for c in event.constraints):
            return None
        try:
            system = event_shape(event).system(event)
        except OutsideFragment:
            return self._factors_of_parts(event)
        if system is None:
            return None
        parts = self._parts_of(system)
        budget = _Budget(self.limits.trees, self.limits.trees)
        trees = [shape.canonical(system.means, system.lower, system.unit) for shape in parts.trees]
        return [
            *[self._own_tree(tree) if tree.whole else tree for tree in trees],
            *[self._cyclic(_restricted(system, members), budget, 0) for members in parts.cyclic],
        ]

    def _factors_of_parts(self, event: Event) -> list[Factor] | None:
        """The same for an event that is no difference system; some of its parts may be."""
        parts = independent_parts(Event(event.noises, tuple(c for c in event.constraints if c.coefficients)))
        found: list[Factor] = []
        for part in parts:
            if all(noise.law.is_normal for noise in part.noises):
                factors: list[Factor] | None = [normal_measure(part)]
            elif len(parts) == 1:
                factors = [self._part(part)]
            else:
                factors = self.factors(part)
            if factors is None:
                return None
            found += factors
        return found

    def _general(self, event: Event) -> Closed:
        """The measure of an event that is no difference system, part by part."""
        parts = independent_parts(Event(event.noises, tuple(c for c in event.constraints if c.coefficients)))
        measure: Closed = ExpPoly.one()
        for part in parts:
            measure = measure * self._part(part)
        return measure

    def _part(self, part: Event) -> Closed:
        """The measure of noises that share constraints, directly or not."""
        known = self._parts_measured.get(part)
        if known is None:
            try:
                known = self._differences(part)
            except OutsideFragment:
                known = general_measure(part, self.limits)
            self._count(_terms(known))
            self._parts_measured[part] = known
        return known

    def _differences(self, event: Event) -> Closed:
        """The measure of a difference system; raises OutsideFragment for other events."""
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
            return ExpPoly.zero()
        return self._system(system, _Budget(self.limits.trees, self.limits.trees), 0)

    def _system(self, system: DifferenceSystem, budget: _Budget, depth: int) -> Closed:
        """The measure of a system, whose implied inequalities have been removed if depth > 0."""
        parts = self._parts_of(system)
        means, lower, unit = system.means, system.lower, system.unit
        measure = self._product([shape.canonical(means, lower, unit) for shape in parts.trees])
        for members in parts.cyclic:
            measure = self._times(measure, self._cyclic(_restricted(system, members), budget, depth))
        return measure

    def _cyclic(self, system: DifferenceSystem, budget: _Budget, depth: int) -> Closed:
        ordered = order_measure(system, self.limits.cells)
        if ordered is not None:
            return ExpPoly.constant(ordered)
        if depth == 0:
            smaller = reduced(system)
            return ExpPoly.zero() if smaller is None else self._system(smaller, budget, 1)
        measures: list[Closed] = []
        for sign, case in split(system):
            budget.spend(depth)
            measures.append(sign * self._system(case, budget, depth + 1))
        return total(measures)

    def _parts_of(self, system: DifferenceSystem) -> _Parts:
        key = (system.rates, tuple(system.lower))
        known = self._parts.get(key)
        if known is None:
            trees, cyclic = [], []
            for members in components(len(system.rates), system.lower):
                inside = set(members)
                shape = tree_shape(system.rates, members, [p for p in system.lower if p[0] in inside or p[1] in inside])
                if shape is None:
                    cyclic.append(tuple(members))
                else:
                    trees.append(shape)
            if len(self._parts) >= _MOST_SHAPES:
                self._parts.clear()
            known = self._parts[key] = _Parts(tuple(trees), tuple(cyclic))
        return known

    def _product(self, trees: list[CanonicalTree]) -> Closed:
        """The product of the measures of independent trees."""
        key = tuple(trees) if len(trees) < 2 else tuple(sorted(trees))
        known = self._products.get(key)
        if known is None:
            known = self.product([self._own_tree(tree) for tree in key])
            self._count(_terms(known))
            self._products[key] = known
        return known

    def product(self, measures: Sequence[Closed]) -> Closed:
        """The product of the measures of independent events; of none, 1. Raises LimitReached where it is too long to be
        expanded, or common divisors of too high a degree were to be found."""
        watch_product(measures)
        result: Closed = ExpPoly.one()
        for measure in measures:
            result = self._times(result, measure)
        return result

    def _times(self, left: Closed, right: Closed) -> Closed:
        """The product, unless it is too long to be expanded."""
        (above, below), (other, under) = fraction_of(left), fraction_of(right)
        self._watch(above, other)
        self._watch(below, under)
        return simplest(left * right)

    def _watch(self, left: ExpPoly, right: ExpPoly) -> None:
        most = len(left) * len(right)
        if most > _SMALL_PRODUCT:
            meter = Meter(self.limits)
            meter.product(len(left), len(right), left.coefficient_bits(), right.coefficient_bits())
            # What is made of it later costs several times as much.
            meter.size(4 * min(most, left.product_box(right)))

    def _own_tree(self, tree: CanonicalTree) -> Closed:
        """The measure of a canonical tree, at `stretch`·eps."""
        return self._tree(tree._replace(stretch=_ONE)).scaled(tree.stretch)

    def _tree(self, tree: CanonicalTree) -> Closed:
        """The measure of a canonical tree at its own eps."""
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
        if self.way is None:
            return tree_measure(tree, self.limits)
        watch_size(tree, replace(self.limits, steps=self.way))
        measure = tree_measure(tree, self.limits)
        for part in fraction_of(measure):
            Meter(self.limits).size(len(part) * weight(part.coefficient_bits()))
        return measure

    def _count(self, terms: int) -> None:
        """Make room for a result of so many terms."""
        self._remembered += terms + 1
        if self._remembered > self.remembered:
            self._trees.clear()
            self._refused.clear()
            self._products.clear()
            self._parts_measured.clear()
            self._remembered = terms + 1


def _terms(value: Closed) -> int:
    """The terms that are remembered with a value."""
    return sum(len(part) for part in fraction_of(value))


def _restricted(system: DifferenceSystem, members: tuple[int, ...]) -> DifferenceSystem:
    """The part of a system on some of its noises, renumbered."""
    place = {noise: at for at, noise in enumerate(members)} | {-1: -1}
    lower: Inequalities = {(place[i], place[j]): w for (i, j), w in system.lower.items() if i in place and j in place}
    return DifferenceSystem(
        tuple(system.rates[i] for i in members), tuple(system.means[i] for i in members), lower, system.unit
    )


def _holds(c: Halfspace) -> bool:
    return c.constant > 0 or (c.constant == 0 and not c.strict)


def measure(event: Event, limits: Limits | None = None) -> Closed:
    """The measure of one event, without a memory; see `Measurer.measure`."""
    return Measurer(limits or Limits()).measure(event)
