"""Walking trees: one walker for the syntax of `dipc.lang.ast` and for the typed core.

A node is an instance of a dataclass other than Span; its children are the nodes in its fields, in order, those in
tuples (at any depth) included. So a new kind of node needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from dipc.diagnostics.source import Span

_Tree = TypeVar("_Tree")


def children(node: object) -> list[Any]:
    """The nodes directly below a node, or in a tuple; none for what is neither."""
    found: list[Any] = []
    for part in node if isinstance(node, tuple) else [getattr(node, name) for name in _fields_of(node) or ()]:
        if isinstance(part, tuple):
            found += children(part)
        elif _fields_of(part) is not None:
            found.append(part)
    return found


def walk(tree: object) -> Iterator[Any]:
    """Every node of a tree, or of the trees in a tuple: a node comes before its children, these from left to right."""
    pending = children(tree)[::-1] if isinstance(tree, tuple) else [tree]
    while pending:
        node = pending.pop()
        yield node
        pending += children(node)[::-1]


def rewrite(tree: _Tree, change: Callable[[Any], Any]) -> _Tree:
    """The tree with `change(node)` in the place of every node, from the leaves up: `change` sees a node whose children
    are changed already, and what it puts in is not looked at again. Where nothing changes, the tree itself."""
    if isinstance(tree, tuple):
        parts = tuple([rewrite(part, change) for part in tree])
        return tree if all(new is old for new, old in zip(parts, tree, strict=True)) else parts  # type: ignore[return-value]
    names = _fields_of(tree)
    if names is None:
        return tree
    changed: dict[str, Any] = {}
    for name in names:
        old = getattr(tree, name)
        new = rewrite(old, change)
        if new is not old:
            changed[name] = new
    return change(replace(tree, **changed) if changed else tree)  # type: ignore[no-any-return,type-var]


def _fields_of(node: object) -> tuple[str, ...] | None:
    kind: Any = type(node)
    return _fields(kind)


@cache
def _fields(kind: Any) -> tuple[str, ...] | None:
    """The fields of a class of nodes that may hold others; None for a class of anything else."""
    known = None if kind is Span else getattr(kind, "__dataclass_fields__", None)
    return None if known is None else tuple([name for name in known if name != "span"])
