"""Transcendental numbers in a tree, log(r) and e to the power of a rational; e to the power of n·log(r) is r^n."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dipc.lang.ast import Binary, BinaryOp, Call, Eps, Expr, Name, Number, Unary, UnaryOp
from dipc.lang.tree import GREEK, walk

#: No whole number of logarithms is greater.
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Exponent:
    """The sum of `rest` and n·log(r), for each (r, n) of `powers`."""

    powers: tuple[tuple[Expr, int], ...]
    rest: Expr


#: Names of what differs from row to row: no constants of a program.
_DISTANCES = ("alpha", "gamma", "dd", "inf")


def is_transcendental(tree: object) -> bool:
    """Whether a tree of syntax has `log` in it, or e to the power of a number that is not written as 0."""
    return any(isinstance(part, Call) and _is_number(part) for part in walk(tree))


def _is_number(call: Call) -> bool:
    if call.function != "exp":
        return call.function == "log"
    (inner,) = call.arguments
    if isinstance(inner, Number):
        return bool(inner.value)
    return all(is_constant(part) or (isinstance(part, Call) and part.function == "log") for part in walk(inner))


def is_constant(part: object) -> bool:
    """Whether a part of a tree is neither eps, nor a distance, nor a logarithm."""
    match part:
        case Eps() | Call(function="log"):
            return False
        case Name(name=name):
            return GREEK.get(name, name) not in _DISTANCES
    return True


def in_exponent(tree: Expr) -> Exponent:
    """The sum with its whole multiples of logarithms apart."""
    powers: list[tuple[Expr, int]] = []
    rest: Expr | None = None
    for sign, term in _terms(tree, 1):
        count, found = _multiple(term)
        if found is not None and count.denominator == 1 and abs(count) <= _MOST:
            powers.append((found, sign * int(count)))
        elif rest is None:
            rest = term if sign == 1 else Unary(UnaryOp.NEGATE, term, term.span)
        else:
            rest = Binary(BinaryOp.ADD if sign == 1 else BinaryOp.SUBTRACT, rest, term, term.span)
    return Exponent(tuple(powers), Number(Fraction(0), "0", tree.span) if rest is None else rest)


def _terms(tree: Expr, sign: int) -> Iterator[tuple[int, Expr]]:
    match tree:
        case Unary(op=UnaryOp.NEGATE, operand=operand):
            yield from _terms(operand, -sign)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT as op, left=left, right=right):
            yield from _terms(left, sign)
            yield from _terms(right, sign if op is BinaryOp.ADD else -sign)
        case _:
            yield sign, tree


def _multiple(term: Expr) -> tuple[Fraction, Expr | None]:
    """The number and the r where the term is a number times log(r)."""
    match term:
        case Call(function="log", arguments=(argument,)):
            return Fraction(1), argument
        case Binary(op=BinaryOp.MULTIPLY, left=Number(value=value), right=right):
            count, found = _multiple(right)
            return value * count, found
        case Binary(op=BinaryOp.MULTIPLY | BinaryOp.DIVIDE as op, left=left, right=Number(value=value)) if value:
            count, found = _multiple(left)
            return (count * value if op is BinaryOp.MULTIPLY else count / value), found
    return Fraction(1), None
