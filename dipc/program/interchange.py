"""Inputs that may change places: exchanging their values changes neither the answer's law nor the right answer.

Inputs of a program are *interchangeable* if the program, its `ideal` block and its metric are unchanged when two of
them exchange their values. The law of the answer then depends on the multiset of their values alone, and so do det(u),
dd(u), and every obligation about u: n bits are n + 1 classes and not 2^n inputs.

A program is shown to be unchanged in one of two ways: by its outputs as expressions (`symbolic`), or by transitions
that commute (`transitions`). Either is a proof. Where both fail, the inputs count as different.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, pairwise

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow, analyze
from dipc.program.ideal import Ideal
from dipc.program.program import Program
from dipc.program.symbolic import (
    ExpressionTable,
    Node,
    SymbolicDraw,
    SymbolicRun,
    domain_range,
    expression,
)
from dipc.program.transitions import exchanged_by_transitions
from dipc.program.weights import Weights
from dipc.text.core import Reference
from dipc.text.program import CoreMetric, Gap

#: The most groups of draws for which every way to exchange some of them is tried.
_MOST_GROUPS = 3


def interchangeable(
    program: Program, ideal: Ideal | None = None, *, by_transitions: bool = True
) -> tuple[tuple[int, ...], ...]:
    """Return disjoint blocks of two or more interchangeable finite inputs of `program`, as slots.

    Inputs are interchangeable if exchanging their values leaves the law of the answer unchanged and, if the program's
    `ideal` is given, the right answer and the metric. The inputs of a block have the same type, and are in order.
    Without `by_transitions` the proof uses expressions alone. Inputs in no block may still be interchangeable. A
    program with `requires` has no blocks.
    """
    core = program.core
    families = _families(program)
    if not families or core.requires is not None:
        return ()
    flow = program.flow if not program.flow.places else analyze(core)
    if program.choices.undecided is not None:
        return ()
    weights = program.choices.weights
    checks = [
        _ExchangeSearch(flow, families, {slot: slot for slot in core.inputs}, weights, by_transitions=by_transitions)
    ]
    if ideal is not None:
        metric = core.metric or CoreMetric()
        if metric.apart is not None or metric.same is not None:
            return ()
        places = dict(zip(core.inputs, ideal.core.inputs, strict=True))
        own = [[places[slot] for slot in each] for each in families]
        checks.insert(0, _ExchangeSearch(ideal.flow, own, places, weights, by_transitions=by_transitions))
    blocks: list[tuple[int, ...]] = []
    for family in families:
        block = [family[0]]
        for one, other in pairwise(family):
            if (ideal is None or _metric_is_unchanged(core.metric, one, other)) and all(
                check.hold(one, other) for check in checks
            ):
                block.append(other)
                continue
            blocks.append(tuple(block))
            block = [other]
        blocks.append(tuple(block))
    return tuple([block for block in blocks if len(block) > 1])


def _families(program: Program) -> list[list[int]]:
    """Return the groups of finite inputs of `program`, as slots, among which exchanges are tried.

    The inputs of a group have the same type; they are, for example, the elements of an array.
    """
    slots = program.core.slots
    result: list[list[int]] = []
    for slot in program.core.inputs:
        declared = slots[slot]
        if declared.is_symbolic:
            continue
        last = slots[result[-1][-1]] if result else None
        if last is not None and last.type == declared.type and last.span == declared.span:
            result[-1].append(slot)
        else:
            result.append([slot])
    singles = [slot for family in result if len(family) == 1 for slot in family]
    together: dict[object, list[int]] = {}
    for slot in singles:
        together.setdefault(slots[slot].type, []).append(slot)
    return [
        family for family in chain((each for each in result if len(each) > 1), together.values()) if len(family) > 1
    ]


# --- One program, and exchanges of two of its inputs ------------------------------------------------------------------


class _ExchangeSearch:
    """A search for exchanges of two inputs that do not change the law of the outputs.

    `flow` is the flow of the program or of its ideal. `places` maps each input slot of the program to the slot of this
    input in `flow`. `families` are groups of slots of `flow`, and only inputs of one group are exchanged. `weights`
    computes the weights of choices. With `by_transitions`, the search also compares the transitions between states.
    """

    def __init__(
        self,
        flow: Flow,
        families: Sequence[Sequence[int]],
        places: Mapping[int, int],
        weights: Weights,
        *,
        by_transitions: bool,
    ) -> None:
        self._flow = flow
        self._looks_at_transitions = by_transitions
        self._weights = weights
        self._places = places
        self._families = [list(family) for family in families]
        #: The groups of draws that were exchanged last: most likely those of the next exchange.
        self._last: tuple[int, ...] = ()

    def hold(self, one: int, other: int) -> bool:
        """Return True only if the law of the outputs is unchanged when the inputs `one` and `other` exchange values."""
        here, there = self._places[one], self._places[other]
        if self._symbolic is not None and self._unchanged(self._symbolic, here, there):
            return True
        return self._looks_at_transitions and (here, there) in self._by_transitions

    @cached_property
    def _by_transitions(self) -> frozenset[tuple[int, int]]:
        neighbors = chain.from_iterable(map(pairwise, self._families))
        return exchanged_by_transitions(self._flow, self._weights, neighbors)

    @cached_property
    def _symbolic(self) -> SymbolicRun | None:
        try:
            return SymbolicRun(self._flow)
        except NotApplicable:
            return None

    @cached_property
    def _groups(self) -> list[list[SymbolicDraw]]:
        groups: dict[object, list[SymbolicDraw]] = {}
        for draw in self._symbolic.draws.values() if self._symbolic is not None else ():
            groups.setdefault(draw.place, []).append(draw)
        return [sorted(each, key=lambda draw: draw.label) for each in groups.values() if len(each) > 1]

    def _unchanged(self, run: SymbolicRun, one: int, other: int) -> bool:
        family = next(each for each in self._families if one in each)
        for chosen in self._ways():
            names = {run.inputs[one]: run.inputs[other], run.inputs[other]: run.inputs[one]}
            for group in chosen:
                names |= _exchanged_draws(run.table, self._groups[group], family, one, other)
            try:
                if _is_unchanged(run, names):
                    self._last = chosen
                    return True
            except NotApplicable:
                return False
        return False

    def _ways(self) -> Iterator[tuple[int, ...]]:
        """Yield sets of groups of draws that a proof may exchange together with the two inputs.

        A set is a tuple of indices in `_groups`. The set of the last successful proof comes first.
        """
        every = tuple(range(len(self._groups)))
        tried: set[tuple[int, ...]] = set()
        fewer = every[:_MOST_GROUPS]
        subsets = (way for count in range(len(fewer) + 1) for way in combinations(fewer, count))
        for way in chain((self._last, every), subsets):
            if way not in tried:
                tried.add(way)
                yield way


def _exchanged_draws(
    table: ExpressionTable, group: Sequence[SymbolicDraw], family: Sequence[int], one: int, other: int
) -> dict[Node, Node]:
    """Return a renaming that exchanges the draws made for input `one` with those made for input `other`.

    `group` are the draws of one statement in a loop over the inputs `family`, in order, equally many for each input.
    The renaming maps the expression of each of these draws in `table` to the one it is exchanged with. It is empty if
    the number of draws is not a multiple of the number of inputs.
    """
    each, rest = divmod(len(group), len(family))
    if rest or not each:
        return {}
    names: dict[Node, Node] = {}
    first, second = family.index(one) * each, family.index(other) * each
    for offset in range(each):
        here, there = group[first + offset], group[second + offset]
        a, b = table.drawn(here.label), table.drawn(there.label)
        names |= {a: b, b: a}
    return names


def _is_unchanged(run: SymbolicRun, names: Mapping[Node, Node]) -> bool:
    """Return True if no output or draw of `run` changes when `names` replaces expressions.

    `names` maps each expression to the one that takes its place. Each output has to stay the same expression. Each draw
    has to become one of the same law, whose parameters are those of the draw with the expressions replaced.
    """
    table = run.table
    touched = 0
    for node in names:
        touched |= table.leaves[node]
    known: dict[Node, Node] = {}
    for output in run.outputs.values():
        if output is not None and table.renamed(output, names, touched, known) != output:
            return False
    for node, draw in run.draws.items():
        image = run.draws[names.get(node, node)]
        moved = tuple([table.renamed(parameter, names, touched, known) for parameter in draw.parameters])
        if image.law != draw.law or image.parameters != moved:
            return False
    return True


# --- Metrics ----------------------------------------------------------------------------------------


def _metric_is_unchanged(metric: CoreMetric | None, one: int, other: int) -> bool:
    """Return True only if the distance that `metric` states is unchanged when two inputs exchange their values.

    `one` and `other` are the slots of the two inputs. A `metric` of None is the default metric.
    """
    if metric is None or not isinstance(metric.output, Gap):
        return True
    gap = metric.output
    swap = {one: other, other: one}
    own = {(place.slot, place.primed): slot for slot, place in enumerate(gap.places)}
    exchanged = {slot: own[swap.get(place.slot, place.slot), place.primed] for slot, place in enumerate(gap.places)}
    table = ExpressionTable()
    leaves = {slot.index: table.leaf("input", slot.index, domain_range(slot)) for slot in gap.slots}

    def read(variable: Reference) -> Node:
        if variable.slot is None:
            raise NotApplicable("an index depends on inputs")
        return leaves[variable.slot]

    try:
        node = expression(table, gap.value, read)
        names = {leaves[slot]: leaves[image] for slot, image in exchanged.items()}
        touched = 0
        for leaf in names:
            touched |= table.leaves[leaf]
        return table.renamed(node, names, touched, {}) == node
    except NotApplicable:
        return False
