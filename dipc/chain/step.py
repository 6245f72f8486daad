"""One step of the chain: from a state to its successors."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, assert_never

from dipc.chain.affine import Affine
from dipc.chain.codes import Code
from dipc.chain.constraints import Constraint, constraint, equality, negation
from dipc.chain.decided import decided
from dipc.chain.edge import DETERMINISTIC, Comparison, Edge
from dipc.chain.evaluate import evaluate, evaluate_affine, target_slot
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow
from dipc.chain.state import NoiseVar, State
from dipc.chain.support import random_mean, too_many_noises, unsupported
from dipc.chain.text import type_text, value_text
from dipc.diagnostics.source import Span
from dipc.syntax.ast import CompareOp
from dipc.syntax.core import (
    AffineExpr,
    AssignAffine,
    AssignComparison,
    AssignDom,
    Branch,
    BranchComparison,
    Exit,
    Jump,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Value,
)

MOST_NOISES = 2


class Successor(NamedTuple):
    """A state that may come next, and how."""

    state: State
    edge: Edge


def step(flow: Flow, state: State) -> tuple[Successor, ...]:
    """The successors of a state that has not exited: they partition it, up to measure zero.

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
            return _only(state.assign(slot, evaluate_affine(form, state.values, slots), follow))
        case SampleNoise(target=target):
            refusal = unsupported(instruction)
            if refusal is not None:
                raise refusal
            slot = target_slot(target, state.values, slots)
            return _only(state.draw(_noise(flow, state, instruction, slot), follow))
        case AssignComparison(target=target, difference=difference, op=op, span=span):
            slot = target_slot(target, state.values, slots)
            return tuple(
                [
                    Successor(assumed.assign(slot, holds, follow), edge)
                    for holds, assumed, edge in _compare(flow, state, difference, op, span)
                ]
            )
        case BranchComparison(difference=difference, op=op, then=then, otherwise=otherwise, span=span):
            return tuple(
                [
                    Successor(assumed.at(flow.landing[then if holds else otherwise]), edge)
                    for holds, assumed, edge in _compare(flow, state, difference, op, span)
                ]
            )
        case Branch(condition=condition, then=then, otherwise=otherwise):
            truth = evaluate(condition, state.values, slots)
            assert isinstance(truth, bool)
            return _only(state.at(flow.landing[then if truth else otherwise]))
        case Jump(target=goal):
            return _only(state.at(flow.landing[goal]))
        case SampleExponential() | SampleChoice():
            refusal = unsupported(instruction)
            assert refusal is not None
            raise refusal
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
            f"`{declared.name}` would become {value_text(value)}, which is outside its domain",
            span,
            f"the value is {value_text(value)} on this path",
            f"the domain of `{declared.name}` is {type_text(declared.type)}: widen it, or guard the assignment",
        )
    return domain[value]


def _noise(flow: Flow, state: State, draw: SampleNoise, slot: int) -> NoiseVar:
    mean = evaluate_affine(draw.mean, state.values, flow.program.slots)
    if mean.noises:
        raise random_mean(draw.mean.span)
    version = flow.versions.get(state.label, {}).get(slot)
    return NoiseVar(state.label, slot, flow.program.slots[slot].name, version, draw.family, draw.rate, mean)


def _compare(flow: Flow, state: State, expr: AffineExpr, op: CompareOp, span: Span) -> list[tuple[bool, State, Edge]]:
    difference = evaluate_affine(expr, state.values, flow.program.slots)
    if difference.is_number:
        return [(_holds(difference.constant, op), state, DETERMINISTIC)]
    if len(difference.noises) > MOST_NOISES and op not in (CompareOp.EQ, CompareOp.NE):
        raise too_many_noises(len(difference.noises), span)
    outcomes: list[tuple[bool, State, Edge]] = []
    for holds, known in _outcomes(difference, op):
        assumed = _assuming(state, known)
        if assumed is state:
            return [(holds, state, DETERMINISTIC)]
        if assumed is not None:
            outcomes.append((holds, assumed, Comparison(known, difference, op, holds, state.label)))
    return outcomes


def _assuming(state: State, known: tuple[Constraint, ...]) -> State | None:
    """The state with what is new in `known`; itself if nothing is, None if its constraints exclude some of it."""
    for item in known:
        truth = decided(item, state.constraints, state.guards)
        if truth is False:
            return None
        if truth is None:
            state = state.assume(item)
    return state


def _outcomes(difference: Affine, op: CompareOp) -> list[tuple[bool, tuple[Constraint, ...]]]:
    """The ways a comparison can turn out, each with what is then known; together they cover everything."""
    match op:
        case CompareOp.EQ | CompareOp.NE:
            unequal = op is CompareOp.NE
            if difference.noises:
                # Noise is continuous, so that two sides that differ by noise are almost surely different.
                return [(unequal, ())]
            return [
                (unequal, (constraint(difference, CompareOp.LT),)),
                (not unequal, equality(difference)),
                (unequal, (constraint(difference, CompareOp.GT),)),
            ]
        case CompareOp.GE | CompareOp.LT | CompareOp.GT | CompareOp.LE:
            known = constraint(difference, op)
            return [(True, (known,)), (False, (negation(known),))]
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
