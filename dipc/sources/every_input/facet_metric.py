"""The metric of a program, as far as classes of all real inputs are concerned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.answers import Answer
from dipc.chain.constraints import Constraint, constraint
from dipc.chain.entailment import connected, contradict
from dipc.chain.flow import slots_in, slots_read
from dipc.ideal.ideal import Ideal, Region
from dipc.lang import metric as syntax
from dipc.lang.ast import CompareOp
from dipc.lang.core import Value
from dipc.metric.formula import Every, Formula, Some
from dipc.sources.every_input.classes import finite_cases
from dipc.sources.every_input.facets import Metric, Way

#: A formula with more conjunctions than this is not looked into.
_MOST_CONJUNCTIONS = 2_000

#: Nor is one looked into for more values of the finite inputs than this.
_MOST_CASES = 64


def facet_metric(ideal: Ideal) -> Metric:
    """The distance of inputs of the program."""
    metric = ideal.metric
    if metric.core.apart is None:
        return Metric(metric.norm)
    cases: Sequence[Mapping[int, Value]] = ()
    with suppress(LimitReached):
        cases = finite_cases(ideal)
    if not 0 < len(cases) <= _MOST_CASES:
        return Metric(metric.norm, lambda _region, _way: True)
    every = [_Steps.of(ideal, finite, metric.core.apart) for finite in cases]
    return Metric(metric.norm, lambda region, way: any(_may_be_apart(steps, region, way) for steps in every))


@dataclass(frozen=True, slots=True)
class _Steps:
    """Where a step that leaves the finite inputs as they are may lead infinitely far. Of the conditions of the block,
    those that read no input which the step changes say what they say of an input and itself: that is False but for
    those `of_itself`."""

    ideal: Ideal
    here: Mapping[int, Answer]
    of_itself: frozenset[int]
    reading: Mapping[int, frozenset[int]]

    @staticmethod
    def of(ideal: Ideal, finite: Mapping[int, Value], apart: syntax.Formula) -> _Steps:
        here: dict[int, Answer] = {**finite, **{slot: Affine.input(slot) for slot in ideal.symbolic_inputs}}
        reading: dict[int, set[int]] = {}
        of_itself: set[int] = set()
        for at, condition in enumerate(apart.conditions):
            if ideal.metric.apart(here, here, _no_ints, [at]) is not False:
                of_itself.add(at)
            for slot in slots_in(slots_read(condition)):
                if apart.places[slot].primed:
                    reading.setdefault(apart.places[slot].slot, set()).add(at)
        return _Steps(ideal, here, frozenset(of_itself), {slot: frozenset(found) for slot, found in reading.items()})

    def apart(self, changed: Mapping[int, Affine]) -> Formula:
        """Where the input with these values in place of its own is infinitely far."""
        among = self.of_itself.union(*(self.reading.get(slot, ()) for slot in changed))
        return self.ideal.metric.apart(self.here, {**self.here, **changed}, _no_ints, among)


def _no_ints(_: Affine) -> bool:
    return False


def _may_be_apart(steps: _Steps, region: Region, way: Way) -> bool:
    """Whether some u of the region and some u - s·d beyond the facet may be infinitely far apart; False is proved."""
    depth = Affine.input(len(steps.ideal.program.core.slots))  # s, with a number that is no slot's
    formula = steps.apart({slot: Affine.input(slot) - depth.scaled(step) for slot, step in way.direction.items()})
    beyond = constraint(depth.scaled(way.width) - way.facet, CompareOp.GT)
    known = [*region.guards, beyond, constraint(depth, CompareOp.GE)]
    try:
        return any(not _excluded(known, case) for case in _cases(formula))
    except _TooMany:
        return True


def _excluded(known: Sequence[Constraint], case: Sequence[Constraint]) -> bool:
    return contradict([*case, *connected(case, known)])


class _TooMany(Exception):
    """More conjunctions than are looked into."""


def _cases(formula: Formula) -> Iterator[tuple[Constraint, ...]]:
    """The conjunctions whose union is the formula."""
    for count, case in enumerate(_disjuncts(formula)):
        if count >= _MOST_CONJUNCTIONS:
            raise _TooMany
        yield case


def _disjuncts(formula: Formula) -> Iterator[tuple[Constraint, ...]]:
    match formula:
        case bool():
            if formula:
                yield ()
        case Constraint():
            yield (formula,)
        case Some(parts=parts):
            for part in parts:
                yield from _disjuncts(part)
        case Every(parts=()):
            yield ()
        case Every(parts=(first, *rest)):
            for left in _disjuncts(first):
                for right in _disjuncts(Every(tuple(rest))):
                    yield (*left, *right)
