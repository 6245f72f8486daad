"""How tightly the parts of a text bind, so that no more parentheses are written than it needs.

The levels are the grammar's; whatever is written about a program, from source text to a diagnostic, goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Level(IntEnum):
    """How tightly an expression binds, from the weakest."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGNED = 7
    POWER = 8
    ATOM = 9


_INFIX: Final = {
    "or": Level.OR,
    "and": Level.AND,
    **dict.fromkeys(("<", "<=", "=", "!=", ">=", ">"), Level.COMPARISON),
    **dict.fromkeys("+-", Level.SUM),
    **dict.fromkeys("*/", Level.PRODUCT),
    "^": Level.POWER,
}


@dataclass(frozen=True, slots=True)
class Written:
    """The text of an expression, and the level of its outermost operator."""

    text: str
    level: Level = Level.ATOM

    def at_least(self, level: int) -> str:
        """The text, in parentheses when it binds more weakly than `level`."""
        return self.text if self.level >= level else f"({self.text})"


def prefixed(op: str, operand: Written) -> Written:
    """`not e` or `-e`."""
    if op == "not":
        return Written(f"not {operand.at_least(Level.NOT)}", Level.NOT)
    return Written(f"{op}{operand.at_least(Level.SIGNED)}", Level.SIGNED)


def infixed(left: Written, op: str, right: Written) -> Written:
    """The two with an operator of the language between them: all lean to the left, but comparisons and powers, which
    do not chain."""
    level = _INFIX[op]
    chains = level not in (Level.COMPARISON, Level.POWER)
    blank = "" if level >= Level.PRODUCT else " "
    shown_left = left.at_least(level if chains else level + 1)
    return Written(f"{shown_left}{blank}{op}{blank}{right.at_least(level + 1)}", level)


def applied(function: str, arguments: Iterable[Written]) -> Written:
    """`f(a, b)`."""
    return Written(f"{function}({', '.join([argument.text for argument in arguments])})")


def signed_sum(terms: Sequence[tuple[bool, str]]) -> str:
    """The sum of at least one term, each given with whether it is subtracted: `-r1 + 2*r2 - 1`."""
    (minus, first), *others = terms
    return ("-" if minus else "") + first + "".join(f" {'-' if minus else '+'} {term}" for minus, term in others)
