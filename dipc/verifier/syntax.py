"""The checker's own parser of programs: recursive descent from text to syntax tree.

`read_program(text, budget)` returns the syntax tree of a program, or raises NotDerived with the line of the first
error. Types, names and values are the business of `dipc.verifier.program`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import count
from typing import Any, TypeVar

from dipc.verifier.reading import Budget, Exhausted, NotDerived, decimal

MOST_CHARACTERS = 500_000
MOST_NESTING = 60

T = TypeVar("T")

# --- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a truth value; once names are resolved, also the name of a value of a domain."""

    value: Fraction | bool | str


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The privacy parameter eps."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name. In a metric a name may end with a prime."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, `name[index]`."""

    name: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or a function applied to `arguments`: + - * / ^ neg, not and or, = != < <= > >=, min max abs exp."""

    op: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Ranged:
    """The sum, count, least or greatest over a range: `op(variable in low..high : body)`."""

    op: str
    variable: str
    low: Expr
    high: Expr
    body: Expr

    def written_out(self, low: int, high: int) -> Expr:
        """Return the expression with a term for each value of the variable from `low` to `high`.

        Raises NotDerived if there are too many values.
        """
        if high - low >= MOST_RANGE:
            raise NotDerived(f"a range has more than {MOST_RANGE} values")
        parts = [substituted(self.body, self.variable, Literal(Fraction(k))) for k in range(low, high + 1)]
        if self.op in ("min", "max"):
            if not parts:
                raise NotDerived(f"`{self.op}` needs at least one value")
            return Apply(self.op, tuple(parts))
        return Apply("+", (_added(parts), Literal(Fraction(0)))) if parts else Literal(Fraction(0))


def _added(parts: Sequence[Expr]) -> Expr:
    middle = len(parts) // 2
    return Apply("+", (_added(parts[:middle]), _added(parts[middle:]))) if middle else parts[0]


Expr = Literal | Epsilon | Name | Element | Apply | Ranged

_NUMBER_0: Expr = Literal(Fraction(0))

#: The most values of a range.
MOST_RANGE = 10_000


def expression_text(tree: Expr) -> str:
    """Return a text from which `read_expression` reads an expression equal to `tree`."""
    match tree:
        case Literal(bool() as value):
            return str(value).lower()
        case Literal(Fraction() as value):
            above, below = value.as_integer_ratio()
            return str(above) if below == 1 else f"({above}/{below})"
        case Literal(value) | Name(value):
            return str(value)
        case Epsilon():
            return "eps"
        case Element(name, index):
            return f"{name}[{expression_text(index)}]"
        case Apply(op, arguments):
            texts = list(map(expression_text, arguments))
            if op in ("neg", "not"):
                return f"(-{texts[0]})" if op == "neg" else f"(not {texts[0]})"
            return f"({f' {op} '.join(texts)})" if op in _PRECEDENCE or op == "^" else f"{op}({', '.join(texts)})"
        case Ranged(op, variable, low, high, body):
            low_text, high_text, body_text = map(expression_text, (low, high, body))
            return f"{op}({variable} in {low_text}..{high_text} : {body_text})"


# --- domains and declarations ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range:
    """A domain of integers, {low..high}."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Listed:
    """A domain given by its values, {v1, v2, ...}."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A domain given by its name."""

    name: str


Domain = Range | Listed | Named


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable or array, `role name[low..high] : type = initial`.

    `role` is "input", "output" or "var". `ends` has the first and last index of an array, and is None for a scalar.
    `type` is "bool", "int", "real" or a domain.
    """

    role: str
    name: str
    ends: tuple[Expr, Expr] | None
    type: str | Domain
    initial: Expr | None


# --- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Located:
    """A statement; `span` has the positions in the text of its first character and after its last one."""

    span: tuple[int, int] = field(default=(0, 0), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Assign(Located):
    """An assignment, `target <- value`."""

    target: Name | Element
    value: Expr


@dataclass(frozen=True, slots=True)
class Noise(Located):
    """A draw of noise, `target <- Lap(rate, mean)`; `law` is Lap, DLap, Expo, Gauss, DGauss, Unif or TLap.

    For Gauss and DGauss, `rate` is the standard deviation. The mean is 0 if the program does not write one. Unif, whose
    rate is 1, and TLap have the `ends` of their support.
    """

    target: Name | Element
    law: str
    rate: Expr
    mean: Expr
    ends: tuple[Expr, Expr] | None = None


@dataclass(frozen=True, slots=True)
class Mechanism(Located):
    """A draw by the exponential mechanism, `target <- Exp(rate, variable in domain : score)`."""

    target: Name | Element
    rate: Expr
    variable: str
    domain: Domain
    score: Expr


@dataclass(frozen=True, slots=True)
class Choose(Located):
    """A draw from finitely many values, `target <- choose { value : weight, ... }`; `arms` pairs (value, weight)."""

    target: Name | Element
    arms: tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class If(Located):
    """A conditional statement, `if condition then ... else ... end`."""

    condition: Expr
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class While(Located):
    """A loop, `while condition do ... end`."""

    condition: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class For(Located):
    """A loop with known bounds, `for variable in low..high do ... end`."""

    variable: str
    low: Expr
    high: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class Exit(Located):
    """The statement `exit`."""


Statement = Assign | Noise | Mechanism | Choose | If | While | For | Exit
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Ideal:
    """The deterministic program of an `ideal` block."""

    variables: tuple[Variable, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a metric, `name: for variable in low..high: ... value`.

    `loops` has (variable, low, high) for each `for`.
    """

    name: str
    loops: tuple[tuple[str, Expr, Expr], ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Program:
    """The syntax tree of a program; `metric` has the fields of its metric block.

    `constants` and `domains` are declared names with their values, and `variables` all variables without those of the
    `ideal`. Every input satisfies all conditions of `requires`, whose text is `required`. If `at` is not None, the
    program is read at this value of eps alone. `claim` has the names and the texts of the fields of its claim block.
    """

    name: str
    constants: tuple[tuple[str, Expr], ...]
    domains: tuple[tuple[str, Domain], ...]
    variables: tuple[Variable, ...]
    body: Block
    ideal: Ideal | None
    metric: tuple[Field, ...]
    at: Fraction | None = None
    claim: tuple[tuple[str, str], ...] = ()
    requires: tuple[Expr, ...] = ()
    required: str = ""

    @property
    def every_variable(self) -> tuple[Variable, ...]:
        """The variables of the program and of its `ideal`."""
        return (*self.variables, *(() if self.ideal is None else self.ideal.variables))

    @property
    def visible(self) -> tuple[Variable, ...]:
        """The inputs and outputs, which the program and its `ideal` share."""
        return tuple(each for each in self.variables if each.role != "var")

    def domain(self, type_: str | Domain) -> str | Domain | None:
        """Return `type_`, or the domain that it names; None if no domain, or more than one, has the name."""
        if not isinstance(type_, Named):
            return type_
        found = [domain for name, domain in self.domains if name == type_.name]
        return found[0] if len(found) == 1 else None


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return the tree `node` with some of its parts replaced, as `change` says.

    `change` returns the part that replaces a given part, or None to keep it. Parts are visited from the root down, and
    a replacement is not visited.
    """
    changed = change(node)
    if changed is not None:
        return changed
    if isinstance(node, tuple):
        return tuple(rebuilt(each, change) for each in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{each.name: rebuilt(getattr(node, each.name), change) for each in fields(node)})
    return node


def nodes(tree: object) -> Iterator[Any]:
    """Yield every node of the syntax tree `tree`, including its root."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif is_dataclass(node):
            yield node
            waiting += [getattr(node, field.name) for field in fields(node)]


def names(tree: object) -> Iterator[str]:
    """Yield the name at each use of a variable, constant or array in `tree`; names may repeat."""
    return (node.name for node in nodes(tree) if isinstance(node, Name | Element))


# --- tokens ----------------------------------------------------------------------------------------

_LETTER = "A-Za-z_Α-ΡΣ-Ωα-δζ-ω"
_TOKEN = re.compile(
    rf"(?P<blank>(?:[ \t\r\n\f\v\uFEFF]+|\#[^\n]*)+)"
    rf"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>[{_LETTER}][{_LETTER}0-9]*'?|∞)"
    r"|(?P<sign><-|←|:=|<=|≤|>=|≥|!=|≠|<>|==|\*\*|\.\.|[=<>+\-*/^∪,:;()\[\]{}ε])"
)
_SPELLINGS = {"←": "<-", ":=": "<-", "≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "==": "=", "**": "^", "ε": "eps"}
_TYPES = ("bool", "int", "real")
_DRAWN = ("Lap", "DLap", "Expo", "Gauss", "DGauss", "Unif", "TLap", "Exp", "choose")
_DECLARED = ("program", "const", "domain", "input", "output", "var", "claim", "ideal")
_CONTROL = ("if", "then", "else", "end", "while", "for", "in", "do", "exit")
_KEYWORDS = frozenset((*_TYPES, *_DRAWN, *_DECLARED, *_CONTROL, "eps", "true", "false", "and", "or", "not"))
_PRECEDENCE = {"or": 1, "and": 2, "=": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6}
_NOT, _COMPARISON = 3, 4


@dataclass(frozen=True, slots=True)
class _Token:
    """A token of a program in line number `line`, from the position `start` to `end`.

    `kind` is "number", "name", the `text` itself if the token is a keyword or sign, or "" at the end of the program.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int


def _tokens(text: str, budget: Budget, what: str = "the program") -> list[_Token]:
    if len(text) > MOST_CHARACTERS:
        raise Exhausted(f"it has more than {MOST_CHARACTERS} characters", "program")
    budget.spend(len(text))
    tokens: list[_Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotDerived(f"{what} cannot be read: unexpected `{text[position]}` in line {line}")
        word = match.group()
        if match.lastgroup == "number":
            tokens.append(_Token("number", word, line, *match.span()))
        elif match.lastgroup != "blank":
            word = _SPELLINGS.get(word, word)
            plain = match.lastgroup == "name" and word not in _KEYWORDS
            tokens.append(_Token("name" if plain else word, word, line, *match.span()))
        line += word.count("\n")
        position = match.end()
    tokens.append(_Token("", "the end", line, position, position))
    return tokens


def read_program(text: str, budget: Budget) -> Program:
    """Return the syntax tree of the program `text`, with the work charged to `budget`.

    Raises NotDerived for other text, Exhausted for text nested too deeply.
    """
    return _Reader(_tokens(text, budget)).program()


def read_expression(text: str, budget: Budget) -> Expr:
    """Return the syntax tree of the expression `text`, with the work charged to `budget`.

    Raises NotDerived for other text, Exhausted for text nested too deeply.
    """
    return _Reader(_tokens(text, budget, "the expression"), "the expression").alone()


class _Reader:
    def __init__(self, tokens: list[_Token], what: str = "the program") -> None:
        self._tokens = tokens
        self._what = what
        self._at = 0
        self._depth = 0
        #: The draws inside the current expression, as statements for new variables that run before.
        self._before: list[Statement] = []
        self._hidden: list[Variable] = []
        #: The number of occurrences of each word, and the names of local variables.
        self._used = Counter(token.text for token in tokens)
        self._local: set[str] = set()
        #: The declared type of each variable, the names of the constants, and the variables of the enclosing loops.
        self._types: dict[str, str | Domain] = {}
        self._constants: set[str] = set()
        self._loops: list[tuple[str, Expr, Expr]] = []
        #: For a variable that has the number of a drawn value: the expression for the value, and the draw as written.
        self._value_of: dict[Name | Element, Expr] = {}
        self._unnumbered: dict[Name | Element, Mechanism | Choose] = {}

    # --- tokens -----------------------------------------------------------------------------------

    @property
    def _kind(self) -> str:
        return self._tokens[self._at].kind

    def _wrong(self, wanted: str) -> NotDerived:
        token = self._tokens[self._at]
        return NotDerived(
            f"{self._what} cannot be read: {wanted} is expected in line {token.line}, not `{token.text[:40]}`"
        )

    def _take(self, *kinds: str) -> bool:
        if self._kind in kinds:
            self._at += 1
            return True
        return False

    def _expect(self, kind: str) -> str:
        token = self._tokens[self._at]
        if token.kind != kind:
            raise self._wrong(f"`{kind}`" if kind != "name" else "a name")
        self._at += 1
        return token.text

    def _after(self, kind: str, item: Callable[[], T]) -> T:
        self._expect(kind)
        return item()

    def _name(self) -> str:
        if self._kind == "name" and self._tokens[self._at].text.endswith("'"):
            raise self._wrong("a name without a prime")
        return self._expect("name")

    def _separated(self, item: Callable[[], T]) -> tuple[T, ...]:
        items = [item()]
        while self._take(","):
            items.append(item())
        return tuple(items)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise Exhausted(f"it is nested more than {MOST_NESTING} levels deep", "program")

    # --- declarations -----------------------------------------------------------------------------

    def program(self) -> Program:
        self._expect("program")
        name = self._name()
        self._expect(";")
        constants: list[tuple[str, Expr]] = []
        domains: list[tuple[str, Domain]] = []
        variables: list[Variable] = []
        ideal: Ideal | None = None
        noiseless = False
        metric: tuple[Field, ...] = ()
        claim: tuple[tuple[str, str], ...] = ()
        requires: list[Expr] = []
        texts: list[str] = []
        once: set[str] = set()
        while True:
            kind = self._kind
            if kind == "name" and self._tokens[self._at].text == "metric" and self._tokens[self._at + 1].kind == "{":
                kind = "metric"
            if kind == "name" and self._tokens[self._at].text == "requires":
                # If a statement assigns to a variable `requires`, the declarations have ended.
                kind = "" if self._tokens[self._at + 1].kind in ("<-", "[") else "requires"
            if kind in ("claim", "ideal", "metric"):
                if kind in once:
                    raise NotDerived(f"the program has two `{kind}` blocks")
                once.add(kind)
            match kind:
                case "const":
                    self._at += 1
                    constants += self._separated(self._constant)
                    self._expect(";")
                case "domain":
                    self._at += 1
                    domains += self._separated(lambda: (self._name(), self._after("=", self._domain)))
                    self._expect(";")
                case "input" | "output" | "var":
                    variables += self._variables()
                case "requires":
                    self._at += 1
                    first = self._at
                    requires.append(self.expression())
                    texts.append(_one_line(self._tokens[first : self._at]))
                    self._expect(";")
                case "claim":
                    self._at += 1
                    claim = self._claim()
                case "metric":
                    self._at += 1
                    metric = self._metric()
                case "ideal":
                    self._at += 1
                    noiseless = self._is_noiseless()
                    ideal = None if noiseless else self._ideal()
                case _:
                    break
        self._hidden = []
        body = self._block()
        if self._kind:
            raise self._wrong("a statement")
        variables += self._hidden
        if noiseless:
            ideal = Ideal(tuple(each for each in variables if each.role == "var"), rebuilt(body, _without_noise))
        return Program(
            name,
            tuple(constants),
            tuple(domains),
            tuple(variables),
            body,
            ideal,
            metric,
            claim=claim,
            requires=tuple(requires),
            required=texts[0] if len(texts) == 1 else " and ".join(f"({text})" for text in texts),
        )

    def _constant(self) -> tuple[str, Expr]:
        name = self._name()
        self._constants.add(name)
        return name, self._after("=", self.expression)

    def _domain(self) -> Domain:
        if self._kind == "name":
            return Named(self._name())
        self._expect("{")
        first = self.expression()
        if self._take(".."):
            result: Domain = Range(first, self.expression())
        else:
            rest = self._separated(self.expression) if self._take(",") else ()
            result = Listed((first, *rest))
        self._expect("}")
        return result

    def _variables(self) -> tuple[Variable, ...]:
        role = self._kind
        self._at += 1
        names = self._separated(self._declarator)
        self._local |= {name for name, _ in names if role == "var"}
        self._expect(":")
        kind = self._kind
        type_: str | Domain = kind if self._take(*_TYPES) else self._domain()
        self._types |= {name: type_ for name, _ in names}
        initial = self.expression() if self._take("=") else None
        self._expect(";")
        return tuple(Variable(role, name, ends, type_, initial) for name, ends in names)

    def _declarator(self) -> tuple[str, tuple[Expr, Expr] | None]:
        name = self._name()
        if not self._take("["):
            return name, None
        ends = self.expression(), self._after("..", self.expression)
        self._expect("]")
        return name, ends

    def _claim(self) -> tuple[tuple[str, str], ...]:
        """Return the fields of a claim block as text.

        The checker uses the claim that the certificate states instead.
        """
        self._expect("{")
        fields: list[tuple[str, str]] = []
        words: list[str] = []
        depth = 1
        while depth:
            if not self._kind:
                raise self._wrong("`}`")
            depth += (self._kind == "{") - (self._kind == "}")
            if not depth or (depth == 1 and self._kind == ";"):
                if words[1:2] == [":"]:
                    fields.append((words[0], " ".join(words[2:])))
                words = []
            else:
                words.append(self._tokens[self._at].text)
            self._at += 1
        self._take(";")
        return tuple(fields)

    def _metric(self) -> tuple[Field, ...]:
        self._expect("{")
        fields: list[Field] = []
        while not self._take("}"):
            name = self._kind
            if not self._take("input", "output"):
                name = self._name()
            self._expect(":")
            loops = []
            while self._take("for"):
                loops.append(self._range())
                self._expect(":")
            if name in {field.name for field in fields}:
                raise NotDerived(f"the `metric` block has two fields `{name}`")
            fields.append(Field(name, tuple(loops), self.expression()))
            if self._kind != "}":
                self._expect(";")
        self._take(";")
        return tuple(fields)

    def _is_noiseless(self) -> bool:
        """Return whether the block that starts here is `{ noiseless }`, and consume it if so."""
        written = [(token.kind, token.text) for token in self._tokens[self._at : self._at + 2]]
        if written != [("{", "{"), ("name", "noiseless")] or self._tokens[self._at + 2].kind not in (";", "}"):
            return False
        self._at += 2
        self._take(";")
        self._expect("}")
        self._take(";")
        return True

    def _ideal(self) -> Ideal:
        self._expect("{")
        variables: list[Variable] = []
        while self._kind == "var":
            variables += self._variables()
        self._hidden = []
        body = self._block()
        if any(isinstance(node, Noise | Mechanism | Choose) for node in nodes(body)):
            raise NotDerived("the `ideal` draws something at random")
        self._expect("}")
        self._take(";")
        return Ideal((*variables, *self._hidden), body)

    # --- statements -------------------------------------------------------------------------------

    def _block(self) -> Block:
        self._deeper()
        if self._before:
            raise self._wrong("an expression without a draw")
        statements: list[Statement] = []
        while self._kind in ("name", "if", "while", "for", "exit"):
            start = self._tokens[self._at].start
            statement = self._statement()
            span = start, self._tokens[self._at - 1].end
            statements += self._before
            self._before = []
            statements[-1:] = self._merge_draw(statements[-1:], replace(statement, span=span))
            if not self._take(";") and not isinstance(statement, If | While | For):
                break
        self._depth -= 1
        return tuple(statements)

    def _statement(self) -> Statement:
        if self._take("exit"):
            return Exit()
        if self._take("for"):
            self._loops.append(self._range())
            body = self._after("do", self._block)
            self._expect("end")
            return For(*self._loops.pop(), body)
        if self._kind in ("if", "while"):
            word = self._kind
            self._at += 1
            condition, before, self._before = self.expression(), self._before, []
            body = self._after("then" if word == "if" else "do", self._block)
            otherwise = self._block() if word == "if" and self._take("else") else ()
            self._expect("end")
            self._before = before
            return If(condition, body, otherwise) if word == "if" else While(condition, (*body, *before))
        name = self._name()
        target = self._element(name) if self._take("[") else Name(name)
        value = self._after("<-", self.expression)
        last = self._before[-1] if self._before else None
        if isinstance(last, Noise | Mechanism | Choose) and value is self._value_of.get(last.target, last.target):
            # The drawn value is the whole expression.
            self._hidden.pop()
            self._before.pop()
            return replace(self._unnumbered.get(last.target, last), target=target)
        return Assign(target, value)

    def _merge_draw(self, before: list[Statement], statement: Statement) -> list[Statement]:
        """Return `before` and `statement`, or one draw if `statement` only adds to the noise that `before` draws.

        What is added becomes part of the mean of the one draw. The two are merged only if the drawn variable is not
        used anywhere else.
        """
        match before, statement:
            case [Noise(target) as noise], Assign(moved, value) if (
                moved == target
                or (target.name in self._local and isinstance(target, Name) and self._used[target.name] == 3)
            ) and list(names(value)).count(target.name) == 1:
                mean = _mean_of(value, noise)
                if mean is not None:
                    return [replace(noise, target=moved, mean=mean)]
        return [*before, statement]

    def _element(self, name: str) -> Element:
        index = self.expression()
        self._expect("]")
        return Element(name, index)

    def _drawn(self) -> Expr:
        """Read a draw inside an expression, and return the expression for its value: a new variable.

        The draw becomes a statement before the one that is being read. If a value of a `choose` depends on a variable,
        the new variable has the index of the value instead, and the expression is (draw = 0)*v0 + (draw = 1)*v1 + ...
        """
        law, start = self._kind, self._tokens[self._at].start
        name = next(name for number in count(1) if (name := f"draw{number}") not in self._used)
        self._used[name] = 1
        target = Name(name)
        self._at += 1
        self._expect("{" if law == "choose" else "(")
        statement: Statement
        type_: str | Domain
        if law == "choose":
            statement = Choose(target, self._separated(self._arm))
            type_ = self._type_of(tuple(dict.fromkeys(value for value, _ in statement.arms)))
        elif law == "Exp":
            rate, variable = self._undrawn(), self._after(",", self._name)
            domain = self._after("in", self._domain)
            type_ = self._widened(domain)
            # A condition counts as 1 or 0.
            score = Apply("+", (self._after(":", self._undrawn), _NUMBER_0))
            statement = Mechanism(target, rate, variable, domain, score)
        else:
            statement = self._noise(law, target)
            type_ = "int" if law in ("DLap", "DGauss") else "real"
        self._expect("}" if law == "choose" else ")")
        result: Expr = target
        if isinstance(type_, Listed) and any(map(self._varies, type_.values)):
            values = type_.values
            numbers = tuple(Literal(Fraction(number)) for number in range(len(values)))
            place = dict(zip(values, numbers, strict=True))
            assert isinstance(statement, Choose | Mechanism), "only finite choices have listed values"
            self._unnumbered[target] = statement
            if isinstance(statement, Choose):
                statement = Choose(target, tuple((place[value], weight) for value, weight in statement.arms))
            else:
                around = substituted(statement.score, statement.variable, _selected(values, Name(statement.variable)))
                statement = replace(statement, domain=Listed(numbers), score=around)
            result = self._value_of[target] = _selected(values, target)
            type_ = Listed(numbers)
        self._types[name] = type_
        self._before.append(replace(statement, span=(start, self._tokens[self._at - 1].end)))
        self._hidden.append(Variable("var", name, None, type_, None))
        return result

    def _noise(self, law: str, target: Name) -> Noise:
        """Read the arguments of the noise `law`, and return its draw for the variable `target`."""
        rate, mean, ends = self._undrawn(), _NUMBER_0, None
        if law == "TLap":
            mean = self._after(",", self.expression)
            ends = self._after(",", self._undrawn), self._after(",", self._undrawn)
        else:
            if law == "Unif":
                rate, ends = Literal(Fraction(1)), (rate, self._after(",", self._undrawn))
            if law != "Expo" and self._take(","):
                mean = self.expression()
        return Noise(target, law, rate, mean, ends)

    def _varies(self, value: Expr) -> bool:
        return any(name in self._types or self._is_loop(name) for name in names(value))

    def _is_loop(self, name: str) -> bool:
        return any(variable == name for variable, _, _ in self._loops)

    def _widened(self, domain: Domain) -> Domain:
        """Return a domain that contains all values of `domain`, whose ends may depend on variables of enclosing loops.

        The new domain does not depend on these variables.
        """
        if not isinstance(domain, Range):
            return domain
        low, high = domain.low, domain.high
        for variable, first, last in reversed(self._loops):
            if variable in names((low, high)):
                end = Apply("max", (first, last))  # a loop without a value draws nothing
                low, high = Ranged("min", variable, first, end, low), Ranged("max", variable, first, end, high)
        return Range(low, high)

    def _type_of(self, values: tuple[Expr, ...]) -> str | Domain:
        """Return the type of a variable that holds one of `values`.

        The type is "bool" if all values are conditions or bool variables. Otherwise it is the domain of a variable
        among them, if all are variables of this domain, or if the name of a domain value is among them. In all other
        cases it is the list of the values.
        """
        declared = [
            self._types.get(value.name) if isinstance(value, Name | Element) and not self._is_loop(value.name) else None
            for value in values
        ]
        if all(_is_condition(value) or type_ == "bool" for value, type_ in zip(values, declared, strict=True)):
            return "bool"
        finite = [type_ for type_ in declared if type_ is not None and not isinstance(type_, str)]
        named = any(
            isinstance(value, Name) and not self._varies(value) and value.name not in self._constants
            for value in values
        )
        same = len(finite) == len(values) and all(each == finite[0] for each in finite)
        return finite[0] if finite and (named or same) else Listed(values)

    def _undrawn(self) -> Expr:
        known = len(self._before)
        expression = self.expression()
        if len(self._before) > known:
            raise self._wrong("an expression without a draw")
        return expression

    def _arm(self) -> tuple[Expr, Expr]:
        return self.expression(), self._after(":", self._undrawn)

    # --- expressions ------------------------------------------------------------------------------

    def alone(self) -> Expr:
        expression = self.expression()
        if self._kind or self._before:
            raise self._wrong("an expression without noise")
        return expression

    def expression(self, least: int = 1) -> Expr:
        """Read an expression without operators that bind less strongly than `least`, a level of _PRECEDENCE.

        The expression ends before the first such operator.
        """
        self._deeper()
        if self._kind == "not" and least <= _NOT:
            self._at += 1
            left: Expr = Apply("not", (self.expression(_NOT),))
        else:
            left = self._signed()
        most = 9
        while (level := _PRECEDENCE.get(self._kind, 0)) >= least and level <= most:
            op = self._kind
            self._at += 1
            left = self._around(Apply(op, (left, self.expression(level + 1))))
            # Comparisons are not chained: only `and` or `or` may follow one.
            most = _NOT if level == _COMPARISON else level
        self._depth -= 1
        return left

    def _around(self, value: Apply) -> Expr:
        """Return `value`, or the variable drawn last if `value` is that variable plus other terms.

        In the second case, the other terms are added to the mean of the draw.
        """
        last = self._before[-1] if self._before else None
        mean = _mean_of(value, last) if isinstance(last, Noise) and value.op in ("+", "-") else None
        if mean is None or not isinstance(last, Noise):
            return value
        self._before[-1] = replace(last, mean=mean)
        return last.target

    def _signed(self) -> Expr:
        negative = 0
        while self._take("-"):
            negative += 1
        value = self._atom()
        if self._take("^"):
            self._deeper()
            value = Apply("^", (value, self._signed()))
            self._depth -= 1
        return Apply("neg", (value,)) if negative % 2 else value

    def _range(self) -> tuple[str, Expr, Expr]:
        return self._name(), self._after("in", self._undrawn), self._after("..", self._undrawn)

    def _ranged(self, function: _Token) -> Expr:
        if function.text not in ("sum", "count", "min", "max"):
            raise NotDerived(f"`{function.text[:40]}` takes no range (line {function.line})")
        variable, low, high = self._range()
        body = self._after(":", self._undrawn)
        self._expect(")")
        if function.text == "count":
            body = Apply("and", (body, Literal(True)))  # only a condition counts
        return Ranged("sum" if function.text == "count" else function.text, variable, low, high, body)

    def _atom(self) -> Expr:
        token = self._tokens[self._at]
        self._at += 1
        match token.kind:
            case "number":
                try:
                    return Literal(decimal(token.text))
                except ValueError:
                    raise Exhausted(f"a number in line {token.line} has too many digits", "program") from None
            case "eps":
                return Epsilon()
            case "true" | "false":
                return Literal(token.kind == "true")
            case "(":
                value = self.expression()
                self._expect(")")
                return value
            case _ if token.kind in _DRAWN:
                self._at -= 1
                return self._drawn()
            case "name":
                if self._take("["):
                    return self._element(token.text)
                if self._take("("):
                    if self._kind == "name" and self._tokens[self._at + 1].kind == "in":
                        return self._ranged(token)
                    arguments = self._separated(self.expression)
                    self._expect(")")
                    if token.text not in ("min", "max", "abs", "exp", "log", "sqrt", "erfc"):
                        raise NotDerived(f"there is no function `{token.text[:40]}` (line {token.line})")
                    return Apply(token.text, arguments)
                return Name(token.text)
            case _:
                self._at -= 1
                raise self._wrong("an expression")


def _is_condition(value: Expr) -> bool:
    match value:
        case Literal(bool()) | Apply("not" | "and" | "or" | "=" | "!=" | "<" | "<=" | ">" | ">="):
            return True
        case _:
            return False


def _selected(values: Sequence[Expr], place: Expr) -> Expr:
    """Return (place = 0)*v0 + (place = 1)*v1 + ..., an expression for the value with index `place` in `values`."""
    total: Expr = _NUMBER_0
    for number, value in enumerate(values):
        product = Apply("*", (Apply("=", (place, Literal(Fraction(number)))), value))
        total = product if number == 0 else Apply("+", (total, product))
    return total


def substituted(tree: Expr, name: str, value: Expr) -> Expr:
    """Return the expression `tree` with `value` in place of each free occurrence of `name`."""
    match tree:
        case Name() if tree.name == name:
            return value
        case Element(array, index):
            return Element(array, substituted(index, name, value))
        case Apply(op, arguments):
            return Apply(op, tuple(substituted(argument, name, value) for argument in arguments))
        case Ranged(op, variable, low, high, body):
            inside = body if variable == name else substituted(body, name, value)
            return Ranged(op, variable, substituted(low, name, value), substituted(high, name, value), inside)
        case _:
            return tree


def _mean_of(value: Expr, noise: Noise) -> Expr | None:
    """Return the mean of `value` if it is a sum with the drawn variable of `noise` as one term, otherwise None."""
    if value == noise.target:
        return noise.mean
    match value:
        case Apply("+" | "-" as op, (left, right)):
            mean = _mean_of(left, noise)
            if mean is not None:
                return right if (op, mean) == ("+", _NUMBER_0) else Apply(op, (mean, right))
            mean = _mean_of(right, noise) if op == "+" else None
            if mean is not None:
                return left if mean == _NUMBER_0 else Apply(op, (left, mean))
    return None


# --- the program without its noise -----------------------------------------------------------------


def _are_opposite(one: Expr, other: Expr) -> bool:
    first, second = _written_number(one), _written_number(other)
    if first is not None and second is not None:
        return first == -second
    return one == Apply("neg", (other,)) or other == Apply("neg", (one,))


def _written_number(expr: Expr) -> Fraction | None:
    match expr:
        case Literal(Fraction() as value):
            return value
        case Apply("neg", (operand,)):
            inner = _written_number(operand)
            return None if inner is None else -inner
        case Apply("/", (left, right)):
            above, below = _written_number(left), _written_number(right)
            return above / below if above is not None and below else None
        case _:
            return None


def _without_noise(part: object) -> Assign | None:
    """Return an assignment of the mean if `part` is a draw of noise, or None if `part` is to be kept.

    An exponential mechanism is kept: in an `ideal` block it picks the first of the best candidates. Raises NotDerived
    for a `choose`, and for noise whose mean depends on eps.
    """
    match part:
        case Noise(target=target, law="Unif", mean=mean, ends=(low, high)):
            return Assign(target, Apply("+", (mean, Apply("/", (Apply("+", (low, high)), Literal(Fraction(2)))))))
        case Noise(law="TLap", ends=(low, high)) if not _are_opposite(low, high):
            raise NotDerived("the mean of noise with these ends depends on eps")
        case Noise(target=target, mean=mean):
            return Assign(target, mean)
        case Choose():
            raise NotDerived("a program with a `choose` cannot have `ideal { noiseless }`")
        case _:
            return None


# --- preconditions ---------------------------------------------------------------------------------

_OPPOSITE = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "=": "=", "!=": "!="}


def spread_out(tree: Expr) -> Expr:
    """Replace comparisons of `min`, `max` and `abs` in the condition `tree` by comparisons of their arguments.

    min(a, b) >= c is a >= c and b >= c; max(a, b) >= c is a >= c or b >= c; |a| is the greater of a and -a.
    """
    match tree:
        case Apply("and" | "or" | "not" as op, parts):
            return Apply(op, tuple(map(spread_out, parts)))
        case Apply(op, (Apply("min" | "max" | "abs", (_, *_)) as call, other)) if op in _OPPOSITE:
            return _spread(op, call, other)
        case Apply(op, (other, Apply("min" | "max" | "abs", (_, *_)) as call)) if op in _OPPOSITE:
            return _spread(_OPPOSITE[op], call, other)
        case _:
            return tree


def _spread(op: str, call: Apply, other: Expr) -> Expr:
    arguments, least = call.arguments, call.op == "min"
    if call.op == "abs":
        arguments = (*arguments, Apply("neg", arguments))

    def each(op: str) -> Expr:
        joined = "and" if (op in (">=", ">")) is least else "or"
        parts = (spread_out(Apply(op, (argument, other))) for argument in arguments)
        return reduce(lambda first, part: Apply(joined, (first, part)), parts)

    if op not in ("=", "!="):
        return each(op)
    sides = (">=", "<=") if op == "=" else ("<", ">")
    first, second = map(each, sides if least else reversed(sides))
    return Apply("and" if op == "=" else "or", (first, second))


#: Signs without a blank before them, and after them.
_CLOSE_LEFT, _CLOSE_RIGHT = frozenset(",)];[*/^:"), frozenset("([*/^")


def _one_line(tokens: Sequence[_Token]) -> str:
    text = ""
    for before, token in zip((None, *tokens), tokens, strict=False):
        call = token.text == "(" and before is not None and before.kind == "name"
        close = (
            before is None
            or call
            or token.text in _CLOSE_LEFT
            or before.text in _CLOSE_RIGHT
            or ".." in (token.text, before.text)
        )
        text += token.text if close else f" {token.text}"
    return text
