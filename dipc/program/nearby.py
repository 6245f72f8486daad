"""The answers of a deterministic program at all inputs near one input, from one run for all of them.

A state of this run has, for each variable, the values that it may have at the label of the state, whatever values the
other variables have. They are numbers of a domain, truth values, and forms of the inputs. At each input nearer to the
center than `radius`, a form f differs from its value at the center by less than steepness(f)·radius. So the sign of f
is known if its value at the center is at least this far from 0, and then a comparison of f with 0 is decided. Otherwise
the run continues on both sides, and where they meet, a variable may have the values of both.

The steps are those of the chain, one for each combination of the values that an instruction reads. The result contains
every answer that det gives near the center. It may contain more, because each variable has its own list of values:
which values occur together is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import prod

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.state import NOTHING_KNOWN, Comparison, Edge, Fault, SlotValue, State, slots_in
from dipc.chain.step import slot_of, step
from dipc.program.metric import Norm, Point
from dipc.text.ast import COMPARED
from dipc.text.core import Store, Value

#: By slot the values that a variable may have.
_Values = list[tuple[SlotValue, ...]]

#: The most combinations of values of the variables of one instruction.
_MOST_COMBINED = 1_000


class NearbyRun:
    """A run of a program without noise and choices at all inputs nearer than `radius` to `center`, by `norm`."""

    def __init__(self, flow: Flow, norm: Norm, center: Point, radius: Fraction) -> None:
        self._flow = flow
        self._norm = norm
        self._center = center
        self._radius = radius

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
        """Yield (next label, values that variables may have there) for each way in which the instruction can go.

        `values` has the values that each variable may have at `label`. On each way, a variable that the instruction
        reads keeps only the values that occur in some combination of this way.
        """
        flow = self._flow
        read, instruction = [*slots_in(flow.reads[label])], flow.program.instructions[label]
        ways: dict[int, list[State]] = {}
        written: dict[int, dict[SlotValue, None]] = {}
        for state in self._combinations(label, values):
            for after, edge in step(flow, state):
                if self._may_take(edge):
                    ways.setdefault(after.label, []).append(state)
                    if isinstance(instruction, Store):
                        slot = slot_of(instruction.target, state.values, flow.program.slots)
                        written.setdefault(slot, {})[after.values[slot]] = None
        for goal, states in ways.items():
            there = values.copy()
            for slot in read if len(ways) > 1 else ():
                if len(values[slot]) > 1:
                    there[slot] = tuple(dict.fromkeys(state.values[slot] for state in states))
            for slot, given in written.items():
                kept = there[slot] if len(written) > 1 else ()
                there[slot] = tuple(dict.fromkeys((*kept, *given)))
            yield goal, there

    def _combinations(self, label: int, values: _Values) -> Iterator[State]:
        """Yield a state at `label` for each combination of `values` of the variables that the instruction reads.

        A variable that is not read always has the first of its values. Raises NotApplicable for too many combinations.
        """
        several = [slot for slot in slots_in(self._flow.reads[label]) if len(values[slot]) > 1]
        if prod([len(values[slot]) for slot in several]) > _MOST_COMBINED:
            raise NotApplicable
        chosen = [each[0] for each in values]
        for choice in product(*[values[slot] for slot in several]):
            for slot, value in zip(several, choice, strict=True):
                chosen[slot] = value
            yield State(label, tuple(chosen), (), NOTHING_KNOWN, NOTHING_KNOWN, 0)

    def _may_take(self, edge: Edge) -> bool:
        """Return True unless the comparison of `edge` surely has another outcome at every input of the run."""
        if not isinstance(edge, Comparison):
            return True
        center = edge.difference.evaluate(self._center)
        if abs(center) < self._norm.steepness(edge.difference.inputs) * self._radius:
            return True
        return COMPARED[edge.op](center, 0) is edge.holds
