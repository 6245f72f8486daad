"""Finite random choices: the values that may be chosen in a state, with descriptions of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dipc.chain.edge import ChoiceWeight, ExponentialWeight, ExpressionWeight
from dipc.chain.evaluate import evaluate
from dipc.chain.fault import Fault
from dipc.chain.state import SlotValue
from dipc.lang.ast import Number
from dipc.lang.core import SampleChoice, SampleExponential, Slot, Value
from dipc.lang.display import show_value


class Option(NamedTuple):
    """A value that may be chosen."""

    value: Value
    weight: ChoiceWeight


def exponential(mechanism: SampleExponential, values: Sequence[SlotValue], slots: Sequence[Slot]) -> list[Option]:
    """The values of an exponential mechanism; raises Fault for a score that is undefined."""
    scores: list[Fraction] = []
    for value, expr in zip(mechanism.values, mechanism.scores, strict=True):
        try:
            score = evaluate(expr, values, slots)
        except Fault as fault:
            raise fault.noting(f"this happens in the score of {show_value(value)}") from None
        assert isinstance(score, Fraction)
        scores.append(score)
    shared = tuple(scores)
    return [
        Option(value, ExponentialWeight(mechanism.rate, shared, index)) for index, value in enumerate(mechanism.values)
    ]


def choices(choice: SampleChoice, values: Sequence[SlotValue], slots: Sequence[Slot]) -> list[Option]:
    """The values of a `choose`, without those of weight 0: what they would be does not matter; raises Fault."""
    return [
        Option(evaluate(value, values, slots), ExpressionWeight(weight, weight.span))
        for value, weight in choice.arms
        if not (isinstance(weight, Number) and not weight.value)
    ]
