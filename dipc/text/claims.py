"""What options and claims may hold: names, numbers and expressions of constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.text import ast
from dipc.text.ast import mentions, walk
from dipc.text.core import Code
from dipc.text.diagnostic import Diagnostic, Source, Span, nearest
from dipc.text.expressions import Elaborator
from dipc.text.scope import FUNCTIONS, Constant, suggest, word_for

# --- The names in a claim: eps, alpha, gamma, dd, inf, the program's constants, and a few functions -------------------
#

#: The functions of a claim; a program may give the name `log` to something of its own.
_FUNCTIONS = FUNCTIONS | {"log"}

#: What may stand in each field, besides eps and constants.
_FIELDS: dict[str, frozenset[str]] = {
    "alpha": frozenset({"dd", "inf", "gamma"}),
    "beta": frozenset({"dd", "alpha", "gamma"}),
    "gamma": frozenset({"dd", "inf", "alpha", "free"}),
    "eps": frozenset(),
    "inputs": frozenset(),
}


def check_claims(declarations: Sequence[ast.Declaration], elaborator: Elaborator) -> ast.ClaimDecl | None:
    """The claim of the program, its fields and the names in them checked."""
    claims = [declaration for declaration in declarations if isinstance(declaration, ast.ClaimDecl)]
    for again in claims[1:]:
        elaborator.findings.report(
            Code.BAD_CLAIM,
            again.span,
            "a program has one claim",
            notes=("put all fields into one block",),
            secondary=((claims[0].span, "the first claim"),),
        )
    for claim in claims:
        _check(claim, elaborator)
    return claims[0] if claims else None


def _check(claim: ast.ClaimDecl, elaborator: Elaborator) -> None:
    seen: dict[str, ast.ClaimField] = {}
    for field in claim.fields:
        known = "the fields are alpha, beta, gamma, eps and inputs"
        if field.name not in _FIELDS:
            message = f"a claim has no field `{field.name}`"
            notes = (*suggest(field.name, sorted(_FIELDS)), known)
            elaborator.findings.report(Code.BAD_CLAIM, field.span, message, notes=notes)
        elif field.name in seen:
            elaborator.findings.report(
                Code.BAD_CLAIM,
                field.span,
                f"the field `{field.name}` is given twice",
                notes=("leave one of the two out",),
                secondary=((seen[field.name].span, "first given here"),),
            )
        elif isinstance(field.value, ast.ClaimedInputs):
            pass  # they are read when they are asked about
        elif isinstance(field.value, tuple) != (field.name == "eps"):
            message = f"the field `{field.name}` takes {'intervals' if field.name == 'eps' else 'an expression'}"
            notes = ("write `eps: (0, inf);`" if field.name == "eps" else f"write `{field.name}: 0;`",)
            elaborator.findings.report(Code.BAD_CLAIM, field.span, message, notes=notes)
        elif isinstance(field.value, tuple):
            for interval in field.value:
                elaborator.constant(interval.low, "the end of an interval of eps")
                if interval.high is not None and interval.high is not interval.low:
                    elaborator.constant(interval.high, "the end of an interval of eps")
        else:
            _check_names(field.value, field.name, elaborator)
        seen.setdefault(field.name, field)
    _check_circle(seen, elaborator)


def _check_names(expr: ast.Expr, field: str, elaborator: Elaborator) -> None:
    allowed = _FIELDS[field]
    for part in walk(expr):
        match part:
            case ast.Name(name, span):
                _check_name(name, part, allowed, field, elaborator)
            case ast.Element(name, _, span) | ast.Call(name, _, span) if name not in _FUNCTIONS:
                message = f"`{elaborator.findings.snippet(span)}` cannot stand in a claim"
                elaborator.findings.report(Code.BAD_CLAIM, span, message, notes=(_made_of(allowed),))
            case ast.Compare(span=span) | ast.Truth(span=span):
                message = f"`{field}` is a number, and this is a condition"
                elaborator.findings.report(Code.BAD_CLAIM, span, message, notes=(_made_of(allowed),))


def _check_name(name: str, expr: ast.Name, allowed: frozenset[str], field: str, elaborator: Elaborator) -> None:
    if name in allowed:
        return
    symbol = elaborator.scope.symbols.get(name)
    if isinstance(symbol, Constant):
        return
    if name == field:
        message = f"`{name}` is defined by itself"
    elif symbol is not None:
        message = f"`{name}` is {word_for(symbol)} and cannot stand in a claim"
    elif name in _FIELDS or name in ("dd", "inf"):
        message = f"`{name}` cannot stand in `{field}`"
    else:
        notes = (*suggest(name, [*elaborator.scope.constants(), *allowed]), _made_of(allowed))
        elaborator.findings.report(Code.UNKNOWN_NAME, expr.span, f"`{name}` is not declared", notes=notes, once=name)
        return
    elaborator.findings.report(Code.BAD_CLAIM, expr.span, message, notes=(_made_of(allowed),))


def _made_of(allowed: frozenset[str]) -> str:
    names = ", ".join(["eps", *sorted(allowed), "the program's constants", "exp, log, min, max, abs"])
    return f"it may be made of {names}"


def _check_circle(fields: dict[str, ast.ClaimField], elaborator: Elaborator) -> None:
    """alpha may be given by gamma or gamma by alpha, not both."""
    if _uses(fields.get("alpha"), "gamma") and _uses(fields.get("gamma"), "alpha"):
        span = max(fields["alpha"].span, fields["gamma"].span, key=lambda span: span.start)
        notes = ("give one of the two without the other",)
        elaborator.findings.report(Code.BAD_CLAIM, span, "alpha and gamma are defined by each other", notes=notes)


def _uses(field: ast.ClaimField | None, name: str) -> bool:
    if field is None or isinstance(field.value, tuple | ast.ClaimedInputs):
        return False
    return mentions(field.value, name)


# --- Numbers that options give: expressions with nothing but constants for names --------------------------------------
#

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
