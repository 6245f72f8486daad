"""The distance to disagreement dd(u) = inf { d(u, u') : det(u') != det(u) }, exactly (Definition 2 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.answers import Answer, finite_values, same_value
from dipc.ideal.disagree import disagreement
from dipc.ideal.ideal import Ideal
from dipc.ideal.nearest import InputSet
from dipc.ideal.norm import Norm
from dipc.ideal.search import Search
from dipc.lang.core import IntType, Value
from dipc.metric.formula import every, opposite

_ZERO, _ONE = Fraction(0), Fraction(1)

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
            if not away and (alike := self._class(finite, answer)) is not None:
                least = alike.distance_out(self._norm, point)
                continue
            for target in self._targets_for(finite, answer):
                found = target.distance(self._norm, point, away, least)
                least = least if found is None else found
        return least

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
