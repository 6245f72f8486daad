"""One step of the chain: expressions evaluated in a state, and the successors of the state."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, assert_never

from dipc.chain.flow import Flow, intervals
from dipc.chain.state import (
    Affine,
    Choice,
    ChoiceWeight,
    Code,
    Comparison,
    Constraint,
    ConstraintSet,
    Edge,
    ExponentialWeight,
    Fault,
    Mark,
    NoiseVar,
    SlotValue,
    State,
    Unfinished,
    Waiting,
    combination,
    connected,
    constraint,
    decided,
    equality,
    irredundant,
)
from dipc.text import core as operations
from dipc.text.ast import COMPARED, BaseType, CompareOp, Expr, Number
from dipc.text.core import (
    AffineExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
    ExitInstruction,
    Instruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Store,
    Value,
    show_type,
    show_value,
)
from dipc.text.diagnostic import Span

# --- Expressions evaluated in a state: DOM and bool ones to values, real ones to affine forms -------------------------


def evaluate(expr: DomExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Value:
    """Return the value of `expr`, where `values` are the contents of the variables `slots`.

    Raises Fault if a variable that is read has no value, for a division by zero, and for an index out of range.
    """
    match expr:
        case Const(value=value):
            return value
        case Reference():
            result = read(expr, values, slots)
            assert not isinstance(result, Affine)
            return result
        case Apply(op=DomOp.AND, arguments=arguments):
            return all([*_truths(arguments, values, slots, stop=False)])
        case Apply(op=DomOp.OR, arguments=arguments):
            return any([*_truths(arguments, values, slots, stop=True)])
        case Apply(op=op, arguments=arguments, span=span):
            return apply(op, [evaluate(argument, values, slots) for argument in arguments], span)
        case _:
            assert_never(expr)


def evaluate_affine(expr: AffineExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Affine:
    """Return the form of the real or int expression `expr`, where `values` are the contents of the variables `slots`.

    Raises Fault if a variable that is read has no value, for a division by zero, and for an index out of range.
    """
    terms: list[tuple[Fraction, Affine]] = []
    for coefficient, variable in expr.terms:
        factor = as_number(evaluate(coefficient, values, slots))
        form = read(variable, values, slots)
        assert isinstance(form, Affine)
        terms.append((factor, form))
    constant = as_number(evaluate(expr.constant, values, slots))
    if len(terms) == 1 and terms[0][0] == 1 and not constant:
        return terms[0][1]
    return combination(terms, constant)


def slot_of(variable: Reference, values: Sequence[SlotValue], slots: Sequence[Slot]) -> int:
    """Return the slot of `variable`, where `values` are the contents of all variables `slots`.

    Raises Fault for an index out of range.
    """
    if variable.index is None:
        return variable.slots[0]
    return require_element(variable, evaluate(variable.index, values, slots))


def read(variable: Reference, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Value | Affine:
    """Return the content of `variable`, where `values` are the contents of all variables `slots`.

    Raises Fault for an unassigned variable, and for an index out of range.
    """
    return content(slot_of(variable, values, slots), variable.span, values, slots)


def content(slot: int, span: Span, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Value | Affine:
    """Return the content of `slot`, where `values` are the contents of all variables `slots`.

    Raises Fault, which points at `span`, if it is unassigned.
    """
    value = values[slot]
    if isinstance(value, Mark):
        assert value is Mark.UNASSIGNED, f"{slots[slot].name} was forgotten, yet it is read"
        raise Fault(
            Code.UNASSIGNED,
            f"`{slots[slot].name}` is read before it is assigned",
            span,
            "no value yet on this path",
            "assign it on every path that leads here, or declare it with an initial value",
        )
    assert not isinstance(value, Waiting | Unfinished), f"{slots[slot].name} is read before its waiting choice was made"
    return value


def require_element(array: Reference, point: Value) -> int:
    """Return the slot of the element with index `point` of `array`; raise Fault if there is no such element."""
    slot = array.element(point)
    if slot is None:
        raise Fault(
            Code.OUTSIDE_ARRAY,
            f"the index {point} is outside `{array.name}[{array.low}..{array.low + len(array.slots) - 1}]`",
            array.span,
            f"the index is {point} on this path",
            "guard the access with `if`, or declare a longer array",
        )
    return slot


def _truths(
    arguments: tuple[DomExpr, ...], values: Sequence[SlotValue], slots: Sequence[Slot], stop: bool
) -> list[bool]:
    truths: list[bool] = []
    for argument in arguments:
        truth = evaluate(argument, values, slots)
        assert isinstance(truth, bool)
        truths.append(truth)
        if truth is stop:
            break
    return truths


def as_number(value: Value) -> Fraction:
    """Return `value`, which the typed program guarantees to be a number."""
    assert isinstance(value, Fraction), f"{show_value(value)} is not a number"
    return value


def apply(op: DomOp, arguments: list[Value], span: Span) -> Value:
    """Return the result of the operation `op` on the values `arguments`.

    Raises Fault, which points at `span`, for a division by zero and for too many digits.
    """
    try:
        return operations.evaluate(op, arguments)
    except ZeroDivisionError:
        raise Fault(
            Code.DIVISION_BY_ZERO,
            "division by zero",
            span,
            "the divisor is 0 on this path",
            "guard the division with `if`",
        ) from None
    except operations.ValueTooLarge:
        raise Fault(
            Code.OUTSIDE_DOMAIN,
            f"a value has more than {operations.MAX_BITS} bits",
            span,
            "this number is too large on this path",
            "keep intermediate results small",
        ) from None


# --- Finite random choices: the values that may be chosen in a state, with descriptions of their weights --------------


def _options(
    choice: SampleExponential | SampleChoice, values: Sequence[SlotValue], slots: Sequence[Slot]
) -> list[tuple[Value, ChoiceWeight]]:
    """Return the values that `choice` may choose, with their weights; those of weight 0 are left out.

    `values` are the contents of the variables `slots`, from which options and scores are computed. Raises Fault if one
    of them cannot be evaluated. Faults in options of weight 0 do not matter.
    """
    if isinstance(choice, SampleChoice):
        return [(evaluate(value, values, slots), weight) for value, weight in choice.arms if not is_never(weight)]
    scores: list[Fraction] = []
    for value, expr in zip(choice.values, choice.scores, strict=True):
        try:
            score = evaluate(expr, values, slots)
        except Fault as fault:
            raise fault.noting(f"this happens in the score of {show_value(value)}") from None
        assert isinstance(score, Fraction)
        scores.append(score)
    shared = tuple(scores)
    return [(value, ExponentialWeight(choice.rate, shared, index)) for index, value in enumerate(choice.values)]


def is_never(weight: Expr) -> bool:
    """Whether `weight`, the weight of an option of a choice, is written as the number 0."""
    return isinstance(weight, Number) and not weight.value


# --- One step of the chain: from a state to its successors ------------------------------------------------------------


class Successor(NamedTuple):
    """A possible next state, and the edge that leads to it; the edge is None if no other next state is possible."""

    state: State
    edge: Edge


def step(flow: Flow, state: State, instruction: Instruction | None = None) -> tuple[Successor, ...]:
    """Return the possible next states of `state`, in which the program of `flow` has not ended.

    There is one for each option of a choice, or for each outcome of a comparison; outcomes are disjoint, and complete
    up to measure zero. `instruction`, if not None, is executed in place of the one at the state's label: the same
    instruction with some expressions replaced by their values. Raises Fault if the instruction cannot be executed in
    this state.
    """
    if instruction is None:
        instruction = flow.program.instructions[state.label]
    slots = flow.program.slots
    follow = flow.landing[state.label + 1]
    match instruction:
        case Store(target=target, value=expr, span=span):
            slot = slot_of(target, state.values, slots)
            if isinstance(expr, LinearComparison):
                outcomes = _compare(flow, state, expr)
                return tuple(
                    [Successor(assumed.assign(slot, holds, follow), edge) for holds, assumed, edge in outcomes]
                )
            if isinstance(expr, AffineExpr):
                return (Successor(state.assign(slot, _affine(flow, state, slot, expr), follow), None),)
            value = _in_domain(flow, slot, evaluate(expr, state.values, slots), span)
            return (Successor(state.assign(slot, value, follow), None),)
        case SampleNoise(target=target):
            slot = slot_of(target, state.values, slots)
            if state.label in flow.places:
                # The program depends only on the interval into which the noise falls, so any number in it will do.
                mean = _affine(flow, state, slot, instruction.mean).constant
                return tuple(
                    [
                        Successor(
                            state.assign(slot, Affine.number(number), follow), Choice(slot, number, weight, state.label)
                        )
                        for number, weight in intervals(instruction, mean, flow.places[state.label])
                    ]
                )
            return (Successor(state.draw(*_noise(flow, state, instruction, slot), follow), None),)
        case Branch(condition=condition, then=then, otherwise=otherwise):
            if isinstance(condition, LinearComparison):
                return tuple(
                    [
                        Successor(assumed.with_label(flow.landing[then if holds else otherwise]), edge)
                        for holds, assumed, edge in _compare(flow, state, condition)
                    ]
                )
            truth = evaluate(condition, state.values, slots)
            assert isinstance(truth, bool)
            return (Successor(state.with_label(flow.landing[then if truth else otherwise]), None),)
        case Jump(target=goal):
            return (Successor(state.with_label(flow.landing[goal]), None),)
        case SampleExponential(target=target) | SampleChoice(target=target):
            options = _options(instruction, state.values, slots)
            slot = slot_of(target, state.values, slots)
            chosen = [(_in_domain(flow, slot, option, instruction.span), weight) for option, weight in options]
            return tuple(
                [
                    Successor(state.assign(slot, value, follow), Choice(slot, value, weight, state.label))
                    for value, weight in chosen
                ]
            )
        case ExitInstruction():
            raise AssertionError("control never stays at an exit")
        case _:
            assert_never(instruction)


def _in_domain(flow: Flow, slot: int, value: Value, span: Span) -> Value:
    domain = flow.domains.get(slot)
    if domain is None:
        assert isinstance(value, bool)
        return value
    if value not in domain:
        declared = flow.program.slots[slot]
        accepted = flow.program.source.accepted
        way_out = None if accepted is None else accepted.inferred.get(declared.name.partition("[")[0])
        shown = f"the domain of `{declared.name}` is {show_type(declared.type)}"
        widen = f"{shown}: widen it, or guard the assignment"
        inferred = f"{shown}, which dipc found from the values assigned to it; {way_out}"
        raise Fault(
            Code.OUTSIDE_DOMAIN,
            f"`{declared.name}` would become {show_value(value)}, which is outside its domain",
            span,
            f"the value is {show_value(value)} on this path",
            widen if way_out is None else inferred,
        )
    return domain[value]


def _affine(flow: Flow, state: State, slot: int, expr: AffineExpr) -> Affine:
    form = evaluate_affine(expr, state.values, flow.program.slots)
    if flow.program.slots[slot].type is BaseType.INT:
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
    """Return (noise, content): the noise that `draw` draws in `state`, and what its variable `slot` then holds.

    The content is the noise; if the mean is random, it is the noise plus the random part of the mean. `flow` is the
    flow of the program.
    """
    form = _affine(flow, state, slot, draw.mean)
    mean = form.noiseless
    assert all(noise.id != state.label for noise in state.noises), "reals and ints are not drawn in a loop"
    version = flow.versions.get(state.label, {}).get(slot)
    name = flow.program.slots[slot].name
    apart = bool(form.noises) or slot in flow.reassigned
    noise = flow.drawn(NoiseVar(state.label, slot, name, version, draw.law, draw.rate, mean, apart))
    value = Affine.noise(noise.id)
    return noise, value + Affine(form.noises, (), Fraction(0)) if form.noises else value


def _compare(flow: Flow, state: State, test: LinearComparison) -> list[tuple[bool, State, Edge]]:
    op = test.op
    difference = evaluate_affine(test.difference, state.values, flow.program.slots)
    if difference.is_number:
        return [(COMPARED[op](difference.constant, 0), state, None)]
    signs = flow.supports(state.noises)
    outcomes: list[tuple[bool, State, Edge]] = []
    for holds, known in _outcomes(difference, op, flow.is_whole(difference)):
        assumed = _assuming(state, known, signs)
        if assumed is state:
            return [(holds, state, None)]
        if assumed is not None:
            if flow.chooses:
                assumed = _tidied(assumed, known, signs)
            outcomes.append((holds, assumed, Comparison(known, difference, op, holds, state.label)))
    return outcomes


def _assuming(state: State, known: tuple[Constraint, ...], signs: ConstraintSet) -> State | None:
    """Return `state` with the constraints `known` added; None if `state` excludes one of them.

    Constraints that `state` implies already are not added, so the result may be `state` itself. `signs` are constraints
    that the noises of `state` always satisfy, because their laws are bounded below or above.
    """
    for item in known:
        truth = decided(item, state.constraints, state.guards, signs)
        if truth is False:
            return None
        if truth is None:
            state = state.assume(item)
    return state


def _tidied(state: State, known: tuple[Constraint, ...], signs: ConstraintSet) -> State:
    """Return `state`, to which `known` were added, without older constraints that are now implied by the others.

    Paths may reach equal constraints by different comparisons: x > 1 and then x > 2, or x > 2 directly. Without implied
    constraints both lead to one state. `signs` are constraints that the noises of the state always satisfy.
    """
    noisy = bool(known[0].form.noises)
    constraints = state.constraints if noisy else state.guards
    fresh = [item for item in known if item in constraints.keys]
    near = dict.fromkeys(connected(fresh, constraints.items))
    old = [item for item in near if item not in fresh]
    kept = irredundant(old, [*fresh, *state.guards.items, *signs.items] if noisy else fresh)
    return state if len(kept) == len(old) else state.drop_constraints([item for item in old if item not in kept])


def _outcomes(difference: Affine, op: CompareOp, whole: bool) -> list[tuple[bool, tuple[Constraint, ...]]]:
    """Return the possible outcomes of the comparison `difference` `op` 0, each as (truth, constraints).

    The truth is whether the comparison holds, and the constraints are the condition of the outcome. `whole` is True if
    `difference` has only integer noises and inputs. Together the outcomes cover everything up to measure zero.
    """
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
