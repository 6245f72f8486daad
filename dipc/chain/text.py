"""Values, affine forms and comparisons as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.lang.core import BoolType, DomType, IntType, RealType, Type, Value

_ELLIPSIS_OVER = 12


def value_text(value: Value) -> str:
    """`3`, `-1/2`, `bot`, `true`."""
    match value:
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def type_text(kind: Type) -> str:
    """`bool`, `{0..3}`, `{none, bot, top}`; a long list is cut short."""
    match kind:
        case BoolType():
            return "bool"
        case IntType():
            return "int"
        case RealType():
            return "real"
        case DomType(values=values):
            numbers = [value for value in values if isinstance(value, Fraction) and value.denominator == 1]
            low = numbers[0] if numbers else Fraction(0)
            if len(values) > 1 and list(values) == [low + step for step in range(len(values))]:
                return f"{{{values[0]}..{values[-1]}}}"
            shown = [value_text(value) for value in values[:_ELLIPSIS_OVER]]
            return "{" + ", ".join(shown) + (", ..." if len(values) > _ELLIPSIS_OVER else "") + "}"


def affine_text(form: Affine, noise_name: Callable[[int], str], input_name: Callable[[int], str]) -> str:
    """`2*r1 - r2 + q[1] + 1/2`; `0` for the zero form."""
    terms = [(noise_name(noise), coefficient) for noise, coefficient in form.noises]
    terms += [(input_name(slot), coefficient) for slot, coefficient in form.inputs]
    return _sum_text(terms, form.constant)


def comparison_text(
    difference: Affine, op: str, noise_name: Callable[[int], str], input_name: Callable[[int], str]
) -> str:
    """`difference op 0` with the positive terms on the left and the negative ones on the right: `r1 < rT`."""
    terms = [(noise_name(noise), coefficient) for noise, coefficient in difference.noises]
    terms += [(input_name(slot), coefficient) for slot, coefficient in difference.inputs]
    left = [(name, coefficient) for name, coefficient in terms if coefficient > 0]
    right = [(name, -coefficient) for name, coefficient in terms if coefficient < 0]
    constant = difference.constant
    moves_left = bool(left) and bool(right) and constant > 0
    left_constant = constant if moves_left or not left else Fraction(0)
    return f"{_sum_text(left, left_constant)} {op} {_sum_text(right, left_constant - constant)}"


def _sum_text(terms: Sequence[tuple[str, Fraction]], constant: Fraction) -> str:
    text = ""
    for name, coefficient in terms:
        size = abs(coefficient)
        term = name if size == 1 else f"{size}*{name}"
        sign = "-" if coefficient < 0 else "+"
        text = f"{text} {sign} {term}" if text else (f"-{term}" if coefficient < 0 else term)
    if not text:
        return str(constant)
    if constant:
        text += f" {'-' if constant < 0 else '+'} {abs(constant)}"
    return text
