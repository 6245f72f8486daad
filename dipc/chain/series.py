"""The runs of a program to one answer, as a series of segments: there are few paths through each segment.

States of a chain differ by their constraints. So a loop in which every iteration adds one of two constraints has 2^k
states after k iterations. In this module a state is a label and values alone, without constraints. Some states are
passed by all runs to the answer. A segment is the part of the runs between two such states.

**Lemma.** Let a path of a segment s be the set C of its constraints over noises X and inputs u. A run gives the answer
if and only if it follows a path of each segment, because the next state depends on label, values and outcomes of
comparisons alone. At most one path of a segment holds, up to measure zero, because two paths differ in the outcome of a
comparison. So the indicator of the answer is the product over s of Σ_C [C(X, u)]. Multiplied out, its summands are the
exits of the chain towards the answer, and some that are contradictory. ∎
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from operator import or_

from dipc.algebra.limits import LimitReached, NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Comparison,
    Constraint,
    Fault,
    NoiseVar,
    State,
    Terms,
    contradict,
    entails,
    irredundant,
    same_value,
    slot_set,
)
from dipc.chain.step import step
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Noise, RunGraph, RunStep
from dipc.text.core import Value

#: A segment with more paths than this is not written out.
_MOST_PATHS = 16

Path = tuple[Constraint, ...]

#: Values of the outputs, by slot.
Outputs = Mapping[int, Value]


@frozen
class Series:
    """The runs to one answer, as a product of segments: each run follows one path of each segment.

    `outputs` is the answer. A path is the conjunction of the constraints met on the way, and `noises` are all noises in
    these constraints. Segments with a single path without constraints are left out. A segment without paths means that
    no run gives the answer.
    """

    outputs: Outputs
    noises: tuple[NoiseVar, ...]
    segments: tuple[tuple[Path, ...], ...]


def runs(flow: Flow, most_states: int) -> RunSet | None:
    """Return all runs of the program of `flow`, or None if they cannot be explored together.

    The result is None if there are more than `most_states` states, or if the program has

    - finite inputs or random choices, or outputs that are real or int,
    - loops that are not unrolled, or a fault on some path,
    - noises whose means depend on the path.
    """
    if not flow.may_have_runs:
        return None
    explored = RunSet(flow, most_states)
    try:
        explored.explore()
    except (Fault, LimitReached, NotApplicable):
        return None
    return explored


@dataclass(slots=True)
class RunSet:
    """The states of all runs of the program of `flow`, at most `most_states`, numbered in the order of their labels.

    - `before` has, for each state, the steps that lead to it: the number of the earlier state, and the constraints of
      the step.
    - `counts` has the number of paths from the first state to each state.
    - `noises` has each noise by its id.
    - `ends` has the number of each state after the end of the program, with the values of the outputs.
    """

    flow: Flow
    most_states: int
    before: list[list[tuple[int, Path]]] = field(default_factory=list)
    noises: dict[int, NoiseVar] = field(default_factory=dict)
    counts: list[int] = field(default_factory=lambda: [1])
    ends: dict[int, tuple[Value, ...]] = field(default_factory=dict)

    def explore(self) -> None:
        """Find the states of all runs, and count the paths to each.

        Raises Fault if a step fails, and NotApplicable or LimitReached if the runs cannot be explored together.
        """
        self.ends = self._explored()
        for steps in self.before[1:]:
            self.counts.append(sum(self.counts[source] for source, _ in steps))

    @property
    def number(self) -> int:
        """The number of runs."""
        return sum([self.counts[end] for end in self.ends])

    def series(self) -> tuple[Series, ...] | None:
        """Return the runs to each possible answer, cut into segments; None if a segment has too many paths."""
        every: list[Series] = []
        for end in self.ends:
            towards = self.towards(end)
            if towards is None:
                return None
            if all(towards.segments):
                every.append(towards)
        return tuple(every)

    def outputs(self, end: int) -> Outputs:
        return dict(zip(self.flow.program.outputs, self.ends[end], strict=True))

    def end(self, answer: Sequence[Value]) -> int | None:
        """Return the state in which all runs with the outputs `answer` end; None if no run gives the answer."""
        for end, values in self.ends.items():
            if values == answer and all(map(same_value, values, answer)):
                return end
        return None

    def _explored(self) -> dict[int, tuple[Value, ...]]:
        flow = self.flow
        live = flow.live(frozenset(flow.program.outputs))
        # What is never written is the same in all states, and need not be forgotten.
        written = reduce(or_, flow.writes, 0)
        start = flow.first_state({})
        start = start.forget(slot_set(range(len(flow.program.slots))) & ~live[flow.entry])
        #: By label and order of discovery: all states that lead to a state are taken before it.
        pending: list[tuple[int, int, State]] = [(start.label, 0, start)]
        reached: dict[State, list[tuple[int, Path]]] = {start: []}
        discovered = 0
        ends: dict[int, tuple[Value, ...]] = {}
        while pending:
            label, _, state = heappop(pending)
            number = len(self.before)
            self.before.append(reached.pop(state))
            if number > self.most_states:
                raise NotApplicable
            if label == flow.exit_label:
                outputs = [state.values[slot] for slot in flow.program.outputs]
                ends[number] = tuple([value for value in outputs if isinstance(value, Fraction | str | bool)])
                if len(ends[number]) < len(outputs):
                    raise NotApplicable
                continue
            for after, edge in step(flow, state):
                if edge is not None and not isinstance(edge, Comparison):
                    raise NotApplicable
                for noise in after.noises:
                    if self.noises.setdefault(noise.id, noise) != noise:
                        raise NotApplicable
                known = edge.known if isinstance(edge, Comparison) else ()
                dying = (live[label] | flow.writes[label]) & written & ~live[after.label]
                goal = after.constrained_by(NOTHING_KNOWN, after.noises).guarded_by(NOTHING_KNOWN)
                goal = goal.forget(dying)
                steps = reached.get(goal)
                if steps is None:
                    steps = reached[goal] = []
                    discovered += 1
                    heappush(pending, (goal.label, discovered, goal))
                steps.append((number, known))
        return ends

    def towards(self, end: int) -> Series | None:
        """Return the runs to the state `end` as a series; None if a segment has too many paths.

        The segments begin and end at the states that all these runs pass. All runs pass a state if the number of paths
        from the start to the state, times the number of paths from there to `end`, is the number of all paths to `end`.
        """
        outputs, counts = self.outputs(end), self.counts
        onwards = {end: 1}
        pending = [-end]
        met: list[int] = []
        while pending:
            node = -heappop(pending)
            if onwards[node] * counts[node] == counts[end]:
                met.append(node)
            for source, _ in self.before[node]:
                if source not in onwards:
                    onwards[source] = 0
                    heappush(pending, -source)
                onwards[source] += onwards[node]
        # Numbers grow along every path, and all paths of a segment begin where it does.
        segments: list[tuple[Path, ...]] = []
        paths: dict[int, list[Path]] = {}
        boundaries = frozenset(met)
        for node in sorted(onwards):
            steps = [(*path, *known) for source, known in self.before[node] for path in paths[source]]
            if node in boundaries:
                segment = united(list(dict.fromkeys(steps)))
                if node and segment != ((),):
                    segments.append(segment)
                steps = [()]
            elif len(steps) > _MOST_PATHS:
                return None
            paths[node] = steps
        mentioned = {
            noise for segment in segments for path in segment for item in path for noise, _ in item.form.noises
        }
        return Series(outputs, tuple([self.noises[noise] for noise in sorted(mentioned)]), tuple(segments))

    def among(self, end: int, kept: Callable[[Path], bool], most: int) -> list[list[Constraint]] | None:
        """Return the constraints of each run that leads to the state `end` by kept steps only.

        A step is kept if `kept` returns True for the constraints that the step adds. The result is None if there are
        more than `most` runs.
        """
        counts = {0: 1}
        steps: dict[int, list[tuple[int, Path]]] = {}
        for node in range(1, end + 1):
            some = [step for step in self.before[node] if step[0] in counts and kept(step[1])]
            if some:
                steps[node] = some
                counts[node] = sum(counts[source] for source, _ in some)
        if end not in counts:
            return []
        if counts[end] > most:
            return None
        leading = {end}
        for node in range(end, 0, -1):
            if node in leading:
                leading.update(source for source, _ in steps[node])
        known: dict[int, list[list[Constraint]]] = {0: [[]]}
        for node in sorted(leading - {0}):
            known[node] = [[*before, *path] for source, path in steps[node] for before in known[source]]
        return known[end]

    def graph(self, end: int) -> RunTemplate | None:
        """Return the runs to the state `end` as a graph with the inputs left open; None if it has too many steps.

        The nodes are those states in which at most one noise is live: mentioned by constraints before the state and by
        constraints after it. Each path between two nodes without another node in between is one step of the graph.
        """
        leading = {end}
        onwards: dict[int, list[tuple[int, Path]]] = {}
        after = {end: 0}
        for node in range(end, 0, -1):
            if node in leading:
                for source, path in self.before[node]:
                    leading.add(source)
                    onwards.setdefault(source, []).append((node, path))
                    after[source] = after.get(source, 0) | after[node] | _mentioned(path)
        before = {0: 0}
        live: dict[int, int | None] = {}
        for node in sorted(leading):
            before.setdefault(node, 0)
            both = before[node] & after[node]
            if both & (both - 1) == 0:
                live[node] = both.bit_length() - 1 if both else None
            for goal, path in onwards.get(node, ()):
                before[goal] = before.get(goal, 0) | before[node] | _mentioned(path)
        numbers = {node: number for number, node in enumerate(live)}
        steps: list[tuple[int, int, Path]] = []
        for node, number in numbers.items():
            pending = list(onwards.get(node, ()))
            made = 0
            while pending:
                made += 1
                if made > _MOST_STEPS:
                    return None
                goal, path = pending.pop()
                if goal in numbers:
                    steps.append((number, numbers[goal], path))
                else:
                    pending += [(further, (*path, *more)) for further, more in onwards[goal]]
        return RunTemplate(tuple(self.noises.values()), tuple(steps), tuple(live.values()))


def united(paths: list[Path]) -> tuple[Path, ...]:
    """Return paths with the same union as `paths`, up to probability 0, and fewer of them if possible.

    At most one of `paths` may hold at a time. Contradictory paths are left out. Two paths that differ only in the
    outcome of one comparison become one.
    """
    if len(paths) < 2:
        return tuple(paths)
    left = [irredundant(path) for path in paths if not contradict(path)]
    place = 0
    while place < len(left):
        for other in range(place):
            both = _union(left[other], left[place])
            if both is not None:
                left[other] = both
                del left[place]
                place = -1  # What was put together may be put together with those before.
                break
        place += 1
    return tuple(left)


def _union(one: Path, other: Path) -> Path | None:
    """Return a path that is the union of the paths `one` and `other`, or None if no such path is found.

    Let c be a constraint of one path whose negation is in the other, and R all other constraints of both. If each path
    implies R, then one path is R with c, and the other is R with the negation. So their union is R.
    """
    for item in one:
        opposite = item.negation
        if opposite in other:
            mine, theirs = ([each for each in path if each not in (item, opposite)] for path in (one, other))
            if all(entails(one, each) for each in theirs) and all(entails(other, each) for each in mine):
                return irredundant(tuple(dict.fromkeys((*mine, *theirs))))
    return None


#: The most steps of a graph that are explored from one of its nodes to the next ones.
_MOST_STEPS = 200


def _mentioned(path: Path) -> int:
    return slot_set({noise for item in path for noise, _ in item.form.noises})


class RunTemplate:
    """The runs to one answer as a graph (`RunGraph`), as a function of the inputs.

    `inputs` are the slots of the inputs on which the graph depends.
    """

    def __init__(
        self, noises: Sequence[NoiseVar], steps: Sequence[tuple[int, int, Path]], live: Sequence[int | None]
    ) -> None:
        mentioned = {noise for _, _, path in steps for item in path for noise, _ in item.form.noises}
        used = [noise for noise in noises if noise.id in mentioned]
        places = {noise.id: index for index, noise in enumerate(used)}
        self._noises = used
        items = dict.fromkeys(item for _, _, path in steps for item in path if item.form.noises)
        number = {item: index for index, item in enumerate(items)}
        self._rows: list[tuple[Terms, Affine]] = []
        for item in items:
            coefficients = tuple([(places[noise], c) for noise, c in item.form.noises])
            self._rows.append((coefficients, item.form.noiseless))
        self._steps = [
            (
                RunStep(source, goal, tuple([number[item] for item in path if item.form.noises])),
                tuple([item for item in path if not item.form.noises]),
            )
            for source, goal, path in steps
        ]
        self._live = tuple([None if noise is None else places[noise] for noise in live])
        slots = {slot for _, slack in self._rows for slot, _ in slack.inputs}
        slots |= {slot for noise in used for slot, _ in noise.mean.inputs}
        slots |= {slot for _, guards in self._steps for guard in guards for slot, _ in guard.form.inputs}
        #: The slots of the inputs on which the graph depends.
        self.inputs: frozenset[int] = frozenset(slots)

    @property
    def open(self) -> RunGraph:
        """The graph for all inputs together: with every step, and with 0 as the constant of every constraint."""
        conditions = tuple([Halfspace(coefficients, Fraction(0)) for coefficients, _ in self._rows])
        return RunGraph(self._drawn({}), conditions, tuple([step for step, _ in self._steps]), self._live)

    def graph(self, inputs: Mapping[int, Fraction]) -> RunGraph:
        """Return the graph at `inputs`; its measure is the probability of the answer at these inputs."""
        conditions = tuple([Halfspace(coefficients, slack.evaluate(inputs)) for coefficients, slack in self._rows])
        steps = [step for step, guards in self._steps if all(guard.holds_at(inputs) for guard in guards)]
        return RunGraph(self._drawn(inputs), conditions, tuple(steps), self._live)

    def _drawn(self, inputs: Mapping[int, Fraction]) -> tuple[Noise, ...]:
        means = [
            sum([c * inputs.get(slot, Fraction(0)) for slot, c in n.mean.inputs], n.mean.constant) for n in self._noises
        ]
        return tuple([Noise(n.law, n.rate, mean) for n, mean in zip(self._noises, means, strict=True)])
