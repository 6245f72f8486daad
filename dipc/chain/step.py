"""One step of the chain: from a state to its successors."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, assert_never

from dipc.chain.affine import Affine
from dipc.chain.choices import Option, choices, exponential
from dipc.chain.codes import Code
from dipc.chain.constraints import Constraint, ConstraintSet, constraint, equality
from dipc.chain.edge import DETERMINISTIC, Choice, Comparison, Edge
from dipc.chain.entailment import connected, decided
from dipc.chain.evaluate import evaluate, evaluate_affine, target_slot
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow
from dipc.chain.irredundant import irredundant
from dipc.chain.nonnegative import nonnegative
from dipc.chain.state import NoiseVar, State
from dipc.diagnostics.source import Span
from dipc.lang.ast import CompareOp
from dipc.lang.core import (
    AffineExpr,
    AssignAffine,
    AssignComparison,
    AssignDom,
    Branch,
    BranchComparison,
    Exit,
    IntType,
    Jump,
    NoiseFamily,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Target,
    Value,
)
from dipc.lang.display import show_type, show_value


class Successor(NamedTuple):
    """A state that may come next, and how."""

    state: State
    edge: Edge


def step(flow: Flow, state: State) -> tuple[Successor, ...]:
    """The successors of a state that has not exited: its choices, or a partition of it up to measure zero.

    Raises Fault when the instruction cannot be executed in this state.
    """
    instruction = flow.program.instructions[state.label]
    slots = flow.program.slots
    follow = flow.landing[state.label + 1]
    match instruction:
        case AssignDom(target=target, value=expr, span=span):
            slot = target_slot(target, state.values, slots)
            value = _in_domain(flow, slot, evaluate(expr, state.values, slots), span)
            return _only(state.assign(slot, value, follow))
        case AssignAffine(target=target, value=form):
            slot = target_slot(target, state.values, slots)
            return _only(state.assign(slot, _affine(flow, state, slot, form), follow))
        case SampleNoise(target=target):
            slot = target_slot(target, state.values, slots)
            return _only(state.draw(*_noise(flow, state, instruction, slot), follow))
        case AssignComparison(target=target, difference=difference, op=op):
            slot = target_slot(target, state.values, slots)
            return tuple(
                [
                    Successor(assumed.assign(slot, holds, follow), edge)
                    for holds, assumed, edge in _compare(flow, state, difference, op)
                ]
            )
        case BranchComparison(difference=difference, op=op, then=then, otherwise=otherwise):
            return tuple(
                [
                    Successor(assumed.at(flow.landing[then if holds else otherwise]), edge)
                    for holds, assumed, edge in _compare(flow, state, difference, op)
                ]
            )
        case Branch(condition=condition, then=then, otherwise=otherwise):
            truth = evaluate(condition, state.values, slots)
            assert isinstance(truth, bool)
            return _only(state.at(flow.landing[then if truth else otherwise]))
        case Jump(target=goal):
            return _only(state.at(flow.landing[goal]))
        case SampleExponential(target=target, span=span):
            return _chosen(flow, state, target, exponential(instruction, state.values, slots), span)
        case SampleChoice(target=target, span=span):
            return _chosen(flow, state, target, choices(instruction, state.values, slots), span)
        case Exit():
            raise AssertionError("control never stays at an exit")
        case _:
            assert_never(instruction)


def _only(state: State) -> tuple[Successor, ...]:
    return (Successor(state, DETERMINISTIC),)


def _in_domain(flow: Flow, slot: int, value: Value, span: Span) -> Value:
    domain = flow.domains.get(slot)
    if domain is None:
        assert isinstance(value, bool)
        return value
    if value not in domain:
        declared = flow.program.slots[slot]
        raise Fault(
            Code.OUTSIDE_DOMAIN,
            f"`{declared.name}` would become {show_value(value)}, which is outside its domain",
            span,
            f"the value is {show_value(value)} on this path",
            f"the domain of `{declared.name}` is {show_type(declared.type)}: widen it, or guard the assignment",
        )
    return domain[value]


def _affine(flow: Flow, state: State, slot: int, expr: AffineExpr) -> Affine:
    """The form for a real or int slot; raises Fault when an int would not be an integer."""
    form = evaluate_affine(expr, state.values, flow.program.slots)
    if isinstance(flow.program.slots[slot].type, IntType):
        numbers = [form.constant, *(coefficient for _, coefficient in (*form.noises, *form.inputs))]
        broken = next((number for number in numbers if number.denominator != 1), None)
        if broken is not None:
            raise Fault(
                Code.NOT_AN_INTEGER,
                f"the int `{flow.program.slots[slot].name}` would not be an integer",
                expr.span,
                f"{broken} stands in this sum on this path",
                "guard the assignment with `if`, or use integer values only",
            )
    return form


def _noise(flow: Flow, state: State, draw: SampleNoise, slot: int) -> tuple[NoiseVar, Affine]:
    """The noise drawn, and what the variable becomes: the noise itself, or the sum of it and a random mean."""
    form = _affine(flow, state, slot, draw.mean)
    mean = Affine((), form.inputs, form.constant)
    rest = Affine(form.noises, (), Fraction(0))
    if draw.family is NoiseFamily.ONE_SIDED:
        mean, rest = Affine.number(Fraction(0)), form
    assert all(noise.id != state.label for noise in state.noises), "reals and ints are not drawn in a loop"
    version = flow.versions.get(state.label, {}).get(slot)
    around = rest != Affine.number(Fraction(0))
    name = flow.program.slots[slot].name
    noise = NoiseVar(state.label, slot, name, version, draw.family, draw.rate, mean, around or slot in flow.reassigned)
    value = Affine.noise(noise.id)
    return noise, value + rest if around else value


def _chosen(flow: Flow, state: State, target: Target, options: list[Option], span: Span) -> tuple[Successor, ...]:
    slot = target_slot(target, state.values, flow.program.slots)
    follow = flow.landing[state.label + 1]
    successors: list[Successor] = []
    for option in options:
        value = _in_domain(flow, slot, option.value, span)
        edge = Choice(slot, value, option.weight, state.label)
        successors.append(Successor(state.assign(slot, value, follow), edge))
    return tuple(successors)


def _compare(flow: Flow, state: State, expr: AffineExpr, op: CompareOp) -> list[tuple[bool, State, Edge]]:
    difference = evaluate_affine(expr, state.values, flow.program.slots)
    if difference.is_number:
        return [(_holds(difference.constant, op), state, DETERMINISTIC)]
    signs = nonnegative(state.noises)
    outcomes: list[tuple[bool, State, Edge]] = []
    for holds, known in _outcomes(difference, op, flow.is_whole(difference)):
        assumed = _assuming(state, known, signs)
        if assumed is state:
            return [(holds, state, DETERMINISTIC)]
        if assumed is not None:
            if flow.chooses:
                assumed = _tidied(assumed, known, signs)
            outcomes.append((holds, assumed, Comparison(known, difference, op, holds, state.label)))
    return outcomes


def _assuming(state: State, known: tuple[Constraint, ...], signs: ConstraintSet) -> State | None:
    """The state with what is new in `known`; itself if nothing is, None if its constraints exclude some of it."""
    for item in known:
        truth = decided(item, state.constraints, state.guards, signs)
        if truth is False:
            return None
        if truth is None:
            state = state.assume(item)
    return state


def _tidied(state: State, known: tuple[Constraint, ...], signs: ConstraintSet) -> State:
    """The state without constraints that follow from the rest, now that `known` is in it.

    Paths that make different choices may find out the same by different comparisons (x > 1 and then x > 2, or x > 2 at
    once): this way they lead to the same state, and their number does not matter.
    """
    noisy = bool(known[0].form.noises)
    own = state.constraints if noisy else state.guards
    fresh = [item for item in known if item in own.keys]
    near = dict.fromkeys(connected(fresh, own.items))
    old = [item for item in near if item not in fresh]
    kept = irredundant(old, [*fresh, *state.guards.items, *signs.items] if noisy else fresh)
    return state if len(kept) == len(old) else state.without([item for item in old if item not in kept])


def _outcomes(difference: Affine, op: CompareOp, whole: bool) -> list[tuple[bool, tuple[Constraint, ...]]]:
    """The ways a comparison can turn out, each with what is then known; together they cover everything."""
    match op:
        case CompareOp.EQ | CompareOp.NE:
            unequal = op is CompareOp.NE
            equal = equality(difference, whole)
            if equal is None or (difference.noises and not whole):
                # No integers are equal here, or noise is continuous: sides that differ by it almost surely differ.
                return [(unequal, ())]
            return [
                (unequal, (constraint(difference, CompareOp.LT, whole),)),
                (not unequal, equal),
                (unequal, (constraint(difference, CompareOp.GT, whole),)),
            ]
        case CompareOp.GE | CompareOp.LT | CompareOp.GT | CompareOp.LE:
            known = constraint(difference, op, whole)
            return [(True, (known,)), (False, (known.negation,))]
        case _:
            assert_never(op)


def _holds(difference: Fraction, op: CompareOp) -> bool:
    match op:
        case CompareOp.LT:
            return difference < 0
        case CompareOp.LE:
            return difference <= 0
        case CompareOp.EQ:
            return difference == 0
        case CompareOp.NE:
            return difference != 0
        case CompareOp.GE:
            return difference >= 0
        case CompareOp.GT:
            return difference > 0
        case _:
            assert_never(op)
