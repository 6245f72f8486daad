"""Small programs with an ideal, and random ones that Python computes just as well."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st

import dipc
from dipc.program.program import Program

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

F = Fraction


def with_ideal(ideal: str, declarations: str = "input x : real; output out : {0..9} = 0;", metric: str = "") -> Program:
    """A program of which only the ideal (and the metric) matters."""
    return dipc.load(f"program p; {declarations} {metric} ideal {{ {ideal} }}")


@dataclass(frozen=True)
class Tree:
    """A decision tree over reals x[1], ..., x[n]: Σ coefficients·x + constant ~ 0 at a node, an answer at a leaf."""

    coefficients: tuple[int, ...]
    constant: Fraction
    op: str
    then: Tree | int
    otherwise: Tree | int


OPERATIONS: dict[str, Callable[[Fraction], bool]] = {
    "<": lambda value: value < 0,
    "<=": lambda value: value <= 0,
    ">": lambda value: value > 0,
    ">=": lambda value: value >= 0,
    "=": lambda value: value == 0,
    "!=": lambda value: value != 0,
}


def answer(tree: Tree | int, x: Sequence[Fraction]) -> int:
    """The value of `tree` at `x`, computed without dipc."""
    while isinstance(tree, Tree):
        value = sum((c * v for c, v in zip(tree.coefficients, x, strict=True)), tree.constant)
        tree = tree.then if OPERATIONS[tree.op](value) else tree.otherwise
    return tree


def scaled(tree: Tree | int, factor: int) -> Tree | int:
    """The tree that says at factor·x what `tree` says at x."""
    if isinstance(tree, int):
        return tree
    constant = int(tree.constant * factor)
    return Tree(tree.coefficients, constant, tree.op, scaled(tree.then, factor), scaled(tree.otherwise, factor))


def source(tree: Tree, n: int, kind: str = "real") -> str:
    """The tree as the ideal of a program."""
    return f"program p; input x[1..{n}] : {kind}; output out : {{0..9}}; ideal {{ {_statement(tree)} }} out <- 0"


def _statement(tree: Tree | int) -> str:
    if isinstance(tree, int):
        return f"out <- {tree}"
    terms = [f"{c}*x[{i}]" for i, c in enumerate(tree.coefficients, 1) if c]
    text = " + ".join([*terms, str(tree.constant)]).replace("+ -", "- ")
    return f"if {text} {tree.op} 0 then {_statement(tree.then)} else {_statement(tree.otherwise)} end"


def trees(
    n: int, sizes: Sequence[tuple[int, ...]], constants: Sequence[Fraction], answers: int = 3
) -> st.SearchStrategy[Tree]:
    """Random trees, at most 3 comparisons deep, with coefficients from `sizes`."""
    leaves: st.SearchStrategy[Tree | int] = st.integers(0, answers - 1)

    def node(inner: st.SearchStrategy[Tree | int]) -> st.SearchStrategy[Tree]:
        return st.builds(
            Tree, st.sampled_from(sizes), st.sampled_from(constants), st.sampled_from([*OPERATIONS]), inner, inner
        )

    return node(node(node(leaves) | leaves) | leaves)


def differences(n: int) -> list[tuple[int, ...]]:
    """Coefficients of x[i], and of x[i] - x[j]."""
    found = []
    for i, j in itertools.permutations(range(n), 2):
        found.append(tuple(1 if k == i else -1 if k == j else 0 for k in range(n)))
    return [*found, *(tuple(int(k == i) for k in range(n)) for i in range(n))]


def any_coefficients(n: int) -> list[tuple[int, ...]]:
    """Small coefficients, not all zero."""
    return [c for c in itertools.product((-2, -1, 0, 1, 3), repeat=n) if any(c)]
