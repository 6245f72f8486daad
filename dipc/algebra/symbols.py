"""The one SymPy symbol of the project, made when it is first asked for: importing SymPy takes a third of a second."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def eps() -> Any:
    """The symbol `eps`, always the same one: `dipc.eps`. It is the one that `sympy.sympify` makes from a text."""
    import sympy

    return sympy.Symbol("eps")
