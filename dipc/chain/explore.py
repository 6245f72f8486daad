"""Builds the chain, with real inputs symbolic, towards the wanted outputs only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from heapq import heappop, heappush

from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.affine import Affine
from dipc.chain.chain import Chain, ExitState, Leaves, Transitions
from dipc.chain.constraints import Constraint, ConstraintSet, constraint_set
from dipc.chain.flow import Flow, analyze, recurrent_comparison, slot_set, slots_in, trapped, trapped_fault
from dipc.chain.state import (
    Choice,
    ChoiceWeight,
    Edge,
    Fault,
    Mark,
    NoiseVar,
    SlotValue,
    State,
    initial_state,
    is_symbolic,
    path_notes,
)
from dipc.chain.step import Successor, step
from dipc.chain.unite import Dominators, GuardUniter, alike_in_values, united
from dipc.text.ast import Role
from dipc.text.core import Slot, Value
from dipc.text.program import CoreProgram

#: So many states in a row that have one successor each are left out. A loop without choices is many states even so.
_MOST_SKIPPED = 8


def explore(
    program: CoreProgram | Flow,
    dom_inputs: Mapping[int, Value],
    wanted: Mapping[int, Value] | None = None,
    limits: Limits | None = None,
    *,
    observed: Iterable[int] | None = None,
    display: bool = False,
    possible: Callable[[ChoiceWeight], bool] = lambda _: True,
    guards: Iterable[Constraint] = (),
    along: Mapping[int, Fraction] | None = None,
) -> Chain:
    """The chain for `dom_inputs` (a value for every DOM and bool input).

    With `wanted`, values of DOM and bool outputs, the exits are just those that have these values: a state is cut as
    soon as an output differs that nothing can give its wanted value any more. The exits give the `observed` outputs:
    all of them by default, with `wanted` its own and the real and int ones. Paths that differ in nothing that matters
    later are united, unless `display` asks for every state as the paper shows it, or the program makes choices: then
    paths have weights (see `reach`). Choices whose weight is not `possible` are left out: such as one that is 0 for
    every eps. Give a Flow to analyze a program only once.

    Only real and int inputs that satisfy the `guards` are looked at, which some must; `along` one of them, only its own
    path is followed.

    Raises DiagnosticError with the path for what goes wrong in a step and for a loop that some run cannot leave,
    LimitReached past `limits`.
    """
    flow = program if isinstance(program, Flow) else analyze(program)
    if observed is None:
        observed = [
            slot
            for slot in flow.program.outputs
            if wanted is None or slot in wanted or is_symbolic(flow.program.slots[slot].type)
        ]
    explorer = _Explorer(
        flow,
        dict(dom_inputs),
        dict(wanted or {}),
        frozenset(observed),
        limits or Limits(),
        display,
        possible,
        constraint_set(guards),
        along,
    )
    return explorer.run()


class _Explorer:
    """One exploration: states are taken in label order, so that without loops all at one label are known together."""

    def __init__(
        self,
        flow: Flow,
        dom_inputs: dict[int, Value],
        wanted: dict[int, Value],
        observed: frozenset[int],
        limits: Limits,
        display: bool,
        possible: Callable[[ChoiceWeight], bool],
        guards: ConstraintSet,
        along: Mapping[int, Fraction] | None,
    ) -> None:
        self.flow = flow
        self.dom_inputs = dom_inputs
        self.wanted = wanted
        self.wanted_set = slot_set(wanted)
        self.may_give = flow.may_give(wanted)
        self.observed = observed
        self.limits = limits
        self.possible = possible
        self.guards = guards
        self.along = along
        everything = slot_set(range(len(flow.program.slots)))
        # Wanted outputs are compared when they become final: they must not be forgotten before.
        self.live = [everything] * (flow.exit_label + 1) if display else flow.live(observed | wanted.keys())
        self.everything = everything
        self.unites = flow.forward and not flow.chooses and not display and along is None
        self.skips = not self.unites and not display
        self.transitions = Transitions()
        self.states: dict[int, State] = {}
        self.ids: dict[State, int] = {}
        self.pending: list[tuple[int, int]] = []
        self.cut: set[int] = set()
        self.exited: list[int] = []
        self.dominators = Dominators(0)
        self.leaves = Leaves(self.transitions)
        self.guard_uniter = GuardUniter(self.leaves, self.states, self.dominators)
        self.created = 0
        self.initial = 0

    def run(self) -> Chain:
        flow = self.flow
        start = initial_state(flow.entry, tuple(self._initial_value(slot) for slot in flow.program.slots))
        start = start.guarded_by(self.guards)
        start = self._forgotten(start, self.everything & ~self.live[flow.entry])
        self.initial = initial = self._add(start)
        if self._differs(start, self.wanted_set & ~self.may_give[flow.entry]):
            self.cut.add(initial)
        else:
            heappush(self.pending, (flow.entry, initial))
        while self.pending:
            label = self.pending[0][0]
            batch: list[int] = []
            while self.pending and self.pending[0][0] == label:
                batch.append(heappop(self.pending)[1])
            if self.unites and label in flow.joins and len(batch) > 1:
                batch = self._unite(batch)
            if label == flow.exit_label:
                self.exited.extend(batch)
            else:
                for node in batch:
                    self._expand(node)
        if not flow.forward:
            graph = self.transitions.as_networkx()
            trap = trapped(graph, frozenset(self.exited) | self.cut)
            if trap:
                self._tell_all()
                notes = path_notes(flow.program, graph, self.states, initial, min(trap), self.dom_inputs)
                raise trapped_fault(flow, self.states, trap).diagnosed(flow.program.source, *notes)
            if recurrent_comparison(graph):
                raise LimitReached(
                    None,
                    "what is known in a `while` is too much to tell how one of its comparisons turns out",
                )
        exits = tuple(self._exit_state(node) for node in self.exited)
        return Chain(flow, self.transitions, self.states, initial, exits, frozenset(self.cut))

    def _tell_all(self) -> None:
        """Explore again with every state, so that a trap is told by all that it reads and writes; where that takes too
        many, it is told by the states there are."""
        if self.skips:
            whole = _Explorer(
                self.flow,
                self.dom_inputs,
                self.wanted,
                self.observed,
                self.limits,
                False,
                self.possible,
                self.guards,
                self.along,
            )
            whole.skips = False
            with suppress(LimitReached):
                whole.run()

    def _initial_value(self, slot: Slot) -> SlotValue:
        if slot.role is Role.INPUT:
            if is_symbolic(slot.type):
                return Affine.input(slot.index)
            return self.dom_inputs[slot.index]
        if slot.initial is None:
            return Mark.UNASSIGNED
        if is_symbolic(slot.type):
            assert not isinstance(slot.initial, str | bool)
            return Affine.number(slot.initial)
        return slot.initial

    def _add(self, state: State) -> int:
        self.created += 1
        if self.created > self.limits.states:
            raise LimitReached("states", f"the chain has more than {self.limits.states} states")
        if self.created * len(state.values) > self.limits.values:
            raise LimitReached("values", f"the chain's states hold more than {self.limits.values} values")
        node = self.created - 1
        self.ids[state] = node
        self.states[node] = state
        self.transitions.add(node)
        return node

    def _expand(self, node: int) -> None:
        state = self.states[node]
        for after, edge in self._successors(node):
            if isinstance(edge, Choice) and not self.possible(edge.weight):
                continue
            if self.along is not None and not all(guard.holds_at(self.along) for guard in after.guards.items):
                continue
            self._connect(node, self._arrived(state.label, after), (edge,))

    def _arrived(self, label: int, after: State) -> int:
        """The node of `after`, the state after the instruction at `label`, or of the state that it is bound to become
        where nothing is to be told apart on the way."""
        for left in range(_MOST_SKIPPED if self.skips else 0, -1, -1):
            goal = after.label
            dying = (self.live[label] | self.flow.writes[label]) & ~self.live[goal]
            after = self._forgotten(after, dying) if dying else after
            known = self.ids.get(after)
            if known is not None:
                return known
            changeable = self.flow.writes[label] | self.may_give[label]
            if self._differs(after, self.wanted_set & changeable & ~self.may_give[goal]):
                # What cannot be wanted any more is one state, where paths are not united by their constraints.
                if not self.skips or not self.cut:
                    self.cut.add(self._add(after))
                return max(self.cut)
            if not left or goal not in self.flow.determined:
                break
            try:
                ((bound_to, _),) = step(self.flow, after)
            except Fault:
                break  # it is told by the whole path, when the state is expanded itself
            label, after = goal, bound_to
        found = self._add(after)
        heappush(self.pending, (after.label, found))
        return found

    def _successors(self, node: int) -> tuple[Successor, ...]:
        try:
            return step(self.flow, self.states[node])
        except Fault as fault:
            graph = self.transitions.as_networkx()
            notes = path_notes(self.flow.program, graph, self.states, self.initial, node, self.dom_inputs)
            raise fault.diagnosed(self.flow.program.source, *notes) from None

    def _connect(self, source: int, goal: int, edges: tuple[Edge, ...]) -> None:
        self.transitions.connect(source, goal, edges)
        if self.unites:
            self.dominators.connect(source, goal)

    def _forgotten(self, state: State, slots: int) -> State:
        return state.forget(list(slots_in(slots))) if slots else state

    def _differs(self, state: State, final: int) -> bool:
        return bool(final) and any(state.values[slot] != self.wanted[slot] for slot in slots_in(final))

    def _unite(self, batch: list[int]) -> list[int]:
        """Replaces groups of states that differ in their constraints only and unite to one conjunction."""
        if not self.flow.draws:
            return self._unite_guards(batch)
        result: list[int] = []
        for group, noises in _alike(batch, self.states):
            constraints = united(group, self.leaves, self.states, self.dominators) if len(group) > 1 else None
            if constraints is None:
                result.extend(group)
                continue
            result.append(self._replace(group, self.states[group[0]].constrained_by(constraints, noises.values())))
        return result

    def _unite_guards(self, batch: list[int]) -> list[int]:
        """The same for a program without noise, where states differ in their guards."""
        result: list[int] = []
        for group in alike_in_values(batch, self.states):
            rest = dict.fromkeys(group)
            parts = self.guard_uniter.united(group) if len(group) > 1 else []
            for part, guards in parts:
                for node in part:
                    del rest[node]
                result.append(self._replace(part, self.states[part[0]].guarded_by(guards)))
            result.extend(rest)
        return result

    def _replace(self, group: list[int], state: State) -> int:
        """Puts one state in the place of all those of the group."""
        whole = self._add(state)
        for node in group:
            for source in list(self.transitions.predecessors(node)):
                self._connect(source, whole, self.transitions.edges(source, node))
            self.transitions.remove(node)
            self.leaves.replace(node, whole)
            del self.ids[self.states.pop(node)]
        return whole

    def _exit_state(self, node: int) -> ExitState:
        state = self.states[node]
        outputs: dict[int, Value | Affine | None] = {}
        for slot in sorted(self.observed):
            value = state.values[slot]
            outputs[slot] = None if isinstance(value, Mark) else value
        return ExitState(node, outputs, state.noises, state.constraints, state.guards)


def _alike(batch: list[int], states: Mapping[int, State]) -> list[tuple[list[int], dict[int, NoiseVar]]]:
    """The batch in groups that agree in values and guards, each with all their noises.

    A noise that only some of them drew does no harm: to the others it is independent, and they know nothing of it.
    """
    groups: dict[int, list[tuple[list[int], dict[int, NoiseVar]]]] = {}
    for node in batch:
        state = states[node]
        alike = groups.setdefault(state.fingerprint, [])
        for group, noises in alike:
            same = all((known := noises.get(noise.id, noise)) is noise or known == noise for noise in state.noises)
            if same and states[group[0]].agrees_with(state):
                group.append(node)
                noises.update((noise.id, noise) for noise in state.noises)
                break
        else:
            alike.append(([node], {noise.id: noise for noise in state.noises}))
    return [group for alike in groups.values() for group in alike]
