"""The simulation is a second opinion only as long as it knows nothing of the first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parent.parent.parent / "dipc" / "simulation"

#: The language and what it means come from the checker. Of the engine's reading there are the text itself, diagnostics,
#: and the program as the caller has it: its text, its constants and its name.
KNOWN = (
    "dipc.frozen",
    "dipc.simulation",
    "dipc.text.diagnostic",
    "dipc.text.program.CoreProgram",
    "dipc.verifier",
)

#: The facts about the engine's program that runs may use: none of its instructions or slots.
FACTS = {"source", "constants", "name", "only_at", "metric", "require_meaning"}

#: What may look at exact probabilities; nothing that runs programs may import it.
COMPARING = ("compare", "conform")


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.stem)
def test_what_runs_programs_reads_them_as_the_checker_does(path):
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


def test_nothing_of_the_engines_reading_is_used():
    used = set()
    for path in ROOM.glob("*.py"):
        if path.stem not in COMPARING:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "program":
                    used.add(node.attr)
    assert used == FACTS
