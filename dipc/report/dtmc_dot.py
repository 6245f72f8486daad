"""The chain in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dipc.report.dtmc import Dtmc, Transition, lines_of, place_text
from dipc.report.numbers import shown


def render(dtmc: Dtmc, name: str, eps: Fraction | None = None) -> str:
    """A digraph with one box for each state; the labels hold what the text shows."""
    lines = [
        f"digraph {quoted([name], end='')} {{",
        '  node [shape=box, fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    for number, state in enumerate(dtmc.states):
        rows = [f"s{number}  {place_text(state)}"]
        rows += [", ".join(parts) for parts in lines_of(state)]
        shape = ", peripheries=2" if state.line is None else ""
        lines.append(f"  s{number} [label={quoted(rows)}{shape}];")
    for steps in dtmc.steps:
        lines.extend(f"  s{step.source} -> s{step.goal}{_label(step, eps)};" for step in steps)
    lines.append("}")
    return "\n".join(lines) + "\n"


def quoted(rows: Iterable[str], end: str = "\\l") -> str:
    """A DOT string: the rows, each closed by `end` (left-justified line breaks in a label)."""
    return '"' + "".join(_escaped(row) + end for row in rows) + '"'


def _escaped(text: str) -> str:
    flat = "".join(character if character.isprintable() else " " for character in text)
    return flat.replace("\\", "\\\\").replace('"', '\\"')


def _label(step: Transition, eps: Fraction | None) -> str:
    rows = [step.outcome] if step.outcome else []
    if step.reason is not None:
        rows.append("probability not reached")
    elif step.probability is not None and not step.certain:
        rows.append(str(step.probability))
        if eps is not None:
            rows.append(f"= {shown(*step.probability.at(eps))}")
    return f" [label={quoted(rows)}]" if rows else ""
