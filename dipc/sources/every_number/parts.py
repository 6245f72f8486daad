"""A program as two that do not meet: a selection loop, and all the rest.

    S;  best <- Lap(a*eps, q[1]); for i in 2..m do ... end;  T

The loop reads inputs and its own variables only; neither S nor T reads what it leaves (T may write to its variables
first), nor has another part in its answer, and S does not exit. So its answer has the law that it has alone, and the
other outputs have the law that they have without it. The same is required of the ideal.

**Lemma.** The answers of such a program are those of its parts, side by side. An input with another answer of a part
has another answer of the program, so that dd(u) is at most the dd(u) of each part; and the error has at most the
probability of the sum of the errors of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dipc.lang import ast
from dipc.lang.tree import mentions
from dipc.sources.every_number.one_loop import Block, exits, may_read
from dipc.sources.every_number.selection_loop import Selection, selection_of
from dipc.sources.every_number.uniform import NotUniform


def parts(program: ast.Program, parameter: str) -> tuple[ast.Program, ast.Program] | None:
    """A selection loop with its ideal, and the rest with its own; None where the program is none with a selection loop
    apart from the rest."""
    ideal = next((found for found in program.declarations if isinstance(found, ast.IdealDecl)), None)
    if ideal is None:
        return None
    outputs = {
        declarator.name
        for declaration in program.declarations
        if isinstance(declaration, ast.VariableDecl) and declaration.role is ast.Role.OUTPUT
        for declarator in declaration.declarators
    }
    for answer, alone, rest in _selections(program.body, parameter, outputs):
        for other, ideal_alone, ideal_rest in _selections(ideal.body, parameter, outputs):
            if answer == other:
                return (
                    _with_outputs(program, alone, ideal_alone, answer.__eq__),
                    _with_outputs(program, rest, ideal_rest, answer.__ne__),
                )
    return None


def _selections(body: Block, parameter: str, outputs: set[str]) -> Iterator[tuple[str, Block, Block]]:
    """Selection loops apart from the rest: their answer, their statements, and all others."""
    for at in range(len(body) - 1):
        before, alone, after = body[:at], body[at : at + 2], body[at + 2 :]
        try:
            found: Selection = selection_of(alone, parameter)
        except NotUniform:
            continue
        if not (before or after) or exits(before) or mentions((before, after), found.answer):
            continue
        if found.held.isdisjoint(outputs) and not any(may_read(after, name) for name in found.held):
            yield found.answer, alone, (*before, *after)


def _with_outputs(program: ast.Program, body: Block, ideal: Block, wanted: Callable[[str], bool]) -> ast.Program:
    """The program with these statements, those of its ideal, and the outputs that are wanted. What it claims is left
    out."""
    declarations: list[ast.Declaration] = []
    for declaration in program.declarations:
        match declaration:
            case ast.ClaimDecl():
                continue
            case ast.VariableDecl(role=ast.Role.OUTPUT, declarators=declarators):
                left = tuple(declarator for declarator in declarators if wanted(declarator.name))
                if left:
                    declarations.append(replace(declaration, declarators=left))
            case ast.IdealDecl():
                declarations.append(replace(declaration, body=ideal))
            case _:
                declarations.append(declaration)
    return replace(program, declarations=tuple(declarations), body=body)
