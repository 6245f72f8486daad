"""Programs of DiPC's input format as programs of this language.

The first line is the range of the integers; statements end with `;`, and their words are separated by blanks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import fmod
from typing import NoReturn

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric
from dipc.claims.expression import ClaimExpression
from dipc.frozen import frozen
from dipc.sign.chart import Holds, decide_nonnegative
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span

_WORD = re.compile(r'"[^"\n]*"|;|Prob\{[^}\n]*\}|Prob\[[^;\n]*?\](?=[\s;])|[^\s;"]+')
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_WEIGHT = re.compile(r"(?:Prob)?(?:\{(.+)\}|\[(.+)\])")
_OPERATORS = {"==": "=", "!=": "<>", "&&": "and", "||": "or", "and": "and", "or": "or"}
_OPERATORS |= {word: word for word in ("+", "-", "*", "<", "<=", ">", ">=", "=")}

#: Words of this language that are names in the other one get a line behind them.
_RESERVED_TEXT = (
    "program const domain input output var claim ideal bool int real if then else end for in do while exit true false "
    "and or not min max abs eps exp choose"
)
_RESERVED = frozenset(_RESERVED_TEXT.split())


@frozen
class ImportedProgram:
    """The text, the inputs with their values, and what was tolerated."""

    text: str
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    warnings: tuple[Diagnostic, ...]

    def pairs(self) -> str:
        """A CSV file of the pairs of inputs in which each value moves by at most 1, and a bool may always change; each
        pair in one order."""
        names = [name for name, _ in self.inputs]
        rows = [",".join([*names, *[f"{name}'" for name in names]])]
        places = [range(len(values)) for _, values in self.inputs]
        for one in product(*places):
            near = [
                [position for position in place if abs(position - here) <= 1]
                for here, place in zip(one, places, strict=True)
            ]
            for two in product(*near):
                if one < two:
                    both = zip((*one, *two), (*self.inputs, *self.inputs), strict=True)
                    rows.append(",".join(values[position] for position, (_, values) in both))
        return "\n".join(rows) + "\n"


@frozen
class _Word:
    text: str
    span: Span


def imported(source: Source, name: str, point: Fraction | None = None) -> ImportedProgram:
    """The program in a file of DiPC's format; with `point` what it is at that eps only, so that rates which are no
    multiple of eps have a meaning. Raises DiagnosticError with the place of the first mistake."""
    return _Reader(source, name, point).read()


@dataclass(slots=True)
class _Reader:
    source: Source
    name: str
    fixed: Fraction | None
    words: list[_Word] = field(default_factory=list)
    position: int = 0
    low: int = 0
    high: int = 0
    #: The types of all variables; the values of the inputs.
    types: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: dict[str, range] = field(default_factory=dict)
    #: Names that are declared in the blocks that are open, the outermost first.
    blocks: list[set[str]] = field(default_factory=lambda: [set()])
    #: Variables that only ever have one value, as rates may name them, and what is assigned anywhere.
    constants: dict[str, int] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    #: The variables that hold inputs which are assigned.
    copies: dict[str, str] = field(default_factory=dict)
    returned: list[str] | None = None
    coins: int = 0
    warnings: list[Diagnostic] = field(default_factory=list)

    def read(self) -> ImportedProgram:
        first, newline, _ = self.source.text.partition("\n")
        numbers = first.replace(",", " ").split()
        if not newline or len(numbers) != 2 or not all(map(_INTEGER.fullmatch, numbers)):
            place = _Word(first, Span(0, max(1, len(first))))
            self._refuse(place, "the first line is the range of the integers", "write for example `-1 1`")
        self.low, self.high = map(int, numbers)
        if self.low > self.high:
            self._refuse(_Word(first, Span(0, len(first))), "the range is empty", "give the lower end first")
        start = len(first) + 1
        self.words = [
            _Word(matched[0], Span(start + matched.start(), start + matched.end()))
            for matched in _WORD.finditer(self.source.text[start:])
        ]
        self._look_ahead()
        body = self._block(1)
        if self.position < len(self.words):
            self._refuse(self.words[self.position], f"`{self.words[self.position].text}` closes nothing", "remove it")
        if self.returned is None:
            end = max(0, len(self.source.text) - 1)
            place = _Word("", Span(end, end + 1))
            self._refuse(place, "nothing is returned", "end the program with `return x ;`")
        return ImportedProgram(self._text(body, self.returned), tuple(self.inputs.items()), tuple(self.warnings))

    def _look_ahead(self) -> None:
        """What is assigned, and which variables always have the one integer that is."""
        known: dict[str, list[str]] = {}
        for position, (word, after) in enumerate(pairwise(self.words)):
            if after.text == "=":
                value, end = (
                    self.words[place].text if place < len(self.words) else "" for place in (position + 2, position + 3)
                )
                known.setdefault(word.text, []).append(value if end == ";" else "")
        self.assigned = set(known)
        self.constants = {
            name: int(values[0]) for name, values in known.items() if len(values) == 1 and _INTEGER.fullmatch(values[0])
        }

    def _text(self, body: list[str], returned: list[str]) -> str:
        adjacent = "hamming:1" if ("false", "true") in self.inputs.values() else "linf:1"
        lines = [f"# From DiPC's input format; its pairs are those of `--adjacent {adjacent}`."]
        if self.fixed is not None:
            lines.append(f"# It is that program at eps = {self.fixed} only.")
        lines.append(f"program {self.name};")
        for name, values in self.inputs.items():
            kind = "bool" if values == ("false", "true") else f"{{{values[0]}..{values[-1]}}}"
            lines.append(f"input {name} : {kind};")
        lines += [f"output {self._output_name(name)} : {self.types[name]};" for name in returned]
        lines += [f"var {name} : {kind};" for name, kind in self.types.items() if name not in {*self.inputs, *returned}]
        if self.fixed is not None:
            lines.append(f"claim {{ eps: {self.fixed}; }}")
        if body[-1] == "exit":
            body = body[:-1]
        first = [f"{copy} <- {name}" for name, copy in self.copies.items()]
        return "\n".join([*lines, *_separated([*first, *body], 0)]) + "\n"

    def _output_name(self, name: str) -> str:
        """The output that a returned variable is: an input that is returned needs one of its own."""
        return f"{name}_out" if name in self.inputs else name

    # --- statements --------------------------------------------------------------------------------

    def _block(self, depth: int) -> list[str]:
        """Statements up to a word that closes the block, which stays."""
        result: list[str] = []
        while self.position < len(self.words):
            word = self.words[self.position]
            if word.text == ";":
                self.position += 1
            elif word.text in ("else", "fi"):
                if depth == 1 and word.text == "fi":
                    note = "it was left out"
                    place = self.source.excerpt(word.span)
                    self.warnings.append(Diagnostic("W1420", "this `fi` closes no `if`", place, notes=(note,)))
                    self.position += 1
                    continue
                return result
            else:
                result += self._statement(depth)
        return result

    def _statement(self, depth: int) -> list[str]:
        word = self._next("a statement")
        weight = _WEIGHT.fullmatch(word.text)
        if weight is not None:
            self.coins += 1
            coin = f"coin_{self.coins}"
            self.types[coin] = "bool"
            w = self._weight(weight[1] or weight[2], word)
            inner = self._statement(depth)
            flip = f"{coin} <- choose {{ true : {w}, false : 1 - ({w}) }}"
            return [flip, _if(coin, inner, [])]
        match word.text:
            case "input":
                return self._input()
            case "int" | "bool" | "real":
                name = self._new_name(self._type_of(word.text))
                if word.text == "int":
                    self.ranges[name] = range(self.low, self.high + 1)
                self._end()
                return []
            case "if":
                return [self._if(word, depth)]
            case "return":
                return self._return(word)
        self.position -= 1
        return self._assignment()

    def _type_of(self, word: str) -> str:
        return f"{{{self.low}..{self.high}}}" if word == "int" else word

    def _return(self, word: _Word) -> list[str]:
        names: list[str] = []
        while self._peek() not in (";", None):
            name = self._known_name()
            if name not in names:
                names.append(name)
        if not names:
            self._refuse(word, "nothing is returned", "write for example `return x ;`")
        if self.returned not in (None, names):
            self._refuse(word, "this returns other variables than the `return` before", "return the same ones")
        self.returned = names
        self._end()
        return [*[f"{self._output_name(name)} <- {name}" for name in names if name in self.inputs], "exit"]

    def _input(self) -> list[str]:
        kind = self._next("int or bool")
        word = self._next("a name")
        self.position -= 1
        name = self._new_name("bool")
        if kind.text == "bool":
            self.inputs[name] = ("false", "true")
            while self._peek() not in (";", None):
                self.position += 1
        elif kind.text == "int":
            low, high = self._integer(), self._integer()
            if low > high:
                self._refuse(self.words[self.position - 1], "the range is empty", "give the lower end first")
            self.inputs[name] = tuple(map(str, range(low, high + 1)))
            self.types[name] = f"{{{low}..{high}}}"
            self.ranges[name] = range(low, high + 1)
        else:
            self._refuse(kind, f"`{kind.text}` is not the type of an input", "inputs are int or bool")
        if word.text in self.assigned:
            copy = f"{name}_now"
            while copy in {word.text for word in self.words}:
                copy += "_"
            self.copies[name] = copy
            self.types[copy] = self._type_of(kind.text)
            if kind.text == "int":
                values = [int(value) for value in self.inputs[name]]
                self.ranges[copy] = range(min(self.low, values[0]), max(self.high, values[-1]) + 1)
                self.types[copy] = f"{{{self.ranges[copy][0]}..{self.ranges[copy][-1]}}}"
        self._end()
        return []

    def _if(self, word: _Word, depth: int) -> str:
        condition = self._known_name()
        self._expect("then")
        then = self._inner_block(depth)
        other: list[str] = []
        if self._peek() == "else":
            self.position += 1
            other = self._inner_block(depth)
        if self._peek() != "fi":
            self._refuse(word, "this `if` is not closed", "end it with `fi`")
        self.position += 1
        return _if(condition, then, other)

    def _inner_block(self, depth: int) -> list[str]:
        self.blocks.append(set())
        result = self._block(depth + 1)
        self.blocks.pop()
        return result

    def _assignment(self) -> list[str]:
        target = self._known_name()
        self._expect("=")
        word = self._next("a value")
        match word.text:
            case "Lap" | "DLap":
                rate, mean = self._rate(), self._value()
                if word.text == "DLap":
                    self.types[target] = "int"
                result = [f"{target} <- {word.text}({rate}, {mean})"]
            case "Exp":
                rate, mean = self._rate(), self._value()
                result = [f"{target} <- Expo({rate})", f"{target} <- {target} + {mean}"]
            case "TDLap":
                rate, mean = self._rate(), self._value()
                result = [self._clamped(target, rate, mean, self._integer(), self._integer())]
            case "!" | "not":
                result = [f"{target} <- not {self._value()}"]
            case _:
                self.position -= 1
                left = self._value()
                if self._peek() in (";", None):
                    result = [f"{target} <- {left}"]
                else:
                    operator = self._next("an operator")
                    if operator.text == "%":
                        result = [self._remainder(target, left, operator)]
                    elif operator.text not in _OPERATORS:
                        self._refuse(
                            operator,
                            f"`{operator.text}` is not an operator that is read",
                            "+ - * % and comparisons are",
                        )
                    else:
                        result = [f"{target} <- {left} {_OPERATORS[operator.text]} {self._value()}"]
        self._end()
        return result

    def _remainder(self, target: str, left: str, operator: _Word) -> str:
        """The remainder of a division by a number, with the sign of what is divided: for each value of it."""
        divisor = self._value()
        if divisor in self.constants:
            divisor = str(self.constants[divisor])
        if not _INTEGER.fullmatch(divisor) or not int(divisor):
            self._refuse(
                operator, f"a remainder by `{divisor}`, which is not a number other than 0", "write for example `x % 2`"
            )
        values = [int(left)] if _INTEGER.fullmatch(left) else list(self.ranges.get(left, ()))
        if not values:
            self._refuse(operator, f"`{left}` is not an integer", "a remainder is one of integers")
        by_value = [(value, f"{target} <- {int(fmod(value, int(divisor)))}") for value in values]
        text = by_value[-1][1]
        for value, written in reversed(by_value[:-1]):
            text = _if(f"{left} = {value}", [written], [text])
        return text

    def _clamped(self, target: str, rate: str, mean: str, low: int, high: int) -> str:
        """Discrete Laplace noise, what is beyond the range put at its ends: a choice for each value of its center."""
        if low >= high:
            self._refuse(self.words[self.position - 1], "the range has one value or none", "give the lower end first")
        if _INTEGER.fullmatch(mean):
            values = [int(mean)]
        elif mean in self.ranges:
            values = list(self.ranges[mean])
        else:
            note = "clamped noise is read as one choice for each value that its center may have"
            self._refuse(self.words[self.position - 3], f"`{mean}` is not an integer variable", note)
        z = f"exp(-({rate})*%d)"
        below = f"(1 + {z % 1})"

        def choice(center: int) -> str:
            arms = []
            for position in range(low, high + 1):
                if low < position < high:
                    weight = f"(1 - {z % 1})*{z % abs(position - center)}/{below}"
                else:
                    out = (
                        center - position if position == low else position - center
                    )  # how far this end is from the center, outwards
                    near = f"{z % out}/{below}" if out >= 0 else f"1 - {z % (1 - out)}/{below}"
                    weight = near
                arms.append(f"{position} : {weight}")
            return f"{target} <- choose {{ {', '.join(arms)} }}"

        text = choice(values[-1])
        for value in reversed(values[:-1]):
            text = _if(f"{mean} = {value}", [choice(value)], [text])
        return text

    # --- words -------------------------------------------------------------------------------------

    def _peek(self) -> str | None:
        return self.words[self.position].text if self.position < len(self.words) else None

    def _next(self, wanted: str) -> _Word:
        if self.position >= len(self.words):
            end = max(0, len(self.source.text) - 1)
            self._refuse(_Word("", Span(end, end + 1)), f"the file ends where {wanted} is expected", "is it complete?")
        self.position += 1
        return self.words[self.position - 1]

    def _expect(self, text: str) -> None:
        word = self._next(f"`{text}`")
        if word.text != text:
            self._refuse(word, f"`{text}` is expected here, not `{word.text}`", "words are separated by blanks")

    def _end(self) -> None:
        word = self._next("`;`")
        if word.text != ";":
            self._refuse(word, f"`;` is expected here, not `{word.text}`", "a statement ends with `;`")

    def _new_name(self, kind: str) -> str:
        """A name that is declared here, with its type; two blocks that exclude each other may both declare one."""
        word = self._next("a name")
        name = self._legal(word)
        if any(name in block for block in self.blocks) or self.types.get(name, kind) != kind:
            self._refuse(word, f"`{word.text}` is declared twice", "give each variable a name of its own")
        self.blocks[-1].add(name)
        self.types[name] = kind
        return name

    def _known_name(self) -> str:
        word = self._next("a variable")
        name = self._legal(word)
        if name not in self.types:
            self._refuse(word, f"`{word.text}` is not declared", f"add for example `int {word.text} ;`")
        return self.copies.get(name, name)

    def _legal(self, word: _Word) -> str:
        if not _NAME.fullmatch(word.text):
            self._refuse(word, f"`{word.text}` is not a name", "a name is letters, digits and _")
        return f"{word.text}_" if word.text in _RESERVED else word.text

    def _integer(self) -> int:
        word = self._next("an integer")
        if not _INTEGER.fullmatch(word.text):
            self._refuse(word, f"`{word.text}` is not an integer", "ranges have integer ends")
        return int(word.text)

    def _value(self) -> str:
        word = self._next("a value")
        if _INTEGER.fullmatch(word.text) or word.text in ("true", "false"):
            return word.text
        self.position -= 1
        return self._known_name()

    def _rate(self) -> str:
        """A multiple of eps; at a fixed eps what is a positive number there."""
        word = self._next("a rate")
        text = word.text.strip('"').strip()
        if not text:
            self._refuse(word, "the rate is empty", 'write for example "eps/2"')
        expression, value = self._expression(text, word)
        flat = value.flat()
        match [] if flat is None else flat.terms():
            case [(1, exponent, factor)] if not exponent and factor > 0:
                return f"{factor}*eps"
        if self.fixed is None:
            self._refuse(word, f"the rate {text} is not a multiple of eps", "fix eps: dipc import --at 1/2")
        point = expression.rational_at(self.fixed, {})
        if point is None or point <= 0:
            self._refuse(
                word, f"the rate {text} is not a positive rational number at eps = {self.fixed}", "fix another eps"
            )
        return self._written(text)

    def _weight(self, text: str, word: _Word) -> str:
        """A probability, for every eps or at the one that is fixed."""
        _, value = self._expression(text, word)
        if self.fixed is None:
            flat = value.flat()
            if flat is not None and not all(_nowhere_negative(poly) for poly in (flat, 1 - flat)):
                place, note = self.source.excerpt(word.span), "fix eps: dipc import --at 1/2"
                self.warnings.append(
                    Diagnostic("W1421", "this is a probability for some eps only", place, notes=(note,))
                )
        return self._written(text)

    def _written(self, text: str) -> str:
        """An expression of the other language in this one's words, with numbers for what always has one value."""
        text = re.sub(r"\b(?:epsilon|e)\b", "eps", re.sub(r"\bExp\[([^\[\]]*)\]", r"exp(\1)", text))
        return re.sub(
            _NAME,
            lambda matched: f"({self.constants[matched[0]]})" if matched[0] in self.constants else matched[0],
            text,
        )

    def _expression(self, text: str, word: _Word) -> tuple[ClaimExpression, Parametric]:
        try:
            expression = ClaimExpression.parse("rate", self._written(text), "<rate>")
            return expression, expression.evaluate({})
        except DiagnosticError as error:
            why = error.diagnostics[0].message
            self._refuse(word, f"{text} cannot be read: {why}", "write an expression in eps and numbers")

    def _refuse(self, word: _Word, message: str, note: str) -> NoReturn:
        raise DiagnosticError(Diagnostic("E1420", message, self.source.excerpt(word.span), notes=(note,)))


def _nowhere_negative(value: ExpPoly) -> bool:
    return isinstance(decide_nonnegative(value, Interval.POSITIVE), Holds)


def _if(condition: str, then: list[str], other: list[str]) -> str:
    lines = [f"if {condition} then", *_separated(then, 2)]
    if other:
        lines += ["else", *_separated(other, 2)]
    return "\n".join([*lines, "end"])


def _separated(statements: list[str], indent: int) -> list[str]:
    """The statements with `;` between them."""
    text = ";\n".join(statements)
    return [" " * indent + line for line in text.splitlines()]
