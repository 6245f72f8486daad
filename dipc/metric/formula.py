"""Conditions on inputs: linear constraints joined by `and` and `or`, with what is known already computed away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint, constraint, equality
from dipc.chain.evaluate import evaluate, evaluate_affine
from dipc.chain.state import SlotValue
from dipc.lang.ast import CompareOp
from dipc.lang.core import DomOp, Slot
from dipc.lang.typed import Concrete, Condition, Junction, Relation, affine


@dataclass(frozen=True, slots=True)
class Every:
    """True where all parts are."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """True where some part is."""

    parts: tuple[Formula, ...]


Formula = bool | Constraint | Every | Some

#: Whether a form is about ints.
Whole = Callable[[Affine], bool]


def every(parts: Iterable[Formula]) -> Formula:
    """All of `parts`; the rest is not asked for after one that is False."""
    found: list[Formula] = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            found += part.parts if isinstance(part, Every) else [part]
    return found[0] if len(found) == 1 else Every(tuple(found)) if found else True


def some(parts: Iterable[Formula]) -> Formula:
    """Some of `parts`; the rest is not asked for after one that is True."""
    found: list[Formula] = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            found += part.parts if isinstance(part, Some) else [part]
    return found[0] if len(found) == 1 else Some(tuple(found)) if found else False


def opposite(formula: Formula) -> Formula:
    """True exactly where `formula` is not."""
    match formula:
        case bool():
            return not formula
        case Constraint():
            return formula.negation
        case Every(parts):
            return some(map(opposite, parts))
        case Some(parts):
            return every(map(opposite, parts))
        case _:
            assert_never(formula)


class TooMany(Exception):
    """More conjunctions than are wanted."""


def disjoint(formula: Formula, most: int) -> tuple[tuple[Constraint, ...], ...]:
    """Conjunctions of which exactly one is true where the formula is, and none elsewhere. Raises TooMany for more than
    `most` of them on the way."""
    match formula:
        case bool():
            return ((),) if formula else ()
        case Constraint():
            return ((formula,),)
        case Every(parts):
            found: tuple[tuple[Constraint, ...], ...] = ((),)
            for part in parts:
                cases = disjoint(part, most)
                if len(found) * len(cases) > most:
                    raise TooMany
                found = tuple([(*one, *case) for one in found for case in cases])
            return found
        case Some(parts):
            one_by_one = [disjoint(every([*map(opposite, parts[:at]), part]), most) for at, part in enumerate(parts)]
            if sum(map(len, one_by_one)) > most:
                raise TooMany
            return tuple([case for cases in one_by_one for case in cases])
        case _:
            assert_never(formula)


def compared(difference: Affine, op: CompareOp, whole: Whole) -> Formula:
    """`difference` `op` 0."""
    if difference.is_number:
        value = difference.constant
        match op:
            case CompareOp.EQ:
                return value == 0
            case CompareOp.NE:
                return value != 0
            case CompareOp.LT | CompareOp.LE:
                return value < 0 or (op is CompareOp.LE and value == 0)
            case _:
                return value > 0 or (op is CompareOp.GE and value == 0)
    match op:
        case CompareOp.EQ:
            both = equality(difference, whole(difference))
            return False if both is None else Every(both)
        case CompareOp.NE:
            return opposite(compared(difference, CompareOp.EQ, whole))
        case _:
            return constraint(difference, op, whole(difference))


def evaluated(condition: Condition, values: Sequence[SlotValue], slots: Sequence[Slot], whole: Whole) -> Formula:
    """A condition of the language with these values in its slots; raises Fault for what has no value."""
    match condition:
        case Concrete(expr=expr):
            truth = evaluate(expr, values, slots)
            assert isinstance(truth, bool)
            return truth
        case Relation(difference=difference, op=op, span=span):
            return compared(evaluate_affine(affine(difference, span), values, slots), op, whole)
        case Junction(op=op, left=left, right=right):
            parts = (evaluated(part, values, slots, whole) for part in (left, right))
            return every(parts) if op is DomOp.AND else some(parts)
        case _:
            assert_never(condition)
