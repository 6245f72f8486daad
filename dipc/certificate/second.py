"""A second way to a probability, as little like the first as the same chain allows.

The chain is built towards every output at once, without cutting and without uniting states, so that each path is an
exit of its own; constraints are taken as they were met, without dropping any. Exits' events are measured order by
order (`dipc.measure.linear_extensions`), and where that engine cannot do one, by the certificate checker's sweep.
Choices are solved state by state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.algebra.combine import product, total
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.certificate.choices import TooLong, end_weights
from dipc.certificate.normal_event import EventShape, NormalEvent, exact_event, read_back
from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.component import Ball, Balls, Bound, components
from dipc.chain.explore import explore
from dipc.chain.symbolic import is_symbolic
from dipc.exits.probability import Cells
from dipc.exits.program import Program
from dipc.exits.reaching import choice_chain
from dipc.lang.core import RealType, Value
from dipc.measure.event import Event
from dipc.measure.linear_extensions import measure_by_linear_extensions
from dipc.tables.cells import Cell
from dipc.verifier.budget import Budget
from dipc.verifier.measure import measure_anew
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Ring

#: When the naive ways are given up: states of a chain, of its choices, orders of one event's noises.
MOST_STATES = 20_000
MOST_CHOICES = 2_000
MOST_ORDERS = 20_000

#: Steps of one sweep.
_STEPS = 5_000_000


@dataclass(slots=True)
class _Plan:
    """All exits for some finite inputs, with the weights of the choices that lead there (None for 1)."""

    exits: tuple[tuple[ExitState, Closed | None], ...]


@dataclass(slots=True)
class Second:
    """Probabilities of one program in the second way; `measured` counts events by how they were measured."""

    program: Program
    measured: Counter[str] = field(default_factory=Counter)
    _plans: dict[tuple[Value, ...], _Plan | Undecided] = field(default_factory=dict)
    _known: dict[NormalEvent, Closed | Undecided] = field(default_factory=dict)

    def probability(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Closed:
        """Pr[finite outputs equal, others within gamma]; raises Undecided where this way does not lead there."""
        core = self.program.core
        finite: dict[int, Value] = {}
        reals: dict[int, Fraction] = {}
        for slot, cell in zip(core.inputs, inputs, strict=True):
            assert cell.value is not None
            if is_symbolic(core.slots[slot].type):
                reals[slot] = _fraction(cell)
            else:
                finite[slot] = cell.value
        wanted: dict[int, Value] = {}
        balls: dict[int, Ball] = {}
        for slot, given in zip(core.outputs, outputs, strict=True):
            if given is not None and is_symbolic(core.slots[slot].type):
                balls[slot] = Ball(_fraction(given), _fraction(gamma))
            elif given is not None:
                assert given.value is not None
                wanted[slot] = given.value
        return total(
            self._share(found, weight, reals, balls)
            for found, weight in self._plan(finite).exits
            if all(found.outputs[slot] == value for slot, value in wanted.items())
        )

    def _plan(self, finite: dict[int, Value]) -> _Plan:
        key = tuple(finite.values())
        plan = self._plans.get(key)
        if plan is None:
            try:
                plan = self._explored(finite)
            except Undecided as undecided:
                plan = undecided.with_traceback(None)
            self._plans[key] = plan
        if isinstance(plan, Undecided):
            raise plan.with_traceback(None)
        return plan

    def _explored(self, finite: dict[int, Value]) -> _Plan:
        weights = self.program.choices.settled()
        limits = Limits(states=MOST_STATES)
        # States are never united where there are choices; there, what is dead may be forgotten, or loops would grow.
        display = not self.program.flow.chooses
        chain = explore(self.program.flow, finite, None, limits, display=display, possible=weights.possible)
        choices = choice_chain(chain, weights)
        try:
            reached = {} if choices is None else end_weights(choices, MOST_CHOICES)
        except TooLong as reason:
            raise Undecided(f"the chain of choices is not solved: {reason}") from None
        return _Plan(tuple((found, reached.get(found.node)) for found in chain.exits))

    def _share(self, found: ExitState, weight: Closed | None, reals: dict[int, Fraction], balls: Balls) -> Closed:
        """What one exit adds."""
        if not all(guard.holds_at(reals) for guard in found.guards.items):
            return ExpPoly.zero()
        bounds = [Bound(item.form, None) for item in found.constraints.items]
        for slot, (center, radius) in balls.items():
            value = found.outputs[slot]
            if value is None:
                return ExpPoly.zero()
            assert isinstance(value, Affine)
            if not value.noises:
                if abs(value.at(reals) - center) > radius:
                    return ExpPoly.zero()
            elif not radius and isinstance(self.program.core.slots[slot].type, RealType):
                return ExpPoly.zero()
            else:
                bounds.append(Bound(value, slot))
        parts = components(found.noises, bounds)
        factors = [] if weight is None else [weight]
        return product([*factors, *(self._measure(part.event(reals, balls)) for part in parts)])

    def _measure(self, event: Event) -> Closed:
        shape = EventShape(event)
        normal = shape.normal(shape.constants(event))
        known = self._known.get(normal)
        if known is None:
            try:
                known = self._measured(normal)
            except Undecided as undecided:
                known = undecided.with_traceback(None)
            self._known[normal] = known
        if isinstance(known, Undecided):
            raise known.with_traceback(None)
        return known

    def _measured(self, normal: NormalEvent) -> Closed:
        try:
            value: Closed = measure_by_linear_extensions(exact_event(normal), MOST_ORDERS)
            self.measured["order by order"] += 1
        except Undecided as undecided:
            try:
                found = measure_anew(read_back(normal), Budget(_STEPS))
            except Rejected:
                found = "it takes too many steps"
            if isinstance(found, str):
                raise Undecided(f"{undecided.reason}; by a sweep: {found}") from None
            value = Quotient(_exppoly(found[0]), _exppoly(found[1]))
            self.measured["by a sweep"] += 1
        return value


def _exppoly(function: Ring) -> ExpPoly:
    return ExpPoly.from_terms((k, q, c) for (k, q), c in function.items())


def _fraction(cell: Cell) -> Fraction:
    assert isinstance(cell.value, Fraction)
    return cell.value
