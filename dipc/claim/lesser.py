"""A beta that is less, and a function of distance·eps where beta is none: without its summands of eps alone.

beta = f(alpha·eps) + g(eps) with g >= 0 is at least f(alpha·eps). A claim with f is stronger, and its classes have one
obligation each. As alpha may be as small as one likes for a given alpha·eps, so that eps is large, no more is left of a
g that goes to 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from dipc.algebra.parametric import Parametric
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.lang.ast import Binary, BinaryOp, Expr, Number, Unary, UnaryOp
from dipc.lang.printer import print_expression
from dipc.lang.tree import mentions


def without_terms_of_eps(
    beta: ClaimExpression, names: Mapping[str, Parametric], distances: Collection[str]
) -> str | None:
    """The text of an expression that is at most beta for every eps > 0: without the summands that mention none of the
    `distances`, and are not negative for any eps > 0. None where there are no such summands."""
    kept: list[Expr] = []
    dropped = False
    for term in _summands(beta.tree):
        if not any(mentions(term, name) for name in distances) and _is_nonnegative(beta, term, names):
            dropped = True
        else:
            kept.append(term)
    if not dropped:
        return None
    total: Expr = kept[0] if kept else Number(Fraction(0), "0")
    for term in kept[1:]:
        total = Binary(BinaryOp.ADD, total, term)
    return print_expression(total)


def _summands(tree: Expr) -> Iterator[Expr]:
    if isinstance(tree, Binary) and tree.op is BinaryOp.ADD:
        yield from _summands(tree.left)
        yield from _summands(tree.right)
    elif isinstance(tree, Binary) and tree.op is BinaryOp.SUBTRACT:
        yield from _summands(tree.left)
        yield Unary(UnaryOp.NEGATE, tree.right)
    else:
        yield tree


def _is_nonnegative(beta: ClaimExpression, term: Expr, names: Mapping[str, Parametric]) -> bool:
    """Whether it is seen by its coefficients."""
    try:
        value = ClaimExpression(beta.what, beta.source, term).value(names)
    except DiagnosticError:
        return False
    flat = value.flat() if isinstance(value, Parametric) else None
    return flat is not None and all(c > 0 for _, _, c in flat.terms())
