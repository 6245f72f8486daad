"""The walker reaches every node of a tree once, from left to right."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given

from dipc.text import ast, core
from dipc.text.ast import walk
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse, parse_expression
from dipc.text.statements import lower
from tests.strategies.programs import programs

#: In the text that Python writes of a tree, every node begins with the name of its class; names hold no parentheses.
NODE = re.compile(r"\b(\w+)\(")


def written(tree: object) -> Counter[str]:
    """The number of nodes of each class that Python writes when it shows `tree`."""
    found = Counter(NODE.findall(repr(tree)))
    del found["Fraction"]
    return found


def reached(tree: object) -> Counter[str]:
    return Counter(type(node).__name__ for node in walk(tree))


@given(programs())
def test_every_node_is_reached_once(program: ast.ProgramTree) -> None:
    assert reached(program) == written(program)
    assert reached(program.body) == written(program.body)


def test_nodes_come_before_their_children_and_these_from_left_to_right() -> None:
    tree = parse_expression(SourceText("test", "a + b*c[d]"))
    assert [node.name for node in walk(tree) if isinstance(node, ast.Name | ast.Element)] == ["a", "b", "c", "d"]


def test_typed_programs_are_walked_alike() -> None:
    text = """program p; input q[1..2] : real; output out : {0..3}; var r : real; var k : {1..2} = 1;
    r <- Lap(eps, q[k] + 2*q[1]); if r >= q[2] then out <- k + 1 else out <- 0 end"""
    instructions = lower(parse(SourceText("p", text)), SourceText("p", text)).instructions
    assert reached(instructions) == written(instructions) - Counter({"Span": written(instructions)["Span"]})
    assert len([read for each in instructions for read in core.variables_read(each)]) > 4
