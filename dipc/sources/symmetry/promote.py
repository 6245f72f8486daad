"""Numeric finite inputs as real or int ones, so that one symbolic execution serves all their values.

An input `x : {-1..1}` that is only added, scaled, compared and used as a mean can just as well be declared `real` (or
`int`, where it meets integers): every rule of the language that the new program obeys gives each expression the exact
value it had, as finite domains of rationals and reals share one arithmetic. Where a value is used as only a finite one
can be (as an index, a factor, a score, in min or max, as the value of a finite variable), the new text is refused by
the type checker, and the declaration stays as it was. What the inputs may be is another matter: the declared domains
still say that, in the claim and in dd(u).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.source import Source
from dipc.exits.program import Program
from dipc.lang import ast
from dipc.lang.core import DomType, Value
from dipc.lang.lower import lower, lower_ideal
from dipc.lang.parser import parse

#: The text that replaces each of these types, by the place of the declaration in the program.
_Types = Mapping[int, str]


def promoted(program: Program) -> Program:
    """The program with as many numeric DOM inputs declared `real` or `int` as its rules allow; itself if none is."""
    core = program.core
    tree = parse(core.source)
    domains = [_domains(found, program) for found in tree.declarations]
    numeric = [at for at, found in enumerate(domains) if found and all(map(_is_numeric, found))]
    if not numeric:
        return program
    everything = dict.fromkeys(numeric, "real")
    result = _retyped(program, tree, everything)
    if result is not None:
        return result
    chosen: dict[int, str] = {}
    best = program
    for at in numeric:
        # To an int input an inequality is one between integers: 1/2 must not become one.
        whole = all(value.denominator == 1 for found in domains[at] for value in found if isinstance(value, Fraction))
        for word in ("real", "int") if whole else ("real",):
            trial = _retyped(program, tree, {**chosen, at: word})
            if trial is not None:
                chosen[at], best = word, trial
                break
    return best


def _domains(found: ast.Declaration, program: Program) -> list[Sequence[Value]]:
    """The values of the inputs that are declared here, () for those that are not DOM."""
    if not isinstance(found, ast.VariableDecl) or found.role is not ast.Role.INPUT:
        return []
    names = {declarator.name for declarator in found.declarators}
    slots = [program.core.slots[slot] for slot in program.core.inputs]
    types = [slot.type for slot in slots if slot.name.partition("[")[0] in names]
    return [kind.values if isinstance(kind, DomType) else () for kind in types]


def _is_numeric(values: Sequence[Value]) -> bool:
    return bool(values) and all(isinstance(value, Fraction) for value in values)


def _retyped(program: Program, tree: ast.Program, types: _Types) -> Program | None:
    """The program with other types in these declarations, None if that breaks a rule."""
    core = program.core
    source = Source(core.source.name, _substituted(core.source.text, tree.declarations, types))
    try:
        parsed = parse(source)
        retyped = replace(lower(parsed, source, core.given, core.only_at), only_at=core.only_at)
        lower_ideal(parsed, source, core.constants, core.only_at)
    except DiagnosticError:
        return None
    assert retyped.inputs == core.inputs
    assert retyped.outputs == core.outputs
    return Program(retyped, program.limits)


def _substituted(text: str, declarations: Sequence[ast.Declaration], types: _Types) -> str:
    for at in sorted(types, reverse=True):
        declaration = declarations[at]
        assert isinstance(declaration, ast.VariableDecl)
        span = declaration.type.span
        text = text[: span.start] + types[at] + text[span.end :]
    return text
