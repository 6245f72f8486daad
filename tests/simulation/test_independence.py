"""The simulation is a second opinion only as long as it knows nothing of the first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parent.parent.parent / "dipc" / "simulation"

#: The text, its tree and the walk through it, and the names of types; not what is made of them. Beside them the
#: numbers that a program may have, and how classes are made.
KNOWN = (
    "dipc.algebra.reals",
    "dipc.frozen",
    "dipc.text.diagnostic",
    "dipc.text.ast",
    "dipc.text.core",
    "dipc.text.numbers",
    "dipc.text.parser",
    "dipc.text.program",
    "dipc.simulation",
)

#: What may look at exact probabilities; nothing that runs programs may import it.
COMPARING = ("audit", "compare", "conform", "expected", "likelihood", "observed", "simulate")


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.stem)
def test_what_runs_programs_knows_only_their_trees(path):
    if path.stem in COMPARING:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert not node.level
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("dipc"):
                assert name.startswith(KNOWN), f"{path.name}:{node.lineno} imports {name}"
                assert not name.startswith(tuple(f"dipc.simulation.{module}." for module in COMPARING))


def test_of_the_lowered_program_only_its_size_is_used():
    """The module core is imported for the type of values, and where programs come in."""
    users = [path.stem for path in ROOM.glob("*.py") if ".instructions" in path.read_text(encoding="utf-8")]
    assert users == ["runs"]
    assert (ROOM / "runs.py").read_text(encoding="utf-8").count(".instructions") == 1
