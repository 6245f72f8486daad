"""Betas that are less, and functions of distance·eps or of eps where beta is of both: without some of its summands.

beta = f(alpha·eps) + g(eps) with f, g >= 0 is at least f and at least g. A claim with one of them is stronger, and its
classes have one obligation each. No more is left where the other goes to 0: g, as alpha may be as small as one likes
for a given alpha·eps, and f far away from other answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.lang.ast import Binary, BinaryOp, Call, Expr, Number, Unary, UnaryOp
from dipc.lang.printer import print_expression
from dipc.lang.tree import mentions


def lesser(
    beta: ClaimExpression, names: Mapping[str, Parametric], distances: Collection[str], *, far: bool
) -> str | None:
    """The text of an expression that is at most beta for every eps > 0 and distance > 0: without the summands that are
    seen not to be negative and mention some of the `distances`, or where they are `far` none. None where there are no
    such summands."""
    kept: list[Expr] = []
    for term in summands(beta.tree):
        near = any(mentions(term, name) for name in distances)
        if near is not far or not is_nonnegative(beta, term, names):
            kept.append(term)
    if len(kept) == len(list(summands(beta.tree))):
        return None
    total: Expr = kept[0] if kept else Number(Fraction(0), "0")
    for term in kept[1:]:
        total = Binary(BinaryOp.ADD, total, term)
    return print_expression(total)


def below_one(beta: ClaimExpression) -> ClaimExpression:
    """An expression that says the same: beta, without numbers that are at least 1 where it is the least of some. No
    error has a greater probability."""
    match beta.tree:
        case Call("min", arguments):
            left = [part for part in arguments if not (isinstance(part, Number) and part.value >= 1)]
            return replace(beta, tree=left[0]) if len(left) == 1 else beta
    return beta


def summands(tree: Expr) -> Iterator[Expr]:
    """The expressions whose sum it is."""
    if isinstance(tree, Binary) and tree.op is BinaryOp.ADD:
        yield from summands(tree.left)
        yield from summands(tree.right)
    elif isinstance(tree, Binary) and tree.op is BinaryOp.SUBTRACT:
        yield from summands(tree.left)
        yield Unary(UnaryOp.NEGATE, tree.right)
    else:
        yield tree


def is_nonnegative(beta: ClaimExpression, term: Expr, names: Mapping[str, Parametric]) -> bool:
    """Whether a part of beta is seen not to be negative, by its coefficients."""
    try:
        value = ClaimExpression(beta.what, beta.source, term).value(names)
    except DiagnosticError:
        return False
    if not isinstance(value, Parametric) or value.denominator != ExpPoly.one():
        return False
    return all(c > 0 for _, _, _, c in value.terms())
