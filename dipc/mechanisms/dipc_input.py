"""Translate programs in DiPC's input format into programs of this language.

`grammars/dipc.lark` is the grammar of the format. The translation resolves names and finds types statement by
statement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import fmod
from typing import NoReturn, cast

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken, v_args
from lark.visitors import Interpreter

from dipc.algebra.parametric import Parametric
from dipc.claims.expression import ClaimExpression
from dipc.frozen import frozen
from dipc.mechanisms.expressions import RESERVED
from dipc.sign.chart import decide_nonnegative
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span, bad_input
from dipc.text.parser import grammar_text
from dipc.text.printer import formatted
from dipc.text.syntax_errors import token_span

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_OPERATORS = {"==": "=", "!=": "<>", "&&": "and", "||": "or"}

#: What is missing, by a terminal that may follow, where the text ends; what is wrong about another word; and a way out.
#: Where several may follow, the first counts.
_EXPECTED = {
    "RANGE": ("the range", "the first line must be the range of the integers", "write for example `-1 1`"),
    "RETURN": ("a statement", "`{}` is not a name", "a name is letters, digits and _"),
    "OPERATOR": ("`;`", "the operator `{}` cannot be imported", "use + - * % or a comparison"),
    "SEMICOLON": ("`;`", "`;` is expected here, not `{}`", "a statement ends with `;`"),
    "BOOL": ("int or bool", "`{}` is not a type of inputs", "inputs are int or bool"),
    "THEN": ("`then`", "`then` is expected here, not `{}`", "write for example `if b then x = 1 ; fi`"),
    "EQUAL": ("`=`", "`=` is expected here, not `{}`", "write for example `x = 1 ;`"),
    "RATE": ("a rate", "`{}` is not a rate", 'write for example "eps/2"'),
    "TRUE": ("a value", "`{}` is not a name", "a name is letters, digits and _"),
    "NAME": ("a name", "`{}` is not a name", "a name is letters, digits and _"),
    "INTEGER": ("an integer", "`{}` is not an integer", "ranges have integer ends"),
}


@frozen
class ImportedProgram:
    """A program translated from DiPC's format: its text, its inputs with their values, and warnings.

    The warnings are about deviations from the format that were tolerated.
    """

    text: str
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    warnings: tuple[Diagnostic, ...]

    def pairs(self) -> str:
        """Return a CSV file of the pairs of inputs that differ by at most 1 in each number.

        Truth values may differ. Of a pair and its reverse, only one is in the file.
        """
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


def imported(source: SourceText, name: str, point: Fraction | None = None) -> ImportedProgram:
    """Return the program in `source`, a file of DiPC's format, as a program with the name `name`.

    With `point` the program is read for this eps only, so that rates which are not multiples of eps have a meaning.
    Raises DiagnosticError with the place of the first mistake.
    """
    return _Reader(source, name, point)._program()  # noqa: SLF001 - what is public are rules of the grammar


def _tree(source: SourceText) -> Tree[Token]:
    try:
        return Lark(grammar_text("dipc.lark"), parser="lalr").parse(source.text)
    except UnexpectedCharacters as error:
        start = cast(int, error.pos_in_stream)
        _refuse_word(source, Token("CHARACTER", error.char, start, end_pos=start + 1), error.allowed, [])
    except UnexpectedToken as error:
        _refuse_word(source, error.token, error.expected, error.state.value_stack)


def _refuse_word(source: SourceText, word: Token, expected: Collection[str], before: Sequence[object]) -> NoReturn:
    ends = word.type == "$END"
    opened = [each for each in before if isinstance(each, Token) and each.type == "IF"]
    if ends and "FI" in expected and opened:
        _refuse(source, token_span(opened[-1]), "this `if` is not closed", "end it with `fi`")
    if word == "else":
        _refuse(source, token_span(word), "`else` closes no open statement", "remove it")
    missing, message, note = next(wrong for name, wrong in _EXPECTED.items() if name in expected)
    if ends and "RANGE" not in expected:
        _refuse(source, _end(source), f"the file ends where {missing} is expected", "is it complete?")
    _refuse(source, Span(0, 1) if ends else token_span(word), message.format(word), note)


def _end(source: SourceText) -> Span:
    end = max(0, len(source.text) - 1)
    return Span(end, end + 1)


def _refuse(source: SourceText, span: Span, message: str, note: str) -> NoReturn:
    raise bad_input("E1420", message, note, place=source.excerpt(span))


@v_args(inline=True)
@dataclass
class _Reader(Interpreter[Token, list[str]]):
    """A translator of DiPC's statements into dipc's language, with one method for each rule of the grammar.

    - `source` is the text to translate, and `name` the name of the result.
    - `fixed` is the eps for which the result is valid; None if it is valid for every eps.
    - `integers` is the range of an int whose declaration gives none.
    - `types` has the types of all variables, `inputs` the values of each input, and `ranges` the values of each int.
    - `blocks` has the names declared in each open block, the outermost block first.
    - `words` are all words of the text, and `assigned` the names to which the text assigns.
    - `constants` maps each variable that has a single value in all runs to this value.
    - `copies` maps each input that the text changes to a variable used in its place, as dipc never changes an input.
    - `returned` are the names of the returned variables, or None before they are read.
    - `coins` counts the random branches, and `warnings` collects the warnings of the translation.
    """

    source: SourceText
    name: str
    fixed: Fraction | None
    integers: range = range(0)
    types: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: dict[str, range] = field(default_factory=dict)
    blocks: list[set[str]] = field(default_factory=lambda: [set()])
    words: set[str] = field(default_factory=set)
    constants: dict[str, int] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    copies: dict[str, str] = field(default_factory=dict)
    returned: list[str] | None = None
    coins: int = 0
    warnings: list[Diagnostic] = field(default_factory=list)

    def _program(self) -> ImportedProgram:
        tree = _tree(self.source)
        self._look_ahead(tree)
        (first, *statements) = tree.children
        assert isinstance(first, Token)
        low, high = first.replace(",", " ").split()
        self.integers = self._range(low, high, token_span(first))
        body = self._statements(statements)
        if self.returned is None:
            _refuse(self.source, _end(self.source), "nothing is returned", "end the program with `return x ;`")
        text = formatted(SourceText(self.name, self._text(body, self.returned)))
        return ImportedProgram(text, tuple(self.inputs.items()), tuple(self.warnings))

    def _look_ahead(self, tree: Tree[Token]) -> None:
        """Collect the words of `tree`, the names that it assigns, and the variables with one integer in all runs."""
        self.words = {str(token) for token in tree.scan_values(lambda _: True)}
        every: dict[str, list[Tree[Token]]] = {}
        for node in tree.iter_subtrees():
            match node.children:
                case [Token(type="NAME") as target, *_] if node.data != "branch":
                    every.setdefault(str(target), []).append(node)
        self.assigned = set(every)
        inputs = {node.children[1] for node in tree.find_data("input")}
        for name, assignments in every.items():
            match assignments:
                case [Tree("assignment", [_, Token(type="INTEGER") as value])] if name not in inputs:
                    self.constants[name] = int(value)

    def _text(self, body: list[str], returned: list[str]) -> str:
        adjacent = "hamming:1" if ("false", "true") in self.inputs.values() else "linf:1"
        lines = [f"# From DiPC's input format; its pairs are those of `--adjacent {adjacent}`."]
        if self.fixed is not None:
            lines.append(f"# It is that program at eps = {self.fixed} only.")
        lines.append(f"program {self.name};")
        lines += [f"input {name} : {self.types[name]};" for name in self.inputs]
        lines += [f"output {self._output_name(name)} : {self.types[name]};" for name in returned]
        lines += [f"var {name} : {kind};" for name, kind in self.types.items() if name not in {*self.inputs, *returned}]
        if self.fixed is not None:
            lines.append(f"claim {{ eps: {self.fixed}; }}")
        first = [f"{copy} <- {name}" for name, copy in self.copies.items()]
        return "\n".join([*lines, _sequence([*first, *(body[:-1] if body[-1] == "exit" else body)])])

    def _output_name(self, name: str) -> str:
        """Return the name of the output for the returned variable `name`: a new name if it is an input, else `name`."""
        if name not in self.inputs:
            return name
        return self._unused(f"{name}_out")

    def _unused(self, name: str) -> str:
        while name in self.words:
            name += "_"
        return name

    # --- statements --------------------------------------------------------------------------------

    def _statements(self, nodes: Sequence[Tree[Token] | Token]) -> list[str]:
        result: list[str] = []
        for node in nodes:
            if isinstance(node, Tree):
                result += self.visit(node)
            else:
                place, note = self.source.excerpt(token_span(node)), "it was left out"
                self.warnings.append(Diagnostic("W1420", "this `fi` closes no `if`", place, notes=(note,)))
        return result

    def declaration(self, kind: Token, name: Token) -> list[str]:
        declared = self._new_name(name, "real" if kind == "real" else _type(self.integers if kind == "int" else None))
        if kind == "int":
            self.ranges[declared] = self.integers
        return []

    def input(self, kind: Token, word: Token, *ends: Token) -> list[str]:
        values = self._range(ends[0], ends[1], token_span(ends[1])) if kind == "int" else None
        name = self._new_name(word, _type(values))
        self.inputs[name] = ("false", "true") if values is None else tuple(map(str, values))
        kept = values
        if word in self.assigned:
            copy = self._unused(f"{name}_now")
            self.copies[name] = copy
            if values is not None:
                kept = range(min(self.integers[0], values[0]), max(self.integers[-1], values[-1]) + 1)
            self.types[copy] = _type(kept)
        if kept is not None:
            self.ranges[self.copies.get(name, name)] = kept
        return []

    def branch(self, condition: Token, then: Tree[Token], other: Tree[Token] | None = None) -> list[str]:
        return [_if(self._known_name(condition), self._block(then), [] if other is None else self._block(other))]

    def _block(self, tree: Tree[Token]) -> list[str]:
        self.blocks.append(set())
        result = self._statements(tree.children)
        self.blocks.pop()
        return result

    def result(self, word: Token, *variables: Token) -> list[str]:
        names = list(dict.fromkeys(self._known_name(each) for each in variables))
        if not names:
            self._refuse(word, "nothing is returned", "write for example `return x ;`")
        if self.returned not in (None, names):
            self._refuse(word, "this returns other variables than the `return` before", "return the same ones")
        self.returned = names
        return [*[f"{self._output_name(name)} <- {name}" for name in names if name in self.inputs], "exit"]

    def chance(self, weight: Token, statement: Tree[Token]) -> list[str]:
        self.coins += 1
        coin = self._unused(f"coin_{self.coins}")
        self.types[coin] = "bool"
        w = self._weight(weight.removeprefix("Prob")[1:-1], weight)
        inner = self.visit(statement)
        return [f"{coin} <- choose {{ true : {w}, false : 1 - ({w}) }}", _if(coin, inner, [])]

    def assignment(self, target: Token, value: Token) -> list[str]:
        return [f"{self._known_name(target)} <- {self._value(value)}"]

    def negation(self, target: Token, value: Token) -> list[str]:
        return [f"{self._known_name(target)} <- not {self._value(value)}"]

    def operation(self, target: Token, left: Token, operator: Token, right: Token) -> list[str]:
        written = _OPERATORS.get(operator, str(operator))
        return [f"{self._known_name(target)} <- {self._value(left)} {written} {self._value(right)}"]

    def laplace(self, target: Token, law: Token, rate: Token, mean: Token) -> list[str]:
        name = self._known_name(target)
        result = [f"{name} <- {law}({self._rate(rate)}, {self._value(mean)})"]
        if law == "DLap":
            self.types[name] = "int"
            self.ranges.pop(name, None)
        return result

    def exponential(self, target: Token, rate: Token, mean: Token) -> list[str]:
        name, center = self._known_name(target), self._value(mean)
        before = []
        if center == name:
            # The noise takes the place of the value that it is added to.
            center = self._unused(f"{name}_before")
            self.types[center] = self.types[name]
            before = [f"{center} <- {name}"]
        return [*before, f"{name} <- Expo({self._rate(rate)})", f"{name} <- {name} + {center}"]

    def remainder(self, target: Token, dividend: Token, sign: Token, word: Token) -> list[str]:
        name, left, value = self._known_name(target), self._value(dividend), self._value(word)
        divisor = self.constants.get(value) if word.type == "NAME" else int(value) if word.type == "INTEGER" else None
        if not divisor:
            message = (
                f"the divisor of a remainder must be a number other than 0, not `{self.constants.get(value, value)}`"
            )
            self._refuse(sign, message, "write for example `x % 2`")
        values = self._values(dividend, left)
        if values is None:
            self._refuse(
                sign,
                f"`{dividend}` is not an integer of a range",
                "a remainder needs an integer variable with a known range: dipc writes one case for each value",
            )
        return [_cases(left, {each: f"{name} <- {int(fmod(each, divisor))}" for each in values})]

    def clamped(self, target: Token, word: Token, center: Token, *ends: Token) -> list[str]:
        """Return the statements that draw clamped discrete Laplace noise into the variable `target`.

        The noise has the rate `word` and the mean `center`, and is clamped to the range between the two `ends`. The
        statements have a finite choice for each value that `center` may have.
        """
        name, rate, mean = self._known_name(target), self._rate(word), self._value(center)
        low, high = map(int, ends)
        if low >= high:
            self._refuse(ends[-1], "the range has one value or none", "give the lower end first")
        values = self._values(center, mean)
        if values is None:
            note = "the center of clamped noise must be a number or an integer variable with a known range"
            self._refuse(center, f"`{center}` is not an integer of a range", note)
        z = f"exp(-({rate})*%d)"
        below = f"(1 + {z % 1})"

        def choice(center: int) -> str:
            arms = []
            for position in range(low, high + 1):
                if low < position < high:
                    weight = f"(1 - {z % 1})*{z % abs(position - center)}/{below}"
                else:
                    # How far this end is from the center, outwards.
                    out = center - position if position == low else position - center
                    weight = f"{z % out}/{below}" if out >= 0 else f"1 - {z % (1 - out)}/{below}"
                arms.append(f"{position} : {weight}")
            return f"{name} <- choose {{ {', '.join(arms)} }}"

        return [_cases(mean, {each: choice(each) for each in values})]

    # --- words -------------------------------------------------------------------------------------

    def _range(self, low: str, high: str, place: Span) -> range:
        if int(low) > int(high):
            _refuse(self.source, place, "the range is empty", "give the lower end first")
        return range(int(low), int(high) + 1)

    def _new_name(self, word: Token, kind: str) -> str:
        """Declare the variable that `word` names, with the type `kind`, and return its name.

        Raises DiagnosticError if the variable is declared twice. Two blocks that exclude each other may both declare
        it, with the same type.
        """
        name = _legal(word)
        if any(name in block for block in self.blocks) or self.types.get(name, kind) != kind:
            self._refuse(word, f"`{word}` is declared twice", "give each variable a name of its own")
        self.blocks[-1].add(name)
        self.types[name] = kind
        return name

    def _known_name(self, word: Token) -> str:
        name = _legal(word)
        if name not in self.types:
            self._refuse(word, f"`{word}` is not declared", f"add for example `int {word} ;`")
        return self.copies.get(name, name)

    def _value(self, word: Token) -> str:
        return self._known_name(word) if word.type == "NAME" else str(word)

    def _values(self, word: Token, written: str) -> Sequence[int] | None:
        return [int(word)] if word.type == "INTEGER" else self.ranges.get(written)

    def _rate(self, word: Token) -> str:
        """Return the rate `word` as text: a multiple of eps, or at a fixed eps a positive number."""
        text = word.strip('"').strip()
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

    def _weight(self, text: str, word: Token) -> str:
        """Return the probability `text` in dipc's language.

        If at some eps the value is not between 0 and 1, a warning at the token `word` names such an eps. This is
        checked only if the result is for every eps and the value is an exponential polynomial.
        """
        _, value = self._expression(text, word)
        if self.fixed is None:
            flat = value.flat()
            decisions = [] if flat is None else [decide_nonnegative(f, Interval.POSITIVE) for f in (flat, 1 - flat)]
            refuted = next((one.witness for one in decisions if one.witness is not None), None)
            if refuted is not None:
                message = f"this is not a probability at eps = {refuted}"
                note = "fix an eps at which it is a probability, with `--at EPS`"
                place = self.source.excerpt(token_span(word))
                self.warnings.append(Diagnostic("W1421", message, place, notes=(note,)))
        return self._written(text)

    def _written(self, text: str) -> str:
        text = re.sub(r"\b(?:epsilon|e)\b", "eps", re.sub(r"\bExp\[([^\[\]]*)\]", r"exp(\1)", text))
        return re.sub(
            _NAME,
            lambda matched: f"({self.constants[matched[0]]})" if matched[0] in self.constants else matched[0],
            text,
        )

    def _expression(self, text: str, word: Token) -> tuple[ClaimExpression, Parametric]:
        try:
            expression = ClaimExpression.parse("rate", self._written(text), "<rate>")
            return expression, expression.evaluate({})
        except DiagnosticError as error:
            why = error.diagnostics[0].message
            self._refuse(word, f"{text} cannot be read: {why}", "write an expression in eps and numbers")

    def _refuse(self, word: Token, message: str, note: str) -> NoReturn:
        _refuse(self.source, token_span(word), message, note)


def _legal(word: Token) -> str:
    return f"{word}_" if word in RESERVED else str(word)


def _type(values: range | None) -> str:
    return "bool" if values is None else f"{{{values[0]}..{values[-1]}}}"


def _sequence(statements: list[str]) -> str:
    return "; ".join(statements)


def _if(condition: str, then: list[str], other: list[str]) -> str:
    return f"if {condition} then {_sequence(then)}{' else ' * bool(other)}{_sequence(other)} end"


def _cases(variable: str, by_value: dict[int, str]) -> str:
    *cases, (_, text) = by_value.items()
    for value, statement in reversed(cases):
        text = _if(f"{variable} = {value}", [statement], [text])
    return text
