"""Exploration of a program into its chain, towards the wanted outputs only, with real and int inputs left open.

Paths whose constraint sets together form one constraint set, such as those of a running maximum, are united on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from dipc.algebra.graph import Dominators
from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.chain import Chain, ExitState, Transitions
from dipc.chain.flow import Flow, analyze, trapped_fault
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Choice,
    ChoiceWeight,
    Comparison,
    Constraint,
    ConstraintSet,
    Edge,
    Fault,
    Mark,
    NoiseVar,
    State,
    Unfinished,
    Waiting,
    constraint_set,
    path_notes,
    slot_set,
    slots_in,
)
from dipc.chain.step import Successor, step
from dipc.frozen import LazyModule, frozen
from dipc.text.core import Value
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.chain import uniting, waiting
else:
    waiting = LazyModule("dipc.chain.waiting")
    uniting = LazyModule("dipc.chain.uniting")

#: The most consecutive states with a single successor that are skipped. Without a bound, a loop could be skipped
#: forever.
_MOST_SKIPPED = 8


@frozen
class InputsAmong:
    """The inputs with the values `finite` of all DOM and bool inputs, by slot, that satisfy `guards`.

    At least one input must satisfy the guards. If `along` is not None, it has the real and int values of an input that
    satisfies them, by slot. An exploration then follows only the outcomes that comparisons have at this input.
    """

    finite: Mapping[int, Value]
    guards: Sequence[Constraint] = ()
    along: Mapping[int, Fraction] | None = None


def explore(
    program: CoreProgram | Flow,
    inputs: Mapping[int, Value] | InputsAmong,
    wanted: Mapping[int, Value] | None = None,
    limits: Limits | None = None,
    *,
    observed: Iterable[int] | None = None,
    display: bool = False,
    possible: Callable[[ChoiceWeight], bool] = lambda _: True,
) -> Chain:
    """Return the Markov chain of `program` for `inputs`, which give a value for every DOM and bool input.

    With `wanted`, values of DOM and bool outputs by slot, only exits with these values are found: a state is cut as
    soon as an output differs and can no longer become its wanted value. The exits have the `observed` outputs: by
    default all, or with `wanted` the wanted ones and the real and int ones.

    Paths to equal states meet. States that differ in their constraints alone are replaced by one state where one
    conjunction is equivalent to the disjunction of these constraints. They are not replaced

    - if the program makes choices, because paths then have weights, or if it has loops that are not unrolled,
    - with `display`, which keeps every state as in the paper, or with `InputsAmong.along`.

    Choices whose weight is 0 for every eps are left out, and so are those for which `possible` returns False. Pass a
    Flow as `program` to analyze a program only once.

    Raises DiagnosticError, with the path, if a step fails or if some run can never leave a loop. Raises LimitReached if
    there are more states than `limits` allow.
    """
    flow = program if isinstance(program, Flow) else analyze(program)
    if observed is None:
        observed = [
            slot
            for slot in flow.program.outputs
            if wanted is None or slot in wanted or flow.program.slots[slot].is_symbolic
        ]
    explorer = _Explorer(
        flow,
        inputs if isinstance(inputs, InputsAmong) else InputsAmong(inputs),
        dict(wanted or {}),
        frozenset(observed),
        limits or Limits(),
        display,
        possible,
    )
    return explorer.run()


class _Explorer:
    """The search for all states of a program, in the order of their labels.

    The label of a state is that of its next instruction. If all loops of the program are unrolled, every step leads to
    a greater label. So all states at a label are found before any of them is expanded.
    """

    def __init__(
        self,
        flow: Flow,
        inputs: InputsAmong,
        wanted: dict[int, Value],
        observed: frozenset[int],
        limits: Limits,
        display: bool,
        possible: Callable[[ChoiceWeight], bool],
    ) -> None:
        self.flow = flow
        self.inputs = inputs
        self.wanted = wanted
        self.wanted_set = slot_set(wanted)
        self.may_give = flow.may_give(wanted)
        self.observed = observed
        self.limits = limits
        self.possible = possible
        everything = slot_set(range(len(flow.program.slots)))
        # Wanted outputs are compared when they become final: they must not be forgotten before.
        self.live = [everything] * (flow.exit_label + 1) if display else flow.live(observed | wanted.keys())
        self.everything = everything
        #: The steps of a program with choices that wait; None if each choice is made where it is drawn.
        self.steps = waiting.Steps(flow, self.live) if flow.waits and not display else None
        self.unites = flow.forward and not flow.chooses and not display and inputs.along is None
        self.skips = not self.unites and not display
        self.transitions = Transitions()
        self.states: dict[int, State] = {}
        self.ids: dict[State, int] = {}
        self.pending: list[tuple[int, int, int]] = []
        self.cut: set[int] = set()
        self.exited: list[int] = []
        self.dominators = Dominators(0)
        #: Whether nothing leads back to a state once its successors are known, so that it is no longer looked up.
        self.forgets = flow.forward and not display
        self.created = 0
        self.initial = 0

    @cached_property
    def uniter(self) -> uniting.Uniter:
        return uniting.Uniter(self.flow, self.transitions, self.states, self.dominators)

    def run(self) -> Chain:
        flow = self.flow
        start = flow.first_state(self.inputs.finite)
        start = start.guarded_by(constraint_set(self.inputs.guards))
        start = start.forget(self.everything & ~self.live[flow.entry])
        start = start if self.steps is None else self.steps.first(start)
        self.initial = initial = self._add(start)
        along = self.inputs.along
        outside = along is not None and not all(guard.holds_at(along) for guard in start.guards.items)
        if outside or self._differs(start, self.wanted_set & ~self.may_give[flow.entry]):
            self.cut.add(initial)
        else:
            heappush(self.pending, (flow.entry, 0, initial))
        while self.pending:
            label, progress, _ = self.pending[0]
            batch: list[int] = []
            while self.pending and self.pending[0][:2] == (label, progress):
                batch.append(heappop(self.pending)[2])
            if self.unites and label in flow.joins and len(batch) > 1:
                batch = self._unite(batch)
            if label == flow.exit_label:
                self.exited.extend(batch)
            else:
                for node in batch:
                    self._expand(node)
                    if self.forgets:
                        self._lighten(node)
        if not flow.forward:
            trap = self.transitions.trapped(frozenset(self.exited) | self.cut)
            if trap:
                self._tell_all()
                graph = self.transitions.as_networkx()
                notes = path_notes(flow.program, graph, self.states, initial, min(trap), self.inputs.finite)
                raise trapped_fault(flow, self.states, trap).diagnosed(flow.program.source, *notes)
            if self.transitions.compares_again:
                raise LimitReached(
                    None,
                    "a `while` accumulates too many constraints to decide one of its comparisons",
                )
        exits = tuple(self._exit_state(node) for node in self.exited)
        return Chain(flow, self.transitions, self.states, initial, exits, frozenset(self.cut))

    def _tell_all(self) -> None:
        """Explore the program again, one instruction at a time, to report a run that never ends.

        The first exploration may have skipped states with a single successor, but the report shows every step of the
        run. If there are too many states, it shows the states explored so far.
        """
        if self.skips:
            whole = _Explorer(self.flow, self.inputs, self.wanted, self.observed, self.limits, False, self.possible)
            whole.skips = False
            with suppress(LimitReached):
                whole.run()

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

    def _lighten(self, node: int) -> None:
        """Drop the values of the finished state `node`, and its constraints unless paths are to be united.

        A state is finished if its successors are known.
        """
        state = self.states[node]
        del self.ids[state]
        constraints, guards = (
            ConstraintSet(known.items, frozenset(), frozenset(), known.fingerprint) if self.unites else NOTHING_KNOWN
            for known in (state.constraints, state.guards)
        )
        self.states[node] = State(state.label, (), state.noises, constraints, guards, 0)

    def _expand(self, node: int) -> None:
        state, along = self.states[node], self.inputs.along
        for after, edge in self._successors(node):
            if isinstance(edge, Choice) and not self.possible(edge.weight):
                continue
            if (
                along is not None
                and isinstance(edge, Comparison)
                and not all(item.form.noises or item.holds_at(along) for item in edge.known)
            ):
                continue
            self._connect(node, self._arrived(state.label, after), (edge,))

    def _arrived(self, label: int, after: State) -> int:
        for left in range(_MOST_SKIPPED if self.skips else 0, -1, -1):
            goal = after.label
            dying = (self.live[label] | self.flow.writes[label]) & ~self.live[goal]
            after = after.forget(dying)
            known = self.ids.get(after)
            if known is not None:
                return known
            changeable = self.flow.writes[label] | self.may_give[label]
            if self._differs(after, self.wanted_set & changeable & ~self.may_give[goal]):
                # What cannot be wanted any more is one state, where paths are not united by their constraints.
                if self.cut and self.skips:
                    return max(self.cut)
                cut = self._add(after)
                self.cut.add(cut)
                if self.forgets:
                    self._lighten(cut)
                return cut
            if not left or goal not in self.flow.determined or (self.steps is not None and self.steps.pauses(after)):
                break
            try:
                ((bound_to, _),) = self._step(after)
            except Fault:
                break  # it is told by the whole path, when the state is expanded itself
            label, after = goal, bound_to
        result = self._add(after)
        progress = 0 if self.steps is None else self.steps.progress(after)
        heappush(self.pending, (after.label, progress, result))
        return result

    def _step(self, state: State) -> tuple[Successor, ...]:
        return step(self.flow, state) if self.steps is None else self.steps.successors(state)

    def _successors(self, node: int) -> tuple[Successor, ...]:
        try:
            return self._step(self.states[node])
        except Fault as fault:
            graph = self.transitions.as_networkx()
            notes = path_notes(self.flow.program, graph, self.states, self.initial, node, self.inputs.finite)
            raise fault.diagnosed(self.flow.program.source, *notes) from None

    def _connect(self, source: int, goal: int, edges: tuple[Edge, ...]) -> None:
        self.transitions.connect(source, goal, edges)
        if self.unites:
            self.dominators.connect(source, goal)

    def _differs(self, state: State, final: int) -> bool:
        return bool(final) and any(state.values[slot] != self.wanted[slot] for slot in slots_in(final))

    def _unite(self, batch: list[int]) -> list[int]:
        """Return `batch`, states at one label, with a single state in place of each group of states where possible.

        The states of a group agree in everything but their constraints, or, without noise, but their guards. A single
        state can replace them if one conjunction is equivalent to the disjunction of their constraints.
        """
        result: list[int] = []
        for group, noises in self._alike(batch):
            rest = dict.fromkeys(group)
            for nodes, known in self.uniter.united(group) if len(group) > 1 else ():
                for node in nodes:
                    del rest[node]
                first = self.states[nodes[0]]
                draws = self.flow.draws
                state = first.constrained_by(known, noises.values()) if draws else first.guarded_by(known)
                result.append(self._replace(nodes, state))
            result.extend(rest)
        return result

    def _alike(self, batch: list[int]) -> list[tuple[list[int], dict[int, NoiseVar]]]:
        """Return the states of `batch` in groups that may be united, each as (states, noises of all of them by id).

        The states of a group agree in values, and in guards if the program draws noise. They may differ in the noises
        that they drew, because such a noise is independent of all others.
        """
        groups: dict[int, list[tuple[list[int], dict[int, NoiseVar]]]] = {}
        for node in batch:
            state = self.states[node]
            guarded = state.fingerprint if self.flow.draws else state.fingerprint ^ state.guards.fingerprint
            alike = groups.setdefault(guarded, [])
            for group, noises in alike:
                first = self.states[group[0]]
                same = state.noises == self.states[group[-1]].noises or all(
                    (known := noises.get(noise.id, noise)) is noise or known == noise for noise in state.noises
                )
                if same and first.values == state.values and (not self.flow.draws or first.guards == state.guards):
                    group.append(node)
                    noises.update((noise.id, noise) for noise in state.noises)
                    break
            else:
                alike.append(([node], {noise.id: noise for noise in state.noises}))
        return [group for alike in groups.values() for group in alike]

    def _replace(self, group: list[int], state: State) -> int:
        whole = self._add(state)
        for node in group:
            for source in list(self.transitions.predecessors(node)):
                self._connect(source, whole, self.transitions.edges(source, node))
            self.transitions.remove(node)
            self.uniter.leaves.replace(node, whole)
            del self.ids[self.states.pop(node)]
        return whole

    def _exit_state(self, node: int) -> ExitState:
        state = self.states[node]
        outputs: dict[int, Value | Affine | None] = {}
        for slot in sorted(self.observed):
            value = state.values[slot]
            outputs[slot] = None if isinstance(value, Mark | Waiting | Unfinished) else value
        return ExitState(node, outputs, state.noises, state.constraints, state.guards)
