"""Answers that are an index, as arrays of truth values (FORMAT.md, lemma 7): `o <- i; …; exit` becomes `o[i] <- true`.

The conditions are tested on the text of the program, and are stricter than necessary. Between `o <- i` and an `exit` of
the same block there is no loop and no other use of o, so that each run assigns at most one index, and nothing after it.
All other assignments to o give one number that is not an index. Each run of the program is therefore a run of the
program with the array, and their answers correspond one to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from typing import Any

from dipc.verifier.reading import NotDerived
from dipc.verifier.syntax import (
    Apply,
    Assign,
    Block,
    Domain,
    Element,
    Exit,
    Expr,
    Field,
    For,
    If,
    Literal,
    Name,
    Program,
    Range,
    Variable,
    While,
    names,
    nodes,
    rebuilt,
)


class _NotAnIndex(Exception):
    """Raised if an output is not proved to take only indices of a loop and at most one other, fixed number.

    Also raised if the program does anything with the output but assign to it, for example if it reads the output.
    """


def offset_of(end: object, parameter: str) -> int | None:
    """Return the integer c if `end` is the expression `parameter` + c, otherwise None; `parameter` is a name."""
    match end:
        case Name(name) if name == parameter:
            return 0
        case Apply("+", (Name(name), Literal(Fraction(denominator=1, numerator=c)))) if name == parameter:
            return c
        case Apply("-", (Name(name), Literal(Fraction(denominator=1, numerator=c)))) if name == parameter:
            return -c
    return None


def integer(value: object) -> int | None:
    """Return the integer that the expression `value` spells out; None for other expressions."""
    match value:
        case Literal(Fraction(denominator=1, numerator=number)):
            return number
        case Apply("neg", (Literal(Fraction(denominator=1, numerator=number)),)):
            return -number
    return None


def ending_at(tree: Program, parameter: str) -> Program:
    """Return the program `tree` with all indices moved so that its loops and arrays end at m, the constant `parameter`.

    The indices are moved if all ends that depend on m are the same number m + c, where c is not 0. The range from 1 to
    m + 1, for example, becomes the range from 0 to m. Otherwise `tree` is returned. The answers are unchanged if
    indices only name elements, which `dipc.verifier.loops` requires of the result. Raises NotDerived if a loop or an
    array does not begin at a number.
    """
    ends: list[object] = [node.high for node in nodes((tree.body, tree.ideal)) if isinstance(node, For)]
    ends += [each.ends[1] for each in tree.every_variable if each.ends is not None]
    ends += [high for field in tree.metric for _, _, high in field.loops]
    offsets = {offset_of(end, parameter) for end in ends if parameter in names(end)}
    if len(offsets) != 1 or not (offset := offsets.pop()):
        return tree

    def new_ends(low: Expr, high: Expr) -> tuple[Expr, Expr]:
        if offset_of(high, parameter) is None:
            return low, high
        first = integer(low)
        if first is None:
            raise NotDerived("the first index of a loop or of an array is not a number")
        return _number(first - offset), Name(parameter)

    def shifted(part: object) -> object:
        match part:
            case For(variable, low, high, body):
                return For(variable, *new_ends(low, high), rebuilt(body, shifted))
            case Variable(ends=(low, high)):
                return replace(part, ends=new_ends(low, high))
            case Field(loops=loops):
                return replace(part, loops=tuple((name, *new_ends(low, high)) for name, low, high in loops))
        return None

    return rebuilt(tree, shifted)  # type: ignore[no-any-return]


def with_arrays(tree: Program, parameter: str) -> Program:
    """Return the program `tree` with an array in place of each output that holds an index of a loop up to m.

    m is the constant `parameter`. For an output o, the assignment `o <- i` becomes `o[i] <- true`. The answers of the
    two programs correspond one to one. An output is left unchanged if it is not proved to hold such an index.
    """
    for declared in tree.variables:
        if declared.role == "output" and declared.ends is None:
            with suppress(_NotAnIndex):
                tree = _with_array(tree, declared, parameter)
    return tree


def _with_array(tree: Program, declared: Variable, parameter: str) -> Program:
    name = declared.name
    bodies = (tree.body, *(() if tree.ideal is None else (tree.ideal.body,)))
    known = {*names((tree.constants, tree.domains, tree.every_variable, tree.metric))}
    known |= {n for _, text in tree.claim for n in re.findall(r"\w+", text)}
    if not known.isdisjoint((name, f"{name}'")) or sum(each.name == name for each in tree.every_variable) > 1:
        raise _NotAnIndex
    if any(field.name == "output" and field.value != Name("product") for field in tree.metric):
        raise _NotAnIndex
    own = _Output(name, parameter)
    for body in bodies:
        own.examine(body, None)
        if sum(other == name for other in names(body)) != own.count(body):
            raise _NotAnIndex  # it is read
        if declared.initial is None and not own.is_always_given(body):
            raise _NotAnIndex
    numbers = {*own.numbers, *(() if declared.initial is None else (declared.initial,))}
    if len({loop[:3] for loop in own.loops}) != 1 or len(numbers) > 1:
        raise _NotAnIndex
    ((low, high, shift),) = {loop[:3] for loop in own.loops}
    _require_domain(tree, declared.type, low, high, shift, numbers, parameter)
    array = Variable("output", name, (_number(low), high), "bool", Literal(value=False))
    variables = tuple(array if each is declared else each for each in tree.variables)
    ideal = None if tree.ideal is None else replace(tree.ideal, body=own.rewritten(tree.ideal.body))
    return replace(tree, variables=variables, body=own.rewritten(tree.body), ideal=ideal)


def _number(value: int) -> Expr:
    literal = Literal(Fraction(abs(value)))
    return Apply("neg", (literal,)) if value < 0 else literal


def _require_domain(
    tree: Program, type_: str | Domain, low: int, high: Expr, shift: int, numbers: set[Expr], parameter: str
) -> None:
    """Raise _NotAnIndex unless the domain `type_` of an output has all values that the output may take.

    The output may take the integers from `low` + `shift` to `high` + `shift`, and the `numbers`, which must lie outside
    of this range. `tree` is the program, and `high` must be the constant `parameter` plus a number.
    """
    domain = tree.domain(type_)
    if not isinstance(domain, Range):
        raise _NotAnIndex
    first, end, last = integer(domain.low), offset_of(domain.high, parameter), offset_of(high, parameter)
    if first is None or end is None or last is None or first > low + shift or end < last + shift:
        raise _NotAnIndex
    for number in numbers:
        value, beyond = integer(number), offset_of(number, parameter)
        below = value is not None and first <= value < low + shift
        above = beyond is not None and last + shift < beyond <= end
        if not (below or above):
            raise _NotAnIndex


@dataclass
class _Output:
    """One output `name`: the loops whose index is assigned to it, and the other numbers that are assigned.

    The loops end at `parameter` plus a constant.
    """

    name: str
    parameter: str

    def __post_init__(self) -> None:
        self.loops: set[tuple[int, Expr, int, str]] = set()
        self.numbers: set[Expr] = set()

    def is_given(self, statement: object) -> bool:
        return isinstance(statement, Assign) and statement.target == Name(self.name)

    def count(self, body: Block) -> int:
        return sum(self.is_given(node) for node in nodes(body))

    def examine(self, block: Block, loop: For | None) -> None:
        """Collect the loops and the numbers in `block`, which is in the body of `loop` if that is not None.

        Raises _NotAnIndex where an index is not followed by an exit.
        """
        for place, statement in enumerate(block):
            match statement:
                case Assign(target, value) if target == Name(self.name):
                    shift = None if loop is None else offset_of(value, loop.variable)
                    if loop is None or shift is None:
                        self.numbers.add(value)  # `_require_domain` tells whether it is one
                        continue
                    low = integer(loop.low)
                    between = list(takewhile(lambda each: not isinstance(each, Exit), block[place + 1 :]))
                    if (
                        low is None
                        or place + 1 + len(between) == len(block)
                        or any(isinstance(node, For | While) for node in nodes(tuple(between)))
                        or self.name in names(tuple(between))
                    ):
                        raise _NotAnIndex
                    self.loops.add((low, loop.high, shift, loop.variable))
                case If(_, then, otherwise):
                    self.examine(then, loop)
                    self.examine(otherwise, loop)
                case For(_, _, high, body):
                    outermost = loop is None and offset_of(high, self.parameter) is not None
                    if not outermost and self.name in names(body):
                        raise _NotAnIndex
                    self.examine(body, statement if outermost else None)
                case While(_, body):
                    if self.name in names(body):
                        raise _NotAnIndex
                case _:
                    pass

    def is_always_given(self, body: Block) -> bool:
        """True if a statement of `body` outside of all branches assigns the output.

        Before each `exit` that precedes the statement, there must be another assignment to the output.
        """
        for place, statement in enumerate(body):
            if self.is_given(statement):
                return all(self._exits_given(each) for each in body[:place])
        return False

    def _exits_given(self, statement: object) -> bool:
        if isinstance(statement, Exit):
            return False
        for block in _blocks(statement):
            given = False
            for each in block:
                given = given or self.is_given(each)
                if isinstance(each, Exit):
                    if not given:
                        return False
                elif not given and not self._exits_given(each):
                    return False
        return True

    def rewritten(self, body: Block) -> Block:
        def with_element(part: Any) -> Any:
            if isinstance(part, tuple):
                kept = (each for each in part if not (self.is_given(each) and each.value in self.numbers))
                return tuple(rebuilt(each, with_element) for each in kept)
            if self.is_given(part):
                (index,) = {name for *_, name in self.loops if offset_of(part.value, name) is not None}
                return Assign(Element(self.name, Name(index)), Literal(value=True))
            return None

        return rebuilt(body, with_element)  # type: ignore[no-any-return]


def _blocks(statement: object) -> Iterator[Block]:
    match statement:
        case If(_, then, otherwise):
            yield then
            yield otherwise
        case For(_, _, _, body) | While(_, body):
            yield body
        case _:
            pass
