"""Noise that is compared with finite values alone: a finite choice of the interval that it falls into.

A variable that is only drawn, around finite values, and compared with finite values tells no more than between which of
these it lies. So a draw chooses one of finitely many intervals, with exact weights, and the variable becomes some
number of that interval: all comparisons come out as they would. Paths that differ in what such a noise was are then the
same state once it is forgotten, and counts of many tests have as many states as numbers, where constraints on the
noises tell every subset of the tests apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, prod
from typing import assert_never

from dipc.chain.flow import Flow, has_choices, slots_in
from dipc.chain.state import NoiseWeight
from dipc.noise.law import Law
from dipc.text import core as operations
from dipc.text.ast import CompareOp, Role
from dipc.text.core import (
    Apply,
    AssignComparison,
    BranchComparison,
    Const,
    DomExpr,
    DomType,
    Read,
    ReadElement,
    SampleNoise,
    Slot,
    Value,
)

#: What one noise is compared with at most, and the combinations of values that are looked at to find it.
_MOST_PLACES, _MOST_COMBINATIONS = 32, 256

_ONE = Fraction(1)


def with_finite_noise(flow: Flow) -> Flow:
    """The flow in which the draws of noise that is compared with finite values alone are finite choices.

    It is the same flow where other noise is drawn without any choice: then paths that are united by their constraints
    are worth more. The probability of every exit, for each value of its outputs, is the same.
    """
    if not flow.forward or not flow.draws:
        return flow
    instructions = flow.program.instructions
    draws = {label: each for label, each in enumerate(instructions) if isinstance(each, SampleNoise)}
    loose = {
        slot for slot in {slot for draw in draws.values() for slot in draw.target.slots} if _only_compared(flow, slot)
    }
    places: dict[int, tuple[Fraction, ...]] = {}
    for label, draw in draws.items():
        if draw.target.index is None and draw.target.slots[0] in loose:
            found = _places(flow, label, draw.target.slots[0])
            if found is not None:
                places[label] = found
    others = len(places) < len(draws)
    if not places or (others and not flow.chooses):
        return flow
    return replace(flow, chooses=True, draws=others, places=places)


def without_finite_noise(flow: Flow) -> Flow:
    """The same with all noise drawn."""
    return replace(flow, chooses=has_choices(flow.program), draws=True, places={}) if flow.places else flow


def intervals(
    draw: SampleNoise, mean: Fraction, places: tuple[Fraction, ...]
) -> Iterator[tuple[Fraction, NoiseWeight]]:
    """Some number of each interval between the places, and the weight of that; for a mean, which is a number."""
    for low, high, number in _cells(draw.law, places):
        yield number, NoiseWeight(draw.law, draw.rate, mean, low, high)


def _cells(law: Law, places: tuple[Fraction, ...]) -> Iterator[tuple[Fraction | None, Fraction | None, Fraction]]:
    """Ends and a number of each interval; among integers the ends belong to it."""
    if not law.whole:
        # A noise with a density is at none of the places.
        for low, high in pairwise((None, *places, None)):
            yield low, high, _between(low, high)
        return
    for start, end in pairwise((None, *places, None)):
        last = None if end is None else end - 1
        yield start, last, start if start is not None else Fraction(0) if last is None else last


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is not None and high is not None:
        return (low + high) / 2
    return low + 1 if low is not None else Fraction(0) if high is None else high - 1


def _only_compared(flow: Flow, slot: int) -> bool:
    """Whether a variable is drawn, around finite values, and compared with finite values, and nothing else."""
    program = flow.program
    if program.slots[slot].role is not Role.VAR:
        return False
    for label, instruction in enumerate(program.instructions):
        if flow.writes[label] >> slot & 1 and not (
            isinstance(instruction, SampleNoise)
            and instruction.target.index is None
            and not instruction.mean.terms
            and instruction.law.has_form
        ):
            return False
        if flow.reads[label] >> slot & 1:
            match instruction:
                case AssignComparison() | BranchComparison():
                    terms = instruction.difference.terms
                    if len(terms) != 1 or terms[0][1] != Read(slot, terms[0][1].span):
                        return False
                case _:
                    return False
    return True


def _places(flow: Flow, label: int, slot: int) -> tuple[Fraction, ...] | None:
    """All that the noise drawn at a label may be compared with, increasing; where it is an integer the least integers
    above all that comparisons may tell apart. None where that is too much."""
    draw = flow.program.instructions[label]
    assert isinstance(draw, SampleNoise)
    result: set[Fraction] = set()
    pending, seen = [*flow.successors[label]], set[int]()
    while pending:
        here = pending.pop()
        if here in seen or here == flow.exit_label:
            continue
        seen.add(here)
        if flow.reads[here] >> slot & 1:
            instruction = flow.program.instructions[here]
            assert isinstance(instruction, AssignComparison | BranchComparison)
            ((factor, _),) = instruction.difference.terms
            constants = _values(instruction.difference.constant, flow.program.slots)
            factors = _values(factor, flow.program.slots)
            if constants is None or factors is None:
                return None
            for constant, c in product(_numbers(constants), _numbers(factors)):
                if c:
                    place = -constant / c
                    result |= _starts(instruction.op, place, rising=c > 0) if draw.law.whole else {place}
            if len(result) > _MOST_PLACES:
                return None
        if not flow.must_write[here] >> slot & 1:
            pending += flow.successors[here]
    return tuple(sorted(result))


def _starts(op: CompareOp, place: Fraction, *, rising: bool) -> set[Fraction]:
    """The integers from which on c·(x - place) ~ 0 is another truth value than just before, for a positive c or, where
    the left side is not `rising`, a negative one."""
    at, after = Fraction(ceil(place)), Fraction(floor(place) + 1)
    match op:
        case CompareOp.EQ | CompareOp.NE:
            return {at, after}
        case CompareOp.GT | CompareOp.LE:
            return {after if rising else at}
        case CompareOp.GE | CompareOp.LT:
            return {at if rising else after}
        case _:
            assert_never(op)


def _values(expr: DomExpr, slots: tuple[Slot, ...]) -> set[Value] | None:
    """Values among which that of an expression is wherever it has one; None where they are too many."""
    match expr:
        case Const(value=value):
            return {value}
        case Read(slot=slot):
            return _domain(slots[slot])
        case ReadElement(slots=elements):
            domains = [_domain(slots[slot]) for slot in elements]
            return set().union(*[domain for domain in domains if domain is not None]) if all(domains) else None
        case Apply(op=op, arguments=arguments):
            parts = [_values(argument, slots) for argument in arguments]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts) or prod(map(len, known)) > _MOST_COMBINATIONS:
                return None
            result: set[Value] = set()
            for values in product(*known):
                try:
                    result.add(operations.evaluate(op, values))
                except ArithmeticError:
                    continue  # there a run goes wrong before anything is compared
            return result
        case _:
            assert_never(expr)


def _domain(slot: Slot) -> set[Value] | None:
    match slot.type:
        case DomType(values=values) if len(values) <= _MOST_COMBINATIONS:
            return {*values, *([] if slot.initial is None else [slot.initial])}
    return None


def _numbers(values: set[Value]) -> list[Fraction]:
    return [value for value in values if isinstance(value, Fraction)]


def finite_noise_slots(flow: Flow) -> frozenset[int]:
    """The variables whose noise is a finite choice."""
    written = 0
    for label in flow.places:
        written |= flow.writes[label]
    return frozenset(slots_in(written))
