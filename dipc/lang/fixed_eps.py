"""The one eps at which a program is read, where one is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dipc.diagnostics.source import Source
from dipc.lang import ast
from dipc.lang.constants import compute_constants, register
from dipc.lang.expressions import Elaborator
from dipc.lang.findings import Findings
from dipc.lang.parser import parse_interval
from dipc.lang.scope import Scope


def fixed_eps(
    program: ast.Program, source: Source, overrides: Mapping[str, Fraction], given: str | None
) -> Fraction | None:
    """The eps > 0 that is asked about, where the interval `given`, else that of the claim block, is one point; None
    where others are asked about, too, and where the interval has a mistake. Raises DiagnosticError for a text that is
    no interval."""
    findings = Findings(source)
    scope = Scope()
    elaborator = Elaborator(scope, findings, declaring=True)
    intervals = _claimed(program) if given is None else parse_interval(Source("<eps>", given))
    if len(intervals) != 1 or intervals[0].high is None or not (intervals[0].low_closed and intervals[0].high_closed):
        return None
    register(program.declarations, scope, findings)
    compute_constants(program.declarations, overrides, elaborator)
    low, high = (elaborator.constant(end, "the end of an interval") for end in (intervals[0].low, intervals[0].high))
    return low if low is not None and low == high and low > 0 else None


def _claimed(program: ast.Program) -> tuple[ast.IntervalExpr, ...]:
    """The intervals of the first claim block."""
    fields = (field for found in program.declarations if isinstance(found, ast.ClaimDecl) for field in found.fields)
    return next((field.value for field in fields if field.name == "eps" and isinstance(field.value, tuple)), ())
