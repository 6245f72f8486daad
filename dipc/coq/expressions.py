"""Closed forms as Coq writes them, and as data of the type `fn` of Prelude.v."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.functions import ONE, Closed, Ring


@dataclass(frozen=True)
class Expression:
    """A real function, as a Coq term `text` of reals and as a syntax tree `tree` of `Prelude.v`.

    The denotation of the tree, which `Prelude.v` calls den, is convertible to `text`. So a proof about the tree is a
    proof about the text.
    """

    text: str
    tree: str

    def slack(self, other: Expression) -> str:
        """Return Coq's text of the sum of this function and `other`, minus 1."""
        return f"Sub (Add ({self.tree}) ({other.tree})) (C 1)"


def number(value: Fraction) -> str:
    """Return the rational `value` as a Coq term of type R; negative numbers and fractions are in parentheses."""
    text = str(value)
    return text if value >= 0 and value.denominator == 1 else f"({text})"


def closed_expression(value: Closed, variable: str) -> Expression:
    """Return the closed form `value` for Coq, as a function of the real variable with the name `variable`."""
    above, below = (_sum(ring, variable) for ring in value)
    if value[1] == ONE:
        return above
    return Expression(f"({above.text}) / ({below.text})", f"Div ({above.tree}) ({below.tree})")


def _sum(terms: Ring, variable: str) -> Expression:
    if not terms:
        return Expression("0", "C 0")
    ordered = sorted(terms.items(), key=lambda item: (-item[0][1], item[0][0]))
    text = tree = ""
    for (k, q), c in ordered:
        one = _product(abs(c), k, q, variable)
        if not text:
            text, tree = (one.text, one.tree) if c > 0 else (f"-({one.text})", f"Neg ({one.tree})")
        elif c > 0:
            text, tree = f"{text} + {one.text}", f"Add ({tree}) ({one.tree})"
        else:
            text, tree = f"{text} - {one.text}", f"Sub ({tree}) ({one.tree})"
    return Expression(text, tree)


def _product(c: Fraction, k: int, q: Fraction, variable: str) -> Expression:
    factors: list[Expression] = []
    if c != 1 or not (k or q):
        tree = f"C {c}" if c.denominator == 1 else f"Div (C {c.numerator}) (C {c.denominator})"
        factors.append(Expression(str(c), tree))
    if k:
        factors.append(Expression(variable, "X") if k == 1 else Expression(f"{variable}^{k}", f"Pow X {k}"))
    if q:
        rate = abs(q)
        text, tree = variable, "X"
        if rate.numerator != 1:
            text, tree = f"{rate.numerator}*{text}", f"Mul (C {rate.numerator}) {tree}"
        if rate.denominator != 1:
            text, tree = f"{text}/{rate.denominator}", f"Div ({tree}) (C {rate.denominator})"
        if q < 0:
            text, tree = f"-({text})", f"Neg ({tree})"
        factors.append(Expression(f"exp ({text})", f"Ex ({tree})"))
    first, *rest = factors
    text, tree = first.text, first.tree
    for factor in rest:
        text, tree = f"{text} * {factor.text}", f"Mul ({tree}) ({factor.tree})"
    return Expression(text, tree)
