"""Walking trees: one walker for the syntax of `dipc.lang.ast` and for the typed core.

A node is an instance of a dataclass other than Span; its children are the nodes in its fields, in order, those in
tuples (at any depth) included. So a new kind of node needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, assert_never

from dipc.diagnostics.source import Span
from dipc.lang.ast import (
    Binary,
    Call,
    Choose,
    Compare,
    DiscreteLaplace,
    Distribution,
    Element,
    Eps,
    ExponentialMechanism,
    Expr,
    Laplace,
    Name,
    Number,
    OneSided,
    Truth,
    Unary,
)

#: How fields are declared that hold no node. Others are looked into: a program is walked for every one that is checked.
_LEAVES = {"str", "int", "bool", "Fraction", "Span", "tuple[int, ...]", "tuple[str, ...]"}


def walk(tree: object) -> Iterator[Any]:
    """Every node of a tree, or of the trees in a tuple: a node comes before its children, these from left to right."""
    pending: list[Any] = [tree]
    while pending:
        part = pending.pop()
        if part.__class__ is tuple:
            pending += part[::-1]
        elif (fields := _fields(part.__class__)) is not None:
            yield part
            pending += fields(part)


#: What the Greek letters of a claim are called.
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}


def mentions(tree: object, name: str) -> bool:
    """Whether a name occurs in a tree of syntax; a Greek letter is its name in Latin letters."""
    wanted = GREEK.get(name, name)
    return any(isinstance(part, Name | Element) and GREEK.get(part.name, part.name) == wanted for part in walk(tree))


def rewritten(tree: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with every part for which `change` has another in its place; what is in its place is not looked
    into."""
    found = change(tree)
    if found is not None:
        return found
    match tree:
        case Unary(operand=operand):
            return replace(tree, operand=rewritten(operand, change))
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            return replace(tree, left=rewritten(left, change), right=rewritten(right, change))
        case Call(arguments=arguments):
            return replace(tree, arguments=tuple([rewritten(argument, change) for argument in arguments]))
        case Element(index=index):
            return replace(tree, index=rewritten(index, change))
        case Number() | Name() | Eps() | Truth():
            return tree
    assert_never(tree)


@cache
def _fields(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """What takes the fields of a node of this class that may hold nodes, the last first; None if it is no node's."""
    known = None if kind is Span else getattr(kind, "__dataclass_fields__", None)
    if known is None:
        return None
    match [name for name, field in reversed(known.items()) if field.type not in _LEAVES]:
        case []:
            return lambda _: ()
        case [name]:
            return lambda node: (getattr(node, name),)
        case names:
            return attrgetter(*names)


def weighing(distribution: Distribution) -> tuple[Expr, ...]:
    """The rate or the weights of a distribution."""
    match distribution:
        case Choose(arms):
            return tuple(weight for _, weight in arms)
        case Laplace(rate) | DiscreteLaplace(rate) | OneSided(rate) | ExponentialMechanism(rate):
            return (rate,)
    assert_never(distribution)
