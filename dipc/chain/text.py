"""Affine forms and comparisons as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.lang.precedence import signed_sum


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
    signed = [(factor < 0, name if abs(factor) == 1 else f"{abs(factor)}*{name}") for name, factor in terms]
    if constant or not signed:
        signed.append((constant < 0, str(abs(constant))))
    return signed_sum(signed)
