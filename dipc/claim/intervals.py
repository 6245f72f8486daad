"""The intervals of eps that a claim is about."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

from dipc.algebra.parametric import Parametric
from dipc.algebra.selection import constant_of
from dipc.claim.expression import AN_INTERVAL, ClaimExpression
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source
from dipc.lang.ast import Expr, IntervalExpr
from dipc.sign.interval import Interval


def resolve_intervals(
    source: Source, intervals: tuple[IntervalExpr, ...], constants: Mapping[str, Parametric]
) -> tuple[Interval, ...]:
    """The intervals with exact ends, in increasing order, disjoint and within (0, inf).

    Raises DiagnosticError for anything else.
    """
    resolved = sorted(
        ((_interval(source, tree, constants), tree) for tree in intervals),
        # [1, 1] comes before (1, 2).
        key=lambda pair: (pair[0].lower, not pair[0].lower_closed),
    )
    for (left, _), (right, tree) in pairwise(resolved):
        if _overlap(left, right):
            raise _error(source, tree, "E0624", f"the intervals {left} and {right} overlap", "give disjoint intervals")
    return tuple(interval for interval, _ in resolved)


def intervals_text(intervals: tuple[Interval, ...]) -> str:
    """`(0, 1], (2, inf)`."""
    return ", ".join(str(interval) for interval in intervals)


def _interval(source: Source, tree: IntervalExpr, constants: Mapping[str, Parametric]) -> Interval:
    low = _end(source, tree.low, constants)
    high = None if tree.high is None else _end(source, tree.high, constants)
    if low < 0:
        raise _error(source, tree.low, "E0622", f"eps is positive, but the interval begins at {low}", "begin with `(0`")
    if low == 0 and tree.low_closed and (high != 0 or tree.high_closed):
        raise _error(source, tree, "E0623", "eps = 0 is not a privacy budget", "begin with `(0`, which leaves 0 out")
    assert high is not None or not tree.high_closed, "the parser refuses `inf]`"
    if high is not None and (high < low or (high == low and not (tree.low_closed and tree.high_closed)) or high == 0):
        note = f"write `[{low}, {high}]` for the one point" if high == low > 0 else "give the lower end first"
        raise _error(source, tree, "E0621", "the interval is empty", note)
    return Interval(low, high, tree.low_closed, tree.high_closed)


def _end(source: Source, tree: Expr, constants: Mapping[str, Parametric]) -> Fraction:
    value = constant_of(ClaimExpression(AN_INTERVAL, source, tree).value(constants))
    if value is None:
        raise _error(
            source, tree, "E0620", "an end of an interval is a rational number", "write for example `(1/2, 3]`"
        )
    return value


def _overlap(left: Interval, right: Interval) -> bool:
    if left.upper is None:
        return True
    return right.lower < left.upper or (right.lower == left.upper and left.upper_closed and right.lower_closed)


def _error(source: Source, tree: Expr | IntervalExpr, code: str, message: str, note: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(code, message, source.excerpt(tree.span), notes=(note,)))
