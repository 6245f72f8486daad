"""Deterministic programs compiled into closures over plain values, which run fast at many inputs.

Where a run fails or takes long, the caller repeats it by the chain's steps (`dipc.chain.step`), which report the place
and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import assert_never

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.step import as_number
from dipc.text import core as operations
from dipc.text.ast import COMPARED
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
    Instruction,
    Jump,
    LinearComparison,
    Reference,
    Store,
    Value,
)

#: The number of backward jumps after which the run is left to the chain's steps, which decide whether it ends.
_MOST_TURNS = 1_000

#: Values by slot; None is unassigned.
_Values = list[Value | None]


class DeterministicRun:
    """A program without choices and noise, ready to be run at many inputs."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        program = flow.program
        self._start: _Values = [slot.initial for slot in program.slots]
        self._steps = [self._step(label, each) for label, each in enumerate(program.instructions)]

    def __reduce__(self) -> tuple[type[DeterministicRun], tuple[Flow]]:
        return DeterministicRun, (self._flow,)

    def outputs(self, inputs: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return the outputs for the values `inputs`, both in the program's order.

        None if the run fails, leaves an output unassigned or takes too long.
        """
        values = self.finished(inputs)
        if values is None:
            return None
        outputs = self._flow.program.outputs
        result = tuple([kept for slot in outputs if (kept := values[slot]) is not None])
        return result if len(result) == len(outputs) else None

    def finished(self, inputs: Sequence[Value]) -> _Values | None:
        """Return the final values of all slots for the values `inputs`, in the program's order.

        None if the run fails or takes too long.
        """
        flow, steps = self._flow, self._steps
        values = [*self._start]
        for slot, value in zip(flow.program.inputs, inputs, strict=True):
            values[slot] = value
        label, turns = flow.entry, 0
        try:
            while label != flow.exit_label:
                before = label
                label = steps[label](values)
                if label <= before:
                    turns += 1
                    if turns > _MOST_TURNS:
                        return None
        except (NotApplicable, ArithmeticError):
            return None
        return values

    # --- instructions ----------------------------------------------------------------------------------

    def _step(self, label: int, instruction: Instruction) -> Callable[[_Values], int]:
        landing = self._flow.landing
        follow = landing[label + 1]
        match instruction:
            case Store(target=target, value=expr):
                return self._assignment(target, _computed(expr), follow)
            case Branch(condition=condition, then=then, otherwise=otherwise):
                test, yes, no = _computed(condition), landing[then], landing[otherwise]
                return lambda values: yes if test(values) else no
            case Jump(target=goal):
                return lambda _, there=landing[goal]: there  # type: ignore[misc]
            case _:
                return _refused

    def _assignment(
        self, target: Reference, value: Callable[[_Values], Value], follow: int
    ) -> Callable[[_Values], int]:
        kept = {slot: self._flow.admission(slot) for slot in target.slots}
        if target.index is None:
            (only,) = target.slots
            keep = kept[only]

            def assign(values: _Values) -> int:
                values[only] = keep(value(values))
                return follow

            return assign
        place = _element_slot(target, target.index)

        def assign_element(values: _Values) -> int:
            slot = place(values)
            values[slot] = kept[slot](value(values))
            return follow

        return assign_element


def runs_at_once(flow: Flow) -> bool:
    """Return True if `flow` draws no noise and makes no random choice, so that a `DeterministicRun` can run it."""
    return not flow.draws and not flow.chooses


def _refused(_: _Values) -> int:
    raise NotApplicable


# --- expressions -------------------------------------------------------------------------------------


def _computed(expr: AnyExpr) -> Callable[[_Values], Value]:
    match expr:
        case AffineExpr():
            return summed_form(expr)
        case LinearComparison():
            return _comparison(expr)
        case _:
            return evaluated(expr)


def evaluated(expr: DomExpr) -> Callable[[_Values], Value]:
    """Return the closure that computes `expr` from the values of all slots."""
    match expr:
        case Const(value=value):
            return lambda _: value
        case Reference():
            return _reading(expr)
        case Apply(op=DomOp.AND, arguments=arguments):
            evaluations = [evaluated(argument) for argument in arguments]
            return lambda values: all(argument_of(values) for argument_of in evaluations)
        case Apply(op=DomOp.OR, arguments=arguments):
            evaluations = [evaluated(argument) for argument in arguments]
            return lambda values: any(argument_of(values) for argument_of in evaluations)
        case Apply(op=op, arguments=arguments):
            evaluations = [evaluated(argument) for argument in arguments]
            return lambda values: operations.evaluate(op, [argument_of(values) for argument_of in evaluations])
        case _:
            assert_never(expr)


def _reading(variable: Reference) -> Callable[[_Values], Value]:
    if variable.index is None:
        (slot,) = variable.slots

        def read(values: _Values) -> Value:
            value = values[slot]
            if value is None:
                raise NotApplicable
            return value

        return read
    place = _element_slot(variable, variable.index)

    def read_element(values: _Values) -> Value:
        value = values[place(values)]
        if value is None:
            raise NotApplicable
        return value

    return read_element


def _element_slot(array: Reference, index: DomExpr) -> Callable[[_Values], int]:
    value_of_index = evaluated(index)

    def place(values: _Values) -> int:
        slot = array.element(value_of_index(values))
        if slot is None:
            raise NotApplicable
        return slot

    return place


def summed_form(expr: AffineExpr) -> Callable[[_Values], Fraction]:
    """Return the closure that computes `expr`, Σ coefficient · variable + constant, from the values of all slots."""
    constant = evaluated(expr.constant)
    terms = [(evaluated(coefficient), _reading(variable)) for coefficient, variable in expr.terms]
    if _is_constant(expr.constant, 0) and len(terms) == 1 and _is_constant(expr.terms[0][0], 1):
        alone = terms[0][1]
        return lambda values: as_number(alone(values))

    def summed(values: _Values) -> Fraction:
        total = as_number(constant(values))
        for coefficient, variable in terms:
            total += as_number(coefficient(values)) * as_number(variable(values))
        return total

    return summed


def _comparison(test: LinearComparison) -> Callable[[_Values], bool]:
    """Return the closure that decides `test` from the values of all slots.

    The two sides of x < y, or of x < constant, are compared directly, without computing their difference.
    """
    difference, compared = test.difference, COMPARED[test.op]
    if len(difference.terms) == 2 and _is_constant(difference.constant, 0):
        (one, left), (minus, right) = difference.terms
        if _is_constant(one, 1) and _is_constant(minus, -1):
            here, there = _reading(left), _reading(right)
            return lambda values: compared(as_number(here(values)), as_number(there(values)))
    if len(difference.terms) == 1 and _is_constant(difference.terms[0][0], 1):
        variable, constant = _reading(difference.terms[0][1]), evaluated(difference.constant)
        return lambda values: compared(as_number(variable(values)), -as_number(constant(values)))
    summed, zero = summed_form(difference), Fraction(0)
    return lambda values: compared(summed(values), zero)


def _is_constant(expr: DomExpr, number: int) -> bool:
    return isinstance(expr, Const) and isinstance(expr.value, Fraction) and expr.value == number
