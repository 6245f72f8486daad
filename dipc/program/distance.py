"""The distance to disagreement dd(u) = inf { d(u, u') : det(u') != det(u) }, exactly (Definition 2 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import floor, prod
from operator import itemgetter

from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.chain.affine import Affine, Answer, finite_values, same_value
from dipc.chain.constraints import Constraint
from dipc.program.ideal import Ideal, Region, disagreement
from dipc.program.metric import InputSet, Norm, Point
from dipc.program.nearness import Every, Formula, Some, every, opposite
from dipc.text.core import IntType, Value

# --- The least distance to a set of inputs that is no convex set: constraints joined by `and` and `or` ----------------
#


class Search:
    """Branch and bound: one alternative of an `or` after the other, as long as it may be nearer than what was found.

    More constraints only make a set smaller and its distance larger. So a part is given up where already some of its
    constraints put it too far away, or contradict each other.
    """

    def __init__(self, norm: Norm, point: Point, whole_inputs: frozenset[int], limits: Limits) -> None:
        self._norm = norm
        self._point = point
        self._whole_inputs = whole_inputs
        self._parts = 0
        self._limits = limits

    def nearest(
        self, guards: Sequence[Constraint], formula: Formula, away: Fraction, below: Fraction | None
    ) -> Fraction | None:
        """inf { d(point, u') : u' satisfies `guards` and `formula` }, where the other inputs are `away`.

        None means that it is at least `below`, or that there is no such input. Raises Undecided past a limit.
        """
        if formula is False:
            return None
        self._parts += 1
        if self._parts > self._limits.parts:
            raise LimitReached("parts", f"more than {self._limits.parts} convex sets of inputs have another answer")
        parts = formula.parts if isinstance(formula, Every) else () if formula is True else (formula,)
        known = [*guards, *(part for part in parts if isinstance(part, Constraint))]
        least = InputSet(known, self._whole_inputs, self._limits.branches).distance(
            self._norm, self._point, away, below
        )
        choices = [part for part in parts if isinstance(part, Some | Every)]
        if least is None or not choices:
            return least
        first, *rest = choices
        alternatives = first.parts if isinstance(first, Some) else (first,)
        found: Fraction | None = None
        for alternative in sorted(alternatives, key=self._rank):
            both = Every((*(alternative.parts if isinstance(alternative, Every) else (alternative,)), *rest))
            nearer = self.nearest(known, both, away, below)
            if nearer is not None:
                found = below = nearer
                if found == least:
                    break
        return found

    def _rank(self, alternative: Formula) -> Fraction:
        """How far the point is from an alternative, roughly: what it satisfies already comes first."""
        match alternative:
            case Constraint():
                return max(-alternative.form.at(self._point), Fraction(0))
            case Every(parts):
                return max(map(self._rank, parts))
            case Some(parts):
                return min(map(self._rank, parts))
            case _:
                return Fraction(0)


# --- The distance to disagreement dd(u) = inf { d(u, u') : det(u') != det(u) }, exactly (Definition 2 of the paper) ---
#

_ZERO, _ONE = Fraction(0), Fraction(1)

#: After so many inputs of an ideal with many regions it is worth to know these.
_MOST_ALONE = 16

_Key = tuple[tuple[type, ...], tuple[Value, ...], tuple[type, ...], tuple[Value, ...]]


def distance(ideal: Ideal, inputs: Sequence[Value], norm: Norm | None = None) -> Fraction | None:
    """dd at one input (a value for every input, in their order); None is infinity: no answer is another one.

    The distance d and what counts as another answer are those of the program's metric; `norm` wins over its own.
    Raises DiagnosticError where det is undefined, Undecided past a limit. For many inputs make one `Distances`.
    """
    return Distances(ideal, norm).at(inputs)


class Distances:
    """dd of one ideal at many inputs."""

    def __init__(self, ideal: Ideal, norm: Norm | None = None) -> None:
        self._ideal = ideal
        self._norm = norm or ideal.metric.norm
        core = ideal.program.core
        self._position = {slot: at for at, slot in enumerate(core.inputs)}
        self._whole_outputs = [isinstance(core.slots[slot].type, IntType) for slot in core.outputs]
        self._whole_inputs = frozenset(ideal.whole_inputs)
        self._finite = [core.slots[slot] for slot in ideal.finite_inputs]
        self._targets: dict[_Key, tuple[InputSet, ...]] = {}
        self._classes: dict[_Key, InputSet | None] = {}
        #: How many inputs were looked at alone.
        self._alone = 0

    def at(self, inputs: Sequence[Value], answer: Sequence[Value] | None = None) -> Fraction | None:
        """dd(u) for the input u, as `distance` gives it; `answer` is det(u), where that is known."""
        answer = tuple(self._ideal.values(inputs) if answer is None else answer)
        own = tuple(inputs[self._position[slot.index]] for slot in self._finite)
        point: dict[int, Fraction] = {}
        for slot in self._ideal.symbolic_inputs:
            value = inputs[self._position[slot]]
            assert isinstance(value, Fraction)
            point[slot] = value
        if not self._ideal.metric.is_plain:
            return self._by_formulas(own, point, answer)
        least: Fraction | None = None
        for away, finite in self._around(own):
            if least is not None and away >= least:
                break
            if self._asks_alone(finite) and (near := self._near(finite, answer, point)) is not None:
                total = self._norm.combined([away, near])
                least = total if least is None else min(least, total)
                continue
            if not away and (alike := self._class(finite, answer)) is not None:
                least = alike.distance_out(self._norm, point)
                continue
            for target in self._targets_for(finite, answer):
                found = target.distance(self._norm, point, away, least)
                least = least if found is None else found
        return least

    def _asks_alone(self, finite: tuple[Value, ...]) -> bool:
        """Whether the way to the nearest other answer is looked for from this input alone: there are many regions, and
        few inputs were asked about."""
        if self._norm is Norm.DISCRETE or self._ideal.has_few_regions(self._by_slot(finite)):
            return False
        self._alone += 1
        return self._alone <= _MOST_ALONE

    def _near(self, finite: tuple[Value, ...], answer: tuple[Value, ...], point: Point) -> Fraction | None:
        """How far the real and int inputs have to move, with these finite ones, for another answer: what is nearer than
        one such region lies in a box around the point. None where no region was found, or the box has too many."""
        try:
            other = self._other_region(finite, answer, point)
            if other is None:
                return None
            least = self._distance_of(other, answer, point, None)
            regions = self._ideal.regions_near(self._by_slot(finite), point, least) if least else ()
            for region in regions:
                least = self._distance_of(region, answer, point, least)
        except Undecided:
            return None
        return least

    def _distance_of(
        self, region: Region, answer: tuple[Value, ...], point: Point, least: Fraction | None
    ) -> Fraction | None:
        """The distance to where det is another answer in the region; what was `least` before, if that is no less."""
        for guards in disagreement(region, answer, self._whole_outputs):
            target = InputSet(guards, self._whole_inputs, self._ideal.program.limits.branches)
            found = target.distance(self._norm, point, _ZERO, least)
            least = least if found is None else found
        return least

    def _other_region(self, finite: tuple[Value, ...], answer: tuple[Value, ...], point: Point) -> Region | None:
        """A region with another answer, of the point itself or of one just beyond one of the comparisons on its path;
        None where there is none of these."""
        here = self._ideal.region_of(self._by_slot(finite), point)
        if self._is_other(finite, point, answer):
            return here
        beyond = [(guard.form.at(point) / self._norm.steepness(guard.form.inputs), guard) for guard in here.guards]
        scale = min((out for out, _ in beyond if out), default=_ONE)
        for out, guard in sorted(beyond, key=itemgetter(0)):
            further = max(out, scale) / 64 + out
            if self._whole_inputs:
                further = Fraction(floor(further) + 1)
            there = self._norm.towards(point, (-guard.form).inputs, further)
            if self._is_other(finite, there, answer):
                return self._ideal.region_of(self._by_slot(finite), there)
        return None

    def _is_other(self, finite: tuple[Value, ...], point: Point, answer: tuple[Value, ...]) -> bool:
        """Whether det for these inputs is not the answer."""
        given = {**self._by_slot(finite), **point}
        there = self._ideal.values([given[slot] for slot in self._ideal.program.core.inputs])
        return not all(map(same_value, there, answer))

    def _by_formulas(
        self, own: tuple[Value, ...], point: dict[int, Fraction], answer: tuple[Value, ...]
    ) -> Fraction | None:
        metric = self._ideal.metric
        here: dict[int, Answer] = {**self._by_slot(own), **point}
        symbolic: dict[int, Answer] = {slot: Affine.input(slot) for slot in point}
        search = Search(self._norm, point, self._whole_inputs, self._ideal.program.limits)
        least: Fraction | None = None
        for away, finite in self._around(own):
            if least is not None and away >= least:
                break
            there = {**symbolic, **self._by_slot(finite)}
            near = opposite(metric.apart(here, there))
            for region in self._ideal.regions(self._by_slot(finite)) if near is not False else ():
                target = every((metric.differ(here, answer, region.answer), near))
                found = search.nearest(region.guards, target, away, least)
                least = least if found is None else found
        return least

    def _class(self, finite: tuple[Value, ...], answer: tuple[Value, ...]) -> InputSet | None:
        """All real and int inputs where det is `answer`, if they are known to be one convex set."""
        key = _key(finite, answer)
        if key not in self._classes:
            self._classes[key] = self._find_class(finite, answer)
        return self._classes[key]

    def _find_class(self, finite: tuple[Value, ...], answer: tuple[Value, ...]) -> InputSet | None:
        alike = self._ideal.alike(self._by_slot(finite), answer)
        if len(alike) != 1 or any(isinstance(value, Affine) for value in alike[0].answer):
            return None
        return InputSet(alike[0].guards, self._whole_inputs, self._ideal.program.limits.branches)

    def _targets_for(self, finite: tuple[Value, ...], answer: tuple[Value, ...]) -> tuple[InputSet, ...]:
        """The sets of real and int inputs where det is another answer, for these finite inputs."""
        key = _key(finite, answer)
        known = self._targets.get(key)
        if known is None:
            known = tuple(
                InputSet(guards, self._whole_inputs, self._ideal.program.limits.branches)
                for region in self._ideal.regions(self._by_slot(finite))
                for guards in disagreement(region, answer, self._whole_outputs)
            )
            self._targets[key] = known
        return known

    def _by_slot(self, finite: tuple[Value, ...]) -> dict[int, Value]:
        return {slot.index: value for slot, value in zip(self._finite, finite, strict=True)}

    def _around(self, own: tuple[Value, ...]) -> Iterator[tuple[Fraction, tuple[Value, ...]]]:
        """All combinations of finite inputs, the nearest first, with their distance from `own`."""
        if not own:
            yield _ZERO, own
            return
        choices = [finite_values(slot) for slot in self._finite]
        count = prod(map(len, choices))
        if count > self._ideal.program.limits.combinations:
            raise LimitReached(
                "combinations", f"the finite inputs have {count} combinations, more than can be compared"
            )
        ranked = [
            (self._norm.combined([gap(a, b) for a, b in zip(own, other, strict=True)]), other)
            for other in product(*choices)
        ]
        ranked.sort(key=lambda pair: pair[0])
        yield from ranked


def _key(finite: tuple[Value, ...], answer: tuple[Value, ...]) -> _Key:
    # True and the number 1 are equal, but not the same value.
    return tuple(map(type, finite)), finite, tuple(map(type, answer)), answer


def gap(one: Value, other: Value) -> Fraction:
    """How far two values of one input are apart: numbers by their difference, others by 1 if they differ."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return abs(one - other)
    return _ZERO if same_value(one, other) else _ONE
