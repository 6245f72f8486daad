"""Programs towards one answer as series of segments, none of whose paths are followed to the end.

States of a chain are told apart by what they know, so that a loop that finds out something new in each turn, in one of
two ways, has 2^k of them after k turns. Here a state is a place and values alone. Runs to one answer then pass, one
after the other, through states that no run to it avoids; between two of these is a segment, with a few paths.

**Lemma.** Let the paths of the segments s be sets of constraints C over noises X and inputs u. A run gives the answer
if and only if it follows a path of each segment: where control goes depends on place and values, and on how comparisons
turn out, of forms that are values. So the indicator of the answer is the product over s of Σ_C [C(X, u)], where of each
segment at most one path holds, up to measure zero: they part at a comparison. Multiplied out these are the exits of the
chain towards the answer, with some more that contradict themselves. ∎
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dipc.algebra.limits import LimitReached
from dipc.chain.constraints import NOTHING_KNOWN, Affine, Constraint
from dipc.chain.flow import Flow
from dipc.chain.state import (
    DETERMINISTIC,
    Comparison,
    Fault,
    Mark,
    NoiseVar,
    State,
    slot_set,
)
from dipc.chain.step import step
from dipc.frozen import frozen
from dipc.text.core import Value

#: A segment with more paths than this is not written out.
_MOST_PATHS = 16

Path = tuple[Constraint, ...]

#: Values of the outputs, by slot.
Outputs = Mapping[int, Value]


@frozen
class Series:
    """The runs to one answer: of each segment one of the paths. Segments of one path without constraints are left out.
    `noises` are all that the constraints mention."""

    outputs: Outputs
    noises: tuple[NoiseVar, ...]
    segments: tuple[tuple[Path, ...], ...]


def series(flow: Flow, most_states: int) -> tuple[Series, ...] | None:
    """The answers that a program may give, each with its runs; None where it has finite inputs or choices, answers that
    are no constants, faults on some path, noises whose means depend on the path, segments with many paths, loops that
    are not unrolled, or more states than this."""
    slots = flow.program.slots
    if not flow.forward or flow.chooses or any(slots[slot].is_symbolic for slot in flow.program.outputs):
        return None
    if not all(slots[slot].is_symbolic for slot in flow.program.inputs):
        return None
    runs = _Runs(flow, most_states)
    try:
        return runs.towards_each()
    except (Fault, LimitReached, _NoSeries):
        return None


class _NoSeries(Exception):
    """The program is not of this kind."""


@dataclass(slots=True)
class _Runs:
    """The states by place and values, numbered in the order of their labels, with the steps that lead to each."""

    flow: Flow
    most_states: int
    states: list[State] = field(default_factory=list)
    before: list[list[tuple[int, Path]]] = field(default_factory=list)
    noises: dict[int, NoiseVar] = field(default_factory=dict)

    def towards_each(self) -> tuple[Series, ...]:
        ends = self._explored()
        counts = [1]
        for steps in self.before[1:]:
            counts.append(sum(counts[source] for source, _ in steps))
        return tuple([self._towards(end, counts) for end in ends])

    def _explored(self) -> list[int]:
        flow = self.flow
        live = flow.live(frozenset(flow.program.outputs))
        start = flow.first_state({})
        start = start.forget(slot_set(range(len(flow.program.slots))) & ~live[flow.entry])
        #: By label and number of discovery: what is taken first was reached from all that lead to it.
        pending: list[tuple[int, int, State]] = [(start.label, 0, start)]
        reached: dict[State, list[tuple[int, Path]]] = {start: []}
        discovered = 0
        ends: list[int] = []
        while pending:
            label, _, state = heappop(pending)
            number = len(self.states)
            self.states.append(state)
            self.before.append(reached.pop(state))
            if number > self.most_states:
                raise _NoSeries
            if label == flow.exit_label:
                ends.append(number)
                continue
            for after, edge in step(flow, state):
                if edge is not DETERMINISTIC and not isinstance(edge, Comparison):
                    raise _NoSeries
                for noise in after.noises:
                    if self.noises.setdefault(noise.id, noise) != noise:
                        raise _NoSeries
                known = edge.known if isinstance(edge, Comparison) else ()
                dying = (live[label] | flow.writes[label]) & ~live[after.label]
                goal = after.constrained_by(NOTHING_KNOWN, after.noises).guarded_by(NOTHING_KNOWN)
                goal = goal.forget(dying)
                steps = reached.get(goal)
                if steps is None:
                    steps = reached[goal] = []
                    discovered += 1
                    heappush(pending, (goal.label, discovered, goal))
                steps.append((number, known))
        return ends

    def _towards(self, end: int, counts: Sequence[int]) -> Series:
        """The runs to one exit, by how many paths lead to each state and from there to it."""
        outputs: dict[int, Value] = {}
        for slot in self.flow.program.outputs:
            value = self.states[end].values[slot]
            if isinstance(value, Mark | Affine):
                raise _NoSeries
            outputs[slot] = value
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
                segment = tuple(dict.fromkeys(steps))
                if segment not in ((), ((),)):
                    segments.append(segment)
                steps = [()]
            elif len(steps) > _MOST_PATHS:
                raise _NoSeries
            paths[node] = steps
        mentioned = {
            noise for segment in segments for path in segment for item in path for noise, _ in item.form.noises
        }
        return Series(outputs, tuple([self.noises[noise] for noise in sorted(mentioned)]), tuple(segments))
