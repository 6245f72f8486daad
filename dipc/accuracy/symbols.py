"""The one SymPy symbol of the project, made when it is first asked for: importing SymPy takes a third of a second."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def eps() -> Any:
    """The positive symbol `eps`, always the same one: `dipc.eps`."""
    import sympy

    return sympy.Symbol("eps", positive=True)
