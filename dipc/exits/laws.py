"""The laws of a program's finite outputs: for each combination of their values its probability, not measured yet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dipc.algebra.limits import Limits
from dipc.chain.flow import Flow
from dipc.chain.symbolic import is_symbolic
from dipc.exits.choices import Choices
from dipc.exits.exits import Exit, exits
from dipc.lang.core import BoolType, DomType, Slot, Value
from dipc.measure.bound import Bound, Share

#: Values of the finite outputs, in their order; None for what was never assigned.
Answer = tuple[Value | None, ...]


class Laws:
    """Pr[the finite outputs have these values], all values at once. Real and int outputs are left open: the probability
    is that of all their values together. The program is explored once for each combination of finite inputs."""

    def __init__(self, flow: Flow, choices: Choices, limits: Limits) -> None:
        self._flow = flow
        self._choices = choices
        self._limits = limits
        slots = flow.program.slots
        #: The finite outputs.
        self.observed = tuple([slots[slot] for slot in flow.program.outputs if not is_symbolic(slots[slot].type)])
        self._places = [_places(slot) for slot in self.observed]
        self._explored: dict[tuple[Value, ...], tuple[tuple[Answer, Exit], ...]] = {}

    def at(self, inputs: Mapping[int, Value]) -> dict[Answer, Bound]:
        """The probability of each answer that may occur at these values of all inputs, by slot; those of the others are
        0. In the order of the outputs' domains, what was never assigned last.

        Raises Undecided past a limit and DiagnosticError for a program that goes wrong.
        """
        finite: dict[int, Value] = {}
        reals: dict[int, Fraction] = {}
        for slot, value in inputs.items():
            if is_symbolic(self._flow.program.slots[slot].type):
                assert isinstance(value, Fraction)
                reals[slot] = value
            else:
                finite[slot] = value
        shares: dict[Answer, list[Share]] = {}
        for answer, found in self._exits(finite):
            if found.event.guards_hold(reals):
                events = tuple([part.event(reals, {}) for part in found.event.components])
                shares.setdefault(answer, []).append(Share(found.weight, events))
        ordered = sorted(shares, key=self.rank)
        return {answer: Bound(tuple(shares[answer])) for answer in ordered}

    def rank(self, answer: Answer) -> list[int]:
        """The place of an answer in the order of the outputs' domains."""
        return [places[value] for places, value in zip(self._places, answer, strict=True)]

    def _exits(self, finite: Mapping[int, Value]) -> tuple[tuple[Answer, Exit], ...]:
        key = tuple(finite.values())
        known = self._explored.get(key)
        if known is None:
            observed = [slot.index for slot in self.observed]
            explored = exits(self._flow, self._choices, self._limits, finite, None, observed)
            known = self._explored[key] = tuple(
                [
                    (tuple([_finite(found.state.outputs[slot]) for slot in observed]), found)
                    for found in explored.towards({})
                ]
            )
        return known


def _finite(value: object) -> Value | None:
    assert value is None or isinstance(value, Fraction | str | bool)
    return value


def _places(slot: Slot) -> dict[Value | None, int]:
    """The place of each value in the slot's domain; what was never assigned comes last."""
    match slot.type:
        case DomType(values=values):
            return {value: place for place, value in enumerate([*values, None])}
        case BoolType():
            return {False: 0, True: 1, None: 2}
    raise AssertionError(f"{slot.name} has no finite type")
