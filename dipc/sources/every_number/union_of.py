"""The error of a program as a union of single events, for every number of queries."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.constraints import constraint
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.source import Source
from dipc.exits.load import load_source
from dipc.exits.program import Program
from dipc.ideal.ideal import Ideal, Region
from dipc.lang import ast
from dipc.lang.constants import computed_from
from dipc.lang.core import RealType, SampleNoise
from dipc.lang.parser import parse
from dipc.lang.printer import print_program
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family, Noise
from dipc.sources.every_input.classes import finite_cases
from dipc.sources.every_input.evidence import ClaimedDistances
from dipc.sources.every_input.facet_metric import facet_metric
from dipc.sources.every_input.facets import facets
from dipc.sources.every_input.halfspaces import single_bound
from dipc.sources.every_input.lower import slack_of
from dipc.sources.every_number.comparison_terms import Term
from dipc.sources.every_number.lockstep import Lockstep
from dipc.sources.every_number.loop_heads import TooFew
from dipc.sources.every_number.one_loop import with_one_loop
from dipc.sources.every_number.parts import parts
from dipc.sources.every_number.rates import Constants, Rates, marked
from dipc.sources.every_number.selection_loop import Selection, selection
from dipc.sources.every_number.uniform import (
    NotUniform,
    Number,
    Uniform,
    parameter_arrays,
    require_uniform_metric,
    uniform,
)
from dipc.sources.every_number.union import Sum, plus, sums


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


def union_of(
    program: Program, parameter: str, instance: Callable[[int], Ideal], distances: ClaimedDistances
) -> UnionBound:
    """The union bound of a program that is uniform, or a selection loop, or comes to such programs. `instance` is the
    program for one number. Raises NotUniform with what is none, LimitReached past one of the program's limits."""
    core = program.core
    tree = parse(core.source)
    number = Number(parameter, computed_from(tree.declarations, core.given, parameter))
    found = marked(tree, number, Constants.of(tree, core, number))
    if found is None:
        return _Search(program, number, distances).of(tree, instance)
    if core.only_at is not None:
        raise NotUniform(f"a rate depends on `{parameter}`, and the program is read at one eps alone")
    union = _Search(program, number, distances).of(found[0], None)
    return replace(union, rates=found[1])


@dataclass(frozen=True, slots=True)
class _Search:
    """For union bounds of programs made from one with other statements."""

    program: Program
    number: Number
    distances: ClaimedDistances

    def of(self, tree: ast.Program, instance: Callable[[int], Ideal] | None) -> UnionBound:
        """That of a program that is uniform, or a selection loop, or comes to such; `instance` is it for one number,
        where its text is that of the program."""
        apart = parts(tree, self.number.parameter)
        if apart is not None:
            left, right = (self.of(part, None) for part in apart)
            return _both(left, right)
        single = with_one_loop(tree, self.number, parameter_arrays(tree, self.number))
        if instance is not None and single == tree:
            return self._of_one_loop(tree, instance)
        source = Source("<one loop>", print_program(single))
        try:
            return self._of_one_loop(parse(source), lambda m: self._instance(source, m))
        except NotUniform as refused:
            # Its place is one in another text.
            raise NotUniform(refused.reason) from None

    def _instance(self, source: Source, number: int) -> Ideal:
        core = self.program.core
        constants = {**core.given, self.number.parameter: Fraction(number)}
        try:
            program = load_source(source, constants, core.only_at).with_limits(self.program.limits)
        except DiagnosticError:
            raise NotUniform(f"the program is refused for {self.number.parameter} = {number}") from None
        return Ideal(program)

    def _of_one_loop(self, tree: ast.Program, instance: Callable[[int], Ideal]) -> UnionBound:
        try:
            shape = uniform(tree, self.number)
        except NotUniform as refused:
            found = _selection(tree, self.number)
            if found is None:
                raise refused from None
            return _selected(instance, found[0], self.distances)
        count = 2
        most = self.program.limits.iterations
        while count <= most:
            try:
                found_sums = _sums(instance, shape, count, self.distances)
            except TooFew:
                count *= 2
                continue
            last = max(total.once for total in found_sums)
            start = max(last, shape.low) + 1
            # Where domains end at m, no value was outside of one for the number explored, nor is any for a greater one.
            explored = _enough(instance, shape, start - shape.low + 1, count, self.distances) + shape.low - 1
            return UnionBound(found_sums, shape.low, max(start, explored))
        raise LimitReached("iterations", f"the loop still reaches new states after {most} iterations")


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
    first, other = draws[0].rate, draws[1].rate
    if len(draws) != 3 or draws[2].rate != other:
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


def _loses(challenger: Fraction, selected: Fraction, margin: Fraction) -> Term:
    """The selected value, ahead by the margin, against one challenger with these rates."""
    noises = (
        Noise(Family.LAPLACE, selected, Fraction(0)),
        Noise(Family.LAPLACE, challenger, Fraction(0)),
    )
    return Term(Event(noises, (Halfspace(((0, Fraction(1)), (1, Fraction(-1))), margin),)))
