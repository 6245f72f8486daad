"""What every report says of the program it is about and of the event whose probability is bounded."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.report.page import GLUE


def program_text(program: str, constants: Sequence[tuple[str, str]]) -> str:
    """The program with the values of its constants."""
    said = ", ".join(f"{name}{GLUE}={GLUE}{value}" for name, value in constants)
    return program + (f" with {said}" if said else "")


def event_text(near: str, distance: bool = False) -> str:
    """What is claimed to be likely. `near` names the types of the outputs compared within gamma, empty where there are
    none; `distance` says that the program's `metric` block has its own distance of answers."""
    if distance:
        return "distance of output and det(u) ≤ gamma"
    return f"{near} outputs within gamma of det(u), others equal" if near else "output = det(u)"
