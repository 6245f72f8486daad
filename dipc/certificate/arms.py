"""Betas that are the least of several closed forms: a claim with min(a, b) is one with a and one with b."""

from __future__ import annotations

from fractions import Fraction

from dipc.accuracy.claim import Claim, Terms
from dipc.accuracy.closed_form import ClosedForm
from dipc.accuracy.expression import ClaimExpression
from dipc.accuracy.form import Form
from dipc.accuracy.positive import over_positive
from dipc.accuracy.table import Row
from dipc.exact.limits import Undecided
from dipc.syntax.ast import Call


def arms_of(claim: Claim, row: Row, terms: Terms) -> tuple[ClosedForm, ...] | None:
    """The arguments of the beta of a row that is a `min` as a whole; None where they are no closed forms."""
    expression = claim.beta
    if row.beta is not None:
        expression = ClaimExpression.parse("beta", row.beta.text, "<beta>")
    if expression is None or not isinstance(expression.tree, Call) or expression.tree.function != "min":
        return None
    names = dict(claim.constants)
    if row.dd is not None:
        names["dd"] = _distance(row.dd.text)
    names["alpha"], names["gamma"] = _distance(terms.alpha_text), _distance(terms.gamma.text)
    arms: list[ClosedForm] = []
    for tree in expression.tree.arguments:
        value = ClaimExpression(expression.what, expression.source, tree).value(names, claim.intervals)
        limit = value.limit() if isinstance(value, Form) else None
        if limit is None:
            return None
        try:
            quotient = over_positive(limit.numerator_flat(), limit.denominator)
        except Undecided:
            return None
        if quotient is None:
            return None
        arms.append(ClosedForm(quotient))
    return tuple(arms)


def _distance(text: str) -> Form:
    return Form.infinite() if text == "inf" else Form.number(Fraction(text))
