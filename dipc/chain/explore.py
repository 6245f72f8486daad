"""Exploration of a program into its chain, towards the wanted outputs only, with real and int inputs left open.

Paths whose constraint sets together form one constraint set, such as those of a running maximum, are united on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush

from dipc.algebra.graph import Dominators
from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.chain import Chain, ExitState, Leaves, Transitions
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
    Offsets,
    State,
    Unfinished,
    Waiting,
    change_coordinates,
    constraint_set,
    contradict_each,
    entails,
    irredundant,
    is_input,
    offsets,
    path_notes,
    slot_set,
    slots_in,
)
from dipc.chain.step import Successor
from dipc.chain.waiting import Steps
from dipc.frozen import frozen
from dipc.linear.halfspace import Graph, Weight, greatest_bounds
from dipc.text.core import Value
from dipc.text.program import CoreProgram

# --- Unites paths whose constraint sets together are one constraint set, such as those of a running maximum -----------
#
# A group of states that agree in all but their constraints has regions U = U1 + U2 + ... Let E be a conjunction implied
# by every one of them, so that U lies in E. Let A be a state through which every path to the group leads, with E inside
# the region of A. The leaves of the chain below A partition the region of A (up to measure zero). So if E contradicts
# every leaf that is not in the group, E is U: nothing is approximated, and if the test fails the paths stay apart.
#
# Regions are sets of values of the noises, by their ids, where one-sided noises are not negative. A leaf may have drawn
# a noise with another mean: the argument does not depend on how the values are distributed. Only the members of a group
# must agree on the distributions. The program makes no choices, because paths would then have weights, which would have
# to agree as well (see `reach`).
#
# In a program without noise, states are united that agree in all but their guards, and regions are sets of inputs.
# Comparisons of inputs branch into exact complements, so that E is U with its boundary; nothing holds only almost
# everywhere.
#
# A facet of a convex union is a facet of some member, and each facet of a member is one of its constraints. So E is
# sought among the constraints of the members.

_MOST_LEAVES, _MOST_CANDIDATES = 4000, 20_000
#: Groups without noise that are not one conjunction are tried pair by pair up to this size.
_MOST_PAIRED = 8


#: The indices of x and of y in a `Difference`, which is a bound x - y >= w.
_UPPER, _LOWER = 0, 1

#: The number of last constraints by which a row is found again, and the most constraints by which rows are found.
_LAST, _MOST_KEYS = 4, 16_000


class _Row:
    """A conjunction of constraints; those of the form x - y >= w are also edges of two graphs.

    Here x and y are two variables, or a variable and 0. The edge leads from x to y in `graphs[0]`, and from y to x in
    `graphs[1]`. A row can quickly be changed into a conjunction that begins with the same constraints.
    """

    def __init__(self) -> None:
        self.items: list[Constraint] = []
        #: The number of constraints that are not bounds x - y >= w.
        self.others = 0
        #: The bounds x - y >= w as edges from x to y, and as edges from y to x; and the constraints by x, and by y.
        self.graphs: tuple[Graph, Graph] = (defaultdict(list), defaultdict(list))
        self._by_end: tuple[dict[int, list[Constraint]], ...] = (defaultdict(list), defaultdict(list))
        self.keys: list[int] = []

    def become(self, items: Sequence[Constraint]) -> None:
        pairs = enumerate(zip(self.items, items, strict=False))
        same = next((k for k, (one, other) in pairs if one is not other), min(len(self.items), len(items)))
        while len(self.items) > same:
            self._drop()
        for item in items[same:]:
            self._add(item)

    def _add(self, item: Constraint) -> None:
        self.items.append(item)
        bound = item.bound
        if bound is None:
            self.others += 1
            return
        upper, lower, weight = bound
        self.graphs[_UPPER][upper].append((lower, weight))
        self.graphs[_LOWER][lower].append((upper, weight))
        self._by_end[_UPPER][upper].append(item)
        self._by_end[_LOWER][lower].append(item)

    def _drop(self) -> None:
        bound = self.items.pop().bound
        if bound is None:
            self.others -= 1
            return
        for side, end in enumerate(bound[:2]):
            for by_end in (self.graphs[side], self._by_end[side]):
                by_end[end].pop()
                if not by_end[end]:
                    del by_end[end]

    def differences(self, side: int, ends: Set[int]) -> Sequence[Constraint]:
        """Return, in their order, the constraints x - y >= w whose x (`side` 0) or y (`side` 1) is in `ends`.

        A variable in `ends` is given by its number in `Constraint.bound`.
        """
        if len(ends) == 1:
            (end,) = ends
            return self._by_end[side].get(end, ())
        return [item for item in self.items if (bound := item.bound) is not None and bound[side] in ends]


class Rows:
    """A pool of conjunctions of constraints that no state needs any more; new states reuse them.

    Each conjunction is a `_Row` object, which is quickly changed into one that begins with the same constraints.
    """

    def __init__(self) -> None:
        self._by_key: dict[int, _Row] = {}

    def take(self, items: Sequence[Constraint], more: Sequence[Constraint] = ()) -> _Row:
        """Return a row of the constraints `items` and `more`, for use by one state until `put_back`."""
        keys = [id(item) for item in items[: -_LAST - 1 : -1]]
        row = next((self._by_key[key] for key in keys if key in self._by_key), None) or _Row()
        for key in row.keys:
            self._by_key.pop(key, None)
        row.become([*items, *more])
        row.keys = keys
        return row

    def put_back(self, rows: Iterable[_Row]) -> None:
        """Make `rows`, which no state needs any more, available to later states with similar constraints."""
        if len(self._by_key) > _MOST_KEYS:
            self._by_key.clear()
        for row in rows:
            self._by_key.update(dict.fromkeys(row.keys, row))


class Uniter:
    """A search for groups of states in a growing chain that a single state can replace.

    The states of a group agree in everything but their constraints on noises, or, in a program without noise, in
    everything but their guards. One state replaces the group if a single conjunction is equivalent to the disjunction
    of these constraints, or of these guards.
    """

    def __init__(self, flow: Flow, leaves: Leaves, states: Mapping[int, State], dominators: Dominators) -> None:
        self._flow = flow
        self._leaves = leaves
        self._states = states
        self._dominators = dominators
        self._rows = Rows()

    def united(self, group: Sequence[int]) -> list[tuple[list[int], ConstraintSet]]:
        """Return disjoint subsets of the states `group`, each with a conjunction that is the union of its members.

        The conjunction is equivalent to the disjunction of the members' constraints, up to measure zero, or of their
        guards. Every subset has at least two states. States in none of the subsets cannot be united.
        """
        members = [self._states[node] for node in group]
        by: Offsets = {}
        if any(is_input(variable) for member in members for variable in member.constraints.variables):
            by = offsets(item for member in members for item in member.constraints.items)
        regions = {node: self._region(self._states[node], by) for node in group}
        merged = self._merged(list(group), regions, by)
        self._rows.put_back(region.row for region in regions.values())
        return merged

    def _merged(
        self, group: list[int], regions: Mapping[int, _Region], by: Offsets
    ) -> list[tuple[list[int], ConstraintSet]]:
        whole = self._union(group, regions, by)
        if whole is not None:
            return [(group, whole)]
        if self._flow.draws or not 2 < len(group) <= _MOST_PAIRED:
            return []
        merged: list[tuple[list[int], ConstraintSet]] = []
        rest = list(group)
        while rest:
            first = rest.pop(0)
            for other in rest:
                both = self._union([first, other], regions, by)
                if both is not None:
                    rest.remove(other)
                    merged.append(([first, other], both))
                    break
        return merged

    def _region(self, state: State, by: Offsets) -> _Region:
        own, *rest = self._conjunctions(state)
        signs = [item for known in rest for item in change_coordinates(known.items, by)]
        given = [item for item in signs if item.bound is not None or not item.form.noises]
        items = change_coordinates(own.items, by) if by else own.items
        return _Region(items, given, self._rows.take(items, given))

    def _conjunctions(self, state: State) -> tuple[ConstraintSet, ...]:
        """Return the conjunction by which `state` may differ from states of its group, and what else it implies."""
        if not self._flow.draws:
            return (state.guards,)
        return state.constraints, state.guards, self._flow.supports(state.noises)

    def _union(self, group: list[int], regions: Mapping[int, _Region], by: Offsets) -> ConstraintSet | None:
        above = reduce(self._dominators.common, group)
        merged = set(group)
        others = [self._states[leaf] for leaf in self._leaves.below(above) if leaf not in merged]
        hull = None if len(others) > _MOST_LEAVES else _hull([regions[node] for node in group])
        if hull is None:
            return None
        hull = change_coordinates(hull, by, -1)
        rest = [known.items for node in group for known in self._conjunctions(self._states[node])[1:]]
        facts = [*hull, *dict.fromkeys(item for items in rest for item in items)]
        if not all(entails(facts, item) for item in self._conjunctions(self._states[above])[0].items):
            return None
        return constraint_set(hull) if contradict_each(facts, map(self._conjunctions, others)) else None


class _Region:
    """The values of noises, or the inputs, that one state admits; `implied` tests what follows from its constraints.

    In the constraints, each noise is replaced by its sum with an affine form of inputs, the same for all states of a
    group. `offsets` computes these forms. `given` are the constraints that hold before any comparison: the guards of
    the state, and the ranges of its noises. `row` has both kinds.
    """

    def __init__(self, items: Sequence[Constraint], given: Sequence[Constraint], row: _Row) -> None:
        self.given = given
        self.row = row
        self._items = items
        self._keys = frozenset(items)
        self._best: dict[int, dict[int, Weight] | None] = {}
        #: The x and the y of all constraints x - y >= w; None if some constraint is not of this kind.
        self.ends = None if row.others else (set(row.graphs[_UPPER]), set(row.graphs[_LOWER]))

    def items_from(self, side: int, ends: set[int] | None) -> Iterable[Constraint]:
        if ends is None:
            return self._items
        if not self.row.others and not self.given:
            return self.row.differences(side, ends)
        return [item for item in self._items if (bound := item.bound) is None or bound[side] in ends]

    def implied(self, side: int, items: Iterable[Constraint]) -> list[Constraint]:
        """Return those of `items` that the constraints of the state imply.

        All of them are found if the constraints and `items` are bounds on differences of two variables; otherwise some
        may be missed. Bounds are searched from their x (`side` 0) or their y (`side` 1), the same in every call.
        """
        result: list[Constraint] = []
        for item in items:
            bound = item.bound
            if bound is None or self.ends is None:
                if item in self._keys or entails([*self.given, *self._items], item):
                    result.append(item)
                continue
            end, other = bound[:2] if side == _UPPER else bound[1::-1]
            if end not in self._best:
                self._best[end] = greatest_bounds(self.row.graphs[side], end)
            best = self._best[end]
            if best is None or (other in best and best[other] >= bound[2]):
                result.append(item)
        return result


def _hull(regions: Sequence[_Region]) -> list[Constraint] | None:
    """Return a conjunction that each of `regions` implies, without redundant constraints; None if it is too long."""
    # Of the i² constraints of a running maximum of i, these are the few to ask each region about.
    known = [region.ends for region in regions if region.ends is not None]
    shared = [set.intersection(*[ends[side] for ends in known]) if known else None for side in (_UPPER, _LOWER)]
    side = min((_UPPER, _LOWER), key=lambda side: len(shared[side] or ()))
    candidates = dict[Constraint, None]()
    for region in regions:
        candidates.update(dict.fromkeys(region.items_from(side, shared[side])))
    if len(candidates) > _MOST_CANDIDATES:
        return None
    common = list(candidates)
    for region in regions:
        common = region.implied(side, common)
    return [*irredundant(common, list(dict.fromkeys(item for region in regions for item in region.given)))]


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
        self.steps = Steps(flow, self.live, waiting=not display)
        self.unites = flow.forward and not flow.chooses and not display and inputs.along is None
        self.skips = not self.unites and not display
        self.transitions = Transitions()
        self.states: dict[int, State] = {}
        self.ids: dict[State, int] = {}
        self.pending: list[tuple[int, int, int]] = []
        self.cut: set[int] = set()
        self.exited: list[int] = []
        self.dominators = Dominators(0)
        self.leaves = Leaves(self.transitions)
        self.uniter = Uniter(flow, self.leaves, self.states, self.dominators)
        #: Whether nothing leads back to a state once its successors are known, so that it is no longer looked up.
        self.forgets = flow.forward and not display
        self.created = 0
        self.initial = 0

    def run(self) -> Chain:
        flow = self.flow
        start = flow.first_state(self.inputs.finite)
        start = start.guarded_by(constraint_set(self.inputs.guards))
        start = self.steps.first(start.forget(self.everything & ~self.live[flow.entry]))
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
            if not left or goal not in self.flow.determined or self.steps.pauses(after):
                break
            try:
                ((bound_to, _),) = self.steps.successors(after)
            except Fault:
                break  # it is told by the whole path, when the state is expanded itself
            label, after = goal, bound_to
        result = self._add(after)
        heappush(self.pending, (after.label, self.steps.progress(after), result))
        return result

    def _successors(self, node: int) -> tuple[Successor, ...]:
        try:
            return self.steps.successors(self.states[node])
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
            self.leaves.replace(node, whole)
            del self.ids[self.states.pop(node)]
        return whole

    def _exit_state(self, node: int) -> ExitState:
        state = self.states[node]
        outputs: dict[int, Value | Affine | None] = {}
        for slot in sorted(self.observed):
            value = state.values[slot]
            outputs[slot] = None if isinstance(value, Mark | Waiting | Unfinished) else value
        return ExitState(node, outputs, state.noises, state.constraints, state.guards)
