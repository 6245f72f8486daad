"""Preconditions `requires` that bound each query by itself, in the same way for every number of queries.

**Lemma.** *Let `requires` be a conjunction of bounds, each on one input or, by `min(i in 1..m : q[i]) >= a` and `max(i
in 1..m : q[i]) <= b`, on all elements of an array. Then the inputs are a box, with the same bounds of the elements for
every m.* So `requires` admits an input either for every number of queries or for none. A move of some inputs leaves the
box only if one of these inputs leaves its own bounds; the values of other queries do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dipc.chain.state import Constraint
from dipc.program.ideal import Ideal, Region
from dipc.program.program import Program
from dipc.questions.every_number.uniform import NotUniform
from dipc.text import ast
from dipc.text.ast import BinaryOp, CompareOp
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

_FORM = (
    "for every number of queries `requires` must bound each input by itself: "
    "write `min(i in 1..m : q[i]) >= 0` and `max(i in 1..m : q[i]) <= 10`"
)

_ABOVE, _BELOW = (CompareOp.GE, CompareOp.GT), (CompareOp.LE, CompareOp.LT)


def require_bounds(program: Program, parameter: str) -> None:
    """Raise NotUniform unless `requires` of `program` bounds each input by itself, equally for every m.

    `parameter` is the name of the constant m.
    """
    if program.core.requires is None:
        return
    tree = parse(program.core.source)
    varying = {parameter, *computed_from(tree.declarations, program.core.overrides, parameter)}
    arrays: _Arrays = {
        declarator.name: (declarator.low, declarator.high)
        for each in tree.declarations
        if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT
        for declarator in each.declarators
        if declarator.high is not None
    }
    for each in tree.declarations:
        if isinstance(each, ast.RequiresDecl) and not all(
            _is_bound(part, varying, arrays) for part in _conjuncts(each.condition)
        ):
            raise NotUniform(_FORM)


def without_requires(program: Program, parameter: str) -> Program:
    """Return `program` without its precondition `requires`, so that a proof covers more inputs than necessary.

    `parameter` is the name of the constant m. Raises NotUniform unless the precondition bounds each input by itself,
    equally for every m, or if the program is invalid without it.
    """
    if program.core.requires is None:
        return program
    require_bounds(program, parameter)
    tree = parse(program.core.source)
    kept = tuple([each for each in tree.declarations if not isinstance(each, ast.RequiresDecl)])
    try:
        text = print_program(replace(tree, declarations=kept))
        return program.with_constants({}, SourceText("<without requires>", text))
    except DiagnosticError as error:
        raise NotUniform(f"without `requires`: {error.diagnostics[0].message}") from None


def _conjuncts(condition: ast.Expr) -> list[ast.Expr]:
    match condition:
        case ast.Binary(op=BinaryOp.AND, left=left, right=right):
            return [*_conjuncts(left), *_conjuncts(right)]
    return [condition]


_Arrays = dict[str, tuple[ast.Expr | None, ast.Expr | None]]


def _is_bound(part: ast.Expr, varying: set[str], arrays: _Arrays) -> bool:
    """Return True if `part` is a comparison that bounds single inputs or all elements of an array, for every m.

    `varying` are the constants that depend on m. `arrays` has the first and last index of each input array.
    """
    if not isinstance(part, ast.Compare):
        return False
    for side, other, above, below in (
        (part.left, part.right, _ABOVE, _BELOW),
        (part.right, part.left, _BELOW, _ABOVE),
    ):
        if isinstance(side, ast.Ranged) and side.function in ("min", "max"):
            holds_for_each = part.op in (above if side.function == "min" else below)
            return holds_for_each and _is_of_elements(side, varying, arrays) and _is_steady(other, varying, arrays)
    return _is_steady(part.left, varying, arrays) and _is_steady(part.right, varying, arrays)


def _is_steady(tree: ast.Expr, varying: set[str], arrays: _Arrays) -> bool:
    return not any(
        (isinstance(node, ast.Name | ast.Element) and node.name in {*varying, *arrays}) or isinstance(node, ast.Ranged)
        for node in ast.walk(tree)
    )


def _is_of_elements(side: ast.Ranged, varying: set[str], arrays: _Arrays) -> bool:
    """Return True if `side`, a minimum or maximum, is over all elements of one array.

    In it, the array may occur only at the variable of `side`, and this variable only as an index. No other array and
    none of `varying`, the constants that depend on m, may occur. `arrays` has the first and last index of each input
    array.
    """
    elements = [node for node in ast.walk(side.body) if isinstance(node, ast.Element)]
    names = {node.name for node in elements}
    if len(names) != 1 or not names <= arrays.keys():
        return False
    (name,) = names
    if not all(ast.is_name(node.index, side.variable) for node in elements):
        return False
    if ast.occurrences(side.body, side.variable) != len(elements):
        return False
    low, high = arrays[name]
    known = {side.variable, name}
    rest = [node.name for node in ast.walk(side.body) if isinstance(node, ast.Name) and node.name not in known]
    return (low, high) == (side.low, side.high) and not varying & set(rest) and not set(rest) & arrays.keys()


def gaps(ideal: Ideal, guards: Sequence[Constraint]) -> tuple[tuple[Constraint, ...], tuple[Region, ...]]:
    """Return (bounds, regions): the bounds of inputs by `requires`, and for each bound the region where it is violated.

    Only bounds of inputs that occur in `guards` are returned. `ideal` is the ideal of the program. Without a
    precondition `requires` both tuples are empty. Raises NotUniform unless all inputs are real and the precondition is
    a conjunction of bounds on single inputs.
    """
    allowed = ideal.program.allowed
    if allowed is None:
        return (), ()
    if ideal.finite_inputs or ideal.whole_inputs:
        raise NotUniform("`requires` is covered for every number of queries only if all inputs are real")
    every = allowed.sets({})
    if len(every) != 1 or any(len(bound.form.inputs) != 1 for bound in every[0]):
        raise NotUniform(_FORM)
    used = {slot for guard in guards for slot, _ in guard.form.inputs}
    bounds = tuple(bound for bound in every[0] if bound.form.inputs[0][0] in used)
    return bounds, tuple(Region((bound.negation,), ()) for bound in bounds)
