"""Answers that are an index, rewritten as arrays of truth values: the loop then uses its variable as an index alone.

An output that says which query was chosen,

    output o : {0..m} = 0;   for i in 1..m do ... o <- i; exit ... end,

becomes the array `output o[1..m] : bool = false`, and `o <- i` becomes `o[i] <- true`, in the program and in its ideal.
An answer `o <- i + c` with one number c is an index as well: that of a loop that begins at low + c.

**Conditions.** On each path, o first holds one number that is not an index. It is assigned at most one index, by a loop
whose variable it is, and the path then exits before the next iteration without assigning o again. All these loops have
the same first and last index, and the domain of o contains the indices. Nothing reads o: no statement, metric or claim.

**Lemma.** Send an index i to the array that is true at i alone, and the other number to the array that is false
everywhere. This injection sends the law of the index version to the law of the array version.

1. Both versions take the same paths, because nothing reads o.
2. On a path that assigns the index i, o is i at the end, and o[i] is the only true element. On any other path, o is the
   other number at the end, and no element is true.
3. The other number is not an index, and distinct indices have distinct arrays, so the map is injective.

So all events about the answer have equal probabilities: that it is det(u), that it is another answer, that it is in a
set. The distance to disagreement, least factors, the least constant and delta are therefore equal for every m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dipc.questions.every_number.uniform import NotUniform, declared_domain, last_offset
from dipc.text import ast
from dipc.text.ast import is_name, mentions, occurrences, walk

_TRUE, _FALSE = ast.Truth(value=True), ast.Truth(value=False)


def with_index_answers(tree: ast.ProgramTree, parameter: str) -> tuple[ast.ProgramTree, Mapping[str, str]]:
    """Return (`tree` with an array of truth values in place of each output that holds an index, the refusals).

    The index is that of a loop up to the constant `parameter`: o <- i becomes o[i] <- true. The refusals map each
    output that is assigned an index but cannot be replaced to the reason.
    """
    refused: dict[str, str] = {}
    for name in _candidates(tree, parameter):
        try:
            tree = _rewritten(tree, name, parameter)
        except NotUniform as reason:
            refused[name] = reason.reason
    return tree, refused


def _candidates(tree: ast.ProgramTree, parameter: str) -> Iterator[str]:
    bodies = (tree.body, () if tree.ideal is None else tree.ideal.body)
    loops = {
        node.variable: node
        for node in walk(bodies)
        if isinstance(node, ast.For) and last_offset(node.high, parameter) is not None
    }
    assigned = {
        node.target.name
        for node in walk(bodies)
        if isinstance(node, ast.Assign)
        and isinstance(node.target, ast.Name)
        and any(last_offset(node.value, variable) is not None for variable in loops)
    }
    for declaration in tree.declarations:
        if isinstance(declaration, ast.VariableDecl) and declaration.role is ast.Role.OUTPUT:
            yield from (each.name for each in declaration.declarators if each.name in assigned and each.high is None)


def _rewritten(tree: ast.ProgramTree, name: str, parameter: str) -> ast.ProgramTree:
    """Return `tree` with an array of truth values in place of the output `name`, which holds an index.

    The array's last index is the constant `parameter`. Raises NotUniform if the output cannot be replaced.
    """
    declared = next(
        each
        for each in tree.declarations
        if isinstance(each, ast.VariableDecl)
        and each.role is ast.Role.OUTPUT
        and any(own.name == name for own in each.declarators)
    )
    answer = _Answer(name, parameter, None if declared.initial is None else _fixed_answer(declared.initial, parameter))
    body = answer.rewritten(tree.body)
    declarations: list[ast.Declaration] = []
    for each in tree.declarations:
        match each:
            case ast.IdealDecl():
                if any(own.name == name for variable in each.declarations for own in variable.declarators):
                    raise NotUniform(f"the ideal declares another `{name}`")
                declarations.append(replace(each, body=answer.rewritten(each.body)))
            case ast.MetricDecl(fields=fields):
                if any(field.name == "output" and not is_name(field.value, "product") for field in fields):
                    raise NotUniform(f"the `metric` block defines the distance of two values of `{name}`")
                _require_unread(each, name, "the `metric` block")
                declarations.append(each)
            case ast.ClaimDecl():
                _require_unread(each, name, "the claim")
                declarations.append(each)
            case _ if each is declared:
                continue
            case _:
                declarations.append(each)
    assert answer.low is not None, "some loop assigns its variable"
    assert answer.last is not None, "the loop has a last index"
    domain = declared_domain(tree.declarations, declared.type)
    if not isinstance(domain, ast.Range) or not answer.fits(domain.low, domain.high):
        raise NotUniform(f"the domain of `{name}` does not go from its first value to the last index")
    others = tuple(each for each in declared.declarators if each.name != name)
    own = ast.Declarator(name, ast.number(answer.low, declared.span), answer.last)
    array = replace(declared, declarators=(own,), type=ast.BaseTypeExpr(ast.BaseType.BOOL), initial=_FALSE)
    place = tree.declarations.index(declared)
    declarations[place:place] = [array, *([replace(declared, declarators=others)] if others else [])]
    return replace(tree, declarations=tuple(declarations), body=body)


def _require_unread(node: object, name: str, where: str) -> None:
    if any(mentions(node, spelling) for spelling in (name, f"{name}'")):
        raise NotUniform(f"{where} reads `{name}`")


def _literal(value: ast.Expr | None) -> int | None:
    match value:
        case ast.Number(value=Fraction(denominator=1) as number):
            return int(number)
        case ast.Unary(op=ast.UnaryOp.NEGATE, operand=ast.Number(value=Fraction(denominator=1) as number)):
            return -int(number)
    return None


def _fixed_answer(value: ast.Expr, parameter: str) -> int | str:
    """Return the constant `value` of an answer, as an integer, or as text such as `m+1` if it is `parameter` + 1.

    Raises NotUniform for another expression.
    """
    number, offset = _literal(value), last_offset(value, parameter)
    if number is not None:
        return number
    if offset is not None:
        return f"{parameter}{offset:+}"
    raise NotUniform("it is assigned a value other than a number and the index of the loop")


#: The states of an output on a path: nothing assigned, the number that is not an index, or an index.
_NOTHING, _NUMBER, _INDEX = "nothing", "number", "index"


@dataclass(slots=True)
class _Answer:
    """The facts found so far about the output `name`, to be replaced by an array whose last index is `parameter`.

    The output holds a loop's index plus `shift`, or else `number`, the one value that is not an index. `low` and `last`
    are the first and the last index of the loops that assign the output. Each field is None until its value is found.
    """

    name: str
    parameter: str
    number: int | str | None
    low: int | None = None
    last: ast.Expr | None = None
    shift: int | None = None

    def rewritten(self, body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
        """Return `body` with assignments to array elements in place of the assignments of an index to the output.

        Raises NotUniform if the output may have no value at the end, or is read.
        """
        begun = frozenset({_NOTHING if self.number is None else _NUMBER})
        result, held = self._block(tuple(body), begun, None)
        if _NOTHING in held:
            raise NotUniform(f"`{self.name}` may have no value at the end")
        left = occurrences(result, self.name)
        if left:
            raise NotUniform(f"`{self.name}` is read")
        return result

    def fits(self, low: ast.Expr, high: ast.Expr) -> bool:
        """Return True if the domain from `low` to `high` has all values of the output, and `number` is not an index."""
        first, end, last = _literal(low), last_offset(high, self.parameter), last_offset(self.last, self.parameter)
        assert self.low is not None, "the answer is assigned in a loop"
        assert self.shift is not None, "the answer is the index plus a number"
        least = self.low + self.shift
        if first is None or end is None or last is None or first > least or end < last + self.shift:
            return False
        if self.number is None:
            return True
        if isinstance(self.number, int):
            return first <= self.number < least
        return last + self.shift < int(self.number.removeprefix(self.parameter)) <= end

    def _block(
        self, block: tuple[ast.Statement, ...], held: frozenset[str], loop: ast.For | None
    ) -> tuple[tuple[ast.Statement, ...], frozenset[str]]:
        """Return (the rewritten statements, the kinds of value that the output may hold after them).

        The kinds are "nothing", "number" (the one value that is not an index) and "index"; `held` are those possible
        before `block`. The kinds are empty after an `exit`. `loop` is the loop up to m that contains `block`, or None.
        """
        result: list[ast.Statement] = []
        for statement in block:
            match statement:
                case ast.Assign(target=ast.Name(name=name)) if name == self.name:
                    new, held = self._assigned(statement, held, loop)
                    result += new
                case ast.If(then=then, otherwise=otherwise):
                    first, after = self._block(then, held, loop)
                    second, or_after = self._block(otherwise, held, loop)
                    result.append(replace(statement, then=first, otherwise=second))
                    held = after | or_after
                case ast.For(body=body) | ast.While(body=body):
                    inside = loop
                    if isinstance(statement, ast.For) and last_offset(statement.high, self.parameter) is not None:
                        inside = statement if loop is None else None
                    elif isinstance(statement, ast.For) and loop is not None and statement.variable == loop.variable:
                        inside = None
                    inner, after = self._block(body, held, inside)
                    if after != held and after:
                        if _INDEX in after - held:
                            variable = statement.variable if isinstance(statement, ast.For) else "i"
                            raise NotUniform(
                                f"no `exit` follows the assignment of the index to `{self.name}`, so that a later "
                                f"index would replace it: write `{self.name} <- {variable}; exit`"
                            )
                        raise NotUniform(f"`{self.name}` is assigned a number in a loop that continues")
                    result.append(replace(statement, body=inner))
                case ast.ExitStatement():
                    if _NOTHING in held:
                        raise NotUniform(f"`{self.name}` may have no value at the end")
                    result.append(statement)
                    held = frozenset()
                case ast.Assign() | ast.Sample():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result), held

    def _assigned(
        self, statement: ast.Assign, held: frozenset[str], loop: ast.For | None
    ) -> tuple[list[ast.Statement], frozenset[str]]:
        if _INDEX in held:
            raise NotUniform(f"`{self.name}` is assigned again after the index was assigned to it")
        shift = None if loop is None else last_offset(statement.value, loop.variable)
        if loop is not None and shift is not None:
            low = _literal(loop.low)
            if low is None or self.low not in (None, low) or self.last not in (None, loop.high):
                raise NotUniform(
                    f"the loops that assign their index to `{self.name}` do not have the same first and last index"
                )
            if self.shift not in (None, shift):
                raise NotUniform(f"`{self.name}` is assigned the index plus different numbers")
            self.low, self.last, self.shift = low, loop.high, shift
            element = ast.Element(self.name, ast.Name(loop.variable), statement.target.span)
            return [replace(statement, target=element, value=_TRUE)], frozenset({_INDEX} if held else ())
        number = _fixed_answer(statement.value, self.parameter)
        if self.number not in (None, number):
            raise NotUniform(f"`{self.name}` is assigned more than one value that is not an index")
        self.number = number
        return [], frozenset({_NUMBER} if held else ())
