"""What the chain cannot execute, said before anything runs: nothing of the language is left."""

from __future__ import annotations

from dipc.syntax.core import CoreProgram


def refuse_unsupported(program: CoreProgram) -> None:
    """Returns: every program is executed."""
