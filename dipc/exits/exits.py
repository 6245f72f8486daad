"""The exits of a program: guards on its inputs, the weight of its choices, and an event over its noises."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.chain.answers import same_value
from dipc.chain.chain import ExitState
from dipc.chain.event import EventTemplate, template
from dipc.chain.explore import explore
from dipc.chain.flow import Flow
from dipc.exits.choices import Choices
from dipc.exits.counting import counted_exits
from dipc.exits.reaching import exit_weights
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram


@dataclass(frozen=True, slots=True)
class Exit:
    """One way to end, for some answer: it is reached where the guards of the event hold of the inputs, with probability
    `weight` (None: 1), that of reaching the state in the chain of the choices, times the measures of its components."""

    state: ExitState
    event: EventTemplate
    weight: Closed | None


@dataclass(frozen=True, slots=True)
class Exits:
    """All ways to end for given finite inputs; those that cannot give the wanted outputs may be missing. They exclude
    each other, and real and int inputs are left open. `weights` are by node, none where there are no choices."""

    program: CoreProgram
    states: tuple[ExitState, ...]
    weights: Mapping[int, Closed]

    def towards(self, wanted: Mapping[int, Value], balls: Collection[int] = ()) -> Iterator[Exit]:
        """Those with these finite outputs, which must be observed, for real and int outputs `balls` in balls to come:
        Pr[they are so] is the sum over these exits whose guards hold of the inputs."""
        return self._exits((state for state in self.states if _gives(state, wanted)), balls)

    def all(self) -> Iterator[Exit]:
        """All of them, with the outputs that their states have."""
        return self._exits(self.states, ())

    def away_from(self, wanted: Mapping[int, Value]) -> Iterator[Exit]:
        """All others."""
        return self._exits((state for state in self.states if not _gives(state, wanted)), ())

    def _exits(self, states: Iterable[ExitState], balls: Collection[int]) -> Iterator[Exit]:
        for state in states:
            event = template(self.program, state, balls)
            if event.possible:
                yield Exit(state, event, self.weights.get(state.node))


def exits(
    flow: Flow,
    choices: Choices,
    limits: Limits,
    finite: Mapping[int, Value],
    wanted: Mapping[int, Value] | None,
    observed: Iterable[int],
) -> Exits:
    """The exits of a program for these finite inputs, towards the `wanted` outputs (None: any), with the values of the
    `observed` ones. Raises Undecided past a limit and DiagnosticError for programs that go wrong."""
    weights = choices.settled()
    if flow.chooses:
        observed = frozenset(observed)
        counted = counted_exits(flow, weights, limits, finite, wanted or {}, observed)
        if counted is not None:
            return Exits(flow.program, counted.states, counted.weights)
    chain = explore(flow, finite, wanted, limits, observed=observed, possible=weights.possible)
    return Exits(flow.program, chain.exits, exit_weights(chain, weights, limits) if flow.chooses else {})


def _gives(state: ExitState, wanted: Mapping[int, Value]) -> bool:
    return all(same_value(state.outputs[slot], value) for slot, value in wanted.items())
