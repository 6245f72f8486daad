"""Programs as deeply nested as the language admits, for whoever walks trees recursively."""

from __future__ import annotations


def tall_programs(levels: int) -> dict[str, str]:
    """Well-formed programs whose trees are `levels` high, one for each way to get there, by its name."""
    k = levels - 1
    half = k // 2
    return {
        "if": "program p; " + "if true then " * k + "exit " + "end " * k,
        "else if": "program p; " + "if true then exit else " * k + "exit " + "end " * k,
        "for": "program p; " + "for i in 1..1 do " * k + "exit " + "end " * k,
        "minus": "program p; x <- " + "-" * (k - 1) + "1",
        "not": "program p; x <- " + "not " * (k - 1) + "true",
        "sum": "program p; x <- 1" + " + 1" * (k - 1),
        "or": "program p; x <- true" + " or true" * (k - 1),
        "index": "program p; x <- " + "q[" * (k - 1) + "1" + "]" * (k - 1),
        "calls": "program p; x <- " + "max(1," * (k - 1) + "1" + ")" * (k - 1),
        "both": "program p; " + "if true then " * half + "x <- " + "-" * (k - half - 1) + "1 " + "end " * half,
    }
