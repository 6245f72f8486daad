"""The walker reaches every node of a tree once, and rewriting changes what it is told to and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from hypothesis import given

from dipc.diagnostics.source import Source
from dipc.lang import ast, core
from dipc.lang.lower import lower
from dipc.lang.parser import parse, parse_expression
from dipc.lang.tree import children, rewrite, walk
from tests.strategies.programs import expressions, programs

#: In the text that Python writes of a tree, every node begins with the name of its class; names hold no parentheses.
NODE = re.compile(r"\b(\w+)\(")


def written(tree: object) -> Counter[str]:
    """How many nodes of each class Python writes when it shows the tree."""
    found = Counter(NODE.findall(repr(tree)))
    del found["Fraction"]
    return found


def reached(tree: object) -> Counter[str]:
    return Counter(type(node).__name__ for node in walk(tree))


@given(programs())
def test_every_node_is_reached_once(program: ast.Program) -> None:
    assert reached(program) == written(program)
    assert reached(program.body) == written(program.body)


@given(programs())
def test_rewriting_by_identity_is_identity(program: ast.Program) -> None:
    assert rewrite(program, lambda node: node) is program


@given(expressions(20))
def test_rewriting_sees_every_node_from_the_leaves_up(tree: ast.Expr) -> None:
    seen: list[int] = []

    def note(node: ast.Expr) -> ast.Expr:
        assert all(id(child) in seen for child in children(node))
        seen.append(id(node))
        return node

    rewrite(tree, note)
    assert Counter(seen) == Counter(map(id, walk(tree)))


def test_what_is_put_in_is_not_looked_at_again() -> None:
    tree = parse_expression(Source("test", "x + 2*x*max(x, y)"))
    there = parse_expression(Source("test", "(x + 1)"))
    changed = rewrite(tree, lambda node: there if isinstance(node, ast.Name) and node.name == "x" else node)
    assert changed == parse_expression(Source("test", "(x + 1) + 2*(x + 1)*max((x + 1), y)"))
    assert tree == parse_expression(Source("test", "x + 2*x*max(x, y)"))


def test_nodes_come_before_their_children_and_these_from_left_to_right() -> None:
    tree = parse_expression(Source("test", "a + b*c[d]"))
    assert [node.name for node in walk(tree) if isinstance(node, ast.Name | ast.Element)] == ["a", "b", "c", "d"]


def test_typed_programs_are_walked_alike() -> None:
    text = """program p; input q[1..2] : real; output out : {0..3}; var r : real; var k : {1..2} = 1;
    r <- Lap(eps, q[k] + 2*q[1]); if r >= q[2] then out <- k + 1 else out <- 0 end"""
    instructions = lower(parse(Source("p", text)), Source("p", text)).instructions
    assert reached(instructions) == written(instructions) - Counter({"Span": written(instructions)["Span"]})
    reads = [node for node in walk(instructions) if isinstance(node, core.Read | core.ReadElement)]
    assert len(reads) > 4
    doubled = rewrite(
        instructions,
        lambda node: (
            core.Const(2 * node.value) if isinstance(node, core.Const) and isinstance(node.value, Fraction) else node
        ),
    )
    assert doubled != instructions
    assert reached(doubled) == reached(instructions)
