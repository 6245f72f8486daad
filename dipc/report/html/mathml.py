"""Closed forms and outcomes in MathML, which browsers typeset without help."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape

from dipc.algebra.closed_form import ClosedForm, ordered_terms

_EPS = "<mi>ε</mi>"

_Term = tuple[int, Fraction, Fraction]


def mathml(form: ClosedForm) -> str:
    """The function as a `math` element, in ε."""
    numerator, denominator = form.parts()
    body = _sum(numerator.terms())
    if denominator is not None:
        body = _over(body, _sum(denominator.terms()))
    return f'<math display="block" alttext="{escape(str(form))}"><mrow>{body}</mrow></math>'


def _sum(terms: Iterable[_Term]) -> str:
    parts: list[str] = []
    for k, q, c in ordered_terms(terms):
        if parts or c < 0:
            parts.append(f"<mo>{'−' if c < 0 else '+'}</mo>")
        parts.append(_monomial(k, q, abs(c)))
    return "".join(parts) or "<mn>0</mn>"


def _monomial(k: int, q: Fraction, c: Fraction) -> str:
    factors = []
    if c != 1 or (k == 0 and q == 0):
        factors.append(_number(c))
    if k:
        factors.append(_EPS if k == 1 else f"<msup>{_EPS}<mn>{k}</mn></msup>")
    if q:
        factors.append(f"<msup><mi>e</mi><mrow>{_exponent(q)}</mrow></msup>")
    return "<mo>&#8290;</mo>".join(factors)


def _exponent(q: Fraction) -> str:
    times = "" if abs(q.numerator) == 1 else f"<mn>{abs(q.numerator)}</mn>"
    over = "" if q.denominator == 1 else f"<mo>/</mo><mn>{q.denominator}</mn>"
    return f"{'<mo>−</mo>' if q < 0 else ''}{times}{_EPS}{over}"


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return f"<mn>{value.numerator}</mn>"
    return _over(f"<mn>{value.numerator}</mn>", f"<mn>{value.denominator}</mn>")


def _over(above: str, below: str) -> str:
    return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"
