"""The answers of a deterministic program at all inputs near one input, from one run for all of them.

A state of this run has, for each variable, the values that it may have at the label of the state, whatever values the
other variables have. They are numbers of a domain, truth values, and forms of the inputs. At each input nearer to the
center than `radius`, a form f differs from its value at the center by less than steepness(f)·radius. So the sign of f
is known if its value at the center is at least this far from 0, and then a comparison of f with 0 is decided. Otherwise
the run continues on both sides, and where they meet, a variable may have the values of both.

The result contains every answer that det gives near the center. It may contain more, because each variable has its own
list of values: which values occur together is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import prod

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.state import Affine, Fault, SlotValue, slots_in
from dipc.chain.step import evaluate, evaluate_affine, slot_of
from dipc.program.metric import Norm, Point
from dipc.text.ast import COMPARED, BaseType, CompareOp
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Branch,
    Jump,
    LinearComparison,
    Store,
    Value,
)

#: By slot the values that a variable may have.
_Values = list[tuple[SlotValue, ...]]

#: The most combinations of values of the variables of one instruction.
_MOST_COMBINED = 1_000

_BOTH, _TRUE, _FALSE = (True, False), (True,), (False,)


class NearbyRun:
    """A run of a program without noise and choices at all inputs nearer than `radius` to `center`, by `norm`."""

    def __init__(self, flow: Flow, norm: Norm, center: Point, radius: Fraction) -> None:
        self._flow = flow
        self._norm = norm
        self._center = center
        self._radius = radius
        self._signs: dict[tuple[Affine, CompareOp], tuple[bool, ...]] = {}

    def answers(self, finite: Mapping[int, Value]) -> tuple[tuple[SlotValue, ...], ...] | None:
        """Return for each output the values that it may have at the inputs of this run.

        `finite` has the values of the finite inputs by slot, which do not change. None for a program with a loop that
        is not unrolled, if a run at one of these inputs may fail, or if variables have too many values.
        """
        flow = self._flow
        if not flow.forward or flow.draws or flow.chooses:
            return None
        start: _Values = [(value,) for value in flow.first_state(finite).values]
        states = {flow.entry: start}
        pending = [flow.entry]
        try:
            while pending[0] != flow.exit_label:
                label = heappop(pending)
                for goal, values in self._successors(label, states.pop(label)):
                    known = states.get(goal)
                    if known is None:
                        states[goal] = values
                        heappush(pending, goal)
                    else:
                        states[goal] = [
                            here if here is there else tuple(dict.fromkeys((*here, *there)))
                            for here, there in zip(known, values, strict=True)
                        ]
        except (NotApplicable, Fault):
            return None
        return tuple([states[flow.exit_label][slot] for slot in flow.program.outputs])

    def _successors(self, label: int, values: _Values) -> Iterator[tuple[int, _Values]]:
        flow = self._flow
        follow = flow.landing[label + 1]
        instruction = flow.program.instructions[label]
        match instruction:
            case Store():
                yield follow, self._assigned(label, instruction, values)
            case Branch(condition=condition, then=then, otherwise=otherwise):
                sides: tuple[list[list[SlotValue]], list[list[SlotValue]]] = ([], [])
                for chosen in self._combinations(label, values):
                    for holds in self._results(condition, chosen):
                        sides[not holds].append(chosen)
                yield from self._sides(label, values, sides, then, otherwise)
            case Jump(target=goal):
                yield flow.landing[goal], values
            case _:
                raise NotApplicable

    def _assigned(self, label: int, instruction: Store, values: _Values) -> _Values:
        flow = self._flow
        given: dict[int, dict[SlotValue, None]] = {}
        for chosen in self._combinations(label, values):
            slot = slot_of(instruction.target, chosen, flow.program.slots)
            for result in self._results(instruction.value, chosen):
                value = self._form(slot, result) if isinstance(result, Affine) else flow.admission(slot)(result)
                given.setdefault(slot, {})[value] = None
        after = values.copy()
        for slot, assigned in given.items():
            kept = values[slot] if len(given) > 1 else ()
            after[slot] = tuple(dict.fromkeys((*kept, *assigned)))
        return after

    def _results(self, expr: AnyExpr, values: Sequence[SlotValue]) -> tuple[Value | Affine, ...]:
        match expr:
            case LinearComparison(difference, op):
                return self._outcomes(difference, op, values)
            case AffineExpr():
                return (evaluate_affine(expr, values, self._flow.program.slots),)
            case _:
                return (evaluate(expr, values, self._flow.program.slots),)

    def _form(self, slot: int, form: Affine) -> Affine:
        if self._flow.program.slots[slot].type is BaseType.INT:
            numbers = (form.constant, *(coefficient for _, coefficient in form.inputs))
            if any(number.denominator != 1 for number in numbers):
                raise NotApplicable
        return form

    def _sides(
        self,
        label: int,
        values: _Values,
        sides: tuple[list[list[SlotValue]], list[list[SlotValue]]],
        then: int,
        otherwise: int,
    ) -> Iterator[tuple[int, _Values]]:
        """Yield (next label, values that variables may have there) for each way in which the branch at `label` can go.

        `sides` are two lists of combinations of values of the variables that the branch reads: those for which it goes
        to the label `then`, and those for which it goes to `otherwise`. `values` has the values that each variable may
        have before the branch. On each way, a variable keeps only the values that occur in some combination of this
        way.
        """
        read = [*slots_in(self._flow.reads[label])]
        for combinations, goal in zip(sides, (then, otherwise), strict=True):
            if combinations:
                there = values.copy()
                for slot in read:
                    if len(values[slot]) > 1:
                        there[slot] = tuple(dict.fromkeys(chosen[slot] for chosen in combinations))
                yield self._flow.landing[goal], there

    def _combinations(self, label: int, values: _Values) -> Iterator[list[SlotValue]]:
        """Yield each combination of `values` of the variables that the instruction at `label` reads.

        A combination is a list with one value for each slot. For a variable that is not read, this is always the first
        of its values. Raises NotApplicable for too many combinations.
        """
        several = [slot for slot in slots_in(self._flow.reads[label]) if len(values[slot]) > 1]
        if prod([len(values[slot]) for slot in several]) > _MOST_COMBINED:
            raise NotApplicable
        first = [each[0] for each in values]
        for choice in product(*[values[slot] for slot in several]):
            chosen = first.copy() if several else first
            for slot, value in zip(several, choice, strict=True):
                chosen[slot] = value
            yield chosen

    def _outcomes(self, difference: AffineExpr, op: CompareOp, values: Sequence[SlotValue]) -> tuple[bool, ...]:
        form = evaluate_affine(difference, values, self._flow.program.slots)
        known = self._signs.get((form, op))
        if known is None:
            known = self._signs[form, op] = self._outcomes_of(form, op)
        return known

    def _outcomes_of(self, form: Affine, op: CompareOp) -> tuple[bool, ...]:
        if form.is_number:
            return (COMPARED[op](form.constant, 0),)
        center = form.evaluate(self._center)
        if abs(center) < self._norm.steepness(form.inputs) * self._radius:
            return _BOTH
        return _TRUE if COMPARED[op](center, 0) else _FALSE
