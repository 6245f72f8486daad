"""Numbers with noise that may be None: two variables of the program, and where they are used without asking first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from dipc.mechanisms.module import UNKNOWN_TYPE, Module
from dipc.mechanisms.types import NONE
from dipc.text import ast
from dipc.text.ast import BinaryOp, UnaryOp

#: Expressions that are numbers for certain.
_Known = frozenset[ast.Expr]


@dataclass(frozen=True)
class MayBeNone:
    """Finds where a number that may be None is used as one: Python raises a TypeError there. `given` are such
    variables, with what says whether they are numbers."""

    module: Module
    spelling_of: Callable[[str], str]
    given: Mapping[str, str]

    def check(self, body: Sequence[ast.Statement], known: _Known = frozenset()) -> _Known:
        """What is certainly a number after these statements, of what may be None elsewhere. Raises DiagnosticError."""
        for statement in body:
            match statement:
                case ast.Assign(target, value):
                    copied = isinstance(value, ast.Name | ast.Element) and value.name in self.given
                    if target.name in self.given:
                        certain = value in known if copied else not is_none(value)
                        if not copied:
                            self._used(value, known)
                        known = self._with(known, target, certain=certain)
                    else:
                        self._used(value, known)
                case ast.Sample(target, distribution):
                    for node in ast.walk(distribution):
                        if isinstance(node, ast.Name | ast.Element):
                            self._used(node, known)
                    if target.name in self.given:
                        known = self._with(known, target, certain=True)
                case ast.If(condition, then, otherwise):
                    self._used(condition, known)
                    true, false = self._facts(condition, holds=True), self._facts(condition, holds=False)
                    known = self.check(then, known | true) & self.check(otherwise, known | false)
                case ast.For(body=inside) | ast.While(body=inside):
                    # Before each round, and behind the last.
                    for each in self._assigned(inside):
                        known = self._with(known, each, certain=False)
                    if isinstance(statement, ast.While):
                        self._used(statement.condition, known)
                    self.check(inside, known)
                case ast.Exit():
                    pass
                case _:
                    assert_never(statement)
        return known

    def _assigned(self, body: Sequence[ast.Statement]) -> Iterator[ast.Name | ast.Element]:
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Assign | ast.Sample) and node.target.name in self.given:
                    yield node.target

    def _with(self, known: _Known, target: ast.Name | ast.Element, *, certain: bool) -> _Known:
        """After an assignment to the target, which is a number for certain or not; of a list all elements may be it."""
        changed = {each for each in known if isinstance(each, ast.Name | ast.Element) and each.name == target.name}
        changed |= {each for each in known if isinstance(each, ast.Element) and ast.mentions(each.index, target.name)}
        return (known - changed) | ({target} if certain else set())

    def _used(self, tree: ast.Expr, known: _Known) -> None:
        match tree:
            case ast.Compare(left=left, right=right) if is_none(left) or is_none(right):
                pass
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right):
                self._used(left, known)
                self._used(right, known | self._facts(left, holds=op is BinaryOp.AND))
            case ast.Name(name=name) | ast.Element(name=name) if name in self.given and tree not in known:
                written = self.module.source.text[tree.span.start : tree.span.end]
                spelling = written if written.startswith(self.spelling_of(name)) else self.spelling_of(name)
                raise self.module.wrong(
                    tree.span,
                    f"`{spelling}` may be None here but is used as a number",
                    f"test it first: `if {spelling} is not None and …`, or `if {spelling} is None or …`",
                    code=UNKNOWN_TYPE,
                )
            case ast.Binary(left=left, right=right) | ast.Compare(left=left, right=right):
                self._used(left, known)
                self._used(right, known)
            case ast.Unary(operand=inner) | ast.Element(index=inner):
                self._used(inner, known)
            case ast.Call(arguments=arguments):
                for each in arguments:
                    self._used(each, known)

    def _facts(self, condition: ast.Expr, *, holds: bool) -> _Known:
        """What is a number for certain where the condition holds, or does not."""
        match condition:
            case ast.Compare(op=op, left=left, right=right) if is_none(right):
                return frozenset([left]) if (op is ast.CompareOp.NE) is holds else frozenset()
            case ast.Unary(op=UnaryOp.NOT, operand=operand):
                return self._facts(operand, holds=not holds)
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right):
                one, two = self._facts(left, holds=holds), self._facts(right, holds=holds)
                return one | two if (op is BinaryOp.AND) is holds else one & two
        return frozenset()


def is_none(tree: ast.Expr) -> bool:
    """Whether the expression is Python's None."""
    return isinstance(tree, ast.Name) and tree.name == NONE
