"""Claim expressions as polynomials in one constant, whose values are left open."""

from __future__ import annotations

from collections.abc import Mapping

from dipc.algebra.parametric import Parametric
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.sources.every_number.uniform import NotUniform

#: By power, the coefficients.
Polynomial = dict[int, Parametric]

#: The greatest power.
MOST_DEGREE = 8


def polynomial(expression: ClaimExpression, parameter: str, names: Mapping[str, Parametric]) -> Polynomial:
    """The expression as a polynomial in the parameter, a number >= 0, with `names` put in for all else.

    Raises NotUniform where it is none, DiagnosticError for parts without an exact value.
    """
    refused = NotUniform(f"{expression.what} is no polynomial in `{parameter}`")
    try:
        value = expression.value({**names, parameter: Parametric.unknown(parameter)})
    except DiagnosticError:
        try:
            expression.value({**names, parameter: Parametric.number(1)})
        except DiagnosticError as error:
            if error.diagnostics[0].code != "E0609":
                raise
            refused = NotUniform(f"{expression.what} divides by a distance that is left open")
        raise refused from None
    if not isinstance(value, Parametric):
        raise NotUniform(f"{expression.what} has a minimum, a maximum or an absolute value")
    powers = value.powers(parameter)
    if powers is None:
        raise refused
    if max(powers, default=0) > MOST_DEGREE:
        raise NotUniform(f"beta has a degree of more than {MOST_DEGREE} in the number of queries")
    return powers


def shifted(of: Polynomial, start: int) -> Polynomial:
    """The polynomial in s with the parameter = start + s."""
    moved = Parametric.number(start) + Parametric.unknown("s")
    total = Parametric.number(0)
    for power, coefficient in of.items():
        total = total + coefficient * moved.power(power)
    powers = total.powers("s")
    assert powers is not None
    return powers
