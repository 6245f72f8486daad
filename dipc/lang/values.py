"""Operations on concrete DOM and bool values: constants are folded here, and chains compute with the same rules."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.lang.core import DomOp, Value

#: Numerators and denominators beyond this many bits are refused: no mechanism needs them, repeated squaring makes them.
MAX_BITS = 10_000


class ValueTooLarge(ArithmeticError):
    """A number beyond MAX_BITS bits."""


def bounded(value: Fraction) -> Fraction:
    """`value` itself; raises ValueTooLarge when it has too many digits to go on with."""
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ValueTooLarge
    return value


def evaluate(op: DomOp, arguments: Sequence[Value]) -> Value:
    """The exact result of a well-typed operation on concrete values.

    Raises ZeroDivisionError, or ValueTooLarge for a number beyond MAX_BITS bits.
    """
    match op:
        case DomOp.NOT:
            return not arguments[0]
        case DomOp.AND:
            return all(arguments)
        case DomOp.OR:
            return any(arguments)
        case DomOp.EQ:
            return arguments[0] == arguments[1]
        case DomOp.NE:
            return arguments[0] != arguments[1]
    numbers = [value for value in arguments if isinstance(value, Fraction)]
    assert len(numbers) == len(arguments), (op, arguments)
    match op:
        case DomOp.LT:
            return numbers[0] < numbers[1]
        case DomOp.LE:
            return numbers[0] <= numbers[1]
        case DomOp.GE:
            return numbers[0] >= numbers[1]
        case DomOp.GT:
            return numbers[0] > numbers[1]
        case DomOp.ADD:
            return bounded(numbers[0] + numbers[1])
        case DomOp.SUBTRACT:
            return bounded(numbers[0] - numbers[1])
        case DomOp.MULTIPLY:
            return bounded(numbers[0] * numbers[1])
        case DomOp.DIVIDE:
            return bounded(numbers[0] / numbers[1])
        case DomOp.NEGATE:
            return -numbers[0]
        case DomOp.MIN:
            return min(numbers)
        case DomOp.MAX:
            return max(numbers)
        case DomOp.ABS:
            return abs(numbers[0])


def power(base: Fraction, exponent: int) -> Fraction:
    """base^exponent for a natural exponent; raises ValueTooLarge before it computes anything that is too large."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base not in (0, 1, -1) and (bits - 1) * exponent > MAX_BITS:
        raise ValueTooLarge
    if base in (0, 1, -1) and exponent > 1:
        exponent = 2 - exponent % 2
    return bounded(base**exponent)
