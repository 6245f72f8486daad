"""Numbers that options give: expressions with nothing but constants for names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.diagnostics.names import nearest
from dipc.diagnostics.source import Source, Span
from dipc.lang import ast

#: The most values of one range.
MOST_VALUES = 1_000_000

#: Bits of a numerator or denominator: as many digits as a number may be written with.
_MOST_BITS = 3400

_EXAMPLE = "write an exact number such as -1, 1/3 or 0.25"


class BadValue(Exception):
    """What is wrong with a value, and where."""

    def __init__(self, span: Span, message: str, *notes: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message
        self.notes = notes

    def located(self, code: str, source: Source) -> Diagnostic:
        """The same as a diagnostic of `source`."""
        return Diagnostic(code, self.message, source.excerpt(self.span), notes=self.notes)


@dataclass(frozen=True, slots=True)
class NumberReader:
    """Reads numbers out of the text of `source`; `constants` may be named in it, `others` only be suggested."""

    source: Source
    constants: Mapping[str, Fraction]
    others: Iterable[str] = ()
    example: str = _EXAMPLE

    def number(self, tree: ast.Values) -> Fraction:
        """The exact value. Raises BadValue."""
        value = self._value(tree)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise self._bad(tree, "has more than 1000 digits")
        return value

    def integers(self, tree: ast.Range) -> range:
        """The integers of a range, at least one. Raises BadValue."""
        low, high = self.number(tree.low), self.number(tree.high)
        if low > high:
            message = f"the range is empty: {low} is more than {high}"
            raise BadValue(tree.span, message, "write the smaller end first")
        if low.denominator != 1 or high.denominator != 1:
            note = "a range is of integers; list other numbers: `{0, 1/2, 1}`"
            raise BadValue(tree.span, "the ends of a range are integers", note)
        found = range(int(low), int(high) + 1)
        if high - low >= MOST_VALUES:
            message = f"the range has {high - low + 1} values"
            raise BadValue(tree.span, message, f"at most {MOST_VALUES} are enumerated")
        return found

    def numbers(self, tree: ast.Values) -> Iterator[Fraction]:
        """Those of one number, a range or a list, in the order of the text. Raises BadValue."""
        match tree:
            case ast.Listed(values=values):
                for value in values:
                    yield from self.numbers(value)
            case ast.Range():
                yield from map(Fraction, self.integers(tree))
            case _:
                yield self.number(tree)

    def text(self, tree: ast.Values) -> str:
        """How it is written."""
        return self.source.text[tree.span.start : tree.span.end]

    def _value(self, tree: ast.Values) -> Fraction:
        match tree:
            case ast.Number(value=value):
                return value
            case ast.Name(name=name) if name in self.constants:
                return self.constants[name]
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand):
                return -self.number(operand)
            case ast.Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
                first, second = self.number(left), self.number(right)
                if op is ast.BinaryOp.DIVIDE and not second:
                    raise self._bad(tree, "divides by zero")
                return _ARITHMETIC[op](first, second)
            case ast.Name(name=name):
                close = nearest(name, [*self.constants, *self.others])
                raise self._bad(tree, "is not a rational number", *([f"did you mean `{close}`?"] if close else []))
            case ast.Binary(op=op, right=ast.Number(value=exponent), left=left) if op is ast.BinaryOp.POWER:
                base = self.number(left)
                if max(base.numerator.bit_length(), base.denominator.bit_length()) * exponent > 2 * _MOST_BITS:
                    raise self._bad(tree, "has more than 1000 digits")
                return base ** int(exponent)
        raise self._bad(tree, "is not a rational number")

    def _bad(self, tree: ast.Values, reason: str, *notes: str) -> BadValue:
        text = self.text(tree)
        shown = text if len(text) <= 40 else text[:37] + "..."
        return BadValue(tree.span, f"`{shown}` {reason}", *notes, self.example)


_ARITHMETIC = {
    ast.BinaryOp.ADD: Fraction.__add__,
    ast.BinaryOp.SUBTRACT: Fraction.__sub__,
    ast.BinaryOp.MULTIPLY: Fraction.__mul__,
    ast.BinaryOp.DIVIDE: Fraction.__truediv__,
}
