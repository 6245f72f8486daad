"""The error of a program as a union of single events, for every number of queries.

All runs in agreement are walks through a finite automaton (see `agreement`). Take the cycles out of a walk with n
iterations, one after the other, until a path is left that comes to no head twice, with k iterations: the n - k others
lead from heads to heads of the same component, one with a head of the path. The sum of their terms is at most n - k
times that of the most probable one of these. So the walk has at most

    fixed + (n - k)·repeated,

where n = m - low + 1 for a loop from low to m. A run that exits earlier has no more.

That this is at most beta(m) for every m >= start is shown coefficient by coefficient of the polynomial in m - start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.constraints import constraint
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.noise.law import Law
from dipc.program.ideal import Ideal, Region
from dipc.program.program import Program
from dipc.questions.every_number.agreement import Lockstep, Term, Transition
from dipc.questions.every_number.loop_heads import Automaton, TooFew
from dipc.questions.every_number.normal_form import LoopText, Rates, rate_of_mark, with_enough_iterations
from dipc.questions.every_number.one_loop import parts
from dipc.questions.every_number.uniform import (
    NotUniform,
    Number,
    Selection,
    Uniform,
    parameter_arrays,
    require_uniform_metric,
    selection,
    uniform,
)
from dipc.rules.evidence import ClaimedDistances
from dipc.rules.facets import facet_metric, facets
from dipc.rules.halfspaces import single_bound
from dipc.rules.input_classes import finite_cases
from dipc.rules.least_slacks import slack_of
from dipc.text import ast
from dipc.text.core import RealType, SampleNoise
from dipc.text.diagnostic import DiagnosticError


@dataclass(frozen=True, slots=True)
class Sum:
    """At most `fixed` + (m - `once`) · `repeated`: terms that may go wrong in a run of the loop up to m >= once."""

    fixed: tuple[Term, ...]
    repeated: tuple[Term, ...]
    once: int

    @property
    def terms(self) -> tuple[Term, ...]:
        """All of them."""
        return (*self.fixed, *self.repeated)


def plus(left: Sum, right: Sum) -> Sum:
    """A sum that is both together, for m from the greater of both `once` on."""
    if left.once > right.once:
        left, right = right, left
    # fixed + (m - once)·repeated = fixed + (later - once)·repeated + (m - later)·repeated
    fixed = (*left.fixed, *(left.repeated * (right.once - left.once)), *right.fixed)
    return Sum(_sorted(fixed), _sorted((*left.repeated, *right.repeated)), right.once)


def sums(automaton: Automaton[Transition], low: int, paths: int) -> frozenset[Sum]:
    """Sums such that each run in agreement of a loop from `low` to m, if m is at least every `once`, has one of them as
    an upper bound of its terms (at any eps, that with the most probable iteration of a cycle).

    Raises NotUniform where there is no run in agreement at all, LimitReached past `paths` paths.
    """
    found: set[Sum] = set()
    cycles = _on_cycles(automaton)
    for fixed, once, visited in _paths(automaton, paths):
        loops = {step.terms: None for head in visited for step in cycles[head]}
        for repeated in loops or [()]:
            found.add(Sum(_sorted(fixed), _sorted(repeated), once + low - 1))
    if not found:
        raise NotUniform("no run gives the ideal's answer")
    return frozenset(found)


def _on_cycles(automaton: Automaton[Transition]) -> Mapping[int, tuple[Transition, ...]]:
    """By head the iterations that lead from some head of its component to another, or the same."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(automaton.iterations)))
    graph.add_edges_from(
        (head, step.goal) for head, steps in enumerate(automaton.iterations) for step in steps if step.goal is not None
    )
    found: dict[int, tuple[Transition, ...]] = {}
    for component in nx.strongly_connected_components(graph):
        inside = tuple(
            step for head in sorted(component) for step in automaton.iterations[head] if step.goal in component
        )
        found |= dict.fromkeys(component, inside)
    return found


def _paths(automaton: Automaton[Transition], most: int) -> Iterator[tuple[tuple[Term, ...], int, tuple[int, ...]]]:
    """By path that comes to no head twice: its terms, how many iterations it has, and the heads on it."""
    pending: list[tuple[tuple[Term, ...], int, tuple[int, ...]]] = [
        (step.terms, 0, (step.goal,)) for step in automaton.before if step.goal is not None
    ]
    count = 0
    while pending:
        terms, once, visited = pending.pop()
        count += 1
        if count > most:
            raise LimitReached("paths", f"the loop's heads are connected by more than {most} paths")
        here = visited[-1]
        for ending in automaton.endings[here]:
            yield (*terms, *ending.terms), once, visited
        for step in automaton.iterations[here]:
            if step.goal is None:
                yield (*terms, *step.terms), once + 1, visited
            elif step.goal not in visited:
                pending.append(((*terms, *step.terms), once + 1, (*visited, step.goal)))


def _sorted(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    key: Callable[[Term], str] = repr
    return tuple(sorted(terms, key=key))


@dataclass(frozen=True, slots=True)
class UnionBound:
    """For every number of queries from `start` on, the error has at most the probability of the largest of `sums`; the
    claim is about numbers from `least` on. Where there are `rates` that depend on the number, the terms have their
    marks."""

    sums: frozenset[Sum]
    least: int
    start: int
    rates: Rates | None = None

    def __post_init__(self) -> None:
        if not self.sums:
            raise ValueError("a union bound is about some runs: of none of them it would prove anything")

    def decay(self, number: int) -> Fraction | None:
        """The r such that the bound for this number falls like e^{-r·t}; None where it is 0. ZeroDivisionError where a
        rate has no value."""
        found = [
            rate
            for total in self.sums
            for term in total.terms
            if (rate := term.decay(lambda mark: rate_of_mark(self.rates, mark).at(number))) is not None
        ]
        return min(found, default=None)


def union_of(program: Program, parameter: str, distances: ClaimedDistances) -> UnionBound:
    """The union bound of a program that is uniform, or a selection loop, or comes to such programs. Raises NotUniform
    with what is none, LimitReached past one of the program's limits, DiagnosticError for its metric."""
    text = LoopText.of(program, parameter)
    return replace(_union_of(text, distances), rates=text.rates)


def _union_of(text: LoopText, distances: ClaimedDistances) -> UnionBound:
    apart = parts(text.tree, text.number.parameter)
    if apart is not None:
        left, right = (_union_of(text.with_tree(part), distances) for part in apart)
        return _both(left, right)
    single = text.with_one_loop()
    try:
        return _of_one_loop(single, distances)
    except NotUniform as refused:
        if single.source is text.program.core.source:
            raise
        raise NotUniform(refused.reason) from None  # its place is one in another text


def _of_one_loop(text: LoopText, distances: ClaimedDistances) -> UnionBound:
    def instance(number: int) -> Ideal:
        return Ideal(text.instance(number))

    try:
        shape = uniform(text.tree, text.number)
    except NotUniform as refused:
        found = _selection(text.tree, text.number)
        if found is None:
            raise refused from None
        return _selected(instance, found[0], distances)
    found_sums, count = with_enough_iterations(
        lambda count: _sums(instance, shape, count, distances), text.program.limits.iterations
    )
    last = max(total.once for total in found_sums)
    start = max(last, shape.low) + 1
    # Where domains end at m, no value was outside of one for the number explored, nor is any for a greater one.
    explored = _enough(instance, shape, start - shape.low + 1, count, distances) + shape.low - 1
    return UnionBound(found_sums, shape.low, max(start, explored))


def _both(left: UnionBound, right: UnionBound) -> UnionBound:
    """That of a program whose error is at most the sum of two."""
    found = frozenset(plus(one, other) for one in left.sums for other in right.sums)
    return UnionBound(found, max(left.least, right.least), max(left.start, right.start))


def _sums(instance: Callable[[int], Ideal], shape: Uniform, count: int, distances: ClaimedDistances) -> frozenset[Sum]:
    """The sums as found with `count` iterations, for all values of the finite inputs. Raises TooFew."""
    ideal = instance(shape.low + count - 1)
    metric, most = facet_metric(ideal), ideal.program.limits.paths
    slots = ideal.program.core.slots
    alone = [slot for slot in ideal.finite_inputs if not _is_element(slots[slot].name, shape)]
    automata = (Lockstep(ideal, shape, metric, distances, finite).automaton() for finite in finite_cases(ideal, alone))
    return frozenset(total for automaton in automata for total in sums(automaton, shape.low, most))


def _is_element(name: str, shape: Uniform) -> bool:
    """Whether a slot is an element of an array up to the parameter."""
    array, bracket, _ = name.partition("[")
    return bool(bracket) and array in shape.arrays


def _enough(
    instance: Callable[[int], Ideal], shape: Uniform, least: int, most: int, distances: ClaimedDistances
) -> int:
    """A number of iterations from `least` to `most` with which everything is explored, as it is with `most`."""
    for count in range(max(2, least), most):
        with suppress(TooFew, NotUniform, LimitReached, DiagnosticError):
            _sums(instance, shape, count, distances)
            return count
    return most


# --- the selection loop -------------------------------------------------------------------------------------------


def _selection(tree: ast.Program, number: Number) -> tuple[Selection, Selection] | None:
    """The loops of the program and of its ideal, None where they are not the same selection."""
    ideal = next((found for found in tree.declarations if isinstance(found, ast.IdealDecl)), None)
    if ideal is None:
        return None
    try:
        arrays = parameter_arrays(tree, number)
        own = selection(tree.body, tree.declarations, number.parameter)
        require_uniform_metric(tree, number, arrays, own.first)
        other = selection(ideal.body, tree.declarations, number.parameter)
    except NotUniform:
        return None
    inputs = [d for d in tree.declarations if isinstance(d, ast.VariableDecl) and d.role is ast.Role.INPUT]
    declared = [(declarator.name, declarator.low) for declaration in inputs for declarator in declaration.declarators]
    # Other inputs are not used.
    same = (own.array, own.answer, own.first) == (other.array, other.answer, other.first)
    begins = (own.array, own.first) in declared and own.array in arrays
    same = same and own.is_plain and other.is_plain
    return (own, other) if same and begins and own.rates is not None and other.rates is None else None


def _selected(instance: Callable[[int], Ideal], own: Selection, distances: ClaimedDistances) -> UnionBound:
    """The sums of a selection loop: one term for each query but the one selected, in two cases."""
    assert isinstance(own.first, ast.Number)
    least = int(own.first.value)
    ideal = instance(least + 2)
    core = ideal.program.core
    draws = [instruction for instruction in core.instructions if isinstance(instruction, SampleNoise)]
    slots = [slot for slot in core.inputs if core.slots[slot].name.startswith(f"{own.array}[")]
    if any(not isinstance(core.slots[slot].type, RealType) for slot in slots):
        raise NotUniform("an input is not real")
    metric = facet_metric(ideal)
    if metric.apart is not None:
        raise NotUniform("the metric sets some inputs of a selection infinitely far apart")
    first, other = ((draw.law, draw.rate) for draw in draws[:2])
    if len(draws) != 3 or (draws[2].law, draws[2].rate) != other:
        raise NotUniform("the values of a selection are not drawn alike")
    difference = Affine.input(slots[1]) - Affine.input(slots[0])
    region = Region((constraint(difference, ast.CompareOp.GE),), ())
    bound = single_bound(difference, facets(region, (), metric), distances.alpha)
    assert bound is not None, "the difference is itself the facet"
    slack = slack_of(difference, bound, 0, distances)
    margin = slack.slope if distances.is_open else slack.base
    first_wins = (_loses(other, first, margin),)
    # The first index is selected; or another one is, against the first and all others.
    return UnionBound(
        frozenset(
            {
                Sum((), first_wins, least),
                Sum((_loses(first, other, margin),), (_loses(other, other, margin),), least + 1),
            }
        ),
        least,
        least + 1,
    )


def _loses(challenger: tuple[Law, Fraction], selected: tuple[Law, Fraction], margin: Fraction) -> Term:
    """The selected value, ahead by the margin, against one challenger, with these laws and rates."""
    noises = tuple([Noise(law, rate, Fraction(0)) for law, rate in (selected, challenger)])
    return Term(Event(noises, (Halfspace(((0, Fraction(1)), (1, Fraction(-1))), margin),)))
