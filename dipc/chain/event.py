"""Exit states as events: everything that does not depend on the row is done once.

A table substitutes tens of thousands of rows into the same few exit states, so a template holds the connected
components of the noises and leaves only the numbers to be filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.component import AffineBound, Balls, ComponentTemplate, components
from dipc.chain.constraints import Constraint
from dipc.chain.irredundant import irredundant
from dipc.chain.nonnegative import nonnegative
from dipc.lang.core import RealType
from dipc.lang.core_program import CoreProgram

_NO_BALLS: Balls = {}


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """The event that an exit is reached and certain real and int outputs lie in their balls, for inputs yet to come.

    Where `guards_hold`, its probability is the product of the measures of the components' events, times the weight of
    the choices that lead to the exit (see `reach`); elsewhere it is 0. `inputs` are all the real and int inputs that
    matter; `random_balls` the outputs that are continuous noise.
    """

    inputs: tuple[int, ...]
    possible: bool
    guards: tuple[Constraint, ...]
    points: tuple[tuple[int, Affine], ...]
    random_balls: tuple[int, ...]
    components: tuple[ComponentTemplate, ...]

    def guards_hold(self, inputs: Mapping[int, Fraction], balls: Balls = _NO_BALLS) -> bool:
        """False only if the event has probability 0: by the guards, or because an output cannot lie in its ball."""
        if not self.possible:
            return False
        for guard in self.guards:
            if not guard.holds_at(inputs):
                return False
        for slot, form in self.points:
            center, radius = balls[slot]
            if abs(form.at(inputs) - center) > radius:
                return False
        # A single value of a continuous output has probability 0.
        return all(balls[slot].radius > 0 for slot in self.random_balls)


def template(program: CoreProgram, exit_state: ExitState, balls: Iterable[int] = ()) -> EventTemplate:
    """The template for an exit when the real and int outputs `balls` are to lie in balls.

    An output that was never assigned lies in no ball.
    """
    possible = True
    points: list[tuple[int, Affine]] = []
    random_balls: list[int] = []
    guards = irredundant(exit_state.guards.items)
    given = (*exit_state.guards.items, *nonnegative(exit_state.noises).items)
    constraints = irredundant(exit_state.constraints.items, given)
    bounds = [AffineBound(item.form, None) for item in constraints]
    for slot in sorted(balls):
        value = exit_state.outputs[slot]
        if value is None:
            possible = False
            continue
        assert isinstance(value, Affine), "only real and int outputs have balls"
        if not value.noises:
            points.append((slot, value))
            continue
        if isinstance(program.slots[slot].type, RealType):
            random_balls.append(slot)
        bounds.append(AffineBound(value, slot))
    parts = components(exit_state.noises, bounds)
    inputs = {slot for part in parts for slot in part.inputs}
    inputs.update(slot for guard in guards for slot, _ in guard.form.inputs)
    inputs.update(slot for _, form in points for slot, _ in form.inputs)
    return EventTemplate(tuple(sorted(inputs)), possible, guards, tuple(points), tuple(random_balls), parts)
